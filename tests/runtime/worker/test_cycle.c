/* tests/runtime/worker/test_cycle.c - the commit cycle: tables of events and what they cause, then
 * a random walk whose every effect is judged by a small model of what may be done when. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/err.h"
#include "base/rng.h"
#include "runtime/worker/cycle.h"
#include <stdio.h>
#include <string.h>

#define MS 1000000u

static const char *const event_names[] = {
    "inited", "work",    "polled", "taken",  "drained",  "tick", "flushed", "offsets",
    "ended",  "aborted", "stored", "revoke", "assigned", "lost", "failed",  "stop"};
static const char *const effect_names[] = {"INIT",    "FLUSH",   "OFFSETS", "COMMIT",
                                           "ABORT",   "STORE",   "DROP",    "REVOKED",
                                           "PROCESS", "STOPPED", "FATAL"};

static const char *effects_text(unsigned fx)
{
    static char text[200];
    size_t n = 0;

    text[0] = 0;
    for (int i = 0; i < 11; i++)
        if (fx & (1u << i))
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", n ? " " : "", effect_names[i]);
    return text;
}

static int event_kind(const char *name, size_t n)
{
    for (int i = 0; i < 16; i++)
        if (strlen(event_names[i]) == n && memcmp(event_names[i], name, n) == 0)
            return i;
    fail_msg("no event %.*s", (int)n, name);
    return 0;
}

static int result(const char *name)
{
    return strcmp(name, "fenced") == 0      ? -ERR_FENCED
           : strcmp(name, "unknown") == 0   ? -ERR_UNKNOWN_OUTCOME
           : strcmp(name, "abortable") == 0 ? -ERR_ABORTABLE
           : strcmp(name, "timeout") == 0   ? -ERR_TIMEOUT
           : strcmp(name, "state") == 0     ? -ERR_STATE
           : strcmp(name, "io") == 0        ? -ERR_IO
           : strcmp(name, "broker") == 0    ? -ERR_BROKER
                                            : 0;
}

/* A script: "event[:result][@ms] > EFFECTS; ...". Events without ">" are steps whose effects do not
 * matter. */
static void play(const struct cycle_options *o, const char *script)
{
    struct cycle c;
    char copy[2000], *save = NULL;
    uint64_t now = 1000 * MS;

    snprintf(copy, sizeof copy, "%s", script);
    cycle_init(&c, o);
    for (char *s = strtok_r(copy, ";", &save); s; s = strtok_r(NULL, ";", &save)) {
        struct cycle_event ev = {.bytes = 10};
        char *want = strchr(s, '>'), *at = strchr(s, '@'), *res = strchr(s, ':');
        char code[20] = "";
        unsigned fx;

        s += strspn(s, " ");
        ev.kind = (enum cycle_event_kind)event_kind(s, strcspn(s, ":@ >"));
        if (res && (!want || res < want))
            sscanf(res + 1, "%19[a-z]", code);
        ev.res = result(code);
        if (at && (!want || at < want)) {
            long ms = 0;
            sscanf(at + 1, "%ld", &ms);
            now += (uint64_t)ms * MS;
        }
        fx = cycle_step(&c, &ev, now);
        if (want) {
            want += 1 + strspn(want + 1, " ");
            if (strcmp(effects_text(fx), want) != 0)
                fail_msg("%s\n  at '%s': effects '%s'", script, s, effects_text(fx));
        }
    }
}

#define START "inited > ; assigned > ;"

static void exactly_once_goes_through_its_steps(void **state)
{
    const struct cycle_options o = {.mode = CYCLE_EXACTLY_ONCE};

    play(&o, START "work > ; drained > FLUSH; flushed > OFFSETS; offsets > COMMIT; ended > STORE;"
                   "stored > ; drained > ");
    play(&o, START "work; work; tick > ; tick@12 > ; tick@1 > FLUSH"); /* the longest first wait */
    play(&o, START "drained > ; tick@1000 > ");                        /* nothing to commit */
}

/* The longest wait doubles up to the job's maximum, 100 ms. */
static void the_first_outputs_do_not_wait_as_long(void **state)
{
    const struct cycle_options o = {.mode = CYCLE_EXACTLY_ONCE};
#define COMMIT "flushed > OFFSETS; offsets > COMMIT; ended > STORE; stored > ; work > ;"

    play(&o, START "work; tick@12 > ; tick@1 > FLUSH;" COMMIT "tick@24 > ; tick@1 > FLUSH;" COMMIT
                   "tick@49 > ; tick@1 > FLUSH;" COMMIT "tick@99 > ; tick@1 > FLUSH;" COMMIT
                   "tick@99 > ; tick@1 > FLUSH");
}

static void every_failure_before_the_decision_aborts_and_drops(void **state)
{
    const struct cycle_options o = {.mode = CYCLE_EXACTLY_ONCE};

    play(&o,
         START "work; drained; flushed:abortable > ABORT; aborted > DROP; work; drained > FLUSH");
    play(&o, START "work; drained; flushed:timeout > ABORT; aborted > DROP");
    play(&o, START "work; drained; flushed; offsets:abortable > ABORT; aborted > DROP");
    play(&o, START "work; drained; flushed; offsets; ended:abortable > ABORT; aborted > DROP");
    play(&o, START "work; failed > ABORT; aborted > DROP");
    play(&o, START "work; drained; failed > ; flushed > ABORT; aborted > DROP");
    play(&o, START "work; drained; flushed; lost > ; offsets > ABORT; aborted > DROP");
}

static void fenced_or_unknown_begins_anew(void **state)
{
    const struct cycle_options o = {.mode = CYCLE_EXACTLY_ONCE};

    play(&o, START "work; drained; flushed:fenced > INIT; inited > DROP; work; drained > FLUSH");
    play(&o, START "work; drained; flushed; offsets:unknown > INIT; inited > DROP");
    play(&o, START "work; drained; flushed; offsets; ended:unknown > INIT; inited > DROP");
    play(&o, START "work; drained; flushed; offsets; ended:timeout > INIT; inited:timeout > INIT;"
                   "inited > DROP");
    play(&o, START "work; failed > ABORT; aborted:unknown > INIT; inited > DROP");
}

static void what_cannot_be_mended_is_fatal(void **state)
{
    const struct cycle_options o = {.mode = CYCLE_EXACTLY_ONCE};

    play(&o, "inited:timeout > FATAL");
    play(&o, START "work; drained; flushed; offsets; ended:state > FATAL");
    play(&o, START "work; drained; flushed:state > FATAL");
    play(&o, START "work; failed > ABORT; aborted:state > FATAL");
    /* asked again at once, it would be refused for ever */
    play(&o, START "work; failed > ABORT; aborted:unknown > INIT; inited:broker > FATAL");
}

/* Also without work of its own: what a producer holds half sent must not be in the next commit. */
static void a_failure_without_work_aborts_too(void **state)
{
    const struct cycle_options o = {.mode = CYCLE_EXACTLY_ONCE};

    play(&o, START "failed > ABORT; aborted > DROP; work; drained > FLUSH");
    play(&o, START "lost > ABORT; aborted > DROP");
}

static void a_rebalance_commits_first(void **state)
{
    const struct cycle_options o = {.mode = CYCLE_EXACTLY_ONCE};

    play(&o, START "revoke > REVOKED; assigned > ; work; drained > FLUSH");
    play(&o, START "work; revoke > FLUSH; flushed > OFFSETS; offsets > COMMIT; ended > STORE;"
                   "stored > REVOKED");
    play(&o, START "work; drained; revoke > ; flushed; offsets; ended; stored > REVOKED");
    play(&o, START "work; revoke > FLUSH; flushed:abortable > ABORT; aborted > DROP REVOKED");
    play(&o, START "work; drained; flushed; offsets; ended; revoke > ; stored > REVOKED");
}

static void a_stop_commits_first(void **state)
{
    const struct cycle_options o = {.mode = CYCLE_EXACTLY_ONCE};

    play(&o, START "stop > STOPPED");
    play(&o, START "work; stop > FLUSH; flushed; offsets; ended > STORE; stored > STOPPED");
    play(&o, START "work; stop > FLUSH; flushed:abortable > ABORT; aborted > DROP STOPPED");
    play(&o, START "work; drained; flushed; offsets; ended:unknown > INIT; stop > ; inited > DROP "
                   "STOPPED; work > ; stop > ");
    play(&o, START "work; drained; flushed; offsets; ended; stop > ; stored > STOPPED");
}

static void the_weaker_guarantees_have_their_order(void **state)
{
    const struct cycle_options alo = {.mode = CYCLE_AT_LEAST_ONCE};
    const struct cycle_options amo = {.mode = CYCLE_AT_MOST_ONCE};

    play(&alo, START "work; drained > FLUSH; flushed > OFFSETS; offsets > STORE; stored > ");
    play(&alo, START "work; drained; flushed; offsets:abortable > DROP");
    play(&amo,
         START "polled > OFFSETS; offsets > PROCESS; work > ; drained > FLUSH; flushed > STORE;"
               "stored > ; polled > OFFSETS");
    play(&amo, START "polled > OFFSETS; offsets:abortable > DROP; polled > OFFSETS");
    play(&amo, START "polled; offsets > PROCESS; revoke > ; work > ; work > ; taken > FLUSH;"
                     "flushed > STORE; stored > REVOKED");
    play(&amo, START "polled; offsets > PROCESS; stop > ; taken > STOPPED");
    play(&amo, START "polled; offsets > PROCESS; lost > DROP");
}

static void commits_come_no_closer_than_three_of_their_durations(void **state)
{
    const struct cycle_options o = {.mode = CYCLE_EXACTLY_ONCE};
    const struct cycle_options foreign = {.mode = CYCLE_EXACTLY_ONCE, .foreign = true};
    const struct cycle_options min = {.mode = CYCLE_EXACTLY_ONCE, .min_ns = 50 * MS};

    /* 10 ms: the next may begin 30 ms after its end */
    play(&o, START "work; drained; flushed; offsets; ended@10; stored; work; drained > ;"
                   "tick@29 > ; tick@1 > FLUSH");
    /* a very slow one does not hold up the next for longer than the maximum */
    play(&o, START "work; drained; flushed; offsets; ended@5000; stored; work; drained > ;"
                   "tick@99 > ; tick@1 > FLUSH");
    play(&foreign, START "work; drained; flushed; offsets; ended@1; stored; work; drained > ;"
                         "tick@19 > ; tick@1 > FLUSH");
    play(&min, START "work; drained; flushed; offsets; ended@1; stored; work; drained > ;"
                     "tick@49 > ; tick@1 > FLUSH");
    /* no new one begins before the stores have followed the last */
    play(&o, START "work; drained; flushed; offsets; ended; work; drained@1000 > ; stored > FLUSH");
}

static void much_at_once_does_not_wait_for_the_end(void **state)
{
    const struct cycle_options bytes = {.mode = CYCLE_EXACTLY_ONCE, .bytes_max = 30};
    const struct cycle_options records = {.mode = CYCLE_EXACTLY_ONCE, .records_max = 2};

    play(&bytes, START "work > ; work > ; work > FLUSH");
    play(&records, START "work > ; work > FLUSH");
}

static void due_is_when_a_tick_would_do_something(void **state)
{
    uint64_t rng[4];

    rng_seed(rng, 9);
    for (int i = 0; i < 2000; i++) {
        struct cycle_options o = {.mode = CYCLE_EXACTLY_ONCE, .min_ns = rng_below(rng, 40) * MS};
        struct cycle c;
        uint64_t now = 1000 * MS, due;
        struct cycle_event ev;
#define STEP(k) (ev = (struct cycle_event){.kind = CYCLE_EV_##k}, cycle_step(&c, &ev, now))
        cycle_init(&c, &o);
        STEP(INITED);
        STEP(ASSIGNED);
        if (rng_below(rng, 2)) {
            STEP(WORK);
            STEP(DRAINED);
            now += rng_below(rng, 40) * MS;
            STEP(FLUSHED);
            STEP(OFFSETS);
            STEP(ENDED);
            STEP(STORED);
        }
        assert_true(cycle_due(&c) == UINT64_MAX);
        now += rng_below(rng, 50) * MS;
        STEP(WORK);
        if (rng_below(rng, 2))
            STEP(DRAINED);
        if (c.state != CYCLE_RUN)
            continue;
        due = cycle_due(&c);
        assert_true(due != UINT64_MAX);
        assert_true(due > now);
        now = due - 1;
        assert_int_equal(STEP(TICK), 0);
        now = due;
        assert_int_equal(STEP(TICK), CYCLE_DO_FLUSH);
    }
}

/* ---- the walk ---- */

struct world {
    struct cycle c;
    enum cycle_mode mode;
    uint64_t now;
    bool work;    /* something was done that is not committed */
    bool sent;    /* offsets of it were taken */
    bool flushed; /* and its records acknowledged */
    bool offsets;
    bool doomed;    /* something failed or was lost: it must not be committed before a DROP */
    bool asked[11]; /* effects in flight, waiting for their answer */
    bool storing, polled, may_process_polled;
    bool revoke, stop, stopped, unassigned;
    int n_commits, n_drops;
};

static void judge(struct world *w, unsigned fx)
{
    bool exactly = w->mode == CYCLE_EXACTLY_ONCE;

    if (fx & CYCLE_DO_FLUSH) {
        assert_true(w->work);
        assert_false(w->storing); /* the overlays of the last one are still frozen */
        assert_false(w->doomed);
        w->flushed = w->offsets = false;
    }
    if ((fx & CYCLE_DO_OFFSETS) && w->mode != CYCLE_AT_MOST_ONCE)
        assert_true(w->flushed && !w->doomed);
    if (fx & CYCLE_DO_COMMIT) {
        assert_true(exactly);
        assert_true(w->flushed && w->offsets);
        assert_false(w->doomed); /* EO-47, EO-60 */
    }
    if (fx & CYCLE_DO_ABORT)
        assert_true(exactly && w->doomed);
    if (fx & CYCLE_DO_STORE) {
        w->n_commits++;
        w->work = false;
        w->storing = true;
    }
    if (fx & CYCLE_DO_DROP) {
        w->n_drops++;
        assert_true(w->doomed);
        w->work = w->doomed = w->polled = w->may_process_polled = false;
    }
    if (fx & CYCLE_DO_REVOKED) {
        assert_true(w->revoke && !w->work);
        assert_false(w->may_process_polled); /* what is committed as taken would be lost */
        w->revoke = false;
        w->unassigned = true;
    }
    if (fx & CYCLE_DO_PROCESS)
        w->may_process_polled = true;
    if (fx & CYCLE_DO_STOPPED) {
        assert_true(w->stop && !w->work && !w->storing && !w->may_process_polled);
        w->stopped = true;
    }
    for (int i = 0; i < 5; i++)
        if (fx & (1u << i)) {
            assert_false(w->asked[i]); /* one at a time */
            w->asked[i] = true;
        }
    if (cycle_may_process(&w->c))
        assert_false(((w->revoke || w->stop) && !w->may_process_polled) || w->doomed ||
                     w->unassigned || w->stopped);
}

static void tell(struct world *w, enum cycle_event_kind kind, int res)
{
    struct cycle_event ev = {.kind = kind, .res = res, .bytes = 100};

    judge(w, cycle_step(&w->c, &ev, w->now));
}

static int draw_result(uint64_t rng[4])
{
    static const int codes[] = {-ERR_ABORTABLE, -ERR_FENCED, -ERR_UNKNOWN_OUTCOME, -ERR_TIMEOUT};
    return rng_below(rng, 6) ? 0 : codes[rng_below(rng, 4)];
}

/* Answers one of what is in flight, as the world pleases; false: nothing is. */
static bool answer(struct world *w, uint64_t rng[4], bool well)
{
    static const enum cycle_event_kind kinds[] = {
        CYCLE_EV_INITED, CYCLE_EV_FLUSHED, CYCLE_EV_OFFSETS, CYCLE_EV_ENDED, CYCLE_EV_ABORTED};
    int n = 0, which = -1, res = well ? 0 : draw_result(rng);

    for (int i = 0; i < 5; i++)
        if (w->asked[i] && rng_below(rng, (uint64_t)++n) == 0)
            which = i;
    if (which < 0)
        return false;
    w->asked[which] = false;
    if (which == 0 && w->c.state == CYCLE_STARTING)
        res = 0;
    if (which == 0 && res)
        res = -ERR_TIMEOUT;
    if (res && which)
        w->doomed = true;
    if (which == 1 && !res)
        w->flushed = true;
    if (which == 2 && !res)
        w->offsets = true;
    tell(w, kinds[which], res);
    return true;
}

static void disturb(struct world *w, uint64_t rng[4])
{
    switch (rng_below(rng, 12)) {
    case 0:
        if (!w->revoke && !w->unassigned) {
            w->revoke = true;
            tell(w, CYCLE_EV_REVOKE, 0);
        }
        break;
    case 1:
        if (!w->unassigned) {
            w->doomed = true;
            w->unassigned = true;
            w->revoke = false;
            tell(w, CYCLE_EV_LOST, 0);
        }
        break;
    case 2:
        w->doomed = true;
        tell(w, CYCLE_EV_FAILED, -ERR_IO);
        break;
    case 3:
        if (rng_below(rng, 200) == 0) {
            w->stop = true;
            tell(w, CYCLE_EV_STOP, 0);
        }
        break;
    default:
        if (w->unassigned && w->c.state != CYCLE_STARTING) {
            w->unassigned = false;
            tell(w, CYCLE_EV_ASSIGNED, 0);
        }
    }
}

static void process(struct world *w, uint64_t rng[4])
{
    if (!cycle_may_process(&w->c))
        return;
    if (w->mode == CYCLE_AT_MOST_ONCE && !w->may_process_polled) {
        if (!w->asked[2]) {
            w->polled = true;
            tell(w, CYCLE_EV_POLLED, 0);
        }
        return;
    }
    w->work = true;
    tell(w, CYCLE_EV_WORK, 0);
    if (w->mode == CYCLE_AT_MOST_ONCE && rng_below(rng, 4) == 0) {
        w->may_process_polled = false;
        tell(w, CYCLE_EV_TAKEN, 0);
    }
    if (rng_below(rng, 3) == 0)
        tell(w, CYCLE_EV_DRAINED, 0);
}

static void walk(enum cycle_mode mode, uint64_t seed, int *commits, int *drops)
{
    struct cycle_options o = {.mode = mode, .foreign = seed & 1, .bytes_max = 5000};
    struct world w = {.mode = mode, .now = 1, .unassigned = true};
    uint64_t rng[4], due;

    rng_seed(rng, seed);
    cycle_init(&w.c, &o);
    w.asked[0] = true; /* the worker asks for its producer id by itself */
    for (int i = 0; i < 20000 && !w.stopped; i++) {
        w.now += rng_below(rng, 3 * MS);
        switch (rng_below(rng, 20)) {
        case 0: disturb(&w, rng); break;
        case 1:
        case 2:
        case 3: answer(&w, rng, false); break;
        case 4:
            if (w.storing) {
                w.storing = false;
                tell(&w, CYCLE_EV_STORED, 0);
            }
            break;
        case 5:
            due = cycle_due(&w.c);
            if (due != UINT64_MAX && due > w.now && rng_below(rng, 2))
                w.now = due;
            tell(&w, CYCLE_EV_TICK, 0);
            break;
        default: process(&w, rng);
        }
    }
    /* it always ends: answer all with success, and it stops */
    w.stop = true;
    tell(&w, CYCLE_EV_STOP, 0);
    for (int i = 0; i < 100 && !w.stopped; i++) {
        w.now += 1000 * MS;
        if (w.storing) {
            w.storing = false;
            tell(&w, CYCLE_EV_STORED, 0);
        }
        answer(&w, rng, true);
        process(&w, rng);
        tell(&w, CYCLE_EV_TICK, 0);
    }
    assert_true(w.stopped);
    *commits += w.n_commits;
    *drops += w.n_drops;
}

static void a_random_walk_keeps_the_order_of_things(void **state)
{
    for (uint64_t mode = 0; mode < 3; mode++) {
        int commits = 0, drops = 0;
        for (uint64_t seed = 1; seed <= 20; seed++)
            walk((enum cycle_mode)mode, seed, &commits, &drops);
        assert_true(commits > 1000); /* the walk went somewhere */
        assert_true(drops > 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exactly_once_goes_through_its_steps),
        cmocka_unit_test(the_first_outputs_do_not_wait_as_long),
        cmocka_unit_test(every_failure_before_the_decision_aborts_and_drops),
        cmocka_unit_test(fenced_or_unknown_begins_anew),
        cmocka_unit_test(what_cannot_be_mended_is_fatal),
        cmocka_unit_test(a_failure_without_work_aborts_too),
        cmocka_unit_test(a_rebalance_commits_first),
        cmocka_unit_test(a_stop_commits_first),
        cmocka_unit_test(the_weaker_guarantees_have_their_order),
        cmocka_unit_test(commits_come_no_closer_than_three_of_their_durations),
        cmocka_unit_test(much_at_once_does_not_wait_for_the_end),
        cmocka_unit_test(due_is_when_a_tick_would_do_something),
        cmocka_unit_test(a_random_walk_keeps_the_order_of_things),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

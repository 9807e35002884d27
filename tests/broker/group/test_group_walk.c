/* tests/broker/group/test_group_walk.c - clients that behave, die and come back, at random.
 *
 * The model is what clients are promised: one leader a generation, who was told of all that hold
 * it; no part of an assignment in two living hands of one generation; a client that keeps its
 * deadlines is never thrown out, one that died is; and once the deaths end, the group settles with
 * exactly the living. */
#include "tests/broker/group/support_group.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

enum { CLIENTS = 6, ROUNDS = 400, GENERATIONS = 4096, PARTS = 1 << 16 };
enum phase { OUT, JOINING, SYNCING, MEMBER };

struct client {
    enum phase phase;
    bool alive, late;                      /* late: did nothing the last time, so it must now */
    char id[RIG_TEXT], instance[RIG_TEXT]; /* instance "": dynamic */
    int32_t generation;
    int part; /* what it was assigned; -1 nothing */
    uint64_t token;
    char listed[RIG_LISTED][RIG_TEXT];
    int n_listed;
    int version;
};
struct world {
    struct rig r;
    struct client c[CLIENTS];
    uint64_t seed;
    int leader_of[GENERATIONS]; /* client + 1 */
    int32_t part_generation[PARTS];
    int n_parts;
    int n_stable; /* times that anybody became a member: the walk went somewhere */
};

static uint64_t roll(struct world *w, uint64_t below)
{
    w->seed ^= w->seed << 13;
    w->seed ^= w->seed >> 7;
    w->seed ^= w->seed << 17;
    return w->seed % below;
}

static const char *instance_of(const struct client *c)
{
    return c->instance[0] ? c->instance : NULL;
}

static void join(struct world *w, struct client *c)
{
    char meta[16];
    snprintf(meta, sizeof meta, "%d", (int)roll(w, 8) == 0); /* now and then its topics change */
    w->r.version = c->version;
    c->token = rig_join(&w->r, c->id, instance_of(c), "range sticky", meta);
    c->phase = JOINING;
}

/* The leader gives everyone it was told of a part that nobody had before. */
static void sync(struct world *w, struct client *c)
{
    struct group_assignment v[RIG_LISTED];
    char parts[RIG_LISTED][16];
    for (int i = 0; i < c->n_listed; i++) {
        int part = w->n_parts++;
        assert_true(part < PARTS);
        w->part_generation[part] = c->generation;
        snprintf(parts[i], sizeof parts[i], "%d", part);
        v[i] = (struct group_assignment){slice_str(c->listed[i]), slice_str(parts[i])};
    }
    struct group_event ev = {.kind = GROUP_SYNC,
                             .token = ++w->r.tokens,
                             .member = slice_str(c->id),
                             .instance = slice_str(instance_of(c)),
                             .generation = c->generation,
                             .assignments = v,
                             .n_assignments = c->n_listed};
    w->r.replies[ev.token % RIG_REPLIES] = (struct rig_reply){0};
    c->token = ev.token;
    c->phase = SYNCING;
    rig_step(&w->r, &ev);
}

static void on_join(struct world *w, struct client *c, const struct rig_reply *got)
{
    c->phase = OUT;
    if (got->error == KAFKA_MEMBER_ID_REQUIRED) {
        assert_string_equal(c->id, "");
        snprintf(c->id, RIG_TEXT, "%s", got->member);
        return;
    }
    if (got->error == KAFKA_REBALANCE_IN_PROGRESS)
        return;
    if (got->error == KAFKA_COORDINATOR_NOT_AVAILABLE) { /* its return could not be saved */
        assert_non_null(instance_of(c));
        return;
    }
    assert_int_equal(got->error, KAFKA_NONE);
    snprintf(c->id, RIG_TEXT, "%s", got->member);
    c->generation = got->generation;
    c->n_listed = 0;
    if (got->members && !got->skip) {
        int me = (int)(c - w->c) + 1;
        assert_true(got->generation < GENERATIONS);
        /* Again the same one, if its answer was lost with its connection. */
        assert_true(w->leader_of[got->generation] == 0 || w->leader_of[got->generation] == me);
        w->leader_of[got->generation] = me;
        c->n_listed = got->n_listed;
        memcpy(c->listed, got->listed, sizeof c->listed);
    }
    if (!got->skip && strcmp(got->leader, c->id) == 0)
        assert_true(c->n_listed > 0);
    sync(w, c);
}

static void on_sync(struct world *w, struct client *c, const struct rig_reply *got)
{
    c->phase = OUT;
    if (got->error == KAFKA_REBALANCE_IN_PROGRESS || got->error == KAFKA_ILLEGAL_GENERATION ||
        got->error == KAFKA_COORDINATOR_NOT_AVAILABLE)
        return;
    assert_int_equal(got->error, KAFKA_NONE);
    c->part = got->assignment[0] ? atoi(got->assignment) : -1;
    assert_true(c->part < 0 || w->part_generation[c->part] == c->generation);
    for (int i = 0; i < CLIENTS; i++) {
        struct client *d = &w->c[i];
        if (d != c && d->alive && d->phase == MEMBER && d->generation == c->generation)
            assert_true(d->part < 0 || d->part != c->part);
    }
    c->phase = MEMBER;
    w->n_stable++;
}

static void heartbeat(struct world *w, struct client *c)
{
    enum kafka_error e = rig_heartbeat(&w->r, c->id, instance_of(c), c->generation);
    enum kafka_error commit = rig_commit(&w->r, c->id, instance_of(c), c->generation, true);
    if (e == KAFKA_NONE) {
        assert_int_equal(commit, KAFKA_NONE);
        return;
    }
    /* It keeps its deadlines, so it is still one of them. */
    assert_true(e == KAFKA_REBALANCE_IN_PROGRESS || e == KAFKA_ILLEGAL_GENERATION);
    assert_int_equal(commit, e == KAFKA_ILLEGAL_GENERATION ? e : KAFKA_NONE);
    c->phase = OUT;
}

static void act(struct world *w, struct client *c)
{
    const struct rig_reply *got = c->token ? rig_reply(&w->r, c->token) : NULL;
    switch (c->phase) {
    case OUT: join(w, c); break;
    case JOINING:
        if (got)
            on_join(w, c, got);
        break;
    case SYNCING:
        if (got)
            on_sync(w, c, got);
        break;
    case MEMBER: heartbeat(w, c); break;
    }
}

static void fate(struct world *w, struct client *c)
{
    if (!c->alive) {
        if (roll(w, 4) == 0) {
            bool is_static = c->instance[0];
            c->alive = true;
            c->id[0] = 0;
            c->phase = OUT;
            c->version = is_static ? (roll(w, 2) ? 9 : 5) : (roll(w, 2) ? 4 : 3);
        }
        return;
    }
    if (roll(w, 12) == 0) {
        c->alive = false; /* what it waits for is answered into the void */
    } else if (roll(w, 20) == 0 && c->phase == MEMBER) {
        assert_int_equal(rig_leave(&w->r, c->id, instance_of(c)), KAFKA_NONE);
        assert_int_equal(rig_commit(&w->r, c->id, instance_of(c), c->generation, true),
                         KAFKA_UNKNOWN_MEMBER_ID);
        c->alive = false;
    }
}

static void settle(struct world *w)
{
    int living = 0;
    for (int round = 0; round < 120; round++) {
        for (int i = 0; i < CLIENTS; i++)
            if (w->c[i].alive)
                act(w, &w->c[i]);
        rig_wait(&w->r, 1000);
    }
    for (int i = 0; i < CLIENTS; i++) {
        struct client *c = &w->c[i];
        if (!c->alive)
            continue;
        living++;
        assert_int_equal(c->phase, MEMBER);
        assert_int_equal(c->generation, w->r.g.generation);
        assert_true(c->part >= 0);
    }
    assert_int_equal(w->r.g.members.n, living);
    assert_int_equal(w->r.g.state, living ? GROUP_STABLE : GROUP_EMPTY);
}

static int walk(uint64_t seed)
{
    static struct world w;
    struct group_options o = {.initial_delay_ms = seed % 3 == 0 ? 500 : 0};
    memset(&w, 0, sizeof w);
    w.seed = seed * 0x9e3779b97f4a7c15u;
    rig_init(&w.r, &o);
    for (int i = 0; i < CLIENTS; i++)
        if (i % 2)
            snprintf(w.c[i].instance, RIG_TEXT, "i%d", i);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < CLIENTS; i++) {
            struct client *c = &w.c[i];
            w.r.save_error = roll(&w, 30) ? KAFKA_NONE : KAFKA_COORDINATOR_NOT_AVAILABLE;
            c->late = c->alive && !c->late && c->phase != MEMBER && roll(&w, 3) == 0;
            if (c->alive && !c->late)
                act(&w, c);
            w.r.save_error = KAFKA_NONE;
            if (roll(&w, 6) == 0)
                fate(&w, c);
        }
        rig_wait(&w.r, roll(&w, 2000));
    }
    settle(&w);
    int n = w.n_stable;
    rig_deinit(&w.r);
    return n;
}

static void groups_keep_their_promises_whatever_clients_do(void **state)
{
    int n = 0;
    for (uint64_t seed = 1; seed <= 60; seed++)
        n += walk(seed);
    assert_true(n > 60 * 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_keep_their_promises_whatever_clients_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

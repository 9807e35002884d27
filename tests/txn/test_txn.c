/* tests/txn/test_txn.c - one transactional id: events and their effects, and a random walk in which
 * every bundle may be cut short. */
#include "base/check.h"
#include "txn/txn.h"
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

static int64_t now_ms;
static int64_t next_id;
static char did[512]; /* effects of the last step, as text */
static struct txn_effect answer;

static const char *const state_names[] = {"Empty",        "Ongoing",        "PrepareCommit",
                                          "PrepareAbort", "CompleteCommit", "CompleteAbort",
                                          "Dead",         "EpochFence"};

static void describe(const struct txn_effect *e)
{
    size_t n = strlen(did);
    if (e->type == TXN_LOG)
        snprintf(did + n, sizeof did - n, "log(%s %" PRId64 " %d) ", state_names[e->value.state],
                 e->value.producer_id, e->value.epoch);
    else if (e->type == TXN_MARK)
        snprintf(did + n, sizeof did - n, "mark(%s %" PRId64 " %d) ",
                 e->commit ? "commit" : "abort", e->producer_id, e->epoch);
    else if (e->type == TXN_TOMBSTONE)
        snprintf(did + n, sizeof did - n, "tombstone ");
    else if (e->error)
        snprintf(did + n, sizeof did - n, "error %d", e->error);
    else
        snprintf(did + n, sizeof did - n, "ok %" PRId64 " %d", e->producer_id, e->epoch);
}

/* Carries out at most `limit` effects, as a shell does that can stage no more. */
static void step_cut(struct txn *t, struct txn_event ev, int limit)
{
    struct txn_out out;
    ev.fresh_id = -1;
    txn_step(t, &ev, now_ms, &out);
    if (out.need_id) {
        ev.fresh_id = next_id++;
        txn_step(t, &ev, now_ms, &out);
        assert_false(out.need_id);
    }
    did[0] = 0;
    memset(&answer, 0, sizeof answer);
    answer.error = KAFKA_COORDINATOR_NOT_AVAILABLE;
    for (int i = 0; i < out.n && i < limit; i++) {
        describe(&out.v[i]);
        if (out.v[i].type == TXN_LOG)
            txn_logged(t, &out.v[i]);
        if (out.v[i].type == TXN_REPLY)
            answer = out.v[i];
    }
}

static struct txn_event init(int64_t pid, int epoch)
{
    return (struct txn_event){.type = TXN_INIT,
                              .producer_id = pid,
                              .epoch = (int16_t)epoch,
                              .timeout_ms = 10000,
                              .timeout_max_ms = 900000};
}
static struct txn_event add(int64_t pid, int epoch, int version)
{
    return (struct txn_event){
        .type = TXN_ADD, .producer_id = pid, .epoch = (int16_t)epoch, .version = version};
}
static struct txn_event end(int64_t pid, int epoch, bool commit, int version)
{
    return (struct txn_event){.type = TXN_END,
                              .producer_id = pid,
                              .epoch = (int16_t)epoch,
                              .commit = commit,
                              .version = version};
}

#define STEP(t, ev, expected)                                                                      \
    do {                                                                                           \
        step_cut(t, ev, TXN_OUT_MAX);                                                              \
        assert_string_equal(did, expected);                                                        \
    } while (0)

static void begin(struct txn *t)
{
    now_ms = 1000000;
    next_id = 7;
    txn_init(t);
}

/* Adds one partition, as AddPartitionsToTxn does. */
static void open_txn(struct txn *t, int64_t pid, int epoch, int version)
{
    struct txn_event ev = add(pid, epoch, version);
    ev.all_in = txn_has(t, slice_str("t"), 3);
    assert_int_equal(txn_enrol(t, slice_str("t"), 3), 0);
    step_cut(t, ev, TXN_OUT_MAX);
    assert_int_equal(answer.error, 0);
    assert_int_equal(t->v.state, TXN_ONGOING);
}

static void first_init_makes_an_id(void **state)
{
    struct txn t;
    begin(&t);
    STEP(&t, init(-1, -1), "log(Empty 7 0) ok 7 0");
    assert_int_equal(t.v.previous_producer_id, 7);
    assert_int_equal(t.v.last_epoch, -1);
    STEP(&t, init(-1, -1), "log(Empty 7 1) ok 7 1");
    txn_deinit(&t);
    /* One that was forgotten: the old pair does not matter. */
    begin(&t);
    STEP(&t, init(3, 9), "log(Empty 7 0) ok 7 0");
    txn_deinit(&t);
}

static void init_refuses_bad_requests(void **state)
{
    struct txn t;
    begin(&t);
    STEP(&t, init(3, -1), "error 42");
    STEP(&t, init(-1, 3), "error 42");
    STEP(&t, init(-2, -2), "error 42");
    struct txn_event ev = init(-1, -1);
    ev.timeout_ms = 0;
    STEP(&t, ev, "error 50");
    ev.timeout_ms = 900001;
    STEP(&t, ev, "error 50");
    assert_true(t.fresh);
    txn_deinit(&t);
}

static void eo_26_retry_of_init_is_told_the_same(void **state)
{
    struct txn t;
    begin(&t);
    STEP(&t, init(-1, -1), "log(Empty 7 0) ok 7 0");
    STEP(&t, init(7, 0), "log(Empty 7 1) ok 7 1");
    assert_int_equal(t.v.last_epoch, 0);
    STEP(&t, init(7, 0), "log(Empty 7 1) ok 7 1");
    STEP(&t, init(7, 1), "log(Empty 7 2) ok 7 2");
    STEP(&t, init(7, 0), "error 90");
    STEP(&t, init(8, 2), "error 90");
    /* A new incarnation fences both, and no retry of theirs passes. */
    STEP(&t, init(-1, -1), "log(Empty 7 3) ok 7 3");
    STEP(&t, init(7, 2), "error 90");
    txn_deinit(&t);
}

static void commit_is_one_bundle(void **state)
{
    struct txn t;
    begin(&t);
    STEP(&t, init(-1, -1), "log(Empty 7 0) ok 7 0");
    STEP(&t, end(7, 0, true, 1), "error 48");
    STEP(&t, end(7, 0, false, 1), "error 48");
    STEP(&t, add(7, 0, 1), "log(Ongoing 7 0) ok 7 0");
    assert_int_equal(t.v.start_ms, now_ms);
    struct txn_event again = add(7, 0, 1);
    again.all_in = true;
    STEP(&t, again, "ok 7 0");
    STEP(&t, add(7, 0, 1), "log(Ongoing 7 0) ok 7 0");
    STEP(&t, end(7, 0, true, 1),
         "log(PrepareCommit 7 0) mark(commit 7 0) log(CompleteCommit 7 0) ok 7 0");
    assert_int_equal(t.n_parts, 0);
    STEP(&t, end(7, 0, true, 1), "ok 7 0"); /* the retry */
    STEP(&t, end(7, 0, false, 1), "error 48");
    STEP(&t, add(7, 0, 1), "log(Ongoing 7 0) ok 7 0");
    STEP(&t, end(7, 0, false, 1),
         "log(PrepareAbort 7 0) mark(abort 7 0) log(CompleteAbort 7 0) ok 7 0");
    STEP(&t, end(7, 0, true, 1), "error 48");
    STEP(&t, end(7, 0, false, 1), "ok 7 0");
    txn_deinit(&t);
}

static void others_are_refused(void **state)
{
    struct txn t;
    begin(&t);
    STEP(&t, add(7, 0, 1), "error 49"); /* not known yet */
    STEP(&t, end(7, 0, true, 1), "error 49");
    STEP(&t, end(7, 0, true, 2), "error 49");
    STEP(&t, init(-1, -1), "log(Empty 7 0) ok 7 0");
    STEP(&t, init(-1, -1), "log(Empty 7 1) ok 7 1");
    STEP(&t, add(8, 1, 1), "error 49");
    STEP(&t, add(7, 0, 1), "error 90");
    open_txn(&t, 7, 1, 1);
    STEP(&t, end(7, 0, true, 1), "error 90");
    STEP(&t, end(7, 2, true, 1), "error 90");
    STEP(&t, end(8, 1, true, 1), "error 49");
    assert_int_equal(txn_owner(&t, 7, 1), 0);
    assert_int_equal(txn_owner(&t, 7, 0), 90);
    assert_int_equal(txn_owner(&t, 8, 1), 49);
    txn_deinit(&t);
}

static void eo_23_init_aborts_an_open_transaction_in_the_same_round(void **state)
{
    struct txn t;
    begin(&t);
    STEP(&t, init(-1, -1), "log(Empty 7 0) ok 7 0");
    open_txn(&t, 7, 0, 1);
    STEP(&t, init(-1, -1),
         "log(PrepareAbort 7 1) mark(abort 7 1) log(CompleteAbort 7 1) log(Empty 7 2) ok 7 2");
    STEP(&t, end(7, 0, true, 1), "error 90");
    STEP(&t, init(7, 0), "error 90");
    /* The holder of the epoch gets the next one, and again if it asks again. */
    open_txn(&t, 7, 2, 1);
    STEP(&t, init(7, 1), "error 90");
    STEP(&t, init(7, 2),
         "log(PrepareAbort 7 3) mark(abort 7 3) log(CompleteAbort 7 3) log(Empty 7 3) ok 7 3");
    STEP(&t, init(7, 2), "log(Empty 7 3) ok 7 3");
    txn_deinit(&t);
}

static void eo_24_timeout_aborts_with_a_new_epoch(void **state)
{
    struct txn t;
    struct txn_event tick = {.type = TXN_TICK};
    begin(&t);
    STEP(&t, init(-1, -1), "log(Empty 7 0) ok 7 0");
    assert_int_equal(txn_due(&t), INT64_MAX);
    open_txn(&t, 7, 0, 1);
    assert_int_equal(txn_due(&t), now_ms + 10000);
    now_ms += 10000;
    STEP(&t, tick, "");
    now_ms += 1;
    STEP(&t, tick, "log(PrepareAbort 7 1) mark(abort 7 1) log(CompleteAbort 7 1) ");
    STEP(&t, add(7, 0, 1), "error 90");
    STEP(&t, end(7, 0, true, 1), "error 90");
    STEP(&t, init(7, 0), "error 90");
    STEP(&t, init(-1, -1), "log(Empty 7 2) ok 7 2");
    /* Begun by version 2 the holder may find out what became of it. */
    open_txn(&t, 7, 2, 2);
    now_ms += 20000;
    STEP(&t, tick, "log(PrepareAbort 7 3) mark(abort 7 3) log(CompleteAbort 7 3) ");
    STEP(&t, end(7, 2, true, 2), "error 48");
    STEP(&t, end(7, 2, false, 2), "ok 7 3");
    STEP(&t, end(7, 2, false, 1), "error 90");
    STEP(&t, init(7, 2), "log(Empty 7 3) ok 7 3");
    txn_deinit(&t);
}

static void eo_32_prepare_found_alone_rolls_forward_only(void **state)
{
    struct txn_event tick = {.type = TXN_TICK};
    for (int commit = 0; commit < 2; commit++) {
        struct txn t;
        begin(&t);
        STEP(&t, init(-1, -1), "log(Empty 7 0) ok 7 0");
        open_txn(&t, 7, 0, 1);
        step_cut(&t, end(7, 0, commit, 1), 1); /* power cut behind the prepare */
        assert_int_equal(answer.error, KAFKA_COORDINATOR_NOT_AVAILABLE);
        assert_true(txn_prepared(&t));
        assert_int_equal(t.n_parts, 1);
        STEP(&t, end(7, 0, !commit, 1), "error 51");
        STEP(&t, end(7, 0, commit, 1), "error 51");
        STEP(&t, add(7, 0, 1), "error 51");
        STEP(&t, init(-1, -1), "error 51");
        STEP(&t, init(7, 0), "error 51");
        now_ms += 100000; /* no timeout chooses otherwise */
        assert_true(txn_due(&t) < now_ms);
        STEP(&t, tick,
             commit ? "mark(commit 7 0) log(CompleteCommit 7 0) "
                    : "mark(abort 7 0) log(CompleteAbort 7 0) ");
        STEP(&t, end(7, 0, commit, 1), "ok 7 0");
        txn_deinit(&t);
    }
}

static void eo_19_version_2_ends_with_a_new_epoch(void **state)
{
    struct txn t;
    begin(&t);
    STEP(&t, init(-1, -1), "log(Empty 7 0) ok 7 0");
    open_txn(&t, 7, 0, 2);
    STEP(&t, end(7, 0, true, 2),
         "log(PrepareCommit 7 1) mark(commit 7 1) log(CompleteCommit 7 1) ok 7 1");
    STEP(&t, end(7, 0, true, 2), "ok 7 1"); /* the retry */
    STEP(&t, end(7, 0, false, 2), "error 48");
    open_txn(&t, 7, 1, 2);
    STEP(&t, end(7, 0, true, 2), "error 90"); /* the stray copy decides nothing */
    assert_int_equal(t.v.state, TXN_ONGOING);
    STEP(&t, end(7, 1, false, 2),
         "log(PrepareAbort 7 2) mark(abort 7 2) log(CompleteAbort 7 2) ok 7 2");
    /* Nothing enrolled: an abort is fine and bumps, a commit is not. */
    STEP(&t, end(7, 2, true, 2), "error 48");
    STEP(&t, end(7, 2, false, 2), "log(CompleteAbort 7 3) ok 7 3");
    STEP(&t, end(7, 2, false, 2), "ok 7 3");
    STEP(&t, end(7, 1, false, 2), "error 90");
    /* The end may use another version than the begin. */
    open_txn(&t, 7, 3, 2);
    STEP(&t, end(7, 3, true, 1),
         "log(PrepareCommit 7 3) mark(commit 7 3) log(CompleteCommit 7 3) ok 7 3");
    open_txn(&t, 7, 3, 1);
    STEP(&t, end(7, 3, true, 2),
         "log(PrepareCommit 7 4) mark(commit 7 4) log(CompleteCommit 7 4) ok 7 4");
    txn_deinit(&t);
}

static void eo_25_exhausted_epochs_rotate_the_id(void **state)
{
    struct txn t;
    begin(&t);
    STEP(&t, init(-1, -1), "log(Empty 7 0) ok 7 0");
    t.v.epoch = TXN_EPOCH_MAX;
    STEP(&t, init(-1, -1), "log(Empty 8 0) ok 8 0");
    assert_int_equal(t.v.previous_producer_id, 7);
    t.v.epoch = TXN_EPOCH_MAX;
    STEP(&t, init(8, TXN_EPOCH_MAX), "log(Empty 9 0) ok 9 0");
    STEP(&t, init(8, TXN_EPOCH_MAX), "log(Empty 9 0) ok 9 0"); /* its retry */
    STEP(&t, init(8, 5), "error 90");
    /* A transaction at the last epoch: the fence is 32767, the answer a new id. */
    t.v.epoch = TXN_EPOCH_MAX;
    open_txn(&t, 9, TXN_EPOCH_MAX, 1);
    STEP(&t, init(-1, -1),
         "log(PrepareAbort 9 32767) mark(abort 9 32767) "
         "log(CompleteAbort 9 32767) log(Empty 10 0) ok 10 0");
    t.v.epoch = TXN_EPOCH_MAX;
    open_txn(&t, 10, TXN_EPOCH_MAX, 1);
    STEP(&t, init(10, TXN_EPOCH_MAX),
         "log(PrepareAbort 10 32767) mark(abort 10 32767) "
         "log(CompleteAbort 10 32767) log(Empty 11 0) ok 11 0");
    STEP(&t, init(10, TXN_EPOCH_MAX), "log(Empty 11 0) ok 11 0");
    txn_deinit(&t);
}

static void eo_25_version_2_rotates_at_its_end(void **state)
{
    struct txn_event tick = {.type = TXN_TICK};
    struct txn t;
    begin(&t);
    STEP(&t, init(-1, -1), "log(Empty 7 0) ok 7 0");
    t.v.epoch = TXN_EPOCH_MAX;
    open_txn(&t, 7, TXN_EPOCH_MAX, 2);
    STEP(&t, end(7, TXN_EPOCH_MAX, true, 2),
         "log(PrepareCommit 7 32767) mark(commit 7 32767) log(CompleteCommit 8 0) ok 8 0");
    STEP(&t, end(7, TXN_EPOCH_MAX, true, 2), "ok 8 0");
    STEP(&t, end(7, TXN_EPOCH_MAX, false, 2), "error 48");
    STEP(&t, end(7, 3, true, 2), "error 49");
    t.v.epoch = TXN_EPOCH_MAX;
    STEP(&t, end(8, TXN_EPOCH_MAX, false, 2), "log(CompleteAbort 9 0) ok 9 0");
    STEP(&t, end(8, TXN_EPOCH_MAX, false, 2), "ok 9 0");
    /* Cut behind the prepare: the new id is in it. */
    t.v.epoch = TXN_EPOCH_MAX;
    open_txn(&t, 9, TXN_EPOCH_MAX, 2);
    step_cut(&t, end(9, TXN_EPOCH_MAX, true, 2), 1);
    STEP(&t, end(9, TXN_EPOCH_MAX, true, 2), "error 51");
    STEP(&t, tick, "mark(commit 9 32767) log(CompleteCommit 10 0) ");
    STEP(&t, end(9, TXN_EPOCH_MAX, true, 2), "ok 10 0");
    txn_deinit(&t);
}

static void eo_27_nothing_staged_leaves_nothing_pending(void **state)
{
    struct txn t;
    begin(&t);
    step_cut(&t, init(-1, -1), 0);
    assert_true(t.fresh);
    STEP(&t, init(-1, -1), "log(Empty 8 0) ok 8 0");
    open_txn(&t, 8, 0, 1);
    step_cut(&t, end(8, 0, true, 1), 0);
    assert_int_equal(t.v.state, TXN_ONGOING);
    STEP(&t, end(8, 0, true, 1),
         "log(PrepareCommit 8 0) mark(commit 8 0) log(CompleteCommit 8 0) ok 8 0");
    txn_deinit(&t);
}

static void idle_ids_retire_and_open_ones_do_not(void **state)
{
    struct txn t;
    struct txn_event retire = {.type = TXN_RETIRE, .idle_ms = 1000};
    begin(&t);
    STEP(&t, init(-1, -1), "log(Empty 7 0) ok 7 0");
    STEP(&t, retire, "");
    now_ms += 1000;
    STEP(&t, retire, "tombstone ");
    open_txn(&t, 7, 0, 1);
    now_ms += 100000;
    STEP(&t, retire, "");
    txn_deinit(&t);
}

static void enrolments_are_a_set_that_can_be_undone(void **state)
{
    struct txn t;
    begin(&t);
    assert_int_equal(txn_enrol(&t, slice_str("a"), 0), 0);
    assert_int_equal(txn_enrol(&t, slice_str("a"), 0), 0);
    assert_int_equal(txn_enrol(&t, slice_str("b"), 0), 0);
    assert_int_equal(t.n_parts, 2);
    for (int i = 0; i < 40; i++) {
        char name[8];
        snprintf(name, sizeof name, "t%d", i % 20);
        assert_int_equal(txn_enrol(&t, slice_str(name), i), 0);
    }
    assert_int_equal(t.n_parts, 42);
    assert_int_equal(t.n_topics, 22);
    txn_enrol_undo(&t, 2);
    assert_int_equal(t.n_topics, 2);
    assert_true(txn_has(&t, slice_str("b"), 0));
    assert_false(txn_has(&t, slice_str("b"), 1));
    assert_false(txn_has(&t, slice_str("t1"), 1));
    txn_deinit(&t);
}

/* ---- random walk ---- */

static uint64_t rng;
static uint32_t draw(uint32_t below)
{
    rng = rng * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((rng >> 33) % below);
}

/* Each transaction begun, and what its markers decided. */
struct seen {
    int64_t pid;
    int epoch;
    int decision; /* 0 open, 1 commit, 2 abort: by markers */
};
enum { STEPS = 4000 };
static struct seen seen[STEPS];
static int n_seen;

static void follow(const struct txn_out *out, int done)
{
    for (int i = 0; i < done; i++) {
        const struct txn_effect *e = &out->v[i];
        struct seen *s = n_seen ? &seen[n_seen - 1] : NULL;
        if (e->type == TXN_LOG && e->value.state == TXN_ONGOING && (!s || s->decision)) {
            seen[n_seen] = (struct seen){.pid = e->value.producer_id, .epoch = e->value.epoch};
            n_seen++;
        }
        if (e->type == TXN_MARK) {
            assert_non_null(s);
            /* One decision, which may be marked again; by its own id, at its epoch or a higher
             * one. */
            assert_true(s->decision == 0 || s->decision == (e->commit ? 1 : 2));
            assert_int_equal(e->producer_id, s->pid);
            assert_true(e->epoch >= s->epoch);
            s->decision = e->commit ? 1 : 2;
        }
        if (e->type == TXN_LOG && (e->value.state == TXN_COMPLETE_COMMIT) && s)
            assert_int_equal(s->decision, 1);
    }
}

static void random_walks_decide_each_transaction_once(void **state)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct txn t;
        int64_t pid = -1;
        int epoch = -1;
        begin(&t);
        rng = seed;
        n_seen = 0;
        for (int i = 0; i < STEPS; i++) {
            struct txn_event ev = {.type = TXN_TICK};
            struct txn_out out;
            int version = 1 + (int)draw(2);
            int64_t p = draw(20) ? pid : pid - 1;
            int e = draw(8) ? epoch : epoch - 1;
            switch (draw(6)) {
            case 0: ev = draw(3) && pid >= 0 && e >= 0 && p >= 0 ? init(p, e) : init(-1, -1); break;
            case 1:
            case 2: ev = add(p, e, version); break;
            case 3:
            case 4: ev = end(p, e, draw(3), version); break;
            default: now_ms += draw(20000); break;
            }
            if (draw(200) == 0 && t.v.state == TXN_EMPTY && t.v.epoch >= 0) {
                t.v.epoch = TXN_EPOCH_MAX - 1;
                t.v.last_epoch = -1;
            }
            int16_t before = t.v.epoch;
            int64_t before_pid = t.v.producer_id;
            ev.fresh_id = next_id++;
            if (ev.type == TXN_ADD) {
                ev.all_in = txn_has(&t, slice_str("t"), 3);
                assert_int_equal(txn_enrol(&t, slice_str("t"), 3), 0);
            }
            txn_step(&t, &ev, now_ms, &out);
            assert_false(out.need_id);
            int done = draw(6) ? out.n : (int)draw((uint32_t)out.n + 1);
            if (ev.type == TXN_ADD && (done < out.n || out.v[out.n - 1].error) && !ev.all_in)
                txn_enrol_undo(&t, 0);
            for (int k = 0; k < done; k++) {
                if (out.v[k].type == TXN_LOG)
                    txn_logged(&t, &out.v[k]);
            }
            follow(&out, done);
            /* Epochs never go back under one id; ids never come back. */
            assert_true(t.v.producer_id > before_pid || t.v.epoch >= before);
            assert_true(t.v.producer_id >= before_pid);
            bool replied = done && out.v[done - 1].type == TXN_REPLY;
            if (!replied)
                continue;
            const struct txn_effect *r = &out.v[done - 1];
            if (!r->error && (ev.type == TXN_INIT || (ev.type == TXN_END && ev.version == 2))) {
                pid = r->producer_id;
                epoch = r->epoch;
                assert_true(epoch <= TXN_EPOCH_MAX);
                assert_int_equal(txn_owner(&t, pid, (int16_t)epoch), 0);
            }
            if (!r->error && ev.type == TXN_END && n_seen && ev.commit)
                assert_int_equal(seen[n_seen - 1].decision, 1);
            if (!r->error && ev.type == TXN_INIT && n_seen)
                assert_true(seen[n_seen - 1].decision != 0);
        }
        assert_true(n_seen > 20);
        txn_deinit(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_init_makes_an_id),
        cmocka_unit_test(init_refuses_bad_requests),
        cmocka_unit_test(eo_26_retry_of_init_is_told_the_same),
        cmocka_unit_test(commit_is_one_bundle),
        cmocka_unit_test(others_are_refused),
        cmocka_unit_test(eo_23_init_aborts_an_open_transaction_in_the_same_round),
        cmocka_unit_test(eo_24_timeout_aborts_with_a_new_epoch),
        cmocka_unit_test(eo_32_prepare_found_alone_rolls_forward_only),
        cmocka_unit_test(eo_19_version_2_ends_with_a_new_epoch),
        cmocka_unit_test(eo_25_exhausted_epochs_rotate_the_id),
        cmocka_unit_test(eo_25_version_2_rotates_at_its_end),
        cmocka_unit_test(eo_27_nothing_staged_leaves_nothing_pending),
        cmocka_unit_test(idle_ids_retire_and_open_ones_do_not),
        cmocka_unit_test(enrolments_are_a_set_that_can_be_undone),
        cmocka_unit_test(random_walks_decide_each_transaction_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

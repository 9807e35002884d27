/* tests/txn/test_coordinator.c - the coordinator in a broker on a simulated disk: what readers see,
 * what a restart finds, and power cuts at every moment of a transaction. */
#include "base/check.h"
#include "broker/group/coordinator.h"
#include "tests/txn/support_world.h"
#include "txn/internal.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

static int64_t ready(struct world *w, const char *id)
{
    struct txn_answer a = world_init_id(w, id, -1, -1);
    assert_int_equal(a.error, 0);
    assert_int_equal(a.epoch, 0);
    return a.producer_id;
}

static enum txn_state state_of(struct world *w, const char *id)
{
    const struct txn *t = coordinator_find(w->c, slice_str(id));
    assert_non_null(t);
    return t->v.state;
}

static void commit_becomes_visible_when_its_marker_is_durable(void **state)
{
    struct world w;
    world_init(&w, 1);
    int64_t pid = ready(&w, "x");
    assert_int_equal(world_add(&w, "x", pid, 0, "a", 0), 0);
    assert_int_equal(world_add(&w, "x", pid, 0, "a", 1), 0);
    assert_int_equal(world_produce(&w, "x", "a", 0, pid, 0, 0, 3, 11, NULL), 0);
    assert_int_equal(world_produce(&w, "x", "a", 1, pid, 0, 0, 2, 11, NULL), 0);
    assert_true(world_settle(&w));
    assert_int_equal(world_hw(&w, "a", 0), 3);
    assert_int_equal(world_stable(&w, "a", 0), 0);
    assert_int_equal(world_end(&w, "x", pid, 0, true, 1).error, 0);
    assert_int_equal(world_stable(&w, "a", 0), 0); /* staged is not durable */
    assert_true(world_settle(&w));
    assert_int_equal(world_stable(&w, "a", 0), 4);
    assert_int_equal(world_stable(&w, "a", 1), 3);
    assert_int_equal(world_aborted(&w, "a", 0), 0);
    assert_int_equal(state_of(&w, "x"), TXN_COMPLETE_COMMIT);
    world_deinit(&w);
}

static void abort_is_listed_for_readers(void **state)
{
    struct world w;
    world_init(&w, 2);
    int64_t pid = ready(&w, "x");
    assert_int_equal(world_add(&w, "x", pid, 0, "a", 0), 0);
    assert_int_equal(world_produce(&w, "x", "a", 0, pid, 0, 0, 3, 11, NULL), 0);
    assert_int_equal(world_end(&w, "x", pid, 0, false, 1).error, 0);
    assert_int_equal(world_aborted(&w, "a", 0), 0);
    assert_true(world_settle(&w));
    assert_int_equal(world_aborted(&w, "a", 0), 1);
    assert_int_equal(world_stable(&w, "a", 0), 4);
    world_restart(&w, true);
    assert_int_equal(world_aborted(&w, "a", 0), 1);
    assert_int_equal(world_stable(&w, "a", 0), 4);
    world_deinit(&w);
}

static void eo_20_21_append_needs_its_enrolment(void **state)
{
    struct world w;
    world_init(&w, 3);
    int64_t pid = ready(&w, "x");
    assert_int_equal(world_produce(&w, "x", "a", 0, pid, 0, 0, 1, 11, NULL), 120);
    assert_int_equal(world_produce(&w, "x", "a", 0, pid, 0, 0, 1, 9, NULL), 48);
    assert_int_equal(world_produce(&w, "", "a", 0, pid, 0, 0, 1, 9, NULL), 49);
    assert_int_equal(world_produce(&w, "y", "a", 0, pid, 0, 0, 1, 9, NULL), 49);
    assert_int_equal(world_produce(&w, "x", "a", 0, pid + 1, 0, 0, 1, 9, NULL), 49);
    assert_int_equal(world_add(&w, "x", pid, 0, "a", 0), 0);
    assert_int_equal(world_produce(&w, "x", "a", 1, pid, 0, 0, 1, 11, NULL), 120);
    assert_int_equal(world_produce(&w, "x", "a", 0, pid, 1, 0, 1, 11, NULL), 47);
    assert_int_equal(world_produce(&w, "x", "a", 0, pid, 0, 0, 1, 11, NULL), 0);
    /* The retry of a batch whose transaction is over opens nothing. */
    assert_int_equal(world_end(&w, "x", pid, 0, false, 1).error, 0);
    assert_int_equal(world_produce(&w, "x", "a", 0, pid, 0, 0, 1, 11, NULL), 120);
    assert_int_equal(world_produce(&w, "x", "a", 0, pid, 0, 1, 1, 11, NULL), 120);
    assert_true(world_settle(&w));
    assert_int_equal(world_stable(&w, "a", 0), world_hw(&w, "a", 0));
    /* A new incarnation fences what the old one still sends. */
    assert_int_equal(world_init_id(&w, "x", -1, -1).epoch, 1);
    assert_int_equal(world_produce(&w, "x", "a", 0, pid, 0, 1, 1, 11, NULL), 47);
    world_deinit(&w);
}

static void transactional_batch_without_an_id_is_refused(void **state)
{
    struct world w;
    world_init(&w, 4);
    int64_t pid = ready(&w, "x");
    assert_int_equal(coordinator_admit(w.c, SLICE_NULL, pid, 0, world_part(&w, "a", 0), false),
                     KAFKA_TRANSACTIONAL_ID_AUTHORIZATION_FAILED);
    /* A plain batch of a producer needs none. */
    assert_int_equal(world_produce(&w, NULL, "a", 0, pid, 0, 0, 1, 9, NULL), 0);
    world_deinit(&w);
}

static void mutation_lets_an_unenrolled_append_pass(void **state)
{
#ifdef ONCE_TEST_BUILD
    struct world w;
    world_init(&w, 5);
    int64_t pid = ready(&w, "x");
    w.node->env.mutations = UINT64_C(1) << MUT_NO_ENROLMENT_CHECK;
    assert_int_equal(world_produce(&w, "x", "a", 0, pid, 0, 0, 1, 11, NULL), 0);
    assert_true(world_settle(&w));
    world_pass(&w, 60000);
    assert_int_equal(world_stable(&w, "a", 0), 0); /* for ever */
    world_deinit(&w);
#else
    skip();
#endif
}

static void duplicate_is_answered_with_the_original_over_a_restart(void **state)
{
    for (int how = 0; how < 3; how++) {
        struct world w;
        int64_t pid, offset = -1;
        world_init(&w, 6 + (uint64_t)how);
        pid = ready(&w, "x");
        assert_int_equal(world_produce(&w, NULL, "a", 0, pid, 0, 0, 5, 9, NULL), 0);
        assert_int_equal(world_produce(&w, NULL, "a", 0, pid, 0, 5, 5, 9, NULL), 0);
        assert_true(world_settle(&w));
        if (how == 2)
            world_reopen(&w);
        else
            world_restart(&w, how == 1);
        assert_int_equal(world_produce(&w, NULL, "a", 0, pid, 0, 5, 5, 9, &offset), 0);
        assert_int_equal(offset, 5);
        /* EO-12: nor is the window shorter than it was. */
        assert_int_equal(world_produce(&w, NULL, "a", 0, pid, 0, 0, 5, 9, &offset), 0);
        assert_int_equal(offset, 0);
        assert_int_equal(log_end(world_part(&w, "a", 0)->log), 10);
        assert_int_equal(world_produce(&w, NULL, "a", 0, pid, 0, 11, 1, 9, NULL), 45);
        assert_int_equal(world_produce(&w, NULL, "a", 0, pid, 0, 10, 1, 9, &offset), 0);
        assert_int_equal(offset, 10);
        world_deinit(&w);
    }
}

/* A clock that jumps between a batch and its retry does not make a new batch of it. */
static void eo_18_a_jump_of_the_clock_forgets_no_producer(void **state)
{
    struct world w;
    int64_t pid, offset = -1;
    world_init(&w, 9);
    pid = ready(&w, "x");
    assert_int_equal(world_produce(&w, NULL, "a", 0, pid, 0, 0, 5, 9, NULL), 0);
    w.node->wall_skew_ms += INT64_C(3) * 86400000;
    world_pass(&w, 700000); /* longer than from one look for idle producers to the next */
    assert_int_equal(world_produce(&w, NULL, "a", 0, pid, 0, 0, 5, 9, &offset), 0);
    assert_int_equal(offset, 0);
    assert_int_equal(log_end(world_part(&w, "a", 0)->log), 5);
    world_deinit(&w);
}

static void eo_26_retry_of_init_is_told_the_same_over_a_restart(void **state)
{
    struct world w;
    world_init(&w, 10);
    int64_t pid = ready(&w, "x");
    assert_int_equal(world_init_id(&w, "x", pid, 0).epoch, 1);
    assert_true(world_settle(&w));
    world_restart(&w, true);
    assert_int_equal(world_init_id(&w, "x", pid, 0).epoch, 1);
    assert_int_equal(world_init_id(&w, "x", pid, 1).epoch, 2);
    assert_int_equal(world_init_id(&w, "x", pid, 0).error, 90);
    world_deinit(&w);
}

static void eo_31_begun_transaction_survives_a_restart(void **state)
{
    struct world w;
    world_init(&w, 11);
    int64_t pid = ready(&w, "x");
    assert_int_equal(world_add(&w, "x", pid, 0, "a", 0), 0);
    assert_int_equal(world_produce(&w, "x", "a", 0, pid, 0, 0, 2, 11, NULL), 0);
    assert_true(world_settle(&w));
    world_restart(&w, true);
    assert_int_equal(world_stable(&w, "a", 0), 0);
    assert_int_equal(world_add(&w, "x", pid, 0, "b", 0), 0);
    assert_int_equal(world_produce(&w, "x", "a", 0, pid, 0, 2, 1, 11, NULL), 0);
    assert_int_equal(world_produce(&w, "x", "b", 0, pid, 0, 0, 1, 11, NULL), 0);
    assert_int_equal(world_end(&w, "x", pid, 0, true, 1).error, 0);
    assert_true(world_settle(&w));
    assert_int_equal(world_stable(&w, "a", 0), 4);
    assert_int_equal(world_stable(&w, "b", 0), 2);
    world_deinit(&w);
}

static void eo_36_late_transactions_are_aborted_with_a_new_epoch(void **state)
{
    struct world w;
    world_init(&w, 12);
    int64_t pid = ready(&w, "x"), empty = ready(&w, "y");
    assert_int_equal(world_add(&w, "x", pid, 0, "a", 0), 0);
    assert_int_equal(world_produce(&w, "x", "a", 0, pid, 0, 0, 2, 11, NULL), 0);
    assert_int_equal(world_add(&w, "y", empty, 0, "b", 0), 0); /* nothing is ever written */
    assert_true(world_settle(&w));
    world_pass(&w, 5000);
    assert_int_equal(state_of(&w, "x"), TXN_ONGOING);
    world_restart(&w, true);
    world_pass(&w, 7000);
    assert_int_equal(state_of(&w, "x"), TXN_COMPLETE_ABORT);
    assert_int_equal(state_of(&w, "y"), TXN_COMPLETE_ABORT);
    assert_int_equal(world_stable(&w, "a", 0), 3);
    assert_int_equal(world_aborted(&w, "a", 0), 1);
    assert_int_equal(world_produce(&w, "x", "a", 0, pid, 0, 2, 1, 11, NULL), 47);
    assert_int_equal(world_end(&w, "x", pid, 0, true, 1).error, 90);
    assert_int_equal(world_add(&w, "x", pid, 0, "a", 0), 90);
    assert_int_equal(world_init_id(&w, "x", -1, -1).epoch, 2);
    world_deinit(&w);
}

/* A clock that was set back an hour does not hold readers up for an hour (I9). */
static void eo_36_a_clock_set_back_does_not_keep_transactions_open(void **state)
{
    struct world w;
    world_init(&w, 12);
    int64_t pid = ready(&w, "x");
    world_pass(&w, 3000);
    assert_int_equal(world_add(&w, "x", pid, 0, "a", 0), 0);
    assert_int_equal(world_produce(&w, "x", "a", 0, pid, 0, 0, 2, 11, NULL), 0);
    w.node->wall_skew_ms -= 3600000;
    world_pass(&w, 9000);
    assert_int_equal(state_of(&w, "x"), TXN_ONGOING);
    world_pass(&w, 4000);
    assert_int_equal(state_of(&w, "x"), TXN_COMPLETE_ABORT);
    assert_int_equal(world_stable(&w, "a", 0), 3);
    /* The next one has its time from its own beginning. */
    int16_t epoch = world_init_id(&w, "x", -1, -1).epoch;
    assert_int_equal(world_add(&w, "x", pid, epoch, "a", 0), 0);
    world_pass(&w, 9000);
    assert_int_equal(state_of(&w, "x"), TXN_ONGOING);
    world_deinit(&w);
}

static void eo_23_init_aborts_what_the_old_incarnation_left(void **state)
{
    struct world w;
    world_init(&w, 13);
    int64_t pid = ready(&w, "x");
    assert_int_equal(world_add(&w, "x", pid, 0, "a", 0), 0);
    assert_int_equal(world_produce(&w, "x", "a", 0, pid, 0, 0, 2, 11, NULL), 0);
    struct txn_answer a = world_init_id(&w, "x", -1, -1);
    assert_int_equal(a.error, 0);
    assert_int_equal(a.epoch, 2);
    assert_true(world_settle(&w));
    assert_int_equal(world_stable(&w, "a", 0), 3);
    assert_int_equal(world_aborted(&w, "a", 0), 1);
    /* The next transaction begins at sequence 0 of the new epoch. */
    assert_int_equal(world_add(&w, "x", pid, 2, "a", 0), 0);
    assert_int_equal(world_produce(&w, "x", "a", 0, pid, 2, 2, 1, 11, NULL), 45);
    assert_int_equal(world_produce(&w, "x", "a", 0, pid, 2, 0, 1, 11, NULL), 0);
    world_deinit(&w);
}

/* Leaves a prepare in the log with nothing behind it. */
static void prepare_alone(struct world *w, const char *id, bool commit)
{
    struct txn_entry *entry = coordinator_entry(w->c, slice_str(id), false);
    struct txn_effect e = {.type = TXN_LOG, .value = entry->t.v, .parts = TXN_PARTS_KEPT};
    e.value.state = commit ? TXN_PREPARE_COMMIT : TXN_PREPARE_ABORT;
    assert_int_equal(txlog_write(w->c, entry, &e), 0);
    txn_logged(&entry->t, &e);
    assert_true(world_settle(w));
}

static void eo_32_prepare_found_after_a_restart_rolls_forward(void **state)
{
    for (int commit = 0; commit < 2; commit++) {
        struct world w;
        world_init(&w, 14 + (uint64_t)commit);
        int64_t pid = ready(&w, "x");
        assert_int_equal(world_add(&w, "x", pid, 0, "a", 0), 0);
        assert_int_equal(world_add(&w, "x", pid, 0, "b", 0), 0);
        assert_int_equal(world_produce(&w, "x", "a", 0, pid, 0, 0, 2, 11, NULL), 0);
        assert_int_equal(world_produce(&w, "x", "b", 0, pid, 0, 0, 2, 11, NULL), 0);
        prepare_alone(&w, "x", commit);
        assert_int_equal(world_produce(&w, "x", "a", 0, pid, 0, 2, 1, 11, NULL), 19);
        assert_int_equal(world_end(&w, "x", pid, 0, commit, 1).error, 51);
        world_restart(&w, true);
        assert_true(world_settle(&w));
        assert_int_equal(state_of(&w, "x"), commit ? TXN_COMPLETE_COMMIT : TXN_COMPLETE_ABORT);
        assert_int_equal(world_stable(&w, "a", 0), 3);
        assert_int_equal(world_stable(&w, "b", 0), 3);
        assert_int_equal(world_aborted(&w, "a", 0), commit ? 0 : 1);
        assert_int_equal(world_end(&w, "x", pid, 0, commit, 1).error, 0);
        assert_int_equal(world_end(&w, "x", pid, 0, !commit, 1).error, 48);
        world_deinit(&w);
    }
}

static void eo_27_prepare_without_markers_rolls_forward_without_a_restart(void **state)
{
    struct world w;
    world_init(&w, 16);
    int64_t pid = ready(&w, "x");
    assert_int_equal(world_add(&w, "x", pid, 0, "a", 0), 0);
    assert_int_equal(world_produce(&w, "x", "a", 0, pid, 0, 0, 2, 11, NULL), 0);
    prepare_alone(&w, "x", true);
    world_pass(&w, 2000);
    assert_int_equal(state_of(&w, "x"), TXN_COMPLETE_COMMIT);
    assert_int_equal(world_stable(&w, "a", 0), 3);
    world_deinit(&w);
}

static void eo_29_64_deleted_topic_does_not_hold_a_transaction_up(void **state)
{
    struct world w;
    world_init(&w, 17);
    int64_t pid = ready(&w, "x");
    assert_int_equal(world_add(&w, "x", pid, 0, "a", 0), 0);
    assert_int_equal(world_add(&w, "x", pid, 0, "b", 0), 0);
    assert_int_equal(world_produce(&w, "x", "a", 0, pid, 0, 0, 2, 11, NULL), 0);
    assert_int_equal(world_produce(&w, "x", "b", 0, pid, 0, 0, 2, 11, NULL), 0);
    assert_int_equal(broker_topic_delete(w.b, broker_topic(w.b, slice_str("b"))), 0);
    prepare_alone(&w, "x", true);
    world_restart(&w, true);
    assert_true(world_settle(&w));
    assert_int_equal(state_of(&w, "x"), TXN_COMPLETE_COMMIT);
    assert_int_equal(world_stable(&w, "a", 0), 3);
    world_deinit(&w);
}

/* EO-27: whatever the full disk refused, nothing is pending and nothing half decided once there is
 * room. */
static void full_disk_refuses_and_goes_on_when_there_is_room(void **state)
{
    struct world w;
    enum kafka_error error = KAFKA_NONE;
    int32_t sequence = 0, tries = 0, n_retried = 0;
    int64_t offset = -1;
    world_init(&w, 18);
    int64_t pid = ready(&w, "x");
    assert_int_equal(world_add(&w, "x", pid, 0, "a", 0), 0);
    assert_true(world_settle(&w));
    struct sim_disk *disk = sim_node_disk(w.node);
    disk->quota = disk->used;
    while (!error && tries++ < 100000) {
        error = world_produce(&w, "x", "a", 0, pid, 0, sequence, 100, 11, NULL);
        sequence += error ? 0 : 100;
        if (tries % 50 == 0)
            world_pass(&w, 20);
    }
    assert_int_equal(error, KAFKA_KAFKA_STORAGE_ERROR);
    struct txn_answer a = world_end(&w, "x", pid, 0, true, 1);
    assert_true(a.error == KAFKA_COORDINATOR_NOT_AVAILABLE || a.error == KAFKA_NONE);
    disk->quota = UINT64_MAX;
    world_pass(&w, 5000);
    /* EO-07: what was refused left no trace: the same batch is new, and the next one has a gap. */
    if (state_of(&w, "x") == TXN_ONGOING) {
        n_retried++;
        assert_int_equal(world_produce(&w, "x", "a", 0, pid, 0, sequence + 100, 100, 11, NULL), 45);
        assert_int_equal(world_produce(&w, "x", "a", 0, pid, 0, sequence, 100, 11, &offset), 0);
        assert_int_equal(offset, sequence);
        assert_int_equal(log_end(world_part(&w, "a", 0)->log), sequence + 100);
        sequence += 100;
    }
    if (a.error)
        a = world_end(&w, "x", pid, 0, true, 1);
    assert_int_equal(a.error, 0);
    assert_true(world_settle(&w));
    assert_int_equal(world_hw(&w, "a", 0), sequence + 1);
    assert_int_equal(world_stable(&w, "a", 0), sequence + 1);
    assert_int_equal(n_retried, 1);
    world_deinit(&w);
}

static void version_2_append_enrols_in_its_own_round(void **state)
{
    struct world w;
    world_init(&w, 18);
    int64_t pid = ready(&w, "x");
    assert_int_equal(world_produce(&w, "x", "a", 0, pid, 0, 5, 1, 12, NULL), 45);
    assert_int_equal(world_produce(&w, "x", "a", 0, pid, 0, 0, 1, 12, NULL), 0);
    struct txn_answer a = world_end(&w, "x", pid, 0, true, 2);
    assert_int_equal(a.error, 0);
    assert_int_equal(a.epoch, 1);
    assert_true(world_settle(&w));
    assert_int_equal(world_stable(&w, "a", 0), 2);
    assert_int_equal(world_produce(&w, "x", "a", 0, pid, 0, 1, 1, 12, NULL), 47);
    assert_int_equal(world_produce(&w, "x", "a", 0, pid, 1, 0, 1, 12, NULL), 0);
    assert_int_equal(world_end(&w, "x", pid, 0, true, 2).error, 90); /* EO-19 */
    a = world_end(&w, "x", pid, 1, true, 2);
    assert_int_equal(a.epoch, 2);
    world_deinit(&w);
}

/* ---- offsets ---- */

static enum kafka_error commit_offset(struct world *w, const char *id, int64_t pid, int16_t epoch,
                                      int16_t version, int64_t offset)
{
    struct plug_request rq = {PLUG_COORDINATOR, version, slice_str(id)};
    struct group_commit_offset v = {
        .topic = slice_str("a"), .partition = 0, .offset = offset, .leader_epoch = -1};
    struct group_commit c = {.group = slice_str("g"),
                             .producer_id = pid,
                             .producer_epoch = epoch,
                             .retention_ms = -1,
                             .rq = &rq,
                             .v = &v,
                             .n = 1};
    group_coordinator_commit(broker_groups(w->b), &c);
    return v.error;
}

static bool unstable(struct world *w)
{
    return group_offsets_unstable(broker_groups(w->b), slice_str("g"), slice_str("a"), 0);
}

static void offsets_wait_for_the_marker(void **state)
{
    struct world w;
    world_init(&w, 19);
    int64_t pid = ready(&w, "x");
    const struct partition *p = group_coordinator_partition(broker_groups(w.b), slice_str("g"));
    assert_int_equal(commit_offset(&w, "x", pid, 0, 4, 7), 120);
    assert_int_equal(commit_offset(&w, "x", pid, 0, 3, 7), 48);
    assert_int_equal(world_add(&w, "x", pid, 0, GROUP_TOPIC, p->index), 0);
    assert_int_equal(commit_offset(&w, "x", pid, 1, 3, 7), 47);
    assert_int_equal(commit_offset(&w, "x", pid + 1, 0, 3, 7), 49);
    assert_int_equal(commit_offset(&w, "x", pid, 0, 3, 7), 0);
    assert_int_equal(commit_offset(&w, "x", pid, 0, 3, 8), 0);
    assert_true(unstable(&w));
    assert_true(world_settle(&w));
    world_restart(&w, true);
    assert_true(unstable(&w));
    assert_int_equal(world_end(&w, "x", pid, 0, true, 1).error, 0);
    assert_false(unstable(&w));
    assert_true(world_settle(&w));
    world_restart(&w, true);
    assert_false(unstable(&w));
    world_deinit(&w);
}

/* ---- power cuts at any moment ---- */

/* One transaction over two partitions and the offsets, cut after a drawn number of events. Whatever
 * is found: all parts have the same decision, and what was answered holds. */
static int n_open, n_decided, n_unanswered;
static void cut_once(uint64_t seed)
{
    struct world w;
    world_init(&w, seed);
    int64_t pid = ready(&w, "x");
    assert_true(world_settle(&w));
    const struct partition *offsets =
        group_coordinator_partition(broker_groups(w.b), slice_str("g"));
    assert_true(world_settle(&w));
    bool commit = seed & 1;
    uint64_t lsn_end = 0;
    uint64_t steps = sim_random(&w.sim, 60);
    enum kafka_error error = world_add(&w, "x", pid, 0, "a", 0);
    error = error ? error : world_add(&w, "x", pid, 0, "b", 0);
    error = error ? error : world_add(&w, "x", pid, 0, GROUP_TOPIC, offsets->index);
    error = error ? error : world_produce(&w, "x", "a", 0, pid, 0, 0, 2, 11, NULL);
    error = error ? error : world_produce(&w, "x", "b", 0, pid, 0, 0, 2, 11, NULL);
    assert_int_equal(error, 0);
    for (uint64_t i = 0; i < steps / 2; i++)
        sim_step(&w.sim);
    sim_enter(w.node);
    assert_int_equal(commit_offset(&w, "x", pid, 0, 3, 7), 0);
    for (uint64_t i = 0; i < steps / 4; i++)
        sim_step(&w.sim);
    sim_enter(w.node);
    assert_int_equal(world_end(&w, "x", pid, 0, commit, 1).error, 0);
    lsn_end = broker_lsn(w.b);
    for (uint64_t i = 0; i < steps; i++)
        sim_step(&w.sim);
    bool answered = logdir_durable(broker_logdir(w.b)) >= lsn_end;
    world_restart(&w, seed & 2);
    assert_true(world_settle(&w));
    enum txn_state found = state_of(&w, "x");
    if (answered)
        assert_int_equal(found, commit ? TXN_COMPLETE_COMMIT : TXN_COMPLETE_ABORT);
    bool decided = found == TXN_COMPLETE_COMMIT || found == TXN_COMPLETE_ABORT;
    assert_true(decided || found == TXN_EMPTY || found == TXN_ONGOING);
    n_open += found == TXN_ONGOING;
    n_decided += decided;
    n_unanswered += decided && !answered;
    if (decided) {
        assert_int_equal(world_hw(&w, "a", 0), 3);
        assert_int_equal(world_hw(&w, "b", 0), 3);
        assert_int_equal(world_aborted(&w, "a", 0), !commit);
        assert_int_equal(world_aborted(&w, "b", 0), !commit);
        assert_false(unstable(&w));
    }
    assert_int_equal(world_stable(&w, "a", 0), decided ? world_hw(&w, "a", 0) : 0);
    /* Nothing stays open for ever (I8, I9). */
    world_pass(&w, 20000);
    assert_int_equal(world_stable(&w, "a", 0), world_hw(&w, "a", 0));
    assert_int_equal(world_stable(&w, "b", 0), world_hw(&w, "b", 0));
    assert_false(unstable(&w));
    /* What the running broker knows is what the next start finds (I10). */
    int aborted = world_aborted(&w, "a", 0);
    world_restart(&w, true);
    assert_int_equal(world_aborted(&w, "a", 0), aborted);
    assert_int_equal(world_stable(&w, "a", 0), world_hw(&w, "a", 0));
    world_deinit(&w);
}

static void power_cuts_never_split_a_decision(void **state)
{
    for (uint64_t seed = 100; seed < 500; seed++)
        cut_once(seed);
    /* The cuts hit every kind of moment, or this shows nothing. */
    assert_true(n_open > 0);
    assert_true(n_decided > n_unanswered);
    assert_true(n_unanswered > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commit_becomes_visible_when_its_marker_is_durable),
        cmocka_unit_test(abort_is_listed_for_readers),
        cmocka_unit_test(eo_20_21_append_needs_its_enrolment),
        cmocka_unit_test(transactional_batch_without_an_id_is_refused),
        cmocka_unit_test(mutation_lets_an_unenrolled_append_pass),
        cmocka_unit_test(duplicate_is_answered_with_the_original_over_a_restart),
        cmocka_unit_test(eo_18_a_jump_of_the_clock_forgets_no_producer),
        cmocka_unit_test(eo_26_retry_of_init_is_told_the_same_over_a_restart),
        cmocka_unit_test(eo_31_begun_transaction_survives_a_restart),
        cmocka_unit_test(eo_36_late_transactions_are_aborted_with_a_new_epoch),
        cmocka_unit_test(eo_36_a_clock_set_back_does_not_keep_transactions_open),
        cmocka_unit_test(eo_23_init_aborts_what_the_old_incarnation_left),
        cmocka_unit_test(eo_32_prepare_found_after_a_restart_rolls_forward),
        cmocka_unit_test(eo_27_prepare_without_markers_rolls_forward_without_a_restart),
        cmocka_unit_test(eo_29_64_deleted_topic_does_not_hold_a_transaction_up),
        cmocka_unit_test(full_disk_refuses_and_goes_on_when_there_is_room),
        cmocka_unit_test(version_2_append_enrols_in_its_own_round),
        cmocka_unit_test(offsets_wait_for_the_marker),
        cmocka_unit_test(power_cuts_never_split_a_decision),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* tests/txn/test_gates.c - nothing is answered before what it rests on is durable, and what readers
 * are shown is durable state alone; seen from the wire, with slow syncs. */
#include "base/wire/batch.h"
#include "broker/group/coordinator.h"
#include "tests/txn/support_wire.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

enum { SYNC_MS = 500, EARLY_MS = 300, LATE_MS = 5000 };
enum {
    PRODUCE = 0,
    FETCH = 1,
    LIST_OFFSETS = 2,
    OFFSET_COMMIT = 8,
    OFFSET_FETCH = 9,
    FIND_COORDINATOR = 10,
    JOIN_GROUP = 11,
    SYNC_GROUP = 14,
    INIT_PRODUCER_ID = 22,
    ADD_PARTITIONS = 24,
    ADD_OFFSETS = 25,
    END_TXN = 26,
    TXN_OFFSET_COMMIT = 28
};

static struct wired x;
static struct buf batch;

static int setup(void **state)
{
    wired_init(&x, 7);
    return 0;
}

static int teardown(void **state)
{
    wired_sync_ms(&x, 1);
    world_pass(&x.w, 3000); /* after a failure too, what is under way ends */
    wired_deinit(&x);
    buf_deinit(&batch);
    return 0;
}

/* The answer to m comes, and not before a sync took its time. */
static void waits(int16_t key, int16_t version, const void *m, void *out)
{
    wired_ask(&x, 0, key, version, m);
    if (wired_answered(&x, 0, EARLY_MS))
        fail_msg("api %d answered before it was durable", key);
    assert_true(wired_answered(&x, 0, LATE_MS));
    wired_take(&x, 0, key, version, out);
}

/* ---- requests ---- */

static void find_coordinator(int8_t type, const char *name, struct find_coordinator_request *m)
{
    find_coordinator_request_init(m);
    m->key = slice_str(name);
    m->key_type = type;
}

static void init_request(struct init_producer_id_request *m)
{
    init_producer_id_request_init(m);
    m->transactional_id = slice_str("x");
    m->transaction_timeout_ms = 60000;
    m->producer_id = m->producer_epoch = -1;
}

static int64_t ready(void)
{
    struct init_producer_id_request m;
    struct init_producer_id_response r;
    init_request(&m);
    wired_call(&x, INIT_PRODUCER_ID, 4, &m, &r);
    assert_int_equal(r.error_code, 0);
    return r.producer_id;
}

/* A Produce of one batch of 3 records to a-0; its memory is good until the next one. */
static void produce_request(struct produce_request *m, int64_t pid, int32_t sequence,
                            bool transactional)
{
    static struct produce_request_partition_produce_data part;
    static struct produce_request_topic_produce_data topic;
    struct batch_writer_options o = {.leader_epoch = -1,
                                     .attributes = transactional ? BATCH_TRANSACTIONAL : 0};
    struct batch_writer w;
    buf_deinit(&batch);
    buf_init(&batch, 1 << 16);
    assert_int_equal(batch_writer_begin(&w, &batch, &o), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(batch_writer_add(&w, env_wall_ms(&x.client->env), slice_str("k"),
                                          slice_str("v"), NULL, 0),
                         0);
    assert_int_equal(batch_writer_finish(&w, pid, 0, sequence), 0);
    produce_request_partition_produce_data_init(&part);
    part.records = buf_slice(&batch);
    produce_request_topic_produce_data_init(&topic);
    topic.name = slice_str("a");
    topic.partition_data.v = &part;
    topic.partition_data.n = 1;
    produce_request_init(m);
    m->transactional_id = transactional ? slice_str("x") : SLICE_NULL;
    m->acks = -1;
    m->timeout_ms = 30000;
    m->topic_data.v = &topic;
    m->topic_data.n = 1;
}

static int16_t produced(const struct produce_response *r, int64_t *offset)
{
    *offset = r->responses.v[0].partition_responses.v[0].base_offset;
    return r->responses.v[0].partition_responses.v[0].error_code;
}

static void add_request(struct add_partitions_to_txn_request *m, int64_t pid)
{
    static int32_t zero;
    static struct add_partitions_to_txn_request_add_partitions_to_txn_topic topic;
    topic = (struct add_partitions_to_txn_request_add_partitions_to_txn_topic){slice_str("a"),
                                                                               {&zero, 1}};
    add_partitions_to_txn_request_init(m);
    m->v3_and_below_transactional_id = slice_str("x");
    m->v3_and_below_producer_id = pid;
    m->v3_and_below_topics.v = &topic;
    m->v3_and_below_topics.n = 1;
}

static void begin(int64_t pid)
{
    struct add_partitions_to_txn_request m;
    struct add_partitions_to_txn_response r;
    add_request(&m, pid);
    wired_call(&x, ADD_PARTITIONS, 3, &m, &r);
    assert_int_equal(
        r.results_by_topic_v3_and_below.v[0].results_by_partition.v[0].partition_error_code, 0);
}

static void fetch_request(struct fetch_request *m, int64_t offset, int32_t max_wait_ms,
                          int32_t min_bytes)
{
    static struct fetch_request_fetch_partition part;
    static struct fetch_request_fetch_topic topic;
    fetch_request_fetch_partition_init(&part);
    part.fetch_offset = offset;
    part.partition_max_bytes = 1 << 20;
    fetch_request_fetch_topic_init(&topic);
    topic.topic = slice_str("a");
    topic.partitions.v = &part;
    topic.partitions.n = 1;
    fetch_request_init(m);
    m->max_wait_ms = max_wait_ms;
    m->min_bytes = min_bytes;
    m->isolation_level = 1;
    m->topics.v = &topic;
    m->topics.n = 1;
}

static const struct fetch_response_partition_data *fetched(int line)
{
    static struct fetch_response r;
    wired_take(&x, line, FETCH, 11, &r);
    assert_int_equal(r.responses.v[0].partitions.v[0].error_code, 0);
    return &r.responses.v[0].partitions.v[0];
}

static int64_t latest(bool committed)
{
    struct list_offsets_request_list_offsets_partition part;
    struct list_offsets_request_list_offsets_topic topic;
    struct list_offsets_request m;
    struct list_offsets_response r;
    list_offsets_request_list_offsets_partition_init(&part);
    part.timestamp = -1;
    topic = (struct list_offsets_request_list_offsets_topic){slice_str("a"), {&part, 1}};
    list_offsets_request_init(&m);
    m.isolation_level = committed;
    m.topics.v = &topic;
    m.topics.n = 1;
    wired_ask(&x, 1, LIST_OFFSETS, 5, &m);
    assert_true(wired_answered(&x, 1, 50)); /* it waits for nothing */
    wired_take(&x, 1, LIST_OFFSETS, 5, &r);
    assert_int_equal(r.topics.v[0].partitions.v[0].error_code, 0);
    return r.topics.v[0].partitions.v[0].offset;
}

static void offset_request(struct offset_commit_request *m, int64_t offset)
{
    static struct offset_commit_request_offset_commit_request_partition part;
    static struct offset_commit_request_offset_commit_request_topic topic;
    part = (struct offset_commit_request_offset_commit_request_partition){0, offset, -1,
                                                                          slice_str("")};
    topic = (struct offset_commit_request_offset_commit_request_topic){slice_str("a"), {&part, 1}};
    offset_commit_request_init(m);
    m->group_id = slice_str("plain");
    m->topics.v = &topic;
    m->topics.n = 1;
}

/* ---- answers ---- */

static void a_transactions_steps_are_answered_when_they_are_durable(void **state)
{
    struct find_coordinator_request find;
    struct find_coordinator_response found;
    struct init_producer_id_request init;
    struct init_producer_id_response inited;
    struct add_partitions_to_txn_request add;
    struct add_partitions_to_txn_response added;
    struct produce_request produce;
    struct produce_response answer;
    struct end_txn_response ended;
    int64_t offset;

    wired_sync_ms(&x, SYNC_MS);
    find_coordinator(1, "x", &find);
    waits(FIND_COORDINATOR, 3, &find, &found);
    find_coordinator(0, "g", &find);
    waits(FIND_COORDINATOR, 3, &find, &found);
    assert_int_equal(found.error_code, 0);
    init_request(&init);
    waits(INIT_PRODUCER_ID, 4, &init, &inited);
    add_request(&add, inited.producer_id);
    waits(ADD_PARTITIONS, 3, &add, &added);
    produce_request(&produce, inited.producer_id, 0, true);
    waits(PRODUCE, 9, &produce, &answer);
    assert_int_equal(produced(&answer, &offset), 0);
    struct end_txn_request end = {slice_str("x"), inited.producer_id, 0, true};
    waits(END_TXN, 4, &end, &ended);
    assert_int_equal(ended.error_code, 0);
    assert_int_equal(world_stable(&x.w, "a", 0), 4);
}

static void offsets_are_answered_when_they_are_durable(void **state)
{
    struct add_offsets_to_txn_request add;
    struct add_offsets_to_txn_response added;
    struct txn_offset_commit_request commit;
    struct txn_offset_commit_response committed;
    struct txn_offset_commit_request_txn_offset_commit_request_partition part = {0, 42, -1,
                                                                                 slice_str("")};
    struct txn_offset_commit_request_txn_offset_commit_request_topic topic = {slice_str("a"),
                                                                              {&part, 1}};
    struct offset_commit_request plain;
    struct offset_commit_response done;
    int64_t pid = ready();

    wired_sync_ms(&x, SYNC_MS);
    add = (struct add_offsets_to_txn_request){slice_str("x"), pid, 0, slice_str("g")};
    waits(ADD_OFFSETS, 3, &add, &added);
    assert_int_equal(added.error_code, 0);
    txn_offset_commit_request_init(&commit);
    commit.transactional_id = slice_str("x");
    commit.group_id = slice_str("g");
    commit.producer_id = pid;
    commit.topics.v = &topic;
    commit.topics.n = 1;
    waits(TXN_OFFSET_COMMIT, 3, &commit, &committed);
    assert_int_equal(committed.topics.v[0].partitions.v[0].error_code, 0);
    offset_request(&plain, 5);
    waits(OFFSET_COMMIT, 7, &plain, &done);
    assert_int_equal(done.topics.v[0].partitions.v[0].error_code, 0);
}

/* Who asks while an offset is staged is told it when nothing can take it back any more. */
static void offsets_are_fetched_when_they_are_durable(void **state)
{
    struct offset_commit_request plain;
    struct offset_fetch_request m;
    struct offset_fetch_response r;
    struct offset_commit_response done;
    struct offset_fetch_request_offset_fetch_request_topic topic;
    int32_t zero = 0;

    offset_request(&plain, 5);
    wired_call(&x, OFFSET_COMMIT, 7, &plain, &done);
    wired_sync_ms(&x, SYNC_MS);
    offset_request(&plain, 6);
    wired_ask(&x, 1, OFFSET_COMMIT, 7, &plain);
    assert_false(wired_answered(&x, 1, 20));
    offset_fetch_request_init(&m);
    m.group_id = slice_str("plain");
    topic = (struct offset_fetch_request_offset_fetch_request_topic){slice_str("a"), {&zero, 1}};
    m.topics.v = &topic;
    m.topics.n = 1;
    waits(OFFSET_FETCH, 7, &m, &r);
    assert_int_equal(r.topics.v[0].partitions.v[0].committed_offset, 6);
}

static void an_assignment_is_told_when_it_is_durable(void **state)
{
    struct join_group_request join;
    struct join_group_response joined;
    struct join_group_request_join_group_request_protocol p = {slice_str("range"), slice_str("")};
    struct sync_group_request sync;
    struct sync_group_response synced;

    join_group_request_init(&join);
    join.group_id = slice_str("g");
    join.session_timeout_ms = 10000;
    join.rebalance_timeout_ms = 10000;
    join.group_instance_id = slice_str("i");
    join.protocol_type = slice_str("consumer");
    join.protocols.v = &p;
    join.protocols.n = 1;
    wired_call(&x, JOIN_GROUP, 5, &join, &joined);
    assert_int_equal(joined.error_code, 0);
    wired_sync_ms(&x, SYNC_MS);
    sync_group_request_init(&sync);
    sync.group_id = slice_str("g");
    sync.generation_id = joined.generation_id;
    sync.member_id = joined.member_id;
    sync.group_instance_id = slice_str("i");
    waits(SYNC_GROUP, 3, &sync, &synced);
    assert_int_equal(synced.error_code, 0);
}

/* EO-13: a retry that meets its original on its way to the disk is not told more than it knows. */
static void a_duplicate_waits_for_its_original(void **state)
{
    struct produce_request m;
    struct produce_response r;
    int64_t pid = ready(), offset;

    wired_sync_ms(&x, SYNC_MS);
    produce_request(&m, pid, 0, false);
    wired_ask(&x, 1, PRODUCE, 9, &m);
    assert_false(wired_answered(&x, 1, 20));
    waits(PRODUCE, 9, &m, &r);
    assert_int_equal(produced(&r, &offset), 0);
    assert_int_equal(offset, 0);
    assert_true(wired_answered(&x, 1, 50));
    assert_int_equal(log_end(world_part(&x.w, "a", 0)->log), 3);
}

/* ---- readers ---- */

static void readers_see_durable_state_alone(void **state)
{
    struct produce_request m;
    struct produce_response r;
    struct fetch_request f;
    struct end_txn_response ended;
    int64_t pid = ready(), offset;

    begin(pid);
    wired_sync_ms(&x, SYNC_MS);
    produce_request(&m, pid, 0, true);
    wired_ask(&x, 0, PRODUCE, 9, &m);
    assert_false(wired_answered(&x, 0, 100));
    assert_int_equal(log_end(world_part(&x.w, "a", 0)->log), 3);
    assert_int_equal(latest(false), 0);
    assert_true(wired_answered(&x, 0, LATE_MS));
    wired_take(&x, 0, PRODUCE, 9, &r);
    assert_int_equal(produced(&r, &offset), 0);
    assert_int_equal(latest(false), 3);
    assert_int_equal(latest(true), 0);
    struct end_txn_request end = {slice_str("x"), pid, 0, true};
    wired_ask(&x, 0, END_TXN, 4, &end);
    assert_false(wired_answered(&x, 0, 100)); /* decided, not durable */
    assert_int_equal(latest(true), 0);
    assert_int_equal(latest(false), 3);
    fetch_request(&f, 0, 0, 1);
    wired_ask(&x, 1, FETCH, 11, &f);
    assert_true(wired_answered(&x, 1, 50));
    const struct fetch_response_partition_data *d = fetched(1);
    assert_int_equal(d->last_stable_offset, 0);
    assert_int_equal(d->records.n, 0);
    fetch_request(&f, 0, 2000, 1); /* parks, and wakes with the decision */
    wired_ask(&x, 2, FETCH, 11, &f);
    assert_false(wired_answered(&x, 2, 100));
    assert_true(wired_answered(&x, 0, LATE_MS));
    wired_take(&x, 0, END_TXN, 4, &ended);
    assert_int_equal(ended.error_code, 0);
    assert_true(wired_answered(&x, 2, 50));
    d = fetched(2);
    assert_int_equal(d->last_stable_offset, 4);
    assert_true(d->records.n > 0);
    assert_int_equal(d->aborted_transactions.n, 0);
}

static void end(int64_t pid, bool commit)
{
    struct end_txn_request m = {slice_str("x"), pid, 0, commit};
    struct end_txn_response r;
    wired_call(&x, END_TXN, 4, &m, &r);
    assert_int_equal(r.error_code, 0);
}

static void produce(int64_t pid, int32_t sequence)
{
    struct produce_request m;
    struct produce_response r;
    int64_t offset;
    produce_request(&m, pid, sequence, true);
    wired_call(&x, PRODUCE, 9, &m, &r);
    assert_int_equal(produced(&r, &offset), 0);
}

/* EO-05: whichever way a fetch comes to its records, it is told of the aborted ones, those that
 * began before its offset too. */
static void a_parked_fetch_is_told_of_aborted_records(void **state)
{
    struct fetch_request f;
    const struct fetch_response_partition_data *d;
    int64_t pid = ready();

    begin(pid);
    produce(pid, 0);
    produce(pid, 3);
    fetch_request(&f, 3, 5000, 1); /* parks: nothing is decided */
    wired_ask(&x, 1, FETCH, 11, &f);
    assert_false(wired_answered(&x, 1, 100));
    end(pid, false);
    assert_true(wired_answered(&x, 1, 50));
    d = fetched(1);
    assert_true(d->records.n > 0);
    assert_int_equal(d->aborted_transactions.n, 1);
    assert_int_equal(d->aborted_transactions.v[0].producer_id, pid);
    assert_int_equal(d->aborted_transactions.v[0].first_offset, 0);
    /* committed bytes are there already, and not enough: the rest comes with an abort */
    begin(pid);
    produce(pid, 6);
    end(pid, true);
    fetch_request(&f, 7, 5000, 200);
    wired_ask(&x, 1, FETCH, 11, &f);
    assert_false(wired_answered(&x, 1, 100));
    begin(pid);
    produce(pid, 9);
    end(pid, false);
    assert_true(wired_answered(&x, 1, 5000));
    d = fetched(1);
    assert_int_equal(d->last_stable_offset, 15);
    assert_int_equal(d->aborted_transactions.n, 1);
    assert_int_equal(d->aborted_transactions.v[0].first_offset, 11);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_transactions_steps_are_answered_when_they_are_durable),
        CASE(offsets_are_answered_when_they_are_durable),
        CASE(offsets_are_fetched_when_they_are_durable),
        CASE(an_assignment_is_told_when_it_is_durable),
        CASE(a_duplicate_waits_for_its_original),
        CASE(readers_see_durable_state_alone),
        CASE(a_parked_fetch_is_told_of_aborted_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

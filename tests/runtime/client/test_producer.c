/* tests/runtime/client/test_producer.c - the producer against a fake broker that drops requests,
 * replies and connections and answers errors: nothing is lost, doubled or reordered, and a retry
 * is the same bytes (the fake asserts that). */
#include "support_fake.h"
#include "runtime/client/admin.h"
#include "runtime/client/producer.h"
#include <stdio.h>

enum { RECORDS = 400, SEEDS = 40 };

static struct fake *f;
static struct producer *producer;
static int per_mille; /* of requests fail */
static const struct client_options quick = {.request_timeout_ms = 3000};

struct result {
    bool done;
    int res;
};

static void stepped(void *user, int res, const struct err *e)
{
    *(struct result *)user = (struct result){true, res};
}

static int random_fault(void *u, int16_t api)
{
    static const int errors[] = {KAFKA_NOT_LEADER_OR_FOLLOWER, KAFKA_NOT_ENOUGH_REPLICAS,
                                 KAFKA_LEADER_NOT_AVAILABLE};
    int what = (int)sim_random(&f->sim, 1000);

    if (what >= per_mille || api == API_METADATA)
        return FAKE_OK;
    switch (what % 8) {
    case 0:
    case 1: return FAKE_DROP_REQUEST;
    case 2:
    case 3: return FAKE_DROP_REPLY;
    case 4: return FAKE_SILENT;
    case 5: return api == API_PRODUCE ? FAKE_MAYBE : FAKE_DROP_REPLY;
    default: break;
    }
    if (api == API_PRODUCE)
        return errors[sim_random(&f->sim, 3)];
    if (api == API_END_TXN || api == API_INIT_PRODUCER_ID || api == API_ADD_PARTITIONS_TO_TXN ||
        api == API_ADD_OFFSETS_TO_TXN)
        return what % 2 ? KAFKA_CONCURRENT_TRANSACTIONS : KAFKA_NOT_COORDINATOR;
    return KAFKA_NOT_COORDINATOR;
}

static void open_world(uint64_t seed, bool v2, const char *id)
{
    struct producer_options o = {.transactional_id = slice_str(id), .batch_bytes = 300};

    f = malloc(sizeof *f);
    assert_non_null(f);
    fake_open(f, seed, v2, &quick);
    f->fault = random_fault;
    assert_int_equal(producer_open(&producer, f->client, &o), 0);
}

static void close_world(void)
{
    producer_free(producer);
    fake_close(f);
    free(f);
}

static int await(struct result *r)
{
    assert_true(fake_run(f, &r->done, 3000));
    return r->res;
}

static int init_id(void)
{
    struct result r = {0};
    sim_enter(f->node);
    producer_init_id(producer, stepped, &r);
    return await(&r);
}

static int flush(void)
{
    struct result r = {0};
    sim_enter(f->node);
    producer_flush(producer, stepped, &r);
    return await(&r);
}

static int send_one(int partition, const char *value)
{
    struct producer_record r = {.topic = slice_str("t"),
                                .key = SLICE_NULL,
                                .value = slice_str(value),
                                .partition = partition,
                                .timestamp = 1};
    return producer_send(producer, &r);
}

struct count {
    int next, disorder;
};

static void count_one(void *u, struct slice value, int64_t offset)
{
    struct count *c = u;
    char text[32];

    snprintf(text, sizeof text, "%.*s", SLICE_FMT(value));
    if (atoi(text) != c->next)
        c->disorder++;
    c->next = atoi(text) + FAKE_PARTS;
}

/* ---- without transactions ---- */

static void idempotent_run(uint64_t seed)
{
    open_world(seed, true, NULL);
    per_mille = 250;
    assert_int_equal(init_id(), 0);
    for (int i = 0; i < RECORDS; i++) {
        char value[16];
        snprintf(value, sizeof value, "%d", i);
        sim_enter(f->node);
        assert_int_equal(send_one(i % FAKE_PARTS, value), 0);
        if (i % 50 == 49)
            sim_run(&f->sim, f->sim.now + ENV_MS(sim_random(&f->sim, 200)), NULL, NULL);
    }
    assert_int_equal(flush(), 0);
    for (int p = 0; p < FAKE_PARTS; p++) {
        struct count c = {.next = p};
        fake_each(f, p, true, count_one, &c);
        assert_int_equal(c.disorder, 0);
        assert_int_equal(c.next, p + RECORDS);
    }
    close_world();
}

static void every_record_is_there_once_and_in_order(void **state)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        idempotent_run(seed);
}

/* EO-16: a broker that just started may not know its topics yet. */
static int n_unknown;
static int topic_unknown(void *u, int16_t api)
{
    if ((api == API_PRODUCE || api == API_METADATA) && n_unknown > 0) {
        n_unknown--;
        return KAFKA_UNKNOWN_TOPIC_OR_PARTITION;
    }
    return FAKE_OK;
}

static void sequences_go_on_while_the_topic_is_said_to_be_missing(void **state)
{
    int32_t next = 0;

    open_world(4, true, NULL);
    f->fault = topic_unknown;
    n_unknown = 0;
    assert_int_equal(init_id(), 0);
    for (int i = 0; i < 12; i++) {
        sim_enter(f->node);
        assert_int_equal(send_one(0, "x"), 0);
        n_unknown = i % 4;
        assert_int_equal(flush(), 0);
    }
    for (int i = 0; i < f->parts[0].n; i++) {
        assert_int_equal(f->parts[0].v[i].pid, f->parts[0].v[0].pid);
        assert_int_equal(f->parts[0].v[i].epoch, f->parts[0].v[0].epoch);
        assert_int_equal(f->parts[0].v[i].sequence, next);
        next += f->parts[0].v[i].count;
    }
    assert_int_equal(next, 12);
    close_world();
}

static int refuse_produce(void *u, int16_t api)
{
    return api == API_PRODUCE ? *(int *)u : FAKE_OK;
}

static int n_delivered, delivered_res;
static void delivered(void *user, struct slice topic, int32_t partition, int64_t base_offset, int n,
                      int res)
{
    n_delivered += n;
    delivered_res = res;
}

static void a_refused_batch_is_told_and_the_next_goes_on(void **state)
{
    struct producer_options o = {.delivered = delivered};
    int error = KAFKA_MESSAGE_TOO_LARGE;

    open_world(5, true, NULL);
    producer_free(producer);
    assert_int_equal(producer_open(&producer, f->client, &o), 0);
    f->fault = refuse_produce;
    f->u = &error;
    assert_int_equal(init_id(), 0);
    sim_enter(f->node);
    n_delivered = 0;
    assert_int_equal(send_one(0, "a"), 0);
    assert_int_equal(flush(), -ERR_BROKER);
    assert_int_equal(n_delivered, 1);
    assert_int_equal(delivered_res, -ERR_BROKER);
    error = 0;
    sim_enter(f->node);
    assert_int_equal(send_one(0, "b"), 0);
    assert_int_equal(flush(), 0);
    assert_int_equal(n_delivered, 2);
    assert_int_equal(delivered_res, 0);
    assert_int_equal(f->parts[0].n, 1);
    close_world();
}

static void a_batch_too_old_fails_and_may_be_unknown(void **state)
{
    struct producer_options o = {.delivered = delivered, .delivery_timeout_ms = 5000};
    int error = FAKE_DROP_REPLY;

    open_world(6, true, NULL);
    producer_free(producer);
    assert_int_equal(producer_open(&producer, f->client, &o), 0);
    f->fault = refuse_produce;
    f->u = &error;
    assert_int_equal(init_id(), 0);
    sim_enter(f->node);
    n_delivered = 0;
    assert_int_equal(send_one(0, "a"), 0);
    assert_int_equal(flush(), -ERR_UNKNOWN_OUTCOME);
    assert_int_equal(n_delivered, 1);
    assert_int_equal(f->parts[0].n, 1);
    close_world();
}

static void a_full_buffer_asks_to_wait(void **state)
{
    struct producer_options o = {.buffer_bytes = 4000};
    int rc = 0, n = 0;

    open_world(7, true, NULL);
    producer_free(producer);
    per_mille = 0;
    assert_int_equal(producer_open(&producer, f->client, &o), 0);
    assert_int_equal(init_id(), 0);
    sim_enter(f->node);
    for (; !rc && n < 1000; n++)
        rc = send_one(0, "0123456789012345678901234567890123456789");
    assert_int_equal(rc, -ERR_LIMIT);
    assert_true(n > 10);
    assert_true(n < 100);
    assert_int_equal(flush(), 0);
    sim_enter(f->node);
    assert_int_equal(send_one(0, "x"), 0);
    assert_int_equal(flush(), 0);
    close_world();
}

/* ---- transactions ---- */

static void fetched(struct fetch_offsets *op, int res, const struct err *e)
{
    *(struct result *)op->user = (struct result){true, res};
}

static int64_t stable_offset(void)
{
    for (;;) {
        struct result r = {0};
        struct fetch_offset_entry v = {.topic = slice_str("in"), .partition = 0};
        struct fetch_offsets op = {
            .group = slice_str("g"), .stable = true, .v = &v, .n = 1, .done = fetched, .user = &r};
        arena_init(&op.arena, 1 << 20);
        sim_enter(f->node);
        admin_fetch_offsets(f->client, &op);
        int rc = await(&r);
        arena_deinit(&op.arena);
        if (rc == 0)
            return v.offset;
    }
}

static int send_offset(int64_t offset)
{
    struct group_identity g = {.group = slice_str("g"), .generation = -1};
    struct txn_offset o = {
        .topic = slice_str("in"), .partition = 0, .offset = offset, .leader_epoch = -1};
    struct result r = {0};
    sim_enter(f->node);
    producer_send_offsets(producer, &g, &o, 1, stepped, &r);
    return await(&r);
}

static int end_txn(bool commit)
{
    struct result r = {0};
    sim_enter(f->node);
    producer_end(producer, commit, stepped, &r);
    return await(&r);
}

/* Input i becomes record i of partition i % FAKE_PARTS. 0 or what failed. */
static int one_transaction(int from, int n)
{
    int rc;

    sim_enter(f->node);
    rc = producer_begin(producer);
    for (int i = from; !rc && i < from + n; i++) {
        char value[16];
        snprintf(value, sizeof value, "%d", i);
        rc = send_one(i % FAKE_PARTS, value);
    }
    if (!rc)
        rc = flush();
    if (!rc)
        rc = send_offset(from + n);
    return rc ? rc : end_txn(true);
}

static void exactly_once_run(uint64_t seed, bool v2)
{
    int at = 0, tries = 0;

    open_world(seed, v2, "id");
    per_mille = 120;
    while (init_id())
        continue;
    while (at < RECORDS && tries++ < 3000) {
        int n = 1 + (int)sim_random(&f->sim, 20), rc;
        if (at + n > RECORDS)
            n = RECORDS - at;
        rc = one_transaction(at, n);
        if (rc == 0) {
            at += n;
            continue;
        }
        if (rc == -ERR_ABORTABLE)
            rc = end_txn(false);
        assert_int_not_equal(rc, -ERR_BROKER);
        assert_int_not_equal(rc, -ERR_STATE);
        while (rc)
            rc = init_id();
        at = (int)stable_offset();
        if (at < 0)
            at = 0;
    }
    assert_int_equal(at, RECORDS);
    for (int p = 0; p < FAKE_PARTS; p++) {
        struct count c = {.next = p};
        fake_each(f, p, false, count_one, &c);
        assert_int_equal(c.disorder, 0);
        assert_int_equal(c.next, p + RECORDS);
    }
    close_world();
}

static void committed_output_is_exact_under_version_2(void **state)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        exactly_once_run(seed, true);
}

static void committed_output_is_exact_under_version_1(void **state)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        exactly_once_run(seed, false);
}

static void version_2_sends_no_enrolment_and_version_1_does(void **state)
{
    for (int v2 = 0; v2 <= 1; v2++) {
        open_world(3, v2, "id");
        per_mille = 0;
        assert_int_equal(init_id(), 0);
        assert_int_equal(one_transaction(0, 10), 0);
        assert_int_equal(one_transaction(10, 10), 0);
        assert_int_equal(f->seen[API_ADD_PARTITIONS_TO_TXN] > 0, !v2);
        assert_int_equal(f->seen[API_ADD_OFFSETS_TO_TXN], v2 ? 0 : 2);
        assert_int_equal(f->seen[API_END_TXN], 2);
        assert_int_equal(producer_epoch(producer), v2 ? 2 : 0);
        close_world();
    }
}

static void an_empty_transaction_ends_without_a_request(void **state)
{
    open_world(4, true, "id");
    per_mille = 0;
    assert_int_equal(init_id(), 0);
    sim_enter(f->node);
    assert_int_equal(producer_begin(producer), 0);
    assert_int_equal(producer_begin(producer), -ERR_STATE);
    assert_int_equal(end_txn(true), 0);
    sim_enter(f->node);
    assert_int_equal(producer_begin(producer), 0);
    assert_int_equal(end_txn(false), 0);
    assert_int_equal(f->seen[API_END_TXN], 0);
    close_world();
}

static int drop_end_replies(void *u, int16_t api)
{
    return api == API_END_TXN ? FAKE_DROP_REPLY : FAKE_OK;
}

/* Under version 1 a delayed copy could end the next transaction: so there is a new epoch
 * (EO-19). */
static int drop_first_end_reply(void *u, int16_t api)
{
    int *left = u;
    return api == API_END_TXN && (*left)-- > 0 ? FAKE_DROP_REPLY : FAKE_OK;
}

static void version_1_takes_a_new_epoch_after_an_unanswered_end(void **state)
{
    int left = 1;

    open_world(8, false, "id");
    f->fault = drop_first_end_reply;
    f->u = &left;
    assert_int_equal(init_id(), 0);
    assert_int_equal(producer_epoch(producer), 0);
    assert_int_equal(one_transaction(0, 5), 0);
    assert_int_equal(producer_epoch(producer), 1);
    assert_int_equal(one_transaction(5, 5), 0);
    assert_int_equal(producer_epoch(producer), 1);
    close_world();
}

static void a_commit_never_answered_is_unknown_and_the_offset_tells(void **state)
{
    open_world(9, true, "id");
    per_mille = 0;
    assert_int_equal(init_id(), 0);
    f->fault = drop_end_replies;
    assert_int_equal(one_transaction(0, 5), -ERR_UNKNOWN_OUTCOME);
    sim_enter(f->node);
    assert_int_equal(producer_begin(producer), -ERR_FENCED);
    assert_int_equal(send_one(0, "x"), -ERR_FENCED);
    f->fault = NULL;
    assert_int_equal(init_id(), 0);
    assert_int_equal(stable_offset(), 5);
    assert_int_equal(one_transaction(5, 5), 0);
    close_world();
}

static void a_failed_record_makes_the_transaction_abortable(void **state)
{
    int error = KAFKA_MESSAGE_TOO_LARGE;

    open_world(10, true, "id");
    f->fault = refuse_produce;
    f->u = &error;
    assert_int_equal(init_id(), 0);
    assert_int_equal(one_transaction(0, 5), -ERR_ABORTABLE);
    sim_enter(f->node);
    assert_int_equal(send_one(0, "x"), -ERR_ABORTABLE);
    assert_int_equal(end_txn(true), -ERR_ABORTABLE);
    assert_int_equal(end_txn(false), 0);
    error = 0;
    assert_int_equal(one_transaction(0, 5), 0);
    close_world();
}

static void freed_at_any_moment_nothing_leaks(void **state)
{
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct result r = {0};
        open_world(seed, seed % 2, "id");
        per_mille = 100;
        sim_enter(f->node);
        producer_init_id(producer, stepped, &r);
        fake_run(f, &r.done, 1);
        if (r.done && r.res == 0 && producer_begin(producer) == 0) {
            for (int i = 0; i < 100; i++)
                if (send_one(i % FAKE_PARTS, "value"))
                    break;
            producer_flush(producer, stepped, &r);
        }
        sim_run(&f->sim, f->sim.now + sim_random(&f->sim, ENV_MS(3)), NULL, NULL);
        sim_crash(f->node);
        close_world();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_record_is_there_once_and_in_order),
        cmocka_unit_test(sequences_go_on_while_the_topic_is_said_to_be_missing),
        cmocka_unit_test(a_refused_batch_is_told_and_the_next_goes_on),
        cmocka_unit_test(a_batch_too_old_fails_and_may_be_unknown),
        cmocka_unit_test(a_full_buffer_asks_to_wait),
        cmocka_unit_test(committed_output_is_exact_under_version_2),
        cmocka_unit_test(committed_output_is_exact_under_version_1),
        cmocka_unit_test(version_2_sends_no_enrolment_and_version_1_does),
        cmocka_unit_test(an_empty_transaction_ends_without_a_request),
        cmocka_unit_test(version_1_takes_a_new_epoch_after_an_unanswered_end),
        cmocka_unit_test(a_commit_never_answered_is_unknown_and_the_offset_tells),
        cmocka_unit_test(a_failed_record_makes_the_transaction_abortable),
        cmocka_unit_test(freed_at_any_moment_nothing_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

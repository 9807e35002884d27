/* tests/txn/test_api.c - the APIs of transactions over the wire, at their lowest and highest
 * versions, and what clients of the protocol see of a transaction. */
#include "broker/group/coordinator.h"
#include "tests/txn/support_wire.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

static struct init_producer_id_response init_id(struct wired *x, int16_t version, const char *id,
                                                int64_t pid, int16_t epoch)
{
    struct init_producer_id_request in;
    struct init_producer_id_response out;
    init_producer_id_request_init(&in);
    in.transactional_id = slice_str(id);
    in.transaction_timeout_ms = 10000;
    in.producer_id = pid;
    in.producer_epoch = epoch;
    wired_call(x, 22, version, &in, &out);
    return out;
}

static int16_t end_txn(struct wired *x, int16_t version, const char *id, int64_t pid, int16_t epoch,
                       bool commit)
{
    struct end_txn_request in = {slice_str(id), pid, epoch, commit};
    struct end_txn_response out;
    wired_call(x, 26, version, &in, &out);
    return out.error_code;
}

/* The codes of a-0 and of the other partition. */
static void add_partitions(struct wired *x, int16_t version, const char *id, int64_t pid,
                           int16_t epoch, const char *other, int16_t codes[2])
{
    struct add_partitions_to_txn_request in;
    struct add_partitions_to_txn_response out;
    int32_t zero = 0;
    struct add_partitions_to_txn_request_add_partitions_to_txn_topic topics[2] = {
        {slice_str("a"), {&zero, 1}}, {slice_str(other), {&zero, 1}}};
    add_partitions_to_txn_request_init(&in);
    in.v3_and_below_transactional_id = slice_str(id);
    in.v3_and_below_producer_id = pid;
    in.v3_and_below_producer_epoch = epoch;
    in.v3_and_below_topics.v = topics;
    in.v3_and_below_topics.n = 2;
    wired_call(x, 24, version, &in, &out);
    assert_int_equal(out.results_by_topic_v3_and_below.n, 2);
    for (int i = 0; i < 2; i++)
        codes[i] =
            out.results_by_topic_v3_and_below.v[i].results_by_partition.v[0].partition_error_code;
}

static int16_t add_offsets(struct wired *x, int16_t version, const char *id, int64_t pid,
                           int16_t epoch)
{
    struct add_offsets_to_txn_request in = {slice_str(id), pid, epoch, slice_str("g")};
    struct add_offsets_to_txn_response out;
    wired_call(x, 25, version, &in, &out);
    return out.error_code;
}

static int16_t commit_offsets(struct wired *x, int16_t version, const char *id, int64_t pid,
                              int16_t epoch, int32_t generation, const char *topic)
{
    struct txn_offset_commit_request in;
    struct txn_offset_commit_response out;
    struct txn_offset_commit_request_txn_offset_commit_request_partition part = {0, 42, -1,
                                                                                 slice_str("m")};
    struct txn_offset_commit_request_txn_offset_commit_request_topic t = {slice_str(topic),
                                                                          {&part, 1}};
    txn_offset_commit_request_init(&in);
    in.transactional_id = slice_str(id);
    in.group_id = slice_str("g");
    in.producer_id = pid;
    in.producer_epoch = epoch;
    if (version >= 3)
        in.generation_id_or_member_epoch = generation;
    in.topics.v = &t;
    in.topics.n = 1;
    wired_call(x, 28, version, &in, &out);
    assert_int_equal(out.topics.n, 1);
    assert_int_equal(out.topics.v[0].partitions.n, 1);
    return out.topics.v[0].partitions.v[0].error_code;
}

static void a_transaction_at_every_version(void **state)
{
    struct wired x;
    wired_init(&x, 1);
    for (int i = 0; i < 6; i++) {
        int16_t v = (int16_t)i, codes[2];
        int16_t three = v > 3 ? 3 : v, four = v > 4 ? 4 : v;
        char id[8];
        snprintf(id, sizeof id, "x%d", i);
        struct init_producer_id_response r = init_id(&x, v, id, -1, -1);
        assert_int_equal(r.error_code, 0);
        assert_int_equal(r.producer_epoch, 0);
        int64_t pid = r.producer_id;
        add_partitions(&x, three, id, pid, 0, "b", codes);
        assert_int_equal(codes[0], 0);
        assert_int_equal(codes[1], 0);
        assert_int_equal(add_offsets(&x, three, id, pid, 0), 0);
        assert_int_equal(world_produce(&x.w, id, "a", 0, pid, 0, 0, 1, 9, NULL), 0);
        assert_int_equal(commit_offsets(&x, four, id, pid, 0, -1, "a"), 0);
        assert_true(
            group_offsets_unstable(broker_groups(x.w.b), slice_str("g"), slice_str("a"), 0));
        assert_int_equal(end_txn(&x, four, id, pid, 0, true), 0);
        assert_false(
            group_offsets_unstable(broker_groups(x.w.b), slice_str("g"), slice_str("a"), 0));
        /* The answer came, so it is durable and visible. */
        assert_int_equal(world_stable(&x.w, "a", 0), 2 * (i + 1));
    }
    wired_deinit(&x);
}

static void fencing_has_the_code_of_the_version(void **state)
{
    struct wired x;
    int16_t codes[2];
    wired_init(&x, 2);
    int64_t pid = init_id(&x, 4, "x", -1, -1).producer_id;
    assert_int_equal(init_id(&x, 4, "x", -1, -1).producer_epoch, 1);
    assert_int_equal(init_id(&x, 4, "x", pid, 7).error_code, 90);
    assert_int_equal(init_id(&x, 3, "x", pid, 7).error_code, 47);
    assert_int_equal(end_txn(&x, 2, "x", pid, 0, true), 90);
    assert_int_equal(end_txn(&x, 1, "x", pid, 0, true), 47);
    assert_int_equal(add_offsets(&x, 2, "x", pid, 0), 90);
    assert_int_equal(add_offsets(&x, 1, "x", pid, 0), 47);
    add_partitions(&x, 2, "x", pid, 0, "b", codes);
    assert_int_equal(codes[0], 90);
    add_partitions(&x, 1, "x", pid, 0, "b", codes);
    assert_int_equal(codes[1], 47);
    assert_int_equal(end_txn(&x, 4, "x", pid + 1, 1, true), 49);
    assert_int_equal(end_txn(&x, 4, "unknown", pid, 1, true), 49);
    assert_int_equal(end_txn(&x, 4, "x", pid, 1, true), 48);
    assert_int_equal(commit_offsets(&x, 4, "x", pid, 1, -1, "a"), 120);
    assert_int_equal(commit_offsets(&x, 3, "x", pid, 1, -1, "a"), 48);
    assert_int_equal(add_offsets(&x, 3, "x", pid, 1), 0);
    assert_int_equal(commit_offsets(&x, 4, "x", pid, 0, -1, "a"), 47);
    assert_int_equal(commit_offsets(&x, 4, "x", pid + 1, 1, -1, "a"), 49);
    assert_int_equal(commit_offsets(&x, 4, "x", pid, 1, -1, "none"), 3);
    wired_deinit(&x);
}

static void eo_38_stale_member_is_refused_when_its_offsets_are_appended(void **state)
{
    struct wired x;
    wired_init(&x, 3);
    int64_t pid = init_id(&x, 4, "x", -1, -1).producer_id;
    assert_int_equal(add_offsets(&x, 3, "x", pid, 0), 0);
    assert_int_equal(commit_offsets(&x, 3, "x", pid, 0, 5, "a"), KAFKA_ILLEGAL_GENERATION);
    assert_false(group_offsets_unstable(broker_groups(x.w.b), slice_str("g"), slice_str("a"), 0));
    assert_int_equal(commit_offsets(&x, 3, "x", pid, 0, -1, "a"), 0);
    wired_deinit(&x);
}

static void one_missing_partition_enrols_none(void **state)
{
    struct wired x;
    int16_t codes[2];
    wired_init(&x, 4);
    int64_t pid = init_id(&x, 4, "x", -1, -1).producer_id;
    add_partitions(&x, 3, "x", pid, 0, "none", codes);
    assert_int_equal(codes[0], KAFKA_OPERATION_NOT_ATTEMPTED);
    assert_int_equal(codes[1], KAFKA_UNKNOWN_TOPIC_OR_PARTITION);
    assert_int_equal(world_produce(&x.w, "x", "a", 0, pid, 0, 0, 1, 11, NULL), 120);
    wired_deinit(&x);
}

static void init_without_a_transactional_id_gives_a_new_id_each_time(void **state)
{
    struct wired x;
    wired_init(&x, 5);
    struct init_producer_id_response a = init_id(&x, 5, NULL, -1, -1),
                                     b = init_id(&x, 0, NULL, -1, -1);
    assert_int_equal(a.error_code, 0);
    assert_int_equal(a.producer_epoch, 0);
    assert_int_equal(b.producer_id, a.producer_id + 1);
    assert_int_equal(init_id(&x, 4, "", -1, -1).error_code, 42);
    assert_int_equal(init_id(&x, 4, "x", 5, -1).error_code, 42);
    wired_deinit(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_transaction_at_every_version),
        cmocka_unit_test(fencing_has_the_code_of_the_version),
        cmocka_unit_test(eo_38_stale_member_is_refused_when_its_offsets_are_appended),
        cmocka_unit_test(one_missing_partition_enrols_none),
        cmocka_unit_test(init_without_a_transactional_id_gives_a_new_id_each_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

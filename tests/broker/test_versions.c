/* Every API that is advertised answers at its lowest and highest version, and all between. */
#include "support_node.h"
#include <stdio.h>
#include <stdlib.h>

static struct world w;
static struct peer p;

static int setup(void **state)
{
    world_open_sim(&w, 3);
    world_start(&w);
    peer_open(&p, &w);
    assert_int_equal(peer_create(&p, "t", 2, "retention.ms", "1000"), 0);
    return 0;
}

static int teardown(void **state)
{
    peer_close(&p);
    world_close(&w);
    return 0;
}

static void range(int16_t key, int16_t min, int16_t max)
{
    int16_t a, b;
    assert_true(broker_api_range(w.broker, key, &a, &b));
    assert_int_equal(a, min);
    assert_int_equal(b, max);
}

static void the_ranges_are_those_that_clients_need(void **state)
{
    static const int16_t ranges[][3] = {
        {0, 0, 11}, {1, 4, 12}, {2, 1, 7},  {3, 0, 12}, {8, 2, 9},  {9, 1, 9},
        {10, 0, 4}, {11, 0, 9}, {12, 0, 4}, {13, 0, 5}, {14, 0, 5}, {18, 0, 4},
        {19, 2, 7}, {20, 1, 6}, {23, 2, 4}, {32, 0, 4},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        range(ranges[i][0], ranges[i][1], ranges[i][2]);
}

static void api_versions_tells_all_of_them(void **state)
{
    for (int16_t v = 0; v <= 4; v++) {
        struct api_versions_request m;
        struct api_versions_response r;
        api_versions_request_init(&m);
        if (v >= 3)
            m.client_software_name = m.client_software_version = slice_str("1.2-x");
        peer_call(&p, 18, v, &m, &r);
        assert_int_equal(r.error_code, 0);
        for (int32_t i = 0; i < r.api_keys.n; i++)
            range(r.api_keys.v[i].api_key, r.api_keys.v[i].min_version,
                  r.api_keys.v[i].max_version);
        if (v < 3)
            continue;
        m.client_software_name = slice_str("-x");
        peer_call(&p, 18, v, &m, &r);
        assert_int_equal(r.error_code, KAFKA_INVALID_REQUEST);
        assert_int_equal(r.api_keys.n, 0);
    }
}

static void produce_answers_in_every_version(void **state)
{
    struct buf batch;
    buf_init(&batch, 1 << 20);
    batch_put(&batch, "x", 2);
    for (int16_t v = 3; v <= 11; v++) {
        struct produce_request_partition_produce_data part = {1, buf_slice(&batch)};
        struct produce_request_topic_produce_data t = {slice_str("t"), {&part, 1}};
        struct produce_request m;
        struct produce_response r;
        produce_request_init(&m);
        m.acks = -1;
        m.timeout_ms = 1000;
        m.topic_data.v = &t;
        m.topic_data.n = 1;
        peer_call(&p, 0, v, &m, &r);
        assert_int_equal(r.responses.v[0].partition_responses.v[0].error_code, 0);
        assert_int_equal(r.responses.v[0].partition_responses.v[0].base_offset, 2 * (v - 3));
        m.acks = 2;
        peer_call(&p, 0, v, &m, &r);
        assert_int_equal(r.responses.v[0].partition_responses.v[0].error_code,
                         KAFKA_INVALID_REQUIRED_ACKS);
        m.acks = -1;
        part.index = 7;
        peer_call(&p, 0, v, &m, &r);
        assert_int_equal(r.responses.v[0].partition_responses.v[0].error_code,
                         KAFKA_UNKNOWN_TOPIC_OR_PARTITION);
    }
    buf_deinit(&batch);
}

static void fetch_answers_in_every_version(void **state)
{
    struct buf batch;
    buf_init(&batch, 1 << 20);
    batch_put(&batch, "some text that is long enough to be passed on as it lies", 40);
    for (int i = 0; i < 3; i++)
        assert_int_equal(peer_produce(&p, "t", i % 2, buf_slice(&batch), NULL), 0);
    for (int16_t v = 4; v <= 12; v++) {
        struct fetch_request_fetch_partition parts[3];
        struct fetch_request_fetch_topic topics[2] = {{slice_str("t"), {parts, 3}},
                                                      {slice_str("u"), {parts, 1}}};
        struct fetch_request m;
        struct fetch_response r;
        fetch_request_init(&m);
        for (int i = 0; i < 3; i++) {
            fetch_request_fetch_partition_init(&parts[i]);
            parts[i].partition = i;
            parts[i].partition_max_bytes = 1 << 20;
        }
        m.topics.v = topics;
        m.topics.n = 2;
        m.min_bytes = 1;
        m.isolation_level = v % 2 ? 1 : 0;
        peer_call(&p, 1, v, &m, &r);
        assert_int_equal(r.responses.n, 2);
        assert_int_equal(r.responses.v[0].partitions.n, 3);
        assert_int_equal(r.responses.v[0].partitions.v[0].records.n, 2 * batch.n);
        assert_int_equal(r.responses.v[0].partitions.v[1].records.n, batch.n);
        assert_int_equal(r.responses.v[0].partitions.v[2].error_code,
                         KAFKA_UNKNOWN_TOPIC_OR_PARTITION);
        assert_int_equal(r.responses.v[0].partitions.v[2].high_watermark, -1);
        assert_int_equal(r.responses.v[0].partitions.v[0].aborted_transactions.n, v % 2 ? 0 : -1);
        assert_int_equal(r.responses.v[1].partitions.v[0].error_code,
                         KAFKA_UNKNOWN_TOPIC_OR_PARTITION);
        if (v < 7)
            continue;
        m.session_id = 5;
        m.session_epoch = 3;
        peer_call(&p, 1, v, &m, &r);
        assert_int_equal(r.error_code, KAFKA_FETCH_SESSION_ID_NOT_FOUND);
        assert_int_equal(r.responses.n, 0);
    }
    buf_deinit(&batch);
}

static void list_offsets_answers_in_every_version(void **state)
{
    for (int16_t v = 1; v <= 7; v++) {
        struct list_offsets_request_list_offsets_partition parts[3] = {
            {0, -1, -1}, {1, -1, -2}, {9, -1, -1}};
        struct list_offsets_request_list_offsets_topic t = {slice_str("t"), {parts, 3}};
        struct list_offsets_request m;
        struct list_offsets_response r;
        list_offsets_request_init(&m);
        m.replica_id = -1;
        m.topics.v = &t;
        m.topics.n = 1;
        peer_call(&p, 2, v, &m, &r);
        assert_int_equal(r.topics.v[0].partitions.v[0].offset, 0);
        assert_int_equal(r.topics.v[0].partitions.v[1].offset, 0);
        assert_int_equal(r.topics.v[0].partitions.v[2].error_code,
                         KAFKA_UNKNOWN_TOPIC_OR_PARTITION);
        parts[1] = parts[0];
        peer_call(&p, 2, v, &m, &r);
        assert_int_equal(r.topics.v[0].partitions.v[1].error_code, KAFKA_INVALID_REQUEST);
    }
}

static void metadata_answers_in_every_version(void **state)
{
    for (int16_t v = 0; v <= 12; v++) {
        struct metadata_request_metadata_request_topic t = {.name = slice_str("t")};
        struct metadata_request m;
        struct metadata_response r;
        metadata_request_init(&m);
        m.topics.v = &t;
        m.topics.n = 1;
        peer_call(&p, 3, v, &m, &r);
        assert_int_equal(r.topics.n, 1);
        assert_int_equal(r.topics.v[0].partitions.n, 2);
        assert_int_equal(r.topics.v[0].partitions.v[1].leader_id, 1);
        struct uuid id = r.topics.v[0].topic_id;
        m.topics.n = v == 0 ? 0 : -1;
        peer_call(&p, 3, v, &m, &r);
        assert_int_equal(r.topics.n, 1);
        if (v >= 1) {
            m.topics.n = 0;
            peer_call(&p, 3, v, &m, &r);
            assert_int_equal(r.topics.n, 0);
        }
        if (v < 12)
            continue;
        m.topics.n = 1;
        t = (struct metadata_request_metadata_request_topic){.topic_id = id};
        peer_call(&p, 3, v, &m, &r);
        assert_true(slice_eq_str(r.topics.v[0].name, "t"));
        t.topic_id.b[3] ^= 1;
        peer_call(&p, 3, v, &m, &r);
        assert_int_equal(r.topics.v[0].error_code, KAFKA_UNKNOWN_TOPIC_ID);
    }
}

static void topics_come_and_go_in_every_version(void **state)
{
    for (int16_t v = 2; v <= 7; v++) {
        struct create_topics_request_creatable_topic t;
        struct create_topics_request m;
        struct create_topics_response r;
        struct delete_topics_request d;
        struct delete_topics_response dr;
        struct delete_topics_request_delete_topic_state state1 = {.name = slice_str("n")};
        struct slice name = slice_str("n");
        int16_t dv = v - 1;
        create_topics_request_creatable_topic_init(&t);
        create_topics_request_init(&m);
        t.name = name;
        t.num_partitions = t.replication_factor = 1;
        m.topics.v = &t;
        m.topics.n = 1;
        peer_call(&p, 19, v, &m, &r);
        assert_int_equal(r.topics.v[0].error_code, 0);
        peer_call(&p, 19, v, &m, &r);
        assert_int_equal(r.topics.v[0].error_code, KAFKA_TOPIC_ALREADY_EXISTS);
        delete_topics_request_init(&d);
        if (dv >= 6) {
            d.topics.v = &state1;
            d.topics.n = 1;
        } else {
            d.topic_names.v = &name;
            d.topic_names.n = 1;
        }
        peer_call(&p, 20, dv, &d, &dr);
        assert_int_equal(dr.responses.v[0].error_code, 0);
        peer_call(&p, 20, dv, &d, &dr);
        assert_int_equal(dr.responses.v[0].error_code, KAFKA_UNKNOWN_TOPIC_OR_PARTITION);
    }
}

static void configs_and_epochs_answer_in_every_version(void **state)
{
    for (int16_t v = 0; v <= 4; v++) {
        struct describe_configs_request_describe_configs_resource res[2] = {
            {2, slice_str("t"), {NULL, -1}}, {4, slice_str("1"), {NULL, -1}}};
        struct describe_configs_request m;
        struct describe_configs_response r;
        describe_configs_request_init(&m);
        m.resources.v = res;
        m.resources.n = 2;
        peer_call(&p, 32, v, &m, &r);
        assert_int_equal(r.results.n, 2);
        assert_true(r.results.v[0].configs.n > 20);
        assert_true(r.results.v[1].configs.n > 20);
    }
    for (int16_t v = 2; v <= 4; v++) {
        struct offset_for_leader_epoch_request_offset_for_leader_partition parts[2] = {{0, -1, 1},
                                                                                       {8, -1, 1}};
        struct offset_for_leader_epoch_request_offset_for_leader_topic t = {slice_str("t"),
                                                                            {parts, 2}};
        struct offset_for_leader_epoch_request m;
        struct offset_for_leader_epoch_response r;
        offset_for_leader_epoch_request_init(&m);
        m.topics.v = &t;
        m.topics.n = 1;
        peer_call(&p, 23, v, &m, &r);
        assert_int_equal(r.topics.v[0].partitions.v[1].error_code,
                         KAFKA_UNKNOWN_TOPIC_OR_PARTITION);
    }
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(the_ranges_are_those_that_clients_need),
        CASE(api_versions_tells_all_of_them),
        CASE(produce_answers_in_every_version),
        CASE(fetch_answers_in_every_version),
        CASE(list_offsets_answers_in_every_version),
        CASE(metadata_answers_in_every_version),
        CASE(topics_come_and_go_in_every_version),
        CASE(configs_and_epochs_answer_in_every_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

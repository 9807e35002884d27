/* Topics in the simulated world: made, removed, made again, over restarts; configs; producer
 * ids. */
#include "support_node.h"
#include <stdio.h>
#include <stdlib.h>

static struct world w;
static struct peer p;

static int setup(void **state)
{
    world_open_sim(&w, 11);
    world_start(&w);
    peer_open(&p, &w);
    return 0;
}

static int teardown(void **state)
{
    peer_close(&p);
    world_close(&w);
    return 0;
}

static void again(bool power_cut)
{
    if (power_cut)
        world_power_cut(&w);
    else
        world_stop(&w);
    world_start(&w);
    peer_close(&p);
    peer_open(&p, &w);
}

static void produce(const char *topic, int32_t partition, int n)
{
    struct buf batch;
    buf_init(&batch, 1 << 20);
    batch_put(&batch, "x", n);
    assert_int_equal(peer_produce(&p, topic, partition, buf_slice(&batch), NULL), 0);
    buf_deinit(&batch);
}

static void metadata(const char *topic, struct metadata_response *r)
{
    struct metadata_request_metadata_request_topic t = {.name = slice_str(topic)};
    struct metadata_request m;
    metadata_request_init(&m);
    m.topics.v = &t;
    m.topics.n = topic ? 1 : -1;
    m.allow_auto_topic_creation = false;
    peer_call(&p, 3, 12, &m, r);
}

static int64_t latest(const char *topic, int32_t partition)
{
    struct list_offsets_request_list_offsets_partition part = {partition, -1, -1};
    struct list_offsets_request_list_offsets_topic t = {slice_str(topic), {&part, 1}};
    struct list_offsets_request m;
    struct list_offsets_response r;
    list_offsets_request_init(&m);
    m.replica_id = -1;
    m.topics.v = &t;
    m.topics.n = 1;
    peer_call(&p, 2, 7, &m, &r);
    assert_int_equal(r.topics.v[0].partitions.v[0].error_code, 0);
    return r.topics.v[0].partitions.v[0].offset;
}

static int16_t delete_topic(const char *topic)
{
    struct delete_topics_request m;
    struct delete_topics_response r;
    struct slice name = slice_str(topic);
    delete_topics_request_init(&m);
    m.topic_names.v = &name;
    m.topic_names.n = 1;
    peer_call(&p, 20, 5, &m, &r);
    return r.responses.v[0].error_code;
}

static void topics_and_records_outlive_restarts(void **state)
{
    struct metadata_response r;
    struct uuid id;
    assert_int_equal(peer_create(&p, "a", 3, "retention.ms", "1000000"), 0);
    assert_int_equal(peer_create(&p, "b", 1, NULL, NULL), 0);
    produce("a", 2, 10);
    metadata("a", &r);
    id = r.topics.v[0].topic_id;
    for (int i = 0; i < 4; i++) {
        again(i % 2);
        metadata("a", &r);
        assert_int_equal(r.topics.v[0].error_code, 0);
        assert_int_equal(r.topics.v[0].partitions.n, 3);
        assert_int_equal(r.topics.v[0].partitions.v[0].leader_epoch, 2 + i);
        assert_true(uuid_eq(&r.topics.v[0].topic_id, &id));
        assert_int_equal(latest("a", 2), 10 + i);
        assert_string_equal(
            conf_get(&broker_topic(w.broker, slice_str("a"))->config, "retention.ms"), "1000000");
        produce("a", 2, 1);
    }
    metadata(NULL, &r);
    assert_int_equal(r.topics.n, 2);
}

static void a_topic_made_again_is_new_and_empty(void **state)
{
    struct metadata_response r;
    struct uuid id;
    assert_int_equal(peer_create(&p, "a", 1, NULL, NULL), 0);
    produce("a", 0, 10);
    metadata("a", &r);
    id = r.topics.v[0].topic_id;
    assert_int_equal(delete_topic("a"), 0);
    assert_int_equal(delete_topic("a"), KAFKA_UNKNOWN_TOPIC_OR_PARTITION);
    assert_int_equal(peer_create(&p, "a", 1, NULL, NULL), 0);
    metadata("a", &r);
    assert_false(uuid_eq(&r.topics.v[0].topic_id, &id));
    assert_int_equal(latest("a", 0), 0);
    produce("a", 0, 2);
    for (int i = 0; i < 4; i++) {
        again(i % 2 == 0);
        assert_int_equal(latest("a", 0), 2);
    }
    assert_int_equal(delete_topic("a"), 0);
    again(true);
    metadata("a", &r);
    assert_int_equal(r.topics.v[0].error_code, KAFKA_UNKNOWN_TOPIC_OR_PARTITION);
}

static void bad_topics_are_refused(void **state)
{
    char longest[251];
    memset(longest, 'x', 250);
    longest[250] = 0;
    assert_int_equal(peer_create(&p, "a.b", 1, NULL, NULL), 0);
    assert_int_equal(peer_create(&p, "a.b", 1, NULL, NULL), KAFKA_TOPIC_ALREADY_EXISTS);
    assert_int_equal(peer_create(&p, "a_b", 1, NULL, NULL), KAFKA_INVALID_TOPIC_EXCEPTION);
    assert_int_equal(peer_create(&p, "", 1, NULL, NULL), KAFKA_INVALID_TOPIC_EXCEPTION);
    assert_int_equal(peer_create(&p, "..", 1, NULL, NULL), KAFKA_INVALID_TOPIC_EXCEPTION);
    assert_int_equal(peer_create(&p, "a/b", 1, NULL, NULL), KAFKA_INVALID_TOPIC_EXCEPTION);
    assert_int_equal(peer_create(&p, longest, 1, NULL, NULL), KAFKA_INVALID_TOPIC_EXCEPTION);
    assert_int_equal(peer_create(&p, "c", 0, NULL, NULL), KAFKA_INVALID_PARTITIONS);
    assert_int_equal(peer_create(&p, "c", 1, "no.such", "1"), KAFKA_INVALID_CONFIG);
    assert_int_equal(peer_create(&p, "c", 1, "retention.ms", "soon"), KAFKA_INVALID_CONFIG);
    assert_int_equal(peer_create(&p, "c", 1, "segment.bytes", "1000"), KAFKA_INVALID_CONFIG);
    assert_int_equal(peer_create(&p, "c", 1, "cleanup.policy", "compact, delete"), 0);
}

static void validate_only_makes_nothing(void **state)
{
    struct create_topics_request_creatable_topic t;
    struct create_topics_request m;
    struct create_topics_response r;
    create_topics_request_creatable_topic_init(&t);
    create_topics_request_init(&m);
    t.name = slice_str("v");
    t.num_partitions = t.replication_factor = -1;
    m.topics.v = &t;
    m.topics.n = 1;
    m.validate_only = true;
    peer_call(&p, 19, 7, &m, &r);
    assert_int_equal(r.topics.v[0].error_code, 0);
    assert_int_equal(r.topics.v[0].num_partitions, 1);
    assert_true(r.topics.v[0].configs.n > 20);
    assert_null(broker_topic(w.broker, slice_str("v")));
    t.replication_factor = 3;
    peer_call(&p, 19, 7, &m, &r);
    assert_int_equal(r.topics.v[0].error_code, KAFKA_INVALID_REPLICATION_FACTOR);
}

static void configs_are_described_with_their_source(void **state)
{
    struct describe_configs_request_describe_configs_resource res = {
        .resource_type = 2, .resource_name = slice_str("a")};
    struct describe_configs_request m;
    struct describe_configs_response r;
    int seen = 0;
    conf_set(&w.conf, slice_str("log.segment.bytes"), slice_str("2097152"));
    assert_int_equal(peer_create(&p, "a", 1, "retention.ms", "5"), 0);
    describe_configs_request_init(&m);
    res.configuration_keys.n = -1;
    m.resources.v = &res;
    m.resources.n = 1;
    m.include_synonyms = true;
    peer_call(&p, 32, 4, &m, &r);
    assert_int_equal(r.results.v[0].error_code, 0);
    for (int i = 0; i < r.results.v[0].configs.n; i++) {
        struct describe_configs_response_describe_configs_resource_result *c =
            &r.results.v[0].configs.v[i];
        if (slice_eq_str(c->name, "retention.ms")) {
            assert_true(slice_eq_str(c->value, "5"));
            assert_int_equal(c->config_source, 1);
            assert_int_equal(c->synonyms.n, 2);
            seen++;
        } else if (slice_eq_str(c->name, "segment.bytes")) {
            assert_true(slice_eq_str(c->value, "2097152"));
            assert_int_equal(c->config_source, 4);
            seen++;
        } else if (slice_eq_str(c->name, "cleanup.policy")) {
            assert_true(slice_eq_str(c->value, "delete"));
            assert_int_equal(c->config_source, 5);
            seen++;
        }
    }
    assert_int_equal(seen, 3);
    res.resource_name = slice_str("nowhere");
    peer_call(&p, 32, 4, &m, &r);
    assert_int_equal(r.results.v[0].error_code, KAFKA_UNKNOWN_TOPIC_OR_PARTITION);
}

static void log_append_time_stamps(void **state)
{
    struct list_offsets_request_list_offsets_partition part = {0, -1, -3};
    struct list_offsets_request_list_offsets_topic t = {slice_str("l"), {&part, 1}};
    struct list_offsets_request m;
    struct list_offsets_response r;
    assert_int_equal(peer_create(&p, "l", 1, "message.timestamp.type", "LogAppendTime"), 0);
    world_pass(&w, 5000);
    produce("l", 0, 4);
    list_offsets_request_init(&m);
    m.replica_id = -1;
    m.topics.v = &t;
    m.topics.n = 1;
    peer_call(&p, 2, 7, &m, &r);
    assert_int_equal(r.topics.v[0].partitions.v[0].error_code, 0);
    assert_true(r.topics.v[0].partitions.v[0].timestamp >= 1700000005000);
}

static void offsets_are_found_by_time(void **state)
{
    struct list_offsets_request_list_offsets_partition part = {0, -1, 0};
    struct list_offsets_request_list_offsets_topic t = {slice_str("a"), {&part, 1}};
    struct list_offsets_request m;
    struct list_offsets_response r;
    static const struct {
        int64_t timestamp, offset, found;
    } cases[] = {{-2, 0, -1},
                 {-1, 20, -1},
                 {-3, 9, 1700000000009}, /* the first of the two that are greatest */
                 {1700000000004, 4, 1700000000004},
                 {1600000000000, 0, 1700000000000},
                 {1700000000010, -1, -1}};
    assert_int_equal(peer_create(&p, "a", 1, NULL, NULL), 0);
    produce("a", 0, 10); /* 1700000000000 and on */
    produce("a", 0, 10);
    list_offsets_request_init(&m);
    m.replica_id = -1;
    m.topics.v = &t;
    m.topics.n = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        part.timestamp = cases[i].timestamp;
        peer_call(&p, 2, 7, &m, &r);
        assert_int_equal(r.topics.v[0].partitions.v[0].error_code, 0);
        assert_int_equal(r.topics.v[0].partitions.v[0].offset, cases[i].offset);
        assert_int_equal(r.topics.v[0].partitions.v[0].timestamp, cases[i].found);
    }
    part.current_leader_epoch = 9;
    peer_call(&p, 2, 7, &m, &r);
    assert_int_equal(r.topics.v[0].partitions.v[0].error_code, KAFKA_UNKNOWN_LEADER_EPOCH);
}

static void epochs_end_where_the_next_begins(void **state)
{
    struct offset_for_leader_epoch_request_offset_for_leader_partition part = {0, -1, 1};
    struct offset_for_leader_epoch_request_offset_for_leader_topic t = {slice_str("a"), {&part, 1}};
    struct offset_for_leader_epoch_request m;
    struct offset_for_leader_epoch_response r;
    assert_int_equal(peer_create(&p, "a", 1, NULL, NULL), 0);
    produce("a", 0, 10);
    again(false);
    produce("a", 0, 5);
    offset_for_leader_epoch_request_init(&m);
    m.topics.v = &t;
    m.topics.n = 1;
    peer_call(&p, 23, 4, &m, &r);
    assert_int_equal(r.topics.v[0].partitions.v[0].leader_epoch, 1);
    assert_int_equal(r.topics.v[0].partitions.v[0].end_offset, 10);
    part.leader_epoch = 2;
    peer_call(&p, 23, 4, &m, &r);
    assert_int_equal(r.topics.v[0].partitions.v[0].leader_epoch, 2);
    assert_int_equal(r.topics.v[0].partitions.v[0].end_offset, 15);
    part.leader_epoch = 3;
    peer_call(&p, 23, 4, &m, &r);
    assert_int_equal(r.topics.v[0].partitions.v[0].end_offset, -1);
}

static void producer_ids_are_given_once(void **state)
{
    int64_t last = -1, id;
    for (int start = 0; start < 6; start++) {
        for (int i = 0; i < 1500; i++) {
            assert_int_equal(broker_producer_id(w.broker, &id), 0);
            assert_true(id > last);
            last = id;
        }
        world_pass(&w, 100);
        again(start % 2);
    }
}

/* Random creations, removals and crashes against a table of what must be there. */
static void the_table_survives_whatever_happens(void **state)
{
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    int64_t ends[5] = {-1, -1, -1, -1, -1}; /* -1: not there */
    struct metadata_response r;
    for (int step = 0; step < 120; step++) {
        int i = (int)sim_random(world_sim(&w), 5);
        switch (sim_random(world_sim(&w), 8)) {
        case 0:
        case 1:
            assert_int_equal(peer_create(&p, names[i], 2, NULL, NULL),
                             ends[i] < 0 ? 0 : KAFKA_TOPIC_ALREADY_EXISTS);
            if (ends[i] < 0)
                ends[i] = 0;
            break;
        case 2:
            assert_int_equal(delete_topic(names[i]),
                             ends[i] >= 0 ? 0 : KAFKA_UNKNOWN_TOPIC_OR_PARTITION);
            ends[i] = -1;
            break;
        case 3: again(sim_random(world_sim(&w), 2)); break;
        default:
            if (ends[i] >= 0) {
                produce(names[i], 1, 3);
                ends[i] += 3;
            }
        }
        for (i = 0; i < 5; i++) {
            metadata(names[i], &r);
            assert_int_equal(r.topics.v[0].error_code,
                             ends[i] >= 0 ? 0 : KAFKA_UNKNOWN_TOPIC_OR_PARTITION);
            if (ends[i] >= 0)
                assert_int_equal(latest(names[i], 1), ends[i]);
        }
    }
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(topics_and_records_outlive_restarts),
        CASE(a_topic_made_again_is_new_and_empty),
        CASE(bad_topics_are_refused),
        CASE(validate_only_makes_nothing),
        CASE(configs_are_described_with_their_source),
        CASE(log_append_time_stamps),
        CASE(offsets_are_found_by_time),
        CASE(epochs_end_where_the_next_begins),
        CASE(producer_ids_are_given_once),
        CASE(the_table_survives_whatever_happens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Groups and offsets over the wire, at every version, and over restarts. */
#include "support_node.h"
#include "base/check.h"
#include "broker/group/coordinator.h"
#include "broker/group/group.h"
#include <stdio.h>
#include <stdlib.h>

static struct world w;

static int setup_with(bool simulated)
{
    if (simulated)
        world_open_sim(&w, 7);
    else
        world_open(&w);
    conf_set(&w.conf, slice_str("group.min.session.timeout.ms"), slice_str("100"));
    conf_set(&w.conf, slice_str("offsets.retention.check.interval.ms"), slice_str("100"));
    world_start(&w);
    struct peer p;
    peer_open(&p, &w);
    assert_int_equal(peer_create(&p, "t", 2, NULL, NULL), 0);
    peer_close(&p);
    return 0;
}

static int setup(void **state)
{
    return setup_with(false);
}

static int setup_sim(void **state)
{
    return setup_with(true);
}

static int teardown(void **state)
{
    world_close(&w);
    return 0;
}

/* ---- the requests, short ---- */

struct join {
    struct join_group_request m;
    struct join_group_request_join_group_request_protocol protocol;
};

static void join_init(struct join *j, const char *group, const char *member)
{
    join_group_request_init(&j->m);
    j->protocol = (struct join_group_request_join_group_request_protocol){
        .name = slice_str("range"), .metadata = slice_str("meta")};
    j->m.group_id = slice_str(group);
    j->m.member_id = slice_str(member);
    j->m.session_timeout_ms = 6000;
    j->m.rebalance_timeout_ms = 6000;
    j->m.protocol_type = slice_str("consumer");
    j->m.protocols.v = &j->protocol;
    j->m.protocols.n = 1;
}

struct id {
    char text[128];
};

static struct id text(struct slice s)
{
    struct id i;
    assert_true(s.n < sizeof i.text);
    if (s.n)
        memcpy(i.text, s.p, s.n);
    i.text[s.n] = 0;
    return i;
}

static struct id join_alone(struct peer *p, const char *group, int16_t version, int32_t *generation)
{
    struct join j;
    struct join_group_response r;
    join_init(&j, group, "");
    j.m.rebalance_timeout_ms = version ? 6000 : -1;
    peer_call(p, 11, version, &j.m, &r);
    struct id id = text(r.member_id);
    if (version >= 4) {
        assert_int_equal(r.error_code, KAFKA_MEMBER_ID_REQUIRED);
        assert_true(version < 7 ? r.protocol_name.n == 0 : slice_is_null(r.protocol_name));
        j.m.member_id = slice_str(id.text);
        peer_call(p, 11, version, &j.m, &r);
        assert_true(slice_eq_str(r.member_id, id.text));
    }
    assert_int_equal(r.error_code, 0);
    assert_true(slice_eq_str(r.leader, id.text));
    assert_true(slice_eq_str(r.protocol_name, "range"));
    assert_true(version < 7 || slice_eq_str(r.protocol_type, "consumer"));
    assert_int_equal(r.members.n, 1);
    assert_true(slice_eq_str(r.members.v[0].metadata, "meta"));
    assert_false(r.skip_assignment);
    *generation = r.generation_id;
    return id;
}

static int16_t sync_alone(struct peer *p, const char *group, const char *member, int16_t version,
                          int32_t generation, const char *assignment, const char *expect)
{
    struct sync_group_request m;
    struct sync_group_response r;
    struct sync_group_request_sync_group_request_assignment a = {slice_str(member),
                                                                 slice_str(assignment)};
    sync_group_request_init(&m);
    m.group_id = slice_str(group);
    m.member_id = slice_str(member);
    m.generation_id = generation;
    m.assignments.v = &a;
    m.assignments.n = assignment ? 1 : 0;
    if (version >= 5) {
        m.protocol_type = slice_str("consumer");
        m.protocol_name = slice_str("range");
    }
    peer_call(p, 14, version, &m, &r);
    if (r.error_code == 0) {
        assert_true(slice_eq_str(r.assignment, expect));
        assert_true(version < 5 || slice_eq_str(r.protocol_name, "range"));
    }
    return r.error_code;
}

static int16_t heartbeat(struct peer *p, const char *group, const char *member,
                         const char *instance, int16_t version, int32_t generation)
{
    struct heartbeat_request m;
    struct heartbeat_response r;
    heartbeat_request_init(&m);
    m.group_id = slice_str(group);
    m.member_id = slice_str(member);
    m.group_instance_id = slice_str(instance);
    m.generation_id = generation;
    peer_call(p, 12, version, &m, &r);
    return r.error_code;
}

static int16_t leave(struct peer *p, const char *group, const char *member, int16_t version)
{
    struct leave_group_request m;
    struct leave_group_response r;
    struct leave_group_request_member_identity who[2];
    leave_group_request_init(&m);
    for (int i = 0; i < 2; i++)
        leave_group_request_member_identity_init(&who[i]);
    who[0].member_id = slice_str(member);
    who[1].member_id = slice_str("nobody");
    m.group_id = slice_str(group);
    if (version < 3) {
        m.member_id = slice_str(member);
    } else {
        m.members.v = who;
        m.members.n = 2;
    }
    peer_call(p, 13, version, &m, &r);
    if (version < 3)
        return r.error_code;
    assert_int_equal(r.error_code, 0);
    assert_int_equal(r.members.n, 2);
    assert_int_equal(r.members.v[1].error_code, KAFKA_UNKNOWN_MEMBER_ID);
    return r.members.v[0].error_code;
}

struct commit {
    const char *group, *member, *instance, *metadata;
    int32_t generation, partition;
    int64_t offset, retention_ms;
};

static int16_t commit(struct peer *p, int16_t version, const struct commit *c)
{
    struct offset_commit_request_offset_commit_request_partition part;
    struct offset_commit_request_offset_commit_request_topic t = {.name = slice_str("t")};
    struct offset_commit_request m;
    struct offset_commit_response r;
    offset_commit_request_offset_commit_request_partition_init(&part);
    part.partition_index = c->partition;
    part.committed_offset = c->offset;
    part.committed_leader_epoch = version >= 6 ? 3 : -1;
    part.committed_metadata = slice_str(c->metadata);
    t.partitions.v = &part;
    t.partitions.n = 1;
    offset_commit_request_init(&m);
    m.group_id = slice_str(c->group);
    m.member_id = slice_str(c->member ? c->member : "");
    m.group_instance_id = slice_str(c->instance);
    m.generation_id_or_member_epoch = c->generation;
    m.retention_time_ms = c->retention_ms ? c->retention_ms : -1;
    m.topics.v = &t;
    m.topics.n = 1;
    peer_call(p, 8, version, &m, &r);
    assert_int_equal(r.topics.n, 1);
    assert_true(slice_eq_str(r.topics.v[0].name, "t"));
    assert_int_equal(r.topics.v[0].partitions.n, 1);
    assert_int_equal(r.topics.v[0].partitions.v[0].partition_index, c->partition);
    return r.topics.v[0].partitions.v[0].error_code;
}

static int16_t commit_simple(struct peer *p, const char *group, int32_t partition, int64_t offset)
{
    struct commit c = {.group = group, .generation = -1, .partition = partition, .offset = offset};
    return commit(p, 8, &c);
}

/* The committed offset; *error that of the partition. */
static int64_t fetch(struct peer *p, int16_t version, const char *group, int32_t partition,
                     bool stable, int16_t *error)
{
    struct offset_fetch_request m;
    struct offset_fetch_response r;
    struct offset_fetch_request_offset_fetch_request_topic t = {.name = slice_str("t")};
    struct offset_fetch_request_offset_fetch_request_topics ts = {.name = slice_str("t")};
    struct offset_fetch_request_offset_fetch_request_group g;
    offset_fetch_request_init(&m);
    offset_fetch_request_offset_fetch_request_group_init(&g);
    t.partition_indexes.v = ts.partition_indexes.v = &partition;
    t.partition_indexes.n = ts.partition_indexes.n = 1;
    m.require_stable = stable;
    if (version < 8) {
        m.group_id = slice_str(group);
        m.topics.v = &t;
        m.topics.n = 1;
    } else {
        g.group_id = slice_str(group);
        g.topics.v = &ts;
        g.topics.n = 1;
        m.groups.v = &g;
        m.groups.n = 1;
    }
    peer_call(p, 9, version, &m, &r);
    assert_int_equal(r.error_code, 0);
    if (version < 8) {
        assert_int_equal(r.topics.n, 1);
        assert_int_equal(r.topics.v[0].partitions.n, 1);
        *error = r.topics.v[0].partitions.v[0].error_code;
        return r.topics.v[0].partitions.v[0].committed_offset;
    }
    assert_int_equal(r.groups.n, 1);
    assert_int_equal(r.groups.v[0].error_code, 0);
    *error = r.groups.v[0].topics.v[0].partitions.v[0].error_code;
    return r.groups.v[0].topics.v[0].partitions.v[0].committed_offset;
}

static int64_t offset_of(struct peer *p, const char *group, int32_t partition)
{
    int16_t error;
    int64_t offset = fetch(p, 7, group, partition, true, &error);
    assert_int_equal(error, 0);
    return offset;
}

/* ---- cases ---- */

static void coordinator_of_groups_and_transactions_is_this_broker(void **state)
{
    struct find_coordinator_request m;
    struct find_coordinator_response r;
    struct slice keys[2] = {slice_str("g1"), slice_str("g2")}, ours;
    int32_t port;
    struct peer p;
    peer_open(&p, &w);
    broker_advertised(w.broker, &ours, &port);
    for (int16_t version = 0; version <= 4; version++) {
        for (int8_t type = 0; type <= (version ? 2 : 0); type++) {
            find_coordinator_request_init(&m);
            m.key_type = type;
            if (version < 4) {
                m.key = keys[0];
            } else {
                m.coordinator_keys.v = keys;
                m.coordinator_keys.n = 2;
            }
            peer_call(&p, 10, version, &m, &r);
            int16_t error = version < 4 ? r.error_code : r.coordinators.v[1].error_code;
            struct slice host = version < 4 ? r.host : r.coordinators.v[1].host;
            int32_t node = version < 4 ? r.node_id : r.coordinators.v[1].node_id;
            assert_int_equal(error, type < 2 ? 0 : KAFKA_INVALID_REQUEST);
            assert_true(slice_eq(host, type < 2 ? ours : slice_str("")));
            assert_int_equal(node, type < 2 ? 1 : -1);
            assert_true(version < 4 || slice_eq(r.coordinators.v[1].key, keys[1]));
        }
    }
    peer_close(&p);
}

static void member_lives_its_life_at_every_version(void **state)
{
    struct peer p;
    peer_open(&p, &w);
    for (int16_t v = 0; v <= 9; v++) {
        char group[16];
        int16_t v5 = v < 5 ? v : 5, v4 = v < 4 ? v : 4;
        int32_t generation;
        snprintf(group, sizeof group, "life-%d", v);
        struct id id = join_alone(&p, group, v, &generation);
        assert_int_equal(generation, 1);
        assert_int_equal(heartbeat(&p, group, id.text, NULL, v4, 1), 0);
        assert_int_equal(heartbeat(&p, group, id.text, NULL, v4, 2), KAFKA_ILLEGAL_GENERATION);
        assert_int_equal(heartbeat(&p, group, "x", NULL, v4, 1), KAFKA_UNKNOWN_MEMBER_ID);
        assert_int_equal(sync_alone(&p, group, id.text, v5, 2, "a", NULL),
                         KAFKA_ILLEGAL_GENERATION);
        assert_int_equal(sync_alone(&p, group, id.text, v5, 1, "mine", "mine"), 0);
        assert_int_equal(sync_alone(&p, group, id.text, v5, 1, NULL, "mine"), 0);
        assert_int_equal(leave(&p, group, id.text, v5), 0);
        assert_int_equal(leave(&p, group, id.text, v5), KAFKA_UNKNOWN_MEMBER_ID);
        assert_int_equal(heartbeat(&p, group, id.text, NULL, v4, 1), KAFKA_UNKNOWN_MEMBER_ID);
    }
    peer_close(&p);
}

static void empty_group_id_is_no_group(void **state)
{
    struct join j;
    struct join_group_response r;
    struct peer p;
    peer_open(&p, &w);
    join_init(&j, "", "");
    peer_call(&p, 11, 5, &j.m, &r);
    assert_int_equal(r.error_code, KAFKA_INVALID_GROUP_ID);
    assert_int_equal(heartbeat(&p, "", "m", NULL, 3, 1), KAFKA_INVALID_GROUP_ID);
    assert_int_equal(commit_simple(&p, "", 0, 4), 0); /* here it is one */
    assert_int_equal(offset_of(&p, "", 0), 4);
    peer_close(&p);
}

static void joins_are_parked_until_all_are_there(void **state)
{
    struct join j;
    struct join_group_response r;
    struct peer a, b;
    struct slice frame;
    struct buf out;
    int32_t generation;
    peer_open(&a, &w);
    peer_open(&b, &w);
    struct id first = join_alone(&a, "pair", 3, &generation);
    assert_int_equal(sync_alone(&a, "pair", first.text, 3, 1, "all", "all"), 0);
    buf_init(&out, 1 << 16);
    join_init(&j, "pair", "");
    request_put(&out, 11, 3, 900, &j.m);
    assert_true(peer_send(&b, buf_slice(&out), 1000));
    assert_false(peer_frame(&b, &frame, 100));
    assert_int_equal(heartbeat(&a, "pair", first.text, NULL, 3, 1), KAFKA_REBALANCE_IN_PROGRESS);
    struct join again;
    join_init(&again, "pair", first.text);
    peer_call(&a, 11, 3, &again.m, &r);
    assert_int_equal(r.error_code, 0);
    assert_int_equal(r.generation_id, 2);
    assert_int_equal(r.members.n, 2);
    assert_true(peer_frame(&b, &frame, 1000));
    response_read(&b, frame, 11, 3, 900, &r);
    assert_int_equal(r.error_code, 0);
    assert_int_equal(r.generation_id, 2);
    assert_int_equal(r.members.n, 0);
    buf_deinit(&out);
    peer_close(&a);
    peer_close(&b);
}

static void parked_join_whose_connection_ends_is_forgotten(void **state)
{
    struct join j;
    struct join_group_response r;
    struct peer a, b;
    struct buf out;
    int32_t generation;
    peer_open(&a, &w);
    peer_open(&b, &w);
    struct id first = join_alone(&a, "gone", 3, &generation);
    assert_int_equal(sync_alone(&a, "gone", first.text, 3, 1, "all", "all"), 0);
    buf_init(&out, 1 << 16);
    join_init(&j, "gone", "");
    j.m.session_timeout_ms = 300;
    request_put(&out, 11, 3, 900, &j.m);
    assert_true(peer_send(&b, buf_slice(&out), 1000));
    world_pass(&w, 20);
    peer_close(&b);
    world_pass(&w, 20);
    struct join again;
    join_init(&again, "gone", first.text);
    peer_call(&a, 11, 3, &again.m, &r);
    assert_int_equal(r.members.n, 2); /* it takes part, and its session ends it */
    assert_int_equal(sync_alone(&a, "gone", first.text, 3, 2, "x", "x"), 0);
    world_pass(&w, 400);
    assert_int_equal(heartbeat(&a, "gone", first.text, NULL, 3, 2), KAFKA_REBALANCE_IN_PROGRESS);
    buf_deinit(&out);
    peer_close(&a);
}

static void offsets_are_committed_and_fetched_at_every_version(void **state)
{
    struct peer p;
    peer_open(&p, &w);
    for (int16_t v = 2; v <= 9; v++) {
        char group[16];
        int16_t error;
        snprintf(group, sizeof group, "off-%d", v);
        struct commit c = {.group = group, .generation = -1, .offset = 40 + v, .metadata = "m"};
        assert_int_equal(commit(&p, v, &c), 0);
        for (int16_t f = 1; f <= 9; f++) {
            assert_int_equal(fetch(&p, f, group, 0, f >= 7, &error), 40 + v);
            assert_int_equal(error, 0);
            assert_int_equal(fetch(&p, f, group, 1, f >= 7, &error), -1);
            assert_int_equal(error, 0);
        }
    }
    peer_close(&p);
}

static void commit_is_refused_as_its_version_knows(void **state)
{
    struct peer p;
    int32_t generation;
    char large[4098];
    peer_open(&p, &w);
    memset(large, 'x', sizeof large - 1);
    large[sizeof large - 1] = 0;
    struct id id = join_alone(&p, "strict", 3, &generation);
    const struct {
        struct commit c;
        int16_t version, error;
    } table[] = {
        {{.group = "strict", .generation = -1}, 8, KAFKA_UNKNOWN_MEMBER_ID},
        {{.group = "strict", .member = id.text, .generation = 1}, 8, KAFKA_REBALANCE_IN_PROGRESS},
        {{.group = "strict", .member = id.text, .generation = 7}, 8, KAFKA_ILLEGAL_GENERATION},
        {{.group = "strict", .member = "x", .generation = 1}, 8, KAFKA_UNKNOWN_MEMBER_ID},
        {{.group = "nowhere", .member = "x", .generation = 1}, 8, KAFKA_ILLEGAL_GENERATION},
        {{.group = "nowhere", .member = "x", .generation = 1}, 9, KAFKA_GROUP_ID_NOT_FOUND},
        {{.group = "simple", .generation = -1, .partition = 2},
         8,
         KAFKA_UNKNOWN_TOPIC_OR_PARTITION},
        {{.group = "simple", .generation = -1, .metadata = large},
         8,
         KAFKA_OFFSET_METADATA_TOO_LARGE},
        {{.group = "simple", .generation = -1, .metadata = large + 1}, 8, 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        assert_int_equal(commit(&p, table[i].version, &table[i].c), table[i].error);
    peer_close(&p);
}

static void all_offsets_of_a_group_are_listed_by_topic(void **state)
{
    struct offset_fetch_request m;
    struct offset_fetch_response r;
    struct offset_fetch_request_offset_fetch_request_group g[2];
    struct peer p;
    peer_open(&p, &w);
    assert_int_equal(commit_simple(&p, "all", 0, 10), 0);
    assert_int_equal(commit_simple(&p, "all", 1, 11), 0);
    offset_fetch_request_init(&m);
    m.group_id = slice_str("all");
    m.topics.n = -1;
    peer_call(&p, 9, 2, &m, &r);
    assert_int_equal(r.topics.n, 1);
    assert_int_equal(r.topics.v[0].partitions.n, 2);
    assert_int_equal(r.topics.v[0].partitions.v[1].committed_offset, 11);
    offset_fetch_request_init(&m);
    for (int i = 0; i < 2; i++)
        offset_fetch_request_offset_fetch_request_group_init(&g[i]);
    g[0].group_id = slice_str("never");
    g[1].group_id = slice_str("all");
    g[0].topics.n = g[1].topics.n = -1;
    m.groups.v = g;
    m.groups.n = 2;
    peer_call(&p, 9, 9, &m, &r);
    assert_int_equal(r.groups.n, 2);
    assert_int_equal(r.groups.v[0].topics.n, 0);
    assert_int_equal(r.groups.v[1].topics.v[0].partitions.n, 2);
    peer_close(&p);
}

static struct id join_static(struct peer *p, const char *group, const char *member,
                             int32_t *generation)
{
    struct join j;
    struct join_group_response r;
    join_init(&j, group, member);
    j.m.group_instance_id = slice_str("i1");
    peer_call(p, 11, 9, &j.m, &r);
    assert_int_equal(r.error_code, 0);
    *generation = r.generation_id;
    return text(r.member_id);
}

static void groups_and_offsets_are_there_after_a_kill(void **state)
{
    for (int orderly = 0; orderly < 2; orderly++) {
        struct peer p;
        int32_t generation;
        char group[16];
        snprintf(group, sizeof group, "kept-%d", orderly);
        peer_open(&p, &w);
        struct id id = join_static(&p, group, "", &generation);
        assert_int_equal(sync_alone(&p, group, id.text, 5, 1, "mine", "mine"), 0);
        struct commit c = {.group = group,
                           .member = id.text,
                           .instance = "i1",
                           .generation = 1,
                           .offset = 77,
                           .metadata = "m"};
        assert_int_equal(commit(&p, 9, &c), 0);
        peer_close(&p);
        if (orderly)
            world_stop(&w);
        else
            world_kill(&w);
        world_start(&w);
        peer_open(&p, &w);
        assert_int_equal(offset_of(&p, group, 0), 77);
        assert_int_equal(heartbeat(&p, group, id.text, "i1", 4, 1), 0);
        assert_int_equal(sync_alone(&p, group, id.text, 5, 1, NULL, "mine"), 0);
        struct id fresh = join_static(&p, group, "", &generation); /* restarted itself */
        assert_int_equal(generation, 1);
        assert_int_equal(heartbeat(&p, group, id.text, "i1", 4, 1), KAFKA_FENCED_INSTANCE_ID);
        assert_int_equal(commit(&p, 9, &c), KAFKA_FENCED_INSTANCE_ID);
        c.member = fresh.text;
        assert_int_equal(commit(&p, 9, &c), 0);
        peer_close(&p);
    }
}

/* A transaction's half of the work, as txn/ does it. */
static void stage(const char *group, int64_t producer_id, int64_t offset)
{
    struct plug_request rq = {.origin = PLUG_COORDINATOR};
    struct group_commit_offset o = {.topic = slice_str("t"), .offset = offset};
    struct group_commit c = {.group = slice_str(group),
                             .producer_id = producer_id,
                             .retention_ms = -1,
                             .rq = &rq,
                             .v = &o,
                             .n = 1};
    assert_int_equal(group_coordinator_commit(broker_groups(w.broker), &c), 1);
}

static void mark(const char *group, int64_t producer_id, bool commits)
{
    struct plug_request rq = {.origin = PLUG_MARKER};
    struct partition *p = group_coordinator_partition(broker_groups(w.broker), slice_str(group));
    struct batch_info info;
    struct buf b;
    int64_t base;
    bool duplicate, busy;
    buf_init(&b, 1 << 10);
    assert_int_equal(batch_control_marker(&b, producer_id, 0, 1, commits, 1000), 0);
    assert_int_equal(batch_header(buf_slice(&b), &info), 0);
    assert_int_equal(partition_append(w.broker, p, NULL, (struct span){b.p, b.n}, &info, &rq, &base,
                                      &duplicate, &busy),
                     0);
    buf_deinit(&b);
}

static void eo37_pending_offsets_are_unstable_over_restarts_until_the_marker(void **state)
{
    for (int commits = 0; commits < 2; commits++) {
        char group[16];
        int16_t error;
        struct peer p;
        snprintf(group, sizeof group, "txn-%d", commits);
        peer_open(&p, &w);
        assert_int_equal(commit_simple(&p, group, 0, 10), 0);
        stage(group, 4000 + commits, 20);
        for (int restarts = 0; restarts < 2; restarts++) {
            assert_int_equal(fetch(&p, 7, group, 0, true, &error), -1);
            assert_int_equal(error, KAFKA_UNSTABLE_OFFSET_COMMIT);
            assert_int_equal(fetch(&p, 9, group, 0, true, &error), -1);
            assert_int_equal(error, KAFKA_UNSTABLE_OFFSET_COMMIT);
            assert_int_equal(fetch(&p, 7, group, 0, false, &error), 10);
            assert_int_equal(error, 0);
            peer_close(&p);
            world_kill(&w);
            world_start(&w);
            peer_open(&p, &w);
        }
        mark(group, 4000 + commits, commits);
        assert_int_equal(offset_of(&p, group, 0), commits ? 20 : 10);
        peer_close(&p);
        world_kill(&w);
        world_start(&w);
        peer_open(&p, &w);
        assert_int_equal(offset_of(&p, group, 0), commits ? 20 : 10);
        peer_close(&p);
    }
}

static void eo39_plain_commit_after_a_staged_one_wins_live_and_after_replay(void **state)
{
    struct peer p;
    peer_open(&p, &w);
    stage("both", 5000, 10);
    assert_int_equal(commit_simple(&p, "both", 0, 20), 0);
    mark("both", 5000, true);
    assert_int_equal(offset_of(&p, "both", 0), 20);
    peer_close(&p);
    world_kill(&w);
    world_start(&w);
    peer_open(&p, &w);
    assert_int_equal(offset_of(&p, "both", 0), 20);
    peer_close(&p);
}

static void deleted_topic_takes_its_offsets_along(void **state)
{
    struct delete_topics_request m;
    struct delete_topics_response r;
    struct slice name = slice_str("t");
    struct peer p;
    peer_open(&p, &w);
    assert_int_equal(commit_simple(&p, "d", 0, 10), 0);
    stage("d", 6000, 20);
    delete_topics_request_init(&m);
    m.topic_names.v = &name;
    m.topic_names.n = 1;
    m.timeout_ms = 1000;
    peer_call(&p, 20, 3, &m, &r);
    assert_int_equal(r.responses.v[0].error_code, 0);
    assert_int_equal(peer_create(&p, "t", 2, NULL, NULL), 0);
    assert_int_equal(offset_of(&p, "d", 0), -1);
    mark("d", 6000, true);
    assert_int_equal(offset_of(&p, "d", 0), -1);
    peer_close(&p);
    world_kill(&w);
    world_start(&w);
    peer_open(&p, &w);
    assert_int_equal(offset_of(&p, "d", 0), -1);
    peer_close(&p);
}

static void eo40_offsets_expire_unless_something_is_pending(void **state)
{
    struct peer p;
    int16_t error;
    peer_open(&p, &w);
    struct commit c = {.group = "short", .generation = -1, .offset = 5, .retention_ms = 1};
    assert_int_equal(commit(&p, 2, &c), 0);
    c.group = "held";
    assert_int_equal(commit(&p, 2, &c), 0);
    stage("held", 7000, 6);
    world_pass(&w, 300);
    assert_int_equal(offset_of(&p, "short", 0), -1);
    assert_int_equal(fetch(&p, 7, "held", 0, false, &error), 5);
    mark("held", 7000, false);
    world_pass(&w, 300);
    assert_int_equal(offset_of(&p, "held", 0), -1);
    peer_close(&p);
}

static void mutations_switch_the_protections_off(void **state)
{
#ifdef ONCE_TEST_BUILD
    int16_t error;
    struct peer p;
    peer_open(&p, &w);
    struct commit c = {.group = "mut", .member = "x", .generation = 9, .offset = 5};
    assert_int_equal(commit(&p, 8, &c), KAFKA_ILLEGAL_GENERATION);
    w.env->mutations = UINT64_C(1) << MUT_NO_GENERATION_CHECK;
    assert_int_equal(commit(&p, 8, &c), 0);
    assert_int_equal(group_check_member(broker_groups(w.broker), slice_str("mut"), slice_str("x"),
                                        SLICE_NULL, 9),
                     0);
    w.env->mutations = UINT64_C(1) << MUT_UNSTABLE_OFFSETS;
    stage("mut", 8000, 6);
    assert_int_equal(fetch(&p, 7, "mut", 0, true, &error), 5);
    assert_int_equal(error, 0);
    w.env->mutations = 0;
    fetch(&p, 7, "mut", 0, true, &error);
    assert_int_equal(error, KAFKA_UNSTABLE_OFFSET_COMMIT);
    mark("mut", 8000, false);
    peer_close(&p);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coordinator_of_groups_and_transactions_is_this_broker),
        cmocka_unit_test(member_lives_its_life_at_every_version),
        cmocka_unit_test(empty_group_id_is_no_group),
        cmocka_unit_test(joins_are_parked_until_all_are_there),
        cmocka_unit_test(parked_join_whose_connection_ends_is_forgotten),
        cmocka_unit_test(offsets_are_committed_and_fetched_at_every_version),
        cmocka_unit_test(commit_is_refused_as_its_version_knows),
        cmocka_unit_test(all_offsets_of_a_group_are_listed_by_topic),
        cmocka_unit_test(groups_and_offsets_are_there_after_a_kill),
        cmocka_unit_test(eo37_pending_offsets_are_unstable_over_restarts_until_the_marker),
        cmocka_unit_test(eo39_plain_commit_after_a_staged_one_wins_live_and_after_replay),
        cmocka_unit_test(eo40_offsets_expire_unless_something_is_pending),
        cmocka_unit_test(mutations_switch_the_protections_off),
        cmocka_unit_test(deleted_topic_takes_its_offsets_along),
    };
    int rc = cmocka_run_group_tests_name("real", tests, setup, teardown);
    return rc ? rc : cmocka_run_group_tests_name("simulated", tests, setup_sim, teardown);
}

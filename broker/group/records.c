/* broker/group/records.c - keys and values of `__consumer_offsets`.
 *
 * A key begins with the number of its type, a value with its version. We write OffsetCommitValue 3
 * (1 when the client set a retention, as only that version can hold it) and GroupMetadataValue 3,
 * and read all. */
#include "broker/group/records.h"
#include "base/wire/messages.h"

enum { KEY_OFFSET_OLD = 0, KEY_OFFSET = 1, KEY_GROUP = 2 };
enum { VALUE_OFFSET = 3, VALUE_OFFSET_EXPIRES = 1, VALUE_GROUP = 3 };

/* ---- writing ---- */

/* scratch holds a key up to key_n, and a value from there on if there is one. */
static int add(struct batch_writer *w, struct buf *scratch, size_t key_n, bool value, int rc,
               int64_t timestamp)
{
    if (rc == 0 && scratch->failed)
        rc = scratch->failed;
    if (rc)
        return rc;
    struct slice all = buf_slice(scratch);
    return batch_writer_add(w, timestamp, slice_sub(all, 0, key_n),
                            value ? slice_sub(all, key_n, all.n) : SLICE_NULL, NULL, 0);
}

int record_put_offset(struct batch_writer *w, struct buf *scratch, const struct offset_key *k,
                      const struct offset_value *v, int64_t timestamp)
{
    struct offset_commit_key key = {k->group, k->topic, k->partition};
    buf_reset(scratch);
    wire_put_i16(scratch, KEY_OFFSET);
    int rc = offset_commit_key_encode(&key, scratch, 1);
    size_t key_n = scratch->n;
    if (rc == 0 && v) {
        int16_t version = v->expire_ms >= 0 ? VALUE_OFFSET_EXPIRES : VALUE_OFFSET;
        struct offset_commit_value value;
        offset_commit_value_init(&value);
        value.offset = v->offset;
        value.leader_epoch = v->leader_epoch;
        value.metadata = v->metadata.p ? v->metadata : slice_str("");
        value.commit_timestamp = v->commit_ms;
        value.expire_timestamp = v->expire_ms;
        wire_put_i16(scratch, version);
        rc = offset_commit_value_encode(&value, scratch, version);
    }
    return add(w, scratch, key_n, v != NULL, rc, timestamp);
}

static int put_group_key(struct buf *scratch, struct slice group)
{
    struct group_metadata_key key = {group};
    buf_reset(scratch);
    wire_put_i16(scratch, KEY_GROUP);
    return group_metadata_key_encode(&key, scratch, KEY_GROUP);
}

int record_put_group(struct batch_writer *w, struct buf *scratch, struct arena *arena,
                     const struct group *g, int64_t timestamp)
{
    struct group_metadata_value value;
    group_metadata_value_init(&value);
    value.protocol_type = g->protocol_type.p ? g->protocol_type : slice_str("");
    value.generation = g->generation;
    value.protocol = g->protocol;
    value.leader = g->leader ? g->leader->id : SLICE_NULL;
    value.current_state_timestamp = g->state_ms;
    value.members.v =
        arena_new(arena, struct group_metadata_value_member_metadata, g->members.n + 1);
    if (!value.members.v)
        return -ERR_NOMEM;
    MAP_EACH (e, &g->members) {
        const struct group_member *m = e->value;
        struct group_metadata_value_member_metadata *to = &value.members.v[value.members.n++];
        to->member_id = m->id;
        to->group_instance_id = m->instance;
        to->client_id = m->client_id;
        to->client_host = m->client_host;
        to->rebalance_timeout = m->rebalance_ms;
        to->session_timeout = m->session_ms;
        to->subscription = group_member_metadata(m, g->protocol);
        to->assignment = m->assignment;
    }
    int rc = put_group_key(scratch, g->id);
    size_t key_n = scratch->n;
    if (rc == 0) {
        wire_put_i16(scratch, VALUE_GROUP);
        rc = group_metadata_value_encode(&value, scratch, VALUE_GROUP);
    }
    return add(w, scratch, key_n, true, rc, timestamp);
}

int record_put_group_end(struct batch_writer *w, struct buf *scratch, struct slice group,
                         int64_t timestamp)
{
    int rc = put_group_key(scratch, group);
    return add(w, scratch, scratch->n, false, rc, timestamp);
}

/* ---- reading ---- */

static int corrupt(int rc)
{
    return rc == -ERR_NOMEM ? rc : -ERR_CORRUPT;
}

static int read_offset(const struct record *r, int64_t producer_id, struct wire_in *key,
                       struct wire_in *in, const struct record_visitor *v)
{
    struct offset_commit_key ok;
    int rc = offset_commit_key_decode(&ok, key, 1);
    if (rc)
        return corrupt(rc);
    struct offset_key k = {ok.group, ok.topic, ok.partition};
    if (slice_is_null(r->value))
        return v->offset(v->user, producer_id, &k, NULL);
    struct offset_commit_value ov;
    int16_t version;
    rc = wire_get_i16(in, &version);
    if (rc == 0)
        rc = offset_commit_value_decode(&ov, in, version);
    if (rc)
        return corrupt(rc);
    struct offset_value value = {.offset = ov.offset,
                                 .leader_epoch = ov.leader_epoch,
                                 .metadata = ov.metadata,
                                 .commit_ms = ov.commit_timestamp,
                                 .expire_ms = ov.expire_timestamp,
                                 .record_offset = r->offset};
    return v->offset(v->user, producer_id, &k, &value);
}

static int read_group(const struct record *r, struct wire_in *key, struct wire_in *in,
                      const struct record_visitor *v)
{
    struct group_metadata_key gk;
    int rc = group_metadata_key_decode(&gk, key, KEY_GROUP);
    if (rc)
        return corrupt(rc);
    if (slice_is_null(r->value))
        return v->group(v->user, gk.group, NULL);
    struct group_metadata_value value;
    int16_t version;
    rc = wire_get_i16(in, &version);
    if (rc == 0)
        rc = group_metadata_value_decode(&value, in, version);
    return rc ? corrupt(rc) : v->group(v->user, gk.group, &value);
}

static int read_record(const struct record *r, int64_t producer_id, struct arena *arena,
                       const struct record_visitor *v)
{
    struct wire_in key = {r->key.p, r->key.n, arena}, in = {r->value.p, r->value.n, arena};
    int16_t type;
    if (wire_get_i16(&key, &type))
        return -ERR_CORRUPT;
    if (type == KEY_OFFSET || type == KEY_OFFSET_OLD)
        return read_offset(r, producer_id, &key, &in, v);
    if (type == KEY_GROUP)
        return read_group(r, &key, &in, v);
    return 0;
}

int record_read_batch(struct slice batch, struct buf *scratch, struct arena *arena,
                      const struct record_visitor *v)
{
    struct record_iter it;
    struct record r;
    int rc = record_iter_init(&it, batch, scratch);
    if (rc)
        return corrupt(rc);
    int64_t producer_id = batch_is_transactional(&it.batch) ? it.batch.producer_id : -1;
    if (batch_is_control(&it.batch)) {
        int type;
        int32_t coordinator_epoch;
        if (it.batch.count == 0)
            return 0;
        if (batch_control_read(batch, &type, &coordinator_epoch))
            return -ERR_CORRUPT;
        if (type != CONTROL_ABORT && type != CONTROL_COMMIT)
            return 0;
        return v->marker(v->user, it.batch.producer_id, type == CONTROL_COMMIT);
    }
    for (;;) {
        rc = record_iter_next(&it, &r);
        if (rc <= 0)
            return rc;
        arena_reset(arena);
        rc = read_record(&r, producer_id, arena, v);
        if (rc)
            return rc;
    }
}

int record_load_group(struct group *g, const struct group_metadata_value *value)
{
    int rc = group_load(g, value->generation, value->protocol_type, value->protocol,
                        value->current_state_timestamp);
    for (int i = 0; rc == 0 && i < value->members.n; i++) {
        const struct group_metadata_value_member_metadata *m = &value->members.v[i];
        struct group_protocol one = {value->protocol, m->subscription};
        struct group_event join = {
            .kind = GROUP_JOIN,
            .member = m->member_id,
            .instance = m->group_instance_id,
            .client_id = m->client_id,
            .client_host = m->client_host,
            .session_ms = m->session_timeout,
            .rebalance_ms = m->rebalance_timeout >= 0 ? m->rebalance_timeout : m->session_timeout,
            .protocols = &one,
            .n_protocols = 1,
        };
        rc = group_load_member(g, &join, m->assignment);
    }
    if (rc == -ERR_INVALID) {
        int rc2 = group_load(g, value->generation, value->protocol_type, SLICE_NULL,
                             value->current_state_timestamp);
        rc = rc2 ? rc2 : rc;
    }
    group_load_end(g, value->leader);
    return rc;
}

int record_subscribed(struct slice subscription, struct slice topic, struct arena *arena)
{
    struct wire_in in = {subscription.p, subscription.n, arena};
    struct consumer_protocol_subscription s;
    int16_t version;
    if (wire_get_i16(&in, &version) || version < 0)
        return -ERR_CORRUPT;
    if (consumer_protocol_subscription_decode(&s, &in, version > 3 ? 3 : version))
        return -ERR_CORRUPT;
    for (int i = 0; i < s.topics.n; i++)
        if (slice_eq(s.topics.v[i], topic))
            return 1;
    return 0;
}

/* txn/txlog.c - the transaction log: one record a value, in `__transaction_state`, in Kafka's
 * schema.
 *
 * An id's records lie in the partition of its hash, so the last one is its state. Written as
 * version 1 (flexible); version 0 is read too. Recovery takes every record; one that cannot be read
 * stops the start, since a transaction forgotten is a transaction lost. */
#include "base/check.h"
#include "txn/internal.h"
#include <inttypes.h>

enum { VALUE_VERSION = 1 };

/* ---- writing ---- */

/* The enrolled partitions by topic; arrays in the arena. */
static int put_parts(struct txn_coordinator *c, const struct txn *t,
                     struct transaction_log_value *v)
{
    v->transaction_partitions.n = (int32_t)t->n_topics;
    v->transaction_partitions.v =
        arena_new(&c->arena, struct transaction_log_value_partitions_schema, t->n_topics + 1);
    int32_t *ids = arena_new(&c->arena, int32_t, t->n_parts + 1);
    if (!v->transaction_partitions.v || !ids)
        return -ERR_NOMEM;
    for (uint32_t i = 0; i < t->n_topics; i++) {
        struct transaction_log_value_partitions_schema *to = &v->transaction_partitions.v[i];
        to->topic = t->topics[i];
        to->partition_ids.v = ids;
        for (uint32_t k = 0; k < t->n_parts; k++) {
            if (t->parts[k].topic == i)
                *ids++ = t->parts[k].index;
        }
        to->partition_ids.n = (int32_t)(ids - to->partition_ids.v);
    }
    return 0;
}

static int put_value(struct txn_coordinator *c, const struct txn *t, const struct txn_effect *e)
{
    const struct txn_value *from = &e->value;
    struct transaction_log_value v;
    int rc = 0;

    transaction_log_value_init(&v);
    v.producer_id = from->producer_id;
    v.previous_producer_id = from->previous_producer_id;
    v.next_producer_id = from->next_producer_id;
    v.producer_epoch = from->epoch;
    v.last_epoch = from->last_epoch;
    v.transaction_timeout_ms = from->timeout_ms;
    v.transaction_status = (int8_t)from->state;
    v.transaction_last_update_timestamp_ms = from->last_update_ms;
    v.transaction_start_timestamp_ms = from->start_ms;
    v.client_transaction_version = from->client_version;
    v.transaction_partitions.n = e->parts == TXN_PARTS_NULL ? -1 : 0;
    if (e->parts == TXN_PARTS_KEPT)
        rc = put_parts(c, t, &v);
    if (!rc)
        rc = wire_put_i16(&c->value, VALUE_VERSION);
    if (!rc)
        rc = transaction_log_value_encode(&v, &c->value, VALUE_VERSION);
    return rc;
}

/* Key and value of the record, as one batch in c->batch. */
static int put_batch(struct txn_coordinator *c, const struct txn_entry *entry,
                     const struct txn_effect *e)
{
    struct transaction_log_key k = {entry->id};
    struct batch_writer_options o = {.leader_epoch = -1};
    struct batch_writer w;

    int rc = wire_put_i16(&c->value, 0);
    if (!rc)
        rc = transaction_log_key_encode(&k, &c->value, 0);
    size_t key = c->value.n;
    if (!rc && e->type == TXN_LOG)
        rc = put_value(c, &entry->t, e);
    if (!rc)
        rc = batch_writer_begin(&w, &c->batch, &o);
    if (rc)
        return rc;
    struct slice all = buf_slice(&c->value);
    struct slice value = e->type == TXN_LOG ? slice_sub(all, key, all.n) : SLICE_NULL;
    rc = batch_writer_add(&w, env_wall_ms(c->env), slice_sub(all, 0, key), value, NULL, 0);
    return rc ? rc : batch_writer_finish(&w, -1, -1, -1);
}

static void scratch_reset(struct txn_coordinator *c)
{
    arena_reset(&c->arena);
    buf_reset(&c->value);
    buf_reset(&c->batch);
    c->value.failed = c->batch.failed = 0;
}

enum kafka_error txlog_write(struct txn_coordinator *c, const struct txn_entry *entry,
                             const struct txn_effect *e)
{
    struct topic *topic = broker_internal_topic(c->b, TXN_TOPIC, c->log_partitions);
    struct plug_request rq = {.origin = PLUG_COORDINATOR};
    struct batch_info info;
    int64_t base_offset;
    bool duplicate, busy;

    if (!topic)
        return KAFKA_COORDINATOR_NOT_AVAILABLE;
    scratch_reset(c);
    if (put_batch(c, entry, e))
        return KAFKA_COORDINATOR_NOT_AVAILABLE;
    int rc = batch_header(buf_slice(&c->batch), &info);
    CHECK(rc == 0);
    struct partition *p = topic->partitions[java_partition(entry->id, topic->n_partitions)];
    return partition_append(c->b, p, NULL, (struct span){c->batch.p, c->batch.n}, &info, &rq,
                            &base_offset, &duplicate, &busy);
}

/* ---- reading ---- */

static int take_parts(struct txn *t, const struct transaction_log_value *v)
{
    for (int32_t i = 0; i < v->transaction_partitions.n; i++) {
        const struct transaction_log_value_partitions_schema *s = &v->transaction_partitions.v[i];
        for (int32_t k = 0; k < s->partition_ids.n; k++) {
            if (txn_enrol(t, s->topic, s->partition_ids.v[k]))
                return -ERR_NOMEM;
        }
    }
    return 0;
}

static int take_value(struct txn *t, const struct transaction_log_value *v)
{
    int64_t time_max = INT64_MAX / 2;

    if (v->transaction_status < TXN_EMPTY || v->transaction_status > TXN_PREPARE_EPOCH_FENCE ||
        v->producer_id < 0 || v->producer_epoch < -1 || v->transaction_timeout_ms < 0 ||
        v->transaction_start_timestamp_ms < -1 || v->transaction_start_timestamp_ms > time_max ||
        v->transaction_last_update_timestamp_ms < -1 ||
        v->transaction_last_update_timestamp_ms > time_max)
        return -ERR_INVALID;
    t->fresh = false;
    t->v = (struct txn_value){.state = (enum txn_state)v->transaction_status,
                              .producer_id = v->producer_id,
                              .previous_producer_id = v->previous_producer_id,
                              .next_producer_id = v->next_producer_id,
                              .last_update_ms = v->transaction_last_update_timestamp_ms,
                              .start_ms = v->transaction_start_timestamp_ms,
                              .timeout_ms = v->transaction_timeout_ms,
                              .epoch = v->producer_epoch,
                              .last_epoch = v->last_epoch,
                              .client_version = v->client_transaction_version};
    txn_enrol_undo(t, 0);
    return take_parts(t, v);
}

static int take_record(struct txn_coordinator *c, const struct record *r)
{
    struct transaction_log_key k;
    struct transaction_log_value v;
    struct wire_in in = {r->key.p, r->key.n, &c->arena};
    int16_t version;

    arena_reset(&c->arena);
    if (!r->key.p || wire_get_i16(&in, &version))
        return -ERR_INVALID;
    if (version != 0)
        return 0; /* a kind of record that came later */
    int rc = transaction_log_key_decode(&k, &in, 0);
    if (rc)
        return rc;
    struct txn_entry *entry = coordinator_entry(c, k.transactional_id, r->value.p != NULL);
    if (!r->value.p) {
        if (entry)
            coordinator_forget(c, entry);
        return 0;
    }
    if (!entry)
        return -ERR_NOMEM;
    in = (struct wire_in){r->value.p, r->value.n, &c->arena};
    rc = wire_get_i16(&in, &version);
    if (!rc)
        rc = transaction_log_value_decode(&v, &in, version);
    if (!rc)
        rc = take_value(&entry->t, &v);
    if (!rc && entry->t.v.state == TXN_DEAD)
        coordinator_forget(c, entry);
    return rc;
}

void txlog_replay(struct txn_coordinator *c, const struct partition *p, struct slice batch)
{
    struct record_iter it;
    struct record r = {.offset = -1};

    if (c->load.code)
        return;
    int rc = record_iter_init(&it, batch, &c->unpacked);
    if (!rc && batch_is_control(&it.batch))
        return;
    while (!rc && (rc = record_iter_next(&it, &r)) == 1)
        rc = take_record(c, &r);
    if (rc)
        err_set(&c->load, -rc, "%s-%d: the record at offset %" PRId64 " cannot be read: %s",
                TXN_TOPIC, p->index, r.offset, err_text(rc));
}

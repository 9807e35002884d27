/* txn/markers.c - the end of a transaction, told to each partition that took part.
 *
 * All leaders are here, so a marker is an append, in the bundle of the decision. A topic that
 * metadata does not hold is deleted: metadata is loaded before the coordinator starts, so nothing
 * else can hide it. Writing a marker again is harmless. */
#include "base/check.h"
#include "txn/internal.h"

static enum kafka_error marker_write(struct txn_coordinator *c, struct partition *p,
                                     const struct txn_effect *e)
{
    struct plug_request rq = {.origin = PLUG_MARKER};
    struct batch_info info;
    int64_t base_offset;
    bool duplicate, busy;

    buf_reset(&c->batch);
    c->batch.failed = 0;
    if (batch_control_marker(&c->batch, e->producer_id, e->epoch, broker_epoch(c->b), e->commit,
                             env_wall_ms(c->env)))
        return KAFKA_COORDINATOR_NOT_AVAILABLE;
    int rc = batch_header(buf_slice(&c->batch), &info);
    CHECK(rc == 0);
    return partition_append(c->b, p, NULL, (struct span){c->batch.p, c->batch.n}, &info, &rq,
                            &base_offset, &duplicate, &busy);
}

enum kafka_error markers_write(struct txn_coordinator *c, const struct txn_entry *entry,
                               const struct txn_effect *e)
{
    const struct txn *t = &entry->t;

    for (uint32_t i = 0; i < t->n_parts; i++) {
        struct slice name = t->topics[t->parts[i].topic];
        struct partition *p = broker_partition(c->b, name, t->parts[i].index);
        if (!p) {
            REACHED("markers: topic deleted");
            continue;
        }
        enum kafka_error error = marker_write(c, p, e);
        if (error == KAFKA_INVALID_PRODUCER_EPOCH || error == KAFKA_TRANSACTION_COORDINATOR_FENCED)
            env_error(c->env, "transaction %.*s: %.*s-%d refused its marker: %s",
                      SLICE_FMT(entry->id), SLICE_FMT(name), p->index, kafka_error_name(error));
        else if (error)
            return error;
    }
    return KAFKA_NONE;
}

/* txn/plug.c - where the log asks and tells: producer state at each partition, and what opens a
 * transaction.
 *
 * A transactional batch passes only if the coordinator holds its partition as enrolled for this
 * very producer id and epoch (version 2 enrols it here, in the round of the append); then its
 * sequence is looked at. All leaders and the coordinator share one loop, so nothing can come
 * between question and append. */
#include "base/check.h"
#include "txn/internal.h"
#include <stdlib.h>

enum { PRODUCE_ENROLS = 12, OFFSETS_ENROL = 5, PRODUCE_ABORTABLE = 11, OFFSETS_ABORTABLE = 4 };

static struct producer_state *state_of(const struct partition *p)
{
    return &((struct txn_partition_state *)p->plug)->producers;
}

/* The same, to be told of something that happens now. */
static struct producer_state *state_now(const struct txn_coordinator *c, const struct partition *p)
{
    struct producer_state *ps = state_of(p);
    ps->now_ms = (int64_t)(c->env->now / ENV_MS(1));
    return ps;
}

/* What of the batch concerns the producer; false: not a batch of a producer, or of its
 * transactions. */
static bool to_producer_batch(struct producer_batch *to, const struct batch_info *b,
                              struct slice batch)
{
    *to = (struct producer_batch){.producer_id = b->producer_id,
                                  .base_offset = b->base_offset,
                                  .timestamp = b->max_timestamp,
                                  .last_delta = b->last_offset_delta,
                                  .base_sequence = b->base_sequence,
                                  .coordinator_epoch = -1,
                                  .epoch = b->producer_epoch,
                                  .transactional = batch_is_transactional(b),
                                  .marker = batch_is_control(b)};
    if (b->producer_id < 0)
        return false;
    if (!to->marker || !batch.p)
        return true;
    int type;
    if (b->count == 0 || batch_control_read(batch, &type, &to->coordinator_epoch))
        return false;
    to->commit = type == CONTROL_COMMIT;
    return type == CONTROL_COMMIT || type == CONTROL_ABORT;
}

/* ---- checks ---- */

/* The coordinator's code as the API and version of the append know it. */
static enum kafka_error as_told(enum kafka_error error, const struct plug_request *rq)
{
    bool produce = rq->origin == PLUG_CLIENT;

    switch (error) {
    case KAFKA_PRODUCER_FENCED: return KAFKA_INVALID_PRODUCER_EPOCH;
    case KAFKA_TRANSACTION_ABORTABLE:
        if (rq->api_version < (produce ? PRODUCE_ABORTABLE : OFFSETS_ABORTABLE))
            return KAFKA_INVALID_TXN_STATE;
        return error;
    case KAFKA_CONCURRENT_TRANSACTIONS:
    case KAFKA_COORDINATOR_NOT_AVAILABLE:
        if (produce && (rq->api_version < PRODUCE_ENROLS || error != KAFKA_CONCURRENT_TRANSACTIONS))
            return KAFKA_NOT_ENOUGH_REPLICAS;
        return error;
    default: return error;
    }
}

static enum plug_verdict plug_check(void *self, struct partition *p, const struct batch_info *info,
                                    const struct plug_request *rq, struct plug_answer *answer)
{
    struct txn_coordinator *c = self;
    bool produce = rq->origin == PLUG_CLIENT;
    bool enrols = rq->api_version >= (produce ? PRODUCE_ENROLS : OFFSETS_ENROL);
    struct producer_answer a;
    struct producer_batch b;

    to_producer_batch(&b, info, SLICE_NULL);
    if (rq->origin == PLUG_MARKER)
        b.coordinator_epoch = broker_epoch(c->b);
    if (b.transactional && !b.marker && !MUTATED(c->env->mutations, NO_ENROLMENT_CHECK)) {
        enum kafka_error error =
            coordinator_admit(c, rq->transactional_id, b.producer_id, b.epoch, p, enrols);
        if (error) {
            *answer = (struct plug_answer){as_told(error, rq), -1, -1};
            return PLUG_REFUSE;
        }
    }
    enum producer_origin origin = rq->origin == PLUG_MARKER        ? PRODUCER_MARKER
                                  : rq->origin == PLUG_COORDINATOR ? PRODUCER_COORDINATOR
                                                                   : PRODUCER_CLIENT;
    enum producer_verdict verdict = producer_state_check(state_of(p), &b, origin, log_end(p->log),
                                                         produce && enrols && b.transactional, &a);
    *answer = (struct plug_answer){a.error, a.base_offset, a.timestamp};
    return verdict == PRODUCER_ADMIT       ? PLUG_ADMIT
           : verdict == PRODUCER_DUPLICATE ? PLUG_DUPLICATE
                                           : PLUG_REFUSE;
}

/* ---- what happened ---- */

static void txnindex_add(void *user, int64_t marker_offset,
                         const unsigned char entry[TXNINDEX_ENTRY])
{
    log_txnindex_add(((struct partition *)user)->log, marker_offset, entry);
}

static void plug_staged(void *self, struct partition *p, const struct batch_info *info,
                        struct slice batch)
{
    struct txn_coordinator *c = self;
    struct producer_batch b;

    if (!to_producer_batch(&b, info, batch))
        return;
    /* The batch is in the log; without memory for its sequence only a restart tells the truth
     * again. */
    if (producer_state_staged(state_now(c, p), &b))
        env_halt(c->env, "out of memory for the state of producers");
    /* Without durability the end has moved already. */
    producer_state_durable(state_of(p), log_durable(p->log), txnindex_add, p);
}

static void plug_durable(void *self, struct partition *p, int64_t end)
{
    producer_state_durable(state_of(p), end, txnindex_add, p);
}

static void plug_replay(void *self, struct partition *p, const struct batch_info *info,
                        struct slice batch)
{
    struct txn_coordinator *c = self;
    struct producer_batch b;

    if (slice_eq_str(p->topic->name, TXN_TOPIC))
        txlog_replay(c, p, batch);
    if (to_producer_batch(&b, info, batch) &&
        producer_state_replay(state_now(c, p), &b, txnindex_add, p))
        err_set(&c->load, ERR_NOMEM, "%.*s-%d: out of memory for the state of producers",
                SLICE_FMT(p->topic->name), p->index);
}

/* ---- snapshots ---- */

static int plug_snapshot_load(void *self, struct partition *p, int64_t offset, struct slice bytes)
{
    /* Logs of the coordinators are replayed from their start, snapshot or not. */
    if (p->topic->internal)
        return 0;
    return producer_state_load(state_now(self, p), bytes);
}

/* Nothing at all says that there are no producers, and saves the file. */
static int plug_snapshot_save(void *self, struct partition *p, int64_t offset, struct buf *out)
{
    size_t start = out->n;
    int rc = 0;

    if (producer_state_durable_count(state_of(p)))
        rc = producer_state_save(state_of(p), out);
    if (!rc && out->n > start)
        rc = producer_state_save_window(state_of(p), out, start);
    return rc;
}

/* ---- what readers see ---- */

static int64_t plug_stable(void *self, struct partition *p)
{
    return producer_state_stable(state_of(p), log_durable(p->log), log_start(p->log));
}

struct aborted_scan {
    int64_t from, upper;
    void (*each)(void *user, int64_t producer_id, int64_t first_offset);
    void *user;
};

static bool aborted_each(void *user, const unsigned char entry[TXNINDEX_ENTRY])
{
    struct aborted_scan *s = user;
    struct producer_aborted a;
    bool last = false;

    if (producer_aborted_decode(&a, entry) &&
        producer_aborted_overlaps(&a, s->from, s->upper, &last))
        s->each(s->user, a.producer_id, a.first_offset);
    return !last;
}

static void plug_aborted(void *self, struct partition *p, int64_t from, int64_t upper,
                         void (*each)(void *user, int64_t producer_id, int64_t first_offset),
                         void *user)
{
    struct aborted_scan s = {from, upper, each, user};
    log_txnindex_scan(p->log, from, aborted_each, &s);
}

/* ---- life ---- */

static int plug_attach(void *self, struct partition *p)
{
    struct txn_coordinator *c = self;
    struct txn_partition_state *s = calloc(1, sizeof *s);

    if (!s)
        return -ERR_NOMEM;
    producer_state_init(&s->producers, c->env->mutations);
    p->plug = s;
    return 0;
}

/* Does not touch self, which may be gone by then. */
static void plug_detach(void *self, struct partition *p)
{
    struct txn_partition_state *s = p->plug;

    if (!s)
        return;
    producer_state_deinit(&s->producers);
    free(s);
    p->plug = NULL;
}

static int plug_start(void *self, struct err *e)
{
    struct txn_coordinator *c = self;

    if (c->load.code) {
        if (e)
            *e = c->load;
        return -c->load.code;
    }
    /* What was decided rolls forward before anybody is served; the rest of the ticks look for
     * age. */
    c->producers_at = c->env->now;
    coordinator_tick(c);
    return 0;
}

/* Markers find topics by name in metadata, so a deleted one is skipped at the end of its
 * transactions. */
static void plug_topic_deleted(void *self, const struct uuid *id)
{
}

void plug_expire_producers(struct txn_coordinator *c)
{
    MAP_EACH (m, broker_topics(c->b)) {
        struct topic *t = m->value;
        for (int32_t i = 0; i < t->n_partitions; i++)
            producer_state_expire(state_now(c, t->partitions[i]), c->producer_idle_ms);
    }
}

struct plug txn_plug(struct txn_coordinator *c)
{
    return (struct plug){.self = c,
                         .check = plug_check,
                         .staged = plug_staged,
                         .durable = plug_durable,
                         .replay = plug_replay,
                         .snapshot_load = plug_snapshot_load,
                         .snapshot_save = plug_snapshot_save,
                         .attach = plug_attach,
                         .detach = plug_detach,
                         .stable = plug_stable,
                         .aborted = plug_aborted,
                         .start = plug_start,
                         .topic_deleted = plug_topic_deleted};
}

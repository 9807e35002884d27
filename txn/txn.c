/* txn/txn.c - the rules of one transactional id.
 *
 * Each event has a function that reads the current value and emits effects; what a sequence of
 * logged values needs (prepare, complete, empty) is chained through a scratch value. Rules and
 * codes are those of Kafka's coordinator; where its clients would be told CONCURRENT_TRANSACTIONS
 * and ask again, one round here does both steps and gives the answer of the second. */
#include "txn/txn.h"
#include "base/check.h"
#include "base/err.h"
#include <stdlib.h>

void txn_init(struct txn *t)
{
    memset(t, 0, sizeof *t);
    t->fresh = true;
    t->v = (struct txn_value){.state = TXN_EMPTY,
                              .producer_id = -1,
                              .previous_producer_id = -1,
                              .next_producer_id = -1,
                              .last_update_ms = -1,
                              .start_ms = -1,
                              .epoch = -1,
                              .last_epoch = -1};
}

void txn_deinit(struct txn *t)
{
    txn_enrol_undo(t, 0);
    free(t->topics);
    free(t->parts);
    t->topics = NULL;
    t->parts = NULL;
    t->cap_topics = t->cap_parts = 0;
}

/* ---- enrolled partitions ---- */

static int64_t topic_find(const struct txn *t, struct slice topic)
{
    for (uint32_t i = 0; i < t->n_topics; i++) {
        if (slice_eq(t->topics[i], topic))
            return i;
    }
    return -1;
}

bool txn_has(const struct txn *t, struct slice topic, int32_t index)
{
    int64_t at = topic_find(t, topic);
    for (uint32_t i = 0; at >= 0 && i < t->n_parts; i++) {
        if (t->parts[i].topic == at && t->parts[i].index == index)
            return true;
    }
    return false;
}

static void *grown(void *v, uint32_t n, uint32_t *cap, size_t size)
{
    if (n < *cap)
        return v;
    uint32_t more = *cap ? *cap * 2 : 8;
    void *w = realloc(v, more * size);
    if (w)
        *cap = more;
    return w;
}

static int64_t topic_add(struct txn *t, struct slice topic)
{
    struct slice *v = grown(t->topics, t->n_topics, &t->cap_topics, sizeof *v);
    if (!v)
        return -ERR_NOMEM;
    t->topics = v;
    unsigned char *name = malloc(topic.n + 1);
    if (!name)
        return -ERR_NOMEM;
    memcpy(name, topic.p, topic.n);
    t->topics[t->n_topics] = slice_of(name, topic.n);
    return t->n_topics++;
}

int txn_enrol(struct txn *t, struct slice topic, int32_t index)
{
    if (txn_has(t, topic, index))
        return 0;
    struct txn_partition *v = grown(t->parts, t->n_parts, &t->cap_parts, sizeof *v);
    if (!v)
        return -ERR_NOMEM;
    t->parts = v;
    int64_t at = topic_find(t, topic);
    if (at < 0)
        at = topic_add(t, topic);
    if (at < 0)
        return (int)at;
    t->parts[t->n_parts++] = (struct txn_partition){.topic = (uint32_t)at, .index = index};
    return 0;
}

void txn_enrol_undo(struct txn *t, uint32_t n_parts)
{
    uint32_t topics = 0;

    for (uint32_t i = 0; i < n_parts && i < t->n_parts; i++) {
        if (t->parts[i].topic >= topics)
            topics = t->parts[i].topic + 1;
    }
    if (n_parts < t->n_parts)
        t->n_parts = n_parts;
    while (t->n_topics > topics)
        free((void *)t->topics[--t->n_topics].p);
}

/* ---- effects ---- */

static struct txn_effect *emit(struct txn_out *out, enum txn_effect_type type)
{
    CHECK(out->n < TXN_OUT_MAX);
    struct txn_effect *e = &out->v[out->n++];
    memset(e, 0, sizeof *e);
    e->type = type;
    return e;
}

static void reply(struct txn_out *out, enum kafka_error error, int64_t producer_id, int16_t epoch)
{
    struct txn_effect *e = emit(out, TXN_REPLY);
    e->error = error;
    e->producer_id = producer_id;
    e->epoch = epoch;
}

static void refuse(struct txn_out *out, enum kafka_error error)
{
    reply(out, error, -1, -1);
}

/* Logs *v in its new state. */
static void to_state(struct txn_out *out, struct txn_value *v, enum txn_state state, int64_t now_ms)
{
    v->state = state;
    v->last_update_ms = now_ms;
    struct txn_effect *e = emit(out, TXN_LOG);
    e->value = *v;
    e->parts = TXN_PARTS_KEPT;
    if (state == TXN_EMPTY)
        e->parts = TXN_PARTS_NULL;
    else if (state == TXN_COMPLETE_COMMIT || state == TXN_COMPLETE_ABORT)
        e->parts = TXN_PARTS_EMPTY;
}

static void mark(struct txn_out *out, const struct txn_value *v, bool commit)
{
    struct txn_effect *e = emit(out, TXN_MARK);
    e->commit = commit;
    e->producer_id = v->producer_id;
    e->epoch = v->epoch;
}

/* Completes what *v, a prepare, decided. */
static void complete(struct txn_out *out, struct txn_value *v, int64_t now_ms)
{
    bool commit = v->state == TXN_PREPARE_COMMIT;

    mark(out, v, commit);
    if (v->next_producer_id >= 0) {
        v->previous_producer_id = v->producer_id;
        v->producer_id = v->next_producer_id;
        v->next_producer_id = -1;
        v->epoch = 0;
    }
    to_state(out, v, commit ? TXN_COMPLETE_COMMIT : TXN_COMPLETE_ABORT, now_ms);
}

/* ---- InitProducerId ---- */

/* The next epoch of an id that is not in a transaction, written as Empty, and the answer. */
static void init_bump(struct txn_out *out, struct txn_value *v, const struct txn_event *ev,
                      int64_t now_ms)
{
    bool given = ev->producer_id >= 0;
    bool exhausted = v->epoch >= TXN_EPOCH_MAX && (!given || ev->epoch == v->epoch);
    bool repeated = given && ev->epoch != v->epoch && ev->epoch == v->last_epoch && v->epoch >= 0;

    if (given && v->epoch >= 0 && ev->epoch != v->epoch && !repeated) {
        REACHED("txn: init at an old epoch");
        refuse(out, KAFKA_PRODUCER_FENCED);
        return;
    }
    if (repeated && v->epoch > TXN_EPOCH_MAX)
        exhausted = true; /* the epoch that only fences is given to nobody */
    if (v->producer_id < 0 || exhausted) {
        if (ev->fresh_id < 0) {
            out->n = 0;
            out->need_id = true;
            return;
        }
        v->previous_producer_id = v->producer_id >= 0 ? v->producer_id : ev->fresh_id;
        if (exhausted) {
            v->last_epoch = given ? ev->epoch : -1;
            v->epoch = 0;
        } else {
            v->epoch = 0;
            v->last_epoch = -1;
        }
        v->producer_id = ev->fresh_id;
    } else {
        v->previous_producer_id = v->producer_id;
        if (!repeated) {
            v->last_epoch = given ? v->epoch : -1;
            v->epoch++;
        }
    }
    v->timeout_ms = ev->timeout_ms;
    v->start_ms = -1;
    to_state(out, v, TXN_EMPTY, now_ms);
    reply(out, KAFKA_NONE, v->producer_id, v->epoch);
}

static void step_init(const struct txn *t, const struct txn_event *ev, int64_t now_ms,
                      struct txn_out *out)
{
    struct txn_value v = t->v;
    bool given = ev->producer_id >= 0;

    if ((ev->producer_id == -1) != (ev->epoch == -1) || ev->producer_id < -1 || ev->epoch < -1) {
        refuse(out, KAFKA_INVALID_REQUEST);
        return;
    }
    if (ev->timeout_ms <= 0 || ev->timeout_ms > ev->timeout_max_ms) {
        refuse(out, KAFKA_INVALID_TRANSACTION_TIMEOUT);
        return;
    }
    if (given && v.epoch >= 0 && ev->producer_id != v.producer_id &&
        !(ev->producer_id == v.previous_producer_id && ev->epoch >= TXN_EPOCH_MAX)) {
        refuse(out, KAFKA_PRODUCER_FENCED);
        return;
    }
    if (txn_prepared(t)) {
        refuse(out, KAFKA_CONCURRENT_TRANSACTIONS);
        return;
    }
    if (v.state == TXN_ONGOING) {
        /* A holder of the current epoch keeps it as its last one, so that its retry is told the
         * same. */
        if (given && ev->epoch != v.epoch) {
            refuse(out, KAFKA_PRODUCER_FENCED);
            return;
        }
        REACHED("txn: init aborts an open transaction");
        v.last_epoch = given ? v.epoch : -1;
        v.epoch++;
        to_state(out, &v, TXN_PREPARE_ABORT, now_ms);
        complete(out, &v, now_ms);
    }
    init_bump(out, &v, ev, now_ms);
}

/* ---- enrolment ---- */

enum kafka_error txn_owner(const struct txn *t, int64_t producer_id, int16_t epoch)
{
    if (t->v.epoch < 0 || producer_id != t->v.producer_id)
        return KAFKA_INVALID_PRODUCER_ID_MAPPING;
    if (epoch != t->v.epoch)
        return KAFKA_PRODUCER_FENCED;
    if (txn_prepared(t))
        return KAFKA_CONCURRENT_TRANSACTIONS;
    return KAFKA_NONE;
}

static void step_add(const struct txn *t, const struct txn_event *ev, int64_t now_ms,
                     struct txn_out *out)
{
    struct txn_value v = t->v;
    enum kafka_error error = txn_owner(t, ev->producer_id, ev->epoch);

    if (error) {
        refuse(out, error);
        return;
    }
    if (v.state != TXN_ONGOING || !ev->all_in) {
        if (v.state != TXN_ONGOING)
            v.start_ms = now_ms;
        v.client_version = ev->version >= 2 ? 2 : 0;
        to_state(out, &v, TXN_ONGOING, now_ms);
    }
    reply(out, KAFKA_NONE, v.producer_id, v.epoch);
}

/* ---- EndTxn ---- */

static void step_end_v1(const struct txn *t, const struct txn_event *ev, int64_t now_ms,
                        struct txn_out *out)
{
    struct txn_value v = t->v;
    enum kafka_error error = txn_owner(t, ev->producer_id, ev->epoch);
    enum txn_state done = ev->commit ? TXN_COMPLETE_COMMIT : TXN_COMPLETE_ABORT;

    if (!error && v.state == TXN_ONGOING) {
        v.client_version = 0;
        to_state(out, &v, ev->commit ? TXN_PREPARE_COMMIT : TXN_PREPARE_ABORT, now_ms);
        complete(out, &v, now_ms);
    } else if (!error && v.state != done) {
        error = KAFKA_INVALID_TXN_STATE;
    }
    if (error)
        refuse(out, error);
    else
        reply(out, KAFKA_NONE, v.producer_id, v.epoch);
}

/* Prepare at the next epoch, or on the way to the next producer id, and all that follows. */
static void end_v2(const struct txn_event *ev, struct txn_value *v, int64_t now_ms,
                   struct txn_out *out)
{
    if (v->epoch >= TXN_EPOCH_MAX) {
        if (ev->fresh_id < 0) {
            out->need_id = true;
            return;
        }
        v->next_producer_id = ev->fresh_id;
    }
    v->last_epoch = v->epoch;
    v->epoch++;
    v->client_version = 2;
    to_state(out, v, ev->commit ? TXN_PREPARE_COMMIT : TXN_PREPARE_ABORT, now_ms);
    complete(out, v, now_ms);
    reply(out, KAFKA_NONE, v->producer_id, v->epoch);
}

/* An abort without a transaction: nothing to mark, but a new epoch all the same. */
static void end_v2_empty(const struct txn_event *ev, struct txn_value *v, int64_t now_ms,
                         struct txn_out *out)
{
    if (v->epoch >= TXN_EPOCH_MAX && ev->fresh_id < 0) {
        out->need_id = true;
        return;
    }
    v->last_epoch = v->epoch++;
    if (v->epoch > TXN_EPOCH_MAX) {
        v->previous_producer_id = v->producer_id;
        v->producer_id = ev->fresh_id;
        v->epoch = 0;
    }
    v->client_version = 2;
    to_state(out, v, TXN_COMPLETE_ABORT, now_ms);
    reply(out, KAFKA_NONE, v->producer_id, v->epoch);
}

static bool end_v2_repeated(const struct txn_value *v, const struct txn_event *ev)
{
    if (ev->producer_id == v->producer_id)
        return v->epoch == ev->epoch + 1;
    return ev->producer_id == v->previous_producer_id && ev->epoch == TXN_EPOCH_MAX &&
           v->epoch == 0;
}

static void step_end_v2(const struct txn *t, const struct txn_event *ev, int64_t now_ms,
                        struct txn_out *out)
{
    struct txn_value v = t->v;
    bool current = ev->producer_id == v.producer_id && ev->epoch == v.epoch;
    bool completed = v.state == TXN_COMPLETE_COMMIT || v.state == TXN_COMPLETE_ABORT;
    bool repeated = end_v2_repeated(&v, ev);

    if (v.epoch < 0 || (ev->producer_id != v.producer_id && !(completed && repeated))) {
        refuse(out, KAFKA_INVALID_PRODUCER_ID_MAPPING);
    } else if (txn_prepared(t)) {
        refuse(out, repeated ? KAFKA_CONCURRENT_TRANSACTIONS : KAFKA_PRODUCER_FENCED);
    } else if (completed && repeated && v.epoch <= TXN_EPOCH_MAX) {
        REACHED("txn: end asked again after its epoch");
        if (ev->commit == (v.state == TXN_COMPLETE_COMMIT))
            reply(out, KAFKA_NONE, v.producer_id, v.epoch);
        else
            refuse(out, KAFKA_INVALID_TXN_STATE);
    } else if (!current) {
        refuse(out, KAFKA_PRODUCER_FENCED);
    } else if (v.state == TXN_ONGOING) {
        end_v2(ev, &v, now_ms, out);
    } else if (ev->commit) {
        refuse(out, KAFKA_INVALID_TXN_STATE);
    } else {
        end_v2_empty(ev, &v, now_ms, out);
    }
}

/* ---- time ---- */

int64_t txn_due(const struct txn *t)
{
    if (txn_prepared(t))
        return INT64_MIN;
    if (t->v.state != TXN_ONGOING)
        return INT64_MAX;
    return t->v.start_ms + t->v.timeout_ms;
}

static void step_tick(const struct txn *t, const struct txn_event *ev, int64_t now_ms,
                      struct txn_out *out)
{
    struct txn_value v = t->v;

    if (v.state == TXN_ONGOING && (ev->late || now_ms > txn_due(t))) {
        REACHED("txn: timed out");
        if (v.epoch >= TXN_EPOCH_MAX) {
            out->need_id = ev->fresh_id < 0;
            v.next_producer_id = ev->fresh_id;
        }
        v.last_epoch = v.client_version >= 2 ? v.epoch : -1;
        v.epoch++;
        to_state(out, &v, TXN_PREPARE_ABORT, now_ms);
        complete(out, &v, now_ms);
    } else if (txn_prepared(t)) {
        REACHED("txn: a prepare rolls forward");
        complete(out, &v, now_ms);
    }
}

static void step_retire(const struct txn *t, const struct txn_event *ev, int64_t now_ms,
                        struct txn_out *out)
{
    if (!txn_prepared(t) && t->v.state != TXN_ONGOING &&
        t->v.last_update_ms + ev->idle_ms <= now_ms)
        emit(out, TXN_TOMBSTONE);
}

/* ---- steps ---- */

void txn_step(const struct txn *t, const struct txn_event *ev, int64_t now_ms, struct txn_out *out)
{
    out->n = 0;
    out->need_id = false;
    switch (ev->type) {
    case TXN_INIT: step_init(t, ev, now_ms, out); break;
    case TXN_ADD: step_add(t, ev, now_ms, out); break;
    case TXN_END:
        if (ev->version >= 2)
            step_end_v2(t, ev, now_ms, out);
        else
            step_end_v1(t, ev, now_ms, out);
        break;
    case TXN_TICK: step_tick(t, ev, now_ms, out); break;
    case TXN_RETIRE: step_retire(t, ev, now_ms, out); break;
    }
    if (out->need_id)
        out->n = 0;
}

void txn_logged(struct txn *t, const struct txn_effect *e)
{
    CHECK(e->type == TXN_LOG);
    t->v = e->value;
    t->fresh = false;
    if (e->parts != TXN_PARTS_KEPT)
        txn_enrol_undo(t, 0);
}

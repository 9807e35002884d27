/* runtime/client/producer.c - records into batches, and what the user waits for.
 *
 * Happy path: producer_send appends to its partition's open batch; produce.c sends batches that
 * are full, old enough or flushed; the flush ends when the last of them is acknowledged. Batches
 * and their bytes are used again, so a steady load allocates nothing.
 *
 * A failure in a transaction drops everything that is held: the transaction can only be aborted,
 * and what is in flight ends with it. Without transactions each failed batch is told by
 * `delivered` and the rest goes on. */
#include "runtime/client/producer_internal.h"
#include <stdio.h>

enum {
    RECORD_BYTES_MAX = 64 << 20,
    FREE_BYTES_MAX = 8 << 20, /* kept for further batches */
    HEADERS_QUICK = 32,       /* more of them cost an allocation */
    PAUSE_ONCE_MS = 1,
    PAUSE_FOREIGN_MS = 20,
    PAUSE_MAX_MS = 1000
};

/* ---- small parts ---- */

void producer_wake(struct producer *p)
{
    env_task_add(p->client->env, &p->task);
}

void producer_wake_at(struct producer *p, uint64_t at)
{
    if (!p->timer.slot || at < p->timer.at)
        env_timer_set(p->client->env, &p->timer, at);
}

uint64_t producer_pause(struct producer *p, uint64_t *backoff)
{
    uint64_t first = ENV_MS(client_is_once(p->client) ? PAUSE_ONCE_MS : PAUSE_FOREIGN_MS);

    *backoff = *backoff ? *backoff * 2 : first;
    if (*backoff > ENV_MS(PAUSE_MAX_MS))
        *backoff = ENV_MS(PAUSE_MAX_MS);
    return p->client->env->now + *backoff;
}

void producer_failed(struct producer *p, const char *fmt, ...)
{
    va_list ap;

    p->why.code = ERR_BROKER;
    va_start(ap, fmt);
    vsnprintf(p->why.text, sizeof p->why.text, fmt, ap);
    va_end(ap);
    env_debug(p->client->env, "producer: %s", p->why.text);
}

int producer_standing(const struct producer *p)
{
    if (p->id && p->init.busy)
        return -ERR_STATE;
    switch (p->session.state) {
    case SESSION_FATAL: return -ERR_BROKER;
    case SESSION_NONE:
    case SESSION_UNKNOWN: return p->id ? -ERR_FENCED : 0;
    case SESSION_ABORT_NEEDED: return -ERR_ABORTABLE;
    case SESSION_IDLE: return p->id ? -ERR_STATE : 0;
    case SESSION_ENDING: return -ERR_STATE;
    case SESSION_IN_TXN: return 0;
    }
    return -ERR_STATE;
}

/* ---- partitions ---- */

static struct ppart *part_find(struct producer *p, struct slice topic, int32_t partition,
                               struct slice *key, unsigned char *bytes, size_t cap)
{
    if (p->last && p->last->partition == partition && slice_eq(p->last->topic, topic))
        return p->last;
    *key = SLICE_NULL;
    if (topic.n + 4 > cap)
        return NULL;
    put_be32(bytes, (uint32_t)partition);
    if (topic.n)
        memcpy(bytes + 4, topic.p, topic.n);
    *key = slice_of(bytes, topic.n + 4);
    return map_get(&p->parts, *key);
}

static struct ppart *part_get(struct producer *p, struct slice topic, int32_t partition)
{
    unsigned char bytes[512] = {0}, *name;
    struct slice key;
    struct ppart *part = part_find(p, topic, partition, &key, bytes, sizeof bytes);

    if (part) {
        p->last = part;
        return part;
    }
    if (!key.p)
        return NULL;
    part = calloc(1, sizeof *part);
    name = malloc(topic.n + 1);
    if (!part || !name || map_put(&p->parts, key, part)) {
        free(part);
        free(name);
        return NULL;
    }
    memcpy(name, bytes + 4, topic.n);
    name[topic.n] = 0;
    part->p = p;
    part->topic = slice_of(name, topic.n);
    part->partition = partition;
    part->last_offset = -1;
    list_init(&part->batches);
    session_partition_init(&part->session);
    p->last = part;
    return part;
}

int64_t producer_last_offset(const struct producer *p, struct slice topic, int32_t partition)
{
    unsigned char bytes[512];
    struct slice key;
    struct ppart *part =
        part_find((struct producer *)(uintptr_t)p, topic, partition, &key, bytes, sizeof bytes);

    return part ? part->last_offset : -1;
}

/* ---- batches ---- */

/* Out of every list but a request's. */
static void batch_unlink(struct producer *p, struct pbatch *b)
{
    if (list_linked(&b->all))
        p->buffered -= b->bytes.n;
    list_remove(&b->link);
    list_remove(&b->all);
    if (list_empty(&b->part->batches))
        list_remove(&b->part->busy);
}

static void batch_destroy(struct pbatch *b)
{
    buf_deinit(&b->bytes);
    free(b);
}

void producer_batch_free(struct producer *p, struct pbatch *b)
{
    batch_unlink(p, b);
    if (p->free_bytes + b->bytes.cap > FREE_BYTES_MAX) {
        batch_destroy(b);
        return;
    }
    p->free_bytes += b->bytes.cap;
    list_push_front(&p->free_batches, &b->link);
}

void producer_batch_done(struct producer *p, struct pbatch *b, int64_t base_offset)
{
    struct ppart *part = b->part;
    int32_t n = b->count;

    part->last_offset = base_offset >= 0 ? base_offset + n - 1 : -1;
    producer_batch_free(p, b);
    if (!p->id && p->opt.delivered)
        p->opt.delivered(p->opt.user, part->topic, part->partition, base_offset, n, 0);
}

void producer_batch_fail(struct producer *p, struct pbatch *b, int res)
{
    struct ppart *part = b->part;
    int32_t n = b->count;

    producer_batch_free(p, b);
    if (!p->flush.res)
        p->flush.res = res;
    if (!p->id && p->opt.delivered)
        p->opt.delivered(p->opt.user, part->topic, part->partition, -1, n, res);
}

void producer_drop_all(struct producer *p)
{
    struct list *l;

    while ((l = list_first(&p->all))) {
        struct pbatch *b = list_entry(l, struct pbatch, all);
        if (b->state == BATCH_FLIGHT) {
            batch_unlink(p, b);
            b->state = BATCH_DROPPED;
            if (!p->id && p->opt.delivered)
                p->opt.delivered(p->opt.user, b->part->topic, b->part->partition, -1, b->count,
                                 -ERR_UNKNOWN_OUTCOME);
        } else if (p->id) {
            producer_batch_free(p, b);
        } else {
            producer_batch_fail(p, b, -ERR_BROKER);
        }
    }
    producer_wake(p);
}

static struct pbatch *batch_new(struct producer *p, struct ppart *part)
{
    struct list *l = list_first(&p->free_batches);
    struct pbatch *b;
    struct batch_writer_options o = {.codec = p->opt.codec,
                                     .attributes = p->id ? BATCH_TRANSACTIONAL : 0,
                                     .leader_epoch = -1,
                                     .compress = &p->compress,
                                     .scratch = &p->scratch};

    if (l) {
        list_remove(l);
        b = list_entry(l, struct pbatch, link);
        p->free_bytes -= b->bytes.cap;
    } else {
        b = calloc(1, sizeof *b);
        if (!b)
            return NULL;
        buf_init(&b->bytes, RECORD_BYTES_MAX + p->opt.batch_bytes);
    }
    buf_reset(&b->bytes);
    if (batch_writer_begin(&b->writer, &b->bytes, &o)) {
        batch_destroy(b);
        return NULL;
    }
    b->part = part;
    b->state = BATCH_OPEN;
    b->finished = false;
    b->count = 0;
    b->number = ++p->numbers;
    b->created_at = p->client->env->now;
    b->retry_at = b->backoff = 0;
    p->buffered += b->bytes.n;
    list_push(&part->batches, &b->link);
    list_push(&p->all, &b->all);
    if (!list_linked(&part->busy))
        list_push(&p->busy, &part->busy);
    producer_wake_at(p, b->created_at + ENV_MS(p->opt.linger_ms));
    return b;
}

/* 1: b carries its stamp and its bytes will not change any more; 0: not now; negative: it
 * failed. */
int producer_batch_stamp(struct producer *p, struct pbatch *b)
{
    size_t before = b->bytes.n;
    int rc;

    if (!session_batch_begin(&p->session, &b->part->session, b->count, &b->stamp))
        return 0;
    b->state = BATCH_CLOSED;
    if (b->finished) {
        batch_set_producer(b->bytes.p, b->stamp.producer_id, b->stamp.epoch,
                           b->stamp.base_sequence);
        return 1;
    }
    rc = batch_writer_finish(&b->writer, b->stamp.producer_id, b->stamp.epoch,
                             b->stamp.base_sequence);
    if (rc) {
        /* Nothing of it was ever sent: its sequence is given up like that of a refused batch. */
        enum session_verdict v = session_produce_result(&p->session, &b->part->session, &b->stamp,
                                                        true, KAFKA_MESSAGE_TOO_LARGE);
        producer_failed(p, "%.*s-%d: %s", SLICE_FMT(b->part->topic), b->part->partition,
                        err_text(rc));
        p->buffered -= before;
        p->buffered += b->bytes.n;
        if (v == SESSION_FAIL)
            producer_batch_fail(p, b, rc);
        return rc;
    }
    b->finished = true;
    p->buffered -= before;
    p->buffered += b->bytes.n;
    return 1;
}

/* ---- records ---- */

static int add_record(struct pbatch *b, const struct producer_record *r)
{
    struct record_header quick[HEADERS_QUICK], *v = quick;
    struct header_iter it = {r->headers, r->n_headers};
    int n = 0, rc;

    if (r->n_headers < 0 || (size_t)r->n_headers > r->headers.n)
        return -ERR_INVALID;
    if (r->n_headers > HEADERS_QUICK)
        v = calloc((size_t)r->n_headers, sizeof *v);
    if (!v)
        return -ERR_NOMEM;
    while (n < r->n_headers && header_iter_next(&it, &v[n].key, &v[n].value) > 0)
        n++;
    rc = n == r->n_headers ? batch_writer_add(&b->writer, r->timestamp, r->key, r->value, v, n)
                           : -ERR_INVALID;
    if (v != quick)
        free(v);
    return rc;
}

int producer_send(struct producer *p, const struct producer_record *r)
{
    size_t bound = r->key.n + r->value.n + r->headers.n + 32, before;
    int rc = producer_standing(p);
    struct ppart *part;
    struct pbatch *b = NULL;

    if (rc)
        return rc;
    if (bound > RECORD_BYTES_MAX)
        return -ERR_TOO_BIG;
    if (p->buffered && p->buffered + bound > p->opt.buffer_bytes) {
        p->full = true;
        return -ERR_LIMIT;
    }
    part = part_get(p, r->topic, r->partition);
    if (!part)
        return r->topic.n > 500 ? -ERR_INVALID : -ERR_NOMEM;
    if (!list_empty(&part->batches))
        b = list_entry(part->batches.prev, struct pbatch, link);
    if (b && b->state == BATCH_OPEN && b->bytes.n + bound > p->opt.batch_bytes) {
        b->state = BATCH_CLOSED;
        producer_wake(p);
    }
    if (!b || b->state != BATCH_OPEN)
        b = batch_new(p, part);
    if (!b)
        return -ERR_NOMEM;
    before = b->bytes.n;
    rc = add_record(b, r);
    p->buffered += b->bytes.n - before;
    if (rc) {
        if (b->count == 0)
            producer_batch_free(p, b);
        return rc;
    }
    b->count++;
    if (p->flush.busy || b->bytes.n >= p->opt.batch_bytes)
        producer_wake(p);
    return 0;
}

/* ---- flush ---- */

static void flush_end(struct producer *p, int res)
{
    struct err e = p->why;

    p->flush.busy = false;
    p->flush.res = 0;
    if (res && !e.text[0])
        err_set(&e, -res, "%s", err_text(res));
    e.code = -res;
    p->flush.done(p->flush.user, res, &e);
}

static bool flushed(const struct producer *p)
{
    struct list *l = list_first(&p->all);

    return !l || list_entry(l, struct pbatch, all)->number > p->flush.mark;
}

static void flush_pump(struct producer *p)
{
    int res = producer_standing(p);

    if (!p->flush.busy)
        return;
    if (res)
        flush_end(p, res);
    else if (flushed(p))
        flush_end(p, p->flush.res);
}

void producer_flush(struct producer *p, producer_done done, void *user)
{
    CHECK(!p->flush.busy);
    p->flush.busy = true;
    p->flush.mark = p->numbers;
    p->flush.done = done;
    p->flush.user = user;
    producer_wake(p);
}

/* ---- the turn ---- */

static void run(struct env_task *t)
{
    struct producer *p = list_entry(t, struct producer, task);

    producer_txn_pump(p);
    produce_pump(p);
    producer_txn_pump(p); /* enrolments that the batches asked for */
    if (p->full && p->buffered < p->opt.buffer_bytes / 2) {
        p->full = false;
        if (p->opt.room)
            p->opt.room(p->opt.user);
    }
    flush_pump(p);
}

static void woken(struct env_timer *t)
{
    producer_wake(list_entry(t, struct producer, timer));
}

static void changed(struct client_watch *w)
{
    struct producer *p = list_entry(w, struct producer, watch);

    if (!list_empty(&p->busy))
        producer_wake(p);
}

/* ---- begin and end ---- */

int64_t producer_id(const struct producer *p)
{
    return p->session.producer_id;
}
int16_t producer_epoch(const struct producer *p)
{
    return p->session.epoch;
}

static uint32_t or_else(uint32_t v, uint32_t otherwise)
{
    return v ? v : otherwise;
}

int producer_open(struct producer **out, struct client *c, const struct producer_options *o)
{
    struct producer *p = calloc(1, sizeof *p);

    if (!p)
        return -ERR_NOMEM;
    p->client = c;
    p->opt = *o;
    p->opt.transaction_timeout_ms = or_else(o->transaction_timeout_ms, 10000);
    p->opt.linger_ms = or_else(o->linger_ms, 5);
    p->opt.batch_bytes = or_else(o->batch_bytes, 256 << 10);
    p->opt.delivery_timeout_ms = or_else(o->delivery_timeout_ms, 120000);
    p->opt.buffer_bytes = o->buffer_bytes ? o->buffer_bytes : 64 << 20;
    map_init(&p->parts);
    list_init(&p->busy);
    list_init(&p->all);
    list_init(&p->free_batches);
    list_init(&p->requests);
    list_init(&p->free_requests);
    buf_init(&p->scratch, RECORD_BYTES_MAX * 2u);
    p->task.run = run;
    p->timer.fire = woken;
    p->watch.changed = changed;
    client_watch_add(c, &p->watch);
    session_init(&p->session, o->transactional_id.p != NULL);
    producer_txn_init(p);
    if (o->transactional_id.p) {
        p->id = strndup((const char *)o->transactional_id.p, o->transactional_id.n);
        if (!p->id) {
            producer_free(p);
            return -ERR_NOMEM;
        }
    }
    *out = p;
    return 0;
}

void producer_free(struct producer *p)
{
    struct list *l;

    if (!p)
        return;
    produce_deinit(p);
    producer_txn_deinit(p);
    while ((l = list_first(&p->all))) {
        struct pbatch *b = list_entry(l, struct pbatch, all);
        list_remove(l);
        list_remove(&b->link);
        batch_destroy(b);
    }
    while ((l = list_first(&p->free_batches))) {
        list_remove(l);
        batch_destroy(list_entry(l, struct pbatch, link));
    }
    MAP_EACH (e, &p->parts) {
        struct ppart *part = e->value;
        free((void *)(uintptr_t)part->topic.p);
        free(part);
    }
    map_deinit(&p->parts);
    list_remove(&p->watch.link);
    env_timer_stop(p->client->env, &p->timer);
    env_task_stop(&p->task);
    buf_deinit(&p->scratch);
    compress_deinit(&p->compress);
    free(p->id);
    free(p);
}

/* broker/api/01_fetch.c - Fetch: whole batches of many partitions, passed on without a copy.
 *
 * Happy path: for each partition in the order asked for, one snapshot of high watermark and stable
 * offset, then reads up to it until the limits are met; the answer refers to the log's blocks. With
 * fewer bytes than min_bytes the request parks on its partitions; each wake-up goes on reading
 * where the last pass ended, until there is enough, max_wait is over, or a partition is gone.
 * Aborted transactions are asked for when the answer is composed, for exactly the range returned:
 * all below the stable offset is decided, so it does not matter when. Failure: errors are per
 * partition, and any of them answers at once. A slow disk is waited for; whoever disconnects
 * meanwhile cancels the read.
 *
 * Small pieces are copied, so that many little batches do not exhaust the slices of a reply.
 * Sessions are not kept: each full fetch is answered with session 0 (KIP-227 allows it). */
#include "base/check.h"
#include "broker/api/api.h"

typedef struct fetch_request_fetch_partition part_in;
typedef struct fetch_response_partition_data part_out;
typedef struct fetch_response_aborted_transaction aborted_out;

enum {
    FETCH_BYTES_MAX = 16 << 20, /* of one answer */
    COPY_BELOW = 1024,
    COPY_CHUNK = 16 << 10,
    READ_ON_LEAST = 64 << 10, /* with less room left no further read is worth its cost */
    TAILS = LOG_READ_SLICES * 4,
    FLEXIBLE_V_MIN = 12,
    SESSION_V_MIN = 7
};

struct piece {
    struct piece *next;
    struct slice bytes;
    struct block *block; /* NULL: in the request's arena */
    size_t room;         /* behind bytes, in the arena */
};

struct fetch;
struct part {
    struct fetch *f;
    struct partition_wait wait;
    const part_in *in;
    struct partition *p; /* NULL: unknown, or gone */
    enum kafka_error error;
    bool diverged;
    struct fetch_response_epoch_end_offset diverging;
    int64_t high_watermark, stable, start; /* one snapshot, of the last pass */
    int64_t next;                          /* behind what was read */
    size_t bytes;
    struct piece *first, *last;
    struct {
        aborted_out *v;
        int32_t n, cap;
    } aborted;
};

struct fetch {
    struct request *rq;
    struct fetch_request in;
    struct part *parts;
    int32_t n, at; /* at: the partition being read */
    size_t bytes, budget;
    size_t held;  /* counts for what the broker may hold for all */
    int n_blocks; /* pieces that need a slice of the reply */
    bool committed, reading, again, late, any_error;
    struct env_task task;
    struct log_read read;
};

static void step(struct fetch *f);

/* ---- pieces ---- */

static struct piece *new_piece(struct fetch *f, struct part *part)
{
    struct piece *x = arena_new(f->rq->in.arena, struct piece, 1);
    if (!x)
        return NULL;
    if (part->last)
        part->last->next = x;
    else
        part->first = x;
    part->last = x;
    return x;
}

static bool copy_piece(struct fetch *f, struct part *part, struct slice s)
{
    struct piece *x = part->last;
    if (!x || x->block || x->room < s.n) {
        size_t room = s.n > COPY_CHUNK ? s.n : COPY_CHUNK;
        unsigned char *p = arena_alloc(f->rq->in.arena, room);
        x = p ? new_piece(f, part) : NULL;
        if (!x)
            return false;
        x->bytes = slice_of(p, 0);
        x->room = room;
    }
    memcpy((unsigned char *)x->bytes.p + x->bytes.n, s.p, s.n);
    x->bytes.n += s.n;
    x->room -= s.n;
    return true;
}

static bool keep_piece(struct fetch *f, struct part *part, struct slice s, struct block *block)
{
    if (s.n < COPY_BELOW || f->n_blocks == TAILS)
        return copy_piece(f, part, s);
    struct piece *x = new_piece(f, part);
    if (!x)
        return false;
    x->bytes = s;
    x->block = block_ref(block);
    f->n_blocks++;
    return true;
}

static void drop_pieces(struct part *part)
{
    for (struct piece *x = part->first; x; x = x->next)
        block_unref(x->block);
    part->first = part->last = NULL;
}

/* ---- one partition ---- */

static void fail(struct part *part, enum kafka_error error)
{
    part->error = error;
    part->f->any_error = true;
}

/* False: nothing is to be read. */
static bool check_part(struct fetch *f, struct part *part)
{
    struct broker *b = f->rq->broker;
    int64_t offset = part->in->fetch_offset, end;
    int32_t found;
    if (part->error || part->diverged)
        return false;
    if (!part->p)
        fail(part, KAFKA_UNKNOWN_TOPIC_OR_PARTITION);
    else
        part->error = broker_check_epoch(b, part->in->current_leader_epoch);
    if (part->error) {
        f->any_error = true;
        return false;
    }
    struct log *l = part->p->log;
    if (part->next < log_start(l) || offset > log_end(l)) {
        fail(part, KAFKA_OFFSET_OUT_OF_RANGE);
        return false;
    }
    if (part->in->last_fetched_epoch < 0)
        return true;
    log_epoch_end(l, part->in->last_fetched_epoch, &found, &end);
    if (found == part->in->last_fetched_epoch && end >= offset)
        return true;
    part->diverged = true;
    part->diverging = (struct fetch_response_epoch_end_offset){found, end};
    return false;
}

static void collect(struct fetch *f, struct part *part)
{
    struct log_read *r = &f->read;
    for (int i = 0; i < r->n; i++)
        if (!keep_piece(f, part, r->v[i], r->blocks[i])) {
            /* Part of a read is no answer; what other partitions gave is. */
            fail(part, KAFKA_UNKNOWN_SERVER_ERROR);
            f->bytes -= part->bytes;
            log_read_release(r);
            return;
        }
    part->next = r->next;
    part->bytes += r->bytes;
    f->bytes += r->bytes;
    log_read_release(r);
}

static void read_failed(struct part *part, int rc)
{
    fail(part, rc == -ERR_NOT_FOUND ? KAFKA_OFFSET_OUT_OF_RANGE
               : rc == -ERR_CORRUPT ? KAFKA_CORRUPT_MESSAGE
                                    : KAFKA_KAFKA_STORAGE_ERROR);
}

static void read_done(struct log_read *r, int res)
{
    struct fetch *f = list_entry(r, struct fetch, read);
    struct part *part = &f->parts[f->at];
    bool some = !res && r->bytes > 0;
    f->reading = false;
    if (res)
        read_failed(part, res);
    else
        collect(f, part);
    if (!some)
        f->at++;
    step(f);
}

static int64_t upper_of(const struct fetch *f, const struct part *part)
{
    return f->committed ? part->stable : part->high_watermark;
}

/* Bytes that may still be read, when the read is counted for up to `want`. */
static size_t room(struct fetch *f, size_t want)
{
    size_t most = broker_hold(f->rq->broker, &f->held, f->bytes);
    if (most < READ_ON_LEAST)
        most = READ_ON_LEAST;
    if (most > f->budget)
        most = f->budget;
    most = most > f->bytes ? most - f->bytes : 0;
    if (want > most)
        want = most;
    (void)broker_hold(f->rq->broker, &f->held, f->bytes + want);
    return want;
}

/* Reads on in one partition. False: the read goes on elsewhere. */
static bool read_part(struct fetch *f, struct part *part)
{
    int64_t upper = upper_of(f, part);
    size_t most = part->in->partition_max_bytes > 0 ? (size_t)part->in->partition_max_bytes : 0;
    while (part->next < upper && !part->error) {
        size_t max = most > part->bytes ? most - part->bytes : 0;
        f->read.log = part->p->log;
        f->read.offset = part->next;
        f->read.upper = upper;
        f->read.max_bytes = room(f, max);
        f->read.at_least_one = f->bytes == 0;
        f->read.done = read_done;
        if (!f->read.at_least_one && f->read.max_bytes < (part->bytes ? READ_ON_LEAST : 1))
            return true;
        int rc = log_read(&f->read);
        if (rc == -ERR_AGAIN) {
            f->reading = true;
            return false;
        }
        if (rc) {
            read_failed(part, rc);
            return true;
        }
        bool some = f->read.bytes > 0;
        collect(f, part);
        if (!some)
            return true;
    }
    return true;
}

/* ---- the answer ---- */

static void each_aborted(void *user, int64_t producer_id, int64_t first_offset)
{
    struct part *part = user;
    struct arena *a = part->f->rq->in.arena;
    if (part->aborted.n == part->aborted.cap) {
        int32_t cap = part->aborted.cap ? part->aborted.cap * 2 : 16;
        aborted_out *v = arena_new(a, aborted_out, cap);
        if (!v) {
            /* Without the whole list the reader would take aborted records for committed ones. */
            fail(part, KAFKA_UNKNOWN_SERVER_ERROR);
            return;
        }
        if (part->aborted.n)
            memcpy(v, part->aborted.v, sizeof *v * (size_t)part->aborted.n);
        part->aborted.v = v;
        part->aborted.cap = cap;
    }
    part->aborted.v[part->aborted.n++] = (aborted_out){producer_id, first_offset};
}

static void fill(struct fetch *f, struct part *part, part_out *out)
{
    const struct plug *plug = broker_plugged(f->rq->broker);
    fetch_response_partition_data_init(out);
    if (f->committed && plug && part->bytes && !part->error)
        plug->aborted(plug->self, part->p, part->in->fetch_offset, part->next, each_aborted, part);
    out->partition_index = part->in->partition;
    out->error_code = (int16_t)part->error;
    out->high_watermark = out->last_stable_offset = out->log_start_offset = -1;
    out->aborted_transactions.n = f->committed ? 0 : -1;
    out->records = slice_of("", 0);
    if (part->error) {
        drop_pieces(part);
        part->bytes = 0;
        return;
    }
    out->high_watermark = part->high_watermark;
    out->last_stable_offset = part->stable;
    out->log_start_offset = part->start;
    if (part->diverged)
        out->diverging_epoch = part->diverging;
    if (part->aborted.n) {
        out->aborted_transactions.v = (void *)part->aborted.v;
        out->aborted_transactions.n = part->aborted.n;
    }
}

/* Records are the last field: written as null, cut back, and put there piece by piece. */
static void put_records(struct request *rq, struct part *part, bool flexible)
{
    if (flexible) {
        unsigned char t[5];
        rq->out.n -= 2;
        (void)buf_put(&rq->out, t, (size_t)put_uvarint(t, (uint32_t)part->bytes + 1));
    } else {
        rq->out.n -= 4;
        (void)wire_put_i32(&rq->out, (int32_t)part->bytes);
    }
    for (struct piece *x = part->first; x; x = x->next) {
        if (!x->block) {
            (void)buf_put_slice(&rq->out, x->bytes);
            continue;
        }
        CHECK(rq->n_tail < TAILS);
        rq->tail[rq->n_tail] = x->bytes;
        rq->tail_blocks[rq->n_tail] = x->block;
        rq->tail_at[rq->n_tail++] = (uint32_t)rq->out.n;
    }
    part->first = part->last = NULL;
    if (flexible)
        (void)buf_put_u8(&rq->out, 0);
}

static int put_part(struct request *rq, struct part *part, bool flexible)
{
    part_out out;
    fill(part->f, part, &out);
    if (part->bytes)
        out.records = SLICE_NULL;
    int rc = wire_encode(&fetch_response_partition_data_desc, &out, &rq->out, rq->version);
    if (!rc && part->bytes)
        put_records(rq, part, flexible);
    return rc;
}

/* A struct that ends in an array whose elements follow one by one: written with none, cut back. */
static int open_array(struct request *rq, const struct wire_desc *d, const void *m, int32_t n,
                      bool flexible)
{
    unsigned char t[5];
    int rc = wire_encode(d, m, &rq->out, rq->version);
    if (rc)
        return rc;
    rq->out.n -= flexible ? 2 : 4;
    return flexible ? buf_put(&rq->out, t, (size_t)put_uvarint(t, (uint32_t)n + 1))
                    : wire_put_i32(&rq->out, n);
}

static int put_answer(struct fetch *f)
{
    struct request *rq = f->rq;
    bool flexible = rq->version >= FLEXIBLE_V_MIN;
    struct fetch_response out;
    struct part *part = f->parts;
    fetch_response_init(&out);
    int rc = open_array(rq, &fetch_response_desc, &out, f->in.topics.n, flexible);
    for (int32_t i = 0; !rc && i < f->in.topics.n; i++) {
        struct fetch_response_fetchable_topic_response topic;
        fetch_response_fetchable_topic_response_init(&topic);
        topic.topic = f->in.topics.v[i].topic;
        rc = open_array(rq, &fetch_response_fetchable_topic_response_desc, &topic,
                        f->in.topics.v[i].partitions.n, flexible);
        for (int32_t j = 0; !rc && j < f->in.topics.v[i].partitions.n; j++)
            rc = put_part(rq, part++, flexible);
        if (!rc && flexible)
            rc = buf_put_u8(&rq->out, 0);
    }
    if (!rc && flexible)
        rc = buf_put_u8(&rq->out, 0);
    return rc;
}

static void stop_reading(struct fetch *f)
{
    if (!f->reading)
        return;
    log_read_cancel(&f->read);
    log_read_release(&f->read); /* what it had before it waited */
    f->reading = false;
    (void)broker_hold(f->rq->broker, &f->held, f->bytes);
}

/* The request no longer hangs on anything. */
static void leave(struct fetch *f)
{
    for (int32_t i = 0; i < f->n; i++)
        list_remove(&f->parts[i].wait.link);
    env_task_stop(&f->task);
    env_timer_stop(broker_env(f->rq->broker), &f->rq->timer);
    stop_reading(f);
}

static void answer(struct fetch *f)
{
    leave(f);
    (void)broker_hold(f->rq->broker, &f->held, 0);
    reply_begin(f->rq);
    int rc = put_answer(f);
    for (int32_t i = 0; i < f->n; i++)
        drop_pieces(&f->parts[i]);
    if (rc && !f->rq->out.failed)
        f->rq->out.failed = rc;
    /* Only what is durable was shown. */
    reply_end_now(f->rq);
}

/* ---- passes ---- */

static bool enough(const struct fetch *f)
{
    if (f->late || f->any_error || f->n == 0 || f->in.max_wait_ms <= 0)
        return true;
    for (int32_t i = 0; i < f->n; i++) {
        const struct part *part = &f->parts[i];
        /* What a limit kept out would not come by waiting. */
        if (part->diverged || part->next < upper_of(f, part))
            return true;
    }
    return (int64_t)f->bytes >= f->in.min_bytes;
}

static bool has_more(const struct fetch *f, const struct part *part)
{
    if (!part->p || part->error)
        return true;
    int64_t upper = f->committed ? partition_stable(f->rq->broker, part->p)
                                 : partition_high_watermark(part->p);
    return part->next < upper;
}

/* Reads from f->at to the end, then answers, parks, or begins again. */
static void step(struct fetch *f)
{
    for (; f->at < f->n; f->at++) {
        struct part *part = &f->parts[f->at];
        if (!check_part(f, part))
            continue;
        part->start = log_start(part->p->log);
        part->stable = partition_stable(f->rq->broker, part->p);
        part->high_watermark = partition_high_watermark(part->p);
        if (!read_part(f, part))
            return;
    }
    (void)broker_hold(f->rq->broker, &f->held, f->bytes); /* none is under way */
    if (enough(f)) {
        answer(f);
        return;
    }
    if (f->again)
        env_task_add(broker_env(f->rq->broker), &f->task);
    f->again = false;
}

static void pass(struct env_task *t)
{
    struct fetch *f = list_entry(t, struct fetch, task);
    bool more = false;
    if (f->reading) {
        f->again = true;
        return;
    }
    for (int32_t i = 0; i < f->n && !more; i++)
        more = has_more(f, &f->parts[i]);
    if (!more)
        return;
    f->at = 0;
    step(f);
}

static void wake(struct partition_wait *w, bool gone)
{
    struct part *part = list_entry(w, struct part, wait);
    struct fetch *f = part->f;
    if (gone) {
        if (part == &f->parts[f->at])
            stop_reading(f);
        part->p = NULL;
        fail(part, KAFKA_UNKNOWN_TOPIC_OR_PARTITION);
    }
    if (f->reading)
        f->again = true;
    else
        env_task_add(broker_env(f->rq->broker), &f->task);
}

static void late(struct env_timer *t)
{
    struct fetch *f = list_entry(t, struct request, timer)->user;
    f->late = true;
    if (!f->reading)
        answer(f);
}

static void canceled(struct request *rq)
{
    struct fetch *f = rq->user;
    leave(f);
    (void)broker_hold(f->rq->broker, &f->held, 0);
    for (int32_t i = 0; i < f->n; i++)
        drop_pieces(&f->parts[i]);
}

/* ---- the request ---- */

/* A session that we never gave: the client falls back to a full fetch. */
static bool refuse_session(struct request *rq, const struct fetch_request *in)
{
    struct fetch_response out;
    if (rq->version < SESSION_V_MIN || in->session_epoch <= 0)
        return false;
    fetch_response_init(&out);
    out.error_code = KAFKA_FETCH_SESSION_ID_NOT_FOUND;
    reply_body(rq, &fetch_response_desc, &out);
    reply_end_now(rq);
    return true;
}

static int prepare(struct fetch *f)
{
    struct broker *b = f->rq->broker;
    for (int32_t i = 0; i < f->in.topics.n; i++)
        f->n += f->in.topics.v[i].partitions.n;
    f->parts = arena_new(f->rq->in.arena, struct part, f->n);
    if (!f->parts)
        return -ERR_TOO_BIG;
    struct part *part = f->parts;
    for (int32_t i = 0; i < f->in.topics.n; i++) {
        const struct fetch_request_fetch_topic *t = &f->in.topics.v[i];
        for (int32_t j = 0; j < t->partitions.n; j++, part++) {
            part->f = f;
            part->in = &t->partitions.v[j];
            part->next = part->in->fetch_offset;
            part->wait.wake = wake;
            part->p = broker_partition(b, t->topic, part->in->partition);
            if (part->p)
                list_push(&part->p->waits, &part->wait.link);
        }
    }
    f->committed = f->in.isolation_level == 1;
    size_t max = f->in.max_bytes > 0 ? (size_t)f->in.max_bytes : 0;
    f->budget = max < FETCH_BYTES_MAX ? max : FETCH_BYTES_MAX;
    return 0;
}

int api_fetch(struct request *rq)
{
    struct env *env = broker_env(rq->broker);
    struct fetch *f = arena_new(rq->in.arena, struct fetch, 1);
    if (!f)
        return -ERR_TOO_BIG;
    int rc = fetch_request_decode(&f->in, &rq->in, rq->version);
    if (rc)
        return rc;
    if (refuse_session(rq, &f->in))
        return 0;
    f->rq = rq;
    f->task.run = pass;
    rc = prepare(f);
    if (rc)
        return rc;
    /* What is copied into the arena is bounded by the budget. */
    rq->in.arena->max += 2 * f->budget + (1 << 20);
    rq->user = f;
    rq->canceled = canceled;
    if (f->in.max_wait_ms > 0) {
        rq->timer.fire = late;
        env_timer_set(env, &rq->timer, env->now + ENV_MS((uint64_t)f->in.max_wait_ms));
    }
    step(f);
    return 0;
}

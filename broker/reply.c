/* broker/reply.c - requests and their replies: pooled, composed, sent in order when durable.
 *
 * Happy path: reply_begin, the handler encodes, reply_end; at the end of the turn conn_flush
 * gathers the composed replies at the head of the connection whose lsn is durable into one send.
 * A reply is cut into pieces: its own bytes up to the first zero-copy part, that part, and so
 * on. A reply may be composed again (a Produce that times out) until its first piece is given to
 * env. */
#include "broker/server.h"
#include "base/check.h"
#include <stdlib.h>

enum {
    SLOT_ARENA_MAX = 64 << 20,
    SLOT_ARENA_LEAST = 1 << 20,
    SLOT_OUT_KEPT = 256 << 10,
    SLOT_OUT_MAX = 128 << 20
};

/* ---- slots ---- */

struct request *request_new(struct conn *c)
{
    struct server *s = c->server;
    struct list *l = list_first(&s->pool);
    struct slot *t;
    if (l) {
        t = list_entry(l, struct slot, pool);
        list_remove(l);
        s->n_pool--;
    } else {
        t = calloc(1, sizeof *t);
        if (!t)
            return NULL;
        arena_init(&t->arena, SLOT_ARENA_LEAST);
        buf_init(&t->rq.out, SLOT_OUT_MAX);
    }
    t->rq.broker = s->broker;
    t->rq.conn = c;
    t->rq.in.arena = &t->arena;
    list_push(&c->requests, &t->rq.link);
    c->n_requests++;
    c->n_open++;
    return &t->rq;
}

void slot_free(struct slot *t)
{
    arena_deinit(&t->arena);
    buf_deinit(&t->rq.out);
    free(t);
}

static void slot_clear(struct slot *t)
{
    struct request *rq = &t->rq;
    struct buf out = rq->out;
    for (int i = 0; i < rq->n_tail; i++)
        block_unref(rq->tail_blocks[i]);
    block_unref(rq->frame);
    /* All but the arrays of tails, which n_tail bounds. */
    rq->frame = NULL;
    rq->n_tail = 0;
    rq->lsn = 0;
    rq->ready = false;
    rq->canceled = NULL;
    rq->user = NULL;
    t->answered = t->sending = false;
    t->frame_bytes = t->reply_bytes = 0;
    arena_reset(&t->arena);
    buf_reset(&out);
    if (out.cap > SLOT_OUT_KEPT) {
        buf_deinit(&out);
        buf_init(&out, SLOT_OUT_MAX);
    }
    rq->out = out;
}

static void count_reply(struct slot *t, size_t n)
{
    struct conn *c = t->rq.conn;
    c->reply_bytes = c->reply_bytes - t->reply_bytes + n;
    c->server->reply_bytes = c->server->reply_bytes - t->reply_bytes + n;
    t->reply_bytes = n;
}

void request_free(struct request *rq)
{
    struct slot *t = slot_of(rq);
    struct conn *c = rq->conn;
    struct server *s = c->server;
    env_timer_stop(s->env, &rq->timer);
    list_remove(&rq->link);
    c->n_requests--;
    if (!rq->ready)
        c->n_open--;
    c->frame_bytes -= t->frame_bytes;
    count_reply(t, 0);
    slot_clear(t);
    if (s->n_pool >= SERVER_POOL) {
        slot_free(t);
        return;
    }
    list_push_front(&s->pool, &t->pool);
    s->n_pool++;
}

/* ---- composing ---- */

static void drop_tails(struct request *rq)
{
    for (int i = 0; i < rq->n_tail; i++)
        block_unref(rq->tail_blocks[i]);
    rq->n_tail = 0;
}

void reply_begin(struct request *rq)
{
    struct slot *t = slot_of(rq);
    CHECK(!t->sending);
    if (rq->ready) {
        rq->ready = false;
        rq->conn->n_open++;
        count_reply(t, 0);
    }
    drop_tails(rq);
    buf_reset(&rq->out);
    (void)wire_put_i32(&rq->out, 0);
    int rc = wire_response_header_put(&rq->out, rq->key, rq->version, rq->header.correlation_id);
    if (rc && !rq->out.failed)
        rq->out.failed = rc; /* compose() finds it */
}

void reply_body(struct request *rq, const struct wire_desc *d, const void *m)
{
    reply_begin(rq);
    int rc = wire_encode(d, m, &rq->out, rq->version);
    if (rc && !rq->out.failed)
        rq->out.failed = rc;
}

static void finish(struct request *rq)
{
    struct slot *t = slot_of(rq);
    CHECK(!rq->ready);
    rq->ready = true;
    rq->canceled = NULL;
    t->answered = true;
    rq->conn->n_open--;
    conn_touch(rq->conn);
}

static void compose(struct request *rq)
{
    struct slot *t = slot_of(rq);
    size_t n = rq->out.n;
    for (int i = 0; i < rq->n_tail; i++)
        n += rq->tail[i].n;
    if (rq->out.failed || n - 4 > INT32_MAX) {
        /* A reply that cannot be built: the peer learns it by losing the connection. */
        int rc = rq->out.failed;
        drop_tails(rq);
        buf_reset(&rq->out);
        finish(rq);
        conn_fail(rq->conn, rq,
                  rc == -ERR_UNSUPPORTED ? "the answer does not exist in this version"
                                         : "the answer is too large");
        return;
    }
    put_be32(rq->out.p, (uint32_t)(n - 4));
    count_reply(t, n);
    finish(rq);
}

void reply_end_at(struct request *rq, uint64_t lsn)
{
    rq->lsn = lsn;
    compose(rq);
}

void reply_end(struct request *rq)
{
    reply_end_at(rq, rq->lsn ? rq->lsn : broker_lsn(rq->broker));
}

void reply_end_now(struct request *rq)
{
    reply_end_at(rq, 0);
}

void reply_none(struct request *rq)
{
    if (rq->ready)
        return;
    drop_tails(rq);
    buf_reset(&rq->out);
    rq->lsn = 0;
    finish(rq);
}

void reply_close(struct request *rq, const char *why)
{
    reply_none(rq);
    conn_fail(rq->conn, rq, why);
}

/* ---- sending ---- */

static uint32_t n_pieces(const struct request *rq)
{
    return rq->out.n ? 2 * (uint32_t)rq->n_tail + 1 : 0;
}

static struct slice piece(const struct request *rq, uint32_t i)
{
    uint32_t k = i / 2;
    if (i & 1)
        return rq->tail[k];
    size_t from = k ? rq->tail_at[k - 1] : 0;
    size_t to = k < (uint32_t)rq->n_tail ? rq->tail_at[k] : rq->out.n;
    return slice_of(rq->out.p + from, to - from);
}

static bool may_leave(const struct conn *c, const struct request *rq, uint64_t durable)
{
    if (!rq->ready || c->server->halted)
        return false;
    return rq->lsn <= durable;
}

/* Fills iov from the first request on; counts what of the requests it holds. */
static int gather(struct conn *c, uint64_t durable)
{
    uint32_t i = c->piece;
    int n = 0;
    c->send_requests = 0;
    c->send_pieces = 0;
    LIST_EACH (l, &c->requests) {
        struct request *rq = list_entry(l, struct request, link);
        if (!may_leave(c, rq, durable))
            break;
        uint32_t end = n_pieces(rq);
        env_timer_stop(c->server->env, &rq->timer);
        slot_of(rq)->sending = true;
        for (; i < end && n < CONN_IOV; i++) {
            struct slice s = piece(rq, i);
            if (s.n)
                c->iov[n++] = s;
        }
        if (i < end) {
            c->send_pieces = i;
            break;
        }
        c->send_requests++;
        i = 0;
    }
    return n;
}

static void sent(struct conn *c)
{
    for (; c->send_requests; c->send_requests--)
        request_free(list_entry(list_first(&c->requests), struct request, link));
    c->piece = c->send_pieces;
    c->send_pieces = 0;
}

static void send_done(struct env_op *op, int64_t res)
{
    struct conn *c = list_entry(op, struct conn, send);
    c->sending = false;
    if (res < 0) {
        conn_close(c);
        return;
    }
    c->active_at = c->server->env->now;
    sent(c);
    conn_flush(c);
    conn_work(c);
}

void conn_flush(struct conn *c)
{
    struct server *s = c->server;
    if (c->sending || c->state == CONN_CLOSING)
        return;
    for (;;) {
        struct logdir *d = broker_logdir(s->broker);
        int n = gather(c, d ? logdir_durable(d) : 0);
        if (n) {
            c->sending = true;
            c->send.done = send_done;
            env_send(&c->send, &c->stream, c->iov, n);
            return;
        }
        if (!c->send_requests)
            break;
        sent(c); /* those without a reply */
    }
    struct list *l = list_first(&c->requests);
    if (l && list_entry(l, struct request, link)->ready && !list_linked(&c->waiting))
        list_push(&s->waiting, &c->waiting);
    if (!l && (c->state == CONN_DRAINING))
        conn_close(c);
}

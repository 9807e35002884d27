/* broker/conn.c - one connection: bytes into frames, frames to handlers.
 *
 * Happy path: recv_done, take_frames: length, header, handler; the receive is armed again. A
 * frame that does not fit its block moves to one of its own, which grows with the bytes that
 * arrived. Failure: bad length, unknown API or version, a body that does not parse: conn_fail,
 * one line. The peer gone or a send that failed: requests still open are canceled, and the
 * connection's memory goes when env has given back its operations. */
#include "broker/server.h"
#include "base/check.h"
#include <stdio.h>
#include <stdlib.h>

/* ---- ends ---- */

static void drop_block(struct conn *c)
{
    c->server->receive_bytes -= c->in_large;
    c->in_large = 0;
    block_unref(c->in);
    c->in = NULL;
    c->in_pos = c->in_used = 0;
}

void conn_cancel(struct conn *c)
{
    LIST_EACH_SAFE (l, next, &c->requests) {
        struct request *rq = list_entry(l, struct request, link);
        if (slot_of(rq)->sending)
            continue;
        if (!rq->ready) {
            void (*canceled)(struct request *) = rq->canceled;
            CHECK(canceled);
            rq->canceled = NULL;
            canceled(rq);
        }
        request_free(rq);
    }
}

void conn_free(struct conn *c)
{
    struct server *s = c->server;
    env_timer_stop(s->env, &c->timer);
    list_remove(&c->link);
    list_remove(&c->dirty);
    list_remove(&c->waiting);
    s->n_conns--;
    struct list *l;
    while ((l = list_first(&c->requests)))
        request_free(list_entry(l, struct request, link));
    drop_block(c);
    free(c);
    server_gone(s);
}

static void shut_done(struct env_op *op, int64_t res)
{
    conn_free(list_entry(op, struct conn, shut));
}

void conn_close(struct conn *c)
{
    if (c->state == CONN_CLOSING)
        return;
    c->state = CONN_CLOSING;
    conn_cancel(c);
    list_remove(&c->dirty);
    list_remove(&c->waiting);
    env_timer_stop(c->server->env, &c->timer);
    c->shut.done = shut_done;
    env_shut(&c->shut, &c->stream);
}

void conn_touch(struct conn *c)
{
    if (c->state == CONN_CLOSING || list_linked(&c->dirty))
        return;
    list_push(&c->server->dirty, &c->dirty);
    env_task_add(c->server->env, &c->server->task);
}

void conn_drain(struct conn *c, uint64_t ms)
{
    if (c->state != CONN_OPEN)
        return;
    c->state = CONN_DRAINING;
    env_timer_set(c->server->env, &c->timer, c->server->env->now + ENV_MS(ms));
    conn_touch(c);
}

void conn_fail(struct conn *c, const struct request *rq, const char *why)
{
    const struct wire_api *api = rq ? wire_api(rq->key) : NULL;
    if (c->state != CONN_OPEN)
        return;
    if (rq)
        env_warn(c->server->env, "%s: %s (key %d) version %d: %s; closing the connection", c->peer,
                 api ? api->name : "unknown API", rq->key, rq->version, why);
    else
        env_warn(c->server->env, "%s: %s; closing the connection", c->peer, why);
    conn_drain(c, CONN_DRAIN_MS);
}

static void timer_fired(struct env_timer *t)
{
    struct conn *c = list_entry(t, struct conn, timer);
    struct env *env = c->server->env;
    uint64_t due = c->active_at + ENV_MS((uint64_t)c->server->idle_ms);
    if (c->state == CONN_OPEN && !c->eof && due > env->now) { /* heard of since */
        env_timer_set(env, t, due);
        return;
    }
    conn_close(c);
}

/* ---- requests ---- */

/* Why a frame is refused before its handler sees it; NULL: it is not. */
static const char *admit(struct request *rq, struct api_entry *api)
{
    int rc = wire_request_header(&rq->header, &rq->in);
    rq->key = rq->header.request_api_key;
    rq->version = rq->header.request_api_version;
    if (rc == -ERR_UNSUPPORTED)
        return wire_api(rq->key) ? "this version is not supported" : "no such API";
    if (rc)
        return "the header does not parse";
    if (rq->key < 0 || rq->key >= SERVER_API_KEYS || !api[rq->key].handler)
        return "no such API";
    /* ApiVersions answers any version itself. */
    if (rq->key == 18)
        return NULL;
    if (rq->version < api[rq->key].min || rq->version > api[rq->key].max)
        return "this version is not supported";
    return NULL;
}

static const char *cause(int rc)
{
    switch (-rc) {
    case ERR_SHORT: return "the body ends too early";
    case ERR_INVALID: return "the body does not parse";
    case ERR_UNSUPPORTED: return "this version is not supported";
    case ERR_TOO_BIG: return "the body asks for too much memory";
    default: return err_text(rc);
    }
}

/* False: the connection takes no further frame. */
static bool handle(struct conn *c, struct slice body)
{
    struct server *s = c->server;
    struct request *rq = request_new(c);
    if (!rq) {
        conn_fail(c, NULL, "out of memory");
        return false;
    }
    struct slot *t = slot_of(rq);
    rq->frame = block_ref(c->in);
    t->frame_bytes = body.n;
    c->frame_bytes += body.n;
    /* The densest array is Fetch's, of 16 bytes a partition against some 250 in memory. */
    t->arena.max = 32 * body.n;
    if (t->arena.max < 1 << 20)
        t->arena.max = 1 << 20;
    if (t->arena.max > 64 << 20)
        t->arena.max = 64 << 20;
    rq->in.p = body.p;
    rq->in.n = body.n;
    rq->client_host = c->host;
    const char *why = admit(rq, s->apis);
    int rc = why ? -ERR_INVALID : 0;
    if (!why) {
        rq->client_id = rq->header.client_id;
        rc = s->apis[rq->key].handler(rq);
    }
    if (rc) {
        /* The handler did not answer and does not keep the request. */
        conn_fail(c, rq, why ? why : cause(rc));
        if (!rq->ready)
            reply_none(rq);
    }
    return c->state == CONN_OPEN;
}

static bool may_take(const struct conn *c)
{
    return c->state == CONN_OPEN && !c->server->stopping && c->n_open == 0 &&
           c->n_requests < CONN_REQUESTS_MAX && c->frame_bytes < CONN_FRAME_BYTES_MAX &&
           c->reply_bytes < CONN_REPLY_BYTES_MAX;
}

static void take_frames(struct conn *c)
{
    while (may_take(c) && c->in_used - c->in_pos >= 4) {
        const unsigned char *p = c->in->bytes + c->in_pos;
        int32_t n = (int32_t)get_be32(p);
        if (n <= 0 || n > c->server->frame_bytes_max) {
            char why[80];
            snprintf(why, sizeof why, "a frame of %d bytes (socket.request.max.bytes is %d)", n,
                     (int)c->server->frame_bytes_max);
            conn_fail(c, NULL, why);
            return;
        }
        if (c->in_used - c->in_pos - 4 < (size_t)n)
            return;
        c->in_pos += 4 + (size_t)n;
        if (!handle(c, slice_of(p + 4, (size_t)n)))
            return;
    }
}

/* ---- receiving ---- */

/* The whole size of the frame that begins at in_pos; 0 when its length is not there yet. A bad
 * length is for take_frames. */
static size_t frame_size(const struct conn *c)
{
    if (!c->in || c->in_used - c->in_pos < 4)
        return 0;
    int32_t n = (int32_t)get_be32(c->in->bytes + c->in_pos);
    return n <= 0 || n > c->server->frame_bytes_max ? 0 : 4 + (size_t)n;
}

static int move_to(struct conn *c, size_t cap)
{
    size_t have = c->in_used - c->in_pos, large = cap > CONN_BLOCK ? cap : 0;
    if (c->server->receive_bytes - c->in_large + large > SERVER_RECEIVE_BYTES_MAX)
        return -ERR_LIMIT;
    struct block *b = block_new(cap);
    if (!b)
        return -ERR_NOMEM;
    if (have)
        memcpy(b->bytes, c->in->bytes + c->in_pos, have);
    drop_block(c);
    c->in = b;
    c->in_used = have;
    c->in_large = large;
    c->server->receive_bytes += large;
    return 0;
}

/* A large frame gets its own block: whole when it is not too large, else twice what is there. */
static int make_room_large(struct conn *c, size_t size)
{
    size_t have = c->in_used - c->in_pos, cap = have * 2;
    if (c->in->cap - c->in_pos >= size || (c->in_large && c->in_used < c->in->cap))
        return 1;
    if (cap < CONN_FRAME_EAGER)
        cap = CONN_FRAME_EAGER;
    int rc = move_to(c, cap < size ? cap : size);
    return rc ? rc : 1;
}

/* Room for more bytes: 1 there is, 0 not now (frames wait to be taken), or negative. */
static int make_room(struct conn *c)
{
    size_t have = c->in_used - c->in_pos, size = frame_size(c);
    if (c->in && have == 0) {
        if (c->in_large)
            drop_block(c);
        else if (c->in->refs == 1)
            c->in_pos = c->in_used = 0;
    }
    if (c->in && size && size <= have)
        return c->in_used < c->in->cap;
    if (size > CONN_BLOCK)
        return make_room_large(c, size);
    if (c->in && c->in->cap - c->in_pos >= (size ? size : CONN_BLOCK_REST))
        return 1;
    int rc = move_to(c, CONN_BLOCK);
    return rc ? rc : 1;
}

static void recv_done(struct env_op *op, int64_t res);

/* While draining: read and forget, so that closing does not reset what the peer has still to
 * read. */
static int make_room_to_forget(struct conn *c)
{
    if (c->in && c->in->refs > 1)
        drop_block(c);
    c->in_pos = c->in_used = 0;
    return c->in ? 1 : make_room(c);
}

static void receive(struct conn *c)
{
    if (c->receiving || c->eof || c->state == CONN_CLOSING)
        return;
    int rc = c->state == CONN_DRAINING ? make_room_to_forget(c) : make_room(c);
    if (rc < 0) {
        conn_fail(c, NULL, rc == -ERR_LIMIT ? "too many large frames under way" : "out of memory");
        return;
    }
    if (!rc)
        return;
    c->receiving = true;
    c->recv.done = recv_done;
    env_recv(&c->recv, &c->stream,
             (struct span){c->in->bytes + c->in_used, c->in->cap - c->in_used});
}

static void recv_done(struct env_op *op, int64_t res)
{
    struct conn *c = list_entry(op, struct conn, recv);
    c->receiving = false;
    if (c->state == CONN_CLOSING)
        return;
    if (res < 0) {
        conn_close(c);
        return;
    }
    if (res == 0) {
        /* Whoever only ends his half still gets what he waits for, if it comes soon. */
        c->eof = true;
        if (c->state == CONN_OPEN)
            env_timer_set(c->server->env, &c->timer, c->server->env->now + ENV_MS(CONN_EOF_MS));
        conn_touch(c);
        return;
    }
    c->active_at = c->server->env->now;
    c->in_used += (size_t)res;
    conn_work(c);
}

void conn_work(struct conn *c)
{
    if (c->processing || c->state == CONN_CLOSING)
        return;
    c->processing = true;
    if (c->in)
        take_frames(c);
    if (c->eof && c->n_open == 0 && may_take(c))
        conn_drain(c, CONN_DRAIN_MS); /* no whole frame is left */
    receive(c);
    c->processing = false;
}

/* ---- accepting ---- */

static bool accept_one(struct server *s)
{
    struct conn *c = calloc(1, sizeof *c);
    if (!c)
        return false;
    int rc = s->env->vt->accept(&s->listener, &c->stream);
    if (rc) {
        if (rc != -ERR_AGAIN)
            env_warn(s->env, "a connection was not accepted: %s", err_text(rc));
        free(c);
        return false;
    }
    c->server = s;
    c->stream.user = c;
    c->timer.fire = timer_fired;
    list_init(&c->requests);
    if (s->env->vt->address(&c->stream, 1, c->peer, sizeof c->peer))
        snprintf(c->peer, sizeof c->peer, "unknown:0");
    char *colon = strrchr(c->peer, ':');
    c->host = slice_of(c->peer, colon ? (size_t)(colon - c->peer) : strlen(c->peer));
    list_push(&s->conns, &c->link);
    s->n_conns++;
    c->active_at = s->env->now;
    if (s->idle_ms > 0)
        env_timer_set(s->env, &c->timer, s->env->now + ENV_MS((uint64_t)s->idle_ms));
    if (s->stopping)
        conn_close(c);
    else
        receive(c);
    return true;
}

void conn_accept(struct server *s)
{
    while (accept_one(s))
        ;
}

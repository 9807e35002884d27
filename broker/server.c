/* broker/server.c - listens, keeps the connections, looks at those with something to do once a
 * turn.
 *
 * Stop: server_stop ends what comes in and drops what is parked; when the log is closed,
 * server_close sends what is composed, for CONN_STOP_MS at most, and closes everything. */
#include "broker/server.h"
#include "base/check.h"
#include "broker/internal.h"
#include <stdio.h>
#include <stdlib.h>

static void run(struct env_task *t)
{
    struct server *s = list_entry(t, struct server, task);
    struct list *l;
    while ((l = list_first(&s->dirty))) {
        struct conn *c = list_entry(l, struct conn, dirty);
        list_remove(l);
        conn_flush(c);
        conn_work(c);
    }
}

static void stop_late(struct env_timer *t)
{
    struct server *s = list_entry(t, struct server, stop_timer);
    LIST_EACH_SAFE (l, next, &s->conns) {
        conn_close(list_entry(l, struct conn, link));
    }
}

void server_init(struct server *s, struct broker *b, struct env *env)
{
    s->broker = b;
    s->env = env;
    list_init(&s->conns);
    list_init(&s->dirty);
    list_init(&s->waiting);
    list_init(&s->pool);
    s->task.run = run;
    s->stop_timer.fire = stop_late;
    s->frame_bytes_max = 100 << 20;
    s->idle_ms = 600000;
}

static void ready(struct env_stream *l)
{
    conn_accept(list_entry(l, struct server, listener));
}

int server_listen(struct server *s, const char *addr, struct err *e)
{
    int rc = s->env->vt->listen(s->env, &s->listener, addr, ready);
    if (rc)
        return err_set(e, -rc, "listen on %s: %s", addr,
                       rc == -ERR_INVALID     ? "the form is HOST:PORT, port 0 is any"
                       : rc == -ERR_NOT_FOUND ? "no address of this machine"
                                              : err_text(rc));
    s->listening = true;
    if (s->env->vt->address(&s->listener, 0, s->bound, sizeof s->bound))
        snprintf(s->bound, sizeof s->bound, "%s", addr);
    return 0;
}

void server_durable(struct server *s, uint64_t lsn)
{
    struct list *l;
    while ((l = list_first(&s->waiting))) {
        struct conn *c = list_entry(l, struct conn, waiting);
        list_remove(l);
        conn_touch(c);
    }
}

void server_gone(struct server *s)
{
    if (s->n_conns || s->listening || !s->done)
        return;
    void (*done)(void *) = s->done;
    s->done = NULL;
    env_timer_stop(s->env, &s->stop_timer);
    done(s->user);
}

static void listener_gone(struct env_op *op, int64_t res)
{
    struct server *s = list_entry(op, struct server, listener_shut);
    s->listening = false;
    server_gone(s);
}

void server_stop(struct server *s)
{
    if (s->stopping)
        return;
    s->stopping = true;
    if (s->listening) {
        s->listener_shut.done = listener_gone;
        env_shut(&s->listener_shut, &s->listener);
    }
    LIST_EACH (l, &s->conns) {
        struct conn *c = list_entry(l, struct conn, link);
        struct list *last = c->requests.prev;
        if (last == &c->requests || c->state == CONN_CLOSING)
            continue;
        /* At most the last one is open: no frame is taken behind it. */
        struct request *rq = list_entry(last, struct request, link);
        if (rq->ready)
            continue;
        void (*canceled)(struct request *) = rq->canceled;
        CHECK(canceled);
        rq->canceled = NULL;
        canceled(rq);
        request_free(rq);
    }
}

void server_close(struct server *s, void (*done)(void *user), void *user)
{
    CHECK(s->stopping);
    s->done = done;
    s->user = user;
    env_timer_set(s->env, &s->stop_timer, s->env->now + ENV_MS(CONN_STOP_MS));
    LIST_EACH (l, &s->conns) {
        struct conn *c = list_entry(l, struct conn, link);
        if (c->state == CONN_OPEN)
            conn_drain(c, CONN_STOP_MS);
        else
            conn_touch(c);
    }
    server_gone(s);
}

void server_free(struct server *s)
{
    s->done = NULL;
    LIST_EACH_SAFE (l, next, &s->conns) {
        conn_cancel(list_entry(l, struct conn, link));
    }
    struct list *l;
    while ((l = list_first(&s->conns)))
        conn_free(list_entry(l, struct conn, link));
    while ((l = list_first(&s->pool))) {
        struct slot *t = list_entry(l, struct slot, pool);
        list_remove(l);
        slot_free(t);
    }
    env_task_stop(&s->task);
    env_timer_stop(s->env, &s->stop_timer);
}

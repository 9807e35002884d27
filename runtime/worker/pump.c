/* runtime/worker/pump.c - takes records from the fetcher, runs them, and passes their outputs on.
 *
 * A record is current from the moment it is taken until its outputs are with the producer: then its
 * input's position moves and the cycle is told. A failed record is retried, then stops the job, is
 * skipped or goes to the dead letter topic. Some records a turn, so that the loop stays
 * responsive. */
#include "runtime/worker/worker_internal.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { IDLE_MS = 30, RECORDS_A_TURN = 512, POLL_RECORDS = 500, HEADERS_MAX = 1 << 20 };
#define BACKOFF_SHIFT_MAX 10

/* ---- at_most_once: a queue of copies ---- */

static int copy_slice(struct buf *b, struct slice s, uint32_t *at)
{
    *at = (uint32_t)b->n;
    return s.p ? buf_put_slice(b, s) : 0;
}

static int polled_add(struct polled *q, const struct fetched *r, struct task *t,
                      struct task_input *in)
{
    struct polled_record *p;

    if (q->n == q->cap) {
        uint32_t cap = q->cap ? q->cap * 2 : 64;
        p = realloc(q->v, cap * sizeof *p);
        if (!p)
            return -ERR_NOMEM;
        q->v = p;
        q->cap = cap;
    }
    p = &q->v[q->n];
    *p = (struct polled_record){.r = *r, .task = t, .input = in};
    if (copy_slice(&q->bytes, r->key, &p->key_at) ||
        copy_slice(&q->bytes, r->value, &p->value_at) ||
        copy_slice(&q->bytes, r->headers, &p->headers_at))
        return -ERR_NOMEM;
    q->n++;
    return 0;
}

static void rebase(struct slice *s, const struct buf *b, uint32_t at)
{
    if (s->p)
        s->p = (s->n ? b->p : (const unsigned char *)"") + (s->n ? at : 0);
}

static bool polled_take(struct worker *w)
{
    struct polled *q = &w->polled;
    struct polled_record *p;

    if (q->at == q->n)
        return false;
    p = &q->v[q->at++];
    w->current = (struct current){.active = true, .r = p->r, .task = p->task, .input = p->input};
    rebase(&w->current.r.key, &q->bytes, p->key_at);
    rebase(&w->current.r.value, &q->bytes, p->value_at);
    rebase(&w->current.r.headers, &q->bytes, p->headers_at);
    return true;
}

/* ---- taking ---- */

static void fetch_failed(struct worker *w, int res, const struct err *e)
{
    env_warn(w->env, "reading failed, going back to what is committed: %s", e->text);
    if (res == -ERR_CORRUPT || res == -ERR_NOT_FOUND)
        worker_fail(w, 3, "%s", e->text);
    else
        worker_event(w, CYCLE_EV_FAILED, res);
}

/* 1: w->current is set; 0: nothing at hand. */
static int take_fetched(struct worker *w, struct fetched *r)
{
    struct err e = {0};

    for (;;) {
        int res = fetcher_next(w->fetcher, r, &e);
        struct task *t;

        if (res < 0) {
            fetch_failed(w, res, &e);
            return 0;
        }
        if (res == 0)
            return 0;
        t = r->user;
        if (t->state == TASK_RUNNING)
            return 1;
    }
}

static bool take(struct worker *w)
{
    struct fetched r;

    if (!take_fetched(w, &r))
        return false;
    w->current = (struct current){.active = true, .r = r, .task = r.user};
    w->current.input = task_input(w->current.task, r.topic);
    CHECK(w->current.input != NULL);
    return true;
}

/* at_most_once: polls a number of records; their offsets are committed before the first is
 * processed. */
static void poll_ahead(struct worker *w)
{
    struct polled *q = &w->polled;
    struct fetched r;

    q->n = q->at = 0;
    buf_reset(&q->bytes);
    while (q->n < POLL_RECORDS && take_fetched(w, &r)) {
        struct task *t = r.user;
        struct task_input *in = task_input(t, r.topic);
        if (polled_add(q, &r, t, in)) {
            worker_fail(w, 3, "out of memory");
            return;
        }
        in->next = r.offset + 1;
        t->touched = true;
    }
    if (q->n)
        worker_event(w, CYCLE_EV_POLLED, 0);
    else
        worker_event(w, CYCLE_EV_DRAINED, 0);
}

/* ---- a record's end ---- */

/* Gives the outbox to the producer: 0, or -ERR_LIMIT and the like. */
static int send_outputs(struct worker *w)
{
    struct outbox *o = &w->outbox;

    if (o->n && w->guarantee == UDF_EXACTLY_ONCE && !producer_in_txn(w->producer)) {
        int rc = producer_begin(w->producer);
        if (rc)
            return rc;
    }
    for (; o->sent < o->n; o->sent++) {
        const struct out_record *v = &o->v[o->sent];
        struct producer_record r = {.topic = v->topic,
                                    .partition = v->partition,
                                    .timestamp = v->time,
                                    .key = outbox_slice(o, v->key_at, v->key_n),
                                    .value = outbox_slice(o, v->value_at, v->value_n),
                                    .headers = outbox_slice(o, v->headers_at, v->headers_n),
                                    .n_headers = v->n_headers};
        int rc = producer_send(w->producer, &r);
        if (rc)
            return rc;
    }
    return 0;
}

static void finish_record(struct worker *w)
{
    struct current *c = &w->current;
    uint64_t bytes = w->outbox.bytes.n + c->r.key.n + c->r.value.n;
    struct task *t = c->task;

    if (w->guarantee != UDF_AT_MOST_ONCE)
        c->input->next = c->r.offset + 1;
    t->touched = true;
    w->stats.records++;
    w->stats.outputs += w->outbox.n;
    c->active = false;
    worker_event_bytes(w, CYCLE_EV_WORK, bytes);
}

int pump_finish(struct worker *w)
{
    int rc;

    if (!w->current.active || !w->current.done)
        return 0;
    rc = send_outputs(w);
    if (rc == 0)
        finish_record(w);
    else if (rc == -ERR_TOO_BIG)
        worker_fail(w, 3, "an output of record %.*s[%d]@%" PRId64 " is too large to be sent",
                    SLICE_FMT(w->current.r.topic), w->current.r.partition, w->current.r.offset);
    return rc;
}

/* False: wait (for room, or for the cycle to recover). */
static bool pass_on(struct worker *w)
{
    int rc = pump_finish(w);

    if (rc == -ERR_LIMIT && !cycle_dirty(&w->cycle))
        worker_event_bytes(w, CYCLE_EV_WORK, 0); /* a part of it is in the transaction */
    else if (rc && rc != -ERR_LIMIT && rc != -ERR_TOO_BIG)
        worker_event(w, CYCLE_EV_FAILED, rc);
    return rc == 0;
}

/* ---- failures ---- */

static int put_header(struct buf *b, int32_t *n, const char *name, struct slice value)
{
    unsigned char v[10];

    buf_put(b, v, (size_t)put_varint(v, (int64_t)strlen(name)));
    buf_put(b, name, strlen(name));
    buf_put(b, v, (size_t)put_varint(v, value.p ? (int64_t)value.n : -1));
    ++*n;
    return value.p ? buf_put_slice(b, value) : b->failed;
}

static int put_number(struct buf *b, int32_t *n, const char *name, int64_t value)
{
    char text[24];

    snprintf(text, sizeof text, "%" PRId64, value);
    return put_header(b, n, name, slice_str(text));
}

/* The record as it came, with what happened in headers, in the same transaction. */
static int dead_letter(struct worker *w, const struct udf_failure *f)
{
    struct current *c = &w->current;
    struct job_topic *to = worker_topic(w, w->job->dead_letter);
    int32_t n = c->r.n_headers;
    struct buf h;
    int rc;

    CHECK(to != NULL);
    buf_init(&h, HEADERS_MAX + c->r.headers.n);
    buf_put_slice(&h, c->r.headers);
    put_header(&h, &n, "once.error", f->message);
    put_header(&h, &n, "once.where", f->where);
    put_header(&h, &n, "once.reason", f->reason.p ? f->reason : f->text);
    if (f->details.p)
        put_header(&h, &n, "once.details", f->details);
    if (f->traceback.n)
        put_header(&h, &n, "once.traceback", f->traceback);
    put_header(&h, &n, "once.topic", c->r.topic);
    put_number(&h, &n, "once.partition", c->r.partition);
    put_number(&h, &n, "once.offset", c->r.offset);
    put_header(&h, &n, "once.job", w->job->name);
    rc = put_number(&h, &n, "once.job.version", w->job->version);
    outbox_clear(&w->outbox);
    if (!rc)
        rc = outbox_add(&w->outbox, to->name, c->r.partition % to->partitions, c->r.timestamp,
                        c->r.key, c->r.value, buf_slice(&h), n);
    buf_deinit(&h);
    if (!rc)
        w->stats.dead_letters++;
    return rc;
}

/* Commits what came before the record, then stops with its message. */
static void stop_at_record(struct worker *w, const struct udf_failure *f)
{
    struct slice m = f->message.n ? f->message : f->text;

    snprintf(w->why, sizeof w->why, "%.*s%s%.*s", SLICE_FMT(m), f->traceback.n ? "\n" : "",
             SLICE_FMT(f->traceback));
    w->exit_code = 3;
    if (w->guarantee ==
        UDF_AT_MOST_ONCE) { /* committed as taken already, with all polled behind it */
        pump_forget(w, NULL);
        worker_event(w, CYCLE_EV_TAKEN, 0);
    }
    worker_event(w, CYCLE_EV_STOP, 0); /* the record stays current: its input stops before it */
}

static void by_policy(struct worker *w, const struct udf_failure *f)
{
    switch (w->job->on_error) {
    case UDF_STOP: stop_at_record(w, f); return;
    case UDF_SKIP:
        env_warn(w->env, "record skipped: %.*s", SLICE_FMT(f->message));
        w->stats.skipped++;
        w->current.done = true;
        return;
    case UDF_DEAD_LETTER:
        env_warn(w->env, "record goes to %.*s: %.*s", SLICE_FMT(w->job->dead_letter),
                 SLICE_FMT(f->message));
        if (dead_letter(w, f))
            worker_fail(w, 3, "out of memory for a dead letter");
        w->current.done = true;
        return;
    }
}

static void host_failed(struct worker *w, const struct udf_failure *f)
{
    struct task *t = w->current.task;
    struct err e = {0};

    if (f->host_code == -ERR_NOT_FOUND) { /* an output topic that is being looked up */
        w->current.waiting = true;
        return;
    }
    env_error(w->env, "task %d/%d: %s: %.*s", t->group, t->partition, err_text(f->host_code),
              SLICE_FMT(f->message));
    if (f->host_code == -ERR_CORRUPT && !t->committing && task_discard_store(t, &e))
        worker_fail_err(w, -e.code, &e);
    w->current.active = false;
    worker_event(w, CYCLE_EV_FAILED, f->host_code);
}

static void retry_later(struct worker *w)
{
    int shift = w->current.attempt < BACKOFF_SHIFT_MAX ? w->current.attempt : BACKOFF_SHIFT_MAX;

    w->current.attempt++;
    w->current.waiting = true;
    env_timer_set(w->env, &w->retry_timer,
                  w->env->now + (ENV_MS(w->job->retries_backoff_ms) << shift));
}

static void run_current(struct worker *w)
{
    struct current *c = &w->current;
    struct udf_failure f = {0};

    switch (task_process(c->task, &c->r, c->input, c->attempt, &f)) {
    case UDF_OK:
        c->done = true;
        if (w->o.on_processed) {
            struct udf_record rec = {.topic = c->input->declared,
                                     .partition = c->r.partition,
                                     .offset = c->r.offset,
                                     .time = c->r.timestamp,
                                     .key = c->r.key,
                                     .value = c->r.value};
            w->o.on_processed(w->o.user, c->task->group, c->task->partition, &rec);
        }
        return;
    case UDF_HOST: host_failed(w, &f); return;
    case UDF_REJECTED:
    case UDF_ERROR:
    case UDF_TIME:
    case UDF_MEMORY: break;
    }
    if (c->attempt < w->job->retries_n)
        retry_later(w);
    else
        by_policy(w, &f);
}

/* ---- the pump ---- */

static void retry_due(struct env_timer *timer)
{
    struct worker *w = list_entry(timer, struct worker, retry_timer);

    w->current.waiting = false;
    worker_pump(w);
}

void pump_again(struct worker *w)
{
    if (!w->retry_timer.slot)
        w->current.waiting = false;
    worker_pump(w);
}

static void next_turn(struct env_timer *timer)
{
    struct worker *w = list_entry(timer, struct worker, pump_timer);

    worker_pump(w);
    env_task_add(w->env, &w->restore_turn);
}

/* Nothing comes, but markers and aborted batches were passed: that is progress too, and is
 * committed, so that whoever asks sees the group at the end (EO-42). */
static void commit_idle(struct env_timer *timer)
{
    struct worker *w = list_entry(timer, struct worker, idle_timer);
    bool moved = false;

    if (cycle_dirty(&w->cycle) || !cycle_may_process(&w->cycle) || w->current.active)
        return;
    LIST_EACH (it, &w->tasks) {
        struct task *t = list_entry(it, struct task, link);
        for (int i = 0; t->state == TASK_RUNNING && i < t->n_inputs; i++) {
            int64_t pos = fetcher_position(w->fetcher, t->inputs[i].topic, t->partition);
            if (pos <= t->inputs[i].committed)
                continue;
            moved = t->touched = true;
            if (w->guarantee == UDF_AT_MOST_ONCE)
                t->inputs[i].next = pos;
        }
    }
    if (moved && w->guarantee == UDF_AT_MOST_ONCE) /* offsets come before the work there */
        worker_event(w, CYCLE_EV_POLLED, 0);
    else if (moved) {
        worker_event_bytes(w, CYCLE_EV_WORK, 0);
        worker_event(w, CYCLE_EV_DRAINED, 0);
    }
}

static void pump_task(struct env_task *task)
{
    pump_run(list_entry(task, struct worker, pump));
}

void pump_init(struct worker *w)
{
    w->pump.run = pump_task;
    w->pump_timer.fire = next_turn;
    w->retry_timer.fire = retry_due;
    w->idle_timer.fire = commit_idle;
    buf_init(&w->polled.bytes, 256u << 20);
}

void pump_free(struct worker *w)
{
    buf_deinit(&w->polled.bytes);
    free(w->polled.v);
    w->polled.v = NULL;
}

void pump_forget(struct worker *w, struct task *t)
{
    pump_leave(w);
    if (!t || w->current.task == t) {
        w->current = (struct current){0};
        outbox_clear(&w->outbox);
        env_timer_stop(w->env, &w->retry_timer);
    }
    if (!t)
        w->polled.n = w->polled.at = 0;
    for (uint32_t i = w->polled.at; i < w->polled.n; i++)
        if (w->polled.v[i].task == t) {
            memmove(&w->polled.v[i], &w->polled.v[i + 1],
                    (w->polled.n - i - 1) * sizeof w->polled.v[0]);
            w->polled.n--;
            i--;
        }
}

static bool have_current(struct worker *w)
{
    if (w->current.active)
        return true;
    if (w->guarantee != UDF_AT_MOST_ONCE)
        return take(w);
    if (polled_take(w))
        return true;
    if (w->cycle.holding)
        worker_event(w, CYCLE_EV_TAKEN, 0);
    return false;
}

void pump_leave(struct worker *w)
{
    if (w->entered && w->entered->udf)
        udf_task_leave(w->entered->udf);
    w->entered = NULL;
}

static void enter(struct worker *w, struct task *t)
{
    if (w->entered == t)
        return;
    pump_leave(w);
    w->entered = t;
    udf_task_enter(t->udf);
}

/* True: there may be more to do at once. */
static bool step(struct worker *w)
{
    if (!have_current(w)) {
        if (!cycle_may_process(&w->cycle))
            return false;
        if (w->guarantee == UDF_AT_MOST_ONCE)
            poll_ahead(w);
        else
            worker_event(w, CYCLE_EV_DRAINED, 0);
        if (!cycle_dirty(&w->cycle))
            env_timer_set(w->env, &w->idle_timer, w->env->now + ENV_MS(IDLE_MS));
        return false;
    }
    if (w->current.waiting)
        return false;
    if (!w->current.done) {
        if (env_point(w->env, "after_poll"))
            return false;
        enter(w, w->current.task);
        run_current(w);
        if (env_point(w->env, "after_process"))
            return false;
    }
    return w->current.active && w->current.done && pass_on(w);
}

void pump_run(struct worker *w)
{
    int n = 0;

    while (n < RECORDS_A_TURN && !w->env->dead && cycle_may_process(&w->cycle) && step(w))
        n++;
    pump_leave(w);
    if (n == RECORDS_A_TURN && !w->stopped)
        env_timer_set(w->env, &w->pump_timer, w->env->now);
}

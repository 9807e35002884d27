/* runtime/worker/worker.c - the worker's life: open, start, run the cycle's effects, stop.
 *
 * Start: identity -> client -> topics -> producer id (which ends what a ghost of this slot left
 * open) -> group. Stop: commit, mark stores clean, leave the group. Failure: worker_fail keeps the
 * first reason; what is committed stays. */
#include "runtime/worker/worker_internal.h"
#include <stdio.h>
#include <stdlib.h>

enum {
    OUTBOX_BYTES_MAX = 256 << 20,
    TEXT_MAX = 1 << 20,
    SYNC_MS = 5000,
    FETCH_WAIT_MS = 500,
    HEARTBEAT_MS = 300, /* a rebalance is noticed by it */
    HEARTBEAT_FOREIGN_MS = 1000
};

static void apply(struct worker *w, unsigned fx);

void worker_pump(struct worker *w)
{
    if (!w->stopped && w->fetcher)
        env_task_add(w->env, &w->pump);
}

static void rearm(struct worker *w)
{
    uint64_t due = cycle_due(&w->cycle);

    if (due == UINT64_MAX)
        env_timer_stop(w->env, &w->cycle_timer);
    else
        env_timer_set(w->env, &w->cycle_timer, due);
}

static void step(struct worker *w, struct cycle_event ev)
{
    if (w->stopped || w->env->dead)
        return;
    w->effects |= cycle_step(&w->cycle, &ev, w->env->now);
    if (w->applying) /* an effect told us: it goes on below */
        return;
    w->applying = true;
    while (w->effects && !w->stopped) {
        unsigned fx = w->effects & -w->effects; /* one at a time, in the order of their bits */
        w->effects &= ~fx;
        apply(w, fx);
    }
    w->applying = false;
    if (w->stopped)
        return;
    rearm(w);
    if (ev.kind != CYCLE_EV_WORK && ev.kind != CYCLE_EV_DRAINED)
        worker_pump(w);
}

void worker_event(struct worker *w, enum cycle_event_kind kind, int res)
{
    if (kind == CYCLE_EV_INITED || kind == CYCLE_EV_ENDED || kind == CYCLE_EV_ABORTED ||
        kind == CYCLE_EV_FLUSHED)
        w->last_res = res;
    step(w, (struct cycle_event){.kind = kind, .res = res});
}

void worker_event_bytes(struct worker *w, enum cycle_event_kind kind, uint64_t bytes)
{
    step(w, (struct cycle_event){.kind = kind, .bytes = bytes});
}

static void tick(struct env_timer *timer)
{
    worker_event(list_entry(timer, struct worker, cycle_timer), CYCLE_EV_TICK, 0);
}

/* ---- stopping ---- */

static void told_stopped(struct worker *w)
{
    if (w->o.on_stopped)
        w->o.on_stopped(w->o.user, w->exit_code, w->why);
}

static void client_closed(void *user)
{
    struct worker *w = user;

    told_stopped(w);
}

static void finish(struct worker *w)
{
    w->stopped = true;
    env_timer_stop(w->env, &w->cycle_timer);
    env_timer_stop(w->env, &w->pump_timer);
    env_timer_stop(w->env, &w->idle_timer);
    env_timer_stop(w->env, &w->retry_timer);
    env_timer_stop(w->env, &w->sync_timer);
    env_timer_stop(w->env, &w->space_timer);
    env_task_stop(&w->pump);
    env_task_stop(&w->restore_turn);
    LIST_EACH (it, &w->tasks)
        task_start_cancel(list_entry(it, struct task, link));
    if (w->client)
        client_close(w->client, client_closed, w);
    else
        told_stopped(w);
}

static void left_group(void *user)
{
    finish(user);
}

void worker_leave(struct worker *w)
{
    assign_close_all(w);
    if (w->member && w->exit_code == 0)
        member_leave(w->member, left_group, w);
    else
        finish(w);
}

static void clean_stored(struct store_commit *c, int res)
{
    struct task *t = c->user;
    struct worker *w = t->worker;

    t->committing = false;
    t->doubt |= worker_store_doubt(res);
    if (res)
        env_warn(w->env, "%s: not closed cleanly: %s", t->store->path, err_text(res));
    worker_store_over(w);
}

/* All is committed: stores get their mark of cleanness, durably. */
static void close_stores(struct worker *w)
{
    w->closing = true;
    LIST_EACH (it, &w->tasks) {
        struct task *t = list_entry(it, struct task, link);
        if (!t->store || t->state != TASK_RUNNING || t->committing)
            continue;
        w->n_storing++;
        task_store_commit(t, true);
        t->commit->done = clean_stored;
    }
    if (w->n_storing == 0)
        worker_leave(w);
}

void worker_stop(struct worker *w)
{
    if (w->stopping || w->stopped)
        return;
    w->stopping = true;
    if (w->cycle.state == CYCLE_STARTING) {
        finish(w);
        return;
    }
    worker_event(w, CYCLE_EV_STOP, 0);
}

static void failed_task(struct env_task *task)
{
    finish(list_entry(task, struct worker, fail_task));
}

void worker_fail(struct worker *w, int exit_code, const char *fmt, ...)
{
    va_list ap;

    if (w->stopped || w->failed)
        return;
    w->failed = true;
    w->stopping = true;
    w->exit_code = exit_code;
    va_start(ap, fmt);
    vsnprintf(w->why, sizeof w->why, fmt, ap);
    va_end(ap);
    w->fail_task.run = failed_task;
    env_task_add(w->env, &w->fail_task); /* not from within whoever found out */
}

void worker_fail_err(struct worker *w, int res, const struct err *e)
{
    int code = res == -ERR_REFUSED || res == -ERR_TIMEOUT || res == -ERR_RESOLVE ? 4
               : res == -ERR_BROKER || res == -ERR_FENCED                        ? 5
                                                                                 : 3;

    worker_fail(w, code, "%s", e && e->text[0] ? e->text : err_text(res));
}

/* ---- effects ---- */

static void inited(void *user, int res, const struct err *e)
{
    struct worker *w = user;
    bool starting = w->cycle.state == CYCLE_STARTING;

    if (res)
        env_warn(w->env, "no producer id: %s", e && e->text[0] ? e->text : err_text(res));
    if (res && e)
        w->last_err = *e;
    if (!res && starting)
        member_start(w->member);
    worker_event(w, CYCLE_EV_INITED, res);
}

static void apply(struct worker *w, unsigned fx)
{
    if (fx & (CYCLE_DO_DROP | CYCLE_DO_STORE | CYCLE_DO_FLUSH | CYCLE_DO_STOPPED | CYCLE_DO_ABORT))
        pump_leave(w);
    switch (fx) {
    case CYCLE_DO_INIT:
        pump_forget(w, NULL);
        producer_init_id(w->producer, inited, w);
        break;
    case CYCLE_DO_FLUSH: commit_flush(w); break;
    case CYCLE_DO_OFFSETS: commit_offsets(w); break;
    case CYCLE_DO_COMMIT: commit_end(w); break;
    case CYCLE_DO_ABORT: commit_abort(w); break;
    case CYCLE_DO_STORE: commit_store(w); break;
    case CYCLE_DO_DROP: assign_drop_all(w); break;
    case CYCLE_DO_REVOKED: member_revoked(w->member); break;
    case CYCLE_DO_PROCESS: worker_pump(w); break;
    case CYCLE_DO_STOPPED: close_stores(w); break;
    case CYCLE_DO_FATAL: worker_fail_err(w, w->last_res, &w->last_err); break;
    default: CHECK(!"an effect of one bit");
    }
}

/* ---- starting ---- */

static void fetch_ready(void *user)
{
    worker_pump(user);
}

static void restore_task(struct env_task *task)
{
    struct worker *w = list_entry(task, struct worker, restore_turn);

    if (!w->stopped)
        restore_pump(w);
}

static void restore_ready(void *user)
{
    struct worker *w = user;

    env_task_add(w->env, &w->restore_turn);
}

static void producer_room(void *user)
{
    struct worker *w = user;

    if (w->flushing)
        commit_flush_more(w);
    else
        worker_pump(w);
}

static int open_parts(struct worker *w)
{
    struct slice name = slice_str(w->id.name);
    struct producer_options po = {.transactional_id = w->guarantee == UDF_EXACTLY_ONCE ? name
                                                                                       : SLICE_NULL,
                                  .transaction_timeout_ms = w->o.transaction_timeout_ms,
                                  .user = w,
                                  .room = producer_room};
    struct fetcher_options fo = {
        .read_committed = true, .max_wait_ms = FETCH_WAIT_MS, .user = w, .ready = fetch_ready};
    struct member_options mo = {.group = w->job->name,
                                .instance = name,
                                .topics = w->subscribe,
                                .n_topics = w->n_subscribe,
                                .session_timeout_ms = w->o.session_timeout_ms,
                                .heartbeat_ms = w->cycle.o.foreign ? HEARTBEAT_FOREIGN_MS
                                                                   : HEARTBEAT_MS};
    int rc = producer_open(&w->producer, w->client, &po);

    if (!rc)
        rc = fetcher_open(&w->fetcher, w->client, &fo);
    fo.ready = restore_ready;
    if (!rc)
        rc = fetcher_open(&w->restorer, w->client, &fo);
    assign_install(w, &mo);
    return rc ? rc : member_open(&w->member, w->client, &mo);
}

void worker_topics_ready(struct worker *w)
{
    int rc;

    w->cycle.o.foreign = !client_is_once(w->client);
    rc = open_parts(w);
    if (rc) {
        worker_fail(w, 3, "cannot start: %s", err_text(rc));
        return;
    }
    producer_init_id(w->producer, inited, w);
}

static void sync_due(struct env_timer *timer)
{
    struct worker *w = list_entry(timer, struct worker, sync_timer);

    LIST_EACH (it, &w->tasks)
        list_entry(it, struct task, link)->sync_due = true;
    env_timer_set(w->env, timer, w->env->now + ENV_MS(SYNC_MS));
}

void worker_start(struct worker *w)
{
    w->stats.start_ns = w->env->now;
    env_timer_set(w->env, &w->sync_timer, w->env->now + ENV_MS(SYNC_MS));
    job_topics_setup(w);
}

int worker_open(struct worker **out, struct env *env, const struct worker_options *o, struct err *e)
{
    struct worker *w = calloc(1, sizeof *w);
    struct client_options co = {.bootstrap = o->bootstrap, .client_id = "once-worker"};
    struct cycle_options yo = {.max_ns = ENV_MS(o->job->commit_max_ms),
                               .min_ns = ENV_MS(o->job->commit_min_ms)};
    int rc;

    if (!w)
        return err_set(e, ERR_NOMEM, "out of memory");
    w->env = env;
    w->o = *o;
    w->job = o->job;
    w->guarantee = o->guarantee >= 0 ? (enum udf_guarantee)o->guarantee : o->job->guarantee;
    w->last_generation = -1;
    list_init(&w->tasks);
    map_init(&w->topics);
    map_init(&w->internals);
    buf_init(&w->offset_text, TEXT_MAX);
    buf_init(&w->polled_as_bytes, TEXT_MAX);
    outbox_init(&w->outbox, OUTBOX_BYTES_MAX);
    pump_init(w);
    w->cycle_timer.fire = tick;
    w->sync_timer.fire = sync_due;
    w->restore_turn.run = restore_task;
    yo.mode = w->guarantee == UDF_EXACTLY_ONCE    ? CYCLE_EXACTLY_ONCE
              : w->guarantee == UDF_AT_LEAST_ONCE ? CYCLE_AT_LEAST_ONCE
                                                  : CYCLE_AT_MOST_ONCE;
    cycle_init(&w->cycle, &yo);
    rc = job_topics_collect(w, e);
    if (!rc)
        rc = identity_take(&w->id, env, o->state_dir, w->job->name, e);
    if (!rc)
        rc = client_open(&w->client, env, &co, e);
    if (rc) {
        worker_free(w);
        return rc;
    }
    *out = w;
    return 0;
}

void worker_free(struct worker *w)
{
    if (!w)
        return;
    env_task_stop(&w->pump);
    env_task_stop(&w->restore_turn);
    env_task_stop(&w->fail_task);
    env_timer_stop(w->env, &w->cycle_timer);
    env_timer_stop(w->env, &w->pump_timer);
    env_timer_stop(w->env, &w->idle_timer);
    env_timer_stop(w->env, &w->retry_timer);
    env_timer_stop(w->env, &w->sync_timer);
    env_timer_stop(w->env, &w->space_timer);
    LIST_EACH_SAFE (it, tmp, &w->tasks) {
        struct task *t = list_entry(it, struct task, link);
        task_start_cancel(t);
        task_free(t);
    }
    job_topics_free(w);
    member_free(w->member);
    fetcher_free(w->fetcher);
    fetcher_free(w->restorer);
    producer_free(w->producer);
    client_free(w->client);
    commit_free(w);
    pump_free(w);
    outbox_deinit(&w->outbox);
    identity_release(&w->id);
    free(w);
}

void worker_stats(const struct worker *w, struct worker_stats *s)
{
    *s = w->stats;
    s->n_tasks = 0;
    s->running = w->assigned && !w->cycle.unassigned;
    LIST_EACH (it, &w->tasks) {
        s->n_tasks++;
        s->running &= list_entry(it, struct task, link)->state == TASK_RUNNING;
    }
}

const char *worker_identity(const struct worker *w)
{
    return w->id.name;
}

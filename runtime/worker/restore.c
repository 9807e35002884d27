/* runtime/worker/restore.c - a task from "assigned" to "running": stable offsets, then its stores.
 *
 * First the stable offsets of the inputs, then the changelogs' ends as they are now, uncommitted:
 * the restore waits until the stable offset passes them, so a decided transaction whose marker is
 * late is not missed (EO-55). A store left by an earlier run is trusted only if it is this very
 * file, of this changelog, not ahead of the offsets, not older than what compaction may have
 * dropped, and the changelog was not truncated under it; else it is discarded and rebuilt. A task
 * that restores takes no part in transactions. */
#include "runtime/worker/worker_internal.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { CHUNK_BYTES = 16 << 20, RECORDS_A_TURN = 4096, RETRY_MS = 200, BUSY_RETRY_MS = 5 };
/* Half of Kafka's delete.retention.ms, a day: a tombstone younger than that is still in the
 * changelog. */
#define STORE_AGE_MAX_MS ((int64_t)12 * 3600 * 1000)

/* One store's changelog being read. */
struct store_restore {
    struct task *task;
    int store;
    int64_t target;
    struct list_offset ask_end, ask_begin;
    struct epoch_end ask_epoch;
    bool asking_end, asking_begin, asking_epoch, reading, done;
    bool empty; /* the table is: the first chunk may be appended in order */
};
struct task_restore {
    struct task *task;
    struct store_restore *stores;
    int left;                  /* questions without an answer */
    struct list_offset *begin; /* inputs without a committed offset */
    bool *asking;
    int begin_left;
    bool loading; /* a chunk is being committed */
    bool last;    /* it is the last one */
    bool distrust;
    bool restored; /* some record was taken from a changelog */
    bool reset;    /* no input has a committed offset */
    struct env_timer retry;
};

static void fail_later(struct task *t, const char *what, int res, const struct err *e);
static void ask_changelogs(struct task *t);
static void load_chunk(struct task *t, bool last);

static void restore_free(struct task *t)
{
    struct task_restore *r = t->restore;

    if (r) {
        free(r->stores);
        free(r->begin);
        free(r->asking);
        free(r);
    }
    t->restore = NULL;
}

static struct task_restore *restore_new(struct task *t)
{
    struct task_restore *r = calloc(1, sizeof *r);

    t->restore = r;
    if (!r)
        return NULL;
    r->stores = calloc((size_t)t->n_stores + 1, sizeof *r->stores);
    r->begin = calloc((size_t)t->n_inputs + 1, sizeof *r->begin);
    r->asking = calloc((size_t)t->n_inputs + 1, sizeof *r->asking);
    r->task = t;
    if (!r->stores || !r->begin || !r->asking)
        restore_free(t);
    return t->restore;
}

static void remove_inputs(struct task *t)
{
    for (int i = 0; i < t->n_inputs; i++) {
        if (t->inputs[i].fetching && t->worker->fetcher)
            fetcher_remove(t->worker->fetcher, t->inputs[i].topic, t->partition);
        t->inputs[i].fetching = false;
    }
}

void task_start_cancel(struct task *t)
{
    struct task_restore *r = t->restore;
    struct worker *w = t->worker;

    if (w->client && t->fetching)
        admin_cancel(w->client, &t->fetch);
    if (t->fetching)
        arena_deinit(&t->fetch.arena);
    t->fetching = false;
    if (w->client)
        remove_inputs(t);
    if (!r)
        return;
    env_timer_stop(w->env, &r->retry);
    for (int i = 0; i < t->n_inputs; i++)
        if (r->asking[i] && w->client)
            admin_cancel(w->client, &r->begin[i]);
    for (int i = 0; i < t->n_stores; i++) {
        struct store_restore *s = &r->stores[i];
        if (s->asking_end && w->client)
            admin_cancel(w->client, &s->ask_end);
        if (s->asking_begin && w->client)
            admin_cancel(w->client, &s->ask_begin);
        if (s->asking_epoch && w->client)
            admin_cancel(w->client, &s->ask_epoch);
        if (s->reading && w->restorer)
            fetcher_remove(w->restorer, t->changelogs[i], t->partition);
    }
    restore_free(t);
}

static void retry_start(struct env_timer *timer)
{
    struct task_restore *r = list_entry(timer, struct task_restore, retry);

    task_start(r->task);
}

/* What may pass is tried again from the top; the rest ends the worker. */
static void fail_later(struct task *t, const char *what, int res, const struct err *e)
{
    struct worker *w = t->worker;

    if (res == -ERR_ACCESS || res == -ERR_BROKER || res == -ERR_INVALID) {
        worker_fail(w, 5, "%s: %s", what, e && e->text[0] ? e->text : err_text(res));
        return;
    }
    env_warn(w->env, "%s: %s; trying again", what, e && e->text[0] ? e->text : err_text(res));
    if (t->restore)
        env_timer_set(w->env, &t->restore->retry, w->env->now + ENV_MS(RETRY_MS));
}

/* ---- the end: the task runs ---- */

static void run(struct task *t)
{
    struct worker *w = t->worker;

    for (int i = 0; i < t->n_inputs; i++) {
        int rc = fetcher_add(w->fetcher, t->inputs[i].topic, t->partition, t->inputs[i].next, t);
        if (rc) {
            worker_fail(w, 3, "cannot read %.*s[%d]: %s", SLICE_FMT(t->inputs[i].topic),
                        t->partition, err_text(rc));
            return;
        }
        t->inputs[i].fetching = true;
    }
    /* A topic made anew; or offsets that expired or were deleted, and then it counts twice. */
    if (t->restore->reset && t->restore->restored)
        env_warn(w->env,
                 "task %d/%d: no offset is committed, but its changelog has state: the input is "
                 "read from its beginning on top of that",
                 t->group, t->partition);
    restore_free(t);
    t->state = TASK_RUNNING;
    w->stats.restores++;
    env_debug(w->env, "task %d/%d runs after %" PRIu64 " us", t->group, t->partition,
              (w->env->now - t->started_at) / 1000);
    assign_check_ready(w);
    worker_pump(w);
}

static bool all_read(const struct task *t)
{
    for (int i = 0; i < t->n_stores; i++)
        if (!t->restore->stores[i].done)
            return false;
    return true;
}

static void go_on_after_chunk(struct task *t, int res)
{
    struct task_restore *r = t->restore;

    t->committing = false;
    t->doubt |= worker_store_doubt(res);
    for (int i = 0; i < t->n_stores; i++)
        overlay_clear(&t->frozen[i]);
    if (t->close_after) {
        task_free(t);
        return;
    }
    if (t->worker->closing)
        return; /* the worker leaves when the last local commit is over */
    if (t->drop_after || !r) {
        task_start(t);
        return;
    }
    r->loading = false;
    if (res) {
        fail_later(t, t->store->path, res, NULL);
        return;
    }
    for (int i = 0; i < t->n_stores; i++)
        r->stores[i].empty = false;
    if (r->last)
        run(t);
    else
        restore_pump(t->worker);
}

static void chunk_loaded(struct store_commit *c, int res)
{
    struct task *t = c->user;
    struct worker *w = t->worker;

    go_on_after_chunk(t, res);
    worker_store_over(w);
}

static void chunk_meta(struct task *t, struct store_meta *m, bool last)
{
    struct worker *w = t->worker;

    for (int i = 0; i < t->n_stores; i++)
        if (t->changelogs[i].p) {
            int64_t pos = fetcher_position(w->restorer, t->changelogs[i], t->partition);
            if (pos > t->restore->stores[i].target)
                pos = t->restore->stores[i].target; /* what came behind it was not taken */
            if (t->restore->stores[i].reading && pos > m->changelogs[i].position)
                m->changelogs[i].position = pos;
        }
    m->n_stores = t->n_stores;
    m->stream_time = t->stream_time;
    m->wall_ms = env_wall_ms(w->env);
    m->clean = false;
    m->n_inputs = last ? t->n_inputs : 0;
    for (int i = 0; last && i < t->n_inputs; i++) {
        snprintf(m->inputs[i].topic, sizeof m->inputs[i].topic, "%.*s",
                 SLICE_FMT(t->inputs[i].topic));
        m->inputs[i].partition = t->partition;
        m->inputs[i].offset = t->inputs[i].next;
    }
}

/* What was read goes to the store; the first chunk also says, durably, that the store is open
 * again. */
static void load_chunk(struct task *t, bool last)
{
    struct task_restore *r = t->restore;
    struct store_commit *c = t->commit;

    memset(c, 0, sizeof *c);
    c->store = t->store;
    c->meta = t->store->meta;
    c->bulk = true;
    chunk_meta(t, &c->meta, last);
    for (int i = 0; i < t->n_stores; i++) {
        struct overlay tmp = t->frozen[i];
        if (!r->stores[i].empty && !overlay_empty(&t->now[i]))
            c->bulk = false;
        t->frozen[i] = t->now[i];
        t->now[i] = tmp;
        c->overlays[i] = &t->frozen[i];
    }
    c->sync = t->store->meta.clean; /* before anything else may touch pages of the clean state */
    c->done = chunk_loaded;
    c->user = t;
    r->loading = true;
    r->last = last;
    t->committing = true;
    t->worker->n_storing++;
    t->store->vt->commit(c);
}

/* ---- reading changelogs ---- */

static void store_progress(struct store_restore *s)
{
    struct task *t = s->task;
    struct worker *w = t->worker;

    if (s->done || !s->reading)
        return;
    if (fetcher_position(w->restorer, t->changelogs[s->store], t->partition) >= s->target)
        s->done = true;
}

static void task_progress(struct task *t)
{
    struct task_restore *r = t->restore;

    if (t->state != TASK_RESTORING || !r || r->loading || r->left ||
        env_point(t->worker->env, "mid_restore"))
        return;
    for (int i = 0; i < t->n_stores; i++)
        store_progress(&r->stores[i]);
    if (!all_read(t)) {
        if (task_bytes(t) >= CHUNK_BYTES)
            load_chunk(t, false);
        return;
    }
    for (int i = 0; i < t->n_stores; i++) {
        struct store_restore *s = &r->stores[i];
        if (!s->reading)
            continue;
        /* the position is read by chunk_meta before the fetcher forgets it */
        if (t->store->meta.changelogs[i].position < s->target)
            t->store->meta.changelogs[i].position = s->target;
        fetcher_remove(t->worker->restorer, t->changelogs[i], t->partition);
        s->reading = false;
    }
    load_chunk(t, true);
}

static void take_record(const struct fetched *f)
{
    struct store_restore *s = f->user;
    struct task *t = s->task;

    /* Records behind the target may be a later owner's or ours: they belong to the next life. */
    if (f->offset >= s->target || !f->key.p)
        return;
    t->restore->restored = true;
    if (overlay_put(&t->now[s->store], f->key, f->value))
        fail_later(t, "restoring", -ERR_NOMEM, NULL);
    t->store->meta.changelogs[s->store].leader_epoch = f->leader_epoch;
    t->store->meta.changelogs[s->store].timestamp = f->timestamp;
}

/* The changelog no longer has what the store needs: begin anew. */
static void restart_restores(struct worker *w, int res, const struct err *e)
{
    if (res == -ERR_CORRUPT) { /* it would be no better the next time */
        worker_fail(w, 3, "%s", e->text);
        return;
    }
    env_warn(w->env, "a changelog cannot be read on (%s): stores that restore are rebuilt",
             e->text);
    LIST_EACH_SAFE (it, tmp, &w->tasks) {
        struct task *t = list_entry(it, struct task, link);
        if (t->state != TASK_RESTORING || !t->restore || t->restore->loading)
            continue;
        t->restore->distrust = true;
        env_timer_set(w->env, &t->restore->retry, w->env->now + ENV_MS(RETRY_MS));
    }
}

void restore_pump(struct worker *w)
{
    struct fetched f;
    struct err e = {0};
    int n = 0;

    while (n++ < RECORDS_A_TURN) {
        int res = fetcher_next(w->restorer, &f, &e);
        if (res == 0)
            break;
        if (res < 0) {
            restart_restores(w, res, &e);
            break;
        }
        take_record(&f);
    }
    LIST_EACH_SAFE (it, tmp, &w->tasks)
        task_progress(list_entry(it, struct task, link));
    if (n > RECORDS_A_TURN)
        env_timer_set(w->env, &w->pump_timer, w->env->now); /* the next turn goes on */
}

/* ---- is the store to be trusted? ---- */

static int64_t store_input_offset(const struct store_meta *m, const struct task_input *in)
{
    for (int i = 0; i < m->n_inputs; i++)
        if (slice_eq_str(in->topic, m->inputs[i].topic))
            return m->inputs[i].offset;
    return -1;
}

static bool same_file(const struct env_id *a, const struct env_id *b, bool clean)
{
    return a->device == b->device && a->inode == b->inode && a->birth_ns == b->birth_ns &&
           (clean || memcmp(a->boot, b->boot, sizeof a->boot) == 0);
}

/* All but what the cluster has to say about the changelog. */
static const char *distrusted(struct task *t)
{
    struct worker *w = t->worker;
    struct store_meta *m = &t->store->meta;
    struct env_id now;

    if (t->restore->distrust)
        return "it was found wrong";
    if (m->commit == 0)
        return NULL; /* empty and new */
    if (w->id.renewed || w->env->vt->identify(w->env, w->id.dir, &now) ||
        !same_file(&m->opened, &now, m->clean))
        return "it is not the file, or not the boot, that it was written in";
    if (m->n_stores != t->n_stores)
        return "it has other stores";
    if (m->wall_ms >= 0 && env_wall_ms(w->env) - m->wall_ms > STORE_AGE_MAX_MS)
        return "it is too old";
    for (int i = 0; i < t->n_inputs; i++)
        if (store_input_offset(m, &t->inputs[i]) > t->inputs[i].committed)
            return "it is ahead of the committed offsets";
    for (int i = 0; i < t->n_stores; i++) {
        const struct client_topic *ct =
            t->changelogs[i].p ? client_topic(w->client, t->changelogs[i]) : NULL;
        if (t->changelogs[i].p && (!ct || !uuid_eq(&ct->id, &m->changelogs[i].topic_id)))
            return "its changelog is another topic now";
    }
    return NULL;
}

static int discard(struct task *t, const char *why)
{
    struct err e = {0};

    env_info(t->worker->env, "%s: the store is rebuilt from its changelog: %s", t->store->path,
             why);
    if (task_discard_store(t, &e)) {
        worker_fail_err(t->worker, -e.code, &e);
        return -1;
    }
    t->restore->distrust = false;
    return 0;
}

static void open_meta(struct task *t)
{
    struct worker *w = t->worker;
    struct store_meta *m = &t->store->meta;
    struct env_id id;

    if (w->env->vt->identify(w->env, w->id.dir, &id) == 0) {
        if (m->commit && !same_file(&m->opened, &id, false))
            m->clean = true; /* make the next commit durable */
        m->opened = id;
    }
    for (int i = 0; i < t->n_stores; i++) {
        const struct client_topic *ct =
            t->changelogs[i].p ? client_topic(w->client, t->changelogs[i]) : NULL;
        if (ct)
            m->changelogs[i].topic_id = ct->id;
        if (!m->commit)
            m->changelogs[i].leader_epoch = -1;
    }
    if (m->stream_time > t->stream_time)
        t->stream_time = m->stream_time;
}

/* ---- questions about changelogs ---- */

static void read_changelog(struct store_restore *s)
{
    struct task *t = s->task;
    struct store_meta *m = &t->store->meta;
    int rc;

    if (m->changelogs[s->store].position >= s->target) {
        s->done = true;
        return;
    }
    rc = fetcher_add(t->worker->restorer, t->changelogs[s->store], t->partition,
                     m->changelogs[s->store].position, s);
    if (rc)
        fail_later(t, "restoring", rc, NULL);
    else
        s->reading = true;
}

static void all_asked(struct task *t)
{
    const char *why = NULL;

    for (int i = 0; i < t->n_stores && !why; i++) {
        struct store_restore *s = &t->restore->stores[i];
        int64_t pos = t->store->meta.changelogs[i].position;
        if (!t->changelogs[i].p)
            continue;
        if (pos > s->target)
            why = "its changelog is shorter than it";
        else if (pos > 0 && pos < s->ask_begin.offset)
            why = "its changelog begins behind it";
        else if (pos > 0 && t->store->meta.changelogs[i].leader_epoch >= 0 &&
                 s->ask_epoch.end_offset < pos)
            why = "its changelog was truncated"; /* -1: not even that epoch is known any more */
    }
    if (why) {
        if (discard(t, why))
            return;
        open_meta(t);
    }
    for (int i = 0; i < t->n_stores; i++) {
        struct store_restore *s = &t->restore->stores[i];
        if (!t->changelogs[i].p)
            s->done = true;
        else {
            s->empty = t->store->meta.changelogs[i].position == 0;
            if (t->store->meta.changelogs[i].position < s->ask_begin.offset)
                t->store->meta.changelogs[i].position = s->ask_begin.offset;
            read_changelog(s);
        }
    }
    restore_pump(t->worker);
}

static void answered(struct task *t, int res, const struct err *e, const char *what)
{
    if (res) {
        fail_later(t, what, res, e);
        return;
    }
    if (--t->restore->left == 0)
        all_asked(t);
}

static void got_end(struct list_offset *op, int res, const struct err *e)
{
    struct store_restore *s = op->user;

    s->asking_end = false;
    s->target = op->offset;
    answered(s->task, res, e, "the changelog's end");
}

static void got_begin(struct list_offset *op, int res, const struct err *e)
{
    struct store_restore *s = op->user;

    s->asking_begin = false;
    answered(s->task, res, e, "the changelog's beginning");
}

static void got_epoch(struct epoch_end *op, int res, const struct err *e)
{
    struct store_restore *s = op->user;

    s->asking_epoch = false;
    answered(s->task, res, e, "the changelog's epoch");
}

static void ask_changelog(struct task *t, int i)
{
    struct worker *w = t->worker;
    struct store_restore *s = &t->restore->stores[i];
    bool stable = MUTATED(w->env->mutations, RESTORE_TO_STABLE);

    s->ask_end = (struct list_offset){.topic = t->changelogs[i],
                                      .partition = t->partition,
                                      .timestamp = -1,
                                      .read_committed = stable,
                                      .done = got_end,
                                      .user = s};
    s->ask_begin = s->ask_end;
    s->ask_begin.timestamp = -2;
    s->ask_begin.done = got_begin;
    s->asking_end = s->asking_begin = true;
    t->restore->left += 2;
    admin_list_offset(w->client, &s->ask_end);
    admin_list_offset(w->client, &s->ask_begin);
    if (t->store->meta.changelogs[i].position <= 0 || t->store->meta.changelogs[i].leader_epoch < 0)
        return;
    s->ask_epoch = (struct epoch_end){.topic = t->changelogs[i],
                                      .partition = t->partition,
                                      .epoch = t->store->meta.changelogs[i].leader_epoch,
                                      .done = got_epoch,
                                      .user = s};
    s->asking_epoch = true;
    t->restore->left++;
    admin_epoch_end(w->client, &s->ask_epoch);
}

static void ask_changelogs(struct task *t)
{
    const char *why = distrusted(t);

    if (why && discard(t, why))
        return;
    open_meta(t);
    t->state = TASK_RESTORING;
    for (int i = 0; i < t->n_stores; i++) {
        t->restore->stores[i].task = t;
        t->restore->stores[i].store = i;
    }
    t->restore->left = 1; /* so that an early answer does not end it */
    for (int i = 0; i < t->n_stores; i++)
        if (t->changelogs[i].p)
            ask_changelog(t, i);
    if (--t->restore->left == 0)
        all_asked(t);
}

/* ---- stable offsets of the inputs ---- */

static void offsets_known(struct task *t)
{
    if (t->store)
        ask_changelogs(t);
    else
        run(t);
}

static void got_input_begin(struct list_offset *op, int res, const struct err *e)
{
    struct task *t = op->user;
    struct task_restore *r = t->restore;
    int i = (int)(op - r->begin);

    r->asking[i] = false;
    if (res) {
        fail_later(t, "the input's beginning", res, e);
        return;
    }
    t->inputs[i].next = t->inputs[i].committed = op->offset;
    if (--r->begin_left == 0)
        offsets_known(t);
}

static int64_t stream_time_of(struct slice metadata)
{
    int64_t st;

    if (metadata.n < 4 || memcmp(metadata.p, "st=", 3) != 0 ||
        parse_i64(slice_sub(metadata, 3, metadata.n), &st))
        return -1;
    return st;
}

static void got_offsets(struct fetch_offsets *op, int res, const struct err *e)
{
    struct task *t = op->user;
    struct task_restore *r = t->restore;

    t->fetching = false;
    for (int i = 0; !res && i < t->n_inputs; i++) {
        int64_t st = stream_time_of(op->v[i].metadata);
        t->inputs[i].next = t->inputs[i].committed = op->v[i].offset;
        if (st > t->stream_time)
            t->stream_time = st;
        if (op->v[i].offset < 0)
            r->begin_left++;
    }
    arena_deinit(&op->arena);
    if (res) {
        fail_later(t, "committed offsets", res, e);
        return;
    }
    r->reset = r->begin_left == t->n_inputs;
    if (!r->begin_left) {
        offsets_known(t);
        return;
    }
    for (int i = 0; i < t->n_inputs; i++) {
        if (t->inputs[i].next >= 0)
            continue;
        r->begin[i] = (struct list_offset){.topic = t->inputs[i].topic,
                                           .partition = t->partition,
                                           .timestamp = -2,
                                           .done = got_input_begin,
                                           .user = t};
        r->asking[i] = true;
        admin_list_offset(t->worker->client, &r->begin[i]);
    }
}

void task_start(struct task *t)
{
    struct worker *w = t->worker;
    bool distrust = t->restore && t->restore->distrust;
    struct err e = {0};
    int rc;

    CHECK(!t->committing);
    task_start_cancel(t);
    t->drop_after = false;
    t->started_at = w->env->now;
    t->state = TASK_OFFSETS;
    rc = task_reset(t, &e);
    if (!rc) {
        rc = t->doubt ? task_discard_store(t, &e) : task_open_store(t, &e);
        if (rc == -ERR_CORRUPT)
            rc = task_discard_store(t, &e);
    }
    if ((rc && rc != -ERR_BUSY) || !restore_new(t)) {
        worker_fail_err(w, rc ? rc : -ERR_NOMEM, &e);
        return;
    }
    t->restore->distrust = distrust;
    t->restore->retry.fire = retry_start;
    if (rc) { /* the task's last life is still being stored: it went and came back at once */
        env_timer_set(w->env, &t->restore->retry, w->env->now + ENV_MS(BUSY_RETRY_MS));
        return;
    }
    for (int i = 0; i < t->n_inputs; i++)
        t->fetch_entries[i] =
            (struct fetch_offset_entry){.topic = t->inputs[i].topic, .partition = t->partition};
    t->fetch = (struct fetch_offsets){.group = w->job->name,
                                      .stable = !MUTATED(w->env->mutations, UNSTABLE_OFFSETS),
                                      .v = t->fetch_entries,
                                      .n = t->n_inputs,
                                      .timeout_ms = 60000,
                                      .done = got_offsets,
                                      .user = t};
    arena_init(&t->fetch.arena, 1 << 20);
    t->fetching = true;
    admin_fetch_offsets(w->client, &t->fetch);
}

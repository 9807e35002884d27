/* runtime/worker/task.c - one task's records, overlays and local commits. */
#include "runtime/worker/task.h"
#include "runtime/worker/worker_internal.h"
#include <stdio.h>
#include <stdlib.h>

static const struct udf_group *group_of(const struct task *t)
{
    return &t->worker->job->groups[t->group];
}

static int collect_inputs(struct task *t)
{
    const struct udf_group *g = group_of(t);
    struct worker *w = t->worker;

    t->n_inputs = g->n_topics;
    for (int i = 0; i < g->n_topics; i++) {
        struct buf name;
        struct job_topic *jt;

        buf_init(&name, TOPIC_NAME_MAX + 1);
        jt = udf_job_topic(w->job, g->topics[i], &name) ? NULL : worker_topic(w, buf_slice(&name));
        buf_deinit(&name);
        if (!jt)
            return -ERR_NOMEM;
        t->inputs[i] = (struct task_input){jt->name, g->topics[i], -1, -1, false};
    }
    return 0;
}

static int collect_changelogs(struct task *t)
{
    const struct udf_group *g = group_of(t);
    struct worker *w = t->worker;

    t->n_stores = g->n_stores;
    for (int i = 0; i < g->n_stores; i++) {
        struct buf name;
        struct job_topic *jt;

        overlay_init(&t->now[i]);
        overlay_init(&t->frozen[i]);
        if (!w->job->stores[g->stores[i]].changelog)
            continue;
        buf_init(&name, TOPIC_NAME_MAX + 1);
        jt = udf_job_changelog(w->job, g->stores[i], &name) ? NULL
                                                            : worker_topic(w, buf_slice(&name));
        buf_deinit(&name);
        if (!jt)
            return -ERR_NOMEM;
        t->changelogs[i] = jt->name;
    }
    return 0;
}

/* Just as many of each as the group has: a worker may hold thousands of tasks. */
static int alloc_parts(struct task *t)
{
    size_t stores = (size_t)group_of(t)->n_stores, inputs = (size_t)group_of(t)->n_topics;

    CHECK(stores <= STORES_MAX);
    CHECK(inputs <= INPUTS_MAX);
    t->inputs = calloc(inputs + 1, sizeof *t->inputs);
    t->fetch_entries = calloc(inputs + 1, sizeof *t->fetch_entries);
    t->now = calloc(stores + 1, sizeof *t->now);
    t->frozen = calloc(stores + 1, sizeof *t->frozen);
    t->changelogs = calloc(stores + 1, sizeof *t->changelogs);
    t->commit = stores ? calloc(1, sizeof *t->commit) : NULL;
    return t->inputs && t->fetch_entries && t->now && t->frozen && t->changelogs &&
                   (t->commit || !stores)
               ? 0
               : -ERR_NOMEM;
}

struct task *task_new(struct worker *w, int group, int32_t partition)
{
    struct task *t = calloc(1, sizeof *t);

    if (!t)
        return NULL;
    t->worker = w;
    t->group = group;
    t->partition = partition;
    t->stream_time = -1;
    if (alloc_parts(t) || collect_inputs(t) || collect_changelogs(t)) {
        task_free(t);
        return NULL;
    }
    host_init(t);
    list_push(&w->tasks, &t->link);
    return t;
}

void task_free(struct task *t)
{
    list_remove(&t->link);
    if (t->udf)
        udf_task_close(t->udf);
    task_close_store(t);
    for (int i = 0; i < t->n_stores; i++) {
        overlay_deinit(&t->now[i]);
        overlay_deinit(&t->frozen[i]);
    }
    free(t->inputs);
    free(t->fetch_entries);
    free(t->now);
    free(t->frozen);
    free(t->changelogs);
    free(t->commit);
    free(t);
}

int task_reset(struct task *t, struct err *e)
{
    uint64_t seed = 0x6f6e6365u ^ (uint64_t)t->group << 32 ^ (uint32_t)t->partition;

    CHECK(!t->committing);
    if (t->udf)
        udf_task_close(t->udf);
    t->udf = NULL;
    for (int i = 0; i < t->n_stores; i++) {
        overlay_clear(&t->now[i]);
        overlay_clear(&t->frozen[i]);
    }
    t->touched = t->drop_after = false;
    t->stream_time = -1;
    return udf_task_open(&t->udf, t->worker->job, t->group, t->partition, &t->host, seed, e);
}

static void store_path(const struct task *t, char *out, size_t cap)
{
    snprintf(out, cap, "%s/%d_%d", t->worker->id.dir, t->group, t->partition);
}

int task_open_store(struct task *t, struct err *e)
{
    const struct udf_group *g = group_of(t);
    struct worker *w = t->worker;
    const char *names[STORES_MAX];
    char text[STORES_MAX][STORE_NAME_MAX + 1], path[480];

    if (!g->n_stores || t->store)
        return 0;
    for (int i = 0; i < g->n_stores; i++) {
        struct slice name = w->job->stores[g->stores[i]].name;
        snprintf(text[i], sizeof text[i], "%.*s", SLICE_FMT(name));
        names[i] = text[i];
    }
    store_path(t, path, sizeof path);
    return w->o.stores->open(w->o.stores, w->env, path, names, g->n_stores, &t->store, e);
}

void task_close_store(struct task *t)
{
    struct err e = {0};
    char path[480];

    if (!t->store)
        return;
    t->store->vt->close(t->store);
    t->store = NULL;
    if (!t->doubt || t->worker->env->dead)
        return;
    store_path(t, path, sizeof path);
    env_info(t->worker->env, "%s: the store cannot be believed and is thrown away", path);
    if (t->worker->o.stores->discard(t->worker->o.stores, t->worker->env, path, &e))
        env_error(t->worker->env, "%s", e.text);
    else
        t->doubt = false;
}

int task_discard_store(struct task *t, struct err *e)
{
    struct worker *w = t->worker;
    char path[480];
    int rc;

    store_path(t, path, sizeof path);
    task_close_store(t);
    rc = w->o.stores->discard(w->o.stores, w->env, path, e);
    if (rc)
        return rc;
    t->doubt = false;
    return task_open_store(t, e);
}

struct task_input *task_input(struct task *t, struct slice topic)
{
    for (int i = 0; i < t->n_inputs; i++)
        if (slice_eq(t->inputs[i].topic, topic))
            return &t->inputs[i];
    return NULL;
}

uint64_t task_bytes(const struct task *t)
{
    uint64_t n = 0;

    for (int i = 0; i < t->n_stores; i++)
        n += t->now[i].bytes;
    return n;
}

static void each_overlay(struct task *t, void (*f)(struct overlay *o))
{
    for (int i = 0; i < t->n_stores; i++)
        f(&t->now[i]);
}

enum udf_result task_process(struct task *t, const struct fetched *r, struct task_input *in,
                             int attempt, struct udf_failure *f)
{
    struct udf_record rec = {.topic = in->declared,
                             .partition = r->partition,
                             .offset = r->offset,
                             .time = r->timestamp,
                             .key = r->key,
                             .value = r->value,
                             .headers = {r->headers, r->n_headers}};
    enum udf_result res;

    outbox_clear(&t->worker->outbox);
    each_overlay(t, overlay_mark);
    t->stream_time_before = t->stream_time;
    if (r->timestamp > t->stream_time)
        t->stream_time = r->timestamp;
    res = udf_task_process(t->udf, &rec, attempt, f);
    if (res == UDF_OK) {
        each_overlay(t, overlay_keep);
        return res;
    }
    each_overlay(t, overlay_undo);
    outbox_clear(&t->worker->outbox);
    t->stream_time = t->stream_time_before;
    return res;
}

void task_flush_begin(struct task *t)
{
    t->flush_store = 0;
    t->flush_at = 0;
}

/* The last value of each key, in key order, so that a run's bytes depend on nothing else. */
static int flush_store(struct task *t, int i)
{
    struct overlay *o = &t->now[i];
    uint32_t n;
    const uint32_t *order = overlay_sorted(o, &n);

    if (!order)
        return -ERR_NOMEM;
    for (; t->flush_at < n; t->flush_at++) {
        const struct overlay_entry *entry = &o->v[order[t->flush_at]];
        struct producer_record r = {.topic = t->changelogs[i],
                                    .key = entry->key,
                                    .value = entry->value,
                                    .partition = t->partition,
                                    .timestamp = t->stream_time >= 0 ? t->stream_time
                                                                     : env_wall_ms(t->worker->env)};
        int rc;

        if (entry->gone)
            continue;
        rc = producer_send(t->worker->producer, &r);
        if (rc)
            return rc;
    }
    t->flush_at = 0;
    return 0;
}

int task_flush(struct task *t)
{
    for (; t->flush_store < t->n_stores; t->flush_store++) {
        int rc;
        if (!t->changelogs[t->flush_store].p)
            continue;
        rc = flush_store(t, t->flush_store);
        if (rc)
            return rc;
    }
    return 0;
}

static void stored(struct store_commit *c, int res)
{
    struct task *t = c->user;

    t->committing = false;
    for (int i = 0; i < t->n_stores; i++)
        overlay_clear(&t->frozen[i]);
    worker_stored(t->worker, t, res);
}

/* An epoch not below the one in which the changelog's last record was written, and as of now: who
 * cuts the changelog below its position later does so in a higher one. On our own broker all
 * partitions are of one epoch, and the inputs' is the freshest, since somebody always waits
 * there. */
static int32_t changelog_epoch(const struct task *t, int i)
{
    struct client *c = t->worker->client;
    int32_t epoch = client_leader_epoch(c, t->changelogs[i], t->partition);

    for (int k = 0; client_is_once(c) && k < t->n_inputs; k++) {
        int32_t e = client_leader_epoch(c, t->inputs[k].topic, t->partition);
        epoch = e > epoch ? e : epoch;
    }
    return epoch;
}

/* Where the store will stand: behind the last changelog record of this transaction, at the
 * inputs. */
static void fill_meta(struct task *t, struct store_meta *m)
{
    for (int i = 0; i < t->n_stores; i++) {
        int64_t last;
        if (!t->changelogs[i].p)
            continue;
        last = producer_last_offset(t->worker->producer, t->changelogs[i], t->partition);
        if (last >= 0 && last + 1 > m->changelogs[i].position) {
            m->changelogs[i].position = last + 1;
            m->changelogs[i].leader_epoch = changelog_epoch(t, i);
            m->changelogs[i].timestamp = env_wall_ms(t->worker->env);
        }
    }
    m->n_stores = t->n_stores;
    m->n_inputs = t->n_inputs;
    for (int i = 0; i < t->n_inputs; i++) {
        struct store_input *in = &m->inputs[i];
        snprintf(in->topic, sizeof in->topic, "%.*s", SLICE_FMT(t->inputs[i].topic));
        in->partition = t->partition;
        in->offset = t->inputs[i].next;
    }
    m->stream_time = t->stream_time;
    m->wall_ms = env_wall_ms(t->worker->env);
}

void task_store_commit(struct task *t, bool clean)
{
    CHECK(!t->committing);
    CHECK(t->store != NULL);
    memset(t->commit, 0, sizeof *t->commit);
    t->commit->store = t->store;
    t->commit->meta = t->store->meta;
    fill_meta(t, &t->commit->meta);
    t->commit->meta.clean = clean;
    t->commit->sync = clean || t->sync_due;
    t->sync_due = false;
    for (int i = 0; i < t->n_stores; i++) {
        struct overlay tmp = t->frozen[i];
        t->frozen[i] = t->now[i];
        t->now[i] = tmp;
        t->commit->overlays[i] = &t->frozen[i];
    }
    t->commit->done = stored;
    t->commit->user = t;
    t->committing = true;
    t->store->vt->commit(t->commit);
}

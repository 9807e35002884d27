/* runtime/worker/host.c - what a task's Lua may ask of its worker: outputs, stores, clocks,
 * logs. */
#include "runtime/worker/worker_internal.h"
#include <stdlib.h>

static struct task *task_of(struct udf_host *h)
{
    return list_entry(h, struct task, host);
}

/* ---- outputs ---- */

int host_route(struct task *t, struct slice topic, struct slice key, int32_t partition,
               int32_t input_partition, struct job_topic **to, int32_t *part)
{
    struct job_topic *jt = worker_topic_declared(t->worker, topic);

    if (!jt || jt->partitions <= 0)
        return -ERR_NOT_FOUND;
    if (partition >= jt->partitions || partition < -1)
        return -ERR_INVALID;
    if (partition >= 0)
        *part = partition;
    else if (key.p)
        *part = (int32_t)((murmur2(key) & 0x7fffffff) % (uint32_t)jt->partitions);
    else
        *part = input_partition % jt->partitions;
    *to = jt;
    return 0;
}

static int host_emit(struct udf_host *h, const struct udf_out *out)
{
    struct task *t = task_of(h);
    struct job_topic *to;
    int32_t part;
    int rc = host_route(t, out->topic, out->key, out->partition, t->partition, &to, &part);

    if (rc == -ERR_NOT_FOUND && job_topics_late(t->worker, out->topic))
        return -ERR_NOMEM;
    if (rc)
        return rc;
    return outbox_add(&t->worker->outbox, to->name, part, out->time, out->key, out->value,
                      out->headers.raw, out->headers.n);
}

/* ---- stores ---- */

/* The task's number of a store of the job. */
static int local_store(const struct task *t, int store)
{
    const struct udf_group *g = &t->worker->job->groups[t->group];

    for (int i = 0; i < g->n_stores; i++)
        if (g->stores[i] == store)
            return i;
    return -1;
}

static int host_get(struct udf_host *h, int store, struct slice key, struct slice *value)
{
    struct task *t = task_of(h);
    int i = local_store(t, store);
    enum overlay_found found;

    if (i < 0)
        return -ERR_STATE;
    found = overlay_get(&t->now[i], key, value);
    if (found == OVERLAY_ABSENT && t->committing)
        found = overlay_get(&t->frozen[i], key, value);
    if (found != OVERLAY_ABSENT)
        return found == OVERLAY_VALUE;
    return t->store->vt->get(t->store, i, key, value);
}

static int host_put(struct udf_host *h, int store, struct slice key, struct slice value)
{
    struct task *t = task_of(h);
    int i = local_store(t, store);

    if (i < 0)
        return -ERR_STATE;
    if (!key.n || key.n > UDF_KEY_MAX)
        return -ERR_TOO_BIG;
    t->touched = true;
    return overlay_put(&t->now[i], key, value);
}

/* A range is a merge of the store's iterator with a sorted copy of the overlays' part, both as of
 * its start; of equal keys the overlay's counts. */
struct patch {
    struct slice key, value;
};
struct udf_iter {
    struct store_iter *below;
    struct buf bytes;
    struct patch *v;
    uint32_t n, at;
    bool reverse, have_below;
    struct slice below_key, below_value;
};

static bool in_range(struct slice key, struct slice from, struct slice to)
{
    return (!from.p || slice_cmp(key, from) >= 0) && (!to.p || slice_cmp(key, to) < 0);
}

static int add_patch(struct udf_iter *it, const struct overlay_entry *e, uint32_t *cap)
{
    if (it->n == *cap) {
        uint32_t c = *cap ? *cap * 2 : 16;
        struct patch *p = realloc(it->v, c * sizeof *p);
        if (!p)
            return -ERR_NOMEM;
        it->v = p;
        *cap = c;
    }
    it->v[it->n++] = (struct patch){e->key, e->value};
    return 0;
}

/* Two sorted overlays, the newer one first in what counts. */
static int merge_overlays(struct udf_iter *it, struct overlay *newer, struct overlay *older,
                          struct slice from, struct slice to)
{
    uint32_t n = 0, m = 0, i = 0, k = 0, cap = 0;
    const uint32_t *a = overlay_sorted(newer, &n);
    const uint32_t *b = older ? overlay_sorted(older, &m) : NULL;

    if (!a || (older && !b))
        return -ERR_NOMEM;
    while (i < n || k < m) {
        const struct overlay_entry *x = i < n ? &newer->v[a[i]] : NULL;
        const struct overlay_entry *y = k < m ? &older->v[b[k]] : NULL;
        int c = !x ? 1 : !y ? -1 : slice_cmp(x->key, y->key);
        const struct overlay_entry *take = c <= 0 && !x->gone ? x : c >= 0 ? y : NULL;

        if (take && !take->gone && in_range(take->key, from, to))
            if (add_patch(it, take, &cap))
                return -ERR_NOMEM;
        i += c <= 0;
        k += c >= 0;
    }
    return 0;
}

/* The overlays may change while the iterator lives: what it needs is copied. */
static int own_patches(struct udf_iter *it)
{
    size_t total = 0;

    for (uint32_t i = 0; i < it->n; i++)
        total += it->v[i].key.n + it->v[i].value.n;
    if (buf_reserve(&it->bytes, total + 1))
        return -ERR_NOMEM;
    for (uint32_t i = 0; i < it->n; i++) {
        struct patch *p = &it->v[i];
        size_t at = it->bytes.n;
        buf_put_slice(&it->bytes, p->key);
        buf_put_slice(&it->bytes, p->value);
        p->key = slice_of(it->bytes.p + at, p->key.n);
        if (p->value.p)
            p->value = slice_of(it->bytes.p + at + p->key.n, p->value.n);
    }
    return 0;
}

static void host_iter_close(struct udf_host *h, struct udf_iter *it)
{
    if (it->below)
        it->below->close(it->below);
    buf_deinit(&it->bytes);
    free(it->v);
    free(it);
}

static int host_range(struct udf_host *h, int store, struct slice from, struct slice to,
                      bool reverse, struct udf_iter **out)
{
    struct task *t = task_of(h);
    int i = local_store(t, store);
    struct udf_iter *it = i < 0 ? NULL : calloc(1, sizeof *it);
    int rc;

    if (!it)
        return i < 0 ? -ERR_STATE : -ERR_NOMEM;
    buf_init(&it->bytes, SIZE_MAX / 2);
    it->reverse = reverse;
    rc = merge_overlays(it, &t->now[i], t->committing ? &t->frozen[i] : NULL, from, to);
    if (!rc)
        rc = own_patches(it);
    if (!rc)
        rc = t->store->vt->range(t->store, i, from, to, reverse, &it->below);
    if (rc) {
        host_iter_close(h, it);
        return rc;
    }
    *out = it;
    return 0;
}

static int host_iter_next(struct udf_host *h, struct udf_iter *it, struct slice *key,
                          struct slice *value)
{
    for (;;) {
        const struct patch *p = NULL;
        int c;

        if (!it->have_below) {
            int rc = it->below->next(it->below, &it->below_key, &it->below_value);
            if (rc < 0)
                return rc;
            it->have_below = true;
            if (rc == 0)
                it->below_key = SLICE_NULL;
        }
        if (it->at < it->n)
            p = &it->v[it->reverse ? it->n - 1 - it->at : it->at];
        if (!p && !it->below_key.p)
            return 0;
        c = !p ? 1 : !it->below_key.p ? -1 : slice_cmp(p->key, it->below_key);
        if (it->reverse && p && it->below_key.p)
            c = -c;
        if (c >= 0 && it->below_key.p)
            it->have_below = false;
        if (c <= 0) {
            it->at++;
            if (!p->value.p)
                continue;
            *key = p->key;
            *value = p->value;
        } else {
            *key = it->below_key;
            *value = it->below_value;
        }
        return 1;
    }
}

/* ---- the rest ---- */

static void host_log(struct udf_host *h, enum udf_level level, struct slice text)
{
    static const enum env_level levels[] = {ENV_DEBUG, ENV_INFO, ENV_WARN, ENV_ERROR};
    struct worker *w = task_of(h)->worker;

    if (w->o.on_said)
        w->o.on_said(w->o.user, levels[level], text);
    else
        env_log(w->env, levels[level], "%.*s: %.*s", SLICE_FMT(w->job->name), SLICE_FMT(text));
}

static void host_count(struct udf_host *h, struct slice name, int64_t n)
{
    struct task *t = task_of(h);

    env_debug(t->worker->env, "count %.*s %+lld", SLICE_FMT(name), (long long)n);
}

static void host_observe(struct udf_host *h, struct slice name, double value)
{
    struct task *t = task_of(h);

    env_debug(t->worker->env, "observe %.*s %g", SLICE_FMT(name), value);
}

static int64_t host_wall(struct udf_host *h)
{
    return env_wall_ms(task_of(h)->worker->env);
}

static int64_t host_stream_time(struct udf_host *h)
{
    return task_of(h)->stream_time;
}

static void host_watchdog(struct udf_host *h, uint64_t time_ns, void (*fire)(void *), void *u)
{
    struct env *env = task_of(h)->worker->env;

    env->vt->watchdog(env, time_ns, fire, u);
}

static void host_overrun(struct udf_host *h)
{
    struct worker *w = task_of(h)->worker;

    if (w->o.on_overrun)
        w->o.on_overrun(w->o.user);
}

void host_init(struct task *t)
{
    t->host = (struct udf_host){
        .emit = host_emit,
        .store_get = host_get,
        .store_put = host_put,
        .store_range = host_range,
        .iter_next = host_iter_next,
        .iter_close = host_iter_close,
        .log = host_log,
        .count = host_count,
        .observe = host_observe,
        .wall_ms = host_wall,
        .stream_time = host_stream_time,
        .watchdog = host_watchdog,
        .overrun = host_overrun,
        .count_limit = t->worker->o.count_limit,
    };
}

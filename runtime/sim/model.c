/* runtime/sim/model.c - a host for the job's Lua that only remembers. */
#include "runtime/sim/model.h"
#include "base/bytes.h"
#include "base/check.h"
#include "runtime/sim/feeder.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MODEL_BYTES_MAX = 1 << 30 };
#define COUNT_LIMIT 20000000u

static void *grow(void *v, uint32_t n, uint32_t *cap, size_t size)
{
    if (n < *cap)
        return v;
    *cap = *cap ? *cap * 2 : 64;
    v = realloc(v, *cap * size);
    CHECK(v);
    return v;
}

static struct slice keep(struct model *m, struct slice s)
{
    struct slice copy = arena_copy(&m->arena, s);

    CHECK(!s.p || copy.p);
    return copy;
}

static struct model_task *task_of(struct udf_host *h)
{
    return (struct model_task *)(void *)h; /* its first member */
}
STATIC_CHECK(offsetof(struct model_task, host) == 0);

/* ---- stores ---- */

static uint32_t find(const struct model_table *t, struct slice key)
{
    uint32_t lo = 0, hi = t->n;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (slice_cmp(t->v[mid].key, key) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* key and value live on. */
static void table_set(struct model_table *t, struct slice key, struct slice value)
{
    uint32_t i = find(t, key);
    bool there = i < t->n && slice_eq(t->v[i].key, key);

    if (there && value.p) {
        t->v[i].value = value;
    } else if (there) {
        memmove(&t->v[i], &t->v[i + 1], (t->n - i - 1) * sizeof *t->v);
        t->n--;
    } else if (value.p) {
        t->v = grow(t->v, t->n, &t->cap, sizeof *t->v);
        memmove(&t->v[i + 1], &t->v[i], (t->n - i) * sizeof *t->v);
        t->v[i] = (struct model_row){key, value};
        t->n++;
    }
}

static int store_get(struct udf_host *h, int store, struct slice key, struct slice *value)
{
    struct model_table *t = &task_of(h)->tables[store];
    uint32_t i = find(t, key);

    if (i == t->n || !slice_eq(t->v[i].key, key))
        return 0;
    *value = t->v[i].value;
    return 1;
}

static int store_put(struct udf_host *h, int store, struct slice key, struct slice value)
{
    struct model_task *t = task_of(h);
    struct slice old = SLICE_NULL;

    if (!key.n || key.n > UDF_KEY_MAX)
        return -ERR_TOO_BIG;
    key = keep(t->model, key);
    store_get(h, store, key, &old);
    t->undo = grow(t->undo, t->n_undo, &t->undo_cap, sizeof *t->undo);
    t->undo[t->n_undo++] = (struct model_undo){store, key, old};
    table_set(&t->tables[store], key, keep(t->model, value));
    return 0;
}

struct udf_iter { /* a copy of the rows: they live on in the arena */
    struct model_row *v;
    uint32_t n, at;
    bool reverse;
};

static int store_range(struct udf_host *h, int store, struct slice from, struct slice to,
                       bool reverse, struct udf_iter **out)
{
    struct model_table *t = &task_of(h)->tables[store];
    uint32_t a = from.p ? find(t, from) : 0, b = to.p ? find(t, to) : t->n;
    struct udf_iter *it = calloc(1, sizeof *it);

    CHECK(it);
    it->n = b > a ? b - a : 0;
    it->v = malloc((it->n + 1) * sizeof *it->v);
    CHECK(it->v);
    if (it->n)
        memcpy(it->v, t->v + a, it->n * sizeof *it->v);
    it->reverse = reverse;
    *out = it;
    return 0;
}

static int iter_next(struct udf_host *h, struct udf_iter *it, struct slice *key,
                     struct slice *value)
{
    const struct model_row *r;

    if (it->at == it->n)
        return 0;
    r = &it->v[it->reverse ? it->n - 1 - it->at : it->at];
    it->at++;
    *key = r->key;
    *value = r->value;
    return 1;
}

static void iter_close(struct udf_host *h, struct udf_iter *it)
{
    free(it->v);
    free(it);
}

/* ---- outputs and the rest ---- */

static void add_out(struct model *m, const struct model_out *o)
{
    m->outs = grow(m->outs, m->n_outs, &m->outs_cap, sizeof *m->outs);
    m->outs[m->n_outs++] = *o;
}

static int emit(struct udf_host *h, const struct udf_out *out)
{
    struct model_task *t = task_of(h);
    struct model *m = t->model;
    struct model_out o = {.key = keep(m, out->key),
                          .value = keep(m, out->value),
                          .headers = keep(m, out->headers.raw),
                          .n_headers = out->headers.n,
                          .time = out->time,
                          .task = t->number};
    struct buf name;
    int32_t n;

    buf_init(&name, 512);
    CHECK(udf_job_topic(m->job, out->topic, &name) == 0);
    o.topic = keep(m, buf_slice(&name));
    buf_deinit(&name);
    n = m->partitions(m->user, o.topic);
    if (out->partition >= n || out->partition < -1)
        return -ERR_INVALID;
    if (out->partition >= 0)
        o.partition = out->partition;
    else if (out->key.p)
        o.partition = (int32_t)((murmur2(out->key) & 0x7fffffff) % (uint32_t)n);
    else
        o.partition = t->partition % n;
    add_out(m, &o);
    return 0;
}

static void ignore_log(struct udf_host *h, enum udf_level level, struct slice text)
{
}
static void ignore_count(struct udf_host *h, struct slice name, int64_t n)
{
}
static void ignore_observe(struct udf_host *h, struct slice name, double value)
{
}
static int64_t wall_ms(struct udf_host *h)
{
    return 1700000000000;
}
static int64_t stream_time(struct udf_host *h)
{
    return task_of(h)->stream_time;
}
static void watchdog(struct udf_host *h, uint64_t time_ns, void (*fire)(void *), void *u)
{
}

/* ---- tasks ---- */

void model_init(struct model *m, const struct udf_job *job,
                int32_t (*partitions)(void *user, struct slice topic), void *user)
{
    memset(m, 0, sizeof *m);
    m->job = job;
    m->partitions = partitions;
    m->user = user;
    arena_init(&m->arena, MODEL_BYTES_MAX);
}

void model_deinit(struct model *m)
{
    for (uint32_t i = 0; i < m->n_tasks; i++) {
        struct model_task *t = m->tasks[i];
        udf_task_close(t->udf);
        for (int s = 0; s < m->job->n_stores; s++)
            free(t->tables[s].v);
        free(t->tables);
        free(t->undo);
        free(t);
    }
    free(m->tasks);
    free(m->outs);
    arena_deinit(&m->arena);
    memset(m, 0, sizeof *m);
}

static struct model_task *task_new(struct model *m, int group, int32_t partition)
{
    uint64_t seed = 0x6f6e6365u ^ (uint64_t)group << 32 ^ (uint32_t)partition; /* as the worker's */
    struct model_task *t = calloc(1, sizeof *t);
    struct err e = {0};

    CHECK(t);
    t->host = (struct udf_host){.emit = emit,
                                .store_get = store_get,
                                .store_put = store_put,
                                .store_range = store_range,
                                .iter_next = iter_next,
                                .iter_close = iter_close,
                                .log = ignore_log,
                                .count = ignore_count,
                                .observe = ignore_observe,
                                .wall_ms = wall_ms,
                                .stream_time = stream_time,
                                .watchdog = watchdog,
                                .count_limit = COUNT_LIMIT};
    t->model = m;
    t->group = group;
    t->partition = partition;
    t->stream_time = -1;
    if (udf_task_open(&t->udf, m->job, group, partition, &t->host, seed, &e)) {
        snprintf(m->failed, sizeof m->failed, "%.600s", e.text);
        free(t);
        return NULL;
    }
    t->tables = calloc((size_t)m->job->n_stores + 1, sizeof *t->tables);
    CHECK(t->tables);
    m->tasks = grow(m->tasks, m->n_tasks, &m->tasks_cap, sizeof *m->tasks);
    t->number = m->n_tasks;
    m->tasks[m->n_tasks++] = t;
    return t;
}

struct model_task *model_task(struct model *m, int group, int32_t partition)
{
    for (uint32_t i = 0; i < m->n_tasks; i++)
        if (m->tasks[i]->group == group && m->tasks[i]->partition == partition)
            return m->tasks[i];
    return task_new(m, group, partition);
}

static void undo(struct model_task *t, uint32_t outs)
{
    while (t->n_undo > 0) {
        struct model_undo *u = &t->undo[--t->n_undo];
        table_set(&t->tables[u->store], u->key, u->value);
    }
    t->model->n_outs = outs;
}

/* A dead letter counts by its key and value: its headers tell where and when it failed. */
static void dead_letter(struct model_task *t, const struct model_record *r)
{
    struct model *m = t->model;
    struct model_out o = {.topic = m->job->dead_letter,
                          .key = keep(m, r->key),
                          .value = keep(m, r->value),
                          .n_headers = -1,
                          .time = r->time,
                          .task = t->number};

    o.partition = r->partition % m->partitions(m->user, o.topic);
    add_out(m, &o);
}

int model_process(struct model_task *t, const struct model_record *r)
{
    struct model *m = t->model;
    struct udf_record rec = {.topic = r->topic,
                             .partition = r->partition,
                             .offset = r->offset,
                             .time = r->time,
                             .key = r->key,
                             .value = r->value,
                             .headers = {r->headers, r->n_headers}};
    struct udf_failure f;
    int64_t before = t->stream_time;
    uint32_t outs = m->n_outs;

    for (int attempt = 0;; attempt++) {
        t->n_undo = 0;
        if (r->time > t->stream_time)
            t->stream_time = r->time;
        f = (struct udf_failure){0};
        if (udf_task_process(t->udf, &rec, attempt, &f) == UDF_OK)
            return 0;
        undo(t, outs);
        t->stream_time = before;
        if (attempt >= m->job->retries_n)
            break;
    }
    if (m->job->on_error == UDF_STOP || f.kind == UDF_HOST) {
        snprintf(m->failed, sizeof m->failed, "a record stops the job: %.*s",
                 f.message.n < 600 ? (int)f.message.n : 600, (const char *)f.message.p);
        return -1;
    }
    if (m->job->on_error == UDF_DEAD_LETTER)
        dead_letter(t, r);
    return 0;
}

/* ---- all of it on one partition ---- */

static int group_reading(const struct udf_job *job, struct slice topic, int after)
{
    for (int g = after + 1; g < job->n_groups; g++)
        for (int i = 0; i < job->groups[g].n_topics; i++)
            if (slice_eq(job->groups[g].topics[i], topic))
                return g;
    return -1;
}

/* Every group that reads the topic gets the record. declared: as the job calls the topic. */
static int give(struct model *m, struct model_record *r, int64_t *offset)
{
    int rc = 0;

    r->offset = (*offset)++;
    for (int g = group_reading(m->job, r->topic, -1); g >= 0 && !rc;
         g = group_reading(m->job, r->topic, g)) {
        struct model_task *t = model_task(m, g, 0);
        rc = t ? model_process(t, r) : -1;
    }
    return rc;
}

/* How the job calls a topic of the broker: an internal one is "#x". */
static struct slice declared(const struct udf_job *job, struct slice topic)
{
    struct buf name;

    buf_init(&name, 512);
    for (int i = 0; i < job->n_internals; i++) {
        buf_reset(&name);
        if (udf_job_topic(job, job->internals[i].topic, &name) == 0 &&
            slice_eq(buf_slice(&name), topic)) {
            buf_deinit(&name);
            return job->internals[i].topic;
        }
    }
    buf_deinit(&name);
    return topic;
}

int model_run_single(struct model *m, const struct feed_record *v, uint32_t n)
{
    int64_t offset = 0;
    uint32_t at = 0;

    for (uint32_t i = 0; i < n; i++) {
        struct model_record r = {
            .topic = v[i].topic, .time = v[i].timestamp, .key = v[i].key, .value = v[i].value};
        r.headers = slice_of("", 0);
        if (give(m, &r, &offset))
            return -1;
        for (; at < m->n_outs; at++) { /* what it emitted to topics that the job reads itself */
            struct model_out o = m->outs[at];
            r = (struct model_record){.topic = declared(m->job, o.topic),
                                      .time = o.time,
                                      .key = o.key,
                                      .value = o.value,
                                      .headers = o.headers,
                                      .n_headers = o.n_headers};
            if (o.n_headers >= 0 && give(m, &r, &offset))
                return -1;
        }
    }
    return 0;
}

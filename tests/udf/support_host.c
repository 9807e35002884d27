/* tests/udf/support_host.c - a worker made of memory. */
#include "tests/udf/support_host.h"
#include <stdio.h>
#include <stdlib.h>

struct udf_iter {
    struct host_store copy;
    size_t at, end;
    bool reverse;
};

static void *dup_bytes(const void *p, size_t n)
{
    char *q = malloc(n + 1);

    assert_non_null(q);
    if (n)
        memcpy(q, p, n);
    q[n] = 0;
    return q;
}

static char *dup_slice(struct slice s)
{
    return s.p ? dup_bytes(s.p, s.n) : NULL;
}

static int emit(struct udf_host *uh, const struct udf_out *out)
{
    struct host *h = (struct host *)uh;
    struct host_out *o;

    if (h->emit_result)
        return h->emit_result;
    h->outs = realloc(h->outs, (h->n_outs + 1) * sizeof *h->outs);
    assert_non_null(h->outs);
    o = &h->outs[h->n_outs++];
    *o = (struct host_out){.topic = dup_slice(out->topic),
                           .key = dup_slice(out->key),
                           .value = dup_slice(out->value),
                           .key_n = out->key.n,
                           .value_n = out->value.n,
                           .time = out->time,
                           .partition = out->partition,
                           .n_headers = out->headers.n,
                           .headers = dup_bytes(out->headers.raw.p, out->headers.raw.n),
                           .headers_n = out->headers.raw.n};
    return 0;
}

/* The first entry not before key. */
static size_t find(const struct host_store *s, struct slice key)
{
    size_t at = 0;

    while (at < s->n && slice_cmp(slice_of(s->v[at].key, s->v[at].key_n), key) < 0)
        at++;
    return at;
}

static bool is_at(const struct host_store *s, size_t at, struct slice key)
{
    return at < s->n && slice_eq(slice_of(s->v[at].key, s->v[at].key_n), key);
}

static int store_get(struct udf_host *uh, int store, struct slice key, struct slice *value)
{
    struct host_store *s = &((struct host *)uh)->stores[store];
    size_t at = find(s, key);

    if (!is_at(s, at, key))
        return 0;
    *value = slice_of(s->v[at].value, s->v[at].value_n);
    return 1;
}

static int store_put(struct udf_host *uh, int store, struct slice key, struct slice value)
{
    struct host_store *s = &((struct host *)uh)->stores[store];
    size_t at = find(s, key);

    if (is_at(s, at, key)) {
        free(s->v[at].key);
        free(s->v[at].value);
        memmove(&s->v[at], &s->v[at + 1], (s->n - at - 1) * sizeof *s->v);
        s->n--;
    }
    if (slice_is_null(value))
        return 0;
    s->v = realloc(s->v, (s->n + 1) * sizeof *s->v);
    assert_non_null(s->v);
    memmove(&s->v[at + 1], &s->v[at], (s->n - at) * sizeof *s->v);
    s->v[at] = (struct host_entry){.key = dup_bytes(key.p, key.n),
                                   .value = dup_bytes(value.p, value.n),
                                   .key_n = key.n,
                                   .value_n = value.n};
    s->n++;
    return 0;
}

static void free_store(struct host_store *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free(s->v[i].key);
        free(s->v[i].value);
    }
    free(s->v);
}

static int store_range(struct udf_host *uh, int store, struct slice from, struct slice to,
                       bool reverse, struct udf_iter **out)
{
    struct host *h = (struct host *)uh;
    struct host_store *s = &h->stores[store];
    size_t lo = from.p ? find(s, from) : 0, hi = to.p ? find(s, to) : s->n;
    struct udf_iter *it = calloc(1, sizeof *it);

    assert_non_null(it);
    it->reverse = reverse;
    for (size_t i = lo; i < hi; i++) {
        it->copy.v = realloc(it->copy.v, (it->copy.n + 1) * sizeof *it->copy.v);
        assert_non_null(it->copy.v);
        it->copy.v[it->copy.n++] =
            (struct host_entry){.key = dup_bytes(s->v[i].key, s->v[i].key_n),
                                .value = dup_bytes(s->v[i].value, s->v[i].value_n),
                                .key_n = s->v[i].key_n,
                                .value_n = s->v[i].value_n};
    }
    h->open_iters++;
    *out = it;
    return 0;
}

static int iter_next(struct udf_host *uh, struct udf_iter *it, struct slice *key,
                     struct slice *value)
{
    struct host_entry *e;

    (void)uh;
    if (it->at == it->copy.n)
        return 0;
    e = &it->copy.v[it->reverse ? it->copy.n - 1 - it->at : it->at];
    it->at++;
    *key = slice_of(e->key, e->key_n);
    *value = slice_of(e->value, e->value_n);
    return 1;
}

static void iter_close(struct udf_host *uh, struct udf_iter *it)
{
    ((struct host *)uh)->open_iters--;
    free_store(&it->copy);
    free(it);
}

static void log_line(struct udf_host *uh, enum udf_level level, struct slice text)
{
    buf_printf(&((struct host *)uh)->log, "%d %.*s\n", (int)level, SLICE_FMT(text));
}

static void count(struct udf_host *uh, struct slice name, int64_t n)
{
    buf_printf(&((struct host *)uh)->log, "count %.*s %lld\n", SLICE_FMT(name), (long long)n);
}

static void observe(struct udf_host *uh, struct slice name, double v)
{
    buf_printf(&((struct host *)uh)->log, "observe %.*s %g\n", SLICE_FMT(name), v);
}

static int64_t wall_ms(struct udf_host *uh)
{
    return ((struct host *)uh)->wall;
}

static int64_t stream_time(struct udf_host *uh)
{
    return ((struct host *)uh)->stream;
}

void host_init(struct host *h)
{
    memset(h, 0, sizeof *h);
    h->h = (struct udf_host){.emit = emit,
                             .store_get = store_get,
                             .store_put = store_put,
                             .store_range = store_range,
                             .iter_next = iter_next,
                             .iter_close = iter_close,
                             .log = log_line,
                             .count = count,
                             .observe = observe,
                             .wall_ms = wall_ms,
                             .stream_time = stream_time,
                             .count_limit = 5 * 1000 * 1000};
    buf_init(&h->log, 64 << 20);
    h->wall = 1500000000123;
}

void host_clear(struct host *h)
{
    for (size_t i = 0; i < h->n_outs; i++) {
        free(h->outs[i].topic);
        free(h->outs[i].key);
        free(h->outs[i].value);
        free(h->outs[i].headers);
    }
    free(h->outs);
    h->outs = NULL;
    h->n_outs = 0;
    buf_reset(&h->log);
}

void host_deinit(struct host *h)
{
    assert_int_equal(h->open_iters, 0);
    host_clear(h);
    for (int i = 0; i < HOST_STORES; i++)
        free_store(&h->stores[i]);
    buf_deinit(&h->log);
}

const char *host_stored(struct host *h, int store, const char *key)
{
    struct slice v;
    struct buf k;
    int found;

    buf_init(&k, 1 << 20);
    udf_key_encode_str(slice_str(key), &k);
    found = store_get(&h->h, store, buf_slice(&k), &v);
    buf_deinit(&k);
    if (!found)
        return NULL;
    buf_reset(&h->log);
    assert_int_equal(udf_value_text(v, &h->log), 0);
    buf_put_u8(&h->log, 0);
    return (const char *)h->log.p;
}

const char *host_outputs(struct host *h)
{
    buf_reset(&h->log);
    for (size_t i = 0; i < h->n_outs; i++)
        buf_printf(&h->log, "%s %s %s\n", h->outs[i].topic, h->outs[i].key ? h->outs[i].key : "\\N",
                   h->outs[i].value ? h->outs[i].value : "\\N");
    buf_put_u8(&h->log, 0);
    return (const char *)h->log.p;
}

/* ---- jobs ---- */

char *host_read(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    size_t cap = 1 << 20;
    char *p = malloc(cap);

    if (!f)
        print_error("cannot open %s\n", path);
    assert_non_null(f);
    assert_non_null(p);
    *n = fread(p, 1, cap - 1, f);
    assert_true(*n < cap - 1);
    p[*n] = 0;
    fclose(f);
    return p;
}

/* "job.lua" is the text given; "other.lua" a module for tests of require; all else is not there. */
static int read_text(void *user, const char *path, struct buf *out, struct err *e)
{
    static const char other[] =
        "local M = {}\nfunction M.twice(n)\n  return n * 2\nend\nreturn M\n";

    if (strcmp(path, "job.lua") == 0)
        return buf_put(out, user, strlen(user));
    if (strcmp(path, "lib/other.lua") == 0)
        return buf_put_slice(out, slice_str(other));
    return err_set(e, ERR_NOT_FOUND, "%s", path);
}

static int read_file(void *user, const char *path, struct buf *out, struct err *e)
{
    FILE *f = fopen(path, "rb");
    char block[4096];
    size_t n;

    (void)user;
    if (!f)
        return err_set(e, ERR_NOT_FOUND, "%s", path);
    while ((n = fread(block, 1, sizeof block, f)))
        buf_put(out, block, n);
    fclose(f);
    return out->failed;
}

struct udf_job *host_job(const char *text, struct err *e)
{
    char *copy = dup_bytes(text, strlen(text));
    struct udf_options opt = {.read_file = read_text, .user = copy, .wall_ms = 1000};
    struct udf_job *job;
    int rc = udf_job_load(&job, "job.lua", &opt, e);

    free(copy);
    assert_true((rc == 0) == (job != NULL));
    return job;
}

struct udf_job *host_job_file(const char *path)
{
    struct udf_options opt = {.read_file = read_file};
    struct udf_job *job;
    struct err e;

    if (udf_job_load(&job, path, &opt, &e)) {
        print_error("%s\n", e.text);
        fail();
    }
    return job;
}

struct udf_task *host_task(const struct udf_job *job, int group, struct host *h)
{
    struct udf_task *t;
    struct err e;

    if (udf_task_open(&t, job, group, 0, &h->h, 7, &e)) {
        print_error("%s\n", e.text);
        fail();
    }
    return t;
}

enum udf_result host_run(struct udf_task *t, const char *topic, int64_t offset, const char *key,
                         const char *value, struct udf_failure *f)
{
    struct udf_record r = {.topic = slice_str(topic),
                           .offset = offset,
                           .time = 1000 + offset,
                           .key = slice_str(key),
                           .value = slice_str(value)};

    return udf_task_process(t, &r, 0, f);
}

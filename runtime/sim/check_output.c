/* runtime/sim/check_output.c - the job's outputs against a serial run over the same committed
 * inputs.
 *
 * Every task is replayed by the model on the records of its partitions as they stand in the log;
 * what it emits must be what the job's topics hold, internal ones included. Per (topic, partition,
 * key) the records must be the same in the same order; where several tasks write a key to one
 * partition, their order to one another is free, and only what is there is compared. */
#include "base/check.h"
#include "runtime/sim/check.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct item {
    struct slice topic, key, value, headers;
    int64_t time;
    int32_t partition;
    int32_t n_headers; /* -1: are not compared */
    uint32_t task, order;
    int64_t offset; /* of what is there */
};
struct items {
    struct item *v;
    uint32_t n, cap;
};

static void add(struct items *l, const struct item *i)
{
    if (l->n == l->cap) {
        l->cap = l->cap ? l->cap * 2 : 256;
        l->v = realloc(l->v, l->cap * sizeof *l->v);
        CHECK(l->v);
    }
    l->v[l->n] = *i;
    l->v[l->n].order = l->n;
    l->n++;
}

/* ---- replay ---- */

struct cursor { /* one input partition of a task */
    const struct disk_log *l;
    struct slice declared;
    uint32_t at;
};

/* The next committed record, NULL at the end. */
static const struct disk_record *peek(struct cursor *c)
{
    while (c->l && c->at < c->l->n_records && !disk_committed(c->l, &c->l->records[c->at]))
        c->at++;
    return c->l && c->at < c->l->n_records ? &c->l->records[c->at] : NULL;
}

static bool replay_record(struct model *m, int group, int32_t partition, struct cursor *c)
{
    const struct disk_record *r = peek(c);
    struct model_task *t = model_task(m, group, partition);
    struct model_record rec = {.topic = c->declared,
                               .partition = partition,
                               .offset = r->offset,
                               .time = r->timestamp,
                               .key = r->key,
                               .value = r->value,
                               .headers = r->headers,
                               .n_headers = r->n_headers};

    c->at++;
    return t && model_process(t, &rec) == 0;
}

static bool replay_task(struct sim_evidence *x, struct model *m, int group, int32_t partition,
                        struct slice broker_topic)
{
    const struct udf_group *g = &x->job->groups[group];
    struct cursor c = {disk_logs_find(x->logs, broker_topic, partition), g->topics[0], 0};

    while (peek(&c))
        if (!replay_record(m, group, partition, &c))
            return false;
    return true;
}

static bool replay_group(struct sim_evidence *x, struct model *m, int group)
{
    const struct udf_group *g = &x->job->groups[group];
    struct buf name;
    bool ok = true;

    if (g->n_topics != 1) {
        snprintf(m->failed, sizeof m->failed,
                 "a node group reads %d topics: the order in which its records were taken is not "
                 "recorded yet",
                 g->n_topics);
        return false;
    }
    buf_init(&name, 512);
    CHECK(udf_job_topic(x->job, g->topics[0], &name) == 0);
    for (int32_t p = 0; ok && p < disk_logs_partitions(x->logs, buf_slice(&name)); p++)
        ok = replay_task(x, m, group, p, buf_slice(&name));
    buf_deinit(&name);
    return ok;
}

static int32_t partitions_of(void *user, struct slice topic)
{
    struct sim_evidence *x = user;
    int32_t n = disk_logs_partitions(x->logs, topic);

    return n ? n : x->partitions;
}

/* ---- comparing ---- */

static int compare_place(const struct item *a, const struct item *b)
{
    int c = slice_cmp(a->topic, b->topic);

    if (!c)
        c = (a->partition > b->partition) - (a->partition < b->partition);
    return c ? c : slice_cmp(a->key, b->key);
}

static int by_place(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    int c = compare_place(x, y);

    return c ? c : (x->order > y->order) - (x->order < y->order);
}

static int compare_content(const struct item *a, const struct item *b)
{
    int c = slice_cmp(a->value, b->value);

    if (!c)
        c = (a->time > b->time) - (a->time < b->time);
    if (!c && a->n_headers >= 0 && b->n_headers >= 0)
        c = a->n_headers != b->n_headers ? (a->n_headers > b->n_headers ? 1 : -1)
            : a->n_headers               ? slice_cmp(a->headers, b->headers)
                                         : 0;
    return c;
}

static int by_content(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    int c = compare_content(x, y);

    return c ? c : (x->order > y->order) - (x->order < y->order);
}

static void tell(struct sim_evidence *x, enum violation kind, const struct item *i,
                 const char *what)
{
    verdict_add(x->verdict, kind, "%.*s-%d@%" PRId64 ": key \"%.*s\" value \"%.*s\": %s",
                SLICE_FMT(i->topic), i->partition, i->offset, SLICE_FMT(i->key),
                SLICE_FMT(i->value), what);
}

static bool contains(const struct item *v, uint32_t n, const struct item *i)
{
    for (uint32_t k = 0; k < n; k++)
        if (compare_content(&v[k], i) == 0)
            return true;
    return false;
}

/* Both sorted by content: what is in one and not in the other. */
static bool compare_sets(struct sim_evidence *x, const struct item *want, uint32_t n,
                         const struct item *is, uint32_t m)
{
    uint32_t i = 0, k = 0;
    bool same = true;

    while (i < n || k < m) {
        int c = i == n ? 1 : k == m ? -1 : compare_content(&want[i], &is[k]);
        if (c < 0) {
            tell(x, VIOLATION_LOST, &want[i], "had to come out and is not there");
        } else if (c > 0) {
            bool twice = contains(want, n, &is[k]);
            tell(x, twice ? VIOLATION_DUPLICATED : VIOLATION_OTHER, &is[k],
                 twice ? "is there once too often" : "never came out of the job");
        }
        same &= c == 0;
        i += c <= 0;
        k += c >= 0;
    }
    return same;
}

/* The items of one (topic, partition, key). Sorts them anew. */
static void compare_key(struct sim_evidence *x, struct item *want, uint32_t n, struct item *is,
                        uint32_t m)
{
    bool one_task = true, same = n == m;
    const struct item *first_off = NULL;
    struct item off;

    for (uint32_t i = 0; i < n; i++)
        one_task &= want[i].task == want[0].task;
    for (uint32_t i = 0; i < n && i < m && !first_off; i++)
        if (compare_content(&want[i], &is[i]))
            first_off = &is[i];
    if (same && !first_off)
        return;
    if (first_off)
        off = *first_off;
    qsort(want, n, sizeof *want, by_content);
    qsort(is, m, sizeof *is, by_content);
    if (compare_sets(x, want, n, is, m) && one_task && first_off)
        tell(x, VIOLATION_REORDERED, &off, "is not in the order in which it came out");
}

static uint32_t run_end(const struct items *l, uint32_t at)
{
    uint32_t end = at;

    while (end < l->n && compare_place(&l->v[end], &l->v[at]) == 0)
        end++;
    return end;
}

static void compare(struct sim_evidence *x, struct items *want, struct items *is)
{
    uint32_t i = 0, k = 0;

    if (want->n)
        qsort(want->v, want->n, sizeof *want->v, by_place);
    if (is->n)
        qsort(is->v, is->n, sizeof *is->v, by_place);
    while (i < want->n || k < is->n) {
        int c = i == want->n ? 1 : k == is->n ? -1 : compare_place(&want->v[i], &is->v[k]);
        uint32_t i_end = c <= 0 ? run_end(want, i) : i, k_end = c >= 0 ? run_end(is, k) : k;
        compare_key(x, want->v + i, i_end - i, is->v + k, k_end - k);
        i = i_end;
        k = k_end;
    }
}

/* ---- all of it ---- */

/* A topic that the job writes: not an input alone, not a changelog, not the broker's own. */
static bool is_output(struct sim_evidence *x, struct slice topic, const struct model *m)
{
    struct buf name;
    bool is = slice_eq(topic, x->job->dead_letter);

    for (uint32_t i = 0; i < m->n_outs && !is; i++)
        is = slice_eq(m->outs[i].topic, topic);
    buf_init(&name, 512);
    for (int n = 0; n < x->job->n_nodes && !is; n++)
        for (int k = 0; k < x->job->nodes[n].n_outputs && !is; k++) {
            buf_reset(&name);
            is = udf_job_topic(x->job, x->job->nodes[n].outputs[k], &name) == 0 &&
                 slice_eq(buf_slice(&name), topic);
        }
    buf_deinit(&name);
    return is;
}

static void collect_actual(struct sim_evidence *x, const struct model *m, struct items *is)
{
    for (uint32_t i = 0; i < x->logs->n; i++) {
        const struct disk_log *l = &x->logs->v[i];
        if (!is_output(x, slice_str(l->topic), m))
            continue;
        for (uint32_t k = 0; k < l->n_records; k++) {
            const struct disk_record *r = &l->records[k];
            struct item it = {slice_str(l->topic), r->key,       r->value, r->headers, r->timestamp,
                              l->partition,        r->n_headers, 0,        0,          r->offset};
            if (disk_committed(l, r))
                add(is, &it);
        }
    }
}

bool check_output(struct sim_evidence *x, struct model *replay)
{
    struct items want = {0}, is = {0};
    bool ok = true;

    model_init(replay, x->job, partitions_of, x);
    for (int g = 0; ok && g < x->job->n_groups; g++)
        ok = replay_group(x, replay, g);
    for (uint32_t i = 0; ok && i < replay->n_outs; i++) {
        const struct model_out *o = &replay->outs[i];
        struct item it = {o->topic,     o->key,       o->value, o->headers, o->time,
                          o->partition, o->n_headers, o->task,  0,          -1};
        add(&want, &it);
    }
    if (ok) {
        collect_actual(x, replay, &is);
        compare(x, &want, &is);
    }
    free(want.v);
    free(is.v);
    return ok;
}

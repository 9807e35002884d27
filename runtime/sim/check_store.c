/* runtime/sim/check_store.c - each task's stores three ways: the replay's, what the committed
 * changelog folds to, and the copy on the workers' disks that is furthest. */
#include "base/check.h"
#include "runtime/sim/check.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Rows sorted by key; the slices live elsewhere, or in `bytes`. */
struct rows {
    struct model_row *v;
    uint32_t n, cap;
    struct arena bytes;
};

static uint32_t find(const struct rows *t, struct slice key)
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

static void set(struct rows *t, struct slice key, struct slice value)
{
    uint32_t i = find(t, key);
    bool there = i < t->n && slice_eq(t->v[i].key, key);

    if (there && !value.p) {
        memmove(&t->v[i], &t->v[i + 1], (t->n - i - 1) * sizeof *t->v);
        t->n--;
        return;
    }
    if (!value.p)
        return;
    if (!there) {
        if (t->n == t->cap) {
            t->cap = t->cap ? t->cap * 2 : 64;
            t->v = realloc(t->v, t->cap * sizeof *t->v);
            CHECK(t->v);
        }
        memmove(&t->v[i + 1], &t->v[i], (t->n - i) * sizeof *t->v);
        t->n++;
    }
    t->v[i] = (struct model_row){key, value};
}

static void compare(struct sim_evidence *x, const char *what, struct slice store, int32_t partition,
                    const struct model_row *want, uint32_t n, const struct rows *is)
{
    for (uint32_t i = 0, k = 0; i < n || k < is->n;) {
        int c = i == n ? 1 : k == is->n ? -1 : slice_cmp(want[i].key, is->v[k].key);
        struct slice key = c <= 0 ? want[i].key : is->v[k].key;
        if (c != 0 || !slice_eq(want[i].value, is->v[k].value))
            verdict_add(x->verdict, VIOLATION_OTHER,
                        "%s of store %.*s, partition %d, key \"%.*s\": %s", what, SLICE_FMT(store),
                        partition, SLICE_FMT(key),
                        c < 0   ? "is not there"
                        : c > 0 ? "must not be there"
                                : "has another value than it must");
        i += c <= 0;
        k += c >= 0;
    }
}

static void check_changelog(struct sim_evidence *x, int store, const struct model_task *t)
{
    struct rows rows = {0};
    const struct disk_log *l;
    struct buf name;

    buf_init(&name, 512);
    CHECK(udf_job_changelog(x->job, store, &name) == 0);
    l = disk_logs_find(x->logs, buf_slice(&name), t->partition);
    for (uint32_t k = 0; l && k < l->n_records; k++)
        if (disk_committed(l, &l->records[k]))
            set(&rows, l->records[k].key, l->records[k].value);
    compare(x, "the changelog", x->job->stores[store].name, t->partition, t->tables[store].v,
            t->tables[store].n, &rows);
    buf_deinit(&name);
    free(rows.v);
}

/* ---- the workers' copies ---- */

struct copy {
    struct task_store *s;
    int64_t position;
};

static int64_t input_position(const struct store_meta *m)
{
    int64_t sum = 0;

    for (int32_t i = 0; i < m->n_inputs; i++)
        sum += m->inputs[i].offset;
    return sum;
}

/* The store of the task in one slot of a host's directory; NULL when none was ever committed
 * there. */
static struct task_store *open_copy(struct sim_evidence *x, struct store_driver *d, int slot,
                                    const struct model_task *t)
{
    const struct udf_group *g = &x->job->groups[t->group];
    const char *names[STORES_MAX];
    char text[STORES_MAX][STORE_NAME_MAX + 1], path[480];
    struct task_store *s = NULL;

    for (int i = 0; i < g->n_stores; i++) {
        struct slice name = x->job->stores[g->stores[i]].name;
        snprintf(text[i], sizeof text[i], "%.*s", SLICE_FMT(name));
        names[i] = text[i];
    }
    snprintf(path, sizeof path, "%s/%.*s/%d/%d_%d", CLUSTER_STATE, SLICE_FMT(x->job->name), slot,
             t->group, t->partition);
    if (d->open(d, &x->cluster->client.node->env, path, names, g->n_stores, &s, NULL))
        return NULL;
    if (s->meta.commit)
        return s;
    s->vt->close(s);
    return NULL;
}

static struct task_store *best_copy(struct sim_evidence *x, const struct model_task *t)
{
    struct copy best = {NULL, -1};

    for (int w = 0; w < x->cluster->n_workers; w++) {
        const struct place *p = &x->cluster->workers[w];
        for (int slot = 0; p->owns_stores && slot < x->cluster->n_workers; slot++) {
            struct task_store *s = open_copy(x, p->stores, slot, t);
            int64_t at = s ? input_position(&s->meta) : -1;
            if (!s)
                continue;
            if (at > best.position) {
                if (best.s)
                    best.s->vt->close(best.s);
                best = (struct copy){s, at};
            } else {
                s->vt->close(s);
            }
        }
    }
    return best.s;
}

static void check_copy(struct sim_evidence *x, struct task_store *s, int table, int store,
                       const struct model_task *t)
{
    struct rows rows = {0};
    struct store_iter *it;
    struct slice key, value;

    arena_init(&rows.bytes, 1 << 30);
    CHECK(s->vt->range(s, table, SLICE_NULL, SLICE_NULL, false, &it) == 0);
    while (it->next(it, &key, &value) == 1)
        set(&rows, arena_copy(&rows.bytes, key), arena_copy(&rows.bytes, value));
    it->close(it);
    compare(x, "a worker's copy", x->job->stores[store].name, t->partition, t->tables[store].v,
            t->tables[store].n, &rows);
    arena_deinit(&rows.bytes);
    free(rows.v);
}

static void check_task(struct sim_evidence *x, const struct model_task *t)
{
    const struct udf_group *g = &x->job->groups[t->group];
    struct task_store *s = g->n_stores ? best_copy(x, t) : NULL;

    for (int i = 0; i < g->n_stores; i++) {
        int store = g->stores[i];
        if (!x->job->stores[store].changelog)
            continue;
        check_changelog(x, store, t);
        if (s)
            check_copy(x, s, i, store, t);
        else if (t->tables[store].n)
            verdict_add(x->verdict, VIOLATION_LOST, "store %.*s, partition %d: no worker has it",
                        SLICE_FMT(x->job->stores[store].name), t->partition);
    }
    if (s)
        s->vt->close(s);
}

void check_store(struct sim_evidence *x, const struct model *replay)
{
    for (uint32_t i = 0; i < replay->n_tasks; i++)
        check_task(x, replay->tasks[i]);
}

/* runtime/sim/check_split.c - results per key against a run on one partition.
 *
 * A job that declares order = "any" says that its results per key do not depend on the order
 * between partitions. If its state is keyed by something else than the record key, though, the
 * answer is split over partitions: then a key's values are others than on one, and so is its last
 * one. A key whose values are the same in another order, or which ends at the same value by another
 * way (a running sum does), is as it must be. */
#include "base/check.h"
#include "runtime/sim/check.h"
#include <stdio.h>
#include <stdlib.h>

struct result {
    struct slice topic, key, value;
    uint32_t order;
};
struct results {
    struct result *v;
    uint32_t n, cap;
};

static void add(struct results *l, struct slice topic, struct slice key, struct slice value)
{
    if (l->n == l->cap) {
        l->cap = l->cap ? l->cap * 2 : 256;
        l->v = realloc(l->v, l->cap * sizeof *l->v);
        CHECK(l->v);
    }
    l->v[l->n] = (struct result){topic, key, value, l->n};
    l->n++;
}

static int compare_key(const struct result *x, const struct result *y)
{
    int c = slice_cmp(x->topic, y->topic);

    return c ? c : slice_cmp(x->key, y->key);
}

static int by_key(const void *a, const void *b)
{
    const struct result *x = a, *y = b;
    int c = compare_key(x, y);

    return c ? c : (x->order > y->order) - (x->order < y->order);
}

static int by_value(const void *a, const void *b)
{
    return slice_cmp(((const struct result *)a)->value, ((const struct result *)b)->value);
}

/* Outputs for others: not internal topics, whose records a job is free to cut in another way. */
static bool is_result(const struct udf_job *job, struct slice topic)
{
    for (int n = 0; n < job->n_nodes; n++)
        for (int k = 0; k < job->nodes[n].n_outputs; k++)
            if (slice_eq(job->nodes[n].outputs[k], topic))
                return true;
    return false;
}

static void collect(struct sim_evidence *x, struct results *is)
{
    for (uint32_t i = 0; i < x->logs->n; i++) {
        const struct disk_log *l = &x->logs->v[i];
        if (!is_result(x->job, slice_str(l->topic)))
            continue;
        for (uint32_t k = 0; k < l->n_records; k++)
            if (disk_committed(l, &l->records[k]))
                add(is, slice_str(l->topic), l->records[k].key, l->records[k].value);
    }
}

/* Of one key, in order. Sorts them anew. */
static bool same(struct result *a, uint32_t n, struct result *b, uint32_t m)
{
    if (n && m && a[0].key.p && slice_eq(a[n - 1].value, b[m - 1].value))
        return true;
    if (n != m)
        return false;
    qsort(a, n, sizeof *a, by_value);
    qsort(b, m, sizeof *b, by_value);
    for (uint32_t i = 0; i < n; i++)
        if (by_value(&a[i], &b[i]))
            return false;
    return true;
}

static uint32_t run_end(const struct results *l, uint32_t at)
{
    uint32_t end = at;

    while (end < l->n && compare_key(&l->v[end], &l->v[at]) == 0)
        end++;
    return end;
}

/* A key with other results: its last ones, where it has any. */
struct difference {
    struct result want, is;
    bool in_want, in_is;
};

static bool first_off(struct results *want, struct results *is, struct difference *d)
{
    uint32_t i = 0, k = 0;

    while (i < want->n || k < is->n) {
        int c = i == want->n ? 1 : k == is->n ? -1 : compare_key(&want->v[i], &is->v[k]);
        uint32_t i_end = c <= 0 ? run_end(want, i) : i, k_end = c >= 0 ? run_end(is, k) : k;
        d->in_want = c <= 0;
        d->in_is = c >= 0;
        if (d->in_want)
            d->want = want->v[i_end - 1];
        if (d->in_is)
            d->is = is->v[k_end - 1];
        if (c || !same(want->v + i, i_end - i, is->v + k, k_end - k))
            return true;
        i = i_end;
        k = k_end;
    }
    return false;
}

static const char *show(const struct result *r, char text[static 64])
{
    enum { SHOWN = 48 };
    struct slice v = r ? r->value : SLICE_NULL;

    if (!r)
        return "nothing";
    if (!v.p)
        return "a tombstone";
    snprintf(text, 64, "%.*s%s", (int)(v.n < SHOWN ? v.n : SHOWN), (const char *)v.p,
             v.n > SHOWN ? "..." : "");
    return text;
}

static void tell(struct verdict *v, const struct difference *d)
{
    const struct result *r = d->in_want ? &d->want : &d->is;
    char is[64], want[64];

    verdict_add(v, VIOLATION_OTHER,
                "%.*s: key \"%.*s\" ends with %s, on one partition with %s: its state is split "
                "over partitions, or its results depend on the order (sums of floats do)",
                SLICE_FMT(r->topic), SLICE_FMT(r->key), show(d->in_is ? &d->is : NULL, is),
                show(d->in_want ? &d->want : NULL, want));
}

void check_split(struct sim_evidence *x)
{
    struct results want = {0}, is = {0};
    struct difference off = {0};

    if (!x->single || !x->job->order_any || verdict_total(x->verdict))
        return;
    for (uint32_t i = 0; i < x->single->n_outs; i++)
        if (is_result(x->job, x->single->outs[i].topic))
            add(&want, x->single->outs[i].topic, x->single->outs[i].key, x->single->outs[i].value);
    collect(x, &is);
    if (want.n)
        qsort(want.v, want.n, sizeof *want.v, by_key);
    if (is.n)
        qsort(is.v, is.n, sizeof *is.v, by_key);
    if (first_off(&want, &is, &off))
        tell(x->verdict, &off);
    free(want.v);
    free(is.v);
}

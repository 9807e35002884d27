/* runtime/sim/check_split.c - results per key against a run on one partition.
 *
 * A job that declares order = "any" says that its results per key do not depend on the order
 * between partitions. If its state is keyed by something else than the record key, though, the
 * answer is split over partitions: then the values of a key, over all partitions, are others than
 * on one. */
#include "base/check.h"
#include "runtime/sim/check.h"
#include <stdlib.h>

struct result {
    struct slice topic, key, value;
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
    l->v[l->n++] = (struct result){topic, key, value};
}

static int compare(const void *a, const void *b)
{
    const struct result *x = a, *y = b;
    int c = slice_cmp(x->topic, y->topic);

    if (!c)
        c = slice_cmp(x->key, y->key);
    return c ? c : slice_cmp(x->value, y->value);
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

void check_split(struct sim_evidence *x)
{
    struct results want = {0}, is = {0};
    const struct result *off = NULL;

    if (!x->single || !x->job->order_any || verdict_total(x->verdict))
        return;
    for (uint32_t i = 0; i < x->single->n_outs; i++)
        if (is_result(x->job, x->single->outs[i].topic))
            add(&want, x->single->outs[i].topic, x->single->outs[i].key, x->single->outs[i].value);
    collect(x, &is);
    if (want.n)
        qsort(want.v, want.n, sizeof *want.v, compare);
    if (is.n)
        qsort(is.v, is.n, sizeof *is.v, compare);
    for (uint32_t i = 0; !off && (i < want.n || i < is.n); i++)
        if (i >= want.n)
            off = &is.v[i];
        else if (i >= is.n || compare(&want.v[i], &is.v[i]))
            off = &want.v[i];
    if (off)
        verdict_add(x->verdict, VIOLATION_OTHER,
                    "%.*s: key \"%.*s\" has other results on one partition: its state is split "
                    "over partitions",
                    SLICE_FMT(off->topic), SLICE_FMT(off->key));
    free(want.v);
    free(is.v);
}

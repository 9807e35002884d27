/* runtime/client/aborted.c - see the header; the rule is that of Kafka's own consumer. */
#include "runtime/client/aborted.h"
#include <stdlib.h>

void aborted_filter_deinit(struct aborted_filter *f)
{
    free(f->v);
    free(f->open);
    *f = (struct aborted_filter){0};
}

void aborted_filter_reset(struct aborted_filter *f)
{
    f->n = f->head = f->n_open = 0;
}

int aborted_filter_add(struct aborted_filter *f, int64_t producer_id, int64_t first_offset)
{
    int at = f->n;

    if (f->n == f->cap) {
        int cap = f->cap ? f->cap * 2 : 8;
        struct aborted_txn *v = realloc(f->v, (size_t)cap * sizeof *v);
        if (!v)
            return -ERR_NOMEM;
        f->v = v;
        f->cap = cap;
    }
    /* Brokers list them nearly in order. */
    while (at > 0 && f->v[at - 1].first_offset > first_offset) {
        f->v[at] = f->v[at - 1];
        at--;
    }
    f->v[at] = (struct aborted_txn){producer_id, first_offset};
    f->n++;
    return 0;
}

static int find_open(const struct aborted_filter *f, int64_t producer_id)
{
    for (int i = 0; i < f->n_open; i++)
        if (f->open[i] == producer_id)
            return i;
    return -1;
}

static int open_until(struct aborted_filter *f, int64_t last_offset)
{
    for (; f->head < f->n && f->v[f->head].first_offset <= last_offset; f->head++) {
        int64_t id = f->v[f->head].producer_id;
        if (find_open(f, id) >= 0)
            continue;
        if (f->n_open == f->open_cap) {
            int cap = f->open_cap ? f->open_cap * 2 : 8;
            int64_t *open = realloc(f->open, (size_t)cap * sizeof *open);
            if (!open)
                return -ERR_NOMEM;
            f->open = open;
            f->open_cap = cap;
        }
        f->open[f->n_open++] = id;
    }
    return 0;
}

int aborted_filter_skip(struct aborted_filter *f, const struct batch_info *b, struct slice batch)
{
    int rc = open_until(f, batch_last_offset(b)), at, type;
    int32_t epoch;

    if (rc)
        return rc;
    at = b->producer_id >= 0 ? find_open(f, b->producer_id) : -1;
    if (!batch_is_control(b))
        return at >= 0 && batch_is_transactional(b);
    rc = batch_control_read(batch, &type, &epoch);
    if (rc)
        return rc;
    if (at >= 0 && type == CONTROL_ABORT)
        f->open[at] = f->open[--f->n_open];
    return 1;
}

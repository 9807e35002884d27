/* runtime/sim/check_input.c - the fed records against the input topics. */
#include "base/check.h"
#include "runtime/sim/check.h"
#include <inttypes.h>
#include <stdlib.h>

static bool same(const struct feed_record *f, const struct disk_record *r)
{
    return slice_eq(f->key, r->key) && slice_eq(f->value, r->value) && f->timestamp == r->timestamp;
}

/* Timestamps make every fed record unique, so that each log record belongs to one of them. */
static int64_t fed_index(struct sim_evidence *x, const struct disk_log *l,
                         const struct disk_record *r)
{
    for (uint32_t i = 0; i < x->n_input; i++)
        if (x->input[i].partition == l->partition && slice_eq_str(x->input[i].topic, l->topic) &&
            same(&x->input[i], r))
            return i;
    return -1;
}

static void check_partition(struct sim_evidence *x, const struct disk_log *l, uint32_t *found)
{
    int64_t last = -1;

    for (uint32_t k = 0; k < l->n_records; k++) {
        const struct disk_record *r = &l->records[k];
        int64_t i;
        if (!disk_committed(l, r))
            continue;
        i = fed_index(x, l, r);
        if (i < 0) {
            verdict_add(x->verdict, VIOLATION_OTHER, "%s-%d@%" PRId64 ": a record nobody fed",
                        l->topic, l->partition, r->offset);
            continue;
        }
        if (found[i]++)
            verdict_add(x->verdict, VIOLATION_DUPLICATED,
                        "%s-%d@%" PRId64 ": fed record %" PRId64 " is there again", l->topic,
                        l->partition, r->offset, i);
        else if (i < last)
            verdict_add(x->verdict, VIOLATION_REORDERED,
                        "%s-%d@%" PRId64 ": fed record %" PRId64 " comes after %" PRId64, l->topic,
                        l->partition, r->offset, i, last);
        if (found[i] == 1 && x->input[i].offset >= 0 && x->input[i].offset != r->offset)
            verdict_add(x->verdict, VIOLATION_OTHER,
                        "%s-%d@%" PRId64 ": fed record %" PRId64 " was acknowledged at %" PRId64,
                        l->topic, l->partition, r->offset, i, x->input[i].offset);
        if (i > last)
            last = i;
    }
}

static bool is_input(const struct sim_evidence *x, const char *topic)
{
    for (uint32_t i = 0; i < x->n_input; i++)
        if (slice_eq_str(x->input[i].topic, topic))
            return true;
    return false;
}

void check_input(struct sim_evidence *x)
{
    uint32_t *found = calloc(x->n_input + 1, sizeof *found);

    CHECK(found);
    for (uint32_t k = 0; k < x->logs->n; k++)
        if (is_input(x, x->logs->v[k].topic))
            check_partition(x, &x->logs->v[k], found);
    for (uint32_t i = 0; i < x->n_input; i++)
        if (!found[i] && (x->input_transactional || x->input[i].offset >= 0))
            verdict_add(x->verdict, VIOLATION_LOST,
                        "%.*s-%d: fed record %u was acknowledged at %" PRId64 " and is not there",
                        SLICE_FMT(x->input[i].topic), x->input[i].partition, i, x->input[i].offset);
    free(found);
}

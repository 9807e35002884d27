/* runtime/sim/check_seen.c - the watcher's memory against the disk. */
#include "runtime/sim/check.h"
#include <inttypes.h>

static const struct disk_record *record_at(const struct disk_log *l, int64_t offset)
{
    uint32_t lo = 0, hi = l->n_records;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (l->records[mid].offset < offset)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < l->n_records && l->records[lo].offset == offset ? &l->records[lo] : NULL;
}

static void check_offset(struct sim_evidence *x, const struct disk_log *l, const struct watched *p,
                         int64_t offset)
{
    const struct disk_record *r = record_at(l, offset);

    if (!r)
        verdict_add(x->verdict, VIOLATION_LOST,
                    "%s-%d@%" PRId64 ": a consumer read a record there that is gone", l->topic,
                    l->partition, offset);
    else if (record_hash(r->key, r->value, r->timestamp) != p->hash[offset])
        verdict_add(x->verdict, VIOLATION_OTHER,
                    "%s-%d@%" PRId64 ": a consumer read another record than is there now", l->topic,
                    l->partition, offset);
    else if (p->committed[offset] && !disk_committed(l, r))
        verdict_add(x->verdict, VIOLATION_OTHER, "%s-%d@%" PRId64 ": read as committed, and is not",
                    l->topic, l->partition, offset);
}

/* A read_committed consumer that came past a committed record must have read it. */
static void check_unseen(struct sim_evidence *x, const struct disk_log *l, const struct watched *p)
{
    for (uint32_t k = 0; k < l->n_records; k++) {
        const struct disk_record *r = &l->records[k];
        if (r->offset <= p->last_committed && disk_committed(l, r) && !p->committed[r->offset])
            verdict_add(x->verdict, VIOLATION_LOST,
                        "%s-%d@%" PRId64 ": committed, and a consumer went past it unread",
                        l->topic, l->partition, r->offset);
    }
}

void check_seen(struct sim_evidence *x)
{
    for (int i = 0; i < x->watcher->n_topics; i++) {
        const struct watch_topic *t = &x->watcher->topics[i];
        for (int32_t p = 0; p < t->n_partitions; p++) {
            const struct disk_log *l = disk_logs_find(x->logs, t->name, p);
            const struct watched *w = &t->parts[p];
            if (!l && w->n)
                verdict_add(x->verdict, VIOLATION_LOST, "%.*s-%d is gone, and was read",
                            SLICE_FMT(t->name), p);
            if (!l)
                continue;
            for (int64_t o = 0; o < w->n; o++)
                if (w->hash[o])
                    check_offset(x, l, w, o);
            check_unseen(x, l, w);
        }
    }
}

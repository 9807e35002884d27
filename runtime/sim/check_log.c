/* runtime/sim/check_log.c - each partition by itself: offsets, sequences, epochs, decisions. */
#include "base/check.h"
#include "runtime/sim/check.h"
#include <inttypes.h>
#include <stdlib.h>

struct producer {
    int64_t id;
    int16_t epoch;     /* the highest seen, of data or marker */
    int16_t seq_epoch; /* of next_seq */
    int32_t next_seq;  /* -1: none seen */
};
struct producers {
    struct producer *v;
    int n, cap;
};

static struct producer *find(struct producers *p, int64_t id)
{
    for (int i = 0; i < p->n; i++)
        if (p->v[i].id == id)
            return &p->v[i];
    if (p->n == p->cap) {
        p->cap = p->cap ? p->cap * 2 : 16;
        p->v = realloc(p->v, (size_t)p->cap * sizeof *p->v);
        CHECK(p->v);
    }
    p->v[p->n] = (struct producer){id, -1, -1, -1};
    return &p->v[p->n++];
}

static void check_sequence(struct sim_evidence *x, const struct disk_log *l,
                           const struct disk_batch *b, struct producer *p)
{
    int32_t want = b->epoch == p->seq_epoch ? p->next_seq : 0;

    if (b->sequence != want)
        verdict_add(
            x->verdict, b->sequence < want && want > 0 ? VIOLATION_DUPLICATED : VIOLATION_OTHER,
            "%s-%d@%" PRId64 ": producer %" PRId64 " epoch %d has sequence %d where %d had to come",
            l->topic, l->partition, b->base, b->producer_id, b->epoch, b->sequence, want);
    p->seq_epoch = b->epoch;
    p->next_seq = (int32_t)(((uint32_t)b->sequence + (uint32_t)b->count) & 0x7fffffff);
}

static void check_batch(struct sim_evidence *x, const struct disk_log *l,
                        const struct disk_batch *b, struct producers *producers)
{
    struct producer *p;

    if (b->count != b->last - b->base + 1)
        verdict_add(x->verdict, VIOLATION_OTHER,
                    "%s-%d@%" PRId64 ": %d records over %" PRId64 " offsets", l->topic,
                    l->partition, b->base, b->count, b->last - b->base + 1);
    if (b->producer_id < 0)
        return;
    p = find(producers, b->producer_id);
    if (b->epoch < p->epoch)
        verdict_add(x->verdict, VIOLATION_OTHER,
                    "%s-%d@%" PRId64 ": producer %" PRId64
                    " wrote under epoch %d after epoch %d was there",
                    l->topic, l->partition, b->base, b->producer_id, b->epoch, p->epoch);
    else
        p->epoch = b->epoch;
    if (!b->control && b->sequence >= 0 && strncmp(l->topic, "__", 2) != 0)
        check_sequence(x, l, b, p);
    if (b->fate == FATE_OPEN)
        verdict_add(x->verdict, VIOLATION_OTHER,
                    "%s-%d@%" PRId64 ": the transaction of producer %" PRId64
                    " epoch %d was never decided",
                    l->topic, l->partition, b->base, b->producer_id, b->epoch);
}

void check_log(struct sim_evidence *x)
{
    for (uint32_t i = 0; i < x->logs->n; i++) {
        const struct disk_log *l = &x->logs->v[i];
        struct producers producers = {0};
        int64_t next = 0;

        for (uint32_t k = 0; k < l->n_batches; k++) {
            const struct disk_batch *b = &l->batches[k];
            if (b->base != next)
                verdict_add(x->verdict, b->base < next ? VIOLATION_DUPLICATED : VIOLATION_LOST,
                            "%s-%d: offset %" PRId64 " follows where %" PRId64 " had to come",
                            l->topic, l->partition, b->base, next);
            next = b->last + 1;
            check_batch(x, l, b, &producers);
        }
        free(producers.v);
    }
}

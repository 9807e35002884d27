/* runtime/worker/offsets.h - OffsetCommit outside of a transaction, for the weaker guarantees. */
#ifndef ONCE_RUNTIME_WORKER_OFFSETS_H
#define ONCE_RUNTIME_WORKER_OFFSETS_H
#include "runtime/client/producer.h"

struct offsets_commit {
    const struct group_identity *group; /* slices live until done */
    const struct txn_offset *v;
    int n;
    void (*done)(struct offsets_commit *op,
                 int res); /* 0, -ERR_ABORTABLE: membership is gone, others */
    void *user;
    struct call call;
};
void offsets_commit(struct client *c, struct offsets_commit *op);
#endif

/* runtime/client/aborted.h - which batches of a read_committed answer are for users; pure.
 *
 * The answer lists aborted transactions that overlap it as (producer, first offset). A
 * transaction of the list becomes open when the walk reaches its first offset and is closed by
 * that producer's abort marker alone; batches of an open one are skipped. Entries that match
 * nothing are harmless. */
#ifndef ONCE_RUNTIME_CLIENT_ABORTED_H
#define ONCE_RUNTIME_CLIENT_ABORTED_H
#include "base/wire/batch.h"

struct aborted_txn {
    int64_t producer_id, first_offset;
};
struct aborted_filter {
    struct aborted_txn *v; /* by first offset; those before head are opened */
    int n, cap, head;
    int64_t *open; /* producers whose transaction is aborted from here on */
    int n_open, open_cap;
};

/* Zeroed is empty. */
void aborted_filter_deinit(struct aborted_filter *f);
/* Empty again, memory kept. */
void aborted_filter_reset(struct aborted_filter *f);
/* In any order, before the first skip. 0 or -ERR_NOMEM. */
int aborted_filter_add(struct aborted_filter *f, int64_t producer_id,
                       int64_t first_offset) MUST_USE;
/* To be asked for every batch in offset order, once. 1: not for users (aborted, or a control
 * batch); 0: its records are; -ERR_CORRUPT: a control batch that is none; -ERR_NOMEM. */
int aborted_filter_skip(struct aborted_filter *f, const struct batch_info *b,
                        struct slice batch) MUST_USE;
#endif

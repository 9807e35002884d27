/* base/block.h - refcounted bytes, shared by those who pass them on: a received frame lives until
 * its reply is sent and its batches have left the log's tail. One loop only: the count is not
 * atomic. */
#ifndef ONCE_BASE_BLOCK_H
#define ONCE_BASE_BLOCK_H
#include "base/check.h"
#include "base/slice.h"
#include <stdlib.h>

struct block {
    uint32_t refs;
    size_t cap;
    unsigned char bytes[];
};

/* One reference, the caller's; NULL when out of memory. */
static inline struct block *block_new(size_t cap)
{
    struct block *b = malloc(sizeof *b + cap);
    if (b) {
        b->refs = 1;
        b->cap = cap;
    }
    return b;
}
static inline struct block *block_ref(struct block *b)
{
    b->refs++;
    return b;
}
static inline void block_unref(struct block *b)
{
    if (!b)
        return;
    CHECK(b->refs > 0);
    if (--b->refs == 0)
        free(b);
}
#endif

/* runtime/state/overlay.h - what a task has written to one store since its last commit.
 *
 * An overlay maps keys to their last value (or a tombstone) in memory; reads look here first and
 * then in the store below. Everything is bump-allocated and dropped at once. What one record writes
 * can be undone: overlay_mark before it, overlay_undo after a failure. Order of iteration is by key
 * bytes, never by hash. */
#ifndef ONCE_RUNTIME_STATE_OVERLAY_H
#define ONCE_RUNTIME_STATE_OVERLAY_H
#include "base/buf.h"
#include "base/slice.h"

struct overlay_entry {
    struct slice key;
    struct slice value; /* null: deleted */
    unsigned char *mem; /* where values of this key are kept: never shrinks, so an undo fits */
    uint32_t mem_cap;
    uint32_t hash;
    bool gone; /* added and undone: as if never there */
};
struct overlay_chunk;
struct overlay_undo {
    uint32_t entry;
    uint32_t at,
        n; /* the old value in undo_bytes; n UINT32_MAX: was deleted; at UINT32_MAX: was absent */
};
struct overlay {
    struct overlay_entry *v; /* in order of first write */
    uint32_t *index;         /* open addressing: entry + 1 */
    uint32_t n, cap, index_cap;
    struct overlay_chunk *chunks;
    size_t chunk_used, bytes; /* bytes: keys and values held, for the commit's threshold */
    uint32_t *sorted;         /* entries by key; valid while n_sorted == n */
    uint32_t n_sorted, sorted_cap;
    struct overlay_undo *undo;
    uint32_t n_undo, undo_cap;
    struct buf undo_bytes;
    bool marking;
};

void overlay_init(struct overlay *o);
void overlay_deinit(struct overlay *o);
/* Empty; the memory of the index and of one chunk is kept. */
void overlay_clear(struct overlay *o);
enum overlay_found { OVERLAY_ABSENT, OVERLAY_VALUE, OVERLAY_DELETED };
/* The value lives until the next put of that key, or clear. */
enum overlay_found overlay_get(const struct overlay *o, struct slice key, struct slice *value);
/* value null deletes. Copies both. 0 or -ERR_NOMEM (nothing changed). */
int overlay_put(struct overlay *o, struct slice key, struct slice value);
void overlay_mark(struct overlay *o);
/* Back to the mark. */
void overlay_undo(struct overlay *o);
/* Forgets the mark: what was written stays. */
void overlay_keep(struct overlay *o);
/* Entry numbers in key order, *n of them (gone ones included: skip them); NULL when out of
 * memory. */
const uint32_t *overlay_sorted(struct overlay *o, uint32_t *n);
static inline bool overlay_empty(const struct overlay *o)
{
    return o->n == 0;
}
#endif

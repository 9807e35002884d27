/* broker/log/index.h - the offset and time index of one segment, by Kafka's rules. Pure: no I/O.
 *
 * An entry is made for a batch when more than index.interval.bytes were appended since the last
 * one, that batch not counted: {last offset - base, position} and, if the greatest timestamp so far
 * is greater than that of the last time entry, {that timestamp, last offset of its batch - base}. A
 * sealed segment gets one more time entry.
 *
 * Memory holds what is not in the files yet (`idx`, `tidx`), and numbers enough to go on without
 * reading them; the files' part is read when somebody looks something up. */
#ifndef ONCE_BROKER_LOG_INDEX_H
#define ONCE_BROKER_LOG_INDEX_H
#include "base/buf.h"

enum { IDX_ENTRY = 8, TIDX_ENTRY = 12 };

struct index {
    int64_t base;
    uint64_t since;          /* bytes since the last offset entry */
    int64_t max_ts, max_off; /* greatest timestamp so far, last offset of the batch that holds it */
    int64_t last_tidx_ts;    /* of the last time entry, -1 none */
    int64_t last_tidx_off;
    uint64_t idx_filed, tidx_filed;      /* bytes in the files */
    struct buf idx, tidx;                /* entries behind these */
    unsigned char *idx_file, *tidx_file; /* the files' parts, when loaded; malloc */
    bool loaded;
    bool broken; /* the files' part cannot be used: looking up begins at the segment's start */
};

void index_init(struct index *x, int64_t base);
void index_deinit(struct index *x);
/* A batch of `size` bytes at `position` became part of the segment. 0 or -ERR_NOMEM. */
int index_append(struct index *x, uint64_t position, uint32_t size, int64_t last_offset,
                 int64_t max_ts, int32_t interval_bytes);
/* The segment is complete: its last time entry. */
int index_seal(struct index *x);
/* Entries, files' part included. */
uint64_t index_n_offsets(const struct index *x);
uint64_t index_n_times(const struct index *x);
/* Where to begin looking for `offset`: the position of the last entry at or before it, else 0. The
 * files' part must be loaded (or empty). */
uint64_t index_position(const struct index *x, int64_t offset);
/* The last time entry with a timestamp below ts: its offset, or base when there is none. */
int64_t index_time_before(const struct index *x, int64_t ts);
/* What the files' bytes say, for files that go on: drops entries that do not lie below end_position
 * and end_offset, sets last_tidx, since, idx_filed, tidx_filed. Bytes are taken over when `keep`.
 * -ERR_CORRUPT: the entries are not in order (rebuild them). *idx_bytes, *tidx_bytes: what is
 * good. */
int index_adopt(struct index *x, struct slice idx, struct slice tidx, uint64_t end_position,
                int64_t end_offset, bool keep);
#endif

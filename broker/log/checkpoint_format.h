/* broker/log/checkpoint_format.h - the bytes of journal/checkpoint: where the journal must be read
 * from and where every log stood then. Pure: no I/O.
 *
 *     head, 160 bytes: 0 magic "onceCKP1", 8 flags, 12 count of starts, 16 salt, 32 boot id,
 *         48 next sequence, 56 journal file, 60 zero, 64 position in it, 72 number of logs,
 *         76 CRC of all with this field as zero, 80 bytes of the file, 88 zeros
 *     a log: topic id, partition, flags, start, end, segment's base, position, bytes in older
 *     segments,
 *         timestamp of the segment's first batch, greatest timestamp and its offset, creation time,
 *         offset of the newest producer snapshot, offset up to which there are no producers (or
 *         -1),
 *         length of the topic's name, sum of the CRCs of the entries in .txnindex files (none is
 *         made again for being missing, so it must show), what goes on the segment's indexes
 *         (struct index), the name
 */
#ifndef ONCE_BROKER_LOG_CHECKPOINT_FORMAT_H
#define ONCE_BROKER_LOG_CHECKPOINT_FORMAT_H
#include "base/buf.h"
#include "base/bytes.h"

enum { CHECKPOINT_HEAD = 160, CHECKPOINT_LOG = 160 };
enum { CHECKPOINT_CLEAN = 1, CHECKPOINT_ASYNC = 2 };

struct checkpoint_head {
    uint32_t flags;
    int32_t epoch;
    unsigned char salt[16], boot[16];
    uint64_t seq;  /* of the first round that is needed */
    uint32_t file; /* where it is looked for */
    uint64_t pos;
    uint32_t n_logs;
};
struct checkpoint_log {
    struct slice topic;
    struct uuid id;
    int32_t partition;
    int64_t start, end;
    int64_t seg_base;
    uint64_t pos;
    uint64_t sealed_bytes;
    int64_t first_ts, max_ts, max_off, created_ms;
    int64_t snapshot; /* -1 none */
    int64_t
        stateless; /* no producer has state at this offset: replay may begin there; -1 not known */
    uint32_t txn_sum; /* of the .txnindex entries of markers below end */
    uint64_t since, idx_bytes, tidx_bytes;
    int64_t last_tidx_ts, last_tidx_off;
};

/* Head (its n_logs is filled in by checkpoint_finish). */
void checkpoint_start(struct buf *out, const struct checkpoint_head *h);
void checkpoint_add(struct buf *out, const struct checkpoint_log *l);
/* Number of logs, size and CRC; 0 or out->failed. */
int checkpoint_finish(struct buf *out, uint32_t n_logs);
/* 0 or -ERR_CORRUPT. */
int checkpoint_parse(struct slice file, struct checkpoint_head *h);
/* The log at *at (begin with CHECKPOINT_HEAD), which moves on. 0 or -ERR_CORRUPT. */
int checkpoint_next(struct slice file, size_t *at, struct checkpoint_log *l);
#endif

/* broker/log/journal_format.h - the bytes of a journal round. Pure: no I/O.
 *
 * A round begins on a block of 4 KiB: a head of 128 bytes, the table of entries, the batches' bytes
 * in the same order, zeros up to the next block. The head carries the CRC of the first block (over
 * its 4096 bytes with that field as zero) and that of the rest, so that a first block alone proves
 * that the round was begun: the round before it was durable then.
 *
 * Numbers are big-endian, as in the segments:
 *
 *     0 magic "onceJRN1"       40 flags (1: async)       68 next file, 0 is not known yet
 *     8 salt of the run, 16    44 number of entries      72 CRC of the rest
 *    24 sequence, from 1       48 bytes, padding and all 76 CRC of the first block
 *    32 last lsn               56 bytes of the batches   80 zeros up to 128
 *
 * and an entry: 0 topic id, 16 partition, 20 length, 24 segment's base offset, 32 position in the
 * segment, 40 base offset, 48 last offset, 56 zero. */
#ifndef ONCE_BROKER_LOG_JOURNAL_FORMAT_H
#define ONCE_BROKER_LOG_JOURNAL_FORMAT_H
#include "base/buf.h"
#include "base/bytes.h"

enum {
    JOURNAL_BLOCK = 4096,
    ROUND_HEAD = 128,
    ROUND_ENTRY = 64,
    ROUND_ASYNC = 1,
    JOURNAL_SALT = 16
};

struct round_head {
    unsigned char salt[JOURNAL_SALT];
    uint64_t seq, lsn;
    uint32_t flags, n_entries;
    uint64_t bytes;      /* of the whole round, a multiple of JOURNAL_BLOCK */
    uint64_t data_bytes; /* of the batches */
    uint32_t next_file;  /* where the round after this one begins, unless it is behind this one */
    uint32_t crc_rest;
};
struct round_entry {
    struct uuid topic_id;
    int32_t partition;
    uint32_t length;
    int64_t segment_base;
    uint64_t position;
    int64_t base_offset, last_offset;
};

/* Bytes of a round with so many entries and bytes of batches. */
uint64_t round_size(uint32_t n_entries, uint64_t data_bytes);
/* Head with both CRCs and entries, into `out` (reset first), for batches that lie in `v` (n slices
 * whose sum is data_bytes). h->bytes, data_bytes and crc_rest are set. 0 or -ERR_NOMEM. */
int round_encode(struct buf *out, struct round_head *h, const struct round_entry *entries,
                 const struct slice *v, int n);
/* The first block alone (at least JOURNAL_BLOCK bytes): 0; -ERR_NOT_FOUND: not the begin of a
 * round; -ERR_CORRUPT: looks like one, its CRC is wrong or its numbers cannot be. */
int round_head_parse(struct slice block, struct round_head *h);
/* Is the rest as the head says, and does every entry fit? `round` holds h->bytes. 0 or
 * -ERR_CORRUPT. */
int round_check(const struct round_head *h, struct slice round);
/* Entry i of a checked round, and its batch. data_at is moved: begin with 0 and ask in order. */
void round_entry_at(const struct round_head *h, struct slice round, uint32_t i, uint64_t *data_at,
                    struct round_entry *e, struct slice *batch);
#endif

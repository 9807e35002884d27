/* base/wire/batch_check.h - the leader's rules for record sets of Produce requests.
 *
 * A set is accepted whole or refused with one of the protocol's errors and a text for the
 * response. The walk over the records costs no allocation; a compressed batch is decompressed into
 * the caller's buffer once, to count its records and to see their timestamps and keys. */
#ifndef ONCE_BASE_WIRE_BATCH_CHECK_H
#define ONCE_BASE_WIRE_BATCH_CHECK_H
#include "base/wire/batch.h"

/* A record that is refused by itself: for the response's list. */
struct batch_bad {
    int32_t index;
    const char *text; /* static */
};

struct batch_validate_options {
    int16_t produce_version;   /* zstd needs 7 */
    int64_t now_ms;            /* the clock */
    int64_t before_max_ms;     /* message.timestamp.before.max.ms; INT64_MAX is no limit */
    int64_t after_max_ms;      /* message.timestamp.after.max.ms */
    int64_t batch_bytes_max;   /* max.message.bytes */
    int64_t segment_bytes;     /* the whole set must fit a segment */
    bool compacted;            /* every record needs a key */
    bool log_append_time;      /* the topic stamps */
    struct buf *scratch;       /* for the records of a compressed batch; its max bounds them */
    struct compress *compress; /* may be NULL */
    struct batch_bad *bad;     /* may be NULL; room for n_bad */
    int n_bad;                 /* in: room; out, on an error: how many are filled */
};

/* records: of one partition of a Produce request. 0: *b describes the one batch, of which b->size
 * bytes are to be stored (a tail of fewer than 12 bytes is dropped), and b->max_timestamp is what
 * they must carry: see batch_finish_produce. Otherwise -ERR_INVALID, *kafka_error the protocol's
 * code, e the text; -ERR_NOMEM passes through with UNKNOWN_SERVER_ERROR. */
int batch_validate_produce(struct slice records, struct batch_validate_options *o,
                           struct batch_info *b, int *kafka_error, struct err *e) MUST_USE;

/* Makes the bytes of a validated batch the log's: offset, epoch, timestamps (now_ms if the topic
 * stamps), the CRC only if something under it changed. */
void batch_finish_produce(unsigned char *batch, struct batch_info *b, int64_t base_offset,
                          int32_t leader_epoch, bool log_append_time, int64_t now_ms);
#endif

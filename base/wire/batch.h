/* base/wire/batch.h - record batches, format 2: the bytes of Produce and Fetch and of the
 * segments.
 *
 * Reading: batch_header tells what a batch is and how long; record_iter walks its records.
 * Writing: batch_writer appends records to a buf and closes the batch. In place: the setters below
 * change what a leader may change. batch_check.h has the leader's rules for batches that producers
 * send.
 *
 * Nothing allocates per record. Slices point into the batch, or into the scratch buffer of the
 * iterator when the batch is compressed. */
#ifndef ONCE_BASE_WIRE_BATCH_H
#define ONCE_BASE_WIRE_BATCH_H
#include "base/buf.h"
#include "base/compress.h"

#define BATCH_HEADER      61 /* bytes before the records */
#define BATCH_LENGTH_BASE 12 /* bytes that the length field does not count */
#define BATCH_MAGIC       2
#define BATCH_MARKER_SIZE 78

#define BATCH_CODEC_MASK      0x07
#define BATCH_LOG_APPEND_TIME 0x08
#define BATCH_TRANSACTIONAL   0x10
#define BATCH_CONTROL         0x20
#define BATCH_DELETE_HORIZON  0x40

/* Types of control records. */
enum control_type { CONTROL_ABORT = 0, CONTROL_COMMIT = 1 };

struct batch_info {
    int64_t base_offset;
    int32_t length; /* as on disk: size - 12 */
    int32_t leader_epoch;
    int8_t magic;
    uint32_t crc;
    int16_t attributes;
    int32_t last_offset_delta;
    int64_t base_timestamp; /* ms; the delete horizon if that bit is set */
    int64_t max_timestamp;  /* ms */
    int64_t producer_id;    /* -1: none */
    int16_t producer_epoch;
    int32_t base_sequence;
    int32_t count;
    size_t size; /* bytes of the whole batch */
};

/* Reads the header at the start of s. 0: the whole batch is in s. -ERR_SHORT: s ends inside it; if
 * s holds at least BATCH_HEADER bytes, b is filled all the same, if at least 12, b->size is set
 * (else 0). -ERR_UNSUPPORTED: another magic. -ERR_CORRUPT: a length, count or offset that cannot
 * be. No CRC. */
int batch_header(struct slice s, struct batch_info *b) MUST_USE;
/* Of a whole batch as batch_header accepted it. */
bool batch_crc_ok(struct slice batch);

static inline int batch_codec(const struct batch_info *b)
{
    return b->attributes & BATCH_CODEC_MASK;
}
static inline bool batch_is_transactional(const struct batch_info *b)
{
    return b->attributes & BATCH_TRANSACTIONAL;
}
static inline bool batch_is_control(const struct batch_info *b)
{
    return b->attributes & BATCH_CONTROL;
}
static inline bool batch_is_log_append_time(const struct batch_info *b)
{
    return b->attributes & BATCH_LOG_APPEND_TIME;
}
static inline bool batch_has_delete_horizon(const struct batch_info *b)
{
    return b->attributes & BATCH_DELETE_HORIZON;
}
static inline int64_t batch_last_offset(const struct batch_info *b)
{
    return b->base_offset + b->last_offset_delta;
}
static inline int64_t batch_next_offset(const struct batch_info *b)
{
    return batch_last_offset(b) + 1;
}
/* The sequence n after s; 2^31-1 is followed by 0. */
int32_t batch_sequence_add(int32_t s, int32_t n);
/* The last sequence of the batch; -1 if it has none. */
int32_t batch_last_sequence(const struct batch_info *b);

/* --- In place, on the bytes of a whole batch --- */

/* Not covered by the CRC. */
void batch_set_offset(unsigned char *batch, int64_t base_offset, int32_t leader_epoch);
/* The topic stamps: sets the bit and the max timestamp, renews the CRC. */
void batch_set_log_append_time(unsigned char *batch, int64_t now_ms);
/* The producer stamps: clears the bit, sets the max timestamp, renews the CRC. */
void batch_set_max_timestamp(unsigned char *batch, int64_t max_ms);
/* For a batch that is sent again under another identity; renews the CRC. */
void batch_set_producer(unsigned char *batch, int64_t producer_id, int16_t epoch,
                        int32_t base_sequence);

/* --- Reading records --- */

struct record {
    int64_t offset;
    int64_t timestamp; /* ms; the batch's max timestamp if the log stamps */
    int32_t sequence;  /* -1: none */
    int8_t attributes;
    int32_t offset_delta;    /* as stored */
    struct slice key, value; /* null is p == NULL */
    int32_t n_headers;
    struct slice headers; /* raw, for header_iter; their form is checked already */
};

struct record_iter {
    struct batch_info batch;
    struct slice rest; /* records not yet read */
    int32_t left;
};

/* batch: whole, its CRC checked by the caller if it matters. scratch takes the records of a
 * compressed batch (emptied first; its max bounds them; may be NULL for uncompressed ones) and
 * must live as long as records are looked at. 0 or the errors of batch_header and decompress_with;
 * -ERR_INVALID: a compressed batch and no scratch. */
int record_iter_init(struct record_iter *it, struct slice batch, struct buf *scratch) MUST_USE;
int record_iter_init_with(struct record_iter *it, struct slice batch, struct buf *scratch,
                          struct compress *c) MUST_USE;
/* 1: a record, 0: all have been read, -ERR_CORRUPT: malformed, or fewer or more than the header
 * says. */
int record_iter_next(struct record_iter *it, struct record *r) MUST_USE;

struct header_iter {
    struct slice rest;
    int32_t left;
};
void header_iter_init(struct header_iter *it, const struct record *r);
/* 1: a header (value may be null), 0: none left. */
int header_iter_next(struct header_iter *it, struct slice *key, struct slice *value);
/* The value of the last header of that name; false if there is none. */
bool record_header(const struct record *r, const char *name, struct slice *value);

/* The type of the control batch's first record (enum control_type, or another of Kafka's), and of
 * an end marker its coordinator epoch (0 for others). 0 or -ERR_CORRUPT. */
int batch_control_read(struct slice batch, int *type, int32_t *coordinator_epoch) MUST_USE;

/* --- Writing --- */

struct record_header {
    struct slice key, value;
};

struct batch_writer_options {
    int codec;
    int16_t attributes;        /* BATCH_TRANSACTIONAL and the like; the codec's bits are put in */
    int64_t base_offset;       /* what the leader will set; 0 from a producer */
    int32_t leader_epoch;      /* -1 from a producer */
    struct compress *compress; /* may be NULL */
    struct buf *scratch;       /* needed with a codec; used by finish alone */
};

struct batch_writer {
    struct batch_writer_options opt;
    struct buf *out;
    size_t start; /* of the batch in out */
    int64_t base_timestamp, max_timestamp;
    int32_t count;
};

/* Opens a batch at the end of out. 0, -ERR_TOO_BIG, -ERR_NOMEM. */
int batch_writer_begin(struct batch_writer *w, struct buf *out,
                       const struct batch_writer_options *o);
/* Adds a record; the first one's timestamp is the batch's base. -ERR_TOO_BIG (out's max, 2^31-1
 * bytes or records), -ERR_NOMEM: the batch is as it was before. */
int batch_writer_add(struct batch_writer *w, int64_t timestamp, struct slice key,
                     struct slice value, const struct record_header *headers, int n_headers);
/* Bytes of the batch so far, uncompressed. */
size_t batch_writer_size(const struct batch_writer *w);
/* At most so many bytes does a record add. */
size_t batch_record_bound(struct slice key, struct slice value, const struct record_header *headers,
                          int n_headers);
/* Compresses, writes the header and the CRC. producer_id, epoch and base_sequence are -1 for none.
 * An error takes the whole batch off out again. */
int batch_writer_finish(struct batch_writer *w, int64_t producer_id, int16_t epoch,
                        int32_t base_sequence);

/* Appends the end marker of a transaction (BATCH_MARKER_SIZE bytes, base offset 0, leader epoch
 * -1). */
int batch_control_marker(struct buf *out, int64_t producer_id, int16_t epoch,
                         int32_t coordinator_epoch, bool commit, int64_t timestamp);
#endif

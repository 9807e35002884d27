/* base/wire/batch_check.c - the rules, in the order in which Kafka's broker meets them.
 *
 * Form of the set, sizes, CRC, header, then each record. Where Kafka lets a payload that does not
 * decompress escape as an unknown error, INVALID_RECORD is answered here. */
#include "base/wire/batch_check.h"
#include "base/bytes.h"
#include "base/check.h"
#include "base/wire/kafka_error.h"
#include <inttypes.h>

#define ZSTD_PRODUCE_VERSION 7
#define NO_TIMESTAMP         (-1)

#define REFUSE(code, ...)                                                                          \
    do {                                                                                           \
        *kafka_error = (code);                                                                     \
        return err_set(e, ERR_INVALID, __VA_ARGS__);                                               \
    } while (0)

/* One whole batch of format 2 and nothing to speak of behind it. */
static int check_form(struct slice s, struct batch_info *b, int *kafka_error, struct err *e)
{
    int rc = batch_header(s, b);
    int8_t magic = s.n > 16 ? (int8_t)s.p[16] : 0;
    if (s.n < BATCH_LENGTH_BASE)
        REFUSE(KAFKA_INVALID_RECORD, "the record set holds no batch");
    if (rc == -ERR_UNSUPPORTED)
        REFUSE(magic > BATCH_MAGIC || magic < 0 ? KAFKA_CORRUPT_MESSAGE : KAFKA_INVALID_RECORD,
               "batch format %d, only 2 is accepted", magic);
    if (get_be64(s.p) != 0)
        REFUSE(KAFKA_INVALID_RECORD, "base offset %" PRId64 ", a producer must send 0",
               (int64_t)get_be64(s.p));
    if (rc == -ERR_SHORT)
        REFUSE(KAFKA_INVALID_RECORD, "the batch is cut off: %zu bytes of %zu", s.n, b->size);
    if (rc && b->size >= BATCH_HEADER)
        REFUSE(KAFKA_INVALID_RECORD, "a count or last offset of the batch is negative");
    if (rc)
        REFUSE(KAFKA_CORRUPT_MESSAGE, "batch length %" PRId32 " is impossible", b->length);
    struct slice tail = slice_sub(s, b->size, s.n);
    struct batch_info second;
    if (tail.n >= BATCH_LENGTH_BASE && batch_header(tail, &second) == 0)
        REFUSE(KAFKA_INVALID_RECORD, "more than one batch");
    if (tail.n >= BATCH_LENGTH_BASE)
        REFUSE(KAFKA_CORRUPT_MESSAGE, "%zu bytes behind the batch", tail.n);
    return 0;
}

static int check_size_and_crc(struct slice s, const struct batch_validate_options *o,
                              const struct batch_info *b, int *kafka_error, struct err *e)
{
    if ((int64_t)b->size > o->batch_bytes_max)
        REFUSE(KAFKA_MESSAGE_TOO_LARGE, "batch of %zu bytes, at most %" PRId64 " are accepted",
               b->size, o->batch_bytes_max);
    if (!batch_crc_ok(slice_sub(s, 0, b->size)))
        REFUSE(KAFKA_CORRUPT_MESSAGE, "the CRC of the batch does not match");
    if ((int64_t)b->size > o->segment_bytes)
        REFUSE(KAFKA_RECORD_LIST_TOO_LARGE, "batch of %zu bytes, segments have %" PRId64, b->size,
               o->segment_bytes);
    return 0;
}

static int check_header(const struct batch_validate_options *o, const struct batch_info *b,
                        int *kafka_error, struct err *e)
{
    int codec = batch_codec(b);
    if (batch_is_control(b))
        REFUSE(KAFKA_INVALID_RECORD, "producers may not write control batches");
    if (b->count == 0 || b->count - 1 != b->last_offset_delta)
        REFUSE(KAFKA_INVALID_RECORD, "%" PRId32 " records with last offset delta %" PRId32,
               b->count, b->last_offset_delta);
    if (b->producer_id >= 0 && (b->base_sequence < 0 || b->producer_epoch < 0))
        REFUSE(KAFKA_INVALID_RECORD, "producer %" PRId64 " without sequence or epoch",
               b->producer_id);
    if (codec >= CODEC_COUNT)
        REFUSE(KAFKA_INVALID_RECORD, "unknown compression codec %d", codec);
    if (codec == CODEC_ZSTD && o->produce_version < ZSTD_PRODUCE_VERSION)
        REFUSE(KAFKA_UNSUPPORTED_COMPRESSION_TYPE, "zstd needs Produce version %d",
               ZSTD_PRODUCE_VERSION);
    if (!batch_is_log_append_time(b))
        return 0;
    if (o->log_append_time || b->max_timestamp == NO_TIMESTAMP)
        REFUSE(KAFKA_INVALID_TIMESTAMP, "a producer may not set the log append time");
    return 0;
}

/* The code with which a single record is refused, 0 for none. */
static int record_refusal(const struct batch_validate_options *o, const struct record *r,
                          const char **text)
{
    if (o->compacted && !r->key.p) {
        *text = "a compacted topic needs a key in each record";
        return KAFKA_INVALID_RECORD;
    }
    if (o->log_append_time || r->timestamp == NO_TIMESTAMP)
        return 0;
    bool early = o->before_max_ms < INT64_MAX && r->timestamp < o->now_ms - o->before_max_ms;
    bool late = o->after_max_ms < INT64_MAX - o->now_ms &&
                r->timestamp > o->now_ms + o->after_max_ms;
    if (early || late) {
        *text = "the timestamp is out of the accepted range";
        return KAFKA_INVALID_TIMESTAMP;
    }
    return 0;
}

static int check_records(struct slice s, struct batch_validate_options *o, int room,
                         struct batch_info *b, int *kafka_error, struct err *e)
{
    struct record_iter it;
    struct record r;
    int refused = 0, code = 0, rc;
    int64_t max = INT64_MIN;
    const char *text = NULL;

    rc = record_iter_init_with(&it, slice_sub(s, 0, b->size), o->scratch, o->compress);
    if (rc == -ERR_NOMEM) {
        *kafka_error = KAFKA_UNKNOWN_SERVER_ERROR;
        return err_set(e, ERR_NOMEM, "no memory to decompress a batch");
    }
    if (rc == -ERR_TOO_BIG)
        REFUSE(KAFKA_MESSAGE_TOO_LARGE, "the batch decompresses to more than %zu bytes",
               o->scratch->max);
    if (rc)
        REFUSE(KAFKA_INVALID_RECORD, "the %s payload does not decompress",
               codec_name(batch_codec(b)));
    for (int32_t i = 0; (rc = record_iter_next(&it, &r)) == 1; i++) {
        const char *t;
        int c = record_refusal(o, &r, &t);
        if (batch_codec(b) != CODEC_NONE && r.offset_delta != i)
            REFUSE(KAFKA_INVALID_RECORD,
                   "record %" PRId32 " of a compressed batch has offset delta %" PRId32, i,
                   r.offset_delta);
        if (r.timestamp > max)
            max = r.timestamp;
        if (!c)
            continue;
        if (!code) {
            code = c;
            text = t;
        }
        if (refused < room)
            o->bad[refused++] = (struct batch_bad){i, t};
    }
    if (rc < 0)
        REFUSE(KAFKA_INVALID_RECORD, "a record of the batch is malformed or the count is wrong");
    if (code) {
        o->n_bad = refused;
        REFUSE(code, "%s", text);
    }
    b->max_timestamp = max;
    return 0;
}

int batch_validate_produce(struct slice records, struct batch_validate_options *o,
                           struct batch_info *b, int *kafka_error, struct err *e)
{
    int room = o->bad ? o->n_bad : 0, rc;
    *kafka_error = KAFKA_NONE;
    o->n_bad = 0;
    if ((rc = check_form(records, b, kafka_error, e)) ||
        (rc = check_size_and_crc(records, o, b, kafka_error, e)) ||
        (rc = check_header(o, b, kafka_error, e)))
        return rc;
    return check_records(records, o, room, b, kafka_error, e);
}

void batch_finish_produce(unsigned char *batch, struct batch_info *b, int64_t base_offset,
                          int32_t leader_epoch, bool log_append_time, int64_t now_ms)
{
    struct batch_info was;
    int rc = batch_header(slice_of(batch, b->size), &was);
    CHECK(rc == 0);
    b->base_offset = base_offset;
    b->leader_epoch = leader_epoch;
    batch_set_offset(batch, base_offset, leader_epoch);
    if (log_append_time)
        batch_set_log_append_time(batch, now_ms);
    else if (was.max_timestamp != b->max_timestamp || batch_is_log_append_time(&was))
        batch_set_max_timestamp(batch, b->max_timestamp);
    rc = batch_header(slice_of(batch, b->size), b);
    CHECK(rc == 0);
}

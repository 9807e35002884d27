/* base/wire/batch.c - the batch header, its setters, and the walk over records.
 *
 * Every length is checked against what is left of what encloses it: batch, record, header list. */
#include "base/wire/batch.h"
#include "base/bytes.h"
#include "base/check.h"

enum {
    AT_LENGTH = 8,
    AT_LEADER_EPOCH = 12,
    AT_MAGIC = 16,
    AT_CRC = 17,
    AT_ATTRIBUTES = 21,
    AT_LAST_DELTA = 23,
    AT_BASE_TIMESTAMP = 27,
    AT_MAX_TIMESTAMP = 35,
    AT_PRODUCER_ID = 43,
    AT_EPOCH = 51,
    AT_SEQUENCE = 53,
    AT_COUNT = 57
};

int batch_header(struct slice s, struct batch_info *b)
{
    *b = (struct batch_info){.producer_id = -1};
    if (s.n < BATCH_LENGTH_BASE)
        return -ERR_SHORT;
    b->base_offset = (int64_t)get_be64(s.p);
    b->length = (int32_t)get_be32(s.p + AT_LENGTH);
    if (b->length < 0)
        return -ERR_CORRUPT;
    b->size = (size_t)b->length + BATCH_LENGTH_BASE;
    if (s.n <= AT_MAGIC)
        return -ERR_SHORT;
    b->magic = (int8_t)s.p[AT_MAGIC];
    if (b->magic != BATCH_MAGIC)
        return -ERR_UNSUPPORTED;
    if (b->size < BATCH_HEADER || b->base_offset < 0 || b->base_offset > INT64_MAX - INT32_MAX - 1)
        return -ERR_CORRUPT;
    if (s.n < BATCH_HEADER)
        return -ERR_SHORT;
    b->leader_epoch = (int32_t)get_be32(s.p + AT_LEADER_EPOCH);
    b->crc = get_be32(s.p + AT_CRC);
    b->attributes = (int16_t)get_be16(s.p + AT_ATTRIBUTES);
    b->last_offset_delta = (int32_t)get_be32(s.p + AT_LAST_DELTA);
    b->base_timestamp = (int64_t)get_be64(s.p + AT_BASE_TIMESTAMP);
    b->max_timestamp = (int64_t)get_be64(s.p + AT_MAX_TIMESTAMP);
    b->producer_id = (int64_t)get_be64(s.p + AT_PRODUCER_ID);
    b->producer_epoch = (int16_t)get_be16(s.p + AT_EPOCH);
    b->base_sequence = (int32_t)get_be32(s.p + AT_SEQUENCE);
    b->count = (int32_t)get_be32(s.p + AT_COUNT);
    if (b->last_offset_delta < 0 || b->count < 0)
        return -ERR_CORRUPT;
    return s.n < b->size ? -ERR_SHORT : 0;
}

static uint32_t crc_of(const unsigned char *batch)
{
    size_t size = get_be32(batch + AT_LENGTH) + (size_t)BATCH_LENGTH_BASE;
    return crc32c(0, batch + AT_ATTRIBUTES, size - AT_ATTRIBUTES);
}

static void renew_crc(unsigned char *batch)
{
    put_be32(batch + AT_CRC, crc_of(batch));
}

bool batch_crc_ok(struct slice batch)
{
    DCHECK(batch.n >= get_be32(batch.p + AT_LENGTH) + (size_t)BATCH_LENGTH_BASE);
    return crc_of(batch.p) == get_be32(batch.p + AT_CRC);
}

int32_t batch_sequence_add(int32_t s, int32_t n)
{
    return (int32_t)(((uint32_t)s + (uint32_t)n) & INT32_MAX);
}

int32_t batch_last_sequence(const struct batch_info *b)
{
    return b->base_sequence < 0 ? -1 : batch_sequence_add(b->base_sequence, b->last_offset_delta);
}

void batch_set_offset(unsigned char *batch, int64_t base_offset, int32_t leader_epoch)
{
    put_be64(batch, (uint64_t)base_offset);
    put_be32(batch + AT_LEADER_EPOCH, (uint32_t)leader_epoch);
}

static void set_timestamp(unsigned char *batch, int64_t max_ms, bool log_append)
{
    uint16_t attributes = get_be16(batch + AT_ATTRIBUTES) & (uint16_t)~BATCH_LOG_APPEND_TIME;
    if (log_append)
        attributes |= BATCH_LOG_APPEND_TIME;
    put_be16(batch + AT_ATTRIBUTES, attributes);
    put_be64(batch + AT_MAX_TIMESTAMP, (uint64_t)max_ms);
    renew_crc(batch);
}

void batch_set_log_append_time(unsigned char *batch, int64_t now_ms)
{
    set_timestamp(batch, now_ms, true);
}

void batch_set_max_timestamp(unsigned char *batch, int64_t max_ms)
{
    set_timestamp(batch, max_ms, false);
}

void batch_set_producer(unsigned char *batch, int64_t producer_id, int16_t epoch,
                        int32_t base_sequence)
{
    put_be64(batch + AT_PRODUCER_ID, (uint64_t)producer_id);
    put_be16(batch + AT_EPOCH, (uint16_t)epoch);
    put_be32(batch + AT_SEQUENCE, (uint32_t)base_sequence);
    renew_crc(batch);
}

/* --- Records --- */

int record_iter_init(struct record_iter *it, struct slice batch, struct buf *scratch)
{
    return record_iter_init_with(it, batch, scratch, NULL);
}

int record_iter_init_with(struct record_iter *it, struct slice batch, struct buf *scratch,
                          struct compress *c)
{
    *it = (struct record_iter){.left = 0};
    int rc = batch_header(batch, &it->batch);
    if (rc)
        return rc;
    it->left = it->batch.count;
    it->rest = slice_sub(batch, BATCH_HEADER, it->batch.size - BATCH_HEADER);
    if (batch_codec(&it->batch) == CODEC_NONE || it->left == 0)
        return 0;
    if (!scratch)
        return -ERR_INVALID;
    buf_reset(scratch);
    if ((rc = decompress_with(c, batch_codec(&it->batch), it->rest, scratch)))
        return rc;
    it->rest = buf_slice(scratch);
    return 0;
}

/* Varints of one byte are the common case. */
static bool take_varint(struct slice *s, int32_t *v)
{
    if (s->n && s->p[0] < 0x80) {
        *v = (int32_t)(s->p[0] >> 1) ^ -(int32_t)(s->p[0] & 1);
        *s = slice_of(s->p + 1, s->n - 1);
        return true;
    }
    int n = get_varint(*s, v);
    if (n < 0)
        return false;
    *s = slice_of(s->p + n, s->n - (size_t)n);
    return true;
}

static bool take_varlong(struct slice *s, int64_t *v)
{
    int n = get_varlong(*s, v);
    if (n < 0)
        return false;
    *s = slice_of(s->p + n, s->n - (size_t)n);
    return true;
}

/* A length and so many bytes; -1 is null. */
static bool take_bytes(struct slice *s, struct slice *v, bool nullable)
{
    int32_t n;
    if (!take_varint(s, &n))
        return false;
    if (n == -1 && nullable) {
        *v = SLICE_NULL;
        return true;
    }
    if (n < 0 || (size_t)n > s->n)
        return false;
    *v = slice_of(s->p, (size_t)n);
    *s = slice_of(s->p + n, s->n - (size_t)n);
    return true;
}

static bool headers_fill(struct slice s, int32_t n)
{
    struct slice key, value;
    if (n < 0)
        return false;
    for (; n; n--)
        if (!take_bytes(&s, &key, false) || !take_bytes(&s, &value, true))
            return false;
    return s.n == 0;
}

static bool read_record(const struct batch_info *b, struct slice s, struct record *r)
{
    int64_t timestamp_delta;
    if (s.n == 0)
        return false;
    r->attributes = (int8_t)s.p[0];
    s = slice_of(s.p + 1, s.n - 1);
    if (!take_varlong(&s, &timestamp_delta) || !take_varint(&s, &r->offset_delta) ||
        !take_bytes(&s, &r->key, true) || !take_bytes(&s, &r->value, true) ||
        !take_varint(&s, &r->n_headers) || !headers_fill(s, r->n_headers))
        return false;
    r->headers = s;
    r->offset = b->base_offset + r->offset_delta;
    r->sequence = b->base_sequence < 0 ? -1 : batch_sequence_add(b->base_sequence, r->offset_delta);
    r->timestamp = batch_is_log_append_time(b)
                       ? b->max_timestamp
                       : (int64_t)((uint64_t)b->base_timestamp + (uint64_t)timestamp_delta);
    return true;
}

int record_iter_next(struct record_iter *it, struct record *r)
{
    int32_t n;
    if (it->left == 0)
        return it->rest.n ? -ERR_CORRUPT : 0;
    if (!take_varint(&it->rest, &n) || n < 0 || (size_t)n > it->rest.n ||
        !read_record(&it->batch, slice_of(it->rest.p, (size_t)n), r))
        return -ERR_CORRUPT;
    it->rest = slice_of(it->rest.p + n, it->rest.n - (size_t)n);
    it->left--;
    return 1;
}

void header_iter_init(struct header_iter *it, const struct record *r)
{
    *it = (struct header_iter){r->headers, r->n_headers};
}

int header_iter_next(struct header_iter *it, struct slice *key, struct slice *value)
{
    if (it->left == 0)
        return 0;
    it->left--;
    return take_bytes(&it->rest, key, false) && take_bytes(&it->rest, value, true);
}

bool record_header(const struct record *r, const char *name, struct slice *value)
{
    struct header_iter it;
    struct slice k, v;
    bool found = false;
    header_iter_init(&it, r);
    while (header_iter_next(&it, &k, &v))
        if (slice_eq_str(k, name)) {
            *value = v;
            found = true;
        }
    return found;
}

int batch_control_read(struct slice batch, int *type, int32_t *coordinator_epoch)
{
    struct record_iter it;
    struct record r;
    *coordinator_epoch = 0;
    if (record_iter_init(&it, batch, NULL) || !batch_is_control(&it.batch) ||
        record_iter_next(&it, &r) != 1 || r.key.n < 4)
        return -ERR_CORRUPT;
    *type = (int16_t)get_be16(r.key.p + 2);
    if (*type != CONTROL_ABORT && *type != CONTROL_COMMIT)
        return 0;
    if (r.value.n < 6)
        return -ERR_CORRUPT;
    *coordinator_epoch = (int32_t)get_be32(r.value.p + 2);
    return 0;
}

/* base/wire/batch_writer.c - builds record batches at the end of a buf.
 *
 * The header's room is kept free, records are put behind it, finish fills the header in. With a
 * codec the records are compressed into the scratch buffer and put back, so out never holds both.
 * A record's bytes are reserved once from its exact size; then writing cannot fail. */
#include "base/bytes.h"
#include "base/check.h"
#include "base/wire/batch.h"

int batch_writer_begin(struct batch_writer *w, struct buf *out,
                       const struct batch_writer_options *o)
{
    *w = (struct batch_writer){
        .opt = *o, .out = out, .start = out->n, .base_timestamp = -1, .max_timestamp = -1};
    CHECK(o->codec == CODEC_NONE || o->scratch);
    return buf_more(out, BATCH_HEADER) ? 0 : out->failed;
}

static size_t bytes_size(struct slice s)
{
    return (size_t)varint_size(s.p ? (int64_t)s.n : -1) + s.n;
}

static unsigned char *put_bytes(unsigned char *p, struct slice s)
{
    p += put_varint(p, s.p ? (int64_t)s.n : -1);
    if (s.n)
        memcpy(p, s.p, s.n);
    return p + s.n;
}

/* Key, value and headers. */
static size_t content_size(struct slice key, struct slice value,
                           const struct record_header *headers, int n_headers)
{
    size_t n = bytes_size(key) + bytes_size(value) + (size_t)varint_size(n_headers);
    for (int i = 0; i < n_headers; i++)
        n += bytes_size(headers[i].key) + bytes_size(headers[i].value);
    return n;
}

size_t batch_record_bound(struct slice key, struct slice value, const struct record_header *headers,
                          int n_headers)
{
    return 5 + 1 + 10 + 5 + content_size(key, value, headers, n_headers);
}

int batch_writer_add(struct batch_writer *w, int64_t timestamp, struct slice key,
                     struct slice value, const struct record_header *headers, int n_headers)
{
    int64_t base = w->count ? w->base_timestamp : timestamp;
    int64_t delta = (int64_t)((uint64_t)timestamp - (uint64_t)base);
    size_t body = 1 + (size_t)varint_size(delta) + (size_t)varint_size(w->count) +
                  content_size(key, value, headers, n_headers);
    size_t size = body + (size_t)varint_size((int64_t)body);
    if (w->count == INT32_MAX || size > INT32_MAX - batch_writer_size(w))
        return -ERR_TOO_BIG;
    unsigned char *p = buf_more(w->out, size);
    if (!p)
        return w->out->failed;
    unsigned char *end = p + size;
    p += put_varint(p, (int64_t)body);
    *p++ = 0;
    p += put_varint(p, delta);
    p += put_varint(p, w->count);
    p = put_bytes(p, key);
    p = put_bytes(p, value);
    p += put_varint(p, n_headers);
    for (int i = 0; i < n_headers; i++) {
        p = put_bytes(p, headers[i].key);
        p = put_bytes(p, headers[i].value);
    }
    CHECK(p == end);
    if (w->count == 0 || timestamp > w->max_timestamp)
        w->max_timestamp = timestamp;
    w->base_timestamp = base;
    w->count++;
    return 0;
}

size_t batch_writer_size(const struct batch_writer *w)
{
    return w->out->n - w->start;
}

static int compress_records(struct batch_writer *w)
{
    struct buf *scratch = w->opt.scratch;
    size_t at = w->start + BATCH_HEADER;
    buf_reset(scratch);
    int rc = compress_with(w->opt.compress, w->opt.codec, slice_of(w->out->p + at, w->out->n - at),
                           scratch);
    if (rc)
        return rc;
    w->out->n = at;
    return buf_put_slice(w->out, buf_slice(scratch));
}

int batch_writer_finish(struct batch_writer *w, int64_t producer_id, int16_t epoch,
                        int32_t base_sequence)
{
    int rc = w->opt.codec == CODEC_NONE || w->count == 0 ? 0 : compress_records(w);
    if (rc) {
        w->out->n = w->start;
        return rc;
    }
    int codec = w->count ? w->opt.codec : CODEC_NONE;
    unsigned char *p = w->out->p + w->start;
    size_t size = w->out->n - w->start;
    put_be64(p, (uint64_t)w->opt.base_offset);
    put_be32(p + 8, (uint32_t)(size - BATCH_LENGTH_BASE));
    put_be32(p + 12, (uint32_t)w->opt.leader_epoch);
    p[16] = BATCH_MAGIC;
    put_be16(p + 21, (uint16_t)(w->opt.attributes | codec));
    put_be32(p + 23, (uint32_t)(w->count ? w->count - 1 : 0));
    put_be64(p + 27, (uint64_t)w->base_timestamp);
    put_be64(p + 35, (uint64_t)w->max_timestamp);
    put_be64(p + 43, (uint64_t)producer_id);
    put_be16(p + 51, (uint16_t)epoch);
    put_be32(p + 53, (uint32_t)base_sequence);
    put_be32(p + 57, (uint32_t)w->count);
    put_be32(p + 17, crc32c(0, p + 21, size - 21));
    return 0;
}

int batch_control_marker(struct buf *out, int64_t producer_id, int16_t epoch,
                         int32_t coordinator_epoch, bool commit, int64_t timestamp)
{
    struct batch_writer w;
    struct batch_writer_options o = {.attributes = BATCH_TRANSACTIONAL | BATCH_CONTROL,
                                     .leader_epoch = -1};
    unsigned char key[4], value[6];
    put_be16(key, 0);
    put_be16(key + 2, commit ? CONTROL_COMMIT : CONTROL_ABORT);
    put_be16(value, 0);
    put_be32(value + 2, (uint32_t)coordinator_epoch);
    size_t start = out->n;
    int rc = batch_writer_begin(&w, out, &o);
    if (rc == 0)
        rc = batch_writer_add(&w, timestamp, slice_of(key, 4), slice_of(value, 6), NULL, 0);
    if (rc) {
        out->n = start;
        return rc;
    }
    return batch_writer_finish(&w, producer_id, epoch, -1);
}

/* broker/log/dump_log.c - prints the batches of a segment, and with deep the records in them.
 * Also the rebuilding of a segment's indexes, for who wants to compare. */
#include "broker/log/dump.h"
#include "broker/log/index.h"
#include <inttypes.h>
#include <stdio.h>

enum { CHUNK = 1 << 20 };

/* At most 100 bytes of it, what is not printable as \xNN. */
static void shown(struct slice s, char out[512])
{
    size_t at = 0;

    if (slice_is_null(s)) {
        strcpy(out, "null");
        return;
    }
    for (size_t i = 0; i < s.n && i < 100; i++) {
        if (s.p[i] >= 0x20 && s.p[i] < 0x7f && s.p[i] != '\\')
            out[at++] = (char)s.p[i];
        else
            at += (size_t)snprintf(out + at, 5, "\\x%02x", s.p[i]);
    }
    strcpy(out + at, s.n > 100 ? "..." : "");
}

static int dump_records(struct dump *d, uint64_t pos, struct slice batch)
{
    struct record_iter it;
    struct record rec;
    struct buf scratch;
    int r;

    buf_init(&scratch, 1u << 30);
    r = record_iter_init(&it, batch, &scratch);
    while (r == 0 && (r = record_iter_next(&it, &rec)) == 1) {
        char key[512], value[512], headers[1024] = "";
        struct header_iter h;
        struct slice name, v;
        size_t at = 0;
        shown(rec.key, key);
        shown(rec.value, value);
        header_iter_init(&h, &rec);
        while (header_iter_next(&h, &name, &v) == 1 && at < 400) {
            char a[512], b[512];
            shown(slice_sub(name, 0, 40), a);
            shown(slice_sub(v, 0, 40), b);
            at +=
                (size_t)snprintf(headers + at, sizeof headers - at, "%s%s=%s", at ? "," : "", a, b);
        }
        dump_line(
            d,
            "| offset: %" PRId64 " timestamp: %" PRId64 " sequence: %d keySize: %zd valueSize: "
            "%zd headers: [%s] key: %s value: %s",
            rec.offset, rec.timestamp, (int)rec.sequence,
            slice_is_null(rec.key) ? (ssize_t)-1 : (ssize_t)rec.key.n,
            slice_is_null(rec.value) ? (ssize_t)-1 : (ssize_t)rec.value.n, headers, key, value);
        r = 0;
    }
    buf_deinit(&scratch);
    return r < 0 ? dump_bad(d, pos, "the records of the batch cannot be read") : 0;
}

static int dump_control(struct dump *d, uint64_t pos, struct slice batch)
{
    int32_t epoch;
    int type;

    if (batch_control_read(batch, &type, &epoch) < 0)
        return dump_bad(d, pos, "the control record cannot be read");
    dump_line(d, "| endTxnMarker: %s coordinatorEpoch: %d",
              type == CONTROL_COMMIT  ? "COMMIT"
              : type == CONTROL_ABORT ? "ABORT"
                                      : "other",
              (int)epoch);
    return 0;
}

int dump_batch(struct dump *d, uint64_t pos, struct slice batch)
{
    static const char *const codecs[] = {"none", "gzip", "snappy", "lz4", "zstd", "?", "?", "?"};
    struct batch_info b;
    bool ok;

    if (batch_header(batch, &b) < 0)
        return dump_bad(d, pos, "not a batch");
    ok = batch_crc_ok(batch);
    dump_line(d,
              "baseOffset: %" PRId64 " lastOffset: %" PRId64
              " count: %d baseSequence: %d lastSequence: %d producerId: %" PRId64
              " producerEpoch: %d partitionLeaderEpoch: %d isTransactional: %s isControl: %s "
              "deleteHorizonMs: %s position: %" PRIu64 " %s: %" PRId64
              " size: %zu magic: 2 compresscodec: %s crc: %u isvalid: %s",
              b.base_offset, batch_last_offset(&b), (int)b.count, (int)b.base_sequence,
              (int)batch_last_sequence(&b), b.producer_id, (int)b.producer_epoch,
              (int)b.leader_epoch, batch_is_transactional(&b) ? "true" : "false",
              batch_is_control(&b) ? "true" : "false",
              batch_has_delete_horizon(&b) ? "set" : "none", pos,
              batch_is_log_append_time(&b) ? "LogAppendTime" : "CreateTime", b.max_timestamp,
              b.size, codecs[batch_codec(&b)], b.crc, ok ? "true" : "false");
    if (!ok)
        return dump_bad(d, pos, "the batch does not match its checksum");
    if (!d->deep)
        return 0;
    if (batch_is_control(&b))
        return dump_control(d, pos, batch);
    return dump_records(d, pos, batch);
}

/* One batch at pos, of which b has the bytes from b_pos on. */
static int one_batch(struct dump *d, uint64_t pos, uint64_t *b_pos, struct buf *b, int64_t *next)
{
    for (int tries = 0;; tries++) {
        struct slice rest = slice_sub(buf_slice(b), (size_t)(pos - *b_pos), SIZE_MAX);
        struct batch_info info = {0};
        int r = rest.n >= BATCH_LENGTH_BASE ? batch_header(rest, &info) : -ERR_SHORT;
        if (r == -ERR_SHORT && tries < 2 && rest.n < d->size - pos) {
            *b_pos = pos;
            r = dump_read(d, pos, info.size > CHUNK ? info.size : CHUNK, b);
            if (r < 0)
                return r;
            continue;
        }
        if (r == -ERR_SHORT)
            return dump_bad(d, pos, "the file ends inside a batch");
        if (r < 0)
            return dump_bad(d, pos,
                            r == -ERR_UNSUPPORTED ? "not a batch of format 2" : "not a batch");
        if (info.base_offset < *next)
            return dump_bad(d, pos, "the offsets go back");
        *next = batch_next_offset(&info);
        r = dump_batch(d, pos, slice_sub(rest, 0, info.size));
        return r < 0 ? r : (int)info.size;
    }
}

int dump_log(struct dump *d)
{
    uint64_t pos = 0, b_pos = 0;
    int64_t next = d->base > 0 ? d->base : 0;
    struct buf b;
    int r = 0;

    buf_init(&b, 1u << 31);
    dump_line(d, "Starting offset: %" PRId64, d->base > 0 ? d->base : 0);
    while (pos < d->size && r >= 0) {
        r = one_batch(d, pos, &b_pos, &b, &next);
        pos += r > 0 ? (uint64_t)r : 0;
    }
    buf_deinit(&b);
    return r < 0 ? r : 0;
}

int log_rebuild_indexes(struct slice log_bytes, int64_t base_offset, int32_t index_interval_bytes,
                        struct buf *index, struct buf *timeindex, struct err *e)
{
    struct index x;
    uint64_t pos = 0;
    int r = 0;

    index_init(&x, base_offset);
    while (pos < log_bytes.n && r == 0) {
        struct slice rest = slice_sub(log_bytes, (size_t)pos, SIZE_MAX);
        struct batch_info b;
        r = batch_header(rest, &b);
        if (r == 0 && !batch_crc_ok(slice_sub(rest, 0, b.size)))
            r = -ERR_CORRUPT;
        if (r < 0) {
            err_set(e, -r, "position %" PRIu64 ": %s", pos, err_text(r));
            break;
        }
        r = index_append(&x, pos, (uint32_t)b.size, batch_last_offset(&b), b.max_timestamp,
                         index_interval_bytes);
        pos += b.size;
    }
    if (r == 0)
        r = index_seal(&x);
    if (r == 0)
        r = buf_put_slice(index, buf_slice(&x.idx));
    if (r == 0)
        r = buf_put_slice(timeindex, buf_slice(&x.tidx));
    index_deinit(&x);
    return r;
}

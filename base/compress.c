/* base/compress.c - dispatch over the codecs; gzip and zstd, whose libraries have contexts.
 *
 * gzip grows the output chunk by chunk. zstd decompresses in one piece into an output that doubles
 * until it fits: a stream would allocate the window that a hostile frame asks for. */
#include "base/compress.h"
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#define GZIP_WINDOW  (15 + 16) /* the largest window, gzip header */
#define GZIP_CHUNK   (size_t)16384
#define ZSTD_LEVEL   3
#define ZSTD_AT_ONCE (size_t)65536

static const char *const names[CODEC_COUNT] = {"none", "gzip", "snappy", "lz4", "zstd"};

const char *codec_name(int codec)
{
    return codec >= 0 && codec < CODEC_COUNT ? names[codec] : "unknown";
}

int codec_by_name(struct slice name)
{
    for (int i = 0; i < CODEC_COUNT; i++)
        if (slice_eq_str(name, names[i]))
            return i;
    return -1;
}

void compress_deinit(struct compress *c)
{
    if (c->deflate)
        (void)deflateEnd(c->deflate);
    if (c->inflate)
        (void)inflateEnd(c->inflate);
    free(c->deflate);
    free(c->inflate);
    ZSTD_freeCCtx(c->zstd_c);
    ZSTD_freeDCtx(c->zstd_d);
    *c = (struct compress){NULL};
}

static z_stream *deflate_of(struct compress *c)
{
    if (c->deflate)
        return deflateReset(c->deflate) == Z_OK ? c->deflate : NULL;
    z_stream *z = calloc(1, sizeof *z);
    if (z &&
        deflateInit2(z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY)) {
        free(z);
        return NULL;
    }
    return c->deflate = z;
}

static z_stream *inflate_of(struct compress *c)
{
    if (c->inflate)
        return inflateReset(c->inflate) == Z_OK ? c->inflate : NULL;
    z_stream *z = calloc(1, sizeof *z);
    if (z && inflateInit2(z, GZIP_WINDOW)) {
        free(z);
        return NULL;
    }
    return c->inflate = z;
}

/* Lets z write into the free part of out, at least a byte of it. */
static int offer(z_stream *z, struct buf *out)
{
    size_t left = out->max - out->n;
    int rc = buf_reserve(out, left > GZIP_CHUNK ? GZIP_CHUNK : left ? left : 1);
    if (rc)
        return rc;
    left = out->cap - out->n;
    z->next_out = out->p + out->n;
    z->avail_out = (uInt)(left > 1u << 30 ? 1u << 30 : left);
    return 0;
}

static int gzip_put(struct compress *c, struct slice in, struct buf *out)
{
    z_stream *z = deflate_of(c);
    if (!z)
        return -ERR_NOMEM;
    if (in.n > UINT32_MAX)
        return -ERR_TOO_BIG;
    z->next_in = (unsigned char *)in.p;
    z->avail_in = (uInt)in.n;
    for (;;) {
        int rc = offer(z, out);
        if (rc)
            return rc;
        rc = deflate(z, Z_FINISH);
        out->n = (size_t)(z->next_out - out->p);
        if (rc == Z_STREAM_END)
            return 0;
        if (rc != Z_OK && rc != Z_BUF_ERROR)
            return -ERR_NOMEM;
    }
}

static int gzip_get(struct compress *c, struct slice in, struct buf *out)
{
    z_stream *z = inflate_of(c);
    if (!z)
        return -ERR_NOMEM;
    if (in.n > UINT32_MAX)
        return -ERR_TOO_BIG;
    z->next_in = (unsigned char *)in.p;
    z->avail_in = (uInt)in.n;
    for (;;) {
        int rc = offer(z, out);
        if (rc)
            return rc;
        rc = inflate(z, Z_NO_FLUSH);
        out->n = (size_t)(z->next_out - out->p);
        if (rc == Z_STREAM_END) {
            bool more = z->avail_in >= 2 && z->next_in[0] == 0x1f && z->next_in[1] == 0x8b;
            if (!more)
                return 0;
            (void)inflateReset(z);
        } else if (rc == Z_MEM_ERROR) {
            return -ERR_NOMEM;
        } else if ((rc != Z_OK && rc != Z_BUF_ERROR) || (z->avail_in == 0 && z->avail_out > 0)) {
            return -ERR_CORRUPT;
        }
    }
}

static int zstd_put(struct compress *c, struct slice in, struct buf *out)
{
    if (!c->zstd_c && !(c->zstd_c = ZSTD_createCCtx()))
        return -ERR_NOMEM;
    size_t bound = ZSTD_compressBound(in.n), left = out->max - out->n;
    if (bound > left)
        bound = left;
    int rc = buf_reserve(out, bound ? bound : 1);
    if (rc)
        return rc;
    size_t n = ZSTD_compressCCtx(c->zstd_c, out->p + out->n, bound, in.p, in.n, ZSTD_LEVEL);
    if (ZSTD_isError(n))
        return ZSTD_getErrorCode(n) == ZSTD_error_dstSize_tooSmall ? -ERR_TOO_BIG : -ERR_NOMEM;
    out->n += n;
    return 0;
}

static int zstd_get(struct compress *c, struct slice in, struct buf *out)
{
    if (!c->zstd_d && !(c->zstd_d = ZSTD_createDCtx()))
        return -ERR_NOMEM;
    size_t left = out->max - out->n;
    unsigned long long said = ZSTD_getFrameContentSize(in.p, in.n);
    if (in.n == 0 || said == ZSTD_CONTENTSIZE_ERROR)
        return -ERR_CORRUPT;
    size_t room = in.n > left / 4 ? left : in.n * 4;
    if (said != ZSTD_CONTENTSIZE_UNKNOWN && said <= left)
        room = (size_t)said;
    else if (room < ZSTD_AT_ONCE)
        room = ZSTD_AT_ONCE;
    for (;;) {
        if (room > left)
            room = left;
        int rc = buf_reserve(out, room ? room : 1);
        if (rc)
            return rc;
        size_t n = ZSTD_decompressDCtx(c->zstd_d, out->p + out->n, room, in.p, in.n);
        if (!ZSTD_isError(n)) {
            out->n += n;
            return 0;
        }
        ZSTD_ErrorCode code = ZSTD_getErrorCode(n);
        if (code == ZSTD_error_memory_allocation)
            return -ERR_NOMEM;
        if (code != ZSTD_error_dstSize_tooSmall)
            return -ERR_CORRUPT;
        if (room == left)
            return -ERR_TOO_BIG;
        room = room > left / 2 ? left : room * 2 + 1;
    }
}

typedef int run_fn(struct compress *c, int codec, struct slice in, struct buf *out);

static int put_any(struct compress *c, int codec, struct slice in, struct buf *out)
{
    switch (codec) {
    case CODEC_NONE: return buf_put_slice(out, in);
    case CODEC_GZIP: return gzip_put(c, in, out);
    case CODEC_SNAPPY: return xerial_put(in, out);
    case CODEC_LZ4: return lz4_frame_put(in, out);
    case CODEC_ZSTD: return zstd_put(c, in, out);
    default: return -ERR_UNSUPPORTED;
    }
}

static int get_any(struct compress *c, int codec, struct slice in, struct buf *out)
{
    switch (codec) {
    case CODEC_NONE: return buf_put_slice(out, in);
    case CODEC_GZIP: return gzip_get(c, in, out);
    case CODEC_SNAPPY: return xerial_get(in, out);
    case CODEC_LZ4: return lz4_frame_get(in, out);
    case CODEC_ZSTD: return zstd_get(c, in, out);
    default: return -ERR_UNSUPPORTED;
    }
}

static int run(run_fn *f, struct compress *c, int codec, struct slice in, struct buf *out)
{
    struct compress own = {NULL};
    size_t before = out->n;
    if (out->failed)
        return out->failed;
    int rc = f(c ? c : &own, codec, in, out);
    if (rc)
        out->n = before;
    if (!c)
        compress_deinit(&own);
    return rc;
}

int compress_with(struct compress *c, int codec, struct slice in, struct buf *out)
{
    return run(put_any, c, codec, in, out);
}

int decompress_with(struct compress *c, int codec, struct slice in, struct buf *out)
{
    return run(get_any, c, codec, in, out);
}

/* base/compress.h - the codecs of record batches: gzip, snappy, lz4, zstd, and none.
 *
 * One call turns a whole payload into another, appended to a buf whose max bounds it: what would
 * grow beyond is -ERR_TOO_BIG, so a decompression bomb costs at most that. Written is what Java's
 * clients write; read is also what others write: bare snappy blocks, gzip of several members, lz4
 * frames with any legal options but linked blocks and dictionaries, several zstd frames.
 *
 * On an error the buf holds what it held before. */
#ifndef ONCE_BASE_COMPRESS_H
#define ONCE_BASE_COMPRESS_H
#include "base/buf.h"

/* The codes of the batch attributes. */
enum codec { CODEC_NONE, CODEC_GZIP, CODEC_SNAPPY, CODEC_LZ4, CODEC_ZSTD, CODEC_COUNT };

/* "none", "gzip", ...; "unknown" for others. */
const char *codec_name(int codec);
/* The codec of that name, or -1. */
int codec_by_name(struct slice name);

/* The libraries' contexts, made at first use and kept, so that further calls allocate nothing
 * (snappy's library alone allocates in each call). Zero-initialised is empty. One user at a
 * time. */
struct compress {
    void *deflate, *inflate;
    void *zstd_c, *zstd_d;
};
void compress_deinit(struct compress *c);

/* Appends in, compressed, to out. c may be NULL: contexts for this call alone. 0, -ERR_TOO_BIG,
 * -ERR_NOMEM, -ERR_UNSUPPORTED (no such codec). */
int compress_with(struct compress *c, int codec, struct slice in, struct buf *out) MUST_USE;
/* Appends in, decompressed, to out. As above, and -ERR_CORRUPT when in is not what the codec
 * writes. */
int decompress_with(struct compress *c, int codec, struct slice in, struct buf *out) MUST_USE;

static inline int compress_run(int codec, struct slice in, struct buf *out)
{
    return compress_with(NULL, codec, in, out);
}
static inline int decompress_run(int codec, struct slice in, struct buf *out)
{
    return decompress_with(NULL, codec, in, out);
}

/* The parts in compress_blocks.c; for compress.c. */
int lz4_frame_put(struct slice in, struct buf *out);
int lz4_frame_get(struct slice in, struct buf *out);
int xerial_put(struct slice in, struct buf *out);
int xerial_get(struct slice in, struct buf *out);
/* xxHash, 32 bits, seed 0: the checksum of lz4 frames. */
uint32_t xxh32(struct slice s);
#endif

/* base/compress_blocks.c - the framings around lz4's and snappy's blocks, as Java writes them.
 *
 * lz4: the standard frame with independent 64 KiB blocks, no sizes, no checksums. Read: version 1,
 * independent blocks of any size, block checksums checked, content size and content checksum
 * skipped (the batch has a CRC), anything behind the end mark left alone. snappy: xerial's header
 * and chunks of at most 32 KiB; read also as one bare block. */
#include "base/bytes.h"
#include "base/compress.h"
#include <lz4.h>
#include <snappy-c.h>

#define LZ4_MAGIC            0x184D2204u
#define LZ4_FLAGS            0x60 /* version 1, independent blocks */
#define LZ4_SIZE_CODE        0x40 /* 64 KiB */
#define LZ4_BLOCK            (size_t)65536
#define LZ4_FLAG_INDEPENDENT 0x20
#define LZ4_FLAG_CHECKSUM    0x10
#define LZ4_FLAG_SIZE        0x08
#define LZ4_FLAG_DICTIONARY  0x01
#define LZ4_STORED           0x80000000u
#define LZ4_RATIO_MAX        (size_t)256
#define XERIAL_BLOCK         (size_t)32768
#define SNAPPY_RATIO_MAX     (size_t)32 /* 64 bytes in 3, and some room */

static const unsigned char xerial_magic[8] = {0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0};

static uint32_t get_le32(const unsigned char *p)
{
    return __builtin_bswap32(get_be32(p));
}

static void put_le32(unsigned char *p, uint32_t v)
{
    put_be32(p, __builtin_bswap32(v));
}

static uint32_t rotl(uint32_t v, int n)
{
    return v << n | v >> (32 - n);
}

uint32_t xxh32(struct slice s)
{
    const uint32_t p1 = 2654435761u, p2 = 2246822519u, p3 = 3266489917u, p4 = 668265263u,
                   p5 = 374761393u;
    const unsigned char *p = s.p;
    size_t n = s.n;
    uint32_t h = p5;
    if (n >= 16) {
        uint32_t v[4] = {p1 + p2, p2, 0, 0u - p1};
        for (; n >= 16; n -= 16)
            for (int i = 0; i < 4; i++, p += 4)
                v[i] = rotl(v[i] + get_le32(p) * p2, 13) * p1;
        h = rotl(v[0], 1) + rotl(v[1], 7) + rotl(v[2], 12) + rotl(v[3], 18);
    }
    h += (uint32_t)s.n;
    for (; n >= 4; n -= 4, p += 4)
        h = rotl(h + get_le32(p) * p3, 17) * p4;
    for (; n; n--, p++)
        h = rotl(h + *p * p5, 11) * p1;
    h = (h ^ h >> 15) * p2;
    h = (h ^ h >> 13) * p3;
    return h ^ h >> 16;
}

int lz4_frame_put(struct slice in, struct buf *out)
{
    unsigned char *p = buf_more(out, 7);
    if (!p)
        return out->failed;
    put_le32(p, LZ4_MAGIC);
    p[4] = LZ4_FLAGS;
    p[5] = LZ4_SIZE_CODE;
    p[6] = (unsigned char)(xxh32(slice_of(p + 4, 2)) >> 8);
    while (in.n) {
        struct slice block = slice_sub(in, 0, LZ4_BLOCK);
        in = slice_sub(in, block.n, in.n);
        if (!(p = buf_more(out, 4 + block.n)))
            return out->failed;
        /* One byte less than the input: what does not shrink is stored. */
        int n = LZ4_compress_default((const char *)block.p, (char *)p + 4, (int)block.n,
                                     (int)block.n - 1);
        if (n > 0) {
            put_le32(p, (uint32_t)n);
            out->n -= block.n - (size_t)n;
        } else {
            put_le32(p, (uint32_t)block.n | LZ4_STORED);
            memcpy(p + 4, block.p, block.n);
        }
    }
    if (!(p = buf_more(out, 4)))
        return out->failed;
    put_le32(p, 0);
    return 0;
}

/* The frame's header: bytes taken, or an error. */
static int lz4_header(struct slice in, unsigned *flags, size_t *block_max)
{
    if (in.n < 7 || get_le32(in.p) != LZ4_MAGIC)
        return -ERR_CORRUPT;
    unsigned f = in.p[4], code = in.p[5] >> 4 & 7;
    int n = f & LZ4_FLAG_SIZE ? 14 : 6;
    if (f >> 6 != 1 || !(f & LZ4_FLAG_INDEPENDENT) || (f & LZ4_FLAG_DICTIONARY) || code < 4)
        return -ERR_CORRUPT;
    if (in.n < (size_t)n + 1)
        return -ERR_CORRUPT;
    if (in.p[n] != (unsigned char)(xxh32(slice_of(in.p + 4, (size_t)n - 4)) >> 8))
        return -ERR_CORRUPT;
    *flags = f;
    *block_max = (size_t)1 << (8 + 2 * code);
    return n + 1;
}

static int lz4_block_get(struct slice block, bool stored, size_t block_max, struct buf *out)
{
    if (stored)
        return block.n <= block_max ? buf_put_slice(out, block) : -ERR_CORRUPT;
    size_t left = out->max - out->n, most = block.n * LZ4_RATIO_MAX + 16;
    if (most > block_max)
        most = block_max;
    size_t room = most < left ? most : left;
    int rc = buf_reserve(out, room ? room : 1);
    if (rc)
        return rc;
    int n = LZ4_decompress_safe((const char *)block.p, (char *)out->p + out->n, (int)block.n,
                                (int)room);
    if (n < 0)
        return room < most ? -ERR_TOO_BIG : -ERR_CORRUPT;
    out->n += (size_t)n;
    return 0;
}

int lz4_frame_get(struct slice in, struct buf *out)
{
    unsigned flags;
    size_t block_max;
    int rc = lz4_header(in, &flags, &block_max);
    if (rc < 0)
        return rc;
    in = slice_sub(in, (size_t)rc, in.n);
    for (;;) {
        if (in.n < 4)
            return -ERR_CORRUPT;
        uint32_t word = get_le32(in.p), n = word & ~LZ4_STORED;
        size_t check = flags & LZ4_FLAG_CHECKSUM ? 4 : 0;
        in = slice_sub(in, 4, in.n);
        if (word == 0)
            return 0;
        if (n > in.n || in.n - n < check || n > INT32_MAX / 2)
            return -ERR_CORRUPT;
        struct slice block = slice_sub(in, 0, n);
        if (check && get_le32(in.p + n) != xxh32(block))
            return -ERR_CORRUPT;
        if ((rc = lz4_block_get(block, word & LZ4_STORED, block_max, out)))
            return rc;
        in = slice_sub(in, n + check, in.n);
    }
}

int xerial_put(struct slice in, struct buf *out)
{
    unsigned char *p = buf_more(out, 16);
    if (!p)
        return out->failed;
    memcpy(p, xerial_magic, 8);
    put_be32(p + 8, 1);
    put_be32(p + 12, 1);
    while (in.n) {
        struct slice block = slice_sub(in, 0, XERIAL_BLOCK);
        in = slice_sub(in, block.n, in.n);
        size_t bound = snappy_max_compressed_length(block.n), n = bound;
        if (!(p = buf_more(out, 4 + bound)))
            return out->failed;
        if (snappy_compress((const char *)block.p, block.n, (char *)p + 4, &n) != SNAPPY_OK)
            return -ERR_NOMEM;
        put_be32(p, (uint32_t)n);
        out->n -= bound - n;
    }
    return 0;
}

static int snappy_block_get(struct slice block, struct buf *out)
{
    size_t n;
    if (snappy_uncompressed_length((const char *)block.p, block.n, &n) != SNAPPY_OK)
        return -ERR_CORRUPT;
    if (n / SNAPPY_RATIO_MAX > block.n)
        return -ERR_CORRUPT;
    int rc = buf_reserve(out, n ? n : 1);
    if (rc)
        return rc;
    if (snappy_uncompress((const char *)block.p, block.n, (char *)out->p + out->n, &n) != SNAPPY_OK)
        return -ERR_CORRUPT;
    out->n += n;
    return 0;
}

int xerial_get(struct slice in, struct buf *out)
{
    if (in.n < 8 || memcmp(in.p, xerial_magic, 8) != 0)
        return in.n ? snappy_block_get(in, out) : -ERR_CORRUPT;
    if (in.n < 16)
        return -ERR_CORRUPT;
    in = slice_sub(in, 16, in.n);
    while (in.n) {
        if (in.n < 4)
            return -ERR_CORRUPT;
        uint32_t n = get_be32(in.p);
        in = slice_sub(in, 4, in.n);
        if (n > in.n)
            return -ERR_CORRUPT;
        int rc = snappy_block_get(slice_sub(in, 0, n), out);
        if (rc)
            return rc;
        in = slice_sub(in, n, in.n);
    }
    return 0;
}

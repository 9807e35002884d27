/* tests/base/test_compress.c - the codecs: round trips, the bytes Java writes, what others write,
 * damage and bombs. */
#include "base/compress.h"
#include <lz4frame.h>
#include <setjmp.h>
#include <snappy-c.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static struct buf packed, back;
static struct compress ctx;
static unsigned char data[300000];

static int setup(void **state)
{
    (void)state;
    uint32_t x = 1;
    buf_init(&packed, 1 << 22);
    buf_init(&back, 1 << 22);
    for (size_t i = 0; i < sizeof data; i++) {
        x = x * 1664525 + 1013904223;
        data[i] = i % 65536 < 20000 ? (unsigned char)(x >> 24) : (unsigned char)("once "[i % 5]);
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    buf_deinit(&packed);
    buf_deinit(&back);
    compress_deinit(&ctx);
    return 0;
}

static void reset(void)
{
    buf_reset(&packed);
    buf_reset(&back);
}

static void round_trip(struct compress *c, int codec, size_t n)
{
    reset();
    assert_int_equal(buf_put(&packed, "before", 6), 0);
    assert_int_equal(buf_put(&back, "b", 1), 0);
    assert_int_equal(compress_with(c, codec, slice_of(data, n), &packed), 0);
    assert_int_equal(decompress_with(c, codec, slice_sub(buf_slice(&packed), 6, packed.n), &back),
                     0);
    assert_memory_equal(packed.p, "before", 6);
    assert_int_equal(back.n, n + 1);
    assert_memory_equal(back.p + 1, data, n);
}

static void every_codec_gives_back_what_it_got(void **state)
{
    (void)state;
    static const size_t size[] = {0,     1,     2,     17,    1000,       32768,
                                  32769, 65535, 65536, 65537, sizeof data};
    for (int codec = 0; codec < CODEC_COUNT; codec++)
        for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
            round_trip(NULL, codec, size[i]);
            round_trip(&ctx, codec, size[i]);
        }
}

static void frames_begin_as_javas_do(void **state)
{
    (void)state;
    static const unsigned char lz4[] = {0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82};
    static const unsigned char snappy[] = {0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0,
                                           0,    0,   0,   1,   0,   0,   0,   1};
    reset();
    assert_int_equal(compress_run(CODEC_LZ4, slice_of(data, 100), &packed), 0);
    assert_memory_equal(packed.p, lz4, sizeof lz4);
    assert_memory_equal(packed.p + packed.n - 4, "\0\0\0\0", 4);
    reset();
    assert_int_equal(compress_run(CODEC_SNAPPY, slice_of(data, 100), &packed), 0);
    assert_memory_equal(packed.p, snappy, sizeof snappy);
}

static void a_bare_snappy_block_is_read(void **state)
{
    (void)state;
    char block[4096];
    size_t n = sizeof block;
    reset();
    assert_int_equal(snappy_compress((const char *)data + 20000, 3000, block, &n), SNAPPY_OK);
    assert_int_equal(decompress_run(CODEC_SNAPPY, slice_of(block, n), &back), 0);
    assert_int_equal(back.n, 3000);
    assert_memory_equal(back.p, data + 20000, 3000);
}

static void lz4_frame(LZ4F_preferences_t p)
{
    size_t bound = LZ4F_compressFrameBound(sizeof data, &p);
    unsigned char *to = buf_more(&packed, bound);
    assert_non_null(to);
    size_t n = LZ4F_compressFrame(to, bound, data, sizeof data, &p);
    assert_false(LZ4F_isError(n));
    packed.n = n;
}

static void lz4_frames_of_any_options_but_linked_blocks_are_read(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 32; i++) {
        LZ4F_preferences_t p = {0};
        reset();
        p.frameInfo.blockMode = LZ4F_blockIndependent;
        p.frameInfo.blockSizeID = (LZ4F_blockSizeID_t)(4 + (i & 3));
        p.frameInfo.blockChecksumFlag = i & 4 ? LZ4F_blockChecksumEnabled : LZ4F_noBlockChecksum;
        p.frameInfo.contentChecksumFlag = i & 8 ? LZ4F_contentChecksumEnabled
                                                : LZ4F_noContentChecksum;
        p.frameInfo.contentSize = i & 16 ? sizeof data : 0;
        lz4_frame(p);
        assert_int_equal(decompress_run(CODEC_LZ4, buf_slice(&packed), &back), 0);
        assert_int_equal(back.n, sizeof data);
        assert_memory_equal(back.p, data, sizeof data);
        if (i & 4) {
            packed.p[60] ^= 1; /* inside the first block */
            assert_int_equal(decompress_run(CODEC_LZ4, buf_slice(&packed), &back), -ERR_CORRUPT);
        }
    }
    LZ4F_preferences_t linked = {0};
    reset();
    linked.frameInfo.blockMode = LZ4F_blockLinked;
    linked.frameInfo.blockSizeID = LZ4F_max64KB;
    lz4_frame(linked);
    assert_int_equal(decompress_run(CODEC_LZ4, buf_slice(&packed), &back), -ERR_CORRUPT);
}

static void our_lz4_frame_satisfies_the_library(void **state)
{
    (void)state;
    LZ4F_dctx *d;
    reset();
    assert_int_equal(compress_run(CODEC_LZ4, slice_of(data, sizeof data), &packed), 0);
    assert_false(LZ4F_isError(LZ4F_createDecompressionContext(&d, LZ4F_VERSION)));
    size_t room = sizeof data + 1, n = packed.n;
    unsigned char *to = malloc(room);
    assert_int_equal(LZ4F_decompress(d, to, &room, packed.p, &n, NULL), 0);
    assert_int_equal(n, packed.n);
    assert_int_equal(room, sizeof data);
    assert_memory_equal(to, data, sizeof data);
    free(to);
    (void)LZ4F_freeDecompressionContext(d);
}

static void a_wrong_lz4_header_checksum_is_refused(void **state)
{
    (void)state;
    reset();
    assert_int_equal(compress_run(CODEC_LZ4, slice_of(data, 100), &packed), 0);
    packed.p[6] ^= 1;
    assert_int_equal(decompress_run(CODEC_LZ4, buf_slice(&packed), &back), -ERR_CORRUPT);
    assert_int_equal(back.n, 0);
}

static void gzip_members_and_zstd_frames_follow_each_other(void **state)
{
    (void)state;
    static const int codec[] = {CODEC_GZIP, CODEC_ZSTD};
    for (int i = 0; i < 2; i++) {
        reset();
        assert_int_equal(compress_run(codec[i], slice_of(data, 1000), &packed), 0);
        assert_int_equal(compress_run(codec[i], slice_of(data + 1000, 200000), &packed), 0);
        assert_int_equal(decompress_run(codec[i], buf_slice(&packed), &back), 0);
        assert_int_equal(back.n, 201000);
        assert_memory_equal(back.p, data, 201000);
    }
}

static void cut_input_is_corrupt_and_leaves_the_output_alone(void **state)
{
    (void)state;
    for (int codec = CODEC_GZIP; codec < CODEC_COUNT; codec++) {
        reset();
        assert_int_equal(compress_run(codec, slice_of(data, 1500), &packed), 0);
        assert_int_equal(buf_put(&back, "x", 1), 0);
        for (size_t n = 0; n < packed.n; n++) {
            unsigned char *cut = malloc(n ? n : 1);
            memcpy(cut, packed.p, n);
            int rc = decompress_with(&ctx, codec, slice_of(cut, n), &back);
            /* xerial has no end mark: its header alone is an empty stream */
            if (rc != -ERR_CORRUPT && !(codec == CODEC_SNAPPY && n == 16 && rc == 0))
                fail_msg("%s cut at %zu: %s", codec_name(codec), n, err_name(rc));
            assert_int_equal(back.n, 1);
            free(cut);
        }
        assert_int_equal(decompress_with(&ctx, codec, buf_slice(&packed), &back), 0);
    }
}

static void flipped_bytes_never_crash(void **state)
{
    (void)state;
    for (int codec = CODEC_GZIP; codec < CODEC_COUNT; codec++) {
        reset();
        assert_int_equal(compress_run(codec, slice_of(data + 19000, 3000), &packed), 0);
        for (size_t i = 0; i < packed.n; i++) {
            buf_reset(&back);
            packed.p[i] ^= 0x41;
            int rc = decompress_with(&ctx, codec, buf_slice(&packed), &back);
            assert_true(rc == 0 || rc == -ERR_CORRUPT || rc == -ERR_TOO_BIG);
            packed.p[i] ^= 0x41;
        }
    }
}

static void a_bomb_costs_at_most_the_limit(void **state)
{
    (void)state;
    static unsigned char zeros[1000000];
    for (int codec = 0; codec < CODEC_COUNT; codec++) {
        struct buf small;
        reset();
        buf_init(&small, 10000);
        assert_int_equal(compress_run(codec, slice_of(zeros, sizeof zeros), &packed), 0);
        assert_int_equal(decompress_run(codec, buf_slice(&packed), &small), -ERR_TOO_BIG);
        assert_int_equal(small.n, 0);
        assert_true(small.cap <= 2 * small.max);
        buf_deinit(&small);
        /* what fits exactly passes */
        buf_init(&small, sizeof zeros);
        assert_int_equal(decompress_run(codec, buf_slice(&packed), &small), 0);
        assert_int_equal(small.n, sizeof zeros);
        buf_deinit(&small);
    }
}

static void a_snappy_length_that_cannot_be_allocates_nothing(void **state)
{
    (void)state;
    static const unsigned char lie[] = {0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0};
    struct buf big;
    buf_init(&big, (size_t)1 << 40);
    assert_int_equal(decompress_run(CODEC_SNAPPY, slice_of(lie, sizeof lie), &big), -ERR_CORRUPT);
    assert_int_equal(big.cap, 0);
    buf_deinit(&big);
}

static void compression_respects_the_limit_too(void **state)
{
    (void)state;
    for (int codec = 0; codec < CODEC_COUNT; codec++)
        for (size_t max = 0; max < 200; max += 9) {
            struct buf small;
            buf_init(&small, max);
            assert_int_equal(compress_run(codec, slice_of(data, 5000), &small), -ERR_TOO_BIG);
            assert_int_equal(small.n, 0);
            buf_deinit(&small);
        }
}

static void unknown_codecs_are_refused(void **state)
{
    (void)state;
    reset();
    assert_int_equal(compress_run(5, slice_of(data, 1), &packed), -ERR_UNSUPPORTED);
    assert_int_equal(decompress_run(-1, slice_of(data, 1), &packed), -ERR_UNSUPPORTED);
    assert_int_equal(codec_by_name(slice_str("zstd")), CODEC_ZSTD);
    assert_int_equal(codec_by_name(slice_str("brotli")), -1);
    assert_string_equal(codec_name(CODEC_SNAPPY), "snappy");
    assert_string_equal(codec_name(7), "unknown");
}

static void xxh32_has_its_known_values(void **state)
{
    (void)state;
    assert_int_equal(xxh32(slice_str("")), 0x02cc5d05);
    assert_int_equal(xxh32(slice_str("a")), 0x550d7456);
    assert_int_equal(xxh32(slice_str("abc")), 0x32d153ff);
    assert_int_equal(xxh32(slice_str("Nobody inspects the spammish repetition")), 0xe2293b2f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_codec_gives_back_what_it_got),
        cmocka_unit_test(frames_begin_as_javas_do),
        cmocka_unit_test(a_bare_snappy_block_is_read),
        cmocka_unit_test(lz4_frames_of_any_options_but_linked_blocks_are_read),
        cmocka_unit_test(our_lz4_frame_satisfies_the_library),
        cmocka_unit_test(a_wrong_lz4_header_checksum_is_refused),
        cmocka_unit_test(gzip_members_and_zstd_frames_follow_each_other),
        cmocka_unit_test(cut_input_is_corrupt_and_leaves_the_output_alone),
        cmocka_unit_test(flipped_bytes_never_crash),
        cmocka_unit_test(a_bomb_costs_at_most_the_limit),
        cmocka_unit_test(a_snappy_length_that_cannot_be_allocates_nothing),
        cmocka_unit_test(compression_respects_the_limit_too),
        cmocka_unit_test(unknown_codecs_are_refused),
        cmocka_unit_test(xxh32_has_its_known_values),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}

/* tests/fuzz/fuzz_compress.c - payloads that claim to be compressed. Input: the codec's byte, then
 * the payload.
 *
 * What decompresses must survive compression and decompression; nothing grows beyond the limit. */
#include "base/check.h"
#include "base/compress.h"

#define OUTPUT_MAX 262144

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct buf one, packed, two;
    if (n == 0)
        return 0;
    int codec = data[0] % (CODEC_COUNT + 1);
    buf_init(&one, OUTPUT_MAX);
    buf_init(&packed, 2 * OUTPUT_MAX);
    buf_init(&two, OUTPUT_MAX);
    int rc = decompress_run(codec, slice_of(data + 1, n - 1), &one);
    CHECK(one.n <= OUTPUT_MAX);
    CHECK(rc == 0 || one.n == 0);
    if (rc == 0) {
        CHECK(compress_run(codec, buf_slice(&one), &packed) == 0);
        CHECK(decompress_run(codec, buf_slice(&packed), &two) == 0);
        CHECK(slice_eq(buf_slice(&one), buf_slice(&two)));
    }
    buf_deinit(&one);
    buf_deinit(&packed);
    buf_deinit(&two);
    return 0;
}

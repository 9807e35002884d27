/* tests/fuzz/fuzz_store_meta.c - a store's meta: what decodes encodes to the same bytes. The
 * checksum is made to fit first, since it would keep nearly everything out. */
#include "base/check.h"
#include "runtime/state/store.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    unsigned char *copy = malloc(n ? n : 1);
    struct store_meta m;
    struct buf b;

    CHECK(copy);
    if (n)
        memcpy(copy, data, n);
    if (n >= 6)
        put_be32(copy + 2, crc32c(0, copy + 6, n - 6));
    if (store_meta_decode(&m, slice_of(copy, n)) == 0) {
        buf_init(&b, 1 << 20);
        CHECK(store_meta_encode(&m, &b) == 0);
        CHECK(slice_eq(buf_slice(&b), slice_of(copy, n)));
        buf_deinit(&b);
    }
    free(copy);
    return 0;
}

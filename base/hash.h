/* base/hash.h - the hash of the house's tables. It never shows: no order follows from it. */
#ifndef ONCE_BASE_HASH_H
#define ONCE_BASE_HASH_H
#include "base/slice.h"

static inline uint64_t hash_bytes(struct slice s)
{
    uint64_t h = 0x9e3779b97f4a7c15u ^ s.n;
    size_t i = 0;

    for (; i + 8 <= s.n; i += 8) {
        uint64_t k;
        memcpy(&k, s.p + i, 8);
        h = (h ^ k) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    for (; i < s.n; i++)
        h = (h ^ s.p[i]) * 0x100000001b3u;
    h ^= h >> 29;
    h *= 0xc4ceb9fe1a85ec53u;
    return h ^ h >> 32;
}
#endif

/* base/rng.h - xoshiro256**: repeatable chance, not for secrets. */
#ifndef ONCE_BASE_RNG_H
#define ONCE_BASE_RNG_H
#include <stdint.h>

static inline void rng_seed(uint64_t s[4], uint64_t seed)
{
    for (int i = 0; i < 4; i++) { /* splitmix64 */
        uint64_t z = seed += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        s[i] = z ^ (z >> 31);
    }
}

static inline uint64_t rng_next(uint64_t s[4])
{
    uint64_t r5 = s[1] * 5, out = (r5 << 7 | r5 >> 57) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = s[3] << 45 | s[3] >> 19;
    return out;
}

/* Uniform in [0, below); below 0 gives all 64 bits. */
static inline uint64_t rng_below(uint64_t s[4], uint64_t below)
{
    unsigned __int128 m;

    if (!below)
        return rng_next(s);
    m = (unsigned __int128)rng_next(s) * below;
    if ((uint64_t)m < below) { /* the low part tells whether this draw falls into the uneven rest */
        uint64_t least = -below % below;
        while ((uint64_t)m < least)
            m = (unsigned __int128)rng_next(s) * below;
    }
    return (uint64_t)(m >> 64);
}
#endif

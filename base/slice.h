/* base/slice.h - bytes of others: slice is borrowed to read, span is borrowed to write.
 *
 * A slice with p == NULL is null (as a nullable field of the protocol can be); an empty one that is
 * not null has a p that is not NULL. Nobody frees through a slice; what must be kept is copied. */
#ifndef ONCE_BASE_SLICE_H
#define ONCE_BASE_SLICE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct slice {
    const unsigned char *p;
    size_t n;
};
struct span {
    unsigned char *p;
    size_t n;
};

#define SLICE_NULL ((struct slice){NULL, 0})
/* For printf: "%.*s", SLICE_FMT(s) */
#define SLICE_FMT(s) (int)(s).n, (s).p ? (const char *)(s).p : ""

static inline struct slice slice_of(const void *p, size_t n)
{
    return (struct slice){p, n};
}

/* The bytes of a C string without its end; NULL gives the null slice. */
static inline struct slice slice_str(const char *s)
{
    return s ? (struct slice){(const unsigned char *)s, strlen(s)} : SLICE_NULL;
}

static inline bool slice_is_null(struct slice s)
{
    return !s.p;
}

/* Null equals null only. */
static inline bool slice_eq(struct slice a, struct slice b)
{
    if (!a.p || !b.p)
        return a.p == b.p;
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool slice_eq_str(struct slice a, const char *s)
{
    return slice_eq(a, slice_str(s));
}

/* Bytewise order, a prefix before what it begins; null before everything. */
static inline int slice_cmp(struct slice a, struct slice b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int c = n ? memcmp(a.p, b.p, n) : 0;
    if (c)
        return c;
    if (a.n != b.n)
        return a.n < b.n ? -1 : 1;
    return (a.p != NULL) - (b.p != NULL);
}

/* The part from at on, at most n bytes; never reaches outside s. */
static inline struct slice slice_sub(struct slice s, size_t at, size_t n)
{
    if (at > s.n)
        at = s.n;
    if (n > s.n - at)
        n = s.n - at;
    return (struct slice){s.p ? s.p + at : NULL, n};
}
#endif

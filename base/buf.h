/* base/buf.h - owned bytes that grow up to a limit given at init.
 *
 * A put that does not fit (limit or memory) leaves the buffer as it was and sets `failed`, which
 * sticks: a writer may put a whole message and ask once. */
#ifndef ONCE_BASE_BUF_H
#define ONCE_BASE_BUF_H
#include "base/err.h"
#include "base/slice.h"

struct buf {
    unsigned char *p;
    size_t n, cap, max;
    int failed; /* 0, or -ERR_TOO_BIG, -ERR_NOMEM of the first put that did not fit */
};

/* max: bytes it may hold at most. No allocation yet. */
void buf_init(struct buf *b, size_t max);
void buf_deinit(struct buf *b);
/* Empty again, memory kept. */
void buf_reset(struct buf *b);
/* Room for n more bytes: 0, -ERR_TOO_BIG, -ERR_NOMEM. */
int buf_reserve(struct buf *b, size_t n);
/* n bytes more, to be written by the caller; NULL if they do not fit. */
unsigned char *buf_more(struct buf *b, size_t n);
int buf_put(struct buf *b, const void *p, size_t n);
int buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static inline int buf_put_slice(struct buf *b, struct slice s)
{
    return buf_put(b, s.p, s.n);
}
static inline int buf_put_u8(struct buf *b, uint8_t v)
{
    return buf_put(b, &v, 1);
}
static inline struct slice buf_slice(const struct buf *b)
{
    return slice_of(b->p ? b->p : (const unsigned char *)"", b->n);
}
/* The bytes become the caller's (free() them); the buffer is empty. */
unsigned char *buf_take(struct buf *b, size_t *n);
#endif

/* base/buf.c - growing bytes with a limit. */
#include "base/buf.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void buf_init(struct buf *b, size_t max)
{
    *b = (struct buf){.max = max};
}

void buf_deinit(struct buf *b)
{
    free(b->p);
    *b = (struct buf){.max = b->max};
}

void buf_reset(struct buf *b)
{
    b->n = 0;
    b->failed = 0;
}

int buf_reserve(struct buf *b, size_t n)
{
    size_t cap;
    unsigned char *p;

    if (n <= b->cap - b->n)
        return 0;
    if (n > b->max || b->n > b->max - n)
        return b->failed = -ERR_TOO_BIG;
    cap = b->cap ? b->cap : 64;
    if (cap > b->max) /* never above it: what fits into cap is asked no further */
        cap = b->max;
    while (cap < b->n + n)
        cap = cap > b->max / 2 ? b->max : cap * 2;
    p = realloc(b->p, cap);
    if (!p)
        return b->failed = -ERR_NOMEM;
    b->p = p;
    b->cap = cap;
    return 0;
}

unsigned char *buf_more(struct buf *b, size_t n)
{
    unsigned char *p;

    if (b->failed || buf_reserve(b, n))
        return NULL;
    if (!b->p) /* n is 0 and nothing was ever put */
        return (unsigned char *)"";
    p = b->p + b->n;
    b->n += n;
    return p;
}

int buf_put(struct buf *b, const void *p, size_t n)
{
    unsigned char *to = buf_more(b, n);

    if (!to)
        return b->failed;
    if (n)
        memcpy(to, p, n);
    return 0;
}

int buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0)
        return b->failed = -ERR_INVALID;
    if (b->failed || buf_reserve(b, (size_t)n + 1))
        return b->failed;
    va_start(ap, fmt);
    vsnprintf((char *)b->p + b->n, (size_t)n + 1, fmt, ap);
    va_end(ap);
    b->n += (size_t)n;
    return 0;
}

unsigned char *buf_take(struct buf *b, size_t *n)
{
    unsigned char *p = b->p;

    *n = b->n;
    b->p = NULL;
    b->n = b->cap = 0;
    return p;
}

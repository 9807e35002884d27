/* runtime/sim/verdict.c - counts violations and keeps the first one's words. */
#include "runtime/sim/verdict.h"
#include <stdarg.h>
#include <stdio.h>

void verdict_add(struct verdict *v, enum violation kind, const char *fmt, ...)
{
    va_list ap;

    v->n[kind]++;
    if (v->first[0])
        return;
    va_start(ap, fmt);
    vsnprintf(v->first, sizeof v->first, fmt, ap);
    va_end(ap);
    /* One line, and one a terminal can show, whatever keys and values hold. */
    for (char *c = v->first; *c; c++)
        if ((unsigned char)*c < ' ' || (unsigned char)*c >= 0x7f)
            *c = '?';
}

uint64_t verdict_total(const struct verdict *v)
{
    uint64_t total = 0;

    for (int k = 0; k <= VIOLATION_OTHER; k++)
        total += v->n[k];
    return total;
}

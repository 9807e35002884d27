/* runtime/sim/verdict.h - what the checkers found. */
#ifndef ONCE_RUNTIME_SIM_VERDICT_H
#define ONCE_RUNTIME_SIM_VERDICT_H
#include <stdint.h>

enum violation { VIOLATION_LOST, VIOLATION_DUPLICATED, VIOLATION_REORDERED, VIOLATION_OTHER };
struct verdict {
    uint64_t n[VIOLATION_OTHER + 1];
    char first[700]; /* the first that was found, in words; empty: none */
};

void verdict_add(struct verdict *v, enum violation kind, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
uint64_t verdict_total(const struct verdict *v);
#endif

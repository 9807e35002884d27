/* tests/base/support_lab.h - a simulated world of two nodes, a and b, on hosts of their own. */
#ifndef ONCE_TESTS_BASE_SUPPORT_LAB_H
#define ONCE_TESTS_BASE_SUPPORT_LAB_H
#include "support_world.h"
#include "base/env_sim.h"

struct lab {
    struct sim sim;
    struct sim_node *a, *b;
    struct world world; /* for struct wait */
};
/* a has a durable folder /d. */
void lab_open(struct lab *x, uint64_t seed);
void lab_close(struct lab *x);
void lab_pass(struct lab *x, uint64_t s);
/* A file of a, created if need be. */
void lab_file(struct lab *x, struct env_file *f, const char *path);
int64_t lab_put(struct env_file *f, uint64_t at, const void *p, size_t n, int flags);
void lab_put_ok(struct env_file *f, uint64_t at, const void *p, size_t n, int flags);
int64_t lab_get(struct env_file *f, uint64_t at, void *p, size_t n);
#endif

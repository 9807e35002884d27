/* tests/runtime/sim/support_sim.h - the word count of the book, for runs of the simulator. */
#ifndef ONCE_TESTS_RUNTIME_SIM_SUPPORT_SIM_H
#define ONCE_TESTS_RUNTIME_SIM_SUPPORT_SIM_H
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "runtime/sim/check.h"
#include "runtime/sim/input.h"
#include "runtime/sim/sim_run.h"

/* A job with its input, ready for seeds. */
struct bench {
    struct udf_job *job;
    struct sim_input in;
    struct sim_run_options o;
    struct sim_prepared prepared;
};
/* Paths are relative to the top of the tree, where ctest runs. */
void bench_open(struct bench *b, const char *job, const char *input, uint32_t records);
void bench_close(struct bench *b);
/* The job from a text instead of a file. */
void bench_open_text(struct bench *b, const char *lua, const char *lines, uint32_t records);
/* Runs the seeds; the first that fails is printed. Returns how many failed. */
int bench_sweep(struct bench *b, uint64_t seed, int n);
/* The first seed from `seed` on, of n, in which something was found; 0: none. */
uint64_t bench_find(struct bench *b, uint64_t seed, int n, struct sim_result *r);
#endif

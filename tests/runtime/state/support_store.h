/* tests/runtime/state/support_store.h - a node of the real world with a driver of stores, LMDB's in
 * a directory of its own or the one in memory: what holds on one holds on the other. */
#ifndef ONCE_TESTS_RUNTIME_STATE_SUPPORT_STORE_H
#define ONCE_TESTS_RUNTIME_STATE_SUPPORT_STORE_H
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/env_uv.h"
#include "runtime/state/store.h"

enum { BENCH_TABLES = 3 };
struct bench {
    struct env_uv uv;
    struct env_uv_node node;
    struct env *env;
    struct store_driver *driver;
    struct task_store *store; /* at path, opened by bench_open */
    struct overlay overlays[BENCH_TABLES];
    struct store_commit commit;
    bool lmdb, done;
    int res;
    char dir[200], path[256];
};

/* parent: where the directory is made; NULL is /tmp. */
void bench_open(struct bench *b, bool lmdb, const char *parent);
void bench_close(struct bench *b);
/* The store of the bench, closed and opened again. */
void bench_reopen(struct bench *b);
void bench_put(struct bench *b, int table, const char *key, const char *value); /* NULL deletes */
/* Begins a commit of the overlays at the store's commit number; bench_wait ends it. */
void bench_begin(struct bench *b);
int bench_wait(struct bench *b);
/* Both, and the overlays are empty again. */
int bench_commit(struct bench *b);
/* The value of a key as text, "-" when it is not there. */
const char *bench_get(struct bench *b, int table, const char *key);
/* "a=1 b=2": the entries of a range; bounds NULL are open. */
const char *bench_range(struct bench *b, int table, const char *from, const char *to, bool reverse);
const char *bench_rest(struct store_iter *it); /* the same of an open iterator, which it closes */
#endif

/* tests/udf/support_host.h - a worker made of memory: keeps what a job emits, stores, logs and
 * counts. */
#ifndef ONCE_TESTS_UDF_SUPPORT_HOST_H
#define ONCE_TESTS_UDF_SUPPORT_HOST_H
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "udf/udf.h"

enum { HOST_STORES = 8 };
struct host_entry {
    unsigned char *key, *value;
    size_t key_n, value_n;
};
struct host_store {
    struct host_entry *v; /* sorted by key */
    size_t n;
};
struct host_out {
    char *topic, *key, *value; /* NUL-ended copies; NULL for null */
    size_t key_n, value_n;
    int64_t time;
    int32_t partition, n_headers;
    unsigned char *headers;
    size_t headers_n;
};
struct host {
    struct udf_host h; /* first */
    struct host_out *outs;
    size_t n_outs;
    struct host_store stores[HOST_STORES];
    struct buf log;
    int64_t wall, stream;
    int emit_result; /* what emit returns */
    int open_iters;
};

void host_init(struct host *h);
void host_deinit(struct host *h);
/* Forgets outputs and log, keeps stores. */
void host_clear(struct host *h);
/* The text of the stored value at a string key, NULL if there is none; valid until the next
 * call. */
const char *host_stored(struct host *h, int store, const char *key);
/* All outputs as lines "topic key value", null as \N. Valid until the next call. */
const char *host_outputs(struct host *h);

/* A job from a text, under the name "job.lua"; NULL and e if it does not load. */
struct udf_job *host_job(const char *text, struct err *e);
/* A job from a file; fails the test if it does not load. */
struct udf_job *host_job_file(const char *path);
/* The only group's task; fails the test if it does not open. */
struct udf_task *host_task(const struct udf_job *job, int group, struct host *h);
/* Runs one record "topic"[0]@offset; NULL key or value is null. */
enum udf_result host_run(struct udf_task *t, const char *topic, int64_t offset, const char *key,
                         const char *value, struct udf_failure *f);
/* The whole file; fails the test if it cannot be read. Caller frees. */
char *host_read(const char *path, size_t *n);
#endif

/* tests/broker/log/support_logdir.h - a small owner of a log directory for the tests: topics by
 * records of the metadata partition (key: name, value: 16 bytes of id, null deletes), each with a
 * few partitions; batches whose records carry what the test says. On a simulated node, or on the
 * real disk. */
#ifndef ONCE_TESTS_SUPPORT_LOGDIR_H
#define ONCE_TESTS_SUPPORT_LOGDIR_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/env_sim.h"
#include "base/env_uv.h"
#include "broker/log/logdir.h"

enum { FX_TOPICS = 16, FX_PARTITIONS = 4, FX_PARTS = 256 };

struct fx_part { /* a log's user: the state that snapshots stand for is just an offset */
    int64_t state;
};

struct fx_topic {
    char name[32];
    struct uuid id;
    int n_partitions;
    struct log *logs[FX_PARTITIONS];
};
struct fx {
    struct sim sim;
    struct sim_node *node; /* NULL: on the real disk */
    struct env_uv uv;
    struct env_uv_node real;
    struct env *env;
    char dir[256];
    struct logdir *d;
    struct logdir_options o;
    struct logdir_report report;
    struct err err;
    struct log_config config;
    bool producers; /* snapshots are asked for and loaded */
    bool quiet;
    struct fx_topic topics[FX_TOPICS];
    int n_topics;
    struct fx_part parts[FX_PARTS];
    int n_parts;
    uint64_t durable_lsn;
    int n_halts, n_rooms, n_closed, n_adopted;
    char halt[512];
    /* of the last recovery */
    uint64_t n_replayed, n_snapshots_loaded;
    int64_t first_replayed;
    bool down;
    bool crash_on_wait;
    uint64_t wait_crash_in, point_crash_in; /* crash at the n-th from now, 0 never */
    enum sim_fault fault, struck;           /* the one to come, the one that came */
};

void fx_init_sim(struct fx *x, uint64_t seed);
void fx_init_real(struct fx *x);
void fx_deinit(struct fx *x);
/* logdir_open; the error is in x->err. */
int fx_open(struct fx *x);
/* Must succeed. */
void fx_start(struct fx *x);
/* Orderly. */
void fx_close(struct fx *x);
/* The process is gone (sim: by crash or power cut, and started again). */
void fx_crash(struct fx *x);
void fx_power_cut(struct fx *x);
/* Turns the world until all staged is durable, or the node is down. */
void fx_sync(struct fx *x);
/* Lets so much time pass (background work). */
void fx_pass(struct fx *x, uint64_t ns);
void fx_turn(struct fx *x);
/* Stages the topic's record and opens its logs. Ids differ by `generation`. */
struct fx_topic *fx_create(struct fx *x, const char *name, int partitions, int generation);
int fx_delete(struct fx *x, struct fx_topic *t);
struct fx_topic *fx_topic(struct fx *x, const char *name);
/* One batch of n records with values "text", "text+1"...: what log_append_copy gave. */
int fx_append(struct fx *x, struct log *l, const char *text, int n);
/* A batch with one value of `size` bytes and a time. */
int fx_append_big(struct fx *x, struct log *l, size_t size, int64_t timestamp);
/* All batches in [from, durable) by log_read, concatenated; checks order and CRC. */
void fx_read(struct fx *x, struct log *l, int64_t from, struct buf *out);
/* The value of the record at `offset`, as text; "" when there is none. */
const char *fx_value(struct fx *x, struct log *l, int64_t offset);
void fx_path(const struct fx *x, char out[512], const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* A file's bytes; into a file; by the node's env (recovery's calls). */
void fx_get(struct fx *x, const char *path, struct buf *out);
void fx_put(struct fx *x, const char *path, struct slice bytes);
bool fx_exists(struct fx *x, const char *path);
/* Every file of the directory as it is now, to be put back any number of times. */
struct fx_image {
    struct {
        char path[256];
        struct buf bytes;
    } files[256];
    int n;
};
void fx_image_take(struct fx *x, struct fx_image *m);
void fx_image_put(struct fx *x, const struct fx_image *m);
/* Are all files what the image says? */
bool fx_image_same(struct fx *x, const struct fx_image *m);
struct buf *fx_image_file(struct fx_image *m, const char *suffix);
void fx_image_free(struct fx_image *m);
#endif

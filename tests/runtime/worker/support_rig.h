/* tests/runtime/worker/support_rig.h - a broker and workers in one simulated world, driven by a
 * test.
 *
 *     rig_open(&r, &(struct rig_options){.lua = "..."});
 *     rig_put(&r, "in", 0, "key", "value"); ...        acknowledged when it returns
 *     rig_drain(&r);                                    the job has committed all its input
 *     rig_read(&r, "out");                              what a committed reader sees, in r.got
 *     rig_close(&r);
 *
 * Faults are asked for beforehand: a crash at a named step, a lost reply. What went down comes back
 * 100 ms later unless it is held. The log of all nodes is kept as text, to be searched by
 * rig_logged. */
#ifndef ONCE_TESTS_RUNTIME_WORKER_SUPPORT_RIG_H
#define ONCE_TESTS_RUNTIME_WORKER_SUPPORT_RIG_H
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "runtime/client/admin.h"
#include "runtime/client/fetcher.h"
#include "runtime/client/producer.h"
#include "runtime/sim/cluster.h"

struct rig_options {
    const char *lua;
    int workers;           /* 1 when 0 */
    bool together;         /* workers on one host, in one state directory */
    int32_t partitions;    /* 1 when 0 */
    const char *guarantee; /* NULL: the job's */
    uint64_t seed;
    bool held;                   /* the workers wait for rig_start */
    uint32_t session_timeout_ms; /* of workers that are held at first */
};
struct rig_record {
    int32_t partition;
    int64_t offset, time;
    char key[64], value[512];
    bool no_key, tombstone;
    char headers[1500]; /* "name=value;..." */
};
enum { RIG_RECORDS_MAX = 8192 };
struct rig {
    struct cluster c;
    struct udf_job *job;
    struct udf_options files;
    const char *lua;
    struct client *client;
    struct producer *producer;
    /* faults */
    const char *crash_at; /* a step; NULL: none */
    int crash_left;       /* at the so manyth time from now */
    bool crash_power;
    uint64_t pause_ms; /* not 0: it is stopped (SIGSTOP) there for so long instead */
    int16_t lose_api;  /* the next request of a worker for it: -1 none */
    bool lose_reply;   /* it is carried out, the answer is lost */
    int n_crashes;
    bool held[CLUSTER_WORKERS_MAX]; /* stays down */
    struct buf log;
    /* rig_read */
    struct rig_record *got;
    int n_got;
};

void rig_open(struct rig *r, const struct rig_options *o);
void rig_close(struct rig *r);
/* Starts a worker that is held, or down. */
void rig_start(struct rig *r, int worker);
/* SIGKILL: it stays down until rig_start. */
void rig_kill(struct rig *r, int worker);
/* SIGTERM, and waits for its end. */
void rig_stop(struct rig *r, int worker);
/* The next incarnations run this job. */
void rig_job(struct rig *r, const char *lua);

void rig_run(struct rig *r, uint64_t ms);
/* Until cond is true; fails the test after so many simulated seconds. */
void rig_until(struct rig *r, bool (*cond)(struct rig *r), int seconds, const char *what);
bool rig_ready(struct rig *r); /* every worker that is not held runs all its tasks */

void rig_topic(struct rig *r, const char *topic, int32_t partitions);
void rig_delete_topic(struct rig *r, const char *topic);
int32_t rig_partitions(struct rig *r, const char *topic); /* -1: not there */
void rig_put(struct rig *r, const char *topic, int32_t partition, const char *key,
             const char *value);
void rig_put_at(struct rig *r, const char *topic, int32_t partition, const char *key,
                const char *value, int64_t time);
/* n records over the keys "a".."a"+keys-1, and over the partitions by murmur2. */
void rig_feed(struct rig *r, const char *topic, int n, int keys);
int rig_read(struct rig *r, const char *topic);
/* "k=v k=v" of the records of rig_read. */
const char *rig_text(struct rig *r, const char *topic);
/* Every key's values count 1, 2, 3 ... without gap or repeat; the sum of their lasts. */
int rig_exact_counts(struct rig *r, const char *topic);
int64_t rig_end(struct rig *r, const char *topic, int32_t partition, bool stable);
/* The group's committed offset, -1 none; its metadata goes to *meta (64 bytes) if that is not
 * NULL. */
int64_t rig_committed(struct rig *r, const char *group, const char *topic, int32_t partition,
                      char *meta);
/* The job's sources are processed and committed up to their ends, # topics too. */
void rig_drain(struct rig *r);
bool rig_logged(const struct rig *r, const char *text);
/* How often. */
int rig_log_count(const struct rig *r, const char *text);

/* A store of a worker that is down: "key=value ..." in key order. */
const char *rig_store(struct rig *r, int worker, int slot, const char *task, const char *store);
/* Changes the meta of a task's store as f likes, in a commit of its own; the worker is down. */
void rig_meddle(struct rig *r, int worker, int slot, const char *task,
                void (*f)(struct store_meta *m, struct overlay *o));
#endif

/* udf/udf.h - user jobs in Lua: what a job declares, and running its nodes record by record.
 *
 * Walk: udf_job_load runs the job's file once in a sandbox and keeps the description and the text
 * of every file it read; udf_task_open makes one Lua state for a node group and a partition from
 * that text; udf_task_process runs one record through the nodes that read its topic, and every
 * effect (emit, store write, log line) is a synchronous call on the task's udf_host. Nothing here
 * does I/O, knows a clock or a transaction: on a failure the worker undoes what the record did
 * through its host and decides by the job's policy.
 *
 * Failures: a bad file is ERR_LUA with file:line; a bad record is an enum udf_result with a
 * udf_failure whose slices belong to the task. */
#ifndef ONCE_UDF_UDF_H
#define ONCE_UDF_UDF_H
#include "base/buf.h"
#include "base/slice.h"

/* ---- the job's description ---- */

enum udf_guarantee { UDF_EXACTLY_ONCE, UDF_AT_LEAST_ONCE, UDF_AT_MOST_ONCE };
enum udf_policy { UDF_STOP, UDF_SKIP, UDF_DEAD_LETTER };
enum udf_codec { UDF_RAW, UDF_JSON, UDF_CSV };

enum {
    UDF_NAME_MAX = 100,      /* of job, node, store: [a-zA-Z0-9._-] */
    UDF_KEY_MAX = 511,       /* bytes of an encoded store key */
    UDF_VALUE_MAX = 64 << 20 /* bytes of an encoded store value, an emitted key or value */
};

struct udf_source {
    struct slice topic; /* as declared: "lines", or "#words" */
    bool internal;      /* begins with # */
    enum udf_codec key_codec, value_codec;
    bool has_key_fn, has_time_fn;
};
struct udf_node {
    struct slice name;
    int group;
    struct udf_source *sources;
    int n_sources;
    struct slice *outputs; /* as `to` says: "x", "#x", "prefix-*" */
    int n_outputs;
    int *stores; /* indices into udf_job.stores, as declared by this node */
    int n_stores;
};
struct udf_store {
    struct slice name;
    int group;
    bool changelog; /* false: scratch, gone with the task */
    bool raw;       /* codec = "raw": values are strings */
};
/* Nodes that share a source topic or a store: same tasks, same stores. What a # topic separates is
 * in different groups. The sources of one group have equal partition counts, checked by the
 * worker. */
struct udf_group {
    int *nodes; /* in order of declaration */
    int n_nodes;
    int *stores;
    int n_stores;
    struct slice *topics; /* the distinct source topics */
    int n_topics;
};
struct udf_internal {   /* a # topic: created with the partition count of the largest source */
    struct slice topic; /* "#words" */
};
struct udf_job {
    struct slice name, path; /* path as given to load; its last part is what messages show */
    int64_t version;
    enum udf_guarantee guarantee;
    enum udf_policy on_error;
    struct slice dead_letter; /* topic; null unless UDF_DEAD_LETTER */
    int retries_n;
    int64_t retries_backoff_ms;
    int64_t commit_max_ms, commit_min_ms; /* 100 and 0 by default */
    uint64_t memory_limit;                /* bytes of a task; 64 MiB by default */
    uint64_t time_limit_ns;               /* of a record; 5 s by default */
    bool order_any;
    struct slice sample; /* path as written, from the job's folder; null: none or a function */
    bool has_sample_fn;
    struct udf_node *nodes;
    int n_nodes;
    struct udf_store *stores;
    int n_stores;
    struct udf_group *groups;
    int n_groups;
    struct udf_internal *internals;
    int n_internals;
    struct udf_files *files; /* the texts read, for the tasks; opaque */
};

struct udf_options {
    /* Reads the whole file at path into out: 0 or a negative error that e explains. Required: this
     * library opens no file itself. -ERR_NOT_FOUND when it does not exist. */
    int (*read_file)(void *user, const char *path, struct buf *out, struct err *e);
    void *user;
    int64_t wall_ms; /* what os.time() shows while the description is read */
};

/* Runs the file once in a sandbox (limits: 64 MiB, 200 million instructions) to read the
 * description. -ERR_LUA: e says file:line and why. *job is the caller's, to udf_job_free, and must
 * outlive its tasks. */
int udf_job_load(struct udf_job **job, const char *path, const struct udf_options *opt,
                 struct err *e) MUST_USE;
void udf_job_free(struct udf_job *job);
/* The topic's name on the broker: "#words" is JOB-words-repartition, others are as they are. */
int udf_job_topic(const struct udf_job *job, struct slice topic, struct buf *out);
/* JOB-STORE-changelog. */
int udf_job_changelog(const struct udf_job *job, int store, struct buf *out);
int udf_job_store(const struct udf_job *job, struct slice name); /* index or -1 */

/* ---- what a running task may ask of its worker ---- */

struct
    udf_headers { /* as in a record batch behind the count: (varint n, name, varint n, value)... */
    struct slice raw;
    int32_t n;
};
struct udf_out {
    struct slice topic;      /* resolved: a declared output, a match of "prefix-*", or "#x" */
    int node;                /* index into udf_job.nodes */
    struct slice key, value; /* null: no key, tombstone */
    struct udf_headers headers;
    int64_t time;
    /* -1: by the rule (murmur2 of the key; without key the input's partition mod n) */
    int32_t partition;
};
enum udf_level { UDF_DEBUG, UDF_INFO, UDF_WARN, UDF_LOG_ERROR };
struct udf_iter; /* the host's */

/* All calls are synchronous and come from inside udf_task_open, udf_task_process and
 * udf_task_sample only. A negative result of a call ends the record: -ERR_TOO_BIG and -ERR_INVALID
 * as the record's own failure (UDF_ERROR, under the job's policy); any other as UDF_HOST with the
 * code in the failure, which is not the record's fault and cannot be caught by the job. */
struct udf_host {
    /* All slices are valid during the call only. */
    int (*emit)(struct udf_host *h, const struct udf_out *out);
    /* store: index into udf_job.stores. 1 found, 0 not; value is borrowed until the next call on
     * h. */
    int (*store_get)(struct udf_host *h, int store, struct slice key, struct slice *value);
    /* value null: delete. */
    int (*store_put)(struct udf_host *h, int store, struct slice key, struct slice value);
    /* Keys in [from, to) in byte order; a null bound is open. A snapshot of the moment: later
     * writes are not seen. Several may be open at once; udf closes each before the record's process
     * call returns. */
    int (*store_range)(struct udf_host *h, int store, struct slice from, struct slice to,
                       bool reverse, struct udf_iter **it);
    /* 1 and an entry (borrowed until the next call on this iterator), or 0 at the end. */
    int (*iter_next)(struct udf_host *h, struct udf_iter *it, struct slice *key,
                     struct slice *value);
    void (*iter_close)(struct udf_host *h, struct udf_iter *it);
    void (*log)(struct udf_host *h, enum udf_level level, struct slice text);
    void (*count)(struct udf_host *h, struct slice name, int64_t n);
    void (*observe)(struct udf_host *h, struct slice name, double value);
    int64_t (*wall_ms)(struct udf_host *h);
    int64_t (*stream_time)(struct udf_host *h); /* ms: the largest event time the task has seen */
    /* Calls fire(u) from a signal on this thread time_ns from now on by the real clock (not the
     * turn's), once; a new call replaces the old, 0 disarms. fire may call it again:
     * async-signal-safe. Unused when count_limit is set. */
    void (*watchdog)(struct udf_host *h, uint64_t time_ns, void (*fire)(void *), void *u);
    /* From that signal: the record ignored its deadline for as long again (a pattern match inside C
     * cannot be interrupted). The worker writes down the position and ends the process. May be
     * NULL. */
    void (*overrun)(struct udf_host *h);
    /* Not 0: a record may run so many Lua instructions, counted by a hook (slow), and watchdog is
     * never called. For the simulator and tests, where real time means nothing. */
    uint64_t count_limit;
};

/* ---- tasks ---- */

struct udf_task;
struct udf_record {
    struct slice topic; /* as the source declares it: "lines", "#words" */
    int32_t partition;
    int64_t offset, time; /* time: ms */
    struct slice key, value;
    struct udf_headers headers;
};
enum udf_result {
    UDF_OK,
    UDF_REJECTED, /* ctx:reject */
    UDF_ERROR,    /* an error in the job, a value that cannot be decoded or encoded */
    UDF_TIME,     /* limits.time */
    UDF_MEMORY,   /* limits.memory */
    UDF_HOST      /* a host call failed: not the record's fault */
};
/* Slices live until the task's next call. */
struct udf_failure {
    enum udf_result kind;
    int host_code;      /* UDF_HOST: the negative code */
    int node;           /* index into udf_job.nodes, -1 unknown */
    struct slice where; /* "pay.lua:14", empty when unknown */
    struct slice text;  /* "insufficient funds": without where and record */
    struct slice
        message; /* pay.lua:14: insufficient funds (job pay v3, transfers[2]@1041, key "a", ...) */
    struct slice traceback; /* the job's own frames, innermost first, LF between; may be empty */
    struct slice reason;    /* UDF_REJECTED: as given */
    struct slice details;   /* UDF_REJECTED: JSON; null when none were given */
};

/* One Lua state for (group, partition). seed: the job's, for math.random. host must outlive the
 * task. */
int udf_task_open(struct udf_task **t, const struct udf_job *job, int group, int32_t partition,
                  struct udf_host *host, uint64_t seed, struct err *e) MUST_USE;
void udf_task_close(struct udf_task *t);
/* Runs one record through every node of the group that reads its topic, in order of declaration.
 * attempt: 0, or how often it failed before. On anything but UDF_OK *f says why, and the caller
 * undoes what the record did through the host; the task remains usable. */
enum udf_result udf_task_process(struct udf_task *t, const struct udf_record *r, int attempt,
                                 struct udf_failure *f);
/* Around a run of records: the watchdog is armed once for all of them instead of twice a record.
 * Only one task of a worker may be between the two. */
void udf_task_enter(struct udf_task *t);
void udf_task_leave(struct udf_task *t);
/* Bytes of Lua memory in use. */
uint64_t udf_task_memory(const struct udf_task *t);
/* The i-th (from 1) input record of a job whose `sample` is a function: 1 with key and value (null
 * allowed; they live until the task's next call), 0 when it returns nil, or -ERR_LUA. */
int udf_task_sample(struct udf_task *t, int64_t i, struct slice *key, struct slice *value,
                    struct err *e);

/* ---- bytes of stores ---- */

/* Store keys: the order of the bytes is integers by value, then strings bytewise, then lists
 * element by element. Values: a compact deterministic form. Both tell their own types. These turn
 * them into text as emit would write it: 0, -ERR_CORRUPT, or out's failure. */
int udf_key_text(struct slice enc, struct buf *out);
int udf_value_text(struct slice enc, struct buf *out);
/* For tests and tools. -ERR_TOO_BIG: longer than UDF_KEY_MAX is left to the caller. */
int udf_key_encode_str(struct slice s, struct buf *out);
int udf_key_encode_int(int64_t v, struct buf *out);
/* A store value that holds an integer or a string: what ctx.s:put(k, 5) writes. */
int udf_value_encode_int(int64_t v, struct buf *out);
int udf_value_encode_str(struct slice s, struct buf *out);
#endif

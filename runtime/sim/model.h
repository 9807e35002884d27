/* runtime/sim/model.h - the job run serially: no broker, no faults, no transactions. The oracle.
 *
 * Records are given to a task one by one; what it emits is kept in order, its stores are plain
 * sorted arrays. A record that fails leaves nothing behind and goes by the job's policy, as in the
 * worker. Only the job's own Lua is shared with the real thing.
 *
 * Failure: a job that cannot be run so (it stops at a record, it has no such topic) is noted in
 * `failed`: it cannot be judged. */
#ifndef ONCE_RUNTIME_SIM_MODEL_H
#define ONCE_RUNTIME_SIM_MODEL_H
#include "base/arena.h"
#include "base/err.h"
#include "udf/udf.h"

struct model_out {
    struct slice topic; /* as on the broker */
    struct slice key, value, headers;
    int32_t n_headers, partition;
    int64_t time;
    uint32_t task; /* number in model.tasks */
};
struct model_row {
    struct slice key, value;
};
struct model_table {
    struct model_row *v;
    uint32_t n, cap;
};
struct model_undo { /* what a store held before the current record wrote */
    int store;
    struct slice key, value; /* value null: nothing */
};
struct model;
struct model_task {
    struct udf_host host;
    struct udf_task *udf;
    struct model *model;
    int group;
    int32_t partition;
    uint32_t number;
    int64_t stream_time;
    struct model_table *tables; /* by store of the job */
    struct model_undo *undo;
    uint32_t n_undo, undo_cap;
};
struct model {
    const struct udf_job *job;
    struct arena arena; /* of outputs and rows */
    struct model_task **tasks;
    uint32_t n_tasks, tasks_cap;
    struct model_out *outs;
    uint32_t n_outs, outs_cap;
    /* The partition count of a topic, by its name on the broker. */
    int32_t (*partitions)(void *user, struct slice topic);
    void *user;
    char failed[700];
};
struct model_record {
    struct slice topic; /* as the source declares it */
    int32_t partition;
    int64_t offset, time;
    struct slice key, value, headers;
    int32_t n_headers;
};

void model_init(struct model *m, const struct udf_job *job,
                int32_t (*partitions)(void *user, struct slice topic), void *user);
void model_deinit(struct model *m);
/* The task of (group, partition), opened at first use; NULL: model.failed says why. */
struct model_task *model_task(struct model *m, int group, int32_t partition);
/* 0, or -1 when the model failed. */
int model_process(struct model_task *t, const struct model_record *r);

/* Runs the whole job over n input records, every topic having one partition. 0 or -1. */
struct feed_record;
int model_run_single(struct model *m, const struct feed_record *v, uint32_t n);
#endif

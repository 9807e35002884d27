/* runtime/worker/worker.h - a worker: runs a job's tasks against a cluster, exactly once.
 *
 * One worker a process (several in the simulator). It has an identity (state directory, slot), a
 * client, one producer, one group member, one fetcher, and a task for every partition it is
 * assigned. The walk of a record: fetcher -> task.c (Lua, outputs and store writes held back) ->
 * producer and overlay -> commit.c (cycle.h says when and what next) -> stores. */
#ifndef ONCE_RUNTIME_WORKER_WORKER_H
#define ONCE_RUNTIME_WORKER_WORKER_H
#include "base/env.h"
#include "runtime/state/store.h"
#include "udf/udf.h"

struct worker;
struct worker_options {
    const struct udf_job *job;   /* outlives the worker */
    const char *bootstrap;       /* HOST:PORT,... */
    const char *state_dir;       /* STATE of STATE/JOB/SLOT/TASK */
    struct store_driver *stores; /* outlives the worker */
    int guarantee;               /* enum udf_guarantee; -1: the job's */
    int32_t partitions;          /* of topics that do not exist; 1 when 0 */
    uint64_t count_limit;        /* not 0: instructions a record instead of time (simulator) */
    uint32_t session_timeout_ms, transaction_timeout_ms; /* 15 s, 10 s when 0 */
    void *user;
    /* The assignment is here and every task of it runs (an empty assignment included). May come
     * again after a rebalance. */
    void (*on_ready)(void *user);
    /* The worker has stopped: exit code as the command line's (0 orderly; 3 bad job, configuration,
     * or a record stopped the job; 4 unreachable; 5 refused), and why. worker_free may follow from
     * the loop. */
    void (*on_stopped)(void *user, int exit_code, const char *why);
    /* From a signal handler: a record cannot be interrupted. The process has to end. May be
     * NULL. */
    void (*on_overrun)(void *user);
    /* What the job says (print, ctx.log). NULL: to the log of env. */
    void (*on_said)(void *user, enum env_level level, struct slice text);
    /* For tests and the simulator's oracle; may be NULL. */
    void (*on_processed)(void *user, int group, int32_t partition, const struct udf_record *r);
};
struct worker_stats {
    uint64_t records, outputs, commits, aborts, restores, skipped, dead_letters;
    uint64_t commit_ns_last, start_ns, ready_ns;
    int n_tasks;
    bool running; /* has an assignment, an empty one included, and every task of it runs */
};

int worker_open(struct worker **w, struct env *env, const struct worker_options *o, struct err *e);
void worker_start(struct worker *w);
/* Finish, commit, close stores in order, leave the group; then on_stopped. */
void worker_stop(struct worker *w);
void worker_free(struct worker *w); /* without I/O, from any state */
void worker_stats(const struct worker *w, struct worker_stats *s);
/* The slot's name: JOB-UUID-SLOT, also the transactional id. Known once started. */
const char *worker_identity(const struct worker *w);
#endif

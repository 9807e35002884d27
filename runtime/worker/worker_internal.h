/* runtime/worker/worker_internal.h - what the files of this folder share. Outside, worker.h is
 * all. */
#ifndef ONCE_RUNTIME_WORKER_INTERNAL_H
#define ONCE_RUNTIME_WORKER_INTERNAL_H
#include "base/map.h"
#include "runtime/client/admin.h"
#include "runtime/client/fetcher.h"
#include "runtime/client/member.h"
#include "runtime/client/producer.h"
#include "runtime/worker/cycle.h"
#include "runtime/worker/identity.h"
#include "runtime/worker/offsets.h"
#include "runtime/worker/outbox.h"
#include "runtime/worker/task.h"
#include "runtime/worker/worker.h"

/* A topic the job reads or writes, by its name on the broker. */
struct job_topic {
    struct slice name;     /* owned */
    struct slice declared; /* "#words"; same as name for others */
    int32_t partitions;    /* 0: not known yet */
    int32_t wanted;        /* partitions to create it with; 0: do not create */
    bool changelog, internal, source;
    struct topic_lookup lookup;
    struct create_topic create;
    struct conf config;
    struct worker *worker;
    bool busy; /* lookup or create in flight */
};

/* A record taken from the fetcher and not done with. */
struct current {
    bool active;
    struct fetched r;
    struct task *task;
    struct task_input *input;
    int attempt;
    bool done;    /* processed: its outputs (or dead letter) are in the outbox */
    bool waiting; /* for the retry timer, or a late topic */
};

/* at_most_once: polled records wait here while their offsets are committed. */
struct polled_record {
    struct fetched r; /* its slices are offsets into bytes until it is taken */
    struct task *task;
    struct task_input *input;
    uint32_t key_at, value_at, headers_at;
};
struct polled {
    struct buf bytes;
    struct polled_record *v;
    uint32_t n, cap, at;
};

struct worker {
    struct env *env;
    struct worker_options o;
    const struct udf_job *job;
    enum udf_guarantee guarantee;
    struct identity id;
    struct client *client;
    struct producer *producer;
    struct fetcher *fetcher, *restorer;
    struct member *member;
    struct cycle cycle;
    struct map topics;       /* name -> struct job_topic */
    struct map internals;    /* "#words" -> struct job_topic, of topics */
    struct slice *subscribe; /* names of sources */
    int n_subscribe;
    int topics_busy; /* lookups and creations in flight */
    int setup_step;
    struct list tasks;
    struct group_identity polled_as; /* under which the uncommitted records were polled */
    struct buf polled_as_bytes;
    int32_t generation, last_generation;
    bool assigned, ready_told;
    struct outbox outbox;
    struct current current;
    struct task *entered; /* whose Lua has the watchdog */
    struct polled polled;
    struct env_task pump, restore_turn, fail_task;
    struct env_timer idle_timer; /* positions moved past what no record will come from */
    struct env_timer pump_timer, cycle_timer, retry_timer, sync_timer, space_timer;
    struct txn_offset *offsets; /* of the commit under way */
    uint32_t offsets_cap;
    struct buf offset_text;
    struct offsets_commit plain; /* at_least_once, at_most_once */
    uint32_t n_offsets;
    bool flushing;    /* task_flush stopped for room */
    int n_storing;    /* local commits in flight */
    unsigned effects; /* of the cycle, not yet applied */
    bool applying;
    int last_res;
    struct err last_err;
    bool stopping, stopped, closing, failed;
    int exit_code;
    char why[1400];
    struct worker_stats stats;
};

/* worker.c */
void worker_event(struct worker *w, enum cycle_event_kind kind, int res);
void worker_event_bytes(struct worker *w, enum cycle_event_kind kind, uint64_t bytes);
void worker_pump(struct worker *w); /* asks for a turn of the pump */
/* The job ends: what is committed stays; on_stopped gets the code. */
void worker_fail(struct worker *w, int exit_code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void worker_fail_err(struct worker *w, int res, const struct err *e);
struct job_topic *worker_topic(struct worker *w, struct slice name);
/* By the name that the job gives it. */
struct job_topic *worker_topic_declared(struct worker *w, struct slice declared);

/* topics.c: looks up and creates what the job needs, then worker_topics_ready or worker_fail. */
int job_topics_collect(struct worker *w, struct err *e);
void job_topics_setup(struct worker *w);
/* An output of a "prefix-*" that no record named before: looked up or made; the pump is asked again
 * then. */
int job_topics_late(struct worker *w, struct slice name);
void job_topics_free(struct worker *w);
void worker_topics_ready(struct worker *w);

/* pump.c: takes records and runs them. */
void pump_init(struct worker *w);
void pump_run(struct worker *w);
/* The topic that the current record waits for is there. */
void pump_again(struct worker *w);
/* Passes on what the current record has written, if it has: 0, or as producer_send. Its store
 * writes are in the overlays already, so a flush must not go without its outputs and its
 * position. */
int pump_finish(struct worker *w);
/* What is current or polled of t (NULL: of any task) is forgotten. */
void pump_forget(struct worker *w, struct task *t);
/* Lua is left before anything happens to tasks. */
void pump_leave(struct worker *w);
void pump_free(struct worker *w);

/* commit.c: the effects of the cycle. */
void commit_flush(struct worker *w);
void commit_flush_more(struct worker *w);
void commit_offsets(struct worker *w);
void commit_end(struct worker *w);
void commit_abort(struct worker *w);
void commit_store(struct worker *w);
void commit_free(struct worker *w);

/* assign.c: tasks come and go. */
void assign_install(struct worker *w, struct member_options *o);
void assign_drop_all(struct worker *w);  /* every task back to what is committed */
void assign_close_all(struct worker *w); /* every task gone */
void assign_check_ready(struct worker *w);

/* restore.c: a task from "assigned" to "running". */
void task_start(struct task *t);
void task_start_cancel(struct task *t);
void restore_pump(struct worker *w); /* takes what the restoring fetcher has */

/* host.c: what Lua may ask. */
void host_init(struct task *t);
/* Topic and partition of an output by the rules of LUA_API: 0, or -ERR_INVALID. */
int host_route(struct task *t, struct slice topic, struct slice key, int32_t partition,
               int32_t input_partition, struct job_topic **to, int32_t *part);

/* task.c tells: the local commit of t ended. */
void worker_stored(struct worker *w, struct task *t, int res);
/* One local transaction (of a commit, a restore, or the stop) is over. */
void worker_store_over(struct worker *w);
/* After a commit that ended like this the store cannot be believed (store.h). */
bool worker_store_doubt(int res);
/* Stores are closed: leave the group and stop. */
void worker_leave(struct worker *w);
#endif

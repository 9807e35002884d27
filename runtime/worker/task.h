/* runtime/worker/task.h - a task: one node group on one partition, its Lua state and its stores.
 *
 * What a record does is held back: outputs in the worker's outbox, store writes in overlays under a
 * mark. When `process` returns, task_keep lets it stand; after a failure task_undo leaves nothing
 * behind. At a commit the overlays are frozen while the local transaction runs in the pool; reads
 * look at overlay, then frozen, then store. */
#ifndef ONCE_RUNTIME_WORKER_TASK_H
#define ONCE_RUNTIME_WORKER_TASK_H
#include "base/env.h"
#include "runtime/client/admin.h"
#include "runtime/client/fetcher.h"
#include "runtime/state/store.h"
#include "runtime/worker/outbox.h"
#include "udf/udf.h"

struct worker;
enum task_state {
    TASK_NEW,       /* assigned; the store is not open */
    TASK_OFFSETS,   /* waits for the stable offsets of its inputs */
    TASK_RESTORING, /* changelogs are read */
    TASK_RUNNING,
    TASK_FAILED /* waits to be dropped */
};
struct task_input {
    struct slice topic;    /* as on the broker; owned by the worker's topic table */
    struct slice declared; /* as the job calls it */
    int64_t next;          /* position: the next offset to process */
    int64_t committed;
    bool fetching; /* added to the fetcher */
};
struct task {
    struct worker *worker;
    struct list link;
    int group;
    int32_t partition;
    enum task_state state;
    struct udf_host host; /* what the Lua side calls */
    struct udf_task *udf;
    struct task_store *store; /* NULL: the group has no stores */
    int n_stores, n_inputs;
    struct overlay *now, *frozen; /* n_stores each */
    struct store_commit *commit;  /* NULL: no stores */
    bool committing;              /* the local transaction runs */
    bool sync_due;                /* the next local commit is also synced */
    bool touched;                 /* took a record or wrote since the last commit */
    bool drop_after;              /* to be reset or closed when the local transaction is over */
    bool doubt; /* a sync failed, or what is there is wrong: the store is to be made anew */
    bool close_after;
    int64_t stream_time, stream_time_before; /* the latter: at the record's mark */
    struct task_input *inputs;
    struct slice *changelogs; /* topic names; null: none */
    /* step 2 of a commit: where the flush of overlays stands */
    int flush_store;
    uint32_t flush_at;
    /* a start: offsets, then restore */
    struct fetch_offsets fetch;
    struct fetch_offset_entry *fetch_entries; /* of inputs */
    bool fetching;
    struct task_restore *restore;
    uint64_t started_at;
};

/* From job and partition; opens nothing. NULL: out of memory. */
struct task *task_new(struct worker *w, int group, int32_t partition);
/* Without I/O beyond closing the store; a local commit must not be in flight unless the node is
 * dead. */
void task_free(struct task *t);
/* A fresh Lua state, empty overlays, unknown stream time; the store stays open. */
int task_reset(struct task *t, struct err *e);
int task_open_store(struct task *t, struct err *e);
void task_close_store(struct task *t);
/* Deletes the store's files and opens an empty one. */
int task_discard_store(struct task *t, struct err *e);

/* Runs one record, undoing what it did unless UDF_OK. */
enum udf_result task_process(struct task *t, const struct fetched *r, struct task_input *in,
                             int attempt, struct udf_failure *f);
/* Bytes held in overlays. */
uint64_t task_bytes(const struct task *t);
/* Which input reads this topic; NULL when none. */
struct task_input *task_input(struct task *t, struct slice topic);

/* Sends changelog records of all overlays to the producer, going on where it stopped: 0 all sent;
 * -ERR_LIMIT: call again when the producer has room; other errors are the producer's. */
int task_flush(struct task *t);
void task_flush_begin(struct task *t);
/* Swaps overlays and starts the local transaction; done is told through worker_stored. clean: the
 * last one of an orderly stop. */
void task_store_commit(struct task *t, bool clean);
#endif

/* runtime/state/store.h - the stores of one task on disk (or in memory): key-value tables that
 * commit in step with a transaction.
 *
 * A task has one task_store: a table per declared store and one record of meta that says up to
 * where the tables reflect the changelogs and the inputs. Writes arrive only as whole commits:
 * frozen overlays and the new meta, in one local transaction that is a compare-and-set on the
 * commit number the overlay was opened at. LMDB runs NOSYNC without WRITEMAP and is synced now and
 * then off the loop; the changelog is the durable truth (EO-52, EO-58).
 *
 * Failure: a commit that fails leaves the old contents; the owner catches up from the changelog.
 * After -ERR_IO (a sync may have failed, and what was written before it may be lost yet),
 * -ERR_CORRUPT or -ERR_STATE the store must be discarded. */
#ifndef ONCE_RUNTIME_STATE_STORE_H
#define ONCE_RUNTIME_STATE_STORE_H
#include "base/bytes.h"
#include "base/env.h"
#include "runtime/state/overlay.h"

enum { STORES_MAX = 32, INPUTS_MAX = 32, STORE_NAME_MAX = 100, TOPIC_NAME_MAX = 249 };

struct store_input {
    char topic[TOPIC_NAME_MAX + 1];
    int32_t partition;
    int64_t offset; /* next input to process */
};
struct store_changelog {
    struct uuid topic_id;
    int64_t position;     /* next changelog offset to apply; 0 and epoch -1 for an empty store */
    int32_t leader_epoch; /* of the last record applied, -1 none */
    int64_t timestamp;    /* of the last record applied, ms; -1 none */
};
struct store_meta {
    uint64_t commit; /* number of the last commit: the compare-and-set */
    int64_t stream_time;
    int64_t wall_ms; /* of the last commit */
    int32_t n_inputs, n_stores;
    bool clean;           /* closed in order and synced */
    struct env_id opened; /* the file as it was at open */
    struct store_changelog changelogs[STORES_MAX];
    struct store_input inputs[INPUTS_MAX];
};

struct task_store;
struct store_iter {
    int (*next)(struct store_iter *it, struct slice *key, struct slice *value); /* 1, 0 end, <0 */
    void (*close)(struct store_iter *it);
};
struct store_commit {
    /* in; overlays[i] may be NULL or empty; all stay untouched by the caller until done */
    struct overlay *overlays[STORES_MAX];
    struct store_meta meta; /* meta.commit: the number expected now; becomes +1 */
    bool bulk;              /* keys lie behind all that is there (restore into an empty table) */
    bool sync;
    void (*done)(struct store_commit *c, int res);
    void *user;
    /* internal */
    struct task_store *store;
    struct env_op op;
    int res;
};

struct store_vt {
    void (*close)(struct task_store
                      *s); /* sync, no mark of cleanness; from any state but a commit in flight */
    int (*get)(struct task_store *s, int table, struct slice key,
               struct slice *value); /* 1, 0, <0 */
    /* Keys in [from, to) (null: open), ascending or descending, as of now. */
    int (*range)(struct task_store *s, int table, struct slice from, struct slice to, bool reverse,
                 struct store_iter **it);
    void (*commit)(struct store_commit *c);
};
struct task_store {
    const struct store_vt *vt;
    struct env *env;
    struct store_meta meta; /* as of the last commit */
    int n_tables;
    char path[512];
};

/* How stores are made: on LMDB below a directory, or in memory for the simulator. A driver outlives
 * its stores and refuses a second open of the same path. */
struct store_driver {
    /* Opens or creates. names[i] of n_tables tables. -ERR_BUSY: open elsewhere in this process;
     * -ERR_CORRUPT: cannot be read, discard it. */
    int (*open)(struct store_driver *d, struct env *env, const char *path, const char *const *names,
                int n_tables, struct task_store **s, struct err *e);
    /* Deletes everything at path. */
    int (*discard)(struct store_driver *d, struct env *env, const char *path, struct err *e);
};

/* LMDB; state is only the registry of open paths. */
struct store_driver *store_lmdb_new(void);
void store_lmdb_free(struct store_driver *d);
/* For `once state`: opens read-only, also while a worker has it open. */
int store_lmdb_open_ro(const char *path, const char *const *names, int n_tables,
                       struct task_store **s, struct err *e);
/* Of one opened read-only: is the table there? */
bool store_lmdb_has(const struct task_store *s, int table);

/* In memory; contents belong to the driver and outlive the task_store, as files outlive a
 * process. */
struct store_driver *store_mem_new(void);
void store_mem_free(struct store_driver *d);
/* A crash of the process leaves everything; a power cut throws the contents of paths that begin
 * with `prefix` back to their last sync, or away when `lose`. */
void store_mem_power_cut(struct store_driver *d, const char *prefix, bool lose);

/* Bytes of meta, for drivers. */
int store_meta_encode(const struct store_meta *m, struct buf *out);
int store_meta_decode(struct store_meta *m, struct slice bytes);
#endif

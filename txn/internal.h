/* txn/internal.h - what the files of txn/ share. For those files only. */
#ifndef ONCE_TXN_INTERNAL_H
#define ONCE_TXN_INTERNAL_H
#include "txn/coordinator.h"
#include "txn/producer_state.h"

enum { TXLOG_BATCH_MAX = 1 << 20, TXLOG_ARENA_MAX = 4 << 20 };

struct txn_entry {
    struct slice id; /* owned */
    struct txn t;
    /* Since when a tick has seen the transaction of that start open, monotonic. */
    int64_t open_start_ms;
    uint64_t open_since;
};

struct txn_coordinator {
    struct broker *b;
    struct env *env;
    struct map ids; /* transactional id -> struct txn_entry */
    struct env_timer tick;
    uint64_t producers_at; /* when idle producers were last looked for */
    int64_t tick_ms, timeout_max_ms, id_idle_ms, producer_idle_ms;
    int32_t log_partitions;
    struct err load; /* why the transaction log could not be read */
    /* Scratch, empty between calls. */
    struct arena arena;
    struct buf value, batch, unpacked;
};

/* What the plug keeps at a partition. */
struct txn_partition_state {
    struct producer_state producers;
};

/* ---- txlog.c: records of the transaction log ---- */
/* Stages the value of effect e, a LOG, or a tombstone. NONE, or what the append was refused
 * with. */
enum kafka_error txlog_write(struct txn_coordinator *c, const struct txn_entry *entry,
                             const struct txn_effect *e);
/* Recovery: one batch. Failures are kept in c->load. */
void txlog_replay(struct txn_coordinator *c, const struct partition *p, struct slice batch);

/* ---- markers.c ---- */
/* Stages the marker of effect e, a MARK, in each partition enrolled. */
enum kafka_error markers_write(struct txn_coordinator *c, const struct txn_entry *entry,
                               const struct txn_effect *e);

/* ---- coordinator.c ---- */
/* The entry of id, made when `create` (then fresh); NULL: not there, or no memory. */
struct txn_entry *coordinator_entry(struct txn_coordinator *c, struct slice id, bool create);
void coordinator_forget(struct txn_coordinator *c, struct txn_entry *entry);
/* One event: decided, staged, applied. */
void coordinator_step(struct txn_coordinator *c, struct txn_entry *entry, struct txn_event *ev,
                      struct txn_answer *a);
/* Rolls prepared transactions forward, aborts late ones, retires idle ids; arms the timer again. */
void coordinator_tick(struct txn_coordinator *c);

/* ---- plug.c ---- */
struct plug txn_plug(struct txn_coordinator *c);
/* Forgets producers that were idle too long, over all partitions. */
void plug_expire_producers(struct txn_coordinator *c);
#endif

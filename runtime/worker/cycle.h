/* runtime/worker/cycle.h - the commit cycle of a worker, pure: what to do next, from what happened.
 *
 * exactly_once:   RUN -> FLUSH -> OFFSETS -> END -> (stores) RUN
 * at_least_once:  RUN -> FLUSH -> OFFSETS -> (stores) RUN, offsets by a plain OffsetCommit
 * at_most_once:   RUN -> OFFSETS (of what was polled) -> process -> FLUSH -> (stores) RUN
 *
 * A failure before the decision is known leads to ABORT; an unknown or fenced outcome to INIT. Both
 * end in CYCLE_DROP: every task forgets what is not committed and resumes from stable offset and
 * store, by the code that serves a start. Membership lost means abort, never a commit under a newer
 * one (EO-60). */
#ifndef ONCE_RUNTIME_WORKER_CYCLE_H
#define ONCE_RUNTIME_WORKER_CYCLE_H
#include <stdbool.h>
#include <stdint.h>

enum cycle_mode { CYCLE_EXACTLY_ONCE, CYCLE_AT_LEAST_ONCE, CYCLE_AT_MOST_ONCE };
enum cycle_state {
    CYCLE_STARTING, /* no producer id yet */
    CYCLE_RUN,
    CYCLE_FLUSH,
    CYCLE_OFFSETS,
    CYCLE_END,
    CYCLE_ABORT,
    CYCLE_INIT,
    CYCLE_STOPPED
};
enum cycle_event_kind {
    CYCLE_EV_INITED,   /* InitProducerId answered: res */
    CYCLE_EV_WORK,     /* a record (or timer) was processed: bytes of outputs and store writes */
    CYCLE_EV_POLLED,   /* at most once: records wait for their offsets to be committed */
    CYCLE_EV_TAKEN,    /* at most once: all that was polled is processed */
    CYCLE_EV_DRAINED,  /* no record is at hand */
    CYCLE_EV_TICK,     /* time passed */
    CYCLE_EV_FLUSHED,  /* res */
    CYCLE_EV_OFFSETS,  /* res */
    CYCLE_EV_ENDED,    /* res of EndTxn(commit) */
    CYCLE_EV_ABORTED,  /* res of EndTxn(abort) */
    CYCLE_EV_STORED,   /* all local store commits are over, well or not */
    CYCLE_EV_REVOKE,   /* a rebalance began */
    CYCLE_EV_ASSIGNED, /* it is over */
    CYCLE_EV_LOST,     /* membership is gone */
    /* a task, a store or the producer cannot go on: back to what is committed; res */
    CYCLE_EV_FAILED,
    CYCLE_EV_STOP /* finish, commit, stop */
};
struct cycle_event {
    enum cycle_event_kind kind;
    int res; /* 0 or a negative ERR_ code */
    uint64_t bytes;
};
enum cycle_effect {
    CYCLE_DO_INIT = 1 << 0,  /* producer_init_id */
    CYCLE_DO_FLUSH = 1 << 1, /* changelogs, then producer_flush */
    CYCLE_DO_OFFSETS =
        1 << 2, /* TxnOffsetCommit or OffsetCommit, of every task that took or wrote */
    CYCLE_DO_COMMIT = 1 << 3,  /* EndTxn(commit) */
    CYCLE_DO_ABORT = 1 << 4,   /* EndTxn(abort) */
    CYCLE_DO_STORE = 1 << 5,   /* freeze overlays, commit stores */
    CYCLE_DO_DROP = 1 << 6,    /* forget what is not committed, reload tasks */
    CYCLE_DO_REVOKED = 1 << 7, /* the rebalance may go on */
    CYCLE_DO_PROCESS = 1 << 8, /* at most once: the polled records may be processed now */
    CYCLE_DO_STOPPED = 1 << 9, /* all is committed */
    CYCLE_DO_FATAL = 1 << 10   /* res of the event says why */
};
struct cycle_options {
    enum cycle_mode mode;
    bool foreign;       /* not our own broker: commits cost more */
    uint64_t max_ns;    /* commit at the latest after this: 100 ms */
    uint64_t min_ns;    /* not before, since the last one's end */
    uint64_t bytes_max; /* commit when so much has gathered */
    uint64_t records_max;
};
struct cycle {
    struct cycle_options o;
    enum cycle_state state;
    uint64_t dirty_at; /* when the first uncommitted work was done; 0: nothing is uncommitted */
    uint64_t bytes, records;
    uint64_t began_at;       /* of the commit under way */
    uint64_t ended_at, took; /* of the last one */
    /* Commit at the latest after this: the first outputs need not wait for a whole max_ns, so it
     * starts at an eighth and doubles with each commit. */
    uint64_t interval_ns;
    uint64_t foreign_min_ns; /* doubled when the cluster says "concurrent transactions" */
    bool drained, storing, revoking, stopping, lost, failed, unassigned;
    bool fenced;  /* failed because the producer is of no use: a new producer id first */
    bool polled;  /* at most once: waits for offsets */
    bool holding; /* and then: they are processed before all else */
};

void cycle_init(struct cycle *c, const struct cycle_options *o);
/* Effects as a set of CYCLE_DO_. */
unsigned cycle_step(struct cycle *c, const struct cycle_event *ev, uint64_t now);
/* When to send CYCLE_EV_TICK; UINT64_MAX: never. */
uint64_t cycle_due(const struct cycle *c);
/* May records be processed now? */
bool cycle_may_process(const struct cycle *c);
static inline bool cycle_dirty(const struct cycle *c)
{
    return c->dirty_at != 0;
}
#endif

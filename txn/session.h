/* txn/session.h - the client half of exactly-once: a producer's id, epoch, sequences and
 * transaction.
 *
 * Pure: no clock, no socket. The producer asks before it sends (session_batch_begin,
 * session_end_begin) and tells what came back; the verdict says what to do with the request. Happy
 * path:
 *
 *   session_init -> InitProducerId -> session_init_result (DONE, state IDLE)
 *   session_begin -> [version 1: AddPartitionsToTxn -> session_enrol_result]
 *   session_batch_begin -> Produce -> session_produce_result (DONE) ...
 *   TxnOffsetCommit -> session_offsets_result
 *   session_end_begin(commit) -> EndTxn -> session_end_result (DONE; IDLE, or NONE: init again)
 *
 * A producer without transactions is IDLE from InitProducerId on and sends in that state.
 *
 * What keeps it exact:
 * - A batch that was stamped is resent with the same bytes until it is decided. Only a definite
 *   refusal lets its records take other sequences, and only after all of its partition that is in
 *   flight has been decided too; other partitions drain under their old epoch first.
 * - A transaction with a failed or undecided batch can only be aborted.
 * - Under version 1, whatever had no answer in a transaction makes its end followed by a new epoch,
 *   for a delayed request must not enter the next transaction. Version 2 has a new epoch after
 *   every end.
 * - A commit without a definite answer is asked again; where that is not possible its outcome is
 *   UNKNOWN: the caller reads the group's stable offsets and never guesses. */
#ifndef ONCE_TXN_SESSION_H
#define ONCE_TXN_SESSION_H
#include "base/wire/kafka_error.h"
#include <stdbool.h>
#include <stdint.h>

enum { SESSION_IN_FLIGHT_MAX = 5 }; /* what brokers remember of a producer per partition */

enum session_state {
    SESSION_NONE,         /* no id, or a new epoch is due: send what session_init_request says */
    SESSION_IDLE,         /* no transaction is open; without transactions: may send */
    SESSION_IN_TXN,       /* */
    SESSION_ABORT_NEEDED, /* something failed: only session_end_begin(false) is left */
    SESSION_ENDING,       /* EndTxn is on its way or to be repeated */
    SESSION_UNKNOWN,      /* did the commit take place? As NONE; stable offsets decide */
    SESSION_FATAL         /* of no use any more: configuration or permission */
};

/* REWRITE: the caller puts the batch back in its place in the queue, behind those put back before
 * it and before what was never stamped; session_batch_begin gives it a new stamp. */
enum session_verdict {
    SESSION_DONE,              /* decided, as asked */
    SESSION_RETRY,             /* the same bytes again to the same broker, after a pause */
    SESSION_RETRY_METADATA,    /* the same bytes again, after asking who leads the partition */
    SESSION_RETRY_COORDINATOR, /* the same again, after FindCoordinator */
    SESSION_REWRITE,           /* not written; without transactions only */
    SESSION_FAIL,              /* not written and will not be; without transactions only */
    SESSION_FAIL_UNKNOWN,      /* given up, perhaps written; without transactions only */
    SESSION_ABORT,             /* state ABORT_NEEDED: the transaction can only be aborted */
    SESSION_REINIT,            /* state NONE: fenced or forgotten; nothing was committed */
    SESSION_OUTCOME_UNKNOWN,   /* state UNKNOWN */
    SESSION_STALE,             /* belongs to a transaction that is over: ignore */
    SESSION_BROKEN             /* state FATAL */
};

/* Fields are read by the owner and written by the functions here. */
struct session {
    enum session_state state;
    bool transactional;
    bool committing;       /* ENDING: the way asked for */
    bool touched;          /* this transaction may exist at the coordinator */
    bool new_epoch_needed; /* InitProducerId comes before the next transaction */
    bool forget;           /* session_init_request asks without the old id */
    uint8_t version;       /* of the open transaction: 1 or 2 */
    int16_t epoch;
    int64_t producer_id; /* -1: none */
    uint64_t txn;        /* counts begins */
    uint32_t in_flight;  /* batches that are not decided, over all partitions */
};

struct session_batch {
    int64_t producer_id;
    int32_t base_sequence, count;
    int16_t epoch;
};
/* State of one partition; lives as long as the session, even while metadata does not list the
 * partition. */
struct session_partition {
    int64_t producer_id; /* whose numbers these are; not the session's: to restart when drained */
    int16_t epoch;
    bool restart; /* a sequence was given up: new epoch when drained */
    bool acked;   /* some batch of this epoch is known to be written */
    uint8_t n_in_flight;
    int32_t next_sequence;
    uint64_t enrolled; /* == session.txn: in the open transaction */
    struct {
        int32_t base_sequence, count;
        bool maybe_written;             /* sent once without a definite answer */
    } in_flight[SESSION_IN_FLIGHT_MAX]; /* oldest first */
};

void session_init(struct session *s, bool transactional);
void session_partition_init(struct session_partition *p);

/* What to send as InitProducerId's producer id and epoch: -1, -1 for a new incarnation. */
void session_init_request(const struct session *s, int64_t *producer_id, int16_t *epoch);
/* answered false: timeout or connection lost. DONE (state IDLE), RETRY, RETRY_COORDINATOR, REINIT
 * (send again, now without the old id), BROKEN. */
enum session_verdict session_init_result(struct session *s, bool answered, enum kafka_error error,
                                         int64_t producer_id, int16_t epoch);

/* version: 2 only where the peer finalized transaction.version 2 and offers Produce 12,
 * TxnOffsetCommit 5 and EndTxn 5; it holds to the transaction's end. 0, or -ERR_STATE when not IDLE
 * and transactional. */
int session_begin(struct session *s, int version);

/* Version 1: is AddPartitionsToTxn (for offsets: AddOffsetsToTxn) still to be sent for p? */
bool session_enrol_needed(const struct session *s, const struct session_partition *p);
/* To be called when such a request is first sent. */
void session_enrol_sent(struct session *s);
/* The code of one partition of AddPartitionsToTxn, or of AddOffsetsToTxn (p NULL, or the caller's
 * own for the group). DONE, RETRY, RETRY_COORDINATOR, ABORT, REINIT, BROKEN, STALE. */
enum session_verdict session_enrol_result(struct session *s, struct session_partition *p,
                                          bool answered, enum kafka_error error);

/* May a batch of `count` records be sent to p now? True with its stamp; false: wait for a result of
 * p (or, with state not IN_TXN / IDLE, or not enrolled: not at all). The caller sends a partition's
 * stamped batches in the order of their stamps, retries included. */
bool session_batch_begin(struct session *s, struct session_partition *p, int32_t count,
                         struct session_batch *b);
/* DONE, RETRY, RETRY_METADATA, ABORT, REINIT, STALE, BROKEN; without transactions REWRITE, FAIL and
 * FAIL_UNKNOWN instead of ABORT and REINIT (the state may then be NONE: init before going on). */
enum session_verdict session_produce_result(struct session *s, struct session_partition *p,
                                            const struct session_batch *b, bool answered,
                                            enum kafka_error error);
/* The caller gives a stamped batch up (delivery timeout): FAIL_UNKNOWN, ABORT, STALE. */
enum session_verdict session_batch_expired(struct session *s, struct session_partition *p,
                                           const struct session_batch *b);

/* TxnOffsetCommit is being sent (version 2: it enrols). */
void session_offsets_sent(struct session *s);
/* The worst code of a TxnOffsetCommit answer is what counts: call once a distinct code; 22, 25, 82
 * and 113 are ABORT, and the caller rejoins. DONE, RETRY, RETRY_COORDINATOR, ABORT, REINIT, BROKEN,
 * STALE. */
enum session_verdict session_offsets_result(struct session *s, bool answered,
                                            enum kafka_error error);

/* Something outside failed (a task's error, a lost membership): the transaction must be aborted. */
void session_fail(struct session *s);
/* 1: send EndTxn; 0: nothing was begun at the coordinator, the transaction is over (state IDLE or
 * NONE); -ERR_STATE: commit with a batch in flight or after a failure, or no transaction. */
int session_end_begin(struct session *s, bool commit);
/* pid and epoch: of an EndTxn 5 answer, else -1. DONE (committed or aborted, as asked; state IDLE
 * or NONE), RETRY, RETRY_COORDINATOR, ABORT (the commit definitely did not take place), REINIT
 * (abort asked: it is not committed), OUTCOME_UNKNOWN, BROKEN. */
enum session_verdict session_end_result(struct session *s, bool answered, enum kafka_error error,
                                        int64_t producer_id, int16_t epoch);
/* The caller stops asking how the commit ended (deadline): OUTCOME_UNKNOWN, or REINIT for an
 * abort. */
enum session_verdict session_end_give_up(struct session *s);

/* The highest versions to be used within the open transaction. */
static inline int16_t session_produce_version(const struct session *s)
{
    return s->transactional && s->version >= 2 ? 12 : 11;
}
static inline int16_t session_end_version(const struct session *s)
{
    return s->version >= 2 ? 5 : 4;
}
static inline int16_t session_offsets_version(const struct session *s)
{
    return s->version >= 2 ? 5 : 4;
}
#endif

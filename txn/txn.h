/* txn/txn.h - one transactional id at the coordinator.
 *
 * Pure: a step takes an event and the wall clock and yields effects; it changes nothing. The caller
 * carries the effects out in order, all within one atomic round: LOG stages the value in the
 * transaction log and, if that worked, txn_logged() makes it the current one; MARK stages a marker
 * in every partition enrolled; REPLY is the answer, which leaves when the round is durable. If
 * something cannot be staged, the rest of the effects is dropped: the value logged last stands, and
 * a decision (PREPARE) that stands alone rolls forward by TXN_TICK, as one found after a restart
 * does. It is never taken back.
 *
 * So EndTxn is one bundle {prepare, markers, complete}, and so is the abort that InitProducerId or
 * the timeout starts; nobody sees a state in between unless a round was cut short. */
#ifndef ONCE_TXN_TXN_H
#define ONCE_TXN_TXN_H
#include "base/slice.h"
#include "base/wire/kafka_error.h"

/* As in the transaction log. */
enum txn_state {
    TXN_EMPTY,
    TXN_ONGOING,
    TXN_PREPARE_COMMIT,
    TXN_PREPARE_ABORT,
    TXN_COMPLETE_COMMIT,
    TXN_COMPLETE_ABORT,
    TXN_DEAD,
    TXN_PREPARE_EPOCH_FENCE
};

enum {
    TXN_EPOCH_MAX = 32766, /* the last a producer may have; 32767 only fences */
    TXN_OUT_MAX = 8
};

/* What the transaction log keeps, partitions aside. */
struct txn_value {
    enum txn_state state;
    int64_t producer_id, previous_producer_id, next_producer_id; /* -1: none */
    int64_t last_update_ms, start_ms;                            /* wall clock; start -1: none */
    int32_t timeout_ms;
    int16_t epoch, last_epoch; /* -1: none */
    int16_t client_version;    /* 2 in what a version-2 request wrote */
};

struct txn_partition {
    uint32_t topic; /* index in topics */
    int32_t index;
};
struct txn {
    struct txn_value v;
    bool fresh; /* never logged: made for the event in hand */
    /* Enrolled partitions, in the order they came. */
    struct slice *topics; /* owned */
    struct txn_partition *parts;
    uint32_t n_topics, n_parts, cap_topics, cap_parts;
};

enum txn_event_type {
    TXN_INIT,  /* InitProducerId: timeout_ms, timeout_max_ms, producer_id and epoch or -1 */
    TXN_ADD,   /* an enrolment, by request or append: producer_id, epoch, version, all_in */
    TXN_END,   /* EndTxn: producer_id, epoch, commit, version */
    TXN_TICK,  /* time passed, or a prepare was found: nothing to answer */
    TXN_RETIRE /* may the id be forgotten? idle_ms */
};
struct txn_event {
    enum txn_event_type type;
    int version; /* of transactions: 2 for EndTxn 5, Produce 12, TxnOffsetCommit 5; else 1 */
    bool commit;
    bool all_in; /* ADD: each partition asked for is enrolled already (txn_has) */
    bool late;   /* TICK: it is too old, whatever the wall clock says */
    int16_t epoch;
    int32_t timeout_ms, timeout_max_ms;
    int64_t producer_id;
    int64_t fresh_id; /* a producer id nobody has, or -1: the step asks for one by out.need_id */
    int64_t idle_ms;
};

enum txn_effect_type { TXN_LOG, TXN_MARK, TXN_REPLY, TXN_TOMBSTONE };
enum txn_parts { TXN_PARTS_NULL, TXN_PARTS_KEPT, TXN_PARTS_EMPTY };
struct txn_effect {
    enum txn_effect_type type;
    struct txn_value value; /* LOG */
    enum txn_parts
        parts;   /* LOG: what of the enrolled partitions is written; all but KEPT clear them */
    bool commit; /* MARK */
    enum kafka_error error; /* REPLY */
    int64_t producer_id;    /* MARK, REPLY (-1 on error) */
    int16_t epoch;          /* MARK, REPLY */
};
struct txn_out {
    int n;
    bool need_id; /* nothing was decided: step again with fresh_id */
    struct txn_effect v[TXN_OUT_MAX];
};

/* A new id: Empty, epoch -1. */
void txn_init(struct txn *t);
void txn_deinit(struct txn *t);
void txn_step(const struct txn *t, const struct txn_event *ev, int64_t now_ms, struct txn_out *out);
/* The value of e, a LOG effect, is staged. */
void txn_logged(struct txn *t, const struct txn_effect *e);
/* When the next TXN_TICK is due, wall clock; INT64_MAX: never. A prepare is due at once. */
int64_t txn_due(const struct txn *t);

/* May the holder of (producer_id, epoch) write under this id now, enrolment aside? NONE, else 49,
 * 90, 51. */
enum kafka_error txn_owner(const struct txn *t, int64_t producer_id, int16_t epoch);
/* Is the partition in the open transaction? */
bool txn_has(const struct txn *t, struct slice topic, int32_t index);
/* Enrols; an enrolled one is left as it is. 0 or -ERR_NOMEM. */
int txn_enrol(struct txn *t, struct slice topic, int32_t index);
/* Undoes the enrolments after the first n_parts. */
void txn_enrol_undo(struct txn *t, uint32_t n_parts);

static inline bool txn_prepared(const struct txn *t)
{
    return t->v.state == TXN_PREPARE_COMMIT || t->v.state == TXN_PREPARE_ABORT ||
           t->v.state == TXN_PREPARE_EPOCH_FENCE;
}
#endif

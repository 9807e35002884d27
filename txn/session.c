/* txn/session.c - what an idempotent or transactional producer may send and what an answer means.
 *
 * The tables of codes are in the four classify functions; the rest keeps sequences. */
#include "txn/session.h"
#include "base/check.h"
#include "base/err.h"
#include <string.h>

enum { EPOCH_MAX = 32767 };

/* What a code says about the request, whoever sent it. */
enum meaning {
    MEANS_OK,
    MEANS_AGAIN,        /* not done; the same again */
    MEANS_MAYBE,        /* done or not; the same again */
    MEANS_LEADER,       /* MEANS_AGAIN, after asking for metadata */
    MEANS_MAYBE_LEADER, /* MEANS_MAYBE, after asking for metadata */
    MEANS_COORDINATOR,  /* MEANS_AGAIN, after asking for the coordinator */
    MEANS_SEQUENCE,     /* out of sequence, or the sequence was forgotten */
    MEANS_REFUSED,      /* this request, for good */
    MEANS_ABORT,        /* the transaction cannot be committed */
    MEANS_FENCED,       /* the id is another's by now, or gone */
    MEANS_FATAL
};

static int32_t sequence_next(int32_t seq, int32_t n)
{
    return (int32_t)(((uint32_t)seq + (uint32_t)n) & 0x7fffffffu);
}

void session_init(struct session *s, bool transactional)
{
    memset(s, 0, sizeof *s);
    s->transactional = transactional;
    s->producer_id = -1;
    s->epoch = -1;
    s->version = 1;
}

void session_partition_init(struct session_partition *p)
{
    memset(p, 0, sizeof *p);
    p->producer_id = -1;
    p->epoch = -1;
}

/* ---- states ---- */

static enum session_verdict be_fatal(struct session *s)
{
    s->state = SESSION_FATAL;
    return SESSION_BROKEN;
}

static enum session_verdict be_reinit(struct session *s)
{
    s->state = SESSION_NONE;
    s->forget = true;
    return SESSION_REINIT;
}

static enum session_verdict be_aborting(struct session *s)
{
    s->state = SESSION_ABORT_NEEDED;
    s->new_epoch_needed = true;
    return SESSION_ABORT;
}

static bool in_txn(const struct session *s)
{
    return s->state == SESSION_IN_TXN || s->state == SESSION_ABORT_NEEDED;
}

static void take_id(struct session *s, int64_t producer_id, int16_t epoch)
{
    s->producer_id = producer_id;
    s->epoch = epoch;
    if (s->transactional)
        s->in_flight = 0; /* what is on its way is of a transaction that is over */
    s->new_epoch_needed = false;
    s->forget = false;
}

/* The transaction is over at the coordinator. */
static void txn_over(struct session *s)
{
    s->touched = false;
    s->state = s->new_epoch_needed ? SESSION_NONE : SESSION_IDLE;
}

/* ---- InitProducerId ---- */

void session_init_request(const struct session *s, int64_t *producer_id, int16_t *epoch)
{
    bool old = s->transactional && s->producer_id >= 0 && s->state == SESSION_NONE && !s->forget;

    *producer_id = old ? s->producer_id : -1;
    *epoch = old ? s->epoch : -1;
}

enum session_verdict session_init_result(struct session *s, bool answered, enum kafka_error error,
                                         int64_t producer_id, int16_t epoch)
{
    if (s->state == SESSION_FATAL)
        return SESSION_BROKEN;
    if (!answered)
        return s->transactional ? SESSION_RETRY_COORDINATOR : SESSION_RETRY;
    switch (error) {
    case KAFKA_NONE:
        if (producer_id < 0 || epoch < 0)
            return be_fatal(s);
        take_id(s, producer_id, epoch);
        s->state = SESSION_IDLE;
        return SESSION_DONE;
    case KAFKA_CONCURRENT_TRANSACTIONS:
    case KAFKA_COORDINATOR_LOAD_IN_PROGRESS:
    case KAFKA_REQUEST_TIMED_OUT: return SESSION_RETRY;
    case KAFKA_COORDINATOR_NOT_AVAILABLE:
    case KAFKA_NOT_COORDINATOR: return s->transactional ? SESSION_RETRY_COORDINATOR : SESSION_RETRY;
    case KAFKA_INVALID_PRODUCER_EPOCH:
    case KAFKA_INVALID_PRODUCER_ID_MAPPING:
    case KAFKA_PRODUCER_FENCED: REACHED("session: fenced at init"); return be_reinit(s);
    default: return be_fatal(s);
    }
}

/* ---- a transaction and its enrolments ---- */

int session_begin(struct session *s, int version)
{
    if (!s->transactional || s->state != SESSION_IDLE)
        return -ERR_STATE;
    s->state = SESSION_IN_TXN;
    s->version = version >= 2 ? 2 : 1;
    s->touched = false;
    s->new_epoch_needed = false;
    s->txn++;
    return 0;
}

bool session_enrol_needed(const struct session *s, const struct session_partition *p)
{
    return s->state == SESSION_IN_TXN && s->version < 2 && p->enrolled != s->txn;
}

void session_enrol_sent(struct session *s)
{
    s->touched = true;
}

void session_offsets_sent(struct session *s)
{
    s->touched = true;
}

/* AddPartitionsToTxn, AddOffsetsToTxn and TxnOffsetCommit. */
static enum meaning classify_coordinator(enum kafka_error error)
{
    switch (error) {
    case KAFKA_NONE: return MEANS_OK;
    case KAFKA_CONCURRENT_TRANSACTIONS:
    case KAFKA_COORDINATOR_LOAD_IN_PROGRESS:
    case KAFKA_UNKNOWN_TOPIC_OR_PARTITION:
    case KAFKA_NOT_ENOUGH_REPLICAS: return MEANS_AGAIN;
    case KAFKA_REQUEST_TIMED_OUT: return MEANS_MAYBE;
    case KAFKA_COORDINATOR_NOT_AVAILABLE:
    case KAFKA_NOT_COORDINATOR: return MEANS_COORDINATOR;
    case KAFKA_INVALID_PRODUCER_EPOCH:
    case KAFKA_INVALID_PRODUCER_ID_MAPPING:
    case KAFKA_PRODUCER_FENCED: return MEANS_FENCED;
    case KAFKA_TRANSACTIONAL_ID_AUTHORIZATION_FAILED:
    case KAFKA_UNSUPPORTED_VERSION:
    case KAFKA_UNSUPPORTED_FOR_MESSAGE_FORMAT: return MEANS_FATAL;
    default: return MEANS_ABORT;
    }
}

static enum session_verdict coordinator_result(struct session *s, bool answered,
                                               enum kafka_error error)
{
    if (!in_txn(s))
        return SESSION_STALE;
    if (!answered) {
        s->new_epoch_needed = true;
        return s->state == SESSION_IN_TXN ? SESSION_RETRY_COORDINATOR : SESSION_ABORT;
    }
    switch (classify_coordinator(error)) {
    case MEANS_OK: return SESSION_DONE;
    case MEANS_FENCED: return be_reinit(s);
    case MEANS_FATAL: return be_fatal(s);
    case MEANS_MAYBE: s->new_epoch_needed = true; /* fall through */
    case MEANS_AGAIN: return s->state == SESSION_IN_TXN ? SESSION_RETRY : SESSION_ABORT;
    case MEANS_COORDINATOR:
        return s->state == SESSION_IN_TXN ? SESSION_RETRY_COORDINATOR : SESSION_ABORT;
    default: return be_aborting(s);
    }
}

enum session_verdict session_enrol_result(struct session *s, struct session_partition *p,
                                          bool answered, enum kafka_error error)
{
    enum session_verdict verdict = coordinator_result(s, answered, error);
    if (verdict == SESSION_DONE && p)
        p->enrolled = s->txn;
    return verdict;
}

enum session_verdict session_offsets_result(struct session *s, bool answered,
                                            enum kafka_error error)
{
    return coordinator_result(s, answered, error);
}

void session_fail(struct session *s)
{
    if (s->state == SESSION_IN_TXN)
        s->state = SESSION_ABORT_NEEDED;
}

/* ---- sequences ---- */

/* The partition's numbers are those of the session's id and epoch, if nothing older is in
 * flight. */
static bool partition_renew(struct session *s, struct session_partition *p)
{
    bool stale = p->producer_id != s->producer_id || p->epoch != s->epoch;

    if (!stale && !p->restart)
        return true;
    if (p->n_in_flight && (!s->transactional || !stale))
        return false; /* an old epoch drains first; in a transaction that is over nothing does */
    if (!stale) {
        CHECK(!s->transactional);
        /* A sequence of this epoch was given up: only a new epoch makes 0 the next one again. */
        if (s->epoch == EPOCH_MAX) {
            REACHED("session: epochs are used up");
            s->state = SESSION_NONE;
            return false;
        }
        s->epoch++;
    }
    uint64_t enrolled = p->enrolled;
    session_partition_init(p);
    p->enrolled = enrolled;
    p->producer_id = s->producer_id;
    p->epoch = s->epoch;
    return true;
}

bool session_batch_begin(struct session *s, struct session_partition *p, int32_t count,
                         struct session_batch *b)
{
    CHECK(count > 0);
    if (s->state != (s->transactional ? SESSION_IN_TXN : SESSION_IDLE) ||
        (s->transactional && session_enrol_needed(s, p)) || !partition_renew(s, p))
        return false;
    /* The first batch of an epoch goes alone: a broker that lost it may take the second for a first
     * one. */
    if (p->n_in_flight == SESSION_IN_FLIGHT_MAX || (p->n_in_flight && !p->acked && s->version < 2))
        return false;
    int at = p->n_in_flight++;
    p->in_flight[at].base_sequence = p->next_sequence;
    p->in_flight[at].count = count;
    p->in_flight[at].maybe_written = false;
    s->in_flight++;
    *b = (struct session_batch){.producer_id = s->producer_id,
                                .base_sequence = p->next_sequence,
                                .count = count,
                                .epoch = s->epoch};
    p->next_sequence = sequence_next(p->next_sequence, count);
    if (s->transactional && s->version >= 2) {
        p->enrolled = s->txn;
        s->touched = true;
    }
    return true;
}

/* Its place among what is in flight, or -1. */
static int batch_find(const struct session *s, const struct session_partition *p,
                      const struct session_batch *b)
{
    if (b->producer_id != p->producer_id || b->epoch != p->epoch)
        return -1;
    if (s->transactional &&
        (!in_txn(s) || b->producer_id != s->producer_id || b->epoch != s->epoch))
        return -1;
    for (int i = 0; i < p->n_in_flight; i++) {
        if (p->in_flight[i].base_sequence == b->base_sequence)
            return i;
    }
    return -1;
}

static void batch_drop(struct session *s, struct session_partition *p, int at)
{
    CHECK(s->in_flight > 0);
    memmove(p->in_flight + at, p->in_flight + at + 1,
            (size_t)(--p->n_in_flight - at) * sizeof *p->in_flight);
    s->in_flight--;
}

static enum meaning classify_produce(enum kafka_error error)
{
    switch (error) {
    case KAFKA_NONE:
    case KAFKA_DUPLICATE_SEQUENCE_NUMBER: return MEANS_OK;
    case KAFKA_NOT_ENOUGH_REPLICAS:
    case KAFKA_CONCURRENT_TRANSACTIONS:
    case KAFKA_THROTTLING_QUOTA_EXCEEDED:
    case KAFKA_CORRUPT_MESSAGE: return MEANS_AGAIN;
    case KAFKA_UNKNOWN_TOPIC_OR_PARTITION:
    case KAFKA_UNKNOWN_TOPIC_ID:
    case KAFKA_INCONSISTENT_TOPIC_ID:
    case KAFKA_LEADER_NOT_AVAILABLE:
    case KAFKA_REPLICA_NOT_AVAILABLE:
    case KAFKA_FENCED_LEADER_EPOCH:
    case KAFKA_UNKNOWN_LEADER_EPOCH:
    case KAFKA_KAFKA_STORAGE_ERROR: return MEANS_LEADER;
    case KAFKA_REQUEST_TIMED_OUT:
    case KAFKA_NOT_ENOUGH_REPLICAS_AFTER_APPEND: return MEANS_MAYBE;
    case KAFKA_NOT_LEADER_OR_FOLLOWER:
    case KAFKA_NETWORK_EXCEPTION: return MEANS_MAYBE_LEADER;
    case KAFKA_OUT_OF_ORDER_SEQUENCE_NUMBER:
    case KAFKA_UNKNOWN_PRODUCER_ID: return MEANS_SEQUENCE;
    case KAFKA_INVALID_PRODUCER_EPOCH: return MEANS_ABORT;
    case KAFKA_INVALID_PRODUCER_ID_MAPPING:
    case KAFKA_PRODUCER_FENCED: return MEANS_FENCED;
    case KAFKA_TRANSACTIONAL_ID_AUTHORIZATION_FAILED:
    case KAFKA_CLUSTER_AUTHORIZATION_FAILED:
    case KAFKA_UNSUPPORTED_VERSION: return MEANS_FATAL;
    default: return MEANS_REFUSED;
    }
}

/* The batch at `at` is decided against: its sequence will not be used, so the partition goes on in
 * a new epoch, and what follows it in flight cannot have been written either. */
static enum session_verdict batch_refused(struct session *s, struct session_partition *p, int at,
                                          enum session_verdict plain)
{
    batch_drop(s, p, at);
    p->restart = true;
    return s->transactional ? be_aborting(s) : plain;
}

static enum session_verdict batch_unless_maybe(struct session *s, struct session_partition *p,
                                               int at, enum session_verdict plain)
{
    return batch_refused(s, p, at, p->in_flight[at].maybe_written ? SESSION_FAIL_UNKNOWN : plain);
}

/* Out of sequence. While something older of the partition is undecided, that is the reason and it
 * will fit later (EO-15). As the oldest, it was not written, unless it was sent before and got no
 * answer. */
static enum session_verdict batch_out_of_sequence(struct session *s, struct session_partition *p,
                                                  int at)
{
    if (p->restart)
        return batch_refused(s, p, at, SESSION_REWRITE);
    if (at > 0)
        return s->state == SESSION_ABORT_NEEDED ? SESSION_ABORT : SESSION_RETRY;
    REACHED("session: out of sequence with nothing before it");
    return batch_unless_maybe(s, p, at, SESSION_REWRITE);
}

static enum session_verdict batch_maybe(struct session *s, struct session_partition *p, int at,
                                        enum session_verdict again)
{
    p->in_flight[at].maybe_written = true;
    s->new_epoch_needed = s->transactional;
    return s->state == SESSION_ABORT_NEEDED ? SESSION_ABORT : again;
}

/* Without transactions the batch goes on under another id; the transaction of a fenced one is
 * lost. */
static enum session_verdict batch_fenced(struct session *s, struct session_partition *p, int at)
{
    enum session_verdict verdict = batch_unless_maybe(s, p, at, SESSION_REWRITE);

    if (s->transactional || p->producer_id == s->producer_id)
        be_reinit(s);
    return s->transactional ? SESSION_REINIT : verdict;
}

enum session_verdict session_produce_result(struct session *s, struct session_partition *p,
                                            const struct session_batch *b, bool answered,
                                            enum kafka_error error)
{
    int at = batch_find(s, p, b);
    if (at < 0)
        return SESSION_STALE;
    if (!answered)
        return batch_maybe(s, p, at, SESSION_RETRY_METADATA);
    bool lost = s->state == SESSION_ABORT_NEEDED; /* nothing is sent again */
    switch (classify_produce(error)) {
    case MEANS_OK:
        batch_drop(s, p, at);
        p->acked = true;
        return SESSION_DONE;
    case MEANS_AGAIN: return lost ? SESSION_ABORT : SESSION_RETRY;
    case MEANS_LEADER: return lost ? SESSION_ABORT : SESSION_RETRY_METADATA;
    case MEANS_MAYBE: return batch_maybe(s, p, at, SESSION_RETRY);
    case MEANS_MAYBE_LEADER: return batch_maybe(s, p, at, SESSION_RETRY_METADATA);
    case MEANS_SEQUENCE: return batch_out_of_sequence(s, p, at);
    case MEANS_ABORT: /* perhaps only timed out: the abort will tell (KIP-588) */
        return s->transactional ? batch_refused(s, p, at, SESSION_ABORT) : batch_fenced(s, p, at);
    case MEANS_FENCED: return batch_fenced(s, p, at);
    case MEANS_FATAL: batch_drop(s, p, at); return be_fatal(s);
    default: return batch_unless_maybe(s, p, at, SESSION_FAIL);
    }
}

enum session_verdict session_batch_expired(struct session *s, struct session_partition *p,
                                           const struct session_batch *b)
{
    int at = batch_find(s, p, b);
    if (at < 0)
        return SESSION_STALE;
    return batch_refused(s, p, at, SESSION_FAIL_UNKNOWN);
}

/* ---- the end ---- */

int session_end_begin(struct session *s, bool commit)
{
    if (!in_txn(s))
        return -ERR_STATE;
    if (commit && (s->state != SESSION_IN_TXN || s->in_flight))
        return -ERR_STATE;
    if (s->in_flight)
        s->new_epoch_needed = true; /* aborted with batches on their way */
    if (!s->touched) {
        s->new_epoch_needed = false; /* nothing was sent */
        txn_over(s);
        return 0;
    }
    s->state = SESSION_ENDING;
    s->committing = commit;
    return 1;
}

enum session_verdict session_end_give_up(struct session *s)
{
    if (s->state != SESSION_ENDING)
        return SESSION_STALE;
    s->touched = false;
    if (!s->committing)
        return be_reinit(s);
    REACHED("session: outcome of a commit unknown");
    s->state = SESSION_UNKNOWN;
    return SESSION_OUTCOME_UNKNOWN;
}

static enum session_verdict end_done(struct session *s, int64_t producer_id, int16_t epoch)
{
    if (s->version >= 2) {
        if (producer_id >= 0 && epoch >= 0)
            take_id(s, producer_id, epoch);
        else
            s->new_epoch_needed = true; /* answered at another version: ask for an epoch */
    }
    txn_over(s);
    return SESSION_DONE;
}

static enum session_verdict end_refused(struct session *s)
{
    /* Not committed; there may still be something to abort. */
    if (s->committing) {
        REACHED("session: commit refused");
        be_aborting(s);
        return SESSION_ABORT;
    }
    s->new_epoch_needed = true;
    txn_over(s);
    return SESSION_DONE;
}

enum session_verdict session_end_result(struct session *s, bool answered, enum kafka_error error,
                                        int64_t producer_id, int16_t epoch)
{
    if (s->state != SESSION_ENDING)
        return SESSION_STALE;
    if (!answered) {
        s->new_epoch_needed = true;
        return SESSION_RETRY_COORDINATOR;
    }
    switch (error) {
    case KAFKA_NONE: return end_done(s, producer_id, epoch);
    case KAFKA_REQUEST_TIMED_OUT: s->new_epoch_needed = true; /* fall through */
    case KAFKA_CONCURRENT_TRANSACTIONS:
    case KAFKA_COORDINATOR_LOAD_IN_PROGRESS: return SESSION_RETRY;
    case KAFKA_COORDINATOR_NOT_AVAILABLE:
    case KAFKA_NOT_COORDINATOR: return SESSION_RETRY_COORDINATOR;
    case KAFKA_INVALID_TXN_STATE:
    case KAFKA_TRANSACTION_ABORTABLE: return end_refused(s);
    case KAFKA_TRANSACTIONAL_ID_AUTHORIZATION_FAILED:
    case KAFKA_UNSUPPORTED_VERSION: return be_fatal(s);
    default: return session_end_give_up(s);
    }
}

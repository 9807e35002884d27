/* txn/producer_state.h - what one partition knows of its producers: sequences, epochs, open
 * transactions.
 *
 * Pure: it is told of batches and asked about them; offsets and times come from the caller. Two
 * views are kept. The staged one decides what may be appended next (producer_state_check). The
 * durable one follows behind, batch by batch, as the log's durable end moves
 * (producer_state_durable), and alone feeds what leaves the broker: stable offset, aborted
 * transactions, snapshots. So a reader never sees a decision that a power cut could take back.
 *
 * Replay (recovery) applies what the log says to both views and refuses nothing (EO-10).
 *
 * Invariant: open transactions of the durable view are listed by first offset, which is their order
 * of appearance in the log; the stable offset is the head of that list. */
#ifndef ONCE_TXN_PRODUCER_STATE_H
#define ONCE_TXN_PRODUCER_STATE_H
#include "base/buf.h"
#include "base/list.h"
#include "base/map.h"
#include "base/wire/kafka_error.h"

enum { PRODUCER_BATCHES = 5, TXNINDEX_ENTRY = 34 };

/* A batch or marker as it concerns the producer. */
struct producer_batch {
    int64_t producer_id;
    int64_t base_offset;       /* not read by check */
    int64_t timestamp;         /* the batch's greatest */
    int32_t last_delta;        /* last offset - base offset, and last sequence - base sequence */
    int32_t base_sequence;     /* -1: none (markers) */
    int32_t coordinator_epoch; /* markers */
    int16_t epoch;
    bool transactional;
    bool marker;
    bool commit; /* markers */
};

enum producer_origin {
    PRODUCER_CLIENT,      /* Produce: duplicates and sequences are checked */
    PRODUCER_COORDINATOR, /* offsets staged by the group coordinator */
    PRODUCER_MARKER
};
enum producer_verdict { PRODUCER_ADMIT, PRODUCER_DUPLICATE, PRODUCER_REFUSE };
struct producer_answer {
    enum kafka_error error; /* REFUSE */
    int64_t base_offset;    /* DUPLICATE: of the original, which need not be durable yet */
    int64_t timestamp;
};

struct producer_state {
    struct idmap entries;          /* producer id -> struct producer_entry */
    struct list open;              /* durable view: entries by first offset of their transaction */
    struct producer_batch *staged; /* ring of what is staged and not yet durable, oldest first */
    uint32_t staged_at, n_staged, staged_cap;
    uint32_t n_durable; /* entries that the durable view holds */
    /* What time it is, set by the owner before it tells of batches; monotonic, for timestamps are
     * what producers say and clocks jump, and a producer must not be forgotten between a batch and
     * its retry (EO-18). A load counts as a sign of life. */
    int64_t now_ms;
    uint64_t mutations;
};

/* mutations: env->mutations; MUT_NO_SEQUENCE_CHECK and MUT_NO_EPOCH_FENCE are heeded. */
void producer_state_init(struct producer_state *ps, uint64_t mutations);
void producer_state_deinit(struct producer_state *ps);

/* May b be appended? log_end: staged end of the log, 0 on a partition that never held a record,
 * which takes only sequence 0 (EO-11). strict: a transactional Produce 12+, whose unknown producer
 * must begin at 0. */
enum producer_verdict producer_state_check(const struct producer_state *ps,
                                           const struct producer_batch *b,
                                           enum producer_origin origin, int64_t log_end,
                                           bool strict, struct producer_answer *a);
/* b is staged at b->base_offset. 0 or -ERR_NOMEM (nothing changed). */
int producer_state_staged(struct producer_state *ps, const struct producer_batch *b);

/* An aborted transaction to be listed: entry is Kafka's .txnindex form. */
typedef void (*producer_abort_fn)(void *user, int64_t marker_offset,
                                  const unsigned char entry[TXNINDEX_ENTRY]);
/* All below `end` is durable. each (may be NULL) is told of the transactions aborted by that. */
void producer_state_durable(struct producer_state *ps, int64_t end, producer_abort_fn each,
                            void *user);
/* Recovery: b is in the log. 0 or -ERR_NOMEM. */
int producer_state_replay(struct producer_state *ps, const struct producer_batch *b,
                          producer_abort_fn each, void *user);

/* The last stable offset for that high watermark, not below log_start. */
int64_t producer_state_stable(const struct producer_state *ps, int64_t high_watermark,
                              int64_t log_start);
/* Is a transaction of that producer open, staged view included? */
bool producer_state_open(const struct producer_state *ps, int64_t producer_id);
uint32_t producer_state_count(const struct producer_state *ps);
/* Those that a snapshot would hold. */
uint32_t producer_state_durable_count(const struct producer_state *ps);
/* Forgets producers without a batch or marker for `idle_ms` that have no open transaction; returns
 * how many. */
uint32_t producer_state_expire(struct producer_state *ps, int64_t idle_ms);

/* Kafka's .snapshot bytes of the durable view, appended to out; 0 or the buf's error. */
int producer_state_save(const struct producer_state *ps, struct buf *out);
/* Kafka's form holds the newest batch of a producer alone, so that after a restart the retry of an
 * older one would be out of sequence (EO-12). This appends the others behind the snapshot that
 * begins at out->p + start, under the same checksum; Kafka reads the entries that it counts and
 * stops there. Nothing is appended when no producer has more than one. 0 or the buf's error. */
int producer_state_save_window(const struct producer_state *ps, struct buf *out, size_t start);
/* Replaces everything, from a snapshot with or without those. -ERR_CORRUPT (then the state is
 * empty), -ERR_NOMEM. */
int producer_state_load(struct producer_state *ps, struct slice bytes);

/* Fields of a .txnindex entry. */
struct producer_aborted {
    int64_t producer_id, first_offset, last_offset, last_stable;
};
/* False for another version of the entry. */
bool producer_aborted_decode(struct producer_aborted *a, const unsigned char entry[TXNINDEX_ENTRY]);
/* Does the transaction overlap [from, upper)? Sets *last when no later entry can. */
bool producer_aborted_overlaps(const struct producer_aborted *a, int64_t from, int64_t upper,
                               bool *last);

/* Sequence arithmetic: after 2^31-1 comes 0. */
static inline int32_t sequence_add(int32_t seq, int32_t n)
{
    return (int32_t)(((uint32_t)seq + (uint32_t)n) & 0x7fffffffu);
}
static inline int32_t sequence_sub(int32_t seq, int32_t n)
{
    return (int32_t)(((uint32_t)seq - (uint32_t)n) & 0x7fffffffu);
}
#endif

/* runtime/client/producer.h - the idempotent and transactional producer.
 *
 * Records gather in one open batch a partition; batches leave when full, when the linger passes
 * or at a flush, at most five in flight a partition, retried as the very same bytes. What error
 * means what is decided by txn/session.h. Under transactions of version 2 partitions enrol by
 * the append itself; under version 1 AddPartitionsToTxn goes before the first batch of a
 * partition. */
#ifndef ONCE_RUNTIME_CLIENT_PRODUCER_H
#define ONCE_RUNTIME_CLIENT_PRODUCER_H
#include "runtime/client/client.h"

struct producer;
struct producer_options {
    struct slice transactional_id;   /* null: idempotent only */
    uint32_t transaction_timeout_ms; /* 10 s when 0 */
    uint32_t linger_ms, batch_bytes; /* 5 ms, 256 KiB when 0 */
    uint32_t delivery_timeout_ms;    /* 120 s when 0 */
    uint64_t buffer_bytes;           /* 64 MiB when 0 */
    int codec;                       /* enum compress_codec; none when 0 */
    void *user;
    /* Not transactional only: an acknowledged (or failed) run of records. May be NULL. */
    void (*delivered)(void *user, struct slice topic, int32_t partition, int64_t base_offset, int n,
                      int res);
    void (*room)(void *user); /* after -ERR_LIMIT: space again */
};
/* How an asked-for step ended. e names what, where and why. */
typedef void (*producer_done)(void *user, int res, const struct err *e);

struct producer_record {
    struct slice topic, key, value; /* null slices allowed for key and value */
    int32_t partition;
    int64_t timestamp;
    struct slice headers; /* as on disk: after headerCount; with n_headers */
    int32_t n_headers;
};

int producer_open(struct producer **p, struct client *c, const struct producer_options *o);
/* Before client_free. */
void producer_free(struct producer *p);
/* InitProducerId (with a transactional id: aborts what an older incarnation left, fences it).
 * Retries until the deadline (delivery timeout). Also the way back after an unknown outcome,
 * -ERR_FENCED or to leave an open transaction: always without producer id, everything held is
 * dropped. Whoever waits for another step is not called back any more. -ERR_TIMEOUT: call it
 * again. -ERR_BROKER: of no use. */
void producer_init_id(struct producer *p, producer_done done, void *user);
/* Local. -ERR_STATE when one is open or ends; -ERR_FENCED: producer_init_id first. */
int producer_begin(struct producer *p);
bool producer_in_txn(const struct producer *p);
/* Copies the record into its partition's batch. 0; -ERR_LIMIT: buffer full, wait for room;
 * -ERR_TOO_BIG; -ERR_ABORTABLE, -ERR_FENCED, -ERR_BROKER: what happened before; -ERR_STATE: no
 * transaction is open. */
int producer_send(struct producer *p, const struct producer_record *r);
/* Done when every record sent so far is acknowledged, or with the first failure since the last
 * flush. One at a time. */
void producer_flush(struct producer *p, producer_done done, void *user);

struct txn_offset {
    struct slice topic;
    int32_t partition;
    int64_t offset;
    int32_t leader_epoch;
    struct slice metadata;
};
struct group_identity { /* as of the poll that gave the records: never a newer one */
    struct slice group, member, instance;
    int32_t generation;
};
/* One at a time. TxnOffsetCommit, with what must go before it. Everything is copied.
 * -ERR_ABORTABLE: membership lost or the like: abort. -ERR_FENCED, -ERR_BROKER, -ERR_STATE (no
 * transaction). */
void producer_send_offsets(struct producer *p, const struct group_identity *g,
                           const struct txn_offset *offsets, int n, producer_done done, void *user);
/* EndTxn. Commit: the caller has flushed. 0: decided as asked; -ERR_ABORTABLE: definitely not
 * committed, abort; -ERR_UNKNOWN_OUTCOME: not known and asking did not help: producer_init_id,
 * drop all, let the stable offset decide; -ERR_FENCED; -ERR_STATE: no transaction, or a commit
 * with records not acknowledged. An abort ends a flush and a send_offsets under way without
 * their done. A transaction without records and offsets ends locally. */
void producer_end(struct producer *p, bool commit, producer_done done, void *user);
int64_t producer_id(const struct producer *p);
int16_t producer_epoch(const struct producer *p);
/* The offset that the last acknowledged record of this partition got, -1 if none in this
 * transaction. */
int64_t producer_last_offset(const struct producer *p, struct slice topic, int32_t partition);
#endif

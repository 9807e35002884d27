/* txn/coordinator.h - the transaction coordinator: exactly-once plugged into a broker.
 *
 *   broker_open -> txn_open -> broker_api_install -> broker_recover -> broker_listen
 *
 * It holds every transactional id (txn.h), keeps their log in `__transaction_state` in Kafka's
 * form, writes markers, and answers InitProducerId, AddPartitionsToTxn, AddOffsetsToTxn, EndTxn and
 * TxnOffsetCommit (txn/api/). Memory is staged state: it changes when a record is staged, and
 * answers wait for its lsn. What one decision writes is one bundle. Open transactions are looked at
 * every second; one that is too old is aborted under a new epoch.
 *
 * Failure: what cannot be staged (disk full, too much in flight) is answered with
 * COORDINATOR_NOT_AVAILABLE, which clients retry; a decision whose markers could not be staged is
 * carried on by the timer. A transaction log that cannot be read stops the start. */
#ifndef ONCE_TXN_COORDINATOR_H
#define ONCE_TXN_COORDINATOR_H
#include "broker/broker.h"
#include "txn/txn.h"

#define TXN_TOPIC "__transaction_state"

struct txn_coordinator;

/* Plugs into b and registers the APIs; before broker_recover. 0 or -ERR_NOMEM, -ERR_INVALID for a
 * property that is not what it should be (logged). (txn/api/install.c) */
int txn_open(struct txn_coordinator **c, struct broker *b);
/* The same without the APIs. */
int coordinator_open(struct txn_coordinator **c, struct broker *b);
/* Without I/O, from any state, before or after broker_free. NULL is fine. */
void txn_free(struct txn_coordinator *c);

/* ---- for the API handlers ---- */
struct txn_answer {
    enum kafka_error error;
    int64_t producer_id; /* -1 with an error */
    int16_t epoch;
};
struct txn_add { /* a partition to be enrolled */
    struct slice topic;
    int32_t index;
};
/* id: as InitProducerId gave it, null for a producer without transactions. */
void coordinator_init_id(struct txn_coordinator *c, struct slice id, int32_t timeout_ms,
                         int64_t producer_id, int16_t epoch, struct txn_answer *a);
/* Enrols all n or none. version: of transactions, 2 when an append enrols. */
enum kafka_error coordinator_add(struct txn_coordinator *c, struct slice id, int64_t producer_id,
                                 int16_t epoch, int version, const struct txn_add *v, int n);
void coordinator_end(struct txn_coordinator *c, struct slice id, int64_t producer_id, int16_t epoch,
                     bool commit, int version, struct txn_answer *a);
/* May this producer append to the partition in its transaction now? 53, 49, 90, 51, 120 or NONE.
 * enrol: version 2, the append enrols. */
enum kafka_error coordinator_admit(struct txn_coordinator *c, struct slice id, int64_t producer_id,
                                   int16_t epoch, const struct partition *p, bool enrol);
/* How many transactional ids are known. */
uint32_t coordinator_count(const struct txn_coordinator *c);
/* The state of an id; NULL when it is not known. */
const struct txn *coordinator_find(const struct txn_coordinator *c, struct slice id);
#endif

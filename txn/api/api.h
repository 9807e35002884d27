/* txn/api/api.h - one handler per API that transactions add to a broker; install.c registers them.
 *
 * Each decodes, asks the coordinator, and answers; reply_end holds the answer until what it depends
 * on is durable. Codes that a version does not know are replaced here. */
#ifndef ONCE_TXN_API_API_H
#define ONCE_TXN_API_API_H
#include "txn/coordinator.h"

int api_init_producer_id(struct request *rq);      /* 22 */
int api_add_partitions_to_txn(struct request *rq); /* 24 */
int api_add_offsets_to_txn(struct request *rq);    /* 25 */
int api_end_txn(struct request *rq);               /* 26 */
int api_txn_offset_commit(struct request *rq);     /* 28 */

static inline struct txn_coordinator *coordinator_of(const struct request *rq)
{
    return broker_plugged(rq->broker)->self;
}
/* PRODUCER_FENCED is unknown below version `since` of the API. */
static inline int16_t fenced_as(enum kafka_error error, int16_t version, int16_t since)
{
    if (error == KAFKA_PRODUCER_FENCED && version < since)
        return KAFKA_INVALID_PRODUCER_EPOCH;
    return (int16_t)error;
}
#endif

/* txn/api/22_init_producer_id.c - InitProducerId: an id that nobody has, or the next epoch of a
 * transactional id, whose open transaction is aborted in the same round.
 *
 * Below version 3 a producer cannot say which id and epoch it has; below 4 it does not know
 * PRODUCER_FENCED. */
#include "txn/api/api.h"

int api_init_producer_id(struct request *rq)
{
    struct init_producer_id_request in;
    struct init_producer_id_response out;
    struct txn_answer a;

    int rc = init_producer_id_request_decode(&in, &rq->in, rq->version);
    if (rc)
        return rc;
    coordinator_init_id(coordinator_of(rq), in.transactional_id, in.transaction_timeout_ms,
                        in.producer_id, in.producer_epoch, &a);
    init_producer_id_response_init(&out);
    out.error_code = fenced_as(a.error, rq->version, 4);
    out.producer_id = a.producer_id;
    out.producer_epoch = a.epoch;
    reply_body(rq, &init_producer_id_response_desc, &out);
    reply_end(rq);
    return 0;
}

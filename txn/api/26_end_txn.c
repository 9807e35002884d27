/* txn/api/26_end_txn.c - EndTxn: the decision. Prepare, markers on every partition and complete lie
 * in one round; the answer leaves when it is durable.
 *
 * Version 5 is version 2 of transactions: every end has a new epoch, told in the answer. */
#include "txn/api/api.h"

int api_end_txn(struct request *rq)
{
    struct end_txn_request in;
    struct end_txn_response out;
    struct txn_answer a;

    int rc = end_txn_request_decode(&in, &rq->in, rq->version);
    if (rc)
        return rc;
    coordinator_end(coordinator_of(rq), in.transactional_id, in.producer_id, in.producer_epoch,
                    in.committed, rq->version >= 5 ? 2 : 1, &a);
    end_txn_response_init(&out);
    out.error_code = fenced_as(a.error, rq->version, 2);
    out.producer_id = a.producer_id;
    out.producer_epoch = a.epoch;
    reply_body(rq, &end_txn_response_desc, &out);
    reply_end(rq);
    return 0;
}

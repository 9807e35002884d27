/* txn/api/25_add_offsets_to_txn.c - AddOffsetsToTxn: a transaction is going to commit offsets of a
 * group, so the group's partition of `__consumer_offsets` is enrolled. */
#include "broker/group/coordinator.h"
#include "txn/api/api.h"

int api_add_offsets_to_txn(struct request *rq)
{
    struct add_offsets_to_txn_request in;
    struct add_offsets_to_txn_response out;
    enum kafka_error error = KAFKA_COORDINATOR_NOT_AVAILABLE;

    int rc = add_offsets_to_txn_request_decode(&in, &rq->in, rq->version);
    if (rc)
        return rc;
    add_offsets_to_txn_response_init(&out);
    const struct partition *p = group_coordinator_partition(broker_groups(rq->broker), in.group_id);
    if (p) {
        struct txn_add add = {p->topic->name, p->index};
        error = coordinator_add(coordinator_of(rq), in.transactional_id, in.producer_id,
                                in.producer_epoch, 1, &add, 1);
    }
    out.error_code = fenced_as(error, rq->version, 2);
    reply_body(rq, &add_offsets_to_txn_response_desc, &out);
    reply_end(rq);
    return 0;
}

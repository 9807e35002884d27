/* txn/api/24_add_partitions_to_txn.c - AddPartitionsToTxn: partitions a transaction is going to
 * write to.
 *
 * All or none: if a partition does not exist it is told so and the others
 * OPERATION_NOT_ATTEMPTED. */
#include "txn/api/api.h"

typedef struct add_partitions_to_txn_response_add_partitions_to_txn_topic_result topic_out;
typedef struct add_partitions_to_txn_response_add_partitions_to_txn_partition_result part_out;

static int32_t count_all(const struct add_partitions_to_txn_request *in)
{
    int32_t n = 0;
    for (int32_t i = 0; i < in->v3_and_below_topics.n; i++)
        n += in->v3_and_below_topics.v[i].partitions.n;
    return n;
}

/* The answer in the request's shape, and what to enrol as a list. False: something is not there;
 * its code is set. */
static int prepare(struct request *rq, const struct add_partitions_to_txn_request *in,
                   struct add_partitions_to_txn_response *out, struct txn_add *add, bool *missing)
{
    int32_t n = in->v3_and_below_topics.n;
    topic_out *topics = arena_new(rq->in.arena, topic_out, n + 1);

    if (!topics)
        return -ERR_TOO_BIG;
    out->results_by_topic_v3_and_below.v = topics;
    out->results_by_topic_v3_and_below.n = n;
    *missing = false;
    for (int32_t i = 0; i < n; i++) {
        struct slice name = in->v3_and_below_topics.v[i].name;
        int32_t m = in->v3_and_below_topics.v[i].partitions.n;
        part_out *parts = arena_new(rq->in.arena, part_out, m + 1);
        if (!parts)
            return -ERR_TOO_BIG;
        topics[i].name = name;
        topics[i].results_by_partition.v = parts;
        topics[i].results_by_partition.n = m;
        for (int32_t j = 0; j < m; j++) {
            int32_t index = in->v3_and_below_topics.v[i].partitions.v[j];
            *add++ = (struct txn_add){name, index};
            parts[j].partition_index = index;
            if (!broker_partition(rq->broker, name, index)) {
                parts[j].partition_error_code = KAFKA_UNKNOWN_TOPIC_OR_PARTITION;
                *missing = true;
            }
        }
    }
    return 0;
}

int api_add_partitions_to_txn(struct request *rq)
{
    struct add_partitions_to_txn_request in;
    struct add_partitions_to_txn_response out;
    bool missing;

    int rc = add_partitions_to_txn_request_decode(&in, &rq->in, rq->version);
    if (rc)
        return rc;
    int32_t n = count_all(&in);
    struct txn_add *add = arena_new(rq->in.arena, struct txn_add, n + 1);
    if (!add)
        return -ERR_TOO_BIG;
    add_partitions_to_txn_response_init(&out);
    rc = prepare(rq, &in, &out, add, &missing);
    if (rc)
        return rc;
    enum kafka_error error = KAFKA_OPERATION_NOT_ATTEMPTED;
    if (!missing)
        error = coordinator_add(coordinator_of(rq), in.v3_and_below_transactional_id,
                                in.v3_and_below_producer_id, in.v3_and_below_producer_epoch, 1, add,
                                n);
    for (int32_t i = 0; i < out.results_by_topic_v3_and_below.n; i++) {
        topic_out *t = &out.results_by_topic_v3_and_below.v[i];
        for (int32_t j = 0; j < t->results_by_partition.n; j++) {
            part_out *p = &t->results_by_partition.v[j];
            if (!p->partition_error_code)
                p->partition_error_code = fenced_as(error, rq->version, 2);
        }
    }
    reply_body(rq, &add_partitions_to_txn_response_desc, &out);
    reply_end(rq);
    return 0;
}

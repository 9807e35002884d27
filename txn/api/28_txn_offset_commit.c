/* txn/api/28_txn_offset_commit.c - TxnOffsetCommit: offsets that become the group's when the
 * transaction commits.
 *
 * Membership and generation are checked here, in the call that appends, and never again: what a
 * committed transaction staged applies. The append passes the plug, which asks for the enrolment of
 * the group's partition. Below version 3 no membership is told; below 2 a loading coordinator is
 * "not available". */
#include "broker/group/coordinator.h"
#include "txn/api/api.h"

typedef struct txn_offset_commit_request_txn_offset_commit_request_partition part_in;
typedef struct txn_offset_commit_response_txn_offset_commit_response_partition part_out;
typedef struct txn_offset_commit_response_txn_offset_commit_response_topic topic_out;

/* The offsets as one list, in the request's order. */
static int gather(struct request *rq, const struct txn_offset_commit_request *in,
                  struct group_commit *c)
{
    int32_t n = 0;
    for (int32_t i = 0; i < in->topics.n; i++)
        n += in->topics.v[i].partitions.n;
    c->v = arena_new(rq->in.arena, struct group_commit_offset, n + 1);
    if (!c->v)
        return -ERR_TOO_BIG;
    for (int32_t i = 0; i < in->topics.n; i++) {
        for (int32_t j = 0; j < in->topics.v[i].partitions.n; j++) {
            const part_in *p = &in->topics.v[i].partitions.v[j];
            c->v[c->n++] = (struct group_commit_offset){.topic = in->topics.v[i].name,
                                                        .partition = p->partition_index,
                                                        .offset = p->committed_offset,
                                                        .leader_epoch = p->committed_leader_epoch,
                                                        .metadata = p->committed_metadata};
        }
    }
    return 0;
}

static int16_t as_told(enum kafka_error error, int16_t version)
{
    if (error == KAFKA_COORDINATOR_LOAD_IN_PROGRESS && version < 2)
        return KAFKA_COORDINATOR_NOT_AVAILABLE;
    return (int16_t)error;
}

/* The codes of the list, in the request's shape. */
static int answer(struct request *rq, const struct txn_offset_commit_request *in,
                  const struct group_commit *c)
{
    struct txn_offset_commit_response out;
    const struct group_commit_offset *v = c->v;

    txn_offset_commit_response_init(&out);
    out.topics.n = in->topics.n;
    out.topics.v = arena_new(rq->in.arena, topic_out, in->topics.n + 1);
    if (!out.topics.v)
        return -ERR_TOO_BIG;
    for (int32_t i = 0; i < in->topics.n; i++) {
        int32_t m = in->topics.v[i].partitions.n;
        part_out *to = arena_new(rq->in.arena, part_out, m + 1);
        if (!to)
            return -ERR_TOO_BIG;
        out.topics.v[i].name = in->topics.v[i].name;
        out.topics.v[i].partitions.v = to;
        out.topics.v[i].partitions.n = m;
        for (int32_t j = 0; j < m; j++, v++) {
            to[j].partition_index = v->partition;
            to[j].error_code = as_told(v->error, rq->version);
        }
    }
    reply_body(rq, &txn_offset_commit_response_desc, &out);
    reply_end(rq);
    return 0;
}

int api_txn_offset_commit(struct request *rq)
{
    struct txn_offset_commit_request in;
    struct group_coordinator *gc = broker_groups(rq->broker);

    int rc = txn_offset_commit_request_decode(&in, &rq->in, rq->version);
    if (rc)
        return rc;
    struct plug_request ours = {PLUG_COORDINATOR, rq->version, in.transactional_id};
    struct group_commit c = {.group = in.group_id,
                             .producer_id = in.producer_id,
                             .producer_epoch = in.producer_epoch,
                             .retention_ms = -1,
                             .rq = &ours};
    rc = gather(rq, &in, &c);
    if (rc)
        return rc;
    enum kafka_error error = group_check_member(gc, in.group_id, in.member_id, in.group_instance_id,
                                                in.generation_id_or_member_epoch);
    if (!error && (in.producer_id < 0 || in.producer_epoch < 0))
        error = KAFKA_INVALID_PRODUCER_ID_MAPPING;
    if (error) {
        for (int i = 0; i < c.n; i++)
            c.v[i].error = error;
    } else {
        group_coordinator_commit(gc, &c);
    }
    return answer(rq, &in, &c);
}

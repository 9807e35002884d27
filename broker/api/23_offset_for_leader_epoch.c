/* broker/api/23_offset_for_leader_epoch.c - OffsetForLeaderEpoch: where an epoch ended, so that
 * a client that was ahead of us finds out (KIP-320). An epoch above ours, or below the first
 * known: -1, -1. */
#include "broker/api/api.h"

typedef struct offset_for_leader_epoch_request_offset_for_leader_partition part_in;
typedef struct offset_for_leader_epoch_response_epoch_end_offset part_out;

static void look_up(struct broker *b, struct slice topic, const part_in *in, part_out *out)
{
    const struct partition *p = broker_partition(b, topic, in->partition);
    offset_for_leader_epoch_response_epoch_end_offset_init(out);
    out->partition = in->partition;
    if (!p)
        out->error_code = KAFKA_UNKNOWN_TOPIC_OR_PARTITION;
    else
        out->error_code = (int16_t)broker_check_epoch(b, in->current_leader_epoch);
    if (out->error_code || in->leader_epoch < 0 || in->leader_epoch > broker_epoch(b))
        return;
    log_epoch_end(p->log, in->leader_epoch, &out->leader_epoch, &out->end_offset);
    if (out->leader_epoch < 0)
        out->end_offset = -1;
}

int api_offset_for_leader_epoch(struct request *rq)
{
    struct offset_for_leader_epoch_request in;
    struct offset_for_leader_epoch_response out;
    struct arena *a = rq->in.arena;
    int rc = offset_for_leader_epoch_request_decode(&in, &rq->in, rq->version);
    if (rc)
        return rc;
    offset_for_leader_epoch_response_init(&out);
    out.topics.n = in.topics.n;
    out.topics.v = arena_new(
        a, struct offset_for_leader_epoch_response_offset_for_leader_topic_result, in.topics.n);
    if (!out.topics.v)
        return -ERR_TOO_BIG;
    for (int32_t i = 0; i < in.topics.n; i++) {
        out.topics.v[i].topic = in.topics.v[i].topic;
        out.topics.v[i].partitions.n = in.topics.v[i].partitions.n;
        out.topics.v[i].partitions.v = arena_new(a, part_out, in.topics.v[i].partitions.n);
        if (!out.topics.v[i].partitions.v)
            return -ERR_TOO_BIG;
        for (int32_t j = 0; j < in.topics.v[i].partitions.n; j++)
            look_up(rq->broker, in.topics.v[i].topic, &in.topics.v[i].partitions.v[j],
                    &out.topics.v[i].partitions.v[j]);
    }
    reply_body(rq, &offset_for_leader_epoch_response_desc, &out);
    reply_end_now(rq);
    return 0;
}

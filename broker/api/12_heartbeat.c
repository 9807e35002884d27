/* broker/api/12_heartbeat.c - Heartbeat: a member lives, and learns that a rebalance began.
 * v3: group.instance.id. */
#include "broker/api/api.h"
#include "broker/group/coordinator.h"
#include "broker/group/group.h"

int api_heartbeat(struct request *rq)
{
    struct heartbeat_request m;
    struct heartbeat_response r;
    int rc = heartbeat_request_decode(&m, &rq->in, rq->version);
    if (rc)
        return rc;
    struct group_event ev = {.kind = GROUP_HEARTBEAT,
                             .member = m.member_id,
                             .instance = m.group_instance_id,
                             .generation = m.generation_id};
    enum kafka_error error = KAFKA_INVALID_GROUP_ID;
    if (m.group_id.n > 0)
        error = group_coordinator_step(broker_groups(rq->broker), m.group_id, &ev, false, NULL);
    heartbeat_response_init(&r);
    r.error_code = (int16_t)error;
    reply_begin(rq);
    rc = heartbeat_response_encode(&r, &rq->out, rq->version);
    if (rc == 0)
        reply_end(rq);
    return rc;
}

/* broker/api/14_sync_group.c - SyncGroup: the leader brings the assignment, every member fetches
 * its own. Parked until the leader's is written. v3: group.instance.id. v5: protocol type and name
 * both ways. */
#include "broker/api/api.h"
#include "broker/group/coordinator.h"
#include "broker/group/group.h"

struct sync {
    struct group_call call;
    struct request *rq;
};

static int answer(struct request *rq, const struct group_effect *e)
{
    struct sync_group_response r;
    sync_group_response_init(&r);
    r.error_code = (int16_t)e->error;
    r.protocol_type = e->protocol_type;
    r.protocol_name = e->protocol;
    r.assignment = e->assignment;
    reply_begin(rq);
    int rc = sync_group_response_encode(&r, &rq->out, rq->version);
    if (rc == 0)
        reply_end(rq);
    return rc;
}

static void answered(struct group_call *c, const struct group_effect *e)
{
    struct request *rq = list_entry(c, struct sync, call)->rq;
    if (answer(rq, e) != 0)
        reply_close(rq, "the answer cannot be made");
}

static void canceled(struct request *rq)
{
    struct sync *s = rq->user;
    group_coordinator_forget(broker_groups(rq->broker), &s->call);
}

int api_sync_group(struct request *rq)
{
    struct sync_group_request m;
    int rc = sync_group_request_decode(&m, &rq->in, rq->version);
    if (rc)
        return rc;
    if (m.group_id.n == 0) {
        struct group_effect e = {.error = KAFKA_INVALID_GROUP_ID, .assignment = slice_str("")};
        return answer(rq, &e);
    }
    int n = m.assignments.n > 0 ? m.assignments.n : 0;
    struct sync *s = arena_new(rq->in.arena, struct sync, 1);
    struct group_assignment *v = arena_new(rq->in.arena, struct group_assignment, n + 1);
    if (!s || !v)
        return -ERR_NOMEM;
    for (int i = 0; i < n; i++)
        v[i] =
            (struct group_assignment){m.assignments.v[i].member_id, m.assignments.v[i].assignment};
    struct group_event ev = {.kind = GROUP_SYNC,
                             .member = m.member_id,
                             .instance = m.group_instance_id,
                             .generation = m.generation_id,
                             .protocol_type = m.protocol_type,
                             .protocol = m.protocol_name,
                             .assignments = v,
                             .n_assignments = n};
    s->rq = rq;
    s->call.answer = answered;
    rq->user = s;
    rq->canceled = canceled;
    group_coordinator_step(broker_groups(rq->broker), m.group_id, &ev, false, &s->call);
    return 0;
}

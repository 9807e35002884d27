/* broker/api/13_leave_group.c - LeaveGroup: members go at once instead of by their session's end.
 * v0-2: the one who asks. v3: a list with an error each; no member id and an instance id is an
 * administrator who removes a static member. */
#include "broker/api/api.h"
#include "broker/group/coordinator.h"
#include "broker/group/group.h"

static enum kafka_error leave(struct request *rq, struct slice group, struct slice member,
                              struct slice instance)
{
    struct group_event ev = {.kind = GROUP_LEAVE, .member = member, .instance = instance};
    return group_coordinator_step(broker_groups(rq->broker), group, &ev, false, NULL);
}

static int leave_all(struct request *rq, const struct leave_group_request *m,
                     struct leave_group_response *r)
{
    int n = m->members.n > 0 ? m->members.n : 0;
    r->members.v = arena_new(rq->in.arena, struct leave_group_response_member_response, n + 1);
    if (!r->members.v)
        return -ERR_NOMEM;
    r->members.n = n;
    for (int i = 0; i < n; i++) {
        const struct leave_group_request_member_identity *who = &m->members.v[i];
        struct leave_group_response_member_response *to = &r->members.v[i];
        to->member_id = who->member_id;
        to->group_instance_id = who->group_instance_id;
        to->error_code = (int16_t)leave(rq, m->group_id, who->member_id, who->group_instance_id);
    }
    return 0;
}

int api_leave_group(struct request *rq)
{
    struct leave_group_request m;
    struct leave_group_response r;
    int rc = leave_group_request_decode(&m, &rq->in, rq->version);
    if (rc)
        return rc;
    leave_group_response_init(&r);
    if (m.group_id.n == 0)
        r.error_code = KAFKA_INVALID_GROUP_ID;
    else if (rq->version < 3)
        r.error_code = (int16_t)leave(rq, m.group_id, m.member_id, SLICE_NULL);
    else
        rc = leave_all(rq, &m, &r);
    if (rc)
        return rc;
    reply_begin(rq);
    rc = leave_group_response_encode(&r, &rq->out, rq->version);
    if (rc == 0)
        reply_end(rq);
    return rc;
}

/* broker/api/11_join_group.c - JoinGroup: becomes, or stays, a member for the next generation.
 * Parked until the group's join phase completes.
 *
 * v0: the rebalance timeout is the session's. v4: a new member is first given an id
 * (MEMBER_ID_REQUIRED). v5: group.instance.id. v7: protocol type in the answer, null names. v9:
 * SkipAssignment. */
#include "broker/api/api.h"
#include "broker/group/coordinator.h"
#include "broker/group/group.h"
#include <stdio.h>

enum { ID_NAME_MAX = 255, ID_UUID = 36 };

struct join {
    struct group_call call;
    struct request *rq;
};

/* Client or instance id, "-" and a random UUID. Null: no memory. */
static struct slice fresh_id(struct request *rq, struct slice name)
{
    unsigned char u[16];
    size_t n = name.n < ID_NAME_MAX ? name.n : ID_NAME_MAX;
    char *p = arena_alloc(rq->in.arena, n + 1 + ID_UUID + 1);
    if (!p)
        return SLICE_NULL;
    while (n < name.n && n > 0 && (name.p[n] & 0xc0) == 0x80)
        n--; /* not inside a character */
    env_random_bytes(broker_env(rq->broker), u, sizeof u);
    u[6] = (u[6] & 0x0f) | 0x40;
    u[8] = (u[8] & 0x3f) | 0x80;
    if (n)
        memcpy(p, name.p, n);
    int k = snprintf(p + n, ID_UUID + 2,
                     "-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0],
                     u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12],
                     u[13], u[14], u[15]);
    return slice_of(p, n + (size_t)k);
}

static int members(struct request *rq, const struct group *g, struct join_group_response *r)
{
    r->members.v = arena_new(rq->in.arena, struct join_group_response_join_group_response_member,
                             g->members.n + 1);
    if (!r->members.v)
        return -ERR_NOMEM;
    MAP_EACH (e, &g->members) {
        const struct group_member *m = e->value;
        struct join_group_response_join_group_response_member *to = &r->members.v[r->members.n++];
        to->member_id = m->id;
        to->group_instance_id = m->instance;
        to->metadata = group_member_metadata(m, g->protocol);
    }
    return 0;
}

static int answer(struct request *rq, const struct group_effect *e)
{
    struct join_group_response r;
    join_group_response_init(&r);
    r.error_code = (int16_t)e->error;
    r.generation_id = e->generation;
    r.protocol_type = e->protocol_type;
    r.protocol_name = e->protocol.p || rq->version >= 7 ? e->protocol : slice_str("");
    r.leader = e->leader;
    r.member_id = e->member;
    r.skip_assignment = e->skip;
    int rc = e->members ? members(rq, e->group, &r) : 0;
    if (rc)
        return rc;
    reply_begin(rq);
    rc = join_group_response_encode(&r, &rq->out, rq->version);
    if (rc == 0)
        reply_end(rq);
    return rc;
}

static void answered(struct group_call *c, const struct group_effect *e)
{
    struct request *rq = list_entry(c, struct join, call)->rq;
    if (answer(rq, e) != 0)
        reply_close(rq, "the answer cannot be made");
}

static void canceled(struct request *rq)
{
    struct join *j = rq->user;
    group_coordinator_forget(broker_groups(rq->broker), &j->call);
}

static int refuse(struct request *rq, enum kafka_error error, struct slice member)
{
    struct group_effect e = {
        .error = error, .generation = -1, .member = member, .leader = slice_str("")};
    return answer(rq, &e);
}

static struct group_protocol *protocols(struct request *rq, const struct join_group_request *m)
{
    int n = m->protocols.n > 0 ? m->protocols.n : 0;
    struct group_protocol *v = arena_new(rq->in.arena, struct group_protocol, n + 1);
    for (int i = 0; v && i < n; i++)
        v[i] = (struct group_protocol){m->protocols.v[i].name, m->protocols.v[i].metadata};
    return v;
}

int api_join_group(struct request *rq)
{
    struct join_group_request m;
    int rc = join_group_request_decode(&m, &rq->in, rq->version);
    if (rc)
        return rc;
    if (m.group_id.n == 0)
        return refuse(rq, KAFKA_INVALID_GROUP_ID, m.member_id);
    struct join *j = arena_new(rq->in.arena, struct join, 1);
    struct group_event ev = {
        .kind = GROUP_JOIN,
        .member = m.member_id,
        .instance = m.group_instance_id,
        .id_required = rq->version >= 4,
        .can_skip = rq->version >= 9,
        .client_id = rq->client_id,
        .client_host = rq->client_host,
        .session_ms = m.session_timeout_ms,
        .rebalance_ms = rq->version == 0 ? m.session_timeout_ms : m.rebalance_timeout_ms,
        .protocols = protocols(rq, &m),
        .n_protocols = m.protocols.n > 0 ? m.protocols.n : 0,
        .protocol_type = m.protocol_type,
    };
    bool unnamed = m.member_id.n == 0;
    if (unnamed)
        ev.fresh_id = fresh_id(rq, m.group_instance_id.p ? m.group_instance_id : rq->client_id);
    if (!j || !ev.protocols || (unnamed && !ev.fresh_id.p))
        return -ERR_NOMEM;
    j->rq = rq;
    j->call.answer = answered;
    rq->user = j;
    rq->canceled = canceled;
    group_coordinator_step(broker_groups(rq->broker), m.group_id, &ev, unnamed, &j->call);
    return 0;
}

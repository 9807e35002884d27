/* broker/api/08_offset_commit.c - OffsetCommit: where a group's members are in their partitions.
 *
 * The member is checked once for the whole request; then each partition stands for itself. Written
 * as one batch of `__consumer_offsets`; the answer waits for it. v2-4: the client may set a
 * retention. v7: group.instance.id. v9: a group that is not there is told as GROUP_ID_NOT_FOUND,
 * below as ILLEGAL_GENERATION. */
#include "base/check.h"
#include "broker/api/api.h"
#include "broker/group/coordinator.h"
#include "broker/group/group.h"

typedef struct offset_commit_request_offset_commit_request_topic in_topic;
typedef struct offset_commit_request_offset_commit_request_partition in_partition;
typedef struct offset_commit_response_offset_commit_response_topic out_topic;
typedef struct offset_commit_response_offset_commit_response_partition out_partition;

static enum kafka_error check(struct request *rq, const struct offset_commit_request *m)
{
    struct group_coordinator *gc = broker_groups(rq->broker);
    struct group_event ev = {.kind = GROUP_COMMIT,
                             .member = m->member_id,
                             .instance = m->group_instance_id,
                             .generation = m->generation_id_or_member_epoch};
    if (MUTATED(broker_env(rq->broker)->mutations, NO_GENERATION_CHECK))
        return KAFKA_NONE;
    bool there = group_coordinator_has(gc, m->group_id);
    enum kafka_error error = group_coordinator_step(gc, m->group_id, &ev, false, NULL);
    if (error == KAFKA_ILLEGAL_GENERATION && !there && rq->version >= 9)
        return KAFKA_GROUP_ID_NOT_FOUND;
    return error;
}

/* The request's partitions in a row; NULL: no memory. */
static struct group_commit_offset *flatten(struct request *rq,
                                           const struct offset_commit_request *m, int *n)
{
    *n = 0;
    for (int i = 0; i < m->topics.n; i++)
        *n += m->topics.v[i].partitions.n > 0 ? m->topics.v[i].partitions.n : 0;
    struct group_commit_offset *v = arena_new(rq->in.arena, struct group_commit_offset, *n + 1);
    int k = 0;
    for (int i = 0; v && i < m->topics.n; i++) {
        const in_topic *t = &m->topics.v[i];
        for (int j = 0; j < t->partitions.n; j++) {
            const in_partition *p = &t->partitions.v[j];
            v[k++] = (struct group_commit_offset){
                .topic = t->name,
                .partition = p->partition_index,
                .offset = p->committed_offset,
                .leader_epoch = p->committed_leader_epoch,
                .metadata = p->committed_metadata,
            };
        }
    }
    return v;
}

static int answer(struct request *rq, const struct offset_commit_request *m,
                  const struct group_commit_offset *v)
{
    struct offset_commit_response r;
    int n = m->topics.n > 0 ? m->topics.n : 0, k = 0;
    offset_commit_response_init(&r);
    r.topics.v = arena_new(rq->in.arena, out_topic, n + 1);
    if (!r.topics.v)
        return -ERR_NOMEM;
    r.topics.n = n;
    for (int i = 0; i < n; i++) {
        const in_topic *t = &m->topics.v[i];
        out_topic *to = &r.topics.v[i];
        int parts = t->partitions.n > 0 ? t->partitions.n : 0;
        to->name = t->name;
        to->partitions.v = arena_new(rq->in.arena, out_partition, parts + 1);
        if (!to->partitions.v)
            return -ERR_NOMEM;
        to->partitions.n = parts;
        for (int j = 0; j < parts; j++, k++) {
            to->partitions.v[j].partition_index = v[k].partition;
            to->partitions.v[j].error_code = (int16_t)v[k].error;
        }
    }
    reply_begin(rq);
    int rc = offset_commit_response_encode(&r, &rq->out, rq->version);
    if (rc == 0)
        reply_end(rq);
    return rc;
}

int api_offset_commit(struct request *rq)
{
    struct offset_commit_request m;
    int n;
    int rc = offset_commit_request_decode(&m, &rq->in, rq->version);
    if (rc)
        return rc;
    struct group_commit_offset *v = flatten(rq, &m, &n);
    if (!v)
        return -ERR_NOMEM;
    enum kafka_error error = check(rq, &m);
    struct group_commit c = {.group = m.group_id,
                             .producer_id = -1,
                             .producer_epoch = -1,
                             .retention_ms = m.retention_time_ms,
                             .v = v,
                             .n = n};
    for (int i = 0; i < n; i++)
        v[i].error = error;
    if (error == KAFKA_NONE && n > 0)
        group_coordinator_commit(broker_groups(rq->broker), &c);
    return answer(rq, &m, v);
}

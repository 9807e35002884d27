/* runtime/worker/offsets.c - one OffsetCommit request, built and judged. */
#include "runtime/worker/offsets.h"

enum { VERSION_MAX = 8 };

static int encode(struct call *call, struct buf *out, int16_t version)
{
    struct offsets_commit *op = call->user;
    struct offset_commit_request m;
    struct arena a;
    int rc = -ERR_NOMEM;

    arena_init(&a, 16 << 20);
    offset_commit_request_init(&m);
    m.group_id = op->group->group;
    m.member_id = op->group->member;
    m.group_instance_id = op->group->instance;
    m.generation_id_or_member_epoch = op->group->generation;
    m.topics.v = arena_alloc(&a, (size_t)op->n * sizeof *m.topics.v + 1);
    if (m.topics.v) {
        rc = 0;
        for (int i = 0; !rc && i < op->n; i++) { /* one entry a partition: the format allows it */
            struct offset_commit_request_offset_commit_request_topic *t = &m.topics.v[i];
            struct offset_commit_request_offset_commit_request_partition *p =
                arena_alloc(&a, sizeof *p);
            if (!p) {
                rc = -ERR_NOMEM;
                break;
            }
            offset_commit_request_offset_commit_request_topic_init(t);
            offset_commit_request_offset_commit_request_partition_init(p);
            t->name = op->v[i].topic;
            p->partition_index = op->v[i].partition;
            p->committed_offset = op->v[i].offset;
            p->committed_leader_epoch = op->v[i].leader_epoch;
            p->committed_metadata = op->v[i].metadata;
            t->partitions.v = p;
            t->partitions.n = 1;
        }
        m.topics.n = op->n;
    }
    if (!rc)
        rc = offset_commit_request_encode(&m, out, version);
    arena_deinit(&a);
    return rc;
}

static int judge(enum kafka_error error)
{
    switch (error) {
    case KAFKA_NONE: return 0;
    case KAFKA_ILLEGAL_GENERATION:
    case KAFKA_UNKNOWN_MEMBER_ID:
    case KAFKA_FENCED_INSTANCE_ID:
    case KAFKA_REBALANCE_IN_PROGRESS: return -ERR_ABORTABLE;
    default: return kafka_error_retriable(error) ? -ERR_TIMEOUT : -ERR_BROKER;
    }
}

static void answered(struct call *call, int res, struct wire_in *in, int16_t version)
{
    struct offsets_commit *op = call->user;
    struct offset_commit_response m;

    if (!res)
        res = offset_commit_response_decode(&m, in, version);
    for (int i = 0; !res && i < m.topics.n; i++)
        for (int k = 0; !res && k < m.topics.v[i].partitions.n; k++)
            res = judge((enum kafka_error)m.topics.v[i].partitions.v[k].error_code);
    op->done(op, res);
}

void offsets_commit(struct client *c, struct offsets_commit *op)
{
    op->call = (struct call){.api = API_OFFSET_COMMIT,
                             .to = CALL_GROUP,
                             .name = op->group->group,
                             .version_max = VERSION_MAX,
                             .encode = encode,
                             .done = answered,
                             .user = op};
    client_call(c, &op->call);
}

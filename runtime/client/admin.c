/* runtime/client/admin.c - one-shot questions and changes.
 *
 * Happy path: an op fills its request, client_call carries it, the answer is judged, done is
 * told. Errors that the protocol calls retriable are met by asking again, after what we know of
 * leaders and coordinators was dropped and a pause that doubles, until the op's deadline. */
#include "runtime/client/admin.h"
#include "runtime/client/client_internal.h"
#include <inttypes.h>

enum { AGAIN = 1 };

/* ---- what all ops share ---- */

static void op_end(struct admin_op *a, int res, const struct err *e)
{
    env_timer_stop(a->client->env, &a->timer);
    a->client = NULL;
    a->end(a, res, e);
}

static void op_try(struct admin_op *a)
{
    uint64_t now = a->client->env->now, left = a->deadline > now ? a->deadline - now : 0;

    a->call.timeout_ms = (uint32_t)(left / 1000000u);
    if (!a->call.timeout_ms)
        a->call.timeout_ms = 1;
    client_call(a->client, &a->call);
}

static void op_again(struct env_timer *t)
{
    op_try(list_entry(t, struct admin_op, timer));
}

static void op_answered(struct call *call, int res, struct wire_in *in, int16_t version)
{
    struct admin_op *a = list_entry(call, struct admin_op, call);
    struct client *c = a->client;
    struct err e = {0};
    uint64_t at;

    if (!res)
        res = a->answer(a, in, version, &e);
    else
        err_set(&e, -res, "%s", err_text(res));
    if (res != AGAIN) {
        if (res && !e.code)
            err_set(&e, -res, "%s", err_text(res));
        op_end(a, res, &e);
        return;
    }
    at = client_backoff(c, &a->backoff);
    if (at >= a->deadline) {
        e.code = ERR_TIMEOUT;
        op_end(a, err_wrap(&e, "timed out"), &e);
        return;
    }
    env_timer_set(c->env, &a->timer, at);
}

static void op_start(struct client *c, struct admin_op *a, uint32_t timeout_ms)
{
    a->client = c;
    a->call.done = op_answered;
    a->timer = (struct env_timer){.fire = op_again};
    a->backoff = 0;
    a->deadline = c->env->now + (timeout_ms ? ENV_MS(timeout_ms) : c->request_timeout);
    op_try(a);
}

void admin_op_cancel(struct admin_op *a)
{
    if (!a->client)
        return;
    client_cancel(a->client, &a->call);
    env_timer_stop(a->client->env, &a->timer);
    a->client = NULL;
}

/* A Kafka code as what the op ends with. */
static int judge(struct admin_op *a, const char *kind, struct slice name, int16_t code,
                 struct slice message, struct err *e)
{
    int as = ERR_BROKER;

    if (code == KAFKA_NONE)
        return 0;
    if (code == KAFKA_TOPIC_ALREADY_EXISTS)
        as = ERR_EXISTS;
    else if (code == KAFKA_UNKNOWN_TOPIC_OR_PARTITION)
        as = ERR_NOT_FOUND;
    err_set(e, as, "%s \"%.*s\": %s%s%.*s", kind, SLICE_FMT(name), kafka_error_name(code),
            message.n ? ": " : "", SLICE_FMT(message));
    if (!kafka_error_retriable(code) || (as == ERR_NOT_FOUND && a->call.to != CALL_LEADER))
        return -as;
    client_stale(a->client, a->call.to, a->call.name);
    return AGAIN;
}

/* ---- create and delete ---- */

static int put_create(struct call *call, struct buf *out, int16_t version)
{
    struct create_topic *op = list_entry(call, struct create_topic, op.call);
    const struct conf *conf = op->config;
    struct create_topics_request_creatable_topic t;
    struct create_topics_request_creatable_topic_config *v;
    struct create_topics_request m;
    int n = conf ? conf->n : 0, rc;

    v = calloc((size_t)n + 1, sizeof *v);
    if (!v)
        return -ERR_NOMEM;
    for (int i = 0; i < n; i++) {
        create_topics_request_creatable_topic_config_init(&v[i]);
        v[i].name = slice_str(conf->v[i].key);
        v[i].value = slice_str(conf->v[i].value);
    }
    create_topics_request_init(&m);
    create_topics_request_creatable_topic_init(&t);
    t.name = op->topic;
    t.num_partitions = op->partitions > 0 || version >= 4 ? op->partitions : 1;
    t.replication_factor = version >= 4 ? -1 : 1;
    t.configs.v = v;
    t.configs.n = n;
    m.topics.v = &t;
    m.topics.n = 1;
    m.timeout_ms = (int32_t)call->timeout_ms;
    m.validate_only = op->validate_only;
    rc = create_topics_request_encode(&m, out, version);
    free(v);
    return rc;
}

static int create_answer(struct admin_op *a, struct wire_in *in, int16_t version, struct err *e)
{
    struct create_topic *op = list_entry(a, struct create_topic, op);
    struct create_topics_response m;
    int rc = create_topics_response_decode(&m, in, version);

    if (rc || m.topics.n != 1)
        return rc ? rc : -ERR_INVALID;
    return judge(a, "topic", op->topic, m.topics.v[0].error_code, m.topics.v[0].error_message, e);
}

static void create_end(struct admin_op *a, int res, const struct err *e)
{
    struct create_topic *op = list_entry(a, struct create_topic, op);
    op->done(op, res, e);
}

void admin_create_topic(struct client *c, struct create_topic *op)
{
    op->op = (struct admin_op){.answer = create_answer, .end = create_end};
    op->op.call =
        (struct call){.api = API_CREATE_TOPICS, .to = CALL_CONTROLLER, .encode = put_create};
    op_start(c, &op->op, op->timeout_ms);
}

static int put_delete(struct call *call, struct buf *out, int16_t version)
{
    struct delete_topic *op = list_entry(call, struct delete_topic, op.call);
    struct delete_topics_request_delete_topic_state t;
    struct delete_topics_request m;

    delete_topics_request_init(&m);
    delete_topics_request_delete_topic_state_init(&t);
    t.name = op->topic;
    if (version >= 6) {
        m.topics.v = &t;
        m.topics.n = 1;
    } else {
        m.topic_names.v = &op->topic;
        m.topic_names.n = 1;
    }
    m.timeout_ms = (int32_t)call->timeout_ms;
    return delete_topics_request_encode(&m, out, version);
}

static int delete_answer(struct admin_op *a, struct wire_in *in, int16_t version, struct err *e)
{
    struct delete_topic *op = list_entry(a, struct delete_topic, op);
    struct delete_topics_response m;
    int rc = delete_topics_response_decode(&m, in, version);

    if (rc || m.responses.n != 1)
        return rc ? rc : -ERR_INVALID;
    return judge(a, "topic", op->topic, m.responses.v[0].error_code, m.responses.v[0].error_message,
                 e);
}

static void delete_end(struct admin_op *a, int res, const struct err *e)
{
    struct delete_topic *op = list_entry(a, struct delete_topic, op);
    op->done(op, res, e);
}

void admin_delete_topic(struct client *c, struct delete_topic *op)
{
    op->op = (struct admin_op){.answer = delete_answer, .end = delete_end};
    op->op.call =
        (struct call){.api = API_DELETE_TOPICS, .to = CALL_CONTROLLER, .encode = put_delete};
    op_start(c, &op->op, op->timeout_ms);
}

/* ---- list ---- */

static int put_list(struct call *call, struct buf *out, int16_t version)
{
    struct metadata_request m;

    metadata_request_init(&m);
    m.topics.n = version >= 1 ? -1 : 0;
    m.allow_auto_topic_creation = version < 4;
    return metadata_request_encode(&m, out, version);
}

static int list_answer(struct admin_op *a, struct wire_in *in, int16_t version, struct err *e)
{
    struct list_topics *op = list_entry(a, struct list_topics, op);
    struct metadata_response m;
    int rc = metadata_response_decode(&m, in, version);

    if (rc)
        return rc;
    for (int32_t i = 0; i < m.topics.n; i++) {
        const struct metadata_response_metadata_response_topic *t = &m.topics.v[i];
        struct client_topic out = {.name = t->name,
                                   .id = t->topic_id,
                                   .n_partitions = t->partitions.n,
                                   .error = t->error_code,
                                   .internal = t->is_internal};
        op->each(op, &out, t->is_internal);
    }
    return 0;
}

static void list_end(struct admin_op *a, int res, const struct err *e)
{
    struct list_topics *op = list_entry(a, struct list_topics, op);
    op->done(op, res, e);
}

void admin_list_topics(struct client *c, struct list_topics *op)
{
    op->op = (struct admin_op){.answer = list_answer, .end = list_end};
    op->op.call = (struct call){.api = API_METADATA, .to = CALL_ANY, .encode = put_list};
    op_start(c, &op->op, op->timeout_ms);
}

/* ---- offsets by time ---- */

static int put_list_offset(struct call *call, struct buf *out, int16_t version)
{
    struct list_offset *op = list_entry(call, struct list_offset, op.call);
    struct list_offsets_request_list_offsets_partition p;
    struct list_offsets_request_list_offsets_topic t;
    struct list_offsets_request m;

    if (version < 2 && op->read_committed)
        return -ERR_UNSUPPORTED;
    list_offsets_request_init(&m);
    list_offsets_request_list_offsets_topic_init(&t);
    list_offsets_request_list_offsets_partition_init(&p);
    p.partition_index = op->partition;
    p.timestamp = op->timestamp;
    t.name = op->topic;
    t.partitions.v = &p;
    t.partitions.n = 1;
    m.replica_id = -1;
    m.isolation_level = op->read_committed;
    m.topics.v = &t;
    m.topics.n = 1;
    return list_offsets_request_encode(&m, out, version);
}

static int list_offset_answer(struct admin_op *a, struct wire_in *in, int16_t version,
                              struct err *e)
{
    struct list_offset *op = list_entry(a, struct list_offset, op);
    struct list_offsets_response_list_offsets_partition_response *p;
    struct list_offsets_response m;
    int rc = list_offsets_response_decode(&m, in, version);

    if (rc || m.topics.n != 1 || m.topics.v[0].partitions.n != 1)
        return rc ? rc : -ERR_INVALID;
    p = &m.topics.v[0].partitions.v[0];
    op->offset = p->offset;
    op->found_timestamp = p->timestamp;
    op->leader_epoch = p->leader_epoch;
    return judge(a, "topic", op->topic, p->error_code, SLICE_NULL, e);
}

static void list_offset_end(struct admin_op *a, int res, const struct err *e)
{
    struct list_offset *op = list_entry(a, struct list_offset, op);
    op->done(op, res, e);
}

void admin_list_offset(struct client *c, struct list_offset *op)
{
    op->op = (struct admin_op){.answer = list_offset_answer, .end = list_offset_end};
    op->op.call = (struct call){.api = API_LIST_OFFSETS,
                                .to = CALL_LEADER,
                                .name = op->topic,
                                .partition = op->partition,
                                .encode = put_list_offset};
    op_start(c, &op->op, op->timeout_ms);
}

/* ---- committed offsets ---- */

static bool first_of_topic(const struct fetch_offsets *op, int i)
{
    for (int j = 0; j < i; j++)
        if (slice_eq(op->v[j].topic, op->v[i].topic))
            return false;
    return true;
}

static int put_fetch_offsets(struct call *call, struct buf *out, int16_t version)
{
    struct fetch_offsets *op = list_entry(call, struct fetch_offsets, op.call);
    struct offset_fetch_request_offset_fetch_request_topic *topics;
    struct offset_fetch_request m;
    int32_t *parts;
    int n = 0, rc;

    if (op->stable && version < 7)
        return -ERR_UNSUPPORTED;
    topics = calloc((size_t)op->n + 1, sizeof *topics);
    parts = calloc((size_t)op->n + 1, sizeof *parts);
    offset_fetch_request_init(&m);
    for (int i = 0, at = 0; topics && parts && i < op->n; i++) {
        if (!first_of_topic(op, i))
            continue;
        offset_fetch_request_offset_fetch_request_topic_init(&topics[n]);
        topics[n].name = op->v[i].topic;
        topics[n].partition_indexes.v = parts + at;
        for (int j = i; j < op->n; j++)
            if (slice_eq(op->v[j].topic, op->v[i].topic))
                parts[at++] = op->v[j].partition;
        topics[n].partition_indexes.n = (int32_t)(parts + at - topics[n].partition_indexes.v);
        n++;
    }
    m.group_id = op->group;
    m.topics.v = topics;
    m.topics.n = n;
    m.require_stable = op->stable;
    rc = topics && parts ? offset_fetch_request_encode(&m, out, version) : -ERR_NOMEM;
    free(topics);
    free(parts);
    return rc;
}

static void fill_offset(struct fetch_offsets *op, struct slice topic,
                        const struct offset_fetch_response_offset_fetch_response_partition *p)
{
    for (int i = 0; i < op->n; i++) {
        struct fetch_offset_entry *v = &op->v[i];
        if (v->partition != p->partition_index || !slice_eq(v->topic, topic))
            continue;
        v->offset = p->committed_offset;
        v->leader_epoch = p->committed_leader_epoch;
        v->metadata = arena_copy(&op->arena, p->metadata);
    }
}

static int fetch_offsets_answer(struct admin_op *a, struct wire_in *in, int16_t version,
                                struct err *e)
{
    struct fetch_offsets *op = list_entry(a, struct fetch_offsets, op);
    struct offset_fetch_response m;
    int rc = offset_fetch_response_decode(&m, in, version);

    if (!rc)
        rc = judge(a, "group", op->group, m.error_code, SLICE_NULL, e);
    if (rc)
        return rc;
    arena_reset(&op->arena);
    for (int i = 0; i < op->n; i++) {
        op->v[i].offset = op->v[i].leader_epoch = -1;
        op->v[i].metadata = SLICE_NULL;
    }
    for (int32_t i = 0; i < m.topics.n; i++) {
        for (int32_t j = 0; j < m.topics.v[i].partitions.n; j++) {
            const struct offset_fetch_response_offset_fetch_response_partition *p =
                &m.topics.v[i].partitions.v[j];
            if (p->error_code == KAFKA_UNSTABLE_OFFSET_COMMIT) {
                err_set(e, ERR_TIMEOUT, "group \"%.*s\": a transaction is pending on %.*s-%d",
                        SLICE_FMT(op->group), SLICE_FMT(m.topics.v[i].name), p->partition_index);
                return AGAIN;
            }
            rc = judge(a, "group", op->group, p->error_code, SLICE_NULL, e);
            if (rc)
                return rc;
            fill_offset(op, m.topics.v[i].name, p);
        }
    }
    return 0;
}

static void fetch_offsets_end(struct admin_op *a, int res, const struct err *e)
{
    struct fetch_offsets *op = list_entry(a, struct fetch_offsets, op);
    op->done(op, res, e);
}

void admin_fetch_offsets(struct client *c, struct fetch_offsets *op)
{
    op->op = (struct admin_op){.answer = fetch_offsets_answer, .end = fetch_offsets_end};
    /* Version 7 asks for one group, and is the first that can ask for stable offsets. */
    op->op.call = (struct call){.api = API_OFFSET_FETCH,
                                .to = CALL_GROUP,
                                .name = op->group,
                                .version_max = 7,
                                .encode = put_fetch_offsets};
    op_start(c, &op->op, op->timeout_ms);
}

/* ---- configs ---- */

static int put_describe(struct call *call, struct buf *out, int16_t version)
{
    struct describe_config *op = list_entry(call, struct describe_config, op.call);
    struct describe_configs_request_describe_configs_resource r;
    struct describe_configs_request m;

    describe_configs_request_init(&m);
    describe_configs_request_describe_configs_resource_init(&r);
    r.resource_type = 2; /* a topic */
    r.resource_name = op->topic;
    r.configuration_keys.n = -1;
    m.resources.v = &r;
    m.resources.n = 1;
    return describe_configs_request_encode(&m, out, version);
}

static int describe_answer(struct admin_op *a, struct wire_in *in, int16_t version, struct err *e)
{
    struct describe_config *op = list_entry(a, struct describe_config, op);
    struct describe_configs_response_describe_configs_result *r;
    struct describe_configs_response m;
    int rc = describe_configs_response_decode(&m, in, version);

    if (rc || m.results.n != 1)
        return rc ? rc : -ERR_INVALID;
    r = &m.results.v[0];
    rc = judge(a, "topic", op->topic, r->error_code, r->error_message, e);
    for (int32_t i = 0; !rc && i < r->configs.n; i++)
        op->each(op, r->configs.v[i].name, r->configs.v[i].value, r->configs.v[i].config_source);
    return rc;
}

static void describe_end(struct admin_op *a, int res, const struct err *e)
{
    struct describe_config *op = list_entry(a, struct describe_config, op);
    op->done(op, res, e);
}

void admin_describe_config(struct client *c, struct describe_config *op)
{
    op->op = (struct admin_op){.answer = describe_answer, .end = describe_end};
    op->op.call =
        (struct call){.api = API_DESCRIBE_CONFIGS, .to = CALL_ANY, .encode = put_describe};
    op_start(c, &op->op, op->timeout_ms);
}

/* ---- where a leader epoch ended ---- */

static int put_epoch_end(struct call *call, struct buf *out, int16_t version)
{
    struct epoch_end *op = list_entry(call, struct epoch_end, op.call);
    struct offset_for_leader_epoch_request_offset_for_leader_partition p;
    struct offset_for_leader_epoch_request_offset_for_leader_topic t;
    struct offset_for_leader_epoch_request m;

    offset_for_leader_epoch_request_init(&m);
    offset_for_leader_epoch_request_offset_for_leader_topic_init(&t);
    offset_for_leader_epoch_request_offset_for_leader_partition_init(&p);
    p.partition = op->partition;
    p.leader_epoch = op->epoch;
    t.topic = op->topic;
    t.partitions.v = &p;
    t.partitions.n = 1;
    m.replica_id = version >= 3 ? -1 : -2;
    m.topics.v = &t;
    m.topics.n = 1;
    return offset_for_leader_epoch_request_encode(&m, out, version);
}

static int epoch_end_answer(struct admin_op *a, struct wire_in *in, int16_t version, struct err *e)
{
    struct epoch_end *op = list_entry(a, struct epoch_end, op);
    struct offset_for_leader_epoch_response_epoch_end_offset *p;
    struct offset_for_leader_epoch_response m;
    int rc = offset_for_leader_epoch_response_decode(&m, in, version);

    if (rc || m.topics.n != 1 || m.topics.v[0].partitions.n != 1)
        return rc ? rc : -ERR_INVALID;
    p = &m.topics.v[0].partitions.v[0];
    op->found_epoch = p->leader_epoch;
    op->end_offset = p->end_offset;
    return judge(a, "topic", op->topic, p->error_code, SLICE_NULL, e);
}

static void epoch_end_end(struct admin_op *a, int res, const struct err *e)
{
    struct epoch_end *op = list_entry(a, struct epoch_end, op);
    op->done(op, res, e);
}

void admin_epoch_end(struct client *c, struct epoch_end *op)
{
    op->op = (struct admin_op){.answer = epoch_end_answer, .end = epoch_end_end};
    op->op.call = (struct call){.api = API_OFFSET_FOR_LEADER_EPOCH,
                                .to = CALL_LEADER,
                                .name = op->topic,
                                .partition = op->partition,
                                .encode = put_epoch_end};
    op_start(c, &op->op, op->timeout_ms);
}

/* broker/api/19_create_topics.c - CreateTopics: each topic checked by itself, made, answered when
 * durable.
 *
 * One broker: a replication factor of 1 or -1, replica assignments that name it alone.
 * validate_only answers as if done. Version 5 and up tell the configs in force, 7 the topic's
 * id. */
#include "broker/api/api.h"
#include <stdio.h>

typedef struct create_topics_request_creatable_topic topic_in;
typedef struct create_topics_response_creatable_topic_result result;
typedef struct create_topics_response_creatable_topic_configs config_out;

enum { CONFIGS_MAX = 48, CONFIGS_V_MIN = 5 };

struct create {
    struct request *rq;
    struct create_topics_request in;
    struct create_topics_response out;
};

static enum kafka_error check_assignment(struct create *c, const topic_in *t, int32_t *partitions,
                                         struct err *e)
{
    if (t->num_partitions != -1 || t->replication_factor != -1) {
        err_set(e, ERR_INVALID,
                "Both numPartitions or replicationFactor and replicasAssignments were set.");
        return KAFKA_INVALID_REQUEST;
    }
    for (int32_t i = 0; i < t->assignments.n; i++) {
        const struct create_topics_request_creatable_replica_assignment *a = &t->assignments.v[i];
        bool known = a->broker_ids.n == 1 && a->broker_ids.v[0] == broker_node_id(c->rq->broker) &&
                     a->partition_index >= 0 && a->partition_index < t->assignments.n;
        for (int32_t j = 0; known && j < i; j++)
            known = t->assignments.v[j].partition_index != a->partition_index;
        if (!known) {
            err_set(e, ERR_INVALID,
                    "The assignment of partition %d names brokers or partitions "
                    "that are not there.",
                    a->partition_index);
            return KAFKA_INVALID_REPLICA_ASSIGNMENT;
        }
    }
    *partitions = t->assignments.n;
    return KAFKA_NONE;
}

static enum kafka_error check_counts(struct create *c, const topic_in *t, int32_t *partitions,
                                     struct err *e)
{
    for (int32_t i = 0; i < c->in.topics.n; i++)
        if (&c->in.topics.v[i] != t && slice_eq(c->in.topics.v[i].name, t->name)) {
            err_set(e, ERR_INVALID, "Duplicate topic name.");
            return KAFKA_INVALID_REQUEST;
        }
    *partitions = t->num_partitions;
    if (t->assignments.n > 0)
        return check_assignment(c, t, partitions, e);
    if (t->replication_factor != -1 && t->replication_factor != 1) {
        err_set(e, ERR_INVALID, "Replication factor %d: there is one broker.",
                t->replication_factor);
        return KAFKA_INVALID_REPLICATION_FACTOR;
    }
    return KAFKA_NONE;
}

static enum kafka_error read_configs(const topic_in *t, struct conf *config, struct err *e)
{
    for (int32_t i = 0; i < t->configs.n; i++) {
        if (!t->configs.v[i].value.p) {
            err_set(e, ERR_INVALID, "Null value not supported for topic configs: %.*s",
                    SLICE_FMT(t->configs.v[i].name));
            return KAFKA_INVALID_CONFIG;
        }
        if (conf_set(config, t->configs.v[i].name, t->configs.v[i].value))
            return KAFKA_UNKNOWN_SERVER_ERROR;
    }
    return KAFKA_NONE;
}

/* Every config in force, with its source. */
static void tell_configs(struct create *c, const struct conf *config, result *out)
{
    struct arena *a = c->rq->in.arena;
    const struct topic_config_def *d;
    out->configs.v = arena_new(a, config_out, CONFIGS_MAX);
    if (!out->configs.v)
        return;
    for (int i = 0; (d = topic_config_def(i)) && i < CONFIGS_MAX; i++) {
        enum config_source source;
        char space[32];
        const char *v = topic_config_value(d, config, broker_conf(c->rq->broker), &source, space);
        config_out *o = &out->configs.v[out->configs.n];
        if (topic_config_hidden(d) && source != CONFIG_SOURCE_TOPIC)
            continue;
        create_topics_response_creatable_topic_configs_init(o);
        o->name = slice_str(d->name);
        o->value = arena_copy(a, slice_str(v));
        o->config_source = (int8_t)source;
        out->configs.n++;
    }
}

static enum kafka_error create(struct create *c, const topic_in *t, struct conf *config,
                               result *out, struct err *e)
{
    struct broker *b = c->rq->broker;
    struct topic *made = NULL;
    int32_t partitions;
    enum kafka_error error = KAFKA_NONE;
    if (broker_topic(b, t->name)) /* says so whatever else is wrong */
        return broker_topic_check(b, t->name, &partitions, NULL, e);
    error = check_counts(c, t, &partitions, e);
    if (!error)
        error = read_configs(t, config, e);
    if (!error)
        error = broker_topic_check(b, t->name, &partitions, config, e);
    if (!error && !c->in.validate_only)
        error = broker_topic_create(b, t->name, partitions, config, &made, e);
    if (error)
        return error;
    if (made)
        out->topic_id = made->id;
    if (c->rq->version >= CONFIGS_V_MIN) {
        out->num_partitions = partitions;
        out->replication_factor = 1;
        tell_configs(c, config, out);
    }
    return KAFKA_NONE;
}

int api_create_topics(struct request *rq)
{
    struct create *c = arena_new(rq->in.arena, struct create, 1);
    if (!c)
        return -ERR_TOO_BIG;
    int rc = create_topics_request_decode(&c->in, &rq->in, rq->version);
    if (rc)
        return rc;
    c->rq = rq;
    create_topics_response_init(&c->out);
    c->out.topics.v = arena_new(rq->in.arena, result, c->in.topics.n);
    if (!c->out.topics.v)
        return -ERR_TOO_BIG;
    c->out.topics.n = c->in.topics.n;
    for (int32_t i = 0; i < c->in.topics.n; i++) {
        const topic_in *t = &c->in.topics.v[i];
        result *out = &c->out.topics.v[i];
        struct err e = {0};
        struct conf config;
        create_topics_response_creatable_topic_result_init(out);
        out->name = t->name;
        conf_init(&config);
        out->error_code = (int16_t)create(c, t, &config, out, &e);
        conf_deinit(&config);
        if (out->error_code && e.code)
            out->error_message = arena_copy(rq->in.arena, slice_str(e.text));
    }
    reply_body(rq, &create_topics_response_desc, &c->out);
    reply_end(rq);
    return 0;
}

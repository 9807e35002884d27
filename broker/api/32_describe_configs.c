/* broker/api/32_describe_configs.c - DescribeConfigs: configs of topics and of this broker, with
 * where each value comes from. Unknown keys asked for are left out; an unknown topic and another
 * broker are errors. */
#include "broker/api/api.h"
#include <stdio.h>

typedef struct describe_configs_request_describe_configs_resource resource;
typedef struct describe_configs_response_describe_configs_result result;
typedef struct describe_configs_response_describe_configs_resource_result entry;
typedef struct describe_configs_response_describe_configs_synonym synonym;

enum { RESOURCE_TOPIC = 2, RESOURCE_BROKER = 4, ENTRIES_MAX = 64 };

struct describe {
    struct request *rq;
    struct describe_configs_request in;
    struct describe_configs_response out;
};

static bool asked_for(const resource *r, const char *name)
{
    if (r->configuration_keys.n < 0)
        return true;
    for (int32_t i = 0; i < r->configuration_keys.n; i++)
        if (slice_eq_str(r->configuration_keys.v[i], name))
            return true;
    return false;
}

static entry *add(struct describe *d, result *out, const char *name, const char *value,
                  enum config_source source, enum config_type type)
{
    if (out->configs.n == ENTRIES_MAX)
        return NULL;
    entry *e = &out->configs.v[out->configs.n++];
    describe_configs_response_describe_configs_resource_result_init(e);
    e->name = slice_str(name);
    e->value = arena_copy(d->rq->in.arena, slice_str(value));
    e->config_source = (int8_t)source;
    e->is_default = d->rq->version == 0 && source == CONFIG_SOURCE_DEFAULT;
    e->config_type = (int8_t)type;
    return e;
}

static void add_synonym(struct describe *d, entry *e, const char *name, const char *value,
                        enum config_source source)
{
    synonym *s = &e->synonyms.v[e->synonyms.n++];
    s->name = slice_str(name);
    s->value = arena_copy(d->rq->in.arena, slice_str(value));
    s->source = (int8_t)source;
}

/* All places the value could come from, the one in force first. */
static void tell_synonyms(struct describe *d, entry *e, const struct topic_config_def *def,
                          const struct conf *topic)
{
    const struct conf *broker = broker_conf(d->rq->broker);
    const char *own = conf_get(topic, def->name);
    if (!d->in.include_synonyms)
        return;
    e->synonyms.v = arena_new(d->rq->in.arena, synonym, 5);
    if (!e->synonyms.v)
        return;
    if (own)
        add_synonym(d, e, def->name, own, CONFIG_SOURCE_TOPIC);
    for (int i = 0; i < 3 && def->broker[i].name; i++) {
        const char *v = conf_get(broker, def->broker[i].name);
        if (v)
            add_synonym(d, e, def->broker[i].name, v, CONFIG_SOURCE_STATIC_BROKER);
    }
    add_synonym(d, e, def->broker[0].name ? def->broker[0].name : def->name, def->value,
                CONFIG_SOURCE_DEFAULT);
}

static void describe_topic(struct describe *d, const resource *r, result *out)
{
    const struct topic *t = broker_topic(d->rq->broker, r->resource_name);
    const struct topic_config_def *def;
    if (!t) {
        out->error_code = KAFKA_UNKNOWN_TOPIC_OR_PARTITION;
        return;
    }
    for (int i = 0; (def = topic_config_def(i)); i++) {
        enum config_source source;
        char space[32];
        const char *v =
            topic_config_value(def, &t->config, broker_conf(d->rq->broker), &source, space);
        if (!asked_for(r, def->name) || (topic_config_hidden(def) && source != CONFIG_SOURCE_TOPIC))
            continue;
        entry *e = add(d, out, def->name, v, source, def->type);
        if (e)
            tell_synonyms(d, e, def, &t->config);
    }
}

static void broker_entry(struct describe *d, const resource *r, result *out, const char *name,
                         const char *fallback, enum config_type type)
{
    const char *v = conf_get(broker_conf(d->rq->broker), name);
    if (!asked_for(r, name))
        return;
    entry *e = add(d, out, name, v ? v : fallback,
                   v ? CONFIG_SOURCE_STATIC_BROKER : CONFIG_SOURCE_DEFAULT, type);
    if (e)
        e->read_only = true;
}

static void describe_broker(struct describe *d, const resource *r, result *out)
{
    const struct topic_config_def *def;
    char id[16];
    snprintf(id, sizeof id, "%d", broker_node_id(d->rq->broker));
    if (r->resource_name.n && !slice_eq_str(r->resource_name, id)) {
        out->error_code = KAFKA_INVALID_REQUEST;
        out->error_message = slice_str("Unexpected broker id: there is one broker");
        return;
    }
    broker_entry(d, r, out, "auto.create.topics.enable", "true", CONFIG_BOOLEAN);
    broker_entry(d, r, out, "broker.id", id, CONFIG_INT);
    broker_entry(d, r, out, "connections.max.idle.ms", "600000", CONFIG_LONG);
    broker_entry(d, r, out, "default.replication.factor", "1", CONFIG_INT);
    broker_entry(d, r, out, "node.id", id, CONFIG_INT);
    broker_entry(d, r, out, "num.partitions", "1", CONFIG_INT);
    broker_entry(d, r, out, "offsets.topic.num.partitions", "4", CONFIG_INT);
    broker_entry(d, r, out, "socket.request.max.bytes", "104857600", CONFIG_INT);
    broker_entry(d, r, out, "transaction.state.log.num.partitions", "4", CONFIG_INT);
    for (int i = 0; (def = topic_config_def(i)); i++)
        if (def->broker[0].name)
            broker_entry(d, r, out, def->broker[0].name, def->value, def->type);
}

static int describe(struct describe *d, const resource *r, result *out)
{
    describe_configs_response_describe_configs_result_init(out);
    out->resource_type = r->resource_type;
    out->resource_name = r->resource_name;
    out->configs.v = arena_new(d->rq->in.arena, entry, ENTRIES_MAX);
    if (!out->configs.v)
        return -ERR_TOO_BIG;
    if (r->resource_type == RESOURCE_TOPIC) {
        describe_topic(d, r, out);
    } else if (r->resource_type == RESOURCE_BROKER) {
        describe_broker(d, r, out);
    } else {
        out->error_code = KAFKA_INVALID_REQUEST;
        out->error_message = slice_str("only topics and brokers have configs here");
    }
    return 0;
}

int api_describe_configs(struct request *rq)
{
    struct describe d = {.rq = rq};
    int rc = describe_configs_request_decode(&d.in, &rq->in, rq->version);
    if (rc)
        return rc;
    describe_configs_response_init(&d.out);
    d.out.results.v = arena_new(rq->in.arena, result, d.in.resources.n);
    if (!d.out.results.v)
        return -ERR_TOO_BIG;
    d.out.results.n = d.in.resources.n;
    for (int32_t i = 0; i < d.in.resources.n; i++) {
        rc = describe(&d, &d.in.resources.v[i], &d.out.results.v[i]);
        if (rc)
            return rc;
    }
    reply_body(rq, &describe_configs_response_desc, &d.out);
    reply_end_at(rq, broker_metadata_lsn(rq->broker));
    return 0;
}

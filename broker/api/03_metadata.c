/* broker/api/03_metadata.c - Metadata: the one broker, and topics by name, by id, or all.
 *
 * A name that is not known is made a topic if broker and request allow it, with num.partitions;
 * the answer shows it at once and waits until it is durable. Version 0 takes an empty list for
 * all topics, later ones null. */
#include "broker/api/api.h"

typedef struct metadata_request_metadata_request_topic topic_in;
typedef struct metadata_response_metadata_response_topic topic_out;
typedef struct metadata_response_metadata_response_partition part_out;

/* Bits of the operations that Kafka's ACLs know, all granted: nobody is refused here. */
enum { TOPIC_OPERATIONS = 0x0df8, CLUSTER_OPERATIONS = 0x1fa0, AUTO_CREATE_V_MIN = 4 };

struct metadata {
    struct request *rq;
    struct metadata_request in;
    struct metadata_response out;
    int32_t node; /* what the lists of replicas point at */
};

static int describe(struct metadata *m, const struct topic *t, topic_out *out)
{
    out->name = t->name;
    out->topic_id = t->id;
    out->is_internal = t->internal;
    if (m->in.include_topic_authorized_operations)
        out->topic_authorized_operations = TOPIC_OPERATIONS;
    out->partitions.v = arena_new(m->rq->in.arena, part_out, t->n_partitions);
    if (!out->partitions.v)
        return -ERR_TOO_BIG;
    out->partitions.n = t->n_partitions;
    for (int32_t i = 0; i < t->n_partitions; i++) {
        part_out *p = &out->partitions.v[i];
        metadata_response_metadata_response_partition_init(p);
        p->partition_index = i;
        p->leader_id = m->node;
        p->leader_epoch = broker_epoch(m->rq->broker);
        p->replica_nodes.v = p->isr_nodes.v = &m->node;
        p->replica_nodes.n = p->isr_nodes.n = 1;
    }
    return 0;
}

static bool may_create(const struct metadata *m)
{
    return broker_auto_create(m->rq->broker) &&
           (m->rq->version < AUTO_CREATE_V_MIN || m->in.allow_auto_topic_creation);
}

static const struct topic *by_name(struct metadata *m, struct slice name, topic_out *out)
{
    struct broker *b = m->rq->broker;
    struct topic *t = broker_topic(b, name);
    if (t)
        return t;
    int32_t partitions = -1;
    enum kafka_error error = broker_topic_check(b, name, &partitions, NULL, NULL);
    /* The coordinators' topics are theirs to make. */
    bool internal = name.n > 2 && slice_eq_str(slice_sub(name, 0, 2), "__");
    if (!error && (internal || !may_create(m)))
        error = KAFKA_UNKNOWN_TOPIC_OR_PARTITION;
    if (!error)
        error = broker_topic_create(b, name, -1, NULL, &t, NULL);
    out->error_code = (int16_t)error;
    return error ? NULL : t;
}

static int find(struct metadata *m, const topic_in *in, topic_out *out)
{
    const struct topic *t;
    out->name = in->name;
    out->topic_id = in->topic_id;
    if (in->name.p) {
        t = by_name(m, in->name, out);
    } else {
        t = broker_topic_by_id(m->rq->broker, &in->topic_id);
        if (!t)
            out->error_code = KAFKA_UNKNOWN_TOPIC_ID;
    }
    return t ? describe(m, t, out) : 0;
}

static int put_topics(struct metadata *m, int32_t n)
{
    m->out.topics.v = arena_new(m->rq->in.arena, topic_out, n);
    if (!m->out.topics.v)
        return -ERR_TOO_BIG;
    for (int32_t i = 0; i < n; i++)
        metadata_response_metadata_response_topic_init(&m->out.topics.v[i]);
    m->out.topics.n = n;
    return 0;
}

static int all_topics(struct metadata *m)
{
    struct map *topics = broker_topics(m->rq->broker);
    int rc = put_topics(m, (int32_t)topics->n);
    int32_t i = 0;
    MAP_EACH (entry, topics) {
        if (!rc)
            rc = describe(m, entry->value, &m->out.topics.v[i++]);
    }
    return rc;
}

static int some_topics(struct metadata *m)
{
    int rc = put_topics(m, m->in.topics.n);
    for (int32_t i = 0; !rc && i < m->in.topics.n; i++)
        rc = find(m, &m->in.topics.v[i], &m->out.topics.v[i]);
    return rc;
}

int api_metadata(struct request *rq)
{
    struct broker *b = rq->broker;
    struct metadata_response_metadata_response_broker self;
    struct metadata *m = arena_new(rq->in.arena, struct metadata, 1);
    if (!m)
        return -ERR_TOO_BIG;
    int rc = metadata_request_decode(&m->in, &rq->in, rq->version);
    if (rc)
        return rc;
    m->rq = rq;
    m->node = broker_node_id(b);
    metadata_response_init(&m->out);
    metadata_response_metadata_response_broker_init(&self);
    self.node_id = m->node;
    broker_advertised(b, &self.host, &self.port);
    m->out.brokers.v = &self;
    m->out.brokers.n = 1;
    m->out.cluster_id = slice_str(logdir_cluster_id(broker_logdir(b)));
    m->out.controller_id = m->node;
    if (m->in.include_cluster_authorized_operations)
        m->out.cluster_authorized_operations = CLUSTER_OPERATIONS;
    bool all = m->in.topics.n < 0 || (rq->version == 0 && m->in.topics.n == 0);
    rc = all ? all_topics(m) : some_topics(m);
    if (rc)
        return rc;
    reply_body(rq, &metadata_response_desc, &m->out);
    reply_end_at(rq, broker_metadata_lsn(b));
    return 0;
}

/* broker/api/10_find_coordinator.c - FindCoordinator: who keeps a group, or a transactional id. One
 * broker is the cluster, so it is always this one; what the request does here is to make the
 * internal topic.
 *
 * v1: the key's type. v4: several keys. Types other than group and transaction are
 * INVALID_REQUEST. */
#include "broker/api/api.h"
#include "broker/group/coordinator.h"

enum { KEY_GROUP = 0, KEY_TRANSACTION = 1 };
enum { TRANSACTION_TOPIC_PARTITIONS = 4 };

typedef struct find_coordinator_response_coordinator coordinator;

static struct topic *transaction_topic(struct broker *b)
{
    int64_t n;
    struct err e = {0};
    if (conf_i64(broker_conf(b), "transaction.state.log.num.partitions",
                 TRANSACTION_TOPIC_PARTITIONS, &n, &e) ||
        n < 1 || n > 10000)
        n = TRANSACTION_TOPIC_PARTITIONS;
    return broker_internal_topic(b, "__transaction_state", (int32_t)n);
}

static void find(struct broker *b, int8_t type, struct slice key, coordinator *c)
{
    enum kafka_error error = KAFKA_NONE;
    if (type == KEY_GROUP)
        error = group_coordinator_partition(broker_groups(b), key)
                    ? KAFKA_NONE
                    : KAFKA_COORDINATOR_NOT_AVAILABLE;
    else if (type == KEY_TRANSACTION)
        error = transaction_topic(b) ? KAFKA_NONE : KAFKA_COORDINATOR_NOT_AVAILABLE;
    else
        error = KAFKA_INVALID_REQUEST;
    *c = (coordinator){.key = key, .error_code = (int16_t)error};
    if (error == KAFKA_NONE) {
        c->node_id = broker_node_id(b);
        broker_advertised(b, &c->host, &c->port);
        c->error_message = slice_str("");
        return;
    }
    c->node_id = c->port = -1;
    c->host = slice_str("");
    c->error_message = slice_str(kafka_error_name(error));
}

static int find_all(struct request *rq, const struct find_coordinator_request *m,
                    struct find_coordinator_response *r)
{
    int n = m->coordinator_keys.n > 0 ? m->coordinator_keys.n : 0;
    r->coordinators.v = arena_new(rq->in.arena, coordinator, n + 1);
    if (!r->coordinators.v)
        return -ERR_NOMEM;
    r->coordinators.n = n;
    for (int i = 0; i < n; i++)
        find(rq->broker, m->key_type, m->coordinator_keys.v[i], &r->coordinators.v[i]);
    return 0;
}

int api_find_coordinator(struct request *rq)
{
    struct find_coordinator_request m;
    struct find_coordinator_response r;
    int rc = find_coordinator_request_decode(&m, &rq->in, rq->version);
    if (rc)
        return rc;
    find_coordinator_response_init(&r);
    if (rq->version >= 4) {
        rc = find_all(rq, &m, &r);
    } else {
        coordinator one;
        find(rq->broker, m.key_type, m.key, &one);
        r.error_code = one.error_code;
        r.error_message = one.error_code ? one.error_message : slice_str("NONE");
        r.node_id = one.node_id;
        r.host = one.host;
        r.port = one.port;
    }
    if (rc)
        return rc;
    reply_begin(rq);
    rc = find_coordinator_response_encode(&r, &rq->out, rq->version);
    if (rc == 0)
        reply_end(rq);
    return rc;
}

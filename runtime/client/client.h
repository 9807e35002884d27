/* runtime/client/client.h - a Kafka client on env: connections, metadata, calls.
 *
 * One struct client serves everything a process asks of a cluster: it keeps one connection a node for
 * ordinary calls and one for fetches and one for blocking group calls, follows metadata and coordinators,
 * and retries what the protocol allows. It speaks versions that Apache Kafka 3.x and 4.x and our own broker
 * accept. All callbacks come from the loop, never from within the call that asked. */
#ifndef ONCE_RUNTIME_CLIENT_CLIENT_H
#define ONCE_RUNTIME_CLIENT_CLIENT_H
#include "base/buf.h"
#include "base/env.h"
#include "base/wire/kafka_error.h"
#include "base/wire/messages.h"
#include "base/wire/wire.h"

struct client;
struct client_options {
    const char *bootstrap; /* HOST:PORT,HOST:PORT */
    const char *client_id; /* "once" */
    uint32_t request_timeout_ms; /* 30 s when 0 */
    uint32_t retry_backoff_ms;   /* 20 ms when 0, doubled up to 1 s */
};

int client_open(struct client **c, struct env *env, const struct client_options *o, struct err *e);
/* Calls in flight end with -ERR_CANCELED; then done(user). */
void client_close(struct client *c, void (*done)(void *user), void *user);
void client_free(struct client *c); /* without I/O, from any state */
struct env *client_env(struct client *c);
/* What the cluster offers: transactions of version 2 (transaction.version feature >= 2 and Produce 12,
 * EndTxn 5, TxnOffsetCommit 5, all or none). Known after the first answer of any node. */
bool client_txn_v2(const struct client *c);
/* True when this is a `once` broker (its cluster's features say so), false for a foreign cluster. */
bool client_is_once(const struct client *c);

/* ---- calls ---- */
enum call_target { CALL_ANY, CALL_CONTROLLER, CALL_LEADER, CALL_GROUP, CALL_TXN, CALL_NODE };
struct call {
    /* in; slices must live until done */
    int16_t api;
    enum call_target to;
    struct slice name; /* topic, group or transactional id */
    int32_t partition; /* CALL_LEADER: of name; CALL_NODE: the node id */
    int16_t version_max; /* 0: the highest both sides know */
    uint32_t timeout_ms; /* overall, retries of connecting included; 0: the client's. UINT32_MAX: none */
    bool once;           /* send at most once: no resend after the bytes may have left */
    int (*encode)(struct call *call, struct buf *out, int16_t version); /* the body */
    /* res 0: `in` is at the response body, of `version`; else a negative ERR_ code: nothing is known about
     * what the broker did unless res is -ERR_REFUSED or -ERR_UNSUPPORTED (never sent). */
    void (*done)(struct call *call, int res, struct wire_in *in, int16_t version);
    void *user;
    /* internal */
    struct list link;
    struct env_timer timer;
    uint64_t deadline, sent_at;
    int32_t correlation, node, attempt;
    int state;
};
void client_call(struct client *c, struct call *call);
/* done() is not called any more. */
void client_cancel(struct client *c, struct call *call);
/* The answer said that what we know is old (NOT_LEADER, NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, unknown
 * topic): look it up again before the next call that needs it. */
void client_stale(struct client *c, enum call_target to, struct slice name);

/* ---- metadata ---- */
struct client_topic {
    struct slice name;
    struct uuid id;
    int32_t n_partitions; /* -1: does not exist */
    enum kafka_error error;
};
/* What is cached, or NULL. */
const struct client_topic *client_topic(struct client *c, struct slice name);
struct topic_lookup {
    struct slice name;
    bool create; /* allow auto-creation */
    void (*done)(struct topic_lookup *l, int res, const struct client_topic *t);
    void *user;
    struct call call; /* internal */
};
void client_topic_lookup(struct client *c, struct topic_lookup *l);

struct topic_partition {
    struct slice topic;
    int32_t partition;
};
#endif

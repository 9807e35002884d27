/* runtime/client/client.h - a Kafka client on env: connections, metadata, calls.
 *
 * One struct client serves everything a process asks of a cluster: it keeps one connection a
 * node for ordinary calls and one for fetches and one for blocking group calls, follows metadata
 * and coordinators, and retries what the protocol allows. It speaks versions that Apache Kafka
 * 3.x and 4.x and our own broker accept. All callbacks come from the loop, never from within the
 * call that asked. */
#ifndef ONCE_RUNTIME_CLIENT_CLIENT_H
#define ONCE_RUNTIME_CLIENT_CLIENT_H
#include "base/block.h"
#include "base/buf.h"
#include "base/env.h"
#include "base/wire/kafka_error.h"
#include "base/wire/messages.h"
#include "base/wire/wire.h"

struct client;
struct client_options {
    const char *bootstrap;       /* HOST:PORT,HOST:PORT */
    const char *client_id;       /* "once" */
    uint32_t request_timeout_ms; /* 30 s when 0 */
    uint32_t retry_backoff_ms;   /* 20 ms when 0, doubled up to 1 s */
};

int client_open(struct client **c, struct env *env, const struct client_options *o, struct err *e);
/* Calls in flight end with -ERR_CANCELED; then done(user). */
void client_close(struct client *c, void (*done)(void *user), void *user);
/* Without I/O: after client_close is done, or when env is dead or gone to be. Not from within a
 * callback. */
void client_free(struct client *c);
struct env *client_env(struct client *c);
/* What the cluster offers: transactions of version 2 (transaction.version feature >= 2 and
 * Produce 12, EndTxn 5, TxnOffsetCommit 5, all or none). Known after the first answer of any
 * node. */
bool client_txn_v2(const struct client *c);
/* True when this is a `once` broker (its cluster's features say so), false for a foreign
 * cluster. */
bool client_is_once(const struct client *c);

/* ---- calls ---- */
enum call_target { CALL_ANY, CALL_CONTROLLER, CALL_LEADER, CALL_GROUP, CALL_TXN, CALL_NODE };
struct call {
    /* in; slices must live until done */
    int16_t api;
    enum call_target to;
    struct slice name;   /* topic, group or transactional id */
    int32_t partition;   /* CALL_LEADER: of name; CALL_NODE: the node id */
    int16_t version_max; /* 0: the highest both sides know */
    uint32_t
        timeout_ms; /* overall, retries of connecting included; 0: the client's. UINT32_MAX: none */
    bool once;      /* send at most once: no resend after the bytes may have left */
    /* Patience with one try once it is sent; then the connection counts as dead. 0: a third of the
     * client's request timeout. A call that the broker parks must allow for that. */
    uint32_t attempt_ms;
    int lane; /* 0: the connection for ordinary calls; else from client_lane */
    int (*encode)(struct call *call, struct buf *out, int16_t version); /* the body */
    /* res 0: `in` is at the response body, of `version`; else a negative ERR_ code: nothing is
     * known about what the broker did unless res is -ERR_REFUSED, -ERR_UNSUPPORTED or
     * -ERR_NOT_FOUND (a CALL_LEADER whose partition is not there): never sent. */
    void (*done)(struct call *call, int res, struct wire_in *in, int16_t version);
    void *user;
    /* out, within done: holds the bytes of the response; block_ref it to keep slices of them.
     * Arrays decoded from `in` die with done. */
    struct block *block;
    /* internal */
    struct list link;
    struct env_timer timer;
    struct client *client;
    void *flight; /* struct flight, when sent */
    int32_t attempt;
    int state, res;
};
/* Fills the internal fields itself: the call must not be in flight. Retries connecting, looking
 * up and, unless `once`, sending after a cut, until timeout_ms; a CALL_NODE call is tried once
 * and ends with -ERR_REFUSED when the node cannot be reached. */
void client_call(struct client *c, struct call *call);
/* done() is not called any more. A call not in flight: nothing happens. */
void client_cancel(struct client *c, struct call *call);
/* A number for connections of one's own, one a node: calls that park at the broker hold up all
 * behind them on their connection. */
int client_lane(struct client *c);
/* Gives up the lane's connections; calls on it are cancelled by their owner before. */
void client_lane_close(struct client *c, int lane);
/* The answer said that what we know is old (NOT_LEADER, NOT_COORDINATOR,
 * COORDINATOR_NOT_AVAILABLE, unknown topic): look it up again before the next call that needs
 * it. */
void client_stale(struct client *c, enum call_target to, struct slice name);

/* ---- metadata ---- */
struct client_topic {
    struct slice name;
    struct uuid id;
    int32_t n_partitions; /* -1: does not exist */
    enum kafka_error error;
    bool internal;
};
/* What is cached, or NULL. */
const struct client_topic *client_topic(struct client *c, struct slice name);
/* The leader epoch that is cached, -1 none. */
int32_t client_leader_epoch(struct client *c, struct slice name, int32_t partition);
struct topic_lookup {
    struct slice name;
    bool create;         /* allow auto-creation */
    uint32_t timeout_ms; /* 0: the client's request timeout */
    /* 0: exists and every partition has a leader. -ERR_NOT_FOUND: does not exist. -ERR_TIMEOUT,
     * -ERR_CANCELED, -ERR_ACCESS, -ERR_INVALID (not a legal name). t may be NULL on errors. */
    void (*done)(struct topic_lookup *l, int res, const struct client_topic *t);
    void *user;
    struct call call; /* internal */
    uint64_t since;
};
/* Asks the cluster anew, whatever is cached; lookups of one turn share a request. */
void client_topic_lookup(struct client *c, struct topic_lookup *l);
void client_topic_cancel(struct client *c, struct topic_lookup *l);

struct topic_partition {
    struct slice topic;
    int32_t partition;
};
#endif

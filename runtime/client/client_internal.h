/* runtime/client/client_internal.h - what the files of the client share; nobody else includes
 * it.
 *
 * A call waits in client.waiting until its target resolves to a connection, then in peer.queue
 * until that connection can take it, then in flight. Connections answer in order, so a flight
 * outlives the call that was cancelled or timed out: its answer is read and dropped. */
#ifndef ONCE_RUNTIME_CLIENT_CLIENT_INTERNAL_H
#define ONCE_RUNTIME_CLIENT_CLIENT_INTERNAL_H
#include "base/check.h"
#include "base/map.h"
#include "runtime/client/client.h"
#include <stdlib.h>

enum {
    API_KEYS = 64,               /* keys below it are known to nodes */
    RECV_BYTES = 64 << 10,       /* first block of a connection */
    FRAME_BYTES_MAX = 256 << 20, /* a longer answer costs the connection */
    REQUEST_BYTES_MAX = 256 << 20,
    FLUSH_BYTES = 1 << 20, /* encoded ahead of what the socket took */
    BACKOFF_MAX_MS = 1000,
    CONNECT_MAX_MS = 10000,
    CONTROLLER_UNKNOWN = -2, /* not asked for */
    CONTROLLER_NONE = -1     /* the cluster names none: any node will do */
};

enum call_state { CALL_IDLE, CALL_WAITING, CALL_QUEUED, CALL_SENT, CALL_FINISHED };

struct version_range {
    int16_t min, max; /* max < min: not offered */
};
struct node {
    struct list link; /* client.nodes */
    int32_t id;       /* -1: an address whose node is not known yet */
    char *address;    /* HOST:PORT */
    bool present;     /* in the newest metadata, or a bootstrap address */
    bool known;       /* versions are */
    struct list peers;
    struct version_range versions[API_KEYS];
};

enum peer_state { PEER_DOWN, PEER_CONNECTING, PEER_VERSIONS, PEER_READY, PEER_SHUT };
struct peer {
    struct list link; /* node.peers */
    struct client *client;
    struct node *node;
    int lane;
    enum peer_state state;
    struct env_stream stream;
    struct env_op op_connect, op_recv, op_send, op_shut;
    bool sending;
    bool ask_again; /* ApiVersions 0, when the send is done */
    bool discard;   /* its lane is closed */
    struct list queue, flights;
    struct buf out;
    struct slice out_slice;
    struct block *in; /* [in_at, in_n) is received and not yet handled */
    size_t in_at, in_n;
    struct env_task flush;
    struct env_timer
        timer; /* DOWN: try again; CONNECTING, VERSIONS: give up; READY: the peer is silent */
    uint64_t retry_at, backoff; /* ns */
};
struct flight {
    struct list link;
    struct call *call; /* NULL: nobody waits, or it is the connection's own ApiVersions */
    int32_t correlation;
    int16_t api, version;
    uint64_t give_up_at; /* UINT64_MAX: never */
};

struct topic_part {
    int32_t leader, leader_epoch;
};
struct topic {
    struct client_topic t; /* first: what users see */
    bool known;
    bool stale;       /* to be asked for */
    bool asked;       /* in the request under way */
    uint64_t asked_n; /* number of the last request that asked for it */
    uint64_t told_n;  /* number of the request whose answer told what is here */
    struct topic_part *parts;
    int32_t parts_cap;
};
struct coordinator {
    struct client *client;
    enum call_target type;
    char *name;
    size_t name_n;
    int32_t node; /* -1: unknown */
    bool asking;
    int refused; /* until retry_at: what calls to it end with */
    uint64_t retry_at, backoff;
    struct call call;
};
/* Told of every metadata answer. */
struct client_watch {
    struct list link;
    void (*changed)(struct client_watch *w);
};

struct client {
    struct env *env;
    char *id;
    uint64_t request_timeout, retry_backoff; /* ns */
    struct list nodes, watches;
    struct list waiting, finished; /* calls */
    struct list free_flights;
    struct env_task task; /* resolves waiting, delivers finished */
    struct env_timer timer;
    uint64_t wake_at; /* when timer is armed for, 0 not */
    struct arena arena;
    int32_t correlation, controller;
    int lanes;
    bool txn_v2, once, answered; /* answered: some node told its versions */
    bool closing;
    int n_open; /* connections not DOWN */
    void (*closed)(void *user);
    void *closed_user;
    /* topology.c */
    struct map topics, coordinators;
    struct list lookups; /* topic_lookup, by call.link */
    struct call meta_call;
    bool meta_asking, meta_create;
    bool meta_nodes;       /* a node or the controller is unknown: ask */
    uint64_t meta_nodes_n; /* number of the last request that did */
    uint64_t meta_n, meta_last, meta_retry_at, meta_backoff;
};

/* client.c */
void client_finish(struct client *c, struct call *call, int res);
void client_wake(struct client *c);
void client_wake_at(struct client *c, uint64_t at);
/* Doubles *backoff (from the client's first one on) and gives the jittered time to try again at. */
uint64_t client_backoff(struct client *c, uint64_t *backoff);
struct node *client_node(struct client *c, int32_t id);
struct node *client_node_at(struct client *c, const char *address);
/* A node of that id at that address, found or made; NULL: no memory. */
struct node *client_node_learn(struct client *c, int32_t id, struct slice host, int32_t port);
/* A call comes back from a connection that was lost. */
void client_return(struct client *c, struct list *calls);
struct flight *client_flight_new(struct client *c);
void client_flight_free(struct client *c, struct flight *f);
/* Ends the lane's connection to this node; a call on it ends, or goes elsewhere, as after a cut. */
void client_lane_cut(struct client *c, int32_t node, int lane);
void client_watch_add(struct client *c, struct client_watch *w);

/* peer.c */
struct peer *peer_get(struct client *c, struct node *n, int lane);
void peer_take(struct peer *k, struct call *call);
void peer_shut(struct peer *k);
void peer_free(struct peer *k);
/* The version for this API: the highest common one, or -ERR_UNSUPPORTED. */
int peer_version(const struct peer *k, int16_t api, int16_t version_max);

/* topology.c */
void topology_init(struct client *c);
void topology_deinit(struct client *c);
void topology_close(struct client *c);
/* Where the call is to go. NULL: not known yet (it has been asked for), or *res < 0: never. */
struct node *topology_resolve(struct client *c, const struct call *call, int *res);
void topology_pump(struct client *c);
/* Leader and its epoch as cached; false: unknown, and asked for. */
bool topology_leader(struct client *c, struct slice topic, int32_t partition, int32_t *leader,
                     int32_t *epoch);
#endif

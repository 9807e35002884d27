/* broker/server.h - the listening socket, the connections, and when replies may leave.
 *
 * A frame is received into a block, its header decoded, its handler called at once (what handlers
 * append in one turn shares a round). The connection takes the next frame when every request before
 * it has its reply composed; a composed reply waits in the connection for its lsn. At the end of a
 * turn, and when a round becomes durable, each connection sends what may leave in one gathering
 * send: replies in order, out of the requests' own buffers and of the blocks that a Fetch read.
 *
 * Bounds: a frame grows as its bytes arrive, never by what its length claims; requests, frame bytes
 * and unsent replies of a connection are limited by not taking further frames, so that TCP holds
 * the peer back; bytes of frames under way are limited over all connections. A peer that is silent
 * for connections.max.idle.ms is closed.
 *
 * A bad frame ends its connection: one line is logged, earlier requests are still answered. */
#ifndef ONCE_BROKER_SERVER_H
#define ONCE_BROKER_SERVER_H
#include "broker/broker.h"

enum {
    SERVER_API_KEYS = 128,
    SERVER_POOL = 64,           /* requests kept for reuse */
    CONN_IOV = 64,              /* pieces of one send */
    CONN_BLOCK = 64 << 10,      /* receive buffer */
    CONN_BLOCK_REST = 4 << 10,  /* less room than this: the next buffer */
    CONN_FRAME_EAGER = 2 << 20, /* a frame up to this gets its whole block at once */
    CONN_REQUESTS_MAX = 128,
    CONN_FRAME_BYTES_MAX = 32 << 20,      /* of requests not answered yet */
    CONN_REPLY_BYTES_MAX = 1 << 20,       /* composed and not sent: no further frame is taken */
    SERVER_RECEIVE_BYTES_MAX = 512 << 20, /* of large frames under way, all connections */
    SERVER_REPLY_BYTES_MAX = 256 << 20,   /* of replies not sent yet; Fetch keeps to it */
    CONN_DRAIN_MS = 10000, /* how long a connection that ends waits for its last replies */
    CONN_EOF_MS = 1000,    /* the same after the peer ended its half */
    CONN_STOP_MS = 300     /* and when the broker stops */
};

struct api_entry {
    int16_t min, max;
    api_handler handler; /* NULL: no such API */
};

/* A request with what belongs to it, pooled. */
struct slot {
    struct request rq;
    struct arena arena;
    struct list pool;
    size_t frame_bytes, reply_bytes;
    bool answered; /* reply_ was called */
    bool sending;  /* bytes of it are given to env: nothing may change them */
};

struct server {
    struct broker *broker;
    struct env *env;
    struct env_stream listener;
    struct env_op listener_shut;
    struct list conns;   /* all */
    struct list dirty;   /* to be looked at, at the end of this turn */
    struct list waiting; /* first reply composed, not durable */
    struct list pool;    /* idle slots */
    uint32_t n_pool, n_conns;
    struct env_task task;
    struct env_timer stop_timer;
    size_t receive_bytes;
    size_t reply_bytes; /* composed and not sent, or read for a Fetch that is not composed */
    int64_t frame_bytes_max, idle_ms;
    bool listening; /* the listener is env's */
    bool stopping, halted;
    void (*done)(void *user); /* of server_stop */
    void *user;
    char bound[128]; /* HOST:PORT */
    struct api_entry apis[SERVER_API_KEYS];
};

enum conn_state { CONN_OPEN, CONN_DRAINING, CONN_CLOSING };
struct conn {
    struct server *server;
    struct env_stream stream;
    struct env_op recv, send, shut;
    struct env_timer timer; /* idle, or the end of draining */
    struct list link, dirty, waiting;
    struct list requests; /* struct request, in order of arrival */
    enum conn_state state;
    uint32_t n_requests, n_open; /* n_open: without a composed reply */
    struct block *in;
    size_t in_pos, in_used, in_large; /* in_large: what in counts for in receive_bytes */
    size_t frame_bytes, reply_bytes;
    uint64_t active_at;
    bool receiving, sending, processing, eof;
    /* The send in flight: requests it completes, then pieces of the one behind. */
    uint32_t send_requests, send_pieces;
    uint32_t piece; /* next piece of the first request */
    struct slice iov[CONN_IOV];
    char peer[64];
    struct slice host; /* of peer, without the port */
};

void server_init(struct server *s, struct broker *b, struct env *env);
int server_listen(struct server *s, const char *addr, struct err *e);
/* All up to lsn is durable. */
void server_durable(struct server *s, uint64_t lsn);
/* No new connections and requests, parked ones are dropped; what is composed may still leave. */
void server_stop(struct server *s);
/* Sends what may leave, closes all connections; then done(user). After server_stop. */
void server_close(struct server *s, void (*done)(void *user), void *user);
void server_free(struct server *s);

/* A connection or the listener is gone: was it the last that server_close waits for? */
void server_gone(struct server *s);

/* ---- conn.c ---- */
void conn_accept(struct server *s);
/* To be looked at, at the end of the turn. */
void conn_touch(struct conn *c);
/* Takes frames and arms the receive, as far as it may. */
void conn_work(struct conn *c);
/* No more frames; closed when its replies are out. */
void conn_drain(struct conn *c, uint64_t ms);
void conn_close(struct conn *c);
/* Drops the requests that are not with env; those parked are told. */
void conn_cancel(struct conn *c);
void conn_free(struct conn *c);
/* One line: who, which API, why. Then drains. */
void conn_fail(struct conn *c, const struct request *rq, const char *why);

/* ---- reply.c ---- */
struct request *request_new(struct conn *c);
/* Off its connection, back to the pool. */
void request_free(struct request *rq);
void slot_free(struct slot *t);
/* Sends what may leave. */
void conn_flush(struct conn *c);
static inline struct slot *slot_of(struct request *rq)
{
    return (struct slot *)((char *)rq - offsetof(struct slot, rq));
}
#endif

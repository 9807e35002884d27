/* base/env_uv.h - the real world: one libuv loop, two threads for files, any number of nodes.
 *
 *     struct env_uv uv;
 *     env_uv_open(&uv);                        the loop and its threads
 *     env_uv_node_open(&uv, &node, "broker-1", 0);   node.env is what the modules get
 *     ... x_init(&node.env), x_open(...)
 *     env_uv_run(&uv);                         until env_uv_stop, or until a node halts
 *     env_uv_node_stop(&uv, &node);            nothing of it is in flight any more
 *     ... x_deinit()
 *     env_uv_node_close(&uv, &node);
 *     env_uv_close(&uv);
 *
 * Several nodes (an embedded broker, its worker, a client) share the loop and the process. SIGPIPE
 * is ignored from open on. Nothing here is shared between two struct env_uv. */
#ifndef ONCE_BASE_ENV_UV_H
#define ONCE_BASE_ENV_UV_H
#include "base/env.h"
#include <stdatomic.h>
#include <time.h>
#include <uv.h>

struct env_uv;
/* One thread that carries out file ops in the order given, many at a wake-up. */
struct env_uv_thread {
    struct env_uv *uv;
    uv_thread_t thread;
    uv_mutex_t mutex;
    uv_cond_t cond;
    uv_async_t async;                 /* done has something */
    struct env_op *in, **in_tail;     /* under mutex */
    struct env_op *done, **done_tail; /* under mutex */
    bool stop;                        /* under mutex */
    bool urgent;                      /* asks for a higher priority */
};
struct env_uv {
    uv_loop_t loop;
    uv_prepare_t prepare;
    uv_check_t check;
    uv_timer_t timer; /* bounds the wait for events; fires nothing itself */
    struct env_uv_thread journal, writer;
    struct list nodes;                  /* struct env_uv_node */
    struct env_op *ready, **ready_tail; /* done within a submit: call back this turn or the next */
    uint64_t now;                       /* of this turn */
    bool in_turn, stopped;
    char halted[512];    /* why, with the node's name; empty: none halted */
    const char *kill_at; /* test builds: ONCE_KILL_AT's point, and the how manyth time */
    uint64_t kill_n;
};
struct env_uv_lock;
struct env_uv_node {
    struct env env;
    struct env_uv *uv;
    struct list link;
    struct list streams, files; /* open ones */
    struct env_uv_lock *locks;
    uint64_t n_ops;     /* in flight, shuts included */
    uint64_t n_handles; /* streams of libuv not yet closed */
    timer_t watch_timer;
    bool has_watch_timer;
    void (*volatile watch_fire)(void *u);
    void *volatile watch_user;
};

/* 0 or a negative ERR_. On failure nothing is left open. */
int env_uv_open(struct env_uv *uv);
/* Nodes first. */
void env_uv_close(struct env_uv *uv);
/* Turns the loop until env_uv_stop (0) or until a node halts (-ERR_CRASHED, see env_uv_halted). */
int env_uv_run(struct env_uv *uv);
/* One turn; with wait it may wait for an event first. 0 or -ERR_CRASHED. */
int env_uv_turn(struct env_uv *uv, bool wait);
/* Ends env_uv_run at the end of this turn, or at once when it is called next. From the
 * loop only. */
void env_uv_stop(struct env_uv *uv);
/* "broker-1: why", or NULL. */
const char *env_uv_halted(const struct env_uv *uv);
/* For callbacks of the caller's own handles on uv->loop (signals): call it first, so that the turn
 * has begun and `now` is set when modules are called. */
void env_uv_enter(struct env_uv *uv);

/* name is kept, not copied. seed 0: drawn from the system. */
int env_uv_node_open(struct env_uv *uv, struct env_uv_node *node, const char *name, uint64_t seed);
/* From outside the loop: no callback comes from here on; returns when nothing of the node's memory
 * is in use any more: streams and files closed, locks freed. Idempotent. */
void env_uv_node_stop(struct env_uv *uv, struct env_uv_node *node);
/* Stops it if need be, and takes it off the loop. */
void env_uv_node_close(struct env_uv *uv, struct env_uv_node *node);
#endif

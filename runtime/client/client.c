/* runtime/client/client.c - opens and closes the client; the life of a call.
 *
 * Happy path: client_call puts the call on `waiting`; at the end of the turn its target is
 * resolved (topology.c), its connection takes it, and done is called with the answer.
 *
 * What is not known yet keeps the call waiting; a lost connection brings it back here; its timer
 * ends it. A call that fails is put on `finished` and told at the end of the turn, never from
 * within the call that caused it. */
#include "runtime/client/client_internal.h"
#include <stdio.h>

/* ---- small parts ---- */

void client_wake(struct client *c)
{
    env_task_add(c->env, &c->task);
}

void client_wake_at(struct client *c, uint64_t at)
{
    if (!c->timer.slot || at < c->timer.at)
        env_timer_set(c->env, &c->timer, at);
}

static void woken(struct env_timer *t)
{
    client_wake(list_entry(t, struct client, timer));
}

uint64_t client_backoff(struct client *c, uint64_t *backoff)
{
    uint64_t d = *backoff ? *backoff * 2 : c->retry_backoff;

    if (d > ENV_MS(BACKOFF_MAX_MS))
        d = ENV_MS(BACKOFF_MAX_MS);
    *backoff = d;
    return c->env->now + d - d / 5 + env_random(c->env, d * 2 / 5 + 1);
}

struct flight *client_flight_new(struct client *c)
{
    struct list *l = list_first(&c->free_flights);

    if (!l)
        return calloc(1, sizeof(struct flight));
    list_remove(l);
    return list_entry(l, struct flight, link);
}

void client_flight_free(struct client *c, struct flight *f)
{
    list_push(&c->free_flights, &f->link);
}

void client_watch_add(struct client *c, struct client_watch *w)
{
    list_push(&c->watches, &w->link);
}

int client_lane(struct client *c)
{
    return ++c->lanes;
}

void client_lane_close(struct client *c, int lane)
{
    LIST_EACH (l, &c->nodes) {
        struct node *n = list_entry(l, struct node, link);
        LIST_EACH_SAFE (kl, tmp, &n->peers) {
            struct peer *k = list_entry(kl, struct peer, link);
            if (k->lane == lane && lane != 0 && !k->discard)
                peer_shut(k);
        }
    }
}

void client_lane_cut(struct client *c, int32_t node, int lane)
{
    struct node *n = client_node(c, node);

    if (!n)
        return;
    LIST_EACH_SAFE (l, tmp, &n->peers) {
        struct peer *k = list_entry(l, struct peer, link);
        if (k->lane == lane && !k->discard)
            peer_shut(k);
    }
}

struct env *client_env(struct client *c)
{
    return c->env;
}
bool client_txn_v2(const struct client *c)
{
    return c->txn_v2;
}
bool client_is_once(const struct client *c)
{
    return c->once;
}

/* ---- nodes ---- */

struct node *client_node(struct client *c, int32_t id)
{
    LIST_EACH (l, &c->nodes) {
        struct node *n = list_entry(l, struct node, link);
        if (n->id == id && id >= 0)
            return n;
    }
    return NULL;
}

struct node *client_node_at(struct client *c, const char *address)
{
    LIST_EACH (l, &c->nodes) {
        struct node *n = list_entry(l, struct node, link);
        if (strcmp(n->address, address) == 0)
            return n;
    }
    return NULL;
}

static struct node *node_new(struct client *c, int32_t id, const char *address)
{
    struct node *n = calloc(1, sizeof *n);

    if (!n)
        return NULL;
    n->id = id;
    n->address = strdup(address);
    if (!n->address) {
        free(n);
        return NULL;
    }
    n->present = true;
    list_init(&n->peers);
    list_push(&c->nodes, &n->link);
    return n;
}

static void node_free(struct node *n)
{
    LIST_EACH_SAFE (l, tmp, &n->peers)
        peer_free(list_entry(l, struct peer, link));
    list_remove(&n->link);
    free(n->address);
    free(n);
}

/* The connections to where the node was are of no use any more; their calls come back. */
static void node_moved(struct node *n, char *address)
{
    free(n->address);
    n->address = address;
    n->known = false;
    LIST_EACH_SAFE (l, tmp, &n->peers)
        peer_shut(list_entry(l, struct peer, link));
}

struct node *client_node_learn(struct client *c, int32_t id, struct slice host, int32_t port)
{
    char address[512];
    struct node *n = client_node(c, id), *at;
    bool v6 = host.n && memchr(host.p, ':', host.n);

    if (id < 0 || host.n == 0 || host.n > 400 || port <= 0 || port > 65535)
        return n;
    snprintf(address, sizeof address, v6 ? "[%.*s]:%d" : "%.*s:%d", SLICE_FMT(host), (int)port);
    if (n && strcmp(n->address, address) == 0)
        return n;
    if (n) {
        char *copy = strdup(address);
        if (copy)
            node_moved(n, copy);
        return n;
    }
    at = client_node_at(c, address);
    if (at && at->id < 0) {
        at->id = id;
        return at;
    }
    return node_new(c, id, address);
}

/* ---- the life of a call ---- */

void client_finish(struct client *c, struct call *call, int res)
{
    if (call->flight) {
        ((struct flight *)call->flight)->call = NULL;
        call->flight = NULL;
    }
    list_remove(&call->link);
    env_timer_stop(c->env, &call->timer);
    call->state = CALL_FINISHED;
    call->res = res;
    list_push(&c->finished, &call->link);
    client_wake(c);
}

static void timed_out(struct env_timer *t)
{
    struct call *call = list_entry(t, struct call, timer);
    int res = call->attempt ? -ERR_TIMEOUT : -ERR_REFUSED;

    if (call->to == CALL_LEADER && !call->attempt) {
        const struct client_topic *topic = client_topic(call->client, call->name);
        if (topic && call->partition >= topic->n_partitions)
            res = -ERR_NOT_FOUND;
    }
    client_finish(call->client, call, res);
}

void client_call(struct client *c, struct call *call)
{
    CHECK(call->done != NULL);
    call->client = c;
    call->link = (struct list){NULL, NULL};
    call->timer = (struct env_timer){.fire = timed_out};
    call->flight = NULL;
    call->block = NULL;
    call->attempt = 0;
    call->state = CALL_WAITING;
    list_push(&c->waiting, &call->link);
    if (c->closing) {
        client_finish(c, call, -ERR_CANCELED);
        return;
    }
    if (call->timeout_ms != UINT32_MAX)
        env_timer_set(c->env, &call->timer,
                      c->env->now +
                          (call->timeout_ms ? ENV_MS(call->timeout_ms) : c->request_timeout));
    client_wake(c);
}

void client_cancel(struct client *c, struct call *call)
{
    if (call->state == CALL_IDLE)
        return;
    if (call->flight)
        ((struct flight *)call->flight)->call = NULL;
    call->flight = NULL;
    list_remove(&call->link);
    env_timer_stop(c->env, &call->timer);
    call->state = CALL_IDLE;
}

void client_return(struct client *c, struct list *calls)
{
    struct list *l;

    while ((l = calls->prev) != calls) {
        struct call *call = list_entry(l, struct call, link);
        list_remove(l);
        list_push_front(&c->waiting, l);
        call->state = CALL_WAITING;
        if (call->to == CALL_LEADER || call->to == CALL_GROUP || call->to == CALL_TXN)
            client_stale(c, call->to, call->name);
    }
    client_wake(c);
}

static void deliver(struct client *c)
{
    struct list *l;

    while ((l = list_first(&c->finished))) {
        struct call *call = list_entry(l, struct call, link);
        struct wire_in none = {NULL, 0, &c->arena};
        list_remove(l);
        call->state = CALL_IDLE;
        arena_reset(&c->arena);
        call->done(call, call->res, &none, 0);
        if (c->env->dead)
            return;
    }
}

static void resolve(struct client *c)
{
    LIST_EACH_SAFE (l, tmp, &c->waiting) {
        struct call *call = list_entry(l, struct call, link);
        int res = 0;
        struct node *n = topology_resolve(c, call, &res);
        struct peer *k = n ? peer_get(c, n, call->lane) : NULL;
        if (k) {
            list_remove(l);
            peer_take(k, call);
        } else if (res < 0 || n) {
            client_finish(c, call, n ? -ERR_NOMEM : res);
        }
    }
}

static void run(struct env_task *t)
{
    struct client *c = list_entry(t, struct client, task);

    if (!c->closing) {
        resolve(c);
        topology_pump(c);
        resolve(c); /* what the pump itself asked for */
    } else {
        topology_close(c);
    }
    deliver(c);
    if (c->closing && c->closed && c->n_open == 0 && list_empty(&c->finished)) {
        void (*closed)(void *) = c->closed;
        c->closed = NULL;
        closed(c->closed_user);
    }
}

/* ---- open and close ---- */

static int parse_bootstrap(struct client *c, const char *list, struct err *e)
{
    const char *p = list ? list : "";

    while (*p) {
        char address[512];
        size_t n = strcspn(p, ",");
        int64_t port;
        const char *colon = n < sizeof address ? memrchr(p, ':', n) : NULL;
        if (!colon || colon == p ||
            parse_i64(slice_of(colon + 1, n - (size_t)(colon + 1 - p)), &port) || port <= 0 ||
            port > 65535)
            return err_set(e, ERR_INVALID, "broker address \"%.*s\": expected HOST:PORT", (int)n,
                           p);
        memcpy(address, p, n);
        address[n] = 0;
        if (!client_node_at(c, address) && !node_new(c, -1, address))
            return -ERR_NOMEM;
        p += n;
        if (*p == ',')
            p++;
    }
    if (list_empty(&c->nodes))
        return err_set(e, ERR_INVALID, "no broker address is given: expected HOST:PORT,...");
    return 0;
}

int client_open(struct client **out, struct env *env, const struct client_options *o, struct err *e)
{
    struct client *c = calloc(1, sizeof *c);
    int rc;

    if (!c)
        return -ERR_NOMEM;
    c->env = env;
    c->id = strdup(o->client_id ? o->client_id : "once");
    c->request_timeout = ENV_MS(o->request_timeout_ms ? o->request_timeout_ms : 30000);
    c->retry_backoff = ENV_MS(o->retry_backoff_ms ? o->retry_backoff_ms : 20);
    c->task.run = run;
    c->timer.fire = woken;
    list_init(&c->nodes);
    list_init(&c->watches);
    list_init(&c->waiting);
    list_init(&c->finished);
    list_init(&c->free_flights);
    arena_init(&c->arena, 64 << 20);
    topology_init(c);
    rc = c->id ? parse_bootstrap(c, o->bootstrap, e) : -ERR_NOMEM;
    if (rc) {
        client_free(c);
        return rc;
    }
    *out = c;
    return 0;
}

void client_close(struct client *c, void (*done)(void *user), void *user)
{
    struct list *l;

    c->closing = true;
    c->closed = done;
    c->closed_user = user;
    env_timer_stop(c->env, &c->timer);
    while ((l = list_first(&c->waiting)))
        client_finish(c, list_entry(l, struct call, link), -ERR_CANCELED);
    LIST_EACH (nl, &c->nodes) {
        struct node *n = list_entry(nl, struct node, link);
        LIST_EACH_SAFE (kl, tmp, &n->peers) {
            struct peer *k = list_entry(kl, struct peer, link);
            peer_shut(k);
        }
    }
    while ((l = list_first(&c->waiting))) /* what the connections gave back */
        client_finish(c, list_entry(l, struct call, link), -ERR_CANCELED);
    client_wake(c);
}

void client_free(struct client *c)
{
    struct list *l;

    if (!c)
        return;
    /* Calls are their owners'; their links and timers must not point here. */
    while ((l = list_first(&c->waiting)) || (l = list_first(&c->finished))) {
        struct call *call = list_entry(l, struct call, link);
        list_remove(l);
        env_timer_stop(c->env, &call->timer);
        call->state = CALL_IDLE;
    }
    LIST_EACH_SAFE (nl, tmp, &c->nodes)
        node_free(list_entry(nl, struct node, link));
    topology_deinit(c);
    while ((l = list_first(&c->free_flights))) {
        list_remove(l);
        free(list_entry(l, struct flight, link));
    }
    env_timer_stop(c->env, &c->timer);
    env_task_stop(&c->task);
    arena_deinit(&c->arena);
    free(c->id);
    free(c);
}

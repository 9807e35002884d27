/* base/sim_net.c - the simulated network: TCP as its users see it.
 *
 * A connection belongs to the world, not to its ends' owners: each end has a node (until it is shut
 * or its process is gone), the ops at hand, and the pipe of bytes towards the other end. A send
 * copies into the pipe as far as the window allows and schedules arrivals, in one piece or several;
 * a recv takes what has arrived. Bytes of a pipe never pass each other, whatever their arrivals do.
 *
 * An end that is gone is heard of as TCP would tell: a close after its last byte, or a reset when
 * it left bytes unread; nothing at all when the power went, until the host is up again and a byte
 * meets nobody. A partition makes arrivals wait. A half-open connection swallows what is sent. */
#include "base/sim_impl.h"
#include <stdio.h>
#include <stdlib.h>

enum { RETRY_MS = 50, CONNECT_TIMEOUT_S = 3 };

struct sim_pipe {
    unsigned char *p; /* a ring: n bytes from head on */
    size_t cap, head, n;
    size_t arrived;   /* of n */
    uint64_t last_at; /* the last scheduled arrival */
    bool fin;         /* the writer's end was heard of */
    bool dead;        /* what has not arrived never will */
};
struct sim_conn;
struct sim_end {
    struct list link; /* node->ends */
    struct sim_conn *conn;
    struct sim_node *node; /* NULL: shut, or gone with its process */
    struct sim_host *host; /* it was on; for the peer's address and the power */
    struct env_op *recv, *send, *connect;
    struct span to;
    const struct slice *v; /* of send, from the first byte not yet in the pipe */
    int n;
    size_t off;
    int64_t sent;
    int broken; /* the error that recv (behind what arrived) and send end in */
    bool pump_due;
    struct sim_pipe out;
    char address[80];
};
struct sim_conn {
    struct list link;  /* sim->conns */
    struct list queue; /* listener->queue, until it is accepted */
    struct sim *sim;
    uint32_t refs; /* ends that are there, and events */
    uint32_t ids[2];
    bool open, half_open, doomed;
    int port;
    struct sim_host *to;
    struct sim_end end[2]; /* who connected, who accepted */
};
struct sim_listener {
    struct list link; /* node->listeners */
    struct env_stream *l;
    void (*ready)(struct env_stream *l);
    struct list queue; /* conns to accept */
    uint32_t n_new;    /* connections that ready was not called for yet */
    int port;
};

/* ---- links ---- */

static struct sim_link *link_of(struct sim *s, uint32_t a, uint32_t b)
{
    return &s->links[a * SIM_NODES_MAX + b];
}

static uint64_t delay(struct sim *s, struct sim_conn *c, int from)
{
    struct sim_link *k = link_of(s, c->ids[from], c->ids[!from]);
    uint64_t d = sim_draw(s->net_rng, k->net[1] ? k->net : s->timing.net);
    return sim_chance(s->net_rng, s->timing.slow_net) ? d * s->timing.slow_factor : d;
}

void sim_net_partition(struct sim *s, struct sim_node *a, struct sim_node *b, bool on)
{
    link_of(s, a->id, b->id)->partitioned = on;
    link_of(s, b->id, a->id)->partitioned = on;
}

void sim_net_refuse(struct sim *s, struct sim_node *a, struct sim_node *b, bool on)
{
    link_of(s, a->id, b->id)->refuse = on;
}

void sim_net_delay(struct sim *s, struct sim_node *a, struct sim_node *b, uint64_t least,
                   uint64_t most)
{
    link_of(s, a->id, b->id)->net[0] = least;
    link_of(s, a->id, b->id)->net[1] = most;
}

void sim_net_heal(struct sim *s)
{
    memset(s->links, 0, (size_t)SIM_NODES_MAX * SIM_NODES_MAX * sizeof *s->links);
}

/* ---- connections ---- */

static void conn_free(struct sim_conn *c)
{
    list_remove(&c->link);
    list_remove(&c->queue);
    free(c->end[0].out.p);
    free(c->end[1].out.p);
    free(c);
}

static void unref(struct sim_conn *c)
{
    CHECK(c->refs > 0);
    if (--c->refs == 0)
        conn_free(c);
}

static void push(struct sim_conn *c, uint64_t at, enum sim_event_kind kind, int side, uint64_t n)
{
    c->refs++;
    sim_push(c->sim, at,
             (struct sim_event){.p = c,
                                .kind = (uint16_t)kind,
                                .side = (uint16_t)side,
                                .node = c->ids[side],
                                .n = (uint32_t)n});
}

static void end_attach(struct sim_conn *c, int side, struct sim_node *n)
{
    struct sim_end *e = &c->end[side];
    e->conn = c;
    e->node = n;
    e->host = n->host;
    c->ids[side] = n->id;
    list_push(&n->ends, &e->link);
    c->refs++;
}

static void pipe_put(struct sim_pipe *p, const unsigned char *from, size_t n)
{
    size_t tail, first;

    if (p->n + n > p->cap) {
        size_t cap = p->cap ? p->cap : 1024;
        unsigned char *more;
        while (cap < p->n + n)
            cap *= 2;
        more = malloc(cap);
        CHECK(more);
        first = p->cap - p->head < p->n ? p->cap - p->head : p->n;
        if (p->n) {
            memcpy(more, p->p + p->head, first);
            memcpy(more + first, p->p, p->n - first);
        }
        free(p->p);
        p->p = more;
        p->cap = cap;
        p->head = 0;
    }
    tail = (p->head + p->n) & (p->cap - 1);
    first = p->cap - tail < n ? p->cap - tail : n;
    memcpy(p->p + tail, from, first);
    memcpy(p->p, from + first, n - first);
    p->n += n;
}

static void pipe_take(struct sim_pipe *p, unsigned char *to, size_t n)
{
    size_t first = p->cap - p->head < n ? p->cap - p->head : n;

    memcpy(to, p->p + p->head, first);
    memcpy(to + first, p->p, n - first);
    p->head = (p->head + n) & (p->cap - 1);
    p->n -= n;
    p->arrived -= n;
}

/* Bytes that arrive while nobody or nothing takes them: those under way at the ring's end. */
static void pipe_lose(struct sim_pipe *p, size_t n)
{
    CHECK(p->n - p->arrived >= n);
    p->n -= n;
}

static void send_done(struct sim_end *e, int64_t res)
{
    struct env_op *op = e->send;

    e->send = NULL;
    sim_ready(e->node, op, res);
}

static void advance(struct sim_end *e, size_t by)
{
    e->off += by;
    while (e->n > 0 && e->off >= e->v->n) {
        e->off -= e->v->n;
        e->v++;
        e->n--;
    }
}

/* Arrivals for the m bytes just put into side's pipe. */
static void schedule(struct sim_conn *c, int side, uint64_t m)
{
    struct sim *s = c->sim;
    struct sim_pipe *p = &c->end[side].out;
    int pieces = sim_chance(s->net_rng, s->timing.split) ? 2 + (int)rng_below(s->net_rng, 3) : 1;

    while (m > 0) {
        uint64_t part = pieces-- > 1 ? 1 + rng_below(s->net_rng, m) : m;
        uint64_t at = s->now + delay(s, c, side);
        p->last_at = at > p->last_at ? at : p->last_at;
        push(c, p->last_at, EV_ARRIVE, !side, part);
        m -= part;
    }
}

/* Moves the send at hand on, as far as the window allows. */
static void pump(struct sim_conn *c, int side, uint64_t window)
{
    struct sim_end *e = &c->end[side];
    uint64_t moved = 0;

    while (e->n > 0 && e->out.n < window) {
        size_t m = e->v->n - e->off, room = window - e->out.n;
        m = m < room ? m : room;
        pipe_put(&e->out, e->v->p + e->off, m);
        advance(e, m);
        moved += m;
    }
    e->sent += (int64_t)moved;
    if (moved)
        schedule(c, side, moved);
    if (e->n == 0)
        send_done(e, e->sent);
}

/* Ends the recv at hand if there is something to tell. */
static void try_recv(struct sim_conn *c, int side)
{
    struct sim_end *e = &c->end[side], *peer = &c->end[!side];
    struct sim_pipe *p = &peer->out;
    struct env_op *op = e->recv;
    size_t n = p->arrived < e->to.n ? p->arrived : e->to.n;
    int64_t res;

    if (!op)
        return;
    if (n > 0) {
        if (n > 1 && rng_below(c->sim->net_rng, 16) == 0)
            n = 1 + rng_below(c->sim->net_rng, n);
        pipe_take(p, e->to.p, n);
        if (peer->send && !peer->pump_due) {
            peer->pump_due = true;
            push(c, c->sim->now + delay(c->sim, c, side), EV_PUMP, !side, 0);
        }
        res = (int64_t)n;
    } else if (e->broken) {
        res = e->broken;
    } else if (p->fin && p->n == 0) {
        res = 0;
    } else {
        return;
    }
    e->recv = NULL;
    sim_ready(e->node, op, res);
}

/* side hears that the connection is no more. */
static void end_break(struct sim_conn *c, int side, int err)
{
    struct sim_end *e = &c->end[side];
    struct sim_pipe *in = &c->end[!side].out;
    struct env_op *op = e->connect;

    if (!e->node || e->broken)
        return;
    e->broken = -err;
    in->n = in->arrived;
    in->dead = true;
    e->connect = NULL;
    if (op)
        sim_ready(e->node, op, -err);
    if (e->send)
        send_done(e, -err);
    try_recv(c, side);
}

/* side is no more: shut, or its process ended. silent: the power went. */
static void end_gone(struct sim_conn *c, int side, bool silent)
{
    struct sim *s = c->sim;
    struct sim_end *e = &c->end[side];
    struct sim_pipe *in = &c->end[!side].out;
    uint64_t at = s->now + delay(s, c, side);

    list_remove(&e->link);
    list_remove(&c->queue);
    e->node = NULL;
    e->recv = e->send = e->connect = NULL;
    if (silent) {
        if (rng_below(s->net_rng, 2)) {
            e->out.n = e->out.arrived;
            e->out.dead = true;
        }
    } else if (c->open && in->n > 0 && rng_below(s->net_rng, 2)) {
        push(c, at, EV_RESET, !side, ERR_RESET);
    } else if (c->open) {
        push(c, at > e->out.last_at ? at : e->out.last_at, EV_FIN, !side, 0);
    }
    unref(c);
}

/* ---- events ---- */

static struct sim_listener *find_listener(struct sim_conn *c)
{
    struct sim *s = c->sim;

    for (uint32_t i = 0; i < s->n_nodes; i++) {
        if (s->nodes[i]->host != c->to)
            continue;
        LIST_EACH (l, &s->nodes[i]->listeners)
            if (list_entry(l, struct sim_listener, link)->port == c->port)
                return list_entry(l, struct sim_listener, link);
    }
    return NULL;
}

static void syn_event(struct sim *s, struct sim_conn *c)
{
    struct sim_listener *l = find_listener(c);
    struct sim_node *n = l ? sim_node(l->l->env) : NULL;

    if (n)
        c->ids[1] = n->id;
    if (!c->end[0].node)
        return;
    if (link_of(s, c->ids[0], c->ids[1])->partitioned) {
        push(c, s->now + ENV_MS(RETRY_MS), EV_SYN, 1, 0);
        return;
    }
    if (!c->to->powered) {
        push(c, s->now + ENV_S(1 + rng_below(s->net_rng, CONNECT_TIMEOUT_S)), EV_RESET, 0,
             ERR_TIMEOUT);
        return;
    }
    if (!l || link_of(s, c->ids[0], c->ids[1])->refuse) {
        push(c, s->now + delay(s, c, 1), EV_RESET, 0, ERR_REFUSED);
        return;
    }
    c->open = true;
    end_attach(c, 1, n);
    snprintf(c->end[1].address, sizeof c->end[1].address, "%s:%d", n->name, l->port);
    list_push(&l->queue, &c->queue);
    l->n_new++;
    sim_turn_soon(n);
    push(c, s->now + delay(s, c, 1), EV_SYN_ACK, 0, 0);
}

static void arrive_event(struct sim *s, struct sim_conn *c, int side, size_t n)
{
    struct sim_end *e = &c->end[side];
    struct sim_pipe *p = &c->end[!side].out;

    if (p->dead)
        return;
    if (c->half_open) {
        pipe_lose(p, n);
    } else if (!e->node) {
        pipe_lose(p, n);
        if (e->host->powered)
            push(c, s->now + delay(s, c, side), EV_RESET, !side, ERR_RESET);
    } else {
        p->arrived += n;
        try_recv(c, side);
        return;
    }
    if (c->end[!side].send)
        pump(c, !side, s->timing.window);
}

static bool waits_for_heal(struct sim *s, struct sim_event *ev)
{
    struct sim_conn *c = ev->p;

    if (ev->kind == EV_SYN || ev->kind == EV_PUMP ||
        !link_of(s, c->ids[!ev->side], c->ids[ev->side])->partitioned)
        return false;
    push(c, s->now + ENV_MS(RETRY_MS), ev->kind, ev->side, ev->n);
    return true;
}

void sim_net_event(struct sim *s, struct sim_event *ev)
{
    struct sim_conn *c = ev->p;
    int side = ev->side;
    struct sim_end *e = &c->end[side];
    struct env_op *op;

    if (waits_for_heal(s, ev)) {
        unref(c);
        return;
    }
    switch (ev->kind) {
    case EV_SYN: syn_event(s, c); break;
    case EV_SYN_ACK:
        op = e->connect;
        e->connect = NULL;
        if (op)
            sim_ready(e->node, op, 0);
        break;
    case EV_ARRIVE: arrive_event(s, c, side, ev->n); break;
    case EV_FIN:
        if (!c->half_open) {
            c->end[!side].out.fin = true;
            try_recv(c, side);
        }
        break;
    case EV_RESET:
        if (!c->half_open || e->connect)
            end_break(c, side, (int)ev->n);
        break;
    case EV_PUMP:
        e->pump_due = false;
        if (e->send)
            pump(c, side, s->timing.window);
        break;
    default: CHECK(!"an event of the network");
    }
    unref(c);
}

void sim_net_turn(struct sim_node *n)
{
    for (;;) {
        struct sim_listener *due = NULL;
        if (n->env.dead)
            return;
        LIST_EACH (l, &n->listeners)
            if (!due && list_entry(l, struct sim_listener, link)->n_new)
                due = list_entry(l, struct sim_listener, link);
        if (!due)
            return;
        due->n_new--;
        due->ready(due->l);
    }
}

/* ---- faults on a connection ---- */

static struct sim_conn *pick(struct sim *s, struct sim_node *a, struct sim_node *b)
{
    struct sim_conn *chosen = NULL;
    uint64_t n = 0;

    LIST_EACH (l, &s->conns) {
        struct sim_conn *c = list_entry(l, struct sim_conn, link);
        struct sim_node *x = c->end[0].node, *y = c->end[1].node;
        if (!c->open || c->doomed || c->half_open || !x || !y)
            continue;
        if ((a && x != a && y != a) || (b && x != b && y != b))
            continue;
        if (rng_below(s->net_rng, ++n) == 0)
            chosen = c;
    }
    return chosen;
}

bool sim_net_cut(struct sim *s, struct sim_node *a, struct sim_node *b)
{
    struct sim_conn *c = pick(s, a, b);

    if (!c)
        return false;
    c->doomed = true;
    for (int side = 0; side < 2; side++)
        push(c, s->now + rng_below(s->net_rng, delay(s, c, !side) + 1), EV_RESET, side, ERR_RESET);
    return true;
}

bool sim_net_half_open(struct sim *s, struct sim_node *a, struct sim_node *b)
{
    struct sim_conn *c = pick(s, a, b);

    if (c)
        c->half_open = true;
    return c != NULL;
}

/* ---- the door ---- */

static int split_address(const char *addr, char host[64], int *port)
{
    const char *colon = strrchr(addr, ':');
    long p;
    char *end;

    if (!colon || colon - addr >= 64 || colon[1] < '0' || colon[1] > '9')
        return -ERR_INVALID;
    p = strtol(colon + 1, &end, 10);
    if (*end || p > 65535)
        return -ERR_INVALID;
    memcpy(host, addr, (size_t)(colon - addr));
    host[colon - addr] = 0;
    *port = (int)p;
    return 0;
}

static int next_port(struct sim *s)
{
    s->next_port = s->next_port >= 60000 ? 20000 : (uint16_t)(s->next_port + 1);
    return s->next_port;
}

int sim_net_listen(struct env *e, struct env_stream *l, const char *addr,
                   void (*ready)(struct env_stream *l))
{
    struct sim_node *n = sim_node(e);
    struct sim *s = n->sim;
    struct sim_listener *x;
    char host[64];
    int port, r;

    if (e->dead)
        return -ERR_CRASHED;
    r = split_address(addr, host, &port);
    if (r < 0 || sim_host_find(s, n, host) != n->host)
        return -ERR_INVALID;
    for (uint32_t i = 0; port && i < s->n_nodes; i++) {
        if (s->nodes[i]->host != n->host)
            continue;
        LIST_EACH (k, &s->nodes[i]->listeners)
            if (list_entry(k, struct sim_listener, link)->port == port)
                return -ERR_ADDR_IN_USE;
    }
    x = calloc(1, sizeof *x);
    CHECK(x);
    x->l = l;
    x->ready = ready;
    x->port = port ? port : next_port(s);
    list_init(&x->queue);
    list_push(&n->listeners, &x->link);
    l->env = e;
    *sim_stream(l) = (struct sim_stream){.listener = x};
    return 0;
}

int sim_net_accept(struct env_stream *l, struct env_stream *s)
{
    struct list *q;

    if (l->env->dead)
        return -ERR_CRASHED;
    q = list_first(&sim_stream(l)->listener->queue);
    if (!q)
        return -ERR_AGAIN;
    list_remove(q);
    s->env = l->env;
    *sim_stream(s) = (struct sim_stream){.conn = list_entry(q, struct sim_conn, queue), .side = 1};
    return 0;
}

int sim_net_address(struct env_stream *s, int peer, char *out, size_t cap)
{
    struct sim_stream *i = sim_stream(s);
    int n;

    if (s->env->dead)
        return -ERR_CRASHED;
    if (i->listener)
        n = snprintf(out, cap, "%s:%d", sim_node(s->env)->name, i->listener->port);
    else
        n = snprintf(out, cap, "%s", i->conn->end[peer ? !i->side : i->side].address);
    return n < (int)cap ? 0 : -ERR_TOO_BIG;
}

void sim_net_connect(struct env_op *op, struct env_stream *s, const char *addr)
{
    struct sim_node *n;
    struct sim_conn *c;
    char host[64];
    int r;

    if (!sim_op_begin(op, s->env))
        return;
    n = sim_node(s->env);
    c = calloc(1, sizeof *c);
    CHECK(c);
    c->sim = n->sim;
    list_push(&n->sim->conns, &c->link);
    end_attach(c, 0, n);
    snprintf(c->end[0].address, sizeof c->end[0].address, "%s:%d", n->name, next_port(n->sim));
    *sim_stream(s) = (struct sim_stream){.conn = c, .side = 0};
    r = split_address(addr, host, &c->port);
    c->to = r < 0 ? NULL : sim_host_find(n->sim, n, host);
    if (!c->to) {
        c->end[0].broken = r < 0 ? r : -ERR_RESOLVE;
        sim_ready(n, op, c->end[0].broken);
        return;
    }
    c->end[1].host = c->to;
    for (uint32_t i = n->sim->n_nodes; i-- > 0;)
        if (n->sim->nodes[i]->host == c->to)
            c->ids[1] = i;
    c->end[0].connect = op;
    push(c, n->sim->now + delay(n->sim, c, 0), EV_SYN, 1, 0);
}

void sim_net_recv(struct env_op *op, struct env_stream *s, struct span to)
{
    struct sim_stream *i = sim_stream(s);
    struct sim_end *e;

    if (!sim_op_begin(op, s->env))
        return;
    CHECK(i->conn);
    e = &i->conn->end[i->side];
    CHECK(!e->recv);
    CHECK(to.n > 0);
    e->recv = op;
    e->to = to;
    try_recv(i->conn, i->side);
}

static enum sim_send ask_hook(struct sim_conn *c, int side, const struct slice *v, int n)
{
    struct sim_hooks *h = &c->sim->hooks;
    uint64_t total = 0;

    if (!h->on_send || !c->end[!side].node || c->doomed)
        return SIM_PASS;
    for (int k = 0; k < n; k++)
        total += v[k].n;
    return h->on_send(h->u, c->end[side].node, c->end[!side].node, n ? v[0] : SLICE_NULL, total);
}

void sim_net_send(struct env_op *op, struct env_stream *s, const struct slice *v, int n)
{
    struct sim_stream *i = sim_stream(s);
    struct sim_conn *c = i->conn;
    struct sim_end *e;
    enum sim_send fate;

    if (!sim_op_begin(op, s->env))
        return;
    CHECK(c);
    fate = ask_hook(c, i->side, v, n);
    e = &c->end[i->side];
    CHECK(!e->send);
    if (!e->node) /* the hook struck */
        return;
    e->send = op;
    if (e->broken) {
        send_done(e, e->broken);
        return;
    }
    e->v = v;
    e->n = n;
    e->off = 0;
    e->sent = 0;
    advance(e, 0);
    if (fate == SIM_CUT_BEFORE) {
        c->doomed = true;
        end_break(c, i->side, ERR_RESET);
        push(c, c->sim->now + delay(c->sim, c, i->side), EV_RESET, !i->side, ERR_RESET);
        return;
    }
    pump(c, i->side, fate == SIM_CUT_AFTER ? SIZE_MAX : c->sim->timing.window);
    if (fate == SIM_CUT_AFTER) {
        c->doomed = true;
        push(c, e->out.last_at, EV_RESET, i->side, ERR_RESET);
        push(c, e->out.last_at + rng_below(c->sim->net_rng, ENV_MS(2)), EV_RESET, !i->side,
             ERR_RESET);
    }
}

static void listener_close(struct sim_listener *x)
{
    struct list *q;

    list_remove(&x->link);
    while ((q = list_first(&x->queue))) {
        struct sim_conn *c = list_entry(q, struct sim_conn, queue);
        push(c, c->sim->now + delay(c->sim, c, 1), EV_RESET, 0, ERR_RESET);
        end_gone(c, 1, true);
    }
    free(x);
}

void sim_net_shut(struct env_op *op, struct env_stream *s)
{
    struct sim_stream *i = sim_stream(s);
    struct sim_node *n;

    if (!sim_op_begin(op, s->env))
        return;
    n = sim_node(s->env);
    if (i->listener) {
        listener_close(i->listener);
    } else {
        struct sim_end *e = &i->conn->end[i->side];
        struct env_op *ops[] = {e->connect, e->send, e->recv};
        for (int k = 0; k < 3; k++)
            if (ops[k])
                sim_ready(n, ops[k], -ERR_CANCELED);
        end_gone(i->conn, i->side, false);
    }
    *i = (struct sim_stream){0};
    sim_ready(n, op, 0);
}

void sim_net_down(struct sim_node *n, bool silent)
{
    struct list *l;

    while ((l = list_first(&n->listeners))) {
        struct sim_listener *x = list_entry(l, struct sim_listener, link);
        struct list *q;
        while (silent && (q = list_first(&x->queue)))
            end_gone(list_entry(q, struct sim_conn, queue), 1, true);
        listener_close(x);
    }
    while ((l = list_first(&n->ends))) {
        struct sim_end *e = list_entry(l, struct sim_end, link);
        end_gone(e->conn, e == &e->conn->end[1], silent);
    }
}

void sim_net_deinit(struct sim *s)
{
    struct list *l;

    while ((l = list_first(&s->conns)))
        conn_free(list_entry(l, struct sim_conn, link));
}

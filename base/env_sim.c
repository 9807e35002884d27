/* base/env_sim.c - the simulated world's clock, queue, nodes and files. See env_sim.h.
 *
 * One heap of events ordered by (time, seq). An event names a node and its incarnation: what was
 * meant for a process that is gone is dropped unread, so nothing points into memory of the dead. */
#include "base/sim_impl.h"
#include <stdio.h>
#include <stdlib.h>

/* ---- the queue ---- */

void sim_trace(struct sim *s, uint64_t v)
{
    s->trace = (s->trace ^ v) * 0x9e3779b97f4a7c15u;
    s->trace ^= s->trace >> 29;
}

uint64_t sim_trace_hash(const struct sim *s)
{
    return s->trace;
}

static inline bool before(const struct sim_event *a, const struct sim_event *b)
{
    return a->at < b->at || (a->at == b->at && a->seq < b->seq);
}

void sim_push(struct sim *s, uint64_t at, struct sim_event e)
{
    size_t i;

    if (s->heap_n == s->heap_cap) {
        s->heap_cap = s->heap_cap ? s->heap_cap * 2 : 256;
        s->heap = realloc(s->heap, s->heap_cap * sizeof *s->heap);
        CHECK(s->heap);
    }
    e.at = at < s->now ? s->now : at;
    e.seq = ++s->seq;
    for (i = s->heap_n++; i > 0 && before(&e, &s->heap[(i - 1) / 4]); i = (i - 1) / 4)
        s->heap[i] = s->heap[(i - 1) / 4];
    s->heap[i] = e;
}

static struct sim_event pop(struct sim *s)
{
    struct sim_event top = s->heap[0], last = s->heap[--s->heap_n];
    size_t i = 0, n = s->heap_n;

    for (;;) {
        size_t c = 4 * i + 1, best = c, end = c + 4 < n ? c + 4 : n;
        if (c >= n)
            break;
        for (size_t k = c + 1; k < end; k++)
            if (before(&s->heap[k], &s->heap[best]))
                best = k;
        if (!before(&s->heap[best], &last))
            break;
        s->heap[i] = s->heap[best];
        i = best;
    }
    s->heap[i] = last;
    return top;
}

void sim_push_op(struct sim_node *n, uint64_t at, struct env_op *op)
{
    sim_push(
        n->sim, at,
        (struct sim_event){.p = op, .kind = EV_OP, .node = n->id, .incarnation = n->incarnation});
}

/* ---- turns ---- */

void sim_enter(struct sim_node *n)
{
    n->env.now = n->sim->now + n->clock_offset;
}

static void turn_by(struct sim_node *n, uint64_t at)
{
    if (n->env.dead || at >= n->turn_at)
        return;
    n->turn_at = at;
    sim_push(n->sim, at,
             (struct sim_event){.kind = EV_TURN, .node = n->id, .incarnation = n->incarnation});
}

void sim_turn_soon(struct sim_node *n)
{
    struct sim *s = n->sim;
    uint64_t r = rng_next(s->rng);

    if (n->turn_at <= s->now)
        return;
    /* Half the time the loop was idle; otherwise it comes round in a while. */
    turn_by(n, s->now + (r & 1 && s->timing.turn_max ? (r >> 1) % s->timing.turn_max : 0));
}

void sim_ready(struct sim_node *n, struct env_op *op, int64_t res)
{
    sim_op(op)->res = res;
    op->next = NULL;
    *n->ready_tail = op;
    n->ready_tail = &op->next;
    sim_trace(n->sim, (uint64_t)res << 8 | n->id);
    if (!n->in_turn)
        sim_turn_soon(n);
}

static void vt_arm(struct env *e, uint64_t at)
{
    struct sim_node *n = sim_node(e);
    uint64_t world = at > n->clock_offset ? at - n->clock_offset : 0;

    if (!n->in_turn)
        turn_by(n, world > n->sim->now ? world : n->sim->now);
}

void sim_pause(struct sim_node *n, uint64_t until)
{
    bool waits = n->paused_until > n->sim->now;

    n->paused_until = until;
    if (waits && until <= n->sim->now)
        turn_by(n, n->sim->now);
}

static void node_turn(struct sim_node *n)
{
    struct env *e = &n->env;
    struct env_op *op = n->ready;
    uint64_t due;

    n->turn_at = UINT64_MAX;
    n->ready = NULL;
    n->ready_tail = &n->ready;
    n->in_turn = true;
    sim_enter(n);
    while (op && !e->dead) {
        struct env_op *next = op->next;
        op->done(op, sim_op(op)->res);
        op = next;
    }
    sim_net_turn(n);
    env_timers_run(e);
    env_tasks_run(e);
    n->in_turn = false;
    if (n->ready)
        sim_turn_soon(n);
    due = env_timer_next(e);
    if (due != UINT64_MAX)
        vt_arm(e, due);
}

/* ---- faults from hooks ---- */

bool sim_strike(struct sim_node *n, enum sim_fault f)
{
    if (f == SIM_CRASH)
        sim_crash(n);
    if (f == SIM_POWER_CUT)
        sim_power_cut(n);
    return n->env.dead;
}

static bool vt_point(struct env *e, const char *name)
{
    struct sim_node *n = sim_node(e);
    struct sim_hooks *h = &n->sim->hooks;

    if (e->dead || !h->on_point)
        return e->dead;
    return sim_strike(n, h->on_point(h->u, n, name));
}

enum sim_fault sim_wait_fault(struct sim_node *n, const char *call)
{
    struct sim_hooks *h = &n->sim->hooks;
    return h->on_wait ? h->on_wait(h->u, n, call) : SIM_NOTHING;
}

/* ---- the rest of the door ---- */

static void vt_work(struct env_op *op, struct env *e, int64_t (*run)(struct env_op *op))
{
    struct sim_node *n = sim_node(e);

    if (!sim_op_begin(op, e))
        return;
    sim_op(op)->kind = SOP_WORK;
    sim_op(op)->run = run;
    sim_push_op(n, n->sim->now + sim_draw(n->sim->rng, n->sim->timing.work), op);
}

static void vt_watchdog(struct env *e, uint64_t at, void (*fire)(void *u), void *u)
{
    (void)e; /* code takes no time here: a runaway is caught by counting instructions */
    (void)at;
    (void)fire;
    (void)u;
}

static int64_t vt_wall_ms(struct env *e)
{
    struct sim_node *n = sim_node(e);
    return n->sim->wall_base_ms + (int64_t)(n->sim->now / 1000000) + n->wall_skew_ms;
}

static void vt_random(struct env *e, void *to, size_t n)
{
    unsigned char *p = to;

    while (n > 0) {
        uint64_t r = rng_next(sim_node(e)->rng);
        size_t m = n < 8 ? n : 8;
        memcpy(p, &r, m);
        p += m;
        n -= m;
    }
}

static void vt_log(struct env *e, enum env_level level, const char *line)
{
    struct sim_hooks *h = &sim_node(e)->sim->hooks;
    if (h->on_log)
        h->on_log(h->u, sim_node(e), level, line);
}

static void node_down(struct sim_node *n, const char *why, bool silent);

static void vt_halt(struct env *e, const char *why)
{
    if (!e->dead)
        node_down(sim_node(e), why, false);
}

static const struct env_vt vt = {
    .open = sim_file_open,
    .close = sim_file_close,
    .rename = sim_file_rename,
    .mkdir = sim_file_mkdir,
    .list = sim_file_list,
    .lock = sim_file_lock,
    .unlock = sim_file_unlock,
    .identify = sim_file_identify,
    .space_free = sim_file_space_free,
    .sync_dir = sim_file_sync_dir,
    .remove = sim_file_remove,
    .write = sim_file_write,
    .read = sim_file_read,
    .read_now = sim_file_read_now,
    .read_wait = sim_file_read_wait,
    .write_wait = sim_file_write_wait,
    .truncate_wait = sim_file_truncate_wait,
    .sync_dir_wait = sim_file_sync_dir_wait,
    .remove_wait = sim_file_remove_wait,
    .size = sim_file_size,
    .truncate = sim_file_truncate,
    .reserve = sim_file_reserve,
    .listen = sim_net_listen,
    .accept = sim_net_accept,
    .address = sim_net_address,
    .connect = sim_net_connect,
    .recv = sim_net_recv,
    .send = sim_net_send,
    .shut = sim_net_shut,
    .work = vt_work,
    .watchdog = vt_watchdog,
    .arm = vt_arm,
    .wall_ms = vt_wall_ms,
    .random = vt_random,
    .log = vt_log,
    .halt = vt_halt,
    .point = vt_point,
};

/* ---- the life of a node ---- */

static void node_down(struct sim_node *n, const char *why, bool silent)
{
    if (!n->up)
        return;
    env_die(&n->env);
    n->up = false;
    n->incarnation++;
    n->turn_at = UINT64_MAX;
    sim_files_down(n);
    sim_file_unlock(&n->env, NULL);
    sim_net_down(n, silent);
    n->ready = NULL;
    n->ready_tail = &n->ready;
    snprintf(n->down_why, sizeof n->down_why, "%s", why);
    n->down_due = true;
    n->sim->n_down_due++;
    sim_trace(n->sim, 0xdead0000u | n->id);
}

void sim_crash(struct sim_node *n)
{
    node_down(n, "crash", false);
}

void sim_power_cut(struct sim_node *n)
{
    struct sim *s = n->sim;

    for (uint32_t i = 0; i < s->n_nodes; i++)
        if (s->nodes[i]->host == n->host)
            node_down(s->nodes[i], "power cut", true);
    n->host->powered = false;
    sim_disk_power_cut(&n->host->disk);
}

struct sim_disk *sim_node_disk(struct sim_node *n)
{
    return &n->host->disk;
}

static void forget_down(struct sim_node *n)
{
    if (n->down_due)
        n->sim->n_down_due--;
    n->down_due = false;
}

void sim_start(struct sim_node *n)
{
    enum env_level level = n->env.level;
    uint64_t mutations = n->env.mutations;

    CHECK(!n->up);
    forget_down(n);
    env_deinit(&n->env);
    env_init(&n->env, &vt, n->name, rng_next(n->rng));
    n->env.level = level;
    n->env.mutations = mutations;
    n->up = true;
    n->paused_until = 0;
    n->host->powered = true;
    sim_enter(n);
}

static struct sim_host *host_new(struct sim *s, const char *name)
{
    struct sim_host *h = calloc(1, sizeof *h);

    CHECK(h);
    snprintf(h->name, sizeof h->name, "%s", name);
    list_init(&h->locks);
    sim_disk_init(&h->disk, rng_next(s->rng), s->n_nodes + 1);
    list_push(&s->hosts, &h->link);
    return h;
}

struct sim_node *sim_node_add(struct sim *s, const char *name, struct sim_node *beside)
{
    struct sim_node *n = calloc(1, sizeof *n);

    CHECK(n);
    CHECK(s->n_nodes < SIM_NODES_MAX);
    CHECK(strlen(name) < sizeof n->name);
    strcpy(n->name, name);
    n->sim = s;
    n->id = s->n_nodes;
    n->host = beside ? beside->host : host_new(s, name);
    n->clock_offset = rng_below(s->rng, ENV_S(3600));
    n->turn_at = UINT64_MAX;
    n->ready_tail = &n->ready;
    list_init(&n->files);
    list_init(&n->ends);
    list_init(&n->listeners);
    rng_seed(n->rng, rng_next(s->rng));
    n->env.level = s->hooks.on_log ? ENV_INFO : ENV_ERROR + 1;
    s->nodes[s->n_nodes++] = n;
    list_init(&n->env.tasks);
    sim_start(n);
    return n;
}

struct sim_host *sim_host_find(struct sim *s, struct sim_node *from, const char *name)
{
    if (!name[0] || strcmp(name, "localhost") == 0 || strcmp(name, "127.0.0.1") == 0 ||
        strcmp(name, "0.0.0.0") == 0)
        return from->host;
    for (uint32_t i = 0; i < s->n_nodes; i++)
        if (strcmp(s->nodes[i]->name, name) == 0)
            return s->nodes[i]->host;
    return NULL;
}

/* ---- the world ---- */

void sim_init(struct sim *s, uint64_t seed)
{
    memset(s, 0, sizeof *s);
    rng_seed(s->rng, seed);
    rng_seed(s->net_rng, rng_next(s->rng));
    s->trace = seed;
    s->now = ENV_S(1);
    s->wall_base_ms = 1700000000000;
    s->next_port = 20000;
    list_init(&s->hosts);
    list_init(&s->conns);
    s->nodes = calloc(SIM_NODES_MAX, sizeof *s->nodes);
    s->links = calloc((size_t)SIM_NODES_MAX * SIM_NODES_MAX, sizeof *s->links);
    CHECK(s->nodes);
    CHECK(s->links);
    s->timing = (struct sim_timing){
        .turn_max = 30000,
        .read = {5000, 200000},
        .write = {2000, 30000},
        .sync = {100000, 800000},
        .slow_sync = 10000,
        .slow_factor = 20,
        .work = {10000, 2000000},
        .net = {20000, 200000},
        .slow_net = 5000,
        .window = 256 * 1024,
        .split = 100000,
        .again = 250000,
    };
}

static void event_drop(struct sim_event *e)
{
    if (e->kind == EV_SYNC_DIR)
        free(e->p);
}

void sim_deinit(struct sim *s)
{
    struct list *l;

    for (uint32_t i = 0; i < s->n_nodes; i++)
        node_down(s->nodes[i], "the end", true);
    sim_net_deinit(s);
    for (size_t i = 0; i < s->heap_n; i++)
        event_drop(&s->heap[i]);
    free(s->heap);
    for (uint32_t i = 0; i < s->n_nodes; i++) {
        env_deinit(&s->nodes[i]->env);
        free(s->nodes[i]);
    }
    free(s->nodes);
    free(s->links);
    while ((l = list_first(&s->hosts))) {
        struct sim_host *h = list_entry(l, struct sim_host, link);
        list_remove(l);
        sim_disk_deinit(&h->disk);
        free(h);
    }
}

static void tell_down(struct sim *s)
{
    for (uint32_t i = 0; i < s->n_nodes && s->n_down_due; i++) {
        struct sim_node *n = s->nodes[i];
        if (!n->down_due)
            continue;
        forget_down(n);
        if (s->hooks.on_down)
            s->hooks.on_down(s->hooks.u, n, n->down_why);
    }
}

static void sync_dir_event(struct sim_node *n, struct sim_dir_sync *x)
{
    sim_ready(n, x->op, sim_disk_sync_dir(&n->host->disk, x->path));
}

static void turn_event(struct sim_node *n)
{
    if (n->sim->now >= n->paused_until) {
        node_turn(n);
        return;
    }
    n->turn_at = UINT64_MAX;
    turn_by(n, n->paused_until);
}

static void handle(struct sim *s, struct sim_event *e)
{
    struct sim_node *n = s->nodes[e->node];
    bool alive = n && n->up && n->incarnation == e->incarnation;

    switch ((enum sim_event_kind)e->kind) {
    case EV_TURN:
        if (alive && n->turn_at == e->at)
            turn_event(n);
        break;
    case EV_OP:
        if (alive)
            sim_file_event(n, e->p);
        break;
    case EV_SYNC_DIR:
        if (alive)
            sync_dir_event(n, e->p);
        event_drop(e);
        break;
    case EV_ALARM: {
        struct sim_alarm *a = e->p;
        if (a) {
            a->seq = 0;
            a->fire(a);
        }
        break;
    }
    default: sim_net_event(s, e);
    }
}

bool sim_step(struct sim *s)
{
    struct sim_event e;

    if (s->n_down_due)
        tell_down(s);
    if (s->heap_n == 0)
        return false;
    e = pop(s);
    s->now = e.at;
    s->n_events++;
    sim_trace(s, e.at);
    sim_trace(s, (uint64_t)e.n << 32 | (uint64_t)e.kind << 24 | (uint64_t)e.side << 16 | e.node);
    handle(s, &e);
    return true;
}

bool sim_run(struct sim *s, uint64_t until, bool (*done)(void *u), void *u)
{
    for (;;) {
        if (s->n_down_due)
            tell_down(s);
        if (done && done(u))
            return true;
        if (s->heap_n == 0 || s->heap[0].at > until)
            break;
        sim_step(s);
    }
    if (until != UINT64_MAX && s->now < until)
        s->now = until;
    return false;
}

void sim_alarm_set(struct sim *s, struct sim_alarm *a, uint64_t at)
{
    if (a->seq)
        sim_alarm_cancel(s, a);
    a->at = at;
    sim_push(s, at, (struct sim_event){.p = a, .kind = EV_ALARM});
    a->seq = s->seq;
}

void sim_alarm_cancel(struct sim *s, struct sim_alarm *a)
{
    for (size_t i = 0; a->seq && i < s->heap_n; i++)
        if (s->heap[i].seq == a->seq)
            s->heap[i].p = NULL;
    a->seq = 0;
}

uint64_t sim_random(struct sim *s, uint64_t below)
{
    return rng_below(s->rng, below);
}

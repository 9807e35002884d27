/* runtime/sim/faults.c - draws a plan, and strikes. */
#include "runtime/sim/faults.h"
#include "base/bytes.h"
#include "base/check.h"
#include "base/rng.h"
#include <stdio.h>
#include <string.h>

static const char *const names[] = {
#define FAULT_NAME(name, text) text,
    FAULT_MAP(FAULT_NAME)
#undef FAULT_NAME
};

int fault_by_name(const char *name)
{
    for (int k = 0; k < FAULT_COUNT; k++)
        if (strcmp(names[k], name) == 0)
            return k;
    return -1;
}

const char *fault_name(int kind)
{
    return kind >= 0 && kind < FAULT_COUNT ? names[kind] : "unknown";
}

/* ---- drawing ---- */

static const char *const worker_points[] = {
    "after_poll",     "after_process", "before_flush", "after_flush", "after_offsets",
    "before_end_txn", "after_end_txn", "mid_store",    "after_store", "mid_restore"};
/* Between the begin of a round's write and its sync lies all that durability is about. */
static const char *const broker_points[] = {"log_round_write", "log_round_write",
                                            "log_round_write", "log_round_durable",
                                            "log_writer_step", "log_checkpoint_step"};
enum { N_WORKER_POINTS = sizeof worker_points / sizeof worker_points[0] };
enum { N_BROKER_POINTS = sizeof broker_points / sizeof broker_points[0] };

/* Requests worth losing, the more often the more they decide. */
static const int16_t apis[] = {0,  0, 0, 26, 26, 26, 28, 28, 22, 24,
                               25, 1, 8, 9,  10, 11, 12, 14, 2,  3};

static uint64_t draw(struct faults *f, uint64_t below)
{
    return below ? rng_below(f->rng, below) : 0;
}

/* From least to most, small ones as likely as large ones: the exponent is drawn. */
static uint64_t draw_span(struct faults *f, uint64_t least, uint64_t most)
{
    uint64_t top = least ? least : 1;

    while (top < most && draw(f, 3))
        top *= 4;
    top = top > most ? most : top;
    return least + draw(f, top - least + 1);
}

static struct place *draw_worker(struct faults *f)
{
    return &f->cluster->workers[draw(f, (uint64_t)f->cluster->n_workers)];
}

static struct place *draw_place(struct faults *f)
{
    uint64_t r = draw(f, 10);

    if (f->o.kill_client && r == 9)
        return &f->cluster->client;
    return r < 4 ? &f->cluster->broker : draw_worker(f);
}

static void draw_point(struct faults *f, struct fault *x)
{
    if (x->place->kind == PLACE_WORKER) {
        x->point = worker_points[draw(f, N_WORKER_POINTS)];
        x->nth = 1 + (uint32_t)draw_span(f, 0, strncmp(x->point, "after_p", 7) ? 20 : 500);
    } else if (x->place->kind == PLACE_BROKER) {
        x->point = broker_points[draw(f, N_BROKER_POINTS)];
        x->nth = 1 + (uint32_t)draw_span(f, 0, 200);
    }
    x->after = draw(f, 2) ? draw_span(f, 1000, ENV_MS(2)) : 0;
    if (x->place->kind != PLACE_BROKER || x->kind != FAULT_POWER_CUT)
        return;
    x->slow = draw(f, 4) != 0;
    if (x->slow && !x->after)
        x->after = draw_span(f, 50000, ENV_MS(4));
}

static void draw_end(struct faults *f, struct fault *x)
{
    bool point = draw(f, 3) != 0;

    x->place = draw_place(f);
    if (point)
        draw_point(f, x);
}

static void draw_link(struct faults *f, struct fault *x)
{
    x->place = &f->cluster->broker;
    x->peer = draw(f, 5) ? draw_worker(f) : &f->cluster->client;
}

static void draw_fault(struct faults *f, struct fault *x, enum fault_kind kind)
{
    *x = (struct fault){.kind = kind, .faults = f, .nth = 1};
    x->at = f->o.from + draw(f, f->o.window);
    if (f->o.n_busy && draw(f, 4)) /* when there is work */
        x->at = f->o.busy(f->o.user, (uint32_t)draw(f, f->o.n_busy)) + draw(f, ENV_MS(40));
    switch (kind) {
    case FAULT_KILL:
    case FAULT_POWER_CUT: draw_end(f, x); break;
    case FAULT_PAUSE:
        x->place = draw(f, 4) ? draw_worker(f) : &f->cluster->broker;
        x->lasts = draw_span(f, ENV_MS(50), ENV_S(20));
        break;
    case FAULT_CUT:
    case FAULT_HALF_OPEN: draw_link(f, x); break;
    case FAULT_PARTITION:
        draw_link(f, x);
        x->lasts = draw_span(f, ENV_MS(50), ENV_S(16));
        break;
    case FAULT_DELAY:
        draw_link(f, x);
        x->lasts = draw_span(f, ENV_MS(100), ENV_S(8));
        break;
    case FAULT_LOSE_REQUEST:
    case FAULT_LOSE_REPLY:
        x->api = apis[draw(f, sizeof apis / sizeof apis[0])];
        x->nth = 1 + (uint32_t)draw_span(f, 0, 30);
        break;
    case FAULT_SLOW_DISK: x->lasts = draw_span(f, ENV_MS(100), ENV_S(4)); break;
    case FAULT_COUNT: break;
    }
}

static void draw_plan(struct faults *f)
{
    int wanted = 2 + (int)draw(f, 18);
    int kinds[FAULT_COUNT + 2], n_kinds = 0; /* ends of nodes twice: they decide most */

    for (int k = 0; k < FAULT_COUNT; k++)
        if (f->o.kinds >> k & 1 && draw(f, 2)) {
            kinds[n_kinds++] = k;
            if (k == FAULT_KILL || k == FAULT_POWER_CUT)
                kinds[n_kinds++] = k;
        }
    for (int k = 0; !n_kinds && k < FAULT_COUNT; k++)
        if (f->o.kinds >> k & 1)
            kinds[n_kinds++] = k;
    for (int i = 0; i < n_kinds; i++)
        f->kinds |= 1u << kinds[i];
    for (f->n = 0; n_kinds && f->n < wanted; f->n++)
        draw_fault(f, &f->v[f->n], (enum fault_kind)kinds[draw(f, (uint64_t)n_kinds)]);
}

static struct place *place_named(struct faults *f, const char *name)
{
    struct place *v[CLUSTER_WORKERS_MAX + 2];
    int n = cluster_places(f->cluster, v);

    for (int i = 0; name && i < n; i++)
        if (strcmp(v[i]->node->name, name) == 0)
            return v[i];
    return NULL;
}

static void follow_script(struct faults *f)
{
    CHECK(f->o.n_script <= FAULTS_MAX);
    for (f->n = 0; f->n < f->o.n_script; f->n++) {
        const struct fault_spec *s = &f->o.script[f->n];
        struct fault *x = &f->v[f->n];
        bool link = s->kind == FAULT_CUT || s->kind == FAULT_HALF_OPEN ||
                    s->kind == FAULT_PARTITION || s->kind == FAULT_DELAY;
        *x = (struct fault){.kind = s->kind,
                            .faults = f,
                            .place = place_named(f, s->node),
                            .point = s->point,
                            .api = s->api,
                            .nth = s->nth ? s->nth : 1,
                            .after = s->after,
                            .at = f->o.from + s->at,
                            .lasts = s->lasts};
        if (link) {
            x->peer = x->place;
            x->place = &f->cluster->broker;
        }
        CHECK(x->place || x->api || s->kind == FAULT_SLOW_DISK || s->kind == FAULT_LOSE_REPLY ||
              s->kind == FAULT_LOSE_REQUEST);
    }
}

/* ---- striking ---- */

static void tell(struct faults *f, int kind, const struct place *p, const char *how)
{
    const struct cluster *c = f->cluster;
    char line[200];

    f->struck++;
    sim_trace(&f->cluster->sim, 0xfa170000u | (unsigned)kind);
    if (!c->o.log)
        return;
    snprintf(line, sizeof line, "FAULT %s %s%s", fault_name(kind), how ? "at " : "",
             how ? how : "");
    c->o.log(c->o.user, c->sim.now, p ? p->node->name : "world", ENV_WARN, line);
}

static void note(struct faults *f, const struct fault *x)
{
    tell(f, x->kind, x->peer ? x->peer : x->place, x->point);
}

static void slow(struct faults *f, uint64_t factor)
{
    struct sim_timing *t = &f->cluster->sim.timing;

    t->sync[0] = f->calm.sync[0] * factor;
    t->sync[1] = f->calm.sync[1] * factor;
}

static void fault_begin(struct sim_alarm *a)
{
    struct fault *x = list_entry(a, struct fault, begin);
    struct faults *f = x->faults;
    struct sim *s = &f->cluster->sim;
    struct sim_node *n = x->place ? x->place->node : NULL, *peer = x->peer ? x->peer->node : NULL;

    if (f->healed)
        return;
    switch (x->kind) {
    case FAULT_KILL:
        if (!n->up)
            return;
        sim_crash(n);
        break;
    case FAULT_POWER_CUT: sim_power_cut(n); break;
    case FAULT_PAUSE:
        if (!n->up)
            return;
        sim_pause(n, s->now + x->lasts);
        break;
    case FAULT_CUT:
        if (!sim_net_cut(s, n, peer))
            return;
        break;
    case FAULT_HALF_OPEN:
        if (!sim_net_half_open(s, n, peer))
            return;
        break;
    case FAULT_PARTITION: sim_net_partition(s, n, peer, true); break;
    case FAULT_DELAY:
        sim_net_delay(s, peer, n, ENV_MS(1), draw_span(f, ENV_MS(10), ENV_S(3)));
        sim_net_delay(s, n, peer, ENV_MS(1), draw_span(f, ENV_MS(10), ENV_S(3)));
        break;
    case FAULT_SLOW_DISK: slow(f, 2 + draw(f, 100)); break;
    case FAULT_LOSE_REQUEST:
    case FAULT_LOSE_REPLY:
    case FAULT_COUNT: return;
    }
    if (x->slow)
        slow(f, 1);
    note(f, x);
}

static void fault_end(struct sim_alarm *a)
{
    struct fault *x = list_entry(a, struct fault, end);
    struct faults *f = x->faults;
    struct sim *s = &f->cluster->sim;

    if (f->healed)
        return;
    if (x->kind == FAULT_PARTITION)
        sim_net_partition(s, x->place->node, x->peer->node, false);
    if (x->kind == FAULT_DELAY) {
        sim_net_delay(s, x->place->node, x->peer->node, 0, 0);
        sim_net_delay(s, x->peer->node, x->place->node, 0, 0);
    }
    if (x->kind == FAULT_SLOW_DISK)
        slow(f, 1);
}

static enum sim_fault on_point(void *u, struct sim_node *n, const char *name)
{
    struct faults *f = ((struct cluster *)u)->faults;
    uint64_t now = f->cluster->sim.now;

    if (f->healed)
        return SIM_NOTHING;
    for (int i = 0; i < f->n; i++) {
        struct fault *x = &f->v[i];
        if (!x->point || !x->nth || x->place->node != n || now < x->at ||
            strcmp(x->point, name) != 0 || --x->nth)
            continue;
        if (x->slow) /* the sync that follows will not be done by then */
            slow(f, 20 + draw(f, 50));
        if (x->after) {
            sim_alarm_set(&f->cluster->sim, &x->begin, now + x->after);
            continue;
        }
        note(f, x);
        return x->kind == FAULT_KILL ? SIM_CRASH : SIM_POWER_CUT;
    }
    return SIM_NOTHING;
}

static enum sim_fault on_wait(void *u, struct sim_node *n, const char *call)
{
    struct faults *f = ((struct cluster *)u)->faults;
    struct place *p = n->user;

    if (f->healed || p->kind != PLACE_BROKER || !f->recovery_at ||
        ++p->recovery_calls < f->recovery_at)
        return SIM_NOTHING;
    f->recovery_at = 0;
    tell(f, f->recovery_power ? FAULT_POWER_CUT : FAULT_KILL, p, "recovery");
    return f->recovery_power ? SIM_POWER_CUT : SIM_CRASH;
}

/* Does one of the frames that begin in these bytes ask for the api? */
static bool asks(struct slice bytes, int16_t api)
{
    while (bytes.n >= 6) {
        uint64_t size = get_be32(bytes.p);
        if ((int16_t)get_be16(bytes.p + 4) == api)
            return true;
        bytes = slice_sub(bytes, 4 + (size_t)size, bytes.n);
    }
    return false;
}

static enum sim_send on_send(void *u, struct sim_node *from, struct sim_node *to,
                             struct slice first, uint64_t n)
{
    struct faults *f = ((struct cluster *)u)->faults;

    if (f->healed || to != f->cluster->broker.node || from == to)
        return SIM_PASS;
    for (int i = 0; i < f->n; i++) {
        struct fault *x = &f->v[i];
        if ((x->kind != FAULT_LOSE_REQUEST && x->kind != FAULT_LOSE_REPLY) || !x->nth ||
            f->cluster->sim.now < x->at || !asks(first, x->api) || --x->nth)
            continue;
        note(f, x);
        return x->kind == FAULT_LOSE_REQUEST ? SIM_CUT_BEFORE : SIM_CUT_AFTER;
    }
    return SIM_PASS;
}

static void power_again(struct sim_alarm *a)
{
    struct faults *f = list_entry(a, struct faults, after_recovery);

    if (f->healed)
        return;
    tell(f, FAULT_POWER_CUT, &f->cluster->broker, "soon after a crash");
    sim_power_cut(f->cluster->broker.node);
}

uint64_t faults_down(struct faults *f, struct place *p, const char *why)
{
    uint64_t after;

    if (f->healed)
        return ENV_MS(50);
    after = draw_span(f, ENV_MS(1), p->kind == PLACE_BROKER ? ENV_S(3) : ENV_S(20));
    if (p->kind != PLACE_BROKER)
        return after;
    f->recovery_at = f->kinds >> FAULT_KILL & 1 && draw(f, 4) == 0 ? 1 + (uint32_t)draw(f, 150) : 0;
    f->recovery_power = f->kinds >> FAULT_POWER_CUT & 1 && draw(f, 2);
    if (f->kinds >> FAULT_POWER_CUT & 1 && strcmp(why, "power cut") != 0 && draw(f, 2))
        sim_alarm_set(&f->cluster->sim, &f->after_recovery,
                      f->cluster->sim.now + after + draw_span(f, ENV_MS(1), ENV_MS(500)));
    return after;
}

uint64_t faults_end(const struct faults *f)
{
    uint64_t end = f->o.from + f->o.window;

    for (int i = 0; i < f->n; i++)
        if (f->v[i].at + f->v[i].lasts > end)
            end = f->v[i].at + f->v[i].lasts;
    return end;
}

void faults_heal(struct faults *f)
{
    struct place *v[CLUSTER_WORKERS_MAX + 2];
    int n = cluster_places(f->cluster, v);
    struct sim *s = &f->cluster->sim;

    f->healed = true;
    for (int i = 0; i < f->n; i++) {
        sim_alarm_cancel(s, &f->v[i].begin);
        sim_alarm_cancel(s, &f->v[i].end);
    }
    sim_alarm_cancel(s, &f->after_recovery);
    sim_net_heal(s);
    s->timing = f->calm;
    for (int i = 0; i < n; i++) {
        if (v[i]->node->up)
            sim_pause(v[i]->node, 0);
        else if (!v[i]->stopping)
            cluster_start_at(v[i], s->now + ENV_MS(50));
    }
}

void faults_init(struct faults *f, struct cluster *c, const struct faults_options *o, uint64_t seed)
{
    memset(f, 0, sizeof *f);
    f->cluster = c;
    c->faults = f;
    f->o = *o;
    f->calm = c->sim.timing;
    f->after_recovery.fire = power_again;
    rng_seed(f->rng, seed ^ 0xfa17fa17fa17u);
    if (o->script)
        follow_script(f);
    else
        draw_plan(f);
    c->sim.hooks.on_point = on_point;
    c->sim.hooks.on_wait = on_wait;
    c->sim.hooks.on_send = on_send;
    for (int i = 0; i < f->n; i++) {
        struct fault *x = &f->v[i];
        x->begin.fire = fault_begin;
        x->end.fire = fault_end;
        if (!x->point && x->kind != FAULT_LOSE_REQUEST && x->kind != FAULT_LOSE_REPLY)
            sim_alarm_set(&c->sim, &x->begin, x->at);
        if (x->lasts)
            sim_alarm_set(&c->sim, &x->end, x->at + x->lasts);
    }
}

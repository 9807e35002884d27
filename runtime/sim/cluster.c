/* runtime/sim/cluster.c - puts nodes up, tears them down, and brings them back. */
#include "runtime/sim/cluster.h"
#include "txn/coordinator.h"
#include <stdio.h>

/* Instructions a record may take in the simulator, where there is no clock to stop it by. */
#define COUNT_LIMIT 20000000u

static void note_failure(struct cluster *c, const char *node, const char *what, const char *why)
{
    if (!c->failed[0])
        snprintf(c->failed, sizeof c->failed, "%s: %s: %s", node, what, why);
}

/* ---- the broker ---- */

static void broker_up(struct place *p)
{
    struct broker_options o = {.data_dir = CLUSTER_DATA,
                               .listen = CLUSTER_BROKER_ADDRESS,
                               .advertise = CLUSTER_BROKER_ADDRESS,
                               .conf = &p->cluster->broker_conf};
    struct logdir_report report;
    struct err e = {0};
    char address[128];
    int rc = broker_open(&p->broker, &p->node->env, &o, &e);

    if (!rc)
        rc = txn_open(&p->txn, p->broker);
    if (!rc) {
        broker_api_install(p->broker);
        rc = broker_recover(p->broker, &report, &e);
    }
    if (!rc && !p->node->env.dead)
        rc = broker_listen(p->broker, address, sizeof address, &e);
    if (p->node->env.dead) /* struck down while it recovered: on_down follows */
        return;
    if (rc)
        note_failure(p->cluster, p->node->name, "does not start",
                     e.text[0] ? e.text : err_text(rc));
    p->serving = rc == 0;
}

static void broker_down(struct place *p)
{
    txn_free(p->txn);
    broker_free(p->broker);
    p->txn = NULL;
    p->broker = NULL;
    p->serving = false;
}

static void broker_closed(void *user)
{
    struct place *p = user;

    p->stopped = true;
    sim_crash(p->node); /* the process ends */
}

/* ---- workers ---- */

static void worker_stopped(void *user, int exit_code, const char *why)
{
    struct place *p = user;

    if (exit_code == 0 && p->stopping)
        p->stopped = true;
    else if (exit_code != 4 && exit_code != 5)
        note_failure(p->cluster, p->node->name, "stopped", why && why[0] ? why : "no reason given");
    env_warn(&p->node->env, "stopped, exit code %d: %s", exit_code, why ? why : "");
    sim_crash(p->node);
}

static void worker_up(struct place *p)
{
    struct err e = {0};
    int rc = worker_open(&p->worker, &p->node->env, &p->worker_options, &e);

    if (p->node->env.dead)
        return;
    if (rc) {
        note_failure(p->cluster, p->node->name, "does not start",
                     e.text[0] ? e.text : err_text(rc));
        return;
    }
    worker_start(p->worker);
}

static void worker_down(struct place *p)
{
    worker_free(p->worker);
    p->worker = NULL;
}

/* ---- all places ---- */

static void place_up(struct place *p)
{
    struct cluster *c = p->cluster;

    p->starts++;
    p->recovery_calls = 0;
    sim_trace(&c->sim, 0x57a70000u | p->node->id);
    sim_enter(p->node);
    p->node->env.mutations = c->o.mutations;
    switch (p->kind) {
    case PLACE_BROKER: broker_up(p); break;
    case PLACE_WORKER: worker_up(p); break;
    case PLACE_CLIENT:
        if (c->o.client_up)
            c->o.client_up(c->o.user, p);
        break;
    }
}

static void place_down(struct place *p)
{
    struct cluster *c = p->cluster;

    switch (p->kind) {
    case PLACE_BROKER: broker_down(p); break;
    case PLACE_WORKER: worker_down(p); break;
    case PLACE_CLIENT:
        if (c->o.client_down)
            c->o.client_down(c->o.user, p);
        break;
    }
}

static void start_due(struct sim_alarm *a)
{
    struct place *p = list_entry(a, struct place, start);

    if (p->node->up || p->stopping)
        return;
    sim_start(p->node);
    place_up(p);
}

void cluster_start_at(struct place *p, uint64_t at)
{
    if (!p->start.seq || at < p->start.at)
        sim_alarm_set(&p->cluster->sim, &p->start, at);
}

void cluster_stop(struct place *p)
{
    if (p->stopping)
        return;
    p->stopping = true;
    if (!p->node->up) {
        p->stopped = true;
        return;
    }
    sim_enter(p->node);
    if (p->kind == PLACE_WORKER && p->worker)
        worker_stop(p->worker);
    else if (p->kind == PLACE_BROKER && p->serving)
        broker_close(p->broker, broker_closed, p);
    else
        p->stopped = true;
}

int cluster_places(struct cluster *c, struct place **v)
{
    int n = 0;

    v[n++] = &c->broker;
    v[n++] = &c->client;
    for (int i = 0; i < c->n_workers; i++)
        v[n++] = &c->workers[i];
    return n;
}

/* A host's stores go back to what was synced, once a power cut, whichever of its workers were
 * up. */
static void stores_cut(struct place *p)
{
    struct place *owner = p->owns_stores ? p : &p->cluster->workers[0];

    if (owner->cut_at == p->cluster->sim.now)
        return;
    owner->cut_at = p->cluster->sim.now;
    store_mem_power_cut(p->stores, CLUSTER_STATE, sim_random(&p->cluster->sim, 4) == 0);
}

static void on_down(void *u, struct sim_node *n, const char *why)
{
    struct cluster *c = u;
    struct place *p = n->user;
    uint64_t after;

    place_down(p);
    if (p->kind == PLACE_WORKER && strcmp(why, "power cut") == 0)
        stores_cut(p);
    if (p->stopping) {
        p->stopped = true;
        return;
    }
    after = c->o.down ? c->o.down(c->o.user, p, why) : ENV_MS(100);
    if (after != UINT64_MAX)
        cluster_start_at(p, c->sim.now + after);
}

static void on_log(void *u, struct sim_node *n, enum env_level level, const char *line)
{
    struct cluster *c = u;

    c->o.log(c->o.user, c->sim.now, n->name, level, line);
}

static void place_add(struct cluster *c, struct place *p, enum place_kind kind, int index,
                      const char *name, struct sim_node *beside)
{
    p->cluster = c;
    p->kind = kind;
    p->index = index;
    p->start.fire = start_due;
    p->node = sim_node_add(&c->sim, name, beside);
    p->node->user = p;
}

static void worker_add(struct cluster *c, int i)
{
    struct place *p = &c->workers[i];
    bool beside = c->o.together && i > 0;
    char name[32];

    snprintf(name, sizeof name, "worker-%d", i + 1);
    place_add(c, p, PLACE_WORKER, i, name, beside ? c->workers[0].node : NULL);
    p->owns_stores = !beside;
    p->stores = beside ? c->workers[0].stores : store_mem_new();
    CHECK(p->stores);
    p->worker_options = (struct worker_options){.job = c->o.job,
                                                .bootstrap = CLUSTER_BROKER_ADDRESS,
                                                .state_dir = CLUSTER_STATE,
                                                .stores = p->stores,
                                                .guarantee = c->o.guarantee,
                                                .partitions = c->o.partitions,
                                                .count_limit = COUNT_LIMIT,
                                                .user = p,
                                                .on_stopped = worker_stopped};
}

void cluster_open(struct cluster *c, const struct cluster_options *o)
{
    char n[16];

    memset(c, 0, sizeof *c);
    c->o = *o;
    CHECK(o->n_workers <= CLUSTER_WORKERS_MAX);
    c->n_workers = o->n_workers;
    conf_init(&c->broker_conf);
    snprintf(n, sizeof n, "%d", o->partitions > 0 ? o->partitions : 1);
    CHECK(conf_set(&c->broker_conf, slice_str("num.partitions"), slice_str(n)) == 0);
    sim_init(&c->sim, o->seed);
    c->sim.hooks.u = c;
    c->sim.hooks.on_down = on_down;
    if (o->log)
        c->sim.hooks.on_log = on_log;
    place_add(c, &c->broker, PLACE_BROKER, 0, "broker-1", NULL);
    place_add(c, &c->client, PLACE_CLIENT, 0, "client", NULL);
    for (int i = 0; i < c->n_workers; i++)
        worker_add(c, i);
    place_up(&c->broker);
    place_up(&c->client);
    for (int i = 0; i < c->n_workers; i++)
        place_up(&c->workers[i]);
}

void cluster_free(struct cluster *c)
{
    struct place *v[CLUSTER_WORKERS_MAX + 2];
    int n = cluster_places(c, v);

    c->o.down = NULL;
    for (int i = 0; i < n; i++) {
        v[i]->stopping = true;
        sim_crash(v[i]->node);
        place_down(v[i]);
    }
    sim_deinit(&c->sim);
    for (int i = 0; i < c->n_workers; i++)
        if (c->workers[i].owns_stores)
            store_mem_free(c->workers[i].stores);
    conf_deinit(&c->broker_conf);
}

/* tests/base/test_sim_soak.c - a world under random faults: three nodes that connect, talk, write
 * and work all the time, while connections are cut, hosts lose power and disks fail. What may not
 * happen: a failed check, a leak, bytes out of order, a world that does not recover. */
#include "support_lab.h"
#include <stdio.h>
#include <stdlib.h>

enum { NODES = 3, SLOTS = 6, CHUNK = 600 };

/* One connection: sends a counting sequence of bytes, and checks that it gets one. */
struct talk {
    struct prog *prog;
    struct env_stream s;
    struct env_op connect, send, recv, shut;
    unsigned char out[CHUNK], in[CHUNK];
    struct slice v[2];
    unsigned char next_out, next_in;
    uint64_t heard_at; /* of the peer, last */
    bool used, sending, receiving, connecting, shutting;
};
/* What a node runs; made anew at each start, freed when it is down. */
struct prog {
    struct soak *soak;
    struct sim_node *node;
    struct env *env;
    struct env_stream listener;
    struct talk talks[SLOTS];
    struct env_timer tick;
    struct env_file file;
    struct env_op write, work, sync_dir;
    struct slice v;
    bool has_file, writing, working, syncing;
    int writes;
};
struct soak {
    struct sim sim;
    struct sim_node *nodes[NODES];
    struct prog *progs[NODES];
    struct sim_alarm fault;
    struct starter {
        struct sim_alarm alarm;
        struct soak *soak;
        int i;
    } start[NODES];
    uint64_t received, restarts;
    bool calm;
};

static void talk_end(struct talk *t);

static void talk_shut(struct env_op *op, int64_t res)
{
    struct talk *t = list_entry(op, struct talk, shut);
    assert_false(t->sending || t->receiving || t->connecting);
    t->used = t->shutting = false;
}

static void talk_end(struct talk *t)
{
    if (t->shutting)
        return;
    t->shutting = true;
    env_shut(&t->shut, &t->s);
}

static void talk_send(struct talk *t)
{
    size_t n = 1 + env_random(t->prog->env, CHUNK), cut = env_random(t->prog->env, n + 1);
    for (size_t i = 0; i < n; i++)
        t->out[i] = t->next_out++;
    t->v[0] = slice_of(t->out, cut);
    t->v[1] = slice_of(t->out + cut, n - cut);
    t->sending = true;
    env_send(&t->send, &t->s, t->v, 2);
}

static void talk_recv(struct talk *t)
{
    t->receiving = true;
    env_recv(&t->recv, &t->s, (struct span){t->in, 1 + env_random(t->prog->env, CHUNK)});
}

static void talk_sent(struct env_op *op, int64_t res)
{
    struct talk *t = list_entry(op, struct talk, send);
    t->sending = false;
    if (res < 0 || env_random(t->prog->env, 100) == 0)
        talk_end(t);
    else if (!t->shutting)
        talk_send(t);
}

static void talk_received(struct env_op *op, int64_t res)
{
    struct talk *t = list_entry(op, struct talk, recv);
    t->receiving = false;
    for (int64_t i = 0; i < res; i++)
        assert_int_equal(t->in[i], t->next_in++);
    t->heard_at = t->prog->env->now;
    if (res > 0)
        t->prog->soak->received += (uint64_t)res;
    if (res <= 0)
        talk_end(t);
    else if (!t->shutting)
        talk_recv(t);
}

static void talk_connected(struct env_op *op, int64_t res)
{
    struct talk *t = list_entry(op, struct talk, connect);
    t->connecting = false;
    if (res < 0) {
        talk_end(t);
        return;
    }
    if (!t->shutting) {
        talk_send(t);
        talk_recv(t);
    }
}

static struct talk *talk_new(struct prog *p)
{
    for (int i = 0; i < SLOTS; i++) {
        struct talk *t = &p->talks[i];
        if (t->used)
            continue;
        memset(t, 0, sizeof *t);
        t->prog = p;
        t->used = true;
        t->heard_at = p->env->now;
        t->connect.done = talk_connected;
        t->send.done = talk_sent;
        t->recv.done = talk_received;
        t->shut.done = talk_shut;
        return t;
    }
    return NULL;
}

static void prog_ready(struct env_stream *l)
{
    struct prog *p = list_entry(l, struct prog, listener);
    struct talk *t = talk_new(p);
    if (!t)
        return; /* it stays in the queue */
    if (env_accept(l, &t->s) < 0) {
        t->used = false;
        return;
    }
    talk_send(t);
    talk_recv(t);
}

static void prog_written(struct env_op *op, int64_t res)
{
    struct prog *p = list_entry(op, struct prog, write);
    p->writing = false;
    if (res == -ERR_IO)
        env_halt(p->env, "disk");
}

static void prog_worked(struct env_op *op, int64_t res)
{
    struct prog *p = list_entry(op, struct prog, work);
    assert_int_equal(res, 42);
    p->working = false;
}

static void prog_synced(struct env_op *op, int64_t res)
{
    list_entry(op, struct prog, sync_dir)->syncing = false;
}

static int64_t prog_work(struct env_op *op)
{
    return 42;
}

static void prog_tick(struct env_timer *timer)
{
    struct prog *p = list_entry(timer, struct prog, tick);
    struct talk *t;
    char addr[32];
    int to;

    env_timer_set(p->env, timer, p->env->now + ENV_MS(1) + env_random(p->env, ENV_MS(3)));
    if (env_point(p->env, "tick"))
        return;
    for (int i = 0; i < SLOTS; i++)
        if (p->talks[i].used && p->env->now - p->talks[i].heard_at > ENV_MS(500))
            talk_end(&p->talks[i]);
    if (p->has_file && !p->writing) {
        p->writing = true;
        p->writes++;
        p->v = slice_of(p->talks[0].out, CHUNK);
        env_write(&p->write, &p->file, (uint64_t)(p->writes % 20 * CHUNK), &p->v, 1,
                  p->writes % 3 ? 0 : ENV_SYNC);
    }
    if (!p->working) {
        p->working = true;
        env_work(&p->work, p->env, prog_work);
    }
    if (!p->syncing) {
        p->syncing = true;
        env_sync_dir(&p->sync_dir, p->env, "/");
    }
    t = env_random(p->env, 2) ? talk_new(p) : NULL;
    if (!t)
        return;
    to = (int)env_random(p->env, NODES);
    snprintf(addr, sizeof addr, "n%d:7%d", to, to);
    t->s.env = p->env;
    t->connecting = true;
    env_connect(&t->connect, &t->s, addr);
}

static void prog_open(struct soak *k, int i)
{
    struct prog *p = calloc(1, sizeof *p);
    char addr[16];

    snprintf(addr, sizeof addr, ":%d", 70 + i); /* two of them share a host */
    p->soak = k;
    p->node = k->nodes[i];
    p->env = &k->nodes[i]->env;
    k->progs[i] = p;
    p->write.done = prog_written;
    p->work.done = prog_worked;
    p->sync_dir.done = prog_synced;
    p->tick.fire = prog_tick;
    assert_int_equal(env_listen(p->env, &p->listener, addr, prog_ready), 0);
    p->has_file = env_open(p->env, &p->file, "/log", ENV_CREATE, NULL) == 0;
    env_timer_set(p->env, &p->tick, p->env->now);
}

static void start_fire(struct sim_alarm *a)
{
    struct starter *x = list_entry(a, struct starter, alarm);

    sim_start(x->soak->nodes[x->i]);
    x->soak->restarts++;
    prog_open(x->soak, x->i);
}

static void soak_down(void *u, struct sim_node *n, const char *why)
{
    struct soak *k = u;
    int i = 0;

    while (k->nodes[i] != n)
        i++;
    free(k->progs[i]); /* all that an x_deinit may do */
    k->progs[i] = NULL;
    sim_alarm_set(&k->sim, &k->start[i].alarm, k->sim.now + sim_random(&k->sim, ENV_MS(20)));
}

static enum sim_fault soak_point(void *u, struct sim_node *n, const char *name)
{
    struct soak *k = u;
    return k->calm || sim_random(&k->sim, 2000) ? SIM_NOTHING : SIM_CRASH;
}

static enum sim_send soak_send(void *u, struct sim_node *from, struct sim_node *to,
                               struct slice first, uint64_t n)
{
    struct soak *k = u;
    return k->calm || sim_random(&k->sim, 500) ? SIM_PASS
                                               : SIM_CUT_BEFORE + (int)sim_random(&k->sim, 2);
}

static void fault_fire(struct sim_alarm *a)
{
    struct soak *k = list_entry(a, struct soak, fault);
    struct sim *s = &k->sim;
    struct sim_node *x = k->nodes[sim_random(s, NODES)], *y = k->nodes[sim_random(s, NODES)];

    if (k->calm)
        return;
    sim_alarm_set(s, a, s->now + sim_random(s, ENV_MS(10)));
    switch (sim_random(s, 9)) {
    case 0: sim_crash(x); break;
    case 1: sim_power_cut(x); break;
    case 2: sim_net_cut(s, x, y); break;
    case 3: sim_net_half_open(s, x, NULL); break;
    case 4: sim_net_partition(s, x, y, true); break;
    case 5: sim_net_refuse(s, x, y, true); break;
    case 6: sim_node_disk(x)->fail_syncs = 1; break;
    case 7: x->wall_skew_ms += 1000; break;
    default: sim_net_heal(s);
    }
}

static bool all_run(struct soak *k)
{
    for (int i = 0; i < NODES; i++)
        if (!k->progs[i])
            return false;
    return true;
}

static uint64_t soak(uint64_t seed)
{
    struct soak *k = calloc(1, sizeof *k);
    uint64_t hash, before;
    char name[8];

    sim_init(&k->sim, seed);
    k->sim.timing.net[0] = ENV_MS(1);
    k->sim.timing.net[1] = ENV_MS(4);
    k->sim.timing.window = 2000;
    k->sim.hooks = (struct sim_hooks){
        .u = k, .on_point = soak_point, .on_down = soak_down, .on_send = soak_send};
    k->fault.fire = fault_fire;
    for (int i = 0; i < NODES; i++) {
        snprintf(name, sizeof name, "n%d", i);
        k->nodes[i] = sim_node_add(&k->sim, name, i == 2 ? k->nodes[1] : NULL);
        k->start[i] = (struct starter){.alarm = {.fire = start_fire}, .soak = k, .i = i};
        prog_open(k, i);
    }
    sim_alarm_set(&k->sim, &k->fault, k->sim.now + ENV_MS(5));
    sim_run(&k->sim, ENV_S(3), NULL, NULL);
    k->calm = true;
    sim_net_heal(&k->sim);
    sim_run(&k->sim, ENV_S(7), NULL, NULL);
    assert_true(all_run(k));
    before = k->received;
    sim_run(&k->sim, ENV_S(8), NULL, NULL);
    assert_true(k->received > before); /* it lives again */
    assert_true(k->restarts > 5);
    hash = sim_trace_hash(&k->sim);
    sim_deinit(&k->sim);
    for (int i = 0; i < NODES; i++)
        free(k->progs[i]);
    free(k);
    return hash;
}

static void a_world_under_random_faults_holds_together_and_recovers(void **state)
{
    for (uint64_t seed = 0; seed < 10; seed++)
        assert_true(soak(seed) == soak(seed));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_world_under_random_faults_holds_together_and_recovers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

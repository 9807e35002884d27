/* tests/base/test_sim_world.c - hooks, clocks and traces of the simulated world. */
#include "support_lab.h"
#include <stdio.h>
#include <stdlib.h>

struct link {
    struct env_stream listener, server;
    bool accepted;
};

/* ---- hooks ---- */

static enum sim_fault strike_at;
static int strike_in, n_downs;
static char last_down[330];

static enum sim_fault on_name(void *u, struct sim_node *n, const char *name)
{
    return strike_in && --strike_in == 0 ? strike_at : SIM_NOTHING;
}

static bool unwound;

static void on_down(void *u, struct sim_node *n, const char *why)
{
    assert_true(unwound);
    n_downs++;
    snprintf(last_down, sizeof last_down, "%s %s", n->name, why);
}

struct stepper {
    struct env_timer t;
    struct env *env;
    int steps;
};

static void step(struct env_timer *t)
{
    struct stepper *s = list_entry(t, struct stepper, t);

    unwound = false;
    for (int i = 0; i < 5; i++) {
        if (env_point(s->env, "step"))
            break;
        s->steps++;
    }
    if (s->steps == 5)
        env_halt(s->env, "done with it");
    unwound = true;
}

static void a_point_crashes_the_node_and_its_owner_hears_of_it_afterwards(void **state)
{
    struct stepper s;
    struct lab x;

    for (int fault = SIM_CRASH; fault <= SIM_POWER_CUT; fault++) {
        lab_open(&x, 1);
        x.sim.hooks.on_point = on_name;
        x.sim.hooks.on_down = on_down;
        strike_at = (enum sim_fault)fault;
        strike_in = 3;
        n_downs = 0;
        s = (struct stepper){.t = {.fire = step}, .env = &x.a->env};
        env_timer_set(&x.a->env, &s.t, x.a->env.now + ENV_MS(1));
        sim_run(&x.sim, x.sim.now + ENV_S(1), NULL, NULL);
        assert_int_equal(s.steps, 2);
        assert_int_equal(n_downs, 1);
        assert_string_equal(last_down, fault == SIM_CRASH ? "a crash" : "a power cut");
        sim_start(x.a);
        s.steps = 0;
        env_timer_set(&x.a->env, &s.t, x.a->env.now);
        sim_run(&x.sim, x.sim.now + ENV_S(1), NULL, NULL);
        assert_string_equal(last_down, "a done with it");
        lab_close(&x);
    }
}

static void a_wait_call_that_meets_a_crash_fails_and_all_later_ones_too(void **state)
{
    unsigned char b[8];
    int found = 0;

    for (uint64_t seed = 0; seed < 30; seed++) {
        struct env_file f;
        struct lab x;
        int64_t n;
        lab_open(&x, seed);
        lab_file(&x, &f, "/d/f");
        x.sim.hooks.on_wait = on_name;
        strike_at = SIM_CRASH;
        strike_in = 2;
        lab_put_ok(&f, 0, "1234", 4, 0);
        assert_int_equal(lab_put(&f, 4, "5678", 4, ENV_SYNC), -ERR_CRASHED);
        assert_int_equal(lab_get(&f, 0, b, 4), -ERR_CRASHED);
        assert_int_equal(env_sync_dir_wait(&x.a->env, "/d"), -ERR_CRASHED);
        assert_int_equal(env_remove_wait(&x.a->env, "/d/f"), -ERR_CRASHED);
        assert_int_equal(env_truncate_wait(&f, 0), -ERR_CRASHED);
        env_close(&f);
        sim_start(x.a);
        lab_file(&x, &f, "/d/f");
        n = lab_get(&f, 0, b, 8);
        assert_in_range(n, 4, 8);
        found |= n == 4 ? 1 : n == 8 ? 2 : 4;
        lab_close(&x);
    }
    assert_int_equal(found, 7);
}

/* ---- the whole ---- */

/* A server that echoes what it gets, again and again, and journals it. */
struct echo {
    struct link k;
    struct env_op recv, send, write, sync;
    struct env_file f;
    struct slice v;
    unsigned char b[512];
    uint64_t rounds;
};

static void echo_recv(struct env_op *op, int64_t res);

static void echo_sent(struct env_op *op, int64_t res)
{
    struct echo *e = list_entry(op, struct echo, send);
    if (res > 0)
        env_recv(&e->recv, &e->k.server, (struct span){e->b, sizeof e->b});
}

static void echo_written(struct env_op *op, int64_t res)
{
    struct echo *e = list_entry(op, struct echo, write);
    e->rounds++;
    if (res > 0)
        env_send(&e->send, &e->k.server, &e->v, 1);
}

static void echo_recv(struct env_op *op, int64_t res)
{
    struct echo *e = list_entry(op, struct echo, recv);
    if (res <= 0)
        return;
    e->v = slice_of(e->b, (size_t)res);
    env_write(&e->write, &e->f, e->rounds % 100 * 512, &e->v, 1, e->rounds % 3 ? 0 : ENV_SYNC);
}

static void echo_accept(struct env_stream *l)
{
    struct echo *e = list_entry(l, struct echo, k.listener);
    if (!e->k.accepted && env_accept(l, &e->k.server) == 0) {
        e->k.accepted = true;
        env_recv(&e->recv, &e->k.server, (struct span){e->b, sizeof e->b});
    }
}

struct caller {
    struct env_stream s;
    struct env_op connect, send, recv;
    unsigned char b[700], got[700];
    struct slice v;
};

static void call(struct caller *c)
{
    c->v = slice_of(c->b, 1 + env_random(c->s.env, sizeof c->b));
    env_send(&c->send, &c->s, &c->v, 1);
}

static void call_sent(struct env_op *op, int64_t res)
{
    struct caller *c = list_entry(op, struct caller, send);
    if (res > 0)
        call(c);
}

static void call_recv(struct env_op *op, int64_t res)
{
    struct caller *c = list_entry(op, struct caller, recv);
    if (res > 0)
        env_recv(op, &c->s, (struct span){c->got, sizeof c->got});
}

static void call_connected(struct env_op *op, int64_t res)
{
    struct caller *c = list_entry(op, struct caller, connect);
    if (res < 0)
        return;
    call(c);
    env_recv(&c->recv, &c->s, (struct span){c->got, sizeof c->got});
}

static uint64_t busy_world(uint64_t seed, uint64_t ms, uint64_t *events)
{
    struct echo *e = calloc(1, sizeof *e);
    struct caller *c = calloc(1, sizeof *c);
    uint64_t hash;
    struct lab x;

    lab_open(&x, seed);
    e->recv.done = echo_recv;
    e->send.done = echo_sent;
    e->write.done = echo_written;
    c->connect.done = call_connected;
    c->send.done = call_sent;
    c->recv.done = call_recv;
    assert_int_equal(env_open(&x.b->env, &e->f, "/log", ENV_CREATE, NULL), 0);
    assert_int_equal(env_listen(&x.b->env, &e->k.listener, ":1", echo_accept), 0);
    c->s.env = &x.a->env;
    env_connect(&c->connect, &c->s, "b:1");
    sim_run(&x.sim, x.sim.now + ENV_MS(ms), NULL, NULL);
    assert_true(e->rounds > ms / 10);
    if (seed % 2)
        sim_crash(x.b);
    else
        sim_power_cut(x.b);
    free(e);
    sim_start(x.b);
    sim_run(&x.sim, x.sim.now + ENV_MS(50), NULL, NULL);
    hash = sim_trace_hash(&x.sim);
    *events = x.sim.n_events;
    lab_close(&x);
    free(c);
    return hash;
}

static void the_same_seed_gives_the_same_world_and_another_seed_another(void **state)
{
    uint64_t n[3], h[3];

    for (uint64_t seed = 0; seed < 10; seed++) {
        h[0] = busy_world(seed, 100, &n[0]);
        h[1] = busy_world(seed, 100, &n[1]);
        h[2] = busy_world(seed + 1000, 100, &n[2]);
        assert_true(h[0] == h[1]);
        assert_true(n[0] == n[1]);
        assert_true(h[0] != h[2]);
    }
}

static int fired;

static void alarm_fire(struct sim_alarm *a)
{
    fired++;
}

static void alarms_fire_once_unless_canceled_and_the_run_stops_on_time(void **state)
{
    struct sim_alarm a = {.fire = alarm_fire}, b = {.fire = alarm_fire};
    struct lab x;
    uint64_t begin;

    lab_open(&x, 1);
    begin = x.sim.now;
    fired = 0;
    sim_alarm_set(&x.sim, &a, begin + 500);
    sim_alarm_set(&x.sim, &b, begin + 600);
    sim_alarm_set(&x.sim, &a, begin + 700); /* moved */
    sim_alarm_cancel(&x.sim, &b);
    sim_run(&x.sim, begin + 650, NULL, NULL);
    assert_int_equal(fired, 0);
    assert_true(x.sim.now == begin + 650);
    sim_run(&x.sim, begin + 1000, NULL, NULL);
    assert_int_equal(fired, 1);
    lab_close(&x);
}

static void a_wall_clock_may_jump_while_the_monotonic_one_does_not(void **state)
{
    struct lab x;
    int64_t wall;
    uint64_t now;

    lab_open(&x, 1);
    sim_enter(x.a);
    wall = env_wall_ms(&x.a->env);
    now = x.a->env.now;
    x.a->wall_skew_ms = -5000;
    sim_enter(x.a);
    assert_int_equal(env_wall_ms(&x.a->env), wall - 5000);
    assert_true(x.a->env.now == now);
    assert_true(x.b->env.now != now); /* no clock of another node */
    lab_close(&x);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_point_crashes_the_node_and_its_owner_hears_of_it_afterwards),
        cmocka_unit_test(a_wait_call_that_meets_a_crash_fails_and_all_later_ones_too),
        cmocka_unit_test(the_same_seed_gives_the_same_world_and_another_seed_another),
        cmocka_unit_test(alarms_fire_once_unless_canceled_and_the_run_stops_on_time),
        cmocka_unit_test(a_wall_clock_may_jump_while_the_monotonic_one_does_not),
    };
    if (argc > 1) { /* how fast: `time test_sim_world MS` of a busy world */
        uint64_t n, h = busy_world(2, strtoull(argv[1], NULL, 10), &n);
        printf("%llu events, trace %016llx\n", (unsigned long long)n, (unsigned long long)h);
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}

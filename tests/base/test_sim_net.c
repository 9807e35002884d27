/* tests/base/test_sim_net.c - how the simulated network breaks. */
#include "support_lab.h"

struct link {
    struct env_stream listener, server, client;
    bool accepted;
};

static void accept_one(struct env_stream *l)
{
    struct link *k = list_entry(l, struct link, listener);
    if (!k->accepted && env_accept(l, &k->server) == 0)
        k->accepted = true;
}

static bool is_accepted(void *u)
{
    return ((struct link *)u)->accepted;
}

static void link_open(struct lab *x, struct link *k)
{
    struct wait w;

    memset(k, 0, sizeof *k);
    assert_int_equal(env_listen(&x->b->env, &k->listener, "b:9092", accept_one), 0);
    k->client.env = &x->a->env;
    wait_init(&w, &x->world);
    env_connect(&w.op, &k->client, "b:9092");
    assert_int_equal(wait_for(&w), 0);
    assert_true(sim_run(&x->sim, x->sim.now + ENV_S(1), is_accepted, k));
}

static void send_ping(struct lab *x, struct wait *w, struct env_stream *s)
{
    static const struct slice v = {(const unsigned char *)"ping", 4};
    wait_init(w, &x->world);
    env_send(&w->op, s, &v, 1);
}

static void recv_some(struct lab *x, struct wait *w, struct env_stream *s)
{
    static unsigned char b[64];
    wait_init(w, &x->world);
    env_recv(&w->op, s, (struct span){b, sizeof b});
}

static void a_half_open_connection_swallows_without_an_error(void **state)
{
    struct wait s, r;
    struct link k;
    struct lab x;

    lab_open(&x, 1);
    link_open(&x, &k);
    assert_true(sim_net_half_open(&x.sim, x.a, x.b));
    recv_some(&x, &r, &k.server);
    send_ping(&x, &s, &k.client);
    lab_pass(&x, 60);
    assert_true(s.done);
    assert_int_equal(s.res, 4);
    assert_false(r.done);
    lab_close(&x);
}

static void a_partition_holds_bytes_and_connects_until_it_heals(void **state)
{
    struct env_stream again;
    struct wait s, r, c;
    struct link k;
    struct lab x;

    lab_open(&x, 1);
    link_open(&x, &k);
    sim_net_partition(&x.sim, x.a, x.b, true);
    recv_some(&x, &r, &k.server);
    send_ping(&x, &s, &k.client);
    again.env = &x.a->env;
    wait_init(&c, &x.world);
    env_connect(&c.op, &again, "b:9092");
    lab_pass(&x, 10);
    assert_false(r.done);
    assert_false(c.done);
    sim_net_heal(&x.sim);
    lab_pass(&x, 1);
    assert_true(r.done);
    assert_int_equal(r.res > 0, 1);
    assert_true(c.done);
    assert_int_equal(c.res, 0);
    lab_close(&x);
}

static void a_cut_resets_both_ends(void **state)
{
    struct wait r, q;
    struct link k;
    struct lab x;

    lab_open(&x, 1);
    link_open(&x, &k);
    recv_some(&x, &r, &k.server);
    recv_some(&x, &q, &k.client);
    assert_true(sim_net_cut(&x.sim, x.a, x.b));
    assert_false(sim_net_cut(&x.sim, x.a, x.b)); /* there was but one */
    assert_int_equal(wait_for(&r), -ERR_RESET);
    assert_int_equal(wait_for(&q), -ERR_RESET);
    send_ping(&x, &r, &k.client);
    assert_int_equal(wait_for(&r), -ERR_RESET);
    lab_close(&x);
}

static void connections_are_refused_where_told(void **state)
{
    struct env_stream s;
    struct wait w;
    struct link k;
    struct lab x;

    lab_open(&x, 1);
    link_open(&x, &k);
    sim_net_refuse(&x.sim, x.a, x.b, true);
    s.env = &x.a->env;
    wait_init(&w, &x.world);
    env_connect(&w.op, &s, "b:9092");
    assert_int_equal(wait_for(&w), -ERR_REFUSED);
    s.env = &x.a->env;
    wait_init(&w, &x.world);
    env_connect(&w.op, &s, "nowhere:9092");
    assert_int_equal(wait_for(&w), -ERR_RESOLVE);
    lab_close(&x);
}

static void a_crash_closes_streams_for_the_peer(void **state)
{
    struct wait r;
    struct link k;
    struct lab x;

    lab_open(&x, 1);
    link_open(&x, &k);
    recv_some(&x, &r, &k.client);
    sim_crash(x.b);
    assert_int_equal(wait_for(&r), 0);
    lab_close(&x);
}

static void after_a_power_cut_the_peer_hears_nothing_until_the_host_is_back(void **state)
{
    struct wait r, s;
    struct link k;
    struct lab x;

    lab_open(&x, 1);
    link_open(&x, &k);
    recv_some(&x, &r, &k.client);
    sim_power_cut(x.b);
    send_ping(&x, &s, &k.client);
    lab_pass(&x, 30);
    assert_true(s.done);
    assert_false(r.done);
    sim_start(x.b);
    send_ping(&x, &s, &k.client);
    assert_int_equal(wait_for(&r), -ERR_RESET);
    lab_close(&x);
}

static enum sim_send fate;

static enum sim_send on_send(void *u, struct sim_node *from, struct sim_node *to,
                             struct slice first, uint64_t n)
{
    enum sim_send f = fate;
    assert_string_equal(from->name, "a");
    assert_string_equal(to->name, "b");
    assert_int_equal(n, 4);
    assert_memory_equal(first.p, "ping", 4);
    fate = SIM_PASS;
    return f;
}

static void a_send_is_cut_before_or_after_it_arrives(void **state)
{
    for (fate = SIM_CUT_BEFORE; fate <= SIM_CUT_AFTER;) {
        enum sim_send now = fate;
        struct wait r, s, q;
        struct link k;
        struct lab x;
        lab_open(&x, 1);
        x.sim.hooks.on_send = on_send;
        link_open(&x, &k);
        recv_some(&x, &r, &k.server);
        recv_some(&x, &q, &k.client);
        send_ping(&x, &s, &k.client);
        assert_int_equal(wait_for(&r), now == SIM_CUT_AFTER ? 4 : -ERR_RESET);
        assert_int_equal(wait_for(&q), -ERR_RESET);
        assert_int_equal(wait_for(&s), now == SIM_CUT_AFTER ? 4 : -ERR_RESET);
        lab_pass(&x, 1);
        lab_close(&x);
        if (now == SIM_CUT_AFTER)
            break;
        fate = SIM_CUT_AFTER;
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_half_open_connection_swallows_without_an_error),
        cmocka_unit_test(a_partition_holds_bytes_and_connects_until_it_heals),
        cmocka_unit_test(a_cut_resets_both_ends),
        cmocka_unit_test(connections_are_refused_where_told),
        cmocka_unit_test(a_crash_closes_streams_for_the_peer),
        cmocka_unit_test(after_a_power_cut_the_peer_hears_nothing_until_the_host_is_back),
        cmocka_unit_test(a_send_is_cut_before_or_after_it_arrives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

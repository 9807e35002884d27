/* tests/base/test_sim_faults.c - how the simulated world breaks: crashes, power cuts, disks, network. */
#include "support_world.h"
#include "base/env_sim.h"
#include <stdio.h>
#include <stdlib.h>

struct lab {
    struct sim sim;
    struct sim_node *a, *b;
    struct world world; /* for struct wait */
};

static void lab_turn(struct world *w)
{
    struct lab *x = w->impl;
    sim_step(&x->sim);
}

static void lab_open(struct lab *x, uint64_t seed)
{
    memset(x, 0, sizeof *x);
    sim_init(&x->sim, seed);
    x->a = sim_node_add(&x->sim, "a", NULL);
    x->b = sim_node_add(&x->sim, "b", NULL);
    x->world.turn = lab_turn;
    x->world.impl = x;
    x->world.env = &x->a->env;
    assert_int_equal(env_mkdir(&x->a->env, "/d"), 0);
    assert_int_equal(env_sync_dir_wait(&x->a->env, "/"), 0);
}

static void lab_close(struct lab *x)
{
    sim_deinit(&x->sim);
}

static void file_open(struct lab *x, struct env_file *f, const char *path)
{
    assert_int_equal(env_open(&x->a->env, f, path, ENV_CREATE, NULL), 0);
}

static int64_t put(struct env_file *f, uint64_t at, const void *p, size_t n, int flags)
{
    struct slice v = slice_of(p, n);
    return env_write_wait(f, at, &v, 1, flags);
}

static void put_ok(struct env_file *f, uint64_t at, const void *p, size_t n, int flags)
{
    assert_int_equal(put(f, at, p, n, flags), n);
}

static int64_t get(struct env_file *f, uint64_t at, void *p, size_t n)
{
    return env_read_wait(f, at, (struct span){p, n});
}

/* ---- disk ---- */

enum { N = 4096 };

static void a_process_crash_keeps_every_byte_but_they_stay_unsynced(void **state)
{
    int kept = 0, lost = 0;

    for (uint64_t seed = 0; seed < 40; seed++) {
        unsigned char b[8];
        struct env_file f;
        struct lab x;
        int64_t n;
        lab_open(&x, seed);
        file_open(&x, &f, "/d/f");
        assert_int_equal(env_sync_dir_wait(&x.a->env, "/d"), 0);
        put_ok(&f, 0, "unsynced", 8, 0);
        for (int i = 0; i < 3; i++) { /* over several incarnations */
            sim_crash(x.a);
            sim_start(x.a);
            file_open(&x, &f, "/d/f");
            assert_int_equal(get(&f, 0, b, 8), 8);
            assert_memory_equal(b, "unsynced", 8);
        }
        sim_power_cut(x.a);
        sim_start(x.a);
        file_open(&x, &f, "/d/f");
        n = get(&f, 0, b, 8);
        kept += n == 8;
        lost += n == 0;
        lab_close(&x);
    }
    assert_true(kept > 3);
    assert_true(lost > 3);
}

static void a_power_cut_loses_tears_and_garbles_only_what_was_not_synced(void **state)
{
    static unsigned char old[3 * N], new[N], b[3 * N];
    int whole = 0, lost = 0, torn = 0, garbled = 0;

    memset(old, 'o', sizeof old);
    memset(new, 'n', sizeof new);
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct env_file f;
        struct lab x;
        int n_old = 0, n_new = 0;
        lab_open(&x, seed);
        file_open(&x, &f, "/d/f");
        assert_int_equal(env_sync_dir_wait(&x.a->env, "/d"), 0);
        put_ok(&f, 0, old, 3 * N, ENV_SYNC);
        put_ok(&f, N, new, N, 0);
        sim_power_cut(x.a);
        sim_start(x.a);
        file_open(&x, &f, "/d/f");
        assert_int_equal(get(&f, 0, b, 3 * N), 3 * N);
        assert_memory_equal(b, old, N);
        assert_memory_equal(b + 2 * N, old, N);
        for (int i = N; i < 2 * N; i++) {
            n_old += b[i] == 'o';
            n_new += b[i] == 'n';
        }
        whole += n_new == N;
        lost += n_old == N;
        garbled += n_old + n_new < N - 3;
        torn += n_old + n_new == N && n_old && n_new && n_new % 512 == 0;
        lab_close(&x);
    }
    assert_true(whole > 10);
    assert_true(lost > 10);
    assert_true(torn > 10);
    assert_true(garbled > 5);
}

static void what_was_synced_survives_with_its_name_if_the_folder_was_synced_too(void **state)
{
    int forgotten = 0;

    for (uint64_t seed = 0; seed < 60; seed++) {
        unsigned char b[8];
        struct env_file f, g;
        struct lab x;
        lab_open(&x, seed);
        file_open(&x, &f, "/d/named");
        put_ok(&f, 0, "safe", 4, ENV_SYNC);
        assert_int_equal(env_sync_dir_wait(&x.a->env, "/d"), 0);
        file_open(&x, &g, "/d/unnamed");
        put_ok(&g, 0, "safe", 4, ENV_SYNC);
        sim_power_cut(x.a);
        sim_start(x.a);
        assert_int_equal(env_open(&x.a->env, &f, "/d/named", 0, NULL), 0);
        assert_int_equal(get(&f, 0, b, 8), 4);
        assert_memory_equal(b, "safe", 4);
        if (env_open(&x.a->env, &g, "/d/unnamed", 0, NULL) == -ERR_NOT_FOUND)
            forgotten++;
        else
            assert_int_equal(get(&g, 0, b, 8), 4);
        lab_close(&x);
    }
    assert_in_range(forgotten, 5, 55);
}

static void a_rename_not_synced_leaves_the_old_file_or_the_new_never_none(void **state)
{
    int old = 0, new = 0;

    for (uint64_t seed = 0; seed < 60; seed++) {
        unsigned char b[8];
        struct env_file f;
        struct lab x;
        lab_open(&x, seed);
        file_open(&x, &f, "/d/f");
        put_ok(&f, 0, "old", 3, ENV_SYNC);
        assert_int_equal(env_sync_dir_wait(&x.a->env, "/d"), 0);
        env_close(&f);
        file_open(&x, &f, "/d/f.tmp");
        put_ok(&f, 0, "new", 3, ENV_SYNC);
        assert_int_equal(env_rename(&x.a->env, "/d/f.tmp", "/d/f"), 0);
        sim_power_cut(x.a);
        sim_start(x.a);
        assert_int_equal(env_open(&x.a->env, &f, "/d/f", 0, NULL), 0);
        assert_int_equal(get(&f, 0, b, 8), 3);
        old += memcmp(b, "old", 3) == 0;
        new += memcmp(b, "new", 3) == 0;
        lab_close(&x);
    }
    assert_int_equal(old + new, 60);
    assert_true(old > 5);
    assert_true(new > 5);
}

static void a_removal_not_synced_may_come_back_a_synced_one_never(void **state)
{
    int back = 0;

    for (uint64_t seed = 0; seed < 60; seed++) {
        struct env_file f;
        struct lab x;
        lab_open(&x, seed);
        for (const char *n = "fg"; *n; n++) {
            char path[] = {'/', 'd', '/', *n, 0};
            file_open(&x, &f, path);
            put_ok(&f, 0, "1", 1, ENV_SYNC);
            env_close(&f);
        }
        assert_int_equal(env_sync_dir_wait(&x.a->env, "/d"), 0);
        assert_int_equal(env_remove_wait(&x.a->env, "/d/f"), 0);
        assert_int_equal(env_sync_dir_wait(&x.a->env, "/d"), 0);
        assert_int_equal(env_remove_wait(&x.a->env, "/d/g"), 0);
        sim_power_cut(x.a);
        sim_start(x.a);
        assert_int_equal(env_open(&x.a->env, &f, "/d/f", 0, NULL), -ERR_NOT_FOUND);
        back += env_open(&x.a->env, &f, "/d/g", 0, NULL) == 0;
        lab_close(&x);
    }
    assert_in_range(back, 5, 55);
}

static void a_truncation_not_synced_may_be_forgotten(void **state)
{
    int forgotten = 0;

    for (uint64_t seed = 0; seed < 60; seed++) {
        struct env_file f;
        struct lab x;
        lab_open(&x, seed);
        file_open(&x, &f, "/d/f");
        put_ok(&f, 0, "0123456789", 10, ENV_SYNC);
        assert_int_equal(env_sync_dir_wait(&x.a->env, "/d"), 0);
        assert_int_equal(env_truncate_wait(&f, 3), 0);
        sim_power_cut(x.a);
        sim_start(x.a);
        file_open(&x, &f, "/d/f");
        assert_true(env_size(&f) == 3 || env_size(&f) == 10);
        forgotten += env_size(&f) == 10;
        lab_close(&x);
    }
    assert_in_range(forgotten, 5, 55);
}

static void a_failed_sync_poisons_the_file_and_a_power_cut_takes_the_bytes(void **state)
{
    for (uint64_t seed = 0; seed < 30; seed++) {
        unsigned char b[8] = {0};
        struct env_file f;
        struct lab x;
        lab_open(&x, seed);
        file_open(&x, &f, "/d/f");
        put_ok(&f, 0, "good", 4, ENV_SYNC);
        assert_int_equal(env_sync_dir_wait(&x.a->env, "/d"), 0);
        sim_node_disk(x.a)->fail_syncs = 1;
        assert_int_equal(put(&f, 4, "bad!", 4, ENV_SYNC), -ERR_IO);
        assert_int_equal(put(&f, 4, "bad!", 4, ENV_SYNC), -ERR_IO); /* poisoned */
        sim_crash(x.a);
        sim_start(x.a);
        file_open(&x, &f, "/d/f");
        assert_int_equal(get(&f, 0, b, 8), 8); /* still readable */
        assert_memory_equal(b, "goodbad!", 8);
        assert_int_equal(put(&f, 0, NULL, 0, ENV_SYNC), 0); /* "succeeds", saves nothing */
        sim_power_cut(x.a);
        sim_start(x.a);
        file_open(&x, &f, "/d/f");
        assert_int_equal(get(&f, 0, b, 8), 4);
        assert_memory_equal(b, "good", 4);
        lab_close(&x);
    }
}

static void what_recovery_writes_again_and_syncs_is_safe_after_a_failed_sync(void **state)
{
    unsigned char b[8] = {0};
    struct env_file f;
    struct lab x;

    lab_open(&x, 5);
    file_open(&x, &f, "/d/f");
    assert_int_equal(env_sync_dir_wait(&x.a->env, "/d"), 0);
    sim_node_disk(x.a)->fail_syncs = 1;
    assert_int_equal(put(&f, 0, "kept", 4, ENV_SYNC), -ERR_IO);
    sim_crash(x.a);
    sim_start(x.a);
    file_open(&x, &f, "/d/f");
    put_ok(&f, 0, "kept", 4, ENV_SYNC);
    sim_power_cut(x.a);
    sim_start(x.a);
    file_open(&x, &f, "/d/f");
    assert_int_equal(get(&f, 0, b, 8), 4);
    lab_close(&x);
}

static void a_write_under_way_at_a_crash_is_there_in_part_or_whole_or_not(void **state)
{
    static unsigned char src[1000], b[1000];
    struct slice v = slice_of(src, sizeof src);
    int none = 0, part = 0, whole = 0;

    memset(src, 'x', sizeof src);
    for (uint64_t seed = 0; seed < 80; seed++) {
        struct env_file f;
        struct wait w;
        struct lab x;
        int64_t n;
        lab_open(&x, seed);
        file_open(&x, &f, "/d/f");
        wait_init(&w, &x.world);
        env_write(&w.op, &f, 0, &v, 1, ENV_SYNC);
        sim_crash(x.a);
        sim_start(x.a);
        file_open(&x, &f, "/d/f");
        n = get(&f, 0, b, sizeof b);
        none += n == 0;
        part += n > 0 && n < 1000;
        whole += n == 1000;
        sim_run(&x.sim, x.sim.now + ENV_S(1), NULL, NULL);
        assert_false(w.done);
        lab_close(&x);
    }
    assert_true(none + part + whole == 80);
    assert_true(part > 5);
    assert_true(whole > 5);
}

static void a_full_disk_refuses_and_goes_on_when_space_is_back(void **state)
{
    static unsigned char src[6000];
    struct env_file f, g;
    struct wait w;
    struct lab x;

    lab_open(&x, 3);
    sim_node_disk(x.a)->quota = 10000;
    assert_int_equal(env_space_free(&x.a->env, "/"), 10000);
    file_open(&x, &f, "/d/f");
    file_open(&x, &g, "/d/g");
    put_ok(&f, 0, src, 6000, 0);
    assert_int_equal(env_space_free(&x.a->env, "/"), 4000);
    assert_int_equal(put(&g, 0, src, 6000, 0), -ERR_NO_SPACE);
    assert_int_equal(env_truncate_wait(&g, 0), 0);
    wait_init(&w, &x.world);
    env_reserve(&w.op, &g, 0, 5000, 0);
    assert_int_equal(wait_for(&w), -ERR_NO_SPACE);
    put_ok(&f, 0, src, 6000, 0); /* what is there already takes no more space */
    env_close(&f);
    assert_int_equal(env_remove_wait(&x.a->env, "/d/f"), 0);
    assert_int_equal(env_space_free(&x.a->env, "/"), 10000);
    wait_init(&w, &x.world);
    env_reserve(&w.op, &g, 0, 7000, 0);
    assert_int_equal(wait_for(&w), 0);
    assert_int_equal(env_size(&g), 0);
    assert_int_equal(env_space_free(&x.a->env, "/"), 3000);
    put_ok(&g, 0, src, 6000, 0);
    lab_close(&x);
}

static void errors_of_the_disk_strike_at_random(void **state)
{
    unsigned char b[8];
    struct env_file f;
    struct lab x;
    int bad_writes = 0, bad_reads = 0;

    lab_open(&x, 4);
    file_open(&x, &f, "/d/f");
    put_ok(&f, 0, "12345678", 8, ENV_SYNC);
    sim_node_disk(x.a)->write_fails = sim_node_disk(x.a)->read_fails = 300000;
    for (int i = 0; i < 100; i++) {
        bad_writes += put(&f, 0, "12345678", 8, 0) == -ERR_IO;
        bad_reads += get(&f, 0, b, 8) == -ERR_IO;
    }
    assert_in_range(bad_writes, 10, 60);
    assert_in_range(bad_reads, 10, 60);
    lab_close(&x);
}

static void a_crash_frees_locks_and_a_power_cut_changes_the_boot(void **state)
{
    struct env_id before, crashed, cut;
    struct sim_node *c;
    struct lab x;

    lab_open(&x, 1);
    c = sim_node_add(&x.sim, "c", x.a);
    assert_int_equal(env_lock(&x.a->env, "/d/lock"), 0);
    assert_int_equal(env_lock(&c->env, "/d/lock"), -ERR_BUSY);
    assert_int_equal(env_identify(&x.a->env, "/d", &before), 0);
    sim_crash(x.a);
    assert_int_equal(env_lock(&c->env, "/d/lock"), 0);
    sim_start(x.a);
    assert_int_equal(env_identify(&x.a->env, "/d", &crashed), 0);
    assert_memory_equal(&before, &crashed, sizeof before);
    sim_power_cut(x.a);
    assert_false(c->up); /* the same host */
    assert_true(x.b->up);
    sim_start(x.a);
    assert_int_equal(env_lock(&x.a->env, "/d/lock"), 0);
    assert_int_equal(env_identify(&x.a->env, "/d", &cut), 0);
    assert_memory_equal(&before, &cut, offsetof(struct env_id, boot));
    assert_true(memcmp(before.boot, cut.boot, 16) != 0);
    lab_close(&x);
}

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
        file_open(&x, &f, "/d/f");
        x.sim.hooks.on_wait = on_name;
        strike_at = SIM_CRASH;
        strike_in = 2;
        put_ok(&f, 0, "1234", 4, 0);
        assert_int_equal(put(&f, 4, "5678", 4, ENV_SYNC), -ERR_CRASHED);
        assert_int_equal(get(&f, 0, b, 4), -ERR_CRASHED);
        assert_int_equal(env_sync_dir_wait(&x.a->env, "/d"), -ERR_CRASHED);
        assert_int_equal(env_remove_wait(&x.a->env, "/d/f"), -ERR_CRASHED);
        assert_int_equal(env_truncate_wait(&f, 0), -ERR_CRASHED);
        env_close(&f);
        sim_start(x.a);
        file_open(&x, &f, "/d/f");
        n = get(&f, 0, b, 8);
        assert_in_range(n, 4, 8);
        found |= n == 4 ? 1 : n == 8 ? 2 : 4;
        lab_close(&x);
    }
    assert_int_equal(found, 7);
}

/* ---- network ---- */

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

static void pass(struct lab *x, uint64_t s)
{
    sim_run(&x->sim, x->sim.now + ENV_S(s), NULL, NULL);
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
    pass(&x, 60);
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
    pass(&x, 10);
    assert_false(r.done);
    assert_false(c.done);
    sim_net_heal(&x.sim);
    pass(&x, 1);
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
    pass(&x, 30);
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
        pass(&x, 1);
        lab_close(&x);
        if (now == SIM_CUT_AFTER)
            break;
        fate = SIM_CUT_AFTER;
    }
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
        cmocka_unit_test(a_process_crash_keeps_every_byte_but_they_stay_unsynced),
        cmocka_unit_test(a_power_cut_loses_tears_and_garbles_only_what_was_not_synced),
        cmocka_unit_test(what_was_synced_survives_with_its_name_if_the_folder_was_synced_too),
        cmocka_unit_test(a_rename_not_synced_leaves_the_old_file_or_the_new_never_none),
        cmocka_unit_test(a_removal_not_synced_may_come_back_a_synced_one_never),
        cmocka_unit_test(a_truncation_not_synced_may_be_forgotten),
        cmocka_unit_test(a_failed_sync_poisons_the_file_and_a_power_cut_takes_the_bytes),
        cmocka_unit_test(what_recovery_writes_again_and_syncs_is_safe_after_a_failed_sync),
        cmocka_unit_test(a_write_under_way_at_a_crash_is_there_in_part_or_whole_or_not),
        cmocka_unit_test(a_full_disk_refuses_and_goes_on_when_space_is_back),
        cmocka_unit_test(errors_of_the_disk_strike_at_random),
        cmocka_unit_test(a_crash_frees_locks_and_a_power_cut_changes_the_boot),
        cmocka_unit_test(a_point_crashes_the_node_and_its_owner_hears_of_it_afterwards),
        cmocka_unit_test(a_wait_call_that_meets_a_crash_fails_and_all_later_ones_too),
        cmocka_unit_test(a_half_open_connection_swallows_without_an_error),
        cmocka_unit_test(a_partition_holds_bytes_and_connects_until_it_heals),
        cmocka_unit_test(a_cut_resets_both_ends),
        cmocka_unit_test(connections_are_refused_where_told),
        cmocka_unit_test(a_crash_closes_streams_for_the_peer),
        cmocka_unit_test(after_a_power_cut_the_peer_hears_nothing_until_the_host_is_back),
        cmocka_unit_test(a_send_is_cut_before_or_after_it_arrives),
        cmocka_unit_test(the_same_seed_gives_the_same_world_and_another_seed_another),
        cmocka_unit_test(alarms_fire_once_unless_canceled_and_the_run_stops_on_time),
        cmocka_unit_test(a_wall_clock_may_jump_while_the_monotonic_one_does_not),
    };
    if (argc > 1) { /* how fast: `time test_sim_faults MS` of a busy world */
        uint64_t n, h = busy_world(2, strtoull(argv[1], NULL, 10), &n);
        printf("%llu events, trace %016llx\n", (unsigned long long)n, (unsigned long long)h);
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}

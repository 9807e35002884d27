/* tests/runtime/client/test_cluster.c - the client against our own broker in a simulated world:
 * groups over restarts and crashes, and exactly-once output while the broker dies and
 * connections are cut. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/env_sim.h"
#include "broker/api/api.h"
#include "broker/broker.h"
#include "runtime/client/admin.h"
#include "runtime/client/fetcher.h"
#include "runtime/client/member.h"
#include "runtime/client/producer.h"
#include "txn/coordinator.h"
#include <stdio.h>
#include <stdlib.h>

enum { MEMBERS = 3, PARTS = 6, RECORDS = 300 };

struct worker {
    struct cluster *c;
    struct sim_node *node;
    struct client *client;
    struct member *member;
    char instance[16];
    bool is_static;
    bool owns[PARTS];
    int n_owned, assigned, revoked, lost, fatal;
    int32_t generation;
};
struct cluster {
    struct sim sim;
    struct sim_node *broker_node;
    struct broker *broker;
    struct txn_coordinator *txn;
    struct conf conf;
    struct sim_alarm again;
    struct worker w[MEMBERS];
};

/* ---- the broker ---- */

static void broker_up(struct cluster *c)
{
    struct broker_options o = {
        .data_dir = "data", .listen = "broker:9092", .advertise = "broker:9092", .conf = &c->conf};
    struct logdir_report report;
    struct err e = {0};
    char address[128];

    sim_enter(c->broker_node);
    assert_int_equal(broker_open(&c->broker, &c->broker_node->env, &o, &e), 0);
    assert_int_equal(txn_open(&c->txn, c->broker), 0);
    broker_api_install(c->broker);
    assert_int_equal(broker_recover(c->broker, &report, &e), 0);
    assert_int_equal(broker_listen(c->broker, address, sizeof address, &e), 0);
}

static void restart(struct sim_alarm *a)
{
    struct cluster *c = (struct cluster *)((char *)a - offsetof(struct cluster, again));
    sim_start(c->broker_node);
    broker_up(c);
}

static void on_down(void *u, struct sim_node *n, const char *why)
{
    struct cluster *c = u;

    if (n != c->broker_node)
        return; /* the tests tear down what they crash */
    txn_free(c->txn);
    broker_free(c->broker);
    c->txn = NULL;
    c->broker = NULL;
    sim_alarm_set(&c->sim, &c->again, c->sim.now + ENV_MS(1 + sim_random(&c->sim, 300)));
}

static void quiet(void *u, struct sim_node *n, enum env_level level, const char *line)
{
    if (getenv("LOUD"))
        fprintf(stderr, "%s: %s\n", n->name, line);
}

static struct cluster *cluster_open(uint64_t seed)
{
    struct cluster *c = calloc(1, sizeof *c);

    assert_non_null(c);
    sim_init(&c->sim, seed);
    c->sim.hooks = (struct sim_hooks){.u = c, .on_down = on_down, .on_log = quiet};
    c->again.fire = restart;
    c->broker_node = sim_node_add(&c->sim, "broker", NULL);
    conf_init(&c->conf);
    assert_int_equal(conf_set(&c->conf, slice_str("num.partitions"), slice_str("6")), 0);
    broker_up(c);
    return c;
}

static void client_up(struct worker *w, const char *name)
{
    struct client_options o = {.bootstrap = "broker:9092", .request_timeout_ms = 6000};
    struct err e;

    if (!w->node)
        w->node = sim_node_add(&w->c->sim, name, NULL);
    else
        sim_start(w->node);
    sim_enter(w->node);
    assert_int_equal(client_open(&w->client, &w->node->env, &o, &e), 0);
}

static void client_down(struct worker *w)
{
    if (!w->client)
        return;
    sim_crash(w->node);
    member_free(w->member);
    client_free(w->client);
    w->member = NULL;
    w->client = NULL;
}

static void cluster_close(struct cluster *c)
{
    for (int i = 0; i < MEMBERS; i++)
        client_down(&c->w[i]);
    sim_alarm_cancel(&c->sim, &c->again);
    if (c->broker) {
        c->sim.hooks.on_down = NULL;
        sim_crash(c->broker_node);
        txn_free(c->txn);
        broker_free(c->broker);
    }
    sim_deinit(&c->sim);
    conf_deinit(&c->conf);
    free(c);
}

static void pass(struct cluster *c, uint64_t ms)
{
    sim_run(&c->sim, c->sim.now + ENV_MS(ms), NULL, NULL);
}

struct result {
    bool done;
    int res;
};

static bool is_done(void *u)
{
    return ((struct result *)u)->done;
}

static int await(struct cluster *c, struct result *r, int seconds)
{
    if (!sim_run(&c->sim, c->sim.now + ENV_S((unsigned)seconds), is_done, r))
        fail_msg("nothing came within %d s", seconds);
    return r->res;
}

static void created(struct create_topic *op, int res, const struct err *e)
{
    *(struct result *)op->user = (struct result){true, res};
}

static void create(struct worker *w, const char *topic)
{
    struct result r = {0};
    struct create_topic op = {
        .topic = slice_str(topic), .partitions = PARTS, .done = created, .user = &r};
    sim_enter(w->node);
    admin_create_topic(w->client, &op);
    assert_int_equal(await(w->c, &r, 20), 0);
}

/* ---- groups ---- */

static void on_revoke(void *user)
{
    struct worker *w = user;
    w->revoked++;
    memset(w->owns, 0, sizeof w->owns);
    w->n_owned = 0;
    member_revoked(w->member);
}

static void on_assign(void *user, int32_t generation, const struct topic_partition *v, int n)
{
    struct worker *w = user;

    assert_true(generation >= w->generation);
    w->assigned++;
    w->generation = generation;
    memset(w->owns, 0, sizeof w->owns);
    w->n_owned = n;
    for (int i = 0; i < n; i++) {
        assert_true(slice_eq_str(v[i].topic, "t"));
        assert_true(i == 0 || v[i].partition > v[i - 1].partition);
        w->owns[v[i].partition] = true;
    }
    /* Within a generation nobody has what another has. */
    for (int k = 0; k < MEMBERS; k++) {
        const struct worker *o = &w->c->w[k];
        for (int p = 0; o != w && o->generation == generation && p < PARTS; p++)
            assert_false(o->owns[p] && w->owns[p]);
    }
}

static void on_lost(void *user, bool fatal, const struct err *e)
{
    struct worker *w = user;
    w->lost++;
    w->fatal += fatal;
    memset(w->owns, 0, sizeof w->owns);
    w->n_owned = 0;
}

static void join(struct worker *w)
{
    struct slice t = slice_str("t");
    struct member_options o = {.group = slice_str("g"),
                               .instance = w->is_static ? slice_str(w->instance) : SLICE_NULL,
                               .topics = &t,
                               .n_topics = 1,
                               .session_timeout_ms = 6000,
                               .heartbeat_ms = 500,
                               .user = w,
                               .on_revoke = on_revoke,
                               .on_assign = on_assign,
                               .on_lost = on_lost};
    sim_enter(w->node);
    assert_int_equal(member_open(&w->member, w->client, &o), 0);
    member_start(w->member);
}

static void worker_up(struct cluster *c, int i, bool is_static)
{
    struct worker *w = &c->w[i];
    char name[16];

    snprintf(name, sizeof name, "worker-%d", i);
    snprintf(w->instance, sizeof w->instance, "i%d", i);
    w->c = c;
    w->is_static = is_static;
    w->generation = -1;
    w->assigned = w->revoked = w->lost = w->fatal = w->n_owned = 0;
    memset(w->owns, 0, sizeof w->owns);
    client_up(w, name);
    if (!broker_topic(c->broker, slice_str("t")))
        create(w, "t");
    join(w);
}

static int settle_want[MEMBERS];

static bool settled(void *u)
{
    struct cluster *c = u;
    int32_t generation = -1;

    for (int i = 0; i < MEMBERS; i++) {
        struct worker *w = &c->w[i];
        if (settle_want[i] < 0)
            continue;
        if (!w->member || !member_stable(w->member) || w->n_owned != settle_want[i])
            return false;
        if (generation >= 0 && w->generation != generation)
            return false;
        generation = w->generation;
    }
    return true;
}

static void settle(struct cluster *c, int a, int b, int d, int seconds)
{
    settle_want[0] = a;
    settle_want[1] = b;
    settle_want[2] = d;
    if (!sim_run(&c->sim, c->sim.now + ENV_S((unsigned)seconds), settled, c))
        fail_msg("%d %d %d partitions, generations %d %d %d", c->w[0].n_owned, c->w[1].n_owned,
                 c->w[2].n_owned, c->w[0].generation, c->w[1].generation, c->w[2].generation);
}

static void members_share_the_partitions(void **state)
{
    for (int is_static = 0; is_static < 2; is_static++) {
        struct cluster *c = cluster_open(1);
        worker_up(c, 0, is_static);
        settle(c, 6, -1, -1, 10);
        worker_up(c, 1, is_static);
        settle(c, 3, 3, -1, 10);
        worker_up(c, 2, is_static);
        settle(c, 2, 2, 2, 10);
        for (int i = 0; i < MEMBERS; i++)
            assert_int_equal(c->w[i].lost, 0);
        cluster_close(c);
    }
}

static void all_stay_over_a_restart_of_the_broker(void **state)
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct cluster *c = cluster_open(seed);
        for (int i = 0; i < MEMBERS; i++)
            worker_up(c, i, seed % 2);
        settle(c, 2, 2, 2, 30);
        for (int k = 0; k < 3; k++) {
            if (seed % 3)
                sim_crash(c->broker_node);
            else
                sim_power_cut(c->broker_node);
            pass(c, sim_random(&c->sim, 3000));
            settle(c, 2, 2, 2, 60);
        }
        for (int i = 0; i < MEMBERS; i++)
            assert_int_equal(c->w[i].fatal, 0);
        cluster_close(c);
    }
}

static void left(void *user)
{
    *(struct result *)user = (struct result){true, 0};
}

static void who_leaves_frees_its_partitions_at_once(void **state)
{
    struct cluster *c = cluster_open(3);
    struct result r = {0};

    worker_up(c, 0, true);
    worker_up(c, 1, true);
    settle(c, 3, 3, -1, 20);
    sim_enter(c->w[1].node);
    member_leave(c->w[1].member, left, &r);
    await(c, &r, 5);
    settle(c, 6, -1, -1, 3);
    cluster_close(c);
}

static void a_crashed_member_is_replaced_after_its_session(void **state)
{
    struct cluster *c = cluster_open(4);

    worker_up(c, 0, true);
    worker_up(c, 1, true);
    settle(c, 3, 3, -1, 20);
    client_down(&c->w[1]);
    pass(c, 4000);
    assert_int_equal(c->w[0].n_owned, 3); /* the session is not over: the place is kept */
    settle(c, 6, -1, -1, 10);
    cluster_close(c);
}

static void a_member_stopped_past_its_session_is_told_and_comes_back(void **state)
{
    struct cluster *c = cluster_open(6);

    worker_up(c, 0, true);
    worker_up(c, 1, true);
    settle(c, 3, 3, -1, 20);
    sim_pause(c->w[1].node, c->sim.now + ENV_S(12));
    settle(c, 6, -1, -1, 11);
    assert_int_equal(c->w[1].lost, 0);
    settle(c, 3, 3, -1, 10);
    assert_int_equal(c->w[1].lost, 1);
    assert_int_equal(c->w[1].fatal, 0);
    cluster_close(c);
}

static void a_static_member_that_restarts_disturbs_nobody(void **state)
{
    struct cluster *c = cluster_open(5);

    worker_up(c, 0, true);
    worker_up(c, 1, true);
    settle(c, 3, 3, -1, 20);
    int revoked = c->w[0].revoked;
    client_down(&c->w[1]);
    pass(c, 500);
    worker_up(c, 1, true);
    settle(c, 3, 3, -1, 1);
    assert_int_equal(c->w[0].revoked, revoked);
    cluster_close(c);
}

static void the_group_survives_random_crashes_and_cuts(void **state)
{
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct cluster *c = cluster_open(seed);
        for (int i = 0; i < MEMBERS; i++)
            worker_up(c, i, true);
        for (int k = 0; k < 25; k++) {
            int i = (int)sim_random(&c->sim, MEMBERS);
            switch (sim_random(&c->sim, 5)) {
            case 0:
                if (c->broker)
                    sim_crash(c->broker_node);
                break;
            case 1:
                client_down(&c->w[i]);
                pass(c, sim_random(&c->sim, 1000));
                while (!c->broker)
                    pass(c, 100);
                worker_up(c, i, true);
                break;
            case 2: sim_net_cut(&c->sim, NULL, NULL); break;
            case 3: sim_net_half_open(&c->sim, NULL, NULL); break;
            default: break;
            }
            pass(c, sim_random(&c->sim, 2500));
        }
        settle(c, 2, 2, 2, 120);
        for (int i = 0; i < MEMBERS; i++)
            assert_int_equal(c->w[i].fatal, 0);
        cluster_close(c);
    }
}

/* ---- exactly once ---- */

static struct producer *producer;

static void stepped(void *user, int res, const struct err *e)
{
    *(struct result *)user = (struct result){true, res};
}

static int init_id(struct worker *w)
{
    struct result r = {0};
    sim_enter(w->node);
    producer_init_id(producer, stepped, &r);
    return await(w->c, &r, 600);
}

static int end_txn(struct worker *w, bool commit)
{
    struct result r = {0};
    sim_enter(w->node);
    producer_end(producer, commit, stepped, &r);
    return await(w->c, &r, 600);
}

static void offsets_fetched(struct fetch_offsets *op, int res, const struct err *e)
{
    *(struct result *)op->user = (struct result){true, res};
}

static int stable_offset(struct worker *w)
{
    for (;;) {
        struct result r = {0};
        struct fetch_offset_entry v = {.topic = slice_str("t"), .partition = 0};
        struct fetch_offsets op = {.group = slice_str("eo"),
                                   .stable = true,
                                   .v = &v,
                                   .n = 1,
                                   .done = offsets_fetched,
                                   .user = &r};
        arena_init(&op.arena, 1 << 20);
        sim_enter(w->node);
        admin_fetch_offsets(w->client, &op);
        int rc = await(w->c, &r, 60);
        arena_deinit(&op.arena);
        if (rc == 0)
            return v.offset < 0 ? 0 : (int)v.offset;
    }
}

static int one_transaction(struct worker *w, int from, int n)
{
    struct group_identity g = {.group = slice_str("eo"), .generation = -1};
    struct txn_offset o = {
        .topic = slice_str("t"), .partition = 0, .offset = from + n, .leader_epoch = -1};
    struct result r = {0}, s = {0};
    int rc;

    sim_enter(w->node);
    rc = producer_begin(producer);
    for (int i = from; !rc && i < from + n; i++) {
        char value[16];
        snprintf(value, sizeof value, "%d", i);
        struct producer_record rec = {.topic = slice_str("t"),
                                      .value = slice_str(value),
                                      .partition = i % PARTS,
                                      .timestamp = env_wall_ms(&w->node->env)};
        rc = producer_send(producer, &rec);
    }
    if (rc)
        return rc;
    producer_flush(producer, stepped, &r);
    rc = await(w->c, &r, 600);
    if (rc)
        return rc;
    sim_enter(w->node);
    producer_send_offsets(producer, &g, &o, 1, stepped, &s);
    rc = await(w->c, &s, 600);
    return rc ? rc : end_txn(w, true);
}

/* Everything committed, in order, once. */
static void check_output(struct worker *w)
{
    struct fetcher_options o = {.read_committed = true};
    struct fetcher *f;
    int next[PARTS], n = 0;

    sim_enter(w->node);
    assert_int_equal(fetcher_open(&f, w->client, &o), 0);
    for (int p = 0; p < PARTS; p++) {
        next[p] = p;
        assert_int_equal(fetcher_add(f, slice_str("t"), p, 0, NULL), 0);
    }
    for (int i = 0; i < 400; i++) {
        struct fetched r;
        struct err e;
        int rc;
        sim_enter(w->node);
        while ((rc = fetcher_next(f, &r, &e)) > 0) {
            char text[16];
            snprintf(text, sizeof text, "%.*s", SLICE_FMT(r.value));
            assert_int_equal(atoi(text), next[r.partition]);
            next[r.partition] += PARTS;
            n++;
        }
        assert_int_equal(rc, 0);
        pass(w->c, 50);
    }
    assert_int_equal(n, RECORDS);
    fetcher_free(f);
}

static void exactly_once(uint64_t seed)
{
    struct cluster *c = cluster_open(seed);
    struct worker *w = &c->w[0];
    struct producer_options o = {.transactional_id = slice_str("id"), .batch_bytes = 200};
    int at = 0, tries = 0;

    w->c = c;
    client_up(w, "worker-0");
    create(w, "t");
    sim_enter(w->node);
    assert_int_equal(producer_open(&producer, w->client, &o), 0);
    while (init_id(w))
        continue;
    while (at < RECORDS && tries++ < 500) {
        int n = 1 + (int)sim_random(&c->sim, 20), rc;
        switch (sim_random(&c->sim, 8)) {
        case 0: sim_net_cut(&c->sim, NULL, NULL); break;
        case 1: sim_net_half_open(&c->sim, NULL, NULL); break;
        case 2:
            if (c->broker)
                sim_crash(c->broker_node);
            break;
        case 3:
            if (c->broker && seed % 2)
                sim_power_cut(c->broker_node);
            break;
        default: break;
        }
        rc = one_transaction(w, at, at + n > RECORDS ? RECORDS - at : n);
        if (rc == 0) {
            at = at + n > RECORDS ? RECORDS : at + n;
            continue;
        }
        if (rc == -ERR_ABORTABLE)
            rc = end_txn(w, false);
        assert_int_not_equal(rc, -ERR_BROKER);
        assert_int_not_equal(rc, -ERR_STATE);
        while (rc)
            rc = init_id(w);
        at = stable_offset(w);
    }
    assert_int_equal(at, RECORDS);
    check_output(w);
    sim_crash(w->node);
    producer_free(producer);
    client_down(w);
    cluster_close(c);
}

static void committed_output_is_exact_while_the_broker_dies(void **state)
{
    for (uint64_t seed = 1; seed <= 15; seed++)
        exactly_once(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_share_the_partitions),
        cmocka_unit_test(all_stay_over_a_restart_of_the_broker),
        cmocka_unit_test(who_leaves_frees_its_partitions_at_once),
        cmocka_unit_test(a_crashed_member_is_replaced_after_its_session),
        cmocka_unit_test(a_member_stopped_past_its_session_is_told_and_comes_back),
        cmocka_unit_test(a_static_member_that_restarts_disturbs_nobody),
        cmocka_unit_test(the_group_survives_random_crashes_and_cuts),
        cmocka_unit_test(committed_output_is_exact_while_the_broker_dies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

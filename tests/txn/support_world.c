/* tests/txn/support_world.c - see the header. */
#include "tests/txn/support_world.h"
#include "base/check.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

static void tear_down(struct world *w)
{
    broker_free(w->b);
    txn_free(w->c);
    w->b = NULL;
    w->c = NULL;
    w->down = true;
}

static void on_down(void *u, struct sim_node *n, const char *why)
{
    tear_down(u);
}

static void on_log(void *u, struct sim_node *n, enum env_level level, const char *line)
{
    if (getenv("TEST_LOG"))
        fprintf(stderr, "%s %s\n", n->name, line);
}

void world_up(struct world *w)
{
    struct broker_options o = {.data_dir = "data", .listen = "0.0.0.0:9092", .conf = &w->conf};
    if (w->down)
        sim_start(w->node);
    w->down = false;
    w->node->env.mutations = w->mutations;
    sim_enter(w->node);
    memset(&w->e, 0, sizeof w->e);
    int rc = broker_open(&w->b, &w->node->env, &o, &w->e);
    if (!rc)
        rc = txn_open(&w->c, w->b);
    if (!rc)
        rc = broker_recover(w->b, NULL, &w->e);
    if (rc)
        print_error("broker: %s\n", w->e.text);
    assert_int_equal(rc, 0);
}

static void make_topic(struct world *w, const char *name, int32_t partitions)
{
    struct topic *t;
    assert_int_equal(broker_topic_create(w->b, slice_str(name), partitions, NULL, &t, &w->e), 0);
}

static void world_make(struct world *w, uint64_t seed)
{
    memset(w, 0, sizeof *w);
    conf_init(&w->conf);
    sim_init(&w->sim, seed);
    w->sim.hooks.u = w;
    w->sim.hooks.on_down = on_down;
    w->sim.hooks.on_log = on_log;
    w->node = sim_node_add(&w->sim, "broker-1", NULL);
    sim_enter(w->node);
}

void world_init_with(struct world *w, uint64_t seed, void (*fill)(struct world *w))
{
    world_make(w, seed);
    assert_int_equal(w->node->env.vt->mkdir(&w->node->env, "data"), 0);
    fill(w);
    world_up(w);
}

void world_init(struct world *w, uint64_t seed)
{
    world_make(w, seed);
    world_up(w);
    make_topic(w, "a", 2);
    make_topic(w, "b", 1);
    assert_true(world_settle(w));
}

void world_deinit(struct world *w)
{
    if (w->b)
        tear_down(w);
    sim_deinit(&w->sim);
    conf_deinit(&w->conf);
}

static bool is_down(void *u)
{
    return ((struct world *)u)->down;
}

void world_restart(struct world *w, bool power_cut)
{
    if (power_cut)
        sim_power_cut(w->node);
    else
        sim_crash(w->node);
    assert_true(sim_run(&w->sim, w->sim.now + ENV_S(1), is_down, w));
    world_up(w);
}

static void on_closed(void *user)
{
    *(bool *)user = true;
}
static bool is_true(void *u)
{
    return *(bool *)u;
}

void world_reopen(struct world *w)
{
    bool closed = false;
    sim_enter(w->node);
    broker_close(w->b, on_closed, &closed);
    assert_true(sim_run(&w->sim, w->sim.now + ENV_S(60), is_true, &closed));
    world_restart(w, true);
}

static bool settled(void *u)
{
    struct world *w = u;
    return w->down || logdir_durable(broker_logdir(w->b)) == logdir_staged(broker_logdir(w->b));
}

bool world_settle(struct world *w)
{
    assert_true(sim_run(&w->sim, w->sim.now + ENV_S(60), settled, w));
    if (!w->down)
        sim_enter(w->node);
    return !w->down;
}

void world_pass(struct world *w, uint64_t ms)
{
    sim_run(&w->sim, w->sim.now + ENV_MS(ms), is_down, w);
    if (!w->down)
        sim_enter(w->node);
}

struct partition *world_part(struct world *w, const char *topic, int32_t index)
{
    struct partition *p = broker_partition(w->b, slice_str(topic), index);
    assert_non_null(p);
    return p;
}

enum kafka_error world_produce(struct world *w, const char *transactional_id, const char *topic,
                               int32_t index, int64_t pid, int16_t epoch, int32_t sequence,
                               int32_t count, int16_t version, int64_t *offset)
{
    struct plug_request rq = {PLUG_CLIENT, version, slice_str(transactional_id)};
    struct batch_writer_options o = {.leader_epoch = -1,
                                     .attributes = transactional_id ? BATCH_TRANSACTIONAL : 0};
    struct batch_writer bw;
    struct batch_info info;
    struct buf out;
    bool duplicate, busy;
    int64_t at;
    buf_init(&out, 1 << 20);
    assert_int_equal(batch_writer_begin(&bw, &out, &o), 0);
    for (int i = 0; i < count; i++)
        assert_int_equal(batch_writer_add(&bw, env_wall_ms(&w->node->env), slice_str("k"),
                                          slice_str("v"), NULL, 0),
                         0);
    assert_int_equal(batch_writer_finish(&bw, pid, epoch, sequence), 0);
    assert_int_equal(batch_header(buf_slice(&out), &info), 0);
    enum kafka_error error = partition_append(w->b, world_part(w, topic, index), NULL,
                                              (struct span){out.p, out.n}, &info, &rq,
                                              offset ? offset : &at, &duplicate, &busy);
    buf_deinit(&out);
    return error;
}

int64_t world_stable(struct world *w, const char *topic, int32_t index)
{
    return partition_stable(w->b, world_part(w, topic, index));
}

int64_t world_hw(struct world *w, const char *topic, int32_t index)
{
    return partition_high_watermark(world_part(w, topic, index));
}

static void count_aborted(void *user, int64_t producer_id, int64_t first_offset)
{
    ++*(int *)user;
}

int world_aborted(struct world *w, const char *topic, int32_t index)
{
    const struct plug *plug = broker_plugged(w->b);
    int n = 0;
    plug->aborted(plug->self, world_part(w, topic, index), 0, INT64_MAX, count_aborted, &n);
    return n;
}

struct txn_answer world_init_id(struct world *w, const char *id, int64_t pid, int16_t epoch)
{
    struct txn_answer a;
    coordinator_init_id(w->c, slice_str(id), 10000, pid, epoch, &a);
    return a;
}

enum kafka_error world_add(struct world *w, const char *id, int64_t pid, int16_t epoch,
                           const char *topic, int32_t index)
{
    struct txn_add add = {slice_str(topic), index};
    return coordinator_add(w->c, slice_str(id), pid, epoch, 1, &add, 1);
}

struct txn_answer world_end(struct world *w, const char *id, int64_t pid, int16_t epoch,
                            bool commit, int version)
{
    struct txn_answer a;
    coordinator_end(w->c, slice_str(id), pid, epoch, commit, version, &a);
    return a;
}

/* tests/broker/support_node.c - see support_node.h. */
#include "support_node.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/check.h"
#include "broker/api/api.h"

/* ---- the worlds ---- */

struct uv_world {
    struct env_uv uv;
    struct env_uv_node broker, outside;
};
struct sim_world {
    struct sim sim;
    struct sim_node *broker, *outside;
    bool torn_down;
};

void world_open(struct world *w)
{
    struct uv_world *u = calloc(1, sizeof *u);
    memset(w, 0, sizeof *w);
    w->uv = u;
    conf_init(&w->conf);
    snprintf(w->dir, sizeof w->dir, "/tmp/once-broker-XXXXXX");
    assert_non_null(mkdtemp(w->dir));
    assert_int_equal(env_uv_open(&u->uv), 0);
    assert_int_equal(env_uv_node_open(&u->uv, &u->outside, "outside", 1), 0);
    w->outside = &u->outside.env;
}

static void down(void *u, struct sim_node *n, const char *why)
{
    struct world *w = u;
    if (n != w->sim->broker)
        return;
    broker_free(w->broker);
    w->broker = NULL;
    w->env = NULL;
}

static void log_line(void *u, struct sim_node *n, enum env_level level, const char *line)
{
    if (getenv("TEST_LOG"))
        fprintf(stderr, "%s: %s\n", n->name, line);
}

void world_open_sim(struct world *w, uint64_t seed)
{
    struct sim_world *s = calloc(1, sizeof *s);
    memset(w, 0, sizeof *w);
    w->sim = s;
    conf_init(&w->conf);
    sim_init(&s->sim, seed);
    s->sim.hooks.u = w;
    s->sim.hooks.on_down = down;
    s->sim.hooks.on_log = log_line;
    s->broker = sim_node_add(&s->sim, "broker-1", NULL);
    s->outside = sim_node_add(&s->sim, "outside", NULL);
    w->outside = &s->outside->env;
}

struct sim *world_sim(struct world *w)
{
    return &w->sim->sim;
}

void world_close(struct world *w)
{
    char command[160];
    if (w->broker)
        world_kill(w);
    conf_deinit(&w->conf);
    if (w->sim) {
        sim_deinit(&w->sim->sim);
        free(w->sim);
        return;
    }
    env_uv_node_close(&w->uv->uv, &w->uv->outside);
    env_uv_close(&w->uv->uv);
    free(w->uv);
    snprintf(command, sizeof command, "rm -rf %s", w->dir);
    assert_int_equal(system(command), 0);
}

static void node_up(struct world *w)
{
    if (w->sim) {
        if (!w->sim->broker->up)
            sim_start(w->sim->broker);
        w->env = &w->sim->broker->env;
        sim_enter(w->sim->broker);
    } else {
        assert_int_equal(env_uv_node_open(&w->uv->uv, &w->uv->broker, "broker-1", 2), 0);
        w->env = &w->uv->broker.env;
        w->env->level = ENV_ERROR;
    }
    w->env->mutations = w->mutations;
}

void world_start(struct world *w)
{
    char data[160];
    struct err e = {0};
    snprintf(data, sizeof data, "%s%sdata", w->dir, w->sim ? "" : "/");
    struct broker_options o = {
        .data_dir = data,
        .listen = w->sim ? "0.0.0.0:9092" : "127.0.0.1:0",
        .conf = &w->conf,
    };
    assert_null(w->broker);
    node_up(w);
    int rc = broker_open(&w->broker, w->env, &o, &e);
    if (!rc) {
        broker_api_install(w->broker);
        rc = broker_recover(w->broker, NULL, &e);
    }
    if (!rc)
        rc = broker_listen(w->broker, w->address, sizeof w->address, &e);
    if (rc)
        fail_msg("broker: %s", e.text);
    if (w->sim)
        snprintf(w->address, sizeof w->address, "broker-1:9092");
}

static bool is_down(void *u)
{
    return !((struct world *)u)->broker;
}

void world_kill(struct world *w)
{
    if (w->sim) {
        sim_crash(w->sim->broker);
        assert_true(sim_run(&w->sim->sim, w->sim->sim.now + ENV_S(1), is_down, w));
        return;
    }
    env_uv_node_stop(&w->uv->uv, &w->uv->broker);
    broker_free(w->broker);
    w->broker = NULL;
    env_uv_node_close(&w->uv->uv, &w->uv->broker);
    w->env = NULL;
}

void world_power_cut(struct world *w)
{
    sim_power_cut(w->sim->broker);
    assert_true(sim_run(&w->sim->sim, w->sim->sim.now + ENV_S(1), is_down, w));
}

static void stopped(void *user)
{
    ((struct world *)user)->stopped = true;
}

void world_stop(struct world *w)
{
    uint64_t until = world_now_ms(w) + 10000;
    w->stopped = false;
    if (w->sim)
        sim_enter(w->sim->broker);
    broker_close(w->broker, stopped, w);
    while (!w->stopped && world_now_ms(w) < until)
        world_pass(w, 1);
    assert_true(w->stopped);
    world_kill(w);
}

uint64_t world_now_ms(const struct world *w)
{
    return (w->sim ? w->sim->sim.now : w->outside->now) / 1000000;
}

static void nothing(struct env_timer *t)
{
}

void world_pass(struct world *w, int ms)
{
    if (w->sim) {
        sim_run(&w->sim->sim, w->sim->sim.now + ENV_MS(ms), NULL, NULL);
        sim_enter(w->sim->outside);
        return;
    }
    struct env_timer t = {.fire = nothing};
    uint64_t until = w->outside->now + ENV_MS(ms);
    do {
        env_timer_set(w->outside, &t, until);
        assert_int_equal(env_uv_turn(&w->uv->uv, true), 0);
    } while (w->outside->now < until);
    env_timer_stop(w->outside, &t);
}

size_t world_rss(void)
{
    long pages = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%ld %ld", &pages, &resident), 2);
    fclose(f);
    return (size_t)resident * (size_t)sysconf(_SC_PAGESIZE);
}

/* ---- peers ---- */

static void receive(struct peer *p);

static void received(struct env_op *op, int64_t res)
{
    struct peer *p = list_entry(op, struct peer, op);
    p->receiving = false;
    if (res <= 0) {
        p->closed = true;
        return;
    }
    assert_int_equal(buf_put(&p->in, p->space, (size_t)res), 0);
    receive(p);
}

static void receive(struct peer *p)
{
    if (p->receiving || p->closed || p->shut || p->paused)
        return;
    p->receiving = true;
    p->op.done = received;
    env_recv(&p->op, &p->stream, (struct span){p->space, sizeof p->space});
}

static void connected(struct env_op *op, int64_t res)
{
    struct peer *p = list_entry(op, struct peer, op);
    assert_int_equal(res, 0);
    p->connected = true;
}

void peer_open(struct peer *p, struct world *w)
{
    memset(p, 0, sizeof *p);
    p->w = w;
    buf_init(&p->in, (size_t)1 << 30);
    arena_init(&p->arena, 64 << 20);
    p->stream.env = w->outside;
    p->op.done = connected;
    if (w->sim)
        sim_enter(w->sim->outside);
    env_connect(&p->op, &p->stream, w->address);
    for (int i = 0; i < 3000 && !p->connected; i++)
        world_pass(w, 1);
    assert_true(p->connected);
    receive(p);
}

static void shut_done(struct env_op *op, int64_t res)
{
    list_entry(op, struct peer, shut_op)->connected = false;
}

void peer_close(struct peer *p)
{
    p->shut = true;
    p->shut_op.done = shut_done;
    env_shut(&p->shut_op, &p->stream);
    for (int i = 0; i < 3000 && p->connected; i++)
        world_pass(p->w, 1);
    assert_false(p->connected);
    buf_deinit(&p->in);
    arena_deinit(&p->arena);
}

static void send_done(struct env_op *op, int64_t res)
{
    struct peer *p = list_entry(op, struct peer, send_op);
    p->sending = false;
    if (res < 0)
        p->closed = true;
}

bool peer_send(struct peer *p, struct slice bytes, int ms)
{
    uint64_t until = world_now_ms(p->w) + (uint64_t)ms;
    p->out = bytes;
    p->sending = true;
    p->send_op.done = send_done;
    env_send(&p->send_op, &p->stream, &p->out, 1);
    while (p->sending && world_now_ms(p->w) < until)
        world_pass(p->w, 1);
    return !p->sending;
}

bool peer_frame(struct peer *p, struct slice *frame, int ms)
{
    uint64_t until = world_now_ms(p->w) + (uint64_t)ms;
    static unsigned char *last;
    for (;;) {
        size_t n = p->in.n >= 4 ? get_be32(p->in.p) : 0;
        if (p->in.n >= 4 && p->in.n - 4 >= n) {
            free(last);
            last = malloc(n + 1);
            memcpy(last, p->in.p + 4, n);
            memmove(p->in.p, p->in.p + 4 + n, p->in.n - 4 - n);
            p->in.n -= 4 + n;
            *frame = slice_of(last, n);
            return true;
        }
        if (p->closed || world_now_ms(p->w) >= until)
            return false;
        world_pass(p->w, 1);
    }
}

bool peer_gone(struct peer *p, int ms)
{
    uint64_t until = world_now_ms(p->w) + (uint64_t)ms;
    while (!p->closed && world_now_ms(p->w) < until)
        world_pass(p->w, 1);
    return p->closed;
}

void request_put(struct buf *out, int16_t key, int16_t version, int32_t correlation, const void *m)
{
    struct request_header h;
    size_t at = out->n;
    request_header_init(&h);
    h.request_api_key = key;
    h.request_api_version = version;
    h.correlation_id = correlation;
    h.client_id = slice_str("test");
    assert_int_equal(wire_put_i32(out, 0), 0);
    assert_int_equal(wire_request_header_put(out, &h), 0);
    assert_int_equal(wire_encode(wire_api(key)->request, m, out, version), 0);
    put_be32(out->p + at, (uint32_t)(out->n - at - 4));
}

void response_read(struct peer *p, struct slice frame, int16_t key, int16_t version,
                   int32_t correlation, void *out)
{
    struct wire_in in = {frame.p, frame.n, &p->arena};
    int32_t got;
    assert_int_equal(wire_response_header(&got, &in, key, version), 0);
    assert_int_equal(got, correlation);
    assert_int_equal(wire_decode(wire_api(key)->response, out, &in, version), 0);
    assert_int_equal(in.n, 0);
}

void peer_call(struct peer *p, int16_t key, int16_t version, const void *m, void *out)
{
    struct buf b;
    struct slice frame;
    buf_init(&b, 64 << 20);
    arena_reset(&p->arena);
    request_put(&b, key, version, ++p->correlation, m);
    assert_true(peer_send(p, buf_slice(&b), 5000));
    buf_deinit(&b);
    assert_true(peer_frame(p, &frame, 10000));
    response_read(p, frame, key, version, p->correlation, out);
}

/* ---- shorthands ---- */

void batch_put(struct buf *out, const char *text, int n)
{
    struct batch_writer w;
    struct batch_writer_options o = {.leader_epoch = -1};
    assert_int_equal(batch_writer_begin(&w, out, &o), 0);
    for (int i = 0; i < n; i++) {
        char value[256];
        snprintf(value, sizeof value, "%s %d", text, i);
        assert_int_equal(
            batch_writer_add(&w, 1700000000000 + i, SLICE_NULL, slice_str(value), NULL, 0), 0);
    }
    assert_int_equal(batch_writer_finish(&w, -1, -1, -1), 0);
}

void produce_put(struct buf *out, int32_t correlation, const char *topic, int32_t partition,
                 struct slice batch, int16_t acks, int32_t timeout_ms)
{
    struct produce_request_partition_produce_data part = {partition, batch};
    struct produce_request_topic_produce_data t = {slice_str(topic), {&part, 1}};
    struct produce_request m;
    produce_request_init(&m);
    m.acks = acks;
    m.timeout_ms = timeout_ms;
    m.topic_data.v = &t;
    m.topic_data.n = 1;
    request_put(out, 0, 9, correlation, &m);
}

int16_t peer_produce(struct peer *p, const char *topic, int32_t partition, struct slice batch,
                     int64_t *base_offset)
{
    struct produce_response r;
    struct slice frame;
    struct buf b;
    buf_init(&b, 64 << 20);
    produce_put(&b, ++p->correlation, topic, partition, batch, -1, 10000);
    assert_true(peer_send(p, buf_slice(&b), 5000));
    buf_deinit(&b);
    arena_reset(&p->arena);
    assert_true(peer_frame(p, &frame, 15000));
    response_read(p, frame, 0, 9, p->correlation, &r);
    assert_int_equal(r.responses.n, 1);
    if (base_offset)
        *base_offset = r.responses.v[0].partition_responses.v[0].base_offset;
    return r.responses.v[0].partition_responses.v[0].error_code;
}

void fetch_put(struct buf *out, int32_t correlation, const char *topic, int32_t partition,
               int64_t offset, int32_t max_wait_ms, int32_t min_bytes, int8_t isolation)
{
    struct fetch_request_fetch_partition part;
    struct fetch_request_fetch_topic t = {slice_str(topic), {&part, 1}};
    struct fetch_request m;
    fetch_request_init(&m);
    fetch_request_fetch_partition_init(&part);
    part.partition = partition;
    part.fetch_offset = offset;
    part.partition_max_bytes = 8 << 20;
    m.max_wait_ms = max_wait_ms;
    m.min_bytes = min_bytes;
    m.max_bytes = 16 << 20;
    m.isolation_level = isolation;
    m.topics.v = &t;
    m.topics.n = 1;
    request_put(out, 1, 11, correlation, &m);
}

int16_t peer_create(struct peer *p, const char *topic, int32_t partitions, const char *key,
                    const char *value)
{
    struct create_topics_request_creatable_topic_config config = {slice_str(key), slice_str(value)};
    struct create_topics_request_creatable_topic t;
    struct create_topics_request m;
    struct create_topics_response r;
    create_topics_request_creatable_topic_init(&t);
    create_topics_request_init(&m);
    t.name = slice_str(topic);
    t.num_partitions = partitions;
    t.replication_factor = 1;
    t.configs.v = &config;
    t.configs.n = key ? 1 : 0;
    m.topics.v = &t;
    m.topics.n = 1;
    m.timeout_ms = 10000;
    peer_call(p, 19, 7, &m, &r);
    assert_int_equal(r.topics.n, 1);
    return r.topics.v[0].error_code;
}

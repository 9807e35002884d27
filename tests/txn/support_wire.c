/* tests/txn/support_wire.c - see the header. */
#include "tests/txn/support_wire.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void receive(struct wired_line *l);

static void on_connect(struct env_op *op, int64_t res)
{
    struct wired_line *l = list_entry(op, struct wired_line, op);
    assert_int_equal(res, 0);
    l->connected = true;
    receive(l);
}

static void on_sent(struct env_op *op, int64_t res)
{
    assert_true(res >= 0);
}

static void on_received(struct env_op *op, int64_t res)
{
    struct wired_line *l = list_entry(op, struct wired_line, op);
    assert_true(res > 0);
    assert_int_equal(buf_put(&l->in, l->space, (size_t)res), 0);
    receive(l);
}

static void receive(struct wired_line *l)
{
    l->op.done = on_received;
    env_recv(&l->op, &l->stream, (struct span){l->space, sizeof l->space});
}

static bool connected(void *u)
{
    return ((struct wired_line *)u)->connected;
}

static bool frame_there(void *u)
{
    struct wired_line *l = u;
    return l->in.n >= 4 && l->in.n >= 4 + get_be32(l->in.p);
}

void wired_init(struct wired *x, uint64_t seed)
{
    char address[64];
    memset(x, 0, sizeof *x);
    world_init(&x->w, seed);
    broker_api_install(x->w.b);
    assert_int_equal(broker_listen(x->w.b, address, sizeof address, &x->w.e), 0);
    x->client = sim_node_add(&x->w.sim, "client", NULL);
    for (int i = 0; i < WIRED_LINES; i++) {
        struct wired_line *l = &x->lines[i];
        buf_init(&l->in, 1 << 20);
        buf_init(&l->out, 1 << 20);
        arena_init(&l->arena, 1 << 20);
        l->stream.env = &x->client->env;
        l->op.done = on_connect;
        sim_enter(x->client);
        env_connect(&l->op, &l->stream, "broker-1:9092");
        assert_true(sim_run(&x->w.sim, x->w.sim.now + ENV_S(10), connected, l));
    }
    sim_enter(x->w.node);
}

void wired_deinit(struct wired *x)
{
    for (int i = 0; i < WIRED_LINES; i++) {
        buf_deinit(&x->lines[i].in);
        buf_deinit(&x->lines[i].out);
        arena_deinit(&x->lines[i].arena);
    }
    world_deinit(&x->w);
}

void wired_ask(struct wired *x, int line, int16_t key, int16_t version, const void *m)
{
    struct wired_line *l = &x->lines[line];
    struct request_header h;
    buf_reset(&l->out);
    request_header_init(&h);
    h.request_api_key = key;
    h.request_api_version = version;
    h.correlation_id = ++l->correlation;
    h.client_id = slice_str("test");
    assert_int_equal(wire_put_i32(&l->out, 0), 0);
    assert_int_equal(wire_request_header_put(&l->out, &h), 0);
    assert_int_equal(wire_encode(wire_api(key)->request, m, &l->out, version), 0);
    put_be32(l->out.p, (uint32_t)(l->out.n - 4));
    buf_reset(&l->in);
    struct slice bytes = buf_slice(&l->out);
    sim_enter(x->client);
    l->send_op.done = on_sent;
    env_send(&l->send_op, &l->stream, &bytes, 1);
    sim_enter(x->w.node);
}

bool wired_answered(struct wired *x, int line, uint64_t ms)
{
    bool there = sim_run(&x->w.sim, x->w.sim.now + ENV_MS(ms), frame_there, &x->lines[line]);
    sim_enter(x->w.node);
    return there;
}

void wired_take(struct wired *x, int line, int16_t key, int16_t version, void *out)
{
    struct wired_line *l = &x->lines[line];
    struct wire_in in = {l->in.p + 4, l->in.n - 4, &l->arena};
    int32_t got;
    arena_reset(&l->arena);
    assert_int_equal(wire_response_header(&got, &in, key, version), 0);
    assert_int_equal(got, l->correlation);
    assert_int_equal(wire_decode(wire_api(key)->response, out, &in, version), 0);
    assert_int_equal(in.n, 0);
}

void wired_call(struct wired *x, int16_t key, int16_t version, const void *m, void *out)
{
    wired_ask(x, 0, key, version, m);
    assert_true(wired_answered(x, 0, 10000));
    wired_take(x, 0, key, version, out);
}

void wired_sync_ms(struct wired *x, uint64_t ms)
{
    x->w.sim.timing.sync[0] = x->w.sim.timing.sync[1] = ENV_MS(ms);
}

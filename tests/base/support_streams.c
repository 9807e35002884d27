/* tests/base/support_streams.c - what streams must do in every world. */
#include "support_streams.h"
#include <stdlib.h>

static void on_ready(struct env_stream *l)
{
    struct pair *p = list_entry(l, struct pair, listener);
    assert_false(p->accepted);
    assert_int_equal(env_accept(l, &p->server), 0);
    p->accepted = true;
}

void pair_open(struct world *w, struct pair *p)
{
    char addr[64];
    struct wait x;

    memset(p, 0, sizeof *p);
    assert_int_equal(env_listen(w->env, &p->listener, w->address, on_ready), 0);
    assert_int_equal(env_accept(&p->listener, &p->server), -ERR_AGAIN);
    assert_int_equal(env_address(&p->listener, 0, addr, sizeof addr), 0);
    p->client.env = w->env;
    wait_init(&x, w);
    env_connect(&x.op, &p->client, addr);
    assert_int_equal(wait_for(&x), 0);
    for (int i = 0; i < 1000 && !p->accepted; i++)
        w->turn(w);
    assert_true(p->accepted);
}

static void shut(struct world *w, struct env_stream *s)
{
    struct wait x;
    wait_init(&x, w);
    env_shut(&x.op, s);
    assert_false(x.done);
    assert_int_equal(wait_for(&x), 0);
}

static void pair_close(struct world *w, struct pair *p)
{
    shut(w, &p->client);
    shut(w, &p->server);
    shut(w, &p->listener);
}

void addresses_name_both_ends(void **state)
{
    struct world *w = *state;
    struct pair p;
    char a[64], b[64];

    pair_open(w, &p);
    assert_int_equal(env_address(&p.client, 1, a, sizeof a), 0);
    assert_int_equal(env_address(&p.listener, 0, b, sizeof b), 0);
    assert_string_equal(a, b);
    assert_int_equal(env_address(&p.client, 0, a, sizeof a), 0);
    assert_int_equal(env_address(&p.server, 1, b, sizeof b), 0);
    assert_string_equal(a, b);
    assert_int_equal(env_address(&p.server, 1, b, 3), -ERR_TOO_BIG);
    pair_close(w, &p);
}

enum { BIG = 3 * 1024 * 1024, SLICES = 300 };

void all_bytes_arrive_in_order_through_small_reads(void **state)
{
    struct world *w = *state;
    unsigned char *src = malloc(BIG), *got = malloc(BIG);
    static struct slice v[SLICES];
    struct pair p;
    struct wait s, r;
    size_t at = 0, have = 0;
    int turn = 0;

    for (size_t i = 0; i < BIG; i++)
        src[i] = (unsigned char)(i ^ i >> 8 ^ i >> 16);
    for (int i = 0; i < SLICES; i++) {
        size_t n = i == SLICES - 1 ? BIG - at : (size_t)(i % 7) * 1500;
        v[i] = slice_of(src + at, n);
        at += n;
    }
    pair_open(w, &p);
    wait_init(&s, w);
    env_send(&s.op, &p.client, v, SLICES);
    while (have < BIG) {
        size_t n = (size_t)(++turn % 5) * 9000 + 1;
        wait_init(&r, w);
        env_recv(&r.op, &p.server, (struct span){got + have, n < BIG - have ? n : BIG - have});
        assert_true(wait_for(&r) > 0);
        have += (size_t)r.res;
    }
    assert_int_equal(wait_for(&s), BIG);
    assert_memory_equal(src, got, BIG);
    pair_close(w, &p);
    free(src);
    free(got);
}

void both_directions_echo(void **state)
{
    struct world *w = *state;
    struct slice v = slice_str("ping");
    unsigned char b[16];
    struct pair p;
    struct wait x, y;

    pair_open(w, &p);
    for (int i = 0; i < 20; i++) {
        struct env_stream *from = i % 2 ? &p.server : &p.client;
        struct env_stream *to = i % 2 ? &p.client : &p.server;
        size_t have = 0;
        wait_init(&x, w);
        env_send(&x.op, from, &v, 1);
        while (have < 4) {
            wait_init(&y, w);
            env_recv(&y.op, to, (struct span){b + have, sizeof b - have});
            assert_true(wait_for(&y) > 0);
            have += (size_t)y.res;
        }
        assert_memory_equal(b, "ping", 4);
        assert_int_equal(wait_for(&x), 4);
    }
    pair_close(w, &p);
}

void a_peer_that_closes_gives_recv_zero_after_its_last_byte(void **state)
{
    struct world *w = *state;
    struct slice v = slice_str("last");
    unsigned char b[16];
    struct pair p;
    struct wait x;
    size_t have = 0;

    pair_open(w, &p);
    wait_init(&x, w);
    env_send(&x.op, &p.client, &v, 1);
    assert_int_equal(wait_for(&x), 4);
    shut(w, &p.client);
    for (;;) {
        wait_init(&x, w);
        env_recv(&x.op, &p.server, (struct span){b + have, sizeof b - have});
        assert_true(wait_for(&x) >= 0);
        if (!x.res)
            break;
        have += (size_t)x.res;
    }
    assert_int_equal(have, 4);
    wait_init(&x, w);
    env_recv(&x.op, &p.server, (struct span){b, sizeof b});
    assert_int_equal(wait_for(&x), 0);
    shut(w, &p.server);
    shut(w, &p.listener);
}

void shut_first_cancels_what_is_in_flight(void **state)
{
    struct world *w = *state;
    unsigned char *big = calloc(1, 64 * BIG), b[16];
    struct slice v = slice_of(big, 64 * BIG);
    struct pair p;
    struct wait r, s, x;

    pair_open(w, &p);
    wait_init(&r, w);
    wait_init(&s, w);
    wait_init(&x, w);
    env_recv(&r.op, &p.client, (struct span){b, sizeof b});
    env_send(&s.op, &p.client, &v, 1); /* nobody reads: it cannot end */
    for (int i = 0; i < 5; i++)
        w->turn(w);
    env_shut(&x.op, &p.client);
    assert_int_equal(wait_for(&x), 0);
    assert_true(r.done);
    assert_true(s.done);
    assert_int_equal(r.res, -ERR_CANCELED);
    assert_int_equal(s.res, -ERR_CANCELED);
    assert_true(r.order < x.order);
    assert_true(s.order < x.order);
    shut(w, &p.server);
    shut(w, &p.listener);
    free(big);
}

void a_send_to_a_peer_that_is_gone_fails_in_the_end(void **state)
{
    struct world *w = *state;
    static unsigned char chunk[65536];
    struct slice v = slice_of(chunk, sizeof chunk);
    struct pair p;
    struct wait x;

    pair_open(w, &p);
    shut(w, &p.server);
    for (int i = 0; i < 1000; i++) {
        wait_init(&x, w);
        env_send(&x.op, &p.client, &v, 1);
        if (wait_for(&x) < 0)
            break;
    }
    assert_int_equal(x.res, -ERR_RESET);
    shut(w, &p.client);
    shut(w, &p.listener);
}

void connect_where_nobody_listens_is_refused(void **state)
{
    struct world *w = *state;
    struct env_stream s = {.env = w->env};
    struct pair p;
    char addr[64];
    struct wait x;

    pair_open(w, &p);
    assert_int_equal(env_address(&p.listener, 0, addr, sizeof addr), 0);
    pair_close(w, &p);
    wait_init(&x, w);
    env_connect(&x.op, &s, addr);
    assert_int_equal(wait_for(&x), -ERR_REFUSED);
    shut(w, &s);
    wait_init(&x, w);
    env_connect(&x.op, &s, "no port here");
    assert_int_equal(wait_for(&x), -ERR_INVALID);
    shut(w, &s);
}

void connect_is_canceled_by_shut(void **state)
{
    struct world *w = *state;
    struct env_stream s = {.env = w->env};
    struct pair p;
    char addr[64];
    struct wait x, y;

    pair_open(w, &p);
    assert_int_equal(env_address(&p.listener, 0, addr, sizeof addr), 0);
    shut(w, &p.client);
    shut(w, &p.server);
    shut(w, &p.listener);
    wait_init(&x, w);
    wait_init(&y, w);
    env_connect(&x.op, &s, addr);
    env_shut(&y.op, &s);
    assert_int_equal(wait_for(&y), 0);
    assert_true(x.done);
    assert_true(x.res < 0);
    assert_true(x.order < y.order);
}

void two_listeners_on_one_address_are_refused(void **state)
{
    struct world *w = *state;
    struct env_stream again;
    struct pair p;
    char addr[64];

    pair_open(w, &p);
    assert_int_equal(env_address(&p.listener, 0, addr, sizeof addr), 0);
    assert_int_equal(env_listen(w->env, &again, addr, on_ready), -ERR_ADDR_IN_USE);
    assert_int_equal(env_listen(w->env, &again, "nonsense", on_ready), -ERR_INVALID);
    pair_close(w, &p);
}

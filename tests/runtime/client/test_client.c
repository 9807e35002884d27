/* tests/runtime/client/test_client.c - calls: what is sent again, what is not, and how each
 * ends. */
#include "support_fake.h"
#include "runtime/client/admin.h"
#include <stdio.h>
#include <stdlib.h>

static struct fake *f;
static const struct client_options quick = {.request_timeout_ms = 3000};

struct probe {
    struct call call;
    bool done;
    int res, n_done;
    int16_t version;
};

static int put(struct call *call, struct buf *out, int16_t version)
{
    struct init_producer_id_request m;
    init_producer_id_request_init(&m);
    m.transactional_id = SLICE_NULL;
    m.transaction_timeout_ms = 1000;
    return init_producer_id_request_encode(&m, out, version);
}

static void done(struct call *call, int res, struct wire_in *in, int16_t version)
{
    struct probe *p = list_entry(call, struct probe, call);
    struct init_producer_id_response m;

    if (!res)
        assert_int_equal(init_producer_id_response_decode(&m, in, version), 0);
    p->done = true;
    p->n_done++;
    p->res = res;
    p->version = version;
}

static void open_world(uint64_t seed)
{
    f = malloc(sizeof *f);
    assert_non_null(f);
    fake_open(f, seed, true, &quick);
}

static void close_world(void)
{
    fake_close(f);
    free(f);
}

static void start(struct probe *p, bool once)
{
    *p = (struct probe){.call = {.api = API_INIT_PRODUCER_ID,
                                 .to = CALL_ANY,
                                 .once = once,
                                 .encode = put,
                                 .done = done}};
    sim_enter(f->node);
    client_call(f->client, &p->call);
}

/* The first n requests of InitProducerId meet the fault. */
static int left, fault;
static int first_ones(void *u, int16_t api)
{
    return api == API_INIT_PRODUCER_ID && left-- > 0 ? fault : FAKE_OK;
}

static void with_fault(int n, int what)
{
    left = n;
    fault = what;
    f->fault = first_ones;
}

static void a_call_is_answered_at_the_highest_common_version(void **state)
{
    struct probe p;

    open_world(1);
    start(&p, false);
    assert_false(p.done);
    assert_true(fake_run(f, &p.done, 10));
    assert_int_equal(p.res, 0);
    assert_int_equal(p.version, 5);
    assert_true(client_txn_v2(f->client));
    p.done = false;
    p.call.version_max = 3;
    sim_enter(f->node);
    client_call(f->client, &p.call);
    assert_true(fake_run(f, &p.done, 10));
    assert_int_equal(p.version, 3);
    close_world();
}

static void a_cut_call_is_sent_again(void **state)
{
    static const int what[] = {FAKE_DROP_REQUEST, FAKE_DROP_REPLY, FAKE_SILENT};

    for (int i = 0; i < 3; i++) {
        struct probe p;
        open_world(2);
        with_fault(1, what[i]);
        start(&p, false);
        assert_true(fake_run(f, &p.done, 10));
        assert_int_equal(p.res, 0);
        assert_int_equal(f->seen[API_INIT_PRODUCER_ID], 2);
        close_world();
    }
}

static void a_call_that_may_go_once_is_not(void **state)
{
    static const int what[] = {FAKE_DROP_REQUEST, FAKE_DROP_REPLY, FAKE_SILENT};

    for (int i = 0; i < 3; i++) {
        struct probe p;
        open_world(3);
        with_fault(1, what[i]);
        start(&p, true);
        assert_true(fake_run(f, &p.done, 10));
        assert_true(p.res < 0);
        assert_int_not_equal(p.res, -ERR_REFUSED);
        fake_run(f, &(bool){false}, 5);
        assert_int_equal(f->seen[API_INIT_PRODUCER_ID], 1);
        assert_int_equal(p.n_done, 1);
        close_world();
    }
}

static void a_call_without_answer_times_out(void **state)
{
    struct probe p;

    open_world(4);
    with_fault(1000, FAKE_SILENT);
    start(&p, false);
    uint64_t began = f->sim.now;
    assert_true(fake_run(f, &p.done, 30));
    assert_int_equal(p.res, -ERR_TIMEOUT);
    assert_true(f->sim.now - began >= ENV_MS(3000));
    assert_true(f->sim.now - began < ENV_MS(3100));
    close_world();
}

static void nobody_there_is_refused(void **state)
{
    struct probe p;

    open_world(5);
    sim_net_refuse(&f->sim, f->node, f->server, true);
    start(&p, true);
    assert_true(fake_run(f, &p.done, 30));
    assert_int_equal(p.res, -ERR_REFUSED);
    sim_net_heal(&f->sim);
    start(&p, true);
    assert_true(fake_run(f, &p.done, 30));
    assert_int_equal(p.res, 0);
    close_world();
}

static void a_half_open_connection_is_noticed(void **state)
{
    struct probe p;

    open_world(6);
    start(&p, false);
    assert_true(fake_run(f, &p.done, 10));
    assert_true(sim_net_half_open(&f->sim, f->node, f->server));
    start(&p, false);
    assert_true(fake_run(f, &p.done, 3));
    assert_int_equal(p.res, 0);
    close_world();
}

static void a_cancelled_call_is_not_told_and_its_answer_harms_nobody(void **state)
{
    for (uint64_t seed = 1; seed < 100; seed++) {
        struct probe p, q;
        open_world(seed);
        start(&p, false);
        sim_run(&f->sim, f->sim.now + sim_random(&f->sim, ENV_MS(2)), NULL, NULL);
        sim_enter(f->node);
        client_cancel(f->client, &p.call);
        int told = p.n_done;
        memset(&p.call, 0xee, sizeof p.call);
        start(&q, false);
        assert_true(fake_run(f, &q.done, 10));
        assert_int_equal(q.res, 0);
        assert_int_equal(p.n_done, told);
        close_world();
    }
}

static void closed(void *user)
{
    *(bool *)user = true;
}

static void closing_ends_every_call_once(void **state)
{
    for (uint64_t seed = 1; seed < 60; seed++) {
        struct probe p[10];
        bool gone = false;
        open_world(seed);
        with_fault(1000, FAKE_SILENT);
        for (int i = 0; i < 10; i++)
            start(&p[i], i % 2);
        sim_run(&f->sim, f->sim.now + sim_random(&f->sim, ENV_MS(3)), NULL, NULL);
        sim_enter(f->node);
        client_close(f->client, closed, &gone);
        assert_true(fake_run(f, &gone, 10));
        for (int i = 0; i < 10; i++) {
            assert_int_equal(p[i].n_done, 1);
            assert_int_equal(p[i].res, -ERR_CANCELED);
        }
        close_world();
    }
}

static void looked_up(struct topic_lookup *l, int res, const struct client_topic *t)
{
    struct probe *p = l->user;
    p->done = true;
    p->res = res ? res : t->n_partitions;
}

static void a_lookup_tells_partitions_and_absence(void **state)
{
    struct probe p = {0}, q = {0};
    struct topic_lookup l = {.name = slice_str("t"), .done = looked_up, .user = &p};
    struct topic_lookup k = {.name = slice_str("absent"), .done = looked_up, .user = &q};

    open_world(7);
    sim_enter(f->node);
    client_topic_lookup(f->client, &l);
    client_topic_lookup(f->client, &k);
    assert_true(fake_run(f, &p.done, 10));
    assert_true(fake_run(f, &q.done, 10));
    assert_int_equal(p.res, FAKE_PARTS);
    assert_int_equal(q.res, -ERR_NOT_FOUND);
    assert_int_equal(f->seen[API_METADATA], 1);
    assert_int_equal(client_topic(f->client, slice_str("t"))->n_partitions, FAKE_PARTS);
    close_world();
}

/* EO-56: what cannot be told now is not "nothing was ever committed". */
static int offset_faults(void *u, int16_t api)
{
    return api == API_OFFSET_FETCH && left-- > 0 ? fault : FAKE_OK;
}

static bool offsets_told;
static void got_offsets(struct fetch_offsets *op, int res, const struct err *e)
{
    assert_int_equal(res, 0);
    offsets_told = true;
}

static void an_offset_that_cannot_be_told_now_is_asked_for_again(void **state)
{
    static const int faults[] = {KAFKA_COORDINATOR_LOAD_IN_PROGRESS,
                                 KAFKA_COORDINATOR_NOT_AVAILABLE, KAFKA_NOT_COORDINATOR,
                                 FAKE_DROP_REQUEST, FAKE_DROP_REPLY};

    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct fetch_offset_entry entry = {.topic = slice_str("t")};
        struct fetch_offsets op = {.group = slice_str("g"),
                                   .stable = true,
                                   .v = &entry,
                                   .n = 1,
                                   .timeout_ms = 60000,
                                   .done = got_offsets};
        open_world(9 + i);
        f->offset = 42;
        left = 3;
        fault = faults[i];
        f->fault = offset_faults;
        offsets_told = false;
        arena_init(&op.arena, 1 << 16);
        sim_enter(f->node);
        admin_fetch_offsets(f->client, &op);
        assert_true(fake_run(f, &offsets_told, 60));
        assert_true(left <= 0);
        assert_int_equal(entry.offset, 42);
        arena_deinit(&op.arena);
        close_world();
    }
}

static void a_partition_that_is_not_there_is_not_found(void **state)
{
    struct probe p = {.call = {.api = API_INIT_PRODUCER_ID,
                               .to = CALL_LEADER,
                               .name = slice_str("t"),
                               .partition = FAKE_PARTS,
                               .encode = put,
                               .done = done}};

    open_world(8);
    sim_enter(f->node);
    client_call(f->client, &p.call);
    assert_true(fake_run(f, &p.done, 10));
    assert_int_equal(p.res, -ERR_NOT_FOUND);
    assert_true(f->seen[API_METADATA] < 20); /* asked again, but not in a storm */
    close_world();
}

static void bad_addresses_are_refused(void **state)
{
    static const char *const bad[] = {"",       "host",       "host:", ":9092",
                                      "host:0", "host:99999", "a:1,b"};
    struct client *c;
    struct err e;

    open_world(9);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct client_options o = {.bootstrap = bad[i]};
        assert_int_equal(client_open(&c, &f->node->env, &o, &e), -ERR_INVALID);
        assert_true(strlen(e.text) > 10);
    }
    close_world();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_is_answered_at_the_highest_common_version),
        cmocka_unit_test(a_cut_call_is_sent_again),
        cmocka_unit_test(a_call_that_may_go_once_is_not),
        cmocka_unit_test(a_call_without_answer_times_out),
        cmocka_unit_test(nobody_there_is_refused),
        cmocka_unit_test(a_half_open_connection_is_noticed),
        cmocka_unit_test(a_cancelled_call_is_not_told_and_its_answer_harms_nobody),
        cmocka_unit_test(closing_ends_every_call_once),
        cmocka_unit_test(a_lookup_tells_partitions_and_absence),
        cmocka_unit_test(an_offset_that_cannot_be_told_now_is_asked_for_again),
        cmocka_unit_test(a_partition_that_is_not_there_is_not_found),
        cmocka_unit_test(bad_addresses_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

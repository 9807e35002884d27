/* tests/compat/client_soak.c - writes RECORDS numbers exactly once to the broker at HOST:PORT, in
 * transactions that also commit how far it came, while somebody kills and restarts that broker;
 * then reads them back. Prints "ok soak ..." or "not ok soak: why". */
#include "base/env_uv.h"
#include "runtime/client/admin.h"
#include "runtime/client/fetcher.h"
#include "runtime/client/producer.h"
#include <stdio.h>
#include <stdlib.h>

enum { PARTS = 4, PER_TXN = 20 };

static struct env_uv uv;
static struct env_uv_node node;
static struct client *client;
static struct producer *producer;
static struct fetcher *fetcher;
static char topic[64], group[64], id[64];
static int records, n_aborted, n_unknown, n_read, next_value[PARTS];
static bool broken;

struct wait {
    bool done;
    int res;
};

static int await(struct wait *w)
{
    while (!w->done)
        env_uv_turn(&uv, true);
    return w->res;
}

static void stepped(void *user, int res, const struct err *e)
{
    *(struct wait *)user = (struct wait){true, res};
    if (res)
        fprintf(stderr, "%s: %s\n", err_name(res), e->text);
}
static void create_done(struct create_topic *op, int res, const struct err *e)
{
    stepped(op->user, res, e);
}
static void offsets_done(struct fetch_offsets *op, int res, const struct err *e)
{
    stepped(op->user, res, e);
}

static void init_id(void)
{
    int rc = -1;
    while (rc) {
        struct wait w = {0};
        producer_init_id(producer, stepped, &w);
        rc = await(&w);
    }
}

static int end_txn(bool commit)
{
    struct wait w = {0};
    producer_end(producer, commit, stepped, &w);
    return await(&w);
}

/* How far the committed transactions came. */
static int position(void)
{
    for (;;) {
        struct wait w = {0};
        struct fetch_offset_entry v = {.topic = slice_str(topic), .partition = 0};
        struct fetch_offsets op = {.group = slice_str(group),
                                   .stable = true,
                                   .v = &v,
                                   .n = 1,
                                   .done = offsets_done,
                                   .user = &w};
        arena_init(&op.arena, 1 << 20);
        admin_fetch_offsets(client, &op);
        int rc = await(&w);
        arena_deinit(&op.arena);
        if (rc == 0)
            return v.offset < 0 ? 0 : (int)v.offset;
    }
}

static int one_transaction(int from)
{
    int to = from + PER_TXN < records ? from + PER_TXN : records, rc = producer_begin(producer);
    struct group_identity g = {.group = slice_str(group), .generation = -1};
    struct txn_offset o = {
        .topic = slice_str(topic), .partition = 0, .offset = to, .leader_epoch = -1};
    struct wait f = {0}, s = {0};

    for (int i = from; !rc && i < to; i++) {
        char value[16];
        snprintf(value, sizeof value, "%d", i);
        struct producer_record r = {.topic = slice_str(topic),
                                    .value = slice_str(value),
                                    .partition = i % PARTS,
                                    .timestamp = env_wall_ms(&node.env)};
        rc = producer_send(producer, &r);
    }
    if (rc)
        return rc;
    producer_flush(producer, stepped, &f);
    rc = await(&f);
    if (rc)
        return rc;
    producer_send_offsets(producer, &g, &o, 1, stepped, &s);
    rc = await(&s);
    return rc ? rc : end_txn(true);
}

static bool write_all(void)
{
    int at = 0;

    init_id();
    while (at < records) {
        int rc = one_transaction(at);
        if (rc == 0) {
            at = at + PER_TXN < records ? at + PER_TXN : records;
            continue;
        }
        n_aborted += rc == -ERR_ABORTABLE;
        n_unknown += rc != -ERR_ABORTABLE;
        if (rc == -ERR_ABORTABLE)
            rc = end_txn(false);
        if (rc)
            init_id();
        at = position();
    }
    return true;
}

static void ready(void *user)
{
    struct fetched r;
    struct err e;
    int rc;

    while ((rc = fetcher_next(fetcher, &r, &e)) > 0) {
        char value[16];
        snprintf(value, sizeof value, "%.*s", SLICE_FMT(r.value));
        broken |= atoi(value) != next_value[r.partition];
        next_value[r.partition] = atoi(value) + PARTS;
        n_read++;
    }
    broken |= rc < 0;
}

static void timed_out(struct env_timer *t)
{
    t->fire = NULL;
}

static void read_all(void)
{
    struct fetcher_options o = {.read_committed = true, .ready = ready};
    struct env_timer guard = {.fire = timed_out};

    if (fetcher_open(&fetcher, client, &o))
        return;
    for (int p = 0; p < PARTS; p++) {
        next_value[p] = p;
        fetcher_add(fetcher, slice_str(topic), p, 0, NULL);
    }
    env_timer_set(&node.env, &guard, node.env.now + ENV_S(60));
    while (guard.fire && n_read < records && !broken)
        env_uv_turn(&uv, true);
    env_timer_set(&node.env, &guard, node.env.now + ENV_S(2)); /* and no more come */
    guard.fire = timed_out;
    while (guard.fire)
        env_uv_turn(&uv, true);
    fetcher_free(fetcher);
}

static void closed(void *user)
{
    *(bool *)user = true;
}

int main(int argc, char **argv)
{
    struct wait w = {0};
    struct err e = {0};
    bool gone = false;

    records = argc == 3 ? atoi(argv[2]) : 0;
    if (records <= 0) {
        fprintf(stderr, "usage: client_soak HOST:PORT RECORDS\n");
        return 2;
    }
    if (env_uv_open(&uv) || env_uv_node_open(&uv, &node, "soak", 0))
        return 2;
    struct client_options o = {.bootstrap = argv[1], .request_timeout_ms = 9000};
    if (client_open(&client, &node.env, &o, &e)) {
        fprintf(stderr, "%s\n", e.text);
        return 2;
    }
    unsigned suffix = (unsigned)env_random(&node.env, UINT32_MAX);
    snprintf(topic, sizeof topic, "soak-%08x", suffix);
    snprintf(group, sizeof group, "soak-group-%08x", suffix);
    snprintf(id, sizeof id, "soak-id-%08x", suffix);
    struct create_topic op = {
        .topic = slice_str(topic), .partitions = PARTS, .done = create_done, .user = &w};
    admin_create_topic(client, &op);
    struct producer_options po = {.transactional_id = slice_str(id)};
    if (await(&w) || producer_open(&producer, client, &po))
        return 1;
    write_all();
    read_all();
    bool ok = !broken && n_read == records;
    printf("%s soak: %d of %d read%s, %d aborted, %d unknown or fenced\n", ok ? "ok" : "not ok",
           n_read, records, broken ? ", out of order" : "", n_aborted, n_unknown);
    producer_free(producer);
    client_close(client, closed, &gone);
    while (!gone)
        env_uv_turn(&uv, true);
    env_uv_node_stop(&uv, &node);
    client_free(client);
    env_uv_node_close(&uv, &node);
    env_uv_close(&uv);
    return !ok;
}

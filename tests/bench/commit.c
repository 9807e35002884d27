/* tests/bench/commit.c - transactions back to back with our own client: one record, one offset,
 * commit.
 *
 *   commit HOST:PORT TOPIC DIR ROUNDS
 *
 * After each, one 4 KiB write and fdatasync in DIR. Prints microseconds: the whole transaction p50,
 * p99; EndTxn alone p50, p99; the sync p50, p99. */
#include "base/env_uv.h"
#include "runtime/client/producer.h"
#include "tests/bench/floor.h"
#include <stdio.h>
#include <stdlib.h>

enum { WARM_UP = 20 };

struct bench {
    struct env_uv uv;
    struct env_uv_node node;
    struct client *client;
    struct producer *producer;
    const char *topic;
    int round, rounds;
    int file; /* of the floor */
    double begun, ending;
    double *whole, *end, *sync;
};

static void fail(const char *what, int res, const struct err *e)
{
    fprintf(stderr, "commit: %s: %s\n", what, e && e->text[0] ? e->text : err_text(res));
    exit(1);
}

static void next(struct bench *b);

static void ended(void *user, int res, const struct err *e)
{
    struct bench *b = user;
    double now = floor_now_us(), sync;

    if (res)
        fail("EndTxn", res, e);
    sync = floor_sync_us(b->file, b->round + WARM_UP);
    if (b->round >= 0) {
        b->whole[b->round] = now - b->begun;
        b->end[b->round] = now - b->ending;
        b->sync[b->round] = sync;
    }
    b->round++;
    next(b);
}

static void offsets_sent(void *user, int res, const struct err *e)
{
    struct bench *b = user;

    if (res)
        fail("TxnOffsetCommit", res, e);
    b->ending = floor_now_us();
    producer_end(b->producer, true, ended, b);
}

static void flushed(void *user, int res, const struct err *e)
{
    struct bench *b = user;
    struct group_identity g = {
        .group = slice_str("bench-commit"), .member = slice_str(""), .generation = -1};
    struct txn_offset o = {.topic = slice_str(b->topic),
                           .offset = b->round + WARM_UP + 1,
                           .leader_epoch = -1,
                           .metadata = slice_str("")};

    if (res)
        fail("Produce", res, e);
    producer_send_offsets(b->producer, &g, &o, 1, offsets_sent, b);
}

static void next(struct bench *b)
{
    struct producer_record r = {
        .topic = slice_str(b->topic), .value = slice_str("v"), .timestamp = 1700000000000};

    if (b->round == b->rounds) {
        env_uv_stop(&b->uv);
        return;
    }
    b->begun = floor_now_us();
    if (producer_begin(b->producer) || producer_send(b->producer, &r))
        fail("begin", -ERR_STATE, NULL);
    producer_flush(b->producer, flushed, b);
}

static void inited(void *user, int res, const struct err *e)
{
    if (res)
        fail("InitProducerId", res, e);
    next(user);
}

static void tell(double *v, int n, char after)
{
    printf("%.0f %.0f%c", floor_percentile(v, n, 0.5), floor_percentile(v, n, 0.99), after);
    free(v);
}

int main(int argc, char **argv)
{
    struct bench *b = calloc(1, sizeof *b);
    struct client_options co = {.client_id = "bench-commit"};
    struct producer_options po = {.transactional_id = slice_str("bench-commit"), .user = b};
    struct err e = {0};

    if (argc != 5 || atoi(argv[4]) < 1) {
        fprintf(stderr, "usage: commit HOST:PORT TOPIC DIR ROUNDS\n");
        return 2;
    }
    co.bootstrap = argv[1];
    b->topic = argv[2];
    b->file = floor_open(argv[3]);
    b->rounds = atoi(argv[4]);
    b->round = -WARM_UP;
    b->whole = calloc((size_t)b->rounds, sizeof *b->whole);
    b->end = calloc((size_t)b->rounds, sizeof *b->end);
    b->sync = calloc((size_t)b->rounds, sizeof *b->sync);
    if (env_uv_open(&b->uv) || env_uv_node_open(&b->uv, &b->node, "bench", 0) ||
        client_open(&b->client, &b->node.env, &co, &e) ||
        producer_open(&b->producer, b->client, &po))
        fail("open", -ERR_IO, &e);
    producer_init_id(b->producer, inited, b);
    if (env_uv_run(&b->uv))
        fail("loop", -ERR_IO, NULL);
    tell(b->whole, b->rounds, ' ');
    tell(b->end, b->rounds, ' ');
    tell(b->sync, b->rounds, '\n');
    env_uv_node_stop(&b->uv, &b->node);
    producer_free(b->producer);
    client_free(b->client);
    env_uv_node_close(&b->uv, &b->node);
    env_uv_close(&b->uv);
    free(b);
    return 0;
}

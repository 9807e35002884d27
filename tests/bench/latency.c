/* tests/bench/latency.c - one request in flight: how long until it is acknowledged as durable,
 * beside what a sync alone costs on the same file system at the same moment.
 *
 *   latency HOST:PORT TOPIC PARTITIONS turn|all DIR ROUNDS
 *
 * Each round: a Produce (acks=-1, on a plain socket) of one 100-byte record to the next partition,
 * or with "all" of one to every partition, then one 4 KiB write and fdatasync of a zero-filled file
 * in DIR. Prints microseconds: produce p50, p99, sync p50, p99. The bytes of the request are made
 * by base/wire. */
#include "base/bytes.h"
#include "base/wire/batch.h"
#include "base/wire/messages.h"
#include "tests/bench/floor.h"
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    VERSION = 7,
    FRAME_MAX = 1 << 20,
    SYNC_FILE_BYTES = 16 << 20,
    WARM_UP = 50,
    AT_ONCE_MAX = 256
};

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static int connect_to(const char *address)
{
    char host[64];
    const char *colon = strrchr(address, ':');
    struct sockaddr_in a = {.sin_family = AF_INET};
    int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

    if (!colon || (size_t)(colon - address) >= sizeof host)
        die("address");
    memcpy(host, address, (size_t)(colon - address));
    host[colon - address] = 0;
    inet_pton(AF_INET, host, &a.sin_addr);
    a.sin_port = htons((uint16_t)atoi(colon + 1));
    if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a) != 0)
        die(address);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

static void make_batch(struct buf *batch)
{
    struct batch_writer_options o = {.leader_epoch = -1};
    struct batch_writer w;
    char value[100];

    memset(value, 'v', sizeof value);
    batch_writer_begin(&w, batch, &o);
    batch_writer_add(&w, 1700000000000, SLICE_NULL, slice_of(value, sizeof value), NULL, 0);
    batch_writer_finish(&w, -1, -1, -1);
}

/* One record to each of n partitions from `first` on. */
static void make_request(struct buf *out, struct slice topic, struct slice batch, int32_t first,
                         int32_t n)
{
    struct request_header h;
    struct produce_request m;
    struct produce_request_topic_produce_data t;
    static struct produce_request_partition_produce_data p[AT_ONCE_MAX];

    request_header_init(&h);
    produce_request_init(&m);
    produce_request_topic_produce_data_init(&t);
    h.request_api_key = API_PRODUCE;
    h.request_api_version = VERSION;
    h.client_id = slice_str("latency");
    m.acks = -1;
    m.timeout_ms = 30000;
    for (int32_t i = 0; i < n; i++) {
        produce_request_partition_produce_data_init(&p[i]);
        p[i].index = first + i;
        p[i].records = batch;
    }
    t.name = topic;
    t.partition_data.v = p;
    t.partition_data.n = n;
    m.topic_data.v = &t;
    m.topic_data.n = 1;
    buf_reset(out);
    buf_more(out, 4);
    if (wire_request_header_put(out, &h) || produce_request_encode(&m, out, VERSION))
        die("encode");
    put_be32(out->p, (uint32_t)out->n - 4);
}

static void send_all(int fd, const unsigned char *p, size_t n)
{
    while (n) {
        ssize_t k = write(fd, p, n);
        if (k <= 0)
            die("write");
        p += k;
        n -= (size_t)k;
    }
}

static void read_all(int fd, unsigned char *p, size_t n)
{
    while (n) {
        ssize_t k = read(fd, p, n);
        if (k <= 0)
            die("read");
        p += k;
        n -= (size_t)k;
    }
}

static void read_answer(int fd, int32_t partitions)
{
    static unsigned char frame[FRAME_MAX];
    struct produce_response m;
    struct arena a;
    struct wire_in in;
    uint32_t n;

    read_all(fd, frame, 4);
    n = get_be32(frame);
    if (n < 4 || n > sizeof frame)
        die("answer's length");
    read_all(fd, frame, n);
    arena_init(&a, FRAME_MAX);
    in = (struct wire_in){frame + 4, n - 4, &a};
    if (produce_response_decode(&m, &in, VERSION) || m.responses.n != 1 ||
        m.responses.v[0].partition_responses.n != partitions) {
        fprintf(stderr, "latency: a strange answer\n");
        exit(1);
    }
    for (int32_t i = 0; i < partitions; i++) {
        if (m.responses.v[0].partition_responses.v[i].error_code != 0) {
            fprintf(stderr, "latency: the broker refused a record\n");
            exit(1);
        }
    }
    arena_deinit(&a);
}

struct bench {
    struct slice topic, batch;
    int32_t partitions;
    bool all;
    int sock, file, rounds;
    double *produce, *sync;
};

/* From -WARM_UP on; those before 0 do not count. */
static void run_round(struct bench *b, struct buf *req, int i)
{
    int32_t n = b->all ? b->partitions : 1;
    double begin, produce, sync;

    make_request(req, b->topic, b->batch, b->all ? 0 : (i + WARM_UP) % b->partitions, n);
    begin = floor_now_us();
    send_all(b->sock, req->p, req->n);
    read_answer(b->sock, n);
    produce = floor_now_us() - begin;
    sync = floor_sync_us(b->file, i + WARM_UP);
    if (i >= 0) {
        b->produce[i] = produce;
        b->sync[i] = sync;
    }
}

int main(int argc, char **argv)
{
    struct bench b = {0};
    struct buf req, batch;

    if (argc != 7 || atoi(argv[3]) < 1 || atoi(argv[3]) > AT_ONCE_MAX || atoi(argv[6]) < 1) {
        fprintf(stderr, "usage: latency HOST:PORT TOPIC PARTITIONS turn|all DIR ROUNDS\n");
        return 2;
    }
    buf_init(&batch, FRAME_MAX);
    buf_init(&req, FRAME_MAX);
    make_batch(&batch);
    b.topic = slice_str(argv[2]);
    b.batch = buf_slice(&batch);
    b.partitions = atoi(argv[3]);
    b.all = strcmp(argv[4], "all") == 0;
    b.rounds = atoi(argv[6]);
    b.sock = connect_to(argv[1]);
    b.file = floor_open(argv[5]);
    b.produce = calloc((size_t)b.rounds, sizeof *b.produce);
    b.sync = calloc((size_t)b.rounds, sizeof *b.sync);
    if (!b.produce || !b.sync)
        die("memory");
    for (int i = -WARM_UP; i < b.rounds; i++)
        run_round(&b, &req, i);
    printf("%.0f %.0f ", floor_percentile(b.produce, b.rounds, 0.5),
           floor_percentile(b.produce, b.rounds, 0.99));
    printf("%.0f %.0f\n", floor_percentile(b.sync, b.rounds, 0.5),
           floor_percentile(b.sync, b.rounds, 0.99));
    buf_deinit(&req);
    buf_deinit(&batch);
    free(b.produce);
    free(b.sync);
    return 0;
}

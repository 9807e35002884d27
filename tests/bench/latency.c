/* tests/bench/latency.c - one record in flight: how long until it is acknowledged as durable, beside what a
 * sync alone costs on the same file system at the same moment.
 *
 *   latency HOST:PORT TOPIC PARTITIONS DIR ROUNDS
 *
 * Each round: a Produce of one 100-byte record to each partition in turn (one request, acks=-1, on a plain
 * socket), then one 4 KiB write and fdatasync of a zero-filled file in DIR. Prints microseconds:
 * produce p50, p99, sync p50, p99. The bytes of the request are made by base/wire. */
#include "base/bytes.h"
#include "base/wire/batch.h"
#include "base/wire/messages.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { VERSION = 7, FRAME_MAX = 1 << 20, SYNC_FILE_BYTES = 16 << 20, WARM_UP = 50 };

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
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

static void make_request(struct buf *out, struct slice topic, int32_t partition)
{
    struct request_header h;
    struct produce_request m;
    struct produce_request_topic_produce_data t;
    struct produce_request_partition_produce_data p;
    struct batch_writer_options o = {.leader_epoch = -1};
    struct batch_writer w;
    struct buf batch;
    char value[100];

    memset(value, 'v', sizeof value);
    buf_init(&batch, FRAME_MAX);
    batch_writer_begin(&w, &batch, &o);
    batch_writer_add(&w, 1700000000000, SLICE_NULL, slice_of(value, sizeof value), NULL, 0);
    batch_writer_finish(&w, -1, -1, -1);
    request_header_init(&h);
    produce_request_init(&m);
    produce_request_topic_produce_data_init(&t);
    produce_request_partition_produce_data_init(&p);
    h.request_api_key = API_PRODUCE;
    h.request_api_version = VERSION;
    h.client_id = slice_str("latency");
    m.acks = -1;
    m.timeout_ms = 30000;
    p.index = partition;
    p.records = buf_slice(&batch);
    t.name = topic;
    t.partition_data.v = &p;
    t.partition_data.n = 1;
    m.topic_data.v = &t;
    m.topic_data.n = 1;
    buf_reset(out);
    buf_more(out, 4);
    if (wire_request_header_put(out, &h) || produce_request_encode(&m, out, VERSION))
        die("encode");
    put_be32(out->p, (uint32_t)out->n - 4);
    buf_deinit(&batch);
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

static void read_answer(int fd)
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
        m.responses.v[0].partition_responses.n != 1 ||
        m.responses.v[0].partition_responses.v[0].error_code != 0) {
        fprintf(stderr, "latency: the broker refused a record\n");
        exit(1);
    }
    arena_deinit(&a);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static int sync_file(const char *dir)
{
    char path[4096], *zeros = calloc(1, SYNC_FILE_BYTES);
    int fd;

    snprintf(path, sizeof path, "%s/floor", dir);
    fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (fd < 0 || write(fd, zeros, SYNC_FILE_BYTES) != SYNC_FILE_BYTES || fsync(fd) != 0)
        die(path);
    free(zeros);
    return fd;
}

int main(int argc, char **argv)
{
    int partitions, rounds, sock, file;
    double *produce, *sync;
    char block[4096];
    struct buf req;

    if (argc != 6) {
        fprintf(stderr, "usage: latency HOST:PORT TOPIC PARTITIONS DIR ROUNDS\n");
        return 2;
    }
    partitions = atoi(argv[3]);
    rounds = atoi(argv[5]);
    sock = connect_to(argv[1]);
    file = sync_file(argv[4]);
    produce = calloc((size_t)rounds, sizeof *produce);
    sync = calloc((size_t)rounds, sizeof *sync);
    memset(block, 'x', sizeof block);
    buf_init(&req, FRAME_MAX);
    for (int i = -WARM_UP; i < rounds; i++) {
        double t0, t1, t2;
        make_request(&req, slice_str(argv[2]), (i + WARM_UP) % partitions);
        t0 = now_us();
        send_all(sock, req.p, req.n);
        read_answer(sock);
        t1 = now_us();
        if (pwrite(file, block, sizeof block, (off_t)(i + WARM_UP) % 4000 * 4096) != sizeof block ||
            fdatasync(file) != 0)
            die("sync");
        t2 = now_us();
        if (i >= 0) {
            produce[i] = t1 - t0;
            sync[i] = t2 - t1;
        }
    }
    qsort(produce, (size_t)rounds, sizeof *produce, by_value);
    qsort(sync, (size_t)rounds, sizeof *sync, by_value);
    printf("%.0f %.0f %.0f %.0f\n", produce[rounds / 2], produce[rounds * 99 / 100], sync[rounds / 2],
           sync[rounds * 99 / 100]);
    buf_deinit(&req);
    free(produce);
    free(sync);
    return 0;
}

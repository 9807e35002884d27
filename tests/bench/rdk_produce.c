/* tests/bench/rdk_produce.c - how fast librdkafka gets messages acknowledged: by its own mock (the
 * client's ceiling, "R"), by our broker, by another.
 *
 *   rdk_produce BOOTSTRAP|mock TOPIC PARTITIONS SIZE MESSAGES
 *
 * Idempotent, acks=all, linger 5 ms, batches of 1 MB. Prints messages a second by the wall clock,
 * from the first produce to the last acknowledgement. The messages are the same bytes every
 * time. */
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long acked, failed;

static void delivered(rd_kafka_t *rk, const rd_kafka_message_t *m, void *opaque)
{
    (void)rk;
    (void)opaque;
    if (m->err)
        failed++;
    else
        acked++;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void set(rd_kafka_conf_t *c, const char *key, const char *value)
{
    char err[256];
    if (rd_kafka_conf_set(c, key, value, err, sizeof err) != RD_KAFKA_CONF_OK) {
        fprintf(stderr, "rdk_produce: %s\n", err);
        exit(2);
    }
}

static rd_kafka_t *producer(const char *bootstrap)
{
    rd_kafka_conf_t *c = rd_kafka_conf_new();
    char err[256];
    rd_kafka_t *rk;

    if (strcmp(bootstrap, "mock") == 0)
        set(c, "test.mock.num.brokers", "1");
    else
        set(c, "bootstrap.servers", bootstrap);
    set(c, "enable.idempotence", "true");
    set(c, "acks", "all");
    set(c, "linger.ms", "5");
    set(c, "batch.size", "1000000");
    set(c, "queue.buffering.max.messages", "1000000");
    set(c, "queue.buffering.max.kbytes", "1000000");
    set(c, "log_level", "3");
    rd_kafka_conf_set_dr_msg_cb(c, delivered);
    rk = rd_kafka_new(RD_KAFKA_PRODUCER, c, err, sizeof err);
    if (!rk) {
        fprintf(stderr, "rdk_produce: %s\n", err);
        exit(2);
    }
    return rk;
}

static void produce(rd_kafka_t *rk, rd_kafka_topic_t *t, int32_t partition, char *bytes,
                    size_t size)
{
    while (rd_kafka_produce(t, partition, 0, bytes, size, NULL, 0, NULL) != 0) {
        if (rd_kafka_last_error() != RD_KAFKA_RESP_ERR__QUEUE_FULL) {
            fprintf(stderr, "rdk_produce: %s\n", rd_kafka_err2str(rd_kafka_last_error()));
            exit(1);
        }
        rd_kafka_poll(rk, 1);
    }
}

int main(int argc, char **argv)
{
    rd_kafka_t *rk;
    rd_kafka_topic_t *t;
    char *bytes;
    long n, partitions, size;
    double begin;

    if (argc != 6) {
        fprintf(stderr, "usage: rdk_produce BOOTSTRAP|mock TOPIC PARTITIONS SIZE MESSAGES\n");
        return 2;
    }
    partitions = atol(argv[3]);
    size = atol(argv[4]);
    n = atol(argv[5]);
    bytes = malloc((size_t)size);
    for (long i = 0; i < size; i++)
        bytes[i] = (char)('a' + i % 26);
    rk = producer(argv[1]);
    if (strcmp(argv[1], "mock") == 0)
        rd_kafka_mock_topic_create(rd_kafka_handle_mock_cluster(rk), argv[2], (int)partitions, 1);
    t = rd_kafka_topic_new(rk, argv[2], NULL);
    for (int i = 0; i < 1000;
         i++) /* connections, metadata and producer id are not what is measured */
        produce(rk, t, (int32_t)(i % partitions), bytes, (size_t)size);
    rd_kafka_flush(rk, 30000);
    if (failed || acked != 1000) {
        fprintf(stderr, "rdk_produce: warm-up: %ld of 1000 acknowledged, %ld failed\n", acked,
                failed);
        return 1;
    }
    begin = now();
    for (long i = 0; i < n; i++) {
        produce(rk, t, (int32_t)(i % partitions), bytes, (size_t)size);
        if (i % 1000 == 0)
            rd_kafka_poll(rk, 0);
    }
    while (acked + failed < n + 1000)
        rd_kafka_poll(rk, 10);
    if (failed) {
        fprintf(stderr, "rdk_produce: %ld messages failed\n", failed);
        return 1;
    }
    printf("%.0f\n", (double)n / (now() - begin));
    rd_kafka_topic_destroy(t);
    rd_kafka_destroy(rk);
    free(bytes);
    return 0;
}

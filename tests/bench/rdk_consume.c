/* tests/bench/rdk_consume.c - how fast librdkafka reads a topic's first messages from a broker.
 *
 *   rdk_consume BOOTSTRAP TOPIC PARTITION MESSAGES
 *
 * read_committed, no group. Prints messages a second by the wall clock, from the first message to
 * the last. */
#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

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
        fprintf(stderr, "rdk_consume: %s\n", err);
        exit(2);
    }
}

/* What is there, up to 1000, waiting for the first. */
static long take(rd_kafka_queue_t *q)
{
    rd_kafka_message_t *v[1000];
    ssize_t n = 0;

    for (int i = 0; i < 1000 && n == 0; i++)
        n = rd_kafka_consume_batch_queue(q, 10, v, 1000);
    if (n <= 0) {
        fprintf(stderr, "rdk_consume: nothing came\n");
        exit(1);
    }
    for (ssize_t i = 0; i < n; i++) {
        if (v[i]->err) {
            fprintf(stderr, "rdk_consume: %s\n", rd_kafka_message_errstr(v[i]));
            exit(1);
        }
        rd_kafka_message_destroy(v[i]);
    }
    return (long)n;
}

int main(int argc, char **argv)
{
    rd_kafka_conf_t *c = rd_kafka_conf_new();
    rd_kafka_queue_t *q;
    rd_kafka_topic_t *t;
    rd_kafka_t *rk;
    char err[256];
    long first, got, n;
    double begin;

    if (argc != 5) {
        fprintf(stderr, "usage: rdk_consume BOOTSTRAP TOPIC PARTITION MESSAGES\n");
        return 2;
    }
    set(c, "bootstrap.servers", argv[1]);
    set(c, "isolation.level", "read_committed");
    set(c, "queued.max.messages.kbytes", "65536");
    set(c, "log_level", "3");
    n = atol(argv[4]);
    rk = rd_kafka_new(RD_KAFKA_CONSUMER, c, err, sizeof err);
    if (!rk) {
        fprintf(stderr, "rdk_consume: %s\n", err);
        return 2;
    }
    q = rd_kafka_queue_new(rk);
    t = rd_kafka_topic_new(rk, argv[2], NULL);
    if (rd_kafka_consume_start_queue(t, atoi(argv[3]), RD_KAFKA_OFFSET_BEGINNING, q) != 0)
        return 1;
    first = got = take(q);
    begin = now();
    while (got < n)
        got += take(q);
    printf("%.0f\n", (double)(got - first) / (now() - begin));
    rd_kafka_consume_stop(t, atoi(argv[3]));
    rd_kafka_topic_destroy(t);
    rd_kafka_queue_destroy(q);
    rd_kafka_destroy(rk);
    return 0;
}

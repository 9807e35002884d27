/* A directory that Kafka left becomes ours: topics with their ids and records; and stays so. */
#include "support_node.h"
#include <stdio.h>
#include <stdlib.h>

#define KAFKA "tests/data/kafka-disk"

static struct world w;

static int setup(void **state)
{
    char command[512];
    world_open(&w);
    snprintf(command, sizeof command,
             "cp -r " KAFKA " %s/data && cd %s/data && rm -f expected.json README.md && "
             "if [ -f kafka_cleanshutdown ]; then mv kafka_cleanshutdown .kafka_cleanshutdown; fi",
             w.dir, w.dir);
    assert_int_equal(system(command), 0);
    return 0;
}

static int teardown(void **state)
{
    world_close(&w);
    return 0;
}

static void looks_adopted(void)
{
    struct uuid id;
    struct topic *t;
    world_start(&w);
    t = broker_topic(w.broker, slice_str("codec"));
    assert_non_null(t);
    assert_int_equal(t->n_partitions, 1);
    assert_true(log_end(t->partitions[0]->log) > 0);
    id = t->id;
    assert_ptr_equal(broker_topic_by_id(w.broker, &id), t);
    assert_non_null(broker_topic(w.broker, slice_str("disk")));
    assert_true(broker_topic(w.broker, slice_str("__consumer_offsets"))->internal);
}

static void kafkas_topics_are_ours_after_one_start(void **state)
{
    int64_t id, again;
    looks_adopted();
    /* Kafka gave out ids from 0; ours begin behind those in its files. */
    assert_int_equal(broker_producer_id(w.broker, &id), 0);
    assert_true(id >= 1000);
    world_pass(&w, 200);
    world_stop(&w);
    looks_adopted();
    assert_int_equal(broker_producer_id(w.broker, &again), 0);
    assert_true(again > id);
}

static void a_start_that_ends_at_once_loses_nothing(void **state)
{
    for (int i = 0; i < 3; i++) {
        looks_adopted();
        world_kill(&w);
    }
    looks_adopted();
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(kafkas_topics_are_ours_after_one_start),
        CASE(a_start_that_ends_at_once_loses_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* tests/runtime/worker/test_rebalance.c - workers that come and go: tasks move, and every record
 * counts once. */
#include "base/rng.h"
#include "jobs.h"
#include "support_rig.h"
#include <stdio.h>
#include <stdlib.h>

static struct rig r;
static int fed;

static void feed_lines(int n)
{
    for (int i = 0; i < n; i++)
        rig_put(&r, "lines", fed++ % 4, NULL, "a b c d e f g");
}

static void open_workers(int n, bool together, uint64_t seed)
{
    rig_open(&r, &(struct rig_options){.lua = WORDS_JOB,
                                       .partitions = 4,
                                       .workers = n,
                                       .together = together,
                                       .seed = seed,
                                       .held = true,
                                       .session_timeout_ms = 6000});
    fed = 0;
}

static int tasks_of(int worker)
{
    struct worker_stats s;

    if (!r.c.workers[worker].worker)
        return 0;
    worker_stats(r.c.workers[worker].worker, &s);
    return s.n_tasks;
}

static bool shared_by_two(struct rig *rig)
{
    return rig_ready(rig) && tasks_of(0) == 4 && tasks_of(1) == 4;
}

static bool at_one(struct rig *rig)
{
    return rig_ready(rig) && tasks_of(0) == 8;
}

static void tasks_are_shared_and_come_back(void **state)
{
    for (int together = 0; together < 2; together++) {
        open_workers(2, together, 1);
        rig_start(&r, 0);
        feed_lines(8);
        rig_until(&r, at_one, 10, "one worker has all tasks");
        rig_start(&r, 1);
        feed_lines(4);
        rig_until(&r, shared_by_two, 10, "two workers share the tasks");
        feed_lines(8);
        rig_stop(&r, 1); /* in order: its tasks move at once */
        rig_until(&r, at_one, 2, "the tasks of a worker that left come back");
        feed_lines(4);
        rig_start(&r, 1);
        rig_until(&r, shared_by_two, 10, "two workers share the tasks again");
        rig_kill(&r, 1); /* SIGKILL: after its session */
        feed_lines(4);
        rig_until(&r, at_one, 12, "the tasks of a dead worker come back");
        rig_drain(&r);
        assert_int_equal(rig_exact_counts(&r, "out"), 7 * fed);
        rig_close(&r);
    }
}

static bool ready_within_two_seconds(struct rig *rig)
{
    return rig_ready(rig);
}

/* Static membership: its tasks wait for it, and its transaction is ended by its return. */
static void a_killed_worker_is_back_at_once(void **state)
{
    open_workers(2, false, 3);
    rig_start(&r, 0);
    rig_start(&r, 1);
    rig_until(&r, shared_by_two, 10, "two workers share the tasks");
    for (int i = 0; i < 5; i++) {
        feed_lines(4);
        rig_kill(&r, i % 2);
        rig_start(&r, i % 2);
        rig_until(&r, ready_within_two_seconds, 2, "a restarted worker goes on at once");
        assert_int_equal(tasks_of(i % 2), 4);
    }
    rig_drain(&r);
    assert_int_equal(rig_exact_counts(&r, "out"), 7 * fed);
    rig_close(&r);
}

static void stir(uint64_t rng[4], int n)
{
    int i = (int)rng_below(rng, (uint64_t)n);
    bool up = r.c.workers[i].node->up;

    switch (rng_below(rng, 5)) {
    case 0:
        if (up)
            rig_kill(&r, i);
        break;
    case 1:
        if (up)
            rig_stop(&r, i);
        break;
    case 2:
        if (up)
            sim_pause(r.c.workers[i].node, r.c.sim.now + ENV_MS(rng_below(rng, 12000)));
        break;
    default:
        if (!up)
            rig_start(&r, i);
    }
    rig_run(&r, rng_below(rng, 20) ? rng_below(rng, 60) : rng_below(rng, 9000));
}

/* Rebalances in the middle of restores, commits and other rebalances. */
static void any_coming_and_going_counts_once(void **state)
{
    const char *more = getenv("ONCE_SEEDS");
    uint64_t last = more ? strtoull(more, NULL, 10) : 24;

    for (uint64_t seed = 1; seed <= last; seed++) {
        int n = 2 + (int)(seed % 2);
        uint64_t rng[4];

        rng_seed(rng, seed);
        open_workers(n, seed % 3 == 0, seed);
        for (int i = 0; i < 60; i++) {
            feed_lines((int)rng_below(rng, 4));
            stir(rng, n);
        }
        for (int i = 0; i < n; i++)
            if (!r.c.workers[i].node->up)
                rig_start(&r, i);
        rig_drain(&r);
        if (rig_exact_counts(&r, "out") != 7 * fed)
            fail_msg("seed %d: %d of %d", (int)seed, rig_exact_counts(&r, "out"), 7 * fed);
        if (r.c.failed[0])
            fail_msg("seed %d: %s", (int)seed, r.c.failed);
        rig_close(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_are_shared_and_come_back),
        cmocka_unit_test(a_killed_worker_is_back_at_once),
        cmocka_unit_test(any_coming_and_going_counts_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

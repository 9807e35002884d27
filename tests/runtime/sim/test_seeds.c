/* tests/runtime/sim/test_seeds.c - seeds that found a bug, and the bugs as named scenarios. */
#include "support_sim.h"
#include <inttypes.h>
#include <stdio.h>

#define JOB  "examples/wordcount/wordcount.lua"
#define BOOK "examples/wordcount/alice.txt"

static uint32_t faults_set(char *list)
{
    uint32_t set = 0;

    for (char *word = strtok(list, ","); word; word = strtok(NULL, ",")) {
        int kind = fault_by_name(word);
        if (strcmp(word, "all") == 0)
            return FAULTS_ALL;
        assert_true(kind >= 0);
        set |= 1u << kind;
    }
    return set;
}

static void every_seed_that_found_something_passes(void **state)
{
    FILE *f = fopen("tests/sim/seeds.txt", "r");
    char line[400], job[200];
    int n = 0;

    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        struct sim_result r;
        struct bench b;
        uint64_t seed;
        int workers, partitions, records, n_read;
        char faults[200];

        if (line[0] == '#' || line[0] == '\n')
            continue;
        n_read = sscanf(line, "%" SCNu64 " %d %d %d %199s %199[^:]:", &seed, &workers, &partitions,
                        &records, faults, job);
        assert_int_equal(n_read, 6);
        bench_open(&b, job, BOOK, (uint32_t)records);
        b.o.workers = workers;
        b.o.partitions = partitions;
        b.o.faults = faults_set(faults);
        if (sim_run_seed(&b.o, &b.prepared, seed, &r))
            fail_msg("seed %" PRIu64 ": %s", seed, r.verdict.first);
        bench_close(&b);
        n++;
    }
    fclose(f);
    assert_true(n > 0);
}

/* Runs a script over some seeds, which then draw all but the faults. */
static void play(const struct fault_spec *script, int n, uint64_t first, int seeds)
{
    struct bench b;

    bench_open(&b, JOB, BOOK, 200);
    b.o.script = script;
    b.o.n_script = n;
    assert_int_equal(bench_sweep(&b, first, seeds), 0);
    bench_close(&b);
}

/* Tasks of an expelled worker move to one that commits meanwhile: the last chunk of a restore ended
 * after the commit's stores, and nobody told the cycle. Seed 12 met it. */
static void a_worker_that_restores_while_it_commits_stops_in_order(void **state)
{
    const struct fault_spec script[] = {
        {FAULT_PAUSE, "worker-1", .at = ENV_MS(320), .lasts = ENV_S(17)},
        {FAULT_PAUSE, "worker-2", .at = ENV_S(22), .lasts = ENV_S(17)},
    };
    play(script, 2, 11, 3);
}

/* The watcher's and the workers' connections fall silent: what they know of the ends is old. */
static void half_open_connections_do_not_end_a_run_early(void **state)
{
    const struct fault_spec script[] = {
        {FAULT_HALF_OPEN, "client", .at = ENV_MS(400)},
        {FAULT_HALF_OPEN, "worker-1", .at = ENV_MS(410)},
        {FAULT_HALF_OPEN, "worker-2", .at = ENV_MS(420)},
    };
    play(script, 3, 1, 4);
}

/* A worker loses its store's newest state just before all is done. */
static void a_store_thrown_back_by_a_power_cut_catches_up(void **state)
{
    const struct fault_spec script[] = {
        {FAULT_POWER_CUT, "worker-1", .point = "mid_store", .nth = 5},
        {FAULT_POWER_CUT, "worker-2", .point = "after_store", .nth = 3},
    };
    play(script, 2, 1, 6);
}

static void a_lost_answer_to_the_commit_is_asked_for_again(void **state)
{
    const struct fault_spec script[] = {
        {FAULT_LOSE_REPLY, .api = 26, .nth = 2},
        {FAULT_LOSE_REPLY, .api = 28, .nth = 5},
        {FAULT_LOSE_REPLY, .api = 22, .nth = 2},
    };
    play(script, 3, 1, 4);
}

/* Written, not synced, killed, read by a consumer after the restart, then a power cut (EO-61). */
static void what_recovery_serves_survives_a_power_cut(void **state)
{
    const struct fault_spec script[] = {
        {FAULT_KILL, "broker-1", .point = "log_round_write", .nth = 30, .after = 50000},
        {FAULT_POWER_CUT, "broker-1", .at = ENV_S(4)},
    };
    play(script, 2, 1, 6);
}

static void a_worker_killed_at_every_step_of_the_cycle_counts_once(void **state)
{
    static const char *const points[] = {"after_poll",    "after_process", "before_flush",
                                         "after_flush",   "after_offsets", "before_end_txn",
                                         "after_end_txn", "mid_store",     "after_store"};

    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
        const struct fault_spec script[] = {
            {FAULT_KILL, "worker-1", .point = points[i], .nth = 2},
            {FAULT_KILL, "worker-2", .point = points[i], .nth = 3},
            {FAULT_KILL, "worker-1", .point = "mid_restore", .nth = 1},
        };
        play(script, 3, 1, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_seed_that_found_something_passes),
        cmocka_unit_test(a_worker_that_restores_while_it_commits_stops_in_order),
        cmocka_unit_test(half_open_connections_do_not_end_a_run_early),
        cmocka_unit_test(a_store_thrown_back_by_a_power_cut_catches_up),
        cmocka_unit_test(a_lost_answer_to_the_commit_is_asked_for_again),
        cmocka_unit_test(what_recovery_serves_survives_a_power_cut),
        cmocka_unit_test(a_worker_killed_at_every_step_of_the_cycle_counts_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

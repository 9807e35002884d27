/* tests/runtime/sim/test_sim_run.c - whole runs: they pass, they repeat, and what is switched off
 * shows.
 *
 *     test_sim_run --hash SEED     prints the trace hash of a seed: another process for the test */
#include "support_sim.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define JOB  "examples/wordcount/wordcount.lua"
#define BOOK "examples/wordcount/alice.txt"
enum { RECORDS = 200 };

static const char *self;

static void without_faults_every_word_is_counted(void **state)
{
    struct bench b;

    bench_open(&b, JOB, BOOK, RECORDS);
    b.o.faults = 0;
    assert_int_equal(bench_sweep(&b, 1, 2), 0);
    bench_close(&b);
}

static void seeds_with_all_faults_violate_nothing(void **state)
{
    struct bench b;

    bench_open(&b, JOB, BOOK, RECORDS);
    assert_int_equal(bench_sweep(&b, 1, 20), 0);
    b.o.workers = 3;
    b.o.partitions = 4;
    assert_int_equal(bench_sweep(&b, 100, 8), 0);
    bench_close(&b);
}

static void a_flow_passes_as_well(void **state)
{
    struct bench b;

    bench_open(&b, "examples/wordcount/flow.lua", BOOK, RECORDS);
    assert_int_equal(bench_sweep(&b, 50, 5), 0);
    bench_close(&b);
}

static uint64_t hash_of(struct bench *b, uint64_t seed)
{
    struct sim_result r;

    sim_run_seed(&b->o, &b->prepared, seed, &r);
    return r.trace_hash;
}

static void the_same_seed_is_the_same_run(void **state)
{
    struct bench b;
    char command[600], line[64] = "";
    uint64_t h[3];
    FILE *p;

    bench_open(&b, JOB, BOOK, RECORDS);
    for (uint64_t seed = 5; seed <= 7; seed++)
        h[seed - 5] = hash_of(&b, seed);
    for (uint64_t seed = 7; seed >= 5; seed--) /* in another order: nothing is left of a run */
        assert_true(hash_of(&b, seed) == h[seed - 5]);
    assert_true(h[0] != h[1]);
    bench_close(&b);

    snprintf(command, sizeof command, "'%s' --hash 6", self);
    p = popen(command, "r");
    assert_non_null(p);
    assert_non_null(fgets(line, sizeof line, p));
    pclose(p);
    assert_true(strtoull(line, NULL, 16) == h[1]);
}

static void expect_caught(const char *mutation, int seeds)
{
    struct sim_result r = {0};
    struct bench b;
    uint64_t seed;

    bench_open(&b, JOB, BOOK, RECORDS);
    assert_true(mutation_by_name(mutation) >= 0);
    b.o.mutations = (uint64_t)1 << mutation_by_name(mutation);
    seed = bench_find(&b, 1, seeds, &r);
    print_message("%-20s seed %3" PRIu64 ": %.100s\n", mutation, seed, r.verdict.first);
    bench_close(&b);
    assert_true(seed != 0);
}

static void no_sequence_check_is_caught(void **state)
{
    expect_caught("no_sequence_check", 60);
}
static void ack_before_sync_is_caught(void **state)
{
    expect_caught("ack_before_sync", 120);
}
static void offsets_outside_the_transaction_are_caught(void **state)
{
    expect_caught("offsets_outside_txn", 60);
}
static void a_recovery_that_does_not_sync_is_caught(void **state)
{
    expect_caught("recovery_no_sync", 60);
}

static void at_least_once_shows_duplicates(void **state)
{
    uint64_t duplicated = 0;
    struct sim_result r;
    struct bench b;

    bench_open(&b, JOB, BOOK, RECORDS);
    b.o.guarantee = UDF_AT_LEAST_ONCE;
    for (uint64_t seed = 1; seed <= 60 && !duplicated; seed++) {
        sim_run_seed(&b.o, &b.prepared, seed, &r);
        duplicated += r.verdict.n[VIOLATION_DUPLICATED];
    }
    bench_close(&b);
    assert_true(duplicated > 0);
}

static void at_most_once_shows_losses(void **state)
{
    uint64_t lost = 0;
    struct sim_result r;
    struct bench b;

    bench_open(&b, JOB, BOOK, RECORDS);
    b.o.guarantee = UDF_AT_MOST_ONCE;
    for (uint64_t seed = 1; seed <= 60 && !lost; seed++) {
        sim_run_seed(&b.o, &b.prepared, seed, &r);
        lost += r.verdict.n[VIOLATION_LOST];
    }
    bench_close(&b);
    assert_true(lost > 0);
}

/* One key: of two partitions of # topics one stays empty. */
static void a_partition_without_records_is_drained(void **state)
{
    static const char lua[] =
        "local once = require 'once'\n"
        "local job = once.job { name = 'one', on_error = { dead_letter = 'bad' } }\n"
        "job:node { name = 'a', from = 'in', to = '#k', process = function(ctx, r)\n"
        "  if r.value == 'b' then ctx:reject('bad') end\n"
        "  ctx:emit('#k', { key = 'k', value = r.value }) end }\n"
        "job:node { name = 'b', from = '#k', to = 'out', process = function(ctx, r)\n"
        "  ctx:emit('out', r) end }\n"
        "return job\n";
    struct sim_result r;
    struct bench b;

    bench_open_text(&b, lua, "a\nb\nc\nd\n", 10);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        sim_run_seed(&b.o, &b.prepared, seed, &r);
        assert_string_equal(r.verdict.first, "");
    }
    bench_close(&b);
}

/* Counts what the source topic is, not by key: on two partitions the answer is split. */
static void state_split_over_partitions_is_told(void **state)
{
    static const char lua[] =
        "local once = require 'once'\n"
        "return once.job { name = 'split', from = 'in', to = 'out', order = 'any',\n"
        "  stores = { n = {} }, process = function(ctx, r)\n"
        "    ctx.n:update('all', function(n) return n + 1 end, 0)\n"
        "    ctx:emit('out', { key = 'all', value = ctx.n:get('all') })\n"
        "  end }\n";
    struct sim_result r;
    struct bench b;

    bench_open_text(&b, lua, "a\nb\nc\nd\n", 10);
    b.o.faults = 0;
    sim_run_seed(&b.o, &b.prepared, 1, &r);
    assert_int_equal(r.verdict.n[VIOLATION_OTHER], 1);
    assert_non_null(strstr(r.verdict.first,
                           "out: key \"all\" ends with 2, on one partition with 4: "
                           "its state is split over partitions"));
    b.o.partitions = 1;
    sim_run_seed(&b.o, &b.prepared, 1, &r);
    assert_int_equal(verdict_total(&r.verdict), 0);
    bench_close(&b);
}

static void a_job_that_a_record_stops_cannot_be_judged(void **state)
{
    static const char lua[] =
        "local once = require 'once'\n"
        "return once.job { name = 'picky', from = 'in', process = function(ctx, r)\n"
        "  if r.value == 'bad' then error 'no' end\n"
        "end }\n";
    struct sim_line bad = {slice_str("in"), SLICE_NULL, slice_str("bad")};
    struct sim_prepared p;
    struct err e = {0};
    struct bench b;

    bench_open_text(&b, lua, "good\n", 1);
    b.o.lines = &bad;
    assert_int_equal(sim_prepare(&p, &b.o, &e), -ERR_INVALID);
    assert_non_null(strstr(e.text, "job.lua:3"));
    sim_prepared_free(&p);
    bench_close(&b);
}

static int print_hash(uint64_t seed)
{
    struct bench b;

    bench_open(&b, JOB, BOOK, RECORDS);
    printf("%016" PRIx64 "\n", hash_of(&b, seed));
    bench_close(&b);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_faults_every_word_is_counted),
        cmocka_unit_test(seeds_with_all_faults_violate_nothing),
        cmocka_unit_test(a_flow_passes_as_well),
        cmocka_unit_test(the_same_seed_is_the_same_run),
        cmocka_unit_test(no_sequence_check_is_caught),
        cmocka_unit_test(ack_before_sync_is_caught),
        cmocka_unit_test(offsets_outside_the_transaction_are_caught),
        cmocka_unit_test(a_recovery_that_does_not_sync_is_caught),
        cmocka_unit_test(at_least_once_shows_duplicates),
        cmocka_unit_test(at_most_once_shows_losses),
        cmocka_unit_test(a_partition_without_records_is_drained),
        cmocka_unit_test(state_split_over_partitions_is_told),
        cmocka_unit_test(a_job_that_a_record_stops_cannot_be_judged),
    };

    self = argv[0];
    if (argc == 3 && strcmp(argv[1], "--hash") == 0)
        return print_hash(strtoull(argv[2], NULL, 10));
    return cmocka_run_group_tests(tests, NULL, NULL);
}

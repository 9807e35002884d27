/* tests/runtime/worker/test_worker.c - what a job's outputs, failures and topics become, without
 * faults. */
#include "jobs.h"
#include "support_rig.h"
#include <stdio.h>
#include <stdlib.h>

static struct rig r;

static int close_rig(void **state)
{
    rig_close(&r);
    return 0;
}

static void a_job_counts_and_keeps_its_counts(void **state)
{
    rig_open(&r, &(struct rig_options){.lua = COUNT_JOB});
    rig_feed(&r, "in", 300, 7);
    rig_drain(&r);
    assert_int_equal(rig_exact_counts(&r, "out"), 300);
    rig_stop(&r, 0);
    assert_string_equal(rig_store(&r, 0, 0, "0_0", "counts"), "a=43 b=43 c=43 d=43 e=43 f=43 g=42");
    rig_start(&r, 0);
    rig_feed(&r, "in", 70, 7);
    rig_drain(&r);
    assert_int_equal(rig_exact_counts(&r, "out"), 370);
    assert_false(rig_logged(&r, "rebuilt")); /* a clean store is taken over as it is */
}

static void groups_meet_in_internal_topics(void **state)
{
    rig_open(&r, &(struct rig_options){.lua = WORDS_JOB, .partitions = 3});
    for (int i = 0; i < 30; i++)
        rig_put(&r, "lines", i % 3, NULL, "a b c a  b a");
    rig_drain(&r);
    assert_int_equal(rig_partitions(&r, "words-words-repartition"), 3);
    assert_int_equal(rig_partitions(&r, "words-counts-changelog"), 3);
    assert_int_equal(rig_exact_counts(&r, "out"), 180);
}

static void outputs_keep_their_key_time_headers_and_partition(void **state)
{
    static const char lua[] = HEAD
        "return once.job { name = 'j', from = 'in', to = { 'out' }, process = function(ctx, r)\n"
        "  ctx:emit('out', r)\n"
        "  ctx:emit('out', { value = 'no key' })\n"
        "  ctx:emit('out', { key = 'k', headers = { h = 'x' }, time = 5, partition = 1 })\n"
        "end }\n";

    rig_open(&r, &(struct rig_options){.lua = lua, .partitions = 2});
    rig_put_at(&r, "in", 0, "a", "b", 1234);
    rig_drain(&r);
    assert_int_equal(rig_read(&r, "out"), 3);
    for (int i = 0; i < 3; i++) {
        struct rig_record *g = &r.got[i];
        if (g->tombstone) {
            assert_string_equal(g->key, "k");
            assert_string_equal(g->headers, "h=x;");
            assert_int_equal(g->partition, 1);
            assert_int_equal(g->time, 5);
        } else if (g->no_key) {
            assert_string_equal(g->value, "no key");
            assert_int_equal(g->partition, 0); /* the input's */
            assert_int_equal(g->time, 1234);
        } else {
            assert_string_equal(g->value, "b");
            assert_int_equal(g->time, 1234);
        }
    }
}

static void a_prefix_names_topics_as_they_come(void **state)
{
    static const char lua[] = HEAD
        "return once.job { name = 'j', from = 'in', to = 'by-*', process = function(ctx, r)\n"
        "  ctx:emit('by-' .. r.key, { key = r.key, value = r.value })\n"
        "end }\n";

    rig_open(&r, &(struct rig_options){.lua = lua});
    rig_put(&r, "in", 0, "x", "1");
    rig_put(&r, "in", 0, "y", "2");
    rig_put(&r, "in", 0, "x", "3");
    rig_drain(&r);
    assert_string_equal(rig_text(&r, "by-x"), "x=1 x=3");
    assert_string_equal(rig_text(&r, "by-y"), "y=2");
}

static void a_name_that_no_topic_can_have_is_the_records_fault(void **state)
{
    static const char lua[] = HEAD
        "return once.job { name = 'j', from = 'in', to = 'by-*', on_error = 'skip',\n"
        "  process = function(ctx, r) ctx:emit('by-' .. r.key, r) end }\n";

    rig_open(&r, &(struct rig_options){.lua = lua});
    rig_put(&r, "in", 0, "a b", "1");
    rig_put(&r, "in", 0, "x", "2");
    rig_put(&r, "in", 0, "\xff", "3");
    rig_drain(&r);
    assert_string_equal(rig_text(&r, "by-x"), "x=2");
    assert_int_equal(rig_log_count(&r, "record skipped"), 2);
}

/* ---- records that fail ---- */

#define FAILING(policy)                                                                            \
    HEAD "return once.job { name = 'j', from = 'in', to = 'out', stores = { s = {} }, version = "  \
         "3,\n"                                                                                    \
         "  " policy ", process = function(ctx, r)\n"                                              \
         "  local n = (ctx.s:get('n') or 0) + 1\n"                                                 \
         "  ctx.s:put('n', n)\n"                                                                   \
         "  ctx:emit('out', { key = r.key, value = n })\n"                                         \
         "  if r.value == 'bad' then error 'this one' end\n"                                       \
         "  if r.value == 'no' then ctx:reject('refused', { why = 'because' }) end\n"              \
         "end }\n"

static void put_some_bad(void)
{
    rig_put(&r, "in", 0, "a", "ok");
    rig_put(&r, "in", 0, "b", "bad");
    rig_put(&r, "in", 0, "c", "no");
    rig_put(&r, "in", 0, "d", "ok");
}

static void a_skipped_record_leaves_nothing(void **state)
{
    rig_open(&r, &(struct rig_options){.lua = FAILING("on_error = 'skip'")});
    put_some_bad();
    rig_drain(&r);
    assert_string_equal(rig_text(&r, "out"), "a=1 d=2");
    assert_int_equal(rig_log_count(&r, "record skipped: job.lua:"), 2);
    rig_stop(&r, 0);
    assert_string_equal(rig_store(&r, 0, 0, "0_0", "s"), "n=2");
}

static void a_dead_letter_holds_the_record_and_what_happened(void **state)
{
    rig_open(&r, &(struct rig_options){.lua = FAILING("on_error = { dead_letter = 'dead' }")});
    put_some_bad();
    rig_drain(&r);
    assert_string_equal(rig_text(&r, "out"), "a=1 d=2");
    assert_string_equal(rig_text(&r, "dead"), "b=bad c=no");
    assert_non_null(strstr(r.got[0].headers, "once.where=job.lua:7;"));
    assert_non_null(strstr(r.got[0].headers, "once.topic=in;once.partition=0;once.offset=1;"));
    assert_non_null(strstr(r.got[0].headers, "once.job=j;once.job.version=3;"));
    assert_non_null(strstr(r.got[0].headers, "this one"));
    assert_non_null(strstr(r.got[1].headers, "once.reason=refused;"));
    assert_non_null(strstr(r.got[1].headers, "once.details={\"why\":\"because\"};"));
    assert_int_equal(r.got[0].time, 1700000000000);
}

static bool stopped(struct rig *rig)
{
    return rig_logged(rig, "stopped, exit code");
}

/* What came before it is committed; it is not, and comes again when the job is mended. */
static void a_record_that_stops_the_job_is_not_passed_over(void **state)
{
    rig_open(&r, &(struct rig_options){.lua = FAILING("retries = { n = 0 }"), .held = true});
    rig_put(&r, "in", 0, "a", "ok");
    rig_put(&r, "in", 0, "b", "ok");
    rig_put(&r, "in", 0, "c", "bad");
    rig_put(&r, "in", 0, "d", "ok");
    rig_start(&r, 0);
    r.held[0] = true;
    rig_until(&r, stopped, 30, "the worker stops");
    assert_true(rig_logged(&r, "stopped, exit code 3: job.lua:7: this one"));
    assert_true(rig_logged(&r, "in[0]@2"));
    rig_run(&r, 1000);
    assert_string_equal(rig_text(&r, "out"), "a=1 b=2");
    assert_int_equal(rig_committed(&r, "j", "in", 0, NULL), 2);
    r.c.failed[0] = 0;
    rig_job(&r, FAILING("on_error = 'skip'"));
    rig_start(&r, 0);
    rig_drain(&r);
    assert_string_equal(rig_text(&r, "out"), "a=1 b=2 d=3");
    assert_int_equal(rig_log_count(&r, "record skipped"), 1);
}

static void retries_come_before_the_policy(void **state)
{
    static const char lua[] = HEAD
        "local tries = 0\n"
        "return once.job { name = 'j', from = 'in', to = 'out',\n"
        "  retries = { n = 3, backoff = '10ms' }, process = function(ctx, r)\n"
        "  tries = tries + 1\n"
        "  if r.value == 'twice' and tries < 3 then error 'not yet' end\n"
        "  ctx:emit('out', { key = r.key, value = tries })\n"
        "end }\n";

    rig_open(&r, &(struct rig_options){.lua = lua});
    rig_put(&r, "in", 0, "a", "twice");
    rig_put(&r, "in", 0, "b", "ok");
    rig_drain(&r);
    assert_string_equal(rig_text(&r, "out"), "a=3 b=4");
}

/* ---- topics that do not fit ---- */

static void partition_counts_that_differ_stop_the_job(void **state)
{
    static const char lua[] = HEAD
        "return once.job { name = 'j', from = { 'in', 'too' }, to = 'out',\n"
        "  stores = { s = {} }, process = function() end }\n";

    rig_open(&r, &(struct rig_options){.lua = lua, .held = true});
    rig_topic(&r, "in", 2);
    rig_topic(&r, "too", 3);
    rig_start(&r, 0);
    r.held[0] = true;
    rig_until(&r, stopped, 30, "the worker stops");
    assert_true(rig_logged(&r, "stopped, exit code 3: sources in (2 partitions) and too (3)"));
}

static void a_changelog_of_another_count_stops_the_job(void **state)
{
    rig_open(&r, &(struct rig_options){.lua = COUNT_JOB, .held = true});
    rig_topic(&r, "in", 2);
    rig_topic(&r, "count-counts-changelog", 1);
    rig_start(&r, 0);
    r.held[0] = true;
    rig_until(&r, stopped, 30, "the worker stops");
    assert_true(rig_logged(&r, "stopped, exit code 3: topic count-counts-changelog has 1 part"));
}

static void more_stores_or_sources_than_there_is_room_for_are_refused(void **state)
{
    static char lua[8000];
    size_t n;

    for (int what = 0; what < 2; what++) {
        n = (size_t)snprintf(lua, sizeof lua,
                             HEAD "return once.job { name = 'j', process = function() end, %s {",
                             what ? "stores = { s = {} }, from =" : "from = 'in', stores =");
        for (int i = 0; i < 33; i++)
            n += (size_t)snprintf(lua + n, sizeof lua - n, what ? "'t%d'," : "s%d = {},", i);
        snprintf(lua + n, sizeof lua - n, "} }\n");
        rig_open(&r, &(struct rig_options){.lua = lua});
        assert_non_null(strstr(r.c.failed, what ? "read 33 topics; 32 are the most"
                                                : "have 33 stores; 32 are the most"));
        if (what == 0)
            rig_close(&r);
    }
}

/* ---- progress without records ---- */

/* Behind the last record only a marker, or an aborted batch: the group is at the end all the same
 * (EO-42). */
static bool at_the_end(struct rig *rig)
{
    return rig_committed(rig, "words", "words-words-repartition", 0, NULL) ==
               rig_end(rig, "words-words-repartition", 0, true) &&
           rig_end(rig, "words-words-repartition", 0, true) > 0;
}

static void positions_move_past_markers(void **state)
{
    rig_open(&r, &(struct rig_options){.lua = WORDS_JOB});
    rig_put(&r, "lines", 0, NULL, "a b");
    rig_until(&r, at_the_end, 10, "the group is at the end of the # topic");
    assert_string_equal(rig_text(&r, "out"), "a=1 b=1");
}

static void an_idle_job_commits_nothing(void **state)
{
    struct worker_stats before, after;

    rig_open(&r, &(struct rig_options){.lua = WORDS_JOB});
    rig_put(&r, "lines", 0, NULL, "a b");
    rig_drain(&r);
    rig_run(&r, 2000);
    worker_stats(r.c.workers[0].worker, &before);
    rig_run(&r, 20000);
    worker_stats(r.c.workers[0].worker, &after);
    assert_int_equal(after.commits, before.commits); /* EO-49 */
}

/* ---- the weaker guarantees, and stops ---- */

static void every_guarantee_is_exact_without_faults(void **state)
{
    static const char *const names[] = {"exactly_once", "at_least_once", "at_most_once"};

    for (int i = 0; i < 3; i++) {
        rig_open(&r,
                 &(struct rig_options){.lua = COUNT_JOB, .guarantee = names[i], .partitions = 2});
        for (int k = 0; k < 4; k++) { /* an orderly stop in the middle of it loses nothing either */
            rig_feed(&r, "in", 500, 5);
            rig_run(&r, 3 + 7 * (uint64_t)k);
            rig_stop(&r, 0);
            rig_start(&r, 0);
        }
        rig_drain(&r);
        assert_int_equal(rig_exact_counts(&r, "out"), 2000);
        if (i < 2)
            rig_close(&r);
    }
}

/* The weakest loses at crashes; an orderly stop or a rebalance is none. */
static void orderly_stops_lose_nothing_at_most_once(void **state)
{
    int fed = 0;

    rig_open(&r, &(struct rig_options){
                     .lua = COUNT_JOB, .guarantee = "at_most_once", .partitions = 2, .workers = 2});
    for (int i = 0; i < 40; i++) {
        rig_until(&r, rig_ready, 20, "the workers are ready");
        rig_feed(&r, "in", 50, 5);
        fed += 50;
        rig_run(&r, (uint64_t)i % 7);
        rig_stop(&r, i % 2);
        rig_start(&r, i % 2);
    }
    rig_drain(&r);
    rig_run(&r, 1000); /* committed comes before processed */
    assert_int_equal(rig_exact_counts(&r, "out"), fed);
}

static void a_stop_comes_at_any_moment_of_the_start(void **state)
{
    rig_open(&r, &(struct rig_options){.lua = WORDS_JOB, .partitions = 2});
    rig_put(&r, "lines", 0, NULL, "a b");
    rig_put(&r, "lines", 1, NULL, "a b");
    rig_drain(&r);
    for (uint64_t ms = 0; ms < 40; ms++) {
        rig_stop(&r, 0);
        rig_start(&r, 0);
        rig_run(&r, ms);
    }
    rig_drain(&r);
    assert_int_equal(rig_exact_counts(&r, "out"), 4);
}

#define CASE(f) cmocka_unit_test_teardown(f, close_rig)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_job_counts_and_keeps_its_counts),
        CASE(groups_meet_in_internal_topics),
        CASE(outputs_keep_their_key_time_headers_and_partition),
        CASE(a_prefix_names_topics_as_they_come),
        CASE(a_name_that_no_topic_can_have_is_the_records_fault),
        CASE(a_skipped_record_leaves_nothing),
        CASE(a_dead_letter_holds_the_record_and_what_happened),
        CASE(a_record_that_stops_the_job_is_not_passed_over),
        CASE(retries_come_before_the_policy),
        CASE(partition_counts_that_differ_stop_the_job),
        CASE(a_changelog_of_another_count_stops_the_job),
        CASE(more_stores_or_sources_than_there_is_room_for_are_refused),
        CASE(positions_move_past_markers),
        CASE(an_idle_job_commits_nothing),
        CASE(every_guarantee_is_exact_without_faults),
        CASE(orderly_stops_lose_nothing_at_most_once),
        CASE(a_stop_comes_at_any_moment_of_the_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

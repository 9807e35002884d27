/* tests/runtime/worker/test_takeover.c - a worker that is stopped with its transaction open, and
 * what those who have its tasks meanwhile, or it itself later, make of it. */
#include "base/wire/messages.h"
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

static void feed_lines(int n)
{
    for (int i = 0; i < n; i++)
        rig_put(&r, "lines", i % 2, NULL, "a b c d e f g");
}

static void stop_at(const char *point, int nth, uint64_t ms)
{
    r.crash_at = point;
    r.crash_left = nth;
    r.pause_ms = ms;
}

/* Its offsets were taken while it was a member, and its commit comes when it is none any more: that
 * is right, and who took over must not have begun at the offsets before (EO-37). */
static void a_new_owner_waits_for_what_the_old_one_decides(void **state)
{
    rig_open(&r, &(struct rig_options){.lua = WORDS_JOB,
                                       .partitions = 2,
                                       .workers = 2,
                                       .held = true,
                                       .session_timeout_ms = 6000});
    rig_start(&r, 0);
    feed_lines(4);
    rig_drain(&r);
    stop_at("after_offsets", 1, 8500);
    r.lose_api = API_END_TXN; /* asked again when it wakes, within the transaction's 10 s */
    rig_put(&r, "lines", 0, NULL, "a b c d e f g");
    rig_run(&r, 50);
    assert_int_equal(r.n_crashes, 2);
    assert_int_equal(rig_end(&r, "lines", 0, true), 3);
    rig_start(&r, 1);
    rig_run(&r, 8000); /* the silent one's session is over, its tasks are with the other */
    assert_int_equal(rig_exact_counts(&r, "out"), 28);
    rig_run(&r, 4000);
    rig_put(&r, "lines", 1, NULL, "a b c d e f g");
    rig_drain(&r);
    assert_int_equal(rig_exact_counts(&r, "out"), 42);
    assert_false(rig_logged(&r, "open for more than"));
}

/* Still a member, but its transaction was aborted while it was stopped: it goes back, state and
 * positions (EO-45), and what it had done is done again, once. */
static void abort_at(const char *point, int nth)
{
    rig_open(&r, &(struct rig_options){.lua = WORDS_JOB, .partitions = 2});
    feed_lines(4);
    rig_drain(&r);
    stop_at(point, nth, 12000);
    feed_lines(3);
    r.lose_api = API_END_TXN;
    rig_run(&r, 16000);
    feed_lines(1);
    rig_drain(&r);
    assert_true(r.n_crashes >= 1);
    assert_false(rig_logged(&r, "membership lost"));
    assert_int_equal(rig_exact_counts(&r, "out"), 56);
}

static void an_abort_goes_back_to_what_is_committed(void **state)
{
    static const struct {
        const char *point;
        int nth; /* early ones hit the task that reads lines, later ones the one that counts */
    } stops[] = {{"after_process", 1}, {"after_process", 9}, {"after_process", 12},
                 {"before_flush", 1},  {"before_flush", 2},  {"after_flush", 2},
                 {"after_offsets", 1}, {"after_offsets", 2}, {"before_end_txn", 2}};
    bool aborted = false;

    for (size_t i = 0; i < sizeof stops / sizeof stops[0]; i++) {
        abort_at(stops[i].point, stops[i].nth);
        aborted |= rig_logged(&r, "open for more than");
        if (i + 1 < sizeof stops / sizeof stops[0])
            rig_close(&r);
    }
    assert_true(aborted);
}

#define CASE(f) cmocka_unit_test_teardown(f, close_rig)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_new_owner_waits_for_what_the_old_one_decides),
        CASE(an_abort_goes_back_to_what_is_committed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

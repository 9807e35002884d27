/* tests/runtime/worker/test_crash.c - a worker that dies, is stopped or hears no answer at each
 * step of its commit cycle: in the end every record counts once. */
#include "base/wire/messages.h"
#include "jobs.h"
#include "support_rig.h"
#include <stdio.h>
#include <stdlib.h>

static struct rig r;

static void feed_lines(int n)
{
    for (int i = 0; i < n; i++)
        rig_put(&r, "lines", i % 2, NULL, "a b c d e f g");
}

/* What the stores of both tasks hold, summed up. */
static int stored(int worker, int slot)
{
    int sum = 0;

    for (int p = 0; p < 2; p++) {
        char task[8];
        const char *s;
        snprintf(task, sizeof task, "1_%d", p);
        s = rig_store(&r, worker, slot, task, "counts");
        for (; (s = strchr(s, '=')); s++)
            sum += atoi(s + 1);
    }
    return sum;
}

static void crash_at(const char *point, int nth, bool power)
{
    rig_open(&r,
             &(struct rig_options){.lua = WORDS_JOB, .partitions = 2, .seed = (uint64_t)nth + 10});
    feed_lines(4);
    rig_drain(&r);
    r.crash_at = point;
    r.crash_left = nth;
    r.crash_power = power;
    if (strcmp(point, "mid_restore") == 0) { /* a store that is behind */
        r.crash_at = "after_end_txn";
        feed_lines(2);
        r.crash_at = point;
        rig_kill(&r, 0);
        rig_start(&r, 0);
    }
    for (int i = 0; i < 6; i++)
        feed_lines(4);
    rig_drain(&r);
    if (r.n_crashes != 1)
        fail_msg("%s came less than %d times", point, nth);
    if (rig_exact_counts(&r, "out") !=
        7 * (int)rig_end(&r, "lines", 0, true) + 7 * (int)rig_end(&r, "lines", 1, true))
        fail_msg("%s %d %d: not all is counted", point, nth, power);
    rig_stop(&r, 0);
    assert_int_equal(stored(0, 0), rig_exact_counts(&r, "out"));
    rig_close(&r);
}

static void a_crash_at_any_step_counts_once(void **state)
{
    static const char *const points[] = {
        "after_poll",     "after_process", "before_flush", "after_flush", "after_offsets",
        "before_end_txn", "after_end_txn", "mid_store",    "after_store", "mid_restore"};

    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++)
        for (int nth = 1; nth <= 3; nth++)
            for (int power = 0; power < 2; power++)
                crash_at(points[i], nth, power);
}

static void a_lost_request_or_answer_counts_once(void **state)
{
    static const int16_t apis[] = {API_PRODUCE,      API_FETCH,        API_TXN_OFFSET_COMMIT,
                                   API_END_TXN,      API_HEARTBEAT,    API_INIT_PRODUCER_ID,
                                   API_OFFSET_FETCH, API_LIST_OFFSETS, API_JOIN_GROUP,
                                   API_SYNC_GROUP};

    for (size_t i = 0; i < sizeof apis / sizeof apis[0]; i++)
        for (int reply = 0; reply < 2; reply++) {
            rig_open(&r, &(struct rig_options){.lua = WORDS_JOB, .partitions = 2});
            feed_lines(3);
            rig_drain(&r);
            r.lose_api = apis[i];
            r.lose_reply = reply;
            rig_kill(&r, 0); /* so that the questions of a start come again, too */
            rig_start(&r, 0);
            feed_lines(7);
            rig_drain(&r);
            if (!r.n_crashes)
                fail_msg("no request for api %d was lost", apis[i]);
            assert_int_equal(rig_exact_counts(&r, "out"), 70);
            rig_close(&r);
        }
}

/* The broker dies while the worker waits for each kind of answer. */
static void a_crash_of_the_broker_counts_once(void **state)
{
    for (int i = 0; i < 24; i++) {
        rig_open(&r,
                 &(struct rig_options){.lua = WORDS_JOB, .partitions = 2, .seed = (uint64_t)i + 1});
        feed_lines(3);
        for (int k = 0; k < 4; k++) {
            feed_lines(1);
            rig_run(&r, (uint64_t)i % 8);
            if (i & 8)
                sim_power_cut(r.c.broker.node);
            else
                sim_crash(r.c.broker.node);
            rig_run(&r, 300);
        }
        rig_drain(&r);
        assert_int_equal(rig_exact_counts(&r, "out"), 49);
        rig_close(&r);
    }
}

/* Stopped past its session while its transaction is still good, its tasks with another: what it had
 * done is not committed when it wakes (EO-38), not under its new membership either (EO-60). */
static void a_zombie_does_not_commit(void **state)
{
    static const char *const points[] = {"after_process", "before_flush", "after_flush",
                                         "after_offsets"};

    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++)
        for (uint64_t pause = 8000; pause <= 32000; pause *= 2) {
            rig_open(&r, &(struct rig_options){.lua = WORDS_JOB,
                                               .partitions = 2,
                                               .workers = 2,
                                               .held = true,
                                               .session_timeout_ms = 6000});
            rig_start(&r, 0);
            feed_lines(4);
            rig_drain(&r);
            r.crash_at = points[i];
            r.crash_left = 1;
            r.pause_ms = pause;
            rig_put(&r, "lines", 0, NULL, "a b c d e f g");
            rig_run(&r, 50);
            assert_int_equal(r.n_crashes, 1);
            rig_start(&r, 1); /* takes what the silent one had */
            rig_run(&r, pause + 4000);
            rig_put(&r, "lines", 1, NULL, "a b c d e f g");
            rig_drain(&r);
            assert_int_equal(rig_exact_counts(&r, "out"), 42);
            rig_close(&r);
        }
}

/* A record whose outputs do not fit into the producer's buffer at once, and a commit that comes
 * meanwhile: the store's part of it must not be committed without the rest. */
static void a_record_larger_than_the_buffer_is_one(void **state)
{
    static const char lua[] = HEAD
        "return once.job { name = 'big', from = 'in', to = { 'out', 'bulk' },\n"
        "  stores = { counts = {} }, commit = { max = '1ms' }, process = function(ctx, r)\n"
        "    local n = (ctx.counts:get(r.key) or 0) + 1\n"
        "    ctx.counts:put(r.key, n)\n"
        "    ctx:emit('out', { key = r.key, value = n })\n"
        "    if r.value == 'big' then\n"
        "      local s = string.rep('x', 900000)\n"
        "      for i = 1, 90 do ctx:emit('bulk', { key = r.key, value = s }) end\n"
        "    end\n"
        "  end }\n";

    for (int nth = 1; nth <= 2; nth++) {
        rig_open(&r, &(struct rig_options){.lua = lua});
        rig_put(&r, "in", 0, "a", "small");
        rig_put(&r, "in", 0, "a", "big");
        rig_put(&r, "in", 0, "a", "small");
        r.crash_at = "after_end_txn";
        r.crash_left = nth;
        rig_drain(&r);
        assert_int_equal(r.n_crashes, 1);
        assert_int_equal(rig_exact_counts(&r, "out"), 3);
        assert_true(rig_end(&r, "bulk", 0, true) >= 90);
        assert_int_equal(rig_read(&r, "bulk"), 90);
        rig_close(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_crash_at_any_step_counts_once),
        cmocka_unit_test(a_lost_request_or_answer_counts_once),
        cmocka_unit_test(a_crash_of_the_broker_counts_once),
        cmocka_unit_test(a_zombie_does_not_commit),
        cmocka_unit_test(a_record_larger_than_the_buffer_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

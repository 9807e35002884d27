/* tests/base/test_env.c - the shared part of env: the heap of timers against a naive model, chance,
 * log lines. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/env.h"
#include "base/rng.h"
#include <stdio.h>

static void arm(struct env *e, uint64_t at)
{
}

static char logged[4096];
static enum env_level logged_level;

static void log_line(struct env *e, enum env_level level, const char *line)
{
    snprintf(logged, sizeof logged, "%s", line);
    logged_level = level;
}

static const struct env_vt vt = {.arm = arm, .log = log_line};

enum { TIMERS = 200 };
static struct env_timer timers[TIMERS];
static struct env world;
static int fired[TIMERS * 100], n_fired;

static void fire(struct env_timer *t)
{
    fired[n_fired++] = (int)(t - timers);
}

/* The armed timer that is due first, or -1. */
static int first_of(const uint64_t at[], const uint64_t seq[])
{
    int best = -1;
    for (int i = 0; i < TIMERS; i++)
        if (seq[i] && (best < 0 || at[i] < at[best] || (at[i] == at[best] && seq[i] < seq[best])))
            best = i;
    return best;
}

static void timers_fire_like_a_naive_model(void **state)
{
    uint64_t at[TIMERS] = {0}, seq[TIMERS] = {0}, next_seq = 1, rng[4];

    rng_seed(rng, 3);
    env_init(&world, &vt, "n", 1);
    for (int i = 0; i < TIMERS; i++)
        timers[i].fire = fire;
    for (int step = 0; step < 20000; step++) {
        int i = (int)rng_below(rng, TIMERS);
        if (rng_below(rng, 4)) {
            at[i] = world.now + rng_below(rng, 50);
            seq[i] = next_seq++;
            env_timer_set(&world, &timers[i], at[i]);
        } else {
            seq[i] = 0;
            env_timer_stop(&world, &timers[i]);
        }
        i = first_of(at, seq);
        assert_true(env_timer_next(&world) == (i < 0 ? UINT64_MAX : at[i]));
        if (step % 20)
            continue;
        world.now += 10;
        n_fired = 0;
        env_timers_run(&world);
        for (int k = 0; k < n_fired; k++) {
            i = first_of(at, seq);
            assert_int_equal(fired[k], i);
            assert_true(at[i] <= world.now);
            seq[i] = 0;
        }
        i = first_of(at, seq);
        assert_true(i < 0 || at[i] > world.now);
    }
    env_deinit(&world);
}

static void fire_again(struct env_timer *t)
{
    n_fired++;
    env_timer_set(&world, t, 0);
}

static void a_timer_that_arms_itself_waits_for_the_next_turn(void **state)
{
    struct env_timer t = {.fire = fire_again};

    env_init(&world, &vt, "n", 1);
    n_fired = 0;
    world.now = 100;
    env_timer_set(&world, &t, 50);
    for (int turn = 1; turn < 5; turn++) {
        env_timers_run(&world);
        assert_int_equal(n_fired, turn);
    }
    env_timer_stop(&world, &t);
    env_timers_run(&world);
    assert_int_equal(n_fired, 4);
    env_deinit(&world);
}

static void a_dead_node_runs_nothing_and_forgets_its_timers(void **state)
{
    struct env_timer t = {.fire = fire_again};

    env_init(&world, &vt, "n", 1);
    n_fired = 0;
    env_timer_set(&world, &t, 0);
    env_die(&world);
    env_timers_run(&world);
    assert_int_equal(n_fired, 0);
    assert_int_equal(t.slot, 0);
    env_timer_set(&world, &t, 0);
    env_timer_stop(&world, &t);
    assert_true(env_timer_next(&world) == UINT64_MAX);
    env_deinit(&world);
}

static void chance_is_the_seeds(void **state)
{
    struct env a, b, c;
    int differs = 0;

    env_init(&a, &vt, "a", 5);
    env_init(&b, &vt, "b", 5);
    env_init(&c, &vt, "c", 6);
    for (int i = 0; i < 100; i++) {
        uint64_t x = env_random(&a, 0);
        assert_true(x == env_random(&b, 0));
        differs += x != env_random(&c, 0);
    }
    assert_int_equal(differs, 100);
    assert_int_equal(env_random(&a, 1), 0);
}

static void a_log_line_is_one_line_and_below_its_level_none(void **state)
{
    env_init(&world, &vt, "n", 1);
    logged[0] = 0;
    env_debug(&world, "not %d", 1);
    assert_string_equal(logged, "");
    env_warn(&world, "a\nb\x7f%s", "\tc");
    assert_string_equal(logged, "a?b??c");
    assert_int_equal(logged_level, ENV_WARN);
    env_info(&world, "%3000d", 1);
    assert_in_range(strlen(logged), 1000, 2047);
    env_deinit(&world);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(timers_fire_like_a_naive_model),
        cmocka_unit_test(a_timer_that_arms_itself_waits_for_the_next_turn),
        cmocka_unit_test(a_dead_node_runs_nothing_and_forgets_its_timers),
        cmocka_unit_test(chance_is_the_seeds),
        cmocka_unit_test(a_log_line_is_one_line_and_below_its_level_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

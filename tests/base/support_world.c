/* tests/base/support_world.c - what every world must do. */
#include "support_world.h"
#include "support_streams.h"
#include <stdio.h>
#include <stdlib.h>

static const struct world_backend *backend;
static int n_done;

static void wait_done(struct env_op *op, int64_t res)
{
    struct wait *x = list_entry(op, struct wait, op);
    assert_false(x->done);
    x->done = true;
    x->res = res;
    x->order = ++n_done;
}

void wait_init(struct wait *x, struct world *w)
{
    memset(x, 0, sizeof *x);
    x->op.done = wait_done;
    x->w = w;
}

int64_t wait_for(struct wait *x)
{
    for (int i = 0; i < 100000 && !x->done; i++)
        x->w->turn(x->w);
    assert_true(x->done);
    return x->res;
}

static const char *path(struct world *w, const char *name)
{
    static char out[4][256];
    static int at;
    at = (at + 1) % 4;
    snprintf(out[at], sizeof out[at], "%s/%s", w->dir, name);
    return out[at];
}

static void open_file(struct world *w, struct env_file *f, const char *name, int flags)
{
    uint64_t size = 99;
    assert_int_equal(env_open(w->env, f, path(w, name), ENV_CREATE | flags, &size), 0);
}

static int64_t write_str(struct world *w, struct env_file *f, uint64_t at, const char *s, int flags)
{
    struct slice v = slice_str(s);
    struct wait x;
    wait_init(&x, w);
    env_write(&x.op, f, at, &v, 1, flags);
    assert_false(x.done);
    return wait_for(&x);
}

static void assert_reads(struct env_file *f, uint64_t at, size_t n, const char *want)
{
    unsigned char b[64];
    int64_t r = env_read_wait(f, at, (struct span){b, n});
    assert_int_equal(r, strlen(want));
    assert_memory_equal(b, want, strlen(want));
}

/* ---- files ---- */

static void written_bytes_are_read_back(void **state)
{
    struct world *w = *state;
    struct slice v[3] = {slice_str("one"), slice_of("", 0), slice_str("two")};
    struct env_file f;
    unsigned char b[32];
    struct wait x;

    open_file(w, &f, "a", 0);
    wait_init(&x, w);
    env_write(&x.op, &f, 2, v, 3, ENV_SYNC);
    assert_int_equal(wait_for(&x), 6);
    assert_int_equal(env_size(&f), 8);
    wait_init(&x, w);
    env_read(&x.op, &f, 0, (struct span){b, sizeof b});
    assert_int_equal(wait_for(&x), 8);
    assert_memory_equal(b, "\0\0onetwo", 8);
    assert_reads(&f, 5, 2, "tw");
    assert_reads(&f, 8, 2, "");
    assert_reads(&f, 100, 2, "");
    env_close(&f);
}

static void ops_of_a_file_take_effect_in_the_order_submitted(void **state)
{
    enum { N = 40 };
    struct world *w = *state;
    static struct wait x[N * 2];
    static char text[N][8], got[N][8];
    static struct slice v[N];
    struct env_file f;

    for (int flags = 0; flags <= ENV_JOURNAL; flags += ENV_JOURNAL) {
        open_file(w, &f, flags ? "journal" : "plain", flags);
        for (int i = 0; i < N; i++) {
            snprintf(text[i], sizeof text[i], "%07d", i);
            v[i] = slice_of(text[i], 7);
            wait_init(&x[2 * i], w);
            wait_init(&x[2 * i + 1], w);
            env_write(&x[2 * i].op, &f, 0, &v[i], 1, i % 7 == 3 ? ENV_SYNC : 0);
            env_read(&x[2 * i + 1].op, &f, 0, (struct span){(unsigned char *)got[i], 7});
        }
        for (int i = 0; i < 2 * N; i++)
            assert_int_equal(wait_for(&x[i]), 7);
        for (int i = 0; i < N; i++)
            assert_memory_equal(got[i], text[i], 7);
        for (int i = 2; i < 2 * N; i += 2)
            assert_true(x[i].order > x[i - 2].order);
        env_close(&f);
    }
}

static void more_slices_than_the_system_takes_at_once_are_written_whole(void **state)
{
    enum { N = 3000 };
    struct world *w = *state;
    static struct slice v[N];
    static unsigned char src[N * 3], back[N * 3 + 1];
    struct env_file f;
    struct wait x;

    for (int i = 0; i < N * 3; i++)
        src[i] = (unsigned char)(i * 7);
    for (int i = 0; i < N; i++)
        v[i] = slice_of(src + i * 3, 3);
    open_file(w, &f, "many", 0);
    wait_init(&x, w);
    env_write(&x.op, &f, 0, v, N, ENV_SYNC);
    assert_int_equal(wait_for(&x), N * 3);
    assert_int_equal(env_read_wait(&f, 0, (struct span){back, sizeof back}), N * 3);
    assert_memory_equal(back, src, N * 3);
    env_close(&f);
}

static void a_sync_without_bytes_and_truncate_and_reserve_work(void **state)
{
    struct world *w = *state;
    struct env_file f;
    struct wait x;

    open_file(w, &f, "t", 0);
    assert_int_equal(write_str(w, &f, 0, "0123456789", 0), 10);
    wait_init(&x, w);
    env_write(&x.op, &f, 0, NULL, 0, ENV_SYNC);
    assert_int_equal(wait_for(&x), 0);
    wait_init(&x, w);
    env_truncate(&x.op, &f, 4);
    assert_int_equal(wait_for(&x), 0);
    assert_int_equal(env_size(&f), 4);
    wait_init(&x, w);
    env_reserve(&x.op, &f, 4, 8, ENV_ZEROED | ENV_SYNC);
    assert_int_equal(wait_for(&x), 0);
    assert_int_equal(env_size(&f), 12);
    wait_init(&x, w);
    env_reserve(&x.op, &f, 0, 1 << 20, 0);
    assert_int_equal(wait_for(&x), 0);
    assert_int_equal(env_size(&f), 12);
    assert_int_equal(env_truncate_wait(&f, 2), 0);
    assert_int_equal(env_write_wait(&f, 2, &(struct slice){(const void *)"xy", 2}, 1, ENV_SYNC), 2);
    assert_reads(&f, 0, 20, "01xy");
    env_close(&f);
}

static void read_now_gives_all_or_says_again(void **state)
{
    struct world *w = *state;
    struct env_file f;
    unsigned char b[32];
    int whole = 0;

    open_file(w, &f, "now", 0);
    write_str(w, &f, 0, "0123456789", 0);
    for (int i = 0; i < 200; i++) {
        int64_t r = env_read_now(&f, 4, (struct span){b, sizeof b});
        if (r == -ERR_AGAIN)
            continue;
        assert_int_equal(r, 6);
        assert_memory_equal(b, "456789", 6);
        whole++;
    }
    assert_true(whole > 0);
    env_close(&f);
}

static void read_now_never_passes_a_waiting_write(void **state)
{
    struct world *w = *state;
    struct slice v = slice_str("new");
    struct env_file f;
    unsigned char b[3];
    struct wait x;

    open_file(w, &f, "pass", 0);
    write_str(w, &f, 0, "old", 0);
    wait_init(&x, w);
    env_write(&x.op, &f, 0, &v, 1, 0);
    for (int i = 0; i < 50; i++)
        assert_int_equal(env_read_now(&f, 0, (struct span){b, 3}), -ERR_AGAIN);
    wait_for(&x);
    env_close(&f);
}

/* ---- folders ---- */

static void collect(void *u, const char *name)
{
    strcat(u, name);
    strcat(u, " ");
}

static void list_is_sorted_and_follows_create_rename_remove(void **state)
{
    struct world *w = *state;
    char names[256] = "";
    struct env_file f;
    struct wait x;

    for (const char *n = "cab"; *n; n++) {
        open_file(w, &f, (char[]){*n, 0}, 0);
        env_close(&f);
    }
    assert_int_equal(env_mkdir(w->env, path(w, "Z")), 0);
    assert_int_equal(env_mkdir(w->env, path(w, "Z")), -ERR_EXISTS);
    assert_int_equal(env_mkdir(w->env, path(w, "no/such")), -ERR_NOT_FOUND);
    assert_int_equal(env_list(w->env, w->dir, collect, names), 0);
    assert_string_equal(names, "Z a b c ");
    assert_int_equal(env_rename(w->env, path(w, "a"), path(w, "c")), 0);
    assert_int_equal(env_rename(w->env, path(w, "a"), path(w, "q")), -ERR_NOT_FOUND);
    wait_init(&x, w);
    env_remove(&x.op, w->env, path(w, "b"));
    names[0] = 0;
    assert_int_equal(env_list(w->env, w->dir, collect, names), 0);
    assert_string_equal(names, "Z c ");
    assert_int_equal(wait_for(&x), 0);
    assert_int_equal(env_remove_wait(w->env, path(w, "Z")), 0);
    assert_int_equal(env_remove_wait(w->env, path(w, "Z")), -ERR_NOT_FOUND);
    wait_init(&x, w);
    env_remove(&x.op, w->env, path(w, "nothing"));
    assert_int_equal(wait_for(&x), -ERR_NOT_FOUND);
    wait_init(&x, w);
    env_sync_dir(&x.op, w->env, w->dir);
    assert_int_equal(wait_for(&x), 0);
    assert_int_equal(env_sync_dir_wait(w->env, w->dir), 0);
    assert_int_equal(env_sync_dir_wait(w->env, path(w, "none")), -ERR_NOT_FOUND);
    names[0] = 0;
    assert_int_equal(env_list(w->env, path(w, "none"), collect, names), -ERR_NOT_FOUND);
}

static void a_renamed_folder_takes_its_files_along(void **state)
{
    struct world *w = *state;
    char names[256] = "";
    struct env_file f, g;

    assert_int_equal(env_mkdir(w->env, path(w, "t-0")), 0);
    open_file(w, &f, "t-0/log", 0);
    write_str(w, &f, 0, "here", 0);
    assert_int_equal(env_remove_wait(w->env, path(w, "t-0")), -ERR_EXISTS);
    assert_int_equal(env_rename(w->env, path(w, "t-0"), path(w, "t-0.gone")), 0);
    assert_int_equal(env_list(w->env, path(w, "t-0.gone"), collect, names), 0);
    assert_string_equal(names, "log ");
    assert_int_equal(env_open(w->env, &g, path(w, "t-0/log"), 0, NULL), -ERR_NOT_FOUND);
    assert_int_equal(env_open(w->env, &g, path(w, "t-0.gone/log"), ENV_READ_ONLY, NULL), 0);
    assert_reads(&g, 0, 9, "here");
    env_close(&f);
    env_close(&g);
}

static void a_removed_file_stays_usable_while_open(void **state)
{
    struct world *w = *state;
    struct env_file f, g;
    uint64_t size;

    open_file(w, &f, "gone", 0);
    write_str(w, &f, 0, "old", 0);
    assert_int_equal(env_remove_wait(w->env, path(w, "gone")), 0);
    assert_reads(&f, 0, 9, "old");
    assert_int_equal(env_open(w->env, &g, path(w, "gone"), 0, &size), -ERR_NOT_FOUND);
    assert_int_equal(env_open(w->env, &g, path(w, "gone"), ENV_CREATE, &size), 0);
    assert_int_equal(size, 0);
    assert_reads(&f, 0, 9, "old");
    env_close(&f);
    env_close(&g);
}

static void a_lock_is_held_until_unlocked(void **state)
{
    struct world *w = *state;

    assert_int_equal(env_lock(w->env, path(w, "lock")), 0);
    assert_int_equal(env_lock(w->env, path(w, "lock")), -ERR_BUSY);
    assert_int_equal(env_lock(w->env, path(w, "lock2")), 0);
    env_unlock(w->env, path(w, "lock"));
    assert_int_equal(env_lock(w->env, path(w, "lock")), 0);
}

static void identify_tells_a_copy_from_the_original(void **state)
{
    struct world *w = *state;
    struct env_id a, b, c;
    struct env_file f;

    open_file(w, &f, "x", 0);
    env_close(&f);
    open_file(w, &f, "y", 0);
    env_close(&f);
    assert_int_equal(env_identify(w->env, path(w, "x"), &a), 0);
    assert_int_equal(env_identify(w->env, path(w, "y"), &b), 0);
    assert_int_equal(env_rename(w->env, path(w, "x"), path(w, "z")), 0);
    assert_int_equal(env_identify(w->env, path(w, "z"), &c), 0);
    assert_memory_equal(&a, &c, sizeof a);
    assert_true(memcmp(&a, &b, sizeof a) != 0);
    assert_memory_equal(a.boot, b.boot, 16);
    assert_int_equal(env_identify(w->env, path(w, "none"), &a), -ERR_NOT_FOUND);
    assert_true(env_space_free(w->env, w->dir) > 0);
}

/* ---- timers, tasks, work ---- */

static char order[64];
static struct env *env_of_order;
struct note_timer {
    struct env_timer t;
    char name;
    struct env_task task;
    uint64_t now;
};

static void note(char c)
{
    size_t n = strlen(order);
    order[n] = c;
    order[n + 1] = 0;
}

static void note_task(struct env_task *t)
{
    struct note_timer *n = list_entry(t, struct note_timer, task);
    note((char)(n->name - 'a' + 'A'));
    if (n->name == 'a') {
        n->name = 'z';
        env_task_add(env_of_order, t);
    }
}

static void note_fire(struct env_timer *t)
{
    struct note_timer *n = list_entry(t, struct note_timer, t);
    note(n->name);
    n->now = env_of_order->now;
    env_task_add(env_of_order, &n->task);
    env_task_add(env_of_order, &n->task);
}

static void timers_fire_by_time_then_by_arming_and_tasks_follow(void **state)
{
    struct world *w = *state;
    struct note_timer t[5] = {0};
    uint64_t base = w->env->now;

    order[0] = 0;
    env_of_order = w->env;
    for (int i = 0; i < 5; i++) {
        t[i].t.fire = note_fire;
        t[i].task.run = note_task;
        t[i].name = (char)('a' + i);
    }
    /* far apart: on a busy machine a turn may come late, and two that are due share it */
    env_timer_set(w->env, &t[4].t, base + ENV_MS(450));
    env_timer_set(w->env, &t[1].t, base + ENV_MS(150));
    env_timer_set(w->env, &t[0].t, base + ENV_MS(150));
    env_timer_set(w->env, &t[2].t, base + ENV_MS(50));
    env_timer_set(w->env, &t[3].t, base + ENV_MS(100));
    env_timer_set(w->env, &t[1].t, base + ENV_MS(150)); /* moved behind a */
    env_timer_stop(w->env, &t[3].t);
    env_timer_stop(w->env, &t[3].t);
    for (int i = 0; i < 10000 && !t[4].now; i++)
        w->turn(w);
    assert_string_equal(order, "cCabABZeE");
    assert_true(t[2].now >= base + ENV_MS(50));
    assert_true(t[0].now >= base + ENV_MS(150));
    assert_true(t[0].now == t[1].now);
    assert_true(t[4].now < base + ENV_S(5));
}

static void a_task_asked_for_outside_a_turn_runs_soon_and_a_stopped_one_never(void **state)
{
    struct world *w = *state;
    struct note_timer a = {.name = 'b', .task = {.run = note_task}};
    struct note_timer b = {.name = 'c', .task = {.run = note_task}};

    order[0] = 0;
    env_of_order = w->env;
    env_task_add(w->env, &a.task);
    env_task_add(w->env, &b.task);
    env_task_stop(&b.task);
    w->turn(w);
    w->turn(w);
    assert_string_equal(order, "B");
}

struct sum {
    struct wait x;
    int64_t n;
};

static int64_t sum_up(struct env_op *op)
{
    struct sum *s = (struct sum *)(void *)list_entry(op, struct wait, op);
    int64_t r = 0;
    for (int64_t i = 1; i <= s->n; i++)
        r += i;
    return r;
}

static void work_gives_its_result(void **state)
{
    struct world *w = *state;
    struct sum s[20];

    for (int i = 0; i < 20; i++) {
        wait_init(&s[i].x, w);
        s[i].n = i * 100;
        env_work(&s[i].x.op, w->env, sum_up);
        assert_false(s[i].x.done);
    }
    for (int i = 0; i < 20; i++)
        assert_int_equal(wait_for(&s[i].x), i * 100 * (i * 100 + 1) / 2);
}

static void random_stays_below_and_wall_clock_is_sane(void **state)
{
    struct world *w = *state;
    unsigned seen = 0;
    unsigned char a[16] = {0}, b[16] = {0};

    for (int i = 0; i < 1000; i++) {
        uint64_t r = env_random(w->env, 7);
        assert_true(r < 7);
        seen |= 1u << r;
    }
    assert_int_equal(seen, 127);
    env_random_bytes(w->env, a, 16);
    env_random_bytes(w->env, b, 16);
    assert_true(memcmp(a, b, 16) != 0);
    assert_true(env_wall_ms(w->env) > 1600000000000);
}

/* ---- ends ---- */

static void a_stopped_node_gets_no_callback_and_leaves_nothing(void **state)
{
    struct world *w = *state;
    static struct wait x[10];
    static unsigned char b[1 << 16];
    static struct slice v;
    static struct note_timer t;
    static struct pair p;
    static struct env_file f;

    v = slice_of(b, sizeof b);
    t = (struct note_timer){.name = 'b', .t = {.fire = note_fire}, .task = {.run = note_task}};
    pair_open(w, &p);
    open_file(w, &f, "f", ENV_JOURNAL);
    for (int i = 0; i < 10; i++)
        wait_init(&x[i], w);
    order[0] = 0;
    env_of_order = w->env;
    env_timer_set(w->env, &t.t, w->env->now);
    env_task_add(w->env, &t.task);
    env_recv(&x[0].op, &p.client, (struct span){b, 10});
    env_send(&x[1].op, &p.client, &v, 1);
    env_write(&x[2].op, &f, 0, &v, 1, ENV_SYNC);
    env_read(&x[3].op, &f, 0, (struct span){b, 10});
    env_write(&x[4].op, &f, 0, &v, 1, 0);
    env_sync_dir(&x[5].op, w->env, w->dir);
    assert_int_equal(env_lock(w->env, path(w, "l")), 0);
    w->stop(w);
    env_write(&x[6].op, &f, 0, &v, 1, 0);
    env_recv(&x[7].op, &p.server, (struct span){b, 10});
    assert_int_equal(env_rename(w->env, path(w, "f"), path(w, "g")), -ERR_CRASHED);
    for (int i = 0; i < 50; i++)
        w->turn(w);
    for (int i = 0; i < 10; i++)
        assert_false(x[i].done);
    env_close(&f);
    assert_string_equal(order, "");
}

#define CASES(X)                                                                                   \
    X(written_bytes_are_read_back)                                                                 \
    X(ops_of_a_file_take_effect_in_the_order_submitted)                                            \
    X(more_slices_than_the_system_takes_at_once_are_written_whole)                                 \
    X(a_sync_without_bytes_and_truncate_and_reserve_work)                                          \
    X(read_now_gives_all_or_says_again)                                                            \
    X(read_now_never_passes_a_waiting_write)                                                       \
    X(list_is_sorted_and_follows_create_rename_remove)                                             \
    X(a_renamed_folder_takes_its_files_along)                                                      \
    X(a_removed_file_stays_usable_while_open)                                                      \
    X(a_lock_is_held_until_unlocked)                                                               \
    X(identify_tells_a_copy_from_the_original)                                                     \
    X(timers_fire_by_time_then_by_arming_and_tasks_follow)                                         \
    X(a_task_asked_for_outside_a_turn_runs_soon_and_a_stopped_one_never)                           \
    X(work_gives_its_result)                                                                       \
    X(random_stays_below_and_wall_clock_is_sane)                                                   \
    X(addresses_name_both_ends)                                                                    \
    X(all_bytes_arrive_in_order_through_small_reads)                                               \
    X(both_directions_echo)                                                                        \
    X(a_peer_that_closes_gives_recv_zero_after_its_last_byte)                                      \
    X(shut_first_cancels_what_is_in_flight)                                                        \
    X(a_send_to_a_peer_that_is_gone_fails_in_the_end)                                              \
    X(connect_where_nobody_listens_is_refused)                                                     \
    X(connect_is_canceled_by_shut)                                                                 \
    X(two_listeners_on_one_address_are_refused)                                                    \
    X(a_stopped_node_gets_no_callback_and_leaves_nothing)

static int case_setup(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    n_done = 0;
    backend->open(w);
    *state = w;
    return 0;
}

static int case_teardown(void **state)
{
    backend->close(*state);
    free(*state);
    return 0;
}

int world_run(const struct world_backend *b, const char *name)
{
#define UNIT(f) cmocka_unit_test_setup_teardown(f, case_setup, case_teardown),
    static const struct CMUnitTest tests[] = {CASES(UNIT)};
    backend = b;
    return _cmocka_run_group_tests(name, tests, sizeof tests / sizeof *tests, NULL, NULL);
}

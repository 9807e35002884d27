/* tests/base/test_env_uv.c - the shared suite on the real world, and what only the real
 * world has. */
#include "support_world.h"
#include "base/env_uv_impl.h"
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

struct real {
    struct env_uv uv;
    struct env_uv_node node;
    uv_timer_t tick;
};

static void on_tick(uv_timer_t *t)
{
    (void)t; /* so that a turn in which nothing happens ends */
}

static void real_turn(struct world *w)
{
    struct real *r = w->impl;
    env_uv_turn(&r->uv, true);
}

static void real_stop(struct world *w)
{
    struct real *r = w->impl;
    env_uv_node_stop(&r->uv, &r->node);
}

static void real_open(struct world *w)
{
    struct real *r = calloc(1, sizeof *r);

    if (!w->dir[0])
        strcpy(w->dir, "/tmp/once-test-XXXXXX");
    assert_non_null(mkdtemp(w->dir));
    assert_int_equal(env_uv_open(&r->uv), 0);
    assert_int_equal(env_uv_node_open(&r->uv, &r->node, "node", 1), 0);
    assert_int_equal(uv_timer_init(&r->uv.loop, &r->tick), 0);
    assert_int_equal(uv_timer_start(&r->tick, on_tick, 2, 2), 0);
    w->env = &r->node.env;
    w->address = "127.0.0.1:0";
    w->turn = real_turn;
    w->stop = real_stop;
    w->impl = r;
}

static void real_close(struct world *w)
{
    struct real *r = w->impl;
    char cmd[256];

    env_uv_node_close(&r->uv, &r->node);
    uv_close((uv_handle_t *)&r->tick, NULL);
    env_uv_close(&r->uv);
    free(r);
    snprintf(cmd, sizeof cmd, "rm -rf '%s'", w->dir);
    assert_int_equal(system(cmd), 0);
}

static const struct world_backend real_backend = {real_open, real_close};

static int setup(void **state)
{
    *state = calloc(1, sizeof(struct world));
    real_open(*state);
    return 0;
}

static int teardown(void **state)
{
    real_close(*state);
    free(*state);
    return 0;
}

static void ignore_ready(struct env_stream *l)
{
    (void)l; /* the connection waits, not accepted */
}

static void localhost_is_resolved(void **state)
{
    struct world *w = *state;
    static struct env_stream s, l;
    char addr[64], name[80];
    struct wait x;

    assert_int_equal(env_listen(w->env, &l, "localhost:0", ignore_ready), 0);
    assert_int_equal(env_address(&l, 0, addr, sizeof addr), 0);
    assert_memory_equal(addr, "127.0.0.1:", 10);
    snprintf(name, sizeof name, "localhost%s", strrchr(addr, ':'));
    s.env = w->env;
    wait_init(&x, w);
    env_connect(&x.op, &s, name);
    assert_int_equal(wait_for(&x), 0);
}

static void halting_a_node_ends_the_run_with_the_reason(void **state)
{
    struct world *w = *state;
    struct real *r = w->impl;

    w->env->level = ENV_ERROR + 1;
    env_halt(w->env, "disk is gone");
    assert_int_equal(env_uv_run(&r->uv), -ERR_CRASHED);
    assert_string_equal(env_uv_halted(&r->uv), "node: disk is gone");
    assert_true(w->env->dead);
}

static void stop_task(struct env_task *t)
{
    struct real *r = (struct real *)(void *)((char *)t - sizeof(struct real));
    env_uv_stop(&r->uv);
}

static void run_returns_when_stopped(void **state)
{
    struct world *w = *state;
    struct {
        struct real r;
        struct env_task t;
    } *both = calloc(1, sizeof *both);

    (void)w;
    both->t.run = stop_task;
    assert_int_equal(env_uv_open(&both->r.uv), 0);
    assert_int_equal(env_uv_node_open(&both->r.uv, &both->r.node, "n", 0), 0);
    env_task_add(&both->r.node.env, &both->t);
    assert_int_equal(env_uv_run(&both->r.uv), 0);
    env_uv_node_close(&both->r.uv, &both->r.node);
    env_uv_close(&both->r.uv);
    free(both);
}

/* Takes the C library's place, so that a sync can fail. */
static volatile int sync_fails;

int fdatasync(int fd)
{
    if (sync_fails) {
        errno = EIO;
        return -1;
    }
    return (int)syscall(SYS_fdatasync, fd);
}

static void a_failed_sync_poisons_the_file_for_good(void **state)
{
    struct world *w = *state;
    struct slice v = slice_str("x");
    struct env_file f, g;
    struct wait x;
    char p[256];

    for (int flags = 0; flags <= ENV_JOURNAL; flags += ENV_JOURNAL) {
        snprintf(p, sizeof p, "%s/poisoned%d", w->dir, flags);
        assert_int_equal(env_open(w->env, &f, p, ENV_CREATE | flags, NULL), 0);
        sync_fails = 1;
        wait_init(&x, w);
        env_write(&x.op, &f, 0, &v, 1, ENV_SYNC);
        assert_int_equal(wait_for(&x), -ERR_IO);
        sync_fails = 0;
        for (int sync = 0; sync <= ENV_SYNC; sync += ENV_SYNC) {
            wait_init(&x, w);
            env_write(&x.op, &f, 0, &v, 1, sync);
            assert_int_equal(wait_for(&x), -ERR_IO);
        }
        assert_int_equal(env_write_wait(&f, 0, &v, 1, ENV_SYNC), -ERR_IO);
        assert_int_equal(env_truncate_wait(&f, 0), -ERR_IO);
        assert_int_equal(env_open(w->env, &g, p, 0, NULL), 0); /* the handle, not the name */
        assert_int_equal(env_write_wait(&g, 0, &v, 1, ENV_SYNC), 1);
        env_close(&f);
        env_close(&g);
    }
}

static struct env_stream accepted;

static void accept_it(struct env_stream *l)
{
    assert_int_equal(env_accept(l, &accepted), 0);
}

static int nodelay(struct env_stream *s)
{
    int fd, on = 0;
    socklen_t n = sizeof on;
    assert_int_equal(uv_fileno((uv_handle_t *)&euv_stream(s)->tcp, &fd), 0);
    assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, &n), 0);
    return on;
}

static void small_sends_are_not_held_back(void **state)
{
    struct world *w = *state;
    static struct env_stream l, s;
    struct wait x;
    char addr[64];

    accepted.env = NULL;
    assert_int_equal(env_listen(w->env, &l, "127.0.0.1:0", accept_it), 0);
    assert_int_equal(env_address(&l, 0, addr, sizeof addr), 0);
    s.env = w->env;
    wait_init(&x, w);
    env_connect(&x.op, &s, addr);
    assert_int_equal(wait_for(&x), 0);
    for (int i = 0; i < 1000 && !accepted.env; i++)
        w->turn(w);
    assert_true(nodelay(&s));
    assert_true(nodelay(&accepted));
}

static volatile int barked;

static void bark(void *u)
{
    *(volatile int *)u = 1;
}

static void the_watchdog_interrupts_a_busy_loop_and_a_stopped_one_does_not(void **state)
{
    struct world *w = *state;
    uint64_t begin = w->env->now;

    barked = 0;
    env_watchdog(w->env, ENV_MS(5), bark, (void *)&barked);
    for (uint64_t i = 0; !barked && i < 20000000000; i++)
        ;
    assert_int_equal(barked, 1);
    barked = 0;
    env_watchdog(w->env, ENV_MS(3), bark, (void *)&barked);
    env_watchdog(w->env, 0, NULL, NULL);
    while (uv_hrtime() < begin + ENV_MS(40))
        ;
    assert_int_equal(barked, 0);
}

static void full_disk(struct world *w)
{
    struct rlimit lim = {1000, 1000};
    struct slice v = slice_of("0123456789", 10);
    struct env_file f;
    struct wait x;
    char p[256];

    signal(SIGXFSZ, SIG_IGN);
    snprintf(p, sizeof p, "%s/limited", w->dir);
    assert_int_equal(env_open(w->env, &f, p, ENV_CREATE, NULL), 0);
    setrlimit(RLIMIT_FSIZE, &lim);
    wait_init(&x, w);
    env_write(&x.op, &f, 995, &v, 1, ENV_SYNC);
    if (wait_for(&x) != -ERR_TOO_BIG)
        _exit(2);
    wait_init(&x, w);
    env_write(&x.op, &f, 0, &v, 1, ENV_SYNC);
    _exit(wait_for(&x) == 10 ? 0 : 3);
}

static void a_write_that_ends_short_reports_the_error_behind_it(void **state)
{
    struct world *parent = *state, w = {0};
    int status;
    pid_t pid;

    snprintf(w.dir, sizeof w.dir, "%.60s/XXXXXX", parent->dir);
    pid = fork();
    if (pid == 0) {
        real_open(&w);
        full_disk(&w);
    }
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

#ifdef ONCE_TEST_BUILD
static void a_named_point_kills_the_process_the_nth_time(void **state)
{
    struct world *parent = *state, w = {0};
    int status;
    pid_t pid;

    snprintf(w.dir, sizeof w.dir, "%.60s/XXXXXX", parent->dir);
    pid = fork();
    if (pid == 0) {
        setenv("ONCE_KILL_AT", "here:2", 1);
        real_open(&w);
        if (env_point(w.env, "hereabouts") || env_point(w.env, "her") || env_point(w.env, "here"))
            _exit(4);
        env_point(w.env, "here");
        _exit(5);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGKILL);
}
#endif

static void two_nodes_share_a_loop(void **state)
{
    struct world *w = *state;
    struct real *r = w->impl;
    struct env_uv_node other;
    static struct env_stream l, s;
    char addr[64];
    struct wait x;

    assert_int_equal(env_uv_node_open(&r->uv, &other, "other", 0), 0);
    assert_int_equal(env_listen(&other.env, &l, "127.0.0.1:0", ignore_ready), 0);
    assert_int_equal(env_address(&l, 0, addr, sizeof addr), 0);
    s.env = w->env;
    other.env.dead = true; /* it listens, and accepts nothing any more */
    wait_init(&x, w);
    env_connect(&x.op, &s, addr);
    assert_int_equal(wait_for(&x), 0);
    env_uv_node_close(&r->uv, &other);
    wait_init(&x, w);
    env_shut(&x.op, &s);
    assert_int_equal(wait_for(&x), 0);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    static const struct CMUnitTest tests[] = {
        CASE(localhost_is_resolved),
        CASE(halting_a_node_ends_the_run_with_the_reason),
        CASE(run_returns_when_stopped),
        CASE(the_watchdog_interrupts_a_busy_loop_and_a_stopped_one_does_not),
        CASE(a_write_that_ends_short_reports_the_error_behind_it),
#ifdef ONCE_TEST_BUILD
        CASE(a_named_point_kills_the_process_the_nth_time),
#endif
        CASE(two_nodes_share_a_loop),
        CASE(a_failed_sync_poisons_the_file_for_good),
        CASE(small_sends_are_not_held_back),
    };
    int r = world_run(&real_backend, "env_uv");
    return r + cmocka_run_group_tests(tests, NULL, NULL);
}

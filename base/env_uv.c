/* base/env_uv.c - the loop, its turns, threads and nodes; clock, chance, log, watchdog.
 *
 * A turn: callbacks of libuv enter it, which sets `now` once; libuv's check phase ends it with
 * timers, ops that were done within their submit, and tasks. An op goes into flight (n_ops), is
 * carried out by libuv, its pool or one of our two threads, and comes back to the loop, which calls
 * it back unless its node died meanwhile.
 *
 * Two threads of our own, because the order of ops and the wake-ups matter there: `journal` alone
 * writes and syncs the files opened with ENV_JOURNAL, so that no other disk work stands before it;
 * `writer` does the plain writes of all other files, many at a wake-up. Their slow syncs, reads,
 * truncations and removals go to libuv's pool. */
#include "base/env_uv_impl.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- turns ---- */

void env_uv_enter(struct env_uv *uv)
{
    if (uv->in_turn)
        return;
    uv->in_turn = true;
    uv->now = uv_hrtime();
    LIST_EACH (l, &uv->nodes)
        list_entry(l, struct env_uv_node, link)->env.now = uv->now;
}

static void run_ready(struct env_uv *uv)
{
    struct env_op *op = uv->ready;

    uv->ready = NULL;
    uv->ready_tail = &uv->ready;
    while (op) {
        struct env_op *next = op->next;
        euv_op_end(op, euv_op(op)->res);
        op = next;
    }
}

static void turn_end(struct env_uv *uv)
{
    LIST_EACH (l, &uv->nodes)
        env_timers_run(&list_entry(l, struct env_uv_node, link)->env);
    run_ready(uv);
    LIST_EACH (l, &uv->nodes)
        env_tasks_run(&list_entry(l, struct env_uv_node, link)->env);
    uv->in_turn = false;
}

static void on_check(uv_check_t *h)
{
    struct env_uv *uv = h->data;
    env_uv_enter(uv);
    turn_end(uv);
}

static void on_timer(uv_timer_t *h)
{
    (void)h; /* it only ended the wait: on_check looks at the heaps */
}

/* How long may the loop wait? Timers are rounded up to libuv's milliseconds: never early. */
static void on_prepare(uv_prepare_t *h)
{
    struct env_uv *uv = h->data;
    uint64_t due = UINT64_MAX, ms, now;

    if (uv->in_turn) /* begun by what libuv calls outside its poll phase */
        turn_end(uv);
    if (uv->ready)
        due = 0;
    LIST_EACH (l, &uv->nodes) {
        struct env *e = &list_entry(l, struct env_uv_node, link)->env;
        uint64_t at = env_timer_next(e);
        if (!e->dead && !list_empty(&e->tasks))
            at = 0;
        due = at < due ? at : due;
    }
    if (due == UINT64_MAX) {
        uv_timer_stop(&uv->timer);
        return;
    }
    now = uv_now(&uv->loop);
    ms = due / 1000000 + (due % 1000000 != 0);
    CHECK(uv_timer_start(&uv->timer, on_timer, ms > now ? ms - now : 0, 0) == 0);
}

static void vt_arm(struct env *e, uint64_t at)
{
    (void)e; /* on_prepare looks at the heap before every wait */
    (void)at;
}

/* ---- ops ---- */

bool euv_op_begin(struct env_op *op, struct env *e)
{
    if (e->dead)
        return false;
    op->env = e;
    op->next = NULL;
    euv_node(e)->n_ops++;
    return true;
}

void euv_op_end(struct env_op *op, int64_t res)
{
    struct env *e = op->env;

    CHECK(euv_node(e)->n_ops > 0);
    euv_node(e)->n_ops--;
    if (!e->dead)
        op->done(op, res);
}

void euv_op_end_later(struct env_op *op, int64_t res)
{
    struct env_uv *uv = euv_node(op->env)->uv;

    euv_op(op)->res = res;
    op->next = NULL;
    *uv->ready_tail = op;
    uv->ready_tail = &op->next;
}

static struct env_op *op_of_req(void *req)
{
    return (struct env_op *)(void *)((char *)req - offsetof(struct env_op, impl));
}

static void pool_run(uv_work_t *w)
{
    euv_op_run(op_of_req(w));
}

static void pool_ran(uv_work_t *w, int status)
{
    struct env_op *op = op_of_req(w);
    (void)status; /* never cancelled */
    env_uv_enter(euv_node(op->env)->uv);
    euv_op_ran(op);
}

void euv_pool_give(struct env_uv *uv, struct env_op *op)
{
    CHECK(uv_queue_work(&uv->loop, &euv_op(op)->req.work, pool_run, pool_ran) == 0);
}

static void vt_work(struct env_op *op, struct env *e, int64_t (*run)(struct env_op *op))
{
    if (!euv_op_begin(op, e))
        return;
    euv_op(op)->kind = OP_WORK;
    euv_op(op)->of.run = run;
    euv_pool_give(euv_node(e)->uv, op);
}

/* ---- threads ---- */

static void be_urgent(void)
{
    struct sched_param p = {.sched_priority = 1};

    if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &p) != 0)
        (void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), -10);
}

static void thread_main(void *arg)
{
    struct env_uv_thread *t = arg;

    if (t->urgent)
        be_urgent();
    uv_mutex_lock(&t->mutex);
    for (;;) {
        struct env_op *op = t->in;
        if (!op) {
            if (t->stop)
                break;
            uv_cond_wait(&t->cond, &t->mutex);
            continue;
        }
        t->in = NULL;
        t->in_tail = &t->in;
        while (op) {
            struct env_op *next = op->next;
            uv_mutex_unlock(&t->mutex);
            euv_op_run(op);
            uv_mutex_lock(&t->mutex);
            op->next = NULL;
            *t->done_tail = op;
            t->done_tail = &op->next;
            op = next;
            uv_async_send(&t->async);
        }
    }
    uv_mutex_unlock(&t->mutex);
}

static void on_thread_done(uv_async_t *h)
{
    struct env_uv_thread *t = h->data;
    struct env_op *op;

    env_uv_enter(t->uv);
    uv_mutex_lock(&t->mutex);
    op = t->done;
    t->done = NULL;
    t->done_tail = &t->done;
    uv_mutex_unlock(&t->mutex);
    while (op) {
        struct env_op *next = op->next;
        euv_op_ran(op);
        op = next;
    }
}

void euv_thread_give(struct env_uv_thread *t, struct env_op *op)
{
    bool was_empty;

    uv_mutex_lock(&t->mutex);
    was_empty = !t->in;
    op->next = NULL;
    *t->in_tail = op;
    t->in_tail = &op->next;
    uv_mutex_unlock(&t->mutex);
    if (was_empty)
        uv_cond_signal(&t->cond);
}

int euv_thread_open(struct env_uv_thread *t, struct env_uv *uv, bool urgent)
{
    sigset_t all, old;
    int r;

    t->uv = uv;
    t->urgent = urgent;
    t->in_tail = &t->in;
    t->done_tail = &t->done;
    CHECK(uv_mutex_init(&t->mutex) == 0);
    CHECK(uv_cond_init(&t->cond) == 0);
    CHECK(uv_async_init(&uv->loop, &t->async, on_thread_done) == 0);
    t->async.data = t;
    sigfillset(&all); /* signals are the loop's */
    pthread_sigmask(SIG_SETMASK, &all, &old);
    r = uv_thread_create(&t->thread, thread_main, t);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return r ? -err_from_errno(-r) : 0;
}

void euv_thread_join(struct env_uv_thread *t)
{
    uv_mutex_lock(&t->mutex);
    t->stop = true;
    uv_cond_signal(&t->cond);
    uv_mutex_unlock(&t->mutex);
    uv_thread_join(&t->thread);
}

/* ---- clock, chance, log ---- */

static int64_t vt_wall_ms(struct env *e)
{
    struct timespec ts;
    (void)e;
    clock_gettime(CLOCK_REALTIME, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void vt_random(struct env *e, void *to, size_t n)
{
    unsigned char *p = to;
    (void)e;
    while (n > 0) {
        ssize_t r = getrandom(p, n, 0);
        CHECK(r > 0 || errno == EINTR);
        if (r > 0) {
            p += r;
            n -= (size_t)r;
        }
    }
}

static void vt_log(struct env *e, enum env_level level, const char *line)
{
    static const char *const names[] = {"debug", "info ", "warn ", "error"};
    char out[2304], when[32];
    struct timespec ts;
    struct tm tm;
    int n;

    clock_gettime(CLOCK_REALTIME, &ts);
    gmtime_r(&ts.tv_sec, &tm);
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%S", &tm);
    n = snprintf(out, sizeof out, "%s.%03dZ %s %s: %s\n", when, (int)(ts.tv_nsec / 1000000),
                 names[level], e->name, line);
    if (n >= (int)sizeof out) {
        n = (int)sizeof out;
        out[n - 1] = '\n';
    }
    (void)!write(STDERR_FILENO, out, (size_t)n);
}

static void vt_halt(struct env *e, const char *why)
{
    struct env_uv *uv = euv_node(e)->uv;

    if (e->dead)
        return;
    env_error(e, "halted: %s", why);
    env_die(e);
    if (!uv->halted[0])
        snprintf(uv->halted, sizeof uv->halted, "%s: %s", e->name, why);
    uv_stop(&uv->loop);
}

static bool vt_point(struct env *e, const char *name)
{
#ifdef ONCE_TEST_BUILD
    struct env_uv *uv = euv_node(e)->uv;
    size_t n = strlen(name);

    if (uv->kill_at && strncmp(uv->kill_at, name, n) == 0 &&
        (uv->kill_at[n] == 0 || uv->kill_at[n] == ':') && --uv->kill_n == 0)
        kill(getpid(), SIGKILL);
#endif
    (void)e;
    (void)name;
    return false;
}

/* ---- watchdog ---- */

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static void on_watch_signal(int sig, siginfo_t *info, void *context)
{
    struct env_uv_node *node = info->si_value.sival_ptr;
    void (*fire)(void *u) = node ? node->watch_fire : NULL;
    int saved = errno;

    (void)sig;
    (void)context;
    if (info->si_code == SI_TIMER && fire)
        fire(node->watch_user);
    errno = saved;
}

static int watch_open(struct env_uv_node *node)
{
    struct sigaction sa = {.sa_sigaction = on_watch_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct sigevent ev = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN + 3};

    ev.sigev_value.sival_ptr = node;
    ev.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
    if (sigaction(SIGRTMIN + 3, &sa, NULL) != 0 ||
        timer_create(CLOCK_MONOTONIC, &ev, &node->watch_timer) != 0)
        return -err_from_errno(errno);
    node->has_watch_timer = true;
    return 0;
}

static void vt_watchdog(struct env *e, uint64_t after, void (*fire)(void *u), void *u)
{
    struct env_uv_node *node = euv_node(e);
    struct itimerspec when = {{0, 0}, {0, 0}};

    if (!node->has_watch_timer && (after == 0 || e->dead || watch_open(node) != 0))
        return;
    /* In this order a signal that is under way meets the old pair or none. */
    node->watch_fire = NULL;
    node->watch_user = u;
    if (after && !e->dead) {
        node->watch_fire = fire;
        when.it_value.tv_sec = (time_t)(after / 1000000000);
        when.it_value.tv_nsec = (long)(after % 1000000000);
    }
    CHECK(timer_settime(node->watch_timer, 0, &when, NULL) == 0);
}

/* ---- the whole ---- */

static const struct env_vt vt = {
    .open = euv_file_open,
    .close = euv_file_close,
    .rename = euv_dir_rename,
    .mkdir = euv_dir_mkdir,
    .list = euv_dir_list,
    .lock = euv_dir_lock,
    .unlock = euv_dir_unlock,
    .identify = euv_dir_identify,
    .space_free = euv_dir_space_free,
    .sync_dir = euv_dir_sync,
    .remove = euv_dir_remove,
    .write = euv_file_write,
    .read = euv_file_read,
    .read_now = euv_file_read_now,
    .read_wait = euv_file_read_wait,
    .write_wait = euv_file_write_wait,
    .truncate_wait = euv_file_truncate_wait,
    .sync_dir_wait = euv_dir_sync_wait,
    .remove_wait = euv_dir_remove_wait,
    .size = euv_file_size,
    .truncate = euv_file_truncate,
    .reserve = euv_file_reserve,
    .listen = euv_net_listen,
    .accept = euv_net_accept,
    .address = euv_net_address,
    .connect = euv_net_connect,
    .recv = euv_net_recv,
    .send = euv_net_send,
    .shut = euv_net_shut,
    .work = vt_work,
    .watchdog = vt_watchdog,
    .arm = vt_arm,
    .wall_ms = vt_wall_ms,
    .random = vt_random,
    .log = vt_log,
    .halt = vt_halt,
    .point = vt_point,
};

static void read_kill_at(struct env_uv *uv)
{
#ifdef ONCE_TEST_BUILD
    const char *s = getenv("ONCE_KILL_AT"), *colon = s ? strchr(s, ':') : NULL;

    uv->kill_at = s;
    uv->kill_n = colon ? strtoull(colon + 1, NULL, 10) : 1;
#else
    (void)uv;
#endif
}

int env_uv_open(struct env_uv *uv)
{
    int r;

    memset(uv, 0, sizeof *uv);
    list_init(&uv->nodes);
    uv->ready_tail = &uv->ready;
    read_kill_at(uv);
    signal(SIGPIPE, SIG_IGN);
    r = uv_loop_init(&uv->loop);
    if (r)
        return -err_from_errno(-r);
    CHECK(uv_prepare_init(&uv->loop, &uv->prepare) == 0);
    CHECK(uv_check_init(&uv->loop, &uv->check) == 0);
    CHECK(uv_timer_init(&uv->loop, &uv->timer) == 0);
    uv->prepare.data = uv->check.data = uv;
    CHECK(uv_prepare_start(&uv->prepare, on_prepare) == 0);
    CHECK(uv_check_start(&uv->check, on_check) == 0);
    r = euv_thread_open(&uv->journal, uv, true);
    CHECK(r == 0); /* a process that cannot have two threads at its start has nothing to tidy up */
    r = euv_thread_open(&uv->writer, uv, false);
    CHECK(r == 0);
    return 0;
}

void env_uv_close(struct env_uv *uv)
{
    struct env_uv_thread *threads[] = {&uv->journal, &uv->writer};

    CHECK(list_empty(&uv->nodes));
    for (int i = 0; i < 2; i++) {
        euv_thread_join(threads[i]);
        uv_mutex_destroy(&threads[i]->mutex);
        uv_cond_destroy(&threads[i]->cond);
        uv_close((uv_handle_t *)&threads[i]->async, NULL);
    }
    uv_close((uv_handle_t *)&uv->prepare, NULL);
    uv_close((uv_handle_t *)&uv->check, NULL);
    uv_close((uv_handle_t *)&uv->timer, NULL);
    while (uv_run(&uv->loop, UV_RUN_DEFAULT) != 0)
        ;
    CHECK(uv_loop_close(&uv->loop) == 0);
}

int env_uv_run(struct env_uv *uv)
{
    while (!uv->stopped && !uv->halted[0])
        uv_run(&uv->loop, UV_RUN_DEFAULT);
    uv->stopped = false;
    return uv->halted[0] ? -ERR_CRASHED : 0;
}

int env_uv_turn(struct env_uv *uv, bool wait)
{
    uv_run(&uv->loop, wait ? UV_RUN_ONCE : UV_RUN_NOWAIT);
    if (uv->in_turn) /* begun by a close callback, which libuv calls behind its check phase */
        turn_end(uv);
    return uv->halted[0] ? -ERR_CRASHED : 0;
}

void env_uv_stop(struct env_uv *uv)
{
    uv->stopped = true;
    uv_stop(&uv->loop);
}

const char *env_uv_halted(const struct env_uv *uv)
{
    return uv->halted[0] ? uv->halted : NULL;
}

int env_uv_node_open(struct env_uv *uv, struct env_uv_node *node, const char *name, uint64_t seed)
{
    memset(node, 0, sizeof *node);
    if (!seed)
        vt_random(NULL, &seed, sizeof seed);
    env_init(&node->env, &vt, name, seed);
    node->env.now = uv->in_turn ? uv->now : uv_hrtime();
    node->uv = uv;
    list_init(&node->streams);
    list_init(&node->files);
    list_push(&uv->nodes, &node->link);
    return 0;
}

void env_uv_node_stop(struct env_uv *uv, struct env_uv_node *node)
{
    CHECK(!uv->in_turn);
    env_die(&node->env);
    if (node->has_watch_timer) {
        timer_delete(node->watch_timer);
        node->has_watch_timer = false;
        node->watch_fire = NULL;
    }
    euv_net_stop(node);
    euv_files_forget(node);
    while (node->n_ops || node->n_handles)
        uv_run(&uv->loop, UV_RUN_ONCE);
    euv_files_close(node);
}

void env_uv_node_close(struct env_uv *uv, struct env_uv_node *node)
{
    env_uv_node_stop(uv, node);
    list_remove(&node->link);
    env_deinit(&node->env);
}

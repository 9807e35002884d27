/* runtime/cli/children.c - spawn, listen for `ready`, start again, stop. */
#include "runtime/cli/children.h"
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { PAUSE_MS = 50, PAUSE_MAX_MS = 5000, STEADY_MS = 10000, LINE_MAX_BYTES = 256 };

struct child {
    struct children *all;
    uv_process_t process;
    uv_pipe_t out;
    char text[LINE_MAX_BYTES]; /* of its stdout, the line so far */
    size_t n;
    bool running, piped, ready;
    bool over; /* ended for good */
    uint64_t started, pause_ms;
    struct env_timer again;
};
struct children {
    struct cli *c;
    struct children_options o;
    struct child *v;
    int n_running, n_piped;
    bool stopping, told_ready, told_stopped;
};

bool children_follow_parent(int64_t parent_pid)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    return getppid() == (pid_t)parent_pid;
}

static void check_stopped(struct children *ch)
{
    if (!ch->stopping || ch->n_running || ch->n_piped || ch->told_stopped)
        return;
    ch->told_stopped = true;
    ch->o.stopped(ch->o.user);
}

static int spawn(struct child *k);

static void again(struct env_timer *t)
{
    struct child *k = list_entry(t, struct child, again);

    if (k->all->stopping)
        return;
    if (k->piped)
        env_timer_set(&k->all->c->node.env, t, k->all->c->node.env.now + ENV_MS(1));
    else if (spawn(k))
        k->all->o.failed(k->all->o.user, EXIT_JOB, "cannot start a worker process");
}

static void restart_later(struct child *k)
{
    struct env *env = &k->all->c->node.env;

    if (uv_hrtime() - k->started > ENV_MS(STEADY_MS))
        k->pause_ms = 0;
    env_timer_set(env, &k->again, env->now + ENV_MS(k->pause_ms));
    k->pause_ms = !k->pause_ms                     ? PAUSE_MS
                  : k->pause_ms * 2 > PAUSE_MAX_MS ? PAUSE_MAX_MS
                                                   : k->pause_ms * 2;
}

static void process_closed(uv_handle_t *h)
{
    struct child *k = h->data;

    env_uv_enter(&k->all->c->uv);
    k->running = false;
    k->all->n_running--;
    if (!k->all->stopping && !k->over)
        restart_later(k);
    check_stopped(k->all);
}

static void exited(uv_process_t *p, int64_t status, int signal)
{
    struct child *k = p->data;
    struct children *ch = k->all;
    char why[200];

    env_uv_enter(&ch->c->uv);
    if (!ch->stopping) {
        snprintf(why, sizeof why, "worker process %d ended with %s %" PRId64, p->pid,
                 signal ? "signal" : "exit code", signal ? signal : status);
        if (!signal && (status == EXIT_JOB || status == EXIT_REFUSED || status == EXIT_USAGE)) {
            k->over = true; /* its own message is on stderr */
            uv_close((uv_handle_t *)p, process_closed);
            ch->o.failed(ch->o.user, (int)status, why);
            return;
        }
        env_warn(&ch->c->node.env, "%s; it is started again", why);
    }
    uv_close((uv_handle_t *)p, process_closed);
}

static void pipe_closed(uv_handle_t *h)
{
    struct child *k = h->data;

    env_uv_enter(&k->all->c->uv);
    k->piped = false;
    k->all->n_piped--;
    check_stopped(k->all);
}

static void is_ready(struct child *k)
{
    struct children *ch = k->all;

    k->ready = true;
    for (int i = 0; i < ch->o.n; i++)
        if (!ch->v[i].ready)
            return;
    if (!ch->told_ready) {
        ch->told_ready = true;
        ch->o.ready(ch->o.user);
    }
}

static void give_room(uv_handle_t *h, size_t hint, uv_buf_t *b)
{
    struct child *k = h->data;

    if (k->n == sizeof k->text)
        k->n = 0; /* a line that long is none of ours */
    *b = uv_buf_init(k->text + k->n, (unsigned)(sizeof k->text - k->n));
}

static void got_text(uv_stream_t *s, ssize_t n, const uv_buf_t *b)
{
    struct child *k = s->data;
    char *lf;

    env_uv_enter(&k->all->c->uv);
    if (n < 0) {
        uv_close((uv_handle_t *)s, pipe_closed);
        return;
    }
    k->n += (size_t)n;
    while ((lf = memchr(k->text, '\n', k->n)) != NULL) {
        size_t line = (size_t)(lf - k->text) + 1;
        if (line > 6 && memcmp(k->text, "ready ", 6) == 0)
            is_ready(k);
        memmove(k->text, k->text + line, k->n - line);
        k->n -= line;
    }
}

static int spawn(struct child *k)
{
    struct children *ch = k->all;
    uv_stdio_container_t io[3] = {
        {.flags = UV_IGNORE},
        {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&k->out},
        {.flags = UV_INHERIT_FD, .data.fd = STDERR_FILENO}};
    uv_process_options_t o = {.exit_cb = exited,
                              .file = "/proc/self/exe",
                              .args = ch->o.argv,
                              .stdio = io,
                              .stdio_count = 3};

    uv_pipe_init(&ch->c->uv.loop, &k->out, 0);
    k->out.data = k->process.data = k;
    k->n = 0;
    k->piped = true;
    ch->n_piped++;
    k->started = uv_hrtime();
    if (uv_spawn(&ch->c->uv.loop, &k->process, &o) != 0) {
        uv_close((uv_handle_t *)&k->out, pipe_closed);
        return -ERR_IO;
    }
    k->running = true;
    ch->n_running++;
    uv_read_start((uv_stream_t *)&k->out, give_room, got_text);
    return 0;
}

int children_open(struct children **out, struct cli *c, const struct children_options *o,
                  struct err *e)
{
    struct children *ch = calloc(1, sizeof *ch);

    if (ch)
        ch->v = calloc((size_t)o->n, sizeof *ch->v);
    if (!ch || !ch->v) {
        free(ch);
        return err_set(e, ERR_NOMEM, "out of memory");
    }
    ch->c = c;
    ch->o = *o;
    *out = ch;
    for (int i = 0; i < o->n; i++) {
        ch->v[i].all = ch;
        ch->v[i].again.fire = again;
        if (spawn(&ch->v[i]))
            return err_set(e, ERR_IO, "cannot start a worker process");
    }
    return 0;
}

void children_stop(struct children *ch)
{
    ch->stopping = true;
    for (int i = 0; i < ch->o.n; i++) {
        env_timer_stop(&ch->c->node.env, &ch->v[i].again);
        if (ch->v[i].running && !uv_is_closing((uv_handle_t *)&ch->v[i].process))
            uv_process_kill(&ch->v[i].process, SIGTERM);
    }
    check_stopped(ch);
}

void children_free(struct children *ch)
{
    if (!ch)
        return;
    ch->stopping = true;
    for (int i = 0; i < ch->o.n; i++) {
        env_timer_stop(&ch->c->node.env, &ch->v[i].again);
        if (ch->v[i].running && !uv_is_closing((uv_handle_t *)&ch->v[i].process))
            uv_process_kill(&ch->v[i].process, SIGKILL);
    }
    while (ch->n_running || ch->n_piped) /* no child outlives us, no handle the memory */
        env_uv_turn(&ch->c->uv, true);
    free(ch->v);
    free(ch);
}

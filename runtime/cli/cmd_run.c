/* runtime/cli/cmd_run.c - `once run`: a job's worker or workers, an embedded broker unless there is
 * a cluster, files fed in, topics printed.
 *
 * Start: broker -> client -> worker(s), feeders, printer, all at once. --until-end: feeds done and
 * workers ready -> drained -> printed -> stop. Stop: workers commit and leave, then the broker
 * closes. Whatever fails is told once on stderr and ends the run by the same way out. */
#include "runtime/cli/broker_node.h"
#include "runtime/cli/children.h"
#include "runtime/cli/cli.h"
#include "runtime/cli/drain.h"
#include "runtime/cli/feed.h"
#include "runtime/cli/job_file.h"
#include "runtime/cli/print.h"
#include "runtime/worker/worker.h"
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    RUN_ANSWER_MS = 30000,
    FEEDS_MAX = 64,
    CHILD_ARGS_MAX = 64,
    PROGRESS_MS = 10000,
    PROGRESS_EYES_MS = 200
};

struct run_options {
    const char *job_path, *data, *state, *guarantee, *key_separator;
    int64_t workers, partitions, parent;
    struct text_list in, out;
    bool header, again, until_end, child;
};
struct run {
    struct cli *c;
    struct run_options o;
    struct udf_job *job;
    int guarantee;
    char state_dir[PATH_MAX];
    const char *bootstrap;
    struct broker_node broker;
    struct store_driver *stores;
    struct worker *worker;
    struct children *children;
    char *child_argv[CHILD_ARGS_MAX];
    char child_text[4][64];
    struct feed *feeds[FEEDS_MAX];
    int n_feeds, feeds_left;
    struct print *print;
    struct drain *drain;
    struct env_timer progress;
    bool eyes, shown; /* progress is for a terminal; such a line stands there */
    bool ready, stopping, over, broker_stopped;
    int signals;
};

/* ---- the way out ---- */

static void end_line(struct run *r)
{
    if (r->shown)
        fputc('\n', stderr);
    r->shown = false;
}

static void begin_stop(struct run *r)
{
    if (r->stopping)
        return;
    r->stopping = true;
    env_timer_stop(&r->c->node.env, &r->progress);
    end_line(r);
    if (r->worker)
        worker_stop(r->worker);
    else if (r->children)
        children_stop(r->children);
    else
        r->over = true;
}

static void fail(struct run *r, int code, const char *why)
{
    if (r->c->exit_code == EXIT_OK) {
        end_line(r);
        if (!r->o.child || why[0])
            fprintf(stderr, "once run: %s\n", why);
        r->c->exit_code = code;
    }
    begin_stop(r);
}

static void on_signal(struct cli *c, int signum)
{
    struct run *r = c->user;

    if (++r->signals > 1) /* asked twice: now; nothing is lost, nothing comes twice */
        _exit(EXIT_INTERRUPTED);
    if (signum == SIGINT && c->exit_code == EXIT_OK)
        c->exit_code = EXIT_INTERRUPTED;
    begin_stop(r);
}

static void worker_stopped(void *user, int code, const char *why)
{
    struct run *r = user;

    r->over = true;
    if (code)
        fail(r, code, why);
    r->stopping = true;
}

static void children_stopped(void *user)
{
    ((struct run *)user)->over = true;
}

static void broker_stopped(void *user)
{
    ((struct run *)user)->broker_stopped = true;
}

/* ---- until the end ---- */

static void printed(void *user)
{
    begin_stop(user);
}

/* On a terminal one line that is written over, else a line now and then. */
static void show_progress(struct env_timer *t)
{
    struct run *r = list_entry(t, struct run, progress);
    const char *begin = r->eyes ? "\r" : "once run: ", *end = r->eyes ? "" : "\n";
    int64_t at = 0, of = 0, fed = 0;

    for (int i = 0; i < r->n_feeds; i++)
        fed += feed_lines(r->feeds[i]);
    if (r->drain)
        drain_progress(r->drain, &at, &of);
    if (r->feeds_left)
        fprintf(stderr, "%s%" PRId64 " lines fed%s", begin, fed, end);
    else if (of)
        fprintf(stderr, "%s%" PRId64 " of %" PRId64 " records done%s", begin, at, of, end);
    r->shown = r->eyes;
    env_timer_set(&r->c->node.env, t,
                  r->c->node.env.now + ENV_MS(r->eyes ? PROGRESS_EYES_MS : PROGRESS_MS));
}

static void drained(void *user, int code, const char *why)
{
    struct run *r = user;

    if (!code && r->shown)
        show_progress(&r->progress);
    if (code)
        fail(r, code, why);
    else if (r->print)
        print_finish(r->print, printed, r);
    else
        begin_stop(r);
}

static void maybe_drain(struct run *r)
{
    if (r->o.until_end && r->ready && r->feeds_left == 0 && !r->stopping)
        drain_start(r->drain);
}

/* ---- events of the parts ---- */

static void job_ready(void *user)
{
    struct run *r = user;
    FILE *to = r->o.out.n ? stderr : stdout;

    if (r->ready)
        return;
    r->ready = true;
    fprintf(to, "ready %.*s\n", SLICE_FMT(r->job->name));
    fflush(to);
    maybe_drain(r);
}

static void fed(void *user, int code, const char *why)
{
    struct run *r = user;

    r->feeds_left--;
    if (code)
        fail(r, code, why);
    else
        maybe_drain(r);
}

static void part_failed(void *user, int code, const char *why)
{
    fail(user, code, why);
}

/* From a signal: the record's Lua cannot be interrupted. */
static void overrun(void *user)
{
    static const char text[] =
        "once run: a record ran over its time limit where it cannot be interrupted; "
        "the process ends, nothing of the record is kept\n";
    ssize_t n = write(STDERR_FILENO, text, sizeof text - 1);

    (void)n;
    _exit(EXIT_JOB);
}

/* What a job prints is for the one who runs it: without a time, and without -v. */
static void said(void *user, enum env_level level, struct slice text)
{
    struct run *r = user;

    if (level < (r->c->verbose ? ENV_DEBUG : r->c->quiet ? ENV_ERROR : ENV_INFO))
        return;
    end_line(r);
    fprintf(stderr, "%.*s: ", SLICE_FMT(r->job->name));
    for (size_t i = 0; i < text.n; i++)
        fputc((text.p[i] < ' ' && text.p[i] != '\t') || text.p[i] == 0x7f ? '?' : text.p[i],
              stderr);
    fputc('\n', stderr);
}

/* ---- starting ---- */

static int start_broker(struct run *r)
{
    struct broker_options o = {.data_dir = r->o.data, .listen = "127.0.0.1:0", .conf = &r->c->conf};
    struct err e = {0};
    int rc;

    if (mkdir(r->o.data, 0777) && errno != EEXIST)
        return cli_fail(r->c, EXIT_JOB, "%s: %s", r->o.data, strerror(errno));
    rc = broker_node_open(&r->broker, &r->c->uv, &o, r->c->node.env.level, &e);
    if (rc)
        return cli_fail(r->c, EXIT_JOB, "%s", e.text);
    fprintf(stderr, "broker %s\n", r->broker.address);
    r->bootstrap = r->c->brokers = r->broker.address;
    return 0;
}

static int start_worker(struct run *r)
{
    struct worker_options o = {.job = r->job,
                               .bootstrap = r->bootstrap,
                               .state_dir = r->state_dir,
                               .guarantee = r->guarantee,
                               .partitions = (int32_t)r->o.partitions,
                               .user = r,
                               .on_ready = job_ready,
                               .on_stopped = worker_stopped,
                               .on_overrun = overrun,
                               .on_said = said};
    struct err e = {0};

    r->stores = store_lmdb_new();
    if (!r->stores)
        return cli_fail(r->c, EXIT_JOB, "out of memory");
    o.stores = r->stores;
    if (worker_open(&r->worker, &r->c->node.env, &o, &e))
        return cli_fail(r->c, EXIT_JOB, "%s", e.text);
    worker_start(r->worker);
    return 0;
}

static void child_arg(struct run *r, int *n, const char *a)
{
    CHECK(*n < CHILD_ARGS_MAX - 1);
    r->child_argv[(*n)++] = (char *)a;
    r->child_argv[*n] = NULL;
}

static int start_children(struct run *r)
{
    struct children_options o = {.n = (int)r->o.workers,
                                 .argv = r->child_argv,
                                 .user = r,
                                 .ready = job_ready,
                                 .failed = part_failed,
                                 .stopped = children_stopped};
    struct err e = {0};
    int n = 0;

    snprintf(r->child_text[0], sizeof r->child_text[0], "%" PRId64, r->o.partitions);
    snprintf(r->child_text[1], sizeof r->child_text[1], "%d", (int)getpid());
    child_arg(r, &n, "once");
    child_arg(r, &n, "run");
    child_arg(r, &n, r->o.job_path);
    child_arg(r, &n, "--brokers");
    child_arg(r, &n, r->bootstrap);
    child_arg(r, &n, "--state");
    child_arg(r, &n, r->state_dir);
    child_arg(r, &n, "--partitions");
    child_arg(r, &n, r->child_text[0]);
    child_arg(r, &n, "--child");
    child_arg(r, &n, r->child_text[1]);
    if (r->o.guarantee) {
        child_arg(r, &n, "--guarantee");
        child_arg(r, &n, r->o.guarantee);
    }
    if (r->c->verbose)
        child_arg(r, &n, "-v");
    if (r->c->quiet)
        child_arg(r, &n, "-q");
    if (children_open(&r->children, r->c, &o, &e))
        return cli_fail(r->c, EXIT_JOB, "%s", e.text);
    return 0;
}

static int open_feeds(struct run *r)
{
    for (int i = 0; i < r->o.in.n; i++) {
        char *eq = strchr(r->o.in.v[i], '=');
        struct feed_options o = {.job = r->job->name,
                                 .key_separator = r->o.key_separator,
                                 .header = r->o.header,
                                 .again = r->o.again,
                                 .partitions = (int32_t)r->o.partitions,
                                 .own_broker = r->broker.open,
                                 .user = r,
                                 .done = fed};
        struct err e = {0};

        *eq = 0; /* checked: TOPIC=FILE */
        o.topic = r->o.in.v[i];
        o.path = eq + 1;
        if (feed_open(&r->feeds[r->n_feeds], r->c, r->c->client, &o, &e))
            return cli_fail(r->c, EXIT_JOB, "%s", e.text);
        r->n_feeds++;
    }
    r->feeds_left = r->n_feeds;
    return 0;
}

static int open_parts(struct run *r)
{
    struct print_options po = {.topics = r->o.out,
                               .partitions = (int32_t)r->o.partitions,
                               .user = r,
                               .failed = part_failed};
    struct drain_options dopt = {.job = r->job, .user = r, .done = drained};
    struct err e = {0};

    if (open_feeds(r))
        return r->c->exit_code;
    if (r->o.out.n && print_open(&r->print, r->c, r->c->client, &po, &e))
        return cli_fail(r->c, EXIT_JOB, "%s", e.text);
    if (r->o.until_end && drain_open(&r->drain, r->c, r->c->client, &dopt, &e))
        return cli_fail(r->c, EXIT_JOB, "%s", e.text);
    return 0;
}

static int start(struct run *r)
{
    struct cli *c = r->c;
    int rc = cli_world(c);

    if (!rc && !c->brokers)
        rc = start_broker(r);
    else
        r->bootstrap = c->brokers;
    if (!rc)
        rc = cli_connect(c);
    if (!rc)
        rc = open_parts(r);
    if (!rc)
        rc = r->o.workers > 1 ? start_children(r) : start_worker(r);
    if (rc)
        return rc;
    for (int i = 0; i < r->n_feeds; i++)
        feed_start(r->feeds[i]);
    if (r->print)
        print_start(r->print);
    r->progress.fire = show_progress;
    r->eyes = isatty(STDERR_FILENO) && !r->o.out.n;
    if (r->o.until_end && !c->quiet)
        env_timer_set(&c->node.env, &r->progress,
                      c->node.env.now + ENV_MS(r->eyes ? PROGRESS_EYES_MS * 5 : PROGRESS_MS));
    return 0;
}

static void tear_down(struct run *r)
{
    struct cli *c = r->c;

    children_free(r->children);
    if (c->world)
        env_uv_node_stop(&c->uv, &c->node);
    for (int i = 0; i < r->n_feeds; i++)
        feed_free(r->feeds[i]);
    print_free(r->print);
    drain_free(r->drain);
    worker_free(r->worker);
    store_lmdb_free(r->stores);
    if (r->broker.open) {
        c->timeout_s = 0;
        broker_node_stop(&r->broker, broker_stopped, r);
        while (!r->broker_stopped && env_uv_turn(&c->uv, true) == 0)
            ;
        broker_node_close(&r->broker);
    }
    udf_job_free(r->job);
}

/* ---- options ---- */

static int guarantee_of(struct run *r)
{
    static const char *const names[] = {"exactly_once", "at_least_once", "at_most_once"};

    r->guarantee = -1;
    if (!r->o.guarantee)
        return 0;
    for (int i = 0; i < 3; i++)
        if (strcmp(r->o.guarantee, names[i]) == 0)
            r->guarantee = i;
    if (r->guarantee < 0)
        return cli_fail(r->c, EXIT_USAGE,
                        "--guarantee %s: exactly_once, at_least_once or at_most_once",
                        r->o.guarantee);
    return 0;
}

static int check_in(struct run *r)
{
    struct run_options *o = &r->o;

    if (o->in.n > FEEDS_MAX)
        return cli_fail(r->c, EXIT_USAGE, "at most %d --in", FEEDS_MAX);
    for (int i = 0; i < o->in.n; i++) {
        const char *eq = strchr(o->in.v[i], '=');
        if (!eq || eq == o->in.v[i] || !eq[1])
            return cli_fail(r->c, EXIT_USAGE, "--in %s: the form is TOPIC=FILE", o->in.v[i]);
        for (int k = 0; k < i; k++)
            if (strncmp(o->in.v[i], o->in.v[k], (size_t)(eq - o->in.v[i]) + 1) == 0)
                return cli_fail(r->c, EXIT_USAGE, "--in: one file a topic, and %.*s has two",
                                (int)(eq - o->in.v[i]), o->in.v[i]);
    }
    return 0;
}

static int check_options(struct run *r, const char **rest, int n)
{
    struct run_options *o = &r->o;

    if (n == 0)
        return cli_fail(r->c, EXIT_USAGE, "which job? See once run --help");
    if (n > 1)
        return cli_fail(r->c, EXIT_USAGE, "unexpected word '%s'", rest[1]);
    o->job_path = rest[0];
    if (o->workers < 1 || o->workers > 256)
        return cli_fail(r->c, EXIT_USAGE, "--workers %" PRId64 ": from 1 to 256", o->workers);
    if (o->partitions < 1 || o->partitions > 10000)
        return cli_fail(r->c, EXIT_USAGE, "--partitions %" PRId64 ": from 1 to 10000",
                        o->partitions);
    if (guarantee_of(r) || check_in(r))
        return r->c->exit_code;
    if (o->state)
        snprintf(r->state_dir, sizeof r->state_dir, "%s", o->state);
    else
        snprintf(r->state_dir, sizeof r->state_dir, "%s/state", o->data);
    return 0;
}

/* A misspelt topic would be fed, or waited for, in silence. */
static int check_topics(struct run *r)
{
    struct job_topic_text near;

    for (int i = 0; i < r->o.in.n; i++) {
        char topic[256];
        snprintf(topic, sizeof topic, "%.*s", (int)strcspn(r->o.in.v[i], "="), r->o.in.v[i]);
        if (!job_reads(r->job, topic, &near))
            return cli_fail(r->c, EXIT_USAGE, "--in %s: the job does not read topic %s%s%s%s",
                            r->o.in.v[i], topic, near.v[0] ? "; did you mean " : "", near.v,
                            near.v[0] ? "?" : "");
    }
    for (int i = 0; i < r->o.out.n; i++)
        if (!r->c->quiet && !job_reads(r->job, r->o.out.v[i], &near) &&
            !job_writes(r->job, r->o.out.v[i], &near))
            fprintf(stderr, "once run: --out %s: the job does not write topic %s%s%s%s\n",
                    r->o.out.v[i], r->o.out.v[i], near.v[0] ? "; did you mean " : "", near.v,
                    near.v[0] ? "?" : "");
    return 0;
}

static int run(struct run *r)
{
    struct cli *c = r->c;
    struct err e = {0};
    int rc;

    if (job_file_load(&r->job, r->o.job_path, &e))
        return cli_fail(c, EXIT_JOB, "%s", e.text);
    if (check_topics(r))
        return c->exit_code;
    if (c->dry_run) {
        printf("job %.*s version %" PRId64 ": %d nodes, %d stores\n", SLICE_FMT(r->job->name),
               r->job->version, r->job->n_nodes, r->job->n_stores);
        return EXIT_OK;
    }
    c->user = r;
    c->on_signal = on_signal;
    c->answer_ms = RUN_ANSWER_MS;
    rc = start(r);
    if (!rc)
        rc = cli_wait(c, &r->over);
    return rc ? rc : c->exit_code;
}

int cmd_run(struct cli *c, int argc, char **argv)
{
    const char **rest = calloc((size_t)argc + 1, sizeof *rest);
    struct run *r = calloc(1, sizeof *r);
    int n_rest, rc;

    if (!rest || !r) {
        free(rest);
        free(r);
        return cli_fail(c, EXIT_JOB, "out of memory");
    }
    r->c = c;
    r->o = (struct run_options){.data = "./once-data", .workers = 1, .partitions = 1};
    const struct cli_option options[] = {
        {"data", 0, OPTION_TEXT, &r->o.data, "DIR",
         "log directory of the embedded broker (./once-data)"},
        {"state", 0, OPTION_TEXT, &r->o.state, "DIR", "state directory (DATA/state)"},
        {"workers", 0, OPTION_INT, &r->o.workers, "N", "worker processes (1: this one)"},
        {"guarantee", 0, OPTION_TEXT, &r->o.guarantee, "G",
         "exactly_once, at_least_once or at_most_once (the job's)"},
        {"partitions", 0, OPTION_INT, &r->o.partitions, "N", "of topics that do not exist yet (1)"},
        {"in", 0, OPTION_LIST, &r->o.in, "TOPIC=FILE",
         "feed each line of FILE once (- is stdin); may repeat"},
        {"in-key", 0, OPTION_TEXT, &r->o.key_separator, "SEP",
         "split lines at the first SEP: key, value"},
        {"in-header", 0, OPTION_FLAG, &r->o.header, NULL, "skip line 1 of each file"},
        {"again", 0, OPTION_FLAG, &r->o.again, NULL, "feed the files anew, from their first line"},
        {"out", 0, OPTION_LIST, &r->o.out, "TOPIC", "print its committed records; may repeat"},
        {"until-end", 0, OPTION_FLAG, &r->o.until_end, NULL,
         "stop when all input is processed, committed and printed"},
        {"child", 0, OPTION_INT, &r->o.parent, "PID", NULL}, /* from --workers: die with it */
    };
    if (cli_parse(c, command_find("run"), options, sizeof options / sizeof options[0], argc, argv,
                  rest, &n_rest)) {
        rc = c->exit_code;
    } else {
        r->o.child = r->o.parent != 0;
        rc = check_options(r, rest, n_rest);
        if (!rc && r->o.child && !children_follow_parent(r->o.parent))
            rc = EXIT_INTERRUPTED;
        if (!rc)
            rc = run(r);
    }
    tear_down(r);
    free(r->o.in.v);
    free(r->o.out.v);
    free(r);
    free(rest);
    return rc;
}

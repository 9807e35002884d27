/* runtime/cli/cmd_sim.c - `once sim run`: a job through many seeded runs of the simulated world.
 *
 * Input comes from --input, the job's sample, or is made up. Every seed is a run of its own; what
 * it found goes to stderr, the sum to stdout, and when something was violated the last line of
 * stdout is the command that replays the first seed that failed. */
#include "base/check.h"
#include "runtime/cli/cli.h"
#include "runtime/cli/job_file.h"
#include "runtime/sim/input.h"
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* What os.time() shows while a job's file is read, so that a run depends on nothing but its seed.
 */
#define SIM_WALL_MS 1700000000000
#define PROGRESS_NS 10000000000u
enum { SHOWN_MAX = 10 };

struct sim_args {
    const char *job, *faults, *guarantee, *mutate;
    int64_t seeds, seed, workers, partitions, records;
    struct text_list input;
};
struct sim_cmd {
    struct cli *c;
    struct sim_args a;
    struct udf_job *job;
    struct sim_input in;
    struct sim_run_options o;
    struct sim_prepared prepared;
    uint64_t n[VIOLATION_OTHER + 1], faults, began, told;
    bool violated;
    uint64_t first_bad, n_shown;
};

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- what was asked for ---- */

static int wrong_word(struct cli *c, const char *option, const char *word, const char *near)
{
    return near ? cli_fail(c, EXIT_USAGE, "%s %s: did you mean %s?", option, word, near)
                : cli_fail(c, EXIT_USAGE, "%s %s: there is no such one", option, word);
}

static int read_faults(struct sim_cmd *s)
{
    const char *names[FAULT_COUNT];
    const char *p = s->a.faults;

    s->o.faults = p ? 0 : FAULTS_ALL;
    for (int k = 0; k < FAULT_COUNT; k++)
        names[k] = fault_name(k);
    while (p && *p) {
        size_t n = strcspn(p, ",");
        char word[40];
        int kind;
        snprintf(word, sizeof word, "%.*s", (int)n, p);
        kind = fault_by_name(word);
        if (strcmp(word, "all") == 0)
            s->o.faults = FAULTS_ALL;
        else if (kind >= 0)
            s->o.faults |= 1u << kind;
        else if (strcmp(word, "none") != 0)
            return wrong_word(s->c, "--faults", word, cli_nearest(word, names, FAULT_COUNT));
        p += n + (p[n] == ',');
    }
    return 0;
}

static int read_guarantee(struct sim_cmd *s)
{
    static const char *const names[] = {"exactly_once", "at_least_once", "at_most_once"};

    s->o.guarantee = -1;
    for (int i = 0; s->a.guarantee && i < 3; i++)
        if (strcmp(s->a.guarantee, names[i]) == 0)
            s->o.guarantee = i;
    if (s->a.guarantee && s->o.guarantee < 0)
        return wrong_word(s->c, "--guarantee", s->a.guarantee,
                          cli_nearest(s->a.guarantee, names, 3));
    return 0;
}

static int read_mutation(struct sim_cmd *s)
{
#ifdef ONCE_TEST_BUILD
    const char *names[MUT_COUNT];
    int m = s->a.mutate ? mutation_by_name(s->a.mutate) : -1;

    for (int k = 0; k < MUT_COUNT; k++)
        names[k] = mutation_name(k);
    if (s->a.mutate && m < 0)
        return wrong_word(s->c, "--mutate", s->a.mutate,
                          cli_nearest(s->a.mutate, names, MUT_COUNT));
    if (m >= 0)
        s->o.mutations = (uint64_t)1 << m;
    return 0;
#else
    if (s->a.mutate)
        return cli_fail(s->c, EXIT_USAGE,
                        "--mutate %s: this build keeps all its protections; only a test build can "
                        "switch one off",
                        s->a.mutate);
    return 0;
#endif
}

static int in_range(struct sim_cmd *s, const char *option, int64_t v, int64_t min, int64_t max)
{
    if (v >= min && v <= max)
        return 0;
    return cli_fail(s->c, EXIT_USAGE, "%s %" PRId64 ": must be between %" PRId64 " and %" PRId64,
                    option, v, min, max);
}

static int read_args(struct sim_cmd *s)
{
    int rc = in_range(s, "--seeds", s->a.seeds, 1, 1000000000);

    if (!rc)
        rc = in_range(s, "--seed", s->a.seed, 0, INT64_MAX - 1000000000);
    if (!rc)
        rc = in_range(s, "--workers", s->a.workers, 1, CLUSTER_WORKERS_MAX);
    if (!rc)
        rc = in_range(s, "--partitions", s->a.partitions, 1, 64);
    if (!rc)
        rc = in_range(s, "--records", s->a.records, 1, 10000000);
    if (!rc)
        rc = read_faults(s);
    if (!rc)
        rc = read_guarantee(s);
    if (!rc)
        rc = read_mutation(s);
    s->o.workers = (int)s->a.workers;
    s->o.partitions = (int32_t)s->a.partitions;
    return rc;
}

/* ---- input ---- */

static int read_text(struct sim_cmd *s, struct slice topic, const char *path)
{
    struct err e = {0};
    struct buf text;
    int rc;

    buf_init(&text, 1 << 30);
    rc = job_file_read(path, &text, &e);
    if (rc)
        rc = cli_fail(s->c, EXIT_JOB, "%s", e.text);
    else if (sim_input_text(&s->in, topic, buf_slice(&text), (uint32_t)s->a.records))
        rc = cli_fail(s->c, EXIT_JOB, "%s: too large", path);
    buf_deinit(&text);
    return rc;
}

static int read_input(struct sim_cmd *s, const char *pair)
{
    const char *eq = strchr(pair, '=');
    const struct udf_source *source;
    struct slice topic;

    if (!eq || eq == pair)
        return cli_fail(s->c, EXIT_USAGE, "--input %s: TOPIC=FILE is needed", pair);
    topic = slice_of(pair, (size_t)(eq - pair));
    for (int i = 0; sim_input_topic(s->job, i, &source).p; i++)
        if (slice_eq(sim_input_topic(s->job, i, &source), topic))
            return read_text(s, topic, eq + 1);
    return cli_fail(s->c, EXIT_USAGE, "--input %s: the job does not read %.*s", pair,
                    SLICE_FMT(topic));
}

/* The sample's path is beside the job's file. */
static int read_sample_file(struct sim_cmd *s)
{
    const char *slash = strrchr(s->a.job, '/');
    const struct udf_source *source;
    struct slice sample = s->job->sample;
    char path[4096];

    snprintf(path, sizeof path, "%.*s%.*s",
             slash && sample.p[0] != '/' ? (int)(slash - s->a.job + 1) : 0, s->a.job,
             SLICE_FMT(sample));
    return read_text(s, sim_input_topic(s->job, 0, &source), path);
}

static int make_input(struct sim_cmd *s)
{
    struct err e = {0};
    int rc = 0;

    if (s->a.input.n) {
        for (int i = 0; !rc && i < s->a.input.n; i++)
            rc = read_input(s, s->a.input.v[i]);
    } else if (s->job->sample.n) {
        rc = read_sample_file(s);
    } else if (s->job->has_sample_fn) {
        if (sim_input_sample(&s->in, s->job, (uint32_t)s->a.records, &e))
            rc = cli_fail(s->c, EXIT_JOB, "%s: sample: %s", s->a.job, e.text);
    } else if (sim_input_generate(&s->in, s->job, (uint32_t)s->a.records)) {
        rc = cli_fail(s->c, EXIT_JOB, "out of memory for the input");
    }
    if (!rc)
        sim_input_interleave(&s->in);
    return rc;
}

static int prepare(struct sim_cmd *s)
{
    struct err e = {0};
    int rc;

    if (job_file_load_at(&s->job, s->a.job, SIM_WALL_MS, &e))
        return cli_fail(s->c, EXIT_JOB, "%s", e.text);
    rc = make_input(s);
    if (rc)
        return rc;
    s->o.job = s->job;
    s->o.lines = s->in.v;
    s->o.n_lines = s->in.n;
    if (sim_prepare(&s->prepared, &s->o, &e))
        return cli_fail(s->c, EXIT_JOB, "%s cannot be judged: %s", s->a.job, e.text);
    return 0;
}

/* ---- runs ---- */

static void log_line(void *user, uint64_t now, const char *node, enum env_level level,
                     const char *line)
{
    fprintf(stderr, "%" PRIu64 ".%06" PRIu64 " %s: %s\n", now / 1000000000u, now / 1000 % 1000000,
            node, line);
}

static void progress(struct sim_cmd *s, uint64_t done)
{
    uint64_t now = now_ns();
    bool eyes = isatty(2);

    if (s->c->quiet || now - s->told < (eyes ? PROGRESS_NS / 50 : PROGRESS_NS))
        return;
    s->told = now;
    fprintf(stderr,
            eyes ? "\r%" PRIu64 " of %" PRId64 " seeds, %" PRIu64 " faults "
                 : "%" PRIu64 " of %" PRId64 " seeds, %" PRIu64 " faults\n",
            done, s->a.seeds, s->faults);
}

static void note(struct sim_cmd *s, uint64_t seed, const struct sim_result *r)
{
    s->faults += r->faults;
    if (!verdict_total(&r->verdict))
        return;
    for (int k = 0; k <= VIOLATION_OTHER; k++)
        s->n[k] += r->verdict.n[k];
    if (!s->violated)
        s->first_bad = seed;
    s->violated = true;
    if (s->n_shown < SHOWN_MAX || s->c->verbose)
        fprintf(stderr, "seed %" PRIu64 ": %s\n", seed, r->verdict.first);
    if (++s->n_shown == SHOWN_MAX && !s->c->verbose)
        fprintf(stderr, "further seeds are only counted; -v shows them\n");
}

static void quoted(const char *word)
{
    if (word[strspn(
            word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:")] == 0) {
        fputs(word, stdout);
        return;
    }
    putchar('\'');
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*word);
    putchar('\'');
}

static void option(const char *name, const char *value)
{
    if (!value)
        return;
    printf(" --%s ", name);
    quoted(value);
}

static void print_replay(struct sim_cmd *s)
{
    fputs("once sim run ", stdout);
    quoted(s->a.job);
    printf(" --seed %" PRIu64 " --seeds 1", s->first_bad);
    option("faults", s->a.faults);
    printf(" --workers %" PRId64 " --partitions %" PRId64 " --records %" PRId64, s->a.workers,
           s->a.partitions, s->a.records);
    option("guarantee", s->a.guarantee);
    for (int i = 0; i < s->a.input.n; i++)
        option("input", s->a.input.v[i]);
    option("mutate", s->a.mutate);
    putchar('\n');
}

static int run_seeds(struct sim_cmd *s)
{
    struct sim_result r = {0};
    uint64_t rate;

    s->began = s->told = now_ns();
    if (s->c->verbose) {
        s->o.log = log_line;
        s->o.user = s;
    }
    for (int64_t i = 0; i < s->a.seeds; i++) {
        uint64_t seed = (uint64_t)(s->a.seed + i);
        sim_run_seed(&s->o, &s->prepared, seed, &r);
        if (r.unjudged)
            return cli_fail(s->c, EXIT_JOB, "seed %" PRIu64 ": %s", seed, r.verdict.first);
        note(s, seed, &r);
        progress(s, (uint64_t)i + 1);
    }
    if (isatty(2) && !s->c->quiet)
        fputc('\n', stderr);
    rate = (uint64_t)((double)s->a.seeds * 1e9 / (double)(now_ns() - s->began + 1) + 0.5);
    if (s->a.seeds == 1)
        printf("trace %016" PRIx64 "\n", r.trace_hash);
    printf("%" PRId64 " seeds, %" PRIu64 " faults, %" PRIu64 " lost, %" PRIu64
           " duplicated, %" PRIu64 " reordered, %" PRIu64 " other, %" PRIu64 " seeds/s\n",
           s->a.seeds, s->faults, s->n[VIOLATION_LOST], s->n[VIOLATION_DUPLICATED],
           s->n[VIOLATION_REORDERED], s->n[VIOLATION_OTHER], rate);
    if (s->violated)
        print_replay(s);
    return s->violated ? EXIT_VIOLATED : EXIT_OK;
}

int cmd_sim_run(struct cli *c, int argc, char **argv)
{
    struct sim_cmd s = {
        .c = c, .a = {.seeds = 100, .seed = 1, .workers = 2, .partitions = 2, .records = 200}};
    const struct cli_option options[] = {
        {"seeds", 0, OPTION_INT, &s.a.seeds, "N", "how many runs (100)"},
        {"seed", 0, OPTION_INT, &s.a.seed, "S", "the first one's seed (1)"},
        {"faults", 0, OPTION_TEXT, &s.a.faults, "LIST",
         "kinds to draw from (all): kill,power_cut,pause,cut,half_open,partition,delay,"
         "lose_request,lose_reply,slow_disk, or none"},
        {"workers", 0, OPTION_INT, &s.a.workers, "N", "worker processes (2)"},
        {"partitions", 0, OPTION_INT, &s.a.partitions, "N", "of each topic (2)"},
        {"records", 0, OPTION_INT, &s.a.records, "N", "the first so many of any input (200)"},
        {"guarantee", 0, OPTION_TEXT, &s.a.guarantee, "G",
         "exactly_once, at_least_once or at_most_once (the job's)"},
        {"input", 0, OPTION_LIST, &s.a.input, "TOPIC=FILE", "lines of a file; may repeat"},
        {"mutate", 0, OPTION_TEXT, &s.a.mutate, "NAME",
         "test builds: switch off a protection, which the checkers must notice"},
    };
    const char **rest = calloc((size_t)argc + 1, sizeof *rest);
    int n, rc;

    if (!rest)
        return cli_fail(c, EXIT_JOB, "out of memory");
    sim_input_init(&s.in);
    if (cli_parse(c, command_find("sim run"), options, sizeof options / sizeof options[0], argc,
                  argv, rest, &n)) {
        rc = c->exit_code;
    } else if (n != 1) {
        rc = n == 0 ? cli_fail(c, EXIT_USAGE, "which job? See once sim run --help")
                    : cli_fail(c, EXIT_USAGE, "unexpected word '%s'", rest[1]);
    } else {
        s.a.job = rest[0];
        rc = read_args(&s);
        if (!rc)
            rc = prepare(&s);
        if (!rc)
            rc = run_seeds(&s);
    }
    sim_prepared_free(&s.prepared);
    if (s.job)
        udf_job_free(s.job);
    sim_input_deinit(&s.in);
    free(s.a.input.v);
    free(rest);
    return rc;
}

/* runtime/sim/sim_run.c - the phases of a run. */
#include "runtime/sim/sim_run.h"
#include "base/bytes.h"
#include "base/check.h"
#include "base/rng.h"
#include "runtime/sim/check.h"
#include "runtime/sim/at_rest.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define FEED_BASE_MS  1700000000000
#define FEED_FROM     ENV_MS(1300) /* of the world's clock: the broker serves */
#define DRAIN_MAX     ENV_S(180)   /* of liveness: sessions and transactions expire in it */
#define STOP_MAX      ENV_S(60)
#define EVENTS_MAX    2000000u
#define QUIET_AT_HAND ENV_MS(200)

struct run {
    const struct sim_run_options *o;
    struct cluster cluster;
    struct faults faults;
    struct feeder feeder;
    struct watcher watcher;
    struct at_rest drain;
    struct client *client;
    struct feed_record *input;
    struct sim_result *r;
    uint64_t rng[4];
    bool transactional, together;
    uint64_t feed_for;
};

static int workers_of(const struct sim_run_options *o)
{
    return o->workers > 0 ? o->workers : 2;
}

static int32_t partitions_of(const struct sim_run_options *o)
{
    return o->partitions > 0 ? o->partitions : 2;
}

static int guarantee_of(const struct sim_run_options *o)
{
    return o->guarantee >= 0 ? o->guarantee : (int)o->job->guarantee;
}

/* Every record of its own millisecond, so that each is told from all others. */
static struct feed_record *feed_new(const struct sim_run_options *o)
{
    struct feed_record *v = calloc(o->n_lines + 1, sizeof *v);
    uint32_t n = (uint32_t)partitions_of(o);

    CHECK(v);
    for (uint32_t i = 0; i < o->n_lines; i++) {
        const struct sim_line *l = &o->lines[i];
        v[i] = (struct feed_record){.topic = l->topic,
                                    .key = l->key,
                                    .value = l->value,
                                    .timestamp = FEED_BASE_MS + i,
                                    .offset = -1};
        v[i].partition = (int32_t)(l->key.p ? (murmur2(l->key) & 0x7fffffff) % n : i % n);
    }
    return v;
}

/* In bursts: some records at once, then a pause. */
static void draw_times(struct run *run)
{
    uint32_t n = run->o->n_lines, bursts = 1 + (uint32_t)rng_below(run->rng, 40);
    uint64_t at = FEED_FROM, step = run->feed_for / bursts;

    for (uint32_t i = 0; i < n; i++) {
        if (i && rng_below(run->rng, n) < bursts)
            at += rng_below(run->rng, 2 * step + 1);
        run->input[i].at = at;
    }
}

/* ---- the client machine ---- */

static void client_up(void *user, struct place *p)
{
    struct run *run = user;
    struct env *env = &p->node->env;
    struct client_options o = {.bootstrap = CLUSTER_BROKER_ADDRESS, .client_id = "sim"};

    CHECK(client_open(&run->client, env, &o, NULL) == 0);
    feeder_start(&run->feeder, env, run->client);
    watcher_start(&run->watcher, env, run->client);
    run->drain.env = env;
    run->drain.client = run->client;
    if (run->faults.healed)
        at_rest_start(&run->drain);
}

static void client_down(void *user, struct place *p)
{
    struct run *run = user;

    if (!run->client)
        return;
    at_rest_stop(&run->drain);
    feeder_free(&run->feeder);
    watcher_stop(&run->watcher);
    client_free(run->client);
    run->client = NULL;
}

static uint64_t place_down(void *user, struct place *p, const char *why)
{
    return faults_down(&((struct run *)user)->faults, p, why);
}

static void on_log(void *user, uint64_t now, const char *node, enum env_level level,
                   const char *line)
{
    struct run *run = user;
    run->o->log(run->o->user, now, node, level, line);
}

/* ---- setting up ---- */

static void watch_topic(struct run *run, struct slice declared)
{
    struct buf name;

    if (!declared.p || (declared.n && declared.p[declared.n - 1] == '*'))
        return;
    buf_init(&name, 512);
    CHECK(udf_job_topic(run->o->job, declared, &name) == 0);
    watcher_add(&run->watcher, buf_slice(&name));
    buf_deinit(&name);
}

static void watch_all(struct run *run)
{
    const struct udf_job *job = run->o->job;
    struct buf name;

    for (int g = 0; g < job->n_groups; g++)
        for (int i = 0; i < job->groups[g].n_topics; i++)
            watch_topic(run, job->groups[g].topics[i]);
    for (int n = 0; n < job->n_nodes; n++)
        for (int k = 0; k < job->nodes[n].n_outputs; k++)
            watch_topic(run, job->nodes[n].outputs[k]);
    watch_topic(run, job->dead_letter);
    buf_init(&name, 512);
    for (int s = 0; s < job->n_stores; s++) {
        buf_reset(&name);
        if (job->stores[s].changelog && udf_job_changelog(job, s, &name) == 0)
            watcher_add(&run->watcher, buf_slice(&name));
    }
    buf_deinit(&name);
}

static uint64_t busy_at(void *user, uint32_t i)
{
    return ((struct run *)user)->input[i].at;
}

static void set_up(struct run *run, uint64_t seed)
{
    struct cluster_options co = {.seed = seed,
                                 .job = run->o->job,
                                 .n_workers = workers_of(run->o),
                                 .partitions = partitions_of(run->o),
                                 .guarantee = run->o->guarantee,
                                 .mutations = run->o->mutations,
                                 .user = run,
                                 .down = place_down,
                                 .client_up = client_up,
                                 .client_down = client_down,
                                 .log = run->o->log ? on_log : NULL};
    struct faults_options fo = {.kinds = run->o->faults,
                                .from = ENV_S(1),
                                .script = run->o->script,
                                .n_script = run->o->n_script};

    rng_seed(run->rng, seed ^ 0x51b1a7edu);
    co.together = rng_below(run->rng, 2);
    run->transactional = rng_below(run->rng, 2);
    run->feed_for = ENV_MS(200) << rng_below(run->rng, 6);
    run->input = feed_new(run->o);
    draw_times(run);
    run->feeder = (struct feeder){.world_now = &run->cluster.sim.now,
                                  .v = run->input,
                                  .n = run->o->n_lines,
                                  .job = run->o->job->name,
                                  .transactional = run->transactional,
                                  .partitions = partitions_of(run->o)};
    watcher_init(&run->watcher, &run->r->verdict);
    watch_all(run);
    run->drain =
        (struct at_rest){.job = run->o->job, .feeder = &run->feeder, .watcher = &run->watcher};
    cluster_open(&run->cluster, &co);
    fo.window = run->feed_for + ENV_MS(500);
    fo.kill_client = run->transactional;
    fo.n_busy = run->o->n_lines;
    fo.busy = busy_at;
    fo.user = run;
    faults_init(&run->faults, &run->cluster, &fo, seed);
}

/* ---- phases ---- */

static int tasks_of(struct run *run)
{
    const struct udf_job *job = run->o->job;
    struct buf name;
    int n = 0;

    buf_init(&name, 512);
    for (int g = 0; g < job->n_groups; g++) {
        buf_reset(&name);
        CHECK(udf_job_topic(job, job->groups[g].topics[0], &name) == 0);
        n += watcher_topic(&run->watcher, buf_slice(&name))->n_partitions;
    }
    buf_deinit(&name);
    return n;
}

/* Stores are looked at in the end: a task that restores, or that waits for the session of a worker
 * that came back as another, would show an old one. */
static bool workers_run(struct run *run)
{
    struct worker_stats s;
    int n = 0;

    for (int i = 0; i < run->cluster.n_workers; i++) {
        struct place *p = &run->cluster.workers[i];
        if (!p->worker)
            return false;
        worker_stats(p->worker, &s);
        if (!s.running)
            return false;
        n += s.n_tasks;
    }
    return n == tasks_of(run);
}

/* A loop of events that gets nowhere, in no time. */
static bool runaway(struct run *run)
{
    if (run->cluster.sim.n_events > EVENTS_MAX && !run->cluster.failed[0])
        snprintf(run->cluster.failed, sizeof run->cluster.failed,
                 "more than %u events: it goes round and round", EVENTS_MAX);
    return run->cluster.failed[0];
}

static bool broken(void *u)
{
    return runaway(u);
}

static bool drained(void *u)
{
    struct run *run = u;

    if (runaway(run))
        return true;
    return run->drain.done && workers_run(run);
}

static bool workers_stopped(void *u)
{
    struct run *run = u;

    for (int i = 0; i < run->cluster.n_workers; i++)
        if (!run->cluster.workers[i].stopped)
            return false;
    return true;
}

static bool broker_stopped(void *u)
{
    return ((struct run *)u)->cluster.broker.stopped;
}

static void liveness(struct run *run)
{
    struct sim *s = &run->cluster.sim;

    faults_heal(&run->faults);
    if (run->client) {
        sim_enter(run->cluster.client.node);
        at_rest_start(&run->drain);
    }
    if (!sim_run(s, s->now + DRAIN_MAX, drained, run))
        verdict_add(&run->r->verdict, VIOLATION_OTHER, "not drained %u s after the last fault: %s",
                    (unsigned)(DRAIN_MAX / ENV_S(1)), run->drain.why_not);
}

static void stop_all(struct run *run)
{
    struct cluster *c = &run->cluster;

    for (int i = 0; i < c->n_workers; i++)
        cluster_stop(&c->workers[i]);
    if (!sim_run(&c->sim, c->sim.now + STOP_MAX, workers_stopped, run))
        verdict_add(&run->r->verdict, VIOLATION_OTHER, "a worker does not stop in order");
    sim_crash(c->client.node);
    c->client.stopping = true;
    cluster_stop(&c->broker);
    if (!sim_run(&c->sim, c->sim.now + STOP_MAX, broker_stopped, run))
        verdict_add(&run->r->verdict, VIOLATION_OTHER, "the broker does not stop in order");
}

static void trace_logs(struct run *run, const struct disk_logs *logs)
{
    for (uint32_t i = 0; i < logs->n; i++)
        sim_trace(&run->cluster.sim, crc32c(0, logs->v[i].bytes, logs->v[i].n_bytes));
}

static void check_all(struct run *run, const struct sim_prepared *p)
{
    struct disk_logs logs;
    struct model replay = {0};
    struct sim_evidence x = {.job = run->o->job,
                             .logs = &logs,
                             .input = run->input,
                             .n_input = run->o->n_lines,
                             .input_transactional = run->transactional,
                             .guarantee = guarantee_of(run->o),
                             .partitions = partitions_of(run->o),
                             .watcher = &run->watcher,
                             .cluster = &run->cluster,
                             .single = p && p->compare ? &p->single : NULL,
                             .verdict = &run->r->verdict};

    disk_logs_read(&logs, sim_node_disk(run->cluster.broker.node), CLUSTER_DATA, x.verdict);
    trace_logs(run, &logs);
    check_log(&x);
    check_txn(&x);
    check_input(&x);
    check_seen(&x);
    check_offsets(&x);
    if (check_output(&x, &replay)) {
        check_store(&x, &replay);
        check_split(&x);
        if (run->o->inspect)
            run->o->inspect(run->o->user, &x, &replay);
    } else {
        run->r->unjudged = true;
        verdict_add(x.verdict, VIOLATION_OTHER, "cannot be judged: %s", replay.failed);
    }
    model_deinit(&replay);
    disk_logs_free(&logs);
}

int sim_run_seed(const struct sim_run_options *o, const struct sim_prepared *p, uint64_t seed,
                 struct sim_result *r)
{
    struct run *run = calloc(1, sizeof *run);
    struct sim *s;

    CHECK(run);
    memset(r, 0, sizeof *r);
    run->o = o;
    run->r = r;
    s = &run->cluster.sim;
    set_up(run, seed);
    sim_run(s, faults_end(&run->faults) + QUIET_AT_HAND, broken, run);
    if (!run->cluster.failed[0])
        liveness(run);
    if (!run->cluster.failed[0])
        stop_all(run);
    if (run->cluster.failed[0])
        verdict_add(&r->verdict, VIOLATION_OTHER, "%s", run->cluster.failed);
    else
        check_all(run, p);
    r->faults = run->faults.struck;
    r->events = s->n_events;
    r->records = run->watcher.records;
    r->virtual_ns = s->now;
    r->trace_hash = sim_trace_hash(s);
    cluster_free(&run->cluster);
    watcher_deinit(&run->watcher);
    free(run->input);
    free(run);
    return verdict_total(&r->verdict) ? 1 : 0;
}

/* ---- the job by itself ---- */

static int32_t one_partition(void *user, struct slice topic)
{
    return 1;
}

int sim_prepare(struct sim_prepared *p, const struct sim_run_options *o, struct err *e)
{
    memset(p, 0, sizeof *p);
    if (!o->n_lines)
        return err_set(e, ERR_INVALID, "there is no input");
    for (int g = 0; g < o->job->n_groups; g++)
        if (o->job->groups[g].n_topics != 1)
            return err_set(e, ERR_INVALID,
                           "a node group reads %d topics, and the order in which their records are "
                           "taken is not recorded",
                           o->job->groups[g].n_topics);
    p->input = feed_new(o);
    model_init(&p->single, o->job, one_partition, NULL);
    if (model_run_single(&p->single, p->input, o->n_lines))
        return err_set(e, ERR_INVALID, "%s", p->single.failed);
    p->compare = o->job->order_any;
    return 0;
}

void sim_prepared_free(struct sim_prepared *p)
{
    if (p->single.job)
        model_deinit(&p->single);
    free(p->input);
    memset(p, 0, sizeof *p);
}

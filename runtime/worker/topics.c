/* runtime/worker/topics.c - the topics a job needs: found, or made, and checked, before it joins
 * its group.
 *
 * In order: sources (made with the partitions asked for if they do not exist), then outputs, #
 * topics and the dead letter topic, then changelogs, whose partition counts follow from the
 * sources'. An output of a "prefix-*" is looked up when a record first names it. */
#include "runtime/worker/worker_internal.h"
#include <stdlib.h>

enum { STEP_SOURCES, STEP_OUTPUTS, STEP_CHANGELOGS, STEP_DONE };

struct job_topic *worker_topic(struct worker *w, struct slice name)
{
    return map_get(&w->topics, name);
}

struct job_topic *worker_topic_declared(struct worker *w, struct slice declared)
{
    bool internal = declared.n && declared.p[0] == '#';

    return map_get(internal ? &w->internals : &w->topics, declared);
}

static struct job_topic *add_topic(struct worker *w, struct slice name, struct slice declared)
{
    struct job_topic *t = worker_topic(w, name);

    if (t)
        return t;
    t = calloc(1, sizeof *t);
    if (!t || map_put(&w->topics, name, t)) {
        free(t);
        return NULL;
    }
    conf_init(&t->config);
    t->worker = w;
    t->declared = declared;
    MAP_EACH (entry, &w->topics) {
        if (entry->value == t)
            t->name = entry->key;
    }
    return t;
}

/* By the name on the broker, of a topic as the job declares it. */
static struct job_topic *add_declared(struct worker *w, struct slice declared)
{
    struct buf name;
    struct job_topic *t = NULL;

    buf_init(&name, TOPIC_NAME_MAX + 1);
    if (udf_job_topic(w->job, declared, &name) == 0)
        t = add_topic(w, buf_slice(&name), declared);
    buf_deinit(&name);
    if (t && declared.n && declared.p[0] == '#') {
        t->internal = true;
        if (map_put(&w->internals, declared, t))
            return NULL;
    }
    return t;
}

static int collect_node(struct worker *w, const struct udf_node *node)
{
    for (int i = 0; i < node->n_sources; i++) {
        struct job_topic *t = add_declared(w, node->sources[i].topic);
        if (!t)
            return -ERR_NOMEM;
        t->source = true;
    }
    for (int i = 0; i < node->n_outputs; i++) {
        struct slice out = node->outputs[i];
        if (out.n && out.p[out.n - 1] == '*')
            continue;
        if (!add_declared(w, out))
            return -ERR_NOMEM;
    }
    return 0;
}

static int collect_changelogs(struct worker *w)
{
    for (int i = 0; i < w->job->n_stores; i++) {
        struct buf name;
        struct job_topic *t = NULL;

        if (!w->job->stores[i].changelog)
            continue;
        buf_init(&name, TOPIC_NAME_MAX + 1);
        if (udf_job_changelog(w->job, i, &name) == 0)
            t = add_topic(w, buf_slice(&name), SLICE_NULL);
        buf_deinit(&name);
        if (!t || conf_set(&t->config, slice_str("cleanup.policy"), slice_str("compact")))
            return -ERR_NOMEM;
        t->changelog = true;
    }
    return 0;
}

/* What a task's structs have room for. */
static int check_limits(const struct worker *w, struct err *e)
{
    for (int g = 0; g < w->job->n_groups; g++) {
        const struct udf_group *group = &w->job->groups[g];
        struct slice node = w->job->nodes[group->nodes[0]].name;

        if (group->n_stores > STORES_MAX)
            return err_set(e, ERR_LIMIT,
                           "node %.*s and those that share its tasks have %d stores; %d are the "
                           "most: separate them by a # topic",
                           SLICE_FMT(node), group->n_stores, STORES_MAX);
        if (group->n_topics > INPUTS_MAX)
            return err_set(e, ERR_LIMIT,
                           "node %.*s and those that share its tasks read %d topics; %d are the "
                           "most: separate them by a # topic",
                           SLICE_FMT(node), group->n_topics, INPUTS_MAX);
    }
    return 0;
}

int job_topics_collect(struct worker *w, struct err *e)
{
    int rc = check_limits(w, e);

    if (rc)
        return rc;
    for (int i = 0; !rc && i < w->job->n_nodes; i++)
        rc = collect_node(w, &w->job->nodes[i]);
    if (!rc && w->job->dead_letter.p && !add_topic(w, w->job->dead_letter, w->job->dead_letter))
        rc = -ERR_NOMEM;
    if (!rc)
        rc = collect_changelogs(w);
    if (!rc) {
        w->subscribe = calloc(w->topics.n + 1, sizeof *w->subscribe);
        rc = w->subscribe ? 0 : -ERR_NOMEM;
    }
    if (rc)
        return err_set(e, ERR_NOMEM, "out of memory");
    MAP_EACH (entry, &w->topics) {
        struct job_topic *t = entry->value;
        if (t->source)
            w->subscribe[w->n_subscribe++] = t->name;
    }
    return 0;
}

static int step_of(const struct job_topic *t)
{
    if (t->changelog)
        return STEP_CHANGELOGS;
    return t->source && !t->internal ? STEP_SOURCES : STEP_OUTPUTS;
}

static int32_t largest_source(const struct worker *w)
{
    int32_t n = 1;

    MAP_EACH (entry, &w->topics) {
        const struct job_topic *t = entry->value;
        if (t->source && !t->internal && t->partitions > n)
            n = t->partitions;
    }
    return n;
}

static int32_t group_partitions(struct worker *w, int group)
{
    struct buf name;
    struct job_topic *t = NULL;

    buf_init(&name, TOPIC_NAME_MAX + 1);
    if (udf_job_topic(w->job, w->job->groups[group].topics[0], &name) == 0)
        t = worker_topic(w, buf_slice(&name));
    buf_deinit(&name);
    return t ? t->partitions : 0;
}

static int32_t changelog_partitions(struct worker *w, const struct job_topic *t)
{
    for (int i = 0; i < w->job->n_stores; i++) {
        struct buf name;
        bool same;
        buf_init(&name, TOPIC_NAME_MAX + 1);
        same = udf_job_changelog(w->job, i, &name) == 0 && slice_eq(buf_slice(&name), t->name);
        buf_deinit(&name);
        if (same)
            return group_partitions(w, w->job->stores[i].group);
    }
    return 0;
}

static int32_t wanted(struct worker *w, const struct job_topic *t)
{
    if (t->changelog)
        return changelog_partitions(w, t);
    if (t->internal)
        return largest_source(w);
    return w->o.partitions > 0 ? w->o.partitions : 1;
}

/* The counts that must agree: changelogs and # topics with what they were made for. */
static bool count_fits(struct worker *w, struct job_topic *t)
{
    int32_t want = wanted(w, t);

    if ((!t->changelog && !t->internal) || t->partitions == want)
        return true;
    worker_fail(
        w, 3,
        "topic %.*s has %d partitions, but the job's sources have %d: state and records would not "
        "meet; give the job a new name, or delete the topic if its contents may go",
        SLICE_FMT(t->name), t->partitions, want);
    return false;
}

static void next_step(struct worker *w);

static void topic_settled(struct job_topic *t)
{
    struct worker *w = t->worker;

    t->busy = false;
    w->topics_busy--;
    if (w->stopped || w->exit_code || !count_fits(w, t))
        return;
    if (w->setup_step == STEP_DONE)
        pump_again(w); /* a late output of a "prefix-*" */
    else if (w->topics_busy == 0) {
        w->setup_step++;
        next_step(w);
    }
}

static void look_up(struct job_topic *t);

static void created(struct create_topic *op, int res, const struct err *e)
{
    struct job_topic *t = op->user;

    if (res && res != -ERR_EXISTS) {
        t->busy = false;
        t->worker->topics_busy--;
        worker_fail(t->worker, res == -ERR_BROKER || res == -ERR_ACCESS ? 5 : 4,
                    "cannot create topic %.*s: %s", SLICE_FMT(t->name), e->text);
        return;
    }
    look_up(t);
}

static void looked_up(struct topic_lookup *l, int res, const struct client_topic *ct)
{
    struct job_topic *t = l->user;
    struct worker *w = t->worker;

    if (res == 0 && ct && ct->n_partitions > 0) {
        t->partitions = ct->n_partitions;
        topic_settled(t);
        return;
    }
    if (res == -ERR_NOT_FOUND) {
        t->create = (struct create_topic){.topic = t->name,
                                          .partitions = wanted(w, t),
                                          .config = &t->config,
                                          .timeout_ms = 60000,
                                          .done = created,
                                          .user = t};
        admin_create_topic(w->client, &t->create);
        return;
    }
    t->busy = false;
    w->topics_busy--;
    worker_fail(w,
                res == -ERR_ACCESS    ? 5
                : res == -ERR_INVALID ? 3
                                      : 4,
                "cannot look up topic %.*s at %s: %s", SLICE_FMT(t->name), w->o.bootstrap,
                err_text(res));
}

static void look_up(struct job_topic *t)
{
    t->lookup =
        (struct topic_lookup){.name = t->name, .timeout_ms = 30000, .done = looked_up, .user = t};
    client_topic_lookup(t->worker->client, &t->lookup);
}

static void start_topic(struct job_topic *t)
{
    t->busy = true;
    t->worker->topics_busy++;
    look_up(t);
}

/* Every group's sources have the same number of partitions. */
static bool groups_fit(struct worker *w)
{
    for (int g = 0; g < w->job->n_groups; g++) {
        const struct udf_group *group = &w->job->groups[g];
        int32_t want = group_partitions(w, g);

        for (int i = 1; i < group->n_topics; i++) {
            struct buf name;
            struct job_topic *t = NULL;
            buf_init(&name, TOPIC_NAME_MAX + 1);
            if (udf_job_topic(w->job, group->topics[i], &name) == 0)
                t = worker_topic(w, buf_slice(&name));
            buf_deinit(&name);
            if (t && t->partitions == want)
                continue;
            worker_fail(
                w, 3,
                "sources %.*s (%d partitions) and %.*s (%d) belong to the same tasks: their "
                "partition counts must be equal",
                SLICE_FMT(group->topics[0]), want, SLICE_FMT(group->topics[i]),
                t ? t->partitions : 0);
            return false;
        }
    }
    return true;
}

static void next_step(struct worker *w)
{
    bool any = false;

    if (w->setup_step == STEP_CHANGELOGS && !groups_fit(w))
        return;
    if (w->setup_step == STEP_DONE) {
        worker_topics_ready(w);
        return;
    }
    MAP_EACH (entry, &w->topics) {
        struct job_topic *t = entry->value;
        if (step_of(t) == w->setup_step) {
            any = true;
            start_topic(t);
        }
    }
    if (!any) {
        w->setup_step++;
        next_step(w);
    }
}

void job_topics_setup(struct worker *w)
{
    w->setup_step = STEP_SOURCES;
    next_step(w);
}

int job_topics_late(struct worker *w, struct slice name)
{
    struct job_topic *t = add_topic(w, name, name);

    if (!t)
        return -ERR_NOMEM;
    t->declared = t->name;
    if (!t->busy && t->partitions <= 0)
        start_topic(t);
    return 0;
}

void job_topics_free(struct worker *w)
{
    MAP_EACH (entry, &w->topics) {
        struct job_topic *t = entry->value;
        if (t->busy && w->client) {
            client_topic_cancel(w->client, &t->lookup);
            admin_cancel(w->client, &t->create);
        }
        conf_deinit(&t->config);
        free(t);
    }
    map_deinit(&w->topics);
    map_deinit(&w->internals);
    free(w->subscribe);
    w->subscribe = NULL;
}

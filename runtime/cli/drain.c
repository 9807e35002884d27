/* runtime/cli/drain.c - ends and committed offsets, compared until they meet. */
#include "runtime/cli/drain.h"
#include <stdlib.h>

enum { POLL_MS = 10, POLL_MAX_MS = 100, TOPIC_MAX = 250 };

struct drain_topic {
    struct drain *d;
    char name[TOPIC_MAX];
    bool internal;
    int32_t n;
    struct topic_lookup lookup;
};
struct drain_partition {
    struct drain *d;
    struct drain_topic *topic;
    struct list_offset ask;
    int64_t end, last_end;
};
struct drain {
    struct cli *c;
    struct client *client;
    struct drain_options o;
    struct drain_topic *topics;
    int n_topics;
    struct drain_partition *v;
    struct fetch_offset_entry *entries; /* as v */
    int n;
    struct fetch_offsets fetch;
    bool fetching, ended;
    int left;   /* questions without an answer */
    bool ready; /* ends of the sources are known */
    bool once;  /* all had met in the last round */
    uint32_t poll_ms;
    struct env_timer timer;
    int64_t at, end;
};

static void finish(struct drain *d, int code, const char *why)
{
    if (d->ended)
        return;
    d->ended = true;
    env_timer_stop(&d->c->node.env, &d->timer);
    d->o.done(d->o.user, code, why);
}

static void ask_offsets(struct drain *d);

static void again(struct drain *d)
{
    d->poll_ms = d->poll_ms * 2 > POLL_MAX_MS ? POLL_MAX_MS : d->poll_ms * 2;
    env_timer_set(&d->c->node.env, &d->timer, d->c->node.env.now + ENV_MS(d->poll_ms));
}

static void ask_end(struct drain_partition *v,
                    void (*done)(struct list_offset *, int, const struct err *))
{
    v->d->left++;
    v->ask = (struct list_offset){.topic = slice_str(v->topic->name),
                                  .partition = (int32_t)(v->ask.partition),
                                  .timestamp = -1,
                                  .read_committed = false,
                                  .timeout_ms = 60000,
                                  .done = done,
                                  .user = v};
    admin_list_offset(v->d->client, &v->ask);
}

static void count_progress(struct drain *d)
{
    d->at = d->end = 0;
    for (int i = 0; i < d->n; i++) {
        int64_t at = d->entries[i].offset, end = d->v[i].end;
        d->end += end;
        d->at += at < 0 ? 0 : at > end ? end : at;
    }
}

/* Sources first: what they still hold may yet come to a # topic. */
static bool sources_met(struct drain *d)
{
    bool met = true;

    for (int i = 0; i < d->n; i++) {
        int64_t at = d->entries[i].offset;
        if (d->v[i].topic->internal)
            continue;
        met &= d->v[i].end == 0 || at >= d->v[i].end;
    }
    return met;
}

static bool internals_met(struct drain *d)
{
    bool met = true;

    for (int i = 0; i < d->n; i++) {
        struct drain_partition *v = &d->v[i];
        if (!v->topic->internal)
            continue;
        met &= (v->end == 0 || d->entries[i].offset >= v->end) && v->end == v->last_end;
        v->last_end = v->end;
    }
    return met;
}

static void got_offsets(struct fetch_offsets *op, int res, const struct err *e)
{
    struct drain *d = op->user;

    d->fetching = false;
    arena_deinit(&op->arena);
    if (d->ended)
        return;
    if (res) {
        if (res == -ERR_TIMEOUT || res == -ERR_REFUSED)
            again(d); /* the cluster comes back, or the workers say that it does not */
        else
            finish(d, cli_code(res), e->text);
        return;
    }
    count_progress(d);
    if (sources_met(d) && internals_met(d)) {
        if (d->once) {
            finish(d, EXIT_OK, "");
            return;
        }
        d->once = true;
        d->poll_ms = 1;
    } else
        d->once = false;
    again(d);
}

static void ask_offsets(struct drain *d)
{
    for (int i = 0; i < d->n; i++)
        d->entries[i] = (struct fetch_offset_entry){.topic = slice_str(d->v[i].topic->name),
                                                    .partition = d->v[i].ask.partition};
    d->fetch = (struct fetch_offsets){.group = d->o.job->name,
                                      .stable = true,
                                      .v = d->entries,
                                      .n = d->n,
                                      .timeout_ms = 60000,
                                      .done = got_offsets,
                                      .user = d};
    arena_init(&d->fetch.arena, 8 << 20);
    d->fetching = true;
    admin_fetch_offsets(d->client, &d->fetch);
}

static void got_end(struct list_offset *op, int res, const struct err *e)
{
    struct drain_partition *v = op->user;
    struct drain *d = v->d;

    if (d->ended)
        return;
    if (!res)
        v->end = op->offset;
    else if (res != -ERR_TIMEOUT && res != -ERR_REFUSED) {
        finish(d, cli_code(res), e->text);
        return;
    }
    if (--d->left == 0)
        ask_offsets(d);
}

/* A round: ends of # topics, then what is committed. */
static void round_due(struct env_timer *t)
{
    struct drain *d = list_entry(t, struct drain, timer);

    for (int i = 0; i < d->n; i++)
        if (d->v[i].topic->internal || !d->ready)
            ask_end(&d->v[i], got_end);
    d->ready = true;
    if (d->left == 0)
        ask_offsets(d);
}

static void all_known(struct drain *d)
{
    int at = 0;

    for (int i = 0; i < d->n_topics; i++)
        d->n += d->topics[i].n;
    d->v = calloc((size_t)d->n + 1, sizeof *d->v);
    d->entries = calloc((size_t)d->n + 1, sizeof *d->entries);
    if (!d->v || !d->entries) {
        finish(d, EXIT_JOB, "out of memory");
        return;
    }
    for (int i = 0; i < d->n_topics; i++)
        for (int32_t p = 0; p < d->topics[i].n; p++, at++) {
            d->v[at] = (struct drain_partition){.d = d, .topic = &d->topics[i], .last_end = -1};
            d->v[at].ask.partition = p;
        }
    round_due(&d->timer);
}

static void looked_up(struct topic_lookup *l, int res, const struct client_topic *ct)
{
    struct drain_topic *t = l->user;
    struct drain *d = t->d;

    if (d->ended)
        return;
    if (res) {
        char text[400];
        snprintf(text, sizeof text, "topic %s: %s", t->name, err_text(res));
        finish(d, cli_code(res), text);
        return;
    }
    t->n = ct->n_partitions;
    if (--d->left == 0)
        all_known(d);
}

static int add_topic(struct drain *d, const struct udf_source *s)
{
    struct buf name;
    struct drain_topic *t = &d->topics[d->n_topics];
    int rc;

    buf_init(&name, TOPIC_MAX);
    rc = udf_job_topic(d->o.job, s->topic, &name);
    if (!rc)
        snprintf(t->name, sizeof t->name, "%.*s", SLICE_FMT(buf_slice(&name)));
    buf_deinit(&name);
    t->d = d;
    t->internal = s->internal;
    for (int i = 0; i < d->n_topics; i++)
        if (strcmp(d->topics[i].name, t->name) == 0)
            return rc;
    d->n_topics++;
    return rc;
}

int drain_open(struct drain **out, struct cli *c, struct client *client,
               const struct drain_options *o, struct err *e)
{
    struct drain *d = calloc(1, sizeof *d);
    int n = 0, rc = 0;

    if (!d)
        return err_set(e, ERR_NOMEM, "out of memory");
    d->c = c;
    d->client = client;
    d->o = *o;
    d->timer.fire = round_due;
    d->poll_ms = POLL_MS;
    for (int i = 0; i < o->job->n_nodes; i++)
        n += o->job->nodes[i].n_sources;
    d->topics = calloc((size_t)n + 1, sizeof *d->topics);
    for (int i = 0; d->topics && !rc && i < o->job->n_nodes; i++)
        for (int k = 0; !rc && k < o->job->nodes[i].n_sources; k++)
            rc = add_topic(d, &o->job->nodes[i].sources[k]);
    if (!d->topics || rc) {
        drain_free(d);
        return err_set(e, ERR_NOMEM, "out of memory");
    }
    *out = d;
    return 0;
}

void drain_start(struct drain *d)
{
    d->left = d->n_topics;
    for (int i = 0; i < d->n_topics; i++) {
        d->topics[i].lookup = (struct topic_lookup){.name = slice_str(d->topics[i].name),
                                                    .timeout_ms = 60000,
                                                    .done = looked_up,
                                                    .user = &d->topics[i]};
        client_topic_lookup(d->client, &d->topics[i].lookup);
    }
}

void drain_progress(const struct drain *d, int64_t *at, int64_t *end)
{
    *at = d->at;
    *end = d->end;
}

void drain_free(struct drain *d)
{
    if (!d)
        return;
    d->ended = true;
    env_timer_stop(&d->c->node.env, &d->timer);
    admin_cancel(d->client, &d->fetch); /* the client outlives what is freed here */
    for (int i = 0; d->v && i < d->n; i++)
        admin_cancel(d->client, &d->v[i].ask);
    if (d->fetching)
        arena_deinit(&d->fetch.arena);
    free(d->topics);
    free(d->v);
    free(d->entries);
    free(d);
}

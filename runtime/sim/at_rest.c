/* runtime/sim/at_rest.c - asks for the group's offsets now and then, and compares. */
#include "runtime/sim/at_rest.h"
#include "base/check.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { PERIOD_MS = 600, QUIET_TIMES = 2 };

static void not_yet(struct at_rest *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void not_yet(struct at_rest *d, const char *fmt, ...)
{
    va_list ap;

    d->quiet = 0;
    va_start(ap, fmt);
    vsnprintf(d->why_not, sizeof d->why_not, fmt, ap);
    va_end(ap);
}

static bool partition_drained(struct at_rest *d, int i)
{
    const struct fetch_offset_entry *e = &d->entries[i];
    const struct watch_topic *t = watcher_topic(d->watcher, e->topic);
    int64_t stable = d->ends[i].stable.offset, high = d->ends[i].high.offset;
    int64_t at = fetcher_position(d->watcher->committed, e->topic, e->partition);

    if (stable != high || at < high)
        not_yet(d, "%.*s-%d: a consumer is at %" PRId64 ", stable is %" PRId64 " of %" PRId64,
                SLICE_FMT(e->topic), e->partition, at, stable, high);
    else if (t->parts[e->partition].last_committed >= 0 &&
             e->offset <= t->parts[e->partition].last_committed)
        not_yet(d, "%.*s-%d: the job is at %" PRId64 ", the last record at %" PRId64,
                SLICE_FMT(e->topic), e->partition, e->offset,
                t->parts[e->partition].last_committed);
    else
        return true;
    return false;
}

static void one_answered(struct at_rest *d, int res, const struct err *e)
{
    bool all;

    if (res && !d->res)
        not_yet(d, "asking for offsets: %s", e && e->text[0] ? e->text : err_text(res));
    d->res = d->res ? d->res : res;
    if (--d->asking > 0)
        return;
    all = d->res == 0;
    for (int i = 0; all && i < d->n_entries; i++)
        all = partition_drained(d, i);
    if (all && ++d->quiet == QUIET_TIMES)
        d->done = true;
    else
        env_timer_set(d->env, &d->timer, d->env->now + ENV_MS(PERIOD_MS));
}

static void got_offsets(struct fetch_offsets *op, int res, const struct err *e)
{
    struct at_rest *d = op->user;

    d->fetching = false;
    arena_deinit(&op->arena);
    one_answered(d, res, e);
}

static void got_end(struct list_offset *op, int res, const struct err *e)
{
    one_answered(op->user, res, e);
}

static void ask_end(struct at_rest *d, struct list_offset *op, const struct fetch_offset_entry *e,
                    bool stable)
{
    *op = (struct list_offset){.topic = e->topic,
                               .partition = e->partition,
                               .timestamp = -1,
                               .read_committed = stable,
                               .timeout_ms = 5000,
                               .done = got_end,
                               .user = d};
    admin_list_offset(d->client, op);
}

static void add_entry(struct at_rest *d, const struct watch_topic *t, int32_t p)
{
    if (d->n_entries == d->cap) {
        d->cap = d->cap ? d->cap * 2 : 16;
        d->entries = realloc(d->entries, (size_t)d->cap * sizeof *d->entries);
        d->ends = realloc(d->ends, (size_t)d->cap * sizeof *d->ends);
        CHECK(d->entries);
        CHECK(d->ends);
    }
    d->entries[d->n_entries++] = (struct fetch_offset_entry){.topic = t->name, .partition = p};
}

static bool add_source(struct at_rest *d, struct slice declared)
{
    struct watch_topic *t;
    struct buf name;

    buf_init(&name, 512);
    CHECK(udf_job_topic(d->job, declared, &name) == 0);
    t = watcher_topic(d->watcher, buf_slice(&name));
    if (!t->n_partitions)
        not_yet(d, "topic %.*s is not there", SLICE_FMT(buf_slice(&name)));
    buf_deinit(&name);
    for (int32_t p = 0; p < t->n_partitions; p++)
        add_entry(d, t, p);
    return t->n_partitions > 0;
}

/* False: not all sources are there. */
static bool collect(struct at_rest *d)
{
    d->n_entries = 0;
    for (int g = 0; g < d->job->n_groups; g++)
        for (int i = 0; i < d->job->groups[g].n_topics; i++)
            if (!add_source(d, d->job->groups[g].topics[i]))
                return false;
    return true;
}

static void ask(struct env_timer *timer)
{
    struct at_rest *d = list_entry(timer, struct at_rest, timer);
    bool ready = feeder_done(d->feeder);

    if (!ready)
        not_yet(d, "the input is not all in: %u of %u records", d->feeder->next, d->feeder->n);
    else
        ready = collect(d);
    if (!ready) {
        env_timer_set(d->env, &d->timer, d->env->now + ENV_MS(PERIOD_MS));
        return;
    }
    d->fetch = (struct fetch_offsets){.group = d->job->name,
                                      .stable = true,
                                      .v = d->entries,
                                      .n = d->n_entries,
                                      .timeout_ms = 5000,
                                      .done = got_offsets,
                                      .user = d};
    arena_init(&d->fetch.arena, 1 << 20);
    d->fetching = true;
    d->res = 0;
    d->asking = 1 + 2 * d->n_entries;
    admin_fetch_offsets(d->client, &d->fetch);
    for (int i = 0; i < d->n_entries; i++) {
        ask_end(d, &d->ends[i].stable, &d->entries[i], true);
        ask_end(d, &d->ends[i].high, &d->entries[i], false);
    }
}

void at_rest_start(struct at_rest *d)
{
    d->timer = (struct env_timer){.fire = ask};
    d->fetching = d->done = false;
    d->quiet = 0;
    env_timer_set(d->env, &d->timer, d->env->now + ENV_MS(PERIOD_MS));
}

void at_rest_stop(struct at_rest *d)
{
    if (d->fetching)
        arena_deinit(&d->fetch.arena);
    d->fetching = false;
    free(d->entries);
    free(d->ends);
    d->entries = NULL;
    d->ends = NULL;
    d->n_entries = d->cap = 0;
}

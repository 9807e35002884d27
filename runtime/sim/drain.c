/* runtime/sim/drain.c - asks for the group's offsets now and then, and compares. */
#include "runtime/sim/drain.h"
#include "base/check.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { PERIOD_MS = 600, QUIET_TIMES = 2 };

static void not_yet(struct drain *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void not_yet(struct drain *d, const char *fmt, ...)
{
    va_list ap;

    d->quiet = 0;
    va_start(ap, fmt);
    vsnprintf(d->why_not, sizeof d->why_not, fmt, ap);
    va_end(ap);
}

static bool partition_drained(struct drain *d, const struct fetch_offset_entry *e)
{
    const struct watch_topic *t = watcher_topic(d->watcher, e->topic);

    if (!watcher_at_end(d->watcher, t, e->partition)) {
        not_yet(d, "%.*s-%d: a consumer is not at the end: stable %" PRId64 " of %" PRId64,
                SLICE_FMT(e->topic), e->partition,
                fetcher_stable(d->watcher->committed, e->topic, e->partition),
                fetcher_high_watermark(d->watcher->committed, e->topic, e->partition));
        return false;
    }
    if (e->offset <= t->parts[e->partition].last_committed) {
        not_yet(d, "%.*s-%d: the job is at %" PRId64 ", the last record is %" PRId64,
                SLICE_FMT(e->topic), e->partition, e->offset,
                t->parts[e->partition].last_committed);
        return false;
    }
    return true;
}

static void answered(struct fetch_offsets *op, int res, const struct err *e)
{
    struct drain *d = op->user;
    bool all = res == 0;

    d->fetching = false;
    if (res)
        not_yet(d, "the group's offsets: %s", e && e->text[0] ? e->text : err_text(res));
    for (int i = 0; all && i < d->n_entries; i++)
        all = partition_drained(d, &d->entries[i]);
    arena_deinit(&op->arena);
    if (all && ++d->quiet == QUIET_TIMES)
        d->done = true;
    else
        env_timer_set(d->env, &d->timer, d->env->now + ENV_MS(PERIOD_MS));
}

static void add_entry(struct drain *d, const struct watch_topic *t, int32_t p)
{
    if (d->n_entries == d->cap) {
        d->cap = d->cap ? d->cap * 2 : 16;
        d->entries = realloc(d->entries, (size_t)d->cap * sizeof *d->entries);
        CHECK(d->entries);
    }
    d->entries[d->n_entries++] = (struct fetch_offset_entry){.topic = t->name, .partition = p};
}

static bool add_source(struct drain *d, struct slice declared)
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
static bool collect(struct drain *d)
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
    struct drain *d = list_entry(timer, struct drain, timer);
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
                                      .done = answered,
                                      .user = d};
    arena_init(&d->fetch.arena, 1 << 20);
    d->fetching = true;
    admin_fetch_offsets(d->client, &d->fetch);
}

void drain_start(struct drain *d)
{
    d->timer = (struct env_timer){.fire = ask};
    d->fetching = d->done = false;
    d->quiet = 0;
    env_timer_set(d->env, &d->timer, d->env->now + ENV_MS(PERIOD_MS));
}

void drain_stop(struct drain *d)
{
    if (d->fetching)
        arena_deinit(&d->fetch.arena);
    d->fetching = false;
    free(d->entries);
    d->entries = NULL;
    d->n_entries = d->cap = 0;
}

/* runtime/sim/watcher.c - lookups until every topic is there, two fetchers, and the memory of what
 * they gave. */
#include "runtime/sim/watcher.h"
#include "base/check.h"
#include "runtime/sim/disk_log.h"
#include <inttypes.h>
#include <stdlib.h>

enum { LOOKUP_MS = 200 };

void watcher_init(struct watcher *w, struct verdict *v)
{
    memset(w, 0, sizeof *w);
    w->verdict = v;
}

void watcher_add(struct watcher *w, struct slice topic)
{
    struct watch_topic *t;
    unsigned char *p;

    if (watcher_topic(w, topic))
        return;
    CHECK(w->n_topics < WATCH_TOPICS_MAX);
    p = malloc(topic.n + 1);
    CHECK(p);
    memcpy(p, topic.p, topic.n);
    t = &w->topics[w->n_topics++];
    *t = (struct watch_topic){.name = slice_of(p, topic.n), .watcher = w};
}

struct watch_topic *watcher_topic(struct watcher *w, struct slice name)
{
    for (int i = 0; i < w->n_topics; i++)
        if (slice_eq(w->topics[i].name, name))
            return &w->topics[i];
    return NULL;
}

/* ---- memory ---- */

static void make_room(struct watched *p, int64_t offset)
{
    int64_t cap = p->cap ? p->cap : 256;

    while (offset >= cap)
        cap *= 2;
    if (cap == p->cap)
        return;
    p->hash = realloc(p->hash, (size_t)cap * sizeof *p->hash);
    p->committed = realloc(p->committed, (size_t)cap);
    CHECK(p->hash);
    CHECK(p->committed);
    memset(p->hash + p->cap, 0, (size_t)(cap - p->cap) * sizeof *p->hash);
    memset(p->committed + p->cap, 0, (size_t)(cap - p->cap));
    p->cap = cap;
}

static void see(struct watcher *w, const struct fetched *r, bool committed)
{
    struct watch_topic *t = r->user;
    struct watched *p = &t->parts[r->partition];
    uint64_t h = record_hash(r->key, r->value, r->timestamp);

    CHECK(r->offset >= 0);
    make_room(p, r->offset);
    if (p->hash[r->offset] && p->hash[r->offset] != h)
        verdict_add(w->verdict, VIOLATION_OTHER,
                    "%.*s-%d@%" PRId64 ": a consumer read one record there and later another",
                    SLICE_FMT(t->name), r->partition, r->offset);
    p->hash[r->offset] = h;
    if (r->offset >= p->n)
        p->n = r->offset + 1;
    w->records++;
    if (!committed)
        return;
    p->committed[r->offset] = 1;
    if (r->offset > p->last_committed)
        p->last_committed = r->offset;
}

static void drain(struct watcher *w, struct fetcher *f, bool committed)
{
    struct fetched r;
    struct err e;
    int rc;

    for (;;) {
        e = (struct err){0};
        rc = fetcher_next(f, &r, &e);
        if (rc == 0)
            return;
        if (rc > 0)
            see(w, &r, committed);
        else if (rc == -ERR_NOT_FOUND)
            verdict_add(w->verdict, VIOLATION_LOST, "what a consumer had read is gone: %s", e.text);
        else if (rc == -ERR_CORRUPT)
            verdict_add(w->verdict, VIOLATION_OTHER, "a consumer got bad bytes: %s", e.text);
        else
            env_warn(w->env, "reading: %s", e.text);
    }
}

static void committed_ready(void *user)
{
    struct watcher *w = user;
    drain(w, w->committed, true);
}

static void plain_ready(void *user)
{
    struct watcher *w = user;
    drain(w, w->plain, false);
}

/* ---- topics ---- */

static void watch(struct watcher *w, struct watch_topic *t)
{
    for (int32_t p = 0; p < t->n_partitions; p++) {
        CHECK(fetcher_add(w->committed, t->name, p, 0, t) == 0);
        CHECK(fetcher_add(w->plain, t->name, p, 0, t) == 0);
    }
}

static void looked_up(struct topic_lookup *l, int res, const struct client_topic *ct)
{
    struct watch_topic *t = l->user;

    t->looking = false;
    if (res || ct->n_partitions <= 0)
        return; /* the timer asks again */
    CHECK(ct->n_partitions <= WATCH_PARTITIONS_MAX);
    t->n_partitions = ct->n_partitions;
    t->parts = calloc((size_t)t->n_partitions, sizeof *t->parts);
    CHECK(t->parts);
    for (int32_t p = 0; p < t->n_partitions; p++)
        t->parts[p].last_committed = -1;
    watch(t->watcher, t);
}

static void look_up(struct env_timer *timer)
{
    struct watcher *w = list_entry(timer, struct watcher, timer);
    bool missing = false;

    for (int i = 0; i < w->n_topics; i++) {
        struct watch_topic *t = &w->topics[i];
        if (t->n_partitions)
            continue;
        missing = true;
        if (t->looking)
            continue;
        t->lookup = (struct topic_lookup){
            .name = t->name, .timeout_ms = 5000, .done = looked_up, .user = t};
        t->looking = true;
        client_topic_lookup(w->client, &t->lookup);
    }
    if (missing)
        env_timer_set(w->env, &w->timer, w->env->now + ENV_MS(LOOKUP_MS));
}

void watcher_start(struct watcher *w, struct env *env, struct client *client)
{
    struct fetcher_options o = {.read_committed = true, .user = w, .ready = committed_ready};

    w->env = env;
    w->client = client;
    w->timer = (struct env_timer){.fire = look_up};
    CHECK(fetcher_open(&w->committed, client, &o) == 0);
    o.read_committed = false;
    o.ready = plain_ready;
    CHECK(fetcher_open(&w->plain, client, &o) == 0);
    for (int i = 0; i < w->n_topics; i++) {
        w->topics[i].looking = false;
        watch(w, &w->topics[i]);
    }
    look_up(&w->timer);
}

void watcher_stop(struct watcher *w)
{
    if (w->committed)
        fetcher_free(w->committed);
    if (w->plain)
        fetcher_free(w->plain);
    w->committed = w->plain = NULL;
}

void watcher_deinit(struct watcher *w)
{
    watcher_stop(w);
    for (int i = 0; i < w->n_topics; i++) {
        struct watch_topic *t = &w->topics[i];
        for (int32_t p = 0; p < t->n_partitions; p++) {
            free(t->parts[p].hash);
            free(t->parts[p].committed);
        }
        free(t->parts);
        free((void *)t->name.p);
    }
    w->n_topics = 0;
}

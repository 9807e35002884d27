/* broker/api/09_offset_fetch.c - OffsetFetch: the committed offsets of a group.
 *
 * What a transaction staged is never shown; with require_stable (v7) a partition that has such an
 * offset is UNSTABLE_OFFSET_COMMIT, and the client asks again once the markers are in. An offset
 * that is not there is -1 without an error. v2: topics null asks for all that is committed, errors
 * of the group at the top. v8: several groups. */
#include "base/check.h"
#include "broker/api/api.h"
#include "broker/group/coordinator.h"
#include "broker/group/offsets.h"

typedef struct offset_fetch_request_offset_fetch_request_group in_group;
typedef struct offset_fetch_request_offset_fetch_request_topics in_topic;
typedef struct offset_fetch_response_offset_fetch_response_group out_group;
typedef struct offset_fetch_response_offset_fetch_response_topics out_topic;
typedef struct offset_fetch_response_offset_fetch_response_partitions out_partition;

struct fetch {
    struct request *rq;
    struct slice group;
    const struct offsets *offsets; /* NULL: none */
    bool stable;
    out_group *out;
    int cap; /* of the topic being filled, when all are asked for */
    int rc;
};

static void fill(const struct fetch *f, out_partition *to, const struct offset_key *k)
{
    const struct offset_value *v = f->offsets ? offsets_get(f->offsets, k) : NULL;
    to->partition_index = k->partition;
    to->committed_offset = -1;
    to->committed_leader_epoch = -1;
    to->metadata = slice_str("");
    to->error_code = KAFKA_NONE;
    if (f->stable && f->offsets && offsets_unstable(f->offsets, k)) {
        to->error_code = KAFKA_UNSTABLE_OFFSET_COMMIT;
    } else if (v) {
        to->committed_offset = v->offset;
        to->committed_leader_epoch = v->leader_epoch;
        to->metadata = v->metadata;
    }
}

static int fetch_asked(struct fetch *f, const in_topic *topics, int n)
{
    struct arena *a = f->rq->in.arena;
    f->out->topics.v = arena_new(a, out_topic, n + 1);
    if (!f->out->topics.v)
        return -ERR_NOMEM;
    f->out->topics.n = n;
    for (int i = 0; i < n; i++) {
        out_topic *to = &f->out->topics.v[i];
        int parts = topics[i].partition_indexes.n > 0 ? topics[i].partition_indexes.n : 0;
        to->name = topics[i].name;
        to->partitions.v = arena_new(a, out_partition, parts + 1);
        if (!to->partitions.v)
            return -ERR_NOMEM;
        to->partitions.n = parts;
        for (int j = 0; j < parts; j++) {
            struct offset_key k = {f->group, topics[i].name, topics[i].partition_indexes.v[j]};
            fill(f, &to->partitions.v[j], &k);
        }
    }
    return 0;
}

/* ---- all that is committed ---- */

static void count(void *user, const struct offset_key *k, const struct offset_value *committed,
                  bool staged)
{
    *(int *)user += committed != NULL;
}

/* Offsets come topic by topic, so a topic ends where the next begins. */
static void fetch_one(void *user, const struct offset_key *k, const struct offset_value *committed,
                      bool staged)
{
    struct fetch *f = user;
    out_group *g = f->out;
    if (!committed)
        return;
    if (g->topics.n == 0 || !slice_eq(g->topics.v[g->topics.n - 1].name, k->topic)) {
        out_topic *to = &g->topics.v[g->topics.n];
        to->partitions.v = arena_new(f->rq->in.arena, out_partition, f->cap);
        if (!to->partitions.v) {
            f->rc = -ERR_NOMEM;
            return;
        }
        to->name = k->topic;
        g->topics.n++;
    }
    out_topic *t = &g->topics.v[g->topics.n - 1];
    fill(f, &t->partitions.v[t->partitions.n++], k);
}

static int fetch_all(struct fetch *f)
{
    int n = 0;
    if (f->offsets)
        offsets_each(f->offsets, f->group, count, &n);
    f->out->topics.v = arena_new(f->rq->in.arena, out_topic, n + 1);
    if (!f->out->topics.v)
        return -ERR_NOMEM;
    f->cap = n + 1;
    if (f->offsets)
        offsets_each(f->offsets, f->group, fetch_one, f);
    return f->rc;
}

static int fetch_group(struct request *rq, const in_group *g, bool stable, out_group *out)
{
    struct fetch f = {.rq = rq,
                      .group = g->group_id,
                      .offsets = group_coordinator_offsets(broker_groups(rq->broker), g->group_id),
                      .stable = stable &&
                                !MUTATED(broker_env(rq->broker)->mutations, UNSTABLE_OFFSETS),
                      .out = out};
    out->group_id = g->group_id;
    return g->topics.n < 0 ? fetch_all(&f) : fetch_asked(&f, g->topics.v, g->topics.n);
}

/* ---- versions ---- */

/* Below v8 a request is one group, in types of the same form. */
static int old_request(struct request *rq, const struct offset_fetch_request *m, in_group *g)
{
    int n = m->topics.n;
    *g = (in_group){.group_id = m->group_id};
    g->topics.n = n;
    g->topics.v = arena_new(rq->in.arena, in_topic, (n > 0 ? n : 0) + 1);
    if (!g->topics.v)
        return -ERR_NOMEM;
    for (int i = 0; i < n; i++) {
        g->topics.v[i].name = m->topics.v[i].name;
        g->topics.v[i].partition_indexes.v = m->topics.v[i].partition_indexes.v;
        g->topics.v[i].partition_indexes.n = m->topics.v[i].partition_indexes.n;
    }
    return 0;
}

static int old_response(struct request *rq, const out_group *g, struct offset_fetch_response *r)
{
    struct arena *a = rq->in.arena;
    r->topics.v =
        arena_new(a, struct offset_fetch_response_offset_fetch_response_topic, g->topics.n + 1);
    if (!r->topics.v)
        return -ERR_NOMEM;
    r->topics.n = g->topics.n;
    for (int i = 0; i < g->topics.n; i++) {
        const out_topic *from = &g->topics.v[i];
        struct offset_fetch_response_offset_fetch_response_partition *to =
            arena_new(a, struct offset_fetch_response_offset_fetch_response_partition,
                      from->partitions.n + 1);
        if (!to)
            return -ERR_NOMEM;
        r->topics.v[i].name = from->name;
        r->topics.v[i].partitions.v = to;
        r->topics.v[i].partitions.n = from->partitions.n;
        for (int j = 0; j < from->partitions.n; j++) {
            to[j].partition_index = from->partitions.v[j].partition_index;
            to[j].committed_offset = from->partitions.v[j].committed_offset;
            to[j].committed_leader_epoch = from->partitions.v[j].committed_leader_epoch;
            to[j].metadata = from->partitions.v[j].metadata;
            to[j].error_code = from->partitions.v[j].error_code;
        }
    }
    return 0;
}

static int act(struct request *rq, const struct offset_fetch_request *m,
               struct offset_fetch_response *r)
{
    if (rq->version < 8) {
        in_group g;
        out_group one = {0};
        int rc = old_request(rq, m, &g);
        rc = rc ? rc : fetch_group(rq, &g, m->require_stable, &one);
        return rc ? rc : old_response(rq, &one, r);
    }
    int n = m->groups.n > 0 ? m->groups.n : 0, rc = 0;
    r->groups.v = arena_new(rq->in.arena, out_group, n + 1);
    if (!r->groups.v)
        return -ERR_NOMEM;
    r->groups.n = n;
    for (int i = 0; rc == 0 && i < n; i++)
        rc = fetch_group(rq, &m->groups.v[i], m->require_stable, &r->groups.v[i]);
    return rc;
}

int api_offset_fetch(struct request *rq)
{
    struct offset_fetch_request m;
    struct offset_fetch_response r;
    int rc = offset_fetch_request_decode(&m, &rq->in, rq->version);
    offset_fetch_response_init(&r);
    rc = rc ? rc : act(rq, &m, &r);
    if (rc)
        return rc;
    reply_begin(rq);
    rc = offset_fetch_response_encode(&r, &rq->out, rq->version);
    if (rc == 0)
        reply_end(rq);
    return rc;
}

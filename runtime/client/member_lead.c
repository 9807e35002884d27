/* runtime/client/member_lead.c - the leader's part: from the members' subscriptions to their
 * assignments.
 *
 * Happy path: subscriptions are decoded, every topic is looked up, the range assignor deals the
 * partitions out, each member's share is encoded, SyncGroup carries them. A topic that does not
 * exist has nothing to deal out; a subscription that does not decode gets nothing. */
#include "runtime/client/member_internal.h"

enum {
    LEAD_ARENA_MAX = 64 << 20,
    SUBSCRIPTION_VERSION = 1,
    SUBSCRIPTION_VERSION_MAX = 3,
    ASSIGNMENT_VERSION = 1,
    LOOKUP_MS = 5000
};

void lead_init(struct member *m)
{
    arena_init(&m->lead.arena, LEAD_ARENA_MAX);
    buf_init(&m->lead.bytes, LEAD_ARENA_MAX);
}

void lead_reset(struct member *m)
{
    struct lead *l = &m->lead;

    for (int i = 0; i < l->n_topics && l->lookups; i++)
        client_topic_cancel(m->client, &l->lookups[i]);
    l->n = l->n_topics = l->n_open = 0;
    l->v = NULL;
    l->topics = NULL;
    l->lookups = NULL;
    arena_reset(&l->arena);
    buf_reset(&l->bytes);
}

void lead_deinit(struct member *m)
{
    lead_reset(m);
    arena_deinit(&m->lead.arena);
    buf_deinit(&m->lead.bytes);
}

int lead_put_subscription(struct member *m, struct buf *out)
{
    struct consumer_protocol_subscription s;
    int rc = wire_put_i16(out, SUBSCRIPTION_VERSION);

    consumer_protocol_subscription_init(&s);
    s.topics.v = m->topics;
    s.topics.n = m->opt.n_topics;
    return rc ? rc : consumer_protocol_subscription_encode(&s, out, SUBSCRIPTION_VERSION);
}

/* ---- what the members want ---- */

static int take_member(struct lead *l, struct lead_member *to,
                       const struct join_group_response_join_group_response_member *from)
{
    struct slice copy = arena_copy(&l->arena, from->metadata);
    struct wire_in in = {copy.p, copy.n, &l->arena};
    struct consumer_protocol_subscription s;
    int16_t version;

    to->m.id = arena_copy(&l->arena, from->member_id);
    to->m.instance = arena_copy(&l->arena, from->group_instance_id);
    if (!to->m.id.p)
        return -ERR_NOMEM;
    if (wire_get_i16(&in, &version) || version < 0)
        return -ERR_INVALID;
    if (version > SUBSCRIPTION_VERSION_MAX)
        version = SUBSCRIPTION_VERSION_MAX;
    if (consumer_protocol_subscription_decode(&s, &in, version))
        return -ERR_INVALID;
    to->m.topics = s.topics.v;
    to->m.n_topics = s.topics.n > 0 ? s.topics.n : 0;
    return 0;
}

static bool known(const struct lead *l, struct slice topic)
{
    for (int i = 0; i < l->n_topics; i++)
        if (slice_eq(l->topics[i], topic))
            return true;
    return false;
}

/* All topics anybody wants, sorted. */
static int union_of_topics(struct lead *l)
{
    int max = 0;

    for (int i = 0; i < l->n; i++)
        max += l->v[i].m.n_topics;
    l->topics = arena_new(&l->arena, struct slice, max + 1);
    if (!l->topics)
        return -ERR_NOMEM;
    for (int i = 0; i < l->n; i++) {
        for (int j = 0; j < l->v[i].m.n_topics; j++) {
            struct slice t = l->v[i].m.topics[j];
            int at = l->n_topics;
            if (known(l, t))
                continue;
            for (; at > 0 && slice_cmp(l->topics[at - 1], t) > 0; at--)
                l->topics[at] = l->topics[at - 1];
            l->topics[at] = t;
            l->n_topics++;
        }
    }
    return 0;
}

/* ---- dealing out ---- */

struct deal {
    int member, topic;
    int32_t partition;
};
struct deals {
    struct deal *v;
    int n, cap;
};

static void dealt(void *user, int member, int topic, int32_t partition)
{
    struct deals *d = user;

    CHECK(d->n < d->cap);
    d->v[d->n++] = (struct deal){member, topic, partition};
}

/* The share of one member; the deals come topic by topic, partitions ascending. */
static int put_share(struct lead *l, int member, const struct deals *d)
{
    struct consumer_protocol_assignment a;
    struct consumer_protocol_assignment_topic_partition *t;
    int32_t *parts = arena_new(&l->arena, int32_t, d->n + 1);
    int rc, n = 0, n_topics = 0, topic = -1;

    t = arena_new(&l->arena, struct consumer_protocol_assignment_topic_partition, l->n_topics + 1);
    if (!parts || !t)
        return -ERR_NOMEM;
    consumer_protocol_assignment_init(&a);
    for (int i = 0; i < d->n; i++) {
        if (d->v[i].member != member)
            continue;
        if (d->v[i].topic != topic) {
            topic = d->v[i].topic;
            consumer_protocol_assignment_topic_partition_init(&t[n_topics]);
            t[n_topics].topic = l->topics[topic];
            t[n_topics++].partitions.v = parts + n;
        }
        parts[n++] = d->v[i].partition;
        t[n_topics - 1].partitions.n++;
    }
    a.assigned_partitions.v = t;
    a.assigned_partitions.n = n_topics;
    l->v[member].at = l->bytes.n;
    rc = wire_put_i16(&l->bytes, ASSIGNMENT_VERSION);
    if (!rc)
        rc = consumer_protocol_assignment_encode(&a, &l->bytes, ASSIGNMENT_VERSION);
    l->v[member].assignment.n = l->bytes.n - l->v[member].at;
    return rc;
}

static int deal_out(struct member *m)
{
    struct lead *l = &m->lead;
    struct assign_topic *topics = arena_new(&l->arena, struct assign_topic, l->n_topics + 1);
    struct assign_member *members = arena_new(&l->arena, struct assign_member, l->n + 1);
    struct deals d = {0};
    int rc;

    if (!topics || !members)
        return -ERR_NOMEM;
    for (int i = 0; i < l->n_topics; i++) {
        const struct client_topic *t = client_topic(m->client, l->topics[i]);
        topics[i] = (struct assign_topic){l->topics[i], t ? t->n_partitions : 0};
        if (topics[i].n_partitions > 0)
            d.cap += topics[i].n_partitions;
        else
            env_warn(m->client->env, "member: topic \"%.*s\" does not exist",
                     SLICE_FMT(l->topics[i]));
    }
    for (int i = 0; i < l->n; i++)
        members[i] = l->v[i].m;
    d.v = arena_new(&l->arena, struct deal, d.cap + 1);
    if (!d.v)
        return -ERR_NOMEM;
    rc = assign_range(members, l->n, topics, l->n_topics, dealt, &d);
    for (int i = 0; !rc && i < l->n; i++)
        rc = put_share(l, i, &d);
    for (int i = 0; !rc && i < l->n; i++)
        l->v[i].assignment.p = l->bytes.p + l->v[i].at;
    return rc;
}

static void finish(struct member *m)
{
    int rc = deal_out(m);

    if (!rc) {
        member_sync(m);
        return;
    }
    env_warn(m->client->env, "member: no assignment made: %s", err_text(rc));
    member_rejoin_later(m);
}

static void looked_up(struct topic_lookup *k, int res, const struct client_topic *t)
{
    struct member *m = k->user;

    if (--m->lead.n_open > 0 || m->state != MEMBER_LEADING)
        return;
    finish(m);
}

int lead_start(struct member *m, const struct join_group_response *r)
{
    struct lead *l = &m->lead;
    int rc;

    lead_reset(m);
    l->v = arena_new(&l->arena, struct lead_member, r->members.n + 1);
    if (!l->v)
        return -ERR_NOMEM;
    for (int32_t i = 0; i < r->members.n; i++) {
        rc = take_member(l, &l->v[i], &r->members.v[i]);
        if (rc == -ERR_NOMEM)
            return rc;
        if (rc)
            env_warn(m->client->env, "member: unreadable subscription of \"%.*s\"",
                     SLICE_FMT(r->members.v[i].member_id));
        l->n++;
    }
    rc = union_of_topics(l);
    if (rc)
        return rc;
    l->lookups = arena_new(&l->arena, struct topic_lookup, l->n_topics + 1);
    if (!l->lookups)
        return -ERR_NOMEM;
    m->state = MEMBER_LEADING;
    l->n_open = l->n_topics;
    for (int i = 0; i < l->n_topics; i++) {
        l->lookups[i] = (struct topic_lookup){
            .name = l->topics[i], .timeout_ms = LOOKUP_MS, .done = looked_up, .user = m};
        client_topic_lookup(m->client, &l->lookups[i]);
    }
    if (l->n_topics == 0)
        finish(m);
    return 0;
}

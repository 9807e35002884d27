/* broker/group/group_member.c - the members of a group: what they own, and what they have in
 * common.
 *
 * Each function that needs memory takes it before it changes anything, so that a failure leaves the
 * group as it was and the request is refused. */
#include "broker/group/group_impl.h"
#include <stdlib.h>

struct slice group_copy(struct slice s, bool *ok)
{
    if (!s.p)
        return SLICE_NULL;
    unsigned char *p = malloc(s.n + 1);
    if (!p) {
        *ok = false;
        return SLICE_NULL;
    }
    if (s.n)
        memcpy(p, s.p, s.n);
    p[s.n] = 0;
    return slice_of(p, s.n);
}

void group_slice_free(struct slice *s)
{
    free((void *)s->p);
    *s = SLICE_NULL;
}

bool group_slice_set(struct slice *to, struct slice s)
{
    bool ok = true;
    struct slice copy = group_copy(s, &ok);
    if (!ok)
        return false;
    group_slice_free(to);
    *to = copy;
    return true;
}

static void protocols_free(struct group_protocol *v, int n)
{
    for (int i = 0; i < n; i++) {
        group_slice_free(&v[i].name);
        group_slice_free(&v[i].metadata);
    }
    free(v);
}

static struct group_protocol *protocols_copy(const struct group_protocol *from, int n)
{
    struct group_protocol *v = calloc((size_t)n + 1, sizeof *v);
    bool ok = v != NULL;
    for (int i = 0; ok && i < n; i++) {
        v[i].name = group_copy(from[i].name, &ok);
        v[i].metadata = group_copy(from[i].metadata, &ok);
    }
    if (ok)
        return v;
    if (v)
        protocols_free(v, n);
    return NULL;
}

static void member_free(struct group_member *m)
{
    group_slice_free(&m->id);
    group_slice_free(&m->instance);
    group_slice_free(&m->client_id);
    group_slice_free(&m->client_host);
    group_slice_free(&m->assignment);
    protocols_free(m->protocols, m->n_protocols);
    free(m);
}

struct group_member *group_member_add(struct group *g, const struct group_event *ev,
                                      struct slice id)
{
    struct group_member *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    bool ok = true;
    m->id = group_copy(id, &ok);
    m->instance = group_copy(ev->instance, &ok);
    m->client_id = group_copy(ev->client_id.p ? ev->client_id : slice_str(""), &ok);
    m->client_host = group_copy(ev->client_host.p ? ev->client_host : slice_str(""), &ok);
    m->assignment = group_copy(slice_str(""), &ok);
    m->due = UINT64_MAX;
    ok = ok && group_member_update(m, ev) && map_put(&g->members, m->id, m) == 0;
    if (ok && m->instance.p && map_put(&g->instances, m->instance, m) != 0) {
        map_del(&g->members, m->id);
        ok = false;
    }
    if (ok)
        return m;
    member_free(m);
    return NULL;
}

bool group_member_update(struct group_member *m, const struct group_event *ev)
{
    struct group_protocol *v = protocols_copy(ev->protocols, ev->n_protocols);
    if (!v)
        return false;
    protocols_free(m->protocols, m->n_protocols);
    m->protocols = v;
    m->n_protocols = ev->n_protocols;
    m->session_ms = ev->session_ms;
    m->rebalance_ms = ev->rebalance_ms;
    m->skip = ev->can_skip;
    return true;
}

bool group_member_rename(struct group *g, struct group_member *m, struct slice id)
{
    bool ok = true;
    struct slice copy = group_copy(id, &ok);
    if (!ok || map_put(&g->members, copy, m) != 0) {
        group_slice_free(&copy);
        return false;
    }
    map_del(&g->members, m->id);
    group_slice_free(&g->old_id);
    g->old_id = m->id;
    m->id = copy;
    return true;
}

void group_member_remove(struct group *g, struct group_member *m)
{
    map_del(&g->members, m->id);
    if (m->instance.p)
        map_del(&g->instances, m->instance);
    if (g->save_for == m)
        g->save_for = NULL;
    if (g->leader == m) {
        uint32_t it = 0;
        struct map_entry *e = map_next(&g->members, &it);
        g->leader = e ? e->value : NULL;
    }
    m->next_gone = g->gone;
    g->gone = m;
}

void group_gone_free(struct group *g)
{
    while (g->gone) {
        struct group_member *m = g->gone;
        g->gone = m->next_gone;
        member_free(m);
    }
}

bool group_member_same(const struct group_member *m, const struct group_event *ev)
{
    if (m->n_protocols != ev->n_protocols)
        return false;
    for (int i = 0; i < m->n_protocols; i++)
        if (!slice_eq(m->protocols[i].name, ev->protocols[i].name) ||
            !slice_eq(m->protocols[i].metadata, ev->protocols[i].metadata))
            return false;
    return true;
}

static bool member_lists(const struct group_member *m, struct slice name)
{
    for (int i = 0; i < m->n_protocols; i++)
        if (slice_eq(m->protocols[i].name, name))
            return true;
    return false;
}

static bool all_list(const struct group *g, struct slice name, const struct group_member *but)
{
    MAP_EACH (e, &g->members)
        if (e->value != but && !member_lists(e->value, name))
            return false;
    return true;
}

bool group_protocols_fit(const struct group *g, const struct group_event *ev,
                         const struct group_member *but)
{
    if (ev->protocol_type.n == 0 || ev->n_protocols == 0)
        return false;
    if (g->members.n == 0)
        return true;
    if (!g->protocol_type.p || !slice_eq(g->protocol_type, ev->protocol_type))
        return false;
    for (int i = 0; i < ev->n_protocols; i++)
        if (all_list(g, ev->protocols[i].name, but))
            return true;
    return false;
}

/* The first protocol of m that all have; -1 if there is none. */
static int vote(const struct group *g, const struct group_member *m)
{
    for (int i = 0; i < m->n_protocols; i++)
        if (all_list(g, m->protocols[i].name, NULL))
            return i;
    return -1;
}

struct slice group_protocol_pick(const struct group *g)
{
    struct slice best = SLICE_NULL;
    uint32_t best_n = 0;
    uint32_t it = 0;
    struct map_entry *first = map_next(&g->members, &it);
    if (!first)
        return best;
    /* All candidates are in every member's list, so the first member's list holds them all. */
    const struct group_member *one = first->value;
    for (int i = 0; i < one->n_protocols; i++) {
        if (!all_list(g, one->protocols[i].name, NULL))
            continue;
        uint32_t n = 0;
        MAP_EACH (e, &g->members) {
            const struct group_member *m = e->value;
            int v = vote(g, m);
            n += v >= 0 && slice_eq(m->protocols[v].name, one->protocols[i].name);
        }
        if (!best.p || n > best_n) {
            best = one->protocols[i].name;
            best_n = n;
        }
    }
    return best;
}

uint64_t group_rebalance_ns(const struct group *g)
{
    uint64_t max = 0;
    MAP_EACH (e, &g->members) {
        const struct group_member *m = e->value;
        uint64_t ms = m->rebalance_ms > 0 ? (uint64_t)m->rebalance_ms : 0;
        max = ms > max ? ms : max;
    }
    return max * GROUP_MS;
}

uint32_t group_joined(const struct group *g)
{
    uint32_t n = 0;
    MAP_EACH (e, &g->members)
        n += ((struct group_member *)e->value)->join_token != 0;
    return n;
}

void group_pending_remove(struct group *g, struct slice id)
{
    free(map_del(&g->pending, id));
}

struct slice group_member_metadata(const struct group_member *m, struct slice protocol)
{
    for (int i = 0; i < m->n_protocols; i++)
        if (slice_eq(m->protocols[i].name, protocol))
            return m->protocols[i].metadata;
    return slice_str("");
}

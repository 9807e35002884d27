/* broker/group/offsets.c - maps group -> topic -> partition of cells, and per producer a list of
 * what it staged. A cell counts how many staged offsets name it, so that "unstable" is one look-up;
 * a cell lives while it is committed or counted. */
#include "broker/group/offsets.h"
#include "base/check.h"
#include "base/err.h"
#include "base/list.h"
#include <stdlib.h>

struct offsets_group {
    struct map topics; /* name -> struct offsets_topic */
};
struct offsets_topic {
    struct idmap cells; /* partition -> struct cell */
};
struct cell {
    struct offset_value value; /* if committed */
    bool committed;
    struct list staged; /* struct staged.in_cell: one a producer at most */
};
struct staged {
    struct list in_txn, in_cell;
    int64_t producer_id;
    struct offset_value value;
    struct slice group, topic; /* owned */
    int32_t partition;
};
struct offsets_txn {
    struct list staged; /* struct staged.in_txn, in log order */
};

static bool copy(struct slice *to, struct slice s)
{
    unsigned char *p = malloc(s.n + 1);
    if (!p)
        return false;
    if (s.n)
        memcpy(p, s.p, s.n);
    p[s.n] = 0;
    *to = slice_of(p, s.n);
    return true;
}

static void drop(struct slice *s)
{
    free((void *)s->p);
    *s = SLICE_NULL;
}

void offsets_init(struct offsets *o)
{
    map_init(&o->groups);
    idmap_init(&o->pending);
}

/* ---- cells ---- */

static struct cell *cell_find(const struct offsets *o, const struct offset_key *k)
{
    struct offsets_group *g = map_get(&o->groups, k->group);
    struct offsets_topic *t = g ? map_get(&g->topics, k->topic) : NULL;
    return t ? idmap_get(&t->cells, (uint32_t)k->partition) : NULL;
}

/* Takes away what holds nothing, from the cell up to the group. */
static void prune(struct offsets *o, const struct offset_key *k)
{
    struct offsets_group *g = map_get(&o->groups, k->group);
    struct offsets_topic *t = g ? map_get(&g->topics, k->topic) : NULL;
    struct cell *c = t ? idmap_get(&t->cells, (uint32_t)k->partition) : NULL;
    if (c && !c->committed && list_empty(&c->staged)) {
        idmap_del(&t->cells, (uint32_t)k->partition);
        free(c);
    }
    if (t && t->cells.m.n == 0) {
        map_del(&g->topics, k->topic);
        idmap_deinit(&t->cells);
        free(t);
    }
    if (g && g->topics.n == 0) {
        map_del(&o->groups, k->group);
        map_deinit(&g->topics);
        free(g);
    }
}

static struct offsets_topic *topic_make(struct offsets *o, const struct offset_key *k)
{
    struct offsets_group *g = map_get(&o->groups, k->group);
    if (!g) {
        g = calloc(1, sizeof *g);
        if (!g || map_put(&o->groups, k->group, g) != 0) {
            free(g);
            return NULL;
        }
        map_init(&g->topics);
    }
    struct offsets_topic *t = map_get(&g->topics, k->topic);
    if (!t) {
        t = calloc(1, sizeof *t);
        if (!t || map_put(&g->topics, k->topic, t) != 0) {
            free(t);
            return NULL;
        }
        idmap_init(&t->cells);
    }
    return t;
}

/* The key's cell, made if need be; NULL: no memory, nothing left behind. */
static struct cell *cell_make(struct offsets *o, const struct offset_key *k)
{
    struct offsets_topic *t = topic_make(o, k);
    struct cell *c = t ? idmap_get(&t->cells, (uint32_t)k->partition) : NULL;
    if (c)
        return c;
    c = t ? calloc(1, sizeof *c) : NULL;
    if (!c || idmap_put(&t->cells, (uint32_t)k->partition, c) != 0) {
        free(c);
        prune(o, k);
        return NULL;
    }
    list_init(&c->staged);
    return c;
}

static void cell_set(struct cell *c, struct offset_value *take)
{
    if (c->committed)
        drop(&c->value.metadata);
    c->value = *take;
    c->committed = true;
}

/* ---- what is staged ---- */

static void staged_free(struct staged *s)
{
    list_remove(&s->in_txn);
    list_remove(&s->in_cell);
    drop(&s->value.metadata);
    drop(&s->group);
    drop(&s->topic);
    free(s);
}

static void txn_prune(struct offsets *o, int64_t producer_id)
{
    struct offsets_txn *t = idmap_get(&o->pending, (uint64_t)producer_id);
    if (t && list_empty(&t->staged)) {
        idmap_del(&o->pending, (uint64_t)producer_id);
        free(t);
    }
}

static struct offsets_txn *txn_make(struct offsets *o, int64_t producer_id)
{
    struct offsets_txn *t = idmap_get(&o->pending, (uint64_t)producer_id);
    if (t)
        return t;
    t = calloc(1, sizeof *t);
    if (!t || idmap_put(&o->pending, (uint64_t)producer_id, t) != 0) {
        free(t);
        return NULL;
    }
    list_init(&t->staged);
    return t;
}

static struct staged *staged_find(const struct cell *c, int64_t producer_id)
{
    LIST_EACH (it, &c->staged) {
        struct staged *s = list_entry(it, struct staged, in_cell);
        if (s->producer_id == producer_id)
            return s;
    }
    return NULL;
}

/* take is owned by o afterwards, on success. */
static int stage(struct offsets *o, int64_t producer_id, const struct offset_key *k, struct cell *c,
                 struct offset_value *take)
{
    struct staged *s = staged_find(c, producer_id);
    if (s) {
        drop(&s->value.metadata);
        s->value = *take;
        return 0;
    }
    s = calloc(1, sizeof *s);
    struct offsets_txn *t = s ? txn_make(o, producer_id) : NULL;
    if (!t || !copy(&s->group, k->group) || !copy(&s->topic, k->topic)) {
        if (s)
            staged_free(s);
        txn_prune(o, producer_id);
        return -ERR_NOMEM;
    }
    s->producer_id = producer_id;
    s->partition = k->partition;
    s->value = *take;
    list_push(&t->staged, &s->in_txn);
    list_push(&c->staged, &s->in_cell);
    return 0;
}

void offsets_deinit(struct offsets *o)
{
    MAP_EACH (e, &o->pending.m) {
        struct offsets_txn *t = e->value;
        LIST_EACH_SAFE (it, tmp, &t->staged)
            staged_free(list_entry(it, struct staged, in_txn));
        free(t);
    }
    idmap_deinit(&o->pending);
    MAP_EACH (eg, &o->groups) {
        struct offsets_group *g = eg->value;
        MAP_EACH (et, &g->topics) {
            struct offsets_topic *t = et->value;
            MAP_EACH (ec, &t->cells.m) {
                struct cell *c = ec->value;
                drop(&c->value.metadata);
                free(c);
            }
            idmap_deinit(&t->cells);
            free(t);
        }
        map_deinit(&g->topics);
        free(g);
    }
    map_deinit(&o->groups);
}

/* ---- records ---- */

int offsets_put(struct offsets *o, int64_t producer_id, const struct offset_key *k,
                const struct offset_value *v)
{
    struct offset_value own = *v;
    if (!copy(&own.metadata, v->metadata))
        return -ERR_NOMEM;
    struct cell *c = cell_make(o, k);
    if (!c) {
        drop(&own.metadata);
        return -ERR_NOMEM;
    }
    if (producer_id < 0) {
        cell_set(c, &own);
        return 0;
    }
    int rc = stage(o, producer_id, k, c, &own);
    if (rc) {
        drop(&own.metadata);
        prune(o, k);
    }
    return rc;
}

void offsets_remove(struct offsets *o, const struct offset_key *k)
{
    struct cell *c = cell_find(o, k);
    if (!c)
        return;
    if (c->committed)
        drop(&c->value.metadata);
    c->committed = false;
    LIST_EACH_SAFE (it, tmp, &c->staged) {
        struct staged *s = list_entry(it, struct staged, in_cell);
        int64_t producer_id = s->producer_id;
        staged_free(s);
        txn_prune(o, producer_id);
    }
    prune(o, k);
}

void offsets_marker(struct offsets *o, int64_t producer_id, bool commit)
{
    struct offsets_txn *t = idmap_get(&o->pending, (uint64_t)producer_id);
    if (!t)
        return;
    while (!list_empty(&t->staged)) {
        struct staged *s = list_entry(t->staged.next, struct staged, in_txn);
        struct offset_key k = {s->group, s->topic, s->partition};
        struct cell *c = cell_find(o, &k);
        CHECK(c);
        if (commit && (!c->committed || s->value.record_offset > c->value.record_offset)) {
            cell_set(c, &s->value);
            s->value.metadata = SLICE_NULL;
        }
        list_remove(&s->in_cell);
        prune(o, &k);
        staged_free(s);
    }
    txn_prune(o, producer_id);
}

/* ---- questions ---- */

const struct offset_value *offsets_get(const struct offsets *o, const struct offset_key *k)
{
    const struct cell *c = cell_find(o, k);
    return c && c->committed ? &c->value : NULL;
}

bool offsets_unstable(const struct offsets *o, const struct offset_key *k)
{
    const struct cell *c = cell_find(o, k);
    return c && !list_empty(&c->staged);
}

bool offsets_has_group(const struct offsets *o, struct slice group)
{
    return map_get(&o->groups, group) != NULL;
}

uint32_t offsets_pending_producers(const struct offsets *o)
{
    return o->pending.m.n;
}

void offsets_each(const struct offsets *o, struct slice group, offsets_each_fn each, void *user)
{
    const struct offsets_group *g = map_get(&o->groups, group);
    if (!g)
        return;
    MAP_EACH (et, &g->topics) {
        const struct offsets_topic *t = et->value;
        MAP_EACH (ec, &t->cells.m) {
            const struct cell *c = ec->value;
            struct offset_key k = {group, et->key, (int32_t)(uint32_t)idmap_key(ec)};
            each(user, &k, c->committed ? &c->value : NULL, !list_empty(&c->staged));
        }
    }
}

void offsets_each_group(const struct offsets *o, void (*each)(void *user, struct slice group),
                        void *user)
{
    MAP_EACH (e, &o->groups)
        each(user, e->key);
}

bool offsets_expired(const struct offsets_expiry *x, const struct offset_key *k,
                     const struct offset_value *committed, bool staged)
{
    if (!committed || staged)
        return false;
    if (x->subscribed && x->subscribed(x->user, k->topic))
        return false;
    if (committed->expire_ms >= 0)
        return x->now_ms >= committed->expire_ms;
    int64_t since = x->since_ms > committed->commit_ms ? x->since_ms : committed->commit_ms;
    return x->now_ms - since >= x->retention_ms;
}

/* broker/group_records.c - the coordinator's side of `__consumer_offsets`: what it writes and
 * reads.
 *
 * Writing: records into one batch, partition_append, and the batch comes back by
 * group_coordinator_staged, as a transaction's batches and markers do; that is where offsets
 * change. Group metadata is read at replay alone: live, the group is ahead of its record.
 *
 * Failure modes: an append refused (disk full, too much in flight) is told in the terms that
 * clients of OffsetCommit and SyncGroup know, and all of those are retried by them. */
#include "broker/group_coordinator_impl.h"
#include "base/check.h"
#include "broker/group/records.h"
#include <stdlib.h>

/* ---- stores ---- */

static struct offsets *store_of(struct group_coordinator *gc, int32_t partition, bool create)
{
    struct offsets *o = idmap_get(&gc->stores, (uint32_t)partition);
    if (o || !create)
        return o;
    o = calloc(1, sizeof *o);
    if (!o)
        return NULL;
    offsets_init(o);
    if (idmap_put(&gc->stores, (uint32_t)partition, o) == 0)
        return o;
    free(o);
    return NULL;
}

static struct partition *partition_of(struct group_coordinator *gc, struct slice group)
{
    struct topic *t = broker_topic(gc->b, slice_str(GROUP_TOPIC));
    if (!t || t->n_partitions < 1)
        return NULL;
    return t->partitions[java_partition(group, t->n_partitions)];
}

struct offsets *group_store(struct group_coordinator *gc, struct slice group, bool create)
{
    const struct partition *p = partition_of(gc, group);
    return p ? store_of(gc, p->index, create) : NULL;
}

void group_stores_free(struct group_coordinator *gc)
{
    MAP_EACH (e, &gc->stores.m) {
        offsets_deinit(e->value);
        free(e->value);
    }
    idmap_deinit(&gc->stores);
}

struct partition *group_coordinator_partition(struct group_coordinator *gc, struct slice group)
{
    if (!broker_internal_topic(gc->b, GROUP_TOPIC, gc->n_partitions))
        return NULL;
    return partition_of(gc, group);
}

const struct offsets *group_coordinator_offsets(struct group_coordinator *gc, struct slice group)
{
    return group_store(gc, group, false);
}

bool group_offsets_unstable(struct group_coordinator *gc, struct slice group, struct slice topic,
                            int32_t partition)
{
    const struct offsets *o = group_store(gc, group, false);
    struct offset_key k = {group, topic, partition};
    return o && offsets_unstable(o, &k);
}

/* ---- reading ---- */

struct reading {
    struct group_coordinator *gc;
    struct offsets *store;
    bool replay;
};

static int read_offset(void *user, int64_t producer_id, const struct offset_key *k,
                       const struct offset_value *value)
{
    struct reading *r = user;
    if (value)
        return offsets_put(r->store, producer_id, k, value);
    offsets_remove(r->store, k);
    return 0;
}

static int read_marker(void *user, int64_t producer_id, bool commit)
{
    struct reading *r = user;
    offsets_marker(r->store, producer_id, commit);
    return 0;
}

static int read_group(void *user, struct slice name, const struct group_metadata_value *value)
{
    struct reading *r = user;
    struct group_coordinator *gc = r->gc;
    if (!r->replay)
        return 0;
    struct group_entry *e = group_entry_get(gc, name, value != NULL);
    if (!value) {
        if (e)
            group_entry_remove(gc, e);
        return 0;
    }
    if (!e)
        return -ERR_NOMEM;
    gc->loaded = true;
    env_task_add(gc->env, &gc->started);
    int rc = record_load_group(&e->g, value);
    if (rc == -ERR_INVALID) {
        env_warn(gc->env, "group %.*s: its record contradicts itself; reloaded without members",
                 SLICE_FMT(name));
        rc = 0;
    }
    return rc;
}

static int read_batch(struct group_coordinator *gc, const struct partition *p, struct slice batch,
                      bool replay)
{
    struct reading r = {.gc = gc, .store = store_of(gc, p->index, true), .replay = replay};
    struct record_visitor v = {
        .user = &r, .offset = read_offset, .group = read_group, .marker = read_marker};
    if (!r.store)
        return -ERR_NOMEM;
    return record_read_batch(batch, &gc->read_scratch, &gc->read_arena, &v);
}

int group_coordinator_replay(struct group_coordinator *gc, struct partition *p,
                             const struct batch_info *info, struct slice batch)
{
    return read_batch(gc, p, batch, true);
}

void group_coordinator_staged(struct group_coordinator *gc, struct partition *p,
                              const struct batch_info *info, struct slice batch)
{
    int rc = read_batch(gc, p, batch, false);
    /* The log is ahead of memory now, and memory cannot follow: only a restart puts that right. */
    if (rc) {
        env_error(gc->env, "%s-%d: the batch at %lld cannot be applied: %s", GROUP_TOPIC, p->index,
                  (long long)info->base_offset, err_text(rc));
        env_halt(gc->env, "group offsets differ from their log");
    }
}

/* ---- writing ---- */

static int batch_open(struct group_coordinator *gc, struct batch_writer *w, bool transactional)
{
    struct batch_writer_options o = {.leader_epoch = -1,
                                     .attributes = transactional ? BATCH_TRANSACTIONAL : 0};
    buf_reset(&gc->batch);
    gc->batch.failed = 0;
    gc->write_scratch.failed = 0;
    return batch_writer_begin(w, &gc->batch, &o);
}

/* The coordinator writes 0 as base sequence, with and without a producer. */
static enum kafka_error batch_append(struct group_coordinator *gc, struct batch_writer *w,
                                     struct partition *p, int64_t producer_id, int16_t epoch,
                                     const struct plug_request *rq)
{
    struct plug_request ours = {.origin = PLUG_COORDINATOR};
    struct batch_info info;
    int64_t base_offset;
    bool duplicate = false, busy = false;
    if (batch_writer_finish(w, producer_id, epoch, 0))
        return KAFKA_INVALID_COMMIT_OFFSET_SIZE;
    struct span bytes = {gc->batch.p, gc->batch.n};
    int rc = batch_header(buf_slice(&gc->batch), &info);
    CHECK(rc == 0);
    enum kafka_error error = partition_append(gc->b, p, NULL, bytes, &info, rq ? rq : &ours,
                                              &base_offset, &duplicate, &busy);
    return busy && error == KAFKA_NONE ? KAFKA_REQUEST_TIMED_OUT : error;
}

/* An append's refusal as clients of the coordinator know it. */
static enum kafka_error told(enum kafka_error error)
{
    switch (error) {
    case KAFKA_REQUEST_TIMED_OUT:
    case KAFKA_KAFKA_STORAGE_ERROR:
    case KAFKA_UNKNOWN_TOPIC_OR_PARTITION:
    case KAFKA_NOT_ENOUGH_REPLICAS: return KAFKA_COORDINATOR_NOT_AVAILABLE;
    case KAFKA_MESSAGE_TOO_LARGE:
    case KAFKA_RECORD_LIST_TOO_LARGE: return KAFKA_INVALID_COMMIT_OFFSET_SIZE;
    default: return error;
    }
}

enum kafka_error group_write(struct group_coordinator *gc, const struct group *g)
{
    struct partition *p = group_coordinator_partition(gc, g->id);
    struct batch_writer w;
    if (!p || batch_open(gc, &w, false))
        return KAFKA_COORDINATOR_NOT_AVAILABLE;
    arena_reset(&gc->write_arena);
    int rc = record_put_group(&w, &gc->write_scratch, &gc->write_arena, g, env_wall_ms(gc->env));
    if (rc)
        return rc == -ERR_NOMEM ? KAFKA_COORDINATOR_NOT_AVAILABLE : KAFKA_UNKNOWN_SERVER_ERROR;
    enum kafka_error error = told(batch_append(gc, &w, p, -1, -1, NULL));
    if (error != KAFKA_NONE)
        env_warn(gc->env, "group %.*s: its record was not written: %s", SLICE_FMT(g->id),
                 kafka_error_name(error));
    return error;
}

/* As Java counts: UTF-16 units. */
static int64_t text_length(struct slice s)
{
    int64_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += ((s.p[i] & 0xc0) != 0x80) + (s.p[i] >= 0xf0);
    return n;
}

static enum kafka_error commit_check(struct group_coordinator *gc,
                                     const struct group_commit_offset *c)
{
    if (!broker_partition(gc->b, c->topic, c->partition))
        return KAFKA_UNKNOWN_TOPIC_OR_PARTITION;
    if (text_length(c->metadata) > gc->metadata_max)
        return KAFKA_OFFSET_METADATA_TOO_LARGE;
    return KAFKA_NONE;
}

static void commit_fail(struct group_commit *c, enum kafka_error error)
{
    for (int i = 0; i < c->n; i++)
        if (c->v[i].error == KAFKA_NONE)
            c->v[i].error = error;
}

/* Those that pass the checks, into the open batch: how many, or negative. */
static int commit_put(struct group_coordinator *gc, struct group_commit *c, struct batch_writer *w)
{
    int64_t now_ms = env_wall_ms(gc->env);
    int n = 0;
    for (int i = 0; i < c->n; i++) {
        struct group_commit_offset *o = &c->v[i];
        o->error = commit_check(gc, o);
        if (o->error != KAFKA_NONE)
            continue;
        struct offset_key k = {c->group, o->topic, o->partition};
        struct offset_value v = {
            .offset = o->offset,
            .leader_epoch = o->leader_epoch,
            .metadata = o->metadata,
            .commit_ms = now_ms,
            .expire_ms = c->retention_ms >= 0 && c->retention_ms < INT64_MAX - now_ms
                             ? now_ms + c->retention_ms
                             : -1,
        };
        int rc = record_put_offset(w, &gc->write_scratch, &k, &v, now_ms);
        if (rc)
            return rc;
        n++;
    }
    return n;
}

int group_coordinator_commit(struct group_coordinator *gc, struct group_commit *c)
{
    struct partition *p = group_coordinator_partition(gc, c->group);
    struct batch_writer w;
    bool transactional = c->producer_id >= 0;
    for (int i = 0; i < c->n; i++)
        c->v[i].error = KAFKA_NONE;
    if (!p || batch_open(gc, &w, transactional)) {
        commit_fail(c, KAFKA_COORDINATOR_NOT_AVAILABLE);
        return 0;
    }
    int n = commit_put(gc, c, &w);
    if (n < 0)
        commit_fail(c, n == -ERR_NOMEM ? KAFKA_COORDINATOR_NOT_AVAILABLE
                                       : KAFKA_INVALID_COMMIT_OFFSET_SIZE);
    if (n <= 0)
        return 0;
    enum kafka_error error =
        told(batch_append(gc, &w, p, transactional ? c->producer_id : -1,
                          transactional ? c->producer_epoch : (int16_t)-1, c->rq));
    if (error == KAFKA_NONE)
        return n;
    commit_fail(c, error);
    return 0;
}

/* ---- tombstones ---- */

/* Keys of one partition that are to go, collected first: writing them changes the store. */
struct doomed {
    struct group_coordinator *gc;
    struct partition *p;
    struct arena arena;
    struct offset_key *v;
    int n, cap;
    bool failed; /* no memory: the rest waits for the next time */
    /* the rule */
    struct slice topic; /* this one; or null, and by retention: */
    const struct group_entry *entry;
    struct offsets_expiry expiry;
    bool any_left;
};

static void doom(struct doomed *d, const struct offset_key *k)
{
    if (d->n == d->cap) {
        int cap = d->cap ? d->cap * 2 : 64;
        struct offset_key *v = realloc(d->v, (size_t)cap * sizeof *v);
        if (!v) {
            d->failed = true;
            return;
        }
        d->v = v;
        d->cap = cap;
    }
    struct offset_key own = {arena_copy(&d->arena, k->group), arena_copy(&d->arena, k->topic),
                             k->partition};
    if (!own.group.p || !own.topic.p)
        d->failed = true;
    else
        d->v[d->n++] = own;
}

static void doomed_init(struct doomed *d, struct group_coordinator *gc, struct partition *p)
{
    *d = (struct doomed){.gc = gc, .p = p};
    arena_init(&d->arena, GROUP_ARENA_MAX);
}

/* Writes a tombstone for each key, and for the group if it is given. */
static enum kafka_error doomed_write(struct doomed *d, const struct slice *group)
{
    struct group_coordinator *gc = d->gc;
    int64_t now_ms = env_wall_ms(gc->env);
    struct batch_writer w;
    if (d->n == 0 && !group)
        return KAFKA_NONE;
    int rc = batch_open(gc, &w, false);
    for (int i = 0; rc == 0 && i < d->n; i++)
        rc = record_put_offset(&w, &gc->write_scratch, &d->v[i], NULL, now_ms);
    if (rc == 0 && group)
        rc = record_put_group_end(&w, &gc->write_scratch, *group, now_ms);
    if (rc)
        return KAFKA_COORDINATOR_NOT_AVAILABLE;
    enum kafka_error error = batch_append(gc, &w, d->p, -1, -1, NULL);
    if (error != KAFKA_NONE)
        env_warn(gc->env, "%s-%d: %d tombstones were not written: %s", GROUP_TOPIC, d->p->index,
                 d->n, kafka_error_name(error));
    return error;
}

static void doomed_deinit(struct doomed *d)
{
    arena_deinit(&d->arena);
    free(d->v);
}

static void topic_each(void *user, const struct offset_key *k, const struct offset_value *value,
                       bool staged)
{
    struct doomed *d = user;
    if (slice_eq(k->topic, d->topic))
        doom(d, k);
}

static void topic_each_group(void *user, struct slice group)
{
    struct doomed *d = user;
    offsets_each(store_of(d->gc, d->p->index, false), group, topic_each, d);
}

void group_coordinator_topic_deleted(struct group_coordinator *gc, struct topic *t)
{
    struct topic *own = broker_topic(gc->b, slice_str(GROUP_TOPIC));
    for (int32_t i = 0; own && own != t && i < own->n_partitions; i++) {
        const struct offsets *o = store_of(gc, i, false);
        struct doomed d;
        if (!o)
            continue;
        doomed_init(&d, gc, own->partitions[i]);
        d.topic = t->name;
        offsets_each_group(o, topic_each_group, &d);
        doomed_write(&d, NULL);
        doomed_deinit(&d);
    }
}

/* ---- retention ---- */

/* A live group keeps what it subscribes to; where that cannot be read, it keeps everything. */
static bool expiry_subscribed(void *user, struct slice topic)
{
    struct doomed *d = user;
    const struct group *g = &d->entry->g;
    if (g->state == GROUP_EMPTY)
        return false;
    if (g->state != GROUP_STABLE || !slice_eq_str(g->protocol_type, "consumer"))
        return true;
    MAP_EACH (e, &g->members) {
        arena_reset(&d->gc->read_arena);
        struct slice said = group_member_metadata(e->value, g->protocol);
        if (record_subscribed(said, topic, &d->gc->read_arena) != 0)
            return true;
    }
    return false;
}

static void expiry_each(void *user, const struct offset_key *k,
                        const struct offset_value *committed, bool staged)
{
    struct doomed *d = user;
    if (offsets_expired(&d->expiry, k, committed, staged))
        doom(d, k);
    else
        d->any_left = true;
}

static void expire_group(struct group_coordinator *gc, struct slice name)
{
    struct group_entry *e = group_entry_get(gc, name, false);
    const struct offsets *o = group_store(gc, name, false);
    struct doomed d;
    doomed_init(&d, gc, partition_of(gc, name));
    d.entry = e;
    d.expiry = (struct offsets_expiry){
        .now_ms = env_wall_ms(gc->env),
        .retention_ms = gc->retention_ms,
        .since_ms = e && e->g.state == GROUP_EMPTY && e->g.protocol_type.p ? e->g.state_ms : -1,
        .subscribed = e ? expiry_subscribed : NULL,
        .user = &d,
    };
    if (o)
        offsets_each(o, name, expiry_each, &d);
    bool gone = e && e->g.state == GROUP_EMPTY && e->g.pending.n == 0 && !d.any_left && !d.failed;
    if (d.p && doomed_write(&d, gone ? &name : NULL) == KAFKA_NONE && gone)
        group_entry_remove(gc, e);
    doomed_deinit(&d);
}

struct names {
    struct map set; /* values unused */
};

static void collect(void *user, struct slice name)
{
    struct names *n = user;
    (void)map_put(&n->set, name, n); /* one that finds no memory waits for the next time */
}

void group_expire(struct group_coordinator *gc)
{
    struct names n;
    map_init(&n.set);
    MAP_EACH (e, &gc->groups)
        collect(&n, e->key);
    MAP_EACH (s, &gc->stores.m)
        offsets_each_group(s->value, collect, &n);
    MAP_EACH (m, &n.set)
        expire_group(gc, m->key);
    map_deinit(&n.set);
}

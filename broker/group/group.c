/* broker/group/group.c - events of a group: who may do what, and what follows.
 *
 * Each handler checks the member first (unknown, fenced, other generation), then acts by state;
 * moves of the state itself are in group_rebalance.c. Errors are answers, never failures of the
 * step. */
#include "broker/group/group_impl.h"
#include <stdlib.h>

enum { SESSION_MIN_MS = 6000, SESSION_MAX_MS = 1800000, PENDING_MAX = 10000 };

int group_init(struct group *g, struct slice id, const struct group_options *options)
{
    bool ok = true;
    *g = (struct group){.options = options, .rebalance_due = UINT64_MAX, .sync_due = UINT64_MAX};
    map_init(&g->members);
    map_init(&g->instances);
    map_init(&g->pending);
    g->id = group_copy(id, &ok);
    return ok ? 0 : -ERR_NOMEM;
}

static void members_clear(struct group *g)
{
    MAP_EACH (e, &g->members)
        group_member_remove(g, e->value);
    MAP_EACH (e, &g->pending)
        free(map_del(&g->pending, e->key));
    group_gone_free(g);
    group_slice_free(&g->old_id);
}

void group_deinit(struct group *g)
{
    members_clear(g);
    map_deinit(&g->members);
    map_deinit(&g->instances);
    map_deinit(&g->pending);
    group_slice_free(&g->id);
    group_slice_free(&g->protocol_type);
    group_slice_free(&g->protocol);
}

/* ---- who asks ---- */

/* The member that the ids name: NONE, UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID. */
static enum kafka_error find(const struct group *g, const struct group_event *ev,
                             struct group_member **out)
{
    *out = map_get(&g->members, ev->member);
    if (ev->instance.p) {
        struct group_member *m = map_get(&g->instances, ev->instance);
        if (!m)
            return KAFKA_UNKNOWN_MEMBER_ID;
        if (m != *out)
            return KAFKA_FENCED_INSTANCE_ID;
    }
    return *out ? KAFKA_NONE : KAFKA_UNKNOWN_MEMBER_ID;
}

static enum kafka_error find_current(const struct group *g, const struct group_event *ev,
                                     struct group_member **out)
{
    enum kafka_error error = find(g, ev, out);
    if (error == KAFKA_NONE && ev->generation != g->generation)
        return KAFKA_ILLEGAL_GENERATION;
    return error;
}

static void session_touch(struct group_run *r, struct group_member *m)
{
    if (m->due != UINT64_MAX && !m->is_new)
        m->due = r->now + (uint64_t)m->session_ms * GROUP_MS;
}

/* ---- JOIN ---- */

static void join_refuse(struct group_run *r, enum kafka_error error)
{
    group_reply(r, GROUP_REPLY_JOIN, r->ev->token, r->ev->member, error);
}

/* The member's JOIN waits for the join phase to complete. */
static void join_park(struct group_run *r, struct group_member *m)
{
    if (m->join_token) /* sent again, on a new connection */
        group_reply(r, GROUP_REPLY_JOIN, m->join_token, m->id, KAFKA_REBALANCE_IN_PROGRESS);
    m->join_token = r->ev->token;
    m->due = m->is_new ? r->now + GROUP_NEW_MEMBER_NS : UINT64_MAX;
}

static void rebalance_or_complete(struct group_run *r)
{
    if (r->g->state == GROUP_PREPARING)
        group_maybe_complete(r);
    else
        group_rebalance(r);
}

static void join_current(struct group_run *r, struct group_member *m)
{
    join_park(r, m);
    group_join_answer(r, m, KAFKA_NONE);
}

static bool full(const struct group *g, const struct group_member *m)
{
    uint32_t max = (uint32_t)g->options->members_max;
    if (!g->options->members_max || g->state == GROUP_EMPTY)
        return false;
    if (g->state == GROUP_PREPARING)
        return !(m && m->join_token) && group_joined(g) >= max;
    return !m && g->members.n >= max;
}

/* A member that was not there, under this id. */
static void join_add(struct group_run *r, struct slice id)
{
    struct group *g = r->g;
    if (g->members.n == 0 && !group_slice_set(&g->protocol_type, r->ev->protocol_type)) {
        join_refuse(r, KAFKA_COORDINATOR_NOT_AVAILABLE);
        return;
    }
    struct group_member *m = group_member_add(g, r->ev, id);
    if (!m) {
        join_refuse(r, KAFKA_COORDINATOR_NOT_AVAILABLE);
        return;
    }
    group_pending_remove(g, id);
    m->is_new = true;
    g->initial_more = true;
    join_park(r, m);
    rebalance_or_complete(r);
}

/* Version 4 and up: come back with the id that is given now, so that a lost answer leaves no
 * ghost. */
static void join_pending(struct group_run *r)
{
    struct group_pending *p = r->g->pending.n < PENDING_MAX ? malloc(sizeof *p) : NULL;
    if (!p || map_put(&r->g->pending, r->ev->fresh_id, p) != 0) {
        free(p);
        join_refuse(r, KAFKA_COORDINATOR_NOT_AVAILABLE);
        return;
    }
    p->due = r->now + (uint64_t)r->ev->session_ms * GROUP_MS;
    group_reply(r, GROUP_REPLY_JOIN, r->ev->token, r->ev->fresh_id, KAFKA_MEMBER_ID_REQUIRED);
}

/* A static member is back after a restart, with a new id: its former self is fenced. */
static void join_replace(struct group_run *r, struct group_member *m)
{
    struct group *g = r->g;
    if (!group_member_rename(g, m, r->ev->fresh_id) || !group_member_update(m, r->ev)) {
        join_refuse(r, KAFKA_COORDINATOR_NOT_AVAILABLE);
        return;
    }
    if (m->join_token)
        group_reply(r, GROUP_REPLY_JOIN, m->join_token, g->old_id, KAFKA_FENCED_INSTANCE_ID);
    if (m->sync_token)
        group_reply(r, GROUP_REPLY_SYNC, m->sync_token, g->old_id, KAFKA_FENCED_INSTANCE_ID);
    m->join_token = m->sync_token = 0;
    join_park(r, m);
    if (g->state == GROUP_STABLE && slice_eq(group_protocol_pick(g), g->protocol)) {
        m->replaced = true;
        g->save_for = m;
        group_save(r, SAVING_REPLACED);
        return;
    }
    rebalance_or_complete(r);
}

static void join_known(struct group_run *r, struct group_member *m)
{
    struct group *g = r->g;
    bool same = group_member_same(m, r->ev);
    if (g->state == GROUP_COMPLETING && same) {
        join_current(r, m);
        return;
    }
    if (g->state == GROUP_STABLE && same && g->leader != m) {
        join_current(r, m);
        return;
    }
    if (!group_member_update(m, r->ev)) {
        join_refuse(r, KAFKA_COORDINATOR_NOT_AVAILABLE);
        return;
    }
    join_park(r, m);
    rebalance_or_complete(r);
}

/* Refusals that ask for nothing but the request and who is in the group. */
static enum kafka_error join_check(const struct group *g, const struct group_event *ev,
                                   const struct group_member *m)
{
    const struct group_options *o = g->options;
    int32_t min = o->session_min_ms ? o->session_min_ms : SESSION_MIN_MS;
    int32_t max = o->session_max_ms ? o->session_max_ms : SESSION_MAX_MS;
    if (ev->session_ms < min || ev->session_ms > max)
        return KAFKA_INVALID_SESSION_TIMEOUT;
    if (full(g, m))
        return KAFKA_GROUP_MAX_SIZE_REACHED;
    if (!group_protocols_fit(g, ev, m))
        return KAFKA_INCONSISTENT_GROUP_PROTOCOL;
    return KAFKA_NONE;
}

static void on_join(struct group_run *r)
{
    struct group *g = r->g;
    const struct group_event *ev = r->ev;
    struct group_member *m = NULL;
    CHECK(ev->token != 0);
    bool unnamed = ev->member.n == 0;
    bool pending = !unnamed && map_get(&g->pending, ev->member) != NULL;
    if (unnamed)
        m = map_get(&g->instances, ev->instance);
    else
        m = map_get(&g->members, ev->member);
    enum kafka_error error = join_check(g, ev, m);
    if (error == KAFKA_NONE && !unnamed && (!pending || ev->instance.p))
        error = find(g, ev, &m);
    if (error != KAFKA_NONE)
        join_refuse(r, error);
    else if (!unnamed && m)
        join_known(r, m);
    else if (!unnamed)
        join_add(r, ev->member);
    else if (m)
        join_replace(r, m);
    else if (ev->id_required && !ev->instance.p)
        join_pending(r);
    else
        join_add(r, ev->fresh_id);
}

/* ---- SYNC ---- */

static void sync_refuse(struct group_run *r, enum kafka_error error)
{
    group_reply(r, GROUP_REPLY_SYNC, r->ev->token, r->ev->member, error);
}

static void sync_park(struct group_run *r, struct group_member *m)
{
    if (m->sync_token)
        group_reply(r, GROUP_REPLY_SYNC, m->sync_token, m->id, KAFKA_REBALANCE_IN_PROGRESS);
    m->sync_token = r->ev->token;
    m->synced = true;
    m->due = UINT64_MAX;
}

/* What the leader does not name gets nothing. */
static bool assign(struct group_run *r)
{
    MAP_EACH (e, &r->g->members) {
        struct group_member *m = e->value;
        if (!group_slice_set(&m->assignment, slice_str("")))
            return false;
    }
    for (int i = 0; i < r->ev->n_assignments; i++) {
        const struct group_assignment *a = &r->ev->assignments[i];
        struct group_member *m = map_get(&r->g->members, a->member);
        if (m && a->assignment.p && !group_slice_set(&m->assignment, a->assignment))
            return false;
    }
    return true;
}

static void on_sync(struct group_run *r)
{
    struct group *g = r->g;
    const struct group_event *ev = r->ev;
    struct group_member *m = NULL;
    CHECK(ev->token != 0);
    enum kafka_error error = find_current(g, ev, &m);
    if (error == KAFKA_NONE &&
        ((ev->protocol_type.p && g->protocol_type.p &&
          !slice_eq(ev->protocol_type, g->protocol_type)) ||
         (ev->protocol.p && g->protocol.p && !slice_eq(ev->protocol, g->protocol))))
        error = KAFKA_INCONSISTENT_GROUP_PROTOCOL;
    if (error == KAFKA_NONE && g->state == GROUP_PREPARING)
        error = KAFKA_REBALANCE_IN_PROGRESS;
    if (error != KAFKA_NONE) {
        sync_refuse(r, error);
        return;
    }
    sync_park(r, m);
    if (g->state == GROUP_STABLE)
        group_sync_answer(r, m, KAFKA_NONE);
    else if (m == g->leader && assign(r))
        group_save(r, SAVING_ASSIGNMENT);
    else if (m == g->leader)
        group_sync_answer(r, m, KAFKA_COORDINATOR_NOT_AVAILABLE);
}

/* ---- the ones answered at once ---- */

static void on_heartbeat(struct group_run *r)
{
    struct group_member *m = NULL;
    r->out->error = find_current(r->g, r->ev, &m);
    if (r->out->error != KAFKA_NONE)
        return;
    session_touch(r, m);
    if (r->g->state == GROUP_PREPARING)
        r->out->error = KAFKA_REBALANCE_IN_PROGRESS;
}

static void on_leave(struct group_run *r)
{
    struct group *g = r->g;
    struct group_member *m = NULL;
    r->out->error = KAFKA_NONE;
    if (r->ev->member.n == 0 && r->ev->instance.p) {
        m = map_get(&g->instances, r->ev->instance); /* an administrator's */
        r->out->error = m ? KAFKA_NONE : KAFKA_UNKNOWN_MEMBER_ID;
    } else if (!r->ev->instance.p && map_get(&g->pending, r->ev->member)) {
        group_pending_remove(g, r->ev->member);
        group_maybe_complete(r);
        return;
    } else {
        r->out->error = find(g, r->ev, &m);
    }
    if (r->out->error == KAFKA_NONE)
        group_drop(r, m, KAFKA_UNKNOWN_MEMBER_ID);
}

/* Membership alone; what was committed is not asked: a member that lost the group and came back
 * commits under its new generation only what it was given with it. */
static void on_commit(struct group_run *r)
{
    struct group *g = r->g;
    const struct group_event *ev = r->ev;
    struct group_member *m = NULL;
    r->out->error = KAFKA_NONE;
    if (ev->generation < 0 && g->state == GROUP_EMPTY)
        return;
    if (ev->generation >= 0 || ev->member.n > 0 || ev->instance.p) {
        r->out->error = find_current(g, ev, &m);
    } else if (!ev->transactional && g->state != GROUP_EMPTY) {
        r->out->error = KAFKA_UNKNOWN_MEMBER_ID;
    }
    if (r->out->error != KAFKA_NONE || ev->transactional)
        return;
    if (g->state == GROUP_COMPLETING)
        r->out->error = KAFKA_REBALANCE_IN_PROGRESS;
    else if (m)
        session_touch(r, m);
}

/* ---- time ---- */

static bool tick_pending(struct group_run *r)
{
    MAP_EACH (e, &r->g->pending) {
        struct group_pending *p = e->value;
        if (p->due <= r->now) {
            group_pending_remove(r->g, e->key);
            group_maybe_complete(r);
            return true;
        }
    }
    return false;
}

static bool tick_session(struct group_run *r)
{
    MAP_EACH (e, &r->g->members) {
        struct group_member *m = e->value;
        if (m->due <= r->now) {
            REACHED("group: session expired");
            group_drop(r, m, KAFKA_UNKNOWN_MEMBER_ID);
            return true;
        }
    }
    return false;
}

/* Who joined and does not fetch its assignment holds up, or holds back, partitions. */
static void tick_sync(struct group_run *r)
{
    struct group *g = r->g;
    uint32_t n = 0;
    g->sync_due = UINT64_MAX;
    MAP_EACH (e, &g->members) {
        struct group_member *m = e->value;
        if (m->synced)
            continue;
        group_join_answer(r, m, KAFKA_UNKNOWN_MEMBER_ID);
        group_member_remove(g, m);
        n++;
    }
    if (n > 0)
        group_rebalance(r);
}

static void on_tick(struct group_run *r)
{
    struct group *g = r->g;
    if (tick_pending(r) || tick_session(r))
        return;
    if (g->state == GROUP_PREPARING && g->rebalance_due <= r->now) {
        if (g->initial)
            group_initial_due(r);
        else
            group_complete(r);
        return;
    }
    if (g->sync_due <= r->now) {
        if (g->state == GROUP_COMPLETING || g->state == GROUP_STABLE)
            tick_sync(r);
        g->sync_due = UINT64_MAX;
    }
}

static void on_started(struct group_run *r)
{
    MAP_EACH (e, &r->g->members) {
        struct group_member *m = e->value;
        m->due = r->now + (uint64_t)m->session_ms * GROUP_MS;
    }
}

uint64_t group_due(const struct group *g)
{
    uint64_t due = g->sync_due;
    if (g->state == GROUP_PREPARING && g->rebalance_due < due)
        due = g->rebalance_due;
    MAP_EACH (e, &g->members) {
        const struct group_member *m = e->value;
        due = m->due < due ? m->due : due;
    }
    MAP_EACH (e, &g->pending) {
        const struct group_pending *p = e->value;
        due = p->due < due ? p->due : due;
    }
    return due;
}

/* ---- answers that are ready ---- */

static void drain_join(struct group_run *r, struct group_member *m)
{
    const struct group *g = r->g;
    group_reply(r, GROUP_REPLY_JOIN, m->join_token, m->id, m->join_error);
    struct group_effect *e = &r->out->v[r->out->n - 1];
    bool leads = g->leader == m, replaced = m->replaced;
    m->join_token = 0;
    m->join_ready = m->replaced = false;
    if (m->join_error != KAFKA_NONE)
        return;
    e->generation = g->generation;
    e->protocol_type = g->protocol_type;
    e->protocol = g->protocol;
    e->leader = g->leader ? g->leader->id : slice_str("");
    e->members = leads;
    e->group = g;
    if (replaced) {
        /* Its assignment stands. A client that cannot be told to skip assigning is shown its former
         * self as leader, so that it acts as a follower. */
        e->skip = leads && m->skip;
        e->members = e->skip;
        if (leads && !m->skip)
            e->leader = g->old_id;
    }
}

static void drain_sync(struct group_run *r, struct group_member *m)
{
    group_reply(r, GROUP_REPLY_SYNC, m->sync_token, m->id, m->sync_error);
    struct group_effect *e = &r->out->v[r->out->n - 1];
    m->sync_token = 0;
    m->sync_ready = false;
    if (m->sync_error != KAFKA_NONE)
        return;
    e->protocol_type = r->g->protocol_type;
    e->protocol = r->g->protocol;
    e->assignment = m->assignment;
}

/* False: the out is full. */
static bool drain_member(struct group_run *r, struct group_member *m)
{
    if (r->out->n > GROUP_OUT_MAX - 2)
        return !m->join_ready && !m->sync_ready;
    if (m->join_ready)
        drain_join(r, m);
    if (m->sync_ready)
        drain_sync(r, m);
    return true;
}

static void drain(struct group_run *r)
{
    r->out->more = true;
    for (struct group_member *m = r->g->gone; m; m = m->next_gone)
        if (!drain_member(r, m))
            return;
    MAP_EACH (e, &r->g->members)
        if (!drain_member(r, e->value))
            return;
    r->out->more = false;
}

void group_step(struct group *g, const struct group_event *ev, uint64_t now, struct group_out *out)
{
    struct group_run r = {.g = g, .ev = ev, .now = now, .out = out};
    out->error = KAFKA_NONE;
    out->n = 0;
    CHECK(g->saving == SAVING_NOTHING || ev->kind == GROUP_SAVED || ev->kind == GROUP_MORE);
    if (ev->kind != GROUP_MORE && ev->kind != GROUP_SAVED) {
        group_gone_free(g);
        group_slice_free(&g->old_id);
    }
    switch (ev->kind) {
    case GROUP_JOIN: on_join(&r); break;
    case GROUP_SYNC: on_sync(&r); break;
    case GROUP_HEARTBEAT: on_heartbeat(&r); break;
    case GROUP_LEAVE: on_leave(&r); break;
    case GROUP_COMMIT: on_commit(&r); break;
    case GROUP_TICK: on_tick(&r); break;
    case GROUP_SAVED: group_saved(&r); break;
    case GROUP_STARTED: on_started(&r); break;
    case GROUP_MORE: break;
    }
    drain(&r);
}

/* ---- reloading ---- */

int group_load(struct group *g, int32_t generation, struct slice protocol_type,
               struct slice protocol, int64_t state_ms)
{
    members_clear(g);
    g->leader = NULL;
    g->generation = generation;
    g->state = GROUP_EMPTY;
    g->state_ms = state_ms;
    g->rebalance_due = g->sync_due = UINT64_MAX;
    g->saving = SAVING_NOTHING;
    bool ok = group_slice_set(&g->protocol_type, protocol_type.n ? protocol_type : SLICE_NULL) &&
              group_slice_set(&g->protocol, protocol);
    return ok ? 0 : -ERR_NOMEM;
}

int group_load_member(struct group *g, const struct group_event *join, struct slice assignment)
{
    if (!g->protocol.p || map_get(&g->members, join->member) ||
        (join->instance.p && map_get(&g->instances, join->instance)))
        return -ERR_INVALID;
    struct group_member *m = group_member_add(g, join, join->member);
    if (!m)
        return -ERR_NOMEM;
    m->synced = true;
    return group_slice_set(&m->assignment, assignment.p ? assignment : slice_str("")) ? 0
                                                                                      : -ERR_NOMEM;
}

void group_load_end(struct group *g, struct slice leader)
{
    g->state = g->members.n ? GROUP_STABLE : GROUP_EMPTY;
    g->leader = map_get(&g->members, leader);
    if (!g->leader && g->members.n) {
        uint32_t it = 0;
        g->leader = map_next(&g->members, &it)->value;
    }
}

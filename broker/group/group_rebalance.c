/* broker/group/group_rebalance.c - how a group moves from one generation to the next.
 *
 * Happy path: group_rebalance opens the join phase, members park their JOINs, group_complete ends
 * it with a new generation, the leader's assignment is saved and group_saved makes the group
 * STABLE.
 *
 * Failure modes: members that do not come back in time are dropped (static ones stay until their
 * session ends); members that joined and do not SYNC in time are dropped too (group.c); an
 * assignment that cannot be saved is an error to all and begins a new rebalance. */
#include "broker/group/group_impl.h"

#define ABSENT_RETRY_NS (1000ull * GROUP_MS) /* for members with a rebalance timeout of 0 */

void group_state_set(struct group_run *r, enum group_state s)
{
    if (r->g->state != s)
        r->g->state_ms = r->ev->wall_ms;
    r->g->state = s;
}

void group_reply(struct group_run *r, enum group_effect_kind kind, uint64_t token,
                 struct slice member, enum kafka_error error)
{
    struct group_out *out = r->out;
    CHECK(out->n < GROUP_OUT_MAX);
    out->v[out->n++] = (struct group_effect){.kind = kind,
                                             .token = token,
                                             .error = error,
                                             .member = member,
                                             .generation = -1,
                                             .leader = slice_str(""),
                                             .assignment = slice_str("")};
}

static void session_begin(struct group_run *r, struct group_member *m)
{
    m->due = r->now + (uint64_t)m->session_ms * GROUP_MS;
}

void group_join_answer(struct group_run *r, struct group_member *m, enum kafka_error error)
{
    if (!m->join_token || m->join_ready)
        return;
    m->join_ready = true;
    m->join_error = error;
    m->is_new = false;
    session_begin(r, m);
}

void group_sync_answer(struct group_run *r, struct group_member *m, enum kafka_error error)
{
    if (!m->sync_token || m->sync_ready) /* the first answer stands */
        return;
    m->sync_ready = true;
    m->sync_error = error;
    session_begin(r, m);
}

void group_save(struct group_run *r, int what)
{
    struct group *g = r->g;
    CHECK(g->saving == SAVING_NOTHING);
    g->saving = what;
    group_reply(r, GROUP_SAVE, 0, SLICE_NULL, KAFKA_NONE);
}

static void assignments_drop(struct group_run *r, enum kafka_error error)
{
    MAP_EACH (e, &r->g->members) {
        struct group_member *m = e->value;
        group_sync_answer(r, m, error);
        if (m->assignment.n) /* else it stays the empty one it has */
            group_slice_set(&m->assignment, slice_str(""));
    }
}

void group_rebalance(struct group_run *r)
{
    struct group *g = r->g;
    bool was_empty = g->state == GROUP_EMPTY;
    CHECK(g->state != GROUP_PREPARING);
    if (g->state == GROUP_COMPLETING)
        assignments_drop(r, KAFKA_REBALANCE_IN_PROGRESS);
    g->sync_due = UINT64_MAX;
    group_state_set(r, GROUP_PREPARING);
    if (!was_empty) {
        g->initial = false;
        g->rebalance_due = r->now + group_rebalance_ns(g);
        group_maybe_complete(r);
        return;
    }
    uint64_t delay = (uint64_t)g->options->initial_delay_ms * GROUP_MS;
    uint64_t most = group_rebalance_ns(g);
    if (delay == 0) {
        group_complete(r);
        return;
    }
    g->initial = true;
    g->initial_more = false;
    g->initial_left = most > delay ? most - delay : 0;
    g->rebalance_due = r->now + delay;
}

/* The wait for further first members is over; if one came meanwhile, there is another. */
void group_initial_due(struct group_run *r)
{
    struct group *g = r->g;
    uint64_t delay = (uint64_t)g->options->initial_delay_ms * GROUP_MS;
    if (g->initial_more && g->initial_left > 0) {
        uint64_t wait = delay < g->initial_left ? delay : g->initial_left;
        g->initial_more = false;
        g->initial_left -= wait;
        g->rebalance_due = r->now + wait;
        return;
    }
    g->initial = false;
    group_complete(r);
}

void group_maybe_complete(struct group_run *r)
{
    struct group *g = r->g;
    if (g->state != GROUP_PREPARING || g->initial)
        return;
    if (group_joined(g) == g->members.n && g->pending.n == 0)
        group_complete(r);
}

static void drop_absent(struct group *g)
{
    MAP_EACH (e, &g->members) {
        struct group_member *m = e->value;
        if (!m->join_token && !m->instance.p)
            group_member_remove(g, m);
    }
}

/* A leader that is here: the old one, or the first of those that joined. */
static bool elect(struct group *g)
{
    if (g->leader && g->leader->join_token)
        return true;
    MAP_EACH (e, &g->members) {
        struct group_member *m = e->value;
        if (m->join_token) {
            g->leader = m;
            return true;
        }
    }
    return false;
}

static void become_empty(struct group_run *r)
{
    struct group *g = r->g;
    g->leader = NULL;
    group_slice_free(&g->protocol);
    group_state_set(r, GROUP_EMPTY);
    group_save(r, SAVING_EMPTY);
}

void group_complete(struct group_run *r)
{
    struct group *g = r->g;
    CHECK(g->state == GROUP_PREPARING);
    drop_absent(g);
    if (!elect(g) && g->members.n > 0) {
        /* Static members alone, none of them back: sessions will decide. */
        REACHED("group: nobody rejoined");
        uint64_t wait = group_rebalance_ns(g);
        g->rebalance_due = r->now + (wait ? wait : ABSENT_RETRY_NS);
        return;
    }
    g->initial = false;
    g->rebalance_due = UINT64_MAX;
    g->generation = g->generation == INT32_MAX ? 1 : g->generation + 1;
    if (g->members.n == 0) {
        become_empty(r);
        return;
    }
    struct slice pick = group_protocol_pick(g);
    CHECK(pick.p); /* every join was checked to leave one in common */
    if (!group_slice_set(&g->protocol, pick)) {
        MAP_EACH (e, &g->members)
            group_join_answer(r, e->value, KAFKA_COORDINATOR_NOT_AVAILABLE);
        g->rebalance_due = r->now + group_rebalance_ns(g);
        return;
    }
    group_state_set(r, GROUP_COMPLETING);
    g->sync_due = r->now + group_rebalance_ns(g);
    MAP_EACH (e, &g->members) {
        struct group_member *m = e->value;
        m->synced = false;
        m->replaced = false;
        if (m->join_token)
            group_join_answer(r, m, KAFKA_NONE);
        else
            session_begin(r, m); /* static and away: counted from this generation on */
    }
}

void group_drop(struct group_run *r, struct group_member *m, enum kafka_error error)
{
    struct group *g = r->g;
    group_join_answer(r, m, error);
    group_sync_answer(r, m, error);
    group_member_remove(g, m);
    if (g->state == GROUP_STABLE || g->state == GROUP_COMPLETING)
        group_rebalance(r);
    else
        group_maybe_complete(r);
}

static void saved_assignment(struct group_run *r)
{
    struct group *g = r->g;
    if (r->ev->error != KAFKA_NONE) {
        assignments_drop(r, r->ev->error);
        group_rebalance(r);
        return;
    }
    group_state_set(r, GROUP_STABLE);
    MAP_EACH (e, &g->members)
        group_sync_answer(r, e->value, KAFKA_NONE);
}

void group_saved(struct group_run *r)
{
    struct group *g = r->g;
    int what = g->saving;
    g->saving = SAVING_NOTHING;
    if (what == SAVING_ASSIGNMENT)
        saved_assignment(r);
    else if (what == SAVING_REPLACED && g->save_for)
        group_join_answer(r, g->save_for, r->ev->error);
    g->save_for = NULL;
}

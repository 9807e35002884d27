/* broker/group_coordinator.c - groups and those who wait for them: requests in, timers, effects
 * out.
 *
 * Happy path: an API calls group_coordinator_step; the group's effects are done in order: a reply
 * goes to the parked call, a save becomes a record (group_records.c) and its outcome goes back into
 * the group. Answers that depend on the record wait for its lsn in reply_end.
 *
 * Failure modes: no memory for a group or a parked call is COORDINATOR_NOT_AVAILABLE, which clients
 * retry. A parked request whose connection ends is forgotten; its group meets an unanswered token
 * as a reply that nobody takes. */
#include "broker/group_coordinator_impl.h"
#include "base/check.h"
#include <stdlib.h>

/* ---- entries ---- */

static void entry_fire(struct env_timer *t);

struct group_entry *group_entry_get(struct group_coordinator *gc, struct slice name, bool create)
{
    struct group_entry *e = map_get(&gc->groups, name);
    if (e || !create)
        return e;
    e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    if (group_init(&e->g, name, &gc->options) != 0) {
        free(e);
        return NULL;
    }
    if (map_put(&gc->groups, name, e) != 0) {
        group_deinit(&e->g);
        free(e);
        return NULL;
    }
    e->gc = gc;
    e->timer.fire = entry_fire;
    return e;
}

static void entry_free(struct group_entry *e)
{
    env_timer_stop(e->gc->env, &e->timer);
    group_deinit(&e->g);
    free(e);
}

void group_entry_remove(struct group_coordinator *gc, struct group_entry *e)
{
    map_del(&gc->groups, e->g.id);
    entry_free(e);
}

/* ---- effects ---- */

static void reply(struct group_coordinator *gc, const struct group_effect *e)
{
    struct group_call *c = idmap_del(&gc->calls, e->token);
    if (!c)
        return;
    c->token = 0;
    c->answer(c, e);
}

/* True: a save is asked for. */
static bool effects(struct group_coordinator *gc, const struct group_out *out)
{
    bool save = false;
    for (int i = 0; i < out->n; i++) {
        if (out->v[i].kind == GROUP_SAVE)
            save = true;
        else
            reply(gc, &out->v[i]);
    }
    return save;
}

static enum kafka_error entry_step(struct group_entry *e, const struct group_event *ev)
{
    struct group_coordinator *gc = e->gc;
    uint64_t now = gc->env->now;
    struct group_event next = {.wall_ms = ev->wall_ms};
    struct group_out out;
    group_step(&e->g, ev, now, &out);
    enum kafka_error error = out.error;
    for (;;) {
        bool save = effects(gc, &out);
        while (out.more) {
            next.kind = GROUP_MORE;
            group_step(&e->g, &next, now, &out);
            save = effects(gc, &out) || save;
        }
        if (!save)
            return error;
        next.kind = GROUP_SAVED;
        next.error = group_write(gc, &e->g);
        group_step(&e->g, &next, now, &out);
    }
}

static bool entry_is_nothing(const struct group_entry *e)
{
    return e->g.state == GROUP_EMPTY && e->g.generation == 0 && e->g.pending.n == 0;
}

/* After a step: the group's timer, or its end if it never came to be. */
static void entry_settle(struct group_entry *e)
{
    uint64_t due = group_due(&e->g);
    if (entry_is_nothing(e))
        group_entry_remove(e->gc, e);
    else if (due == UINT64_MAX)
        env_timer_stop(e->gc->env, &e->timer);
    else
        env_timer_set(e->gc->env, &e->timer, due);
}

static void entry_fire(struct env_timer *t)
{
    struct group_entry *e = list_entry(t, struct group_entry, timer);
    struct env *env = e->gc->env;
    struct group_event tick = {.kind = GROUP_TICK, .wall_ms = env_wall_ms(env)};
    while (group_due(&e->g) <= env->now)
        entry_step(e, &tick);
    entry_settle(e);
}

/* ---- after a restart ---- */

static void start(struct group_coordinator *gc)
{
    if (!gc->loaded)
        return;
    gc->loaded = false;
    env_task_stop(&gc->started);
    struct group_event started = {.kind = GROUP_STARTED, .wall_ms = env_wall_ms(gc->env)};
    MAP_EACH (m, &gc->groups) {
        struct group_entry *e = m->value;
        entry_step(e, &started);
        entry_settle(e);
    }
}

static void started_run(struct env_task *t)
{
    start(list_entry(t, struct group_coordinator, started));
}

static void expiry_fire(struct env_timer *t)
{
    struct group_coordinator *gc = list_entry(t, struct group_coordinator, expiry);
    start(gc);
    group_expire(gc);
    env_timer_set(gc->env, &gc->expiry, gc->env->now + ENV_MS((uint64_t)gc->check_ms));
}

/* ---- what APIs call ---- */

/* A commit to a group that has no members: an administrator's, or a simple consumer's. */
static enum kafka_error commit_absent(struct group_coordinator *gc, struct slice group,
                                      const struct group_event *ev)
{
    if (ev->generation < 0)
        return KAFKA_NONE;
    return group_coordinator_has(gc, group) ? KAFKA_UNKNOWN_MEMBER_ID : KAFKA_ILLEGAL_GENERATION;
}

static void refuse(const struct group_event *ev, struct group_call *call, enum kafka_error error)
{
    struct group_effect e = {
        .kind = ev->kind == GROUP_JOIN ? GROUP_REPLY_JOIN : GROUP_REPLY_SYNC,
        .error = error,
        .member = ev->member,
        .generation = -1,
        .leader = slice_str(""),
        .assignment = slice_str(""),
    };
    call->answer(call, &e);
}

static bool call_park(struct group_coordinator *gc, struct group_event *ev, struct group_call *call)
{
    call->token = ++gc->tokens;
    ev->token = call->token;
    if (idmap_put(&gc->calls, call->token, call) == 0)
        return true;
    call->token = 0;
    return false;
}

enum kafka_error group_coordinator_step(struct group_coordinator *gc, struct slice group,
                                        struct group_event *ev, bool create,
                                        struct group_call *call)
{
    start(gc);
    ev->wall_ms = env_wall_ms(gc->env);
    struct group_entry *e = group_entry_get(gc, group, create);
    enum kafka_error error = KAFKA_NONE;
    if (!e && ev->kind == GROUP_COMMIT)
        return commit_absent(gc, group, ev);
    if (!e)
        error = create ? KAFKA_COORDINATOR_NOT_AVAILABLE : KAFKA_UNKNOWN_MEMBER_ID;
    else if (call && !call_park(gc, ev, call))
        error = KAFKA_COORDINATOR_NOT_AVAILABLE;
    if (error != KAFKA_NONE && call)
        refuse(ev, call, error);
    if (error == KAFKA_NONE)
        error = entry_step(e, ev);
    if (e)
        entry_settle(e);
    return error;
}

void group_coordinator_forget(struct group_coordinator *gc, struct group_call *call)
{
    if (call->token)
        idmap_del(&gc->calls, call->token);
    call->token = 0;
}

bool group_coordinator_has(struct group_coordinator *gc, struct slice group)
{
    const struct offsets *o = group_store(gc, group, false);
    return group_entry_get(gc, group, false) || (o && offsets_has_group(o, group));
}

enum kafka_error group_check_member(struct group_coordinator *gc, struct slice group,
                                    struct slice member, struct slice instance, int32_t generation)
{
    if (MUTATED(gc->env->mutations, NO_GENERATION_CHECK))
        return KAFKA_NONE;
    struct group_event ev = {.kind = GROUP_COMMIT,
                             .member = member.p ? member : slice_str(""),
                             .instance = instance,
                             .generation = generation,
                             .transactional = true};
    return group_coordinator_step(gc, group, &ev, false, NULL);
}

/* ---- life ---- */

static int read_conf(struct group_coordinator *gc)
{
    const struct conf *c = broker_conf(gc->b);
    int64_t min, max, delay, size, minutes, partitions;
    struct err err = {0};
    if (conf_i64(c, "group.min.session.timeout.ms", 6000, &min, &err) ||
        conf_i64(c, "group.max.session.timeout.ms", 1800000, &max, &err) ||
        conf_i64(c, "group.initial.rebalance.delay.ms", 0, &delay, &err) ||
        conf_i64(c, "group.max.size", INT32_MAX, &size, &err) ||
        conf_i64(c, "offsets.retention.minutes", 10080, &minutes, &err) ||
        conf_i64(c, "offsets.retention.check.interval.ms", 600000, &gc->check_ms, &err) ||
        conf_i64(c, "offset.metadata.max.bytes", 4096, &gc->metadata_max, &err) ||
        conf_i64(c, "offsets.topic.num.partitions", GROUP_TOPIC_PARTITIONS, &partitions, &err)) {
        env_error(gc->env, "%s", err.text);
        return -ERR_INVALID;
    }
    if (min < 1 || max < min || max > INT32_MAX || delay < 0 || delay > INT32_MAX || size < 1 ||
        size > INT32_MAX || minutes < 1 || minutes > INT32_MAX || gc->check_ms < 1 ||
        gc->check_ms > INT32_MAX || gc->metadata_max < 0 || partitions < 1 || partitions > 10000) {
        env_error(gc->env, "a group or offset property is out of its range (group.min.session."
                           "timeout.ms, group.max.session.timeout.ms, group.initial.rebalance."
                           "delay.ms, group.max.size, offsets.*, offset.metadata.max.bytes)");
        return -ERR_INVALID;
    }
    gc->options = (struct group_options){
        .session_min_ms = (int32_t)min,
        .session_max_ms = (int32_t)max,
        .initial_delay_ms = (int32_t)delay,
        .members_max = size == INT32_MAX ? 0 : (int32_t)size,
    };
    gc->retention_ms = minutes * 60000;
    gc->n_partitions = (int32_t)partitions;
    return 0;
}

int group_coordinator_open(struct group_coordinator **out, struct broker *b)
{
    struct group_coordinator *gc = calloc(1, sizeof *gc);
    if (!gc)
        return -ERR_NOMEM;
    gc->b = b;
    gc->env = broker_env(b);
    int rc = read_conf(gc);
    if (rc) {
        free(gc);
        return rc;
    }
    map_init(&gc->groups);
    idmap_init(&gc->stores);
    idmap_init(&gc->calls);
    arena_init(&gc->write_arena, GROUP_ARENA_MAX);
    arena_init(&gc->read_arena, GROUP_ARENA_MAX);
    buf_init(&gc->batch, GROUP_BATCH_MAX);
    buf_init(&gc->write_scratch, GROUP_SCRATCH_MAX);
    buf_init(&gc->read_scratch, GROUP_SCRATCH_MAX);
    gc->started.run = started_run;
    gc->expiry.fire = expiry_fire;
    env_timer_set(gc->env, &gc->expiry, gc->env->now + ENV_MS((uint64_t)gc->check_ms));
    *out = gc;
    return 0;
}

void group_coordinator_free(struct group_coordinator *gc)
{
    if (!gc)
        return;
    MAP_EACH (m, &gc->groups)
        entry_free(m->value);
    map_deinit(&gc->groups);
    group_stores_free(gc);
    idmap_deinit(&gc->calls);
    env_task_stop(&gc->started);
    env_timer_stop(gc->env, &gc->expiry);
    arena_deinit(&gc->write_arena);
    arena_deinit(&gc->read_arena);
    buf_deinit(&gc->batch);
    buf_deinit(&gc->write_scratch);
    buf_deinit(&gc->read_scratch);
    free(gc);
}

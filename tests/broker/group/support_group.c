/* tests/broker/group/support_group.c - the shell of a group, in a test. */
#include "tests/broker/group/support_group.h"
#include <stdio.h>
#include <stdlib.h>

enum { SESSION_MS = 10000, REBALANCE_MS = 30000 };

static void text(char to[RIG_TEXT], struct slice s)
{
    CHECK(s.n < RIG_TEXT);
    if (s.n)
        memcpy(to, s.p, s.n);
    to[s.n] = 0;
}

static struct slice opt(const char *s)
{
    return slice_str(s);
}

void rig_init(struct rig *r, const struct group_options *o)
{
    *r = (struct rig){.now = 1000000000000, .wall_ms = 1700000000000, .version = 3};
    if (o)
        r->options = *o;
    CHECK(group_init(&r->g, slice_str("g"), &r->options) == 0);
    r->replies = calloc(RIG_REPLIES, sizeof *r->replies);
    CHECK(r->replies);
}

void rig_deinit(struct rig *r)
{
    group_deinit(&r->g);
    free(r->replies);
}

static void take(struct rig *r, const struct group_effect *e)
{
    CHECK(e->token > 0);
    CHECK(e->token <= r->tokens);
    struct rig_reply *to = &r->replies[e->token % RIG_REPLIES];
    to->there = true;
    to->n++;
    CHECK(to->n == 1);
    to->kind = e->kind;
    to->error = e->error;
    to->generation = e->generation;
    to->skip = e->skip;
    to->members = e->members;
    text(to->member, e->member);
    text(to->leader, e->leader);
    text(to->protocol, e->protocol);
    text(to->assignment, e->assignment);
    to->n_listed = 0;
    if (e->members)
        MAP_EACH (m, &e->group->members)
            if (to->n_listed < RIG_LISTED)
                text(to->listed[to->n_listed++], m->key);
}

static bool effects(struct rig *r, const struct group_out *out)
{
    bool save = false;
    for (int i = 0; i < out->n; i++) {
        if (out->v[i].kind == GROUP_SAVE)
            save = true;
        else
            take(r, &out->v[i]);
    }
    return save;
}

enum kafka_error rig_step(struct rig *r, struct group_event *ev)
{
    struct group_event next = {0};
    struct group_out out;
    ev->wall_ms = r->wall_ms;
    group_step(&r->g, ev, r->now, &out);
    enum kafka_error error = out.error;
    for (;;) {
        bool save = effects(r, &out);
        while (out.more) {
            next.kind = GROUP_MORE;
            group_step(&r->g, &next, r->now, &out);
            save = effects(r, &out) || save;
        }
        if (!save)
            break;
        next = (struct group_event){
            .kind = GROUP_SAVED, .error = r->save_error, .wall_ms = r->wall_ms};
        r->n_saves++;
        group_step(&r->g, &next, r->now, &out);
    }
    rig_check(r);
    return error;
}

static uint64_t token(struct rig *r)
{
    r->tokens++;
    r->replies[r->tokens % RIG_REPLIES] = (struct rig_reply){0};
    return r->tokens;
}

uint64_t rig_join(struct rig *r, const char *member, const char *instance, const char *protocols,
                  const char *meta)
{
    struct group_protocol v[8];
    char names[8][RIG_TEXT], metas[8][RIG_TEXT], fresh[RIG_TEXT], copy[256];
    int n = 0;
    snprintf(copy, sizeof copy, "%s", protocols);
    for (char *save, *p = strtok_r(copy, " ", &save); p; p = strtok_r(NULL, " ", &save), n++) {
        snprintf(names[n], RIG_TEXT, "%s", p);
        snprintf(metas[n], RIG_TEXT, "%.20s/%.20s", p, meta);
        v[n] = (struct group_protocol){slice_str(names[n]), slice_str(metas[n])};
    }
    snprintf(fresh, sizeof fresh, "%.20s-%d", instance ? instance : "m", r->ids++);
    struct group_event ev = {
        .kind = GROUP_JOIN,
        .token = token(r),
        .member = slice_str(member),
        .instance = opt(instance),
        .id_required = r->version >= 4,
        .can_skip = r->version >= 9,
        .fresh_id = slice_str(fresh),
        .client_id = slice_str("client"),
        .client_host = slice_str("/127.0.0.1"),
        .session_ms = SESSION_MS,
        .rebalance_ms = REBALANCE_MS,
        .protocols = v,
        .n_protocols = n,
        .protocol_type = slice_str("consumer"),
    };
    rig_step(r, &ev);
    return ev.token;
}

uint64_t rig_sync(struct rig *r, const char *member, int32_t generation, const char *assignment)
{
    struct group_assignment v[64];
    char copy[1024];
    int n = 0;
    snprintf(copy, sizeof copy, "%s", assignment);
    for (char *save, *p = strtok_r(copy, " ", &save); p; p = strtok_r(NULL, " ", &save)) {
        char *eq = strchr(p, '=');
        CHECK(eq);
        *eq = 0;
        v[n++] = (struct group_assignment){slice_str(p), slice_str(eq + 1)};
    }
    struct group_event ev = {.kind = GROUP_SYNC,
                             .token = token(r),
                             .member = slice_str(member),
                             .generation = generation,
                             .assignments = v,
                             .n_assignments = n};
    rig_step(r, &ev);
    return ev.token;
}

static enum kafka_error ask(struct rig *r, enum group_event_kind kind, const char *member,
                            const char *instance, int32_t generation, bool transactional)
{
    struct group_event ev = {.kind = kind,
                             .member = slice_str(member),
                             .instance = opt(instance),
                             .generation = generation,
                             .transactional = transactional};
    return rig_step(r, &ev);
}

enum kafka_error rig_heartbeat(struct rig *r, const char *member, const char *instance,
                               int32_t generation)
{
    return ask(r, GROUP_HEARTBEAT, member, instance, generation, false);
}

enum kafka_error rig_leave(struct rig *r, const char *member, const char *instance)
{
    return ask(r, GROUP_LEAVE, member, instance, 0, false);
}

enum kafka_error rig_commit(struct rig *r, const char *member, const char *instance,
                            int32_t generation, bool transactional)
{
    return ask(r, GROUP_COMMIT, member, instance, generation, transactional);
}

void rig_wait(struct rig *r, uint64_t ms)
{
    uint64_t end = r->now + ms * 1000000u, due;
    int guard = 0;
    while ((due = group_due(&r->g)) <= end) {
        struct group_event tick = {.kind = GROUP_TICK};
        CHECK(guard++ < 100000);
        if (due > r->now)
            r->now = due;
        rig_step(r, &tick);
    }
    r->now = end;
    r->wall_ms += (int64_t)ms;
}

struct rig_reply *rig_reply(struct rig *r, uint64_t t)
{
    struct rig_reply *reply = &r->replies[t % RIG_REPLIES];
    return reply->there ? reply : NULL;
}

void rig_stable(struct rig *r, int n, char ids[][RIG_TEXT])
{
    char all[64][RIG_TEXT];
    uint64_t t[64];
    CHECK(n <= 64);
    t[0] = rig_join(r, "", NULL, "range", "0");
    snprintf(all[0], RIG_TEXT, "%s", rig_reply(r, t[0])->member);
    for (int i = 1; i < n; i++)
        t[i] = rig_join(r, "", NULL, "range", "x");
    if (n > 1) /* the first one comes back, and all are there */
        t[0] = rig_join(r, all[0], NULL, "range", "0");
    for (int i = 0; i < n; i++) {
        CHECK(rig_reply(r, t[i]));
        snprintf(all[i], RIG_TEXT, "%s", rig_reply(r, t[i])->member);
    }
    for (int i = n - 1; i >= 0; i--)
        rig_sync(r, all[i], r->g.generation, "");
    CHECK(r->g.state == GROUP_STABLE);
    for (int i = 0; ids && i < n; i++)
        memcpy(ids[i], all[i], RIG_TEXT);
}

void rig_check(const struct rig *r)
{
    const struct group *g = &r->g;
    uint32_t statics = 0;
    CHECK((g->state == GROUP_EMPTY) <= (g->members.n == 0));
    CHECK(!g->leader || map_get(&g->members, g->leader->id) == g->leader);
    MAP_EACH (e, &g->members) {
        const struct group_member *m = e->value;
        CHECK(slice_eq(e->key, m->id));
        statics += m->instance.p != NULL;
        CHECK(!m->instance.p || map_get(&g->instances, m->instance) == m);
        CHECK(!m->join_ready);
        CHECK(!m->sync_ready);
        CHECK(!m->join_token || g->state == GROUP_PREPARING);
        CHECK(!m->sync_token || g->state == GROUP_COMPLETING);
        /* Somebody waits for nothing only while parked. */
        CHECK(m->due != UINT64_MAX || m->join_token || m->sync_token);
    }
    CHECK(g->instances.n == statics);
}

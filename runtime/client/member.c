/* runtime/client/member.c - a member of a consumer group, classic protocol.
 *
 * Happy path: JoinGroup (twice for a new dynamic member, which is given its id first) -> the
 * leader deals out (member_lead.c) -> SyncGroup -> on_assign, heartbeats. A heartbeat that tells
 * of a rebalance: on_revoke -> member_revoked -> JoinGroup again; heartbeats go on meanwhile.
 *
 * Lost coordinators and cut connections are met by asking again. A membership that the
 * coordinator does not know any more is on_lost and a new join. A fenced instance, a group of
 * another kind, a refusal: on_lost with fatal, and nothing more. Join and Sync have connections
 * of their own, for the broker parks them. */
#include "runtime/client/member_internal.h"

enum {
    OWN_ARENA_MAX = 16 << 20,
    HEARTBEAT_MAX_MS = 3000,
    PARKED_EXTRA_MS = 10000, /* beyond our own rebalance timeout: others' may be longer */
    LEAVE_MS = 3000
};

static void join(struct member *m);
static void got_beat(struct call *call, int res, struct wire_in *in, int16_t version);

/* ---- states ---- */

static void stop_beats(struct member *m)
{
    client_cancel(m->client, &m->beat);
    env_timer_stop(m->client->env, &m->beat_timer);
}

static void start_beats(struct member *m)
{
    env_timer_set(m->client->env, &m->beat_timer,
                  m->client->env->now + ENV_MS(m->opt.heartbeat_ms));
}

static void set_id(struct member *m, struct slice id)
{
    char *copy = strndup(id.p ? (const char *)id.p : "", id.n);

    if (!copy)
        return; /* the coordinator will say that it does not know the old one */
    free(m->id);
    m->id = copy;
}

static void lost(struct member *m, enum kafka_error code, bool fatal)
{
    struct err e = {0};
    bool had = m->generation >= 0;

    err_set(&e, fatal ? ERR_BROKER : ERR_FENCED, "group \"%.*s\": %s", SLICE_FMT(m->group),
            kafka_error_name(code));
    stop_beats(m);
    lead_reset(m);
    m->generation = -1;
    m->n_assigned = 0;
    if (code != KAFKA_ILLEGAL_GENERATION)
        set_id(m, SLICE_NULL);
    m->state = MEMBER_IDLE;
    if (!fatal)
        join(m);
    if (had || fatal)
        m->opt.on_lost(m->opt.user, fatal, &e);
}

static bool is_fatal(enum kafka_error code)
{
    switch ((int)code) {
    case KAFKA_FENCED_INSTANCE_ID:
    case KAFKA_INCONSISTENT_GROUP_PROTOCOL:
    case KAFKA_INVALID_GROUP_ID:
    case KAFKA_INVALID_SESSION_TIMEOUT:
    case KAFKA_GROUP_AUTHORIZATION_FAILED:
    case KAFKA_GROUP_MAX_SIZE_REACHED:
    case KAFKA_UNSUPPORTED_VERSION: return true;
    default: return false;
    }
}

static void join_again(struct env_timer *t)
{
    struct member *m = list_entry(t, struct member, retry);

    if (m->state == MEMBER_SYNCING)
        member_sync(m);
    else
        join(m);
}

/* The same step once more: Sync if that is where we are, else Join. */
static void again_later(struct member *m, bool stale)
{
    if (stale)
        client_stale(m->client, CALL_GROUP, m->group);
    env_timer_set(m->client->env, &m->retry, client_backoff(m->client, &m->backoff));
}

void member_rejoin_later(struct member *m)
{
    m->state = MEMBER_JOINING;
    again_later(m, false);
}

/* What a Join or Sync was refused with. */
static void refused(struct member *m, enum kafka_error code)
{
    if (is_fatal(code)) {
        lost(m, code, true);
        return;
    }
    switch ((int)code) {
    case KAFKA_UNKNOWN_MEMBER_ID:
    case KAFKA_ILLEGAL_GENERATION: lost(m, code, false); return;
    case KAFKA_REBALANCE_IN_PROGRESS: join(m); return;
    default:
        env_debug(m->client->env, "member: %s", kafka_error_name(code));
        again_later(m, code != KAFKA_COORDINATOR_LOAD_IN_PROGRESS);
    }
}

/* ---- join ---- */

static int put_join(struct call *call, struct buf *out, int16_t version)
{
    struct member *m = list_entry(call, struct member, call);
    struct join_group_request_join_group_request_protocol p;
    struct join_group_request r;
    struct buf metadata;
    int rc;

    if (version < 5 && m->instance.p)
        return -ERR_UNSUPPORTED;
    buf_init(&metadata, OWN_ARENA_MAX);
    rc = lead_put_subscription(m, &metadata);
    join_group_request_init(&r);
    join_group_request_join_group_request_protocol_init(&p);
    p.name = slice_str("range");
    p.metadata = buf_slice(&metadata);
    r.group_id = m->group;
    r.session_timeout_ms = (int32_t)m->opt.session_timeout_ms;
    r.rebalance_timeout_ms = (int32_t)m->opt.rebalance_timeout_ms;
    r.member_id = slice_str(m->id);
    r.group_instance_id = m->instance;
    r.protocol_type = slice_str("consumer");
    r.protocols.v = &p;
    r.protocols.n = 1;
    if (!rc)
        rc = join_group_request_encode(&r, out, version);
    buf_deinit(&metadata);
    return rc;
}

static void joined(struct member *m, const struct join_group_response *r)
{
    bool leader = slice_eq(r->leader, r->member_id);
    int rc = 0;

    set_id(m, r->member_id);
    m->generation = r->generation_id;
    m->backoff = 0;
    if (leader && !r->skip_assignment) {
        rc = lead_start(m, r);
    } else {
        lead_reset(m);
        member_sync(m);
    }
    if (rc) {
        env_warn(m->client->env, "member: cannot lead: %s", err_text(rc));
        member_rejoin_later(m);
    }
}

static void got_join(struct call *call, int res, struct wire_in *in, int16_t version)
{
    struct member *m = list_entry(call, struct member, call);
    struct join_group_response r;

    if (!res)
        res = join_group_response_decode(&r, in, version);
    if (res == -ERR_CANCELED && m->client->closing)
        return;
    if (res == -ERR_UNSUPPORTED || res == -ERR_ACCESS) {
        lost(m, res == -ERR_ACCESS ? KAFKA_GROUP_AUTHORIZATION_FAILED : KAFKA_UNSUPPORTED_VERSION,
             true);
        return;
    }
    if (res) {
        again_later(m, true);
        return;
    }
    if (r.error_code == KAFKA_MEMBER_ID_REQUIRED) {
        set_id(m, r.member_id);
        join(m);
    } else if (r.error_code != KAFKA_NONE) {
        refused(m, r.error_code);
    } else {
        joined(m, &r);
    }
}

static void parked_call(struct member *m, int16_t api,
                        int (*encode)(struct call *, struct buf *, int16_t),
                        void (*done)(struct call *, int, struct wire_in *, int16_t))
{
    uint32_t patience = m->opt.rebalance_timeout_ms + PARKED_EXTRA_MS;

    m->call = (struct call){.api = api,
                            .to = CALL_GROUP,
                            .name = m->group,
                            .timeout_ms = patience + PARKED_EXTRA_MS,
                            .attempt_ms = patience,
                            .lane = m->lane,
                            .once = true,
                            .encode = encode,
                            .done = done};
    client_call(m->client, &m->call);
}

static void join(struct member *m)
{
    m->state = MEMBER_JOINING;
    stop_beats(m);
    client_cancel(m->client, &m->call);
    env_timer_stop(m->client->env, &m->retry);
    parked_call(m, API_JOIN_GROUP, put_join, got_join);
}

/* ---- sync ---- */

static int put_sync(struct call *call, struct buf *out, int16_t version)
{
    struct member *m = list_entry(call, struct member, call);
    struct sync_group_request_sync_group_request_assignment *v;
    struct sync_group_request r;
    int rc;

    v = calloc((size_t)m->lead.n + 1, sizeof *v);
    if (!v)
        return -ERR_NOMEM;
    for (int i = 0; i < m->lead.n; i++) {
        sync_group_request_sync_group_request_assignment_init(&v[i]);
        v[i].member_id = m->lead.v[i].m.id;
        v[i].assignment = m->lead.v[i].assignment;
    }
    sync_group_request_init(&r);
    r.group_id = m->group;
    r.generation_id = m->generation;
    r.member_id = slice_str(m->id);
    r.group_instance_id = m->instance;
    r.protocol_type = slice_str("consumer");
    r.protocol_name = slice_str("range");
    r.assignments.v = v;
    r.assignments.n = m->lead.n;
    rc = sync_group_request_encode(&r, out, version);
    free(v);
    return rc;
}

static int part_cmp(const void *pa, const void *pb)
{
    const struct topic_partition *a = pa, *b = pb;
    int c = slice_cmp(a->topic, b->topic);

    return c ? c : (a->partition > b->partition) - (a->partition < b->partition);
}

/* The assignment in our own memory, sorted. */
static int take_assignment(struct member *m, struct slice bytes)
{
    struct arena *a = &m->assigned_arena;
    struct consumer_protocol_assignment as;
    struct wire_in in;
    int16_t version;
    int n = 0;

    arena_reset(a);
    m->n_assigned = 0;
    if (bytes.n == 0)
        return 0;
    bytes = arena_copy(a, bytes);
    in = (struct wire_in){bytes.p, bytes.n, a};
    if (!bytes.p)
        return -ERR_NOMEM;
    if (wire_get_i16(&in, &version) || version < 0)
        return -ERR_INVALID;
    int rc = consumer_protocol_assignment_decode(&as, &in, version > 3 ? 3 : version);
    if (rc)
        return rc;
    for (int32_t i = 0; i < as.assigned_partitions.n; i++)
        n += as.assigned_partitions.v[i].partitions.n;
    m->assigned = arena_new(a, struct topic_partition, n + 1);
    if (!m->assigned)
        return -ERR_NOMEM;
    for (int32_t i = 0; i < as.assigned_partitions.n; i++)
        for (int32_t j = 0; j < as.assigned_partitions.v[i].partitions.n; j++)
            m->assigned[m->n_assigned++] = (struct topic_partition){
                as.assigned_partitions.v[i].topic, as.assigned_partitions.v[i].partitions.v[j]};
    qsort(m->assigned, (size_t)m->n_assigned, sizeof *m->assigned, part_cmp);
    return 0;
}

static void got_sync(struct call *call, int res, struct wire_in *in, int16_t version)
{
    struct member *m = list_entry(call, struct member, call);
    struct sync_group_response r;

    if (!res)
        res = sync_group_response_decode(&r, in, version);
    if (res == -ERR_CANCELED && m->client->closing)
        return;
    if (res) {
        again_later(m, true);
        return;
    }
    if (r.error_code != KAFKA_NONE) {
        refused(m, r.error_code);
        return;
    }
    res = take_assignment(m, r.assignment);
    lead_reset(m);
    if (res) {
        env_warn(m->client->env, "member: unreadable assignment: %s", err_text(res));
        member_rejoin_later(m);
        return;
    }
    m->state = MEMBER_STABLE;
    m->backoff = 0;
    start_beats(m);
    m->opt.on_assign(m->opt.user, m->generation, m->assigned, m->n_assigned);
}

void member_sync(struct member *m)
{
    m->state = MEMBER_SYNCING;
    parked_call(m, API_SYNC_GROUP, put_sync, got_sync);
}

/* ---- heartbeats ---- */

static int put_beat(struct call *call, struct buf *out, int16_t version)
{
    struct member *m = list_entry(call, struct member, beat);
    struct heartbeat_request r;

    heartbeat_request_init(&r);
    r.group_id = m->group;
    r.generation_id = m->generation;
    r.member_id = slice_str(m->id);
    r.group_instance_id = m->instance;
    return heartbeat_request_encode(&r, out, version);
}

static void beat(struct env_timer *t)
{
    struct member *m = list_entry(t, struct member, beat_timer);

    m->beat = (struct call){.api = API_HEARTBEAT,
                            .to = CALL_GROUP,
                            .name = m->group,
                            .timeout_ms = m->opt.session_timeout_ms,
                            .attempt_ms = m->opt.session_timeout_ms / 3,
                            .encode = put_beat,
                            .done = got_beat};
    client_call(m->client, &m->beat);
}

static void got_beat(struct call *call, int res, struct wire_in *in, int16_t version)
{
    struct member *m = list_entry(call, struct member, beat);
    struct heartbeat_response r;

    if (!res)
        res = heartbeat_response_decode(&r, in, version);
    if (res == -ERR_CANCELED && m->client->closing)
        return;
    CHECK(m->state == MEMBER_STABLE || m->state == MEMBER_REVOKING);
    if (res || r.error_code == KAFKA_NOT_COORDINATOR ||
        r.error_code == KAFKA_COORDINATOR_NOT_AVAILABLE) {
        client_stale(m->client, CALL_GROUP, m->group);
    } else if (is_fatal(r.error_code)) {
        lost(m, r.error_code, true);
        return;
    } else if (r.error_code == KAFKA_UNKNOWN_MEMBER_ID ||
               r.error_code == KAFKA_ILLEGAL_GENERATION) {
        lost(m, r.error_code, false);
        return;
    }
    start_beats(m);
    if (!res && r.error_code == KAFKA_REBALANCE_IN_PROGRESS && m->state == MEMBER_STABLE) {
        m->state = MEMBER_REVOKING;
        m->opt.on_revoke(m->opt.user);
    }
}

void member_revoked(struct member *m)
{
    if (m->state == MEMBER_REVOKING)
        join(m);
}

/* ---- leave ---- */

static int put_leave(struct call *call, struct buf *out, int16_t version)
{
    struct member *m = list_entry(call, struct member, leave);
    struct leave_group_request_member_identity who;
    struct leave_group_request r;

    leave_group_request_init(&r);
    leave_group_request_member_identity_init(&who);
    r.group_id = m->group;
    if (version < 3) {
        r.member_id = slice_str(m->id);
    } else {
        who.member_id = slice_str(m->id);
        who.group_instance_id = m->instance;
        r.members.v = &who;
        r.members.n = 1;
    }
    return leave_group_request_encode(&r, out, version);
}

static void has_left(struct member *m)
{
    void (*done)(void *) = m->left;

    client_cancel(m->client, &m->leave);
    env_timer_stop(m->client->env, &m->leave_timer);
    m->left = NULL;
    if (done)
        done(m->left_user);
}

static void got_leave(struct call *call, int res, struct wire_in *in, int16_t version)
{
    has_left(list_entry(call, struct member, leave));
}

static void leave_timed_out(struct env_timer *t)
{
    has_left(list_entry(t, struct member, leave_timer));
}

static void stop(struct member *m)
{
    client_cancel(m->client, &m->call);
    env_timer_stop(m->client->env, &m->retry);
    stop_beats(m);
    lead_reset(m);
    m->state = MEMBER_IDLE;
    m->generation = -1;
}

void member_leave(struct member *m, void (*done)(void *user), void *user)
{
    bool member = m->id[0] != 0;

    stop(m);
    m->left = done;
    m->left_user = user;
    env_timer_set(m->client->env, &m->leave_timer,
                  m->client->env->now + (member ? ENV_MS(LEAVE_MS) : 0));
    if (!member)
        return;
    m->leave = (struct call){.api = API_LEAVE_GROUP,
                             .to = CALL_GROUP,
                             .name = m->group,
                             .timeout_ms = LEAVE_MS,
                             .encode = put_leave,
                             .done = got_leave};
    client_call(m->client, &m->leave);
}

/* ---- begin and end ---- */

struct group_identity member_identity(const struct member *m)
{
    return (struct group_identity){.group = m->group,
                                   .member = slice_str(m->id),
                                   .instance = m->instance,
                                   .generation = m->generation};
}

bool member_stable(const struct member *m)
{
    return m->state == MEMBER_STABLE;
}

void member_start(struct member *m)
{
    if (m->state == MEMBER_IDLE)
        join(m);
}

static int copy_options(struct member *m, const struct member_options *o)
{
    struct member_options *opt = &m->opt;

    *opt = *o;
    if (!opt->session_timeout_ms)
        opt->session_timeout_ms = 15000;
    if (!opt->rebalance_timeout_ms)
        opt->rebalance_timeout_ms = 10000;
    if (!opt->heartbeat_ms)
        opt->heartbeat_ms = opt->session_timeout_ms / 3 < HEARTBEAT_MAX_MS
                                ? opt->session_timeout_ms / 3
                                : HEARTBEAT_MAX_MS;
    m->group = arena_copy(&m->own, o->group);
    m->instance = arena_copy(&m->own, o->instance);
    m->topics = arena_new(&m->own, struct slice, o->n_topics + 1);
    if (!m->group.p || !m->topics)
        return -ERR_NOMEM;
    for (int i = 0; i < o->n_topics; i++) {
        m->topics[i] = arena_copy(&m->own, o->topics[i]);
        if (!m->topics[i].p)
            return -ERR_NOMEM;
    }
    opt->topics = m->topics;
    return 0;
}

int member_open(struct member **out, struct client *c, const struct member_options *o)
{
    struct member *m = calloc(1, sizeof *m);
    int rc;

    if (!m)
        return -ERR_NOMEM;
    m->client = c;
    m->lane = client_lane(c);
    m->generation = -1;
    m->retry.fire = join_again;
    m->beat_timer.fire = beat;
    m->leave_timer.fire = leave_timed_out;
    arena_init(&m->own, OWN_ARENA_MAX);
    arena_init(&m->assigned_arena, OWN_ARENA_MAX);
    lead_init(m);
    m->id = strdup("");
    rc = m->id ? copy_options(m, o) : -ERR_NOMEM;
    if (rc) {
        member_free(m);
        return rc;
    }
    *out = m;
    return 0;
}

void member_free(struct member *m)
{
    if (!m)
        return;
    stop(m);
    client_cancel(m->client, &m->leave);
    env_timer_stop(m->client->env, &m->leave_timer);
    client_lane_close(m->client, m->lane);
    lead_deinit(m);
    arena_deinit(&m->own);
    arena_deinit(&m->assigned_arena);
    free(m->id);
    free(m);
}

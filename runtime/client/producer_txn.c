/* runtime/client/producer_txn.c - a producer's id, enrolments, offsets in transactions, and
 * their ends.
 *
 * Each of the four is a step: a call that is sent once, judged by the session, and sent again
 * after a pause until it is decided or its time is over. A step's call is never repeated behind
 * the session's back, for a copy that may still be under way is what version 1 has to know of.
 *
 * Under version 1 the session may ask for a new epoch after an end; the end is told when that is
 * done, so that the next begin finds everything ready. */
#include "runtime/client/producer_internal.h"
#include <stdio.h>

enum { OFFSETS_ARENA_MAX = 64 << 20, END_TIMES = 2 };

static void step_fire(struct env_timer *t)
{
    struct pstep *s = list_entry(t, struct pstep, timer);
    s->send(s->p);
}

static void step_start(struct pstep *s, uint64_t patience, producer_done done, void *user)
{
    s->busy = true;
    s->done = done;
    s->user = user;
    s->backoff = 0;
    s->deadline = s->p->client->env->now + patience;
    s->send(s->p);
}

static void step_stop(struct pstep *s)
{
    client_cancel(s->p->client, &s->call);
    env_timer_stop(s->p->client->env, &s->timer);
    s->timer.fire = step_fire;
    s->busy = false;
}

static void step_end(struct pstep *s, int res)
{
    struct err e = s->p->why;

    step_stop(s);
    if (res && !e.text[0])
        err_set(&e, -res, "%s", err_text(res));
    e.code = -res;
    producer_wake(s->p);
    if (s->done)
        s->done(s->user, res, &e);
}

/* False: its time is over. */
static bool step_again(struct pstep *s)
{
    uint64_t at = producer_pause(s->p, &s->backoff);

    if (at >= s->deadline)
        return false;
    env_timer_set(s->p->client->env, &s->timer, at);
    return true;
}

static void step_call(struct pstep *s, struct call call)
{
    struct client *c = s->p->client;
    uint64_t left = s->deadline > c->env->now ? s->deadline - c->env->now : 0;

    call.once = true;
    call.timeout_ms = (uint32_t)(left / 1000000u) + 1;
    s->call = call;
    client_call(c, &s->call);
}

static struct slice id_of(const struct producer *p)
{
    return slice_str(p->id);
}

/* ---- InitProducerId ---- */

static void init_again(struct producer *p, bool stale, const char *why)
{
    if (stale && p->id)
        client_stale(p->client, CALL_TXN, id_of(p));
    if (step_again(&p->init))
        return;
    producer_failed(p, "InitProducerId: %s", why);
    step_end(&p->init, -ERR_TIMEOUT);
}

static int put_init(struct call *call, struct buf *out, int16_t version)
{
    struct producer *p = list_entry(call, struct producer, init.call);
    struct init_producer_id_request m;

    init_producer_id_request_init(&m);
    m.transactional_id = id_of(p);
    m.transaction_timeout_ms = (int32_t)p->opt.transaction_timeout_ms;
    session_init_request(&p->session, &m.producer_id, &m.producer_epoch);
    if (version < 3 && m.producer_id >= 0) {
        m.producer_id = -1;
        m.producer_epoch = -1;
    }
    return init_producer_id_request_encode(&m, out, version);
}

static void got_init(struct call *call, int res, struct wire_in *in, int16_t version)
{
    struct producer *p = list_entry(call, struct producer, init.call);
    struct init_producer_id_response m;
    enum session_verdict v;

    if (!res)
        res = init_producer_id_response_decode(&m, in, version);
    if (res && (!call->attempt || res == -ERR_CANCELED)) {
        if (res == -ERR_CANCELED || res == -ERR_UNSUPPORTED || res == -ERR_ACCESS)
            step_end(&p->init, res == -ERR_CANCELED ? res : -ERR_BROKER);
        else
            init_again(p, false, err_text(res));
        return;
    }
    v = session_init_result(&p->session, !res, res ? KAFKA_NONE : m.error_code,
                            res ? -1 : m.producer_id, res ? -1 : m.producer_epoch);
    switch (v) {
    case SESSION_DONE: step_end(&p->init, 0); return;
    case SESSION_RETRY:
    case SESSION_RETRY_COORDINATOR:
        init_again(p, v == SESSION_RETRY_COORDINATOR,
                   res ? err_text(res) : kafka_error_name(m.error_code));
        return;
    case SESSION_REINIT:
        if (!p->init_auto) {
            init_again(p, false, kafka_error_name(m.error_code));
            return;
        }
        producer_failed(p, "InitProducerId: %s", kafka_error_name(m.error_code));
        step_end(&p->init, -ERR_FENCED);
        return;
    default:
        producer_failed(p, "InitProducerId: %s", kafka_error_name(m.error_code));
        step_end(&p->init, -ERR_BROKER);
    }
}

static void send_init(struct producer *p)
{
    step_call(&p->init, (struct call){.api = API_INIT_PRODUCER_ID,
                                      .to = p->id ? CALL_TXN : CALL_ANY,
                                      .name = id_of(p),
                                      .encode = put_init,
                                      .done = got_init});
}

static uint64_t delivery(const struct producer *p)
{
    return ENV_MS(p->opt.delivery_timeout_ms);
}

void producer_init_id(struct producer *p, producer_done done, void *user)
{
    step_stop(&p->init);
    step_stop(&p->enrol);
    step_stop(&p->offsets);
    step_stop(&p->end);
    p->end_renews = false;
    p->flush.busy = false;
    p->why.text[0] = 0;
    if (p->id) {
        producer_drop_all(p);
        p->session.forget = true;
    }
    p->init_auto = false;
    step_start(&p->init, delivery(p), done, user);
}

static void renewed(void *user, int res, const struct err *e)
{
    struct producer *p = user;

    if (!p->end_renews)
        return;
    /* The end itself is decided, whatever became of the new epoch: a begin will ask for it. */
    p->end_renews = false;
    step_end(&p->end, p->end_res);
}

static void renew(struct producer *p)
{
    p->init_auto = true;
    step_start(&p->init, delivery(p), renewed, p);
}

/* ---- begin ---- */

int producer_begin(struct producer *p)
{
    int rc;

    if (p->id && (p->session.state == SESSION_NONE || p->session.state == SESSION_UNKNOWN))
        return -ERR_FENCED;
    if (p->end.busy || p->init.busy)
        return -ERR_STATE;
    rc = session_begin(&p->session, client_txn_v2(p->client) ? 2 : 1);
    if (rc)
        return rc;
    p->why.text[0] = 0;
    MAP_EACH (e, &p->parts)
        ((struct ppart *)e->value)->last_offset = -1;
    return 0;
}

bool producer_in_txn(const struct producer *p)
{
    return p->session.state == SESSION_IN_TXN || p->session.state == SESSION_ABORT_NEEDED ||
           p->session.state == SESSION_ENDING;
}

/* ---- AddPartitionsToTxn ---- */

static int put_enrol(struct call *call, struct buf *out, int16_t version)
{
    struct producer *p = list_entry(call, struct producer, enrol.call);
    struct add_partitions_to_txn_request_add_partitions_to_txn_topic *t;
    struct add_partitions_to_txn_request m;
    int32_t n = 0, n_topics = 0, *parts;
    int rc;

    t = calloc(p->parts.n, sizeof *t);
    parts = calloc(p->parts.n, sizeof *parts);
    add_partitions_to_txn_request_init(&m);
    MAP_EACH (e, &p->parts) {
        struct ppart *part = e->value;
        if (!part->enrolling || !t || !parts)
            continue;
        if (!n_topics || !slice_eq(t[n_topics - 1].name, part->topic)) {
            add_partitions_to_txn_request_add_partitions_to_txn_topic_init(&t[n_topics]);
            t[n_topics].name = part->topic;
            t[n_topics++].partitions.v = parts + n;
        }
        parts[n++] = part->partition;
        t[n_topics - 1].partitions.n++;
    }
    m.v3_and_below_transactional_id = id_of(p);
    m.v3_and_below_producer_id = p->session.producer_id;
    m.v3_and_below_producer_epoch = p->session.epoch;
    m.v3_and_below_topics.v = t;
    m.v3_and_below_topics.n = n_topics;
    rc = t && parts ? add_partitions_to_txn_request_encode(&m, out, version) : -ERR_NOMEM;
    free(t);
    free(parts);
    return rc;
}

/* What is worse decides for the whole request: a retry repeats it all. */
static int severity(enum session_verdict v)
{
    switch (v) {
    case SESSION_DONE: return 0;
    case SESSION_RETRY: return 1;
    case SESSION_RETRY_COORDINATOR: return 2;
    case SESSION_STALE: return 3;
    default: return 4;
    }
}

static enum session_verdict
enrol_answer(struct producer *p, const struct add_partitions_to_txn_response *m, const char **why)
{
    enum session_verdict worst = SESSION_DONE;

    for (int32_t i = 0; i < m->results_by_topic_v3_and_below.n; i++) {
        const struct add_partitions_to_txn_response_add_partitions_to_txn_topic_result *t =
            &m->results_by_topic_v3_and_below.v[i];
        for (int32_t j = 0; j < t->results_by_partition.n; j++) {
            enum kafka_error code = t->results_by_partition.v[j].partition_error_code;
            struct ppart *part = NULL;
            enum session_verdict v;
            if (code == KAFKA_OPERATION_NOT_ATTEMPTED)
                continue; /* another partition's code tells why */
            MAP_EACH (e, &p->parts) {
                struct ppart *it = e->value;
                if (it->enrolling &&
                    it->partition == t->results_by_partition.v[j].partition_index &&
                    slice_eq(it->topic, t->name))
                    part = it;
            }
            v = session_enrol_result(&p->session, part ? &part->session : NULL, true, code);
            if (v == SESSION_DONE && part)
                part->enrolling = false;
            if (severity(v) > severity(worst)) {
                worst = v;
                *why = kafka_error_name(code);
            }
        }
    }
    return worst;
}

static void enrol_end(struct producer *p)
{
    MAP_EACH (e, &p->parts)
        ((struct ppart *)e->value)->enrolling = false;
    step_stop(&p->enrol);
    producer_wake(p);
}

static void got_enrol(struct call *call, int res, struct wire_in *in, int16_t version)
{
    struct producer *p = list_entry(call, struct producer, enrol.call);
    struct add_partitions_to_txn_response m;
    enum session_verdict v = SESSION_RETRY;
    const char *why = err_text(res);

    if (!res)
        res = add_partitions_to_txn_response_decode(&m, in, version);
    if (!res)
        v = enrol_answer(p, &m, &why);
    else if (call->attempt)
        v = session_enrol_result(&p->session, NULL, false, KAFKA_NONE);
    if (v == SESSION_RETRY_COORDINATOR)
        client_stale(p->client, CALL_TXN, id_of(p));
    if (v == SESSION_RETRY || v == SESSION_RETRY_COORDINATOR) {
        if (res != -ERR_CANCELED && step_again(&p->enrol))
            return;
        session_fail(&p->session);
        v = SESSION_ABORT;
    }
    if (v != SESSION_DONE && v != SESSION_STALE) {
        producer_failed(p, "AddPartitionsToTxn: %s", why);
        producer_drop_all(p);
    }
    enrol_end(p);
}

static void send_enrol(struct producer *p)
{
    session_enrol_sent(&p->session);
    step_call(&p->enrol, (struct call){.api = API_ADD_PARTITIONS_TO_TXN,
                                       .to = CALL_TXN,
                                       .name = id_of(p),
                                       .version_max = 3,
                                       .encode = put_enrol,
                                       .done = got_enrol});
}

static void enrol_pump(struct producer *p)
{
    bool any = false;

    if (p->enrol.busy || p->session.state != SESSION_IN_TXN)
        return;
    MAP_EACH (e, &p->parts) {
        struct ppart *part = e->value;
        part->enrolling = part->enrol && session_enrol_needed(&p->session, &part->session);
        part->enrol = false;
        any |= part->enrolling;
    }
    if (any)
        step_start(&p->enrol, p->client->request_timeout, NULL, NULL);
}

/* ---- offsets ---- */

static int put_offsets(struct call *call, struct buf *out, int16_t version)
{
    struct producer *p = list_entry(call, struct producer, offsets.call);
    struct txn_offset_commit_request_txn_offset_commit_request_partition *parts;
    struct txn_offset_commit_request_txn_offset_commit_request_topic *t;
    struct txn_offset_commit_request m;
    const struct group_identity *g = &p->off.group;
    int n_topics = 0, rc;

    if (version < 3 || (p->session.version >= 2 && version < 5))
        return -ERR_UNSUPPORTED;
    t = calloc((size_t)p->off.n + 1, sizeof *t);
    parts = calloc((size_t)p->off.n + 1, sizeof *parts);
    txn_offset_commit_request_init(&m);
    for (int i = 0; t && parts && i < p->off.n; i++) {
        const struct txn_offset *o = &p->off.v[i];
        txn_offset_commit_request_txn_offset_commit_request_partition_init(&parts[i]);
        parts[i].partition_index = o->partition;
        parts[i].committed_offset = o->offset;
        parts[i].committed_leader_epoch = o->leader_epoch;
        parts[i].committed_metadata = o->metadata;
        if (!n_topics || !slice_eq(t[n_topics - 1].name, o->topic)) {
            txn_offset_commit_request_txn_offset_commit_request_topic_init(&t[n_topics]);
            t[n_topics].name = o->topic;
            t[n_topics++].partitions.v = &parts[i];
        }
        t[n_topics - 1].partitions.n++;
    }
    m.transactional_id = id_of(p);
    m.group_id = g->group;
    m.producer_id = p->session.producer_id;
    m.producer_epoch = p->session.epoch;
    m.generation_id_or_member_epoch = g->generation;
    if (g->member.p)
        m.member_id = g->member;
    m.group_instance_id = g->instance;
    m.topics.v = t;
    m.topics.n = n_topics;
    rc = t && parts ? txn_offset_commit_request_encode(&m, out, version) : -ERR_NOMEM;
    free(t);
    free(parts);
    return rc;
}

static int put_add_offsets(struct call *call, struct buf *out, int16_t version)
{
    struct producer *p = list_entry(call, struct producer, offsets.call);
    struct add_offsets_to_txn_request m;

    add_offsets_to_txn_request_init(&m);
    m.transactional_id = id_of(p);
    m.producer_id = p->session.producer_id;
    m.producer_epoch = p->session.epoch;
    m.group_id = p->off.group.group;
    return add_offsets_to_txn_request_encode(&m, out, version);
}

static enum session_verdict offsets_answer(struct producer *p, bool adding, struct wire_in *in,
                                           int16_t version, int *res, const char **why)
{
    struct add_offsets_to_txn_response a;
    struct txn_offset_commit_response m;
    enum session_verdict worst = SESSION_DONE, v;

    if (adding) {
        *res = add_offsets_to_txn_response_decode(&a, in, version);
        if (*res)
            return SESSION_RETRY;
        *why = kafka_error_name(a.error_code);
        return session_enrol_result(&p->session, NULL, true, a.error_code);
    }
    *res = txn_offset_commit_response_decode(&m, in, version);
    for (int32_t i = 0; !*res && i < m.topics.n; i++) {
        for (int32_t j = 0; j < m.topics.v[i].partitions.n; j++) {
            enum kafka_error code = m.topics.v[i].partitions.v[j].error_code;
            v = session_offsets_result(&p->session, true, code);
            if (severity(v) > severity(worst)) {
                worst = v;
                *why = kafka_error_name(code);
            }
        }
    }
    return worst;
}

static void offsets_end(struct producer *p, int res, const char *why)
{
    if (res) {
        producer_failed(p, "%s: %s", p->off.adding ? "AddOffsetsToTxn" : "TxnOffsetCommit", why);
        producer_drop_all(p);
    }
    step_end(&p->offsets, res);
}

static void got_offsets(struct call *call, int res, struct wire_in *in, int16_t version)
{
    struct producer *p = list_entry(call, struct producer, offsets.call);
    enum session_verdict v = SESSION_RETRY;
    const char *why = err_text(res);
    bool answered = !res;

    if (answered)
        v = offsets_answer(p, p->off.adding, in, version, &res, &why);
    if (res && (answered || call->attempt)) {
        v = session_offsets_result(&p->session, false, KAFKA_NONE);
        why = err_text(res);
    }
    if (v == SESSION_DONE && p->off.adding) {
        p->off.enrolled = p->session.txn;
        p->offsets.backoff = 0;
        p->offsets.send(p);
        return;
    }
    if (v == SESSION_DONE) {
        offsets_end(p, 0, NULL);
        return;
    }
    if (v == SESSION_RETRY_COORDINATOR)
        client_stale(p->client, call->to, call->name);
    if (v == SESSION_RETRY || v == SESSION_RETRY_COORDINATOR) {
        bool hopeless = res == -ERR_CANCELED || res == -ERR_UNSUPPORTED || res == -ERR_ACCESS;
        if (!hopeless && step_again(&p->offsets))
            return;
        session_fail(&p->session);
    }
    offsets_end(p, producer_standing(p) ? producer_standing(p) : -ERR_ABORTABLE, why);
}

static void send_offsets(struct producer *p)
{
    int rc = producer_standing(p);

    if (rc) {
        step_end(&p->offsets, rc);
        return;
    }
    p->off.adding = p->session.version < 2 && p->off.enrolled != p->session.txn;
    if (p->off.adding) {
        session_enrol_sent(&p->session);
        step_call(&p->offsets, (struct call){.api = API_ADD_OFFSETS_TO_TXN,
                                             .to = CALL_TXN,
                                             .name = id_of(p),
                                             .version_max = 3,
                                             .encode = put_add_offsets,
                                             .done = got_offsets});
        return;
    }
    session_offsets_sent(&p->session);
    step_call(&p->offsets, (struct call){.api = API_TXN_OFFSET_COMMIT,
                                         .to = CALL_GROUP,
                                         .name = p->off.group.group,
                                         .version_max = session_offsets_version(&p->session),
                                         .encode = put_offsets,
                                         .done = got_offsets});
}

static int copy_offsets(struct producer *p, const struct group_identity *g,
                        const struct txn_offset *v, int n)
{
    struct arena *a = &p->off.arena;
    struct txn_offset *to;

    arena_reset(a);
    to = arena_new(a, struct txn_offset, n ? n : 1);
    if (!to)
        return -ERR_NOMEM;
    for (int i = 0; i < n; i++) {
        to[i] = v[i];
        to[i].topic = arena_copy(a, v[i].topic);
        to[i].metadata = arena_copy(a, v[i].metadata);
        if (!to[i].topic.p)
            return -ERR_NOMEM;
    }
    if (p->off.group.group.p == NULL || !slice_eq(p->off.group.group, g->group))
        p->off.enrolled = 0;
    p->off.group = (struct group_identity){.group = arena_copy(a, g->group),
                                           .member = arena_copy(a, g->member),
                                           .instance = arena_copy(a, g->instance),
                                           .generation = g->generation};
    p->off.v = to;
    p->off.n = n;
    return p->off.group.group.p ? 0 : -ERR_NOMEM;
}

/* What fails at once is told from the loop all the same. */
static void offsets_refused(struct env_timer *t)
{
    struct pstep *s = list_entry(t, struct pstep, timer);

    step_end(s, producer_standing(s->p) ? producer_standing(s->p) : -ERR_NOMEM);
}

void producer_send_offsets(struct producer *p, const struct group_identity *g,
                           const struct txn_offset *offsets, int n, producer_done done, void *user)
{
    struct pstep *s = &p->offsets;

    CHECK(!s->busy);
    if (!p->id || producer_standing(p) || copy_offsets(p, g, offsets, n)) {
        s->busy = true;
        s->done = done;
        s->user = user;
        s->timer.fire = offsets_refused;
        env_timer_set(p->client->env, &s->timer, p->client->env->now);
        return;
    }
    step_start(s, p->client->request_timeout, done, user);
}

/* ---- EndTxn ---- */

static void end_decided(struct producer *p, int res)
{
    if (p->session.state != SESSION_NONE || res) {
        step_end(&p->end, res);
        return;
    }
    p->end_res = res;
    p->end_renews = true;
    renew(p);
}

static void end_judge(struct producer *p, enum session_verdict v, const char *why)
{
    if (v == SESSION_RETRY_COORDINATOR)
        client_stale(p->client, CALL_TXN, id_of(p));
    if (v == SESSION_RETRY || v == SESSION_RETRY_COORDINATOR) {
        if (step_again(&p->end))
            return;
        v = session_end_give_up(&p->session);
    }
    if (v == SESSION_DONE) {
        end_decided(p, 0);
        return;
    }
    producer_failed(p, "EndTxn(%s): %s", p->committing ? "commit" : "abort", why);
    switch (v) {
    case SESSION_ABORT: step_end(&p->end, -ERR_ABORTABLE); return;
    case SESSION_OUTCOME_UNKNOWN: step_end(&p->end, -ERR_UNKNOWN_OUTCOME); return;
    case SESSION_BROKEN: step_end(&p->end, -ERR_BROKER); return;
    default: step_end(&p->end, -ERR_FENCED); return;
    }
}

static int put_end(struct call *call, struct buf *out, int16_t version)
{
    struct producer *p = list_entry(call, struct producer, end.call);
    struct end_txn_request m;

    if (p->session.version >= 2 && version < 5)
        return -ERR_UNSUPPORTED;
    end_txn_request_init(&m);
    m.transactional_id = id_of(p);
    m.producer_id = p->session.producer_id;
    m.producer_epoch = p->session.epoch;
    m.committed = p->committing;
    return end_txn_request_encode(&m, out, version);
}

static void got_end(struct call *call, int res, struct wire_in *in, int16_t version)
{
    struct producer *p = list_entry(call, struct producer, end.call);
    struct end_txn_response m;

    if (!res)
        res = end_txn_response_decode(&m, in, version);
    if (res == -ERR_CANCELED) {
        p->end.deadline = 0;
        end_judge(p, SESSION_RETRY, err_text(res));
    } else if (res && !call->attempt) {
        end_judge(p, SESSION_RETRY, err_text(res)); /* never left */
    } else if (res) {
        end_judge(p, session_end_result(&p->session, false, KAFKA_NONE, -1, -1), err_text(res));
    } else {
        end_judge(
            p, session_end_result(&p->session, true, m.error_code, m.producer_id, m.producer_epoch),
            kafka_error_name(m.error_code));
    }
}

static void send_end(struct producer *p)
{
    step_call(&p->end, (struct call){.api = API_END_TXN,
                                     .to = CALL_TXN,
                                     .name = id_of(p),
                                     .version_max = session_end_version(&p->session),
                                     .encode = put_end,
                                     .done = got_end});
}

static void end_local(struct env_timer *t)
{
    struct producer *p = list_entry(t, struct producer, end.timer);

    end_decided(p, p->end_res);
}

void producer_end(struct producer *p, bool commit, producer_done done, void *user)
{
    struct pstep *s = &p->end;
    int rc;

    CHECK(!s->busy);
    if (!commit) {
        /* A step of this transaction that is under way has nothing to say any more. */
        enrol_end(p);
        step_stop(&p->offsets);
        p->flush.busy = false;
        producer_drop_all(p);
    }
    rc = commit && !list_empty(&p->all) ? -ERR_STATE : session_end_begin(&p->session, commit);
    p->committing = commit;
    if (rc > 0) {
        step_start(s, p->client->request_timeout * END_TIMES, done, user);
        return;
    }
    if (rc < 0 && producer_standing(p) < 0)
        rc = producer_standing(p);
    s->busy = true;
    s->done = done;
    s->user = user;
    p->end_res = rc;
    s->timer.fire = end_local;
    env_timer_set(p->client->env, &s->timer, p->client->env->now);
}

/* ---- all of them ---- */

void producer_txn_pump(struct producer *p)
{
    if (!p->id && p->session.state == SESSION_NONE && !p->init.busy && !list_empty(&p->all))
        renew(p);
    if (p->id)
        enrol_pump(p);
}

static void step_init(struct producer *p, struct pstep *s, void (*send)(struct producer *))
{
    s->p = p;
    s->send = send;
    s->timer.fire = step_fire;
}

void producer_txn_init(struct producer *p)
{
    step_init(p, &p->init, send_init);
    step_init(p, &p->enrol, send_enrol);
    step_init(p, &p->offsets, send_offsets);
    step_init(p, &p->end, send_end);
    arena_init(&p->off.arena, OFFSETS_ARENA_MAX);
}

void producer_txn_deinit(struct producer *p)
{
    step_stop(&p->init);
    step_stop(&p->enrol);
    step_stop(&p->offsets);
    step_stop(&p->end);
    arena_deinit(&p->off.arena);
}

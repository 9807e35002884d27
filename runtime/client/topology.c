/* runtime/client/topology.c - which topics, leaders and coordinators there are, and where a call
 * is to go.
 *
 * Happy path: a call or a lookup marks a topic stale -> one Metadata request for all stale ones
 * -> the answer fills the cache, watches are told, waiting calls resolve. Coordinators are asked
 * for one by one when a call needs them.
 *
 * One Metadata request at a time. Asking again for what the last answer told already waits, from
 * 2 ms on doubled up to a second, so that a leader in transition is met soon and not hammered. */
#include "runtime/client/client_internal.h"

static int put_metadata(struct call *call, struct buf *out, int16_t version);
static void got_metadata(struct call *call, int res, struct wire_in *in, int16_t version);

/* ---- topics ---- */

static struct topic *topic_get(struct client *c, struct slice name)
{
    struct topic *t = map_get(&c->topics, name);
    unsigned char *copy;

    if (t)
        return t;
    t = calloc(1, sizeof *t);
    copy = malloc(name.n + 1);
    if (!t || !copy || map_put(&c->topics, name, t)) {
        free(t);
        free(copy);
        return NULL;
    }
    if (name.n)
        memcpy(copy, name.p, name.n);
    copy[name.n] = 0;
    t->t.name = slice_of(copy, name.n);
    t->t.n_partitions = -1;
    return t;
}

static bool topic_whole(const struct topic *t)
{
    for (int32_t i = 0; i < t->t.n_partitions; i++)
        if (t->parts[i].leader < 0)
            return false;
    return t->t.n_partitions > 0;
}

/* 0 when it may yet come; else what ends the call. */
static int topic_refusal(const struct topic *t)
{
    switch (t->t.error) {
    case KAFKA_TOPIC_AUTHORIZATION_FAILED: return -ERR_ACCESS;
    case KAFKA_INVALID_TOPIC_EXCEPTION: return -ERR_INVALID;
    default: return 0;
    }
}

const struct client_topic *client_topic(struct client *c, struct slice name)
{
    struct topic *t = map_get(&c->topics, name);

    return t && t->known ? &t->t : NULL;
}

int32_t client_leader_epoch(struct client *c, struct slice name, int32_t partition)
{
    const struct topic *t = map_get(&c->topics, name);

    return t && t->known && partition < t->t.n_partitions ? t->parts[partition].leader_epoch : -1;
}

bool topology_leader(struct client *c, struct slice topic, int32_t partition, int32_t *leader,
                     int32_t *epoch)
{
    struct topic *t = topic_get(c, topic);

    if (!t)
        return false;
    if (t->known && !t->stale && partition < t->t.n_partitions && t->parts[partition].leader >= 0 &&
        client_node(c, t->parts[partition].leader)) {
        *leader = t->parts[partition].leader;
        *epoch = t->parts[partition].leader_epoch;
        return true;
    }
    t->stale = true;
    client_wake(c);
    return false;
}

/* ---- coordinators ---- */

static int put_find_coordinator(struct call *call, struct buf *out, int16_t version)
{
    struct coordinator *co = list_entry(call, struct coordinator, call);
    struct find_coordinator_request m;

    find_coordinator_request_init(&m);
    m.key = slice_of(co->name, co->name_n);
    m.key_type = co->type == CALL_TXN;
    return find_coordinator_request_encode(&m, out, version);
}

static void got_find_coordinator(struct call *call, int res, struct wire_in *in, int16_t version)
{
    struct coordinator *co = list_entry(call, struct coordinator, call);
    struct client *c = co->client;
    struct find_coordinator_response m;

    co->asking = false;
    if (res == -ERR_CANCELED)
        return;
    if (!res)
        res = find_coordinator_response_decode(&m, in, version);
    co->refused = 0;
    if (res || kafka_error_retriable(m.error_code)) {
        co->retry_at = client_backoff(c, &co->backoff);
    } else if (m.error_code == KAFKA_NONE) {
        struct node *n = client_node_learn(c, m.node_id, m.host, m.port);
        co->backoff = 0;
        co->node = n ? n->id : -1;
        if (!n)
            co->retry_at = client_backoff(c, &co->backoff);
    } else {
        env_warn(c->env, "client: FindCoordinator of \"%.*s\": %s", (int)co->name_n, co->name,
                 kafka_error_name(m.error_code));
        co->refused = m.error_code == KAFKA_GROUP_AUTHORIZATION_FAILED ||
                              m.error_code == KAFKA_TRANSACTIONAL_ID_AUTHORIZATION_FAILED
                          ? -ERR_ACCESS
                          : -ERR_BROKER;
        co->retry_at = c->env->now + ENV_S(1);
    }
    client_wake(c);
}

static struct coordinator *coordinator_get(struct client *c, enum call_target type,
                                           struct slice name, bool make)
{
    struct coordinator *co;
    unsigned char key[512] = {0};
    struct slice k = slice_of(key, name.n + 1);

    if (name.n >= sizeof key)
        return NULL;
    key[0] = (unsigned char)type;
    memcpy(key + 1, name.p ? name.p : (const unsigned char *)"", name.n);
    co = map_get(&c->coordinators, k);
    if (co || !make)
        return co;
    co = calloc(1, sizeof *co);
    if (!co)
        return NULL;
    co->name = malloc(name.n + 1);
    if (!co->name || map_put(&c->coordinators, k, co)) {
        free(co->name);
        free(co);
        return NULL;
    }
    memcpy(co->name, key + 1, name.n);
    co->name[name.n] = 0;
    co->name_n = name.n;
    co->client = c;
    co->type = type;
    co->node = -1;
    return co;
}

static struct node *coordinator_node(struct client *c, const struct call *call, int *res)
{
    struct coordinator *co = coordinator_get(c, call->to, call->name, true);
    struct node *n = co ? client_node(c, co->node) : NULL;

    if (!co)
        *res = call->name.n >= 511 ? -ERR_INVALID : -ERR_NOMEM;
    if (!co || n || co->asking)
        return n;
    if (co->retry_at > c->env->now) {
        *res = co->refused;
        client_wake_at(c, co->retry_at);
        return NULL;
    }
    co->asking = true;
    co->call = (struct call){.api = API_FIND_COORDINATOR,
                             .to = CALL_ANY,
                             .version_max = 3,
                             .encode = put_find_coordinator,
                             .done = got_find_coordinator};
    client_call(c, &co->call);
    return NULL;
}

/* ---- where to ---- */

static bool usable(const struct node *n)
{
    LIST_EACH (l, &n->peers) {
        struct peer *k = list_entry(l, struct peer, link);
        if (k->lane == 0 && k->state == PEER_READY)
            return true;
    }
    return false;
}

static uint64_t retry_at(const struct node *n)
{
    LIST_EACH (l, &n->peers) {
        struct peer *k = list_entry(l, struct peer, link);
        if (k->lane == 0)
            return k->state == PEER_SHUT || k->state == PEER_DOWN ? k->retry_at : 0;
    }
    return 0;
}

/* A node that answers, else the one that may be tried first. */
static struct node *any_node(struct client *c)
{
    struct node *best = NULL;

    LIST_EACH (l, &c->nodes) {
        struct node *n = list_entry(l, struct node, link);
        if (n->present && usable(n))
            return n;
        if (!best || (n->present && !best->present) ||
            (n->present == best->present && retry_at(n) < retry_at(best)))
            best = n;
    }
    return best;
}

static struct node *leader_node(struct client *c, const struct call *call, int *res)
{
    struct topic *t = topic_get(c, call->name);
    struct node *n = NULL;

    if (!t) {
        *res = -ERR_NOMEM;
        return NULL;
    }
    if (t->known && !t->stale) {
        *res = topic_refusal(t);
        if (*res)
            return NULL;
        if (call->partition >= 0 && call->partition < t->t.n_partitions)
            n = client_node(c, t->parts[call->partition].leader);
    }
    if (!n)
        t->stale = true;
    return n;
}

struct node *topology_resolve(struct client *c, const struct call *call, int *res)
{
    struct node *n = NULL;

    switch (call->to) {
    case CALL_ANY: return any_node(c);
    case CALL_LEADER: return leader_node(c, call, res);
    case CALL_GROUP:
    case CALL_TXN: return coordinator_node(c, call, res);
    case CALL_CONTROLLER:
        n = c->controller == CONTROLLER_NONE ? any_node(c) : client_node(c, c->controller);
        break;
    case CALL_NODE: n = client_node(c, call->partition); break;
    }
    if (!n)
        c->meta_nodes = true;
    return n;
}

void client_stale(struct client *c, enum call_target to, struct slice name)
{
    struct coordinator *co;
    struct topic *t;

    switch (to) {
    case CALL_LEADER:
        t = map_get(&c->topics, name);
        if (t)
            t->stale = true;
        break;
    case CALL_GROUP:
    case CALL_TXN:
        co = coordinator_get(c, to, name, false);
        if (co)
            co->node = -1;
        break;
    case CALL_CONTROLLER: c->controller = CONTROLLER_UNKNOWN; break;
    case CALL_ANY:
    case CALL_NODE: c->meta_nodes = true; break;
    }
    client_wake(c);
}

/* ---- lookups ---- */

static void lookup_end(struct client *c, struct topic_lookup *l, int res, const struct topic *t)
{
    list_remove(&l->call.link);
    env_timer_stop(c->env, &l->call.timer);
    l->call.client = NULL;
    l->done(l, res, t ? &t->t : NULL);
}

static void lookup_timed_out(struct env_timer *timer)
{
    struct call *call = list_entry(timer, struct call, timer);
    struct topic_lookup *l = list_entry(call, struct topic_lookup, call);
    struct client *c = call->client;
    struct topic *t = map_get(&c->topics, l->name);
    bool absent = t && t->known && t->t.error == KAFKA_UNKNOWN_TOPIC_OR_PARTITION;

    lookup_end(c, l, absent ? -ERR_NOT_FOUND : -ERR_TIMEOUT, absent ? t : NULL);
}

void client_topic_lookup(struct client *c, struct topic_lookup *l)
{
    l->call = (struct call){.client = c, .timer = {.fire = lookup_timed_out}};
    l->since = c->meta_n;
    list_push(&c->lookups, &l->call.link);
    env_timer_set(c->env, &l->call.timer,
                  c->env->now + (l->timeout_ms ? ENV_MS(l->timeout_ms) : c->request_timeout));
    client_wake(c);
}

void client_topic_cancel(struct client *c, struct topic_lookup *l)
{
    if (!l->call.client)
        return;
    list_remove(&l->call.link);
    env_timer_stop(c->env, &l->call.timer);
    l->call.client = NULL;
}

/* An answer to a request that was made after the lookup began decides it, or it goes on waiting. */
static bool lookup_decided(struct client *c, struct topic_lookup *l)
{
    struct topic *t = map_get(&c->topics, l->name);
    int res;

    if (!t || !t->known || t->told_n <= l->since)
        return false;
    res = topic_refusal(t);
    if (!res && t->t.error == KAFKA_UNKNOWN_TOPIC_OR_PARTITION && !l->create)
        res = -ERR_NOT_FOUND;
    if (!res && !topic_whole(t)) {
        t->stale = true;
        return false;
    }
    lookup_end(c, l, res, t);
    return true;
}

static void lookups_decide(struct client *c)
{
    bool again = true;

    /* A done may add and cancel lookups: begin anew after each. */
    while (again) {
        again = false;
        LIST_EACH (l, &c->lookups) {
            struct call *call = list_entry(l, struct call, link);
            if (lookup_decided(c, list_entry(call, struct topic_lookup, call))) {
                again = true;
                break;
            }
        }
    }
}

/* ---- asking ---- */

/* Marks what the next request asks for. Topics that may be created by being asked for go alone. */
static bool choose(struct client *c, bool *again)
{
    bool any = false;

    c->meta_create = false;
    MAP_EACH (e, &c->topics)
        ((struct topic *)e->value)->asked = false;
    LIST_EACH (l, &c->lookups) {
        struct topic_lookup *k =
            list_entry(list_entry(l, struct call, link), struct topic_lookup, call);
        struct topic *t = topic_get(c, k->name);
        if (!t)
            continue;
        t->stale = true;
        c->meta_create |= k->create;
        t->asked |= k->create;
    }
    MAP_EACH (k, &c->topics) {
        struct topic *t = k->value;
        if (!c->meta_create)
            t->asked = t->stale;
        if (!t->asked)
            continue;
        any = true;
        *again |= t->asked_n && t->asked_n == c->meta_n;
    }
    if (c->meta_nodes) {
        any = true;
        *again |= c->meta_nodes_n && c->meta_nodes_n == c->meta_n;
    }
    return any;
}

void topology_pump(struct client *c)
{
    bool again = false;

    if (c->meta_asking || !choose(c, &again))
        return;
    if (again && c->meta_retry_at <= c->meta_last) {
        uint64_t d = c->meta_backoff ? c->meta_backoff * 2 : c->retry_backoff / 8;
        if (d > ENV_MS(BACKOFF_MAX_MS))
            d = ENV_MS(BACKOFF_MAX_MS);
        c->meta_backoff = d;
        c->meta_retry_at = c->meta_last + d;
    }
    if (again && c->meta_retry_at > c->env->now) {
        client_wake_at(c, c->meta_retry_at);
        return;
    }
    if (!again)
        c->meta_backoff = 0;
    c->meta_n++;
    if (c->meta_nodes)
        c->meta_nodes_n = c->meta_n;
    c->meta_nodes = false;
    MAP_EACH (e, &c->topics) {
        struct topic *t = e->value;
        if (t->asked)
            t->asked_n = c->meta_n;
    }
    c->meta_asking = true;
    c->meta_call = (struct call){
        .api = API_METADATA, .to = CALL_ANY, .encode = put_metadata, .done = got_metadata};
    client_call(c, &c->meta_call);
}

static int put_metadata(struct call *call, struct buf *out, int16_t version)
{
    struct client *c = call->client;
    struct metadata_request m;
    uint32_t n = 0;
    int rc;

    metadata_request_init(&m);
    m.allow_auto_topic_creation = c->meta_create;
    m.topics.v = calloc(c->topics.n + 1, sizeof *m.topics.v);
    if (!m.topics.v)
        return -ERR_NOMEM;
    MAP_EACH (e, &c->topics) {
        struct topic *t = e->value;
        if (!t->asked)
            continue;
        metadata_request_metadata_request_topic_init(&m.topics.v[n]);
        m.topics.v[n++].name = t->t.name;
    }
    m.topics.n = (int32_t)n;
    rc = metadata_request_encode(&m, out, version);
    free(m.topics.v);
    return rc;
}

static int fill_topic(struct topic *t, const struct metadata_response_metadata_response_topic *m)
{
    int32_t n = m->partitions.n;

    if (n > t->parts_cap) {
        struct topic_part *parts = realloc(t->parts, sizeof *parts * (size_t)n);
        if (!parts)
            return -ERR_NOMEM;
        t->parts = parts;
        t->parts_cap = n;
    }
    for (int32_t i = 0; i < n; i++)
        t->parts[i] = (struct topic_part){-1, -1};
    for (int32_t i = 0; i < n; i++) {
        const struct metadata_response_metadata_response_partition *p = &m->partitions.v[i];
        if (p->partition_index >= 0 && p->partition_index < n)
            t->parts[p->partition_index] = (struct topic_part){p->leader_id, p->leader_epoch};
    }
    t->t.id = m->topic_id;
    t->t.error = m->error_code;
    t->t.internal = m->is_internal;
    t->t.n_partitions = m->error_code == KAFKA_NONE || n > 0 ? n : -1;
    t->known = true;
    return 0;
}

static void learn(struct client *c, const struct metadata_response *m)
{
    LIST_EACH (l, &c->nodes) {
        struct node *n = list_entry(l, struct node, link);
        n->present = n->id < 0 || m->brokers.n == 0;
    }
    for (int32_t i = 0; i < m->brokers.n; i++) {
        const struct metadata_response_metadata_response_broker *b = &m->brokers.v[i];
        struct node *n = client_node_learn(c, b->node_id, b->host, b->port);
        if (n)
            n->present = true;
    }
    c->controller = m->controller_id;
    for (int32_t i = 0; i < m->topics.n; i++) {
        struct topic *t = map_get(&c->topics, m->topics.v[i].name);
        if (!t || fill_topic(t, &m->topics.v[i]))
            continue;
        t->stale = false;
        t->told_n = t->asked_n;
    }
}

static void got_metadata(struct call *call, int res, struct wire_in *in, int16_t version)
{
    struct client *c = call->client;
    struct metadata_response m;

    c->meta_asking = false;
    c->meta_last = c->env->now;
    if (res == -ERR_CANCELED)
        return;
    if (!res)
        res = metadata_response_decode(&m, in, version);
    if (!res)
        learn(c, &m);
    else if (res == -ERR_REFUSED) /* the failed connection was told */
        env_debug(c->env, "client: no metadata: %s", err_text(res));
    else
        env_warn(c->env, "client: no metadata: %s", err_text(res));
    MAP_EACH (e, &c->topics)
        ((struct topic *)e->value)->asked = false;
    if (!res) {
        lookups_decide(c);
        LIST_EACH_SAFE (l, tmp, &c->watches) {
            struct client_watch *w = list_entry(l, struct client_watch, link);
            w->changed(w);
        }
    }
    client_wake(c);
}

/* ---- begin and end ---- */

void topology_init(struct client *c)
{
    map_init(&c->topics);
    map_init(&c->coordinators);
    list_init(&c->lookups);
    c->controller = CONTROLLER_UNKNOWN;
}

void topology_close(struct client *c)
{
    struct list *l;

    while ((l = list_first(&c->lookups))) {
        struct call *call = list_entry(l, struct call, link);
        lookup_end(c, list_entry(call, struct topic_lookup, call), -ERR_CANCELED, NULL);
    }
}

void topology_deinit(struct client *c)
{
    struct list *l;

    while ((l = list_first(&c->lookups))) {
        struct call *call = list_entry(l, struct call, link);
        client_topic_cancel(c, list_entry(call, struct topic_lookup, call));
    }
    MAP_EACH (e, &c->topics) {
        struct topic *t = e->value;
        free((void *)(uintptr_t)t->t.name.p);
        free(t->parts);
        free(t);
    }
    map_deinit(&c->topics);
    MAP_EACH (k, &c->coordinators) {
        struct coordinator *co = k->value;
        client_cancel(c, &co->call);
        free(co->name);
        free(co);
    }
    map_deinit(&c->coordinators);
}

/* runtime/client/peer.c - one connection to one node.
 *
 * Happy path: a call is queued -> connect -> ApiVersions (3, or 0 when the broker does not know
 * it) -> READY: queued calls are encoded into one buffer and sent, answers come in the order of
 * the requests.
 *
 * Failure: whatever goes wrong (refused, cut, an answer that does not parse or does not match,
 * silence for longer than a call's patience) ends the connection; its calls go back to the
 * client, which sends them again where that is allowed. Then the connection stays down for a
 * while that doubles up to a second. */
#include "runtime/client/client_internal.h"

static void peer_down(struct peer *k, int res);
static void peer_connect(struct peer *k);
static void peer_recv(struct peer *k);
static void ask_versions(struct peer *k, int16_t version);

static bool is_open(const struct peer *k)
{
    return k->state == PEER_VERSIONS || k->state == PEER_READY;
}

/* ---- sending ---- */

int peer_version(const struct peer *k, int16_t api, int16_t version_max)
{
    const struct wire_api *a = wire_api(api);
    struct version_range v = {0, -1};
    int max;

    if (!a || api >= API_KEYS)
        return -ERR_UNSUPPORTED;
    v = k->node->versions[api];
    max = v.max < a->max ? v.max : a->max;
    if (version_max && version_max < max)
        max = version_max;
    return max < v.min || max < a->min ? -ERR_UNSUPPORTED : max;
}

static void arm_patience(struct peer *k)
{
    uint64_t at = UINT64_MAX;

    LIST_EACH (l, &k->flights) {
        struct flight *f = list_entry(l, struct flight, link);
        if (f->give_up_at < at)
            at = f->give_up_at;
    }
    if (at != UINT64_MAX && (!k->timer.slot || at < k->timer.at))
        env_timer_set(k->client->env, &k->timer, at);
}

/* Appends header and body; 0 or a negative code with the buffer as it was. */
static int put_request(struct peer *k, int16_t api, int16_t version, struct call *call,
                       int (*body)(struct call *, struct buf *, int16_t))
{
    struct client *c = k->client;
    struct request_header h;
    size_t at = k->out.n;
    int rc = buf_put(&k->out, "\0\0\0\0", 4);

    request_header_init(&h);
    h.request_api_key = api;
    h.request_api_version = version;
    h.correlation_id = c->correlation;
    h.client_id = slice_str(c->id);
    if (!rc)
        rc = wire_request_header_put(&k->out, &h);
    if (!rc)
        rc = body(call, &k->out, version);
    if (!rc)
        rc = k->out.failed;
    if (rc) {
        k->out.n = at;
        k->out.failed = 0;
        return rc;
    }
    put_be32(k->out.p + at, (uint32_t)(k->out.n - at - 4));
    return 0;
}

static void flight_start(struct peer *k, struct flight *f, struct call *call, int16_t api,
                         int16_t version)
{
    struct client *c = k->client;
    uint64_t patience = c->request_timeout / 3;

    if (call && call->attempt_ms)
        patience = call->attempt_ms == UINT32_MAX ? UINT64_MAX : ENV_MS(call->attempt_ms);
    *f = (struct flight){
        .call = call, .correlation = c->correlation, .api = api, .version = version};
    f->give_up_at = patience == UINT64_MAX ? UINT64_MAX : c->env->now + patience;
    c->correlation = (c->correlation + 1) & INT32_MAX;
    list_push(&k->flights, &f->link);
}

static void send_call(struct peer *k, struct call *call)
{
    struct client *c = k->client;
    struct flight *f;
    int version = peer_version(k, call->api, call->version_max), rc;

    list_remove(&call->link);
    if (version < 0) {
        client_finish(c, call, version);
        return;
    }
    rc = put_request(k, call->api, (int16_t)version, call, call->encode);
    f = rc ? NULL : client_flight_new(c);
    if (!f) {
        client_finish(c, call, rc ? rc : -ERR_NOMEM);
        return;
    }
    flight_start(k, f, call, call->api, (int16_t)version);
    call->state = CALL_SENT;
    call->flight = f;
    call->attempt++;
}

static void sent(struct env_op *op, int64_t res)
{
    struct peer *k = list_entry(op, struct peer, op_send);

    k->sending = false;
    if (!is_open(k))
        return;
    if (res < 0) {
        peer_down(k, (int)res);
        return;
    }
    if (k->ask_again)
        ask_versions(k, 0);
    else if (!list_empty(&k->queue))
        env_task_add(k->client->env, &k->flush);
}

static void send_out(struct peer *k)
{
    if (!k->out.n)
        return;
    k->out_slice = buf_slice(&k->out);
    k->sending = true;
    env_send(&k->op_send, &k->stream, &k->out_slice, 1);
}

static void flush(struct env_task *t)
{
    struct peer *k = list_entry(t, struct peer, flush);
    struct list *l;

    if (k->state != PEER_READY || k->sending)
        return;
    buf_reset(&k->out);
    while (k->out.n < FLUSH_BYTES && (l = list_first(&k->queue)))
        send_call(k, list_entry(l, struct call, link));
    send_out(k);
    arm_patience(k);
}

/* ---- versions ---- */

static int put_api_versions(struct call *call, struct buf *out, int16_t version)
{
    struct api_versions_request m;

    api_versions_request_init(&m);
    m.client_software_name = slice_str("once");
    m.client_software_version = slice_str(ONCE_VERSION);
    return api_versions_request_encode(&m, out, version);
}

static void ask_versions(struct peer *k, int16_t version)
{
    struct flight *f;

    k->ask_again = false;
    buf_reset(&k->out);
    if (put_request(k, API_API_VERSIONS, version, NULL, put_api_versions) ||
        !(f = client_flight_new(k->client))) {
        peer_down(k, -ERR_NOMEM);
        return;
    }
    flight_start(k, f, NULL, API_API_VERSIONS, version);
    send_out(k);
}

static bool offered(const struct node *n, int16_t api, int16_t version)
{
    return n->versions[api].min <= version && n->versions[api].max >= version;
}

static void learn_versions(struct peer *k, const struct api_versions_response *m)
{
    struct node *n = k->node;
    struct client *c = k->client;
    int16_t level = 0;

    for (int i = 0; i < API_KEYS; i++)
        n->versions[i] = (struct version_range){0, -1};
    for (int32_t i = 0; i < m->api_keys.n; i++) {
        const struct api_versions_response_api_version *v = &m->api_keys.v[i];
        if (v->api_key >= 0 && v->api_key < API_KEYS)
            n->versions[v->api_key] = (struct version_range){v->min_version, v->max_version};
    }
    n->known = true;
    for (int32_t i = 0; i < m->finalized_features.n; i++)
        if (slice_eq_str(m->finalized_features.v[i].name, "transaction.version"))
            level = m->finalized_features.v[i].max_version_level;
    c->txn_v2 = level >= 2 && offered(n, API_PRODUCE, 12) && offered(n, API_END_TXN, 5) &&
                offered(n, API_TXN_OFFSET_COMMIT, 5);
    c->once = false;
    for (int32_t i = 0; i < m->supported_features.n; i++)
        if (slice_eq_str(m->supported_features.v[i].name, "once.version"))
            c->once = true;
    c->answered = true;
}

static void got_versions(struct peer *k, struct wire_in *in, int16_t version)
{
    struct api_versions_response m;
    int rc;

    if (in->n >= 2 && version > 0 && get_be16(in->p) == KAFKA_UNSUPPORTED_VERSION) {
        k->ask_again = k->sending;
        if (!k->sending)
            ask_versions(k, 0);
        return;
    }
    rc = api_versions_response_decode(&m, in, version);
    if (rc == 0 && m.error_code != KAFKA_NONE)
        rc = -ERR_UNSUPPORTED;
    if (rc) {
        env_warn(k->client->env, "client: %s: no usable answer to ApiVersions: %s",
                 k->node->address, err_text(rc));
        peer_down(k, rc);
        return;
    }
    learn_versions(k, &m);
    k->state = PEER_READY;
    k->backoff = 0;
    env_timer_stop(k->client->env, &k->timer);
    env_task_add(k->client->env, &k->flush);
    client_wake(k->client);
}

/* ---- receiving ---- */

static void handle_frame(struct peer *k, struct slice frame)
{
    struct client *c = k->client;
    struct list *l = list_first(&k->flights);
    struct wire_in in = {frame.p, frame.n, &c->arena};
    struct flight *f = l ? list_entry(l, struct flight, link) : NULL;
    struct call *call;
    int32_t correlation;
    int16_t api, version;

    if (!f || wire_response_header(&correlation, &in, f->api, f->version) ||
        correlation != f->correlation) {
        env_warn(c->env, "client: %s: an answer to no request of ours; reconnecting",
                 k->node->address);
        peer_down(k, -ERR_INVALID);
        return;
    }
    call = f->call;
    api = f->api;
    version = f->version;
    list_remove(&f->link);
    client_flight_free(c, f);
    arena_reset(&c->arena);
    if (k->state == PEER_VERSIONS && api == API_API_VERSIONS) {
        got_versions(k, &in, version);
        return;
    }
    if (!call)
        return;
    call->flight = NULL;
    call->state = CALL_IDLE;
    env_timer_stop(c->env, &call->timer);
    call->block = k->in;
    call->done(call, 0, &in, version);
}

/* Hands out every whole frame in the block. */
static void handle_frames(struct peer *k)
{
    while (is_open(k) && k->in_n - k->in_at >= 4) {
        uint32_t n = get_be32(k->in->bytes + k->in_at);
        if (n < 4 || n > FRAME_BYTES_MAX) {
            env_warn(k->client->env, "client: %s: an answer of %u bytes; reconnecting",
                     k->node->address, n);
            peer_down(k, -ERR_INVALID);
            return;
        }
        if (k->in_n - k->in_at - 4 < n)
            return;
        struct slice frame = slice_of(k->in->bytes + k->in_at + 4, n);
        k->in_at += 4 + (size_t)n;
        handle_frame(k, frame);
    }
}

/* Room for the rest of the frame that has begun, in a block whose older bytes may still be in
 * use. */
static int make_room(struct peer *k)
{
    size_t have = k->in_n - k->in_at, need = RECV_BYTES / 4;
    struct block *b;

    if (have >= 4)
        need = 4 + (size_t)get_be32(k->in->bytes + k->in_at);
    if (k->in && k->in->refs == 1 && k->in_at > 0 && need <= k->in->cap &&
        k->in->cap <= 4 * RECV_BYTES) {
        memmove(k->in->bytes, k->in->bytes + k->in_at, have);
        k->in_at = 0;
        k->in_n = have;
    }
    if (k->in && k->in_at + need <= k->in->cap)
        return 0;
    b = block_new(need > RECV_BYTES ? need : RECV_BYTES);
    if (!b)
        return -ERR_NOMEM;
    if (have)
        memcpy(b->bytes, k->in->bytes + k->in_at, have);
    block_unref(k->in);
    k->in = b;
    k->in_at = 0;
    k->in_n = have;
    return 0;
}

static void received(struct env_op *op, int64_t res)
{
    struct peer *k = list_entry(op, struct peer, op_recv);

    if (!is_open(k))
        return;
    if (res <= 0) {
        peer_down(k, res ? (int)res : -ERR_CLOSED);
        return;
    }
    k->in_n += (size_t)res;
    handle_frames(k);
    if (is_open(k))
        peer_recv(k);
}

static void peer_recv(struct peer *k)
{
    int rc = make_room(k);

    if (rc) {
        peer_down(k, rc);
        return;
    }
    env_recv(&k->op_recv, &k->stream, (struct span){k->in->bytes + k->in_n, k->in->cap - k->in_n});
}

/* ---- up and down ---- */

static void connected(struct env_op *op, int64_t res)
{
    struct peer *k = list_entry(op, struct peer, op_connect);

    if (k->state != PEER_CONNECTING)
        return;
    if (res < 0) {
        peer_down(k, (int)res);
        return;
    }
    k->state = PEER_VERSIONS;
    ask_versions(k, 3);
    if (is_open(k))
        peer_recv(k);
}

static void peer_connect(struct peer *k)
{
    struct client *c = k->client;
    uint64_t patience = c->request_timeout / 3;

    CHECK(k->state == PEER_DOWN);
    if (patience > ENV_MS(CONNECT_MAX_MS))
        patience = ENV_MS(CONNECT_MAX_MS);
    k->state = PEER_CONNECTING;
    c->n_open++;
    memset(&k->stream, 0, sizeof k->stream);
    k->stream.env = c->env;
    env_timer_set(c->env, &k->timer, c->env->now + patience);
    env_connect(&k->op_connect, &k->stream, k->node->address);
}

static void shut(struct env_op *op, int64_t res)
{
    struct peer *k = list_entry(op, struct peer, op_shut);
    struct client *c = k->client;

    k->state = PEER_DOWN;
    c->n_open--;
    block_unref(k->in);
    k->in = NULL;
    k->in_at = k->in_n = 0;
    k->sending = k->ask_again = false;
    if (k->discard)
        peer_free(k);
    else if (!list_empty(&k->queue))
        env_timer_set(c->env, &k->timer, k->retry_at);
    client_wake(c);
}

/* Calls are taken from here in the order they would have been answered. */
static void give_back(struct peer *k, int res)
{
    struct client *c = k->client;
    struct list back, *l;

    list_init(&back);
    while ((l = list_first(&k->flights))) {
        struct flight *f = list_entry(l, struct flight, link);
        struct call *call = f->call;
        list_remove(l);
        client_flight_free(c, f);
        if (!call)
            continue;
        call->flight = NULL;
        if (call->once || call->to == CALL_NODE)
            client_finish(c, call, res == -ERR_REFUSED ? -ERR_RESET : res);
        else
            list_push(&back, &call->link);
    }
    while ((l = list_first(&k->queue))) {
        struct call *call = list_entry(l, struct call, link);
        list_remove(l);
        if (call->to == CALL_NODE)
            client_finish(c, call, call->attempt ? res : -ERR_REFUSED);
        else
            list_push(&back, &call->link);
    }
    client_return(c, &back);
}

static void peer_down(struct peer *k, int res)
{
    struct client *c = k->client;

    CHECK(k->state != PEER_DOWN);
    if (k->state == PEER_SHUT)
        return;
    if (k->state == PEER_CONNECTING && !k->backoff && k->lane == 0 && res != -ERR_CANCELED)
        env_warn(c->env, "client: cannot connect to %s: %s; trying again", k->node->address,
                 err_text(res));
    else
        env_debug(c->env, "client: %s: connection %d down: %s", k->node->address, k->lane,
                  err_text(res));
    k->state = PEER_SHUT;
    env_timer_stop(c->env, &k->timer);
    env_task_stop(&k->flush);
    k->retry_at = client_backoff(c, &k->backoff);
    give_back(k, res);
    env_shut(&k->op_shut, &k->stream);
}

static void fire(struct env_timer *t)
{
    struct peer *k = list_entry(t, struct peer, timer);
    uint64_t now = k->client->env->now;

    switch (k->state) {
    case PEER_DOWN:
        if (!list_empty(&k->queue))
            peer_connect(k);
        return;
    case PEER_CONNECTING:
    case PEER_VERSIONS: peer_down(k, -ERR_TIMEOUT); return;
    case PEER_READY: break;
    case PEER_SHUT: return;
    }
    LIST_EACH (l, &k->flights) {
        if (list_entry(l, struct flight, link)->give_up_at > now)
            continue;
        env_warn(k->client->env, "client: %s: no answer; reconnecting", k->node->address);
        peer_down(k, -ERR_TIMEOUT);
        return;
    }
    arm_patience(k);
}

struct peer *peer_get(struct client *c, struct node *n, int lane)
{
    struct peer *k;

    LIST_EACH (l, &n->peers) {
        k = list_entry(l, struct peer, link);
        if (k->lane == lane && !k->discard)
            return k;
    }
    k = calloc(1, sizeof *k);
    if (!k)
        return NULL;
    k->client = c;
    k->node = n;
    k->lane = lane;
    k->op_connect.done = connected;
    k->op_recv.done = received;
    k->op_send.done = sent;
    k->op_shut.done = shut;
    k->flush.run = flush;
    k->timer.fire = fire;
    list_init(&k->queue);
    list_init(&k->flights);
    buf_init(&k->out, REQUEST_BYTES_MAX);
    list_push(&n->peers, &k->link);
    return k;
}

void peer_take(struct peer *k, struct call *call)
{
    struct client *c = k->client;

    call->state = CALL_QUEUED;
    list_push(&k->queue, &call->link);
    if (k->state == PEER_READY)
        env_task_add(c->env, &k->flush);
    else if (k->state == PEER_DOWN && k->retry_at <= c->env->now)
        peer_connect(k);
    else if (k->state == PEER_DOWN && !k->timer.slot)
        env_timer_set(c->env, &k->timer, k->retry_at);
}

void peer_shut(struct peer *k)
{
    k->discard = true;
    if (k->state == PEER_DOWN)
        peer_free(k);
    else
        peer_down(k, -ERR_CANCELED);
}

void peer_free(struct peer *k)
{
    struct list *l;

    while ((l = list_first(&k->flights))) {
        struct flight *f = list_entry(l, struct flight, link);
        if (f->call)
            client_cancel(k->client, f->call);
        list_remove(l);
        client_flight_free(k->client, f);
    }
    while ((l = list_first(&k->queue)))
        client_cancel(k->client, list_entry(l, struct call, link));
    env_timer_stop(k->client->env, &k->timer);
    env_task_stop(&k->flush);
    block_unref(k->in);
    buf_deinit(&k->out);
    list_remove(&k->link);
    free(k);
}

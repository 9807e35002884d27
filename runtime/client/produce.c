/* runtime/client/produce.c - which batches leave when, and what their answers mean.
 *
 * Happy path: every busy partition gives its next batch, the session stamps it, the batches of
 * one leader share a request; the answer frees them. Again until nothing more may go: at most
 * five a partition are in flight, oldest first.
 *
 * A stamped batch that has no answer, or one that means "again", is sent once more as the same
 * bytes, and nothing of its partition overtakes it. All else is the session's verdict. */
#include "runtime/client/producer_internal.h"

enum { REQUEST_MAX = 8 << 20, BATCH_OVERHEAD = 64 };

static void got_produce(struct call *call, int res, struct wire_in *in, int16_t version);

/* ---- requests ---- */

static int grow_request(struct producer *p, int n)
{
    void *t, *v;

    if (n <= p->req.cap)
        return 0;
    t = realloc(p->req.topics, (size_t)n * sizeof *p->req.topics);
    if (t)
        p->req.topics = t;
    v = realloc(p->req.parts, (size_t)n * sizeof *p->req.parts);
    if (v)
        p->req.parts = v;
    if (!t || !v)
        return -ERR_NOMEM;
    p->req.cap = n;
    return 0;
}

static int put_produce(struct call *call, struct buf *out, int16_t version)
{
    struct preq *q = list_entry(call, struct preq, call);
    struct producer *p = q->p;
    struct produce_request_topic_produce_data *t = NULL;
    struct produce_request m;
    int n_topics = 0;

    if (version < 3 || (p->id && p->session.version >= 2 && version < 12))
        return -ERR_UNSUPPORTED;
    if (grow_request(p, q->n))
        return -ERR_NOMEM;
    produce_request_init(&m);
    for (int i = 0; i < q->n; i++) {
        struct produce_request_partition_produce_data *d = &p->req.parts[i];
        struct ppart *part = q->v[i]->part;
        produce_request_partition_produce_data_init(d);
        d->index = part->partition;
        d->records = buf_slice(&q->v[i]->bytes);
        if (!t || !slice_eq(t->name, part->topic)) {
            t = &p->req.topics[n_topics++];
            produce_request_topic_produce_data_init(t);
            t->name = part->topic;
            t->partition_data.v = d;
        }
        t->partition_data.n++;
    }
    m.transactional_id = slice_str(p->id);
    m.acks = -1;
    m.timeout_ms = (int32_t)(p->client->request_timeout / 1000000u);
    m.topic_data.v = p->req.topics;
    m.topic_data.n = n_topics;
    return produce_request_encode(&m, out, version);
}

/* The request to this node that still takes batches. */
static struct preq *request_get(struct producer *p, struct list *forming, int32_t node)
{
    struct list *l;
    struct preq *q;

    LIST_EACH (it, forming) {
        q = list_entry(it, struct preq, link);
        if (q->node == node && q->bytes < REQUEST_MAX)
            return q;
    }
    l = list_first(&p->free_requests);
    if (l) {
        q = list_entry(l, struct preq, link);
        list_remove(l);
    } else {
        q = calloc(1, sizeof *q);
        if (!q)
            return NULL;
        q->p = p;
    }
    q->node = node;
    q->bytes = 0;
    q->n = 0;
    list_push(forming, &q->link);
    return q;
}

static int request_add(struct preq *q, struct pbatch *b)
{
    if (q->n == q->cap) {
        int cap = q->cap ? q->cap * 2 : 8;
        struct pbatch **v = realloc(q->v, (size_t)cap * sizeof(struct pbatch *));
        if (!v)
            return -ERR_NOMEM;
        q->v = v;
        q->cap = cap;
    }
    q->v[q->n++] = b;
    q->bytes += b->bytes.n + BATCH_OVERHEAD;
    return 0;
}

static void request_send(struct producer *p, struct preq *q)
{
    list_push(&p->requests, &q->link);
    q->call = (struct call){.api = API_PRODUCE,
                            .to = CALL_NODE,
                            .partition = q->node,
                            .version_max = p->id ? session_produce_version(&p->session) : 11,
                            .timeout_ms = UINT32_MAX,
                            .once = true,
                            .encode = put_produce,
                            .done = got_produce};
    client_call(p->client, &q->call);
}

/* ---- what leaves ---- */

static bool due(const struct producer *p, const struct pbatch *b)
{
    return p->flush.busy || list_entry(b->part->batches.prev, struct pbatch, link) != b ||
           b->bytes.n >= p->opt.batch_bytes ||
           p->client->env->now - b->created_at >= ENV_MS(p->opt.linger_ms);
}

/* The partition's next batch that may leave now, stamped; NULL: none. */
static struct pbatch *next_batch(struct producer *p, struct ppart *part)
{
    LIST_EACH (l, &part->batches) {
        struct pbatch *b = list_entry(l, struct pbatch, link);
        switch (b->state) {
        case BATCH_FLIGHT: continue;
        case BATCH_RETRY:
            if (b->retry_at <= p->client->env->now)
                return b;
            producer_wake_at(p, b->retry_at);
            return NULL;
        case BATCH_OPEN:
            if (!due(p, b)) {
                producer_wake_at(p, b->created_at + ENV_MS(p->opt.linger_ms));
                return NULL;
            }
            break;
        case BATCH_CLOSED: break;
        case BATCH_DROPPED: return NULL;
        }
        if (session_enrol_needed(&p->session, &part->session)) {
            part->enrol = true;
            return NULL;
        }
        return producer_batch_stamp(p, b) > 0 ? b : NULL;
    }
    return NULL;
}

/* One batch of each partition at most: a request holds no more. True when any was taken. */
static bool pass(struct producer *p)
{
    struct list forming, *l;
    bool any = false;

    list_init(&forming);
    LIST_EACH_SAFE (it, tmp, &p->busy) {
        struct ppart *part = list_entry(it, struct ppart, busy);
        int32_t leader, epoch;
        struct pbatch *b;
        struct preq *q;
        if (!topology_leader(p->client, part->topic, part->partition, &leader, &epoch))
            continue;
        if (part->n_flight && part->flight_node != leader)
            continue; /* what the old leader has is answered first */
        q = request_get(p, &forming, leader);
        b = q ? next_batch(p, part) : NULL;
        if (!b)
            continue;
        if (request_add(q, b)) {
            b->state = BATCH_RETRY;
            b->retry_at = p->client->env->now + ENV_MS(1);
            continue;
        }
        b->state = BATCH_FLIGHT;
        part->n_flight++;
        part->flight_node = leader;
        any = true;
    }
    while ((l = list_first(&forming))) {
        struct preq *q = list_entry(l, struct preq, link);
        list_remove(l);
        if (q->n)
            request_send(p, q);
        else
            list_push(&p->free_requests, &q->link);
    }
    return any;
}

/* ---- time ---- */

static void expire(struct producer *p)
{
    uint64_t now = p->client->env->now, limit = ENV_MS(p->opt.delivery_timeout_ms);

    LIST_EACH_SAFE (l, tmp, &p->all) {
        struct pbatch *b = list_entry(l, struct pbatch, all);
        enum session_verdict v = SESSION_FAIL;
        if (now - b->created_at < limit) {
            producer_wake_at(p, b->created_at + limit);
            return;
        }
        if (b->state == BATCH_FLIGHT)
            continue; /* its request has a limit of its own */
        if (b->state == BATCH_RETRY)
            v = session_batch_expired(&p->session, &b->part->session, &b->stamp);
        if (p->id) {
            session_fail(&p->session);
            producer_failed(p, "%.*s-%d: not acknowledged within %u ms", SLICE_FMT(b->part->topic),
                            b->part->partition, p->opt.delivery_timeout_ms);
            producer_drop_all(p);
            return;
        }
        producer_batch_fail(p, b, v == SESSION_FAIL_UNKNOWN ? -ERR_UNKNOWN_OUTCOME : -ERR_TIMEOUT);
    }
}

void produce_pump(struct producer *p)
{
    expire(p);
    if (producer_standing(p) || p->session.state != (p->id ? SESSION_IN_TXN : SESSION_IDLE))
        return;
    while (pass(p))
        continue;
}

/* ---- answers ---- */

static void batch_again(struct producer *p, struct pbatch *b, bool stale)
{
    b->state = BATCH_RETRY;
    b->retry_at = producer_pause(p, &b->backoff);
    if (stale)
        client_stale(p->client, CALL_LEADER, b->part->topic);
}

static void judge(struct producer *p, struct pbatch *b, bool answered, enum kafka_error code,
                  int64_t base_offset)
{
    struct ppart *part = b->part;
    bool dropped = b->state == BATCH_DROPPED;
    enum session_verdict v =
        session_produce_result(&p->session, &part->session, &b->stamp, answered, code);

    if (dropped) {
        producer_batch_free(p, b);
        return;
    }
    b->state = BATCH_CLOSED; /* in no request any more */
    switch (v) {
    case SESSION_DONE: producer_batch_done(p, b, base_offset); return;
    case SESSION_RETRY:
    case SESSION_RETRY_COORDINATOR: batch_again(p, b, false); return;
    case SESSION_RETRY_METADATA: batch_again(p, b, true); return;
    case SESSION_REWRITE: return;
    case SESSION_STALE: producer_batch_free(p, b); return;
    default: break;
    }
    producer_failed(p, "%.*s-%d: produce: %s", SLICE_FMT(part->topic), part->partition,
                    answered ? kafka_error_name(code) : "no answer");
    if (v == SESSION_FAIL || v == SESSION_FAIL_UNKNOWN)
        producer_batch_fail(p, b, v == SESSION_FAIL ? -ERR_BROKER : -ERR_UNKNOWN_OUTCOME);
    else
        producer_drop_all(p);
}

/* Takes the batch of that partition out of the request. */
static struct pbatch *take(struct preq *q, struct slice topic, int32_t partition)
{
    for (int i = 0; i < q->n; i++) {
        struct pbatch *b = q->v[i];
        if (!b || b->part->partition != partition || !slice_eq(b->part->topic, topic))
            continue;
        q->v[i] = NULL;
        b->part->n_flight--;
        return b;
    }
    return NULL;
}

static void take_answer(struct preq *q, const struct produce_response *m)
{
    for (int32_t i = 0; i < m->responses.n; i++) {
        const struct produce_response_topic_produce_response *t = &m->responses.v[i];
        for (int32_t j = 0; j < t->partition_responses.n; j++) {
            const struct produce_response_partition_produce_response *d =
                &t->partition_responses.v[j];
            struct pbatch *b = take(q, t->name, d->index);
            if (b)
                judge(q->p, b, true, d->error_code, d->base_offset);
        }
    }
}

/* The request never left: nothing was asked, so the session has nothing to know. */
static void not_sent(struct producer *p, struct pbatch *b, int res)
{
    if (b->state == BATCH_DROPPED) {
        producer_batch_free(p, b);
        return;
    }
    batch_again(p, b, true);
    if (res != -ERR_UNSUPPORTED || !p->id)
        return;
    session_fail(&p->session);
    producer_failed(p, "produce: the broker offers no version that this transaction can use");
    producer_drop_all(p);
}

static void got_produce(struct call *call, int res, struct wire_in *in, int16_t version)
{
    struct preq *q = list_entry(call, struct preq, call);
    struct producer *p = q->p;
    struct produce_response m;
    bool unsent = res && !call->attempt;

    if (!res)
        res = produce_response_decode(&m, in, version);
    if (!res)
        take_answer(q, &m);
    for (int i = 0; i < q->n; i++) {
        struct pbatch *b = q->v[i];
        if (!b)
            continue;
        q->v[i] = NULL;
        b->part->n_flight--;
        if (unsent)
            not_sent(p, b, res);
        else
            judge(p, b, false, KAFKA_NONE, -1);
    }
    list_remove(&q->link);
    list_push(&p->free_requests, &q->link);
    producer_wake(p);
}

void produce_deinit(struct producer *p)
{
    struct list *l;

    while ((l = list_first(&p->requests)) || (l = list_first(&p->free_requests))) {
        struct preq *q = list_entry(l, struct preq, link);
        client_cancel(p->client, &q->call);
        for (int i = 0; i < q->n; i++)
            if (q->v[i] && q->v[i]->state == BATCH_DROPPED)
                producer_batch_free(p, q->v[i]);
        list_remove(l);
        free(q->v);
        free(q);
    }
    free(p->req.topics);
    free(p->req.parts);
}

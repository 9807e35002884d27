/* runtime/client/fetch.c - the fetcher's requests and their answers.
 *
 * Happy path: at the end of a turn every partition that has room is put into its leader's next
 * request, one request a node in flight; the answer's batches are kept where they were received.
 *
 * An answer is taken per partition only if the partition is still at the version it was asked
 * at. Errors that mean "not here" ask for metadata and pause; an offset out of range and what
 * cannot be helped stop the partition until a seek and are told by fetcher_next. A request that
 * is parked at the broker when a partition is added or sought is given up together with its
 * connection, for nothing else would let the new one in before the wait is over. */
#include "runtime/client/fetcher_internal.h"

enum { HELD_WAIT_MS = 20, PATIENCE_MS = 10000 };

/* ---- requests ---- */

static int grow_request(struct fetcher *f, int n)
{
    void *t, *p;

    if (n <= f->req.cap)
        return 0;
    t = realloc(f->req.topics, (size_t)n * sizeof *f->req.topics);
    if (t)
        f->req.topics = t;
    p = realloc(f->req.parts, (size_t)n * sizeof *f->req.parts);
    if (p)
        f->req.parts = p;
    if (!t || !p)
        return -ERR_NOMEM;
    f->req.cap = n;
    return 0;
}

static int put_fetch(struct call *call, struct buf *out, int16_t version)
{
    struct fnode *n = list_entry(call, struct fnode, call);
    struct fetcher *f = n->f;
    struct fetch_request_fetch_topic *t = NULL;
    struct fetch_request m;
    int n_topics = 0, n_parts = 0;

    fetch_request_init(&m);
    if (grow_request(f, n->n_asked))
        return -ERR_NOMEM;
    for (int i = 0; i < n->n_asked; i++) {
        struct fetch_request_fetch_partition *p = &f->req.parts[n_parts];
        struct fpart *of = n->asked[i].p;
        if (!of) /* removed within the turn */
            continue;
        n_parts++;
        fetch_request_fetch_partition_init(p);
        p->partition = of->partition;
        p->current_leader_epoch = n->asked[i].leader_epoch;
        p->fetch_offset = n->asked[i].offset;
        p->partition_max_bytes = (int32_t)f->opt.partition_max_bytes;
        if (!t || !slice_eq(t->topic, of->topic)) {
            t = &f->req.topics[n_topics++];
            fetch_request_fetch_topic_init(t);
            t->topic = of->topic;
            t->partitions.v = p;
        }
        t->partitions.n++;
    }
    m.max_wait_ms = (int32_t)f->opt.max_wait_ms;
    if (n->held && m.max_wait_ms > HELD_WAIT_MS)
        m.max_wait_ms = HELD_WAIT_MS;
    m.min_bytes = (int32_t)f->opt.min_bytes;
    m.max_bytes = (int32_t)f->opt.max_bytes;
    m.isolation_level = f->opt.read_committed;
    m.topics.v = f->req.topics;
    m.topics.n = n_topics;
    return fetch_request_encode(&m, out, version);
}

static void got_fetch(struct call *call, int res, struct wire_in *in, int16_t version);

static struct fnode *node_get(struct fetcher *f, int32_t id)
{
    struct fnode *n;

    LIST_EACH (l, &f->nodes) {
        n = list_entry(l, struct fnode, link);
        if (n->id == id)
            return n;
    }
    n = calloc(1, sizeof *n);
    if (!n)
        return NULL;
    n->f = f;
    n->id = id;
    list_push(&f->nodes, &n->link);
    return n;
}

static int ask(struct fnode *n, struct fpart *p, int32_t leader_epoch)
{
    if (n->n_asked == n->cap) {
        int cap = n->cap ? n->cap * 2 : 8;
        struct asked *v = realloc(n->asked, (size_t)cap * sizeof *v);
        if (!v)
            return -ERR_NOMEM;
        n->asked = v;
        n->cap = cap;
    }
    n->asked[n->n_asked++] = (struct asked){p, p->version, p->fetch_offset, leader_epoch};
    p->asked_version = p->version;
    p->fresh = false;
    return 0;
}

/* Nothing in the request counts any more. */
static void release(struct fnode *n)
{
    for (int i = 0; i < n->n_asked; i++)
        if (n->asked[i].p && n->asked[i].p->asked_version == n->asked[i].version)
            n->asked[i].p->asked_version = 0;
    n->n_asked = 0;
    n->busy = false;
}

static void renew(struct fetcher *f, struct fnode *n)
{
    client_cancel(f->client, &n->call);
    client_lane_cut(f->client, n->id, f->lane);
    release(n);
}

/* Puts p where it belongs: into the request of its leader, or among those that wait. */
static void place(struct fetcher *f, struct fpart *p, bool first_pass)
{
    struct env *env = f->client->env;
    int32_t leader, epoch;
    struct fnode *n;

    if (p->paused || p->stopped || p->asked_version == p->version)
        return;
    if (p->retry_at > env->now) {
        if (!f->timer.slot || p->retry_at < f->timer.at)
            env_timer_set(env, &f->timer, p->retry_at);
        return;
    }
    if (!topology_leader(f->client, p->topic, p->partition, &leader, &epoch))
        return;
    n = node_get(f, leader);
    if (!n)
        return;
    if (p->n_chunks >= f->opt.buffered_max)
        n->held = true;
    else if (n->busy)
        n->renew |= p->fresh;
    else if (!first_pass)
        ask(n, p, epoch);
}

static void run(struct env_task *t)
{
    struct fetcher *f = list_entry(t, struct fetcher, task);

    LIST_EACH (l, &f->nodes) {
        struct fnode *n = list_entry(l, struct fnode, link);
        n->held = n->renew = false;
    }
    LIST_EACH (l, &f->order)
        place(f, list_entry(l, struct fpart, order), true);
    LIST_EACH (l, &f->nodes) {
        struct fnode *n = list_entry(l, struct fnode, link);
        if (n->busy && n->renew)
            renew(f, n);
    }
    LIST_EACH (l, &f->order)
        place(f, list_entry(l, struct fpart, order), false);
    LIST_EACH (l, &f->nodes) {
        struct fnode *n = list_entry(l, struct fnode, link);
        if (n->busy || n->n_asked == 0)
            continue;
        n->busy = true;
        n->call = (struct call){.api = API_FETCH,
                                .to = CALL_NODE,
                                .partition = n->id,
                                .timeout_ms = UINT32_MAX,
                                .attempt_ms = f->opt.max_wait_ms + PATIENCE_MS,
                                .lane = f->lane,
                                .once = true,
                                .encode = put_fetch,
                                .done = got_fetch};
        client_call(f->client, &n->call);
    }
}

/* ---- answers ---- */

static void again_later(struct fpart *p, bool stale)
{
    p->retry_at = client_backoff(p->f->client, &p->backoff);
    if (stale)
        client_stale(p->f->client, CALL_LEADER, p->topic);
}

static void stop(struct fpart *p, int error, enum kafka_error code)
{
    p->stopped = true;
    p->error = error;
    p->code = code;
    p->error_offset = p->fetch_offset;
}

/* True when there is something to tell. */
static bool take_error(struct fpart *p, enum kafka_error code)
{
    switch ((int)code) {
    case KAFKA_OFFSET_OUT_OF_RANGE: stop(p, ERR_NOT_FOUND, code); return true;
    case KAFKA_CORRUPT_MESSAGE: stop(p, ERR_CORRUPT, code); return true;
    case KAFKA_UNKNOWN_SERVER_ERROR: again_later(p, false); return false;
    default: break;
    }
    if (kafka_error_retriable(code)) {
        again_later(p, true);
        return false;
    }
    stop(p, ERR_BROKER, code);
    return true;
}

static struct chunk *chunk_new(struct fetcher *f)
{
    struct list *l = list_first(&f->free_chunks);

    if (!l)
        return calloc(1, sizeof(struct chunk));
    list_remove(l);
    return list_entry(l, struct chunk, link);
}

/* The whole batches at the start of records; *next is the offset behind them. */
static struct slice whole_batches(struct slice records, int64_t *next, int *res)
{
    size_t at = 0;

    *res = 0;
    while (at < records.n) {
        struct batch_info b;
        int rc = batch_header(slice_sub(records, at, records.n), &b);
        if (rc == -ERR_SHORT)
            break;
        if (rc) {
            *res = rc;
            break;
        }
        if (batch_next_offset(&b) > *next)
            *next = batch_next_offset(&b);
        at += b.size;
    }
    return slice_sub(records, 0, at);
}

static int take_records(struct fpart *p, const struct fetch_response_partition_data *d,
                        struct block *block)
{
    struct fetcher *f = p->f;
    int rc;
    struct slice whole = whole_batches(d->records, &p->fetch_offset, &rc);
    struct chunk *k;

    if (!whole.n)
        return rc;
    k = chunk_new(f);
    if (!k)
        return -ERR_NOMEM;
    aborted_filter_reset(&k->aborted);
    k->rest = whole;
    k->opened = false;
    k->block = block_ref(block);
    list_push(&p->chunks, &k->link);
    p->n_chunks++;
    if (f->opt.read_committed)
        for (int32_t i = 0; !rc && i < d->aborted_transactions.n; i++)
            rc = aborted_filter_add(&k->aborted, d->aborted_transactions.v[i].producer_id,
                                    d->aborted_transactions.v[i].first_offset);
    if (rc == -ERR_NOMEM) {
        list_remove(&k->link);
        p->n_chunks--;
        fetcher_chunk_free(f, k);
    }
    /* Who had data is asked for last the next time. */
    list_remove(&p->order);
    list_push(&f->order, &p->order);
    return rc;
}

/* True when the user is to be told. */
static bool take_partition(struct fpart *p, const struct fetch_response_partition_data *d,
                           struct block *block)
{
    int64_t from = p->fetch_offset;
    bool news = !p->answered || d->high_watermark != p->high_watermark ||
                d->last_stable_offset != p->stable;
    int rc;

    if (d->error_code)
        return take_error(p, d->error_code);
    p->answered = true;
    p->backoff = 0;
    p->high_watermark = d->high_watermark;
    p->stable = d->last_stable_offset;
    p->log_start = d->log_start_offset;
    rc = take_records(p, d, block);
    if (rc == -ERR_NOMEM) {
        p->fetch_offset = from;
        again_later(p, false);
    } else if (rc) {
        stop(p, -rc, KAFKA_NONE);
    }
    return news || rc || p->fetch_offset != from;
}

static struct asked *find(struct fnode *n, struct slice topic, int32_t partition, int *hint)
{
    for (int k = 0; k < n->n_asked; k++) {
        int i = (*hint + k) % n->n_asked;
        struct fpart *p = n->asked[i].p;
        if (p && p->partition == partition && slice_eq(p->topic, topic)) {
            *hint = i + 1;
            return &n->asked[i];
        }
    }
    return NULL;
}

static bool take_answer(struct fnode *n, const struct fetch_response *m, struct block *block)
{
    bool news = false;
    int hint = 0;

    for (int32_t i = 0; i < m->responses.n; i++) {
        const struct fetch_response_fetchable_topic_response *t = &m->responses.v[i];
        for (int32_t j = 0; j < t->partitions.n; j++) {
            const struct fetch_response_partition_data *d = &t->partitions.v[j];
            struct asked *a = find(n, t->topic, d->partition_index, &hint);
            if (!a || a->version != a->p->version)
                continue;
            news |= take_partition(a->p, d, block);
            fetcher_ready_update(a->p);
        }
    }
    return news;
}

static void got_fetch(struct call *call, int res, struct wire_in *in, int16_t version)
{
    struct fnode *n = list_entry(call, struct fnode, call);
    struct fetcher *f = n->f;
    struct fetch_response m;
    bool news = false;

    if (!res)
        res = fetch_response_decode(&m, in, version);
    if (!res && m.error_code)
        res = -ERR_BROKER;
    if (!res)
        news = take_answer(n, &m, call->block);
    else
        for (int i = 0; i < n->n_asked; i++)
            if (n->asked[i].p && n->asked[i].p->version == n->asked[i].version)
                again_later(n->asked[i].p, true);
    release(n);
    if (res == -ERR_CANCELED && f->client->closing)
        return;
    env_task_add(f->client->env, &f->task);
    if (news && f->opt.ready)
        f->opt.ready(f->opt.user);
}

/* ---- begin and end ---- */

static void woken(struct env_timer *t)
{
    struct fetcher *f = list_entry(t, struct fetcher, timer);
    env_task_add(f->client->env, &f->task);
}

static void changed(struct client_watch *w)
{
    struct fetcher *f = list_entry(w, struct fetcher, watch);
    env_task_add(f->client->env, &f->task);
}

void fetch_init(struct fetcher *f)
{
    f->task.run = run;
    f->timer.fire = woken;
    f->watch.changed = changed;
    client_watch_add(f->client, &f->watch);
}

void fetch_forget(struct fetcher *f, struct fpart *p)
{
    LIST_EACH (l, &f->nodes) {
        struct fnode *n = list_entry(l, struct fnode, link);
        for (int i = 0; i < n->n_asked; i++)
            if (n->asked[i].p == p)
                n->asked[i].p = NULL;
    }
}

void fetch_deinit(struct fetcher *f)
{
    LIST_EACH_SAFE (l, tmp, &f->nodes) {
        struct fnode *n = list_entry(l, struct fnode, link);
        client_cancel(f->client, &n->call);
        list_remove(&n->link);
        free(n->asked);
        free(n);
    }
    list_remove(&f->watch.link);
    env_timer_stop(f->client->env, &f->timer);
    env_task_stop(&f->task);
    free(f->req.topics);
    free(f->req.parts);
}

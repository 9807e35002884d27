/* tests/runtime/client/support_fake.c - see the header. */
#include "support_fake.h"
#include "base/wire/kafka_error.h"
#include <stdio.h>
#include <stdlib.h>

static void conn_recv(struct fake_conn *k);

/* ---- appends ---- */

static int fits(const struct fake_part *p, const struct batch_info *b, int64_t *offset)
{
    const struct fake_batch *last = NULL;
    int mine = 0;

    for (int i = p->n - 1; i >= 0; i--) {
        const struct fake_batch *v = &p->v[i];
        if (v->pid != b->producer_id)
            continue;
        if (!last)
            last = v;
        if (v->epoch == b->producer_epoch && v->sequence == b->base_sequence && mine < 5) {
            assert_int_equal(v->crc, b->crc); /* a retry is the same bytes */
            assert_int_equal(v->count, b->count);
            *offset = v->offset;
            return 1;
        }
        mine++;
    }
    if (last && b->producer_epoch < last->epoch)
        return -KAFKA_INVALID_PRODUCER_EPOCH;
    int32_t expected = last && last->epoch == b->producer_epoch ? last->sequence + last->count : 0;
    return b->base_sequence == expected ? 0 : -KAFKA_OUT_OF_ORDER_SEQUENCE_NUMBER;
}

static int append(struct fake *f, int32_t partition, struct slice records, int16_t version,
                  int64_t *offset)
{
    struct fake_part *p = &f->parts[partition];
    struct batch_info b;
    int rc;

    assert_int_equal(batch_header(records, &b), 0);
    assert_int_equal(b.size, records.n);
    assert_true(batch_crc_ok(records));
    if (batch_is_transactional(&b)) {
        if (b.producer_id != f->pid)
            return KAFKA_INVALID_PRODUCER_ID_MAPPING;
        if (b.producer_epoch != f->epoch)
            return KAFKA_INVALID_PRODUCER_EPOCH;
        if (version < 12 && (f->txn_state != 1 || !p->enrolled))
            return KAFKA_INVALID_TXN_STATE;
        if (version >= 12) {
            f->txn_state = 1;
            p->enrolled = true;
        }
    }
    rc = fits(p, &b, offset);
    if (rc)
        return rc > 0 ? 0 : -rc;
    assert_true(p->n < FAKE_BATCHES);
    p->v[p->n++] = (struct fake_batch){.pid = b.producer_id,
                                       .offset = p->end,
                                       .sequence = b.base_sequence,
                                       .count = b.count,
                                       .epoch = b.producer_epoch,
                                       .crc = b.crc,
                                       .fate = !batch_is_transactional(&b),
                                       .at = p->bytes.n,
                                       .n = records.n};
    buf_put_slice(&p->bytes, records);
    batch_set_offset(p->bytes.p + p->bytes.n - records.n, p->end, 0);
    *offset = p->end;
    p->end += b.count;
    return 0;
}

void fake_each(struct fake *f, int partition, bool all,
               void (*each)(void *u, struct slice value, int64_t offset), void *u)
{
    struct fake_part *p = &f->parts[partition];

    for (int i = 0; i < p->n; i++) {
        struct record_iter it;
        struct record r;
        if (!all && p->v[i].fate != 1)
            continue;
        assert_int_equal(record_iter_init(&it, slice_of(p->bytes.p + p->v[i].at, p->v[i].n), NULL),
                         0);
        while (record_iter_next(&it, &r) > 0)
            each(u, r.value, r.offset);
    }
}

/* ---- the coordinator ---- */

static void decide(struct fake *f, bool commit, int16_t epoch)
{
    for (int i = 0; i < FAKE_PARTS; i++) {
        struct fake_part *p = &f->parts[i];
        for (int j = 0; j < p->n; j++)
            if (p->v[j].fate == 0)
                p->v[j].fate = commit ? 1 : 2;
        if (p->enrolled)
            p->end++; /* the marker's */
        p->enrolled = false;
    }
    if (commit && f->staged >= 0)
        f->offset = f->staged;
    f->staged = -1;
    f->group_enrolled = false;
    f->txn_state = commit ? 2 : 3;
    f->last_epoch = f->epoch;
    f->epoch = epoch;
}

static int init_id(struct fake *f, int64_t pid, int16_t epoch)
{
    if (f->pid < 0) {
        f->pid = f->next_pid++;
        f->epoch = 0;
        f->last_epoch = -1;
        return 0;
    }
    if (pid >= 0 && pid != f->pid)
        return KAFKA_PRODUCER_FENCED;
    if (pid >= 0 && epoch != f->epoch)
        return epoch == f->last_epoch ? 0 : KAFKA_PRODUCER_FENCED;
    if (f->txn_state == 1) {
        decide(f, false, (int16_t)(f->epoch + 1));
        return KAFKA_CONCURRENT_TRANSACTIONS; /* the retry gets it */
    }
    f->last_epoch = pid >= 0 ? f->epoch : -1;
    f->epoch++;
    f->txn_state = 0;
    return 0;
}

static int end_txn(struct fake *f, const struct end_txn_request *m, int16_t version)
{
    int want = m->committed ? 2 : 3;

    if (m->producer_id != f->pid)
        return KAFKA_INVALID_PRODUCER_ID_MAPPING;
    if (version >= 5) {
        if (m->producer_epoch == f->epoch && f->txn_state == 1) {
            decide(f, m->committed, (int16_t)(f->epoch + 1));
            return 0;
        }
        if (m->producer_epoch == f->epoch && !m->committed) {
            decide(f, false, (int16_t)(f->epoch + 1));
            return 0;
        }
        if (m->producer_epoch == f->epoch)
            return KAFKA_INVALID_TXN_STATE;
        if (m->producer_epoch == f->epoch - 1 && f->txn_state >= 2)
            return f->txn_state == want ? 0 : KAFKA_INVALID_TXN_STATE;
        return KAFKA_PRODUCER_FENCED;
    }
    if (m->producer_epoch != f->epoch)
        return KAFKA_PRODUCER_FENCED;
    if (f->txn_state == want)
        return 0;
    if (f->txn_state != 1)
        return KAFKA_INVALID_TXN_STATE;
    decide(f, m->committed, f->epoch);
    return 0;
}

static int enter(struct fake *f, int64_t pid, int16_t epoch)
{
    if (pid != f->pid)
        return KAFKA_INVALID_PRODUCER_ID_MAPPING;
    if (epoch != f->epoch)
        return KAFKA_PRODUCER_FENCED;
    f->txn_state = 1;
    return 0;
}

/* ---- requests ---- */

#define GIVE(type, m, out, version) assert_int_equal(type##_encode((m), (out), (version)), 0)
#define TAKE(type, m, in, version)  assert_int_equal(type##_decode((m), (in), (version)), 0)

static void on_api_versions(struct fake *f, struct wire_in *in, struct buf *out, int16_t version)
{
    struct api_versions_response m;
    struct api_versions_response_api_version v[64];
    struct api_versions_response_finalized_feature_key feature = {slice_str("transaction.version"),
                                                                  2, 1};
    int n;
    const struct wire_api *apis = wire_apis(&n);

    api_versions_response_init(&m);
    for (int i = 0; i < n; i++) {
        v[i] = (struct api_versions_response_api_version){apis[i].key, apis[i].min, apis[i].max};
        if (!f->v2 && apis[i].key == API_PRODUCE)
            v[i].max_version = 11;
    }
    m.api_keys.v = v;
    m.api_keys.n = n;
    m.finalized_features_epoch = 1;
    m.finalized_features.v = &feature;
    m.finalized_features.n = f->v2;
    GIVE(api_versions_response, &m, out, version);
}

static void on_metadata(struct fake *f, struct wire_in *in, struct buf *out, int16_t version)
{
    struct metadata_request rq;
    struct metadata_response m;
    struct metadata_response_metadata_response_broker b;
    struct metadata_response_metadata_response_topic t[8];
    struct metadata_response_metadata_response_partition p[FAKE_PARTS];

    TAKE(metadata_request, &rq, in, version);
    metadata_response_init(&m);
    metadata_response_metadata_response_broker_init(&b);
    b.node_id = 1;
    b.host = slice_str("broker");
    b.port = 9092;
    m.brokers.v = &b;
    m.brokers.n = 1;
    m.controller_id = 1;
    for (int i = 0; i < FAKE_PARTS; i++) {
        metadata_response_metadata_response_partition_init(&p[i]);
        p[i].partition_index = i;
        p[i].leader_id = 1;
    }
    assert_true(rq.topics.n <= 8);
    for (int i = 0; i < rq.topics.n; i++) {
        metadata_response_metadata_response_topic_init(&t[i]);
        t[i].name = rq.topics.v[i].name;
        if (slice_eq_str(t[i].name, "t")) {
            t[i].partitions.v = p;
            t[i].partitions.n = FAKE_PARTS;
        } else {
            t[i].error_code = KAFKA_UNKNOWN_TOPIC_OR_PARTITION;
        }
    }
    m.topics.v = t;
    m.topics.n = rq.topics.n > 0 ? rq.topics.n : 0;
    GIVE(metadata_response, &m, out, version);
}

static void on_find_coordinator(struct fake *f, int error, struct buf *out, int16_t version)
{
    struct find_coordinator_response m;

    find_coordinator_response_init(&m);
    m.error_code = (int16_t)error;
    m.node_id = 1;
    m.host = slice_str("broker");
    m.port = 9092;
    GIVE(find_coordinator_response, &m, out, version);
}

static void on_produce(struct fake *f, int error, struct wire_in *in, struct buf *out,
                       int16_t version)
{
    struct produce_request rq;
    struct produce_response m;
    struct produce_response_topic_produce_response t;
    struct produce_response_partition_produce_response p[FAKE_PARTS];

    TAKE(produce_request, &rq, in, version);
    produce_response_init(&m);
    produce_response_topic_produce_response_init(&t);
    assert_int_equal(rq.topic_data.n, 1);
    assert_true(rq.topic_data.v[0].partition_data.n <= FAKE_PARTS);
    t.name = rq.topic_data.v[0].name;
    t.partition_responses.v = p;
    t.partition_responses.n = rq.topic_data.v[0].partition_data.n;
    for (int i = 0; i < t.partition_responses.n; i++) {
        const struct produce_request_partition_produce_data *d =
            &rq.topic_data.v[0].partition_data.v[i];
        int64_t offset = -1;
        int code = error > 0 ? error : append(f, d->index, d->records, version, &offset);
        if (!code && error == FAKE_MAYBE)
            code = KAFKA_REQUEST_TIMED_OUT;
        produce_response_partition_produce_response_init(&p[i]);
        p[i].index = d->index;
        p[i].error_code = (int16_t)code;
        p[i].base_offset = code ? -1 : offset;
    }
    m.responses.v = &t;
    m.responses.n = 1;
    GIVE(produce_response, &m, out, version);
}

static void on_init(struct fake *f, int error, struct wire_in *in, struct buf *out, int16_t version)
{
    struct init_producer_id_request rq;
    struct init_producer_id_response m;

    TAKE(init_producer_id_request, &rq, in, version);
    init_producer_id_response_init(&m);
    if (!error && !rq.transactional_id.p) {
        m.producer_id = f->next_pid++;
    } else if (!error) {
        error = init_id(f, rq.producer_id, rq.producer_epoch);
        m.producer_id = error ? -1 : f->pid;
        m.producer_epoch = error ? -1 : f->epoch;
    }
    m.error_code = (int16_t)error;
    GIVE(init_producer_id_response, &m, out, version);
}

static void on_add_partitions(struct fake *f, int error, struct wire_in *in, struct buf *out,
                              int16_t version)
{
    struct add_partitions_to_txn_request rq;
    struct add_partitions_to_txn_response m;
    struct add_partitions_to_txn_response_add_partitions_to_txn_topic_result t;
    struct add_partitions_to_txn_response_add_partitions_to_txn_partition_result p[FAKE_PARTS];

    TAKE(add_partitions_to_txn_request, &rq, in, version);
    add_partitions_to_txn_response_init(&m);
    add_partitions_to_txn_response_add_partitions_to_txn_topic_result_init(&t);
    if (!error)
        error = enter(f, rq.v3_and_below_producer_id, rq.v3_and_below_producer_epoch);
    t.name = rq.v3_and_below_topics.v[0].name;
    for (int i = 0; i < rq.v3_and_below_topics.v[0].partitions.n; i++) {
        int32_t index = rq.v3_and_below_topics.v[0].partitions.v[i];
        if (!error)
            f->parts[index].enrolled = true;
        p[i].partition_index = index;
        p[i].partition_error_code = (int16_t)error;
    }
    t.results_by_partition.v = p;
    t.results_by_partition.n = rq.v3_and_below_topics.v[0].partitions.n;
    m.results_by_topic_v3_and_below.v = &t;
    m.results_by_topic_v3_and_below.n = 1;
    GIVE(add_partitions_to_txn_response, &m, out, version);
}

static void on_add_offsets(struct fake *f, int error, struct wire_in *in, struct buf *out,
                           int16_t version)
{
    struct add_offsets_to_txn_request rq;
    struct add_offsets_to_txn_response m;

    TAKE(add_offsets_to_txn_request, &rq, in, version);
    add_offsets_to_txn_response_init(&m);
    if (!error)
        error = enter(f, rq.producer_id, rq.producer_epoch);
    if (!error)
        f->group_enrolled = true;
    m.error_code = (int16_t)error;
    GIVE(add_offsets_to_txn_response, &m, out, version);
}

static void on_offsets(struct fake *f, int error, struct wire_in *in, struct buf *out,
                       int16_t version)
{
    struct txn_offset_commit_request rq;
    struct txn_offset_commit_response m;
    struct txn_offset_commit_response_txn_offset_commit_response_topic t;
    struct txn_offset_commit_response_txn_offset_commit_response_partition p;

    TAKE(txn_offset_commit_request, &rq, in, version);
    txn_offset_commit_response_init(&m);
    txn_offset_commit_response_txn_offset_commit_response_topic_init(&t);
    if (!error && version >= 5) {
        error = enter(f, rq.producer_id, rq.producer_epoch);
    } else if (!error) {
        if (rq.producer_epoch != f->epoch)
            error = KAFKA_INVALID_PRODUCER_EPOCH;
        else if (f->txn_state != 1 || !f->group_enrolled)
            error = KAFKA_INVALID_TXN_STATE;
    }
    if (!error)
        f->staged = rq.topics.v[0].partitions.v[0].committed_offset;
    p.partition_index = 0;
    p.error_code = (int16_t)error;
    t.name = rq.topics.v[0].name;
    t.partitions.v = &p;
    t.partitions.n = 1;
    m.topics.v = &t;
    m.topics.n = 1;
    GIVE(txn_offset_commit_response, &m, out, version);
}

static void on_offset_fetch(struct fake *f, int error, struct wire_in *in, struct buf *out,
                            int16_t version)
{
    struct offset_fetch_request rq;
    struct offset_fetch_response m;
    struct offset_fetch_response_offset_fetch_response_topic t;
    struct offset_fetch_response_offset_fetch_response_partition p;

    TAKE(offset_fetch_request, &rq, in, version);
    offset_fetch_response_init(&m);
    offset_fetch_response_offset_fetch_response_topic_init(&t);
    offset_fetch_response_offset_fetch_response_partition_init(&p);
    m.error_code = (int16_t)error;
    t.name = rq.topics.v[0].name;
    p.partition_index = rq.topics.v[0].partition_indexes.v[0];
    p.committed_offset = f->staged >= 0 ? -1 : f->offset;
    p.error_code = f->staged >= 0 ? KAFKA_UNSTABLE_OFFSET_COMMIT : KAFKA_NONE;
    t.partitions.v = &p;
    t.partitions.n = 1;
    m.topics.v = &t;
    m.topics.n = 1;
    GIVE(offset_fetch_response, &m, out, version);
}

static void on_end(struct fake *f, int error, struct wire_in *in, struct buf *out, int16_t version)
{
    struct end_txn_request rq;
    struct end_txn_response m;

    TAKE(end_txn_request, &rq, in, version);
    end_txn_response_init(&m);
    if (!error)
        error = end_txn(f, &rq, version);
    m.error_code = (int16_t)error;
    m.producer_id = error ? -1 : f->pid;
    m.producer_epoch = error ? -1 : f->epoch;
    GIVE(end_txn_response, &m, out, version);
}

/* True when it found records or an error, or need not. */
static bool on_fetch(struct fake *f, int error, struct wire_in *in, struct buf *out,
                     int16_t version)
{
    struct fetch_request rq;
    struct fetch_response m;
    struct fetch_response_fetchable_topic_response t;
    struct fetch_response_partition_data p[FAKE_PARTS];
    bool found = error != 0;

    TAKE(fetch_request, &rq, in, version);
    fetch_response_init(&m);
    fetch_response_fetchable_topic_response_init(&t);
    for (int i = 0; i < rq.topics.v[0].partitions.n; i++) {
        const struct fetch_request_fetch_partition *q = &rq.topics.v[0].partitions.v[i];
        struct fake_part *of = &f->parts[q->partition];
        fetch_response_partition_data_init(&p[i]);
        p[i].partition_index = q->partition;
        p[i].error_code = (int16_t)error;
        p[i].high_watermark = p[i].last_stable_offset = of->end;
        p[i].records = slice_str("");
        if (!error && q->fetch_offset > of->end)
            p[i].error_code = KAFKA_OFFSET_OUT_OF_RANGE;
        for (int j = 0; !error && j < of->n; j++) {
            if (of->v[j].offset + of->v[j].count <= q->fetch_offset)
                continue;
            p[i].records = slice_of(of->bytes.p + of->v[j].at, of->v[j].n);
            found = true;
            break;
        }
    }
    t.topic = rq.topics.v[0].topic;
    t.partitions.v = p;
    t.partitions.n = rq.topics.v[0].partitions.n;
    m.responses.v = &t;
    m.responses.n = 1;
    GIVE(fetch_response, &m, out, version);
    return found || !f->park;
}

/* False: no answer. */
static bool carry_out(struct fake *f, int16_t api, int error, struct wire_in *in, struct buf *out,
                      int16_t version)
{
    switch (api) {
    case API_API_VERSIONS: on_api_versions(f, in, out, version); break;
    case API_METADATA: on_metadata(f, in, out, version); break;
    case API_FIND_COORDINATOR: on_find_coordinator(f, error, out, version); break;
    case API_PRODUCE: on_produce(f, error, in, out, version); break;
    case API_INIT_PRODUCER_ID: on_init(f, error, in, out, version); break;
    case API_ADD_PARTITIONS_TO_TXN: on_add_partitions(f, error, in, out, version); break;
    case API_ADD_OFFSETS_TO_TXN: on_add_offsets(f, error, in, out, version); break;
    case API_TXN_OFFSET_COMMIT: on_offsets(f, error, in, out, version); break;
    case API_OFFSET_FETCH: on_offset_fetch(f, error, in, out, version); break;
    case API_END_TXN: on_end(f, error, in, out, version); break;
    case API_FETCH: return on_fetch(f, error, in, out, version);
    default: fail_msg("request of API %d", api);
    }
    return true;
}

/* ---- connections ---- */

static void conn_gone(struct env_op *op, int64_t res)
{
    struct fake_conn *k = list_entry(op, struct fake_conn, shut);
    k->open = false;
    buf_reset(&k->in);
    buf_reset(&k->out);
    buf_reset(&k->out_next);
    k->sending = k->closing = false;
}

static void conn_close(struct fake_conn *k)
{
    if (k->closing)
        return;
    k->closing = true;
    k->shut.done = conn_gone;
    env_shut(&k->shut, &k->s);
}

static void conn_send(struct fake_conn *k);
static void conn_sent(struct env_op *op, int64_t res)
{
    struct fake_conn *k = list_entry(op, struct fake_conn, send);
    k->sending = false;
    if (k->closing)
        return;
    if (res < 0)
        conn_close(k);
    else
        conn_send(k);
}

static void conn_send(struct fake_conn *k)
{
    struct buf t = k->out;
    if (k->sending || !k->out_next.n)
        return;
    k->out = k->out_next;
    k->out_next = t;
    buf_reset(&k->out_next);
    k->out_slice = buf_slice(&k->out);
    k->sending = true;
    k->send.done = conn_sent;
    env_send(&k->send, &k->s, &k->out_slice, 1);
}

static void handle(struct fake_conn *k, struct slice frame)
{
    struct fake *f = k->f;
    struct wire_in in = {frame.p, frame.n, &f->arena};
    struct request_header h;
    size_t at = k->out_next.n;
    int fault;

    arena_reset(&f->arena);
    assert_int_equal(wire_request_header(&h, &in), 0);
    f->seen[h.request_api_key]++;
    fault = f->fault && h.request_api_key != API_API_VERSIONS ? f->fault(f->u, h.request_api_key)
                                                              : FAKE_OK;
    if (fault == FAKE_DROP_REQUEST) {
        conn_close(k);
        return;
    }
    buf_put(&k->out_next, "\0\0\0\0", 4);
    assert_int_equal(wire_response_header_put(&k->out_next, h.request_api_key,
                                              h.request_api_version, h.correlation_id),
                     0);
    bool answered = carry_out(f, h.request_api_key, fault > 0 || fault == FAKE_MAYBE ? fault : 0,
                              &in, &k->out_next, h.request_api_version);
    put_be32(k->out_next.p + at, (uint32_t)(k->out_next.n - at - 4));
    if (!answered || fault == FAKE_DROP_REPLY || fault == FAKE_SILENT)
        k->out_next.n = at;
    if (fault == FAKE_DROP_REPLY)
        conn_close(k);
}

static void conn_received(struct env_op *op, int64_t res)
{
    struct fake_conn *k = list_entry(op, struct fake_conn, recv);
    size_t at = 0;

    if (k->closing)
        return;
    if (res <= 0) {
        conn_close(k);
        return;
    }
    buf_put(&k->in, k->chunk, (size_t)res);
    while (!k->closing && k->in.n - at >= 4) {
        uint32_t n = get_be32(k->in.p + at);
        if (k->in.n - at - 4 < n)
            break;
        handle(k, slice_of(k->in.p + at + 4, n));
        at += 4 + (size_t)n;
    }
    memmove(k->in.p, k->in.p + at, k->in.n - at);
    k->in.n -= at;
    if (k->closing)
        return;
    conn_send(k);
    conn_recv(k);
}

static void conn_recv(struct fake_conn *k)
{
    k->recv.done = conn_received;
    env_recv(&k->recv, &k->s, (struct span){k->chunk, sizeof k->chunk});
}

static void accept_one(struct env_stream *l)
{
    struct fake *f = l->user;

    for (int i = 0; i < FAKE_CONNS; i++) {
        struct fake_conn *k = &f->conns[i];
        if (k->open)
            continue;
        memset(&k->s, 0, sizeof k->s);
        while (env_accept(l, &k->s) == 0) {
            k->open = true;
            conn_recv(k);
            break;
        }
        if (!k->open)
            return;
    }
}

/* ---- the world ---- */

void fake_open(struct fake *f, uint64_t seed, bool v2, const struct client_options *o)
{
    struct client_options opt = *o;
    struct err e;

    memset(f, 0, sizeof *f);
    sim_init(&f->sim, seed);
    f->server = sim_node_add(&f->sim, "broker", NULL);
    f->node = sim_node_add(&f->sim, "client", NULL);
    f->node->env.level = f->server->env.level = ENV_ERROR;
    f->v2 = v2;
    f->pid = f->offset = f->staged = -1;
    f->next_pid = 1000;
    arena_init(&f->arena, 16 << 20);
    for (int i = 0; i < FAKE_PARTS; i++)
        buf_init(&f->parts[i].bytes, 64 << 20);
    for (int i = 0; i < FAKE_CONNS; i++) {
        f->conns[i].f = f;
        buf_init(&f->conns[i].in, 64 << 20);
        buf_init(&f->conns[i].out, 64 << 20);
        buf_init(&f->conns[i].out_next, 64 << 20);
    }
    sim_enter(f->server);
    assert_int_equal(env_listen(&f->server->env, &f->listener, "broker:9092", accept_one), 0);
    f->listener.user = f;
    sim_enter(f->node);
    opt.bootstrap = "broker:9092";
    assert_int_equal(client_open(&f->client, &f->node->env, &opt, &e), 0);
}

void fake_close(struct fake *f)
{
    client_free(f->client);
    sim_deinit(&f->sim);
    for (int i = 0; i < FAKE_PARTS; i++)
        buf_deinit(&f->parts[i].bytes);
    for (int i = 0; i < FAKE_CONNS; i++) {
        buf_deinit(&f->conns[i].in);
        buf_deinit(&f->conns[i].out);
        buf_deinit(&f->conns[i].out_next);
    }
    arena_deinit(&f->arena);
}

static bool is_set(void *u)
{
    return *(const bool *)u;
}

bool fake_run(struct fake *f, const bool *flag, int seconds)
{
    sim_run(&f->sim, f->sim.now + ENV_S((unsigned)seconds), is_set, (void *)(uintptr_t)flag);
    return *flag;
}

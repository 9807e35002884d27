/* broker/api/00_produce.c - Produce: batches into partitions, answered when they are durable.
 *
 * Happy path: every batch is checked and staged at once, the answer is composed and waits in its
 * connection for the lsn of the last append; acks=1 waits like acks=all, acks=0 gets no answer.
 * Failure: each partition has its own error. A log that takes nothing more for now parks the
 * request, and with it the connection, until there is room. What is not durable after timeout_ms is
 * answered with REQUEST_TIMED_OUT, its outcome unknown. An error under acks=0 closes the
 * connection, as Kafka does, so that the producer learns of it.
 *
 * Versions 0 to 2 (older message formats) are advertised and not served. */
#include "base/check.h"
#include "base/wire/batch_check.h"
#include "broker/api/api.h"

typedef struct produce_response_topic_produce_response topic_out;
typedef struct produce_response_partition_produce_response part_out;

enum { BAD_RECORDS_MAX = 20, SCRATCH_KEPT = 4 << 20, PRODUCE_V_MIN = 3 };

struct produce {
    struct request *rq;
    struct produce_request in;
    struct produce_response out;
    struct plug_request plug;
    struct room_wait room;
    int32_t topic, part; /* the next to stage */
    bool checked;        /* its batch was accepted, info is filled: only room was missing */
    struct batch_info info;
    bool refused; /* some partition has an error */
};

static void run(struct produce *p);

/* ---- one partition ---- */

static void refuse(struct produce *p, part_out *out, enum kafka_error error, const char *text)
{
    out->error_code = (int16_t)error;
    if (text && *text && p->rq->version >= 8)
        out->error_message = arena_copy(p->rq->in.arena, slice_str(text));
    p->refused = true;
}

static void tell_bad_records(struct produce *p, part_out *out, const struct batch_bad *bad, int n)
{
    if (!n || p->rq->version < 8)
        return;
    out->record_errors.v = arena_alloc(p->rq->in.arena, sizeof *out->record_errors.v * (size_t)n);
    if (!out->record_errors.v)
        return;
    out->record_errors.n = n;
    for (int i = 0; i < n; i++) {
        out->record_errors.v[i].batch_index = bad[i].index;
        out->record_errors.v[i].batch_index_error_message = slice_str(bad[i].text);
    }
}

/* Fills p->info and makes the bytes the log's; false: refused. */
static bool check_batch(struct produce *p, const struct partition *part, struct slice records,
                        part_out *out)
{
    const struct topic_settings *s = &part->topic->settings;
    struct broker *b = p->rq->broker;
    struct batch_bad bad[BAD_RECORDS_MAX];
    struct batch_validate_options o = {
        .produce_version = p->rq->version,
        .now_ms = env_wall_ms(broker_env(b)),
        .before_max_ms = s->timestamp_before_max_ms,
        .after_max_ms = s->timestamp_after_max_ms,
        .batch_bytes_max = s->message_bytes_max,
        .segment_bytes = s->segment_bytes,
        .compacted = s->compact,
        .log_append_time = s->log_append_time,
        .bad = bad,
        .n_bad = BAD_RECORDS_MAX,
    };
    struct err e = {0};
    int error;
    o.scratch = broker_scratch(b, &o.compress);
    if (!records.p)
        records = slice_of("", 0);
    int rc = batch_validate_produce(records, &o, &p->info, &error, &e);
    if (o.scratch->cap > SCRATCH_KEPT) {
        size_t max = o.scratch->max;
        buf_deinit(o.scratch);
        buf_init(o.scratch, max);
    }
    if (rc) {
        refuse(p, out, error, e.text);
        tell_bad_records(p, out, bad, o.n_bad);
        return false;
    }
    batch_finish_produce((unsigned char *)records.p, &p->info, log_end(part->log), broker_epoch(b),
                         s->log_append_time, o.now_ms);
    return true;
}

static enum kafka_error may_write(const struct produce *p, const struct partition *part)
{
    if (!part)
        return KAFKA_UNKNOWN_TOPIC_OR_PARTITION;
    if (part->topic->internal && !slice_eq_str(p->rq->client_id, "__admin_client"))
        return KAFKA_INVALID_TOPIC_EXCEPTION;
    return KAFKA_NONE;
}

/* False: the log is full of what is not durable yet; the same partition again later. */
static bool stage(struct produce *p, struct slice topic,
                  const struct produce_request_partition_produce_data *in, part_out *out)
{
    struct broker *b = p->rq->broker;
    struct partition *part = broker_partition(b, topic, in->index);
    enum kafka_error error = may_write(p, part);
    bool duplicate, busy;
    if (error) {
        refuse(p, out, error, NULL);
        return true;
    }
    out->log_start_offset = log_start(part->log);
    if (!p->checked && !check_batch(p, part, in->records, out))
        return true;
    p->checked = true;
    struct span bytes = {(unsigned char *)in->records.p, p->info.size};
    error = partition_append(b, part, p->rq->frame, bytes, &p->info, &p->plug, &out->base_offset,
                             &duplicate, &busy);
    if (busy)
        return false;
    p->checked = false;
    if (error) {
        out->base_offset = -1;
        refuse(p, out, error, NULL);
        return true;
    }
    if (duplicate || part->topic->settings.log_append_time)
        out->log_append_time_ms = p->info.max_timestamp;
    return true;
}

/* ---- the answer ---- */

static void answer(struct produce *p, bool now)
{
    struct request *rq = p->rq;
    if (p->in.acks == 0) {
        if (p->refused)
            reply_close(rq, "a batch sent with acks=0 was refused");
        else
            reply_none(rq);
        return;
    }
    reply_body(rq, &produce_response_desc, &p->out);
    if (now)
        reply_end_now(rq);
    else
        reply_end(rq);
}

/* Not durable in time, or not even staged: what becomes of it the producer cannot know. */
static void timed_out(struct env_timer *t)
{
    struct request *rq = list_entry(t, struct request, timer);
    struct produce *p = rq->user;
    broker_room_forget(&p->room);
    for (int32_t i = 0; i < p->out.responses.n; i++) {
        topic_out *to = &p->out.responses.v[i];
        for (int32_t j = 0; j < to->partition_responses.n; j++) {
            part_out *out = &to->partition_responses.v[j];
            if (out->error_code)
                continue;
            refuse(p, out, KAFKA_REQUEST_TIMED_OUT, NULL);
            out->base_offset = out->log_append_time_ms = -1;
        }
    }
    answer(p, true);
}

static void canceled(struct request *rq)
{
    struct produce *p = rq->user;
    broker_room_forget(&p->room);
}

static void retry(struct room_wait *w)
{
    run(list_entry(w, struct produce, room));
}

static void run(struct produce *p)
{
    for (; p->topic < p->in.topic_data.n; p->topic++, p->part = 0) {
        const struct produce_request_topic_produce_data *t = &p->in.topic_data.v[p->topic];
        topic_out *to = &p->out.responses.v[p->topic];
        for (; p->part < t->partition_data.n; p->part++) {
            if (!stage(p, t->name, &t->partition_data.v[p->part],
                       &to->partition_responses.v[p->part])) {
                REACHED("produce: waits for room in the log");
                p->rq->canceled = canceled;
                broker_room_wait(p->rq->broker, &p->room);
                return;
            }
        }
    }
    answer(p, false);
}

/* ---- the request ---- */

static bool prepare_answer(struct produce *p)
{
    struct arena *a = p->rq->in.arena;
    int32_t n = p->in.topic_data.n;
    bool bad_acks = p->in.acks < -1 || p->in.acks > 1;
    produce_response_init(&p->out);
    p->out.responses.v = arena_new(a, topic_out, n);
    if (!p->out.responses.v)
        return false;
    p->out.responses.n = n;
    for (int32_t i = 0; i < n; i++) {
        const struct produce_request_topic_produce_data *t = &p->in.topic_data.v[i];
        topic_out *to = &p->out.responses.v[i];
        int32_t m = t->partition_data.n;
        to->name = t->name;
        to->partition_responses.v = arena_new(a, part_out, m);
        if (!to->partition_responses.v)
            return false;
        to->partition_responses.n = m;
        for (int32_t j = 0; j < m; j++) {
            part_out *out = &to->partition_responses.v[j];
            produce_response_partition_produce_response_init(out);
            out->index = t->partition_data.v[j].index;
            out->base_offset = -1;
            if (bad_acks)
                refuse(p, out, KAFKA_INVALID_REQUIRED_ACKS, NULL);
        }
    }
    if (bad_acks)
        p->topic = n; /* nothing is staged */
    return true;
}

int api_produce(struct request *rq)
{
    struct env *env = broker_env(rq->broker);
    if (rq->version < PRODUCE_V_MIN)
        return -ERR_UNSUPPORTED;
    struct produce *p = arena_new(rq->in.arena, struct produce, 1);
    if (!p)
        return -ERR_TOO_BIG;
    int rc = produce_request_decode(&p->in, &rq->in, rq->version);
    if (rc)
        return rc;
    p->rq = rq;
    p->room.retry = retry;
    p->plug = (struct plug_request){PLUG_CLIENT, rq->version, p->in.transactional_id};
    if (!prepare_answer(p))
        return -ERR_TOO_BIG;
    rq->user = p;
    if (p->in.acks != 0) {
        uint64_t ms = p->in.timeout_ms > 0 ? (uint64_t)p->in.timeout_ms : 30000;
        rq->timer.fire = timed_out;
        env_timer_set(env, &rq->timer, env->now + ENV_MS(ms));
    }
    run(p);
    return 0;
}

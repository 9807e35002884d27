/* broker/api/02_list_offsets.c - ListOffsets: earliest, latest, by timestamp, by greatest
 * timestamp.
 *
 * The partitions are answered one after another, since a look-up by time may wait for the disk;
 * whoever disconnects meanwhile cancels it. Latest is the high watermark, or under
 * read_committed the stable offset; what lies at or above that is not found. */
#include "broker/api/api.h"

typedef struct list_offsets_request_list_offsets_partition part_in;
typedef struct list_offsets_response_list_offsets_partition_response part_out;
typedef struct list_offsets_response_list_offsets_topic_response topic_out;

enum { LATEST = -1, EARLIEST = -2, MAX_TIMESTAMP = -3, MAX_TIMESTAMP_V_MIN = 7, EPOCH_V_MIN = 4 };

struct lookup {
    struct request *rq;
    struct list_offsets_request in;
    struct list_offsets_response out;
    int32_t topic, part; /* being answered */
    struct partition *p;
    struct partition_wait wait; /* linked while find is under way */
    bool finding;
    struct log_time find;
};

static void run(struct lookup *k);

/* The epoch in which the record at offset was written: the first whose end lies behind it. */
static int32_t epoch_at(const struct broker *b, const struct log *l, int64_t offset)
{
    int32_t low = 0, high = broker_epoch(b);
    while (low < high) {
        int32_t mid = low + (high - low) / 2, found;
        int64_t end;
        log_epoch_end(l, mid, &found, &end);
        if (found >= 0 && end > offset)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

static int64_t fetchable(struct lookup *k)
{
    return k->in.isolation_level == 1 ? partition_stable(k->rq->broker, k->p)
                                      : partition_high_watermark(k->p);
}

static void tell_epoch(struct lookup *k, part_out *out)
{
    if (k->rq->version >= EPOCH_V_MIN)
        out->leader_epoch = epoch_at(k->rq->broker, k->p->log, out->offset);
}

static void found(struct lookup *k, part_out *out, int res)
{
    if (res) {
        out->error_code = res == -ERR_CORRUPT ? KAFKA_CORRUPT_MESSAGE : KAFKA_KAFKA_STORAGE_ERROR;
        return;
    }
    if (k->find.offset < 0 || k->find.offset >= fetchable(k))
        return;
    out->offset = k->find.offset;
    out->timestamp = k->find.found_timestamp;
    tell_epoch(k, out);
}

static part_out *current(struct lookup *k)
{
    return &k->out.topics.v[k->topic].partitions.v[k->part];
}

static void find_ended(struct lookup *k)
{
    k->finding = false;
    list_remove(&k->wait.link);
}

static void find_done(struct log_time *t, int res)
{
    struct lookup *k = list_entry(t, struct lookup, find);
    find_ended(k);
    found(k, current(k), res);
    k->part++;
    run(k);
}

static void topic_gone(struct partition_wait *w, bool gone)
{
    struct lookup *k = list_entry(w, struct lookup, wait);
    if (!gone)
        return;
    log_time_cancel(&k->find);
    find_ended(k);
    current(k)->error_code = KAFKA_UNKNOWN_TOPIC_OR_PARTITION;
    k->part++;
    run(k);
}

static bool find_by_time(struct lookup *k, const part_in *in, part_out *out)
{
    k->find = (struct log_time){
        .log = k->p->log,
        .timestamp = in->timestamp,
        .max = in->timestamp == MAX_TIMESTAMP,
        .upper = in->timestamp == MAX_TIMESTAMP ? partition_high_watermark(k->p) : fetchable(k),
        .done = find_done,
    };
    int rc = log_time_find(&k->find);
    if (rc != -ERR_AGAIN) {
        found(k, out, rc);
        return true;
    }
    k->finding = true;
    list_push(&k->p->waits, &k->wait.link);
    return false;
}

static bool asked_twice(const struct list_offsets_request *in, int32_t topic, int32_t part)
{
    int32_t index = in->topics.v[topic].partitions.v[part].partition_index;
    for (int32_t i = 0; i < in->topics.n; i++) {
        if (!slice_eq(in->topics.v[i].name, in->topics.v[topic].name))
            continue;
        for (int32_t j = 0; j < in->topics.v[i].partitions.n; j++)
            if ((i != topic || j != part) &&
                in->topics.v[i].partitions.v[j].partition_index == index)
                return true;
    }
    return false;
}

static enum kafka_error refusal(struct lookup *k, const part_in *in)
{
    if (asked_twice(&k->in, k->topic, k->part))
        return KAFKA_INVALID_REQUEST;
    if (!k->p)
        return KAFKA_UNKNOWN_TOPIC_OR_PARTITION;
    if (in->timestamp < MAX_TIMESTAMP ||
        (in->timestamp == MAX_TIMESTAMP && k->rq->version < MAX_TIMESTAMP_V_MIN))
        return KAFKA_UNSUPPORTED_VERSION;
    return broker_check_epoch(k->rq->broker, in->current_leader_epoch);
}

/* False: find_done comes later. */
static bool answer_part(struct lookup *k, const part_in *in, part_out *out)
{
    struct broker *b = k->rq->broker;
    k->p = broker_partition(b, k->in.topics.v[k->topic].name, in->partition_index);
    out->partition_index = in->partition_index;
    out->error_code = (int16_t)refusal(k, in);
    if (out->error_code)
        return true;
    if (in->timestamp == LATEST) {
        out->offset = fetchable(k);
        if (k->rq->version >= EPOCH_V_MIN)
            out->leader_epoch = broker_epoch(b);
        return true;
    }
    if (in->timestamp == EARLIEST) {
        out->offset = log_start(k->p->log);
        tell_epoch(k, out);
        return true;
    }
    return find_by_time(k, in, out);
}

static void run(struct lookup *k)
{
    for (; k->topic < k->in.topics.n; k->topic++, k->part = 0)
        for (; k->part < k->in.topics.v[k->topic].partitions.n; k->part++)
            if (!answer_part(k, &k->in.topics.v[k->topic].partitions.v[k->part], current(k)))
                return;
    reply_body(k->rq, &list_offsets_response_desc, &k->out);
    reply_end_now(k->rq);
}

static void canceled(struct request *rq)
{
    struct lookup *k = rq->user;
    if (!k->finding)
        return;
    log_time_cancel(&k->find);
    find_ended(k);
}

int api_list_offsets(struct request *rq)
{
    struct arena *a = rq->in.arena;
    struct lookup *k = arena_new(a, struct lookup, 1);
    if (!k)
        return -ERR_TOO_BIG;
    int rc = list_offsets_request_decode(&k->in, &rq->in, rq->version);
    if (rc)
        return rc;
    list_offsets_response_init(&k->out);
    k->rq = rq;
    k->wait.wake = topic_gone;
    k->out.topics.n = k->in.topics.n;
    k->out.topics.v = arena_new(a, topic_out, k->in.topics.n);
    if (!k->out.topics.v)
        return -ERR_TOO_BIG;
    for (int32_t i = 0; i < k->in.topics.n; i++) {
        topic_out *t = &k->out.topics.v[i];
        t->name = k->in.topics.v[i].name;
        t->partitions.n = k->in.topics.v[i].partitions.n;
        t->partitions.v = arena_new(a, part_out, t->partitions.n);
        if (!t->partitions.v)
            return -ERR_TOO_BIG;
        for (int32_t j = 0; j < t->partitions.n; j++)
            list_offsets_response_list_offsets_partition_response_init(&t->partitions.v[j]);
    }
    rq->user = k;
    rq->canceled = canceled;
    run(k);
    return 0;
}

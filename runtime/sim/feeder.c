/* runtime/sim/feeder.c - topics, producer, then records by their times. */
#include "runtime/sim/feeder.h"
#include "base/check.h"
#include <stdio.h>

enum { RETRY_MS = 50, TXN_RECORDS = 16 };

static void go_on(struct feeder *f);

static void later(struct feeder *f, uint64_t after)
{
    env_timer_set(f->env, &f->timer, f->env->now + after);
}

/* ---- what became of a record ---- */

/* The first record of this partition that waits for its acknowledgement. */
static struct feed_record *oldest_waiting(struct feeder *f, struct slice topic, int32_t partition)
{
    for (uint32_t i = 0; i < f->next; i++) {
        struct feed_record *r = &f->v[i];
        if (r->sent && r->offset == -1 && r->partition == partition && slice_eq(r->topic, topic))
            return r;
    }
    return NULL;
}

enum { OFFSET_UNKNOWN = -2 };

static void delivered(void *user, struct slice topic, int32_t partition, int64_t base_offset, int n,
                      int res)
{
    struct feeder *f = user;

    for (int i = 0; i < n; i++) {
        struct feed_record *r = oldest_waiting(f, topic, partition);
        if (!r)
            return;
        r->offset = res || base_offset < 0 ? OFFSET_UNKNOWN : base_offset + i;
        f->unacked--;
    }
    if (f->next == f->n && !f->unacked)
        f->flushed = true;
}

/* ---- the producer ---- */

static void got_position(struct fetch_offsets *op, int res, const struct err *e)
{
    struct feeder *f = op->user;

    f->fetching = false;
    if (res) {
        arena_deinit(&op->arena);
        f->ready = false;
        later(f, ENV_MS(RETRY_MS));
        return;
    }
    f->committed = f->entry.offset < 0 ? 0 : (uint32_t)f->entry.offset;
    CHECK(f->committed <= f->n);
    f->next = f->committed;
    f->in_txn = 0;
    f->busy = false;
    arena_deinit(&op->arena);
    go_on(f);
}

static void ask_position(struct feeder *f)
{
    f->entry = (struct fetch_offset_entry){.topic = f->topics[0]};
    f->fetch = (struct fetch_offsets){.group = slice_str(f->group),
                                      .stable = true,
                                      .v = &f->entry,
                                      .n = 1,
                                      .timeout_ms = 20000,
                                      .done = got_position,
                                      .user = f};
    arena_init(&f->fetch.arena, 1 << 16);
    f->fetching = true;
    admin_fetch_offsets(f->client, &f->fetch);
}

static void inited(void *user, int res, const struct err *e)
{
    struct feeder *f = user;

    if (res) {
        env_warn(f->env, "producer id: %s", e && e->text[0] ? e->text : err_text(res));
        later(f, ENV_MS(RETRY_MS));
        return;
    }
    f->ready = true;
    if (f->transactional)
        ask_position(f);
    else
        go_on(f);
}

/* All that waits for an acknowledgement will not get one any more. */
static void init_again(struct feeder *f)
{
    f->ready = false;
    f->retries++;
    for (uint32_t i = 0; !f->transactional && i < f->next; i++)
        if (f->v[i].sent && f->v[i].offset == -1)
            f->v[i].offset = OFFSET_UNKNOWN;
    f->unacked = 0;
    f->flushed = f->next == f->n;
    producer_init_id(f->producer, inited, f);
}

static void doubt(struct feeder *f, const char *what, int res, const struct err *e)
{
    env_warn(f->env, "%s: %s", what, e && e->text[0] ? e->text : err_text(res));
    init_again(f);
}

/* ---- transactions ---- */

static void ended(void *user, int res, const struct err *e)
{
    struct feeder *f = user;

    if (res) {
        doubt(f, "commit", res, e);
        return;
    }
    f->committed += f->in_txn;
    f->in_txn = 0;
    f->busy = false;
    go_on(f);
}

static void offsets_sent(void *user, int res, const struct err *e)
{
    struct feeder *f = user;

    if (res)
        doubt(f, "position", res, e);
    else
        producer_end(f->producer, true, ended, f);
}

static void txn_flushed(void *user, int res, const struct err *e)
{
    struct feeder *f = user;
    struct group_identity group = {
        .group = slice_str(f->group), .member = slice_str(""), .generation = -1};
    struct txn_offset at = {
        .topic = f->topics[0], .offset = f->committed + f->in_txn, .leader_epoch = -1};

    if (res)
        doubt(f, "records", res, e);
    else
        producer_send_offsets(f->producer, &group, &at, 1, offsets_sent, f);
}

static void end_txn(struct feeder *f)
{
    f->busy = true;
    producer_flush(f->producer, txn_flushed, f);
}

/* ---- records ---- */

static int send(struct feeder *f, struct feed_record *r)
{
    struct producer_record p = {.topic = r->topic,
                                .key = r->key,
                                .value = r->value,
                                .partition = r->partition,
                                .timestamp = r->timestamp};
    int rc = 0;

    if (f->transactional && !producer_in_txn(f->producer))
        rc = producer_begin(f->producer);
    if (!rc)
        rc = producer_send(f->producer, &p);
    if (rc)
        return rc;
    r->sent = true;
    f->next++;
    if (f->transactional)
        f->in_txn++;
    else
        f->unacked++;
    return 0;
}

static void go_on(struct feeder *f)
{
    if (!f->ready || f->fetching || f->busy)
        return;
    while (f->next < f->n && f->v[f->next].at <= *f->world_now) {
        int rc = send(f, &f->v[f->next]);
        if (rc == -ERR_LIMIT) {
            later(f, ENV_MS(RETRY_MS));
            return;
        }
        if (rc) {
            doubt(f, "send", rc, NULL);
            return;
        }
        if (f->in_txn >= TXN_RECORDS)
            break;
    }
    if (f->in_txn && (f->in_txn >= TXN_RECORDS || f->next == f->n ||
                      f->v[f->next].at > *f->world_now + ENV_MS(RETRY_MS))) {
        end_txn(f);
        return;
    }
    if (f->next < f->n)
        later(f, f->v[f->next].at > *f->world_now ? f->v[f->next].at - *f->world_now : 0);
}

/* ---- topics, one after the other ---- */

static void make_topic(struct feeder *f);

static void made(struct create_topic *op, int res, const struct err *e)
{
    struct feeder *f = op->user;

    if (res && res != -ERR_EXISTS) {
        env_warn(f->env, "topic: %s", e->text);
        later(f, ENV_MS(RETRY_MS));
        return;
    }
    f->topics_made++;
    make_topic(f);
}

static void make_topic(struct feeder *f)
{
    if (f->topics_made == f->n_topics) {
        producer_init_id(f->producer, inited, f);
        return;
    }
    f->create = (struct create_topic){
        .topic = f->topics[f->topics_made], .partitions = f->partitions, .done = made, .user = f};
    admin_create_topic(f->client, &f->create);
}

static void timer_due(struct env_timer *t)
{
    struct feeder *f = list_entry(t, struct feeder, timer);

    if (f->topics_made < f->n_topics)
        make_topic(f);
    else if (!f->ready)
        producer_init_id(f->producer, inited, f);
    else
        go_on(f);
}

static void collect_topics(struct feeder *f)
{
    f->n_topics = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        int k = 0;
        while (k < f->n_topics && !slice_eq(f->topics[k], f->v[i].topic))
            k++;
        if (k < f->n_topics)
            continue;
        CHECK(f->n_topics < FEED_TOPICS_MAX);
        f->topics[f->n_topics++] = f->v[i].topic;
    }
}

void feeder_start(struct feeder *f, struct env *env, struct client *client)
{
    struct producer_options o = {.user = f};

    CHECK(f->n > 0);
    f->env = env;
    f->client = client;
    f->timer = (struct env_timer){.fire = timer_due};
    f->ready = f->busy = f->fetching = false;
    f->topics_made = 0;
    collect_topics(f);
    snprintf(f->group, sizeof f->group, "%.*s-in", SLICE_FMT(f->job));
    snprintf(f->txn_id, sizeof f->txn_id, "%.*s-in", SLICE_FMT(f->job));
    if (f->transactional)
        o.transactional_id = slice_str(f->txn_id);
    else
        o.delivered = delivered;
    CHECK(producer_open(&f->producer, client, &o) == 0);
    make_topic(f);
}

void feeder_free(struct feeder *f)
{
    if (f->fetching)
        arena_deinit(&f->fetch.arena);
    f->fetching = false;
    if (f->producer)
        producer_free(f->producer);
    f->producer = NULL;
}

bool feeder_done(const struct feeder *f)
{
    return f->transactional ? f->committed == f->n : f->flushed && f->next == f->n;
}

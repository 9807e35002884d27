/* txn/coordinator.c - transactional ids, and how the effects of a step are carried out.
 *
 * A step decides without changing anything; its effects are staged in order within one bundle, and
 * each value that was staged becomes the current one. If the log takes no more, what was staged
 * stands: a prepare without its markers is rolled forward by the timer. */
#include "txn/coordinator.h"
#include "base/check.h"
#include "txn/internal.h"
#include <stdlib.h>

enum { TICK_MS = 1000, RETRY_MS = 100, PRODUCERS_EVERY_MS = 600000 };

/* ---- ids ---- */

const struct txn *coordinator_find(const struct txn_coordinator *c, struct slice id)
{
    const struct txn_entry *e = map_get(&c->ids, id);
    return e ? &e->t : NULL;
}

uint32_t coordinator_count(const struct txn_coordinator *c)
{
    return c->ids.n;
}

static void entry_free(struct txn_entry *entry)
{
    txn_deinit(&entry->t);
    free((void *)entry->id.p);
    free(entry);
}

struct txn_entry *coordinator_entry(struct txn_coordinator *c, struct slice id, bool create)
{
    struct txn_entry *entry = map_get(&c->ids, id);
    if (entry || !create)
        return entry;
    entry = calloc(1, sizeof *entry);
    unsigned char *copy = malloc(id.n + 1);
    if (!entry || !copy) {
        free(entry);
        free(copy);
        return NULL;
    }
    memcpy(copy, id.p, id.n);
    entry->id = slice_of(copy, id.n);
    txn_init(&entry->t);
    if (map_put(&c->ids, id, entry)) {
        entry_free(entry);
        return NULL;
    }
    return entry;
}

void coordinator_forget(struct txn_coordinator *c, struct txn_entry *entry)
{
    map_del(&c->ids, entry->id);
    entry_free(entry);
}

/* ---- steps ---- */

/* The epoch a request goes by: its own, unless fencing is switched off. */
static int16_t epoch_of(const struct txn_coordinator *c, const struct txn *t, int16_t epoch)
{
    return MUTATED(c->env->mutations, NO_EPOCH_FENCE) ? t->v.epoch : epoch;
}

static enum kafka_error carry_out(struct txn_coordinator *c, struct txn_entry *entry,
                                  const struct txn_effect *e, struct txn_answer *a)
{
    enum kafka_error error = KAFKA_NONE;

    switch (e->type) {
    case TXN_LOG:
        error = txlog_write(c, entry, e);
        if (!error)
            txn_logged(&entry->t, e);
        return error;
    case TXN_TOMBSTONE: return txlog_write(c, entry, e);
    case TXN_MARK: return markers_write(c, entry, e);
    case TXN_REPLY: *a = (struct txn_answer){e->error, e->producer_id, e->epoch}; return KAFKA_NONE;
    }
    return error;
}

void coordinator_step(struct txn_coordinator *c, struct txn_entry *entry, struct txn_event *ev,
                      struct txn_answer *a)
{
    int64_t now_ms = env_wall_ms(c->env);
    enum kafka_error error = KAFKA_NONE;
    struct txn_out out;

    *a = (struct txn_answer){KAFKA_NONE, -1, -1};
    logdir_bundle_begin(broker_logdir(c->b));
    ev->fresh_id = -1;
    txn_step(&entry->t, ev, now_ms, &out);
    if (out.need_id) {
        error = broker_producer_id(c->b, &ev->fresh_id);
        if (!error)
            txn_step(&entry->t, ev, now_ms, &out);
    }
    for (int i = 0; i < out.n && !error; i++)
        error = carry_out(c, entry, &out.v[i], a);
    logdir_bundle_end(broker_logdir(c->b));
    if (error) {
        REACHED("coordinator: something could not be staged");
        *a = (struct txn_answer){KAFKA_COORDINATOR_NOT_AVAILABLE, -1, -1};
    }
    /* Markers that found no room are tried again sooner than old transactions are looked for. */
    if (txn_prepared(&entry->t))
        env_timer_set(c->env, &c->tick, c->env->now + ENV_MS(RETRY_MS));
}

void coordinator_init_id(struct txn_coordinator *c, struct slice id, int32_t timeout_ms,
                         int64_t producer_id, int16_t epoch, struct txn_answer *a)
{
    struct txn_event ev = {.type = TXN_INIT,
                           .timeout_ms = timeout_ms,
                           .timeout_max_ms = (int32_t)c->timeout_max_ms,
                           .producer_id = producer_id,
                           .epoch = epoch};

    *a = (struct txn_answer){KAFKA_NONE, -1, -1};
    if (slice_is_null(id)) {
        a->error = broker_producer_id(c->b, &a->producer_id);
        a->epoch = a->error ? -1 : 0;
        if (a->error)
            *a = (struct txn_answer){KAFKA_COORDINATOR_NOT_AVAILABLE, -1, -1};
        return;
    }
    if (id.n == 0) {
        a->error = KAFKA_INVALID_REQUEST;
        return;
    }
    struct txn_entry *entry = coordinator_entry(c, id, true);
    if (!entry) {
        a->error = KAFKA_COORDINATOR_NOT_AVAILABLE;
        return;
    }
    coordinator_step(c, entry, &ev, a);
    if (entry->t.fresh)
        coordinator_forget(c, entry);
}

enum kafka_error coordinator_add(struct txn_coordinator *c, struct slice id, int64_t producer_id,
                                 int16_t epoch, int version, const struct txn_add *v, int n)
{
    struct txn_event ev = {.type = TXN_ADD, .version = version, .producer_id = producer_id};
    struct txn_answer a;
    struct txn_entry *entry = coordinator_entry(c, id, false);
    int rc = 0;

    if (!entry)
        return KAFKA_INVALID_PRODUCER_ID_MAPPING;
    ev.epoch = epoch_of(c, &entry->t, epoch);
    enum kafka_error error = txn_owner(&entry->t, producer_id, ev.epoch);
    if (error)
        return error;
    uint32_t before = entry->t.n_parts;
    for (int i = 0; i < n && !rc; i++)
        rc = txn_enrol(&entry->t, v[i].topic, v[i].index);
    if (rc) {
        txn_enrol_undo(&entry->t, before);
        return KAFKA_COORDINATOR_NOT_AVAILABLE;
    }
    ev.all_in = entry->t.n_parts == before;
    coordinator_step(c, entry, &ev, &a);
    if (a.error)
        txn_enrol_undo(&entry->t, before);
    return a.error;
}

void coordinator_end(struct txn_coordinator *c, struct slice id, int64_t producer_id, int16_t epoch,
                     bool commit, int version, struct txn_answer *a)
{
    struct txn_event ev = {.type = TXN_END,
                           .version = version,
                           .commit = commit,
                           .producer_id = producer_id,
                           .epoch = epoch};
    struct txn_entry *entry = coordinator_entry(c, id, false);

    if (!entry) {
        *a = (struct txn_answer){KAFKA_INVALID_PRODUCER_ID_MAPPING, -1, -1};
        return;
    }
    if (version < 2)
        ev.epoch = epoch_of(c, &entry->t, epoch);
    coordinator_step(c, entry, &ev, a);
}

enum kafka_error coordinator_admit(struct txn_coordinator *c, struct slice id, int64_t producer_id,
                                   int16_t epoch, const struct partition *p, bool enrol)
{
    struct txn_add add = {p->topic->name, p->index};

    if (slice_is_null(id))
        return KAFKA_TRANSACTIONAL_ID_AUTHORIZATION_FAILED;
    const struct txn *t = coordinator_find(c, id);
    if (!t)
        return KAFKA_INVALID_PRODUCER_ID_MAPPING;
    enum kafka_error error = txn_owner(t, producer_id, epoch_of(c, t, epoch));
    if (error || (t->v.state == TXN_ONGOING && txn_has(t, add.topic, add.index)))
        return error;
    if (enrol)
        return coordinator_add(c, id, producer_id, epoch, 2, &add, 1);
    REACHED("coordinator: append to a partition that is not enrolled");
    return KAFKA_TRANSACTION_ABORTABLE;
}

/* ---- time ---- */

/* Has it been open for too long by the monotonic clock? A wall clock that was set back would hold
 * readers up for as long as it was. */
static bool open_too_long(struct txn_coordinator *c, struct txn_entry *entry)
{
    const struct txn_value *v = &entry->t.v;

    if (v->state != TXN_ONGOING) {
        entry->open_since = 0;
        return false;
    }
    if (!entry->open_since || entry->open_start_ms != v->start_ms) {
        entry->open_since = c->env->now;
        entry->open_start_ms = v->start_ms;
    }
    return c->env->now - entry->open_since > ENV_MS((uint64_t)v->timeout_ms);
}

static void tick_one(struct txn_coordinator *c, struct txn_entry *entry, int64_t now_ms)
{
    struct txn_event ev = {.type = TXN_TICK, .late = open_too_long(c, entry)};
    struct txn_answer a;

    if (ev.late || txn_due(&entry->t) < now_ms) {
        if (entry->t.v.state == TXN_ONGOING)
            env_info(c->env, "transaction %.*s: aborted, open for more than %d ms",
                     SLICE_FMT(entry->id), entry->t.v.timeout_ms);
        coordinator_step(c, entry, &ev, &a);
        return;
    }
    if (entry->t.v.state == TXN_ONGOING || entry->t.v.last_update_ms + c->id_idle_ms > now_ms)
        return;
    ev.type = TXN_RETIRE;
    ev.idle_ms = c->id_idle_ms;
    coordinator_step(c, entry, &ev, &a);
    if (!a.error)
        coordinator_forget(c, entry);
}

void coordinator_tick(struct txn_coordinator *c)
{
    int64_t now_ms = env_wall_ms(c->env);

    env_timer_set(c->env, &c->tick, c->env->now + ENV_MS((uint64_t)c->tick_ms));
    MAP_EACH (m, &c->ids)
        tick_one(c, m->value, now_ms);
    if (c->env->now - c->producers_at >= ENV_MS(PRODUCERS_EVERY_MS)) {
        c->producers_at = c->env->now;
        plug_expire_producers(c);
    }
}

static void tick_fire(struct env_timer *timer)
{
    coordinator_tick(list_entry(timer, struct txn_coordinator, tick));
}

/* ---- life ---- */

static int read_settings(struct txn_coordinator *c)
{
    static const struct {
        const char *name;
        int64_t fallback, min, max;
        size_t at;
    } settings[] = {
        {"transaction.abort.timed.out.transaction.cleanup.interval.ms", TICK_MS, 1, INT32_MAX,
         offsetof(struct txn_coordinator, tick_ms)},
        {"transaction.max.timeout.ms", 900000, 1, INT32_MAX,
         offsetof(struct txn_coordinator, timeout_max_ms)},
        {"transactional.id.expiration.ms", INT64_C(604800000), 1, INT32_MAX,
         offsetof(struct txn_coordinator, id_idle_ms)},
        {"producer.id.expiration.ms", 86400000, 1, INT32_MAX,
         offsetof(struct txn_coordinator, producer_idle_ms)},
    };
    const struct conf *conf = broker_conf(c->b);
    struct err e = {0};
    int64_t n;

    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        int64_t *to = (int64_t *)(void *)((char *)c + settings[i].at);
        int rc = conf_i64(conf, settings[i].name, settings[i].fallback, to, &e);
        if (!rc && (*to < settings[i].min || *to > settings[i].max))
            rc = err_set(&e, ERR_INVALID, "%s=%lld: must be between %lld and %lld",
                         settings[i].name, (long long)*to, (long long)settings[i].min,
                         (long long)settings[i].max);
        if (rc) {
            env_error(c->env, "%s", e.text);
            return rc;
        }
    }
    int rc = conf_i64(conf, "transaction.state.log.num.partitions", 4, &n, &e);
    if (!rc && (n < 1 || n > 1000))
        rc = err_set(&e, ERR_INVALID, "transaction.state.log.num.partitions=%lld: 1 to 1000",
                     (long long)n);
    if (rc)
        env_error(c->env, "%s", e.text);
    c->log_partitions = (int32_t)n;
    return rc;
}

int coordinator_open(struct txn_coordinator **out, struct broker *b)
{
    struct txn_coordinator *c = calloc(1, sizeof *c);

    *out = NULL;
    if (!c)
        return -ERR_NOMEM;
    c->b = b;
    c->env = broker_env(b);
    map_init(&c->ids);
    c->tick.fire = tick_fire;
    arena_init(&c->arena, TXLOG_ARENA_MAX);
    buf_init(&c->value, TXLOG_BATCH_MAX);
    buf_init(&c->batch, TXLOG_BATCH_MAX);
    buf_init(&c->unpacked, 64 << 20);
    int rc = read_settings(c);
    if (rc) {
        txn_free(c);
        return rc;
    }
    struct plug plug = txn_plug(c);
    broker_plug(b, &plug);
    *out = c;
    return 0;
}

void txn_free(struct txn_coordinator *c)
{
    if (!c)
        return;
    env_timer_stop(c->env, &c->tick);
    MAP_EACH (m, &c->ids)
        entry_free(m->value);
    map_deinit(&c->ids);
    arena_deinit(&c->arena);
    buf_deinit(&c->value);
    buf_deinit(&c->batch);
    buf_deinit(&c->unpacked);
    free(c);
}

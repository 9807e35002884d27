/* txn/producer_state.c - sequences, epochs and open transactions of one partition's producers.
 *
 * One function applies a batch to one view of a producer; staging applies it to the staged view and
 * queues it, durability takes it from the queue to the durable view. Checks come in Kafka's order:
 * duplicate, epoch, sequence, kind. */
#include "txn/producer_state.h"
#include "base/bytes.h"
#include "base/check.h"
#include <stdlib.h>

enum { SNAPSHOT_ENTRY = 46, SNAPSHOT_HEAD = 10, WINDOW_ENTRY = 32, WINDOW_HEAD = 8 };
static const unsigned char window_magic[4] = {'o', 'n', 'c', 'e'};

struct cached_batch {
    int64_t last_offset, timestamp;
    int32_t last_sequence, delta;
};
/* One view of a producer. epoch -1: this view has not seen it. */
struct producer_view {
    int64_t timestamp;
    int64_t txn_first; /* -1: no transaction is open */
    int32_t coordinator_epoch;
    int16_t epoch;
    uint8_t n;
    struct cached_batch batches[PRODUCER_BATCHES]; /* oldest first */
};
struct producer_entry {
    int64_t producer_id;
    struct producer_view staged, durable;
    struct list open;   /* in producer_state.open when durable.txn_first >= 0 */
    uint32_t n_pending; /* of its batches in the queue */
    int64_t seen_ms;    /* when it last did anything, by the state's now_ms */
};

void producer_state_init(struct producer_state *ps, uint64_t mutations)
{
    memset(ps, 0, sizeof *ps);
    idmap_init(&ps->entries);
    list_init(&ps->open);
    ps->mutations = mutations;
}

static void forget_all(struct producer_state *ps)
{
    MAP_EACH (e, &ps->entries.m)
        free(e->value);
    idmap_deinit(&ps->entries);
    idmap_init(&ps->entries);
    list_init(&ps->open);
    ps->n_staged = ps->n_durable = 0;
}

void producer_state_deinit(struct producer_state *ps)
{
    forget_all(ps);
    idmap_deinit(&ps->entries);
    free(ps->staged);
    ps->staged = NULL;
}

uint32_t producer_state_count(const struct producer_state *ps)
{
    return ps->entries.m.n;
}

uint32_t producer_state_durable_count(const struct producer_state *ps)
{
    return ps->n_durable;
}

static struct producer_entry *entry_find(const struct producer_state *ps, int64_t producer_id)
{
    return idmap_get(&ps->entries, (uint64_t)producer_id);
}

static void view_init(struct producer_view *v)
{
    memset(v, 0, sizeof *v);
    v->epoch = -1;
    v->coordinator_epoch = -1;
    v->timestamp = -1;
    v->txn_first = -1;
}

static struct producer_entry *entry_get(struct producer_state *ps, int64_t producer_id)
{
    struct producer_entry *e = entry_find(ps, producer_id);
    if (e)
        return e;
    e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    e->producer_id = producer_id;
    view_init(&e->staged);
    view_init(&e->durable);
    if (idmap_put(&ps->entries, (uint64_t)producer_id, e)) {
        free(e);
        return NULL;
    }
    return e;
}

/* ---- checks ---- */

static const struct cached_batch *duplicate_find(const struct producer_view *v,
                                                 const struct producer_batch *b)
{
    if (b->epoch != v->epoch)
        return NULL;
    int32_t last = sequence_add(b->base_sequence, b->last_delta);
    for (int i = 0; i < v->n; i++) {
        const struct cached_batch *c = &v->batches[i];
        if (c->last_sequence != last || c->delta != b->last_delta)
            continue;
        /* The batch of a transaction that is over has its answer from the coordinator. */
        if (b->transactional && (v->txn_first < 0 || c->last_offset - c->delta < v->txn_first))
            continue;
        return c;
    }
    return NULL;
}

static bool sequence_fits(const struct producer_view *v, const struct producer_batch *b,
                          int64_t log_end, bool strict)
{
    if (!v || v->epoch < 0) {
        if (log_end == 0 && b->base_sequence != 0) {
            REACHED("producer_state: first batch of a new partition is not sequence 0");
            return false;
        }
        return !strict || b->base_sequence == 0;
    }
    if (b->epoch != v->epoch || v->n == 0)
        return b->base_sequence == 0;
    return b->base_sequence == sequence_add(v->batches[v->n - 1].last_sequence, 1);
}

static enum producer_verdict refuse(struct producer_answer *a, enum kafka_error error)
{
    a->error = error;
    return PRODUCER_REFUSE;
}

static enum producer_verdict check_marker(const struct producer_state *ps,
                                          const struct producer_view *v,
                                          const struct producer_batch *b, struct producer_answer *a)
{
    if (v && b->epoch < v->epoch && !MUTATED(ps->mutations, NO_EPOCH_FENCE))
        return refuse(a, KAFKA_INVALID_PRODUCER_EPOCH);
    if (v && b->coordinator_epoch < v->coordinator_epoch)
        return refuse(a, KAFKA_TRANSACTION_COORDINATOR_FENCED);
    return PRODUCER_ADMIT;
}

enum producer_verdict producer_state_check(const struct producer_state *ps,
                                           const struct producer_batch *b,
                                           enum producer_origin origin, int64_t log_end,
                                           bool strict, struct producer_answer *a)
{
    const struct producer_entry *e = entry_find(ps, b->producer_id);
    const struct producer_view *v = e ? &e->staged : NULL;

    *a = (struct producer_answer){.error = KAFKA_NONE, .base_offset = -1, .timestamp = -1};
    if (origin == PRODUCER_MARKER)
        return check_marker(ps, v, b, a);
    bool sequences = origin == PRODUCER_CLIENT && !MUTATED(ps->mutations, NO_SEQUENCE_CHECK);
    const struct cached_batch *c = v && sequences ? duplicate_find(v, b) : NULL;
    if (c) {
        a->base_offset = c->last_offset - c->delta;
        a->timestamp = c->timestamp;
        return PRODUCER_DUPLICATE;
    }
    if (v && b->epoch < v->epoch && !MUTATED(ps->mutations, NO_EPOCH_FENCE))
        return refuse(a, KAFKA_INVALID_PRODUCER_EPOCH);
    if (sequences && !sequence_fits(v, b, log_end, strict))
        return refuse(a, KAFKA_OUT_OF_ORDER_SEQUENCE_NUMBER);
    if (v && !b->transactional && v->txn_first >= 0)
        return refuse(a, KAFKA_INVALID_TXN_STATE);
    return PRODUCER_ADMIT;
}

/* ---- applying ---- */

static void view_epoch(struct producer_view *v, int16_t epoch)
{
    if (v->epoch != epoch) {
        v->epoch = epoch;
        v->n = 0;
    }
}

static void view_apply(struct producer_view *v, const struct producer_batch *b)
{
    view_epoch(v, b->epoch);
    v->timestamp = b->timestamp;
    if (b->marker) {
        v->coordinator_epoch = b->coordinator_epoch;
        v->txn_first = -1;
        return;
    }
    if (v->n == PRODUCER_BATCHES)
        memmove(v->batches, v->batches + 1, --v->n * sizeof *v->batches);
    v->batches[v->n++] =
        (struct cached_batch){.last_offset = b->base_offset + b->last_delta,
                              .timestamp = b->timestamp,
                              .last_sequence = sequence_add(b->base_sequence, b->last_delta),
                              .delta = b->last_delta};
    if (b->transactional && v->txn_first < 0)
        v->txn_first = b->base_offset;
}

static void aborted_encode(unsigned char to[TXNINDEX_ENTRY], const struct producer_aborted *a)
{
    put_be16(to, 0);
    put_be64(to + 2, (uint64_t)a->producer_id);
    put_be64(to + 10, (uint64_t)a->first_offset);
    put_be64(to + 18, (uint64_t)a->last_offset);
    put_be64(to + 26, (uint64_t)a->last_stable);
}

/* The durable view takes b; the list of open transactions follows. */
static void durable_apply(struct producer_state *ps, struct producer_entry *e,
                          const struct producer_batch *b, producer_abort_fn each, void *user)
{
    int64_t first = e->durable.txn_first;

    ps->n_durable += e->durable.epoch < 0;
    view_apply(&e->durable, b);
    if (first < 0 && e->durable.txn_first >= 0) {
        list_push(&ps->open, &e->open);
    } else if (first >= 0 && e->durable.txn_first < 0) {
        list_remove(&e->open);
        const struct list *oldest = list_first(&ps->open);
        struct producer_aborted a = {.producer_id = e->producer_id,
                                     .first_offset = first,
                                     .last_offset = b->base_offset,
                                     .last_stable = b->base_offset + 1};
        if (oldest)
            a.last_stable = list_entry(oldest, struct producer_entry, open)->durable.txn_first;
        if (!b->commit && each) {
            unsigned char entry[TXNINDEX_ENTRY];
            aborted_encode(entry, &a);
            each(user, a.last_offset, entry);
        }
    }
}

static int staged_push(struct producer_state *ps, const struct producer_batch *b)
{
    if (ps->n_staged == ps->staged_cap) {
        uint32_t cap = ps->staged_cap ? ps->staged_cap * 2 : 8;
        struct producer_batch *v = malloc(cap * sizeof *v);
        if (!v)
            return -ERR_NOMEM;
        for (uint32_t i = 0; i < ps->n_staged; i++)
            v[i] = ps->staged[(ps->staged_at + i) % ps->staged_cap];
        free(ps->staged);
        ps->staged = v;
        ps->staged_cap = cap;
        ps->staged_at = 0;
    }
    ps->staged[(ps->staged_at + ps->n_staged++) % ps->staged_cap] = *b;
    return 0;
}

int producer_state_staged(struct producer_state *ps, const struct producer_batch *b)
{
    struct producer_entry *e = entry_get(ps, b->producer_id);
    if (!e || staged_push(ps, b))
        return -ERR_NOMEM;
    e->n_pending++;
    e->seen_ms = ps->now_ms;
    view_apply(&e->staged, b);
    return 0;
}

void producer_state_durable(struct producer_state *ps, int64_t end, producer_abort_fn each,
                            void *user)
{
    while (ps->n_staged) {
        const struct producer_batch *b = &ps->staged[ps->staged_at];
        if (b->base_offset + b->last_delta >= end)
            return;
        struct producer_entry *e = entry_find(ps, b->producer_id);
        CHECK(e);
        CHECK(e->n_pending > 0);
        e->n_pending--;
        durable_apply(ps, e, b, each, user);
        ps->staged_at = (ps->staged_at + 1) % ps->staged_cap;
        ps->n_staged--;
    }
}

int producer_state_replay(struct producer_state *ps, const struct producer_batch *b,
                          producer_abort_fn each, void *user)
{
    struct producer_entry *e = entry_get(ps, b->producer_id);
    if (!e)
        return -ERR_NOMEM;
    CHECK(ps->n_staged == 0);
    e->seen_ms = ps->now_ms;
    view_apply(&e->staged, b);
    durable_apply(ps, e, b, each, user);
    return 0;
}

/* ---- questions ---- */

int64_t producer_state_stable(const struct producer_state *ps, int64_t high_watermark,
                              int64_t log_start)
{
    const struct list *oldest = list_first(&ps->open);
    if (!oldest)
        return high_watermark;
    int64_t first = list_entry(oldest, struct producer_entry, open)->durable.txn_first;
    if (first < log_start)
        first = log_start;
    return first < high_watermark ? first : high_watermark;
}

bool producer_state_open(const struct producer_state *ps, int64_t producer_id)
{
    const struct producer_entry *e = entry_find(ps, producer_id);
    return e && (e->staged.txn_first >= 0 || e->durable.txn_first >= 0);
}

uint32_t producer_state_expire(struct producer_state *ps, int64_t idle_ms)
{
    uint32_t n = 0;
    MAP_EACH (m, &ps->entries.m) {
        struct producer_entry *e = m->value;
        if (e->n_pending || e->staged.txn_first >= 0 || e->durable.txn_first >= 0 ||
            ps->now_ms - e->seen_ms < idle_ms)
            continue;
        ps->n_durable -= e->durable.epoch >= 0;
        idmap_del(&ps->entries, (uint64_t)e->producer_id);
        free(e);
        n++;
    }
    return n;
}

bool producer_aborted_decode(struct producer_aborted *a, const unsigned char entry[TXNINDEX_ENTRY])
{
    if (get_be16(entry) != 0)
        return false;
    a->producer_id = (int64_t)get_be64(entry + 2);
    a->first_offset = (int64_t)get_be64(entry + 10);
    a->last_offset = (int64_t)get_be64(entry + 18);
    a->last_stable = (int64_t)get_be64(entry + 26);
    return true;
}

bool producer_aborted_overlaps(const struct producer_aborted *a, int64_t from, int64_t upper,
                               bool *last)
{
    *last = a->last_stable >= upper;
    return a->last_offset >= from && a->first_offset < upper;
}

/* ---- snapshots ---- */

static void snapshot_entry(unsigned char *to, const struct producer_entry *e)
{
    const struct producer_view *v = &e->durable;
    const struct cached_batch *c = v->n ? &v->batches[v->n - 1] : NULL;

    put_be64(to, (uint64_t)e->producer_id);
    put_be16(to + 8, (uint16_t)v->epoch);
    put_be32(to + 10, (uint32_t)(c ? c->last_sequence : -1));
    put_be64(to + 14, (uint64_t)(c ? c->last_offset : -1));
    put_be32(to + 22, (uint32_t)(c ? c->delta : 0));
    put_be64(to + 26, (uint64_t)v->timestamp);
    put_be32(to + 34, (uint32_t)v->coordinator_epoch);
    put_be64(to + 38, (uint64_t)v->txn_first);
}

int producer_state_save(const struct producer_state *ps, struct buf *out)
{
    size_t start = out->n;
    uint32_t n = 0;

    if (!buf_more(out, SNAPSHOT_HEAD))
        return out->failed;
    MAP_EACH (m, &ps->entries.m) {
        const struct producer_entry *e = m->value;
        if (e->durable.epoch < 0)
            continue;
        unsigned char *to = buf_more(out, SNAPSHOT_ENTRY);
        if (!to) {
            out->n = start;
            return out->failed;
        }
        snapshot_entry(to, e);
        n++;
    }
    DCHECK(n == ps->n_durable);
    unsigned char *head = out->p + start;
    put_be16(head, 1);
    put_be32(head + 6, n);
    put_be32(head + 2, crc32c(0, head + 6, out->n - start - 6));
    return 0;
}

int producer_state_save_window(const struct producer_state *ps, struct buf *out, size_t start)
{
    size_t at = out->n;
    uint32_t n = 0;

    MAP_EACH (m, &ps->entries.m) {
        const struct producer_view *v = &((const struct producer_entry *)m->value)->durable;
        for (int i = 0; v->epoch >= 0 && i + 1 < v->n; i++) {
            const struct cached_batch *c = &v->batches[i];
            unsigned char *to =
                out->n > at || buf_more(out, WINDOW_HEAD) ? buf_more(out, WINDOW_ENTRY) : NULL;
            if (!to)
                return out->failed;
            put_be64(to, (uint64_t)((const struct producer_entry *)m->value)->producer_id);
            put_be32(to + 8, (uint32_t)c->last_sequence);
            put_be64(to + 12, (uint64_t)c->last_offset);
            put_be32(to + 20, (uint32_t)c->delta);
            put_be64(to + 24, (uint64_t)c->timestamp);
            n++;
        }
    }
    if (!n)
        return 0;
    memcpy(out->p + at, window_magic, sizeof window_magic);
    put_be32(out->p + at + 4, n);
    unsigned char *head = out->p + start;
    put_be32(head + 2, crc32c(0, head + 6, out->n - start - 6));
    return 0;
}

/* One of the older batches, before the newest, which the entry has. */
static int window_load(struct producer_state *ps, const unsigned char *p)
{
    struct producer_entry *e = entry_find(ps, (int64_t)get_be64(p));
    struct cached_batch c = {.last_sequence = (int32_t)get_be32(p + 8),
                             .last_offset = (int64_t)get_be64(p + 12),
                             .delta = (int32_t)get_be32(p + 20),
                             .timestamp = (int64_t)get_be64(p + 24)};

    if (!e || e->durable.n == 0 || e->durable.n == PRODUCER_BATCHES || c.delta < 0 ||
        c.last_sequence < 0 || c.last_offset < 0)
        return -ERR_CORRUPT;
    struct producer_view *v = &e->durable;
    const struct cached_batch *newest = &v->batches[v->n - 1];
    if (c.last_offset >= newest->last_offset ||
        (v->n > 1 && c.last_offset <= v->batches[v->n - 2].last_offset))
        return -ERR_CORRUPT;
    v->batches[v->n] = *newest;
    v->batches[v->n++ - 1] = c;
    e->staged = *v;
    return 0;
}

static int entry_load(struct producer_state *ps, const unsigned char *p)
{
    int64_t producer_id = (int64_t)get_be64(p);
    if (producer_id < 0 || entry_find(ps, producer_id))
        return -ERR_CORRUPT;
    struct producer_entry *e = entry_get(ps, producer_id);
    if (!e)
        return -ERR_NOMEM;
    struct producer_view *v = &e->durable;
    v->epoch = (int16_t)get_be16(p + 8);
    v->timestamp = (int64_t)get_be64(p + 26);
    v->coordinator_epoch = (int32_t)get_be32(p + 34);
    v->txn_first = (int64_t)get_be64(p + 38);
    struct cached_batch c = {.last_sequence = (int32_t)get_be32(p + 10),
                             .last_offset = (int64_t)get_be64(p + 14),
                             .delta = (int32_t)get_be32(p + 22),
                             .timestamp = v->timestamp};
    if (v->epoch < 0 || v->txn_first < -1 || c.delta < 0)
        return -ERR_CORRUPT;
    if (c.last_offset >= 0)
        v->batches[v->n++] = c;
    e->staged = *v;
    e->seen_ms = ps->now_ms;
    ps->n_durable++;
    if (v->txn_first < 0)
        return 0;
    /* Entries come in any order; the list is by first offset. */
    struct list *at = ps->open.prev;
    while (at != &ps->open &&
           list_entry(at, struct producer_entry, open)->durable.txn_first > v->txn_first)
        at = at->prev;
    list_push_front(at, &e->open);
    return 0;
}

/* Where the entries end, and how many older batches follow; false: neither Kafka's nor ours. */
static bool snapshot_parts(struct slice s, size_t *entries_end, uint32_t *n_window)
{
    if (s.n < SNAPSHOT_HEAD || get_be16(s.p) != 1 ||
        get_be32(s.p + 2) != crc32c(0, s.p + 6, s.n - 6) ||
        get_be32(s.p + 6) > (s.n - SNAPSHOT_HEAD) / SNAPSHOT_ENTRY)
        return false;
    *entries_end = SNAPSHOT_HEAD + (size_t)get_be32(s.p + 6) * SNAPSHOT_ENTRY;
    *n_window = 0;
    size_t rest = s.n - *entries_end;
    if (rest == 0)
        return true;
    if (rest < WINDOW_HEAD || memcmp(s.p + *entries_end, window_magic, sizeof window_magic) != 0)
        return false;
    *n_window = get_be32(s.p + *entries_end + 4);
    return *n_window == (rest - WINDOW_HEAD) / WINDOW_ENTRY &&
           (rest - WINDOW_HEAD) % WINDOW_ENTRY == 0;
}

int producer_state_load(struct producer_state *ps, struct slice s)
{
    size_t end;
    uint32_t n_window;
    int res = 0;

    forget_all(ps);
    if (!snapshot_parts(s, &end, &n_window))
        return -ERR_CORRUPT;
    for (size_t at = SNAPSHOT_HEAD; at < end && !res; at += SNAPSHOT_ENTRY)
        res = entry_load(ps, s.p + at);
    for (uint32_t i = 0; i < n_window && !res; i++)
        res = window_load(ps, s.p + end + WINDOW_HEAD + (size_t)i * WINDOW_ENTRY);
    if (res)
        forget_all(ps);
    return res;
}

/* broker/log/log.c - one partition: opening, staging of batches, rolling, the owner's questions.
 *
 * log_append gives the batch its offset and place at once and puts it at the end of the line; the
 * rest happens at the end of the turn. Nothing staged is ever taken back: what can refuse (disk
 * full, too much in flight, memory) is asked before the offset is given. */
#include "broker/log/internal.h"
#include <stdio.h>
#include <stdlib.h>

static void config_set(struct log_config *to, const struct log_config *from)
{
    static const struct log_config none;

    *to = from ? *from : none;
    if (to->segment_bytes <= 0)
        to->segment_bytes = 1 << 30;
    if (to->segment_ms <= 0)
        to->segment_ms = INT64_C(7) * 24 * 3600 * 1000;
    if (to->index_interval_bytes <= 0)
        to->index_interval_bytes = 4096;
    if (to->segment_index_bytes <= 0)
        to->segment_index_bytes = 10 << 20;
}

void log_key(const struct uuid *id, int32_t partition, unsigned char key[20])
{
    memcpy(key, id->b, 16);
    put_be32(key + 16, (uint32_t)partition);
}

struct log *logdir_find(const struct logdir *d, const struct uuid *id, int32_t partition)
{
    unsigned char key[20];

    log_key(id, partition, key);
    return map_get(&d->by_key, slice_of(key, sizeof key));
}

struct log *log_new(struct logdir *d, struct slice topic, const struct uuid *id, int32_t partition,
                    const struct log_config *config, int flags, void *user)
{
    struct log *l = calloc(1, sizeof *l);
    char name[512], *copy = malloc(topic.n + 1);

    snprintf(name, sizeof name, "%.*s-%d", SLICE_FMT(topic), (int)partition);
    if (l)
        l->path = path_join(d->path, name);
    if (!l || !copy || !l->path) {
        free(copy);
        if (l)
            free(l->path);
        free(l);
        return NULL;
    }
    memcpy(copy, topic.p, topic.n);
    copy[topic.n] = 0;
    l->topic = slice_of(copy, topic.n);
    l->d = d;
    l->id = *id;
    l->partition = partition;
    l->flags = flags;
    l->user = user;
    l->snapshots[0] = l->snapshots[1] = -1;
    buf_init(&l->roll_snapshot, 1u << 30);
    config_set(&l->config, config);
    list_push(&d->logs, &l->link);
    return l;
}

void log_free(struct log *l)
{
    struct list *links[] = {&l->link,       &l->tails_link, &l->round_link,
                            &l->dirty_link, &l->queue_link, &l->stamp_link};

    tail_clear(l);
    for (int i = 0; i < l->n_segs; i++)
        segment_free(l->segs[i]);
    if (l->dirty)
        l->d->n_dirty--;
    if (l->starved)
        logdir_background_ok(l->d, &l->starved);
    for (size_t i = 0; i < sizeof links / sizeof *links; i++)
        list_remove(links[i]);
    buf_deinit(&l->roll_snapshot);
    free(l->segs);
    free(l->epochs);
    free(l->path);
    free((void *)(uintptr_t)l->topic.p);
    free(l);
}

int logdir_log_open(struct logdir *d, struct slice topic, const struct uuid *topic_id,
                    int32_t partition, const struct log_config *config, int flags, void *user,
                    struct log **out, struct err *e)
{
    unsigned char key[20];
    struct log *l;
    int r;

    if (topic.n == 0 || topic.n > 249 || memchr(topic.p, '/', topic.n) || partition < 0)
        return err_set(e, ERR_INVALID, "%.*s-%d: not the name of a partition", SLICE_FMT(topic),
                       (int)partition);
    if (d->poisoned || d->closing)
        return err_set(e, ERR_IO, "%s: the log directory is closed", d->path);
    if (logdir_find(d, topic_id, partition))
        return err_set(e, ERR_EXISTS, "%.*s-%d: open already", SLICE_FMT(topic), (int)partition);
    l = log_new(d, topic, topic_id, partition, config, flags, user);
    log_key(topic_id, partition, key);
    if (!l || map_put(&d->by_key, slice_of(key, sizeof key), l) < 0) {
        if (l)
            log_free(l);
        return err_set(e, ERR_NOMEM, "%.*s-%d: out of memory", SLICE_FMT(topic), (int)partition);
    }
    if (d->recovering) {
        r = recovery_log_open(l, e);
        if (r < 0) {
            map_del(&d->by_key, slice_of(key, sizeof key));
            log_free(l);
            return r;
        }
    } else {
        l->ck.snapshot = l->ck.stateless = -1;
        log_mark_cut(l);
        l->ck.stateless = 0;
        list_push(&d->fresh, &l->stamp_link);
        env_task_add(d->env, &d->turn);
    }
    *out = l;
    return 0;
}

void log_configure(struct log *l, const struct log_config *config)
{
    config_set(&l->config, config);
}

void *log_user(const struct log *l)
{
    return l->user;
}

void log_set_user(struct log *l, void *user)
{
    l->user = user;
}

int64_t log_start(const struct log *l)
{
    return l->start;
}

int64_t log_end(const struct log *l)
{
    return l->end;
}

int64_t log_durable(const struct log *l)
{
    return l->durable;
}

int64_t log_size(const struct log *l)
{
    return (int64_t)(l->sealed_bytes + (l->n_segs ? l->segs[l->n_segs - 1]->staged_pos : 0));
}

/* ---- staging ---- */

static bool must_roll(const struct log *l, const struct segment *s, const struct batch_info *info)
{
    const struct log_config *c = &l->config;
    uint64_t waiting = (s->staged_pos - s->durable_pos) / (uint64_t)c->index_interval_bytes + 1;
    uint64_t room = (uint64_t)c->segment_index_bytes;
    int64_t age = 0;

    if (s->staged_pos == 0)
        return false;
    if (s->staged_pos + info->size > (uint64_t)c->segment_bytes)
        return true;
    if (info->max_timestamp >= 0 && s->first_ts >= 0)
        age = info->max_timestamp - s->first_ts;
    else if (s->first_ts < 0)
        age = env_wall_ms(l->d->env) - s->created_ms;
    if (age > c->segment_ms)
        return true;
    if ((index_n_offsets(&s->index) + waiting) * IDX_ENTRY > room ||
        (index_n_times(&s->index) + waiting + 1) * TIDX_ENTRY > room)
        return true;
    return l->end + info->last_offset_delta - s->base > INT32_MAX;
}

struct segment *log_place(struct log *l, const struct batch_info *info)
{
    struct segment *s = l->n_segs ? l->segs[l->n_segs - 1] : NULL, *n;

    if (s && !must_roll(l, s, info))
        return s;
    n = segment_new(l, l->end);
    if (!n)
        return NULL;
    if (log_add_segment(l, n) < 0) {
        segment_free(n);
        return NULL;
    }
    n->created_ms = env_wall_ms(l->d->env);
    n->size_known = true;
    n->index.loaded = n->index_known = true;
    if (s)
        l->sealed_bytes += s->staged_pos;
    return n;
}

static int line_reserve(struct logdir *d)
{
    uint32_t cap = d->line_cap ? d->line_cap * 2 : 64;
    struct staged *v;

    if (d->line_n < d->line_cap)
        return 0;
    v = malloc((size_t)cap * sizeof *v);
    if (!v)
        return -ERR_NOMEM;
    for (uint32_t i = 0; i < d->line_n; i++)
        v[i] = d->line[(d->line_head + i) & (d->line_cap - 1)];
    free(d->line);
    d->line = v;
    d->line_cap = cap;
    d->line_head = 0;
    return 0;
}

/* May it be staged? A bundle once begun is not refused for lack of room: half of one must not
 * be. */
static int admit(struct log *l, size_t n)
{
    struct logdir *d = l->d;

    if (d->poisoned || d->closed || d->env->dead)
        return -ERR_IO;
    if (d->closing || l->gone)
        return -ERR_STATE;
    if (d->bundle_depth && d->bundle_n)
        return 0;
    if (d->staged_bytes && d->staged_bytes + n > d->o.staged_bytes_max) {
        d->refused = true;
        return -ERR_LIMIT;
    }
    /* Deleting a topic is how space comes back: its record needs the journal's room alone. */
    if (d->no_space && (l != d->metadata || !journal_has_room(d, n))) {
        d->refused = true;
        return -ERR_NO_SPACE;
    }
    return 0;
}

static void put_in_line(struct log *l, struct block *block, unsigned char *p,
                        const struct batch_info *info, struct segment *s)
{
    struct logdir *d = l->d;
    struct tail_batch *b = tail_push(l);
    struct staged *line = &d->line[(d->line_head + d->line_n++) & (d->line_cap - 1)];

    *b = (struct tail_batch){.block = block,
                             .p = p,
                             .size = (uint32_t)info->size,
                             .seg = s,
                             .pos = s->staged_pos,
                             .base = info->base_offset,
                             .last = batch_last_offset(info),
                             .lsn = ++d->staged};
    *line = (struct staged){l, d->bundle_depth ? d->bundle : 0, b->size};
    d->bundle_n += d->bundle_depth != 0;
    s->staged_pos += b->size;
    l->end = b->last + 1;
    d->staged_bytes += b->size;
    d->tail_bytes += b->size;
    env_task_add(d->env, &d->turn);
}

static int stage(struct log *l, struct block *block, unsigned char *p, struct batch_info *info)
{
    struct logdir *d = l->d;
    struct block *to = NULL;
    unsigned char *copy;
    struct segment *s;
    int r = admit(l, info->size);

    if (r < 0)
        return r;
    if (tail_reserve(&l->tail) < 0 || line_reserve(d) < 0)
        return -ERR_NOMEM;
    if (block && info->size >= TAIL_REF_MIN && info->size >= block->cap / 2) {
        to = block_ref(block);
        copy = p;
    } else {
        copy = tail_chunk(d, info->size, &to);
        if (!copy)
            return -ERR_NOMEM;
        memcpy(copy, p, info->size);
    }
    s = log_place(l, info);
    if (!s) {
        block_unref(to);
        return -ERR_NOMEM;
    }
    info->base_offset = l->end;
    info->leader_epoch = d->epoch;
    batch_set_offset(copy, l->end, d->epoch);
    if (s->first_ts < 0)
        s->first_ts = info->max_timestamp;
    put_in_line(l, to, copy, info, s);
    return 0;
}

int log_append(struct log *l, struct block *block, struct span batch, struct batch_info *info)
{
    int r;

    CHECK(batch.n == info->size);
    r = stage(l, block, batch.p, info);
    if (r == 0)
        batch_set_offset(batch.p, info->base_offset, info->leader_epoch);
    return r;
}

int log_append_copy(struct log *l, struct slice batch, struct batch_info *info)
{
    CHECK(batch.n == info->size);
    return stage(l, NULL, (unsigned char *)(uintptr_t)batch.p, info);
}

void logdir_bundle_begin(struct logdir *d)
{
    if (d->bundle_depth++ == 0) {
        d->bundle++;
        d->bundle_n = 0;
    }
}

void logdir_bundle_end(struct logdir *d)
{
    CHECK(d->bundle_depth > 0);
    if (--d->bundle_depth == 0 && d->line_n)
        env_task_add(d->env, &d->turn);
}

void log_epoch_end(const struct log *l, int32_t epoch, int32_t *found, int64_t *end)
{
    *found = -1;
    *end = l->durable;
    for (int i = 0; i < l->n_epochs; i++) {
        if (l->epochs[i].epoch > epoch) {
            *end = l->epochs[i].start;
            return;
        }
        *found = l->epochs[i].epoch;
    }
}

/* ---- aborted transactions ---- */

void log_txnindex_add(struct log *l, int64_t marker_offset, const unsigned char entry[34])
{
    struct segment *s = log_segment(l, marker_offset);
    struct buf *b;

    if (!s)
        return;
    b = &s->txn;
    /* A replay tells again what the file may have already. */
    if (b->n >= 34 && (int64_t)get_be64(b->p + b->n - 34 + 18) >= marker_offset)
        return;
    if (buf_put(b, entry, 34) < 0)
        logdir_poison(l->d, "%s: out of memory for aborted transactions", l->path);
    l->txn_sum += crc32c(0, entry, 34);
}

void log_txnindex_scan(struct log *l, int64_t from_offset,
                       bool (*each)(void *user, const unsigned char entry[34]), void *user)
{
    for (int i = 0; i < l->n_segs; i++) {
        const struct buf *b = &l->segs[i]->txn;
        if (i + 1 < l->n_segs && l->segs[i + 1]->base <= from_offset)
            continue;
        for (size_t at = 0; at + 34 <= b->n; at += 34)
            if ((int64_t)get_be64(b->p + at + 18) >= from_offset && !each(user, b->p + at))
                return;
    }
}

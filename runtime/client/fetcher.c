/* runtime/client/fetcher.c - hands out records one by one.
 *
 * Happy path: the first ready partition's next batch is checked (CRC, aborted, control), its
 * records are handed out, then the next partition's turn comes. Batches that are not for users
 * only move the position. A batch given up in the middle by a pause is opened again later and
 * its records below the position are passed over. */
#include "runtime/client/fetcher_internal.h"
#include <inttypes.h>

enum { SCRATCH_MAX = 256 << 20 };

/* ---- partitions ---- */

static struct slice part_key(unsigned char *to, size_t cap, struct slice topic, int32_t partition)
{
    if (topic.n + 4 > cap)
        return SLICE_NULL;
    put_be32(to, (uint32_t)partition);
    if (topic.n)
        memcpy(to + 4, topic.p, topic.n);
    return slice_of(to, topic.n + 4);
}

static struct fpart *part_get(const struct fetcher *f, struct slice topic, int32_t partition)
{
    unsigned char key[512];
    struct slice k = part_key(key, sizeof key, topic, partition);

    return k.p ? map_get(&f->parts, k) : NULL;
}

void fetcher_chunk_free(struct fetcher *f, struct chunk *k)
{
    block_unref(k->block);
    k->block = NULL;
    list_push(&f->free_chunks, &k->link);
}

void fetcher_ready_update(struct fpart *p)
{
    bool ready = p->error || (p->n_chunks && !p->paused);

    if (ready && !list_linked(&p->ready))
        list_push(&p->f->ready, &p->ready);
    else if (!ready)
        list_remove(&p->ready);
}

static void drop_buffered(struct fpart *p)
{
    struct list *l;

    if (p->f->active == p)
        p->f->active = NULL;
    while ((l = list_first(&p->chunks))) {
        list_remove(l);
        fetcher_chunk_free(p->f, list_entry(l, struct chunk, link));
    }
    p->n_chunks = 0;
    p->error = 0;
}

static void start_at(struct fpart *p, int64_t offset)
{
    drop_buffered(p);
    p->version = ++p->f->versions;
    p->fetch_offset = p->position = offset;
    p->high_watermark = p->stable = p->log_start = -1;
    p->answered = p->stopped = false;
    p->fresh = true;
    p->retry_at = p->backoff = 0;
    fetcher_ready_update(p);
    env_task_add(p->f->client->env, &p->f->task);
}

int fetcher_add(struct fetcher *f, struct slice topic, int32_t partition, int64_t offset,
                void *user)
{
    unsigned char key[512], *name;
    struct slice k = part_key(key, sizeof key, topic, partition);
    struct fpart *p;

    if (!k.p)
        return -ERR_INVALID;
    if (map_get(&f->parts, k))
        return -ERR_EXISTS;
    p = calloc(1, sizeof *p);
    name = malloc(topic.n + 1);
    if (!p || !name || map_put(&f->parts, k, p)) {
        free(p);
        free(name);
        return -ERR_NOMEM;
    }
    memcpy(name, key + 4, topic.n);
    name[topic.n] = 0;
    p->f = f;
    p->topic = slice_of(name, topic.n);
    p->partition = partition;
    p->user = user;
    list_init(&p->chunks);
    list_push(&f->order, &p->order);
    start_at(p, offset);
    return 0;
}

static void part_free(struct fetcher *f, struct fpart *p)
{
    drop_buffered(p);
    fetch_forget(f, p);
    list_remove(&p->ready);
    list_remove(&p->order);
    free((void *)(uintptr_t)p->topic.p);
    free(p);
}

void fetcher_remove(struct fetcher *f, struct slice topic, int32_t partition)
{
    unsigned char key[512];
    struct slice k = part_key(key, sizeof key, topic, partition);
    struct fpart *p = k.p ? map_del(&f->parts, k) : NULL;

    if (p)
        part_free(f, p);
}

void fetcher_seek(struct fetcher *f, struct slice topic, int32_t partition, int64_t offset)
{
    struct fpart *p = part_get(f, topic, partition);

    if (p)
        start_at(p, offset);
}

void fetcher_pause(struct fetcher *f, struct slice topic, int32_t partition, bool paused)
{
    struct fpart *p = part_get(f, topic, partition);

    if (!p || p->paused == paused)
        return;
    p->paused = paused;
    if (paused && f->active == p)
        f->active = NULL;
    fetcher_ready_update(p);
    if (!paused)
        env_task_add(f->client->env, &f->task);
}

int64_t fetcher_position(const struct fetcher *f, struct slice topic, int32_t partition)
{
    const struct fpart *p = part_get(f, topic, partition);
    return p ? p->position : -1;
}

int64_t fetcher_high_watermark(const struct fetcher *f, struct slice topic, int32_t partition)
{
    const struct fpart *p = part_get(f, topic, partition);
    return p ? p->high_watermark : -1;
}

int64_t fetcher_stable(const struct fetcher *f, struct slice topic, int32_t partition)
{
    const struct fpart *p = part_get(f, topic, partition);
    return p ? p->stable : -1;
}

bool fetcher_at_end(const struct fetcher *f, struct slice topic, int32_t partition)
{
    const struct fpart *p = part_get(f, topic, partition);

    if (!p || !p->answered || p->n_chunks || p->error)
        return false;
    return p->position >= (f->opt.read_committed && p->stable >= 0 ? p->stable : p->high_watermark);
}

/* ---- handing out ---- */

static void tell(struct fpart *p, struct err *e)
{
    struct slice t = p->topic;

    if (p->code == KAFKA_OFFSET_OUT_OF_RANGE)
        err_set(e, p->error, "%.*s-%d: offset %" PRId64 " is out of range", SLICE_FMT(t),
                p->partition, p->error_offset);
    else
        err_set(e, p->error, "%.*s-%d: at offset %" PRId64 ": %s", SLICE_FMT(t), p->partition,
                p->error_offset,
                p->code == KAFKA_NONE ? err_text(p->error) : kafka_error_name(p->code));
}

static void part_broken(struct fpart *p, int error)
{
    int64_t at = p->position;

    drop_buffered(p);
    p->stopped = true;
    p->error = error;
    p->code = KAFKA_NONE;
    p->error_offset = at;
    fetcher_ready_update(p);
}

/* The first batch of the partition's first chunk is done with. */
static void pass_batch(struct fpart *p, const struct batch_info *b)
{
    struct fetcher *f = p->f;
    struct chunk *k = list_entry(p->chunks.next, struct chunk, link);

    if (batch_next_offset(b) > p->position)
        p->position = batch_next_offset(b);
    k->rest = slice_sub(k->rest, b->size, k->rest.n);
    k->opened = false;
    if (k->rest.n == 0) {
        list_remove(&k->link);
        fetcher_chunk_free(f, k);
        p->n_chunks--;
        env_task_add(f->client->env, &f->task);
    }
    f->active = NULL;
    list_remove(&p->ready);
    fetcher_ready_update(p);
}

static int judge_batch(struct fetcher *f, struct chunk *k, const struct batch_info *b,
                       struct slice batch)
{
    if (!batch_crc_ok(batch))
        return -ERR_CORRUPT;
    if (MUTATED(f->client->env->mutations, NO_ABORTED_FILTER))
        return batch_is_control(b);
    return aborted_filter_skip(&k->aborted, b, batch);
}

/* Makes the next batch of p the active one, or passes it; 0 or a negative code. */
static int open_batch(struct fetcher *f, struct fpart *p)
{
    struct chunk *k = list_entry(p->chunks.next, struct chunk, link);
    struct batch_info b;
    struct slice batch;
    int rc = batch_header(k->rest, &b);

    if (rc)
        return rc;
    batch = slice_sub(k->rest, 0, b.size);
    rc = k->opened ? 0 : judge_batch(f, k, &b, batch);
    if (rc < 0)
        return rc;
    if (!k->opened)
        k->mark = !rc                    ? FETCHED_FOR_USERS
                  : batch_is_control(&b) ? FETCHED_CONTROL
                                         : FETCHED_ABORTED;
    if (f->opt.everything)
        rc = 0;
    if (rc || batch_next_offset(&b) <= p->position) {
        pass_batch(p, &b);
        return 0;
    }
    k->opened = true;
    rc = record_iter_init_with(&f->iter, batch, &f->scratch, &f->compress);
    if (!rc)
        f->active = p;
    return rc;
}

/* 1: out is filled; 0: go on; negative: the batch is broken. */
static int next_record(struct fetcher *f, struct fetched *out)
{
    struct fpart *p = f->active;
    struct batch_info b = f->iter.batch;
    struct record r;
    int rc;

    while ((rc = record_iter_next(&f->iter, &r)) > 0) {
        if (r.offset < p->position)
            continue;
        *out = (struct fetched){.topic = p->topic,
                                .partition = p->partition,
                                .leader_epoch = b.leader_epoch,
                                .offset = r.offset,
                                .timestamp = r.timestamp,
                                .key = r.key,
                                .value = r.value,
                                .headers = r.headers,
                                .n_headers = r.n_headers,
                                .user = p->user,
                                .transactional = batch_is_transactional(&b),
                                .mark = list_entry(p->chunks.next, struct chunk, link)->mark};
        p->position = r.offset + 1;
        return 1;
    }
    if (!rc)
        pass_batch(p, &b);
    return rc;
}

int fetcher_next(struct fetcher *f, struct fetched *out, struct err *e)
{
    struct list *l;
    int rc;

    for (;;) {
        struct fpart *p = f->active;
        if (p) {
            rc = next_record(f, out);
            if (rc > 0)
                return 1;
        } else {
            l = list_first(&f->ready);
            if (!l)
                return 0;
            p = list_entry(l, struct fpart, ready);
            if (p->error) {
                rc = -p->error;
                tell(p, e);
                p->error = 0;
                fetcher_ready_update(p);
                return rc;
            }
            rc = open_batch(f, p);
        }
        if (rc < 0)
            part_broken(p, -rc);
    }
}

/* ---- begin and end ---- */

static uint32_t or_else(uint32_t v, uint32_t otherwise)
{
    return v ? v : otherwise;
}

int fetcher_open(struct fetcher **out, struct client *c, const struct fetcher_options *o)
{
    struct fetcher *f = calloc(1, sizeof *f);

    if (!f)
        return -ERR_NOMEM;
    f->client = c;
    f->opt = *o;
    f->opt.max_wait_ms = or_else(o->max_wait_ms, 500);
    f->opt.min_bytes = or_else(o->min_bytes, 1);
    f->opt.max_bytes = or_else(o->max_bytes, 8 << 20);
    f->opt.partition_max_bytes = or_else(o->partition_max_bytes, 1 << 20);
    f->opt.buffered_max = or_else(o->buffered_max, 2);
    f->lane = client_lane(c);
    map_init(&f->parts);
    list_init(&f->order);
    list_init(&f->ready);
    list_init(&f->nodes);
    list_init(&f->free_chunks);
    buf_init(&f->scratch, SCRATCH_MAX);
    fetch_init(f);
    *out = f;
    return 0;
}

void fetcher_free(struct fetcher *f)
{
    struct list *l;

    if (!f)
        return;
    MAP_EACH (e, &f->parts)
        part_free(f, e->value);
    map_deinit(&f->parts);
    fetch_deinit(f);
    client_lane_close(f->client, f->lane);
    while ((l = list_first(&f->free_chunks))) {
        struct chunk *k = list_entry(l, struct chunk, link);
        list_remove(l);
        aborted_filter_deinit(&k->aborted);
        free(k);
    }
    buf_deinit(&f->scratch);
    compress_deinit(&f->compress);
    free(f);
}

/* broker/log/journal.c - rounds: what was staged goes to the journal, one write and one sync at a
 * time.
 *
 * journal_kick is called at the end of a turn with staged batches and when a round is durable. It
 * takes as much of the line as one round may hold, writes head, entries, batches (referenced, not
 * copied) and padding with one gathered write, and is called again when that is durable. A failed
 * write or sync ends the directory's life: nothing that was in it can be told apart any more from
 * what is durable. */
#include "broker/log/internal.h"
#include <stdlib.h>

enum { SPACE_EVERY = 256 << 10 };

static const unsigned char zeros[JOURNAL_BLOCK];

void journal_init(struct journal *j)
{
    list_init(&j->files);
    buf_init(&j->head, 1u << 30);
    j->seq = 1;
}

void journal_deinit(struct journal *j)
{
    for (struct list *it; (it = list_first(&j->files));) {
        struct journal_file *f = list_entry(it, struct journal_file, link);
        if (f->open)
            env_close(&f->f);
        list_remove(it);
        free(f);
    }
    buf_deinit(&j->head);
    free(j->entries);
    free(j->v);
}

struct journal_mark journal_here(const struct logdir *d)
{
    const struct journal *j = &d->journal;
    struct journal_mark m = {j->seq, d->durable, j->current->id, j->pos, j->used};

    return m;
}

static const struct staged *line_at(const struct logdir *d, uint32_t i)
{
    return &d->line[(d->line_head + i) & (d->line_cap - 1)];
}

/* How many of the line go into the next round: up to the limit, a bundle whole. */
static uint32_t choose(const struct logdir *d, uint64_t *bytes)
{
    uint32_t n = 0;

    *bytes = 0;
    while (n < d->line_n) {
        uint32_t k = n;
        uint64_t more = 0, bundle = line_at(d, n)->bundle;
        do {
            more += line_at(d, k++)->size;
        } while (bundle && k < d->line_n && line_at(d, k)->bundle == bundle);
        if (n && *bytes + more > d->o.round_bytes_max)
            break;
        *bytes += more;
        n = k;
    }
    return n;
}

static int grow(void **p, uint32_t *cap, uint32_t need, size_t size)
{
    uint32_t n = *cap ? *cap : 64;
    void *q;

    if (need <= *cap)
        return 0;
    while (n < need)
        n *= 2;
    q = realloc(*p, n * size);
    if (!q)
        return -ERR_NOMEM;
    *p = q;
    *cap = n;
    return 0;
}

/* Entries and slices of the first n of the line; slot 0 is left for the head, the last for padding.
 * Neighbours in memory, as small batches in one chunk are, become one slice. */
static uint32_t gather(struct logdir *d, uint32_t n)
{
    struct journal *j = &d->journal;
    uint32_t k = 0;

    for (uint32_t i = 0; i < n; i++) {
        struct log *l = line_at(d, i)->log;
        struct tail_batch *b = tail_at(&l->tail, l->tail.n_rounded++);
        CHECK(l->tail.n_rounded <= l->tail.n);
        j->entries[i] = (struct round_entry){l->id,  l->partition, b->size, b->seg->base,
                                             b->pos, b->base,      b->last};
        j->lsn = b->lsn;
        if (k && j->v[k].p + j->v[k].n == b->p)
            j->v[k].n += b->size;
        else
            j->v[++k] = slice_of(b->p, b->size);
    }
    return k;
}

static void on_round(struct env_op *op, int64_t res)
{
    struct logdir *d = list_entry(op, struct logdir, journal.op);
    struct journal *j = &d->journal;

    CHECK(j->in_flight);
    j->in_flight = false;
    if (res < 0) {
        logdir_poison(d, "journal: a write failed: %s", err_text((int)res));
        return;
    }
    j->current->last_seq = j->seq++;
    j->pos += j->round_bytes;
    j->used += j->round_bytes;
    if (j->used < d->space_at || j->used - d->space_at > SPACE_EVERY)
        logdir_check_space(d);
    if (!j->reported)
        round_durable(d);
    if (d->poisoned || env_point(d->env, "log_round_durable"))
        return;
    checkpoint_consider(d);
    journal_kick(d);
    logs_leave(d);
    if (d->closing)
        logdir_close_step(d);
}

/* A place for `need` bytes: in the current file, or in the next one if that is ready. */
static bool find_place(struct logdir *d, uint64_t need)
{
    struct journal *j = &d->journal;

    if (j->pos + need <= j->current->size)
        return true;
    if (!j->next || j->next->size < need) {
        journal_prepare(d, need);
        return false;
    }
    j->current = j->next;
    j->current->live = true;
    j->next = NULL;
    j->pos = 0;
    return true;
}

static void write_round(struct logdir *d, uint32_t k)
{
    struct journal *j = &d->journal;
    uint64_t pad;

    j->v[0] = buf_slice(&j->head);
    pad = j->round_bytes;
    for (uint32_t i = 0; i <= k; i++)
        pad -= j->v[i].n;
    CHECK(pad < JOURNAL_BLOCK);
    if (pad)
        j->v[++k] = slice_of(zeros, (size_t)pad);
    j->in_flight = true;
    j->reported = false;
    j->op.done = on_round;
    env_write(&j->op, &j->current->f, j->pos, j->v, (int)k + 1, d->o.async ? 0 : ENV_SYNC);
}

void journal_kick(struct logdir *d)
{
    struct journal *j = &d->journal;
    struct round_head h = {.seq = j->seq, .flags = d->o.async ? ROUND_ASYNC : 0};
    uint64_t bytes;
    uint32_t n, k;

    if (j->in_flight || d->poisoned || d->bundle_depth || !d->line_n || d->env->dead || !j->current)
        return;
    n = choose(d, &bytes);
    j->round_bytes = round_size(n, bytes);
    if (!find_place(d, j->round_bytes))
        return;
    if (grow((void **)&j->entries, &j->cap_entries, n, sizeof *j->entries) < 0 ||
        grow((void **)&j->v, &j->cap_v, n + 2, sizeof *j->v) < 0) {
        logdir_poison(d, "journal: out of memory for a round");
        return;
    }
    k = gather(d, n);
    j->n_round = n;
    memcpy(h.salt, j->salt, sizeof h.salt);
    h.lsn = j->lsn;
    h.n_entries = n;
    h.next_file = j->next ? j->next->id : 0;
    if (round_encode(&j->head, &h, j->entries, j->v + 1, (int)k) < 0) {
        logdir_poison(d, "journal: out of memory for a round");
        return;
    }
    CHECK(h.bytes == j->round_bytes);
    if (env_point(d->env, "log_round_write"))
        return;
    write_round(d, k);
    if (MUTATED(d->env->mutations, ACK_BEFORE_SYNC)) {
        j->reported = true;
        round_durable(d);
    }
    if (!j->next && j->pos + j->round_bytes > j->current->size / 4)
        journal_prepare(d, 0);
}

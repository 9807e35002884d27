/* broker/log/durable.c - what follows when a round is durable: ends, indexes and epochs move, the
 * owner is told, and answers may leave. In order of staging, so a log's hooks see its batches in
 * order. */
#include "broker/log/internal.h"
#include <stdlib.h>

int log_add_epoch(struct log *l, int32_t epoch, int64_t start)
{
    struct epoch_entry *v;

    if (l->n_epochs && l->epochs[l->n_epochs - 1].epoch >= epoch)
        return 0;
    if (l->n_epochs == l->cap_epochs) {
        int cap = l->cap_epochs ? l->cap_epochs * 2 : 2;
        v = realloc(l->epochs, (size_t)cap * sizeof *v);
        if (!v)
            return -ERR_NOMEM;
        l->epochs = v;
        l->cap_epochs = cap;
    }
    l->epochs[l->n_epochs++] = (struct epoch_entry){epoch, start};
    l->epochs_dirty = true;
    return 0;
}

int log_advance(struct log *l, struct segment *s, uint64_t pos, const struct batch_info *info)
{
    struct segment *old = l->durable_seg;
    int32_t interval = l->config.index_interval_bytes;

    CHECK(pos == s->durable_pos);
    if (old && old != s && !old->index_sealed) {
        old->index_sealed = true;
        if (index_seal(&old->index) < 0)
            return -ERR_NOMEM;
    }
    if (old && old != s)
        l->durable_sealed_bytes += old->durable_pos;
    l->durable_seg = s;
    if (s->first_ts < 0)
        s->first_ts = info->max_timestamp;
    if (index_append(&s->index, pos, (uint32_t)info->size, batch_last_offset(info),
                     info->max_timestamp, interval) < 0 ||
        log_add_epoch(l, info->leader_epoch, info->base_offset) < 0)
        return -ERR_NOMEM;
    s->durable_pos += info->size;
    l->durable = batch_next_offset(info);
    return 0;
}

/* The durable end stands at a new segment's base: the producers' state there, for those who load
 * the directory from its segments. */
static void rolled(struct log *l)
{
    struct logdir *d = l->d;

    if (!d->hooks.snapshot_save || l->gone)
        return;
    if (d->hooks.log_durable)
        d->hooks.log_durable(d->hooks.user, l, l->durable);
    buf_reset(&l->roll_snapshot);
    if (d->hooks.snapshot_save(d->hooks.user, l, l->durable, &l->roll_snapshot) < 0)
        buf_reset(&l->roll_snapshot);
    l->roll_offset = l->durable;
}

static void batch_durable(struct logdir *d, struct log *l)
{
    struct tail_batch *b = tail_at(&l->tail, l->tail.n_durable);
    struct batch_info info;

    CHECK(l->tail.n_durable < l->tail.n_rounded);
    CHECK(batch_header(slice_of(b->p, b->size), &info) == 0);
    if (l->durable_seg && l->durable_seg != b->seg)
        rolled(l);
    if (log_advance(l, b->seg, b->pos, &info) < 0) {
        logdir_poison(d, "%s: out of memory for the index", l->path);
        return;
    }
    l->tail.n_durable++;
    if (!l->dirty) {
        l->dirty = true;
        d->n_dirty++;
        list_push(&d->dirty, &l->dirty_link);
    }
    if (!list_linked(&l->round_link))
        list_push(&d->touched, &l->round_link);
}

void round_durable(struct logdir *d)
{
    struct journal *j = &d->journal;

    for (uint32_t i = 0; i < j->n_round && !d->poisoned; i++) {
        struct staged *s = &d->line[d->line_head];
        d->staged_bytes -= s->size;
        d->line_head = (d->line_head + 1) & (d->line_cap - 1);
        d->line_n--;
        batch_durable(d, s->log);
    }
    j->n_round = 0;
    if (d->poisoned)
        return;
    d->durable = j->lsn;
    if (!d->o.async)
        d->secured = d->durable;
    for (struct list *it; (it = list_first(&d->touched));) {
        struct log *l = list_entry(it, struct log, round_link);
        list_remove(it);
        if (l->durable_seg->durable_pos - l->durable_seg->written >= WRITE_SOON)
            log_queue(l);
        if (!l->gone && d->hooks.log_durable)
            d->hooks.log_durable(d->hooks.user, l, l->durable);
    }
    if (d->hooks.on_durable)
        d->hooks.on_durable(d->hooks.user, d->durable);
    if (d->refused && d->staged_bytes <= d->o.staged_bytes_max / 2 && !d->no_space) {
        d->refused = false;
        if (d->hooks.on_room)
            d->hooks.on_room(d->hooks.user);
    }
    logdir_arm_tick(d);
}

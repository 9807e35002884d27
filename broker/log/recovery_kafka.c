/* broker/log/recovery_kafka.c - a directory that Kafka left: no journal tells where a partition
 * ends, so its segments do.
 *
 * After a clean stop the last segment is read from its last index entry on. Without the mark of
 * one, all from the recovery point on is read, checked and indexed anew, and cut at the first batch
 * that is not whole, as Kafka does: nothing behind that was ever promised by a disk. */
#include "broker/log/recovery.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void partition_key(struct slice topic, int32_t partition, char out[300])
{
    snprintf(out, 300, "%.*s %d", SLICE_FMT(topic), (int)partition);
}

static void each_offset(void *user, struct slice topic, int32_t partition, int64_t offset)
{
    struct map *m = user;
    int64_t *v = malloc(sizeof *v);
    char key[300];

    partition_key(topic, partition, key);
    if (!v)
        return;
    *v = offset;
    free(map_del(m, slice_str(key)));
    if (map_put(m, slice_str(key), v) < 0)
        free(v);
}

static int read_offsets(struct recovery *r, int which, struct map *m, struct err *e)
{
    char path[PATH_CAP];
    struct buf b;
    int ret;

    snprintf(path, sizeof path, "%s/%s", r->d->path, text_file_name(which));
    buf_init(&b, 1 << 28);
    ret = read_whole(r->d->env, path, &b);
    if (ret == 0)
        ret = offsets_file_parse(buf_slice(&b), each_offset, m);
    buf_deinit(&b);
    if (ret < 0 && ret != -ERR_NOT_FOUND)
        return err_set(e, ERR_CORRUPT, "%s: cannot be read", path);
    return 0;
}

int recovery_kafka_start(struct recovery *r, struct err *e)
{
    int ret = read_offsets(r, TEXT_RECOVERY, &r->points, e);

    return ret < 0 ? ret : read_offsets(r, TEXT_START, &r->starts, e);
}

static int64_t offset_of(const struct map *m, const struct log *l, int64_t fallback)
{
    char key[300];
    int64_t *v;

    partition_key(l->topic, l->partition, key);
    v = map_get(m, slice_str(key));
    return v ? *v : fallback;
}

/* ---- one segment ---- */

static int scan_batch(void *user, struct segment *s, uint64_t pos, struct slice batch,
                      const struct batch_info *info, struct err *e)
{
    struct log *l = user;
    struct index *x = &s->index;

    (void)batch;
    (void)e;
    if (pos == 0)
        s->first_ts = info->max_timestamp;
    l->durable = batch_next_offset(info);
    if (s->index_sealed) { /* its indexes are kept */
        if (info->max_timestamp > x->max_ts) {
            x->max_ts = info->max_timestamp;
            x->max_off = batch_last_offset(info);
        }
        return 0;
    }
    return index_append(x, pos, (uint32_t)info->size, batch_last_offset(info), info->max_timestamp,
                        s->log->config.index_interval_bytes);
}

/* Indexes as the files have them; *pos: the last entry's batch. -ERR_CORRUPT: to be made anew. */
static int keep_index(struct recovery *r, struct segment *s, uint64_t *pos)
{
    struct buf b[2];
    char path[PATH_CAP];
    int ret = 0;

    for (int i = 0; i < 2; i++) {
        buf_init(&b[i], 1u << 28);
        segment_path(s, i ? ".timeindex" : ".index", path);
        if (ret == 0 && read_whole(r->d->env, path, &b[i]) < 0)
            ret = -ERR_CORRUPT;
    }
    if (ret == 0)
        ret = index_adopt(&s->index, buf_slice(&b[0]), buf_slice(&b[1]), s->written, INT64_MAX,
                          false);
    *pos = s->written - s->index.since;
    for (int i = 0; i < 2; i++)
        buf_deinit(&b[i]);
    return ret;
}

static int scan_segment(struct recovery *r, struct log *l, struct segment *s, bool checked,
                        uint64_t *stop, struct err *e)
{
    uint64_t pos = 0;
    int ret;

    l->durable = s->base;
    s->index_sealed = checked && keep_index(r, s, &pos) == 0;
    if (!s->index_sealed) {
        index_deinit(&s->index);
        index_init(&s->index, s->base);
        s->index.loaded = true;
        r->report->indexes_rebuilt++;
        pos = 0;
    }
    r->report->segments_scanned++;
    ret = recovery_file(r, s, pos, s->written, !checked, stop, scan_batch, l, e);
    if (ret == 0 && pos > 0) { /* the first batch tells the segment's age */
        unsigned char head[BATCH_HEADER];
        if (env_read_wait(&s->file, 0, (struct span){head, sizeof head}) == (int64_t)sizeof head)
            s->first_ts = (int64_t)get_be64(head + 35);
    }
    s->index_sealed = false;
    s->index_known = true;
    return ret;
}

static int take_segment(struct recovery *r, struct log *l, int64_t base, int64_t point, bool last,
                        bool *cut, struct err *e)
{
    struct segment *s = segment_new(l, base);
    char path[PATH_CAP];
    uint64_t stop;
    int ret;

    if (!s || log_add_segment(l, s) < 0) {
        if (s)
            segment_free(s);
        return err_set(e, ERR_NOMEM, "%s: out of memory", l->path);
    }
    ret = segment_open(s, false);
    segment_path(s, ".log", path);
    if (ret < 0)
        return err_set(e, -ret, "%s: %s", path, err_text(ret));
    stop = s->written;
    if (last || (!r->kafka_clean && l->durable > point))
        ret = scan_segment(r, l, s, r->kafka_clean, &stop, e);
    else
        s->size_known = false; /* sealed, and trusted */
    if (ret == 0 && stop < s->written) {
        env_warn(r->d->env, "%s: position %" PRIu64 ": not a whole batch; cut there", path, stop);
        r->report->bytes_cut += s->written - stop;
        *cut = true;
    }
    s->staged_pos = s->durable_pos = s->written = stop;
    s->index_sealed = !last && !*cut;
    if (s->index_sealed) {
        l->sealed_bytes += stop;
        if (s->index.loaded && index_seal(&s->index) < 0)
            ret = -ERR_NOMEM;
    }
    segment_close(s);
    l->durable_seg = s;
    return ret;
}

int recovery_kafka_log(struct recovery *r, struct log *l, const struct dir_list *files,
                       struct err *e)
{
    int64_t point = offset_of(&r->points, l, 0);
    bool cut = false;
    int last = -1, ret = 0;

    l->ck.snapshot = l->ck.stateless = -1;
    for (int i = 0; i < files->n; i++)
        last = files->v[i].suffix == 'l' ? i : last;
    for (int i = 0; i <= last && ret == 0 && !cut; i++) {
        int64_t next = INT64_MAX;
        if (files->v[i].suffix != 'l')
            continue;
        for (int k = i + 1; k <= last && next == INT64_MAX; k++)
            next = files->v[k].suffix == 'l' ? files->v[k].offset : next;
        l->durable = next; /* where this one ends, unless it is read */
        ret = take_segment(r, l, files->v[i].offset, point, i == last, &cut, e);
    }
    if (ret < 0)
        return ret;
    l->durable_sealed_bytes = l->sealed_bytes;
    l->end = l->durable;
    l->start = offset_of(&r->starts, l, l->n_segs ? l->segs[0]->base : 0);
    return recovery_epochs(l, files, l->end, e);
}

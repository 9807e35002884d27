/* broker/log/segment.c - the files of one segment: names, and which of them are open.
 *
 * A .log is opened when it is written or read and stays open while it is in use or among the last
 * few hundred used: ten thousand partitions do not need ten thousand descriptors. Closing one also
 * drops the loaded index of a segment. */
#include "broker/log/internal.h"
#include <stdio.h>
#include <stdlib.h>

char *path_join(const char *dir, const char *name)
{
    size_t a = strlen(dir), b = strlen(name);
    char *p = malloc(a + b + 2);

    if (!p)
        return NULL;
    memcpy(p, dir, a);
    p[a] = '/';
    memcpy(p + a + 1, name, b + 1);
    return p;
}

int partition_dir_parse(const char *name, struct slice *topic, int32_t *partition)
{
    const char *dash = strrchr(name, '-');
    int64_t v;

    if (!dash || dash == name || parse_i64(slice_str(dash + 1), &v) < 0 || v < 0 || v > INT32_MAX ||
        dash[1] == '+')
        return -ERR_INVALID;
    *topic = slice_of(name, (size_t)(dash - name));
    *partition = (int32_t)v;
    return 0;
}

bool file_name_parse(const char *name, const char *suffix, int64_t *offset)
{
    if (strlen(name) != 20 + strlen(suffix) || strcmp(name + 20, suffix) != 0)
        return false;
    for (int i = 0; i < 20; i++)
        if (name[i] < '0' || name[i] > '9')
            return false;
    return parse_i64(slice_of(name, 20), offset) == 0;
}

struct segment *segment_new(struct log *l, int64_t base)
{
    struct segment *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->log = l;
    s->base = base;
    s->first_ts = -1;
    index_init(&s->index, base);
    buf_init(&s->txn, 1 << 30);
    list_init(&s->waiting);
    return s;
}

void segment_free(struct segment *s)
{
    CHECK(s->users == 0 || s->log->d->env->dead);
    if (list_linked(&s->lru)) {
        list_remove(&s->lru);
        s->log->d->n_open_segments--;
    }
    if (s->open)
        env_close(&s->file);
    index_deinit(&s->index);
    buf_deinit(&s->txn);
    free(s);
}

int log_add_segment(struct log *l, struct segment *s)
{
    if (l->n_segs == l->cap_segs) {
        int cap = l->cap_segs ? l->cap_segs * 2 : 1;
        struct segment **v = realloc(l->segs, (size_t)cap * sizeof(struct segment *));
        if (!v)
            return -ERR_NOMEM;
        l->segs = v;
        l->cap_segs = cap;
    }
    CHECK(l->n_segs == 0 || l->segs[l->n_segs - 1]->base < s->base);
    l->segs[l->n_segs++] = s;
    return 0;
}

struct segment *log_segment(const struct log *l, int64_t offset)
{
    int lo = 0, hi = l->n_segs;

    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (l->segs[mid]->base <= offset)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo ? l->segs[lo - 1] : NULL;
}

void segment_path(const struct segment *s, const char *suffix, char out[PATH_CAP])
{
    snprintf(out, PATH_CAP, "%s/%020lld%s", s->log->path, (long long)s->base, suffix);
}

int segment_open(struct segment *s, bool create)
{
    struct logdir *d = s->log->d;
    char path[PATH_CAP];
    uint64_t size;
    int r;

    if (!s->open) {
        segment_path(s, ".log", path);
        r = env_open(d->env, &s->file, path, create ? ENV_CREATE : 0, &size);
        if (r < 0)
            return r;
        s->open = true;
        if (!s->size_known) {
            s->size_known = true;
            if (!create)
                s->staged_pos = s->durable_pos = s->written = s->synced = size;
        }
        d->n_open_segments++;
    } else {
        list_remove(&s->lru);
    }
    list_push(&d->open_segments, &s->lru);
    return 0;
}

void segment_close(struct segment *s)
{
    CHECK(s->users == 0);
    if (!s->open)
        return;
    list_remove(&s->lru);
    s->log->d->n_open_segments--;
    env_close(&s->file);
    s->open = false;
    free(s->index.idx_file);
    free(s->index.tidx_file);
    s->index.idx_file = s->index.tidx_file = NULL;
    s->index.loaded = false;
}

void segment_use(struct segment *s)
{
    s->users++;
}

void segment_unuse(struct segment *s)
{
    CHECK(s->users > 0);
    s->users--;
}

void segments_trim(struct logdir *d)
{
    LIST_EACH_SAFE (it, tmp, &d->open_segments) {
        struct segment *s = list_entry(it, struct segment, lru);
        if (d->n_open_segments <= OPEN_SEGMENTS_MAX)
            return;
        if (s->users == 0)
            segment_close(s);
    }
}

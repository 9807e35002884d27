/* broker/log/index_load.c - reads the index files of a segment when somebody looks something up in
 * them.
 *
 * From the page cache at once where that can be, else in the background with everyone who asks
 * meanwhile waiting for the same reading. Files that are missing or not in order make the index
 * broken: lookups then begin at the segment's start, slower and as right. */
#include "broker/log/internal.h"
#include <stdlib.h>

struct index_load {
    struct env_op op;
    struct list link;
    struct segment *s;
    struct env_file f[2];
    bool open[2];
    unsigned char *p[2];
    uint64_t n[2], want[2]; /* bytes read, bytes the file should give */
    int part;
};

static const char *const suffix[2] = {".index", ".timeindex"};

static void load_free(struct index_load *l)
{
    list_remove(&l->link);
    for (int i = 0; i < 2; i++) {
        if (l->open[i])
            env_close(&l->f[i]);
        free(l->p[i]);
    }
    free(l);
}

void index_loads_free(struct logdir *d)
{
    for (struct list *it; (it = list_first(&d->index_loads));)
        load_free(list_entry(it, struct index_load, link));
}

static int open_parts(struct index_load *l)
{
    struct segment *s = l->s;
    struct index *x = &s->index;

    for (int i = 0; i < 2; i++) {
        char path[PATH_CAP];
        uint64_t size;
        int r;
        l->want[i] = i ? x->tidx_filed : x->idx_filed;
        if (s->index_known && !l->want[i])
            continue;
        segment_path(s, suffix[i], path);
        r = env_open(s->log->d->env, &l->f[i], path, ENV_READ_ONLY, &size);
        if (r < 0)
            return r;
        l->open[i] = true;
        if (!s->index_known)
            l->want[i] = size;
        if (size < l->want[i])
            return -ERR_CORRUPT;
        l->p[i] = malloc((size_t)l->want[i] + 1);
        if (!l->p[i])
            return -ERR_NOMEM;
    }
    return 0;
}

/* All is read, or r says why not. */
static void finish(struct index_load *l, int r)
{
    struct segment *s = l->s;
    struct index *x = &s->index;
    struct index check;

    if (r == 0 && s->index_known && (l->n[0] != x->idx_filed || l->n[1] != x->tidx_filed))
        r = -ERR_AGAIN; /* more came into the files meanwhile */
    if (r == 0 && !s->index_known) {
        r = index_adopt(x, slice_of(l->p[0], (size_t)l->n[0]), slice_of(l->p[1], (size_t)l->n[1]),
                        s->staged_pos, INT64_MAX, true);
        s->index_known = r == 0;
    } else if (r == 0) {
        index_init(&check, s->base);
        r = index_adopt(&check, slice_of(l->p[0], (size_t)l->n[0]),
                        slice_of(l->p[1], (size_t)l->n[1]), UINT64_MAX, INT64_MAX, false);
        if (r == 0) {
            x->idx_file = l->p[0];
            x->tidx_file = l->p[1];
            l->p[0] = l->p[1] = NULL;
            x->loaded = true;
        }
        index_deinit(&check);
    }
    if (r < 0 && r != -ERR_AGAIN) {
        if (!x->broken)
            env_warn(s->log->d->env, "%s: the index of segment %lld cannot be used: %s",
                     s->log->path, (long long)s->base, err_text(r));
        x->broken = true;
    }
    s->loading = NULL;
    load_free(l);
}

static void on_read(struct env_op *op, int64_t res);

/* Reads what is left; 0 done, -ERR_AGAIN waits for the op. */
static int go_on(struct index_load *l)
{
    for (; l->part < 2; l->part++) {
        struct span to = {l->p[l->part], (size_t)l->want[l->part]};
        int64_t n;
        if (!l->open[l->part] || !to.n)
            continue;
        n = env_read_now(&l->f[l->part], 0, to);
        if (n !=
            (int64_t)to.n) { /* not in memory, or not all of it: the read's own answer counts */
            l->op.done = on_read;
            env_read(&l->op, &l->f[l->part], 0, to);
            return -ERR_AGAIN;
        }
        l->n[l->part] = to.n;
    }
    return 0;
}

static void on_read(struct env_op *op, int64_t res)
{
    struct index_load *l = (struct index_load *)(void *)op;
    struct segment *s = l->s;
    struct log *log = s->log;
    struct list waiting;
    int r = res < 0 ? (int)res : (uint64_t)res < l->want[l->part] ? -ERR_CORRUPT : 0;

    if (r == 0) {
        l->n[l->part] = l->want[l->part];
        l->part++;
        r = go_on(l);
        if (r == -ERR_AGAIN)
            return;
    }
    finish(l, r);
    segment_unuse(s);
    log->users++; /* its own, for the callbacks may end the last of the others */
    list_init(&waiting);
    for (struct list *it; (it = list_first(&s->waiting));) {
        list_remove(it);
        list_push(&waiting, it);
    }
    for (struct list *it; (it = list_first(&waiting));) {
        struct index_wait *w = list_entry(it, struct index_wait, link);
        list_remove(it);
        if (s->index.loaded || s->index.broken || segment_index_load(s, w) == 0)
            w->ready(w);
    }
    log->users -= 2;
    env_task_add(log->d->env, &log->d->turn);
}

int segment_index_load(struct segment *s, struct index_wait *w)
{
    struct logdir *d = s->log->d;
    struct index_load *l;
    int r;

    if (s->index.loaded || s->index.broken)
        return 0;
    if (s->loading) {
        list_push(&s->waiting, &w->link);
        return -ERR_AGAIN;
    }
    l = calloc(1, sizeof *l);
    if (!l) {
        s->index.broken = true;
        return 0;
    }
    l->s = s;
    list_push(&d->index_loads, &l->link);
    r = open_parts(l);
    if (r == 0)
        r = go_on(l);
    if (r != -ERR_AGAIN) {
        finish(l, r);
        return 0;
    }
    s->loading = l;
    segment_use(s);
    s->log->users++;
    list_push(&s->waiting, &w->link);
    return -ERR_AGAIN;
}

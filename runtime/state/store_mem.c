/* runtime/state/store_mem.c - the stores of a task in memory, for the simulator and tests.
 *
 * The driver holds the contents by path, as a disk holds files: they outlive the task_store that is
 * closed or lost with its process. Each path has the tables of its last commit and those of its
 * last sync; a power cut goes back to the latter, or to nothing. Tables are arrays sorted by
 * key. */
#include "base/map.h"
#include "runtime/state/store.h"
#include <stdio.h>
#include <stdlib.h>

struct row {
    struct slice key, value; /* one allocation at key.p */
};
struct table {
    struct row *v;
    uint32_t n, cap;
};
struct image {
    struct table tables[STORES_MAX];
    struct store_meta meta;
};
struct mem_files {
    struct image now, synced;
    bool open;
};
struct mem_driver {
    struct store_driver base;
    struct map paths; /* struct mem_files */
};
struct mem_store {
    struct task_store base;
    struct mem_files *files;
};
struct mem_iter {
    struct store_iter base;
    struct table copy; /* as of the start */
    uint32_t at;
    bool reverse;
};

static void table_clear(struct table *t)
{
    for (uint32_t i = 0; i < t->n; i++)
        free((void *)t->v[i].key.p);
    free(t->v);
    *t = (struct table){0};
}

static void row_set(struct row *r, struct slice key, struct slice value)
{
    unsigned char *p = malloc(key.n + value.n + 1);

    CHECK(p != NULL);
    if (key.n)
        memcpy(p, key.p, key.n);
    if (value.n)
        memcpy(p + key.n, value.p, value.n);
    *r = (struct row){slice_of(p, key.n), slice_of(p + key.n, value.n)};
}

/* The first row whose key is >= key. */
static uint32_t table_find(const struct table *t, struct slice key)
{
    uint32_t lo = 0, hi = t->n;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (slice_cmp(t->v[mid].key, key) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static void table_put(struct table *t, struct slice key, struct slice value)
{
    uint32_t i = table_find(t, key);
    bool there = i < t->n && slice_eq(t->v[i].key, key);

    if (there)
        free((void *)t->v[i].key.p);
    if (!value.p) {
        if (there) {
            memmove(&t->v[i], &t->v[i + 1], (t->n - i - 1) * sizeof t->v[0]);
            t->n--;
        }
        return;
    }
    if (!there) {
        if (t->n == t->cap) {
            t->cap = t->cap ? t->cap * 2 : 16;
            t->v = realloc(t->v, t->cap * sizeof t->v[0]);
            CHECK(t->v != NULL);
        }
        memmove(&t->v[i + 1], &t->v[i], (t->n - i) * sizeof t->v[0]);
        t->n++;
    }
    row_set(&t->v[i], key, value);
}

static void table_copy(struct table *to, const struct table *from)
{
    table_clear(to);
    if (!from->n)
        return;
    to->v = malloc(from->n * sizeof to->v[0]);
    CHECK(to->v != NULL);
    to->n = to->cap = from->n;
    for (uint32_t i = 0; i < from->n; i++)
        row_set(&to->v[i], from->v[i].key, from->v[i].value);
}

static void image_copy(struct image *to, const struct image *from)
{
    for (int i = 0; i < STORES_MAX; i++)
        table_copy(&to->tables[i], &from->tables[i]);
    to->meta = from->meta;
}

static void image_clear(struct image *im)
{
    for (int i = 0; i < STORES_MAX; i++)
        table_clear(&im->tables[i]);
    memset(&im->meta, 0, sizeof im->meta);
    im->meta.stream_time = im->meta.wall_ms = -1;
}

static int mem_get(struct task_store *base, int table, struct slice key, struct slice *value)
{
    const struct table *t = &((struct mem_store *)base)->files->now.tables[table];
    uint32_t i = table_find(t, key);

    if (i == t->n || !slice_eq(t->v[i].key, key))
        return 0;
    *value = t->v[i].value;
    return 1;
}

static int mem_iter_next(struct store_iter *base, struct slice *key, struct slice *value)
{
    struct mem_iter *it = (struct mem_iter *)base;
    const struct row *r;

    if (it->at == it->copy.n)
        return 0;
    r = &it->copy.v[it->reverse ? it->copy.n - 1 - it->at : it->at];
    it->at++;
    *key = r->key;
    *value = r->value;
    return 1;
}

static void mem_iter_close(struct store_iter *base)
{
    struct mem_iter *it = (struct mem_iter *)base;

    table_clear(&it->copy);
    free(it);
}

static int mem_range(struct task_store *base, int table, struct slice from, struct slice to,
                     bool reverse, struct store_iter **out)
{
    const struct table *t = &((struct mem_store *)base)->files->now.tables[table];
    uint32_t a = from.p ? table_find(t, from) : 0, b = to.p ? table_find(t, to) : t->n;
    struct table part = {t->v ? t->v + a : NULL, b > a ? b - a : 0, 0};
    struct mem_iter *it = calloc(1, sizeof *it);

    if (!it)
        return -ERR_NOMEM;
    it->base = (struct store_iter){mem_iter_next, mem_iter_close};
    it->reverse = reverse;
    table_copy(&it->copy, &part);
    *out = &it->base;
    return 0;
}

static int64_t run_commit(struct env_op *op)
{
    struct store_commit *c = list_entry(op, struct store_commit, op);
    struct mem_files *f = ((struct mem_store *)c->store)->files;

    if (f->now.meta.commit != c->meta.commit)
        return -ERR_STATE;
    for (int i = 0; i < c->store->n_tables; i++) {
        struct overlay *o = c->overlays[i];
        for (uint32_t k = 0; o && k < o->n; k++)
            if (!o->v[k].gone)
                table_put(&f->now.tables[i], o->v[k].key, o->v[k].value);
    }
    c->meta.commit++;
    f->now.meta = c->meta;
    if (c->sync)
        image_copy(&f->synced, &f->now);
    return 0;
}

static void commit_done(struct env_op *op, int64_t res)
{
    struct store_commit *c = list_entry(op, struct store_commit, op);

    if (res == 0)
        c->store->meta = c->meta;
    c->done(c, (int)res);
}

static void mem_commit(struct store_commit *c)
{
    c->op.done = commit_done;
    env_work(&c->op, c->store->env, run_commit);
}

static void mem_close(struct task_store *base)
{
    struct mem_store *s = (struct mem_store *)base;

    s->files->open = false;
    free(s);
}

static const struct store_vt mem_vt = {mem_close, mem_get, mem_range, mem_commit};

static int driver_open(struct store_driver *base, struct env *env, const char *path,
                       const char *const *names, int n_tables, struct task_store **out,
                       struct err *e)
{
    struct mem_driver *d = (struct mem_driver *)base;
    struct mem_files *f = map_get(&d->paths, slice_str(path));
    struct mem_store *s;

    if (f && f->open)
        return err_set(e, ERR_BUSY, "%s: this process has the store open already", path);
    if (!f) {
        f = calloc(1, sizeof *f);
        if (!f || map_put(&d->paths, slice_str(path), f)) {
            free(f);
            return err_set(e, ERR_NOMEM, "out of memory");
        }
        image_clear(&f->now);
        image_clear(&f->synced);
    }
    s = calloc(1, sizeof *s);
    if (!s)
        return err_set(e, ERR_NOMEM, "out of memory");
    f->open = true;
    s->files = f;
    s->base.vt = &mem_vt;
    s->base.env = env;
    s->base.n_tables = n_tables;
    s->base.meta = f->now.meta;
    snprintf(s->base.path, sizeof s->base.path, "%s", path);
    *out = &s->base;
    return 0;
}

static int driver_discard(struct store_driver *base, struct env *env, const char *path,
                          struct err *e)
{
    struct mem_files *f = map_get(&((struct mem_driver *)base)->paths, slice_str(path));

    if (f && f->open)
        return err_set(e, ERR_BUSY, "%s: the store is open", path);
    if (f)
        image_clear(&f->now);
    return 0;
}

struct store_driver *store_mem_new(void)
{
    struct mem_driver *d = calloc(1, sizeof *d);

    if (!d)
        return NULL;
    d->base = (struct store_driver){driver_open, driver_discard};
    map_init(&d->paths);
    return &d->base;
}

void store_mem_free(struct store_driver *base)
{
    struct mem_driver *d = (struct mem_driver *)base;

    if (!d)
        return;
    MAP_EACH (e, &d->paths) {
        struct mem_files *f = e->value;
        image_clear(&f->now);
        image_clear(&f->synced);
        free(f);
    }
    map_deinit(&d->paths);
    free(d);
}

void store_mem_power_cut(struct store_driver *base, const char *prefix, bool lose)
{
    struct mem_driver *d = (struct mem_driver *)base;

    MAP_EACH (e, &d->paths) {
        struct mem_files *f = e->value;
        if (!slice_eq(slice_sub(e->key, 0, strlen(prefix)), slice_str(prefix)))
            continue;
        if (lose)
            image_clear(&f->now);
        else
            image_copy(&f->now, &f->synced);
    }
}

/* runtime/state/store_lmdb.c - the stores of a task in one LMDB environment.
 *
 * A table is a named database, meta is the record "meta" of the database "meta". One read
 * transaction is kept for the loop and renewed after each commit; commits and syncs run in the
 * pool, one at a time. Flags: NOSYNC without WRITEMAP (a full disk is an error then and no SIGBUS),
 * NOTLS (readers belong to the store, not to a thread), NORDAHEAD.
 *
 * A commit that asks for sync is made without NOSYNC: LMDB then has every page on disk, those of
 * earlier commits too, before it writes the one that makes them count. Synced afterwards instead, a
 * power cut in between could leave that page, with a mark of cleanness, and not the others. */
#include "base/map.h"
#include "runtime/state/store.h"
#include <errno.h>
#include <inttypes.h>
#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define MAP_BYTES        ((size_t)64 << 30)
#define FULL_BELOW_BYTES ((uint64_t)1 << 20)

struct lmdb_driver {
    struct store_driver base;
    struct map open; /* paths in use by this process */
};
struct lmdb_store {
    struct task_store base;
    struct lmdb_driver *driver; /* NULL when read-only */
    MDB_env *mdb;
    MDB_txn *read; /* reset when !reading */
    bool reading;
    int n_iters;
    MDB_dbi meta, tables[STORES_MAX];
    bool absent[STORES_MAX]; /* read-only: that table was never made */
};
struct lmdb_iter {
    struct store_iter base;
    struct lmdb_store *s;
    MDB_cursor *cursor;
    MDB_txn *txn; /* its own, so that a commit meanwhile changes nothing */
    struct buf bound;
    bool bounded, reverse, started;
    struct buf start;
    bool has_start;
};

static int from_mdb(int rc)
{
    switch (rc) {
    case 0: return 0;
    case MDB_NOTFOUND: return -ERR_NOT_FOUND;
    case MDB_MAP_FULL: return -ERR_NO_SPACE;
    case MDB_CORRUPTED:
    case MDB_PAGE_NOTFOUND:
    case MDB_INVALID:
    case MDB_VERSION_MISMATCH:
    case MDB_PANIC:
    case MDB_BAD_TXN: return -ERR_CORRUPT;
    case MDB_BAD_VALSIZE: return -ERR_TOO_BIG;
    default: return rc > 0 ? -err_from_errno(rc) : -ERR_IO;
    }
}

static MDB_val to_val(struct slice s)
{
    return (MDB_val){s.n, (void *)s.p};
}

static int begin_read(struct lmdb_store *s)
{
    int rc = 0;

    if (s->reading)
        return 0;
    if (s->read)
        rc = mdb_txn_renew(s->read);
    else
        rc = mdb_txn_begin(s->mdb, NULL, MDB_RDONLY, &s->read);
    s->reading = rc == 0;
    return from_mdb(rc);
}

static void end_read(struct lmdb_store *s)
{
    if (s->reading)
        mdb_txn_reset(s->read);
    s->reading = false;
}

static int lmdb_get(struct task_store *base, int table, struct slice key, struct slice *value)
{
    struct lmdb_store *s = (struct lmdb_store *)base;
    MDB_val k = to_val(key), v;
    int rc = begin_read(s);

    if (rc)
        return rc;
    if (s->absent[table] || !key.n)
        return 0;
    rc = mdb_get(s->read, s->tables[table], &k, &v);
    if (rc == MDB_NOTFOUND || rc == MDB_BAD_VALSIZE)
        return 0; /* a key that LMDB cannot hold was never put */
    if (rc)
        return from_mdb(rc);
    *value = slice_of(v.mv_data, v.mv_size);
    return 1;
}

static int iter_position(struct lmdb_iter *it, MDB_val *k, MDB_val *v)
{
    struct slice start = buf_slice(&it->start);
    int rc;

    if (it->started)
        return mdb_cursor_get(it->cursor, k, v, it->reverse ? MDB_PREV : MDB_NEXT);
    it->started = true;
    if (!it->has_start)
        return mdb_cursor_get(it->cursor, k, v, it->reverse ? MDB_LAST : MDB_FIRST);
    *k = to_val(start);
    rc = mdb_cursor_get(it->cursor, k, v, MDB_SET_RANGE);
    if (!it->reverse)
        return rc;
    /* descending from an excluded bound: the one before it */
    return mdb_cursor_get(it->cursor, k, v, rc == MDB_NOTFOUND ? MDB_LAST : MDB_PREV);
}

static int lmdb_iter_next(struct store_iter *base, struct slice *key, struct slice *value)
{
    struct lmdb_iter *it = (struct lmdb_iter *)base;
    MDB_val k, v;
    int rc = it->cursor ? iter_position(it, &k, &v) : MDB_NOTFOUND;

    if (rc == MDB_NOTFOUND)
        return 0;
    if (rc)
        return from_mdb(rc);
    *key = slice_of(k.mv_data, k.mv_size);
    *value = slice_of(v.mv_data, v.mv_size);
    if (it->bounded) {
        int c = slice_cmp(*key, buf_slice(&it->bound));
        if (it->reverse ? c < 0 : c >= 0)
            return 0;
    }
    return 1;
}

static void lmdb_iter_close(struct store_iter *base)
{
    struct lmdb_iter *it = (struct lmdb_iter *)base;

    if (it->cursor)
        mdb_cursor_close(it->cursor);
    if (it->txn)
        mdb_txn_abort(it->txn);
    it->s->n_iters--;
    buf_deinit(&it->bound);
    buf_deinit(&it->start);
    free(it);
}

static int lmdb_range(struct task_store *base, int table, struct slice from, struct slice to,
                      bool reverse, struct store_iter **out)
{
    struct lmdb_store *s = (struct lmdb_store *)base;
    struct lmdb_iter *it = calloc(1, sizeof *it);
    struct slice start = reverse ? to : from, bound = reverse ? from : to;
    int rc = 0;

    if (!it)
        return -ERR_NOMEM;
    it->base = (struct store_iter){lmdb_iter_next, lmdb_iter_close};
    it->s = s;
    it->reverse = reverse;
    buf_init(&it->bound, 1 << 20);
    buf_init(&it->start, 1 << 20);
    s->n_iters++;
    it->has_start = start.p && start.n;
    it->bounded = bound.p && (bound.n || !reverse);
    if (buf_put_slice(&it->start, start) || buf_put_slice(&it->bound, bound))
        rc = ENOMEM;
    if (!rc && !s->absent[table] && !(reverse && to.p && !to.n)) {
        rc = mdb_txn_begin(s->mdb, NULL, MDB_RDONLY, &it->txn);
        if (!rc)
            rc = mdb_cursor_open(it->txn, s->tables[table], &it->cursor);
    }
    if (rc) {
        lmdb_iter_close(&it->base);
        return from_mdb(rc);
    }
    *out = &it->base;
    return 0;
}

static int put_meta(struct lmdb_store *s, MDB_txn *txn, const struct store_meta *meta)
{
    struct buf b;
    char name[] = "meta";
    MDB_val k = {4, name}, v;
    int rc;

    buf_init(&b, 1 << 20);
    rc = store_meta_encode(meta, &b);
    if (!rc) {
        v = to_val(buf_slice(&b));
        rc = from_mdb(mdb_put(txn, s->meta, &k, &v, 0));
    }
    buf_deinit(&b);
    return rc;
}

static int read_meta(struct lmdb_store *s, MDB_txn *txn, struct store_meta *meta)
{
    char name[] = "meta";
    MDB_val k = {4, name}, v;
    int rc = mdb_get(txn, s->meta, &k, &v);

    if (rc == MDB_NOTFOUND) {
        memset(meta, 0, sizeof *meta);
        meta->stream_time = meta->wall_ms = -1;
        return 0;
    }
    return rc ? from_mdb(rc) : store_meta_decode(meta, slice_of(v.mv_data, v.mv_size));
}

static int write_table(MDB_txn *txn, MDB_dbi dbi, struct overlay *o, bool bulk)
{
    uint32_t n;
    const uint32_t *order = overlay_sorted(o, &n);

    if (!order)
        return -ERR_NOMEM;
    for (uint32_t i = 0; i < n; i++) {
        const struct overlay_entry *e = &o->v[order[i]];
        MDB_val k = to_val(e->key), v = to_val(e->value);
        int rc;

        if (e->gone)
            continue;
        if (e->value.p)
            rc = mdb_put(txn, dbi, &k, &v, bulk ? MDB_APPEND : 0);
        else {
            rc = bulk ? MDB_NOTFOUND : mdb_del(txn, dbi, &k, NULL);
            if (rc == MDB_NOTFOUND)
                rc = 0;
        }
        if (rc)
            return from_mdb(rc);
    }
    return 0;
}

/* LMDB calls it an I/O error when only a part of a write found room. */
static bool disk_full(const char *path)
{
    struct statvfs v;

    return statvfs(path, &v) == 0 && (uint64_t)v.f_bavail * v.f_frsize < FULL_BELOW_BYTES;
}

/* By how much the file is shorter than the pages that it counts. Reading one that is not there is a
 * SIGBUS, at every start anew. */
static int64_t missing_bytes(struct lmdb_store *s, uint64_t *should)
{
    struct stat st;
    MDB_envinfo info;
    MDB_stat db;
    mdb_filehandle_t fd;

    if (mdb_env_info(s->mdb, &info) || mdb_env_stat(s->mdb, &db) || mdb_env_get_fd(s->mdb, &fd) ||
        fstat(fd, &st))
        return 0;
    *should = ((uint64_t)info.me_last_pgno + 1) * db.ms_psize;
    return (int64_t)*should - (int64_t)st.st_size;
}

/* LMDB does not write pages that it took and gave back within one transaction: at the end of the
 * file they would look like a loss. */
static void make_whole(struct lmdb_store *s)
{
    mdb_filehandle_t fd;
    uint64_t should;

    if (missing_bytes(s, &should) > 0 && mdb_env_get_fd(s->mdb, &fd) == 0 &&
        ftruncate(fd, (off_t)should) != 0)
        return; /* at worst the store is rebuilt once */
}

/* In the pool: one transaction that holds only if the store is still where the overlays were
 * opened. */
static int64_t run_commit(struct env_op *op)
{
    struct store_commit *c = list_entry(op, struct store_commit, op);
    struct lmdb_store *s = (struct lmdb_store *)c->store;
    struct store_meta now;
    MDB_txn *txn = NULL;
    int rc, dead;

    if (c->sync) /* a reader that was killed would keep all pages since from being used again */
        mdb_reader_check(s->mdb, &dead);
    rc = from_mdb(mdb_txn_begin(s->mdb, NULL, 0, &txn));
    if (rc)
        return rc;
    rc = read_meta(s, txn, &now);
    if (!rc && now.commit != c->meta.commit)
        rc = -ERR_STATE;
    for (int i = 0; !rc && i < s->base.n_tables; i++)
        if (c->overlays[i] && !overlay_empty(c->overlays[i]))
            rc = write_table(txn, s->tables[i], c->overlays[i], c->bulk);
    if (!rc) {
        c->meta.commit++;
        rc = put_meta(s, txn, &c->meta);
    }
    if (rc) {
        mdb_txn_abort(txn);
        return rc;
    }
    rc = from_mdb(mdb_env_set_flags(s->mdb, MDB_NOSYNC, !c->sync));
    if (!rc)
        rc = from_mdb(mdb_txn_commit(txn));
    else
        mdb_txn_abort(txn);
    if (!rc)
        make_whole(s);
    return rc == -ERR_IO && disk_full(s->base.path) ? -ERR_NO_SPACE : rc;
}

static void commit_done(struct env_op *op, int64_t res)
{
    struct store_commit *c = list_entry(op, struct store_commit, op);
    struct lmdb_store *s = (struct lmdb_store *)c->store;

    end_read(s);
    if (res == 0)
        s->base.meta = c->meta;
    c->done(c, (int)res);
}

static void lmdb_commit(struct store_commit *c)
{
    c->op.done = commit_done;
    env_work(&c->op, c->store->env, run_commit);
}

static void lmdb_close(struct task_store *base)
{
    struct lmdb_store *s = (struct lmdb_store *)base;

    CHECK(s->n_iters == 0);
    if (s->read)
        mdb_txn_abort(s->read);
    if (s->mdb)
        mdb_env_close(s->mdb);
    if (s->driver)
        map_del(&s->driver->open, slice_str(s->base.path));
    free(s);
}

static const struct store_vt lmdb_vt = {lmdb_close, lmdb_get, lmdb_range, lmdb_commit};

static int open_tables(struct lmdb_store *s, const char *const *names, bool read_only)
{
    MDB_txn *txn = NULL;
    int rc = mdb_txn_begin(s->mdb, NULL, read_only ? MDB_RDONLY : 0, &txn);
    unsigned create = read_only ? 0 : MDB_CREATE;
    int res;

    if (rc)
        return from_mdb(rc);
    rc = mdb_dbi_open(txn, "meta", create, &s->meta);
    for (int i = 0; !rc && i < s->base.n_tables; i++) {
        char name[STORE_NAME_MAX + 3];
        snprintf(name, sizeof name, "s:%s", names[i]);
        rc = mdb_dbi_open(txn, name, create, &s->tables[i]);
        if (rc == MDB_NOTFOUND && read_only) {
            s->absent[i] = true;
            rc = 0;
        }
    }
    res = rc ? from_mdb(rc) : read_meta(s, txn, &s->base.meta);
    if (res) {
        mdb_txn_abort(txn);
        return res;
    }
    return from_mdb(mdb_txn_commit(txn));
}

static int make_dirs(const char *path, struct err *e)
{
    char part[512];
    size_t n = strlen(path);

    if (n >= sizeof part)
        return err_set(e, ERR_TOO_BIG, "%s: path too long", path);
    for (size_t i = 1; i <= n; i++) {
        if (path[i] != '/' && path[i] != 0)
            continue;
        memcpy(part, path, i);
        part[i] = 0;
        if (mkdir(part, 0777) && errno != EEXIST)
            return err_set(e, err_from_errno(errno), "%s: %s", part, strerror(errno));
    }
    return 0;
}

static int open_env(struct lmdb_store *s, const char *const *names, bool read_only, struct err *e)
{
    unsigned flags = MDB_NOTLS | MDB_NORDAHEAD | (read_only ? MDB_RDONLY : MDB_NOSYNC);
    int rc = mdb_env_create(&s->mdb);
    uint64_t should;
    int res;

    if (!rc)
        rc = mdb_env_set_maxdbs(s->mdb, STORES_MAX + 1);
    if (!rc)
        rc = mdb_env_set_mapsize(s->mdb, MAP_BYTES);
    if (!rc)
        rc = mdb_env_open(s->mdb, s->base.path, flags, 0666);
    if (rc)
        return err_set(e, -from_mdb(rc), "%s: LMDB: %s", s->base.path, mdb_strerror(rc));
    if (missing_bytes(s, &should) > 0)
        return err_set(e, ERR_CORRUPT, "%s/data.mdb: %" PRIu64 " bytes at its end are missing",
                       s->base.path, (uint64_t)missing_bytes(s, &should));
    res = open_tables(s, names, read_only);
    if (!res && !read_only)
        make_whole(s);
    if (res)
        return err_set(e, -res, "%s: the store cannot be read: %s", s->base.path, err_text(res));
    return 0;
}

static struct lmdb_store *new_store(const char *path, int n_tables)
{
    struct lmdb_store *s = calloc(1, sizeof *s);

    if (s) {
        s->base.vt = &lmdb_vt;
        s->base.n_tables = n_tables;
        snprintf(s->base.path, sizeof s->base.path, "%s", path);
    }
    return s;
}

static int driver_open(struct store_driver *base, struct env *env, const char *path,
                       const char *const *names, int n_tables, struct task_store **out,
                       struct err *e)
{
    struct lmdb_driver *d = (struct lmdb_driver *)base;
    struct lmdb_store *s;
    int rc;

    if (map_get(&d->open, slice_str(path)))
        return err_set(e, ERR_BUSY, "%s: this process has the store open already", path);
    rc = make_dirs(path, e);
    if (rc)
        return rc;
    s = new_store(path, n_tables);
    if (!s || map_put(&d->open, slice_str(path), s)) {
        free(s);
        return err_set(e, ERR_NOMEM, "out of memory");
    }
    s->driver = d;
    s->base.env = env;
    rc = open_env(s, names, false, e);
    if (rc) {
        lmdb_close(&s->base);
        return rc;
    }
    *out = &s->base;
    return 0;
}

static int driver_discard(struct store_driver *base, struct env *env, const char *path,
                          struct err *e)
{
    static const char *const files[] = {"data.mdb", "lock.mdb"};
    char file[600];

    if (map_get(&((struct lmdb_driver *)base)->open, slice_str(path)))
        return err_set(e, ERR_BUSY, "%s: the store is open", path);
    for (int i = 0; i < 2; i++) {
        snprintf(file, sizeof file, "%s/%s", path, files[i]);
        if (unlink(file) && errno != ENOENT)
            return err_set(e, err_from_errno(errno), "%s: %s", file, strerror(errno));
    }
    return 0;
}

struct store_driver *store_lmdb_new(void)
{
    struct lmdb_driver *d = calloc(1, sizeof *d);

    if (!d)
        return NULL;
    d->base = (struct store_driver){driver_open, driver_discard};
    map_init(&d->open);
    return &d->base;
}

void store_lmdb_free(struct store_driver *base)
{
    struct lmdb_driver *d = (struct lmdb_driver *)base;

    if (!d)
        return;
    map_deinit(&d->open);
    free(d);
}

int store_lmdb_open_ro(const char *path, const char *const *names, int n_tables,
                       struct task_store **out, struct err *e)
{
    struct lmdb_store *s = new_store(path, n_tables);
    int rc;

    if (!s)
        return err_set(e, ERR_NOMEM, "out of memory");
    rc = open_env(s, names, true, e);
    if (rc) {
        lmdb_close(&s->base);
        return rc;
    }
    *out = &s->base;
    return 0;
}

bool store_lmdb_has(const struct task_store *base, int table)
{
    return !((const struct lmdb_store *)base)->absent[table];
}

/* tests/runtime/state/support_store.c - see the header. */
#include "support_store.h"
#include <stdio.h>
#include <stdlib.h>

static const char *const names[BENCH_TABLES] = {"a", "b", "c"};

static void open_store(struct bench *b)
{
    struct err e = {0};
    int rc = b->driver->open(b->driver, b->env, b->path, names, BENCH_TABLES, &b->store, &e);

    if (rc)
        fail_msg("open: %s", e.text);
}

void bench_open(struct bench *b, bool lmdb, const char *parent)
{
    memset(b, 0, sizeof *b);
    assert_int_equal(env_uv_open(&b->uv), 0);
    env_uv_node_open(&b->uv, &b->node, "bench", 1);
    b->env = &b->node.env;
    b->lmdb = lmdb;
    snprintf(b->dir, sizeof b->dir, "%s/once-store-XXXXXX", parent ? parent : "/tmp");
    assert_non_null(mkdtemp(b->dir));
    snprintf(b->path, sizeof b->path, "%s/job/0/0_0", b->dir);
    b->driver = lmdb ? store_lmdb_new() : store_mem_new();
    assert_non_null(b->driver);
    for (int i = 0; i < BENCH_TABLES; i++)
        overlay_init(&b->overlays[i]);
    open_store(b);
}

void bench_reopen(struct bench *b)
{
    b->store->vt->close(b->store);
    open_store(b);
}

void bench_close(struct bench *b)
{
    char command[300];

    b->store->vt->close(b->store);
    for (int i = 0; i < BENCH_TABLES; i++)
        overlay_deinit(&b->overlays[i]);
    if (b->lmdb)
        store_lmdb_free(b->driver);
    else
        store_mem_free(b->driver);
    env_uv_node_stop(&b->uv, &b->node);
    env_uv_node_close(&b->uv, &b->node);
    env_uv_close(&b->uv);
    snprintf(command, sizeof command, "rm -rf '%s'", b->dir);
    assert_int_equal(system(command), 0);
}

void bench_put(struct bench *b, int table, const char *key, const char *value)
{
    assert_int_equal(overlay_put(&b->overlays[table], slice_str(key), slice_str(value)), 0);
}

static void committed(struct store_commit *c, int res)
{
    struct bench *b = c->user;

    assert_false(b->done);
    b->done = true;
    b->res = res;
}

void bench_begin(struct bench *b)
{
    bool bulk = b->commit.bulk, sync = b->commit.sync;

    memset(&b->commit, 0, sizeof b->commit);
    b->commit.bulk = bulk;
    b->commit.sync = sync;
    b->commit.store = b->store;
    b->commit.meta = b->store->meta;
    b->commit.done = committed;
    b->commit.user = b;
    for (int i = 0; i < BENCH_TABLES; i++)
        b->commit.overlays[i] = overlay_empty(&b->overlays[i]) ? NULL : &b->overlays[i];
    b->done = false;
    b->store->vt->commit(&b->commit);
    assert_false(b->done); /* never from within */
}

int bench_wait(struct bench *b)
{
    while (!b->done)
        assert_int_equal(env_uv_turn(&b->uv, true), 0);
    return b->res;
}

int bench_commit(struct bench *b)
{
    int res;

    bench_begin(b);
    res = bench_wait(b);
    for (int i = 0; i < BENCH_TABLES; i++)
        overlay_clear(&b->overlays[i]);
    return res;
}

const char *bench_get(struct bench *b, int table, const char *key)
{
    static char text[256];
    struct slice v;
    int rc = b->store->vt->get(b->store, table, slice_str(key), &v);

    assert_true(rc >= 0);
    snprintf(text, sizeof text, "%.*s", rc ? (int)v.n : 1, rc ? (const char *)v.p : "-");
    return text;
}

const char *bench_rest(struct store_iter *it)
{
    static char text[4096];
    struct slice k, v;
    size_t n = 0;
    int rc;

    text[0] = 0;
    while ((rc = it->next(it, &k, &v)) > 0)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%.*s=%.*s", n ? " " : "", SLICE_FMT(k),
                              SLICE_FMT(v));
    assert_int_equal(rc, 0);
    assert_int_equal(it->next(it, &k, &v), 0); /* the end stays the end */
    it->close(it);
    return text;
}

const char *bench_range(struct bench *b, int table, const char *from, const char *to, bool reverse)
{
    struct store_iter *it;

    assert_int_equal(
        b->store->vt->range(b->store, table, slice_str(from), slice_str(to), reverse, &it), 0);
    return bench_rest(it);
}

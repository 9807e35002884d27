/* tests/txn/test_txlog.c - the transaction log's records against Apache Kafka's own. */
#include "base/check.h"
#include "tests/txn/support_world.h"
#include "txn/internal.h"
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#define FILE_NAME "tests/data/kafka-disk/__transaction_state-0/00000000000000000000.log"

static unsigned char *load(size_t *n)
{
    FILE *f = fopen(FILE_NAME, "rb");
    assert_non_null(f);
    unsigned char *p = malloc(1 << 20);
    assert_non_null(p);
    *n = fread(p, 1, 1 << 20, f);
    fclose(f);
    return p;
}

static struct record only_record(struct slice batch)
{
    struct record_iter it;
    struct record r;
    assert_int_equal(record_iter_init(&it, batch, NULL), 0);
    assert_int_equal(record_iter_next(&it, &r), 1);
    return r;
}

/* After each of Kafka's records our own of the same value has the same bytes. */
static void records_read_and_write_as_kafkas(void **state)
{
    struct world w;
    size_t n, at = 0, records = 0;
    unsigned char *p = load(&n);
    struct topic topic = {.name = slice_str(TXN_TOPIC), .internal = true};
    struct partition part = {.topic = &topic};
    world_init(&w, 1);
    while (at < n) {
        struct batch_info b;
        assert_int_equal(batch_header(slice_of(p + at, n - at), &b), 0);
        struct slice batch = slice_of(p + at, b.size);
        at += b.size;
        txlog_replay(w.c, &part, batch);
        assert_int_equal(w.c->load.code, 0);
        struct record theirs = only_record(batch);
        struct txn_entry *entry =
            coordinator_entry(w.c, slice_sub(theirs.key, 4, theirs.key.n), false);
        assert_non_null(entry);
        struct txn_effect e = {.type = TXN_LOG, .value = entry->t.v, .parts = TXN_PARTS_KEPT};
        if (e.value.state == TXN_EMPTY)
            e.parts = TXN_PARTS_NULL;
        assert_int_equal(txlog_write(w.c, entry, &e), 0);
        struct record ours = only_record(buf_slice(&w.c->batch));
        assert_true(slice_eq(ours.key, theirs.key));
        assert_true(slice_eq(ours.value, theirs.value));
        records++;
    }
    assert_int_equal(records, 28);
    assert_int_equal(coordinator_count(w.c), 4);
    const struct txn *t = coordinator_find(w.c, slice_str("tx-b"));
    assert_int_equal(t->v.state, TXN_COMPLETE_COMMIT);
    assert_int_equal(t->v.epoch, 2);
    t = coordinator_find(w.c, slice_str("tx-open"));
    assert_int_equal(t->v.state, TXN_EMPTY);
    assert_int_equal(t->v.epoch, 2);
    free(p);
    world_deinit(&w);
}

static void tombstone_forgets_an_id(void **state)
{
    struct world w;
    world_init(&w, 2);
    assert_int_equal(world_init_id(&w, "x", -1, -1).error, 0);
    struct txn_entry *entry = coordinator_entry(w.c, slice_str("x"), false);
    struct txn_effect e = {.type = TXN_TOMBSTONE};
    assert_int_equal(txlog_write(w.c, entry, &e), 0);
    coordinator_forget(w.c, entry);
    assert_true(world_settle(&w));
    world_restart(&w, true);
    assert_int_equal(coordinator_count(w.c), 0);
    world_deinit(&w);
}

/* A transaction that cannot be read must not be forgotten. */
static void unreadable_record_stops_the_start(void **state)
{
    struct world w;
    size_t n;
    unsigned char *p = load(&n);
    struct batch_info b;
    struct topic topic = {.name = slice_str(TXN_TOPIC), .internal = true};
    struct partition part = {.topic = &topic, .index = 3};
    const struct plug *plug;
    struct err e = {0};
    world_init(&w, 3);
    plug = broker_plugged(w.b);
    assert_int_equal(batch_header(slice_of(p, n), &b), 0);
    p[b.size - 12] ^= 0x7f; /* somewhere in the value */
    p[BATCH_HEADER + 30] ^= 0x7f;
    txlog_replay(w.c, &part, slice_of(p, b.size - 1));
    assert_int_not_equal(w.c->load.code, 0);
    assert_true(plug->start(plug->self, &e) < 0);
    assert_non_null(strstr(e.text, "__transaction_state-3"));
    free(p);
    world_deinit(&w);
}

/* ---- a directory of Kafka's, opened as ours ---- */

#define KAFKA "tests/data/kafka-disk"

static void copy_file(struct world *w, const char *name)
{
    char from[512], to[512];
    struct env *env = &w->node->env;
    struct env_file f;
    uint64_t size;
    unsigned char *p = malloc(1 << 20);
    snprintf(from, sizeof from, KAFKA "/%s", name);
    snprintf(to, sizeof to, "data/%s", name);
    FILE *in = fopen(from, "rb");
    assert_non_null(in);
    size_t n = fread(p, 1, 1 << 20, in);
    fclose(in);
    assert_int_equal(env_open(env, &f, to, ENV_CREATE, &size), 0);
    struct slice bytes = slice_of(p, n);
    assert_int_equal(env_write_wait(&f, 0, &bytes, 1, ENV_SYNC), (int64_t)n);
    env_close(&f);
    free(p);
}

static void copy_all(struct world *w)
{
    static const char *const folders[] = {"__transaction_state-0", "__consumer_offsets-0",
                                          "disk-0"};
    struct env *env = &w->node->env;
    /* Shortly after the files were written: ids that are idle for a week are forgotten. */
    w->node->wall_skew_ms += INT64_C(1796051560000) - env_wall_ms(env);
    copy_file(w, "meta.properties");
    for (int i = 0; i < 3; i++) {
        char path[512];
        snprintf(path, sizeof path, "data/%s", folders[i]);
        assert_int_equal(env->vt->mkdir(env, path), 0);
        snprintf(path, sizeof path, KAFKA "/%s", folders[i]);
        DIR *d = opendir(path);
        assert_non_null(d);
        for (struct dirent *e; (e = readdir(d));) {
            snprintf(path, sizeof path, "%s/%s", folders[i], e->d_name);
            if (e->d_name[0] != '.')
                copy_file(w, path);
        }
        closedir(d);
    }
}

static void a_directory_of_kafkas_goes_on_here(void **state)
{
    struct world w;
    world_init_with(&w, 4, copy_all);
    assert_int_equal(coordinator_count(w.c), 4);
    assert_int_equal(world_hw(&w, "disk", 0), 35);
    assert_int_equal(world_stable(&w, "disk", 0), 35);
    assert_int_equal(world_aborted(&w, "disk", 0), 4);
    /* Producer 3's last batch is known, and so are the epochs of the transactional ones. */
    int64_t offset;
    assert_int_equal(world_produce(&w, NULL, "disk", 0, 3, 0, 3, 1, 9, &offset), 0);
    assert_int_equal(offset, 29);
    assert_int_equal(world_init_id(&w, "tx-open", 4, 1).error, 90);
    struct txn_answer a = world_init_id(&w, "tx-open", -1, -1);
    assert_int_equal(a.error, 0);
    assert_int_equal(a.producer_id, 4);
    assert_int_equal(a.epoch, 3);
    assert_int_equal(world_add(&w, "tx-open", 4, 3, "disk", 0), 0);
    assert_int_equal(world_produce(&w, "tx-open", "disk", 0, 4, 3, 0, 2, 11, &offset), 0);
    assert_int_equal(offset, 35);
    assert_int_equal(world_end(&w, "tx-open", 4, 3, true, 1).error, 0);
    assert_true(world_settle(&w));
    assert_int_equal(world_stable(&w, "disk", 0), 38);
    /* A new id is none of those that Kafka gave out. */
    assert_true(world_init_id(&w, "new", -1, -1).producer_id > 4);
    world_restart(&w, true);
    assert_int_equal(world_stable(&w, "disk", 0), world_hw(&w, "disk", 0));
    assert_int_equal(world_aborted(&w, "disk", 0), 4);
    world_deinit(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_read_and_write_as_kafkas),
        cmocka_unit_test(tombstone_forgets_an_id),
        cmocka_unit_test(unreadable_record_stops_the_start),
        cmocka_unit_test(a_directory_of_kafkas_goes_on_here),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

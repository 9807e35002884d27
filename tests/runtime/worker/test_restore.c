/* tests/runtime/worker/test_restore.c - which stores are trusted, and what a restore waits for. */
#include "jobs.h"
#include "support_rig.h"
#include <stdio.h>
#include <stdlib.h>

static struct rig r;

static int close_rig(void **state)
{
    rig_close(&r);
    return 0;
}

static void count_some(void)
{
    rig_open(&r, &(struct rig_options){.lua = COUNT_JOB});
    rig_feed(&r, "in", 20, 4);
    rig_drain(&r);
}

/* Goes on, and all is as if nothing had happened. */
static void is_exact(int n)
{
    rig_feed(&r, "in", 20, 4);
    rig_drain(&r);
    assert_int_equal(rig_exact_counts(&r, "out"), n);
    rig_stop(&r, 0);
    assert_string_equal(rig_store(&r, 0, 0, "0_0", "counts"), "a=10 b=10 c=10 d=10");
}

static const char rebuilt[] = "the store is rebuilt from its changelog: ";

static bool rebuilt_because(const char *why)
{
    char text[200];

    snprintf(text, sizeof text, "%s%s", rebuilt, why);
    return rig_logged(&r, text);
}

/* ---- trusted ---- */

static void a_killed_workers_store_is_taken_over(void **state)
{
    count_some();
    rig_kill(&r, 0);
    rig_start(&r, 0);
    is_exact(40);
    assert_false(rig_logged(&r, rebuilt));
}

/* The transaction stands, the local commit is missing: the store catches up. */
static void a_store_one_commit_behind_catches_up(void **state)
{
    count_some();
    r.crash_at = "after_end_txn";
    r.crash_left = 1;
    is_exact(40);
    assert_int_equal(r.n_crashes, 1);
    assert_false(rig_logged(&r, rebuilt));
}

/* ---- not trusted ---- */

static void with_meta(void (*f)(struct store_meta *m, struct overlay *o), const char *why)
{
    count_some();
    rig_stop(&r, 0);
    rig_meddle(&r, 0, 0, "0_0", f);
    rig_start(&r, 0);
    is_exact(40);
    assert_true(rebuilt_because(why));
    assert_int_equal(rig_log_count(&r, rebuilt), 1);
}

static void spoil(struct overlay *o)
{
    struct buf k, v; /* what nobody may see any more */

    buf_init(&k, 100);
    buf_init(&v, 100);
    assert_int_equal(udf_key_encode_str(slice_str("wrong"), &k), 0);
    assert_int_equal(udf_value_encode_int(666, &v), 0);
    assert_int_equal(overlay_put(o, buf_slice(&k), buf_slice(&v)), 0);
    buf_deinit(&k);
    buf_deinit(&v);
}

static void make_ahead(struct store_meta *m, struct overlay *o)
{
    spoil(o);
    m->inputs[0].offset++;
}

static void make_copied(struct store_meta *m, struct overlay *o)
{
    spoil(o);
    m->opened.inode++;
}

static void make_other_boot(struct store_meta *m, struct overlay *o)
{
    spoil(o);
    m->clean = false;
    m->opened.boot[3] ^= 1;
}

static void make_other_topic(struct store_meta *m, struct overlay *o)
{
    spoil(o);
    m->changelogs[0].topic_id.b[0] ^= 1;
}

static void make_beyond_changelog(struct store_meta *m, struct overlay *o)
{
    spoil(o);
    m->changelogs[0].position += 1000;
}

static void make_other_stores(struct store_meta *m, struct overlay *o)
{
    spoil(o);
    m->n_stores = 2;
}

static void a_store_ahead_of_the_offsets_is_rebuilt(void **state)
{
    with_meta(make_ahead, "it is ahead of the committed offsets");
}

static void a_copied_store_is_rebuilt(void **state)
{
    with_meta(make_copied, "it is not the file, or not the boot");
}

static void an_unclean_store_of_another_boot_is_rebuilt(void **state)
{
    with_meta(make_other_boot, "it is not the file, or not the boot");
}

static void a_store_of_another_changelog_is_rebuilt(void **state)
{
    with_meta(make_other_topic, "its changelog is another topic now");
}

static void a_store_beyond_its_changelog_is_rebuilt(void **state)
{
    with_meta(make_beyond_changelog, "its changelog is shorter than it");
}

static void a_store_with_other_tables_is_rebuilt(void **state)
{
    with_meta(make_other_stores, "it has other stores");
}

/* Tombstones of the meantime may be compacted away (EO-57). */
static void a_store_left_for_long_is_rebuilt(void **state)
{
    count_some();
    rig_kill(&r, 0);
    r.c.workers[0].node->wall_skew_ms += (int64_t)13 * 3600 * 1000;
    rig_start(&r, 0);
    is_exact(40);
    assert_true(rebuilt_because("it is too old"));
}

static void a_power_cut_loses_an_unsynced_store_and_it_is_rebuilt(void **state)
{
    count_some();
    sim_power_cut(r.c.workers[0].node);
    is_exact(40);
}

static void a_deleted_changelog_empties_the_store(void **state)
{
    count_some();
    rig_stop(&r, 0);
    rig_delete_topic(&r, "count-counts-changelog");
    rig_run(&r, 1000);
    rig_start(&r, 0);
    rig_feed(&r, "in", 4, 4);
    rig_drain(&r);
    assert_true(rebuilt_because("its changelog is another topic now"));
    rig_stop(&r, 0);
    assert_string_equal(rig_store(&r, 0, 0, "0_0", "counts"), "a=1 b=1 c=1 d=1");
}

/* A store whose file is gone is made from the changelog, tombstones and all. */
static void a_lost_store_is_made_anew(void **state)
{
    static const char lua[] = HEAD
        "return once.job { name = 'count', from = 'in', to = 'out', stores = { counts = {} },\n"
        "  process = function(ctx, r)\n"
        "    if r.value == 'del' then ctx.counts:del(r.key) return end\n"
        "    ctx.counts:put(r.key, r.value)\n"
        "  end }\n";
    struct err e = {0};

    rig_open(&r, &(struct rig_options){.lua = lua});
    for (int i = 0; i < 30; i++) {
        char key[8], value[8];
        snprintf(key, sizeof key, "k%d", i % 6);
        snprintf(value, sizeof value, i % 5 ? "%d" : "del", i);
        rig_put(&r, "in", 0, key, value);
    }
    rig_drain(&r);
    rig_kill(&r, 0);
    assert_int_equal(r.c.workers[0].stores->discard(r.c.workers[0].stores, &r.c.client.node->env,
                                                    CLUSTER_STATE "/count/0/0_0", &e),
                     0);
    rig_start(&r, 0);
    rig_until(&r, rig_ready, 10, "the worker is ready");
    rig_stop(&r, 0);
    assert_string_equal(rig_store(&r, 0, 0, "0_0", "counts"), "k0=24 k2=26 k3=27 k4=28 k5=29");
}

/* ---- waiting ---- */

static struct producer *other;
static bool told;
static int told_res;

static void tell(void *user, int res, const struct err *e)
{
    told = true;
    told_res = res;
}

static void wait_told(void)
{
    for (int i = 0; i < 2000 && !told; i++)
        rig_run(&r, 5);
    assert_true(told);
    assert_int_equal(told_res, 0);
    told = false;
}

/* Somebody's transaction is open on the changelog: the restore's target is the end as it is,
 * decided or not, and what is committed of it belongs to the store (EO-54, EO-55). */
static void decide(bool commit, const char *store)
{
    struct producer_options po = {.transactional_id = slice_str("other"),
                                  .transaction_timeout_ms = 60000};
    struct producer_record rec = {.topic = slice_str("count-counts-changelog"), .timestamp = 1};
    struct buf k, v;

    count_some();
    rig_kill(&r, 0);
    assert_int_equal(producer_open(&other, r.client, &po), 0);
    producer_init_id(other, tell, NULL);
    wait_told();
    assert_int_equal(producer_begin(other), 0);
    buf_init(&k, 100);
    buf_init(&v, 100);
    assert_int_equal(udf_key_encode_str(slice_str("late"), &k), 0);
    assert_int_equal(udf_value_encode_int(7, &v), 0);
    rec.key = buf_slice(&k);
    rec.value = buf_slice(&v);
    assert_int_equal(producer_send(other, &rec), 0);
    producer_flush(other, tell, NULL);
    wait_told();
    rig_start(&r, 0);
    rig_run(&r, 5000);
    assert_false(rig_ready(&r));
    producer_end(other, commit, tell, NULL);
    wait_told();
    rig_until(&r, rig_ready, 5, "the restore goes on");
    rig_stop(&r, 0);
    assert_string_equal(rig_store(&r, 0, 0, "0_0", "counts"), store);
    producer_free(other);
    buf_deinit(&k);
    buf_deinit(&v);
}

static void a_restore_waits_for_what_is_undecided(void **state)
{
    decide(true, "a=5 b=5 c=5 d=5 late=7");
}

static void a_restore_leaves_out_what_is_aborted(void **state)
{
    decide(false, "a=5 b=5 c=5 d=5");
}

/* ---- while it restores ---- */

/* Values large enough for several chunks. */
static const char large_job[] = HEAD
    "return once.job { name = 'count', from = 'in', to = 'out', stores = { counts = {}, s = {} },\n"
    "  process = function(ctx, r)\n"
    "    ctx.s:put(r.key .. r.value, string.rep('x', 100000))\n"
    "    local n = (ctx.counts:get(r.key) or 0) + 1\n"
    "    ctx.counts:put(r.key, n)\n"
    "    ctx:emit('out', { key = r.key, value = n })\n"
    "  end }\n";

static void discard_store(void)
{
    struct err e = {0};

    assert_int_equal(r.c.workers[0].stores->discard(r.c.workers[0].stores, &r.c.client.node->env,
                                                    CLUSTER_STATE "/count/0/0_0", &e),
                     0);
}

static void a_restore_of_several_chunks_may_be_cut_anywhere(void **state)
{
    rig_open(&r, &(struct rig_options){.lua = large_job});
    rig_feed(&r, "in", 400, 4); /* 40 MB */
    rig_drain(&r);
    for (int i = 0; i < 8; i++) {
        rig_kill(&r, 0);
        if (i == 0)
            discard_store();
        rig_start(&r, 0);
        if (i == 3)
            rig_stop(&r, 0); /* orderly, in the middle of it */
        else
            rig_run(&r, 10 + 15 * (uint64_t)i);
    }
    rig_start(&r, 0);
    rig_feed(&r, "in", 8, 4);
    rig_drain(&r);
    assert_int_equal(rig_exact_counts(&r, "out"), 408);
    rig_stop(&r, 0);
    assert_string_equal(rig_store(&r, 0, 0, "0_0", "counts"), "a=102 b=102 c=102 d=102");
}

/* ---- stream time ---- */

static const char time_job[] = HEAD
    "return once.job { name = 'j', from = 'in', to = 'out', process = function(ctx, r)\n"
    "  ctx:emit('out', { key = r.key, value = ctx:now() })\n"
    "end }\n";

/* It goes with the committed offset to whoever has the task next (EO-63). */
static void stream_time_travels(void **state)
{
    char meta[64];

    rig_open(&r, &(struct rig_options){.lua = time_job, .workers = 2, .held = true});
    rig_start(&r, 0);
    rig_put_at(&r, "in", 0, "a", "", 5000);
    rig_put_at(&r, "in", 0, "b", "", 3000);
    rig_drain(&r);
    assert_int_equal(rig_committed(&r, "j", "in", 0, meta), 2);
    assert_string_equal(meta, "st=5000");
    rig_stop(&r, 0);
    rig_start(&r, 1);
    rig_put_at(&r, "in", 0, "c", "", 1000);
    rig_put_at(&r, "in", 0, "d", "", 6000);
    rig_drain(&r);
    assert_string_equal(rig_text(&r, "out"), "a=5000 b=5000 c=5000 d=6000");
}

/* An abort takes it back too. */
static void stream_time_of_an_abort_is_forgotten(void **state)
{
    rig_open(&r, &(struct rig_options){.lua = time_job});
    rig_put_at(&r, "in", 0, "a", "", 1000);
    rig_drain(&r);
    r.crash_at = "before_end_txn";
    r.crash_left = 1;
    rig_put_at(&r, "in", 0, "b", "", 9000);
    rig_put_at(&r, "in", 0, "c", "", 500);
    rig_drain(&r);
    assert_int_equal(r.n_crashes, 1);
    assert_string_equal(rig_text(&r, "out"), "a=1000 b=9000 c=9000");
}

#define CASE(f) cmocka_unit_test_teardown(f, close_rig)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_killed_workers_store_is_taken_over),
        CASE(a_store_one_commit_behind_catches_up),
        CASE(a_store_ahead_of_the_offsets_is_rebuilt),
        CASE(a_copied_store_is_rebuilt),
        CASE(an_unclean_store_of_another_boot_is_rebuilt),
        CASE(a_store_of_another_changelog_is_rebuilt),
        CASE(a_store_beyond_its_changelog_is_rebuilt),
        CASE(a_store_with_other_tables_is_rebuilt),
        CASE(a_store_left_for_long_is_rebuilt),
        CASE(a_power_cut_loses_an_unsynced_store_and_it_is_rebuilt),
        CASE(a_deleted_changelog_empties_the_store),
        CASE(a_lost_store_is_made_anew),
        CASE(a_restore_waits_for_what_is_undecided),
        CASE(a_restore_leaves_out_what_is_aborted),
        CASE(a_restore_of_several_chunks_may_be_cut_anywhere),
        CASE(stream_time_travels),
        CASE(stream_time_of_an_abort_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

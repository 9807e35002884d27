/* tests/base/test_sim_disk.c - what crashes, power cuts and errors leave on a simulated disk. */
#include "support_lab.h"

enum { N = 4096 };

static void a_process_crash_keeps_every_byte_but_they_stay_unsynced(void **state)
{
    int kept = 0, lost = 0;

    for (uint64_t seed = 0; seed < 40; seed++) {
        unsigned char b[8];
        struct env_file f;
        struct lab x;
        int64_t n;
        lab_open(&x, seed);
        lab_file(&x, &f, "/d/f");
        assert_int_equal(env_sync_dir_wait(&x.a->env, "/d"), 0);
        lab_put_ok(&f, 0, "unsynced", 8, 0);
        for (int i = 0; i < 3; i++) { /* over several incarnations */
            sim_crash(x.a);
            sim_start(x.a);
            lab_file(&x, &f, "/d/f");
            assert_int_equal(lab_get(&f, 0, b, 8), 8);
            assert_memory_equal(b, "unsynced", 8);
        }
        sim_power_cut(x.a);
        sim_start(x.a);
        lab_file(&x, &f, "/d/f");
        n = lab_get(&f, 0, b, 8);
        kept += n == 8;
        lost += n == 0;
        lab_close(&x);
    }
    assert_true(kept > 3);
    assert_true(lost > 3);
}

static void a_power_cut_loses_tears_and_garbles_only_what_was_not_synced(void **state)
{
    static unsigned char old[3 * N], new[N], b[3 * N];
    int whole = 0, lost = 0, torn = 0, garbled = 0;

    memset(old, 'o', sizeof old);
    memset(new, 'n', sizeof new);
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct env_file f;
        struct lab x;
        int n_old = 0, n_new = 0;
        lab_open(&x, seed);
        lab_file(&x, &f, "/d/f");
        assert_int_equal(env_sync_dir_wait(&x.a->env, "/d"), 0);
        lab_put_ok(&f, 0, old, 3 * N, ENV_SYNC);
        lab_put_ok(&f, N, new, N, 0);
        sim_power_cut(x.a);
        sim_start(x.a);
        lab_file(&x, &f, "/d/f");
        assert_int_equal(lab_get(&f, 0, b, 3 * N), 3 * N);
        assert_memory_equal(b, old, N);
        assert_memory_equal(b + 2 * N, old, N);
        for (int i = N; i < 2 * N; i++) {
            n_old += b[i] == 'o';
            n_new += b[i] == 'n';
        }
        whole += n_new == N;
        lost += n_old == N;
        garbled += n_old + n_new < N - 3;
        torn += n_old + n_new == N && n_old && n_new && n_new % 512 == 0;
        lab_close(&x);
    }
    assert_true(whole > 10);
    assert_true(lost > 10);
    assert_true(torn > 10);
    assert_true(garbled > 5);
}

static void what_was_synced_survives_with_its_name_if_the_folder_was_synced_too(void **state)
{
    int forgotten = 0;

    for (uint64_t seed = 0; seed < 60; seed++) {
        unsigned char b[8];
        struct env_file f, g;
        struct lab x;
        lab_open(&x, seed);
        lab_file(&x, &f, "/d/named");
        lab_put_ok(&f, 0, "safe", 4, ENV_SYNC);
        assert_int_equal(env_sync_dir_wait(&x.a->env, "/d"), 0);
        lab_file(&x, &g, "/d/unnamed");
        lab_put_ok(&g, 0, "safe", 4, ENV_SYNC);
        sim_power_cut(x.a);
        sim_start(x.a);
        assert_int_equal(env_open(&x.a->env, &f, "/d/named", 0, NULL), 0);
        assert_int_equal(lab_get(&f, 0, b, 8), 4);
        assert_memory_equal(b, "safe", 4);
        if (env_open(&x.a->env, &g, "/d/unnamed", 0, NULL) == -ERR_NOT_FOUND)
            forgotten++;
        else
            assert_int_equal(lab_get(&g, 0, b, 8), 4);
        lab_close(&x);
    }
    assert_in_range(forgotten, 5, 55);
}

static void a_rename_not_synced_leaves_the_old_file_or_the_new_never_none(void **state)
{
    int old = 0, new = 0;

    for (uint64_t seed = 0; seed < 60; seed++) {
        unsigned char b[8];
        struct env_file f;
        struct lab x;
        lab_open(&x, seed);
        lab_file(&x, &f, "/d/f");
        lab_put_ok(&f, 0, "old", 3, ENV_SYNC);
        assert_int_equal(env_sync_dir_wait(&x.a->env, "/d"), 0);
        env_close(&f);
        lab_file(&x, &f, "/d/f.tmp");
        lab_put_ok(&f, 0, "new", 3, ENV_SYNC);
        assert_int_equal(env_rename(&x.a->env, "/d/f.tmp", "/d/f"), 0);
        sim_power_cut(x.a);
        sim_start(x.a);
        assert_int_equal(env_open(&x.a->env, &f, "/d/f", 0, NULL), 0);
        assert_int_equal(lab_get(&f, 0, b, 8), 3);
        old += memcmp(b, "old", 3) == 0;
        new += memcmp(b, "new", 3) == 0;
        lab_close(&x);
    }
    assert_int_equal(old + new, 60);
    assert_true(old > 5);
    assert_true(new > 5);
}

static void a_removal_not_synced_may_come_back_a_synced_one_never(void **state)
{
    int back = 0;

    for (uint64_t seed = 0; seed < 60; seed++) {
        struct env_file f;
        struct lab x;
        lab_open(&x, seed);
        for (const char *n = "fg"; *n; n++) {
            char path[] = {'/', 'd', '/', *n, 0};
            lab_file(&x, &f, path);
            lab_put_ok(&f, 0, "1", 1, ENV_SYNC);
            env_close(&f);
        }
        assert_int_equal(env_sync_dir_wait(&x.a->env, "/d"), 0);
        assert_int_equal(env_remove_wait(&x.a->env, "/d/f"), 0);
        assert_int_equal(env_sync_dir_wait(&x.a->env, "/d"), 0);
        assert_int_equal(env_remove_wait(&x.a->env, "/d/g"), 0);
        sim_power_cut(x.a);
        sim_start(x.a);
        assert_int_equal(env_open(&x.a->env, &f, "/d/f", 0, NULL), -ERR_NOT_FOUND);
        back += env_open(&x.a->env, &f, "/d/g", 0, NULL) == 0;
        lab_close(&x);
    }
    assert_in_range(back, 5, 55);
}

static void a_truncation_not_synced_may_be_forgotten(void **state)
{
    int forgotten = 0;

    for (uint64_t seed = 0; seed < 60; seed++) {
        struct env_file f;
        struct lab x;
        lab_open(&x, seed);
        lab_file(&x, &f, "/d/f");
        lab_put_ok(&f, 0, "0123456789", 10, ENV_SYNC);
        assert_int_equal(env_sync_dir_wait(&x.a->env, "/d"), 0);
        assert_int_equal(env_truncate_wait(&f, 3), 0);
        sim_power_cut(x.a);
        sim_start(x.a);
        lab_file(&x, &f, "/d/f");
        assert_true(env_size(&f) == 3 || env_size(&f) == 10);
        forgotten += env_size(&f) == 10;
        lab_close(&x);
    }
    assert_in_range(forgotten, 5, 55);
}

static void a_failed_sync_poisons_the_file_and_a_power_cut_takes_the_bytes(void **state)
{
    for (uint64_t seed = 0; seed < 30; seed++) {
        unsigned char b[8] = {0};
        struct env_file f;
        struct lab x;
        lab_open(&x, seed);
        lab_file(&x, &f, "/d/f");
        lab_put_ok(&f, 0, "good", 4, ENV_SYNC);
        assert_int_equal(env_sync_dir_wait(&x.a->env, "/d"), 0);
        sim_node_disk(x.a)->fail_syncs = 1;
        assert_int_equal(lab_put(&f, 4, "bad!", 4, ENV_SYNC), -ERR_IO);
        assert_int_equal(lab_put(&f, 4, "bad!", 4, ENV_SYNC), -ERR_IO); /* poisoned */
        sim_crash(x.a);
        sim_start(x.a);
        lab_file(&x, &f, "/d/f");
        assert_int_equal(lab_get(&f, 0, b, 8), 8); /* still readable */
        assert_memory_equal(b, "goodbad!", 8);
        assert_int_equal(lab_put(&f, 0, NULL, 0, ENV_SYNC), 0); /* "succeeds", saves nothing */
        sim_power_cut(x.a);
        sim_start(x.a);
        lab_file(&x, &f, "/d/f");
        assert_int_equal(lab_get(&f, 0, b, 8), 4);
        assert_memory_equal(b, "good", 4);
        lab_close(&x);
    }
}

static void what_recovery_writes_again_and_syncs_is_safe_after_a_failed_sync(void **state)
{
    unsigned char b[8] = {0};
    struct env_file f;
    struct lab x;

    lab_open(&x, 5);
    lab_file(&x, &f, "/d/f");
    assert_int_equal(env_sync_dir_wait(&x.a->env, "/d"), 0);
    sim_node_disk(x.a)->fail_syncs = 1;
    assert_int_equal(lab_put(&f, 0, "kept", 4, ENV_SYNC), -ERR_IO);
    sim_crash(x.a);
    sim_start(x.a);
    lab_file(&x, &f, "/d/f");
    lab_put_ok(&f, 0, "kept", 4, ENV_SYNC);
    sim_power_cut(x.a);
    sim_start(x.a);
    lab_file(&x, &f, "/d/f");
    assert_int_equal(lab_get(&f, 0, b, 8), 4);
    lab_close(&x);
}

static void a_write_under_way_at_a_crash_is_there_in_part_or_whole_or_not(void **state)
{
    static unsigned char src[1000], b[1000];
    struct slice v = slice_of(src, sizeof src);
    int none = 0, part = 0, whole = 0;

    memset(src, 'x', sizeof src);
    for (uint64_t seed = 0; seed < 80; seed++) {
        struct env_file f;
        struct wait w;
        struct lab x;
        int64_t n;
        lab_open(&x, seed);
        lab_file(&x, &f, "/d/f");
        wait_init(&w, &x.world);
        env_write(&w.op, &f, 0, &v, 1, ENV_SYNC);
        sim_crash(x.a);
        sim_start(x.a);
        lab_file(&x, &f, "/d/f");
        n = lab_get(&f, 0, b, sizeof b);
        none += n == 0;
        part += n > 0 && n < 1000;
        whole += n == 1000;
        sim_run(&x.sim, x.sim.now + ENV_S(1), NULL, NULL);
        assert_false(w.done);
        lab_close(&x);
    }
    assert_true(none + part + whole == 80);
    assert_true(part > 5);
    assert_true(whole > 5);
}

static void a_full_disk_refuses_and_goes_on_when_space_is_back(void **state)
{
    static unsigned char src[6000];
    struct env_file f, g;
    struct wait w;
    struct lab x;

    lab_open(&x, 3);
    sim_node_disk(x.a)->quota = 10000;
    assert_int_equal(env_space_free(&x.a->env, "/"), 10000);
    lab_file(&x, &f, "/d/f");
    lab_file(&x, &g, "/d/g");
    lab_put_ok(&f, 0, src, 6000, 0);
    assert_int_equal(env_space_free(&x.a->env, "/"), 4000);
    assert_int_equal(lab_put(&g, 0, src, 6000, 0), -ERR_NO_SPACE);
    assert_int_equal(env_truncate_wait(&g, 0), 0);
    wait_init(&w, &x.world);
    env_reserve(&w.op, &g, 0, 5000, 0);
    assert_int_equal(wait_for(&w), -ERR_NO_SPACE);
    lab_put_ok(&f, 0, src, 6000, 0); /* what is there already takes no more space */
    env_close(&f);
    assert_int_equal(env_remove_wait(&x.a->env, "/d/f"), 0);
    assert_int_equal(env_space_free(&x.a->env, "/"), 10000);
    wait_init(&w, &x.world);
    env_reserve(&w.op, &g, 0, 7000, 0);
    assert_int_equal(wait_for(&w), 0);
    assert_int_equal(env_size(&g), 0);
    assert_int_equal(env_space_free(&x.a->env, "/"), 3000);
    lab_put_ok(&g, 0, src, 6000, 0);
    lab_close(&x);
}

static void errors_of_the_disk_strike_at_random(void **state)
{
    unsigned char b[8];
    struct env_file f;
    struct lab x;
    int bad_writes = 0, bad_reads = 0;

    lab_open(&x, 4);
    lab_file(&x, &f, "/d/f");
    lab_put_ok(&f, 0, "12345678", 8, ENV_SYNC);
    sim_node_disk(x.a)->write_fails = sim_node_disk(x.a)->read_fails = 300000;
    for (int i = 0; i < 100; i++) {
        bad_writes += lab_put(&f, 0, "12345678", 8, 0) == -ERR_IO;
        bad_reads += lab_get(&f, 0, b, 8) == -ERR_IO;
    }
    assert_in_range(bad_writes, 10, 60);
    assert_in_range(bad_reads, 10, 60);
    lab_close(&x);
}

static void a_crash_frees_locks_and_a_power_cut_changes_the_boot(void **state)
{
    struct env_id before, crashed, cut;
    struct sim_node *c;
    struct lab x;

    lab_open(&x, 1);
    c = sim_node_add(&x.sim, "c", x.a);
    assert_int_equal(env_lock(&x.a->env, "/d/lock"), 0);
    assert_int_equal(env_lock(&c->env, "/d/lock"), -ERR_BUSY);
    assert_int_equal(env_identify(&x.a->env, "/d", &before), 0);
    sim_crash(x.a);
    assert_int_equal(env_lock(&c->env, "/d/lock"), 0);
    sim_start(x.a);
    assert_int_equal(env_identify(&x.a->env, "/d", &crashed), 0);
    assert_memory_equal(&before, &crashed, sizeof before);
    sim_power_cut(x.a);
    assert_false(c->up); /* the same host */
    assert_true(x.b->up);
    sim_start(x.a);
    assert_int_equal(env_lock(&x.a->env, "/d/lock"), 0);
    assert_int_equal(env_identify(&x.a->env, "/d", &cut), 0);
    assert_memory_equal(&before, &cut, offsetof(struct env_id, boot));
    assert_true(memcmp(before.boot, cut.boot, 16) != 0);
    lab_close(&x);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_crash_keeps_every_byte_but_they_stay_unsynced),
        cmocka_unit_test(a_power_cut_loses_tears_and_garbles_only_what_was_not_synced),
        cmocka_unit_test(what_was_synced_survives_with_its_name_if_the_folder_was_synced_too),
        cmocka_unit_test(a_rename_not_synced_leaves_the_old_file_or_the_new_never_none),
        cmocka_unit_test(a_removal_not_synced_may_come_back_a_synced_one_never),
        cmocka_unit_test(a_truncation_not_synced_may_be_forgotten),
        cmocka_unit_test(a_failed_sync_poisons_the_file_and_a_power_cut_takes_the_bytes),
        cmocka_unit_test(what_recovery_writes_again_and_syncs_is_safe_after_a_failed_sync),
        cmocka_unit_test(a_write_under_way_at_a_crash_is_there_in_part_or_whole_or_not),
        cmocka_unit_test(a_full_disk_refuses_and_goes_on_when_space_is_back),
        cmocka_unit_test(errors_of_the_disk_strike_at_random),
        cmocka_unit_test(a_crash_frees_locks_and_a_power_cut_changes_the_boot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

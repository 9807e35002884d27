/* tests/broker/log/test_kafka.c - files that Apache Kafka wrote (tests/data/kafka-disk): all are
 * read, the indexes made again are its own byte for byte, and its directory is taken over as it
 * stands. */
#include "tests/broker/log/support_logdir.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define VECTORS "tests/data/kafka-disk"

static void count_line(void *user, const char *text)
{
    (void)text;
    ++*(int *)user;
}

static int dump_tree(struct fx *x, const char *dir, int *files, int *lines)
{
    DIR *d = opendir(dir);
    struct dirent *f;
    int bad = 0;

    assert_non_null(d);
    while ((f = readdir(d))) {
        char path[512];
        struct stat st;
        struct err e = {0};
        if (f->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", dir, f->d_name);
        assert_int_equal(stat(path, &st), 0);
        if (S_ISDIR(st.st_mode)) {
            bad += dump_tree(x, path, files, lines);
            continue;
        }
        ++*files;
        if (log_dump(x->env, path, true, count_line, lines, &e) < 0) {
            print_message("%s\n", e.text);
            bad++;
        }
    }
    closedir(d);
    return bad;
}

static void every_file_of_kafka_is_dumped(void **state)
{
    struct fx x;
    int files = 0, lines = 0;

    (void)state;
    fx_init_real(&x);
    assert_int_equal(dump_tree(&x, VECTORS, &files, &lines), 0);
    assert_true(files > 50);
    assert_true(lines > 200);
    fx_deinit(&x);
}

static void get(struct fx *x, const char *path, struct buf *b)
{
    buf_init(b, 1 << 24);
    fx_get(x, path, b);
}

static void indexes_made_again_are_kafkas(void **state)
{
    static const char *const segments[] = {
        "disk-0/00000000000000000000", "disk-0/00000000000000000018", "disk-0/00000000000000000033",
        "disk-0/00000000000000000034", "codec-0/00000000000000000000"};
    struct fx x;

    (void)state;
    fx_init_real(&x);
    for (size_t i = 0; i < sizeof segments / sizeof *segments; i++) {
        struct buf log, idx, tidx, made_idx, made_tidx;
        char path[256];
        int64_t base;
        assert_int_equal(parse_i64(slice_str(strchr(segments[i], '/') + 1), &base), 0);
        snprintf(path, sizeof path, VECTORS "/%s.log", segments[i]);
        get(&x, path, &log);
        snprintf(path, sizeof path, VECTORS "/%s.index", segments[i]);
        get(&x, path, &idx);
        snprintf(path, sizeof path, VECTORS "/%s.timeindex", segments[i]);
        get(&x, path, &tidx);
        buf_init(&made_idx, 1 << 20);
        buf_init(&made_tidx, 1 << 20);
        assert_int_equal(
            log_rebuild_indexes(buf_slice(&log), base, 4096, &made_idx, &made_tidx, &x.err), 0);
        assert_true(slice_eq(buf_slice(&made_idx), buf_slice(&idx)));
        assert_true(slice_eq(buf_slice(&made_tidx), buf_slice(&tidx)));
        buf_deinit(&log);
        buf_deinit(&idx);
        buf_deinit(&tidx);
        buf_deinit(&made_idx);
        buf_deinit(&made_tidx);
    }
    fx_deinit(&x);
}

static void copy_in(struct fx *x, bool clean)
{
    char cmd[1024];
    snprintf(cmd, sizeof cmd,
             "cp -r " VECTORS "/* %s/ && rm -f %s/README.md %s/expected.json && %s", x->dir, x->dir,
             x->dir, clean ? "true" : "false || true");
    assert_int_equal(system(cmd), 0);
    snprintf(cmd, sizeof cmd, "mv %s/kafka_cleanshutdown %s/%s", x->dir, x->dir,
             clean ? ".kafka_cleanshutdown" : "gone");
    assert_int_equal(system(cmd), 0);
}

static void kafkas_directory_is_taken_over_as_it_stands(void **state)
{
    static const struct {
        const char *topic;
        int64_t end;
    } ends[] = {{"disk", 35},
                {"codec", 25},
                {"compact", 14},
                {"__transaction_state", 28},
                {"__consumer_offsets", 21}};

    (void)state;
    for (int clean = 0; clean < 2; clean++) {
        struct fx x;
        fx_init_real(&x);
        copy_in(&x, clean);
        x.config.index_interval_bytes = 4096;
        for (int again = 0; again < 3; again++) {
            if (again == 0)
                fx_start(&x);
            else
                fx_open(&x);
            if (again == 0) {
                struct fx_topic *t;
                assert_int_equal(x.n_adopted, 5);
                assert_int_equal(x.report.bytes_cut, 0);
                for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
                    t = fx_topic(&x, ends[i].topic);
                    assert_non_null(t);
                    assert_int_equal(log_end(t->logs[0]), ends[i].end);
                    fx_read(&x, t->logs[0], log_start(t->logs[0]), NULL);
                }
                t = fx_topic(&x, "disk");
                assert_int_equal(fx_append(&x, t->logs[0], "ours", 2), 0);
                fx_sync(&x);
                assert_string_equal(fx_value(&x, t->logs[0], 36), "ours");
                assert_true(logdir_epoch(x.d) > 2);
            }
            fx_close(&x);
        }
        {
            char cmd[512];
            snprintf(cmd, sizeof cmd,
                     "for f in " VECTORS "/codec-0/*.log " VECTORS "/codec-0/*index; do cmp $f "
                     "%s/codec-0/$(basename $f) || exit 1; done",
                     x.dir);
            assert_int_equal(system(cmd), 0);
        }
        fx_deinit(&x);
    }
}

static void an_unclean_directory_is_cut_at_the_first_batch_that_is_not_whole(void **state)
{
    struct fx x;
    struct fx_topic *t;
    char path[512];
    struct buf b;

    (void)state;
    fx_init_real(&x);
    copy_in(&x, false);
    /* Without a recovery point everything is suspect. */
    fx_path(&x, path, "recovery-point-offset-checkpoint");
    fx_put(&x, path, slice_str("0\n0\n"));
    fx_path(&x, path, "codec-0/00000000000000000000.log");
    get(&x, path, &b);
    fx_put(&x, path, slice_sub(buf_slice(&b), 0, b.n - 3));
    fx_start(&x);
    t = fx_topic(&x, "codec");
    assert_int_equal(log_end(t->logs[0]), 20);
    assert_true(x.report.bytes_cut > 0);
    fx_read(&x, t->logs[0], 0, NULL);
    assert_int_equal(fx_append(&x, t->logs[0], "new", 1), 0);
    fx_sync(&x);
    assert_string_equal(fx_value(&x, t->logs[0], 20), "new");
    fx_close(&x);
    buf_deinit(&b);
    fx_deinit(&x);
}

static void damage_below_the_checkpoint_is_found_by_the_dump(void **state)
{
    struct fx x;
    struct fx_topic *t;
    char path[512];
    struct err e = {0};
    struct buf b;
    int lines = 0;

    (void)state;
    fx_init_real(&x);
    fx_start(&x);
    t = fx_create(&x, "a", 1, 0);
    for (int i = 0; i < 20; i++)
        fx_append(&x, t->logs[0], "value", 3);
    fx_sync(&x);
    fx_close(&x);
    fx_path(&x, path, "journal/checkpoint");
    assert_int_equal(log_dump(x.env, path, true, count_line, &lines, &e), 0);
    assert_int_equal(lines, 3);
    fx_path(&x, path, "journal/00000001");
    assert_int_equal(log_dump(x.env, path, true, count_line, &lines, &e), 0);
    fx_path(&x, path, "a-0/00000000000000000000.log");
    lines = 0;
    assert_int_equal(log_dump(x.env, path, true, count_line, &lines, &e), 0);
    assert_int_equal(lines, 81);
    get(&x, path, &b);
    for (size_t i = 0; i < b.n; i += 7) {
        unsigned char was = b.p[i];
        size_t in_batch = i % (b.n / 20);
        if (in_batch < 8 || (in_batch >= 12 && in_batch < 16))
            continue; /* offset and leader epoch are outside the checksum */
        b.p[i] ^= 8;
        fx_put(&x, path, buf_slice(&b));
        memset(&e, 0, sizeof e);
        assert_int_equal(log_dump(x.env, path, false, count_line, &lines, &e), -ERR_CORRUPT);
        assert_non_null(strstr(e.text, "a-0/00000000000000000000.log"));
        assert_non_null(strstr(e.text, "position"));
        b.p[i] = was;
    }
    buf_deinit(&b);
    fx_deinit(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_file_of_kafka_is_dumped),
        cmocka_unit_test(indexes_made_again_are_kafkas),
        cmocka_unit_test(kafkas_directory_is_taken_over_as_it_stands),
        cmocka_unit_test(an_unclean_directory_is_cut_at_the_first_batch_that_is_not_whole),
        cmocka_unit_test(damage_below_the_checkpoint_is_found_by_the_dump),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

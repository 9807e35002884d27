/* tests/runtime/state/test_store.c - the contract of store.h, on LMDB and in memory alike. */
#include "support_store.h"
#include "base/rng.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static struct bench bench;

static int open_lmdb(void **state)
{
    bench_open(&bench, true, NULL);
    *state = &bench;
    return 0;
}

static int open_mem(void **state)
{
    bench_open(&bench, false, NULL);
    *state = &bench;
    return 0;
}

static int close_bench(void **state)
{
    bench_close(&bench);
    return 0;
}

static void a_new_store_is_empty(void **state)
{
    struct bench *b = *state;

    assert_int_equal(b->store->meta.commit, 0);
    assert_int_equal(b->store->meta.n_stores, 0);
    assert_true(b->store->meta.stream_time == -1);
    assert_string_equal(bench_get(b, 0, "k"), "-");
    assert_string_equal(bench_range(b, 0, NULL, NULL, false), "");
    assert_string_equal(bench_range(b, 0, NULL, NULL, true), "");
}

static void a_commit_is_all_there_and_outlives_the_store(void **state)
{
    struct bench *b = *state;

    bench_put(b, 0, "k", "1");
    bench_put(b, 1, "k", "2");
    bench_put(b, 2, "gone", NULL);
    b->store->meta.stream_time = 77;
    assert_int_equal(bench_commit(b), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(b->store->meta.commit, 1);
        assert_int_equal(b->store->meta.stream_time, 77);
        assert_string_equal(bench_get(b, 0, "k"), "1");
        assert_string_equal(bench_get(b, 1, "k"), "2");
        assert_string_equal(bench_get(b, 2, "k"), "-");
        assert_string_equal(bench_get(b, 2, "gone"), "-");
        bench_reopen(b);
    }
}

static void deletes_and_empty_values_are_kept_apart(void **state)
{
    struct bench *b = *state;
    struct slice v;

    bench_put(b, 0, "empty", "");
    bench_put(b, 0, "full", "x");
    assert_int_equal(bench_commit(b), 0);
    bench_put(b, 0, "full", NULL);
    assert_int_equal(bench_commit(b), 0);
    assert_int_equal(b->store->vt->get(b->store, 0, slice_str("empty"), &v), 1);
    assert_int_equal(v.n, 0);
    assert_non_null(v.p);
    assert_string_equal(bench_get(b, 0, "full"), "-");
    assert_string_equal(bench_range(b, 0, NULL, NULL, false), "empty=");
}

static void what_was_undone_is_not_committed(void **state)
{
    struct bench *b = *state;

    bench_put(b, 0, "stays", "1");
    overlay_mark(&b->overlays[0]);
    bench_put(b, 0, "undone", "2");
    overlay_undo(&b->overlays[0]);
    assert_int_equal(bench_commit(b), 0);
    assert_string_equal(bench_range(b, 0, NULL, NULL, false), "stays=1");
}

static void ranges_have_bounds_and_directions(void **state)
{
    static const struct {
        const char *from, *to, *up, *down;
    } cases[] = {
        {NULL, NULL, "a=1 b=2 bb=3 c=4", "c=4 bb=3 b=2 a=1"},
        {"b", NULL, "b=2 bb=3 c=4", "c=4 bb=3 b=2"},
        {NULL, "bb", "a=1 b=2", "b=2 a=1"},
        {"b", "c", "b=2 bb=3", "bb=3 b=2"},
        {"aa", "bz", "b=2 bb=3", "bb=3 b=2"},
        {"b", "b", "", ""},
        {"c", "a", "", ""},
        {"d", NULL, "", ""},
        {NULL, "a", "", ""},
        {"", NULL, "a=1 b=2 bb=3 c=4", "c=4 bb=3 b=2 a=1"},
        {NULL, "", "", ""},
        {"", "", "", ""},
        {"0", "z", "a=1 b=2 bb=3 c=4", "c=4 bb=3 b=2 a=1"},
    };
    struct bench *b = *state;

    bench_put(b, 0, "bb", "3");
    bench_put(b, 0, "a", "1");
    bench_put(b, 0, "c", "4");
    bench_put(b, 0, "b", "2");
    assert_int_equal(bench_commit(b), 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_string_equal(bench_range(b, 0, cases[i].from, cases[i].to, false), cases[i].up);
        assert_string_equal(bench_range(b, 0, cases[i].from, cases[i].to, true), cases[i].down);
    }
}

/* A job may ask for any bound, also one longer than a key can be. */
static void long_bounds_are_only_bounds(void **state)
{
    struct bench *b = *state;
    char longer[700];

    memset(longer, 'b', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    bench_put(b, 0, "a", "1");
    bench_put(b, 0, "b", "2");
    bench_put(b, 0, "c", "3");
    assert_int_equal(bench_commit(b), 0);
    assert_string_equal(bench_range(b, 0, longer, NULL, false), "c=3");
    assert_string_equal(bench_range(b, 0, NULL, longer, false), "a=1 b=2");
    assert_string_equal(bench_range(b, 0, NULL, longer, true), "b=2 a=1");
    assert_string_equal(bench_range(b, 0, longer, NULL, true), "c=3");
    assert_string_equal(bench_get(b, 0, longer), "-");
}

static void a_range_is_as_of_its_start(void **state)
{
    struct bench *b = *state;
    struct store_iter *it, *down;
    struct slice k, v;

    bench_put(b, 0, "a", "1");
    bench_put(b, 0, "b", "2");
    assert_int_equal(bench_commit(b), 0);
    assert_int_equal(b->store->vt->range(b->store, 0, SLICE_NULL, SLICE_NULL, false, &it), 0);
    assert_int_equal(b->store->vt->range(b->store, 0, SLICE_NULL, SLICE_NULL, true, &down), 0);
    assert_int_equal(it->next(it, &k, &v), 1);
    bench_put(b, 0, "b", "changed");
    bench_put(b, 0, "a", NULL);
    bench_put(b, 0, "c", "new");
    assert_int_equal(bench_commit(b), 0);
    assert_string_equal(bench_rest(it), "b=2");
    assert_string_equal(bench_rest(down), "b=2 a=1");
    assert_string_equal(bench_range(b, 0, NULL, NULL, false), "b=changed c=new");
}

/* The commit runs elsewhere and may be done any moment: the loop sees none of it or all. */
static void a_read_during_a_commit_sees_none_of_it_or_all(void **state)
{
    struct bench *b = *state;
    char key[8];

    for (int round = 1; round <= 2; round++) {
        for (int k = 0; k < 200; k++) {
            snprintf(key, sizeof key, "k%d", k);
            bench_put(b, 0, key, round == 1 ? "1" : "2");
        }
        if (round == 1)
            assert_int_equal(bench_commit(b), 0);
    }
    bench_begin(b);
    for (int i = 0; i < 20; i++) {
        const char *got = bench_range(b, 0, NULL, NULL, false);
        assert_true(!strstr(got, "=1") || !strstr(got, "=2"));
    }
    assert_int_equal(bench_wait(b), 0);
    overlay_clear(&b->overlays[0]);
    assert_string_equal(bench_get(b, 0, "k7"), "2");
}

static void a_commit_on_another_number_is_refused_whole(void **state)
{
    struct bench *b = *state;

    bench_put(b, 0, "k", "1");
    assert_int_equal(bench_commit(b), 0);
    for (int off = -1; off <= 1; off += 2) {
        b->store->meta.commit += (uint64_t)off;
        bench_put(b, 0, "k", "wrong");
        bench_put(b, 1, "other", "wrong");
        assert_int_equal(bench_commit(b), -ERR_STATE);
        b->store->meta.commit -= (uint64_t)off;
        assert_string_equal(bench_get(b, 0, "k"), "1");
        assert_string_equal(bench_get(b, 1, "other"), "-");
    }
    bench_put(b, 0, "k", "2");
    assert_int_equal(bench_commit(b), 0);
    bench_reopen(b);
    assert_int_equal(b->store->meta.commit, 2);
    assert_string_equal(bench_get(b, 0, "k"), "2");
}

static void bulk_appends_in_order_and_drops_tombstones(void **state)
{
    struct bench *b = *state;
    char key[16];

    b->commit.bulk = true;
    for (int i = 0; i < 3000; i++) {
        snprintf(key, sizeof key, "%04d", i * 7 % 3000);
        bench_put(b, 0, key, i % 100 ? "v" : NULL);
    }
    assert_int_equal(bench_commit(b), 0);
    b->commit.bulk = false;
    assert_string_equal(bench_get(b, 0, "0001"), "v");
    assert_string_equal(bench_get(b, 0, "0000"), "-");
    assert_string_equal(bench_range(b, 0, "2998", NULL, false), "2998=v 2999=v");
    bench_put(b, 0, "0000", "there");
    assert_int_equal(bench_commit(b), 0);
    assert_string_equal(bench_range(b, 0, NULL, "0002", false), "0000=there 0001=v");
}

static void what_is_discarded_is_gone(void **state)
{
    struct bench *b = *state;
    struct err e = {0};

    bench_put(b, 0, "k", "1");
    b->commit.sync = true;
    assert_int_equal(bench_commit(b), 0);
    b->store->vt->close(b->store);
    assert_int_equal(b->driver->discard(b->driver, b->env, b->path, &e), 0);
    assert_int_equal(b->driver->discard(b->driver, b->env, b->path, &e), 0); /* nothing there */
    assert_int_equal(b->driver->open(b->driver, b->env, b->path,
                                     (const char *const[]){"a", "b", "c"}, 3, &b->store, &e),
                     0);
    assert_int_equal(b->store->meta.commit, 0);
    assert_string_equal(bench_get(b, 0, "k"), "-");
}

static void a_second_open_is_refused(void **state)
{
    struct bench *b = *state;
    struct task_store *second = NULL;
    struct err e = {0};
    const char *const names[] = {"a", "b", "c"};

    assert_int_equal(b->driver->open(b->driver, b->env, b->path, names, 3, &second, &e), -ERR_BUSY);
    assert_non_null(strstr(e.text, b->path));
    assert_int_equal(b->driver->discard(b->driver, b->env, b->path, &e), -ERR_BUSY);
    bench_put(b, 0, "k", "1"); /* the first is unharmed */
    assert_int_equal(bench_commit(b), 0);
    bench_reopen(b); /* and a closed one may be opened again */
    assert_string_equal(bench_get(b, 0, "k"), "1");
}

/* ---- against a model ---- */

enum { KEYS = 60 };
struct model {
    int64_t v[KEYS]; /* -1: not there */
};

static void draw_writes(struct bench *b, struct model *m, uint64_t rng[4])
{
    int n = (int)rng_below(rng, 30);

    for (int i = 0; i < n; i++) {
        int k = (int)rng_below(rng, KEYS);
        char key[16], value[32];
        m->v[k] = rng_below(rng, 3) ? (int64_t)rng_below(rng, 1000000) : -1;
        snprintf(key, sizeof key, "%02d", k);
        snprintf(value, sizeof value, "%lld", (long long)m->v[k]);
        bench_put(b, 1, key, m->v[k] >= 0 ? value : NULL);
    }
}

static void compare_range(struct bench *b, const struct model *m, int from, int to, bool reverse)
{
    char want[4096], a[16], z[16];
    size_t n = 0;

    want[0] = 0;
    for (int i = from; i < to; i++) {
        int k = reverse ? to - 1 - (i - from) : i;
        if (m->v[k] >= 0)
            n += (size_t)snprintf(want + n, sizeof want - n, "%s%02d=%lld", n ? " " : "", k,
                                  (long long)m->v[k]);
    }
    snprintf(a, sizeof a, "%02d", from);
    snprintf(z, sizeof z, "%02d", to);
    assert_string_equal(bench_range(b, 1, a, z, reverse), want);
}

static void a_random_walk_is_as_the_model(void **state)
{
    struct bench *b = *state;
    struct model m, before;
    uint64_t rng[4];

    rng_seed(rng, 21);
    for (int k = 0; k < KEYS; k++)
        m.v[k] = -1;
    for (int i = 0; i < 400; i++) {
        int from = (int)rng_below(rng, KEYS), to = (int)rng_below(rng, KEYS + 1);
        before = m;
        draw_writes(b, &m, rng);
        if (rng_below(rng, 5) == 0) { /* a commit that another came before */
            b->store->meta.commit--;
            assert_int_equal(bench_commit(b), -ERR_STATE);
            b->store->meta.commit++;
            m = before;
        } else
            assert_int_equal(bench_commit(b), 0);
        if (rng_below(rng, 20) == 0)
            bench_reopen(b);
        compare_range(b, &m, from, to, rng_below(rng, 2));
        compare_range(b, &m, 0, KEYS, rng_below(rng, 2));
    }
}

/* ---- LMDB alone ---- */

static void another_process_may_read_an_open_store(void **state)
{
    struct bench *b = *state;
    pid_t pid;
    int status;

    bench_put(b, 0, "k", "1");
    assert_int_equal(bench_commit(b), 0);
    pid = fork();
    if (pid == 0) {
        const char *const names[] = {"a", "not made"};
        struct task_store *s = NULL;
        struct err e = {0};
        struct slice v;
        int code = 0;
        /* LMDB's locks are the process's: what the child inherited it must not use */
        if (store_lmdb_open_ro(b->path, names, 2, &s, &e))
            _exit(10);
        if (s->meta.commit != 1 || !store_lmdb_has(s, 0) || store_lmdb_has(s, 1))
            code |= 1;
        if (s->vt->get(s, 0, slice_str("k"), &v) != 1 || v.n != 1 || v.p[0] != '1')
            code |= 2;
        if (s->vt->get(s, 1, slice_str("k"), &v) != 0)
            code |= 4;
        s->vt->close(s);
        _exit(code);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    bench_put(b, 0, "k", "2");
    assert_int_equal(bench_commit(b), 0);
    assert_string_equal(bench_get(b, 0, "k"), "2");
}

static void rewrite(struct bench *b, int times)
{
    static char value[50000];

    memset(value, 'v', sizeof value - 1);
    for (int i = 0; i < times; i++) {
        bench_put(b, 0, "k", value);
        assert_int_equal(bench_commit(b), 0);
    }
}

static int64_t file_size(struct bench *b)
{
    char path[300];
    struct stat st;

    snprintf(path, sizeof path, "%s/data.mdb", b->path);
    assert_int_equal(stat(path, &st), 0);
    return st.st_size;
}

/* `once state dump`, killed: what it looked at must not be kept for ever. */
static void a_killed_reader_does_not_make_the_file_grow(void **state)
{
    struct bench *b = *state;
    int64_t size;
    pid_t pid;
    int status;

    rewrite(b, 3);
    pid = fork();
    if (pid == 0) {
        const char *const names[] = {"a"};
        struct task_store *s = NULL;
        struct store_iter *it;
        struct err e = {0};
        if (store_lmdb_open_ro(b->path, names, 1, &s, &e) == 0 &&
            s->vt->range(s, 0, SLICE_NULL, SLICE_NULL, false, &it) == 0)
            kill(getpid(), SIGKILL);
        _exit(1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    size = file_size(b);
    rewrite(b, 20);
    assert_true(file_size(b) > size + 500000); /* so it would go on */
    b->commit.sync = true;
    rewrite(b, 1);
    b->commit.sync = false;
    size = file_size(b);
    rewrite(b, 100);
    assert_true(file_size(b) <= size + 200000);
}

static void a_file_that_is_no_store_is_corrupt(void **state)
{
    struct bench *b = *state;
    const char *const names[] = {"a", "b", "c"};
    struct task_store *s = NULL;
    struct err e = {0};
    char path[300];
    FILE *f;

    b->store->vt->close(b->store);
    snprintf(path, sizeof path, "%s/data.mdb", b->path);
    f = fopen(path, "wb");
    assert_non_null(f);
    for (int i = 0; i < 20000; i++)
        fputc(i * 31 % 251, f);
    fclose(f);
    assert_int_equal(b->driver->open(b->driver, b->env, b->path, names, 3, &s, &e), -ERR_CORRUPT);
    assert_int_equal(b->driver->discard(b->driver, b->env, b->path, &e), 0);
    assert_int_equal(b->driver->open(b->driver, b->env, b->path, names, 3, &b->store, &e), 0);
    assert_int_equal(b->store->meta.commit, 0);
}

static void a_file_that_was_cut_is_corrupt_and_no_other(void **state)
{
    struct bench *b = *state;
    const char *const names[] = {"a", "b", "c"};
    static char value[9000];
    struct task_store *s = NULL;
    struct err e = {0};
    char path[300], key[20];
    struct stat st;

    snprintf(path, sizeof path, "%s/data.mdb", b->path);
    memset(value, 'v', sizeof value - 1);
    for (int i = 0; i < 60; i++) { /* pages at the end come and go */
        for (int k = 0; k < 20; k++) {
            snprintf(key, sizeof key, "%d", (i * 7 + k * 13) % 100);
            value[(i * 997 + k * 83) % 8999] = 0;
            bench_put(b, k % 3, key, (i + k) % 3 ? value : NULL);
            memset(value, 'v', sizeof value - 1);
        }
        assert_int_equal(bench_commit(b), 0);
        bench_reopen(b);
    }
    b->store->vt->close(b->store);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(truncate(path, st.st_size - 1), 0);
    assert_int_equal(b->driver->open(b->driver, b->env, b->path, names, 3, &s, &e), -ERR_CORRUPT);
    assert_non_null(strstr(e.text, "data.mdb"));
    assert_int_equal(truncate(path, st.st_size / 2), 0);
    assert_int_equal(store_lmdb_open_ro(b->path, names, 3, &s, &e), -ERR_CORRUPT);
    assert_int_equal(b->driver->discard(b->driver, b->env, b->path, &e), 0);
    assert_int_equal(b->driver->open(b->driver, b->env, b->path, names, 3, &b->store, &e), 0);
}

static void a_value_too_large_for_a_record_is_told(void **state)
{
    struct bench *b = *state;
    char key[600];

    memset(key, 'k', sizeof key - 1);
    key[sizeof key - 1] = 0;
    bench_put(b, 0, "a", "1");
    bench_put(b, 0, key, "1");
    assert_int_equal(bench_commit(b), -ERR_TOO_BIG);
    assert_string_equal(bench_get(b, 0, "a"), "-");
    bench_put(b, 0, "a", "1");
    assert_int_equal(bench_commit(b), 0);
}

static void a_full_disk_is_an_error_and_it_goes_on_later(void **state)
{
    struct bench b;
    char dir[] = "/tmp/once-full-XXXXXX", filler[100];
    static char big[64 * 1024];
    int rc = 0, n = 0;
    FILE *f;

    assert_non_null(mkdtemp(dir));
    if (mount("tmpfs", dir, "tmpfs", 0, "size=2m") != 0) {
        rmdir(dir);
        print_message("# skipped: no file system can be mounted here\n");
        skip();
    }
    memset(big, 'x', sizeof big - 1);
    bench_open(&b, true, dir);
    bench_put(&b, 0, "kept", "1");
    assert_int_equal(bench_commit(&b), 0);
    snprintf(filler, sizeof filler, "%s/filler", dir);
    f = fopen(filler, "wb");
    assert_non_null(f);
    while (fwrite(big, 1, 4096, f) == 4096 && ++n < 200) /* 800 KiB go to somebody else */
        ;
    fclose(f);
    for (n = 0; n < 100 && !rc; n++) {
        char key[16];
        snprintf(key, sizeof key, "%d", n);
        bench_put(&b, 1, key, big);
        rc = bench_commit(&b);
    }
    assert_int_equal(rc, -ERR_NO_SPACE);
    assert_true(n > 1);
    assert_string_equal(bench_get(&b, 0, "kept"), "1");
    assert_int_equal(b.store->meta.commit, (uint64_t)n); /* all before the one that failed */
    assert_int_equal(unlink(filler), 0);
    bench_put(&b, 0, "later", "2");
    rc = bench_commit(&b);
    if (rc) { /* LMDB may want to be opened anew */
        bench_reopen(&b);
        bench_put(&b, 0, "later", "2");
        rc = bench_commit(&b);
    }
    assert_int_equal(rc, 0);
    assert_string_equal(bench_range(&b, 0, NULL, NULL, false), "kept=1 later=2");
    bench_close(&b);
    assert_int_equal(umount(dir), 0);
    rmdir(dir);
}

/* What LMDB does to its files: d a page, m the page that makes the others count, M the same written
 * through, S a sync. These stand before the C library's. */
static char writes[4096];
static size_t n_writes;
static bool sync_fails;

static void note(char c)
{
    if (n_writes + 1 < sizeof writes)
        writes[n_writes++] = c;
}

static void note_write(int fd, off_t at)
{
    if (at >= 2 * sysconf(_SC_PAGESIZE))
        note('d');
    else
        note(fcntl(fd, F_GETFL) & O_DSYNC ? 'M' : 'm');
}

ssize_t pwrite(int fd, const void *p, size_t n, off_t at)
{
    note_write(fd, at);
    return syscall(SYS_pwrite64, fd, p, n, at);
}

ssize_t pwritev(int fd, const struct iovec *v, int n, off_t at)
{
    note_write(fd, at);
    return syscall(SYS_pwritev, fd, v, n, (long)at, 0L);
}

int fdatasync(int fd)
{
    note('S');
    if (!sync_fails)
        return (int)syscall(SYS_fdatasync, fd);
    errno = EIO;
    return -1;
}

static const char *writes_of_commit(struct bench *b, bool sync)
{
    n_writes = 0;
    memset(writes, 0, sizeof writes);
    b->commit.sync = sync;
    bench_put(b, 0, "k", sync ? "synced" : "not synced");
    assert_int_equal(bench_commit(b), 0);
    return writes;
}

/* A mark of cleanness must not be on the disk before what it vouches for (EO-52, EO-58). */
static void a_synced_commit_has_its_pages_on_disk_before_they_count(void **state)
{
    struct bench *b = *state;

    for (int i = 0; i < 2; i++) {
        const char *w = writes_of_commit(b, false);
        assert_null(strchr(w, 'S'));
        assert_non_null(strchr(w, 'm'));
        w = writes_of_commit(b, true);
        assert_null(strchr(w, 'm'));
        assert_non_null(strchr(w, 'S'));
        assert_non_null(strchr(w, 'M'));
        assert_true(strrchr(w, 'd') < strchr(w, 'S'));
        assert_true(strchr(w, 'S') < strchr(w, 'M'));
    }
}

static void a_failed_sync_is_told_and_commits_nothing(void **state)
{
    struct bench *b = *state;

    bench_put(b, 0, "k", "1");
    assert_int_equal(bench_commit(b), 0);
    sync_fails = true;
    b->commit.sync = true;
    bench_put(b, 0, "k", "2");
    assert_int_equal(bench_commit(b), -ERR_IO);
    sync_fails = false;
    assert_string_equal(bench_get(b, 0, "k"), "1");
    assert_int_equal(b->store->meta.commit, 1);
}

/* ---- the memory store alone ---- */

static void a_power_cut_goes_back_to_the_last_sync(void **state)
{
    struct bench *b = *state;

    b->commit.sync = true;
    bench_put(b, 0, "k", "synced");
    assert_int_equal(bench_commit(b), 0);
    b->commit.sync = false;
    bench_put(b, 0, "k", "not synced");
    assert_int_equal(bench_commit(b), 0);
    store_mem_power_cut(b->driver, "/elsewhere", false);
    bench_reopen(b); /* a crash of the process takes nothing */
    assert_string_equal(bench_get(b, 0, "k"), "not synced");
    b->store->vt->close(b->store);
    store_mem_power_cut(b->driver, b->dir, false);
    assert_int_equal(b->driver->open(b->driver, b->env, b->path,
                                     (const char *const[]){"a", "b", "c"}, 3, &b->store, NULL),
                     0);
    assert_string_equal(bench_get(b, 0, "k"), "synced");
    assert_int_equal(b->store->meta.commit, 1);
    b->store->vt->close(b->store);
    store_mem_power_cut(b->driver, b->dir, true);
    assert_int_equal(b->driver->open(b->driver, b->env, b->path,
                                     (const char *const[]){"a", "b", "c"}, 3, &b->store, NULL),
                     0);
    assert_string_equal(bench_get(b, 0, "k"), "-");
}

#define BOTH(f)                                                                                    \
    {#f " (lmdb)", f, open_lmdb, close_bench, NULL},                                               \
    {                                                                                              \
#f " (memory)", f, open_mem, close_bench, NULL                                             \
    }
#define LMDB_ONLY(f)                                                                               \
    {                                                                                              \
#f, f, open_lmdb, close_bench, NULL                                                        \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(a_new_store_is_empty),
        BOTH(a_commit_is_all_there_and_outlives_the_store),
        BOTH(deletes_and_empty_values_are_kept_apart),
        BOTH(what_was_undone_is_not_committed),
        BOTH(ranges_have_bounds_and_directions),
        BOTH(long_bounds_are_only_bounds),
        BOTH(a_range_is_as_of_its_start),
        LMDB_ONLY(a_read_during_a_commit_sees_none_of_it_or_all),
        BOTH(a_commit_on_another_number_is_refused_whole),
        BOTH(bulk_appends_in_order_and_drops_tombstones),
        BOTH(what_is_discarded_is_gone),
        BOTH(a_second_open_is_refused),
        BOTH(a_random_walk_is_as_the_model),
        LMDB_ONLY(another_process_may_read_an_open_store),
        LMDB_ONLY(a_killed_reader_does_not_make_the_file_grow),
        LMDB_ONLY(a_file_that_is_no_store_is_corrupt),
        LMDB_ONLY(a_file_that_was_cut_is_corrupt_and_no_other),
        LMDB_ONLY(a_value_too_large_for_a_record_is_told),
        LMDB_ONLY(a_synced_commit_has_its_pages_on_disk_before_they_count),
        LMDB_ONLY(a_failed_sync_is_told_and_commits_nothing),
        cmocka_unit_test(a_full_disk_is_an_error_and_it_goes_on_later),
        cmocka_unit_test_setup_teardown(a_power_cut_goes_back_to_the_last_sync, open_mem,
                                        close_bench),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

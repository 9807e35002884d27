/* tests/runtime/client/test_aborted.c - the aborted filter against a naive model.
 *
 * A random log of interleaved transactions of several producers, some open at the end, some
 * aborted without records, plain batches between; read from every batch on, with the list that a
 * broker gives (entries that overlap, and spare ones), the filter must pass exactly the
 * committed and plain batches. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "runtime/client/aborted.h"

enum { N = 120, PRODUCERS = 5 };

struct item {
    size_t at, n; /* bytes */
    int64_t first, last;
    int producer; /* -1 plain */
    bool control, visible;
};
struct txn {
    int64_t first, end; /* end: offset of its marker, INT64_MAX if open */
    int producer;
    bool aborted;
};
static struct buf bytes;
static struct item items[N];
static struct txn txns[N];
static int n_txns;
static uint64_t seed;

static uint32_t draw(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

static void put_data(struct item *it, int64_t offset, int producer, bool transactional)
{
    struct batch_writer_options o = {.attributes = transactional ? BATCH_TRANSACTIONAL : 0,
                                     .base_offset = offset,
                                     .leader_epoch = 0};
    struct batch_writer w;
    int n = 1 + (int)draw(4);

    it->at = bytes.n;
    assert_int_equal(batch_writer_begin(&w, &bytes, &o), 0);
    for (int i = 0; i < n; i++)
        assert_int_equal(batch_writer_add(&w, 1, slice_str("k"), slice_str("v"), NULL, 0), 0);
    assert_int_equal(batch_writer_finish(&w, producer < 0 ? -1 : producer + 100, 0, 0), 0);
    it->n = bytes.n - it->at;
    it->first = offset;
    it->last = offset + n - 1;
    it->producer = producer;
}

static void put_marker(struct item *it, int64_t offset, int producer, bool commit)
{
    it->at = bytes.n;
    assert_int_equal(batch_control_marker(&bytes, producer + 100, 0, 0, commit, 1), 0);
    batch_set_offset(bytes.p + it->at, offset, 0);
    it->n = bytes.n - it->at;
    it->first = it->last = offset;
    it->producer = producer;
    it->control = true;
}

static void make_log(void)
{
    int open[PRODUCERS];
    int64_t offset = draw(3);

    buf_reset(&bytes);
    n_txns = 0;
    for (int p = 0; p < PRODUCERS; p++)
        open[p] = -1;
    for (int i = 0; i < N; i++) {
        int p = (int)draw(PRODUCERS), what = (int)draw(10);
        struct item *it = &items[i];
        *it = (struct item){0};
        if (what == 0) {
            /* Perhaps inside a transaction: brokers refuse that, readers pass it. */
            put_data(it, offset, draw(2) ? p : -1, false);
        } else if (what < 7) {
            if (open[p] < 0) {
                open[p] = n_txns;
                txns[n_txns++] = (struct txn){offset, INT64_MAX, p, false};
            }
            put_data(it, offset, p, true);
        } else {
            bool commit = draw(2);
            put_marker(it, offset, p, commit);
            if (open[p] >= 0) {
                txns[open[p]].end = offset;
                txns[open[p]].aborted = !commit;
            }
            open[p] = -1;
        }
        offset = it->last + 1 + (draw(6) == 0); /* compaction leaves gaps */
    }
    for (int i = 0; i < N; i++) {
        struct batch_info b;
        struct item *it = &items[i];
        assert_int_equal(batch_header(slice_of(bytes.p + it->at, it->n), &b), 0);
        it->visible = !it->control;
        for (int t = 0; t < n_txns; t++)
            if (batch_is_transactional(&b) && txns[t].producer == it->producer &&
                txns[t].first <= it->first && it->last < txns[t].end && txns[t].aborted)
                it->visible = false;
    }
}

static void check_from(struct aborted_filter *f, int from)
{
    aborted_filter_reset(f);
    /* Newest first, to prove that order does not matter. */
    for (int t = n_txns - 1; t >= 0; t--)
        if (txns[t].aborted && txns[t].end >= items[from].first)
            assert_int_equal(aborted_filter_add(f, txns[t].producer + 100, txns[t].first), 0);
    for (int i = from; i < N; i++) {
        struct slice batch = slice_of(bytes.p + items[i].at, items[i].n);
        struct batch_info b;
        assert_int_equal(batch_header(batch, &b), 0);
        assert_int_equal(aborted_filter_skip(f, &b, batch), !items[i].visible);
    }
}

static void passes_exactly_what_was_committed(void **state)
{
    struct aborted_filter f = {0};
    int hidden = 0, shown = 0;

    buf_init(&bytes, 1 << 20);
    for (seed = 1; seed < 2000000000000u; seed = seed * 3 + 1) {
        uint64_t keep = seed;
        make_log();
        for (int i = 0; i < N; i += 1 + (int)draw(5))
            check_from(&f, i);
        for (int i = 0; i < N; i++) {
            hidden += !items[i].visible && !items[i].control;
            shown += items[i].visible;
        }
        seed = keep;
    }
    assert_true(hidden > 100);
    assert_true(shown > 100);
    aborted_filter_deinit(&f);
    buf_deinit(&bytes);
}

static void a_commit_marker_of_the_producer_does_not_end_its_abort(void **state)
{
    struct aborted_filter f = {0};
    struct item a = {0}, m = {0}, b = {0};

    buf_init(&bytes, 1 << 20);
    seed = 7;
    put_data(&a, 10, 1, true);
    put_marker(&m, 20, 1, true);
    put_data(&b, 21, 1, true);
    assert_int_equal(aborted_filter_add(&f, 101, 10), 0);
    struct item *all[] = {&a, &m, &b};
    for (int i = 0; i < 3; i++) {
        struct slice s = slice_of(bytes.p + all[i]->at, all[i]->n);
        struct batch_info h;
        assert_int_equal(batch_header(s, &h), 0);
        assert_int_equal(aborted_filter_skip(&f, &h, s), 1);
    }
    aborted_filter_deinit(&f);
    buf_deinit(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_exactly_what_was_committed),
        cmocka_unit_test(a_commit_marker_of_the_producer_does_not_end_its_abort),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

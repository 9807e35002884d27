/* tests/runtime/sim/test_checks.c - every checker can fail: what a clean run left is spoiled in one
 * place, and the checker whose property that is must say so. */
#include "support_sim.h"
#include "base/bytes.h"
#include <stdlib.h>

#define OUT       "word-counts"
#define CHANGELOG "wordcount-counts-changelog"
#define WORDS     "wordcount-words-repartition"

/* A spoiler gets the evidence of a clean run, with a fresh verdict. */
typedef void spoiler(struct sim_evidence *x, struct model *replay);
struct spoiling {
    spoiler *run;
    bool called;
};

static void inspect(void *user, struct sim_evidence *x, struct model *replay)
{
    struct spoiling *s = user;
    struct verdict *before = x->verdict, fresh = {0};

    assert_int_equal(verdict_total(before), 0);
    x->verdict = &fresh;
    s->run(x, replay);
    x->verdict = before;
    s->called = true;
}

static void spoil(spoiler *run)
{
    struct spoiling s = {run, false};
    struct sim_result r;
    struct bench b;

    bench_open(&b, "examples/wordcount/wordcount.lua", "examples/wordcount/alice.txt", 30);
    b.o.faults = 0;
    b.o.inspect = inspect;
    b.o.user = &s;
    assert_int_equal(sim_run_seed(&b.o, &b.prepared, 3, &r), 0);
    assert_true(s.called);
    bench_close(&b);
}

/* ---- helpers ---- */

static struct disk_log *log_of(struct sim_evidence *x, const char *topic)
{
    struct disk_log *l = disk_logs_find(x->logs, slice_str(topic), 0);

    assert_non_null(l);
    assert_true(l->n_records > 2);
    return l;
}

static void drop_record(struct disk_log *l, uint32_t i)
{
    memmove(&l->records[i], &l->records[i + 1], (l->n_records - i - 1) * sizeof *l->records);
    l->n_records--;
}

/* The first record from `from` on that is data, and no marker. */
static uint32_t data_at(const struct disk_log *l, uint32_t from)
{
    while (from < l->n_records && !disk_committed(l, &l->records[from]))
        from++;
    assert_true(from < l->n_records);
    return from;
}

static void compare_output(struct sim_evidence *x)
{
    struct model again = {0};

    assert_true(check_output(x, &again));
    model_deinit(&again);
}

static void only(const struct sim_evidence *x, enum violation kind)
{
    assert_true(x->verdict->n[kind] > 0);
    assert_int_equal(verdict_total(x->verdict), x->verdict->n[kind]);
}

/* ---- outputs ---- */

static void without_one_output(struct sim_evidence *x, struct model *replay)
{
    struct disk_log *l = log_of(x, OUT);

    drop_record(l, data_at(l, 1));
    compare_output(x);
    only(x, VIOLATION_LOST);
    assert_int_equal(x->verdict->n[VIOLATION_LOST], 1);
}
static void a_lost_output_is_found(void **state)
{
    spoil(without_one_output);
}

static void with_one_twice(struct sim_evidence *x, struct model *replay)
{
    struct disk_log *l = log_of(x, OUT);
    uint32_t a = data_at(l, 0), b = data_at(l, a + 1);

    l->records[b].key = l->records[a].key;
    l->records[b].value = l->records[a].value;
    l->records[b].timestamp = l->records[a].timestamp;
    compare_output(x);
    assert_int_equal(x->verdict->n[VIOLATION_DUPLICATED], 1);
    assert_int_equal(x->verdict->n[VIOLATION_LOST], 1);
}
static void a_duplicate_output_is_found(void **state)
{
    spoil(with_one_twice);
}

static void two_of_a_key_swapped(struct sim_evidence *x, struct model *replay)
{
    struct disk_log *l = log_of(x, OUT);
    struct slice value;

    for (uint32_t i = 0; i < l->n_records; i++)
        for (uint32_t k = i + 1; k < l->n_records; k++) {
            int64_t time = l->records[i].timestamp;
            if (!disk_committed(l, &l->records[i]) || !disk_committed(l, &l->records[k]) ||
                !slice_eq(l->records[i].key, l->records[k].key))
                continue;
            value = l->records[i].value;
            l->records[i].value = l->records[k].value;
            l->records[k].value = value;
            l->records[i].timestamp = l->records[k].timestamp;
            l->records[k].timestamp = time;
            compare_output(x);
            only(x, VIOLATION_REORDERED);
            return;
        }
    fail_msg("no key comes twice");
}
static void swapped_outputs_are_found(void **state)
{
    spoil(two_of_a_key_swapped);
}

static void another_value(struct sim_evidence *x, struct model *replay)
{
    struct disk_log *l = log_of(x, OUT);

    l->records[data_at(l, 0)].value = slice_str("999");
    compare_output(x);
    assert_int_equal(x->verdict->n[VIOLATION_OTHER], 1);
    assert_int_equal(x->verdict->n[VIOLATION_LOST], 1);
}
static void a_wrong_output_is_found(void **state)
{
    spoil(another_value);
}

/* ---- logs and transactions ---- */

static void a_hole(struct sim_evidence *x, struct model *replay)
{
    struct disk_log *l = log_of(x, "lines");

    for (uint32_t i = 1; i < l->n_batches; i++) {
        l->batches[i].base++;
        l->batches[i].last++;
    }
    check_log(x);
    only(x, VIOLATION_LOST);
}
static void a_gap_in_offsets_is_found(void **state)
{
    spoil(a_hole);
}

static void a_sequence_more(struct sim_evidence *x, struct model *replay)
{
    struct disk_log *l = log_of(x, WORDS);

    l->batches[l->records[data_at(l, 0)].batch].sequence++;
    check_log(x);
    assert_true(x->verdict->n[VIOLATION_OTHER] > 0);
}
static void a_sequence_out_of_place_is_found(void **state)
{
    spoil(a_sequence_more);
}

static void an_old_epoch(struct sim_evidence *x, struct model *replay)
{
    struct disk_log *l = log_of(x, WORDS);

    for (uint32_t i = 0; i < l->n_batches; i++)
        l->batches[i].epoch = (int16_t)(i ? 1 : 2);
    check_log(x);
    assert_true(x->verdict->n[VIOLATION_OTHER] > 0);
}
static void an_epoch_that_goes_back_is_found(void **state)
{
    spoil(an_old_epoch);
}

static uint32_t marker_of(const struct disk_log *l)
{
    uint32_t i = 0;

    while (i < l->n_batches && !l->batches[i].control)
        i++;
    assert_true(i < l->n_batches);
    return i;
}

static void an_open_transaction(struct sim_evidence *x, struct model *replay)
{
    struct disk_log *l = log_of(x, OUT);
    uint32_t i = 0;

    while (l->batches[i].fate != FATE_COMMITTED)
        i++;
    l->batches[i].fate = FATE_OPEN;
    check_log(x);
    only(x, VIOLATION_OTHER);
}
static void an_undecided_transaction_is_found(void **state)
{
    spoil(an_open_transaction);
}

static void the_other_decision(struct sim_evidence *x, struct model *replay)
{
    struct disk_log *l = log_of(x, OUT);
    struct disk_batch *b = &l->batches[marker_of(l)];

    b->commit = !b->commit;
    check_txn(x);
    only(x, VIOLATION_OTHER);
    assert_int_equal(x->verdict->n[VIOLATION_OTHER], 1);
}
static void a_marker_against_the_decision_is_found(void **state)
{
    spoil(the_other_decision);
}

static void a_marker_less(struct sim_evidence *x, struct model *replay)
{
    struct disk_log *l = log_of(x, OUT);

    l->batches[marker_of(l)].control = false;
    check_txn(x);
    assert_int_equal(x->verdict->n[VIOLATION_LOST], 1);
}
static void a_missing_marker_is_found(void **state)
{
    spoil(a_marker_less);
}

static void a_marker_more(struct sim_evidence *x, struct model *replay)
{
    struct disk_log *l = log_of(x, "lines");

    l->batches[0].control = true;
    check_txn(x);
    only(x, VIOLATION_OTHER);
}
static void a_marker_without_decision_is_found(void **state)
{
    spoil(a_marker_more);
}

/* ---- input ---- */

static void without_one_input(struct sim_evidence *x, struct model *replay)
{
    struct disk_log *l = log_of(x, "lines");

    drop_record(l, data_at(l, 1));
    check_input(x);
    only(x, VIOLATION_LOST);
}
static void a_lost_acknowledged_record_is_found(void **state)
{
    spoil(without_one_input);
}

static void an_input_twice(struct sim_evidence *x, struct model *replay)
{
    struct disk_log *l = log_of(x, "lines");
    uint32_t a = data_at(l, 0), b = data_at(l, a + 1);
    int64_t offset = l->records[b].offset;

    l->records[b] = l->records[a];
    l->records[b].offset = offset;
    check_input(x);
    assert_int_equal(x->verdict->n[VIOLATION_DUPLICATED], 1);
    assert_int_equal(x->verdict->n[VIOLATION_LOST], 1);
}
static void a_record_fed_twice_is_found(void **state)
{
    spoil(an_input_twice);
}

static void inputs_swapped(struct sim_evidence *x, struct model *replay)
{
    struct disk_log *l = log_of(x, "lines");
    uint32_t a = data_at(l, 0), b = data_at(l, a + 1);
    struct disk_record r = l->records[a];

    l->records[a] = l->records[b];
    l->records[b] = r;
    check_input(x);
    assert_true(x->verdict->n[VIOLATION_REORDERED] > 0);
}
static void swapped_input_is_found(void **state)
{
    spoil(inputs_swapped);
}

/* ---- the watcher ---- */

static void seen_otherwise(struct sim_evidence *x, struct model *replay)
{
    struct watch_topic *t = watcher_topic(x->watcher, slice_str(OUT));
    int64_t o = 0;

    while (!t->parts[0].hash[o])
        o++;
    t->parts[0].hash[o]++;
    check_seen(x);
    only(x, VIOLATION_OTHER);
}
static void another_record_than_was_seen_is_found(void **state)
{
    spoil(seen_otherwise);
}

static void seen_and_gone(struct sim_evidence *x, struct model *replay)
{
    struct disk_log *l = log_of(x, OUT);

    l->n_records -= 2;
    check_seen(x);
    only(x, VIOLATION_LOST);
}
static void a_seen_record_that_is_gone_is_found(void **state)
{
    spoil(seen_and_gone);
}

static void seen_and_aborted(struct sim_evidence *x, struct model *replay)
{
    struct disk_log *l = log_of(x, OUT);

    l->batches[l->records[data_at(l, 0)].batch].fate = FATE_ABORTED;
    check_seen(x);
    only(x, VIOLATION_OTHER);
}
static void an_aborted_record_shown_as_committed_is_found(void **state)
{
    spoil(seen_and_aborted);
}

static void gone_past(struct sim_evidence *x, struct model *replay)
{
    struct disk_log *l = log_of(x, OUT);
    struct watch_topic *t = watcher_topic(x->watcher, slice_str(OUT));

    t->parts[0].committed[l->records[data_at(l, 0)].offset] = 0;
    check_seen(x);
    only(x, VIOLATION_LOST);
}
static void a_committed_record_nobody_saw_is_found(void **state)
{
    spoil(gone_past);
}

/* ---- offsets and stores ---- */

static void more_input(struct sim_evidence *x, struct model *replay)
{
    struct disk_log *l = log_of(x, "lines");

    uint32_t i = l->n_records - 1;

    while (!disk_committed(l, &l->records[i]))
        i--;
    l->records[i].offset += 10;
    l->end += 10;
    check_offsets(x);
    only(x, VIOLATION_OTHER);
}
static void an_input_not_committed_to_its_end_is_found(void **state)
{
    spoil(more_input);
}

static void another_store(struct sim_evidence *x, struct model *replay)
{
    for (uint32_t i = 0; i < replay->n_tasks; i++)
        if (replay->tasks[i]->tables[0].n) {
            replay->tasks[i]->tables[0].v[0].value = slice_str("?");
            check_store(x, replay);
            /* the changelog and the worker's copy differ from it */
            assert_int_equal(x->verdict->n[VIOLATION_OTHER], 2);
            return;
        }
    fail_msg("no task has a store");
}
static void a_store_that_differs_is_found(void **state)
{
    spoil(another_store);
}

/* The last change of a key is another one. */
static void a_change_more(struct sim_evidence *x, struct model *replay)
{
    struct disk_log *l = log_of(x, CHANGELOG);
    uint32_t i = l->n_records - 1;

    while (!disk_committed(l, &l->records[i]))
        i--;
    l->records[i].value = slice_str("?");
    check_store(x, replay);
    only(x, VIOLATION_OTHER);
    assert_int_equal(x->verdict->n[VIOLATION_OTHER], 1);
}
static void a_changelog_that_differs_is_found(void **state)
{
    spoil(a_change_more);
}

/* ---- the answer by another road ---- */

/* Counts words in C: each count of each word has to come out once, in order. */
struct word {
    struct slice text;
    int64_t fed, seen;
};

static struct word *word_of(struct word *v, int *n, struct slice text)
{
    for (int i = 0; i < *n; i++)
        if (slice_eq(v[i].text, text))
            return &v[i];
    v[*n] = (struct word){text, 0, 0};
    return &v[(*n)++];
}

static bool is_letter(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '\'';
}

static void count_line(struct word *v, int *n, struct slice line, struct arena *a)
{
    for (size_t i = 0; i < line.n;) {
        size_t from = i, to;
        unsigned char *p;
        while (i < line.n && is_letter(line.p[i]))
            i++;
        to = i;
        while (from < to && line.p[from] == '\'')
            from++;
        while (to > from && line.p[to - 1] == '\'')
            to--;
        if (to > from) {
            p = arena_alloc(a, to - from);
            for (size_t k = from; k < to; k++)
                p[k - from] = line.p[k] == '\'' ? '\'' : line.p[k] | 0x20;
            word_of(v, n, slice_of(p, to - from))->fed++;
        }
        i += i == from;
        while (i < line.n && !is_letter(line.p[i]))
            i++;
    }
}

static void count_again(struct sim_evidence *x, struct model *replay)
{
    struct word *v = calloc(4096, sizeof *v);
    struct arena a;
    int n = 0;

    arena_init(&a, 1 << 20);
    for (uint32_t i = 0; i < x->n_input; i++)
        count_line(v, &n, x->input[i].value, &a);
    assert_true(n > 100);
    for (int32_t p = 0; p < 2; p++) {
        const struct disk_log *l = disk_logs_find(x->logs, slice_str(OUT), p);
        for (uint32_t i = 0; i < l->n_records; i++) {
            int64_t count;
            if (!disk_committed(l, &l->records[i]))
                continue;
            assert_int_equal(parse_i64(l->records[i].value, &count), 0);
            assert_int_equal(count, ++word_of(v, &n, l->records[i].key)->seen);
        }
    }
    for (int i = 0; i < n; i++)
        assert_int_equal(v[i].seen, v[i].fed);
    arena_deinit(&a);
    free(v);
}

static void a_run_gives_what_counting_in_c_gives(void **state)
{
    struct spoiling s = {count_again, false};
    struct sim_result r;
    struct bench b;

    bench_open(&b, "examples/wordcount/wordcount.lua", "examples/wordcount/alice.txt", 100);
    b.o.inspect = inspect;
    b.o.user = &s;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        s.called = false;
        assert_int_equal(sim_run_seed(&b.o, &b.prepared, seed, &r), 0);
        assert_true(s.called);
    }
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lost_output_is_found),
        cmocka_unit_test(a_duplicate_output_is_found),
        cmocka_unit_test(swapped_outputs_are_found),
        cmocka_unit_test(a_wrong_output_is_found),
        cmocka_unit_test(a_gap_in_offsets_is_found),
        cmocka_unit_test(a_sequence_out_of_place_is_found),
        cmocka_unit_test(an_epoch_that_goes_back_is_found),
        cmocka_unit_test(an_undecided_transaction_is_found),
        cmocka_unit_test(a_marker_against_the_decision_is_found),
        cmocka_unit_test(a_missing_marker_is_found),
        cmocka_unit_test(a_marker_without_decision_is_found),
        cmocka_unit_test(a_lost_acknowledged_record_is_found),
        cmocka_unit_test(a_record_fed_twice_is_found),
        cmocka_unit_test(swapped_input_is_found),
        cmocka_unit_test(another_record_than_was_seen_is_found),
        cmocka_unit_test(a_seen_record_that_is_gone_is_found),
        cmocka_unit_test(an_aborted_record_shown_as_committed_is_found),
        cmocka_unit_test(a_committed_record_nobody_saw_is_found),
        cmocka_unit_test(an_input_not_committed_to_its_end_is_found),
        cmocka_unit_test(a_store_that_differs_is_found),
        cmocka_unit_test(a_changelog_that_differs_is_found),
        cmocka_unit_test(a_run_gives_what_counting_in_c_gives),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

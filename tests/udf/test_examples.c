/* tests/udf/test_examples.c - the jobs of examples/ on their own input give their expected answers,
 * and what the two forms of the word count put out is the same. */
#include "tests/udf/support_host.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS_MAX = 4 };

/* All groups of a job on one partition; what goes to a # topic is fed on after each record. */
struct line {
    struct udf_job *job;
    struct udf_task *tasks[GROUPS_MAX];
    struct host hosts[GROUPS_MAX];
    struct buf out; /* "key TAB value LF" of all other topics */
    size_t n_out;
    int64_t offset;
};

static void line_open(struct line *l, const char *path)
{
    memset(l, 0, sizeof *l);
    l->job = host_job_file(path);
    assert_true(l->job->n_groups <= GROUPS_MAX);
    buf_init(&l->out, 64 << 20);
    for (int i = 0; i < l->job->n_groups; i++) {
        host_init(&l->hosts[i]);
        l->tasks[i] = host_task(l->job, i, &l->hosts[i]);
    }
}

static void line_close(struct line *l)
{
    for (int i = 0; i < l->job->n_groups; i++) {
        udf_task_close(l->tasks[i]);
        host_deinit(&l->hosts[i]);
    }
    udf_job_free(l->job);
    buf_deinit(&l->out);
}

static int group_of(const struct line *l, struct slice topic)
{
    for (int i = 0; i < l->job->n_groups; i++)
        for (int k = 0; k < l->job->groups[i].n_topics; k++)
            if (slice_eq(l->job->groups[i].topics[k], topic))
                return i;
    fail();
    return -1;
}

static void line_feed(struct line *l, struct slice topic, struct slice key, struct slice value)
{
    struct udf_record r = {
        .topic = topic, .offset = l->offset++, .time = 1, .key = key, .value = value};
    int g = group_of(l, topic);
    struct udf_failure f;
    struct host_out *outs;
    size_t n;

    if (udf_task_process(l->tasks[g], &r, 0, &f) != UDF_OK) {
        print_error("%.*s\n", SLICE_FMT(f.message));
        fail();
    }
    outs = l->hosts[g].outs;
    n = l->hosts[g].n_outs;
    l->hosts[g].outs = NULL;
    l->hosts[g].n_outs = 0;
    for (size_t i = 0; i < n; i++) {
        struct slice k = outs[i].key ? slice_of(outs[i].key, outs[i].key_n) : SLICE_NULL;
        struct slice v = outs[i].value ? slice_of(outs[i].value, outs[i].value_n) : SLICE_NULL;
        if (outs[i].topic[0] == '#') {
            line_feed(l, slice_str(outs[i].topic), k, v);
        } else {
            buf_printf(&l->out, "%.*s\t%.*s\n", SLICE_FMT(k), SLICE_FMT(v));
            l->n_out++;
        }
        free(outs[i].topic);
        free(outs[i].key);
        free(outs[i].value);
        free(outs[i].headers);
    }
    free(outs);
}

static void line_feed_file(struct line *l, const char *topic, const char *path, bool header)
{
    size_t n;
    char *text = host_read(path, &n), *p = text;

    for (int i = 0; p < text + n; i++) {
        char *end = strchr(p, '\n');
        size_t len = end ? (size_t)(end - p) : strlen(p);
        if (!(header && i == 0))
            line_feed(l, slice_str(topic), SLICE_NULL, slice_of(p, len));
        p += len + 1;
    }
    free(text);
}

/* The store's entries, sorted by key since keys are strings, against the expected file. */
static void assert_store_is(struct line *l, const char *store, const char *path)
{
    int s = udf_job_store(l->job, slice_str(store));
    struct host_store *st;
    struct buf text;
    size_t n;
    char *expected = host_read(path, &n);

    assert_true(s >= 0);
    st = &l->hosts[l->job->stores[s].group].stores[s];
    buf_init(&text, 64 << 20);
    for (size_t i = 0; i < st->n; i++) {
        assert_int_equal(udf_key_text(slice_of(st->v[i].key, st->v[i].key_n), &text), 0);
        buf_put_u8(&text, '\t');
        assert_int_equal(udf_value_text(slice_of(st->v[i].value, st->v[i].value_n), &text), 0);
        buf_put_u8(&text, '\n');
    }
    buf_put_u8(&text, 0);
    assert_string_equal((const char *)text.p, expected);
    buf_deinit(&text);
    free(expected);
}

static void wordcount_counts_the_book_in_both_forms(void **state)
{
    struct line core, flow;

    line_open(&core, "examples/wordcount/wordcount.lua");
    line_open(&flow, "examples/wordcount/flow.lua");
    assert_int_equal(flow.job->n_groups, 2);
    assert_true(slice_eq_str(flow.job->internals[0].topic, "#counts"));
    line_feed_file(&core, "lines", "examples/wordcount/alice.txt", false);
    line_feed_file(&flow, "lines", "examples/wordcount/alice.txt", false);
    assert_store_is(&core, "counts", "examples/wordcount/expected.tsv");
    assert_store_is(&flow, "counts", "examples/wordcount/expected.tsv");
    assert_true(slice_eq(buf_slice(&core.out), buf_slice(&flow.out)));
    assert_true(core.n_out > 20000); /* every step of every count */
    line_close(&core);
    line_close(&flow);
}

static void transfer_balances_add_up(void **state)
{
    struct line l;

    line_open(&l, "examples/payments/transfer.lua");
    line_feed_file(&l, "payments", "examples/payments/payments.csv", true);
    assert_store_is(&l, "balances", "examples/payments/transfer.expected.tsv");
    assert_int_equal(l.n_out, 2 * 4052);
    line_close(&l);
}

static void dedup_counts_a_transaction_once(void **state)
{
    struct line l;

    line_open(&l, "examples/payments/dedup.lua");
    line_feed_file(&l, "payments", "examples/payments/payments.csv", true);
    line_feed_file(&l, "payments", "examples/payments/payments.csv", true);
    assert_store_is(&l, "totals", "examples/payments/dedup.expected.tsv");
    assert_int_equal(l.n_out, 4052);
    line_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wordcount_counts_the_book_in_both_forms),
        cmocka_unit_test(transfer_balances_add_up),
        cmocka_unit_test(dedup_counts_a_transaction_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* tests/broker/log/test_torn.c - damage of every kind at every byte: what a power cut may do to the
 * last round is forgotten, what a disk did to anything before it is said and not cut away.
 *
 * One run makes three small rounds and one of three blocks; each case alters the files and
 * starts. */
#include "tests/broker/log/support_logdir.h"
#include "broker/log/journal_format.h"
#include <stdio.h>
#include <stdlib.h>

struct torn {
    struct fx x;
    struct fx_image image;
    uint64_t round_at[8], round_bytes[8]; /* of each round in the journal's file */
    int n_rounds;
    int64_t ends[8][2]; /* of both partitions when round i was the last */
};

static void find_rounds(struct torn *t)
{
    struct buf *j = fx_image_file(&t->image, "journal/00000001");
    uint64_t at = 0;
    struct round_head h;

    t->n_rounds = 0;
    while (at + JOURNAL_BLOCK <= j->n &&
           round_head_parse(slice_sub(buf_slice(j), at, JOURNAL_BLOCK), &h) == 0) {
        t->round_at[t->n_rounds] = at;
        t->round_bytes[t->n_rounds++] = h.bytes;
        at += h.bytes;
    }
}

static void note_ends(struct torn *t, int round)
{
    struct fx_topic *a = fx_topic(&t->x, "a");
    for (int p = 0; p < 2; p++)
        t->ends[round][p] = log_durable(a->logs[p]);
}

/* Rounds: 0 metadata, 1, 2 small, 3 of three blocks. with_segments: the segments have them too. */
static void setup(struct torn *t, bool with_segments)
{
    struct fx *x = &t->x;
    struct fx_topic *a;

    memset(t, 0, sizeof *t);
    fx_init_sim(x, 7);
    x->quiet = true;
    x->o.journal_file_bytes = 64 << 10;
    fx_start(x);
    a = fx_create(x, "a", 2, 0);
    fx_sync(x);
    note_ends(t, 0);
    for (int i = 1; i < 4; i++) {
        fx_append(x, a->logs[0], i == 1 ? "one" : "two", 1);
        fx_append(x, a->logs[1], "other", i);
        if (i == 3)
            fx_append_big(x, a->logs[0], 9000, 1700000000000);
        fx_sync(x);
        note_ends(t, i);
        if (with_segments || i < 3)
            fx_pass(x, ENV_MS(400)); /* no checkpoint yet */
    }
    fx_crash(x);
    fx_image_take(x, &t->image);
    find_rounds(t);
    assert_int_equal(t->n_rounds, 4);
    assert_int_equal(t->round_bytes[1], 4096);
    assert_int_equal(t->round_bytes[3], 12288);
}

static void teardown(struct torn *t)
{
    fx_image_free(&t->image);
    fx_deinit(&t->x);
}

static void expect_rounds(struct torn *t, int last)
{
    struct fx *x = &t->x;
    struct fx_topic *a;

    fx_start(x);
    a = fx_topic(x, "a");
    assert_non_null(a);
    for (int p = 0; p < 2; p++) {
        assert_int_equal(log_durable(a->logs[p]), t->ends[last][p]);
        assert_int_equal(log_end(a->logs[p]), t->ends[last][p]);
        fx_read(x, a->logs[p], 0, NULL);
    }
    if (last >= 1)
        assert_string_equal(fx_value(x, a->logs[0], 0), "one");
    fx_crash(x);
}

/* Not opened, the file and a position named, nothing touched. */
static void expect_corruption(struct torn *t, const char *file)
{
    struct fx *x = &t->x;
    struct fx_image *damaged = calloc(1, sizeof *damaged);

    fx_image_take(x, damaged);
    assert_int_equal(fx_open(x), -ERR_CORRUPT);
    if (!strstr(x->err.text, file) || !strstr(x->err.text, "position "))
        fail_msg("says only: %s", x->err.text);
    assert_true(fx_image_same(x, damaged));
    fx_image_free(damaged);
    free(damaged);
    sim_crash(x->node);
    while (!x->down)
        sim_step(&x->sim);
    x->down = false;
    sim_start(x->node);
}

/* The journal's file, changed. */
static void put_journal(struct torn *t, const struct buf *j)
{
    char path[512];
    fx_image_put(&t->x, &t->image);
    fx_path(&t->x, path, "journal/00000001");
    fx_put(&t->x, path, buf_slice(j));
}

static void a_round_torn_at_any_byte_leaves_nothing_of_itself(void **state)
{
    struct torn t;
    struct buf *j, saved;

    (void)state;
    setup(&t, false);
    j = fx_image_file(&t.image, "journal/00000001");
    buf_init(&saved, 1 << 20);
    for (uint64_t cut = 0; cut < t.round_bytes[3]; cut++) {
        uint64_t at = t.round_at[3] + cut;
        bool zeros = true;
        buf_reset(&saved);
        buf_put_slice(&saved, buf_slice(j));
        for (uint64_t i = at; i < t.round_at[3] + t.round_bytes[3]; i++)
            zeros = zeros && saved.p[i] == 0;
        memset(saved.p + at, 0, (size_t)(t.round_at[3] + t.round_bytes[3] - at));
        put_journal(&t, &saved);
        expect_rounds(&t, zeros ? 3 : 2); /* lost padding is nothing lost */
    }
    /* The file itself may end inside the round. */
    for (uint64_t cut = 0; cut < t.round_bytes[3]; cut += 509) {
        buf_reset(&saved);
        buf_put_slice(&saved, slice_sub(buf_slice(j), 0, (size_t)(t.round_at[3] + cut)));
        put_journal(&t, &saved);
        expect_rounds(&t, 2);
    }
    buf_deinit(&saved);
    teardown(&t);
}

static void a_bit_flipped_in_an_earlier_round_is_corruption(void **state)
{
    struct torn t;
    struct buf *j, copy;

    (void)state;
    setup(&t, false);
    j = fx_image_file(&t.image, "journal/00000001");
    buf_init(&copy, 1 << 20);
    /* The round before the torn one, whose first block is whole, and the one before that. */
    for (int round = 1; round <= 2; round++)
        for (uint64_t i = 0; i < t.round_bytes[round]; i += i < 400 ? 1 : 11) {
            buf_reset(&copy);
            buf_put_slice(&copy, buf_slice(j));
            memset(copy.p + t.round_at[3] + 4096, 0, 8192);
            copy.p[t.round_at[round] + i] ^= (unsigned char)(1 << (i % 8));
            put_journal(&t, &copy);
            expect_corruption(&t, "journal/00000001");
        }
    /* So the torn one's first block is the witness: without it, the segments are. */
    buf_reset(&copy);
    buf_put_slice(&copy, buf_slice(j));
    memset(copy.p + t.round_at[3], 0, 12288);
    copy.p[t.round_at[2] + 300] ^= 4;
    put_journal(&t, &copy);
    expect_corruption(&t, "journal/00000001");
    buf_deinit(&copy);
    teardown(&t);
}

static void a_bit_flipped_in_the_last_round_is_corruption_if_a_segment_has_it(void **state)
{
    struct torn t;
    struct buf *j, copy;

    (void)state;
    setup(&t, true);
    j = fx_image_file(&t.image, "journal/00000001");
    buf_init(&copy, 1 << 20);
    for (uint64_t i = 0; i < t.round_bytes[3]; i += 61) {
        buf_reset(&copy);
        buf_put_slice(&copy, buf_slice(j));
        copy.p[t.round_at[3] + i] ^= 1;
        put_journal(&t, &copy);
        expect_corruption(&t, ".log");
    }
    buf_deinit(&copy);
    teardown(&t);
}

static void a_segment_torn_behind_the_journal_is_written_again(void **state)
{
    struct torn t;
    struct buf *s;
    char path[512];

    (void)state;
    setup(&t, true);
    s = fx_image_file(&t.image, "/data/a-0/00000000000000000000.log");
    for (size_t cut = 0; cut < s->n; cut++) {
        fx_image_put(&t.x, &t.image);
        fx_path(&t.x, path, "a-0/00000000000000000000.log");
        fx_put(&t.x, path, slice_sub(buf_slice(s), 0, cut));
        expect_rounds(&t, 3);
    }
    teardown(&t);
}

static void a_bit_flipped_in_a_segment_is_corruption(void **state)
{
    struct torn t;
    struct buf *s, copy;
    char path[512];

    (void)state;
    setup(&t, true);
    buf_init(&copy, 1 << 20);
    s = fx_image_file(&t.image, "/data/a-0/00000000000000000000.log");
    for (size_t i = 0; i < s->n; i += i < 300 ? 1 : 41) {
        bool rest_is_zero = true;
        buf_reset(&copy);
        buf_put_slice(&copy, buf_slice(s));
        copy.p[i] ^= 0x10;
        for (size_t k = i; k < copy.n; k++)
            rest_is_zero = rest_is_zero && !copy.p[k];
        assert_false(rest_is_zero);
        fx_image_put(&t.x, &t.image);
        fx_path(&t.x, path, "a-0/00000000000000000000.log");
        fx_put(&t.x, path, buf_slice(&copy));
        expect_corruption(&t, "a-0/00000000000000000000.log");
    }
    /* After a power cut it may be the write that was under way: the journal mends it. */
    fx_power_cut(&t.x);
    fx_path(&t.x, path, "a-0");
    (void)t.x.env->vt->mkdir(t.x.env, path); /* the cut may have taken the folders */
    fx_path(&t.x, path, "a-1");
    (void)t.x.env->vt->mkdir(t.x.env, path);
    fx_path(&t.x, path, "__once_metadata-0");
    (void)t.x.env->vt->mkdir(t.x.env, path);
    fx_image_put(&t.x, &t.image);
    fx_path(&t.x, path, "a-0/00000000000000000000.log");
    fx_put(&t.x, path, buf_slice(&copy));
    expect_rounds(&t, 3);
    assert_true(t.x.report.mended > 0);
    buf_deinit(&copy);
    teardown(&t);
}

static void a_missing_checkpoint_or_segment_is_corruption(void **state)
{
    struct torn t;
    struct buf *c;
    struct buf copy;
    char path[512];

    (void)state;
    setup(&t, true);
    buf_init(&copy, 1 << 20);
    c = fx_image_file(&t.image, "journal/checkpoint");
    fx_path(&t.x, path, "journal/checkpoint");
    for (size_t i = 0; i < c->n; i += 3) {
        buf_reset(&copy);
        buf_put_slice(&copy, buf_slice(c));
        copy.p[i] ^= 1;
        fx_put(&t.x, path, buf_slice(&copy));
        expect_corruption(&t, "journal/checkpoint");
    }
    assert_int_equal(t.x.env->vt->remove_wait(t.x.env, path), 0);
    assert_int_equal(fx_open(&t.x), -ERR_CORRUPT);
    assert_non_null(strstr(t.x.err.text, "checkpoint"));
    buf_deinit(&copy);
    teardown(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_round_torn_at_any_byte_leaves_nothing_of_itself),
        cmocka_unit_test(a_bit_flipped_in_an_earlier_round_is_corruption),
        cmocka_unit_test(a_bit_flipped_in_the_last_round_is_corruption_if_a_segment_has_it),
        cmocka_unit_test(a_segment_torn_behind_the_journal_is_written_again),
        cmocka_unit_test(a_bit_flipped_in_a_segment_is_corruption),
        cmocka_unit_test(a_missing_checkpoint_or_segment_is_corruption),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* tests/runtime/state/test_overlay.c - the write-back overlay, also against a naive model. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/rng.h"
#include "runtime/state/overlay.h"
#include <stdio.h>
#include <stdlib.h>

enum { KEYS = 120, VALUE_MAX = 300, STEPS = 60000 };

static void put(struct overlay *o, const char *key, const char *value)
{
    assert_int_equal(overlay_put(o, slice_str(key), slice_str(value)), 0);
}

static const char *get(const struct overlay *o, const char *key)
{
    static char text[64];
    struct slice v;

    switch (overlay_get(o, slice_str(key), &v)) {
    case OVERLAY_ABSENT: return "absent";
    case OVERLAY_DELETED: return "deleted";
    case OVERLAY_VALUE: snprintf(text, sizeof text, "=%.*s", SLICE_FMT(v)); return text;
    }
    return "?";
}

static void a_key_has_its_last_value(void **state)
{
    struct overlay o;

    overlay_init(&o);
    assert_string_equal(get(&o, "k"), "absent");
    assert_true(overlay_empty(&o));
    put(&o, "k", "1");
    put(&o, "k", "a longer one than before");
    assert_string_equal(get(&o, "k"), "=a longer one than before");
    put(&o, "k", NULL);
    assert_string_equal(get(&o, "k"), "deleted");
    put(&o, "k", "");
    assert_string_equal(get(&o, "k"), "=");
    put(&o, "", "of the empty key");
    assert_string_equal(get(&o, ""), "=of the empty key");
    assert_false(overlay_empty(&o));
    overlay_clear(&o);
    assert_string_equal(get(&o, "k"), "absent");
    assert_true(overlay_empty(&o));
    overlay_deinit(&o);
}

static void undo_brings_back_what_was(void **state)
{
    struct overlay o;

    overlay_init(&o);
    put(&o, "value", "v");
    put(&o, "deleted", NULL);
    overlay_mark(&o);
    put(&o, "value", NULL);
    put(&o, "value", "something much longer, in memory of its own");
    put(&o, "deleted", "x");
    put(&o, "new", "y");
    put(&o, "new", "z");
    overlay_undo(&o);
    assert_string_equal(get(&o, "value"), "=v");
    assert_string_equal(get(&o, "deleted"), "deleted");
    assert_string_equal(get(&o, "new"), "absent");
    put(&o, "new", "again");
    assert_string_equal(get(&o, "new"), "=again");
    overlay_deinit(&o);
}

static void undo_brings_back_an_empty_value(void **state)
{
    struct overlay o;

    overlay_init(&o);
    put(&o, "k", "");
    overlay_mark(&o);
    put(&o, "k", "x");
    overlay_undo(&o);
    assert_string_equal(get(&o, "k"), "=");
    overlay_deinit(&o);
}

static void what_is_kept_is_not_undone(void **state)
{
    struct overlay o;

    overlay_init(&o);
    overlay_mark(&o);
    put(&o, "a", "1");
    overlay_keep(&o);
    overlay_mark(&o);
    put(&o, "a", "2");
    overlay_undo(&o);
    assert_string_equal(get(&o, "a"), "=1");
    put(&o, "a", "3"); /* without a mark */
    overlay_mark(&o);
    overlay_undo(&o);
    assert_string_equal(get(&o, "a"), "=3");
    overlay_deinit(&o);
}

static void a_value_of_its_own_may_be_put(void **state)
{
    struct overlay o;
    struct slice v;

    overlay_init(&o);
    put(&o, "k", "abcdef");
    assert_int_equal(overlay_get(&o, slice_str("k"), &v), OVERLAY_VALUE);
    assert_int_equal(overlay_put(&o, slice_str("k"), slice_sub(v, 2, 3)), 0);
    assert_string_equal(get(&o, "k"), "=cde");
    overlay_deinit(&o);
}

/* ---- against a model ---- */

struct entry {
    int state; /* enum overlay_found */
    size_t n;
    unsigned char fill;
};
struct model {
    struct entry now[KEYS], marked[KEYS];
    bool marking;
};

static struct slice key_of(int k, char *text)
{
    /* lengths and prefixes that differ, so that order and hash both work */
    int n = snprintf(text, 32, "%.*s%d", k % 7, "key-key", k * 7919 % KEYS);
    return slice_of(text, (size_t)n);
}

static int by_key(const void *a, const void *b)
{
    char x[32], y[32];
    return slice_cmp(key_of(*(const int *)a, x), key_of(*(const int *)b, y));
}

static void compare(struct overlay *o, const struct model *m)
{
    int order[KEYS], n = 0;
    uint32_t got, at = 0;
    const uint32_t *sorted;

    for (int k = 0; k < KEYS; k++) {
        char text[32];
        struct slice v;
        int found = (int)overlay_get(o, key_of(k, text), &v);
        assert_int_equal(found, m->now[k].state);
        if (found == OVERLAY_VALUE) {
            assert_int_equal(v.n, m->now[k].n);
            for (size_t i = 0; i < v.n; i++)
                assert_int_equal(v.p[i], m->now[k].fill);
        }
        if (found != OVERLAY_ABSENT)
            order[n++] = k;
    }
    qsort(order, (size_t)n, sizeof order[0], by_key);
    sorted = overlay_sorted(o, &got);
    assert_non_null(sorted);
    for (uint32_t i = 0; i < got; i++) {
        char text[32];
        if (o->v[sorted[i]].gone)
            continue;
        assert_true((int)at < n);
        assert_true(slice_eq(o->v[sorted[i]].key, key_of(order[at], text)));
        at++;
    }
    assert_int_equal(at, n);
}

static void step(struct overlay *o, struct model *m, uint64_t rng[4])
{
    int k = (int)rng_below(rng, KEYS);
    struct entry e = {.state = OVERLAY_DELETED};
    unsigned char value[VALUE_MAX];
    char text[32];

    switch (rng_below(rng, 40)) {
    case 0:
        overlay_mark(o);
        memcpy(m->marked, m->now, sizeof m->now);
        m->marking = true;
        return;
    case 1:
        if (m->marking) {
            overlay_undo(o);
            memcpy(m->now, m->marked, sizeof m->now);
        }
        m->marking = false;
        return;
    case 2:
        overlay_keep(o);
        m->marking = false;
        return;
    case 3:
        if (rng_below(rng, 60) == 0) {
            overlay_clear(o);
            memset(m, 0, sizeof *m);
        }
        return;
    default: break;
    }
    if (rng_below(rng, 4)) {
        e = (struct entry){OVERLAY_VALUE, rng_below(rng, VALUE_MAX), (unsigned char)rng_next(rng)};
        if (rng_below(rng, 8) == 0)
            e.n = 0;
        memset(value, e.fill, e.n);
    }
    assert_int_equal(overlay_put(o, key_of(k, text),
                                 e.state == OVERLAY_VALUE ? slice_of(value, e.n) : SLICE_NULL),
                     0);
    m->now[k] = e;
}

static void a_random_walk_is_as_the_model(void **state)
{
    struct model m = {.marking = false};
    struct overlay o;
    uint64_t rng[4];

    rng_seed(rng, 11);
    overlay_init(&o);
    for (int i = 0; i < STEPS; i++) {
        step(&o, &m, rng);
        if (i % 97 == 0)
            compare(&o, &m);
    }
    overlay_deinit(&o);
}

static void many_keys_are_found_and_sorted(void **state)
{
    enum { MANY = 50000 };
    struct overlay o;
    uint32_t n;
    const uint32_t *order;

    overlay_init(&o);
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < MANY; i++) {
            unsigned char k[4];
            uint32_t x = i * 2654435761u;
            memcpy(k, &x, 4);
            assert_int_equal(overlay_put(&o, slice_of(k, 4), slice_of(&i, 4)), 0);
        }
        order = overlay_sorted(&o, &n);
        assert_int_equal(n, MANY);
        for (uint32_t i = 1; i < n; i++)
            assert_true(slice_cmp(o.v[order[i - 1]].key, o.v[order[i]].key) < 0);
        overlay_clear(&o); /* and the same again in the memory that was kept */
    }
    overlay_deinit(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_has_its_last_value),
        cmocka_unit_test(undo_brings_back_what_was),
        cmocka_unit_test(undo_brings_back_an_empty_value),
        cmocka_unit_test(what_is_kept_is_not_undone),
        cmocka_unit_test(a_value_of_its_own_may_be_put),
        cmocka_unit_test(a_random_walk_is_as_the_model),
        cmocka_unit_test(many_keys_are_found_and_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* tests/base/test_map.c - maps against a naive model: what is found, and in which order. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/map.h"
#include "base/rng.h"
#include <stdio.h>

enum { KEYS = 300 };

struct model { /* the keys in order of insertion */
    uint64_t keys[KEYS];
    uintptr_t values[KEYS];
    int n;
};

static int model_find(const struct model *m, uint64_t key)
{
    for (int i = 0; i < m->n; i++)
        if (m->keys[i] == key)
            return i;
    return -1;
}

static void model_del(struct model *m, int i)
{
    memmove(m->keys + i, m->keys + i + 1, (size_t)(m->n - i - 1) * sizeof *m->keys);
    memmove(m->values + i, m->values + i + 1, (size_t)(m->n - i - 1) * sizeof *m->values);
    m->n--;
}

static void assert_same(const struct idmap *map, const struct model *m)
{
    int i = 0;
    MAP_EACH (e, &map->m) {
        assert_true(i < m->n);
        assert_true(idmap_key(e) == m->keys[i]);
        assert_true((uintptr_t)e->value == m->values[i]);
        i++;
    }
    assert_int_equal(i, m->n);
    assert_int_equal(map->m.n, m->n);
}

static void a_random_walk_keeps_order_and_values(void **state)
{
    struct model m = {.n = 0};
    struct idmap map;
    uint64_t rng[4];

    rng_seed(rng, 7);
    idmap_init(&map);
    for (int step = 0; step < 20000; step++) {
        uint64_t key = rng_below(rng, KEYS) * 0x100000001u;
        int i = model_find(&m, key);
        uintptr_t v = (uintptr_t)step + 1;
        if (rng_below(rng, step / 4000 % 2 ? 3 : 2)) {
            assert_int_equal(idmap_put(&map, key, (void *)v), 0);
            if (i < 0) {
                i = m.n++;
                m.keys[i] = key;
            }
            m.values[i] = v;
        } else {
            assert_true((uintptr_t)idmap_del(&map, key) == (i < 0 ? 0 : m.values[i]));
            if (i >= 0)
                model_del(&m, i);
        }
        if (step % 97 == 0)
            assert_same(&map, &m);
        i = model_find(&m, key);
        assert_true((uintptr_t)idmap_get(&map, key) == (i < 0 ? 0 : m.values[i]));
    }
    assert_same(&map, &m);
    idmap_deinit(&map);
}

static void keys_are_copied_and_empty_ones_count(void **state)
{
    struct map m;
    char key[] = "abc";
    int one, two;

    map_init(&m);
    assert_null(map_get(&m, slice_str("abc")));
    assert_int_equal(map_put(&m, slice_str(key), &one), 0);
    assert_int_equal(map_put(&m, slice_str(""), &two), 0);
    key[0] = 'x';
    assert_ptr_equal(map_get(&m, slice_str("abc")), &one);
    assert_ptr_equal(map_get(&m, slice_str("")), &two);
    assert_null(map_get(&m, slice_str("ab")));
    assert_null(map_get(&m, slice_str("xbc")));
    assert_null(map_del(&m, slice_str("none")));
    map_deinit(&m);
}

static void removing_while_iterating_visits_the_rest(void **state)
{
    struct map m;
    char key[8], seen[64] = "";

    map_init(&m);
    for (int i = 0; i < 6; i++) {
        snprintf(key, sizeof key, "k%d", i);
        assert_int_equal(map_put(&m, slice_str(key), &m), 0);
    }
    MAP_EACH (e, &m) {
        strncat(seen, (const char *)e->key.p, e->key.n);
        if (e->key.p[1] % 2)
            map_del(&m, slice_str(e->key.p[1] == '1' ? "k1" : e->key.p[1] == '3' ? "k3" : "k5"));
    }
    assert_string_equal(seen, "k0k1k2k3k4k5");
    assert_int_equal(m.n, 3);
    map_deinit(&m);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_random_walk_keeps_order_and_values),
        cmocka_unit_test(keys_are_copied_and_empty_ones_count),
        cmocka_unit_test(removing_while_iterating_visits_the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

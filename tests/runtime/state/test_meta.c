/* tests/runtime/state/test_meta.c - the bytes of a store's meta: there and back, and every damage
 * seen. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/rng.h"
#include "runtime/state/store.h"
#include <stdio.h>
#include <stdlib.h>

static void fill(void *to, size_t n, uint64_t rng[4])
{
    unsigned char *p = to;
    for (size_t i = 0; i < n; i++)
        p[i] = (unsigned char)rng_next(rng);
}

static void draw(struct store_meta *m, uint64_t rng[4])
{
    memset(m, 0, sizeof *m);
    m->commit = rng_next(rng);
    m->stream_time = (int64_t)rng_next(rng);
    m->wall_ms = (int64_t)rng_next(rng);
    m->clean = rng_below(rng, 2);
    m->opened.device = rng_next(rng);
    m->opened.inode = rng_next(rng);
    m->opened.birth_ns = rng_next(rng);
    fill(m->opened.boot, sizeof m->opened.boot, rng);
    m->n_stores = (int32_t)rng_below(rng, STORES_MAX + 1);
    for (int i = 0; i < m->n_stores; i++) {
        struct store_changelog *c = &m->changelogs[i];
        fill(c->topic_id.b, sizeof c->topic_id.b, rng);
        c->position = (int64_t)rng_next(rng);
        c->leader_epoch = (int32_t)rng_next(rng);
        c->timestamp = (int64_t)rng_next(rng);
    }
    m->n_inputs = (int32_t)rng_below(rng, INPUTS_MAX + 1);
    for (int i = 0; i < m->n_inputs; i++) {
        struct store_input *in = &m->inputs[i];
        size_t n = rng_below(rng, TOPIC_NAME_MAX + 1);
        memset(in->topic, 'a' + i % 26, n);
        in->partition = (int32_t)rng_next(rng);
        in->offset = (int64_t)rng_next(rng);
    }
}

static void what_is_encoded_is_decoded(void **state)
{
    uint64_t rng[4];

    rng_seed(rng, 3);
    for (int i = 0; i < 300; i++) {
        struct store_meta m, back;
        struct buf b;

        draw(&m, rng);
        buf_init(&b, 1 << 20);
        assert_int_equal(store_meta_encode(&m, &b), 0);
        assert_int_equal(store_meta_decode(&back, buf_slice(&b)), 0);
        assert_memory_equal(&m, &back, sizeof m);
        buf_deinit(&b);
    }
}

/* A slice with nothing behind it, so that a read beyond is seen. */
static int decode_copy(struct slice s)
{
    struct store_meta m;
    unsigned char *p = malloc(s.n ? s.n : 1);
    int rc;

    assert_non_null(p);
    memcpy(p, s.p, s.n);
    rc = store_meta_decode(&m, slice_of(p, s.n));
    free(p);
    return rc;
}

static void truncated_or_garbled_at_any_byte_is_corrupt(void **state)
{
    uint64_t rng[4];
    struct store_meta m;
    struct buf b;

    rng_seed(rng, 5);
    draw(&m, rng);
    m.n_stores = 2;
    m.n_inputs = 2;
    buf_init(&b, 1 << 20);
    assert_int_equal(store_meta_encode(&m, &b), 0);
    for (size_t n = 0; n < b.n; n++)
        assert_int_equal(decode_copy(slice_of(b.p, n)), -ERR_CORRUPT);
    for (size_t i = 0; i < b.n; i++)
        for (int bit = 0; bit < 8; bit++) {
            b.p[i] ^= (unsigned char)(1 << bit);
            assert_int_equal(decode_copy(buf_slice(&b)), -ERR_CORRUPT);
            b.p[i] ^= (unsigned char)(1 << bit);
        }
    buf_put_u8(&b, 0);
    assert_int_equal(decode_copy(buf_slice(&b)), -ERR_CORRUPT);
    buf_deinit(&b);
}

/* The checksum is made to fit: what it guards is judged by itself. */
static void counts_beyond_the_limits_are_corrupt(void **state)
{
    static const int32_t wrong[] = {-1, INT32_MIN, INT32_MAX, 33, 1000};
    struct store_meta m = {.n_stores = 0, .n_inputs = 0};
    struct buf b;
    size_t at;

    buf_init(&b, 1 << 20);
    assert_int_equal(store_meta_encode(&m, &b), 0);
    at = b.n - 8; /* n_stores, n_inputs */
    for (int which = 0; which < 2; which++)
        for (int i = 0; i < 5; i++) {
            put_be32(b.p + at + 4 * (size_t)which, (uint32_t)wrong[i]);
            put_be32(b.p + 2, crc32c(0, b.p + 6, b.n - 6));
            assert_int_equal(decode_copy(buf_slice(&b)), -ERR_CORRUPT);
            put_be32(b.p + at + 4 * (size_t)which, 0);
        }
    put_be32(b.p + 2, crc32c(0, b.p + 6, b.n - 6));
    assert_int_equal(decode_copy(buf_slice(&b)), 0);
    buf_deinit(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_encoded_is_decoded),
        cmocka_unit_test(truncated_or_garbled_at_any_byte_is_corrupt),
        cmocka_unit_test(counts_beyond_the_limits_are_corrupt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

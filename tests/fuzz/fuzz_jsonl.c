/* tests/fuzz/fuzz_jsonl.c - a line for `once produce --format jsonl`: what can be read is, once
 * written as `once consume` does, read as the same record. */
#include "base/check.h"
#include "runtime/cli/jsonl.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void write_and_read(const struct jsonl_record *r)
{
    struct fetched f = {.topic = slice_str("t"),
                        .timestamp = r->time,
                        .key = r->key,
                        .value = r->value,
                        .headers = r->headers,
                        .n_headers = r->n_headers};
    struct jsonl_record again;
    struct arena a;
    struct buf b;
    struct err e = {0};

    buf_init(&b, 64 << 20);
    arena_init(&a, 256 << 20);
    CHECK(jsonl_write(&b, &f, NULL) == 0);
    CHECK(b.p[b.n - 1] == '\n');
    CHECK(memchr(b.p, '\n', b.n - 1) == NULL);
    CHECK(jsonl_read(slice_of(b.p, b.n - 1), &again, &a, &e) == 0);
    CHECK(slice_eq(again.key, r->key));
    CHECK(slice_eq(again.value, r->value));
    CHECK(again.time == r->time);
    CHECK(again.n_headers == r->n_headers);
    CHECK(again.headers.n == r->headers.n);
    CHECK(again.headers.n == 0 || slice_eq(again.headers, r->headers));
    arena_deinit(&a);
    buf_deinit(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    unsigned char *copy = malloc(n ? n : 1); /* its own, so that a read beyond is seen */
    struct jsonl_record r;
    struct arena a;
    struct err e = {0};

    CHECK(copy);
    if (n)
        memcpy(copy, data, n);
    arena_init(&a, 256 << 20);
    if (jsonl_read(slice_of(copy, n), &r, &a, &e) == 0) {
        if (r.time >= 0)
            write_and_read(&r);
    } else
        CHECK(e.text[0] != 0);
    arena_deinit(&a);
    free(copy);
    return 0;
}

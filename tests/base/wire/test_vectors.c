/* tests/base/wire/test_vectors.c - each captured request and response: decoded, compared, encoded
 * back, and cut at every length. */
#include "base/wire/messages.h"
#include "tests/base/wire/support_data.h"
#include "tests/base/wire/support_json.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct vector {
    int16_t key, version;
    bool request;
    struct slice header, body; /* JSON */
    struct buf frame;
};

static struct buf text, frame_buf, out;
static struct arena arena;

static int setup(void **state)
{
    (void)state;
    buf_init(&text, 1 << 24);
    buf_init(&frame_buf, 1 << 20);
    buf_init(&out, 1 << 22);
    arena_init(&arena, 1 << 24);
    data_read("tests/data/wire/rpc.jsonl", &text);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    buf_deinit(&text);
    buf_deinit(&frame_buf);
    buf_deinit(&out);
    arena_deinit(&arena);
    return 0;
}

static bool next_vector(struct slice *rest, struct vector *v)
{
    const unsigned char *end = rest->n ? memchr(rest->p, '\n', rest->n) : NULL;
    if (!end)
        return false;
    struct slice line = slice_of(rest->p, (size_t)(end - rest->p));
    struct slice decoded = json_get(line, "decoded");
    *rest = slice_sub(*rest, line.n + 1, rest->n);
    v->key = (int16_t)json_int(json_get(line, "key"));
    v->version = (int16_t)json_int(json_get(line, "version"));
    v->request = slice_eq_str(json_text(json_get(line, "kind")), "request");
    v->header = json_get(decoded, "header");
    v->body = json_get(decoded, "body");
    buf_reset(&frame_buf);
    data_unhex(json_text(json_get(line, "hex")), &frame_buf);
    v->frame = frame_buf;
    return true;
}

/* The version of the body; -1: a request that the codec does not know. */
static int16_t body_version(const struct vector *v)
{
    const struct wire_api *api = wire_api(v->key);
    if (v->version <= api->max)
        return v->version;
    return v->request ? -1 : 0;
}

static const struct wire_desc *body_desc(const struct vector *v)
{
    return v->request ? wire_api(v->key)->request : wire_api(v->key)->response;
}

/* Header into h or correlation, then the body into a message of the arena. */
static int decode(const struct vector *v, struct wire_in *in, struct request_header *h,
                  int32_t *correlation, void **body)
{
    int rc = v->request ? wire_request_header(h, in)
                        : wire_response_header(correlation, in, v->key, v->version);
    int16_t version = body_version(v);
    *body = NULL;
    if (rc || version < 0)
        return rc;
    *body = arena_alloc(&arena, body_desc(v)->size);
    return wire_decode(body_desc(v), *body, in, version);
}

static void assert_json(struct slice expected, const char *what)
{
    if (out.failed || !json_equal(expected, buf_slice(&out)))
        fail_msg("%s: expected %.*s, have %.*s", what, SLICE_FMT(expected),
                 SLICE_FMT(buf_slice(&out)));
}

static void check_dump(const struct vector *v, const struct request_header *h, int32_t correlation,
                       const void *body)
{
    const char *name = wire_api(v->key)->name;
    struct response_header rh = {correlation};
    buf_reset(&out);
    if (v->request)
        (void)request_header_dump(h, &out, wire_request_header_version(v->key, v->version));
    else
        (void)response_header_dump(&rh, &out, 0);
    assert_json(v->header, name);
    if (!body)
        return;
    buf_reset(&out);
    assert_int_equal(wire_dump(body_desc(v), body, &out, body_version(v)), 0);
    assert_json(v->body, name);
}

static void check_encode(const struct vector *v, const struct request_header *h,
                         int32_t correlation, const void *body)
{
    int16_t version = body_version(v);
    buf_reset(&out);
    assert_int_equal(v->request ? wire_request_header_put(&out, h)
                                : wire_response_header_put(&out, v->key, v->version, correlation),
                     0);
    size_t header = out.n;
    assert_int_equal(wire_encode(body_desc(v), body, &out, version), 0);
    assert_int_equal(wire_size(body_desc(v), body, version), out.n - header);
    assert_int_equal(out.n, v->frame.n);
    assert_memory_equal(out.p, v->frame.p, out.n);
}

static void each_vector_decodes_to_what_kafka_meant_and_encodes_to_its_bytes(void **state)
{
    (void)state;
    struct slice rest = buf_slice(&text);
    struct vector v;
    int n = 0;
    for (; next_vector(&rest, &v); n++) {
        struct wire_in in = {v.frame.p, v.frame.n, &arena};
        struct request_header h;
        int32_t correlation = 0;
        void *body;
        arena_reset(&arena);
        assert_non_null(wire_api(v.key));
        int rc = decode(&v, &in, &h, &correlation, &body);
        if (rc || (body && in.n))
            fail_msg("%s %d: %s, %zu bytes left", wire_api(v.key)->name, v.version, err_name(rc),
                     in.n);
        check_dump(&v, &h, correlation, body);
        if (body)
            check_encode(&v, &h, correlation, body);
    }
    assert_int_equal(n, 387);
    assert_int_equal(rest.n, 0);
}

static void each_vector_cut_at_any_length_is_an_error(void **state)
{
    (void)state;
    struct slice rest = buf_slice(&text);
    struct vector v;
    while (next_vector(&rest, &v)) {
        /* The body of a version that we do not know is not looked at, so not missed either. */
        for (size_t n = 0; body_version(&v) >= 0 && n < v.frame.n; n++) {
            struct request_header h;
            int32_t correlation;
            void *body;
            unsigned char *cut = malloc(n ? n : 1); /* its own, so that a read beyond is seen */
            memcpy(cut, v.frame.p, n);
            struct wire_in in = {cut, n, &arena};
            arena_reset(&arena);
            int rc = decode(&v, &in, &h, &correlation, &body);
            if (rc != -ERR_SHORT && rc != -ERR_INVALID)
                fail_msg("%s %d cut at %zu: %s", wire_api(v.key)->name, v.version, n, err_name(rc));
            free(cut);
        }
    }
}

static void every_api_and_version_is_covered_but_those_kafka_dropped(void **state)
{
    (void)state;
    struct slice rest = buf_slice(&text);
    bool seen[64][16][2] = {{{false}}};
    struct vector v;
    int n_apis, missing = 0;
    while (next_vector(&rest, &v))
        if (v.version < 16)
            seen[v.key][v.version][v.request] = true;
    const struct wire_api *api = wire_apis(&n_apis);
    for (int i = 0; i < n_apis; i++)
        for (int version = api[i].min; version <= api[i].max; version++)
            missing += !seen[api[i].key][version][0] + !seen[api[i].key][version][1];
    assert_int_equal(missing, 2 * (3 + 1)); /* Produce 0-2, DescribeConfigs 0 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_vector_decodes_to_what_kafka_meant_and_encodes_to_its_bytes),
        cmocka_unit_test(each_vector_cut_at_any_length_is_an_error),
        cmocka_unit_test(every_api_and_version_is_covered_but_those_kafka_dropped),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}

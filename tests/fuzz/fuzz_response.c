/* tests/fuzz/fuzz_response.c - responses as a client gets them, and the records of the internal
 * topics.
 *
 * Input: int16 selector, int16 version, then the bytes. A selector below 1000 is an API key; from
 * 1000 on the disk records, from 1100 on the metadata records. What decodes must encode, and then
 * keep its bytes. */
#include "base/check.h"
#include "base/wire/messages.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const struct wire_desc *const disk[] = {
    &transaction_log_key_desc,
    &transaction_log_value_desc,
    &offset_commit_key_desc,
    &offset_commit_value_desc,
    &group_metadata_key_desc,
    &group_metadata_value_desc,
    &control_record_type_key_desc,
    &end_txn_marker_desc,
    &consumer_protocol_subscription_desc,
    &consumer_protocol_assignment_desc,
};

static const struct wire_desc *select_desc(int16_t selector)
{
    const struct wire_api *api = wire_api(selector);
    if (api)
        return api->response;
    if (selector >= 1100)
        return wire_meta((int16_t)(selector - 1100));
    if (selector >= 1000 && (size_t)selector - 1000 < sizeof disk / sizeof *disk)
        return disk[selector - 1000];
    return NULL;
}

static void run(const struct wire_desc *d, int16_t version, struct wire_in in)
{
    struct buf one, two;
    void *m = arena_alloc(in.arena, d->size), *back = arena_alloc(in.arena, d->size);
    if (wire_decode(d, m, &in, version))
        return;
    buf_init(&one, 1 << 24);
    buf_init(&two, 1 << 24);
    CHECK(wire_encode(d, m, &one, version) == 0);
    in = (struct wire_in){one.p, one.n, in.arena};
    int rc = wire_decode(d, back, &in, version);
    CHECK(rc == 0 || rc == -ERR_TOO_BIG);
    if (rc == 0) {
        CHECK(in.n == 0);
        CHECK(wire_encode(d, back, &two, version) == 0);
        CHECK(slice_eq(buf_slice(&one), buf_slice(&two)));
    }
    buf_deinit(&one);
    buf_deinit(&two);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena arena;
    struct wire_in in = {data, n, &arena};
    int16_t selector, version;
    arena_init(&arena, 1 << 22);
    if (wire_get_i16(&in, &selector) == 0 && wire_get_i16(&in, &version) == 0) {
        const struct wire_desc *d = select_desc(selector);
        if (d)
            run(d, version, in);
    }
    arena_deinit(&arena);
    return 0;
}

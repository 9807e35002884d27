/* tests/fuzz/fuzz_request.c - a frame as a broker gets it: header, then the body by key and
 * version.
 *
 * What decodes must encode, and from then on keep its bytes. */
#include "base/check.h"
#include "base/wire/messages.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void again(const struct wire_desc *d, const struct buf *first, int16_t version,
                  struct arena *arena)
{
    struct wire_in in = {first->p, first->n, arena};
    struct buf second;
    void *m = arena_alloc(arena, d->size);
    if (!m)
        return;
    if (wire_decode(d, m, &in, version) == -ERR_TOO_BIG)
        return; /* the arena holds the first one too */
    CHECK(in.n == 0);
    buf_init(&second, 1 << 24);
    CHECK(wire_encode(d, m, &second, version) == 0);
    CHECK(slice_eq(buf_slice(first), buf_slice(&second)));
    CHECK(wire_size(d, m, version) == second.n);
    buf_reset(&second);
    CHECK(wire_dump(d, m, &second, version) == 0 || second.failed == -ERR_TOO_BIG);
    buf_deinit(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena arena;
    struct wire_in in = {data, n, &arena};
    struct request_header h;
    struct buf out;
    arena_init(&arena, 1 << 22);
    buf_init(&out, 1 << 24);
    if (wire_request_header(&h, &in) == 0) {
        const struct wire_api *api = wire_api(h.request_api_key);
        void *m = arena_alloc(&arena, api->request->size);
        CHECK(wire_request_header_put(&out, &h) == 0);
        buf_reset(&out);
        if (wire_decode(api->request, m, &in, h.request_api_version) == 0) {
            CHECK(wire_encode(api->request, m, &out, h.request_api_version) == 0);
            again(api->request, &out, h.request_api_version, &arena);
        }
    }
    buf_deinit(&out);
    arena_deinit(&arena);
    return 0;
}

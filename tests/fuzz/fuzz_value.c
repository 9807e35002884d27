/* tests/fuzz/fuzz_value.c - bytes of a store from a damaged changelog: keys and values are refused
 * or read, and what was read encodes to bytes that read the same. The first byte picks key or
 * value. */
#include "base/check.h"
#include "udf/lkey.h"
#include "udf/lvalue.h"
#include "udf/udf.h"
#include <lauxlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static int key_trip(lua_State *L, struct slice in, struct buf *bufs)
{
    const char *why;

    if (lkey_push(L, in, &bufs[0]))
        return 0;
    CHECK(udf_key_text(in, &bufs[3]) == 0);
    CHECK(lkey_put(L, -1, &bufs[1], &why) == 0);
    CHECK(lkey_push(L, buf_slice(&bufs[1]), &bufs[0]) == 0);
    CHECK(lkey_put(L, -1, &bufs[2], &why) == 0);
    CHECK(slice_eq(buf_slice(&bufs[1]), buf_slice(&bufs[2])));
    return 0;
}

static int value_trip(lua_State *L, struct slice in, struct buf *bufs)
{
    const char *why;

    udf_value_text(in, &bufs[3]);
    if (lvalue_push(L, in))
        return 0;
    /* A table may hold a key that no put writes: then it is refused here. */
    if (lvalue_put(L, -1, &bufs[1], &why))
        return 0;
    CHECK(lvalue_push(L, buf_slice(&bufs[1])) == 0);
    CHECK(lvalue_put(L, -1, &bufs[2], &why) == 0);
    CHECK(slice_eq(buf_slice(&bufs[1]), buf_slice(&bufs[2])));
    return 0;
}

static int trip(lua_State *L)
{
    struct buf *bufs = lua_touserdata(L, 1);
    struct slice in = *(const struct slice *)lua_touserdata(L, 2);

    if (in.n && in.p[0] % 2)
        return key_trip(L, slice_sub(in, 1, in.n), bufs);
    return value_trip(L, slice_sub(in, 1, in.n), bufs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct slice in = slice_of(n ? data : (const uint8_t *)"", n);
    lua_State *L = luaL_newstate();
    struct buf bufs[4];

    CHECK(L);
    for (int i = 0; i < 4; i++)
        buf_init(&bufs[i], 64 << 20);
    lua_pushcfunction(L, trip);
    lua_pushlightuserdata(L, bufs);
    lua_pushlightuserdata(L, &in);
    /* A table with a key that has no order (nil, a table) raises: an error, not a crash. */
    lua_pcall(L, 2, 0, 0);
    lua_close(L);
    for (int i = 0; i < 4; i++)
        buf_deinit(&bufs[i]);
    return 0;
}

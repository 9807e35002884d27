/* tests/fuzz/fuzz_json.c - JSON from strangers: what is read is written, and read again gives the
 * same. */
#include "base/check.h"
#include "udf/ljson.h"
#include <lauxlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static int round_trip(lua_State *L)
{
    struct buf *bufs = lua_touserdata(L, 1);
    struct slice in = *(const struct slice *)lua_touserdata(L, 2);
    const char *why;
    size_t pos;

    if (ljson_push(L, in, &bufs[0], &why, &pos)) {
        CHECK(lua_gettop(L) == 2);
        CHECK(pos <= in.n);
        return 0;
    }
    CHECK(ljson_put(L, -1, &bufs[1], &why) == 0);
    CHECK(ljson_push(L, buf_slice(&bufs[1]), &bufs[0], &why, &pos) == 0);
    CHECK(ljson_put(L, -1, &bufs[2], &why) == 0);
    CHECK(slice_eq(buf_slice(&bufs[1]), buf_slice(&bufs[2])));
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct slice in = slice_of(n ? data : (const uint8_t *)"", n);
    lua_State *L = luaL_newstate();
    struct buf bufs[3];

    CHECK(L);
    for (int i = 0; i < 3; i++)
        buf_init(&bufs[i], 64 << 20);
    lua_pushcfunction(L, round_trip);
    lua_pushlightuserdata(L, bufs);
    lua_pushlightuserdata(L, &in);
    CHECK(lua_pcall(L, 2, 0, 0) == LUA_OK);
    lua_close(L);
    for (int i = 0; i < 3; i++)
        buf_deinit(&bufs[i]);
    return 0;
}

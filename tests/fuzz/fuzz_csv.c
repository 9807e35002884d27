/* tests/fuzz/fuzz_csv.c - a line of CSV from strangers: fields that are read, written and read
 * again are the same. The first byte picks the separator. */
#include "base/check.h"
#include "udf/lcsv.h"
#include <lauxlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static int round_trip(lua_State *L)
{
    struct buf *bufs = lua_touserdata(L, 1);
    struct slice in = *(const struct slice *)lua_touserdata(L, 2);
    char separator = in.n && in.p[0] % 2 ? ';' : ',';
    const char *why;
    size_t pos = 0;

    in = slice_sub(in, 1, in.n);
    if (lcsv_push(L, in, separator, &bufs[0], &why, &pos)) {
        CHECK(lua_gettop(L) == 2);
        CHECK(pos <= in.n);
        return 0;
    }
    CHECK(lcsv_put(L, -1, separator, &bufs[1], &why) == 0);
    CHECK(lcsv_push(L, buf_slice(&bufs[1]), separator, &bufs[0], &why, &pos) == 0);
    CHECK(lua_rawlen(L, -1) == lua_rawlen(L, -2));
    for (lua_Unsigned i = 1; i <= lua_rawlen(L, -1); i++) {
        lua_rawgeti(L, -1, (lua_Integer)i);
        lua_rawgeti(L, -3, (lua_Integer)i);
        CHECK(lua_rawequal(L, -1, -2));
        lua_pop(L, 2);
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct slice in = slice_of(n ? data : (const uint8_t *)"", n);
    lua_State *L = luaL_newstate();
    struct buf bufs[2];

    CHECK(L);
    for (int i = 0; i < 2; i++)
        buf_init(&bufs[i], 64 << 20);
    lua_pushcfunction(L, round_trip);
    lua_pushlightuserdata(L, bufs);
    lua_pushlightuserdata(L, &in);
    CHECK(lua_pcall(L, 2, 0, 0) == LUA_OK);
    lua_close(L);
    for (int i = 0; i < 2; i++)
        buf_deinit(&bufs[i]);
    return 0;
}

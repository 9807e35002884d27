/* udf/csvlib.c - the module once.csv: parse and format one record. */
#include "udf/lcsv.h"
#include "udf/task.h"

static char separator_of(lua_State *L, int idx)
{
    const char *s;
    size_t n;

    if (lua_isnoneornil(L, idx))
        return ',';
    luaL_checktype(L, idx, LUA_TTABLE);
    if (lua_getfield(L, idx, "separator") == LUA_TNIL) {
        lua_pop(L, 1);
        return ',';
    }
    s = lua_tolstring(L, -1, &n);
    if (!s || n != 1 || *s == '"' || *s == '\r' || *s == '\n')
        fail(L, "csv: separator must be one character");
    lua_pop(L, 1);
    return *s;
}

static int l_parse(lua_State *L)
{
    struct slice s;
    const char *why;
    size_t pos;
    char separator = separator_of(L, 2);

    s.p = (const unsigned char *)luaL_checklstring(L, 1, &s.n);
    if (lcsv_push(L, s, separator, &task_of(L)->text, &why, &pos))
        return fail(L, "csv.parse: %s at byte %d", why, (int)pos + 1);
    return 1;
}

static int l_format(lua_State *L)
{
    struct buf *out = &task_of(L)->text;
    char separator = separator_of(L, 2);
    const char *why;

    luaL_checktype(L, 1, LUA_TTABLE);
    buf_reset(out);
    if (lcsv_put(L, 1, separator, out, &why))
        return fail(L, "csv.format: %s", why);
    lua_pushlstring(L, out->n ? (const char *)out->p : "", out->n);
    return 1;
}

/* Pushes the module. */
void csvlib_open(lua_State *L)
{
    static const luaL_Reg lib[] = {{"parse", l_parse}, {"format", l_format}, {NULL, NULL}};

    luaL_newlib(L, lib);
}

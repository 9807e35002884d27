/* udf/jsonlib.c - the module once.json: decode, encode, array, null. */
#include "udf/ljson.h"
#include "udf/task.h"

/* The address is the key of the registry's entry. */
static const char array_mark = 0;

bool ljson_is_array(lua_State *L, int idx)
{
    bool r;

    if (!lua_getmetatable(L, idx))
        return false;
    lua_rawgetp(L, LUA_REGISTRYINDEX, &array_mark);
    r = lua_rawequal(L, -1, -2);
    lua_pop(L, 2);
    return r;
}

void ljson_mark_array(lua_State *L)
{
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &array_mark) != LUA_TTABLE) {
        lua_pop(L, 1);
        lua_createtable(L, 0, 1);
        lua_pushliteral(L, "json.array");
        lua_setfield(L, -2, "__metatable");
        lua_pushvalue(L, -1);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &array_mark);
    }
    lua_setmetatable(L, -2);
}

static int l_decode(lua_State *L)
{
    struct udf_task *t = task_of(L);
    struct slice s;
    const char *why;
    size_t pos;

    s.p = (const unsigned char *)luaL_checklstring(L, 1, &s.n);
    if (ljson_push(L, s, &t->text, &why, &pos))
        return fail(L, "json.decode: %s at byte %d", why, (int)pos + 1);
    return 1;
}

static int l_encode(lua_State *L)
{
    struct udf_task *t = task_of(L);
    const char *why;

    luaL_checkany(L, 1);
    buf_reset(&t->text);
    if (ljson_put(L, 1, &t->text, &why))
        return fail(L, "json.encode: %s", why);
    lua_pushlstring(L, (const char *)t->text.p, t->text.n);
    return 1;
}

static int l_array(lua_State *L)
{
    if (lua_isnoneornil(L, 1)) {
        lua_settop(L, 0);
        lua_newtable(L);
    }
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    if (ljson_is_array(L, 1))
        return 1;
    if (lua_getmetatable(L, 1))
        return fail(L, "json.array: the table has a metatable of its own");
    ljson_mark_array(L);
    return 1;
}

/* Pushes the module. */
void jsonlib_open(lua_State *L)
{
    static const luaL_Reg lib[] = {
        {"decode", l_decode}, {"encode", l_encode}, {"array", l_array}, {NULL, NULL}};

    luaL_newlib(L, lib);
    lua_pushlightuserdata(L, NULL);
    lua_setfield(L, -2, "null");
}

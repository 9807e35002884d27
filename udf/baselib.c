/* udf/baselib.c - the base functions that differ from stock Lua's.
 *
 * tostring shows no address; pcall and xpcall do not catch a limit, a reject or a host's failure; a
 * metatable may have neither __gc nor __mode, since both show when the collector runs; print is a
 * log line; string.format follows tostring. */
#include "udf/task.h"
#include <ctype.h>
#include <inttypes.h>

/* Its address is the registry's key of the weak table object -> number. */
static const char numbers_key = 0;

static void new_numbers(lua_State *L)
{
    lua_newtable(L);
    lua_createtable(L, 0, 1);
    lua_pushliteral(L, "k");
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &numbers_key);
}

/* Numbers are given anew for each record, from its position and in the order asked for: a replay
 * shows the same ones, whatever the task did before. */
static uint64_t object_number(lua_State *L, int idx)
{
    struct udf_task *t = task_of(L);
    uint64_t n;

    luaL_checkstack(L, 6, NULL);
    if (!t->numbers_ready) {
        new_numbers(L);
        t->object_base = randomlib_position(t) << 16 & UINT64_C(0xFFFFFFFFFFFF);
        t->object_n = 0;
        t->numbers_ready = true;
    }
    lua_rawgetp(L, LUA_REGISTRYINDEX, &numbers_key);
    lua_pushvalue(L, idx);
    if (lua_rawget(L, -2) == LUA_TNUMBER) {
        n = (uint64_t)lua_tointeger(L, -1);
        lua_pop(L, 2);
        return n;
    }
    lua_pop(L, 1);
    n = t->object_base + ++t->object_n;
    lua_pushvalue(L, idx);
    lua_pushinteger(L, (lua_Integer)n);
    lua_rawset(L, -3);
    lua_pop(L, 1);
    return n;
}

const char *baselib_tostring(lua_State *L, int idx, size_t *n)
{
    char text[32];
    int type = lua_type(L, idx);

    idx = lua_absindex(L, idx);
    if (luaL_callmeta(L, idx, "__tostring")) {
        if (!lua_isstring(L, -1))
            luaL_error(L, "'__tostring' must return a string");
        return lua_tolstring(L, -1, n);
    }
    if (type == LUA_TLIGHTUSERDATA && !lua_touserdata(L, idx)) {
        lua_pushliteral(L, "null");
    } else if (type == LUA_TTABLE || type == LUA_TFUNCTION || type == LUA_TUSERDATA ||
               type == LUA_TTHREAD || type == LUA_TLIGHTUSERDATA) {
        int named = luaL_getmetafield(L, idx, "__name");
        const char *name = named == LUA_TSTRING ? lua_tostring(L, -1) : lua_typename(L, type);
        snprintf(text, sizeof text, "0x%012" PRIx64, object_number(L, idx));
        lua_pushfstring(L, "%s: %s", name, text);
        if (named != LUA_TNIL)
            lua_remove(L, -2);
    } else {
        return luaL_tolstring(L, idx, n);
    }
    return lua_tolstring(L, -1, n);
}

static int l_tostring(lua_State *L)
{
    luaL_checkany(L, 1);
    baselib_tostring(L, 1, NULL);
    return 1;
}

/* ---- errors that cannot be caught ---- */

static int pcall_done(lua_State *L, int status, lua_KContext drop)
{
    struct udf_task *t = task_of(L);

    if (status != LUA_OK && status != LUA_YIELD) {
        if (status == LUA_ERRMEM && !t->stop)
            t->stop = STOP_MEMORY;
        if (t->stop)
            return lua_error(L);
        t->has_message = false; /* caught: its position and trace concern nobody */
        buf_reset(&t->trace);
        lua_pushboolean(L, 0);
        lua_insert(L, -2);
        return 2;
    }
    if (t->stop)
        return limits_raise(L);
    return lua_gettop(L) - (int)drop;
}

static int l_pcall(lua_State *L)
{
    int status;

    luaL_checkany(L, 1);
    lua_pushboolean(L, 1);
    lua_insert(L, 1);
    status = lua_pcallk(L, lua_gettop(L) - 2, LUA_MULTRET, 0, 0, pcall_done);
    return pcall_done(L, status, 0);
}

/* In a hook no further hook runs: a handler of the job's could loop for ever there. */
static int guarded_handler(lua_State *L)
{
    if (task_of(L)->stop)
        return 1;
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

static int l_xpcall(lua_State *L)
{
    int n = lua_gettop(L), status;

    luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_pushvalue(L, 2);
    lua_pushcclosure(L, guarded_handler, 1);
    lua_replace(L, 2);
    lua_pushboolean(L, 1);
    lua_pushvalue(L, 1);
    lua_rotate(L, 3, 2); /* f, handler, true, f, args */
    status = lua_pcallk(L, n - 2, LUA_MULTRET, 2, 2, pcall_done);
    return pcall_done(L, status, 2);
}

/* ---- the rest ---- */

static int l_setmetatable(lua_State *L)
{
    static const char *const refused[] = {"__gc", "__mode"};

    luaL_checktype(L, 1, LUA_TTABLE);
    luaL_argexpected(L, lua_isnil(L, 2) || lua_istable(L, 2), 2, "nil or table");
    if (luaL_getmetafield(L, 1, "__metatable") != LUA_TNIL)
        return luaL_error(L, "cannot change a protected metatable");
    lua_settop(L, 2);
    for (int i = 0; i < 2 && lua_istable(L, 2); i++) {
        lua_pushstring(L, refused[i]);
        if (lua_rawget(L, 2) != LUA_TNIL)
            return fail(L, "a metatable may not have %s: it would show when garbage is collected",
                        refused[i]);
        lua_pop(L, 1);
    }
    lua_setmetatable(L, 1);
    return 1;
}

/* upvalue: the level. Arguments as by print. */
static int l_log(lua_State *L)
{
    struct udf_task *t = task_of(L);
    int n = lua_gettop(L);
    luaL_Buffer b;

    luaL_buffinit(L, &b);
    for (int i = 1; i <= n; i++) {
        if (i > 1)
            luaL_addchar(&b, '\t');
        baselib_tostring(L, i, NULL);
        luaL_addvalue(&b);
    }
    luaL_pushresult(&b);
    if (t->host && t->host->log) {
        struct slice s;
        s.p = (const unsigned char *)lua_tolstring(L, -1, &s.n);
        t->host->log(t->host, (enum udf_level)lua_tointeger(L, lua_upvalueindex(1)), s);
    }
    return 0;
}

/* upvalue: stock string.format, whose %s would print addresses. */
static int l_format(lua_State *L)
{
    const char *f = luaL_checkstring(L, 1);
    int n = lua_gettop(L), arg = 1;

    for (; *f; f++) {
        if (*f != '%')
            continue;
        if (*++f == '%')
            continue;
        arg++;
        while (*f && !isalpha((unsigned char)*f))
            f++;
        if (*f == 'p')
            return fail(L,
                        "string.format: %%p would show an address, which differs from run to run");
        if (*f == 's' && arg <= n && !lua_isstring(L, arg)) {
            baselib_tostring(L, arg, NULL);
            lua_replace(L, arg);
        }
        if (!*f)
            break;
    }
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, n, 1);
    return 1;
}

void baselib_push_log(lua_State *L, enum udf_level level)
{
    lua_pushinteger(L, level);
    lua_pushcclosure(L, l_log, 1);
}

/* Changes what luaopen_base left in the table on top. */
void baselib_open(lua_State *L)
{
    static const char *const removed[] = {"dofile", "load", "loadfile", "collectgarbage", "warn"};
    static const luaL_Reg lib[] = {{"tostring", l_tostring},
                                   {"pcall", l_pcall},
                                   {"xpcall", l_xpcall},
                                   {"setmetatable", l_setmetatable},
                                   {NULL, NULL}};

    for (size_t i = 0; i < sizeof removed / sizeof *removed; i++) {
        lua_pushnil(L);
        lua_setfield(L, -2, removed[i]);
    }
    luaL_setfuncs(L, lib, 0);
    baselib_push_log(L, UDF_INFO);
    lua_setfield(L, -2, "print");
    lua_getfield(L, -1, "string");
    lua_pushnil(L);
    lua_setfield(L, -2, "dump");
    lua_getfield(L, -1, "format");
    lua_pushcclosure(L, l_format, 1);
    lua_setfield(L, -2, "format");
    lua_pop(L, 1);
}

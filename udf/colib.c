/* udf/colib.c - coroutines under the limits: hooks are per thread, so every switch sets the right
 * one, and an error that ends the record passes through. */
#include "udf/task.h"

static lua_State *thread_of(lua_State *L)
{
    lua_State *co = lua_tothread(L, 1);

    luaL_argexpected(L, co, 1, "coroutine");
    return co;
}

/* Takes care of t->cur and the hooks around a switch. */
static void enter(struct udf_task *t, lua_State *co)
{
    t->cur = co;
    limits_hook(t, co);
}

static void leave(struct udf_task *t, lua_State *L)
{
    t->cur = L;
    limits_hook(t, L);
}

/* The number of results on top of L; -1: an error object is. */
static int resume(lua_State *L, lua_State *co, int narg)
{
    struct udf_task *t = task_of(L);
    int status, n;

    if (!lua_checkstack(co, narg)) {
        lua_pushliteral(L, "too many arguments to resume");
        return -1;
    }
    lua_xmove(L, co, narg);
    enter(t, co);
    status = lua_resume(co, L, narg, &n);
    leave(t, L);
    if (status == LUA_ERRMEM && !t->stop)
        t->stop = STOP_MEMORY;
    if (status == LUA_OK || status == LUA_YIELD) {
        if (t->stop)
            return limits_raise(L);
        if (!lua_checkstack(L, n + 1)) {
            lua_pop(co, n);
            lua_pushliteral(L, "too many results to resume");
            return -1;
        }
        lua_xmove(co, L, n);
        return n;
    }
    lua_xmove(co, L, 1);
    if (t->stop)
        return lua_error(L);
    return -1;
}

static int l_resume(lua_State *L)
{
    lua_State *co = thread_of(L);
    int n = resume(L, co, lua_gettop(L) - 1);

    lua_pushboolean(L, n >= 0);
    if (n < 0) {
        buf_reset(&task_of(L)->trace);
        n = 1;
    }
    lua_insert(L, -(n + 1));
    return n + 1;
}

static int wrap_step(lua_State *L)
{
    lua_State *co = lua_tothread(L, lua_upvalueindex(1));
    struct udf_task *t = task_of(L);
    int n = resume(L, co, lua_gettop(L)), status;

    if (n >= 0)
        return n;
    status = lua_status(co);
    if (status != LUA_OK && status != LUA_YIELD) {
        buf_reset(&t->trace);
        fail_trace(t, co); /* its frames are gone when the message handler runs */
        enter(t, co);
        lua_resetthread(co);
        leave(t, L);
        lua_settop(co, 0);
    }
    return lua_error(L);
}

static int l_wrap(lua_State *L)
{
    lua_State *co;

    luaL_checktype(L, 1, LUA_TFUNCTION);
    co = lua_newthread(L);
    lua_pushvalue(L, 1);
    lua_xmove(L, co, 1);
    lua_pushcclosure(L, wrap_step, 1);
    return 1;
}

/* upvalue: stock coroutine.close, which runs pending __close functions on that thread. */
static int l_close(lua_State *L)
{
    struct udf_task *t = task_of(L);
    lua_State *co = thread_of(L);
    int n = lua_gettop(L);

    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    enter(t, co);
    if (lua_pcall(L, n, LUA_MULTRET, 0)) {
        leave(t, L);
        return lua_error(L);
    }
    leave(t, L);
    if (t->stop)
        return limits_raise(L);
    return lua_gettop(L);
}

/* Changes the coroutine library in the table on top. */
void colib_open(lua_State *L)
{
    static const luaL_Reg lib[] = {{"resume", l_resume}, {"wrap", l_wrap}, {NULL, NULL}};

    lua_getfield(L, -1, "coroutine");
    luaL_setfuncs(L, lib, 0);
    lua_getfield(L, -1, "close");
    lua_pushcclosure(L, l_close, 1);
    lua_setfield(L, -2, "close");
    lua_pop(L, 1);
}

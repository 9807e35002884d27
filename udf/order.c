/* udf/order.c - pairs, next, table.sort and once.unordered whose order depends on nothing but the
 * data.
 *
 * pairs takes the keys at its start: what is added later is not visited, what is removed is
 * skipped. A table whose keys are exactly 1..n needs no sorting and no list of keys. */
#include "udf/order.h"
#include "udf/task.h"
#include <stdlib.h>

size_t order_count(lua_State *L, int idx, bool *sequence)
{
    size_t n = 0;

    idx = lua_absindex(L, idx);
    luaL_checkstack(L, 4, NULL);
    *sequence = true;
    lua_pushnil(L);
    while (lua_next(L, idx)) {
        lua_pop(L, 1);
        n++;
        if (*sequence && (!lua_isinteger(L, -1) || (size_t)lua_tointeger(L, -1) != n))
            *sequence = false;
    }
    return n;
}

static int compare_numbers(const struct okey *a, const struct okey *b)
{
    lua_Integer i;
    lua_Number f;

    if (a->type == OKEY_INT && b->type == OKEY_INT)
        return a->u.i < b->u.i ? -1 : a->u.i > b->u.i;
    if (a->type == OKEY_FLOAT && b->type == OKEY_FLOAT)
        return a->u.f < b->u.f ? -1 : a->u.f > b->u.f;
    if (a->type == OKEY_FLOAT)
        return -compare_numbers(b, a);
    /* An integer and a float that equals none. */
    i = a->u.i;
    f = b->u.f;
    if (f >= 9223372036854775808.0)
        return -1;
    if (f < -9223372036854775808.0)
        return 1;
    return i <= (lua_Integer)f - (f < 0 && (lua_Number)(lua_Integer)f > f) ? -1 : 1;
}

static int compare(const void *x, const void *y)
{
    const struct okey *a = x, *b = y;
    int ra = a->type == OKEY_FLOAT ? OKEY_INT : a->type;
    int rb = b->type == OKEY_FLOAT ? OKEY_INT : b->type;

    if (ra != rb)
        return ra < rb ? -1 : 1;
    if (ra == OKEY_INT)
        return compare_numbers(a, b);
    if (ra == OKEY_BOOL)
        return a->u.i < b->u.i ? -1 : a->u.i > b->u.i;
    return slice_cmp(slice_of(a->u.s, a->len), slice_of(b->u.s, b->len));
}

struct okey *order_keys(lua_State *L, int idx, size_t n, struct okey small[OKEY_SMALL], int *pushed,
                        const char *what)
{
    struct okey *keys = small;
    size_t at = 0;

    idx = lua_absindex(L, idx);
    luaL_checkstack(L, 4, NULL);
    *pushed = n > OKEY_SMALL;
    if (*pushed)
        keys = lua_newuserdatauv(L, n * sizeof *keys, 0);
    lua_pushnil(L);
    while (lua_next(L, idx)) {
        struct okey *k = &keys[at++];
        lua_pop(L, 1);
        switch (lua_type(L, -1)) {
        case LUA_TNUMBER:
            k->type = lua_isinteger(L, -1) ? OKEY_INT : OKEY_FLOAT;
            if (k->type == OKEY_INT)
                k->u.i = lua_tointeger(L, -1);
            else
                k->u.f = lua_tonumber(L, -1);
            break;
        case LUA_TSTRING:
            k->type = OKEY_STRING;
            k->u.s = lua_tolstring(L, -1, &k->len);
            break;
        case LUA_TBOOLEAN:
            k->type = OKEY_BOOL;
            k->u.i = lua_toboolean(L, -1);
            break;
        default:
            fail(L, "%s: a key is a %s; only numbers, strings and booleans have an order%s", what,
                 luaL_typename(L, -1),
                 strcmp(what, "pairs") == 0 ? " (once.unordered visits any)" : "");
        }
    }
    if (n > 1)
        qsort(keys, n, sizeof *keys, compare);
    return keys;
}

void order_push(lua_State *L, const struct okey *k)
{
    switch (k->type) {
    case OKEY_INT: lua_pushinteger(L, k->u.i); break;
    case OKEY_FLOAT: lua_pushnumber(L, k->u.f); break;
    case OKEY_BOOL: lua_pushboolean(L, (int)k->u.i); break;
    default: lua_pushlstring(L, k->u.s, k->len);
    }
}

/* upvalues: n, position. */
static int sequence_step(lua_State *L)
{
    lua_Integer n = lua_tointeger(L, lua_upvalueindex(1));
    lua_Integer i = lua_tointeger(L, lua_upvalueindex(2));

    lua_settop(L, 1);
    luaL_checktype(L, 1, LUA_TTABLE);
    while (i < n) {
        i++;
        if (lua_rawgeti(L, 1, i) != LUA_TNIL) {
            lua_pushinteger(L, i);
            lua_copy(L, -1, lua_upvalueindex(2));
            lua_insert(L, -2);
            return 2;
        }
        lua_pop(L, 1);
    }
    lua_pushinteger(L, n);
    lua_replace(L, lua_upvalueindex(2));
    lua_pushnil(L);
    return 1;
}

/* upvalues: list of keys, position. */
static int list_step(lua_State *L)
{
    lua_Integer i = lua_tointeger(L, lua_upvalueindex(2));

    lua_settop(L, 1);
    luaL_checktype(L, 1, LUA_TTABLE);
    while (lua_rawgeti(L, lua_upvalueindex(1), ++i) != LUA_TNIL) {
        lua_pushvalue(L, -1);
        if (lua_rawget(L, 1) != LUA_TNIL) {
            lua_pushinteger(L, i);
            lua_replace(L, lua_upvalueindex(2));
            return 2;
        }
        lua_pop(L, 2);
    }
    lua_pushinteger(L, i - 1);
    lua_replace(L, lua_upvalueindex(2));
    return 1;
}

static int l_pairs(lua_State *L)
{
    struct okey small[OKEY_SMALL], *keys;
    bool sequence;
    size_t n;
    int pushed;

    luaL_checkany(L, 1);
    if (luaL_getmetafield(L, 1, "__pairs") != LUA_TNIL) {
        lua_pushvalue(L, 1);
        lua_call(L, 1, 3);
        return 3;
    }
    luaL_checktype(L, 1, LUA_TTABLE);
    n = order_count(L, 1, &sequence);
    if (sequence) {
        lua_pushinteger(L, (lua_Integer)n);
        lua_pushinteger(L, 0);
        lua_pushcclosure(L, sequence_step, 2);
    } else {
        keys = order_keys(L, 1, n, small, &pushed, "pairs");
        lua_createtable(L, (int)n, 0);
        for (size_t i = 0; i < n; i++) {
            order_push(L, &keys[i]);
            lua_rawseti(L, -2, (lua_Integer)i + 1);
        }
        lua_pushinteger(L, 0);
        lua_pushcclosure(L, list_step, 2);
    }
    lua_pushvalue(L, 1);
    lua_pushnil(L);
    return 3;
}

/* Without a key: the first in order. With one, stock next would show the table's inner order. */
static int l_next(lua_State *L)
{
    struct okey small[OKEY_SMALL], *keys;
    bool sequence;
    size_t n;
    int pushed;

    luaL_checktype(L, 1, LUA_TTABLE);
    if (!lua_isnoneornil(L, 2))
        return fail(L, "next takes no key here: use pairs, which has an order");
    n = order_count(L, 1, &sequence);
    if (n == 0) {
        lua_pushnil(L);
        return 1;
    }
    if (sequence) {
        lua_pushinteger(L, 1);
    } else {
        keys = order_keys(L, 1, n, small, &pushed, "next");
        order_push(L, &keys[0]);
    }
    lua_pushvalue(L, -1);
    lua_rawget(L, 1);
    return 2;
}

static int unordered_next(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 2);
    if (lua_next(L, 1))
        return 2;
    lua_pushnil(L);
    return 1;
}

static int l_unordered(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_pushcfunction(L, unordered_next);
    lua_pushvalue(L, 1);
    lua_pushnil(L);
    return 3;
}

/* Is the value at b before that at a? (both absolute) */
static bool before(lua_State *L, int b, int a)
{
    bool r;

    if (lua_isnil(L, 2))
        return lua_compare(L, b, a, LUA_OPLT);
    lua_pushvalue(L, 2);
    lua_pushvalue(L, b);
    lua_pushvalue(L, a);
    lua_call(L, 2, 1);
    r = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return r;
}

/* Merges runs [lo, mid) and [mid, hi) of the table at from into the one at to; equal ones keep
 * their order. */
static void merge(lua_State *L, int from, int to, lua_Integer lo, lua_Integer mid, lua_Integer hi)
{
    lua_Integer a = lo, b = mid;
    int top = lua_gettop(L);

    for (lua_Integer at = lo; at < hi; at++) {
        bool second = a >= mid;
        if (a < mid && b < hi) {
            lua_rawgeti(L, from, a);
            lua_rawgeti(L, from, b);
            second = before(L, top + 2, top + 1);
            lua_settop(L, top);
        }
        lua_rawgeti(L, from, second ? b++ : a++);
        lua_rawseti(L, to, at);
    }
}

/* A stable merge sort: stock table.sort draws its pivots from the clock. On an error in the
 * comparison the table is as it was. */
static int l_sort(lua_State *L)
{
    lua_Integer n;
    int from = 3, to = 4;

    luaL_checktype(L, 1, LUA_TTABLE);
    n = luaL_len(L, 1);
    if (!lua_isnoneornil(L, 2))
        luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_settop(L, 2);
    if (n < 2)
        return 0;
    luaL_argcheck(L, n < INT32_MAX, 1, "array too big");
    lua_createtable(L, (int)n, 0);
    lua_createtable(L, (int)n, 0);
    for (lua_Integer i = 1; i <= n; i++) {
        lua_geti(L, 1, i);
        lua_rawseti(L, from, i);
    }
    for (lua_Integer width = 1; width < n; width *= 2) {
        int tmp = from;
        for (lua_Integer lo = 1; lo <= n; lo += 2 * width) {
            lua_Integer mid = lo + width > n + 1 ? n + 1 : lo + width;
            lua_Integer hi = lo + 2 * width > n + 1 ? n + 1 : lo + 2 * width;
            merge(L, from, to, lo, mid, hi);
        }
        from = to;
        to = tmp;
    }
    for (lua_Integer i = 1; i <= n; i++) {
        lua_rawgeti(L, from, i);
        lua_seti(L, 1, i);
    }
    return 0;
}

void orderlib_open(lua_State *L)
{
    static const luaL_Reg base[] = {{"pairs", l_pairs}, {"next", l_next}, {NULL, NULL}};

    luaL_setfuncs(L, base, 0);
    lua_getfield(L, -1, "table");
    lua_pushcfunction(L, l_sort);
    lua_setfield(L, -2, "sort");
    lua_pop(L, 1);
}

/* Pushes once.unordered. */
void orderlib_push_unordered(lua_State *L)
{
    lua_pushcfunction(L, l_unordered);
}

/* udf/store.c - the stores of a node: get, put, del, update, range, prefix, count.
 *
 * Keys and values cross to the host as the bytes of lkey.h and lvalue.h, and every get is a fresh
 * copy. An iterator that the job leaves open is closed when its loop is left or, at the latest,
 * with the record. */
#include "udf/lkey.h"
#include "udf/ltext.h"
#include "udf/lvalue.h"
#include "udf/task.h"

struct store {
    const void *mark;
    int index;
};
struct iter {
    const void *mark;
    struct list link; /* on the task's iters while open */
    struct udf_iter *it;
    lua_Integer left; /* entries that `limit` still allows; negative: any */
};
/* Their addresses mark the userdata, or are keys of the registry. */
static const char store_mark = 0, iter_mark = 0, store_meta = 0, iter_meta = 0;

static const struct store *check_store(lua_State *L, const char *name)
{
    struct udf_task *t = task_of(L);
    const struct store *s = lua_touserdata(L, 1);

    if (!s || lua_rawlen(L, 1) != sizeof *s || s->mark != &store_mark)
        fail(L, "call it as ctx.STORE:%s(...)", name);
    if (!t->in_record)
        fail(L, "store: no record is being processed");
    return s;
}

static struct slice name_of(const struct udf_task *t, const struct store *s)
{
    return t->job->stores[s->index].name;
}

/* The key at idx as bytes in t->key. */
static struct slice check_key(lua_State *L, struct udf_task *t, const struct store *s, int idx)
{
    const char *why;
    int rc;

    buf_reset(&t->key);
    rc = lkey_put(L, idx, &t->key, &why);
    if (rc)
        fail(L, "store '%.*s': %s", SLICE_FMT(name_of(t, s)), why);
    if (t->key.n > UDF_KEY_MAX)
        fail(L, "store '%.*s': the key takes %zu bytes, at most %d are possible",
             SLICE_FMT(name_of(t, s)), t->key.n, UDF_KEY_MAX);
    return buf_slice(&t->key);
}

static void push_value(lua_State *L, struct udf_task *t, const struct store *s, struct slice v)
{
    if (lvalue_push(L, v)) {
        t->stop = STOP_HOST;
        t->host_code = -ERR_CORRUPT;
        fail(L, "store '%.*s': a value is corrupt", SLICE_FMT(name_of(t, s)));
    }
}

/* Pushes the value of the key, or nil. */
static void get(lua_State *L, struct udf_task *t, const struct store *s, struct slice key)
{
    struct slice v;

    if (fail_host(L, t->host->store_get(t->host, s->index, key, &v), "store get"))
        push_value(L, t, s, v);
    else
        lua_pushnil(L);
}

/* Writes the value at idx, nil deletes. */
static void put(lua_State *L, struct udf_task *t, const struct store *s, struct slice key, int idx)
{
    struct slice v = SLICE_NULL;
    const char *why;

    if (!lua_isnil(L, idx)) {
        if (t->job->stores[s->index].raw && lua_type(L, idx) != LUA_TSTRING)
            fail(L, "store '%.*s' has codec raw: a value must be a string, not %s",
                 SLICE_FMT(name_of(t, s)), luaL_typename(L, idx));
        buf_reset(&t->value);
        if (lvalue_put(L, idx, &t->value, &why))
            fail(L, "store '%.*s': the value cannot be stored: %s", SLICE_FMT(name_of(t, s)), why);
        v = buf_slice(&t->value);
    }
    fail_host(L, t->host->store_put(t->host, s->index, key, v), "store put");
}

static int store_get(lua_State *L)
{
    const struct store *s = check_store(L, "get");
    struct udf_task *t = task_of(L);

    lua_settop(L, 2);
    get(L, t, s, check_key(L, t, s, 2));
    return 1;
}

static int store_put(lua_State *L)
{
    const struct store *s = check_store(L, "put");
    struct udf_task *t = task_of(L);

    lua_settop(L, 3);
    put(L, t, s, check_key(L, t, s, 2), 3);
    return 0;
}

static int store_del(lua_State *L)
{
    const struct store *s = check_store(L, "del");
    struct udf_task *t = task_of(L);

    lua_settop(L, 2);
    lua_pushnil(L);
    put(L, t, s, check_key(L, t, s, 2), 3);
    return 0;
}

/* update(key, function(old), init): old is init where there is none; nil deletes. Returns the new
 * one. */
static int store_update(lua_State *L)
{
    const struct store *s = check_store(L, "update");
    struct udf_task *t = task_of(L);

    lua_settop(L, 4);
    if (lua_type(L, 3) != LUA_TFUNCTION)
        return fail(L, "update takes a key, a function and an initial value");
    lua_pushvalue(L, 3);
    get(L, t, s, check_key(L, t, s, 2));
    if (lua_isnil(L, -1))
        lua_copy(L, 4, -1);
    lua_call(L, 1, 1);
    put(L, t, s, check_key(L, t, s, 2), 5); /* anew: the function may have used the buffer */
    return 1;
}

/* ---- iteration ---- */

static void close_iter(struct udf_task *t, struct iter *it)
{
    if (!list_linked(&it->link))
        return;
    list_remove(&it->link);
    if (it->it)
        t->host->iter_close(t->host, it->it);
    it->it = NULL;
}

void store_close_iters(struct udf_task *t)
{
    struct list *l;

    while ((l = list_first(&t->iters)))
        close_iter(t, list_entry(l, struct iter, link));
}

static int iter_close(lua_State *L)
{
    close_iter(task_of(L), lua_touserdata(L, 1));
    return 0;
}

/* upvalues: the iterator, the store. */
static int iter_step(lua_State *L)
{
    struct udf_task *t = task_of(L);
    struct iter *it = lua_touserdata(L, lua_upvalueindex(1));
    const struct store *s = lua_touserdata(L, lua_upvalueindex(2));
    struct slice k, v;

    if (!list_linked(&it->link)) {
        lua_pushnil(L);
        return 1;
    }
    if (it->left == 0 ||
        !fail_host(L, t->host->iter_next(t->host, it->it, &k, &v), "store range")) {
        close_iter(t, it);
        lua_pushnil(L);
        return 1;
    }
    if (it->left > 0)
        it->left--;
    if (lkey_push(L, k, &t->text)) {
        t->stop = STOP_HOST;
        t->host_code = -ERR_CORRUPT;
        return fail(L, "store '%.*s': a key is corrupt", SLICE_FMT(name_of(t, s)));
    }
    push_value(L, t, s, v);
    return 2;
}

static lua_Integer option_limit(lua_State *L, int idx)
{
    lua_Integer v;
    int ok;

    if (lua_isnil(L, idx))
        return -1;
    v = lua_tointegerx(L, idx, &ok);
    if (!ok || v < 0)
        fail(L, "limit must be a count, not %s", luaL_typename(L, idx));
    return v;
}

/* { reverse = true, limit = n } at idx, or nil. */
static void options_of(lua_State *L, int idx, bool *reverse, lua_Integer *limit)
{
    static const char *const names[] = {"reverse", "limit", NULL};

    *reverse = false;
    *limit = -1;
    if (lua_isnoneornil(L, idx))
        return;
    if (!lua_istable(L, idx))
        fail(L, "range: the options must be a table { reverse = ..., limit = ... }, not %s",
             luaL_typename(L, idx));
    lua_pushnil(L);
    while (lua_next(L, idx)) {
        const char *k = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "?", *near;
        if (strcmp(k, "reverse") == 0) {
            *reverse = lua_toboolean(L, -1);
        } else if (strcmp(k, "limit") == 0) {
            *limit = option_limit(L, -1);
        } else {
            near = ltext_nearest(k, names);
            fail(L, "range: unknown option '%s'%s%s%s", k, near ? ", did you mean '" : "",
                 near ? near : "", near ? "'?" : "");
        }
        lua_pop(L, 1);
    }
}

/* Opens the host's iterator over [from, to); pushes step, nil, nil, iterator: what `for` wants. */
static int push_iteration(lua_State *L, struct udf_task *t, const struct store *s,
                          struct slice from, struct slice to, int options)
{
    lua_Integer limit;
    struct iter *it;
    bool reverse;

    options_of(L, options, &reverse, &limit);
    it = lua_newuserdatauv(L, sizeof *it, 0);
    *it = (struct iter){.mark = &iter_mark, .left = limit};
    lua_rawgetp(L, LUA_REGISTRYINDEX, &iter_meta);
    lua_setmetatable(L, -2);
    lua_pushvalue(L, -1);
    lua_pushvalue(L, 1);
    lua_pushcclosure(L, iter_step, 2);
    fail_host(L, t->host->store_range(t->host, s->index, from, to, reverse, &it->it),
              "store range");
    list_push(&t->iters, &it->link);
    lua_pushnil(L);
    lua_pushnil(L);
    lua_pushvalue(L, -4);
    return 4;
}

/* A bound at idx into b; null when nil. */
static struct slice bound_of(lua_State *L, struct udf_task *t, const struct store *s, int idx,
                             struct buf *b)
{
    const char *why;

    if (lua_isnil(L, idx))
        return SLICE_NULL;
    buf_reset(b);
    if (lkey_put(L, idx, b, &why))
        fail(L, "store '%.*s': %s", SLICE_FMT(name_of(t, s)), why);
    return buf_slice(b);
}

/* range(from, to, options): from is included, to is not; nil is open. */
static int store_range(lua_State *L)
{
    const struct store *s = check_store(L, "range");
    struct udf_task *t = task_of(L);
    struct slice from, to;

    lua_settop(L, 4);
    from = bound_of(L, t, s, 2, &t->key);
    to = bound_of(L, t, s, 3, &t->value);
    return push_iteration(L, t, s, from, to, 4);
}

/* prefix(p, options): strings that begin with p, or lists that begin with p's elements. */
static int store_prefix(lua_State *L)
{
    const struct store *s = check_store(L, "prefix");
    struct udf_task *t = task_of(L);
    struct slice from, to;

    lua_settop(L, 3);
    if (lua_type(L, 2) != LUA_TSTRING && lua_type(L, 2) != LUA_TTABLE)
        return fail(L, "prefix takes a string or a list, not %s", luaL_typename(L, 2));
    from = bound_of(L, t, s, 2, &t->key);
    bound_of(L, t, s, 2, &t->value);
    to = lkey_after_prefix(&t->value) ? buf_slice(&t->value) : SLICE_NULL;
    return push_iteration(L, t, s, from, to, 3);
}

/* The number of keys. */
static int store_count(lua_State *L)
{
    const struct store *s = check_store(L, "count");
    struct udf_task *t = task_of(L);
    struct slice k, v;
    struct iter *it;
    lua_Integer n = 0;

    lua_settop(L, 1);
    push_iteration(L, t, s, SLICE_NULL, SLICE_NULL, 2);
    it = lua_touserdata(L, -1);
    while (fail_host(L, t->host->iter_next(t->host, it->it, &k, &v), "store count"))
        n++;
    close_iter(t, it);
    lua_pushinteger(L, n);
    return 1;
}

static int store_unknown(lua_State *L)
{
    static const char *const names[] = {"get",   "put",    "del",   "update",
                                        "range", "prefix", "count", NULL};
    const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : luaL_typename(L, 2);
    const char *near = ltext_nearest(name, names);

    return fail(L, "a store has no '%s'%s%s%s", name,
                near ? ", did you mean '" : " (get put del update range prefix count)",
                near ? near : "", near ? "'?" : "");
}

static void push_iter_metatable(lua_State *L)
{
    lua_createtable(L, 0, 2);
    lua_pushcfunction(L, iter_close);
    lua_setfield(L, -2, "__close");
    lua_pushcfunction(L, iter_close); /* one that was dropped must not stay on the task's list */
    lua_setfield(L, -2, "__gc");
    lua_pushliteral(L, "iterator");
    lua_setfield(L, -2, "__metatable");
    lua_rawsetp(L, LUA_REGISTRYINDEX, &iter_meta);
}

static void push_store_metatable(lua_State *L)
{
    static const luaL_Reg lib[] = {{"get", store_get},     {"put", store_put},
                                   {"del", store_del},     {"update", store_update},
                                   {"range", store_range}, {"prefix", store_prefix},
                                   {"count", store_count}, {NULL, NULL}};

    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &store_meta) == LUA_TTABLE)
        return;
    lua_pop(L, 1);
    push_iter_metatable(L);
    lua_createtable(L, 0, 4);
    luaL_newlib(L, lib);
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, store_unknown);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
    lua_setfield(L, -2, "__index");
    lua_pushliteral(L, "store");
    lua_setfield(L, -2, "__metatable");
    lua_pushliteral(L, "store");
    lua_setfield(L, -2, "__name");
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &store_meta);
}

void store_push(lua_State *L, int index)
{
    struct store *s = lua_newuserdatauv(L, sizeof *s, 0);

    s->mark = &store_mark;
    s->index = index;
    push_store_metatable(L);
    lua_setmetatable(L, -2);
}

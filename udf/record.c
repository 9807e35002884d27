/* udf/record.c - `r`, a view of the current record whose fields become Lua values when touched.
 *
 * Views are a ring of userdata made once; a view stands for the record as long as its seq is the task's,
 * so one that a job keeps is dead when its call returns. What a field gave is kept for the rest of the
 * call in the cache table, and `cached` says which. */
#include "base/bytes.h"
#include "udf/lcsv.h"
#include "udf/ljson.h"
#include "udf/ltext.h"
#include "udf/task.h"

/* Its address is the registry's key of the view's metatable. */
static const char meta_key = 0;

static const char *const codec_names[] = {
    [UDF_RAW] = "raw", [UDF_JSON] = "json", [UDF_CSV] = "csv"};

/* Pushes the cache table, also from a coroutine. */
static void push_cache(lua_State *L)
{
    lua_pushvalue(L, lua_upvalueindex(1));
}

static void decode(lua_State *L, struct udf_task *t, const char *what, enum udf_codec codec,
                   struct slice s)
{
    const char *why;
    size_t pos;
    int rc = 0;

    if (slice_is_null(s))
        lua_pushnil(L);
    else if (codec == UDF_RAW)
        lua_pushlstring(L, (const char *)s.p, s.n);
    else if (codec == UDF_JSON)
        rc = ljson_push(L, s, &t->text, &why, &pos);
    else
        rc = lcsv_push(L, s, ',', &t->text, &why, &pos);
    if (rc)
        fail(L, "the record's %s is not %s: %s at byte %zu", what, codec_names[codec], why,
             pos + 1);
}

/* The next header of raw; false at its end or if it is malformed. */
static bool next_header(struct slice *raw, struct slice *name, struct slice *value)
{
    struct slice *out[2] = {name, value};

    for (int i = 0; i < 2; i++) {
        int32_t n;
        int used = get_varint(*raw, &n);
        if (used < 0 || n > (int64_t)(raw->n - (size_t)used) || (n < 0 && i == 0))
            return false;
        *raw = slice_sub(*raw, (size_t)used, raw->n);
        *out[i] = n < 0 ? SLICE_NULL : slice_of(raw->p, (size_t)n);
        *raw = slice_sub(*raw, n < 0 ? 0 : (size_t)n, raw->n);
    }
    return true;
}

/* name -> value, the last of equal names; a null value is json.null. */
static void push_headers(lua_State *L, const struct udf_record *r)
{
    struct slice raw = r->headers.raw, name, value;

    lua_createtable(L, 0, r->headers.n > 0 ? r->headers.n : 0);
    for (int32_t i = 0; i < r->headers.n && next_header(&raw, &name, &value); i++) {
        lua_pushlstring(L, (const char *)name.p, name.n);
        if (slice_is_null(value))
            lua_pushlightuserdata(L, NULL);
        else
            lua_pushlstring(L, (const char *)value.p, value.n);
        lua_rawset(L, -3);
    }
}

static int push_cached(lua_State *L, struct udf_task *t, enum field f)
{
    push_cache(L);
    if (t->cached & 1u << f) {
        lua_rawgeti(L, -1, f + 1);
        return 1;
    }
    if (f == F_value)
        decode(L, t, "value", t->source->s->value_codec, t->r->value);
    else if (f == F_key)
        decode(L, t, "key", t->source->s->key_codec, t->r->key);
    else
        push_headers(L, t->r);
    lua_pushvalue(L, -1);
    lua_rawseti(L, -3, f + 1);
    t->cached |= 1u << f;
    return 1;
}

static int unknown_field(lua_State *L)
{
    static const char *const names[] = {
#define FIELD_NAME(name) #name,
        FIELD_MAP(FIELD_NAME)
#undef FIELD_NAME
            NULL};
    const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : luaL_typename(L, 2);
    const char *near = ltext_nearest(name, names);

    if (near)
        return fail(L, "a record has no field '%s', did you mean '%s'?", name, near);
    return fail(L, "a record has no field '%s' (key value time headers topic partition offset)",
                name);
}

static int view_index(lua_State *L)
{
    struct udf_task *t = task_of(L);
    const struct view *v = lua_touserdata(L, 1);
    const char *f;

    if (v->seq != t->view_seq)
        return fail(L, "a record was used after its call; copy what you want to keep");
    f = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : NULL;
    if (f == t->str[F_value])
        return push_cached(L, t, F_value);
    if (f == t->str[F_key])
        return push_cached(L, t, F_key);
    if (f == t->str[F_time])
        lua_pushinteger(L, t->time);
    else if (f == t->str[F_headers])
        return push_cached(L, t, F_headers);
    else if (f == t->str[F_topic])
        lua_pushlstring(L, (const char *)t->r->topic.p, t->r->topic.n);
    else if (f == t->str[F_partition])
        lua_pushinteger(L, t->r->partition);
    else if (f == t->str[F_offset])
        lua_pushinteger(L, t->r->offset);
    else
        return unknown_field(L);
    return 1;
}

static int view_newindex(lua_State *L)
{
    return fail(L,
                "a record is read-only: emit a table { key = ..., value = ... } to write another");
}

/* The source's functions set key and time at the door, then the node's process runs.
 * Arguments: process, ctx, view, key function or nil, time function or nil. Upvalue: the cache. */
static int door(lua_State *L)
{
    struct udf_task *t = task_of(L);

    if (!lua_isnil(L, 4)) {
        lua_pushvalue(L, 4);
        lua_pushvalue(L, 3);
        lua_call(L, 1, 1);
        buf_reset(&t->key_bytes);
        t->key_null = lua_isnil(L, -1);
        ctx_put_bytes(L, -1, "the source's key", &t->key_bytes);
        push_cache(L);
        lua_insert(L, -2);
        lua_rawseti(L, -2, F_key + 1);
        lua_pop(L, 1);
        t->cached |= 1u << F_key;
        t->key_replaced = true;
    }
    if (!lua_isnil(L, 5)) {
        int ok;
        lua_Integer at;
        lua_pushvalue(L, 5);
        lua_pushvalue(L, 3);
        lua_call(L, 1, 1);
        at = lua_tointegerx(L, -1, &ok);
        if (!ok || at < 0)
            return fail(L, "the source's time function must return milliseconds, not %s",
                        lua_isnumber(L, -1) ? "such a number" : luaL_typename(L, -1));
        t->time = at;
    }
    lua_settop(L, 3);
    lua_call(L, 2, 0);
    return 0;
}

const struct view *record_view(lua_State *L, int idx)
{
    const struct view *v = lua_touserdata(L, idx);
    bool is;

    if (!v || !lua_getmetatable(L, idx))
        return NULL;
    lua_rawgetp(L, LUA_REGISTRYINDEX, &meta_key);
    is = lua_rawequal(L, -1, -2);
    lua_pop(L, 2);
    if (!is)
        return NULL;
    if (v->seq != task_of(L)->view_seq)
        fail(L, "a record was used after its call; copy what you want to keep");
    return v;
}

struct slice record_key(const struct udf_task *t)
{
    if (!t->key_replaced)
        return t->r->key;
    return t->key_null ? SLICE_NULL : buf_slice(&t->key_bytes);
}

void record_push(struct udf_task *t)
{
    struct view *v;

    t->view_at = t->view_at % VIEW_RING + 1;
    lua_rawgeti(t->L, SLOT_VIEWS, t->view_at);
    v = lua_touserdata(t->L, -1);
    v->seq = ++t->view_seq;
    t->cached = 0;
    t->key_replaced = false;
    t->time = t->r->time;
}

void record_end(struct udf_task *t)
{
    t->view_seq++;
}

static void push_metatable(lua_State *L, int cache)
{
    lua_createtable(L, 0, 4);
    lua_pushvalue(L, cache);
    lua_pushcclosure(L, view_index, 1);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, view_newindex);
    lua_setfield(L, -2, "__newindex");
    lua_pushliteral(L, "record");
    lua_setfield(L, -2, "__name");
    lua_pushliteral(L, "record");
    lua_setfield(L, -2, "__metatable");
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &meta_key);
}

void record_open(lua_State *L)
{
    static const char *const names[] = {
#define FIELD_NAME(name) #name,
        FIELD_MAP(FIELD_NAME)
#undef FIELD_NAME
    };
    struct udf_task *t = task_of(L);
    int views, cache;

    lua_createtable(L, VIEW_RING, 0);
    views = lua_gettop(L);
    lua_createtable(L, F_COUNT, 0);
    cache = lua_gettop(L);
    lua_createtable(L, F_COUNT, 0); /* keeps the names alive, so that their pointers stay */
    for (int i = 0; i < F_COUNT; i++) {
        t->str[i] = lua_pushstring(L, names[i]);
        lua_rawseti(L, -2, i + 1);
    }
    lua_pushvalue(L, cache);
    lua_pushcclosure(L, door, 1);
    push_metatable(L, cache);
    for (int i = 1; i <= VIEW_RING; i++) {
        struct view *v = lua_newuserdatauv(L, sizeof *v, 0);
        v->seq = 0;
        lua_pushvalue(L, -2);
        lua_setmetatable(L, -2);
        lua_rawseti(L, views, i);
    }
    lua_pop(L, 1);
}

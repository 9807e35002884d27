/* udf/record.c - `r`, a view of the current record whose fields become Lua values when touched.
 *
 * Views are a ring of userdata made once; one that a job keeps is dead when its call returns, and
 * stays so until the ring comes round. What a field gave is kept for the rest of the call in an
 * upvalue of the index function, and `cached` says which. */
#include "base/bytes.h"
#include "udf/lcsv.h"
#include "udf/ljson.h"
#include "udf/ltext.h"
#include "udf/task.h"

/* Its address marks a view. */
static const char view_mark = 0;

static const char *const codec_names[] = {
    [UDF_RAW] = "raw", [UDF_JSON] = "json", [UDF_CSV] = "csv"};

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

/* In view_index: the field's value, made at its first use. */
static int push_cached(lua_State *L, struct udf_task *t, enum field f)
{
    if (t->cached & 1u << f) {
        lua_pushvalue(L, lua_upvalueindex(f + 1));
        return 1;
    }
    if (f == F_value)
        decode(L, t, "value", t->source->s->value_codec, t->r->value);
    else if (f == F_key)
        decode(L, t, "key", t->source->s->key_codec, t->r->key);
    else
        push_headers(L, t->r);
    lua_copy(L, -1, lua_upvalueindex(f + 1));
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

static int dead(lua_State *L)
{
    return fail(L, "a record was used after its call; copy what you want to keep");
}

static int view_index(lua_State *L)
{
    struct udf_task *t = task_of(L);
    const void *f;

    if (lua_touserdata(L, 1) != t->view || !t->view)
        return dead(L);
    f = lua_topointer(L, 2);
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

/* The source's functions set key and time at the door, then the node's process runs. Arguments:
 * process, ctx, view, key function or nil, time function or nil. Upvalue: the index function. */
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
        lua_pushvalue(L, lua_upvalueindex(1));
        lua_insert(L, -2);
        lua_setupvalue(L, -2, F_key + 1);
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

bool record_is_view(lua_State *L, int idx)
{
    struct udf_task *t = task_of(L);
    const struct view *v = lua_touserdata(L, idx);

    if (!v)
        return false;
    if (v == t->view)
        return true;
    if (lua_rawlen(L, idx) == sizeof *v && v->mark == &view_mark)
        dead(L);
    return false;
}

struct slice record_key(const struct udf_task *t)
{
    if (!t->key_replaced)
        return t->r->key;
    return t->key_null ? SLICE_NULL : buf_slice(&t->key_bytes);
}

void record_push(struct udf_task *t)
{
    t->view_at = (t->view_at + 1) % VIEW_RING;
    lua_rawgeti(t->L, SLOT_VIEWS, t->view_at + 1);
    t->view = t->views[t->view_at];
    t->cached = 0;
    t->key_replaced = false;
    t->time = t->r->time;
}

void record_end(struct udf_task *t)
{
    t->view = NULL;
}

/* Takes the index function from the top of the stack. */
static void push_metatable(lua_State *L)
{
    lua_createtable(L, 0, 4);
    lua_insert(L, -2);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, view_newindex);
    lua_setfield(L, -2, "__newindex");
    lua_pushliteral(L, "record");
    lua_setfield(L, -2, "__name");
    lua_pushliteral(L, "record");
    lua_setfield(L, -2, "__metatable");
}

void record_open(lua_State *L)
{
    static const char *const names[] = {
#define FIELD_NAME(name) #name,
        FIELD_MAP(FIELD_NAME)
#undef FIELD_NAME
    };
    struct udf_task *t = task_of(L);
    int views, index;

    lua_createtable(L, VIEW_RING, 0);
    views = lua_gettop(L);
    for (int i = 0; i < F_COUNT; i++)
        lua_pushnil(L);
    lua_pushcclosure(L, view_index, F_COUNT);
    index = lua_gettop(L);
    lua_createtable(L, F_COUNT, 0); /* keeps the names alive, so that their pointers stay */
    for (int i = 0; i < F_COUNT; i++) {
        lua_pushstring(L, names[i]);
        t->str[i] = lua_topointer(L, -1);
        lua_rawseti(L, -2, i + 1);
    }
    lua_pushvalue(L, index);
    lua_pushcclosure(L, door, 1);
    lua_pushvalue(L, index);
    push_metatable(L);
    for (int i = 0; i < VIEW_RING; i++) {
        t->views[i] = lua_newuserdatauv(L, sizeof *t->views[i], 0);
        t->views[i]->mark = &view_mark;
        lua_pushvalue(L, -2);
        lua_setmetatable(L, -2);
        lua_rawseti(L, views, i + 1);
    }
    lua_pop(L, 1);
}

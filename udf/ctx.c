/* udf/ctx.c - ctx: emit, reject, now, wall, log, count, observe, and the node's stores.
 *
 * A userdata whose __index is a plain table of functions and stores: a method call costs one
 * lookup, and nothing of it can be changed by the job. Emit passes strings and views on as they
 * lie, without a copy. */
#include "base/bytes.h"
#include "udf/ljson.h"
#include "udf/ltext.h"
#include "udf/order.h"
#include "udf/task.h"

/* Its address marks a ctx. */
struct ctx {
    const void *mark;
};
static const char ctx_mark = 0;

enum { NAMES_MAX = 128 };

/* Raises unless argument 1 is a ctx and a record is being processed. */
static struct udf_task *check_ctx(lua_State *L, const char *name)
{
    struct udf_task *t = task_of(L);
    const struct ctx *c = lua_touserdata(L, 1);

    if (t->in_record && c == t->node->ctx)
        return t;
    if (!c || lua_rawlen(L, 1) != sizeof *c || c->mark != &ctx_mark)
        fail(L, "call it as ctx:%s(...)", name);
    if (!t->in_record || !t->host)
        fail(L, "ctx:%s: no record is being processed", name);
    return t;
}

/* ---- bytes ---- */

static int not_writable(lua_State *L, const char *what, int idx)
{
    return fail(L, "%s cannot be written: it is a %s", what, luaL_typename(L, idx));
}

/* The value at idx as bytes: a string as it lies, all else in b. nil is null. */
static struct slice bytes_of(lua_State *L, int idx, const char *what, struct buf *b)
{
    char number[LTEXT_NUMBER_MAX];
    const char *why;
    struct slice s;

    switch (lua_type(L, idx)) {
    case LUA_TNIL: return SLICE_NULL;
    case LUA_TSTRING: s.p = (const unsigned char *)lua_tolstring(L, idx, &s.n); return s;
    case LUA_TNUMBER:
        buf_reset(b);
        if (lua_isinteger(L, idx))
            buf_put(b, number, ltext_int(number, lua_tointeger(L, idx)));
        else
            buf_put(b, number, ltext_float(number, lua_tonumber(L, idx)));
        break;
    case LUA_TBOOLEAN: return slice_str(lua_toboolean(L, idx) ? "true" : "false");
    case LUA_TTABLE:
        buf_reset(b);
        if (ljson_put(L, idx, b, &why))
            fail(L, "%s cannot be written as JSON: %s", what, why);
        break;
    case LUA_TLIGHTUSERDATA: return slice_str("null");
    default: not_writable(L, what, idx);
    }
    if (b->failed)
        fail(L, "%s: %s", what, err_text(b->failed));
    return buf_slice(b);
}

void ctx_put_bytes(lua_State *L, int idx, const char *what, struct buf *out)
{
    struct udf_task *t = task_of(L);
    struct slice s = bytes_of(L, idx, what, &t->value);

    if (buf_put_slice(out, s))
        fail(L, "%s: %s", what, err_text(out->failed));
}

static void put_varint_to(struct buf *out, int64_t v)
{
    unsigned char b[10];

    buf_put(out, b, (size_t)put_varint(b, v));
}

/* Name at -2, value at -1. */
static void put_header(lua_State *L, struct udf_task *t, struct udf_headers *h)
{
    struct slice name, value;

    if (lua_type(L, -2) != LUA_TSTRING)
        fail(L, "emit: the name of a header is a %s", luaL_typename(L, -2));
    name.p = (const unsigned char *)lua_tolstring(L, -2, &name.n);
    put_varint_to(&t->headers, (int64_t)name.n);
    buf_put_slice(&t->headers, name);
    if (lua_isnil(L, -1) || (lua_islightuserdata(L, -1) && !lua_touserdata(L, -1))) {
        put_varint_to(&t->headers, -1);
    } else {
        value = bytes_of(L, -1, "emit: a header", &t->text);
        put_varint_to(&t->headers, (int64_t)value.n);
        buf_put_slice(&t->headers, value);
    }
    h->n++;
}

/* { name = value }, written in order of the names; or { { name, value }, ... } in the order
 * given. */
static struct udf_headers headers_of(lua_State *L, struct udf_task *t, int idx)
{
    struct okey small[OKEY_SMALL], *keys;
    struct udf_headers h = {0};
    int top = lua_gettop(L), pushed;
    bool sequence;
    size_t n;

    if (lua_isnil(L, idx))
        return h;
    if (!lua_istable(L, idx))
        fail(L, "emit: headers must be a table, not %s", luaL_typename(L, idx));
    buf_reset(&t->headers);
    n = order_count(L, idx, &sequence);
    keys = order_keys(L, idx, n, small, &pushed, "emit: headers");
    for (size_t i = 0; i < n; i++) {
        order_push(L, &keys[i]);
        lua_pushvalue(L, -1);
        lua_rawget(L, idx);
        if (sequence && lua_istable(L, -1)) {
            lua_rawgeti(L, -1, 1);
            lua_rawgeti(L, -2, 2);
        }
        put_header(L, t, &h);
        lua_settop(L, top + pushed);
    }
    lua_settop(L, top);
    if (t->headers.failed)
        fail(L, "emit: headers: %s", err_text(t->headers.failed));
    h.raw = buf_slice(&t->headers);
    return h;
}

/* ---- emit ---- */

static int emit_unknown(lua_State *L)
{
    static const char *const names[] = {"key", "value", "time", "partition", "headers", NULL};
    const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : luaL_typename(L, -2);
    const char *near = ltext_nearest(name, names);

    if (near)
        return fail(L, "emit: unknown field '%s', did you mean '%s'?", name, near);
    return fail(L, "emit: unknown field '%s' (key value headers time partition)", name);
}

static int64_t integer_field(lua_State *L, int64_t otherwise, const char *name, int64_t max)
{
    lua_Integer v;
    int ok;

    if (lua_isnil(L, -1))
        return otherwise;
    v = lua_tointegerx(L, -1, &ok);
    if (!ok || v < 0 || v > max || lua_type(L, -1) != LUA_TNUMBER)
        fail(L, "emit: %s must be an integer from 0 on", name);
    return v;
}

/* Takes the table at 3 apart, in whatever order its fields come. Strings stay alive in the table:
 * nothing of the job runs before the host has taken them. */
static void emit_fields(lua_State *L, struct udf_task *t, struct udf_out *out)
{
    lua_settop(L, 3);
    lua_pushnil(L);
    while (lua_next(L, 3)) {
        const void *k = lua_topointer(L, -2);
        if (k == t->str[F_key])
            out->key = bytes_of(L, -1, "emit: key", &t->key);
        else if (k == t->str[F_value])
            out->value = bytes_of(L, -1, "emit: value", &t->value);
        else if (k == t->str[F_time])
            out->time = integer_field(L, t->time, "time", INT64_MAX);
        else if (k == t->str[F_partition])
            out->partition = (int32_t)integer_field(L, -1, "partition", INT32_MAX);
        else if (k == t->str[F_headers])
            out->headers = headers_of(L, t, lua_gettop(L));
        else
            emit_unknown(L);
        lua_settop(L, 4);
    }
}

/* upvalues: set of topics named by `to`, list of prefixes, index of the node. True: it is in the
 * set. */
static bool check_topic(lua_State *L, const char *topic, size_t len)
{
    const char *names[NAMES_MAX + 1], *near;
    int n = 0;

    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL) {
        lua_pop(L, 1);
        return true;
    }
    lua_pop(L, 1);
    for (lua_Integer i = 1; lua_rawgeti(L, lua_upvalueindex(2), i) == LUA_TSTRING; i++) {
        size_t prefix;
        const char *p = lua_tolstring(L, -1, &prefix);
        bool match = len >= prefix && memcmp(p, topic, prefix) == 0;
        lua_pop(L, 1);
        if (match && *topic != '#' && ltext_is_name(slice_of(topic, len), 249))
            return false;
    }
    lua_pop(L, 1);
    lua_pushnil(L);
    while (lua_next(L, lua_upvalueindex(1)) && n < NAMES_MAX) {
        lua_pop(L, 1);
        names[n++] = lua_tostring(L, -1);
    }
    names[n] = NULL;
    near = ltext_nearest(topic, names);
    fail(L, "emit: the node's \"to\" does not name topic '%s'%s%s%s", topic,
         near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
    return false;
}

enum { INTERNED_MAX = 40 }; /* Lua's own limit of strings of which there is one each */

/* The topic at 2; raises if it is not the node's. A short name in the set is alive as long as the
 * set is: once found, its pointer is enough. */
static void emit_topic(lua_State *L, struct udf_task *t, struct udf_out *out)
{
    const char *s = lua_tolstring(L, 2, &out->topic.n);
    bool own = lua_touserdata(L, 1) == t->node->ctx;

    out->topic.p = (const unsigned char *)s;
    if (own && s && s == t->node->topic) {
        out->node = t->node->node;
        return;
    }
    if (!s)
        fail(L, "emit: the topic must be a string, not %s", luaL_typename(L, 2));
    if (check_topic(L, s, out->topic.n) && own && out->topic.n <= INTERNED_MAX)
        t->node->topic = s;
    out->node = (int)lua_tointeger(L, lua_upvalueindex(3));
}

static int ctx_emit(lua_State *L)
{
    struct udf_task *t = check_ctx(L, "emit");
    struct udf_out out = {.partition = -1, .time = t->time};

    emit_topic(L, t, &out);
    if (lua_type(L, 3) == LUA_TTABLE) {
        emit_fields(L, t, &out);
    } else if (record_is_view(L, 3)) {
        out.key = record_key(t);
        out.value = t->r->value;
        out.headers = t->r->headers;
    } else {
        return fail(L,
                    "emit: what is emitted must be a record or a table { key = ..., value = ... }, "
                    "not %s",
                    luaL_typename(L, 3));
    }
    fail_host(L, t->host->emit(t->host, &out), "emit");
    return 0;
}

/* ---- the others ---- */

static int ctx_reject(lua_State *L)
{
    struct udf_task *t = check_ctx(L, "reject");
    const char *why;
    size_t n;

    lua_settop(L, 3);
    t->has_details = false;
    buf_reset(&t->details);
    if (!lua_isnil(L, 3)) {
        if (ljson_put(L, 3, &t->details, &why))
            return fail(L, "reject: the details cannot be written as JSON: %s", why);
        t->has_details = true;
    }
    if (lua_isnil(L, 2))
        lua_pushliteral(L, "rejected");
    else
        baselib_tostring(L, 2, NULL);
    why = lua_tolstring(L, -1, &n);
    buf_reset(&t->reason);
    buf_put(&t->reason, why, n);
    t->stop = STOP_REJECT;
    return fail(L, "%s", why);
}

static int ctx_now(lua_State *L)
{
    struct udf_task *t = check_ctx(L, "now");

    lua_pushinteger(L, t->host->stream_time ? t->host->stream_time(t->host) : t->time);
    return 1;
}

static int ctx_wall(lua_State *L)
{
    struct udf_task *t = check_ctx(L, "wall");

    lua_pushinteger(L, t->host->wall_ms(t->host));
    return 1;
}

static int ctx_count(lua_State *L)
{
    struct udf_task *t = check_ctx(L, "count");
    struct slice name;
    int64_t n = luaL_optinteger(L, 3, 1);

    name.p = (const unsigned char *)luaL_checklstring(L, 2, &name.n);
    if (t->host->count)
        t->host->count(t->host, name, n);
    return 0;
}

static int ctx_observe(lua_State *L)
{
    struct udf_task *t = check_ctx(L, "observe");
    struct slice name;
    double v = luaL_checknumber(L, 3);

    name.p = (const unsigned char *)luaL_checklstring(L, 2, &name.n);
    if (t->host->observe)
        t->host->observe(t->host, name, v);
    return 0;
}

static int ctx_timer(lua_State *L)
{
    return fail(L, "timers are not supported yet in this version");
}

/* Of the table behind ctx: a name that is not there. Upvalue: nothing. */
static int ctx_unknown(lua_State *L)
{
    const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : luaL_typename(L, 2);
    const char *names[NAMES_MAX + 1], *near;
    int n = 0;

    lua_pushnil(L);
    while (lua_next(L, 1) && n < NAMES_MAX) {
        lua_pop(L, 1);
        if (lua_type(L, -1) == LUA_TSTRING)
            names[n++] = lua_tostring(L, -1);
    }
    names[n] = NULL;
    near = ltext_nearest(name, names);
    if (near)
        return fail(L, "ctx has no '%s', did you mean '%s'?", name, near);
    return fail(L, "ctx has no '%s' (is the store declared in the node's stores?)", name);
}

static int ctx_newindex(lua_State *L)
{
    return fail(L, "ctx cannot be changed");
}

/* ---- making it ---- */

static void set_slice(lua_State *L, const char *name, struct slice s)
{
    lua_pushlstring(L, (const char *)s.p, s.n);
    lua_setfield(L, -2, name);
}

static void set_int(lua_State *L, const char *name, int64_t v)
{
    lua_pushinteger(L, v);
    lua_setfield(L, -2, name);
}

static void push_emit(lua_State *L, const struct udf_node *n, int node)
{
    lua_Integer prefixes = 0;

    lua_newtable(L);
    lua_newtable(L);
    for (int i = 0; i < n->n_outputs; i++) {
        struct slice s = n->outputs[i];
        if (s.n && s.p[s.n - 1] == '*') {
            lua_pushlstring(L, (const char *)s.p, s.n - 1);
            lua_rawseti(L, -2, ++prefixes);
        } else {
            lua_pushlstring(L, (const char *)s.p, s.n);
            lua_pushboolean(L, 1);
            lua_rawset(L, -4);
        }
    }
    lua_pushinteger(L, node);
    lua_pushcclosure(L, ctx_emit, 3);
}

static void set_log(lua_State *L)
{
    static const char *const levels[] = {
        [UDF_DEBUG] = "debug", [UDF_INFO] = "info", [UDF_WARN] = "warn", [UDF_LOG_ERROR] = "error"};

    lua_createtable(L, 0, 4);
    for (int i = UDF_DEBUG; i <= UDF_LOG_ERROR; i++) {
        baselib_push_log(L, (enum udf_level)i);
        lua_setfield(L, -2, levels[i]);
    }
    lua_setfield(L, -2, "log");
}

static void set_about(lua_State *L, const struct udf_task *t)
{
    lua_createtable(L, 0, 2);
    set_slice(L, "name", t->job->name);
    set_int(L, "version", t->job->version);
    lua_setfield(L, -2, "job");
    lua_createtable(L, 0, 2);
    set_int(L, "group", t->group);
    set_int(L, "partition", t->partition);
    lua_setfield(L, -2, "task");
}

void ctx_push(lua_State *L, int node)
{
    static const luaL_Reg lib[] = {
        {"reject", ctx_reject},   {"now", ctx_now},     {"wall", ctx_wall},    {"count", ctx_count},
        {"observe", ctx_observe}, {"timer", ctx_timer}, {"cancel", ctx_timer}, {NULL, NULL}};
    struct udf_task *t = task_of(L);
    const struct udf_group *g = &t->job->groups[t->group];
    struct ctx *c = lua_newuserdatauv(L, sizeof *c, 0);

    c->mark = &ctx_mark;
    lua_createtable(L, 0, 4);
    lua_createtable(L, 0, 16);
    luaL_setfuncs(L, lib, 0);
    push_emit(L, &t->job->nodes[node], node);
    lua_setfield(L, -2, "emit");
    set_log(L);
    set_about(L, t);
    for (int i = 0; i < g->n_stores; i++) {
        struct slice name = t->job->stores[g->stores[i]].name;
        lua_pushlstring(L, (const char *)name.p, name.n);
        store_push(L, g->stores[i]);
        lua_rawset(L, -3);
    }
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, ctx_unknown);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, ctx_newindex);
    lua_setfield(L, -2, "__newindex");
    lua_pushliteral(L, "ctx");
    lua_setfield(L, -2, "__metatable");
    lua_pushliteral(L, "ctx");
    lua_setfield(L, -2, "__name");
    lua_setmetatable(L, -2);
}

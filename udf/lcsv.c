/* udf/lcsv.c - one CSV record: quoted fields, doubled quotes, line ends inside quotes.
 *
 * A line end behind the last field is accepted; anything behind it is not: a value is one
 * record. */
#include "udf/lcsv.h"
#include "udf/ltext.h"
#include "udf/task.h"

static int bad(const char **why, const char *text)
{
    *why = text;
    return -ERR_INVALID;
}

/* From the opening quote on; *at ends behind the closing one. */
static int push_quoted(lua_State *L, struct slice s, size_t *at, struct buf *scratch,
                       const char **why)
{
    size_t from = ++*at;

    buf_reset(scratch);
    for (;; ++*at) {
        if (*at >= s.n)
            return bad(why, "a quoted field does not end");
        if (s.p[*at] != '"')
            continue;
        buf_put(scratch, s.p + from, *at - from);
        ++*at;
        if (*at >= s.n || s.p[*at] != '"')
            break;
        from = *at;
    }
    if (scratch->failed)
        return bad(why, "a field is too long");
    lua_pushlstring(L, (const char *)scratch->p, scratch->n);
    return 0;
}

static bool line_end(struct slice s, size_t at)
{
    if (at < s.n && s.p[at] == '\r')
        at++;
    return at + 1 == s.n && s.p[at] == '\n';
}

static int push_plain(lua_State *L, struct slice s, char separator, size_t *at, const char **why)
{
    size_t from = *at;

    for (; *at < s.n; ++*at) {
        unsigned char c = s.p[*at];
        if (c == (unsigned char)separator)
            break;
        if (c == '"')
            return bad(why, "a quote inside an unquoted field");
        if ((c == '\r' || c == '\n') && line_end(s, *at))
            break;
        if (c == '\n')
            return bad(why, "more than one line");
    }
    lua_pushlstring(L, (const char *)s.p + from, *at - from);
    return 0;
}

int lcsv_push(lua_State *L, struct slice s, char separator, struct buf *scratch, const char **why,
              size_t *pos)
{
    int top = lua_gettop(L), rc = 0;
    size_t at = 0;

    lua_newtable(L);
    for (lua_Integer n = 1;; n++) {
        if (at < s.n && s.p[at] == '"')
            rc = push_quoted(L, s, &at, scratch, why);
        else
            rc = push_plain(L, s, separator, &at, why);
        if (rc)
            break;
        lua_rawseti(L, -2, n);
        if (at == s.n || line_end(s, at))
            return 0;
        if (s.p[at] != (unsigned char)separator) {
            rc = bad(why, "something between a closing quote and the separator");
            break;
        }
        at++;
    }
    *pos = at;
    lua_settop(L, top);
    return rc;
}

static bool needs_quotes(struct slice s, char separator)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '"' || s.p[i] == '\r' || s.p[i] == '\n' || s.p[i] == (unsigned char)separator)
            return true;
    return false;
}

static void put_field(struct buf *out, struct slice s, char separator)
{
    if (!needs_quotes(s, separator)) {
        buf_put_slice(out, s);
        return;
    }
    buf_put_u8(out, '"');
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '"')
            buf_put_u8(out, '"');
        buf_put_u8(out, s.p[i]);
    }
    buf_put_u8(out, '"');
}

int lcsv_put(lua_State *L, int idx, char separator, struct buf *out, const char **why)
{
    lua_Integer n = (lua_Integer)lua_rawlen(L, idx);
    char number[LTEXT_NUMBER_MAX];
    struct slice s;

    idx = lua_absindex(L, idx);
    for (lua_Integer i = 1; i <= n; i++) {
        if (i > 1)
            buf_put_u8(out, (uint8_t)separator);
        switch (lua_rawgeti(L, idx, i)) {
        case LUA_TSTRING:
            s.p = (const unsigned char *)lua_tolstring(L, -1, &s.n);
            put_field(out, s, separator);
            break;
        case LUA_TNUMBER:
            s.p = (const unsigned char *)number;
            s.n = lua_isinteger(L, -1) ? ltext_int(number, lua_tointeger(L, -1))
                                       : ltext_float(number, lua_tonumber(L, -1));
            put_field(out, s, separator);
            break;
        case LUA_TBOOLEAN:
            put_field(out, slice_str(lua_toboolean(L, -1) ? "true" : "false"), separator);
            break;
        case LUA_TLIGHTUSERDATA: break;
        default: lua_pop(L, 1); return bad(why, "a field is not a string, number or boolean");
        }
        lua_pop(L, 1);
    }
    return out->failed ? bad(why, "the line is too long") : 0;
}

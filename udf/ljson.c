/* udf/ljson.c - JSON straight from and to the Lua stack.
 *
 * The reader is strict: RFC 8259, valid UTF-8, one value. An integer too large for 64 bits becomes
 * a float as in Lua's own reader. Of equal keys the last counts. */
#include "udf/ljson.h"
#include "udf/ltext.h"
#include "udf/order.h"
#include "udf/task.h"
#include <math.h>
#include <stdlib.h>

struct reader {
    lua_State *L;
    struct slice s;
    size_t at;
    struct buf *scratch;
    const char *why;
    int depth;
};

static int read_value(struct reader *r);

static int bad(struct reader *r, const char *why)
{
    r->why = why;
    return -ERR_INVALID;
}

static void skip_space(struct reader *r)
{
    while (r->at < r->s.n) {
        unsigned char c = r->s.p[r->at];
        if (c != ' ' && c != '\t' && c != '\n' && c != '\r')
            break;
        r->at++;
    }
}

static int read_hex4(struct reader *r, unsigned *out)
{
    unsigned v = 0;

    if (r->s.n - r->at < 4)
        return bad(r, "\\u needs four hex digits");
    for (int i = 0; i < 4; i++) {
        unsigned char c = r->s.p[r->at];
        v <<= 4;
        if (c >= '0' && c <= '9')
            v |= c - '0';
        else if ((c | 32) >= 'a' && (c | 32) <= 'f')
            v |= (c | 32) - 'a' + 10u;
        else
            return bad(r, "\\u needs four hex digits");
        r->at++;
    }
    *out = v;
    return 0;
}

static void put_utf8(struct buf *b, unsigned c)
{
    if (c < 0x80) {
        buf_put_u8(b, (uint8_t)c);
    } else if (c < 0x800) {
        buf_put_u8(b, (uint8_t)(0xC0 | c >> 6));
        buf_put_u8(b, (uint8_t)(0x80 | (c & 63)));
    } else if (c < 0x10000) {
        buf_put_u8(b, (uint8_t)(0xE0 | c >> 12));
        buf_put_u8(b, (uint8_t)(0x80 | (c >> 6 & 63)));
        buf_put_u8(b, (uint8_t)(0x80 | (c & 63)));
    } else {
        buf_put_u8(b, (uint8_t)(0xF0 | c >> 18));
        buf_put_u8(b, (uint8_t)(0x80 | (c >> 12 & 63)));
        buf_put_u8(b, (uint8_t)(0x80 | (c >> 6 & 63)));
        buf_put_u8(b, (uint8_t)(0x80 | (c & 63)));
    }
}

/* Behind a backslash. */
static int read_escape(struct reader *r)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    unsigned c, low;
    const char *at;

    if (r->at >= r->s.n)
        return bad(r, "the string does not end");
    c = r->s.p[r->at++];
    at = c ? strchr(from, (int)c) : NULL;
    if (at)
        return buf_put_u8(r->scratch, (uint8_t)to[at - from]);
    if (c != 'u')
        return bad(r, "unknown escape");
    if (read_hex4(r, &c))
        return -ERR_INVALID;
    if (c >= 0xDC00 && c <= 0xDFFF)
        return bad(r, "half of a surrogate pair");
    if (c >= 0xD800 && c <= 0xDBFF) {
        if (r->s.n - r->at < 2 || r->s.p[r->at] != '\\' || r->s.p[r->at + 1] != 'u')
            return bad(r, "half of a surrogate pair");
        r->at += 2;
        if (read_hex4(r, &low))
            return -ERR_INVALID;
        if (low < 0xDC00 || low > 0xDFFF)
            return bad(r, "half of a surrogate pair");
        c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
    }
    put_utf8(r->scratch, c);
    return 0;
}

static int read_string(struct reader *r)
{
    size_t from = ++r->at;
    bool escaped = false;

    buf_reset(r->scratch);
    for (;;) {
        unsigned char c;
        if (r->at >= r->s.n)
            return bad(r, "the string does not end");
        c = r->s.p[r->at];
        if (c == '"')
            break;
        if (c == '\\') {
            buf_put(r->scratch, r->s.p + from, r->at - from);
            r->at++;
            escaped = true;
            if (read_escape(r))
                return -ERR_INVALID;
            from = r->at;
        } else if (c < 0x20) {
            return bad(r, "a control character in a string");
        } else if (c < 0x80) {
            r->at++;
        } else {
            size_t n = ltext_utf8(slice_sub(r->s, r->at, r->s.n));
            if (!n)
                return bad(r, "not UTF-8");
            r->at += n;
        }
    }
    if (escaped) {
        buf_put(r->scratch, r->s.p + from, r->at - from);
        if (r->scratch->failed)
            return bad(r, "the string is too long");
        lua_pushlstring(r->L, (const char *)r->scratch->p, r->scratch->n);
    } else {
        lua_pushlstring(r->L, (const char *)r->s.p + from, r->at - from);
    }
    r->at++;
    return 0;
}

static bool digit(const struct reader *r)
{
    return r->at < r->s.n && r->s.p[r->at] >= '0' && r->s.p[r->at] <= '9';
}

static int read_float(struct reader *r, size_t from)
{
    double v;

    buf_reset(r->scratch);
    buf_put(r->scratch, r->s.p + from, r->at - from);
    buf_put_u8(r->scratch, 0);
    if (r->scratch->failed)
        return bad(r, "the number is too long");
    v = strtod((const char *)r->scratch->p, NULL);
    if (isinf(v))
        return bad(r, "the number is out of range");
    lua_pushnumber(r->L, v);
    return 0;
}

static int read_number(struct reader *r)
{
    size_t from = r->at;
    bool negative = r->s.p[r->at] == '-', integer = true, wide = false;
    uint64_t v = 0;

    r->at += negative;
    if (!digit(r))
        return bad(r, "a digit is missing");
    if (r->s.p[r->at] == '0' && r->at + 1 < r->s.n && r->s.p[r->at + 1] >= '0' &&
        r->s.p[r->at + 1] <= '9')
        return bad(r, "a number begins with 0");
    for (; digit(r); r->at++) {
        unsigned d = r->s.p[r->at] - '0';
        wide |= v > (UINT64_MAX - d) / 10;
        v = v * 10 + d;
    }
    if (r->at < r->s.n && r->s.p[r->at] == '.') {
        integer = false;
        r->at++;
        if (!digit(r))
            return bad(r, "a digit is missing");
        while (digit(r))
            r->at++;
    }
    if (r->at < r->s.n && (r->s.p[r->at] | 32) == 'e') {
        integer = false;
        r->at++;
        if (r->at < r->s.n && (r->s.p[r->at] == '+' || r->s.p[r->at] == '-'))
            r->at++;
        if (!digit(r))
            return bad(r, "a digit is missing");
        while (digit(r))
            r->at++;
    }
    if (!integer || wide || v > (uint64_t)INT64_MAX + negative)
        return read_float(r, from);
    lua_pushinteger(r->L, (lua_Integer)(negative ? 0 - v : v));
    return 0;
}

static int read_array(struct reader *r)
{
    lua_Integer n = 0;

    r->at++;
    lua_newtable(r->L);
    ljson_mark_array(r->L);
    skip_space(r);
    if (r->at < r->s.n && r->s.p[r->at] == ']') {
        r->at++;
        return 0;
    }
    for (;;) {
        if (read_value(r))
            return -ERR_INVALID;
        lua_rawseti(r->L, -2, ++n);
        skip_space(r);
        if (r->at >= r->s.n)
            return bad(r, "the array does not end");
        if (r->s.p[r->at] == ']')
            break;
        if (r->s.p[r->at] != ',')
            return bad(r, "a comma or ] is missing");
        r->at++;
    }
    r->at++;
    return 0;
}

static int read_object(struct reader *r)
{
    r->at++;
    lua_newtable(r->L);
    skip_space(r);
    if (r->at < r->s.n && r->s.p[r->at] == '}') {
        r->at++;
        return 0;
    }
    for (;;) {
        skip_space(r);
        if (r->at >= r->s.n || r->s.p[r->at] != '"')
            return bad(r, "a key in quotes is missing");
        if (read_string(r))
            return -ERR_INVALID;
        skip_space(r);
        if (r->at >= r->s.n || r->s.p[r->at] != ':')
            return bad(r, "a colon is missing");
        r->at++;
        if (read_value(r))
            return -ERR_INVALID;
        lua_rawset(r->L, -3);
        skip_space(r);
        if (r->at >= r->s.n)
            return bad(r, "the object does not end");
        if (r->s.p[r->at] == '}')
            break;
        if (r->s.p[r->at] != ',')
            return bad(r, "a comma or } is missing");
        r->at++;
    }
    r->at++;
    return 0;
}

static int read_word(struct reader *r, const char *word)
{
    size_t n = strlen(word);

    if (r->s.n - r->at < n || memcmp(r->s.p + r->at, word, n) != 0)
        return bad(r, "a value is missing");
    r->at += n;
    return 0;
}

static int read_value(struct reader *r)
{
    int rc;

    skip_space(r);
    if (r->at >= r->s.n)
        return bad(r, "a value is missing");
    if (r->depth >= LJSON_DEPTH_MAX)
        return bad(r, "nested too deep");
    if (!lua_checkstack(r->L, 8))
        return bad(r, "nested too deep");
    r->depth++;
    switch (r->s.p[r->at]) {
    case '"': rc = read_string(r); break;
    case '{': rc = read_object(r); break;
    case '[': rc = read_array(r); break;
    case 't':
        rc = read_word(r, "true");
        lua_pushboolean(r->L, 1);
        break;
    case 'f':
        rc = read_word(r, "false");
        lua_pushboolean(r->L, 0);
        break;
    case 'n':
        rc = read_word(r, "null");
        lua_pushlightuserdata(r->L, NULL);
        break;
    default:
        if (r->s.p[r->at] == '-' || digit(r))
            rc = read_number(r);
        else
            rc = bad(r, "a value is missing");
    }
    r->depth--;
    return rc;
}

int ljson_push(lua_State *L, struct slice s, struct buf *scratch, const char **why, size_t *pos)
{
    struct reader r = {L, s, 0, scratch, NULL, 0};
    int top = lua_gettop(L), rc = read_value(&r);

    if (!rc) {
        skip_space(&r);
        if (r.at < s.n)
            rc = bad(&r, "more behind the value");
    }
    if (rc) {
        lua_settop(L, top);
        *why = r.why;
        *pos = r.at;
    }
    return rc;
}

/* ---- writing ---- */

static int put_value(lua_State *L, int idx, struct buf *out, int depth, const char **why);

static int put_array(lua_State *L, int idx, size_t n, struct buf *out, int depth, const char **why)
{
    int rc = 0;

    buf_put_u8(out, '[');
    for (size_t i = 1; i <= n && !rc; i++) {
        if (i > 1)
            buf_put_u8(out, ',');
        lua_rawgeti(L, idx, (lua_Integer)i);
        rc = put_value(L, -1, out, depth + 1, why);
        lua_pop(L, 1);
    }
    buf_put_u8(out, ']');
    return rc ? rc : out->failed;
}

struct member {
    struct slice text;
    const struct okey *k;
};

static int compare_members(const void *a, const void *b)
{
    return slice_cmp(((const struct member *)a)->text, ((const struct member *)b)->text);
}

/* Keys as text; those of numbers are made and kept alive on the stack's anchor table. */
static int member_text(lua_State *L, const struct okey *k, int anchor, size_t i, struct slice *text)
{
    char number[LTEXT_NUMBER_MAX];
    size_t n;

    if (k->type == OKEY_STRING) {
        *text = slice_of(k->u.s, k->len);
        return 0;
    }
    if (k->type == OKEY_BOOL)
        return -ERR_INVALID;
    n = k->type == OKEY_INT ? ltext_int(number, k->u.i) : ltext_float(number, k->u.f);
    text->p = (const unsigned char *)lua_pushlstring(L, number, n);
    text->n = n;
    lua_rawseti(L, anchor, (lua_Integer)i + 1);
    return 0;
}

static int put_members(lua_State *L, int idx, const struct member *m, size_t n, struct buf *out,
                       int depth, const char **why)
{
    int rc = 0;

    buf_put_u8(out, '{');
    for (size_t i = 0; i < n && !rc; i++) {
        if (i > 0) {
            buf_put_u8(out, ',');
            if (slice_eq(m[i - 1].text, m[i].text)) {
                *why = "two keys of a table are the same as text";
                return -ERR_INVALID;
            }
        }
        if (ltext_json_string(out, m[i].text, true)) {
            *why = "a key is not UTF-8";
            return -ERR_INVALID;
        }
        buf_put_u8(out, ':');
        order_push(L, m[i].k);
        lua_rawget(L, idx);
        rc = put_value(L, -1, out, depth + 1, why);
        lua_pop(L, 1);
    }
    buf_put_u8(out, '}');
    return rc ? rc : out->failed;
}

static int put_object(lua_State *L, int idx, size_t n, struct buf *out, int depth, const char **why)
{
    struct okey small[OKEY_SMALL], *keys;
    struct member few[OKEY_SMALL], *members = few;
    int top = lua_gettop(L), pushed, anchor = 0, rc;

    keys = order_keys(L, idx, n, small, &pushed, "JSON");
    if (n > OKEY_SMALL)
        members = lua_newuserdatauv(L, n * sizeof *members, 0);
    if (n && keys[0].type != OKEY_STRING) {
        lua_newtable(L);
        anchor = lua_gettop(L);
    }
    for (size_t i = 0; i < n; i++) {
        members[i].k = &keys[i];
        if (member_text(L, &keys[i], anchor, i, &members[i].text)) {
            lua_settop(L, top);
            *why = "a key is a boolean";
            return -ERR_INVALID;
        }
    }
    if (anchor)
        qsort(members, n, sizeof *members, compare_members);
    rc = put_members(L, idx, members, n, out, depth, why);
    lua_settop(L, top);
    return rc;
}

static int put_table(lua_State *L, int idx, struct buf *out, int depth, const char **why)
{
    bool sequence, marked = ljson_is_array(L, idx);
    size_t n = order_count(L, idx, &sequence);

    if (marked && !sequence) {
        *why = "an array has keys other than 1 to n";
        return -ERR_INVALID;
    }
    if (marked || (sequence && n > 0))
        return put_array(L, idx, n, out, depth, why);
    return put_object(L, idx, n, out, depth, why);
}

static int put_number(lua_State *L, int idx, struct buf *out, const char **why)
{
    char text[LTEXT_NUMBER_MAX];
    lua_Number f;

    if (lua_isinteger(L, idx))
        return buf_put(out, text, ltext_int(text, lua_tointeger(L, idx)));
    f = lua_tonumber(L, idx);
    if (isnan(f) || isinf(f)) {
        *why = "a number is infinite or not a number";
        return -ERR_INVALID;
    }
    return buf_put(out, text, ltext_float(text, f));
}

static int put_value(lua_State *L, int idx, struct buf *out, int depth, const char **why)
{
    struct slice s;

    idx = lua_absindex(L, idx);
    if (depth > LJSON_DEPTH_MAX || !lua_checkstack(L, 12)) {
        *why = "nested too deep, or a table that holds itself";
        return -ERR_INVALID;
    }
    switch (lua_type(L, idx)) {
    case LUA_TTABLE: return put_table(L, idx, out, depth, why);
    case LUA_TNUMBER: return put_number(L, idx, out, why);
    case LUA_TBOOLEAN:
        return lua_toboolean(L, idx) ? buf_put(out, "true", 4) : buf_put(out, "false", 5);
    case LUA_TSTRING:
        s.p = (const unsigned char *)lua_tolstring(L, idx, &s.n);
        if (ltext_json_string(out, s, true) == -ERR_INVALID) {
            *why = "a string is not UTF-8";
            return -ERR_INVALID;
        }
        return out->failed;
    case LUA_TLIGHTUSERDATA:
        if (!lua_touserdata(L, idx))
            return buf_put(out, "null", 4);
        break;
    case LUA_TNIL: *why = "nil (json.null is JSON's null)"; return -ERR_INVALID;
    default: break;
    }
    *why = lua_type(L, idx) == LUA_TFUNCTION ? "a function" : "a userdata or thread";
    return -ERR_INVALID;
}

int ljson_put(lua_State *L, int idx, struct buf *out, const char **why)
{
    *why = "the text is too long";
    return put_value(L, idx, out, 0, why);
}

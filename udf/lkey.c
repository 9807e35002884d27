/* udf/lkey.c - the ordered encoding of store keys.
 *
 *   integer INT0 + k, then the k bytes of the number (big-endian); INT0 - k, then its complement,
 *   if negative
 *   string   STR, its bytes; inside a list zero bytes are 00 FF and 00 ends it
 *   list     LIST, its elements; an inner list is ended by END
 *
 * The outermost string or list needs no end: the key's own end serves, so that a prefix of a string
 * or list is a prefix of the bytes. */
#include "udf/lkey.h"
#include "udf/ljson.h"
#include "udf/ltext.h"
#include "udf/order.h"
#include "udf/udf.h"
#include <lauxlib.h>

enum { END = 0x01, INT0 = 0x14, STR = 0x20, LIST = 0x30, DEPTH_MAX = 8 };

int udf_key_encode_int(int64_t v, struct buf *out)
{
    unsigned char b[9];
    uint64_t u = v < 0 ? ~(uint64_t)v + 1 : (uint64_t)v;
    int k = 0;

    while (k < 8 && u >> (8 * k))
        k++;
    if (v < 0)
        u = ~u;
    b[0] = (unsigned char)(v < 0 ? INT0 - k : INT0 + k);
    for (int i = 0; i < k; i++)
        b[1 + i] = (unsigned char)(u >> (8 * (k - 1 - i)));
    return buf_put(out, b, (size_t)k + 1);
}

int udf_key_encode_str(struct slice s, struct buf *out)
{
    buf_put_u8(out, STR);
    return buf_put_slice(out, s);
}

static int put_inner_string(struct slice s, struct buf *out)
{
    buf_put_u8(out, STR);
    for (size_t i = 0; i < s.n; i++) {
        buf_put_u8(out, s.p[i]);
        if (!s.p[i])
            buf_put_u8(out, 0xFF);
    }
    return buf_put_u8(out, 0);
}

static int put_key(lua_State *L, int idx, struct buf *out, int depth, const char **why);

static int put_list(lua_State *L, int idx, struct buf *out, int depth, const char **why)
{
    bool sequence;
    size_t n = order_count(L, idx, &sequence);

    if (!sequence) {
        *why = "a key may be a list, not a table with other keys than 1 to n";
        return -ERR_INVALID;
    }
    if (depth >= DEPTH_MAX) {
        *why = "a key is nested too deep";
        return -ERR_INVALID;
    }
    buf_put_u8(out, LIST);
    for (size_t i = 1; i <= n; i++) {
        int rc;
        lua_rawgeti(L, idx, (lua_Integer)i);
        rc = put_key(L, -1, out, depth + 1, why);
        lua_pop(L, 1);
        if (rc)
            return rc;
    }
    return depth ? buf_put_u8(out, END) : 0;
}

static int put_key(lua_State *L, int idx, struct buf *out, int depth, const char **why)
{
    struct slice s;
    lua_Integer i;
    int exact;

    idx = lua_absindex(L, idx);
    switch (lua_type(L, idx)) {
    case LUA_TSTRING:
        s.p = (const unsigned char *)lua_tolstring(L, idx, &s.n);
        return depth ? put_inner_string(s, out) : udf_key_encode_str(s, out);
    case LUA_TNUMBER:
        i = lua_tointegerx(L, idx, &exact);
        if (exact)
            return udf_key_encode_int(i, out);
        *why = "a key is a number with a fraction";
        return -ERR_INVALID;
    case LUA_TTABLE:
        if (!lua_checkstack(L, 8)) {
            *why = "a key is nested too deep";
            return -ERR_INVALID;
        }
        return put_list(L, idx, out, depth, why);
    case LUA_TNIL: *why = "the key is nil"; return -ERR_INVALID;
    case LUA_TBOOLEAN: *why = "a key is a boolean"; return -ERR_INVALID;
    default: *why = "a key is neither string, integer nor list"; return -ERR_INVALID;
    }
}

int lkey_put(lua_State *L, int idx, struct buf *out, const char **why)
{
    *why = "the key is too long";
    return put_key(L, idx, out, 0, why);
}

bool lkey_after_prefix(struct buf *enc)
{
    while (enc->n && enc->p[enc->n - 1] == 0xFF)
        enc->n--;
    if (!enc->n)
        return false;
    enc->p[enc->n - 1]++;
    return true;
}

/* ---- reading ---- */

struct cursor {
    struct slice s;
    size_t at;
};

static int read_int(struct cursor *c, int tag, int64_t *v)
{
    int k = tag - INT0;
    bool negative = k < 0;
    uint64_t u = negative ? UINT64_MAX : 0;

    if (negative)
        k = -k;
    if (c->s.n - c->at < (size_t)k)
        return -ERR_CORRUPT;
    for (int i = 0; i < k; i++)
        u = u << 8 | c->s.p[c->at++];
    if (negative)
        u = 0 - ~u;
    else if (u > INT64_MAX)
        return -ERR_CORRUPT;
    *v = (int64_t)u;
    return negative && *v >= 0 ? -ERR_CORRUPT : 0;
}

/* The bytes of a string inside a list, unescaped into out. */
static int read_inner_string(struct cursor *c, struct buf *out)
{
    while (c->at < c->s.n) {
        unsigned char b = c->s.p[c->at++];
        if (!b) {
            if (c->at >= c->s.n || c->s.p[c->at] != 0xFF)
                return out->failed ? -ERR_CORRUPT : 0;
            c->at++;
        }
        buf_put_u8(out, b);
    }
    return -ERR_CORRUPT;
}

static bool is_int(int tag)
{
    return tag >= INT0 - 8 && tag <= INT0 + 8;
}

static int push_one(lua_State *L, struct cursor *c, int depth, struct buf *scratch)
{
    int tag, rc;
    int64_t v;

    if (c->at >= c->s.n || depth > DEPTH_MAX || !lua_checkstack(L, 4))
        return -ERR_CORRUPT;
    tag = c->s.p[c->at++];
    if (is_int(tag)) {
        rc = read_int(c, tag, &v);
        if (!rc)
            lua_pushinteger(L, v);
        return rc;
    }
    if (tag == STR && !depth) {
        lua_pushlstring(L, (const char *)c->s.p + c->at, c->s.n - c->at);
        c->at = c->s.n;
        return 0;
    }
    if (tag == STR) {
        buf_reset(scratch);
        if (read_inner_string(c, scratch))
            return -ERR_CORRUPT;
        lua_pushlstring(L, scratch->n ? (const char *)scratch->p : "", scratch->n);
        return 0;
    }
    if (tag != LIST)
        return -ERR_CORRUPT;
    lua_newtable(L);
    for (lua_Integer n = 1;; n++) {
        if (depth ? c->at < c->s.n && c->s.p[c->at] == END : c->at == c->s.n)
            break;
        if (push_one(L, c, depth + 1, scratch))
            return -ERR_CORRUPT;
        lua_rawseti(L, -2, n);
    }
    c->at += depth > 0;
    return 0;
}

int lkey_push(lua_State *L, struct slice enc, struct buf *scratch)
{
    struct cursor c = {enc, 0};
    int top = lua_gettop(L);

    if (push_one(L, &c, 0, scratch) || c.at != enc.n) {
        lua_settop(L, top);
        return -ERR_CORRUPT;
    }
    return 0;
}

static int text_inner_string(struct cursor *c, struct buf *out)
{
    struct buf s;
    int rc;

    buf_init(&s, UDF_VALUE_MAX);
    rc = read_inner_string(c, &s);
    if (!rc)
        rc = ltext_json_string(out, buf_slice(&s), false);
    buf_deinit(&s);
    return rc;
}

static int text_one(struct cursor *c, int depth, struct buf *out)
{
    char number[LTEXT_NUMBER_MAX];
    int tag, rc;
    int64_t v;

    if (c->at >= c->s.n || depth > DEPTH_MAX)
        return -ERR_CORRUPT;
    tag = c->s.p[c->at++];
    if (is_int(tag)) {
        rc = read_int(c, tag, &v);
        return rc ? rc : buf_put(out, number, ltext_int(number, v));
    }
    if (tag == STR && !depth) {
        rc = buf_put(out, c->s.p + c->at, c->s.n - c->at);
        c->at = c->s.n;
        return rc;
    }
    if (tag == STR)
        return text_inner_string(c, out);
    if (tag != LIST)
        return -ERR_CORRUPT;
    buf_put_u8(out, '[');
    for (bool first = true;; first = false) {
        if (depth ? c->at < c->s.n && c->s.p[c->at] == END : c->at == c->s.n)
            break;
        if (!first)
            buf_put_u8(out, ',');
        rc = text_one(c, depth + 1, out);
        if (rc)
            return rc;
    }
    c->at += depth > 0;
    return buf_put_u8(out, ']');
}

int udf_key_text(struct slice enc, struct buf *out)
{
    struct cursor c = {enc, 0};
    int rc = text_one(&c, 0, out);

    if (rc)
        return rc;
    return c.at == enc.n ? 0 : -ERR_CORRUPT;
}

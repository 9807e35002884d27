/* udf/lvalue.c - the encoding of store values.
 *
 *   FALSE, TRUE, NUL   (json.null)
 *   INT                zigzag LEB128
 *   FLOAT              8 bytes, big-endian; every NaN is the same
 *   STR the rest of the bytes if outermost; inside a table a LEB128 length and the bytes
 *   TABLE, ARRAY LEB128 count of the elements 1..n, these, count of the other keys, these with
 *   their
 *                      values, in the order of pairs */
#include "udf/lvalue.h"
#include "base/bytes.h"
#include "udf/ljson.h"
#include "udf/ltext.h"
#include "udf/order.h"
#include "udf/udf.h"
#include <math.h>
#include <stdlib.h>

enum { FALSE = 1, TRUE, INT, FLOAT, STR, TABLE, ARRAY, NUL, DEPTH_MAX = LJSON_DEPTH_MAX };

static int put_count(struct buf *out, uint64_t v)
{
    unsigned char b[10];
    size_t n = 0;

    for (; v >= 0x80; v >>= 7)
        b[n++] = (unsigned char)(v | 0x80);
    b[n++] = (unsigned char)v;
    return buf_put(out, b, n);
}

int udf_value_encode_int(int64_t v, struct buf *out)
{
    buf_put_u8(out, INT);
    return put_count(out, (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0));
}

int udf_value_encode_str(struct slice s, struct buf *out)
{
    buf_put_u8(out, STR);
    return buf_put_slice(out, s);
}

static int put_float(struct buf *out, double v)
{
    unsigned char b[9] = {FLOAT};
    uint64_t bits;

    if (isnan(v))
        v = (double)NAN;
    memcpy(&bits, &v, 8);
    if (isnan(v))
        bits = UINT64_C(0x7FF8000000000000);
    put_be64(b + 1, bits);
    return buf_put(out, b, 9);
}

static int put_value(lua_State *L, int idx, struct buf *out, int depth, const char **why);

static int put_pair(lua_State *L, int idx, const struct okey *k, struct buf *out, int depth,
                    const char **why)
{
    int rc;

    order_push(L, k);
    rc = put_value(L, -1, out, depth + 1, why);
    if (!rc) {
        lua_rawget(L, idx);
        rc = put_value(L, -1, out, depth + 1, why);
    }
    lua_pop(L, 1);
    return rc;
}

static int put_table(lua_State *L, int idx, struct buf *out, int depth, const char **why)
{
    struct okey small[OKEY_SMALL], *keys = NULL;
    bool sequence;
    size_t n = order_count(L, idx, &sequence), list = n;
    int pushed = 0, rc = 0;

    if (!sequence) {
        keys = order_keys(L, idx, n, small, &pushed, "put");
        for (list = 0; list < n && keys[list].type == OKEY_INT; list++)
            if (keys[list].u.i != (lua_Integer)list + 1)
                break;
    }
    buf_put_u8(out, ljson_is_array(L, idx) ? ARRAY : TABLE);
    put_count(out, list);
    for (size_t i = 1; i <= list && !rc; i++) {
        lua_rawgeti(L, idx, (lua_Integer)i);
        rc = put_value(L, -1, out, depth + 1, why);
        lua_pop(L, 1);
    }
    put_count(out, n - list);
    for (size_t i = list; i < n && !rc; i++)
        rc = put_pair(L, idx, &keys[i], out, depth, why);
    lua_pop(L, pushed);
    return rc ? rc : out->failed;
}

static int put_value(lua_State *L, int idx, struct buf *out, int depth, const char **why)
{
    struct slice s;

    idx = lua_absindex(L, idx);
    if (depth > DEPTH_MAX || !lua_checkstack(L, 12)) {
        *why = "nested too deep, or a table that holds itself";
        return -ERR_INVALID;
    }
    switch (lua_type(L, idx)) {
    case LUA_TBOOLEAN: return buf_put_u8(out, lua_toboolean(L, idx) ? TRUE : FALSE);
    case LUA_TNUMBER:
        if (lua_isinteger(L, idx))
            return udf_value_encode_int(lua_tointeger(L, idx), out);
        return put_float(out, lua_tonumber(L, idx));
    case LUA_TSTRING:
        s.p = (const unsigned char *)lua_tolstring(L, idx, &s.n);
        buf_put_u8(out, STR);
        if (depth)
            put_count(out, s.n);
        return buf_put_slice(out, s);
    case LUA_TTABLE: return put_table(L, idx, out, depth, why);
    case LUA_TLIGHTUSERDATA:
        if (!lua_touserdata(L, idx))
            return buf_put_u8(out, NUL);
        break;
    case LUA_TFUNCTION: *why = "a function"; return -ERR_INVALID;
    default: break;
    }
    *why = "a userdata or thread";
    return -ERR_INVALID;
}

int lvalue_put(lua_State *L, int idx, struct buf *out, const char **why)
{
    *why = "the value is too large";
    return put_value(L, idx, out, 0, why);
}

/* ---- reading ---- */

struct cursor {
    struct slice s;
    size_t at;
};

static int get_count(struct cursor *c, uint64_t *v)
{
    *v = 0;
    for (int shift = 0; shift < 64 && c->at < c->s.n; shift += 7) {
        unsigned char b = c->s.p[c->at++];
        if (shift == 63 && b > 1)
            return -ERR_CORRUPT;
        *v |= (uint64_t)(b & 0x7F) << shift;
        if (b < 0x80)
            return 0;
    }
    return -ERR_CORRUPT;
}

static int get_int(struct cursor *c, int64_t *v)
{
    uint64_t u;
    int rc = get_count(c, &u);

    *v = (int64_t)(u >> 1 ^ (u & 1 ? UINT64_MAX : 0));
    return rc;
}

static int get_float(struct cursor *c, double *v)
{
    uint64_t bits;

    if (c->s.n - c->at < 8)
        return -ERR_CORRUPT;
    bits = get_be64(c->s.p + c->at);
    c->at += 8;
    memcpy(v, &bits, 8);
    return 0;
}

static int get_string(struct cursor *c, int depth, struct slice *s)
{
    uint64_t n = c->s.n - c->at;

    if (depth && get_count(c, &n))
        return -ERR_CORRUPT;
    if (n > c->s.n - c->at)
        return -ERR_CORRUPT;
    *s = slice_sub(c->s, c->at, (size_t)n);
    c->at += (size_t)n;
    return 0;
}

static int push_one(lua_State *L, struct cursor *c, int depth);

static int push_table(lua_State *L, struct cursor *c, int depth, bool array)
{
    uint64_t n;

    /* Each element is a byte at least: no count can make us allocate more than the bytes at
     * hand. */
    if (get_count(c, &n) || n > c->s.n - c->at)
        return -ERR_CORRUPT;
    lua_createtable(L, (int)n, 0);
    if (array)
        ljson_mark_array(L);
    for (uint64_t i = 1; i <= n; i++) {
        if (push_one(L, c, depth + 1))
            return -ERR_CORRUPT;
        lua_rawseti(L, -2, (lua_Integer)i);
    }
    if (get_count(c, &n) || n > c->s.n - c->at)
        return -ERR_CORRUPT;
    while (n--) {
        if (push_one(L, c, depth + 1))
            return -ERR_CORRUPT;
        if (lua_type(L, -1) == LUA_TNUMBER && isnan(lua_tonumber(L, -1)))
            return -ERR_CORRUPT;
        if (push_one(L, c, depth + 1))
            return -ERR_CORRUPT;
        lua_rawset(L, -3);
    }
    return 0;
}

static int push_one(lua_State *L, struct cursor *c, int depth)
{
    struct slice s;
    int64_t i;
    double f;

    if (c->at >= c->s.n || depth > DEPTH_MAX || !lua_checkstack(L, 8))
        return -ERR_CORRUPT;
    switch (c->s.p[c->at++]) {
    case FALSE: lua_pushboolean(L, 0); return 0;
    case TRUE: lua_pushboolean(L, 1); return 0;
    case NUL: lua_pushlightuserdata(L, NULL); return 0;
    case INT:
        if (get_int(c, &i))
            return -ERR_CORRUPT;
        lua_pushinteger(L, i);
        return 0;
    case FLOAT:
        if (get_float(c, &f))
            return -ERR_CORRUPT;
        lua_pushnumber(L, f);
        return 0;
    case STR:
        if (get_string(c, depth, &s))
            return -ERR_CORRUPT;
        lua_pushlstring(L, (const char *)s.p, s.n);
        return 0;
    case TABLE: return push_table(L, c, depth, false);
    case ARRAY: return push_table(L, c, depth, true);
    default: return -ERR_CORRUPT;
    }
}

int lvalue_push(lua_State *L, struct slice enc)
{
    struct cursor c = {enc, 0};
    int top = lua_gettop(L);

    if (push_one(L, &c, 0) || c.at != enc.n) {
        lua_settop(L, top);
        return -ERR_CORRUPT;
    }
    return 0;
}

/* ---- text ---- */

static int text_one(struct cursor *c, int depth, struct buf *out);

/* One key-value pair of a table: the key as it stands in JSON's quotes, and where its value
 * lies. */
struct member {
    struct slice text; /* into `texts` below, by offset until all are there */
    size_t from, n, value_at;
};

static int compare_members(const void *a, const void *b)
{
    return slice_cmp(((const struct member *)a)->text, ((const struct member *)b)->text);
}

/* Reads past a value without keeping its text. */
static int skip_one(struct cursor *c, int depth)
{
    struct slice s;
    uint64_t n;
    double f;
    int tag;

    if (c->at >= c->s.n || depth > DEPTH_MAX)
        return -ERR_CORRUPT;
    tag = c->s.p[c->at++];
    if (tag == INT)
        return get_count(c, &n);
    if (tag == FLOAT)
        return get_float(c, &f);
    if (tag == STR)
        return get_string(c, depth, &s);
    if (tag == TABLE || tag == ARRAY) {
        for (int per = 1; per <= 2; per++) {
            if (get_count(c, &n) || n > c->s.n - c->at)
                return -ERR_CORRUPT;
            for (n *= (uint64_t)per; n--;)
                if (skip_one(c, depth + 1))
                    return -ERR_CORRUPT;
        }
        return 0;
    }
    return tag == FALSE || tag == TRUE || tag == NUL ? 0 : -ERR_CORRUPT;
}

static int member_key(struct cursor *c, int depth, struct member *m, struct buf *texts)
{
    char number[LTEXT_NUMBER_MAX];
    struct slice s;
    int64_t i;
    double f;

    m->from = texts->n;
    switch (c->at < c->s.n ? c->s.p[c->at++] : 0) {
    case INT:
        if (get_int(c, &i))
            return -ERR_CORRUPT;
        buf_put(texts, number, ltext_int(number, i));
        break;
    case FLOAT:
        if (get_float(c, &f))
            return -ERR_CORRUPT;
        buf_put(texts, number, ltext_float(number, f));
        break;
    case STR:
        if (get_string(c, depth, &s))
            return -ERR_CORRUPT;
        buf_put_slice(texts, s);
        break;
    case FALSE: buf_put(texts, "false", 5); break;
    case TRUE: buf_put(texts, "true", 4); break;
    default: return -ERR_CORRUPT;
    }
    m->n = texts->n - m->from;
    m->value_at = c->at;
    return texts->failed;
}

static int text_members(struct cursor *c, struct member *m, size_t n, const struct buf *texts,
                        int depth, struct buf *out)
{
    for (size_t i = 0; i < n; i++)
        m[i].text = slice_sub(buf_slice(texts), m[i].from, m[i].n);
    qsort(m, n, sizeof *m, compare_members);
    buf_put_u8(out, '{');
    for (size_t i = 0; i < n; i++) {
        struct cursor at = {c->s, m[i].value_at};
        if (i)
            buf_put_u8(out, ',');
        ltext_json_string(out, m[i].text, false);
        buf_put_u8(out, ':');
        if (text_one(&at, depth + 1, out))
            return -ERR_CORRUPT;
    }
    return buf_put_u8(out, '}');
}

/* A table with keys other than 1..n: its n elements lie at `list`, the others behind. */
static int text_object(struct cursor *c, int depth, uint64_t list, uint64_t others, size_t list_at,
                       struct buf *out)
{
    struct cursor elements = {c->s, list_at};
    size_t n = (size_t)(list + others);
    struct member *m = calloc(n ? n : 1, sizeof *m);
    struct buf texts;
    int rc = m ? 0 : -ERR_NOMEM;

    buf_init(&texts, UDF_VALUE_MAX * 2ul);
    for (size_t i = 0; i < n && !rc; i++) {
        if (i < list) {
            m[i].from = texts.n;
            buf_printf(&texts, "%zu", i + 1);
            m[i].n = texts.n - m[i].from;
            m[i].value_at = elements.at;
            rc = skip_one(&elements, depth + 1);
        } else {
            rc = member_key(c, depth + 1, &m[i], &texts);
            if (!rc)
                rc = skip_one(c, depth + 1);
        }
    }
    if (!rc)
        rc = texts.failed ? texts.failed : text_members(c, m, n, &texts, depth, out);
    buf_deinit(&texts);
    free(m);
    return rc;
}

static int text_table(struct cursor *c, int depth, bool array, struct buf *out)
{
    uint64_t list, others;
    size_t list_at;

    if (get_count(c, &list) || list > c->s.n - c->at)
        return -ERR_CORRUPT;
    list_at = c->at;
    for (uint64_t i = 0; i < list; i++)
        if (skip_one(c, depth + 1))
            return -ERR_CORRUPT;
    if (get_count(c, &others) || others > c->s.n - c->at)
        return -ERR_CORRUPT;
    if (others || (!list && !array))
        return text_object(c, depth, list, others, list_at, out);
    buf_put_u8(out, '[');
    for (uint64_t i = 0; i < list; i++) {
        struct cursor at = {c->s, list_at};
        if (i)
            buf_put_u8(out, ',');
        if (text_one(&at, depth + 1, out))
            return -ERR_CORRUPT;
        list_at = at.at;
    }
    return buf_put_u8(out, ']');
}

static int text_one(struct cursor *c, int depth, struct buf *out)
{
    char number[LTEXT_NUMBER_MAX];
    struct slice s;
    int64_t i;
    double f;

    if (c->at >= c->s.n || depth > DEPTH_MAX)
        return -ERR_CORRUPT;
    switch (c->s.p[c->at++]) {
    case FALSE: return buf_put(out, "false", 5);
    case TRUE: return buf_put(out, "true", 4);
    case NUL: return buf_put(out, "null", 4);
    case INT:
        if (get_int(c, &i))
            return -ERR_CORRUPT;
        return buf_put(out, number, ltext_int(number, i));
    case FLOAT:
        if (get_float(c, &f))
            return -ERR_CORRUPT;
        return buf_put(out, number, ltext_float(number, f));
    case STR:
        if (get_string(c, depth, &s))
            return -ERR_CORRUPT;
        return depth ? ltext_json_string(out, s, false) : buf_put_slice(out, s);
    case TABLE: return text_table(c, depth, false, out);
    case ARRAY: return text_table(c, depth, true, out);
    default: return -ERR_CORRUPT;
    }
}

int udf_value_text(struct slice enc, struct buf *out)
{
    struct cursor c = {enc, 0};
    int rc = text_one(&c, 0, out);

    if (rc)
        return rc;
    return c.at == enc.n ? 0 : -ERR_CORRUPT;
}

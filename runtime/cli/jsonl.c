/* runtime/cli/jsonl.c - writing and reading records as JSON lines. */
#include "runtime/cli/jsonl.h"
#include "base/wire/batch.h"
#include "runtime/cli/cli.h"
#include <inttypes.h>

enum { DEPTH_MAX = 64, HEADERS_BYTES_MAX = 16 << 20 };

int jsonl_write(struct buf *out, const struct fetched *r, const char *mark)
{
    struct record rec = {.headers = r->headers, .n_headers = r->n_headers};
    struct header_iter it;
    struct slice key, value;
    bool first = true;

    buf_printf(out, "{\"topic\":");
    json_string(out, r->topic);
    buf_printf(out, ",\"partition\":%d,\"offset\":%" PRId64 ",\"time\":%" PRId64 ",\"key\":",
               r->partition, r->offset, r->timestamp);
    json_bytes(out, r->key);
    buf_printf(out, ",\"value\":");
    json_bytes(out, r->value);
    buf_printf(out, ",\"headers\":[");
    header_iter_init(&it, &rec);
    while (header_iter_next(&it, &key, &value)) {
        buf_printf(out, "%s{\"key\":", first ? "" : ",");
        json_bytes(out, key);
        buf_printf(out, ",\"value\":");
        json_bytes(out, value);
        buf_put_u8(out, '}');
        first = false;
    }
    buf_put_u8(out, ']');
    if (mark)
        buf_printf(out, ",%s", mark);
    return buf_put(out, "}\n", 2);
}

/* ---- reading ---- */

struct reader {
    const unsigned char *begin, *p, *end;
    struct arena *arena;
    struct err *e;
    int depth;
};

static int bad(struct reader *r, const char *what)
{
    return err_set(r->e, ERR_INVALID, "column %zu: %s", (size_t)(r->p - r->begin) + 1, what);
}

static void space(struct reader *r)
{
    while (r->p < r->end && (*r->p == ' ' || *r->p == '\t' || *r->p == '\r'))
        r->p++;
}

static bool eat(struct reader *r, char c)
{
    space(r);
    if (r->p < r->end && *r->p == (unsigned char)c) {
        r->p++;
        return true;
    }
    return false;
}

static int hex4(struct reader *r, uint32_t *v)
{
    *v = 0;
    if (r->end - r->p < 4)
        return bad(r, "a \\u escape has four hex digits");
    for (int i = 0; i < 4; i++) {
        unsigned char c = *r->p++;
        int d = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
        if (d < 0)
            return bad(r, "a \\u escape has four hex digits");
        *v = *v * 16 + (uint32_t)d;
    }
    return 0;
}

static size_t put_utf8(unsigned char *to, uint32_t c)
{
    if (c < 0x80) {
        to[0] = (unsigned char)c;
        return 1;
    }
    if (c < 0x800) {
        to[0] = (unsigned char)(0xc0 | c >> 6);
        to[1] = (unsigned char)(0x80 | (c & 63));
        return 2;
    }
    if (c < 0x10000) {
        to[0] = (unsigned char)(0xe0 | c >> 12);
        to[1] = (unsigned char)(0x80 | (c >> 6 & 63));
        to[2] = (unsigned char)(0x80 | (c & 63));
        return 3;
    }
    to[0] = (unsigned char)(0xf0 | c >> 18);
    to[1] = (unsigned char)(0x80 | (c >> 12 & 63));
    to[2] = (unsigned char)(0x80 | (c >> 6 & 63));
    to[3] = (unsigned char)(0x80 | (c & 63));
    return 4;
}

static int escape(struct reader *r, unsigned char *to, size_t *n)
{
    static const char from[] = "\"\\/bfnrt", is[] = "\"\\/\b\f\n\r\t";
    const char *at;
    uint32_t c, low;

    if (r->p == r->end)
        return bad(r, "the string ends in an escape");
    if (*r->p != 'u') {
        at = strchr(from, *r->p);
        if (!at || !*r->p)
            return bad(r, "unknown escape");
        r->p++;
        to[(*n)++] = (unsigned char)is[at - from];
        return 0;
    }
    r->p++;
    if (hex4(r, &c))
        return -ERR_INVALID;
    if (c >= 0xd800 && c < 0xdc00 && r->end - r->p >= 6 && r->p[0] == '\\' && r->p[1] == 'u') {
        r->p += 2;
        if (hex4(r, &low))
            return -ERR_INVALID;
        if (low < 0xdc00 || low > 0xdfff)
            return bad(r, "half of a surrogate pair");
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    }
    if (c >= 0xd800 && c <= 0xdfff)
        return bad(r, "half of a surrogate pair");
    *n += put_utf8(to + *n, c);
    return 0;
}

static int string(struct reader *r, struct slice *out)
{
    unsigned char *to;
    size_t n = 0;

    if (!eat(r, '"'))
        return bad(r, "a string is expected");
    to = arena_alloc(r->arena, (size_t)(r->end - r->p) + 4);
    if (!to)
        return err_set(r->e, ERR_NOMEM, "out of memory");
    while (r->p < r->end && *r->p != '"') {
        if (*r->p == '\\') {
            r->p++;
            if (escape(r, to, &n))
                return -ERR_INVALID;
        } else
            to[n++] = *r->p++;
    }
    if (r->p == r->end)
        return bad(r, "the string does not end");
    r->p++;
    *out = slice_of(to, n);
    return 0;
}

static int digit64(unsigned char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
                                  : -1;
}

static int unbase64(struct reader *r, struct slice text, struct slice *out)
{
    unsigned char *to = arena_alloc(r->arena, text.n + 4);
    uint32_t bits = 0;
    size_t n = 0;
    int have = 0;

    if (!to)
        return err_set(r->e, ERR_NOMEM, "out of memory");
    for (int i = 0; i < 2 && text.n && text.p[text.n - 1] == '='; i++)
        text.n--;
    if (text.n % 4 == 1)
        return bad(r, "not base64");
    for (size_t i = 0; i < text.n; i++) {
        int d = digit64(text.p[i]);
        if (d < 0)
            return bad(r, "not base64");
        bits = bits << 6 | (uint32_t)d;
        have += 6;
        if (have >= 8) {
            have -= 8;
            to[n++] = (unsigned char)(bits >> have);
        }
    }
    *out = slice_of(to, n);
    return 0;
}

static bool word(struct reader *r, const char *w)
{
    size_t n = strlen(w);

    space(r);
    if ((size_t)(r->end - r->p) < n || memcmp(r->p, w, n) != 0)
        return false;
    r->p += n;
    return true;
}

/* A string, null, or {"base64":"…"}. */
static int bytes(struct reader *r, struct slice *out)
{
    struct slice name, text;

    if (word(r, "null")) {
        *out = SLICE_NULL;
        return 0;
    }
    if (!eat(r, '{'))
        return string(r, out);
    if (string(r, &name))
        return -ERR_INVALID;
    if (!slice_eq_str(name, "base64") || !eat(r, ':'))
        return bad(r, "a string, null or {\"base64\":\"…\"} is expected");
    if (string(r, &text))
        return -ERR_INVALID;
    if (!eat(r, '}'))
        return bad(r, "} is expected");
    return unbase64(r, text, out);
}

static int number(struct reader *r, int64_t *v)
{
    const unsigned char *at;

    space(r);
    at = r->p;
    while (r->p < r->end && (*r->p == '-' || (*r->p >= '0' && *r->p <= '9')))
        r->p++;
    if (parse_i64(slice_of(at, (size_t)(r->p - at)), v))
        return bad(r, "a whole number is expected");
    return 0;
}

/* Behind an element of a list or object: 1, another follows; 0, it has ended. */
static int go_on(struct reader *r, char close)
{
    if (eat(r, ','))
        return 1;
    if (eat(r, close))
        return 0;
    return bad(r, close == '}' ? "a comma or } is expected" : "a comma or ] is expected");
}

/* The name of an object's field and its colon. */
static int field(struct reader *r, struct slice *name)
{
    if (string(r, name))
        return -ERR_INVALID;
    return eat(r, ':') ? 0 : bad(r, ": is expected");
}

static int skip(struct reader *r);

static int skip_nested(struct reader *r)
{
    char close = *r->p++ == '{' ? '}' : ']';
    struct slice s;
    int more = 1;

    if (++r->depth > DEPTH_MAX)
        return bad(r, "nested too deeply");
    if (eat(r, close))
        more = 0;
    while (more > 0) {
        if ((close == '}' && field(r, &s)) || skip(r))
            return -ERR_INVALID;
        more = go_on(r, close);
    }
    r->depth--;
    return more;
}

static int skip(struct reader *r)
{
    struct slice s;

    space(r);
    if (r->p == r->end)
        return bad(r, "a value is expected");
    if (*r->p == '"')
        return string(r, &s);
    if (*r->p == '{' || *r->p == '[')
        return skip_nested(r);
    if (word(r, "null") || word(r, "true") || word(r, "false"))
        return 0;
    while (r->p < r->end && strchr("+-.eE0123456789", *r->p) && *r->p)
        r->p++;
    return r->p > r->begin && strchr("0123456789", r->p[-1]) ? 0 : bad(r, "a value is expected");
}

static int header(struct reader *r, struct buf *out)
{
    struct slice key = SLICE_NULL, value = SLICE_NULL, name;
    unsigned char v[10];

    int more = 1;

    if (!eat(r, '{'))
        return bad(r, "a header is {\"key\":…,\"value\":…}");
    if (eat(r, '}'))
        more = 0;
    while (more > 0) {
        if (field(r, &name) || (slice_eq_str(name, "key")     ? bytes(r, &key)
                                : slice_eq_str(name, "value") ? bytes(r, &value)
                                                              : skip(r)))
            return -ERR_INVALID;
        more = go_on(r, '}');
    }
    if (more)
        return more;
    if (!key.p)
        return bad(r, "a header needs a key");
    buf_put(out, v, (size_t)put_varint(v, (int64_t)key.n));
    buf_put_slice(out, key);
    buf_put(out, v, (size_t)put_varint(v, value.p ? (int64_t)value.n : -1));
    buf_put_slice(out, value);
    return out->failed ? err_set(r->e, ERR_TOO_BIG, "headers are too large") : 0;
}

static int headers(struct reader *r, struct jsonl_record *rec)
{
    struct buf b;
    int more = 1;

    if (!eat(r, '['))
        return bad(r, "headers are a list");
    buf_init(&b, HEADERS_BYTES_MAX);
    rec->n_headers = 0;
    if (eat(r, ']'))
        more = 0;
    while (more > 0) {
        more = header(r, &b);
        if (!more)
            more = go_on(r, ']');
        rec->n_headers++;
    }
    if (!more)
        rec->headers = arena_copy(r->arena, buf_slice(&b));
    buf_deinit(&b);
    return more;
}

static int record_field(struct reader *r, struct jsonl_record *rec)
{
    struct slice name;

    if (field(r, &name))
        return -ERR_INVALID;
    if (slice_eq_str(name, "key"))
        return bytes(r, &rec->key);
    if (slice_eq_str(name, "value"))
        return bytes(r, &rec->value);
    if (slice_eq_str(name, "time"))
        return number(r, &rec->time);
    if (slice_eq_str(name, "headers"))
        return headers(r, rec);
    rec->marked |= slice_eq_str(name, "aborted") || slice_eq_str(name, "control") ||
                   slice_eq_str(name, "open");
    if (!slice_eq_str(name, "partition"))
        return skip(r);
    if (number(r, &rec->partition))
        return -ERR_INVALID;
    return rec->partition < 0 || rec->partition > INT32_MAX ? bad(r, "no partition has this number")
                                                            : 0;
}

int jsonl_read(struct slice line, struct jsonl_record *rec, struct arena *a, struct err *e)
{
    struct reader r = {.begin = line.p, .p = line.p, .end = line.p + line.n, .arena = a, .e = e};
    int more = 1;

    *rec = (struct jsonl_record){.partition = -1, .time = -1};
    if (!eat(&r, '{'))
        return bad(&r, "a JSON object is expected");
    if (eat(&r, '}'))
        more = 0;
    while (more > 0) {
        more = record_field(&r, rec);
        if (!more)
            more = go_on(&r, '}');
    }
    if (more)
        return more;
    space(&r);
    return r.p == r.end ? 0 : bad(&r, "something follows the object");
}

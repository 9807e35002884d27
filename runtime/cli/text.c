/* runtime/cli/text.c - bytes as text for people and scripts. */
#include "runtime/cli/cli.h"

static const char hex[] = "0123456789abcdef";

/* Bytes of the UTF-8 character at p (of n left), 0 when there is none. */
static size_t utf8_at(const unsigned char *p, size_t n)
{
    for (size_t k = 1; k <= 4 && k <= n; k++)
        if (utf8_valid(slice_of(p, k)))
            return k;
    return 0;
}

int text_escape(struct buf *out, struct slice s)
{
    for (size_t i = 0; i < s.n;) {
        unsigned char ch = s.p[i];
        size_t n = utf8_at(s.p + i, s.n - i);

        if (ch == '\t' || ch == '\n' || ch == '\r' || ch == '\\') {
            char two[2] = {'\\', ch == '\t' ? 't' : ch == '\n' ? 'n' : ch == '\r' ? 'r' : '\\'};
            buf_put(out, two, 2);
            i++;
        } else if (n) {
            buf_put(out, s.p + i, n);
            i += n;
        } else {
            char four[4] = {'\\', 'x', hex[ch >> 4], hex[ch & 15]};
            buf_put(out, four, 4);
            i++;
        }
    }
    return out->failed;
}

int json_string(struct buf *out, struct slice s)
{
    buf_put_u8(out, '"');
    for (size_t i = 0; i < s.n; i++) {
        unsigned char ch = s.p[i];
        if (ch == '"' || ch == '\\') {
            buf_put_u8(out, '\\');
            buf_put_u8(out, ch);
        } else if (ch == '\n')
            buf_put(out, "\\n", 2);
        else if (ch == '\t')
            buf_put(out, "\\t", 2);
        else if (ch == '\r')
            buf_put(out, "\\r", 2);
        else if (ch < 0x20 || ch == 0x7f)
            buf_printf(out, "\\u%04x", ch);
        else
            buf_put_u8(out, ch);
    }
    return buf_put_u8(out, '"');
}

static void base64(struct buf *out, struct slice s)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i < s.n; i += 3) {
        size_t n = s.n - i < 3 ? s.n - i : 3;
        uint32_t v = (uint32_t)s.p[i] << 16;
        char four[4];

        if (n > 1)
            v |= (uint32_t)s.p[i + 1] << 8;
        if (n > 2)
            v |= s.p[i + 2];
        four[0] = digits[v >> 18];
        four[1] = digits[v >> 12 & 63];
        four[2] = n > 1 ? digits[v >> 6 & 63] : '=';
        four[3] = n > 2 ? digits[v & 63] : '=';
        buf_put(out, four, 4);
    }
}

int json_bytes(struct buf *out, struct slice s)
{
    if (!s.p)
        return buf_put(out, "null", 4);
    if (utf8_valid(s))
        return json_string(out, s);
    buf_put(out, "{\"base64\":\"", 11);
    base64(out, s);
    return buf_put(out, "\"}", 2);
}

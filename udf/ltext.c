/* udf/ltext.c - text of numbers, names and excerpts.
 *
 * snprintf and strtod are used in the C locale, which the process never leaves. */
#include "udf/ltext.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

size_t ltext_int(char out[LTEXT_NUMBER_MAX], int64_t v)
{
    char tmp[24];
    uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    size_t n = 0, at = 0;

    do
        tmp[n++] = (char)('0' + u % 10);
    while (u /= 10);
    if (v < 0)
        out[at++] = '-';
    while (n)
        out[at++] = tmp[--n];
    return at;
}

size_t ltext_float(char out[LTEXT_NUMBER_MAX], double v)
{
    int n = 0;

    if (isnan(v)) {
        memcpy(out, "nan", 3);
        return 3;
    }
    if (isinf(v)) {
        n = v < 0 ? 4 : 3;
        memcpy(out, v < 0 ? "-inf" : "inf", (size_t)n);
        return (size_t)n;
    }
    for (int digits = 15; digits <= 17; digits++) {
        n = snprintf(out, LTEXT_NUMBER_MAX, "%.*g", digits, v);
        if (strtod(out, NULL) == v)
            break;
    }
    if (!memchr(out, '.', (size_t)n) && !memchr(out, 'e', (size_t)n)) {
        out[n++] = '.';
        out[n++] = '0';
    }
    return (size_t)n;
}

size_t ltext_utf8(struct slice s)
{
    static const struct {
        unsigned char first, last, low, high; /* of the first byte; of the second */
        unsigned char n;
    } forms[] = {{0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
                 {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3},
                 {0xEE, 0xEF, 0x80, 0xBF, 3}, {0xF0, 0xF0, 0x90, 0xBF, 4},
                 {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4}};

    if (!s.n)
        return 0;
    if (s.p[0] < 0x80)
        return 1;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (s.p[0] < forms[i].first || s.p[0] > forms[i].last)
            continue;
        if (s.n < forms[i].n || s.p[1] < forms[i].low || s.p[1] > forms[i].high)
            return 0;
        for (size_t k = 2; k < forms[i].n; k++)
            if ((s.p[k] & 0xC0) != 0x80)
                return 0;
        return forms[i].n;
    }
    return 0;
}

static int put_escape(struct buf *out, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
    const char *at = c ? strchr(from, c) : NULL;
    char text[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};

    if (!at)
        return buf_put(out, text, 6);
    text[1] = to[at - from];
    return buf_put(out, text, 2);
}

int ltext_json_string(struct buf *out, struct slice s, bool strict)
{
    size_t from = 0, i = 0;

    buf_put_u8(out, '"');
    while (i < s.n) {
        unsigned char c = s.p[i];
        if (c < 0x20 || c == '"' || c == '\\') {
            buf_put(out, s.p + from, i - from);
            put_escape(out, c);
            from = ++i;
        } else if (c < 0x80 || !strict) {
            i++;
        } else {
            size_t n = ltext_utf8(slice_of(s.p + i, s.n - i));
            if (!n)
                return -ERR_INVALID;
            i += n;
        }
    }
    buf_put(out, s.p + from, s.n - from);
    buf_put_u8(out, '"');
    return out->failed;
}

void ltext_excerpt(struct buf *out, struct slice s, size_t max, bool quote)
{
    size_t i = 0;

    if (slice_is_null(s)) {
        buf_put(out, "nil", 3);
        return;
    }
    if (quote)
        buf_put_u8(out, '"');
    while (i < s.n && i < max) {
        size_t n = ltext_utf8(slice_of(s.p + i, s.n - i));
        if (!n) {
            buf_printf(out, "\\x%02x", s.p[i]);
            n = 1;
        } else if (s.p[i] < 0x20 || s.p[i] == 0x7F ||
                   (quote && (s.p[i] == '"' || s.p[i] == '\\'))) {
            put_escape(out, s.p[i]);
        } else {
            buf_put(out, s.p + i, n);
        }
        i += n;
    }
    if (i < s.n)
        buf_put(out, "\xE2\x80\xA6", 3);
    if (quote)
        buf_put_u8(out, '"');
}

/* Edits (insert, delete, replace, swap neighbours) from a to b; both at most 63 long. */
static size_t distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b), d[3][65];

    if (n > 63 || m > 63)
        return 64;
    for (size_t k = 0; k <= m; k++)
        d[1][k] = k;
    for (size_t i = 1; i <= n; i++) {
        memcpy(d[0], d[1], sizeof d[0]);
        if (i > 1)
            memcpy(d[1], d[2], sizeof d[1]);
        d[2][0] = i;
        for (size_t k = 1; k <= m; k++) {
            size_t best = d[1][k - 1] + (a[i - 1] != b[k - 1]);
            if (d[1][k] + 1 < best)
                best = d[1][k] + 1;
            if (d[2][k - 1] + 1 < best)
                best = d[2][k - 1] + 1;
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1] &&
                d[0][k - 2] + 1 < best)
                best = d[0][k - 2] + 1;
            d[2][k] = best;
        }
    }
    return n ? d[2][m] : m;
}

const char *ltext_nearest(const char *name, const char *const *names)
{
    const char *best = NULL;
    size_t least = strlen(name) / 3 + 1;

    for (; *names; names++) {
        size_t d = distance(name, *names);
        if (d <= least && (!best || d < least)) {
            least = d;
            best = *names;
        }
    }
    return best;
}

bool ltext_is_name(struct slice s, size_t max)
{
    if (s.n < 1 || s.n > max)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = s.p[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '.' || c == '_' || c == '-'))
            return false;
    }
    return true;
}

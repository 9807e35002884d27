/* tests/base/wire/support_json.c - see the header. */
#include "tests/base/wire/support_json.h"
#include <stdlib.h>

static void skip(struct slice *s, size_t n)
{
    *s = slice_sub(*s, n, s->n);
}

static void skip_space(struct slice *s)
{
    while (s->n && (*s->p == ' ' || *s->p == '\n' || *s->p == '\r' || *s->p == '\t'))
        skip(s, 1);
}

static size_t string_size(struct slice s)
{
    for (size_t i = 1; i < s.n; i++) {
        if (s.p[i] == '\\')
            i++;
        else if (s.p[i] == '"')
            return i + 1;
    }
    return 0;
}

/* Takes one value off the front; null slice if there is none. */
static struct slice take(struct slice *s)
{
    size_t n = 0;
    int depth = 0;
    skip_space(s);
    if (s->n == 0)
        return SLICE_NULL;
    if (*s->p == '"') {
        n = string_size(*s);
    } else if (*s->p == '{' || *s->p == '[') {
        do {
            if (s->p[n] == '"')
                n += string_size(slice_sub(*s, n, s->n)) - 1;
            depth += (s->p[n] == '{' || s->p[n] == '[') - (s->p[n] == '}' || s->p[n] == ']');
        } while (++n < s->n && depth);
    } else {
        while (n < s->n && !strchr(",]} \n", s->p[n]))
            n++;
    }
    struct slice v = slice_sub(*s, 0, n);
    skip(s, n);
    return n && depth == 0 ? v : SLICE_NULL;
}

struct slice json_begin(struct slice v)
{
    return v.n >= 2 ? slice_sub(v, 1, v.n - 2) : SLICE_NULL;
}

struct slice json_next(struct slice *at)
{
    skip_space(at);
    if (at->n && *at->p == ',')
        skip(at, 1);
    return take(at);
}

struct slice json_next_member(struct slice *at, struct slice *name)
{
    *name = json_next(at);
    skip_space(at);
    if (!name->p || at->n == 0 || *at->p != ':')
        return SLICE_NULL;
    skip(at, 1);
    return take(at);
}

struct slice json_text(struct slice string)
{
    return json_begin(string);
}

struct slice json_get(struct slice object, const char *name)
{
    struct slice at = json_begin(object), key, v;
    while ((v = json_next_member(&at, &key)).p)
        if (slice_eq_str(json_text(key), name))
            return v;
    return SLICE_NULL;
}

int64_t json_int(struct slice number)
{
    char text[32] = "";
    if (number.n < sizeof text)
        memcpy(text, number.p, number.n);
    return strtoll(text, NULL, 10);
}

bool json_is_null(struct slice value)
{
    return slice_eq_str(value, "null");
}

/* The next character of a string, escapes resolved (no surrogates); -1 at the end. */
static int next_char(struct slice *s)
{
    if (s->n == 0)
        return -1;
    int c = *s->p;
    skip(s, 1);
    if (c != '\\' || s->n == 0)
        return c;
    c = *s->p;
    skip(s, 1);
    if (c != 'u')
        return c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
    char hex[5] = "";
    memcpy(hex, s->p, s->n < 4 ? s->n : 4);
    skip(s, 4);
    return (int)strtol(hex, NULL, 16);
}

static bool strings_equal(struct slice a, struct slice b)
{
    a = json_text(a);
    b = json_text(b);
    for (;;) {
        int x = next_char(&a), y = next_char(&b);
        if (x != y)
            return false;
        if (x < 0)
            return true;
    }
}

static bool objects_equal(struct slice a, struct slice b)
{
    struct slice at = json_begin(a), key, v;
    int n = 0;
    for (; (v = json_next_member(&at, &key)).p; n++) {
        char name[128] = "";
        struct slice text = json_text(key);
        if (text.n >= sizeof name)
            return false;
        memcpy(name, text.p, text.n);
        if (!json_equal(v, json_get(b, name)))
            return false;
    }
    at = json_begin(b);
    while (json_next_member(&at, &key).p)
        n--;
    return n == 0;
}

bool json_equal(struct slice a, struct slice b)
{
    if (!a.p || !b.p || a.n == 0 || b.n == 0 || *a.p != *b.p)
        return false;
    if (*a.p == '"')
        return strings_equal(a, b);
    if (*a.p == '{')
        return objects_equal(a, b);
    if (*a.p != '[')
        return slice_eq(a, b);
    struct slice x = json_begin(a), y = json_begin(b), v;
    while ((v = json_next(&x)).p)
        if (!json_equal(v, json_next(&y)))
            return false;
    return !json_next(&y).p;
}

/* base/conf.c - an ordered list of named settings. */
#include "base/conf.h"
#include "base/bytes.h"
#include <stdlib.h>

void conf_init(struct conf *c)
{
    *c = (struct conf){0};
}

void conf_deinit(struct conf *c)
{
    for (int i = 0; i < c->n; i++) {
        free(c->v[i].key);
        free(c->v[i].value);
    }
    free(c->v);
    conf_init(c);
}

static char *copy_text(struct slice s)
{
    char *p = malloc(s.n + 1);
    if (p) {
        if (s.n)
            memcpy(p, s.p, s.n);
        p[s.n] = 0;
    }
    return p;
}

static int find(const struct conf *c, struct slice key)
{
    for (int i = 0; c && i < c->n; i++)
        if (slice_eq_str(key, c->v[i].key))
            return i;
    return -1;
}

static void remove_at(struct conf *c, int i)
{
    free(c->v[i].key);
    free(c->v[i].value);
    memmove(&c->v[i], &c->v[i + 1], (size_t)(c->n - i - 1) * sizeof c->v[0]);
    c->n--;
}

int conf_set(struct conf *c, struct slice key, struct slice value)
{
    int i = find(c, key);
    char *k, *v;

    if (slice_is_null(value)) {
        if (i >= 0)
            remove_at(c, i);
        return 0;
    }
    v = copy_text(value);
    if (!v)
        return -ERR_NOMEM;
    if (i >= 0) {
        free(c->v[i].value);
        c->v[i].value = v;
        return 0;
    }
    if (c->n == c->cap) {
        int cap = c->cap ? c->cap * 2 : 8;
        struct conf_entry *p = realloc(c->v, (size_t)cap * sizeof *p);
        if (!p) {
            free(v);
            return -ERR_NOMEM;
        }
        c->v = p;
        c->cap = cap;
    }
    k = copy_text(key);
    if (!k) {
        free(v);
        return -ERR_NOMEM;
    }
    c->v[c->n++] = (struct conf_entry){.key = k, .value = v};
    return 0;
}

int conf_parse(struct conf *c, const char *pair, struct err *e)
{
    const char *eq = strchr(pair, '=');

    if (!eq || eq == pair)
        return err_set(e, ERR_INVALID, "'%s' is not of the form key=value", pair);
    if (conf_set(c, slice_of(pair, (size_t)(eq - pair)), slice_str(eq + 1)))
        return err_set(e, ERR_NOMEM, "out of memory");
    return 0;
}

int conf_copy(struct conf *to, const struct conf *from)
{
    for (int i = 0; from && i < from->n; i++)
        if (conf_set(to, slice_str(from->v[i].key), slice_str(from->v[i].value)))
            return -ERR_NOMEM;
    return 0;
}

const char *conf_get(const struct conf *c, const char *key)
{
    int i = find(c, slice_str(key));

    if (i < 0)
        return NULL;
    c->v[i].asked = true;
    return c->v[i].value;
}

int conf_i64(const struct conf *c, const char *key, int64_t fallback, int64_t *out, struct err *e)
{
    const char *s = conf_get(c, key);

    *out = fallback;
    if (s && parse_i64(slice_str(s), out))
        return err_set(e, ERR_INVALID, "%s=%s is not a whole number", key, s);
    return 0;
}

int conf_bool(const struct conf *c, const char *key, bool fallback, bool *out, struct err *e)
{
    const char *s = conf_get(c, key);

    *out = fallback;
    if (!s)
        return 0;
    if (strcmp(s, "true") == 0 || strcmp(s, "false") == 0) {
        *out = s[0] == 't';
        return 0;
    }
    return err_set(e, ERR_INVALID, "%s=%s is neither true nor false", key, s);
}

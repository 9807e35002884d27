/* base/conf.h - settings by name: `key=value` pairs in order, as given on a command line, in a
 * properties file, or with a topic. */
#ifndef ONCE_BASE_CONF_H
#define ONCE_BASE_CONF_H
#include "base/err.h"
#include "base/slice.h"

struct conf_entry {
    char *key, *value;
    bool asked; /* somebody has looked for it: what nobody knows is a mistake of whoever set it */
};
struct conf {
    struct conf_entry *v;
    int n, cap;
};

void conf_init(struct conf *c);
void conf_deinit(struct conf *c);
/* Adds or replaces; 0 or -ERR_NOMEM. value null: removes. */
int conf_set(struct conf *c, struct slice key, struct slice value);
/* "key=value"; -ERR_INVALID with a text when there is no '='. */
int conf_parse(struct conf *c, const char *pair, struct err *e);
int conf_copy(struct conf *to, const struct conf *from);
/* NULL when not set; c may be NULL in all of these. */
const char *conf_get(const struct conf *c, const char *key);
/* The fallback when not set; -ERR_INVALID with a text when it is not such a value. */
int conf_i64(const struct conf *c, const char *key, int64_t fallback, int64_t *out, struct err *e);
int conf_bool(const struct conf *c, const char *key, bool fallback, bool *out, struct err *e);
#endif

/* udf/order.h - the keys of a table in one order: numbers, strings, booleans.
 *
 * Stock Lua visits them in an order that its seed makes differ from run to run. */
#ifndef ONCE_UDF_ORDER_H
#define ONCE_UDF_ORDER_H
#include <lua.h>
#include <stdbool.h>
#include <stddef.h>

enum { OKEY_INT, OKEY_FLOAT, OKEY_STRING, OKEY_BOOL, OKEY_SMALL = 16 };
struct okey {
    int type;
    size_t len; /* of a string */
    union {
        lua_Integer i; /* also a boolean */
        lua_Number f;
        const char *s; /* alive as long as the table holds the key */
    } u;
};
/* How many keys the table at idx has; *sequence: they are exactly 1..n. */
size_t order_count(lua_State *L, int idx, bool *sequence);
/* The n keys (n from order_count) in order, into small if they fit, else into a userdata that is
 * pushed (*pushed is 1). A key of another type raises an error that names it; `what` says what was
 * asked for. */
struct okey *order_keys(lua_State *L, int idx, size_t n, struct okey small[OKEY_SMALL], int *pushed,
                        const char *what);
void order_push(lua_State *L, const struct okey *k);
#endif

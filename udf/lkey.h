/* udf/lkey.h - keys of stores as bytes whose order is the order of the keys.
 *
 * Integers by value, then strings bytewise, then lists element by element, a list before what it
 * begins. */
#ifndef ONCE_UDF_LKEY_H
#define ONCE_UDF_LKEY_H
#include "base/buf.h"
#include "base/slice.h"
#include <lua.h>

/* Appends the key at idx (a string, an integer, a list of these): 0, or -ERR_INVALID and *why. */
int lkey_put(lua_State *L, int idx, struct buf *out, const char **why);
/* Pushes the key: 0 or -ERR_CORRUPT (nothing is pushed). scratch holds strings with zero bytes. */
int lkey_push(lua_State *L, struct slice enc, struct buf *scratch);
/* Turns an encoded prefix (of a string, or of a list's elements) into the first key behind all that
 * begin with it; false: there is none. */
bool lkey_after_prefix(struct buf *enc);
#endif

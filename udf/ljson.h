/* udf/ljson.h - JSON from and to the Lua stack.
 *
 * Integers stay integers, null is json.null (a light userdata of NULL), arrays are marked by their
 * metatable so that an empty one stays one, keys are written sorted by their bytes. */
#ifndef ONCE_UDF_LJSON_H
#define ONCE_UDF_LJSON_H
#include "base/buf.h"
#include "base/slice.h"
#include <lua.h>

enum { LJSON_DEPTH_MAX = 100 };

/* Pushes the value that the whole of s is: 0. Else nothing is pushed, *why says what is wrong and
 * *pos at which byte (from 0): -ERR_INVALID. Raises only out of memory. scratch is used for
 * escapes. */
int ljson_push(lua_State *L, struct slice s, struct buf *scratch, const char **why, size_t *pos);
/* Appends the value at idx. A value that JSON cannot hold: -ERR_INVALID and *why says which; out's
 * failure. */
int ljson_put(lua_State *L, int idx, struct buf *out, const char **why);
/* Is the table at idx marked as an array? */
bool ljson_is_array(lua_State *L, int idx);
/* Marks the table on top of the stack. */
void ljson_mark_array(lua_State *L);
#endif

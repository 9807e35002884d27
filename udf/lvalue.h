/* udf/lvalue.h - values of stores as bytes: compact, the same for equal values.
 *
 * Integers stay integers, floats floats, a list marked as a JSON array stays marked; other
 * metatables are not kept. */
#ifndef ONCE_UDF_LVALUE_H
#define ONCE_UDF_LVALUE_H
#include "base/buf.h"
#include "base/slice.h"
#include <lua.h>

/* Appends the value at idx; -ERR_INVALID and *why: a function, a userdata, a cycle. */
int lvalue_put(lua_State *L, int idx, struct buf *out, const char **why);
/* Pushes a fresh copy: 0 or -ERR_CORRUPT (nothing is pushed). */
int lvalue_push(lua_State *L, struct slice enc);
#endif

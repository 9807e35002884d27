/* udf/lcsv.h - one CSV record (RFC 4180) from and to the Lua stack: a list of strings. */
#ifndef ONCE_UDF_LCSV_H
#define ONCE_UDF_LCSV_H
#include "base/buf.h"
#include "base/slice.h"
#include <lua.h>

/* Pushes a list of fields: 0. Else nothing is pushed, *why and *pos (from 0) say what is wrong. */
int lcsv_push(lua_State *L, struct slice line, char separator, struct buf *scratch,
              const char **why, size_t *pos);
/* Appends the list at idx: strings, numbers, booleans; json.null is an empty field. -ERR_INVALID,
 * *why. */
int lcsv_put(lua_State *L, int idx, char separator, struct buf *out, const char **why);
#endif

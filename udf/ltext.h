/* udf/ltext.h - text of numbers, names and excerpts, the same on every machine. */
#ifndef ONCE_UDF_LTEXT_H
#define ONCE_UDF_LTEXT_H
#include "base/buf.h"
#include "base/slice.h"

enum { LTEXT_NUMBER_MAX = 40 };
/* Decimal; returns the length. No NUL. */
size_t ltext_int(char out[LTEXT_NUMBER_MAX], int64_t v);
/* The shortest form that reads back as the same float, with a point or exponent ("3.0", "1e+100"),
 * or "inf", "-inf", "nan". */
size_t ltext_float(char out[LTEXT_NUMBER_MAX], double v);
/* How many bytes the UTF-8 character at s begins with takes, 0 if it is none. */
size_t ltext_utf8(struct slice s);
/* "text" with JSON escapes. strict: -ERR_INVALID for bytes that are not UTF-8, else they are passed
 * on. */
int ltext_json_string(struct buf *out, struct slice s, bool strict);
/* For messages: printable, at most max bytes of s, then an ellipsis; quoted if asked. Null is
 * nil. */
void ltext_excerpt(struct buf *out, struct slice s, size_t max, bool quote);
/* The one of the names (NULL-ended) that name is probably meant to be, or NULL. */
const char *ltext_nearest(const char *name, const char *const *names);
/* Letters, digits, '.', '_', '-'; 1 to max of them. */
bool ltext_is_name(struct slice s, size_t max);
#endif

/* tests/base/wire/support_json.h - just enough JSON to compare what we dump with what was captured.
 *
 * Values are slices of the text. Malformed text fails the test at hand by a null slice or false. */
#ifndef ONCE_TESTS_BASE_WIRE_SUPPORT_JSON_H
#define ONCE_TESTS_BASE_WIRE_SUPPORT_JSON_H
#include "base/slice.h"

/* Whether both are the same value: members in any order, strings by what they mean. */
bool json_equal(struct slice a, struct slice b);
/* The value of an object's member; null slice if it has none. */
struct slice json_get(struct slice object, const char *name);
/* The content of a string without escapes. */
struct slice json_text(struct slice string);
int64_t json_int(struct slice number);
bool json_is_null(struct slice value);
/* Walks an array: *at begins as json_begin(array); the next element, null slice at the end. */
struct slice json_begin(struct slice array);
struct slice json_next(struct slice *at);
/* The same over the members of an object: the name comes in *name as a string. */
struct slice json_next_member(struct slice *at, struct slice *name);
#endif

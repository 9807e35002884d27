/* tests/base/wire/support_data.h - test data from files and hex. */
#ifndef ONCE_TESTS_BASE_WIRE_SUPPORT_DATA_H
#define ONCE_TESTS_BASE_WIRE_SUPPORT_DATA_H
#include "base/buf.h"

/* Appends the whole file (path from the project's root) or fails the test. */
void data_read(const char *path, struct buf *out);
/* Appends the bytes of hex digits or fails the test. */
void data_unhex(struct slice hex, struct buf *out);
/* A deterministic stream of numbers. */
uint64_t data_random(uint64_t *state);
#endif

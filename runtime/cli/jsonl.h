/* runtime/cli/jsonl.h - the JSON line of a record, as `once consume` prints and `once produce`
 * reads it: {"topic","partition","offset","time","key","value","headers":[{"key","value"}…]}; bytes
 * that are not UTF-8 are {"base64":"…"}. */
#ifndef ONCE_RUNTIME_CLI_JSONL_H
#define ONCE_RUNTIME_CLI_JSONL_H
#include "base/arena.h"
#include "base/buf.h"
#include "runtime/client/fetcher.h"

struct jsonl_record {
    int64_t partition, time; /* -1: not given */
    struct slice key, value; /* null allowed; in the arena */
    struct slice headers;    /* raw, as in a batch */
    int32_t n_headers;
    bool marked; /* aborted, control or open: not a record of the topic */
};
/* mark: one more field ("\"aborted\":true"), or NULL. */
int jsonl_write(struct buf *out, const struct fetched *r, const char *mark);
/* 0, or -ERR_INVALID with a text that says what is wrong at which column. Unknown fields are
 * ignored. */
int jsonl_read(struct slice line, struct jsonl_record *r, struct arena *a, struct err *e);
#endif

/* runtime/worker/outbox.h - the outputs of one record, held back until its process call has
 * returned. */
#ifndef ONCE_RUNTIME_WORKER_OUTBOX_H
#define ONCE_RUNTIME_WORKER_OUTBOX_H
#include "base/buf.h"

struct out_record {
    struct slice topic; /* of the worker's topic table: lives as long as the worker */
    int32_t partition;
    int64_t time;
    int32_t n_headers;
    /* places in bytes; n UINT32_MAX is null */
    uint32_t key_at, key_n, value_at, value_n, headers_at, headers_n;
};
struct outbox {
    struct buf bytes;
    struct out_record *v;
    uint32_t n, cap;
    uint32_t sent; /* of them, given to the producer */
};
void outbox_init(struct outbox *o, size_t bytes_max);
void outbox_deinit(struct outbox *o);
void outbox_clear(struct outbox *o);
/* 0, -ERR_TOO_BIG (the record writes more than the outbox may hold), -ERR_NOMEM. */
int outbox_add(struct outbox *o, struct slice topic, int32_t partition, int64_t time,
               struct slice key, struct slice value, struct slice headers, int32_t n_headers);
struct slice outbox_slice(const struct outbox *o, uint32_t at, uint32_t n);
#endif

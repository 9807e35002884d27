/* runtime/client/fetcher.h - reads partitions from positions, filters aborted transactions,
 * hands out records one by one without copying.
 *
 * Each partition carries a version that changes with assign, seek and drop: an answer to an
 * older version is thrown away (EO-43). */
#ifndef ONCE_RUNTIME_CLIENT_FETCHER_H
#define ONCE_RUNTIME_CLIENT_FETCHER_H
#include "runtime/client/client.h"

struct fetcher;
struct fetcher_options {
    bool read_committed;
    bool everything;              /* aborted and control records are handed out too, marked */
    uint32_t max_wait_ms;         /* 500 when 0 */
    uint32_t min_bytes;           /* 1 when 0 */
    uint32_t max_bytes;           /* of one answer: 8 MiB when 0 */
    uint32_t partition_max_bytes; /* 1 MiB when 0 */
    uint32_t buffered_max;        /* answers not yet polled, of a partition: 2 when 0 */
    void *user;
    void (*ready)(
        void *user); /* records wait to be polled, or a position moved, or an error waits */
};
enum fetched_mark { FETCHED_FOR_USERS, FETCHED_ABORTED, FETCHED_CONTROL };
struct fetched {
    struct slice topic;
    int32_t partition;
    int32_t leader_epoch;
    int64_t offset, timestamp;
    struct slice key, value;
    struct slice headers; /* raw, for n_headers; read with header_iter of base/wire/batch.h:
                           * struct header_iter it = {f.headers, f.n_headers} */
    int32_t n_headers;
    void *user; /* the partition's, as given at add */
    bool transactional;
    enum fetched_mark mark; /* not for users: of `everything` alone */
};

int fetcher_open(struct fetcher **f, struct client *c, const struct fetcher_options *o);
/* Before client_free. */
void fetcher_free(struct fetcher *f);
/* Adds a partition to read from `offset` on. -ERR_EXISTS. */
int fetcher_add(struct fetcher *f, struct slice topic, int32_t partition, int64_t offset,
                void *user);
void fetcher_remove(struct fetcher *f, struct slice topic, int32_t partition);
/* Drops what is buffered and reads from offset on. */
void fetcher_seek(struct fetcher *f, struct slice topic, int32_t partition, int64_t offset);
void fetcher_pause(struct fetcher *f, struct slice topic, int32_t partition, bool paused);
/* The next record: 1; 0: none now; negative: an error of a partition (e names it; -ERR_NOT_FOUND
 * is offset out of range, -ERR_CORRUPT a bad batch), reported once per occurrence. The record's
 * slices live until the next call on this fetcher. Round robin over partitions by batch. */
int fetcher_next(struct fetcher *f, struct fetched *out, struct err *e);
/* The next offset to be handed out: past control and aborted batches already seen (EO-42). */
int64_t fetcher_position(const struct fetcher *f, struct slice topic, int32_t partition);
/* From the newest answer, -1 before the first. */
int64_t fetcher_high_watermark(const struct fetcher *f, struct slice topic, int32_t partition);
int64_t fetcher_stable(const struct fetcher *f, struct slice topic, int32_t partition);
/* Nothing buffered, and position at the stable end (high watermark when not read_committed) of
 * an answer that came after the last add or seek. */
bool fetcher_at_end(const struct fetcher *f, struct slice topic, int32_t partition);
#endif

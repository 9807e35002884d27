/* runtime/client/admin.h - one-shot questions and changes: each has an op with what to ask, and
 * done. */
#ifndef ONCE_RUNTIME_CLIENT_ADMIN_H
#define ONCE_RUNTIME_CLIENT_ADMIN_H
#include "base/conf.h"
#include "runtime/client/client.h"

/* What every op holds; internal. */
struct admin_op {
    struct call call;
    struct client *client;
    struct env_timer timer;
    uint64_t deadline, backoff;
    /* 0, -ERR_x, or 1: again later (e then says why). */
    int (*answer)(struct admin_op *a, struct wire_in *in, int16_t version, struct err *e);
    void (*end)(struct admin_op *a, int res, const struct err *e);
};

/* All ops: retriable errors are retried until timeout_ms (0: the client's request timeout); e
 * names the object. res: 0; -ERR_EXISTS, -ERR_NOT_FOUND, -ERR_BROKER (refused; e->text has
 * Kafka's error name and message), -ERR_TIMEOUT, -ERR_REFUSED (nobody answered), -ERR_CANCELED.
 * Slices in the op must live until done. */
struct create_topic {
    struct slice topic;
    int32_t partitions; /* -1: the broker's default */
    const struct conf *config;
    bool validate_only; /* say whether it could be created */
    uint32_t timeout_ms;
    void (*done)(struct create_topic *op, int res, const struct err *e);
    void *user;
    struct admin_op op;
};
void admin_create_topic(struct client *c, struct create_topic *op);

struct delete_topic {
    struct slice topic;
    uint32_t timeout_ms;
    void (*done)(struct delete_topic *op, int res, const struct err *e);
    void *user;
    struct admin_op op;
};
void admin_delete_topic(struct client *c, struct delete_topic *op);

struct list_topics {
    uint32_t timeout_ms;
    void (*each)(struct list_topics *op, const struct client_topic *t, bool internal);
    void (*done)(struct list_topics *op, int res, const struct err *e);
    void *user;
    struct admin_op op;
};
void admin_list_topics(struct client *c, struct list_topics *op);

struct list_offset { /* -1 latest, -2 earliest, >= 0 by time */
    struct slice topic;
    int32_t partition;
    int64_t timestamp;
    bool read_committed;
    uint32_t timeout_ms;
    void (*done)(struct list_offset *op, int res, const struct err *e);
    void *user;
    int64_t offset, found_timestamp; /* out */
    int32_t leader_epoch;
    struct admin_op op;
};
void admin_list_offset(struct client *c, struct list_offset *op);

struct fetch_offset_entry {
    struct slice topic;
    int32_t partition;
    int64_t offset;        /* out; -1: never committed */
    int32_t leader_epoch;  /* out */
    struct slice metadata; /* out; in op->arena */
};
struct
    fetch_offsets { /* OffsetFetch; stable: waits until no transaction is pending on any of them */
    struct slice group;
    bool stable;
    struct fetch_offset_entry *v;
    int n;
    uint32_t timeout_ms;
    void (*done)(struct fetch_offsets *op, int res, const struct err *e);
    void *user;
    struct arena arena; /* inited and deinited by the caller */
    struct admin_op op;
};
void admin_fetch_offsets(struct client *c, struct fetch_offsets *op);

struct describe_config {
    struct slice topic;
    uint32_t timeout_ms;
    void (*each)(struct describe_config *op, struct slice name, struct slice value, int source);
    void (*done)(struct describe_config *op, int res, const struct err *e);
    void *user;
    struct admin_op op;
};
void admin_describe_config(struct client *c, struct describe_config *op);

struct epoch_end { /* OffsetForLeaderEpoch */
    struct slice topic;
    int32_t partition, epoch;
    uint32_t timeout_ms;
    void (*done)(struct epoch_end *op, int res, const struct err *e);
    void *user;
    int32_t found_epoch; /* out */
    int64_t end_offset;
    struct admin_op op;
};
void admin_epoch_end(struct client *c, struct epoch_end *op);
/* done is not called any more. An op not in flight (zeroed or done): nothing happens. */
void admin_op_cancel(struct admin_op *a);
#define admin_cancel(c, o) ((void)(c), admin_op_cancel(&(o)->op))
#endif

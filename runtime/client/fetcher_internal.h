/* runtime/client/fetcher_internal.h - shared by fetcher.c (what the user calls) and fetch.c
 * (requests and answers). */
#ifndef ONCE_RUNTIME_CLIENT_FETCHER_INTERNAL_H
#define ONCE_RUNTIME_CLIENT_FETCHER_INTERNAL_H
#include "runtime/client/aborted.h"
#include "runtime/client/client_internal.h"
#include "runtime/client/fetcher.h"

/* One answer's records of one partition. */
struct chunk {
    struct list link; /* fpart.chunks or fetcher.free_chunks */
    struct block *block;
    struct slice rest;      /* whole batches, from the next one on */
    bool opened;            /* the first batch of rest was judged already: it is handed out */
    enum fetched_mark mark; /* of it */
    struct aborted_filter aborted;
};
struct fpart {
    struct fetcher *f;
    struct list order;  /* fetcher.order: who is asked for first */
    struct list ready;  /* fetcher.ready: has something to hand out */
    struct slice topic; /* owned */
    int32_t partition;
    uint64_t version;       /* changes with every seek; never 0 */
    uint64_t asked_version; /* of the request in flight that has it; 0: none has */
    int64_t fetch_offset;   /* behind all that is buffered */
    int64_t position;       /* behind all that was handed out */
    int64_t high_watermark, stable, log_start; /* -1: not told yet */
    bool answered;                             /* since the last seek */
    bool paused, stopped;                      /* stopped: until a seek */
    bool fresh;                                /* added or sought, and not asked for since */
    struct list chunks;
    uint32_t n_chunks;
    int error; /* ERR_, not yet told; 0 none */
    enum kafka_error code;
    int64_t error_offset;
    uint64_t retry_at, backoff;
    void *user;
};
struct asked {
    struct fpart *p; /* NULL: removed since */
    uint64_t version;
    int64_t offset;
    int32_t leader_epoch;
};
/* A node and the one request that may be on its way to it. */
struct fnode {
    struct list link;
    struct fetcher *f;
    int32_t id;
    bool busy;
    bool held; /* a partition was left out because enough of it is buffered */
    bool renew;
    struct call call;
    struct asked *asked;
    int n_asked, cap;
};
struct fetcher {
    struct client *client;
    struct fetcher_options opt;
    int lane;
    uint64_t versions;
    struct map parts; /* by topic and partition */
    struct list order, ready, nodes, free_chunks;
    struct env_task task;
    struct env_timer timer;
    struct client_watch watch;
    struct fpart *active; /* whose batch it is in iter */
    struct record_iter iter;
    struct buf scratch;
    struct compress compress;
    struct { /* of the request being encoded */
        struct fetch_request_fetch_topic *topics;
        struct fetch_request_fetch_partition *parts;
        int cap;
    } req;
};

/* fetcher.c */
void fetcher_ready_update(struct fpart *p);
void fetcher_chunk_free(struct fetcher *f, struct chunk *k);
/* fetch.c */
void fetch_init(struct fetcher *f);
void fetch_deinit(struct fetcher *f);
void fetch_forget(struct fetcher *f, struct fpart *p);
#endif

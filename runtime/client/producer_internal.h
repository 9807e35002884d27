/* runtime/client/producer_internal.h - shared by producer.c (records and batches), produce.c
 * (Produce requests and answers) and producer_txn.c (ids, enrolment, offsets, ends). */
#ifndef ONCE_RUNTIME_CLIENT_PRODUCER_INTERNAL_H
#define ONCE_RUNTIME_CLIENT_PRODUCER_INTERNAL_H
#include "base/wire/batch.h"
#include "runtime/client/client_internal.h"
#include "runtime/client/producer.h"
#include "txn/session.h"

enum batch_state {
    BATCH_OPEN,   /* takes records; the last of its partition */
    BATCH_CLOSED, /* full, or to be stamped anew */
    BATCH_FLIGHT, /* stamped, in a request */
    BATCH_RETRY,  /* stamped, to be sent again */
    BATCH_DROPPED /* in a request whose answer does not matter to the user any more */
};
struct pbatch {
    struct list link; /* ppart.batches, in the order of their records; producer.free_batches */
    struct list all;  /* producer.all, by age */
    struct ppart *part;
    enum batch_state state;
    struct buf bytes;
    struct batch_writer writer;
    bool finished; /* bytes are a whole batch */
    int32_t count;
    uint64_t number;     /* of the producer's batches */
    uint64_t created_at; /* ns */
    uint64_t retry_at, backoff;
    struct session_batch stamp;
};
struct ppart {
    struct list busy; /* producer.busy: has batches */
    struct producer *p;
    struct slice topic; /* owned */
    int32_t partition;
    struct list batches;
    struct session_partition session;
    bool enrolling; /* in the AddPartitionsToTxn under way */
    bool enrol;     /* to be in the next */
    int n_flight;
    int32_t flight_node;
    int64_t last_offset;
};
/* A Produce request. */
struct preq {
    struct list link; /* producer.requests or free_requests */
    struct producer *p;
    struct call call;
    int32_t node;
    size_t bytes;
    struct pbatch **v;
    int n, cap;
};
/* A step that the user waits for: tried until decided or over its time. */
struct pstep {
    struct producer *p;
    struct call call;
    struct env_timer timer;
    bool busy;
    uint64_t deadline, backoff;
    producer_done done;
    void *user;
    void (*send)(struct producer *p);
};
struct producer {
    struct client *client;
    struct producer_options opt;
    char *id; /* transactional id, NULL none */
    struct session session;
    struct map parts;
    struct ppart *last; /* the one sent to last */
    struct list busy, all, free_batches, requests, free_requests;
    size_t free_bytes; /* of free_batches */
    uint64_t numbers, buffered;
    bool full; /* room is owed */
    struct env_task task;
    struct env_timer timer;
    struct client_watch watch;
    struct buf scratch;
    struct compress compress;
    struct err why; /* of the last failure */
    struct {        /* of the Produce request being encoded */
        struct produce_request_topic_produce_data *topics;
        struct produce_request_partition_produce_data *parts;
        int cap;
    } req;
    struct {
        bool busy;
        uint64_t mark; /* batches up to this number */
        int res;       /* first failure since the last flush */
        producer_done done;
        void *user;
    } flush;
    struct pstep init, enrol, offsets, end;
    bool init_auto;  /* the id is renewed by ourselves, not asked for */
    int end_res;     /* what the end's done is told after the renewal */
    bool end_renews; /* the end waits for it */
    bool committing;
    struct {
        struct arena arena; /* copies of what is sent */
        struct txn_offset *v;
        int n;
        struct group_identity group;
        uint64_t enrolled; /* session.txn in which the group is */
        bool adding;       /* AddOffsetsToTxn is what is under way */
    } off;
};

/* producer.c */
/* Remembers why and ends what cannot go on. */
void producer_failed(struct producer *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* All that is buffered and in flight is of no interest any more. */
void producer_drop_all(struct producer *p);
void producer_batch_free(struct producer *p, struct pbatch *b);
void producer_batch_fail(struct producer *p, struct pbatch *b, int res);
void producer_batch_done(struct producer *p, struct pbatch *b, int64_t base_offset);
int producer_batch_stamp(struct producer *p, struct pbatch *b);
void producer_wake(struct producer *p);
void producer_wake_at(struct producer *p, uint64_t at);
/* When to try again: from 1 ms on our own broker, 20 ms on a foreign one, doubled. */
uint64_t producer_pause(struct producer *p, uint64_t *backoff);
/* What an operation is answered while the session is as it is; 0 when it is in order. */
int producer_standing(const struct producer *p);
/* produce.c */
void produce_pump(struct producer *p);
void produce_deinit(struct producer *p);
/* producer_txn.c */
void producer_txn_init(struct producer *p);
void producer_txn_deinit(struct producer *p);
void producer_txn_pump(struct producer *p);
#endif

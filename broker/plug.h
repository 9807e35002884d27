/* broker/plug.h - what an extension of the plain partitioned log may do.
 *
 * The broker knows no transactions. Whoever plugs in (txn/) is asked before a batch with a producer
 * id is appended, told when it is staged and durable, replays it at recovery, and bounds what a
 * read_committed reader may see. All calls are synchronous, on the loop.
 *
 * check() sees staged state. Nothing it decides is undone: between an admitting check() and
 * staged() the append can only be refused by the log (no space), in which case neither staged()
 * nor anything else is called; a round that fails on disk ends the process. Answers leave only
 * when their cause is durable: the server holds each until logdir_durable() reaches the lsn
 * noted with it (broker/broker.h). */
#ifndef ONCE_BROKER_PLUG_H
#define ONCE_BROKER_PLUG_H
#include "base/wire/batch.h"
#include "base/wire/kafka_error.h"

struct partition;

enum plug_origin { PLUG_CLIENT, PLUG_COORDINATOR, PLUG_MARKER };
enum plug_verdict { PLUG_ADMIT, PLUG_DUPLICATE, PLUG_REFUSE };

struct plug_request {
    enum plug_origin origin;
    int16_t api_version;           /* of Produce or TxnOffsetCommit: downgrades, version 2 rules */
    struct slice transactional_id; /* null: none given */
};
struct plug_answer {
    enum kafka_error error; /* PLUG_REFUSE */
    int64_t base_offset;    /* PLUG_DUPLICATE: of the original */
    int64_t timestamp;
};

struct plug {
    void *self;
    /* Called for every batch whose producer_id >= 0. May itself stage appends before this one
     * (the enrolment of the partition in the transaction), which then share its round: the
     * caller holds a bundle. */
    enum plug_verdict (*check)(void *self, struct partition *p, const struct batch_info *b,
                               const struct plug_request *rq, struct plug_answer *a);
    void (*staged)(void *self, struct partition *p, const struct batch_info *b, struct slice batch);
    void (*durable)(void *self, struct partition *p, int64_t end);
    /* Recovery: applies no client rule. */
    void (*replay)(void *self, struct partition *p, const struct batch_info *b, struct slice batch);
    int (*snapshot_load)(void *self, struct partition *p, int64_t offset, struct slice bytes);
    int (*snapshot_save)(void *self, struct partition *p, int64_t offset, struct buf *out);
    /* A partition appears (before its replay) or goes; keeps its state in partition_plug(p). */
    int (*attach)(void *self, struct partition *p);
    void (*detach)(void *self, struct partition *p);
    /* Last stable offset, <= the high watermark. */
    int64_t (*stable)(void *self, struct partition *p);
    /* Aborted transactions that overlap [from, upper): each(user, producer id, first offset). */
    void (*aborted)(void *self, struct partition *p, int64_t from, int64_t upper,
                    void (*each)(void *user, int64_t producer_id, int64_t first_offset),
                    void *user);
    /* After recovery, before the broker serves: replays logs of its own, rolls forward what was
     * decided. */
    int (*start)(void *self, struct err *e);
    /* A topic was deleted, durably or staged. */
    void (*topic_deleted)(void *self, const struct uuid *id);
};
#endif

/* broker/broker.h - a broker: topics over a log directory, and the server in front of them.
 *
 * The walk of a request: conn.c receives a frame into a block, decodes the header, and calls the
 * handler of its API key (broker/api/NN_name.c, txn/api/NN_name.c). The handler answers through
 * the request's reply: at once, or later from a timer, a durable round or a wake-up. Replies
 * leave in request order, each not before the lsn noted in it is durable. */
#ifndef ONCE_BROKER_BROKER_H
#define ONCE_BROKER_BROKER_H
#include "base/arena.h"
#include "base/conf.h"
#include "base/env.h"
#include "base/map.h"
#include "base/wire/messages.h"
#include "base/wire/wire.h"
#include "broker/log/logdir.h"
#include "broker/plug.h"
#include "broker/topic_config.h"

struct broker;
struct conn;
struct group_coordinator; /* broker/group/ */

struct broker_options {
    const char *data_dir;
    const char *listen;    /* HOST:PORT; port 0: any free one */
    const char *advertise; /* HOST:PORT for clients; NULL: as bound */
    bool async;            /* --durability async */
    int32_t node_id;       /* 1 when 0 */
    /* Broker properties by Kafka's names (-X); borrowed until broker_free; may be NULL. */
    const struct conf *conf;
};

/* ---- partitions and topics ---- */
struct topic {
    struct slice name; /* owned */
    struct uuid id;
    struct partition **partitions;
    int32_t n_partitions;
    struct conf config;             /* as given, by Kafka's names */
    struct topic_settings settings; /* what follows from it */
    uint64_t lsn;                   /* of its creation: an answer that shows it waits for this */
    bool internal; /* __consumer_offsets, __transaction_state: clients may not produce */
};
struct partition {
    struct topic *topic;
    int32_t index;
    struct log *log;
    void *plug;        /* the extension's */
    struct list waits; /* parked fetches: woken when high watermark or stable offset moves */
};

struct topic *broker_topic(struct broker *b, struct slice name);
struct topic *broker_topic_by_id(struct broker *b, const struct uuid *id);
/* NULL when topic or partition is not known. */
struct partition *broker_partition(struct broker *b, struct slice topic, int32_t index);
/* Stages the metadata record and opens the logs: KAFKA_NONE, or TOPIC_ALREADY_EXISTS,
 * INVALID_TOPIC_EXCEPTION, INVALID_PARTITIONS, INVALID_CONFIG, KAFKA_STORAGE_ERROR with a text.
 * partitions -1: num.partitions. */
enum kafka_error broker_topic_create(struct broker *b, struct slice name, int32_t partitions,
                                     const struct conf *config, struct topic **out, struct err *e);
/* What creation would refuse; *partitions -1 becomes the default. Writes nothing. */
enum kafka_error broker_topic_check(struct broker *b, struct slice name, int32_t *partitions,
                                    const struct conf *config, struct err *e);
/* t is gone when this is KAFKA_NONE; parked fetches are answered, plug and groups are told. */
enum kafka_error broker_topic_delete(struct broker *b, struct topic *t);
/* An internal topic of the coordinators, made on first need with Kafka's configs. */
struct topic *broker_internal_topic(struct broker *b, const char *name, int32_t partitions);
int64_t partition_high_watermark(const struct partition *p);
int64_t partition_stable(struct broker *b, const struct partition *p);
/* The order of topics is that of creation. */
struct map *broker_topics(struct broker *b);

/* A wait on a partition (partition.waits): woken when its durable end moved, and, unlinked, when
 * its topic is deleted (gone). */
struct partition_wait {
    void (*wake)(struct partition_wait *w, bool gone);
    struct list link;
};

/* Appends one validated batch: asks the plug when the batch has a producer id, stages it, tells
 * the plug. bytes lie in block, or block is NULL and they are copied. KAFKA_NONE, with
 * *base_offset (that of the original when *duplicate, and its timestamp in info->max_timestamp)
 * and what to wait for noted in broker_lsn(); else what the plug or the log refused with
 * (KAFKA_STORAGE_ERROR when the disk is full). -ERR_LIMIT of the log comes back as
 * KAFKA_REQUEST_TIMED_OUT only after parking by the caller: see *busy. */
enum kafka_error partition_append(struct broker *b, struct partition *p, struct block *block,
                                  struct span bytes, struct batch_info *info,
                                  const struct plug_request *rq, int64_t *base_offset,
                                  bool *duplicate, bool *busy);
/* What an answer that depends on staged state must wait for: the lsn of the last append staged. */
uint64_t broker_lsn(const struct broker *b);
struct logdir *broker_logdir(struct broker *b);
struct env *broker_env(struct broker *b);
struct group_coordinator *broker_groups(struct broker *b);
const struct conf *broker_conf(const struct broker *b);
/* The extension, for what readers need of it; NULL when none is plugged in. */
const struct plug *broker_plugged(const struct broker *b);
/* lsn of the last change of topics: what an answer about them waits for. */
uint64_t broker_metadata_lsn(const struct broker *b);
/* auto.create.topics.enable */
bool broker_auto_create(const struct broker *b);
/* Room to decompress batches in, and the codecs' contexts; for use within one call. */
struct buf *broker_scratch(struct broker *b, struct compress **c);
/* Bytes that a handler holds for a reply it has not composed: *held becomes n. Returns what one
 * reply may hold now, so that readers who do not read cannot make all of them together too
 * large. */
size_t broker_hold(struct broker *b, size_t *held, size_t n);
/* Each id once in the life of the directory: taken from blocks of 1000 that are metadata
 * records. */
enum kafka_error broker_producer_id(struct broker *b, int64_t *id);
/* Leader epoch of all partitions and coordinator epoch: the count of starts. */
int32_t broker_epoch(const struct broker *b);
/* What a request's current leader epoch deserves: NONE (-1 says nothing), FENCED_ or
 * UNKNOWN_LEADER_EPOCH. */
enum kafka_error broker_check_epoch(const struct broker *b, int32_t epoch);
int32_t broker_node_id(const struct broker *b);
/* Where clients reach us, as told by Metadata and FindCoordinator. */
void broker_advertised(const struct broker *b, struct slice *host, int32_t *port);

/* ---- requests and replies ---- */
struct request {
    struct broker *broker;
    struct conn *conn;
    struct block *frame; /* holds the bytes; handlers that keep a slice take a reference */
    struct request_header header;
    int16_t key, version;
    struct wire_in in; /* at the body; in.arena lives until the reply is sent */
    struct slice client_id, client_host;
    struct list link; /* in the connection, in order of arrival */
    struct buf out;   /* the reply frame being written, header included */
    uint64_t lsn;     /* not sent before this is durable */
    bool ready;
    /* When the connection goes away first: the handler forgets the request (it must not touch it
     * later). */
    void (*canceled)(struct request *rq);
    void *user;
    struct env_timer timer; /* the handler's, for deadlines; stopped when the request ends */
    struct slice tail[LOG_READ_SLICES * 4]; /* zero-copy parts behind out, in pieces (Fetch) */
    struct block *tail_blocks[LOG_READ_SLICES * 4];
    uint32_t tail_at[LOG_READ_SLICES * 4]; /* position in out before which each goes */
    int n_tail;
};
/* A handler decodes rq->in, acts, and calls one of the reply functions now or later. Returns 0,
 * or a negative ERR_ when the body does not parse or must not be answered: the connection is
 * closed and one line logged. */
typedef int (*api_handler)(struct request *rq);
/* Registers key for [min, max]; advertised in ApiVersions unless hidden. */
void broker_api(struct broker *b, int16_t key, int16_t min, int16_t max, api_handler handler);
/* The range registered for key; false when there is none. */
bool broker_api_range(const struct broker *b, int16_t key, int16_t *min, int16_t *max);
/* Writes the response header into rq->out; the handler then encodes the body behind it. */
void reply_begin(struct request *rq);
/* Both in one: the response m, at rq->version. What cannot be encoded closes the connection at
 * reply_end. */
void reply_body(struct request *rq, const struct wire_desc *d, const void *m);
/* The reply is complete. It leaves in turn, when rq->lsn is durable; reply_end alone sets lsn to
 * broker_lsn() (safe default), reply_end_now does not wait (for what depends on durable state
 * only). */
void reply_end(struct request *rq);
void reply_end_now(struct request *rq);
/* As reply_end, but waits for `lsn` alone; 0 waits for nothing. */
void reply_end_at(struct request *rq, uint64_t lsn);
/* Nothing is sent (acks=0). */
void reply_none(struct request *rq);
/* Nothing is sent, and the connection is closed once what came before is answered; one line
 * logged. */
void reply_close(struct request *rq, const char *why);

/* One who waits until the log takes appends again (partition_append: *busy). Called once, in
 * order of waiting; may wait again. */
struct room_wait {
    void (*retry)(struct room_wait *w);
    struct list link;
};
void broker_room_wait(struct broker *b, struct room_wait *w);
void broker_room_forget(struct room_wait *w);

/* ---- life ---- */
/* Opens and recovers the data directory (blocking). Then plug in, register APIs, and start. */
int broker_open(struct broker **b, struct env *env, const struct broker_options *o, struct err *e);
/* Before broker_recover. At most one extension. */
void broker_plug(struct broker *b, const struct plug *plug);
int broker_recover(struct broker *b, struct logdir_report *report, struct err *e);
/* Listens; `address` gets HOST:PORT as bound. */
int broker_listen(struct broker *b, char *address, size_t cap, struct err *e);
/* Orderly: no new requests, parked ones answered or dropped, log closed cleanly; then
 * done(user). */
void broker_close(struct broker *b, void (*done)(void *user), void *user);
/* Without I/O, from any state. */
void broker_free(struct broker *b);
/* The broker's own APIs (broker/api/): everything but what txn/ adds. */
void broker_api_install(struct broker *b);
#endif

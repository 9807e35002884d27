/* broker/internal.h - what the files of broker/ share: the broker itself. For those files only. */
#ifndef ONCE_BROKER_INTERNAL_H
#define ONCE_BROKER_INTERNAL_H
#include "broker/broker.h"
#include "broker/server.h"

enum { PRODUCER_ID_BLOCK = 1000, PARTITIONS_MAX = 10000, SCRATCH_MAX = 128 << 20 };

struct broker {
    struct env *env;
    struct broker_options o;
    char *data_dir, *listen;
    char *advertised_host;
    int32_t advertised_port; /* 0: as bound */
    struct logdir *logdir;
    struct group_coordinator *groups;
    struct plug plug;
    bool plugged;
    struct map topics;    /* by name, in order of creation */
    struct map topic_ids; /* by the 16 bytes */
    bool adopting; /* topics found in a directory of Kafka's, to be written to the metadata */
    int64_t producer_id_next, producer_id_end; /* ids left of the block in use */
    int64_t producer_id_block;                 /* first id of no block yet */
    uint64_t metadata_lsn;                     /* of the last metadata record */
    bool auto_create, recovering, recovered, closing, halted;
    int32_t num_partitions, offsets_partitions;
    struct buf scratch; /* records of a compressed batch under check */
    struct compress compress;
    struct list room_waits;
    struct env_task room_task;
    void (*closed)(void *user);
    void *closed_user;
    struct server server;
};

/* ---- broker.c ---- */
/* An id found in a log: never given out again. */
void broker_seen_producer_id(struct broker *b, int64_t id);

/* ---- partition.c ---- */
void partition_init(struct partition *p, struct topic *t, int32_t index);
/* The durable end moved: tells the plug, wakes the waits. */
void partition_durable(struct broker *b, struct partition *p, int64_t end);
int partition_replay(struct broker *b, struct partition *p, struct slice batch, struct err *e);
/* ---- topics.c ---- */
void topics_free(struct broker *b);
/* From the metadata log at recovery. */
int topics_replay_create(struct broker *b, const struct meta_topic *m, struct err *e);
int topics_replay_config(struct broker *b, const struct meta_topic_config *m, struct err *e);
void topics_replay_remove(struct broker *b, const struct meta_topic_remove *m);
int topics_adopt(struct broker *b, struct slice name, const struct uuid *id, int32_t partition,
                 struct err *e);
/* Topics of a directory of Kafka's enter the metadata. */
int topics_write_adopted(struct broker *b, struct err *e);
/* Opens the logs of all. */
int topics_declare(struct broker *b, struct logdir *d, struct err *e);

/* ---- metadata_log.c ---- */
enum kafka_error metadata_write(struct broker *b, int16_t type, const void *message, struct err *e);
int metadata_replay(struct broker *b, struct slice batch, struct err *e);
#endif

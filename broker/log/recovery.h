/* broker/log/recovery.h - what opening a directory has in hand; freed when it is open.
 *
 * Two phases. Reading: the checkpoint, the journal behind it, then for every log
 * (recovery_log_open) what the checkpoint says plus the journal's entries; whatever contradicts is
 * an error and nothing has been changed. Writing: what the journal has goes to the segments again,
 * all that is kept is synced, then a new checkpoint with a new salt. */
#ifndef ONCE_BROKER_LOG_RECOVERY_H
#define ONCE_BROKER_LOG_RECOVERY_H
#include "broker/log/internal.h"

struct redo_entry {
    struct round_entry at;
    struct slice bytes;
    uint64_t seq; /* of its round */
};
struct redo { /* of one partition of one topic id, in order */
    struct uuid id;
    int32_t partition;
    struct redo_entry *v;
    uint32_t n, cap;
};

/* A file name in a partition's directory. */
struct dir_file {
    int64_t offset;
    char suffix; /* 'l'og, 'i'ndex, 't'imeindex, 'x' txnindex, 's'napshot, '?' */
};
struct dir_list {
    struct dir_file *v;
    int n, cap;
    bool there, metadata, epochs; /* the directory, partition.metadata, leader-epoch-checkpoint */
    bool failed;
};

struct recovery {
    struct logdir *d;
    struct logdir_report *report;
    struct checkpoint_head head;
    struct buf checkpoint; /* the file's bytes */
    struct map ck_logs;    /* id and partition -> struct checkpoint_log, malloc */
    struct map redo;       /* id and partition -> struct redo */
    struct block **rounds; /* whose bytes the redo entries lie in */
    uint32_t n_rounds, cap_rounds;
    bool found; /* there was a checkpoint */
    bool kafka; /* no journal but partitions */
    bool kafka_clean;
    bool sync;      /* the last run was durable by sync: rules of corruption apply */
    bool same_boot; /* written bytes cannot have been lost since */
    char
        end_path[PATH_CAP]; /* where the journal ends: what is damaged if it should not end there */
    uint64_t end_pos;
    struct map points; /* Kafka's recovery points: "topic partition" -> int64_t, malloc */
    struct map starts; /* Kafka's log starts */
    int32_t max_epoch; /* greatest leader epoch seen */
    struct buf names;  /* of the root's entries, NUL after each */
};

/* The whole of a file into `out`; -ERR_NOT_FOUND and others without a text. */
int read_whole(struct env *env, const char *path, struct buf *out);

/* recovery_scan.c: reads the journal from the checkpoint's place on. */
int recovery_scan(struct recovery *r, struct err *e);
/* Makes the last round durable, which its own run may not have lived to see. */
int recovery_secure(struct recovery *r, struct err *e);

/* recovery_log.c */
int dir_list(struct logdir *d, const char *path, struct dir_list *out);
/* leader-epoch-checkpoint, as far as it tells of offsets below end. */
int recovery_epochs(struct log *l, const struct dir_list *files, int64_t end, struct err *e);
/* Chooses a snapshot, loads it, and tells hooks->replay what lies behind it. */
int recovery_replay(struct recovery *r, struct log *l, struct err *e);

/* recovery_read.c: every batch from `from` to the end, CRC and order checked. */
int recovery_each(struct recovery *r, struct log *l, int64_t from,
                  int (*each)(void *user, struct log *l, struct slice batch, struct err *e),
                  void *user, struct err *e);
/* Batches of one segment's file from `pos` to `end`; *stop is where the last good one ended. With
 * cut, a bad one ends it without an error. */
int recovery_file(struct recovery *r, struct segment *s, uint64_t pos, uint64_t end, bool cut,
                  uint64_t *stop,
                  int (*each)(void *user, struct segment *s, uint64_t pos, struct slice batch,
                              const struct batch_info *info, struct err *e),
                  void *user, struct err *e);

/* recovery_kafka.c: a log of a directory without our journal. */
int recovery_kafka_start(struct recovery *r, struct err *e);
int recovery_kafka_log(struct recovery *r, struct log *l, const struct dir_list *files,
                       struct err *e);

/* recovery_redo.c: the writing phase for one log. */
int recovery_redo(struct recovery *r, struct log *l, struct err *e);
#endif

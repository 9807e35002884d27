/* broker/log/internal.h - what the files of the log directory share.
 *
 * A batch's way: log_append puts it at the end of its log's tail and of the directory's line of
 * staged ones (tail.c, log.c) -> a round takes it (journal.c) -> durable: index, epochs, hooks
 * (durable.c) -> a writer puts its bytes into the segment (writer.c) -> a checkpoint syncs that and
 * lets the journal's files go (checkpoint.c). A tail's entries stand in the order of offsets and
 * these four stages are boundaries in it: n_written <= n_durable <= n_rounded <= n. */
#ifndef ONCE_BROKER_LOG_INTERNAL_H
#define ONCE_BROKER_LOG_INTERNAL_H
#include "base/list.h"
#include "base/map.h"
#include "broker/log/checkpoint_format.h"
#include "broker/log/index.h"
#include "broker/log/journal_format.h"
#include "broker/log/logdir.h"

enum {
    WRITERS = 4,
    WRITER_SLICES = 256,
    WRITER_BYTES = 1 << 20,
    WRITE_SOON = 256 << 10, /* a log with so many durable bytes does not wait for the tick */
    TAIL_CHUNK = 64 << 10,
    TAIL_REF_MIN = 16 << 10, /* smaller batches are copied into chunks */
    OPEN_SEGMENTS_MAX = 256,
    PATH_CAP = 4096
};

struct segment {
    struct log *log;
    int64_t base;
    uint64_t staged_pos;  /* where the next batch goes; the size, once sealed */
    uint64_t durable_pos; /* end of what is durable */
    uint64_t written;     /* end of what the file has */
    uint64_t synced;
    int64_t first_ts;   /* max timestamp of the first batch, -1 none yet */
    int64_t created_ms; /* wall clock, for batches without timestamps */
    struct index index;
    struct buf txn;     /* .txnindex, whole */
    uint64_t txn_filed; /* bytes of it in the file */
    struct env_file file;
    bool open, size_known, index_sealed;
    bool index_known;    /* index.max_ts and the numbers beside it are valid without loading */
    bool has_index[3];   /* .index, .timeindex, .txnindex are there */
    uint32_t users;      /* ops in flight on the file */
    struct list lru;     /* in d->open_segments, least recently used first */
    struct list waiting; /* struct index_wait */
    struct index_load *loading;
};

struct tail_batch {
    struct block *block;
    unsigned char *p;
    uint32_t size;
    struct segment *seg;
    uint64_t pos;
    int64_t base, last; /* offsets */
    uint64_t lsn;
};
struct tail { /* a ring */
    struct tail_batch *v;
    uint32_t cap, head, n; /* cap is a power of two or 0 */
    uint32_t n_written, n_durable, n_rounded;
};
struct epoch_entry {
    int32_t epoch;
    int64_t start;
};

struct log {
    struct logdir *d;
    struct list link;   /* d->logs, in the order of opening */
    char *path;         /* DATA/TOPIC-PARTITION */
    struct slice topic; /* owned */
    struct uuid id;
    int32_t partition;
    int flags;
    void *user;
    struct log_config config;
    int64_t start, end, durable;
    uint64_t sealed_bytes;         /* of segments whose successor exists */
    uint64_t durable_sealed_bytes; /* of those before durable_seg */
    struct segment **segs;         /* by base; the last one is written to */
    int n_segs, cap_segs;
    struct segment *durable_seg; /* where the durable end lies */
    struct tail tail;
    struct list tails_link; /* d->tails while tail.n > 0 */
    uint32_t txn_sum;       /* of the CRCs of all entries in the segments' txn */
    bool txn_rebuilt;       /* recovery made them again: the files do not have them */
    struct epoch_entry *epochs;
    int n_epochs, cap_epochs;
    bool epochs_dirty;
    struct checkpoint_log ck; /* as of the last checkpoint's cut; topic is not set */
    struct buf roll_snapshot; /* made when the durable end passed into a new segment */
    int64_t roll_offset;
    int64_t snapshots[2]; /* offsets of those on disk, newest first; -1 none */
    bool dir_made, dir_dirty, dirty;
    bool starved;             /* its writing waits for space */
    bool owner_synced;        /* partition.metadata is durable */
    bool dir_of_other;        /* recovery found a deleted namesake's directory in its place */
    bool queued, job, job_ck; /* waits for a writer; has one; with all a checkpoint needs */
    bool gone, dead;          /* deleted by the owner; ... durably */
    uint64_t stamp_lsn;     /* of creation or deletion: the directory follows when it is durable */
    uint32_t users;         /* cold reads in flight */
    struct list round_link; /* d->touched: got durable batches in this round */
    struct list dirty_link; /* d->dirty: newer than its ck */
    struct list queue_link; /* d->queue */
    struct list stamp_link; /* d->fresh or d->to_make; d->leaving once gone */
    struct redo *redo;      /* while the directory opens: what the journal has of it */
};

struct journal_file {
    uint32_t id; /* from 1; its name is the number */
    struct env_file f;
    bool open, live; /* live: holds rounds that the last checkpoint does not cover */
    uint64_t size, last_seq;
    struct list link;
};
struct journal_mark {  /* a place between two rounds */
    uint64_t seq, lsn; /* of the next round; the last durable one's */
    uint32_t file;
    uint64_t pos, used;
};
struct journal {
    unsigned char salt[JOURNAL_SALT];
    struct list files;
    uint32_t last_id;
    uint64_t total; /* bytes of all files */
    struct journal_file *current, *next;
    uint64_t pos, seq;        /* of the next round, in current */
    uint64_t used;            /* bytes of rounds since the last checkpoint's cut */
    bool in_flight, reported; /* reported: told as durable before it was (a mutation) */
    struct env_op op;
    struct buf head;
    struct round_entry *entries;
    uint32_t cap_entries;
    struct slice *v;
    uint32_t cap_v;
    uint32_t n_round;          /* staged batches that the round in flight holds */
    uint64_t round_bytes, lsn; /* its size in the journal, its last lsn */
    /* preparing the next file */
    struct env_op prep_op;
    struct journal_file *prep;
    int prep_step;
    uint64_t size_max; /* of a new file, after one did not fit on the disk; 0 as configured */
    bool starved;
};

struct staged {
    struct log *log;
    uint64_t bundle; /* 0: on its own */
    uint32_t size;
};

struct writer {
    struct env_op op;
    struct logdir *d;
    struct log *log; /* NULL: idle */
    bool ck;
    int step, seg_i, part;
    struct slice v[WRITER_SLICES];
    int n;
    uint32_t n_batches;
    uint64_t n_bytes, target;
    struct segment *seg;
    struct buf bytes, snapshot;
    int64_t snapshot_offset;
    struct env_file file;
    int flags; /* of the write in `file` */
    bool file_open, emptying, aside;
    char path[PATH_CAP];
};

enum ck_step { CK_IDLE, CK_LOGS, CK_ROOT, CK_WRITE, CK_RENAME, CK_TEXT };
struct checkpoint {
    int step;
    bool clean;          /* the last one, at an orderly stop */
    bool waits, starved; /* for space, at its step */
    bool texts;          /* Kafka's text files are due; which one is being written: */
    int text;
    uint64_t texts_at;
    uint64_t started, last_duration;
    struct journal_mark cut;
    uint32_t n_left; /* logs whose files are not there yet */
    struct env_op op;
    struct env_file file;
    bool file_open, emptying;
    int sync;
    struct slice v;
    struct buf bytes;
};

struct removal { /* of a deleted log's directory, in the background */
    struct env_op op;
    struct logdir *d;
    struct list link;
    char *path;
    char **names;
    int n, cap, at; /* at -1: the new name of the directory is being made durable */
};

struct logdir {
    struct env *env;
    struct logdir_options o;
    struct logdir_hooks hooks;
    char *path;
    char cluster_id[24], directory_id[24];
    int32_t epoch;
    unsigned char boot[16];
    struct list logs;
    struct map by_key; /* topic id and partition -> log, the living */
    struct log *metadata;
    struct journal journal;
    /* the line of staged batches */
    struct staged *line;
    uint32_t line_cap, line_head, line_n;
    uint64_t staged, durable; /* lsns */
    uint64_t secured;         /* lsn up to which no power cut undoes anything */
    uint64_t staged_bytes;
    int bundle_depth;
    uint64_t bundle, bundle_n; /* batches staged in the open one */
    struct block *chunk;       /* small batches are copied here */
    uint32_t chunk_used;
    uint64_t tail_bytes;
    struct list tails, touched, dirty, queue, fresh, to_make, leaving, removals, open_segments;
    struct list cold_reads, index_loads, time_finds; /* in flight, freed with the directory */
    uint32_t n_open_segments;
    uint32_t n_dirty;
    struct writer *writers; /* WRITERS of them */
    struct checkpoint ck;
    struct env_task turn;
    struct env_timer tick;
    bool tick_armed;
    uint64_t age_lsn[2], age_at; /* what was staged at the last ticks of age */
    uint64_t ck_at;              /* when the last checkpoint began */
    bool poisoned, closing, closed, recovering, locked;
    bool no_space, refused, root_dirty, low; /* low: less free than the reserve */
    uint32_t
        n_starved;     /* logs, journal, checkpoint that wait for space; no_space while there are */
    uint64_t space_at; /* journal.used when the disk's space was looked at */
    uint64_t retry_at; /* after a full disk */
    int close_step;
    struct recovery *recovery; /* while it opens */
    void (*close_done)(void *user);
    void *close_user;
};

/* ---- logdir.c ---- */
void logdir_poison(struct logdir *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Background work failed: true when it is a full disk, to be tried again (*starved is set); else
 * all is over. */
bool logdir_background_error(struct logdir *d, bool *starved, int64_t res, const char *what);
/* It succeeded. When nobody is starved any more, space is back. */
void logdir_background_ok(struct logdir *d, bool *starved);
void logdir_check_space(struct logdir *d);
void logdir_arm_tick(struct logdir *d);
void logdir_close_step(struct logdir *d);
struct log *logdir_find(const struct logdir *d, const struct uuid *id, int32_t partition);

/* ---- tail.c ---- */
static inline struct tail_batch *tail_at(const struct tail *t, uint32_t i)
{
    return &t->v[(t->head + i) & (t->cap - 1)];
}
int tail_reserve(struct tail *t);
struct tail_batch *tail_push(struct log *l); /* after tail_reserve */
/* The first entry whose last offset is >= offset, or tail.n. */
uint32_t tail_find(const struct tail *t, int64_t offset);
/* Drops written batches over all logs until the limit holds, and those staged up to `lsn`. */
void tails_evict(struct logdir *d, uint64_t lsn);
void tail_clear(struct log *l);
/* Room for n bytes that stay with the batch; a reference for the caller. */
unsigned char *tail_chunk(struct logdir *d, size_t n, struct block **block);

/* ---- segment.c ---- */
struct segment *segment_new(struct log *l, int64_t base);
void segment_free(struct segment *s);
int log_add_segment(struct log *l, struct segment *s);
/* The segment that holds offset: the last with base <= offset, NULL if none. */
struct segment *log_segment(const struct log *l, int64_t offset);
void segment_path(const struct segment *s, const char *suffix, char out[PATH_CAP]);
/* Opens the .log if it is not, and marks it as used. create: it may have to be made. */
int segment_open(struct segment *s, bool create);
void segment_close(struct segment *s);
void segment_use(struct segment *s);
void segment_unuse(struct segment *s);
void segments_trim(struct logdir *d);
char *path_join(const char *dir, const char *name);
/* TOPIC-PARTITION; -ERR_INVALID when name is not one. */
int partition_dir_parse(const char *name, struct slice *topic, int32_t *partition);
/* 20 digits and a suffix that is given; false when it is another name. */
bool file_name_parse(const char *name, const char *suffix, int64_t *offset);

/* ---- index_load.c ---- */
struct index_wait {
    struct list link;
    void (*ready)(struct index_wait *w);
};
/* Makes the files' part of the segment's index available: 0 it is; -ERR_AGAIN: w->ready will be
 * called. When they cannot be read the index is marked broken, which costs time only. The .log must
 * be open. */
int segment_index_load(struct segment *s, struct index_wait *w);
void index_loads_free(struct logdir *d);

/* ---- log_read.c, log_time.c ---- */
void cold_reads_free(struct logdir *d);
void time_finds_free(struct logdir *d);

/* ---- log.c ---- */
struct log *log_new(struct logdir *d, struct slice topic, const struct uuid *id, int32_t partition,
                    const struct log_config *config, int flags, void *user);
void log_free(struct log *l);
/* The place for a batch: rolls when need be. Counts for staging and for recovery alike. */
struct segment *log_place(struct log *l, const struct batch_info *info);
void log_key(const struct uuid *id, int32_t partition, unsigned char key[20]);

/* ---- log_delete.c ---- */
/* Frees those whose deletion cannot be undone any more. */
void logs_leave(struct logdir *d);
/* The leaving namesake whose directory is where this one's shall be, or NULL. */
struct log *log_in_place_of(const struct log *l);
/* With --durability async it need not wait until it may go: its directory takes its later name. The
 * root must be synced before another takes its place, for it may be taken back. */
bool log_may_step_aside(const struct log *o);
bool log_step_aside(struct log *o);
/* DATA/TOPIC-PARTITION.ID-suffix */
void log_gone_path(const struct log *l, const struct uuid *id, const char *suffix,
                   char out[PATH_CAP]);
void removal_free(struct removal *r);
void removal_begin(struct logdir *d, char *path_take);

/* ---- durable.c ---- */
/* A batch became durable (or is redone at recovery): index, epochs, ends. 0 or -ERR_NOMEM. */
int log_advance(struct log *l, struct segment *s, uint64_t pos, const struct batch_info *info);
void round_durable(struct logdir *d);
int log_add_epoch(struct log *l, int32_t epoch, int64_t start);

/* ---- journal.c, journal_files.c ---- */
void journal_init(struct journal *j);
void journal_deinit(struct journal *j);
void journal_kick(struct logdir *d);
struct journal_mark journal_here(const struct logdir *d);
void journal_path(const struct logdir *d, uint32_t id, char out[PATH_CAP]);
struct journal_file *journal_file_add(struct journal *j, uint32_t id, uint64_t size);
/* Makes sure a file for a round of `need` bytes comes; journal_kick is called when it is there. */
void journal_prepare(struct logdir *d, uint64_t need);
/* Rounds before the mark are not needed any more. */
void journal_release(struct logdir *d, const struct journal_mark *cut);
/* Bytes that can still be staged before the disk must give a new file. */
bool journal_has_room(const struct logdir *d, uint64_t bytes);

/* ---- writer.c ---- */
void writers_init(struct logdir *d);
void writers_deinit(struct logdir *d);
void log_queue(struct log *l);
void writers_kick(struct logdir *d);
bool writers_idle(const struct logdir *d);

/* ---- checkpoint.c ---- */
void checkpoint_consider(struct logdir *d);
void checkpoint_begin(struct logdir *d, bool clean);
void checkpoint_log_done(struct log *l);
void checkpoint_deinit(struct logdir *d);
void log_mark_cut(struct log *l);
/* The whole file's bytes for the state as of the logs' cuts. */
int checkpoint_encode_all(struct logdir *d, const struct journal_mark *at, bool clean,
                          struct buf *out);

/* ---- kafka_files.c ---- */
enum { TEXT_META, TEXT_RECOVERY, TEXT_HIGH_WATERMARK, TEXT_START, TEXT_CLEAN, TEXT_N };
const char *text_file_name(int which);
int text_file_make(struct logdir *d, int which, struct buf *out);
int epochs_make(const struct log *l, struct buf *out);
int epochs_parse(struct log *l, struct slice text, int64_t end);
void partition_metadata_make(const struct log *l, struct buf *out);
int partition_metadata_parse(struct slice text, struct uuid *id);
/* meta.properties: 0, or -ERR_CORRUPT; fields not there are left as they are. */
int meta_properties_parse(struct logdir *d, struct slice text);
/* `topic partition offset` lines: each() for every one. */
int offsets_file_parse(struct slice text,
                       void (*each)(void *user, struct slice topic, int32_t partition,
                                    int64_t offset),
                       void *user);

/* ---- recovery.c ---- */
int recovery_run(struct logdir *d, struct logdir_report *report, struct err *e);
int recovery_log_open(struct log *l, struct err *e);
#endif

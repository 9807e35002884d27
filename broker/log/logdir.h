/* broker/log/logdir.h - a log directory: every partition's log behind one journal.
 *
 * An append is staged in memory and gets its offset at once; at the end of the turn all that was
 * staged goes to the journal as one round, written and synced once. When a round is durable, its
 * logs' durable ends move, `on_durable` is told, and in the background the bytes go to the
 * segments, segments are synced, the checkpoint moves and the journal is recycled behind it.
 *
 * Every staged append has a log sequence number (lsn), counting from 1 in the order of staging over
 * all partitions. Rounds are durable in order, so "my cause is durable" is `logdir_durable(d) >=
 * lsn`; what depends on staged state holds back its answer until then.
 *
 * Failure: a failed journal write or sync is final: the directory is poisoned, on_halt is told
 * once, no later append or answer leaves. A segment that cannot be written for lack of space is
 * retried (its bytes stay in the journal and in memory) and meanwhile appends are refused with
 * -ERR_NO_SPACE. */
#ifndef ONCE_BROKER_LOG_LOGDIR_H
#define ONCE_BROKER_LOG_LOGDIR_H
#include "base/block.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/env.h"
#include "base/wire/batch.h"

struct logdir;
struct log;

/* Per topic, changed at any time by log_configure; zero fields take Kafka's defaults. */
struct log_config {
    int64_t segment_bytes;        /* 1 GiB */
    int64_t segment_ms;           /* 7 days */
    int32_t index_interval_bytes; /* 4096 */
    int32_t segment_index_bytes;  /* 10 MiB */
    bool compact;                 /* kept; compaction is not built yet */
};

struct logdir_options {
    const char *path;
    bool async;                  /* --durability async: appended counts as durable */
    uint64_t journal_file_bytes; /* 16 MiB; the first file of a fresh directory is smaller */
    uint64_t journal_bytes_max;  /* 256 MiB; appends wait behind the checkpoint beyond */
    uint64_t round_bytes_max;    /* 8 MiB; a bundle is never split */
    uint64_t staged_bytes_max;   /* 64 MiB not yet durable: log_append gives -ERR_LIMIT */
    uint64_t reserve_bytes;      /* 2 MiB: with less free on the disk appends are refused, so that
                                    a checkpoint, or the next start, still finds room */
    uint64_t tail_bytes_max;     /* 64 MiB of recent batches kept in memory over all logs */
};

/* What recovery and the running log ask of the broker. `user` is passed back. */
struct logdir_hooks {
    void *user;
    /* Recovery, in this order. A batch of the metadata partition, oldest first; then, once they are
     * all seen, each partition the metadata knows must be declared by calling logdir_log_open from
     * within declare(). Directories that no declared log names are removed if they hold our mark of
     * deletion, else left alone with a warning. When there is no journal (a directory of Kafka's),
     * adopt() is called for every partition directory found, before declare(), with its topic id
     * from partition.metadata. */
    int (*metadata_batch)(void *user, struct slice batch, struct err *e);
    int (*adopt)(void *user, struct slice topic, const struct uuid *id, int32_t partition,
                 struct err *e);
    int (*declare)(void *user, struct logdir *d, struct err *e);
    /* The producer-state snapshot found for `log` at `offset` (bytes of the .snapshot file): 0
     * taken, or negative: it is deleted and an older one, or none, is tried. */
    int (*snapshot_load)(void *user, struct log *log, int64_t offset, struct slice bytes);
    /* Each batch from the snapshot's offset (or the log's start) to the end, with its final
     * offsets. For logs opened with LOG_REPLAY_ALL, from the log's start. */
    int (*replay)(void *user, struct log *log, struct slice batch, struct err *e);
    /* Running. The durable end of `log` moved to `end`; called before on_durable of the same
     * round. */
    void (*log_durable)(void *user, struct log *log, int64_t end);
    /* A round is durable: answers up to `lsn` may leave. */
    void (*on_durable)(void *user, uint64_t lsn);
    /* The bytes of the producer-state snapshot at the log's durable end (appended to `out`). */
    int (*snapshot_save)(void *user, struct log *log, int64_t offset, struct buf *out);
    /* Space is back, or the journal has room again: parked appends may be tried again. */
    void (*on_room)(void *user);
    void (*on_halt)(void *user, const char *why);
};

struct logdir_report { /* of the recovery, for the log line */
    uint64_t rounds, bytes_redone, batches_checked, bytes_cut;
    uint64_t
        mended; /* batches that a power cut had damaged in a segment, restored from the journal */
    uint32_t logs, segments_scanned, indexes_rebuilt;
    uint64_t duration_ns;
    bool clean; /* the last stop was orderly */
};

/* The metadata partition's fixed name and id; it is opened by logdir_open itself. */
#define METADATA_TOPIC "__once_metadata"
extern const struct uuid METADATA_TOPIC_ID;

/* Locks the directory, recovers, makes durable what is kept, starts a new journal. Blocking (env's
 * _wait calls): for before the node serves. Creates the directory if need be. Errors name file and
 * position. -ERR_BUSY: another broker has it; -ERR_CORRUPT: nothing was changed, nothing
 * truncated. */
int logdir_open(struct logdir **d, struct env *env, const struct logdir_options *o,
                const struct logdir_hooks *hooks, struct logdir_report *report, struct err *e);
/* Orderly stop: flushes rounds, segments, indexes, snapshots, checkpoint, the clean mark; then
 * done(user). Appends are refused from now on. */
void logdir_close(struct logdir *d, void (*done)(void *user), void *user);
/* Frees without I/O, from any state. */
void logdir_free(struct logdir *d);

uint64_t logdir_staged(const struct logdir *d);  /* lsn of the last append staged */
uint64_t logdir_durable(const struct logdir *d); /* lsn up to which all is durable */
/* Between these two, everything staged belongs to one round: it is there together or not at all.
 * Pairs nest. */
void logdir_bundle_begin(struct logdir *d);
void logdir_bundle_end(struct logdir *d);
/* 16 bytes of cluster identity as Kafka's 22 characters, made at first open (meta.properties). */
const char *logdir_cluster_id(const struct logdir *d);
struct log *logdir_metadata(struct logdir *d);
/* Which starts of the broker there were: 1, 2, ...: the leader epoch and coordinator epoch. */
int32_t logdir_epoch(const struct logdir *d);

/* ---- one partition's log ---- */
enum { LOG_REPLAY_ALL = 1 }; /* internal topics whose every record is state */

/* In recovery (from declare) finds what is on disk or in the journal; later, creates. The directory
 * is made at once but not made durable: the journal can redo it. `user` is the caller's. */
int logdir_log_open(struct logdir *d, struct slice topic, const struct uuid *topic_id,
                    int32_t partition, const struct log_config *config, int flags, void *user,
                    struct log **out, struct err *e);
/* The log is gone for its owner at once; its files go in the background. Rounds in the journal for
 * its topic id are skipped at recovery. */
void logdir_log_delete(struct logdir *d, struct log *l);
void log_configure(struct log *l, const struct log_config *config);
void *log_user(const struct log *l);
/* Owner's pointer, settable once after open. */
void log_set_user(struct log *l, void *user);

int64_t log_start(const struct log *l);
int64_t log_end(const struct log *l);     /* staged end: where the next append goes */
int64_t log_durable(const struct log *l); /* high watermark */
int64_t log_size(const struct log *l);    /* bytes in segments and tail */

/* Stages one batch, already validated, whose bytes lie in `block` (a reference is taken; large
 * batches are not copied). Base offset and leader epoch are written into the bytes in place. `info`
 * is updated. 0; -ERR_NO_SPACE (disk full: the client may retry), -ERR_LIMIT (too much in flight:
 * park and retry at on_room), -ERR_IO (poisoned). */
int log_append(struct log *l, struct block *block, struct span batch, struct batch_info *info);
/* The same for bytes the caller keeps (copied). */
int log_append_copy(struct log *l, struct slice batch, struct batch_info *info);

/* A read of whole batches that overlap [offset, upper), at most max_bytes, but the first one always
 * when `at_least_one`. Batches come as they are on disk. upper must be <= log_durable. */
enum { LOG_READ_SLICES = 32 };
struct log_read {
    /* in */
    struct log *log;
    int64_t offset, upper;
    size_t max_bytes;
    bool at_least_one;
    void (*done)(struct log_read *r, int res); /* after -ERR_AGAIN only; 0 or negative */
    /* out: bytes of v[i] live as long as blocks[i] is referenced; log_read_release drops them */
    struct slice v[LOG_READ_SLICES];
    struct block *blocks[LOG_READ_SLICES];
    int n;
    size_t bytes;
    int64_t next; /* offset after the last batch returned; offset if nothing */
    /* internal */
    struct env_op op;
    struct env_file *file;
    uint64_t pos;
    void *segment;
    struct list link;
};
/* 0: answered at once; -ERR_AGAIN: done() will be called; -ERR_NOT_FOUND: offset out of range
 * (< log_start or > log_end); -ERR_CORRUPT; -ERR_IO. */
int log_read(struct log_read *r);
void log_read_release(struct log_read *r);
/* A parked read whose owner goes away: done() is not called, what is in flight is dropped when it
 * ends. */
void log_read_cancel(struct log_read *r);

/* First record with timestamp >= ts in [log_start, upper): offset and timestamp, or *offset = -1.
 * Walks at most one segment's part between two time-index entries; answers by callback like
 * log_read. */
struct log_time {
    struct log *log;
    int64_t timestamp, upper;
    bool max; /* instead: the first record with the greatest timestamp (ListOffsets -3) */
    void (*done)(struct log_time *t, int res);
    int64_t offset, found_timestamp;
    struct log_read read; /* internal */
    void *internal;
};
int log_time_find(struct log_time *t); /* 0 answered, -ERR_AGAIN done() will be called */
/* While done() is still to come: it will not, and t is the caller's again. */
void log_time_cancel(struct log_time *t);

/* KIP-320: the end offset of `epoch`: the start of the next higher epoch known, or the durable end.
 * *found is the largest epoch <= epoch that the log has, -1 if none. */
void log_epoch_end(const struct log *l, int32_t epoch, int32_t *found, int64_t *end);

/* Aborted transactions (.txnindex): 34-byte entries in the marker's segment, written by txn/ when
 * the marker is durable, read back for a fetch. each() returns false to stop. */
void log_txnindex_add(struct log *l, int64_t marker_offset, const unsigned char entry[34]);
void log_txnindex_scan(struct log *l, int64_t from_offset,
                       bool (*each)(void *user, const unsigned char entry[34]), void *user);

/* ---- offline, for `once log dump` and tests ---- */
/* Reads one file (.log .index .timeindex .txnindex .snapshot, a journal file, a checkpoint) and
 * prints a line an entry with positions; a broken one is reported with file and position:
 * -ERR_CORRUPT. */
int log_dump(struct env *env, const char *path, bool deep,
             void (*line)(void *user, const char *text), void *user, struct err *e);
/* Rebuilds index, time index from a .log file's bytes as the running log would have written
 * them. */
int log_rebuild_indexes(struct slice log_bytes, int64_t base_offset, int32_t index_interval_bytes,
                        struct buf *index, struct buf *timeindex, struct err *e);
#endif

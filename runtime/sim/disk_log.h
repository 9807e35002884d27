/* runtime/sim/disk_log.h - the checker's own reader of the broker's simulated disk.
 *
 * It reads segment files as a stranger would: folders named TOPIC-PARTITION, batches of format 2,
 * and the records in them; it decides itself which transactions were committed. It uses nothing of
 * broker/, txn/ or runtime/client/, so that a mistake there cannot hide itself. To be used when the
 * broker has stopped in order and all its bytes are in segments.
 *
 * Failure: bytes that do not parse are told to the verdict as corrupt, and reading of that log
 * ends. */
#ifndef ONCE_RUNTIME_SIM_DISK_LOG_H
#define ONCE_RUNTIME_SIM_DISK_LOG_H
#include "base/sim_disk.h"
#include "runtime/sim/verdict.h"

enum fate { FATE_PLAIN, FATE_OPEN, FATE_COMMITTED, FATE_ABORTED, FATE_MARKER };
struct disk_batch {
    int64_t base, last, producer_id, base_timestamp;
    int32_t sequence, count;
    int16_t epoch;
    uint16_t attributes;
    enum fate fate;
    bool transactional, control, commit; /* commit: of a marker */
};
struct disk_record {
    int64_t offset, timestamp;
    struct slice key, value; /* into disk_log.bytes */
    struct slice headers;    /* raw, behind their count */
    int32_t n_headers;
    uint32_t batch;
};
struct disk_log {
    char topic[256];
    int32_t partition;
    unsigned char *bytes;
    size_t n_bytes;
    struct disk_batch *batches;
    uint32_t n_batches, batches_cap;
    struct disk_record *records;
    uint32_t n_records, records_cap;
    int64_t end;            /* the next offset */
    unsigned char **opened; /* records that were compressed */
    uint32_t n_opened;
};
struct disk_logs {
    struct disk_log *v;
    uint32_t n, cap;
};

/* Every partition below `dir`, in order of name. */
void disk_logs_read(struct disk_logs *l, struct sim_disk *d, const char *dir, struct verdict *v);
void disk_logs_free(struct disk_logs *l);
/* NULL when it is not there. */
struct disk_log *disk_logs_find(const struct disk_logs *l, struct slice topic, int32_t partition);
/* How many partitions the topic has: those from 0 on. */
int32_t disk_logs_partitions(const struct disk_logs *l, struct slice topic);

static inline bool disk_committed(const struct disk_log *l, const struct disk_record *r)
{
    enum fate f = l->batches[r->batch].fate;
    return f == FATE_PLAIN || f == FATE_COMMITTED;
}
/* What stands for a record's content, the same for all who saw it. */
uint64_t record_hash(struct slice key, struct slice value, int64_t timestamp);

/* Reads bytes in order; `bad` sticks once something did not fit. */
struct disk_reader {
    struct slice in;
    size_t at;
    bool bad;
};
int64_t disk_read_int(struct disk_reader *r, int bytes);
int64_t disk_read_varint(struct disk_reader *r);
struct slice disk_read_bytes(struct disk_reader *r, int64_t n); /* n < 0: null */
#endif

/* broker/group_coordinator_impl.h - what the two files of the coordinator share:
 * group_coordinator.c feeds groups, group_records.c writes and reads `__consumer_offsets`. */
#ifndef ONCE_BROKER_GROUP_COORDINATOR_IMPL_H
#define ONCE_BROKER_GROUP_COORDINATOR_IMPL_H
#include "broker/broker.h"
#include "broker/group/coordinator.h"
#include "broker/group/group.h"
#include "broker/group/offsets.h"

enum {
    GROUP_BATCH_MAX = 16 << 20,   /* bytes of one batch of records */
    GROUP_SCRATCH_MAX = 16 << 20, /* one record, and a compressed batch of Kafka's laid open */
    GROUP_ARENA_MAX = 64 << 20
};

struct group_entry {
    struct group g;
    struct group_coordinator *gc;
    struct env_timer timer;
};

struct group_coordinator {
    struct broker *b;
    struct env *env;
    struct group_options options;
    int64_t retention_ms, check_ms, metadata_max;
    int32_t n_partitions; /* of the topic, when it is made */
    struct map groups;    /* name -> struct group_entry */
    struct idmap stores;  /* partition -> struct offsets */
    struct idmap calls;   /* token -> struct group_call that waits */
    uint64_t tokens;
    struct env_task started; /* the first turn after recovery: sessions begin */
    bool loaded;             /* groups were reloaded and have no timers yet */
    struct env_timer expiry;
    /* Writing ends in a staged batch that is read at once, so each side has its own. */
    struct arena write_arena, read_arena;
    struct buf batch, write_scratch, read_scratch;
};

/* ---- group_coordinator.c ---- */
/* NULL: not there; with create also when there is no memory. */
struct group_entry *group_entry_get(struct group_coordinator *gc, struct slice name, bool create);
void group_entry_remove(struct group_coordinator *gc, struct group_entry *e);

/* ---- group_records.c ---- */
/* The store of the group's partition; NULL: none, or no memory. */
struct offsets *group_store(struct group_coordinator *gc, struct slice group, bool create);
void group_stores_free(struct group_coordinator *gc);
/* Writes the group's metadata record. What a member is told when that fails is the result. */
enum kafka_error group_write(struct group_coordinator *gc, const struct group *g);
/* Tombstones for what is past its retention, and for groups that hold nothing more. */
void group_expire(struct group_coordinator *gc);
#endif

/* broker/group/coordinator.h - the shell around groups and offsets: parked requests, timers,
 * records.
 *
 * Groups (group.h) and offsets (offsets.h) are pure. The coordinator feeds them from requests,
 * timers and the batches of `__consumer_offsets`, and writes what they decide as records of that
 * topic. It acts on staged state: memory changes when a batch is staged, and answers that depend on
 * it wait for its lsn (reply_end). There is one way into the offsets: every batch of
 * `__consumer_offsets`, ours, a transaction's or a marker, comes through group_coordinator_staged
 * when it is appended and through group_coordinator_replay after a restart, and both do the same.
 *
 * Failure: a record that cannot be appended (disk full) refuses the request with an error the
 * client retries; groups go on in memory. The implementation is broker/group_coordinator.c. */
#ifndef ONCE_BROKER_GROUP_COORDINATOR_H
#define ONCE_BROKER_GROUP_COORDINATOR_H
#include "base/slice.h"
#include "base/wire/batch.h"
#include "base/wire/kafka_error.h"

struct broker;
struct group_coordinator;
struct group_effect;
struct group_event;
struct offsets;
struct partition;
struct plug_request;
struct topic;

#define GROUP_TOPIC "__consumer_offsets"
/* Fewer than Kafka's 50: with one broker they only share out work that is not shared. */
enum { GROUP_TOPIC_PARTITIONS = 4 };

/* ---- for the broker ---- */
/* From broker_open, before recovery. No I/O. 0 or -ERR_NOMEM; -ERR_INVALID for a property that is
 * not what it should be (logged). */
int group_coordinator_open(struct group_coordinator **gc, struct broker *b);
/* Without I/O, from any state. Parked requests are forgotten, not answered. NULL is fine. */
void group_coordinator_free(struct group_coordinator *gc);
/* Recovery: one batch of `__consumer_offsets`, markers included, in log order. Negative: memory, or
 * a batch that cannot be read. */
int group_coordinator_replay(struct group_coordinator *gc, struct partition *p,
                             const struct batch_info *info, struct slice batch);
/* Running: a batch, or a marker, was staged on `__consumer_offsets`. info->base_offset is final. */
void group_coordinator_staged(struct group_coordinator *gc, struct partition *p,
                              const struct batch_info *info, struct slice batch);
/* The topic was deleted (staged): its offsets, pending ones too, get tombstones. t is still
 * whole. */
void group_coordinator_topic_deleted(struct group_coordinator *gc, struct topic *t);

/* ---- for APIs that commit offsets ---- */
/* The partition of `__consumer_offsets` that holds the group; the topic is made on first need. NULL
 * when it cannot be. */
struct partition *group_coordinator_partition(struct group_coordinator *gc, struct slice group);
/* May a transactional commit come from this member? The rules of TxnOffsetCommit: KAFKA_NONE,
 * UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, ILLEGAL_GENERATION, COORDINATOR_NOT_AVAILABLE. member "",
 * instance null and generation -1 are "nothing said". Call it when the record is about to be
 * appended. */
enum kafka_error group_check_member(struct group_coordinator *gc, struct slice group,
                                    struct slice member, struct slice instance, int32_t generation);
/* A transaction holds an offset for this partition that is neither applied nor dropped. */
bool group_offsets_unstable(struct group_coordinator *gc, struct slice group, struct slice topic,
                            int32_t partition);

/* Writes offsets of one group as one batch, transactional if producer_id >= 0 (the plug is then
 * asked with rq, which may be NULL otherwise). Checks no membership. Each offset gets its error:
 * metadata too large, unknown topic or partition, or what the append was refused with, as Kafka's
 * clients expect it in an answer to OffsetCommit. Returns how many were written. */
struct group_commit_offset {
    struct slice topic;
    int32_t partition;
    int64_t offset;
    int32_t leader_epoch;   /* -1 unknown */
    struct slice metadata;  /* null counts as empty */
    enum kafka_error error; /* out */
};
struct group_commit {
    struct slice group;
    int64_t producer_id; /* -1: a plain commit */
    int16_t producer_epoch;
    int64_t retention_ms; /* -1: the broker's */
    const struct plug_request *rq;
    struct group_commit_offset *v;
    int n;
};
int group_coordinator_commit(struct group_coordinator *gc, struct group_commit *c);

/* ---- for the group's own APIs (broker/api/08 to 14) ---- */
/* A request that waits for its group. It lives with the caller until answered or forgotten. */
struct group_call {
    void (*answer)(struct group_call *c, const struct group_effect *e);
    void *user;
    uint64_t token; /* the coordinator's; 0: not parked */
};
/* Feeds one event to the group, made if `create` and not there: returns what group_step returned in
 * out->error for the events that are answered at once. JOIN and SYNC are answered through call,
 * from within or later (call->token is 0 when it has been). A group that is not there:
 * UNKNOWN_MEMBER_ID, for a commit what OffsetCommit below version 9 says. */
enum kafka_error group_coordinator_step(struct group_coordinator *gc, struct slice group,
                                        struct group_event *ev, bool create,
                                        struct group_call *call);
/* The request went away: it gets no answer. */
void group_coordinator_forget(struct group_coordinator *gc, struct group_call *call);
/* Is there such a group, with members or offsets? */
bool group_coordinator_has(struct group_coordinator *gc, struct slice group);
/* The offsets of one partition of `__consumer_offsets`; NULL when there are none. */
const struct offsets *group_coordinator_offsets(struct group_coordinator *gc, struct slice group);
#endif

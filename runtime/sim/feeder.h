/* runtime/sim/feeder.h - writes the input through the real client, and remembers what was
 * acknowledged.
 *
 * One input record after another leaves at the time drawn for it. An idempotent feeder never sends
 * again what may be in already: a record is acknowledged at an offset, or its outcome is unknown. A
 * transactional feeder commits chunks together with its position, goes on from the committed
 * position after any doubt, and may itself be killed: in the end each record is in exactly once. */
#ifndef ONCE_RUNTIME_SIM_FEEDER_H
#define ONCE_RUNTIME_SIM_FEEDER_H
#include "runtime/client/admin.h"
#include "runtime/client/producer.h"

struct feed_record {
    struct slice topic, key, value; /* borrowed */
    int32_t partition;
    int64_t timestamp;
    uint64_t at; /* of the world's clock, ns: when it is sent */
    bool sent;
    int64_t offset; /* where it was acknowledged; -1: not, or not known (a transaction's) */
};
enum { FEED_TOPICS_MAX = 32 };
struct feeder {
    struct env *env;
    struct client *client;
    struct producer *producer;
    const uint64_t *world_now;
    struct feed_record *v; /* the caller's */
    uint32_t n;
    struct slice job;
    bool transactional;
    int32_t partitions; /* of topics that do not exist */
    /* topics */
    struct slice topics[FEED_TOPICS_MAX];
    int n_topics, topics_made;
    struct create_topic create;
    bool ready, busy; /* a producer is there; a transaction ends */
    char group[128], txn_id[128];
    uint32_t next, committed, in_txn; /* records; in_txn of the open transaction */
    /* idempotent: what waits for its acknowledgement, in the order sent */
    uint32_t unacked;
    bool flushed;
    struct fetch_offsets fetch;
    struct fetch_offset_entry entry;
    bool fetching;
    struct env_timer timer;
    uint64_t retries;
};

/* v, n, job, transactional, partitions and world_now are set; v->topic of all records lives on.
 * `first`: nothing was fed yet. */
void feeder_start(struct feeder *f, struct env *env, struct client *client);
/* Without I/O; the records' state stays. */
void feeder_free(struct feeder *f);
/* Everything is sent, and acknowledged or unknown for good. */
bool feeder_done(const struct feeder *f);
#endif

/* broker/group/records.h - the records of `__consumer_offsets`, in Kafka's schemas: an offset
 * commit (key version 0 or 1) and the metadata of a classic group (key version 2). Types we do not
 * know are skipped. */
#ifndef ONCE_BROKER_GROUP_RECORDS_H
#define ONCE_BROKER_GROUP_RECORDS_H
#include "base/arena.h"
#include "base/wire/batch.h"
#include "broker/group/group.h"
#include "broker/group/offsets.h"

/* ---- writing: adds one record to an open batch; scratch is emptied first ---- */
/* v NULL: a tombstone. 0, -ERR_TOO_BIG, -ERR_NOMEM, -ERR_UNSUPPORTED (a string over 32767
 * bytes). */
int record_put_offset(struct batch_writer *w, struct buf *scratch, const struct offset_key *k,
                      const struct offset_value *v, int64_t timestamp);
/* The group as it is now. */
int record_put_group(struct batch_writer *w, struct buf *scratch, struct arena *arena,
                     const struct group *g, int64_t timestamp);
int record_put_group_end(struct batch_writer *w, struct buf *scratch, struct slice group,
                         int64_t timestamp);

/* ---- reading ---- */
struct group_metadata_value;
/* Each returns 0 to go on, or negative to end the reading with that. Slices live for the call. */
struct record_visitor {
    void *user;
    /* value NULL: a tombstone. producer_id is that of a transactional batch, else -1. */
    int (*offset)(void *user, int64_t producer_id, const struct offset_key *k,
                  const struct offset_value *value);
    int (*group)(void *user, struct slice group, const struct group_metadata_value *value);
    int (*marker)(void *user, int64_t producer_id, bool commit);
};
/* All records of a batch in order; scratch takes a compressed batch's. -ERR_CORRUPT for records
 * that do not parse. The arena is reset by it. */
int record_read_batch(struct slice batch, struct buf *scratch, struct arena *arena,
                      const struct record_visitor *v);
/* Into g what the value says: -ERR_NOMEM; -ERR_INVALID when it contradicts itself (g is empty
 * then). */
int record_load_group(struct group *g, const struct group_metadata_value *value);
/* Does the member's subscription (the consumer protocol's bytes) name the topic? -ERR_CORRUPT when
 * it cannot be read. 1, 0. */
int record_subscribed(struct slice subscription, struct slice topic, struct arena *arena);
#endif

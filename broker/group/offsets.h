/* broker/group/offsets.h - the offsets of the groups of one partition of `__consumer_offsets`.
 *
 * What is here is a function of that partition's records in log order, so live appends and replay
 * use the same calls and cannot disagree. A plain commit replaces what is there. A transactional
 * one is staged for its producer until a marker of that producer applies or drops it.
 *
 * One rule decides between plain and transactional commits, live, at replay and for a cleaner that
 * keeps the last record of a key: the highest record offset wins. A staged offset older in the log
 * than a plain commit made before its marker loses against it.
 *
 * Nothing that is staged ever expires, and a group that has staged offsets is not gone. */
#ifndef ONCE_BROKER_GROUP_OFFSETS_H
#define ONCE_BROKER_GROUP_OFFSETS_H
#include "base/map.h"

struct offset_value {
    int64_t offset;
    int32_t leader_epoch;  /* -1 unknown */
    struct slice metadata; /* owned; never null */
    int64_t commit_ms;     /* wall clock */
    int64_t expire_ms;     /* -1: by retention */
    int64_t record_offset; /* of its record in the log */
};
struct offset_key {
    struct slice group, topic;
    int32_t partition;
};
struct offsets {
    struct map groups;    /* name -> struct offsets_group; one that holds nothing is not there */
    struct idmap pending; /* producer id -> struct offsets_txn, as long as something is staged */
};

void offsets_init(struct offsets *o);
void offsets_deinit(struct offsets *o);

/* A commit record; producer_id -1: plain. Bytes are copied. 0 or -ERR_NOMEM (nothing changed). */
int offsets_put(struct offsets *o, int64_t producer_id, const struct offset_key *k,
                const struct offset_value *v);
/* A tombstone: what is committed goes, and what is staged by anyone. */
void offsets_remove(struct offsets *o, const struct offset_key *k);
/* A marker of the producer: what it staged is applied or dropped. */
void offsets_marker(struct offsets *o, int64_t producer_id, bool commit);

/* The committed offset; NULL when there is none. */
const struct offset_value *offsets_get(const struct offsets *o, const struct offset_key *k);
/* A transaction holds an offset for it that is neither applied nor dropped. */
bool offsets_unstable(const struct offsets *o, const struct offset_key *k);
/* Anything committed or staged? */
bool offsets_has_group(const struct offsets *o, struct slice group);
uint32_t offsets_pending_producers(const struct offsets *o);

/* Everything of the group that is committed or staged (committed NULL: staged only), in order of
 * first mention. `each` must not change o. */
typedef void (*offsets_each_fn)(void *user, const struct offset_key *k,
                                const struct offset_value *committed, bool staged);
void offsets_each(const struct offsets *o, struct slice group, offsets_each_fn each, void *user);
void offsets_each_group(const struct offsets *o, void (*each)(void *user, struct slice group),
                        void *user);

/* What expires of a group by now_ms. `subscribed` says whether a topic is kept because a live group
 * reads it; since_ms is when a group with members became empty, -1 while it counts from the commit
 * (a simple group, or a topic no longer subscribed). */
struct offsets_expiry {
    int64_t now_ms, retention_ms, since_ms;
    bool (*subscribed)(void *user, struct slice topic);
    void *user;
};
bool offsets_expired(const struct offsets_expiry *x, const struct offset_key *k,
                     const struct offset_value *committed, bool staged);
#endif

/* tests/broker/group/support_group.h - a group with its shell played by the test: effects are
 * carried out at once and kept, saves succeed or fail as told. */
#ifndef ONCE_TESTS_BROKER_GROUP_SUPPORT_GROUP_H
#define ONCE_TESTS_BROKER_GROUP_SUPPORT_GROUP_H
#include "base/check.h"
#include "base/err.h"
#include "broker/group/group.h"

enum { RIG_TEXT = 64, RIG_REPLIES = 4096, RIG_LISTED = 64 };

struct rig_reply {
    bool there;
    int n; /* how often this token was answered */
    enum group_effect_kind kind;
    enum kafka_error error;
    int32_t generation;
    bool skip, members;
    char member[RIG_TEXT], leader[RIG_TEXT], protocol[RIG_TEXT], assignment[RIG_TEXT];
    char listed[RIG_LISTED][RIG_TEXT]; /* member ids told to the leader */
    int n_listed;
};
struct rig {
    struct group g;
    struct group_options options;
    uint64_t now;
    int64_t wall_ms;
    uint64_t tokens;
    int n_saves;
    enum kafka_error save_error;
    int ids;
    int version;               /* of JOIN; 3: no id required, 9: skip */
    struct rig_reply *replies; /* by token */
};

void rig_init(struct rig *r, const struct group_options *o);
void rig_deinit(struct rig *r);
enum kafka_error rig_step(struct rig *r, struct group_event *ev);
/* protocols: "range roundrobin"; the metadata of each is the name and `meta`. Returns the token. */
uint64_t rig_join(struct rig *r, const char *member, const char *instance, const char *protocols,
                  const char *meta);
/* Assigns "<member>=<text>" pairs, separated by spaces; "" for a follower. */
uint64_t rig_sync(struct rig *r, const char *member, int32_t generation, const char *assignment);
enum kafka_error rig_heartbeat(struct rig *r, const char *member, const char *instance,
                               int32_t generation);
enum kafka_error rig_leave(struct rig *r, const char *member, const char *instance);
enum kafka_error rig_commit(struct rig *r, const char *member, const char *instance,
                            int32_t generation, bool transactional);
/* Time passes; whatever becomes due happens at its time. */
void rig_wait(struct rig *r, uint64_t ms);
/* NULL: still parked. */
struct rig_reply *rig_reply(struct rig *r, uint64_t token);
/* A STABLE group of n members "m0" ... (ids as given by the rig, in *ids if not NULL). */
void rig_stable(struct rig *r, int n, char ids[][RIG_TEXT]);
/* What must hold between steps. */
void rig_check(const struct rig *r);
#endif

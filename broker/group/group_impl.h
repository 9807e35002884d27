/* broker/group/group_impl.h - what the files of the group's state machine share: members,
 * rebalance, replies. group.c handles events, group_rebalance.c moves the state, group_member.c
 * keeps members. */
#ifndef ONCE_BROKER_GROUP_GROUP_IMPL_H
#define ONCE_BROKER_GROUP_GROUP_IMPL_H
#include "base/check.h"
#include "base/err.h"
#include "broker/group/group.h"

#define GROUP_MS            1000000u /* ns */
#define GROUP_NEW_MEMBER_NS (300000ull * GROUP_MS)

enum { SAVING_NOTHING, SAVING_ASSIGNMENT, SAVING_EMPTY, SAVING_REPLACED };

struct group_pending {
    uint64_t due;
};

/* The step under way. */
struct group_run {
    struct group *g;
    const struct group_event *ev;
    uint64_t now;
    struct group_out *out;
};

/* ---- group_member.c ---- */
/* A copy of s; *ok is cleared when there is no memory. Null stays null. */
struct slice group_copy(struct slice s, bool *ok);
void group_slice_free(struct slice *s);
/* Replaces *to by a copy of s; false: no memory, nothing changed. */
bool group_slice_set(struct slice *to, struct slice s);
/* A member from a JOIN, in the maps; NULL: no memory, nothing changed. */
struct group_member *group_member_add(struct group *g, const struct group_event *ev,
                                      struct slice id);
/* Takes over protocols and timeouts; false: no memory, nothing changed. */
bool group_member_update(struct group_member *m, const struct group_event *ev);
/* Gives a static member a new id; the old one goes to g->old_id. false: no memory. */
bool group_member_rename(struct group *g, struct group_member *m, struct slice id);
/* Out of the maps, kept on g->gone. The leader's place goes to the first member left. */
void group_member_remove(struct group *g, struct group_member *m);
void group_gone_free(struct group *g);
bool group_member_same(const struct group_member *m, const struct group_event *ev);
/* Would all members, `but` aside, and this list have a protocol in common? */
bool group_protocols_fit(const struct group *g, const struct group_event *ev,
                         const struct group_member *but);
/* The protocol that most members prefer among those all have; null when there are no members. */
struct slice group_protocol_pick(const struct group *g);
uint64_t group_rebalance_ns(const struct group *g); /* the longest of the members */
uint32_t group_joined(const struct group *g);       /* members whose JOIN is parked */
void group_pending_remove(struct group *g, struct slice id);

/* ---- group_rebalance.c ---- */
void group_rebalance(struct group_run *r);      /* STABLE, COMPLETING, EMPTY: to PREPARING */
void group_maybe_complete(struct group_run *r); /* PREPARING: if everybody is there */
void group_complete(struct group_run *r);
void group_initial_due(struct group_run *r);
/* A member leaves or is thrown out; what it waits for gets `error`. */
void group_drop(struct group_run *r, struct group_member *m, enum kafka_error error);
void group_state_set(struct group_run *r, enum group_state s);
void group_save(struct group_run *r, int what);
void group_saved(struct group_run *r);

/* ---- replies ---- */
/* The parked request is answered when this step is drained, and its session begins. */
void group_join_answer(struct group_run *r, struct group_member *m, enum kafka_error error);
void group_sync_answer(struct group_run *r, struct group_member *m, enum kafka_error error);
/* An answer to a token that no member holds. */
void group_reply(struct group_run *r, enum group_effect_kind kind, uint64_t token,
                 struct slice member, enum kafka_error error);
#endif

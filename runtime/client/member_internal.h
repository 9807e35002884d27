/* runtime/client/member_internal.h - shared by member.c and member_lead.c (what the leader
 * does). */
#ifndef ONCE_RUNTIME_CLIENT_MEMBER_INTERNAL_H
#define ONCE_RUNTIME_CLIENT_MEMBER_INTERNAL_H
#include "runtime/client/client_internal.h"
#include "runtime/client/member.h"

enum member_state {
    MEMBER_IDLE,    /* not started, left, or fatal */
    MEMBER_JOINING, /* JoinGroup is under way or waits for its next try */
    MEMBER_LEADING, /* the assignment is being made */
    MEMBER_SYNCING,
    MEMBER_STABLE,
    MEMBER_REVOKING /* the owner gives up what it has */
};
/* A member of the group as the leader sees it. */
struct lead_member {
    struct assign_member m;
    struct slice assignment; /* encoded; in lead.bytes */
    size_t at;               /* of it */
};
struct lead {
    struct arena arena; /* of what the Join answer told */
    struct lead_member *v;
    int n;
    struct slice *topics;
    struct topic_lookup *lookups; /* one a topic */
    int n_topics, n_open;         /* n_open: lookups not done */
    struct buf bytes;
};
struct member {
    struct client *client;
    struct member_options opt;
    struct arena own; /* group, instance, topics */
    struct slice group, instance, *topics;
    int lane;
    enum member_state state;
    struct call call, beat, leave;
    struct env_timer retry, beat_timer, leave_timer;
    uint64_t backoff;
    char *id; /* "" before the first answer */
    int32_t generation;
    struct arena assigned_arena;
    struct topic_partition *assigned;
    int n_assigned;
    struct lead lead;
    void (*left)(void *user);
    void *left_user;
};

/* member.c */
void member_sync(struct member *m);
/* Something failed on our side: try to join again after a pause. */
void member_rejoin_later(struct member *m);
/* member_lead.c */
void lead_init(struct member *m);
void lead_reset(struct member *m);
void lead_deinit(struct member *m);
/* The subscription of this member, appended. */
int lead_put_subscription(struct member *m, struct buf *out);
/* Takes the members from a Join answer, makes the assignment, then member_sync. 0 or a negative
 * code. */
int lead_start(struct member *m, const struct join_group_response *r);
#endif

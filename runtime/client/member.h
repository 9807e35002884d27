/* runtime/client/member.h - membership in a consumer group (classic protocol, static members,
 * eager, Kafka's range assignor).
 *
 * The owner is told on_revoke (give up what you have, then call member_revoked), on_assign and
 * on_lost. The identity under which records were polled is read with member_identity at poll
 * time. */
#ifndef ONCE_RUNTIME_CLIENT_MEMBER_H
#define ONCE_RUNTIME_CLIENT_MEMBER_H
#include "runtime/client/client.h"
#include "runtime/client/producer.h"

struct member;
struct member_options {
    struct slice group, instance; /* instance null: dynamic */
    const struct slice *topics;
    int n_topics;
    uint32_t session_timeout_ms;   /* 15 s when 0 */
    uint32_t rebalance_timeout_ms; /* 10 s when 0 */
    uint32_t heartbeat_ms;         /* a third of the session, at most 3 s, when 0 */
    void *user;
    /* A rebalance began: stop polling, finish or abort the open transaction, then
     * member_revoked(m). */
    void (*on_revoke)(void *user);
    /* generation is new; partitions sorted by topic, partition. May equal the old assignment. */
    void (*on_assign)(void *user, int32_t generation, const struct topic_partition *v, int n);
    /* Membership is gone (fenced, expelled, generation unknown): abort, drop everything; the
     * member rejoins by itself unless fatal (then e says why: fenced instance, inconsistent
     * protocol, not authorised). */
    void (*on_lost)(void *user, bool fatal, const struct err *e);
};
/* Options are copied. */
int member_open(struct member **m, struct client *c, const struct member_options *o);
void member_start(struct member *m);
/* The answer to on_revoke. When the membership was lost meanwhile: nothing happens. */
void member_revoked(struct member *m);
/* LeaveGroup, for static members too (who wants to keep the place calls member_free alone); then
 * done, at the latest after 3 s. No other callback comes any more. */
void member_leave(struct member *m, void (*done)(void *user), void *user);
/* Before client_free. */
void member_free(struct member *m);
/* Borrowed slices, valid until the next on_assign, on_lost or member_free; generation -1 when
 * not a member. */
struct group_identity member_identity(const struct member *m);
bool member_stable(const struct member *m);

/* Range assignment, pure: for tests and the leader. Members sorted as Kafka does. */
struct assign_member {
    struct slice id, instance;
    const struct slice *topics;
    int n_topics;
};
struct assign_topic {
    struct slice name;
    int32_t n_partitions;
};
/* each(user, member index, topic index, partition): topics in the order given, partitions
 * ascending. 0 or -ERR_NOMEM. */
int assign_range(const struct assign_member *members, int n_members,
                 const struct assign_topic *topics, int n_topics,
                 void (*each)(void *user, int member, int topic, int32_t partition), void *user);
#endif

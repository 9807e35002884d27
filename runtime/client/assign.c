/* runtime/client/assign.c - the range assignor: each topic's partitions in runs over its
 * subscribers.
 *
 * Members are ordered as Kafka orders them: those with an instance id first, by it, then the
 * others by member id. The order is the same for every topic, so topics with equal partition
 * counts and subscribers are co-partitioned. */
#include "base/check.h"
#include "runtime/client/member.h"
#include <stdlib.h>

static int member_cmp(const struct assign_member *a, const struct assign_member *b)
{
    if (a->instance.p && b->instance.p)
        return slice_cmp(a->instance, b->instance);
    if (a->instance.p || b->instance.p)
        return a->instance.p ? -1 : 1;
    return slice_cmp(a->id, b->id);
}

static bool subscribes(const struct assign_member *m, struct slice topic)
{
    for (int i = 0; i < m->n_topics; i++)
        if (slice_eq(m->topics[i], topic))
            return true;
    return false;
}

int assign_range(const struct assign_member *members, int n_members,
                 const struct assign_topic *topics, int n_topics,
                 void (*each)(void *user, int member, int topic, int32_t partition), void *user)
{
    int *order = calloc((size_t)n_members + 1, sizeof *order);

    if (!order)
        return -ERR_NOMEM;
    for (int i = 0; i < n_members; i++) {
        int at = i;
        for (; at > 0 && member_cmp(&members[order[at - 1]], &members[i]) > 0; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    for (int t = 0; t < n_topics; t++) {
        int32_t n = 0, share, extra, next = 0, rank = 0;
        for (int i = 0; i < n_members; i++)
            n += subscribes(&members[i], topics[t].name);
        if (n == 0 || topics[t].n_partitions <= 0)
            continue;
        share = topics[t].n_partitions / n;
        extra = topics[t].n_partitions % n;
        for (int i = 0; i < n_members; i++) {
            if (!subscribes(&members[order[i]], topics[t].name))
                continue;
            int32_t end = next + share + (rank++ < extra);
            for (; next < end; next++)
                each(user, order[i], t, next);
        }
        CHECK(next == topics[t].n_partitions);
    }
    free(order);
    return 0;
}

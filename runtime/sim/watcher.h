/* runtime/sim/watcher.h - a consumer that reads every topic of a job all the time and remembers.
 *
 * It reads twice, committed and up to the high watermark, and keeps one hash for each (partition,
 * offset): what was seen once must never be another record, go away, or, if it was seen as
 * committed, turn out not to be (EO-61, invariants I3 and I5). check_seen.c compares it with the
 * disk in the end. */
#ifndef ONCE_RUNTIME_SIM_WATCHER_H
#define ONCE_RUNTIME_SIM_WATCHER_H
#include "runtime/client/fetcher.h"
#include "runtime/sim/verdict.h"

enum { WATCH_TOPICS_MAX = 64, WATCH_PARTITIONS_MAX = 64 };
struct watched {    /* a partition */
    uint64_t *hash; /* by offset; 0: not seen */
    unsigned char *committed;
    int64_t n, cap;
    int64_t last_committed; /* the last record seen as committed, -1 none */
};
struct watch_topic {
    struct slice name;    /* owned */
    int32_t n_partitions; /* 0: not known yet */
    struct watched *parts;
    struct topic_lookup lookup;
    bool looking;
    struct watcher *watcher;
};
struct watcher {
    struct env *env;
    struct client *client;
    struct fetcher *committed, *plain;
    struct watch_topic topics[WATCH_TOPICS_MAX];
    int n_topics;
    struct env_timer timer;
    struct verdict *verdict;
    uint64_t records;
};

/* Before the first start. */
void watcher_init(struct watcher *w, struct verdict *v);
void watcher_add(struct watcher *w, struct slice topic);
/* Begins reading, from the first offset of everything: again after the node was down. */
void watcher_start(struct watcher *w, struct env *env, struct client *client);
/* Without I/O; what was seen stays. */
void watcher_stop(struct watcher *w);
void watcher_deinit(struct watcher *w);
struct watch_topic *watcher_topic(struct watcher *w, struct slice name);
#endif

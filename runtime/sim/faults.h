/* runtime/sim/faults.h - what goes wrong in a run, drawn from its seed.
 *
 * A plan is a list of faults. Some strike at a time, some when a node comes to a named step of its
 * work for the nth time, some at the nth request of an API. Which kinds a seed uses at all is drawn
 * too: a seed with few kinds goes deeper into those. Besides, a broker that comes back after a
 * crash may be struck again in its recovery, or lose its power soon after.
 *
 * faults_heal ends all of it: the liveness phase begins. */
#ifndef ONCE_RUNTIME_SIM_FAULTS_H
#define ONCE_RUNTIME_SIM_FAULTS_H
#include "runtime/sim/cluster.h"

#define FAULT_MAP(X)                                                                               \
    X(KILL, "kill")                                                                                \
    X(POWER_CUT, "power_cut")                                                                      \
    X(PAUSE, "pause")                                                                              \
    X(CUT, "cut")                                                                                  \
    X(HALF_OPEN, "half_open")                                                                      \
    X(PARTITION, "partition")                                                                      \
    X(DELAY, "delay")                                                                              \
    X(LOSE_REQUEST, "lose_request")                                                                \
    X(LOSE_REPLY, "lose_reply")                                                                    \
    X(SLOW_DISK, "slow_disk")

enum fault_kind {
#define FAULT_ENUM(name, text) FAULT_##name,
    FAULT_MAP(FAULT_ENUM)
#undef FAULT_ENUM
        FAULT_COUNT
};
#define FAULTS_ALL ((1u << FAULT_COUNT) - 1)
/* "power_cut" -> FAULT_POWER_CUT, or -1. */
int fault_by_name(const char *name);
const char *fault_name(int kind);

enum { FAULTS_MAX = 32 };
struct fault {
    enum fault_kind kind;
    struct faults *faults;
    struct place *place, *peer; /* peer: of a link */
    const char *point;          /* NULL: at a time, or at an api */
    bool slow;                  /* syncs are slow between the two */
    uint64_t after;             /* ns between the point and the fault; 0: at the point itself */
    int16_t api;                /* LOSE_*: the request */
    uint32_t nth;               /* of the point or the api; 0: struck already */
    uint64_t at, lasts;         /* ns of the world's clock, ns */
    struct sim_alarm begin, end;
};
/* A fault that is asked for instead of drawn. */
struct fault_spec {
    enum fault_kind kind;
    const char *node;   /* "worker-1"; of a link, the end that is not the broker; NULL where none is
                         * needed */
    const char *point;  /* NULL: at a time, or at an api */
    int16_t api;        /* LOSE_* */
    uint32_t nth;       /* 1 when 0 */
    uint64_t after;     /* ns behind the point */
    uint64_t at, lasts; /* ns from the begin of the feed on; ns */
};
struct faults_options {
    uint32_t kinds;                  /* a set of 1 << FAULT_x */
    uint64_t from, window;           /* when: ns of the world's clock, ns */
    const struct fault_spec *script; /* instead of a drawn plan; NULL: draw */
    int n_script;
    bool kill_client; /* the feeder can go on after a crash */
    /* Moments at which there is work, of which some are drawn: n_busy of them; may be 0. */
    uint32_t n_busy;
    uint64_t (*busy)(void *user, uint32_t i);
    void *user;
};
struct faults {
    struct cluster *cluster;
    struct faults_options o;
    uint64_t rng[4]; /* of its own: the plan does not shift with the run */
    uint32_t kinds;  /* that this seed uses */
    struct fault v[FAULTS_MAX];
    int n;
    uint64_t struck;      /* faults that happened */
    uint32_t recovery_at; /* the broker's next start is struck at this *_wait call; 0: not */
    bool recovery_power;  /* and that is a power cut */
    struct sim_alarm after_recovery; /* a power cut soon after a crash */
    struct sim_timing calm;
    bool healed;
};

/* Draws the plan and sets its alarms; installs the hooks into the cluster's world. */
void faults_init(struct faults *f, struct cluster *c, const struct faults_options *o,
                 uint64_t seed);
/* When the last fault that is drawn is over, ns of the world's clock. */
uint64_t faults_end(const struct faults *f);
/* All is undone and nothing strikes any more; places that are down come back soon. */
void faults_heal(struct faults *f);
/* cluster_options.down: after how long a node comes back. */
uint64_t faults_down(struct faults *f, struct place *p, const char *why);
#endif

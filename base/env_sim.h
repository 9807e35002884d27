/* base/env_sim.h - a simulated world: nodes, disks and a network in one process, from one seed.
 *
 *     sim_init(&s, seed);
 *     struct sim_node *b = sim_node_add(&s, "broker-1", NULL);
 *     ... x_init(&b->env), x_open(...)                 the node serves
 *     sim_run(&s, until, done, u)                       events in order of (time, seq)
 *     sim_crash(b);                                     now, or by a hook; then on_down is called:
 *         ... x_deinit()                                the owner's, without I/O
 *     sim_start(b);  ... x_init, x_open                 the next incarnation, on the same disk
 *     sim_deinit(&s)
 *
 * Everything that happens follows from the seed and the calls made: sim_trace_hash is equal for
 * equal runs. Time moves only between events. A node's completions gather and are delivered in one
 * turn, a drawn moment later, so that what arrives together is handled together as by a real loop.
 *
 * Names: a node lives on a host, which has one disk and one name, its first node's. "NAME:PORT"
 * addresses a host by the name of any of its nodes; "localhost:PORT" and "127.0.0.1:PORT" mean the
 * own one. Paths are looked up on the host's disk from its root. */
#ifndef ONCE_BASE_ENV_SIM_H
#define ONCE_BASE_ENV_SIM_H
#include "base/sim_disk.h"

struct sim;
struct sim_host;
enum sim_fault { SIM_NOTHING, SIM_CRASH, SIM_POWER_CUT };
enum sim_send { /* what becomes of a send */
                SIM_PASS,
                SIM_CUT_BEFORE, /* its bytes are lost and the connection is reset */
                SIM_CUT_AFTER   /* its bytes arrive, then the connection is reset for both */
};

struct sim_node {
    struct env env; /* for the modules */
    struct sim *sim;
    struct sim_host *host;
    void *user; /* the owner's */
    char name[64];
    uint32_t id, incarnation;
    bool up;
    int64_t wall_skew_ms; /* against the world's clock; may be changed at any time */

    /* env_sim's own */
    bool in_turn, down_due;
    uint64_t turn_at, clock_offset, paused_until;
    uint64_t rng[4]; /* for env.random */
    struct env_op *ready, **ready_tail;
    struct list files, ends, listeners;
    char down_why[256];
};

/* All may be NULL. They are called from within the simulation: they may call sim_crash,
 * sim_power_cut, the knobs and sim_after, but not step it. */
struct sim_hooks {
    void *u;
    /* A named step (env_point), and each *_wait call before it takes effect: fault here? */
    enum sim_fault (*on_point)(void *u, struct sim_node *n, const char *name);
    enum sim_fault (*on_wait)(void *u, struct sim_node *n, const char *call);
    /* n is down (crash, power cut, or it halted: why) and none of its code is on the stack: tear
     * its modules down here, and start it when you like. Comes once for each end. */
    void (*on_down)(void *u, struct sim_node *n, const char *why);
    void (*on_log)(void *u, struct sim_node *n, enum env_level level, const char *line);
    /* n bytes in all are about to be sent; first holds the first slice. */
    enum sim_send (*on_send)(void *u, struct sim_node *from, struct sim_node *to,
                             struct slice first, uint64_t n);
};

/* Durations in ns; a pair is the least and the most. Set after sim_init, before or
 * during the run. */
struct sim_timing {
    uint64_t turn_max;          /* what a loop may take to come round */
    uint64_t read[2], write[2]; /* of a file, from the page cache */
    uint64_t sync[2];
    uint32_t slow_sync; /* in a million: a sync takes slow_factor times as long */
    uint32_t slow_factor;
    uint64_t work[2];
    uint64_t net[2];   /* one way */
    uint32_t slow_net; /* in a million: slow_factor times as long */
    uint64_t window;   /* bytes under way that a send may be ahead of its reader */
    uint32_t split;    /* in a million: a send arrives in several pieces */
    uint32_t again;    /* in a million: read_now says AGAIN */
};
struct sim_event;
struct sim_link;
struct sim {
    uint64_t now; /* ns since the world began; nodes' clocks are offset against it */
    struct sim_hooks hooks;
    struct sim_timing timing;
    uint64_t n_events;

    /* env_sim's own */
    uint64_t seq, trace, rng[4], net_rng[4];
    int64_t wall_base_ms;
    struct sim_event *heap;
    size_t heap_n, heap_cap;
    struct sim_node **nodes;
    uint32_t n_nodes;
    struct list hosts, conns;
    struct sim_link *links; /* SIM_NODES_MAX squared, from a to b */
    uint16_t next_port;
    uint32_t n_down_due;
};
enum { SIM_NODES_MAX = 64 };

void sim_init(struct sim *s, uint64_t seed);
/* Frees nodes, disks and connections; no hook is called. The modules may be torn down before or,
 * for nodes that are down, were so already: nodes that are up are crashed first. */
void sim_deinit(struct sim *s);

/* A node that is up, on the host of `beside` or (NULL) on a new one. Owned by s. */
struct sim_node *sim_node_add(struct sim *s, const char *name, struct sim_node *beside);
/* The next incarnation of a node that is down and torn down. */
void sim_start(struct sim_node *n);
/* The process ends: its ops are forgotten, those under way took effect up to some point, its
 * streams are closed for their peers. Its files keep every byte written, as unsynced as it was. */
void sim_crash(struct sim_node *n);
/* Every node of the host goes, and what its disk had not synced is at the mercy of sim_disk.h.
 * Peers hear nothing until the host is up again. */
void sim_power_cut(struct sim_node *n);
struct sim_disk *sim_node_disk(struct sim_node *n);
/* The process stands still until then (ns of sim.now; 0: goes on now): its disk and network work
 * on, its code does not run, and it finds its clock ahead. */
void sim_pause(struct sim_node *n, uint64_t until);

/* For a driver that calls into a node's modules outside its turns: sets the node's now. */
void sim_enter(struct sim_node *n);

/* One event; false when there is none. */
bool sim_step(struct sim *s);
/* Until `until` (ns of sim.now), or done(u) is true, asked after every event (NULL: never), or
 * nothing is left to happen. Returns whether done. At `until`, now is exactly that. */
bool sim_run(struct sim *s, uint64_t until, bool (*done)(void *u), void *u);
/* Something of the driver's own, in order with all else: the memory is the driver's, fire is called
 * once at `at` unless canceled. */
struct sim_alarm {
    void (*fire)(struct sim_alarm *a);
    uint64_t at, seq; /* seq 0: not set */
};
void sim_alarm_set(struct sim *s, struct sim_alarm *a, uint64_t at);
void sim_alarm_cancel(struct sim *s, struct sim_alarm *a);
/* Chance for the driver, from the same seed. */
uint64_t sim_random(struct sim *s, uint64_t below);
/* Feeds what the driver does or sees into the trace. */
void sim_trace(struct sim *s, uint64_t v);
uint64_t sim_trace_hash(const struct sim *s);

/* ---- network faults (sim_net.c) ---- */

/* Between a and b, both ways: nothing passes until it is healed; what was sent arrives then. */
void sim_net_partition(struct sim *s, struct sim_node *a, struct sim_node *b, bool on);
/* New connections from a to b are refused. */
void sim_net_refuse(struct sim *s, struct sim_node *a, struct sim_node *b, bool on);
/* One way from a to b takes so long; {0, 0} goes back to timing.net. */
void sim_net_delay(struct sim *s, struct sim_node *a, struct sim_node *b, uint64_t least,
                   uint64_t most);
/* Everything above is undone, between all nodes. Connections that were cut or
 * half-opened stay so. */
void sim_net_heal(struct sim *s);
/* One open connection between a and b (either NULL: any node), drawn: reset for both, some of the
 * bytes under way arrive before. False if there is none. */
bool sim_net_cut(struct sim *s, struct sim_node *a, struct sim_node *b);
/* The same, but half-open: what either sends from now on vanishes without an error. */
bool sim_net_half_open(struct sim *s, struct sim_node *a, struct sim_node *b);
#endif

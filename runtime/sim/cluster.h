/* runtime/sim/cluster.h - a broker, workers and a client machine in one simulated world.
 *
 * The broker is the real one with transactions, the workers are real workers, each on a node of its
 * own; workers share a host and its state directory, or have one each. The client node runs the
 * feeder and the watcher. A place is a node and what runs on it now: when the node goes down its
 * modules are freed without I/O, and a later alarm starts the next incarnation on the same disk.
 *
 * Failure: a broker that cannot start on its own disk, or a worker that stops by itself because of
 * a record or its data, is noted in `failed` and ends the run. */
#ifndef ONCE_RUNTIME_SIM_CLUSTER_H
#define ONCE_RUNTIME_SIM_CLUSTER_H
#include "base/conf.h"
#include "base/env_sim.h"
#include "runtime/worker/worker.h"

enum { CLUSTER_WORKERS_MAX = 16 };
#define CLUSTER_BROKER_ADDRESS "broker-1:9092"
#define CLUSTER_DATA           "/data"
#define CLUSTER_STATE          "/state"

enum place_kind { PLACE_BROKER, PLACE_WORKER, PLACE_CLIENT };
struct broker;
struct txn_coordinator;
struct cluster;
struct faults;
struct place {
    struct cluster *cluster;
    enum place_kind kind;
    int index; /* among its kind */
    struct sim_node *node;
    struct sim_alarm start; /* of the next incarnation */
    bool stopping;          /* an orderly stop was asked for: it does not come back */
    bool stopped;           /* and is done */
    uint64_t starts;
    uint32_t recovery_calls; /* *_wait calls of this start so far */
    struct broker *broker;
    struct txn_coordinator *txn;
    bool serving;
    struct worker *worker;
    struct worker_options worker_options;
    struct store_driver *stores; /* the workers' of one host share it; owned by its first */
    bool owns_stores;
    uint64_t cut_at; /* of an owner: when they last lost power */
};

struct cluster_options {
    uint64_t seed;
    const struct udf_job *job; /* outlives the cluster */
    int n_workers;
    bool together;      /* all workers on one host, in one state directory */
    int32_t partitions; /* of topics that the job makes */
    int guarantee;      /* enum udf_guarantee, -1: the job's */
    uint64_t mutations;
    void *user;
    /* Told when a node went down: after how long it comes back, ns; UINT64_MAX: somebody else
     * starts it. */
    uint64_t (*down)(void *user, struct place *p, const char *why);
    /* The client node is up (again), or about to be torn down. */
    void (*client_up)(void *user, struct place *p);
    void (*client_down)(void *user, struct place *p);
    /* A line of a node's log; NULL: none is made. */
    void (*log)(void *user, uint64_t now, const char *node, enum env_level level, const char *line);
};

struct cluster {
    struct sim sim;
    struct cluster_options o;
    struct conf broker_conf;
    struct place broker, client, workers[CLUSTER_WORKERS_MAX];
    int n_workers;
    struct faults *faults; /* of hooks */
    char failed[1200];     /* empty: all is well */
};

/* The world stands; the broker serves and the client is up, workers start. */
void cluster_open(struct cluster *c, const struct cluster_options *o);
/* From any state. */
void cluster_free(struct cluster *c);
/* place may be on its way back already: the earlier of both counts. */
void cluster_start_at(struct place *p, uint64_t at);
/* Asks for an orderly stop: p->stopped when it is done. A place that is down is stopped. */
void cluster_stop(struct place *p);
/* All workers' states of one kind; for loops over places: broker, client, workers. */
int cluster_places(struct cluster *c, struct place **v);
#endif

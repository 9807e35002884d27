/* tests/txn/support_world.h - a broker with transactions on a simulated node, driven from within:
 * calls go straight to the coordinator and the log, without connections. */
#ifndef ONCE_TESTS_TXN_SUPPORT_WORLD_H
#define ONCE_TESTS_TXN_SUPPORT_WORLD_H
#include "base/env_sim.h"
#include "broker/broker.h"
#include "txn/coordinator.h"

struct world {
    struct sim sim;
    struct sim_node *node;
    struct broker *b;
    struct txn_coordinator *c;
    struct conf conf;
    struct err e;
    uint64_t mutations;
    bool down; /* it died and was torn down */
};

/* A world whose broker is up, recovered, with topics "a" (2 partitions) and "b" (1). */
void world_init(struct world *w, uint64_t seed);
/* The same without topics, on a disk that `fill` prepared under data/ (which is there). */
void world_init_with(struct world *w, uint64_t seed, void (*fill)(struct world *w));
void world_deinit(struct world *w);
/* The broker of the next (or first) incarnation; asserts that it recovers. */
void world_up(struct world *w);
/* The process dies, or the power goes; then up again. */
void world_restart(struct world *w, bool power_cut);
/* An orderly stop, then up again. */
void world_reopen(struct world *w);
/* Runs until everything staged is durable; false: the node went down instead. */
bool world_settle(struct world *w);
/* Runs for so long (simulated). */
void world_pass(struct world *w, uint64_t ms);

struct partition *world_part(struct world *w, const char *topic, int32_t index);
/* One batch of `count` records to topic-index, as Produce `version` would. transactional_id NULL: a
 * plain one. */
enum kafka_error world_produce(struct world *w, const char *transactional_id, const char *topic,
                               int32_t index, int64_t pid, int16_t epoch, int32_t sequence,
                               int32_t count, int16_t version, int64_t *offset);
int64_t world_stable(struct world *w, const char *topic, int32_t index);
int64_t world_hw(struct world *w, const char *topic, int32_t index);
/* How many aborted transactions a read of the whole partition is told of. */
int world_aborted(struct world *w, const char *topic, int32_t index);

/* Shorthands of the coordinator's calls. */
struct txn_answer world_init_id(struct world *w, const char *id, int64_t pid, int16_t epoch);
enum kafka_error world_add(struct world *w, const char *id, int64_t pid, int16_t epoch,
                           const char *topic, int32_t index);
struct txn_answer world_end(struct world *w, const char *id, int64_t pid, int16_t epoch,
                            bool commit, int version);
#endif

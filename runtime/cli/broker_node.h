/* runtime/cli/broker_node.h - a broker with transactions, as a node of this process: for `once
 * broker` and for the embedded one of `once run`. */
#ifndef ONCE_RUNTIME_CLI_BROKER_NODE_H
#define ONCE_RUNTIME_CLI_BROKER_NODE_H
#include "base/env_uv.h"
#include "broker/broker.h"
#include "txn/coordinator.h"

struct broker_node {
    struct env_uv *uv;
    struct env_uv_node node;
    struct broker *broker;
    struct txn_coordinator *txn;
    char address[300]; /* as bound */
    bool open;
};
/* Opens, recovers (blocking), listens. e names what, where and what to do. -ERR_BUSY: the directory
 * has a broker already. */
int broker_node_open(struct broker_node *n, struct env_uv *uv, const struct broker_options *o,
                     enum env_level level, struct err *e);
/* Orderly; then done(user). */
void broker_node_stop(struct broker_node *n, void (*done)(void *user), void *user);
void broker_node_close(struct broker_node *n);
#endif

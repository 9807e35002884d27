/* runtime/cli/children.h - `once run --workers N`: worker processes, spawned by exec and
 * supervised.
 *
 * Each child is this program as `once run JOB --child`, with the cluster's address and the state
 * directory; it dies with its parent (PR_SET_PDEATHSIG), before its slot can be taken again. One
 * that dies otherwise is started again, at once the first time, then with a growing pause. A child
 * that stops with code 3 or 5 (bad job, record, refused) ends the run. */
#ifndef ONCE_RUNTIME_CLI_CHILDREN_H
#define ONCE_RUNTIME_CLI_CHILDREN_H
#include "runtime/cli/cli.h"

struct children;
struct children_options {
    int n;
    char **argv; /* of a child, argv[0] included, NULL at the end; borrowed */
    void *user;
    void (*ready)(void *user);                                  /* all are, for the first time */
    void (*failed)(void *user, int exit_code, const char *why); /* one ended for good */
    void (*stopped)(void *user); /* after children_stop: all are gone */
};
int children_open(struct children **ch, struct cli *c, const struct children_options *o,
                  struct err *e);
/* SIGTERM to all. */
void children_stop(struct children *ch);
void children_free(struct children *ch); /* after stopped, or at exit: kills what is left */
/* In a child, first of all: die with the parent. False: it is gone already. */
bool children_follow_parent(int64_t parent_pid);
#endif

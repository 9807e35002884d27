/* runtime/cli/drain.h - `once run --until-end`: when is a job done?
 *
 * When its group has committed every source up to the end seen at the start (of a fed topic: after
 * the feed), and then every # topic up to its end, twice with nothing new between. Ends count what
 * is not decided yet: on Apache Kafka a commit is answered before its markers are written, and the
 * stable end lies behind what was committed just now (EO-55). It asks the cluster, so it does not
 * matter how many processes work. */
#ifndef ONCE_RUNTIME_CLI_DRAIN_H
#define ONCE_RUNTIME_CLI_DRAIN_H
#include "runtime/cli/cli.h"
#include "runtime/client/admin.h"
#include "udf/udf.h"

struct drain;
struct drain_options {
    const struct udf_job *job;
    void *user;
    void (*done)(void *user, int exit_code, const char *why);
};
int drain_open(struct drain **d, struct cli *c, struct client *client,
               const struct drain_options *o, struct err *e);
/* Now: the ends that count are those of this moment. Topics must exist. */
void drain_start(struct drain *d);
/* Committed so far and wanted, over all topics read, for a progress line. */
void drain_progress(const struct drain *d, int64_t *at, int64_t *end);
void drain_free(struct drain *d);
#endif

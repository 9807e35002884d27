/* runtime/sim/at_rest.h - has the job done all its work? Asked over the wire, as an operator would.
 *
 * Drained: the feeder is done, the committed offset of every source partition is past its last
 * committed record, and nothing is undecided there: twice in a row, a while apart. What the watcher
 * knows may be old (a half-open connection is quiet), so the ends are asked for. */
#ifndef ONCE_RUNTIME_SIM_AT_REST_H
#define ONCE_RUNTIME_SIM_AT_REST_H
#include "runtime/sim/feeder.h"
#include "runtime/sim/watcher.h"
#include "udf/udf.h"

struct at_rest_end { /* of a source partition, as the broker says now */
    struct list_offset stable, high;
};
struct at_rest {
    struct env *env;
    struct client *client;
    const struct udf_job *job;
    const struct feeder *feeder;
    struct watcher *watcher;
    struct env_timer timer;
    struct fetch_offsets fetch;
    struct fetch_offset_entry *entries;
    struct at_rest_end *ends; /* by entry */
    int n_entries, cap;
    bool fetching;
    int asking; /* answers to come */
    int res;    /* the first that was an error */
    int quiet;  /* times in a row */
    bool done;
    char why_not[512];
};

/* env, client, job, feeder and watcher are set. */
void at_rest_start(struct at_rest *d);
void at_rest_stop(struct at_rest *d);
#endif

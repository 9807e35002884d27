/* runtime/sim/check.h - the checkers, one property each. All look at what a run left: the broker's
 * disk by the checker's own reader, the workers' stores, what feeder and watcher remember. */
#ifndef ONCE_RUNTIME_SIM_CHECK_H
#define ONCE_RUNTIME_SIM_CHECK_H
#include "runtime/sim/cluster.h"
#include "runtime/sim/disk_log.h"
#include "runtime/sim/feeder.h"
#include "runtime/sim/model.h"
#include "runtime/sim/watcher.h"

struct sim_evidence {
    const struct udf_job *job;
    const struct disk_logs *logs;
    const struct feed_record *input;
    uint32_t n_input;
    bool input_transactional;
    int guarantee;
    int32_t partitions; /* of topics that were never made */
    struct watcher *watcher;
    struct cluster *cluster;    /* for the workers' stores */
    const struct model *single; /* the job on one partition; NULL: not to be compared */
    struct verdict *verdict;
};

/* check_log.c: offsets without gaps, sequences without gaps, epochs never back, every transaction
 * decided, one marker each (I5, I6, I8, I9). */
void check_log(struct sim_evidence *x);
/* check_txn.c: markers are those that the transaction log decided, the same in all partitions (I4,
 * I13). */
void check_txn(struct sim_evidence *x);
/* check_input.c: what was acknowledged is there, where it was acknowledged, once, in order (I1,
 * I2). */
void check_input(struct sim_evidence *x);
/* check_seen.c: what a consumer saw is there still and as committed as it was shown (I3, I5). */
void check_seen(struct sim_evidence *x);
/* check_offsets.c: committed offsets reach the ends of the inputs and never went back (I7). */
void check_offsets(struct sim_evidence *x);
/* check_output.c: outputs are those of the job run serially over the committed inputs (I1, I2, I4).
 * The model keeps the replay for check_store; false: the job cannot be judged, model->failed says
 * why. */
bool check_output(struct sim_evidence *x, struct model *replay);
/* check_store.c: stores are those of the replay, on disk and as their changelogs tell (I12). */
void check_store(struct sim_evidence *x, const struct model *replay);
/* check_split.c: with order = "any", results per key are those of one partition. */
void check_split(struct sim_evidence *x);
/* check_offsets.c: the committed offset of the partition by the offsets topic's bytes; -1: none. */
int64_t committed_offset(const struct disk_logs *l, struct slice group, struct slice topic,
                         int32_t partition);
#endif

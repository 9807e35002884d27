/* runtime/sim/sim_run.h - one seed: a job on a simulated cluster with faults, and what the checkers
 * say.
 *
 *     sim_prepare(&p, &o) once: the job on one partition, which also shows whether it can be judged
 *     sim_run_seed(&o, &p, seed, &result) any number of times; the same seed gives the same trace
 *     hash
 *     sim_prepared_free(&p)
 *
 * A run has a safety phase, in which the input is fed and faults strike, and a liveness phase: all
 * is healed, and the job must drain within a bound. Then workers and broker stop in order and the
 * checkers look at what is left. Everything that is drawn comes from the seed. */
#ifndef ONCE_RUNTIME_SIM_SIM_RUN_H
#define ONCE_RUNTIME_SIM_SIM_RUN_H
#include "runtime/sim/faults.h"
#include "runtime/sim/feeder.h"
#include "runtime/sim/model.h"
#include "runtime/sim/verdict.h"

struct sim_evidence;
struct sim_line {
    struct slice topic, key, value;
};
struct sim_run_options {
    const struct udf_job *job;
    const struct sim_line *lines;
    uint32_t n_lines;
    int workers;        /* 2 when 0 */
    int32_t partitions; /* 2 when 0 */
    int guarantee;      /* enum udf_guarantee; -1: the job's */
    uint64_t mutations;
    uint32_t faults;                 /* a set of 1 << FAULT_x */
    const struct fault_spec *script; /* instead of drawn ones; NULL: draw */
    int n_script;
    /* Of all nodes, with the world's time; may be NULL: log lines are not even made. */
    void (*log)(void *user, uint64_t now, const char *node, enum env_level level, const char *line);
    /* After the checks, with what they looked at (check.h). May be NULL. */
    void (*inspect)(void *user, struct sim_evidence *x, struct model *replay);
    void *user;
};
struct sim_prepared {
    struct feed_record *input; /* with times and partitions of the first run; for `single` */
    struct model single;
    bool compare; /* single is to be compared with */
};
struct sim_result {
    uint64_t faults, events, records;
    uint64_t trace_hash, virtual_ns;
    struct verdict verdict;
    bool unjudged; /* verdict.first says why */
};

/* -ERR_INVALID: e says why the job cannot be judged. */
int sim_prepare(struct sim_prepared *p, const struct sim_run_options *o, struct err *e);
void sim_prepared_free(struct sim_prepared *p);
/* 0 when nothing was violated, 1 when something was. */
int sim_run_seed(const struct sim_run_options *o, const struct sim_prepared *p, uint64_t seed,
                 struct sim_result *r);
#endif

/* runtime/sim/input.h - what a run feeds to the job: lines of files, what its `sample` gives, or
 * lines made up.
 *
 * A topic's records come in their order; with several topics they take turns. Made-up lines have
 * several words and every other one a key, each from a small set, so that both recur in every
 * partition; for a source of JSON they are objects with the same content. */
#ifndef ONCE_RUNTIME_SIM_INPUT_H
#define ONCE_RUNTIME_SIM_INPUT_H
#include "base/arena.h"
#include "base/err.h"
#include "runtime/sim/sim_run.h"

struct sim_input {
    struct sim_line *v;
    uint32_t n, cap;
    struct arena bytes;
};

void sim_input_init(struct sim_input *in);
void sim_input_deinit(struct sim_input *in);
/* Up to max lines of a text: LF or CR LF ends one, empty ones count. The text is copied. */
int sim_input_text(struct sim_input *in, struct slice topic, struct slice text, uint32_t max);
/* Up to max records of the job's sample function, for its first source: 0, or -ERR_LUA. */
int sim_input_sample(struct sim_input *in, const struct udf_job *job, uint32_t max, struct err *e);
/* max records for every source that is not internal. */
int sim_input_generate(struct sim_input *in, const struct udf_job *job, uint32_t max);
/* The i-th of the job's external source topics; null at the end. */
struct slice sim_input_topic(const struct udf_job *job, int i, const struct udf_source **source);
/* Topics take turns from here on. */
void sim_input_interleave(struct sim_input *in);
#endif

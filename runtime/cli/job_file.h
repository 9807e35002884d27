/* runtime/cli/job_file.h - loads a job's file, and what it requires, from disk. */
#ifndef ONCE_RUNTIME_CLI_JOB_FILE_H
#define ONCE_RUNTIME_CLI_JOB_FILE_H
#include "udf/udf.h"

int job_file_load(struct udf_job **job, const char *path, struct err *e);
/* The same for the simulator: os.time() shows wall_ms while the description is read. */
int job_file_load_at(struct udf_job **job, const char *path, int64_t wall_ms, struct err *e);
/* The whole file behind what out holds. */
int job_file_read(const char *path, struct buf *out, struct err *e);

struct job_topic_text {
    char v[256];
};
/* Whether a node of job reads topic, or writes it (dead letters too). If not, near is the nearest
 * name of those it does, or "". */
bool job_reads(const struct udf_job *job, const char *topic, struct job_topic_text *near);
bool job_writes(const struct udf_job *job, const char *topic, struct job_topic_text *near);
#endif

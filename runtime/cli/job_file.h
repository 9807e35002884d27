/* runtime/cli/job_file.h - loads a job's file, and what it requires, from disk. */
#ifndef ONCE_RUNTIME_CLI_JOB_FILE_H
#define ONCE_RUNTIME_CLI_JOB_FILE_H
#include "udf/udf.h"

int job_file_load(struct udf_job **job, const char *path, struct err *e);
/* The same for the simulator: os.time() shows wall_ms while the description is read. */
int job_file_load_at(struct udf_job **job, const char *path, int64_t wall_ms, struct err *e);
/* The whole file behind what out holds. */
int job_file_read(const char *path, struct buf *out, struct err *e);
#endif

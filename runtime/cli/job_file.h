/* runtime/cli/job_file.h - loads a job's file, and what it requires, from disk. */
#ifndef ONCE_RUNTIME_CLI_JOB_FILE_H
#define ONCE_RUNTIME_CLI_JOB_FILE_H
#include "udf/udf.h"

int job_file_load(struct udf_job **job, const char *path, struct err *e);
#endif

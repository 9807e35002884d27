/* runtime/cli/job_file.c - files for udf_job_load. */
#include "runtime/cli/job_file.h"
#include <errno.h>
#include <stdio.h>
#include <time.h>

int job_file_read(const char *path, struct buf *out, struct err *e)
{
    FILE *f = fopen(path, "rb");
    unsigned char chunk[65536];
    size_t n;
    int rc = 0;

    if (!f)
        return err_set(e, err_from_errno(errno), "%s: %s", path, strerror(errno));
    while (!rc && (n = fread(chunk, 1, sizeof chunk, f)) > 0)
        if (buf_put(out, chunk, n))
            rc = err_set(e, ERR_TOO_BIG, "%s: too large", path);
    if (!rc && ferror(f))
        rc = err_set(e, ERR_IO, "%s: cannot read", path);
    fclose(f);
    return rc;
}

static int read_file(void *user, const char *path, struct buf *out, struct err *e)
{
    return job_file_read(path, out, e);
}

int job_file_load_at(struct udf_job **job, const char *path, int64_t wall_ms, struct err *e)
{
    struct udf_options o = {.read_file = read_file, .wall_ms = wall_ms};

    return udf_job_load(job, path, &o, e);
}

int job_file_load(struct udf_job **job, const char *path, struct err *e)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return job_file_load_at(job, path, (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000, e);
}

/* runtime/cli/job_file.c - files for udf_job_load. */
#include "runtime/cli/job_file.h"
#include "runtime/cli/cli.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
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

/* ---- topics ---- */

enum { NAMES_MAX = 256 };

struct names {
    struct job_topic_text text[NAMES_MAX];
    const char *v[NAMES_MAX];
    int n;
};

/* "prefix-*" stands for any name that begins so. */
static bool covers(struct slice declared, struct slice topic)
{
    bool prefix = declared.n && declared.p[declared.n - 1] == '*';

    if (!prefix)
        return slice_eq(declared, topic);
    return topic.n >= declared.n - 1 && memcmp(declared.p, topic.p, declared.n - 1) == 0;
}

/* Takes a declared name for a suggestion; true: it is the topic. */
static bool offer(struct names *names, struct slice declared, struct slice topic)
{
    if (covers(declared, topic))
        return true;
    if (names->n < NAMES_MAX && declared.n && declared.p[0] != '#') {
        snprintf(names->text[names->n].v, sizeof names->text[0].v, "%.*s", SLICE_FMT(declared));
        names->v[names->n] = names->text[names->n].v;
        names->n++;
    }
    return false;
}

static bool suggest(struct names *names, const char *topic, struct job_topic_text *near)
{
    const char *best = cli_nearest(topic, names->v, names->n);

    snprintf(near->v, sizeof near->v, "%s", best ? best : "");
    free(names);
    return false;
}

static bool found(struct names *names)
{
    free(names);
    return true;
}

bool job_reads(const struct udf_job *job, const char *topic, struct job_topic_text *near)
{
    struct names *names = calloc(1, sizeof *names);

    near->v[0] = 0;
    if (!names)
        return true;
    for (int i = 0; i < job->n_nodes; i++)
        for (int k = 0; k < job->nodes[i].n_sources; k++)
            if (offer(names, job->nodes[i].sources[k].topic, slice_str(topic)))
                return found(names);
    return suggest(names, topic, near);
}

bool job_writes(const struct udf_job *job, const char *topic, struct job_topic_text *near)
{
    struct names *names = calloc(1, sizeof *names);

    near->v[0] = 0;
    if (!names)
        return true;
    if (offer(names, job->dead_letter, slice_str(topic)))
        return found(names);
    for (int i = 0; i < job->n_nodes; i++)
        for (int k = 0; k < job->nodes[i].n_outputs; k++)
            if (offer(names, job->nodes[i].outputs[k], slice_str(topic)))
                return found(names);
    return suggest(names, topic, near);
}

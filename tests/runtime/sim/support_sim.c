/* tests/runtime/sim/support_sim.c - loads a job and its lines from files or texts. */
#include "support_sim.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static int read_file(void *user, const char *path, struct buf *out, struct err *e)
{
    const char *text = user;
    unsigned char chunk[4096];
    size_t n;
    FILE *f;

    if (text)
        return buf_put(out, text, strlen(text));
    f = fopen(path, "rb");
    if (!f)
        return err_set(e, ERR_NOT_FOUND, "%s: cannot open", path);
    while ((n = fread(chunk, 1, sizeof chunk, f)) > 0)
        buf_put(out, chunk, n);
    fclose(f);
    return 0;
}

static void open_job(struct bench *b, const char *path, const char *lua)
{
    struct udf_options uo = {
        .read_file = read_file, .user = (void *)(uintptr_t)lua, .wall_ms = 1700000000000};
    struct err e = {0};

    memset(b, 0, sizeof *b);
    if (udf_job_load(&b->job, path, &uo, &e))
        fail_msg("%s", e.text);
    sim_input_init(&b->in);
    b->o = (struct sim_run_options){.job = b->job, .guarantee = -1, .faults = FAULTS_ALL};
}

static void feed(struct bench *b, struct slice text, uint32_t records)
{
    const struct udf_source *source;
    struct err e = {0};

    assert_int_equal(sim_input_text(&b->in, sim_input_topic(b->job, 0, &source), text, records), 0);
    b->o.lines = b->in.v;
    b->o.n_lines = b->in.n;
    if (sim_prepare(&b->prepared, &b->o, &e))
        fail_msg("%s", e.text);
}

void bench_open(struct bench *b, const char *job, const char *input, uint32_t records)
{
    struct buf text;

    open_job(b, job, NULL);
    buf_init(&text, 1 << 26);
    assert_int_equal(read_file(NULL, input, &text, NULL), 0);
    feed(b, buf_slice(&text), records);
    buf_deinit(&text);
}

void bench_open_text(struct bench *b, const char *lua, const char *lines, uint32_t records)
{
    open_job(b, "job.lua", lua);
    feed(b, slice_str(lines), records);
}

void bench_close(struct bench *b)
{
    sim_prepared_free(&b->prepared);
    sim_input_deinit(&b->in);
    udf_job_free(b->job);
}

uint64_t bench_find(struct bench *b, uint64_t seed, int n, struct sim_result *r)
{
    for (int i = 0; i < n; i++)
        if (sim_run_seed(&b->o, &b->prepared, seed + (uint64_t)i, r))
            return seed + (uint64_t)i;
    return 0;
}

int bench_sweep(struct bench *b, uint64_t seed, int n)
{
    struct sim_result r;
    int bad = 0;

    for (int i = 0; i < n; i++)
        if (sim_run_seed(&b->o, &b->prepared, seed + (uint64_t)i, &r)) {
            print_error("seed %" PRIu64 ": %s\n", seed + (uint64_t)i, r.verdict.first);
            bad++;
        }
    return bad;
}

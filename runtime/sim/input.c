/* runtime/sim/input.c - lines from texts, samples and thin air. */
#include "runtime/sim/input.h"
#include "base/check.h"
#include "base/rng.h"
#include <stdio.h>
#include <stdlib.h>

enum { INPUT_BYTES_MAX = 1 << 30 };

void sim_input_init(struct sim_input *in)
{
    memset(in, 0, sizeof *in);
    arena_init(&in->bytes, INPUT_BYTES_MAX);
}

void sim_input_deinit(struct sim_input *in)
{
    free(in->v);
    arena_deinit(&in->bytes);
}

static int add(struct sim_input *in, struct slice topic, struct slice key, struct slice value)
{
    struct sim_line l = {arena_copy(&in->bytes, topic), arena_copy(&in->bytes, key),
                         arena_copy(&in->bytes, value)};

    if (in->n == in->cap) {
        in->cap = in->cap ? in->cap * 2 : 256;
        in->v = realloc(in->v, in->cap * sizeof *in->v);
        CHECK(in->v);
    }
    if (!l.topic.p || (key.p && !l.key.p) || (value.p && !l.value.p))
        return -ERR_NOMEM;
    in->v[in->n++] = l;
    return 0;
}

int sim_input_text(struct sim_input *in, struct slice topic, struct slice text, uint32_t max)
{
    uint32_t n = 0;

    while (text.n > 0 && n++ < max) {
        const unsigned char *lf = memchr(text.p, '\n', text.n);
        size_t len = lf ? (size_t)(lf - text.p) : text.n, next = lf ? len + 1 : len;
        if (len > 0 && lf && text.p[len - 1] == '\r')
            len--;
        if (add(in, topic, SLICE_NULL, slice_of(text.p, len)))
            return -ERR_NOMEM;
        text = slice_sub(text, next, text.n);
    }
    return 0;
}

struct slice sim_input_topic(const struct udf_job *job, int i, const struct udf_source **source)
{
    for (int g = 0; g < job->n_groups; g++)
        for (int k = 0; k < job->groups[g].n_topics; k++) {
            struct slice t = job->groups[g].topics[k];
            if (t.n && t.p[0] == '#')
                continue;
            if (i-- > 0)
                continue;
            for (int n = 0; n < job->n_nodes; n++)
                for (int s = 0; s < job->nodes[n].n_sources; s++)
                    if (slice_eq(job->nodes[n].sources[s].topic, t))
                        *source = &job->nodes[n].sources[s];
            return t;
        }
    return SLICE_NULL;
}

static int32_t one_partition(void *user, struct slice topic)
{
    return 1;
}

int sim_input_sample(struct sim_input *in, const struct udf_job *job, uint32_t max, struct err *e)
{
    const struct udf_source *source;
    struct slice topic = sim_input_topic(job, 0, &source), key, value;
    struct model m;
    struct model_task *t;
    int rc = 1;

    model_init(&m, job, one_partition, NULL);
    t = model_task(&m, 0, 0);
    if (!t)
        rc = err_set(e, ERR_LUA, "%s", m.failed);
    for (uint32_t i = 1; rc == 1 && i <= max; i++) {
        rc = udf_task_sample(t->udf, i, &key, &value, e);
        if (rc == 1 && add(in, topic, key, value))
            rc = err_set(e, ERR_NOMEM, "out of memory");
    }
    model_deinit(&m);
    return rc < 0 ? rc : 0;
}

static int generate_one(struct sim_input *in, const struct udf_source *s, uint64_t rng[4],
                        uint32_t i)
{
    static const char *const words[] = {"apple", "bread", "cloud", "dance", "eagle", "flint",
                                        "grape", "house", "ivory", "jewel", "knife", "lemon"};
    char line[200], key[16];
    int n = 0, k = 2 + (int)rng_below(rng, 6);
    bool json = s->value_codec == UDF_JSON, keyed = rng_below(rng, 2);

    snprintf(key, sizeof key, json && s->key_codec == UDF_JSON ? "\"k%u\"" : "k%u",
             (unsigned)rng_below(rng, 8));
    if (json)
        n = snprintf(line, sizeof line, "{\"id\":%u,\"key\":\"k%u\",\"n\":%u,\"text\":\"", i,
                     (unsigned)rng_below(rng, 8), (unsigned)rng_below(rng, 100));
    for (int w = 0; w < k; w++)
        n += snprintf(line + n, sizeof line - (size_t)n, "%s%s", w ? " " : "",
                      words[rng_below(rng, 12)]);
    if (json)
        n += snprintf(line + n, sizeof line - (size_t)n, "\"}");
    return add(in, s->topic, keyed ? slice_str(key) : SLICE_NULL, slice_of(line, (size_t)n));
}

int sim_input_generate(struct sim_input *in, const struct udf_job *job, uint32_t max)
{
    const struct udf_source *source = NULL;
    uint64_t rng[4];

    rng_seed(rng, 20);
    for (int i = 0; sim_input_topic(job, i, &source).p; i++)
        for (uint32_t k = 0; k < max; k++)
            if (generate_one(in, source, rng, k))
                return -ERR_NOMEM;
    return 0;
}

void sim_input_interleave(struct sim_input *in)
{
    struct sim_line *v = malloc((in->n + 1) * sizeof *v);
    bool *taken = calloc(in->n + 1, sizeof *taken);
    uint32_t n = 0;

    CHECK(v);
    CHECK(taken);
    while (n < in->n) { /* a round: the first of each topic that is left */
        uint32_t from = n;
        for (uint32_t i = 0; i < in->n; i++) {
            bool here = taken[i];
            for (uint32_t k = from; k < n && !here; k++)
                here = slice_eq(v[k].topic, in->v[i].topic);
            if (here)
                continue;
            v[n++] = in->v[i];
            taken[i] = true;
        }
    }
    free(taken);
    free(in->v);
    in->v = v;
    in->cap = in->n + 1;
}

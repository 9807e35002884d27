/* udf/job.c - reads what a job declares out of the Lua description into plain structs.
 *
 * The file is run once in a state of its own; once.lua has checked everything, so what is read here
 * is well formed. All lies in one arena, freed with the job. */
#include "base/arena.h"
#include "udf/task.h"
#include <stdlib.h>

struct job {
    struct udf_job pub; /* first: the public pointer is ours */
    struct udf_files files;
    struct arena arena;
};

enum { LOAD_MEMORY = 64 << 20, ARENA_MAX = 16 << 20 };

/* Everything below runs under one lua_pcall with the description at index 1. */
struct reader {
    lua_State *L;
    struct job *j;
};

static void *alloc(struct reader *r, size_t size, int n)
{
    void *p = arena_alloc(&r->j->arena, size * (size_t)(n ? n : 1));

    if (!p)
        luaL_error(r->L, "the job's description is too large");
    return p;
}

static struct slice get_text(struct reader *r, int idx, const char *name)
{
    struct slice s = SLICE_NULL;

    if (lua_getfield(r->L, idx, name) == LUA_TSTRING) {
        s.p = (const unsigned char *)lua_tolstring(r->L, -1, &s.n);
        s = arena_copy(&r->j->arena, s);
        if (slice_is_null(s))
            luaL_error(r->L, "the job's description is too large");
    }
    lua_pop(r->L, 1);
    return s;
}

static int64_t get_int(struct reader *r, int idx, const char *name)
{
    int64_t v;

    lua_getfield(r->L, idx, name);
    v = lua_tointeger(r->L, -1);
    lua_pop(r->L, 1);
    return v;
}

static bool get_true(struct reader *r, int idx, const char *name)
{
    bool v;

    lua_getfield(r->L, idx, name);
    v = lua_toboolean(r->L, -1);
    lua_pop(r->L, 1);
    return v;
}

static int get_choice(struct reader *r, int idx, const char *name, const char *const *choices)
{
    int i = 0;

    lua_getfield(r->L, idx, name);
    while (choices[i] && strcmp(choices[i], lua_tostring(r->L, -1)) != 0)
        i++;
    CHECK(choices[i]);
    lua_pop(r->L, 1);
    return i;
}

static int get_list(struct reader *r, int idx, const char *name)
{
    lua_getfield(r->L, idx, name);
    luaL_checktype(r->L, -1, LUA_TTABLE);
    return (int)lua_rawlen(r->L, -1);
}

static struct slice *get_texts(struct reader *r, int idx, const char *name, int *n)
{
    struct slice *v;

    *n = get_list(r, idx, name);
    v = alloc(r, sizeof *v, *n);
    for (int i = 0; i < *n; i++) {
        struct slice s;
        lua_rawgeti(r->L, -1, i + 1);
        s.p = (const unsigned char *)lua_tolstring(r->L, -1, &s.n);
        v[i] = arena_copy(&r->j->arena, s);
        if (slice_is_null(v[i]))
            luaL_error(r->L, "the job's description is too large");
        lua_pop(r->L, 1);
    }
    lua_pop(r->L, 1);
    return v;
}

static int *get_indices(struct reader *r, int idx, const char *name, int *n)
{
    int *v;

    *n = get_list(r, idx, name);
    v = alloc(r, sizeof *v, *n);
    for (int i = 0; i < *n; i++) {
        lua_rawgeti(r->L, -1, i + 1);
        v[i] = (int)lua_tointeger(r->L, -1) - 1;
        lua_pop(r->L, 1);
    }
    lua_pop(r->L, 1);
    return v;
}

static void read_source(struct reader *r, struct udf_source *s)
{
    static const char *const codecs[] = {
        [UDF_RAW] = "raw", [UDF_JSON] = "json", [UDF_CSV] = "csv", NULL};
    int idx = lua_gettop(r->L);

    s->topic = get_text(r, idx, "topic");
    s->internal = s->topic.n && s->topic.p[0] == '#';
    s->value_codec = (enum udf_codec)get_choice(r, idx, "value", codecs);
    s->key_codec = (enum udf_codec)get_choice(r, idx, "key", codecs);
    s->has_key_fn = get_true(r, idx, "key_fn");
    s->has_time_fn = get_true(r, idx, "time_fn");
}

static void read_node(struct reader *r, struct udf_node *n)
{
    int idx = lua_gettop(r->L);

    n->name = get_text(r, idx, "name");
    n->group = (int)get_int(r, idx, "group") - 1;
    n->n_sources = get_list(r, idx, "sources");
    n->sources = alloc(r, sizeof *n->sources, n->n_sources);
    for (int i = 0; i < n->n_sources; i++) {
        lua_rawgeti(r->L, -1, i + 1);
        read_source(r, &n->sources[i]);
        lua_pop(r->L, 1);
    }
    lua_pop(r->L, 1);
    n->outputs = get_texts(r, idx, "outputs", &n->n_outputs);
    n->stores = get_indices(r, idx, "stores", &n->n_stores);
}

static void read_nodes(struct reader *r)
{
    struct udf_job *j = &r->j->pub;

    j->n_nodes = get_list(r, 1, "nodes");
    j->nodes = alloc(r, sizeof *j->nodes, j->n_nodes);
    for (int i = 0; i < j->n_nodes; i++) {
        lua_rawgeti(r->L, -1, i + 1);
        read_node(r, &j->nodes[i]);
        lua_pop(r->L, 1);
    }
    lua_pop(r->L, 1);
}

static void read_stores(struct reader *r)
{
    struct udf_job *j = &r->j->pub;

    j->n_stores = get_list(r, 1, "stores");
    j->stores = alloc(r, sizeof *j->stores, j->n_stores);
    for (int i = 0; i < j->n_stores; i++) {
        int idx;
        lua_rawgeti(r->L, -1, i + 1);
        idx = lua_gettop(r->L);
        j->stores[i].name = get_text(r, idx, "name");
        j->stores[i].group = (int)get_int(r, idx, "group") - 1;
        j->stores[i].changelog = get_true(r, idx, "changelog");
        j->stores[i].raw = get_true(r, idx, "raw");
        lua_pop(r->L, 1);
    }
    lua_pop(r->L, 1);
}

static void add_topic(struct udf_group *g, struct slice topic)
{
    for (int i = 0; i < g->n_topics; i++)
        if (slice_eq(g->topics[i], topic))
            return;
    g->topics[g->n_topics++] = topic;
}

static void make_groups(struct reader *r)
{
    struct udf_job *j = &r->j->pub;
    int n_sources = 0;

    for (int i = 0; i < j->n_nodes; i++)
        n_sources += j->nodes[i].n_sources;
    j->n_groups = (int)get_int(r, 1, "groups");
    j->groups = alloc(r, sizeof *j->groups, j->n_groups);
    for (int i = 0; i < j->n_groups; i++) {
        struct udf_group *g = &j->groups[i];
        g->nodes = alloc(r, sizeof *g->nodes, j->n_nodes);
        g->stores = alloc(r, sizeof *g->stores, j->n_stores);
        g->topics = alloc(r, sizeof *g->topics, n_sources);
    }
    for (int i = 0; i < j->n_nodes; i++) {
        struct udf_group *g = &j->groups[j->nodes[i].group];
        g->nodes[g->n_nodes++] = i;
        for (int k = 0; k < j->nodes[i].n_sources; k++)
            add_topic(g, j->nodes[i].sources[k].topic);
    }
    for (int i = 0; i < j->n_stores; i++) {
        struct udf_group *g = &j->groups[j->stores[i].group];
        g->stores[g->n_stores++] = i;
    }
}

static void read_settings(struct reader *r)
{
    static const char *const guarantees[] = {[UDF_EXACTLY_ONCE] = "exactly_once",
                                             [UDF_AT_LEAST_ONCE] = "at_least_once",
                                             [UDF_AT_MOST_ONCE] = "at_most_once",
                                             NULL};
    static const char *const policies[] = {
        [UDF_STOP] = "stop", [UDF_SKIP] = "skip", [UDF_DEAD_LETTER] = "dead_letter", NULL};
    struct udf_job *j = &r->j->pub;
    struct slice *internals;

    j->name = get_text(r, 1, "name");
    j->version = get_int(r, 1, "version");
    j->guarantee = (enum udf_guarantee)get_choice(r, 1, "guarantee", guarantees);
    j->on_error = (enum udf_policy)get_choice(r, 1, "on_error", policies);
    j->dead_letter = get_text(r, 1, "dead_letter");
    j->retries_n = (int)get_int(r, 1, "retries_n");
    j->retries_backoff_ms = get_int(r, 1, "retries_backoff");
    j->commit_max_ms = get_int(r, 1, "commit_max");
    j->commit_min_ms = get_int(r, 1, "commit_min");
    j->memory_limit = (uint64_t)get_int(r, 1, "memory");
    j->time_limit_ns = (uint64_t)get_int(r, 1, "time") * 1000000;
    j->order_any = get_true(r, 1, "order_any");
    j->sample = get_text(r, 1, "sample");
    j->has_sample_fn = get_true(r, 1, "sample_fn");
    internals = get_texts(r, 1, "internals", &j->n_internals);
    j->internals = alloc(r, sizeof *j->internals, j->n_internals);
    for (int i = 0; i < j->n_internals; i++)
        j->internals[i].topic = internals[i];
}

static int describe(lua_State *L)
{
    struct reader r = {L, lua_touserdata(L, 1)};

    lua_settop(L, 0);
    engine_run(L);
    read_settings(&r);
    read_nodes(&r);
    read_stores(&r);
    make_groups(&r);
    return 0;
}

/* The job's own file is the first of the files: module "". */
static int read_own_file(struct job *j, const char *path, struct err *e)
{
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) + 1 : 0;
    struct udf_file *f = calloc(1, sizeof *f);
    struct buf text;
    int rc;

    j->files.v = f;
    j->files.dir = strndup(path, n);
    j->pub.path = arena_copy(&j->arena, slice_str(path));
    if (!f || !j->files.dir || slice_is_null(j->pub.path))
        return err_set(e, ERR_NOMEM, "%s", path);
    j->files.n = 1;
    f->name = strdup(path + n);
    f->module = strdup("");
    if (!f->name || !f->module)
        return err_set(e, ERR_NOMEM, "%s", path);
    buf_init(&text, 16 << 20);
    rc = j->files.opt->read_file(j->files.opt->user, path, &text, e);
    if (!rc)
        f->text = buf_take(&text, &f->n);
    buf_deinit(&text);
    return rc;
}

static int run(struct job *j, struct err *e)
{
    struct udf_task t = {.group = -1};
    int status, rc = engine_init(&t, &j->files, LOAD_MEMORY);

    if (rc) {
        rc = err_set(e, ERR_NOMEM, "no memory for a Lua state");
    } else {
        limits_begin_load(&t);
        lua_pushcfunction(t.L, describe);
        lua_pushlightuserdata(t.L, j);
        status = lua_pcall(t.L, 1, 0, SLOT_HANDLER);
        if (status)
            rc = fail_err(&t, status, e);
    }
    engine_deinit(&t);
    return rc;
}

int udf_job_load(struct udf_job **job, const char *path, const struct udf_options *opt,
                 struct err *e)
{
    struct job *j = calloc(1, sizeof *j);
    int rc;

    *job = NULL;
    if (!j)
        return err_set(e, ERR_NOMEM, "%s", path);
    arena_init(&j->arena, ARENA_MAX);
    j->files.opt = opt;
    j->pub.files = &j->files;
    rc = read_own_file(j, path, e);
    if (!rc)
        rc = run(j, e);
    j->files.opt = NULL;
    if (rc)
        udf_job_free(&j->pub);
    else
        *job = &j->pub;
    return rc;
}

void udf_job_free(struct udf_job *job)
{
    struct job *j = (struct job *)job;

    if (!j)
        return;
    for (int i = 0; i < j->files.n; i++) {
        free(j->files.v[i].name);
        free(j->files.v[i].module);
        free(j->files.v[i].text);
    }
    free(j->files.v);
    free(j->files.dir);
    arena_deinit(&j->arena);
    free(j);
}

int udf_job_topic(const struct udf_job *job, struct slice topic, struct buf *out)
{
    if (!topic.n || topic.p[0] != '#')
        return buf_put_slice(out, topic);
    buf_put_slice(out, job->name);
    buf_put_u8(out, '-');
    buf_put_slice(out, slice_sub(topic, 1, topic.n));
    return buf_put(out, "-repartition", 12);
}

int udf_job_changelog(const struct udf_job *job, int store, struct buf *out)
{
    buf_put_slice(out, job->name);
    buf_put_u8(out, '-');
    buf_put_slice(out, job->stores[store].name);
    return buf_put(out, "-changelog", 10);
}

int udf_job_store(const struct udf_job *job, struct slice name)
{
    for (int i = 0; i < job->n_stores; i++)
        if (slice_eq(job->stores[i].name, name))
            return i;
    return -1;
}

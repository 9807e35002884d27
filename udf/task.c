/* udf/task.c - opens a task's Lua state and runs records through its nodes.
 *
 * The functions and ctx of the group's nodes lie at the bottom of the main thread's stack, so that
 * a call needs no lookup: one lua_pcall a node, no allocation here. */
#include "udf/ltext.h"
#include "udf/task.h"
#include <stdlib.h>

/* ---- opening ---- */

/* Pushes the field of the table at idx and returns its slot on the main stack, or 0 if it is nil.
 * `first` is the index here of what will be SLOT_NODES there. */
static int keep_field(lua_State *L, int idx, const char *name, int first)
{
    if (lua_getfield(L, idx, name) == LUA_TNIL) {
        lua_pop(L, 1);
        return 0;
    }
    return SLOT_NODES + lua_gettop(L) - first;
}

static void keep_source(lua_State *L, struct task_source *s, int node, int i, int first)
{
    int at = lua_gettop(L) + 1;

    lua_getfield(L, node, "sources");
    lua_rawgeti(L, -1, i + 1);
    lua_replace(L, at);
    s->key_slot = keep_field(L, at, "key_fn", first);
    s->time_slot = keep_field(L, at, "time_fn", first);
}

/* Runs the file; returns all that the task keeps on its stack, the description first. */
static int open_nodes(lua_State *L)
{
    struct udf_task *t = task_of(L);

    lua_settop(L, 0);
    engine_run(L);
    for (int i = 0; i < t->n_nodes; i++) {
        struct task_node *tn = &t->nodes[i];
        int node = lua_gettop(L) + 2;
        luaL_checkstack(L, 16 + 8 * tn->n_sources, "too many nodes");
        lua_getfield(L, 1, "nodes");
        lua_rawgeti(L, -1, tn->node + 1);
        tn->process_slot = keep_field(L, node, "process", 1);
        ctx_push(L, tn->node);
        tn->ctx = lua_touserdata(L, -1);
        tn->ctx_slot = SLOT_NODES + lua_gettop(L) - 1;
        for (int k = 0; k < tn->n_sources; k++)
            keep_source(L, &tn->sources[k], node, k, 1);
    }
    t->sample_slot = keep_field(L, 1, "sample_fn", 1);
    lua_pushnil(L);
    lua_replace(L, 1);
    engine_loaded(L);
    return lua_gettop(L);
}

static int make_nodes(struct udf_task *t)
{
    const struct udf_group *g = &t->job->groups[t->group];

    t->nodes = calloc((size_t)g->n_nodes, sizeof *t->nodes);
    if (!t->nodes)
        return -ERR_NOMEM;
    t->n_nodes = g->n_nodes;
    for (int i = 0; i < t->n_nodes; i++) {
        struct task_node *tn = &t->nodes[i];
        const struct udf_node *n = &t->job->nodes[g->nodes[i]];
        tn->node = g->nodes[i];
        tn->n_sources = n->n_sources;
        tn->sources = calloc((size_t)n->n_sources, sizeof *tn->sources);
        if (!tn->sources)
            return -ERR_NOMEM;
        for (int k = 0; k < n->n_sources; k++)
            tn->sources[k].s = &n->sources[k];
    }
    return 0;
}

int udf_task_open(struct udf_task **task, const struct udf_job *job, int group, int32_t partition,
                  struct udf_host *host, uint64_t seed, struct err *e)
{
    struct udf_task *t = calloc(1, sizeof *t);
    int rc, status;

    *task = NULL;
    if (!t)
        return err_set(e, ERR_NOMEM, "no memory for a task");
    CHECK(group >= 0 && group < job->n_groups);
    t->job = job;
    t->group = group;
    t->partition = partition;
    t->host = host;
    t->seed = seed;
    list_init(&t->iters);
    buf_init(&t->topic, 4096);
    rc = make_nodes(t);
    if (!rc)
        rc = engine_init(t, job->files, job->memory_limit);
    if (rc) {
        err_set(e, ERR_NOMEM, "no memory for a Lua state");
    } else {
        limits_begin_load(t);
        lua_pushcfunction(t->L, open_nodes);
        status = lua_pcall(t->L, 0, LUA_MULTRET, SLOT_HANDLER);
        if (status)
            rc = fail_err(t, status, e);
        else
            rc = lua_checkstack(t->L, LUA_MINSTACK) ? 0 : err_set(e, ERR_NOMEM, "too many nodes");
        limits_end_load(t);
    }
    if (rc) {
        udf_task_close(t);
        return rc;
    }
    t->top = lua_gettop(t->L);
    lua_gc(t->L, LUA_GCCOLLECT);
    *task = t;
    return 0;
}

void udf_task_close(struct udf_task *t)
{
    if (!t)
        return;
    if (t->entered)
        udf_task_leave(t);
    store_close_iters(t);
    engine_deinit(t);
    for (int i = 0; i < t->n_nodes; i++)
        free(t->nodes[i].sources);
    free(t->nodes);
    buf_deinit(&t->topic);
    free(t);
}

/* ---- processing ---- */

/* For each node the source that reads this topic; kept, since records come in runs of one topic. */
static void match_topic(struct udf_task *t, struct slice topic)
{
    int n = 0;

    buf_reset(&t->topic);
    buf_put_slice(&t->topic, topic);
    for (int i = 0; i < t->n_nodes; i++) {
        struct task_node *tn = &t->nodes[i];
        tn->match = NULL;
        for (int k = 0; k < tn->n_sources && !tn->match; k++)
            if (slice_eq(tn->sources[k].s->topic, topic))
                tn->match = &tn->sources[k];
        n += tn->match != NULL;
    }
    CHECK(n > 0);
}

static void push_or_nil(lua_State *L, int slot)
{
    if (slot)
        lua_pushvalue(L, slot);
    else
        lua_pushnil(L);
}

static int run_node(struct udf_task *t, struct task_node *tn)
{
    const struct task_source *s = tn->match;
    lua_State *L = t->L;
    int status;

    t->node = tn;
    t->source = s;
    if (s->key_slot || s->time_slot) {
        lua_pushvalue(L, SLOT_DOOR);
        lua_pushvalue(L, tn->process_slot);
        lua_pushvalue(L, tn->ctx_slot);
        record_push(t);
        push_or_nil(L, s->key_slot);
        push_or_nil(L, s->time_slot);
        status = lua_pcall(L, 5, 0, SLOT_HANDLER);
    } else {
        lua_pushvalue(L, tn->process_slot);
        lua_pushvalue(L, tn->ctx_slot);
        record_push(t);
        status = lua_pcall(L, 2, 0, SLOT_HANDLER);
    }
    if (status == LUA_OK && t->stop) {
        lua_pushliteral(L, "the record has ended");
        status = LUA_ERRRUN;
    }
    record_end(t);
    if (!list_empty(&t->iters))
        store_close_iters(t);
    return status;
}

enum udf_result udf_task_process(struct udf_task *t, const struct udf_record *r, int attempt,
                                 struct udf_failure *f)
{
    enum udf_result result = UDF_OK;

    (void)attempt;
    if (!slice_eq(r->topic, buf_slice(&t->topic)))
        match_topic(t, r->topic);
    t->r = r;
    t->rng_ready = t->numbers_ready = false;
    fail_reset(t);
    limits_begin(t);
    for (int i = 0; i < t->n_nodes && result == UDF_OK; i++) {
        int status;
        if (!t->nodes[i].match)
            continue;
        status = run_node(t, &t->nodes[i]);
        if (status) {
            result = fail_report(t, status, f);
            lua_settop(t->L, t->top);
        }
    }
    limits_end(t);
    t->r = NULL;
    return result;
}

uint64_t udf_task_memory(const struct udf_task *t)
{
    return t->used;
}

/* ---- samples ---- */

/* Arguments: the job's function, i. What it returns goes to key_bytes and details; nil is the
 * end. */
static int run_sample(lua_State *L)
{
    struct udf_task *t = task_of(L);

    lua_call(L, 1, 1);
    t->sample_end = lua_isnil(L, -1);
    t->sample_keyed = t->sample_valued = false;
    buf_reset(&t->key_bytes);
    buf_reset(&t->details);
    if (lua_istable(L, -1)) {
        t->sample_keyed = lua_getfield(L, 1, "key") != LUA_TNIL;
        ctx_put_bytes(L, -1, "sample: key", &t->key_bytes);
        t->sample_valued = lua_getfield(L, 1, "value") != LUA_TNIL;
        ctx_put_bytes(L, -1, "sample: value", &t->details);
    } else if (!t->sample_end) {
        t->sample_valued = true;
        ctx_put_bytes(L, -1, "sample", &t->details);
    }
    return 0;
}

int udf_task_sample(struct udf_task *t, int64_t i, struct slice *key, struct slice *value,
                    struct err *e)
{
    int status, rc = 1;

    CHECK(t->sample_slot);
    fail_reset(t);
    limits_begin_load(t);
    lua_pushcfunction(t->L, run_sample);
    lua_pushvalue(t->L, t->sample_slot);
    lua_pushinteger(t->L, i);
    status = lua_pcall(t->L, 2, 0, SLOT_HANDLER);
    if (status)
        rc = fail_err(t, status, e);
    else if (t->sample_end)
        rc = 0;
    lua_settop(t->L, t->top);
    limits_end_load(t);
    *key = t->sample_keyed ? buf_slice(&t->key_bytes) : SLICE_NULL;
    *value = t->sample_valued ? buf_slice(&t->details) : SLICE_NULL;
    return rc;
}

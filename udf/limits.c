/* udf/limits.c - memory of a task and time of a record.
 *
 * Memory: passing the soft limit sets a hook; it collects garbage and, if that did not help,
 * raises. The hard limit above refuses the allocation; Lua's memory error then unwinds without a
 * message handler, so the position is taken down here.
 *
 * Time: no hook while all is well, since any count hook makes the VM trace each instruction. A
 * signal every quarter of the limit looks whether the same record still runs; the fourth sets the
 * hook on the thread that runs. After as long again the record sits in C where no hook is looked
 * at: `overrun` tells the worker. With count_limit a hook counts instructions instead.
 *
 * A hook is per thread: colib.c calls limits_hook at every switch. */
#include "udf/task.h"
#include <stdio.h>
#include <stdlib.h>

static void hook(lua_State *L, lua_Debug *ar);

void limits_hook(struct udf_task *t, lua_State *L)
{
    if (t->stop || t->fired || t->memory_asked)
        lua_sethook(L, hook, LUA_MASKCOUNT, 1);
    else if (t->count_limit && (!lua_gethook(L) || lua_gethookcount(L) != HOOK_STEP))
        lua_sethook(L, hook, LUA_MASKCOUNT,
                    HOOK_STEP); /* setting it anew would restart its count */
    else if (t->count_limit)
        return;
    else if (lua_gethook(L))
        lua_sethook(L, NULL, 0, 0);
}

/* Small blocks come from chunks through free lists by size: most of what a record makes is small
 * and lives shortly. The sanitizer is to see each block for itself. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define NO_POOL 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(NO_POOL)
enum { POOLED_MAX = 0 };
#else
enum { POOLED_MAX = 256 };
#endif
enum { POOL_STEP = 16, CHUNK_BYTES = 8 << 10 };
STATIC_CHECK(256 / POOL_STEP + 1 == POOL_CLASSES);

struct pool_chunk {
    struct pool_chunk *next;
    void *align;
    unsigned char bytes[CHUNK_BYTES];
};

static void *pool_get(struct udf_task *t, size_t n)
{
    size_t k = (n + POOL_STEP - 1) / POOL_STEP;
    void *p = t->pool_free[k];

    if (p) {
        memcpy(&t->pool_free[k], p, sizeof p);
        return p;
    }
    if (t->pool_left < k * POOL_STEP) {
        struct pool_chunk *c = malloc(sizeof *c);
        if (!c)
            return NULL;
        c->next = t->pool;
        t->pool = c;
        t->pool_left = CHUNK_BYTES;
    }
    p = t->pool->bytes + CHUNK_BYTES - t->pool_left;
    t->pool_left -= k * POOL_STEP;
    return p;
}

static void pool_put(struct udf_task *t, void *p, size_t n)
{
    size_t k = (n + POOL_STEP - 1) / POOL_STEP;

    memcpy(p, &t->pool_free[k], sizeof p);
    t->pool_free[k] = p;
}

void limits_free_pool(struct udf_task *t)
{
    while (t->pool) {
        struct pool_chunk *c = t->pool;
        t->pool = c->next;
        free(c);
    }
}

static void block_free(struct udf_task *t, void *p, size_t n)
{
    if (p && n <= POOLED_MAX)
        pool_put(t, p, n);
    else
        free(p);
}

static void *block_resize(struct udf_task *t, void *p, size_t old, size_t n)
{
    void *q;

    if (old > POOLED_MAX && n > POOLED_MAX)
        return realloc(p, n);
    if (p && n <= POOLED_MAX && old <= POOLED_MAX &&
        (n + POOL_STEP - 1) / POOL_STEP == (old + POOL_STEP - 1) / POOL_STEP)
        return p;
    q = n <= POOLED_MAX ? pool_get(t, n) : malloc(n);
    if (p && q) {
        memcpy(q, p, old < n ? old : n);
        block_free(t, p, old);
    }
    return q;
}

/* May a block grow by so much? Else the position is taken down: a memory error has no message
 * handler. */
static bool admit(struct udf_task *t, size_t more)
{
    if (t->used + more > t->hard) {
        if (t->cur)
            fail_where(t, t->cur, &t->where);
        return false;
    }
    if (!t->memory_asked && t->cur) {
        t->memory_asked = true;
        lua_sethook(t->cur, hook, LUA_MASKCOUNT, 1);
    }
    return true;
}

void *limits_alloc(void *ud, void *p, size_t osize, size_t nsize)
{
    struct udf_task *t = ud;
    size_t old = p ? osize : 0; /* without a block osize is a type, not a size */
    void *q;

    if (!nsize) {
        t->used -= old;
        block_free(t, p, old);
        return NULL;
    }
    if (nsize > old && t->used + (nsize - old) > t->soft && !admit(t, nsize - old))
        return NULL;
    q = block_resize(t, p, old, nsize);
    if (q)
        t->used += nsize - old;
    return q;
}

static void size_text(char *out, size_t cap, uint64_t bytes)
{
    if (bytes % (1 << 20) == 0)
        snprintf(out, cap, "%llu MB", (unsigned long long)(bytes >> 20));
    else if (bytes % 1024 == 0)
        snprintf(out, cap, "%llu KB", (unsigned long long)(bytes >> 10));
    else
        snprintf(out, cap, "%llu bytes", (unsigned long long)bytes);
}

int limits_raise(lua_State *L)
{
    struct udf_task *t = task_of(L);
    char size[32];

    switch (t->stop) {
    case STOP_MEMORY:
        size_text(size, sizeof size, t->soft);
        return fail(L, "the task needs more than %s of memory (limits.memory)", size);
    case STOP_TIME:
        if (t->count_limit)
            return fail(L, "%s ran more than %llu instructions", t->r ? "the record" : "the file",
                        (unsigned long long)t->count_limit);
        return fail(L, "the record ran longer than %lld ms (limits.time)",
                    (long long)(t->job->time_limit_ns / 1000000));
    default: return fail(L, "the record has ended");
    }
}

static void hook(lua_State *L, lua_Debug *ar)
{
    struct udf_task *t = task_of(L);

    if (t->memory_asked && !t->stop) {
        lua_gc(L, LUA_GCCOLLECT);
        t->memory_asked = false;
        if (t->used > t->soft)
            t->stop = STOP_MEMORY;
    }
    if (t->fired && !t->stop)
        t->stop = STOP_TIME;
    if (t->count_limit && !t->stop) {
        /* A step of 1 comes only with a limit passed: at most a few instructions are counted as
         * many. */
        t->instructions += HOOK_STEP;
        if (t->instructions > t->count_limit)
            t->stop = STOP_TIME;
    }
    limits_hook(t, L);
    if (t->stop)
        limits_raise(L);
}

/* In a signal handler, on the thread that runs Lua. */
static void on_fire(void *u)
{
    struct udf_task *t = u;

    t->host->watchdog(t->host, t->job->time_limit_ns / WATCH_TICKS, on_fire, t);
    if (!t->in_record || t->record_seq != t->watch_seq) {
        t->watch_seq = t->record_seq;
        t->ticks = 0;
        return;
    }
    t->ticks++;
    if (t->ticks == WATCH_TICKS) {
        t->fired = true;
        lua_sethook(t->cur, hook, LUA_MASKCOUNT, 1);
    } else if (t->ticks >= 2 * WATCH_TICKS && t->host->overrun) {
        t->host->overrun(t->host);
    }
}

static void watch(struct udf_task *t, bool on)
{
    if (t->count_limit || !t->host || !t->host->watchdog)
        return;
    t->watch_seq = t->record_seq;
    t->ticks = 0;
    t->host->watchdog(t->host, on ? t->job->time_limit_ns / WATCH_TICKS : 0, on ? on_fire : NULL,
                      t);
}

void udf_task_enter(struct udf_task *t)
{
    t->entered = true;
    watch(t, true);
}

void udf_task_leave(struct udf_task *t)
{
    t->entered = false;
    watch(t, false);
}

void limits_begin(struct udf_task *t)
{
    t->stop = STOP_NONE;
    t->instructions = 0;
    t->record_seq++;
    t->in_record = true;
    if (t->count_limit)
        limits_hook(t, t->L);
    if (!t->entered)
        watch(t, true);
}

void limits_end(struct udf_task *t)
{
    t->in_record = false;
    if (!t->entered)
        watch(t, false);
    if (t->fired || t->memory_asked || t->stop) {
        t->fired = t->memory_asked = false;
        t->stop = STOP_NONE;
        t->cur = t->L;
        limits_hook(t, t->L);
    }
}

void limits_begin_load(struct udf_task *t)
{
    enum { LOAD_INSTRUCTIONS = 200 * 1000 * 1000 };

    t->stop = STOP_NONE;
    t->instructions = 0;
    t->count_limit = LOAD_INSTRUCTIONS;
    limits_hook(t, t->L);
}

void limits_end_load(struct udf_task *t)
{
    t->count_limit = t->host ? t->host->count_limit : 0;
    t->stop = STOP_NONE;
    t->fired = t->memory_asked = false;
    t->cur = t->L;
    limits_hook(t, t->L);
}

/* udf/task.h - one Lua state with its limits; what the files of this folder share.
 *
 * A state serves either the reading of a job's description (job and host are NULL) or a task. Its
 * pointer lies in the extra space of every Lua thread. `cur` is the thread that runs, so that a
 * signal can set a hook on it.
 *
 * `stop` is why the record must end. While it is set, nothing a job does may swallow the error that
 * unwinds: our pcall, xpcall, resume and wrap raise it again. */
#ifndef ONCE_UDF_TASK_H
#define ONCE_UDF_TASK_H
#include "base/check.h"
#include "base/list.h"
#include "udf/udf.h"
#include <lauxlib.h>
#include <lua.h>

enum udf_stop { STOP_NONE, STOP_TIME, STOP_MEMORY, STOP_REJECT, STOP_HOST };

/* Field names that are compared by the pointers of their strings: Lua interns short ones. */
#define FIELD_MAP(X) X(key) X(value) X(time) X(headers) X(topic) X(partition) X(offset)
enum field {
#define FIELD_ENUM(name) F_##name,
    FIELD_MAP(FIELD_ENUM)
#undef FIELD_ENUM
        F_COUNT
};

/* Slots at the bottom of the main thread's stack, below everything that runs. */
enum { SLOT_HANDLER = 1, SLOT_VIEWS, SLOT_INDEX, SLOT_STRINGS, SLOT_DOOR, SLOT_NODES };
enum { VIEW_RING = 64, HOOK_STEP = 1000, WATCH_TICKS = 4, POOL_CLASSES = 17 };

/* The texts of a job's files, by chunk name. */
struct udf_file {
    char *name, *module; /* "lib/tax.lua", "lib.tax"; the job's own file has module "" */
    unsigned char *text;
    size_t n;
};
struct udf_files {
    struct udf_file *v;
    int n;
    char *dir;                     /* of the job's file, with its slash, or "" */
    const struct udf_options *opt; /* while the description is read; then NULL: no more files */
};

/* A reused userdata: it stands for the current record while the task's `view` points at it. */
struct view {
    const void *mark;
};
struct task_source {
    const struct udf_source *s;
    int key_slot, time_slot; /* 0: none */
};
struct task_node {
    int node; /* index into the job's */
    int process_slot, ctx_slot;
    const void *ctx;   /* the node's ctx userdata */
    const char *topic; /* the last one emitted to that `to` names: the pointer of its string */
    struct task_source *sources;
    int n_sources;
    const struct task_source *match; /* reads the topic at hand; NULL: does not */
};
struct udf_task {
    lua_State *L;
    lua_State *volatile cur;
    const struct udf_job *job;
    struct udf_files *files;
    struct udf_host *host;
    int group;
    int32_t partition;
    uint64_t seed;
    bool loading; /* the files of the job run: main chunks may declare globals */
    struct task_node *nodes;
    int n_nodes;
    int top;         /* of L while no record runs */
    int sample_slot; /* 0: none */
    bool sample_end, sample_keyed, sample_valued;

    /* memory */
    void *pool_free[POOL_CLASSES];
    struct pool_chunk *pool; /* newest first */
    size_t pool_left;        /* bytes at the end of the newest */
    uint64_t used, soft, hard;
    bool memory_asked; /* the soft limit was passed: the hook collects and decides */

    /* time */
    uint64_t instructions, count_limit; /* of the current record; 0: not counted */
    volatile uint64_t record_seq, watch_seq;
    volatile int ticks;
    volatile bool fired, in_record;
    bool entered;

    /* the current record */
    enum udf_stop stop;
    int host_code;
    const struct udf_record *r;
    struct buf topic; /* the one that the nodes' `match` are for */
    const struct task_source *source;
    struct task_node *node;
    int view_at;             /* place in the ring of the last one */
    const struct view *view; /* the live one, NULL: none */
    unsigned cached;         /* bits: the field's value lies in the index function's upvalue */
    int64_t time;
    bool key_replaced, key_null; /* by the source's key function: key_bytes holds it */
    struct buf key_bytes;
    uint64_t rng[4];
    bool rng_ready;
    bool numbers_ready;
    uint64_t object_base, object_n; /* numbers that tostring shows for tables and functions */
    struct list iters;              /* open iterators of stores */

    /* scratch, reused */
    struct buf key, value, headers, text;
    /* failure */
    struct buf where, message, full, trace, reason, details;
    bool has_details, has_message;
    const void *str[F_COUNT]; /* what lua_topointer gives for the fields' names */
    struct view *views[VIEW_RING];
};

static inline struct udf_task *task_of(lua_State *L)
{
    return *(struct udf_task **)lua_getextraspace(L);
}

/* limits.c */
void *limits_alloc(void *ud, void *p, size_t osize, size_t nsize);
void limits_free_pool(struct udf_task *t);
/* The hook that a thread should have now: none, counting, or the one that raises. */
void limits_hook(struct udf_task *t, lua_State *L);
/* Raises the error of t->stop. */
int limits_raise(lua_State *L);
void limits_begin(struct udf_task *t);
void limits_end(struct udf_task *t);
/* Counts instructions instead of watching a clock, while a file is loaded. */
void limits_begin_load(struct udf_task *t);
void limits_end_load(struct udf_task *t);

/* fail.c */
/* luaL_error with the position of the job's innermost frame, whatever lies between. */
int fail(lua_State *L, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Message handler: fills where, message and trace while the frames still stand. */
int fail_handler(lua_State *L);
/* "pay.lua:14" of the innermost job frame, into out. False if there is none. */
bool fail_where(struct udf_task *t, lua_State *L, struct buf *out);
/* Forgets the last failure. */
void fail_reset(struct udf_task *t);
/* What kind of failure `status` of a pcall is, with texts; the error object is on top of t->L. */
enum udf_result fail_report(struct udf_task *t, int status, struct udf_failure *f);
/* For a state that only loads: the same as an err. */
int fail_err(struct udf_task *t, int status, struct err *e);
/* Appends the job's frames of L to t->trace. */
void fail_trace(struct udf_task *t, lua_State *L);
/* The result of a host call that may have failed: raises if negative, else returns it. */
int fail_host(lua_State *L, int rc, const char *what);

/* engine.c */
/* A sandboxed state; memory_limit in bytes. -ERR_NOMEM. */
int engine_init(struct udf_task *t, struct udf_files *files, uint64_t memory_limit);
void engine_deinit(struct udf_task *t);
/* Runs the job's file and leaves its normalised description (a table) on top of t->L; to be called
 * under lua_pcall. */
void engine_run(lua_State *L);
/* Frees what only loading needs; require of `once` is an error from then on. */
void engine_loaded(lua_State *L);
/* Pushes the function `name` of the internal module `once`. */
void engine_push_internal(lua_State *L, const char *name);
int engine_require(lua_State *L);
/* Files: the text of a module ("" is the job's own), read once. NULL: err is set. */
const struct udf_file *engine_file(struct udf_task *t, const char *module, struct err *e);

/* libraries: each adds to the table on top of the stack */
void baselib_open(lua_State *L);
void orderlib_open(lua_State *L); /* pairs, next; table.sort into the table at -2 */
void colib_open(lua_State *L);
void oslib_open(lua_State *L);
void randomlib_open(lua_State *L);
void jsonlib_open(lua_State *L);
void csvlib_open(lua_State *L);
/* tostring() as jobs see it: pushes a string. */
const char *baselib_tostring(lua_State *L, int idx, size_t *n);
/* Pushes a function that logs its arguments as print does. */
void baselib_push_log(lua_State *L, enum udf_level level);
void orderlib_push_unordered(lua_State *L);
/* A number that stands for (seed, topic, partition, offset). */
uint64_t randomlib_position(const struct udf_task *t);

/* record.c */
void record_open(lua_State *L); /* fills SLOT_VIEWS, SLOT_INDEX, SLOT_STRINGS, SLOT_DOOR */
/* Pushes the view of t->r for the node; the one before is dead. */
void record_push(struct udf_task *t);
void record_end(struct udf_task *t);
/* Is the value at idx the record? A dead one raises. */
bool record_is_view(lua_State *L, int idx);
/* The current record's key as emit passes it on. */
struct slice record_key(const struct udf_task *t);

/* ctx.c, store.c */
/* Appends the value at idx as emit writes it; nil appends nothing. */
void ctx_put_bytes(lua_State *L, int idx, const char *what, struct buf *out);
void ctx_push(lua_State *L, int node); /* the ctx userdata of a node */
void store_push(lua_State *L, int store);
void store_close_iters(struct udf_task *t);
#endif

/* base/env.h - all that a node may ask of the world: time, chance, files, streams, work.
 *
 * env_uv.c answers with libuv; env_sim.c answers from a seed, in memory. The rules are one:
 *  - An operation is a struct env_op inside the caller's own struct: env allocates nothing for it.
 *    Op and buffers are env's from submit to callback, the caller's again after. The slice array of
 *    a write or send is the caller's too and stays valid until the callback.
 *  - Submitting returns void and never calls back from within. Each op calls back exactly once,
 *    from the loop, with res >= 0 or a negative ERR_ code. After a crash none of them does.
 *  - Operations on one file take effect in the order submitted.
 *  - shut() first ends a stream's ops with ERR_CANCELED, then its own op calls back; after that the
 *    stream's memory is free. A stream that listens, that accept gave, or that connect was called
 *    for, even in vain, is the caller's again only after shut; a failed listen or accept took
 *    nothing.
 *  - close() of a file asks that no op on it is in flight (a dead node's are forgotten already).
 *  - Paths are copied or used at once.
 *  - A node that is torn down (env_deinit of its env) gets no callback any more: x_deinit of every
 *    module works from any state, without I/O. */
#ifndef ONCE_BASE_ENV_H
#define ONCE_BASE_ENV_H
#include "base/check.h"
#include "base/err.h"
#include "base/list.h"
#include "base/slice.h"

struct env;
struct env_op {
    void (*done)(struct env_op *op, int64_t res);
    struct env *env; /* from here on env's, while in flight */
    struct env_op *next;
    union {
        uint64_t u;
        void *p;
        unsigned char bytes[256];
    } impl;
};
struct env_timer { /* a node of env's heap, ordered by (at, seq) */
    void (*fire)(struct env_timer *t);
    uint64_t at, seq; /* ns; equal times fire in the order armed */
    uint32_t slot;    /* place in the heap + 1; 0 is idle */
};
/* Work for the end of the current turn of the loop, in the order asked for: what arrived in the
 * same turn is handled together. Embedded in the caller's struct; asking twice is asking once. */
struct env_task {
    void (*run)(struct env_task *t);
    struct list link;
};
struct env_file {
    struct env *env;
    union {
        uint64_t u;
        void *p;
        unsigned char bytes[48];
    } impl;
};
struct env_stream {
    struct env *env;
    void *user; /* the owner's */
    union {
        uint64_t u;
        void *p;
        unsigned char bytes[352];
    } impl;
};
/* Is this the file that was opened before? Device, inode, birth time, and the boot it
 * was seen in. */
struct env_id {
    uint64_t device, inode, birth_ns;
    unsigned char boot[16];
};
enum {
    ENV_CREATE = 1,    /* open: create if it is not there */
    ENV_SYNC = 2,      /* write: durable when done */
    ENV_ZEROED = 4,    /* reserve: write zeros, so that later syncs change no metadata */
    ENV_READ_ONLY = 8, /* open: for reading alone */
    ENV_JOURNAL = 16   /* open: its writes and syncs go first, behind nobody else's */
};
enum env_level { ENV_DEBUG, ENV_INFO, ENV_WARN, ENV_ERROR };

struct env_vt {
    /* Directories: quick, from the page cache, NOT durable until sync_dir's op is done. */
    int (*open)(struct env *e, struct env_file *f, const char *path, int flags, uint64_t *size);
    void (*close)(struct env_file *f);
    int (*rename)(struct env *e, const char *from, const char *to);
    int (*mkdir)(struct env *e, const char *path); /* -ERR_EXISTS when there */
    /* Names without "." and "..", sorted bytewise. */
    int (*list)(struct env *e, const char *dir, void (*each)(void *u, const char *name), void *u);
    int (*lock)(struct env *e, const char *path); /* -ERR_BUSY: another process has it */
    void (*unlock)(struct env *e, const char *path);
    int (*identify)(struct env *e, const char *path, struct env_id *id);
    int64_t (*space_free)(struct env *e, const char *path);
    void (*sync_dir)(struct env_op *op, struct env *e, const char *dir);
    /* File or empty folder: gone from its folder at once, in order with the calls above; done when
     * its space is free, and durable only by sync_dir. */
    void (*remove)(struct env_op *op, struct env *e, const char *path);
    /* Data. ENV_SYNC: what f was given up to here is durable when done; n = 0 only syncs.
     * A failed sync poisons f: all later writes end in -ERR_IO. read is short only at the end. */
    void (*write)(struct env_op *op, struct env_file *f, uint64_t at, const struct slice *v, int n,
                  int flags);
    void (*read)(struct env_op *op, struct env_file *f, uint64_t at, struct span to);
    /* Whole (short only at the end) or -ERR_AGAIN: not in memory, or a write still waits. */
    int64_t (*read_now)(struct env_file *f, uint64_t at, struct span to);
    /* For recovery, before the node serves: blocking in env_uv, at once in env_sim, where a crash
     * may strike at any of them: from then on each returns -ERR_CRASHED and recovery unwinds. */
    int64_t (*read_wait)(struct env_file *f, uint64_t at, struct span to);
    int64_t (*write_wait)(struct env_file *f, uint64_t at, const struct slice *v, int n, int flags);
    int (*truncate_wait)(struct env_file *f, uint64_t size);
    int (*sync_dir_wait)(struct env *e, const char *dir);
    int (*remove_wait)(struct env *e, const char *path);
    int64_t (*size)(struct env_file *f); /* of what is done: writes in flight may not count yet */
    void (*truncate)(struct env_op *op, struct env_file *f, uint64_t size);
    /* Space for [at, at + len): without ENV_ZEROED the file's size stays, with it zeros are
     * written.
     * -ERR_NO_SPACE; -ERR_UNSUPPORTED where the file system cannot. */
    void (*reserve)(struct env_op *op, struct env_file *f, uint64_t at, uint64_t len, int flags);
    /* Streams: one recv and one send in flight at most. recv 0: the peer is done. addr is
     * HOST:PORT, or [V6]:PORT; port 0 on listen takes any free one. */
    int (*listen)(struct env *e, struct env_stream *l, const char *addr,
                  void (*ready)(struct env_stream *l));
    int (*accept)(struct env_stream *l, struct env_stream *s); /* -ERR_AGAIN: none waits */
    int (*address)(struct env_stream *s, int peer, char *out, size_t cap);      /* bound port too */
    void (*connect)(struct env_op *op, struct env_stream *s, const char *addr); /* resolves names */
    void (*recv)(struct env_op *op, struct env_stream *s, struct span to);
    void (*send)(struct env_op *op, struct env_stream *s, const struct slice *v, int n);
    void (*shut)(struct env_op *op, struct env_stream *s);
    /* run is off the loop and touches only what hangs off op; the simulator draws its duration. */
    void (*work)(struct env_op *op, struct env *e, int64_t (*run)(struct env_op *op));
    /* A signal on the loop's own thread, for a record that overruns; 0 disarms. The simulator
     * counts instructions instead and never fires it. */
    /* after: ns from this call on by the real clock; may be called from within fire. */
    void (*watchdog)(struct env *e, uint64_t after, void (*fire)(void *u), void *u);
    void (*arm)(struct env *e, uint64_t at); /* turn the loop by then; env.c keeps the heap */
    int64_t (*wall_ms)(struct env *e);       /* for record timestamps; may jump back */
    void (*random)(struct env *e, void *to, size_t n); /* for ids that must differ between nodes */
    void (*log)(struct env *e, enum env_level level, const char *line);
    void (*halt)(struct env *e, const char *why); /* this node is dead: return to the loop */
    /* A named step of interest ("after_end_txn"). The simulator may crash the node here: it then
     * returns true and the caller returns to the loop at once. env_uv: false, except in test
     * builds. */
    bool (*point)(struct env *e, const char *name);
};
struct env {
    const struct env_vt *vt;
    const char *name;          /* "broker-1", for logs and traces */
    uint64_t now, seq, rng[4]; /* now: monotonic ns, set once a turn of the loop */
    struct env_timer **heap;
    uint32_t heap_n, heap_cap;
    struct list tasks;    /* struct env_task, for the end of the turn */
    uint64_t mutations;   /* test builds: which protections are switched off (base/check.h) */
    enum env_level level; /* lines below it are not made */
    bool dead;            /* halted or crashed: every submit is dropped */
};

/* ---- env.c, shared by both worlds ---- */
void env_init(struct env *e, const struct env_vt *vt, const char *name, uint64_t seed);
void env_deinit(struct env *e);
/* For backends: dead from here on, timers and tasks forgotten while their memory still stands. */
void env_die(struct env *e);
/* Arms t for `at` (ns, on env's clock); arming an armed one moves it. */
void env_timer_set(struct env *e, struct env_timer *t, uint64_t at);
void env_timer_stop(struct env *e, struct env_timer *t);
/* For backends: when the next timer is due (UINT64_MAX none); fires those due at e->now. */
uint64_t env_timer_next(const struct env *e);
void env_timers_run(struct env *e);
/* Asks for t->run at the end of this turn; from within a task: at the end of the same
 * turn, behind. */
void env_task_add(struct env *e, struct env_task *t);
void env_task_stop(struct env_task *t);
void env_tasks_run(struct env *e); /* for backends */
/* Uniform in [0, below); xoshiro256** seeded at init. below 0 gives all 64 bits. */
uint64_t env_random(struct env *e, uint64_t below);
void env_log(struct env *e, enum env_level level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
#define env_debug(e, ...)                                                                          \
    do {                                                                                           \
        if ((e)->level <= ENV_DEBUG)                                                               \
            env_log((e), ENV_DEBUG, __VA_ARGS__);                                                  \
    } while (0)
#define env_info(e, ...)  env_log((e), ENV_INFO, __VA_ARGS__)
#define env_warn(e, ...)  env_log((e), ENV_WARN, __VA_ARGS__)
#define env_error(e, ...) env_log((e), ENV_ERROR, __VA_ARGS__)

#define ENV_MS(n) ((uint64_t)(n)*1000000u)
#define ENV_S(n)  ((uint64_t)(n)*1000000000u)

/* The calls, by their plain names. */
static inline int env_open(struct env *e, struct env_file *f, const char *path, int flags,
                           uint64_t *size)
{
    return e->vt->open(e, f, path, flags, size);
}
static inline void env_close(struct env_file *f)
{
    f->env->vt->close(f);
}
static inline int env_rename(struct env *e, const char *from, const char *to)
{
    return e->vt->rename(e, from, to);
}
static inline int env_mkdir(struct env *e, const char *path)
{
    return e->vt->mkdir(e, path);
}
static inline int env_list(struct env *e, const char *dir, void (*each)(void *u, const char *name),
                           void *u)
{
    return e->vt->list(e, dir, each, u);
}
static inline int env_lock(struct env *e, const char *path)
{
    return e->vt->lock(e, path);
}
static inline void env_unlock(struct env *e, const char *path)
{
    e->vt->unlock(e, path);
}
static inline int env_identify(struct env *e, const char *path, struct env_id *id)
{
    return e->vt->identify(e, path, id);
}
static inline int64_t env_space_free(struct env *e, const char *path)
{
    return e->vt->space_free(e, path);
}
static inline void env_sync_dir(struct env_op *op, struct env *e, const char *dir)
{
    e->vt->sync_dir(op, e, dir);
}
static inline void env_remove(struct env_op *op, struct env *e, const char *path)
{
    e->vt->remove(op, e, path);
}
static inline void env_write(struct env_op *op, struct env_file *f, uint64_t at,
                             const struct slice *v, int n, int flags)
{
    f->env->vt->write(op, f, at, v, n, flags);
}
static inline void env_read(struct env_op *op, struct env_file *f, uint64_t at, struct span to)
{
    f->env->vt->read(op, f, at, to);
}
static inline int64_t env_read_now(struct env_file *f, uint64_t at, struct span to)
{
    return f->env->vt->read_now(f, at, to);
}
static inline int64_t env_read_wait(struct env_file *f, uint64_t at, struct span to)
{
    return f->env->vt->read_wait(f, at, to);
}
static inline int64_t env_write_wait(struct env_file *f, uint64_t at, const struct slice *v, int n,
                                     int flags)
{
    return f->env->vt->write_wait(f, at, v, n, flags);
}
static inline int env_truncate_wait(struct env_file *f, uint64_t size)
{
    return f->env->vt->truncate_wait(f, size);
}
static inline int env_sync_dir_wait(struct env *e, const char *dir)
{
    return e->vt->sync_dir_wait(e, dir);
}
static inline int env_remove_wait(struct env *e, const char *path)
{
    return e->vt->remove_wait(e, path);
}
static inline int64_t env_size(struct env_file *f)
{
    return f->env->vt->size(f);
}
static inline void env_truncate(struct env_op *op, struct env_file *f, uint64_t size)
{
    f->env->vt->truncate(op, f, size);
}
static inline void env_reserve(struct env_op *op, struct env_file *f, uint64_t at, uint64_t len,
                               int flags)
{
    f->env->vt->reserve(op, f, at, len, flags);
}
static inline int env_listen(struct env *e, struct env_stream *l, const char *addr,
                             void (*ready)(struct env_stream *l))
{
    return e->vt->listen(e, l, addr, ready);
}
static inline int env_accept(struct env_stream *l, struct env_stream *s)
{
    return l->env->vt->accept(l, s);
}
static inline int env_address(struct env_stream *s, int peer, char *out, size_t cap)
{
    return s->env->vt->address(s, peer, out, cap);
}
static inline void env_connect(struct env_op *op, struct env_stream *s, const char *addr)
{
    s->env->vt->connect(op, s, addr);
}
static inline void env_recv(struct env_op *op, struct env_stream *s, struct span to)
{
    s->env->vt->recv(op, s, to);
}
static inline void env_send(struct env_op *op, struct env_stream *s, const struct slice *v, int n)
{
    s->env->vt->send(op, s, v, n);
}
static inline void env_shut(struct env_op *op, struct env_stream *s)
{
    s->env->vt->shut(op, s);
}
static inline void env_work(struct env_op *op, struct env *e, int64_t (*run)(struct env_op *op))
{
    e->vt->work(op, e, run);
}
static inline void env_watchdog(struct env *e, uint64_t after, void (*fire)(void *u), void *u)
{
    e->vt->watchdog(e, after, fire, u);
}
static inline void env_random_bytes(struct env *e, void *to, size_t n)
{
    e->vt->random(e, to, n);
}
static inline int64_t env_wall_ms(struct env *e)
{
    return e->vt->wall_ms(e);
}
static inline void env_halt(struct env *e, const char *why)
{
    e->vt->halt(e, why);
}
static inline bool env_point(struct env *e, const char *name)
{
    return e->vt->point(e, name);
}
#endif
/* A stream for connect must have `env` set by the caller; accept and listen set it themselves.
 * Processes and signals, the watchdog's aside, belong to the supervisor, chaos/ and cli/ alone,
 * outside this door. */

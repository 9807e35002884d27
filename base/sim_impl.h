/* base/sim_impl.h - what env_sim.c and sim_net.c share. */
#ifndef ONCE_BASE_SIM_IMPL_H
#define ONCE_BASE_SIM_IMPL_H
#include "base/env_sim.h"
#include "base/rng.h"

enum sim_event_kind {
    EV_TURN,
    EV_OP, /* p: env_op, of the node's incarnation */
    EV_ALARM,
    /* p: sim_conn, with a reference; side: whose end it happens to */
    EV_SYN,
    EV_SYN_ACK,
    EV_ARRIVE,
    EV_FIN,
    EV_RESET, /* n: the error */
    EV_PUMP,
    EV_SYNC_DIR /* p: sim_dir_sync, owned */
};
struct sim_event {
    uint64_t at, seq;
    void *p;
    uint32_t node, incarnation;
    uint32_t n; /* bytes, or an error */
    uint16_t kind, side;
};

struct sim_lock {
    struct list link;
    struct sim_node *owner;
    char path[];
};
struct sim_host {
    struct list link;
    struct sim_disk disk;
    struct list locks;
    char name[64];
    bool powered;
};

struct sim_dir_sync {
    struct env_op *op;
    char path[];
};

enum sim_op_kind { SOP_WRITE, SOP_READ, SOP_TRUNCATE, SOP_RESERVE, SOP_DONE, SOP_WORK };
/* In env_op.impl. */
struct sim_op {
    struct env_op *fifo_next; /* behind it in its file's queue */
    struct env_file *file;
    int64_t (*run)(struct env_op *op);
    const struct slice *v;
    struct span to;
    uint64_t at, len, due;
    int64_t res;
    int n, flags;
    enum sim_op_kind kind;
};
/* In env_file.impl. */
struct sim_file {
    struct list link;        /* node->files */
    struct sim_inode *inode; /* NULL: closed */
    struct env_op *head, *tail;
    bool poisoned;
};
struct sim_conn;
struct sim_listener;
/* In env_stream.impl. */
struct sim_stream {
    struct sim_conn *conn;
    struct sim_listener *listener;
    int side;
};
struct sim_link {
    uint64_t net[2]; /* {0, 0}: as timing says */
    bool partitioned, refuse;
};

static inline struct sim_op *sim_op(struct env_op *op)
{
    return (struct sim_op *)(void *)op->impl.bytes;
}
static inline struct sim_file *sim_file(struct env_file *f)
{
    return (struct sim_file *)(void *)f->impl.bytes;
}
static inline struct sim_stream *sim_stream(struct env_stream *s)
{
    return (struct sim_stream *)(void *)s->impl.bytes;
}
static inline struct sim_node *sim_node(struct env *e)
{
    return (struct sim_node *)(void *)e; /* env is its first member */
}
STATIC_CHECK(offsetof(struct sim_node, env) == 0);
STATIC_CHECK(sizeof(struct sim_op) <= sizeof(((struct env_op *)0)->impl));
STATIC_CHECK(sizeof(struct sim_file) <= sizeof(((struct env_file *)0)->impl));
STATIC_CHECK(sizeof(struct sim_stream) <= sizeof(((struct env_stream *)0)->impl));

/* Draws from [v[0], v[1]]. */
static inline uint64_t sim_draw(uint64_t rng[4], const uint64_t v[2])
{
    return v[0] + (v[1] > v[0] ? rng_below(rng, v[1] - v[0] + 1) : 0);
}
static inline bool sim_chance(uint64_t rng[4], uint32_t in_a_million)
{
    return in_a_million && rng_below(rng, 1000000) < in_a_million;
}

/* ---- env_sim.c ---- */
void sim_push(struct sim *s, uint64_t at, struct sim_event e);
/* op's result is there: its node delivers it in its next turn. */
void sim_ready(struct sim_node *n, struct env_op *op, int64_t res);
/* The node must have a turn by then. */
void sim_turn_soon(struct sim_node *n);
static inline bool sim_op_begin(struct env_op *op, struct env *e)
{
    op->env = e;
    op->next = NULL;
    return !e->dead;
}
/* An EV_OP at `at`. */
void sim_push_op(struct sim_node *n, uint64_t at, struct env_op *op);
/* Carries out what a hook asked for: is the node dead? */
bool sim_strike(struct sim_node *n, enum sim_fault f);
enum sim_fault sim_wait_fault(struct sim_node *n, const char *call);
struct sim_host *sim_host_find(struct sim *s, struct sim_node *from, const char *name);

/* ---- sim_file.c ---- */
void sim_file_event(struct sim_node *n, struct env_op *op);
/* The node's handles and ops under way go with it. */
void sim_files_down(struct sim_node *n);
int sim_file_open(struct env *e, struct env_file *f, const char *path, int flags, uint64_t *size);
void sim_file_close(struct env_file *f);
void sim_file_write(struct env_op *op, struct env_file *f, uint64_t at, const struct slice *v,
                    int n, int flags);
void sim_file_read(struct env_op *op, struct env_file *f, uint64_t at, struct span to);
void sim_file_truncate(struct env_op *op, struct env_file *f, uint64_t size);
void sim_file_reserve(struct env_op *op, struct env_file *f, uint64_t at, uint64_t len, int flags);
int64_t sim_file_read_now(struct env_file *f, uint64_t at, struct span to);
int64_t sim_file_read_wait(struct env_file *f, uint64_t at, struct span to);
int64_t sim_file_write_wait(struct env_file *f, uint64_t at, const struct slice *v, int n,
                            int flags);
int sim_file_truncate_wait(struct env_file *f, uint64_t size);
int64_t sim_file_size(struct env_file *f);
int sim_file_rename(struct env *e, const char *from, const char *to);
int sim_file_mkdir(struct env *e, const char *path);
int sim_file_list(struct env *e, const char *dir, void (*each)(void *u, const char *name), void *u);
int sim_file_lock(struct env *e, const char *path);
void sim_file_unlock(struct env *e, const char *path); /* NULL: all of this node */
int sim_file_identify(struct env *e, const char *path, struct env_id *id);
int64_t sim_file_space_free(struct env *e, const char *path);
void sim_file_sync_dir(struct env_op *op, struct env *e, const char *dir);
void sim_file_remove(struct env_op *op, struct env *e, const char *path);
int sim_file_sync_dir_wait(struct env *e, const char *dir);
int sim_file_remove_wait(struct env *e, const char *path);

/* ---- sim_net.c ---- */
void sim_net_event(struct sim *s, struct sim_event *e);
/* Listeners with connections that were not announced yet. */
void sim_net_turn(struct sim_node *n);
/* The node's streams and listeners end; silent: without a word to the peers. */
void sim_net_down(struct sim_node *n, bool silent);
void sim_net_deinit(struct sim *s);
int sim_net_listen(struct env *e, struct env_stream *l, const char *addr,
                   void (*ready)(struct env_stream *l));
int sim_net_accept(struct env_stream *l, struct env_stream *s);
int sim_net_address(struct env_stream *s, int peer, char *out, size_t cap);
void sim_net_connect(struct env_op *op, struct env_stream *s, const char *addr);
void sim_net_recv(struct env_op *op, struct env_stream *s, struct span to);
void sim_net_send(struct env_op *op, struct env_stream *s, const struct slice *v, int n);
void sim_net_shut(struct env_op *op, struct env_stream *s);
#endif

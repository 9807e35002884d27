/* base/env_uv_impl.h - what the files of env_uv share: how ops, files and streams lie in env.h's
 * reserves. */
#ifndef ONCE_BASE_ENV_UV_IMPL_H
#define ONCE_BASE_ENV_UV_IMPL_H
#include "base/env_uv.h"

enum euv_kind { OP_WRITE, OP_READ, OP_TRUNCATE, OP_RESERVE, OP_SYNC_DIR, OP_CLOSE_FD, OP_WORK };

/* In env_op.impl. */
struct euv_op {
    union {
        uv_work_t work;
        uv_write_t write;
        uv_connect_t connect;
    } req;
    union {
        struct env_file *file;
        struct env_stream *stream;
        int64_t (*run)(struct env_op *op);
    } of;
    uint64_t at; /* file position; size of a truncate; bytes sent so far */
    union {
        const struct slice *v;
        unsigned char *p;
        uint64_t len;
    } data;
    size_t n, off; /* slices, or bytes to read; where in the first slice to go on */
    int64_t res;
    int fd;
    unsigned short flags;
    unsigned char kind;
};
/* In env_file.impl. */
struct euv_file {
    struct list link; /* node->files */
    struct env_op *head, *tail;
    int fd;                 /* -1: closed */
    unsigned short n_reads; /* in flight */
    unsigned char flags;    /* ENV_READ_ONLY, ENV_JOURNAL */
    bool writing;           /* a write, sync, truncate or reserve is in flight */
    bool only_sync;         /* ... which changes no byte: reads may pass */
    bool poisoned;          /* a sync failed; set off the loop, by the only op in flight */
};
struct euv_resolve;
/* In env_stream.impl. */
struct euv_stream {
    uv_tcp_t tcp;
    struct list link; /* node->streams */
    struct env_op *recv, *send, *connect, *shut;
    struct span to;
    union {
        void (*ready)(struct env_stream *l);
        struct euv_resolve *resolve;
    } of;
    int ended; /* what every further recv ends in, + 1 for the peer's end (0 is open) */
    bool reading, pending, listening;
};

STATIC_CHECK(sizeof(struct euv_op) <= sizeof(((struct env_op *)0)->impl));
STATIC_CHECK(sizeof(struct euv_file) <= sizeof(((struct env_file *)0)->impl));
STATIC_CHECK(sizeof(struct euv_stream) <= sizeof(((struct env_stream *)0)->impl));

static inline struct euv_op *euv_op(struct env_op *op)
{
    return (struct euv_op *)(void *)op->impl.bytes;
}
static inline struct euv_file *euv_file(struct env_file *f)
{
    return (struct euv_file *)(void *)f->impl.bytes;
}
static inline struct euv_stream *euv_stream(struct env_stream *s)
{
    return (struct euv_stream *)(void *)s->impl.bytes;
}
static inline struct env_uv_node *euv_node(struct env *e)
{
    return (struct env_uv_node *)(void *)e; /* env is its first member */
}
STATIC_CHECK(offsetof(struct env_uv_node, env) == 0);

/* Takes op into flight: false when the node is dead and the op is dropped. */
bool euv_op_begin(struct env_op *op, struct env *e);
/* Out of flight: calls back unless the node died meanwhile. From the loop. */
void euv_op_end(struct env_op *op, int64_t res);
/* The same, later: for what is done within the submit. */
void euv_op_end_later(struct env_op *op, int64_t res);
/* Hands op to a thread, or to libuv's pool; euv_op_run is called there, euv_op_ran on the loop
 * after. */
void euv_thread_give(struct env_uv_thread *t, struct env_op *op);
void euv_pool_give(struct env_uv *uv, struct env_op *op);
int euv_thread_open(struct env_uv_thread *t, struct env_uv *uv, bool urgent);
void euv_thread_join(struct env_uv_thread *t);

void euv_op_run(struct env_op *op);
void euv_op_ran(struct env_op *op);

/* env_uv_file.c */
int euv_file_open(struct env *e, struct env_file *f, const char *path, int flags, uint64_t *size);
void euv_file_close(struct env_file *f);
int euv_dir_rename(struct env *e, const char *from, const char *to);
int euv_dir_mkdir(struct env *e, const char *path);
int euv_dir_list(struct env *e, const char *dir, void (*each)(void *u, const char *name), void *u);
int euv_dir_lock(struct env *e, const char *path);
void euv_dir_unlock(struct env *e, const char *path);
int euv_dir_identify(struct env *e, const char *path, struct env_id *id);
int64_t euv_dir_space_free(struct env *e, const char *path);
void euv_dir_sync(struct env_op *op, struct env *e, const char *dir);
void euv_dir_remove(struct env_op *op, struct env *e, const char *path);
int euv_dir_sync_wait(struct env *e, const char *dir);
int euv_dir_remove_wait(struct env *e, const char *path);
void euv_file_write(struct env_op *op, struct env_file *f, uint64_t at, const struct slice *v,
                    int n, int flags);
void euv_file_read(struct env_op *op, struct env_file *f, uint64_t at, struct span to);
int64_t euv_file_read_now(struct env_file *f, uint64_t at, struct span to);
int64_t euv_file_read_wait(struct env_file *f, uint64_t at, struct span to);
int64_t euv_file_write_wait(struct env_file *f, uint64_t at, const struct slice *v, int n,
                            int flags);
int euv_file_truncate_wait(struct env_file *f, uint64_t size);
int64_t euv_file_size(struct env_file *f);
void euv_file_truncate(struct env_op *op, struct env_file *f, uint64_t size);
void euv_file_reserve(struct env_op *op, struct env_file *f, uint64_t at, uint64_t len, int flags);
/* A stopped node: drops the ops that wait for another, and later closes what was left open. */
void euv_files_forget(struct env_uv_node *node);
void euv_files_close(struct env_uv_node *node);

/* env_uv_net.c */
int euv_net_listen(struct env *e, struct env_stream *l, const char *addr,
                   void (*ready)(struct env_stream *l));
int euv_net_accept(struct env_stream *l, struct env_stream *s);
int euv_net_address(struct env_stream *s, int peer, char *out, size_t cap);
void euv_net_connect(struct env_op *op, struct env_stream *s, const char *addr);
void euv_net_recv(struct env_op *op, struct env_stream *s, struct span to);
void euv_net_send(struct env_op *op, struct env_stream *s, const struct slice *v, int n);
void euv_net_shut(struct env_op *op, struct env_stream *s);
/* Begins to close every stream of a stopping node; n_handles and n_ops tell when it is over. */
void euv_net_stop(struct env_uv_node *node);
#endif

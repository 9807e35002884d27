/* base/env_uv_file.c - files and folders of the real world.
 *
 * Ops of one file: reads run side by side, everything else alone and in the order submitted; what
 * may not start yet waits in the file's queue. A sync that follows no write changes no byte, so
 * reads pass it. What an op does is in run_*, off the loop; file_ran, on the loop, starts those
 * that waited.
 *
 * Failure: errno as ERR_. A failed fdatasync poisons the file: the kernel may have dropped the
 * bytes and marked them clean, so a later success would mean nothing. */
#include "base/env_uv_impl.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

enum { IOV_BATCH = 128, ZERO_CHUNK = 256 * 1024, PAGE = 4096, WRITE_BACK_LEAST = 256 * 1024 };

static int last_error(void)
{
    return -err_from_errno(errno);
}

/* ---- what runs off the loop ---- */

static int64_t write_all(int fd, uint64_t at, const struct slice *v, int n)
{
    struct iovec iov[IOV_BATCH];
    int64_t total = 0;
    size_t off = 0;

    for (int i = 0; i < n;) {
        int k = 0;
        ssize_t r;
        for (int j = i; j < n && k < IOV_BATCH; j++) {
            size_t skip = j == i ? off : 0;
            iov[k].iov_base = (void *)(uintptr_t)(v[j].p + skip);
            iov[k++].iov_len = v[j].n - skip;
        }
        r = pwritev(fd, iov, k, (off_t)(at + (uint64_t)total));
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return last_error();
        total += r;
        off += (size_t)r;
        for (; i < n && off >= v[i].n; i++)
            off -= v[i].n;
    }
    return total;
}

static int64_t read_all(int fd, uint64_t at, unsigned char *p, size_t n)
{
    size_t got = 0;

    while (got < n) {
        ssize_t r = pread(fd, p + got, n - got, (off_t)(at + got));
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return last_error();
        if (r == 0)
            break;
        got += (size_t)r;
    }
    return (int64_t)got;
}

static int sync_data(struct euv_file *i)
{
    int r;

    do
        r = fdatasync(i->fd);
    while (r != 0 && errno == EINTR);
    if (r != 0) {
        i->poisoned = true;
        return -ERR_IO;
    }
    return 0;
}

/* A large background write starts on its way to the disk at once. Left to lie until somebody syncs
 * the file, hundreds of megabytes would go together, and the journal's syncs wait behind them. */
static void write_back_soon(int fd, uint64_t at, int64_t n)
{
    uint64_t from = (at + PAGE - 1) / PAGE * PAGE, to = (at + (uint64_t)n) / PAGE * PAGE;

    if (n >= WRITE_BACK_LEAST)
        (void)sync_file_range(fd, (off_t)from, (off_t)(to - from), SYNC_FILE_RANGE_WRITE);
}

static int64_t write_and_sync(struct euv_file *i, uint64_t at, const struct slice *v, int n,
                              int flags)
{
    int64_t r, s;

    if (i->poisoned)
        return -ERR_IO;
    r = write_all(i->fd, at, v, n);
    if (r > 0 && !(flags & ENV_SYNC) && !(i->flags & ENV_JOURNAL))
        write_back_soon(i->fd, at, r);
    if (r < 0 || !(flags & ENV_SYNC))
        return r;
    s = sync_data(i);
    return s < 0 ? s : r;
}

static int truncate_to(int fd, uint64_t size)
{
    int r;

    do
        r = ftruncate(fd, (off_t)size);
    while (r != 0 && errno == EINTR);
    return r ? last_error() : 0;
}

static int64_t write_zeros(int fd, uint64_t at, uint64_t len)
{
    static const unsigned char zeros[4096];
    struct slice v[ZERO_CHUNK / sizeof zeros];

    while (len > 0) {
        int n = 0;
        uint64_t chunk = 0;
        for (; n < (int)(ZERO_CHUNK / sizeof zeros) && chunk < len; n++) {
            v[n] = slice_of(zeros, len - chunk < sizeof zeros ? len - chunk : sizeof zeros);
            chunk += v[n].n;
        }
        int64_t r = write_all(fd, at, v, n);
        if (r < 0)
            return r;
        at += chunk;
        len -= chunk;
    }
    return 0;
}

static int64_t reserve(struct euv_file *i, uint64_t at, uint64_t len, int flags)
{
    int r;

    if (i->poisoned)
        return -ERR_IO;
    do
        r = len ? fallocate(i->fd, flags & ENV_ZEROED ? 0 : FALLOC_FL_KEEP_SIZE, (off_t)at,
                            (off_t)len)
                : 0;
    while (r != 0 && errno == EINTR);
    if (r != 0 && !(errno == EOPNOTSUPP && flags & ENV_ZEROED))
        return last_error();
    if (flags & ENV_ZEROED) {
        int64_t z = write_zeros(i->fd, at, len);
        if (z < 0)
            return z;
    }
    return flags & ENV_SYNC ? sync_data(i) : 0;
}

static int64_t sync_and_close(int fd)
{
    int64_t r;

    do
        r = fsync(fd);
    while (r != 0 && errno == EINTR);
    r = r ? -ERR_IO : 0;
    close(fd);
    return r;
}

void euv_op_run(struct env_op *op)
{
    struct euv_op *o = euv_op(op);
    struct euv_file *i = o->kind < OP_SYNC_DIR ? euv_file(o->of.file) : NULL;

    switch (o->kind) {
    case OP_WRITE: o->res = write_and_sync(i, o->at, o->data.v, (int)o->n, o->flags); break;
    case OP_READ: o->res = read_all(i->fd, o->at, o->data.p, o->n); break;
    case OP_TRUNCATE: o->res = i->poisoned ? -ERR_IO : truncate_to(i->fd, o->at); break;
    case OP_RESERVE: o->res = reserve(i, o->at, o->data.len, o->flags); break;
    case OP_SYNC_DIR: o->res = sync_and_close(o->fd); break;
    case OP_CLOSE_FD:
        close(o->fd);
        o->res = 0;
        break;
    case OP_WORK: o->res = o->of.run(op); break;
    }
}

/* ---- the order of a file's ops ---- */

static void dispatch(struct env_op *op)
{
    struct euv_op *o = euv_op(op);
    struct env_uv *uv = euv_node(op->env)->uv;
    struct euv_file *i = euv_file(o->of.file);

    if (o->kind == OP_WRITE && i->flags & ENV_JOURNAL)
        euv_thread_give(&uv->journal, op);
    else if (o->kind == OP_WRITE && !(o->flags & ENV_SYNC))
        euv_thread_give(&uv->writer, op);
    else
        euv_pool_give(uv, op);
}

static bool may_start(const struct euv_file *i, struct env_op *op)
{
    if (euv_op(op)->kind == OP_READ)
        return !i->writing || i->only_sync;
    return !i->writing && i->n_reads == 0;
}

static void start_those_who_may(struct euv_file *i)
{
    struct env_op *op;

    while ((op = i->head) && may_start(i, op)) {
        struct euv_op *o = euv_op(op);
        i->head = op->next;
        if (o->kind == OP_READ) {
            i->n_reads++;
        } else {
            i->writing = true;
            i->only_sync = o->kind == OP_WRITE && o->n == 0;
        }
        dispatch(op);
    }
}

static void submit(struct env_op *op, struct env_file *f, enum euv_kind kind)
{
    struct euv_file *i = euv_file(f);

    CHECK(i->fd >= 0);
    euv_op(op)->kind = (unsigned char)kind;
    euv_op(op)->of.file = f;
    if (i->head)
        i->tail->next = op;
    else
        i->head = op;
    i->tail = op;
    start_those_who_may(i);
}

void euv_op_ran(struct env_op *op)
{
    struct euv_op *o = euv_op(op);

    if (o->kind < OP_SYNC_DIR) {
        struct euv_file *i = euv_file(o->of.file);
        if (o->kind == OP_READ)
            i->n_reads--;
        else
            i->writing = i->only_sync = false;
        start_those_who_may(i);
    }
    euv_op_end(op, o->res);
}

static bool idle(const struct euv_file *i)
{
    return !i->head && !i->writing && i->n_reads == 0;
}

/* ---- files ---- */

int euv_file_open(struct env *e, struct env_file *f, const char *path, int flags, uint64_t *size)
{
    struct euv_file *i = euv_file(f);
    struct stat st;
    int fd, how = O_CLOEXEC | (flags & ENV_READ_ONLY ? O_RDONLY : O_RDWR) |
                  (flags & ENV_CREATE ? O_CREAT : 0);

    if (e->dead)
        return -ERR_CRASHED;
    do
        fd = open(path, how, 0644);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return last_error();
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return -ERR_INVALID;
    }
    memset(f, 0, sizeof *f);
    f->env = e;
    i->fd = fd;
    i->flags = (unsigned char)(flags & (ENV_READ_ONLY | ENV_JOURNAL));
    list_push(&euv_node(e)->files, &i->link);
    if (size)
        *size = (uint64_t)st.st_size;
    return 0;
}

void euv_file_close(struct env_file *f)
{
    struct euv_file *i = euv_file(f);

    if (i->fd < 0) /* its node was stopped */
        return;
    CHECK(idle(i));
    list_remove(&i->link);
    close(i->fd);
    i->fd = -1;
}

void euv_file_write(struct env_op *op, struct env_file *f, uint64_t at, const struct slice *v,
                    int n, int flags)
{
    struct euv_op *o = euv_op(op);

    if (!euv_op_begin(op, f->env))
        return;
    o->at = at;
    o->data.v = v;
    o->n = (size_t)n;
    o->flags = (unsigned short)flags;
    submit(op, f, OP_WRITE);
}

void euv_file_read(struct env_op *op, struct env_file *f, uint64_t at, struct span to)
{
    struct euv_op *o = euv_op(op);

    if (!euv_op_begin(op, f->env))
        return;
    o->at = at;
    o->data.p = to.p;
    o->n = to.n;
    submit(op, f, OP_READ);
}

void euv_file_truncate(struct env_op *op, struct env_file *f, uint64_t size)
{
    if (!euv_op_begin(op, f->env))
        return;
    euv_op(op)->at = size;
    submit(op, f, OP_TRUNCATE);
}

void euv_file_reserve(struct env_op *op, struct env_file *f, uint64_t at, uint64_t len, int flags)
{
    struct euv_op *o = euv_op(op);

    if (!euv_op_begin(op, f->env))
        return;
    o->at = at;
    o->data.len = len;
    o->flags = (unsigned short)flags;
    submit(op, f, OP_RESERVE);
}

int64_t euv_file_read_now(struct env_file *f, uint64_t at, struct span to)
{
    struct euv_file *i = euv_file(f);
    size_t got = 0;

    if (f->env->dead)
        return -ERR_CRASHED;
    if (i->head || (i->writing && !i->only_sync))
        return -ERR_AGAIN;
    while (got < to.n) {
        struct iovec iov = {to.p + got, to.n - got};
        ssize_t r = preadv2(i->fd, &iov, 1, (off_t)(at + got), RWF_NOWAIT);
        if (r == 0)
            break;
        if (r > 0)
            got += (size_t)r;
        else if (errno == EAGAIN || errno == EOPNOTSUPP)
            return -ERR_AGAIN;
        else if (errno != EINTR)
            return last_error();
    }
    return (int64_t)got;
}

int64_t euv_file_read_wait(struct env_file *f, uint64_t at, struct span to)
{
    if (f->env->dead)
        return -ERR_CRASHED;
    CHECK(idle(euv_file(f)));
    return read_all(euv_file(f)->fd, at, to.p, to.n);
}

int64_t euv_file_write_wait(struct env_file *f, uint64_t at, const struct slice *v, int n,
                            int flags)
{
    if (f->env->dead)
        return -ERR_CRASHED;
    CHECK(idle(euv_file(f)));
    return write_and_sync(euv_file(f), at, v, n, flags);
}

int euv_file_truncate_wait(struct env_file *f, uint64_t size)
{
    if (f->env->dead)
        return -ERR_CRASHED;
    CHECK(idle(euv_file(f)));
    return euv_file(f)->poisoned ? -ERR_IO : truncate_to(euv_file(f)->fd, size);
}

int64_t euv_file_size(struct env_file *f)
{
    struct stat st;

    if (f->env->dead)
        return -ERR_CRASHED;
    return fstat(euv_file(f)->fd, &st) != 0 ? last_error() : (int64_t)st.st_size;
}

void euv_files_forget(struct env_uv_node *node)
{
    LIST_EACH (l, &node->files) {
        struct euv_file *i = list_entry(l, struct euv_file, link);
        for (; i->head; i->head = i->head->next)
            node->n_ops--;
    }
}

void euv_files_close(struct env_uv_node *node)
{
    struct list *l;

    while ((l = list_first(&node->files))) {
        struct euv_file *i = list_entry(l, struct euv_file, link);
        list_remove(l);
        close(i->fd);
        i->fd = -1;
    }
    while (node->locks)
        euv_dir_unlock(&node->env, NULL);
}

/* ---- folders ---- */

int euv_dir_rename(struct env *e, const char *from, const char *to)
{
    if (e->dead)
        return -ERR_CRASHED;
    return rename(from, to) != 0 ? last_error() : 0;
}

int euv_dir_mkdir(struct env *e, const char *path)
{
    if (e->dead)
        return -ERR_CRASHED;
    return mkdir(path, 0755) != 0 ? last_error() : 0;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All names first, sorted, then `each`: it may change the folder. */
int euv_dir_list(struct env *e, const char *dir, void (*each)(void *u, const char *name), void *u)
{
    char **names = NULL;
    size_t n = 0, cap = 0;
    struct dirent *d;
    DIR *h;
    int r = 0;

    if (e->dead)
        return -ERR_CRASHED;
    h = opendir(dir);
    if (!h)
        return last_error();
    while (errno = 0, (d = readdir(h))) {
        if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
            continue;
        if (n == cap) {
            cap = cap ? cap * 2 : 64;
            char **more = realloc(names, cap * sizeof *names);
            CHECK(more);
            names = more;
        }
        names[n] = strdup(d->d_name);
        CHECK(names[n]);
        n++;
    }
    if (errno)
        r = last_error();
    closedir(h);
    if (n)
        qsort(names, n, sizeof *names, by_bytes);
    for (size_t i = 0; i < n; i++) {
        if (r == 0 && !e->dead)
            each(u, names[i]);
        free(names[i]);
    }
    free(names);
    return r;
}

struct env_uv_lock {
    struct env_uv_lock *next;
    int fd;
    char path[];
};

int euv_dir_lock(struct env *e, const char *path)
{
    struct env_uv_node *node = euv_node(e);
    struct env_uv_lock *k;
    int fd;

    if (e->dead)
        return -ERR_CRASHED;
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0)
        return last_error();
    k = malloc(sizeof *k + strlen(path) + 1);
    if (!k || flock(fd, LOCK_EX | LOCK_NB) != 0) {
        int r = !k ? -ERR_NOMEM : errno == EWOULDBLOCK ? -ERR_BUSY : last_error();
        free(k);
        close(fd);
        return r;
    }
    k->fd = fd;
    strcpy(k->path, path);
    k->next = node->locks;
    node->locks = k;
    return 0;
}

void euv_dir_unlock(struct env *e, const char *path) /* NULL: any one */
{
    for (struct env_uv_lock **at = &euv_node(e)->locks; *at; at = &(*at)->next) {
        struct env_uv_lock *k = *at;
        if (path && strcmp(k->path, path) != 0)
            continue;
        *at = k->next;
        close(k->fd);
        free(k);
        return;
    }
}

static int read_boot_id(unsigned char boot[16])
{
    char text[37] = {0};
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC), n = 0;

    if (fd < 0)
        return last_error();
    if (read_all(fd, 0, (unsigned char *)text, 36) != 36) {
        close(fd);
        return -ERR_IO;
    }
    close(fd);
    for (const char *c = text; *c && n < 32; c++) {
        const char *hex = "0123456789abcdef", *at = strchr(hex, *c);
        if (!at)
            continue;
        boot[n / 2] = (unsigned char)(boot[n / 2] << 4 | (at - hex));
        n++;
    }
    return n == 32 ? 0 : -ERR_IO;
}

int euv_dir_identify(struct env *e, const char *path, struct env_id *id)
{
    struct statx st;

    if (e->dead)
        return -ERR_CRASHED;
    if (statx(AT_FDCWD, path, 0, STATX_INO | STATX_BTIME, &st) != 0)
        return last_error();
    memset(id, 0, sizeof *id);
    id->device = makedev(st.stx_dev_major, st.stx_dev_minor);
    id->inode = st.stx_ino;
    if (st.stx_mask & STATX_BTIME)
        id->birth_ns = (uint64_t)st.stx_btime.tv_sec * 1000000000u + st.stx_btime.tv_nsec;
    return read_boot_id(id->boot);
}

int64_t euv_dir_space_free(struct env *e, const char *path)
{
    struct statvfs st;

    if (e->dead)
        return -ERR_CRASHED;
    if (statvfs(path, &st) != 0)
        return last_error();
    return (int64_t)(st.f_bavail * st.f_frsize);
}

static int open_dir(const char *dir)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? last_error() : fd;
}

/* The name goes at once; a handle that is left open keeps the space until it is closed. *fd: -1 if
 * there is none. */
static int unlink_or_rmdir(const char *path, int *fd)
{
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (unlink(path) == 0)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return last_error();
    return rmdir(path) != 0 ? last_error() : 0;
}

void euv_dir_sync(struct env_op *op, struct env *e, const char *dir)
{
    int fd;

    if (!euv_op_begin(op, e))
        return;
    fd = open_dir(dir);
    euv_op(op)->kind = OP_SYNC_DIR;
    euv_op(op)->fd = fd;
    if (fd < 0)
        euv_op_end_later(op, fd);
    else
        euv_pool_give(euv_node(e)->uv, op);
}

void euv_dir_remove(struct env_op *op, struct env *e, const char *path)
{
    int r;

    if (!euv_op_begin(op, e))
        return;
    r = unlink_or_rmdir(path, &euv_op(op)->fd);
    euv_op(op)->kind = OP_CLOSE_FD;
    if (r == 0 && euv_op(op)->fd >= 0) {
        euv_pool_give(euv_node(e)->uv, op);
        return;
    }
    if (euv_op(op)->fd >= 0)
        close(euv_op(op)->fd);
    euv_op_end_later(op, r);
}

int euv_dir_sync_wait(struct env *e, const char *dir)
{
    int fd;

    if (e->dead)
        return -ERR_CRASHED;
    fd = open_dir(dir);
    return fd < 0 ? fd : (int)sync_and_close(fd);
}

int euv_dir_remove_wait(struct env *e, const char *path)
{
    int fd, r;

    if (e->dead)
        return -ERR_CRASHED;
    r = unlink_or_rmdir(path, &fd);
    if (fd >= 0)
        close(fd);
    return r;
}

/* base/sim_file.c - files and folders of a simulated node, on its host's disk (sim_disk.h).
 *
 * Ops of a file form a queue and take effect one by one when they come due; a crash lets a drawn
 * number of those under way take effect, the next one in part, and calls nobody. A *_wait call
 * takes effect at once, unless a hook asks for a crash there. */
#include "base/sim_impl.h"
#include <stdlib.h>

/* Asked before a *_wait call takes effect: is there none any more? */
#define WAIT_GUARD(n, call)                                                                        \
    if ((n)->env.dead || sim_strike((n), sim_wait_fault((n), (call))))                             \
    return -ERR_CRASHED

/* ---- files ---- */

int sim_file_open(struct env *e, struct env_file *f, const char *path, int flags, uint64_t *size)
{
    struct sim_node *n = sim_node(e);
    struct sim_inode *inode;
    int r;

    if (e->dead)
        return -ERR_CRASHED;
    r = sim_disk_open(&n->host->disk, path, flags, n->sim->now, &inode);
    if (r < 0)
        return r;
    memset(f, 0, sizeof *f);
    f->env = e;
    sim_file(f)->inode = inode;
    list_push(&n->files, &sim_file(f)->link);
    if (size)
        *size = sim_disk_size(inode);
    return 0;
}

void sim_file_close(struct env_file *f)
{
    struct sim_file *i = sim_file(f);

    if (!i->inode) /* went with its process */
        return;
    CHECK(!i->head);
    list_remove(&i->link);
    sim_disk_close(&sim_node(f->env)->host->disk, i->inode);
    i->inode = NULL;
}

static uint64_t bytes_of(const struct slice *v, int n)
{
    uint64_t total = 0;
    for (int k = 0; k < n; k++)
        total += v[k].n;
    return total;
}

static uint64_t duration(struct sim_node *n, struct sim_op *o)
{
    struct sim_timing *t = &n->sim->timing;
    uint64_t *rng = n->sim->rng, d = 0, sync;

    if (o->kind == SOP_READ)
        return sim_draw(rng, t->read) + o->to.n / 4;
    if (o->kind != SOP_WRITE || o->n > 0)
        d = sim_draw(rng, t->write) + (o->kind == SOP_WRITE ? bytes_of(o->v, o->n) : o->len) / 4;
    if (o->flags & ENV_SYNC) {
        sync = sim_draw(rng, t->sync);
        d += sim_chance(rng, t->slow_sync) ? sync * t->slow_factor : sync;
    }
    return d;
}

static void submit(struct env_op *op, struct env_file *f, enum sim_op_kind kind)
{
    struct sim_node *n = sim_node(f->env);
    struct sim_file *i = sim_file(f);
    struct sim_op *o = sim_op(op);
    uint64_t from = n->sim->now;

    CHECK(i->inode);
    o->kind = kind;
    o->file = f;
    o->fifo_next = NULL;
    if (i->head) {
        sim_op(i->tail)->fifo_next = op;
        if (sim_op(i->tail)->due > from)
            from = sim_op(i->tail)->due;
    } else {
        i->head = op;
    }
    i->tail = op;
    o->due = from + duration(n, o);
    sim_push_op(n, o->due, op);
}

static int64_t write_and_sync(struct sim_disk *d, struct sim_file *i, uint64_t at,
                              const struct slice *v, int n, int flags)
{
    int64_t r;

    if (i->poisoned)
        return -ERR_IO;
    r = n > 0 ? sim_disk_write(d, i->inode, at, v, n) : 0;
    if (r >= 0 && flags & ENV_SYNC && sim_disk_sync(d, i->inode) < 0) {
        i->poisoned = true;
        return -ERR_IO;
    }
    return r;
}

static int64_t reserve(struct sim_disk *d, struct sim_file *i, struct sim_op *o)
{
    int r = i->poisoned ? -ERR_IO : sim_disk_reserve(d, i->inode, o->at, o->len, o->flags);
    if (r == -ERR_IO)
        i->poisoned = true;
    return r;
}

static int64_t take_effect(struct sim_node *n, struct env_op *op)
{
    struct sim_op *o = sim_op(op);
    struct sim_file *i = sim_file(o->file);
    struct sim_disk *d = &n->host->disk;

    switch (o->kind) {
    case SOP_WRITE: return write_and_sync(d, i, o->at, o->v, o->n, o->flags);
    case SOP_READ: return sim_disk_read(d, i->inode, o->at, o->to);
    case SOP_TRUNCATE: return i->poisoned ? -ERR_IO : sim_disk_truncate(d, i->inode, o->at);
    case SOP_RESERVE: return reserve(d, i, o);
    default: CHECK(!"an op of a file"); return 0;
    }
}

void sim_file_event(struct sim_node *n, struct env_op *op)
{
    struct sim_op *o = sim_op(op);

    if (o->kind == SOP_WORK) {
        o->res = o->run(op);
    } else if (o->kind != SOP_DONE) {
        struct sim_file *i = sim_file(o->file);
        CHECK(i->head == op);
        i->head = o->fifo_next;
        o->res = take_effect(n, op);
    }
    sim_ready(n, op, o->res);
}

void sim_file_write(struct env_op *op, struct env_file *f, uint64_t at, const struct slice *v,
                    int n, int flags)
{
    struct sim_op *o = sim_op(op);

    if (!sim_op_begin(op, f->env))
        return;
    o->at = at;
    o->v = v;
    o->n = n;
    o->flags = flags;
    submit(op, f, SOP_WRITE);
}

void sim_file_read(struct env_op *op, struct env_file *f, uint64_t at, struct span to)
{
    struct sim_op *o = sim_op(op);

    if (!sim_op_begin(op, f->env))
        return;
    o->at = at;
    o->to = to;
    submit(op, f, SOP_READ);
}

void sim_file_truncate(struct env_op *op, struct env_file *f, uint64_t size)
{
    struct sim_op *o = sim_op(op);

    if (!sim_op_begin(op, f->env))
        return;
    o->at = size;
    o->len = 0;
    o->flags = 0;
    submit(op, f, SOP_TRUNCATE);
}

void sim_file_reserve(struct env_op *op, struct env_file *f, uint64_t at, uint64_t len, int flags)
{
    struct sim_op *o = sim_op(op);

    if (!sim_op_begin(op, f->env))
        return;
    o->at = at;
    o->len = len;
    o->flags = flags;
    submit(op, f, SOP_RESERVE);
}

int64_t sim_file_read_now(struct env_file *f, uint64_t at, struct span to)
{
    struct sim_node *n = sim_node(f->env);

    if (f->env->dead)
        return -ERR_CRASHED;
    for (struct env_op *op = sim_file(f)->head; op; op = sim_op(op)->fifo_next)
        if (sim_op(op)->kind != SOP_READ && (sim_op(op)->kind != SOP_WRITE || sim_op(op)->n > 0))
            return -ERR_AGAIN;
    if (sim_chance(n->sim->rng, n->sim->timing.again))
        return -ERR_AGAIN;
    return sim_disk_read(&n->host->disk, sim_file(f)->inode, at, to);
}

int64_t sim_file_read_wait(struct env_file *f, uint64_t at, struct span to)
{
    struct sim_node *n = sim_node(f->env);

    WAIT_GUARD(n, "read_wait");
    CHECK(!sim_file(f)->head);
    return sim_disk_read(&n->host->disk, sim_file(f)->inode, at, to);
}

int64_t sim_file_write_wait(struct env_file *f, uint64_t at, const struct slice *v, int n,
                            int flags)
{
    struct sim_node *node = sim_node(f->env);
    enum sim_fault fault;

    if (f->env->dead)
        return -ERR_CRASHED;
    CHECK(!sim_file(f)->head);
    fault = sim_wait_fault(node, "write_wait");
    if (fault != SIM_NOTHING) { /* some of it may be there */
        sim_disk_write_part(&node->host->disk, sim_file(f)->inode, at, v, n,
                            rng_below(node->sim->rng, bytes_of(v, n) + 1));
        if (sim_strike(node, fault))
            return -ERR_CRASHED;
    }
    return write_and_sync(&node->host->disk, sim_file(f), at, v, n, flags);
}

int sim_file_truncate_wait(struct env_file *f, uint64_t size)
{
    struct sim_node *n = sim_node(f->env);

    WAIT_GUARD(n, "truncate_wait");
    CHECK(!sim_file(f)->head);
    return sim_file(f)->poisoned ? -ERR_IO
                                 : sim_disk_truncate(&n->host->disk, sim_file(f)->inode, size);
}

int64_t sim_file_size(struct env_file *f)
{
    if (f->env->dead)
        return -ERR_CRASHED;
    return (int64_t)sim_disk_size(sim_file(f)->inode);
}

/* ---- folders ---- */

int sim_file_rename(struct env *e, const char *from, const char *to)
{
    if (e->dead)
        return -ERR_CRASHED;
    return sim_disk_rename(&sim_node(e)->host->disk, from, to);
}

int sim_file_mkdir(struct env *e, const char *path)
{
    if (e->dead)
        return -ERR_CRASHED;
    return sim_disk_mkdir(&sim_node(e)->host->disk, path, sim_node(e)->sim->now);
}

int sim_file_list(struct env *e, const char *dir, void (*each)(void *u, const char *name), void *u)
{
    if (e->dead)
        return -ERR_CRASHED;
    return sim_disk_list(&sim_node(e)->host->disk, dir, each, u);
}

int sim_file_lock(struct env *e, const char *path)
{
    struct sim_node *n = sim_node(e);
    struct sim_inode *inode;
    struct sim_lock *k;
    int r;

    if (e->dead)
        return -ERR_CRASHED;
    LIST_EACH (l, &n->host->locks)
        if (strcmp(list_entry(l, struct sim_lock, link)->path, path) == 0)
            return -ERR_BUSY;
    r = sim_disk_open(&n->host->disk, path, ENV_CREATE, n->sim->now, &inode);
    if (r < 0)
        return r;
    sim_disk_close(&n->host->disk, inode);
    k = malloc(sizeof *k + strlen(path) + 1);
    CHECK(k);
    k->owner = n;
    strcpy(k->path, path);
    list_push(&n->host->locks, &k->link);
    return 0;
}

void sim_file_unlock(struct env *e, const char *path) /* NULL: all of this node */
{
    struct sim_node *n = sim_node(e);

    LIST_EACH_SAFE (l, next, &n->host->locks) {
        struct sim_lock *k = list_entry(l, struct sim_lock, link);
        if (k->owner != n || (path && strcmp(k->path, path) != 0))
            continue;
        list_remove(l);
        free(k);
    }
}

int sim_file_identify(struct env *e, const char *path, struct env_id *id)
{
    if (e->dead)
        return -ERR_CRASHED;
    return sim_disk_identify(&sim_node(e)->host->disk, path, id);
}

int64_t sim_file_space_free(struct env *e, const char *path)
{
    (void)path;
    if (e->dead)
        return -ERR_CRASHED;
    return (int64_t)sim_disk_free(&sim_node(e)->host->disk);
}

void sim_file_sync_dir(struct env_op *op, struct env *e, const char *dir)
{
    struct sim_node *n = sim_node(e);
    struct sim_dir_sync *x;

    if (!sim_op_begin(op, e))
        return;
    x = malloc(sizeof *x + strlen(dir) + 1);
    CHECK(x);
    x->op = op;
    strcpy(x->path, dir);
    sim_push(n->sim, n->sim->now + sim_draw(n->sim->rng, n->sim->timing.sync),
             (struct sim_event){
                 .p = x, .kind = EV_SYNC_DIR, .node = n->id, .incarnation = n->incarnation});
}

void sim_file_remove(struct env_op *op, struct env *e, const char *path)
{
    struct sim_node *n = sim_node(e);

    if (!sim_op_begin(op, e))
        return;
    sim_op(op)->kind = SOP_DONE;
    sim_op(op)->res = sim_disk_remove(&n->host->disk, path);
    sim_push_op(n, n->sim->now + sim_draw(n->sim->rng, n->sim->timing.write), op);
}

int sim_file_sync_dir_wait(struct env *e, const char *dir)
{
    struct sim_node *n = sim_node(e);

    WAIT_GUARD(n, "sync_dir_wait");
    return sim_disk_sync_dir(&n->host->disk, dir);
}

int sim_file_remove_wait(struct env *e, const char *path)
{
    struct sim_node *n = sim_node(e);

    WAIT_GUARD(n, "remove_wait");
    return sim_disk_remove(&n->host->disk, path);
}

/* Ops under way took effect up to a drawn one, that one in part. */
void sim_files_down(struct sim_node *n)
{
    struct list *l;

    while ((l = list_first(&n->files))) {
        struct sim_file *i = list_entry(l, struct sim_file, link);
        uint64_t under_way = 0, whole;
        struct env_op *op;
        for (op = i->head; op; op = sim_op(op)->fifo_next)
            under_way++;
        whole = under_way ? rng_below(n->sim->rng, under_way + 1) : 0;
        for (op = i->head; op && whole > 0; op = sim_op(op)->fifo_next, whole--)
            if (sim_op(op)->kind != SOP_READ)
                (void)take_effect(n, op);
        if (op && sim_op(op)->kind == SOP_WRITE && !i->poisoned) {
            struct sim_op *o = sim_op(op);
            uint64_t bytes = bytes_of(o->v, o->n); /* often all of them: only the sync is missing */
            if (rng_below(n->sim->rng, 2))
                bytes = rng_below(n->sim->rng, bytes + 1);
            sim_disk_write_part(&n->host->disk, i->inode, o->at, o->v, o->n, bytes);
        }
        list_remove(l);
        i->head = NULL;
        sim_disk_close(&n->host->disk, i->inode);
        i->inode = NULL;
    }
}

/* base/sim_disk.c - see sim_disk.h for the model.
 *
 * An inode lives while something names it: an entry of a folder now, a durable entry, an open
 * handle, or an unsynced change of a folder. Its bytes count against the quota while an entry or a
 * handle of the present holds it. */
#include "base/sim_disk.h"
#include "base/rng.h"
#include <stdlib.h>

enum { SECTOR = 512, FILE_MAX = 1 << 30 };

struct bytes {
    unsigned char *p;
    size_t n, cap;
};
enum change_kind { WRITE, ZERO, TRUNCATE };
struct change { /* of a file, not synced */
    struct change *next;
    uint64_t at, len; /* TRUNCATE: at is the size */
    enum change_kind kind;
    bool doomed; /* a sync of it failed */
    unsigned char data[];
};
struct entry {
    char *name;
    struct sim_inode *inode;
};
struct names { /* sorted bytewise */
    struct entry *v;
    size_t n, cap;
};
struct sim_inode {
    struct list link; /* disk->inodes */
    uint64_t ino, birth;
    uint32_t refs, holds; /* all; those of the present (entries now, open handles) */
    bool is_dir;
    struct names now, durable;   /* a folder's */
    struct bytes cur, dur;       /* a file's */
    struct change *first, *last; /* a file's */
    uint64_t reserved;           /* space beyond the size */
    uint64_t counted;            /* of disk->used */
};
struct
    dir_op { /* take from_name out of from, put inode under to_name into to; either may be absent */
    struct list link;
    struct sim_inode *from, *to, *inode;
    char *from_name, *to_name;
};

/* ---- memory ---- */

static void *take(void *p)
{
    CHECK(p);
    return p;
}

static void bytes_resize(struct bytes *b, size_t n)
{
    if (n > b->cap) {
        b->cap = n < 4096 ? 4096 : n + n / 2;
        b->p = take(realloc(b->p, b->cap));
    }
    if (n > b->n)
        memset(b->p + b->n, 0, n - b->n);
    b->n = n;
}

static void bytes_put(struct bytes *b, uint64_t at, const unsigned char *p, size_t n)
{
    if (n == 0)
        return;
    if (at + n > b->n)
        bytes_resize(b, at + n);
    if (p)
        memcpy(b->p + at, p, n);
    else
        memset(b->p + at, 0, n);
}

static size_t names_find(const struct names *s, const char *name, bool *found)
{
    size_t lo = 0, hi = s->n;

    *found = false;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        int c = strcmp(s->v[mid].name, name);
        if (c == 0) {
            *found = true;
            return mid;
        }
        if (c < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static struct sim_inode *names_get(const struct names *s, const char *name)
{
    bool found;
    size_t i = names_find(s, name, &found);
    return found ? s->v[i].inode : NULL;
}

/* ---- the life of an inode ---- */

static void recount(struct sim_disk *d, struct sim_inode *i)
{
    uint64_t c = 0;

    if (i->holds)
        c = i->reserved > i->cur.n ? i->reserved : i->cur.n;
    d->used = d->used - i->counted + c;
    i->counted = c;
}

static void drop_changes(struct sim_inode *i)
{
    while (i->first) {
        struct change *c = i->first;
        i->first = c->next;
        free(c);
    }
    i->last = NULL;
}

static void names_clear(struct sim_disk *d, struct names *s, bool holds);

static void unref(struct sim_disk *d, struct sim_inode *i)
{
    CHECK(i->refs > 0);
    if (--i->refs)
        return;
    CHECK(i->holds == 0);
    recount(d, i);
    list_remove(&i->link);
    names_clear(d, &i->now, true);
    names_clear(d, &i->durable, false);
    drop_changes(i);
    free(i->cur.p);
    free(i->dur.p);
    free(i);
}

static void hold(struct sim_disk *d, struct sim_inode *i)
{
    i->refs++;
    i->holds++;
    recount(d, i);
}

static void unhold(struct sim_disk *d, struct sim_inode *i)
{
    CHECK(i->holds > 0);
    i->holds--;
    recount(d, i);
    unref(d, i);
}

static void names_drop(struct sim_disk *d, struct sim_inode *i, bool holds)
{
    if (holds)
        unhold(d, i);
    else
        unref(d, i);
}

static void names_clear(struct sim_disk *d, struct names *s, bool holds)
{
    for (size_t i = 0; i < s->n; i++) {
        free(s->v[i].name);
        names_drop(d, s->v[i].inode, holds);
    }
    free(s->v);
    memset(s, 0, sizeof *s);
}

/* inode NULL: the name goes. */
static void names_set(struct sim_disk *d, struct names *s, const char *name,
                      struct sim_inode *inode, bool holds)
{
    bool found;
    size_t i = names_find(s, name, &found);
    struct sim_inode *old = found ? s->v[i].inode : NULL;

    if (inode && holds)
        hold(d, inode);
    else if (inode)
        inode->refs++;
    if (inode && !found) {
        if (s->n == s->cap) {
            s->cap = s->cap ? s->cap * 2 : 8;
            s->v = take(realloc(s->v, s->cap * sizeof *s->v));
        }
        memmove(s->v + i + 1, s->v + i, (s->n - i) * sizeof *s->v);
        s->v[i].name = take(strdup(name));
        s->n++;
    }
    if (inode)
        s->v[i].inode = inode;
    if (!inode && found) {
        free(s->v[i].name);
        memmove(s->v + i, s->v + i + 1, (s->n - i - 1) * sizeof *s->v);
        s->n--;
    }
    if (old)
        names_drop(d, old, holds);
}

static struct sim_inode *inode_new(struct sim_disk *d, bool is_dir, uint64_t now)
{
    struct sim_inode *i = take(calloc(1, sizeof *i));
    i->ino = d->next_ino++;
    i->birth = now;
    i->is_dir = is_dir;
    list_push(&d->inodes, &i->link);
    return i;
}

static void new_boot(struct sim_disk *d)
{
    for (int k = 0; k < 2; k++) {
        uint64_t r = rng_next(d->rng);
        memcpy(d->boot + 8 * k, &r, 8);
    }
}

void sim_disk_init(struct sim_disk *d, uint64_t seed, uint64_t device)
{
    memset(d, 0, sizeof *d);
    list_init(&d->inodes);
    list_init(&d->dir_ops);
    rng_seed(d->rng, seed);
    d->device = device;
    d->next_ino = 2;
    d->quota = UINT64_MAX;
    d->root = inode_new(d, true, 0);
    hold(d, d->root);
    new_boot(d);
}

static void dir_op_free(struct sim_disk *d, struct dir_op *o)
{
    struct sim_inode *v[] = {o->from, o->to, o->inode};

    list_remove(&o->link);
    free(o->from_name);
    free(o->to_name);
    free(o);
    for (int k = 0; k < 3; k++)
        if (v[k])
            unref(d, v[k]);
}

void sim_disk_deinit(struct sim_disk *d)
{
    struct list *l;

    while ((l = list_first(&d->dir_ops)))
        dir_op_free(d, list_entry(l, struct dir_op, link));
    unhold(d, d->root);
    CHECK(list_empty(&d->inodes));
}

/* ---- paths ---- */

/* The folder that path's last name lies in, and that name; NULL if a folder on the way
 * is missing. */
static struct sim_inode *parent_of(struct sim_disk *d, const char *path, char last[256])
{
    struct sim_inode *dir = d->root;

    last[0] = 0;
    for (;;) {
        size_t n;
        while (*path == '/')
            path++;
        n = strcspn(path, "/");
        if (n == 0)
            return dir;
        if (n == 1 && *path == '.') {
            path++;
            continue;
        }
        if (last[0]) {
            dir = names_get(&dir->now, last);
            if (!dir || !dir->is_dir)
                return NULL;
        }
        if (n > 255)
            return NULL;
        memcpy(last, path, n);
        last[n] = 0;
        path += n;
    }
}

static struct sim_inode *find(struct sim_disk *d, const char *path)
{
    char last[256];
    struct sim_inode *dir = parent_of(d, path, last);

    if (!dir || !last[0])
        return dir;
    return names_get(&dir->now, last);
}

/* ---- folders ---- */

/* A change of the present, and its record for the durable side. */
static void dir_change(struct sim_disk *d, struct sim_inode *from, const char *from_name,
                       struct sim_inode *to, const char *to_name, struct sim_inode *inode)
{
    struct dir_op *o = take(calloc(1, sizeof *o));

    o->inode = inode;
    inode->refs++;
    if (to) {
        o->to = to;
        to->refs++;
        o->to_name = take(strdup(to_name));
        names_set(d, &to->now, to_name, inode, true);
    }
    if (from) {
        o->from = from;
        from->refs++;
        o->from_name = take(strdup(from_name));
        names_set(d, &from->now, from_name, NULL, true);
    }
    list_push(&d->dir_ops, &o->link);
}

/* Only a name that still stands for this inode is taken out: the record that put it there may have
 * been forgotten. */
static void dir_op_apply(struct sim_disk *d, struct dir_op *o)
{
    if (o->to)
        names_set(d, &o->to->durable, o->to_name, o->inode, false);
    if (o->from && names_get(&o->from->durable, o->from_name) == o->inode)
        names_set(d, &o->from->durable, o->from_name, NULL, false);
}

int sim_disk_open(struct sim_disk *d, const char *path, int flags, uint64_t now,
                  struct sim_inode **out)
{
    char last[256];
    struct sim_inode *dir = parent_of(d, path, last), *i;

    if (!dir)
        return -ERR_NOT_FOUND;
    i = last[0] ? names_get(&dir->now, last) : dir;
    if (i && i->is_dir)
        return -ERR_INVALID;
    if (!i && !(flags & ENV_CREATE))
        return -ERR_NOT_FOUND;
    if (!i) {
        i = inode_new(d, false, now);
        dir_change(d, NULL, NULL, dir, last, i);
    }
    hold(d, i);
    *out = i;
    return 0;
}

void sim_disk_close(struct sim_disk *d, struct sim_inode *i)
{
    unhold(d, i);
}

static bool within(struct sim_inode *dir, struct sim_inode *of)
{
    if (dir == of)
        return true;
    for (size_t k = 0; k < of->now.n; k++)
        if (within(dir, of->now.v[k].inode))
            return true;
    return false;
}

int sim_disk_rename(struct sim_disk *d, const char *from, const char *to)
{
    char a[256], b[256];
    struct sim_inode *from_dir = parent_of(d, from, a), *to_dir = parent_of(d, to, b), *i, *old;

    if (!from_dir || !to_dir || !a[0] || !b[0])
        return -ERR_NOT_FOUND;
    i = names_get(&from_dir->now, a);
    old = names_get(&to_dir->now, b);
    if (!i)
        return -ERR_NOT_FOUND;
    if (i == old)
        return 0;
    if (old && old->is_dir && (!i->is_dir || old->now.n > 0))
        return -ERR_EXISTS;
    if (i->is_dir && ((old && !old->is_dir) || within(to_dir, i)))
        return -ERR_INVALID;
    dir_change(d, from_dir, a, to_dir, b, i);
    return 0;
}

int sim_disk_mkdir(struct sim_disk *d, const char *path, uint64_t now)
{
    char last[256];
    struct sim_inode *dir = parent_of(d, path, last);

    if (!dir)
        return -ERR_NOT_FOUND;
    if (!last[0] || names_get(&dir->now, last))
        return -ERR_EXISTS;
    dir_change(d, NULL, NULL, dir, last, inode_new(d, true, now));
    return 0;
}

int sim_disk_list(struct sim_disk *d, const char *dir, void (*each)(void *u, const char *name),
                  void *u)
{
    struct sim_inode *i = find(d, dir);
    char **names;
    size_t n;

    if (!i || !i->is_dir)
        return -ERR_NOT_FOUND;
    n = i->now.n;
    names = take(malloc((n + 1) * sizeof *names));
    for (size_t k = 0; k < n; k++)
        names[k] = take(strdup(i->now.v[k].name));
    for (size_t k = 0; k < n; k++) {
        each(u, names[k]);
        free(names[k]);
    }
    free(names);
    return 0;
}

int sim_disk_remove(struct sim_disk *d, const char *path)
{
    char last[256];
    struct sim_inode *dir = parent_of(d, path, last), *i;

    i = dir && last[0] ? names_get(&dir->now, last) : NULL;
    if (!i)
        return -ERR_NOT_FOUND;
    if (i->is_dir && i->now.n > 0)
        return -ERR_EXISTS;
    dir_change(d, dir, last, NULL, NULL, i);
    return 0;
}

int sim_disk_is_dir(struct sim_disk *d, const char *path)
{
    struct sim_inode *i = find(d, path);
    return i && i->is_dir ? 0 : -ERR_NOT_FOUND;
}

static bool sync_fails(struct sim_disk *d)
{
    if (d->fail_syncs) {
        d->fail_syncs--;
        return true;
    }
    return d->sync_fails && rng_below(d->rng, 1000000) < d->sync_fails;
}

int sim_disk_sync_dir(struct sim_disk *d, const char *path)
{
    struct sim_inode *dir = find(d, path);

    if (!dir || !dir->is_dir)
        return -ERR_NOT_FOUND;
    if (sync_fails(d))
        return -ERR_IO;
    dir->refs++; /* a record may hold the last reference but this */
    LIST_EACH_SAFE (l, next, &d->dir_ops) {
        struct dir_op *o = list_entry(l, struct dir_op, link);
        if (o->from != dir && o->to != dir)
            continue;
        dir_op_apply(d, o);
        dir_op_free(d, o);
    }
    unref(d, dir);
    return 0;
}

int sim_disk_identify(struct sim_disk *d, const char *path, struct env_id *id)
{
    struct sim_inode *i = find(d, path);

    if (!i)
        return -ERR_NOT_FOUND;
    memset(id, 0, sizeof *id);
    id->device = d->device;
    id->inode = i->ino;
    id->birth_ns = i->birth;
    memcpy(id->boot, d->boot, 16);
    return 0;
}

uint64_t sim_disk_free(const struct sim_disk *d)
{
    uint64_t cap = d->quota == UINT64_MAX ? (uint64_t)1 << 40 : d->quota;
    return d->used >= cap ? 0 : cap - d->used;
}

/* ---- files ---- */

uint64_t sim_disk_size(const struct sim_inode *i)
{
    return i->cur.n;
}

int64_t sim_disk_read(struct sim_disk *d, struct sim_inode *i, uint64_t at, struct span to)
{
    size_t n;

    if (d->read_fails && rng_below(d->rng, 1000000) < d->read_fails)
        return -ERR_IO;
    if (at >= i->cur.n)
        return 0;
    n = i->cur.n - at < to.n ? i->cur.n - at : to.n;
    memcpy(to.p, i->cur.p + at, n);
    return (int64_t)n;
}

static struct change *change_add(struct sim_inode *i, enum change_kind kind, uint64_t at,
                                 uint64_t len, size_t data)
{
    struct change *c = take(malloc(sizeof *c + data));

    c->next = NULL;
    c->kind = kind;
    c->at = at;
    c->len = len;
    c->doomed = false;
    if (i->last)
        i->last->next = c;
    else
        i->first = c;
    i->last = c;
    return c;
}

void sim_disk_write_part(struct sim_disk *d, struct sim_inode *i, uint64_t at,
                         const struct slice *v, int n, uint64_t bytes)
{
    struct change *c;
    uint64_t have = 0;

    if (bytes == 0)
        return;
    c = change_add(i, WRITE, at, bytes, bytes);
    for (int k = 0; k < n && have < bytes; k++) {
        size_t m = v[k].n < bytes - have ? v[k].n : bytes - have;
        if (m)
            memcpy(c->data + have, v[k].p, m);
        have += m;
    }
    CHECK(have == bytes);
    bytes_put(&i->cur, at, c->data, bytes);
    recount(d, i);
}

/* How much of [at, at + len) the disk has room for. */
static uint64_t room(const struct sim_disk *d, const struct sim_inode *i, uint64_t at, uint64_t len)
{
    uint64_t have = i->counted, end = at + len, left = d->quota > d->used ? d->quota - d->used : 0;

    if (end <= have || end - have <= left)
        return len;
    return have + left > at ? have + left - at : 0;
}

int64_t sim_disk_write(struct sim_disk *d, struct sim_inode *i, uint64_t at, const struct slice *v,
                       int n)
{
    uint64_t total = 0, fits;

    for (int k = 0; k < n; k++)
        total += v[k].n;
    if (at + total > FILE_MAX)
        return -ERR_TOO_BIG;
    if (total && d->write_fails && rng_below(d->rng, 1000000) < d->write_fails) {
        sim_disk_write_part(d, i, at, v, n, rng_below(d->rng, room(d, i, at, total) + 1));
        return -ERR_IO;
    }
    fits = room(d, i, at, total);
    sim_disk_write_part(d, i, at, v, n, fits);
    return fits < total ? -ERR_NO_SPACE : (int64_t)total;
}

static void change_apply(struct bytes *b, const struct change *c)
{
    switch (c->kind) {
    case WRITE: bytes_put(b, c->at, c->data, c->len); break;
    case ZERO: bytes_put(b, c->at, NULL, c->len); break;
    case TRUNCATE: bytes_resize(b, c->at); break;
    }
}

int sim_disk_sync(struct sim_disk *d, struct sim_inode *i)
{
    if (sync_fails(d)) {
        for (struct change *c = i->first; c; c = c->next)
            c->doomed = true;
        return -ERR_IO;
    }
    for (struct change *c = i->first; c; c = c->next)
        if (!c->doomed)
            change_apply(&i->dur, c);
    drop_changes(i);
    return 0;
}

int sim_disk_truncate(struct sim_disk *d, struct sim_inode *i, uint64_t size)
{
    if (size > FILE_MAX)
        return -ERR_TOO_BIG;
    bytes_resize(&i->cur, size);
    if (i->reserved > size)
        i->reserved = size;
    change_add(i, TRUNCATE, size, 0, 0);
    recount(d, i);
    return 0;
}

int sim_disk_reserve(struct sim_disk *d, struct sim_inode *i, uint64_t at, uint64_t len, int flags)
{
    if (at + len > FILE_MAX)
        return -ERR_TOO_BIG;
    if (room(d, i, at, len) < len)
        return -ERR_NO_SPACE;
    if (flags & ENV_ZEROED && len) {
        change_add(i, ZERO, at, len, 0);
        bytes_put(&i->cur, at, NULL, len);
    } else if (at + len > i->reserved) {
        i->reserved = at + len;
    }
    recount(d, i);
    return flags & ENV_SYNC ? sim_disk_sync(d, i) : 0;
}

/* ---- power cut ---- */

/* Part of a write, by whole sectors of the disk: up to one, or any of them. */
static void tear(struct sim_disk *d, struct bytes *b, const struct change *c)
{
    uint64_t end = c->at + c->len, sectors = (end - 1) / SECTOR - c->at / SECTOR + 1;
    bool prefix = rng_below(d->rng, 2) == 0;
    uint64_t keep = rng_below(d->rng, sectors + 1);

    d->n_torn++;
    for (uint64_t k = 0; k < sectors; k++) {
        uint64_t lo = (c->at / SECTOR + k) * SECTOR, hi = lo + SECTOR;
        if (prefix ? k >= keep : rng_below(d->rng, 2) == 0)
            continue;
        lo = lo < c->at ? c->at : lo;
        hi = hi > end ? end : hi;
        bytes_put(b, lo, c->kind == ZERO ? NULL : c->data + (lo - c->at), hi - lo);
    }
}

/* The write is there, but for a stretch of noise. */
static void garble(struct sim_disk *d, struct bytes *b, const struct change *c)
{
    uint64_t lo = c->at + rng_below(d->rng, c->len), n = 1 + rng_below(d->rng, SECTOR);

    d->n_garbled++;
    change_apply(b, c);
    for (; n > 0 && lo < c->at + c->len; n--, lo++)
        b->p[lo] = (unsigned char)rng_next(d->rng);
}

/* luck: in how many of 8 cases a change is simply kept. */
static void cut_file(struct sim_disk *d, struct sim_inode *i, unsigned luck)
{
    for (struct change *c = i->first; c; c = c->next) {
        uint64_t fate = rng_below(d->rng, 8);
        if (c->doomed)
            d->n_lost++;
        else if (fate < luck)
            change_apply(&i->dur, c);
        else if (c->kind == TRUNCATE || c->len == 0 || rng_below(d->rng, 2) == 0)
            d->n_lost++;
        else if (rng_below(d->rng, 4) == 0)
            garble(d, &i->dur, c);
        else
            tear(d, &i->dur, c);
    }
    drop_changes(i);
    bytes_resize(&i->cur, 0);
    bytes_put(&i->cur, 0, i->dur.p, i->dur.n);
    i->reserved = 0;
    recount(d, i);
}

/* In order up to some point, or each by itself. */
static void cut_names(struct sim_disk *d)
{
    bool prefix = rng_below(d->rng, 2) == 0, stopped = false;
    struct list *l;

    while ((l = list_first(&d->dir_ops))) {
        struct dir_op *o = list_entry(l, struct dir_op, link);
        bool keep = rng_below(d->rng, 3) != 0;
        stopped |= !keep;
        if (prefix ? !stopped : keep)
            dir_op_apply(d, o);
        dir_op_free(d, o);
    }
}

void sim_disk_power_cut(struct sim_disk *d)
{
    unsigned luck = (unsigned)rng_below(d->rng, 8); /* from all at risk to most kept */
    struct sim_inode **all;
    size_t n = 0, k = 0;

    cut_names(d);
    LIST_EACH (l, &d->inodes)
        n++;
    all = take(malloc(n * sizeof *all));
    LIST_EACH (l, &d->inodes) {
        all[k] = list_entry(l, struct sim_inode, link);
        all[k++]->refs++; /* none goes while we walk */
    }
    for (k = 0; k < n; k++) {
        struct sim_inode *i = all[k];
        if (!i->is_dir) {
            cut_file(d, i, luck);
            continue;
        }
        names_clear(d, &i->now, true);
        for (size_t m = 0; m < i->durable.n; m++)
            names_set(d, &i->now, i->durable.v[m].name, i->durable.v[m].inode, true);
    }
    for (k = 0; k < n; k++)
        unref(d, all[k]);
    free(all);
    new_boot(d);
}

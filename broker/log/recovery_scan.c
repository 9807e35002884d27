/* broker/log/recovery_scan.c - reads the journal: every whole round of the last run from the
 * checkpoint's place on, in sequence.
 *
 * A round follows the one before it, or begins a file. Where the next one is not found whole is the
 * end, if a durable run wrote it only under one condition: no valid first block of a later round
 * lies behind, for a round is written only when the one before is durable. A run with --durability
 * async makes no such promise: there the end is where the sequence ends.
 *
 * The last round may be whole only in memory: its sync had not returned, or failed. A start copies
 * it to last-round, durably, before any segment gets bytes of it (that a segment has bytes of a
 * round proves that it was durable), and not over itself: a write torn by another power cut would
 * take what is there. */
#include "broker/log/recovery.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { SCAN_CHUNK = 1 << 20 };

struct names {
    struct recovery *r;
    int failed;
};

static void each_name(void *user, const char *name)
{
    struct names *n = user;
    struct logdir *d = n->r->d;
    struct journal_file *f;
    char path[PATH_CAP];
    int64_t id;
    uint64_t size;

    if (strlen(name) != 8 || parse_i64(slice_str(name), &id) < 0 || id <= 0 || n->failed)
        return;
    f = journal_file_add(&d->journal, (uint32_t)id, 0);
    if (!f) {
        n->failed = -ERR_NOMEM;
        return;
    }
    journal_path(d, f->id, path);
    n->failed = env_open(d->env, &f->f, path, ENV_JOURNAL, &size);
    if (n->failed == 0) {
        f->open = true;
        f->size = size / JOURNAL_BLOCK * JOURNAL_BLOCK;
        d->journal.total += f->size;
    }
}

static struct journal_file *file_by_id(struct journal *j, uint32_t id)
{
    LIST_EACH (it, &j->files)
        if (list_entry(it, struct journal_file, link)->id == id)
            return list_entry(it, struct journal_file, link);
    return NULL;
}

/* The head at pos if it is one of this run; its sequence may be any. 1: yes, 0: no, negative: read
 * error. */
static int head_at(struct recovery *r, struct journal_file *f, uint64_t pos, struct round_head *h)
{
    unsigned char block[JOURNAL_BLOCK];
    int64_t n;

    if (!f || pos + JOURNAL_BLOCK > f->size)
        return 0;
    n = env_read_wait(&f->f, pos, (struct span){block, sizeof block});
    if (n < 0)
        return (int)n;
    return n == JOURNAL_BLOCK && round_head_parse(slice_of(block, sizeof block), h) == 0 &&
           memcmp(h->salt, r->head.salt, JOURNAL_SALT) == 0;
}

/* Finds the head of round seq: at (f, pos), or at the begin of a file. 1, 0, or negative. */
static int find_round(struct recovery *r, uint64_t seq, struct journal_file **f, uint64_t *pos,
                      struct round_head *h)
{
    struct journal *j = &r->d->journal;
    int found = head_at(r, *f, *pos, h);

    if (found < 0 || (found && h->seq == seq))
        return found;
    LIST_EACH (it, &j->files) {
        struct journal_file *o = list_entry(it, struct journal_file, link);
        found = head_at(r, o, 0, h);
        if (found < 0)
            return found;
        if (found && h->seq == seq) {
            *f = o;
            *pos = 0;
            return 1;
        }
    }
    return 0;
}

static struct redo *redo_of(struct recovery *r, const struct round_entry *at)
{
    unsigned char key[20];
    struct redo *x;

    log_key(&at->topic_id, at->partition, key);
    x = map_get(&r->redo, slice_of(key, sizeof key));
    if (x)
        return x;
    x = calloc(1, sizeof *x);
    if (!x || map_put(&r->redo, slice_of(key, sizeof key), x) < 0) {
        free(x);
        return NULL;
    }
    x->id = at->topic_id;
    x->partition = at->partition;
    return x;
}

static int keep_round(struct recovery *r, const struct round_head *h, struct block *b)
{
    uint64_t data_at = 0;

    if (r->n_rounds == r->cap_rounds) {
        uint32_t cap = r->cap_rounds ? r->cap_rounds * 2 : 64;
        struct block **v = realloc(r->rounds, cap * sizeof(struct block *));
        if (!v)
            return -ERR_NOMEM;
        r->rounds = v;
        r->cap_rounds = cap;
    }
    r->rounds[r->n_rounds++] = block_ref(b);
    for (uint32_t i = 0; i < h->n_entries; i++) {
        struct redo_entry x = {.seq = h->seq};
        struct redo *to;
        round_entry_at(h, slice_of(b->bytes, b->cap), i, &data_at, &x.at, &x.bytes);
        to = redo_of(r, &x.at);
        if (!to)
            return -ERR_NOMEM;
        if (to->n == to->cap) {
            uint32_t cap = to->cap ? to->cap * 2 : 8;
            struct redo_entry *v = realloc(to->v, cap * sizeof *v);
            if (!v)
                return -ERR_NOMEM;
            to->v = v;
            to->cap = cap;
        }
        to->v[to->n++] = x;
    }
    return 0;
}

/* The round whose head is h: 1 whole and kept, 0 not whole, negative. */
static int take_round(struct recovery *r, const struct round_head *h, struct journal_file *f,
                      uint64_t pos)
{
    struct block *b;
    int64_t n;
    int ret;

    if (pos + h->bytes > f->size)
        return 0;
    b = block_new((size_t)h->bytes);
    if (!b)
        return -ERR_NOMEM;
    n = env_read_wait(&f->f, pos, (struct span){b->bytes, b->cap});
    if (n < 0)
        ret = (int)n;
    else if ((uint64_t)n != h->bytes || round_check(h, slice_of(b->bytes, b->cap)) < 0)
        ret = 0;
    else
        ret = keep_round(r, h, b) < 0 ? -ERR_NOMEM : 1;
    block_unref(b);
    return ret;
}

static void last_round_path(const struct recovery *r, char out[PATH_CAP])
{
    snprintf(out, PATH_CAP, "%s/journal/last-round", r->d->path);
}

/* The round seq as a start before this one secured it: 1 kept, 0 not there, negative. */
static int take_secured(struct recovery *r, uint64_t seq, struct round_head *h)
{
    char path[PATH_CAP];
    struct block *b;
    struct buf file;
    int ret;

    last_round_path(r, path);
    buf_init(&file, 1u << 31);
    ret = read_whole(r->d->env, path, &file);
    if (ret == -ERR_NOT_FOUND)
        ret = 0;
    else if (ret == 0 && file.n >= JOURNAL_BLOCK && round_head_parse(buf_slice(&file), h) == 0 &&
             memcmp(h->salt, r->head.salt, JOURNAL_SALT) == 0 && h->seq == seq &&
             round_check(h, buf_slice(&file)) == 0) {
        b = block_new(file.n);
        ret = -ERR_NOMEM;
        if (b) {
            memcpy(b->bytes, file.p, file.n);
            ret = keep_round(r, h, b) < 0 ? -ERR_NOMEM : 1;
            block_unref(b);
        }
    }
    buf_deinit(&file);
    return ret;
}

/* Is there a first block of a round after seq in f, from pos on? 1, 0, or negative. */
static int later_in(struct recovery *r, struct journal_file *f, uint64_t pos, uint64_t seq,
                    uint64_t *later)
{
    unsigned char *p;
    int found = 0;

    if (!f || pos >= f->size)
        return 0;
    p = malloc(SCAN_CHUNK);
    if (!p)
        return -ERR_NOMEM;
    while (!found && pos < f->size) {
        uint64_t want = f->size - pos < SCAN_CHUNK ? f->size - pos : SCAN_CHUNK;
        int64_t n = env_read_wait(&f->f, pos, (struct span){p, (size_t)want});
        struct round_head h;
        if (n < JOURNAL_BLOCK) {
            found = n < 0 ? (int)n : 0;
            break;
        }
        for (int64_t i = 0; i + JOURNAL_BLOCK <= n && !found; i += JOURNAL_BLOCK)
            if (round_head_parse(slice_of(p + i, JOURNAL_BLOCK), &h) == 0 &&
                memcmp(h.salt, r->head.salt, JOURNAL_SALT) == 0 && h.seq > seq) {
                *later = h.seq;
                found = 1;
            }
        pos += (uint64_t)n / JOURNAL_BLOCK * JOURNAL_BLOCK;
    }
    free(p);
    return found;
}

/* Behind (f, pos), in the file that was ready to be next, at the begin of any. */
static int find_later(struct recovery *r, struct journal_file *f, uint64_t pos, uint32_t next,
                      uint64_t seq, uint64_t *later)
{
    struct journal *j = &r->d->journal;
    struct round_head h;
    int found = later_in(r, f, pos + JOURNAL_BLOCK, seq, later);

    if (!found && next)
        found = later_in(r, file_by_id(j, next), 0, seq, later);
    LIST_EACH (it, &j->files) {
        if (found)
            return found;
        found = head_at(r, list_entry(it, struct journal_file, link), 0, &h);
        if (found > 0 && h.seq <= seq)
            found = 0;
        *later = h.seq;
    }
    return found;
}

static int read_error(int ret, const char *path, struct err *e)
{
    return err_set(e, -ret, "%s: cannot be read: %s", path, err_text(ret));
}

static int scan_end(struct recovery *r, struct journal_file *f, uint64_t pos, uint32_t next,
                    uint64_t seq, bool head_whole, struct err *e)
{
    uint64_t later = 0;
    int found;

    journal_path(r->d, f->id, r->end_path);
    r->end_pos = pos;
    found = find_later(r, f, pos, next, seq, &later);
    if (found < 0)
        return read_error(found, r->end_path, e);
    if (!found)
        return 0;
    if (!r->sync) {
        env_warn(r->d->env,
                 "%s: position %" PRIu64 ": round %" PRIu64
                 " was lost; what followed it goes too (--durability async)",
                 r->end_path, pos, seq);
        return 0;
    }
    return err_set(
        e, ERR_CORRUPT,
        "%s: position %" PRIu64 ": round %" PRIu64
        " is damaged (%s), though it was durable: round %" PRIu64 " was begun after it",
        r->end_path, pos, seq,
        head_whole ? "its bytes do not match its checksum" : "its first block is not whole", later);
}

int recovery_scan(struct recovery *r, struct err *e)
{
    struct logdir *d = r->d;
    struct names names = {.r = r};
    struct journal_file *f;
    uint64_t pos = r->head.pos, seq = r->head.seq;
    uint32_t next = 0;
    struct round_head h;
    char path[PATH_CAP];
    int ret;

    snprintf(path, sizeof path, "%s/journal", d->path);
    ret = d->env->vt->list(d->env, path, each_name, &names);
    if (ret < 0 || names.failed < 0)
        return read_error(ret < 0 ? ret : names.failed, path, e);
    if (!r->found)
        return 0;
    f = file_by_id(&d->journal, r->head.file);
    if (!f)
        return err_set(e, ERR_CORRUPT, "%s/%08u: the file is missing, the checkpoint names it",
                       path, r->head.file);
    for (;; seq++) {
        bool whole_head;
        ret = find_round(r, seq, &f, &pos, &h);
        whole_head = ret > 0;
        if (ret > 0)
            ret = take_round(r, &h, f, pos);
        if (ret == 0)
            ret = take_secured(r, seq, &h);
        if (ret == 0)
            return scan_end(r, f, pos, next, seq, whole_head, e);
        if (ret < 0) {
            journal_path(d, f->id, path);
            return read_error(ret, path, e);
        }
        pos += h.bytes;
        next = h.next_file;
        r->report->rounds++;
    }
}

int recovery_secure(struct recovery *r, struct err *e)
{
    struct block *b = r->n_rounds ? r->rounds[r->n_rounds - 1] : NULL;
    char path[PATH_CAP], tmp[PATH_CAP], dir[PATH_CAP];
    struct env *env = r->d->env;
    struct env_file f;
    struct slice v;
    uint64_t size;
    int64_t n;

    if (!b || MUTATED(env->mutations, RECOVERY_NO_SYNC))
        return 0;
    last_round_path(r, path);
    snprintf(tmp, sizeof tmp, "%.4000s.tmp", path);
    snprintf(dir, sizeof dir, "%s/journal", r->d->path);
    v = slice_of(b->bytes, b->cap);
    n = env_open(env, &f, tmp, ENV_CREATE, &size);
    if (n == 0) {
        n = size ? env->vt->truncate_wait(&f, 0) : 0;
        if (n >= 0)
            n = env_write_wait(&f, 0, &v, 1, ENV_SYNC);
        env_close(&f);
    }
    if (n >= 0)
        n = env->vt->rename(env, tmp, path);
    if (n >= 0)
        n = env->vt->sync_dir_wait(env, dir);
    return n < 0 ? err_set(e, (int)-n, "%s: %s", path, err_text((int)n)) : 0;
}

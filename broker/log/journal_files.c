/* broker/log/journal_files.c - the ring of the journal's files: the next one is made ready before
 * the current one is full, from those the checkpoint has let go, else a new one.
 *
 * A new file is filled with zeros, synced, and its name made durable, all in the background and not
 * behind the journal's own writes; a recycled one is used as it is, for its old rounds have smaller
 * sequences or another salt. The first file of a directory is small so that a first start is quick,
 * each new one four times the last up to the configured size. When there is no space, no file
 * comes: what is staged waits, new appends are refused, a checkpoint lets files go, and
 * a timer tries again with a smaller one. */
#include "broker/log/internal.h"
#include <stdio.h>
#include <stdlib.h>

enum { PREP_ZERO, PREP_SYNC, PREP_DIR };
enum { SIZE_MIN = 256 << 10 };

void journal_path(const struct logdir *d, uint32_t id, char out[PATH_CAP])
{
    snprintf(out, PATH_CAP, "%s/journal/%08u", d->path, id);
}

struct journal_file *journal_file_add(struct journal *j, uint32_t id, uint64_t size)
{
    struct journal_file *f = calloc(1, sizeof *f);

    if (!f)
        return NULL;
    f->id = id;
    f->size = size;
    list_push(&j->files, &f->link);
    j->total += size;
    if (id > j->last_id)
        j->last_id = id;
    return f;
}

static void file_drop(struct journal *j, struct journal_file *f)
{
    if (f->open)
        env_close(&f->f);
    list_remove(&f->link);
    j->total -= f->size;
    free(f);
}

/* The smallest file that nobody needs and that is large enough. */
static struct journal_file *find_free(struct journal *j, uint64_t need)
{
    struct journal_file *best = NULL;

    LIST_EACH (it, &j->files) {
        struct journal_file *f = list_entry(it, struct journal_file, link);
        if (f->live || f == j->current || f == j->next || f == j->prep || !f->open ||
            f->size < need)
            continue;
        if (!best || f->size < best->size ||
            (f->size == best->size && f->last_seq < best->last_seq))
            best = f;
    }
    return best;
}

static void prep_failed(struct logdir *d, int64_t res)
{
    struct journal *j = &d->journal;
    struct journal_file *f = j->prep;
    char path[PATH_CAP];

    j->prep = NULL;
    journal_path(d, f->id, path);
    j->size_max = f->size / 2; /* a smaller one may fit */
    file_drop(j, f);
    if (!logdir_background_error(d, &j->starved, res, path))
        return;
    removal_begin(d, strdup(path)); /* give back what it took; its number is not used again */
    checkpoint_begin(d, false);     /* one that is in use may be let go */
}

static void prep_ready(struct logdir *d)
{
    struct journal *j = &d->journal;
    struct journal_file *f = j->prep;
    char path[PATH_CAP];
    uint64_t size;
    int r;

    journal_path(d, f->id, path);
    env_close(&f->f);
    f->open = false;
    r = env_open(d->env, &f->f, path, ENV_JOURNAL, &size);
    if (r < 0) {
        prep_failed(d, r);
        return;
    }
    f->open = true;
    j->prep = NULL;
    j->next = f;
    j->size_max = 0;
    logdir_background_ok(d, &j->starved);
    journal_kick(d);
    if (d->closing)
        logdir_close_step(d);
}

static void prep_step(struct env_op *op, int64_t res)
{
    struct logdir *d = list_entry(op, struct logdir, journal.prep_op);
    struct journal *j = &d->journal;
    char path[PATH_CAP];

    if (res < 0) {
        prep_failed(d, res);
        return;
    }
    switch (j->prep_step++) {
    case PREP_ZERO: env_write(op, &j->prep->f, 0, NULL, 0, ENV_SYNC); return;
    case PREP_SYNC:
        snprintf(path, sizeof path, "%s/journal", d->path);
        d->env->vt->sync_dir(op, d->env, path);
        return;
    default: prep_ready(d);
    }
}

static uint64_t new_size(const struct logdir *d, uint64_t need)
{
    uint64_t largest = 0;

    LIST_EACH (it, &d->journal.files) {
        const struct journal_file *f = list_entry(it, struct journal_file, link);
        largest = f->size > largest ? f->size : largest;
    }
    largest *= 4;
    if (d->journal.size_max && largest > d->journal.size_max)
        largest = d->journal.size_max;
    if (largest < SIZE_MIN)
        largest = SIZE_MIN;
    if (largest > d->o.journal_file_bytes)
        largest = d->o.journal_file_bytes;
    return largest > need ? largest : need;
}

/* A file of that size, or a smaller one that will do, leaves the reserve alone. */
static bool space_for(const struct logdir *d, uint64_t *size, uint64_t need)
{
    int64_t left = d->env->vt->space_free(d->env, d->path);
    uint64_t room;

    if (left < 0)
        return true;
    room = (uint64_t)left > 2 * d->o.reserve_bytes ? (uint64_t)left - 2 * d->o.reserve_bytes : 0;
    if (*size <= room)
        return true;
    *size = room / JOURNAL_BLOCK * JOURNAL_BLOCK;
    return *size >= (need > SIZE_MIN ? need : SIZE_MIN);
}

void journal_prepare(struct logdir *d, uint64_t need)
{
    struct journal *j = &d->journal;
    char path[PATH_CAP];
    uint64_t size, had;
    int r;

    if (j->prep || d->poisoned || (d->no_space && d->env->now < d->retry_at))
        return;
    j->next = find_free(j, need ? need : JOURNAL_BLOCK);
    if (j->next) {
        logdir_background_ok(d, &j->starved);
        if (need)
            journal_kick(d);
        return;
    }
    size = new_size(d, need);
    if (!space_for(d, &size, need)) {
        (void)logdir_background_error(d, &j->starved, -ERR_NO_SPACE, d->path);
        checkpoint_begin(d, false); /* one that is in use may be let go */
        return;
    }
    if (j->total + size > d->o.journal_bytes_max && j->used > 0) {
        checkpoint_begin(d, false); /* a file will be let go */
        return;
    }
    j->prep = journal_file_add(j, j->last_id + 1, size);
    if (!j->prep) {
        logdir_poison(d, "journal: out of memory for a file");
        return;
    }
    journal_path(d, j->prep->id, path);
    r = env_open(d->env, &j->prep->f, path, ENV_CREATE, &had);
    if (r < 0) {
        prep_failed(d, r);
        return;
    }
    j->prep->open = true;
    j->prep_step = PREP_ZERO;
    j->prep_op.done = prep_step;
    d->env->vt->reserve(&j->prep_op, &j->prep->f, 0, size, ENV_ZEROED);
}

void journal_release(struct logdir *d, const struct journal_mark *cut)
{
    struct journal *j = &d->journal;

    LIST_EACH (it, &j->files) {
        struct journal_file *f = list_entry(it, struct journal_file, link);
        if (f != j->current && f->live && f->last_seq < cut->seq)
            f->live = false;
    }
    j->used -= cut->used;
    if (d->secured < cut->lsn)
        d->secured = cut->lsn;
    env_task_add(d->env, &d->turn); /* what was deleted before may leave */
    if (d->line_n && !j->in_flight)
        journal_kick(d);
}

bool journal_has_room(const struct logdir *d, uint64_t bytes)
{
    const struct journal *j = &d->journal;
    uint64_t need = d->staged_bytes + bytes + (uint64_t)(d->line_n + 1) * (ROUND_ENTRY + 8) +
                    8 * JOURNAL_BLOCK;

    if (j->next)
        return true;
    return j->current && j->pos + (j->in_flight ? j->round_bytes : 0) + need <= j->current->size;
}

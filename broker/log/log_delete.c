/* broker/log/log_delete.c - how a log goes: its owner is rid of it at once, its directory follows
 * when nothing can bring it back.
 *
 * That is when the record of its deletion is durable; with --durability async, when a checkpoint
 * covers that record, for until then a power cut may undo the deletion. Then the directory is
 * renamed, the new name made durable, and the files go in the background; a start finishes what was
 * begun. A namesake made meanwhile waits, or, with --durability async, the old directory steps
 * aside under its later name. */
#include "broker/log/internal.h"
#include <stdio.h>
#include <stdlib.h>

void logdir_log_delete(struct logdir *d, struct log *l)
{
    unsigned char key[20];

    CHECK(!l->gone);
    CHECK(l != d->metadata);
    log_key(&l->id, l->partition, key);
    map_del(&d->by_key, slice_of(key, sizeof key));
    l->gone = true;
    l->user = NULL;
    list_remove(&l->stamp_link);
    l->stamp_lsn = UINT64_MAX; /* until the end of this turn: the record that says so may follow */
    list_push(&d->leaving, &l->stamp_link);
    env_task_add(d->env, &d->turn);
}

void removal_free(struct removal *r)
{
    list_remove(&r->link);
    for (int i = 0; i < r->n; i++)
        free(r->names[i]);
    free(r->names);
    free(r->path);
    free(r);
}

static void removal_end(struct removal *r)
{
    struct logdir *d = r->d;

    removal_free(r);
    if (d->closing)
        logdir_close_step(d);
}

static void removal_step(struct env_op *op, int64_t res)
{
    struct removal *r = (struct removal *)(void *)op;
    struct logdir *d = r->d;

    if (res < 0 && res != -ERR_NOT_FOUND)
        env_warn(d->env, "%s: cannot be removed: %s", r->path, err_text((int)res));
    if (res < 0 && r->at < 0) { /* the name may come back: its files must not go before it */
        removal_end(r);
        return;
    }
    r->at++;
    if (r->at < r->n)
        d->env->vt->remove(op, d->env, r->names[r->at]);
    else if (r->at == r->n)
        d->env->vt->remove(op, d->env, r->path);
    else
        removal_end(r);
}

static void removal_name(void *user, const char *name)
{
    struct removal *r = user;

    if (r->n == r->cap) {
        int cap = r->cap ? r->cap * 2 : 16;
        char **v = realloc(r->names, (size_t)cap * sizeof(char *));
        if (!v)
            return;
        r->names = v;
        r->cap = cap;
    }
    r->names[r->n] = path_join(r->path, name);
    r->n += r->names[r->n] != NULL;
}

void removal_begin(struct logdir *d, char *path_take)
{
    struct removal *r = calloc(1, sizeof *r);

    if (!r) {
        free(path_take); /* the next start removes it */
        return;
    }
    r->d = d;
    r->path = path_take;
    r->op.done = removal_step;
    list_push(&d->removals, &r->link);
    d->env->vt->list(d->env, r->path, removal_name, r);
    r->at = -1;
    d->env->vt->sync_dir(&r->op, d->env, d->path);
}

void log_gone_path(const struct log *l, const struct uuid *id, const char *suffix,
                   char out[PATH_CAP])
{
    char hex[33];

    for (int i = 0; i < 16; i++)
        snprintf(hex + 2 * i, 3, "%02x", id->b[i]);
    snprintf(out, PATH_CAP, "%s/%.*s-%d.%s-%s", l->d->path,
             l->topic.n > 200 ? 200 : (int)l->topic.n, (const char *)l->topic.p, (int)l->partition,
             hex, suffix);
}

/* Its directory under the name that says so. */
static bool rename_gone(struct log *l)
{
    struct logdir *d = l->d;
    char path[PATH_CAP], *copy;

    log_gone_path(l, &l->id, "delete", path);
    if (strcmp(path, l->path) == 0)
        return true;
    copy = strdup(path);
    if (!copy || d->env->vt->rename(d->env, l->path, path) < 0) {
        env_warn(d->env, "%s: cannot be renamed for removal", l->path);
        free(copy);
        return false;
    }
    free(l->path);
    l->path = copy;
    d->root_dirty = true;
    return true;
}

static void leave(struct log *l)
{
    struct logdir *d = l->d;
    char *path = l->dir_made && rename_gone(l) ? strdup(l->path) : NULL;

    log_free(l);
    if (path)
        removal_begin(d, path);
}

struct log *log_in_place_of(const struct log *l)
{
    LIST_EACH (it, &l->d->leaving) {
        struct log *o = list_entry(it, struct log, stamp_link);
        if (o != l && o->dir_made && strcmp(o->path, l->path) == 0)
            return o;
    }
    return NULL;
}

bool log_may_step_aside(const struct log *o)
{
    return o->d->o.async && !o->job && o->stamp_lsn <= o->d->durable;
}

bool log_step_aside(struct log *o)
{
    return rename_gone(o);
}

void logs_leave(struct logdir *d)
{
    LIST_EACH_SAFE (it, tmp, &d->leaving) {
        struct log *l = list_entry(it, struct log, stamp_link);
        bool busy = l->job || l->users || l->tail.n_durable < l->tail.n;
        if (l->stamp_lsn > d->secured)
            continue;
        l->dead = true;
        if (list_linked(&l->queue_link) && !l->job) { /* nobody needs its bytes any more */
            list_remove(&l->queue_link);
            l->queued = false;
            if (l->job_ck)
                checkpoint_log_done(l);
        }
        if (!busy)
            leave(l);
    }
}

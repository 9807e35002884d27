/* broker/log/logdir.c - the log directory as a whole: opening, the end of a turn, the tick,
 * closing.
 *
 * The end of a turn starts a round with what was staged and gives the writers work. The tick, every
 * 100 ms while anything is under way, writes small remains to the segments, lets old batches leave
 * the memory, begins checkpoints, and tries again what a full disk stopped. */
#include "broker/log/internal.h"
#include <stdio.h>
#include <stdlib.h>

const struct uuid METADATA_TOPIC_ID = {
    {'o', 'n', 'c', 'e', '-', 'm', 'e', 't', 'a', 'd', 'a', 't', 'a', 0, 0, 1}};

#define TICK ENV_MS(100)

static void turn_run(struct env_task *t);
static void tick_fire(struct env_timer *t);

/* ---- failure ---- */

void logdir_poison(struct logdir *d, const char *fmt, ...)
{
    char why[1024];
    va_list ap;
    int n;

    if (d->poisoned || d->env->dead)
        return;
    d->poisoned = true;
    n = snprintf(why, sizeof why, "%s: ", d->path);
    va_start(ap, fmt);
    if (n >= 0 && n < (int)sizeof why)
        vsnprintf(why + n, sizeof why - (size_t)n, fmt, ap);
    va_end(ap);
    env_error(d->env, "%s", why);
    if (d->hooks.on_halt)
        d->hooks.on_halt(d->hooks.user, why);
    if (d->closing)
        env_task_add(d->env, &d->turn);
}

bool logdir_background_error(struct logdir *d, bool *starved, int64_t res, const char *what)
{
    if (res != -ERR_NO_SPACE) {
        logdir_poison(d, "%s: %s", what, err_text((int)res));
        return false;
    }
    if (!d->no_space)
        env_warn(d->env, "%s: %s: appends are refused until there is", what, err_text((int)res));
    d->no_space = true;
    d->n_starved += !*starved;
    *starved = true;
    d->retry_at = d->env->now + ENV_MS(500);
    logdir_arm_tick(d);
    return true;
}

void logdir_background_ok(struct logdir *d, bool *starved)
{
    if (!*starved)
        return;
    *starved = false;
    if (--d->n_starved > 0 || d->env->dead)
        return;
    d->no_space = false;
    env_info(d->env, "%s: there is space again", d->path);
    if (d->refused && d->hooks.on_room && !d->closing) {
        d->refused = false;
        d->hooks.on_room(d->hooks.user);
    }
}

/* ---- the end of a turn ---- */

static void turn_run(struct env_task *t)
{
    struct logdir *d = list_entry(t, struct logdir, turn);

    for (struct list *it; (it = list_first(&d->fresh));) {
        list_entry(it, struct log, stamp_link)->stamp_lsn = d->staged;
        list_remove(it);
        list_push(&d->to_make, it);
        logdir_arm_tick(d);
    }
    LIST_EACH (it, &d->leaving) {
        struct log *l = list_entry(it, struct log, stamp_link);
        if (l->stamp_lsn == UINT64_MAX)
            l->stamp_lsn = d->staged;
    }
    if (!d->poisoned) {
        journal_kick(d);
        writers_kick(d);
        logs_leave(d);
    }
    if (d->closing)
        logdir_close_step(d);
}

/* ---- the tick ---- */

void logdir_arm_tick(struct logdir *d)
{
    if (d->tick_armed || d->poisoned || d->recovering)
        return;
    d->tick_armed = true;
    env_timer_set(d->env, &d->tick, d->env->now + TICK);
}

static void make_dirs(struct logdir *d)
{
    int n = 32; /* a topic of ten thousand partitions is not made in one turn */

    while (n-- > 0 && !list_empty(&d->to_make)) {
        struct log *l = list_entry(d->to_make.next, struct log, stamp_link);
        if (l->stamp_lsn > d->durable)
            return;
        list_remove(&l->stamp_link);
        if (!l->dir_made)
            log_queue(l);
    }
}

static void age(struct logdir *d)
{
    if (d->env->now < d->age_at)
        return;
    tails_evict(d, d->age_lsn[1]);
    d->age_lsn[1] = d->age_lsn[0];
    d->age_lsn[0] = d->staged;
    d->age_at = d->env->now + ENV_S(2);
}

/* Less free than the reserve: refuse before writes fail. */
void logdir_check_space(struct logdir *d)
{
    int64_t left = d->env->vt->space_free(d->env, d->path);

    d->space_at = d->journal.used;
    if (left < 0)
        return;
    if ((uint64_t)left < d->o.reserve_bytes) {
        if (!d->low)
            (void)logdir_background_error(d, &d->low, -ERR_NO_SPACE, d->path);
    } else if ((uint64_t)left >= d->o.reserve_bytes * 2) {
        logdir_background_ok(d, &d->low);
    }
}

static void tick_fire(struct env_timer *t)
{
    struct logdir *d = list_entry(t, struct logdir, tick);

    d->tick_armed = false;
    if (d->poisoned)
        return;
    LIST_EACH (it, &d->tails) {
        struct log *l = list_entry(it, struct log, tails_link);
        if (l->tail.n_written < l->tail.n_durable)
            log_queue(l);
    }
    logdir_check_space(d);
    make_dirs(d);
    age(d);
    if (d->no_space && !d->journal.next)
        journal_prepare(d, 0);
    journal_kick(d);
    checkpoint_consider(d);
    writers_kick(d);
    if (!list_empty(&d->tails) || !list_empty(&d->to_make) || d->no_space || d->n_dirty ||
        d->ck.step != CK_IDLE)
        logdir_arm_tick(d);
}

/* ---- opening ---- */

static void defaults(struct logdir_options *o)
{
    if (!o->journal_file_bytes)
        o->journal_file_bytes = 16 << 20;
    if (!o->journal_bytes_max)
        o->journal_bytes_max = 256 << 20;
    if (!o->round_bytes_max)
        o->round_bytes_max = 8 << 20;
    if (!o->staged_bytes_max)
        o->staged_bytes_max = 64 << 20;
    if (!o->reserve_bytes)
        o->reserve_bytes = 2 << 20;
    if (!o->tail_bytes_max)
        o->tail_bytes_max = 64 << 20;
    o->journal_file_bytes = (o->journal_file_bytes + JOURNAL_BLOCK - 1) &
                            ~(uint64_t)(JOURNAL_BLOCK - 1);
}

static struct logdir *logdir_new(struct env *env, const struct logdir_options *o,
                                 const struct logdir_hooks *hooks)
{
    struct logdir *d = calloc(1, sizeof *d);
    struct list *lists[] = {&d->logs,      &d->tails,         &d->touched,    &d->dirty,
                            &d->queue,     &d->fresh,         &d->to_make,    &d->leaving,
                            &d->removals,  &d->open_segments, &d->cold_reads, &d->index_loads,
                            &d->time_finds};

    if (!d)
        return NULL;
    d->env = env;
    d->o = *o;
    defaults(&d->o);
    d->hooks = *hooks;
    d->path = strdup(o->path);
    d->writers = calloc(WRITERS, sizeof *d->writers);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        list_init(lists[i]);
    map_init(&d->by_key);
    journal_init(&d->journal);
    buf_init(&d->ck.bytes, 1u << 31);
    d->turn.run = turn_run;
    d->tick.fire = tick_fire;
    if (d->writers)
        writers_init(d);
    if (!d->path || !d->writers) {
        logdir_free(d);
        return NULL;
    }
    return d;
}

/* The name of the folder at path, in its parent: a power cut must not take the whole directory
 * back. */
static int sync_parent(struct logdir *d, const char *path)
{
    char parent[PATH_CAP];
    const char *slash = strrchr(path, '/');

    if (!slash)
        strcpy(parent, ".");
    else
        snprintf(parent, sizeof parent, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    return d->env->vt->sync_dir_wait(d->env, parent);
}

/* Every folder of the path that is not there. */
static int make_path(struct logdir *d, struct err *e)
{
    char path[PATH_CAP];
    int r;

    if (strlen(d->path) >= PATH_CAP / 2)
        return err_set(e, ERR_TOO_BIG, "%s: the path is too long", d->path);
    strcpy(path, d->path);
    for (char *c = path + 1;; c++) {
        char was = *c;
        if (was != '/' && was != 0)
            continue;
        *c = 0;
        r = d->env->vt->mkdir(d->env, path);
        if (r == 0)
            r = sync_parent(d, path);
        *c = was;
        if (was == 0)
            break;
    }
    if (r < 0 && r != -ERR_EXISTS)
        return err_set(e, -r, "%s: cannot be made: %s", d->path, err_text(r));
    return 0;
}

int logdir_open(struct logdir **out, struct env *env, const struct logdir_options *o,
                const struct logdir_hooks *hooks, struct logdir_report *report, struct err *e)
{
    struct logdir *d = logdir_new(env, o, hooks);
    struct logdir_report ignored;
    struct env_id id;
    char path[PATH_CAP];
    int r;

    *out = NULL;
    if (!d)
        return err_set(e, ERR_NOMEM, "%s: out of memory", o->path);
    r = make_path(d, e);
    if (r < 0)
        goto fail;
    snprintf(path, sizeof path, "%s/.lock", d->path);
    r = env->vt->lock(env, path);
    if (r < 0) {
        r = err_set(e, -r, "%s: %s", path,
                    r == -ERR_BUSY ? "another broker has this directory" : err_text(r));
        goto fail;
    }
    d->locked = true;
    if (env->vt->identify(env, d->path, &id) == 0)
        memcpy(d->boot, id.boot, sizeof d->boot);
    d->ck_at = d->ck.texts_at = env->now;
    d->age_at = env->now + ENV_S(2);
    r = recovery_run(d, report ? report : &ignored, e);
    if (r < 0)
        goto fail;
    *out = d;
    return 0;
fail:
    logdir_free(d);
    return r;
}

/* ---- closing ---- */

static bool ops_in_flight(const struct logdir *d)
{
    const struct checkpoint *c = &d->ck;
    bool busy = d->journal.in_flight || d->journal.prep || !list_empty(&d->removals) ||
                (c->step > CK_LOGS && !c->waits);

    for (int i = 0; i < WRITERS; i++)
        busy = busy || d->writers[i].log;
    LIST_EACH (it, &d->logs)
        busy = busy || list_entry(it, struct log, link)->users;
    return busy;
}

static void unlock(struct logdir *d)
{
    char path[PATH_CAP];

    if (!d->locked)
        return;
    snprintf(path, sizeof path, "%s/.lock", d->path);
    d->env->vt->unlock(d->env, path);
    d->locked = false;
}

static void close_end(struct logdir *d)
{
    d->closed = true;
    env_timer_stop(d->env, &d->tick);
    env_task_stop(&d->turn);
    while (!list_empty(&d->open_segments))
        segment_close(list_entry(d->open_segments.next, struct segment, lru));
    unlock(d);
    d->close_done(d->close_user);
}

/* Called whenever something ends, until nothing is left to do. */
void logdir_close_step(struct logdir *d)
{
    /* The reserve is for this; what fails for lack of space now is left to the next start. */
    bool given_up = d->poisoned || d->n_starved > d->low;

    if (d->closed || d->env->dead)
        return;
    if (!given_up && d->line_n) {
        journal_kick(d);
        return;
    }
    if (!given_up && d->close_step == 0) {
        LIST_EACH (it, &d->logs) {
            struct log *l = list_entry(it, struct log, link);
            if (!l->dir_made && !l->gone)
                log_queue(l);
        }
        d->close_step = 1;
        writers_kick(d);
        if (d->closed)
            return;
    }
    if (!given_up && d->close_step == 1) {
        if (d->ck.step != CK_IDLE || !writers_idle(d))
            return;
        d->close_step = 2;
        checkpoint_begin(d, true);
        writers_kick(d);
        return;
    }
    if (!given_up && (d->ck.step != CK_IDLE || d->journal.in_flight))
        return;
    if (ops_in_flight(d))
        return;
    if (given_up)
        env_warn(d->env, "%s: not closed cleanly; the next start reads the journal", d->path);
    close_end(d);
}

void logdir_close(struct logdir *d, void (*done)(void *user), void *user)
{
    CHECK(!d->closing);
    d->closing = true;
    d->close_done = done;
    d->close_user = user;
    env_task_add(d->env, &d->turn); /* never calls back from within */
}

void logdir_free(struct logdir *d)
{
    if (!d)
        return;
    d->closing = true; /* the owner is not called any more */
    env_timer_stop(d->env, &d->tick);
    env_task_stop(&d->turn);
    unlock(d);
    if (d->writers)
        writers_deinit(d);
    cold_reads_free(d);
    time_finds_free(d);
    index_loads_free(d);
    for (struct list *it; (it = list_first(&d->logs));)
        log_free(list_entry(it, struct log, link));
    for (struct list *it; (it = list_first(&d->removals));)
        removal_free(list_entry(it, struct removal, link));
    checkpoint_deinit(d);
    journal_deinit(&d->journal);
    block_unref(d->chunk);
    map_deinit(&d->by_key);
    free(d->line);
    free(d->writers);
    free(d->path);
    free(d);
}

uint64_t logdir_staged(const struct logdir *d)
{
    return d->staged;
}

uint64_t logdir_durable(const struct logdir *d)
{
    return d->durable;
}

const char *logdir_cluster_id(const struct logdir *d)
{
    return d->cluster_id;
}

struct log *logdir_metadata(struct logdir *d)
{
    return d->metadata;
}

int32_t logdir_epoch(const struct logdir *d)
{
    return d->epoch;
}

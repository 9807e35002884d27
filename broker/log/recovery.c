/* broker/log/recovery.c - opening a directory: what is there, what is kept, and the new start.
 *
 * Fresh: a small journal file, a first checkpoint. Ours: checkpoint and journal are read, the
 * metadata log first, then those that it declares; when nothing contradicts, what is kept is
 * written and synced, and a checkpoint with a new salt begins a new journal in the old files.
 * Kafka's: see recovery_kafka.c. A crash at any point leaves the old checkpoint with all it
 * needs. */
#include "broker/log/recovery.h"
#include <stdio.h>
#include <stdlib.h>

static void free_values(struct map *m)
{
    MAP_EACH (it, m)
        free(it->value);
    map_deinit(m);
}

static struct recovery *recovery_new(struct logdir *d, struct logdir_report *report)
{
    struct recovery *r = calloc(1, sizeof *r);

    if (!r)
        return NULL;
    r->d = d;
    r->report = report;
    buf_init(&r->checkpoint, 1u << 31);
    buf_init(&r->names, 1u << 30);
    map_init(&r->ck_logs);
    map_init(&r->redo);
    map_init(&r->points);
    map_init(&r->starts);
    return r;
}

static void recovery_free(struct recovery *r)
{
    MAP_EACH (it, &r->redo)
        free(((struct redo *)it->value)->v);
    free_values(&r->redo);
    free_values(&r->ck_logs);
    free_values(&r->points);
    free_values(&r->starts);
    for (uint32_t i = 0; i < r->n_rounds; i++)
        block_unref(r->rounds[i]);
    free(r->rounds);
    buf_deinit(&r->checkpoint);
    buf_deinit(&r->names);
    r->d->recovery = NULL;
    LIST_EACH (it, &r->d->logs)
        list_entry(it, struct log, link)->redo = NULL;
    free(r);
}

/* ---- reading ---- */

static int read_checkpoint(struct recovery *r, struct err *e)
{
    struct logdir *d = r->d;
    char path[PATH_CAP];
    size_t at = CHECKPOINT_HEAD;
    int ret;

    snprintf(path, sizeof path, "%s/journal/checkpoint", d->path);
    ret = read_whole(d->env, path, &r->checkpoint);
    if (ret == -ERR_NOT_FOUND)
        return 0;
    if (ret < 0)
        return err_set(e, -ret, "%s: cannot be read: %s", path, err_text(ret));
    if (checkpoint_parse(buf_slice(&r->checkpoint), &r->head) < 0)
        return err_set(e, ERR_CORRUPT, "%s: position 0: it does not match its checksum", path);
    r->found = true;
    r->sync = !(r->head.flags & CHECKPOINT_ASYNC);
    r->report->clean = r->head.flags & CHECKPOINT_CLEAN;
    r->same_boot = memcmp(r->head.boot, d->boot, sizeof d->boot) == 0;
    for (uint32_t i = 0; i < r->head.n_logs; i++) {
        struct checkpoint_log *c = malloc(sizeof *c);
        unsigned char key[20];
        ret = c ? checkpoint_next(buf_slice(&r->checkpoint), &at, c) : -ERR_NOMEM;
        if (ret == 0) {
            log_key(&c->id, c->partition, key);
            ret = map_put(&r->ck_logs, slice_of(key, sizeof key), c);
        }
        if (ret < 0) {
            free(c);
            return err_set(e, -ret, "%s: position %zu: %s", path, at, err_text(ret));
        }
    }
    return 0;
}

static void root_name(void *user, const char *name)
{
    struct recovery *r = user;
    struct slice topic;
    int32_t partition;

    buf_put(&r->names, name, strlen(name) + 1);
    if (partition_dir_parse(name, &topic, &partition) == 0)
        r->kafka = true;
}

static int read_root(struct recovery *r, struct err *e)
{
    struct logdir *d = r->d;
    char path[PATH_CAP];
    struct buf b;
    int ret = d->env->vt->list(d->env, d->path, root_name, r);

    if (ret < 0)
        return err_set(e, -ret, "%s: cannot be listed: %s", d->path, err_text(ret));
    buf_init(&b, 1 << 20);
    snprintf(path, sizeof path, "%s/meta.properties", d->path);
    ret = read_whole(d->env, path, &b);
    if (ret == 0)
        ret = meta_properties_parse(d, buf_slice(&b));
    buf_deinit(&b);
    if (ret < 0 && ret != -ERR_NOT_FOUND)
        return err_set(e, -ret, "%s: %s", path, err_text(ret));
    return 0;
}

/* Partitions but no checkpoint: Kafka's, or ours before its first start was over. */
static int tell_kafka(struct recovery *r, struct err *e)
{
    struct logdir *d = r->d;
    char path[PATH_CAP];
    struct dir_list files;
    struct buf b;
    int ret;

    if (r->found || !r->kafka) {
        r->kafka = false;
        return 0;
    }
    snprintf(path, sizeof path, "%s/%s-0", d->path, METADATA_TOPIC);
    ret = dir_list(d, path, &files);
    if (ret == 0 && files.n > 0)
        ret = err_set(e, ERR_CORRUPT, "%s/journal/checkpoint: missing, though the log was in use",
                      d->path);
    free(files.v);
    if (ret < 0)
        return ret;
    snprintf(path, sizeof path, "%s/.kafka_cleanshutdown", d->path);
    buf_init(&b, 1 << 20);
    r->kafka_clean = read_whole(d->env, path, &b) == 0;
    buf_deinit(&b);
    r->report->clean = r->kafka_clean;
    return recovery_kafka_start(r, e);
}

static int metadata_batch(void *user, struct log *l, struct slice batch, struct err *e)
{
    struct logdir *d = user;

    (void)l;
    return d->hooks.metadata_batch(d->hooks.user, batch, e);
}

static int adopt_each(struct recovery *r, struct err *e)
{
    struct logdir *d = r->d;
    int ret = 0;

    for (size_t at = 0; at < r->names.n && ret == 0;) {
        const char *name = (const char *)r->names.p + at;
        char path[PATH_CAP];
        struct slice topic;
        struct uuid id = {{0}};
        int32_t partition;
        struct buf b;
        at += strlen(name) + 1;
        if (partition_dir_parse(name, &topic, &partition) < 0 || !d->hooks.adopt ||
            slice_eq_str(topic, METADATA_TOPIC) || slice_eq_str(topic, "__cluster_metadata"))
            continue;
        buf_init(&b, 1 << 16);
        snprintf(path, sizeof path, "%s/%s/partition.metadata", d->path, name);
        ret = read_whole(d->env, path, &b);
        if (ret == 0)
            ret = partition_metadata_parse(buf_slice(&b), &id);
        buf_deinit(&b);
        if (!r->kafka) {
            unsigned char key[20];
            log_key(&id, partition, key);
            if (ret < 0 || !map_get(&r->ck_logs, slice_of(key, sizeof key))) {
                ret = 0;
                continue;
            }
        }
        if (ret < 0)
            return err_set(e, -ret, "%s: no topic id can be read: %s", path, err_text(ret));
        ret = d->hooks.adopt(d->hooks.user, topic, &id, partition, e);
    }
    return ret;
}

static int open_logs(struct recovery *r, struct err *e)
{
    struct logdir *d = r->d;
    int ret = logdir_log_open(d, slice_str(METADATA_TOPIC), &METADATA_TOPIC_ID, 0, NULL,
                              LOG_REPLAY_ALL, NULL, &d->metadata, e);

    if (ret == 0 && d->hooks.metadata_batch)
        ret = recovery_each(r, d->metadata, 0, metadata_batch, d, e);
    /* Kafka's; or adopted by a start that ended before its owner's records of them were durable. */
    if (ret == 0 && (r->kafka || log_end(d->metadata) == 0))
        ret = adopt_each(r, e);
    if (ret == 0 && d->hooks.declare)
        ret = d->hooks.declare(d->hooks.user, d, e);
    LIST_EACH (it, &d->logs) {
        struct log *l = list_entry(it, struct log, link);
        if (ret == 0 && l != d->metadata)
            ret = recovery_replay(r, l, e);
    }
    return ret;
}

/* ---- writing ---- */

/* Of a topic that is gone, when the checkpoint or the journal tells that it was one of ours: a
 * power cut undid the rename. Else it is somebody's. */
static void sweep_unknown(struct recovery *r, const char *name, int32_t partition)
{
    struct logdir *d = r->d;
    char path[PATH_CAP], gone[PATH_CAP];
    unsigned char key[20];
    struct uuid id;
    struct buf b;
    int ret;

    buf_init(&b, 1 << 16);
    snprintf(path, sizeof path, "%s/%s/partition.metadata", d->path, name);
    ret = read_whole(d->env, path, &b);
    if (ret == 0)
        ret = partition_metadata_parse(buf_slice(&b), &id);
    buf_deinit(&b);
    snprintf(path, sizeof path, "%s/%s", d->path, name);
    if (ret == 0) {
        log_key(&id, partition, key);
        if (map_get(&r->ck_logs, slice_of(key, sizeof key)) ||
            map_get(&r->redo, slice_of(key, sizeof key))) {
            snprintf(gone, sizeof gone, "%.4000s-delete", path);
            if (d->env->vt->rename(d->env, path, gone) == 0) {
                removal_begin(d, strdup(gone));
                return;
            }
        }
    }
    env_warn(d->env, "%s: of no topic that is known, left alone", path);
}

/* Directories that nobody declared: ours that were being deleted go, others stay. */
static void sweep(struct recovery *r)
{
    struct logdir *d = r->d;
    struct map ours;

    map_init(&ours);
    LIST_EACH (it, &d->logs) {
        struct log *l = list_entry(it, struct log, link);
        (void)map_put(&ours, slice_str(strrchr(l->path, '/') + 1), l);
    }
    for (size_t at = 0; at < r->names.n;) {
        const char *name = (const char *)r->names.p + at;
        size_t n = strlen(name);
        struct slice topic;
        int32_t partition;
        at += n + 1;
        if (n > 7 && strcmp(name + n - 7, "-delete") == 0) {
            removal_begin(d, path_join(d->path, name));
            continue;
        }
        if (partition_dir_parse(name, &topic, &partition) < 0)
            continue;
        if (!map_get(&ours, slice_str(name)) && !slice_eq_str(topic, "__cluster_metadata"))
            sweep_unknown(r, name, partition);
    }
    map_deinit(&ours);
}

static int write_whole(struct logdir *d, const char *name, const char *tmp_name, struct buf *b,
                       struct err *e)
{
    char path[PATH_CAP], tmp[PATH_CAP];
    struct env_file f;
    struct slice v = buf_slice(b);
    uint64_t size;
    int64_t r;

    snprintf(path, sizeof path, "%s/%s", d->path, name);
    snprintf(tmp, sizeof tmp, "%s/%s", d->path, tmp_name);
    r = env_open(d->env, &f, tmp, ENV_CREATE, &size);
    if (r == 0) {
        r = size ? d->env->vt->truncate_wait(&f, 0) : 0;
        if (r >= 0)
            r = env_write_wait(&f, 0, &v, 1, ENV_SYNC);
        env_close(&f);
    }
    if (r >= 0)
        r = d->env->vt->rename(d->env, tmp, path);
    return r < 0 ? err_set(e, (int)-r, "%s: %s", path, err_text((int)r)) : 0;
}

static int sync_dir_now(struct logdir *d, const char *name, struct err *e)
{
    char path[PATH_CAP];
    int r;

    snprintf(path, sizeof path, "%s%s%s", d->path, *name ? "/" : "", name);
    r = d->env->vt->sync_dir_wait(d->env, path);
    return r < 0 ? err_set(e, -r, "%s: %s", path, err_text(r)) : 0;
}

/* The first file of a fresh directory: small, so that a first start is quick. */
static int first_file(struct logdir *d, struct err *e)
{
    enum { FIRST = 1 << 20 };
    uint64_t size = d->o.journal_file_bytes < FIRST ? d->o.journal_file_bytes : FIRST;
    struct journal_file *f = journal_file_add(&d->journal, d->journal.last_id + 1, size);
    unsigned char *zero = calloc(1, (size_t)size);
    struct slice v = slice_of(zero, (size_t)size);
    char path[PATH_CAP];
    uint64_t had;
    int64_t r = -ERR_NOMEM;

    if (f && zero) {
        journal_path(d, f->id, path);
        r = env_open(d->env, &f->f, path, ENV_CREATE | ENV_JOURNAL, &had);
        if (r == 0) {
            f->open = true;
            r = env_write_wait(&f->f, 0, &v, 1, ENV_SYNC);
        }
    }
    free(zero);
    return r < 0 ? err_set(e, (int)-r, "%s/journal: %s", d->path, err_text((int)r)) : 0;
}

static int make_ids(struct logdir *d, struct err *e)
{
    struct uuid u;
    struct buf b;
    int r;

    if (d->cluster_id[0] && d->directory_id[0])
        return 0;
    if (!d->cluster_id[0]) {
        d->env->vt->random(d->env, &u, sizeof u);
        uuid_text(&u, d->cluster_id);
    }
    if (!d->directory_id[0]) {
        d->env->vt->random(d->env, &u, sizeof u);
        uuid_text(&u, d->directory_id);
    }
    buf_init(&b, 1 << 12);
    r = text_file_make(d, TEXT_META, &b);
    if (r == 0)
        r = write_whole(d, "meta.properties", "meta.properties.tmp", &b, e);
    buf_deinit(&b);
    return r;
}

static int new_start(struct recovery *r, struct err *e)
{
    struct logdir *d = r->d;
    struct journal *j = &d->journal;
    char path[PATH_CAP];
    struct journal_mark mark;
    struct buf b;
    int ret = 0;

    d->epoch = (r->head.epoch > r->max_epoch ? r->head.epoch : r->max_epoch) + 1;
    d->env->vt->random(d->env, j->salt, sizeof j->salt);
    LIST_EACH (it, &j->files) {
        struct journal_file *f = list_entry(it, struct journal_file, link);
        if (f->size >= 16 * JOURNAL_BLOCK && (!j->current || f->size < j->current->size))
            j->current = f;
    }
    if (!j->current) {
        ret = first_file(d, e);
        if (ret < 0)
            return ret;
        j->current = list_entry(j->files.prev, struct journal_file, link);
    }
    j->current->live = true;
    LIST_EACH (it, &d->logs)
        log_mark_cut(list_entry(it, struct log, link));
    mark = journal_here(d);
    buf_init(&b, 1u << 31);
    ret = checkpoint_encode_all(d, &mark, false, &b);
    ret = ret < 0 ? err_set(e, -ret, "%s: out of memory", d->path)
                  : write_whole(d, "journal/checkpoint", "journal/checkpoint.tmp", &b, e);
    buf_deinit(&b);
    if (ret == 0)
        ret = sync_dir_now(d, "journal", e);
    if (ret == 0 && r->n_rounds) { /* this start's copy has served */
        snprintf(path, sizeof path, "%s/journal/last-round", d->path);
        (void)d->env->vt->remove_wait(d->env, path);
    }
    snprintf(path, sizeof path, "%s/.kafka_cleanshutdown", d->path);
    if (ret == 0 && memmem(r->names.p ? (char *)r->names.p : "", r->names.n, ".kafka_cleanshutdown",
                           sizeof ".kafka_cleanshutdown"))
        (void)d->env->vt->remove_wait(d->env, path); /* Kafka's: after this, recover by scan */
    return ret;
}

static int write_phase(struct recovery *r, struct err *e)
{
    struct logdir *d = r->d;
    int ret = make_ids(d, e);

    /* Before any segment gets bytes of it: that it is in a segment proves that a round was
     * durable. */
    if (ret == 0)
        ret = recovery_secure(r, e);
    LIST_EACH (it, &d->logs)
        if (ret == 0)
            ret = recovery_redo(r, list_entry(it, struct log, link), e);
    /* Names that the incarnation before made and did not sync are kept now, so they must last. */
    if (ret == 0 && !(r->found && MUTATED(d->env->mutations, RECOVERY_NO_SYNC)))
        ret = sync_dir_now(d, "", e);
    d->root_dirty = false;
    return ret < 0 ? ret : new_start(r, e);
}

/* What each log needs to go on; those that got something from the journal have a snapshot to
 * write. */
static void settle(struct recovery *r)
{
    struct logdir *d = r->d;

    d->recovering = false;
    LIST_EACH (it, &d->logs) {
        struct log *l = list_entry(it, struct log, link);
        if ((l->redo || r->kafka || l->txn_rebuilt) && !l->dirty && l->durable_seg) {
            l->dirty = true;
            d->n_dirty++;
            list_push(&d->dirty, &l->dirty_link);
        }
        if (!l->dir_made)
            list_push(&d->to_make, &l->stamp_link);
    }
    sweep(r);
    if (d->n_dirty || !list_empty(&d->to_make))
        logdir_arm_tick(d);
}

int recovery_run(struct logdir *d, struct logdir_report *report, struct err *e)
{
    struct recovery *r = recovery_new(d, report);
    int64_t began = env_wall_ms(d->env), took;
    char path[PATH_CAP];
    int ret;

    if (!r)
        return err_set(e, ERR_NOMEM, "%s: out of memory", d->path);
    memset(report, 0, sizeof *report);
    d->recovery = r;
    d->recovering = true;
    snprintf(path, sizeof path, "%s/journal", d->path);
    ret = d->env->vt->mkdir(d->env, path);
    if (ret < 0 && ret != -ERR_EXISTS)
        ret = err_set(e, -ret, "%s: cannot be made: %s", path, err_text(ret));
    else
        ret = read_root(r, e);
    if (ret == 0)
        ret = read_checkpoint(r, e);
    if (ret == 0)
        ret = recovery_scan(r, e);
    if (ret == 0)
        ret = tell_kafka(r, e);
    if (ret == 0)
        ret = open_logs(r, e);
    if (ret == 0)
        ret = write_phase(r, e);
    if (ret == 0)
        settle(r);
    took = env_wall_ms(d->env) - began;
    report->duration_ns = took > 0 ? ENV_MS(took) : 0;
    recovery_free(r);
    return ret;
}

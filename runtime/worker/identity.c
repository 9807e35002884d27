/* runtime/worker/identity.c - reading, making and renewing an identity, and taking a slot. */
#include "runtime/worker/identity.h"
#include <stdio.h>

enum { FILE_BYTES = 22 + 3 * 16 + 1 };

static int make_dir(struct env *env, const char *path, struct err *e)
{
    int rc = env->vt->mkdir(env, path);

    if (rc && rc != -ERR_EXISTS)
        return err_set(e, -rc, "%s: cannot make the directory: %s", path, err_text(rc));
    return 0;
}

/* Makes path and what lies above it. */
static int make_dirs(struct env *env, const char *path, struct err *e)
{
    char part[400];
    size_t n = strlen(path);

    if (n >= sizeof part)
        return err_set(e, ERR_TOO_BIG, "%s: path too long", path);
    for (size_t i = 1; i <= n; i++) {
        int rc;
        if (path[i] != '/' && path[i] != 0)
            continue;
        memcpy(part, path, i);
        part[i] = 0;
        rc = env->vt->mkdir(env, part);
        if (rc && rc != -ERR_EXISTS && path[i] == 0)
            return err_set(e, -rc, "%s: cannot make the directory: %s", part, err_text(rc));
    }
    return 0;
}

static void format_file(const struct identity *id, const struct env_id *dir,
                        char out[FILE_BYTES + 1])
{
    char text[23];

    uuid_text(&id->uuid, text);
    snprintf(out, FILE_BYTES + 1, "%s%016llx%016llx%016llx\n", text,
             (unsigned long long)dir->device, (unsigned long long)dir->inode,
             (unsigned long long)dir->birth_ns);
}

static int sync_parent(struct env *env, const char *path)
{
    char parent[400];
    const char *slash = strrchr(path, '/');

    if (!slash)
        return env->vt->sync_dir_wait(env, ".");
    snprintf(parent, sizeof parent, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    return env->vt->sync_dir_wait(env, parent);
}

/* Keeps the UUID if the file was written for this very directory, else makes a new one. */
static int load(struct identity *id, const char *state_dir, struct err *e)
{
    char path[420], old[FILE_BYTES + 1] = {0}, want[FILE_BYTES + 1];
    struct env *env = id->env;
    struct env_file f;
    struct env_id dir;
    uint64_t size;
    int64_t n;
    int rc = env->vt->identify(env, state_dir, &dir);

    if (rc)
        return err_set(e, -rc, "%s: %s", state_dir, err_text(rc));
    snprintf(path, sizeof path, "%s/identity", state_dir);
    rc = env_open(env, &f, path, ENV_CREATE, &size);
    if (rc)
        return err_set(e, -rc, "%s: cannot open: %s", path, err_text(rc));
    n = env_read_wait(&f, 0, (struct span){(unsigned char *)old, FILE_BYTES});
    if (n == FILE_BYTES && uuid_parse(slice_of(old, 22), &id->uuid) == 0) {
        format_file(id, &dir, want);
        if (memcmp(old, want, FILE_BYTES) == 0) {
            env_close(&f);
            return 0;
        }
    }
    id->renewed = n > 0;
    env->vt->random(env, id->uuid.b, sizeof id->uuid.b);
    format_file(id, &dir, want);
    n = env_write_wait(&f, 0, &(struct slice){(unsigned char *)want, FILE_BYTES}, 1, ENV_SYNC);
    env_close(&f);
    if (n >= 0)
        n = env->vt->sync_dir_wait(env, state_dir);
    if (n >= 0) /* a power cut that took the directory itself would make a stranger of us */
        n = sync_parent(env, state_dir);
    if (n < 0)
        return err_set(e, (int)-n, "%s: cannot write: %s", path, err_text((int)n));
    return 0;
}

int identity_take(struct identity *id, struct env *env, const char *state_dir, struct slice job,
                  struct err *e)
{
    char dir[300], text[23];
    int rc = make_dirs(env, state_dir, e);

    memset(id, 0, sizeof *id);
    id->env = env;
    if (!rc)
        rc = load(id, state_dir, e);
    if (rc)
        return rc;
    if (snprintf(dir, sizeof dir, "%s/%.*s", state_dir, SLICE_FMT(job)) >= (int)sizeof dir)
        return err_set(e, ERR_TOO_BIG, "%s: path too long", state_dir);
    rc = make_dir(env, dir, e);
    for (id->slot = 0; !rc && id->slot < SLOTS_MAX; id->slot++) {
        snprintf(id->dir, sizeof id->dir, "%s/%d", dir, id->slot);
        snprintf(id->lock, sizeof id->lock, "%s/lock", id->dir);
        rc = make_dir(env, id->dir, e);
        if (rc)
            return rc;
        rc = env->vt->lock(env, id->lock);
        if (rc == 0) {
            id->locked = true;
            uuid_text(&id->uuid, text);
            snprintf(id->name, sizeof id->name, "%.*s-%s-%d", SLICE_FMT(job), text, id->slot);
            return 0;
        }
        if (rc != -ERR_BUSY)
            return err_set(e, -rc, "%s: cannot lock: %s", id->lock, err_text(rc));
        rc = 0;
    }
    return rc ? rc : err_set(e, ERR_LIMIT, "%s: all %d slots are taken", dir, SLOTS_MAX);
}

void identity_release(struct identity *id)
{
    if (id->locked)
        id->env->vt->unlock(id->env, id->lock);
    id->locked = false;
}

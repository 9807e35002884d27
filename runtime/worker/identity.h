/* runtime/worker/identity.h - who a worker is: a state directory's UUID and the lowest free slot in
 * it.
 *
 * STATE/identity holds the UUID and the directory's device, inode and birth time: a copied
 * directory takes a new UUID, so that two machines never collide. STATE/JOB/SLOT/lock is held while
 * the worker lives; a restarted worker gets its slot, and with it its transactional id and group
 * instance id, back at once. */
#ifndef ONCE_RUNTIME_WORKER_IDENTITY_H
#define ONCE_RUNTIME_WORKER_IDENTITY_H
#include "base/bytes.h"
#include "base/env.h"

enum { SLOTS_MAX = 1024 };
struct identity {
    struct env *env;
    struct uuid uuid;
    int slot;
    char dir[400]; /* STATE/JOB/SLOT */
    char lock[420];
    char name[160]; /* JOB-UUID-SLOT */
    bool locked;
    bool renewed; /* the directory was copied: stores in it are not ours */
};
/* Takes the lowest free slot. -ERR_LIMIT: none of SLOTS_MAX is free; -ERR_ACCESS and the like with
 * a text. */
int identity_take(struct identity *id, struct env *env, const char *state_dir, struct slice job,
                  struct err *e);
void identity_release(struct identity *id);
#endif

/* base/sim_disk.h - a disk in memory that can lose what was not synced.
 *
 * Each file has its bytes as readers see them and those that a power cut would leave; between the
 * two lie its unsynced changes, in order. A sync moves them over. Likewise each folder has its
 * names now and its durable ones, with the disk's list of unsynced creations, renames and removals
 * between.
 *
 *  - A process crash changes nothing here: all stays readable, and unsynced.
 *  - A power cut lets each unsynced write be kept, lost, torn at a sector or garbled, each
 *    truncation and each change of a folder be kept or forgotten. A file's sync says nothing of its
 *    name, only sync_dir does. What was durable before is never hurt.
 *  - After a failed sync the unsynced writes stay readable, but no later sync saves them.
 *
 * Nothing here knows of nodes or time; env_sim.c calls it when an op takes effect. */
#ifndef ONCE_BASE_SIM_DISK_H
#define ONCE_BASE_SIM_DISK_H
#include "base/env.h"

struct sim_inode;
struct sim_disk {
    struct sim_inode *root;
    struct list inodes;  /* all that exist */
    struct list dir_ops; /* unsynced changes of folders, oldest first */
    uint64_t next_ino, device, rng[4];
    unsigned char boot[16];
    uint64_t used, quota; /* bytes; quota UINT64_MAX: no limit */
    /* Chances in a million that an op fails with -ERR_IO. */
    uint32_t read_fails, write_fails, sync_fails;
    uint32_t fail_syncs;                /* so many syncs fail from now on, for certain */
    uint64_t n_lost, n_torn, n_garbled; /* what power cuts did to writes so far */
};

void sim_disk_init(struct sim_disk *d, uint64_t seed, uint64_t device);
void sim_disk_deinit(struct sim_disk *d);
/* The power is gone and back: a new boot. No inode may be open. */
void sim_disk_power_cut(struct sim_disk *d);

/* Errors as struct env_vt's calls have them. An inode from open is closed by sim_disk_close. */
int sim_disk_open(struct sim_disk *d, const char *path, int flags, uint64_t now,
                  struct sim_inode **out);
void sim_disk_close(struct sim_disk *d, struct sim_inode *i);
int sim_disk_rename(struct sim_disk *d, const char *from, const char *to);
int sim_disk_mkdir(struct sim_disk *d, const char *path, uint64_t now);
int sim_disk_list(struct sim_disk *d, const char *dir, void (*each)(void *u, const char *name),
                  void *u);
int sim_disk_remove(struct sim_disk *d, const char *path);
int sim_disk_is_dir(struct sim_disk *d, const char *path); /* 0, or -ERR_NOT_FOUND */
int sim_disk_sync_dir(struct sim_disk *d, const char *path);
int sim_disk_identify(struct sim_disk *d, const char *path, struct env_id *id);
uint64_t sim_disk_free(const struct sim_disk *d);

uint64_t sim_disk_size(const struct sim_inode *i);
int64_t sim_disk_read(struct sim_disk *d, struct sim_inode *i, uint64_t at, struct span to);
/* Bytes written; the disk may fill up before the end, then a part of them is there. */
int64_t sim_disk_write(struct sim_disk *d, struct sim_inode *i, uint64_t at, const struct slice *v,
                       int n);
/* Just the first `bytes` of it, without fault: what a crash left of a write. */
void sim_disk_write_part(struct sim_disk *d, struct sim_inode *i, uint64_t at,
                         const struct slice *v, int n, uint64_t bytes);
int sim_disk_sync(struct sim_disk *d, struct sim_inode *i);
int sim_disk_truncate(struct sim_disk *d, struct sim_inode *i, uint64_t size);
int sim_disk_reserve(struct sim_disk *d, struct sim_inode *i, uint64_t at, uint64_t len, int flags);
#endif

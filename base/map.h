/* base/map.h - hash maps whose order is the order of insertion, so that no hash shows in behaviour.
 *
 * map: keys are bytes, copied. idmap: keys are 64-bit numbers. Values are pointers, never freed by
 * the map. Removing while iterating with MAP_EACH is allowed; inserting is not. */
#ifndef ONCE_BASE_MAP_H
#define ONCE_BASE_MAP_H
#include "base/slice.h"

struct map_entry {
    struct slice key; /* owned by the map; p == NULL: removed */
    uint64_t hash;
    void *value;
};
struct map {
    struct map_entry *entries; /* in order of insertion, with holes */
    uint32_t *index;           /* open addressing: entry + 1, 0 empty, UINT32_MAX removed */
    uint32_t n, n_entries, cap, index_cap;
};

void map_init(struct map *m);
void map_deinit(struct map *m);
void *map_get(const struct map *m, struct slice key);
/* Adds or replaces: 0 or -ERR_NOMEM. */
int map_put(struct map *m, struct slice key, void *value);
/* The value removed, or NULL. */
void *map_del(struct map *m, struct slice key);
/* The next entry at or after *it, which moves on; NULL at the end. */
struct map_entry *map_next(const struct map *m, uint32_t *it);
/* clang-format off */
#define MAP_EACH(e, m)                                                                             \
    for (uint32_t e##_it = 0, e##_1 = 1; e##_1; e##_1 = 0)                                         \
        for (struct map_entry *e; (e = map_next((m), &e##_it)) != NULL;)
/* clang-format on */

struct idmap {
    struct map m;
};
void idmap_init(struct idmap *m);
void idmap_deinit(struct idmap *m);
void *idmap_get(const struct idmap *m, uint64_t key);
int idmap_put(struct idmap *m, uint64_t key, void *value);
void *idmap_del(struct idmap *m, uint64_t key);
/* The key of an entry of an idmap's map. */
uint64_t idmap_key(const struct map_entry *e);
#endif

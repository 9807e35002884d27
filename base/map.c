/* base/map.c - an index of open addressing over entries kept in order of insertion. */
#include "base/map.h"
#include "base/err.h"
#include "base/hash.h"
#include <stdlib.h>

#define REMOVED UINT32_MAX

void map_init(struct map *m)
{
    *m = (struct map){0};
}

void map_deinit(struct map *m)
{
    for (uint32_t i = 0; i < m->n_entries; i++)
        free((void *)m->entries[i].key.p);
    free(m->entries);
    free(m->index);
    map_init(m);
}

/* The place in the index of key, or UINT32_MAX. */
static uint32_t find(const struct map *m, struct slice key, uint64_t hash)
{
    if (!m->index_cap)
        return UINT32_MAX;
    for (uint32_t i = (uint32_t)hash & (m->index_cap - 1);; i = (i + 1) & (m->index_cap - 1)) {
        uint32_t at = m->index[i];
        if (at == 0)
            return UINT32_MAX;
        if (at != REMOVED && m->entries[at - 1].hash == hash &&
            slice_eq(m->entries[at - 1].key, key))
            return i;
    }
}

void *map_get(const struct map *m, struct slice key)
{
    uint32_t i = find(m, key, hash_bytes(key));
    return i == UINT32_MAX ? NULL : m->entries[m->index[i] - 1].value;
}

static void index_put(struct map *m, uint32_t entry)
{
    uint32_t i = (uint32_t)m->entries[entry].hash & (m->index_cap - 1);
    while (m->index[i] != 0 && m->index[i] != REMOVED)
        i = (i + 1) & (m->index_cap - 1);
    m->index[i] = entry + 1;
}

/* Room for one more entry; squeezes out the holes while at it. */
static int make_room(struct map *m)
{
    uint32_t cap, to = 0;
    struct map_entry *entries;
    uint32_t *index;

    if (m->n_entries < m->cap)
        return 0;
    cap = m->n >= m->cap / 2 ? (m->cap ? m->cap * 2 : 8) : m->cap;
    entries = malloc(cap * sizeof *entries);
    index = calloc((size_t)cap * 2, sizeof *index);
    if (!entries || !index) {
        free(entries);
        free(index);
        return -ERR_NOMEM;
    }
    for (uint32_t i = 0; i < m->n_entries; i++)
        if (m->entries[i].key.p)
            entries[to++] = m->entries[i];
    free(m->entries);
    free(m->index);
    *m = (struct map){entries, index, m->n, to, cap, cap * 2};
    for (uint32_t i = 0; i < to; i++)
        index_put(m, i);
    return 0;
}

int map_put(struct map *m, struct slice key, void *value)
{
    uint64_t hash = hash_bytes(key);
    uint32_t i = find(m, key, hash);
    unsigned char *copy;

    if (i != UINT32_MAX) {
        m->entries[m->index[i] - 1].value = value;
        return 0;
    }
    copy = malloc(key.n + 1);
    if (!copy || make_room(m)) {
        free(copy);
        return -ERR_NOMEM;
    }
    if (key.n)
        memcpy(copy, key.p, key.n);
    copy[key.n] = 0;
    m->entries[m->n_entries] = (struct map_entry){slice_of(copy, key.n), hash, value};
    index_put(m, m->n_entries++);
    m->n++;
    return 0;
}

void *map_del(struct map *m, struct slice key)
{
    uint32_t i = find(m, key, hash_bytes(key));
    struct map_entry *e;
    void *value;

    if (i == UINT32_MAX)
        return NULL;
    e = &m->entries[m->index[i] - 1];
    value = e->value;
    free((void *)e->key.p);
    *e = (struct map_entry){0};
    m->index[i] = REMOVED;
    m->n--;
    return value;
}

struct map_entry *map_next(const struct map *m, uint32_t *it)
{
    while (*it < m->n_entries) {
        struct map_entry *e = &m->entries[(*it)++];
        if (e->key.p)
            return e;
    }
    return NULL;
}

void idmap_init(struct idmap *m)
{
    map_init(&m->m);
}

void idmap_deinit(struct idmap *m)
{
    map_deinit(&m->m);
}

void *idmap_get(const struct idmap *m, uint64_t key)
{
    return map_get(&m->m, slice_of(&key, sizeof key));
}

int idmap_put(struct idmap *m, uint64_t key, void *value)
{
    return map_put(&m->m, slice_of(&key, sizeof key), value);
}

void *idmap_del(struct idmap *m, uint64_t key)
{
    return map_del(&m->m, slice_of(&key, sizeof key));
}

uint64_t idmap_key(const struct map_entry *e)
{
    uint64_t key;
    memcpy(&key, e->key.p, sizeof key);
    return key;
}

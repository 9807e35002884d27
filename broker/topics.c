/* broker/topics.c - the table of topics: made, removed, recovered.
 *
 * A topic exists when its metadata record is staged: what the broker answers about it waits for
 * that record's lsn (topic.lsn). The record is written first, then the logs are opened, all in
 * one bundle. A log that cannot be opened takes the topic back by a second record of the same
 * round. */
#include "base/check.h"
#include "broker/group/coordinator.h"
#include "broker/internal.h"
#include <stdlib.h>

#define INTERNAL_SEGMENT_BYTES "104857600"

/* ---- the table ---- */

static struct slice id_key(const struct uuid *id)
{
    return slice_of(id->b, sizeof id->b);
}

struct topic *broker_topic(struct broker *b, struct slice name)
{
    return map_get(&b->topics, name);
}

struct topic *broker_topic_by_id(struct broker *b, const struct uuid *id)
{
    return map_get(&b->topic_ids, id_key(id));
}

struct partition *broker_partition(struct broker *b, struct slice topic, int32_t index)
{
    struct topic *t = broker_topic(b, topic);
    return t && index >= 0 && index < t->n_partitions ? t->partitions[index] : NULL;
}

struct map *broker_topics(struct broker *b)
{
    return &b->topics;
}

static bool internal_name(struct slice name)
{
    return slice_eq_str(name, GROUP_TOPIC) || slice_eq_str(name, "__transaction_state");
}

static void topic_free(struct topic *t)
{
    for (int32_t i = 0; t->partitions && i < t->n_partitions; i++)
        free(t->partitions[i]);
    free(t->partitions);
    conf_deinit(&t->config);
    free((void *)t->name.p);
    free(t);
}

static int topic_alloc_partitions(struct topic *t, int32_t n)
{
    struct partition **v = realloc(t->partitions, sizeof *v * (size_t)n);
    if (!v)
        return -ERR_NOMEM;
    t->partitions = v;
    while (t->n_partitions < n) {
        struct partition *p = calloc(1, sizeof *p);
        if (!p)
            return -ERR_NOMEM;
        partition_init(p, t, t->n_partitions);
        v[t->n_partitions++] = p;
    }
    return 0;
}

/* A topic in the table, without logs. NULL: out of memory. */
static struct topic *topic_add(struct broker *b, struct slice name, const struct uuid *id,
                               int32_t partitions, const struct conf *config)
{
    struct topic *t = calloc(1, sizeof *t);
    unsigned char *copy = malloc(name.n + 1);
    if (!t || !copy) {
        free(t);
        free(copy);
        return NULL;
    }
    memcpy(copy, name.p, name.n);
    copy[name.n] = 0;
    t->name = slice_of(copy, name.n);
    t->id = *id;
    t->internal = internal_name(name);
    conf_init(&t->config);
    if (conf_copy(&t->config, config) || topic_alloc_partitions(t, partitions))
        goto fail;
    if (map_put(&b->topics, t->name, t))
        goto fail;
    if (map_put(&b->topic_ids, id_key(id), t)) {
        map_del(&b->topics, t->name);
        goto fail;
    }
    return t;
fail:
    topic_free(t);
    return NULL;
}

/* Out of the table; its partitions' logs are the caller's business. */
static void topic_drop(struct broker *b, struct topic *t)
{
    map_del(&b->topics, t->name);
    map_del(&b->topic_ids, id_key(&t->id));
}

static void settle(struct broker *b, struct topic *t, struct log_config *log)
{
    topic_config_resolve(&t->config, b->o.conf, &t->settings, log);
}

/* ---- logs ---- */

static int open_partition(struct broker *b, struct logdir *d, struct partition *p,
                          const struct log_config *config, struct err *e)
{
    struct topic *t = p->topic;
    if (b->plugged && b->plug.attach(b->plug.self, p))
        return err_set(e, ERR_NOMEM, "%.*s-%d: out of memory", SLICE_FMT(t->name), p->index);
    int rc = logdir_log_open(d, t->name, &t->id, p->index, config, t->internal ? LOG_REPLAY_ALL : 0,
                             p, &p->log, e);
    if (rc && b->plugged)
        b->plug.detach(b->plug.self, p);
    return rc;
}

static void close_partition(struct broker *b, struct partition *p)
{
    LIST_EACH_SAFE (l, next, &p->waits) {
        struct partition_wait *w = list_entry(l, struct partition_wait, link);
        list_remove(l);
        w->wake(w, true);
    }
    if (b->plugged)
        b->plug.detach(b->plug.self, p);
    logdir_log_delete(b->logdir, p->log);
    p->log = NULL;
}

static int open_logs(struct broker *b, struct logdir *d, struct topic *t, struct err *e)
{
    struct log_config config;
    settle(b, t, &config);
    for (int32_t i = 0; i < t->n_partitions; i++) {
        int rc = open_partition(b, d, t->partitions[i], &config, e);
        if (rc)
            return rc;
    }
    return 0;
}

/* ---- creation ---- */

static bool name_valid(struct slice name)
{
    if (!name.p || name.n == 0 || name.n > 249 || slice_eq_str(name, ".") ||
        slice_eq_str(name, ".."))
        return false;
    for (size_t i = 0; i < name.n; i++) {
        unsigned char c = name.p[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '.' || c == '_' || c == '-'))
            return false;
    }
    return true;
}

/* Kafka's metrics take '.' and '_' for one; so do its names. */
static bool names_collide(struct slice a, struct slice b)
{
    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++) {
        unsigned char x = a.p[i] == '.' ? '_' : a.p[i], y = b.p[i] == '.' ? '_' : b.p[i];
        if (x != y)
            return false;
    }
    return true;
}

static const struct topic *collision(struct broker *b, struct slice name)
{
    if (!memchr(name.p, '.', name.n) && !memchr(name.p, '_', name.n))
        return NULL;
    MAP_EACH (entry, &b->topics) {
        if (names_collide(entry->key, name))
            return entry->value;
    }
    return NULL;
}

enum kafka_error broker_topic_check(struct broker *b, struct slice name, int32_t *partitions,
                                    const struct conf *config, struct err *e)
{
    const struct topic *other;
    if (name.p && broker_topic(b, name)) {
        err_set(e, ERR_EXISTS, "Topic '%.*s' already exists.", SLICE_FMT(name));
        return KAFKA_TOPIC_ALREADY_EXISTS;
    }
    if (!name_valid(name) || slice_eq_str(name, METADATA_TOPIC)) {
        err_set(e, ERR_INVALID,
                "Topic name '%.*s' is illegal: 1 to 249 of a-z A-Z 0-9 . _ -, neither . nor ..",
                SLICE_FMT(name));
        return KAFKA_INVALID_TOPIC_EXCEPTION;
    }
    other = collision(b, name);
    if (other) {
        err_set(e, ERR_INVALID, "Topic '%.*s' collides with existing topic: %.*s", SLICE_FMT(name),
                SLICE_FMT(other->name));
        return KAFKA_INVALID_TOPIC_EXCEPTION;
    }
    if (*partitions == -1)
        *partitions = b->num_partitions;
    if (*partitions < 1 || *partitions > PARTITIONS_MAX) {
        err_set(e, ERR_INVALID, "Number of partitions must be between 1 and %d, not %d",
                PARTITIONS_MAX, *partitions);
        return KAFKA_INVALID_PARTITIONS;
    }
    return topic_config_check(config, e) ? KAFKA_INVALID_CONFIG : KAFKA_NONE;
}

static enum kafka_error write_topic(struct broker *b, const struct topic *t, struct err *e)
{
    struct meta_topic m;
    meta_topic_init(&m);
    m.name = t->name;
    m.topic_id = t->id;
    m.partitions = t->n_partitions;
    if (t->config.n) {
        m.configs.v = calloc((size_t)t->config.n, sizeof *m.configs.v);
        CHECK(m.configs.v);
    }
    for (int i = 0; i < t->config.n; i++) {
        m.configs.v[i].name = slice_str(t->config.v[i].key);
        m.configs.v[i].value = slice_str(t->config.v[i].value);
        m.configs.n++;
    }
    enum kafka_error error = metadata_write(b, META_TOPIC, &m, e);
    free(m.configs.v);
    return error;
}

static enum kafka_error write_remove(struct broker *b, const struct topic *t, struct err *e)
{
    struct meta_topic_remove m;
    meta_topic_remove_init(&m);
    m.topic_id = t->id;
    m.name = t->name;
    return metadata_write(b, META_TOPIC_REMOVE, &m, e);
}

/* The topic's record, then its logs. */
static enum kafka_error make(struct broker *b, struct topic *t, struct err *e)
{
    enum kafka_error error = write_topic(b, t, e);
    if (error)
        return error;
    t->lsn = b->metadata_lsn;
    if (open_logs(b, b->logdir, t, e) == 0)
        return KAFKA_NONE;
    for (int32_t i = 0; i < t->n_partitions && t->partitions[i]->log; i++)
        close_partition(b, t->partitions[i]);
    (void)write_remove(b, t, NULL);
    return KAFKA_KAFKA_STORAGE_ERROR;
}

enum kafka_error broker_topic_create(struct broker *b, struct slice name, int32_t partitions,
                                     const struct conf *config, struct topic **out, struct err *e)
{
    struct uuid id;
    struct err local = {0};
    if (!e)
        e = &local;
    enum kafka_error error = broker_topic_check(b, name, &partitions, config, e);
    if (error)
        return error;
    do
        b->env->vt->random(b->env, &id, sizeof id);
    while (uuid_is_zero(&id) || broker_topic_by_id(b, &id));
    struct topic *t = topic_add(b, name, &id, partitions, config);
    if (!t) {
        err_set(e, ERR_NOMEM, "out of memory");
        return KAFKA_UNKNOWN_SERVER_ERROR;
    }
    logdir_bundle_begin(b->logdir);
    error = make(b, t, e);
    logdir_bundle_end(b->logdir);
    if (error) {
        env_warn(b->env, "topic %.*s was not created: %s", SLICE_FMT(name), e->text);
        topic_drop(b, t);
        topic_free(t);
        return error;
    }
    if (out)
        *out = t;
    return KAFKA_NONE;
}

struct topic *broker_internal_topic(struct broker *b, const char *name, int32_t partitions)
{
    struct topic *t = broker_topic(b, slice_str(name));
    struct conf config;
    if (t)
        return t;
    conf_init(&config);
    int rc = conf_set(&config, slice_str("cleanup.policy"), slice_str("compact"));
    rc = rc ? rc : conf_set(&config, slice_str("compression.type"), slice_str("producer"));
    rc = rc ? rc : conf_set(&config, slice_str("segment.bytes"), slice_str(INTERNAL_SEGMENT_BYTES));
    if (!rc)
        (void)broker_topic_create(b, slice_str(name), partitions, &config, &t, NULL);
    conf_deinit(&config);
    return t;
}

enum kafka_error broker_topic_delete(struct broker *b, struct topic *t)
{
    logdir_bundle_begin(b->logdir);
    enum kafka_error error = write_remove(b, t, NULL);
    if (!error) {
        struct uuid id = t->id;
        topic_drop(b, t);
        group_coordinator_topic_deleted(b->groups, t);
        for (int32_t i = 0; i < t->n_partitions; i++)
            close_partition(b, t->partitions[i]);
        if (b->plugged)
            b->plug.topic_deleted(b->plug.self, &id);
        topic_free(t);
    }
    logdir_bundle_end(b->logdir);
    return error;
}

void topics_free(struct broker *b)
{
    MAP_EACH (entry, &b->topics) {
        struct topic *t = entry->value;
        for (int32_t i = 0; i < t->n_partitions; i++)
            if (b->plugged && t->partitions[i]->log)
                b->plug.detach(b->plug.self, t->partitions[i]);
        topic_free(t);
    }
    map_deinit(&b->topics);
    map_deinit(&b->topic_ids);
}

/* ---- recovery ---- */

int topics_replay_create(struct broker *b, const struct meta_topic *m, struct err *e)
{
    struct conf config;
    int rc = 0;
    if (m->partitions < 1 || m->partitions > PARTITIONS_MAX || !m->name.n)
        return err_set(e, ERR_CORRUPT, "metadata: topic '%.*s' with %d partitions",
                       SLICE_FMT(m->name), m->partitions);
    if (broker_topic(b, m->name))
        return err_set(e, ERR_CORRUPT, "metadata: topic '%.*s' is created twice",
                       SLICE_FMT(m->name));
    conf_init(&config);
    for (int32_t i = 0; i < m->configs.n && !rc; i++)
        rc = conf_set(&config, m->configs.v[i].name, m->configs.v[i].value);
    if (!rc && !topic_add(b, m->name, &m->topic_id, m->partitions, &config))
        rc = -ERR_NOMEM;
    conf_deinit(&config);
    return rc ? err_set(e, -rc, "metadata: topic '%.*s': %s", SLICE_FMT(m->name), err_text(rc)) : 0;
}

int topics_replay_config(struct broker *b, const struct meta_topic_config *m, struct err *e)
{
    struct topic *t = broker_topic_by_id(b, &m->topic_id);
    int rc = 0;
    if (!t)
        return 0;
    conf_deinit(&t->config);
    conf_init(&t->config);
    for (int32_t i = 0; i < m->configs.n && !rc; i++)
        rc = conf_set(&t->config, m->configs.v[i].name, m->configs.v[i].value);
    return rc ? err_set(e, -rc, "metadata: configs of '%.*s'", SLICE_FMT(t->name)) : 0;
}

void topics_replay_remove(struct broker *b, const struct meta_topic_remove *m)
{
    struct topic *t = broker_topic_by_id(b, &m->topic_id);
    if (!t)
        return;
    topic_drop(b, t);
    topic_free(t);
}

int topics_adopt(struct broker *b, struct slice name, const struct uuid *id, int32_t partition,
                 struct err *e)
{
    struct topic *t = broker_topic(b, name);
    struct conf config;
    if (slice_eq_str(name, "__cluster_metadata"))
        return 0;
    if (!name_valid(name) || partition < 0 || partition >= PARTITIONS_MAX)
        return err_set(e, ERR_INVALID, "%.*s-%d is no name of a partition", SLICE_FMT(name),
                       partition);
    if (t && !uuid_eq(&t->id, id))
        return err_set(e, ERR_INVALID, "partitions of topic %.*s have different topic ids",
                       SLICE_FMT(name));
    b->adopting = true;
    if (t)
        return topic_alloc_partitions(t, partition + 1 > t->n_partitions ? partition + 1
                                                                         : t->n_partitions);
    conf_init(&config);
    int rc = internal_name(name)
                 ? conf_set(&config, slice_str("cleanup.policy"), slice_str("compact"))
                 : 0;
    if (!rc && !topic_add(b, name, id, partition + 1, &config))
        rc = -ERR_NOMEM;
    conf_deinit(&config);
    return rc ? err_set(e, -rc, "topic %.*s", SLICE_FMT(name)) : 0;
}

int topics_declare(struct broker *b, struct logdir *d, struct err *e)
{
    MAP_EACH (entry, &b->topics) {
        int rc = open_logs(b, d, entry->value, e);
        if (rc)
            return rc;
    }
    return 0;
}

int topics_write_adopted(struct broker *b, struct err *e)
{
    int rc = 0;
    if (!b->adopting)
        return 0;
    logdir_bundle_begin(b->logdir);
    MAP_EACH (entry, &b->topics) {
        if (!rc && write_topic(b, entry->value, e))
            rc = -ERR_IO;
    }
    logdir_bundle_end(b->logdir);
    b->adopting = false;
    return rc;
}

/* broker/metadata_log.c - records of the metadata partition: written, read back at recovery.
 *
 * One record a batch. Key: int16 type, then the topic's id where the record is about one; value:
 * int16 version 0, then the message of base/wire/schema/meta.lua. What was written is true when
 * its lsn is durable; b->metadata_lsn remembers the last. */
#include "base/check.h"
#include "broker/internal.h"

enum { RECORD_MAX = 1 << 20 };

static const struct uuid *topic_of(int16_t type, const void *message)
{
    switch (type) {
    case META_TOPIC: return &((const struct meta_topic *)message)->topic_id;
    case META_TOPIC_REMOVE: return &((const struct meta_topic_remove *)message)->topic_id;
    case META_TOPIC_CONFIG: return &((const struct meta_topic_config *)message)->topic_id;
    case META_LOG_START: return &((const struct meta_log_start *)message)->topic_id;
    default: return NULL;
    }
}

static int write_batch(struct buf *out, int16_t type, const void *message, int64_t now_ms)
{
    const struct uuid *id = topic_of(type, message);
    struct buf key, value;
    struct batch_writer w;
    struct batch_writer_options o = {.leader_epoch = -1};
    buf_init(&key, 64);
    buf_init(&value, RECORD_MAX);
    (void)wire_put_i16(&key, type);
    if (id)
        (void)buf_put(&key, id, sizeof *id);
    (void)wire_put_i16(&value, 0);
    int rc = wire_encode(wire_meta(type), message, &value, 0);
    if (!rc)
        rc = key.failed ? key.failed : value.failed;
    if (!rc)
        rc = batch_writer_begin(&w, out, &o);
    if (!rc) {
        rc = batch_writer_add(&w, now_ms, buf_slice(&key), buf_slice(&value), NULL, 0);
        int end = batch_writer_finish(&w, -1, -1, -1);
        rc = rc ? rc : end;
    }
    buf_deinit(&key);
    buf_deinit(&value);
    return rc;
}

enum kafka_error metadata_write(struct broker *b, int16_t type, const void *message, struct err *e)
{
    struct buf out;
    struct batch_info info;
    buf_init(&out, RECORD_MAX + 4096);
    int rc = write_batch(&out, type, message, env_wall_ms(b->env));
    if (!rc) {
        CHECK(batch_header(buf_slice(&out), &info) == 0);
        rc = log_append_copy(logdir_metadata(b->logdir), buf_slice(&out), &info);
    }
    buf_deinit(&out);
    if (rc) {
        err_set(e, -rc, "the metadata log: %s", err_text(rc));
        return rc == -ERR_LIMIT ? KAFKA_REQUEST_TIMED_OUT : KAFKA_KAFKA_STORAGE_ERROR;
    }
    b->metadata_lsn = logdir_staged(b->logdir);
    return KAFKA_NONE;
}

/* ---- recovery ---- */

static int apply(struct broker *b, int16_t type, const void *message, struct err *e)
{
    switch (type) {
    case META_TOPIC: return topics_replay_create(b, message, e);
    case META_TOPIC_REMOVE: topics_replay_remove(b, message); return 0;
    case META_TOPIC_CONFIG: return topics_replay_config(b, message, e);
    case META_PRODUCER_IDS:
        b->producer_id_block = ((const struct meta_producer_ids *)message)->next_producer_id;
        return 0;
    default: return 0;
    }
}

static int replay_record(struct broker *b, const struct record *r, struct arena *arena,
                         struct err *e)
{
    union {
        struct meta_topic topic;
        struct meta_topic_remove remove;
        struct meta_topic_config config;
        struct meta_log_start start;
        struct meta_producer_ids ids;
        struct meta_broker broker;
    } m;
    struct wire_in key = {r->key.p, r->key.n, arena}, value = {r->value.p, r->value.n, arena};
    int16_t type, version;
    if (wire_get_i16(&key, &type) || wire_get_i16(&value, &version))
        return err_set(e, ERR_CORRUPT, "metadata record at offset %lld: too short",
                       (long long)r->offset);
    const struct wire_desc *d = wire_meta(type);
    if (!d || version != 0)
        return err_set(e, ERR_UNSUPPORTED,
                       "metadata record at offset %lld: type %d version %d is not known; the "
                       "directory was written by a newer version",
                       (long long)r->offset, type, version);
    CHECK(d->size <= sizeof m);
    int rc = wire_decode(d, &m, &value, version);
    if (rc)
        return err_set(e, -rc, "metadata record at offset %lld: %s", (long long)r->offset,
                       err_text(rc));
    return apply(b, type, &m, e);
}

int metadata_replay(struct broker *b, struct slice batch, struct err *e)
{
    struct record_iter it;
    struct record r;
    struct arena arena;
    arena_init(&arena, 16 << 20);
    int rc = record_iter_init(&it, batch, NULL);
    if (rc)
        err_set(e, -rc, "metadata batch: %s", err_text(rc));
    while (!rc && (rc = record_iter_next(&it, &r)) == 1)
        rc = replay_record(b, &r, &arena, e);
    if (rc == -ERR_CORRUPT && e && !e->code)
        err_set(e, ERR_CORRUPT, "metadata batch: malformed record");
    arena_deinit(&arena);
    return rc;
}

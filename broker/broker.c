/* broker/broker.c - a broker's life, and what ties log directory, topics, groups, plug and server
 * together.
 *
 * open (settings), plug, install APIs, recover (blocking), listen; close (server stops taking,
 * log closes, last replies leave, connections end) and free, which works from any state without
 * I/O. A log directory that halts ends the node: no answer leaves after that. */
#include "broker/broker.h"
#include "base/check.h"
#include "broker/group/coordinator.h"
#include "broker/internal.h"
#include <stdio.h>
#include <stdlib.h>

enum { INTERNAL_PARTITIONS = 4 };

/* ---- small things others ask ---- */

uint64_t broker_lsn(const struct broker *b)
{
    return b->logdir ? logdir_staged(b->logdir) : 0;
}
struct logdir *broker_logdir(struct broker *b)
{
    return b->logdir;
}
struct env *broker_env(struct broker *b)
{
    return b->env;
}
struct group_coordinator *broker_groups(struct broker *b)
{
    return b->groups;
}
const struct conf *broker_conf(const struct broker *b)
{
    return b->o.conf;
}
int32_t broker_epoch(const struct broker *b)
{
    return b->logdir ? logdir_epoch(b->logdir) : 0;
}
enum kafka_error broker_check_epoch(const struct broker *b, int32_t epoch)
{
    if (epoch == -1 || epoch == broker_epoch(b))
        return KAFKA_NONE;
    return epoch < broker_epoch(b) ? KAFKA_FENCED_LEADER_EPOCH : KAFKA_UNKNOWN_LEADER_EPOCH;
}
int32_t broker_node_id(const struct broker *b)
{
    return b->o.node_id;
}
const struct plug *broker_plugged(const struct broker *b)
{
    return b->plugged ? &b->plug : NULL;
}
uint64_t broker_metadata_lsn(const struct broker *b)
{
    return b->metadata_lsn;
}
bool broker_auto_create(const struct broker *b)
{
    return b->auto_create;
}

struct buf *broker_scratch(struct broker *b, struct compress **c)
{
    *c = &b->compress;
    return &b->scratch;
}

size_t broker_hold(struct broker *b, size_t *held, size_t n)
{
    size_t *all = &b->server.reply_bytes, others;

    *all = *all - *held + n;
    *held = n;
    others = *all - n;
    return others < SERVER_REPLY_BYTES_MAX ? (SERVER_REPLY_BYTES_MAX - others) / 8 : 0;
}

void broker_advertised(const struct broker *b, struct slice *host, int32_t *port)
{
    *host = slice_str(b->advertised_host ? b->advertised_host : "localhost");
    *port = b->advertised_port;
}

enum kafka_error broker_producer_id(struct broker *b, int64_t *id)
{
    if (b->producer_id_next == b->producer_id_end) {
        struct meta_producer_ids m = {b->producer_id_block + PRODUCER_ID_BLOCK};
        struct err e = {0};
        enum kafka_error error = metadata_write(b, META_PRODUCER_IDS, &m, &e);
        if (error)
            return error;
        b->producer_id_next = b->producer_id_block;
        b->producer_id_end = b->producer_id_block = m.next_producer_id;
    }
    *id = b->producer_id_next++;
    return KAFKA_NONE;
}

void broker_seen_producer_id(struct broker *b, int64_t id)
{
    if (id >= b->producer_id_block && id < INT64_MAX - 2 * PRODUCER_ID_BLOCK)
        b->producer_id_block = (id / PRODUCER_ID_BLOCK + 1) * PRODUCER_ID_BLOCK;
}

/* ---- waiting for room ---- */

void broker_room_wait(struct broker *b, struct room_wait *w)
{
    CHECK(!list_linked(&w->link));
    list_push(&b->room_waits, &w->link);
}

void broker_room_forget(struct room_wait *w)
{
    list_remove(&w->link);
}

static void room_run(struct env_task *t)
{
    struct broker *b = list_entry(t, struct broker, room_task);
    struct list now, *l;
    list_init(&now);
    while ((l = list_first(&b->room_waits))) {
        list_remove(l);
        list_push(&now, l);
    }
    while ((l = list_first(&now))) {
        struct room_wait *w = list_entry(l, struct room_wait, link);
        list_remove(l);
        w->retry(w);
    }
}

/* ---- hooks of the log directory ---- */

static int hook_metadata(void *user, struct slice batch, struct err *e)
{
    return metadata_replay(user, batch, e);
}

static int hook_adopt(void *user, struct slice topic, const struct uuid *id, int32_t partition,
                      struct err *e)
{
    return topics_adopt(user, topic, id, partition, e);
}

static int hook_declare(void *user, struct logdir *d, struct err *e)
{
    struct broker *b = user;
    b->logdir = d;
    return topics_declare(b, d, e);
}

static int hook_snapshot_load(void *user, struct log *log, int64_t offset, struct slice bytes)
{
    struct broker *b = user;
    struct partition *p = log_user(log);
    /* Each entry of 46 bytes behind the 10 of the head begins with a producer id. */
    for (size_t at = 10; at + 46 <= bytes.n; at += 46)
        broker_seen_producer_id(b, (int64_t)get_be64(bytes.p + at));
    return b->plugged && p ? b->plug.snapshot_load(b->plug.self, p, offset, bytes) : 0;
}

static int hook_replay(void *user, struct log *log, struct slice batch, struct err *e)
{
    struct partition *p = log_user(log);
    return p ? partition_replay(user, p, batch, e) : 0;
}

static void hook_log_durable(void *user, struct log *log, int64_t end)
{
    struct partition *p = log_user(log);
    if (p && p->log)
        partition_durable(user, p, end);
}

static void hook_on_durable(void *user, uint64_t lsn)
{
    server_durable(&((struct broker *)user)->server, lsn);
}

static int hook_snapshot_save(void *user, struct log *log, int64_t offset, struct buf *out)
{
    static const unsigned char none[4]; /* a count of 0 */
    struct broker *b = user;
    struct partition *p = log_user(log);
    if (b->plugged && p)
        return b->plug.snapshot_save(b->plug.self, p, offset, out);
    (void)wire_put_i16(out, 1);
    (void)wire_put_i32(out, (int32_t)crc32c(0, none, sizeof none));
    return buf_put(out, none, sizeof none);
}

static void hook_on_room(void *user)
{
    struct broker *b = user;
    if (!list_empty(&b->room_waits))
        env_task_add(b->env, &b->room_task);
}

static void hook_on_halt(void *user, const char *why)
{
    struct broker *b = user;
    b->halted = b->server.halted = true;
    env_error(b->env, "the broker stops: %s", why);
    env_halt(b->env, why);
}

/* ---- settings ---- */

static int read_number(struct broker *b, const char *name, int64_t fallback, int64_t min,
                       int64_t max, int64_t *out, struct err *e)
{
    int rc = conf_i64(b->o.conf, name, fallback, out, e);
    if (rc)
        return rc;
    if (*out < min || *out > max)
        return err_set(e, ERR_INVALID, "%s=%lld: must be between %lld and %lld", name,
                       (long long)*out, (long long)min, (long long)max);
    return 0;
}

static int read_settings(struct broker *b, struct err *e)
{
    int64_t partitions, offsets;
    int rc = conf_bool(b->o.conf, "auto.create.topics.enable", true, &b->auto_create, e);
    if (!rc)
        rc = read_number(b, "num.partitions", 1, 1, PARTITIONS_MAX, &partitions, e);
    if (!rc)
        rc = read_number(b, "offsets.topic.num.partitions", INTERNAL_PARTITIONS, 1, PARTITIONS_MAX,
                         &offsets, e);
    if (!rc)
        rc = read_number(b, "socket.request.max.bytes", 100 << 20, 1, INT32_MAX,
                         &b->server.frame_bytes_max, e);
    if (!rc)
        rc =
            read_number(b, "connections.max.idle.ms", 600000, -1, INT32_MAX, &b->server.idle_ms, e);
    if (!rc)
        rc = topic_config_check_broker(b->o.conf, e);
    if (rc)
        return rc;
    b->num_partitions = (int32_t)partitions;
    b->offsets_partitions = (int32_t)offsets;
    return 0;
}

/* HOST:PORT or [V6]:PORT into its parts; host is allocated. */
static int split_address(const char *addr, char **host, int32_t *port, struct err *e)
{
    const char *colon = strrchr(addr, ':');
    int64_t n;
    size_t len = colon ? (size_t)(colon - addr) : 0;
    if (!colon || parse_i64(slice_str(colon + 1), &n) || n < 0 || n > 65535)
        return err_set(e, ERR_INVALID, "'%s' is no HOST:PORT", addr);
    if (len >= 2 && addr[0] == '[' && addr[len - 1] == ']') {
        addr++;
        len -= 2;
    }
    *host = strndup(addr, len);
    *port = (int32_t)n;
    return *host ? 0 : err_set(e, ERR_NOMEM, "out of memory");
}

/* ---- life ---- */

int broker_open(struct broker **out, struct env *env, const struct broker_options *o, struct err *e)
{
    struct broker *b = calloc(1, sizeof *b);
    *out = NULL;
    if (!b)
        return err_set(e, ERR_NOMEM, "out of memory");
    b->env = env;
    b->o = *o;
    b->o.node_id = o->node_id ? o->node_id : 1;
    map_init(&b->topics);
    map_init(&b->topic_ids);
    buf_init(&b->scratch, SCRATCH_MAX);
    list_init(&b->room_waits);
    b->room_task.run = room_run;
    server_init(&b->server, b, env);
    b->data_dir = strdup(o->data_dir);
    b->listen = strdup(o->listen ? o->listen : "127.0.0.1:9092");
    int rc = b->data_dir && b->listen ? 0 : err_set(e, ERR_NOMEM, "out of memory");
    b->o.data_dir = b->data_dir;
    b->o.listen = b->listen;
    if (!rc)
        rc = read_settings(b, e);
    if (!rc && o->advertise)
        rc = split_address(o->advertise, &b->advertised_host, &b->advertised_port, e);
    if (!rc) {
        rc = group_coordinator_open(&b->groups, b);
        if (rc)
            err_set(e, -rc, "group coordinator: %s", err_text(rc));
    }
    if (rc) {
        broker_free(b);
        return rc;
    }
    *out = b;
    return 0;
}

void broker_plug(struct broker *b, const struct plug *plug)
{
    CHECK(!b->plugged);
    CHECK(!b->logdir);
    b->plug = *plug;
    b->plugged = true;
}

int broker_recover(struct broker *b, struct logdir_report *report, struct err *e)
{
    struct logdir_report local;
    struct logdir_options o = {.path = b->data_dir, .async = b->o.async};
    struct logdir_hooks hooks = {
        .user = b,
        .metadata_batch = hook_metadata,
        .adopt = hook_adopt,
        .declare = hook_declare,
        .snapshot_load = hook_snapshot_load,
        .replay = hook_replay,
        .log_durable = hook_log_durable,
        .on_durable = hook_on_durable,
        .snapshot_save = hook_snapshot_save,
        .on_room = hook_on_room,
        .on_halt = hook_on_halt,
    };
    struct logdir *d = NULL;
    int rc = logdir_open(&d, b->env, &o, &hooks, report ? report : &local, e);
    if (rc) {
        b->logdir = NULL;
        return rc;
    }
    b->logdir = d;
    rc = topics_write_adopted(b, e);
    if (!rc && b->plugged && b->plug.start)
        rc = b->plug.start(b->plug.self, e);
    b->recovered = rc == 0;
    return rc;
}

int broker_listen(struct broker *b, char *address, size_t cap, struct err *e)
{
    int32_t port = 0;
    char *host = NULL;
    CHECK(b->recovered);
    int rc = server_listen(&b->server, b->listen, e);
    if (!rc)
        rc = split_address(b->server.bound, &host, &port, e);
    if (rc)
        return rc;
    if (!b->advertised_port)
        b->advertised_port = port;
    if (b->advertised_host) {
        free(host);
    } else if (!strcmp(host, "0.0.0.0") || !strcmp(host, "::")) {
        /* No address of ours that clients could use is in a wildcard. */
        free(host);
        b->advertised_host = strdup("localhost");
    } else {
        b->advertised_host = host;
    }
    snprintf(address, cap, "%s", b->server.bound);
    return 0;
}

static void closed(void *user)
{
    struct broker *b = user;
    b->closed(b->closed_user);
}

static void log_closed(void *user)
{
    struct broker *b = user;
    server_close(&b->server, closed, b);
}

void broker_close(struct broker *b, void (*done)(void *user), void *user)
{
    CHECK(!b->closing);
    b->closing = true;
    b->closed = done;
    b->closed_user = user;
    server_stop(&b->server);
    if (b->logdir)
        logdir_close(b->logdir, log_closed, b);
    else
        log_closed(b);
}

void broker_free(struct broker *b)
{
    if (!b)
        return;
    server_free(&b->server);
    group_coordinator_free(b->groups);
    topics_free(b);
    if (b->logdir)
        logdir_free(b->logdir);
    env_task_stop(&b->room_task);
    buf_deinit(&b->scratch);
    compress_deinit(&b->compress);
    free(b->data_dir);
    free(b->listen);
    free(b->advertised_host);
    free(b);
}

void broker_api(struct broker *b, int16_t key, int16_t min, int16_t max, api_handler handler)
{
    CHECK(key >= 0);
    CHECK(key < SERVER_API_KEYS);
    CHECK(!b->server.apis[key].handler);
    b->server.apis[key] = (struct api_entry){min, max, handler};
}

bool broker_api_range(const struct broker *b, int16_t key, int16_t *min, int16_t *max)
{
    if (key < 0 || key >= SERVER_API_KEYS || !b->server.apis[key].handler)
        return false;
    *min = b->server.apis[key].min;
    *max = b->server.apis[key].max;
    return true;
}

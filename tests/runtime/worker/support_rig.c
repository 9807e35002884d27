/* tests/runtime/worker/support_rig.c - see the header. */
#include "support_rig.h"
#include "base/wire/batch.h"
#include "base/bytes.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the world ---- */

static struct rig *rig_of(void *cluster)
{
    return ((struct cluster *)cluster)->o.user;
}

static int read_file(void *user, const char *path, struct buf *out, struct err *e)
{
    const struct rig *r = user;

    if (strcmp(path, "job.lua") != 0)
        return err_set(e, ERR_NOT_FOUND, "%s: no such file", path);
    return buf_put(out, r->lua, strlen(r->lua));
}

static void on_log(void *user, uint64_t now, const char *node, enum env_level level,
                   const char *line)
{
    struct rig *r = user;

    if (getenv("RIG_LOG"))
        fprintf(stderr, "%10.6f %s: %s\n", (double)now / 1e9, node, line);
    buf_printf(&r->log, "%s: %s\n", node, line);
}

static uint64_t on_down(void *user, struct place *p, const char *why)
{
    struct rig *r = user;

    if (p->kind == PLACE_WORKER && r->held[p->index])
        return UINT64_MAX;
    return ENV_MS(100);
}

static void client_up(void *user, struct place *p)
{
    struct rig *r = user;
    struct client_options o = {.bootstrap = CLUSTER_BROKER_ADDRESS, .client_id = "test"};
    struct producer_options po = {.linger_ms = 1};

    assert_int_equal(client_open(&r->client, &p->node->env, &o, NULL), 0);
    assert_int_equal(producer_open(&r->producer, r->client, &po), 0);
}

static void client_down(void *user, struct place *p)
{
    struct rig *r = user;

    producer_free(r->producer);
    client_free(r->client);
    r->producer = NULL;
    r->client = NULL;
}

static enum sim_fault on_point(void *u, struct sim_node *n, const char *name)
{
    struct rig *r = rig_of(u);

    if (!r->crash_at || strcmp(name, r->crash_at) != 0 || --r->crash_left)
        return SIM_NOTHING;
    r->crash_at = NULL;
    r->n_crashes++;
    if (r->pause_ms) {
        sim_pause(n, r->c.sim.now + ENV_MS(r->pause_ms));
        return SIM_NOTHING;
    }
    return r->crash_power ? SIM_POWER_CUT : SIM_CRASH;
}

static enum sim_send on_send(void *u, struct sim_node *from, struct sim_node *to,
                             struct slice first, uint64_t n)
{
    struct rig *r = rig_of(u);

    if (r->lose_api < 0 || ((struct place *)from->user)->kind != PLACE_WORKER)
        return SIM_PASS;
    for (; first.n >= 6; first = slice_sub(first, 4 + (size_t)get_be32(first.p), first.n))
        if ((int16_t)get_be16(first.p + 4) == r->lose_api) {
            r->lose_api = -1;
            r->n_crashes++;
            return r->lose_reply ? SIM_CUT_AFTER : SIM_CUT_BEFORE;
        }
    return SIM_PASS;
}

void rig_job(struct rig *r, const char *lua)
{
    struct udf_job *old = r->job;
    struct err e = {0};

    r->lua = lua;
    r->files = (struct udf_options){.read_file = read_file, .user = r};
    if (udf_job_load(&r->job, "job.lua", &r->files, &e))
        fail_msg("%s", e.text);
    for (int i = 0; old && i < r->c.n_workers; i++) {
        assert_false(r->c.workers[i].node->up); /* its job would be pulled from under it */
        r->c.workers[i].worker_options.job = r->job;
    }
    if (old)
        udf_job_free(old);
}

static int guarantee_of(const char *name)
{
    return !name                                ? -1
           : strcmp(name, "at_least_once") == 0 ? UDF_AT_LEAST_ONCE
           : strcmp(name, "at_most_once") == 0  ? UDF_AT_MOST_ONCE
                                                : UDF_EXACTLY_ONCE;
}

struct flag {
    bool done;
    int res;
    char text[1100];
};

static void set_flag(void *user, int res, const struct err *e)
{
    struct flag *f = user;

    f->done = true;
    f->res = res;
    snprintf(f->text, sizeof f->text, "%s", e && e->text[0] ? e->text : err_text(res));
}

static bool flag_done(void *u)
{
    return ((struct flag *)u)->done;
}

static void wait_flag(struct rig *r, struct flag *f, const char *what)
{
    if (!sim_run(&r->c.sim, r->c.sim.now + ENV_S(120), flag_done, f))
        fail_msg("%s: no answer in 120 s", what);
    sim_enter(r->c.client.node);
}

void rig_open(struct rig *r, const struct rig_options *o)
{
    struct cluster_options co = {.seed = o->seed ? o->seed : 1,
                                 .n_workers = o->workers ? o->workers : 1,
                                 .together = o->together,
                                 .partitions = o->partitions ? o->partitions : 1,
                                 .guarantee = guarantee_of(o->guarantee),
                                 .user = r,
                                 .down = on_down,
                                 .client_up = client_up,
                                 .client_down = client_down,
                                 .log = on_log};
    struct flag f = {0};

    memset(r, 0, sizeof *r);
    r->lose_api = -1;
    buf_init(&r->log, 64 << 20);
    r->got = calloc(RIG_RECORDS_MAX, sizeof *r->got);
    assert_non_null(r->got);
    rig_job(r, o->lua);
    co.job = r->job;
    cluster_open(&r->c, &co);
    r->c.sim.hooks.on_point = on_point;
    r->c.sim.hooks.on_send = on_send;
    for (int i = 0; o->held && i < r->c.n_workers; i++)
        rig_kill(r, i);
    for (int i = 0; i < r->c.n_workers; i++)
        r->c.workers[i].worker_options.session_timeout_ms = o->session_timeout_ms;
    sim_enter(r->c.client.node);
    producer_init_id(r->producer, set_flag, &f);
    wait_flag(r, &f, "producer id");
    assert_int_equal(f.res, 0);
}

void rig_close(struct rig *r)
{
    cluster_free(&r->c);
    udf_job_free(r->job);
    buf_deinit(&r->log);
    free(r->got);
}

void rig_start(struct rig *r, int worker)
{
    struct place *p = &r->c.workers[worker];

    r->held[worker] = false;
    p->stopping = p->stopped = false;
    cluster_start_at(p, r->c.sim.now + ENV_MS(1));
    rig_run(r, 2);
}

void rig_kill(struct rig *r, int worker)
{
    r->held[worker] = true;
    sim_alarm_cancel(&r->c.sim, &r->c.workers[worker].start);
    sim_crash(r->c.workers[worker].node);
    rig_run(r, 1); /* it is torn down */
}

void rig_stop(struct rig *r, int worker)
{
    struct place *p = &r->c.workers[worker];

    r->held[worker] = true;
    cluster_stop(p);
    for (int i = 0; i < 6000 && !p->stopped; i++)
        rig_run(r, 10);
    if (!p->stopped)
        fail_msg("worker %d did not stop", worker);
    rig_run(r, 1);
}

void rig_run(struct rig *r, uint64_t ms)
{
    sim_run(&r->c.sim, r->c.sim.now + ENV_MS(ms), NULL, NULL);
    sim_enter(r->c.client.node);
}

void rig_until(struct rig *r, bool (*cond)(struct rig *r), int seconds, const char *what)
{
    for (int i = 0; i < seconds * 100; i++) {
        if (cond(r))
            return;
        rig_run(r, 10);
    }
    fail_msg("not within %d s: %s\n%.*s", seconds, what, r->log.n > 3000 ? 3000 : (int)r->log.n,
             r->log.n > 3000 ? (char *)r->log.p + r->log.n - 3000 : (char *)r->log.p);
}

bool rig_ready(struct rig *r)
{
    for (int i = 0; i < r->c.n_workers; i++) {
        struct worker_stats s;
        if (r->held[i])
            continue;
        if (!r->c.workers[i].worker)
            return false;
        worker_stats(r->c.workers[i].worker, &s);
        if (!s.running)
            return false;
    }
    return true;
}

/* ---- topics ---- */

static void created(struct create_topic *op, int res, const struct err *e)
{
    set_flag(op->user, res, e);
}

void rig_topic(struct rig *r, const char *topic, int32_t partitions)
{
    struct flag f = {0};
    struct conf conf;
    struct create_topic op = {.topic = slice_str(topic),
                              .partitions = partitions,
                              .config = &conf,
                              .done = created,
                              .user = &f};

    conf_init(&conf);
    sim_enter(r->c.client.node);
    admin_create_topic(r->client, &op);
    wait_flag(r, &f, topic);
    if (f.res && f.res != -ERR_EXISTS) /* the job may have made it meanwhile */
        fail_msg("%s", f.text);
    conf_deinit(&conf);
}

static void deleted(struct delete_topic *op, int res, const struct err *e)
{
    set_flag(op->user, res, e);
}

void rig_delete_topic(struct rig *r, const char *topic)
{
    struct flag f = {0};
    struct delete_topic op = {.topic = slice_str(topic), .done = deleted, .user = &f};

    sim_enter(r->c.client.node);
    admin_delete_topic(r->client, &op);
    wait_flag(r, &f, topic);
    if (f.res)
        fail_msg("%s", f.text);
}

static int32_t found_partitions;

static void looked_up(struct topic_lookup *l, int res, const struct client_topic *t)
{
    set_flag(l->user, res, NULL);
    found_partitions = res ? -1 : t->n_partitions;
}

int32_t rig_partitions(struct rig *r, const char *topic)
{
    struct flag f = {0};
    struct topic_lookup l = {.name = slice_str(topic), .done = looked_up, .user = &f};

    sim_enter(r->c.client.node);
    client_topic_lookup(r->client, &l);
    wait_flag(r, &f, topic);
    return found_partitions;
}

/* ---- input ---- */

static void send(struct rig *r, const char *topic, int32_t partition, const char *key,
                 const char *value, int64_t time)
{
    struct producer_record rec = {.topic = slice_str(topic),
                                  .partition = partition,
                                  .key = slice_str(key),
                                  .value = slice_str(value),
                                  .timestamp = time};

    assert_int_equal(producer_send(r->producer, &rec), 0);
}

static void flush(struct rig *r)
{
    struct flag f = {0};

    producer_flush(r->producer, set_flag, &f);
    wait_flag(r, &f, "flush");
    if (f.res)
        fail_msg("produce: %s", f.text);
}

void rig_put_at(struct rig *r, const char *topic, int32_t partition, const char *key,
                const char *value, int64_t time)
{
    if (rig_partitions(r, topic) < 0)
        rig_topic(r, topic, r->c.o.partitions);
    send(r, topic, partition, key, value, time);
    flush(r);
}

void rig_put(struct rig *r, const char *topic, int32_t partition, const char *key,
             const char *value)
{
    rig_put_at(r, topic, partition, key, value, 1700000000000);
}

void rig_feed(struct rig *r, const char *topic, int n, int keys)
{
    int32_t partitions = rig_partitions(r, topic);

    if (partitions < 0)
        rig_topic(r, topic, partitions = r->c.o.partitions);
    for (int i = 0; i < n; i++) {
        char key[2] = {(char)('a' + i % keys), 0}, value[16];
        snprintf(value, sizeof value, "%d", i);
        send(r, topic, (int32_t)((murmur2(slice_str(key)) & 0x7fffffff) % (uint32_t)partitions),
             key, value, 1700000000000 + i);
    }
    flush(r);
}

/* ---- questions ---- */

static void got_offset(struct list_offset *op, int res, const struct err *e)
{
    set_flag(op->user, res, e);
}

int64_t rig_end(struct rig *r, const char *topic, int32_t partition, bool stable)
{
    struct flag f = {0};
    struct list_offset op = {.topic = slice_str(topic),
                             .partition = partition,
                             .timestamp = -1,
                             .read_committed = stable,
                             .done = got_offset,
                             .user = &f};

    sim_enter(r->c.client.node);
    admin_list_offset(r->client, &op);
    wait_flag(r, &f, topic);
    if (f.res)
        fail_msg("%s: %s", topic, f.text);
    return op.offset;
}

static void got_offsets(struct fetch_offsets *op, int res, const struct err *e)
{
    set_flag(op->user, res, e);
}

int64_t rig_committed(struct rig *r, const char *group, const char *topic, int32_t partition,
                      char *meta)
{
    struct flag f = {0};
    struct fetch_offset_entry entry = {.topic = slice_str(topic), .partition = partition};
    struct fetch_offsets op = {.group = slice_str(group),
                               .stable = true,
                               .v = &entry,
                               .n = 1,
                               .timeout_ms = 60000,
                               .done = got_offsets,
                               .user = &f};

    arena_init(&op.arena, 1 << 20);
    sim_enter(r->c.client.node);
    admin_fetch_offsets(r->client, &op);
    wait_flag(r, &f, group);
    if (f.res)
        fail_msg("%s: %s", group, f.text);
    if (meta)
        snprintf(meta, 64, "%.*s", SLICE_FMT(entry.metadata));
    arena_deinit(&op.arena);
    return entry.offset;
}

static bool met(struct rig *r, const struct udf_source *s)
{
    struct buf name;
    char topic[300], group[120];
    int32_t n;

    buf_init(&name, 300);
    assert_int_equal(udf_job_topic(r->job, s->topic, &name), 0);
    snprintf(topic, sizeof topic, "%.*s", SLICE_FMT(buf_slice(&name)));
    snprintf(group, sizeof group, "%.*s", SLICE_FMT(r->job->name));
    buf_deinit(&name);
    n = rig_partitions(r, topic);
    for (int32_t p = 0; p < n; p++) {
        int64_t end = rig_end(r, topic, p, true);
        if (rig_end(r, topic, p, false) != end || rig_committed(r, group, topic, p, NULL) < end)
            if (end > 0)
                return false;
    }
    return n > 0;
}

static bool drained(struct rig *r)
{
    for (int i = 0; i < r->job->n_nodes; i++)
        for (int k = 0; k < r->job->nodes[i].n_sources; k++)
            if (!met(r, &r->job->nodes[i].sources[k]))
                return false;
    return true;
}

void rig_drain(struct rig *r)
{
    for (int i = 0; i < 2; i++) {
        rig_until(r, drained, 120, "the job is done with its input");
        rig_run(r, 100);
    }
}

/* ---- output ---- */

static bool fetch_ready;

static void on_fetch(void *user)
{
    fetch_ready = true;
}

static void note(struct rig *r, const struct fetched *f)
{
    struct rig_record *g = &r->got[r->n_got++];
    struct record rec = {.headers = f->headers, .n_headers = f->n_headers};
    struct header_iter it;
    struct slice k, v;
    size_t n = 0;

    assert_true(r->n_got <= RIG_RECORDS_MAX);
    *g = (struct rig_record){.partition = f->partition,
                             .offset = f->offset,
                             .time = f->timestamp,
                             .no_key = !f->key.p,
                             .tombstone = !f->value.p};
    snprintf(g->key, sizeof g->key, "%.*s", SLICE_FMT(f->key));
    snprintf(g->value, sizeof g->value, "%.*s", SLICE_FMT(f->value));
    header_iter_init(&it, &rec);
    while (header_iter_next(&it, &k, &v) && n < sizeof g->headers)
        n += (size_t)snprintf(g->headers + n, sizeof g->headers - n, "%.*s=%.*s;", SLICE_FMT(k),
                              SLICE_FMT(v));
}

static int by_place(const void *a, const void *b)
{
    const struct rig_record *x = a, *y = b;

    return x->partition != y->partition ? (x->partition < y->partition ? -1 : 1)
           : x->offset < y->offset      ? -1
                                        : x->offset > y->offset;
}

int rig_read(struct rig *r, const char *topic)
{
    struct fetcher_options fo = {.read_committed = true, .ready = on_fetch};
    int32_t n = rig_partitions(r, topic), left = n;
    int64_t ends[64];
    struct fetcher *f;

    r->n_got = 0;
    if (n < 0)
        return 0;
    assert_true(n <= 64);
    for (int32_t p = 0; p < n; p++)
        ends[p] = rig_end(r, topic, p, true);
    assert_int_equal(fetcher_open(&f, r->client, &fo), 0);
    for (int32_t p = 0; p < n; p++)
        assert_int_equal(fetcher_add(f, slice_str(topic), p, 0, NULL), 0);
    for (int i = 0; left && i < 2000; i++) {
        struct fetched rec;
        struct err e = {0};
        int res;
        while ((res = fetcher_next(f, &rec, &e)) > 0)
            if (rec.offset < ends[rec.partition])
                note(r, &rec);
        if (res < 0)
            fail_msg("%s: %s", topic, e.text);
        left = 0;
        for (int32_t p = 0; p < n; p++)
            left += fetcher_position(f, slice_str(topic), p) < ends[p];
        if (left)
            rig_run(r, 10);
    }
    assert_int_equal(left, 0);
    fetcher_free(f);
    qsort(r->got, (size_t)r->n_got, sizeof r->got[0], by_place);
    return r->n_got;
}

const char *rig_text(struct rig *r, const char *topic)
{
    static char text[65536];
    size_t n = 0;

    rig_read(r, topic);
    text[0] = 0;
    for (int i = 0; i < r->n_got && n < sizeof text; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s=%s", n ? " " : "",
                              r->got[i].no_key ? "-" : r->got[i].key,
                              r->got[i].tombstone ? "\\N" : r->got[i].value);
    return text;
}

int rig_exact_counts(struct rig *r, const char *topic)
{
    int n = rig_read(r, topic), last[256] = {0}, sum = 0;

    for (int i = 0; i < n; i++) {
        int k = (unsigned char)r->got[i].key[0], v = atoi(r->got[i].value);
        if (v != last[k] + 1)
            fail_msg("%s[%d]@%" PRId64 ": key %s is %d after %d", topic, r->got[i].partition,
                     r->got[i].offset, r->got[i].key, v, last[k]);
        last[k] = v;
    }
    for (int i = 0; i < 256; i++)
        sum += last[i];
    return sum;
}

bool rig_logged(const struct rig *r, const char *text)
{
    return rig_log_count(r, text) > 0;
}

int rig_log_count(const struct rig *r, const char *text)
{
    const unsigned char *p = r->log.p, *end = r->log.p + r->log.n;
    size_t n = strlen(text);
    int count = 0;

    while (p && p < end && (p = memmem(p, (size_t)(end - p), text, n))) {
        count++;
        p += n;
    }
    return count;
}

/* ---- stores ---- */

static struct task_store *open_store(struct rig *r, int worker, int slot, const char *task,
                                     int *which, const char *store)
{
    const char *names[STORES_MAX];
    char text[STORES_MAX][STORE_NAME_MAX + 1], path[400];
    struct store_driver *d = r->c.workers[worker].stores;
    int group = atoi(task), n = r->job->groups[group].n_stores;
    struct task_store *s = NULL;
    struct err e = {0};

    snprintf(path, sizeof path, "%s/%.*s/%d/%s", CLUSTER_STATE, SLICE_FMT(r->job->name), slot,
             task);
    for (int i = 0; i < n; i++) {
        struct slice name = r->job->stores[r->job->groups[group].stores[i]].name;
        snprintf(text[i], sizeof text[i], "%.*s", SLICE_FMT(name));
        names[i] = text[i];
        if (store && strcmp(store, text[i]) == 0)
            *which = i;
    }
    if (d->open(d, &r->c.client.node->env, path, names, n, &s, &e))
        fail_msg("%s", e.text);
    return s;
}

const char *rig_store(struct rig *r, int worker, int slot, const char *task, const char *store)
{
    static char text[8192];
    int which = -1;
    struct task_store *s = open_store(r, worker, slot, task, &which, store);
    struct store_iter *it;
    struct slice k, v;
    struct buf b;

    assert_true(which >= 0);
    buf_init(&b, sizeof text - 1);
    assert_int_equal(s->vt->range(s, which, SLICE_NULL, SLICE_NULL, false, &it), 0);
    while (it->next(it, &k, &v) > 0) {
        if (b.n)
            buf_put_u8(&b, ' ');
        assert_int_equal(udf_key_text(k, &b), 0);
        buf_put_u8(&b, '=');
        assert_int_equal(udf_value_text(v, &b), 0);
    }
    it->close(it);
    s->vt->close(s);
    snprintf(text, sizeof text, "%.*s", SLICE_FMT(buf_slice(&b)));
    buf_deinit(&b);
    return text;
}

static void meddled(struct store_commit *c, int res)
{
    set_flag(c->user, res, NULL);
}

void rig_meddle(struct rig *r, int worker, int slot, const char *task,
                void (*f)(struct store_meta *m, struct overlay *o))
{
    struct task_store *s = open_store(r, worker, slot, task, NULL, NULL);
    struct flag flag = {0};
    struct overlay o;
    struct store_commit *c = calloc(1, sizeof *c);

    assert_non_null(c);
    overlay_init(&o);
    c->store = s;
    c->meta = s->meta;
    c->overlays[0] = &o;
    c->done = meddled;
    c->user = &flag;
    c->sync = true;
    f(&c->meta, &o);
    sim_enter(r->c.client.node);
    s->vt->commit(c);
    wait_flag(r, &flag, "meddle");
    assert_int_equal(flag.res, 0);
    s->vt->close(s);
    overlay_deinit(&o);
    free(c);
}

/* tests/broker/log/support_logdir.c - see the header. */
#include "tests/broker/log/support_logdir.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- hooks ---- */

static int on_metadata(void *user, struct slice batch, struct err *e)
{
    struct fx *x = user;
    struct record_iter it;
    struct record r;

    assert_int_equal(record_iter_init(&it, batch, NULL), 0);
    while (record_iter_next(&it, &r) == 1) {
        struct fx_topic *t = NULL;
        char name[32] = {0};
        memcpy(name, r.key.p, r.key.n);
        t = fx_topic(x, name);
        if (slice_is_null(r.value)) {
            assert_non_null(t);
            *t = x->topics[--x->n_topics];
            continue;
        }
        if (t)
            return err_set(e, ERR_CORRUPT, "topic twice: %s", name);
        t = &x->topics[x->n_topics++];
        memset(t, 0, sizeof *t);
        memcpy(t->name, name, sizeof name);
        memcpy(t->id.b, r.value.p, 16);
        t->n_partitions = r.value.p[16];
    }
    return 0;
}

static int on_adopt(void *user, struct slice topic, const struct uuid *id, int32_t partition,
                    struct err *e)
{
    struct fx *x = user;
    char name[32] = {0};
    struct fx_topic *t;

    (void)e;
    memcpy(name, topic.p, topic.n);
    t = fx_topic(x, name);
    if (!t) {
        t = &x->topics[x->n_topics++];
        memset(t, 0, sizeof *t);
        memcpy(t->name, name, sizeof name);
        t->id = *id;
    }
    if (partition >= t->n_partitions)
        t->n_partitions = partition + 1;
    x->n_adopted++;
    return 0;
}

static int open_partitions(struct fx *x, struct fx_topic *t, struct err *e)
{
    for (int p = 0; p < t->n_partitions; p++) {
        struct fx_part *part = &x->parts[x->n_parts++];
        int r;
        assert_true(x->n_parts <= FX_PARTS);
        part->state = 0;
        r = logdir_log_open(x->d, slice_str(t->name), &t->id, p, &x->config, 0, part, &t->logs[p],
                            e);
        if (r < 0)
            return r;
    }
    return 0;
}

static int on_declare(void *user, struct logdir *d, struct err *e)
{
    struct fx *x = user;
    int r = 0;

    x->d = d;
    for (int i = 0; i < x->n_topics && r == 0; i++)
        r = open_partitions(x, &x->topics[i], e);
    x->d = NULL;
    return r;
}

static int on_snapshot_load(void *user, struct log *l, int64_t offset, struct slice bytes)
{
    struct fx *x = user;
    char want[32];

    snprintf(want, sizeof want, "state at %lld", (long long)offset);
    if (!x->producers || !slice_eq_str(bytes, want))
        return -ERR_CORRUPT;
    ((struct fx_part *)log_user(l))->state = offset;
    x->n_snapshots_loaded++;
    return 0;
}

static int on_snapshot_save(void *user, struct log *l, int64_t offset, struct buf *out)
{
    struct fx *x = user;

    assert_int_equal(log_durable(l), offset);
    if (x->producers && log_user(l))
        assert_int_equal(((struct fx_part *)log_user(l))->state, offset);
    if (x->producers)
        buf_printf(out, "state at %lld", (long long)offset);
    return 0;
}

static int on_replay(void *user, struct log *l, struct slice batch, struct err *e)
{
    struct fx *x = user;
    struct batch_info b;

    (void)e;
    assert_int_equal(batch_header(batch, &b), 0);
    if (x->producers && log_user(l)) {
        struct fx_part *part = log_user(l);
        if (b.base_offset > part->state || batch_next_offset(&b) <= part->state)
            fail_msg("replay at %lld, state is at %lld", (long long)b.base_offset,
                     (long long)part->state);
        part->state = batch_next_offset(&b);
    }
    if (!x->n_replayed++)
        x->first_replayed = b.base_offset;
    return 0;
}

static void on_log_durable(void *user, struct log *l, int64_t end)
{
    struct fx_part *part = log_user(l);

    (void)user;
    if (part) {
        assert_true(end > part->state || end == log_durable(l));
        part->state = end;
    }
}

static void on_durable(void *user, uint64_t lsn)
{
    struct fx *x = user;
    assert_true(lsn > x->durable_lsn);
    x->durable_lsn = lsn;
}

static void on_room(void *user)
{
    ((struct fx *)user)->n_rooms++;
}

static void on_halt(void *user, const char *why)
{
    struct fx *x = user;
    x->n_halts++;
    snprintf(x->halt, sizeof x->halt, "%s", why);
}

/* ---- the world ---- */

static enum sim_fault on_wait(void *u, struct sim_node *n, const char *call)
{
    struct fx *x = u;

    (void)n;
    (void)call;
    if (x->wait_crash_in && --x->wait_crash_in == 0)
        return x->struck = x->fault;
    return SIM_NOTHING;
}

static enum sim_fault on_point(void *u, struct sim_node *n, const char *name)
{
    struct fx *x = u;

    (void)n;
    (void)name;
    if (x->point_crash_in && --x->point_crash_in == 0)
        return x->struck = x->fault;
    return SIM_NOTHING;
}

static void on_down(void *u, struct sim_node *n, const char *why)
{
    struct fx *x = u;

    (void)n;
    (void)why;
    logdir_free(x->d);
    x->d = NULL;
    x->down = true;
}

static void on_log(void *u, struct sim_node *n, enum env_level level, const char *line)
{
    struct fx *x = u;

    (void)n;
    if (getenv("FX_LOG") && !x->quiet)
        fprintf(stderr, "%d %s\n", level, line);
}

static void init(struct fx *x)
{
    memset(x, 0, sizeof *x);
    x->config.index_interval_bytes = 4096;
    x->o.reserve_bytes = 1; /* the disk fills up to its last byte */
}

void fx_init_sim(struct fx *x, uint64_t seed)
{
    init(x);
    sim_init(&x->sim, seed);
    x->sim.hooks = (struct sim_hooks){
        .u = x, .on_wait = on_wait, .on_point = on_point, .on_down = on_down, .on_log = on_log};
    x->node = sim_node_add(&x->sim, "broker", NULL);
    x->env = &x->node->env;
    strcpy(x->dir, "/data");
}

void fx_init_real(struct fx *x)
{
    init(x);
    assert_int_equal(env_uv_open(&x->uv), 0);
    assert_int_equal(env_uv_node_open(&x->uv, &x->real, "broker", 1), 0);
    x->env = &x->real.env;
    x->env->level = getenv("FX_LOG") ? ENV_DEBUG : ENV_ERROR;
    strcpy(x->dir, "/tmp/once-log-XXXXXX");
    assert_non_null(mkdtemp(x->dir));
}

void fx_deinit(struct fx *x)
{
    char cmd[600];

    if (x->node) {
        if (x->node->up)
            sim_crash(x->node);
        logdir_free(x->d);
        sim_deinit(&x->sim);
        return;
    }
    env_uv_node_stop(&x->uv, &x->real);
    logdir_free(x->d);
    env_uv_node_close(&x->uv, &x->real);
    env_uv_close(&x->uv);
    snprintf(cmd, sizeof cmd, "rm -rf %s", x->dir);
    assert_int_equal(system(cmd), 0);
}

int fx_open(struct fx *x)
{
    struct logdir_hooks hooks = {.user = x,
                                 .metadata_batch = on_metadata,
                                 .adopt = on_adopt,
                                 .declare = on_declare,
                                 .snapshot_load = on_snapshot_load,
                                 .replay = on_replay,
                                 .log_durable = on_log_durable,
                                 .on_durable = on_durable,
                                 .snapshot_save = on_snapshot_save,
                                 .on_room = on_room,
                                 .on_halt = on_halt};
    int r;

    x->o.path = x->dir;
    x->n_topics = 0;
    x->durable_lsn = 0;
    x->n_replayed = x->n_snapshots_loaded = 0;
    x->first_replayed = -1;
    x->n_halts = 0;
    x->n_parts = 0;
    memset(&x->err, 0, sizeof x->err);
    if (x->node)
        sim_enter(x->node);
    r = logdir_open(&x->d, x->env, &x->o, &hooks, &x->report, &x->err);
    if (r < 0)
        x->d = NULL;
    return r;
}

void fx_start(struct fx *x)
{
    int r = fx_open(x);

    if (r < 0)
        fail_msg("open: %s (%s)", err_text(r), x->err.text);
    for (int i = 0; x->producers && i < x->n_topics; i++)
        for (int p = 0; p < x->topics[i].n_partitions; p++) {
            struct log *l = x->topics[i].logs[p];
            assert_int_equal(((struct fx_part *)log_user(l))->state, log_durable(l));
        }
}

static void on_closed(void *user)
{
    ((struct fx *)user)->n_closed++;
}

void fx_turn(struct fx *x)
{
    if (x->node)
        sim_step(&x->sim);
    else
        env_uv_turn(&x->uv, true);
}

void fx_close(struct fx *x)
{
    int n = x->n_closed;

    if (x->node)
        sim_enter(x->node);
    logdir_close(x->d, on_closed, x);
    while (x->n_closed == n && !x->down)
        fx_turn(x);
    logdir_free(x->d);
    x->d = NULL;
}

static void again(struct fx *x)
{
    x->down = false;
    sim_start(x->node);
}

void fx_crash(struct fx *x)
{
    if (!x->node) { /* the real one: torn down without I/O, the disk as it is */
        env_uv_node_stop(&x->uv, &x->real);
        logdir_free(x->d);
        x->d = NULL;
        env_uv_node_close(&x->uv, &x->real);
        assert_int_equal(env_uv_node_open(&x->uv, &x->real, "broker", 1), 0);
        x->real.env.level = ENV_ERROR;
        return;
    }
    if (x->node->up)
        sim_crash(x->node);
    while (!x->down)
        sim_step(&x->sim);
    again(x);
}

void fx_power_cut(struct fx *x)
{
    sim_power_cut(x->node);
    while (!x->down)
        sim_step(&x->sim);
    again(x);
}

void fx_sync(struct fx *x)
{
    uint64_t until = x->env->now + ENV_S(20); /* on a full disk it may never be */

    while (!x->down && !x->n_halts && logdir_durable(x->d) < logdir_staged(x->d) &&
           x->env->now < until)
        fx_turn(x);
}

static void wake(struct env_timer *t)
{
    (void)t;
}

void fx_pass(struct fx *x, uint64_t ns)
{
    struct env_timer t = {.fire = wake};
    uint64_t until;

    if (x->node) {
        sim_run(&x->sim, x->sim.now + ns, NULL, NULL);
        return;
    }
    until = x->env->now + ns;
    while (x->env->now < until) {
        env_timer_set(x->env, &t, until);
        env_uv_turn(&x->uv, true);
    }
    env_timer_stop(x->env, &t);
}

/* ---- topics ---- */

struct fx_topic *fx_topic(struct fx *x, const char *name)
{
    for (int i = 0; i < x->n_topics; i++)
        if (strcmp(x->topics[i].name, name) == 0)
            return &x->topics[i];
    return NULL;
}

static int append_record(struct fx *x, struct log *l, struct slice key, struct slice value,
                         int64_t timestamp, int n)
{
    struct batch_writer_options o = {.leader_epoch = -1};
    struct batch_writer w;
    struct batch_info info;
    struct buf b;
    int r;

    buf_init(&b, 1u << 30);
    assert_int_equal(batch_writer_begin(&w, &b, &o), 0);
    for (int i = 0; i < n; i++)
        assert_int_equal(batch_writer_add(&w, timestamp + i, key, value, NULL, 0), 0);
    assert_int_equal(batch_writer_finish(&w, -1, -1, -1), 0);
    assert_int_equal(batch_header(buf_slice(&b), &info), 0);
    if (x->node)
        sim_enter(x->node);
    r = log_append_copy(l, buf_slice(&b), &info);
    buf_deinit(&b);
    return r;
}

struct fx_topic *fx_create(struct fx *x, const char *name, int partitions, int generation)
{
    struct fx_topic *t = &x->topics[x->n_topics];
    unsigned char value[17];

    memset(t, 0, sizeof *t);
    snprintf(t->name, sizeof t->name, "%s", name);
    memset(t->id.b, generation + 1, 16);
    memcpy(t->id.b, name, strlen(name) < 8 ? strlen(name) : 8);
    t->n_partitions = partitions;
    memcpy(value, t->id.b, 16);
    value[16] = (unsigned char)partitions;
    if (append_record(x, logdir_metadata(x->d), slice_str(name), slice_of(value, 17), 1, 1) < 0)
        return NULL;
    assert_int_equal(open_partitions(x, t, &x->err), 0);
    x->n_topics++;
    return t;
}

int fx_delete(struct fx *x, struct fx_topic *t)
{
    int r = append_record(x, logdir_metadata(x->d), slice_str(t->name), SLICE_NULL, 1, 1);

    if (r < 0)
        return r;
    for (int p = 0; p < t->n_partitions; p++)
        logdir_log_delete(x->d, t->logs[p]);
    *t = x->topics[--x->n_topics];
    return 0;
}

/* ---- batches ---- */

int fx_append(struct fx *x, struct log *l, const char *text, int n)
{
    return append_record(x, l, SLICE_NULL, slice_str(text), 1700000000000, n);
}

int fx_append_big(struct fx *x, struct log *l, size_t size, int64_t timestamp)
{
    unsigned char *p = calloc(1, size);
    int r;

    for (size_t i = 0; i < size; i++)
        p[i] = (unsigned char)(i * 7 + (size_t)log_end(l));
    r = append_record(x, l, SLICE_NULL, slice_of(p, size), timestamp, 1);
    free(p);
    return r;
}

struct waiter {
    struct log_read r;
    int res;
    bool done;
};

static void on_read(struct log_read *r, int res)
{
    struct waiter *w = (struct waiter *)(void *)r;
    w->res = res;
    w->done = true;
}

void fx_read(struct fx *x, struct log *l, int64_t from, struct buf *out)
{
    int64_t next = from;

    while (next < log_durable(l)) {
        struct waiter w = {.r = {.log = l,
                                 .offset = next,
                                 .upper = log_durable(l),
                                 .max_bytes = 100000,
                                 .at_least_one = true,
                                 .done = on_read}};
        int r;
        if (x->node)
            sim_enter(x->node);
        r = log_read(&w.r);
        while (r == -ERR_AGAIN && !w.done)
            fx_turn(x);
        r = r == -ERR_AGAIN ? w.res : r;
        if (r < 0)
            fail_msg("read at %lld: %s", (long long)next, err_text(r));
        assert_true(w.r.n > 0);
        for (int i = 0; i < w.r.n; i++) {
            struct slice rest = w.r.v[i];
            while (rest.n) {
                struct batch_info b;
                assert_int_equal(batch_header(rest, &b), 0);
                assert_true(batch_crc_ok(slice_sub(rest, 0, b.size)));
                assert_true(batch_last_offset(&b) >= next);
                next = batch_next_offset(&b);
                rest = slice_sub(rest, b.size, SIZE_MAX);
            }
            if (out)
                assert_int_equal(buf_put_slice(out, w.r.v[i]), 0);
        }
        assert_int_equal(next, w.r.next);
        log_read_release(&w.r);
    }
}

const char *fx_value(struct fx *x, struct log *l, int64_t offset)
{
    static char text[256];
    struct buf b;

    text[0] = 0;
    buf_init(&b, 1u << 30);
    if (offset >= log_start(l) && offset < log_durable(l))
        fx_read(x, l, offset, &b);
    for (size_t at = 0; at < b.n && !text[0];) {
        struct slice rest = slice_sub(buf_slice(&b), at, SIZE_MAX);
        struct record_iter it;
        struct record r;
        assert_int_equal(record_iter_init(&it, rest, NULL), 0);
        while (record_iter_next(&it, &r) == 1)
            if (r.offset == offset)
                snprintf(text, sizeof text, "%.*s", SLICE_FMT(r.value));
        at += it.batch.size;
    }
    buf_deinit(&b);
    return text;
}

/* ---- files ---- */

void fx_path(const struct fx *x, char out[512], const char *fmt, ...)
{
    int n = snprintf(out, 512, "%s/", x->dir);
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(out + n, 512 - (size_t)n, fmt, ap);
    va_end(ap);
}

bool fx_exists(struct fx *x, const char *path)
{
    struct env_file f;
    uint64_t size;
    int r = env_open(x->env, &f, path, ENV_READ_ONLY, &size);

    if (r == 0)
        env_close(&f);
    return r == 0;
}

void fx_get(struct fx *x, const char *path, struct buf *out)
{
    struct env_file f;
    uint64_t size;

    buf_reset(out);
    assert_int_equal(env_open(x->env, &f, path, ENV_READ_ONLY, &size), 0);
    if (size) {
        unsigned char *p = buf_more(out, (size_t)size);
        assert_int_equal(env_read_wait(&f, 0, (struct span){p, (size_t)size}), size);
    }
    env_close(&f);
}

void fx_put(struct fx *x, const char *path, struct slice bytes)
{
    struct env_file f;
    uint64_t size;

    assert_int_equal(env_open(x->env, &f, path, ENV_CREATE, &size), 0);
    assert_int_equal(x->env->vt->truncate_wait(&f, bytes.n), 0);
    if (bytes.n)
        assert_int_equal(env_write_wait(&f, 0, &bytes, 1, ENV_SYNC), bytes.n);
    env_close(&f);
}

/* ---- images ---- */

struct lister {
    char names[256][128];
    int n;
};

static void each_name(void *u, const char *name)
{
    struct lister *l = u;
    assert_true(l->n < 256);
    snprintf(l->names[l->n++], sizeof l->names[0], "%s", name);
}

static void walk(struct fx *x, const char *dir, void (*file)(void *u, const char *path), void *u)
{
    struct lister *l = calloc(1, sizeof *l);

    assert_int_equal(x->env->vt->list(x->env, dir, each_name, l), 0);
    for (int i = 0; i < l->n; i++) {
        char path[256];
        struct lister sub = {.n = 0};
        snprintf(path, sizeof path, "%s/%s", dir, l->names[i]);
        if (x->env->vt->list(x->env, path, each_name, &sub) == 0)
            walk(x, path, file, u);
        else
            file(u, path);
    }
    free(l);
}

struct taker {
    struct fx *x;
    struct fx_image *m;
};

static void take_file(void *u, const char *path)
{
    struct taker *t = u;
    int i = t->m->n++;

    assert_true(i < 256);
    snprintf(t->m->files[i].path, sizeof t->m->files[i].path, "%s", path);
    buf_init(&t->m->files[i].bytes, 1u << 30);
    fx_get(t->x, path, &t->m->files[i].bytes);
}

void fx_image_take(struct fx *x, struct fx_image *m)
{
    struct taker t = {x, m};
    m->n = 0;
    walk(x, x->dir, take_file, &t);
}

static void drop_new(void *u, const char *path)
{
    struct taker *t = u;

    for (int i = 0; i < t->m->n; i++)
        if (strcmp(t->m->files[i].path, path) == 0)
            return;
    assert_int_equal(t->x->env->vt->remove_wait(t->x->env, path), 0);
}

void fx_image_put(struct fx *x, const struct fx_image *m)
{
    struct taker t = {x, (struct fx_image *)(uintptr_t)m};
    struct buf b;

    walk(x, x->dir, drop_new, &t);
    buf_init(&b, 1u << 30);
    for (int i = 0; i < m->n; i++) {
        const struct buf *want = &m->files[i].bytes;
        if (fx_exists(x, m->files[i].path)) {
            fx_get(x, m->files[i].path, &b);
            if (b.n == want->n && (!b.n || memcmp(b.p, want->p, b.n) == 0))
                continue;
        }
        fx_put(x, m->files[i].path, buf_slice(want));
    }
    buf_deinit(&b);
}

bool fx_image_same(struct fx *x, const struct fx_image *m)
{
    struct fx_image *now = calloc(1, sizeof *now);
    bool same;

    fx_image_take(x, now);
    same = now->n == m->n;
    for (int i = 0; same && i < m->n; i++)
        same = strcmp(now->files[i].path, m->files[i].path) == 0 &&
               slice_eq(buf_slice(&now->files[i].bytes), buf_slice(&m->files[i].bytes));
    fx_image_free(now);
    free(now);
    return same;
}

struct buf *fx_image_file(struct fx_image *m, const char *suffix)
{
    size_t n = strlen(suffix);

    for (int i = 0; i < m->n; i++) {
        size_t k = strlen(m->files[i].path);
        if (k >= n && strcmp(m->files[i].path + k - n, suffix) == 0)
            return &m->files[i].bytes;
    }
    fail_msg("no file %s", suffix);
    return NULL;
}

void fx_image_free(struct fx_image *m)
{
    for (int i = 0; i < m->n; i++)
        buf_deinit(&m->files[i].bytes);
    m->n = 0;
}

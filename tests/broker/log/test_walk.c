/* tests/broker/log/test_walk.c - random walks against a naive model: what was durable once is
 * there for ever, at its offset; what was not is there up to some point of the order of staging,
 * no bundle split.
 *
 * The model is the list of all staged batches in order. After each end of the node the directory
 * must hold exactly a beginning of that list, at least up to what was durable; the rest is struck
 * off. Ends are crashes and power cuts at random events, at named points, within recovery, after
 * a failed sync. */
#include "tests/broker/log/support_logdir.h"
#include <stdio.h>
#include <stdlib.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OPS_MAX = 6000 };
enum kind { OP_CREATE, OP_DELETE, OP_APPEND };

struct op {
    enum kind kind;
    int topic, generation, partition; /* topic "tN" */
    uint32_t bundle;
    uint32_t value;
    uint32_t big; /* bytes, 0: a short one */
};
struct walk {
    struct fx x;
    struct op ops[OPS_MAX];
    int n, base; /* ops; those before this incarnation */
    int acked;   /* ops that were durable, or served */
    int generations[3], last_generation;
    bool exists[3];
    uint32_t bundle, values;
    bool async;
};

static uint64_t draw(struct walk *w, uint64_t below)
{
    return sim_random(&w->x.sim, below);
}

static struct op *add(struct walk *w, enum kind kind, int topic)
{
    struct op *o = &w->ops[w->n++];

    assert_true(w->n <= OPS_MAX);
    *o = (struct op){.kind = kind, .topic = topic, .generation = w->generations[topic]};
    return o;
}

static void value_text(const struct op *o, char out[64])
{
    snprintf(out, 64, "%d.%d.%d.%u", o->topic, o->generation, o->partition, o->value);
}

static int stage(struct walk *w, int topic, uint32_t bundle)
{
    struct fx *x = &w->x;
    char name[8], text[64];
    struct fx_topic *t;
    struct op o = {.kind = OP_APPEND, .topic = topic, .generation = w->generations[topic]};
    int r;

    snprintf(name, sizeof name, "t%d", topic);
    t = fx_topic(x, name);
    o.partition = (int)draw(w, (uint64_t)t->n_partitions);
    o.bundle = bundle;
    o.value = ++w->values;
    o.big = draw(w, 12) == 0 ? (uint32_t)draw(w, 30000) + 1000 : 0;
    value_text(&o, text);
    if (o.big)
        r = fx_append_big(x, t->logs[o.partition], o.big, 1700000000000 + w->values);
    else
        r = fx_append(x, t->logs[o.partition], text, 1);
    if (r == 0)
        w->ops[w->n++] = o;
    return r;
}

static void change_topic(struct walk *w, int topic)
{
    struct fx *x = &w->x;
    char name[8];

    snprintf(name, sizeof name, "t%d", topic);
    if (!w->exists[topic]) {
        w->generations[topic] = w->last_generation++ % 250;
        if (!fx_create(x, name, 2, w->generations[topic]))
            return;
        add(w, OP_CREATE, topic);
        w->exists[topic] = true;
    } else if (draw(w, 4) == 0) {
        if (fx_delete(x, fx_topic(x, name)) < 0)
            return;
        add(w, OP_DELETE, topic);
        w->exists[topic] = false;
    }
}

/* ---- the model's answer ---- */

static bool same_log(const struct op *a, int topic, int generation, int partition)
{
    return a->kind == OP_APPEND && a->topic == topic && a->generation == generation &&
           a->partition == partition;
}

/* How many of the ops are there? The metadata log tells of topics, each log of itself. */
static int count_kept(struct walk *w)
{
    struct fx *x = &w->x;
    int64_t meta = log_durable(logdir_metadata(x->d));
    int64_t left[3][2];
    int kept = 0;

    for (int t = 0; t < 3; t++) {
        char name[8];
        struct fx_topic *ft;
        snprintf(name, sizeof name, "t%d", t);
        ft = fx_topic(x, name);
        for (int p = 0; p < 2; p++)
            left[t][p] = ft ? log_durable(ft->logs[p]) : -1;
    }
    for (int i = 0; i < w->n; i++) {
        const struct op *o = &w->ops[i];
        bool there;
        if (o->kind != OP_APPEND) {
            there = meta > 0;
            meta -= there;
        } else {
            char name[8];
            struct fx_topic *ft;
            snprintf(name, sizeof name, "t%d", o->topic);
            ft = fx_topic(x, name);
            if (!ft || ft->id.b[15] != (unsigned char)(o->generation + 1))
                continue; /* its topic is gone: nothing to be seen */
            there = left[o->topic][o->partition] > 0;
            left[o->topic][o->partition] -= there;
        }
        if (there && kept < i) {
            for (int k = kept; k < i; k++) {
                const struct op *q = &w->ops[k];
                struct fx_topic *ft;
                char name[8];
                snprintf(name, sizeof name, "t%d", q->topic);
                ft = fx_topic(x, name);
                if (q->kind != OP_APPEND ||
                    (ft && ft->id.b[15] == (unsigned char)(q->generation + 1)))
                    fail_msg("op %d is there, op %d before it is not", i, k);
            }
        }
        if (there)
            kept = i + 1;
    }
    assert_int_equal(meta, 0);
    for (int t = 0; t < 3; t++)
        for (int p = 0; p < 2; p++)
            if (left[t][p] > 0)
                fail_msg("t%d-%d has %lld batches too many", t, p, (long long)left[t][p]);
    return kept;
}

static void check_values(struct walk *w)
{
    struct fx *x = &w->x;
    struct buf b;

    buf_init(&b, 1u << 30);
    for (int i = 0; i < x->n_topics; i++) {
        struct fx_topic *ft = &x->topics[i];
        int topic = ft->name[1] - '0', generation = ft->id.b[15] - 1;
        for (int p = 0; p < ft->n_partitions; p++) {
            struct slice rest;
            int64_t offset = 0;
            buf_reset(&b);
            fx_read(x, ft->logs[p], 0, &b);
            rest = buf_slice(&b);
            for (int k = 0; k < w->n; k++) {
                struct record_iter it;
                struct record rec;
                char text[64];
                if (!same_log(&w->ops[k], topic, generation, p))
                    continue;
                assert_int_equal(record_iter_init(&it, rest, NULL), 0);
                assert_int_equal(record_iter_next(&it, &rec), 1);
                assert_int_equal(rec.offset, offset++);
                value_text(&w->ops[k], text);
                if (w->ops[k].big)
                    assert_int_equal(rec.value.n, w->ops[k].big);
                else if (!slice_eq_str(rec.value, text))
                    fail_msg("offset %lld: %.*s, not %s", (long long)rec.offset,
                             SLICE_FMT(rec.value), text);
                rest = slice_sub(rest, it.batch.size, SIZE_MAX);
            }
            assert_int_equal(rest.n, 0);
        }
    }
    buf_deinit(&b);
}

/* After a start: what is there becomes the truth. */
static void reconcile(struct walk *w)
{
    int kept = count_kept(w);

    if (kept < w->acked) {
        /* Appends to topics that are deleted again leave no trace. */
        for (int i = kept; i < w->acked; i++) {
            char name[8];
            struct fx_topic *ft;
            snprintf(name, sizeof name, "t%d", w->ops[i].topic);
            ft = fx_topic(&w->x, name);
            if (w->ops[i].kind != OP_APPEND ||
                (ft && ft->id.b[15] == (unsigned char)(w->ops[i].generation + 1)))
                fail_msg("op %d was durable and is lost; %d of %d are there", i, kept, w->n);
        }
        kept = w->acked;
    }
    if (kept > 0 && kept < w->n && w->ops[kept].bundle &&
        w->ops[kept].bundle == w->ops[kept - 1].bundle)
        fail_msg("a bundle was split at op %d", kept);
    w->n = w->base = w->acked = kept;
    check_values(w);
    for (int t = 0; t < 3; t++) {
        char name[8];
        snprintf(name, sizeof name, "t%d", t);
        w->exists[t] = fx_topic(&w->x, name) != NULL;
        if (w->exists[t])
            w->generations[t] = fx_topic(&w->x, name)->id.b[15] - 1;
    }
}

static void note_acked(struct walk *w)
{
    if (w->x.d && !w->x.down && !w->x.n_halts) {
        int acked = w->base + (int)logdir_durable(w->x.d);
        if (acked > w->acked)
            w->acked = acked;
    }
}

/* ---- the walk ---- */

static void open_again(struct walk *w)
{
    struct fx *x = &w->x;

    for (int tries = 0;; tries++) {
        int r;
        x->fault = draw(w, 2) ? SIM_CRASH : SIM_POWER_CUT;
        x->wait_crash_in = tries < 4 && draw(w, 3) == 0 ? 1 + draw(w, 40) : 0;
        r = fx_open(x);
        x->wait_crash_in = 0;
        if (r == 0 && !x->env->dead)
            break;
        if (getenv("FX_LOG"))
            fprintf(stderr, "open failed: %s (%d)\n", x->err.text, x->fault);
        if (r != -ERR_CRASHED && !x->env->dead && getenv("FX_LOG")) {
            struct fx_image *m = calloc(1, sizeof *m);
            fx_image_take(x, m);
            for (int i = 0; i < m->n; i++)
                fprintf(stderr, "  %s %zu %.40s\n", m->files[i].path, m->files[i].bytes.n,
                        strstr(m->files[i].path, "metadata") && m->files[i].bytes.n
                            ? (char *)m->files[i].bytes.p
                            : "");
            for (int i = 0; i < x->n_topics; i++) {
                char t[23];
                uuid_text(&x->topics[i].id, t);
                fprintf(stderr, "  topic %s %s\n", x->topics[i].name, t);
            }
        }
        if (r != -ERR_CRASHED && !x->env->dead)
            fail_msg("open: %s", x->err.text);
        if (w->async && x->fault == SIM_POWER_CUT)
            w->acked = 0;
        while (!x->down)
            sim_step(&x->sim);
        x->down = false;
        sim_start(x->node);
    }
    for (int i = 0; i < x->n_topics; i++)
        for (int p = 0; p < x->topics[i].n_partitions; p++) {
            struct log *l = x->topics[i].logs[p];
            assert_int_equal(((struct fx_part *)log_user(l))->state, log_durable(l));
        }
    reconcile(w);
}

static void end(struct walk *w, bool cut)
{
    struct fx *x = &w->x;

    note_acked(w);
    if (x->env->dead && !x->n_halts) /* it struck, though the world has not gone on since */
        cut = cut || x->struck == SIM_POWER_CUT;
    x->point_crash_in = 0;
    if (getenv("FX_LOG"))
        fprintf(stderr, "end (fault %d, halts %d, lost %d): %s%s\n", x->fault, x->n_halts,
                (int)sim_node_disk(x->node)->n_lost, x->down ? "down already, " : "",
                cut ? "power cut" : "crash");
    if (w->async && cut)
        w->acked = 0; /* a power cut takes what it likes from the end */
    if (x->down) {
        x->down = false;
        sim_start(x->node);
    } else if (cut) {
        fx_power_cut(x);
    } else {
        fx_crash(x);
    }
    sim_node_disk(x->node)->quota = UINT64_MAX;
    sim_node_disk(x->node)->fail_syncs = 0;
    open_again(w);
}

static void stage_some(struct walk *w)
{
    int n = 1 + (int)draw(w, 6), topic = (int)draw(w, 3);
    bool bundle = draw(w, 3) == 0;

    if (!w->exists[topic])
        return;
    if (bundle) {
        w->bundle++;
        logdir_bundle_begin(w->x.d);
    }
    for (int i = 0; i < n; i++) {
        int r = stage(w, topic, bundle ? w->bundle : 0);
        if (r < 0) {
            assert_true(r == -ERR_NO_SPACE || r == -ERR_LIMIT || r == -ERR_IO);
            assert_true(i == 0 || !bundle || r == -ERR_IO);
            break;
        }
    }
    if (bundle)
        logdir_bundle_end(w->x.d);
}

static void step(struct walk *w)
{
    struct fx *x = &w->x;
    uint64_t what = draw(w, 100);

    if (getenv("FX_LOG"))
        fprintf(stderr, "step %d: fault %d down %d dead %d %d ops, %d acked, t1 %d.%d\n", (int)what,
                x->fault, x->down, x->env->dead, w->n, w->acked, w->exists[1], w->generations[1]);

    if (what < 45) {
        stage_some(w);
    } else if (what < 50) {
        change_topic(w, (int)draw(w, 3));
    } else if (what < 60) {
        fx_sync(x);
    } else if (what < 80) {
        for (uint64_t i = draw(w, 30); i > 0 && !x->down; i--)
            fx_turn(x);
    } else if (what < 86) {
        fx_pass(x, ENV_MS(draw(w, 8000)));
    } else if (what < 88) {
        x->fault = draw(w, 2) ? SIM_CRASH : SIM_POWER_CUT;
        x->point_crash_in = 1 + draw(w, 60);
    } else if (what < 90) {
        sim_node_disk(x->node)->quota = sim_node_disk(x->node)->used + draw(w, 100000);
    } else if (what < 92) {
        sim_node_disk(x->node)->quota = UINT64_MAX;
    } else if (what == 92) {
        sim_node_disk(x->node)->fail_syncs = 1;
    } else if (what < 95) {
        note_acked(w);
        if (!x->n_halts && !x->env->dead && x->point_crash_in == 0 &&
            sim_node_disk(x->node)->quota == UINT64_MAX &&
            sim_node_disk(x->node)->fail_syncs == 0) {
            fx_close(x);
            if (w->base + (int)x->durable_lsn > w->acked)
                w->acked = w->base + (int)x->durable_lsn;
            open_again(w);
        }
    } else {
        end(w, draw(w, 2));
        return;
    }
    note_acked(w);
    if (x->down || x->n_halts)
        end(w, x->down ? x->struck == SIM_POWER_CUT : draw(w, 2));
}

static void walk(uint64_t seed, int steps, bool async, uint64_t mutations)
{
    struct walk *w = calloc(1, sizeof *w);
    struct fx *x = &w->x;

    fx_init_sim(x, seed);
    x->quiet = !getenv("FX_LOG");
    x->producers = true;
    w->async = async;
    x->o.async = async;
    x->o.journal_file_bytes = 128 << 10;
    x->o.journal_bytes_max = 512 << 10;
    x->o.tail_bytes_max = 40000;
    x->o.staged_bytes_max = 400000;
    x->o.round_bytes_max = 50000;
    x->config.segment_bytes = 60000;
    x->config.index_interval_bytes = 500;
    x->env->mutations = mutations;
    fx_start(x);
    for (int i = 0; i < steps && w->n < OPS_MAX - 100; i++)
        step(w);
    end(w, false);
    end(w, !async);
    fx_deinit(x);
    free(w);
}

static int n_seeds(int quick)
{
    const char *s = getenv("WALK_SEEDS");
    return s ? atoi(s) : quick;
}

static void what_was_durable_stays_and_the_rest_is_a_beginning(void **state)
{
    uint64_t first = getenv("WALK_SEED") ? strtoull(getenv("WALK_SEED"), NULL, 10) : 1;

    (void)state;
    for (uint64_t seed = first; seed < first + (uint64_t)n_seeds(300); seed++) {
        if (getenv("WALK_SEED") || getenv("WALK_TELL"))
            fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
        walk(seed, 150, false, 0);
    }
}

static void without_sync_a_power_cut_takes_an_end_of_the_order(void **state)
{
    uint64_t first = getenv("WALK_SEED") ? strtoull(getenv("WALK_SEED"), NULL, 10) : 10001;

    (void)state;
    for (uint64_t seed = first; seed < first + (uint64_t)n_seeds(100); seed++) {
        if (getenv("WALK_TELL"))
            fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
        walk(seed, 150, true, 0);
    }
}

/* A walk in a process of its own: did it find anything wrong? cmocka leaves the child by main. */
static bool found_wrong(uint64_t seed, uint64_t mutations)
{
    int status, null;
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        null = open("/dev/null", O_WRONLY);
        dup2(null, 1);
        dup2(null, 2);
        walk(seed, 150, false, mutations);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

static void a_walk_notices_what_is_switched_off(void **state)
{
    const enum mutation mutations[] = {MUT_ACK_BEFORE_SYNC, MUT_RECOVERY_NO_SYNC};

    (void)state;
    for (int i = 0; i < 2; i++) {
        uint64_t seed = 1;
        while (seed < 60 && !found_wrong(seed, UINT64_C(1) << mutations[i]))
            seed++;
        print_message("%s: seed %d\n", mutation_name((int)mutations[i]), (int)seed);
        assert_true(seed < 60);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_durable_stays_and_the_rest_is_a_beginning),
        cmocka_unit_test(without_sync_a_power_cut_takes_an_end_of_the_order),
        cmocka_unit_test(a_walk_notices_what_is_switched_off), /* its children end with it */
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

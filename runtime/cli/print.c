/* runtime/cli/print.c - follows topics and writes `[topic TAB] key TAB value LF`. */
#include "runtime/cli/print.h"
#include <inttypes.h>
#include <stdlib.h>

enum { OUT_BYTES_MAX = 64 << 20, FLUSH_BYTES = 256 * 1024, RECORDS_A_TURN = 20000 };

struct print_partition {
    struct print *print;
    struct slice topic;
    int32_t partition;
    struct list_offset ask; /* first the beginning, later the end */
    int64_t end;            /* to be reached by print_finish; -1: not known */
    bool reading;
};
struct print_topic {
    struct print *print;
    const char *name;
    struct topic_lookup lookup;
    struct create_topic create;
    struct print_partition *v;
    int32_t n;
};
struct print {
    struct cli *c;
    struct client *client;
    struct print_options o;
    struct fetcher *fetcher;
    struct print_topic *topics;
    struct buf out;
    struct env_task turn;
    struct env_timer again;
    int opening; /* topics not yet being read */
    bool failed, finishing;
    int ends_left;
    void (*done)(void *user);
    void *done_user;
};

static void fail(struct print *p, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static void fail(struct print *p, int code, const char *fmt, ...)
{
    char text[1200];
    va_list ap;

    if (p->failed)
        return;
    p->failed = true;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    p->o.failed(p->o.user, code, text);
}

static bool flush(struct print *p)
{
    bool ok = !p->out.n ||
              (fwrite(p->out.p, 1, p->out.n, stdout) == p->out.n && fflush(stdout) == 0);

    buf_reset(&p->out);
    if (!ok)
        fail(p, EXIT_JOB, "cannot write to stdout");
    return ok;
}

static void put_record(struct print *p, const struct fetched *r)
{
    if (p->o.topics.n > 1) {
        text_escape(&p->out, r->topic);
        buf_put_u8(&p->out, '\t');
    }
    text_escape(&p->out, r->key);
    buf_put_u8(&p->out, '\t');
    if (r->value.p)
        text_escape(&p->out, r->value);
    else
        buf_put(&p->out, "\\N", 2);
    buf_put_u8(&p->out, '\n');
}

static void check_finished(struct print *p)
{
    if (!p->finishing || p->opening || p->ends_left)
        return;
    for (int i = 0; i < p->o.topics.n; i++)
        for (int32_t k = 0; k < p->topics[i].n; k++) {
            struct print_partition *v = &p->topics[i].v[k];
            if (fetcher_position(p->fetcher, v->topic, v->partition) < v->end)
                return;
        }
    p->finishing = false;
    if (flush(p))
        p->done(p->done_user);
}

static void run(struct env_task *task)
{
    struct print *p = list_entry(task, struct print, turn);
    struct fetched r;
    struct err e = {0};
    int n = 0, res = 0;

    while (n < RECORDS_A_TURN && !p->failed && (res = fetcher_next(p->fetcher, &r, &e)) > 0) {
        put_record(p, &r);
        n++;
        if (p->out.n >= FLUSH_BYTES && !flush(p))
            return;
    }
    if (res < 0)
        fail(p, cli_code(res), "--out: %s", e.text);
    if (p->out.n)
        flush(p);
    if (n == RECORDS_A_TURN)
        env_timer_set(&p->c->node.env, &p->again, p->c->node.env.now);
    check_finished(p);
}

static void again(struct env_timer *t)
{
    struct print *p = list_entry(t, struct print, again);
    env_task_add(&p->c->node.env, &p->turn);
}

static void ready(void *user)
{
    struct print *p = user;
    env_task_add(&p->c->node.env, &p->turn);
}

/* ---- opening ---- */

static void ask_ends(struct print *p);

static void got_begin(struct list_offset *op, int res, const struct err *e)
{
    struct print_partition *v = op->user;
    struct print *p = v->print;

    if (!res)
        res = fetcher_add(p->fetcher, v->topic, v->partition, op->offset, v);
    if (res) {
        fail(p, cli_code(res), "--out %.*s: %s", SLICE_FMT(v->topic),
             e && e->text[0] ? e->text : err_text(res));
        return;
    }
    v->reading = true;
    if (--p->opening == 0 && p->finishing)
        ask_ends(p);
}

static void read_topic(struct print_topic *t, int32_t n)
{
    struct print *p = t->print;

    t->v = calloc((size_t)n, sizeof *t->v);
    if (!t->v) {
        fail(p, EXIT_JOB, "out of memory");
        return;
    }
    t->n = n;
    p->opening += n - 1; /* the topic stood for one */
    for (int32_t i = 0; i < n; i++) {
        struct print_partition *v = &t->v[i];
        *v = (struct print_partition){
            .print = p, .topic = slice_str(t->name), .partition = i, .end = -1};
        v->ask = (struct list_offset){.topic = v->topic,
                                      .partition = i,
                                      .timestamp = -2,
                                      .timeout_ms = 60000,
                                      .done = got_begin,
                                      .user = v};
        admin_list_offset(p->client, &v->ask);
    }
}

static void look_up(struct print_topic *t);

static void created(struct create_topic *op, int res, const struct err *e)
{
    struct print_topic *t = op->user;

    if (res && res != -ERR_EXISTS)
        fail(t->print, cli_code(res), "--out %s: %s", t->name, e->text);
    else
        look_up(t);
}

static void looked_up(struct topic_lookup *l, int res, const struct client_topic *ct)
{
    struct print_topic *t = l->user;

    if (res == -ERR_NOT_FOUND) {
        t->create = (struct create_topic){.topic = slice_str(t->name),
                                          .partitions = t->print->o.partitions,
                                          .timeout_ms = 60000,
                                          .done = created,
                                          .user = t};
        admin_create_topic(t->print->client, &t->create);
    } else if (res)
        fail(t->print, cli_code(res), "--out %s: %s", t->name, err_text(res));
    else
        read_topic(t, ct->n_partitions);
}

static void look_up(struct print_topic *t)
{
    t->lookup = (struct topic_lookup){
        .name = slice_str(t->name), .timeout_ms = 60000, .done = looked_up, .user = t};
    client_topic_lookup(t->print->client, &t->lookup);
}

/* ---- finishing ---- */

static void got_end(struct list_offset *op, int res, const struct err *e)
{
    struct print_partition *v = op->user;
    struct print *p = v->print;

    if (res) {
        fail(p, cli_code(res), "--out %.*s: %s", SLICE_FMT(v->topic), e->text);
        return;
    }
    v->end = op->offset;
    if (--p->ends_left == 0)
        check_finished(p);
}

/* Undecided records included: what was committed just now may still wait for its markers, and the
 * read, which is of committed ones, passes the end when they are there. */
static void ask_ends(struct print *p)
{
    for (int i = 0; i < p->o.topics.n; i++)
        for (int32_t k = 0; k < p->topics[i].n; k++) {
            struct print_partition *v = &p->topics[i].v[k];
            p->ends_left++;
            v->ask = (struct list_offset){.topic = v->topic,
                                          .partition = k,
                                          .timestamp = -1,
                                          .read_committed = false,
                                          .timeout_ms = 60000,
                                          .done = got_end,
                                          .user = v};
            admin_list_offset(p->client, &v->ask);
        }
}

void print_finish(struct print *p, void (*done)(void *user), void *user)
{
    p->finishing = true;
    p->done = done;
    p->done_user = user;
    if (p->opening == 0)
        ask_ends(p);
}

int print_open(struct print **out, struct cli *c, struct client *client,
               const struct print_options *o, struct err *e)
{
    struct print *p = calloc(1, sizeof *p);
    struct fetcher_options fo = {
        .read_committed = true, .max_wait_ms = 500, .user = p, .ready = ready};

    if (!p)
        return err_set(e, ERR_NOMEM, "out of memory");
    p->c = c;
    p->client = client;
    p->o = *o;
    p->turn.run = run;
    p->again.fire = again;
    buf_init(&p->out, OUT_BYTES_MAX);
    p->topics = calloc((size_t)o->topics.n + 1, sizeof *p->topics);
    if (!p->topics || fetcher_open(&p->fetcher, client, &fo)) {
        print_free(p);
        return err_set(e, ERR_NOMEM, "out of memory");
    }
    *out = p;
    return 0;
}

void print_start(struct print *p)
{
    p->opening = p->o.topics.n;
    for (int i = 0; i < p->o.topics.n; i++) {
        p->topics[i].print = p;
        p->topics[i].name = p->o.topics.v[i];
        look_up(&p->topics[i]);
    }
}

void print_free(struct print *p)
{
    if (!p)
        return;
    env_task_stop(&p->turn);
    env_timer_stop(&p->c->node.env, &p->again);
    fetcher_free(p->fetcher);
    for (int i = 0; p->topics && i < p->o.topics.n; i++)
        free(p->topics[i].v);
    free(p->topics);
    buf_deinit(&p->out);
    free(p);
}

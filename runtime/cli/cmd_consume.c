/* runtime/cli/cmd_consume.c - `once consume`: a topic's records on stdout.
 *
 * Each partition is read from where -o says to its stable end, or on and on with --follow. --all
 * shows aborted and control records too, and behind the stable end what is not decided yet, which a
 * second fetcher reads. With --group the position of a group is where it starts, and nothing is
 * committed. */
#include "base/wire/batch.h"
#include "runtime/cli/cli.h"
#include "runtime/cli/jsonl.h"
#include "runtime/client/admin.h"
#include <inttypes.h>
#include <stdlib.h>

enum { OUT_BYTES_MAX = 256 << 20, FLUSH_BYTES = 256 * 1024, RECORDS_A_TURN = 20000 };

struct consume_partition {
    struct consume *all;
    int32_t index;
    struct list_offset begin, end, high; /* end: the stable one; high: with --all */
    int64_t from, upper, stop;           /* stop: N:M's excluded end, -1 none */
    bool over;
    bool behind; /* the stable end is passed: p->undecided reads on */
};
struct consume {
    struct cli *c;
    const char *topic, *from, *format, *group;
    int64_t count, partition;
    bool all, follow, done;
    struct topic_lookup lookup;
    struct consume_partition *v;
    int32_t n;
    int left;
    struct fetch_offsets positions;
    struct fetch_offset_entry *entries;
    struct fetcher *fetcher, *undecided;
    struct buf out;
    struct env_task turn;
    struct env_timer again;
    int64_t printed;
};

static void fail(struct consume *p, int res, const char *what, const struct err *e)
{
    const char *why = e && e->text[0] ? e->text : err_text(res);

    if (!p->done && cli_code(res) == EXIT_UNREACHABLE)
        cli_fail_res(p->c, res, why);
    else if (!p->done && res == -ERR_NOT_FOUND)
        cli_fail(p->c, EXIT_REFUSED, "there is no topic %s; see once topic ls", what);
    else if (!p->done)
        cli_fail(p->c, cli_code(res), "%s: %s", what, why);
    p->done = true;
}

/* ---- output ---- */

static void put_headers(struct buf *out, const struct fetched *r)
{
    struct record rec = {.headers = r->headers, .n_headers = r->n_headers};
    struct header_iter it;
    struct slice key, value;
    bool first = true;

    header_iter_init(&it, &rec);
    while (header_iter_next(&it, &key, &value)) {
        if (!first)
            buf_put_u8(out, ',');
        buf_put_slice(out, key);
        buf_put_u8(out, '=');
        if (value.p)
            buf_put_slice(out, value);
        else
            buf_put(out, "NULL", 4);
        first = false;
    }
}

static void put_escape(struct buf *out, char c)
{
    buf_put_u8(out, c == 'n'   ? '\n'
                    : c == 't' ? '\t'
                    : c == 'r' ? '\r'
                    : c == '0' ? 0
                               : (uint8_t)c);
}

static void put_formatted(struct consume *p, const struct fetched *r)
{
    struct buf *out = &p->out;

    for (const char *f = p->format; *f; f++) {
        if (*f == '\\' && f[1]) {
            put_escape(out, *++f);
            continue;
        }
        if (*f != '%' || !f[1]) {
            buf_put_u8(out, (uint8_t)*f);
            continue;
        }
        switch (*++f) {
        case 't': buf_put_slice(out, r->topic); break;
        case 'p': buf_printf(out, "%d", r->partition); break;
        case 'o': buf_printf(out, "%" PRId64, r->offset); break;
        case 'T': buf_printf(out, "%" PRId64, r->timestamp); break;
        case 'k': buf_put_slice(out, r->key); break;
        case 's': buf_put_slice(out, r->value); break;
        case 'K': buf_printf(out, "%" PRId64, r->key.p ? (int64_t)r->key.n : -1); break;
        case 'S': buf_printf(out, "%" PRId64, r->value.p ? (int64_t)r->value.n : -1); break;
        case 'h': put_headers(out, r); break;
        case '%': buf_put_u8(out, '%'); break;
        default: buf_put_u8(out, '%'); buf_put_u8(out, (uint8_t)*f);
        }
    }
}

/* What --all shows beside the topic's records, as a field of JSON; NULL: it is one of these. */
static const char *mark_of(const struct fetched *r)
{
    const struct consume_partition *v = r->user;

    if (r->mark == FETCHED_ABORTED)
        return "\"aborted\":true";
    if (r->mark == FETCHED_CONTROL)
        return r->key.n >= 4 && get_be16(r->key.p + 2) == CONTROL_COMMIT ? "\"control\":\"commit\""
                                                                         : "\"control\":\"abort\"";
    return v->behind && r->transactional ? "\"open\":true" : NULL;
}

static void put_eyes(struct buf *out, const struct fetched *r)
{
    const char *mark = mark_of(r);

    buf_printf(out, "%d@%" PRId64 "\t", r->partition, r->offset);
    text_escape(out, r->key);
    buf_put_u8(out, '\t');
    if (r->value.p)
        text_escape(out, r->value);
    else
        buf_put(out, "\\N", 2);
    if (mark)
        buf_printf(out, "\t(%s)", mark);
    buf_put_u8(out, '\n');
}

static void put_record(struct consume *p, const struct fetched *r)
{
    if (p->format)
        put_formatted(p, r);
    else if (cli_format(p->c) == FORMAT_TABLE)
        put_eyes(&p->out, r);
    else if (cli_format(p->c) == FORMAT_PLAIN) {
        buf_put_slice(&p->out, r->value);
        buf_put_u8(&p->out, '\n');
    } else
        jsonl_write(&p->out, r, mark_of(r));
    p->printed++;
}

static bool flush(struct consume *p)
{
    bool ok = !p->out.n ||
              (fwrite(p->out.p, 1, p->out.n, stdout) == p->out.n && fflush(stdout) == 0);

    buf_reset(&p->out);
    if (!ok && !p->done) { /* the reader of our pipe went away */
        p->c->exit_code = EXIT_JOB;
        p->done = true;
    }
    return ok;
}

/* --all: at the stable end, what is undecided comes next. */
static void read_behind(struct consume *p, struct consume_partition *v, int64_t at)
{
    int rc;

    fetcher_remove(p->fetcher, slice_str(p->topic), v->index);
    v->behind = true;
    rc = fetcher_add(p->undecided, slice_str(p->topic), v->index, at, v);
    if (rc)
        fail(p, rc, p->topic, NULL);
}

static bool all_over(struct consume *p)
{
    bool over = true;

    for (int32_t i = 0; i < p->n; i++) {
        struct consume_partition *v = &p->v[i];
        int64_t at;
        if (v->over)
            continue;
        if (p->follow && v->stop < 0) {
            over = false;
            continue;
        }
        at = fetcher_position(v->behind ? p->undecided : p->fetcher, slice_str(p->topic), v->index);
        v->over = at >= v->upper;
        over &= v->over;
        if (!v->over && p->all && !p->follow && !v->behind && at >= v->end.offset)
            read_behind(p, v, at);
    }
    return over;
}

static int next(struct consume *p, struct fetched *r, struct err *e)
{
    int res = fetcher_next(p->fetcher, r, e);

    return res || !p->undecided ? res : fetcher_next(p->undecided, r, e);
}

static void run(struct env_task *task)
{
    struct consume *p = list_entry(task, struct consume, turn);
    struct fetched r;
    struct err e = {0};
    int n = 0, res = 0;

    while (n++ < RECORDS_A_TURN && !p->done && (res = next(p, &r, &e)) > 0) {
        struct consume_partition *v = r.user;
        bool behind = (!p->follow || v->stop >= 0) && r.offset >= v->upper;
        if (v->over || behind) {
            v->over = true;
            continue;
        }
        put_record(p, &r);
        if (p->out.n >= FLUSH_BYTES && !flush(p))
            return;
        if (p->count > 0 && p->printed >= p->count)
            p->done = true;
    }
    if (res < 0)
        fail(p, res, p->topic, &e);
    if (p->out.n)
        flush(p);
    if (all_over(p))
        p->done = true;
    else if (n > RECORDS_A_TURN)
        env_timer_set(&p->c->node.env, &p->again, p->c->node.env.now);
}

static void again(struct env_timer *t)
{
    struct consume *p = list_entry(t, struct consume, again);
    env_task_add(&p->c->node.env, &p->turn);
}

static void ready(void *user)
{
    struct consume *p = user;
    env_task_add(&p->c->node.env, &p->turn);
}

/* ---- where to start ---- */

static void start_reading(struct consume *p)
{
    for (int32_t i = 0; i < p->n; i++) {
        struct consume_partition *v = &p->v[i];
        int rc;

        if (p->entries && p->entries[i].offset >= 0)
            v->from = p->entries[i].offset;
        v->over = (!p->follow || v->stop >= 0) && v->from >= v->upper;
        rc = v->over ? 0 : fetcher_add(p->fetcher, slice_str(p->topic), v->index, v->from, v);
        if (rc)
            fail(p, rc, p->topic, NULL);
    }
    env_task_add(&p->c->node.env, &p->turn);
}

static void got_positions(struct fetch_offsets *op, int res, const struct err *e)
{
    struct consume *p = op->user;

    if (res)
        fail(p, res, p->group, e);
    else
        start_reading(p);
}

static void ask_positions(struct consume *p)
{
    p->entries = calloc((size_t)p->n, sizeof *p->entries);
    if (!p->entries) {
        fail(p, -ERR_NOMEM, p->topic, NULL);
        return;
    }
    for (int32_t i = 0; i < p->n; i++)
        p->entries[i] =
            (struct fetch_offset_entry){.topic = slice_str(p->topic), .partition = p->v[i].index};
    p->positions = (struct fetch_offsets){.group = slice_str(p->group),
                                          .stable = true,
                                          .v = p->entries,
                                          .n = p->n,
                                          .done = got_positions,
                                          .user = p};
    arena_init(&p->positions.arena, 8 << 20);
    admin_fetch_offsets(p->c->client, &p->positions);
}

static void bounds_known(struct consume *p)
{
    if (p->group)
        ask_positions(p);
    else
        start_reading(p);
}

/* -o: what the bound answers mean for one partition. */
static void place(struct consume *p, struct consume_partition *v)
{
    const char *o = p->from ? p->from : "earliest";
    const char *colon = strchr(o, ':');
    int64_t n = 0;

    v->upper = p->all && !p->follow ? v->high.offset : v->end.offset;
    v->stop = -1;
    if (strcmp(o, "earliest") == 0 || strcmp(o, "beginning") == 0 || o[0] == '@')
        v->from = v->begin.offset >= 0 ? v->begin.offset : v->end.offset;
    else if (strcmp(o, "latest") == 0 || strcmp(o, "end") == 0)
        v->from = v->end.offset;
    else {
        parse_i64(slice_of(o, colon ? (size_t)(colon - o) : strlen(o)), &n);
        v->from = n < 0 ? v->end.offset + n : n;
        if (v->from < v->begin.offset)
            v->from = v->begin.offset;
    }
    if (colon) {
        parse_i64(slice_str(colon + 1), &v->stop);
        v->upper = v->stop < v->upper || p->follow ? v->stop : v->upper;
    }
}

static void got_bound(struct list_offset *op, int res, const struct err *e)
{
    struct consume_partition *v = op->user;
    struct consume *p = v->all;

    if (res) {
        fail(p, res, p->topic, e);
        return;
    }
    if (--p->left)
        return;
    for (int32_t i = 0; i < p->n; i++)
        place(p, &p->v[i]);
    bounds_known(p);
}

static void looked_up(struct topic_lookup *l, int res, const struct client_topic *t)
{
    struct consume *p = l->user;
    int64_t at = -2;

    if (res) {
        fail(p, res, p->topic, NULL);
        return;
    }
    if (p->partition >= t->n_partitions) {
        cli_fail(p->c, EXIT_USAGE, "topic %s has %d partitions", p->topic, t->n_partitions);
        p->done = true;
        return;
    }
    p->n = p->partition >= 0 ? 1 : t->n_partitions;
    p->v = calloc((size_t)p->n, sizeof *p->v);
    if (!p->v) {
        fail(p, -ERR_NOMEM, p->topic, NULL);
        return;
    }
    if (p->from && p->from[0] == '@')
        parse_i64(slice_str(p->from + 1), &at);
    p->left = p->n * (p->all ? 3 : 2);
    for (int32_t i = 0; i < p->n; i++) {
        struct consume_partition *v = &p->v[i];
        v->all = p;
        v->index = p->partition >= 0 ? (int32_t)p->partition : i;
        v->begin = (struct list_offset){.topic = slice_str(p->topic),
                                        .partition = v->index,
                                        .timestamp = at,
                                        .read_committed = true,
                                        .done = got_bound,
                                        .user = v};
        v->end = v->begin;
        v->end.timestamp = -1;
        admin_list_offset(p->c->client, &v->begin);
        admin_list_offset(p->c->client, &v->end);
        if (!p->all)
            continue;
        v->high = v->end;
        v->high.read_committed = false;
        admin_list_offset(p->c->client, &v->high);
    }
}

static int check_from(struct consume *p)
{
    const char *o = p->from;
    const char *colon = o ? strchr(o, ':') : NULL;
    int64_t n;

    if (!o || strcmp(o, "earliest") == 0 || strcmp(o, "latest") == 0 ||
        strcmp(o, "beginning") == 0 || strcmp(o, "end") == 0)
        return 0;
    if (o[0] == '@' && parse_i64(slice_str(o + 1), &n) == 0)
        return 0;
    if (parse_i64(slice_of(o, colon ? (size_t)(colon - o) : strlen(o)), &n) == 0 &&
        (!colon || (parse_i64(slice_str(colon + 1), &n) == 0 && n >= 0)))
        return 0;
    return cli_fail(p->c, EXIT_USAGE, "-o %s: earliest, latest, N, -N, N:M or @MILLISECONDS", o);
}

static int consume(struct consume *p)
{
    struct cli *c = p->c;
    struct fetcher_options fo = {.read_committed = true,
                                 .everything = p->all,
                                 .max_wait_ms = 500,
                                 .user = p,
                                 .ready = ready};
    int rc = check_from(p);

    if (!rc)
        rc = cli_connect(c);
    if (rc)
        return rc;
    if (fetcher_open(&p->fetcher, c->client, &fo))
        return cli_fail(c, EXIT_JOB, "out of memory");
    fo.read_committed = false;
    if (p->all && fetcher_open(&p->undecided, c->client, &fo))
        return cli_fail(c, EXIT_JOB, "out of memory");
    p->lookup = (struct topic_lookup){.name = slice_str(p->topic), .done = looked_up, .user = p};
    client_topic_lookup(c->client, &p->lookup);
    rc = cli_wait(c, &p->done);
    return rc ? rc : c->exit_code;
}

int cmd_consume(struct cli *c, int argc, char **argv)
{
    const char **rest = calloc((size_t)argc + 1, sizeof *rest);
    struct consume *p = calloc(1, sizeof *p);
    int n, rc;

    if (!rest || !p) {
        free(rest);
        free(p);
        return cli_fail(c, EXIT_JOB, "out of memory");
    }
    p->c = c;
    p->partition = -1;
    p->turn.run = run;
    p->again.fire = again;
    buf_init(&p->out, OUT_BYTES_MAX);
    const struct cli_option options[] = {
        {"offset", 'o', OPTION_TEXT, &p->from, "FROM",
         "earliest, latest, N, -N, N:M or @MS (earliest)"},
        {"count", 'n', OPTION_INT, &p->count, "N", "stop after N records"},
        {"partition", 'p', OPTION_INT, &p->partition, "N", "one partition (all)"},
        {"output", 'f', OPTION_TEXT, &p->format, "FMT", "form of a record, as in kcat"},
        {"all", 0, OPTION_FLAG, &p->all, NULL,
         "aborted, control and undecided records too, marked"},
        {"follow", 0, OPTION_FLAG, &p->follow, NULL, "go on at the end"},
        {"group", 0, OPTION_TEXT, &p->group, "G", "start at the group's committed offsets"},
    };
    if (cli_parse(c, command_find("consume"), options, 7, argc, argv, rest, &n))
        rc = c->exit_code;
    else if (n != 1)
        rc = n ? cli_fail(c, EXIT_USAGE, "unexpected word '%s'", rest[1])
               : cli_fail(c, EXIT_USAGE, "which topic? See once consume --help");
    else {
        p->topic = rest[0];
        rc = consume(p);
    }
    if (c->world)
        env_uv_node_stop(&c->uv, &c->node);
    fetcher_free(p->fetcher);
    fetcher_free(p->undecided);
    if (p->entries)
        arena_deinit(&p->positions.arena);
    free(p->entries);
    free(p->v);
    buf_deinit(&p->out);
    free(p);
    free(rest);
    return rc;
}

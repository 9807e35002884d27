/* runtime/cli/cmd_produce.c - `once produce`: lines of stdin into a topic. */
#include "runtime/cli/cli.h"
#include "runtime/cli/jsonl.h"
#include "runtime/cli/lines.h"
#include "runtime/client/producer.h"
#include <inttypes.h>
#include <stdlib.h>

enum { ARENA_MAX = 256 << 20, HEADERS_MAX = 1 << 20 };

struct produce {
    struct cli *c;
    const char *topic, *key, *separator, *txn;
    struct text_list headers;
    struct buf raw_headers;
    bool jsonl, done, looked_up;
    int64_t partition;
    int32_t n_partitions;
    struct topic_lookup lookup;
    struct producer *producer;
    struct lines lines;
    bool reading;
    int64_t line, sent;
    struct arena arena;
};

static void fail(struct produce *p, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static void fail(struct produce *p, int code, const char *fmt, ...)
{
    char text[1400];
    va_list ap;

    if (p->done)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    cli_fail(p->c, code, "%s", text);
    p->done = true;
}

static void committed(void *user, int res, const struct err *e)
{
    struct produce *p = user;

    if (res)
        fail(p, cli_code(res), "the transaction did not commit: %s", e ? e->text : err_text(res));
    p->done = true;
}

static void flushed(void *user, int res, const struct err *e)
{
    struct produce *p = user;

    if (res)
        fail(p, cli_code(res), "not everything was acknowledged: %s",
             e && e->text[0] ? e->text : err_text(res));
    else if (p->txn && producer_in_txn(p->producer))
        producer_end(p->producer, true, committed, p);
    else
        p->done = true;
}

static int plain_record(struct produce *p, struct slice line, struct producer_record *r)
{
    size_t n = p->separator ? strlen(p->separator) : 0;
    const unsigned char *at = n && line.n ? memmem(line.p, line.n, p->separator, n) : NULL;

    r->value = line;
    r->key = slice_str(p->key);
    if (at) {
        r->key = slice_of(line.p, (size_t)(at - line.p));
        r->value = slice_sub(line, r->key.n + n, line.n);
    }
    r->timestamp = env_wall_ms(&p->c->node.env);
    r->headers = buf_slice(&p->raw_headers);
    r->n_headers = p->headers.n;
    r->partition = (int32_t)p->partition;
    return 0;
}

static int json_record(struct produce *p, struct slice line, struct producer_record *r)
{
    struct jsonl_record j;
    struct err e = {0};

    arena_reset(&p->arena);
    if (jsonl_read(line, &j, &p->arena, &e)) {
        fail(p, EXIT_USAGE, "line %" PRId64 ", %s", p->line + 1, e.text);
        return -1;
    }
    if (j.marked) {
        fail(p, EXIT_USAGE,
             "line %" PRId64 ": an aborted, open or control record cannot be produced; leave out "
             "--all where it was consumed",
             p->line + 1);
        return -1;
    }
    r->key = j.key;
    r->value = j.value;
    r->headers = j.headers;
    r->n_headers = j.n_headers;
    r->timestamp = j.time >= 0 ? j.time : env_wall_ms(&p->c->node.env);
    r->partition = (int32_t)(p->partition >= 0 ? p->partition : j.partition);
    return 0;
}

static int take_line(void *user, struct slice line)
{
    struct produce *p = user;
    struct producer_record r = {.topic = slice_str(p->topic)};
    int rc;

    if (p->done)
        return 1;
    if (p->jsonl ? json_record(p, line, &r) : plain_record(p, line, &r))
        return 1;
    if (r.partition < 0)
        r.partition = r.key.p ? (int32_t)((murmur2(r.key) & 0x7fffffff) % (uint32_t)p->n_partitions)
                              : (int32_t)(p->line % p->n_partitions);
    if (r.partition >= p->n_partitions) {
        fail(p, EXIT_USAGE, "line %" PRId64 ": topic %s has no partition %d", p->line + 1, p->topic,
             r.partition);
        return 1;
    }
    rc = p->txn && !producer_in_txn(p->producer) ? producer_begin(p->producer) : 0;
    if (!rc)
        rc = producer_send(p->producer, &r);
    if (rc == -ERR_LIMIT)
        return 1;
    if (rc) {
        fail(p, rc == -ERR_TOO_BIG ? EXIT_USAGE : cli_code(rc), "line %" PRId64 ": %s", p->line + 1,
             err_text(rc));
        return 1;
    }
    p->line++;
    return 0;
}

static void room(void *user)
{
    struct produce *p = user;

    if (p->reading && !p->done)
        lines_resume(&p->lines);
}

static void delivered(void *user, struct slice topic, int32_t partition, int64_t base, int n,
                      int res)
{
    struct produce *p = user;

    if (res)
        fail(p, cli_code(res), "%d records for %.*s[%d] were not acknowledged: %s", n,
             SLICE_FMT(topic), partition, err_text(res));
    else
        p->sent += n;
}

static void ended(void *user, int res)
{
    struct produce *p = user;

    if (res)
        fail(p, EXIT_JOB, "stdin: %s", err_text(res));
    else
        producer_flush(p->producer, flushed, p);
}

static void start_reading(struct produce *p)
{
    if (p->done)
        return;
    p->lines.user = p;
    p->lines.line = take_line;
    p->lines.end = ended;
    p->reading = true;
    lines_start(&p->lines);
}

static void inited(void *user, int res, const struct err *e)
{
    struct produce *p = user;

    if (res)
        fail(p, cli_code(res), "%s", e && e->text[0] ? e->text : err_text(res));
    else
        start_reading(p);
}

static void looked_up(struct topic_lookup *l, int res, const struct client_topic *t)
{
    struct produce *p = l->user;

    if (res) {
        char text[400];
        snprintf(text, sizeof text, "topic %s: %s", p->topic, err_text(res));
        if (!p->done)
            cli_fail_res(p->c, res, text);
        p->done = true;
        return;
    }
    p->n_partitions = t->n_partitions;
    producer_init_id(p->producer, inited, p);
}

static int make_headers(struct produce *p)
{
    for (int i = 0; i < p->headers.n; i++) {
        const char *h = p->headers.v[i], *eq = strchr(h, '=');
        unsigned char v[10];

        if (!eq)
            return cli_fail(p->c, EXIT_USAGE, "-H %s: the form is name=value", h);
        buf_put(&p->raw_headers, v, (size_t)put_varint(v, eq - h));
        buf_put(&p->raw_headers, h, (size_t)(eq - h));
        buf_put(&p->raw_headers, v, (size_t)put_varint(v, (int64_t)strlen(eq + 1)));
        buf_put(&p->raw_headers, eq + 1, strlen(eq + 1));
    }
    return 0;
}

static int produce(struct produce *p)
{
    struct producer_options po = {
        .transactional_id = slice_str(p->txn), .user = p, .room = room, .delivered = delivered};
    struct cli *c = p->c;
    int rc = make_headers(p);

    if (!rc)
        rc = cli_connect(c);
    if (rc)
        return rc;
    if (producer_open(&p->producer, c->client, &po) || lines_open(&p->lines, &c->uv, "-"))
        return cli_fail(c, EXIT_JOB, "out of memory");
    p->lookup = (struct topic_lookup){
        .name = slice_str(p->topic), .create = true, .done = looked_up, .user = p};
    client_topic_lookup(c->client, &p->lookup);
    rc = cli_wait(c, &p->done);
    if (!rc && !c->exit_code && c->verbose)
        fprintf(stderr, "%" PRId64 " records\n", p->line);
    return rc ? rc : c->exit_code;
}

int cmd_produce(struct cli *c, int argc, char **argv)
{
    const char **rest = calloc((size_t)argc + 1, sizeof *rest);
    struct produce *p = calloc(1, sizeof *p);
    int n, rc;

    if (!rest || !p) {
        free(rest);
        free(p);
        return cli_fail(c, EXIT_JOB, "out of memory");
    }
    p->c = c;
    p->partition = -1;
    buf_init(&p->raw_headers, HEADERS_MAX);
    arena_init(&p->arena, ARENA_MAX);
    const struct cli_option options[] = {
        {"key", 'k', OPTION_TEXT, &p->key, "KEY", "key of every record"},
        {"key-separator", 'K', OPTION_TEXT, &p->separator, "SEP",
         "split lines at the first SEP: key, value"},
        {"header", 'H', OPTION_LIST, &p->headers, "name=value", "a header; may repeat"},
        {"partition", 'p', OPTION_INT, &p->partition, "N", "partition (by key, or in turn)"},
        {"txn", 0, OPTION_TEXT, &p->txn, "ID", "all in one transaction of this transactional id"},
    };
    if (cli_parse(c, command_find("produce"), options, 5, argc, argv, rest, &n))
        rc = c->exit_code;
    else if (n != 1)
        rc = n ? cli_fail(c, EXIT_USAGE, "unexpected word '%s'", rest[1])
               : cli_fail(c, EXIT_USAGE, "which topic? See once produce --help");
    else if (c->dry_run)
        rc = cli_fail(c, EXIT_USAGE, "--dry-run: nothing can be said before it is produced");
    else {
        p->topic = rest[0];
        p->jsonl = c->format && strcmp(c->format, "jsonl") == 0;
        rc = produce(p);
    }
    if (c->world)
        env_uv_node_stop(&c->uv, &c->node);
    producer_free(p->producer);
    if (p->lines.busy)
        _Exit(rc); /* a read of stdin cannot be called back */
    lines_close(&p->lines);
    buf_deinit(&p->raw_headers);
    arena_deinit(&p->arena);
    free(p->headers.v);
    free(p);
    free(rest);
    return rc;
}

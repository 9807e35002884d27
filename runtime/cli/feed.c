/* runtime/cli/feed.c - topic, position, then transactions of lines until the file ends. */
#include "runtime/cli/feed.h"
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { TXN_LINES = 20000, TXN_BYTES = 4 << 20, RETRY_MS = 100, RETRIES_MAX = 300 };
enum { TXN_MS = 100, TXN_TIMEOUT_MS = 10000 }; /* commit after; the broker aborts after */

struct feed {
    struct cli *c;
    struct client *client;
    struct feed_options o;
    char group[300], txn_id[600], path[PATH_MAX];
    struct topic_lookup lookup;
    struct create_topic create;
    struct list_offset *ends;
    int ends_left;
    bool holds_records;
    struct fetch_offsets fetch;
    struct fetch_offset_entry entry;
    bool fetching;
    struct producer *producer;
    int32_t n_partitions;
    struct lines lines;
    bool lines_open;
    int64_t line;      /* of the file, from 0, the header not counted: the next to be read */
    int64_t committed; /* lines in for good */
    bool header_seen;
    int64_t in_txn; /* lines in the open transaction */
    uint64_t bytes;
    bool ending, at_end, finished;
    int retries;
    struct env_timer retry, commit;
    uint64_t txn_at; /* when the last transaction began */
    bool probing;    /* it failed: is it still ours to abort? */
    char failed[1200];
    const char *what;
};

static void begin(struct feed *f);

static void finish(struct feed *f, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static void finish(struct feed *f, int code, const char *fmt, ...)
{
    char text[1400];
    va_list ap;

    if (f->finished)
        return;
    f->finished = true;
    env_timer_stop(&f->c->node.env, &f->retry);
    env_timer_stop(&f->c->node.env, &f->commit);
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    f->o.done(f->o.user, code, text);
}

static void go_back(struct feed *f, const char *what, const char *why, int res)
{
    bool late = f->c->node.env.now - f->txn_at >= ENV_MS(TXN_TIMEOUT_MS);

    if (res == -ERR_FENCED &&
        !late) { /* else it may be the broker, which ended what took too long */
        finish(f, EXIT_REFUSED, "--in %s: another feeder of this topic has taken over", f->o.topic);
        return;
    }
    if (f->lines_open && strcmp(f->path, "-") == 0) {
        finish(f, cli_code(res), "--in %s=-: %s: %s; what stdin gave cannot be read again",
               f->o.topic, what, why);
        return;
    }
    if (++f->retries > RETRIES_MAX || res == -ERR_BROKER || res == -ERR_ACCESS) {
        finish(f, cli_code(res), "--in %s=%s: %s: %s", f->o.topic, f->o.path, what, why);
        return;
    }
    env_warn(&f->c->node.env, "--in %s: %s: %s; going on from the committed position", f->o.topic,
             what, why);
    env_timer_set(&f->c->node.env, &f->retry, f->c->node.env.now + ENV_MS(RETRY_MS));
}

static void probed(void *user, int res, const struct err *e)
{
    struct feed *f = user;

    f->probing = false;
    if (!f->finished)
        go_back(f, f->what, f->failed, res == -ERR_FENCED ? res : -ERR_ABORTABLE);
}

/* Nothing is known but the position: from there again. A new producer id would fence whoever fenced
 * us, so what failed is aborted first, which tells. */
static void start_over(struct feed *f, const char *what, int res, const struct err *e)
{
    if (f->finished || f->probing)
        return;
    snprintf(f->failed, sizeof f->failed, "%s", e && e->text[0] ? e->text : err_text(res));
    f->ending = true; /* no line goes into what is left of the transaction */
    env_timer_stop(&f->c->node.env, &f->commit);
    if (res == -ERR_ABORTABLE && producer_in_txn(f->producer)) {
        f->probing = true;
        f->what = what;
        producer_end(f->producer, false, probed, f);
        return;
    }
    go_back(f, what, f->failed, res);
}

/* ---- transactions ---- */

static void next_txn(struct feed *f)
{
    if (f->at_end) {
        finish(f, EXIT_OK, "%s", "");
        return;
    }
    f->in_txn = 0;
    f->bytes = 0;
    f->ending = false;
    lines_resume(&f->lines);
}

static void ended(void *user, int res, const struct err *e)
{
    struct feed *f = user;

    if (res) {
        start_over(f, "commit", res, e);
        return;
    }
    f->committed += f->in_txn;
    f->retries = 0;
    next_txn(f);
}

static void offsets_sent(void *user, int res, const struct err *e)
{
    struct feed *f = user;

    if (res)
        start_over(f, "position", res, e);
    else
        producer_end(f->producer, true, ended, f);
}

static void send_position(struct feed *f, int64_t offset, producer_done done)
{
    struct group_identity group = {
        .group = slice_str(f->group), .member = slice_str(""), .generation = -1};
    struct txn_offset at = {.topic = slice_str(f->o.topic),
                            .offset = offset,
                            .leader_epoch = -1,
                            .metadata = slice_str(f->path)};

    producer_send_offsets(f->producer, &group, &at, 1, done, f);
}

static void flushed(void *user, int res, const struct err *e)
{
    struct feed *f = user;

    if (res)
        start_over(f, "lines", res, e);
    else
        send_position(f, f->committed + f->in_txn, offsets_sent);
}

static void end_txn(struct feed *f)
{
    if (f->ending || f->finished)
        return;
    f->ending = true;
    env_timer_stop(&f->c->node.env, &f->commit);
    if (!f->in_txn)
        next_txn(f);
    else
        producer_flush(f->producer, flushed, f);
}

/* Who gives lines slowly sees them processed all the same. */
static void commit_due(struct env_timer *t)
{
    struct feed *f = list_entry(t, struct feed, commit);

    if (f->in_txn)
        end_txn(f);
}

static void split(const struct feed *f, struct slice line, struct slice *key, struct slice *value)
{
    const char *sep = f->o.key_separator;
    const unsigned char *at = sep && sep[0] && line.n ? memmem(line.p, line.n, sep, strlen(sep))
                                                      : NULL;

    *key = SLICE_NULL;
    *value = line;
    if (!at)
        return;
    *key = slice_of(line.p, (size_t)(at - line.p));
    *value = slice_sub(line, key->n + strlen(sep), line.n);
}

static int take_line(void *user, struct slice line)
{
    struct feed *f = user;
    struct producer_record r = {.topic = slice_str(f->o.topic)};
    int rc;

    if (f->o.header && !f->header_seen) {
        f->header_seen = true;
        return 0;
    }
    if (f->line < f->committed) { /* in already */
        f->line++;
        return 0;
    }
    if (f->ending || f->finished)
        return 1;
    split(f, line, &r.key, &r.value);
    r.partition = r.key.p ? (int32_t)((murmur2(r.key) & 0x7fffffff) % (uint32_t)f->n_partitions)
                          : (int32_t)(f->line % f->n_partitions);
    r.timestamp = env_wall_ms(&f->c->node.env);
    rc = 0;
    if (!producer_in_txn(f->producer)) {
        rc = producer_begin(f->producer);
        f->txn_at = f->c->node.env.now;
    }
    if (!rc)
        rc = producer_send(f->producer, &r);
    if (rc == -ERR_TOO_BIG) {
        finish(f, EXIT_JOB, "%s:%" PRId64 ": the line is too long to be a record", f->o.path,
               f->line + 1 + f->o.header);
        return 1;
    }
    if (rc) { /* room() or the end of the transaction goes on */
        if (rc != -ERR_LIMIT)
            start_over(f, "lines", rc, NULL);
        return 1;
    }
    f->line++;
    if (f->in_txn++ == 0)
        env_timer_set(&f->c->node.env, &f->commit, f->c->node.env.now + ENV_MS(TXN_MS));
    f->bytes += line.n;
    if (f->in_txn >= TXN_LINES || f->bytes >= TXN_BYTES)
        end_txn(f);
    return 0;
}

static void room(void *user)
{
    struct feed *f = user;

    if (!f->ending && !f->finished)
        lines_resume(&f->lines);
}

static void file_ended(void *user, int res)
{
    struct feed *f = user;

    if (res) {
        finish(f, EXIT_JOB, "%s: cannot read: %s", f->o.path, err_text(res));
        return;
    }
    f->at_end = true;
    if (f->committed > f->line && !f->in_txn) {
        finish(f, EXIT_JOB,
               "%s has %" PRId64 " lines, but %" PRId64
               " were fed before: it was cut; use --again to feed it anew",
               f->o.path, f->line, f->committed);
        return;
    }
    end_txn(f);
}

static void open_file(struct feed *f)
{
    int rc;

    if (f->lines_open)
        lines_close(&f->lines);
    memset(&f->lines, 0, sizeof f->lines);
    rc = lines_open(&f->lines, &f->c->uv, f->o.path);
    if (rc) {
        finish(f, EXIT_JOB, "%s: cannot open: %s", f->o.path, err_text(rc));
        return;
    }
    f->lines_open = true;
    f->lines.user = f;
    f->lines.line = take_line;
    f->lines.end = file_ended;
    f->line = f->in_txn = 0;
    f->bytes = 0;
    f->ending = f->at_end = f->header_seen = false;
    lines_start(&f->lines);
}

/* ---- the position ---- */

static void got_position(struct fetch_offsets *op, int res, const struct err *e)
{
    struct feed *f = op->user;
    bool mine;

    f->fetching = false;
    if (res) {
        arena_deinit(&op->arena);
        start_over(f, "position", res, e);
        return;
    }
    mine = f->entry.offset >= 0 && slice_eq_str(f->entry.metadata, f->path);
    if (f->entry.offset < 0 && f->holds_records && !f->o.own_broker && !f->o.again) {
        finish(f, EXIT_JOB,
               "topic %s holds records and has no position for %s: it may have been fed before; "
               "use --again "
               "to feed it all",
               f->o.topic, f->path);
        arena_deinit(&op->arena);
        return;
    }
    f->committed = mine ? f->entry.offset : 0;
    arena_deinit(&op->arena);
    open_file(f);
}

static void ask_position(struct feed *f)
{
    f->entry = (struct fetch_offset_entry){.topic = slice_str(f->o.topic)};
    f->fetch = (struct fetch_offsets){.group = slice_str(f->group),
                                      .stable = true,
                                      .v = &f->entry,
                                      .n = 1,
                                      .timeout_ms = 60000,
                                      .done = got_position,
                                      .user = f};
    arena_init(&f->fetch.arena, 1 << 20);
    f->fetching = true;
    admin_fetch_offsets(f->client, &f->fetch);
}

/* --again: the position goes to 0 first, in a transaction of its own; from then on it alone
 * counts. */
static void reset_ended(void *user, int res, const struct err *e)
{
    struct feed *f = user;

    if (res) {
        start_over(f, "position", res, e);
        return;
    }
    f->o.again = false;
    ask_position(f);
}

static void reset_sent(void *user, int res, const struct err *e)
{
    struct feed *f = user;

    if (res)
        start_over(f, "position", res, e);
    else
        producer_end(f->producer, true, reset_ended, f);
}

static void inited(void *user, int res, const struct err *e)
{
    struct feed *f = user;

    if (res)
        start_over(f, "producer id", res, e);
    else if (!f->o.again)
        ask_position(f);
    else if (producer_begin(f->producer))
        start_over(f, "position", -ERR_STATE, NULL);
    else
        send_position(f, 0, reset_sent);
}

static void begin(struct feed *f)
{
    producer_init_id(f->producer, inited, f);
}

static void retry(struct env_timer *t)
{
    begin(list_entry(t, struct feed, retry));
}

/* ---- the topic ---- */

static void got_end(struct list_offset *op, int res, const struct err *e)
{
    struct feed *f = op->user;

    if (res) {
        finish(f, cli_code(res), "topic %s: %s", f->o.topic, e->text);
        return;
    }
    f->holds_records |= op->offset > 0;
    if (--f->ends_left == 0)
        begin(f);
}

/* On a cluster that may forget positions: does the topic hold records? */
static void ask_ends(struct feed *f)
{
    f->ends = calloc((size_t)f->n_partitions, sizeof *f->ends);
    if (!f->ends) {
        finish(f, EXIT_JOB, "out of memory");
        return;
    }
    f->ends_left = f->n_partitions;
    for (int32_t p = 0; p < f->n_partitions; p++) {
        f->ends[p] = (struct list_offset){.topic = slice_str(f->o.topic),
                                          .partition = p,
                                          .timestamp = -1,
                                          .done = got_end,
                                          .user = f};
        admin_list_offset(f->client, &f->ends[p]);
    }
}

static void look_up(struct feed *f);

static void created(struct create_topic *op, int res, const struct err *e)
{
    struct feed *f = op->user;

    if (res && res != -ERR_EXISTS)
        finish(f, cli_code(res), "cannot create topic %s: %s", f->o.topic, e->text);
    else
        look_up(f);
}

static void looked_up(struct topic_lookup *l, int res, const struct client_topic *t)
{
    struct feed *f = l->user;

    if (res == -ERR_NOT_FOUND) {
        f->create = (struct create_topic){.topic = slice_str(f->o.topic),
                                          .partitions = f->o.partitions,
                                          .done = created,
                                          .user = f};
        admin_create_topic(f->client, &f->create);
    } else if (res) {
        finish(f, cli_code(res), "cannot look up topic %s: %s", f->o.topic, err_text(res));
    } else {
        f->n_partitions = t->n_partitions;
        if (f->o.own_broker || f->o.again)
            begin(f);
        else
            ask_ends(f);
    }
}

static void look_up(struct feed *f)
{
    f->lookup = (struct topic_lookup){
        .name = slice_str(f->o.topic), .timeout_ms = 60000, .done = looked_up, .user = f};
    client_topic_lookup(f->client, &f->lookup);
}

int feed_open(struct feed **out, struct cli *c, struct client *client, const struct feed_options *o,
              struct err *e)
{
    struct feed *f = calloc(1, sizeof *f);
    struct stat st;
    struct producer_options po = {.room = room, .transaction_timeout_ms = TXN_TIMEOUT_MS};
    int rc;

    if (!f)
        return err_set(e, ERR_NOMEM, "out of memory");
    f->c = c;
    f->client = client;
    f->o = *o;
    f->retry.fire = retry;
    f->commit.fire = commit_due;
    if (strcmp(o->path, "-") == 0) {
        strcpy(f->path, "-");
        f->o.again = true;
    } else if (!realpath(o->path, f->path)) {
        free(f);
        return err_set(e, ERR_NOT_FOUND, "--in %s=%s: no such file", o->topic, o->path);
    } else if (stat(f->path, &st) == 0 && S_ISDIR(st.st_mode)) {
        free(f);
        return err_set(e, ERR_INVALID, "--in %s=%s: it is a directory", o->topic, o->path);
    }
    snprintf(f->group, sizeof f->group, "%.*s-in", SLICE_FMT(o->job));
    snprintf(f->txn_id, sizeof f->txn_id, "%.*s-in-%s", SLICE_FMT(o->job), o->topic);
    po.transactional_id = slice_str(f->txn_id);
    po.user = f;
    rc = producer_open(&f->producer, client, &po);
    if (rc) {
        free(f);
        return err_set(e, -rc, "--in %s: %s", o->topic, err_text(rc));
    }
    *out = f;
    return 0;
}

void feed_start(struct feed *f)
{
    look_up(f);
}

void feed_free(struct feed *f)
{
    if (!f)
        return;
    if (f->fetching)
        arena_deinit(&f->fetch.arena);
    if (f->lines_open)
        lines_close(&f->lines);
    producer_free(f->producer);
    free(f->ends);
    free(f);
}

const char *feed_topic(const struct feed *f)
{
    return f->o.topic;
}

int64_t feed_lines(const struct feed *f)
{
    return f->committed;
}

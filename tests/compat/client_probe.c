/* tests/compat/client_probe.c - drives the client against a broker that is already running:
 * HOST:PORT.
 *
 * Prints "ok CASE" or "not ok CASE: why" per case and exits 1 if any failed. Topics carry a
 * random suffix, so it can be run again on the same broker. Runs on Apache Kafka and on our own
 * broker alike. */
#include "base/env_uv.h"
#include "runtime/client/admin.h"
#include "runtime/client/client.h"
#include "runtime/client/fetcher.h"
#include "runtime/client/member.h"
#include "runtime/client/producer.h"
#include <stdio.h>
#include <stdlib.h>

static struct env_uv uv;
static struct env_uv_node node;
static struct client *client;
static char suffix[16], why[1100];
static int failures;

struct wait {
    bool done;
    int res;
};

static void guard_fired(struct env_timer *t)
{
    t->fire = NULL;
}

/* Turns the loop until *flag; false after `seconds`. */
static bool turn_until(const bool *flag, int seconds)
{
    struct env_timer guard = {.fire = guard_fired};

    env_timer_set(&node.env, &guard, node.env.now + ENV_S((unsigned)seconds));
    while (!*flag && guard.fire && !env_uv_turn(&uv, true))
        continue;
    env_timer_stop(&node.env, &guard);
    return *flag;
}

static void name_of(char out[64], const char *base)
{
    snprintf(out, 64, "%s-%s", base, suffix);
}

static bool fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static bool fail(const char *fmt, ...)
{
    va_list ap;
    char text[sizeof why]; /* why may be an argument */

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    memcpy(why, text, sizeof why);
    return false;
}

static void stepped(void *user, int res, const struct err *e)
{
    struct wait *w = user;
    *w = (struct wait){true, res};
    if (res)
        snprintf(why, sizeof why, "%s", e->text);
}
#define OP_DONE(type)                                                                              \
    static void type##_done(struct type *op, int res, const struct err *e)                         \
    {                                                                                              \
        stepped(op->user, res, e);                                                                 \
    }
OP_DONE(create_topic)
OP_DONE(delete_topic)
OP_DONE(fetch_offsets)
OP_DONE(list_offset)
OP_DONE(epoch_end)

/* ---- admin ---- */

static int create(const char *topic, int partitions, const char *config)
{
    struct wait w = {0};
    struct conf conf;
    struct create_topic op = {
        .topic = slice_str(topic), .partitions = partitions, .done = create_topic_done};
    struct err e;

    conf_init(&conf);
    if (config && conf_parse(&conf, config, &e))
        return -1;
    op.config = &conf;
    op.user = &w;
    admin_create_topic(client, &op);
    turn_until(&w.done, 20);
    conf_deinit(&conf);
    return w.done ? w.res : -ERR_TIMEOUT;
}

static void looked_up(struct topic_lookup *l, int res, const struct client_topic *t)
{
    *(struct wait *)l->user = (struct wait){true, res ? res : t->n_partitions};
}

static int lookup(const char *topic)
{
    struct wait w = {0};
    struct topic_lookup l = {.name = slice_str(topic), .done = looked_up, .user = &w};
    client_topic_lookup(client, &l);
    turn_until(&w.done, 20);
    return w.res;
}

static bool case_create(void)
{
    char topic[64];
    int rc;

    name_of(topic, "create");
    if ((rc = create(topic, 3, "cleanup.policy=compact")))
        return fail("create: %d %s", rc, why);
    if ((rc = lookup(topic)) != 3)
        return fail("lookup says %d", rc);
    if ((rc = create(topic, 3, NULL)) != -ERR_EXISTS)
        return fail("second create: %d", rc);
    return true;
}

static bool case_lookup_absent(void)
{
    int rc = lookup("no-such-topic");
    return rc == -ERR_NOT_FOUND || fail("lookup says %d", rc);
}

static void config_each(struct describe_config *op, struct slice name, struct slice value,
                        int source)
{
    if (slice_eq_str(name, "cleanup.policy") && slice_eq_str(value, "compact"))
        ((struct wait *)op->user)->res = 1;
}

static void config_done(struct describe_config *op, int res, const struct err *e)
{
    struct wait *w = op->user;
    w->done = true;
    if (res)
        w->res = res;
}

static bool case_config(void)
{
    struct wait w = {0};
    char topic[64];

    name_of(topic, "create");
    struct describe_config op = {
        .topic = slice_str(topic), .each = config_each, .done = config_done, .user = &w};
    admin_describe_config(client, &op);
    turn_until(&w.done, 20);
    return (w.done && w.res == 1) || fail("describe: %d", w.res);
}

static bool case_delete(void)
{
    struct wait w = {0};
    char topic[64];

    name_of(topic, "delete");
    if (create(topic, 1, NULL))
        return fail("create: %s", why);
    struct delete_topic op = {.topic = slice_str(topic), .done = delete_topic_done, .user = &w};
    admin_delete_topic(client, &op);
    turn_until(&w.done, 20);
    if (w.res)
        return fail("delete: %d", w.res);
    w.done = false;
    admin_delete_topic(client, &op);
    turn_until(&w.done, 20);
    return w.res == -ERR_NOT_FOUND || fail("second delete: %d", w.res);
}

/* ---- records ---- */

static struct producer *producer_new(const char *id, int codec)
{
    struct producer_options o = {.codec = codec, .transactional_id = slice_str(id)};
    struct producer *p = NULL;
    struct wait w = {0};

    if (producer_open(&p, client, &o))
        return NULL;
    producer_init_id(p, stepped, &w);
    turn_until(&w.done, 30);
    if (w.done && w.res == 0)
        return p;
    producer_free(p);
    return NULL;
}

/* "<prefix><i>" for i in [from, to) to partition i % partitions, with a header on every third. */
static int send_many(struct producer *p, const char *topic, int partitions, const char *prefix,
                     int from, int to)
{
    for (int i = from; i < to; i++) {
        char key[32], value[64];
        static const unsigned char header[] = {2, 'h', 2, 'x'};
        snprintf(key, sizeof key, "k%d", i);
        snprintf(value, sizeof value, "%s%d", prefix, i);
        struct producer_record r = {.topic = slice_str(topic),
                                    .key = slice_str(key),
                                    .value = slice_str(value),
                                    .partition = i % partitions,
                                    .timestamp = env_wall_ms(&node.env)};
        if (i % 3 == 0) {
            r.headers = slice_of(header, sizeof header);
            r.n_headers = 1;
        }
        int rc = producer_send(p, &r);
        if (rc)
            return rc;
    }
    return 0;
}

static int flush(struct producer *p)
{
    struct wait w = {0};
    producer_flush(p, stepped, &w);
    turn_until(&w.done, 60);
    return w.done ? w.res : -ERR_TIMEOUT;
}

static int end(struct producer *p, bool commit)
{
    struct wait w = {0};
    producer_end(p, commit, stepped, &w);
    turn_until(&w.done, 60);
    return w.done ? w.res : -ERR_TIMEOUT;
}

/* What a reader of all partitions finds: how often each number came, in order within a
 * partition. */
struct seen {
    struct fetcher *f;
    const char *topic, *prefix;
    int partitions, expected, n, foreign, disorder, headers;
    int times[20000], last[64];
    bool done, failed;
};

static void read_ready(void *user)
{
    struct seen *s = user;
    struct fetched r;
    struct err e = {0};
    int rc;

    while ((rc = fetcher_next(s->f, &r, &e)) > 0) {
        char value[64];
        size_t n = strlen(s->prefix);
        int i;
        if (r.value.n < n || r.value.n >= sizeof value || memcmp(r.value.p, s->prefix, n) != 0) {
            s->foreign++;
            continue;
        }
        memcpy(value, r.value.p, r.value.n);
        value[r.value.n] = 0;
        i = atoi(value + n);
        s->times[i]++;
        s->n++;
        s->disorder += i <= s->last[r.partition];
        s->last[r.partition] = i;
        s->headers += r.n_headers;
    }
    if (rc < 0) {
        snprintf(why, sizeof why, "%s", e.text);
        s->done = s->failed = true;
    }
    bool at_end = true;
    for (int p = 0; p < s->partitions; p++)
        at_end = at_end && fetcher_at_end(s->f, slice_str(s->topic), p);
    /* A commit is answered before its markers are everywhere: the end moves on a little later. */
    if (at_end && s->n >= s->expected)
        s->done = true;
}

static bool read_all(struct seen *s, bool committed)
{
    struct fetcher_options o = {
        .read_committed = committed, .user = s, .ready = read_ready, .partition_max_bytes = 50000};

    if (fetcher_open(&s->f, client, &o))
        return fail("fetcher_open");
    for (int p = 0; p < s->partitions; p++) {
        s->last[p] = -1;
        fetcher_add(s->f, slice_str(s->topic), p, 0, NULL);
    }
    bool ok = turn_until(&s->done, 10);
    fetcher_free(s->f);
    return ok ? !s->failed : fail("reading took too long: %d records", s->n);
}

static struct seen seen;

static bool exactly(const char *topic, int partitions, const char *prefix, int from, int to,
                    bool committed)
{
    seen = (struct seen){
        .topic = topic, .prefix = prefix, .partitions = partitions, .expected = to - from};
    if (!read_all(&seen, committed))
        return false;
    for (int i = from; i < to; i++)
        if (seen.times[i] != 1)
            return fail("%s%d came %d times", prefix, i, seen.times[i]);
    if (seen.n != to - from || seen.disorder)
        return fail("%d records, %d out of order, expected %d", seen.n, seen.disorder, to - from);
    return true;
}

static bool codec_round(int codec)
{
    char topic[64], base[32];
    struct producer *p;

    snprintf(base, sizeof base, "codec%d", codec);
    name_of(topic, base);
    if (create(topic, 3, NULL))
        return fail("create: %s", why);
    p = producer_new(NULL, codec);
    if (!p)
        return false;
    int rc = send_many(p, topic, 3, "v", 0, 10000);
    if (!rc)
        rc = flush(p);
    producer_free(p);
    if (rc)
        return fail("send: %d %s", rc, why);
    if (!exactly(topic, 3, "v", 0, 10000, true))
        return false;
    return seen.headers == 3334 || fail("%d headers", seen.headers);
}

#define CODEC_CASE(name, codec)                                                                    \
    static bool case_##name(void)                                                                  \
    {                                                                                              \
        return codec_round(codec);                                                                 \
    }
CODEC_CASE(codec_none, 0)
CODEC_CASE(codec_gzip, 1)
CODEC_CASE(codec_snappy, 2)
CODEC_CASE(codec_lz4, 3)
CODEC_CASE(codec_zstd, 4)

/* ---- transactions ---- */

static int txn_round(struct producer *p, const char *topic, const char *prefix, int from, int to,
                     bool commit)
{
    int rc = producer_begin(p);
    if (!rc)
        rc = send_many(p, topic, 2, prefix, from, to);
    if (!rc)
        rc = flush(p);
    if (!rc)
        rc = end(p, commit);
    return rc;
}

static bool case_txn(void)
{
    char topic[64], id[64];
    struct producer *p;

    name_of(topic, "txn");
    name_of(id, "txn-id");
    if (create(topic, 2, NULL))
        return fail("create: %s", why);
    p = producer_new(id, 0);
    if (!p)
        return false;
    int rc = 0;
    for (int i = 0; i < 10 && !rc; i++) {
        rc = txn_round(p, topic, "c", i * 100, i * 100 + 100, true);
        if (!rc)
            rc = txn_round(p, topic, "a", i * 100, i * 100 + 100, false);
    }
    producer_free(p);
    if (rc)
        return fail("transactions: %d %s", rc, why);
    if (!exactly(topic, 2, "c", 0, 1000, true) || seen.foreign)
        return why[0] ? false : fail("%d aborted records were read", seen.foreign);
    if (!exactly(topic, 2, "a", 0, 1000, false))
        return false;
    return seen.foreign == 1000 || fail("uncommitted view has %d others", seen.foreign);
}

static bool case_txn_empty(void)
{
    char id[64];
    name_of(id, "txn-empty");
    struct producer *p = producer_new(id, 0);
    int rc;

    if (!p)
        return false;
    rc = producer_begin(p);
    if (!rc)
        rc = end(p, true);
    if (!rc)
        rc = producer_begin(p);
    if (!rc)
        rc = end(p, false);
    producer_free(p);
    return rc == 0 || fail("%d %s", rc, why);
}

/* A second incarnation fences the first and aborts what it left. */
static bool case_txn_fence(void)
{
    char topic[64], id[64];
    struct producer *p, *q;
    int rc;

    name_of(topic, "fence");
    name_of(id, "fence-id");
    if (create(topic, 2, NULL))
        return fail("create: %s", why);
    p = producer_new(id, 0);
    if (!p)
        return false;
    rc = producer_begin(p);
    if (!rc)
        rc = send_many(p, topic, 2, "z", 0, 100);
    if (!rc)
        rc = flush(p);
    q = rc ? NULL : producer_new(id, 0);
    if (!q) {
        producer_free(p);
        return fail("%d %s", rc, why);
    }
    rc = end(p, true);
    producer_free(p);
    if (rc != -ERR_FENCED && rc != -ERR_UNKNOWN_OUTCOME)
        return fail("the old one's commit ended in %d", rc);
    why[0] = 0;
    rc = txn_round(q, topic, "n", 0, 100, true);
    producer_free(q);
    if (rc)
        return fail("the new one: %d %s", rc, why);
    if (!exactly(topic, 2, "n", 0, 100, true))
        return false;
    return seen.foreign == 0 || fail("%d of the old one's records", seen.foreign);
}

static int64_t committed(const char *group, const char *topic, char *metadata, size_t cap)
{
    struct fetch_offset_entry v = {.topic = slice_str(topic), .partition = 1};
    struct wait w = {0};
    struct fetch_offsets op = {.group = slice_str(group),
                               .stable = true,
                               .v = &v,
                               .n = 1,
                               .done = fetch_offsets_done,
                               .user = &w};
    arena_init(&op.arena, 1 << 20);
    admin_fetch_offsets(client, &op);
    turn_until(&w.done, 30);
    snprintf(metadata, cap, "%.*s", SLICE_FMT(v.metadata));
    arena_deinit(&op.arena);
    return w.done && !w.res ? v.offset : -100;
}

static bool case_txn_offsets(void)
{
    char topic[64], id[64], group[64], metadata[64];
    struct producer *p;
    struct wait w = {0};
    int64_t at;
    int rc;

    name_of(topic, "offsets");
    name_of(id, "offsets-id");
    name_of(group, "offsets-group");
    if (create(topic, 2, NULL))
        return fail("create: %s", why);
    p = producer_new(id, 0);
    if (!p)
        return false;
    at = committed(group, topic, metadata, sizeof metadata);
    if (at != -1)
        return fail("before: %d %s", (int)at, why);
    for (int i = 0; i < 4; i++) {
        struct group_identity g = {.group = slice_str(group), .generation = -1};
        struct txn_offset o = {.topic = slice_str(topic),
                               .partition = 1,
                               .offset = 10 + i,
                               .leader_epoch = 0,
                               .metadata = slice_str("meta")};
        rc = producer_begin(p);
        if (!rc && i % 2)
            rc = send_many(p, topic, 2, "o", 0, 10);
        if (!rc)
            rc = flush(p);
        w.done = false;
        if (!rc) {
            producer_send_offsets(p, &g, &o, 1, stepped, &w);
            turn_until(&w.done, 30);
            rc = w.done ? w.res : -ERR_TIMEOUT;
        }
        if (!rc)
            rc = end(p, i < 3);
        if (rc)
            return fail("round %d: %d %s", i, rc, why);
        at = committed(group, topic, metadata, sizeof metadata);
        if (at != (i < 3 ? 10 + i : 12) || strcmp(metadata, "meta") != 0)
            return fail("round %d: committed %d \"%s\"", i, (int)at, metadata);
    }
    producer_free(p);
    return true;
}

static int32_t list_epoch;

static int64_t list_offset(const char *topic, int64_t timestamp, bool read_committed)
{
    struct wait w = {0};
    struct list_offset op = {.topic = slice_str(topic),
                             .partition = 0,
                             .timestamp = timestamp,
                             .read_committed = read_committed,
                             .done = list_offset_done,
                             .user = &w};
    admin_list_offset(client, &op);
    turn_until(&w.done, 30);
    list_epoch = op.leader_epoch;
    return w.done && !w.res ? op.offset : -100;
}

static bool case_list_offsets(void)
{
    char topic[64], id[64];
    struct producer *p;
    struct wait w = {0};
    int rc;

    name_of(topic, "list");
    name_of(id, "list-id");
    if (create(topic, 2, NULL))
        return fail("create: %s", why);
    p = producer_new(id, 0);
    if (!p)
        return false;
    rc = txn_round(p, topic, "v", 0, 20, true); /* 10 records and a marker in partition 0 */
    if (!rc)
        rc = producer_begin(p);
    if (!rc)
        rc = send_many(p, topic, 2, "v", 20, 40);
    if (!rc)
        rc = flush(p);
    if (rc)
        return fail("%d %s", rc, why);
    int64_t early = list_offset(topic, -2, true), stable = list_offset(topic, -1, true),
            high = list_offset(topic, -1, false), timed = list_offset(topic, 0, true);
    if (early != 0 || stable != 11 || high != 21 || timed != 0)
        return fail("%d %d %d %d", (int)early, (int)stable, (int)high, (int)timed);
    rc = end(p, false);
    producer_free(p);
    struct epoch_end op = {
        .topic = slice_str(topic), .epoch = list_epoch, .done = epoch_end_done, .user = &w};
    admin_epoch_end(client, &op);
    turn_until(&w.done, 30);
    if (rc || w.res || op.found_epoch != list_epoch || op.end_offset < 21)
        return fail("epoch end: %d %d, epoch %d ends at %d", rc, w.res, op.found_epoch,
                    (int)op.end_offset);
    return true;
}

/* ---- groups ---- */

struct joiner {
    struct member *m;
    int n, assigned, revoked, lost, fatal;
    int32_t generation;
    bool left;
};
static bool group_settled;
static struct joiner joiners[2];
static int group_want[2];

static void settle(void)
{
    group_settled = true;
    for (int i = 0; i < 2; i++)
        if (group_want[i] >= 0 && (joiners[i].n != group_want[i] || !member_stable(joiners[i].m)))
            group_settled = false;
}

static void on_revoke(void *user)
{
    struct joiner *j = user;
    j->revoked++;
    j->n = 0;
    member_revoked(j->m);
}
static void on_assign(void *user, int32_t generation, const struct topic_partition *v, int n)
{
    struct joiner *j = user;
    j->assigned++;
    j->n = n;
    j->generation = generation;
    settle();
}
static void on_lost(void *user, bool fatal, const struct err *e)
{
    struct joiner *j = user;
    j->lost++;
    j->fatal += fatal;
    j->n = 0;
    settle();
}
static void on_left(void *user)
{
    ((struct joiner *)user)->left = true;
}

static bool group_open(struct joiner *j, const char *group, const char *instance, const char *topic)
{
    struct slice t = slice_str(topic);
    struct member_options o = {.group = slice_str(group),
                               .instance = slice_str(instance),
                               .topics = &t,
                               .n_topics = 1,
                               .session_timeout_ms = 10000,
                               .heartbeat_ms = 200,
                               .user = j,
                               .on_revoke = on_revoke,
                               .on_assign = on_assign,
                               .on_lost = on_lost};
    *j = (struct joiner){0};
    if (member_open(&j->m, client, &o))
        return fail("member_open");
    member_start(j->m);
    return true;
}

static bool group_await(int first, int second, const char *what)
{
    group_want[0] = first;
    group_want[1] = second;
    settle();
    return turn_until(&group_settled, 20) ||
           fail("%s: %d and %d partitions", what, joiners[0].n, joiners[1].n);
}

static bool case_group(void)
{
    char topic[64], group[64];
    bool ok;

    name_of(topic, "group");
    name_of(group, "group");
    if (create(topic, 5, NULL))
        return fail("create: %s", why);
    ok = group_open(&joiners[0], group, NULL, topic) && group_await(5, -1, "one member") &&
         group_open(&joiners[1], group, NULL, topic);
    if (!ok)
        return false;
    group_want[0] = group_want[1] = -1;
    /* Which of the two is first depends on the ids that the broker gave. */
    struct joiner *a = &joiners[0], *b = &joiners[1];
    for (int i = 0; i < 200 && !(a->n + b->n == 5 && a->n >= 2 && b->n >= 2); i++) {
        bool never = false;
        turn_until(&never, 0);
        uv_sleep(50);
        env_uv_turn(&uv, false);
    }
    if (a->n + b->n != 5 || a->n < 2 || b->n < 2 || a->generation != b->generation || !a->revoked)
        return fail("two members: %d and %d", a->n, b->n);
    member_leave(b->m, on_left, b);
    if (!turn_until(&b->left, 10))
        return fail("leave");
    if (!group_await(5, -1, "after leave"))
        return false;
    member_leave(a->m, on_left, a);
    turn_until(&a->left, 10);
    ok = a->lost == 0 && b->lost == 0;
    member_free(a->m);
    member_free(b->m);
    return ok || fail("lost %d and %d times", a->lost, b->lost);
}

/* A static member that comes back gets its partitions at once and fences its ghost. */
static bool case_group_static(void)
{
    char topic[64], group[64];
    struct joiner ghost;
    int32_t generation;

    name_of(topic, "static");
    name_of(group, "static");
    if (create(topic, 4, NULL))
        return fail("create: %s", why);
    if (!group_open(&joiners[0], group, "i0", topic) || !group_await(4, -1, "one") ||
        !group_open(&joiners[1], group, "i1", topic) || !group_await(2, 2, "two"))
        return false;
    generation = joiners[1].generation;
    ghost.m = joiners[0].m;
    if (!group_open(&joiners[0], group, "i0", topic))
        return false;
    /* The old one's callbacks still name joiners[0]: count them together. */
    if (!group_await(2, 2, "restarted"))
        return false;
    bool fatal = false;
    for (int i = 0; i < 100 && !fatal; i++) {
        uv_sleep(20);
        env_uv_turn(&uv, false);
        fatal = joiners[0].fatal == 1;
    }
    if (!fatal)
        return fail("the ghost was not fenced");
    if (joiners[1].revoked > 1 || joiners[1].generation != generation)
        return fail("the restart made the other one rebalance");
    for (int i = 0; i < 2; i++) {
        member_leave(joiners[i].m, on_left, &joiners[i]);
        turn_until(&joiners[i].left, 10);
        member_free(joiners[i].m);
    }
    member_free(ghost.m);
    return true;
}

/* ---- main ---- */

static void run(const char *name, bool (*test)(void))
{
    bool ok;

    why[0] = 0;
    ok = test();
    if (ok)
        printf("ok %s\n", name);
    else
        printf("not ok %s: %s\n", name, why);
    fflush(stdout);
    failures += !ok;
}

static void closed(void *user)
{
    *(bool *)user = true;
}

int main(int argc, char **argv)
{
    struct err e = {0};
    bool done = false;

    if (argc != 2) {
        fprintf(stderr, "usage: client_probe HOST:PORT\n");
        return 2;
    }
    if (env_uv_open(&uv) || env_uv_node_open(&uv, &node, "probe", 0))
        return 2;
    snprintf(suffix, sizeof suffix, "%08x", (unsigned)env_random(&node.env, UINT32_MAX));
    /* Below what each case waits: no op outlives its case. */
    struct client_options o = {.bootstrap = argv[1], .request_timeout_ms = 9000};
    if (client_open(&client, &node.env, &o, &e)) {
        fprintf(stderr, "%s\n", e.text);
        return 2;
    }
    run("create", case_create);
    if (failures) /* nobody there */
        return 1;
    run("lookup_absent", case_lookup_absent);
    run("config", case_config);
    run("delete", case_delete);
    run("codec_none", case_codec_none);
    run("codec_gzip", case_codec_gzip);
    run("codec_snappy", case_codec_snappy);
    run("codec_lz4", case_codec_lz4);
    run("codec_zstd", case_codec_zstd);
    run("txn", case_txn);
    run("txn_empty", case_txn_empty);
    run("txn_fence", case_txn_fence);
    run("txn_offsets", case_txn_offsets);
    run("list_offsets", case_list_offsets);
    run("group", case_group);
    run("group_static", case_group_static);
    client_close(client, closed, &done);
    if (!turn_until(&done, 5))
        printf("not ok close\n");
    env_uv_node_stop(&uv, &node);
    client_free(client);
    env_uv_node_close(&uv, &node);
    env_uv_close(&uv);
    return failures ? 1 : 0;
}

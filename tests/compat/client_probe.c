/* tests/compat/client_probe.c - drives the client against a broker that is already running: HOST:PORT.
 *
 * Prints "ok CASE" or "not ok CASE: why" per case and exits 1 if any failed. Topics carry a random suffix,
 * so it can be run again on the same broker. Runs on Apache Kafka and on our own broker alike. */
#include "base/env_uv.h"
#include "runtime/client/admin.h"
#include "runtime/client/client.h"
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

/* Turns the loop until *flag; false after `seconds`. */
static bool turn_until(const bool *flag, int seconds)
{
    uint64_t end = uv_hrtime() + ENV_S((unsigned)seconds);
    struct env_timer guard = {0};
    while (!*flag && uv_hrtime() < end) {
        if (env_uv_turn(&uv, false))
            return false;
        if (!*flag)
            uv_sleep(0), env_uv_turn(&uv, false);
    }
    (void)guard;
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
    va_start(ap, fmt);
    vsnprintf(why, sizeof why, fmt, ap);
    va_end(ap);
    return false;
}

/* ---- admin ---- */

static void created(struct create_topic *op, int res, const struct err *e)
{
    struct wait *w = op->user;
    *w = (struct wait){true, res};
    if (res)
        snprintf(why, sizeof why, "%s", e->text);
}

static int create(const char *topic, int partitions, const char *config)
{
    struct wait w = {0};
    struct conf conf;
    struct create_topic op = {.topic = slice_str(topic), .partitions = partitions, .done = created};
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

static void deleted(struct delete_topic *op, int res, const struct err *e)
{
    *(struct wait *)op->user = (struct wait){true, res};
}

static bool case_delete(void)
{
    struct wait w = {0};
    char topic[64];

    name_of(topic, "delete");
    if (create(topic, 1, NULL))
        return fail("create: %s", why);
    struct delete_topic op = {.topic = slice_str(topic), .done = deleted, .user = &w};
    admin_delete_topic(client, &op);
    turn_until(&w.done, 20);
    if (w.res)
        return fail("delete: %d", w.res);
    w.done = false;
    admin_delete_topic(client, &op);
    turn_until(&w.done, 20);
    return w.res == -ERR_NOT_FOUND || fail("second delete: %d", w.res);
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
    struct client_options o = {.bootstrap = argv[1]};
    if (client_open(&client, &node.env, &o, &e)) {
        fprintf(stderr, "%s\n", e.text);
        return 2;
    }
    run("create", case_create);
    run("lookup_absent", case_lookup_absent);
    run("config", case_config);
    run("delete", case_delete);
    client_close(client, closed, &done);
    if (!turn_until(&done, 5))
        printf("not ok close\n");
    env_uv_node_stop(&uv, &node);
    client_free(client);
    env_uv_node_close(&uv, &node);
    env_uv_close(&uv);
    return failures ? 1 : 0;
}

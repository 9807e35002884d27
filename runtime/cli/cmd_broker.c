/* runtime/cli/cmd_broker.c - `once broker`: a broker alone, until a signal. */
#include "runtime/cli/broker_node.h"
#include "runtime/cli/cli.h"
#include <stdlib.h>

struct broker_cmd {
    struct broker_node node;
    bool stopping, stopped;
};

static void stopped(void *user)
{
    ((struct broker_cmd *)user)->stopped = true;
}

static void on_signal(struct cli *c, int signum)
{
    struct broker_cmd *b = c->user;

    if (b->stopping)
        return;
    b->stopping = true;
    if (b->node.open)
        broker_node_stop(&b->node, stopped, b);
    else
        b->stopped = true;
}

static int serve(struct cli *c, struct broker_cmd *b, const struct broker_options *o)
{
    struct err e = {0};
    int rc = broker_node_open(&b->node, &c->uv, o,
                              c->quiet     ? ENV_ERROR
                              : c->verbose ? ENV_DEBUG
                                           : ENV_INFO,
                              &e);

    if (rc)
        return cli_fail(c, EXIT_JOB, "%s", e.text);
    printf("ready %s\n", b->node.address);
    fflush(stdout);
    c->timeout_s = 0;
    return cli_wait(c, &b->stopped);
}

int cmd_broker(struct cli *c, int argc, char **argv)
{
    const char *durability = "sync", **rest = calloc((size_t)argc + 1, sizeof *rest);
    struct broker_options o = {
        .data_dir = "./once-data", .listen = "127.0.0.1:9092", .conf = &c->conf};
    struct broker_cmd *b = calloc(1, sizeof *b);
    int n_rest = 0, rc = EXIT_JOB;
    const struct cli_option options[] = {
        {"data", 0, OPTION_TEXT, &o.data_dir, "DIR", "log directory (./once-data)"},
        {"listen", 0, OPTION_TEXT, &o.listen, "HOST:PORT",
         "address to serve (127.0.0.1:9092; port 0: any)"},
        {"advertise", 0, OPTION_TEXT, &o.advertise, "HOST:PORT",
         "address told to clients (as bound)"},
        {"durability", 0, OPTION_TEXT, &durability, "sync|async",
         "sync: acknowledged is on disk; async: a power cut may take the last moments"},
    };

    if (rest && b && cli_parse(c, command_find("broker"), options, 4, argc, argv, rest, &n_rest)) {
        rc = c->exit_code;
    } else if (!rest || !b) {
        rc = cli_fail(c, EXIT_JOB, "out of memory");
    } else if (n_rest) {
        rc = cli_fail(c, EXIT_USAGE, "unexpected word '%s'", rest[0]);
    } else if (c->dry_run) {
        rc = cli_fail(c, EXIT_USAGE, "--dry-run: a broker cannot be tried without its data");
    } else if (strcmp(durability, "sync") != 0 && strcmp(durability, "async") != 0) {
        rc = cli_fail(c, EXIT_USAGE, "--durability %s: sync or async", durability);
    } else {
        o.async = durability[0] == 'a';
        c->user = b;
        c->on_signal = on_signal;
        rc = cli_world(c);
        if (!rc)
            rc = serve(c, b, &o);
        broker_node_close(&b->node);
    }
    free(b);
    free(rest);
    return rc;
}

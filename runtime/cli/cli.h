/* runtime/cli/cli.h - what the subcommands of `once` share: options, help, output forms, exit
 * codes, and a world to run in.
 *
 * A command is a table entry with a run function. It declares its options, has them parsed (--help
 * prints and exits), opens a world, and turns the loop until what it asked for is done. Records and
 * results go to stdout, everything else to stderr. */
#ifndef ONCE_RUNTIME_CLI_CLI_H
#define ONCE_RUNTIME_CLI_CLI_H
#include "base/conf.h"
#include "base/env_uv.h"
#include "runtime/client/client.h"
#include <stdio.h>

enum exit_code {
    EXIT_OK = 0,
    EXIT_CHECK = 1, /* a check failed */
    EXIT_USAGE = 2,
    EXIT_JOB = 3,         /* bad job or configuration, or a record stopped the job */
    EXIT_UNREACHABLE = 4, /* unreachable or timed out */
    EXIT_REFUSED = 5,     /* refused by the broker */
    EXIT_VIOLATED = 6,    /* exactly-once violated */
    EXIT_INTERRUPTED = 130
};

enum option_kind { OPTION_FLAG, OPTION_TEXT, OPTION_INT, OPTION_LIST };
struct text_list {
    const char **v;
    int n;
};
struct cli_option {
    const char *name; /* without dashes */
    char letter;      /* 0: none */
    enum option_kind kind;
    void *to;         /* bool, const char *, int64_t or struct text_list */
    const char *arg;  /* for help: "HOST:PORT" */
    const char *help; /* NULL: not shown */
};
struct cli {
    const char *command; /* "topic create", for messages */
    /* global options */
    const char *brokers;
    const char *format; /* table, json, jsonl, plain; NULL: by whether stdout is a terminal */
    const char *color, *config;
    bool quiet, verbose, help, yes, dry_run;
    int64_t timeout_s;
    uint32_t answer_ms;   /* patience with the cluster without --timeout; 5 s when 0 */
    struct text_list set; /* -X */
    struct conf conf;     /* the config file, then -X */
    /* the world; opened by cli_world */
    struct env_uv uv;
    struct env_uv_node node;
    bool world;
    struct client *client;
    int exit_code;
    bool interrupted;
    struct env_timer deadline; /* turns the loop when --timeout is over */
    uv_signal_t sigint, sigterm;
    void (*on_signal)(struct cli *c, int signum); /* NULL: stop the loop with EXIT_INTERRUPTED */
    void *user;
};
struct command {
    const char *name;    /* "topic create" */
    const char *summary; /* a line */
    const char *usage;   /* behind the name: "NAME [--partitions N]" */
    const char *details; /* paragraphs for --help; may be NULL */
    int (*run)(struct cli *c, int argc, char **argv);
};

/* Parses argv (without the command's words): options may stand anywhere, `--` ends them. What is
 * left goes to rest (of argc entries at most), *n_rest of it. -1: print nothing more and exit with
 * c->exit_code (help was shown, or the error told). */
int cli_parse(struct cli *c, const struct command *cmd, const struct cli_option *options,
              int n_options, int argc, char **argv, const char **rest, int *n_rest);
/* "once COMMAND: message" on stderr; returns code, so that `return cli_fail(...)` reads well. */
int cli_fail(struct cli *c, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* The same for what a client answered: text, and for a cluster that was not reached, which one and
 * what to do. */
int cli_fail_res(struct cli *c, int res, const char *text);
/* The exit code for an ERR_ code of a client or a file. */
int cli_code(int res);
void cli_deinit(struct cli *c);

/* Loop and node; and for commands of a cluster a client (brokers from -b, ONCE_BROKERS or
 * 127.0.0.1:9092). */
int cli_world(struct cli *c);
int cli_connect(struct cli *c);
/* Turns the loop until *done, or a signal, or --timeout: 0, or the exit code (told). */
int cli_wait(struct cli *c, const bool *done);
/* Whether results are for eyes: table on a terminal, JSON lines in a pipe, unless --format says. */
enum cli_format { FORMAT_TABLE, FORMAT_JSON, FORMAT_JSONL, FORMAT_PLAIN };
enum cli_format cli_format(const struct cli *c);

/* The nearest of names to word, or NULL when none is near. */
const char *cli_nearest(const char *word, const char *const *names, int n);

/* `--out` escapes: TAB LF CR backslash and non-UTF-8 bytes as \t \n \r \\ \xHH. */
int text_escape(struct buf *out, struct slice s);
/* JSON string of UTF-8, or {"base64":"..."}; null for a null slice. */
int json_bytes(struct buf *out, struct slice s);
int json_string(struct buf *out, struct slice s);

extern const struct command commands[];
extern const int n_commands;
int cmd_broker(struct cli *c, int argc, char **argv);
int cmd_run(struct cli *c, int argc, char **argv);
int cmd_topic_create(struct cli *c, int argc, char **argv);
int cmd_topic_ls(struct cli *c, int argc, char **argv);
int cmd_topic_show(struct cli *c, int argc, char **argv);
int cmd_topic_rm(struct cli *c, int argc, char **argv);
int cmd_produce(struct cli *c, int argc, char **argv);
int cmd_consume(struct cli *c, int argc, char **argv);
int cmd_state_ls(struct cli *c, int argc, char **argv);
int cmd_state_dump(struct cli *c, int argc, char **argv);
int cmd_log_dump(struct cli *c, int argc, char **argv);
int cmd_version(struct cli *c, int argc, char **argv);
int cmd_sim_run(struct cli *c, int argc, char **argv);
/* The table entry of the command that is running. */
const struct command *command_find(const char *name);
#endif

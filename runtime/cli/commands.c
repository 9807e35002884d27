/* runtime/cli/commands.c - the table of commands and what --help says of each. */
#include "runtime/cli/cli.h"
#include <stdlib.h>

const struct command commands[] = {
    {"run", "run a job: worker process(es), with an embedded broker unless --brokers is given",
     "JOB.lua [OPTION…]",
     "Without --brokers an embedded broker serves 127.0.0.1 on a free port, its address on stderr, "
     "its log\n"
     "in DATA. One line `ready NAME` is printed once every worker has its assignment: on stdout, "
     "or on\n"
     "stderr when --out is given. SIGTERM: finish, commit, leave, exit 0. SIGKILL at any instant: "
     "nothing\n"
     "lost, nothing twice.\n\n"
     "  once run wordcount.lua --in lines=alice.txt --out word-counts --until-end",
     cmd_run},
    {"broker", "run a broker", "[--data DIR] [--listen HOST:PORT] [OPTION…]",
     "Prints `ready HOST:PORT` when it serves. -X takes any broker property by Kafka's name, for "
     "instance\n"
     "num.partitions (1) and auto.create.topics.enable (true). SIGTERM: orderly stop, exit 0.",
     cmd_broker},
    {"topic create", "create a topic", "NAME [--partitions N] [--config k=v]…",
     "Exit code 5 when it exists.", cmd_topic_create},
    {"topic ls", "list topics", "", NULL, cmd_topic_ls},
    {"topic show", "partitions, offsets and settings of a topic", "NAME",
     "With -v settings that have their default, too.", cmd_topic_show},
    {"topic rm", "delete a topic", "NAME", NULL, cmd_topic_rm},
    {"produce", "write lines from stdin to a topic", "TOPIC [OPTION…]",
     "A record a line. With --format jsonl the lines that `once consume` prints, so that\n"
     "`once consume A | once produce B --format jsonl` copies a topic byte for byte. Idempotent; "
     "exit code 0\n"
     "only when every record is acknowledged.",
     cmd_produce},
    {"consume", "print the records of a topic", "TOPIC [OPTION…]",
     "Committed records from the earliest to the stable end, unless told otherwise. In a pipe a "
     "JSON line a\n"
     "record: {topic,partition,offset,time,key,value,headers}; bytes that are not UTF-8 are\n"
     "{\"base64\":\"…\"}. -f as in kcat: %t topic %p partition %o offset %T time %k key %s value "
     "%h headers\n"
     "%K %S lengths, \\n \\t \\0.",
     cmd_consume},
    {"state ls", "list a job's stores and tasks", "JOB [--state DIR]…", NULL, cmd_state_ls},
    {"state dump", "print the contents of a store", "JOB STORE [--state DIR]…",
     "A line `key TAB value` an entry, sorted by key, of a running or a stopped worker. Of a task "
     "found in\n"
     "several places the copy with the highest input position counts.",
     cmd_state_dump},
    {"log dump", "print what a file of a log directory holds", "FILE [--deep]",
     "Segments, indexes, snapshots, journal files and checkpoints. Exit code 3 when it is broken, "
     "with the\n"
     "position.",
     cmd_log_dump},
    {"sim run", "run a job through seeded faults in a simulated world", "JOB [OPTION…]",
     "A real broker and real workers on a simulated clock, network and disk; crashes, power cuts, "
     "cuts and\n"
     "delays are drawn from the seed, so the same seed is the same run. Checkers compare all that "
     "is left\n"
     "with a serial run of the job. Exit code 6 when a record was lost, duplicated or reordered: "
     "the last\n"
     "line is then the command that replays it (with -v also its log).\n\n"
     "  once sim run wordcount.lua --seeds 500",
     cmd_sim_run},
    {"version", "print the version", "", NULL, cmd_version},
};
const int n_commands = sizeof commands / sizeof commands[0];

const struct command *command_find(const char *name)
{
    for (int i = 0; i < n_commands; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

int cmd_version(struct cli *c, int argc, char **argv)
{
    const char **rest = calloc((size_t)argc + 1, sizeof *rest);
    int n;

    if (!rest)
        return cli_fail(c, EXIT_JOB, "out of memory");
    if (!cli_parse(c, command_find("version"), NULL, 0, argc, argv, rest, &n)) {
        if (n)
            cli_fail(c, EXIT_USAGE, "unexpected word '%s'", rest[0]);
        else
            printf("once %s\n", ONCE_VERSION);
    }
    free(rest);
    return c->exit_code;
}

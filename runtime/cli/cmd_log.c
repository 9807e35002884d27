/* runtime/cli/cmd_log.c - `once log dump FILE`. */
#include "broker/log/logdir.h"
#include "runtime/cli/cli.h"
#include <stdlib.h>
#include <sys/stat.h>

static void print_line(void *user, const char *text)
{
    puts(text);
}

int cmd_log_dump(struct cli *c, int argc, char **argv)
{
    const char **rest = calloc((size_t)argc + 1, sizeof *rest);
    struct err e = {0};
    struct stat st;
    bool deep = false;
    int n, rc;
    const struct cli_option options[] = {
        {"deep", 0, OPTION_FLAG, &deep, NULL, "records too, not only batches"},
    };

    if (!rest)
        return cli_fail(c, EXIT_JOB, "out of memory");
    if (cli_parse(c, command_find("log dump"), options, 1, argc, argv, rest, &n))
        rc = c->exit_code;
    else if (n != 1)
        rc = cli_fail(c, EXIT_USAGE,
                      n ? "one FILE at a time" : "which FILE? See once log dump --help");
    else if (stat(rest[0], &st) == 0 && S_ISDIR(st.st_mode))
        rc = cli_fail(c, EXIT_USAGE, "%s is a directory: name a file in it", rest[0]);
    else {
        rc = cli_world(c);
        if (!rc && log_dump(&c->node.env, rest[0], deep, print_line, NULL, &e))
            rc = cli_fail(c, EXIT_JOB, "%s", e.text);
    }
    free(rest);
    return rc;
}

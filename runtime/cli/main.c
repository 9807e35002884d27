/* runtime/cli/main.c - `once`: finds the command and runs it. */
#include "runtime/cli/cli.h"
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static void print_commands(FILE *to)
{
    fprintf(
        to,
        "once %s - exactly-once stream processing\n\nusage: once COMMAND [OPTION…]\n\ncommands:\n",
        ONCE_VERSION);
    for (int i = 0; i < n_commands; i++)
        fprintf(to, "  %-16s %s\n", commands[i].name, commands[i].summary);
    fprintf(to, "\n`once COMMAND --help` tells more.\n");
}

static int unknown(const char *word)
{
    const char *names[64];
    char nouns[32][32];
    const char *near;
    int n = 0;

    for (int i = 0; i < n_commands; i++) {
        const char *space = strchr(commands[i].name, ' ');
        names[n++] = commands[i].name;
        if (!space || i >= 32)
            continue;
        snprintf(nouns[i], sizeof nouns[i], "%.*s", (int)(space - commands[i].name),
                 commands[i].name);
        names[n++] = nouns[i];
    }
    near = cli_nearest(word, names, n);
    fprintf(stderr, "once: there is no command '%s'", word);
    if (near)
        fprintf(stderr, "; did you mean 'once %s'?\n", near);
    else
        fprintf(stderr, "; see once --help\n");
    return EXIT_USAGE;
}

/* "topic" alone, or with a wrong second word: what there is of it. */
static int unknown_verb(const char *noun, const char *verb)
{
    char word[100];
    size_t n = strlen(noun);
    bool any = false;

    for (int i = 0; i < n_commands; i++)
        any |= strncmp(commands[i].name, noun, n) == 0 && commands[i].name[n] == ' ';
    if (!any)
        return unknown(noun);
    if (verb && strcmp(verb, "--help") != 0 && strcmp(verb, "-h") != 0) {
        snprintf(word, sizeof word, "%s %s", noun, verb);
        return unknown(word);
    }
    for (int i = 0; i < n_commands; i++)
        if (strncmp(commands[i].name, noun, n) == 0 && commands[i].name[n] == ' ')
            fprintf(verb ? stdout : stderr, "once %-16s %s\n", commands[i].name,
                    commands[i].summary);
    return verb ? EXIT_OK : EXIT_USAGE;
}

static const struct command *find(int argc, char **argv, int *words)
{
    char two[100];
    const struct command *cmd;

    if (argc > 2) {
        snprintf(two, sizeof two, "%s %s", argv[1], argv[2]);
        cmd = command_find(two);
        *words = 2;
        if (cmd)
            return cmd;
    }
    *words = 1;
    return command_find(argv[1]);
}

static int run_command(int argc, char **argv)
{
    const struct command *cmd;
    struct cli *c;
    int words, code;

    cmd = find(argc, argv, &words);
    if (!cmd && strcmp(argv[1], "--version") == 0)
        cmd = command_find("version");
    if (!cmd)
        return unknown_verb(argv[1], argc > 2 ? argv[2] : NULL);
    c = calloc(1, sizeof *c);
    if (!c) {
        fprintf(stderr, "once: out of memory\n");
        return EXIT_JOB;
    }
    c->command = cmd->name;
    code = cmd->run(c, argc - 1 - words, argv + 1 + words);
    cli_deinit(c);
    free(c);
    if (fflush(stdout) != 0 && code == EXIT_OK) {
        fprintf(stderr, "once: cannot write to stdout\n");
        code = EXIT_JOB;
    }
    return code;
}

/* A file must not get the number of a standard stream that was closed. */
static void fill_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) == -1 && open("/dev/null", O_RDWR) == -1)
            return;
}

/* `once help run`, `once help topic create`: as `once run --help`. */
static int help(int argc, char **argv)
{
    static char option[] = "--help";
    char *words[5] = {argv[0]};
    int n = 1;

    while (n < argc - 1 && n < 3) {
        words[n] = argv[n + 1];
        n++;
    }
    words[n++] = option;
    return run_command(n, words);
}

int main(int argc, char **argv)
{
    fill_standard_streams();
    if (argc > 2 && strcmp(argv[1], "help") == 0)
        return help(argc, argv);
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        print_commands(argc < 2 ? stderr : stdout);
        return argc < 2 ? EXIT_USAGE : EXIT_OK;
    }
    return run_command(argc, argv);
}

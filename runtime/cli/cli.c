/* runtime/cli/cli.c - parsing, help, errors, and the world of a command. */
#include "runtime/cli/cli.h"
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#define DEFAULT_BROKERS "127.0.0.1:9092"
enum { ANSWER_MS = 5000 }; /* of a question at the command line, unless --timeout says more */

int cli_fail(struct cli *c, int code, const char *fmt, ...)
{
    va_list ap;

    fprintf(stderr, "once %s: ", c->command ? c->command : "");
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    return c->exit_code = code;
}

int cli_code(int res)
{
    switch (res < 0 ? -res : res) {
    case 0: return EXIT_OK;
    case ERR_REFUSED:
    case ERR_TIMEOUT:
    case ERR_RESOLVE:
    case ERR_RESET:
    case ERR_CLOSED:
    case ERR_CANCELED: return EXIT_UNREACHABLE;
    case ERR_BROKER:
    case ERR_EXISTS:
    case ERR_FENCED:
    case ERR_NOT_FOUND: return EXIT_REFUSED;
    default: return EXIT_JOB;
    }
}

int cli_fail_res(struct cli *c, int res, const char *text)
{
    int code = cli_code(res);

    if (code == EXIT_UNREACHABLE)
        return cli_fail(
            c, code, "cannot reach %s: %s; is a broker running there? -b HOST:PORT names another",
            c->brokers ? c->brokers : DEFAULT_BROKERS, text);
    return cli_fail(c, code, "%s", text);
}

/* ---- did you mean ---- */

static int distance(const char *a, const char *b)
{
    enum { MAX = 40 };
    int row[MAX + 1], n = (int)strlen(a), m = (int)strlen(b);

    if (n > MAX || m > MAX)
        return MAX;
    for (int j = 0; j <= m; j++)
        row[j] = j;
    for (int i = 1; i <= n; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= m; j++) {
            int up = row[j], best = diagonal + (a[i - 1] != b[j - 1]);
            if (up + 1 < best)
                best = up + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            diagonal = up;
            row[j] = best;
        }
    }
    return row[m];
}

const char *cli_nearest(const char *word, const char *const *names, int n)
{
    const char *best = NULL;
    int least = (int)strlen(word) / 3 + 2;

    for (int i = 0; i < n; i++) {
        int d = distance(word, names[i]);
        if (d < least) {
            least = d;
            best = names[i];
        }
    }
    return best;
}

/* ---- options ---- */

enum { GLOBAL_MAX = 16 };

/* --color and --yes are taken for the day that something has a colour or asks. */
static int global_options(struct cli *c, struct cli_option *v)
{
    int n = 0;

    v[n++] = (struct cli_option){"brokers",     'b',
                                 OPTION_TEXT,   &c->brokers,
                                 "HOST:PORT,…", "the cluster (or ONCE_BROKERS; 127.0.0.1:9092)"};
    v[n++] = (struct cli_option){NULL,    'X',         OPTION_LIST,
                                 &c->set, "key=value", "a setting by name; may repeat"};
    v[n++] = (struct cli_option){"config",   0,      OPTION_TEXT,
                                 &c->config, "FILE", "settings, key=value a line"};
    v[n++] = (struct cli_option){
        "format", 0, OPTION_TEXT, &c->format, "table|json|jsonl|plain", "form of results"};
    v[n++] = (struct cli_option){"color", 0, OPTION_TEXT, &c->color, "auto|always|never", NULL};
    v[n++] = (struct cli_option){"quiet", 'q', OPTION_FLAG, &c->quiet, NULL, "errors only"};
    v[n++] = (struct cli_option){"verbose", 'v', OPTION_FLAG, &c->verbose, NULL, "more on stderr"};
    v[n++] =
        (struct cli_option){"timeout", 0, OPTION_INT, &c->timeout_s, "SECONDS", "give up after"};
    v[n++] =
        (struct cli_option){"dry-run", 0, OPTION_FLAG, &c->dry_run, NULL, "say what would be done"};
    v[n++] = (struct cli_option){"yes", 'y', OPTION_FLAG, &c->yes, NULL, NULL};
    v[n++] = (struct cli_option){"help", 'h', OPTION_FLAG, &c->help, NULL, "this text"};
    return n;
}

/* Columns of UTF-8 text. */
static int width(const char *s)
{
    int n = 0;

    for (; *s; s++)
        n += ((unsigned char)*s & 0xC0) != 0x80;
    return n;
}

static void print_options(const struct cli_option *v, int n)
{
    for (int i = 0; i < n; i++) {
        char left[80];

        if (!v[i].help)
            continue;
        snprintf(left, sizeof left, "%s%c%s%s%s%s%s", v[i].letter ? "-" : "  ",
                 v[i].letter ? v[i].letter : ' ',
                 v[i].letter && v[i].name ? ", "
                 : v[i].name              ? " "
                                          : "",
                 v[i].name ? "--" : "", v[i].name ? v[i].name : "", v[i].arg ? " " : "",
                 v[i].arg ? v[i].arg : "");
        printf("  %s%*s %s\n", left, width(left) < 40 ? 40 - width(left) : 0, "", v[i].help);
    }
}

static void print_help(const struct command *cmd, const struct cli_option *own, int n_own,
                       const struct cli_option *global, int n_global)
{
    printf("once %s - %s\n\nusage: once %s%s%s\n", cmd->name, cmd->summary, cmd->name,
           cmd->usage[0] ? " " : "", cmd->usage);
    if (n_own) {
        printf("\noptions:\n");
        print_options(own, n_own);
    }
    printf("\nglobal options:\n");
    print_options(global, n_global);
    if (cmd->details)
        printf("\n%s\n", cmd->details);
}

static const struct cli_option *find_option(const struct cli_option *v, int n, const char *name,
                                            size_t len)
{
    for (int i = 0; i < n; i++)
        if (v[i].name && strlen(v[i].name) == len && memcmp(v[i].name, name, len) == 0)
            return &v[i];
    return NULL;
}

static int list_add(struct text_list *l, const char *s)
{
    const char **v = realloc(l->v, (size_t)(l->n + 1) * sizeof *v);

    if (!v)
        return -ERR_NOMEM;
    l->v = v;
    l->v[l->n++] = s;
    return 0;
}

static int set_option(struct cli *c, const struct cli_option *o, const char *shown,
                      const char *value)
{
    switch (o->kind) {
    case OPTION_FLAG: *(bool *)o->to = true; return 0;
    case OPTION_TEXT: *(const char **)o->to = value; return 0;
    case OPTION_INT:
        if (parse_i64(slice_str(value), o->to))
            return cli_fail(c, EXIT_USAGE, "%s takes a whole number, not '%s'", shown, value);
        return 0;
    case OPTION_LIST:
        if (list_add(o->to, value))
            return cli_fail(c, EXIT_USAGE, "out of memory");
        return 0;
    }
    return 0;
}

static int unknown_option(struct cli *c, const char *word, const struct cli_option *v, int n)
{
    const char *names[64];
    const char *near;
    char plain[64]; /* without dashes and value */
    size_t dashes = strspn(word, "-");
    int k = 0;

    for (int i = 0; i < n && k < 64; i++)
        if (v[i].name)
            names[k++] = v[i].name;
    snprintf(plain, sizeof plain, "%.*s", (int)strcspn(word + dashes, "="), word + dashes);
    near = cli_nearest(plain, names, k);
    if (near)
        return cli_fail(c, EXIT_USAGE, "there is no option %s; did you mean --%s?", word, near);
    return cli_fail(c, EXIT_USAGE, "there is no option %s; see once %s --help", word, c->command);
}

struct parsing {
    struct cli *c;
    const struct cli_option *v;
    int n, argc, at;
    char **argv;
};

static int take_value(struct parsing *p, const struct cli_option *o, const char *shown,
                      const char *glued)
{
    if (o->kind == OPTION_FLAG)
        return glued ? cli_fail(p->c, EXIT_USAGE, "%s takes no value", shown)
                     : set_option(p->c, o, shown, NULL);
    if (glued)
        return set_option(p->c, o, shown, glued);
    if (p->at + 1 >= p->argc)
        return cli_fail(p->c, EXIT_USAGE, "%s needs a value: %s", shown, o->arg ? o->arg : "VALUE");
    return set_option(p->c, o, shown, p->argv[++p->at]);
}

static int parse_long(struct parsing *p, const char *word)
{
    const char *name = word + 2, *eq = strchr(name, '=');
    size_t len = eq ? (size_t)(eq - name) : strlen(name);
    const struct cli_option *o = find_option(p->v, p->n, name, len);

    if (!o)
        return unknown_option(p->c, word, p->v, p->n);
    return take_value(p, o, word, eq ? eq + 1 : NULL);
}

static int parse_short(struct parsing *p, const char *word)
{
    for (const char *l = word + 1; *l; l++) {
        const struct cli_option *o = NULL;
        char shown[3] = {'-', *l, 0};
        int rc;

        for (int i = 0; i < p->n && !o; i++)
            if (p->v[i].letter == *l)
                o = &p->v[i];
        if (!o)
            return unknown_option(p->c, shown, p->v, p->n);
        if (o->kind != OPTION_FLAG)
            return take_value(p, o, shown, l[1] ? l + 1 : NULL);
        rc = take_value(p, o, shown, NULL);
        if (rc)
            return rc;
    }
    return 0;
}

/* ---- settings ---- */

static int read_config(struct cli *c)
{
    char line[4096];
    struct err e = {0};
    int n = 0;
    FILE *f;

    if (!c->config)
        return 0;
    f = fopen(c->config, "r");
    if (!f)
        return cli_fail(c, EXIT_USAGE, "%s: cannot open the config file", c->config);
    while (fgets(line, sizeof line, f)) {
        n++;
        line[strcspn(line, "\r\n")] = 0;
        if (line[0] == 0 || line[0] == '#')
            continue;
        if (conf_parse(&c->conf, line, &e)) {
            fclose(f);
            return cli_fail(c, EXIT_USAGE, "%s:%d: %s", c->config, n, e.text);
        }
    }
    fclose(f);
    return 0;
}

static int settle(struct cli *c)
{
    static const char *const formats[] = {"table", "json", "jsonl", "plain"};
    struct err e = {0};
    bool known = !c->format;

    for (int i = 0; i < 4; i++)
        known |= c->format && strcmp(c->format, formats[i]) == 0;
    if (!known)
        return cli_fail(c, EXIT_USAGE, "--format %s: one of table, json, jsonl, plain", c->format);
    if (read_config(c))
        return c->exit_code;
    for (int i = 0; i < c->set.n; i++)
        if (conf_parse(&c->conf, c->set.v[i], &e))
            return cli_fail(c, EXIT_USAGE, "-X %s", e.text);
    if (!c->brokers)
        c->brokers = getenv("ONCE_BROKERS");
    return 0;
}

int cli_parse(struct cli *c, const struct command *cmd, const struct cli_option *options,
              int n_options, int argc, char **argv, const char **rest, int *n_rest)
{
    struct cli_option all[64];
    struct parsing p = {.c = c, .v = all, .argc = argc, .argv = argv};
    bool plain = false;

    CHECK(n_options + GLOBAL_MAX <= 64);
    c->command = cmd->name;
    conf_init(&c->conf);
    for (int i = 0; i < n_options; i++)
        all[i] = options[i];
    p.n = n_options + global_options(c, all + n_options);
    *n_rest = 0;
    for (p.at = 0; p.at < argc; p.at++) {
        const char *word = argv[p.at];
        int rc = 0;

        if (!plain && strcmp(word, "--") == 0)
            plain = true;
        else if (!plain && word[0] == '-' && word[1] == '-')
            rc = parse_long(&p, word);
        else if (!plain && word[0] == '-' && word[1])
            rc = parse_short(&p, word);
        else
            rest[(*n_rest)++] = word;
        if (rc)
            return -1;
    }
    if (c->help) {
        print_help(cmd, options, n_options, all + n_options, p.n - n_options);
        c->exit_code = EXIT_OK;
        return -1;
    }
    return settle(c) ? -1 : 0;
}

enum cli_format cli_format(const struct cli *c)
{
    if (!c->format)
        return isatty(STDOUT_FILENO) ? FORMAT_TABLE : FORMAT_JSONL;
    if (strcmp(c->format, "table") == 0)
        return FORMAT_TABLE;
    if (strcmp(c->format, "plain") == 0)
        return FORMAT_PLAIN;
    return strcmp(c->format, "json") == 0 ? FORMAT_JSON : FORMAT_JSONL;
}

/* ---- the world ---- */

static void on_signal(uv_signal_t *s, int signum)
{
    struct cli *c = s->data;

    env_uv_enter(&c->uv);
    c->interrupted = true;
    if (c->on_signal)
        c->on_signal(c, signum);
    else {
        c->exit_code = EXIT_INTERRUPTED;
        env_uv_stop(&c->uv);
    }
}

int cli_world(struct cli *c)
{
    int rc = env_uv_open(&c->uv);

    if (!rc)
        rc = env_uv_node_open(&c->uv, &c->node, "once", 0);
    if (rc)
        return cli_fail(c, EXIT_JOB, "cannot set up the event loop: %s", err_text(rc));
    c->world = true;
    c->node.env.level = c->quiet ? ENV_ERROR : c->verbose ? ENV_DEBUG : ENV_WARN;
    uv_signal_init(&c->uv.loop, &c->sigint);
    uv_signal_init(&c->uv.loop, &c->sigterm);
    c->sigint.data = c->sigterm.data = c;
    uv_signal_start(&c->sigint, on_signal, SIGINT);
    uv_signal_start(&c->sigterm, on_signal, SIGTERM);
    return 0;
}

int cli_connect(struct cli *c)
{
    struct client_options o = {.bootstrap = c->brokers ? c->brokers : DEFAULT_BROKERS,
                               .client_id = "once-cli",
                               .request_timeout_ms = c->timeout_s   ? (uint32_t)c->timeout_s * 1000
                                                     : c->answer_ms ? c->answer_ms
                                                                    : ANSWER_MS};
    struct err e = {0};
    int rc = c->world ? 0 : cli_world(c);

    if (rc)
        return rc;
    rc = client_open(&c->client, &c->node.env, &o, &e);
    if (rc)
        return cli_fail(c, EXIT_USAGE, "--brokers %s: %s", o.bootstrap, e.text);
    return 0;
}

static void deadline(struct env_timer *t)
{
    (void)t; /* cli_wait looks at the clock itself */
}

int cli_wait(struct cli *c, const bool *done)
{
    uint64_t begin = uv_hrtime();

    c->deadline.fire = deadline;
    if (c->timeout_s > 0)
        env_timer_set(&c->node.env, &c->deadline, begin + ENV_S(c->timeout_s) + 1);
    while (!*done) {
        int rc = env_uv_turn(&c->uv, true);
        if (rc)
            return cli_fail(c, EXIT_JOB, "stopped: %s", env_uv_halted(&c->uv));
        if (c->interrupted && !c->on_signal)
            return EXIT_INTERRUPTED;
        if (c->timeout_s > 0 && uv_hrtime() - begin > ENV_S(c->timeout_s))
            return cli_fail(c, EXIT_UNREACHABLE, "timed out after %" PRId64 " s", c->timeout_s);
    }
    return 0;
}

static void closed(uv_handle_t *h)
{
    (void)h;
}

void cli_deinit(struct cli *c)
{
    if (c->world) {
        env_uv_node_stop(&c->uv, &c->node);
        client_free(c->client);
        uv_close((uv_handle_t *)&c->sigint, closed);
        uv_close((uv_handle_t *)&c->sigterm, closed);
        env_uv_node_close(&c->uv, &c->node);
        env_uv_close(&c->uv);
    }
    conf_deinit(&c->conf);
    free(c->set.v);
}

/* runtime/cli/cmd_topic.c - `once topic create|ls|show|rm`. */
#include "runtime/cli/cli.h"
#include "runtime/client/admin.h"
#include <inttypes.h>
#include <stdlib.h>

struct outcome {
    struct cli *c;
    bool done;
    int res;
    char text[1100];
};

static void settle(struct outcome *o, int res, const struct err *e)
{
    o->done = true;
    o->res = res;
    snprintf(o->text, sizeof o->text, "%s", e && e->text[0] ? e->text : err_text(res));
}

static int finish(struct cli *c, struct outcome *o)
{
    int rc = cli_wait(c, &o->done);

    if (rc)
        return rc;
    return o->res ? cli_fail_res(c, o->res, o->text) : EXIT_OK;
}

/* The one NAME that most of these take. */
static int one_name(struct cli *c, const char **rest, int n, const char **name)
{
    if (n == 1) {
        *name = rest[0];
        return 0;
    }
    return n == 0 ? cli_fail(c, EXIT_USAGE, "which topic? See once %s --help", c->command)
                  : cli_fail(c, EXIT_USAGE, "unexpected word '%s'", rest[1]);
}

/* ---- create ---- */

static void created(struct create_topic *op, int res, const struct err *e)
{
    settle(op->user, res, e);
}

static int create(struct cli *c, const char *name, int64_t partitions,
                  const struct text_list *configs)
{
    struct outcome o = {.c = c};
    struct create_topic op = {
        .topic = slice_str(name), .validate_only = c->dry_run, .done = created, .user = &o};
    struct conf conf;
    struct err e = {0};
    int rc = 0;

    if (partitions != -1 && (partitions < 1 || partitions > 100000))
        return cli_fail(c, EXIT_USAGE, "--partitions %" PRId64 ": at least 1", partitions);
    conf_init(&conf);
    for (int i = 0; !rc && i < configs->n; i++)
        if (conf_parse(&conf, configs->v[i], &e))
            rc = cli_fail(c, EXIT_USAGE, "--config %s", e.text);
    if (!rc)
        rc = cli_connect(c);
    if (!rc) {
        op.partitions = (int32_t)partitions;
        op.config = &conf;
        admin_create_topic(c->client, &op);
        rc = finish(c, &o);
        if (!rc && c->dry_run)
            printf("would create %s\n", name);
    }
    conf_deinit(&conf);
    return rc;
}

int cmd_topic_create(struct cli *c, int argc, char **argv)
{
    const char **rest = calloc((size_t)argc + 1, sizeof *rest), *name = NULL;
    struct text_list configs = {0};
    int64_t partitions = -1;
    int n, rc;
    const struct cli_option options[] = {
        {"partitions", 0, OPTION_INT, &partitions, "N", "how many (the broker's num.partitions)"},
        {"config", 0, OPTION_LIST, &configs, "k=v", "a setting by Kafka's name; may repeat"},
    };

    if (!rest)
        return cli_fail(c, EXIT_JOB, "out of memory");
    if (cli_parse(c, command_find("topic create"), options, 2, argc, argv, rest, &n))
        rc = c->exit_code;
    else
        rc = one_name(c, rest, n, &name);
    if (!rc && !c->help)
        rc = create(c, name, partitions, &configs);
    free(configs.v);
    free(rest);
    return rc;
}

/* ---- ls ---- */

static void each_topic(struct list_topics *op, const struct client_topic *t, bool internal)
{
    struct outcome *o = op->user;
    char id[23];

    uuid_text(&t->id, id);
    switch (cli_format(o->c)) {
    case FORMAT_TABLE: printf("%-40.*s %10d  %s\n", SLICE_FMT(t->name), t->n_partitions, id); break;
    case FORMAT_PLAIN: printf("%.*s\n", SLICE_FMT(t->name)); break;
    case FORMAT_JSON:
    case FORMAT_JSONL:
        printf("{\"topic\":\"%.*s\",\"partitions\":%d,\"id\":\"%s\",\"internal\":%s}\n",
               SLICE_FMT(t->name), t->n_partitions, id, internal ? "true" : "false");
    }
}

static void listed(struct list_topics *op, int res, const struct err *e)
{
    settle(op->user, res, e);
}

int cmd_topic_ls(struct cli *c, int argc, char **argv)
{
    const char **rest = calloc((size_t)argc + 1, sizeof *rest);
    struct outcome o = {.c = c};
    struct list_topics op = {.each = each_topic, .done = listed, .user = &o};
    int n, rc;

    if (!rest)
        return cli_fail(c, EXIT_JOB, "out of memory");
    if (cli_parse(c, command_find("topic ls"), NULL, 0, argc, argv, rest, &n))
        rc = c->exit_code;
    else if (n)
        rc = cli_fail(c, EXIT_USAGE, "unexpected word '%s'", rest[0]);
    else
        rc = cli_connect(c);
    if (!rc && !c->help) {
        if (cli_format(c) == FORMAT_TABLE)
            printf("%-40s %10s  %s\n", "TOPIC", "PARTITIONS", "ID");
        admin_list_topics(c->client, &op);
        rc = finish(c, &o);
    }
    free(rest);
    return rc;
}

/* ---- show ---- */

struct shown_partition {
    struct list_offset begin, end, stable;
};
struct show {
    struct outcome o, configs, lookup;
    int32_t n_partitions;
    struct uuid id;
    struct shown_partition *v;
    int left;
};

static void show_config(struct describe_config *op, struct slice name, struct slice value,
                        int source)
{
    struct show *s = op->user;

    if (source != 1 && !s->o.c->verbose) /* 1: set on the topic */
        return;
    if (cli_format(s->o.c) == FORMAT_TABLE || cli_format(s->o.c) == FORMAT_PLAIN)
        printf("  %.*s=%.*s\n", SLICE_FMT(name), SLICE_FMT(value));
    else
        printf("{\"config\":\"%.*s\",\"value\":\"%.*s\"}\n", SLICE_FMT(name), SLICE_FMT(value));
}

static void configs_done(struct describe_config *op, int res, const struct err *e)
{
    settle(&((struct show *)op->user)->configs, res, e);
}

static void looked_up(struct topic_lookup *l, int res, const struct client_topic *t)
{
    struct show *s = l->user;

    settle(&s->lookup, res, NULL);
    if (!res && t) {
        s->n_partitions = t->n_partitions;
        s->id = t->id;
    }
}

static void got_offset(struct list_offset *op, int res, const struct err *e)
{
    struct show *s = op->user;

    if (res && !s->o.res)
        settle(&s->o, res, e);
    if (--s->left == 0)
        s->o.done = true;
}

static int show_offsets(struct cli *c, struct show *s, const char *name)
{
    s->v = calloc((size_t)s->n_partitions, sizeof *s->v);
    if (!s->v)
        return cli_fail(c, EXIT_JOB, "out of memory");
    s->left = s->n_partitions * 3;
    for (int32_t p = 0; p < s->n_partitions; p++) {
        struct list_offset ask = {.topic = slice_str(name),
                                  .partition = p,
                                  .timestamp = -2,
                                  .done = got_offset,
                                  .user = s};
        s->v[p].begin = s->v[p].end = s->v[p].stable = ask;
        s->v[p].end.timestamp = s->v[p].stable.timestamp = -1;
        s->v[p].stable.read_committed = true;
        admin_list_offset(c->client, &s->v[p].begin);
        admin_list_offset(c->client, &s->v[p].end);
        admin_list_offset(c->client, &s->v[p].stable);
    }
    if (cli_wait(c, &s->o.done))
        return c->exit_code;
    return s->o.res ? cli_fail_res(c, s->o.res, s->o.text) : 0;
}

static void print_shown(struct cli *c, struct show *s, const char *name)
{
    bool eyes = cli_format(c) == FORMAT_TABLE || cli_format(c) == FORMAT_PLAIN;
    char id[23];

    uuid_text(&s->id, id);
    if (eyes)
        printf("%s  %s  %d partitions\n%9s %12s %12s %12s\n", name, id, s->n_partitions,
               "PARTITION", "BEGIN", "STABLE", "END");
    else
        printf("{\"topic\":\"%s\",\"id\":\"%s\",\"partitions\":%d}\n", name, id, s->n_partitions);
    for (int32_t p = 0; p < s->n_partitions; p++) {
        struct shown_partition *v = &s->v[p];
        if (eyes)
            printf("%9d %12" PRId64 " %12" PRId64 " %12" PRId64 "\n", p, v->begin.offset,
                   v->stable.offset, v->end.offset);
        else
            printf("{\"topic\":\"%s\",\"partition\":%d,\"begin\":%" PRId64 ",\"stable\":%" PRId64
                   ",\"end\":%" PRId64 "}\n",
                   name, p, v->begin.offset, v->stable.offset, v->end.offset);
    }
}

static int find_topic(struct cli *c, struct show *s, const char *name)
{
    struct topic_lookup look = {.name = slice_str(name), .done = looked_up, .user = s};

    client_topic_lookup(c->client, &look);
    if (cli_wait(c, &s->lookup.done))
        return c->exit_code;
    if (s->lookup.res == -ERR_NOT_FOUND)
        return cli_fail(c, EXIT_REFUSED, "there is no topic %s; see once topic ls", name);
    return s->lookup.res ? cli_fail_res(c, s->lookup.res, err_text(s->lookup.res)) : 0;
}

static int show(struct cli *c, const char *name)
{
    struct show s = {.o = {.c = c}};
    struct describe_config conf = {
        .topic = slice_str(name), .each = show_config, .done = configs_done, .user = &s};
    int rc = cli_connect(c);

    if (rc)
        return rc;
    rc = find_topic(c, &s, name);
    if (rc)
        return rc;
    rc = show_offsets(c, &s, name);
    if (!rc) {
        print_shown(c, &s, name);
        admin_describe_config(c->client, &conf);
        rc = finish(c, &s.configs);
    }
    free(s.v);
    return rc;
}

int cmd_topic_show(struct cli *c, int argc, char **argv)
{
    const char **rest = calloc((size_t)argc + 1, sizeof *rest), *name = NULL;
    int n, rc;

    if (!rest)
        return cli_fail(c, EXIT_JOB, "out of memory");
    if (cli_parse(c, command_find("topic show"), NULL, 0, argc, argv, rest, &n))
        rc = c->exit_code;
    else
        rc = one_name(c, rest, n, &name);
    if (!rc && !c->help)
        rc = show(c, name);
    free(rest);
    return rc;
}

/* ---- rm ---- */

static void removed(struct delete_topic *op, int res, const struct err *e)
{
    settle(op->user, res, e);
}

int cmd_topic_rm(struct cli *c, int argc, char **argv)
{
    const char **rest = calloc((size_t)argc + 1, sizeof *rest), *name = NULL;
    struct outcome o = {.c = c};
    struct show s = {.o = {.c = c}};
    struct delete_topic op = {.done = removed, .user = &o};
    int n, rc;

    if (!rest)
        return cli_fail(c, EXIT_JOB, "out of memory");
    if (cli_parse(c, command_find("topic rm"), NULL, 0, argc, argv, rest, &n))
        rc = c->exit_code;
    else
        rc = one_name(c, rest, n, &name);
    if (!rc && !c->help)
        rc = cli_connect(c);
    if (!rc && !c->help && c->dry_run) {
        rc = find_topic(c, &s, name);
        if (!rc)
            printf("would delete %s (%d partitions)\n", name, s.n_partitions);
    } else if (!rc && !c->help) {
        op.topic = slice_str(name);
        admin_delete_topic(c->client, &op);
        rc = finish(c, &o);
    }
    free(rest);
    return rc;
}

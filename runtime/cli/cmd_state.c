/* runtime/cli/cmd_state.c - `once state ls|dump`: looks into the stores of a running or stopped
 * worker.
 *
 * STATE/JOB/SLOT/GROUP_PARTITION holds a task's stores. A task found in several slots or
 * directories is counted once: the copy whose inputs are furthest. */
#include "runtime/cli/cli.h"
#include "runtime/state/store.h"
#include "udf/udf.h"
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <lmdb.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { TASKS_MAX = 20000, OUT_MAX = 256 << 20 };

struct found {
    char path[512];
    int group, partition;
    int64_t position; /* sum of its inputs' */
    int64_t wall_ms;
    bool best;
};
struct search {
    struct cli *c;
    const char *store; /* NULL: any */
    struct found *v;
    int n;
};

static int64_t position_of(const struct store_meta *m)
{
    int64_t sum = 0;

    for (int i = 0; i < m->n_inputs; i++)
        sum += m->inputs[i].offset;
    return sum;
}

/* Adds a task's directory if it has the store. */
static int look(struct search *s, const char *path, int group, int partition)
{
    const char *names[1] = {s->store ? s->store : ""};
    struct task_store *st;
    struct err e = {0};
    struct found *v;

    if (store_lmdb_open_ro(path, names, s->store ? 1 : 0, &st, &e)) {
        if (e.code == ERR_NOT_FOUND)
            return 0; /* not one of ours, or not yet written */
        return cli_fail(s->c, EXIT_JOB, "%s", e.text);
    }
    v = s->n < TASKS_MAX ? realloc(s->v, (size_t)(s->n + 1) * sizeof *v) : NULL;
    if (!v) {
        st->vt->close(st);
        return cli_fail(s->c, EXIT_JOB, "too many tasks");
    }
    s->v = v;
    v = &s->v[s->n++];
    *v = (struct found){.group = group,
                        .partition = partition,
                        .position = position_of(&st->meta),
                        .wall_ms = st->meta.wall_ms};
    snprintf(v->path, sizeof v->path, "%s", path);
    st->vt->close(st);
    return 0;
}

static int look_in_slot(struct search *s, const char *slot)
{
    struct dirent *de;
    DIR *d = opendir(slot);
    int rc = 0;

    while (d && !rc && (de = readdir(d)) != NULL) {
        char path[512], data[540], rest;
        struct stat st;
        int group, partition;

        if (sscanf(de->d_name, "%d_%d%c", &group, &partition, &rest) != 2)
            continue;
        if (snprintf(path, sizeof path, "%s/%s", slot, de->d_name) >= (int)sizeof path)
            continue;
        snprintf(data, sizeof data, "%s/data.mdb", path);
        if (stat(data, &st) == 0)
            rc = look(s, path, group, partition);
    }
    if (d)
        closedir(d);
    return rc;
}

static int look_in_state(struct search *s, const char *state, const char *job)
{
    char dir[400], slot[460];
    struct dirent *de;
    DIR *d;
    int rc = 0;

    if (snprintf(dir, sizeof dir, "%s/%s", state, job) >= (int)sizeof dir)
        return cli_fail(s->c, EXIT_USAGE, "%s: path too long", state);
    d = opendir(dir);
    if (!d)
        return errno == ENOENT ? 0 : cli_fail(s->c, EXIT_JOB, "%s: %s", dir, strerror(errno));
    while (!rc && (de = readdir(d)) != NULL) {
        if (de->d_name[0] < '0' || de->d_name[0] > '9')
            continue;
        if (snprintf(slot, sizeof slot, "%s/%s", dir, de->d_name) < (int)sizeof slot)
            rc = look_in_slot(s, slot);
    }
    closedir(d);
    return rc;
}

static int by_task(const void *a, const void *b)
{
    const struct found *x = a, *y = b;

    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->partition != y->partition)
        return x->partition < y->partition ? -1 : 1;
    if (x->position != y->position)
        return x->position > y->position ? -1 : 1;
    return x->wall_ms > y->wall_ms ? -1 : x->wall_ms < y->wall_ms;
}

static int search(struct search *s, const char *job, const struct text_list *states)
{
    const char *fallback = "./once-data/state";
    int n = states->n ? states->n : 1, rc = 0;

    for (int i = 0; !rc && i < n; i++)
        rc = look_in_state(s, states->n ? states->v[i] : fallback, job);
    if (rc)
        return rc;
    if (!s->n)
        return cli_fail(s->c, EXIT_JOB, "no stores of job %s below %s", job,
                        states->n ? states->v[0] : fallback);
    qsort(s->v, (size_t)s->n, sizeof *s->v, by_task);
    for (int i = 0; i < s->n; i++)
        s->v[i].best = i == 0 || s->v[i].group != s->v[i - 1].group ||
                       s->v[i].partition != s->v[i - 1].partition;
    return 0;
}

/* ---- dump ---- */

struct row {
    size_t key_at, key_n, line_at, line_n; /* encoded key, and the text */
};
struct dump {
    struct cli *c;
    struct buf bytes;
    struct row *v;
    size_t n, cap;
    bool found; /* some task has the store */
};

static int add_row(struct dump *d, struct slice key, struct slice value)
{
    struct buf text, part;
    struct row *r;
    int rc;

    if (d->n == d->cap) {
        size_t cap = d->cap ? d->cap * 2 : 1024;
        r = realloc(d->v, cap * sizeof *r);
        if (!r)
            return -ERR_NOMEM;
        d->v = r;
        d->cap = cap;
    }
    buf_init(&text, OUT_MAX);
    buf_init(&part, OUT_MAX);
    rc = udf_key_text(key, &part);
    if (!rc)
        rc = text_escape(&text, buf_slice(&part));
    buf_put_u8(&text, '\t');
    buf_reset(&part);
    if (!rc)
        rc = udf_value_text(value, &part);
    if (!rc)
        rc = text_escape(&text, buf_slice(&part));
    r = &d->v[d->n];
    *r = (struct row){.key_at = d->bytes.n, .key_n = key.n};
    buf_put_slice(&d->bytes, key);
    r->line_at = d->bytes.n;
    r->line_n = text.n;
    if (!rc)
        rc = buf_put_slice(&d->bytes, buf_slice(&text));
    buf_deinit(&text);
    buf_deinit(&part);
    if (!rc)
        d->n++;
    return rc;
}

static int read_store(struct dump *d, const char *path, const char *store)
{
    const char *names[1] = {store};
    struct task_store *st;
    struct store_iter *it;
    struct slice key, value;
    struct err e = {0};
    int rc = store_lmdb_open_ro(path, names, 1, &st, &e);

    if (rc)
        return cli_fail(d->c, EXIT_JOB, "%s", e.text);
    d->found |= store_lmdb_has(st, 0);
    rc = st->vt->range(st, 0, SLICE_NULL, SLICE_NULL, false, &it);
    if (!rc) {
        while ((rc = it->next(it, &key, &value)) > 0) {
            rc = add_row(d, key, value);
            if (rc)
                break;
        }
        it->close(it);
    }
    st->vt->close(st);
    return rc ? cli_fail(d->c, EXIT_JOB, "%s: %s", path, err_text(rc)) : 0;
}

static int by_key(const void *a, const void *b, void *u)
{
    const struct row *x = a, *y = b;
    const struct dump *d = u;

    return slice_cmp(slice_of(d->bytes.p + x->key_at, x->key_n),
                     slice_of(d->bytes.p + y->key_at, y->key_n));
}

static int dump(struct search *s, const char *store)
{
    struct dump d = {.c = s->c};
    int rc = 0;

    buf_init(&d.bytes, SIZE_MAX / 4);
    for (int i = 0; !rc && i < s->n; i++)
        if (s->v[i].best)
            rc = read_store(&d, s->v[i].path, store);
    if (!rc && !d.found)
        rc = cli_fail(s->c, EXIT_JOB, "there is no store %s; see once state ls", store);
    if (!rc && d.n)
        qsort_r(d.v, d.n, sizeof *d.v, by_key, &d);
    for (size_t i = 0; !rc && i < d.n; i++) {
        fwrite(d.bytes.p + d.v[i].line_at, 1, d.v[i].line_n, stdout);
        putchar('\n');
    }
    buf_deinit(&d.bytes);
    free(d.v);
    return rc;
}

int cmd_state_dump(struct cli *c, int argc, char **argv)
{
    const char **rest = calloc((size_t)argc + 1, sizeof *rest);
    struct text_list states = {0};
    struct search s = {.c = c};
    int n, rc;
    const struct cli_option options[] = {
        {"state", 0, OPTION_LIST, &states, "DIR",
         "state directory (./once-data/state); may repeat"},
    };

    if (!rest)
        return cli_fail(c, EXIT_JOB, "out of memory");
    if (cli_parse(c, command_find("state dump"), options, 1, argc, argv, rest, &n))
        rc = c->exit_code;
    else if (n != 2)
        rc = cli_fail(c, EXIT_USAGE, "JOB and STORE are needed; see once state dump --help");
    else {
        s.store = rest[1];
        rc = search(&s, rest[0], &states);
        if (!rc)
            rc = dump(&s, rest[1]);
    }
    free(s.v);
    free(states.v);
    free(rest);
    return rc;
}

/* ---- ls ---- */

static int list_stores(struct cli *c, const struct found *f)
{
    MDB_env *env = NULL;
    MDB_txn *txn = NULL;
    MDB_dbi dbi;
    MDB_cursor *cur = NULL;
    MDB_val k, v;
    int rc = mdb_env_create(&env);

    if (!rc)
        rc = mdb_env_set_maxdbs(env, STORES_MAX + 1);
    if (!rc)
        rc = mdb_env_open(env, f->path, MDB_RDONLY | MDB_NOTLS, 0666);
    if (!rc)
        rc = mdb_txn_begin(env, NULL, MDB_RDONLY, &txn);
    if (!rc)
        rc = mdb_dbi_open(txn, NULL, 0, &dbi);
    if (!rc)
        rc = mdb_cursor_open(txn, dbi, &cur);
    while (!rc && mdb_cursor_get(cur, &k, &v, MDB_NEXT) == 0) {
        MDB_dbi table;
        MDB_stat st = {0};
        char name[STORE_NAME_MAX + 3];

        if (k.mv_size < 2 || memcmp(k.mv_data, "s:", 2) != 0 || k.mv_size >= sizeof name)
            continue;
        memcpy(name, k.mv_data, k.mv_size);
        name[k.mv_size] = 0;
        if (mdb_dbi_open(txn, name, 0, &table) == 0)
            mdb_stat(txn, table, &st);
        if (cli_format(c) == FORMAT_TABLE)
            printf("%-24s %5d %9d %12zu %14" PRId64 "  %s\n", name + 2, f->group, f->partition,
                   st.ms_entries, f->position, f->path);
        else
            printf("{\"store\":\"%s\",\"group\":%d,\"partition\":%d,\"entries\":%zu,\"position\":"
                   "%" PRId64 ",\"path\":\"%s\"}\n",
                   name + 2, f->group, f->partition, st.ms_entries, f->position, f->path);
    }
    if (cur)
        mdb_cursor_close(cur);
    if (txn)
        mdb_txn_abort(txn);
    if (env)
        mdb_env_close(env);
    return rc ? cli_fail(c, EXIT_JOB, "%s: %s", f->path, mdb_strerror(rc)) : 0;
}

int cmd_state_ls(struct cli *c, int argc, char **argv)
{
    const char **rest = calloc((size_t)argc + 1, sizeof *rest);
    struct text_list states = {0};
    struct search s = {.c = c};
    int n, rc;
    const struct cli_option options[] = {
        {"state", 0, OPTION_LIST, &states, "DIR",
         "state directory (./once-data/state); may repeat"},
    };

    if (!rest)
        return cli_fail(c, EXIT_JOB, "out of memory");
    if (cli_parse(c, command_find("state ls"), options, 1, argc, argv, rest, &n))
        rc = c->exit_code;
    else if (n != 1)
        rc = cli_fail(c, EXIT_USAGE, "JOB is needed; see once state ls --help");
    else {
        rc = search(&s, rest[0], &states);
        if (!rc && cli_format(c) == FORMAT_TABLE)
            printf("%-24s %5s %9s %12s %14s  %s\n", "STORE", "GROUP", "PARTITION", "ENTRIES",
                   "POSITION", "PATH");
        for (int i = 0; !rc && i < s.n; i++)
            if (s.v[i].best)
                rc = list_stores(c, &s.v[i]);
    }
    free(s.v);
    free(states.v);
    free(rest);
    return rc;
}

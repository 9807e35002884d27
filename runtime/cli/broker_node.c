/* runtime/cli/broker_node.c - the order in which a broker is put together. */
#include "runtime/cli/broker_node.h"
#include <inttypes.h>
#include <sys/stat.h>

static void report_recovery(struct broker_node *n, const struct logdir_report *r)
{
    if (!r->clean && r->logs <= 1 && !r->rounds && !r->batches_checked) {
        env_info(&n->node.env, "begins with an empty log directory");
        return;
    }
    env_info(&n->node.env,
             "recovered %u logs in %" PRIu64 " ms (%s stop): %" PRIu64 " rounds, %" PRIu64
             " bytes redone, %" PRIu64 " batches checked, %" PRIu64 " bytes cut",
             r->logs, r->duration_ns / 1000000, r->clean ? "orderly" : "unclean", r->rounds,
             r->bytes_redone, r->batches_checked, r->bytes_cut);
}

static void report_settings(struct broker_node *n, const struct conf *conf)
{
    for (int i = 0; conf && i < conf->n; i++)
        if (!conf->v[i].asked)
            env_warn(&n->node.env, "the setting %s is not known here and has no effect",
                     conf->v[i].key);
}

int broker_node_open(struct broker_node *n, struct env_uv *uv, const struct broker_options *o,
                     enum env_level level, struct err *e)
{
    struct logdir_report report = {0};
    struct stat st;
    int rc;

    if (stat(o->data_dir, &st) == 0 && !S_ISDIR(st.st_mode))
        return err_set(e, ERR_INVALID, "%s is not a directory", o->data_dir);
    rc = env_uv_node_open(uv, &n->node, "broker", 0);

    if (rc)
        return err_set(e, -rc, "cannot set up the broker: %s", err_text(rc));
    n->uv = uv;
    n->open = true;
    n->node.env.level = level;
    rc = broker_open(&n->broker, &n->node.env, o, e);
    if (!rc) {
        rc = txn_open(&n->txn, n->broker);
        if (rc)
            rc = err_set(e, -rc, "transaction coordinator: %s", err_text(rc));
    }
    if (!rc) {
        broker_api_install(n->broker);
        rc = broker_recover(n->broker, &report, e);
    }
    if (!rc) {
        report_recovery(n, &report);
        report_settings(n, o->conf);
        rc = broker_listen(n->broker, n->address, sizeof n->address, e);
    }
    if (rc)
        broker_node_close(n);
    return rc;
}

void broker_node_stop(struct broker_node *n, void (*done)(void *user), void *user)
{
    broker_close(n->broker, done, user);
}

void broker_node_close(struct broker_node *n)
{
    if (!n->open)
        return;
    env_uv_node_stop(n->uv, &n->node);
    txn_free(n->txn);
    broker_free(n->broker);
    env_uv_node_close(n->uv, &n->node);
    n->open = false;
}

/* runtime/worker/assign.c - tasks come and go with the assignment.
 *
 * A task exists for (group, partition) when the group's sources' partition is assigned; the range
 * assignor gives co-partitioned sources to one member. A task that stays over a rebalance goes on
 * as it is, if no generation was missed: its open work was committed before the partitions were
 * given up. */
#include "runtime/worker/worker_internal.h"

static struct task *find_task(struct worker *w, int group, int32_t partition)
{
    LIST_EACH (it, &w->tasks) {
        struct task *t = list_entry(it, struct task, link);
        if (t->group == group && t->partition == partition && !t->close_after)
            return t;
    }
    return NULL;
}

static void close_task(struct task *t)
{
    pump_forget(t->worker, t);
    task_start_cancel(t);
    if (t->committing) {
        t->close_after = true; /* freed when the local commit is over */
        t->state = TASK_FAILED;
        return;
    }
    task_free(t);
}

void assign_close_all(struct worker *w)
{
    LIST_EACH_SAFE (it, tmp, &w->tasks)
        close_task(list_entry(it, struct task, link));
}

static void rewind_task(struct task *t)
{
    struct err e = {0};

    task_start_cancel(t);
    t->state = TASK_FAILED;
    t->touched = false;
    if (t->close_after)
        return;
    if (t->committing)
        t->drop_after = true;
    else if (MUTATED(t->worker->env->mutations, ABORT_NO_REWIND) && t->udf && !task_reset(t, &e)) {
        t->state = TASK_RUNNING;
        for (int i = 0; i < t->n_inputs; i++)
            t->inputs[i].fetching = fetcher_add(t->worker->fetcher, t->inputs[i].topic,
                                                t->partition, t->inputs[i].next, t) == 0;
    } else
        task_start(t);
}

/* Abort is a crash without the process: every task drops overlay, stream time, buffers and Lua
 * state and resumes from stable offset and store, by the code that serves a start. */
void assign_drop_all(struct worker *w)
{
    pump_forget(w, NULL);
    if (!w->assigned) {
        assign_close_all(w);
        return;
    }
    LIST_EACH_SAFE (it, tmp, &w->tasks)
        rewind_task(list_entry(it, struct task, link));
}

void assign_check_ready(struct worker *w)
{
    if (!w->assigned || w->stopping)
        return;
    LIST_EACH (it, &w->tasks) {
        if (list_entry(it, struct task, link)->state != TASK_RUNNING)
            return;
    }
    if (w->ready_told)
        return;
    w->ready_told = true;
    w->stats.ready_ns = w->env->now;
    if (w->o.on_ready)
        w->o.on_ready(w->o.user);
}

static bool assigned_to(const struct topic_partition *v, int n, struct slice topic,
                        int32_t partition)
{
    for (int i = 0; i < n; i++)
        if (v[i].partition == partition && slice_eq(v[i].topic, topic))
            return true;
    return false;
}

static struct job_topic *first_topic(struct worker *w, int group)
{
    struct buf name;
    struct job_topic *t = NULL;

    buf_init(&name, TOPIC_NAME_MAX + 1);
    if (udf_job_topic(w->job, w->job->groups[group].topics[0], &name) == 0)
        t = worker_topic(w, buf_slice(&name));
    buf_deinit(&name);
    return t;
}

static void keep_identity(struct worker *w)
{
    struct group_identity id = member_identity(w->member);
    struct buf *b = &w->polled_as_bytes;
    size_t at[3];

    buf_reset(b);
    at[0] = b->n;
    buf_put_slice(b, id.group);
    at[1] = b->n;
    buf_put_slice(b, id.member);
    at[2] = b->n;
    buf_put_slice(b, id.instance);
    if (b->failed) {
        worker_fail(w, 3, "out of memory");
        return;
    }
    w->polled_as = (struct group_identity){
        .group = slice_of(b->p + at[0], id.group.n),
        .member = slice_of(b->p + at[1], id.member.n),
        .instance = id.instance.p ? slice_of(b->p + at[2], id.instance.n) : SLICE_NULL,
        .generation = id.generation};
}

static void open_tasks(struct worker *w, const struct topic_partition *v, int n)
{
    for (int g = 0; g < w->job->n_groups; g++) {
        struct job_topic *jt = first_topic(w, g);
        for (int32_t p = 0; jt && p < jt->partitions; p++) {
            struct task *t;
            if (!assigned_to(v, n, jt->name, p) || find_task(w, g, p))
                continue;
            t = task_new(w, g, p);
            if (!t) {
                worker_fail(w, 3, "out of memory");
                return;
            }
            task_start(t);
        }
    }
}

static void on_assign(void *user, int32_t generation, const struct topic_partition *v, int n)
{
    struct worker *w = user;
    bool gap = generation != w->last_generation && generation != w->last_generation + 1;

    keep_identity(w);
    w->assigned = true;
    w->generation = generation;
    LIST_EACH_SAFE (it, tmp, &w->tasks) {
        struct task *t = list_entry(it, struct task, link);
        if (gap || !assigned_to(v, n, t->inputs[0].topic, t->partition))
            close_task(t);
    }
    w->last_generation = generation;
    env_info(w->env, "generation %d: %d partitions assigned", generation, n);
    open_tasks(w, v, n);
    worker_event(w, CYCLE_EV_ASSIGNED, 0);
    assign_check_ready(w);
    worker_pump(w);
}

static void on_revoke(void *user)
{
    struct worker *w = user;

    worker_event(w, CYCLE_EV_REVOKE, 0);
}

static void on_lost(void *user, bool fatal, const struct err *e)
{
    struct worker *w = user;

    w->assigned = false;
    w->last_generation = -1;
    if (fatal) {
        worker_fail(w, 5, "%s", e && e->text[0] ? e->text : "membership of the group is refused");
        return;
    }
    env_warn(w->env, "membership lost (%s): back to what is committed",
             e && e->text[0] ? e->text : "unknown to the group");
    worker_event(w, CYCLE_EV_LOST, 0);
}

void assign_install(struct worker *w, struct member_options *o)
{
    o->user = w;
    o->on_revoke = on_revoke;
    o->on_assign = on_assign;
    o->on_lost = on_lost;
}

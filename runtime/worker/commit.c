/* runtime/worker/commit.c - the effects of the commit cycle: flush, offsets, end, abort, stores. */
#include "runtime/worker/worker_internal.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { SPACE_FACTOR = 4, SPACE_RETRY_MS = 1000 };
#define SPACE_RESERVE ((int64_t)4 << 20)

/* ---- step 2: changelogs, then every record acknowledged ---- */

static void flushed(void *user, int res, const struct err *e)
{
    struct worker *w = user;

    if (res)
        env_warn(w->env, "flush failed: %s", e && e->text[0] ? e->text : err_text(res));
    if (!res && env_point(w->env, "after_flush"))
        return;
    worker_event(w, CYCLE_EV_FLUSHED, res);
}

/* What the local commit may need must be there before the decision: else it waits here. */
static bool space_there(struct worker *w)
{
    uint64_t bytes = 0;
    int64_t room;

    LIST_EACH (it, &w->tasks)
        bytes += task_bytes(list_entry(it, struct task, link));
    if (!bytes)
        return true;
    room = w->env->vt->space_free(w->env, w->id.dir);
    if (room < 0 || (uint64_t)room >= bytes * SPACE_FACTOR + (uint64_t)SPACE_RESERVE)
        return true;
    env_error(w->env,
              "%s: only %" PRId64 " bytes are free and the state needs %" PRIu64
              " more: the job waits until there is space",
              w->id.dir, room, bytes * SPACE_FACTOR);
    return false;
}

static void space_again(struct env_timer *timer)
{
    struct worker *w = list_entry(timer, struct worker, space_timer);

    if (w->cycle.state == CYCLE_FLUSH)
        commit_flush(w);
}

void commit_flush_more(struct worker *w)
{
    int res = pump_finish(w);

    if (res == -ERR_LIMIT)
        return; /* the producer's room() comes back here */
    if (res) {
        w->flushing = false;
        worker_event(w, CYCLE_EV_FLUSHED, res);
        return;
    }
    LIST_EACH (it, &w->tasks) {
        struct task *t = list_entry(it, struct task, link);
        int rc = t->touched && t->state == TASK_RUNNING ? task_flush(t) : 0;

        if (rc == -ERR_LIMIT)
            return;
        if (rc) {
            w->flushing = false;
            worker_event(w, CYCLE_EV_FLUSHED, rc);
            return;
        }
    }
    w->flushing = false;
    producer_flush(w->producer, flushed, w);
}

void commit_flush(struct worker *w)
{
    int rc = 0;

    w->space_timer.fire = space_again;
    if (env_point(w->env, "before_flush"))
        return;
    if (!space_there(w)) {
        env_timer_set(w->env, &w->space_timer, w->env->now + ENV_MS(SPACE_RETRY_MS));
        return;
    }
    if (w->guarantee == UDF_EXACTLY_ONCE && !producer_in_txn(w->producer))
        rc = producer_begin(w->producer);
    if (rc) {
        worker_event(w, CYCLE_EV_FLUSHED, rc);
        return;
    }
    LIST_EACH (it, &w->tasks)
        task_flush_begin(list_entry(it, struct task, link));
    w->flushing = true;
    commit_flush_more(w);
}

/* ---- step 3: offsets of every task that took a record or wrote anything ---- */

static int add_offset(struct worker *w, const struct task *t, const struct task_input *in)
{
    if (w->n_offsets == w->offsets_cap) {
        uint32_t cap = w->offsets_cap ? w->offsets_cap * 2 : 16;
        struct txn_offset *p = realloc(w->offsets, cap * sizeof *p);
        if (!p)
            return -ERR_NOMEM;
        w->offsets = p;
        w->offsets_cap = cap;
    }
    w->offsets[w->n_offsets++] = (struct txn_offset){
        .topic = in->topic, .partition = t->partition, .offset = in->next, .leader_epoch = -1};
    return 0;
}

/* Past what no record will ever come from: markers, aborted batches (EO-42), of every task. Only
 * what was handed out and done with counts, so a record still at hand holds its input back. */
static void move_positions(struct worker *w, struct task *t)
{
    for (int i = 0; i < t->n_inputs; i++) {
        struct task_input *in = &t->inputs[i];
        int64_t pos = fetcher_position(w->fetcher, in->topic, t->partition);

        if (w->current.active && w->current.input == in)
            continue;
        if (pos > in->next)
            in->next = pos;
        if (in->next > in->committed)
            t->touched = true; /* it shares this commit instead of having one of its own later */
    }
}

/* Stream time travels in the metadata: "st=1700000000000". */
static int collect_offsets(struct worker *w)
{
    w->n_offsets = 0;
    buf_reset(&w->offset_text);
    LIST_EACH (it, &w->tasks) {
        struct task *t = list_entry(it, struct task, link);
        uint32_t first = w->n_offsets;
        size_t at = w->offset_text.n;
        int rc = 0;

        if (t->state == TASK_RUNNING && w->guarantee != UDF_AT_MOST_ONCE)
            move_positions(w, t);
        if (!t->touched || t->state != TASK_RUNNING)
            continue;
        rc = buf_printf(&w->offset_text, "st=%" PRId64, t->stream_time);
        for (int i = 0; !rc && i < t->n_inputs; i++)
            rc = add_offset(w, t, &t->inputs[i]);
        if (rc)
            return rc;
        for (uint32_t i = first; i < w->n_offsets; i++) { /* as a place: the text may still move */
            w->offsets[i].metadata.p = NULL;
            w->offsets[i].metadata.n = at << 16 | (w->offset_text.n - at);
        }
    }
    for (uint32_t i = 0; i < w->n_offsets; i++) {
        size_t place = w->offsets[i].metadata.n;
        w->offsets[i].metadata = slice_of(w->offset_text.p + (place >> 16), place & 0xffff);
    }
    return 0;
}

static void offsets_sent(void *user, int res, const struct err *e)
{
    struct worker *w = user;

    if (res)
        env_warn(w->env, "offsets not taken: %s", e && e->text[0] ? e->text : err_text(res));
    if (!res && env_point(w->env, "after_offsets"))
        return;
    worker_event(w, CYCLE_EV_OFFSETS, res);
}

static void plain_done(struct offsets_commit *op, int res)
{
    struct worker *w = op->user;

    if (res == -ERR_BROKER)
        res = -ERR_ABORTABLE;
    offsets_sent(w, res, NULL);
}

static void commit_plain(struct worker *w)
{
    w->plain = (struct offsets_commit){.group = &w->polled_as,
                                       .v = w->offsets,
                                       .n = (int)w->n_offsets,
                                       .done = plain_done,
                                       .user = w};
    offsets_commit(w->client, &w->plain);
}

void commit_offsets(struct worker *w)
{
    int rc = collect_offsets(w);

    if (rc || !w->n_offsets) {
        worker_event(w, CYCLE_EV_OFFSETS, rc);
        return;
    }
    if (w->guarantee != UDF_EXACTLY_ONCE || MUTATED(w->env->mutations, OFFSETS_OUTSIDE_TXN))
        commit_plain(w);
    else
        producer_send_offsets(w->producer, &w->polled_as, w->offsets, (int)w->n_offsets,
                              offsets_sent, w);
}

/* ---- step 4: the decision ---- */

static void ended(void *user, int res, const struct err *e)
{
    struct worker *w = user;

    if (res)
        env_warn(w->env, "commit not confirmed: %s", e && e->text[0] ? e->text : err_text(res));
    if (!res && env_point(w->env, "after_end_txn"))
        return;
    worker_event(w, CYCLE_EV_ENDED, res);
}

void commit_end(struct worker *w)
{
    if (env_point(w->env, "before_end_txn"))
        return;
    producer_end(w->producer, true, ended, w);
}

static void aborted(void *user, int res, const struct err *e)
{
    struct worker *w = user;

    w->stats.aborts++;
    worker_event(w, CYCLE_EV_ABORTED, res);
}

void commit_abort(struct worker *w)
{
    w->flushing = false;
    env_timer_stop(w->env, &w->space_timer);
    pump_forget(w, NULL);
    if (!producer_in_txn(w->producer)) {
        worker_event(w, CYCLE_EV_ABORTED, 0);
        return;
    }
    producer_end(w->producer, false, aborted, w);
}

/* ---- step 5: local state follows ---- */

/* A restore's chunk may end last: whoever waits for all local commits is told then, too. */
void worker_store_over(struct worker *w)
{
    if (--w->n_storing > 0 || env_point(w->env, "after_store"))
        return;
    if (w->closing)
        worker_leave(w);
    else
        worker_event(w, CYCLE_EV_STORED, 0);
}

bool worker_store_doubt(int res)
{
    return res == -ERR_IO || res == -ERR_CORRUPT || res == -ERR_STATE;
}

void worker_stored(struct worker *w, struct task *t, int res)
{
    t->doubt |= worker_store_doubt(res);
    if (res && !t->close_after)
        env_warn(w->env, "%s: local commit failed (%s): the store catches up from its changelog",
                 t->store ? t->store->path : w->id.dir, err_text(res));
    if (t->close_after)
        task_free(t);
    else if (t->drop_after)
        task_start(t);
    else if (res)
        worker_event(w, CYCLE_EV_FAILED, res);
    worker_store_over(w);
}

void commit_store(struct worker *w)
{
    w->stats.commits++;
    w->stats.commit_ns_last = w->cycle.took;
    LIST_EACH (it, &w->tasks) {
        struct task *t = list_entry(it, struct task, link);

        if (!t->touched || t->state != TASK_RUNNING)
            continue;
        t->touched = false;
        for (int i = 0; i < t->n_inputs; i++)
            t->inputs[i].committed = t->inputs[i].next;
        if (!t->store || t->committing)
            continue;
        w->n_storing++;
        task_store_commit(t, false);
        if (env_point(w->env, "mid_store"))
            return;
    }
    if (w->n_storing == 0)
        worker_event(w, CYCLE_EV_STORED, 0);
}

void commit_free(struct worker *w)
{
    free(w->offsets);
    w->offsets = NULL;
    buf_deinit(&w->offset_text);
    buf_deinit(&w->polled_as_bytes);
}

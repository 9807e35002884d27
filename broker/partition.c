/* broker/partition.c - one partition: what is appended passes the plug, what is durable wakes the
 * waits.
 *
 * An append and what the plug stages for it (an enrolment) lie in one bundle, so that one round
 * holds both. Groups see every batch of `__consumer_offsets` when it is staged. */
#include "base/check.h"
#include "broker/group/coordinator.h"
#include "broker/internal.h"

static bool of_groups(const struct partition *p)
{
    return p->topic->internal && slice_eq_str(p->topic->name, GROUP_TOPIC);
}

void partition_init(struct partition *p, struct topic *t, int32_t index)
{
    p->topic = t;
    p->index = index;
    list_init(&p->waits);
}

int64_t partition_high_watermark(const struct partition *p)
{
    return log_durable(p->log);
}

int64_t partition_stable(struct broker *b, const struct partition *p)
{
    int64_t hw = log_durable(p->log);
    if (!b->plugged)
        return hw;
    int64_t stable = b->plug.stable(b->plug.self, (struct partition *)p);
    CHECK(stable <= hw);
    return stable;
}

static enum kafka_error refused(int rc, bool *busy)
{
    *busy = rc == -ERR_LIMIT;
    return *busy ? KAFKA_REQUEST_TIMED_OUT : KAFKA_KAFKA_STORAGE_ERROR;
}

static enum kafka_error stage(struct broker *b, struct partition *p, struct block *block,
                              struct span bytes, struct batch_info *info, bool *busy)
{
    int rc = block ? log_append(p->log, block, bytes, info)
                   : log_append_copy(p->log, slice_of(bytes.p, bytes.n), info);
    if (rc)
        return refused(rc, busy);
    if (!block)
        batch_set_offset(bytes.p, info->base_offset, info->leader_epoch);
    struct slice batch = slice_of(bytes.p, bytes.n);
    if (b->plugged && info->producer_id >= 0)
        b->plug.staged(b->plug.self, p, info, batch);
    if (of_groups(p))
        group_coordinator_staged(b->groups, p, info, batch);
    return KAFKA_NONE;
}

enum kafka_error partition_append(struct broker *b, struct partition *p, struct block *block,
                                  struct span bytes, struct batch_info *info,
                                  const struct plug_request *rq, int64_t *base_offset,
                                  bool *duplicate, bool *busy)
{
    enum plug_verdict verdict = PLUG_ADMIT;
    struct plug_answer a = {.error = KAFKA_NONE, .base_offset = -1, .timestamp = -1};
    enum kafka_error error = KAFKA_NONE;
    *duplicate = *busy = false;
    *base_offset = -1;
    logdir_bundle_begin(b->logdir);
    if (b->plugged && info->producer_id >= 0)
        verdict = b->plug.check(b->plug.self, p, info, rq, &a);
    if (verdict == PLUG_ADMIT) {
        error = stage(b, p, block, bytes, info, busy);
        if (error == KAFKA_NONE)
            *base_offset = info->base_offset;
    } else if (verdict == PLUG_DUPLICATE) {
        *duplicate = true;
        *base_offset = a.base_offset;
        info->max_timestamp = a.timestamp;
    } else {
        CHECK(a.error != KAFKA_NONE);
        error = a.error;
    }
    logdir_bundle_end(b->logdir);
    return error;
}

void partition_durable(struct broker *b, struct partition *p, int64_t end)
{
    if (b->plugged)
        b->plug.durable(b->plug.self, p, end);
    LIST_EACH_SAFE (l, next, &p->waits) {
        struct partition_wait *w = list_entry(l, struct partition_wait, link);
        w->wake(w, false);
    }
}

int partition_replay(struct broker *b, struct partition *p, struct slice batch, struct err *e)
{
    struct batch_info info;
    int rc = batch_header(batch, &info);
    if (rc)
        return err_set(e, -rc, "%.*s-%d: %s", SLICE_FMT(p->topic->name), p->index, err_text(rc));
    broker_seen_producer_id(b, info.producer_id);
    if (b->plugged)
        b->plug.replay(b->plug.self, p, &info, batch);
    if (of_groups(p)) {
        rc = group_coordinator_replay(b->groups, p, &info, batch);
        if (rc)
            return err_set(e, -rc, "%.*s-%d at offset %lld: %s", SLICE_FMT(p->topic->name),
                           p->index, (long long)info.base_offset, err_text(rc));
    }
    return 0;
}

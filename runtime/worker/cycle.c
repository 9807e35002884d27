/* runtime/worker/cycle.c - the steps of the commit cycle and when it starts. */
#include "runtime/worker/cycle.h"
#include "base/err.h"
#include <string.h>

#define MS 1000000u
enum { FOREIGN_MIN_MS = 20, FOREIGN_MIN_MAX_MS = 320, BACK_OFF_TIMES = 3, FIRST_PART = 8 };

void cycle_init(struct cycle *c, const struct cycle_options *o)
{
    memset(c, 0, sizeof *c);
    c->o = *o;
    c->unassigned = true;
    c->foreign_min_ns = FOREIGN_MIN_MS * (uint64_t)MS;
    if (!c->o.max_ns)
        c->o.max_ns = 100 * (uint64_t)MS;
    c->interval_ns = c->o.max_ns / FIRST_PART;
    if (!c->o.bytes_max)
        c->o.bytes_max = 8u << 20;
    if (!c->o.records_max)
        c->o.records_max = UINT64_MAX;
}

bool cycle_may_process(const struct cycle *c)
{
    return c->state == CYCLE_RUN && !c->lost && !c->failed && !c->unassigned && !c->polled &&
           (c->holding || (!c->revoking && !c->stopping));
}

/* Not before this, however much waits. */
static uint64_t earliest(const struct cycle *c)
{
    uint64_t pause = c->took * BACK_OFF_TIMES;

    if (!c->ended_at)
        return 0;
    if (pause > c->o.max_ns)
        pause = c->o.max_ns;
    if (pause < c->o.min_ns)
        pause = c->o.min_ns;
    if (c->o.foreign && pause < c->foreign_min_ns)
        pause = c->foreign_min_ns;
    return c->ended_at + pause;
}

static bool gathered(const struct cycle *c)
{
    return c->drained || c->bytes >= c->o.bytes_max || c->records >= c->o.records_max;
}

static bool want_commit(const struct cycle *c, uint64_t now)
{
    if (!c->dirty_at)
        return false;
    if ((c->revoking || c->stopping) && !c->holding)
        return true;
    return now >= earliest(c) && (gathered(c) || now >= c->dirty_at + c->interval_ns);
}

uint64_t cycle_due(const struct cycle *c)
{
    uint64_t at, first;

    if (c->state != CYCLE_RUN || !c->dirty_at || c->storing)
        return UINT64_MAX;
    first = earliest(c);
    at = gathered(c) ? first : c->dirty_at + c->interval_ns;
    return at > first ? at : first;
}

static void clean(struct cycle *c)
{
    c->dirty_at = c->bytes = c->records = 0;
    c->polled = false;
}

/* Everything uncommitted goes; what waited for a quiet moment is done now. */
static unsigned drop(struct cycle *c)
{
    unsigned fx = CYCLE_DO_DROP;

    clean(c);
    c->holding = false;
    c->failed = c->fenced = false;
    c->lost = false;
    if (c->revoking) {
        c->revoking = false;
        c->unassigned = true;
        fx |= CYCLE_DO_REVOKED;
    }
    if (c->stopping && !c->storing && c->state == CYCLE_RUN) {
        c->state = CYCLE_STOPPED;
        fx |= CYCLE_DO_STOPPED;
    }
    return fx;
}

static unsigned begin_abort(struct cycle *c)
{
    if (c->o.mode == CYCLE_EXACTLY_ONCE) {
        c->state = CYCLE_ABORT;
        return CYCLE_DO_ABORT;
    }
    c->state = CYCLE_RUN;
    return drop(c);
}

static unsigned begin_init(struct cycle *c)
{
    c->state = CYCLE_INIT;
    return CYCLE_DO_INIT;
}

/* In RUN: is there something to begin? */
static unsigned settle(struct cycle *c, uint64_t now)
{
    if (c->state != CYCLE_RUN)
        return 0;
    if (c->fenced)
        return begin_init(c);
    if (c->lost || c->failed)
        return begin_abort(c);
    if (c->storing)
        return 0;
    if (want_commit(c, now)) {
        c->began_at = now;
        c->state = CYCLE_FLUSH;
        return CYCLE_DO_FLUSH;
    }
    if (c->dirty_at || c->holding)
        return 0;
    if (c->revoking) {
        c->revoking = false;
        c->unassigned = true;
        return CYCLE_DO_REVOKED;
    }
    if (c->stopping) {
        c->state = CYCLE_STOPPED;
        return CYCLE_DO_STOPPED;
    }
    return 0;
}

/* The decision stands: local state follows. */
static unsigned committed(struct cycle *c, uint64_t now)
{
    c->took = now - c->began_at;
    c->ended_at = now;
    c->interval_ns *= 2;
    if (c->interval_ns > c->o.max_ns)
        c->interval_ns = c->o.max_ns;
    clean(c);
    c->state = CYCLE_RUN;
    c->storing = true;
    return CYCLE_DO_STORE;
}

/* A step before the decision failed. */
static unsigned step_failed(struct cycle *c, int res)
{
    switch (-res) {
    case ERR_FENCED:
    case ERR_UNKNOWN_OUTCOME: return begin_init(c);
    case ERR_STATE:
    case ERR_ACCESS: return CYCLE_DO_FATAL;
    default: return begin_abort(c);
    }
}

static unsigned on_flushed(struct cycle *c, int res, uint64_t now)
{
    if (c->state != CYCLE_FLUSH)
        return 0;
    if (res || c->lost || c->failed)
        return step_failed(c, res);
    if (c->o.mode == CYCLE_AT_MOST_ONCE)
        return committed(c, now);
    c->state = CYCLE_OFFSETS;
    return CYCLE_DO_OFFSETS;
}

static unsigned on_offsets(struct cycle *c, int res, uint64_t now)
{
    if (c->state != CYCLE_OFFSETS)
        return 0;
    if (res || c->lost || c->failed)
        return step_failed(c, res);
    if (c->o.mode == CYCLE_AT_MOST_ONCE) {
        c->state = CYCLE_RUN;
        c->polled = false;
        c->holding = true;
        return CYCLE_DO_PROCESS;
    }
    if (c->o.mode == CYCLE_AT_LEAST_ONCE)
        return committed(c, now);
    c->state = CYCLE_END;
    return CYCLE_DO_COMMIT;
}

static unsigned on_ended(struct cycle *c, int res, uint64_t now)
{
    if (c->state != CYCLE_END)
        return 0;
    switch (-res) {
    case 0: return committed(c, now);
    case ERR_ABORTABLE: return begin_abort(c);
    case ERR_STATE:
    case ERR_ACCESS: return CYCLE_DO_FATAL;
    default: return begin_init(c); /* unknown, or fenced: stable offsets decide */
    }
}

static unsigned on_aborted(struct cycle *c, int res)
{
    if (c->state != CYCLE_ABORT)
        return 0;
    if (res == -ERR_STATE || res == -ERR_ACCESS)
        return CYCLE_DO_FATAL;
    if (res)
        return begin_init(c);
    c->state = CYCLE_RUN;
    return drop(c);
}

static unsigned on_inited(struct cycle *c, int res)
{
    bool starting = c->state == CYCLE_STARTING;

    if (!starting && c->state != CYCLE_INIT)
        return 0;
    if (res == -ERR_STATE || res == -ERR_ACCESS || res == -ERR_BROKER || (res && starting))
        return CYCLE_DO_FATAL;
    if (res)
        return CYCLE_DO_INIT;
    c->state = CYCLE_RUN;
    return starting ? 0 : drop(c);
}

static unsigned on_polled(struct cycle *c)
{
    if (!cycle_may_process(c))
        return 0;
    c->polled = true;
    c->state = CYCLE_OFFSETS;
    return CYCLE_DO_OFFSETS;
}

unsigned cycle_step(struct cycle *c, const struct cycle_event *ev, uint64_t now)
{
    unsigned fx = 0;

    if (c->state == CYCLE_STOPPED)
        return 0;
    switch (ev->kind) {
    case CYCLE_EV_INITED: fx = on_inited(c, ev->res); break;
    case CYCLE_EV_WORK:
        if (!c->dirty_at)
            c->dirty_at = now ? now : 1;
        c->bytes += ev->bytes;
        c->records++;
        c->drained = false;
        break;
    case CYCLE_EV_POLLED: return on_polled(c);
    case CYCLE_EV_TAKEN: c->holding = false; break;
    case CYCLE_EV_DRAINED: c->drained = true; break;
    case CYCLE_EV_TICK: break;
    case CYCLE_EV_FLUSHED: fx = on_flushed(c, ev->res, now); break;
    case CYCLE_EV_OFFSETS: fx = on_offsets(c, ev->res, now); break;
    case CYCLE_EV_ENDED: fx = on_ended(c, ev->res, now); break;
    case CYCLE_EV_ABORTED: fx = on_aborted(c, ev->res); break;
    case CYCLE_EV_STORED: c->storing = false; break;
    case CYCLE_EV_REVOKE: c->revoking = true; break;
    case CYCLE_EV_ASSIGNED: c->unassigned = c->revoking = false; break;
    case CYCLE_EV_LOST:
        c->lost = c->unassigned = true;
        c->revoking = false;
        break;
    case CYCLE_EV_FAILED:
        c->failed = true;
        c->fenced |= ev->res == -ERR_FENCED || ev->res == -ERR_UNKNOWN_OUTCOME;
        break;
    case CYCLE_EV_STOP: c->stopping = true; break;
    }
    return fx | settle(c, now);
}

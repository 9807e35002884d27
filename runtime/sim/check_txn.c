/* runtime/sim/check_txn.c - what the transaction log decided against the markers that are there.
 *
 * Each prepare record names the partitions of a transaction and its decision; in each of them the
 * next marker of that producer must be this one, and no marker may be there that nobody decided. */
#include "base/check.h"
#include "runtime/sim/check.h"
#include <inttypes.h>
#include <stdlib.h>

#define TXN_TOPIC_NAME "__transaction_state"
enum { PREPARE_COMMIT = 2, PREPARE_ABORT = 3, COMPLETE_COMMIT = 4, COMPLETE_ABORT = 5 };

struct used {
    unsigned char *v; /* by batch: this marker belongs to a decision */
};
struct markers {
    struct sim_evidence *x;
    struct used *v; /* by log */
};

/* ---- reading a value: version 0, or the flexible version 1 ---- */

static int64_t read_count(struct disk_reader *r, bool flexible)
{
    uint64_t v = 0;

    if (!flexible)
        return disk_read_int(r, 4);
    for (int shift = 0; shift < 35; shift += 7) {
        uint64_t b = (uint64_t)disk_read_int(r, 1) & 0xff;
        v |= (b & 0x7f) << shift;
        if (r->bad || !(b & 0x80))
            break;
    }
    return (int64_t)v - 1; /* -1: null */
}

static void skip_tags(struct disk_reader *r, bool flexible)
{
    int64_t n = flexible ? read_count(r, true) + 1 : 0;

    for (; n > 0 && !r->bad; n--) {
        read_count(r, true);
        disk_read_bytes(r, read_count(r, true) + 1);
    }
}

struct value {
    int64_t producer_id;
    int16_t epoch;
    int8_t status;
    struct slice topic; /* of the partition at hand */
    int32_t partition;
};

/* ---- markers ---- */

static void take_marker(struct markers *m, const struct value *v)
{
    struct sim_evidence *x = m->x;
    bool commit = v->status == PREPARE_COMMIT;

    for (uint32_t i = 0; i < x->logs->n; i++) {
        const struct disk_log *l = &x->logs->v[i];
        if (l->partition != v->partition || !slice_eq_str(v->topic, l->topic))
            continue;
        for (uint32_t k = 0; k < l->n_batches; k++) {
            const struct disk_batch *b = &l->batches[k];
            if (!b->control || b->producer_id != v->producer_id || m->v[i].v[k])
                continue;
            m->v[i].v[k] = 1;
            if (b->commit != commit)
                verdict_add(x->verdict, VIOLATION_OTHER,
                            "%s-%d@%" PRId64 ": a marker to %s where producer %" PRId64
                            " epoch %d had decided to %s",
                            l->topic, l->partition, b->base, b->commit ? "commit" : "abort",
                            v->producer_id, v->epoch, commit ? "commit" : "abort");
            return;
        }
    }
    verdict_add(x->verdict, VIOLATION_LOST,
                "%.*s-%d: no marker of producer %" PRId64 " epoch %d, which decided to %s",
                SLICE_FMT(v->topic), v->partition, v->producer_id, v->epoch,
                commit ? "commit" : "abort");
}

/* Status of the record; its partitions' markers are taken when it is a prepare. -1: no value. */
static int read_value(struct markers *m, struct slice bytes)
{
    struct disk_reader r = {.in = bytes};
    bool flexible = disk_read_int(&r, 2) >= 1;
    struct value v = {.producer_id = disk_read_int(&r, 8)};
    int64_t topics;

    v.epoch = (int16_t)disk_read_int(&r, 2);
    disk_read_int(&r, 4);
    v.status = (int8_t)disk_read_int(&r, 1);
    for (topics = read_count(&r, flexible); topics > 0 && !r.bad; topics--) {
        int64_t n = flexible ? read_count(&r, true) : disk_read_int(&r, 2);
        v.topic = disk_read_bytes(&r, n);
        for (n = read_count(&r, flexible); n > 0 && !r.bad; n--) {
            v.partition = (int32_t)disk_read_int(&r, 4);
            if (v.status == PREPARE_COMMIT || v.status == PREPARE_ABORT)
                take_marker(m, &v);
        }
        skip_tags(&r, flexible);
    }
    return r.bad ? -1 : v.status;
}

/* An id's records: a complete only after the prepare that it completes, and none left over. */
static void check_states(struct markers *m, const struct disk_log *l)
{
    struct sim_evidence *x = m->x;
    int *status = calloc(l->n_records + 1, sizeof *status);

    CHECK(status);
    for (uint32_t k = 0; k < l->n_records; k++) {
        const struct disk_record *r = &l->records[k];
        uint32_t before = k;
        if (!r->value.p)
            continue;
        status[k] = read_value(m, r->value);
        if (status[k] < 0)
            verdict_add(x->verdict, VIOLATION_OTHER, "%s-%d@%" PRId64 ": does not parse", l->topic,
                        l->partition, r->offset);
        while (before > 0 && !slice_eq(l->records[before - 1].key, r->key))
            before--;
        if ((status[k] == COMPLETE_COMMIT || status[k] == COMPLETE_ABORT) &&
            (before == 0 || status[before - 1] != status[k] - 2))
            verdict_add(x->verdict, VIOLATION_OTHER,
                        "%s-%d@%" PRId64 ": %.*s is complete without its decision", l->topic,
                        l->partition, r->offset, SLICE_FMT(r->key));
    }
    for (uint32_t k = l->n_records; k-- > 0;) {
        uint32_t after = k + 1;
        while (after < l->n_records && !slice_eq(l->records[after].key, l->records[k].key))
            after++;
        if (after == l->n_records && (status[k] == PREPARE_COMMIT || status[k] == PREPARE_ABORT))
            verdict_add(x->verdict, VIOLATION_OTHER, "%s-%d@%" PRId64 ": decided, never completed",
                        l->topic, l->partition, l->records[k].offset);
    }
    free(status);
}

static void check_unused(struct markers *m)
{
    for (uint32_t i = 0; i < m->x->logs->n; i++) {
        const struct disk_log *l = &m->x->logs->v[i];
        for (uint32_t k = 0; k < l->n_batches; k++)
            if (l->batches[k].control && !m->v[i].v[k])
                verdict_add(m->x->verdict, VIOLATION_OTHER,
                            "%s-%d@%" PRId64 ": a marker that nobody decided", l->topic,
                            l->partition, l->batches[k].base);
    }
}

void check_txn(struct sim_evidence *x)
{
    struct markers m = {.x = x, .v = calloc(x->logs->n + 1, sizeof *m.v)};

    CHECK(m.v);
    for (uint32_t i = 0; i < x->logs->n; i++) {
        m.v[i].v = calloc(x->logs->v[i].n_batches + 1, 1);
        CHECK(m.v[i].v);
    }
    for (uint32_t i = 0; i < x->logs->n; i++)
        if (strcmp(x->logs->v[i].topic, TXN_TOPIC_NAME) == 0)
            check_states(&m, &x->logs->v[i]);
    check_unused(&m);
    for (uint32_t i = 0; i < x->logs->n; i++)
        free(m.v[i].v);
    free(m.v);
}

/* tests/txn/test_producer_state.c - sequences, epochs, open transactions; snapshots and aborted
 * entries against files of Apache Kafka; a random walk against a naive model. */
#include "base/bytes.h"
#include "base/check.h"
#include "base/wire/batch.h"
#include "txn/producer_state.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

static struct producer_batch data(int64_t pid, int16_t epoch, int32_t seq, int32_t count,
                                  int64_t offset, bool transactional)
{
    return (struct producer_batch){.producer_id = pid,
                                   .base_offset = offset,
                                   .timestamp = 1000 + offset,
                                   .last_delta = count - 1,
                                   .base_sequence = seq,
                                   .coordinator_epoch = -1,
                                   .epoch = epoch,
                                   .transactional = transactional};
}

static struct producer_batch marker(int64_t pid, int16_t epoch, int64_t offset, bool commit,
                                    int32_t coordinator_epoch)
{
    return (struct producer_batch){.producer_id = pid,
                                   .base_offset = offset,
                                   .timestamp = 1000 + offset,
                                   .base_sequence = -1,
                                   .coordinator_epoch = coordinator_epoch,
                                   .epoch = epoch,
                                   .transactional = true,
                                   .marker = true,
                                   .commit = commit};
}

/* NONE for admitted, -1000 for a duplicate, else the code. */
enum { DUPLICATE = -1000 };
static int check_as(struct producer_state *ps, struct producer_batch b, enum producer_origin origin,
                    int64_t log_end, bool strict)
{
    struct producer_answer a;
    switch (producer_state_check(ps, &b, origin, log_end, strict, &a)) {
    case PRODUCER_ADMIT: return KAFKA_NONE;
    case PRODUCER_DUPLICATE: return DUPLICATE;
    default: return a.error;
    }
}
static int check(struct producer_state *ps, struct producer_batch b)
{
    return check_as(ps, b, PRODUCER_CLIENT, 100, false);
}
static void stage(struct producer_state *ps, struct producer_batch b)
{
    assert_int_equal(producer_state_staged(ps, &b), 0);
}

static int64_t duplicate_offset(struct producer_state *ps, struct producer_batch b)
{
    struct producer_answer a;
    assert_int_equal(producer_state_check(ps, &b, PRODUCER_CLIENT, 100, false, &a),
                     PRODUCER_DUPLICATE);
    return a.base_offset;
}

static void eo_11_new_partition_takes_only_sequence_0(void **state)
{
    struct producer_state ps;
    producer_state_init(&ps, 0);
    assert_int_equal(check_as(&ps, data(1, 0, 17, 1, 0, false), PRODUCER_CLIENT, 0, false), 45);
    assert_int_equal(check_as(&ps, data(1, 0, 0, 1, 0, false), PRODUCER_CLIENT, 0, false), 0);
    /* The log once held data: the state may be gone. */
    assert_int_equal(check_as(&ps, data(1, 0, 17, 1, 0, false), PRODUCER_CLIENT, 9, false), 0);
    /* A transactional Produce 12 begins at 0 always. */
    assert_int_equal(check_as(&ps, data(1, 0, 17, 1, 0, true), PRODUCER_CLIENT, 9, true), 45);
    producer_state_deinit(&ps);
}

static void eo_12_five_batches_are_remembered(void **state)
{
    struct producer_state ps;
    producer_state_init(&ps, 0);
    for (int i = 0; i < 6; i++)
        stage(&ps, data(1, 0, i * 3, 3, 100 + i * 3, false));
    for (int i = 1; i < 6; i++)
        assert_int_equal(duplicate_offset(&ps, data(1, 0, i * 3, 3, 0, false)), 100 + i * 3);
    assert_int_equal(check(&ps, data(1, 0, 0, 3, 0, false)), 45);
    /* Another cut of the same sequences is no duplicate (EO-17). */
    assert_int_equal(check(&ps, data(1, 0, 15, 2, 0, false)), 45);
    assert_int_equal(check(&ps, data(1, 0, 12, 6, 0, false)), 45);
    assert_int_equal(check(&ps, data(1, 0, 18, 3, 0, false)), 0);
    assert_int_equal(check(&ps, data(1, 0, 19, 3, 0, false)), 45);
    producer_state_deinit(&ps);
}

static void eo_13_duplicate_answers_with_the_original(void **state)
{
    struct producer_state ps;
    struct producer_answer a;
    producer_state_init(&ps, 0);
    stage(&ps, data(1, 0, 0, 4, 20, false));
    struct producer_batch again = data(1, 0, 0, 4, -1, false);
    assert_int_equal(producer_state_check(&ps, &again, PRODUCER_CLIENT, 24, false, &a),
                     PRODUCER_DUPLICATE);
    assert_int_equal(a.base_offset, 20);
    assert_int_equal(a.timestamp, 1020);
    producer_state_deinit(&ps);
}

static void eo_14_sequence_wraps_to_0(void **state)
{
    struct producer_state ps;
    int32_t max = INT32_MAX;
    producer_state_init(&ps, 0);
    stage(&ps, data(1, 0, max - 1, 2, 10, false)); /* max-1, max */
    assert_int_equal(check(&ps, data(1, 0, 0, 1, 0, false)), 0);
    assert_int_equal(check(&ps, data(1, 0, 1, 1, 0, false)), 45);
    producer_state_deinit(&ps);
    producer_state_init(&ps, 0);
    stage(&ps, data(1, 0, max - 1, 5, 10, false)); /* max-1, max, 0, 1, 2 */
    assert_int_equal(check(&ps, data(1, 0, 3, 1, 0, false)), 0);
    assert_int_equal(duplicate_offset(&ps, data(1, 0, max - 1, 5, 0, false)), 10);
    assert_int_equal(sequence_sub(2, 4), max - 1);
    producer_state_deinit(&ps);
}

static void older_epoch_is_refused_and_newer_begins_at_0(void **state)
{
    struct producer_state ps;
    producer_state_init(&ps, 0);
    stage(&ps, data(1, 5, 7, 1, 10, false));
    assert_int_equal(check(&ps, data(1, 4, 8, 1, 0, false)), KAFKA_INVALID_PRODUCER_EPOCH);
    assert_int_equal(check(&ps, data(1, 6, 8, 1, 0, false)), 45);
    assert_int_equal(check(&ps, data(1, 6, 0, 1, 0, false)), 0);
    stage(&ps, data(1, 6, 0, 1, 11, false));
    /* The old epoch's batches are forgotten with it. */
    assert_int_equal(check(&ps, data(1, 5, 7, 1, 0, false)), KAFKA_INVALID_PRODUCER_EPOCH);
    producer_state_deinit(&ps);
}

static void marker_keeps_batches_of_its_epoch_and_clears_older(void **state)
{
    struct producer_state ps;
    producer_state_init(&ps, 0);
    stage(&ps, data(1, 0, 0, 2, 10, true));
    stage(&ps, marker(1, 0, 12, true, 1));
    assert_int_equal(check(&ps, data(1, 0, 2, 1, 0, true)), 0);
    assert_int_equal(check(&ps, data(1, 0, 0, 1, 0, true)), 45);
    stage(&ps, marker(1, 1, 13, true, 1));
    assert_int_equal(check(&ps, data(1, 1, 2, 1, 0, true)), 45);
    assert_int_equal(check(&ps, data(1, 1, 0, 1, 0, true)), 0);
    producer_state_deinit(&ps);
}

static void transactional_duplicate_only_while_its_transaction_is_open(void **state)
{
    struct producer_state ps;
    producer_state_init(&ps, 0);
    stage(&ps, data(1, 0, 0, 2, 10, true));
    assert_int_equal(duplicate_offset(&ps, data(1, 0, 0, 2, 0, true)), 10);
    stage(&ps, marker(1, 0, 12, true, 1));
    assert_int_equal(check(&ps, data(1, 0, 0, 2, 0, true)), 45);
    /* The next transaction of the epoch does not bring it back. */
    stage(&ps, data(1, 0, 2, 1, 13, true));
    assert_int_equal(check(&ps, data(1, 0, 0, 2, 0, true)), 45);
    assert_int_equal(duplicate_offset(&ps, data(1, 0, 2, 1, 0, true)), 13);
    producer_state_deinit(&ps);
}

static void plain_batch_in_an_open_transaction_is_refused(void **state)
{
    struct producer_state ps;
    producer_state_init(&ps, 0);
    stage(&ps, data(1, 0, 0, 2, 10, true));
    assert_int_equal(check(&ps, data(1, 0, 2, 1, 0, false)), KAFKA_INVALID_TXN_STATE);
    assert_int_equal(check(&ps, data(1, 0, 2, 1, 0, true)), 0);
    producer_state_deinit(&ps);
}

static void offsets_of_a_group_are_checked_by_epoch_alone(void **state)
{
    struct producer_state ps;
    producer_state_init(&ps, 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(check_as(&ps, data(1, 2, 0, 1, 0, true), PRODUCER_COORDINATOR, i, false),
                         0);
        stage(&ps, data(1, 2, 0, 1, i, true));
    }
    assert_int_equal(check_as(&ps, data(1, 1, 0, 1, 0, true), PRODUCER_COORDINATOR, 3, false), 47);
    producer_state_deinit(&ps);
}

static void eo_30_marker_of_an_older_coordinator_is_refused(void **state)
{
    struct producer_state ps;
    producer_state_init(&ps, 0);
    stage(&ps, data(1, 3, 0, 1, 0, true));
    stage(&ps, marker(1, 3, 1, true, 7));
    assert_int_equal(check_as(&ps, marker(1, 3, 0, true, 6), PRODUCER_MARKER, 2, false),
                     KAFKA_TRANSACTION_COORDINATOR_FENCED);
    assert_int_equal(check_as(&ps, marker(1, 2, 0, true, 7), PRODUCER_MARKER, 2, false),
                     KAFKA_INVALID_PRODUCER_EPOCH);
    producer_state_deinit(&ps);
}

static void eo_33_65_marker_sent_again_is_admitted_without_effect(void **state)
{
    struct producer_state ps;
    producer_state_init(&ps, 0);
    stage(&ps, data(1, 3, 0, 1, 0, true));
    stage(&ps, marker(1, 4, 1, false, 7));
    assert_int_equal(check_as(&ps, marker(1, 4, 0, false, 8), PRODUCER_MARKER, 2, false), 0);
    stage(&ps, marker(1, 4, 2, false, 8));
    producer_state_durable(&ps, 3, NULL, NULL);
    assert_int_equal(producer_state_stable(&ps, 3, 0), 3);
    producer_state_deinit(&ps);
}

static void mutations_switch_protections_off(void **state)
{
#ifdef ONCE_TEST_BUILD
    struct producer_state ps;
    producer_state_init(&ps, UINT64_C(1) << MUT_NO_SEQUENCE_CHECK);
    stage(&ps, data(1, 1, 0, 1, 0, false));
    assert_int_equal(check(&ps, data(1, 1, 0, 1, 0, false)), 0);
    assert_int_equal(check(&ps, data(1, 0, 1, 1, 0, false)), 47);
    producer_state_deinit(&ps);
    producer_state_init(&ps, UINT64_C(1) << MUT_NO_EPOCH_FENCE);
    stage(&ps, data(1, 1, 0, 1, 0, false));
    assert_int_equal(check(&ps, data(1, 0, 0, 1, 0, false)), 0);
    producer_state_deinit(&ps);
#else
    skip();
#endif
}

struct aborts {
    int n;
    unsigned char v[16][TXNINDEX_ENTRY];
};
static void abort_add(void *user, int64_t marker_offset, const unsigned char entry[TXNINDEX_ENTRY])
{
    struct aborts *a = user;
    assert_true(a->n < 16);
    memcpy(a->v[a->n++], entry, TXNINDEX_ENTRY);
}

static void eo_04_stable_offset_moves_only_when_the_marker_is_durable(void **state)
{
    struct producer_state ps;
    struct aborts aborts = {0};
    producer_state_init(&ps, 0);
    stage(&ps, data(1, 0, 0, 2, 10, true));
    stage(&ps, data(2, 0, 0, 1, 12, true));
    assert_int_equal(producer_state_stable(&ps, 10, 0), 10);
    producer_state_durable(&ps, 13, abort_add, &aborts);
    assert_int_equal(producer_state_stable(&ps, 13, 0), 10);
    assert_int_equal(producer_state_stable(&ps, 13, 11), 11); /* log start moved past it */
    stage(&ps, marker(1, 0, 13, false, 1));
    assert_int_equal(producer_state_stable(&ps, 13, 0), 10);
    producer_state_durable(&ps, 13, abort_add, &aborts);
    assert_int_equal(aborts.n, 0);
    producer_state_durable(&ps, 14, abort_add, &aborts);
    assert_int_equal(producer_state_stable(&ps, 14, 0), 12);
    assert_int_equal(aborts.n, 1);
    struct producer_aborted a;
    assert_true(producer_aborted_decode(&a, aborts.v[0]));
    assert_int_equal(a.producer_id, 1);
    assert_int_equal(a.first_offset, 10);
    assert_int_equal(a.last_offset, 13);
    assert_int_equal(a.last_stable, 12);
    stage(&ps, marker(2, 0, 14, true, 1));
    producer_state_durable(&ps, 15, abort_add, &aborts);
    assert_int_equal(producer_state_stable(&ps, 15, 0), 15);
    assert_int_equal(aborts.n, 1);
    producer_state_deinit(&ps);
}

static void eo_08_snapshot_holds_durable_state_alone(void **state)
{
    struct producer_state ps, back;
    struct buf out;
    producer_state_init(&ps, 0);
    producer_state_init(&back, 0);
    buf_init(&out, 1 << 20);
    stage(&ps, data(1, 0, 0, 2, 10, true));
    stage(&ps, data(2, 0, 0, 2, 12, false));
    producer_state_durable(&ps, 12, NULL, NULL);
    stage(&ps, marker(1, 1, 14, true, 1));
    stage(&ps, data(1, 1, 0, 2, 15, true));
    assert_int_equal(producer_state_save(&ps, &out), 0);
    assert_int_equal(out.n, 10 + 46); /* producer 2 is not there yet */
    assert_int_equal(producer_state_load(&back, buf_slice(&out)), 0);
    assert_int_equal(producer_state_stable(&back, 12, 0), 10);
    assert_int_equal(check(&back, data(1, 0, 2, 1, 0, true)), 0);
    assert_int_equal(duplicate_offset(&back, data(1, 0, 0, 2, 0, true)), 10);
    for (size_t i = 0; i < out.n; i++) {
        out.p[i] ^= 1;
        assert_int_equal(producer_state_load(&back, buf_slice(&out)), -ERR_CORRUPT);
        assert_int_equal(producer_state_count(&back), 0);
        out.p[i] ^= 1;
        assert_int_equal(producer_state_load(&back, slice_of(out.p, i)), -ERR_CORRUPT);
    }
    buf_deinit(&out);
    producer_state_deinit(&ps);
    producer_state_deinit(&back);
}

static void snapshot_reads_the_documented_bytes(void **state)
{
    static const char hex[] = "0001899bffb50000000100000000000003e80002000000090000000000000029"
                              "000000040000018bcfe5680000000003ffffffffffffffff";
    unsigned char bytes[56];
    struct producer_state ps;
    struct buf out;
    for (size_t i = 0; i < sizeof bytes; i++) {
        unsigned v;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &v), 1);
        bytes[i] = (unsigned char)v;
    }
    producer_state_init(&ps, 0);
    buf_init(&out, 1000);
    assert_int_equal(producer_state_load(&ps, slice_of(bytes, sizeof bytes)), 0);
    assert_int_equal(duplicate_offset(&ps, data(1000, 2, 5, 5, 0, false)), 37);
    assert_int_equal(check(&ps, data(1000, 2, 10, 1, 0, false)), 0);
    assert_int_equal(producer_state_save(&ps, &out), 0);
    assert_true(slice_eq(buf_slice(&out), slice_of(bytes, sizeof bytes)));
    buf_deinit(&out);
    producer_state_deinit(&ps);
}

static void eo_10_replay_refuses_nothing(void **state)
{
    struct producer_state ps;
    producer_state_init(&ps, 0);
    struct producer_batch v[] = {data(1, 5, 700, 1, 10, true), data(1, 3, 9, 1, 11, false),
                                 marker(1, 2, 12, true, -1), data(1, 2, 44, 2, 13, false)};
    for (int i = 0; i < 4; i++)
        assert_int_equal(producer_state_replay(&ps, &v[i], NULL, NULL), 0);
    assert_int_equal(check(&ps, data(1, 2, 46, 1, 0, false)), 0);
    assert_int_equal(producer_state_stable(&ps, 15, 0), 15);
    producer_state_deinit(&ps);
}

/* By the time of the node and not of the records: those may be years old, and a retry comes all the
 * same. */
static void eo_18_expiry_spares_open_transactions_and_markers_refresh(void **state)
{
    struct producer_state ps;
    producer_state_init(&ps, 0);
    ps.now_ms = 100000;
    stage(&ps, data(1, 0, 0, 1, 0, true));
    stage(&ps, data(2, 0, 0, 1, 1, false));
    producer_state_durable(&ps, 2, NULL, NULL);
    ps.now_ms += 2999;
    assert_int_equal(producer_state_expire(&ps, 3000), 0);
    assert_int_equal(check(&ps, data(2, 0, 0, 1, 0, false)), DUPLICATE);
    ps.now_ms += 1;
    assert_int_equal(producer_state_expire(&ps, 3000), 1);
    assert_int_equal(producer_state_count(&ps), 1);
    stage(&ps, marker(1, 0, 3500, true, 1));
    producer_state_durable(&ps, 3501, NULL, NULL);
    ps.now_ms += 2999;
    assert_int_equal(producer_state_expire(&ps, 3000), 0);
    ps.now_ms += 1;
    assert_int_equal(producer_state_expire(&ps, 3000), 1);
    producer_state_deinit(&ps);
}

/* What a restart has from a snapshot refuses and knows again what the live state did. */
static void eo_12_window_survives_a_snapshot(void **state)
{
    struct producer_state ps, back;
    struct buf out;
    producer_state_init(&ps, 0);
    producer_state_init(&back, 0);
    buf_init(&out, 1 << 20);
    buf_put(&out, "before", 6);
    for (int i = 0; i < 7; i++)
        stage(&ps, data(1, 0, 3 * i, 3, 10 * i, false));
    stage(&ps, data(2, 0, 0, 1, 70, false));
    stage(&ps, data(3, 0, 0, 1, 71, true));
    stage(&ps, data(3, 0, 1, 1, 72, true));
    producer_state_durable(&ps, 73, NULL, NULL);
    stage(&ps, data(2, 0, 1, 1, 73, false)); /* not durable */
    assert_int_equal(producer_state_save(&ps, &out), 0);
    size_t kafkas = out.n;
    assert_int_equal(producer_state_save_window(&ps, &out, 6), 0);
    assert_int_equal(out.n, kafkas + 8 + 5 * 32); /* four of producer 1, one of 3 */
    struct slice s = slice_sub(buf_slice(&out), 6, out.n);
    assert_int_equal(producer_state_load(&back, s), 0);
    for (int i = 2; i < 7; i++)
        assert_int_equal(duplicate_offset(&back, data(1, 0, 3 * i, 3, 0, false)), 10 * i);
    assert_int_equal(check(&back, data(1, 0, 3, 3, 0, false)), 45);
    assert_int_equal(duplicate_offset(&back, data(3, 0, 0, 1, 0, true)), 71);
    assert_int_equal(check(&back, data(2, 0, 1, 1, 0, false)), 0);
    for (size_t i = 0; i < s.n; i++) {
        assert_int_equal(producer_state_load(&back, slice_sub(s, 0, i)), -ERR_CORRUPT);
        assert_int_equal(producer_state_count(&back), 0);
    }
    buf_deinit(&out);
    producer_state_deinit(&ps);
    producer_state_deinit(&back);
}

static void aborted_entries_overlap_ranges(void **state)
{
    struct producer_aborted a = {1, 10, 20, 15};
    bool last;
    assert_true(producer_aborted_overlaps(&a, 0, 11, &last));
    assert_true(last);
    assert_false(producer_aborted_overlaps(&a, 0, 10, &last));
    assert_true(producer_aborted_overlaps(&a, 20, 30, &last));
    assert_false(last);
    assert_false(producer_aborted_overlaps(&a, 21, 30, &last));
}

/* ---- files of Apache Kafka ---- */

#define DISK "tests/data/kafka-disk/"
static unsigned char *file(const char *dir, const char *name, size_t *n)
{
    char path[512];
    snprintf(path, sizeof path, "%s%s/%s", DISK, dir, name);
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    unsigned char *p = malloc(1 << 20);
    *n = fread(p, 1, 1 << 20, f);
    fclose(f);
    return p;
}

static int entry_order(const void *a, const void *b)
{
    return memcmp(a, b, 8);
}
/* Entries are in hash order in Kafka's file. */
static void assert_same_snapshot(struct producer_state *ps, const char *dir, const char *name)
{
    size_t n;
    unsigned char *p = file(dir, name, &n);
    struct buf out;
    assert_non_null(p);
    buf_init(&out, 1 << 20);
    assert_int_equal(producer_state_save(ps, &out), 0);
    assert_int_equal(out.n, n);
    qsort(out.p + 10, (n - 10) / 46, 46, entry_order);
    qsort(p + 10, (n - 10) / 46, 46, entry_order);
    assert_memory_equal(out.p + 6, p + 6, n - 6);
    buf_deinit(&out);
    free(p);
}

static struct producer_batch from_log(const unsigned char *p, struct batch_info *b)
{
    assert_int_equal(batch_header(slice_of(p, 1 << 20), b), 0);
    struct producer_batch r = {.producer_id = b->producer_id,
                               .base_offset = b->base_offset,
                               .timestamp = b->max_timestamp,
                               .last_delta = b->last_offset_delta,
                               .base_sequence = b->base_sequence,
                               .coordinator_epoch = -1,
                               .epoch = b->producer_epoch,
                               .transactional = batch_is_transactional(b),
                               .marker = batch_is_control(b)};
    if (r.marker) {
        int type;
        assert_int_equal(batch_control_read(slice_of(p, b->size), &type, &r.coordinator_epoch), 0);
        r.commit = type == CONTROL_COMMIT;
    }
    return r;
}

/* Replays the segment; live goes the way of a running broker instead. */
static void run_segment(struct producer_state *ps, const char *dir, const char *stem, bool live)
{
    char name[64];
    size_t n, n_index = 0, at = 0;
    struct aborts aborts = {0};
    snprintf(name, sizeof name, "%s.log", stem);
    unsigned char *p = file(dir, name, &n);
    assert_non_null(p);
    while (at < n) {
        struct batch_info info;
        struct producer_batch b = from_log(p + at, &info);
        at += info.size;
        if (b.producer_id < 0)
            continue;
        if (live) {
            stage(ps, b);
            producer_state_durable(ps, b.base_offset + b.last_delta + 1, abort_add, &aborts);
        } else {
            assert_int_equal(producer_state_replay(ps, &b, abort_add, &aborts), 0);
        }
    }
    free(p);
    snprintf(name, sizeof name, "%s.txnindex", stem);
    p = file(dir, name, &n_index);
    assert_int_equal(n_index, aborts.n * TXNINDEX_ENTRY);
    if (n_index)
        assert_memory_equal(p, aborts.v, n_index);
    free(p);
}

static void snapshots_and_aborted_entries_equal_kafkas(void **state)
{
    size_t n;
    unsigned char *probe = file("disk-0", "00000000000000000000.log", &n);
    if (!probe)
        skip();
    free(probe);
    for (int live = 0; live < 2; live++) {
        struct producer_state ps;
        producer_state_init(&ps, 0);
        run_segment(&ps, "disk-0", "00000000000000000000", live);
        assert_same_snapshot(&ps, "disk-0", "00000000000000000018.snapshot");
        run_segment(&ps, "disk-0", "00000000000000000018", live);
        assert_same_snapshot(&ps, "disk-0", "00000000000000000033.snapshot");
        assert_int_equal(producer_state_stable(&ps, 33, 0), 32);
        run_segment(&ps, "disk-0", "00000000000000000033", live);
        assert_same_snapshot(&ps, "disk-0", "00000000000000000034.snapshot");
        run_segment(&ps, "disk-0", "00000000000000000034", live);
        assert_same_snapshot(&ps, "disk-0", "00000000000000000035.snapshot");
        assert_int_equal(producer_state_stable(&ps, 35, 0), 35);
        producer_state_deinit(&ps);
        producer_state_init(&ps, 0);
        run_segment(&ps, "__consumer_offsets-0", "00000000000000000000", live);
        assert_same_snapshot(&ps, "__consumer_offsets-0", "00000000000000000021.snapshot");
        producer_state_deinit(&ps);
    }
}

static void replay_from_any_snapshot_equals_full_replay(void **state)
{
    size_t n;
    unsigned char *p = file("disk-0", "00000000000000000033.snapshot", &n);
    if (!p)
        skip();
    struct producer_state ps;
    producer_state_init(&ps, 0);
    assert_int_equal(producer_state_load(&ps, slice_of(p, n)), 0);
    free(p);
    assert_int_equal(producer_state_stable(&ps, 33, 0), 32);
    run_segment(&ps, "disk-0", "00000000000000000033", false);
    run_segment(&ps, "disk-0", "00000000000000000034", true);
    assert_same_snapshot(&ps, "disk-0", "00000000000000000035.snapshot");
    producer_state_deinit(&ps);
}

/* ---- random walk against a naive model: the whole history of batches, looked through each time
 * ---- */

enum { WALK = 3000, PIDS = 4 };
static struct producer_batch history[WALK];
static int n_history;

static int model_check(const struct producer_batch *b, int64_t log_end)
{
    int16_t epoch = -1;
    int64_t open = -1;
    int start = 0; /* first of the entry's own epoch */
    for (int i = 0; i < n_history; i++) {
        const struct producer_batch *h = &history[i];
        if (h->producer_id != b->producer_id)
            continue;
        if (h->epoch != epoch)
            start = i;
        epoch = h->epoch;
        if (h->marker)
            open = -1;
        else if (h->transactional && open < 0)
            open = h->base_offset;
    }
    const struct producer_batch *last = NULL;
    for (int i = n_history - 1, n = 0; i >= start && n < 5; i--) {
        const struct producer_batch *h = &history[i];
        if (h->producer_id != b->producer_id || h->marker)
            continue;
        last = last ? last : h;
        n++;
        if (b->epoch == epoch && h->base_sequence == b->base_sequence &&
            h->last_delta == b->last_delta &&
            (!b->transactional || (open >= 0 && h->base_offset >= open)))
            return DUPLICATE;
    }
    if (b->epoch < epoch)
        return 47;
    int64_t want = 0;
    if (epoch >= 0 && b->epoch == epoch && last)
        want = ((int64_t)last->base_sequence + last->last_delta + 1) % (INT64_C(1) << 31);
    if ((epoch >= 0 || log_end == 0) && b->base_sequence != want)
        return 45;
    return !b->transactional && open >= 0 ? 48 : 0;
}

static int64_t model_stable(int64_t end)
{
    int64_t stable = end;
    for (int64_t pid = 0; pid < PIDS; pid++) {
        int64_t open = -1;
        for (int i = 0; i < n_history; i++) {
            const struct producer_batch *h = &history[i];
            if (h->producer_id != pid || h->base_offset + h->last_delta >= end)
                continue;
            open = h->marker ? -1 : h->transactional && open < 0 ? h->base_offset : open;
        }
        stable = open >= 0 && open < stable ? open : stable;
    }
    return stable;
}

static uint64_t rng;
static uint32_t draw(uint32_t below)
{
    rng = rng * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((rng >> 33) % below);
}

static struct producer_batch draw_batch(int64_t end)
{
    if (n_history && draw(4) == 0) { /* one that was there before */
        struct producer_batch b = history[n_history - 1 - draw(n_history < 40 ? n_history : 40)];
        b.base_offset = end;
        b.last_delta = draw(8) ? b.last_delta : b.last_delta + 1;
        if (!b.marker)
            return b;
    }
    int64_t pid = draw(PIDS);
    struct producer_batch b =
        data(pid, 0, draw(3) ? 0 : (int32_t)draw(6), 1 + draw(3), end, draw(2));
    for (int i = n_history - 1; i >= 0; i--) {
        if (history[i].producer_id == pid && !history[i].marker) {
            b.epoch = history[i].epoch;
            b.base_sequence = sequence_add(history[i].base_sequence, history[i].last_delta + 1);
            b.transactional = draw(10) ? history[i].transactional : b.transactional;
            break;
        }
    }
    if (draw(12) == 0)
        b.base_sequence = INT32_MAX - (int32_t)draw(3);
    b.epoch = (int16_t)(draw(30) ? b.epoch : b.epoch + 1 - (int16_t)draw(3));
    b.epoch = b.epoch < 0 ? 0 : b.epoch;
    return b;
}

static void walk(uint64_t seed)
{
    struct producer_state ps;
    int64_t end = 0, durable = 0;
    producer_state_init(&ps, 0);
    rng = seed;
    n_history = 0;
    for (int i = 0; i < WALK; i++) {
        struct producer_batch b = draw_batch(end);
        int want = model_check(&b, end);
        assert_int_equal(check_as(&ps, b, PRODUCER_CLIENT, end, false), want);
        if (want == 0) {
            stage(&ps, b);
            history[n_history++] = b;
            end += b.last_delta + 1;
        }
        if (draw(15) == 0 && n_history) {
            struct producer_batch m = history[n_history - 1 - draw(n_history < 9 ? n_history : 9)];
            m = marker(m.producer_id, (int16_t)(m.epoch + (int16_t)draw(2)), end, draw(2), 1);
            if (check_as(&ps, m, PRODUCER_MARKER, end, false) == 0 && n_history < WALK) {
                stage(&ps, m);
                history[n_history++] = m;
                end++;
            }
        }
        if (draw(5) == 0) {
            durable += draw((uint32_t)(end - durable) + 1);
            producer_state_durable(&ps, durable, NULL, NULL);
            assert_int_equal(producer_state_stable(&ps, durable, 0), model_stable(durable));
        }
        if (n_history + 2 >= WALK)
            break;
    }
    /* What a restart makes of the log equals the live state. */
    struct producer_state back;
    struct buf a, b;
    buf_init(&a, 1 << 20);
    buf_init(&b, 1 << 20);
    producer_state_init(&back, 0);
    producer_state_durable(&ps, end, NULL, NULL);
    for (int i = 0; i < n_history; i++)
        assert_int_equal(producer_state_replay(&back, &history[i], NULL, NULL), 0);
    assert_int_equal(producer_state_save(&ps, &a), 0);
    assert_int_equal(producer_state_save(&back, &b), 0);
    assert_true(slice_eq(buf_slice(&a), buf_slice(&b)));
    assert_int_equal(producer_state_save_window(&ps, &a, 0), 0);
    assert_int_equal(producer_state_save_window(&back, &b, 0), 0);
    assert_true(slice_eq(buf_slice(&a), buf_slice(&b)));
    assert_int_equal(producer_state_load(&back, buf_slice(&a)), 0);
    buf_reset(&b);
    assert_int_equal(producer_state_save(&back, &b), 0);
    assert_int_equal(producer_state_save_window(&back, &b, 0), 0);
    assert_int_equal(a.n, b.n);
    for (int i = n_history - 1; i >= 0 && i > n_history - 60; i--)
        assert_int_equal(check_as(&back, history[i], PRODUCER_CLIENT, end, false),
                         model_check(&history[i], end));
    buf_deinit(&a);
    buf_deinit(&b);
    producer_state_deinit(&back);
    producer_state_deinit(&ps);
}

static void random_walks_agree_with_the_naive_model(void **state)
{
    for (uint64_t seed = 1; seed <= 10; seed++)
        walk(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eo_11_new_partition_takes_only_sequence_0),
        cmocka_unit_test(eo_12_five_batches_are_remembered),
        cmocka_unit_test(eo_13_duplicate_answers_with_the_original),
        cmocka_unit_test(eo_14_sequence_wraps_to_0),
        cmocka_unit_test(older_epoch_is_refused_and_newer_begins_at_0),
        cmocka_unit_test(marker_keeps_batches_of_its_epoch_and_clears_older),
        cmocka_unit_test(transactional_duplicate_only_while_its_transaction_is_open),
        cmocka_unit_test(plain_batch_in_an_open_transaction_is_refused),
        cmocka_unit_test(offsets_of_a_group_are_checked_by_epoch_alone),
        cmocka_unit_test(eo_30_marker_of_an_older_coordinator_is_refused),
        cmocka_unit_test(eo_33_65_marker_sent_again_is_admitted_without_effect),
        cmocka_unit_test(mutations_switch_protections_off),
        cmocka_unit_test(eo_04_stable_offset_moves_only_when_the_marker_is_durable),
        cmocka_unit_test(eo_08_snapshot_holds_durable_state_alone),
        cmocka_unit_test(snapshot_reads_the_documented_bytes),
        cmocka_unit_test(eo_10_replay_refuses_nothing),
        cmocka_unit_test(eo_18_expiry_spares_open_transactions_and_markers_refresh),
        cmocka_unit_test(eo_12_window_survives_a_snapshot),
        cmocka_unit_test(aborted_entries_overlap_ranges),
        cmocka_unit_test(snapshots_and_aborted_entries_equal_kafkas),
        cmocka_unit_test(replay_from_any_snapshot_equals_full_replay),
        cmocka_unit_test(random_walks_agree_with_the_naive_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

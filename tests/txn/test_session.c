/* tests/txn/test_session.c - the producer's half: what each answer means, and a walk of an
 * idempotent producer over a network that loses answers and a leader that fails, against what the
 * log must hold. */
#include "base/check.h"
#include "base/err.h"
#include "txn/session.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define NO_ANSWER false, KAFKA_NONE

static void assigned(struct session *s, int64_t pid, int16_t epoch)
{
    assert_int_equal(session_init_result(s, true, KAFKA_NONE, pid, epoch), SESSION_DONE);
    assert_int_equal(s->state, SESSION_IDLE);
}

static struct session_batch send_batch(struct session *s, struct session_partition *p, int32_t n)
{
    struct session_batch b;
    assert_true(session_batch_begin(s, p, n, &b));
    return b;
}

static enum session_verdict told(struct session *s, struct session_partition *p,
                                 struct session_batch b, enum kafka_error error)
{
    return session_produce_result(s, p, &b, true, error);
}
static enum session_verdict lost(struct session *s, struct session_partition *p,
                                 struct session_batch b)
{
    return session_produce_result(s, p, &b, NO_ANSWER);
}

/* A transaction of that version with p enrolled. */
static void begin(struct session *s, struct session_partition *p, int version)
{
    assert_int_equal(session_begin(s, version), 0);
    if (version >= 2) {
        assert_false(session_enrol_needed(s, p));
        return;
    }
    assert_true(session_enrol_needed(s, p));
    session_enrol_sent(s);
    assert_int_equal(session_enrol_result(s, p, true, KAFKA_NONE), SESSION_DONE);
    assert_false(session_enrol_needed(s, p));
}

static void start(struct session *s, struct session_partition *p, bool transactional)
{
    session_init(s, transactional);
    session_partition_init(p);
    assigned(s, 7, 3);
}

static void assert_init_asks(const struct session *s, int64_t want_pid, int16_t want_epoch)
{
    int64_t pid;
    int16_t epoch;
    session_init_request(s, &pid, &epoch);
    assert_int_equal(pid, want_pid);
    assert_int_equal(epoch, want_epoch);
}

static void commit_leads_back_to_idle(void **state)
{
    for (int version = 1; version <= 2; version++) {
        struct session s;
        struct session_partition p;
        start(&s, &p, true);
        begin(&s, &p, version);
        assert_int_equal(session_produce_version(&s), version == 2 ? 12 : 11);
        assert_int_equal(session_end_version(&s), version == 2 ? 5 : 4);
        struct session_batch b = send_batch(&s, &p, 10);
        assert_int_equal(b.base_sequence, 0);
        assert_int_equal(session_end_begin(&s, true), -ERR_STATE); /* not flushed (EO-47) */
        assert_int_equal(told(&s, &p, b, KAFKA_NONE), SESSION_DONE);
        session_offsets_sent(&s);
        assert_int_equal(session_offsets_result(&s, true, KAFKA_NONE), SESSION_DONE);
        assert_int_equal(session_end_begin(&s, true), 1);
        assert_int_equal(
            session_end_result(&s, true, KAFKA_NONE, version == 2 ? 7 : -1, version == 2 ? 4 : -1),
            SESSION_DONE);
        assert_int_equal(s.state, SESSION_IDLE);
        begin(&s, &p, version);
        b = send_batch(&s, &p, 1);
        /* Sequences begin anew with the epoch, and go on without one. */
        assert_int_equal(b.epoch, version == 2 ? 4 : 3);
        assert_int_equal(b.base_sequence, version == 2 ? 0 : 10);
    }
}

static void eo_49_empty_transaction_sends_no_end(void **state)
{
    struct session s;
    struct session_partition p;
    start(&s, &p, true);
    assert_int_equal(session_begin(&s, 1), 0);
    assert_int_equal(session_end_begin(&s, true), 0);
    assert_int_equal(s.state, SESSION_IDLE);
    assert_int_equal(session_begin(&s, 2), 0);
    session_fail(&s);
    assert_int_equal(session_end_begin(&s, true), -ERR_STATE);
    assert_int_equal(session_end_begin(&s, false), 0);
    assert_int_equal(s.state, SESSION_IDLE);
    /* An enrolment that was sent and failed may exist. */
    assert_int_equal(session_begin(&s, 1), 0);
    session_enrol_sent(&s);
    assert_int_equal(session_enrol_result(&s, &p, NO_ANSWER), SESSION_RETRY_COORDINATOR);
    session_fail(&s);
    assert_int_equal(session_end_begin(&s, false), 1);
    assert_int_equal(session_end_result(&s, true, KAFKA_INVALID_TXN_STATE, -1, -1), SESSION_DONE);
    assert_int_equal(s.state, SESSION_NONE);
    assert_init_asks(&s, 7, 3);
}

static void eo_19_version_1_takes_a_new_epoch_after_an_indefinite_outcome(void **state)
{
    struct session s;
    struct session_partition p;
    start(&s, &p, true);
    begin(&s, &p, 1);
    struct session_batch b = send_batch(&s, &p, 1);
    assert_int_equal(lost(&s, &p, b), SESSION_RETRY_METADATA);
    assert_int_equal(told(&s, &p, b, KAFKA_NONE), SESSION_DONE);
    assert_int_equal(session_end_begin(&s, true), 1);
    assert_int_equal(session_end_result(&s, true, KAFKA_NONE, -1, -1), SESSION_DONE);
    assert_int_equal(s.state, SESSION_NONE);
    assert_int_equal(session_begin(&s, 1), -ERR_STATE);
    assert_init_asks(&s, 7, 3);
    assigned(&s, 7, 4);
    /* An end that had to be asked twice is one, too. */
    begin(&s, &p, 1);
    assert_int_equal(told(&s, &p, send_batch(&s, &p, 1), KAFKA_NONE), SESSION_DONE);
    assert_int_equal(session_end_begin(&s, true), 1);
    assert_int_equal(session_end_result(&s, NO_ANSWER, -1, -1), SESSION_RETRY_COORDINATOR);
    assert_int_equal(session_end_result(&s, true, KAFKA_NONE, -1, -1), SESSION_DONE);
    assert_int_equal(s.state, SESSION_NONE);
    assigned(&s, 7, 5);
    /* Under version 2 the end itself brings the epoch. */
    begin(&s, &p, 2);
    b = send_batch(&s, &p, 1);
    assert_int_equal(lost(&s, &p, b), SESSION_RETRY_METADATA);
    assert_int_equal(told(&s, &p, b, KAFKA_NONE), SESSION_DONE);
    assert_int_equal(session_end_begin(&s, true), 1);
    assert_int_equal(session_end_result(&s, NO_ANSWER, -1, -1), SESSION_RETRY_COORDINATOR);
    assert_int_equal(session_end_result(&s, true, KAFKA_NONE, 7, 6), SESSION_DONE);
    assert_int_equal(s.state, SESSION_IDLE);
    assert_int_equal(s.epoch, 6);
}

/* A late copy of an enrolment would let a late Produce into the next transaction, one of offsets
 * would take them back. */
static void eo_19_version_1_counts_enrolments_and_offsets_without_answer_too(void **state)
{
    for (int what = 0; what < 4; what++) {
        struct session s;
        struct session_partition p;
        start(&s, &p, true);
        assert_int_equal(session_begin(&s, 1), 0);
        session_enrol_sent(&s);
        if (what == 0)
            assert_int_equal(session_enrol_result(&s, &p, NO_ANSWER), SESSION_RETRY_COORDINATOR);
        if (what == 1)
            assert_int_equal(session_enrol_result(&s, &p, true, KAFKA_REQUEST_TIMED_OUT),
                             SESSION_RETRY);
        assert_int_equal(session_enrol_result(&s, &p, true, KAFKA_NONE), SESSION_DONE);
        session_offsets_sent(&s);
        if (what == 2)
            assert_int_equal(session_offsets_result(&s, NO_ANSWER), SESSION_RETRY_COORDINATOR);
        assert_int_equal(session_offsets_result(&s, true, KAFKA_NONE), SESSION_DONE);
        assert_int_equal(session_end_begin(&s, true), 1);
        assert_int_equal(session_end_result(&s, true, KAFKA_NONE, -1, -1), SESSION_DONE);
        assert_int_equal(s.state, what < 3 ? SESSION_NONE : SESSION_IDLE);
    }
}

static void eo_46_unknown_commit_is_asked_again_and_never_guessed(void **state)
{
    static const struct {
        enum kafka_error error;
        enum session_verdict verdict;
        enum session_state state;
    } cases[] = {
        {KAFKA_CONCURRENT_TRANSACTIONS, SESSION_RETRY, SESSION_ENDING},
        {KAFKA_COORDINATOR_LOAD_IN_PROGRESS, SESSION_RETRY, SESSION_ENDING},
        {KAFKA_COORDINATOR_NOT_AVAILABLE, SESSION_RETRY_COORDINATOR, SESSION_ENDING},
        {KAFKA_NOT_COORDINATOR, SESSION_RETRY_COORDINATOR, SESSION_ENDING},
        {KAFKA_REQUEST_TIMED_OUT, SESSION_RETRY, SESSION_ENDING},
        {KAFKA_INVALID_TXN_STATE, SESSION_ABORT, SESSION_ABORT_NEEDED},
        {KAFKA_TRANSACTION_ABORTABLE, SESSION_ABORT, SESSION_ABORT_NEEDED},
        {KAFKA_PRODUCER_FENCED, SESSION_OUTCOME_UNKNOWN, SESSION_UNKNOWN},
        {KAFKA_INVALID_PRODUCER_EPOCH, SESSION_OUTCOME_UNKNOWN, SESSION_UNKNOWN},
        {KAFKA_INVALID_PRODUCER_ID_MAPPING, SESSION_OUTCOME_UNKNOWN, SESSION_UNKNOWN},
        {KAFKA_UNKNOWN_SERVER_ERROR, SESSION_OUTCOME_UNKNOWN, SESSION_UNKNOWN},
        {KAFKA_TRANSACTIONAL_ID_AUTHORIZATION_FAILED, SESSION_BROKEN, SESSION_FATAL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct session s;
        struct session_partition p;
        start(&s, &p, true);
        begin(&s, &p, 1);
        assert_int_equal(told(&s, &p, send_batch(&s, &p, 1), KAFKA_NONE), SESSION_DONE);
        assert_int_equal(session_end_begin(&s, true), 1);
        assert_int_equal(session_end_result(&s, true, cases[i].error, -1, -1), cases[i].verdict);
        assert_int_equal(s.state, cases[i].state);
        if (s.state == SESSION_UNKNOWN) {
            assert_init_asks(&s, -1, -1);
            assigned(&s, 7, 9);
        }
    }
}

static void commit_given_up_is_unknown_and_abort_is_not_committed(void **state)
{
    struct session s;
    struct session_partition p;
    start(&s, &p, true);
    begin(&s, &p, 2);
    assert_int_equal(told(&s, &p, send_batch(&s, &p, 1), KAFKA_NONE), SESSION_DONE);
    assert_int_equal(session_end_begin(&s, true), 1);
    assert_int_equal(session_end_result(&s, NO_ANSWER, -1, -1), SESSION_RETRY_COORDINATOR);
    assert_int_equal(session_end_give_up(&s), SESSION_OUTCOME_UNKNOWN);
    assigned(&s, 7, 9);
    begin(&s, &p, 2);
    send_batch(&s, &p, 1);
    assert_int_equal(session_end_begin(&s, false), 1);
    assert_int_equal(session_end_result(&s, true, KAFKA_PRODUCER_FENCED, -1, -1), SESSION_REINIT);
    assert_int_equal(s.state, SESSION_NONE);
    assert_init_asks(&s, -1, -1);
}

static void answers_of_the_coordinator_mean_what_they_should(void **state)
{
    static const struct {
        enum kafka_error error;
        enum session_verdict verdict;
    } cases[] = {
        {KAFKA_NONE, SESSION_DONE},
        {KAFKA_CONCURRENT_TRANSACTIONS, SESSION_RETRY},
        {KAFKA_COORDINATOR_LOAD_IN_PROGRESS, SESSION_RETRY},
        {KAFKA_UNKNOWN_TOPIC_OR_PARTITION, SESSION_RETRY},
        {KAFKA_NOT_COORDINATOR, SESSION_RETRY_COORDINATOR},
        {KAFKA_COORDINATOR_NOT_AVAILABLE, SESSION_RETRY_COORDINATOR},
        {KAFKA_PRODUCER_FENCED, SESSION_REINIT},
        {KAFKA_INVALID_PRODUCER_EPOCH, SESSION_REINIT},
        {KAFKA_INVALID_PRODUCER_ID_MAPPING, SESSION_REINIT},
        {KAFKA_ILLEGAL_GENERATION, SESSION_ABORT},
        {KAFKA_UNKNOWN_MEMBER_ID, SESSION_ABORT},
        {KAFKA_FENCED_INSTANCE_ID, SESSION_ABORT},
        {KAFKA_STALE_MEMBER_EPOCH, SESSION_ABORT},
        {KAFKA_OPERATION_NOT_ATTEMPTED, SESSION_ABORT},
        {KAFKA_TRANSACTION_ABORTABLE, SESSION_ABORT},
        {KAFKA_INVALID_TXN_STATE, SESSION_ABORT},
        {KAFKA_OFFSET_METADATA_TOO_LARGE, SESSION_ABORT},
        {KAFKA_TRANSACTIONAL_ID_AUTHORIZATION_FAILED, SESSION_BROKEN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct session s;
        struct session_partition p;
        start(&s, &p, true);
        begin(&s, &p, 1);
        session_offsets_sent(&s);
        assert_int_equal(session_offsets_result(&s, true, cases[i].error), cases[i].verdict);
        start(&s, &p, true);
        assert_int_equal(session_begin(&s, 1), 0);
        session_enrol_sent(&s);
        assert_int_equal(session_enrol_result(&s, &p, true, cases[i].error), cases[i].verdict);
        assert_int_equal(p.enrolled == s.txn, cases[i].error == KAFKA_NONE);
    }
}

static void eo_48_batch_refused_in_a_transaction_leads_to_abort_and_a_new_epoch(void **state)
{
    static const enum kafka_error codes[] = {KAFKA_OUT_OF_ORDER_SEQUENCE_NUMBER,
                                             KAFKA_UNKNOWN_PRODUCER_ID,
                                             KAFKA_INVALID_PRODUCER_EPOCH,
                                             KAFKA_INVALID_TXN_STATE,
                                             KAFKA_TRANSACTION_ABORTABLE,
                                             KAFKA_MESSAGE_TOO_LARGE,
                                             KAFKA_INVALID_RECORD};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        struct session s;
        struct session_partition p;
        struct session_batch b;
        start(&s, &p, true);
        begin(&s, &p, 1);
        b = send_batch(&s, &p, 1);
        assert_int_equal(told(&s, &p, b, codes[i]), SESSION_ABORT);
        assert_int_equal(s.state, SESSION_ABORT_NEEDED);
        assert_false(session_batch_begin(&s, &p, 1, &b));
        assert_int_equal(session_end_begin(&s, true), -ERR_STATE);
        assert_int_equal(session_end_begin(&s, false), 1);
        assert_int_equal(session_end_result(&s, true, KAFKA_NONE, -1, -1), SESSION_DONE);
        assert_int_equal(s.state, SESSION_NONE);
        assert_init_asks(&s, 7, 3);
        assigned(&s, 7, 4);
        begin(&s, &p, 1);
        b = send_batch(&s, &p, 1);
        assert_int_equal(b.base_sequence, 0);
        assert_int_equal(b.epoch, 4);
    }
}

static void late_answers_of_an_old_transaction_are_stale(void **state)
{
    struct session s;
    struct session_partition p;
    start(&s, &p, true);
    begin(&s, &p, 2);
    struct session_batch b = send_batch(&s, &p, 1);
    session_fail(&s);
    assert_int_equal(session_end_begin(&s, false), 1);
    assert_int_equal(told(&s, &p, b, KAFKA_INVALID_TXN_STATE), SESSION_STALE);
    assert_int_equal(session_end_result(&s, true, KAFKA_NONE, 7, 4), SESSION_DONE);
    assert_int_equal(told(&s, &p, b, KAFKA_PRODUCER_FENCED), SESSION_STALE);
    assert_int_equal(s.state, SESSION_IDLE);
    begin(&s, &p, 2);
    struct session_batch c = send_batch(&s, &p, 1);
    assert_int_equal(told(&s, &p, b, KAFKA_PRODUCER_FENCED), SESSION_STALE);
    assert_int_equal(told(&s, &p, c, KAFKA_NONE), SESSION_DONE);
    assert_int_equal(s.in_flight, 0);
}

static void fenced_while_sending_leads_to_init_without_the_old_id(void **state)
{
    struct session s;
    struct session_partition p;
    start(&s, &p, true);
    begin(&s, &p, 1);
    assert_int_equal(told(&s, &p, send_batch(&s, &p, 1), KAFKA_PRODUCER_FENCED), SESSION_REINIT);
    assert_int_equal(s.state, SESSION_NONE);
    assert_init_asks(&s, -1, -1);
    assert_int_equal(session_init_result(&s, true, KAFKA_CONCURRENT_TRANSACTIONS, -1, -1),
                     SESSION_RETRY);
    assert_int_equal(session_init_result(&s, NO_ANSWER, -1, -1), SESSION_RETRY_COORDINATOR);
    assigned(&s, 7, 9);
}

static void eo_26_init_with_the_old_epoch_may_be_refused(void **state)
{
    struct session s;
    struct session_partition p;
    start(&s, &p, true);
    s.state = SESSION_NONE;
    assert_init_asks(&s, 7, 3);
    assert_int_equal(session_init_result(&s, true, KAFKA_PRODUCER_FENCED, -1, -1), SESSION_REINIT);
    assert_init_asks(&s, -1, -1);
    assert_int_equal(session_init_result(&s, true, KAFKA_INVALID_TRANSACTION_TIMEOUT, -1, -1),
                     SESSION_BROKEN);
    assert_int_equal(s.state, SESSION_FATAL);
}

static void five_in_flight_and_the_first_alone(void **state)
{
    struct session s;
    struct session_partition p;
    struct session_batch b, c;
    start(&s, &p, false);
    b = send_batch(&s, &p, 3);
    assert_false(
        session_batch_begin(&s, &p, 1, &c)); /* EO-11: nothing is known of this epoch yet */
    assert_int_equal(told(&s, &p, b, KAFKA_NONE), SESSION_DONE);
    for (int i = 0; i < SESSION_IN_FLIGHT_MAX; i++) {
        b = send_batch(&s, &p, 2);
        assert_int_equal(b.base_sequence, 3 + 2 * i);
    }
    assert_false(session_batch_begin(&s, &p, 1, &c));
    assert_int_equal(s.in_flight, 5);
}

static void eo_14_sequences_wrap(void **state)
{
    struct session s;
    struct session_partition p;
    start(&s, &p, false);
    assert_int_equal(told(&s, &p, send_batch(&s, &p, 1), KAFKA_NONE), SESSION_DONE);
    p.next_sequence = INT32_MAX - 1;
    struct session_batch b = send_batch(&s, &p, 5);
    assert_int_equal(b.base_sequence, INT32_MAX - 1);
    b = send_batch(&s, &p, 1);
    assert_int_equal(b.base_sequence, 3);
}

static void eo_15_out_of_sequence_waits_for_what_is_before(void **state)
{
    struct session s;
    struct session_partition p5, p12;
    struct session_batch a, b, x, y;
    start(&s, &p5, false);
    session_partition_init(&p12);
    assert_int_equal(told(&s, &p5, send_batch(&s, &p5, 1), KAFKA_NONE), SESSION_DONE);
    assert_int_equal(told(&s, &p12, send_batch(&s, &p12, 1), KAFKA_NONE), SESSION_DONE);
    a = send_batch(&s, &p5, 1);
    b = send_batch(&s, &p5, 1);
    x = send_batch(&s, &p12, 1);
    assert_int_equal(lost(&s, &p12, x), SESSION_RETRY_METADATA);
    assert_int_equal(told(&s, &p5, a, KAFKA_NOT_ENOUGH_REPLICAS), SESSION_RETRY);
    assert_int_equal(told(&s, &p5, b, KAFKA_OUT_OF_ORDER_SEQUENCE_NUMBER), SESSION_RETRY);
    /* As the oldest it was not written: both go again under a new epoch, in order. */
    assert_int_equal(told(&s, &p5, a, KAFKA_OUT_OF_ORDER_SEQUENCE_NUMBER), SESSION_REWRITE);
    assert_false(session_batch_begin(&s, &p5, 1, &y));
    assert_int_equal(told(&s, &p5, b, KAFKA_OUT_OF_ORDER_SEQUENCE_NUMBER), SESSION_REWRITE);
    a = send_batch(&s, &p5, 1);
    assert_int_equal(a.epoch, 4);
    assert_int_equal(a.base_sequence, 0);
    /* The other partition's undecided batch keeps its numbers; new ones wait until it is
     * decided. */
    assert_false(session_batch_begin(&s, &p12, 1, &y));
    assert_int_equal(told(&s, &p12, x, KAFKA_NONE), SESSION_DONE);
    y = send_batch(&s, &p12, 1);
    assert_int_equal(y.epoch, 4);
    assert_int_equal(y.base_sequence, 0);
}

static void eo_17_undecided_batch_out_of_sequence_is_reported_unknown(void **state)
{
    struct session s;
    struct session_partition p;
    struct session_batch a;
    start(&s, &p, false);
    a = send_batch(&s, &p, 1);
    assert_int_equal(lost(&s, &p, a), SESSION_RETRY_METADATA);
    assert_int_equal(told(&s, &p, a, KAFKA_OUT_OF_ORDER_SEQUENCE_NUMBER), SESSION_FAIL_UNKNOWN);
    a = send_batch(&s, &p, 1);
    assert_int_equal(a.epoch, 4);
    assert_int_equal(session_batch_expired(&s, &p, &a), SESSION_FAIL_UNKNOWN);
    a = send_batch(&s, &p, 1);
    assert_int_equal(a.epoch, 5);
    assert_int_equal(told(&s, &p, a, KAFKA_DUPLICATE_SEQUENCE_NUMBER), SESSION_DONE);
    assert_int_equal(session_batch_expired(&s, &p, &a), SESSION_STALE);
}

static void idempotent_producer_at_the_last_epoch_takes_a_new_id(void **state)
{
    struct session s;
    struct session_partition p;
    struct session_batch a;
    session_init(&s, false);
    session_partition_init(&p);
    assigned(&s, 7, 32767);
    a = send_batch(&s, &p, 1);
    assert_int_equal(told(&s, &p, a, KAFKA_MESSAGE_TOO_LARGE), SESSION_FAIL);
    assert_false(session_batch_begin(&s, &p, 1, &a));
    assert_int_equal(s.state, SESSION_NONE);
    assert_init_asks(&s, -1, -1);
    assigned(&s, 8, 0);
    a = send_batch(&s, &p, 1);
    assert_int_equal(a.producer_id, 8);
    assert_int_equal(a.base_sequence, 0);
}

/* ---- a walk: an idempotent producer, one partition, Kafka's rules at the leader ---- */

static uint64_t rng;
static uint32_t draw(uint32_t below)
{
    rng = rng * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((rng >> 33) % below);
}

enum { RECORDS = 400, NET = 64 };
struct sent {
    struct session_batch b;
    int first; /* record number */
    bool answer_ready;
    enum kafka_error error;
};
static struct leader {
    int64_t pid;
    int epoch, n_recent;
    int64_t next;
    struct session_batch recent[5];
    int log[8 * RECORDS], n_log; /* record numbers */
} leader;

static enum kafka_error leader_append(const struct session_batch *b, int first)
{
    struct leader *l = &leader;
    if (draw(10) == 0)
        return KAFKA_NOT_ENOUGH_REPLICAS;
    if (draw(60) == 0)
        return KAFKA_MESSAGE_TOO_LARGE;
    bool same = l->epoch == b->epoch;
    for (int i = 0; same && i < l->n_recent; i++) {
        if (l->recent[i].base_sequence == b->base_sequence && l->recent[i].count == b->count)
            return KAFKA_NONE;
    }
    if (b->epoch < l->epoch)
        return KAFKA_INVALID_PRODUCER_EPOCH;
    if (b->base_sequence != (same ? l->next : 0))
        return KAFKA_OUT_OF_ORDER_SEQUENCE_NUMBER;
    if (!same)
        l->n_recent = 0;
    l->epoch = b->epoch;
    l->next = b->base_sequence + b->count;
    if (l->n_recent == 5)
        memmove(l->recent, l->recent + 1, sizeof *l->recent * (size_t)--l->n_recent);
    l->recent[l->n_recent++] = *b;
    for (int i = 0; i < b->count; i++)
        l->log[l->n_log++] = first + i;
    return KAFKA_NONE;
}

/* What the producer holds: batches not stamped, in order of their records, and those sent. */
static struct producer {
    struct session s;
    struct session_partition p;
    struct {
        int first, count;
    } queue[RECORDS];
    struct sent flight[NET];
    int n_queue, n_flight;
    int fate[RECORDS]; /* 1 acked, 2 failed, 3 unknown */
} prod;

static void put_back(const struct sent *f)
{
    int k = 0;
    while (k < prod.n_queue && prod.queue[k].first < f->first)
        k++;
    memmove(prod.queue + k + 1, prod.queue + k, sizeof *prod.queue * (size_t)(prod.n_queue - k));
    prod.queue[k].first = f->first;
    prod.queue[k].count = f->b.count;
    prod.n_queue++;
}

/* The answer to f arrives or is lost; true: f is done with. */
static bool answered(struct sent *f)
{
    f->answer_ready = false;
    enum session_verdict v = draw(6) ? told(&prod.s, &prod.p, f->b, f->error)
                                     : lost(&prod.s, &prod.p, f->b);
    assert_int_not_equal(v, SESSION_STALE);
    if (v == SESSION_RETRY || v == SESSION_RETRY_METADATA)
        return false;
    if (v == SESSION_REWRITE) {
        put_back(f);
        return true;
    }
    for (int k = 0; k < f->b.count; k++)
        prod.fate[f->first + k] = v == SESSION_DONE ? 1 : v == SESSION_FAIL ? 2 : 3;
    return true;
}

/* The connection delivers in order; what is not delivered is sent again in order. */
static void deliver(void)
{
    for (int i = 0; i < prod.n_flight; i++) {
        struct sent *f = &prod.flight[i];
        if (f->answer_ready || draw(3) == 0)
            continue;
        f->error = leader_append(&f->b, f->first);
        f->answer_ready = true;
    }
    for (int i = 0; i < prod.n_flight && prod.flight[i].answer_ready; i++) {
        struct sent *f = &prod.flight[i];
        if (!answered(f))
            continue;
        memmove(f, f + 1, sizeof *f * (size_t)(--prod.n_flight - i));
        i--;
    }
}

static void send_one(void)
{
    struct session_batch b;
    if (!prod.n_queue || prod.n_flight == NET || draw(2) ||
        !session_batch_begin(&prod.s, &prod.p, prod.queue[0].count, &b))
        return;
    prod.flight[prod.n_flight++] = (struct sent){.b = b, .first = prod.queue[0].first};
    memmove(prod.queue, prod.queue + 1, sizeof *prod.queue * (size_t)--prod.n_queue);
}

/* I1, I2, I5, I14: acked once, failed never, each in order. */
static void judge(void)
{
    int seen[RECORDS] = {0}, last = -1;
    for (int i = 0; i < leader.n_log; i++) {
        seen[leader.log[i]]++;
        assert_true(leader.log[i] > last);
        last = leader.log[i];
    }
    for (int i = 0; i < RECORDS; i++) {
        assert_true(prod.fate[i] != 0);
        if (prod.fate[i] == 1)
            assert_int_equal(seen[i], 1);
        if (prod.fate[i] == 2)
            assert_int_equal(seen[i], 0);
        assert_true(seen[i] <= 1);
    }
}

static void walk(uint64_t seed)
{
    rng = seed;
    memset(&leader, 0, sizeof leader);
    memset(&prod, 0, sizeof prod);
    leader.epoch = -1;
    start(&prod.s, &prod.p, false);
    for (int at = 0; at < RECORDS;) {
        int n = 1 + (int)draw(3);
        n = n > RECORDS - at ? RECORDS - at : n;
        prod.queue[prod.n_queue].first = at;
        prod.queue[prod.n_queue++].count = n;
        at += n;
    }
    for (int step = 0; step < 100000 && prod.n_queue + prod.n_flight; step++) {
        send_one();
        deliver();
    }
    assert_int_equal(prod.n_queue + prod.n_flight, 0);
    judge();
}

static void random_walks_lose_and_double_nothing(void **state)
{
    for (uint64_t seed = 1; seed <= 200; seed++)
        walk(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commit_leads_back_to_idle),
        cmocka_unit_test(eo_49_empty_transaction_sends_no_end),
        cmocka_unit_test(eo_19_version_1_takes_a_new_epoch_after_an_indefinite_outcome),
        cmocka_unit_test(eo_19_version_1_counts_enrolments_and_offsets_without_answer_too),
        cmocka_unit_test(eo_46_unknown_commit_is_asked_again_and_never_guessed),
        cmocka_unit_test(commit_given_up_is_unknown_and_abort_is_not_committed),
        cmocka_unit_test(answers_of_the_coordinator_mean_what_they_should),
        cmocka_unit_test(eo_48_batch_refused_in_a_transaction_leads_to_abort_and_a_new_epoch),
        cmocka_unit_test(late_answers_of_an_old_transaction_are_stale),
        cmocka_unit_test(fenced_while_sending_leads_to_init_without_the_old_id),
        cmocka_unit_test(eo_26_init_with_the_old_epoch_may_be_refused),
        cmocka_unit_test(five_in_flight_and_the_first_alone),
        cmocka_unit_test(eo_14_sequences_wrap),
        cmocka_unit_test(eo_15_out_of_sequence_waits_for_what_is_before),
        cmocka_unit_test(eo_17_undecided_batch_out_of_sequence_is_reported_unknown),
        cmocka_unit_test(idempotent_producer_at_the_last_epoch_takes_a_new_id),
        cmocka_unit_test(random_walks_lose_and_double_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* tests/broker/group/test_offsets.c - committed and staged offsets against what the log says. */
#include "base/check.h"
#include "broker/group/offsets.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static struct offset_key key(const char *group, const char *topic, int32_t partition)
{
    return (struct offset_key){slice_str(group), slice_str(topic), partition};
}

static void put(struct offsets *o, int64_t pid, struct offset_key k, int64_t offset, int64_t at)
{
    struct offset_value v = {.offset = offset,
                             .leader_epoch = 3,
                             .metadata = slice_str("meta"),
                             .commit_ms = 1000 + at,
                             .expire_ms = -1,
                             .record_offset = at};
    assert_int_equal(offsets_put(o, pid, &k, &v), 0);
}

static int64_t get(const struct offsets *o, struct offset_key k)
{
    const struct offset_value *v = offsets_get(o, &k);
    return v ? v->offset : -1;
}

static void plain_commits_replace_each_other(void **state)
{
    struct offsets o;
    offsets_init(&o);
    struct offset_key a = key("g", "t", 0), b = key("g", "t", 1), c = key("h", "t", 0);
    put(&o, -1, a, 10, 0);
    put(&o, -1, a, 5, 1); /* backwards is legal */
    put(&o, -1, b, 7, 2);
    assert_int_equal(get(&o, a), 5);
    assert_int_equal(get(&o, b), 7);
    assert_int_equal(get(&o, c), -1);
    assert_true(slice_eq_str(offsets_get(&o, &a)->metadata, "meta"));
    offsets_deinit(&o);
}

static void eo37_staged_offset_is_unstable_until_its_marker(void **state)
{
    for (int commit = 0; commit < 2; commit++) {
        struct offsets o;
        offsets_init(&o);
        struct offset_key k = key("g", "t", 0), other = key("g", "t", 1);
        put(&o, -1, k, 10, 0);
        put(&o, 77, k, 20, 1);
        assert_int_equal(get(&o, k), 10);
        assert_true(offsets_unstable(&o, &k));
        assert_false(offsets_unstable(&o, &other));
        offsets_marker(&o, 78, true); /* another's */
        assert_true(offsets_unstable(&o, &k));
        offsets_marker(&o, 77, commit);
        assert_false(offsets_unstable(&o, &k));
        assert_int_equal(get(&o, k), commit ? 20 : 10);
        assert_int_equal(offsets_pending_producers(&o), 0);
        offsets_deinit(&o);
    }
}

static void eo39_highest_record_offset_wins(void **state)
{
    static const struct {
        int64_t staged_at, plain_at, expect;
    } table[] = {{1, 2, 20}, {2, 1, 10}};
    for (size_t i = 0; i < 2; i++) {
        struct offsets o;
        offsets_init(&o);
        struct offset_key k = key("g", "t", 0);
        for (int64_t at = 1; at <= 2; at++) {
            if (at == table[i].staged_at)
                put(&o, 77, k, 10, at);
            else
                put(&o, -1, k, 20, at);
        }
        offsets_marker(&o, 77, true);
        assert_int_equal(get(&o, k), table[i].expect);
        offsets_deinit(&o);
    }
}

static void two_transactions_apply_by_their_records_not_by_their_markers(void **state)
{
    struct offsets o;
    offsets_init(&o);
    struct offset_key k = key("g", "t", 0);
    put(&o, 1, k, 100, 0);
    put(&o, 2, k, 200, 1);
    offsets_marker(&o, 2, true);
    assert_int_equal(get(&o, k), 200);
    assert_true(offsets_unstable(&o, &k));
    offsets_marker(&o, 1, true);
    assert_int_equal(get(&o, k), 200);
    assert_false(offsets_unstable(&o, &k));
    offsets_deinit(&o);
}

static void later_offset_of_a_transaction_replaces_its_earlier_one(void **state)
{
    struct offsets o;
    offsets_init(&o);
    struct offset_key k = key("g", "t", 0);
    put(&o, 1, k, 100, 0);
    put(&o, 1, k, 101, 1);
    offsets_marker(&o, 1, true);
    assert_int_equal(get(&o, k), 101);
    offsets_deinit(&o);
}

static void tombstone_takes_committed_and_staged_away(void **state)
{
    struct offsets o;
    offsets_init(&o);
    struct offset_key k = key("g", "t", 0), other = key("g", "t", 1);
    put(&o, -1, k, 10, 0);
    put(&o, 1, k, 20, 1);
    put(&o, 1, other, 30, 2);
    offsets_remove(&o, &k);
    assert_int_equal(get(&o, k), -1);
    assert_false(offsets_unstable(&o, &k));
    offsets_marker(&o, 1, true);
    assert_int_equal(get(&o, k), -1);
    assert_int_equal(get(&o, other), 30);
    offsets_remove(&o, &other);
    assert_false(offsets_has_group(&o, slice_str("g")));
    offsets_remove(&o, &other); /* nothing there: nothing happens */
    offsets_deinit(&o);
}

static void group_with_staged_offsets_alone_is_there(void **state)
{
    struct offsets o;
    offsets_init(&o);
    struct offset_key k = key("g", "t", 0);
    put(&o, 1, k, 20, 1);
    assert_true(offsets_has_group(&o, slice_str("g")));
    offsets_marker(&o, 1, false);
    assert_false(offsets_has_group(&o, slice_str("g")));
    offsets_deinit(&o);
}

static bool keeps_kept(void *user, struct slice topic)
{
    return slice_eq_str(topic, "kept");
}

static void eo40_expiry_spares_what_is_staged_or_subscribed(void **state)
{
    static const struct {
        const char *topic;
        int64_t commit_ms, expire_ms, since_ms;
        bool staged, expired;
    } table[] = {
        {"t", 1000, -1, -1, false, true},     /* simple: counts from the commit */
        {"t", 1001, -1, -1, false, false},    /* not yet */
        {"t", 1000, -1, 1001, false, false},  /* counts from when the group became empty */
        {"t", 1000, -1, 500, false, true},    /* but not from before the commit */
        {"t", 1000, -1, -1, true, false},     /* a transaction still holds one */
        {"kept", 1000, -1, -1, false, false}, /* subscribed */
        {"t", 1000, 11001, -1, false, false}, /* the client's own time */
        {"t", 10000, 11000, -1, false, true}, {"t", 10000, 11000, -1, true, false},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct offsets_expiry x = {.now_ms = 11000,
                                   .retention_ms = 10000,
                                   .since_ms = table[i].since_ms,
                                   .subscribed = keeps_kept};
        struct offset_key k = key("g", table[i].topic, 0);
        struct offset_value v = {.commit_ms = table[i].commit_ms, .expire_ms = table[i].expire_ms};
        assert_int_equal(offsets_expired(&x, &k, &v, table[i].staged), table[i].expired);
        assert_false(offsets_expired(&x, &k, NULL, true));
    }
}

/* ---- a random walk ---- */

enum { KEYS = 3, PRODUCERS = 3, LOG = 60 };
enum kind { PLAIN, STAGED, TOMBSTONE, COMMIT, ABORT };
struct entry {
    enum kind kind;
    int key;
    int64_t producer, offset;
};

/* What became of the staged record at `i` by the end of the log: -1 dropped, 0 open, 1 applied. */
static int fate(const struct entry *log, int n, int i)
{
    for (int j = i + 1; j < n; j++) {
        if (log[j].kind == TOMBSTONE && log[j].key == log[i].key)
            return -1;
        if ((log[j].kind == COMMIT || log[j].kind == ABORT) && log[j].producer == log[i].producer)
            return log[j].kind == COMMIT ? 1 : -1;
    }
    return 0;
}

/* The naive model: the last record of the key that counts is the committed one. */
static int64_t model_get(const struct entry *log, int n, int k, bool *unstable)
{
    int64_t committed = -1;
    *unstable = false;
    for (int i = 0; i < n; i++) {
        if (log[i].key != k)
            continue;
        if (log[i].kind == TOMBSTONE)
            committed = -1;
        else if (log[i].kind == PLAIN || (log[i].kind == STAGED && fate(log, n, i) > 0))
            committed = log[i].offset;
        if (log[i].kind == STAGED && fate(log, n, i) == 0)
            *unstable = true;
    }
    return committed;
}

static uint64_t roll(uint64_t *seed, uint64_t below)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed % below;
}

static void apply(struct offsets *o, const struct entry *e, int64_t at)
{
    struct offset_key k = key(e->key == 2 ? "h" : "g", "t", e->key);
    switch (e->kind) {
    case PLAIN: put(o, -1, k, e->offset, at); break;
    case STAGED: put(o, e->producer, k, e->offset, at); break;
    case TOMBSTONE: offsets_remove(o, &k); break;
    case COMMIT: offsets_marker(o, e->producer, true); break;
    case ABORT: offsets_marker(o, e->producer, false); break;
    }
}

static void random_logs_give_what_the_model_gives(void **state)
{
    for (uint64_t run = 1; run <= 400; run++) {
        struct entry log[LOG];
        struct offsets o;
        uint64_t seed = run * 0x9e3779b97f4a7c15u;
        offsets_init(&o);
        for (int n = 0; n < LOG; n++) {
            log[n] = (struct entry){.kind = (enum kind)roll(&seed, 5),
                                    .key = (int)roll(&seed, KEYS),
                                    .producer = 5 + (int64_t)roll(&seed, PRODUCERS),
                                    .offset = (int64_t)roll(&seed, 1000)};
            if (log[n].kind >= COMMIT)
                log[n].key = -1;
            apply(&o, &log[n], n);
            for (int k = 0; k < KEYS; k++) {
                bool unstable;
                struct offset_key ok = key(k == 2 ? "h" : "g", "t", k);
                int64_t expect = model_get(log, n + 1, k, &unstable);
                assert_int_equal(get(&o, ok), expect);
                assert_int_equal(offsets_unstable(&o, &ok), unstable);
            }
        }
        offsets_deinit(&o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_commits_replace_each_other),
        cmocka_unit_test(eo37_staged_offset_is_unstable_until_its_marker),
        cmocka_unit_test(eo39_highest_record_offset_wins),
        cmocka_unit_test(two_transactions_apply_by_their_records_not_by_their_markers),
        cmocka_unit_test(later_offset_of_a_transaction_replaces_its_earlier_one),
        cmocka_unit_test(tombstone_takes_committed_and_staged_away),
        cmocka_unit_test(group_with_staged_offsets_alone_is_there),
        cmocka_unit_test(eo40_expiry_spares_what_is_staged_or_subscribed),
        cmocka_unit_test(random_logs_give_what_the_model_gives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

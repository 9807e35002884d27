/* tests/broker/group/test_group.c - one group, event by event. */
#include "tests/broker/group/support_group.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#define assert_parked(r, t) assert_null(rig_reply((r), (t)))

static struct rig_reply *reply(struct rig *r, uint64_t t, enum kafka_error error)
{
    struct rig_reply *got = rig_reply(r, t);
    assert_non_null(got);
    assert_int_equal(got->error, error);
    return got;
}

/* ---- joining ---- */

static void first_join_completes_at_once_and_leads(void **state)
{
    struct rig r;
    rig_init(&r, NULL);
    struct rig_reply *a = reply(&r, rig_join(&r, "", NULL, "range", "x"), KAFKA_NONE);
    assert_int_equal(a->generation, 1);
    assert_string_equal(a->leader, a->member);
    assert_string_equal(a->protocol, "range");
    assert_int_equal(a->n_listed, 1);
    assert_int_equal(r.g.state, GROUP_COMPLETING);
    assert_int_equal(r.n_saves, 0);
    rig_deinit(&r);
}

static void version_4_is_given_an_id_before_it_joins(void **state)
{
    struct rig r;
    rig_init(&r, NULL);
    r.version = 4;
    struct rig_reply *a = reply(&r, rig_join(&r, "", NULL, "range", "x"), KAFKA_MEMBER_ID_REQUIRED);
    char id[RIG_TEXT];
    snprintf(id, sizeof id, "%s", a->member);
    assert_int_equal(a->generation, -1);
    assert_int_equal(r.g.members.n, 0);
    a = reply(&r, rig_join(&r, id, NULL, "range", "x"), KAFKA_NONE);
    assert_string_equal(a->member, id);
    assert_int_equal(r.g.pending.n, 0);
    rig_deinit(&r);
}

static void pending_id_is_forgotten_after_its_session(void **state)
{
    struct rig r;
    rig_init(&r, NULL);
    r.version = 4;
    struct rig_reply *a = reply(&r, rig_join(&r, "", NULL, "range", "x"), KAFKA_MEMBER_ID_REQUIRED);
    char id[RIG_TEXT];
    snprintf(id, sizeof id, "%s", a->member);
    rig_wait(&r, 10000);
    reply(&r, rig_join(&r, id, NULL, "range", "x"), KAFKA_UNKNOWN_MEMBER_ID);
    rig_deinit(&r);
}

static void join_with_an_id_nobody_gave_is_refused(void **state)
{
    struct rig r;
    rig_init(&r, NULL);
    reply(&r, rig_join(&r, "made-up", NULL, "range", "x"), KAFKA_UNKNOWN_MEMBER_ID);
    rig_deinit(&r);
}

static void second_member_waits_for_the_first_to_rejoin(void **state)
{
    struct rig r;
    char id[1][RIG_TEXT];
    rig_init(&r, NULL);
    rig_stable(&r, 1, id);
    uint64_t b = rig_join(&r, "", NULL, "range", "y");
    assert_parked(&r, b);
    assert_int_equal(rig_heartbeat(&r, id[0], NULL, 1), KAFKA_REBALANCE_IN_PROGRESS);
    struct rig_reply *a = reply(&r, rig_join(&r, id[0], NULL, "range", "x"), KAFKA_NONE);
    struct rig_reply *second = reply(&r, b, KAFKA_NONE);
    assert_int_equal(a->generation, 2);
    assert_int_equal(second->generation, 2);
    assert_string_equal(second->leader, id[0]);
    assert_int_equal(a->n_listed, 2);
    assert_int_equal(second->n_listed, 0);
    rig_deinit(&r);
}

static void pending_member_holds_up_the_completion(void **state)
{
    struct rig r;
    char id[1][RIG_TEXT], late[RIG_TEXT];
    rig_init(&r, NULL);
    rig_stable(&r, 1, id);
    r.version = 4;
    snprintf(late, sizeof late, "%s",
             reply(&r, rig_join(&r, "", NULL, "range", "y"), KAFKA_MEMBER_ID_REQUIRED)->member);
    uint64_t a = rig_join(&r, id[0], NULL, "range", "changed");
    assert_parked(&r, a);
    uint64_t b = rig_join(&r, late, NULL, "range", "y");
    assert_int_equal(reply(&r, a, KAFKA_NONE)->generation, 2);
    assert_int_equal(reply(&r, b, KAFKA_NONE)->generation, 2);
    rig_deinit(&r);
}

static void follower_rejoins_a_stable_group_without_a_rebalance(void **state)
{
    struct rig r;
    char id[2][RIG_TEXT];
    rig_init(&r, NULL);
    rig_stable(&r, 2, id);
    struct rig_reply *b = reply(&r, rig_join(&r, id[1], NULL, "range", "x"), KAFKA_NONE);
    assert_int_equal(b->generation, 2);
    assert_int_equal(r.g.state, GROUP_STABLE);
    assert_int_equal(b->n_listed, 0);
    rig_deinit(&r);
}

static void leader_or_changed_metadata_rebalances(void **state)
{
    for (int leads = 0; leads < 2; leads++) {
        struct rig r;
        char id[2][RIG_TEXT];
        rig_init(&r, NULL);
        rig_stable(&r, 2, id);
        uint64_t t = rig_join(&r, id[leads ? 0 : 1], NULL, "range", leads ? "0" : "changed");
        assert_parked(&r, t);
        assert_int_equal(r.g.state, GROUP_PREPARING);
        rig_deinit(&r);
    }
}

static void rejoin_while_completing_gets_the_current_generation(void **state)
{
    struct rig r;
    rig_init(&r, NULL);
    char id[RIG_TEXT];
    snprintf(id, sizeof id, "%s",
             reply(&r, rig_join(&r, "", NULL, "range", "x"), KAFKA_NONE)->member);
    struct rig_reply *again = reply(&r, rig_join(&r, id, NULL, "range", "x"), KAFKA_NONE);
    assert_int_equal(again->generation, 1);
    assert_int_equal(again->n_listed, 1);
    assert_int_equal(r.g.state, GROUP_COMPLETING);
    rig_deinit(&r);
}

static void join_is_refused(void **state)
{
    static const struct {
        const char *protocols, *type;
        int32_t session_ms;
        enum kafka_error error;
    } table[] = {
        {"range", "consumer", 5999, KAFKA_INVALID_SESSION_TIMEOUT},
        {"range", "consumer", 1800001, KAFKA_INVALID_SESSION_TIMEOUT},
        {"range", "connect", 10000, KAFKA_INCONSISTENT_GROUP_PROTOCOL},
        {"", "consumer", 10000, KAFKA_INCONSISTENT_GROUP_PROTOCOL},
        {"range", "", 10000, KAFKA_INCONSISTENT_GROUP_PROTOCOL},
        {"roundrobin", "consumer", 10000, KAFKA_INCONSISTENT_GROUP_PROTOCOL},
    };
    struct rig r;
    rig_init(&r, NULL);
    rig_stable(&r, 1, NULL);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct group_protocol p = {slice_str(table[i].protocols), slice_str("m")};
        struct group_event ev = {.kind = GROUP_JOIN,
                                 .token = ++r.tokens,
                                 .member = slice_str(""),
                                 .fresh_id = slice_str("fresh"),
                                 .session_ms = table[i].session_ms,
                                 .protocols = &p,
                                 .n_protocols = table[i].protocols[0] ? 1 : 0,
                                 .protocol_type = slice_str(table[i].type)};
        rig_step(&r, &ev);
        reply(&r, ev.token, table[i].error);
    }
    assert_int_equal(r.g.members.n, 1);
    rig_deinit(&r);
}

static void full_group_takes_nobody_else(void **state)
{
    struct group_options o = {.members_max = 2};
    struct rig r;
    char id[2][RIG_TEXT];
    rig_init(&r, &o);
    rig_stable(&r, 2, id);
    reply(&r, rig_join(&r, "", NULL, "range", "y"), KAFKA_GROUP_MAX_SIZE_REACHED);
    assert_parked(&r, rig_join(&r, id[0], NULL, "range", "0"));
    rig_deinit(&r);
}

static void protocol_is_what_most_prefer_of_what_all_have(void **state)
{
    struct rig r;
    rig_init(&r, NULL);
    char id[RIG_TEXT];
    snprintf(id, sizeof id, "%s",
             reply(&r, rig_join(&r, "", NULL, "a b c", "x"), KAFKA_NONE)->member);
    uint64_t t[2] = {rig_join(&r, "", NULL, "d c b", "x"), rig_join(&r, "", NULL, "c b", "x")};
    struct rig_reply *a = reply(&r, rig_join(&r, id, NULL, "a b c", "x"), KAFKA_NONE);
    assert_string_equal(a->protocol, "c");
    assert_string_equal(reply(&r, t[0], KAFKA_NONE)->protocol, "c");
    reply(&r, rig_join(&r, "", NULL, "a", "x"), KAFKA_INCONSISTENT_GROUP_PROTOCOL);
    rig_deinit(&r);
}

static void initial_delay_lets_others_in(void **state)
{
    struct group_options o = {.initial_delay_ms = 3000};
    struct rig r;
    rig_init(&r, &o);
    uint64_t a = rig_join(&r, "", NULL, "range", "x");
    rig_wait(&r, 2000);
    uint64_t b = rig_join(&r, "", NULL, "range", "x");
    rig_wait(&r, 1500); /* somebody came: another wait began at 3 s */
    assert_parked(&r, a);
    rig_wait(&r, 2500);
    assert_int_equal(reply(&r, a, KAFKA_NONE)->generation, 1);
    assert_int_equal(reply(&r, b, KAFKA_NONE)->generation, 1);
    rig_deinit(&r);
}

static void rebalance_timeout_drops_who_did_not_come_back(void **state)
{
    struct rig r;
    char id[2][RIG_TEXT];
    rig_init(&r, NULL);
    rig_stable(&r, 2, id);
    uint64_t a = rig_join(&r, id[0], NULL, "range", "changed");
    for (int i = 0; i < 29; i++) { /* alive, but busy */
        rig_wait(&r, 1000);
        assert_int_equal(rig_heartbeat(&r, id[1], NULL, 2), KAFKA_REBALANCE_IN_PROGRESS);
    }
    assert_parked(&r, a);
    rig_wait(&r, 1000);
    assert_int_equal(reply(&r, a, KAFKA_NONE)->n_listed, 1);
    assert_int_equal(rig_heartbeat(&r, id[1], NULL, 3), KAFKA_UNKNOWN_MEMBER_ID);
    rig_deinit(&r);
}

static void leader_that_is_away_is_replaced_by_one_that_joined(void **state)
{
    struct rig r;
    char id[3][RIG_TEXT];
    rig_init(&r, NULL);
    rig_stable(&r, 3, id);
    uint64_t b = rig_join(&r, id[1], NULL, "range", "changed");
    uint64_t c = rig_join(&r, id[2], NULL, "range", "x");
    rig_wait(&r, 10000); /* the leader's session ends, the others are parked */
    assert_string_equal(reply(&r, b, KAFKA_NONE)->leader, id[1]);
    assert_int_equal(reply(&r, b, KAFKA_NONE)->n_listed, 2);
    assert_string_equal(reply(&r, c, KAFKA_NONE)->leader, id[1]);
    rig_deinit(&r);
}

/* ---- syncing ---- */

static void sync_waits_for_the_leader_and_what_it_does_not_name_is_empty(void **state)
{
    struct rig r;
    char id[3][RIG_TEXT], text[RIG_TEXT * 3 + 16];
    rig_init(&r, NULL);
    rig_stable(&r, 3, id);
    uint64_t t[3] = {rig_join(&r, id[0], NULL, "range", "0"),
                     rig_join(&r, id[1], NULL, "range", "x"),
                     rig_join(&r, id[2], NULL, "range", "x")};
    assert_int_equal(reply(&r, t[2], KAFKA_NONE)->generation, 3);
    int saves = r.n_saves;
    uint64_t b = rig_sync(&r, id[1], 3, "");
    assert_parked(&r, b);
    snprintf(text, sizeof text, "%s=p0 %s=p1", id[0], id[1]);
    uint64_t a = rig_sync(&r, id[0], 3, text);
    assert_string_equal(reply(&r, a, KAFKA_NONE)->assignment, "p0");
    assert_string_equal(reply(&r, b, KAFKA_NONE)->assignment, "p1");
    assert_int_equal(r.n_saves, saves + 1);
    assert_string_equal(reply(&r, rig_sync(&r, id[2], 3, ""), KAFKA_NONE)->assignment, "");
    rig_deinit(&r);
}

static void assignment_that_cannot_be_saved_is_an_error_to_all_and_a_rebalance(void **state)
{
    struct rig r;
    char id[2][RIG_TEXT], text[RIG_TEXT * 2 + 16];
    rig_init(&r, NULL);
    rig_stable(&r, 2, id);
    rig_join(&r, id[0], NULL, "range", "0");
    rig_join(&r, id[1], NULL, "range", "x");
    uint64_t b = rig_sync(&r, id[1], 3, "");
    r.save_error = KAFKA_COORDINATOR_NOT_AVAILABLE;
    snprintf(text, sizeof text, "%s=p1", id[1]);
    uint64_t a = rig_sync(&r, id[0], 3, text);
    reply(&r, a, KAFKA_COORDINATOR_NOT_AVAILABLE);
    assert_string_equal(reply(&r, b, KAFKA_COORDINATOR_NOT_AVAILABLE)->assignment, "");
    assert_int_equal(r.g.state, GROUP_PREPARING);
    rig_deinit(&r);
}

static void parked_syncs_are_told_of_a_new_rebalance(void **state)
{
    struct rig r;
    char id[2][RIG_TEXT];
    rig_init(&r, NULL);
    rig_stable(&r, 2, id);
    rig_join(&r, id[0], NULL, "range", "0");
    rig_join(&r, id[1], NULL, "range", "x");
    uint64_t b = rig_sync(&r, id[1], 3, "");
    rig_join(&r, "", NULL, "range", "y");
    reply(&r, b, KAFKA_REBALANCE_IN_PROGRESS);
    rig_deinit(&r);
}

static void member_that_never_syncs_is_removed(void **state)
{
    struct rig r;
    char id[2][RIG_TEXT];
    rig_init(&r, NULL);
    rig_stable(&r, 2, id);
    rig_join(&r, id[0], NULL, "range", "0");
    rig_join(&r, id[1], NULL, "range", "x");
    rig_sync(&r, id[0], 3, "");
    assert_int_equal(r.g.state, GROUP_STABLE);
    for (int i = 0; i < 30; i++) {
        rig_heartbeat(&r, id[0], NULL, 3);
        rig_heartbeat(&r, id[1], NULL, 3);
        rig_wait(&r, 1000);
    }
    assert_int_equal(rig_heartbeat(&r, id[1], NULL, 3), KAFKA_UNKNOWN_MEMBER_ID);
    assert_int_equal(rig_heartbeat(&r, id[0], NULL, 3), KAFKA_REBALANCE_IN_PROGRESS);
    rig_deinit(&r);
}

static void sync_is_refused(void **state)
{
    struct rig r;
    char id[1][RIG_TEXT];
    rig_init(&r, NULL);
    reply(&r, rig_sync(&r, "nobody", 1, ""), KAFKA_UNKNOWN_MEMBER_ID);
    rig_stable(&r, 1, id);
    reply(&r, rig_sync(&r, id[0], 2, ""), KAFKA_ILLEGAL_GENERATION);
    struct group_event ev = {.kind = GROUP_SYNC,
                             .token = ++r.tokens,
                             .member = slice_str(id[0]),
                             .generation = 1,
                             .protocol_type = slice_str("connect")};
    rig_step(&r, &ev);
    reply(&r, ev.token, KAFKA_INCONSISTENT_GROUP_PROTOCOL);
    ev.token = ++r.tokens;
    ev.protocol_type = slice_str("consumer");
    ev.protocol = slice_str("sticky");
    rig_step(&r, &ev);
    reply(&r, ev.token, KAFKA_INCONSISTENT_GROUP_PROTOCOL);
    rig_join(&r, "", NULL, "range", "y");
    reply(&r, rig_sync(&r, id[0], 1, ""), KAFKA_REBALANCE_IN_PROGRESS);
    rig_deinit(&r);
}

static void answers_beyond_one_out_all_arrive(void **state)
{
    struct rig r;
    char id[50][RIG_TEXT];
    uint64_t t[50];
    rig_init(&r, NULL);
    rig_stable(&r, 50, id);
    for (int i = 0; i < 50; i++)
        t[i] = rig_join(&r, id[i], NULL, "range", i ? "x" : "0");
    for (int i = 0; i < 50; i++)
        assert_int_equal(reply(&r, t[i], KAFKA_NONE)->generation, 3);
    rig_deinit(&r);
}

/* ---- living and leaving ---- */

static void silent_member_is_removed_after_its_session(void **state)
{
    struct rig r;
    char id[2][RIG_TEXT];
    rig_init(&r, NULL);
    rig_stable(&r, 2, id);
    rig_wait(&r, 9000);
    assert_int_equal(rig_heartbeat(&r, id[0], NULL, 2), KAFKA_NONE);
    rig_wait(&r, 1000);
    assert_int_equal(rig_heartbeat(&r, id[1], NULL, 2), KAFKA_UNKNOWN_MEMBER_ID);
    assert_int_equal(rig_heartbeat(&r, id[0], NULL, 2), KAFKA_REBALANCE_IN_PROGRESS);
    rig_deinit(&r);
}

static void last_member_gone_leaves_a_saved_empty_group(void **state)
{
    struct rig r;
    char id[1][RIG_TEXT];
    rig_init(&r, NULL);
    rig_stable(&r, 1, id);
    int saves = r.n_saves;
    assert_int_equal(rig_leave(&r, id[0], NULL), KAFKA_NONE);
    assert_int_equal(r.g.state, GROUP_EMPTY);
    assert_int_equal(r.g.generation, 2);
    assert_int_equal(r.n_saves, saves + 1);
    assert_int_equal(rig_heartbeat(&r, id[0], NULL, 2), KAFKA_UNKNOWN_MEMBER_ID);
    rig_deinit(&r);
}

static void leaving_lets_the_parked_ones_go_on(void **state)
{
    struct rig r;
    char id[2][RIG_TEXT];
    rig_init(&r, NULL);
    rig_stable(&r, 2, id);
    uint64_t b = rig_join(&r, id[1], NULL, "range", "changed");
    assert_parked(&r, b);
    rig_leave(&r, id[0], NULL);
    assert_int_equal(reply(&r, b, KAFKA_NONE)->n_listed, 1);
    assert_int_equal(rig_leave(&r, "nobody", NULL), KAFKA_UNKNOWN_MEMBER_ID);
    rig_deinit(&r);
}

static void parked_first_join_is_given_up_after_five_minutes(void **state)
{
    struct rig r;
    char id[1][RIG_TEXT];
    rig_init(&r, NULL);
    rig_stable(&r, 1, id);
    uint64_t b = rig_join(&r, "", NULL, "range", "y");
    /* The leader's rebalance timeout is so long that nothing else ends the wait. */
    r.g.rebalance_due = UINT64_MAX;
    for (int i = 0; i < 60; i++) {
        assert_parked(&r, b);
        rig_wait(&r, 5000);
        rig_heartbeat(&r, id[0], NULL, 1);
    }
    reply(&r, b, KAFKA_UNKNOWN_MEMBER_ID);
    rig_deinit(&r);
}

/* ---- static members ---- */

struct stable_static {
    char a[RIG_TEXT], b[RIG_TEXT];
};

/* Instances "ia" (leads) and "ib", STABLE in generation 2. */
static void static_pair(struct rig *r, struct stable_static *s)
{
    char text[RIG_TEXT * 2 + 16];
    snprintf(s->a, RIG_TEXT, "%s",
             reply(r, rig_join(r, "", "ia", "range", "x"), KAFKA_NONE)->member);
    uint64_t b = rig_join(r, "", "ib", "range", "x");
    rig_join(r, s->a, "ia", "range", "x");
    snprintf(s->b, RIG_TEXT, "%s", reply(r, b, KAFKA_NONE)->member);
    snprintf(text, sizeof text, "%s=pa %s=pb", s->a, s->b);
    rig_sync(r, s->a, 2, text);
    rig_sync(r, s->b, 2, "");
    assert_int_equal(r->g.state, GROUP_STABLE);
}

static void static_follower_comes_back_without_a_rebalance(void **state)
{
    struct rig r;
    struct stable_static s;
    rig_init(&r, NULL);
    static_pair(&r, &s);
    int saves = r.n_saves;
    struct rig_reply *b = reply(&r, rig_join(&r, "", "ib", "range", "x"), KAFKA_NONE);
    assert_int_equal(b->generation, 2);
    assert_string_not_equal(b->member, s.b);
    assert_string_equal(b->leader, s.a);
    assert_int_equal(r.n_saves, saves + 1);
    assert_string_equal(reply(&r, rig_sync(&r, b->member, 2, ""), KAFKA_NONE)->assignment, "pb");
    assert_int_equal(rig_heartbeat(&r, s.a, "ia", 2), KAFKA_NONE);
    assert_int_equal(rig_heartbeat(&r, s.b, "ib", 2), KAFKA_FENCED_INSTANCE_ID);
    assert_int_equal(rig_commit(&r, s.b, "ib", 2, true), KAFKA_FENCED_INSTANCE_ID);
    reply(&r, rig_sync(&r, s.b, 2, ""), KAFKA_UNKNOWN_MEMBER_ID); /* without its instance id */
    rig_deinit(&r);
}

static void static_leader_comes_back_as_its_version_can_bear(void **state)
{
    for (int version = 5; version <= 9; version += 4) {
        struct rig r;
        struct stable_static s;
        rig_init(&r, NULL);
        r.version = version;
        static_pair(&r, &s);
        struct rig_reply *a = reply(&r, rig_join(&r, "", "ia", "range", "x"), KAFKA_NONE);
        assert_int_equal(a->generation, 2);
        assert_int_equal(a->skip, version == 9);
        assert_int_equal(a->n_listed, version == 9 ? 2 : 0);
        /* Below 9 it must not take itself for the leader, or it would assign. */
        assert_string_equal(a->leader, version == 9 ? a->member : s.a);
        assert_string_equal(reply(&r, rig_sync(&r, a->member, 2, ""), KAFKA_NONE)->assignment,
                            "pa");
        rig_deinit(&r);
    }
}

static void replaced_static_member_that_is_parked_is_fenced(void **state)
{
    struct rig r;
    struct stable_static s;
    rig_init(&r, NULL);
    static_pair(&r, &s);
    uint64_t old = rig_join(&r, s.b, "ib", "range", "changed");
    assert_parked(&r, old);
    uint64_t fresh = rig_join(&r, "", "ib", "range", "changed");
    assert_string_equal(reply(&r, old, KAFKA_FENCED_INSTANCE_ID)->member, s.b);
    assert_parked(&r, fresh);
    uint64_t a = rig_join(&r, s.a, "ia", "range", "x");
    assert_int_equal(reply(&r, a, KAFKA_NONE)->generation, 3);
    assert_int_equal(reply(&r, fresh, KAFKA_NONE)->generation, 3);
    uint64_t sync = rig_sync(&r, reply(&r, fresh, KAFKA_NONE)->member, 3, "");
    rig_join(&r, "", "ib", "range", "changed");
    reply(&r, sync, KAFKA_FENCED_INSTANCE_ID);
    assert_int_equal(r.g.state, GROUP_PREPARING);
    rig_deinit(&r);
}

static void absent_static_member_keeps_its_place_until_its_session_ends(void **state)
{
    struct group_options o = {.session_max_ms = 1800000};
    struct rig r;
    struct stable_static s;
    rig_init(&r, &o);
    static_pair(&r, &s);
    struct group_member *b = map_get(&r.g.members, slice_str(s.b));
    b->session_ms = 100000;
    rig_heartbeat(&r, s.b, "ib", 2);
    uint64_t a = rig_join(&r, s.a, "ia", "range", "changed");
    rig_wait(&r, 30000); /* the rebalance timeout: it is not dropped, only not waited for */
    assert_int_equal(reply(&r, a, KAFKA_NONE)->n_listed, 2);
    rig_deinit(&r);
}

static void group_of_absent_static_members_waits_for_their_sessions(void **state)
{
    struct rig r;
    struct stable_static s;
    rig_init(&r, NULL);
    static_pair(&r, &s);
    rig_leave(&r, s.a, "ia"); /* b must rejoin, and is away */
    assert_int_equal(r.g.state, GROUP_PREPARING);
    struct group_member *b = map_get(&r.g.members, slice_str(s.b));
    b->due = r.now + 70000ull * 1000000;
    rig_wait(&r, 65000);
    assert_int_equal(r.g.state, GROUP_PREPARING);
    rig_wait(&r, 5000);
    assert_int_equal(r.g.state, GROUP_EMPTY);
    rig_deinit(&r);
}

static void administrator_removes_a_static_member_by_instance(void **state)
{
    struct rig r;
    struct stable_static s;
    rig_init(&r, NULL);
    static_pair(&r, &s);
    assert_int_equal(rig_leave(&r, "", "nobody"), KAFKA_UNKNOWN_MEMBER_ID);
    assert_int_equal(rig_leave(&r, s.a, "ib"), KAFKA_FENCED_INSTANCE_ID);
    assert_int_equal(rig_leave(&r, "", "ib"), KAFKA_NONE);
    assert_int_equal(r.g.members.n, 1);
    rig_deinit(&r);
}

/* ---- commits ---- */

static void commit_by_state_and_identity(void **state)
{
    struct rig r;
    char id[1][RIG_TEXT];
    rig_init(&r, NULL);
    /* EMPTY: whoever says no generation is a simple consumer. */
    assert_int_equal(rig_commit(&r, "", NULL, -1, false), KAFKA_NONE);
    assert_int_equal(rig_commit(&r, "whoever", NULL, -1, true), KAFKA_NONE);
    assert_int_equal(rig_commit(&r, "whoever", NULL, 0, false), KAFKA_UNKNOWN_MEMBER_ID);
    rig_stable(&r, 1, id);
    assert_int_equal(rig_commit(&r, id[0], NULL, 1, false), KAFKA_NONE);
    assert_int_equal(rig_commit(&r, id[0], NULL, 0, false), KAFKA_ILLEGAL_GENERATION);
    assert_int_equal(rig_commit(&r, "", NULL, -1, false), KAFKA_UNKNOWN_MEMBER_ID);
    assert_int_equal(rig_commit(&r, "", NULL, -1, true), KAFKA_NONE); /* nothing said */
    assert_int_equal(rig_commit(&r, id[0], NULL, -1, true), KAFKA_ILLEGAL_GENERATION);
    assert_int_equal(rig_commit(&r, id[0], "instance", 1, true), KAFKA_UNKNOWN_MEMBER_ID);
    rig_join(&r, "", NULL, "range", "y"); /* PREPARING */
    assert_int_equal(rig_commit(&r, id[0], NULL, 1, false), KAFKA_NONE);
    rig_join(&r, id[0], NULL, "range", "0"); /* COMPLETING */
    assert_int_equal(rig_commit(&r, id[0], NULL, 2, false), KAFKA_REBALANCE_IN_PROGRESS);
    assert_int_equal(rig_commit(&r, id[0], NULL, 2, true), KAFKA_NONE);
    rig_deinit(&r);
}

static void commit_keeps_a_member_alive(void **state)
{
    struct rig r;
    char id[1][RIG_TEXT];
    rig_init(&r, NULL);
    rig_stable(&r, 1, id);
    for (int i = 0; i < 5; i++) {
        rig_wait(&r, 9000);
        assert_int_equal(rig_commit(&r, id[0], NULL, 1, false), KAFKA_NONE);
    }
    rig_deinit(&r);
}

static void eo38_expelled_member_cannot_commit(void **state)
{
    struct rig r;
    char id[2][RIG_TEXT];
    rig_init(&r, NULL);
    rig_stable(&r, 2, id);
    /* Both still hold valid producers; only the group can tell the zombie. */
    rig_wait(&r, 9000);
    rig_heartbeat(&r, id[0], NULL, 2);
    rig_wait(&r, 2000);
    assert_int_equal(rig_commit(&r, id[1], NULL, 2, true), KAFKA_UNKNOWN_MEMBER_ID);
    assert_int_equal(rig_commit(&r, id[0], NULL, 2, true), KAFKA_NONE);
    rig_join(&r, id[0], NULL, "range", "0");
    assert_int_equal(rig_commit(&r, id[0], NULL, 2, true), KAFKA_ILLEGAL_GENERATION);
    assert_int_equal(rig_commit(&r, id[0], NULL, 3, true), KAFKA_NONE);
    rig_deinit(&r);
}

static void eo60_generation_of_the_poll_is_refused_after_a_rejoin(void **state)
{
    struct rig r;
    char id[2][RIG_TEXT];
    rig_init(&r, NULL);
    rig_stable(&r, 2, id);
    rig_leave(&r, id[1], NULL); /* expelled in the middle of a transaction, */
    uint64_t again = rig_join(&r, "", NULL, "range", "x");
    rig_join(&r, id[0], NULL, "range", "0");
    const char *fresh = reply(&r, again, KAFKA_NONE)->member; /* back under a new id */
    /* With the identity of the poll, as our runtime sends it, the commit is refused. The group
     * knows members and generations, not partitions: under its new identity it would be taken. */
    assert_int_equal(rig_commit(&r, id[1], NULL, 2, true), KAFKA_UNKNOWN_MEMBER_ID);
    assert_int_equal(rig_commit(&r, fresh, NULL, 2, true), KAFKA_ILLEGAL_GENERATION);
    assert_int_equal(rig_commit(&r, fresh, NULL, 3, true), KAFKA_NONE);
    rig_deinit(&r);
}

/* ---- after a restart ---- */

static void reloaded_group_is_stable_and_gives_everyone_a_full_session(void **state)
{
    struct rig r;
    rig_init(&r, NULL);
    assert_int_equal(
        group_load(&r.g, 7, slice_str("consumer"), slice_str("range"), r.wall_ms - 1000), 0);
    for (int i = 0; i < 2; i++) {
        struct group_protocol p = {slice_str("range"), slice_str("range/x")};
        struct group_event join = {.member = slice_str(i ? "b" : "a"),
                                   .instance = i ? slice_str("ib") : SLICE_NULL,
                                   .session_ms = 10000,
                                   .rebalance_ms = 30000,
                                   .protocols = &p,
                                   .n_protocols = 1};
        assert_int_equal(group_load_member(&r.g, &join, slice_str(i ? "pb" : "pa")), 0);
        assert_int_equal(group_load_member(&r.g, &join, slice_str("")), -ERR_INVALID);
    }
    group_load_end(&r.g, slice_str("a"));
    assert_true(group_due(&r.g) == UINT64_MAX);
    r.now += 3600ull * 1000000000u;
    struct group_event started = {.kind = GROUP_STARTED};
    rig_step(&r, &started);
    rig_wait(&r, 9999);
    assert_int_equal(r.g.members.n, 2);
    assert_int_equal(rig_heartbeat(&r, "a", NULL, 7), KAFKA_NONE);
    assert_string_equal(reply(&r, rig_sync(&r, "b", 7, ""), KAFKA_NONE)->assignment, "pb");
    struct rig_reply *b = reply(&r, rig_join(&r, "", "ib", "range", "x"), KAFKA_NONE);
    assert_int_equal(b->generation, 7);
    rig_wait(&r, 10000);
    assert_int_equal(r.g.members.n, 0);
    rig_deinit(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_join_completes_at_once_and_leads),
        cmocka_unit_test(version_4_is_given_an_id_before_it_joins),
        cmocka_unit_test(pending_id_is_forgotten_after_its_session),
        cmocka_unit_test(join_with_an_id_nobody_gave_is_refused),
        cmocka_unit_test(second_member_waits_for_the_first_to_rejoin),
        cmocka_unit_test(pending_member_holds_up_the_completion),
        cmocka_unit_test(follower_rejoins_a_stable_group_without_a_rebalance),
        cmocka_unit_test(leader_or_changed_metadata_rebalances),
        cmocka_unit_test(rejoin_while_completing_gets_the_current_generation),
        cmocka_unit_test(join_is_refused),
        cmocka_unit_test(full_group_takes_nobody_else),
        cmocka_unit_test(protocol_is_what_most_prefer_of_what_all_have),
        cmocka_unit_test(initial_delay_lets_others_in),
        cmocka_unit_test(rebalance_timeout_drops_who_did_not_come_back),
        cmocka_unit_test(leader_that_is_away_is_replaced_by_one_that_joined),
        cmocka_unit_test(sync_waits_for_the_leader_and_what_it_does_not_name_is_empty),
        cmocka_unit_test(assignment_that_cannot_be_saved_is_an_error_to_all_and_a_rebalance),
        cmocka_unit_test(parked_syncs_are_told_of_a_new_rebalance),
        cmocka_unit_test(member_that_never_syncs_is_removed),
        cmocka_unit_test(sync_is_refused),
        cmocka_unit_test(answers_beyond_one_out_all_arrive),
        cmocka_unit_test(silent_member_is_removed_after_its_session),
        cmocka_unit_test(last_member_gone_leaves_a_saved_empty_group),
        cmocka_unit_test(leaving_lets_the_parked_ones_go_on),
        cmocka_unit_test(parked_first_join_is_given_up_after_five_minutes),
        cmocka_unit_test(static_follower_comes_back_without_a_rebalance),
        cmocka_unit_test(static_leader_comes_back_as_its_version_can_bear),
        cmocka_unit_test(replaced_static_member_that_is_parked_is_fenced),
        cmocka_unit_test(absent_static_member_keeps_its_place_until_its_session_ends),
        cmocka_unit_test(group_of_absent_static_members_waits_for_their_sessions),
        cmocka_unit_test(administrator_removes_a_static_member_by_instance),
        cmocka_unit_test(commit_by_state_and_identity),
        cmocka_unit_test(commit_keeps_a_member_alive),
        cmocka_unit_test(eo38_expelled_member_cannot_commit),
        cmocka_unit_test(eo60_generation_of_the_poll_is_refused_after_a_rejoin),
        cmocka_unit_test(reloaded_group_is_stable_and_gives_everyone_a_full_session),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

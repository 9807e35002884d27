/* tests/runtime/client/test_assign.c - the range assignor against vectors of Kafka's own. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "runtime/client/member.h"
#include <stdio.h>

struct out {
    char text[8][256]; /* by member: "t0 t1 u0 " */
    const struct assign_topic *topics;
};

static void each(void *user, int member, int topic, int32_t partition)
{
    struct out *o = user;
    size_t n = strlen(o->text[member]);
    snprintf(o->text[member] + n, sizeof o->text[member] - n, "%.*s%d ",
             SLICE_FMT(o->topics[topic].name), partition);
}

static struct slice both[2], only_t[1], only_u[1];

static struct assign_member member(const char *id, const char *instance, const struct slice *topics,
                                   int n)
{
    return (struct assign_member){slice_str(id), slice_str(instance), topics, n};
}

static struct out run(const struct assign_member *m, int n, int32_t t, int32_t u)
{
    static struct assign_topic topics[2];
    struct out o = {.topics = topics};

    both[0] = only_t[0] = slice_str("t");
    both[1] = only_u[0] = slice_str("u");
    topics[0] = (struct assign_topic){slice_str("t"), t};
    topics[1] = (struct assign_topic){slice_str("u"), u};
    assert_int_equal(assign_range(m, n, topics, 2, each, &o), 0);
    return o;
}

static void one_member_gets_all(void **state)
{
    struct assign_member m[] = {member("a", NULL, both, 2)};
    struct out o = run(m, 1, 2, 3);
    assert_string_equal(o.text[0], "t0 t1 u0 u1 u2 ");
}

static void the_first_members_get_the_extra_ones(void **state)
{
    struct assign_member m[] = {member("b", NULL, both, 2), member("a", NULL, both, 2)};
    struct out o = run(m, 2, 3, 3);
    assert_string_equal(o.text[1], "t0 t1 u0 u1 ");
    assert_string_equal(o.text[0], "t2 u2 ");
}

static void more_members_than_partitions_leave_some_empty(void **state)
{
    struct assign_member m[] = {member("a", NULL, both, 2), member("b", NULL, both, 2),
                                member("c", NULL, both, 2)};
    struct out o = run(m, 3, 2, 1);
    assert_string_equal(o.text[0], "t0 u0 ");
    assert_string_equal(o.text[1], "t1 ");
    assert_string_equal(o.text[2], "");
}

static void instances_come_first_and_in_their_order(void **state)
{
    struct assign_member m[] = {member("a", NULL, both, 2), member("z", "i2", both, 2),
                                member("y", "i10", both, 2)};
    struct out o = run(m, 3, 3, 0);
    assert_string_equal(o.text[2], "t0 ");
    assert_string_equal(o.text[1], "t1 ");
    assert_string_equal(o.text[0], "t2 ");
}

static void only_subscribers_share_a_topic(void **state)
{
    struct assign_member m[] = {member("a", NULL, only_t, 1), member("b", NULL, both, 2),
                                member("c", NULL, only_u, 1)};
    struct out o = run(m, 3, 4, 3);
    assert_string_equal(o.text[0], "t0 t1 ");
    assert_string_equal(o.text[1], "t2 t3 u0 u1 ");
    assert_string_equal(o.text[2], "u2 ");
}

static void equal_topics_are_copartitioned(void **state)
{
    for (int n = 1; n <= 5; n++) {
        for (int32_t parts = 0; parts <= 9; parts++) {
            struct assign_member m[5];
            char id[5][4];
            for (int i = 0; i < n; i++) {
                snprintf(id[i], sizeof id[i], "m%d", (i * 7) % n);
                m[i] = member(id[i], NULL, both, 2);
            }
            struct out o = run(m, n, parts, parts);
            for (int i = 0; i < n; i++) {
                char *u = strchr(o.text[i], 'u');
                size_t half = u ? (size_t)(u - o.text[i]) : 0;
                assert_int_equal(strlen(o.text[i]), half * 2);
                for (size_t k = 0; k < half; k++)
                    assert_true(o.text[i][k] == u[k] || o.text[i][k] == 't');
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_member_gets_all),
        cmocka_unit_test(the_first_members_get_the_extra_ones),
        cmocka_unit_test(more_members_than_partitions_leave_some_empty),
        cmocka_unit_test(instances_come_first_and_in_their_order),
        cmocka_unit_test(only_subscribers_share_a_topic),
        cmocka_unit_test(equal_topics_are_copartitioned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* tests/udf/test_flow.c - flows: the nodes they become, what they put out, what they refuse. */
#include "tests/udf/support_host.h"
#include <string.h>

#define HEAD "local flow = require 'once.flow'\n"

static void assert_refused(const char *text, const char *what)
{
    struct err e;
    struct udf_job *job = host_job(text, &e);

    if (job) {
        udf_job_free(job);
        print_error("accepted: %s\n", text);
        fail();
    }
    if (!strstr(e.text, what)) {
        print_error("%s\n  does not say: %s\n", e.text, what);
        fail();
    }
}

static struct udf_job *accepted(const char *text)
{
    struct err e;
    struct udf_job *job = host_job(text, &e);

    if (!job) {
        print_error("%s\n", e.text);
        fail();
    }
    return job;
}

/* One record through group 0 of the job. */
static void assert_outputs(const char *text, const char *topic, const char *key, const char *value,
                           const char *outputs)
{
    struct udf_job *job = accepted(text);
    struct udf_failure f;
    struct udf_task *t;
    struct host h;

    host_init(&h);
    t = host_task(job, 0, &h);
    if (host_run(t, topic, 5, key, value, &f) != UDF_OK) {
        print_error("%.*s\n", SLICE_FMT(f.message));
        fail();
    }
    assert_string_equal(host_outputs(&h), outputs);
    udf_task_close(t);
    udf_job_free(job);
    host_deinit(&h);
}

static void operators_run_in_one_node(void **state)
{
    assert_outputs(HEAD "return flow 'f':stream 't'\n"
                        ":filter(function(r) return r.value ~= 'no' end)\n"
                        ":map(function(r) return r.key .. '!', #r.value end)\n"
                        ":flatmap(function(r, out) out(r.key, r.value) out('second') end):to 'o'",
                   "t", "k", "four", "o k! 4\no second \\N\n");
    assert_outputs(HEAD "return flow 'f':stream 't':filter(function(r) return false end):to 'o'",
                   "t", "k", "v", "");
}

static void an_unchanged_record_keeps_its_bytes(void **state)
{
    assert_outputs(HEAD "return flow 'f':stream { topic = 't', value = 'json' }\n"
                        ":filter(function(r) return r.value.n > 1 end):to 'o'",
                   "t", "k", " { \"n\" : 2 } ", "o k  { \"n\" : 2 } \n");
}

static void a_stream_may_branch(void **state)
{
    assert_outputs(HEAD "local f = flow 'f'\nlocal s = f:stream 't'\ns:to 'all'\n"
                        "s:filter(function(r) return r.key == 'k' end):to 'some'\nreturn f",
                   "t", "k", "v", "all k v\nsome k v\n");
}

static void count_stays_in_the_node_while_the_key_is_the_sources(void **state)
{
    struct udf_job *j = accepted(HEAD "return flow 'f':stream 't':count { store = 'n' }:to 'o'");

    assert_int_equal(j->n_nodes, 1);
    assert_int_equal(j->n_internals, 0);
    udf_job_free(j);
    assert_outputs(HEAD "return flow 'f':stream 't':count { store = 'n' }\n"
                        ":map(function(r) return r.key, r.value * 10 end):to 'o'",
                   "t", "k", "v", "o k 10\n");
}

static void count_repartitions_when_the_key_changed(void **state)
{
    struct udf_job *j =
        accepted(HEAD "return flow { name = 'f', guarantee = 'at_least_once' }:stream 't'\n"
                      ":map(function(r) return r.value end):count { store = 'a' }\n"
                      ":map(function(r) return r.value end):count { store = 'b' }:to 'o'");

    assert_int_equal(j->guarantee, UDF_AT_LEAST_ONCE);
    assert_int_equal(j->n_groups, 3);
    assert_int_equal(j->n_internals, 2);
    assert_true(slice_eq_str(j->nodes[0].name, "t"));
    assert_true(slice_eq_str(j->nodes[0].outputs[0], "#a"));
    assert_int_equal(j->n_stores, 2);
    udf_job_free(j);
    /* A key function at the door changes the key without moving the record. */
    j = accepted(HEAD
                 "return flow 'f':stream { topic = 't', key = function(r) return r.value end }\n"
                 ":count { store = 'a' }:to 'o'");
    assert_int_equal(j->n_groups, 2);
    udf_job_free(j);
    assert_outputs(HEAD "return flow 'f':stream 't':map(function(r) return r.value, 'x' end)\n"
                        ":count { store = 'a' }:to 'o'",
                   "t", "k", "v", "#a v \\N\n");
}

static void mistakes_name_the_line(void **state)
{
    assert_refused(HEAD "return flow 'f':stream 't'\n:flatmpa(print)",
                   "job.lua:3: a stream has no \"flatmpa\", did you mean \"flatmap\"?");
    assert_refused(HEAD "return flow 'f':stream 't':window { size = '1m' }",
                   "stream:window is not supported yet in this version");
    assert_refused(HEAD "return flow 'f':stream 't':count 'n'",
                   "job.lua:2: count takes { store = NAME }");
    assert_refused(HEAD "return flow 'f':stream 't':count { sotre = 'n' }",
                   "count takes { store = NAME }");
    assert_refused(HEAD "return flow 'f':stream 't':count { store = 'n', windw = 1 }",
                   "unknown key \"windw\"");
    assert_refused(HEAD "return flow 'f'", "job.lua:2: flow \"f\" has no stream");
    assert_refused(HEAD "return flow 'f':stream 't'", "job.lua:2: stream \"t\" leads nowhere");
    assert_refused(HEAD "return flow 'f':stream 't':map('x'):to 'o'",
                   "job.lua:2: map takes a function, not string");
    assert_refused(HEAD "return flow { name = 'f', form = 't' }:stream 't':to 'o'",
                   "unknown key \"form\"");
    assert_refused(HEAD "return flow 'f':stream 't':to '#x'",
                   "internal topics are made by the operators");
    assert_refused(
        HEAD
        "local s = flow 'f':stream 't':count { store = 'n' }\ns:count { store = 'n' }\nreturn s",
        "store \"n\" is used twice");
}

/* One record through group 0, which refuses it. */
static void assert_fails(const char *text, const char *message)
{
    struct udf_job *job = accepted(text);
    struct udf_failure f;
    struct udf_task *t;
    struct host h;

    host_init(&h);
    t = host_task(job, 0, &h);
    assert_int_equal(host_run(t, "t", 5, NULL, "v", &f), UDF_ERROR);
    if (!slice_eq_str(f.message, message)) {
        print_error("%.*s\n", SLICE_FMT(f.message));
        fail();
    }
    udf_task_close(t);
    udf_job_free(job);
    host_deinit(&h);
}

static void a_missing_key_fails_the_record(void **state)
{
    assert_fails(HEAD "return flow 'f':stream 't'\n:count { store = 'n' }:to 'o'",
                 "job.lua:2: count \"n\": the record has no key; give it one by map or flatmap "
                 "(job f v1, t[0]@5, key nil, value \"v\")");
}

/* It would be a key otherwise, and a count of such keys looks right at first sight. */
static void a_table_in_place_of_key_and_value_fails_the_record(void **state)
{
    assert_fails(HEAD "return flow 'f':stream 't'\n"
                      ":map(function(r) return { key = 'k', value = r.value } end)\n"
                      ":count { store = 'n' }:to 'o'",
                 "job.lua:2: map: give key, value, not a table that holds them "
                 "(job f v1, t[0]@5, key nil, value \"v\")");
    assert_fails(HEAD "return flow 'f':stream 't'\n"
                      ":flatmap(function(r, out) out { key = 'k' } end):to 'o'",
                 "job.lua:2: flatmap: give key, value, not a table that holds them "
                 "(job f v1, t[0]@5, key nil, value \"v\")");
    assert_outputs(HEAD "return flow 'f':stream 't':map(function(r) return { 1 }, 2 end):to 'o'",
                   "t", "k", "v", "o [1] 2\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_run_in_one_node),
        cmocka_unit_test(an_unchanged_record_keeps_its_bytes),
        cmocka_unit_test(a_stream_may_branch),
        cmocka_unit_test(count_stays_in_the_node_while_the_key_is_the_sources),
        cmocka_unit_test(count_repartitions_when_the_key_changed),
        cmocka_unit_test(mistakes_name_the_line),
        cmocka_unit_test(a_missing_key_fails_the_record),
        cmocka_unit_test(a_table_in_place_of_key_and_value_fails_the_record),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

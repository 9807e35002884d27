/* tests/udf/test_job.c - what a job declares, and what is refused, with the words of the
 * refusal. */
#include "tests/udf/support_host.h"
#include <string.h>

#define HEAD "local once = require 'once'\n"

static void assert_says(const char *text, const char *what)
{
    if (!strstr(text, what)) {
        print_error("%s\n  does not say: %s\n", text, what);
        fail();
    }
}

static void assert_refused(const char *text, const char *what)
{
    struct err e;
    struct udf_job *job = host_job(text, &e);

    if (job) {
        udf_job_free(job);
        print_error("accepted: %s\n", text);
        fail();
    }
    assert_int_equal(e.code, ERR_LUA);
    assert_says(e.text, what);
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

static void single_node_takes_defaults(void **state)
{
    struct udf_job *j = accepted(HEAD
                                 "return once.job { name = 'a', from = 't', to = { 'x', 'y-*' },\n"
                                 "stores = { s = {}, r = { codec = 'raw', changelog = false } },\n"
                                 "process = function(ctx, r) end }\n");

    assert_true(slice_eq_str(j->name, "a"));
    assert_int_equal(j->version, 1);
    assert_int_equal(j->guarantee, UDF_EXACTLY_ONCE);
    assert_int_equal(j->on_error, UDF_STOP);
    assert_int_equal(j->commit_max_ms, 100);
    assert_int_equal(j->commit_min_ms, 0);
    assert_int_equal(j->memory_limit, 64 << 20);
    assert_int_equal(j->time_limit_ns, 5000000000);
    assert_int_equal(j->n_nodes, 1);
    assert_true(slice_eq_str(j->nodes[0].name, "a"));
    assert_int_equal(j->nodes[0].n_sources, 1);
    assert_int_equal(j->nodes[0].sources[0].value_codec, UDF_RAW);
    assert_int_equal(j->nodes[0].n_outputs, 2);
    assert_int_equal(j->n_stores, 2);
    assert_true(slice_eq_str(j->stores[0].name, "r"));
    assert_true(j->stores[0].raw);
    assert_false(j->stores[0].changelog);
    assert_true(j->stores[1].changelog);
    assert_int_equal(j->n_groups, 1);
    udf_job_free(j);
}

static void settings_are_read(void **state)
{
    struct udf_job *j = accepted(
        HEAD
        "return once.job { name = 'a', version = 3, guarantee = 'at_least_once',\n"
        "on_error = { dead_letter = 'dead' }, retries = { 3, '2s' },\n"
        "commit = { max = '1.5s', min = 20 }, limits = { memory = '8MB', time = '250ms' },\n"
        "order = 'any', sample = 'in.txt',\n"
        "from = { { topic = 't', value = 'json', key = function(r) end, time = function(r) end },\n"
        "{ topic = 'u', key = 'csv' } }, process = function() end }\n");

    assert_int_equal(j->version, 3);
    assert_int_equal(j->guarantee, UDF_AT_LEAST_ONCE);
    assert_int_equal(j->on_error, UDF_DEAD_LETTER);
    assert_true(slice_eq_str(j->dead_letter, "dead"));
    assert_int_equal(j->retries_n, 3);
    assert_int_equal(j->retries_backoff_ms, 2000);
    assert_int_equal(j->commit_max_ms, 1500);
    assert_int_equal(j->commit_min_ms, 20);
    assert_int_equal(j->memory_limit, 8 << 20);
    assert_int_equal(j->time_limit_ns, 250000000);
    assert_true(j->order_any);
    assert_true(slice_eq_str(j->sample, "in.txt"));
    assert_int_equal(j->nodes[0].n_sources, 2);
    assert_int_equal(j->nodes[0].sources[0].value_codec, UDF_JSON);
    assert_true(j->nodes[0].sources[0].has_key_fn);
    assert_true(j->nodes[0].sources[0].has_time_fn);
    assert_int_equal(j->nodes[0].sources[1].key_codec, UDF_CSV);
    udf_job_free(j);
}

static void internal_topics_split_groups_and_stores_join_them(void **state)
{
    struct udf_job *j =
        accepted(HEAD "local job = once.job { name = 'w' }\n"
                      "job:node { name = 'a', from = 't', to = '#x', process = print }\n"
                      "job:node { name = 'b', from = '#x', stores = { s = {} }, process = print }\n"
                      "job:node { name = 'c', from = 't', process = print }\n"
                      "job:node { name = 'd', from = 'u', stores = { s = {} }, process = print }\n"
                      "return job\n");
    struct buf b;

    assert_int_equal(j->n_groups, 2);
    assert_int_equal(j->nodes[0].group, 0);
    assert_int_equal(j->nodes[1].group, 1);
    assert_int_equal(j->nodes[2].group, 0);
    assert_int_equal(j->nodes[3].group, 1);
    assert_int_equal(j->groups[0].n_nodes, 2);
    assert_int_equal(j->groups[1].n_topics, 2);
    assert_int_equal(j->groups[1].n_stores, 1);
    assert_int_equal(j->n_internals, 1);
    assert_true(j->nodes[1].sources[0].internal);
    buf_init(&b, 1000);
    assert_int_equal(udf_job_topic(j, j->internals[0].topic, &b), 0);
    assert_true(slice_eq_str(buf_slice(&b), "w-x-repartition"));
    buf_reset(&b);
    assert_int_equal(udf_job_changelog(j, 0, &b), 0);
    assert_true(slice_eq_str(buf_slice(&b), "w-s-changelog"));
    buf_deinit(&b);
    udf_job_free(j);
}

static void mistakes_name_file_line_and_remedy(void **state)
{
    assert_refused("local x =\n\nreturn 5 5", "job.lua:3: ");
    assert_refused(HEAD "return once.job {\n  nmae = 'a' }",
                   "job.lua:2: once.job: unknown key \"nmae\", did you mean \"name\"?");
    assert_refused(HEAD "return once.job { name = 'a', from = 't', proces = print }",
                   "did you mean \"process\"?");
    assert_refused(HEAD "return once.job { name = 'a', from = 't' }",
                   "job.lua:2: once.job: process must be a function(ctx, r), not nil");
    assert_refused(HEAD "return once.job { name = 'a' }", "job.lua:2: job \"a\" has no node");
    assert_refused(HEAD "return once.job { name = 'a', every = {} }",
                   "\"every\" is not supported yet in this version");
    assert_refused(HEAD "return once.job { name = 'a', from = 't', process = print, stores = { s = "
                        "{ ttl = '1h' } } }",
                   "\"ttl\" is not supported yet in this version");
    assert_refused(
        HEAD "return once.job { name = 'a', from = 't', process = print, stores = { emit = {} } }",
        "ctx.emit has another meaning");
    assert_refused(HEAD "return once.job { name = 'a/b', from = 't', process = print }",
                   "letters, digits");
    assert_refused(
        HEAD
        "return once.job { name = 'a', from = { topic = 't', value = 'jsno' }, process = print }",
        "did you mean \"json\"?");
    assert_refused(HEAD "return once.job { name = 'a', guarantee = 'exactly_onec' }",
                   "did you mean \"exactly_once\"?");
    assert_refused(HEAD "return once.job { name = 'a', retries = { 1, '5 parsecs' } }",
                   "retries.backoff must be an amount");
    assert_refused(
        HEAD "local j = once.job { name = 'a' }\nj:node { name = 'n', from = '#wrods', process = "
             "print }\n"
             "j:node { name = 'm', from = 't', to = '#words', process = print }\nreturn j",
        "job.lua:3: node \"n\" reads \"#wrods\", which no node writes, did you mean \"#words\"?");
    assert_refused("return 5", "job.lua: the file must return a job");
    assert_refused("return nothing", "job.lua:1: undeclared global 'nothing'");
    assert_refused("local function f() total = 1 end\nf()",
                   "job.lua:1: assignment to undeclared global 'total'");
    assert_refused("io.open 'x'", "'io' is not available to a job");
    assert_refused("local f = load 'return 1'", "'load' is not available to a job");
    assert_refused("require 'once.jsn'", "did you mean 'once.json'?");
    assert_refused("require '../secret'", "is not a module's name");
    assert_refused("require 'absent'", "module 'absent' not found: no file 'absent.lua'");
    assert_refused("setmetatable({}, { __gc = print })", "a metatable may not have __gc");
    assert_refused("setmetatable({}, { __mode = 'k' })", "a metatable may not have __mode");
}

static void loading_is_limited(void **state)
{
    assert_refused("while true do end", "job.lua:1: the file ran more than 200000000 instructions");
    assert_refused("local t = {}\nfor i = 1, 1e9 do\n  t[i] = { i }\nend",
                   "the task needs more than 64 MB of memory");
}

static void errors_carry_the_jobs_frames(void **state)
{
    assert_refused("local function f() return f() + 1 end\nf()",
                   "job.lua:1: the task needs more than 64 MB of memory "
                   "(limits.memory)\njob.lua:1: in function 'f'\n... and 99");
    assert_refused("local function f(s) return (s:gsub('.', f)) end\nf 'x'", "stack overflow");
    assert_refused("local function inner()\n  error 'no luck'\nend\nlocal function outer()\n  "
                   "inner()\n  return 1\nend\nouter()",
                   "job.lua:2: no luck\njob.lua:2: in function 'inner'");
}

static void modules_of_the_folder_are_read_once(void **state)
{
    struct udf_job *j =
        accepted(HEAD "local other = require 'lib.other'\nassert(other == require 'lib.other')\n"
                      "assert(other.twice(4) == 8)\n"
                      "return once.job { name = 'a', from = 't', process = print }\n");

    udf_job_free(j);
}

static void globals_are_declared_at_the_top(void **state)
{
    struct udf_job *j = accepted(
        HEAD "limit = 3\nfunction helper() return limit end\n"
             "return once.job { name = 'a', from = 't', process = function() helper() end }\n");

    udf_job_free(j);
}

static void no_prefix_of_a_job_crashes_the_loader(void **state)
{
    static const char text[] = HEAD
        "local job = once.job { name = 'w', on_error = 'skip' }\n"
        "job:node { name = 'a', from = { { topic = 't', value = 'json' } }, to = '#x', process = "
        "print }\n"
        "job:node { name = 'b', from = '#x', stores = { s = {} }, process = print }\nreturn job\n";
    char part[sizeof text];
    int loaded = 0;

    for (size_t n = 0; n < sizeof text; n += 3) {
        struct err e;
        struct udf_job *j;
        memcpy(part, text, n);
        part[n] = 0;
        j = host_job(part, &e);
        loaded += j != NULL;
        udf_job_free(j);
    }
    assert_true(loaded <= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_node_takes_defaults),
        cmocka_unit_test(settings_are_read),
        cmocka_unit_test(internal_topics_split_groups_and_stores_join_them),
        cmocka_unit_test(mistakes_name_file_line_and_remedy),
        cmocka_unit_test(loading_is_limited),
        cmocka_unit_test(errors_carry_the_jobs_frames),
        cmocka_unit_test(modules_of_the_folder_are_read_once),
        cmocka_unit_test(globals_are_declared_at_the_top),
        cmocka_unit_test(no_prefix_of_a_job_crashes_the_loader),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* tests/udf/test_process.c - what a job sees and does with one record, and how a record fails. */
#include "tests/udf/support_host.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#define HEAD "local once = require 'once'\n"

/* A job of one node, on topic "t" to "out" and "p-*", with a store s; the body is that of
 * process. */
static const char *job_text(const char *source, const char *top, const char *body)
{
    static char text[16384];

    snprintf(text, sizeof text,
             HEAD
             "%s\nreturn once.job { name = 'pay', version = 3, from = %s, to = { 'out', 'p-*' }, "
             "stores = { s = {} }, limits = { memory = '4MB', time = '100ms' }, process = "
             "function(ctx, r)\n"
             "%s\nend }\n",
             top, source, body);
    return text;
}

struct fixture {
    struct host h;
    struct udf_job *job;
    struct udf_task *t;
    struct udf_failure f;
};

static void open_with(struct fixture *x, const char *source, const char *top, const char *body)
{
    struct err e;

    host_init(&x->h);
    x->job = host_job(job_text(source, top, body), &e);
    if (!x->job) {
        print_error("%s\n", e.text);
        fail();
    }
    x->t = host_task(x->job, 0, &x->h);
}

static void open_job(struct fixture *x, const char *body)
{
    open_with(x, "'t'", "", body);
}

static void close_job(struct fixture *x)
{
    udf_task_close(x->t);
    udf_job_free(x->job);
    host_deinit(&x->h);
}

static void assert_text(struct slice s, const char *what)
{
    if (!slice_eq_str(s, what)) {
        print_error("  is: %.*s\nnot: %s\n", SLICE_FMT(s), what);
        fail();
    }
}

static void assert_in(struct slice s, const char *what)
{
    if (!memmem(s.p, s.n, what, strlen(what))) {
        print_error("%.*s\n  does not say: %s\n", SLICE_FMT(s), what);
        fail();
    }
}

static enum udf_result run(struct fixture *x, const char *key, const char *value)
{
    return host_run(x->t, "t", 1041, key, value, &x->f);
}

static void run_ok(struct fixture *x, const char *key, const char *value)
{
    if (run(x, key, value) != UDF_OK) {
        print_error("%.*s\n", SLICE_FMT(x->f.message));
        fail();
    }
}

/* Runs the body as process and asserts what it puts out. */
static void assert_outputs(const char *source, const char *body, const char *key, const char *value,
                           const char *outputs)
{
    struct fixture x;

    open_with(&x, source, "local json, csv = require 'once.json', require 'once.csv'", body);
    run_ok(&x, key, value);
    assert_string_equal(host_outputs(&x.h), outputs);
    close_job(&x);
}

/* Runs the body as process and asserts how it fails. */
static void assert_fails(const char *source, const char *body, enum udf_result kind,
                         const char *message)
{
    struct fixture x;

    open_with(&x, source, "local json, csv = require 'once.json', require 'once.csv'", body);
    assert_int_equal(run(&x, "a", "v"), kind);
    assert_in(x.f.message, message);
    assert_int_equal(x.f.kind, kind);
    close_job(&x);
}

/* ---- records and outputs ---- */

static void fields_are_those_of_the_record(void **state)
{
    assert_outputs("'t'",
                   "ctx:emit('out', { key = r.topic, value = { r.partition, r.offset, r.time, "
                   "r.key, r.value } })",
                   "k", "v", "out t [0,1041,2041,\"k\",\"v\"]\n");
    assert_outputs("'t'", "ctx:emit('out', { value = tostring(r.key) .. tostring(r.value) })", NULL,
                   NULL, "out \\N nilnil\n");
    assert_outputs("'t'", "assert(rawequal(r.headers, r.headers)) ctx:emit('out', r)", "k", "v",
                   "out k v\n");
}

static void values_are_written_as_the_contract_says(void **state)
{
    assert_outputs(
        "'t'",
        "local function e(v) ctx:emit('out', { key = v, value = v }) end\n"
        "e 'text' e(5) e(-9007199254740993) e(2.0) e(0.1) e(1e100) e(1/3) e(true) e(false) e(nil)\n"
        "e { 1, 2 } e { b = 1, a = { x = json.null } } e {} e(json.array {}) e(json.null)",
        "k", "v",
        "out text text\nout 5 5\nout -9007199254740993 -9007199254740993\nout 2.0 2.0\nout 0.1 "
        "0.1\n"
        "out 1e+100 1e+100\nout 0.3333333333333333 0.3333333333333333\nout true true\nout false "
        "false\n"
        "out \\N \\N\nout [1,2] [1,2]\nout {\"a\":{\"x\":null},\"b\":1} "
        "{\"a\":{\"x\":null},\"b\":1}\n"
        "out {} {}\nout [] []\nout null null\n");
}

static void a_view_passes_its_original_bytes(void **state)
{
    assert_outputs("{ topic = 't', value = 'json' }",
                   "r.value.a = 2 ctx:emit('out', r) ctx:emit('out', { value = r.value })", "k",
                   " { \"a\" : 1.50 } ", "out k  { \"a\" : 1.50 } \nout \\N {\"a\":2}\n");
}

static void outputs_are_those_that_to_names(void **state)
{
    assert_outputs("'t'", "ctx:emit('p-1', r)", "k", "v", "p-1 k v\n");
    assert_fails("'t'", "ctx:emit('ouT', r)", UDF_ERROR,
                 "the node's \"to\" does not name topic 'ouT', did you mean 'out'?");
    assert_fails("'t'", "ctx:emit('out', { vlaue = 1 })", UDF_ERROR,
                 "unknown field 'vlaue', did you mean 'value'?");
    assert_fails("'t'", "ctx.emit('out', r)", UDF_ERROR, "call it as ctx:emit(...)");
    assert_fails("'t'", "ctx:emit('out', { value = print })", UDF_ERROR,
                 "emit: value cannot be written: it is a function");
    assert_fails("'t'", "ctx:emit('out', { value = { print } })", UDF_ERROR,
                 "emit: value cannot be written as JSON: a function");
    assert_fails("'t'", "local t = {} t.t = t ctx:emit('out', { value = t })", UDF_ERROR,
                 "a table that holds itself");
}

static void time_partition_and_headers_reach_the_host(void **state)
{
    struct fixture x;

    open_job(
        &x,
        "ctx:emit('out', { value = 1, time = 5, partition = 2, headers = { b = 'x', a = 7 } })\n"
        "ctx:emit('out', { value = 1, headers = { { 'n', '1' }, { 'n', '2' } } })\n"
        "ctx:emit('out', r)");
    run_ok(&x, "k", "v");
    assert_int_equal(x.h.outs[0].time, 5);
    assert_int_equal(x.h.outs[0].partition, 2);
    assert_int_equal(x.h.outs[0].n_headers, 2);
    assert_memory_equal(x.h.outs[0].headers,
                        "\x02"
                        "a"
                        "\x02"
                        "7"
                        "\x02"
                        "b"
                        "\x02"
                        "x",
                        8);
    assert_int_equal(x.h.outs[1].time, 2041);
    assert_int_equal(x.h.outs[1].partition, -1);
    assert_memory_equal(x.h.outs[1].headers,
                        "\x02"
                        "n"
                        "\x02"
                        "1"
                        "\x02"
                        "n"
                        "\x02"
                        "2",
                        8);
    assert_int_equal(x.h.outs[2].n_headers, 0);
    close_job(&x);
}

static void headers_of_the_input_are_a_table(void **state)
{
    static const unsigned char raw[] = "\x02"
                                       "a"
                                       "\x04"
                                       "hi"
                                       "\x02"
                                       "b"
                                       "\x01"
                                       "\x02"
                                       "a"
                                       "\x02"
                                       "2";
    struct udf_record r = {.topic = slice_str("t"), .headers = {slice_of(raw, sizeof raw - 1), 3}};
    struct fixture x;

    open_with(&x, "'t'", "local json = require 'once.json'",
              "assert(r.headers.a == '2') assert(r.headers.b == json.null) ctx:emit('out', r)");
    assert_int_equal(udf_task_process(x.t, &r, 0, &x.f), UDF_OK);
    assert_int_equal(x.h.outs[0].headers_n, sizeof raw - 1);
    assert_memory_equal(x.h.outs[0].headers, raw, sizeof raw - 1);
    close_job(&x);
}

static void door_functions_set_key_and_time(void **state)
{
    assert_outputs("{ topic = 't', value = 'csv', key = function(r) return r.value[2] end, time = "
                   "function(r) return tonumber(r.value[1]) end }",
                   "ctx:emit('out', r) ctx:emit('out', { key = r.key, value = r.time })", "old",
                   "7,\"a \"\"b\"\"\"", "out a \"b\" 7,\"a \"\"b\"\"\"\nout a \"b\" 7\n");
    assert_fails("{ topic = 't', time = function(r) return 'x' end }", "", UDF_ERROR,
                 "time function must return milliseconds, not string");
}

static void codecs_decode_and_refuse(void **state)
{
    assert_outputs("{ topic = 't', value = 'json', key = 'json' }",
                   "ctx:emit('out', { key = r.key + 1, value = math.type(r.value.n) })", "41",
                   "{\"n\":9007199254740993}", "out 42 integer\n");
    assert_outputs("{ topic = 't', value = 'csv' }",
                   "ctx:emit('out', { key = #r.value, value = csv.format(r.value) })", "k",
                   "a,\"b,c\",,\"d\"\"\"", "out 4 a,\"b,c\",,\"d\"\"\"\n");
    assert_fails("{ topic = 't', value = 'json' }", "ctx:emit('out', { value = r.value })",
                 UDF_ERROR,
                 "job.lua:4: the record's value is not json: a value is missing at byte 1 (job pay "
                 "v3, t[0]@1041, key \"a\", value v)");
    assert_outputs("{ topic = 't', value = 'json' }", "ctx:emit('out', { value = r.value == nil })",
                   "k", NULL, "out \\N true\n");
}

static void stale_view_is_an_error(void **state)
{
    struct fixture x;

    open_with(&x, "'t'", "local kept",
              "if kept then ctx:emit('out', { value = kept.value }) end kept = r");
    run_ok(&x, "a", "1");
    assert_int_equal(run(&x, "b", "2"), UDF_ERROR);
    assert_in(x.f.message, "a record was used after its call");
    close_job(&x);
    open_with(&x, "'t'", "local kept", "if kept then ctx:emit('out', kept) end kept = r");
    run_ok(&x, "a", "1");
    assert_int_equal(run(&x, "b", "2"), UDF_ERROR);
    assert_in(x.f.message, "a record was used after its call");
    close_job(&x);
}

static void a_record_is_read_only_and_knows_its_fields(void **state)
{
    assert_fails("'t'", "r.value = 1", UDF_ERROR, "a record is read-only");
    assert_fails("'t'", "local x = r.vaule", UDF_ERROR, "no field 'vaule', did you mean 'value'?");
    assert_fails("'t'", "ctx:emmit('out', r)", UDF_ERROR,
                 "ctx has no 'emmit', did you mean 'emit'?");
    assert_fails("'t'", "ctx:timer('a', 5)", UDF_ERROR,
                 "timers are not supported yet in this version");
    assert_fails("'t'", "ctx.s:gett(1)", UDF_ERROR, "a store has no 'gett', did you mean 'get'?");
}

/* ---- stores ---- */

static void stores_keep_any_value(void **state)
{
    assert_outputs(
        "'t'",
        "local s = ctx.s\n"
        "s:put('t', { 1, 2.0, { a = true, [5] = 'x' }, json.null }) local t = s:get 't' t[1] = 99\n"
        "t = s:get 't' assert(t[1] == 1 and math.type(t[2]) == 'float' and t[3].a and t[3][5] == "
        "'x' and t[4] == json.null)\n"
        "s:put(5, 'int') assert(s:get(5) == 'int' and s:get(5.0) == 'int' and s:get('5') == nil)\n"
        "s:put({ 'a', 1 }, false) assert(s:get { 'a', 1 } == false)\n"
        "assert(s:update('n', function(v) return v + 1 end, 10) == 11 and s:get 'n' == 11)\n"
        "s:del 'n' assert(s:get 'n' == nil) s:put('t', nil) assert(s:count() == 2)\n"
        "ctx:emit('out', { value = s:get(5) })",
        "k", "v", "out \\N int\n");
}

static void iteration_is_ordered_and_sees_no_writes(void **state)
{
    assert_outputs(
        "'t'",
        "local s, got = ctx.s, {}\n"
        "for _, k in ipairs { 10, -3, 2, 'b', 'a', 'ab', { 'x', 1 }, { 'x' }, { 'x', 1, 2 } } do "
        "s:put(k, 1) end\n"
        "for k in s:range() do got[#got + 1] = k s:put('zz' .. #got, 1) end\n"
        "ctx:emit('out', { value = got }) got = {}\n"
        "for k in s:range(-3, 10) do got[#got + 1] = k end ctx:emit('out', { value = got }) got = "
        "{}\n"
        "for k in s:range(nil, 'b', { reverse = true, limit = 2 }) do got[#got + 1] = k end "
        "ctx:emit('out', { value = got }) got = {}\n"
        "for k in s:prefix 'a' do got[#got + 1] = k end ctx:emit('out', { value = got }) got = {}\n"
        "for k in s:prefix { 'x', 1 } do got[#got + 1] = k if #got == 1 then break end end "
        "ctx:emit('out', { value = got })\n"
        "local step = s:range() step()",
        "k", "v",
        "out \\N [-3,2,10,\"a\",\"ab\",\"b\",[\"x\"],[\"x\",1],[\"x\",1,2]]\nout \\N [-3,2]\n"
        "out \\N [\"ab\",\"a\"]\nout \\N [\"a\",\"ab\"]\nout \\N [[\"x\",1]]\n");
}

static void stores_refuse_what_they_cannot_keep(void **state)
{
    assert_fails("'t'", "ctx.s:put(1.5, 1)", UDF_ERROR,
                 "store 's': a key is a number with a fraction");
    assert_fails("'t'", "ctx.s:put(nil, 1)", UDF_ERROR, "the key is nil");
    assert_fails("'t'", "ctx.s:put('k', { f = print })", UDF_ERROR,
                 "the value cannot be stored: a function");
    assert_fails("'t'", "ctx.s:put(('x'):rep(600), 1)", UDF_ERROR, "the key takes 601 bytes");
    assert_fails("'t'", "ctx.s.get('k')", UDF_ERROR, "call it as ctx.STORE:get(...)");
    assert_fails("'t'", "for k in ctx.s:range(nil, nil, { revers = 1 }) do end", UDF_ERROR,
                 "did you mean 'reverse'?");
}

/* ---- failures ---- */

static void errors_name_file_line_and_record(void **state)
{
    struct fixture x;

    open_with(&x, "{ topic = 't', value = 'json' }",
              "local function pay(n)\n  error('insufficient funds')\nend", "pay(1)\nreturn 1");
    assert_int_equal(run(&x, "a", "{\"cents\":60}"), UDF_ERROR);
    assert_text(
        x.f.message,
        "job.lua:3: insufficient funds (job pay v3, t[0]@1041, key \"a\", value {\"cents\":60})");
    assert_text(x.f.where, "job.lua:3");
    assert_text(x.f.text, "insufficient funds");
    assert_text(x.f.traceback, "job.lua:3: in function 'pay'\njob.lua:6: in function <line 5>");
    assert_int_equal(x.f.node, 0);
    close_job(&x);
}

static void errors_of_all_kinds_have_a_position(void **state)
{
    assert_fails("'t'", "local x = nil + 1", UDF_ERROR,
                 "job.lua:4: attempt to perform arithmetic on a nil value");
    assert_fails("'t'", "error({ code = 7 })", UDF_ERROR,
                 "job.lua:4: error value {\"code\":7} (job");
    assert_fails("'t'", "error()", UDF_ERROR, "job.lua:4: error value of type nil");
    assert_fails("'t'", "coroutine.wrap(function()\n error 'inside' end)()", UDF_ERROR,
                 "job.lua:5: inside (job");
    assert_fails("'t'", "total = 1", UDF_ERROR,
                 "job.lua:4: assignment to undeclared global 'total'");
    assert_fails("'t'", "return cuont", UDF_ERROR, "job.lua:4: undeclared global 'cuont'");
}

static void reject_carries_reason_and_details(void **state)
{
    struct fixture x;

    open_job(&x,
             "pcall(function() ctx:reject('too little', { cents = 5 }) end)\nctx:emit('out', r)");
    assert_int_equal(run(&x, "a", "v"), UDF_REJECTED);
    assert_text(x.f.reason, "too little");
    assert_text(x.f.details, "{\"cents\":5}");
    assert_text(x.f.message,
                "job.lua:4: too little (job pay v3, t[0]@1041, key \"a\", value \"v\")");
    assert_int_equal(x.h.n_outs, 0);
    close_job(&x);
}

static void failures_of_the_host_are_not_the_records(void **state)
{
    struct fixture x;

    open_job(&x, "pcall(ctx.emit, ctx, 'out', r) ctx.s:put(1, 1)");
    x.h.emit_result = -ERR_IO;
    assert_int_equal(run(&x, "a", "v"), UDF_HOST);
    assert_int_equal(x.f.host_code, -ERR_IO);
    assert_int_equal(x.h.stores[0].n, 0);
    x.h.emit_result = -ERR_TOO_BIG; /* this one is: the job may catch it */
    run_ok(&x, "a", "v");
    assert_int_equal(x.h.stores[0].n, 1);
    close_job(&x);
}

static void a_failed_record_leaves_the_task_usable(void **state)
{
    struct fixture x;

    open_job(&x, "if r.value == 'bad' then local t = {} while true do t[#t + 1] = ('x'):rep(1000) "
                 ".. #t end end ctx:emit('out', r)");
    for (int i = 0; i < 20; i++) {
        assert_int_equal(run(&x, "a", "bad"), UDF_MEMORY);
        run_ok(&x, "a", "good");
    }
    assert_true(udf_task_memory(x.t) < 4 << 20);
    close_job(&x);
}

/* ---- limits ---- */

static void endless_loops_end(void **state)
{
    assert_fails("'t'", "while true do end", UDF_TIME,
                 "job.lua:4: the record ran more than 5000000 instructions (job pay v3, t[0]@1041");
    assert_fails("'t'", "while true do pcall(function() while true do end end) end", UDF_TIME,
                 "the record ran");
    assert_fails("'t'",
                 "while true do xpcall(function() while true do end end, function() while true do "
                 "end end) end",
                 UDF_TIME, "the record ran");
    assert_fails("'t'",
                 "local co = coroutine.create(function() while true do end end) while true do "
                 "coroutine.resume(co) end",
                 UDF_TIME, "the record ran");
    assert_fails("'t'",
                 "coroutine.wrap(function() pcall(coroutine.wrap(function() while true do end "
                 "end)) while true do end end)()",
                 UDF_TIME, "the record ran");
    assert_fails("'t'",
                 "local co = coroutine.wrap(function() while true do coroutine.yield() end end) "
                 "while true do co() end",
                 UDF_TIME, "the record ran");
    assert_fails("'t'",
                 "local co = coroutine.create(function() local x <close> = setmetatable({}, { "
                 "__close = function() while true do end end }) coroutine.yield() end) "
                 "coroutine.resume(co) coroutine.close(co)",
                 UDF_TIME, "the record ran");
    assert_fails("'t'", "table.sort({ 3, 1, 2 }, function() while true do end end)", UDF_TIME,
                 "the record ran");
    assert_fails("'t'",
                 "local x <close> = setmetatable({}, { __close = function() while true do "
                 "pcall(print) end end }) while true do end",
                 UDF_TIME, "the record ran");
}

static void memory_is_limited(void **state)
{
    assert_fails("'t'", "local t = {} while true do t[#t + 1] = { #t } end", UDF_MEMORY,
                 "job.lua:4: the task needs more than 4 MB of memory (limits.memory) (job pay v3");
    assert_fails("'t'", "local s = ('x'):rep(100 * 1024 * 1024)", UDF_MEMORY,
                 "job.lua:4: the task needs more than 4 MB");
    assert_fails("'t'",
                 "while true do pcall(function() local s = ('x'):rep(100 * 1024 * 1024) end) end",
                 UDF_MEMORY, "the task needs more than 4 MB");
    assert_fails(
        "'t'",
        "local t = {} while true do pcall(function() while true do t[#t + 1] = { #t } end end) end",
        UDF_MEMORY, "the task needs more than 4 MB");
    assert_fails("'t'",
                 "local t = {} coroutine.resume(coroutine.create(function() while true do t[#t + "
                 "1] = { #t } end end))",
                 UDF_MEMORY, "the task needs more than 4 MB");
}

static void garbage_is_not_counted_against_the_job(void **state)
{
    assert_outputs("'t'",
                   "local n = 0 for i = 1, 20000 do n = n + #(('x'):rep(1000) .. i) end "
                   "ctx:emit('out', { value = n })",
                   "k", "v", "out \\N 20088894\n");
}

struct signals {
    void (*fire)(void *);
    void *u;
    int armed, overruns;
};
static struct signals *signals_of(struct udf_host *h);

static void watchdog(struct udf_host *h, uint64_t ns, void (*fire)(void *), void *u)
{
    struct signals *s = signals_of(h);

    s->armed += ns ? 1 : -1;
    s->fire = fire;
    s->u = u;
}

static void overrun(struct udf_host *h)
{
    signals_of(h)->overruns++;
}

/* The job calls ctx:wall() in its loop: stands for the signal that comes while it runs. */
static int64_t wall_and_fire(struct udf_host *h)
{
    struct signals *s = signals_of(h);

    s->fire(s->u);
    return 1;
}

static struct signals signals;
static struct signals *signals_of(struct udf_host *h)
{
    (void)h;
    return &signals;
}

static void the_watchdog_stops_a_record_that_overruns(void **state)
{
    struct fixture x;

    open_job(
        &x,
        "if r.value == 'short' then for i = 1, 3 do ctx:wall() end ctx:emit('out', r) return end\n"
        "while true do pcall(ctx.wall, ctx) end");
    signals = (struct signals){0};
    x.h.h.count_limit = 0;
    x.h.h.watchdog = watchdog;
    x.h.h.overrun = overrun;
    x.h.h.wall_ms = wall_and_fire;
    udf_task_close(x.t);
    x.t = host_task(x.job, 0, &x.h);
    udf_task_enter(x.t);
    for (int i = 0; i < 10; i++)
        run_ok(&x, "a", "short");
    assert_int_equal(run(&x, "a", "long"), UDF_TIME);
    assert_text(x.f.message, "job.lua:5: the record ran longer than 100 ms (limits.time) (job pay "
                             "v3, t[0]@1041, key \"a\", value \"long\")");
    assert_int_equal(signals.overruns, 0);
    run_ok(&x, "a", "short");
    udf_task_leave(x.t);
    assert_null(signals.fire);
    assert_int_equal(run(&x, "a", "long"), UDF_TIME); /* armed by itself */
    assert_null(signals.fire);
    close_job(&x);
}

static void no_idle_time_counts_against_a_record(void **state)
{
    struct fixture x;

    open_job(&x, "ctx:wall()");
    signals = (struct signals){0};
    x.h.h.count_limit = 0;
    x.h.h.watchdog = watchdog;
    x.h.h.overrun = overrun;
    udf_task_close(x.t);
    x.t = host_task(x.job, 0, &x.h);
    udf_task_enter(x.t);
    run_ok(&x, "a", "v");
    for (int i = 0; i < 20; i++) /* idle: nobody overruns */
        signals.fire(signals.u);
    assert_int_equal(signals.overruns, 0);
    udf_task_leave(x.t);
    close_job(&x);
}

static void (*alarm_fire)(void *);
static void *alarm_user;

static void on_alarm(int n)
{
    (void)n;
    if (alarm_fire)
        alarm_fire(alarm_user);
}

static void alarm_watchdog(struct udf_host *h, uint64_t ns, void (*fire)(void *), void *u)
{
    struct itimerval it = {.it_value = {.tv_sec = (time_t)(ns / 1000000000),
                                        .tv_usec = (suseconds_t)(ns / 1000 % 1000000)}};

    (void)h;
    alarm_fire = fire;
    alarm_user = u;
    setitimer(ITIMER_REAL, &it, NULL);
}

/* The pattern takes exponential time inside C, where no hook is looked at; then the job would
 * loop. */
static volatile int real_overruns;
static void real_overrun(struct udf_host *h)
{
    (void)h;
    real_overruns = real_overruns + 1;
}

static void a_signal_ends_an_endless_loop(void **state)
{
    static const char *const bodies[] = {
        "while true do end", "while true do pcall(function() while true do end end) end",
        ("local co = coroutine.wrap(function() while true do local t = {} t[1] = t end end) while "
         "true do co() end"),
        "local s = ('a'):rep(27) s:find(('a?'):rep(27) .. ('a'):rep(27)) while true do end"};

    signal(SIGALRM, on_alarm);
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct fixture x;
        open_job(&x, bodies[i]);
        x.h.h.count_limit = 0;
        x.h.h.watchdog = alarm_watchdog;
        x.h.h.overrun = real_overrun;
        udf_task_close(x.t);
        x.t = host_task(x.job, 0, &x.h);
        real_overruns = 0;
        udf_task_enter(x.t);
        assert_int_equal(run(&x, "a", "v"), UDF_TIME);
        udf_task_leave(x.t);
        assert_in(x.f.message, "job.lua:4: the record ran longer than 100 ms");
        close_job(&x);
    }
    assert_true(real_overruns > 0);
    signal(SIGALRM, SIG_DFL);
}

/* ---- determinism ---- */

static const char *const varied =
    "local t = {} for w in ('the quick brown fox jumps over the lazy dog'):gmatch '%a+' do t[w] = "
    "#w end\n"
    "t[3] = 1 t[1] = 1 t[2.5] = 1 t[-1] = 1 t[true] = 1 t[false] = 1\n"
    "local keys = {} for k in pairs(t) do keys[#keys + 1] = tostring(k) end\n"
    "ctx:emit('out', { value = table.concat(keys, ' ') })\n"
    "ctx:emit('out', { value = { math.random(1, 1000000), math.random(1 << 40), tostring({}), "
    "tostring(print), string.format('%s', {}) } })\n"
    "local list = {} for i = 1, 200 do list[i] = { i % 7, i } end\n"
    "table.sort(list, function(a, b) return a[1] < b[1] end)\n"
    "ctx:emit('out', { value = list }) ctx:emit('out', { key = next(t), value = math.random() })\n";

static void two_tasks_do_the_same(void **state)
{
    struct fixture a, b;

    open_job(&a, varied);
    open_job(&b, varied);
    run_ok(&b, "first", "other history");
    host_clear(&b.h);
    run_ok(&a, "k", "v");
    run_ok(&b, "k", "v");
    assert_string_equal(host_outputs(&a.h), host_outputs(&b.h));
    assert_in(slice_str(host_outputs(&a.h)),
              "out \\N -1 1 2.5 3 brown dog fox jumps lazy over quick the false true\n");
    host_clear(&a.h);
    assert_int_equal(host_run(a.t, "t", 1042, "k", "v", &a.f), UDF_OK);
    assert_string_not_equal(host_outputs(&a.h),
                            host_outputs(&b.h)); /* another position draws anew */
    close_job(&a);
    close_job(&b);
}

static void pairs_has_one_order_and_fixed_keys(void **state)
{
    assert_outputs(
        "'t'",
        "local t, got = { 1, 2, 3, x = 1, y = 2 }, {}\n"
        "for k, v in pairs(t) do got[#got + 1] = tostring(k) t.y = nil t['new' .. k] = 1 end\n"
        "ctx:emit('out', { value = got }) got = {}\n"
        "local l = { 1, 2, 3, 4 } for k in pairs(l) do got[#got + 1] = k l[k + 1] = nil l[#l + 10] "
        "= 1 end\n"
        "ctx:emit('out', { value = got })\n"
        "assert(next({}) == nil) assert(next({ b = 1, a = 2 }) == 'a')\n"
        "local n = 0 for k in once.unordered { [print] = 1, a = 2 } do n = n + 1 end assert(n == "
        "2)\n"
        "for k, v in pairs(setmetatable({}, { __pairs = function() return function(_, k) return "
        "not k and 1 or nil end end })) do assert(k == 1) end",
        "k", "v", "out \\N [\"1\",\"2\",\"3\",\"x\"]\nout \\N [1,3]\n");
    assert_fails("'t'", "for k in pairs { [print] = 1 } do end", UDF_ERROR,
                 "pairs: a key is a function");
    assert_fails("'t'", "next({ 1 }, 1)", UDF_ERROR, "next takes no key here");
    assert_fails("'t'", "string.format('%p', {})", UDF_ERROR, "would show an address");
}

static void time_functions_follow_the_host(void **state)
{
    assert_outputs("'t'",
                   "ctx:emit('out', { value = { os.time(), os.date('%Y-%m-%dT%H:%M:%S %a %j %U "
                   "%V'), os.date('!%c', 0), os.time { year = 2017, month = 7, day = 14, hour = 2, "
                   "min = 40 }, ctx:wall(), ctx:now(), os.date('*t', 951782400).yday } })\n"
                   "for i = -5, 5 do local s = i * 86400 * 3651 + i local d = os.date('*t', s) "
                   "assert(os.time(d) == s) end",
                   "k", "v",
                   "out \\N [1500000000,\"2017-07-14T02:40:00 Fri 195 28 28\",\"Thu Jan  1 "
                   "00:00:00 1970\",1500000000,1500000000123,0,60]\n");
}

static void logs_and_counters_reach_the_host(void **state)
{
    struct fixture x;

    open_job(&x, "print('a', 1, nil) ctx.log.warn('w') ctx:count('c') ctx:count('c', 5) "
                 "ctx:observe('o', 2.5)");
    run_ok(&x, "k", "v");
    buf_put_u8(&x.h.log, 0);
    assert_string_equal((char *)x.h.log.p,
                        "1 a\t1\tnil\n2 w\ncount c 1\ncount c 5\nobserve o 2.5\n");
    close_job(&x);
}

static void nodes_of_a_topic_run_in_order(void **state)
{
    struct err e;
    struct udf_failure f;
    struct host h;
    struct udf_job *j =
        host_job(HEAD "local job = once.job { name = 'a' }\n"
                      "job:node { name = 'n1', from = { topic = 't', value = 'json' }, to = 'out', "
                      "stores = { s = {} }, process = function(ctx, r) r.value.x = 1 "
                      "ctx.s:put('a', r.value) ctx:emit('out', { value = 1 }) end }\n"
                      "job:node { name = 'n2', from = { topic = 't', value = 'json' }, to = 'out', "
                      "process = function(ctx, r) assert(r.value.x == nil) ctx:emit('out', { value "
                      "= ctx.s:get('a').x + 1 }) end }\n"
                      "job:node { name = 'n3', from = 'u', stores = { s = {} }, process = "
                      "function(ctx, r) error 'not me' end }\n"
                      "return job",
                 &e);
    struct udf_task *t;

    assert_non_null(j);
    assert_int_equal(j->n_groups, 1);
    host_init(&h);
    t = host_task(j, 0, &h);
    assert_int_equal(host_run(t, "t", 0, "k", "{}", &f), UDF_OK);
    assert_string_equal(host_outputs(&h), "out \\N 1\nout \\N 2\n");
    assert_int_equal(host_run(t, "u", 0, "k", "{}", &f), UDF_ERROR);
    assert_int_equal(f.node, 2);
    udf_task_close(t);
    udf_job_free(j);
    host_deinit(&h);
}

static void samples_come_from_the_job(void **state)
{
    struct err e;
    struct host h;
    struct slice k, v;
    struct udf_job *j = host_job(
        HEAD
        "return once.job { name = 'a', from = 't', process = print, sample = function(i) if i == 1 "
        "then return 'line' elseif i == 2 then return { key = 5, value = { i } } end end }",
        &e);
    struct udf_task *t;

    assert_non_null(j);
    assert_true(j->has_sample_fn);
    host_init(&h);
    t = host_task(j, 0, &h);
    assert_int_equal(udf_task_sample(t, 1, &k, &v, &e), 1);
    assert_true(slice_is_null(k) && slice_eq_str(v, "line"));
    assert_int_equal(udf_task_sample(t, 2, &k, &v, &e), 1);
    assert_true(slice_eq_str(k, "5") && slice_eq_str(v, "[2]"));
    assert_int_equal(udf_task_sample(t, 3, &k, &v, &e), 0);
    udf_task_close(t);
    udf_job_free(j);
    host_deinit(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_those_of_the_record),
        cmocka_unit_test(values_are_written_as_the_contract_says),
        cmocka_unit_test(a_view_passes_its_original_bytes),
        cmocka_unit_test(outputs_are_those_that_to_names),
        cmocka_unit_test(time_partition_and_headers_reach_the_host),
        cmocka_unit_test(headers_of_the_input_are_a_table),
        cmocka_unit_test(door_functions_set_key_and_time),
        cmocka_unit_test(codecs_decode_and_refuse),
        cmocka_unit_test(stale_view_is_an_error),
        cmocka_unit_test(a_record_is_read_only_and_knows_its_fields),
        cmocka_unit_test(stores_keep_any_value),
        cmocka_unit_test(iteration_is_ordered_and_sees_no_writes),
        cmocka_unit_test(stores_refuse_what_they_cannot_keep),
        cmocka_unit_test(errors_name_file_line_and_record),
        cmocka_unit_test(errors_of_all_kinds_have_a_position),
        cmocka_unit_test(reject_carries_reason_and_details),
        cmocka_unit_test(failures_of_the_host_are_not_the_records),
        cmocka_unit_test(a_failed_record_leaves_the_task_usable),
        cmocka_unit_test(endless_loops_end),
        cmocka_unit_test(memory_is_limited),
        cmocka_unit_test(garbage_is_not_counted_against_the_job),
        cmocka_unit_test(the_watchdog_stops_a_record_that_overruns),
        cmocka_unit_test(no_idle_time_counts_against_a_record),
        cmocka_unit_test(a_signal_ends_an_endless_loop),
        cmocka_unit_test(two_tasks_do_the_same),
        cmocka_unit_test(pairs_has_one_order_and_fixed_keys),
        cmocka_unit_test(time_functions_follow_the_host),
        cmocka_unit_test(logs_and_counters_reach_the_host),
        cmocka_unit_test(nodes_of_a_topic_run_in_order),
        cmocka_unit_test(samples_come_from_the_job),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

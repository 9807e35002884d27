/* tests/udf/test_codec.c - JSON, CSV, keys and values between the Lua stack and bytes. */
#include "tests/udf/support_host.h"
#include "udf/lcsv.h"
#include "udf/ljson.h"
#include "udf/lkey.h"
#include "udf/ltext.h"
#include "udf/lvalue.h"
#include <lauxlib.h>
#include <lualib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct lua {
    lua_State *L;
    struct buf scratch, out;
    const char *why;
    size_t pos;
};

static int setup(void **state)
{
    struct lua *l = calloc(1, sizeof *l);

    assert_non_null(l);
    l->L = luaL_newstate();
    luaL_openlibs(l->L);
    buf_init(&l->scratch, 1 << 20);
    buf_init(&l->out, 1 << 20);
    *state = l;
    return 0;
}

static int teardown(void **state)
{
    struct lua *l = *state;

    lua_close(l->L);
    buf_deinit(&l->scratch);
    buf_deinit(&l->out);
    free(l);
    return 0;
}

/* Pushes the value of a Lua expression. */
static void push(struct lua *l, const char *expression)
{
    lua_pushfstring(l->L, "return %s", expression);
    if (luaL_dostring(l->L, lua_tostring(l->L, -1))) {
        print_error("%s: %s\n", expression, lua_tostring(l->L, -1));
        fail();
    }
    lua_remove(l->L, -2);
}

static const char *text_of(struct buf *b)
{
    buf_put_u8(b, 0);
    return (const char *)b->p;
}

static void assert_json(struct lua *l, const char *in, const char *out)
{
    if (ljson_push(l->L, slice_str(in), &l->scratch, &l->why, &l->pos)) {
        print_error("%s: %s at %zu\n", in, l->why, l->pos);
        fail();
    }
    buf_reset(&l->out);
    assert_int_equal(ljson_put(l->L, -1, &l->out, &l->why), 0);
    assert_string_equal(text_of(&l->out), out);
    lua_settop(l->L, 0);
}

static void json_round_trips(void **state)
{
    struct lua *l = *state;

    assert_json(l, "9007199254740993", "9007199254740993");
    assert_json(l, "-9223372036854775808", "-9223372036854775808");
    assert_json(l, "9223372036854775808", "9.223372036854776e+18");
    assert_json(l, " [ 1 , 2.50 , -0.0, 1E2, -7 ] ", "[1,2.5,-0.0,100.0,-7]");
    assert_json(l, "{\"b\":[],\"a\":{},\"c\":null,\"a\":true}", "{\"a\":true,\"b\":[],\"c\":null}");
    assert_json(l, "\"\\u00e9\\ud83d\\ude00\\n\\\"\\/\\u0001\"",
                "\"\xC3\xA9\xF0\x9F\x98\x80\\n\\\"/\\u0001\"");
    assert_json(l, "[[[[]]],[{\"x\":[null]}]]", "[[[[]]],[{\"x\":[null]}]]");
    assert_json(l, "false", "false");
}

static void json_refuses_what_is_not_json(void **state)
{
    static const char *const bad[] = {"",
                                      " ",
                                      "01",
                                      "1.",
                                      ".5",
                                      "+1",
                                      "-",
                                      "1e",
                                      "[1,]",
                                      "[1 2]",
                                      "{\"a\"}",
                                      "{\"a\":}",
                                      "{a:1}",
                                      "{\"a\":1,}",
                                      "\"",
                                      "\"\\x\"",
                                      "\"\\u12\"",
                                      "\"\\ud800\"",
                                      "\"\\udc00\"",
                                      "\"\n\"",
                                      "\"\xFF\"",
                                      "\"\xC0\x80\"",
                                      "\"\xED\xA0\x80\"",
                                      "nul",
                                      "truex",
                                      "1 2",
                                      "[",
                                      "{",
                                      "]",
                                      "1e999",
                                      "NaN",
                                      "'a'",
                                      "[1}",
                                      "\"\xE2\x82"};
    struct lua *l = *state;
    char *deep = malloc(1001);

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (!ljson_push(l->L, slice_str(bad[i]), &l->scratch, &l->why, &l->pos)) {
            print_error("accepted: %s\n", bad[i]);
            fail();
        }
        assert_int_equal(lua_gettop(l->L), 0);
    }
    assert_non_null(deep);
    memset(deep, '[', 1000);
    assert_int_equal(ljson_push(l->L, slice_of(deep, 1000), &l->scratch, &l->why, &l->pos),
                     -ERR_INVALID);
    assert_string_equal(l->why, "nested too deep");
    free(deep);
}

static void json_writes_tables_by_their_keys(void **state)
{
    static const char *const cases[][2] = {
        {"{ 1, 2, nil, 4 }", "{\"1\":1,\"2\":2,\"4\":4}"},
        {"{ [10] = 'a', [9] = 'b' }", "{\"10\":\"a\",\"9\":\"b\"}"},
        {"{ 'x', k = 1.5, [2.5] = 2 }", "{\"1\":\"x\",\"2.5\":2,\"k\":1.5}"},
        {"(function() local t = {} for i = 1, 40 do t['k' .. i] = i end return { n = t.k40 } "
         "end)()",
         "{\"n\":40}"}};
    static const char *const refused[] = {"{ [true] = 1 }",
                                          "{ [1] = 'a', ['1'] = 'b', x = 1 }",
                                          "{ print }",
                                          "0/0",
                                          "1/0",
                                          "'\\xff'",
                                          "{ ['\\xff'] = 1 }",
                                          "(function() local t = {} t[1] = t return t end)()"};
    struct lua *l = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        push(l, cases[i][0]);
        buf_reset(&l->out);
        assert_int_equal(ljson_put(l->L, -1, &l->out, &l->why), 0);
        assert_string_equal(text_of(&l->out), cases[i][1]);
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        push(l, refused[i]);
        buf_reset(&l->out);
        assert_int_equal(ljson_put(l->L, -1, &l->out, &l->why), -ERR_INVALID);
    }
}

static void csv_round_trips(void **state)
{
    static const char *const cases[][2] = {{"a,b,c", "3"},
                                           {"", "1"},
                                           {",", "2"},
                                           {"\"a,b\",c", "2"},
                                           {"\"say \"\"hi\"\"\",\"\"", "2"},
                                           {"\"two\nlines\",x", "2"},
                                           {"a b, c ,d", "3"}};
    struct lua *l = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(
            lcsv_push(l->L, slice_str(cases[i][0]), ',', &l->scratch, &l->why, &l->pos), 0);
        assert_int_equal(lua_rawlen(l->L, -1), atoi(cases[i][1]));
        buf_reset(&l->out);
        assert_int_equal(lcsv_put(l->L, -1, ',', &l->out, &l->why), 0);
        if (i != 4) /* quotes that were not needed are not written */
            assert_string_equal(text_of(&l->out), cases[i][0]);
        lua_settop(l->L, 0);
    }
    assert_int_equal(lcsv_push(l->L, slice_str("a;\"b\"\r\n"), ';', &l->scratch, &l->why, &l->pos),
                     0);
    assert_int_equal(lua_rawlen(l->L, -1), 2);
    push(l, "{ 1, 2.5, true, 'a,b' }");
    buf_reset(&l->out);
    assert_int_equal(lcsv_put(l->L, -1, ',', &l->out, &l->why), 0);
    assert_string_equal(text_of(&l->out), "1,2.5,true,\"a,b\"");
}

static void csv_refuses_broken_quotes(void **state)
{
    static const char *const bad[] = {"a\"b", "\"a", "\"a\"b", "a\nb", "\"a\"\"", "x,\"y\"z,"};
    struct lua *l = *state;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(lcsv_push(l->L, slice_str(bad[i]), ',', &l->scratch, &l->why, &l->pos),
                         -ERR_INVALID);
        assert_int_equal(lua_gettop(l->L), 0);
    }
}

/* In ascending order. */
static const char *const ordered_keys[] = {"math.mininteger",
                                           "-9007199254740993",
                                           "-65537",
                                           "-65536",
                                           "-65535",
                                           "-257",
                                           "-256",
                                           "-255",
                                           "-2",
                                           "-1",
                                           "0",
                                           "1",
                                           "255",
                                           "256",
                                           "65535",
                                           "65536",
                                           "1 << 40",
                                           "math.maxinteger",
                                           "''",
                                           "'\\0'",
                                           "'\\0\\0'",
                                           "'\\0\\xff'",
                                           "'a'",
                                           "'a\\0'",
                                           "'a\\0b'",
                                           "'aa'",
                                           "'ab'",
                                           "'b'",
                                           "'\\xff'",
                                           "'\\xff\\xff'",
                                           "{}",
                                           "{ 1 }",
                                           "{ 1, 2 }",
                                           "{ 1, 'a' }",
                                           "{ 2 }",
                                           "{ '' }",
                                           "{ '', 1 }",
                                           "{ '\\0' }",
                                           "{ 'a' }",
                                           "{ 'a', -1 }",
                                           "{ 'a', 1 }",
                                           "{ 'a', 'b' }",
                                           "{ 'a', {} }",
                                           "{ 'a\\0' }",
                                           "{ 'ab' }",
                                           "{ {} }",
                                           "{ {}, 1 }",
                                           "{ { 1 } }",
                                           "{ { 1 }, 2 }",
                                           "{ { 1, 1 } }"};
enum { N_KEYS = sizeof ordered_keys / sizeof *ordered_keys };

static void keys_keep_their_order_as_bytes(void **state)
{
    struct lua *l = *state;
    struct buf encoded[N_KEYS];

    for (int i = 0; i < N_KEYS; i++) {
        buf_init(&encoded[i], 1 << 16);
        push(l, ordered_keys[i]);
        assert_int_equal(lkey_put(l->L, -1, &encoded[i], &l->why), 0);
        if (i && slice_cmp(buf_slice(&encoded[i - 1]), buf_slice(&encoded[i])) >= 0) {
            print_error("%s is not before %s\n", ordered_keys[i - 1], ordered_keys[i]);
            fail();
        }
        /* Back and forth gives the same bytes. */
        assert_int_equal(lkey_push(l->L, buf_slice(&encoded[i]), &l->scratch), 0);
        buf_reset(&l->out);
        assert_int_equal(lkey_put(l->L, -1, &l->out, &l->why), 0);
        assert_true(slice_eq(buf_slice(&l->out), buf_slice(&encoded[i])));
        lua_settop(l->L, 0);
    }
    for (int i = 0; i < N_KEYS; i++)
        buf_deinit(&encoded[i]);
}

static void random_keys_order_like_their_values(void **state)
{
    struct lua *l = *state;

    for (int i = 0; i < 2000; i++) {
        struct buf a, b;
        int64_t x = (int64_t)((uint64_t)rand() << 32 ^ (uint64_t)rand() << 11 ^ (uint64_t)rand()) >>
                    (rand() % 64);
        int64_t y = (int64_t)((uint64_t)rand() << 32 ^ (uint64_t)rand() << 11 ^ (uint64_t)rand()) >>
                    (rand() % 64);
        int c;
        buf_init(&a, 100);
        buf_init(&b, 100);
        udf_key_encode_int(x, &a);
        udf_key_encode_int(y, &b);
        c = slice_cmp(buf_slice(&a), buf_slice(&b));
        assert_int_equal(c < 0 ? -1 : c > 0, x < y ? -1 : x > y);
        assert_int_equal(lkey_push(l->L, buf_slice(&a), &l->scratch), 0);
        assert_int_equal(lua_tointeger(l->L, -1), x);
        lua_settop(l->L, 0);
        buf_deinit(&a);
        buf_deinit(&b);
    }
}

static void keys_as_text_are_what_emit_writes(void **state)
{
    static const char *const cases[][2] = {{"'a b'", "a b"},
                                           {"-7", "-7"},
                                           {"{ 'x', 1, { 'y\"' } }", "[\"x\",1,[\"y\\\"\"]]"},
                                           {"{}", "[]"}};
    struct lua *l = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        push(l, cases[i][0]);
        buf_reset(&l->scratch);
        buf_reset(&l->out);
        assert_int_equal(lkey_put(l->L, -1, &l->scratch, &l->why), 0);
        assert_int_equal(udf_key_text(buf_slice(&l->scratch), &l->out), 0);
        assert_string_equal(text_of(&l->out), cases[i][1]);
    }
}

static void values_round_trip_and_are_the_same_bytes(void **state)
{
    static const char *const cases[][2] = {
        {"5", "5"},
        {"-1 << 62", "-4611686018427387904"},
        {"math.mininteger", "-9223372036854775808"},
        {"2.0", "2.0"},
        {"'a b'", "a b"},
        {"''", ""},
        {"true", "true"},
        {"{ 1, 'x', { 2.5 } }", "[1,\"x\",[2.5]]"},
        {"{}", "{}"},
        {"{ b = 1, a = { c = false } }", "{\"a\":{\"c\":false},\"b\":1}"},
        {"{ 1, 2, x = 3 }", "{\"1\":1,\"2\":2,\"x\":3}"},
        {"{ [10] = 1, [9] = 2, [1.5] = 3 }", "{\"1.5\":3,\"10\":1,\"9\":2}"},
        {"{ [true] = 1 }", "{\"true\":1}"}};
    struct lua *l = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        push(l, cases[i][0]);
        buf_reset(&l->scratch);
        assert_int_equal(lvalue_put(l->L, -1, &l->scratch, &l->why), 0);
        buf_reset(&l->out);
        assert_int_equal(udf_value_text(buf_slice(&l->scratch), &l->out), 0);
        assert_string_equal(text_of(&l->out), cases[i][1]);
        assert_int_equal(lvalue_push(l->L, buf_slice(&l->scratch)), 0);
        buf_reset(&l->out);
        assert_int_equal(lvalue_put(l->L, -1, &l->out, &l->why), 0);
        assert_true(slice_eq(buf_slice(&l->out), buf_slice(&l->scratch)));
        /* Every truncation is refused, none is read beyond. */
        for (size_t n = 0; n < l->scratch.n && l->scratch.p[0] != 5; n++)
            assert_int_equal(lvalue_push(l->L, slice_of(l->scratch.p, n)), -ERR_CORRUPT);
        lua_settop(l->L, 0);
    }
}

static void a_marked_array_stays_one(void **state)
{
    struct lua *l = *state;

    assert_int_equal(ljson_push(l->L, slice_str("{\"a\":[]}"), &l->scratch, &l->why, &l->pos), 0);
    buf_reset(&l->scratch);
    assert_int_equal(lvalue_put(l->L, -1, &l->scratch, &l->why), 0);
    assert_int_equal(lvalue_push(l->L, buf_slice(&l->scratch)), 0);
    buf_reset(&l->out);
    assert_int_equal(ljson_put(l->L, -1, &l->out, &l->why), 0);
    assert_string_equal(text_of(&l->out), "{\"a\":[]}");
}

static void integers_encode_as_lua_does(void **state)
{
    struct lua *l = *state;

    push(l, "-300");
    buf_reset(&l->scratch);
    buf_reset(&l->out);
    assert_int_equal(lvalue_put(l->L, -1, &l->scratch, &l->why), 0);
    assert_int_equal(udf_value_encode_int(-300, &l->out), 0);
    assert_true(slice_eq(buf_slice(&l->scratch), buf_slice(&l->out)));
}

static void floats_are_shortest_and_exact(void **state)
{
    static const double values[] = {0.1,           1.0 / 3, 1e22, 5e-324, 1.7976931348623157e308,
                                    123456789.125, -0.0,    1e15, 100};
    char text[LTEXT_NUMBER_MAX + 1];

    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        text[ltext_float(text, values[i])] = 0;
        assert_true(strtod(text, NULL) == values[i]);
        assert_non_null(strpbrk(text, ".e"));
    }
    text[ltext_float(text, (double)NAN)] = 0;
    assert_string_equal(text, "nan");
    text[ltext_float(text, -(double)INFINITY)] = 0;
    assert_string_equal(text, "-inf");
}

static void near_names_are_found(void **state)
{
    static const char *const names[] = {"process", "stores", "from", "to", "name", NULL};

    assert_string_equal(ltext_nearest("proces", names), "process");
    assert_string_equal(ltext_nearest("nmae", names), "name");
    assert_string_equal(ltext_nearest("form", names), "from");
    assert_null(ltext_nearest("frobnicate", names));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(json_round_trips, setup, teardown),
        cmocka_unit_test_setup_teardown(json_refuses_what_is_not_json, setup, teardown),
        cmocka_unit_test_setup_teardown(json_writes_tables_by_their_keys, setup, teardown),
        cmocka_unit_test_setup_teardown(csv_round_trips, setup, teardown),
        cmocka_unit_test_setup_teardown(csv_refuses_broken_quotes, setup, teardown),
        cmocka_unit_test_setup_teardown(keys_keep_their_order_as_bytes, setup, teardown),
        cmocka_unit_test_setup_teardown(random_keys_order_like_their_values, setup, teardown),
        cmocka_unit_test_setup_teardown(keys_as_text_are_what_emit_writes, setup, teardown),
        cmocka_unit_test_setup_teardown(values_round_trip_and_are_the_same_bytes, setup, teardown),
        cmocka_unit_test_setup_teardown(a_marked_array_stays_one, setup, teardown),
        cmocka_unit_test_setup_teardown(integers_encode_as_lua_does, setup, teardown),
        cmocka_unit_test(floats_are_shortest_and_exact),
        cmocka_unit_test(near_names_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

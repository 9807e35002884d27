/* tests/base/test_bytes.c - numbers, hashes and texts against published values. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/bytes.h"
#include "base/err.h"
#include <stdlib.h>

static struct slice str(const char *s)
{
    return slice_str(s);
}

static void crc32c_gives_published_values(void **state)
{
    unsigned char b[32];

    assert_int_equal(crc32c(0, "", 0), 0);
    assert_int_equal(crc32c(0, "a", 1), 0xc1d04330);
    assert_int_equal(crc32c(0, "123456789", 9), 0xe3069283);
    assert_int_equal(crc32c_portable(0, "123456789", 9), 0xe3069283);
    memset(b, 0, 32);
    assert_int_equal(crc32c(0, b, 32), 0x8a9136aa);
    memset(b, 255, 32);
    assert_int_equal(crc32c(0, b, 32), 0x62a8ab43);
    for (int i = 0; i < 32; i++)
        b[i] = (unsigned char)i;
    assert_int_equal(crc32c(0, b, 32), 0x46dd794e);
}

static void crc32c_is_the_same_by_table_and_by_processor_at_every_length_and_split(void **state)
{
    enum { N = 8000 };
    unsigned char *p = malloc(N);
    uint32_t x = 1;

    for (int i = 0; i < N; i++) {
        x = x * 1103515245 + 12345;
        p[i] = (unsigned char)(x >> 16);
    }
    for (size_t n = 0; n < N; n += n < 800 ? 1 : 97)
        for (size_t off = 0; off < 8 && off <= n; off += 3)
            assert_int_equal(crc32c(7, p + off, n - off), crc32c_portable(7, p + off, n - off));
    for (size_t cut = 0; cut < N; cut += 371)
        assert_int_equal(crc32c(crc32c(0, p, cut), p + cut, N - cut), crc32c_portable(0, p, N));
    free(p);
}

static void murmur2_is_kafkas(void **state)
{
    static const unsigned char bytes[] = {0, 0xff, 0x80, 0x7f, 1};

    assert_int_equal((int32_t)murmur2(str("")), 275646681);
    assert_int_equal((int32_t)murmur2(SLICE_NULL), 275646681);
    assert_int_equal((int32_t)murmur2(str("a")), -1563381124);
    assert_int_equal((int32_t)murmur2(str("abc")), 479470107);
    assert_int_equal((int32_t)murmur2(str("kafka")), -798503068);
    assert_int_equal((int32_t)murmur2(str("foobar")), -790332482);
    assert_int_equal((int32_t)murmur2(str("21")), -973932308);
    assert_int_equal((int32_t)murmur2(slice_of(bytes, 5)), -1777108196);
}

static void java_hash_counts_utf16_units(void **state)
{
    assert_int_equal(java_hash(str("my-group")), -1906497762);
    assert_int_equal(java_partition(str("my-group"), 50), 12);
    assert_int_equal(java_partition(str("console-consumer-1"), 50), 24);
    assert_int_equal(java_hash(str("my-transactional-id")), -959806496);
    assert_int_equal(java_partition(str("my-transactional-id"), 50), 46);
    assert_int_equal(java_hash(str("gr\xc3\xbcppe")), -1233264812);
    assert_int_equal(java_hash(str("polygenelubricants")), INT32_MIN);
    assert_int_equal(java_partition(str("polygenelubricants"), 50), 0);
    assert_int_equal(java_hash(str("\xf0\x9f\x98\x80")), 1772899);
    assert_int_equal(java_hash(str("\xff")), 0xfffd);
}

static void varints_have_the_bytes_of_records(void **state)
{
    static const struct {
        int64_t v;
        int n;
        const char *bytes;
    } t[] = {{0, 1, "\x00"},
             {-1, 1, "\x01"},
             {1, 1, "\x02"},
             {63, 1, "\x7e"},
             {-64, 1, "\x7f"},
             {64, 2, "\x80\x01"},
             {300, 2, "\xd8\x04"},
             {INT32_MAX, 5, "\xfe\xff\xff\xff\x0f"},
             {INT32_MIN, 5, "\xff\xff\xff\xff\x0f"},
             {1700000000000, 6, "\x80\xa0\xab\xfe\xf9\x62"},
             {INT64_MIN, 10, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"}};

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        unsigned char b[10];
        int64_t back;
        int32_t narrow;
        assert_int_equal(put_varint(b, t[i].v), t[i].n);
        assert_int_equal(varint_size(t[i].v), t[i].n);
        assert_memory_equal(b, t[i].bytes, t[i].n);
        assert_int_equal(get_varlong(slice_of(b, 10), &back), t[i].n);
        assert_true(back == t[i].v);
        for (int cut = 0; cut < t[i].n; cut++)
            assert_int_equal(get_varlong(slice_of(b, (size_t)cut), &back), -1);
        if (t[i].v >= INT32_MIN && t[i].v <= INT32_MAX) {
            assert_int_equal(get_varint(slice_of(b, 10), &narrow), t[i].n);
            assert_int_equal(narrow, t[i].v);
        } else {
            assert_int_equal(get_varint(slice_of(b, 10), &narrow), -1);
        }
    }
}

static void varints_that_do_not_fit_are_refused(void **state)
{
    int32_t v;
    int64_t l;
    uint32_t u;

    assert_int_equal(get_varint(slice_of("\xff\xff\xff\xff\x1f", 5), &v), -1);
    assert_int_equal(get_varint(slice_of("\xff\xff\xff\xff\x8f\x00", 6), &v), -1);
    assert_int_equal(get_varlong(slice_of("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x03", 10), &l), -1);
    assert_int_equal(get_uvarint(slice_of("\xff\xff\xff\xff\x1f", 5), &u), -1);
    assert_int_equal(get_uvarint(slice_of("\xff\xff\xff\xff\x0f", 5), &u), 5);
    assert_true(u == UINT32_MAX);
}

static void uuid_text_is_url_safe_base64_and_back(void **state)
{
    struct uuid u, back;
    char text[23];

    for (int i = 0; i < 16; i++)
        u.b[i] = (unsigned char)(0xff - i * 13);
    uuid_text(&u, text);
    assert_string_equal(text, "__Ll2Mu-saSXin1wY1ZJPA");
    assert_int_equal(strlen(text), 22);
    assert_int_equal(uuid_parse(str(text), &back), 0);
    assert_true(uuid_eq(&u, &back));
    memset(&u, 0, sizeof u);
    uuid_text(&u, text);
    assert_string_equal(text, "AAAAAAAAAAAAAAAAAAAAAA");
    u.b[0] = 0xfb;
    u.b[1] = 0xf0;
    u.b[15] = 1;
    uuid_text(&u, text);
    assert_string_equal(text, "-_AAAAAAAAAAAAAAAAAAAQ");
}

static void uuid_parse_refuses_what_is_no_uuid(void **state)
{
    struct uuid u;

    assert_int_equal(uuid_parse(str(""), &u), -ERR_INVALID);
    assert_int_equal(uuid_parse(str("AAAAAAAAAAAAAAAAAAAAA"), &u), -ERR_INVALID);
    assert_int_equal(uuid_parse(str("AAAAAAAAAAAAAAAAAAAAA+"), &u), -ERR_INVALID);
    assert_int_equal(uuid_parse(str("AAAAAAAAAAAAAAAAAAAAAB"), &u), -ERR_INVALID);
    assert_int_equal(uuid_parse(slice_of("AAAAAAAAAAAAAAAAAAAAA\0", 22), &u), -ERR_INVALID);
}

static void utf8_refuses_overlong_surrogates_and_cut_characters(void **state)
{
    assert_true(utf8_valid(str("plain gr\xc3\xbcn \xe2\x82\xac \xf0\x9f\x98\x80")));
    assert_true(utf8_valid(SLICE_NULL));
    assert_false(utf8_valid(str("\xc0\x80")));
    assert_false(utf8_valid(str("\xc1\xbf")));
    assert_false(utf8_valid(str("\xe0\x80\x80")));
    assert_false(utf8_valid(str("\xed\xa0\x80")));
    assert_false(utf8_valid(str("\xf4\x90\x80\x80")));
    assert_false(utf8_valid(str("\xf5\x80\x80\x80")));
    assert_false(utf8_valid(str("a\x80")));
    assert_false(utf8_valid(str("\xe2\x82")));
    assert_false(utf8_valid(str("\xc3(")));
}

static void parse_i64_takes_the_whole_range_and_nothing_more(void **state)
{
    int64_t v;

    assert_int_equal(parse_i64(str("9223372036854775807"), &v), 0);
    assert_true(v == INT64_MAX);
    assert_int_equal(parse_i64(str("-9223372036854775808"), &v), 0);
    assert_true(v == INT64_MIN);
    assert_int_equal(parse_i64(str("-0"), &v), 0);
    assert_int_equal(v, 0);
    assert_int_equal(parse_i64(str("9223372036854775808"), &v), -ERR_INVALID);
    assert_int_equal(parse_i64(str("-9223372036854775809"), &v), -ERR_INVALID);
    assert_int_equal(parse_i64(str("92233720368547758070"), &v), -ERR_INVALID);
    assert_int_equal(parse_i64(str(""), &v), -ERR_INVALID);
    assert_int_equal(parse_i64(str("-"), &v), -ERR_INVALID);
    assert_int_equal(parse_i64(str("+1"), &v), -ERR_INVALID);
    assert_int_equal(parse_i64(str(" 1"), &v), -ERR_INVALID);
    assert_int_equal(parse_i64(str("1x"), &v), -ERR_INVALID);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(crc32c_gives_published_values),
        cmocka_unit_test(crc32c_is_the_same_by_table_and_by_processor_at_every_length_and_split),
        cmocka_unit_test(murmur2_is_kafkas),
        cmocka_unit_test(java_hash_counts_utf16_units),
        cmocka_unit_test(varints_have_the_bytes_of_records),
        cmocka_unit_test(varints_that_do_not_fit_are_refused),
        cmocka_unit_test(uuid_text_is_url_safe_base64_and_back),
        cmocka_unit_test(uuid_parse_refuses_what_is_no_uuid),
        cmocka_unit_test(utf8_refuses_overlong_surrogates_and_cut_characters),
        cmocka_unit_test(parse_i64_takes_the_whole_range_and_nothing_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

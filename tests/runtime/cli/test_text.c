/* tests/runtime/cli/test_text.c - bytes as text: --out's escapes, JSON strings, base64. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/bytes.h"
#include "base/rng.h"
#include "runtime/cli/cli.h"

static struct buf out;

static int open_buf(void **state)
{
    buf_init(&out, 1 << 20);
    return 0;
}

static int close_buf(void **state)
{
    buf_deinit(&out);
    return 0;
}

static void is(const char *want)
{
    if (!slice_eq_str(buf_slice(&out), want))
        fail_msg("'%.*s' instead of '%s'", (int)out.n, (char *)out.p, want);
    buf_reset(&out);
}

static void escapes(const void *bytes, size_t n, const char *want)
{
    assert_int_equal(text_escape(&out, slice_of(bytes, n)), 0);
    is(want);
}

static void what_would_break_a_line_is_escaped(void **state)
{
    escapes("", 0, "");
    escapes("plain 'text' \"here\"", 19, "plain 'text' \"here\"");
    escapes("a\tb\nc\rd\\e", 9, "a\\tb\\nc\\rd\\\\e");
    escapes("\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80", 9, "\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80");
    escapes("\x01\x1b\x7f", 3, "\x01\x1b\x7f"); /* UTF-8 all the same */
}

static void bytes_that_are_no_utf8_are_escaped_one_by_one(void **state)
{
    escapes("\xff", 1, "\\xff");
    escapes("a\xc3", 2, "a\\xc3");
    escapes("\xc3(", 2, "\\xc3(");
    escapes("\xe4\xb8", 2, "\\xe4\\xb8");
    escapes("\xe4\xb8\xad\xad", 4, "\xe4\xb8\xad\\xad");
    escapes("\xc0\x80", 2, "\\xc0\\x80");                   /* too long a form */
    escapes("\xed\xa0\x80", 3, "\\xed\\xa0\\x80");          /* half of a surrogate pair */
    escapes("\xf4\x90\x80\x80", 4, "\\xf4\\x90\\x80\\x80"); /* behind the last character */
}

static int hex(unsigned char c)
{
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

/* Reads an escaped text back. */
static size_t unescape(struct slice s, unsigned char *to)
{
    size_t n = 0;

    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] != '\\') {
            to[n++] = s.p[i];
            continue;
        }
        switch (s.p[++i]) {
        case 't': to[n++] = '\t'; break;
        case 'n': to[n++] = '\n'; break;
        case 'r': to[n++] = '\r'; break;
        case '\\': to[n++] = '\\'; break;
        default:
            assert_int_equal(s.p[i], 'x');
            to[n++] = (unsigned char)(hex(s.p[i + 1]) << 4 | hex(s.p[i + 2]));
            i += 2;
        }
    }
    return n;
}

static void every_escaped_text_reads_back_and_is_utf8(void **state)
{
    static const unsigned char likely[] = {'\t', '\n', '\\', 0xc3, 0xa9,
                                           0xe4, 0xb8, 0xad, 0xf0, 0x9f};
    unsigned char bytes[40], back[40];
    uint64_t rng[4];

    rng_seed(rng, 4);
    for (int i = 0; i < 20000; i++) {
        size_t n = rng_below(rng, sizeof bytes);
        for (size_t k = 0; k < n; k++)
            bytes[k] = rng_below(rng, 2) ? likely[rng_below(rng, sizeof likely)]
                                         : (unsigned char)rng_next(rng);
        assert_int_equal(text_escape(&out, slice_of(bytes, n)), 0);
        assert_true(utf8_valid(buf_slice(&out)));
        assert_null(out.n ? memchr(out.p, '\n', out.n) : NULL);
        assert_null(out.n ? memchr(out.p, '\t', out.n) : NULL);
        assert_int_equal(unescape(buf_slice(&out), back), n);
        assert_memory_equal(back, bytes, n);
        buf_reset(&out);
    }
}

static void json_strings_are_quoted(void **state)
{
    json_string(&out, slice_str("a\"b\\c\n\t\r\x01\x7f\xc3\xa9"));
    is("\"a\\\"b\\\\c\\n\\t\\r\\u0001\\u007f\xc3\xa9\"");
    json_bytes(&out, SLICE_NULL);
    is("null");
    json_bytes(&out, slice_str(""));
    is("\"\"");
}

static void bytes_are_base64_in_json(void **state)
{
    static const struct {
        const char *bytes;
        size_t n;
        const char *want;
    } cases[] = {{"\xff", 1, "/w=="},
                 {"\xff\xfe", 2, "//4="},
                 {"\xff\xfe\xfd", 3, "//79"},
                 {"\x00\xff\x00\xff", 4, "AP8A/w=="}};

    for (size_t i = 0; i < 4; i++) {
        char want[64];
        json_bytes(&out, slice_of(cases[i].bytes, cases[i].n));
        snprintf(want, sizeof want, "{\"base64\":\"%s\"}", cases[i].want);
        is(want);
    }
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, open_buf, close_buf)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_would_break_a_line_is_escaped),
        CASE(bytes_that_are_no_utf8_are_escaped_one_by_one),
        CASE(every_escaped_text_reads_back_and_is_utf8),
        CASE(json_strings_are_quoted),
        CASE(bytes_are_base64_in_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* tests/base/wire/support_data.c - see the header. */
#include "tests/base/wire/support_data.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

void data_read(const char *path, struct buf *out)
{
    unsigned char part[4096];
    size_t n;
    FILE *f = fopen(path, "rb");
    if (!f)
        fail_msg("%s cannot be opened", path);
    while ((n = fread(part, 1, sizeof part, f)) > 0)
        assert_int_equal(buf_put(out, part, n), 0);
    assert_false(ferror(f));
    (void)fclose(f);
}

static int digit(unsigned char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    fail_msg("%c is no hex digit", c);
    return 0;
}

void data_unhex(struct slice hex, struct buf *out)
{
    assert_int_equal(hex.n % 2, 0);
    for (size_t i = 0; i < hex.n; i += 2)
        assert_int_equal(buf_put_u8(out, (uint8_t)(digit(hex.p[i]) << 4 | digit(hex.p[i + 1]))), 0);
}

uint64_t data_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

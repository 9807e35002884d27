/* base/bytes.c - varints, Kafka's and Java's hashes, UUIDs, UTF-8 and numbers in text.
 *
 * Everything that reads takes bytes of strangers: no length is trusted, nothing asserts. */
#include "base/bytes.h"
#include "base/err.h"

static uint32_t get_le32(const unsigned char *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

uint32_t murmur2(struct slice key)
{
    const uint32_t m = 0x5bd1e995;
    const unsigned char *p = key.p;
    uint32_t h = 0x9747b28c ^ (uint32_t)key.n;
    size_t n = key.n;

    for (; n >= 4; p += 4, n -= 4) {
        uint32_t k = get_le32(p) * m;
        k ^= k >> 24;
        h = (h * m) ^ (k * m);
    }
    if (n > 0) {
        if (n == 3)
            h ^= (uint32_t)p[2] << 16;
        if (n >= 2)
            h ^= (uint32_t)p[1] << 8;
        h = (h ^ p[0]) * m;
    }
    h = (h ^ (h >> 13)) * m;
    return h ^ (h >> 15);
}

/* One code point: the bytes it takes, or 0 if s does not begin with a whole, shortest, legal one.
 */
static int utf8_next(struct slice s, uint32_t *cp)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    uint32_t c;
    int n;

    if (s.n == 0)
        return 0;
    c = s.p[0];
    if (c < 0x80) {
        *cp = c;
        return 1;
    }
    n = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
    if (c < 0xc2 || c > 0xf4 || s.n < (size_t)n)
        return 0;
    c &= 0x7fu >> n;
    for (int i = 1; i < n; i++) {
        if ((s.p[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (s.p[i] & 0x3f);
    }
    if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return 0;
    *cp = c;
    return n;
}

bool utf8_valid(struct slice s)
{
    uint32_t cp;

    while (s.n > 0) {
        int n = s.p[0] < 0x80 ? 1 : utf8_next(s, &cp);
        if (n == 0)
            return false;
        s = slice_of(s.p + n, s.n - (size_t)n);
    }
    return true;
}

int32_t java_hash(struct slice utf8)
{
    uint32_t h = 0, cp;

    while (utf8.n > 0) {
        int n = utf8_next(utf8, &cp);
        if (n == 0) { /* as Java's decoder: one replacement character, then the next byte */
            cp = 0xfffd;
            n = 1;
        }
        if (cp >= 0x10000) {
            h = 31 * h + 0xd800 + ((cp - 0x10000) >> 10);
            cp = 0xdc00 + ((cp - 0x10000) & 0x3ff);
        }
        h = 31 * h + cp;
        utf8 = slice_of(utf8.p + n, utf8.n - (size_t)n);
    }
    return (int32_t)h;
}

int32_t java_partition(struct slice utf8, int32_t n)
{
    int32_t h = java_hash(utf8);
    if (h == INT32_MIN)
        return 0;
    return (h < 0 ? -h : h) % n;
}

static int put_leb(unsigned char *to, uint64_t v)
{
    int n = 0;
    for (; v >= 0x80; v >>= 7)
        to[n++] = (unsigned char)(v | 0x80);
    to[n++] = (unsigned char)v;
    return n;
}

/* Bytes read, or -1 if s ends inside or the value needs more than `bits`. */
static int get_leb(struct slice s, int bits, uint64_t *v)
{
    uint64_t x = 0;
    int shift = 0;

    for (size_t i = 0; i < s.n && shift < bits; i++, shift += 7) {
        uint64_t b = s.p[i] & 0x7f;
        if (shift + 7 > bits && b >> (bits - shift))
            return -1;
        x |= b << shift;
        if (s.p[i] < 0x80) {
            *v = x;
            return (int)i + 1;
        }
    }
    return -1;
}

static uint64_t zigzag(int64_t v)
{
    return ((uint64_t)v << 1) ^ (uint64_t)(v >> 63);
}

int put_varint(unsigned char *to, int64_t v)
{
    return put_leb(to, zigzag(v));
}

int varint_size(int64_t v)
{
    int bits = 64 - __builtin_clzll(zigzag(v) | 1);
    return (bits + 6) / 7;
}

int get_varint(struct slice s, int32_t *v)
{
    uint64_t u;
    int n = get_leb(s, 32, &u);
    if (n > 0)
        *v = (int32_t)((uint32_t)(u >> 1) ^ -(uint32_t)(u & 1));
    return n;
}

int get_varlong(struct slice s, int64_t *v)
{
    uint64_t u;
    int n = get_leb(s, 64, &u);
    if (n > 0)
        *v = (int64_t)((u >> 1) ^ -(u & 1));
    return n;
}

int put_uvarint(unsigned char *to, uint32_t v)
{
    return put_leb(to, v);
}

int get_uvarint(struct slice s, uint32_t *v)
{
    uint64_t u;
    int n = get_leb(s, 32, &u);
    if (n > 0)
        *v = (uint32_t)u;
    return n;
}

static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

void uuid_text(const struct uuid *u, char out[23])
{
    for (int i = 0; i < 22; i++) {
        int bit = i * 6, byte = bit / 8;
        unsigned w = (unsigned)u->b[byte] << 8 | (byte < 15 ? u->b[byte + 1] : 0);
        out[i] = base64[w >> (10 - bit % 8) & 63];
    }
    out[22] = 0;
}

int uuid_parse(struct slice s, struct uuid *u)
{
    struct uuid out = {{0}};

    if (s.n != 22)
        return -ERR_INVALID;
    for (int i = 0; i < 22; i++) {
        const char *at = s.p[i] ? strchr(base64, s.p[i]) : NULL;
        int bit = i * 6, byte = bit / 8;
        unsigned w;
        if (!at)
            return -ERR_INVALID;
        w = (unsigned)(at - base64) << (10 - bit % 8);
        out.b[byte] |= (unsigned char)(w >> 8);
        if (byte < 15)
            out.b[byte + 1] |= (unsigned char)w;
        else if (w & 0xff) /* the last character carries two bits, the rest of it must be zero */
            return -ERR_INVALID;
    }
    *u = out;
    return 0;
}

int parse_i64(struct slice s, int64_t *v)
{
    bool neg = s.n > 0 && s.p[0] == '-';
    size_t i = neg ? 1 : 0;
    int64_t x = 0;

    if (i == s.n)
        return -ERR_INVALID;
    for (; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9')
            return -ERR_INVALID;
        /* Counted downwards: the most negative number has no positive twin. */
        if (__builtin_mul_overflow(x, 10, &x) || __builtin_sub_overflow(x, s.p[i] - '0', &x))
            return -ERR_INVALID;
    }
    if (!neg && x == INT64_MIN)
        return -ERR_INVALID;
    *v = neg ? x : -x;
    return 0;
}

/* base/bytes.h - numbers in and out of bytes, and the house's small hashes. */
#ifndef ONCE_BASE_BYTES_H
#define ONCE_BASE_BYTES_H
#include "base/slice.h"

static inline uint16_t get_be16(const void *p)
{
    uint16_t v;
    memcpy(&v, p, 2);
    return __builtin_bswap16(v);
}
static inline uint32_t get_be32(const void *p)
{
    uint32_t v;
    memcpy(&v, p, 4);
    return __builtin_bswap32(v);
}
static inline uint64_t get_be64(const void *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
    return __builtin_bswap64(v);
}
static inline void put_be16(void *p, uint16_t v)
{
    v = __builtin_bswap16(v);
    memcpy(p, &v, 2);
}
static inline void put_be32(void *p, uint32_t v)
{
    v = __builtin_bswap32(v);
    memcpy(p, &v, 4);
}
static inline void put_be64(void *p, uint64_t v)
{
    v = __builtin_bswap64(v);
    memcpy(p, &v, 8);
}

/* CRC-32C (Castagnoli), continued from crc (0 to begin): crc32c(crc32c(0, a), b) is that of a then
 * b. */
uint32_t crc32c(uint32_t crc, const void *p, size_t n);
/* The same without help of the processor: what crc32c falls back to. */
uint32_t crc32c_portable(uint32_t crc, const void *p, size_t n);
/* Kafka's Java partitioner hash; the partition is (murmur2(key) & 0x7fffffff) % n. */
uint32_t murmur2(struct slice key);
/* Java's String.hashCode over the UTF-16 of UTF-8 text; the internal topics' partition is
 * java_partition(id, n) = abs(hash) % n. */
int32_t java_hash(struct slice utf8);
int32_t java_partition(struct slice utf8, int32_t n);

/* Varints of records: zigzag then LEB128. put_ returns the bytes written (at most 10); get_ returns
 * the bytes read, or -1 when s ends inside or it does not fit 32 (64) bits. */
int put_varint(unsigned char *to, int64_t v);
int get_varint(struct slice s, int32_t *v);
int get_varlong(struct slice s, int64_t *v);
int varint_size(int64_t v);
/* Unsigned LEB128 of the flexible protocol versions. */
int put_uvarint(unsigned char *to, uint32_t v);
int get_uvarint(struct slice s, uint32_t *v);

/* 16 bytes <-> Kafka's 22 characters of URL-safe base64. */
struct uuid {
    unsigned char b[16];
};
void uuid_text(const struct uuid *u, char out[23]);
int uuid_parse(struct slice s, struct uuid *u); /* 0 or -ERR_INVALID */
static inline bool uuid_is_zero(const struct uuid *u)
{
    static const struct uuid zero;
    return memcmp(u, &zero, sizeof zero) == 0;
}
static inline bool uuid_eq(const struct uuid *a, const struct uuid *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}
bool utf8_valid(struct slice s);
/* Decimal, the whole of s: 0 or -ERR_INVALID (empty, other bytes, out of range). */
int parse_i64(struct slice s, int64_t *v);
#endif

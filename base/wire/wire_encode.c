/* base/wire/wire_encode.c - structs into bytes, by the tables.
 *
 * Two walks: the first adds up the size and finds whatever the version cannot hold, the second
 * writes into room that is reserved once and cannot fail. So nothing is appended on an error. */
#include "base/check.h"
#include "base/wire/wire_table.h"

/* --- First walk --- */

static int size_struct(const struct wire_desc *d, const void *m, int16_t version, size_t *n);

static size_t uvarint_size(uint32_t v)
{
    size_t n = 1;
    for (; v >= 0x80; v >>= 7)
        n++;
    return n;
}

static size_t length_size(const struct wire_field *f, bool array, bool compact, int64_t n)
{
    if (compact)
        return uvarint_size((uint32_t)(n + 1));
    return f->type == WIRE_STRING && !array ? 2 : 4;
}

static int size_text(const struct wire_field *f, const struct slice *s, bool compact, bool nullable,
                     size_t *n)
{
    if (!s->p) {
        if (!nullable && (f->flags & WIRE_NULLABLE))
            return -ERR_UNSUPPORTED;
        *n += length_size(f, false, compact, nullable ? -1 : 0);
        return 0;
    }
    if (s->n > (f->type == WIRE_STRING ? (size_t)INT16_MAX : (size_t)INT32_MAX))
        return -ERR_TOO_BIG;
    *n += length_size(f, false, compact, (int64_t)s->n) + s->n;
    return 0;
}

static int size_value(const struct wire_field *f, const void *at, int16_t version, bool compact,
                      bool nullable, size_t *n)
{
    static const uint8_t size[] = {1, 1, 2, 4, 8, 16};
    if (f->type == WIRE_STRUCT)
        return size_struct(f->sub, at, version, n);
    if (wire_is_text(f->type))
        return size_text(f, at, compact, nullable, n);
    *n += size[f->type];
    return 0;
}

static int size_field(const struct wire_field *f, const void *at, int16_t version, bool flexible,
                      size_t *n)
{
    bool compact = flexible && !(f->flags & WIRE_RIGID);
    bool nullable = wire_may_be_null(f, version);
    if (!(f->flags & WIRE_ARRAY))
        return size_value(f, at, version, compact, nullable, n);
    const struct wire_array *a = at;
    if (a->n < -1)
        return -ERR_INVALID;
    if (a->n == -1 && !nullable)
        return f->flags & WIRE_NULLABLE ? -ERR_UNSUPPORTED : -ERR_INVALID;
    *n += length_size(f, true, compact, a->n);
    size_t size = wire_c_size(f);
    for (int32_t i = 0; i < a->n; i++) {
        int rc = size_value(f, (const char *)a->v + (size_t)i * size, version, compact, false, n);
        if (rc)
            return rc;
    }
    return 0;
}

static int size_struct(const struct wire_desc *d, const void *m, int16_t version, size_t *n)
{
    bool flexible = wire_flexible(d, version);
    uint32_t n_tags = 0;
    for (int i = 0; i < d->n_fields; i++) {
        const struct wire_field *f = &d->fields[i];
        const void *at = (const char *)m + f->at;
        if (!wire_has(f, version)) {
            if (!(f->flags & WIRE_IGNORABLE) && !wire_is_default(f, at))
                return -ERR_UNSUPPORTED;
            continue;
        }
        size_t size = 0;
        if (f->tag >= 0 && wire_is_default(f, at))
            continue;
        int rc = size_field(f, at, version, flexible, &size);
        if (rc)
            return rc;
        if (f->tag >= 0) {
            n_tags++;
            *n += uvarint_size((uint32_t)f->tag) + uvarint_size((uint32_t)size);
        }
        *n += size;
    }
    if (flexible)
        *n += uvarint_size(n_tags);
    return 0;
}

/* --- Second walk: what the first accepted --- */

static unsigned char *put_struct(const struct wire_desc *d, const void *m, unsigned char *p,
                                 int16_t version);

static unsigned char *put_uv(unsigned char *p, uint32_t v)
{
    for (; v >= 0x80; v >>= 7)
        *p++ = (unsigned char)(v | 0x80);
    *p++ = (unsigned char)v;
    return p;
}

static unsigned char *put_length(const struct wire_field *f, unsigned char *p, bool array,
                                 bool compact, int64_t n)
{
    if (compact)
        return put_uv(p, (uint32_t)(n + 1));
    if (f->type == WIRE_STRING && !array) {
        put_be16(p, (uint16_t)n);
        return p + 2;
    }
    put_be32(p, (uint32_t)n);
    return p + 4;
}

static unsigned char *put_text(const struct wire_field *f, const struct slice *s, unsigned char *p,
                               bool compact, bool nullable)
{
    if (!s->p)
        return put_length(f, p, false, compact, nullable ? -1 : 0);
    p = put_length(f, p, false, compact, (int64_t)s->n);
    memcpy(p, s->p, s->n);
    return p + s->n;
}

static unsigned char *put_value(const struct wire_field *f, const void *at, unsigned char *p,
                                int16_t version, bool compact, bool nullable)
{
    switch (f->type) {
    case WIRE_BOOL: *p = *(const bool *)at ? 1 : 0; return p + 1;
    case WIRE_INT8: *p = *(const unsigned char *)at; return p + 1;
    case WIRE_INT16: put_be16(p, *(const uint16_t *)at); return p + 2;
    case WIRE_INT32: put_be32(p, *(const uint32_t *)at); return p + 4;
    case WIRE_INT64: put_be64(p, *(const uint64_t *)at); return p + 8;
    case WIRE_UUID: memcpy(p, at, sizeof(struct uuid)); return p + sizeof(struct uuid);
    case WIRE_STRUCT: return put_struct(f->sub, at, p, version);
    default: return put_text(f, at, p, compact, nullable);
    }
}

static unsigned char *put_field(const struct wire_field *f, const void *at, unsigned char *p,
                                int16_t version, bool flexible)
{
    bool compact = flexible && !(f->flags & WIRE_RIGID);
    if (!(f->flags & WIRE_ARRAY))
        return put_value(f, at, p, version, compact, wire_may_be_null(f, version));
    const struct wire_array *a = at;
    size_t size = wire_c_size(f);
    p = put_length(f, p, true, compact, a->n);
    for (int32_t i = 0; i < a->n; i++)
        p = put_value(f, (const char *)a->v + (size_t)i * size, p, version, compact, false);
    return p;
}

/* Tagged fields stand at the end of the table in the order of their tags. */
static unsigned char *put_tags(const struct wire_desc *d, int first, const void *m,
                               unsigned char *p, int16_t version)
{
    uint32_t n = 0;
    for (int i = first; i < d->n_fields; i++)
        n += wire_has(&d->fields[i], version) &&
             !wire_is_default(&d->fields[i], (const char *)m + d->fields[i].at);
    p = put_uv(p, n);
    for (int i = first; n && i < d->n_fields; i++) {
        const struct wire_field *f = &d->fields[i];
        const void *at = (const char *)m + f->at;
        if (!wire_has(f, version) || wire_is_default(f, at))
            continue;
        size_t size = 0;
        CHECK(size_field(f, at, version, true, &size) == 0);
        p = put_uv(p, (uint32_t)f->tag);
        p = put_uv(p, (uint32_t)size);
        p = put_field(f, at, p, version, true);
    }
    return p;
}

static unsigned char *put_struct(const struct wire_desc *d, const void *m, unsigned char *p,
                                 int16_t version)
{
    bool flexible = wire_flexible(d, version);
    int i = 0;
    for (; i < d->n_fields && d->fields[i].tag < 0; i++)
        if (wire_has(&d->fields[i], version))
            p = put_field(&d->fields[i], (const char *)m + d->fields[i].at, p, version, flexible);
    return flexible ? put_tags(d, i, m, p, version) : p;
}

int wire_encode(const struct wire_desc *d, const void *m, struct buf *out, int16_t version)
{
    size_t n = 0;
    if (version < d->min || version > d->max)
        return -ERR_UNSUPPORTED;
    int rc = size_struct(d, m, version, &n);
    if (rc)
        return rc;
    if (n > INT32_MAX)
        return -ERR_TOO_BIG;
    unsigned char *p = buf_more(out, n);
    if (!p)
        return out->failed;
    CHECK(put_struct(d, m, p, version) == p + n);
    return 0;
}

size_t wire_size(const struct wire_desc *d, const void *m, int16_t version)
{
    size_t n = 0;
    if (version < d->min || version > d->max || size_struct(d, m, version, &n))
        return 0;
    return n;
}

/* base/wire/wire_decode.c - bytes into structs, by the tables.
 *
 * Happy path: fields in the order of the table, then (flexible versions) the tagged fields, each
 * from its own stretch of the input. An array is allocated only after its count is known to fit
 * what is left at the least size of its elements, so memory stays within a small multiple of the
 * input. */
#include "base/check.h"
#include "base/wire/wire_table.h"

static int decode_struct(const struct wire_desc *d, void *m, struct wire_in *in, int16_t version);

int wire_get_uvarint(struct wire_in *in, uint32_t *v)
{
    if (in->n > 0 && in->p[0] < 0x80) {
        *v = in->p[0];
        in->p++;
        in->n--;
        return 0;
    }
    int used = get_uvarint(slice_of(in->p, in->n), v);
    if (used < 0)
        return in->n < 5 ? -ERR_SHORT : -ERR_INVALID;
    in->p += used;
    in->n -= (size_t)used;
    return 0;
}

/* A length or count as it stands before a text or an array; -1 is null. */
static int get_length(struct wire_in *in, uint8_t type, bool array, bool compact, int32_t *n)
{
    int rc;
    if (compact) {
        uint32_t u;
        if ((rc = wire_get_uvarint(in, &u)))
            return rc;
        if (u > (uint32_t)INT32_MAX + 1)
            return -ERR_INVALID;
        *n = (int32_t)((int64_t)u - 1);
    } else if (type == WIRE_STRING && !array) {
        int16_t s;
        if ((rc = wire_get_i16(in, &s)))
            return rc;
        *n = s;
    } else if ((rc = wire_get_i32(in, n))) {
        return rc;
    }
    if (*n < -1)
        return -ERR_INVALID;
    return 0;
}

static int decode_text(const struct wire_field *f, struct slice *s, struct wire_in *in,
                       bool compact, bool nullable)
{
    int32_t n;
    int rc = get_length(in, f->type, false, compact, &n);
    if (rc)
        return rc;
    if (n < 0) {
        *s = SLICE_NULL;
        return nullable ? 0 : -ERR_INVALID;
    }
    if (f->type == WIRE_STRING && n > INT16_MAX)
        return -ERR_INVALID;
    if ((size_t)n > in->n)
        return -ERR_SHORT;
    *s = slice_of(in->p ? in->p : (const unsigned char *)"", (size_t)n);
    in->p += n;
    in->n -= (size_t)n;
    return 0;
}

/* One value, of a field that is not an array or of an array's element. */
static int decode_value(const struct wire_field *f, void *at, struct wire_in *in, int16_t version,
                        bool compact, bool nullable)
{
    switch (f->type) {
    case WIRE_BOOL: {
        int8_t b;
        int rc = wire_get_i8(in, &b);
        if (rc == 0)
            *(bool *)at = b != 0;
        return rc;
    }
    case WIRE_INT8: return wire_get_i8(in, at);
    case WIRE_INT16: return wire_get_i16(in, at);
    case WIRE_INT32: return wire_get_i32(in, at);
    case WIRE_INT64: return wire_get_i64(in, at);
    case WIRE_UUID:
        if (in->n < sizeof(struct uuid))
            return -ERR_SHORT;
        memcpy(at, in->p, sizeof(struct uuid));
        in->p += sizeof(struct uuid);
        in->n -= sizeof(struct uuid);
        return 0;
    case WIRE_STRUCT: return decode_struct(f->sub, at, in, version);
    default: return decode_text(f, at, in, compact, nullable);
    }
}

static size_t struct_least(const struct wire_desc *d, int16_t version);

/* The least bytes that one value can take; at least 1. */
static size_t value_least(const struct wire_field *f, int16_t version, bool compact)
{
    static const uint8_t least[] = {1, 1, 2, 4, 8, 16, 2, 4, 4};
    if (f->type == WIRE_STRUCT)
        return struct_least(f->sub, version);
    return wire_is_text(f->type) && compact ? 1 : least[f->type];
}

static size_t struct_least(const struct wire_desc *d, int16_t version)
{
    bool flexible = wire_flexible(d, version);
    size_t n = flexible ? 1 : 0;
    for (int i = 0; i < d->n_fields; i++) {
        const struct wire_field *f = &d->fields[i];
        bool compact = flexible && !(f->flags & WIRE_RIGID);
        if (f->tag >= 0 || !wire_has(f, version))
            continue;
        if (f->flags & WIRE_ARRAY)
            n += compact ? 1 : 4;
        else
            n += value_least(f, version, compact);
    }
    return n ? n : 1;
}

static int decode_array(const struct wire_field *f, struct wire_array *a, struct wire_in *in,
                        int16_t version, bool compact)
{
    int32_t n;
    *a = (struct wire_array){NULL, 0};
    int rc = get_length(in, f->type, true, compact, &n);
    if (rc)
        return rc;
    if (n < 0) {
        a->n = -1;
        return wire_may_be_null(f, version) ? 0 : -ERR_INVALID;
    }
    if (n == 0)
        return 0;
    if ((size_t)n > in->n / value_least(f, version, compact))
        return -ERR_SHORT;
    CHECK(in->arena);
    size_t size = wire_c_size(f);
    char *v = arena_alloc(in->arena, (size_t)n * size);
    if (!v)
        return -ERR_TOO_BIG;
    *a = (struct wire_array){v, n};
    for (int32_t i = 0; i < n; i++)
        if ((rc = decode_value(f, v + (size_t)i * size, in, version, compact, false)))
            return rc;
    return 0;
}

static int decode_field(const struct wire_field *f, void *at, struct wire_in *in, int16_t version,
                        bool flexible)
{
    bool compact = flexible && !(f->flags & WIRE_RIGID);
    if (f->flags & WIRE_ARRAY)
        return decode_array(f, at, in, version, compact);
    return decode_value(f, at, in, version, compact, wire_may_be_null(f, version));
}

static const struct wire_field *find_tag(const struct wire_desc *d, uint32_t tag, int16_t version)
{
    for (int i = d->n_fields - 1; i >= 0 && d->fields[i].tag >= 0; i--)
        if ((uint32_t)d->fields[i].tag == tag && wire_has(&d->fields[i], version))
            return &d->fields[i];
    return NULL;
}

static int decode_tags(const struct wire_desc *d, void *m, struct wire_in *in, int16_t version)
{
    uint32_t n, tag, size;
    int rc = wire_get_uvarint(in, &n);
    for (uint32_t i = 0; rc == 0 && i < n; i++) {
        if ((rc = wire_get_uvarint(in, &tag)) || (rc = wire_get_uvarint(in, &size)))
            return rc;
        if (size > in->n)
            return -ERR_SHORT;
        struct wire_in part = {in->p, size, in->arena};
        in->p += size;
        in->n -= size;
        const struct wire_field *f = find_tag(d, tag, version);
        if (!f)
            continue;
        if (decode_field(f, (char *)m + f->at, &part, version, true) || part.n)
            return -ERR_INVALID;
    }
    return rc;
}

static int decode_struct(const struct wire_desc *d, void *m, struct wire_in *in, int16_t version)
{
    bool flexible = wire_flexible(d, version);
    for (int i = 0; i < d->n_fields; i++) {
        const struct wire_field *f = &d->fields[i];
        void *at = (char *)m + f->at;
        if (f->tag >= 0 || !wire_has(f, version)) {
            wire_set_default(f, at);
            continue;
        }
        int rc = decode_field(f, at, in, version, flexible);
        if (rc)
            return rc;
    }
    return flexible ? decode_tags(d, m, in, version) : 0;
}

int wire_decode(const struct wire_desc *d, void *m, struct wire_in *in, int16_t version)
{
    if (version < d->min || version > d->max)
        return -ERR_UNSUPPORTED;
    return decode_struct(d, m, in, version);
}

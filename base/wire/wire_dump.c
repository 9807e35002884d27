/* base/wire/wire_dump.c - a message as JSON, for eyes and for tests.
 *
 * Field names are the schema's. Bytes and record sets are hex, uuids have the form 8-4-4-4-12,
 * what is no UTF-8 in a string shows as U+FFFD. A tagged field at its default is left out, as on
 * the wire. */
#include "base/wire/wire_table.h"
#include <inttypes.h>

static void dump_struct(const struct wire_desc *d, const void *m, struct buf *out, int16_t version);

static void put_str(struct buf *out, const char *s)
{
    (void)buf_put(out, s, strlen(s));
}

static void put_hex(struct buf *out, const unsigned char *p, size_t n)
{
    static const char digit[] = "0123456789abcdef";
    unsigned char *to = buf_more(out, n * 2);
    for (size_t i = 0; to && i < n; i++) {
        to[2 * i] = (unsigned char)digit[p[i] >> 4];
        to[2 * i + 1] = (unsigned char)digit[p[i] & 15];
    }
}

/* Bytes of the UTF-8 character at the start of s; 0 if it is none. */
static size_t utf8_char(struct slice s)
{
    size_t n = s.p[0] < 0x80 ? 1 : s.p[0] < 0xe0 ? 2 : s.p[0] < 0xf0 ? 3 : 4;
    return n <= s.n && utf8_valid(slice_sub(s, 0, n)) ? n : 0;
}

static void put_json_string(struct buf *out, struct slice s)
{
    put_str(out, "\"");
    while (s.n) {
        size_t n = utf8_char(s);
        if (n == 0)
            put_str(out, "\\ufffd");
        else if (s.p[0] == '"' || s.p[0] == '\\')
            (void)buf_printf(out, "\\%c", s.p[0]);
        else if (s.p[0] < 0x20)
            (void)buf_printf(out, "\\u%04x", s.p[0]);
        else
            (void)buf_put(out, s.p, n);
        s = slice_sub(s, n ? n : 1, s.n);
    }
    put_str(out, "\"");
}

static void put_uuid(struct buf *out, const struct uuid *u)
{
    static const uint8_t part[] = {4, 2, 2, 2, 6};
    const unsigned char *p = u->b;
    for (size_t i = 0; i < sizeof part; i++) {
        put_str(out, i ? "-" : "\"");
        put_hex(out, p, part[i]);
        p += part[i];
    }
    put_str(out, "\"");
}

static void dump_text(const struct wire_field *f, const struct slice *s, struct buf *out,
                      bool nullable)
{
    if (!s->p && nullable) {
        put_str(out, "null");
    } else if (f->type == WIRE_STRING) {
        put_json_string(out, *s);
    } else {
        put_str(out, "\"");
        put_hex(out, s->p, s->n);
        put_str(out, "\"");
    }
}

static void dump_value(const struct wire_field *f, const void *at, struct buf *out, int16_t version,
                       bool nullable)
{
    switch (f->type) {
    case WIRE_BOOL: put_str(out, *(const bool *)at ? "true" : "false"); break;
    case WIRE_INT8: (void)buf_printf(out, "%d", *(const int8_t *)at); break;
    case WIRE_INT16: (void)buf_printf(out, "%d", *(const int16_t *)at); break;
    case WIRE_INT32: (void)buf_printf(out, "%" PRId32, *(const int32_t *)at); break;
    case WIRE_INT64: (void)buf_printf(out, "%" PRId64, *(const int64_t *)at); break;
    case WIRE_UUID: put_uuid(out, at); break;
    case WIRE_STRUCT: dump_struct(f->sub, at, out, version); break;
    default: dump_text(f, at, out, nullable); break;
    }
}

static void dump_field(const struct wire_field *f, const void *at, struct buf *out, int16_t version)
{
    bool nullable = wire_may_be_null(f, version);
    if (!(f->flags & WIRE_ARRAY)) {
        dump_value(f, at, out, version, nullable);
        return;
    }
    const struct wire_array *a = at;
    if (a->n < 0) {
        put_str(out, "null");
        return;
    }
    size_t size = wire_c_size(f);
    put_str(out, "[");
    for (int32_t i = 0; i < a->n; i++) {
        if (i)
            put_str(out, ",");
        dump_value(f, (const char *)a->v + (size_t)i * size, out, version, false);
    }
    put_str(out, "]");
}

static void dump_struct(const struct wire_desc *d, const void *m, struct buf *out, int16_t version)
{
    const char *before = "{\"";
    for (int i = 0; i < d->n_fields; i++) {
        const struct wire_field *f = &d->fields[i];
        const void *at = (const char *)m + f->at;
        if (!wire_has(f, version) || (f->tag >= 0 && wire_is_default(f, at)))
            continue;
        put_str(out, before);
        put_str(out, f->name);
        put_str(out, "\":");
        dump_field(f, at, out, version);
        before = ",\"";
    }
    put_str(out, before[0] == '{' ? "{}" : "}");
}

int wire_dump(const struct wire_desc *d, const void *m, struct buf *out, int16_t version)
{
    if (version < d->min || version > d->max)
        return -ERR_UNSUPPORTED;
    dump_struct(d, m, out, version);
    return out->failed;
}

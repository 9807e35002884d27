/* base/wire/wire.c - defaults, the table of APIs, and the headers before requests and responses.
 *
 * The header's version follows from key and version, which are its own first bytes; so they are
 * looked at before the header is decoded. */
#include "base/check.h"
#include "base/wire/messages.h"
#include "base/wire/wire_table.h"

STATIC_CHECK(sizeof(bool) == 1);
STATIC_CHECK(sizeof(void *) == sizeof(struct slice *));

static int64_t number_at(uint8_t type, const void *at)
{
    switch (type) {
    case WIRE_BOOL: return *(const bool *)at;
    case WIRE_INT8: return *(const int8_t *)at;
    case WIRE_INT16: return *(const int16_t *)at;
    case WIRE_INT32: return *(const int32_t *)at;
    default: return *(const int64_t *)at;
    }
}

bool wire_is_default(const struct wire_field *f, const void *at)
{
    bool null = f->flags & WIRE_DEFAULT_NULL;
    if (f->flags & WIRE_ARRAY)
        return ((const struct wire_array *)at)->n == (null ? -1 : 0);
    if (wire_is_text(f->type)) {
        const struct slice *s = at;
        if (null)
            return !s->p;
        return s->n == 0 && (s->p || !(f->flags & WIRE_NULLABLE));
    }
    if (f->type == WIRE_UUID)
        return uuid_is_zero(at);
    if (f->type == WIRE_STRUCT) {
        for (int i = 0; i < f->sub->n_fields; i++)
            if (!wire_is_default(&f->sub->fields[i], (const char *)at + f->sub->fields[i].at))
                return false;
        return true;
    }
    return number_at(f->type, at) == f->def;
}

void wire_set_default(const struct wire_field *f, void *at)
{
    bool null = f->flags & WIRE_DEFAULT_NULL;
    if (f->flags & WIRE_ARRAY) {
        *(struct wire_array *)at = (struct wire_array){NULL, null ? -1 : 0};
        return;
    }
    switch (f->type) {
    case WIRE_BOOL: *(bool *)at = f->def; break;
    case WIRE_INT8: *(int8_t *)at = (int8_t)f->def; break;
    case WIRE_INT16: *(int16_t *)at = (int16_t)f->def; break;
    case WIRE_INT32: *(int32_t *)at = (int32_t)f->def; break;
    case WIRE_INT64: *(int64_t *)at = f->def; break;
    case WIRE_UUID: memset(at, 0, sizeof(struct uuid)); break;
    case WIRE_STRUCT: wire_init(f->sub, at); break;
    default: *(struct slice *)at = null ? SLICE_NULL : slice_str(""); break;
    }
}

void wire_init(const struct wire_desc *d, void *m)
{
    for (int i = 0; i < d->n_fields; i++)
        wire_set_default(&d->fields[i], (char *)m + d->fields[i].at);
}

const struct wire_api *wire_api(int16_t key)
{
    int n;
    const struct wire_api *v = wire_apis(&n);
    for (int i = 0; i < n && v[i].key <= key; i++)
        if (v[i].key == key)
            return &v[i];
    return NULL;
}

int16_t wire_request_header_version(int16_t key, int16_t version)
{
    const struct wire_api *api = wire_api(key);
    if (!api || (key == API_API_VERSIONS && version < 0))
        return 2;
    return version >= api->flexible ? 2 : 1;
}

int16_t wire_response_header_version(int16_t key, int16_t version)
{
    if (key == API_API_VERSIONS)
        return 0;
    const struct wire_api *api = wire_api(key);
    return !api || version >= api->flexible ? 1 : 0;
}

int wire_request_header(struct request_header *h, struct wire_in *in)
{
    if (in->n < 8)
        return -ERR_SHORT;
    request_header_init(h);
    h->request_api_key = (int16_t)get_be16(in->p);
    h->request_api_version = (int16_t)get_be16(in->p + 2);
    h->correlation_id = (int32_t)get_be32(in->p + 4);
    int16_t key = h->request_api_key, version = h->request_api_version;
    const struct wire_api *api = wire_api(key);
    if (!api || (key != API_API_VERSIONS && (version < api->min || version > api->max)))
        return -ERR_UNSUPPORTED;
    return request_header_decode(h, in, wire_request_header_version(key, version));
}

int wire_request_header_put(struct buf *out, const struct request_header *h)
{
    return request_header_encode(
        h, out, wire_request_header_version(h->request_api_key, h->request_api_version));
}

int wire_response_header_put(struct buf *out, int16_t key, int16_t version, int32_t correlation_id)
{
    struct response_header h = {correlation_id};
    return response_header_encode(&h, out, wire_response_header_version(key, version));
}

int wire_response_header(int32_t *correlation_id, struct wire_in *in, int16_t key, int16_t version)
{
    struct response_header h;
    int rc = response_header_decode(&h, in, wire_response_header_version(key, version));
    if (rc == 0)
        *correlation_id = h.correlation_id;
    return rc;
}

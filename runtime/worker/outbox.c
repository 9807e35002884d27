/* runtime/worker/outbox.c - descriptors over one growing run of bytes, reused from record to
 * record. */
#include "runtime/worker/outbox.h"
#include <stdlib.h>

void outbox_init(struct outbox *o, size_t bytes_max)
{
    *o = (struct outbox){0};
    buf_init(&o->bytes, bytes_max);
}

void outbox_deinit(struct outbox *o)
{
    buf_deinit(&o->bytes);
    free(o->v);
    o->v = NULL;
    o->n = o->cap = o->sent = 0;
}

void outbox_clear(struct outbox *o)
{
    buf_reset(&o->bytes);
    o->n = o->sent = 0;
}

static int put(struct outbox *o, struct slice s, uint32_t *at, uint32_t *n)
{
    *at = (uint32_t)o->bytes.n;
    *n = s.p ? (uint32_t)s.n : UINT32_MAX;
    return s.p ? buf_put_slice(&o->bytes, s) : 0;
}

int outbox_add(struct outbox *o, struct slice topic, int32_t partition, int64_t time,
               struct slice key, struct slice value, struct slice headers, int32_t n_headers)
{
    struct out_record *r;
    int rc;

    if (o->n == o->cap) {
        uint32_t cap = o->cap ? o->cap * 2 : 16;
        r = realloc(o->v, cap * sizeof *r);
        if (!r)
            return -ERR_NOMEM;
        o->v = r;
        o->cap = cap;
    }
    r = &o->v[o->n];
    *r = (struct out_record){
        .topic = topic, .partition = partition, .time = time, .n_headers = n_headers};
    rc = put(o, key, &r->key_at, &r->key_n);
    if (!rc)
        rc = put(o, value, &r->value_at, &r->value_n);
    if (!rc)
        rc = put(o, headers, &r->headers_at, &r->headers_n);
    if (rc) {
        o->bytes.failed = 0;
        return rc;
    }
    o->n++;
    return 0;
}

struct slice outbox_slice(const struct outbox *o, uint32_t at, uint32_t n)
{
    return n == UINT32_MAX ? SLICE_NULL : slice_sub(buf_slice(&o->bytes), at, n);
}

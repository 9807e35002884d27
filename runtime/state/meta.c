/* runtime/state/meta.c - the record that ties a task's tables to changelogs and inputs, as bytes:
 * version, CRC, then fields in order, big-endian. */
#include "runtime/state/store.h"

enum { META_VERSION = 1, META_HEAD = 6 };

static void put_u64(struct buf *b, uint64_t v)
{
    unsigned char x[8];
    put_be64(x, v);
    buf_put(b, x, 8);
}

static void put_u32(struct buf *b, uint32_t v)
{
    unsigned char x[4];
    put_be32(x, v);
    buf_put(b, x, 4);
}

int store_meta_encode(const struct store_meta *m, struct buf *out)
{
    size_t at = out->n;
    unsigned char head[META_HEAD] = {0, META_VERSION};

    buf_put(out, head, sizeof head);
    put_u64(out, m->commit);
    put_u64(out, (uint64_t)m->stream_time);
    put_u64(out, (uint64_t)m->wall_ms);
    buf_put_u8(out, m->clean);
    put_u64(out, m->opened.device);
    put_u64(out, m->opened.inode);
    put_u64(out, m->opened.birth_ns);
    buf_put(out, m->opened.boot, sizeof m->opened.boot);
    put_u32(out, (uint32_t)m->n_stores);
    for (int i = 0; i < m->n_stores; i++) {
        const struct store_changelog *c = &m->changelogs[i];
        buf_put(out, c->topic_id.b, sizeof c->topic_id.b);
        put_u64(out, (uint64_t)c->position);
        put_u32(out, (uint32_t)c->leader_epoch);
        put_u64(out, (uint64_t)c->timestamp);
    }
    put_u32(out, (uint32_t)m->n_inputs);
    for (int i = 0; i < m->n_inputs; i++) {
        const struct store_input *in = &m->inputs[i];
        put_u32(out, (uint32_t)strlen(in->topic));
        buf_put(out, in->topic, strlen(in->topic));
        put_u32(out, (uint32_t)in->partition);
        put_u64(out, (uint64_t)in->offset);
    }
    if (out->failed)
        return out->failed;
    put_be32(out->p + at + 2, crc32c(0, out->p + at + META_HEAD, out->n - at - META_HEAD));
    return 0;
}

struct reader {
    struct slice s;
    bool bad;
};

static const unsigned char *get(struct reader *r, size_t n)
{
    static const unsigned char zeros[TOPIC_NAME_MAX + 1];
    const unsigned char *p = r->s.p;

    if (n > r->s.n) {
        r->bad = true;
        return zeros;
    }
    r->s.p += n;
    r->s.n -= n;
    return p;
}

static void get_inputs(struct reader *r, struct store_meta *m)
{
    m->n_inputs = (int32_t)get_be32(get(r, 4));
    if (m->n_inputs < 0 || m->n_inputs > INPUTS_MAX)
        r->bad = true;
    for (int i = 0; !r->bad && i < m->n_inputs; i++) {
        uint32_t n = get_be32(get(r, 4));
        if (n > TOPIC_NAME_MAX) {
            r->bad = true;
            return;
        }
        memcpy(m->inputs[i].topic, get(r, n), n);
        r->bad |= memchr(m->inputs[i].topic, 0, n) != NULL;
        m->inputs[i].partition = (int32_t)get_be32(get(r, 4));
        m->inputs[i].offset = (int64_t)get_be64(get(r, 8));
    }
}

int store_meta_decode(struct store_meta *m, struct slice bytes)
{
    struct reader r = {.s = bytes};
    const unsigned char *head = get(&r, META_HEAD);
    unsigned char clean;

    memset(m, 0, sizeof *m);
    if (r.bad || get_be16(head) != META_VERSION || get_be32(head + 2) != crc32c(0, r.s.p, r.s.n))
        return -ERR_CORRUPT;
    m->commit = get_be64(get(&r, 8));
    m->stream_time = (int64_t)get_be64(get(&r, 8));
    m->wall_ms = (int64_t)get_be64(get(&r, 8));
    clean = *get(&r, 1);
    m->clean = clean == 1;
    r.bad |= clean > 1;
    m->opened.device = get_be64(get(&r, 8));
    m->opened.inode = get_be64(get(&r, 8));
    m->opened.birth_ns = get_be64(get(&r, 8));
    memcpy(m->opened.boot, get(&r, sizeof m->opened.boot), sizeof m->opened.boot);
    m->n_stores = (int32_t)get_be32(get(&r, 4));
    if (r.bad || m->n_stores < 0 || m->n_stores > STORES_MAX)
        return -ERR_CORRUPT;
    for (int i = 0; i < m->n_stores; i++) {
        struct store_changelog *c = &m->changelogs[i];
        memcpy(c->topic_id.b, get(&r, sizeof c->topic_id.b), sizeof c->topic_id.b);
        c->position = (int64_t)get_be64(get(&r, 8));
        c->leader_epoch = (int32_t)get_be32(get(&r, 4));
        c->timestamp = (int64_t)get_be64(get(&r, 8));
    }
    get_inputs(&r, m);
    return r.bad || r.s.n ? -ERR_CORRUPT : 0;
}

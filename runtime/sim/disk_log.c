/* runtime/sim/disk_log.c - bytes of segments to batches, records and the fate of transactions. */
#include "runtime/sim/disk_log.h"
#include "base/check.h"
#include "base/bytes.h"
#include "base/compress.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { HEADER = 61, CODEC_MASK = 7, TRANSACTIONAL = 0x10, CONTROL = 0x20 };
enum { RECORDS_BYTES_MAX = 64 << 20 };

/* ---- bytes ---- */

int64_t disk_read_int(struct disk_reader *r, int bytes)
{
    uint64_t v = 0;

    if (r->bad || r->in.n - r->at < (size_t)bytes) {
        r->bad = true;
        return 0;
    }
    for (int i = 0; i < bytes; i++)
        v = v << 8 | r->in.p[r->at++];
    switch (bytes) {
    case 1: return (int8_t)v;
    case 2: return (int16_t)v;
    case 4: return (int32_t)v;
    default: return (int64_t)v;
    }
}

int64_t disk_read_varint(struct disk_reader *r)
{
    uint64_t v = 0;

    for (int shift = 0; shift < 64; shift += 7) {
        uint64_t b;
        if (r->bad || r->at == r->in.n)
            break;
        b = r->in.p[r->at++];
        v |= (b & 0x7f) << shift;
        if (!(b & 0x80))
            return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
    }
    r->bad = true;
    return 0;
}

struct slice disk_read_bytes(struct disk_reader *r, int64_t n)
{
    struct slice s;

    if (n < 0)
        return SLICE_NULL;
    if (r->bad || r->in.n - r->at < (uint64_t)n) {
        r->bad = true;
        return SLICE_NULL;
    }
    s = slice_of(r->in.p + r->at, (size_t)n);
    r->at += (size_t)n;
    return s;
}

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
}

static uint64_t mix_slice(uint64_t h, struct slice s)
{
    h = mix(h, s.p ? s.n + 1 : 0);
    for (size_t i = 0; i < s.n; i++)
        h = (h ^ s.p[i]) * 0x100000001b3u;
    return mix(h, 0);
}

uint64_t record_hash(struct slice key, struct slice value, int64_t timestamp)
{
    uint64_t h = mix(mix_slice(mix_slice(1, key), value), (uint64_t)timestamp);
    return h ? h : 1;
}

/* ---- batches ---- */

static void *grow(void *v, uint32_t n, uint32_t *cap, size_t size)
{
    if (n < *cap)
        return v;
    *cap = *cap ? *cap * 2 : 64;
    v = realloc(v, *cap * size);
    CHECK(v);
    return v;
}

static void corrupt(struct verdict *v, const struct disk_log *l, int64_t offset, const char *what)
{
    verdict_add(v, VIOLATION_OTHER, "%s-%d: segment bytes at offset %" PRId64 ": %s", l->topic,
                l->partition, offset, what);
}

static bool read_record(struct disk_log *l, struct disk_reader *r, const struct disk_batch *b)
{
    int64_t length = disk_read_varint(r);
    size_t end = r->at + (size_t)length;
    struct disk_record *rec;

    if (r->bad || length < 0 || end > r->in.n)
        return false;
    l->records = grow(l->records, l->n_records, &l->records_cap, sizeof *l->records);
    rec = &l->records[l->n_records++];
    disk_read_int(r, 1);
    rec->timestamp = b->base_timestamp + disk_read_varint(r);
    rec->offset = b->base + disk_read_varint(r);
    rec->key = disk_read_bytes(r, disk_read_varint(r));
    rec->value = disk_read_bytes(r, disk_read_varint(r));
    rec->n_headers = (int32_t)disk_read_varint(r);
    rec->headers = slice_of(r->in.p + r->at, end - r->at);
    rec->batch = l->n_batches - 1;
    r->at = end;
    return !r->bad;
}

/* What is compressed is laid open and kept until the log is freed. */
static struct slice open_records(struct disk_log *l, int codec, struct slice packed)
{
    struct buf out;
    struct slice s = SLICE_NULL;

    buf_init(&out, RECORDS_BYTES_MAX);
    if (decompress_run(codec, packed, &out) == 0) {
        size_t n;
        unsigned char *p = buf_take(&out, &n);
        s = slice_of(p, n);
        l->opened = realloc(l->opened, (l->n_opened + 1) * sizeof *l->opened);
        CHECK(l->opened);
        l->opened[l->n_opened++] = p;
    }
    buf_deinit(&out);
    return s;
}

static const char *read_batch(struct disk_log *l, struct slice in)
{
    struct disk_reader r = {.in = in};
    struct disk_batch *b;
    uint32_t crc;
    int64_t delta;

    l->batches = grow(l->batches, l->n_batches, &l->batches_cap, sizeof *l->batches);
    b = &l->batches[l->n_batches++];
    *b = (struct disk_batch){.base = disk_read_int(&r, 8)};
    disk_read_int(&r, 8); /* length, leader epoch */
    if (disk_read_int(&r, 1) != 2)
        return "not of format 2";
    crc = (uint32_t)disk_read_int(&r, 4);
    if (crc != crc32c(0, in.p + r.at, in.n - r.at))
        return "the CRC does not match";
    b->attributes = (uint16_t)disk_read_int(&r, 2);
    b->transactional = b->attributes & TRANSACTIONAL;
    b->control = b->attributes & CONTROL;
    delta = disk_read_int(&r, 4);
    b->last = b->base + delta;
    b->base_timestamp = disk_read_int(&r, 8);
    disk_read_int(&r, 8);
    b->producer_id = disk_read_int(&r, 8);
    b->epoch = (int16_t)disk_read_int(&r, 2);
    b->sequence = (int32_t)disk_read_int(&r, 4);
    b->count = (int32_t)disk_read_int(&r, 4);
    if (b->attributes & CODEC_MASK)
        r = (struct disk_reader){
            .in = open_records(l, b->attributes & CODEC_MASK, slice_sub(in, r.at, in.n))};
    for (int32_t i = 0; i < b->count; i++)
        if (!read_record(l, &r, b))
            return "a record does not parse";
    return NULL;
}

static void read_batches(struct disk_log *l, struct verdict *v)
{
    size_t at = 0;

    while (l->n_bytes - at >= 12) {
        struct slice rest = slice_of(l->bytes + at, l->n_bytes - at);
        uint64_t size = (uint64_t)get_be32(rest.p + 8) + 12;
        const char *wrong;
        if (size == 12 && get_be64(rest.p) == 0)
            return; /* zeros: space reserved ahead */
        wrong = size < HEADER || size > rest.n ? "the length cannot be"
                                               : read_batch(l, slice_of(rest.p, (size_t)size));
        if (wrong) {
            corrupt(v, l, l->end, wrong);
            return;
        }
        l->end = l->batches[l->n_batches - 1].last + 1;
        at += (size_t)size;
    }
}

/* ---- the fate of transactions ---- */

/* A marker decides all batches of its producer since the last one. */
static void decide(struct disk_log *l, uint32_t marker)
{
    struct disk_batch *m = &l->batches[marker];

    for (uint32_t i = marker; i-- > 0;) {
        struct disk_batch *b = &l->batches[i];
        if (b->producer_id != m->producer_id)
            continue;
        if (b->control)
            return;
        if (b->fate == FATE_OPEN)
            b->fate = m->commit ? FATE_COMMITTED : FATE_ABORTED;
    }
}

static void find_fates(struct disk_log *l)
{
    for (uint32_t i = 0; i < l->n_records; i++) {
        struct disk_batch *b = &l->batches[l->records[i].batch];
        if (b->control && l->records[i].key.n >= 4)
            b->commit = get_be16(l->records[i].key.p + 2) == 1;
    }
    for (uint32_t i = 0; i < l->n_batches; i++) {
        struct disk_batch *b = &l->batches[i];
        b->fate = b->control ? FATE_MARKER : b->transactional ? FATE_OPEN : FATE_PLAIN;
        if (b->control)
            decide(l, i);
    }
}

/* ---- folders ---- */

struct names {
    char v[512][64];
    int n;
    const char *suffix;
};

static void note_segment(void *u, const char *name)
{
    struct names *x = u;
    size_t n = strlen(name), k = strlen(x->suffix);

    if (x->n < 512 && n < sizeof x->v[0] && n > k && strcmp(name + n - k, x->suffix) == 0)
        strcpy(x->v[x->n++], name);
}

static void append_file(struct disk_log *l, struct sim_disk *d, const char *path)
{
    struct sim_inode *i;
    uint64_t size;

    if (sim_disk_open(d, path, ENV_READ_ONLY, 0, &i))
        return;
    size = sim_disk_size(i);
    l->bytes = realloc(l->bytes, l->n_bytes + size + 1);
    CHECK(l->bytes);
    sim_disk_read(d, i, 0, (struct span){l->bytes + l->n_bytes, (size_t)size});
    l->n_bytes += (size_t)size;
    sim_disk_close(d, i);
}

struct reading {
    struct disk_logs *logs;
    struct sim_disk *disk;
    const char *dir;
    struct verdict *verdict;
};

static void read_folder(struct reading *r, const char *name, const char *dash)
{
    struct disk_log *l;
    struct names *files = calloc(1, sizeof *files);
    char path[800];

    CHECK(files);
    r->logs->v = grow(r->logs->v, r->logs->n, &r->logs->cap, sizeof *r->logs->v);
    l = &r->logs->v[r->logs->n++];
    memset(l, 0, sizeof *l);
    snprintf(l->topic, sizeof l->topic, "%.*s", (int)(dash - name), name);
    l->partition = atoi(dash + 1);
    files->suffix = ".log";
    snprintf(path, sizeof path, "%s/%s", r->dir, name);
    sim_disk_list(r->disk, path, note_segment, files);
    for (int i = 0; i < files->n; i++) {
        snprintf(path, sizeof path, "%s/%s/%s", r->dir, name, files->v[i]);
        append_file(l, r->disk, path);
    }
    free(files);
    read_batches(l, r->verdict);
    find_fates(l);
}

static void each_folder(void *u, const char *name)
{
    struct reading *r = u;
    const char *dash = strrchr(name, '-');
    char path[600];
    int64_t n;

    snprintf(path, sizeof path, "%s/%s", r->dir, name);
    if (dash && dash > name && parse_i64(slice_str(dash + 1), &n) == 0 &&
        sim_disk_is_dir(r->disk, path) == 0)
        read_folder(r, name, dash);
}

void disk_logs_read(struct disk_logs *l, struct sim_disk *d, const char *dir, struct verdict *v)
{
    struct reading r = {l, d, dir, v};
    uint32_t fails = d->read_fails;

    memset(l, 0, sizeof *l);
    d->read_fails = 0;
    sim_disk_list(d, dir, each_folder, &r);
    d->read_fails = fails;
}

void disk_logs_free(struct disk_logs *l)
{
    for (uint32_t i = 0; i < l->n; i++) {
        for (uint32_t k = 0; k < l->v[i].n_opened; k++)
            free(l->v[i].opened[k]);
        free(l->v[i].opened);
        free(l->v[i].bytes);
        free(l->v[i].batches);
        free(l->v[i].records);
    }
    free(l->v);
    memset(l, 0, sizeof *l);
}

struct disk_log *disk_logs_find(const struct disk_logs *l, struct slice topic, int32_t partition)
{
    for (uint32_t i = 0; i < l->n; i++)
        if (l->v[i].partition == partition && slice_eq_str(topic, l->v[i].topic))
            return &l->v[i];
    return NULL;
}

int32_t disk_logs_partitions(const struct disk_logs *l, struct slice topic)
{
    int32_t n = 0;

    while (disk_logs_find(l, topic, n))
        n++;
    return n;
}

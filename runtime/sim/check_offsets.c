/* runtime/sim/check_offsets.c - the offsets topic by its bytes: how far the job says it came. */
#include "runtime/sim/check.h"
#include <inttypes.h>

#define OFFSETS_TOPIC "__consumer_offsets"

struct offset_record {
    struct slice group, topic;
    int32_t partition;
    int64_t offset; /* -1: forgotten */
};

static struct slice read_string(struct disk_reader *r)
{
    return disk_read_bytes(r, disk_read_int(r, 2));
}

/* Key: version 0 or 1, group, topic, partition. Value: version, offset, ... */
static bool parse(const struct disk_record *r, struct offset_record *out)
{
    struct disk_reader k = {.in = r->key}, v = {.in = r->value};
    int64_t version = disk_read_int(&k, 2);

    if (k.bad || version < 0 || version > 1)
        return false;
    out->group = read_string(&k);
    out->topic = read_string(&k);
    out->partition = (int32_t)disk_read_int(&k, 4);
    out->offset = -1;
    if (r->value.p) {
        disk_read_int(&v, 2);
        out->offset = disk_read_int(&v, 8);
    }
    return !k.bad && !v.bad;
}

/* The last committed record of the key in its log counts. `back`: told of each step backwards. */
static int64_t fold(const struct disk_log *l, const struct offset_record *want,
                    struct verdict *back)
{
    int64_t offset = -1;

    for (uint32_t k = 0; k < l->n_records; k++) {
        struct offset_record o;
        if (!disk_committed(l, &l->records[k]) || !parse(&l->records[k], &o) ||
            o.partition != want->partition || !slice_eq(o.group, want->group) ||
            !slice_eq(o.topic, want->topic))
            continue;
        if (back && o.offset < offset)
            verdict_add(back, VIOLATION_OTHER,
                        "%s-%d@%" PRId64 ": %.*s-%d went back from %" PRId64 " to %" PRId64,
                        l->topic, l->partition, l->records[k].offset, SLICE_FMT(o.topic),
                        o.partition, offset, o.offset);
        offset = o.offset;
    }
    return offset;
}

static int64_t find(const struct disk_logs *logs, const struct offset_record *want,
                    struct verdict *back)
{
    int64_t best = -1;

    for (uint32_t i = 0; i < logs->n; i++) {
        int64_t o;
        if (strcmp(logs->v[i].topic, OFFSETS_TOPIC) != 0)
            continue;
        o = fold(&logs->v[i], want, back);
        best = o > best ? o : best;
    }
    return best;
}

int64_t committed_offset(const struct disk_logs *l, struct slice group, struct slice topic,
                         int32_t partition)
{
    struct offset_record want = {group, topic, partition, -1};
    return find(l, &want, NULL);
}

/* One past the last record that a read_committed consumer gets. */
static int64_t input_end(const struct disk_log *l)
{
    for (uint32_t k = l->n_records; k-- > 0;)
        if (disk_committed(l, &l->records[k]))
            return l->records[k].offset + 1;
    return 0;
}

static void check_source(struct sim_evidence *x, struct slice topic)
{
    int32_t n = disk_logs_partitions(x->logs, topic);

    for (int32_t p = 0; p < n; p++) {
        const struct disk_log *l = disk_logs_find(x->logs, topic, p);
        struct offset_record want = {x->job->name, topic, p, -1};
        int64_t end = input_end(l);
        int64_t at = find(x->logs, &want, x->guarantee == UDF_EXACTLY_ONCE ? x->verdict : NULL);
        if (end && at < end) /* nothing is committed where nothing came */
            verdict_add(x->verdict, VIOLATION_OTHER,
                        "%.*s-%d: committed up to %" PRId64 ", records up to %" PRId64 " are there",
                        SLICE_FMT(topic), p, at, end);
        if (at > l->end)
            verdict_add(x->verdict, VIOLATION_OTHER,
                        "%.*s-%d: committed up to %" PRId64 ", beyond the end %" PRId64,
                        SLICE_FMT(topic), p, at, l->end);
    }
}

void check_offsets(struct sim_evidence *x)
{
    struct buf name;

    buf_init(&name, 512);
    for (int g = 0; g < x->job->n_groups; g++)
        for (int i = 0; i < x->job->groups[g].n_topics; i++) {
            buf_reset(&name);
            if (udf_job_topic(x->job, x->job->groups[g].topics[i], &name) == 0)
                check_source(x, buf_slice(&name));
        }
    buf_deinit(&name);
}

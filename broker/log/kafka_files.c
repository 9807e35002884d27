/* broker/log/kafka_files.c - the text files of a log directory, as Kafka writes and reads them.
 * Pure: bytes in, bytes out. A line that does not parse makes the whole file -ERR_CORRUPT. */
#include "broker/log/internal.h"
#include <stdlib.h>

const char *text_file_name(int which)
{
    static const char *const names[TEXT_N] = {
        "meta.properties", "recovery-point-offset-checkpoint", "replication-offset-checkpoint",
        "log-start-offset-checkpoint", ".kafka_cleanshutdown"};
    return names[which];
}

static int put_offsets(struct logdir *d, int which, struct buf *out)
{
    int n = 0;

    for (int pass = 0; pass < 2; pass++) {
        if (pass)
            buf_printf(out, "0\n%d\n", n);
        LIST_EACH (it, &d->logs) {
            const struct log *l = list_entry(it, struct log, link);
            int64_t v = which == TEXT_START ? l->ck.start : l->ck.end;
            if (l->dead || (which == TEXT_START && (!l->n_segs || v <= l->segs[0]->base)))
                continue;
            if (pass)
                buf_printf(out, "%.*s %d %lld\n", SLICE_FMT(l->topic), (int)l->partition,
                           (long long)v);
            else
                n++;
        }
    }
    return out->failed;
}

int text_file_make(struct logdir *d, int which, struct buf *out)
{
    switch (which) {
    case TEXT_META:
        buf_printf(out, "version=1\ncluster.id=%s\nnode.id=1\ndirectory.id=%s\n", d->cluster_id,
                   d->directory_id);
        return out->failed;
    case TEXT_CLEAN: buf_printf(out, "{\"version\":0,\"brokerEpoch\":-1}"); return out->failed;
    default: return put_offsets(d, which, out);
    }
}

/* The next line without its end; false when there is none. */
static bool next_line(struct slice *text, struct slice *line)
{
    const unsigned char *nl;

    if (!text->n)
        return false;
    nl = memchr(text->p, '\n', text->n);
    *line = slice_of(text->p, nl ? (size_t)(nl - text->p) : text->n);
    *text = slice_sub(*text, line->n + (nl != NULL), SIZE_MAX);
    if (line->n && line->p[line->n - 1] == '\r')
        line->n--;
    return true;
}

/* The next word of a line; false when there is none. */
static bool next_word(struct slice *line, struct slice *word)
{
    const unsigned char *sp;

    if (!line->n)
        return false;
    sp = memchr(line->p, ' ', line->n);
    *word = slice_of(line->p, sp ? (size_t)(sp - line->p) : line->n);
    *line = slice_sub(*line, word->n + (sp != NULL), SIZE_MAX);
    return true;
}

/* Version 0 and the number of entries. 1: none (an empty file), 0, or -ERR_CORRUPT. */
static int table_begin(struct slice *text, int64_t *n)
{
    struct slice line;

    if (!next_line(text, &line))
        return 1;
    if (!slice_eq_str(line, "0") || !next_line(text, &line) || parse_i64(line, n) < 0 || *n < 0)
        return -ERR_CORRUPT;
    return 0;
}

int offsets_file_parse(struct slice text,
                       void (*each)(void *user, struct slice topic, int32_t partition,
                                    int64_t offset),
                       void *user)
{
    struct slice line, topic, word[2];
    int64_t n, partition, offset;
    int r = table_begin(&text, &n);

    if (r)
        return r < 0 ? r : 0;
    while (next_line(&text, &line)) {
        if (!line.n)
            continue;
        if (!next_word(&line, &topic) || !next_word(&line, &word[0]) ||
            !next_word(&line, &word[1]) || parse_i64(word[0], &partition) < 0 ||
            parse_i64(word[1], &offset) < 0 || partition < 0 || partition > INT32_MAX || n-- == 0)
            return -ERR_CORRUPT;
        each(user, topic, (int32_t)partition, offset);
    }
    return n == 0 ? 0 : -ERR_CORRUPT;
}

int epochs_make(const struct log *l, struct buf *out)
{
    buf_printf(out, "0\n%d\n", l->n_epochs);
    for (int i = 0; i < l->n_epochs; i++)
        buf_printf(out, "%d %lld\n", (int)l->epochs[i].epoch, (long long)l->epochs[i].start);
    return out->failed;
}

int epochs_parse(struct log *l, struct slice text, int64_t end)
{
    struct slice line, word[2];
    int64_t n, epoch, start;
    bool dropped = false;
    int r = table_begin(&text, &n);

    if (r)
        return r < 0 ? r : 0;
    while (next_line(&text, &line)) {
        if (!line.n)
            continue;
        if (!next_word(&line, &word[0]) || !next_word(&line, &word[1]) ||
            parse_i64(word[0], &epoch) < 0 || parse_i64(word[1], &start) < 0 || epoch < 0 ||
            epoch > INT32_MAX || n-- == 0)
            return -ERR_CORRUPT;
        dropped = start >= end; /* told again by the batches behind the checkpoint */
        if (dropped)
            break;
        if (log_add_epoch(l, (int32_t)epoch, start) < 0)
            return -ERR_NOMEM;
    }
    l->epochs_dirty = dropped;
    return 0;
}

void partition_metadata_make(const struct log *l, struct buf *out)
{
    char id[23];

    uuid_text(&l->id, id);
    buf_printf(out, "version: 0\ntopic_id: %s", id);
}

int partition_metadata_parse(struct slice text, struct uuid *id)
{
    struct slice line;
    const char key[] = "topic_id: ";
    int r = -ERR_CORRUPT;

    while (next_line(&text, &line))
        if (line.n > sizeof key - 1 && memcmp(line.p, key, sizeof key - 1) == 0)
            r = uuid_parse(slice_sub(line, sizeof key - 1, SIZE_MAX), id);
    return r < 0 ? -ERR_CORRUPT : 0;
}

int meta_properties_parse(struct logdir *d, struct slice text)
{
    struct slice line;
    struct {
        const char *key;
        char *to;
    } fields[] = {{"cluster.id=", d->cluster_id}, {"directory.id=", d->directory_id}};

    while (next_line(&text, &line))
        for (int i = 0; i < 2; i++) {
            size_t k = strlen(fields[i].key);
            if (line.n < k || memcmp(line.p, fields[i].key, k) != 0)
                continue;
            if (line.n - k != 22)
                return -ERR_CORRUPT;
            memcpy(fields[i].to, line.p + k, 22);
            fields[i].to[22] = 0;
        }
    return 0;
}

/* broker/log/dump_journal.c - prints a journal's rounds and the checkpoint.
 *
 * A file holds rounds of one sequence from its start; behind them may lie those of an earlier
 * use, which are told apart by salt and sequence. A head that is damaged, or a round that does
 * not match its head, is reported: at the journal's very end that is what a crash may leave. */
#include "broker/log/checkpoint_format.h"
#include "broker/log/dump.h"
#include "broker/log/journal_format.h"
#include <inttypes.h>
#include <stdio.h>

static void hex(const unsigned char *p, size_t n, char *out)
{
    for (size_t i = 0; i < n; i++)
        snprintf(out + 2 * i, 3, "%02x", p[i]);
}

static void dump_entries(struct dump *d, uint64_t pos, const struct round_head *h,
                         struct slice round)
{
    uint64_t data_at = 0;

    for (uint32_t i = 0; i < h->n_entries; i++) {
        struct round_entry e;
        struct slice batch;
        char id[23];
        round_entry_at(h, round, i, &data_at, &e, &batch);
        uuid_text(&e.topic_id, id);
        dump_line(d,
                  "| topicId: %s partition: %d segment: %" PRId64 " at: %" PRIu64
                  " baseOffset: %" PRId64 " lastOffset: %" PRId64 " size: %u",
                  id, (int)e.partition, e.segment_base, e.position, e.base_offset, e.last_offset,
                  e.length);
        if (d->deep)
            (void)dump_batch(d, pos + (uint64_t)(batch.p - round.p), batch);
    }
}

/* The round at pos: its bytes, 0: no head there, or negative. */
static int64_t dump_round(struct dump *d, uint64_t pos, struct buf *b, struct round_head *last)
{
    struct round_head h;
    char salt[2 * JOURNAL_SALT + 1];
    bool older;
    int r = dump_read(d, pos, JOURNAL_BLOCK, b);

    if (r < 0)
        return r;
    r = b->n < JOURNAL_BLOCK ? -ERR_NOT_FOUND : round_head_parse(buf_slice(b), &h);
    if (r == -ERR_NOT_FOUND)
        return 0;
    if (r < 0)
        return dump_bad(d, pos, "the first block of a round does not match its checksum");
    older = last->seq && (memcmp(h.salt, last->salt, JOURNAL_SALT) != 0 || h.seq < last->seq);
    hex(h.salt, JOURNAL_SALT, salt);
    if (older) {
        dump_line(d, "position: %" PRIu64 " round: %" PRIu64 " salt: %s of an earlier use", pos,
                  h.seq, salt);
        return 0;
    }
    r = dump_read(d, pos, h.bytes, b);
    if (r < 0)
        return r;
    dump_line(d,
              "position: %" PRIu64 " round: %" PRIu64 " salt: %s lsn: %" PRIu64
              " entries: %u bytes: %" PRIu64 "%s next: %u",
              pos, h.seq, salt, h.lsn, h.n_entries, h.bytes, h.flags & ROUND_ASYNC ? " async" : "",
              h.next_file);
    if (round_check(&h, buf_slice(b)) < 0)
        return dump_bad(d, pos, "the round does not match its checksum");
    dump_entries(d, pos, &h, buf_slice(b));
    *last = h;
    return (int64_t)h.bytes;
}

int dump_journal(struct dump *d)
{
    struct round_head last = {.seq = 0};
    uint64_t pos = 0;
    struct buf b;
    int64_t r = 1;

    buf_init(&b, 1u << 31);
    while (r > 0 && pos < d->size) {
        r = dump_round(d, pos, &b, &last);
        pos += r > 0 ? (uint64_t)r : 0;
    }
    buf_deinit(&b);
    return r < 0 ? (int)r : 0;
}

int dump_checkpoint(struct dump *d)
{
    struct checkpoint_head h;
    struct checkpoint_log l;
    size_t at = CHECKPOINT_HEAD;
    char salt[33];
    struct buf b;
    int r;

    buf_init(&b, 1u << 31);
    r = dump_read(d, 0, d->size, &b);
    if (r == 0 && checkpoint_parse(buf_slice(&b), &h) < 0)
        r = dump_bad(d, 0, "does not match its checksum");
    if (r == 0) {
        hex(h.salt, 16, salt);
        dump_line(
            d, "epoch: %d salt: %s round: %" PRIu64 " file: %08u at: %" PRIu64 " logs: %u%s%s",
            (int)h.epoch, salt, h.seq, h.file, h.pos, h.n_logs,
            h.flags & CHECKPOINT_CLEAN ? " clean" : "", h.flags & CHECKPOINT_ASYNC ? " async" : "");
    }
    for (uint32_t i = 0; r == 0 && i < h.n_logs; i++) {
        size_t pos = at;
        char id[23];
        if (checkpoint_next(buf_slice(&b), &at, &l) < 0) {
            r = dump_bad(d, at, "ends inside an entry");
            break;
        }
        uuid_text(&l.id, id);
        dump_line(d,
                  "position: %zu %.*s-%d topicId: %s start: %" PRId64 " end: %" PRId64
                  " segment: %" PRId64 " at: %" PRIu64 " snapshot: %" PRId64,
                  pos, SLICE_FMT(l.topic), (int)l.partition, id, l.start, l.end, l.seg_base, l.pos,
                  l.snapshot);
    }
    buf_deinit(&b);
    return r;
}

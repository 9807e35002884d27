/* broker/log/dump.h - what the files of the dump share. */
#ifndef ONCE_BROKER_LOG_DUMP_H
#define ONCE_BROKER_LOG_DUMP_H
#include "base/env.h"
#include "broker/log/logdir.h"

struct dump {
    struct env *env;
    const char *path;
    bool deep;
    void (*line)(void *user, const char *text);
    void *user;
    struct err *e;
    struct env_file file;
    uint64_t size;
    int64_t base; /* of a segment's file, by its name; -1 */
};

void dump_line(struct dump *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* -ERR_CORRUPT with file and position. */
int dump_bad(struct dump *d, uint64_t pos, const char *what);
/* n bytes at pos into b (reset); fewer at the end. */
int dump_read(struct dump *d, uint64_t pos, uint64_t n, struct buf *b);

/* dump_log.c */
int dump_log(struct dump *d);
int dump_batch(struct dump *d, uint64_t pos, struct slice batch);
/* dump_journal.c */
int dump_journal(struct dump *d);
int dump_checkpoint(struct dump *d);
#endif

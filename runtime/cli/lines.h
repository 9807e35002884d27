/* runtime/cli/lines.h - lines of a file or of stdin, read off the loop, at the taker's pace.
 *
 * A line is given without its LF or CR LF; the last one may lack it. Empty lines are lines. */
#ifndef ONCE_RUNTIME_CLI_LINES_H
#define ONCE_RUNTIME_CLI_LINES_H
#include "base/buf.h"
#include "base/env_uv.h"

struct lines {
    struct env_uv *uv;
    int fd;
    uv_fs_t req;
    struct buf buf;
    size_t at;     /* of the next line in buf */
    size_t wanted; /* bytes asked for in the read under way */
    bool busy, eof, paused, ended;
    void *user;
    /* 0: taken; 1: not now, pause and give it again after lines_resume. */
    int (*line)(void *user, struct slice line);
    void (*end)(void *user, int res); /* 0, or a negative ERR_: the file cannot be read */
};
/* path "-": stdin. 0 or a negative ERR_. */
int lines_open(struct lines *l, struct env_uv *uv, const char *path);
void lines_start(struct lines *l);
void lines_resume(struct lines *l);
/* Not while a read is under way, unless the process is about to end. */
void lines_close(struct lines *l);
#endif

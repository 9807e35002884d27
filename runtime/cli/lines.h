/* runtime/cli/lines.h - lines of a file or of stdin, read off the loop, at the taker's pace.
 *
 * A line is given without its LF or CR LF; the last one may lack it. Empty lines are lines. A read
 * under way does not hold up an end: what waits for a pipe or a terminal can be closed any time. */
#ifndef ONCE_RUNTIME_CLI_LINES_H
#define ONCE_RUNTIME_CLI_LINES_H
#include "base/buf.h"
#include "base/env_uv.h"

struct lines_read;
struct lines {
    struct env_uv *uv;
    struct lines_read *read; /* the file, and the read that may be under way */
    struct buf buf;
    size_t at; /* of the next line in buf */
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
/* No call of line or end comes after it; l may be freed or opened again. */
void lines_close(struct lines *l);
#endif

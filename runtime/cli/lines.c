/* runtime/cli/lines.c - reads of some size in libuv's pool, cut into lines.
 *
 * A read belongs to a struct of its own, which outlives the lines when they are closed meanwhile.
 * In the pool the file is polled for a moment before it is read, so that what never comes (a
 * silent pipe or terminal) neither keeps a thread for good nor the process from ending. */
#include "runtime/cli/lines.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

enum { READ_BYTES = 256 * 1024, LINE_BYTES_MAX = 64 << 20, POLL_MS = 200 };

struct lines_read {
    uv_work_t work;
    struct lines *lines; /* NULL: closed */
    int fd;
    struct buf kept; /* of lines that are closed: what the read writes to */
    unsigned char *to;
    ssize_t got; /* bytes, 0 at the end; or -1 */
    int error;   /* errno; EAGAIN: nothing came */
};

static void read_free(struct lines_read *r)
{
    if (r->fd > STDIN_FILENO)
        close(r->fd);
    buf_deinit(&r->kept);
    free(r);
}

int lines_open(struct lines *l, struct env_uv *uv, const char *path)
{
    struct lines_read *r = calloc(1, sizeof *r);

    if (!r)
        return -ERR_NOMEM;
    r->fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (r->fd < 0) {
        free(r);
        return -err_from_errno(errno);
    }
    r->lines = l;
    l->uv = uv;
    l->read = r;
    buf_init(&l->buf, LINE_BYTES_MAX);
    return 0;
}

static void read_more(struct lines *l);

static void finish(struct lines *l, int res)
{
    if (l->ended)
        return;
    l->ended = true;
    l->end(l->user, res);
}

/* Gives what is there; false when the taker said not now. */
static bool give(struct lines *l)
{
    while (l->at < l->buf.n) {
        unsigned char *p = l->buf.p + l->at;
        unsigned char *lf = memchr(p, '\n', l->buf.n - l->at);
        size_t n = lf ? (size_t)(lf - p) : l->buf.n - l->at;

        if (!lf && !l->eof)
            return true;
        if (l->line(l->user, slice_of(p, n && lf && p[n - 1] == '\r' ? n - 1 : n))) {
            l->paused = true;
            return false;
        }
        l->at += n + (lf != NULL);
    }
    return true;
}

static void go_on(struct lines *l)
{
    if (!give(l) || l->ended)
        return;
    if (l->eof)
        finish(l, 0);
    else
        read_more(l);
}

/* In the pool. */
static void read_run(uv_work_t *work)
{
    struct lines_read *r = work->data;
    struct pollfd p = {.fd = r->fd, .events = POLLIN};
    int n = poll(&p, 1, POLL_MS);

    r->got = n > 0 ? read(r->fd, r->to, READ_BYTES) : -1;
    r->error = n == 0 ? EAGAIN : errno;
}

static void read_done(uv_work_t *work, int status)
{
    struct lines_read *r = work->data;
    struct lines *l = r->lines;

    if (!l) {
        read_free(r);
        return;
    }
    env_uv_enter(l->uv);
    if (r->got < 0 && (r->error == EAGAIN || r->error == EINTR) &&
        uv_queue_work(&l->uv->loop, work, read_run, read_done) == 0)
        return;
    l->busy = false;
    l->buf.n -= READ_BYTES - (r->got > 0 ? (size_t)r->got : 0);
    if (r->got < 0) {
        finish(l, -err_from_errno(r->error));
        return;
    }
    l->eof = r->got == 0;
    go_on(l);
}

static void read_more(struct lines *l)
{
    struct lines_read *r = l->read;

    memmove(l->buf.p, l->buf.p + l->at, l->buf.n - l->at);
    l->buf.n -= l->at;
    l->at = 0;
    r->to = buf_more(&l->buf, READ_BYTES);
    if (!r->to) {
        finish(l, -ERR_TOO_BIG);
        return;
    }
    r->work.data = r;
    l->busy = uv_queue_work(&l->uv->loop, &r->work, read_run, read_done) == 0;
    if (!l->busy)
        finish(l, -ERR_IO);
}

void lines_start(struct lines *l)
{
    if (buf_reserve(&l->buf, READ_BYTES))
        finish(l, -ERR_NOMEM);
    else
        read_more(l);
}

void lines_resume(struct lines *l)
{
    if (!l->paused || l->busy)
        return;
    l->paused = false;
    go_on(l);
}

void lines_close(struct lines *l)
{
    struct lines_read *r = l->read;

    if (!r)
        return;
    l->read = NULL;
    r->lines = NULL;
    r->kept = l->buf;
    buf_init(&l->buf, LINE_BYTES_MAX);
    if (!l->busy)
        read_free(r);
    l->busy = false;
    l->ended = true;
}

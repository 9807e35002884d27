/* runtime/cli/lines.c - reads of some size through libuv's pool, cut into lines. */
#include "runtime/cli/lines.h"
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { READ_BYTES = 256 * 1024, LINE_BYTES_MAX = 64 << 20 };

int lines_open(struct lines *l, struct env_uv *uv, const char *path)
{
    l->uv = uv;
    l->fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    buf_init(&l->buf, LINE_BYTES_MAX);
    return l->fd < 0 ? -err_from_errno(errno) : 0;
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

static void read_done(uv_fs_t *req)
{
    struct lines *l = req->data;
    ssize_t n = req->result;

    env_uv_enter(l->uv);
    uv_fs_req_cleanup(req);
    l->busy = false;
    if (n < 0) {
        l->buf.n -= l->wanted;
        finish(l, -ERR_IO);
        return;
    }
    l->buf.n -= l->wanted - (size_t)n;
    l->eof = n == 0;
    go_on(l);
}

static void read_more(struct lines *l)
{
    uv_buf_t b;

    memmove(l->buf.p, l->buf.p + l->at, l->buf.n - l->at);
    l->buf.n -= l->at;
    l->at = 0;
    b.base = (char *)buf_more(&l->buf, READ_BYTES);
    if (!b.base) {
        finish(l, -ERR_TOO_BIG);
        return;
    }
    b.len = l->wanted = READ_BYTES;
    l->req.data = l;
    l->busy = true;
    if (uv_fs_read(&l->uv->loop, &l->req, l->fd, &b, 1, -1, read_done) != 0) {
        l->busy = false;
        finish(l, -ERR_IO);
    }
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
    if (l->fd > STDIN_FILENO)
        close(l->fd);
    if (!l->busy)
        buf_deinit(&l->buf);
    l->fd = -1;
}

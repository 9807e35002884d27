/* base/env_uv_net.c - TCP streams of the real world.
 *
 * send tries at once and queues only the rest, four slices at a time (libuv allocates beyond that).
 * recv hands the caller's span to libuv; reading stops only if the callback did not ask for more.
 * connect and listen take numbers as they are; names go to the resolver, of whose answers an IPv4
 * one is preferred. shut closes the handle; when libuv is done with it, the ops end, shut's own
 * last.
 *
 * Failure: a connection that broke ends the op at hand with its error, and every later recv too. */
#include "base/env_uv_impl.h"
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { TRY_BATCH = 64, QUEUE_BATCH = 4, BACKLOG = 511 };

/* The resolver's own memory: it may outlive the op that asked. */
struct euv_resolve {
    uv_getaddrinfo_t req;
    struct env_op *op; /* NULL: nobody waits any more */
    struct env_uv *uv;
};

static int uv_err(int status)
{
    return status == UV_EOF ? -ERR_CLOSED : -err_from_errno(-status);
}

/* "HOST:PORT" or "[V6]:PORT"; an empty host or * is every interface. */
static int split_address(const char *addr, char host[256], int *port)
{
    const char *colon = strrchr(addr, ':');
    size_t n;
    long p;
    char *end;

    if (!colon || colon[1] < '0' || colon[1] > '9')
        return -ERR_INVALID;
    p = strtol(colon + 1, &end, 10);
    if (*end || p > 65535)
        return -ERR_INVALID;
    n = (size_t)(colon - addr);
    if (n >= 2 && addr[0] == '[' && addr[n - 1] == ']') {
        addr++;
        n -= 2;
    }
    if (n >= 256)
        return -ERR_INVALID;
    memcpy(host, addr, n);
    host[n] = 0;
    if (n == 0 || strcmp(host, "*") == 0)
        strcpy(host, "0.0.0.0");
    *port = (int)p;
    return 0;
}

static bool numeric_address(const char *host, int port, struct sockaddr_storage *to)
{
    return uv_ip4_addr(host, port, (struct sockaddr_in *)to) == 0 ||
           uv_ip6_addr(host, port, (struct sockaddr_in6 *)to) == 0;
}

/* The first IPv4 answer, else the first: 0 or -ERR_RESOLVE. */
static int pick_address(const struct addrinfo *list, struct sockaddr_storage *to)
{
    const struct addrinfo *best = NULL;

    for (const struct addrinfo *a = list; a; a = a->ai_next)
        if ((a->ai_family == AF_INET && (!best || best->ai_family != AF_INET)) ||
            (a->ai_family == AF_INET6 && !best))
            best = a;
    if (!best)
        return -ERR_RESOLVE;
    memcpy(to, best->ai_addr, best->ai_addrlen);
    return 0;
}

static void set_port(struct sockaddr_storage *a, int port)
{
    if (a->ss_family == AF_INET)
        ((struct sockaddr_in *)a)->sin_port = htons((uint16_t)port);
    else
        ((struct sockaddr_in6 *)a)->sin6_port = htons((uint16_t)port);
}

static struct env_stream *stream_of(void *tcp)
{
    return (struct env_stream *)(void *)((char *)tcp - offsetof(struct env_stream, impl));
}

/* A fresh handle in s; from here on it must be closed. */
static struct euv_stream *stream_init(struct env *e, struct env_stream *s)
{
    struct euv_stream *i = euv_stream(s);
    struct env_uv_node *node = euv_node(e);

    memset(i, 0, sizeof *i);
    s->env = e;
    CHECK(uv_tcp_init(&node->uv->loop, &i->tcp) == 0);
    node->n_handles++;
    list_push(&node->streams, &i->link);
    return i;
}

/* ---- listen, accept, address ---- */

static int bound_socket(const struct sockaddr_storage *a)
{
    int on = 1, r;
    socklen_t len = a->ss_family == AF_INET ? sizeof(struct sockaddr_in)
                                            : sizeof(struct sockaddr_in6);
    int fd = socket(a->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -err_from_errno(errno);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, (const struct sockaddr *)a, len) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    r = -err_from_errno(errno);
    close(fd);
    return r;
}

static void on_connection(uv_stream_t *h, int status)
{
    struct env_stream *l = stream_of(h);
    struct euv_stream *i = euv_stream(l);

    env_uv_enter(euv_node(l->env)->uv);
    if (l->env->dead || uv_is_closing((uv_handle_t *)h))
        return;
    if (status != 0) {
        env_warn(l->env, "accept: %s", uv_strerror(status));
        return;
    }
    i->pending = true;
    i->of.ready(l);
}

int euv_net_listen(struct env *e, struct env_stream *l, const char *addr,
                   void (*ready)(struct env_stream *l))
{
    struct sockaddr_storage to;
    struct euv_stream *i;
    char host[256];
    int port, fd, r;

    if (e->dead)
        return -ERR_CRASHED;
    r = split_address(addr, host, &port);
    if (r < 0)
        return r;
    if (!numeric_address(host, port, &to)) {
        uv_getaddrinfo_t req;
        struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
        if (uv_getaddrinfo(&euv_node(e)->uv->loop, &req, NULL, host, NULL, &hints) != 0)
            return -ERR_RESOLVE;
        r = pick_address(req.addrinfo, &to);
        uv_freeaddrinfo(req.addrinfo);
        if (r < 0)
            return r;
        set_port(&to, port);
    }
    fd = bound_socket(&to);
    if (fd < 0)
        return fd;
    i = stream_init(e, l);
    i->of.ready = ready;
    CHECK(uv_tcp_open(&i->tcp, fd) == 0);
    CHECK(uv_listen((uv_stream_t *)&i->tcp, BACKLOG, on_connection) == 0);
    return 0;
}

int euv_net_accept(struct env_stream *l, struct env_stream *s)
{
    struct euv_stream *i = euv_stream(l);

    if (l->env->dead)
        return -ERR_CRASHED;
    if (!i->pending)
        return -ERR_AGAIN;
    i->pending = false;
    stream_init(l->env, s);
    CHECK(uv_accept((uv_stream_t *)&i->tcp, (uv_stream_t *)&euv_stream(s)->tcp) == 0);
    uv_tcp_nodelay(&euv_stream(s)->tcp, 1);
    return 0;
}

int euv_net_address(struct env_stream *s, int peer, char *out, size_t cap)
{
    struct euv_stream *i = euv_stream(s);
    struct sockaddr_storage a;
    int len = sizeof a, r, port;
    char host[64];

    if (s->env->dead)
        return -ERR_CRASHED;
    r = peer ? uv_tcp_getpeername(&i->tcp, (struct sockaddr *)&a, &len)
             : uv_tcp_getsockname(&i->tcp, (struct sockaddr *)&a, &len);
    if (r != 0)
        return uv_err(r);
    if (a.ss_family == AF_INET) {
        uv_ip4_name((struct sockaddr_in *)&a, host, sizeof host);
        port = ntohs(((struct sockaddr_in *)&a)->sin_port);
        r = snprintf(out, cap, "%s:%d", host, port);
    } else {
        uv_ip6_name((struct sockaddr_in6 *)&a, host, sizeof host);
        port = ntohs(((struct sockaddr_in6 *)&a)->sin6_port);
        r = snprintf(out, cap, "[%s]:%d", host, port);
    }
    return r < (int)cap ? 0 : -ERR_TOO_BIG;
}

/* ---- connect ---- */

static void connect_end(struct euv_stream *i, int res)
{
    struct env_op *op = i->connect;

    i->connect = NULL;
    if (op)
        euv_op_end_later(op, res);
}

static void on_connect(uv_connect_t *req, int status)
{
    struct env_stream *s = stream_of(req->handle);

    if (!uv_is_closing((uv_handle_t *)req->handle))
        env_uv_enter(euv_node(s->env)->uv);
    connect_end(euv_stream(s), status ? uv_err(status) : 0);
}

static void connect_to(struct env_stream *s, const struct sockaddr_storage *to)
{
    struct euv_stream *i = euv_stream(s);
    int r = uv_tcp_connect(&euv_op(i->connect)->req.connect, &i->tcp, (const struct sockaddr *)to,
                           on_connect);
    if (r != 0)
        connect_end(i, uv_err(r));
}

static void on_resolved(uv_getaddrinfo_t *req, int status, struct addrinfo *list)
{
    struct euv_resolve *q = (struct euv_resolve *)(void *)req;
    struct env_op *op = q->op;
    struct sockaddr_storage to;

    env_uv_enter(q->uv);
    if (op) {
        struct env_stream *s = euv_op(op)->of.stream;
        int r = status ? -ERR_RESOLVE : pick_address(list, &to);
        euv_stream(s)->of.resolve = NULL;
        if (r < 0) {
            connect_end(euv_stream(s), r);
        } else {
            set_port(&to, (int)euv_op(op)->at);
            connect_to(s, &to);
        }
    }
    uv_freeaddrinfo(list);
    free(q);
}

static int resolve(struct env_op *op, struct env_stream *s, const char *host)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct euv_resolve *q = malloc(sizeof *q);
    int r;

    if (!q)
        return -ERR_NOMEM;
    q->op = op;
    q->uv = euv_node(op->env)->uv;
    r = uv_getaddrinfo(&q->uv->loop, &q->req, on_resolved, host, NULL, &hints);
    if (r != 0) {
        free(q);
        return -ERR_RESOLVE;
    }
    euv_stream(s)->of.resolve = q;
    return 0;
}

void euv_net_connect(struct env_op *op, struct env_stream *s, const char *addr)
{
    struct sockaddr_storage to;
    struct euv_stream *i;
    char host[256];
    int port, r;

    if (!euv_op_begin(op, s->env))
        return;
    i = stream_init(s->env, s);
    uv_tcp_nodelay(&i->tcp, 1);
    i->connect = op;
    euv_op(op)->of.stream = s;
    r = split_address(addr, host, &port);
    if (r == 0 && numeric_address(host, port, &to)) {
        connect_to(s, &to);
        return;
    }
    if (r == 0) {
        euv_op(op)->at = (uint64_t)port;
        r = resolve(op, s, host);
    }
    if (r < 0)
        connect_end(i, r);
}

/* ---- recv ---- */

static void on_alloc(uv_handle_t *h, size_t hint, uv_buf_t *buf)
{
    struct euv_stream *i = euv_stream(stream_of(h));
    (void)hint;
    *buf = i->recv ? uv_buf_init((char *)i->to.p, (unsigned)i->to.n) : uv_buf_init(NULL, 0);
}

static void stop_reading(struct euv_stream *i)
{
    if (i->reading)
        uv_read_stop((uv_stream_t *)&i->tcp);
    i->reading = false;
}

static void on_read(uv_stream_t *h, ssize_t n, const uv_buf_t *buf)
{
    struct env_stream *s = stream_of(h);
    struct euv_stream *i = euv_stream(s);
    struct env_op *op = i->recv;

    (void)buf;
    if (n == 0 || !op) /* 0: nothing to read after all */
        return;
    env_uv_enter(euv_node(s->env)->uv);
    if (n < 0) {
        stop_reading(i);
        i->ended = n == UV_EOF ? 1 : uv_err((int)n);
        n = n == UV_EOF ? 0 : i->ended;
    }
    i->recv = NULL;
    euv_op_end(op, n);
    if (!i->recv)
        stop_reading(i);
}

void euv_net_recv(struct env_op *op, struct env_stream *s, struct span to)
{
    struct euv_stream *i = euv_stream(s);
    int r = 0;

    if (!euv_op_begin(op, s->env))
        return;
    CHECK(!i->recv);
    CHECK(!i->shut);
    CHECK(to.n > 0);
    if (to.n > INT32_MAX)
        to.n = INT32_MAX;
    if (i->ended) {
        euv_op_end_later(op, i->ended > 0 ? 0 : i->ended);
        return;
    }
    i->recv = op;
    i->to = to;
    if (!i->reading)
        r = uv_read_start((uv_stream_t *)&i->tcp, on_alloc, on_read);
    i->reading = r == 0;
    if (r != 0) {
        i->recv = NULL;
        euv_op_end_later(op, uv_err(r));
    }
}

/* ---- send ---- */

static int next_bufs(const struct euv_op *o, uv_buf_t *bufs, int max)
{
    int n = 0;

    for (size_t k = 0; k < o->n && n < max; k++) {
        size_t skip = k == 0 ? o->off : 0;
        bufs[n++] = uv_buf_init((char *)(uintptr_t)(o->data.v[k].p + skip),
                                (unsigned)(o->data.v[k].n - skip));
    }
    return n;
}

static void advance(struct euv_op *o, size_t sent)
{
    o->at += sent;
    o->off += sent;
    while (o->n > 0 && o->off >= o->data.v->n) {
        o->off -= o->data.v->n;
        o->data.v++;
        o->n--;
    }
}

static void send_end(struct euv_stream *i, int64_t res)
{
    struct env_op *op = i->send;

    i->send = NULL;
    euv_op_end_later(op, res);
}

static void send_more(struct euv_stream *i);

static void on_written(uv_write_t *req, int status)
{
    struct env_stream *s = stream_of(req->handle);
    struct euv_stream *i = euv_stream(s);
    uv_buf_t bufs[QUEUE_BATCH];
    struct euv_op *o = euv_op(i->send);
    size_t sent = 0;
    int n;

    if (status != 0) {
        send_end(i, uv_err(status));
        return;
    }
    env_uv_enter(euv_node(s->env)->uv);
    n = next_bufs(o, bufs, QUEUE_BATCH); /* the same as were queued */
    for (int k = 0; k < n; k++)
        sent += bufs[k].len;
    advance(o, sent);
    send_more(i);
}

/* As much as the socket takes now; the rest is queued, or the op is over. */
static void send_more(struct euv_stream *i)
{
    struct euv_op *o = euv_op(i->send);
    uv_stream_t *h = (uv_stream_t *)&i->tcp;
    uv_buf_t bufs[TRY_BATCH];
    int n, r;

    while ((n = next_bufs(o, bufs, TRY_BATCH)) > 0) {
        r = uv_try_write(h, bufs, (unsigned)n);
        if (r == UV_EAGAIN)
            break;
        if (r < 0) {
            send_end(i, uv_err(r));
            return;
        }
        advance(o, (size_t)r);
    }
    if (n == 0) {
        send_end(i, (int64_t)o->at);
        return;
    }
    n = next_bufs(o, bufs, QUEUE_BATCH);
    r = uv_write(&o->req.write, h, bufs, (unsigned)n, on_written);
    if (r != 0)
        send_end(i, uv_err(r));
}

void euv_net_send(struct env_op *op, struct env_stream *s, const struct slice *v, int n)
{
    struct euv_stream *i = euv_stream(s);
    struct euv_op *o = euv_op(op);

    if (!euv_op_begin(op, s->env))
        return;
    CHECK(!i->send);
    CHECK(!i->shut);
    o->of.stream = s;
    o->at = 0;
    o->data.v = v;
    o->n = (size_t)n;
    o->off = 0;
    advance(o, 0); /* skips empty slices */
    i->send = op;
    send_more(i);
}

/* ---- shut ---- */

/* libuv has ended the send already. */
static void on_close(uv_handle_t *h)
{
    struct env_stream *s = stream_of(h);
    struct euv_stream *i = euv_stream(s);
    struct env_op *recv = i->recv, *shut = i->shut;

    list_remove(&i->link);
    euv_node(s->env)->n_handles--;
    connect_end(i, -ERR_CANCELED);
    i->recv = i->shut = NULL;
    if (recv)
        euv_op_end_later(recv, -ERR_CANCELED);
    if (shut)
        euv_op_end_later(shut, 0);
}

static void close_stream(struct euv_stream *i)
{
    if (i->connect && i->of.resolve) {
        i->of.resolve->op = NULL;
        uv_cancel((uv_req_t *)&i->of.resolve->req);
    }
    i->reading = false;
    uv_close((uv_handle_t *)&i->tcp, on_close);
}

void euv_net_shut(struct env_op *op, struct env_stream *s)
{
    struct euv_stream *i = euv_stream(s);

    if (!euv_op_begin(op, s->env))
        return;
    CHECK(!i->shut);
    i->shut = op;
    close_stream(i);
}

void euv_net_stop(struct env_uv_node *node)
{
    LIST_EACH (l, &node->streams) {
        struct euv_stream *i = list_entry(l, struct euv_stream, link);
        if (!uv_is_closing((uv_handle_t *)&i->tcp))
            close_stream(i);
    }
}

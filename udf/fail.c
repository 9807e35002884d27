/* udf/fail.c - what an error says: where, what, of which record, through which of the job's
 * functions.
 *
 * The message handler runs while the frames stand and fills the task's buffers; fail_report
 * composes the rest behind the pcall. Memory errors get no handler: limits.c took the position
 * down. */
#include "udf/ljson.h"
#include "udf/ltext.h"
#include "udf/task.h"
#include <stdio.h>

/* A level is found by walking from the top: LEVELS_MAX keeps a deep recursion from costing its
 * square. */
enum { EXCERPT_MAX = 120, FRAMES_MAX = 40, LEVELS_MAX = 1000, MESSAGE_MAX = 4096 };

static bool job_frame(const lua_Debug *ar)
{
    return ar->source[0] == '@' && ar->currentline > 0;
}

bool fail_where(struct udf_task *t, lua_State *L, struct buf *out)
{
    lua_Debug ar;

    (void)t;
    for (int level = 0; lua_getstack(L, level, &ar); level++) {
        lua_getinfo(L, "Sl", &ar);
        if (job_frame(&ar)) {
            buf_reset(out);
            buf_printf(out, "%s:%d", ar.source + 1, ar.currentline);
            return true;
        }
    }
    return false;
}

int fail(lua_State *L, const char *fmt, ...)
{
    lua_Debug ar;
    char text[1024];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    luaL_checkstack(L, 4, NULL);
    lua_pushliteral(L, "");
    for (int level = 0; lua_getstack(L, level, &ar); level++) {
        lua_getinfo(L, "Sl", &ar);
        if (job_frame(&ar)) {
            lua_pop(L, 1);
            lua_pushfstring(L, "%s:%d: ", ar.source + 1, ar.currentline);
            break;
        }
    }
    lua_pushstring(L, text);
    lua_concat(L, 2);
    return lua_error(L);
}

static void put_frame(struct buf *out, const lua_Debug *ar)
{
    buf_printf(out, "%s:%d: in ", ar->source + 1, ar->currentline);
    if (*ar->what == 'm')
        buf_printf(out, "the file itself\n");
    else if (ar->name)
        buf_printf(out, "function '%s'\n", ar->name);
    else
        buf_printf(out, "function <line %d>\n", ar->linedefined);
}

void fail_trace(struct udf_task *t, lua_State *L)
{
    lua_Debug ar;
    size_t from = 0, len = 0; /* the last line put */
    int n = 0, repeats = 0;

    for (int level = 0; n < FRAMES_MAX && level < LEVELS_MAX && lua_getstack(L, level, &ar);
         level++) {
        size_t at = t->trace.n;
        lua_getinfo(L, "Sln", &ar);
        if (!job_frame(&ar))
            continue;
        put_frame(&t->trace, &ar);
        if (len && t->trace.n - at == len && memcmp(t->trace.p + from, t->trace.p + at, len) == 0) {
            t->trace.n = at;
            repeats++;
            continue;
        }
        if (repeats) {
            t->trace.n = at;
            buf_printf(&t->trace, "... and %d more of these\n", repeats);
            at = t->trace.n;
            put_frame(&t->trace, &ar);
        }
        repeats = 0;
        from = at;
        len = t->trace.n - at;
        n++;
    }
    if (repeats)
        buf_printf(&t->trace, "... and %d more of these\n", repeats);
}

/* How long "FILE:LINE" at the start of s is, if one of the job's files is meant; else 0. */
static size_t position_in(const struct udf_task *t, struct slice s)
{
    for (int i = 0; i < t->files->n; i++) {
        size_t n = strlen(t->files->v[i].name), at = n + 1;
        if (s.n <= at || memcmp(s.p, t->files->v[i].name, n) != 0 || s.p[n] != ':')
            continue;
        while (at < s.n && s.p[at] >= '0' && s.p[at] <= '9')
            at++;
        if (at > n + 1 && at < s.n && s.p[at] == ':')
            return at;
    }
    return 0;
}

/* Splits "pay.lua:14: text" into where and message. */
static void take_text(struct udf_task *t, struct slice s)
{
    size_t n = position_in(t, s);

    buf_reset(&t->message);
    if (n) {
        buf_reset(&t->where);
        buf_put(&t->where, s.p, n);
        s = slice_sub(s, n + 1, s.n);
        while (s.n && s.p[0] == ' ')
            s = slice_sub(s, 1, s.n);
    }
    if (s.n > MESSAGE_MAX)
        s.n = MESSAGE_MAX;
    buf_put_slice(&t->message, s);
    t->has_message = true;
}

static void take_object(struct udf_task *t, lua_State *L, int idx)
{
    const char *why;
    struct slice s;

    if (lua_type(L, idx) == LUA_TSTRING || lua_type(L, idx) == LUA_TNUMBER) {
        lua_pushvalue(L, idx);
        s.p = (const unsigned char *)lua_tolstring(L, -1, &s.n);
        take_text(t, s);
        lua_pop(L, 1);
        return;
    }
    buf_reset(&t->message);
    buf_printf(&t->message, "error value ");
    if (lua_type(L, idx) != LUA_TTABLE || ljson_put(L, idx, &t->message, &why)) {
        buf_reset(&t->message);
        buf_printf(&t->message, "error value of type %s", luaL_typename(L, idx));
    }
    t->has_message = true;
}

int fail_handler(lua_State *L)
{
    struct udf_task *t = task_of(L);

    buf_reset(&t->where);
    fail_where(t, L, &t->where);
    take_object(t, L, 1);
    fail_trace(t, L);
    return 1;
}

void fail_reset(struct udf_task *t)
{
    buf_reset(&t->where);
    buf_reset(&t->trace);
    t->has_message = t->has_details = false;
    t->host_code = 0;
}

int fail_host(lua_State *L, int rc, const char *what)
{
    struct udf_task *t = task_of(L);

    if (rc >= 0)
        return rc;
    if (rc != -ERR_TOO_BIG && rc != -ERR_INVALID) {
        t->stop = STOP_HOST;
        t->host_code = rc;
    }
    return fail(L, "%s: %s", what, err_text(rc));
}

static void put_record(struct udf_task *t, struct buf *out)
{
    const struct udf_record *r = t->r;
    bool bare = t->source && t->source->s->value_codec == UDF_JSON;
    struct slice key = record_key(t);

    buf_printf(out, " (job %.*s v%lld, %.*s[%d]@%lld, key ", SLICE_FMT(t->job->name),
               (long long)t->job->version, SLICE_FMT(r->topic), (int)r->partition,
               (long long)r->offset);
    ltext_excerpt(out, key, EXCERPT_MAX, true);
    buf_printf(out, ", value ");
    ltext_excerpt(out, r->value, EXCERPT_MAX, !bare);
    buf_printf(out, ")");
}

/* The texts behind a pcall, whether or not the handler has run. */
static void settle(struct udf_task *t, int status)
{
    if (status == LUA_ERRMEM) {
        if (!t->stop)
            t->stop = STOP_MEMORY;
        buf_reset(&t->message);
        buf_printf(&t->message, "the task needs more than %llu MB of memory (limits.memory)",
                   (unsigned long long)(t->soft >> 20));
    } else if (!t->has_message) {
        take_object(t, t->L, -1);
    }
    buf_reset(&t->full);
    if (t->where.n) {
        buf_put_slice(&t->full, buf_slice(&t->where));
        buf_put(&t->full, ": ", 2);
    }
    buf_put_slice(&t->full, buf_slice(&t->message));
}

enum udf_result fail_report(struct udf_task *t, int status, struct udf_failure *f)
{
    static const enum udf_result kinds[] = {[STOP_NONE] = UDF_ERROR,
                                            [STOP_TIME] = UDF_TIME,
                                            [STOP_MEMORY] = UDF_MEMORY,
                                            [STOP_REJECT] = UDF_REJECTED,
                                            [STOP_HOST] = UDF_HOST};

    settle(t, status);
    put_record(t, &t->full);
    *f = (struct udf_failure){.kind = kinds[t->stop],
                              .host_code = t->host_code,
                              .node = t->node ? t->node->node : -1,
                              .where = buf_slice(&t->where),
                              .text = buf_slice(&t->message),
                              .message = buf_slice(&t->full),
                              .traceback = slice_of(t->trace.p, t->trace.n ? t->trace.n - 1 : 0)};
    if (t->stop == STOP_REJECT) {
        f->reason = buf_slice(&t->reason);
        if (t->has_details)
            f->details = buf_slice(&t->details);
    }
    return f->kind;
}

int fail_err(struct udf_task *t, int status, struct err *e)
{
    settle(t, status);
    if (t->trace.n)
        return err_set(e, ERR_LUA, "%.*s\n%.*s", SLICE_FMT(buf_slice(&t->full)),
                       (int)t->trace.n - 1, (const char *)t->trace.p);
    return err_set(e, ERR_LUA, "%.*s", SLICE_FMT(buf_slice(&t->full)));
}

/* base/err.c - names, texts and composed messages of errors. */
#include "base/err.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
static const char *const names[] = {
    "ERR_NONE",
#define ERR_NAME(name, text) "ERR_" #name,
    ERR_MAP(ERR_NAME)
#undef ERR_NAME
};
static const char *const texts[] = {
    "no error",
#define ERR_TEXT(name, text) text,
    ERR_MAP(ERR_TEXT)
#undef ERR_TEXT
};
/* clang-format on */

const char *err_name(int code)
{
    int c = code < 0 ? -code : code;
    return c < ERR_COUNT ? names[c] : "ERR_?";
}

const char *err_text(int code)
{
    int c = code < 0 ? -code : code;
    return c < ERR_COUNT ? texts[c] : "unknown error";
}

int err_set(struct err *e, int code, const char *fmt, ...)
{
    if (e) {
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(e->text, sizeof e->text, fmt, ap);
        va_end(ap);
        e->code = code;
    }
    return -code;
}

int err_wrap(struct err *e, const char *fmt, ...)
{
    char old[sizeof e->text];
    size_t n;
    va_list ap;

    if (!e)
        return -ERR_INVALID;
    snprintf(old, sizeof old, "%s", e->text[0] ? e->text : err_text(e->code));
    va_start(ap, fmt);
    vsnprintf(e->text, sizeof e->text, fmt, ap);
    va_end(ap);
    n = strlen(e->text);
    snprintf(e->text + n, sizeof e->text - n, ": %s", old);
    return -e->code;
}

int err_from_errno(int eno)
{
    switch (eno) {
    case 0: return ERR_NONE;
    case ENOMEM: return ERR_NOMEM;
    case ENOENT:
    case ENOTDIR:
    case EADDRNOTAVAIL: return ERR_NOT_FOUND;
    case EEXIST:
    case ENOTEMPTY: return ERR_EXISTS;
    case EAGAIN: return ERR_AGAIN;
    case EBUSY: return ERR_BUSY;
    case ENOSPC:
    case EDQUOT: return ERR_NO_SPACE;
    case EACCES:
    case EPERM:
    case EROFS: return ERR_ACCESS;
    case ECANCELED: return ERR_CANCELED;
    case ECONNREFUSED: return ERR_REFUSED;
    case ECONNRESET:
    case EPIPE: return ERR_RESET;
    case ETIMEDOUT: return ERR_TIMEOUT;
    case EADDRINUSE: return ERR_ADDR_IN_USE;
    case EINVAL: return ERR_INVALID;
    case EFBIG: return ERR_TOO_BIG;
    case EOPNOTSUPP: return ERR_UNSUPPORTED;
    default: return ERR_IO;
    }
}

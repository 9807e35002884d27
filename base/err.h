/* base/err.h - errors of the house: 0 or a negative ERR_ code; the cold paths add a message.
 *
 * Codes of the Kafka protocol are another type (base/wire/kafka_error.h) and meet these only in
 * api/ files and effects. */
#ifndef ONCE_BASE_ERR_H
#define ONCE_BASE_ERR_H
#include <stdarg.h>

#define MUST_USE __attribute__((warn_unused_result))

#define ERR_MAP(X)                                                                                 \
    X(NOMEM, "out of memory")                                                                      \
    X(TOO_BIG, "too large")                                                                        \
    X(SHORT, "data ends too early")                                                                \
    X(INVALID, "invalid")                                                                          \
    X(CORRUPT, "corrupt data")                                                                     \
    X(UNSUPPORTED, "not supported")                                                                \
    X(NOT_FOUND, "not found")                                                                      \
    X(EXISTS, "exists already")                                                                    \
    X(BUSY, "in use by another process")                                                           \
    X(AGAIN, "not at once, try the other way")                                                     \
    X(IO, "input/output error")                                                                    \
    X(NO_SPACE, "no space left on device")                                                         \
    X(ACCESS, "permission denied")                                                                 \
    X(CANCELED, "canceled")                                                                        \
    X(CRASHED, "the node is down")                                                                 \
    X(CLOSED, "connection closed")                                                                 \
    X(REFUSED, "connection refused")                                                               \
    X(RESET, "connection reset")                                                                   \
    X(TIMEOUT, "timed out")                                                                        \
    X(RESOLVE, "host name not resolved")                                                           \
    X(ADDR_IN_USE, "address in use")                                                               \
    X(BROKER, "refused by the broker")                                                             \
    X(FENCED, "fenced by a newer producer")                                                        \
    X(ABORTABLE, "the transaction must be aborted")                                                \
    X(UNKNOWN_OUTCOME, "outcome unknown")                                                          \
    X(LIMIT, "limit reached")                                                                      \
    X(LUA, "error in the job")                                                                     \
    X(STATE, "not possible in this state")

enum err_code {
    ERR_NONE = 0,
#define ERR_ENUM(name, text) ERR_##name,
    ERR_MAP(ERR_ENUM)
#undef ERR_ENUM
        ERR_COUNT
};

/* A code with a text that names what, where and what to do. Zero-initialised is "no error". */
struct err {
    int code; /* ERR_x, positive; 0 is none */
    char text[1024];
};

/* "ERR_IO" and "input/output error" for a code of either sign; never NULL. */
const char *err_name(int code);
const char *err_text(int code);

/* Sets e (NULL: only returns) and returns -code, so that `return err_set(e, ERR_X, ...)` reads
 * well. */
int err_set(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Puts "what: " before the text that is there (or before the code's own text) and
 * returns -e->code. */
int err_wrap(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The ERR_ code, positive, for an errno value. */
int err_from_errno(int eno);
#endif

/* runtime/cli/print.h - `once run --out TOPIC`: committed records as lines, from the beginning, as
 * they come. */
#ifndef ONCE_RUNTIME_CLI_PRINT_H
#define ONCE_RUNTIME_CLI_PRINT_H
#include "runtime/cli/cli.h"
#include "runtime/client/admin.h"
#include "runtime/client/fetcher.h"

struct print;
struct print_options {
    struct text_list topics;
    int32_t partitions; /* to create topics with that do not exist yet */
    void *user;
    void (*failed)(void *user, int exit_code, const char *why);
};
int print_open(struct print **p, struct cli *c, struct client *client,
               const struct print_options *o, struct err *e);
void print_start(struct print *p);
/* From here on: done(user) when everything committed by now is printed and flushed. */
void print_finish(struct print *p, void (*done)(void *user), void *user);
void print_free(struct print *p);
#endif

/* tests/base/support_world.h - cases that hold in every world: the same suite runs on env_uv and on
 * env_sim. A backend's test gives a struct world and calls world_run. */
#ifndef ONCE_TESTS_BASE_SUPPORT_WORLD_H
#define ONCE_TESTS_BASE_SUPPORT_WORLD_H
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/env.h"

struct world {
    struct env *env;
    char dir[128];       /* an empty folder of this case */
    const char *address; /* to listen on, port 0 */
    void (*turn)(struct world *w);
    void (*stop)(struct world *w); /* the node is stopped: no callback any more */
    void *impl;
};
/* Called around each case. */
struct world_backend {
    void (*open)(struct world *w);
    void (*close)(struct world *w);
};
int world_run(const struct world_backend *b, const char *name);

/* An op that notes its result. */
struct wait {
    struct env_op op;
    int64_t res;
    bool done;
    int order; /* the how manyth to be done */
    struct world *w;
};
void wait_init(struct wait *x, struct world *w);
/* Turns the world until x is done; fails the test after many turns. */
int64_t wait_for(struct wait *x);
#endif

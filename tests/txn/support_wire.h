/* tests/txn/support_wire.h - the broker of support_world.h with all its APIs on the wire, and a
 * client that has three connections to it. */
#ifndef ONCE_TESTS_TXN_SUPPORT_WIRE_H
#define ONCE_TESTS_TXN_SUPPORT_WIRE_H
#include "tests/txn/support_world.h"

enum { WIRED_LINES = 3 };
struct wired_line {
    struct env_stream stream;
    struct env_op op, send_op;
    unsigned char space[64 << 10];
    struct buf in, out;
    struct arena arena; /* of the last answer */
    bool connected;
    int32_t correlation;
};
struct wired {
    struct world w;
    struct sim_node *client;
    struct wired_line lines[WIRED_LINES];
};

void wired_init(struct wired *x, uint64_t seed);
void wired_deinit(struct wired *x);
/* Sends the request m on a line that waits for nothing. */
void wired_ask(struct wired *x, int line, int16_t key, int16_t version, const void *m);
/* Is the whole answer there within so many simulated ms? */
bool wired_answered(struct wired *x, int line, uint64_t ms);
/* Takes the answer, which is there. */
void wired_take(struct wired *x, int line, int16_t key, int16_t version, void *out);
/* All three on line 0. */
void wired_call(struct wired *x, int16_t key, int16_t version, const void *m, void *out);
/* How long each sync of the broker's disk takes from now on. */
void wired_sync_ms(struct wired *x, uint64_t ms);
#endif

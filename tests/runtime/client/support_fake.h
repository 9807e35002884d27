/* tests/runtime/client/support_fake.h - a broker small enough to be right, in a simulated world,
 * that fails as it is told.
 *
 * One topic "t" of some partitions, one group, one transactional id; appends keep Kafka's rules
 * for sequences and epochs. Before each request but ApiVersions the test's `fault` says what
 * goes wrong. */
#ifndef ONCE_TESTS_RUNTIME_CLIENT_SUPPORT_FAKE_H
#define ONCE_TESTS_RUNTIME_CLIENT_SUPPORT_FAKE_H
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/env_sim.h"
#include "base/wire/batch.h"
#include "base/wire/messages.h"
#include "runtime/client/client.h"

enum { FAKE_PARTS = 4, FAKE_BATCHES = 4096, FAKE_CONNS = 64 };

/* What becomes of a request. A positive number is the Kafka error it is answered with, not
 * carried out. */
enum {
    FAKE_OK = 0,
    FAKE_DROP_REQUEST = -1, /* the connection ends before it is carried out */
    FAKE_DROP_REPLY = -2,   /* ... after */
    FAKE_SILENT = -3,       /* no answer, and the connection stays */
    FAKE_MAYBE = -4         /* carried out, answered REQUEST_TIMED_OUT (Produce only) */
};

struct fake_batch {
    int64_t pid, offset;
    int32_t sequence, count;
    int16_t epoch;
    uint32_t crc;
    int fate; /* of its transaction: 0 open, 1 committed, 2 aborted; plain ones are 1 */
    size_t at, n;
};
struct fake_part {
    struct buf bytes;
    struct fake_batch v[FAKE_BATCHES];
    int n;
    int64_t end;
    bool enrolled;
};
struct fake_conn {
    struct fake *f;
    struct env_stream s;
    struct env_op recv, send, shut;
    struct buf in, out, out_next;
    struct slice out_slice;
    unsigned char chunk[65536];
    bool open, sending, closing;
};
struct fake {
    struct sim sim;
    struct sim_node *server, *node;
    struct client *client;
    struct env_stream listener;
    struct fake_conn conns[FAKE_CONNS];
    int n_conns;
    bool v2;   /* transactions of version 2 are offered */
    bool park; /* a Fetch that finds nothing is never answered */
    int (*fault)(void *u, int16_t api);
    void *u;
    int seen[64]; /* requests by API, ApiVersions included */
    struct fake_part parts[FAKE_PARTS];
    struct arena arena;
    int64_t next_pid;
    /* the transactional id */
    int64_t pid;
    int16_t epoch, last_epoch;
    int txn_state;          /* 0 empty, 1 ongoing, 2 committed, 3 aborted */
    int64_t offset, staged; /* of the group, -1 none */
    bool group_enrolled;
};

void fake_open(struct fake *f, uint64_t seed, bool v2, const struct client_options *o);
void fake_close(struct fake *f);
/* Runs the world until *flag or `seconds` of simulated time are over; whether *flag. */
bool fake_run(struct fake *f, const bool *flag, int seconds);
/* The values of the committed (or, with all, of all) records of a partition, in order. */
void fake_each(struct fake *f, int partition, bool all,
               void (*each)(void *u, struct slice value, int64_t offset), void *u);
#endif

/* tests/broker/support_node.h - a broker in a world, and raw peers that speak to it frame by frame.
 *
 * The world is env_uv with a folder under /tmp, or env_sim. Broker and peers are two nodes of
 * it. */
#ifndef ONCE_TESTS_BROKER_SUPPORT_NODE_H
#define ONCE_TESTS_BROKER_SUPPORT_NODE_H
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/env_sim.h"
#include "base/env_uv.h"
#include "broker/broker.h"

struct world {
    struct env *env;     /* the broker's; NULL while it is down */
    struct env *outside; /* the peers' */
    struct broker *broker;
    char dir[128], address[64];
    struct conf conf;
    struct uv_world *uv; /* one of the two */
    struct sim_world *sim;
    uint64_t mutations;
    bool stopped;
};

void world_open(struct world *w);
void world_open_sim(struct world *w, uint64_t seed);
void world_close(struct world *w);
void world_start(struct world *w);
/* Orderly; as by SIGTERM. */
void world_stop(struct world *w);
/* As by SIGKILL. */
void world_kill(struct world *w);
/* The simulated one alone. */
void world_power_cut(struct world *w);
struct sim *world_sim(struct world *w);
/* Lets n ms pass. */
void world_pass(struct world *w, int ms);
uint64_t world_now_ms(const struct world *w);
/* Bytes of resident memory of this process. */
size_t world_rss(void);

/* One TCP connection of a stranger. */
struct peer {
    struct world *w;
    struct env_stream stream;
    struct env_op op, send_op, shut_op;
    struct buf in; /* received and not taken */
    unsigned char space[64 << 10];
    bool connected, closed, receiving, sending, shut;
    bool paused; /* set: takes nothing more from TCP */
    struct slice out;
    int32_t correlation;
    struct arena arena; /* of the last answer */
};
void peer_open(struct peer *p, struct world *w);
void peer_close(struct peer *p);
/* All bytes are handed to TCP when it returns; false when that takes more than `ms`. */
bool peer_send(struct peer *p, struct slice bytes, int ms);
/* The next frame without its length, valid until the next call; false: closed, or none in `ms`. */
bool peer_frame(struct peer *p, struct slice *frame, int ms);
/* Whether the broker closes the connection within `ms` (frames that come are dropped). */
bool peer_gone(struct peer *p, int ms);

/* A request as one frame appended to out. */
void request_put(struct buf *out, int16_t key, int16_t version, int32_t correlation, const void *m);
/* Sends m, waits, decodes the response into out; checks the correlation id. */
void peer_call(struct peer *p, int16_t key, int16_t version, const void *m, void *out);
/* Decodes a frame. */
void response_read(struct peer *p, struct slice frame, int16_t key, int16_t version,
                   int32_t correlation, void *out);

/* ---- shorthands ---- */
/* A batch of n records "<text> 0", "<text> 1" ..., without keys, appended to out. */
void batch_put(struct buf *out, const char *text, int n);
/* Produce of one batch to one partition; the error. */
int16_t peer_produce(struct peer *p, const char *topic, int32_t partition, struct slice batch,
                     int64_t *base_offset);
void produce_put(struct buf *out, int32_t correlation, const char *topic, int32_t partition,
                 struct slice batch, int16_t acks, int32_t timeout_ms);
void fetch_put(struct buf *out, int32_t correlation, const char *topic, int32_t partition,
               int64_t offset, int32_t max_wait_ms, int32_t min_bytes, int8_t isolation);
/* Creates it with that many partitions; the error. */
int16_t peer_create(struct peer *p, const char *topic, int32_t partitions, const char *key,
                    const char *value);
#endif

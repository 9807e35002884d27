/* runtime/cli/feed.h - `once run --in TOPIC=FILE`: each line of FILE once into TOPIC.
 *
 * In transactions that also commit the file's position: the offset of TOPIC partition 0 in group
 * JOB-in, its metadata the file's absolute path. A rerun goes on where the last stopped; a second
 * feeder fences the first. Whatever becomes of a transaction, the position says what is in. */
#ifndef ONCE_RUNTIME_CLI_FEED_H
#define ONCE_RUNTIME_CLI_FEED_H
#include "runtime/cli/cli.h"
#include "runtime/cli/lines.h"
#include "runtime/client/admin.h"
#include "runtime/client/producer.h"

struct feed_options {
    struct slice job;
    const char *topic, *path; /* path "-": stdin */
    const char *key_separator;
    bool header, again;
    int32_t partitions; /* to create the topic with */
    bool
        own_broker; /* the position lives as long as the data: no doubt about a topic without one */
    void *user;
    void (*done)(void *user, int exit_code, const char *why); /* 0: all lines are in */
};
struct feed;
int feed_open(struct feed **f, struct cli *c, struct client *client, const struct feed_options *o,
              struct err *e);
void feed_start(struct feed *f);
void feed_free(struct feed *f);
const char *feed_topic(const struct feed *f);
int64_t feed_lines(const struct feed *f);
#endif

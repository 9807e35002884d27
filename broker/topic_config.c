/* broker/topic_config.c - the table of topic configs and what follows from it. */
#include "broker/topic_config.h"
#include "base/bytes.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define LONG_MAX_TEXT "9223372036854775807"
#define DAY_MS        ((int64_t)86400000)
#define HOUR_MS       ((int64_t)3600000)

static const char *const policies[] = {"delete", "compact", NULL};
static const char *const codecs[] = {"producer", "uncompressed", "none", "gzip",
                                     "snappy",   "lz4",          "zstd", NULL};
static const char *const timestamp_types[] = {"CreateTime", "LogAppendTime", NULL};

#define INT_(n, d, lo, hi, ...)                                                                    \
    {                                                                                              \
        n, CONFIG_INT, d, lo, hi, NULL,                                                            \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define LONG_(n, d, lo, hi, ...)                                                                   \
    {                                                                                              \
        n, CONFIG_LONG, d, lo, hi, NULL,                                                           \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define BOOL_(n, d, ...)                                                                           \
    {                                                                                              \
        n, CONFIG_BOOLEAN, d, 0, 0, NULL,                                                          \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define SAME(n)                                                                                    \
    {                                                                                              \
        n, 0                                                                                       \
    }

static const struct topic_config_def defs[] = {
    {"cleanup.policy", CONFIG_LIST, "delete", 0, 0, policies, {SAME("log.cleanup.policy")}},
    INT_("compression.gzip.level", "-1", -1, 9, SAME("compression.gzip.level")),
    INT_("compression.lz4.level", "9", 1, 17, SAME("compression.lz4.level")),
    {"compression.type", CONFIG_STRING, "producer", 0, 0, codecs, {SAME("compression.type")}},
    INT_("compression.zstd.level", "3", -131072, 22, SAME("compression.zstd.level")),
    LONG_("delete.retention.ms", "86400000", 0, INT64_MAX, SAME("log.cleaner.delete.retention.ms")),
    LONG_("file.delete.delay.ms", "60000", 0, INT64_MAX, SAME("log.segment.delete.delay.ms")),
    LONG_("flush.messages", LONG_MAX_TEXT, 1, INT64_MAX, SAME("log.flush.interval.messages")),
    LONG_("flush.ms", LONG_MAX_TEXT, 0, INT64_MAX, SAME("log.flush.interval.ms")),
    {"follower.replication.throttled.replicas", CONFIG_LIST, "", 0, 0, NULL, {SAME(NULL)}},
    INT_("index.interval.bytes", "4096", 0, INT32_MAX, SAME("log.index.interval.bytes")),
    INT_("internal.segment.bytes", "1073741824", 1, INT32_MAX, SAME(NULL)),
    {"leader.replication.throttled.replicas", CONFIG_LIST, "", 0, 0, NULL, {SAME(NULL)}},
    LONG_("local.retention.bytes", "-2", -2, INT64_MAX, SAME(NULL)),
    LONG_("local.retention.ms", "-2", -2, INT64_MAX, SAME(NULL)),
    LONG_("max.compaction.lag.ms", LONG_MAX_TEXT, 1, INT64_MAX,
          SAME("log.cleaner.max.compaction.lag.ms")),
    INT_("max.message.bytes", "1048588", 0, INT32_MAX, SAME("message.max.bytes")),
    LONG_("message.timestamp.after.max.ms", "3600000", 0, INT64_MAX,
          SAME("log.message.timestamp.after.max.ms")),
    LONG_("message.timestamp.before.max.ms", LONG_MAX_TEXT, 0, INT64_MAX,
          SAME("log.message.timestamp.before.max.ms")),
    {"message.timestamp.type",
     CONFIG_STRING,
     "CreateTime",
     0,
     0,
     timestamp_types,
     {SAME("log.message.timestamp.type")}},
    {"min.cleanable.dirty.ratio",
     CONFIG_DOUBLE,
     "0.5",
     0,
     1,
     NULL,
     {SAME("log.cleaner.min.cleanable.ratio")}},
    LONG_("min.compaction.lag.ms", "0", 0, INT64_MAX, SAME("log.cleaner.min.compaction.lag.ms")),
    INT_("min.insync.replicas", "1", 1, INT32_MAX, SAME("min.insync.replicas")),
    BOOL_("preallocate", "false", SAME("log.preallocate")),
    BOOL_("remote.log.copy.disable", "false", SAME(NULL)),
    BOOL_("remote.log.delete.on.disable", "false", SAME(NULL)),
    BOOL_("remote.storage.enable", "false", SAME(NULL)),
    LONG_("retention.bytes", "-1", -1, INT64_MAX, SAME("log.retention.bytes")),
    LONG_("retention.ms", "604800000", -1, INT64_MAX, SAME("log.retention.ms"),
          {"log.retention.minutes", 60000}, {"log.retention.hours", HOUR_MS}),
    INT_("segment.bytes", "1073741824", 1048576, INT32_MAX, SAME("log.segment.bytes")),
    INT_("segment.index.bytes", "10485760", 4, INT32_MAX, SAME("log.index.size.max.bytes")),
    LONG_("segment.jitter.ms", "0", 0, INT64_MAX, SAME("log.roll.jitter.ms"),
          {"log.roll.jitter.hours", HOUR_MS}),
    LONG_("segment.ms", "604800000", 1, INT64_MAX, SAME("log.roll.ms"),
          {"log.roll.hours", HOUR_MS}),
    BOOL_("unclean.leader.election.enable", "false", SAME("unclean.leader.election.enable")),
};
enum { N_DEFS = sizeof defs / sizeof *defs };

const struct topic_config_def *topic_config_def(int i)
{
    return i >= 0 && i < N_DEFS ? &defs[i] : NULL;
}

const struct topic_config_def *topic_config_find(struct slice name)
{
    for (int i = 0; i < N_DEFS; i++)
        if (slice_eq_str(name, defs[i].name))
            return &defs[i];
    return NULL;
}

bool topic_config_hidden(const struct topic_config_def *def)
{
    return !strncmp(def->name, "internal.", 9);
}

/* ---- checks ---- */

static bool listed(const char *const *names, struct slice s)
{
    for (; *names; names++)
        if (slice_eq_str(s, *names))
            return true;
    return false;
}

static struct slice trimmed(struct slice s)
{
    while (s.n && *s.p == ' ')
        s = slice_sub(s, 1, s.n);
    while (s.n && s.p[s.n - 1] == ' ')
        s.n--;
    return s;
}

/* A comma-separated list, each element one of the names. */
static bool list_valid(const char *const *names, const char *value)
{
    struct slice rest = slice_str(value);
    if (!names)
        return true;
    for (;;) {
        const unsigned char *comma = rest.n ? memchr(rest.p, ',', rest.n) : NULL;
        size_t n = comma ? (size_t)(comma - rest.p) : rest.n;
        if (!listed(names, trimmed(slice_sub(rest, 0, n))))
            return false;
        if (!comma)
            return true;
        rest = slice_sub(rest, n + 1, rest.n);
    }
}

static bool double_valid(const char *value, double min, double max)
{
    char *end;
    double d = strtod(value, &end);
    return *value && !*end && d >= min && d <= max;
}

static bool value_valid(const struct topic_config_def *d, const char *value)
{
    int64_t n;
    switch (d->type) {
    case CONFIG_BOOLEAN: return !strcmp(value, "true") || !strcmp(value, "false");
    case CONFIG_INT:
    case CONFIG_LONG:
        return parse_i64(trimmed(slice_str(value)), &n) == 0 && n >= d->min && n <= d->max;
    case CONFIG_DOUBLE: return double_valid(value, (double)d->min, (double)d->max);
    case CONFIG_LIST: return list_valid(d->one_of, value);
    default: return !d->one_of || listed(d->one_of, slice_str(value));
    }
}

static int refuse(const struct topic_config_def *d, const char *name, const char *value,
                  struct err *e)
{
    char allowed[200];
    int n = 0;

    if (d->type == CONFIG_BOOLEAN)
        snprintf(allowed, sizeof allowed, "true or false");
    else if (d->one_of)
        for (int i = 0; d->one_of[i] && n < (int)sizeof allowed; i++)
            n += snprintf(allowed + n, sizeof allowed - (size_t)n, "%s%s", i ? ", " : "one of ",
                          d->one_of[i]);
    else if (d->max == INT64_MAX || d->max == INT32_MAX)
        snprintf(allowed, sizeof allowed, "a number of at least %lld", (long long)d->min);
    else
        snprintf(allowed, sizeof allowed, "a number from %lld to %lld", (long long)d->min,
                 (long long)d->max);
    return err_set(e, ERR_INVALID, "Invalid value %s for configuration %s: it takes %s", value,
                   name, allowed);
}

int topic_config_check(const struct conf *config, struct err *e)
{
    for (int i = 0; config && i < config->n; i++) {
        const struct topic_config_def *d = topic_config_find(slice_str(config->v[i].key));
        if (!d)
            return err_set(e, ERR_INVALID, "Unknown topic config name: %s", config->v[i].key);
        if (!value_valid(d, config->v[i].value))
            return refuse(d, d->name, config->v[i].value, e);
    }
    return 0;
}

int topic_config_check_broker(const struct conf *broker, struct err *e)
{
    for (int i = 0; i < N_DEFS; i++)
        for (int s = 0; s < 3 && defs[i].broker[s].name; s++) {
            const char *v = conf_get(broker, defs[i].broker[s].name);
            int64_t n;
            bool bad = v && (defs[i].broker[s].factor ? parse_i64(slice_str(v), &n) != 0
                                                      : !value_valid(&defs[i], v));
            if (bad)
                return refuse(&defs[i], defs[i].broker[s].name, v, e);
        }
    return 0;
}

/* ---- values ---- */

static const char *broker_value(const struct topic_config_def *d, const struct conf *broker,
                                char space[32])
{
    for (int i = 0; i < 3 && d->broker[i].name; i++) {
        const struct config_synonym *s = &d->broker[i];
        const char *v = conf_get(broker, s->name);
        int64_t n;
        if (!v)
            continue;
        if (!s->factor) {
            if (value_valid(d, v))
                return v;
            continue;
        }
        if (parse_i64(slice_str(v), &n) || n > INT64_MAX / s->factor)
            continue;
        snprintf(space, 32, "%" PRId64, n < 0 ? n : n * s->factor);
        return space;
    }
    return NULL;
}

const char *topic_config_value(const struct topic_config_def *def, const struct conf *topic,
                               const struct conf *broker, enum config_source *source,
                               char space[32])
{
    const char *v = conf_get(topic, def->name);
    *source = CONFIG_SOURCE_TOPIC;
    if (v && value_valid(def, v))
        return v;
    *source = CONFIG_SOURCE_STATIC_BROKER;
    v = broker_value(def, broker, space);
    if (v)
        return v;
    *source = CONFIG_SOURCE_DEFAULT;
    return def->value;
}

static const char *text_of(const char *name, const struct conf *topic, const struct conf *broker,
                           enum config_source *source, char space[32])
{
    return topic_config_value(topic_config_find(slice_str(name)), topic, broker, source, space);
}

static int64_t number_of(const char *name, const struct conf *topic, const struct conf *broker)
{
    enum config_source source;
    char space[32];
    int64_t n = 0;
    (void)parse_i64(trimmed(slice_str(text_of(name, topic, broker, &source, space))), &n);
    return n;
}

void topic_config_resolve(const struct conf *topic, const struct conf *broker,
                          struct topic_settings *settings, struct log_config *log)
{
    enum config_source source;
    char space[32];
    const char *internal = conf_get(topic, "internal.segment.bytes");

    *settings = (struct topic_settings){
        .message_bytes_max = (int32_t)number_of("max.message.bytes", topic, broker),
        .timestamp_before_max_ms = number_of("message.timestamp.before.max.ms", topic, broker),
        .timestamp_after_max_ms = number_of("message.timestamp.after.max.ms", topic, broker),
        .segment_bytes =
            number_of(internal ? "internal.segment.bytes" : "segment.bytes", topic, broker),
    };
    settings->log_append_time =
        !strcmp(text_of("message.timestamp.type", topic, broker, &source, space), "LogAppendTime");
    settings->compact =
        strstr(text_of("cleanup.policy", topic, broker, &source, space), "compact") != NULL;
    *log = (struct log_config){
        .segment_bytes = settings->segment_bytes,
        .segment_ms = number_of("segment.ms", topic, broker),
        .index_interval_bytes = (int32_t)number_of("index.interval.bytes", topic, broker),
        .segment_index_bytes = (int32_t)number_of("segment.index.bytes", topic, broker),
        .compact = settings->compact,
    };
}

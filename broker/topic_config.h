/* broker/topic_config.h - the configs of topics by Kafka's names: known ones, checked, resolved.
 *
 * A value is looked for in the topic's own config, then in the broker's property of the same
 * meaning, then taken from Kafka's defaults. All known names are kept and described; `struct
 * topic_settings` is what the broker acts on. */
#ifndef ONCE_BROKER_TOPIC_CONFIG_H
#define ONCE_BROKER_TOPIC_CONFIG_H
#include "base/conf.h"
#include "broker/log/logdir.h"

/* The values of Kafka's ConfigDef.Type in DescribeConfigs. */
enum config_type {
    CONFIG_BOOLEAN = 1,
    CONFIG_STRING = 2,
    CONFIG_INT = 3,
    CONFIG_LONG = 5,
    CONFIG_DOUBLE = 6,
    CONFIG_LIST = 7
};
/* The values of ConfigSource. */
enum config_source {
    CONFIG_SOURCE_TOPIC = 1,
    CONFIG_SOURCE_STATIC_BROKER = 4,
    CONFIG_SOURCE_DEFAULT = 5
};

struct config_synonym {
    const char *name; /* of a broker property; NULL ends the list */
    int64_t factor;   /* its unit in ours: hours in ms; 0 is 1 */
};
struct topic_config_def {
    const char *name;
    enum config_type type;
    const char *value;         /* the default */
    int64_t min, max;          /* of numbers */
    const char *const *one_of; /* NULL-terminated; NULL: any */
    struct config_synonym broker[3];
};

struct topic_settings {
    int32_t message_bytes_max;
    bool log_append_time;
    bool compact;
    int64_t timestamp_before_max_ms, timestamp_after_max_ms;
    int64_t segment_bytes;
};

/* In the order of names; NULL behind the last. */
const struct topic_config_def *topic_config_def(int i);
const struct topic_config_def *topic_config_find(struct slice name);
/* Taken, but not told unless set. */
bool topic_config_hidden(const struct topic_config_def *def);
/* Whether all names are known and all values possible: 0, or -ERR_INVALID with a text. */
int topic_config_check(const struct conf *config, struct err *e) MUST_USE;
/* The value in force, as text, and where it comes from. `space` may be used for it. */
const char *topic_config_value(const struct topic_config_def *def, const struct conf *topic,
                               const struct conf *broker, enum config_source *source,
                               char space[32]);
/* What the broker and the log act on. A value of the broker's properties that is none falls back
 * to the default; topic_config_check_broker finds it before. */
void topic_config_resolve(const struct conf *topic, const struct conf *broker,
                          struct topic_settings *settings, struct log_config *log);
/* Whether the broker's properties that topics fall back on are possible: 0 or -ERR_INVALID. */
int topic_config_check_broker(const struct conf *broker, struct err *e) MUST_USE;
#endif

/* broker/api/20_delete_topics.c - DeleteTopics, by name or (version 6) by id. The answer waits
 * until the removal is durable; the files go in the background. The coordinators' topics stay. */
#include "broker/api/api.h"

typedef struct delete_topics_response_deletable_topic_result result;

enum { BY_STATE_V_MIN = 6 };

static void remove_topic(struct broker *b, struct slice name, const struct uuid *id, result *out)
{
    struct topic *t = name.p ? broker_topic(b, name) : broker_topic_by_id(b, id);
    delete_topics_response_deletable_topic_result_init(out);
    out->name = name;
    out->topic_id = *id;
    if (name.p && !uuid_is_zero(id)) {
        out->error_code = KAFKA_INVALID_REQUEST;
        out->error_message = slice_str("name and id of a topic are given");
    } else if (!t) {
        out->error_code = name.p ? KAFKA_UNKNOWN_TOPIC_OR_PARTITION : KAFKA_UNKNOWN_TOPIC_ID;
    } else if (t->internal) {
        out->error_code = KAFKA_INVALID_TOPIC_EXCEPTION;
        out->error_message = slice_str("the topics of the coordinators cannot be deleted");
    } else {
        out->topic_id = t->id;
        out->error_code = (int16_t)broker_topic_delete(b, t);
    }
}

/* The name of the topic with that id, kept beyond its end. */
static struct slice name_of(struct request *rq, const struct uuid *id)
{
    const struct topic *t = broker_topic_by_id(rq->broker, id);
    return t ? arena_copy(rq->in.arena, t->name) : SLICE_NULL;
}

int api_delete_topics(struct request *rq)
{
    static const struct uuid none;
    struct delete_topics_request in;
    struct delete_topics_response out;
    int rc = delete_topics_request_decode(&in, &rq->in, rq->version);
    if (rc)
        return rc;
    bool by_state = rq->version >= BY_STATE_V_MIN;
    int32_t n = by_state ? in.topics.n : in.topic_names.n;
    delete_topics_response_init(&out);
    out.responses.v = arena_new(rq->in.arena, result, n);
    if (!out.responses.v)
        return -ERR_TOO_BIG;
    out.responses.n = n;
    for (int32_t i = 0; i < n; i++) {
        result *r = &out.responses.v[i];
        if (!by_state) {
            remove_topic(rq->broker, in.topic_names.v[i], &none, r);
            continue;
        }
        struct uuid id = in.topics.v[i].topic_id;
        struct slice name = in.topics.v[i].name.p ? SLICE_NULL : name_of(rq, &id);
        remove_topic(rq->broker, in.topics.v[i].name, &id, r);
        if (!r->name.p)
            r->name = name;
    }
    reply_body(rq, &delete_topics_response_desc, &out);
    reply_end(rq);
    return 0;
}

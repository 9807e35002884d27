/* broker/api/18_api_versions.c - ApiVersions: what this broker speaks, and its features.
 *
 * A version above ours is answered in the form of version 0 with UNSUPPORTED_VERSION and our own
 * range, so that any client can try again. transaction.version is offered at level 1; version 3
 * of this API leaves out supported features whose minimum is 0, since its clients refuse them. */
#include "broker/api/api.h"

enum { KEYS = 128, FEATURES_V_MIN_0 = 4 };

/* [a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])? */
static bool software_valid(struct slice s)
{
    if (!s.n)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = s.p[i];
        bool alnum = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!alnum && (i == 0 || i + 1 == s.n || (c != '-' && c != '.')))
            return false;
    }
    return true;
}

static int answer(struct request *rq, const struct api_versions_response *out, int16_t version)
{
    reply_begin(rq);
    int rc = api_versions_response_encode(out, &rq->out, version);
    if (rc && !rq->out.failed)
        rq->out.failed = rc;
    reply_end_now(rq);
    return 0;
}

static int answer_unsupported(struct request *rq, int16_t min, int16_t max)
{
    struct api_versions_response_api_version own = {18, min, max};
    struct api_versions_response out;
    api_versions_response_init(&out);
    out.error_code = KAFKA_UNSUPPORTED_VERSION;
    out.api_keys.v = &own;
    out.api_keys.n = 1;
    return answer(rq, &out, 0);
}

int api_api_versions(struct request *rq)
{
    struct api_versions_request in;
    struct api_versions_response out;
    struct api_versions_response_api_version keys[KEYS];
    struct api_versions_response_supported_feature_key supported[] = {
        {slice_str("once.version"), 1, 1}, /* tells our own client that commits are cheap here */
        {slice_str("transaction.version"), 0, 1}};
    struct api_versions_response_finalized_feature_key finalized = {
        slice_str("transaction.version"), 1, 1};
    int16_t min = 0, max = 0;
    (void)broker_api_range(rq->broker, 18, &min, &max);
    if (rq->version < min || rq->version > max)
        return answer_unsupported(rq, min, max);
    int rc = api_versions_request_decode(&in, &rq->in, rq->version);
    if (rc)
        return rc;
    api_versions_response_init(&out);
    if (rq->version >= 3 &&
        !(software_valid(in.client_software_name) && software_valid(in.client_software_version))) {
        out.error_code = KAFKA_INVALID_REQUEST;
        return answer(rq, &out, rq->version);
    }
    out.api_keys.v = keys;
    for (int k = 0; k < KEYS; k++)
        if (broker_api_range(rq->broker, (int16_t)k, &min, &max))
            keys[out.api_keys.n++] =
                (struct api_versions_response_api_version){(int16_t)k, min, max};
    if (rq->version >= 3 && broker_plugged(rq->broker)) {
        out.supported_features.v = supported;
        out.supported_features.n = rq->version >= FEATURES_V_MIN_0 ? 2 : 1;
        out.finalized_features.v = &finalized;
        out.finalized_features.n = 1;
        out.finalized_features_epoch = broker_epoch(rq->broker);
    }
    return answer(rq, &out, rq->version);
}

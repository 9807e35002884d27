/* base/wire/kafka_error.h - the error codes of the Kafka protocol; not to be mixed with base/err.h.
 *
 * KAFKA_ERROR_MAP gives name, code and whether a client may send the same request again. */
#ifndef ONCE_BASE_WIRE_KAFKA_ERROR_H
#define ONCE_BASE_WIRE_KAFKA_ERROR_H
#include <stdbool.h>

#define KAFKA_ERROR_MAP(X)                                                                         \
    X(UNKNOWN_SERVER_ERROR, -1, 0)                                                                 \
    X(NONE, 0, 0)                                                                                  \
    X(OFFSET_OUT_OF_RANGE, 1, 0)                                                                   \
    X(CORRUPT_MESSAGE, 2, 1)                                                                       \
    X(UNKNOWN_TOPIC_OR_PARTITION, 3, 1)                                                            \
    X(INVALID_FETCH_SIZE, 4, 0)                                                                    \
    X(LEADER_NOT_AVAILABLE, 5, 1)                                                                  \
    X(NOT_LEADER_OR_FOLLOWER, 6, 1)                                                                \
    X(REQUEST_TIMED_OUT, 7, 1)                                                                     \
    X(BROKER_NOT_AVAILABLE, 8, 0)                                                                  \
    X(REPLICA_NOT_AVAILABLE, 9, 1)                                                                 \
    X(MESSAGE_TOO_LARGE, 10, 0)                                                                    \
    X(STALE_CONTROLLER_EPOCH, 11, 0)                                                               \
    X(OFFSET_METADATA_TOO_LARGE, 12, 0)                                                            \
    X(NETWORK_EXCEPTION, 13, 1)                                                                    \
    X(COORDINATOR_LOAD_IN_PROGRESS, 14, 1)                                                         \
    X(COORDINATOR_NOT_AVAILABLE, 15, 1)                                                            \
    X(NOT_COORDINATOR, 16, 1)                                                                      \
    X(INVALID_TOPIC_EXCEPTION, 17, 0)                                                              \
    X(RECORD_LIST_TOO_LARGE, 18, 0)                                                                \
    X(NOT_ENOUGH_REPLICAS, 19, 1)                                                                  \
    X(NOT_ENOUGH_REPLICAS_AFTER_APPEND, 20, 1)                                                     \
    X(INVALID_REQUIRED_ACKS, 21, 0)                                                                \
    X(ILLEGAL_GENERATION, 22, 0)                                                                   \
    X(INCONSISTENT_GROUP_PROTOCOL, 23, 0)                                                          \
    X(INVALID_GROUP_ID, 24, 0)                                                                     \
    X(UNKNOWN_MEMBER_ID, 25, 0)                                                                    \
    X(INVALID_SESSION_TIMEOUT, 26, 0)                                                              \
    X(REBALANCE_IN_PROGRESS, 27, 0)                                                                \
    X(INVALID_COMMIT_OFFSET_SIZE, 28, 0)                                                           \
    X(TOPIC_AUTHORIZATION_FAILED, 29, 0)                                                           \
    X(GROUP_AUTHORIZATION_FAILED, 30, 0)                                                           \
    X(CLUSTER_AUTHORIZATION_FAILED, 31, 0)                                                         \
    X(INVALID_TIMESTAMP, 32, 0)                                                                    \
    X(UNSUPPORTED_SASL_MECHANISM, 33, 0)                                                           \
    X(ILLEGAL_SASL_STATE, 34, 0)                                                                   \
    X(UNSUPPORTED_VERSION, 35, 0)                                                                  \
    X(TOPIC_ALREADY_EXISTS, 36, 0)                                                                 \
    X(INVALID_PARTITIONS, 37, 0)                                                                   \
    X(INVALID_REPLICATION_FACTOR, 38, 0)                                                           \
    X(INVALID_REPLICA_ASSIGNMENT, 39, 0)                                                           \
    X(INVALID_CONFIG, 40, 0)                                                                       \
    X(NOT_CONTROLLER, 41, 1)                                                                       \
    X(INVALID_REQUEST, 42, 0)                                                                      \
    X(UNSUPPORTED_FOR_MESSAGE_FORMAT, 43, 0)                                                       \
    X(POLICY_VIOLATION, 44, 0)                                                                     \
    X(OUT_OF_ORDER_SEQUENCE_NUMBER, 45, 0)                                                         \
    X(DUPLICATE_SEQUENCE_NUMBER, 46, 0)                                                            \
    X(INVALID_PRODUCER_EPOCH, 47, 0)                                                               \
    X(INVALID_TXN_STATE, 48, 0)                                                                    \
    X(INVALID_PRODUCER_ID_MAPPING, 49, 0)                                                          \
    X(INVALID_TRANSACTION_TIMEOUT, 50, 0)                                                          \
    X(CONCURRENT_TRANSACTIONS, 51, 1)                                                              \
    X(TRANSACTION_COORDINATOR_FENCED, 52, 0)                                                       \
    X(TRANSACTIONAL_ID_AUTHORIZATION_FAILED, 53, 0)                                                \
    X(SECURITY_DISABLED, 54, 0)                                                                    \
    X(OPERATION_NOT_ATTEMPTED, 55, 0)                                                              \
    X(KAFKA_STORAGE_ERROR, 56, 1)                                                                  \
    X(LOG_DIR_NOT_FOUND, 57, 0)                                                                    \
    X(SASL_AUTHENTICATION_FAILED, 58, 0)                                                           \
    X(UNKNOWN_PRODUCER_ID, 59, 0)                                                                  \
    X(REASSIGNMENT_IN_PROGRESS, 60, 0)                                                             \
    X(DELEGATION_TOKEN_AUTH_DISABLED, 61, 0)                                                       \
    X(DELEGATION_TOKEN_NOT_FOUND, 62, 0)                                                           \
    X(DELEGATION_TOKEN_OWNER_MISMATCH, 63, 0)                                                      \
    X(DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, 64, 0)                                                 \
    X(DELEGATION_TOKEN_AUTHORIZATION_FAILED, 65, 0)                                                \
    X(DELEGATION_TOKEN_EXPIRED, 66, 0)                                                             \
    X(INVALID_PRINCIPAL_TYPE, 67, 0)                                                               \
    X(NON_EMPTY_GROUP, 68, 0)                                                                      \
    X(GROUP_ID_NOT_FOUND, 69, 0)                                                                   \
    X(FETCH_SESSION_ID_NOT_FOUND, 70, 1)                                                           \
    X(INVALID_FETCH_SESSION_EPOCH, 71, 1)                                                          \
    X(LISTENER_NOT_FOUND, 72, 1)                                                                   \
    X(TOPIC_DELETION_DISABLED, 73, 0)                                                              \
    X(FENCED_LEADER_EPOCH, 74, 1)                                                                  \
    X(UNKNOWN_LEADER_EPOCH, 75, 1)                                                                 \
    X(UNSUPPORTED_COMPRESSION_TYPE, 76, 0)                                                         \
    X(STALE_BROKER_EPOCH, 77, 0)                                                                   \
    X(OFFSET_NOT_AVAILABLE, 78, 1)                                                                 \
    X(MEMBER_ID_REQUIRED, 79, 0)                                                                   \
    X(PREFERRED_LEADER_NOT_AVAILABLE, 80, 1)                                                       \
    X(GROUP_MAX_SIZE_REACHED, 81, 0)                                                               \
    X(FENCED_INSTANCE_ID, 82, 0)                                                                   \
    X(ELIGIBLE_LEADERS_NOT_AVAILABLE, 83, 1)                                                       \
    X(ELECTION_NOT_NEEDED, 84, 1)                                                                  \
    X(NO_REASSIGNMENT_IN_PROGRESS, 85, 0)                                                          \
    X(GROUP_SUBSCRIBED_TO_TOPIC, 86, 0)                                                            \
    X(INVALID_RECORD, 87, 0)                                                                       \
    X(UNSTABLE_OFFSET_COMMIT, 88, 1)                                                               \
    X(THROTTLING_QUOTA_EXCEEDED, 89, 1)                                                            \
    X(PRODUCER_FENCED, 90, 0)                                                                      \
    X(RESOURCE_NOT_FOUND, 91, 0)                                                                   \
    X(DUPLICATE_RESOURCE, 92, 0)                                                                   \
    X(UNACCEPTABLE_CREDENTIAL, 93, 0)                                                              \
    X(INCONSISTENT_VOTER_SET, 94, 0)                                                               \
    X(INVALID_UPDATE_VERSION, 95, 0)                                                               \
    X(FEATURE_UPDATE_FAILED, 96, 0)                                                                \
    X(PRINCIPAL_DESERIALIZATION_FAILURE, 97, 0)                                                    \
    X(SNAPSHOT_NOT_FOUND, 98, 0)                                                                   \
    X(POSITION_OUT_OF_RANGE, 99, 0)                                                                \
    X(UNKNOWN_TOPIC_ID, 100, 1)                                                                    \
    X(DUPLICATE_BROKER_REGISTRATION, 101, 0)                                                       \
    X(BROKER_ID_NOT_REGISTERED, 102, 0)                                                            \
    X(INCONSISTENT_TOPIC_ID, 103, 1)                                                               \
    X(INCONSISTENT_CLUSTER_ID, 104, 0)                                                             \
    X(TRANSACTIONAL_ID_NOT_FOUND, 105, 0)                                                          \
    X(FETCH_SESSION_TOPIC_ID_ERROR, 106, 1)                                                        \
    X(INELIGIBLE_REPLICA, 107, 0)                                                                  \
    X(NEW_LEADER_ELECTED, 108, 0)                                                                  \
    X(OFFSET_MOVED_TO_TIERED_STORAGE, 109, 0)                                                      \
    X(FENCED_MEMBER_EPOCH, 110, 0)                                                                 \
    X(UNRELEASED_INSTANCE_ID, 111, 0)                                                              \
    X(UNSUPPORTED_ASSIGNOR, 112, 0)                                                                \
    X(STALE_MEMBER_EPOCH, 113, 0)                                                                  \
    X(MISMATCHED_ENDPOINT_TYPE, 114, 0)                                                            \
    X(UNSUPPORTED_ENDPOINT_TYPE, 115, 0)                                                           \
    X(UNKNOWN_CONTROLLER_ID, 116, 0)                                                               \
    X(UNKNOWN_SUBSCRIPTION_ID, 117, 0)                                                             \
    X(TELEMETRY_TOO_LARGE, 118, 0)                                                                 \
    X(INVALID_REGISTRATION, 119, 0)                                                                \
    X(TRANSACTION_ABORTABLE, 120, 0)                                                               \
    X(INVALID_RECORD_STATE, 121, 0)                                                                \
    X(SHARE_SESSION_NOT_FOUND, 122, 1)                                                             \
    X(INVALID_SHARE_SESSION_EPOCH, 123, 1)                                                         \
    X(FENCED_STATE_EPOCH, 124, 0)                                                                  \
    X(INVALID_VOTER_KEY, 125, 0)                                                                   \
    X(DUPLICATE_VOTER, 126, 0)                                                                     \
    X(VOTER_NOT_FOUND, 127, 0)                                                                     \
    X(INVALID_REGULAR_EXPRESSION, 128, 0)                                                          \
    X(REBOOTSTRAP_REQUIRED, 129, 0)                                                                \
    X(STREAMS_INVALID_TOPOLOGY, 130, 0)                                                            \
    X(STREAMS_INVALID_TOPOLOGY_EPOCH, 131, 0)                                                      \
    X(STREAMS_TOPOLOGY_FENCED, 132, 0)                                                             \
    X(SHARE_SESSION_LIMIT_REACHED, 133, 1)

enum kafka_error {
#define KAFKA_ERROR_ENUM(name, code, retriable) KAFKA_##name = code,
    KAFKA_ERROR_MAP(KAFKA_ERROR_ENUM)
#undef KAFKA_ERROR_ENUM
};

/* "NOT_COORDINATOR"; "UNKNOWN" for a code that is not in the map. */
const char *kafka_error_name(int code);
/* Whether the protocol says that trying again may help; a code that is not in the map is not. */
bool kafka_error_retriable(int code);
#endif

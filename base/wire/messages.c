/* base/wire/messages.c - the tables of all messages. Written by gen.lua from schema/. */
/* clang-format off */
#include "base/wire/messages.h"

static const struct wire_field request_header_fields[] = {
    {"RequestApiKey", offsetof(struct request_header, request_api_key), WIRE_INT16, 0,
     1, 2, 1, 0, -1, 0, NULL},
    {"RequestApiVersion", offsetof(struct request_header, request_api_version), WIRE_INT16, 0,
     1, 2, 1, 0, -1, 0, NULL},
    {"CorrelationId", offsetof(struct request_header, correlation_id), WIRE_INT32, 0,
     1, 2, 1, 0, -1, 0, NULL},
    {"ClientId", offsetof(struct request_header, client_id), WIRE_STRING, WIRE_IGNORABLE | WIRE_RIGID | WIRE_NULLABLE,
     1, 2, 1, 2, -1, 0, NULL},
};
const struct wire_desc request_header_desc = {
    "RequestHeader", request_header_fields, 4, sizeof(struct request_header), 1, 2, 2,
};

static const struct wire_field response_header_fields[] = {
    {"CorrelationId", offsetof(struct response_header, correlation_id), WIRE_INT32, 0,
     0, 1, 1, 0, -1, 0, NULL},
};
const struct wire_desc response_header_desc = {
    "ResponseHeader", response_header_fields, 1, sizeof(struct response_header), 0, 1, 1,
};

static const struct wire_field produce_request_partition_produce_data_fields[] = {
    {"Index", offsetof(struct produce_request_partition_produce_data, index), WIRE_INT32, 0,
     0, 12, 1, 0, -1, 0, NULL},
    {"Records", offsetof(struct produce_request_partition_produce_data, records), WIRE_RECORDS, WIRE_NULLABLE,
     0, 12, 0, 12, -1, 0, NULL},
};
const struct wire_desc produce_request_partition_produce_data_desc = {
    "PartitionProduceData", produce_request_partition_produce_data_fields, 2, sizeof(struct produce_request_partition_produce_data), 0, 12, 9,
};

static const struct wire_field produce_request_topic_produce_data_fields[] = {
    {"Name", offsetof(struct produce_request_topic_produce_data, name), WIRE_STRING, WIRE_IGNORABLE,
     0, 12, 1, 0, -1, 0, NULL},
    {"PartitionData", offsetof(struct produce_request_topic_produce_data, partition_data), WIRE_STRUCT, WIRE_ARRAY,
     0, 12, 1, 0, -1, 0, &produce_request_partition_produce_data_desc},
};
const struct wire_desc produce_request_topic_produce_data_desc = {
    "TopicProduceData", produce_request_topic_produce_data_fields, 2, sizeof(struct produce_request_topic_produce_data), 0, 12, 9,
};

static const struct wire_field produce_request_fields[] = {
    {"TransactionalId", offsetof(struct produce_request, transactional_id), WIRE_STRING, WIRE_DEFAULT_NULL | WIRE_NULLABLE,
     3, 12, 3, 12, -1, 0, NULL},
    {"Acks", offsetof(struct produce_request, acks), WIRE_INT16, 0,
     0, 12, 1, 0, -1, 0, NULL},
    {"TimeoutMs", offsetof(struct produce_request, timeout_ms), WIRE_INT32, 0,
     0, 12, 1, 0, -1, 0, NULL},
    {"TopicData", offsetof(struct produce_request, topic_data), WIRE_STRUCT, WIRE_ARRAY,
     0, 12, 1, 0, -1, 0, &produce_request_topic_produce_data_desc},
};
const struct wire_desc produce_request_desc = {
    "ProduceRequest", produce_request_fields, 4, sizeof(struct produce_request), 0, 12, 9,
};

static const struct wire_field produce_response_batch_index_and_error_message_fields[] = {
    {"BatchIndex", offsetof(struct produce_response_batch_index_and_error_message, batch_index), WIRE_INT32, 0,
     8, 12, 1, 0, -1, 0, NULL},
    {"BatchIndexErrorMessage", offsetof(struct produce_response_batch_index_and_error_message, batch_index_error_message), WIRE_STRING, WIRE_DEFAULT_NULL | WIRE_NULLABLE,
     8, 12, 8, 12, -1, 0, NULL},
};
const struct wire_desc produce_response_batch_index_and_error_message_desc = {
    "BatchIndexAndErrorMessage", produce_response_batch_index_and_error_message_fields, 2, sizeof(struct produce_response_batch_index_and_error_message), 8, 12, 9,
};

static const struct wire_field produce_response_leader_id_and_epoch_fields[] = {
    {"LeaderId", offsetof(struct produce_response_leader_id_and_epoch, leader_id), WIRE_INT32, 0,
     10, 12, 1, 0, -1, -1, NULL},
    {"LeaderEpoch", offsetof(struct produce_response_leader_id_and_epoch, leader_epoch), WIRE_INT32, 0,
     10, 12, 1, 0, -1, -1, NULL},
};
const struct wire_desc produce_response_leader_id_and_epoch_desc = {
    "LeaderIdAndEpoch", produce_response_leader_id_and_epoch_fields, 2, sizeof(struct produce_response_leader_id_and_epoch), 10, 12, 9,
};

static const struct wire_field produce_response_partition_produce_response_fields[] = {
    {"Index", offsetof(struct produce_response_partition_produce_response, index), WIRE_INT32, 0,
     0, 12, 1, 0, -1, 0, NULL},
    {"ErrorCode", offsetof(struct produce_response_partition_produce_response, error_code), WIRE_INT16, 0,
     0, 12, 1, 0, -1, 0, NULL},
    {"BaseOffset", offsetof(struct produce_response_partition_produce_response, base_offset), WIRE_INT64, 0,
     0, 12, 1, 0, -1, 0, NULL},
    {"LogAppendTimeMs", offsetof(struct produce_response_partition_produce_response, log_append_time_ms), WIRE_INT64, WIRE_IGNORABLE,
     2, 12, 1, 0, -1, -1, NULL},
    {"LogStartOffset", offsetof(struct produce_response_partition_produce_response, log_start_offset), WIRE_INT64, WIRE_IGNORABLE,
     5, 12, 1, 0, -1, -1, NULL},
    {"RecordErrors", offsetof(struct produce_response_partition_produce_response, record_errors), WIRE_STRUCT, WIRE_ARRAY | WIRE_IGNORABLE,
     8, 12, 1, 0, -1, 0, &produce_response_batch_index_and_error_message_desc},
    {"ErrorMessage", offsetof(struct produce_response_partition_produce_response, error_message), WIRE_STRING, WIRE_IGNORABLE | WIRE_DEFAULT_NULL | WIRE_NULLABLE,
     8, 12, 8, 12, -1, 0, NULL},
    {"CurrentLeader", offsetof(struct produce_response_partition_produce_response, current_leader), WIRE_STRUCT, 0,
     10, 12, 1, 0, 0, 0, &produce_response_leader_id_and_epoch_desc},
};
const struct wire_desc produce_response_partition_produce_response_desc = {
    "PartitionProduceResponse", produce_response_partition_produce_response_fields, 8, sizeof(struct produce_response_partition_produce_response), 0, 12, 9,
};

static const struct wire_field produce_response_topic_produce_response_fields[] = {
    {"Name", offsetof(struct produce_response_topic_produce_response, name), WIRE_STRING, WIRE_IGNORABLE,
     0, 12, 1, 0, -1, 0, NULL},
    {"PartitionResponses", offsetof(struct produce_response_topic_produce_response, partition_responses), WIRE_STRUCT, WIRE_ARRAY,
     0, 12, 1, 0, -1, 0, &produce_response_partition_produce_response_desc},
};
const struct wire_desc produce_response_topic_produce_response_desc = {
    "TopicProduceResponse", produce_response_topic_produce_response_fields, 2, sizeof(struct produce_response_topic_produce_response), 0, 12, 9,
};

static const struct wire_field produce_response_node_endpoint_fields[] = {
    {"NodeId", offsetof(struct produce_response_node_endpoint, node_id), WIRE_INT32, 0,
     10, 12, 1, 0, -1, 0, NULL},
    {"Host", offsetof(struct produce_response_node_endpoint, host), WIRE_STRING, 0,
     10, 12, 1, 0, -1, 0, NULL},
    {"Port", offsetof(struct produce_response_node_endpoint, port), WIRE_INT32, 0,
     10, 12, 1, 0, -1, 0, NULL},
    {"Rack", offsetof(struct produce_response_node_endpoint, rack), WIRE_STRING, WIRE_DEFAULT_NULL | WIRE_NULLABLE,
     10, 12, 10, 12, -1, 0, NULL},
};
const struct wire_desc produce_response_node_endpoint_desc = {
    "NodeEndpoint", produce_response_node_endpoint_fields, 4, sizeof(struct produce_response_node_endpoint), 10, 12, 9,
};

static const struct wire_field produce_response_fields[] = {
    {"Responses", offsetof(struct produce_response, responses), WIRE_STRUCT, WIRE_ARRAY,
     0, 12, 1, 0, -1, 0, &produce_response_topic_produce_response_desc},
    {"ThrottleTimeMs", offsetof(struct produce_response, throttle_time_ms), WIRE_INT32, WIRE_IGNORABLE,
     1, 12, 1, 0, -1, 0, NULL},
    {"NodeEndpoints", offsetof(struct produce_response, node_endpoints), WIRE_STRUCT, WIRE_ARRAY,
     10, 12, 1, 0, 0, 0, &produce_response_node_endpoint_desc},
};
const struct wire_desc produce_response_desc = {
    "ProduceResponse", produce_response_fields, 3, sizeof(struct produce_response), 0, 12, 9,
};

static const struct wire_field fetch_request_fetch_partition_fields[] = {
    {"Partition", offsetof(struct fetch_request_fetch_partition, partition), WIRE_INT32, 0,
     4, 12, 1, 0, -1, 0, NULL},
    {"CurrentLeaderEpoch", offsetof(struct fetch_request_fetch_partition, current_leader_epoch), WIRE_INT32, WIRE_IGNORABLE,
     9, 12, 1, 0, -1, -1, NULL},
    {"FetchOffset", offsetof(struct fetch_request_fetch_partition, fetch_offset), WIRE_INT64, 0,
     4, 12, 1, 0, -1, 0, NULL},
    {"LastFetchedEpoch", offsetof(struct fetch_request_fetch_partition, last_fetched_epoch), WIRE_INT32, 0,
     12, 12, 1, 0, -1, -1, NULL},
    {"LogStartOffset", offsetof(struct fetch_request_fetch_partition, log_start_offset), WIRE_INT64, WIRE_IGNORABLE,
     5, 12, 1, 0, -1, -1, NULL},
    {"PartitionMaxBytes", offsetof(struct fetch_request_fetch_partition, partition_max_bytes), WIRE_INT32, 0,
     4, 12, 1, 0, -1, 0, NULL},
};
const struct wire_desc fetch_request_fetch_partition_desc = {
    "FetchPartition", fetch_request_fetch_partition_fields, 6, sizeof(struct fetch_request_fetch_partition), 4, 12, 12,
};

static const struct wire_field fetch_request_fetch_topic_fields[] = {
    {"Topic", offsetof(struct fetch_request_fetch_topic, topic), WIRE_STRING, WIRE_IGNORABLE,
     4, 12, 1, 0, -1, 0, NULL},
    {"Partitions", offsetof(struct fetch_request_fetch_topic, partitions), WIRE_STRUCT, WIRE_ARRAY,
     4, 12, 1, 0, -1, 0, &fetch_request_fetch_partition_desc},
};
const struct wire_desc fetch_request_fetch_topic_desc = {
    "FetchTopic", fetch_request_fetch_topic_fields, 2, sizeof(struct fetch_request_fetch_topic), 4, 12, 12,
};

static const struct wire_field fetch_request_forgotten_topic_fields[] = {
    {"Topic", offsetof(struct fetch_request_forgotten_topic, topic), WIRE_STRING, WIRE_IGNORABLE,
     7, 12, 1, 0, -1, 0, NULL},
    {"Partitions", offsetof(struct fetch_request_forgotten_topic, partitions), WIRE_INT32, WIRE_ARRAY,
     7, 12, 1, 0, -1, 0, NULL},
};
const struct wire_desc fetch_request_forgotten_topic_desc = {
    "ForgottenTopic", fetch_request_forgotten_topic_fields, 2, sizeof(struct fetch_request_forgotten_topic), 7, 12, 12,
};

static const struct wire_field fetch_request_fields[] = {
    {"ReplicaId", offsetof(struct fetch_request, replica_id), WIRE_INT32, 0,
     4, 12, 1, 0, -1, -1, NULL},
    {"MaxWaitMs", offsetof(struct fetch_request, max_wait_ms), WIRE_INT32, 0,
     4, 12, 1, 0, -1, 0, NULL},
    {"MinBytes", offsetof(struct fetch_request, min_bytes), WIRE_INT32, 0,
     4, 12, 1, 0, -1, 0, NULL},
    {"MaxBytes", offsetof(struct fetch_request, max_bytes), WIRE_INT32, WIRE_IGNORABLE,
     4, 12, 1, 0, -1, 2147483647, NULL},
    {"IsolationLevel", offsetof(struct fetch_request, isolation_level), WIRE_INT8, WIRE_IGNORABLE,
     4, 12, 1, 0, -1, 0, NULL},
    {"SessionId", offsetof(struct fetch_request, session_id), WIRE_INT32, WIRE_IGNORABLE,
     7, 12, 1, 0, -1, 0, NULL},
    {"SessionEpoch", offsetof(struct fetch_request, session_epoch), WIRE_INT32, WIRE_IGNORABLE,
     7, 12, 1, 0, -1, -1, NULL},
    {"Topics", offsetof(struct fetch_request, topics), WIRE_STRUCT, WIRE_ARRAY,
     4, 12, 1, 0, -1, 0, &fetch_request_fetch_topic_desc},
    {"ForgottenTopicsData", offsetof(struct fetch_request, forgotten_topics_data), WIRE_STRUCT, WIRE_ARRAY,
     7, 12, 1, 0, -1, 0, &fetch_request_forgotten_topic_desc},
    {"RackId", offsetof(struct fetch_request, rack_id), WIRE_STRING, WIRE_IGNORABLE,
     11, 12, 1, 0, -1, 0, NULL},
    {"ClusterId", offsetof(struct fetch_request, cluster_id), WIRE_STRING, WIRE_IGNORABLE | WIRE_DEFAULT_NULL | WIRE_NULLABLE,
     12, 12, 12, 12, 0, 0, NULL},
};
const struct wire_desc fetch_request_desc = {
    "FetchRequest", fetch_request_fields, 11, sizeof(struct fetch_request), 4, 12, 12,
};

static const struct wire_field fetch_response_epoch_end_offset_fields[] = {
    {"Epoch", offsetof(struct fetch_response_epoch_end_offset, epoch), WIRE_INT32, 0,
     12, 12, 1, 0, -1, -1, NULL},
    {"EndOffset", offsetof(struct fetch_response_epoch_end_offset, end_offset), WIRE_INT64, 0,
     12, 12, 1, 0, -1, -1, NULL},
};
const struct wire_desc fetch_response_epoch_end_offset_desc = {
    "EpochEndOffset", fetch_response_epoch_end_offset_fields, 2, sizeof(struct fetch_response_epoch_end_offset), 12, 12, 12,
};

static const struct wire_field fetch_response_leader_id_and_epoch_fields[] = {
    {"LeaderId", offsetof(struct fetch_response_leader_id_and_epoch, leader_id), WIRE_INT32, 0,
     12, 12, 1, 0, -1, -1, NULL},
    {"LeaderEpoch", offsetof(struct fetch_response_leader_id_and_epoch, leader_epoch), WIRE_INT32, 0,
     12, 12, 1, 0, -1, -1, NULL},
};
const struct wire_desc fetch_response_leader_id_and_epoch_desc = {
    "LeaderIdAndEpoch", fetch_response_leader_id_and_epoch_fields, 2, sizeof(struct fetch_response_leader_id_and_epoch), 12, 12, 12,
};

static const struct wire_field fetch_response_snapshot_id_fields[] = {
    {"EndOffset", offsetof(struct fetch_response_snapshot_id, end_offset), WIRE_INT64, 0,
     12, 12, 1, 0, -1, -1, NULL},
    {"Epoch", offsetof(struct fetch_response_snapshot_id, epoch), WIRE_INT32, 0,
     12, 12, 1, 0, -1, -1, NULL},
};
const struct wire_desc fetch_response_snapshot_id_desc = {
    "SnapshotId", fetch_response_snapshot_id_fields, 2, sizeof(struct fetch_response_snapshot_id), 12, 12, 12,
};

static const struct wire_field fetch_response_aborted_transaction_fields[] = {
    {"ProducerId", offsetof(struct fetch_response_aborted_transaction, producer_id), WIRE_INT64, 0,
     4, 12, 1, 0, -1, 0, NULL},
    {"FirstOffset", offsetof(struct fetch_response_aborted_transaction, first_offset), WIRE_INT64, 0,
     4, 12, 1, 0, -1, 0, NULL},
};
const struct wire_desc fetch_response_aborted_transaction_desc = {
    "AbortedTransaction", fetch_response_aborted_transaction_fields, 2, sizeof(struct fetch_response_aborted_transaction), 4, 12, 12,
};

static const struct wire_field fetch_response_partition_data_fields[] = {
    {"PartitionIndex", offsetof(struct fetch_response_partition_data, partition_index), WIRE_INT32, 0,
     4, 12, 1, 0, -1, 0, NULL},
    {"ErrorCode", offsetof(struct fetch_response_partition_data, error_code), WIRE_INT16, 0,
     4, 12, 1, 0, -1, 0, NULL},
    {"HighWatermark", offsetof(struct fetch_response_partition_data, high_watermark), WIRE_INT64, 0,
     4, 12, 1, 0, -1, 0, NULL},
    {"LastStableOffset", offsetof(struct fetch_response_partition_data, last_stable_offset), WIRE_INT64, WIRE_IGNORABLE,
     4, 12, 1, 0, -1, -1, NULL},
    {"LogStartOffset", offsetof(struct fetch_response_partition_data, log_start_offset), WIRE_INT64, WIRE_IGNORABLE,
     5, 12, 1, 0, -1, -1, NULL},
    {"AbortedTransactions", offsetof(struct fetch_response_partition_data, aborted_transactions), WIRE_STRUCT, WIRE_ARRAY | WIRE_IGNORABLE | WIRE_NULLABLE,
     4, 12, 4, 12, -1, 0, &fetch_response_aborted_transaction_desc},
    {"PreferredReadReplica", offsetof(struct fetch_response_partition_data, preferred_read_replica), WIRE_INT32, 0,
     11, 12, 1, 0, -1, -1, NULL},
    {"Records", offsetof(struct fetch_response_partition_data, records), WIRE_RECORDS, WIRE_NULLABLE,
     4, 12, 4, 12, -1, 0, NULL},
    {"DivergingEpoch", offsetof(struct fetch_response_partition_data, diverging_epoch), WIRE_STRUCT, 0,
     12, 12, 1, 0, 0, 0, &fetch_response_epoch_end_offset_desc},
    {"CurrentLeader", offsetof(struct fetch_response_partition_data, current_leader), WIRE_STRUCT, 0,
     12, 12, 1, 0, 1, 0, &fetch_response_leader_id_and_epoch_desc},
    {"SnapshotId", offsetof(struct fetch_response_partition_data, snapshot_id), WIRE_STRUCT, 0,
     12, 12, 1, 0, 2, 0, &fetch_response_snapshot_id_desc},
};
const struct wire_desc fetch_response_partition_data_desc = {
    "PartitionData", fetch_response_partition_data_fields, 11, sizeof(struct fetch_response_partition_data), 4, 12, 12,
};

static const struct wire_field fetch_response_fetchable_topic_response_fields[] = {
    {"Topic", offsetof(struct fetch_response_fetchable_topic_response, topic), WIRE_STRING, WIRE_IGNORABLE,
     4, 12, 1, 0, -1, 0, NULL},
    {"Partitions", offsetof(struct fetch_response_fetchable_topic_response, partitions), WIRE_STRUCT, WIRE_ARRAY,
     4, 12, 1, 0, -1, 0, &fetch_response_partition_data_desc},
};
const struct wire_desc fetch_response_fetchable_topic_response_desc = {
    "FetchableTopicResponse", fetch_response_fetchable_topic_response_fields, 2, sizeof(struct fetch_response_fetchable_topic_response), 4, 12, 12,
};

static const struct wire_field fetch_response_fields[] = {
    {"ThrottleTimeMs", offsetof(struct fetch_response, throttle_time_ms), WIRE_INT32, WIRE_IGNORABLE,
     4, 12, 1, 0, -1, 0, NULL},
    {"ErrorCode", offsetof(struct fetch_response, error_code), WIRE_INT16, WIRE_IGNORABLE,
     7, 12, 1, 0, -1, 0, NULL},
    {"SessionId", offsetof(struct fetch_response, session_id), WIRE_INT32, 0,
     7, 12, 1, 0, -1, 0, NULL},
    {"Responses", offsetof(struct fetch_response, responses), WIRE_STRUCT, WIRE_ARRAY,
     4, 12, 1, 0, -1, 0, &fetch_response_fetchable_topic_response_desc},
};
const struct wire_desc fetch_response_desc = {
    "FetchResponse", fetch_response_fields, 4, sizeof(struct fetch_response), 4, 12, 12,
};

static const struct wire_field list_offsets_request_list_offsets_partition_fields[] = {
    {"PartitionIndex", offsetof(struct list_offsets_request_list_offsets_partition, partition_index), WIRE_INT32, 0,
     1, 7, 1, 0, -1, 0, NULL},
    {"CurrentLeaderEpoch", offsetof(struct list_offsets_request_list_offsets_partition, current_leader_epoch), WIRE_INT32, WIRE_IGNORABLE,
     4, 7, 1, 0, -1, -1, NULL},
    {"Timestamp", offsetof(struct list_offsets_request_list_offsets_partition, timestamp), WIRE_INT64, 0,
     1, 7, 1, 0, -1, 0, NULL},
};
const struct wire_desc list_offsets_request_list_offsets_partition_desc = {
    "ListOffsetsPartition", list_offsets_request_list_offsets_partition_fields, 3, sizeof(struct list_offsets_request_list_offsets_partition), 1, 7, 6,
};

static const struct wire_field list_offsets_request_list_offsets_topic_fields[] = {
    {"Name", offsetof(struct list_offsets_request_list_offsets_topic, name), WIRE_STRING, 0,
     1, 7, 1, 0, -1, 0, NULL},
    {"Partitions", offsetof(struct list_offsets_request_list_offsets_topic, partitions), WIRE_STRUCT, WIRE_ARRAY,
     1, 7, 1, 0, -1, 0, &list_offsets_request_list_offsets_partition_desc},
};
const struct wire_desc list_offsets_request_list_offsets_topic_desc = {
    "ListOffsetsTopic", list_offsets_request_list_offsets_topic_fields, 2, sizeof(struct list_offsets_request_list_offsets_topic), 1, 7, 6,
};

static const struct wire_field list_offsets_request_fields[] = {
    {"ReplicaId", offsetof(struct list_offsets_request, replica_id), WIRE_INT32, 0,
     1, 7, 1, 0, -1, 0, NULL},
    {"IsolationLevel", offsetof(struct list_offsets_request, isolation_level), WIRE_INT8, 0,
     2, 7, 1, 0, -1, 0, NULL},
    {"Topics", offsetof(struct list_offsets_request, topics), WIRE_STRUCT, WIRE_ARRAY,
     1, 7, 1, 0, -1, 0, &list_offsets_request_list_offsets_topic_desc},
};
const struct wire_desc list_offsets_request_desc = {
    "ListOffsetsRequest", list_offsets_request_fields, 3, sizeof(struct list_offsets_request), 1, 7, 6,
};

static const struct wire_field list_offsets_response_list_offsets_partition_response_fields[] = {
    {"PartitionIndex", offsetof(struct list_offsets_response_list_offsets_partition_response, partition_index), WIRE_INT32, 0,
     1, 7, 1, 0, -1, 0, NULL},
    {"ErrorCode", offsetof(struct list_offsets_response_list_offsets_partition_response, error_code), WIRE_INT16, 0,
     1, 7, 1, 0, -1, 0, NULL},
    {"Timestamp", offsetof(struct list_offsets_response_list_offsets_partition_response, timestamp), WIRE_INT64, 0,
     1, 7, 1, 0, -1, -1, NULL},
    {"Offset", offsetof(struct list_offsets_response_list_offsets_partition_response, offset), WIRE_INT64, 0,
     1, 7, 1, 0, -1, -1, NULL},
    {"LeaderEpoch", offsetof(struct list_offsets_response_list_offsets_partition_response, leader_epoch), WIRE_INT32, 0,
     4, 7, 1, 0, -1, -1, NULL},
};
const struct wire_desc list_offsets_response_list_offsets_partition_response_desc = {
    "ListOffsetsPartitionResponse", list_offsets_response_list_offsets_partition_response_fields, 5, sizeof(struct list_offsets_response_list_offsets_partition_response), 1, 7, 6,
};

static const struct wire_field list_offsets_response_list_offsets_topic_response_fields[] = {
    {"Name", offsetof(struct list_offsets_response_list_offsets_topic_response, name), WIRE_STRING, 0,
     1, 7, 1, 0, -1, 0, NULL},
    {"Partitions", offsetof(struct list_offsets_response_list_offsets_topic_response, partitions), WIRE_STRUCT, WIRE_ARRAY,
     1, 7, 1, 0, -1, 0, &list_offsets_response_list_offsets_partition_response_desc},
};
const struct wire_desc list_offsets_response_list_offsets_topic_response_desc = {
    "ListOffsetsTopicResponse", list_offsets_response_list_offsets_topic_response_fields, 2, sizeof(struct list_offsets_response_list_offsets_topic_response), 1, 7, 6,
};

static const struct wire_field list_offsets_response_fields[] = {
    {"ThrottleTimeMs", offsetof(struct list_offsets_response, throttle_time_ms), WIRE_INT32, WIRE_IGNORABLE,
     2, 7, 1, 0, -1, 0, NULL},
    {"Topics", offsetof(struct list_offsets_response, topics), WIRE_STRUCT, WIRE_ARRAY,
     1, 7, 1, 0, -1, 0, &list_offsets_response_list_offsets_topic_response_desc},
};
const struct wire_desc list_offsets_response_desc = {
    "ListOffsetsResponse", list_offsets_response_fields, 2, sizeof(struct list_offsets_response), 1, 7, 6,
};

static const struct wire_field metadata_request_metadata_request_topic_fields[] = {
    {"TopicId", offsetof(struct metadata_request_metadata_request_topic, topic_id), WIRE_UUID, WIRE_IGNORABLE,
     10, 12, 1, 0, -1, 0, NULL},
    {"Name", offsetof(struct metadata_request_metadata_request_topic, name), WIRE_STRING, WIRE_NULLABLE,
     0, 12, 10, 12, -1, 0, NULL},
};
const struct wire_desc metadata_request_metadata_request_topic_desc = {
    "MetadataRequestTopic", metadata_request_metadata_request_topic_fields, 2, sizeof(struct metadata_request_metadata_request_topic), 0, 12, 9,
};

static const struct wire_field metadata_request_fields[] = {
    {"Topics", offsetof(struct metadata_request, topics), WIRE_STRUCT, WIRE_ARRAY | WIRE_NULLABLE,
     0, 12, 1, 12, -1, 0, &metadata_request_metadata_request_topic_desc},
    {"AllowAutoTopicCreation", offsetof(struct metadata_request, allow_auto_topic_creation), WIRE_BOOL, 0,
     4, 12, 1, 0, -1, 1, NULL},
    {"IncludeClusterAuthorizedOperations", offsetof(struct metadata_request, include_cluster_authorized_operations), WIRE_BOOL, 0,
     8, 10, 1, 0, -1, 0, NULL},
    {"IncludeTopicAuthorizedOperations", offsetof(struct metadata_request, include_topic_authorized_operations), WIRE_BOOL, 0,
     8, 12, 1, 0, -1, 0, NULL},
};
const struct wire_desc metadata_request_desc = {
    "MetadataRequest", metadata_request_fields, 4, sizeof(struct metadata_request), 0, 12, 9,
};

static const struct wire_field metadata_response_metadata_response_broker_fields[] = {
    {"NodeId", offsetof(struct metadata_response_metadata_response_broker, node_id), WIRE_INT32, 0,
     0, 12, 1, 0, -1, 0, NULL},
    {"Host", offsetof(struct metadata_response_metadata_response_broker, host), WIRE_STRING, 0,
     0, 12, 1, 0, -1, 0, NULL},
    {"Port", offsetof(struct metadata_response_metadata_response_broker, port), WIRE_INT32, 0,
     0, 12, 1, 0, -1, 0, NULL},
    {"Rack", offsetof(struct metadata_response_metadata_response_broker, rack), WIRE_STRING, WIRE_IGNORABLE | WIRE_DEFAULT_NULL | WIRE_NULLABLE,
     1, 12, 1, 12, -1, 0, NULL},
};
const struct wire_desc metadata_response_metadata_response_broker_desc = {
    "MetadataResponseBroker", metadata_response_metadata_response_broker_fields, 4, sizeof(struct metadata_response_metadata_response_broker), 0, 12, 9,
};

static const struct wire_field metadata_response_metadata_response_partition_fields[] = {
    {"ErrorCode", offsetof(struct metadata_response_metadata_response_partition, error_code), WIRE_INT16, 0,
     0, 12, 1, 0, -1, 0, NULL},
    {"PartitionIndex", offsetof(struct metadata_response_metadata_response_partition, partition_index), WIRE_INT32, 0,
     0, 12, 1, 0, -1, 0, NULL},
    {"LeaderId", offsetof(struct metadata_response_metadata_response_partition, leader_id), WIRE_INT32, 0,
     0, 12, 1, 0, -1, 0, NULL},
    {"LeaderEpoch", offsetof(struct metadata_response_metadata_response_partition, leader_epoch), WIRE_INT32, WIRE_IGNORABLE,
     7, 12, 1, 0, -1, -1, NULL},
    {"ReplicaNodes", offsetof(struct metadata_response_metadata_response_partition, replica_nodes), WIRE_INT32, WIRE_ARRAY,
     0, 12, 1, 0, -1, 0, NULL},
    {"IsrNodes", offsetof(struct metadata_response_metadata_response_partition, isr_nodes), WIRE_INT32, WIRE_ARRAY,
     0, 12, 1, 0, -1, 0, NULL},
    {"OfflineReplicas", offsetof(struct metadata_response_metadata_response_partition, offline_replicas), WIRE_INT32, WIRE_ARRAY | WIRE_IGNORABLE,
     5, 12, 1, 0, -1, 0, NULL},
};
const struct wire_desc metadata_response_metadata_response_partition_desc = {
    "MetadataResponsePartition", metadata_response_metadata_response_partition_fields, 7, sizeof(struct metadata_response_metadata_response_partition), 0, 12, 9,
};

static const struct wire_field metadata_response_metadata_response_topic_fields[] = {
    {"ErrorCode", offsetof(struct metadata_response_metadata_response_topic, error_code), WIRE_INT16, 0,
     0, 12, 1, 0, -1, 0, NULL},
    {"Name", offsetof(struct metadata_response_metadata_response_topic, name), WIRE_STRING, WIRE_NULLABLE,
     0, 12, 12, 12, -1, 0, NULL},
    {"TopicId", offsetof(struct metadata_response_metadata_response_topic, topic_id), WIRE_UUID, WIRE_IGNORABLE,
     10, 12, 1, 0, -1, 0, NULL},
    {"IsInternal", offsetof(struct metadata_response_metadata_response_topic, is_internal), WIRE_BOOL, WIRE_IGNORABLE,
     1, 12, 1, 0, -1, 0, NULL},
    {"Partitions", offsetof(struct metadata_response_metadata_response_topic, partitions), WIRE_STRUCT, WIRE_ARRAY,
     0, 12, 1, 0, -1, 0, &metadata_response_metadata_response_partition_desc},
    {"TopicAuthorizedOperations", offsetof(struct metadata_response_metadata_response_topic, topic_authorized_operations), WIRE_INT32, 0,
     8, 12, 1, 0, -1, -2147483648, NULL},
};
const struct wire_desc metadata_response_metadata_response_topic_desc = {
    "MetadataResponseTopic", metadata_response_metadata_response_topic_fields, 6, sizeof(struct metadata_response_metadata_response_topic), 0, 12, 9,
};

static const struct wire_field metadata_response_fields[] = {
    {"ThrottleTimeMs", offsetof(struct metadata_response, throttle_time_ms), WIRE_INT32, WIRE_IGNORABLE,
     3, 12, 1, 0, -1, 0, NULL},
    {"Brokers", offsetof(struct metadata_response, brokers), WIRE_STRUCT, WIRE_ARRAY,
     0, 12, 1, 0, -1, 0, &metadata_response_metadata_response_broker_desc},
    {"ClusterId", offsetof(struct metadata_response, cluster_id), WIRE_STRING, WIRE_IGNORABLE | WIRE_DEFAULT_NULL | WIRE_NULLABLE,
     2, 12, 2, 12, -1, 0, NULL},
    {"ControllerId", offsetof(struct metadata_response, controller_id), WIRE_INT32, WIRE_IGNORABLE,
     1, 12, 1, 0, -1, -1, NULL},
    {"Topics", offsetof(struct metadata_response, topics), WIRE_STRUCT, WIRE_ARRAY,
     0, 12, 1, 0, -1, 0, &metadata_response_metadata_response_topic_desc},
    {"ClusterAuthorizedOperations", offsetof(struct metadata_response, cluster_authorized_operations), WIRE_INT32, 0,
     8, 10, 1, 0, -1, -2147483648, NULL},
};
const struct wire_desc metadata_response_desc = {
    "MetadataResponse", metadata_response_fields, 6, sizeof(struct metadata_response), 0, 12, 9,
};

static const struct wire_field offset_commit_request_offset_commit_request_partition_fields[] = {
    {"PartitionIndex", offsetof(struct offset_commit_request_offset_commit_request_partition, partition_index), WIRE_INT32, 0,
     2, 9, 1, 0, -1, 0, NULL},
    {"CommittedOffset", offsetof(struct offset_commit_request_offset_commit_request_partition, committed_offset), WIRE_INT64, 0,
     2, 9, 1, 0, -1, 0, NULL},
    {"CommittedLeaderEpoch", offsetof(struct offset_commit_request_offset_commit_request_partition, committed_leader_epoch), WIRE_INT32, WIRE_IGNORABLE,
     6, 9, 1, 0, -1, -1, NULL},
    {"CommittedMetadata", offsetof(struct offset_commit_request_offset_commit_request_partition, committed_metadata), WIRE_STRING, WIRE_NULLABLE,
     2, 9, 2, 9, -1, 0, NULL},
};
const struct wire_desc offset_commit_request_offset_commit_request_partition_desc = {
    "OffsetCommitRequestPartition", offset_commit_request_offset_commit_request_partition_fields, 4, sizeof(struct offset_commit_request_offset_commit_request_partition), 2, 9, 8,
};

static const struct wire_field offset_commit_request_offset_commit_request_topic_fields[] = {
    {"Name", offsetof(struct offset_commit_request_offset_commit_request_topic, name), WIRE_STRING, WIRE_IGNORABLE,
     2, 9, 1, 0, -1, 0, NULL},
    {"Partitions", offsetof(struct offset_commit_request_offset_commit_request_topic, partitions), WIRE_STRUCT, WIRE_ARRAY,
     2, 9, 1, 0, -1, 0, &offset_commit_request_offset_commit_request_partition_desc},
};
const struct wire_desc offset_commit_request_offset_commit_request_topic_desc = {
    "OffsetCommitRequestTopic", offset_commit_request_offset_commit_request_topic_fields, 2, sizeof(struct offset_commit_request_offset_commit_request_topic), 2, 9, 8,
};

static const struct wire_field offset_commit_request_fields[] = {
    {"GroupId", offsetof(struct offset_commit_request, group_id), WIRE_STRING, 0,
     2, 9, 1, 0, -1, 0, NULL},
    {"GenerationIdOrMemberEpoch", offsetof(struct offset_commit_request, generation_id_or_member_epoch), WIRE_INT32, WIRE_IGNORABLE,
     2, 9, 1, 0, -1, -1, NULL},
    {"MemberId", offsetof(struct offset_commit_request, member_id), WIRE_STRING, WIRE_IGNORABLE,
     2, 9, 1, 0, -1, 0, NULL},
    {"GroupInstanceId", offsetof(struct offset_commit_request, group_instance_id), WIRE_STRING, WIRE_DEFAULT_NULL | WIRE_NULLABLE,
     7, 9, 7, 9, -1, 0, NULL},
    {"RetentionTimeMs", offsetof(struct offset_commit_request, retention_time_ms), WIRE_INT64, WIRE_IGNORABLE,
     2, 4, 1, 0, -1, -1, NULL},
    {"Topics", offsetof(struct offset_commit_request, topics), WIRE_STRUCT, WIRE_ARRAY,
     2, 9, 1, 0, -1, 0, &offset_commit_request_offset_commit_request_topic_desc},
};
const struct wire_desc offset_commit_request_desc = {
    "OffsetCommitRequest", offset_commit_request_fields, 6, sizeof(struct offset_commit_request), 2, 9, 8,
};

static const struct wire_field offset_commit_response_offset_commit_response_partition_fields[] = {
    {"PartitionIndex", offsetof(struct offset_commit_response_offset_commit_response_partition, partition_index), WIRE_INT32, 0,
     2, 9, 1, 0, -1, 0, NULL},
    {"ErrorCode", offsetof(struct offset_commit_response_offset_commit_response_partition, error_code), WIRE_INT16, 0,
     2, 9, 1, 0, -1, 0, NULL},
};
const struct wire_desc offset_commit_response_offset_commit_response_partition_desc = {
    "OffsetCommitResponsePartition", offset_commit_response_offset_commit_response_partition_fields, 2, sizeof(struct offset_commit_response_offset_commit_response_partition), 2, 9, 8,
};

static const struct wire_field offset_commit_response_offset_commit_response_topic_fields[] = {
    {"Name", offsetof(struct offset_commit_response_offset_commit_response_topic, name), WIRE_STRING, WIRE_IGNORABLE,
     2, 9, 1, 0, -1, 0, NULL},
    {"Partitions", offsetof(struct offset_commit_response_offset_commit_response_topic, partitions), WIRE_STRUCT, WIRE_ARRAY,
     2, 9, 1, 0, -1, 0, &offset_commit_response_offset_commit_response_partition_desc},
};
const struct wire_desc offset_commit_response_offset_commit_response_topic_desc = {
    "OffsetCommitResponseTopic", offset_commit_response_offset_commit_response_topic_fields, 2, sizeof(struct offset_commit_response_offset_commit_response_topic), 2, 9, 8,
};

static const struct wire_field offset_commit_response_fields[] = {
    {"ThrottleTimeMs", offsetof(struct offset_commit_response, throttle_time_ms), WIRE_INT32, WIRE_IGNORABLE,
     3, 9, 1, 0, -1, 0, NULL},
    {"Topics", offsetof(struct offset_commit_response, topics), WIRE_STRUCT, WIRE_ARRAY,
     2, 9, 1, 0, -1, 0, &offset_commit_response_offset_commit_response_topic_desc},
};
const struct wire_desc offset_commit_response_desc = {
    "OffsetCommitResponse", offset_commit_response_fields, 2, sizeof(struct offset_commit_response), 2, 9, 8,
};

static const struct wire_field offset_fetch_request_offset_fetch_request_topic_fields[] = {
    {"Name", offsetof(struct offset_fetch_request_offset_fetch_request_topic, name), WIRE_STRING, 0,
     1, 7, 1, 0, -1, 0, NULL},
    {"PartitionIndexes", offsetof(struct offset_fetch_request_offset_fetch_request_topic, partition_indexes), WIRE_INT32, WIRE_ARRAY,
     1, 7, 1, 0, -1, 0, NULL},
};
const struct wire_desc offset_fetch_request_offset_fetch_request_topic_desc = {
    "OffsetFetchRequestTopic", offset_fetch_request_offset_fetch_request_topic_fields, 2, sizeof(struct offset_fetch_request_offset_fetch_request_topic), 1, 7, 6,
};

static const struct wire_field offset_fetch_request_offset_fetch_request_topics_fields[] = {
    {"Name", offsetof(struct offset_fetch_request_offset_fetch_request_topics, name), WIRE_STRING, WIRE_IGNORABLE,
     8, 9, 1, 0, -1, 0, NULL},
    {"PartitionIndexes", offsetof(struct offset_fetch_request_offset_fetch_request_topics, partition_indexes), WIRE_INT32, WIRE_ARRAY,
     8, 9, 1, 0, -1, 0, NULL},
};
const struct wire_desc offset_fetch_request_offset_fetch_request_topics_desc = {
    "OffsetFetchRequestTopics", offset_fetch_request_offset_fetch_request_topics_fields, 2, sizeof(struct offset_fetch_request_offset_fetch_request_topics), 8, 9, 6,
};

static const struct wire_field offset_fetch_request_offset_fetch_request_group_fields[] = {
    {"GroupId", offsetof(struct offset_fetch_request_offset_fetch_request_group, group_id), WIRE_STRING, 0,
     8, 9, 1, 0, -1, 0, NULL},
    {"MemberId", offsetof(struct offset_fetch_request_offset_fetch_request_group, member_id), WIRE_STRING, WIRE_IGNORABLE | WIRE_DEFAULT_NULL | WIRE_NULLABLE,
     9, 9, 9, 9, -1, 0, NULL},
    {"MemberEpoch", offsetof(struct offset_fetch_request_offset_fetch_request_group, member_epoch), WIRE_INT32, WIRE_IGNORABLE,
     9, 9, 1, 0, -1, -1, NULL},
    {"Topics", offsetof(struct offset_fetch_request_offset_fetch_request_group, topics), WIRE_STRUCT, WIRE_ARRAY | WIRE_NULLABLE,
     8, 9, 8, 9, -1, 0, &offset_fetch_request_offset_fetch_request_topics_desc},
};
const struct wire_desc offset_fetch_request_offset_fetch_request_group_desc = {
    "OffsetFetchRequestGroup", offset_fetch_request_offset_fetch_request_group_fields, 4, sizeof(struct offset_fetch_request_offset_fetch_request_group), 8, 9, 6,
};

static const struct wire_field offset_fetch_request_fields[] = {
    {"GroupId", offsetof(struct offset_fetch_request, group_id), WIRE_STRING, 0,
     1, 7, 1, 0, -1, 0, NULL},
    {"Topics", offsetof(struct offset_fetch_request, topics), WIRE_STRUCT, WIRE_ARRAY | WIRE_NULLABLE,
     1, 7, 2, 7, -1, 0, &offset_fetch_request_offset_fetch_request_topic_desc},
    {"Groups", offsetof(struct offset_fetch_request, groups), WIRE_STRUCT, WIRE_ARRAY,
     8, 9, 1, 0, -1, 0, &offset_fetch_request_offset_fetch_request_group_desc},
    {"RequireStable", offsetof(struct offset_fetch_request, require_stable), WIRE_BOOL, 0,
     7, 9, 1, 0, -1, 0, NULL},
};
const struct wire_desc offset_fetch_request_desc = {
    "OffsetFetchRequest", offset_fetch_request_fields, 4, sizeof(struct offset_fetch_request), 1, 9, 6,
};

static const struct wire_field offset_fetch_response_offset_fetch_response_partition_fields[] = {
    {"PartitionIndex", offsetof(struct offset_fetch_response_offset_fetch_response_partition, partition_index), WIRE_INT32, 0,
     1, 7, 1, 0, -1, 0, NULL},
    {"CommittedOffset", offsetof(struct offset_fetch_response_offset_fetch_response_partition, committed_offset), WIRE_INT64, 0,
     1, 7, 1, 0, -1, 0, NULL},
    {"CommittedLeaderEpoch", offsetof(struct offset_fetch_response_offset_fetch_response_partition, committed_leader_epoch), WIRE_INT32, WIRE_IGNORABLE,
     5, 7, 1, 0, -1, -1, NULL},
    {"Metadata", offsetof(struct offset_fetch_response_offset_fetch_response_partition, metadata), WIRE_STRING, WIRE_NULLABLE,
     1, 7, 1, 7, -1, 0, NULL},
    {"ErrorCode", offsetof(struct offset_fetch_response_offset_fetch_response_partition, error_code), WIRE_INT16, 0,
     1, 7, 1, 0, -1, 0, NULL},
};
const struct wire_desc offset_fetch_response_offset_fetch_response_partition_desc = {
    "OffsetFetchResponsePartition", offset_fetch_response_offset_fetch_response_partition_fields, 5, sizeof(struct offset_fetch_response_offset_fetch_response_partition), 1, 7, 6,
};

static const struct wire_field offset_fetch_response_offset_fetch_response_topic_fields[] = {
    {"Name", offsetof(struct offset_fetch_response_offset_fetch_response_topic, name), WIRE_STRING, 0,
     1, 7, 1, 0, -1, 0, NULL},
    {"Partitions", offsetof(struct offset_fetch_response_offset_fetch_response_topic, partitions), WIRE_STRUCT, WIRE_ARRAY,
     1, 7, 1, 0, -1, 0, &offset_fetch_response_offset_fetch_response_partition_desc},
};
const struct wire_desc offset_fetch_response_offset_fetch_response_topic_desc = {
    "OffsetFetchResponseTopic", offset_fetch_response_offset_fetch_response_topic_fields, 2, sizeof(struct offset_fetch_response_offset_fetch_response_topic), 1, 7, 6,
};

static const struct wire_field offset_fetch_response_offset_fetch_response_partitions_fields[] = {
    {"PartitionIndex", offsetof(struct offset_fetch_response_offset_fetch_response_partitions, partition_index), WIRE_INT32, 0,
     8, 9, 1, 0, -1, 0, NULL},
    {"CommittedOffset", offsetof(struct offset_fetch_response_offset_fetch_response_partitions, committed_offset), WIRE_INT64, 0,
     8, 9, 1, 0, -1, 0, NULL},
    {"CommittedLeaderEpoch", offsetof(struct offset_fetch_response_offset_fetch_response_partitions, committed_leader_epoch), WIRE_INT32, WIRE_IGNORABLE,
     8, 9, 1, 0, -1, -1, NULL},
    {"Metadata", offsetof(struct offset_fetch_response_offset_fetch_response_partitions, metadata), WIRE_STRING, WIRE_NULLABLE,
     8, 9, 8, 9, -1, 0, NULL},
    {"ErrorCode", offsetof(struct offset_fetch_response_offset_fetch_response_partitions, error_code), WIRE_INT16, 0,
     8, 9, 1, 0, -1, 0, NULL},
};
const struct wire_desc offset_fetch_response_offset_fetch_response_partitions_desc = {
    "OffsetFetchResponsePartitions", offset_fetch_response_offset_fetch_response_partitions_fields, 5, sizeof(struct offset_fetch_response_offset_fetch_response_partitions), 8, 9, 6,
};

static const struct wire_field offset_fetch_response_offset_fetch_response_topics_fields[] = {
    {"Name", offsetof(struct offset_fetch_response_offset_fetch_response_topics, name), WIRE_STRING, WIRE_IGNORABLE,
     8, 9, 1, 0, -1, 0, NULL},
    {"Partitions", offsetof(struct offset_fetch_response_offset_fetch_response_topics, partitions), WIRE_STRUCT, WIRE_ARRAY,
     8, 9, 1, 0, -1, 0, &offset_fetch_response_offset_fetch_response_partitions_desc},
};
const struct wire_desc offset_fetch_response_offset_fetch_response_topics_desc = {
    "OffsetFetchResponseTopics", offset_fetch_response_offset_fetch_response_topics_fields, 2, sizeof(struct offset_fetch_response_offset_fetch_response_topics), 8, 9, 6,
};

static const struct wire_field offset_fetch_response_offset_fetch_response_group_fields[] = {
    {"GroupId", offsetof(struct offset_fetch_response_offset_fetch_response_group, group_id), WIRE_STRING, 0,
     8, 9, 1, 0, -1, 0, NULL},
    {"Topics", offsetof(struct offset_fetch_response_offset_fetch_response_group, topics), WIRE_STRUCT, WIRE_ARRAY,
     8, 9, 1, 0, -1, 0, &offset_fetch_response_offset_fetch_response_topics_desc},
    {"ErrorCode", offsetof(struct offset_fetch_response_offset_fetch_response_group, error_code), WIRE_INT16, 0,
     8, 9, 1, 0, -1, 0, NULL},
};
const struct wire_desc offset_fetch_response_offset_fetch_response_group_desc = {
    "OffsetFetchResponseGroup", offset_fetch_response_offset_fetch_response_group_fields, 3, sizeof(struct offset_fetch_response_offset_fetch_response_group), 8, 9, 6,
};

static const struct wire_field offset_fetch_response_fields[] = {
    {"ThrottleTimeMs", offsetof(struct offset_fetch_response, throttle_time_ms), WIRE_INT32, WIRE_IGNORABLE,
     3, 9, 1, 0, -1, 0, NULL},
    {"Topics", offsetof(struct offset_fetch_response, topics), WIRE_STRUCT, WIRE_ARRAY,
     1, 7, 1, 0, -1, 0, &offset_fetch_response_offset_fetch_response_topic_desc},
    {"ErrorCode", offsetof(struct offset_fetch_response, error_code), WIRE_INT16, WIRE_IGNORABLE,
     2, 7, 1, 0, -1, 0, NULL},
    {"Groups", offsetof(struct offset_fetch_response, groups), WIRE_STRUCT, WIRE_ARRAY,
     8, 9, 1, 0, -1, 0, &offset_fetch_response_offset_fetch_response_group_desc},
};
const struct wire_desc offset_fetch_response_desc = {
    "OffsetFetchResponse", offset_fetch_response_fields, 4, sizeof(struct offset_fetch_response), 1, 9, 6,
};

static const struct wire_field find_coordinator_request_fields[] = {
    {"Key", offsetof(struct find_coordinator_request, key), WIRE_STRING, 0,
     0, 3, 1, 0, -1, 0, NULL},
    {"KeyType", offsetof(struct find_coordinator_request, key_type), WIRE_INT8, 0,
     1, 4, 1, 0, -1, 0, NULL},
    {"CoordinatorKeys", offsetof(struct find_coordinator_request, coordinator_keys), WIRE_STRING, WIRE_ARRAY,
     4, 4, 1, 0, -1, 0, NULL},
};
const struct wire_desc find_coordinator_request_desc = {
    "FindCoordinatorRequest", find_coordinator_request_fields, 3, sizeof(struct find_coordinator_request), 0, 4, 3,
};

static const struct wire_field find_coordinator_response_coordinator_fields[] = {
    {"Key", offsetof(struct find_coordinator_response_coordinator, key), WIRE_STRING, 0,
     4, 4, 1, 0, -1, 0, NULL},
    {"NodeId", offsetof(struct find_coordinator_response_coordinator, node_id), WIRE_INT32, 0,
     4, 4, 1, 0, -1, 0, NULL},
    {"Host", offsetof(struct find_coordinator_response_coordinator, host), WIRE_STRING, 0,
     4, 4, 1, 0, -1, 0, NULL},
    {"Port", offsetof(struct find_coordinator_response_coordinator, port), WIRE_INT32, 0,
     4, 4, 1, 0, -1, 0, NULL},
    {"ErrorCode", offsetof(struct find_coordinator_response_coordinator, error_code), WIRE_INT16, 0,
     4, 4, 1, 0, -1, 0, NULL},
    {"ErrorMessage", offsetof(struct find_coordinator_response_coordinator, error_message), WIRE_STRING, WIRE_IGNORABLE | WIRE_NULLABLE,
     4, 4, 4, 4, -1, 0, NULL},
};
const struct wire_desc find_coordinator_response_coordinator_desc = {
    "Coordinator", find_coordinator_response_coordinator_fields, 6, sizeof(struct find_coordinator_response_coordinator), 4, 4, 3,
};

static const struct wire_field find_coordinator_response_fields[] = {
    {"ThrottleTimeMs", offsetof(struct find_coordinator_response, throttle_time_ms), WIRE_INT32, WIRE_IGNORABLE,
     1, 4, 1, 0, -1, 0, NULL},
    {"ErrorCode", offsetof(struct find_coordinator_response, error_code), WIRE_INT16, 0,
     0, 3, 1, 0, -1, 0, NULL},
    {"ErrorMessage", offsetof(struct find_coordinator_response, error_message), WIRE_STRING, WIRE_IGNORABLE | WIRE_NULLABLE,
     1, 3, 1, 3, -1, 0, NULL},
    {"NodeId", offsetof(struct find_coordinator_response, node_id), WIRE_INT32, 0,
     0, 3, 1, 0, -1, 0, NULL},
    {"Host", offsetof(struct find_coordinator_response, host), WIRE_STRING, 0,
     0, 3, 1, 0, -1, 0, NULL},
    {"Port", offsetof(struct find_coordinator_response, port), WIRE_INT32, 0,
     0, 3, 1, 0, -1, 0, NULL},
    {"Coordinators", offsetof(struct find_coordinator_response, coordinators), WIRE_STRUCT, WIRE_ARRAY,
     4, 4, 1, 0, -1, 0, &find_coordinator_response_coordinator_desc},
};
const struct wire_desc find_coordinator_response_desc = {
    "FindCoordinatorResponse", find_coordinator_response_fields, 7, sizeof(struct find_coordinator_response), 0, 4, 3,
};

static const struct wire_field join_group_request_join_group_request_protocol_fields[] = {
    {"Name", offsetof(struct join_group_request_join_group_request_protocol, name), WIRE_STRING, 0,
     0, 9, 1, 0, -1, 0, NULL},
    {"Metadata", offsetof(struct join_group_request_join_group_request_protocol, metadata), WIRE_BYTES, 0,
     0, 9, 1, 0, -1, 0, NULL},
};
const struct wire_desc join_group_request_join_group_request_protocol_desc = {
    "JoinGroupRequestProtocol", join_group_request_join_group_request_protocol_fields, 2, sizeof(struct join_group_request_join_group_request_protocol), 0, 9, 6,
};

static const struct wire_field join_group_request_fields[] = {
    {"GroupId", offsetof(struct join_group_request, group_id), WIRE_STRING, 0,
     0, 9, 1, 0, -1, 0, NULL},
    {"SessionTimeoutMs", offsetof(struct join_group_request, session_timeout_ms), WIRE_INT32, 0,
     0, 9, 1, 0, -1, 0, NULL},
    {"RebalanceTimeoutMs", offsetof(struct join_group_request, rebalance_timeout_ms), WIRE_INT32, WIRE_IGNORABLE,
     1, 9, 1, 0, -1, -1, NULL},
    {"MemberId", offsetof(struct join_group_request, member_id), WIRE_STRING, 0,
     0, 9, 1, 0, -1, 0, NULL},
    {"GroupInstanceId", offsetof(struct join_group_request, group_instance_id), WIRE_STRING, WIRE_DEFAULT_NULL | WIRE_NULLABLE,
     5, 9, 5, 9, -1, 0, NULL},
    {"ProtocolType", offsetof(struct join_group_request, protocol_type), WIRE_STRING, 0,
     0, 9, 1, 0, -1, 0, NULL},
    {"Protocols", offsetof(struct join_group_request, protocols), WIRE_STRUCT, WIRE_ARRAY,
     0, 9, 1, 0, -1, 0, &join_group_request_join_group_request_protocol_desc},
    {"Reason", offsetof(struct join_group_request, reason), WIRE_STRING, WIRE_IGNORABLE | WIRE_DEFAULT_NULL | WIRE_NULLABLE,
     8, 9, 8, 9, -1, 0, NULL},
};
const struct wire_desc join_group_request_desc = {
    "JoinGroupRequest", join_group_request_fields, 8, sizeof(struct join_group_request), 0, 9, 6,
};

static const struct wire_field join_group_response_join_group_response_member_fields[] = {
    {"MemberId", offsetof(struct join_group_response_join_group_response_member, member_id), WIRE_STRING, 0,
     0, 9, 1, 0, -1, 0, NULL},
    {"GroupInstanceId", offsetof(struct join_group_response_join_group_response_member, group_instance_id), WIRE_STRING, WIRE_IGNORABLE | WIRE_DEFAULT_NULL | WIRE_NULLABLE,
     5, 9, 5, 9, -1, 0, NULL},
    {"Metadata", offsetof(struct join_group_response_join_group_response_member, metadata), WIRE_BYTES, 0,
     0, 9, 1, 0, -1, 0, NULL},
};
const struct wire_desc join_group_response_join_group_response_member_desc = {
    "JoinGroupResponseMember", join_group_response_join_group_response_member_fields, 3, sizeof(struct join_group_response_join_group_response_member), 0, 9, 6,
};

static const struct wire_field join_group_response_fields[] = {
    {"ThrottleTimeMs", offsetof(struct join_group_response, throttle_time_ms), WIRE_INT32, WIRE_IGNORABLE,
     2, 9, 1, 0, -1, 0, NULL},
    {"ErrorCode", offsetof(struct join_group_response, error_code), WIRE_INT16, 0,
     0, 9, 1, 0, -1, 0, NULL},
    {"GenerationId", offsetof(struct join_group_response, generation_id), WIRE_INT32, 0,
     0, 9, 1, 0, -1, -1, NULL},
    {"ProtocolType", offsetof(struct join_group_response, protocol_type), WIRE_STRING, WIRE_IGNORABLE | WIRE_DEFAULT_NULL | WIRE_NULLABLE,
     7, 9, 7, 9, -1, 0, NULL},
    {"ProtocolName", offsetof(struct join_group_response, protocol_name), WIRE_STRING, WIRE_NULLABLE,
     0, 9, 7, 9, -1, 0, NULL},
    {"Leader", offsetof(struct join_group_response, leader), WIRE_STRING, 0,
     0, 9, 1, 0, -1, 0, NULL},
    {"SkipAssignment", offsetof(struct join_group_response, skip_assignment), WIRE_BOOL, 0,
     9, 9, 1, 0, -1, 0, NULL},
    {"MemberId", offsetof(struct join_group_response, member_id), WIRE_STRING, 0,
     0, 9, 1, 0, -1, 0, NULL},
    {"Members", offsetof(struct join_group_response, members), WIRE_STRUCT, WIRE_ARRAY,
     0, 9, 1, 0, -1, 0, &join_group_response_join_group_response_member_desc},
};
const struct wire_desc join_group_response_desc = {
    "JoinGroupResponse", join_group_response_fields, 9, sizeof(struct join_group_response), 0, 9, 6,
};

static const struct wire_field heartbeat_request_fields[] = {
    {"GroupId", offsetof(struct heartbeat_request, group_id), WIRE_STRING, 0,
     0, 4, 1, 0, -1, 0, NULL},
    {"GenerationId", offsetof(struct heartbeat_request, generation_id), WIRE_INT32, 0,
     0, 4, 1, 0, -1, 0, NULL},
    {"MemberId", offsetof(struct heartbeat_request, member_id), WIRE_STRING, 0,
     0, 4, 1, 0, -1, 0, NULL},
    {"GroupInstanceId", offsetof(struct heartbeat_request, group_instance_id), WIRE_STRING, WIRE_DEFAULT_NULL | WIRE_NULLABLE,
     3, 4, 3, 4, -1, 0, NULL},
};
const struct wire_desc heartbeat_request_desc = {
    "HeartbeatRequest", heartbeat_request_fields, 4, sizeof(struct heartbeat_request), 0, 4, 4,
};

static const struct wire_field heartbeat_response_fields[] = {
    {"ThrottleTimeMs", offsetof(struct heartbeat_response, throttle_time_ms), WIRE_INT32, WIRE_IGNORABLE,
     1, 4, 1, 0, -1, 0, NULL},
    {"ErrorCode", offsetof(struct heartbeat_response, error_code), WIRE_INT16, 0,
     0, 4, 1, 0, -1, 0, NULL},
};
const struct wire_desc heartbeat_response_desc = {
    "HeartbeatResponse", heartbeat_response_fields, 2, sizeof(struct heartbeat_response), 0, 4, 4,
};

static const struct wire_field leave_group_request_member_identity_fields[] = {
    {"MemberId", offsetof(struct leave_group_request_member_identity, member_id), WIRE_STRING, 0,
     3, 5, 1, 0, -1, 0, NULL},
    {"GroupInstanceId", offsetof(struct leave_group_request_member_identity, group_instance_id), WIRE_STRING, WIRE_DEFAULT_NULL | WIRE_NULLABLE,
     3, 5, 3, 5, -1, 0, NULL},
    {"Reason", offsetof(struct leave_group_request_member_identity, reason), WIRE_STRING, WIRE_IGNORABLE | WIRE_DEFAULT_NULL | WIRE_NULLABLE,
     5, 5, 5, 5, -1, 0, NULL},
};
const struct wire_desc leave_group_request_member_identity_desc = {
    "MemberIdentity", leave_group_request_member_identity_fields, 3, sizeof(struct leave_group_request_member_identity), 3, 5, 4,
};

static const struct wire_field leave_group_request_fields[] = {
    {"GroupId", offsetof(struct leave_group_request, group_id), WIRE_STRING, 0,
     0, 5, 1, 0, -1, 0, NULL},
    {"MemberId", offsetof(struct leave_group_request, member_id), WIRE_STRING, 0,
     0, 2, 1, 0, -1, 0, NULL},
    {"Members", offsetof(struct leave_group_request, members), WIRE_STRUCT, WIRE_ARRAY,
     3, 5, 1, 0, -1, 0, &leave_group_request_member_identity_desc},
};
const struct wire_desc leave_group_request_desc = {
    "LeaveGroupRequest", leave_group_request_fields, 3, sizeof(struct leave_group_request), 0, 5, 4,
};

static const struct wire_field leave_group_response_member_response_fields[] = {
    {"MemberId", offsetof(struct leave_group_response_member_response, member_id), WIRE_STRING, 0,
     3, 5, 1, 0, -1, 0, NULL},
    {"GroupInstanceId", offsetof(struct leave_group_response_member_response, group_instance_id), WIRE_STRING, WIRE_NULLABLE,
     3, 5, 3, 5, -1, 0, NULL},
    {"ErrorCode", offsetof(struct leave_group_response_member_response, error_code), WIRE_INT16, 0,
     3, 5, 1, 0, -1, 0, NULL},
};
const struct wire_desc leave_group_response_member_response_desc = {
    "MemberResponse", leave_group_response_member_response_fields, 3, sizeof(struct leave_group_response_member_response), 3, 5, 4,
};

static const struct wire_field leave_group_response_fields[] = {
    {"ThrottleTimeMs", offsetof(struct leave_group_response, throttle_time_ms), WIRE_INT32, WIRE_IGNORABLE,
     1, 5, 1, 0, -1, 0, NULL},
    {"ErrorCode", offsetof(struct leave_group_response, error_code), WIRE_INT16, 0,
     0, 5, 1, 0, -1, 0, NULL},
    {"Members", offsetof(struct leave_group_response, members), WIRE_STRUCT, WIRE_ARRAY,
     3, 5, 1, 0, -1, 0, &leave_group_response_member_response_desc},
};
const struct wire_desc leave_group_response_desc = {
    "LeaveGroupResponse", leave_group_response_fields, 3, sizeof(struct leave_group_response), 0, 5, 4,
};

static const struct wire_field sync_group_request_sync_group_request_assignment_fields[] = {
    {"MemberId", offsetof(struct sync_group_request_sync_group_request_assignment, member_id), WIRE_STRING, 0,
     0, 5, 1, 0, -1, 0, NULL},
    {"Assignment", offsetof(struct sync_group_request_sync_group_request_assignment, assignment), WIRE_BYTES, 0,
     0, 5, 1, 0, -1, 0, NULL},
};
const struct wire_desc sync_group_request_sync_group_request_assignment_desc = {
    "SyncGroupRequestAssignment", sync_group_request_sync_group_request_assignment_fields, 2, sizeof(struct sync_group_request_sync_group_request_assignment), 0, 5, 4,
};

static const struct wire_field sync_group_request_fields[] = {
    {"GroupId", offsetof(struct sync_group_request, group_id), WIRE_STRING, 0,
     0, 5, 1, 0, -1, 0, NULL},
    {"GenerationId", offsetof(struct sync_group_request, generation_id), WIRE_INT32, 0,
     0, 5, 1, 0, -1, 0, NULL},
    {"MemberId", offsetof(struct sync_group_request, member_id), WIRE_STRING, 0,
     0, 5, 1, 0, -1, 0, NULL},
    {"GroupInstanceId", offsetof(struct sync_group_request, group_instance_id), WIRE_STRING, WIRE_DEFAULT_NULL | WIRE_NULLABLE,
     3, 5, 3, 5, -1, 0, NULL},
    {"ProtocolType", offsetof(struct sync_group_request, protocol_type), WIRE_STRING, WIRE_IGNORABLE | WIRE_DEFAULT_NULL | WIRE_NULLABLE,
     5, 5, 5, 5, -1, 0, NULL},
    {"ProtocolName", offsetof(struct sync_group_request, protocol_name), WIRE_STRING, WIRE_IGNORABLE | WIRE_DEFAULT_NULL | WIRE_NULLABLE,
     5, 5, 5, 5, -1, 0, NULL},
    {"Assignments", offsetof(struct sync_group_request, assignments), WIRE_STRUCT, WIRE_ARRAY,
     0, 5, 1, 0, -1, 0, &sync_group_request_sync_group_request_assignment_desc},
};
const struct wire_desc sync_group_request_desc = {
    "SyncGroupRequest", sync_group_request_fields, 7, sizeof(struct sync_group_request), 0, 5, 4,
};

static const struct wire_field sync_group_response_fields[] = {
    {"ThrottleTimeMs", offsetof(struct sync_group_response, throttle_time_ms), WIRE_INT32, WIRE_IGNORABLE,
     1, 5, 1, 0, -1, 0, NULL},
    {"ErrorCode", offsetof(struct sync_group_response, error_code), WIRE_INT16, 0,
     0, 5, 1, 0, -1, 0, NULL},
    {"ProtocolType", offsetof(struct sync_group_response, protocol_type), WIRE_STRING, WIRE_IGNORABLE | WIRE_DEFAULT_NULL | WIRE_NULLABLE,
     5, 5, 5, 5, -1, 0, NULL},
    {"ProtocolName", offsetof(struct sync_group_response, protocol_name), WIRE_STRING, WIRE_IGNORABLE | WIRE_DEFAULT_NULL | WIRE_NULLABLE,
     5, 5, 5, 5, -1, 0, NULL},
    {"Assignment", offsetof(struct sync_group_response, assignment), WIRE_BYTES, 0,
     0, 5, 1, 0, -1, 0, NULL},
};
const struct wire_desc sync_group_response_desc = {
    "SyncGroupResponse", sync_group_response_fields, 5, sizeof(struct sync_group_response), 0, 5, 4,
};

static const struct wire_field describe_groups_request_fields[] = {
    {"Groups", offsetof(struct describe_groups_request, groups), WIRE_STRING, WIRE_ARRAY,
     0, 5, 1, 0, -1, 0, NULL},
    {"IncludeAuthorizedOperations", offsetof(struct describe_groups_request, include_authorized_operations), WIRE_BOOL, 0,
     3, 5, 1, 0, -1, 0, NULL},
};
const struct wire_desc describe_groups_request_desc = {
    "DescribeGroupsRequest", describe_groups_request_fields, 2, sizeof(struct describe_groups_request), 0, 5, 5,
};

static const struct wire_field describe_groups_response_described_group_member_fields[] = {
    {"MemberId", offsetof(struct describe_groups_response_described_group_member, member_id), WIRE_STRING, 0,
     0, 5, 1, 0, -1, 0, NULL},
    {"GroupInstanceId", offsetof(struct describe_groups_response_described_group_member, group_instance_id), WIRE_STRING, WIRE_IGNORABLE | WIRE_DEFAULT_NULL | WIRE_NULLABLE,
     4, 5, 4, 5, -1, 0, NULL},
    {"ClientId", offsetof(struct describe_groups_response_described_group_member, client_id), WIRE_STRING, 0,
     0, 5, 1, 0, -1, 0, NULL},
    {"ClientHost", offsetof(struct describe_groups_response_described_group_member, client_host), WIRE_STRING, 0,
     0, 5, 1, 0, -1, 0, NULL},
    {"MemberMetadata", offsetof(struct describe_groups_response_described_group_member, member_metadata), WIRE_BYTES, 0,
     0, 5, 1, 0, -1, 0, NULL},
    {"MemberAssignment", offsetof(struct describe_groups_response_described_group_member, member_assignment), WIRE_BYTES, 0,
     0, 5, 1, 0, -1, 0, NULL},
};
const struct wire_desc describe_groups_response_described_group_member_desc = {
    "DescribedGroupMember", describe_groups_response_described_group_member_fields, 6, sizeof(struct describe_groups_response_described_group_member), 0, 5, 5,
};

static const struct wire_field describe_groups_response_described_group_fields[] = {
    {"ErrorCode", offsetof(struct describe_groups_response_described_group, error_code), WIRE_INT16, 0,
     0, 5, 1, 0, -1, 0, NULL},
    {"GroupId", offsetof(struct describe_groups_response_described_group, group_id), WIRE_STRING, 0,
     0, 5, 1, 0, -1, 0, NULL},
    {"GroupState", offsetof(struct describe_groups_response_described_group, group_state), WIRE_STRING, 0,
     0, 5, 1, 0, -1, 0, NULL},
    {"ProtocolType", offsetof(struct describe_groups_response_described_group, protocol_type), WIRE_STRING, 0,
     0, 5, 1, 0, -1, 0, NULL},
    {"ProtocolData", offsetof(struct describe_groups_response_described_group, protocol_data), WIRE_STRING, 0,
     0, 5, 1, 0, -1, 0, NULL},
    {"Members", offsetof(struct describe_groups_response_described_group, members), WIRE_STRUCT, WIRE_ARRAY,
     0, 5, 1, 0, -1, 0, &describe_groups_response_described_group_member_desc},
    {"AuthorizedOperations", offsetof(struct describe_groups_response_described_group, authorized_operations), WIRE_INT32, 0,
     3, 5, 1, 0, -1, -2147483648, NULL},
};
const struct wire_desc describe_groups_response_described_group_desc = {
    "DescribedGroup", describe_groups_response_described_group_fields, 7, sizeof(struct describe_groups_response_described_group), 0, 5, 5,
};

static const struct wire_field describe_groups_response_fields[] = {
    {"ThrottleTimeMs", offsetof(struct describe_groups_response, throttle_time_ms), WIRE_INT32, WIRE_IGNORABLE,
     1, 5, 1, 0, -1, 0, NULL},
    {"Groups", offsetof(struct describe_groups_response, groups), WIRE_STRUCT, WIRE_ARRAY,
     0, 5, 1, 0, -1, 0, &describe_groups_response_described_group_desc},
};
const struct wire_desc describe_groups_response_desc = {
    "DescribeGroupsResponse", describe_groups_response_fields, 2, sizeof(struct describe_groups_response), 0, 5, 5,
};

static const struct wire_field list_groups_request_fields[] = {
    {"StatesFilter", offsetof(struct list_groups_request, states_filter), WIRE_STRING, WIRE_ARRAY,
     4, 4, 1, 0, -1, 0, NULL},
};
const struct wire_desc list_groups_request_desc = {
    "ListGroupsRequest", list_groups_request_fields, 1, sizeof(struct list_groups_request), 0, 4, 3,
};

static const struct wire_field list_groups_response_listed_group_fields[] = {
    {"GroupId", offsetof(struct list_groups_response_listed_group, group_id), WIRE_STRING, 0,
     0, 4, 1, 0, -1, 0, NULL},
    {"ProtocolType", offsetof(struct list_groups_response_listed_group, protocol_type), WIRE_STRING, 0,
     0, 4, 1, 0, -1, 0, NULL},
    {"GroupState", offsetof(struct list_groups_response_listed_group, group_state), WIRE_STRING, WIRE_IGNORABLE,
     4, 4, 1, 0, -1, 0, NULL},
};
const struct wire_desc list_groups_response_listed_group_desc = {
    "ListedGroup", list_groups_response_listed_group_fields, 3, sizeof(struct list_groups_response_listed_group), 0, 4, 3,
};

static const struct wire_field list_groups_response_fields[] = {
    {"ThrottleTimeMs", offsetof(struct list_groups_response, throttle_time_ms), WIRE_INT32, WIRE_IGNORABLE,
     1, 4, 1, 0, -1, 0, NULL},
    {"ErrorCode", offsetof(struct list_groups_response, error_code), WIRE_INT16, 0,
     0, 4, 1, 0, -1, 0, NULL},
    {"Groups", offsetof(struct list_groups_response, groups), WIRE_STRUCT, WIRE_ARRAY,
     0, 4, 1, 0, -1, 0, &list_groups_response_listed_group_desc},
};
const struct wire_desc list_groups_response_desc = {
    "ListGroupsResponse", list_groups_response_fields, 3, sizeof(struct list_groups_response), 0, 4, 3,
};

static const struct wire_field api_versions_request_fields[] = {
    {"ClientSoftwareName", offsetof(struct api_versions_request, client_software_name), WIRE_STRING, WIRE_IGNORABLE,
     3, 4, 1, 0, -1, 0, NULL},
    {"ClientSoftwareVersion", offsetof(struct api_versions_request, client_software_version), WIRE_STRING, WIRE_IGNORABLE,
     3, 4, 1, 0, -1, 0, NULL},
};
const struct wire_desc api_versions_request_desc = {
    "ApiVersionsRequest", api_versions_request_fields, 2, sizeof(struct api_versions_request), 0, 4, 3,
};

static const struct wire_field api_versions_response_api_version_fields[] = {
    {"ApiKey", offsetof(struct api_versions_response_api_version, api_key), WIRE_INT16, 0,
     0, 4, 1, 0, -1, 0, NULL},
    {"MinVersion", offsetof(struct api_versions_response_api_version, min_version), WIRE_INT16, 0,
     0, 4, 1, 0, -1, 0, NULL},
    {"MaxVersion", offsetof(struct api_versions_response_api_version, max_version), WIRE_INT16, 0,
     0, 4, 1, 0, -1, 0, NULL},
};
const struct wire_desc api_versions_response_api_version_desc = {
    "ApiVersion", api_versions_response_api_version_fields, 3, sizeof(struct api_versions_response_api_version), 0, 4, 3,
};

static const struct wire_field api_versions_response_supported_feature_key_fields[] = {
    {"Name", offsetof(struct api_versions_response_supported_feature_key, name), WIRE_STRING, 0,
     3, 4, 1, 0, -1, 0, NULL},
    {"MinVersion", offsetof(struct api_versions_response_supported_feature_key, min_version), WIRE_INT16, 0,
     3, 4, 1, 0, -1, 0, NULL},
    {"MaxVersion", offsetof(struct api_versions_response_supported_feature_key, max_version), WIRE_INT16, 0,
     3, 4, 1, 0, -1, 0, NULL},
};
const struct wire_desc api_versions_response_supported_feature_key_desc = {
    "SupportedFeatureKey", api_versions_response_supported_feature_key_fields, 3, sizeof(struct api_versions_response_supported_feature_key), 3, 4, 3,
};

static const struct wire_field api_versions_response_finalized_feature_key_fields[] = {
    {"Name", offsetof(struct api_versions_response_finalized_feature_key, name), WIRE_STRING, 0,
     3, 4, 1, 0, -1, 0, NULL},
    {"MaxVersionLevel", offsetof(struct api_versions_response_finalized_feature_key, max_version_level), WIRE_INT16, 0,
     3, 4, 1, 0, -1, 0, NULL},
    {"MinVersionLevel", offsetof(struct api_versions_response_finalized_feature_key, min_version_level), WIRE_INT16, 0,
     3, 4, 1, 0, -1, 0, NULL},
};
const struct wire_desc api_versions_response_finalized_feature_key_desc = {
    "FinalizedFeatureKey", api_versions_response_finalized_feature_key_fields, 3, sizeof(struct api_versions_response_finalized_feature_key), 3, 4, 3,
};

static const struct wire_field api_versions_response_fields[] = {
    {"ErrorCode", offsetof(struct api_versions_response, error_code), WIRE_INT16, 0,
     0, 4, 1, 0, -1, 0, NULL},
    {"ApiKeys", offsetof(struct api_versions_response, api_keys), WIRE_STRUCT, WIRE_ARRAY,
     0, 4, 1, 0, -1, 0, &api_versions_response_api_version_desc},
    {"ThrottleTimeMs", offsetof(struct api_versions_response, throttle_time_ms), WIRE_INT32, WIRE_IGNORABLE,
     1, 4, 1, 0, -1, 0, NULL},
    {"SupportedFeatures", offsetof(struct api_versions_response, supported_features), WIRE_STRUCT, WIRE_ARRAY | WIRE_IGNORABLE,
     3, 4, 1, 0, 0, 0, &api_versions_response_supported_feature_key_desc},
    {"FinalizedFeaturesEpoch", offsetof(struct api_versions_response, finalized_features_epoch), WIRE_INT64, WIRE_IGNORABLE,
     3, 4, 1, 0, 1, -1, NULL},
    {"FinalizedFeatures", offsetof(struct api_versions_response, finalized_features), WIRE_STRUCT, WIRE_ARRAY | WIRE_IGNORABLE,
     3, 4, 1, 0, 2, 0, &api_versions_response_finalized_feature_key_desc},
    {"ZkMigrationReady", offsetof(struct api_versions_response, zk_migration_ready), WIRE_BOOL, WIRE_IGNORABLE,
     3, 4, 1, 0, 3, 0, NULL},
};
const struct wire_desc api_versions_response_desc = {
    "ApiVersionsResponse", api_versions_response_fields, 7, sizeof(struct api_versions_response), 0, 4, 3,
};

static const struct wire_field create_topics_request_creatable_replica_assignment_fields[] = {
    {"PartitionIndex", offsetof(struct create_topics_request_creatable_replica_assignment, partition_index), WIRE_INT32, 0,
     2, 7, 1, 0, -1, 0, NULL},
    {"BrokerIds", offsetof(struct create_topics_request_creatable_replica_assignment, broker_ids), WIRE_INT32, WIRE_ARRAY,
     2, 7, 1, 0, -1, 0, NULL},
};
const struct wire_desc create_topics_request_creatable_replica_assignment_desc = {
    "CreatableReplicaAssignment", create_topics_request_creatable_replica_assignment_fields, 2, sizeof(struct create_topics_request_creatable_replica_assignment), 2, 7, 5,
};

static const struct wire_field create_topics_request_creatable_topic_config_fields[] = {
    {"Name", offsetof(struct create_topics_request_creatable_topic_config, name), WIRE_STRING, 0,
     2, 7, 1, 0, -1, 0, NULL},
    {"Value", offsetof(struct create_topics_request_creatable_topic_config, value), WIRE_STRING, WIRE_NULLABLE,
     2, 7, 2, 7, -1, 0, NULL},
};
const struct wire_desc create_topics_request_creatable_topic_config_desc = {
    "CreatableTopicConfig", create_topics_request_creatable_topic_config_fields, 2, sizeof(struct create_topics_request_creatable_topic_config), 2, 7, 5,
};

static const struct wire_field create_topics_request_creatable_topic_fields[] = {
    {"Name", offsetof(struct create_topics_request_creatable_topic, name), WIRE_STRING, 0,
     2, 7, 1, 0, -1, 0, NULL},
    {"NumPartitions", offsetof(struct create_topics_request_creatable_topic, num_partitions), WIRE_INT32, 0,
     2, 7, 1, 0, -1, 0, NULL},
    {"ReplicationFactor", offsetof(struct create_topics_request_creatable_topic, replication_factor), WIRE_INT16, 0,
     2, 7, 1, 0, -1, 0, NULL},
    {"Assignments", offsetof(struct create_topics_request_creatable_topic, assignments), WIRE_STRUCT, WIRE_ARRAY,
     2, 7, 1, 0, -1, 0, &create_topics_request_creatable_replica_assignment_desc},
    {"Configs", offsetof(struct create_topics_request_creatable_topic, configs), WIRE_STRUCT, WIRE_ARRAY,
     2, 7, 1, 0, -1, 0, &create_topics_request_creatable_topic_config_desc},
};
const struct wire_desc create_topics_request_creatable_topic_desc = {
    "CreatableTopic", create_topics_request_creatable_topic_fields, 5, sizeof(struct create_topics_request_creatable_topic), 2, 7, 5,
};

static const struct wire_field create_topics_request_fields[] = {
    {"Topics", offsetof(struct create_topics_request, topics), WIRE_STRUCT, WIRE_ARRAY,
     2, 7, 1, 0, -1, 0, &create_topics_request_creatable_topic_desc},
    {"timeoutMs", offsetof(struct create_topics_request, timeout_ms), WIRE_INT32, 0,
     2, 7, 1, 0, -1, 60000, NULL},
    {"validateOnly", offsetof(struct create_topics_request, validate_only), WIRE_BOOL, 0,
     2, 7, 1, 0, -1, 0, NULL},
};
const struct wire_desc create_topics_request_desc = {
    "CreateTopicsRequest", create_topics_request_fields, 3, sizeof(struct create_topics_request), 2, 7, 5,
};

static const struct wire_field create_topics_response_creatable_topic_configs_fields[] = {
    {"Name", offsetof(struct create_topics_response_creatable_topic_configs, name), WIRE_STRING, 0,
     5, 7, 1, 0, -1, 0, NULL},
    {"Value", offsetof(struct create_topics_response_creatable_topic_configs, value), WIRE_STRING, WIRE_NULLABLE,
     5, 7, 5, 7, -1, 0, NULL},
    {"ReadOnly", offsetof(struct create_topics_response_creatable_topic_configs, read_only), WIRE_BOOL, 0,
     5, 7, 1, 0, -1, 0, NULL},
    {"ConfigSource", offsetof(struct create_topics_response_creatable_topic_configs, config_source), WIRE_INT8, WIRE_IGNORABLE,
     5, 7, 1, 0, -1, -1, NULL},
    {"IsSensitive", offsetof(struct create_topics_response_creatable_topic_configs, is_sensitive), WIRE_BOOL, 0,
     5, 7, 1, 0, -1, 0, NULL},
};
const struct wire_desc create_topics_response_creatable_topic_configs_desc = {
    "CreatableTopicConfigs", create_topics_response_creatable_topic_configs_fields, 5, sizeof(struct create_topics_response_creatable_topic_configs), 5, 7, 5,
};

static const struct wire_field create_topics_response_creatable_topic_result_fields[] = {
    {"Name", offsetof(struct create_topics_response_creatable_topic_result, name), WIRE_STRING, 0,
     2, 7, 1, 0, -1, 0, NULL},
    {"TopicId", offsetof(struct create_topics_response_creatable_topic_result, topic_id), WIRE_UUID, WIRE_IGNORABLE,
     7, 7, 1, 0, -1, 0, NULL},
    {"ErrorCode", offsetof(struct create_topics_response_creatable_topic_result, error_code), WIRE_INT16, 0,
     2, 7, 1, 0, -1, 0, NULL},
    {"ErrorMessage", offsetof(struct create_topics_response_creatable_topic_result, error_message), WIRE_STRING, WIRE_IGNORABLE | WIRE_NULLABLE,
     2, 7, 2, 7, -1, 0, NULL},
    {"NumPartitions", offsetof(struct create_topics_response_creatable_topic_result, num_partitions), WIRE_INT32, WIRE_IGNORABLE,
     5, 7, 1, 0, -1, -1, NULL},
    {"ReplicationFactor", offsetof(struct create_topics_response_creatable_topic_result, replication_factor), WIRE_INT16, WIRE_IGNORABLE,
     5, 7, 1, 0, -1, -1, NULL},
    {"Configs", offsetof(struct create_topics_response_creatable_topic_result, configs), WIRE_STRUCT, WIRE_ARRAY | WIRE_IGNORABLE | WIRE_NULLABLE,
     5, 7, 5, 7, -1, 0, &create_topics_response_creatable_topic_configs_desc},
    {"TopicConfigErrorCode", offsetof(struct create_topics_response_creatable_topic_result, topic_config_error_code), WIRE_INT16, WIRE_IGNORABLE,
     5, 7, 1, 0, 0, 0, NULL},
};
const struct wire_desc create_topics_response_creatable_topic_result_desc = {
    "CreatableTopicResult", create_topics_response_creatable_topic_result_fields, 8, sizeof(struct create_topics_response_creatable_topic_result), 2, 7, 5,
};

static const struct wire_field create_topics_response_fields[] = {
    {"ThrottleTimeMs", offsetof(struct create_topics_response, throttle_time_ms), WIRE_INT32, WIRE_IGNORABLE,
     2, 7, 1, 0, -1, 0, NULL},
    {"Topics", offsetof(struct create_topics_response, topics), WIRE_STRUCT, WIRE_ARRAY,
     2, 7, 1, 0, -1, 0, &create_topics_response_creatable_topic_result_desc},
};
const struct wire_desc create_topics_response_desc = {
    "CreateTopicsResponse", create_topics_response_fields, 2, sizeof(struct create_topics_response), 2, 7, 5,
};

static const struct wire_field delete_topics_request_delete_topic_state_fields[] = {
    {"Name", offsetof(struct delete_topics_request_delete_topic_state, name), WIRE_STRING, WIRE_DEFAULT_NULL | WIRE_NULLABLE,
     6, 6, 6, 6, -1, 0, NULL},
    {"TopicId", offsetof(struct delete_topics_request_delete_topic_state, topic_id), WIRE_UUID, 0,
     6, 6, 1, 0, -1, 0, NULL},
};
const struct wire_desc delete_topics_request_delete_topic_state_desc = {
    "DeleteTopicState", delete_topics_request_delete_topic_state_fields, 2, sizeof(struct delete_topics_request_delete_topic_state), 6, 6, 4,
};

static const struct wire_field delete_topics_request_fields[] = {
    {"Topics", offsetof(struct delete_topics_request, topics), WIRE_STRUCT, WIRE_ARRAY,
     6, 6, 1, 0, -1, 0, &delete_topics_request_delete_topic_state_desc},
    {"TopicNames", offsetof(struct delete_topics_request, topic_names), WIRE_STRING, WIRE_ARRAY | WIRE_IGNORABLE,
     1, 5, 1, 0, -1, 0, NULL},
    {"TimeoutMs", offsetof(struct delete_topics_request, timeout_ms), WIRE_INT32, 0,
     1, 6, 1, 0, -1, 0, NULL},
};
const struct wire_desc delete_topics_request_desc = {
    "DeleteTopicsRequest", delete_topics_request_fields, 3, sizeof(struct delete_topics_request), 1, 6, 4,
};

static const struct wire_field delete_topics_response_deletable_topic_result_fields[] = {
    {"Name", offsetof(struct delete_topics_response_deletable_topic_result, name), WIRE_STRING, WIRE_NULLABLE,
     1, 6, 6, 6, -1, 0, NULL},
    {"TopicId", offsetof(struct delete_topics_response_deletable_topic_result, topic_id), WIRE_UUID, WIRE_IGNORABLE,
     6, 6, 1, 0, -1, 0, NULL},
    {"ErrorCode", offsetof(struct delete_topics_response_deletable_topic_result, error_code), WIRE_INT16, 0,
     1, 6, 1, 0, -1, 0, NULL},
    {"ErrorMessage", offsetof(struct delete_topics_response_deletable_topic_result, error_message), WIRE_STRING, WIRE_IGNORABLE | WIRE_DEFAULT_NULL | WIRE_NULLABLE,
     5, 6, 5, 6, -1, 0, NULL},
};
const struct wire_desc delete_topics_response_deletable_topic_result_desc = {
    "DeletableTopicResult", delete_topics_response_deletable_topic_result_fields, 4, sizeof(struct delete_topics_response_deletable_topic_result), 1, 6, 4,
};

static const struct wire_field delete_topics_response_fields[] = {
    {"ThrottleTimeMs", offsetof(struct delete_topics_response, throttle_time_ms), WIRE_INT32, WIRE_IGNORABLE,
     1, 6, 1, 0, -1, 0, NULL},
    {"Responses", offsetof(struct delete_topics_response, responses), WIRE_STRUCT, WIRE_ARRAY,
     1, 6, 1, 0, -1, 0, &delete_topics_response_deletable_topic_result_desc},
};
const struct wire_desc delete_topics_response_desc = {
    "DeleteTopicsResponse", delete_topics_response_fields, 2, sizeof(struct delete_topics_response), 1, 6, 4,
};

static const struct wire_field delete_records_request_delete_records_partition_fields[] = {
    {"PartitionIndex", offsetof(struct delete_records_request_delete_records_partition, partition_index), WIRE_INT32, 0,
     0, 2, 1, 0, -1, 0, NULL},
    {"Offset", offsetof(struct delete_records_request_delete_records_partition, offset), WIRE_INT64, 0,
     0, 2, 1, 0, -1, 0, NULL},
};
const struct wire_desc delete_records_request_delete_records_partition_desc = {
    "DeleteRecordsPartition", delete_records_request_delete_records_partition_fields, 2, sizeof(struct delete_records_request_delete_records_partition), 0, 2, 2,
};

static const struct wire_field delete_records_request_delete_records_topic_fields[] = {
    {"Name", offsetof(struct delete_records_request_delete_records_topic, name), WIRE_STRING, 0,
     0, 2, 1, 0, -1, 0, NULL},
    {"Partitions", offsetof(struct delete_records_request_delete_records_topic, partitions), WIRE_STRUCT, WIRE_ARRAY,
     0, 2, 1, 0, -1, 0, &delete_records_request_delete_records_partition_desc},
};
const struct wire_desc delete_records_request_delete_records_topic_desc = {
    "DeleteRecordsTopic", delete_records_request_delete_records_topic_fields, 2, sizeof(struct delete_records_request_delete_records_topic), 0, 2, 2,
};

static const struct wire_field delete_records_request_fields[] = {
    {"Topics", offsetof(struct delete_records_request, topics), WIRE_STRUCT, WIRE_ARRAY,
     0, 2, 1, 0, -1, 0, &delete_records_request_delete_records_topic_desc},
    {"TimeoutMs", offsetof(struct delete_records_request, timeout_ms), WIRE_INT32, 0,
     0, 2, 1, 0, -1, 0, NULL},
};
const struct wire_desc delete_records_request_desc = {
    "DeleteRecordsRequest", delete_records_request_fields, 2, sizeof(struct delete_records_request), 0, 2, 2,
};

static const struct wire_field delete_records_response_delete_records_partition_result_fields[] = {
    {"PartitionIndex", offsetof(struct delete_records_response_delete_records_partition_result, partition_index), WIRE_INT32, 0,
     0, 2, 1, 0, -1, 0, NULL},
    {"LowWatermark", offsetof(struct delete_records_response_delete_records_partition_result, low_watermark), WIRE_INT64, 0,
     0, 2, 1, 0, -1, 0, NULL},
    {"ErrorCode", offsetof(struct delete_records_response_delete_records_partition_result, error_code), WIRE_INT16, 0,
     0, 2, 1, 0, -1, 0, NULL},
};
const struct wire_desc delete_records_response_delete_records_partition_result_desc = {
    "DeleteRecordsPartitionResult", delete_records_response_delete_records_partition_result_fields, 3, sizeof(struct delete_records_response_delete_records_partition_result), 0, 2, 2,
};

static const struct wire_field delete_records_response_delete_records_topic_result_fields[] = {
    {"Name", offsetof(struct delete_records_response_delete_records_topic_result, name), WIRE_STRING, 0,
     0, 2, 1, 0, -1, 0, NULL},
    {"Partitions", offsetof(struct delete_records_response_delete_records_topic_result, partitions), WIRE_STRUCT, WIRE_ARRAY,
     0, 2, 1, 0, -1, 0, &delete_records_response_delete_records_partition_result_desc},
};
const struct wire_desc delete_records_response_delete_records_topic_result_desc = {
    "DeleteRecordsTopicResult", delete_records_response_delete_records_topic_result_fields, 2, sizeof(struct delete_records_response_delete_records_topic_result), 0, 2, 2,
};

static const struct wire_field delete_records_response_fields[] = {
    {"ThrottleTimeMs", offsetof(struct delete_records_response, throttle_time_ms), WIRE_INT32, 0,
     0, 2, 1, 0, -1, 0, NULL},
    {"Topics", offsetof(struct delete_records_response, topics), WIRE_STRUCT, WIRE_ARRAY,
     0, 2, 1, 0, -1, 0, &delete_records_response_delete_records_topic_result_desc},
};
const struct wire_desc delete_records_response_desc = {
    "DeleteRecordsResponse", delete_records_response_fields, 2, sizeof(struct delete_records_response), 0, 2, 2,
};

static const struct wire_field init_producer_id_request_fields[] = {
    {"TransactionalId", offsetof(struct init_producer_id_request, transactional_id), WIRE_STRING, WIRE_NULLABLE,
     0, 5, 0, 5, -1, 0, NULL},
    {"TransactionTimeoutMs", offsetof(struct init_producer_id_request, transaction_timeout_ms), WIRE_INT32, 0,
     0, 5, 1, 0, -1, 0, NULL},
    {"ProducerId", offsetof(struct init_producer_id_request, producer_id), WIRE_INT64, 0,
     3, 5, 1, 0, -1, -1, NULL},
    {"ProducerEpoch", offsetof(struct init_producer_id_request, producer_epoch), WIRE_INT16, 0,
     3, 5, 1, 0, -1, -1, NULL},
};
const struct wire_desc init_producer_id_request_desc = {
    "InitProducerIdRequest", init_producer_id_request_fields, 4, sizeof(struct init_producer_id_request), 0, 5, 2,
};

static const struct wire_field init_producer_id_response_fields[] = {
    {"ThrottleTimeMs", offsetof(struct init_producer_id_response, throttle_time_ms), WIRE_INT32, WIRE_IGNORABLE,
     0, 5, 1, 0, -1, 0, NULL},
    {"ErrorCode", offsetof(struct init_producer_id_response, error_code), WIRE_INT16, 0,
     0, 5, 1, 0, -1, 0, NULL},
    {"ProducerId", offsetof(struct init_producer_id_response, producer_id), WIRE_INT64, 0,
     0, 5, 1, 0, -1, -1, NULL},
    {"ProducerEpoch", offsetof(struct init_producer_id_response, producer_epoch), WIRE_INT16, 0,
     0, 5, 1, 0, -1, 0, NULL},
};
const struct wire_desc init_producer_id_response_desc = {
    "InitProducerIdResponse", init_producer_id_response_fields, 4, sizeof(struct init_producer_id_response), 0, 5, 2,
};

static const struct wire_field offset_for_leader_epoch_request_offset_for_leader_partition_fields[] = {
    {"Partition", offsetof(struct offset_for_leader_epoch_request_offset_for_leader_partition, partition), WIRE_INT32, 0,
     2, 4, 1, 0, -1, 0, NULL},
    {"CurrentLeaderEpoch", offsetof(struct offset_for_leader_epoch_request_offset_for_leader_partition, current_leader_epoch), WIRE_INT32, WIRE_IGNORABLE,
     2, 4, 1, 0, -1, -1, NULL},
    {"LeaderEpoch", offsetof(struct offset_for_leader_epoch_request_offset_for_leader_partition, leader_epoch), WIRE_INT32, 0,
     2, 4, 1, 0, -1, 0, NULL},
};
const struct wire_desc offset_for_leader_epoch_request_offset_for_leader_partition_desc = {
    "OffsetForLeaderPartition", offset_for_leader_epoch_request_offset_for_leader_partition_fields, 3, sizeof(struct offset_for_leader_epoch_request_offset_for_leader_partition), 2, 4, 4,
};

static const struct wire_field offset_for_leader_epoch_request_offset_for_leader_topic_fields[] = {
    {"Topic", offsetof(struct offset_for_leader_epoch_request_offset_for_leader_topic, topic), WIRE_STRING, 0,
     2, 4, 1, 0, -1, 0, NULL},
    {"Partitions", offsetof(struct offset_for_leader_epoch_request_offset_for_leader_topic, partitions), WIRE_STRUCT, WIRE_ARRAY,
     2, 4, 1, 0, -1, 0, &offset_for_leader_epoch_request_offset_for_leader_partition_desc},
};
const struct wire_desc offset_for_leader_epoch_request_offset_for_leader_topic_desc = {
    "OffsetForLeaderTopic", offset_for_leader_epoch_request_offset_for_leader_topic_fields, 2, sizeof(struct offset_for_leader_epoch_request_offset_for_leader_topic), 2, 4, 4,
};

static const struct wire_field offset_for_leader_epoch_request_fields[] = {
    {"ReplicaId", offsetof(struct offset_for_leader_epoch_request, replica_id), WIRE_INT32, WIRE_IGNORABLE,
     3, 4, 1, 0, -1, -2, NULL},
    {"Topics", offsetof(struct offset_for_leader_epoch_request, topics), WIRE_STRUCT, WIRE_ARRAY,
     2, 4, 1, 0, -1, 0, &offset_for_leader_epoch_request_offset_for_leader_topic_desc},
};
const struct wire_desc offset_for_leader_epoch_request_desc = {
    "OffsetForLeaderEpochRequest", offset_for_leader_epoch_request_fields, 2, sizeof(struct offset_for_leader_epoch_request), 2, 4, 4,
};

static const struct wire_field offset_for_leader_epoch_response_epoch_end_offset_fields[] = {
    {"ErrorCode", offsetof(struct offset_for_leader_epoch_response_epoch_end_offset, error_code), WIRE_INT16, 0,
     2, 4, 1, 0, -1, 0, NULL},
    {"Partition", offsetof(struct offset_for_leader_epoch_response_epoch_end_offset, partition), WIRE_INT32, 0,
     2, 4, 1, 0, -1, 0, NULL},
    {"LeaderEpoch", offsetof(struct offset_for_leader_epoch_response_epoch_end_offset, leader_epoch), WIRE_INT32, WIRE_IGNORABLE,
     2, 4, 1, 0, -1, -1, NULL},
    {"EndOffset", offsetof(struct offset_for_leader_epoch_response_epoch_end_offset, end_offset), WIRE_INT64, 0,
     2, 4, 1, 0, -1, -1, NULL},
};
const struct wire_desc offset_for_leader_epoch_response_epoch_end_offset_desc = {
    "EpochEndOffset", offset_for_leader_epoch_response_epoch_end_offset_fields, 4, sizeof(struct offset_for_leader_epoch_response_epoch_end_offset), 2, 4, 4,
};

static const struct wire_field offset_for_leader_epoch_response_offset_for_leader_topic_result_fields[] = {
    {"Topic", offsetof(struct offset_for_leader_epoch_response_offset_for_leader_topic_result, topic), WIRE_STRING, 0,
     2, 4, 1, 0, -1, 0, NULL},
    {"Partitions", offsetof(struct offset_for_leader_epoch_response_offset_for_leader_topic_result, partitions), WIRE_STRUCT, WIRE_ARRAY,
     2, 4, 1, 0, -1, 0, &offset_for_leader_epoch_response_epoch_end_offset_desc},
};
const struct wire_desc offset_for_leader_epoch_response_offset_for_leader_topic_result_desc = {
    "OffsetForLeaderTopicResult", offset_for_leader_epoch_response_offset_for_leader_topic_result_fields, 2, sizeof(struct offset_for_leader_epoch_response_offset_for_leader_topic_result), 2, 4, 4,
};

static const struct wire_field offset_for_leader_epoch_response_fields[] = {
    {"ThrottleTimeMs", offsetof(struct offset_for_leader_epoch_response, throttle_time_ms), WIRE_INT32, WIRE_IGNORABLE,
     2, 4, 1, 0, -1, 0, NULL},
    {"Topics", offsetof(struct offset_for_leader_epoch_response, topics), WIRE_STRUCT, WIRE_ARRAY,
     2, 4, 1, 0, -1, 0, &offset_for_leader_epoch_response_offset_for_leader_topic_result_desc},
};
const struct wire_desc offset_for_leader_epoch_response_desc = {
    "OffsetForLeaderEpochResponse", offset_for_leader_epoch_response_fields, 2, sizeof(struct offset_for_leader_epoch_response), 2, 4, 4,
};

static const struct wire_field add_partitions_to_txn_request_add_partitions_to_txn_topic_fields[] = {
    {"Name", offsetof(struct add_partitions_to_txn_request_add_partitions_to_txn_topic, name), WIRE_STRING, 0,
     0, 3, 1, 0, -1, 0, NULL},
    {"Partitions", offsetof(struct add_partitions_to_txn_request_add_partitions_to_txn_topic, partitions), WIRE_INT32, WIRE_ARRAY,
     0, 3, 1, 0, -1, 0, NULL},
};
const struct wire_desc add_partitions_to_txn_request_add_partitions_to_txn_topic_desc = {
    "AddPartitionsToTxnTopic", add_partitions_to_txn_request_add_partitions_to_txn_topic_fields, 2, sizeof(struct add_partitions_to_txn_request_add_partitions_to_txn_topic), 0, 3, 3,
};

static const struct wire_field add_partitions_to_txn_request_fields[] = {
    {"V3AndBelowTransactionalId", offsetof(struct add_partitions_to_txn_request, v3_and_below_transactional_id), WIRE_STRING, 0,
     0, 3, 1, 0, -1, 0, NULL},
    {"V3AndBelowProducerId", offsetof(struct add_partitions_to_txn_request, v3_and_below_producer_id), WIRE_INT64, 0,
     0, 3, 1, 0, -1, 0, NULL},
    {"V3AndBelowProducerEpoch", offsetof(struct add_partitions_to_txn_request, v3_and_below_producer_epoch), WIRE_INT16, 0,
     0, 3, 1, 0, -1, 0, NULL},
    {"V3AndBelowTopics", offsetof(struct add_partitions_to_txn_request, v3_and_below_topics), WIRE_STRUCT, WIRE_ARRAY,
     0, 3, 1, 0, -1, 0, &add_partitions_to_txn_request_add_partitions_to_txn_topic_desc},
};
const struct wire_desc add_partitions_to_txn_request_desc = {
    "AddPartitionsToTxnRequest", add_partitions_to_txn_request_fields, 4, sizeof(struct add_partitions_to_txn_request), 0, 3, 3,
};

static const struct wire_field add_partitions_to_txn_response_add_partitions_to_txn_partition_result_fields[] = {
    {"PartitionIndex", offsetof(struct add_partitions_to_txn_response_add_partitions_to_txn_partition_result, partition_index), WIRE_INT32, 0,
     0, 3, 1, 0, -1, 0, NULL},
    {"PartitionErrorCode", offsetof(struct add_partitions_to_txn_response_add_partitions_to_txn_partition_result, partition_error_code), WIRE_INT16, 0,
     0, 3, 1, 0, -1, 0, NULL},
};
const struct wire_desc add_partitions_to_txn_response_add_partitions_to_txn_partition_result_desc = {
    "AddPartitionsToTxnPartitionResult", add_partitions_to_txn_response_add_partitions_to_txn_partition_result_fields, 2, sizeof(struct add_partitions_to_txn_response_add_partitions_to_txn_partition_result), 0, 3, 3,
};

static const struct wire_field add_partitions_to_txn_response_add_partitions_to_txn_topic_result_fields[] = {
    {"Name", offsetof(struct add_partitions_to_txn_response_add_partitions_to_txn_topic_result, name), WIRE_STRING, 0,
     0, 3, 1, 0, -1, 0, NULL},
    {"ResultsByPartition", offsetof(struct add_partitions_to_txn_response_add_partitions_to_txn_topic_result, results_by_partition), WIRE_STRUCT, WIRE_ARRAY,
     0, 3, 1, 0, -1, 0, &add_partitions_to_txn_response_add_partitions_to_txn_partition_result_desc},
};
const struct wire_desc add_partitions_to_txn_response_add_partitions_to_txn_topic_result_desc = {
    "AddPartitionsToTxnTopicResult", add_partitions_to_txn_response_add_partitions_to_txn_topic_result_fields, 2, sizeof(struct add_partitions_to_txn_response_add_partitions_to_txn_topic_result), 0, 3, 3,
};

static const struct wire_field add_partitions_to_txn_response_fields[] = {
    {"ThrottleTimeMs", offsetof(struct add_partitions_to_txn_response, throttle_time_ms), WIRE_INT32, 0,
     0, 3, 1, 0, -1, 0, NULL},
    {"ResultsByTopicV3AndBelow", offsetof(struct add_partitions_to_txn_response, results_by_topic_v3_and_below), WIRE_STRUCT, WIRE_ARRAY,
     0, 3, 1, 0, -1, 0, &add_partitions_to_txn_response_add_partitions_to_txn_topic_result_desc},
};
const struct wire_desc add_partitions_to_txn_response_desc = {
    "AddPartitionsToTxnResponse", add_partitions_to_txn_response_fields, 2, sizeof(struct add_partitions_to_txn_response), 0, 3, 3,
};

static const struct wire_field add_offsets_to_txn_request_fields[] = {
    {"TransactionalId", offsetof(struct add_offsets_to_txn_request, transactional_id), WIRE_STRING, 0,
     0, 3, 1, 0, -1, 0, NULL},
    {"ProducerId", offsetof(struct add_offsets_to_txn_request, producer_id), WIRE_INT64, 0,
     0, 3, 1, 0, -1, 0, NULL},
    {"ProducerEpoch", offsetof(struct add_offsets_to_txn_request, producer_epoch), WIRE_INT16, 0,
     0, 3, 1, 0, -1, 0, NULL},
    {"GroupId", offsetof(struct add_offsets_to_txn_request, group_id), WIRE_STRING, 0,
     0, 3, 1, 0, -1, 0, NULL},
};
const struct wire_desc add_offsets_to_txn_request_desc = {
    "AddOffsetsToTxnRequest", add_offsets_to_txn_request_fields, 4, sizeof(struct add_offsets_to_txn_request), 0, 3, 3,
};

static const struct wire_field add_offsets_to_txn_response_fields[] = {
    {"ThrottleTimeMs", offsetof(struct add_offsets_to_txn_response, throttle_time_ms), WIRE_INT32, 0,
     0, 3, 1, 0, -1, 0, NULL},
    {"ErrorCode", offsetof(struct add_offsets_to_txn_response, error_code), WIRE_INT16, 0,
     0, 3, 1, 0, -1, 0, NULL},
};
const struct wire_desc add_offsets_to_txn_response_desc = {
    "AddOffsetsToTxnResponse", add_offsets_to_txn_response_fields, 2, sizeof(struct add_offsets_to_txn_response), 0, 3, 3,
};

static const struct wire_field end_txn_request_fields[] = {
    {"TransactionalId", offsetof(struct end_txn_request, transactional_id), WIRE_STRING, 0,
     0, 5, 1, 0, -1, 0, NULL},
    {"ProducerId", offsetof(struct end_txn_request, producer_id), WIRE_INT64, 0,
     0, 5, 1, 0, -1, 0, NULL},
    {"ProducerEpoch", offsetof(struct end_txn_request, producer_epoch), WIRE_INT16, 0,
     0, 5, 1, 0, -1, 0, NULL},
    {"Committed", offsetof(struct end_txn_request, committed), WIRE_BOOL, 0,
     0, 5, 1, 0, -1, 0, NULL},
};
const struct wire_desc end_txn_request_desc = {
    "EndTxnRequest", end_txn_request_fields, 4, sizeof(struct end_txn_request), 0, 5, 3,
};

static const struct wire_field end_txn_response_fields[] = {
    {"ThrottleTimeMs", offsetof(struct end_txn_response, throttle_time_ms), WIRE_INT32, 0,
     0, 5, 1, 0, -1, 0, NULL},
    {"ErrorCode", offsetof(struct end_txn_response, error_code), WIRE_INT16, 0,
     0, 5, 1, 0, -1, 0, NULL},
    {"ProducerId", offsetof(struct end_txn_response, producer_id), WIRE_INT64, WIRE_IGNORABLE,
     5, 5, 1, 0, -1, -1, NULL},
    {"ProducerEpoch", offsetof(struct end_txn_response, producer_epoch), WIRE_INT16, WIRE_IGNORABLE,
     5, 5, 1, 0, -1, -1, NULL},
};
const struct wire_desc end_txn_response_desc = {
    "EndTxnResponse", end_txn_response_fields, 4, sizeof(struct end_txn_response), 0, 5, 3,
};

static const struct wire_field write_txn_markers_request_writable_txn_marker_topic_fields[] = {
    {"Name", offsetof(struct write_txn_markers_request_writable_txn_marker_topic, name), WIRE_STRING, 0,
     1, 1, 1, 0, -1, 0, NULL},
    {"PartitionIndexes", offsetof(struct write_txn_markers_request_writable_txn_marker_topic, partition_indexes), WIRE_INT32, WIRE_ARRAY,
     1, 1, 1, 0, -1, 0, NULL},
};
const struct wire_desc write_txn_markers_request_writable_txn_marker_topic_desc = {
    "WritableTxnMarkerTopic", write_txn_markers_request_writable_txn_marker_topic_fields, 2, sizeof(struct write_txn_markers_request_writable_txn_marker_topic), 1, 1, 1,
};

static const struct wire_field write_txn_markers_request_writable_txn_marker_fields[] = {
    {"ProducerId", offsetof(struct write_txn_markers_request_writable_txn_marker, producer_id), WIRE_INT64, 0,
     1, 1, 1, 0, -1, 0, NULL},
    {"ProducerEpoch", offsetof(struct write_txn_markers_request_writable_txn_marker, producer_epoch), WIRE_INT16, 0,
     1, 1, 1, 0, -1, 0, NULL},
    {"TransactionResult", offsetof(struct write_txn_markers_request_writable_txn_marker, transaction_result), WIRE_BOOL, 0,
     1, 1, 1, 0, -1, 0, NULL},
    {"Topics", offsetof(struct write_txn_markers_request_writable_txn_marker, topics), WIRE_STRUCT, WIRE_ARRAY,
     1, 1, 1, 0, -1, 0, &write_txn_markers_request_writable_txn_marker_topic_desc},
    {"CoordinatorEpoch", offsetof(struct write_txn_markers_request_writable_txn_marker, coordinator_epoch), WIRE_INT32, 0,
     1, 1, 1, 0, -1, 0, NULL},
};
const struct wire_desc write_txn_markers_request_writable_txn_marker_desc = {
    "WritableTxnMarker", write_txn_markers_request_writable_txn_marker_fields, 5, sizeof(struct write_txn_markers_request_writable_txn_marker), 1, 1, 1,
};

static const struct wire_field write_txn_markers_request_fields[] = {
    {"Markers", offsetof(struct write_txn_markers_request, markers), WIRE_STRUCT, WIRE_ARRAY,
     1, 1, 1, 0, -1, 0, &write_txn_markers_request_writable_txn_marker_desc},
};
const struct wire_desc write_txn_markers_request_desc = {
    "WriteTxnMarkersRequest", write_txn_markers_request_fields, 1, sizeof(struct write_txn_markers_request), 1, 1, 1,
};

static const struct wire_field write_txn_markers_response_writable_txn_marker_partition_result_fields[] = {
    {"PartitionIndex", offsetof(struct write_txn_markers_response_writable_txn_marker_partition_result, partition_index), WIRE_INT32, 0,
     1, 1, 1, 0, -1, 0, NULL},
    {"ErrorCode", offsetof(struct write_txn_markers_response_writable_txn_marker_partition_result, error_code), WIRE_INT16, 0,
     1, 1, 1, 0, -1, 0, NULL},
};
const struct wire_desc write_txn_markers_response_writable_txn_marker_partition_result_desc = {
    "WritableTxnMarkerPartitionResult", write_txn_markers_response_writable_txn_marker_partition_result_fields, 2, sizeof(struct write_txn_markers_response_writable_txn_marker_partition_result), 1, 1, 1,
};

static const struct wire_field write_txn_markers_response_writable_txn_marker_topic_result_fields[] = {
    {"Name", offsetof(struct write_txn_markers_response_writable_txn_marker_topic_result, name), WIRE_STRING, 0,
     1, 1, 1, 0, -1, 0, NULL},
    {"Partitions", offsetof(struct write_txn_markers_response_writable_txn_marker_topic_result, partitions), WIRE_STRUCT, WIRE_ARRAY,
     1, 1, 1, 0, -1, 0, &write_txn_markers_response_writable_txn_marker_partition_result_desc},
};
const struct wire_desc write_txn_markers_response_writable_txn_marker_topic_result_desc = {
    "WritableTxnMarkerTopicResult", write_txn_markers_response_writable_txn_marker_topic_result_fields, 2, sizeof(struct write_txn_markers_response_writable_txn_marker_topic_result), 1, 1, 1,
};

static const struct wire_field write_txn_markers_response_writable_txn_marker_result_fields[] = {
    {"ProducerId", offsetof(struct write_txn_markers_response_writable_txn_marker_result, producer_id), WIRE_INT64, 0,
     1, 1, 1, 0, -1, 0, NULL},
    {"Topics", offsetof(struct write_txn_markers_response_writable_txn_marker_result, topics), WIRE_STRUCT, WIRE_ARRAY,
     1, 1, 1, 0, -1, 0, &write_txn_markers_response_writable_txn_marker_topic_result_desc},
};
const struct wire_desc write_txn_markers_response_writable_txn_marker_result_desc = {
    "WritableTxnMarkerResult", write_txn_markers_response_writable_txn_marker_result_fields, 2, sizeof(struct write_txn_markers_response_writable_txn_marker_result), 1, 1, 1,
};

static const struct wire_field write_txn_markers_response_fields[] = {
    {"Markers", offsetof(struct write_txn_markers_response, markers), WIRE_STRUCT, WIRE_ARRAY,
     1, 1, 1, 0, -1, 0, &write_txn_markers_response_writable_txn_marker_result_desc},
};
const struct wire_desc write_txn_markers_response_desc = {
    "WriteTxnMarkersResponse", write_txn_markers_response_fields, 1, sizeof(struct write_txn_markers_response), 1, 1, 1,
};

static const struct wire_field txn_offset_commit_request_txn_offset_commit_request_partition_fields[] = {
    {"PartitionIndex", offsetof(struct txn_offset_commit_request_txn_offset_commit_request_partition, partition_index), WIRE_INT32, 0,
     0, 5, 1, 0, -1, 0, NULL},
    {"CommittedOffset", offsetof(struct txn_offset_commit_request_txn_offset_commit_request_partition, committed_offset), WIRE_INT64, 0,
     0, 5, 1, 0, -1, 0, NULL},
    {"CommittedLeaderEpoch", offsetof(struct txn_offset_commit_request_txn_offset_commit_request_partition, committed_leader_epoch), WIRE_INT32, WIRE_IGNORABLE,
     2, 5, 1, 0, -1, -1, NULL},
    {"CommittedMetadata", offsetof(struct txn_offset_commit_request_txn_offset_commit_request_partition, committed_metadata), WIRE_STRING, WIRE_NULLABLE,
     0, 5, 0, 5, -1, 0, NULL},
};
const struct wire_desc txn_offset_commit_request_txn_offset_commit_request_partition_desc = {
    "TxnOffsetCommitRequestPartition", txn_offset_commit_request_txn_offset_commit_request_partition_fields, 4, sizeof(struct txn_offset_commit_request_txn_offset_commit_request_partition), 0, 5, 3,
};

static const struct wire_field txn_offset_commit_request_txn_offset_commit_request_topic_fields[] = {
    {"Name", offsetof(struct txn_offset_commit_request_txn_offset_commit_request_topic, name), WIRE_STRING, WIRE_IGNORABLE,
     0, 5, 1, 0, -1, 0, NULL},
    {"Partitions", offsetof(struct txn_offset_commit_request_txn_offset_commit_request_topic, partitions), WIRE_STRUCT, WIRE_ARRAY,
     0, 5, 1, 0, -1, 0, &txn_offset_commit_request_txn_offset_commit_request_partition_desc},
};
const struct wire_desc txn_offset_commit_request_txn_offset_commit_request_topic_desc = {
    "TxnOffsetCommitRequestTopic", txn_offset_commit_request_txn_offset_commit_request_topic_fields, 2, sizeof(struct txn_offset_commit_request_txn_offset_commit_request_topic), 0, 5, 3,
};

static const struct wire_field txn_offset_commit_request_fields[] = {
    {"TransactionalId", offsetof(struct txn_offset_commit_request, transactional_id), WIRE_STRING, 0,
     0, 5, 1, 0, -1, 0, NULL},
    {"GroupId", offsetof(struct txn_offset_commit_request, group_id), WIRE_STRING, 0,
     0, 5, 1, 0, -1, 0, NULL},
    {"ProducerId", offsetof(struct txn_offset_commit_request, producer_id), WIRE_INT64, 0,
     0, 5, 1, 0, -1, 0, NULL},
    {"ProducerEpoch", offsetof(struct txn_offset_commit_request, producer_epoch), WIRE_INT16, 0,
     0, 5, 1, 0, -1, 0, NULL},
    {"GenerationIdOrMemberEpoch", offsetof(struct txn_offset_commit_request, generation_id_or_member_epoch), WIRE_INT32, 0,
     3, 5, 1, 0, -1, -1, NULL},
    {"MemberId", offsetof(struct txn_offset_commit_request, member_id), WIRE_STRING, 0,
     3, 5, 1, 0, -1, 0, NULL},
    {"GroupInstanceId", offsetof(struct txn_offset_commit_request, group_instance_id), WIRE_STRING, WIRE_DEFAULT_NULL | WIRE_NULLABLE,
     3, 5, 3, 5, -1, 0, NULL},
    {"Topics", offsetof(struct txn_offset_commit_request, topics), WIRE_STRUCT, WIRE_ARRAY,
     0, 5, 1, 0, -1, 0, &txn_offset_commit_request_txn_offset_commit_request_topic_desc},
};
const struct wire_desc txn_offset_commit_request_desc = {
    "TxnOffsetCommitRequest", txn_offset_commit_request_fields, 8, sizeof(struct txn_offset_commit_request), 0, 5, 3,
};

static const struct wire_field txn_offset_commit_response_txn_offset_commit_response_partition_fields[] = {
    {"PartitionIndex", offsetof(struct txn_offset_commit_response_txn_offset_commit_response_partition, partition_index), WIRE_INT32, 0,
     0, 5, 1, 0, -1, 0, NULL},
    {"ErrorCode", offsetof(struct txn_offset_commit_response_txn_offset_commit_response_partition, error_code), WIRE_INT16, 0,
     0, 5, 1, 0, -1, 0, NULL},
};
const struct wire_desc txn_offset_commit_response_txn_offset_commit_response_partition_desc = {
    "TxnOffsetCommitResponsePartition", txn_offset_commit_response_txn_offset_commit_response_partition_fields, 2, sizeof(struct txn_offset_commit_response_txn_offset_commit_response_partition), 0, 5, 3,
};

static const struct wire_field txn_offset_commit_response_txn_offset_commit_response_topic_fields[] = {
    {"Name", offsetof(struct txn_offset_commit_response_txn_offset_commit_response_topic, name), WIRE_STRING, WIRE_IGNORABLE,
     0, 5, 1, 0, -1, 0, NULL},
    {"Partitions", offsetof(struct txn_offset_commit_response_txn_offset_commit_response_topic, partitions), WIRE_STRUCT, WIRE_ARRAY,
     0, 5, 1, 0, -1, 0, &txn_offset_commit_response_txn_offset_commit_response_partition_desc},
};
const struct wire_desc txn_offset_commit_response_txn_offset_commit_response_topic_desc = {
    "TxnOffsetCommitResponseTopic", txn_offset_commit_response_txn_offset_commit_response_topic_fields, 2, sizeof(struct txn_offset_commit_response_txn_offset_commit_response_topic), 0, 5, 3,
};

static const struct wire_field txn_offset_commit_response_fields[] = {
    {"ThrottleTimeMs", offsetof(struct txn_offset_commit_response, throttle_time_ms), WIRE_INT32, 0,
     0, 5, 1, 0, -1, 0, NULL},
    {"Topics", offsetof(struct txn_offset_commit_response, topics), WIRE_STRUCT, WIRE_ARRAY,
     0, 5, 1, 0, -1, 0, &txn_offset_commit_response_txn_offset_commit_response_topic_desc},
};
const struct wire_desc txn_offset_commit_response_desc = {
    "TxnOffsetCommitResponse", txn_offset_commit_response_fields, 2, sizeof(struct txn_offset_commit_response), 0, 5, 3,
};

static const struct wire_field describe_configs_request_describe_configs_resource_fields[] = {
    {"ResourceType", offsetof(struct describe_configs_request_describe_configs_resource, resource_type), WIRE_INT8, 0,
     0, 4, 1, 0, -1, 0, NULL},
    {"ResourceName", offsetof(struct describe_configs_request_describe_configs_resource, resource_name), WIRE_STRING, 0,
     0, 4, 1, 0, -1, 0, NULL},
    {"ConfigurationKeys", offsetof(struct describe_configs_request_describe_configs_resource, configuration_keys), WIRE_STRING, WIRE_ARRAY | WIRE_NULLABLE,
     0, 4, 0, 4, -1, 0, NULL},
};
const struct wire_desc describe_configs_request_describe_configs_resource_desc = {
    "DescribeConfigsResource", describe_configs_request_describe_configs_resource_fields, 3, sizeof(struct describe_configs_request_describe_configs_resource), 0, 4, 4,
};

static const struct wire_field describe_configs_request_fields[] = {
    {"Resources", offsetof(struct describe_configs_request, resources), WIRE_STRUCT, WIRE_ARRAY,
     0, 4, 1, 0, -1, 0, &describe_configs_request_describe_configs_resource_desc},
    {"IncludeSynonyms", offsetof(struct describe_configs_request, include_synonyms), WIRE_BOOL, 0,
     1, 4, 1, 0, -1, 0, NULL},
    {"IncludeDocumentation", offsetof(struct describe_configs_request, include_documentation), WIRE_BOOL, 0,
     3, 4, 1, 0, -1, 0, NULL},
};
const struct wire_desc describe_configs_request_desc = {
    "DescribeConfigsRequest", describe_configs_request_fields, 3, sizeof(struct describe_configs_request), 0, 4, 4,
};

static const struct wire_field describe_configs_response_describe_configs_synonym_fields[] = {
    {"Name", offsetof(struct describe_configs_response_describe_configs_synonym, name), WIRE_STRING, 0,
     1, 4, 1, 0, -1, 0, NULL},
    {"Value", offsetof(struct describe_configs_response_describe_configs_synonym, value), WIRE_STRING, WIRE_NULLABLE,
     1, 4, 1, 4, -1, 0, NULL},
    {"Source", offsetof(struct describe_configs_response_describe_configs_synonym, source), WIRE_INT8, 0,
     1, 4, 1, 0, -1, 0, NULL},
};
const struct wire_desc describe_configs_response_describe_configs_synonym_desc = {
    "DescribeConfigsSynonym", describe_configs_response_describe_configs_synonym_fields, 3, sizeof(struct describe_configs_response_describe_configs_synonym), 1, 4, 4,
};

static const struct wire_field describe_configs_response_describe_configs_resource_result_fields[] = {
    {"Name", offsetof(struct describe_configs_response_describe_configs_resource_result, name), WIRE_STRING, 0,
     0, 4, 1, 0, -1, 0, NULL},
    {"Value", offsetof(struct describe_configs_response_describe_configs_resource_result, value), WIRE_STRING, WIRE_NULLABLE,
     0, 4, 0, 4, -1, 0, NULL},
    {"ReadOnly", offsetof(struct describe_configs_response_describe_configs_resource_result, read_only), WIRE_BOOL, 0,
     0, 4, 1, 0, -1, 0, NULL},
    {"IsDefault", offsetof(struct describe_configs_response_describe_configs_resource_result, is_default), WIRE_BOOL, 0,
     0, 0, 1, 0, -1, 0, NULL},
    {"ConfigSource", offsetof(struct describe_configs_response_describe_configs_resource_result, config_source), WIRE_INT8, WIRE_IGNORABLE,
     1, 4, 1, 0, -1, -1, NULL},
    {"IsSensitive", offsetof(struct describe_configs_response_describe_configs_resource_result, is_sensitive), WIRE_BOOL, 0,
     0, 4, 1, 0, -1, 0, NULL},
    {"Synonyms", offsetof(struct describe_configs_response_describe_configs_resource_result, synonyms), WIRE_STRUCT, WIRE_ARRAY | WIRE_IGNORABLE,
     1, 4, 1, 0, -1, 0, &describe_configs_response_describe_configs_synonym_desc},
    {"ConfigType", offsetof(struct describe_configs_response_describe_configs_resource_result, config_type), WIRE_INT8, WIRE_IGNORABLE,
     3, 4, 1, 0, -1, 0, NULL},
    {"Documentation", offsetof(struct describe_configs_response_describe_configs_resource_result, documentation), WIRE_STRING, WIRE_IGNORABLE | WIRE_NULLABLE,
     3, 4, 3, 4, -1, 0, NULL},
};
const struct wire_desc describe_configs_response_describe_configs_resource_result_desc = {
    "DescribeConfigsResourceResult", describe_configs_response_describe_configs_resource_result_fields, 9, sizeof(struct describe_configs_response_describe_configs_resource_result), 0, 4, 4,
};

static const struct wire_field describe_configs_response_describe_configs_result_fields[] = {
    {"ErrorCode", offsetof(struct describe_configs_response_describe_configs_result, error_code), WIRE_INT16, 0,
     0, 4, 1, 0, -1, 0, NULL},
    {"ErrorMessage", offsetof(struct describe_configs_response_describe_configs_result, error_message), WIRE_STRING, WIRE_NULLABLE,
     0, 4, 0, 4, -1, 0, NULL},
    {"ResourceType", offsetof(struct describe_configs_response_describe_configs_result, resource_type), WIRE_INT8, 0,
     0, 4, 1, 0, -1, 0, NULL},
    {"ResourceName", offsetof(struct describe_configs_response_describe_configs_result, resource_name), WIRE_STRING, 0,
     0, 4, 1, 0, -1, 0, NULL},
    {"Configs", offsetof(struct describe_configs_response_describe_configs_result, configs), WIRE_STRUCT, WIRE_ARRAY,
     0, 4, 1, 0, -1, 0, &describe_configs_response_describe_configs_resource_result_desc},
};
const struct wire_desc describe_configs_response_describe_configs_result_desc = {
    "DescribeConfigsResult", describe_configs_response_describe_configs_result_fields, 5, sizeof(struct describe_configs_response_describe_configs_result), 0, 4, 4,
};

static const struct wire_field describe_configs_response_fields[] = {
    {"ThrottleTimeMs", offsetof(struct describe_configs_response, throttle_time_ms), WIRE_INT32, 0,
     0, 4, 1, 0, -1, 0, NULL},
    {"Results", offsetof(struct describe_configs_response, results), WIRE_STRUCT, WIRE_ARRAY,
     0, 4, 1, 0, -1, 0, &describe_configs_response_describe_configs_result_desc},
};
const struct wire_desc describe_configs_response_desc = {
    "DescribeConfigsResponse", describe_configs_response_fields, 2, sizeof(struct describe_configs_response), 0, 4, 4,
};

static const struct wire_field create_partitions_request_create_partitions_assignment_fields[] = {
    {"BrokerIds", offsetof(struct create_partitions_request_create_partitions_assignment, broker_ids), WIRE_INT32, WIRE_ARRAY,
     0, 3, 1, 0, -1, 0, NULL},
};
const struct wire_desc create_partitions_request_create_partitions_assignment_desc = {
    "CreatePartitionsAssignment", create_partitions_request_create_partitions_assignment_fields, 1, sizeof(struct create_partitions_request_create_partitions_assignment), 0, 3, 2,
};

static const struct wire_field create_partitions_request_create_partitions_topic_fields[] = {
    {"Name", offsetof(struct create_partitions_request_create_partitions_topic, name), WIRE_STRING, 0,
     0, 3, 1, 0, -1, 0, NULL},
    {"Count", offsetof(struct create_partitions_request_create_partitions_topic, count), WIRE_INT32, 0,
     0, 3, 1, 0, -1, 0, NULL},
    {"Assignments", offsetof(struct create_partitions_request_create_partitions_topic, assignments), WIRE_STRUCT, WIRE_ARRAY | WIRE_NULLABLE,
     0, 3, 0, 3, -1, 0, &create_partitions_request_create_partitions_assignment_desc},
};
const struct wire_desc create_partitions_request_create_partitions_topic_desc = {
    "CreatePartitionsTopic", create_partitions_request_create_partitions_topic_fields, 3, sizeof(struct create_partitions_request_create_partitions_topic), 0, 3, 2,
};

static const struct wire_field create_partitions_request_fields[] = {
    {"Topics", offsetof(struct create_partitions_request, topics), WIRE_STRUCT, WIRE_ARRAY,
     0, 3, 1, 0, -1, 0, &create_partitions_request_create_partitions_topic_desc},
    {"TimeoutMs", offsetof(struct create_partitions_request, timeout_ms), WIRE_INT32, 0,
     0, 3, 1, 0, -1, 0, NULL},
    {"ValidateOnly", offsetof(struct create_partitions_request, validate_only), WIRE_BOOL, 0,
     0, 3, 1, 0, -1, 0, NULL},
};
const struct wire_desc create_partitions_request_desc = {
    "CreatePartitionsRequest", create_partitions_request_fields, 3, sizeof(struct create_partitions_request), 0, 3, 2,
};

static const struct wire_field create_partitions_response_create_partitions_topic_result_fields[] = {
    {"Name", offsetof(struct create_partitions_response_create_partitions_topic_result, name), WIRE_STRING, 0,
     0, 3, 1, 0, -1, 0, NULL},
    {"ErrorCode", offsetof(struct create_partitions_response_create_partitions_topic_result, error_code), WIRE_INT16, 0,
     0, 3, 1, 0, -1, 0, NULL},
    {"ErrorMessage", offsetof(struct create_partitions_response_create_partitions_topic_result, error_message), WIRE_STRING, WIRE_DEFAULT_NULL | WIRE_NULLABLE,
     0, 3, 0, 3, -1, 0, NULL},
};
const struct wire_desc create_partitions_response_create_partitions_topic_result_desc = {
    "CreatePartitionsTopicResult", create_partitions_response_create_partitions_topic_result_fields, 3, sizeof(struct create_partitions_response_create_partitions_topic_result), 0, 3, 2,
};

static const struct wire_field create_partitions_response_fields[] = {
    {"ThrottleTimeMs", offsetof(struct create_partitions_response, throttle_time_ms), WIRE_INT32, 0,
     0, 3, 1, 0, -1, 0, NULL},
    {"Results", offsetof(struct create_partitions_response, results), WIRE_STRUCT, WIRE_ARRAY,
     0, 3, 1, 0, -1, 0, &create_partitions_response_create_partitions_topic_result_desc},
};
const struct wire_desc create_partitions_response_desc = {
    "CreatePartitionsResponse", create_partitions_response_fields, 2, sizeof(struct create_partitions_response), 0, 3, 2,
};

static const struct wire_field delete_groups_request_fields[] = {
    {"GroupsNames", offsetof(struct delete_groups_request, groups_names), WIRE_STRING, WIRE_ARRAY,
     0, 2, 1, 0, -1, 0, NULL},
};
const struct wire_desc delete_groups_request_desc = {
    "DeleteGroupsRequest", delete_groups_request_fields, 1, sizeof(struct delete_groups_request), 0, 2, 2,
};

static const struct wire_field delete_groups_response_deletable_group_result_fields[] = {
    {"GroupId", offsetof(struct delete_groups_response_deletable_group_result, group_id), WIRE_STRING, 0,
     0, 2, 1, 0, -1, 0, NULL},
    {"ErrorCode", offsetof(struct delete_groups_response_deletable_group_result, error_code), WIRE_INT16, 0,
     0, 2, 1, 0, -1, 0, NULL},
};
const struct wire_desc delete_groups_response_deletable_group_result_desc = {
    "DeletableGroupResult", delete_groups_response_deletable_group_result_fields, 2, sizeof(struct delete_groups_response_deletable_group_result), 0, 2, 2,
};

static const struct wire_field delete_groups_response_fields[] = {
    {"ThrottleTimeMs", offsetof(struct delete_groups_response, throttle_time_ms), WIRE_INT32, 0,
     0, 2, 1, 0, -1, 0, NULL},
    {"Results", offsetof(struct delete_groups_response, results), WIRE_STRUCT, WIRE_ARRAY,
     0, 2, 1, 0, -1, 0, &delete_groups_response_deletable_group_result_desc},
};
const struct wire_desc delete_groups_response_desc = {
    "DeleteGroupsResponse", delete_groups_response_fields, 2, sizeof(struct delete_groups_response), 0, 2, 2,
};

static const struct wire_field incremental_alter_configs_request_alterable_config_fields[] = {
    {"Name", offsetof(struct incremental_alter_configs_request_alterable_config, name), WIRE_STRING, 0,
     0, 1, 1, 0, -1, 0, NULL},
    {"ConfigOperation", offsetof(struct incremental_alter_configs_request_alterable_config, config_operation), WIRE_INT8, 0,
     0, 1, 1, 0, -1, 0, NULL},
    {"Value", offsetof(struct incremental_alter_configs_request_alterable_config, value), WIRE_STRING, WIRE_NULLABLE,
     0, 1, 0, 1, -1, 0, NULL},
};
const struct wire_desc incremental_alter_configs_request_alterable_config_desc = {
    "AlterableConfig", incremental_alter_configs_request_alterable_config_fields, 3, sizeof(struct incremental_alter_configs_request_alterable_config), 0, 1, 1,
};

static const struct wire_field incremental_alter_configs_request_alter_configs_resource_fields[] = {
    {"ResourceType", offsetof(struct incremental_alter_configs_request_alter_configs_resource, resource_type), WIRE_INT8, 0,
     0, 1, 1, 0, -1, 0, NULL},
    {"ResourceName", offsetof(struct incremental_alter_configs_request_alter_configs_resource, resource_name), WIRE_STRING, 0,
     0, 1, 1, 0, -1, 0, NULL},
    {"Configs", offsetof(struct incremental_alter_configs_request_alter_configs_resource, configs), WIRE_STRUCT, WIRE_ARRAY,
     0, 1, 1, 0, -1, 0, &incremental_alter_configs_request_alterable_config_desc},
};
const struct wire_desc incremental_alter_configs_request_alter_configs_resource_desc = {
    "AlterConfigsResource", incremental_alter_configs_request_alter_configs_resource_fields, 3, sizeof(struct incremental_alter_configs_request_alter_configs_resource), 0, 1, 1,
};

static const struct wire_field incremental_alter_configs_request_fields[] = {
    {"Resources", offsetof(struct incremental_alter_configs_request, resources), WIRE_STRUCT, WIRE_ARRAY,
     0, 1, 1, 0, -1, 0, &incremental_alter_configs_request_alter_configs_resource_desc},
    {"ValidateOnly", offsetof(struct incremental_alter_configs_request, validate_only), WIRE_BOOL, 0,
     0, 1, 1, 0, -1, 0, NULL},
};
const struct wire_desc incremental_alter_configs_request_desc = {
    "IncrementalAlterConfigsRequest", incremental_alter_configs_request_fields, 2, sizeof(struct incremental_alter_configs_request), 0, 1, 1,
};

static const struct wire_field incremental_alter_configs_response_alter_configs_resource_response_fields[] = {
    {"ErrorCode", offsetof(struct incremental_alter_configs_response_alter_configs_resource_response, error_code), WIRE_INT16, 0,
     0, 1, 1, 0, -1, 0, NULL},
    {"ErrorMessage", offsetof(struct incremental_alter_configs_response_alter_configs_resource_response, error_message), WIRE_STRING, WIRE_NULLABLE,
     0, 1, 0, 1, -1, 0, NULL},
    {"ResourceType", offsetof(struct incremental_alter_configs_response_alter_configs_resource_response, resource_type), WIRE_INT8, 0,
     0, 1, 1, 0, -1, 0, NULL},
    {"ResourceName", offsetof(struct incremental_alter_configs_response_alter_configs_resource_response, resource_name), WIRE_STRING, 0,
     0, 1, 1, 0, -1, 0, NULL},
};
const struct wire_desc incremental_alter_configs_response_alter_configs_resource_response_desc = {
    "AlterConfigsResourceResponse", incremental_alter_configs_response_alter_configs_resource_response_fields, 4, sizeof(struct incremental_alter_configs_response_alter_configs_resource_response), 0, 1, 1,
};

static const struct wire_field incremental_alter_configs_response_fields[] = {
    {"ThrottleTimeMs", offsetof(struct incremental_alter_configs_response, throttle_time_ms), WIRE_INT32, 0,
     0, 1, 1, 0, -1, 0, NULL},
    {"Responses", offsetof(struct incremental_alter_configs_response, responses), WIRE_STRUCT, WIRE_ARRAY,
     0, 1, 1, 0, -1, 0, &incremental_alter_configs_response_alter_configs_resource_response_desc},
};
const struct wire_desc incremental_alter_configs_response_desc = {
    "IncrementalAlterConfigsResponse", incremental_alter_configs_response_fields, 2, sizeof(struct incremental_alter_configs_response), 0, 1, 1,
};

static const struct wire_field transaction_log_key_fields[] = {
    {"TransactionalId", offsetof(struct transaction_log_key, transactional_id), WIRE_STRING, 0,
     0, 0, 1, 0, -1, 0, NULL},
};
const struct wire_desc transaction_log_key_desc = {
    "TransactionLogKey", transaction_log_key_fields, 1, sizeof(struct transaction_log_key), 0, 0, WIRE_VERSION_MAX,
};

static const struct wire_field transaction_log_value_partitions_schema_fields[] = {
    {"Topic", offsetof(struct transaction_log_value_partitions_schema, topic), WIRE_STRING, 0,
     0, 1, 1, 0, -1, 0, NULL},
    {"PartitionIds", offsetof(struct transaction_log_value_partitions_schema, partition_ids), WIRE_INT32, WIRE_ARRAY,
     0, 1, 1, 0, -1, 0, NULL},
};
const struct wire_desc transaction_log_value_partitions_schema_desc = {
    "PartitionsSchema", transaction_log_value_partitions_schema_fields, 2, sizeof(struct transaction_log_value_partitions_schema), 0, 1, 1,
};

static const struct wire_field transaction_log_value_fields[] = {
    {"ProducerId", offsetof(struct transaction_log_value, producer_id), WIRE_INT64, 0,
     0, 1, 1, 0, -1, 0, NULL},
    {"ProducerEpoch", offsetof(struct transaction_log_value, producer_epoch), WIRE_INT16, 0,
     0, 1, 1, 0, -1, 0, NULL},
    {"TransactionTimeoutMs", offsetof(struct transaction_log_value, transaction_timeout_ms), WIRE_INT32, 0,
     0, 1, 1, 0, -1, 0, NULL},
    {"TransactionStatus", offsetof(struct transaction_log_value, transaction_status), WIRE_INT8, 0,
     0, 1, 1, 0, -1, 0, NULL},
    {"TransactionPartitions", offsetof(struct transaction_log_value, transaction_partitions), WIRE_STRUCT, WIRE_ARRAY | WIRE_NULLABLE,
     0, 1, 0, 1, -1, 0, &transaction_log_value_partitions_schema_desc},
    {"TransactionLastUpdateTimestampMs", offsetof(struct transaction_log_value, transaction_last_update_timestamp_ms), WIRE_INT64, 0,
     0, 1, 1, 0, -1, 0, NULL},
    {"TransactionStartTimestampMs", offsetof(struct transaction_log_value, transaction_start_timestamp_ms), WIRE_INT64, 0,
     0, 1, 1, 0, -1, 0, NULL},
    {"PreviousProducerId", offsetof(struct transaction_log_value, previous_producer_id), WIRE_INT64, 0,
     1, 1, 1, 0, 0, -1, NULL},
    {"NextProducerId", offsetof(struct transaction_log_value, next_producer_id), WIRE_INT64, 0,
     1, 1, 1, 0, 1, -1, NULL},
    {"ClientTransactionVersion", offsetof(struct transaction_log_value, client_transaction_version), WIRE_INT16, 0,
     1, 1, 1, 0, 2, 0, NULL},
    {"NextProducerEpoch", offsetof(struct transaction_log_value, next_producer_epoch), WIRE_INT16, 0,
     1, 1, 1, 0, 3, -1, NULL},
    {"LastEpoch", offsetof(struct transaction_log_value, last_epoch), WIRE_INT16, 0,
     1, 1, 1, 0, 100, -1, NULL},
};
const struct wire_desc transaction_log_value_desc = {
    "TransactionLogValue", transaction_log_value_fields, 12, sizeof(struct transaction_log_value), 0, 1, 1,
};

static const struct wire_field offset_commit_key_fields[] = {
    {"group", offsetof(struct offset_commit_key, group), WIRE_STRING, 0,
     0, 1, 1, 0, -1, 0, NULL},
    {"topic", offsetof(struct offset_commit_key, topic), WIRE_STRING, 0,
     0, 1, 1, 0, -1, 0, NULL},
    {"partition", offsetof(struct offset_commit_key, partition), WIRE_INT32, 0,
     0, 1, 1, 0, -1, 0, NULL},
};
const struct wire_desc offset_commit_key_desc = {
    "OffsetCommitKey", offset_commit_key_fields, 3, sizeof(struct offset_commit_key), 0, 1, WIRE_VERSION_MAX,
};

static const struct wire_field offset_commit_value_fields[] = {
    {"offset", offsetof(struct offset_commit_value, offset), WIRE_INT64, 0,
     0, 4, 1, 0, -1, 0, NULL},
    {"leaderEpoch", offsetof(struct offset_commit_value, leader_epoch), WIRE_INT32, WIRE_IGNORABLE,
     3, 4, 1, 0, -1, -1, NULL},
    {"metadata", offsetof(struct offset_commit_value, metadata), WIRE_STRING, 0,
     0, 4, 1, 0, -1, 0, NULL},
    {"commitTimestamp", offsetof(struct offset_commit_value, commit_timestamp), WIRE_INT64, 0,
     0, 4, 1, 0, -1, 0, NULL},
    {"expireTimestamp", offsetof(struct offset_commit_value, expire_timestamp), WIRE_INT64, WIRE_IGNORABLE,
     1, 1, 1, 0, -1, -1, NULL},
    {"topicId", offsetof(struct offset_commit_value, topic_id), WIRE_UUID, WIRE_IGNORABLE,
     4, 4, 1, 0, 0, 0, NULL},
};
const struct wire_desc offset_commit_value_desc = {
    "OffsetCommitValue", offset_commit_value_fields, 6, sizeof(struct offset_commit_value), 0, 4, 4,
};

static const struct wire_field group_metadata_key_fields[] = {
    {"group", offsetof(struct group_metadata_key, group), WIRE_STRING, 0,
     2, 2, 1, 0, -1, 0, NULL},
};
const struct wire_desc group_metadata_key_desc = {
    "GroupMetadataKey", group_metadata_key_fields, 1, sizeof(struct group_metadata_key), 2, 2, WIRE_VERSION_MAX,
};

static const struct wire_field group_metadata_value_member_metadata_fields[] = {
    {"memberId", offsetof(struct group_metadata_value_member_metadata, member_id), WIRE_STRING, 0,
     0, 4, 1, 0, -1, 0, NULL},
    {"groupInstanceId", offsetof(struct group_metadata_value_member_metadata, group_instance_id), WIRE_STRING, WIRE_IGNORABLE | WIRE_DEFAULT_NULL | WIRE_NULLABLE,
     3, 4, 3, 4, -1, 0, NULL},
    {"clientId", offsetof(struct group_metadata_value_member_metadata, client_id), WIRE_STRING, 0,
     0, 4, 1, 0, -1, 0, NULL},
    {"clientHost", offsetof(struct group_metadata_value_member_metadata, client_host), WIRE_STRING, 0,
     0, 4, 1, 0, -1, 0, NULL},
    {"rebalanceTimeout", offsetof(struct group_metadata_value_member_metadata, rebalance_timeout), WIRE_INT32, WIRE_IGNORABLE,
     1, 4, 1, 0, -1, -1, NULL},
    {"sessionTimeout", offsetof(struct group_metadata_value_member_metadata, session_timeout), WIRE_INT32, 0,
     0, 4, 1, 0, -1, 0, NULL},
    {"subscription", offsetof(struct group_metadata_value_member_metadata, subscription), WIRE_BYTES, 0,
     0, 4, 1, 0, -1, 0, NULL},
    {"assignment", offsetof(struct group_metadata_value_member_metadata, assignment), WIRE_BYTES, 0,
     0, 4, 1, 0, -1, 0, NULL},
};
const struct wire_desc group_metadata_value_member_metadata_desc = {
    "MemberMetadata", group_metadata_value_member_metadata_fields, 8, sizeof(struct group_metadata_value_member_metadata), 0, 4, 4,
};

static const struct wire_field group_metadata_value_fields[] = {
    {"protocolType", offsetof(struct group_metadata_value, protocol_type), WIRE_STRING, 0,
     0, 4, 1, 0, -1, 0, NULL},
    {"generation", offsetof(struct group_metadata_value, generation), WIRE_INT32, 0,
     0, 4, 1, 0, -1, 0, NULL},
    {"protocol", offsetof(struct group_metadata_value, protocol), WIRE_STRING, WIRE_NULLABLE,
     0, 4, 0, 4, -1, 0, NULL},
    {"leader", offsetof(struct group_metadata_value, leader), WIRE_STRING, WIRE_NULLABLE,
     0, 4, 0, 4, -1, 0, NULL},
    {"currentStateTimestamp", offsetof(struct group_metadata_value, current_state_timestamp), WIRE_INT64, WIRE_IGNORABLE,
     2, 4, 1, 0, -1, -1, NULL},
    {"members", offsetof(struct group_metadata_value, members), WIRE_STRUCT, WIRE_ARRAY,
     0, 4, 1, 0, -1, 0, &group_metadata_value_member_metadata_desc},
};
const struct wire_desc group_metadata_value_desc = {
    "GroupMetadataValue", group_metadata_value_fields, 6, sizeof(struct group_metadata_value), 0, 4, 4,
};

static const struct wire_field control_record_type_key_fields[] = {
    {"Version", offsetof(struct control_record_type_key, version), WIRE_INT16, 0,
     0, 0, 1, 0, -1, 0, NULL},
    {"Type", offsetof(struct control_record_type_key, type), WIRE_INT16, 0,
     0, 0, 1, 0, -1, 0, NULL},
};
const struct wire_desc control_record_type_key_desc = {
    "ControlRecordTypeKey", control_record_type_key_fields, 2, sizeof(struct control_record_type_key), 0, 0, WIRE_VERSION_MAX,
};

static const struct wire_field end_txn_marker_fields[] = {
    {"Version", offsetof(struct end_txn_marker, version), WIRE_INT16, 0,
     0, 0, 1, 0, -1, 0, NULL},
    {"CoordinatorEpoch", offsetof(struct end_txn_marker, coordinator_epoch), WIRE_INT32, 0,
     0, 0, 1, 0, -1, 0, NULL},
};
const struct wire_desc end_txn_marker_desc = {
    "EndTxnMarker", end_txn_marker_fields, 2, sizeof(struct end_txn_marker), 0, 0, WIRE_VERSION_MAX,
};

static const struct wire_field consumer_protocol_subscription_topic_partition_fields[] = {
    {"Topic", offsetof(struct consumer_protocol_subscription_topic_partition, topic), WIRE_STRING, 0,
     1, 3, 1, 0, -1, 0, NULL},
    {"Partitions", offsetof(struct consumer_protocol_subscription_topic_partition, partitions), WIRE_INT32, WIRE_ARRAY,
     1, 3, 1, 0, -1, 0, NULL},
};
const struct wire_desc consumer_protocol_subscription_topic_partition_desc = {
    "TopicPartition", consumer_protocol_subscription_topic_partition_fields, 2, sizeof(struct consumer_protocol_subscription_topic_partition), 1, 3, WIRE_VERSION_MAX,
};

static const struct wire_field consumer_protocol_subscription_fields[] = {
    {"Topics", offsetof(struct consumer_protocol_subscription, topics), WIRE_STRING, WIRE_ARRAY,
     0, 3, 1, 0, -1, 0, NULL},
    {"UserData", offsetof(struct consumer_protocol_subscription, user_data), WIRE_BYTES, WIRE_DEFAULT_NULL | WIRE_NULLABLE,
     0, 3, 0, 3, -1, 0, NULL},
    {"OwnedPartitions", offsetof(struct consumer_protocol_subscription, owned_partitions), WIRE_STRUCT, WIRE_ARRAY | WIRE_IGNORABLE,
     1, 3, 1, 0, -1, 0, &consumer_protocol_subscription_topic_partition_desc},
    {"GenerationId", offsetof(struct consumer_protocol_subscription, generation_id), WIRE_INT32, WIRE_IGNORABLE,
     2, 3, 1, 0, -1, -1, NULL},
    {"RackId", offsetof(struct consumer_protocol_subscription, rack_id), WIRE_STRING, WIRE_IGNORABLE | WIRE_DEFAULT_NULL | WIRE_NULLABLE,
     3, 3, 3, 3, -1, 0, NULL},
};
const struct wire_desc consumer_protocol_subscription_desc = {
    "ConsumerProtocolSubscription", consumer_protocol_subscription_fields, 5, sizeof(struct consumer_protocol_subscription), 0, 3, WIRE_VERSION_MAX,
};

static const struct wire_field consumer_protocol_assignment_topic_partition_fields[] = {
    {"Topic", offsetof(struct consumer_protocol_assignment_topic_partition, topic), WIRE_STRING, 0,
     0, 3, 1, 0, -1, 0, NULL},
    {"Partitions", offsetof(struct consumer_protocol_assignment_topic_partition, partitions), WIRE_INT32, WIRE_ARRAY,
     0, 3, 1, 0, -1, 0, NULL},
};
const struct wire_desc consumer_protocol_assignment_topic_partition_desc = {
    "TopicPartition", consumer_protocol_assignment_topic_partition_fields, 2, sizeof(struct consumer_protocol_assignment_topic_partition), 0, 3, WIRE_VERSION_MAX,
};

static const struct wire_field consumer_protocol_assignment_fields[] = {
    {"AssignedPartitions", offsetof(struct consumer_protocol_assignment, assigned_partitions), WIRE_STRUCT, WIRE_ARRAY,
     0, 3, 1, 0, -1, 0, &consumer_protocol_assignment_topic_partition_desc},
    {"UserData", offsetof(struct consumer_protocol_assignment, user_data), WIRE_BYTES, WIRE_DEFAULT_NULL | WIRE_NULLABLE,
     0, 3, 0, 3, -1, 0, NULL},
};
const struct wire_desc consumer_protocol_assignment_desc = {
    "ConsumerProtocolAssignment", consumer_protocol_assignment_fields, 2, sizeof(struct consumer_protocol_assignment), 0, 3, WIRE_VERSION_MAX,
};

static const struct wire_field meta_topic_config_entry_fields[] = {
    {"Name", offsetof(struct meta_topic_config_entry, name), WIRE_STRING, 0,
     0, 0, 1, 0, -1, 0, NULL},
    {"Value", offsetof(struct meta_topic_config_entry, value), WIRE_STRING, WIRE_NULLABLE,
     0, 0, 0, 0, -1, 0, NULL},
};
const struct wire_desc meta_topic_config_entry_desc = {
    "ConfigEntry", meta_topic_config_entry_fields, 2, sizeof(struct meta_topic_config_entry), 0, 0, 0,
};

static const struct wire_field meta_topic_fields[] = {
    {"Name", offsetof(struct meta_topic, name), WIRE_STRING, 0,
     0, 0, 1, 0, -1, 0, NULL},
    {"TopicId", offsetof(struct meta_topic, topic_id), WIRE_UUID, 0,
     0, 0, 1, 0, -1, 0, NULL},
    {"Partitions", offsetof(struct meta_topic, partitions), WIRE_INT32, 0,
     0, 0, 1, 0, -1, 0, NULL},
    {"Configs", offsetof(struct meta_topic, configs), WIRE_STRUCT, WIRE_ARRAY,
     0, 0, 1, 0, -1, 0, &meta_topic_config_entry_desc},
};
const struct wire_desc meta_topic_desc = {
    "MetaTopic", meta_topic_fields, 4, sizeof(struct meta_topic), 0, 0, 0,
};

static const struct wire_field meta_topic_remove_fields[] = {
    {"TopicId", offsetof(struct meta_topic_remove, topic_id), WIRE_UUID, 0,
     0, 0, 1, 0, -1, 0, NULL},
    {"Name", offsetof(struct meta_topic_remove, name), WIRE_STRING, 0,
     0, 0, 1, 0, -1, 0, NULL},
};
const struct wire_desc meta_topic_remove_desc = {
    "MetaTopicRemove", meta_topic_remove_fields, 2, sizeof(struct meta_topic_remove), 0, 0, 0,
};

static const struct wire_field meta_topic_config_config_entry_fields[] = {
    {"Name", offsetof(struct meta_topic_config_config_entry, name), WIRE_STRING, 0,
     0, 0, 1, 0, -1, 0, NULL},
    {"Value", offsetof(struct meta_topic_config_config_entry, value), WIRE_STRING, WIRE_NULLABLE,
     0, 0, 0, 0, -1, 0, NULL},
};
const struct wire_desc meta_topic_config_config_entry_desc = {
    "ConfigEntry", meta_topic_config_config_entry_fields, 2, sizeof(struct meta_topic_config_config_entry), 0, 0, 0,
};

static const struct wire_field meta_topic_config_fields[] = {
    {"TopicId", offsetof(struct meta_topic_config, topic_id), WIRE_UUID, 0,
     0, 0, 1, 0, -1, 0, NULL},
    {"Configs", offsetof(struct meta_topic_config, configs), WIRE_STRUCT, WIRE_ARRAY,
     0, 0, 1, 0, -1, 0, &meta_topic_config_config_entry_desc},
};
const struct wire_desc meta_topic_config_desc = {
    "MetaTopicConfig", meta_topic_config_fields, 2, sizeof(struct meta_topic_config), 0, 0, 0,
};

static const struct wire_field meta_log_start_fields[] = {
    {"TopicId", offsetof(struct meta_log_start, topic_id), WIRE_UUID, 0,
     0, 0, 1, 0, -1, 0, NULL},
    {"Partition", offsetof(struct meta_log_start, partition), WIRE_INT32, 0,
     0, 0, 1, 0, -1, 0, NULL},
    {"Offset", offsetof(struct meta_log_start, offset), WIRE_INT64, 0,
     0, 0, 1, 0, -1, 0, NULL},
};
const struct wire_desc meta_log_start_desc = {
    "MetaLogStart", meta_log_start_fields, 3, sizeof(struct meta_log_start), 0, 0, 0,
};

static const struct wire_field meta_producer_ids_fields[] = {
    {"NextProducerId", offsetof(struct meta_producer_ids, next_producer_id), WIRE_INT64, 0,
     0, 0, 1, 0, -1, 0, NULL},
};
const struct wire_desc meta_producer_ids_desc = {
    "MetaProducerIds", meta_producer_ids_fields, 1, sizeof(struct meta_producer_ids), 0, 0, 0,
};

static const struct wire_field meta_broker_fields[] = {
    {"ClusterId", offsetof(struct meta_broker, cluster_id), WIRE_STRING, 0,
     0, 0, 1, 0, -1, 0, NULL},
    {"LeaderEpoch", offsetof(struct meta_broker, leader_epoch), WIRE_INT32, 0,
     0, 0, 1, 0, -1, 0, NULL},
};
const struct wire_desc meta_broker_desc = {
    "MetaBroker", meta_broker_fields, 2, sizeof(struct meta_broker), 0, 0, 0,
};

static const struct wire_api apis[] = {
    {0, "Produce", 0, 12, 9, &produce_request_desc, &produce_response_desc},
    {1, "Fetch", 4, 12, 12, &fetch_request_desc, &fetch_response_desc},
    {2, "ListOffsets", 1, 7, 6, &list_offsets_request_desc, &list_offsets_response_desc},
    {3, "Metadata", 0, 12, 9, &metadata_request_desc, &metadata_response_desc},
    {8, "OffsetCommit", 2, 9, 8, &offset_commit_request_desc, &offset_commit_response_desc},
    {9, "OffsetFetch", 1, 9, 6, &offset_fetch_request_desc, &offset_fetch_response_desc},
    {10, "FindCoordinator", 0, 4, 3, &find_coordinator_request_desc, &find_coordinator_response_desc},
    {11, "JoinGroup", 0, 9, 6, &join_group_request_desc, &join_group_response_desc},
    {12, "Heartbeat", 0, 4, 4, &heartbeat_request_desc, &heartbeat_response_desc},
    {13, "LeaveGroup", 0, 5, 4, &leave_group_request_desc, &leave_group_response_desc},
    {14, "SyncGroup", 0, 5, 4, &sync_group_request_desc, &sync_group_response_desc},
    {15, "DescribeGroups", 0, 5, 5, &describe_groups_request_desc, &describe_groups_response_desc},
    {16, "ListGroups", 0, 4, 3, &list_groups_request_desc, &list_groups_response_desc},
    {18, "ApiVersions", 0, 4, 3, &api_versions_request_desc, &api_versions_response_desc},
    {19, "CreateTopics", 2, 7, 5, &create_topics_request_desc, &create_topics_response_desc},
    {20, "DeleteTopics", 1, 6, 4, &delete_topics_request_desc, &delete_topics_response_desc},
    {21, "DeleteRecords", 0, 2, 2, &delete_records_request_desc, &delete_records_response_desc},
    {22, "InitProducerId", 0, 5, 2, &init_producer_id_request_desc, &init_producer_id_response_desc},
    {23, "OffsetForLeaderEpoch", 2, 4, 4, &offset_for_leader_epoch_request_desc, &offset_for_leader_epoch_response_desc},
    {24, "AddPartitionsToTxn", 0, 3, 3, &add_partitions_to_txn_request_desc, &add_partitions_to_txn_response_desc},
    {25, "AddOffsetsToTxn", 0, 3, 3, &add_offsets_to_txn_request_desc, &add_offsets_to_txn_response_desc},
    {26, "EndTxn", 0, 5, 3, &end_txn_request_desc, &end_txn_response_desc},
    {27, "WriteTxnMarkers", 1, 1, 1, &write_txn_markers_request_desc, &write_txn_markers_response_desc},
    {28, "TxnOffsetCommit", 0, 5, 3, &txn_offset_commit_request_desc, &txn_offset_commit_response_desc},
    {32, "DescribeConfigs", 0, 4, 4, &describe_configs_request_desc, &describe_configs_response_desc},
    {37, "CreatePartitions", 0, 3, 2, &create_partitions_request_desc, &create_partitions_response_desc},
    {42, "DeleteGroups", 0, 2, 2, &delete_groups_request_desc, &delete_groups_response_desc},
    {44, "IncrementalAlterConfigs", 0, 1, 1, &incremental_alter_configs_request_desc, &incremental_alter_configs_response_desc},
};

const struct wire_api *wire_apis(int *n)
{
    *n = (int)(sizeof apis / sizeof *apis);
    return apis;
}

static const struct wire_meta metas[] = {
    {META_TOPIC, &meta_topic_desc},
    {META_TOPIC_REMOVE, &meta_topic_remove_desc},
    {META_TOPIC_CONFIG, &meta_topic_config_desc},
    {META_LOG_START, &meta_log_start_desc},
    {META_PRODUCER_IDS, &meta_producer_ids_desc},
    {META_BROKER, &meta_broker_desc},
};

const struct wire_desc *wire_meta(int16_t type)
{
    for (size_t i = 0; i < sizeof metas / sizeof *metas; i++)
        if (metas[i].type == type)
            return metas[i].desc;
    return NULL;
}

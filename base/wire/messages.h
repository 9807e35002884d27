/* base/wire/messages.h - the messages of the wire and of the disk as structs. Written by
 * gen.lua from schema/; WIRE_MESSAGE_FUNCTIONS of wire.h are the functions of each. */
/* clang-format off */
#ifndef ONCE_BASE_WIRE_MESSAGES_H
#define ONCE_BASE_WIRE_MESSAGES_H
#include "base/wire/wire.h"

enum api_key {
    API_PRODUCE = 0,
    API_FETCH = 1,
    API_LIST_OFFSETS = 2,
    API_METADATA = 3,
    API_OFFSET_COMMIT = 8,
    API_OFFSET_FETCH = 9,
    API_FIND_COORDINATOR = 10,
    API_JOIN_GROUP = 11,
    API_HEARTBEAT = 12,
    API_LEAVE_GROUP = 13,
    API_SYNC_GROUP = 14,
    API_DESCRIBE_GROUPS = 15,
    API_LIST_GROUPS = 16,
    API_API_VERSIONS = 18,
    API_CREATE_TOPICS = 19,
    API_DELETE_TOPICS = 20,
    API_DELETE_RECORDS = 21,
    API_INIT_PRODUCER_ID = 22,
    API_OFFSET_FOR_LEADER_EPOCH = 23,
    API_ADD_PARTITIONS_TO_TXN = 24,
    API_ADD_OFFSETS_TO_TXN = 25,
    API_END_TXN = 26,
    API_WRITE_TXN_MARKERS = 27,
    API_TXN_OFFSET_COMMIT = 28,
    API_DESCRIBE_CONFIGS = 32,
    API_CREATE_PARTITIONS = 37,
    API_DELETE_GROUPS = 42,
    API_INCREMENTAL_ALTER_CONFIGS = 44,
};

enum meta_type {
    META_TOPIC = 1,
    META_TOPIC_REMOVE = 2,
    META_TOPIC_CONFIG = 3,
    META_LOG_START = 4,
    META_PRODUCER_IDS = 5,
    META_BROKER = 6,
};

/* RequestHeader, versions 1-2, flexible from 2 */
struct request_header {
    int16_t request_api_key;
    int16_t request_api_version;
    int32_t correlation_id;
    struct slice client_id; /* nullable */
};
WIRE_MESSAGE_FUNCTIONS(request_header)

/* ResponseHeader, versions 0-1, flexible from 1 */
struct response_header {
    int32_t correlation_id;
};
WIRE_MESSAGE_FUNCTIONS(response_header)

struct produce_request_partition_produce_data {
    int32_t index;
    struct slice records; /* nullable */
};
WIRE_STRUCT_FUNCTIONS(produce_request_partition_produce_data)

struct produce_request_topic_produce_data {
    struct slice name;
    struct { struct produce_request_partition_produce_data *v; int32_t n; } partition_data;
};
WIRE_STRUCT_FUNCTIONS(produce_request_topic_produce_data)

/* ProduceRequest, versions 0-12, flexible from 9 */
struct produce_request {
    struct slice transactional_id; /* 3-12, nullable, default null */
    int16_t acks;
    int32_t timeout_ms;
    struct { struct produce_request_topic_produce_data *v; int32_t n; } topic_data;
};
WIRE_MESSAGE_FUNCTIONS(produce_request)

struct produce_response_batch_index_and_error_message {
    int32_t batch_index;
    struct slice batch_index_error_message; /* nullable, default null */
};
WIRE_STRUCT_FUNCTIONS(produce_response_batch_index_and_error_message)

struct produce_response_leader_id_and_epoch {
    int32_t leader_id; /* default -1 */
    int32_t leader_epoch; /* default -1 */
};
WIRE_STRUCT_FUNCTIONS(produce_response_leader_id_and_epoch)

struct produce_response_partition_produce_response {
    int32_t index;
    int16_t error_code;
    int64_t base_offset;
    int64_t log_append_time_ms; /* 2-12, default -1 */
    int64_t log_start_offset; /* 5-12, default -1 */
    struct { struct produce_response_batch_index_and_error_message *v; int32_t n; } record_errors; /* 8-12 */
    struct slice error_message; /* 8-12, nullable, default null */
    struct produce_response_leader_id_and_epoch current_leader; /* 10-12, tag 0 */
};
WIRE_STRUCT_FUNCTIONS(produce_response_partition_produce_response)

struct produce_response_topic_produce_response {
    struct slice name;
    struct { struct produce_response_partition_produce_response *v; int32_t n; } partition_responses;
};
WIRE_STRUCT_FUNCTIONS(produce_response_topic_produce_response)

struct produce_response_node_endpoint {
    int32_t node_id;
    struct slice host;
    int32_t port;
    struct slice rack; /* nullable, default null */
};
WIRE_STRUCT_FUNCTIONS(produce_response_node_endpoint)

/* ProduceResponse, versions 0-12, flexible from 9 */
struct produce_response {
    struct { struct produce_response_topic_produce_response *v; int32_t n; } responses;
    int32_t throttle_time_ms; /* 1-12 */
    struct { struct produce_response_node_endpoint *v; int32_t n; } node_endpoints; /* 10-12, tag 0 */
};
WIRE_MESSAGE_FUNCTIONS(produce_response)

struct fetch_request_fetch_partition {
    int32_t partition;
    int32_t current_leader_epoch; /* 9-12, default -1 */
    int64_t fetch_offset;
    int32_t last_fetched_epoch; /* 12, default -1 */
    int64_t log_start_offset; /* 5-12, default -1 */
    int32_t partition_max_bytes;
};
WIRE_STRUCT_FUNCTIONS(fetch_request_fetch_partition)

struct fetch_request_fetch_topic {
    struct slice topic;
    struct { struct fetch_request_fetch_partition *v; int32_t n; } partitions;
};
WIRE_STRUCT_FUNCTIONS(fetch_request_fetch_topic)

struct fetch_request_forgotten_topic {
    struct slice topic;
    struct { int32_t *v; int32_t n; } partitions;
};
WIRE_STRUCT_FUNCTIONS(fetch_request_forgotten_topic)

/* FetchRequest, versions 4-12, flexible from 12 */
struct fetch_request {
    struct slice cluster_id; /* 12, nullable, default null, tag 0 */
    int32_t replica_id; /* default -1 */
    int32_t max_wait_ms;
    int32_t min_bytes;
    int32_t max_bytes; /* default 2147483647 */
    int8_t isolation_level;
    int32_t session_id; /* 7-12 */
    int32_t session_epoch; /* 7-12, default -1 */
    struct { struct fetch_request_fetch_topic *v; int32_t n; } topics;
    struct { struct fetch_request_forgotten_topic *v; int32_t n; } forgotten_topics_data; /* 7-12 */
    struct slice rack_id; /* 11-12 */
};
WIRE_MESSAGE_FUNCTIONS(fetch_request)

struct fetch_response_epoch_end_offset {
    int32_t epoch; /* default -1 */
    int64_t end_offset; /* default -1 */
};
WIRE_STRUCT_FUNCTIONS(fetch_response_epoch_end_offset)

struct fetch_response_leader_id_and_epoch {
    int32_t leader_id; /* default -1 */
    int32_t leader_epoch; /* default -1 */
};
WIRE_STRUCT_FUNCTIONS(fetch_response_leader_id_and_epoch)

struct fetch_response_snapshot_id {
    int64_t end_offset; /* default -1 */
    int32_t epoch; /* default -1 */
};
WIRE_STRUCT_FUNCTIONS(fetch_response_snapshot_id)

struct fetch_response_aborted_transaction {
    int64_t producer_id;
    int64_t first_offset;
};
WIRE_STRUCT_FUNCTIONS(fetch_response_aborted_transaction)

struct fetch_response_partition_data {
    int32_t partition_index;
    int16_t error_code;
    int64_t high_watermark;
    int64_t last_stable_offset; /* default -1 */
    int64_t log_start_offset; /* 5-12, default -1 */
    struct fetch_response_epoch_end_offset diverging_epoch; /* 12, tag 0 */
    struct fetch_response_leader_id_and_epoch current_leader; /* 12, tag 1 */
    struct fetch_response_snapshot_id snapshot_id; /* 12, tag 2 */
    struct { struct fetch_response_aborted_transaction *v; int32_t n; } aborted_transactions; /* nullable */
    int32_t preferred_read_replica; /* 11-12, default -1 */
    struct slice records; /* nullable */
};
WIRE_STRUCT_FUNCTIONS(fetch_response_partition_data)

struct fetch_response_fetchable_topic_response {
    struct slice topic;
    struct { struct fetch_response_partition_data *v; int32_t n; } partitions;
};
WIRE_STRUCT_FUNCTIONS(fetch_response_fetchable_topic_response)

/* FetchResponse, versions 4-12, flexible from 12 */
struct fetch_response {
    int32_t throttle_time_ms;
    int16_t error_code; /* 7-12 */
    int32_t session_id; /* 7-12 */
    struct { struct fetch_response_fetchable_topic_response *v; int32_t n; } responses;
};
WIRE_MESSAGE_FUNCTIONS(fetch_response)

struct list_offsets_request_list_offsets_partition {
    int32_t partition_index;
    int32_t current_leader_epoch; /* 4-7, default -1 */
    int64_t timestamp;
};
WIRE_STRUCT_FUNCTIONS(list_offsets_request_list_offsets_partition)

struct list_offsets_request_list_offsets_topic {
    struct slice name;
    struct { struct list_offsets_request_list_offsets_partition *v; int32_t n; } partitions;
};
WIRE_STRUCT_FUNCTIONS(list_offsets_request_list_offsets_topic)

/* ListOffsetsRequest, versions 1-7, flexible from 6 */
struct list_offsets_request {
    int32_t replica_id;
    int8_t isolation_level; /* 2-7 */
    struct { struct list_offsets_request_list_offsets_topic *v; int32_t n; } topics;
};
WIRE_MESSAGE_FUNCTIONS(list_offsets_request)

struct list_offsets_response_list_offsets_partition_response {
    int32_t partition_index;
    int16_t error_code;
    int64_t timestamp; /* default -1 */
    int64_t offset; /* default -1 */
    int32_t leader_epoch; /* 4-7, default -1 */
};
WIRE_STRUCT_FUNCTIONS(list_offsets_response_list_offsets_partition_response)

struct list_offsets_response_list_offsets_topic_response {
    struct slice name;
    struct { struct list_offsets_response_list_offsets_partition_response *v; int32_t n; } partitions;
};
WIRE_STRUCT_FUNCTIONS(list_offsets_response_list_offsets_topic_response)

/* ListOffsetsResponse, versions 1-7, flexible from 6 */
struct list_offsets_response {
    int32_t throttle_time_ms; /* 2-7 */
    struct { struct list_offsets_response_list_offsets_topic_response *v; int32_t n; } topics;
};
WIRE_MESSAGE_FUNCTIONS(list_offsets_response)

struct metadata_request_metadata_request_topic {
    struct uuid topic_id; /* 10-12 */
    struct slice name; /* nullable 10-12 */
};
WIRE_STRUCT_FUNCTIONS(metadata_request_metadata_request_topic)

/* MetadataRequest, versions 0-12, flexible from 9 */
struct metadata_request {
    struct { struct metadata_request_metadata_request_topic *v; int32_t n; } topics; /* nullable 1-12 */
    bool allow_auto_topic_creation; /* 4-12, default true */
    bool include_cluster_authorized_operations; /* 8-10 */
    bool include_topic_authorized_operations; /* 8-12 */
};
WIRE_MESSAGE_FUNCTIONS(metadata_request)

struct metadata_response_metadata_response_broker {
    int32_t node_id;
    struct slice host;
    int32_t port;
    struct slice rack; /* 1-12, nullable, default null */
};
WIRE_STRUCT_FUNCTIONS(metadata_response_metadata_response_broker)

struct metadata_response_metadata_response_partition {
    int16_t error_code;
    int32_t partition_index;
    int32_t leader_id;
    int32_t leader_epoch; /* 7-12, default -1 */
    struct { int32_t *v; int32_t n; } replica_nodes;
    struct { int32_t *v; int32_t n; } isr_nodes;
    struct { int32_t *v; int32_t n; } offline_replicas; /* 5-12 */
};
WIRE_STRUCT_FUNCTIONS(metadata_response_metadata_response_partition)

struct metadata_response_metadata_response_topic {
    int16_t error_code;
    struct slice name; /* nullable 12 */
    struct uuid topic_id; /* 10-12 */
    bool is_internal; /* 1-12 */
    struct { struct metadata_response_metadata_response_partition *v; int32_t n; } partitions;
    int32_t topic_authorized_operations; /* 8-12, default -2147483648 */
};
WIRE_STRUCT_FUNCTIONS(metadata_response_metadata_response_topic)

/* MetadataResponse, versions 0-12, flexible from 9 */
struct metadata_response {
    int32_t throttle_time_ms; /* 3-12 */
    struct { struct metadata_response_metadata_response_broker *v; int32_t n; } brokers;
    struct slice cluster_id; /* 2-12, nullable, default null */
    int32_t controller_id; /* 1-12, default -1 */
    struct { struct metadata_response_metadata_response_topic *v; int32_t n; } topics;
    int32_t cluster_authorized_operations; /* 8-10, default -2147483648 */
};
WIRE_MESSAGE_FUNCTIONS(metadata_response)

struct offset_commit_request_offset_commit_request_partition {
    int32_t partition_index;
    int64_t committed_offset;
    int32_t committed_leader_epoch; /* 6-9, default -1 */
    struct slice committed_metadata; /* nullable */
};
WIRE_STRUCT_FUNCTIONS(offset_commit_request_offset_commit_request_partition)

struct offset_commit_request_offset_commit_request_topic {
    struct slice name;
    struct { struct offset_commit_request_offset_commit_request_partition *v; int32_t n; } partitions;
};
WIRE_STRUCT_FUNCTIONS(offset_commit_request_offset_commit_request_topic)

/* OffsetCommitRequest, versions 2-9, flexible from 8 */
struct offset_commit_request {
    struct slice group_id;
    int32_t generation_id_or_member_epoch; /* default -1 */
    struct slice member_id;
    struct slice group_instance_id; /* 7-9, nullable, default null */
    int64_t retention_time_ms; /* 2-4, default -1 */
    struct { struct offset_commit_request_offset_commit_request_topic *v; int32_t n; } topics;
};
WIRE_MESSAGE_FUNCTIONS(offset_commit_request)

struct offset_commit_response_offset_commit_response_partition {
    int32_t partition_index;
    int16_t error_code;
};
WIRE_STRUCT_FUNCTIONS(offset_commit_response_offset_commit_response_partition)

struct offset_commit_response_offset_commit_response_topic {
    struct slice name;
    struct { struct offset_commit_response_offset_commit_response_partition *v; int32_t n; } partitions;
};
WIRE_STRUCT_FUNCTIONS(offset_commit_response_offset_commit_response_topic)

/* OffsetCommitResponse, versions 2-9, flexible from 8 */
struct offset_commit_response {
    int32_t throttle_time_ms; /* 3-9 */
    struct { struct offset_commit_response_offset_commit_response_topic *v; int32_t n; } topics;
};
WIRE_MESSAGE_FUNCTIONS(offset_commit_response)

struct offset_fetch_request_offset_fetch_request_topic {
    struct slice name;
    struct { int32_t *v; int32_t n; } partition_indexes;
};
WIRE_STRUCT_FUNCTIONS(offset_fetch_request_offset_fetch_request_topic)

struct offset_fetch_request_offset_fetch_request_topics {
    struct slice name;
    struct { int32_t *v; int32_t n; } partition_indexes;
};
WIRE_STRUCT_FUNCTIONS(offset_fetch_request_offset_fetch_request_topics)

struct offset_fetch_request_offset_fetch_request_group {
    struct slice group_id;
    struct slice member_id; /* 9, nullable, default null */
    int32_t member_epoch; /* 9, default -1 */
    struct { struct offset_fetch_request_offset_fetch_request_topics *v; int32_t n; } topics; /* nullable */
};
WIRE_STRUCT_FUNCTIONS(offset_fetch_request_offset_fetch_request_group)

/* OffsetFetchRequest, versions 1-9, flexible from 6 */
struct offset_fetch_request {
    struct slice group_id; /* 1-7 */
    struct { struct offset_fetch_request_offset_fetch_request_topic *v; int32_t n; } topics; /* 1-7, nullable 2-7 */
    struct { struct offset_fetch_request_offset_fetch_request_group *v; int32_t n; } groups; /* 8-9 */
    bool require_stable; /* 7-9 */
};
WIRE_MESSAGE_FUNCTIONS(offset_fetch_request)

struct offset_fetch_response_offset_fetch_response_partition {
    int32_t partition_index;
    int64_t committed_offset;
    int32_t committed_leader_epoch; /* 5-7, default -1 */
    struct slice metadata; /* nullable */
    int16_t error_code;
};
WIRE_STRUCT_FUNCTIONS(offset_fetch_response_offset_fetch_response_partition)

struct offset_fetch_response_offset_fetch_response_topic {
    struct slice name;
    struct { struct offset_fetch_response_offset_fetch_response_partition *v; int32_t n; } partitions;
};
WIRE_STRUCT_FUNCTIONS(offset_fetch_response_offset_fetch_response_topic)

struct offset_fetch_response_offset_fetch_response_partitions {
    int32_t partition_index;
    int64_t committed_offset;
    int32_t committed_leader_epoch; /* default -1 */
    struct slice metadata; /* nullable */
    int16_t error_code;
};
WIRE_STRUCT_FUNCTIONS(offset_fetch_response_offset_fetch_response_partitions)

struct offset_fetch_response_offset_fetch_response_topics {
    struct slice name;
    struct { struct offset_fetch_response_offset_fetch_response_partitions *v; int32_t n; } partitions;
};
WIRE_STRUCT_FUNCTIONS(offset_fetch_response_offset_fetch_response_topics)

struct offset_fetch_response_offset_fetch_response_group {
    struct slice group_id;
    struct { struct offset_fetch_response_offset_fetch_response_topics *v; int32_t n; } topics;
    int16_t error_code;
};
WIRE_STRUCT_FUNCTIONS(offset_fetch_response_offset_fetch_response_group)

/* OffsetFetchResponse, versions 1-9, flexible from 6 */
struct offset_fetch_response {
    int32_t throttle_time_ms; /* 3-9 */
    struct { struct offset_fetch_response_offset_fetch_response_topic *v; int32_t n; } topics; /* 1-7 */
    int16_t error_code; /* 2-7 */
    struct { struct offset_fetch_response_offset_fetch_response_group *v; int32_t n; } groups; /* 8-9 */
};
WIRE_MESSAGE_FUNCTIONS(offset_fetch_response)

/* FindCoordinatorRequest, versions 0-4, flexible from 3 */
struct find_coordinator_request {
    struct slice key; /* 0-3 */
    int8_t key_type; /* 1-4 */
    struct { struct slice *v; int32_t n; } coordinator_keys; /* 4 */
};
WIRE_MESSAGE_FUNCTIONS(find_coordinator_request)

struct find_coordinator_response_coordinator {
    struct slice key;
    int32_t node_id;
    struct slice host;
    int32_t port;
    int16_t error_code;
    struct slice error_message; /* nullable */
};
WIRE_STRUCT_FUNCTIONS(find_coordinator_response_coordinator)

/* FindCoordinatorResponse, versions 0-4, flexible from 3 */
struct find_coordinator_response {
    int32_t throttle_time_ms; /* 1-4 */
    int16_t error_code; /* 0-3 */
    struct slice error_message; /* 1-3, nullable */
    int32_t node_id; /* 0-3 */
    struct slice host; /* 0-3 */
    int32_t port; /* 0-3 */
    struct { struct find_coordinator_response_coordinator *v; int32_t n; } coordinators; /* 4 */
};
WIRE_MESSAGE_FUNCTIONS(find_coordinator_response)

struct join_group_request_join_group_request_protocol {
    struct slice name;
    struct slice metadata;
};
WIRE_STRUCT_FUNCTIONS(join_group_request_join_group_request_protocol)

/* JoinGroupRequest, versions 0-9, flexible from 6 */
struct join_group_request {
    struct slice group_id;
    int32_t session_timeout_ms;
    int32_t rebalance_timeout_ms; /* 1-9, default -1 */
    struct slice member_id;
    struct slice group_instance_id; /* 5-9, nullable, default null */
    struct slice protocol_type;
    struct { struct join_group_request_join_group_request_protocol *v; int32_t n; } protocols;
    struct slice reason; /* 8-9, nullable, default null */
};
WIRE_MESSAGE_FUNCTIONS(join_group_request)

struct join_group_response_join_group_response_member {
    struct slice member_id;
    struct slice group_instance_id; /* 5-9, nullable, default null */
    struct slice metadata;
};
WIRE_STRUCT_FUNCTIONS(join_group_response_join_group_response_member)

/* JoinGroupResponse, versions 0-9, flexible from 6 */
struct join_group_response {
    int32_t throttle_time_ms; /* 2-9 */
    int16_t error_code;
    int32_t generation_id; /* default -1 */
    struct slice protocol_type; /* 7-9, nullable, default null */
    struct slice protocol_name; /* nullable 7-9 */
    struct slice leader;
    bool skip_assignment; /* 9 */
    struct slice member_id;
    struct { struct join_group_response_join_group_response_member *v; int32_t n; } members;
};
WIRE_MESSAGE_FUNCTIONS(join_group_response)

/* HeartbeatRequest, versions 0-4, flexible from 4 */
struct heartbeat_request {
    struct slice group_id;
    int32_t generation_id;
    struct slice member_id;
    struct slice group_instance_id; /* 3-4, nullable, default null */
};
WIRE_MESSAGE_FUNCTIONS(heartbeat_request)

/* HeartbeatResponse, versions 0-4, flexible from 4 */
struct heartbeat_response {
    int32_t throttle_time_ms; /* 1-4 */
    int16_t error_code;
};
WIRE_MESSAGE_FUNCTIONS(heartbeat_response)

struct leave_group_request_member_identity {
    struct slice member_id;
    struct slice group_instance_id; /* nullable, default null */
    struct slice reason; /* 5, nullable, default null */
};
WIRE_STRUCT_FUNCTIONS(leave_group_request_member_identity)

/* LeaveGroupRequest, versions 0-5, flexible from 4 */
struct leave_group_request {
    struct slice group_id;
    struct slice member_id; /* 0-2 */
    struct { struct leave_group_request_member_identity *v; int32_t n; } members; /* 3-5 */
};
WIRE_MESSAGE_FUNCTIONS(leave_group_request)

struct leave_group_response_member_response {
    struct slice member_id;
    struct slice group_instance_id; /* nullable */
    int16_t error_code;
};
WIRE_STRUCT_FUNCTIONS(leave_group_response_member_response)

/* LeaveGroupResponse, versions 0-5, flexible from 4 */
struct leave_group_response {
    int32_t throttle_time_ms; /* 1-5 */
    int16_t error_code;
    struct { struct leave_group_response_member_response *v; int32_t n; } members; /* 3-5 */
};
WIRE_MESSAGE_FUNCTIONS(leave_group_response)

struct sync_group_request_sync_group_request_assignment {
    struct slice member_id;
    struct slice assignment;
};
WIRE_STRUCT_FUNCTIONS(sync_group_request_sync_group_request_assignment)

/* SyncGroupRequest, versions 0-5, flexible from 4 */
struct sync_group_request {
    struct slice group_id;
    int32_t generation_id;
    struct slice member_id;
    struct slice group_instance_id; /* 3-5, nullable, default null */
    struct slice protocol_type; /* 5, nullable, default null */
    struct slice protocol_name; /* 5, nullable, default null */
    struct { struct sync_group_request_sync_group_request_assignment *v; int32_t n; } assignments;
};
WIRE_MESSAGE_FUNCTIONS(sync_group_request)

/* SyncGroupResponse, versions 0-5, flexible from 4 */
struct sync_group_response {
    int32_t throttle_time_ms; /* 1-5 */
    int16_t error_code;
    struct slice protocol_type; /* 5, nullable, default null */
    struct slice protocol_name; /* 5, nullable, default null */
    struct slice assignment;
};
WIRE_MESSAGE_FUNCTIONS(sync_group_response)

/* DescribeGroupsRequest, versions 0-5, flexible from 5 */
struct describe_groups_request {
    struct { struct slice *v; int32_t n; } groups;
    bool include_authorized_operations; /* 3-5 */
};
WIRE_MESSAGE_FUNCTIONS(describe_groups_request)

struct describe_groups_response_described_group_member {
    struct slice member_id;
    struct slice group_instance_id; /* 4-5, nullable, default null */
    struct slice client_id;
    struct slice client_host;
    struct slice member_metadata;
    struct slice member_assignment;
};
WIRE_STRUCT_FUNCTIONS(describe_groups_response_described_group_member)

struct describe_groups_response_described_group {
    int16_t error_code;
    struct slice group_id;
    struct slice group_state;
    struct slice protocol_type;
    struct slice protocol_data;
    struct { struct describe_groups_response_described_group_member *v; int32_t n; } members;
    int32_t authorized_operations; /* 3-5, default -2147483648 */
};
WIRE_STRUCT_FUNCTIONS(describe_groups_response_described_group)

/* DescribeGroupsResponse, versions 0-5, flexible from 5 */
struct describe_groups_response {
    int32_t throttle_time_ms; /* 1-5 */
    struct { struct describe_groups_response_described_group *v; int32_t n; } groups;
};
WIRE_MESSAGE_FUNCTIONS(describe_groups_response)

/* ListGroupsRequest, versions 0-4, flexible from 3 */
struct list_groups_request {
    struct { struct slice *v; int32_t n; } states_filter; /* 4 */
};
WIRE_MESSAGE_FUNCTIONS(list_groups_request)

struct list_groups_response_listed_group {
    struct slice group_id;
    struct slice protocol_type;
    struct slice group_state; /* 4 */
};
WIRE_STRUCT_FUNCTIONS(list_groups_response_listed_group)

/* ListGroupsResponse, versions 0-4, flexible from 3 */
struct list_groups_response {
    int32_t throttle_time_ms; /* 1-4 */
    int16_t error_code;
    struct { struct list_groups_response_listed_group *v; int32_t n; } groups;
};
WIRE_MESSAGE_FUNCTIONS(list_groups_response)

/* ApiVersionsRequest, versions 0-4, flexible from 3 */
struct api_versions_request {
    struct slice client_software_name; /* 3-4 */
    struct slice client_software_version; /* 3-4 */
};
WIRE_MESSAGE_FUNCTIONS(api_versions_request)

struct api_versions_response_api_version {
    int16_t api_key;
    int16_t min_version;
    int16_t max_version;
};
WIRE_STRUCT_FUNCTIONS(api_versions_response_api_version)

struct api_versions_response_supported_feature_key {
    struct slice name;
    int16_t min_version;
    int16_t max_version;
};
WIRE_STRUCT_FUNCTIONS(api_versions_response_supported_feature_key)

struct api_versions_response_finalized_feature_key {
    struct slice name;
    int16_t max_version_level;
    int16_t min_version_level;
};
WIRE_STRUCT_FUNCTIONS(api_versions_response_finalized_feature_key)

/* ApiVersionsResponse, versions 0-4, flexible from 3 */
struct api_versions_response {
    int16_t error_code;
    struct { struct api_versions_response_api_version *v; int32_t n; } api_keys;
    int32_t throttle_time_ms; /* 1-4 */
    struct { struct api_versions_response_supported_feature_key *v; int32_t n; } supported_features; /* 3-4, tag 0 */
    int64_t finalized_features_epoch; /* 3-4, default -1, tag 1 */
    struct { struct api_versions_response_finalized_feature_key *v; int32_t n; } finalized_features; /* 3-4, tag 2 */
    bool zk_migration_ready; /* 3-4, tag 3 */
};
WIRE_MESSAGE_FUNCTIONS(api_versions_response)

struct create_topics_request_creatable_replica_assignment {
    int32_t partition_index;
    struct { int32_t *v; int32_t n; } broker_ids;
};
WIRE_STRUCT_FUNCTIONS(create_topics_request_creatable_replica_assignment)

struct create_topics_request_creatable_topic_config {
    struct slice name;
    struct slice value; /* nullable */
};
WIRE_STRUCT_FUNCTIONS(create_topics_request_creatable_topic_config)

struct create_topics_request_creatable_topic {
    struct slice name;
    int32_t num_partitions;
    int16_t replication_factor;
    struct { struct create_topics_request_creatable_replica_assignment *v; int32_t n; } assignments;
    struct { struct create_topics_request_creatable_topic_config *v; int32_t n; } configs;
};
WIRE_STRUCT_FUNCTIONS(create_topics_request_creatable_topic)

/* CreateTopicsRequest, versions 2-7, flexible from 5 */
struct create_topics_request {
    struct { struct create_topics_request_creatable_topic *v; int32_t n; } topics;
    int32_t timeout_ms; /* default 60000 */
    bool validate_only;
};
WIRE_MESSAGE_FUNCTIONS(create_topics_request)

struct create_topics_response_creatable_topic_configs {
    struct slice name;
    struct slice value; /* nullable */
    bool read_only;
    int8_t config_source; /* default -1 */
    bool is_sensitive;
};
WIRE_STRUCT_FUNCTIONS(create_topics_response_creatable_topic_configs)

struct create_topics_response_creatable_topic_result {
    struct slice name;
    struct uuid topic_id; /* 7 */
    int16_t error_code;
    struct slice error_message; /* nullable */
    int16_t topic_config_error_code; /* 5-7, tag 0 */
    int32_t num_partitions; /* 5-7, default -1 */
    int16_t replication_factor; /* 5-7, default -1 */
    struct { struct create_topics_response_creatable_topic_configs *v; int32_t n; } configs; /* 5-7, nullable */
};
WIRE_STRUCT_FUNCTIONS(create_topics_response_creatable_topic_result)

/* CreateTopicsResponse, versions 2-7, flexible from 5 */
struct create_topics_response {
    int32_t throttle_time_ms;
    struct { struct create_topics_response_creatable_topic_result *v; int32_t n; } topics;
};
WIRE_MESSAGE_FUNCTIONS(create_topics_response)

struct delete_topics_request_delete_topic_state {
    struct slice name; /* nullable, default null */
    struct uuid topic_id;
};
WIRE_STRUCT_FUNCTIONS(delete_topics_request_delete_topic_state)

/* DeleteTopicsRequest, versions 1-6, flexible from 4 */
struct delete_topics_request {
    struct { struct delete_topics_request_delete_topic_state *v; int32_t n; } topics; /* 6 */
    struct { struct slice *v; int32_t n; } topic_names; /* 1-5 */
    int32_t timeout_ms;
};
WIRE_MESSAGE_FUNCTIONS(delete_topics_request)

struct delete_topics_response_deletable_topic_result {
    struct slice name; /* nullable 6 */
    struct uuid topic_id; /* 6 */
    int16_t error_code;
    struct slice error_message; /* 5-6, nullable, default null */
};
WIRE_STRUCT_FUNCTIONS(delete_topics_response_deletable_topic_result)

/* DeleteTopicsResponse, versions 1-6, flexible from 4 */
struct delete_topics_response {
    int32_t throttle_time_ms;
    struct { struct delete_topics_response_deletable_topic_result *v; int32_t n; } responses;
};
WIRE_MESSAGE_FUNCTIONS(delete_topics_response)

struct delete_records_request_delete_records_partition {
    int32_t partition_index;
    int64_t offset;
};
WIRE_STRUCT_FUNCTIONS(delete_records_request_delete_records_partition)

struct delete_records_request_delete_records_topic {
    struct slice name;
    struct { struct delete_records_request_delete_records_partition *v; int32_t n; } partitions;
};
WIRE_STRUCT_FUNCTIONS(delete_records_request_delete_records_topic)

/* DeleteRecordsRequest, versions 0-2, flexible from 2 */
struct delete_records_request {
    struct { struct delete_records_request_delete_records_topic *v; int32_t n; } topics;
    int32_t timeout_ms;
};
WIRE_MESSAGE_FUNCTIONS(delete_records_request)

struct delete_records_response_delete_records_partition_result {
    int32_t partition_index;
    int64_t low_watermark;
    int16_t error_code;
};
WIRE_STRUCT_FUNCTIONS(delete_records_response_delete_records_partition_result)

struct delete_records_response_delete_records_topic_result {
    struct slice name;
    struct { struct delete_records_response_delete_records_partition_result *v; int32_t n; } partitions;
};
WIRE_STRUCT_FUNCTIONS(delete_records_response_delete_records_topic_result)

/* DeleteRecordsResponse, versions 0-2, flexible from 2 */
struct delete_records_response {
    int32_t throttle_time_ms;
    struct { struct delete_records_response_delete_records_topic_result *v; int32_t n; } topics;
};
WIRE_MESSAGE_FUNCTIONS(delete_records_response)

/* InitProducerIdRequest, versions 0-5, flexible from 2 */
struct init_producer_id_request {
    struct slice transactional_id; /* nullable */
    int32_t transaction_timeout_ms;
    int64_t producer_id; /* 3-5, default -1 */
    int16_t producer_epoch; /* 3-5, default -1 */
};
WIRE_MESSAGE_FUNCTIONS(init_producer_id_request)

/* InitProducerIdResponse, versions 0-5, flexible from 2 */
struct init_producer_id_response {
    int32_t throttle_time_ms;
    int16_t error_code;
    int64_t producer_id; /* default -1 */
    int16_t producer_epoch;
};
WIRE_MESSAGE_FUNCTIONS(init_producer_id_response)

struct offset_for_leader_epoch_request_offset_for_leader_partition {
    int32_t partition;
    int32_t current_leader_epoch; /* default -1 */
    int32_t leader_epoch;
};
WIRE_STRUCT_FUNCTIONS(offset_for_leader_epoch_request_offset_for_leader_partition)

struct offset_for_leader_epoch_request_offset_for_leader_topic {
    struct slice topic;
    struct { struct offset_for_leader_epoch_request_offset_for_leader_partition *v; int32_t n; } partitions;
};
WIRE_STRUCT_FUNCTIONS(offset_for_leader_epoch_request_offset_for_leader_topic)

/* OffsetForLeaderEpochRequest, versions 2-4, flexible from 4 */
struct offset_for_leader_epoch_request {
    int32_t replica_id; /* 3-4, default -2 */
    struct { struct offset_for_leader_epoch_request_offset_for_leader_topic *v; int32_t n; } topics;
};
WIRE_MESSAGE_FUNCTIONS(offset_for_leader_epoch_request)

struct offset_for_leader_epoch_response_epoch_end_offset {
    int16_t error_code;
    int32_t partition;
    int32_t leader_epoch; /* default -1 */
    int64_t end_offset; /* default -1 */
};
WIRE_STRUCT_FUNCTIONS(offset_for_leader_epoch_response_epoch_end_offset)

struct offset_for_leader_epoch_response_offset_for_leader_topic_result {
    struct slice topic;
    struct { struct offset_for_leader_epoch_response_epoch_end_offset *v; int32_t n; } partitions;
};
WIRE_STRUCT_FUNCTIONS(offset_for_leader_epoch_response_offset_for_leader_topic_result)

/* OffsetForLeaderEpochResponse, versions 2-4, flexible from 4 */
struct offset_for_leader_epoch_response {
    int32_t throttle_time_ms;
    struct { struct offset_for_leader_epoch_response_offset_for_leader_topic_result *v; int32_t n; } topics;
};
WIRE_MESSAGE_FUNCTIONS(offset_for_leader_epoch_response)

struct add_partitions_to_txn_request_add_partitions_to_txn_topic {
    struct slice name;
    struct { int32_t *v; int32_t n; } partitions;
};
WIRE_STRUCT_FUNCTIONS(add_partitions_to_txn_request_add_partitions_to_txn_topic)

/* AddPartitionsToTxnRequest, versions 0-3, flexible from 3 */
struct add_partitions_to_txn_request {
    struct slice v3_and_below_transactional_id;
    int64_t v3_and_below_producer_id;
    int16_t v3_and_below_producer_epoch;
    struct { struct add_partitions_to_txn_request_add_partitions_to_txn_topic *v; int32_t n; } v3_and_below_topics;
};
WIRE_MESSAGE_FUNCTIONS(add_partitions_to_txn_request)

struct add_partitions_to_txn_response_add_partitions_to_txn_partition_result {
    int32_t partition_index;
    int16_t partition_error_code;
};
WIRE_STRUCT_FUNCTIONS(add_partitions_to_txn_response_add_partitions_to_txn_partition_result)

struct add_partitions_to_txn_response_add_partitions_to_txn_topic_result {
    struct slice name;
    struct { struct add_partitions_to_txn_response_add_partitions_to_txn_partition_result *v; int32_t n; } results_by_partition;
};
WIRE_STRUCT_FUNCTIONS(add_partitions_to_txn_response_add_partitions_to_txn_topic_result)

/* AddPartitionsToTxnResponse, versions 0-3, flexible from 3 */
struct add_partitions_to_txn_response {
    int32_t throttle_time_ms;
    struct { struct add_partitions_to_txn_response_add_partitions_to_txn_topic_result *v; int32_t n; } results_by_topic_v3_and_below;
};
WIRE_MESSAGE_FUNCTIONS(add_partitions_to_txn_response)

/* AddOffsetsToTxnRequest, versions 0-3, flexible from 3 */
struct add_offsets_to_txn_request {
    struct slice transactional_id;
    int64_t producer_id;
    int16_t producer_epoch;
    struct slice group_id;
};
WIRE_MESSAGE_FUNCTIONS(add_offsets_to_txn_request)

/* AddOffsetsToTxnResponse, versions 0-3, flexible from 3 */
struct add_offsets_to_txn_response {
    int32_t throttle_time_ms;
    int16_t error_code;
};
WIRE_MESSAGE_FUNCTIONS(add_offsets_to_txn_response)

/* EndTxnRequest, versions 0-5, flexible from 3 */
struct end_txn_request {
    struct slice transactional_id;
    int64_t producer_id;
    int16_t producer_epoch;
    bool committed;
};
WIRE_MESSAGE_FUNCTIONS(end_txn_request)

/* EndTxnResponse, versions 0-5, flexible from 3 */
struct end_txn_response {
    int32_t throttle_time_ms;
    int16_t error_code;
    int64_t producer_id; /* 5, default -1 */
    int16_t producer_epoch; /* 5, default -1 */
};
WIRE_MESSAGE_FUNCTIONS(end_txn_response)

struct write_txn_markers_request_writable_txn_marker_topic {
    struct slice name;
    struct { int32_t *v; int32_t n; } partition_indexes;
};
WIRE_STRUCT_FUNCTIONS(write_txn_markers_request_writable_txn_marker_topic)

struct write_txn_markers_request_writable_txn_marker {
    int64_t producer_id;
    int16_t producer_epoch;
    bool transaction_result;
    struct { struct write_txn_markers_request_writable_txn_marker_topic *v; int32_t n; } topics;
    int32_t coordinator_epoch;
};
WIRE_STRUCT_FUNCTIONS(write_txn_markers_request_writable_txn_marker)

/* WriteTxnMarkersRequest, versions 1, flexible from 1 */
struct write_txn_markers_request {
    struct { struct write_txn_markers_request_writable_txn_marker *v; int32_t n; } markers;
};
WIRE_MESSAGE_FUNCTIONS(write_txn_markers_request)

struct write_txn_markers_response_writable_txn_marker_partition_result {
    int32_t partition_index;
    int16_t error_code;
};
WIRE_STRUCT_FUNCTIONS(write_txn_markers_response_writable_txn_marker_partition_result)

struct write_txn_markers_response_writable_txn_marker_topic_result {
    struct slice name;
    struct { struct write_txn_markers_response_writable_txn_marker_partition_result *v; int32_t n; } partitions;
};
WIRE_STRUCT_FUNCTIONS(write_txn_markers_response_writable_txn_marker_topic_result)

struct write_txn_markers_response_writable_txn_marker_result {
    int64_t producer_id;
    struct { struct write_txn_markers_response_writable_txn_marker_topic_result *v; int32_t n; } topics;
};
WIRE_STRUCT_FUNCTIONS(write_txn_markers_response_writable_txn_marker_result)

/* WriteTxnMarkersResponse, versions 1, flexible from 1 */
struct write_txn_markers_response {
    struct { struct write_txn_markers_response_writable_txn_marker_result *v; int32_t n; } markers;
};
WIRE_MESSAGE_FUNCTIONS(write_txn_markers_response)

struct txn_offset_commit_request_txn_offset_commit_request_partition {
    int32_t partition_index;
    int64_t committed_offset;
    int32_t committed_leader_epoch; /* 2-5, default -1 */
    struct slice committed_metadata; /* nullable */
};
WIRE_STRUCT_FUNCTIONS(txn_offset_commit_request_txn_offset_commit_request_partition)

struct txn_offset_commit_request_txn_offset_commit_request_topic {
    struct slice name;
    struct { struct txn_offset_commit_request_txn_offset_commit_request_partition *v; int32_t n; } partitions;
};
WIRE_STRUCT_FUNCTIONS(txn_offset_commit_request_txn_offset_commit_request_topic)

/* TxnOffsetCommitRequest, versions 0-5, flexible from 3 */
struct txn_offset_commit_request {
    struct slice transactional_id;
    struct slice group_id;
    int64_t producer_id;
    int16_t producer_epoch;
    int32_t generation_id_or_member_epoch; /* 3-5, default -1 */
    struct slice member_id; /* 3-5 */
    struct slice group_instance_id; /* 3-5, nullable, default null */
    struct { struct txn_offset_commit_request_txn_offset_commit_request_topic *v; int32_t n; } topics;
};
WIRE_MESSAGE_FUNCTIONS(txn_offset_commit_request)

struct txn_offset_commit_response_txn_offset_commit_response_partition {
    int32_t partition_index;
    int16_t error_code;
};
WIRE_STRUCT_FUNCTIONS(txn_offset_commit_response_txn_offset_commit_response_partition)

struct txn_offset_commit_response_txn_offset_commit_response_topic {
    struct slice name;
    struct { struct txn_offset_commit_response_txn_offset_commit_response_partition *v; int32_t n; } partitions;
};
WIRE_STRUCT_FUNCTIONS(txn_offset_commit_response_txn_offset_commit_response_topic)

/* TxnOffsetCommitResponse, versions 0-5, flexible from 3 */
struct txn_offset_commit_response {
    int32_t throttle_time_ms;
    struct { struct txn_offset_commit_response_txn_offset_commit_response_topic *v; int32_t n; } topics;
};
WIRE_MESSAGE_FUNCTIONS(txn_offset_commit_response)

struct describe_configs_request_describe_configs_resource {
    int8_t resource_type;
    struct slice resource_name;
    struct { struct slice *v; int32_t n; } configuration_keys; /* nullable */
};
WIRE_STRUCT_FUNCTIONS(describe_configs_request_describe_configs_resource)

/* DescribeConfigsRequest, versions 0-4, flexible from 4 */
struct describe_configs_request {
    struct { struct describe_configs_request_describe_configs_resource *v; int32_t n; } resources;
    bool include_synonyms; /* 1-4 */
    bool include_documentation; /* 3-4 */
};
WIRE_MESSAGE_FUNCTIONS(describe_configs_request)

struct describe_configs_response_describe_configs_synonym {
    struct slice name;
    struct slice value; /* nullable */
    int8_t source;
};
WIRE_STRUCT_FUNCTIONS(describe_configs_response_describe_configs_synonym)

struct describe_configs_response_describe_configs_resource_result {
    struct slice name;
    struct slice value; /* nullable */
    bool read_only;
    bool is_default; /* 0 */
    int8_t config_source; /* 1-4, default -1 */
    bool is_sensitive;
    struct { struct describe_configs_response_describe_configs_synonym *v; int32_t n; } synonyms; /* 1-4 */
    int8_t config_type; /* 3-4 */
    struct slice documentation; /* 3-4, nullable */
};
WIRE_STRUCT_FUNCTIONS(describe_configs_response_describe_configs_resource_result)

struct describe_configs_response_describe_configs_result {
    int16_t error_code;
    struct slice error_message; /* nullable */
    int8_t resource_type;
    struct slice resource_name;
    struct { struct describe_configs_response_describe_configs_resource_result *v; int32_t n; } configs;
};
WIRE_STRUCT_FUNCTIONS(describe_configs_response_describe_configs_result)

/* DescribeConfigsResponse, versions 0-4, flexible from 4 */
struct describe_configs_response {
    int32_t throttle_time_ms;
    struct { struct describe_configs_response_describe_configs_result *v; int32_t n; } results;
};
WIRE_MESSAGE_FUNCTIONS(describe_configs_response)

struct create_partitions_request_create_partitions_assignment {
    struct { int32_t *v; int32_t n; } broker_ids;
};
WIRE_STRUCT_FUNCTIONS(create_partitions_request_create_partitions_assignment)

struct create_partitions_request_create_partitions_topic {
    struct slice name;
    int32_t count;
    struct { struct create_partitions_request_create_partitions_assignment *v; int32_t n; } assignments; /* nullable */
};
WIRE_STRUCT_FUNCTIONS(create_partitions_request_create_partitions_topic)

/* CreatePartitionsRequest, versions 0-3, flexible from 2 */
struct create_partitions_request {
    struct { struct create_partitions_request_create_partitions_topic *v; int32_t n; } topics;
    int32_t timeout_ms;
    bool validate_only;
};
WIRE_MESSAGE_FUNCTIONS(create_partitions_request)

struct create_partitions_response_create_partitions_topic_result {
    struct slice name;
    int16_t error_code;
    struct slice error_message; /* nullable, default null */
};
WIRE_STRUCT_FUNCTIONS(create_partitions_response_create_partitions_topic_result)

/* CreatePartitionsResponse, versions 0-3, flexible from 2 */
struct create_partitions_response {
    int32_t throttle_time_ms;
    struct { struct create_partitions_response_create_partitions_topic_result *v; int32_t n; } results;
};
WIRE_MESSAGE_FUNCTIONS(create_partitions_response)

/* DeleteGroupsRequest, versions 0-2, flexible from 2 */
struct delete_groups_request {
    struct { struct slice *v; int32_t n; } groups_names;
};
WIRE_MESSAGE_FUNCTIONS(delete_groups_request)

struct delete_groups_response_deletable_group_result {
    struct slice group_id;
    int16_t error_code;
};
WIRE_STRUCT_FUNCTIONS(delete_groups_response_deletable_group_result)

/* DeleteGroupsResponse, versions 0-2, flexible from 2 */
struct delete_groups_response {
    int32_t throttle_time_ms;
    struct { struct delete_groups_response_deletable_group_result *v; int32_t n; } results;
};
WIRE_MESSAGE_FUNCTIONS(delete_groups_response)

struct incremental_alter_configs_request_alterable_config {
    struct slice name;
    int8_t config_operation;
    struct slice value; /* nullable */
};
WIRE_STRUCT_FUNCTIONS(incremental_alter_configs_request_alterable_config)

struct incremental_alter_configs_request_alter_configs_resource {
    int8_t resource_type;
    struct slice resource_name;
    struct { struct incremental_alter_configs_request_alterable_config *v; int32_t n; } configs;
};
WIRE_STRUCT_FUNCTIONS(incremental_alter_configs_request_alter_configs_resource)

/* IncrementalAlterConfigsRequest, versions 0-1, flexible from 1 */
struct incremental_alter_configs_request {
    struct { struct incremental_alter_configs_request_alter_configs_resource *v; int32_t n; } resources;
    bool validate_only;
};
WIRE_MESSAGE_FUNCTIONS(incremental_alter_configs_request)

struct incremental_alter_configs_response_alter_configs_resource_response {
    int16_t error_code;
    struct slice error_message; /* nullable */
    int8_t resource_type;
    struct slice resource_name;
};
WIRE_STRUCT_FUNCTIONS(incremental_alter_configs_response_alter_configs_resource_response)

/* IncrementalAlterConfigsResponse, versions 0-1, flexible from 1 */
struct incremental_alter_configs_response {
    int32_t throttle_time_ms;
    struct { struct incremental_alter_configs_response_alter_configs_resource_response *v; int32_t n; } responses;
};
WIRE_MESSAGE_FUNCTIONS(incremental_alter_configs_response)

/* TransactionLogKey, versions 0 */
struct transaction_log_key {
    struct slice transactional_id;
};
WIRE_MESSAGE_FUNCTIONS(transaction_log_key)

struct transaction_log_value_partitions_schema {
    struct slice topic;
    struct { int32_t *v; int32_t n; } partition_ids;
};
WIRE_STRUCT_FUNCTIONS(transaction_log_value_partitions_schema)

/* TransactionLogValue, versions 0-1, flexible from 1 */
struct transaction_log_value {
    int64_t producer_id;
    int64_t previous_producer_id; /* 1, default -1, tag 0 */
    int64_t next_producer_id; /* 1, default -1, tag 1 */
    int16_t producer_epoch;
    int16_t next_producer_epoch; /* 1, default -1, tag 3 */
    int32_t transaction_timeout_ms;
    int8_t transaction_status;
    struct { struct transaction_log_value_partitions_schema *v; int32_t n; } transaction_partitions; /* nullable */
    int64_t transaction_last_update_timestamp_ms;
    int64_t transaction_start_timestamp_ms;
    int16_t client_transaction_version; /* 1, tag 2 */
    int16_t last_epoch; /* 1, default -1, tag 100 */
};
WIRE_MESSAGE_FUNCTIONS(transaction_log_value)

/* OffsetCommitKey, versions 0-1 */
struct offset_commit_key {
    struct slice group;
    struct slice topic;
    int32_t partition;
};
WIRE_MESSAGE_FUNCTIONS(offset_commit_key)

/* OffsetCommitValue, versions 0-4, flexible from 4 */
struct offset_commit_value {
    int64_t offset;
    int32_t leader_epoch; /* 3-4, default -1 */
    struct slice metadata;
    int64_t commit_timestamp;
    int64_t expire_timestamp; /* 1, default -1 */
    struct uuid topic_id; /* 4, tag 0 */
};
WIRE_MESSAGE_FUNCTIONS(offset_commit_value)

/* GroupMetadataKey, versions 2 */
struct group_metadata_key {
    struct slice group;
};
WIRE_MESSAGE_FUNCTIONS(group_metadata_key)

struct group_metadata_value_member_metadata {
    struct slice member_id;
    struct slice group_instance_id; /* 3-4, nullable, default null */
    struct slice client_id;
    struct slice client_host;
    int32_t rebalance_timeout; /* 1-4, default -1 */
    int32_t session_timeout;
    struct slice subscription;
    struct slice assignment;
};
WIRE_STRUCT_FUNCTIONS(group_metadata_value_member_metadata)

/* GroupMetadataValue, versions 0-4, flexible from 4 */
struct group_metadata_value {
    struct slice protocol_type;
    int32_t generation;
    struct slice protocol; /* nullable */
    struct slice leader; /* nullable */
    int64_t current_state_timestamp; /* 2-4, default -1 */
    struct { struct group_metadata_value_member_metadata *v; int32_t n; } members;
};
WIRE_MESSAGE_FUNCTIONS(group_metadata_value)

/* ControlRecordTypeKey, versions 0 */
struct control_record_type_key {
    int16_t version;
    int16_t type;
};
WIRE_MESSAGE_FUNCTIONS(control_record_type_key)

/* EndTxnMarker, versions 0 */
struct end_txn_marker {
    int16_t version;
    int32_t coordinator_epoch;
};
WIRE_MESSAGE_FUNCTIONS(end_txn_marker)

struct consumer_protocol_subscription_topic_partition {
    struct slice topic;
    struct { int32_t *v; int32_t n; } partitions;
};
WIRE_STRUCT_FUNCTIONS(consumer_protocol_subscription_topic_partition)

/* ConsumerProtocolSubscription, versions 0-3 */
struct consumer_protocol_subscription {
    struct { struct slice *v; int32_t n; } topics;
    struct slice user_data; /* nullable, default null */
    struct { struct consumer_protocol_subscription_topic_partition *v; int32_t n; } owned_partitions; /* 1-3 */
    int32_t generation_id; /* 2-3, default -1 */
    struct slice rack_id; /* 3, nullable, default null */
};
WIRE_MESSAGE_FUNCTIONS(consumer_protocol_subscription)

struct consumer_protocol_assignment_topic_partition {
    struct slice topic;
    struct { int32_t *v; int32_t n; } partitions;
};
WIRE_STRUCT_FUNCTIONS(consumer_protocol_assignment_topic_partition)

/* ConsumerProtocolAssignment, versions 0-3 */
struct consumer_protocol_assignment {
    struct { struct consumer_protocol_assignment_topic_partition *v; int32_t n; } assigned_partitions;
    struct slice user_data; /* nullable, default null */
};
WIRE_MESSAGE_FUNCTIONS(consumer_protocol_assignment)

struct meta_topic_config_entry {
    struct slice name;
    struct slice value; /* nullable */
};
WIRE_STRUCT_FUNCTIONS(meta_topic_config_entry)

/* MetaTopic, versions 0, flexible from 0 */
struct meta_topic {
    struct slice name;
    struct uuid topic_id;
    int32_t partitions;
    struct { struct meta_topic_config_entry *v; int32_t n; } configs;
};
WIRE_MESSAGE_FUNCTIONS(meta_topic)

/* MetaTopicRemove, versions 0, flexible from 0 */
struct meta_topic_remove {
    struct uuid topic_id;
    struct slice name;
};
WIRE_MESSAGE_FUNCTIONS(meta_topic_remove)

struct meta_topic_config_config_entry {
    struct slice name;
    struct slice value; /* nullable */
};
WIRE_STRUCT_FUNCTIONS(meta_topic_config_config_entry)

/* MetaTopicConfig, versions 0, flexible from 0 */
struct meta_topic_config {
    struct uuid topic_id;
    struct { struct meta_topic_config_config_entry *v; int32_t n; } configs;
};
WIRE_MESSAGE_FUNCTIONS(meta_topic_config)

/* MetaLogStart, versions 0, flexible from 0 */
struct meta_log_start {
    struct uuid topic_id;
    int32_t partition;
    int64_t offset;
};
WIRE_MESSAGE_FUNCTIONS(meta_log_start)

/* MetaProducerIds, versions 0, flexible from 0 */
struct meta_producer_ids {
    int64_t next_producer_id;
};
WIRE_MESSAGE_FUNCTIONS(meta_producer_ids)

/* MetaBroker, versions 0, flexible from 0 */
struct meta_broker {
    struct slice cluster_id;
    int32_t leader_epoch;
};
WIRE_MESSAGE_FUNCTIONS(meta_broker)
#endif

-- Records of __transaction_state, __consumer_offsets and of control batches. The keys and values of
-- the two topics begin with an int16 version that is not a field here.
message { "TransactionLogKey", "0",
  { "TransactionalId", "string" },
}

message { "TransactionLogValue", "0-1", flexible = 1,
  { "ProducerId", "int64" },
  { "PreviousProducerId", "int64", "1+", default = -1, tag = 0 },
  { "NextProducerId", "int64", "1+", default = -1, tag = 1 },
  { "ProducerEpoch", "int16" },
  { "NextProducerEpoch", "int16", "1+", default = -1, tag = 3 },
  { "TransactionTimeoutMs", "int32" },
  { "TransactionStatus", "int8" },
  { "TransactionPartitions", "[]PartitionsSchema?",
    { "Topic", "string" },
    { "PartitionIds", "[]int32" } },
  { "TransactionLastUpdateTimestampMs", "int64" },
  { "TransactionStartTimestampMs", "int64" },
  { "ClientTransactionVersion", "int16", "1+", tag = 2 },
  -- Ours: Kafka forgets it over a restart, and its readers skip a tag they do not know.
  { "LastEpoch", "int16", "1+", default = -1, tag = 100 },
}

message { "OffsetCommitKey", "0-1",
  { "group", "string" },
  { "topic", "string" },
  { "partition", "int32" },
}

message { "OffsetCommitValue", "0-4", flexible = 4,
  { "offset", "int64" },
  { "leaderEpoch", "int32", "3+", default = -1, ignorable = true },
  { "metadata", "string" },
  { "commitTimestamp", "int64" },
  { "expireTimestamp", "int64", "1", default = -1, ignorable = true },
  { "topicId", "uuid", "4+", tag = 0, ignorable = true },
}

message { "GroupMetadataKey", "2",
  { "group", "string" },
}

message { "GroupMetadataValue", "0-4", flexible = 4,
  { "protocolType", "string" },
  { "generation", "int32" },
  { "protocol", "string?" },
  { "leader", "string?" },
  { "currentStateTimestamp", "int64", "2+", default = -1, ignorable = true },
  { "members", "[]MemberMetadata",
    { "memberId", "string" },
    { "groupInstanceId", "string?", "3+", default = "null", ignorable = true },
    { "clientId", "string" },
    { "clientHost", "string" },
    { "rebalanceTimeout", "int32", "1+", default = -1, ignorable = true },
    { "sessionTimeout", "int32" },
    { "subscription", "bytes" },
    { "assignment", "bytes" } },
}

message { "ControlRecordTypeKey", "0",
  { "Version", "int16" },
  { "Type", "int16" },
}

message { "EndTxnMarker", "0",
  { "Version", "int16" },
  { "CoordinatorEpoch", "int32" },
}

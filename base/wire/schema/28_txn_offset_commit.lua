-- TxnOffsetCommit (28)
api { "TxnOffsetCommit", 28, "0-5", flexible = 3 }

message { "TxnOffsetCommitRequest", "0-5", flexible = 3,
  { "TransactionalId", "string" },
  { "GroupId", "string" },
  { "ProducerId", "int64" },
  { "ProducerEpoch", "int16" },
  { "GenerationIdOrMemberEpoch", "int32", "3+", default = -1 },
  { "MemberId", "string", "3+" },
  { "GroupInstanceId", "string?", "3+", default = "null" },
  { "Topics", "[]TxnOffsetCommitRequestTopic",
    { "Name", "string", ignorable = true },
    { "Partitions", "[]TxnOffsetCommitRequestPartition",
      { "PartitionIndex", "int32" },
      { "CommittedOffset", "int64" },
      { "CommittedLeaderEpoch", "int32", "2+", default = -1, ignorable = true },
      { "CommittedMetadata", "string?" } } },
}

message { "TxnOffsetCommitResponse", "0-5", flexible = 3,
  { "ThrottleTimeMs", "int32" },
  { "Topics", "[]TxnOffsetCommitResponseTopic",
    { "Name", "string", ignorable = true },
    { "Partitions", "[]TxnOffsetCommitResponsePartition",
      { "PartitionIndex", "int32" },
      { "ErrorCode", "int16" } } },
}

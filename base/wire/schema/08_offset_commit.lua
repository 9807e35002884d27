-- OffsetCommit (8)
api { "OffsetCommit", 8, "2-9", flexible = 8 }

message { "OffsetCommitRequest", "2-9", flexible = 8,
  { "GroupId", "string" },
  { "GenerationIdOrMemberEpoch", "int32", default = -1, ignorable = true },
  { "MemberId", "string", ignorable = true },
  { "GroupInstanceId", "string?", "7+", default = "null" },
  { "RetentionTimeMs", "int64", "2-4", default = -1, ignorable = true },
  { "Topics", "[]OffsetCommitRequestTopic",
    { "Name", "string", ignorable = true },
    { "Partitions", "[]OffsetCommitRequestPartition",
      { "PartitionIndex", "int32" },
      { "CommittedOffset", "int64" },
      { "CommittedLeaderEpoch", "int32", "6+", default = -1, ignorable = true },
      { "CommittedMetadata", "string?" } } },
}

message { "OffsetCommitResponse", "2-9", flexible = 8,
  { "ThrottleTimeMs", "int32", "3+", ignorable = true },
  { "Topics", "[]OffsetCommitResponseTopic",
    { "Name", "string", ignorable = true },
    { "Partitions", "[]OffsetCommitResponsePartition",
      { "PartitionIndex", "int32" },
      { "ErrorCode", "int16" } } },
}

-- OffsetForLeaderEpoch (23)
api { "OffsetForLeaderEpoch", 23, "2-4", flexible = 4 }

message { "OffsetForLeaderEpochRequest", "2-4", flexible = 4,
  { "ReplicaId", "int32", "3+", default = -2, ignorable = true },
  { "Topics", "[]OffsetForLeaderTopic",
    { "Topic", "string" },
    { "Partitions", "[]OffsetForLeaderPartition",
      { "Partition", "int32" },
      { "CurrentLeaderEpoch", "int32", default = -1, ignorable = true },
      { "LeaderEpoch", "int32" } } },
}

message { "OffsetForLeaderEpochResponse", "2-4", flexible = 4,
  { "ThrottleTimeMs", "int32", ignorable = true },
  { "Topics", "[]OffsetForLeaderTopicResult",
    { "Topic", "string" },
    { "Partitions", "[]EpochEndOffset",
      { "ErrorCode", "int16" },
      { "Partition", "int32" },
      { "LeaderEpoch", "int32", default = -1, ignorable = true },
      { "EndOffset", "int64", default = -1 } } },
}

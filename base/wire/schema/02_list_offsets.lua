-- ListOffsets (2)
api { "ListOffsets", 2, "1-7", flexible = 6 }

message { "ListOffsetsRequest", "1-7", flexible = 6,
  { "ReplicaId", "int32" },
  { "IsolationLevel", "int8", "2+" },
  { "Topics", "[]ListOffsetsTopic",
    { "Name", "string" },
    { "Partitions", "[]ListOffsetsPartition",
      { "PartitionIndex", "int32" },
      { "CurrentLeaderEpoch", "int32", "4+", default = -1, ignorable = true },
      { "Timestamp", "int64" } } },
}

message { "ListOffsetsResponse", "1-7", flexible = 6,
  { "ThrottleTimeMs", "int32", "2+", ignorable = true },
  { "Topics", "[]ListOffsetsTopicResponse",
    { "Name", "string" },
    { "Partitions", "[]ListOffsetsPartitionResponse",
      { "PartitionIndex", "int32" },
      { "ErrorCode", "int16" },
      { "Timestamp", "int64", default = -1 },
      { "Offset", "int64", default = -1 },
      { "LeaderEpoch", "int32", "4+", default = -1 } } },
}

-- DeleteRecords (21)
api { "DeleteRecords", 21, "0-2", flexible = 2 }

message { "DeleteRecordsRequest", "0-2", flexible = 2,
  { "Topics", "[]DeleteRecordsTopic",
    { "Name", "string" },
    { "Partitions", "[]DeleteRecordsPartition",
      { "PartitionIndex", "int32" },
      { "Offset", "int64" } } },
  { "TimeoutMs", "int32" },
}

message { "DeleteRecordsResponse", "0-2", flexible = 2,
  { "ThrottleTimeMs", "int32" },
  { "Topics", "[]DeleteRecordsTopicResult",
    { "Name", "string" },
    { "Partitions", "[]DeleteRecordsPartitionResult",
      { "PartitionIndex", "int32" },
      { "LowWatermark", "int64" },
      { "ErrorCode", "int16" } } },
}

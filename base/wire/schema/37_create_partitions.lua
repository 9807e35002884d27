-- CreatePartitions (37)
api { "CreatePartitions", 37, "0-3", flexible = 2 }

message { "CreatePartitionsRequest", "0-3", flexible = 2,
  { "Topics", "[]CreatePartitionsTopic",
    { "Name", "string" },
    { "Count", "int32" },
    { "Assignments", "[]CreatePartitionsAssignment?",
      { "BrokerIds", "[]int32" } } },
  { "TimeoutMs", "int32" },
  { "ValidateOnly", "bool" },
}

message { "CreatePartitionsResponse", "0-3", flexible = 2,
  { "ThrottleTimeMs", "int32" },
  { "Results", "[]CreatePartitionsTopicResult",
    { "Name", "string" },
    { "ErrorCode", "int16" },
    { "ErrorMessage", "string?", default = "null" } },
}

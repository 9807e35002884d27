-- What consumers of a group tell each other inside JoinGroup and SyncGroup. An int16 version comes
-- first and is not a field here.
message { "ConsumerProtocolSubscription", "0-3",
  { "Topics", "[]string" },
  { "UserData", "bytes?", default = "null" },
  { "OwnedPartitions", "[]TopicPartition", "1+", ignorable = true,
    { "Topic", "string" },
    { "Partitions", "[]int32" } },
  { "GenerationId", "int32", "2+", default = -1, ignorable = true },
  { "RackId", "string?", "3+", default = "null", ignorable = true },
}

message { "ConsumerProtocolAssignment", "0-3",
  { "AssignedPartitions", "[]TopicPartition",
    { "Topic", "string" },
    { "Partitions", "[]int32" } },
  { "UserData", "bytes?", default = "null" },
}

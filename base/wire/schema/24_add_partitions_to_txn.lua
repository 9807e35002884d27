-- AddPartitionsToTxn (24)
api { "AddPartitionsToTxn", 24, "0-3", flexible = 3 }

message { "AddPartitionsToTxnRequest", "0-3", flexible = 3,
  { "V3AndBelowTransactionalId", "string" },
  { "V3AndBelowProducerId", "int64" },
  { "V3AndBelowProducerEpoch", "int16" },
  { "V3AndBelowTopics", "[]AddPartitionsToTxnTopic",
    { "Name", "string" },
    { "Partitions", "[]int32" } },
}

message { "AddPartitionsToTxnResponse", "0-3", flexible = 3,
  { "ThrottleTimeMs", "int32" },
  { "ResultsByTopicV3AndBelow", "[]AddPartitionsToTxnTopicResult",
    { "Name", "string" },
    { "ResultsByPartition", "[]AddPartitionsToTxnPartitionResult",
      { "PartitionIndex", "int32" },
      { "PartitionErrorCode", "int16" } } },
}

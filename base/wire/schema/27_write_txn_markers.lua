-- WriteTxnMarkers (27)
api { "WriteTxnMarkers", 27, "1", flexible = 1 }

message { "WriteTxnMarkersRequest", "1", flexible = 1,
  { "Markers", "[]WritableTxnMarker",
    { "ProducerId", "int64" },
    { "ProducerEpoch", "int16" },
    { "TransactionResult", "bool" },
    { "Topics", "[]WritableTxnMarkerTopic",
      { "Name", "string" },
      { "PartitionIndexes", "[]int32" } },
    { "CoordinatorEpoch", "int32" } },
}

message { "WriteTxnMarkersResponse", "1", flexible = 1,
  { "Markers", "[]WritableTxnMarkerResult",
    { "ProducerId", "int64" },
    { "Topics", "[]WritableTxnMarkerTopicResult",
      { "Name", "string" },
      { "Partitions", "[]WritableTxnMarkerPartitionResult",
        { "PartitionIndex", "int32" },
        { "ErrorCode", "int16" } } } },
}

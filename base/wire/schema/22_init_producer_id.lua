-- InitProducerId (22)
api { "InitProducerId", 22, "0-5", flexible = 2 }

message { "InitProducerIdRequest", "0-5", flexible = 2,
  { "TransactionalId", "string?" },
  { "TransactionTimeoutMs", "int32" },
  { "ProducerId", "int64", "3+", default = -1 },
  { "ProducerEpoch", "int16", "3+", default = -1 },
}

message { "InitProducerIdResponse", "0-5", flexible = 2,
  { "ThrottleTimeMs", "int32", ignorable = true },
  { "ErrorCode", "int16" },
  { "ProducerId", "int64", default = -1 },
  { "ProducerEpoch", "int16" },
}

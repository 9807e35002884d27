-- EndTxn (26)
api { "EndTxn", 26, "0-5", flexible = 3 }

message { "EndTxnRequest", "0-5", flexible = 3,
  { "TransactionalId", "string" },
  { "ProducerId", "int64" },
  { "ProducerEpoch", "int16" },
  { "Committed", "bool" },
}

message { "EndTxnResponse", "0-5", flexible = 3,
  { "ThrottleTimeMs", "int32" },
  { "ErrorCode", "int16" },
  { "ProducerId", "int64", "5+", default = -1, ignorable = true },
  { "ProducerEpoch", "int16", "5+", default = -1, ignorable = true },
}

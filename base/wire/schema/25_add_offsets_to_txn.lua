-- AddOffsetsToTxn (25)
api { "AddOffsetsToTxn", 25, "0-3", flexible = 3 }

message { "AddOffsetsToTxnRequest", "0-3", flexible = 3,
  { "TransactionalId", "string" },
  { "ProducerId", "int64" },
  { "ProducerEpoch", "int16" },
  { "GroupId", "string" },
}

message { "AddOffsetsToTxnResponse", "0-3", flexible = 3,
  { "ThrottleTimeMs", "int32" },
  { "ErrorCode", "int16" },
}

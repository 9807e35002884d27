-- The headers of requests and responses. No API here uses request header 0.
message { "RequestHeader", "1-2", flexible = 2,
  { "RequestApiKey", "int16" },
  { "RequestApiVersion", "int16" },
  { "CorrelationId", "int32" },
  { "ClientId", "string?", ignorable = true, rigid = true },
}

message { "ResponseHeader", "0-1", flexible = 1,
  { "CorrelationId", "int32" },
}

-- FindCoordinator (10)
api { "FindCoordinator", 10, "0-4", flexible = 3 }

message { "FindCoordinatorRequest", "0-4", flexible = 3,
  { "Key", "string", "0-3" },
  { "KeyType", "int8", "1+" },
  { "CoordinatorKeys", "[]string", "4+" },
}

message { "FindCoordinatorResponse", "0-4", flexible = 3,
  { "ThrottleTimeMs", "int32", "1+", ignorable = true },
  { "ErrorCode", "int16", "0-3" },
  { "ErrorMessage", "string?", "1-3", ignorable = true },
  { "NodeId", "int32", "0-3" },
  { "Host", "string", "0-3" },
  { "Port", "int32", "0-3" },
  { "Coordinators", "[]Coordinator", "4+",
    { "Key", "string" },
    { "NodeId", "int32" },
    { "Host", "string" },
    { "Port", "int32" },
    { "ErrorCode", "int16" },
    { "ErrorMessage", "string?", ignorable = true } },
}

-- Heartbeat (12)
api { "Heartbeat", 12, "0-4", flexible = 4 }

message { "HeartbeatRequest", "0-4", flexible = 4,
  { "GroupId", "string" },
  { "GenerationId", "int32" },
  { "MemberId", "string" },
  { "GroupInstanceId", "string?", "3+", default = "null" },
}

message { "HeartbeatResponse", "0-4", flexible = 4,
  { "ThrottleTimeMs", "int32", "1+", ignorable = true },
  { "ErrorCode", "int16" },
}

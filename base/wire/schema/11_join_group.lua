-- JoinGroup (11)
api { "JoinGroup", 11, "0-9", flexible = 6 }

message { "JoinGroupRequest", "0-9", flexible = 6,
  { "GroupId", "string" },
  { "SessionTimeoutMs", "int32" },
  { "RebalanceTimeoutMs", "int32", "1+", default = -1, ignorable = true },
  { "MemberId", "string" },
  { "GroupInstanceId", "string?", "5+", default = "null" },
  { "ProtocolType", "string" },
  { "Protocols", "[]JoinGroupRequestProtocol",
    { "Name", "string" },
    { "Metadata", "bytes" } },
  { "Reason", "string?", "8+", default = "null", ignorable = true },
}

message { "JoinGroupResponse", "0-9", flexible = 6,
  { "ThrottleTimeMs", "int32", "2+", ignorable = true },
  { "ErrorCode", "int16" },
  { "GenerationId", "int32", default = -1 },
  { "ProtocolType", "string?", "7+", default = "null", ignorable = true },
  { "ProtocolName", "string", null = "7+" },
  { "Leader", "string" },
  { "SkipAssignment", "bool", "9+" },
  { "MemberId", "string" },
  { "Members", "[]JoinGroupResponseMember",
    { "MemberId", "string" },
    { "GroupInstanceId", "string?", "5+", default = "null", ignorable = true },
    { "Metadata", "bytes" } },
}

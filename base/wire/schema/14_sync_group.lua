-- SyncGroup (14)
api { "SyncGroup", 14, "0-5", flexible = 4 }

message { "SyncGroupRequest", "0-5", flexible = 4,
  { "GroupId", "string" },
  { "GenerationId", "int32" },
  { "MemberId", "string" },
  { "GroupInstanceId", "string?", "3+", default = "null" },
  { "ProtocolType", "string?", "5+", default = "null", ignorable = true },
  { "ProtocolName", "string?", "5+", default = "null", ignorable = true },
  { "Assignments", "[]SyncGroupRequestAssignment",
    { "MemberId", "string" },
    { "Assignment", "bytes" } },
}

message { "SyncGroupResponse", "0-5", flexible = 4,
  { "ThrottleTimeMs", "int32", "1+", ignorable = true },
  { "ErrorCode", "int16" },
  { "ProtocolType", "string?", "5+", default = "null", ignorable = true },
  { "ProtocolName", "string?", "5+", default = "null", ignorable = true },
  { "Assignment", "bytes" },
}

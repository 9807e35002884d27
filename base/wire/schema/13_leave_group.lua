-- LeaveGroup (13)
api { "LeaveGroup", 13, "0-5", flexible = 4 }

message { "LeaveGroupRequest", "0-5", flexible = 4,
  { "GroupId", "string" },
  { "MemberId", "string", "0-2" },
  { "Members", "[]MemberIdentity", "3+",
    { "MemberId", "string" },
    { "GroupInstanceId", "string?", default = "null" },
    { "Reason", "string?", "5+", default = "null", ignorable = true } },
}

message { "LeaveGroupResponse", "0-5", flexible = 4,
  { "ThrottleTimeMs", "int32", "1+", ignorable = true },
  { "ErrorCode", "int16" },
  { "Members", "[]MemberResponse", "3+",
    { "MemberId", "string" },
    { "GroupInstanceId", "string?" },
    { "ErrorCode", "int16" } },
}

-- DeleteGroups (42)
api { "DeleteGroups", 42, "0-2", flexible = 2 }

message { "DeleteGroupsRequest", "0-2", flexible = 2,
  { "GroupsNames", "[]string" },
}

message { "DeleteGroupsResponse", "0-2", flexible = 2,
  { "ThrottleTimeMs", "int32" },
  { "Results", "[]DeletableGroupResult",
    { "GroupId", "string" },
    { "ErrorCode", "int16" } },
}

-- ListGroups (16)
api { "ListGroups", 16, "0-4", flexible = 3 }

message { "ListGroupsRequest", "0-4", flexible = 3,
  { "StatesFilter", "[]string", "4+" },
}

message { "ListGroupsResponse", "0-4", flexible = 3,
  { "ThrottleTimeMs", "int32", "1+", ignorable = true },
  { "ErrorCode", "int16" },
  { "Groups", "[]ListedGroup",
    { "GroupId", "string" },
    { "ProtocolType", "string" },
    { "GroupState", "string", "4+", ignorable = true } },
}

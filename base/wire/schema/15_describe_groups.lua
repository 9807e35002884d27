-- DescribeGroups (15)
api { "DescribeGroups", 15, "0-5", flexible = 5 }

message { "DescribeGroupsRequest", "0-5", flexible = 5,
  { "Groups", "[]string" },
  { "IncludeAuthorizedOperations", "bool", "3+" },
}

message { "DescribeGroupsResponse", "0-5", flexible = 5,
  { "ThrottleTimeMs", "int32", "1+", ignorable = true },
  { "Groups", "[]DescribedGroup",
    { "ErrorCode", "int16" },
    { "GroupId", "string" },
    { "GroupState", "string" },
    { "ProtocolType", "string" },
    { "ProtocolData", "string" },
    { "Members", "[]DescribedGroupMember",
      { "MemberId", "string" },
      { "GroupInstanceId", "string?", "4+", default = "null", ignorable = true },
      { "ClientId", "string" },
      { "ClientHost", "string" },
      { "MemberMetadata", "bytes" },
      { "MemberAssignment", "bytes" } },
    { "AuthorizedOperations", "int32", "3+", default = -2147483648 } },
}

-- DescribeConfigs (32)
api { "DescribeConfigs", 32, "0-4", flexible = 4 }

message { "DescribeConfigsRequest", "0-4", flexible = 4,
  { "Resources", "[]DescribeConfigsResource",
    { "ResourceType", "int8" },
    { "ResourceName", "string" },
    { "ConfigurationKeys", "[]string?" } },
  { "IncludeSynonyms", "bool", "1+" },
  { "IncludeDocumentation", "bool", "3+" },
}

message { "DescribeConfigsResponse", "0-4", flexible = 4,
  { "ThrottleTimeMs", "int32" },
  { "Results", "[]DescribeConfigsResult",
    { "ErrorCode", "int16" },
    { "ErrorMessage", "string?" },
    { "ResourceType", "int8" },
    { "ResourceName", "string" },
    { "Configs", "[]DescribeConfigsResourceResult",
      { "Name", "string" },
      { "Value", "string?" },
      { "ReadOnly", "bool" },
      { "IsDefault", "bool", "0" },
      { "ConfigSource", "int8", "1+", default = -1, ignorable = true },
      { "IsSensitive", "bool" },
      { "Synonyms", "[]DescribeConfigsSynonym", "1+", ignorable = true,
        { "Name", "string" },
        { "Value", "string?" },
        { "Source", "int8" } },
      { "ConfigType", "int8", "3+", ignorable = true },
      { "Documentation", "string?", "3+", ignorable = true } } },
}

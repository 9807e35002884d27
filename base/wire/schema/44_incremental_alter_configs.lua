-- IncrementalAlterConfigs (44)
api { "IncrementalAlterConfigs", 44, "0-1", flexible = 1 }

message { "IncrementalAlterConfigsRequest", "0-1", flexible = 1,
  { "Resources", "[]AlterConfigsResource",
    { "ResourceType", "int8" },
    { "ResourceName", "string" },
    { "Configs", "[]AlterableConfig",
      { "Name", "string" },
      { "ConfigOperation", "int8" },
      { "Value", "string?" } } },
  { "ValidateOnly", "bool" },
}

message { "IncrementalAlterConfigsResponse", "0-1", flexible = 1,
  { "ThrottleTimeMs", "int32" },
  { "Responses", "[]AlterConfigsResourceResponse",
    { "ErrorCode", "int16" },
    { "ErrorMessage", "string?" },
    { "ResourceType", "int8" },
    { "ResourceName", "string" } },
}

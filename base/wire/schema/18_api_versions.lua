-- ApiVersions (18)
api { "ApiVersions", 18, "0-4", flexible = 3 }

message { "ApiVersionsRequest", "0-4", flexible = 3,
  { "ClientSoftwareName", "string", "3+", ignorable = true },
  { "ClientSoftwareVersion", "string", "3+", ignorable = true },
}

message { "ApiVersionsResponse", "0-4", flexible = 3,
  { "ErrorCode", "int16" },
  { "ApiKeys", "[]ApiVersion",
    { "ApiKey", "int16" },
    { "MinVersion", "int16" },
    { "MaxVersion", "int16" } },
  { "ThrottleTimeMs", "int32", "1+", ignorable = true },
  { "SupportedFeatures", "[]SupportedFeatureKey", "3+", tag = 0, ignorable = true,
    { "Name", "string" },
    { "MinVersion", "int16" },
    { "MaxVersion", "int16" } },
  { "FinalizedFeaturesEpoch", "int64", "3+", default = -1, tag = 1, ignorable = true },
  { "FinalizedFeatures", "[]FinalizedFeatureKey", "3+", tag = 2, ignorable = true,
    { "Name", "string" },
    { "MaxVersionLevel", "int16" },
    { "MinVersionLevel", "int16" } },
  { "ZkMigrationReady", "bool", "3+", tag = 3, ignorable = true },
}

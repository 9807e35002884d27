-- DeleteTopics (20)
api { "DeleteTopics", 20, "1-6", flexible = 4 }

message { "DeleteTopicsRequest", "1-6", flexible = 4,
  { "Topics", "[]DeleteTopicState", "6+",
    { "Name", "string?", default = "null" },
    { "TopicId", "uuid" } },
  { "TopicNames", "[]string", "0-5", ignorable = true },
  { "TimeoutMs", "int32" },
}

message { "DeleteTopicsResponse", "1-6", flexible = 4,
  { "ThrottleTimeMs", "int32", ignorable = true },
  { "Responses", "[]DeletableTopicResult",
    { "Name", "string", null = "6+" },
    { "TopicId", "uuid", "6+", ignorable = true },
    { "ErrorCode", "int16" },
    { "ErrorMessage", "string?", "5+", default = "null", ignorable = true } },
}

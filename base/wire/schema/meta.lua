-- Records of the broker's own metadata partition. The key is the int16 type alone, or begins with
-- it; the value begins with an int16 version. Neither is a field here.
meta { "MetaTopic", 1, "0", flexible = 0,
  { "Name", "string" },
  { "TopicId", "uuid" },
  { "Partitions", "int32" },
  { "Configs", "[]ConfigEntry",
    { "Name", "string" },
    { "Value", "string?" } },
}

meta { "MetaTopicRemove", 2, "0", flexible = 0,
  { "TopicId", "uuid" },
  { "Name", "string" },
}

-- The whole set of the topic's configs, in place of the one before.
meta { "MetaTopicConfig", 3, "0", flexible = 0,
  { "TopicId", "uuid" },
  { "Configs", "[]ConfigEntry",
    { "Name", "string" },
    { "Value", "string?" } },
}

meta { "MetaLogStart", 4, "0", flexible = 0,
  { "TopicId", "uuid" },
  { "Partition", "int32" },
  { "Offset", "int64" },
}

-- The first producer id that no block handed out so far holds.
meta { "MetaProducerIds", 5, "0", flexible = 0,
  { "NextProducerId", "int64" },
}

meta { "MetaBroker", 6, "0", flexible = 0,
  { "ClusterId", "string" },
  { "LeaderEpoch", "int32" },
}

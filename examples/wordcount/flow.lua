-- The same word count, written as a flow: count makes the internal topic and the second step by
-- itself.
local flow = require "once.flow"

return flow { name = "wordcount", order = "any", sample = "alice.txt" }
  :stream "lines"
  :flatmap(function(r, out)
    for token in r.value:lower():gmatch "[a-z']+" do
      local word = token:match "^'*(.-)'*$"
      if word ~= "" then out(word) end
    end
  end)
  :count { store = "counts" }
  :to "word-counts"

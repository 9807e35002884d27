-- Counts the words of the lines of a text. Every step of every count goes out: the last value of a
-- word is its count.
local once = require "once"

local job = once.job { name = "wordcount", order = "any", sample = "alice.txt" }

job:node {
  name = "split",
  from = "lines",
  to = "#words",
  process = function(ctx, r)
    for token in r.value:lower():gmatch "[a-z']+" do
      local word = token:match "^'*(.-)'*$" -- apostrophes around a word are quotes
      if word ~= "" then ctx:emit("#words", { key = word }) end
    end
  end,
}

job:node {
  name = "count",
  from = "#words",
  to = "word-counts",
  stores = { counts = {} },
  process = function(ctx, r)
    local n = (ctx.counts:get(r.key) or 0) + 1
    ctx.counts:put(r.key, n)
    ctx:emit("word-counts", { key = r.key, value = n })
  end,
}

return job

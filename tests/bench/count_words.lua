-- The job of the worker benchmark: counts words in one step, each line one process call.
local once = require "once"

return once.job {
  name = "bench-words",
  from = "bench-lines",
  to = "bench-counts",
  stores = { counts = {} },
  process = function(ctx, r)
    local counts = ctx.counts
    for word in r.value:lower():gmatch "[a-z']+" do
      local n = (counts:get(word) or 0) + 1
      counts:put(word, n)
    end
  end,
}

-- The job of the pass-through benchmark: every record goes on as it came.
local once = require "once"

return once.job {
  name = "bench-pass",
  from = "bench-lines",
  to = "bench-passed",
  process = function(ctx, r) ctx:emit("bench-passed", r) end,
}

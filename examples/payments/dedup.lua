-- What each supplier was paid, when lines may arrive more than once: only the first line of a
-- transaction number counts, however often the file is fed.
local once = require "once"

local TRANS_NO, SUPPLIER, PENCE = 1, 5, 6 -- fields of a line

local job = once.job { name = "dedup", order = "any", sample = "sample.csv" }

job:node {
  name = "route",
  from = { topic = "payments", value = "csv" },
  to = "#by-number",
  process = function(ctx, r)
    local pence = math.tointeger(tonumber(r.value[PENCE]))
    if not pence then ctx:reject("the amount is not a number of pence", r.value) end
    ctx:emit("#by-number", { key = r.value[TRANS_NO], value = { r.value[SUPPLIER], pence } })
  end,
}

job:node {
  name = "first",
  from = { topic = "#by-number", value = "json" },
  to = "#by-supplier",
  stores = { seen = {} },
  process = function(ctx, r)
    if ctx.seen:get(r.key) then return end
    ctx.seen:put(r.key, true)
    local supplier, pence = r.value[1], r.value[2]
    ctx:emit("#by-supplier", { key = supplier, value = pence })
  end,
}

job:node {
  name = "total",
  from = { topic = "#by-supplier", value = "json" },
  to = "supplier-totals",
  stores = { totals = {} },
  process = function(ctx, r)
    local total = ctx.totals:update(r.key, function(sum) return sum + r.value end, 0)
    ctx:emit("supplier-totals", { key = r.key, value = total })
  end,
}

return job

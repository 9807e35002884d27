-- Books every payment: the amount leaves the account of the council's service area and arrives at
-- the supplier's. Each account lives in one partition of #entries, so both sides of a payment are
-- two entries. All balances add up to 0.
local once = require "once"

local AREA, SUPPLIER, PENCE = 3, 5, 6 -- fields of a line

local job = once.job { name = "transfer", order = "any", sample = "sample.csv" }

job:node {
  name = "book",
  from = { topic = "payments", value = "csv" },
  to = "#entries",
  process = function(ctx, r)
    local pence = math.tointeger(tonumber(r.value[PENCE]))
    if not pence then ctx:reject("the amount is not a number of pence", r.value) end
    ctx:emit("#entries", { key = "area:" .. r.value[AREA], value = -pence })
    ctx:emit("#entries", { key = "sup:" .. r.value[SUPPLIER], value = pence })
  end,
}

job:node {
  name = "balance",
  from = { topic = "#entries", value = "json" },
  to = "balances",
  stores = { balances = {} },
  process = function(ctx, r)
    local balance = (ctx.balances:get(r.key) or 0) + r.value
    ctx.balances:put(r.key, balance)
    ctx:emit("balances", { key = r.key, value = balance })
  end,
}

return job

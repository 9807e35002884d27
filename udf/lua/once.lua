-- once.lua: the module `once`, and the check of what a job declares.
--
-- A job's file calls once.job and job:node; every mistake is an error at the line of that call.
-- `finish` turns what the file returned into one plain description that C reads: names, nodes with
-- their sources, outputs and stores, and the node groups.

local core = ...
local fail, where, nearest, is_name = core.fail, core.where, core.nearest, core.is_name
local type, pairs, ipairs, tostring, tonumber, setmetatable, getmetatable =
  type, pairs, ipairs, tostring, tonumber, setmetatable, getmetatable
local sub, match, format, concat = string.sub, string.match, string.format, table.concat
local math_type, tointeger = math.type, math.tointeger

local function failf(...)
  fail(format(...))
end

local function quoted(v)
  return type(v) == "string" and format("%q", v) or tostring(v)
end

-- The keys of t must be among `known`; those in `later` are of a later version.
local function check_keys(what, t, known, later)
  for k in pairs(t) do
    if not known[k] then
      if later and later[k] then
        failf("%s: %s is not supported yet in this version", what, quoted(k))
      end
      local names = {}
      for n in pairs(known) do names[#names + 1] = n end
      local near = type(k) == "string" and nearest(k, names)
      failf("%s: unknown key %s%s", what, quoted(k),
        near and format(", did you mean %q?", near) or " (known: " .. concat(names, ", ") .. ")")
    end
  end
end

local function set(...)
  local s = {}
  for _, k in ipairs { ... } do s[k] = true end
  return s
end

local function one_of(what, v, choices)
  for _, c in ipairs(choices) do
    if v == c then return v end
  end
  local near = type(v) == "string" and nearest(v, choices)
  failf('%s must be one of "%s", not %s%s', what, concat(choices, '", "'), quoted(v),
    near and format("; did you mean %q?", near) or "")
end

local time_units = { ms = 1, s = 1000, m = 60000, h = 3600000, d = 86400000 }
local size_units = { [""] = 1, B = 1, KB = 1 << 10, MB = 1 << 20, GB = 1 << 30,
  K = 1 << 10, M = 1 << 20, G = 1 << 30 }

local function amount(what, v, units, example)
  local n, unit
  if type(v) == "number" then
    n, unit = v, 1
  elseif type(v) == "string" then
    local digits, name = match(v, "^%s*(%d+%.?%d*)%s*(%a*)%s*$")
    n, unit = digits and tonumber(digits), digits and units[name]
  end
  n = n and unit and tointeger(n * unit)
  if not n or n < 0 then
    failf("%s must be an amount such as %s, not %s", what, example, quoted(v))
  end
  return n
end

local function duration(what, v)
  return amount(what, v, time_units, '500 (milliseconds), "5s", "24h"')
end

local function name_of(what, v)
  if type(v) ~= "string" then failf("%s must be a string, not %s", what, type(v)) end
  if not is_name(v, 100) then
    failf("%s %q: letters, digits, '.', '_' and '-' are allowed, at most 100", what, v)
  end
  return v
end

local function topic_of(what, v, pattern)
  if type(v) ~= "string" then failf("%s: a topic must be a string, not %s", what, type(v)) end
  local s = match(v, "^#(.+)$") or (pattern and match(v, "^(.+)%*$")) or v
  if not is_name(s, 249) then failf("%s: %q is not a topic's name", what, v) end
  return v
end

-- ---- the parts of a node ----

local codecs = { "raw", "json", "csv" }
local source_keys = set("topic", "value", "key", "time")

local function source_of(what, s)
  if type(s) == "string" then s = { topic = s } end
  if type(s) ~= "table" then
    failf("%s: a source is a topic or a table with one, not %s", what, type(s))
  end
  check_keys(what, s, source_keys, set("wait"))
  local out = { topic = topic_of(what, s.topic), value = "raw", key = "raw" }
  if s.value ~= nil then out.value = one_of(what .. ": value", s.value, codecs) end
  if type(s.key) == "function" then
    out.key_fn = s.key
  elseif s.key ~= nil then
    out.key = one_of(what .. ": key (or a function)", s.key, codecs)
  end
  if s.time ~= nil and type(s.time) ~= "function" then
    failf("%s: time must be a function(r)", what)
  end
  out.time_fn = s.time
  return out
end

local function sources_of(what, from)
  if from == nil then failf("%s: \"from\" is missing: the topic it reads", what) end
  if type(from) ~= "table" or from.topic ~= nil then from = { from } end
  if #from == 0 then
    check_keys(what .. ".from", from, source_keys)
    failf("%s: \"from\" names no topic", what)
  end
  local out, seen = {}, {}
  for i, s in ipairs(from) do
    out[i] = source_of(what .. ".from", s)
    if seen[out[i].topic] then failf("%s: reads %q twice", what, out[i].topic) end
    seen[out[i].topic] = true
  end
  return out
end

local function outputs_of(what, to)
  local out = {}
  if to == nil then return out end
  if type(to) == "string" then to = { to } end
  if type(to) ~= "table" then
    failf("%s: \"to\" must be a topic or a list of them, not %s", what, type(to))
  end
  for k in pairs(to) do
    if math_type(k) ~= "integer" then failf("%s: \"to\" must be a list of topics", what) end
  end
  for i, t in ipairs(to) do out[i] = topic_of(what .. ".to", t, true) end
  return out
end

local ctx_names = set("emit", "reject", "now", "wall", "timer", "cancel", "log", "count", "observe",
  "task", "job")

local function stores_of(what, stores)
  local out = {}
  if stores == nil then return out end
  if type(stores) ~= "table" then
    failf("%s: \"stores\" must be a table of name = options", what)
  end
  for name, o in pairs(stores) do
    local here = format("%s.stores[%s]", what, quoted(name))
    name_of(what .. ": the name of a store", name)
    if ctx_names[name] then
      failf("%s: ctx.%s has another meaning, choose another name", here, name)
    end
    if type(o) ~= "table" then failf("%s: options must be a table, {} for none", here) end
    check_keys(here, o, set("codec", "changelog"), set("ttl", "version", "migrate"))
    if o.changelog ~= nil and type(o.changelog) ~= "boolean" then
      failf("%s: changelog must be true or false", here)
    end
    out[#out + 1] = {
      name = name,
      changelog = o.changelog ~= false,
      raw = o.codec ~= nil and one_of(here .. ": codec", o.codec, { "raw", "lua" }) == "raw",
    }
  end
  return out
end

local node_keys = set("name", "from", "to", "stores", "process")
local node_later = set("tables", "timer", "clock", "every")

local function node_of(what, spec, name)
  local n = { name = name, where = where() }
  n.sources = sources_of(what, spec.from)
  n.outputs = outputs_of(what, spec.to)
  n.stores = stores_of(what, spec.stores)
  if type(spec.process) ~= "function" then
    failf("%s: process must be a function(ctx, r), not %s", what, type(spec.process))
  end
  n.process = spec.process
  return n
end

-- ---- jobs ----

local job_keys = set("name", "version", "guarantee", "on_error", "retries", "commit", "limits",
  "order", "sample", "from", "to", "stores", "process")

local Job = {}
Job.__index = function(_, k)
  if Job[k] == nil then failf("a job has no field %s: it has :node { ... }", quoted(k)) end
  return Job[k]
end
Job.__name = "once.job"
Job.__metatable = "once.job"
local jobs = {} -- job -> what it declared

local function on_error_of(d, v)
  if v == nil then
    d.on_error = "stop"
  elseif type(v) == "table" then
    check_keys("on_error", v, set "dead_letter")
    d.on_error = "dead_letter"
    d.dead_letter = topic_of("on_error.dead_letter", v.dead_letter)
    if sub(d.dead_letter, 1, 1) == "#" then
      failf("on_error.dead_letter: an internal topic cannot be one")
    end
  else
    d.on_error = one_of("on_error (or { dead_letter = TOPIC })", v, { "stop", "skip" })
  end
end

local function pair_of(what, t, a, b)
  if type(t) ~= "table" then failf("%s must be a table { %s = ..., %s = ... }", what, a, b) end
  check_keys(what, t, set(a, b, 1, 2))
  if (t[1] ~= nil and t[a] ~= nil) or (t[2] ~= nil and t[b] ~= nil) then
    failf("%s: %s and %s are given twice", what, a, b)
  end
  return t[a] == nil and t[1] or t[a], t[b] == nil and t[2] or t[b]
end

local function timing_of(d, spec)
  d.retries_n, d.retries_backoff = 0, 0
  if spec.retries ~= nil then
    local n, backoff = pair_of("retries", spec.retries, "n", "backoff")
    d.retries_n = math_type(n) == "integer" and n or -1
    if d.retries_n < 0 or d.retries_n > 1000000 then
      failf("retries: n must be a count, not %s", quoted(n))
    end
    if backoff ~= nil then d.retries_backoff = duration("retries.backoff", backoff) end
  end
  d.commit_max, d.commit_min = 100, 0
  if spec.commit ~= nil then
    local max, min = pair_of("commit", spec.commit, "max", "min")
    if max ~= nil then d.commit_max = duration("commit.max", max) end
    if min ~= nil then d.commit_min = duration("commit.min", min) end
    if d.commit_min > d.commit_max then failf("commit: min is above max") end
  end
  d.memory, d.time = 64 << 20, 5000
  if spec.limits ~= nil then
    if type(spec.limits) ~= "table" then
      failf("limits must be a table { memory = ..., time = ... }")
    end
    check_keys("limits", spec.limits, set("memory", "time"))
    if spec.limits.memory ~= nil then
      d.memory = amount("limits.memory", spec.limits.memory, size_units, '"64MB"')
      if d.memory < 1 << 20 then failf("limits.memory: a task needs 1MB at least") end
    end
    if spec.limits.time ~= nil then
      d.time = duration("limits.time", spec.limits.time)
      if d.time < 1 then failf("limits.time: at least 1 ms") end
    end
  end
end

local once = {}

once.job = core.framed(function(spec)
  if type(spec) ~= "table" then failf("once.job takes a table, not %s", type(spec)) end
  check_keys("once.job", spec, job_keys, node_later)
  local d = { nodes = {}, where = where() }
  if spec.name == nil then failf("once.job: \"name\" is missing") end
  d.name = name_of("once.job: name", spec.name)
  d.version = spec.version == nil and 1 or spec.version
  if math_type(d.version) ~= "integer" or d.version < 1 then
    failf("once.job: version must be an integer from 1 on, not %s", quoted(d.version))
  end
  d.guarantee = spec.guarantee == nil and "exactly_once" or
    one_of("guarantee", spec.guarantee, { "exactly_once", "at_least_once", "at_most_once" })
  on_error_of(d, spec.on_error)
  timing_of(d, spec)
  d.order_any = spec.order ~= nil and one_of("order", spec.order, { "any" }) == "any"
  if type(spec.sample) == "function" then
    d.sample_fn = spec.sample
  elseif spec.sample ~= nil then
    if type(spec.sample) ~= "string" then failf("sample must be a file's name or a function(i)") end
    d.sample = spec.sample
  end
  local job = setmetatable({}, Job)
  jobs[job] = d
  if spec.from ~= nil or spec.process ~= nil or spec.to ~= nil or spec.stores ~= nil then
    d.nodes[1] = node_of("once.job", spec, d.name)
    d.single = true
  end
  return job
end)

Job.node = core.framed(function(job, spec)
  local d = jobs[job]
  if not d then failf("call it as job:node { ... }") end
  if type(spec) ~= "table" then failf("job:node takes a table, not %s", type(spec)) end
  if d.single then
    failf("job:node: the job has a node in once.job already; give it nodes one way")
  end
  check_keys("job:node", spec, node_keys, node_later)
  if spec.name == nil then failf("job:node: \"name\" is missing") end
  local name = name_of("job:node: name", spec.name)
  for _, n in ipairs(d.nodes) do
    if n.name == name then
      failf("job:node: there is a node %q already (%s)", name, n.where or "?")
    end
  end
  d.nodes[#d.nodes + 1] = node_of(format("node %q", name), spec, name)
  return job
end)

once.unordered = core.unordered

setmetatable(once, {
  __metatable = "once",
  __index = function(_, k)
    local near = type(k) == "string" and nearest(k, { "job", "unordered" })
    failf("once has no field %s%s", quoted(k), near and format(", did you mean %q?", near) or "")
  end,
})

-- ---- the description ----

local function at(d, text, ...)
  core.fail_at(d.where, format(text, ...))
end

-- Nodes with a common source or a common store are of one group.
local function group_nodes(d)
  local parent, first = {}, {}
  local function root(i)
    while parent[i] ~= i do i = parent[i] end
    return i
  end
  local function join(i, what)
    local j = first[what]
    if not j then
      first[what] = i
      return
    end
    local a, b = root(i), root(j)
    if a < b then parent[b] = a else parent[a] = b end
  end
  for i, n in ipairs(d.nodes) do
    parent[i] = i
    for _, s in ipairs(n.sources) do join(i, "topic " .. s.topic) end
    for _, s in ipairs(n.stores) do join(i, "store " .. s.name) end
  end
  local number = {}
  d.groups = 0
  for i, n in ipairs(d.nodes) do
    local r = root(i)
    if not number[r] then
      d.groups = d.groups + 1
      number[r] = d.groups
    end
    n.group = number[r]
  end
end

local function gather_stores(d)
  local index = {}
  d.stores = {}
  for _, n in ipairs(d.nodes) do
    local indices = {}
    for i, s in ipairs(n.stores) do
      local known = index[s.name] and d.stores[index[s.name]]
      if known and (known.changelog ~= s.changelog or known.raw ~= s.raw) then
        at(n, "store %q is declared with other options elsewhere", s.name)
      end
      if not known then
        d.stores[#d.stores + 1] =
          { name = s.name, changelog = s.changelog, raw = s.raw, group = n.group }
        index[s.name] = #d.stores
      end
      indices[i] = index[s.name]
    end
    n.stores = indices
  end
end

local function gather_internals(d)
  local read, written = {}, {}
  d.internals = {}
  for _, n in ipairs(d.nodes) do
    for _, s in ipairs(n.sources) do
      if sub(s.topic, 1, 1) == "#" then read[s.topic] = read[s.topic] or n end
    end
    for _, t in ipairs(n.outputs) do
      if sub(t, 1, 1) == "#" then written[t] = written[t] or n end
    end
  end
  local function names(t)
    local out = {}
    for k in pairs(t) do out[#out + 1] = k end
    return out
  end
  for t, n in pairs(read) do
    if not written[t] then
      local near = nearest(t, names(written))
      at(n, "node %q reads %q, which no node writes%s", n.name, t,
        near and format(", did you mean %q?", near) or "")
    end
  end
  for t, n in pairs(written) do
    if not read[t] then
      local near = nearest(t, names(read))
      at(n, "node %q writes %q, which no node reads%s", n.name, t,
        near and format(", did you mean %q?", near) or "")
    end
    d.internals[#d.internals + 1] = t
  end
end

local internal = { failf = failf, check_keys = check_keys,
  set = set, name_of = name_of, topic_of = topic_of, source_of = source_of, one_of = one_of }

-- What the job's file returned -> the description.
function internal.finish(value)
  local mt = getmetatable(value)
  if internal.flow_job and mt == "once.flow" then value = internal.flow_job(value) end
  local d = jobs[value]
  if not d then
    failf("%s: the file must return a job (return once.job { ... }), not %s", core.file,
      type(value))
  end
  if #d.nodes == 0 then
    at(d, "job %q has no node: give it from and process, or job:node { ... }", d.name)
  end
  group_nodes(d)
  gather_stores(d)
  gather_internals(d)
  return d
end

return once, internal

-- flow.lua: the module `once.flow`, streams of operators over the core.
--
--   flow "wordcount" :stream "lines" :flatmap(f) :count { store = "counts" } :to "word-counts"
--
-- Every call adds an operator to a tree; `internal.flow_job` turns each tree into nodes of the
-- core: the operators up to a change of partition run in one node's process, and a stateful
-- operator whose key was changed before it becomes a node of its own behind an internal topic named
-- after its store. Records between operators are the node's view or plain tables { key, value, time
-- }: both are what ctx:emit takes.

local core = ...
local internal, once = core.internal, core.once
local failf, check_keys, set = internal.failf, internal.check_keys, internal.set
local nearest = core.nearest
local type, ipairs, setmetatable = type, ipairs, setmetatable
local format, sub, insert = string.format, string.sub, table.insert

local later = set("peek", "key_by", "branch", "merge", "group_by", "reduce", "aggregate", "dedup",
  "window", "join", "left_join", "outer_join", "table", "through", "process", "dead_letter")

local methods = {}
local hidden = {} -- handle -> its operator or flow

local function index_of(what, names)
  return function(_, k)
    if methods[what][k] then return methods[what][k] end
    if later[k] then failf("%s:%s is not supported yet in this version", what, k) end
    local near = type(k) == "string" and nearest(k, names)
    failf("a %s has no %q%s", what, k, near and format(", did you mean %q?", near) or "")
  end
end

methods.stream = {}
methods.flow = {}
local stream_mt = {
  __metatable = "once.flow",
  __name = "once.stream",
  __index = index_of("stream", { "flatmap", "map", "filter", "count", "to" }),
}
local flow_mt = {
  __metatable = "once.flow",
  __name = "once.flow",
  __index = index_of("flow", { "stream" }),
}

local function handle(what, mt)
  local h = setmetatable({}, mt)
  hidden[h] = what
  return h
end

local function operator_of(h, name)
  local o = hidden[h]
  if not o then failf("call it as stream:%s(...)", name) end
  return o
end

local function add(parent, op)
  op.flow, op.children, op.where = parent.flow, {}, core.where()
  parent.children[#parent.children + 1] = op
  return handle(op, stream_mt)
end

local function function_of(name, fn)
  if type(fn) ~= "function" then failf("%s takes a function, not %s", name, type(fn)) end
  return fn
end

function methods.flow.stream(f, source)
  local flow = operator_of(f, "stream")
  local root = { kind = "source", flow = flow, children = {}, where = core.where() }
  root.source = internal.source_of("stream", source)
  root.declared = source
  root.rekeyed = root.source.key_fn ~= nil
  flow.roots[#flow.roots + 1] = root
  return handle(root, stream_mt)
end

-- flatmap(function(r, out) ... out(key [, value]) ... end)
function methods.stream.flatmap(s, fn)
  local o = operator_of(s, "flatmap")
  return add(o, { kind = "flatmap", fn = function_of("flatmap", fn), rekeyed = true })
end

-- map(function(r) return key, value end)
function methods.stream.map(s, fn)
  local o = operator_of(s, "map")
  return add(o, { kind = "map", fn = function_of("map", fn), rekeyed = true })
end

-- filter(function(r) return keep end)
function methods.stream.filter(s, fn)
  local o = operator_of(s, "filter")
  return add(o, { kind = "filter", fn = function_of("filter", fn), rekeyed = o.rekeyed })
end

-- count { store = NAME }: every step of the count of each key goes on, as { key, value = n }
function methods.stream.count(s, options)
  local o = operator_of(s, "count")
  if type(options) ~= "table" or options.store == nil then
    failf('count takes { store = NAME }: the name of its state')
  end
  check_keys("count", options, set "store", set("window", "ttl"))
  local store = internal.name_of("count: store", options.store)
  return add(o, { kind = "count", store = store, repartition = o.rekeyed, rekeyed = false })
end

function methods.stream.to(s, topic)
  local o = operator_of(s, "to")
  internal.topic_of("to", topic)
  if sub(topic, 1, 1) == "#" then
    failf("to: internal topics are made by the operators themselves")
  end
  return add(o, { kind = "to", topic = topic, rekeyed = o.rekeyed })
end

for _, of in ipairs { "flow", "stream" } do
  for _, name in ipairs { "stream", "flatmap", "map", "filter", "count", "to" } do
    methods[of][name] = methods[of][name] and core.framed(methods[of][name])
  end
end

-- ---- operators -> functions(ctx, r) ----

local compile

local function all(op, node)
  local fns = {}
  for i, child in ipairs(op.children) do fns[i] = compile(child, node) end
  if #fns == 0 then return function() end end
  if #fns == 1 then return fns[1] end
  return function(ctx, r)
    for i = 1, #fns do fns[i](ctx, r) end
  end
end

local function add_name(list, name)
  for _, n in ipairs(list) do
    if n == name then return end
  end
  list[#list + 1] = name
end

local function need_key(op, key)
  if key == nil then
    local text = "count %q: the record has no key; give it one by map or flatmap"
    core.fail_at(op.where, format(text, op.store))
  end
  return key
end

local build = {}

-- A table in place of key and value would go on as a key, and a count of such keys looks right.
local function refuse_record(op, key, value)
  if value == nil and (key.key ~= nil or key.value ~= nil) then
    local text = "%s: give key, value, not a table that holds them"
    core.fail_at(op.where, format(text, op.kind))
  end
end

function build.flatmap(op, node)
  local go, fn = all(op, node), op.fn
  local ctx_now, r_now
  local function out(key, value)
    if type(key) == "table" then refuse_record(op, key, value) end
    go(ctx_now, { key = key, value = value, time = r_now.time })
  end
  return function(ctx, r)
    ctx_now, r_now = ctx, r
    fn(r, out)
  end
end

function build.map(op, node)
  local go, fn = all(op, node), op.fn
  return function(ctx, r)
    local key, value = fn(r)
    if type(key) == "table" then refuse_record(op, key, value) end
    go(ctx, { key = key, value = value, time = r.time })
  end
end

function build.filter(op, node)
  local go, fn = all(op, node), op.fn
  return function(ctx, r)
    if fn(r) then go(ctx, r) end
  end
end

function build.to(op, node)
  local go, topic, leaf = all(op, node), op.topic, #op.children == 0
  add_name(node.to, topic)
  return function(ctx, r)
    ctx:emit(topic, r)
    if not leaf then go(ctx, r) end
  end
end

local function counting(op, node)
  local go, name = all(op, node), op.store
  if node.stores[name] then failf("count: store %q is used twice", name) end
  node.stores[name] = {}
  return function(ctx, r)
    local key, store = need_key(op, r.key), ctx[name]
    local n = (store:get(key) or 0) + 1
    store:put(key, n)
    go(ctx, { key = key, value = n, time = r.time })
  end
end

function build.count(op, node)
  if not op.repartition then return counting(op, node) end
  local topic = "#" .. op.store
  local behind = { name = op.store, from = topic, to = {}, stores = {} }
  behind.process = counting(op, behind)
  op.flow.nodes[#op.flow.nodes + 1] = behind
  add_name(node.to, topic)
  return function(ctx, r)
    ctx:emit(topic, { key = need_key(op, r.key), time = r.time })
  end
end

function compile(op, node)
  return build[op.kind](op, node)
end

local function unique_name(taken, name)
  local n, k = name, 1
  while taken[n] do
    k = k + 1
    n = format("%s-%d", name, k)
  end
  taken[n] = true
  return n
end

local function flow_job(h)
  local flow = hidden[h].flow or hidden[h]
  if flow.job then return flow.job end
  flow.nodes = {}
  if #flow.roots == 0 then
    core.fail_at(flow.where, format("flow %q has no stream", flow.options.name))
  end
  for _, root in ipairs(flow.roots) do
    local node = { name = root.source.topic, from = root.declared, to = {}, stores = {} }
    if #root.children == 0 then
      local text = "stream %q leads nowhere: give it operators and :to"
      core.fail_at(root.where, format(text, node.name))
    end
    local at = #flow.nodes + 1
    node.process = all(root, node)
    insert(flow.nodes, at, node) -- before those behind it
  end
  local job, taken = once.job(flow.options), {}
  for _, node in ipairs(flow.nodes) do
    node.name = unique_name(taken, node.name)
    job:node(node)
  end
  flow.job = job
  return job
end
internal.flow_job = flow_job

-- flow "name", or flow { name = ..., and what once.job takes of the job as a whole }
return core.framed(function(options)
  if type(options) == "string" then options = { name = options } end
  if type(options) ~= "table" then
    failf("flow takes a name or a table with one, not %s", type(options))
  end
  for _, k in ipairs { "from", "to", "stores", "process" } do
    if options[k] ~= nil then failf("flow: %s belongs to streams and their operators", k) end
  end
  once.job(options) -- to find mistakes at this line
  return handle({ options = options, roots = {}, where = core.where() }, flow_mt)
end)

-- No include crosses a forbidden edge: base <- broker <- txn <- runtime, base <- udf <- runtime. What a library
-- may include is told twice: by the design's table below, and by the edges that cmake/libraries.cmake declares.
package.path = "tests/tidy/?.lua;" .. package.path
local files = require "files"

-- the first rule whose prefix fits the file; what may be included, by prefix
local design = {
  { "base/wire/", { "base/" } },
  { "base/", { "base/" } },
  { "broker/log/", { "base/", "broker/log/" } },
  { "broker/group/", { "base/", "broker/group/" } },
  { "broker/", { "base/", "broker/" } },
  { "txn/session", { "base/", "txn/session" } },
  { "txn/", { "base/", "broker/", "txn/" } },
  { "udf/", { "base/", "udf/" } },
  { "runtime/client/", { "base/", "txn/session.h", "runtime/client/" } },
  { "runtime/state/", { "base/", "udf/", "runtime/state/" } },
  { "runtime/worker/", { "base/", "udf/", "txn/session.h", "runtime/client/", "runtime/state/", "runtime/worker/" } },
  { "runtime/sim/", { "" } },
  { "runtime/chaos/", { "" } },
  { "runtime/cli/", { "" } },
}

-- system headers that stand for a dependency, and who alone may have them
local systems = {
  ["uv.h"] = { "base/env_uv", "runtime/cli/", "runtime/chaos/" },
  ["lmdb.h"] = { "runtime/state/store_lmdb.c", "runtime/cli/" },
  ["lua.h"] = { "udf/" },
  ["lauxlib.h"] = { "udf/" },
  ["lualib.h"] = { "udf/" },
  ["pthread.h"] = { "base/env_uv", "runtime/cli/", "runtime/chaos/" },
  ["sys/socket.h"] = { "base/env_uv", "runtime/cli/", "runtime/chaos/" },
}

local problems = {}
local function problem(...) problems[#problems + 1] = table.concat { ... } end

local function begins_any(text, prefixes)
  for _, p in ipairs(prefixes) do
    if text:sub(1, #p) == p then return true end
  end
  return false
end

-- once_library(NAME DIR d [SOURCES pattern...] [EXCLUDE pattern...] [EDGES library...] [LINK ...])
local libraries = {}
local cmake = files.read "cmake/libraries.cmake":gsub("#[^\n]*", "")
for body in cmake:gmatch "once_library(%b())" do
  local l, key = { DIR = {}, SOURCES = {}, EXCLUDE = {}, EDGES = {}, LINK = {} }, nil
  for word in body:sub(2, -2):gmatch "%S+" do
    if l[word] then key = word
    elseif not l.name then l.name = word
    elseif word == "${cli_sim}" then table.insert(l.EDGES, "once_sim")
    else table.insert(l[key], word) end
  end
  l.dir = l.DIR[1]
  libraries[#libraries + 1] = l
  libraries[l.name] = l
end
assert(#libraries > 10, "cmake/libraries.cmake was not understood")

local function glob(pattern)
  return "^" .. pattern:gsub("[%-%.%+]", "%%%0"):gsub("%*", ".*") .. "$"
end

-- a header belongs to the library of the source beside it: matched by its name with .c
local function library_of(path)
  local dir, name = path:match "^(.*)/([^/]+)%.[ch]$"
  local fallback
  for _, l in ipairs(libraries) do
    if l.dir == dir then
      local function fits(patterns)
        for _, p in ipairs(patterns) do
          if (name .. ".c"):match(glob(p)) then return true end
        end
        return false
      end
      if #l.SOURCES > 0 then
        if fits(l.SOURCES) then return l end
      elseif not fits(l.EXCLUDE) or name == "main" then
        fallback = l
      end
    end
  end
  return fallback
end

local function reaches(from, to, seen)
  if from == to then return true end
  seen = seen or {}
  seen[from] = true
  for _, e in ipairs(from.EDGES) do
    local l = libraries[e]
    if l and not seen[l] and reaches(l, to, seen) then return true end
  end
  return false
end

local includes = 0
for _, path in ipairs(files.list "%.[ch]$") do
  local allowed
  for _, rule in ipairs(design) do
    if path:sub(1, #rule[1]) == rule[1] then
      allowed = rule[2]
      break
    end
  end
  local at = 0
  for line in allowed and files.read(path):gmatch "([^\n]*)\n" or function() end do
    at = at + 1
    local where = path .. ":" .. at .. ": "
    local own = line:match '^%s*#%s*include%s+"([^"]+)"'
    local system = line:match "^%s*#%s*include%s+<([^>]+)>"
    if system and systems[system] and not begins_any(path, systems[system]) then
      problem(where, "<", system, "> is not for this file")
    end
    if own and not own:match "%.inc$" then
      includes = includes + 1
      local from, to = library_of(path), library_of(own)
      if not io.open(own, "rb") then
        problem(where, '"', own, '" is not a path from the root')
      elseif not begins_any(own, allowed) then
        problem(where, '"', own, '" is across a forbidden edge')
      elseif from and to and not reaches(from, to) then
        problem(where, '"', own, '": ', from.name, " declares no edge to ", to.name)
      end
    end
  end
end
assert(includes > 500, "only " .. includes .. " includes were found")
files.judge(("includes (%d)"):format(includes), problems)

-- Writes messages.h and messages.c from schema/*.lua.
--   lua5.4 gen.lua [DIR of the schema [DIR of the output]]
--
-- A schema file calls
--   api { name, key, versions, flexible = n }        the requests and responses of a key
--   message { name, versions, flexible = n, fields } a struct with a codec
--   meta { name, type, versions, ... }               a message that is a metadata record
-- A field is { name, type, versions, options, fields of a struct }. Types: bool int8 int16 int32
-- int64 uuid string bytes records or the name of a struct, "[]" before it for an array, "?" behind
-- it if it may be null in each version that has it. Versions ("3", "3-5", "3+") are left out where
-- they are the parent's. Options: null (versions in which it may be null), default (else 0, "", []
-- or all defaults; "null" for null), tag, ignorable (dropped at versions without it), rigid (never
-- compact). Any inconsistency is an error here, so that the tables need no checks at run time.

local dir = arg[1] or (arg[0]:match("^(.*)/") or ".")
local outdir = arg[2] or dir
local files = {
  "header",
  "00_produce", "01_fetch", "02_list_offsets", "03_metadata", "08_offset_commit", "09_offset_fetch",
  "10_find_coordinator", "11_join_group", "12_heartbeat", "13_leave_group", "14_sync_group",
  "15_describe_groups", "16_list_groups", "18_api_versions", "19_create_topics", "20_delete_topics",
  "21_delete_records", "22_init_producer_id", "23_offset_for_leader_epoch",
  "24_add_partitions_to_txn", "25_add_offsets_to_txn", "26_end_txn", "27_write_txn_markers",
  "28_txn_offset_commit", "32_describe_configs", "37_create_partitions", "42_delete_groups",
  "44_incremental_alter_configs",
  "disk", "consumer_protocol", "meta",
}

local MAX <const> = 32767
local ctypes <const> = {
  bool = "bool", int8 = "int8_t", int16 = "int16_t", int32 = "int32_t", int64 = "int64_t",
  uuid = "struct uuid", string = "struct slice", bytes = "struct slice", records = "struct slice",
}
local numbers <const> = { int8 = true, int16 = true, int32 = true, int64 = true }
local field_options <const> = { null = 1, default = 1, tag = 1, ignorable = 1, rigid = 1 }
local reserved <const> = {}
for w in ([[auto break case char const continue default do double else enum extern float for goto
  if int long register return short signed sizeof static struct switch typedef union unsigned void
  volatile while inline restrict bool true false]]):gmatch("%a+") do
  reserved[w] = true
end

local function fail(fmt, ...)
  io.stderr:write("gen.lua: ", fmt:format(...), "\n")
  os.exit(1)
end

local function snake(name)
  return (name:gsub("(%l)(%u)", "%1_%2"):gsub("(%d)(%u)", "%1_%2"):lower())
end

-- "3", "3-5" or "3+" as { first, last }, cut to what `within` has of it.
local function range(text, where, within)
  local a, b = text:match("^(%d+)%-(%d+)$")
  if not a then
    local plus
    a, plus = text:match("^(%d+)(%+?)$")
    b = plus == "+" and MAX or a
  end
  if not a then
    fail("%s: bad versions %q", where, text)
  end
  a, b = math.tointeger(a), math.tointeger(b)
  if within then
    a, b = math.max(a, within[1]), math.min(b, within[2])
  end
  if a > b then
    fail("%s: versions %q leave nothing", where, text)
  end
  return { a, b }
end

local structs, by_name = {}, {} -- every struct, those inside before their parent
local apis, metas, roots = {}, {}, {}

local new_struct

local function new_field(t, parent, prefix)
  local f = { name = t[1], cname = snake(t[1]), where = prefix .. "." .. t[1] }
  if reserved[f.cname] then
    fail("%s: a word of C", f.where)
  end
  local i, versions, fields = 3, nil, {}
  if type(t[3]) == "string" then
    versions, i = t[3], 4
  end
  for j = i, #t do
    fields[#fields + 1] = t[j]
  end
  for k in pairs(t) do
    if type(k) ~= "number" and not field_options[k] then
      fail("%s: unknown option %s", f.where, k)
    end
  end
  local array, base, q = t[2]:match("^(%[?%]?)(%w+)(%??)$")
  f.array, f.type = array == "[]", base
  f.range = versions and range(versions, f.where, parent.range) or parent.range
  f.null = q == "?" and f.range or t.null and range(t.null, f.where, f.range) or nil
  f.tag, f.ignorable, f.rigid, f.default = t.tag, t.ignorable, t.rigid, t.default
  if f.default == "null" and not f.null then
    fail("%s: null default of a field that is never null", f.where)
  end
  if f.default ~= nil and f.default ~= "null" and not (f.default == true and base == "bool") and
      not (math.type(f.default) == "integer" and numbers[base] and not f.array) then
    fail("%s: default %s", f.where, tostring(f.default))
  end
  if f.tag and parent.flexible > f.range[1] then
    fail("%s: tagged before the first flexible version", f.where)
  end
  if ctypes[base] then
    f.ctype = ctypes[base]
    if f.null and (numbers[base] or base == "bool" or base == "uuid") and not f.array then
      fail("%s: a number is never null", f.where)
    end
    if #fields > 0 then
      fail("%s: fields of a %s", f.where, base)
    end
  else
    if f.null and not f.array then
      fail("%s: a struct that may be null is not built", f.where)
    end
    f.sub = new_struct(base, prefix, f.range, parent.flexible, fields)
    f.ctype = "struct " .. f.sub.cname
  end
  return f
end

function new_struct(name, prefix, versions, flexible, fields)
  local s = { name = name, cname = snake(prefix .. name), range = versions, flexible = flexible,
    fields = {} }
  if by_name[s.cname] then
    fail("struct %s is there twice", s.cname)
  end
  by_name[s.cname] = s
  local seen = {}
  for _, t in ipairs(fields) do
    local f = new_field(t, s, prefix == "" and name or prefix)
    if seen[f.cname] then
      fail("%s: field twice", f.where)
    end
    seen[f.cname] = true
    s.fields[#s.fields + 1] = f
  end
  if #s.fields == 0 then
    fail("struct %s has no fields", s.cname)
  end
  structs[#structs + 1] = s
  return s
end

local function new_message(name, versions, flexible, t, from)
  local r = range(versions, name)
  local s = new_struct(name, "", r, flexible or MAX, table.move(t, from, #t, 1, {}))
  s.root = true
  roots[name] = s
  return s
end

local schema_env = {
  api = function(t)
    local r = range(t[3], t[1])
    apis[#apis + 1] = { name = t[1], key = t[2], range = r, flexible = t.flexible or MAX }
  end,
  message = function(t)
    new_message(t[1], t[2], t.flexible, t, 3)
  end,
  meta = function(t)
    local s = new_message(t[1], t[3], t.flexible, t, 4)
    metas[#metas + 1] = { type = t[2], s = s }
  end,
}

for _, name in ipairs(files) do
  local chunk, err = loadfile(("%s/schema/%s.lua"):format(dir, name), "t", schema_env)
  if not chunk then
    fail("%s", err)
  end
  chunk()
end
table.sort(apis, function(a, b) return a.key < b.key end)
table.sort(metas, function(a, b) return a.type < b.type end)

-- Output --------------------------------------------------------------------------------

local out
local function put(fmt, ...)
  out[#out + 1] = select("#", ...) > 0 and fmt:format(...) or fmt
end

local function write(name)
  local path = outdir .. "/" .. name
  local file, err = io.open(path, "w")
  if not file then
    fail("%s", err)
  end
  file:write(table.concat(out, "\n"), "\n")
  file:close()
end

local function bound(v)
  return v == MAX and "WIRE_VERSION_MAX" or tostring(v)
end

local function versions_text(r)
  return r[2] == MAX and r[1] .. "+" or r[1] == r[2] and tostring(r[1]) or r[1] .. "-" .. r[2]
end

local function header()
  out = {}
  put "/* base/wire/messages.h - the messages of the wire and of the disk as structs. Written by"
  put " * gen.lua from schema/; WIRE_MESSAGE_FUNCTIONS of wire.h are the functions of each. */"
  put "/* clang-format off */"
  put "#ifndef ONCE_BASE_WIRE_MESSAGES_H"
  put "#define ONCE_BASE_WIRE_MESSAGES_H"
  put '#include "base/wire/wire.h"'
  put ""
  put "enum api_key {"
  for _, a in ipairs(apis) do
    put("    API_%s = %d,", snake(a.name):upper(), a.key)
  end
  put "};"
  put ""
  put "enum meta_type {"
  for _, m in ipairs(metas) do
    put("    %s = %d,", m.s.cname:upper(), m.type)
  end
  put "};"
  for _, s in ipairs(structs) do
    put ""
    if s.root then
      put("/* %s, versions %s%s */", s.name, versions_text(s.range),
        s.flexible < MAX and ", flexible from " .. s.flexible or "")
    end
    put("struct %s {", s.cname)
    for _, f in ipairs(s.fields) do
      local notes = {}
      if f.range[1] > s.range[1] or f.range[2] < s.range[2] then
        notes[#notes + 1] = versions_text(f.range)
      end
      if f.null then
        notes[#notes + 1] = f.null == f.range and "nullable" or "nullable " .. versions_text(f.null)
      end
      if f.default ~= nil then
        notes[#notes + 1] = "default " .. tostring(f.default)
      end
      if f.tag then
        notes[#notes + 1] = "tag " .. f.tag
      end
      local decl = f.array and ("struct { %s *v; int32_t n; } %s;"):format(f.ctype, f.cname) or
        ("%s %s;"):format(f.ctype, f.cname)
      local text = #notes > 0 and " /* " .. table.concat(notes, ", ") .. " */" or ""
      put("    %s%s", decl, text)
    end
    put "};"
    put("%s(%s)", s.root and "WIRE_MESSAGE_FUNCTIONS" or "WIRE_STRUCT_FUNCTIONS", s.cname)
  end
  put "#endif"
  write("messages.h")
end

local function ordered(fields)
  local plain, tagged = {}, {}
  for _, f in ipairs(fields) do
    local to = f.tag and tagged or plain
    to[#to + 1] = f
  end
  table.sort(tagged, function(a, b) return a.tag < b.tag end)
  return table.move(tagged, 1, #tagged, #plain + 1, plain)
end

local function flags(f)
  local v = {}
  if f.array then v[#v + 1] = "WIRE_ARRAY" end
  if f.ignorable then v[#v + 1] = "WIRE_IGNORABLE" end
  if f.rigid then v[#v + 1] = "WIRE_RIGID" end
  if f.default == "null" then v[#v + 1] = "WIRE_DEFAULT_NULL" end
  if f.null then v[#v + 1] = "WIRE_NULLABLE" end
  return #v > 0 and table.concat(v, " | ") or "0"
end

local function source()
  out = {}
  put "/* base/wire/messages.c - the tables of all messages. Written by gen.lua from schema/. */"
  put "/* clang-format off */"
  put '#include "base/wire/messages.h"'
  for _, s in ipairs(structs) do
    put ""
    put("static const struct wire_field %s_fields[] = {", s.cname)
    for _, f in ipairs(ordered(s.fields)) do
      local def = f.default == true and 1 or math.type(f.default) == "integer" and f.default or 0
      put("    {\"%s\", offsetof(struct %s, %s), WIRE_%s, %s,", f.name, s.cname, f.cname,
        f.sub and "STRUCT" or f.type:upper(), flags(f))
      put("     %d, %s, %s, %s, %d, %d, %s},", f.range[1], bound(f.range[2]),
        f.null and tostring(f.null[1]) or "1", f.null and bound(f.null[2]) or "0", f.tag or -1, def,
        f.sub and "&" .. f.sub.cname .. "_desc" or "NULL")
    end
    put "};"
    put("const struct wire_desc %s_desc = {", s.cname)
    put("    \"%s\", %s_fields, %d, sizeof(struct %s), %d, %s, %s,", s.name, s.cname, #s.fields,
      s.cname, s.range[1], bound(s.range[2]), bound(s.flexible))
    put "};"
  end
  put ""
  put "static const struct wire_api apis[] = {"
  for _, a in ipairs(apis) do
    local rq, rs = roots[a.name .. "Request"], roots[a.name .. "Response"]
    if not (rq and rs) then
      fail("%s: request or response is missing", a.name)
    end
    for _, s in ipairs { rq, rs } do
      if s.range[1] ~= a.range[1] or s.range[2] ~= a.range[2] or s.flexible ~= a.flexible then
        fail("%s: versions are not those of %s", s.name, a.name)
      end
    end
    put("    {%d, \"%s\", %d, %d, %s, &%s_desc, &%s_desc},", a.key, a.name, a.range[1], a.range[2],
      bound(a.flexible), rq.cname, rs.cname)
  end
  put "};"
  put ""
  put "const struct wire_api *wire_apis(int *n)"
  put "{"
  put "    *n = (int)(sizeof apis / sizeof *apis);"
  put "    return apis;"
  put "}"
  put ""
  put "static const struct wire_meta metas[] = {"
  for _, m in ipairs(metas) do
    put("    {%s, &%s_desc},", m.s.cname:upper(), m.s.cname)
  end
  put "};"
  put ""
  put "const struct wire_desc *wire_meta(int16_t type)"
  put "{"
  put "    for (size_t i = 0; i < sizeof metas / sizeof *metas; i++)"
  put "        if (metas[i].type == type)"
  put "            return metas[i].desc;"
  put "    return NULL;"
  put "}"
  write("messages.c")
end

header()
source()

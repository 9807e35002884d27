-- The project's own files by extension, and what the checks share. Data and generated code are not style.
local files = {}

local generated = { ["base/wire/messages.c"] = true, ["base/wire/messages.h"] = true }

local function lines_of(command)
  local out, pipe = {}, assert(io.popen(command))
  for line in pipe:lines() do out[#out + 1] = line end
  pipe:close()
  return out
end

-- paths below the root that git knows or would add, and that are there
function files.list(pattern, options)
  local out = {}
  for _, path in ipairs(lines_of "git ls-files --cached --others --exclude-standard | sort -u") do
    local f = path:match(pattern) and io.open(path, "rb")
    if f then
      f:close()
      if not (options and options.no_generated and generated[path]) then out[#out + 1] = path end
    end
  end
  assert(#out > 0, "no file matches " .. pattern)
  return out
end

function files.read(path)
  local f = assert(io.open(path, "rb"))
  local text = f:read "a"
  f:close()
  return text
end

files.lines_of = lines_of

-- says what is wrong and ends with exit code 1, or with 0 if nothing is
function files.judge(what, problems)
  for _, p in ipairs(problems) do print(p) end
  if #problems > 0 then
    print(("%s: %d problems"):format(what, #problems))
    os.exit(1)
  end
  print(what .. ": nothing to complain about")
end

return files

-- embed.lua OUT FILE...: writes the files as C strings, one { name, text, length } entry each.
local out = assert(io.open(arg[1], "w"))
for i = 2, #arg do
  local name = arg[i]:match "([^/]+)%.lua$"
  local f = assert(io.open(arg[i], "rb"))
  local text = f:read "a"
  f:close()
  out:write(("{ %q,\n"):format(name))
  for line in text:gmatch "[^\n]*\n?" do
    if line ~= "" then
      out:write('"', (line:gsub('[\\"]', "\\%0"):gsub("\n", "\\n"):gsub("\t", "\\t")), '"\n')
    end
  end
  out:write((", %d },\n"):format(#text))
end
out:close()

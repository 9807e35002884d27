-- Form of the sources: a file of at most 800 lines, a function of 70, a line of 100 columns (120 outside of C),
-- a comment at the head of each, nothing left to do, and nothing that only the workplace of its authors has:
-- their folders, and hosts of package registries.
package.path = "tests/tidy/?.lua;" .. package.path
local files = require "files"

local problems = {}
local function problem(path, line, what) problems[#problems + 1] = ("%s:%d: %s"):format(path, line, what) end

-- written apart, so that this file does not name them
local outside = {
  "%f[%w_./]/wo" .. "rk/", "%f[%w_./]/fa" .. "rm/", "%.%./sha" .. "red", "hou" .. "se%-rules", "work" .. "shop",
}
local registries = {
  "repo1?%.mav" .. "en", "maven%.ap" .. "ache", "deb%.deb" .. "ian", "py" .. "pi%.org", "files%.python" .. "hosted",
  "registry%.n" .. "pmjs", "proxy%.gol" .. "ang", "crates%" .. ".io", "rubyg" .. "ems%.org",
}
local unfinished = { "TO" .. "DO", "FIX" .. "ME", "XX" .. "X", "HA" .. "CK" }

local function check_c(path, lines)
  if #lines > 800 then problem(path, #lines, "more than 800 lines") end
  if not (lines[1] or ""):match "^/%*" then problem(path, 1, "no comment at the head of the file") end
  local start -- of the function: the line after a blank one, a brace, a directive or a comment
  for i, line in ipairs(lines) do
    if utf8.len(line) and utf8.len(line) > 100 then problem(path, i, "more than 100 columns") end
    if line == "{" then
      start = i
      while start > 1 and lines[start - 1]:match "^[%a_ \t].*[^;]$" and not lines[start - 1]:match "%*/$" do
        start = start - 1
      end
    elseif line == "}" and start then
      if i - start + 1 > 70 then
        problem(path, start, ("a function of %d lines: %s"):format(i - start + 1, lines[start]))
      end
      start = nil
    end
  end
end

local function check_words(path, lines)
  for i, line in ipairs(lines) do
    for _, pattern in ipairs(outside) do
      if line:match(pattern) then problem(path, i, "names a folder outside of the project: " .. line) end
    end
    for _, pattern in ipairs(registries) do
      if line:match(pattern) then problem(path, i, "names the host of a registry: " .. line) end
    end
    for _, word in ipairs(unfinished) do
      if line:match("%f[%w]" .. word .. "%f[%W]") then problem(path, i, word) end
    end
  end
end

local n = 0
for _, path in ipairs(files.list(".", { no_generated = true })) do
  local data = path:match "^tests/data/" or path:match "^tests/fuzz/corpus/" or path:match "%.tsv$" or
    path:match "%.csv$" or path:match "alice%.txt$" or path == "LICENSE"
  local text = not data and files.read(path)
  if text and not text:match "%z" then
    n = n + 1
    local lines = {}
    for line in text:gmatch "([^\n]*)\n" do lines[#lines + 1] = line end
    if #text > 0 and text:sub(-1) ~= "\n" then problem(path, #lines + 1, "no newline at the end") end
    check_words(path, lines)
    if path:match "%.[ch]$" then
      check_c(path, lines)
    else
      for i, line in ipairs(lines) do
        if line:match "\r$" then problem(path, i, "CR LF") end
        if (utf8.len(line) or 0) > 120 and not path:match "%.md$" and not line:match "https?://" then
          problem(path, i, "more than 120 columns")
        end
      end
    end
  end
end
files.judge(("text of %d files"):format(n), problems)

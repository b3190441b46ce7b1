-- SPDX-License-Identifier: MIT
-- Text: building, splitting, formatting and sorting strings.
local lines, sum = {}, 0
for i = 1, 14000 do
  lines[i] = string.format("%06d %s", (i * 7919) % 100003, ("word "):rep(i % 9))
end
table.sort(lines)
local count = {}
for _, line in ipairs(lines) do
  for word in line:gmatch("%w+") do count[word] = (count[word] or 0) + 1 end
end
local buffer = {}
for word, n in pairs(count) do
  buffer[#buffer + 1] = word:upper() .. "=" .. n
  sum = sum + n
end
return sum + #table.concat(buffer, ",")

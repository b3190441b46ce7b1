-- SPDX-License-Identifier: MIT
-- A script host's day: tables with closures, rows of small arrays, strings built, sorted and joined.
local people, sum = {}, 0
for i = 1, 120000 do
  people[i] = {id = i, name = tostring(i * 31), score = function(k) return i * k end}
end
for round = 1, 12 do
  local row = {}
  for i = 1, 60000 do
    row[i] = {i, i * round}
    sum = sum + row[i][2] % 7
  end
end
for i = 1, #people, 3 do sum = sum + people[i].score(2) % 11 end
local words = {}
for i = 1, 80000 do
  words[i] = string.format("%d/%s", (i * 7919) % 99991, ("ab"):rep(i % 24))
end
table.sort(words)
print(sum, #table.concat(words, " "))

-- SPDX-License-Identifier: MIT
-- Coroutines: many small stacks that live for some steps, and binary trees passed between them.
local function tree(depth)
  if depth == 0 then return {} end
  return {tree(depth - 1), tree(depth - 1)}
end
local function weight(t)
  return 1 + (t[1] and weight(t[1]) + weight(t[2]) or 0)
end
local tasks, sum = {}, 0
for i = 1, 3000 do
  tasks[#tasks + 1] = coroutine.wrap(function()
    for k = 1, 1 + i % 4 do coroutine.yield(weight(tree(k))) end
    return false
  end)
  for t = #tasks, math.max(1, #tasks - 40), -1 do
    local got = tasks[t]()
    if got then sum = sum + got else table.remove(tasks, t) end
  end
end
return sum

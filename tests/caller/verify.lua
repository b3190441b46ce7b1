-- SPDX-License-Identifier: MIT
-- Traffic for make verify-tags: tables, strings, coroutines, a sort with a callback.
local t = {}
for i = 1, 30000 do t[i] = {x = i, name = tostring(i), f = function() return i end} end
local co = {}
for i = 1, 500 do co[i] = coroutine.wrap(function(a) for _ = 1, 3 do coroutine.yield({a}) end end); co[i](i) end
table.sort(t, function(a, b) return a.name .. "" < b.name .. "" end)
print(#table.concat({t[1].name, t[2].name, string.format("%d", #t)}))

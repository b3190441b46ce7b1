# SPDX-License-Identifier: MIT
# Lua's stand-alone interpreter (shared liblua): tables, closures, coroutines, strings. 99 % of its calls are Lua's.
packages=lua5.4 programs=lua5.4 reports='report.lua5.4.*.json'
that=('pool["Lua"].allocs + pool["Lua"].reallocs >= 0.99 * (counted.allocs + counted.reallocs)' 'process.foreign_frees == 0')
prepare() {
    cat >work.lua <<'C'
local entities = {}
for i = 1, 200000 do
    entities[i] = {id = i, name = tostring(i), act = function() return i end}
end
local sum = 0
for round = 1, 8 do
    local frame = {}
    for i = 1, 60000 do frame[i] = {i, entities[i].act()} sum = sum + #frame[i] end
end
local threads = {}
for i = 1, 10000 do
    threads[i] = coroutine.wrap(function(value) for k = 1, 3 do value = value + coroutine.yield(value) end end)
    sum = sum + threads[i](i)
end
local words = {}
for i = 1, 100000 do words[#words + 1] = string.format("%d:%s", i * 7919 % 100003, ("x"):rep(i % 64)) end
table.sort(words)
print(sum, #table.concat(words), words[1], words[#words])
C
}
host_run() { under lua5.4 work.lua; }

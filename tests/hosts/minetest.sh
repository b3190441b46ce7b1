# SPDX-License-Identifier: MIT
# A server that generates a world from a fixed seed, runs a mod's Lua over it, prints a sum over all its nodes, and ends.
packages='minetest-server' programs=/usr/lib/minetest/minetestserver reports='report.minetestserver*.json' busy=--busy
that=('pool["Lua"].allocs + pool["STL"].allocs > 100000' 'counted.allocs > 200000')
normalise() { sed -n 's/.*\[sum\] //p' err; }
prepare() {
    rm -rf world
    mkdir -p world/worldmods/sum
    printf '%s\n' 'gameid = minetest' 'backend = sqlite3' 'player_backend = dummy' 'auth_backend = sqlite3' \
        'mod_storage_backend = sqlite3' >world/world.mt
    printf '%s\n' 'fixed_map_seed = 4242' 'mg_name = v7' 'num_emerge_threads = 1' 'server_announce = false' 'bind_address = 127.0.0.1' \
        'emergequeue_limit_generate = 4096' 'emergequeue_limit_total = 8192' 'dedicated_server_step = 0.02' >server.conf
    echo 'name = sum' >world/worldmods/sum/mod.conf
    cat >world/worldmods/sum/init.lua <<'C'
local R = 40
local function sum_nodes()
    local vm = core.get_voxel_manip()
    local low, high = vm:read_from_map({x = -R, y = -32, z = -R}, {x = R, y = 32, z = R})
    local counts = {}
    for _, id in ipairs(vm:get_data()) do counts[id] = (counts[id] or 0) + 1 end
    local lines = {}
    for id, count in pairs(counts) do lines[#lines + 1] = core.get_name_from_content_id(id) .. "=" .. count end
    table.sort(lines)
    return table.concat(lines, " ")
end
local steps, ready = 0, false
core.after(0, function()
    core.emerge_area({x = -R, y = -32, z = -R}, {x = R, y = 32, z = R}, function(_, _, left)
        if left == 0 then
            core.log("error", "[sum] " .. sum_nodes())
            ready = true
        end
    end)
end)
core.register_globalstep(function()
    if not ready then return end
    steps = steps + 1
    local text = core.serialize({steps, ("x"):rep(1000), {a = steps}})
    for i = 1, 50 do ItemStack("default:stone " .. i):to_table() core.deserialize(text) end
    if steps == 40 then core.request_shutdown("done", false, 0) end
end)
C
}
host_run() {
    HOME=$PWD under /usr/lib/minetest/minetestserver --config "$PWD/server.conf" --world "$PWD/world" --gameid minetest \
        --port 30099 --logfile ''
    local status=$?
    echo "ended with $status"
    return $status
}

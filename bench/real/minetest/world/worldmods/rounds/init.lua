-- SPDX-License-Identifier: MIT
-- Generates a piece of the world, then runs some rounds of game logic over it, prints a sum, and ends the server.
local EDGE, ROUNDS, A_STEP = 60, 48, 12 -- the server sleeps between steps, so a step has to be worth it
local rounds, sum, ready = 0, 0, false

local function emerged(_, _, left)
  if left == 0 then ready = true end
end

local function round()
  local vm = minetest.get_voxel_manip()
  vm:read_from_map({x = -16, y = -16, z = -16}, {x = 31, y = 31, z = 31})
  local count = {}
  for i, id in ipairs(vm:get_data()) do
    if i % 7 == 0 then count[id] = (count[id] or 0) + 1 end
  end
  local copy = minetest.deserialize(minetest.serialize(count))
  for _, n in pairs(copy) do sum = (sum + n) % 1000003 end
  local found = minetest.find_nodes_in_area({x = -20, y = -20, z = -20}, {x = 20, y = 20, z = 20}, {"group:stone"})
  for i = 1, 40 do sum = sum + ItemStack("default:stone " .. i):to_table().count end
  return #found
end

minetest.after(0, function()
  minetest.emerge_area({x = -EDGE, y = -40, z = -EDGE}, {x = EDGE, y = 40, z = EDGE}, emerged)
end)

minetest.register_globalstep(function()
  if not ready then return end
  local found
  for _ = 1, A_STEP do found = round() end
  rounds = rounds + A_STEP
  if rounds == ROUNDS then
    minetest.log("action", "[bench] rounds " .. rounds .. ", sum " .. sum .. ", stone " .. (found > 0 and "yes" or "no"))
    minetest.request_shutdown("done", false, 0)
  end
end)

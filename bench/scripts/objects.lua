-- SPDX-License-Identifier: MIT
-- Game objects: tables with methods and closures, made and dropped every frame.
local Actor = {}
Actor.__index = Actor

local function actor(id)
  local self = setmetatable({id = id, pos = {x = id, y = -id}, tags = {}}, Actor)
  self.on_hit = function(damage) self.health = (self.health or 100) - damage end
  return self
end

function Actor:step(frame)
  self.pos = {x = self.pos.x + 1, y = self.pos.y + frame % 3}
  self.tags[#self.tags + 1] = frame
  if #self.tags > 12 then self.tags = {} end
  self.on_hit(frame % 5)
  return self.pos.x
end

local actors, sum, next_id = {}, 0, 0
for frame = 1, 220 do
  for _ = 1, 12 do
    next_id = next_id + 1
    actors[#actors + 1] = actor(next_id)
  end
  for i = #actors, 1, -1 do
    sum = sum + actors[i]:step(frame)
    if actors[i].health < 0 then table.remove(actors, i) end
  end
end
return sum

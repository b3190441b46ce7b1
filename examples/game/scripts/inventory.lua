-- SPDX-License-Identifier: MIT
-- inventory.lua - what an actor carries: stacks in the order they came, and notes.

local inventory = {}
inventory.__index = inventory

function inventory.new(owner, number)
  local self = setmetatable({ owner = owner, stacks = {}, notes = {} }, inventory)
  for i = 1, 1 + number % 3 do self:put("item " .. (number + i) % 17, i) end
  return self
end

function inventory:put(name, number)
  for _, stack in ipairs(self.stacks) do
    if stack.name == name then
      stack.number = stack.number + number
      return
    end
  end
  self.stacks[#self.stacks + 1] = { name = name, number = number }
end

function inventory:total()
  local sum = 0
  for _, stack in ipairs(self.stacks) do sum = sum + stack.number end
  return sum
end

function inventory:note(text)
  self.notes[#self.notes + 1] = self.owner .. " heard " .. text
  if #self.notes > 12 then
    local kept = {}
    for i = #self.notes - 5, #self.notes do kept[#kept + 1] = self.notes[i] end
    self.notes = kept
  end
end

return inventory

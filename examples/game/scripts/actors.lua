-- SPDX-License-Identifier: MIT
-- actors.lua - the kinds of actors: walkers that hunt, pickups that wait, shots that fly. A walker's mind is a
-- coroutine.

local import = engine.import
local vec = import("vec")
local inventory = import("inventory")

local SPEED, SHOT_SPEED, SIGHT = 5.0, 18.0, 420

local actor = {}
actor.__index = actor

local walker = setmetatable({}, { __index = actor })
walker.__index = walker
local pickup = setmetatable({}, { __index = actor })
pickup.__index = pickup
local shot = setmetatable({}, { __index = actor })
shot.__index = shot

local count = 0

local function create(class, kind, type, x, y)
  count = count + 1
  local name = string.format("%s %05d", kind, count)
  local self = {
    id = engine.spawn(type, x, y, name), type = type, kind = kind, name = name, at = vec.new(x, y), dead = false,
    bag = false, mind = false, seen = false, heard = 0, way = false, age = 0, inbox = false,
  }
  return setmetatable(self, class)
end

function actor:leave()
  if self.id then engine.remove(self.id) end
  self.id = false
end

function actor:go(by)
  local to = self.at + by
  if engine.move(self.id, to.x, to.y) then
    self.at = to
    return true
  end
  return false
end

function actor:on(message)
  local box = self.inbox
  if not box or #box > 6 then box = {} end
  box[#box + 1] = message
  self.inbox = box
  self.heard = self.heard + 1
end

-- walker: looks about, hunts what it saw, wanders, gets tired.

local function look(self)
  local near = engine.near(self.at.x, self.at.y, SIGHT)
  local others = {}
  for _, id in ipairs(near) do
    if id ~= self.id then
      local x, y = engine.position(id)
      others[#others + 1] = { id = id, at = vec.new(x, y), far = (vec.new(x, y) - self.at):length() }
    end
  end
  table.sort(others, function(a, b)
    if a.far ~= b.far then return a.far < b.far end
    return a.id < b.id
  end)
  return others
end

local function fire(self, at)
  local aim = (at - self.at):unit()
  local made = create(shot, "shot", 40 + self.type % 8, self.at.x, self.at.y)
  made.way = aim * SHOT_SPEED
  made.seen = self.id
  engine.sound(self.type % 32)
  return made
end

local function hunt(self, prey)
  for _ = 1, 6 do
    local steps, x, y = engine.path(self.id, prey.at.x, prey.at.y)
    if steps == 0 then return end
    self:go((vec.new(x, y) - self.at):unit() * SPEED)
    coroutine.yield()
  end
  coroutine.yield(fire(self, prey.at))
end

local function wander(self)
  local turn = vec.new(engine.random(3) - 1, engine.random(3) - 1)
  for _ = 1, 4 + engine.random(8) do
    if not self:go(turn * SPEED) then break end
    coroutine.yield()
  end
end

local function mind(self)
  while true do
    local others = look(self)
    self.seen = others[1] and others[1].id or false
    if #others > 0 and engine.random(4) == 0 then
      hunt(self, others[1 + engine.random(#others)])
    else
      wander(self)
    end
    coroutine.yield()
  end
end

function walker:think(n)
  self.age = self.age + 1
  if self.inbox then
    local words = {}
    for _, m in ipairs(self.inbox) do words[#words + 1] = m.text end
    self.bag:note(table.concat(words, ","))
    self.inbox = false
  end
  if not self.mind or coroutine.status(self.mind) == "dead" then self.mind = coroutine.create(mind) end
  local fine, made = coroutine.resume(self.mind, self)
  if not fine then error(made) end
  if engine.health(self.id) <= 0 then
    engine.emit("died", self.id, self.type)
    self.dead = true
  elseif self.age % 240 == 0 then
    self.mind = false
  end
  return made
end

-- pickup: waits, and calls now and then.

function pickup:think(n)
  self.age = self.age + 1
  if (n + self.id) % 25 == 0 then
    self.bag:put("coin", self.age % 7)
    engine.emit("call", self.id, self.bag:total(), 3 + engine.random(20))
  end
end

-- shot: flies until it meets something or grows old.

function shot:think(n)
  self.age = self.age + 1
  if self.age > 30 or not self:go(self.way) then
    self.dead = true
    return
  end
  for _, id in ipairs(engine.near(self.at.x, self.at.y, 24)) do
    if id ~= self.id and id ~= self.seen then
      engine.health(id, -12)
      engine.emit("hit", id, self.age)
      engine.sound(32 + self.age % 16)
      self.dead = true
      return
    end
  end
end

local actors = {}

function actors.from_thing(thing, number)
  local waits = thing.type >= 2000 and thing.type < 3000
  local made = waits and create(pickup, "pickup", thing.type, thing.x, thing.y)
    or create(walker, "walker", thing.type, thing.x, thing.y)
  made.bag = inventory.new(made.name, number)
  return made
end

return actors

-- SPDX-License-Identifier: MIT
-- main.lua - what the engine calls: on_enter(map, things), on_frame(n), on_event(name, id, value), on_leave().
-- Order is always that of an array: no result depends on how a table hashes its keys.

local import = engine.import
local log = import("log")
local actors = import("actors")
local quests = import("quests")

local MOST_ACTORS = 160

local game = { map = "", live = {}, by_id = {}, frame = 0, born = 0 }

local function add(actor)
  game.live[#game.live + 1] = actor
  game.by_id[actor.id] = actor
end

function on_enter(map, things)
  game.map, game.live, game.by_id = map, {}, {}
  quests.begin(map, #things)
  for i, thing in ipairs(things) do
    if #game.live >= MOST_ACTORS then break end
    add(actors.from_thing(thing, i))
  end
  log.say("%s: %d of %d things are actors", map, #game.live, #things)
end

function on_leave()
  quests.finish()
  for _, actor in ipairs(game.live) do actor:leave() end
  game.live, game.by_id = {}, {}
  collectgarbage()
end

local function bury()
  local kept = {}
  for _, actor in ipairs(game.live) do
    if actor.dead then
      actor:leave()
      game.by_id[actor.id] = false
    else
      kept[#kept + 1] = actor
    end
  end
  game.live = kept
end

function on_frame(n)
  game.frame = n
  for i = 1, #game.live do
    local shot = game.live[i]:think(n)
    if shot then add(shot) end
  end
  bury()
  quests.frame(n, game.live)
  if n % 30 == 0 then log.say("frame %d: %d actors, %s", n, #game.live, quests.summary()) end
end

function on_event(name, id, value)
  local actor = game.by_id[id]
  if not actor then return end
  local reply = { from = id, name = name, value = value, text = name .. ":" .. id .. ":" .. value }
  actor:on(reply)
  quests.event(reply)
end

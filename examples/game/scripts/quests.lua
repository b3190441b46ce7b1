-- SPDX-License-Identifier: MIT
-- quests.lua - what the player is asked to do: goals counted by events, told in sentences.

local import = engine.import
local log = import("log")

local quests = { goals = {}, told = {}, map = "" }

local function goal(event, wanted, text)
  return {
    event = event, wanted = wanted, had = 0, text = text,
    tell = function(self) return string.format("%s (%d of %d)", self.text, self.had, self.wanted) end,
  }
end

function quests.begin(map, things)
  quests.map = map
  quests.goals = {
    goal("touch", things, "meet the others"),
    goal("hit", 10 + things // 4, "hit something"),
    goal("call", 5 + things // 2, "answer calls"),
    goal("died", 3 + things // 10, "bury the dead"),
  }
end

function quests.event(message)
  for _, g in ipairs(quests.goals) do
    if g.event == message.name then
      g.had = g.had + 1
      if g.had == g.wanted then log.say("%s: done: %s", quests.map, g.text) end
    end
  end
end

function quests.frame(n, live)
  if n % 10 ~= 0 then return end
  local lines = {}
  for i, g in ipairs(quests.goals) do lines[i] = g:tell() end
  quests.told = { frame = n, number = #live, text = table.concat(lines, "; ") }
end

function quests.summary() return quests.told.text or "nothing yet" end

function quests.finish() log.say("%s left: %s", quests.map, quests.summary()) end

return quests

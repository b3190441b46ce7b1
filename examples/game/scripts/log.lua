-- SPDX-License-Identifier: MIT
-- log.lua - lines of text to the engine, and the last of them kept.

local log = { lines = {}, at = 0, most = 48 }

function log.say(format, ...)
  local line = string.format(format, ...)
  log.at = log.at % log.most + 1
  log.lines[log.at] = line
  engine.message(line)
end

return log

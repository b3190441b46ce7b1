-- SPDX-License-Identifier: MIT
-- vec.lua - vectors of two numbers; every operation makes a new one, as scripts like to.

local vec = {}
vec.__index = vec

local function new(x, y) return setmetatable({ x = x, y = y }, vec) end

vec.new = new
function vec.__add(a, b) return new(a.x + b.x, a.y + b.y) end
function vec.__sub(a, b) return new(a.x - b.x, a.y - b.y) end
function vec.__mul(a, s) return new(a.x * s, a.y * s) end
function vec:square() return self.x * self.x + self.y * self.y end
function vec:length() return math.sqrt(self:square()) end

function vec:unit()
  local length = self:length()
  if length == 0 then return new(0, 0) end
  return self * (1 / length)
end

return vec

-- Add a batch to the sorted sets of one shard. KEYS and ARGV: see scripted.py.
local owners, posts, capacity = ARGV[1], ARGV[2], tonumber(ARGV[3])
local CHUNK = 1000 * 8 -- bytes of ids a ZADD: Lua can't pass many more arguments at once

-- The batch holds a few posts for many owners: each id is made decimal once.
local decimal = setmetatable({}, {__index = function(known, packed)
  local id = string.format('%.0f', (struct.unpack('<I8', packed)))
  known[packed] = id
  return id
end})

local function add(key, first, last)
  local arguments = {}
  for at = first, last, 8 do
    local id = decimal[string.sub(posts, at, at + 7)]
    arguments[#arguments + 1] = id
    arguments[#arguments + 1] = id
  end
  redis.call('ZADD', key, unpack(arguments))
end

local start = 1
for at = 1, #owners, 16 do
  local owner, count = struct.unpack('<I8I8', owners, at)
  local key = KEYS[1] .. string.format('%.0f', owner)
  local stop = start + count * 8
  for first = start, stop - 1, CHUNK do
    add(key, first, math.min(first + CHUNK, stop) - 1)
  end
  redis.call('ZREMRANGEBYRANK', key, 0, -capacity - 1)
  start = stop
end

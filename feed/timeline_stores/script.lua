-- Add a batch to the sorted sets of some shards. KEYS and ARGV: see scripted.py.
local capacity = tonumber(ARGV[1])
local ID = 6
local CHUNK = ID * 1000 -- bytes of ids per ZADD: Lua can't pass many more arguments at once

-- The batch holds a few posts for many owners: each id is converted to decimal once.
local decimal = setmetatable({}, {__index = function(known, packed)
  local id = string.format('%.0f', (struct.unpack('<I6', packed)))
  known[packed] = id
  return id
end})

local function add(key, posts)
  local arguments = {}
  for at = 1, #posts, ID do
    local id = decimal[string.sub(posts, at, at + ID - 1)]
    arguments[#arguments + 1] = id
    arguments[#arguments + 1] = id
  end
  redis.call('ZADD', key, unpack(arguments))
end

local owners_of, lengths_of = cjson.decode(ARGV[2]), cjson.decode(ARGV[3])
for shard, prefix in ipairs(KEYS) do
  local lengths, posts, start = lengths_of[shard], ARGV[2 * shard + 2], 1
  for n, owner in ipairs(owners_of[shard]) do
    local key, stop = prefix .. owner, start + lengths[n]
    for first = start, stop - 1, CHUNK do
      add(key, string.sub(posts, first, math.min(first + CHUNK, stop) - 1))
    end
    redis.call('ZREMRANGEBYRANK', key, 0, -capacity - 1)
    start = stop
  end
end

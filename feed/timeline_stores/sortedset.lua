-- A timeline as a sorted set: each id is a member and its own score. The header's members ticket,
-- seal and floor have negative scores: minus one, minus the number.
local ID = 6
local PENDING = 2 ^ 47 - 1
local HEADER = 3
local CHUNK = ID * 1000 -- bytes of ids per ZADD: Lua can't pass many more arguments at once
local capacity = tonumber(ARGV[3])
local call = redis.call

local function number(ids, at)
  return (struct.unpack('<I6', ids, at))
end

local function text(n)
  return string.format('%.0f', n)
end

-- The batch holds a few posts for many owners: each id is converted to decimal once.
local decimal = setmetatable({}, {__index = function(known, packed)
  local id = text(number(packed, 1))
  known[packed] = id
  return id
end})

local function head_of(key)
  local scores = redis.pcall('ZMSCORE', key, 'ticket', 'seal', 'floor')
  if not scores.err and scores[1] and scores[2] and scores[3] then
    return {ticket = -scores[1] - 1, seal = -scores[2] - 1, floor = -scores[3] - 1}
  end
end

local function put_head(key, head)
  call(
    'ZADD', key,
    text(-head.ticket - 1), 'ticket', text(-head.seal - 1), 'seal', text(-head.floor - 1), 'floor'
  )
end

local function make(key, head)
  call('DEL', key)
  put_head(key, head)
end

local function holds(key, id)
  return call('ZSCORE', key, text(id))
end

local function drop(key, floor)
  call('ZREMRANGEBYSCORE', key, 1, text(floor))
end

local function put(key, posts)
  for first = 1, #posts, CHUNK do
    local arguments = {}
    for at = first, math.min(first + CHUNK, #posts + 1) - 1, ID do
      local id = decimal[string.sub(posts, at, at + ID - 1)]
      arguments[#arguments + 1] = id
      arguments[#arguments + 1] = id
    end
    call('ZADD', key, unpack(arguments))
  end
end

local function restore(key, head, ids)
  put(key, ids)
  put_head(key, head)
end

-- Return the highest id beyond the capacity, or 0.
local function trim(key)
  local extra = call('ZCARD', key) - HEADER - capacity
  if extra <= 0 then
    return 0
  end
  local last = HEADER + extra - 1
  return tonumber(call('ZRANGE', key, last, last)[1])
end

local function insert(key, new)
  put(key, new)
  local dropped = trim(key)
  if dropped > 0 then
    drop(key, dropped)
  end
  return dropped
end

local function append()
  return false
end

-- Shards keep nothing beside their sorted sets.
local function begin()
  return false, true
end

local function reach() end

local function know() end

-- Add a batch to the rings of some shards. KEYS and ARGV: see scripted.py.
-- A ring is a string of 8-byte ids, ascending, none twice; sizes below are in bytes.
local capacity = 8 * ARGV[1]
local limit = 8 * math.floor(ARGV[1] * 5 / 4)
local half = limit / 2
local REACH = 8 * 64 -- what is late is late by little: look no further at first

local function number(ids, at)
  return (struct.unpack('<I8', ids, at))
end

local function merge(held, new)
  local first, at = number(new, 1), #held + 1
  while at > 1 and number(held, at - 8) >= first do
    at = at - 8
  end
  local merged, from = {string.sub(held, 1, at - 1)}, 1
  while at <= #held and from <= #new do
    local old, late = number(held, at), number(new, from)
    if old <= late then
      merged[#merged + 1] = string.sub(held, at, at + 7)
      at = at + 8
    else
      merged[#merged + 1] = string.sub(new, from, from + 7)
    end
    if late <= old then
      from = from + 8
    end
  end
  return table.concat(merged) .. string.sub(held, at) .. string.sub(new, from)
end

local function insert(key, new)
  local tail = redis.call('GETRANGE', key, -#new - REACH, -1)
  if number(tail, 1) > number(new, 1) then
    tail = redis.call('GET', key)
  end
  return redis.call('SETRANGE', key, redis.call('STRLEN', key) - #tail, merge(tail, new))
end

-- APPEND reserves twice the length that it makes. Making half of the limit first reserves the
-- limit, and all that follows until the next trim fits.
local function rewrite(key)
  local ring = redis.call('GETRANGE', key, -capacity, -1)
  redis.call('SET', key, string.sub(ring, 1, 1))
  redis.call('APPEND', key, string.sub(ring, 2, half))
  redis.call('APPEND', key, string.sub(ring, half + 1))
end

local function add(key, new)
  local newest = redis.call('GETRANGE', key, -8, -1)
  local size
  if newest == '' or number(newest, 1) < number(new, 1) then
    size = redis.call('APPEND', key, new)
  else
    size = insert(key, new)
  end
  if size > limit or (size >= half and size - #new < half) then
    rewrite(key)
  end
end

for shard, prefix in ipairs(KEYS) do
  local owners, posts, start = ARGV[2 * shard], ARGV[2 * shard + 1], 1
  for at = 1, #owners, 16 do
    local owner, count = struct.unpack('<I8I8', owners, at)
    local stop = start + count * 8
    add(prefix .. string.format('%.0f', owner), string.sub(posts, start, stop - 1))
    start = stop
  end
end

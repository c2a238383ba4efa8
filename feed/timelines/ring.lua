-- Add a batch to the rings of one shard. KEYS and ARGV: see scripted.py.
-- A ring is a string of 8-byte ids, ascending, none twice; sizes below are in bytes.
local owners, posts, capacity = ARGV[1], ARGV[2], 8 * ARGV[3]
local limit = 8 * math.floor(ARGV[3] * 5 / 4)
local half = limit / 2

local function number(ids, at)
  return (struct.unpack('<I8', ids, at))
end

local function merge(ring, new)
  local first, at = number(new, 1), #ring + 1
  while at > 1 and number(ring, at - 8) >= first do
    at = at - 8
  end
  local merged, from = {string.sub(ring, 1, at - 1)}, 1
  while at <= #ring and from <= #new do
    local held, wanted = number(ring, at), number(new, from)
    if held <= wanted then
      merged[#merged + 1] = string.sub(ring, at, at + 7)
      at = at + 8
    else
      merged[#merged + 1] = string.sub(new, from, from + 7)
    end
    if wanted <= held then
      from = from + 8
    end
  end
  return table.concat(merged) .. string.sub(ring, at) .. string.sub(new, from)
end

-- APPEND reserves twice the length that it makes. Making half of the limit first reserves the
-- limit, and all that follows until the next trim fits.
local function rewrite(key, ring)
  ring = string.sub(ring, -capacity)
  redis.call('SET', key, string.sub(ring, 1, 1))
  redis.call('APPEND', key, string.sub(ring, 2, half))
  redis.call('APPEND', key, string.sub(ring, half + 1))
end

local function add(key, new)
  local newest = redis.call('GETRANGE', key, -8, -1)
  if newest ~= '' and number(newest, 1) >= number(new, 1) then
    return rewrite(key, merge(redis.call('GET', key), new))
  end
  local size = redis.call('APPEND', key, new)
  if size > limit or (size >= half and size - #new < half) then
    rewrite(key, redis.call('GET', key))
  end
end

local start = 1
for at = 1, #owners, 16 do
  local owner, count = struct.unpack('<I8I8', owners, at)
  local stop = start + count * 8
  add(KEYS[1] .. string.format('%.0f', owner), string.sub(posts, start, stop - 1))
  start = stop
end

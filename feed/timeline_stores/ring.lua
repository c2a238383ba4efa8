-- Add a batch to the rings of some shards. KEYS and ARGV: see scripted.py.
-- A ring is a string of distinct ascending 6-byte ids; sizes below are in bytes.
local ID = 6
local capacity = ID * ARGV[1]
local limit = ID * math.floor(ARGV[1] * 5 / 3)
local half = limit / 2
local REACH = ID * 64 -- late ids are usually late by little: search only this far at first
local LONG = half / 4 -- bytes; for shorter additions a check whether they fit costs too much
local call, sub = redis.call, string.sub

local function number(ids, at)
  return (struct.unpack('<I6', ids, at))
end

local function merge(held, new)
  local first, at = number(new, 1), #held + 1
  while at > 1 and number(held, at - ID) >= first do
    at = at - ID
  end
  local merged, from = {sub(held, 1, at - 1)}, 1
  while at <= #held and from <= #new do
    local old, late = number(held, at), number(new, from)
    if old <= late then
      merged[#merged + 1] = sub(held, at, at + ID - 1)
      at = at + ID
    else
      merged[#merged + 1] = sub(new, from, from + ID - 1)
    end
    if late <= old then
      from = from + ID
    end
  end
  return table.concat(merged) .. sub(held, at) .. sub(new, from)
end

-- Keep the last bytes of a ring, and append new ones. Lua hashes every string byte by byte, so no
-- byte passes through it twice. APPEND reserves twice the new length: writing half of the limit
-- first reserves the limit, and everything until the next trim fits.
local function rewrite(key, keep, new)
  local first, rest = '', ''
  if keep > 0 then
    first = call('GETRANGE', key, -keep, math.min(half, keep) - keep - 1)
  end
  if keep > half then
    rest = call('GETRANGE', key, half - keep, -1)
  end
  call('SET', key, '')
  local missing = half - #first
  if missing > 0 then
    first, new = first .. sub(new, 1, missing), sub(new, missing + 1)
  end
  for _, part in ipairs({first, rest, new}) do
    if part ~= '' then
      call('APPEND', key, part)
    end
  end
end

local function insert(key, new)
  local tail = call('GETRANGE', key, -#new - REACH, -1)
  if number(tail, 1) > number(new, 1) then
    tail = call('GET', key)
  end
  local size = call('SETRANGE', key, call('STRLEN', key) - #tail, merge(tail, new))
  if size > limit then
    rewrite(key, capacity, '')
  end
end

local function append(key, new)
  if #new >= LONG and call('STRLEN', key) + #new > limit then
    local fits = sub(new, -capacity)
    return rewrite(key, capacity - #fits, fits)
  end
  local size = call('APPEND', key, new)
  if size > limit then
    rewrite(key, capacity, '')
  elseif size >= half and size - #new < half then
    rewrite(key, size, '')
  end
end

local function add(key, new, in_order)
  local newest = in_order and '' or call('GETRANGE', key, -ID, -1)
  if newest == '' or number(newest, 1) < number(new, 1) then
    append(key, new)
  else
    insert(key, new)
  end
end

-- Beside its rings a shard keeps the newest id that any of them may hold: for newer ids the script
-- need not read the end of each ring. It is set first, in case the memory runs out in between.
local function raise(key, oldest, newest)
  local before = call('SET', key, string.format('%.0f', newest), 'GET')
  before = before and tonumber(before)
  if before and before > newest then
    call('SET', key, string.format('%.0f', before))
  end
  return before and oldest > before
end

local owners_of, lengths_of = cjson.decode(ARGV[2]), cjson.decode(ARGV[3])
for shard, prefix in ipairs(KEYS) do
  local owners, lengths, posts = owners_of[shard], lengths_of[shard], ARGV[2 * shard + 2]
  local in_order = raise(prefix .. 'newest', struct.unpack('<I8I8', ARGV[2 * shard + 3]))
  local start = 1
  for n, owner in ipairs(owners) do
    local stop = start + lengths[n]
    add(prefix .. owner, sub(posts, start, stop - 1), in_order)
    start = stop
  end
end

-- Timelines as strings, each a header of three words (version, seal, floor) and then distinct
-- ascending ids. What each event does to one is said in rule.py. Sizes are in bytes.
-- KEYS: the prefix of each shard's keys. ARGV: the request as JSON, and packed ids. The request has
-- operation, new_version, capacity, and shards: of each the owners (as texts, since JSON's numbers
-- are not 64-bit integers) and what the operation needs. Reply: owners and versions of the pending
-- timelines, in turn. More operations may stand after this text.
local request, packed = cjson.decode(ARGV[1]), ARGV[2]
local NEW_VERSION = request.new_version
local ID = 6
local HEADER = 3 * ID
local FLAG = 2 ^ 47
local PENDING = FLAG - 1
local capacity = ID * request.capacity
local limit = HEADER + ID * math.floor(request.capacity * 5 / 3)
local half = math.floor(limit / 2)
local REACH = ID * 64 -- late ids are usually late by little: search only this far at first
local LONG = half / 4 -- for shorter additions a check whether they fit costs too much
local call, sub = redis.call, string.sub

local function number(ids, at)
  return (struct.unpack('<I6', ids, at))
end

local function word(n)
  return struct.pack('<I6', n + FLAG)
end

-- The header.

local function header(head)
  return word(head.version) .. word(head.seal) .. word(head.floor)
end

local function head_of(key)
  local words = redis.pcall('GETRANGE', key, 0, HEADER - 1)
  if type(words) == 'string' and #words == HEADER and number(words, 1) >= FLAG then
    return {
      version = number(words, 1) - FLAG,
      seal = number(words, 1 + ID) - FLAG,
      floor = number(words, 1 + 2 * ID) - FLAG,
    }
  end
end

local function put_head(key, head)
  call('SETRANGE', key, 0, header(head))
end

local function set_floor(key, floor)
  call('SETRANGE', key, 2 * ID, word(floor))
  call('SETRANGE', key, 0, word(NEW_VERSION))
end

-- The ids.

-- Return the position of the first id above this one.
local function above(ids, id)
  local low, high = 0, #ids / ID
  while low < high do
    local middle = math.floor((low + high) / 2)
    if number(ids, middle * ID + 1) > id then
      high = middle
    else
      low = middle + 1
    end
  end
  return low * ID + 1
end

local function holds(key, id)
  local ids = call('GETRANGE', key, HEADER, -1)
  local at = above(ids, id)
  return at > 1 and number(ids, at - ID) == id
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

-- Keep the header and the last bytes of a ring, and append new ones; return the highest id that was
-- dropped, or 0. Lua hashes every string byte by byte, so no byte passes through it twice. APPEND
-- reserves twice the new length: writing half of the limit first reserves the limit, and everything
-- until the next trim fits.
local function rewrite(key, keep, new)
  local size, dropped, first, rest = call('STRLEN', key), 0, '', ''
  if HEADER + keep < size then
    dropped = number(call('GETRANGE', key, -keep - ID, -keep - 1), 1)
  end
  local room = half - HEADER
  if keep > 0 then
    first = call('GETRANGE', key, -keep, math.min(room, keep) - keep - 1)
  end
  if keep > room then
    rest = call('GETRANGE', key, room - keep, -1)
  end
  call('SET', key, call('GETRANGE', key, 0, HEADER - 1))
  local missing = room - #first
  if missing > 0 then
    first, new = first .. sub(new, 1, missing), sub(new, missing + 1)
  end
  for _, part in ipairs({first, rest, new}) do
    if part ~= '' then
      call('APPEND', key, part)
    end
  end
  return dropped
end

-- Append newer ids to a ring that they make too long; return the highest id that was dropped.
local function fit(key, size, new)
  local fits = sub(new, -capacity)
  local dropped = rewrite(key, math.min(capacity - #fits, size - HEADER), fits)
  return #fits < #new and number(new, #new - #fits - ID + 1) or dropped
end

-- Add ids that are newer than floor and seal; return the highest id that was dropped, or 0.
local function insert(key, new)
  local size = call('STRLEN', key)
  if size == HEADER or number(call('GETRANGE', key, -ID, -1), 1) < number(new, 1) then
    if size + #new > limit then
      return fit(key, size, new)
    end
    call('APPEND', key, new)
    if size < half and size + #new >= half then
      rewrite(key, size + #new - HEADER, '')
    end
    return 0
  end
  local from = math.max(HEADER, size - #new - REACH)
  local tail = call('GETRANGE', key, from, -1)
  if from > HEADER and number(tail, 1) > number(new, 1) then
    from = HEADER
    tail = call('GETRANGE', key, from, -1)
  end
  if call('SETRANGE', key, from, merge(tail, new)) > limit then
    return rewrite(key, capacity, '')
  end
  return 0
end

-- Append ids that are newer than everything in the shard, and return true. Otherwise, or if there
-- is no active timeline, change nothing and return false.
local function append(key, new)
  if #new >= LONG then
    local size = redis.pcall('STRLEN', key)
    if type(size) == 'number' and size > HEADER and size + #new > limit then
      set_floor(key, fit(key, size, new))
      return true
    end
  end
  local size = redis.pcall('APPEND', key, new)
  if type(size) ~= 'number' then
    return false
  end
  local before = size - #new
  if before <= HEADER then
    local head = before == HEADER and head_of(key)
    if not head or head.floor == PENDING then
      if head then
        call('SET', key, header(head))
      else
        call('DEL', key)
      end
      return false
    end
  end
  if size > limit then
    set_floor(key, rewrite(key, capacity, ''))
  elseif size >= half and before < half then
    rewrite(key, size - HEADER, '')
  end
  return true
end

-- The newest id of a shard. Beside its rings it keeps the newest id that any of them may hold, or
-- have as its seal: if a batch is newer, the script need not read the rings. The number is negative
-- until the shard is active: something may have been lost, so it is a lower bound only.

local function newest_of(prefix)
  local newest = redis.pcall('GET', prefix .. 'newest')
  return type(newest) == 'string' and tonumber(newest)
end

local function set_newest(prefix, newest)
  call('SET', prefix .. 'newest', string.format('%.0f', newest))
end

-- Return whether a batch is newer than everything in the shard, and whether the shard is active.
local function take_batch(prefix, oldest, newest)
  local before = newest_of(prefix)
  if not before or before < 0 then
    set_newest(prefix, -math.max(newest, before and -before or 0))
    return false, false
  end
  if newest > before then
    set_newest(prefix, newest)
  end
  return oldest > before, true
end

local function raise_newest(prefix, newest)
  local before = newest_of(prefix)
  if before and newest > math.abs(before) then
    set_newest(prefix, before < 0 and -newest or newest)
  end
end

-- The rule.

local pending = {}

local function note(owner, version)
  pending[#pending + 1] = owner
  pending[#pending + 1] = string.format('%.0f', version)
end

local function raise_floor(key, head, floor)
  if floor > head.floor then
    local all = call('GET', key)
    head.floor, head.version = floor, NEW_VERSION
    local ids = sub(all, HEADER + 1)
    call('SET', key, header(head) .. sub(ids, above(ids, floor)))
  end
end

local function created(key)
  local head = head_of(key)
  if not head then
    head = {version = NEW_VERSION, seal = 0, floor = PENDING}
    call('SET', key, header(head))
  end
  return head
end

local function deliver(key, owner, new)
  local head = created(key)
  if head.floor == PENDING then
    head.version = NEW_VERSION
    put_head(key, head)
    return note(owner, NEW_VERSION)
  end
  local stop, late, at = math.max(head.seal, head.floor), 0, 1
  while at <= #new and number(new, at) <= stop do
    local id = number(new, at)
    if id <= head.floor or not holds(key, id) then
      late = id
    end
    at = at + ID
  end
  if late > 0 then
    head.version = NEW_VERSION
    put_head(key, head)
    raise_floor(key, head, late)
  end
  if at <= #new then
    local dropped = insert(key, sub(new, at))
    if dropped > head.floor then
      set_floor(key, dropped)
    end
  end
end

-- The operations, and what each needs of a shard beside the owners.

local operations = {}
local at = 1 -- where the packed ids of the next shard begin

-- lengths: how many bytes are each owner's; oldest, newest: of these ids.
local function deliver_shard(shard, prefix)
  local in_order, is_active = take_batch(prefix, shard.oldest, shard.newest)
  if not is_active then
    note(shard.owners[1], 0) -- activates the shard, if no timeline of it is pending
  end
  for n, owner in ipairs(shard.owners) do
    local length = shard.lengths[n]
    local key, new = prefix .. owner, sub(packed, at, at + length - 1)
    if not in_order or not append(key, new) then
      deliver(key, owner, new)
    end
    at = at + length
  end
end

function operations.deliver()
  for n, shard in ipairs(request.shards) do
    deliver_shard(shard, KEYS[n])
  end
end

-- Call act(key, head, owner, n) for each owner, with the number of the owner in their shard.
local function each(find, act)
  for s, shard in ipairs(request.shards) do
    for n, owner in ipairs(shard.owners) do
      local key = KEYS[s] .. owner
      local head = find(key)
      if head then
        act(key, head, owner, shard, n)
      end
    end
  end
end

function operations.create()
  each(created, function(_, head, owner)
    if head.floor == PENDING then
      note(owner, head.version)
    end
  end)
end

-- versions: of the pending timelines. Of the request: through, the newest post.
function operations.activate()
  for _, prefix in ipairs(KEYS) do
    set_newest(prefix, math.max(request.through, math.abs(newest_of(prefix) or 0)))
  end
  each(head_of, function(key, head, _, shard, n)
    if head.floor == PENDING and head.version == shard.versions[n] then
      put_head(key, {version = NEW_VERSION, seal = request.through, floor = request.through})
    end
  end)
end

-- Of the request: through, the newest post.
function operations.change()
  for _, prefix in ipairs(KEYS) do
    raise_newest(prefix, request.through)
  end
  each(head_of, function(key, head)
    head.seal, head.version = math.max(head.seal, request.through), NEW_VERSION
    if head.floor ~= PENDING then
      raise_floor(key, head, request.through)
    end
    put_head(key, head)
  end)
end

-- versions: of the one timeline. Of the request: through, floor.
function operations.load()
  each(head_of, function(key, head, _, shard)
    if head.version ~= shard.versions[1] then
      return
    end
    if head.floor == PENDING then
      head.seal, head.floor = request.through, request.through
    end
    head.floor, head.version = math.min(request.floor, head.floor), NEW_VERSION
    local ids, held = packed, call('GETRANGE', key, HEADER, -1)
    ids = (ids == '' or held == '') and ids .. held or merge(ids, held)
    call('SET', key, header(head) .. ids)
    raise_newest(KEYS[1], head.seal)
  end)
end

-- What each event does to timelines: as timeline.py, in Redis. The text of a form (ring.lua or
-- sortedset.lua) stands before this one, and says how a timeline is kept; more operations may stand
-- after it.
-- KEYS: the prefix of each shard's keys. ARGV: the operation, a new ticket, the capacity, a JSON
-- list with the owners of each shard (as texts: JSON numbers are not 64-bit integers), and then
-- what the operation needs. Reply: owners and tickets of the pending timelines, in turn.
local owners_of = cjson.decode(ARGV[4])
local pending, NEW_TICKET = {}, tonumber(ARGV[2])

local function note(owner, ticket)
  pending[#pending + 1] = owner
  pending[#pending + 1] = string.format('%.0f', ticket)
end

local function raise_floor(key, head, floor)
  if floor > head.floor then
    drop(key, floor)
    head.floor, head.ticket = floor, NEW_TICKET
    put_head(key, head)
  end
end

local function created(key)
  local head = head_of(key)
  if not head then
    head = {ticket = NEW_TICKET, seal = 0, floor = PENDING}
    make(key, head)
  end
  return head
end

-- Add ascending ids, newer than floor and seal.
local function add(key, head, new)
  local dropped = insert(key, new)
  if dropped > head.floor then
    head.floor, head.ticket = dropped, NEW_TICKET
    put_head(key, head)
  end
end

local function deliver(key, owner, new)
  local head = created(key)
  if head.floor == PENDING then
    head.ticket = NEW_TICKET
    put_head(key, head)
    return note(owner, NEW_TICKET)
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
    head.ticket = NEW_TICKET
    put_head(key, head)
    raise_floor(key, head, late)
  end
  if at <= #new then
    add(key, head, string.sub(new, at))
  end
end

local operations = {}

-- Lengths: the number of bytes of each owner. ARGV: for each shard the packed ids of its owners, and
-- its oldest and newest id in 8 bytes each.
local function deliver_shard(shard, prefix, lengths)
  local owners, posts, start = owners_of[shard], ARGV[2 * shard + 4], 1
  local in_order, is_known = begin(prefix, struct.unpack('<I8I8', ARGV[2 * shard + 5]))
  for n, owner in ipairs(owners) do
    local stop = start + lengths[n]
    local key, new = prefix .. owner, string.sub(posts, start, stop - 1)
    if not in_order or not append(key, new) then
      deliver(key, owner, new)
    end
    start = stop
  end
  if not is_known then
    note(owners[1], 0) -- the shard is settled with its timelines
  end
end

-- ARGV: the lengths, as a JSON list per shard; then what deliver_shard needs.
function operations.deliver()
  local lengths_of = cjson.decode(ARGV[5])
  for shard, prefix in ipairs(KEYS) do
    deliver_shard(shard, prefix, lengths_of[shard])
  end
end

local function each(act)
  for shard, prefix in ipairs(KEYS) do
    for n, owner in ipairs(owners_of[shard]) do
      act(prefix .. owner, owner, shard, n)
    end
  end
end

function operations.create()
  each(function(key, owner)
    local head = created(key)
    if head.floor == PENDING then
      note(owner, head.ticket)
    end
  end)
end

-- ARGV: the newest post, and a JSON list of tickets per shard.
function operations.settle()
  local through, tickets_of = tonumber(ARGV[5]), cjson.decode(ARGV[6])
  for _, prefix in ipairs(KEYS) do
    know(prefix, through)
  end
  each(function(key, _, shard, n)
    local head = head_of(key)
    if head and head.floor == PENDING and head.ticket == tonumber(tickets_of[shard][n]) then
      put_head(key, {ticket = NEW_TICKET, seal = through, floor = through})
    end
  end)
end

-- ARGV: the newest post.
function operations.change()
  local through = tonumber(ARGV[5])
  for _, prefix in ipairs(KEYS) do
    reach(prefix, through)
  end
  each(function(key)
    local head = head_of(key)
    if head then
      head.seal, head.ticket = math.max(head.seal, through), NEW_TICKET
      if head.floor ~= PENDING then
        raise_floor(key, head, through)
      end
      put_head(key, head)
    end
  end)
end

-- ARGV: ticket, through, floor, packed ids. One owner.
function operations.load()
  local ticket, through, floor = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
  each(function(key)
    local head = head_of(key)
    if not head or head.ticket ~= ticket then
      return
    end
    if head.floor == PENDING then
      head.seal, head.floor = through, through
    end
    head.floor, head.ticket = math.min(floor, head.floor), NEW_TICKET
    restore(key, head, ARGV[8])
    reach(KEYS[1], head.seal)
  end)
end

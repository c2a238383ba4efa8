-- A log beside the rings of a shard, for deliveries that are in no ring yet: a header, and records in
-- the order of their arrival, a word for the owner and one for the post id each. The words of the
-- header are its generation, which is in the keys of the rings (so without its log no ring is
-- found), and the cut, which changes when records have gone into the rings.
local RECORD = 2 * ID
local logs, cuts = {}, {}

local function new_log(log)
  call('SET', log, word(NEW_TICKET) .. word(NEW_TICKET))
  return NEW_TICKET
end

local function generation_of(log)
  local head = redis.pcall('GETRANGE', log, 0, RECORD - 1)
  if type(head) == 'string' and #head == RECORD and number(head, 1) >= FLAG then
    if call('STRLEN', log) % RECORD == 0 then
      return number(head, 1) - FLAG, head
    end
  end
end

for shard, prefix in ipairs(KEYS) do
  logs[shard] = prefix .. 'log'
  local generation, head = generation_of(logs[shard])
  if not generation then
    generation = new_log(logs[shard])
  end
  KEYS[shard], cuts[shard] = string.format('%s%.0f:', prefix, generation), head
end

-- As deliver; ARGV goes on with the log that was read, for each shard: its header, and its size in 8
-- bytes. Does nothing for a shard whose log has been cut since.
function operations.compact()
  local lengths_of = cjson.decode(ARGV[5])
  for shard, prefix in ipairs(KEYS) do
    local read = ARGV[5 + 2 * #KEYS + shard]
    local head, size = string.sub(read, 1, RECORD), struct.unpack('<I8', read, RECORD + 1)
    if head == cuts[shard] then
      deliver_shard(shard, prefix, lengths_of[shard])
      local rest = call('GETRANGE', logs[shard], size, -1)
      call('SET', logs[shard], string.sub(head, 1, ID) .. word(NEW_TICKET) .. rest)
    end
  end
end

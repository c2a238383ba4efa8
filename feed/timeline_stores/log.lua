-- A log beside the rings of a shard, for deliveries that are in no ring yet: a header, and records in
-- the order of their arrival, a word for the owner and one for the post id each. The words of the
-- header are its generation, which is in the keys of the rings (so without its log no ring is
-- found), and the cut, which changes when records have gone into the rings.
local RECORD = 2 * ID
local logs, cuts = {}, {}

-- Return the generation and the cut of a log; begin a new one where there is none.
local function head_of_log(log)
  local head = redis.pcall('GETRANGE', log, 0, RECORD - 1)
  if type(head) == 'string' and #head == RECORD and number(head, 1) >= FLAG then
    if call('STRLEN', log) % RECORD == 0 then
      return number(head, 1) - FLAG, number(head, 1 + ID) - FLAG
    end
  end
  call('SET', log, word(NEW_VERSION) .. word(NEW_VERSION))
  return NEW_VERSION, NEW_VERSION
end

for n, prefix in ipairs(KEYS) do
  logs[n] = prefix .. 'log'
  local generation, cut = head_of_log(logs[n])
  KEYS[n], cuts[n] = string.format('%s%.0f:', prefix, generation), cut
end

-- As deliver, from the logs that were read: with the cut and the size of each. Does nothing for a shard
-- whose log was cut or lost since.
function operations.compact()
  for n, shard in ipairs(request.shards) do
    local start = at
    if shard.cut == cuts[n] then
      deliver_shard(shard, KEYS[n])
      local rest = call('GETRANGE', logs[n], shard.size, -1)
      call('SET', logs[n], call('GETRANGE', logs[n], 0, ID - 1) .. word(NEW_VERSION) .. rest)
    end
    at = start + shard.bytes
  end
end

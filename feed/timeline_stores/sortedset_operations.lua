-- What the stores with sorted sets need beside the rule.
-- ARGV: the bounds, newest first, and the most ids. Reply: ticket, floor, ids.
function operations.read()
  local key = KEYS[1] .. owners_of[1][1]
  local head = head_of(key)
  if not head then
    return {}
  end
  local ids = redis.call('ZREVRANGEBYSCORE', key, ARGV[5], 1, 'LIMIT', 0, ARGV[6])
  table.insert(ids, 1, string.format('%.0f', head.floor))
  table.insert(ids, 1, string.format('%.0f', head.ticket))
  return ids
end

-- What insert has left to a second command.
function operations.trim()
  each(function(key)
    local head = head_of(key)
    if head then
      raise_floor(key, head, trim(key))
    end
  end)
end

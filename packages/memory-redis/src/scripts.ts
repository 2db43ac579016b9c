import { MAX_FOLLOWING_ENTRIES } from '../../../src/decide/memory/store/exchange-rules.js';
import { RULE_GAP_US } from '../../../src/decide/memory/store/memory-store.js';

/**
 * The scripts of the store, in Lua 5.1 as Redis runs them. Numbers are doubles: times of today are exact in microseconds,
 * but `tostring` keeps 14 digits, so that they are passed on as texts, or printed by `%.0f`.
 *
 * Keys of a namespace have one hash tag, which puts them on one node of a cluster, and every script names each key that it
 * uses. The first five are those of the namespace:
 * - `m`: bytes of all cells `b`, latest expiry `x`, cells of each agent (`o:` and its name), cells that versions before this one
 *   evicted `ev`
 * - `u`, `s`, `x`: cells by last use, by used share of a limit, and by expiry
 * - `h`: cells with entries that their checkpoint contains, by the time of the first
 *
 * Two more belong to each cell. `c`: its version `v`, generation `g`, label `l`, checkpoint `k` with its version `kv`, number
 * of entries that were trimmed `t`, last use `u`, used share `s`, expiry `x`, bytes `b`. `e`: the list of its entries, each
 * with its time and a colon before it.
 */
const SHARED = `
local m, u, s, x, h = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local call = redis.call
local function whole(n) return string.format('%.0f', n) end
`;

/** What an index entry and the members of a cell take besides their texts, roughly. */
const CELL_BYTES = 400;
/** Pattern of the agent in what is kept as the label of a cell, see `keptLabel`. */
const AGENT = '^([^\\31]+)\\31';
/** Lua passes some 8,000 arguments at most. */
const CHUNK = 1_000;

/**
 * How much later than by the clock of the memory the server itself removes what no sweep removed, as when the service is no
 * more: its clock may be set meanwhile.
 */
const EXPIRY_MARGIN_MS = 7 * 86_400_000;

/**
 * An exchange within a namespace. Everything is read and checked before anything is written, since what a script has written
 * stays when it fails. ARGV: offset of the clock, number of cells and of groups; per cell id, label, known version,
 * generation; per group the number of its cells, those, the number of its additions, and for each cell, entry, time, expiry,
 * used share, checkpoint or nothing. Returns news, and whether each group was applied.
 */
export const EXCHANGE = `${SHARED}
local offset, nCells, nGroups = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local at = 3
local function arg() at = at + 1; return ARGV[at] end
local cells, news, applied = {}, {}, {}
for i = 1, nCells do
  local c, e = KEYS[4 + 2 * i], KEYS[5 + 2 * i]
  local id, label, known, generation = arg(), arg(), tonumber(arg()), arg()
  local f = call('HMGET', c, 'v', 'g', 'kv', 't', 'u', 's', 'x')
  local cell = { c = c, e = e, id = id, label = label, exists = f[1] ~= false, v = tonumber(f[1] or '0'), g = f[2] or '0',
    kv = tonumber(f[3] or '0'), t = tonumber(f[4] or '0'), u = f[5], s = f[6], x = tonumber(f[7] or '0'), new = {}, bytes = 0 }
  if call('LLEN', e) ~= cell.v - cell.t then
    return redis.error_reply('DAMAGED the entries of ' .. c .. ' are not those of its version')
  end
  if known ~= cell.v or generation ~= cell.g then
    cell.stale = true
    local follows = generation == cell.g and known >= cell.t and known < cell.v
    local checkpoint, from = false, cell.t
    if follows and (known >= cell.kv or cell.v - known <= ${MAX_FOLLOWING_ENTRIES}) then
      from = known
    elseif cell.kv > 0 then
      checkpoint, from = call('HGET', c, 'k'), cell.kv
    end
    news[#news + 1] = { i - 1, cell.v, cell.g, checkpoint, cell.kv, cell.exists and call('LRANGE', e, from - cell.t, -1) or {} }
  end
  cells[i] = cell
end
for g = 1, nGroups do
  local own, isOpen = {}, true
  for n = 1, tonumber(arg()) do
    local cell = cells[tonumber(arg()) + 1]
    own[n] = cell
    if cell.stale then isOpen = false end
  end
  if not isOpen then
    for n = 1, #own do own[n].stale = true end
  end
  for _ = 1, tonumber(arg()) do
    local cell, entry, time, expires, used, checkpoint = cells[tonumber(arg()) + 1], arg(), arg(), tonumber(arg()), arg(), arg()
    if isOpen then
      if cell.v == 0 then cell.g = time end
      cell.v = cell.v + 1
      local element = time .. ':' .. entry
      cell.new[#cell.new + 1] = element
      cell.bytes = cell.bytes + #element
      cell.u, cell.s = time, used
      if expires > cell.x then cell.x = expires; cell.moved = true end
      if checkpoint ~= '' then cell.k = checkpoint; cell.kv = cell.v end
    end
  end
  applied[g] = isOpen and 1 or 0
end
local total, latest = 0, 0
for i = 1, nCells do
  local cell = cells[i]
  local count = #cell.new
  if count > 0 then
    for first = 1, count, ${CHUNK} do
      call('RPUSH', cell.e, unpack(cell.new, first, math.min(first + ${CHUNK - 1}, count)))
    end
    local bytes = cell.bytes
    if not cell.exists then
      bytes = bytes + ${CELL_BYTES} + #cell.label
      local agent = string.match(cell.label, '${AGENT}')
      if agent then call('HINCRBY', m, 'o:' .. agent, 1) end
    end
    call('HSET', cell.c, 'v', whole(cell.v), 'g', cell.g, 'l', cell.label, 'u', cell.u, 's', cell.s, 'x', whole(cell.x))
    if cell.k then
      bytes = bytes + #cell.k - call('HSTRLEN', cell.c, 'k')
      call('HSET', cell.c, 'k', cell.k, 'kv', whole(cell.kv))
      if not call('ZSCORE', h, cell.id) then
        call('ZADD', h, string.match(call('LINDEX', cell.e, 0), '^%d+'), cell.id)
      end
    end
    call('HINCRBY', cell.c, 'b', bytes)
    total = total + bytes
    call('ZADD', u, cell.u, cell.id)
    call('ZADD', s, cell.s, cell.id)
    if cell.moved then
      call('ZADD', x, whole(cell.x), cell.id)
      local due = whole((cell.x - offset) / 1000 + ${EXPIRY_MARGIN_MS})
      call('PEXPIREAT', cell.c, due)
      call('PEXPIREAT', cell.e, due)
      if cell.x > latest then latest = cell.x end
    end
  end
end
if total ~= 0 then call('HINCRBY', m, 'b', total) end
if latest > tonumber(call('HGET', m, 'x') or '0') then
  -- By whole days, so that it is seldom.
  latest = (math.floor(latest / 86400000000) + 1) * 86400000000
  call('HSET', m, 'x', whole(latest))
  for n = 1, 5 do call('PEXPIREAT', KEYS[n], whole((latest - offset) / 1000 + ${EXPIRY_MARGIN_MS})) end
end
return { news, applied }
`;

/** A cell, and its entries after the checkpoint or, with ARGV `all`, all that are kept. KEYS: its two. */
export const READ = `
local f = redis.call('HMGET', KEYS[1], 'v', 'l', 'u', 'k', 'kv', 't')
if not f[1] then return false end
local from = ARGV[1] == 'all' and 0 or tonumber(f[5] or '0') - tonumber(f[6] or '0')
return { f[1], f[2], f[3], f[4], f[5] or '0', f[6] or '0', redis.call('LRANGE', KEYS[2], from, -1) }
`;

/** Replaces the checkpoint, and begins a generation, so that every process reads it. ARGV: id, version, checkpoint. */
export const REPAIR = `${SHARED}
local c = KEYS[6]
local f = call('HMGET', c, 'v', 'g')
if f[1] ~= ARGV[2] then return 0 end
local bytes = #ARGV[3] - call('HSTRLEN', c, 'k')
call('HSET', c, 'k', ARGV[3], 'kv', f[1], 'g', whole(tonumber(f[2]) + 1))
call('HINCRBY', c, 'b', bytes)
call('HINCRBY', m, 'b', bytes)
local head = call('LINDEX', KEYS[7], 0)
if head then call('ZADD', h, string.match(head, '^%d+'), ARGV[1]) end
return 1
`;

/**
 * Removes cells. ARGV: what holds for those that are removed: `expired` with the time, or `all`; then their ids. Returns how many
 * were removed. A cell that the server let expire does not tell its agent: then no agent has a count any more.
 */
export const REMOVE = `${SHARED}
local mode, bound, removed = ARGV[1], tonumber(ARGV[2]), 0
for i = 1, (#KEYS - 5) / 2 do
  local c, e, id = KEYS[4 + 2 * i], KEYS[5 + 2 * i], ARGV[2 + i]
  if mode == 'all' or tonumber(call('ZSCORE', x, id) or '0') <= bound then
    local f = call('HMGET', c, 'b', 'l')
    local bytes, agent = f[1], f[2] and string.match(f[2], '${AGENT}')
    call('DEL', c, e)
    call('ZREM', u, id)
    call('ZREM', s, id)
    call('ZREM', x, id)
    call('ZREM', h, id)
    -- After the first removal: a full server takes these commands no sooner.
    if bytes then call('HINCRBY', m, 'b', '-' .. bytes) end
    if agent and call('HINCRBY', m, 'o:' .. agent, -1) <= 0 then call('HDEL', m, 'o:' .. agent) end
    if not bytes then
      for _, field in ipairs(call('HKEYS', m)) do
        if string.sub(field, 1, 2) == 'o:' then call('HDEL', m, field) end
      end
    end
    removed = removed + 1
  end
end
return removed
`;

/** Removes entries that the checkpoint contains, and that are from before ARGV[1]; then the ids. Returns how many. */
export const TRIM = `${SHARED}
local before, removed = tonumber(ARGV[1]), 0
for i = 1, (#KEYS - 5) / 2 do
  local c, e, id = KEYS[4 + 2 * i], KEYS[5 + 2 * i], ARGV[1 + i]
  local f = call('HMGET', c, 'kv', 't')
  local most = tonumber(f[1] or '0') - tonumber(f[2] or '0')
  local count, bytes, rest = 0, 0, nil
  for _, element in ipairs(call('LRANGE', e, 0, math.min(most, ${CHUNK}))) do
    local time = string.match(element, '^%d+')
    rest = time
    if count >= most or count >= ${CHUNK} or tonumber(time) >= before then break end
    count, bytes, rest = count + 1, bytes + #element, nil
  end
  if count > 0 then
    call('LTRIM', e, count, -1)
    call('HINCRBY', c, 't', count)
    call('HINCRBY', c, 'b', -bytes)
    call('HINCRBY', m, 'b', -bytes)
  end
  if rest and count < most then call('ZADD', h, rest, id) else call('ZREM', h, id) end
  removed = removed + count
end
return removed
`;

/** The number of cells of a namespace, and the hash `m`. KEYS: those of the namespace. */
export const USE = `${SHARED}
return { call('ZCARD', u), call('HGETALL', m) }
`;

/**
 * The clock, which is that of one node, and the rules, whose times are by it. KEYS: the clock, the set of namespaces, and for some
 * namespaces the hash of their rules: since when they are, and when they were last seen. ARGV: epoch and key of the hashes
 * if there are none yet, number of namespaces in use, those, and for each rule the number of its key, and its name.
 */
export const CLOCK = `
local call = redis.call
local f = call('HMGET', KEYS[1], 'offset', 'version', 'epoch', 'key', 'layout')
if not f[3] then
  f = { '0', '0', ARGV[1], ARGV[2], '1' }
  call('HSET', KEYS[1], 'offset', f[1], 'version', f[2], 'epoch', f[3], 'key', f[4], 'layout', f[5])
end
if f[5] ~= '1' then return { '0', '0', '0', '0', '', '', f[5] or 'unknown' } end
local last = 3 + tonumber(ARGV[3])
if last > 3 then call('SADD', KEYS[2], unpack(ARGV, 4, last)) end
local time = call('TIME')
local now = time[1] * 1000000 + time[2] + tonumber(f[1])
local reply = { time[1], time[2], f[1], f[2], f[3], f[4], f[5] }
for i = last + 1, #ARGV, 2 do
  local rules = KEYS[tonumber(ARGV[i])]
  local since, seen = string.match(call('HGET', rules, ARGV[i + 1]) or '', '^(%d+):(%d+)$')
  if not since or now - tonumber(seen) > ${RULE_GAP_US} then since = string.format('%.0f', now) end
  call('HSET', rules, ARGV[i + 1], since .. string.format(':%.0f', now))
  call('PEXPIRE', rules, ${EXPIRY_MARGIN_MS})
  reply[#reply + 1] = since
end
return reply
`;

/** Forgets rules that were last seen before ARGV[1]. KEYS: the rules of a namespace. Returns how many are left. */
export const FORGET_RULES = `
local rules = redis.call('HGETALL', KEYS[1])
for i = 1, #rules, 2 do
  local seen = tonumber(string.match(rules[i + 1], ':(%d+)$') or '0')
  if seen < tonumber(ARGV[1]) then redis.call('HDEL', KEYS[1], rules[i]) end
end
return redis.call('HLEN', KEYS[1])
`;

/** Sets the offset if the version is still ARGV[2]. KEYS: the clock. */
export const SET_OFFSET = `
local version = redis.call('HGET', KEYS[1], 'version')
if version == ARGV[2] then
  redis.call('HSET', KEYS[1], 'offset', ARGV[1], 'version', string.format('%.0f', tonumber(version) + 1))
end
return 1
`;

import type { NamespaceUse, SweepLimits } from '../store/memory-store.js';
import { namespaceKey, rulesKey, scriptKeys } from './namespace-keys.js';
import type { ScriptCall } from './redis-link.js';
import { FORGET_RULES, REMOVE, TRIM, USE } from './scripts.js';

/** Cells of a call: the server answers other calls in between. */
const BATCH = 200;

/** Commands to the server: scripts, and those about one key. */
export interface Commands {
  run(call: ScriptCall): Promise<unknown>;
  send(key: string, ...command: string[]): Promise<unknown>;
}

/** Removes what has expired or exceeds the limits, in small steps. Several processes may do it at a time. */
export async function sweepNamespace(
  { run, send }: Commands,
  namespace: string,
  limits: SweepLimits,
): Promise<{ expired: number; evicted: number; use: NamespaceUse; isEmpty: boolean }> {
  const key = (member: 'u' | 'x' | 'h') => namespaceKey(namespace, member);
  const list = async (...command: [string, string, ...string[]]) =>
    (await send(command[1], ...command)) as string[];

  /** Removes cells of pairs of id and last use. */
  async function remove(mode: string, bound: number, pairs: readonly string[]): Promise<number> {
    const keys = scriptKeys(
      namespace,
      pairs.filter((_, index) => index % 2 === 0),
    );
    return Number(await run({ source: REMOVE, keys, args: [mode, String(bound), ...pairs] }));
  }
  /** The cells that were not used for longest, as pairs of id and last use. */
  const unused = (count: number) => list('ZRANGE', key('u'), '0', String(count - 1), 'WITHSCORES');

  async function expire(): Promise<number> {
    const range = ['-inf', String(limits.nowUs), 'LIMIT', '0', String(BATCH)];
    const ids = await list('ZRANGEBYSCORE', key('x'), ...range);
    if (ids.length === 0) return 0;
    const removed = await remove(
      'expired',
      limits.nowUs,
      ids.flatMap((id) => [id, '0']),
    );
    return removed + (ids.length < BATCH ? 0 : await expire());
  }

  /** Entries that checkpoints contain, from before a time. Returns how many were removed. */
  async function trim(beforeUs: number): Promise<number> {
    const range = ['-inf', `(${beforeUs}`, 'LIMIT', '0', String(BATCH)];
    const ids = await list('ZRANGEBYSCORE', key('h'), ...range);
    if (ids.length === 0) return 0;
    return Number(
      await run({ source: TRIM, keys: scriptKeys(namespace, ids), args: [String(beforeUs), ...ids] }),
    );
  }

  async function use(): Promise<NamespaceUse> {
    const reply = (await run({ source: USE, keys: scriptKeys(namespace, []), args: [] })) as unknown[];
    const [cells = 0, bytes = 0, evicted = 0] = reply.map(Number);
    return { namespace, cells, bytes, evicted };
  }

  /** Those beyond the number of cells, then those beyond the bytes: their old entries first. */
  async function evict(): Promise<number> {
    const { cells, bytes } = await use();
    if (cells > limits.maxCells) {
      const removed = await remove('unused', -1, await unused(Math.min(cells - limits.maxCells, BATCH)));
      return removed + (await evict());
    }
    if (bytes <= limits.maxBytes) return 0;
    if ((await trim(Number.MAX_SAFE_INTEGER)) > 0) return evict();
    const removed = await remove('unused', limits.maxBytes, await unused(BATCH));
    return removed + (removed > 0 ? await evict() : 0);
  }

  const expired = await expire();
  while ((await trim(limits.entriesBeforeUs)) > 0);
  const evicted = await evict();
  const args = [String(limits.rulesBeforeUs)];
  const rules = Number(await run({ source: FORGET_RULES, keys: [rulesKey(namespace)], args }));
  const now = await use();
  return { expired, evicted, use: now, isEmpty: now.cells + rules + now.evicted === 0 };
}

/** Removes everything of a namespace. */
export async function removeKeys({ run, send }: Commands, namespace: string): Promise<void> {
  const key = namespaceKey(namespace, 'u');
  for (;;) {
    const ids = (await send(key, 'ZRANGE', key, '0', String(BATCH - 1))) as string[];
    if (ids.length === 0) break;
    const args = ['all', '0', ...ids.flatMap((id) => [id, '0'])];
    await run({ source: REMOVE, keys: scriptKeys(namespace, ids), args });
  }
  await send(key, 'DEL', ...scriptKeys(namespace, []));
  await send(rulesKey(namespace), 'DEL', rulesKey(namespace));
}

import type { NamespaceUse, SweepLimits } from '../../../src/decide/memory/store/memory-store.js';
import { namespaceKey, rulesKey, scriptKeys } from './namespace-keys.js';
import type { ScriptCall } from './redis-link.js';
import { FORGET_RULES, REMOVE, TRIM, USE } from './scripts.js';

/** Before the names of agents, see `scripts.ts`. */
const OWN = 'o:';
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
): Promise<{ expired: number; use: NamespaceUse; isEmpty: boolean }> {
  const key = (member: 'x' | 'h') => namespaceKey(namespace, member);
  const list = async (...command: [string, string, ...string[]]) =>
    (await send(command[1], ...command)) as string[];

  async function expire(): Promise<number> {
    const range = ['-inf', String(limits.nowUs), 'LIMIT', '0', String(BATCH)];
    const ids = await list('ZRANGEBYSCORE', key('x'), ...range);
    if (ids.length === 0) return 0;
    const args = ['expired', String(limits.nowUs), ...ids];
    const removed = Number(await run({ source: REMOVE, keys: scriptKeys(namespace, ids), args }));
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
    const reply = await run({ source: USE, keys: scriptKeys(namespace, []), args: [] });
    const [cells, pairs] = reply as [number, string[]];
    const fields = new Map(
      pairs.flatMap((name, at) => (at % 2 === 0 ? [[name, Number(pairs[at + 1])]] : [])),
    );
    const agents = [...fields].filter(([name]) => name.startsWith(OWN));
    return {
      namespace,
      cells,
      bytes: fields.get('b') ?? 0,
      agents: new Map(agents.map(([name, count]) => [name.slice(OWN.length), count])),
      evicted: fields.get('ev') ?? 0,
    };
  }

  const expired = await expire();
  while ((await trim(limits.entriesBeforeUs)) > 0);
  while ((await use()).bytes > limits.maxBytes && (await trim(Number.MAX_SAFE_INTEGER)) > 0);
  const args = [String(limits.rulesBeforeUs)];
  const rules = Number(await run({ source: FORGET_RULES, keys: [rulesKey(namespace)], args }));
  const now = await use();
  return { expired, use: now, isEmpty: now.cells + rules + now.evicted === 0 };
}

/** Removes everything of a namespace. */
export async function removeKeys({ run, send }: Commands, namespace: string): Promise<void> {
  const key = namespaceKey(namespace, 'u');
  for (;;) {
    const ids = (await send(key, 'ZRANGE', key, '0', String(BATCH - 1))) as string[];
    if (ids.length === 0) break;
    const args = ['all', '0', ...ids];
    await run({ source: REMOVE, keys: scriptKeys(namespace, ids), args });
  }
  await send(key, 'DEL', ...scriptKeys(namespace, []));
  await send(rulesKey(namespace), 'DEL', rulesKey(namespace));
}

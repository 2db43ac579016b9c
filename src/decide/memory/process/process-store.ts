import { randomBytes } from 'node:crypto';
import { demandExchangeable } from '../store/exchange-rules.js';
import type {
  CellNews,
  CellRequest,
  EntryAddition,
  ExchangeReply,
  ExchangeRequest,
  MemoryStore,
  NamespaceUse,
  StoreClock,
  StoredCell,
  SweepLimits,
  SweepReport,
} from '../store/memory-store.js';
import { RULE_GAP_US } from '../store/memory-store.js';

const HOUR_US = 3_600_000_000;

interface Kept {
  readonly id: string;
  readonly namespace: string;
  readonly label: string;
  readonly agent: string;
  generation: number;
  version: number;
  checkpoint: { readonly text: string; readonly version: number } | null;
  /** Entries that are kept, the first of which has the number `first`. */
  entries: { readonly text: string; readonly atUs: number }[];
  first: number;
  expiresAtUs: number;
  usedAtUs: number;
  used: number;
}

interface KeptRule {
  readonly sinceUs: number;
  readonly seenAtUs: number;
}

/**
 * A store in this process, without I/O: the reference of the contract, for tests and measurements. It keeps nothing beyond the
 * process. `clockUs` is its clock, which may be set.
 */
export function createProcessStore({ clockUs }: { readonly clockUs: () => number }): MemoryStore {
  const cells = new Map<string, Kept>();
  const rules = new Map<string, KeptRule>();
  const hashKey = randomBytes(32);
  const epoch = randomBytes(9).toString('base64url');
  let offsetUs = 0;
  let clockVersion = 0;

  const clock = (): StoreClock => ({ storeUs: clockUs(), offsetUs, version: clockVersion, epoch });

  function newsOf({ cells: asked, epoch: known }: ExchangeRequest): CellNews[] {
    return asked.flatMap((request, index) => {
      const kept = cells.get(request.id);
      const version = kept?.version ?? 0;
      const generation = kept?.generation ?? 0;
      const isSame = known === epoch && request.generation === generation;
      if (isSame && request.known === version) return [];
      const follows = isSame && request.known > 0 && request.known < version;
      if (kept === undefined) return [{ cell: index, version, generation, checkpoint: null, entries: [] }];
      const { checkpoint } = kept;
      const isTail = follows && request.known >= (checkpoint?.version ?? 0);
      const after = isTail ? request.known : (checkpoint?.version ?? 0);
      return [
        {
          cell: index,
          version,
          generation,
          checkpoint: isTail ? null : checkpoint,
          entries: textsAfter(kept, after),
        },
      ];
    });
  }

  function append(cell: CellRequest, addition: EntryAddition): void {
    const { entry, atUs, expiresAtUs, used, checkpoint } = addition;
    const kept = cells.get(cell.id) ?? newCell(cell, atUs);
    cells.set(cell.id, kept);
    kept.version += 1;
    kept.entries.push({ text: entry, atUs });
    if (checkpoint !== null) kept.checkpoint = { text: checkpoint, version: kept.version };
    kept.expiresAtUs = Math.max(kept.expiresAtUs, Math.ceil(expiresAtUs / HOUR_US) * HOUR_US);
    kept.usedAtUs = atUs;
    kept.used = used;
  }

  function seen(namespace: string, rule: string): number {
    const nowUs = clockUs() + offsetUs;
    const id = JSON.stringify([namespace, rule]);
    const known = rules.get(id);
    const isGap = known === undefined || nowUs - known.seenAtUs > RULE_GAP_US;
    const sinceUs = isGap ? nowUs : known.sinceUs;
    rules.set(id, { sinceUs, seenAtUs: nowUs });
    return sinceUs;
  }

  function exchange(request: ExchangeRequest): ExchangeReply {
    demandExchangeable(request);
    const news = newsOf(request);
    const closed = new Set(news.map(({ cell }) => cell));
    const applied = request.groups.map((group) => {
      if (request.epoch !== epoch || group.cells.some((cell) => closed.has(cell))) {
        for (const cell of group.cells) closed.add(cell);
        return false;
      }
      for (const addition of group.additions) {
        const cell = request.cells[addition.cell];
        if (cell !== undefined) append(cell, addition);
      }
      return true;
    });
    const sinceUs = request.rules.map(({ namespace, rule }) => seen(namespace, rule));
    return { clock: clock(), news, applied, sinceUs };
  }

  return {
    kind: 'process',
    open: async () => ({ hashKey }),
    exchange: async (request) => exchange(request),
    async setOffset(offset, version) {
      if (version === clockVersion) {
        offsetUs = offset;
        clockVersion += 1;
      }
      return clock();
    },
    mostUsed: async (namespace, minUsed, limit) =>
      [...cells.values()]
        .filter((kept) => kept.namespace === namespace && kept.used >= minUsed)
        .sort((left, right) => right.used - left.used)
        .slice(0, limit)
        .map(stored),
    async read(namespace, id) {
      const kept = cells.get(id);
      return kept === undefined || kept.namespace !== namespace ? null : stored(kept);
    },
    async ledger(namespace, id) {
      const kept = cells.get(id);
      if (kept === undefined || kept.namespace !== namespace) return { firstVersion: 1, entries: [] };
      return { firstVersion: kept.first, entries: kept.entries.map(({ text }) => text) };
    },
    async repair(namespace, id, version, checkpoint) {
      const kept = cells.get(id);
      if (kept === undefined || kept.namespace !== namespace || kept.version !== version) return false;
      kept.checkpoint = { text: checkpoint, version };
      kept.generation += 1;
      return true;
    },
    sweep: async (limits) => sweep(cells, rules, limits),
    async removeNamespace(namespace) {
      for (const kept of cells.values()) if (kept.namespace === namespace) cells.delete(kept.id);
      for (const id of rules.keys()) if (JSON.parse(id)[0] === namespace) rules.delete(id);
    },
    async close() {},
  };
}

function sweep(
  cells: Map<string, Kept>,
  rules: Map<string, KeptRule>,
  { nowUs, entriesBeforeUs, rulesBeforeUs }: SweepLimits,
): SweepReport {
  const uses = new Map<string, { cells: number; bytes: number; agents: Map<string, number> }>();
  let expired = 0;
  for (const kept of cells.values()) {
    if (kept.expiresAtUs <= nowUs) {
      cells.delete(kept.id);
      expired += 1;
      continue;
    }
    forgetEntries(kept, entriesBeforeUs);
    const use = uses.get(kept.namespace) ?? { cells: 0, bytes: 0, agents: new Map() };
    uses.set(kept.namespace, use);
    use.cells += 1;
    use.bytes += bytesOf(kept);
    use.agents.set(kept.agent, (use.agents.get(kept.agent) ?? 0) + 1);
  }
  for (const [id, { seenAtUs }] of rules) if (seenAtUs < rulesBeforeUs) rules.delete(id);
  const all = [...uses.keys()].sort().map((namespace): NamespaceUse => {
    const use = uses.get(namespace) ?? { cells: 0, bytes: 0, agents: new Map() };
    return { namespace, ...use, evicted: 0 };
  });
  return { expired, uses: all };
}

function newCell({ id, namespace, label, agent }: CellRequest, generation: number): Kept {
  return {
    id,
    namespace,
    label,
    agent,
    generation,
    version: 0,
    checkpoint: null,
    entries: [],
    first: 1,
    expiresAtUs: 0,
    usedAtUs: 0,
    used: 0,
  };
}

const textsAfter = ({ entries, first }: Kept, version: number): string[] =>
  entries.slice(Math.max(0, version + 1 - first)).map(({ text }) => text);

function stored(kept: Kept): StoredCell {
  const { id, label, version, usedAtUs, checkpoint } = kept;
  return { id, label, version, usedAtUs, checkpoint, entries: textsAfter(kept, checkpoint?.version ?? 0) };
}

function forgetEntries(kept: Kept, beforeUs: number): void {
  const contained = (kept.checkpoint?.version ?? 0) + 1 - kept.first;
  let count = 0;
  while (count < contained && (kept.entries[count]?.atUs ?? beforeUs) < beforeUs) count += 1;
  kept.entries.splice(0, count);
  kept.first += count;
}

const bytesOf = (kept: Kept): number =>
  (kept.checkpoint?.text.length ?? 0) +
  textsAfter(kept, kept.checkpoint?.version ?? 0).reduce((sum, { length }) => sum + length, 0);

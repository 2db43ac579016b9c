import type { Cell } from './cell.js';
import type { CellCache } from './cell-cache.js';
import type { Reducers } from './cell-state.js';
import { repairCell } from './repair.js';
import type { MemoryLog, StoreLink } from './store-link.js';

/** Most damaged keys that are counted. */
const MAX_DAMAGED = 1_000;

export interface RepairsOptions {
  readonly link: StoreLink;
  readonly cells: CellCache;
  readonly log: MemoryLog;
  readonly timeoutMs: number;
  readonly reducers: Reducers;
  /** How long entries are kept at least, in microseconds. */
  readonly entriesKeptUs: number;
}

/** Repairs keys whose memory cannot be read, each once at a time, and counts those that are damaged. */
export function createRepairs({ link, cells, log, timeoutMs, reducers, entriesKeptUs }: RepairsOptions) {
  const damaged = new Set<string>();
  const repairing = new Set<string>();

  async function repair(cell: Cell): Promise<void> {
    const { id, namespace } = cell;
    if (damaged.size < MAX_DAMAGED) damaged.add(id);
    if (cell.damage !== 'checkpoint' || repairing.has(id)) return;
    repairing.add(id);
    try {
      const store = await link.open(timeoutMs);
      const result = await link.inTime(repairCell(store, cell, { reducers, entriesKeptUs }), timeoutMs);
      if (result === 'incomplete') return;
      cells.drop(id);
      if (result === 'repaired') damaged.delete(id);
    } catch (error) {
      log.failed('memory repair', 'a damaged key of the memory cannot be repaired now', error);
    } finally {
      repairing.delete(id);
      log.told('error', 'memory damage', 'what is kept for a key cannot be read', { key: id, namespace });
    }
  }

  return {
    repair,
    get damagedKeys(): number {
      return damaged.size;
    },
  };
}

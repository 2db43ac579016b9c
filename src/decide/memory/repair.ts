import type { Cell } from './cell.js';
import { fold, newCellState, parseEntry, printState, type Reducers } from './cell-state.js';
import type { MemoryStore } from './store/memory-store.js';

export type RepairResult = 'repaired' | 'changed' | 'incomplete';

/**
 * Makes the checkpoint of a cell anew of its ledger. `incomplete`: entries that still matter are gone, or one cannot be
 * read; only a reset cures that. `changed`: another process was faster.
 */
export async function repairCell(
  store: MemoryStore,
  { id, namespace, knownVersion }: Cell,
  { reducers, entriesKeptUs }: { readonly reducers: Reducers; readonly entriesKeptUs: number },
): Promise<RepairResult> {
  const { firstVersion, entries } = await store.ledger(namespace, id);
  const state = newCellState();
  try {
    for (const text of entries) {
      const entry = parseEntry(text);
      // Earlier entries are gone because of their age: what is kept for longer cannot be told any more.
      if (firstVersion > 1 && entry.x * 1e6 > entriesKeptUs) return 'incomplete';
      fold(state, entry, reducers);
    }
  } catch {
    return 'incomplete';
  }
  if (firstVersion + entries.length - 1 !== knownVersion) return 'changed';
  const isRepaired = await store.repair(namespace, id, knownVersion, printState(state));
  return isRepaired ? 'repaired' : 'changed';
}

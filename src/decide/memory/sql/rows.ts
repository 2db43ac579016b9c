import { shownLabel } from '../store/exchange-rules.js';
import { MemoryStoreError, type StoreClock, type StoredCell } from '../store/memory-store.js';

/** The clock, from the offset, its version and the epoch. Without a row of the clock they are null. */
export function clockOf(storeUs: number, [offsetUs, version, epoch]: readonly unknown[]): StoreClock {
  if (typeof epoch !== 'string' || version === null) {
    throw new MemoryStoreError(
      'The database has no clock of the memory: it was not opened, or restored without it.',
    );
  }
  return { storeUs, offsetUs: Number(offsetUs), version: Number(version), epoch };
}

/** Columns of a cell, for `cellOf`. */
export const CELL_COLUMNS = '"id", "label", "version", "used_at_us", "checkpoint", "checkpoint_version"';

export function cellOf(row: readonly unknown[], entries: readonly string[]): StoredCell {
  const [id, label, version, usedAtUs, text, checkpointVersion] = row;
  return {
    id: String(id),
    label: shownLabel(String(label)),
    version: Number(version),
    usedAtUs: Number(usedAtUs),
    checkpoint: typeof text === 'string' ? { text, version: Number(checkpointVersion) } : null,
    entries,
  };
}

import { columns, mapped, nullable, number, type ReadRow, text } from '../../../storage/database/rows.js';
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

export const CELL = columns({
  id: text,
  label: mapped(text, shownLabel),
  version: number,
  usedAtUs: number,
  checkpoint: nullable(text),
  checkpointVersion: nullable(number),
});

export function cellOf(row: ReadRow<typeof CELL>, entries: readonly string[]): StoredCell {
  const { checkpoint: kept, checkpointVersion, ...cell } = row;
  const checkpoint = kept === null ? null : { text: kept, version: checkpointVersion ?? 0 };
  return { ...cell, checkpoint, entries };
}

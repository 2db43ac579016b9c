/** A part of a virtualised table: a row, or the height of rows that are not drawn. */
export type TablePart = { readonly index: number } | { readonly before: number; readonly height: number };

/** Place of a row in a list. */
interface PlacedRow {
  readonly index: number;
  readonly start: number;
  readonly end: number;
}

/** The drawn rows, with the space of the others between them. */
export function tableParts(rows: readonly PlacedRow[], totalHeight: number): readonly TablePart[] {
  const parts: TablePart[] = [];
  let end = 0;
  for (const row of rows) {
    if (row.start > end) parts.push({ before: row.index, height: row.start - end });
    parts.push({ index: row.index });
    end = row.end;
  }
  if (totalHeight > end) parts.push({ before: -1, height: totalHeight - end });
  return parts;
}

/** Index of the row that a key leads to; undefined if the key leads nowhere. */
export function rowAfterKey(key: string, at: number, count: number): number | undefined {
  const steps: Readonly<Record<string, number>> = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };
  const step = steps[key];
  if (step !== undefined) return Math.min(count - 1, Math.max(0, at + step));
  if (key === 'Home') return 0;
  return key === 'End' ? count - 1 : undefined;
}

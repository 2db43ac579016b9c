import { type CSSProperties, type RefObject, useLayoutEffect, useState } from 'react';

/** Widths of the columns of a table that draws some of its rows only. */
export interface ColumnWidths {
  readonly table: CSSProperties;
  readonly columns: readonly CSSProperties[];
}

/** What the widths depend on. */
interface MeasuredColumn {
  readonly head: string;
  readonly isWhole?: boolean;
}

interface Measured extends ColumnWidths {
  readonly for: string;
}

/**
 * Keeps the columns as wide as they are with the first rows, in proportion: otherwise they would move while the table
 * is scrolled. Undefined until they are measured.
 */
export function useColumnWidths(
  scroller: RefObject<HTMLElement | null>,
  columns: readonly MeasuredColumn[],
  isNeeded: boolean,
): ColumnWidths | undefined {
  const names = columns.map(({ head }) => head).join('\n');
  const [measured, setMeasured] = useState<Measured>();
  useLayoutEffect(() => {
    if (!isNeeded || measured?.for === names) return;
    const table = scroller.current?.querySelector('table');
    const heads = [...(table?.querySelectorAll('th') ?? [])];
    const width = table?.getBoundingClientRect().width ?? 0;
    if (width === 0) return;
    setMeasured({
      for: names,
      // Narrow windows scroll sideways, as with the rows that were measured.
      table: { minWidth: Math.min(width, heads.length * MIN_COLUMN_WIDTH) },
      columns: heads.map((head, at) => {
        const measuredWidth = head.getBoundingClientRect().width;
        return { width: columns[at]?.isWhole ? measuredWidth : `${(measuredWidth / width) * 100}%` };
      }),
    });
  }, [scroller, columns, names, isNeeded, measured]);
  return isNeeded && measured?.for === names ? measured : undefined;
}

const MIN_COLUMN_WIDTH = 130;

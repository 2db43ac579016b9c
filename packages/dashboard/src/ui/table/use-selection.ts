import { useState } from 'react';

type Key = string | number;

/** The selected rows of a list. */
export interface Selection<Row> {
  /** Whether all rows that match the filters are selected, also those that are not loaded, without the unticked ones. */
  readonly isAll: boolean;
  readonly has: (row: Row) => boolean;
  readonly toggle: (row: Row) => void;
  /** Selects these rows and no others. */
  readonly choose: (rows: readonly Row[]) => void;
  /** Selects all rows that match the filters. */
  readonly chooseAll: () => void;
  /** Number of selected rows, of the loaded ones and the number of all that match. */
  readonly count: (shown: readonly Row[], total: number) => number;
}

interface Chosen {
  /** The filters that the rows were selected with. */
  readonly of: string;
  readonly isAll: boolean;
  /** The selected rows; with `isAll` those that are not. */
  readonly keys: ReadonlySet<Key>;
}

/**
 * Keeps which rows of a list are selected. Rows that the filters no longer show count as not selected.
 *
 * @param of the filters as text: "all that match" ends when others match
 */
export function useSelection<Row>(keyOf: (row: Row) => Key, of: string): Selection<Row> {
  const [chosen, setChosen] = useState<Chosen>({ of, isAll: false, keys: new Set() });
  const isOver = chosen.isAll && chosen.of !== of;
  const isAll = chosen.isAll && !isOver;
  const keys: ReadonlySet<Key> = isOver ? new Set() : chosen.keys;
  const has = (row: Row): boolean => keys.has(keyOf(row)) !== isAll;
  return {
    isAll,
    has,
    toggle(row) {
      const next = new Set(keys);
      if (!next.delete(keyOf(row))) next.add(keyOf(row));
      setChosen({ of, isAll, keys: next });
    },
    choose: (rows) => setChosen({ of, isAll: false, keys: new Set(rows.map(keyOf)) }),
    chooseAll: () => setChosen({ of, isAll: true, keys: new Set() }),
    count: (shown, total) => (isAll ? Math.max(0, total - keys.size) : shown.filter(has).length),
  };
}

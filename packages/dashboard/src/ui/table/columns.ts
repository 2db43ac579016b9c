import type { ReactNode } from 'react';
import type { SortDirection } from './use-sort.js';

/** A column of a table: its head, and what it shows of a row. */
export interface Column<Row> {
  readonly head: string;
  readonly cell: (row: Row) => ReactNode;
  /** Class of its cells and of its head: `number` for numbers, which end at the right. */
  readonly className?: string;
  /** For sentences of users, in whatever direction they are written. */
  readonly dir?: 'auto';
  /** Whether its head is only for those who cannot see the table: its cells say what they are. */
  readonly isHeadHidden?: boolean;
  /** How its head orders the rows, see `TableProps.sort`. */
  readonly sort?: ColumnSort;
  /** Whether its cells are as wide as their content in each table, for links and words that mean nothing cut off. */
  readonly isWhole?: boolean;
}

/** An order of rows that the head of a column selects. */
export interface ColumnSort {
  /** Its name in the address. */
  readonly by: string;
  /** Its direction when it is selected: names ascend, times descend. */
  readonly first: SortDirection;
}

/** Columns in their order, where a condition can leave some out. */
export type Columns<Row> = readonly (Column<Row> | false)[];

export function columnsOf<Row>(columns: Columns<Row>): readonly Column<Row>[] {
  return columns.filter((column) => column !== false);
}

import type { ReactNode } from 'react';

/** A column of a table: its head, and what it shows of a row. */
export interface Column<Row> {
  readonly head: string;
  readonly cell: (row: Row) => ReactNode;
  /** Class of its cells, for example `number`. */
  readonly className?: string;
  /** For sentences of users, in whatever direction they are written. */
  readonly dir?: 'auto';
}

/** Columns in their order, where a condition can leave some out. */
export type Columns<Row> = readonly (Column<Row> | false)[];

export function columnsOf<Row>(columns: Columns<Row>): readonly Column<Row>[] {
  return columns.filter((column) => column !== false);
}

import type { ReactNode } from 'react';
import type { Column } from './columns.js';

interface TableRowProps<Row> {
  readonly row: Row;
  readonly columns: readonly Column<Row>[];
  readonly className: string | undefined;
  /** Its only cell, if it is not one for each column. */
  readonly wideCell: ReactNode;
  /** Its number among all rows, the head included; undefined if all of them are drawn. */
  readonly rowNumber: number | undefined;
}

/** A row of a table, which the table can give the focus. */
export function TableRow<Row>({ row, columns, className, wideCell, rowNumber }: TableRowProps<Row>) {
  return (
    <tr tabIndex={-1} aria-rowindex={rowNumber} className={className}>
      {wideCell === undefined ? (
        columns.map((column) => (
          <td key={column.head} className={column.className} dir={column.dir}>
            {column.cell(row)}
          </td>
        ))
      ) : (
        <td colSpan={columns.length}>{wideCell}</td>
      )}
    </tr>
  );
}

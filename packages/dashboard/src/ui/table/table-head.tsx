import type { CSSProperties } from 'react';
import type { Column } from './columns.js';
import { directionOf, type Sort } from './use-sort.js';

interface TableHeadProps<Row> {
  readonly column: Column<Row>;
  readonly sort: Sort | undefined;
  readonly style: CSSProperties | undefined;
}

const ARROWS = { ascending: '▲', descending: '▼' } as const;

/** The head of a column; a button where it orders the rows. */
export function TableHead<Row>({ column, sort, style }: TableHeadProps<Row>) {
  const { head, className, isHeadHidden, sort: order } = column;
  if (sort === undefined || order === undefined) {
    return (
      <th scope="col" className={className} style={style}>
        {isHeadHidden ? <span className="visually-hidden">{head}</span> : head}
      </th>
    );
  }
  const direction = sort.by === order.by ? directionOf(order.first, sort.isReversed) : undefined;
  return (
    <th scope="col" className={className} style={style} aria-sort={direction ?? 'none'}>
      <button type="button" className="sort" onClick={() => sort.select(order.by)}>
        {head}
        <span className="sort-arrow" aria-hidden="true">
          {ARROWS[direction ?? order.first]}
        </span>
      </button>
    </th>
  );
}

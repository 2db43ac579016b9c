import type { ReactNode } from 'react';
import { type QueryLike, QueryState } from '../states.js';
import { Table, type TableProps } from '../table/table.js';
import { LoadMore, type MorePages, nextPageOf } from './load-more.js';

/** What the replies of a list have in common. */
interface ListReply {
  readonly $typeName: string;
  readonly pagination?: { readonly total: number } | undefined;
}

interface ListProps<Reply, Row> extends Omit<TableProps<Row>, 'rows' | 'onEnd'> {
  readonly query: QueryLike<{ readonly pages: readonly Reply[] }> & MorePages;
  /** What is listed, for example `agents`. */
  readonly what: string;
  readonly rowsOf: (page: Reply) => readonly Row[];
  /** Puts the loaded rows in order, for lists that the server has in one order only. */
  readonly arrange?: (rows: readonly Row[]) => readonly Row[];
  /** Number of all rows. A text says that it is not exact. */
  readonly totalOf?: (first: Reply) => number | string;
  /** Shown above the table, and above what stands for an empty one. The total is that of the reply. */
  readonly above?: (rows: readonly Row[], total: number) => ReactNode;
}

/** A list that the server has in pages, as a table which loads the next page at its end or with a button. */
export function List<Reply extends ListReply, Row>(props: ListProps<Reply, Row>) {
  const { query, what, rowsOf, arrange, totalOf = totalOfReply, above, ...table } = props;
  return (
    <QueryState query={query} what={what}>
      {({ pages }) => {
        const loaded = pages.flatMap(rowsOf);
        const rows = arrange?.(loaded) ?? loaded;
        const [first] = pages;
        return (
          <>
            {above?.(rows, first === undefined ? 0 : totalOfReply(first))}
            <Table {...table} rows={rows} onEnd={nextPageOf(query)} />
            {first !== undefined && rows.length > 0 && (
              <LoadMore {...query} shown={rows.length} total={totalOf(first)} />
            )}
          </>
        );
      }}
    </QueryState>
  );
}

function totalOfReply({ pagination }: ListReply): number {
  return pagination?.total ?? 0;
}

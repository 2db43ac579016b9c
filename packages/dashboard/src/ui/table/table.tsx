import { type KeyboardEvent, type MouseEvent, type ReactNode, useMemo, useRef } from 'react';
import './table.css';
import { areShortcutsOn, useShortcut } from '../shortcuts/shortcuts.js';
import { type Columns, columnsOf } from './columns.js';
import {
  checkboxOfClick,
  firstRowInView,
  isNearEnd,
  linkOfRow,
  openRow,
  rowIndexOf,
  rowOfClick,
  rowOfKey,
  SPACE_CLASS,
} from './table-dom.js';
import { TableHead } from './table-head.js';
import { TableRow } from './table-row.js';
import { rowAfterKey } from './table-rows.js';
import { useColumnWidths } from './use-column-widths.js';
import { useDrawnRows } from './use-drawn-rows.js';
import type { Sort } from './use-sort.js';

interface FilledTableProps<Row> {
  readonly label: string;
  readonly columns: Columns<Row>;
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row, index: number) => string | number;
  readonly rowClass?: (row: Row) => string | undefined;
  /** Content of a row that is a single cell; undefined for other rows. */
  readonly wideCell?: (row: Row) => ReactNode;
  /** Order of the rows, which the heads of columns with `sort` select. The rows are in this order already. */
  readonly sort?: Sort | undefined;
  /** Called when the table is scrolled to its last rows. */
  readonly onEnd?: (() => unknown) | undefined;
}

export interface TableProps<Row> extends FilledTableProps<Row> {
  /** Shown instead of a table without rows. */
  readonly empty?: ReactNode;
}

/** A table, or what stands for one without rows. */
export function Table<Row>({ empty, ...table }: TableProps<Row>) {
  return empty !== undefined && table.rows.length === 0 ? empty : <FilledTable {...table} />;
}

/**
 * A table that scrolls by itself, with the keyboard too: `j` and `k` or the arrow keys go from row to row. Enter and a
 * click anywhere in a row open its link, that with `data-row-link` if there is one; the middle button, or a click with
 * Ctrl, Cmd or Shift, opens it in another tab.
 */
function FilledTable<Row>(props: FilledTableProps<Row>) {
  const { label, columns, rows, sort, onEnd } = props;
  const scroller = useRef<HTMLElement>(null);
  const heads = columnsOf(columns);
  const { isVirtual, parts, setFocused, focusRow } = useDrawnRows(scroller, rows.length);
  const widths = useColumnWidths(scroller, heads, isVirtual && parts.some((part) => 'index' in part));

  // Rows are drawn again with their page, which gives other props, and not while the table is scrolled.
  const elements = useMemo(() => {
    const shown = columnsOf(props.columns);
    return props.rows.map((row, index) => (
      <TableRow
        key={props.keyOf(row, index)}
        row={row}
        columns={shown}
        className={props.rowClass?.(row)}
        wideCell={props.wideCell?.(row)}
        rowNumber={isVirtual ? index + 2 : undefined}
      />
    ));
  }, [props, isVirtual]);

  const enter = () => {
    if (scroller.current !== null && rows.length > 0) focusRow(firstRowInView(scroller.current));
  };
  useShortcut('j', 'Go to the rows of the table, and to the next row', enter);
  useShortcut('k', 'Go to the previous row', enter);

  const onKeyDown = (event: KeyboardEvent<HTMLElement>): void => {
    const { key } = event;
    const row = rowOfKey(event.target, key);
    if (row === null || event.ctrlKey || event.metaKey || event.altKey) return;
    if ((key === 'j' || key === 'k') && !areShortcutsOn()) return;
    const next = rowAfterKey(key, rowIndexOf(row), rows.length);
    if (key === 'Escape') row.blur();
    else if (key === 'Enter') linkOfRow(row)?.click();
    else if (next === undefined) return;
    else focusRow(next);
    event.preventDefault();
  };

  const onClick = (event: MouseEvent<HTMLElement>): void => {
    if (event.defaultPrevented) return;
    const checkbox = checkboxOfClick(event.target);
    checkbox?.click();
    const row = checkbox === null ? rowOfClick(event.target) : null;
    if (row !== null) openRow(row, event.ctrlKey || event.metaKey || event.shiftKey);
  };
  const onAuxClick = (event: MouseEvent<HTMLElement>): void => {
    const row = event.button === 1 ? rowOfClick(event.target) : null;
    if (row !== null) openRow(row, true);
  };

  return (
    <section
      className="table-scroll"
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
      tabIndex={0}
      ref={scroller}
      onKeyDown={onKeyDown}
      onClick={onClick}
      onAuxClick={onAuxClick}
      onScroll={({ currentTarget }) => isNearEnd(currentTarget) && onEnd?.()}
      onFocus={({ target }) => setFocused(rowIndexOf(target.closest('tr')))}
      onBlur={() => setFocused(-1)}
    >
      <table
        className={widths === undefined ? '' : 'fixed'}
        style={widths?.table}
        {...(isVirtual ? { 'aria-rowcount': rows.length + 1 } : {})}
      >
        <thead>
          <tr {...(isVirtual ? { 'aria-rowindex': 1 } : {})}>
            {heads.map((column, at) => (
              <TableHead key={column.head} column={column} sort={sort} style={widths?.columns[at]} />
            ))}
          </tr>
        </thead>
        <tbody>
          {parts.map((part) =>
            'index' in part ? (
              elements[part.index]
            ) : (
              // biome-ignore lint/a11y/noAriaHiddenOnFocusable: it has no content and no focus
              <tr key={`space ${part.before}`} className={SPACE_CLASS} aria-hidden="true">
                <td colSpan={heads.length} style={{ height: part.height }} />
              </tr>
            ),
          )}
        </tbody>
      </table>
    </section>
  );
}

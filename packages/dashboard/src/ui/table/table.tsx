import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual';
import {
  Children,
  type KeyboardEvent,
  type ReactNode,
  useCallback,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import './table.css';
import { areShortcutsOn, useShortcut } from '../shortcuts/shortcuts.js';
import {
  firstRowInView,
  isNearEnd,
  linkOfRow,
  rowElements,
  rowIndexOf,
  rowOfKey,
  SPACE_CLASS,
} from './table-dom.js';
import { rowAfterKey, tableParts } from './table-rows.js';
import { useColumnWidths } from './use-column-widths.js';

/** Longer tables draw only the rows in view. */
const VIRTUAL_ABOVE = 200;
const ROW_HEIGHT = 36;
const OVERSCAN = 12;

interface TableProps {
  readonly label: string;
  readonly columns: readonly string[];
  /** Rows: an array of elements that draw a `tr`. */
  readonly children: ReactNode;
  /** Called when the table is scrolled to its last rows. */
  readonly onEnd?: (() => unknown) | undefined;
}

/**
 * A table that scrolls by itself, with the keyboard too: `j` and `k` or the arrow keys go from row to row, Enter opens
 * the link of a row, that with `data-row-link` if there is one.
 */
export function Table({ label, columns, children, onEnd }: TableProps) {
  const scroller = useRef<HTMLElement>(null);
  const rows = useMemo(() => Children.toArray(children), [children]);
  const isVirtual = rows.length > VIRTUAL_ABOVE;
  const [focused, setFocused] = useState(-1);
  const virtualizer = useVirtualizer({
    count: rows.length,
    enabled: isVirtual,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: OVERSCAN,
    // The head is above the rows and stays in view.
    scrollPaddingStart: ROW_HEIGHT,
    // A row with the focus stays where it is, wherever the table is scrolled to.
    rangeExtractor: (range) => {
      const drawn = defaultRangeExtractor(range);
      const isDrawn = focused < 0 || focused >= rows.length || drawn.includes(focused);
      return isDrawn ? drawn : [...drawn, focused].sort((a, b) => a - b);
    },
  });
  const drawn = isVirtual ? virtualizer.getVirtualItems() : [];
  const parts = isVirtual
    ? tableParts(drawn, virtualizer.getTotalSize())
    : rows.map((_row, index) => ({ index }));
  const widths = useColumnWidths(scroller, columns, drawn.length > 0);
  const indexes = parts.flatMap((part) => ('index' in part ? [part.index] : []));

  useLayoutEffect(() => {
    const elements = rowElements(scroller.current);
    for (const [at, row] of elements.entries()) {
      const index = indexes[at] ?? -1;
      // Rows are drawn by components of the pages, which know nothing of their place.
      row.tabIndex = -1;
      if (!isVirtual) {
        row.ariaRowIndex = null;
        continue;
      }
      row.ariaRowIndex = `${index + 2}`;
      const height = row.getBoundingClientRect().height;
      if (height > 0 && height !== drawn.find((item) => item.index === index)?.size) {
        virtualizer.resizeItem(index, height);
      }
    }
  });

  const focusRow = useCallback(
    (index: number) => {
      setFocused(index);
      if (isVirtual) virtualizer.scrollToIndex(index);
      // Rows that come into view are drawn in the next frame.
      const focus = () =>
        rowElements(scroller.current)
          .find((row) => rowIndexOf(row) === index)
          ?.focus();
      requestAnimationFrame(() => requestAnimationFrame(focus));
    },
    [isVirtual, virtualizer],
  );
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

  return (
    <section
      className="table-scroll"
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
      tabIndex={0}
      ref={scroller}
      onKeyDown={onKeyDown}
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
            {columns.map((column, at) => (
              <th key={column} scope="col" style={widths?.columns[at]}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {parts.map((part) =>
            'index' in part ? (
              rows[part.index]
            ) : (
              // biome-ignore lint/a11y/noAriaHiddenOnFocusable: it has no content and no focus
              <tr key={`space ${part.before}`} className={SPACE_CLASS} aria-hidden="true">
                <td colSpan={columns.length} style={{ height: part.height }} />
              </tr>
            ),
          )}
        </tbody>
      </table>
    </section>
  );
}

import type { ReactNode } from 'react';
import { numberOf } from '../numbers.js';
import type { Column } from './columns.js';
import type { Selection } from './use-selection.js';

interface SelectionBarProps<Row> {
  readonly selection: Selection<Row>;
  /** The loaded rows. */
  readonly shown: readonly Row[];
  /** Number of rows that match the filters. */
  readonly total: number;
  /** What is selected, for example `control`. */
  readonly what: string;
  /** The actions on the selected rows. */
  readonly children?: ReactNode;
}

/** Selects all rows that are shown, or all that match the filters, and offers actions on the selected ones. */
export function SelectionBar<Row>({ selection, shown, total, what, children }: SelectionBarProps<Row>) {
  const count = selection.count(shown, total);
  const isEach = shown.length > 0 && shown.every(selection.has);
  return (
    <section className="selection-bar" aria-label={`Selected ${what}s`}>
      <label className="links">
        <input
          type="checkbox"
          className="check"
          checked={isEach}
          ref={(box) => {
            if (box !== null) box.indeterminate = count > 0 && !isEach;
          }}
          onChange={() => selection.choose(isEach ? [] : shown)}
        />
        Select all {numberOf(shown.length, `shown ${what}`)}
      </label>
      {isEach && !selection.isAll && total > shown.length && (
        <button type="button" onClick={selection.chooseAll}>
          Select all {total.toLocaleString()} that match
        </button>
      )}
      {count > 0 && (
        <>
          <span role="status">{count.toLocaleString()} selected</span>
          {children}
          <button type="button" onClick={() => selection.choose([])}>
            Clear the selection
          </button>
        </>
      )}
    </section>
  );
}

/** The column with the checkbox of each row that can be selected. */
export function selectColumn<Row>(
  selection: Selection<Row>,
  nameOf: (row: Row) => string,
  isSelectable: (row: Row) => boolean = () => true,
): Column<Row> {
  return {
    head: 'Select',
    isHeadHidden: true,
    className: 'check-cell',
    cell: (row) =>
      isSelectable(row) && (
        <input
          type="checkbox"
          aria-label={`Select ${nameOf(row)}`}
          checked={selection.has(row)}
          onChange={() => selection.toggle(row)}
        />
      ),
  };
}

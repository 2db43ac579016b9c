import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { TextField } from '../fields/fields.js';
import type { NameSearch } from '../fields/search-to-add.js';
import { List } from '../list/list.js';
import type { MorePages } from '../list/load-more.js';
import { useAllPages } from '../list/use-all-pages.js';
import { numberOf } from '../numbers.js';
import { Problem, type QueryLike } from '../states.js';
import type { Columns } from '../table/columns.js';
import { SelectionBar, selectColumn } from '../table/selection-bar.js';
import { useSelection } from '../table/use-selection.js';
import './pick-many.css';

interface ListReply {
  readonly $typeName: string;
  readonly pagination?: { readonly total: number } | undefined;
}

/** What is told while the picked rows are added. */
export interface AddRun {
  readonly signal: AbortSignal;
  /** Called with the number of rows that are done. */
  readonly onProgress: (done: number) => void;
}

export interface PickManyProps<Reply extends ListReply, Row> {
  /** Title of the dialog. */
  readonly title: string;
  /** What is picked, for example `agent`. */
  readonly what: string;
  readonly search: NameSearch;
  readonly query: QueryLike<{ readonly pages: readonly Reply[] }> & MorePages;
  readonly rowsOf: (page: Reply) => readonly Row[];
  readonly keyOf: (row: Row) => string | number;
  readonly nameOf: (row: Row) => string;
  readonly columns: Columns<Row>;
  /** Whether a row is there already: it cannot be picked. */
  readonly isThere: (row: Row) => boolean;
  /** Reads all rows that the search finds. */
  readonly readAll: (signal: AbortSignal) => Promise<readonly Row[]>;
  /** Adds the picked rows. The dialog closes when the promise is fulfilled, and says why if it is rejected. */
  readonly onAdd: (rows: readonly Row[], run: AddRun) => Promise<unknown>;
  readonly onClose: () => void;
  /** What adding them means. */
  readonly children?: ReactNode;
}

interface PickManyButtonProps {
  readonly title: string;
  /** The dialog, given what closes it. What it shows is read when it opens. */
  readonly children: (onClose: () => void) => ReactNode;
}

/** A button that opens a dialog of `PickMany`. */
export function PickManyButton({ title, children }: PickManyButtonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        {title}…
      </button>
      {isOpen && children(() => setOpen(false))}
    </>
  );
}

type Run = { readonly done: number; readonly of: number } | { readonly error: unknown } | null;

/** A dialog in which several things are found by name and added at once. */
export function PickMany<Reply extends ListReply, Row>(props: PickManyProps<Reply, Row>) {
  const { title, what, search, query, rowsOf, keyOf, nameOf, columns, isThere, children, onClose } = props;
  const titleId = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const stop = useRef(new AbortController());
  const selection = useSelection(keyOf, search.text.trim());
  const [run, setRun] = useState<Run>(null);
  const isRunning = run !== null && 'done' in run;
  useEffect(() => {
    dialog.current?.showModal();
    return () => stop.current.abort();
  }, []);
  const pages = query.data?.pages ?? [];
  const pickable = pages.flatMap(rowsOf).filter((row) => !isThere(row));
  // What can be picked may be on later pages only.
  useAllPages(query, pickable.length === 0);
  const total = pages[0]?.pagination?.total ?? 0;
  // With all that match, those that are there already are left out when they are read.
  const count = selection.count(pickable, total);

  const add = async (): Promise<void> => {
    stop.current = new AbortController();
    const { signal } = stop.current;
    try {
      setRun({ done: 0, of: count });
      const rows = selection.isAll ? await props.readAll(signal) : pickable;
      const picked = rows.filter((row) => selection.has(row) && !isThere(row));
      const onProgress = (done: number): void => setRun({ done, of: picked.length });
      onProgress(0);
      await props.onAdd(picked, { signal, onProgress });
      dialog.current?.close();
    } catch (error) {
      if (!signal.aborted) setRun({ error });
    }
  };
  return (
    <dialog ref={dialog} className="pick-many" aria-labelledby={titleId} onClose={onClose}>
      <h2 id={titleId}>{title}</h2>
      {children}
      <div className="filters">
        <TextField
          label={`Find ${what}s by name`}
          type="search"
          value={search.text}
          onChange={search.setText}
        />
      </div>
      <List
        label={`${what[0]?.toUpperCase()}${what.slice(1)}s that can be added`}
        what={`${what}s`}
        query={query}
        rowsOf={(page) => rowsOf(page).filter((row) => !isThere(row))}
        keyOf={keyOf}
        rowClass={(row) => (selection.has(row) ? 'selected' : undefined)}
        empty={<p className="muted">No other {what} is found.</p>}
        above={(rows) =>
          rows.length > 0 && <SelectionBar selection={selection} shown={rows} total={total} what={what} />
        }
        columns={[selectColumn(selection, nameOf), ...columns]}
      />
      {isRunning && (
        <p role="status">
          {run.done.toLocaleString()} of {numberOf(run.of, what)}
        </p>
      )}
      {run !== null && 'error' in run && <Problem error={run.error} />}
      <div className="dialog-actions">
        <button type="button" onClick={() => dialog.current?.close()}>
          Cancel
        </button>
        <button type="button" className="primary" disabled={isRunning || count === 0} onClick={add}>
          Add {numberOf(count, what)}
        </button>
      </div>
    </dialog>
  );
}

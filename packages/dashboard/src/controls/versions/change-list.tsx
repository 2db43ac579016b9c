import type { MemberChange } from '../../control-parts/definition-changes.js';
import type { Columns } from '../../ui/table/columns.js';
import { Table } from '../../ui/table/table.js';

const MAX_SHOWN = 200;
const MAX_LENGTH = 300;
const MAX_LINES = 8;
const MAX_LINE = 120;

const COLUMNS: Columns<MemberChange> = [
  { head: 'Member', cell: ({ path }) => <code>{path}</code> },
  { head: 'Before', cell: ({ before }) => <Value text={before} className="before" /> },
  { head: 'After', cell: ({ after }) => <Value text={after} className="after" /> },
];

interface ChangeListProps {
  readonly changes: readonly MemberChange[];
  readonly label: string;
}

/** Changed members of a definition, with their old and new values. */
export function ChangeList({ changes, label }: ChangeListProps) {
  const shown = changes.slice(0, MAX_SHOWN);
  return (
    <>
      <Table
        label={label}
        columns={COLUMNS}
        rows={shown}
        keyOf={({ path }) => path}
        rowClass={() => 'change'}
      />
      {changes.length > shown.length && (
        <p className="muted">{changes.length - shown.length} more members differ.</p>
      )}
    </>
  );
}

/** The same in short, for places that are too narrow for a table. */
export function ChangeLines({ changes, label }: ChangeListProps) {
  const more = changes.length - MAX_LINES;
  return (
    <ul className="change-lines" aria-label={label}>
      {changes.slice(0, MAX_LINES).map(({ path, before, after }) => (
        <li key={path}>
          <code>{path}</code>: <Value text={before} className="before" max={MAX_LINE} /> →{' '}
          <Value text={after} className="after" max={MAX_LINE} />
        </li>
      ))}
      {more > 0 && <li>and {more} more</li>}
    </ul>
  );
}

interface ValueProps {
  readonly text: string | undefined;
  readonly className: string;
  readonly max?: number;
}

function Value({ text, className, max = MAX_LENGTH }: ValueProps) {
  if (text === undefined) return <span className="muted">–</span>;
  return (
    <code className={className} dir="auto" title={text}>
      {text.length > max ? `${text.slice(0, max)}…` : text}
    </code>
  );
}

import type { MemberChange } from '../../control-parts/definition-changes.js';
import type { Columns } from '../../ui/table/columns.js';
import { Table } from '../../ui/table/table.js';

const MAX_SHOWN = 200;
const MAX_LENGTH = 300;

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

function Value({ text, className }: { readonly text: string | undefined; readonly className: string }) {
  if (text === undefined) return <span className="muted">–</span>;
  return (
    <code className={className} dir="auto" title={text}>
      {text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text}
    </code>
  );
}

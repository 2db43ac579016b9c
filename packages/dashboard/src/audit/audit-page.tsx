import { useInfiniteQuery } from '@connectrpc/connect-query';
import { type AuditEntry, AuditService } from '@gen/enforcement/v1/audit_service_pb.js';
import { Link, useSearchParams } from 'wouter';
import { FILTERED_BY_CURSOR, FIRST_PAGE } from '../data/by-cursor.js';
import { useIsAdmin } from '../session/session-context.js';
import { useDebounced } from '../ui/browser/use-debounced.js';
import { FilterBar } from '../ui/list/filter-fields.js';
import { List } from '../ui/list/list.js';
import { Page } from '../ui/page/page.js';
import { useAddressFilter } from '../ui/page/use-address-filter.js';
import { Empty } from '../ui/states.js';
import type { Columns } from '../ui/table/columns.js';
import { TimeText } from '../ui/time-text.js';
import { UserText } from '../ui/user-text.js';
import { auditFilter } from './audit-filter.js';
import { AUDIT_FILTERS } from './audit-filters.js';
import { EntryDetails } from './entry-details.js';
import { actorText, resourceText } from './entry-texts.js';
import { ExportAudit } from './export-audit.js';
import { VerifyButton } from './verify-button.js';
import '../control-parts/controls.css';
import '../events/events.css';
import './audit.css';

const COLUMNS: Columns<AuditEntry> = [
  { head: 'Entry', className: 'number', cell: (entry) => <EntryLink entry={entry} /> },
  { head: 'Time', cell: ({ time }) => <TimeText time={time} isExact /> },
  { head: 'Actor', cell: ({ actor }) => <UserText text={actorText(actor)} /> },
  { head: 'Address', cell: ({ address = '–' }) => <UserText text={address} /> },
  { head: 'Action', cell: ({ action }) => <code>{action}</code> },
  { head: 'Resource', cell: (entry) => <UserText text={resourceText(entry)} /> },
  { head: 'Revision', className: 'number', cell: ({ revision = '–' }) => String(revision) },
];

/** The audit log: who changed what. For admins only. */
export default function AuditPage() {
  const isAdmin = useIsAdmin();
  return (
    <Page title="Audit log">
      {isAdmin ? (
        <AuditLog />
      ) : (
        <Empty title="Only admins may read the audit log">
          <p>Sign in with an admin key.</p>
        </Empty>
      )}
    </Page>
  );
}

function AuditLog() {
  const filter = useAddressFilter();
  const shown = filter.get('entry');
  const wanted = auditFilter(new URLSearchParams(useDebounced(String(filter.parameters))));
  const query = useInfiniteQuery(
    AuditService.method.listAuditEntries,
    { ...FIRST_PAGE, ...wanted },
    FILTERED_BY_CURSOR,
  );
  return (
    <>
      <FilterBar fields={AUDIT_FILTERS} filter={filter} />
      <VerifyButton />
      <ExportAudit filter={wanted} />
      {/^\d{1,15}$/.test(shown) && (
        <EntryDetails key={shown} position={BigInt(shown)} onClose={() => filter.set('entry', '')} />
      )}
      <List
        label="Entries"
        what="the audit log"
        query={query}
        columns={COLUMNS}
        rowsOf={({ entries }) => entries}
        keyOf={({ position }) => String(position)}
        empty={<Empty title="No entry passes the filters" />}
      />
    </>
  );
}

function EntryLink({ entry: { position } }: { readonly entry: AuditEntry }) {
  const [parameters] = useSearchParams();
  const address = new URLSearchParams(parameters);
  address.set('entry', String(position));
  return <Link href={`/audit?${address}`}>{String(position)}</Link>;
}

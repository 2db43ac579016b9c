import { useInfiniteQuery } from '@connectrpc/connect-query';
import { type AuditEntry, AuditService } from '@gen/enforcement/v1/audit_service_pb.js';
import { Link, useSearchParams } from 'wouter';
import { FILTERED_BY_CURSOR, FIRST_PAGE } from '../data/by-cursor.js';
import { useMay } from '../session/session-context.js';
import { List } from '../ui/list/list.js';
import { Page } from '../ui/page/page.js';
import { useAddressFilter } from '../ui/page/use-address-filter.js';
import { QueryBar } from '../ui/query-bar/query-bar.js';
import { useQueryTerms } from '../ui/query-bar/use-query-terms.js';
import { rangeProblem } from '../ui/range/range.js';
import { RangePicker } from '../ui/range/range-picker.js';
import { useRange } from '../ui/range/use-range.js';
import { SavedViews } from '../ui/saved-views/saved-views.js';
import { Empty } from '../ui/states.js';
import type { Columns } from '../ui/table/columns.js';
import { ClockText } from '../ui/time-text.js';
import { auditFilter } from './audit-filter.js';
import { AUDIT_MEMBERS } from './audit-members.js';
import { EntryDetails } from './entry-details.js';
import { entrySentence } from './entry-sentence.js';
import { ExportAudit } from './export-audit.js';
import { Sentence } from './sentence.js';
import { VerifyButton } from './verify-button.js';
import '../control-parts/controls.css';
import '../events/events.css';
import './audit.css';

const COLUMNS: Columns<AuditEntry> = [
  { head: 'Time', cell: ({ time }) => <ClockText time={time} /> },
  { head: 'Change', cell: (entry) => <EntryLink entry={entry} /> },
  { head: 'Action', cell: ({ action }) => <code>{action}</code> },
  { head: 'Revision', className: 'number', cell: ({ revision = '–' }) => String(revision) },
  { head: 'Entry', className: 'number', cell: ({ position }) => String(position) },
];

/** The audit log: who changed what. */
export default function AuditPage() {
  return (
    <Page title="Audit log">
      <AuditLog />
    </Page>
  );
}

function AuditLog() {
  const mayVerify = useMay('audit.verify');
  const filter = useAddressFilter();
  const query = useQueryTerms(AUDIT_MEMBERS);
  const [range] = useRange('');
  const shown = filter.get('entry');
  const isReady = query.isReady && rangeProblem(filter.parameters) === undefined;
  const wanted = isReady ? auditFilter(query.terms, range) : {};
  const list = useInfiniteQuery(
    AuditService.method.listAuditEntries,
    { ...FIRST_PAGE, ...wanted },
    { ...FILTERED_BY_CURSOR, enabled: isReady },
  );
  return (
    <>
      <div className="filter-line">
        <QueryBar label="Filter the audit log" query={query} />
        <RangePicker fallback="" />
        <SavedViews page="/audit" />
      </div>
      {/^\d{1,15}$/.test(shown) && (
        <EntryDetails key={shown} position={BigInt(shown)} onClose={() => filter.set('entry', '')} />
      )}
      {isReady && (
        <List
          label="Entries"
          what="the audit log"
          query={list}
          columns={COLUMNS}
          rowsOf={({ entries }) => entries}
          keyOf={({ position }) => String(position)}
          empty={<Empty title="No entry passes the filters" />}
        />
      )}
      {mayVerify && <VerifyButton />}
      {isReady && <ExportAudit filter={wanted} />}
    </>
  );
}

/** What was done, in a sentence, which leads to the entry. */
function EntryLink({ entry }: { readonly entry: AuditEntry }) {
  const [parameters] = useSearchParams();
  const address = new URLSearchParams(parameters);
  address.set('entry', String(entry.position));
  return (
    <Link data-row-link href={`/audit?${address}`} className="sentence">
      <Sentence parts={entrySentence(entry)} />
    </Link>
  );
}

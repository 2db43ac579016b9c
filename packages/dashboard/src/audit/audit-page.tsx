import { useInfiniteQuery } from '@connectrpc/connect-query';
import { type AuditEntry, AuditService } from '@gen/enforcement/v1/audit_service_pb.js';
import { keepPreviousData } from '@tanstack/react-query';
import { Link, useSearchParams } from 'wouter';
import { BY_CURSOR } from '../data/by-cursor.js';
import { useIsAdmin } from '../session/session-context.js';
import { useDebounced } from '../ui/browser/use-debounced.js';
import { LoadMore, nextPageOf } from '../ui/list/load-more.js';
import { Page } from '../ui/page/page.js';
import { useAddressFilter } from '../ui/page/use-address-filter.js';
import { Empty, QueryState } from '../ui/states.js';
import { Table } from '../ui/table/table.js';
import { TimeText } from '../ui/time-text.js';
import { UserText } from '../ui/user-text.js';
import { auditFilter } from './audit-filter.js';
import { AuditFilters } from './audit-filters.js';
import { EntryDetails } from './entry-details.js';
import { actorText, resourceText } from './entry-texts.js';
import { ExportAudit } from './export-audit.js';
import { VerifyButton } from './verify-button.js';
import '../control-parts/controls.css';
import '../events/events.css';
import './audit.css';

const PAGE_SIZE = 50;
const COLUMNS = ['Entry', 'Time', 'Actor', 'Address', 'Action', 'Resource', 'Revision'];

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
  const [parameters, setFilter] = useAddressFilter();
  const filter = auditFilter(new URLSearchParams(useDebounced(String(parameters))));
  const query = useInfiniteQuery(
    AuditService.method.listAuditEntries,
    { cursor: undefined, limit: PAGE_SIZE, ...filter },
    { ...BY_CURSOR, placeholderData: keepPreviousData },
  );
  const shown = parameters.get('entry') ?? '';
  return (
    <>
      <AuditFilters parameters={parameters} onChange={setFilter} />
      <VerifyButton />
      <ExportAudit filter={filter} />
      {/^\d{1,15}$/.test(shown) && (
        <EntryDetails key={shown} position={BigInt(shown)} onClose={() => setFilter('entry', '')} />
      )}
      <QueryState query={query} what="the audit log">
        {({ pages }) => {
          const entries = pages.flatMap((page) => page.entries);
          if (entries.length === 0) return <Empty title="No entry passes the filters" />;
          return (
            <>
              <Table label="Entries" columns={COLUMNS} onEnd={nextPageOf(query)}>
                {entries.map((entry) => (
                  <Row key={String(entry.position)} entry={entry} />
                ))}
              </Table>
              <LoadMore {...query} shown={entries.length} total={pages[0]?.pagination?.total ?? 0} />
            </>
          );
        }}
      </QueryState>
    </>
  );
}

function Row({ entry }: { readonly entry: AuditEntry }) {
  const [parameters] = useSearchParams();
  const address = new URLSearchParams(parameters);
  address.set('entry', String(entry.position));
  return (
    <tr>
      <td className="number">
        <Link href={`/audit?${address}`}>{String(entry.position)}</Link>
      </td>
      <td>
        <TimeText time={entry.time} isExact />
      </td>
      <td>
        <UserText text={actorText(entry.actor)} />
      </td>
      <td>
        <UserText text={entry.address ?? '–'} />
      </td>
      <td>
        <code>{entry.action}</code>
      </td>
      <td>
        <UserText text={resourceText(entry)} />
      </td>
      <td className="number">{entry.revision === undefined ? '–' : String(entry.revision)}</td>
    </tr>
  );
}

import { timestampDate } from '@bufbuild/protobuf/wkt';
import { useQuery } from '@connectrpc/connect-query';
import { type LimitUse, MemoryService } from '@gen/enforcement/v1/memory_service_pb.js';
import { Link } from 'wouter';
import { Fact } from '../ui/fact.js';
import { FilterFields } from '../ui/list/filter-fields.js';
import { countText, numberOf } from '../ui/numbers.js';
import { Page } from '../ui/page/page.js';
import { useAddressFilter } from '../ui/page/use-address-filter.js';
import { Empty, QueryState } from '../ui/states.js';
import type { Columns } from '../ui/table/columns.js';
import { Table } from '../ui/table/table.js';
import { TimeText } from '../ui/time-text.js';
import { UserText } from '../ui/user-text.js';
import { KeptDialog } from './kept-dialog.js';
import { durationText, limitText, usedShare } from './limit-text.js';

/** Smallest used shares that are listed. */
const SHARES = [
  ['', 'half or more'],
  ['0.8', '80 % or more'],
  ['1', 'all'],
  ['0.01', 'anything'],
] as const;

/** The limits of controls with memory that are nearing their end. */
export default function LimitsPage() {
  const filter = useAddressFilter();
  const share = filter.get('used');
  const query = useQuery(MemoryService.method.listLimits, {
    limit: 100,
    ...(share === '' ? {} : { minUsed: Number(share) }),
  });
  return (
    <Page title="Limits">
      <div className="stack">
        <Store />
        <search className="filters">
          <FilterFields fields={[{ name: 'used', label: 'Used', options: SHARES }]} filter={filter} />
        </search>
        <QueryState query={query} what="the limits">
          {({ limits, hasMore }) => (
            <>
              <Table
                label="Limits"
                columns={COLUMNS}
                rows={limits}
                keyOf={({ keyId, status }) => `${keyId} ${status?.controlId} ${status?.evaluatorName}`}
                empty={
                  <Empty title="No limit is that far used">
                    <p>
                      Controls with the evaluators rate, budget, concurrency, loop and history count steps.
                      What they count is listed here once a good part of a limit is used.
                    </p>
                  </Empty>
                }
              />
              {hasMore && <p className="muted">There are more limits; these are the ones used most.</p>}
            </>
          )}
        </QueryState>
      </div>
    </Page>
  );
}

const COLUMNS: Columns<LimitUse> = [
  {
    head: 'Control',
    cell: ({ status }) => (
      <Link href={`/controls/${status?.controlId}`}>
        <UserText text={status?.controlName ?? ''} max={60} />
      </Link>
    ),
  },
  { head: 'Evaluator', cell: ({ status }) => status?.evaluatorName },
  { head: 'Key', cell: ({ status }) => <UserText text={status?.key ?? ''} max={80} /> },
  { head: 'Used', className: 'number', cell: ({ status }) => usedShare(status) },
  { head: 'Left', className: 'number', cell: ({ status }) => limitText(status) },
  { head: 'Resets', cell: ({ status }) => durationText(status?.resetsAfter, 'not by itself') },
  {
    head: 'Last step',
    cell: ({ usedAt }) => (
      <TimeText time={usedAt === undefined ? undefined : timestampDate(usedAt).toISOString()} />
    ),
  },
  { head: 'Notes', cell: ({ status }) => status?.degraded || <span className="muted">none</span> },
  { head: 'Details', isHeadHidden: true, cell: (use) => <KeptDialog use={use} /> },
];

/** The state of the store of memory. */
function Store() {
  const query = useQuery(MemoryService.method.getMemoryStatus, {});
  return (
    <QueryState query={query} what="the state of the memory">
      {({ store, isUsed, isAvailable, problem, keys, bytes, maxKeys, evictedKeys }) => (
        <>
          {!isAvailable && (
            <p className="problem" role="alert">
              The store of memory ({store}) does not answer: {problem}. Controls decide by their
              on_store_error meanwhile.
            </p>
          )}
          <dl className="facts">
            <Fact name="Store">{isUsed ? store : `${store}, which no control needs`}</Fact>
            <Fact name="Kept">
              {numberOf(Number(keys), 'key')} of {countText(maxKeys)}, {countText(bytes)}B
            </Fact>
            {evictedKeys > 0n && <Fact name="Forgotten early">{numberOf(Number(evictedKeys), 'key')}</Fact>}
          </dl>
        </>
      )}
    </QueryState>
  );
}

import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { useInfiniteQuery } from '@connectrpc/connect-query';
import { type Halt, HaltScope, HaltService, HaltState } from '@gen/enforcement/v1/halt_service_pb.js';
import { FILTERED_BY_CURSOR } from '../data/by-cursor.js';
import { FilterFields } from '../ui/list/filter-fields.js';
import { List } from '../ui/list/list.js';
import { Page } from '../ui/page/page.js';
import { useAddressFilter } from '../ui/page/use-address-filter.js';
import { Empty } from '../ui/states.js';
import type { Columns } from '../ui/table/columns.js';
import { TimeText } from '../ui/time-text.js';
import { UserText } from '../ui/user-text.js';
import { HaltButton } from './halt-button.js';
import { haltedPart, stateOf } from './halt-text.js';
import { LiftButton } from './lift-button.js';

const STATES = [
  ['', 'in force'],
  ['lifted', 'lifted'],
  ['expired', 'expired'],
  ['all', 'all'],
] as const;
const STATE_OF: Readonly<Record<string, HaltState>> = {
  '': HaltState.ACTIVE,
  lifted: HaltState.LIFTED,
  expired: HaltState.EXPIRED,
};

/** The halts of the namespace and of the installation. */
export default function HaltsPage() {
  const filter = useAddressFilter();
  const state = STATE_OF[filter.get('state')];
  const query = useInfiniteQuery(
    HaltService.method.listHalts,
    { cursor: undefined, limit: 50, ...(state === undefined ? {} : { state }) },
    FILTERED_BY_CURSOR,
  );
  return (
    <Page title="Halts" actions={<HaltButton label="New halt" scope={HaltScope.NAMESPACE} />}>
      <search className="filters">
        <FilterFields fields={[{ name: 'state', label: 'State', options: STATES }]} filter={filter} />
      </search>
      <List
        label="Halts"
        what="halts"
        query={query}
        columns={COLUMNS}
        rowsOf={({ halts }) => halts}
        keyOf={({ id }) => id}
        empty={
          <Empty title={state === HaltState.ACTIVE ? 'No halt is in force' : 'No halt is in this state'}>
            <p>
              A halt denies steps at once, whatever the controls say, until it is lifted or its time is over.
            </p>
          </Empty>
        }
      />
    </Page>
  );
}

const COLUMNS: Columns<Halt> = [
  { head: 'Halt', cell: ({ id }) => id },
  { head: 'Denies', cell: (halt) => <UserText text={haltedPart(halt)} max={120} /> },
  { head: 'State', cell: (halt) => <StateBadge halt={halt} /> },
  { head: 'Reason', cell: ({ reason }) => <UserText text={reason} max={200} /> },
  { head: 'Created', cell: ({ createdAt }) => <At time={createdAt} /> },
  { head: 'By', cell: ({ createdBy }) => <UserText text={createdBy} max={40} /> },
  { head: 'Ends', cell: (halt) => <End halt={halt} /> },
  { head: 'Lift', isHeadHidden: true, cell: (halt) => <LiftButton halt={halt} /> },
];

function StateBadge({ halt }: { readonly halt: Halt }) {
  const [name, badge] = stateOf(halt);
  return <span className={`badge ${badge}`}>{name}</span>;
}

function At({ time }: { readonly time: Timestamp | undefined }) {
  return <TimeText time={time === undefined ? undefined : timestampDate(time).toISOString()} />;
}

/** When it ended, by whom and why, or when it will. */
function End({ halt: { liftedAt, liftedBy = '', liftReason, expiresAt } }: { readonly halt: Halt }) {
  if (liftedAt === undefined) {
    return expiresAt === undefined ? (
      <span className="muted">when it is lifted</span>
    ) : (
      <At time={expiresAt} />
    );
  }
  const said = liftReason === undefined ? '' : `: ${liftReason}`;
  return (
    <>
      <At time={liftedAt} /> by <UserText text={`${liftedBy}${said}`} max={200} />
    </>
  );
}

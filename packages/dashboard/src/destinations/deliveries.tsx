import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { useInfiniteQuery } from '@connectrpc/connect-query';
import {
  type Delivery,
  DeliveryState,
  NotificationService,
} from '@gen/enforcement/v1/notification_service_pb.js';
import { FILTERED_BY_CURSOR, FIRST_PAGE } from '../data/by-cursor.js';
import { useChange } from '../data/use-change.js';
import { useMay } from '../session/session-context.js';
import { FilterBar } from '../ui/list/filter-fields.js';
import { List } from '../ui/list/list.js';
import { useAddressFilter } from '../ui/page/use-address-filter.js';
import { Empty, Problem } from '../ui/states.js';
import type { Columns } from '../ui/table/columns.js';
import { TimeText } from '../ui/time-text.js';
import { UserText } from '../ui/user-text.js';
import { visibleText } from '../ui/visible-text.js';
import { DELIVERY_STATES, kindText } from './destination-text.js';

const REFRESH_MS = 5_000;
const STATES = [['', 'all'], ...DELIVERY_STATES.map(([value, , text]) => [value, text] as const)] as const;

/** What was sent to a destination lately, what waits, and what was given up. */
export function Deliveries({ destinationId }: { readonly destinationId: number }) {
  const mayWrite = useMay('notifications.write');
  const filter = useAddressFilter();
  const state = DELIVERY_STATES.find(([name]) => name === filter.get('state'))?.[1];
  const query = useInfiniteQuery(
    NotificationService.method.listDeliveries,
    { ...FIRST_PAGE, destinationId, ...(state === undefined ? {} : { state }) },
    { ...FILTERED_BY_CURSOR, refetchInterval: REFRESH_MS },
  );
  const resend = useChange(NotificationService.method.resendDelivery);
  const columns: Columns<Delivery> = [
    ...COLUMNS,
    mayWrite && {
      head: 'Send again',
      isHeadHidden: true,
      cell: ({ id, state: is }) =>
        is !== DeliveryState.DELIVERED && (
          <button
            type="button"
            aria-label={`Send again: delivery ${id}`}
            disabled={resend.isPending}
            onClick={() => resend.mutate({ deliveryId: id })}
          >
            Send again
          </button>
        ),
    },
  ];
  return (
    <section>
      <h2>Deliveries</h2>
      <FilterBar fields={[{ name: 'state', label: 'State', options: STATES }]} filter={filter} />
      <Problem error={resend.error} />
      <List
        label="Deliveries"
        what="deliveries"
        query={query}
        columns={columns}
        rowsOf={({ deliveries }) => deliveries}
        keyOf={({ id }) => id}
        empty={
          <Empty title={state === undefined ? 'Nothing was sent yet' : 'No delivery is in this state'} />
        }
      />
    </section>
  );
}

const COLUMNS: Columns<Delivery> = [
  { head: 'Delivery', cell: ({ id }) => id },
  { head: 'State', cell: ({ state }) => <DeliveryBadge state={state} /> },
  {
    head: 'Tells',
    cell: ({ summary, kind }) => <UserText text={visibleText(summary || kindText(kind))} max={80} />,
  },
  { head: 'About', cell: ({ object }) => <UserText text={object} /> },
  { head: 'Made', cell: ({ createdAt }) => <At time={createdAt} /> },
  { head: 'Attempts', className: 'number', cell: ({ attempts }) => attempts },
  {
    head: 'Last answer',
    cell: ({ lastStatus, lastError }) => (
      <UserText
        text={visibleText([lastStatus, lastError].filter((part) => part !== undefined).join(': ') || '–')}
        max={80}
      />
    ),
  },
  {
    head: 'Next attempt',
    cell: ({ nextAttemptAt }) => (nextAttemptAt === undefined ? '–' : <At time={nextAttemptAt} />),
  },
];

function DeliveryBadge({ state }: Pick<Delivery, 'state'>) {
  const [, , name, badge] = DELIVERY_STATES.find(([, one]) => one === state) ?? ['', state, 'unknown', ''];
  return <span className={`badge ${badge}`}>{name}</span>;
}

function At({ time }: { readonly time: Timestamp | undefined }) {
  return <TimeText time={time === undefined ? undefined : timestampDate(time).toISOString()} />;
}

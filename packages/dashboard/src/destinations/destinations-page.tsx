import { useInfiniteQuery } from '@connectrpc/connect-query';
import { type Destination, NotificationService } from '@gen/enforcement/v1/notification_service_pb.js';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { BY_CURSOR, FIRST_PAGE } from '../data/by-cursor.js';
import { NewSecret } from '../keys/new-secret.js';
import { useMay } from '../session/session-context.js';
import { List } from '../ui/list/list.js';
import { NameLink } from '../ui/name-link.js';
import { Page } from '../ui/page/page.js';
import { Empty } from '../ui/states.js';
import type { Columns } from '../ui/table/columns.js';
import { UserText } from '../ui/user-text.js';
import { DestinationDialog } from './destination-dialog.js';
import { kindText, typeText } from './destination-text.js';

/** A new webhook whose secret is shown. */
interface Made {
  readonly id: number;
  readonly name: string;
  readonly secret: string;
}

/** Where notifications of the namespace are sent. */
export default function DestinationsPage() {
  const mayWrite = useMay('notifications.write');
  const [, open] = useLocation();
  const [isAsking, setAsking] = useState(false);
  const [made, setMade] = useState<Made>();
  const query = useInfiniteQuery(NotificationService.method.listDestinations, FIRST_PAGE, BY_CURSOR);
  return (
    <Page
      title="Notifications"
      actions={
        mayWrite && (
          <button type="button" className="primary" onClick={() => setAsking(true)}>
            New destination
          </button>
        )
      }
    >
      {isAsking && (
        <DestinationDialog
          onClose={() => setAsking(false)}
          onDone={(destination, secret) => {
            setAsking(false);
            if (destination === undefined) return;
            const { id, name } = destination;
            if (secret === undefined) open(`/destinations/${id}`);
            else setMade({ id, name, secret });
          }}
        />
      )}
      {made === undefined ? (
        <List
          label="Destinations"
          what="destinations"
          query={query}
          columns={COLUMNS}
          rowsOf={({ destinations }) => destinations}
          keyOf={({ id }) => id}
          empty={
            <Empty title="Notifications are sent nowhere">
              <p>A destination is a webhook, a channel of Slack, or addresses of e-mail.</p>
            </Empty>
          }
        />
      ) : (
        <NewSecret
          name={made.name}
          secret={made.secret}
          kept="it where no call can read it"
          note="The receiver checks the signature of each request with it."
          onDone={() => open(`/destinations/${made.id}`)}
        />
      )}
    </Page>
  );
}

const COLUMNS: Columns<Destination> = [
  { head: 'Name', cell: ({ id, name }) => <NameLink href={`/destinations/${id}`} name={name} /> },
  { head: 'Type', cell: ({ type }) => typeText(type) },
  { head: 'Sent to', cell: (one) => <UserText text={addressOf(one)} /> },
  { head: 'When', cell: ({ kinds }) => <UserText text={kinds.map(kindText).join('; ')} max={80} /> },
  { head: 'State', cell: (one) => <DestinationState destination={one} /> },
  {
    head: 'Waiting',
    className: 'number',
    cell: ({ waitingDeliveries }) => waitingDeliveries.toLocaleString(),
  },
  {
    head: 'Dead letters',
    className: 'number',
    cell: ({ deadDeliveries }) => deadDeliveries.toLocaleString(),
  },
];

/** Where a destination is. */
export function addressOf({ url, recipients }: Destination): string {
  return url ?? recipients.join(', ');
}

/** Whether it is sent to, or why not. */
export function DestinationState({
  destination: { enabled, disabledReason },
}: {
  readonly destination: Destination;
}) {
  if (enabled) return <span className="badge safe">on</span>;
  return (
    <>
      <span className="badge">off</span>
      {disabledReason !== undefined && (
        <>
          {' '}
          <UserText text={disabledReason} max={100} />
        </>
      )}
    </>
  );
}

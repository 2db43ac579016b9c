import { timestampDate } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import { useMutation, useQuery } from '@connectrpc/connect-query';
import {
  type Destination,
  DestinationType,
  NotificationService,
} from '@gen/enforcement/v1/notification_service_pb.js';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { transport } from '../data/transport.js';
import { useChange, useRefresh } from '../data/use-change.js';
import { NewSecret } from '../keys/new-secret.js';
import { RotateKey } from '../keys/rotate-key.js';
import { useMay } from '../session/session-context.js';
import { ConfirmButton } from '../ui/confirm-button.js';
import { Fact } from '../ui/fact.js';
import { ByNumber } from '../ui/page/by-number.js';
import { Page } from '../ui/page/page.js';
import { Problem, QueryState } from '../ui/states.js';
import { TimeText } from '../ui/time-text.js';
import { UserText } from '../ui/user-text.js';
import { visibleText } from '../ui/visible-text.js';
import { Deliveries } from './deliveries.js';
import { DestinationDialog } from './destination-dialog.js';
import { kindText, typeText } from './destination-text.js';
import { addressOf, DestinationState } from './destinations-page.js';

const notifications = createClient(NotificationService, transport);

/** One destination: what it is told, and what became of it. */
export default function DestinationPage() {
  return <ByNumber what="A destination">{(id) => <DestinationOfId key={id} destinationId={id} />}</ByNumber>;
}

function DestinationOfId({ destinationId }: { readonly destinationId: number }) {
  const query = useQuery(NotificationService.method.getDestination, { destinationId });
  const name = query.data?.destination?.name ?? `Destination ${destinationId}`;
  return (
    <Page title={name} heading={<UserText text={name} />}>
      <QueryState query={query} what="the destination">
        {({ destination }) => destination !== undefined && <Details destination={destination} />}
      </QueryState>
    </Page>
  );
}

function Details({ destination }: { readonly destination: Destination }) {
  const { id, name, type, kinds, createdAt, createdBy, previousSecretUntil, droppedNotifications } =
    destination;
  const mayWrite = useMay('notifications.write');
  const refresh = useRefresh();
  const [secret, setSecret] = useState<string>();
  async function rotate(overlapSeconds: number): Promise<void> {
    // Not a mutation of the cache, which would keep the secret.
    const rotated = await notifications.rotateDestinationSecret({ destinationId: id, overlapSeconds });
    refresh(NotificationService.method.rotateDestinationSecret);
    setSecret(rotated.secret);
  }
  if (secret !== undefined) {
    return (
      <NewSecret
        name={name}
        secret={secret}
        kept="it where no call can read it"
        onDone={() => setSecret(undefined)}
      />
    );
  }
  return (
    <div className="stack">
      <section className="card" aria-label="Destination">
        <dl className="facts">
          <Fact name="State">
            <DestinationState destination={destination} />
          </Fact>
          <Fact name="Type">{typeText(type)}</Fact>
          <Fact name="Sent to">
            <UserText text={addressOf(destination)} max={200} />
          </Fact>
          <Fact name="When">
            {kinds.map((kind) => (
              <div key={kind}>{kindText(kind)}</div>
            ))}
          </Fact>
          <Fact name="Created">
            <TimeText time={createdAt && timestampDate(createdAt).toISOString()} /> by{' '}
            <UserText text={createdBy} />
          </Fact>
          {previousSecretUntil !== undefined && (
            <Fact name="The secret before is used">
              until <TimeText time={timestampDate(previousSecretUntil).toISOString()} isExact />
            </Fact>
          )}
          {droppedNotifications > 0 && (
            <Fact name="Dropped, because too many waited">{droppedNotifications.toLocaleString()}</Fact>
          )}
        </dl>
        {mayWrite && (
          <div className="links">
            <TestButton destinationId={id} />
            <Edit destination={destination} />
            <Switch destination={destination} />
            {type === DestinationType.WEBHOOK && <RotateKey name={name} onRotate={rotate} />}
            <DeleteButton destination={destination} />
          </div>
        )}
      </section>
      <Deliveries destinationId={id} />
    </div>
  );
}

/** Sends a test at once, and tells what came of it. */
function TestButton({ destinationId }: { readonly destinationId: number }) {
  const test = useMutation(NotificationService.method.testDestination);
  const { data } = test;
  return (
    <>
      <button type="button" disabled={test.isPending} onClick={() => test.mutate({ destinationId })}>
        {test.isPending ? 'Sending…' : 'Send a test'}
      </button>
      <span role="status">
        {data !== undefined && !test.isPending && (
          <>
            {data.delivered ? 'The test was accepted' : 'The test was not accepted'}
            {data.status !== undefined && `, status ${data.status}`}
            {data.error !== undefined && `: ${visibleText(data.error)}`}
          </>
        )}
      </span>
      <Problem error={test.error} />
    </>
  );
}

function Edit({ destination }: { readonly destination: Destination }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Change…
      </button>
      {isOpen && (
        <DestinationDialog
          destination={destination}
          onClose={() => setOpen(false)}
          onDone={() => setOpen(false)}
        />
      )}
    </>
  );
}

function Switch({ destination: { id, enabled } }: { readonly destination: Destination }) {
  const update = useChange(NotificationService.method.updateDestination);
  return (
    <>
      <button
        type="button"
        disabled={update.isPending}
        onClick={() => update.mutate({ destinationId: id, enabled: !enabled })}
      >
        {enabled ? 'Switch off' : 'Switch on'}
      </button>
      <Problem error={update.error} />
    </>
  );
}

function DeleteButton({ destination: { id, name } }: { readonly destination: Destination }) {
  const [, open] = useLocation();
  const remove = useChange(NotificationService.method.deleteDestination, () => open('/destinations'));
  return (
    <ConfirmButton
      verb="Delete"
      object={name}
      label="Delete…"
      change={remove}
      onConfirm={() => remove.mutateAsync({ destinationId: id })}
    >
      <p>What waits for it is not sent any more, and its deliveries are deleted with it.</p>
    </ConfirmButton>
  );
}

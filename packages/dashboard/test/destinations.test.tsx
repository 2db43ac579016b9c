// @vitest-environment happy-dom
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs, timestampNow } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import {
  type Delivery,
  DeliverySchema,
  DeliveryState,
  type Destination,
  DestinationSchema,
  DestinationType,
  NotificationService,
} from '@gen/enforcement/v1/notification_service_pb.js';
import { screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { structureViolations } from './support/accessibility.js';
import { type Backend, noDialog, openDialog, renderPage, type ShownPage } from './support/render-page.js';

const URL_OF_OPS = 'http://127.0.0.1:9/hook';
const { method } = NotificationService;

interface Receiver {
  /** The status that it answers with. */
  status: number;
}

/** A service that keeps destinations, and sends to a receiver. */
function notifies(
  receiver: Receiver,
  ...waiting: readonly MessageInitShape<typeof DeliverySchema>[]
): Backend {
  let destinations: Destination[] = [];
  let secrets = 0;
  const deliveries: Delivery[] = waiting.map((one, index) =>
    create(DeliverySchema, { id: index + 1, destinationId: 1, createdAt: timestampNow(), ...one }),
  );
  const newSecret = () => {
    secrets += 1;
    return `whsec_${btoa(`secret ${secrets}`)}`;
  };
  const found = (id: number): Destination => {
    const destination = destinations.find((one) => one.id === id);
    if (destination === undefined) throw new ConnectError('no such destination', Code.NotFound);
    return destination;
  };
  const add = (given: MessageInitShape<typeof DestinationSchema>): Destination => {
    const shared = {
      id: destinations.length + 1,
      enabled: true,
      createdAt: timestampNow(),
      createdBy: 'admin',
    };
    const destination = create(DestinationSchema, { ...shared, ...given });
    destinations = [...destinations, destination];
    return destination;
  };
  if (waiting.length > 0)
    add({ name: 'halts', type: DestinationType.WEBHOOK, url: URL_OF_OPS, kinds: ['halt.set'] });
  return ({ rpc }) => {
    rpc(method.listDestinations, () => ({ destinations, pagination: { total: destinations.length } }));
    rpc(method.getDestination, ({ destinationId }) => ({ destination: found(destinationId) }));
    rpc(method.createDestination, ({ name, type, url = '', kinds }) => {
      if (!url.startsWith('http'))
        throw new ConnectError('url must be one of http or https', Code.InvalidArgument);
      return { destination: add({ name, type, url, kinds }), secret: newSecret() };
    });
    rpc(method.updateDestination, ({ destinationId, name, enabled }) => {
      const destination = found(destinationId);
      if (name !== undefined) destination.name = name;
      if (enabled !== undefined) destination.enabled = enabled;
      return { destination };
    });
    rpc(method.deleteDestination, ({ destinationId }) => {
      destinations = destinations.filter(({ id }) => id !== destinationId);
      return {};
    });
    rpc(method.rotateDestinationSecret, ({ destinationId, overlapSeconds = 0 }) => {
      const destination = found(destinationId);
      destination.previousSecretUntil = timestampFromMs(Date.now() + overlapSeconds * 1_000);
      return { destination, secret: newSecret() };
    });
    rpc(method.testDestination, () => ({
      delivered: receiver.status === 200,
      status: receiver.status,
      ...(receiver.status === 200 ? {} : { error: 'the receiver refused it' }),
    }));
    rpc(method.listDeliveries, ({ state }) => {
      const listed = deliveries.filter((one) => state === undefined || one.state === state);
      return { deliveries: listed, pagination: { total: listed.length } };
    });
    rpc(method.resendDelivery, ({ deliveryId }) => {
      const delivery = deliveries.find(({ id }) => id === deliveryId);
      if (delivery === undefined) throw new ConnectError('no such delivery', Code.NotFound);
      Object.assign(delivery, { state: DeliveryState.DELIVERED, lastStatus: receiver.status });
      return { delivery };
    });
  };
}

describe('destinations of notifications', () => {
  const secret = async () => (await screen.findByText(/^whsec_/)).textContent;
  const write = async ({ user }: ShownPage, field: HTMLElement, text: string) => {
    await user.clear(field);
    await user.type(field, text);
  };

  it('are webhooks with a secret that is shown once, can be tried, changed, rotated and deleted', async () => {
    const receiver = { status: 200 };
    const page = renderPage('/destinations', notifies(receiver));
    const { user, sent, address } = page;
    await screen.findByText('Notifications are sent nowhere');
    await user.click(screen.getByRole('button', { name: 'New destination' }));
    const dialog = await openDialog();
    await write(page, within(dialog).getByLabelText('Name'), '<b>ops</b>');
    await write(page, within(dialog).getByLabelText('URL'), 'ftp://example.com');
    expect(await structureViolations()).toEqual([]);
    await user.click(within(dialog).getByRole('button', { name: 'Create' }));
    expect((await within(dialog).findByRole('alert')).textContent).toContain('url must be one of');
    await write(page, within(dialog).getByLabelText('URL'), URL_OF_OPS);
    await user.click(within(dialog).getByLabelText('steps are halted'));
    await user.click(within(dialog).getByRole('button', { name: 'Create' }));
    const first = await secret();
    const created = sent(method.createDestination);
    expect(created).toMatchObject([
      { name: '<b>ops</b>', url: 'ftp://example.com', kinds: ['approval.asked'] },
      { name: '<b>ops</b>', url: URL_OF_OPS, kinds: ['approval.asked', 'halt.set'] },
    ]);
    // A try with another content is another one.
    expect(new Set(created.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(2);
    expect(await structureViolations()).toEqual([]);
    await user.click(screen.getByRole('button', { name: 'Done' }));
    await user.click(within(await openDialog()).getByRole('button', { name: 'Leave' }));
    await screen.findByRole('heading', { name: '<b>ops</b>' });
    expect(address()).toBe('/destinations/1');
    expect(screen.queryByText(/^whsec_/)).toBeNull();

    await user.click(await screen.findByRole('button', { name: 'Send a test' }));
    await screen.findByText('The test was accepted, status 200');
    receiver.status = 500;
    await user.click(screen.getByRole('button', { name: 'Send a test' }));
    await screen.findByText('The test was not accepted, status 500: the receiver refused it');
    expect(sent(method.testDestination)).toMatchObject([{ destinationId: 1 }, { destinationId: 1 }]);

    await user.click(screen.getByRole('button', { name: 'Change…' }));
    await write(page, within(await openDialog()).getByLabelText('Name'), 'operations');
    await user.click(within(await openDialog()).getByRole('button', { name: 'Save' }));
    await screen.findByRole('heading', { name: 'operations' });
    await user.click(screen.getByRole('button', { name: 'Switch off' }));
    await screen.findByRole('button', { name: 'Switch on' });
    expect(sent(method.updateDestination)).toMatchObject([
      { destinationId: 1, name: 'operations', url: URL_OF_OPS, kinds: ['approval.asked', 'halt.set'] },
      { destinationId: 1, enabled: false },
    ]);
    expect(await structureViolations()).toEqual([]);

    await user.click(screen.getByRole('button', { name: 'Rotate operations' }));
    await user.click(within(await openDialog()).getByRole('button', { name: 'Make another secret' }));
    expect(await secret()).not.toBe(first);
    expect(sent(method.rotateDestinationSecret)).toMatchObject([
      { destinationId: 1, overlapSeconds: 86_400 },
    ]);
    await user.click(screen.getByRole('button', { name: 'Copy the secret' }));
    await screen.findByText('Copied.');
    await user.click(screen.getByRole('button', { name: 'Done' }));
    await screen.findByText('The secret before is used');
    await noDialog();

    await user.click(screen.getByRole('button', { name: 'Delete operations' }));
    await user.click(within(await openDialog()).getByRole('button', { name: /^Delete/ }));
    await screen.findByText('Notifications are sent nowhere');
    expect(sent(method.deleteDestination)).toMatchObject([{ destinationId: 1 }]);
  });

  it('list what was not accepted, and send it again', async () => {
    const { user, sent } = renderPage(
      '/destinations/1',
      notifies(
        { status: 200 },
        {
          messageId: 'message-1',
          kind: 'halt.set',
          object: 'no-such-agent-at-all',
          summary: '<i>wrong</i> \u202Ecustomers',
          state: DeliveryState.WAITING,
          attempts: 1,
          lastStatus: 500,
          nextAttemptAt: timestampFromMs(Date.now() + 60_000),
        },
      ),
    );
    const deliveries = within(await screen.findByRole('region', { name: 'Deliveries' }));
    const row = (await deliveries.findByText('waits')).closest('tr') ?? document.body;
    expect(row.textContent).toContain('500');
    expect(row.textContent).toContain('<i>wrong</i>');
    expect(screen.getByRole('main').textContent).not.toContain('\u202E');
    expect(await structureViolations()).toEqual([]);
    await user.click(within(row).getByRole('button', { name: 'Send again: delivery 1' }));
    await within(row).findByText('delivered');
    expect(sent(method.resendDelivery)).toMatchObject([{ deliveryId: 1 }]);
    expect(within(row).queryByRole('button')).toBeNull();
    await user.selectOptions(screen.getByLabelText('State'), 'dead');
    await screen.findByText('No delivery is in this state');
    await waitFor(() => expect(sent(method.listDeliveries).at(-1)?.state).toBe(DeliveryState.DEAD));
  });

  it('are not for a regular key', async () => {
    renderPage('/destinations', notifies({ status: 200 }), { role: 'regular' });
    await screen.findByText('This key cannot open the page');
    expect(screen.queryByRole('link', { name: 'Notifications' })).toBeNull();
  });
});

import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { HaltScope, HaltService } from '../../gen/proto/enforcement/v1/halt_service_pb.js';
import { NotificationService } from '../../gen/proto/enforcement/v1/notification_service_pb.js';
import { axeViolations, axeViolationsInThemes, overflow } from '../support/dashboard-browser.js';
import { describeOnSqlite } from '../support/databases.js';
import { adminTransport, REGULAR_KEY, startDashboardService } from './dashboard-service.js';
import { useDashboardTabs } from './dashboard-tabs.js';

/** What a receiver got. */
interface Received {
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

// What the pages show does not depend on the database: the calls behind them are tested with both.
describeOnSqlite('destinations of notifications in the dashboard', (freshDatabaseUrl) => {
  const received: Received[] = [];
  let status = 200;
  const receiver = http.createServer(async (request, response) => {
    let body = '';
    for await (const piece of request.setEncoding('utf8')) body += String(piece);
    received.push({ headers: request.headers, body });
    response.writeHead(status).end();
  });
  let url = '';
  beforeAll(async () => {
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  });
  afterAll(() => {
    receiver.closeAllConnections();
    receiver.close();
  });
  const dashboard = useDashboardTabs(async () =>
    startDashboardService(await freshDatabaseUrl(), {
      SERVICE_NOTIFICATIONS_ALLOW: 'loopback',
      SERVICE_NOTIFICATIONS_HTTP: 'true',
    }),
  );
  const { open } = dashboard;
  const notifications = () => createClient(NotificationService, adminTransport(dashboard.service.url));

  it('creates a webhook, shows its secret once, tests, changes, rotates and deletes it', async () => {
    await open('/destinations', async ({ page }) => {
      await page.getByText('Notifications are sent nowhere').waitFor();
      await page.getByRole('button', { name: 'New destination' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name').fill('<b>ops</b>');
      await dialog.getByLabel('URL').fill('ftp://example.com');
      expect(await axeViolations(page)).toEqual([]);
      await dialog.getByRole('button', { name: 'Create' }).click();
      await dialog.getByRole('alert').waitFor();
      await dialog.getByLabel('URL').fill(url);
      await dialog.getByLabel('steps are halted').check();
      await dialog.getByRole('button', { name: 'Create' }).click();
      const secretOf = async () => (await page.locator('.secret code').innerText()).replace('whsec_', '');
      const secret = await secretOf();
      expect(await axeViolationsInThemes(page)).toEqual([]);
      await page.getByRole('button', { name: 'Done' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click();
      await page.getByRole('heading', { name: '<b>ops</b>' }).waitFor();

      await page.getByRole('button', { name: 'Send a test' }).click();
      await page.getByText('The test was accepted, status 200').waitFor();
      const [{ headers, body } = { headers: {}, body: '' }] = received;
      const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
      const signature = createHmac('sha256', Buffer.from(secret, 'base64')).update(signed).digest('base64');
      expect(headers['webhook-signature']).toBe(`v1,${signature}`);
      status = 500;
      await page.getByRole('button', { name: 'Send a test' }).click();
      await page.getByText(/The test was not accepted, status 500/).waitFor();

      await page.getByRole('button', { name: 'Change…' }).click();
      await dialog.getByLabel('Name').fill('operations');
      await dialog.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('heading', { name: 'operations' }).waitFor();
      await page.getByRole('button', { name: 'Switch off' }).click();
      await page.getByRole('button', { name: 'Switch on' }).waitFor();
      expect(await overflow(page)).toBe(0);
      expect(await axeViolationsInThemes(page)).toEqual([]);

      await page.getByRole('button', { name: 'Rotate operations' }).click();
      await page.getByRole('button', { name: 'Make another secret' }).click();
      expect(await secretOf()).not.toBe(secret);
      await page.getByRole('button', { name: 'Copy the secret' }).click();
      await page.getByRole('button', { name: 'Done' }).click();
      await page.getByText('The secret before is used').waitFor();

      await page.getByRole('button', { name: 'Delete operations' }).click();
      await dialog.getByRole('button', { name: /^Delete/ }).click();
      await page.getByText('Notifications are sent nowhere').waitFor();
    });
    expect((await notifications().listDestinations({})).destinations).toEqual([]);
  });

  it('lists what was not accepted, and sends it again', async () => {
    status = 500;
    received.length = 0;
    const { destination } = await notifications().createDestination({
      name: 'halts',
      type: 1,
      url,
      kinds: ['halt.set'],
    });
    await createClient(HaltService, adminTransport(dashboard.service.url)).createHalt({
      scope: HaltScope.AGENT,
      agentName: 'no-such-agent-at-all',
      reason: '<i>wrong</i> \u202Ecustomers',
    });
    await open(`/destinations/${destination?.id}`, async ({ page }) => {
      const row = page
        .getByRole('region', { name: 'Deliveries' })
        .getByRole('row')
        .filter({ hasText: '500' });
      await row.getByText('waits').waitFor();
      expect(await page.getByRole('main').innerText()).not.toContain('\u202E');
      expect(await axeViolations(page)).toEqual([]);
      status = 200;
      await row.getByRole('button', { name: /^Send again/ }).click();
      await page.getByRole('row').filter({ hasText: 'delivered' }).waitFor();
      await page.getByLabel('State').selectOption('dead');
      await page.getByText('No delivery is in this state').waitFor();
    });
    expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  });

  it('is not for a regular key', async () => {
    await open(
      '/destinations',
      async ({ page }) => {
        await page.getByText('This key cannot open the page').waitFor();
        expect(await page.getByRole('link', { name: 'Notifications' }).count()).toBe(0);
      },
      { key: REGULAR_KEY },
    );
  });
});

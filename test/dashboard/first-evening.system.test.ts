import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { createClient } from '@connectrpc/connect';
import type { Page } from 'playwright-core';
import { afterAll, expect, it } from 'vitest';
import { ControlService } from '../../gen/proto/enforcement/v1/control_service_pb.js';
import { PolicyService } from '../../gen/proto/enforcement/v1/policy_service_pb.js';
import { installStarter } from '../../packages/dashboard/src/first-evening/install-starter.js';
import { STARTER_CONTROLS } from '../../packages/dashboard/src/first-evening/starter-policy.js';
import { axeViolationsInThemes, overflow, settled } from '../support/dashboard-browser.js';
import { describeOnSqlite } from '../support/databases.js';
import { startService } from '../support/service.js';
import { ADMIN_KEY, adminTransport, REGULAR_KEY } from './dashboard-service.js';
import { useDashboardTabs } from './dashboard-tabs.js';

const AGENT = 'billing-bot-01';
const LIMITED_KEY = 'limited-key-of-the-dashboard-tests';

describeOnSqlite('An empty service', (freshDatabaseUrl) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'keys-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const dashboard = useDashboardTabs(async () => {
    const file = path.join(folder, 'keys.json');
    writeFileSync(file, JSON.stringify({ keys: keysOfFile() }));
    return startService({
      DATABASE_URL: await freshDatabaseUrl(),
      SERVICE_API_KEY_ENABLED: 'true',
      SERVICE_API_KEYS: REGULAR_KEY,
      SERVICE_ADMIN_API_KEYS: ADMIN_KEY,
      SERVICE_KEYS_FILE: file,
      SERVICE_OBSERVABILITY_FLUSH_INTERVAL_SECONDS: '0.2',
    });
  });
  const { open, address } = dashboard;
  const step = (page: Page, title: string) =>
    page.getByRole('listitem').filter({ has: page.getByRole('heading', { level: 3, name: title }) });

  /** Sends what a text for curl that the page shows would send. */
  async function sendCurlText(page: Page): Promise<void> {
    await page.getByRole('tab', { name: 'curl' }).click();
    const text = await page.locator('pre.code').innerText();
    expect(text).not.toContain(ADMIN_KEY);
    const [, , method = '', url = '', , type = '', , key = '', , body = ''] = await argumentsOfCurl(text);
    const headers = Object.fromEntries([type, key].map((header) => header.split(': ')));
    const reply = await fetch(url, { method, headers, body });
    expect([reply.status, await reply.json()]).toEqual([200, expect.anything()]);
  }

  it('greets with three steps to copy, and notices each when it is done', async () => {
    await open('/', async ({ page }) => {
      await page.getByRole('heading', { name: 'Three steps to a checked agent' }).waitFor();
      expect(await page.getByRole('region', { name: 'Verdict' }).count()).toBe(0);
      expect(await axeViolationsInThemes(page)).toEqual([]);
      expect(await step(page, 'Register an agent').getAttribute('aria-current')).toBe('step');
      await sendCurlText(page);
      await step(page, 'Register an agent').getByText('done').waitFor();

      await page.getByRole('button', { name: 'Install starter-policy' }).click();
      const dialog = page.getByRole('dialog');
      for (const { name } of STARTER_CONTROLS) await dialog.getByText(name).waitFor();
      await dialog.getByText('no step is denied').waitFor();
      await dialog.getByRole('button', { name: 'Install starter-policy' }).click();
      await step(page, 'Install a starter policy').getByText('done').waitFor();

      await sendCurlText(page);
      await page.getByRole('region', { name: 'Verdict' }).getByText('Working', { exact: true }).waitFor();
      await page.getByRole('link', { name: 'Evaluated steps: 1' }).waitFor();
      await page.getByRole('link', { name: /^Allowed, but observed: 1/ }).waitFor();
    });
  });

  it('has the starter policy once, however often it is installed', async () => {
    const transport = adminTransport(dashboard.service.url);
    await installStarter(transport);
    const { controls } = await createClient(ControlService, transport).listControls({ limit: 100 });
    expect(controls.map(({ name }) => name).toSorted()).toEqual(
      STARTER_CONTROLS.map(({ name }) => name).toSorted(),
    );
    const { policies } = await createClient(PolicyService, transport).listPolicies({ limit: 100 });
    expect(policies).toMatchObject([{ name: 'starter-policy', everyAgent: true, agentCount: 1 }]);
  });

  it('has pages without barriers for a key that is limited to agents, in 360 pixels, in both themes', async () => {
    await open(
      '/',
      async ({ page }) => {
        for (const shown of ['/', '/agents', '/events', '/policies']) {
          await page.goto(address(shown));
          await settled(page);
          const found = [shown, await axeViolationsInThemes(page), await overflow(page)];
          expect(found).toEqual([shown, [], 0]);
        }
      },
      { key: LIMITED_KEY, width: 360 },
    );
  });
});

function keysOfFile(): object[] {
  const sha256 = createHash('sha256').update(LIMITED_KEY).digest('hex');
  return [{ name: 'support-desk', sha256, role: 'regular', agents: ['team-*', AGENT] }];
}

/** The arguments that a shell gives to curl in a text, with the key of an admin in the variable. */
async function argumentsOfCurl(text: string): Promise<string[]> {
  const script = `curl() { printf '%s\\0' "$@"; }\n${text}`;
  const env = { SERVICE_API_KEY: ADMIN_KEY };
  const { stdout } = await promisify(execFile)('sh', ['-c', script], { env });
  return stdout.split('\0').slice(0, -1);
}

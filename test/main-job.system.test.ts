import { expect, it } from 'vitest';
import { openWatchedPage } from './support/dashboard-browser.js';
import { describeOnEachDatabase } from './support/databases.js';
import { restClient } from './support/http.js';
import { openedInTest } from './support/opened.js';
import { methodNamed, PROTOCOLS } from './support/protocol-clients.js';
import { seeder } from './support/seed.js';
import { compiled, type ServiceProcess, spawnService } from './support/service-process.js';
import { sharedBrowser } from './support/shared-browser.js';

const AGENT = 'billing-bot-01';
const ADMIN_KEY = 'admin-key-of-the-main-job';
const EVALUATE = methodNamed('EvaluationService.Evaluate');
const STEPS = [
  { input: 'a bad word', isSafe: false },
  { input: 'a good one', isSafe: true },
];

/** What every run of CI does, whatever has changed: the service as users run it does its main job, also after a kill. */
describeOnEachDatabase('the service as a process', (freshDatabaseUrl) => {
  const processes = openedInTest<ServiceProcess>((one) => one.dispose());
  const start = async (databaseUrl: string) => {
    const service = await spawnService(compiled, {
      environment: {
        DATABASE_URL: databaseUrl,
        SERVICE_API_KEY_ENABLED: 'true',
        SERVICE_ADMIN_API_KEYS: ADMIN_KEY,
        SERVICE_UI_ENABLED: 'true',
      },
    });
    processes.push(service);
    return { service, url: await service.listening() };
  };

  async function decidesOverEveryProtocol(url: string): Promise<void> {
    for (const name of [
      'REST over h1',
      'gRPC (grpc-js)',
      'gRPC-Web over h1',
      'Connect with JSON over h1',
    ] as const) {
      const client = PROTOCOLS[name](url);
      for (const { input, isSafe } of STEPS) {
        const step = { type: 'llm', name: 'answer', input };
        const outcome = await client.call(EVALUATE, { agent_name: AGENT, stage: 'pre', step }, ADMIN_KEY);
        expect([name, outcome]).toMatchObject([name, { ok: true, reply: { is_safe: isSafe } }]);
      }
      client.close();
    }
  }

  it('denies over every protocol, keeps what it acknowledged when it is killed, and shows it on a page', async () => {
    const databaseUrl = await freshDatabaseUrl();
    const first = await start(databaseUrl);
    await seeder(restClient(first.url, { 'x-api-key': ADMIN_KEY })).linked(AGENT, 'no-bad-words');
    await decidesOverEveryProtocol(first.url);
    first.service.process.kill('SIGKILL');
    await first.service.ended;

    const second = await start(databaseUrl);
    await decidesOverEveryProtocol(second.url);
    const { page, problems } = await openWatchedPage(await sharedBrowser());
    await page.goto(`${second.url}/ui/controls`);
    await page.getByLabel('API key').fill(ADMIN_KEY);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('link', { name: 'no-bad-words' }).waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });
});

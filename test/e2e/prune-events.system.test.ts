import { expect, it } from 'vitest';
import { describeOnEachDatabase } from '../support/databases.js';
import { restClient } from '../support/http.js';
import { openedInTest } from '../support/opened.js';
import { metric, parseMetrics } from '../support/prometheus.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';
import { serviceCommands } from './commands.support.js';
import { event, eventRoutes } from './events.support.js';

const DAY = 86_400_000;
const PREFIX = 'control_enforcement_server';

const run = serviceCommands();

describeOnEachDatabase('the built service with old events', (freshDatabaseUrl) => {
  const services = openedInTest<TestService>((one) => one.stop());
  const agent_name = 'pruned-bot-1';
  async function seeded() {
    const environment = { DATABASE_URL: await freshDatabaseUrl(), SERVICE_EVENT_RETENTION_DAYS: '30' };
    // It would not wait for the command.
    const service = await startService({ ...environment, SERVICE_EVENT_RETENTION_DAYS: '0' });
    services.push(service);
    const routes = eventRoutes(restClient(service.url));
    const ago = (days: number) =>
      event({ agent_name, timestamp: new Date(Date.now() - days * DAY).toISOString() });
    await routes.send(ago(40), ago(31), ago(29), ago(0));
    return { environment, routes, service };
  }
  const stored = async (routes: ReturnType<typeof eventRoutes>) =>
    (await routes.query({ agent_name })).body.total;
  const counted = async (routes: ReturnType<typeof eventRoutes>) =>
    (await routes.stats({ agent_name, time_range: '365d' })).body.totals.execution_count;

  it('deletes them on demand beside itself, and only counts them when requested', async () => {
    const { environment, routes } = await seeded();
    const dryRun = await run(environment, 'prune-events', '--dry-run');
    expect((await dryRun.ended).code).toBe(0);
    expect([dryRun.stdout(), dryRun.stderr()]).toEqual([
      expect.stringMatching(/^Would delete 2 events and \d+ sums\.\n$/),
      '',
    ]);
    expect(await stored(routes)).toBe(4);
    const prune = await run(environment, 'prune-events');
    expect((await prune.ended).code).toBe(0);
    expect([prune.stdout(), prune.stderr()]).toEqual([
      expect.stringMatching(/^Deleted 2 events and \d+ sums\.\n$/),
      '',
    ]);
    expect([await stored(routes), await counted(routes)]).toEqual([2, 4]);
  });

  it('deletes them by itself, and reports that in its metrics', async () => {
    const { environment } = await seeded();
    for (const service of services.splice(0)) await service.stop();
    // The next one looks a second after its start.
    const again = await run({ ...environment, SERVICE_EVENT_RETENTION_DAYS: '35' });
    const url = await again.listening();
    const routes = eventRoutes(restClient(url));
    await until(
      () => stored(routes),
      (found) => found === 3,
    );
    const samples = await until(
      async () => parseMetrics(await (await fetch(`${url}/metrics`)).text()),
      (found) => metric(found, `${PREFIX}_event_pruning_runs_total`) === 1,
    );
    expect(metric(samples, `${PREFIX}_events_pruned_total`)).toBe(1);
    expect(metric(samples, `${PREFIX}_event_pruning_batches_total`)).toBeGreaterThanOrEqual(1);
    expect(metric(samples, `${PREFIX}_event_pruning_timestamp_seconds`)).toBeGreaterThan(
      Date.now() / 1000 - 60,
    );
    expect(await counted(routes)).toBe(4);
  });
});

it('the command prune-events reports what is wrong', async () => {
  const failed = await run({ DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none' }, 'prune-events');
  expect((await failed.ended).code).toBe(1);
  expect(failed.stderr()).toMatch(/^The events cannot be pruned: /);
  const unknown = await run({}, 'prune-events', '--now');
  expect((await unknown.ended).code).toBe(2);
  expect(unknown.stderr()).toBe('Unknown argument prune-events --now; see --help.\n');
});

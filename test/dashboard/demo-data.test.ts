import { afterAll, beforeAll, expect, it } from 'vitest';
import { createCaller, loadDefinitions, loadHistory, takeSteps } from '../../scripts/demo-data/load.mjs';
import { describeOnPostgresql } from '../support/databases.js';
import { startService, type TestService } from '../support/service.js';

describeOnPostgresql('the demonstration data', (freshDatabaseUrl) => {
  let service: TestService;
  let call: ReturnType<typeof createCaller>;
  beforeAll(async () => {
    service = await startService({
      DATABASE_URL: await freshDatabaseUrl(),
      OBSERVABILITY_FLUSH_INTERVAL_SECONDS: '0.2',
    });
    call = createCaller(service.url, undefined);
    await loadDefinitions(call);
  });
  afterAll(() => service?.stop());

  it('has controls of every kind', async () => {
    const { controls } = await call('GET', '/controls?limit=100');
    const all = (member: string) =>
      new Set(controls.map((control: Record<string, unknown>) => control[member]));
    expect(all('execution')).toEqual(new Set(['server', 'sdk', null]));
    expect(all('enabled')).toEqual(new Set([true, false]));
    expect(all('template_backed')).toEqual(new Set([true, false]));
    const { versions } = await call('GET', '/controls/1/versions');
    expect(versions).toHaveLength(3);
  });

  it('has past events of every decision, at the times that are asked for', async () => {
    await loadHistory(call, { days: 7, count: 2_000, now: Date.now() });
    const { totals } = await call('GET', '/observability/stats/overview?time_range=30d');
    expect(totals.execution_count).toBeGreaterThanOrEqual(2_000);
    expect(Object.keys(totals.action_counts).sort()).toEqual(['deny', 'observe', 'steer']);
    expect(totals.error_count).toBe(0);
  });

  it('has samples, and a shadow that does not match what its control matches', async () => {
    const samples = async () => (await call('GET', '/samples')).samples.length;
    await expect.poll(samples).toBeGreaterThan(0);
    const differences = async () => (await call('GET', '/shadows')).shadows[0].only_shadow_matched;
    await expect.poll(differences).toBeGreaterThan(0);
  });

  it('has agents that take steps until they are stopped', async () => {
    const count = async () => (await call('POST', '/observability/events/query', { limit: 1 })).total;
    const before = await count();
    const stop = new AbortController();
    const taken = takeSteps(call, { stepsPerSecond: 200, signal: stop.signal });
    await expect.poll(count).toBeGreaterThan(before);
    stop.abort();
    await taken;
  });
});

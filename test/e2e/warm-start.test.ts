import { expect, it } from 'vitest';
import { restClient } from '../support/http.js';
import { metric, parseMetrics } from '../support/prometheus.js';
import { denyWord, evaluate } from '../support/seed.js';
import { startService } from '../support/service.js';
import { describeService, testService } from '../support/service-suite.js';
import { until } from '../support/until.js';

describeService('a service that loads the agents used last', ({ seed, service }) => {
  it('has them in memory when it is ready after a restart', async () => {
    const policy = await seed.control('warm-start-control', denyWord('forbidden'));
    const names = ['warm-agent-1', 'warm-agent-2', 'cold-agent-3'];
    for (const name of names) {
      await seed.agent(name);
      await seed.link(name, policy);
    }
    const environment = { DATABASE_URL: service.databaseUrl, SERVICE_PRELOAD_AGENTS: '100' };
    const first = await startService(environment);
    for (const name of names.slice(0, 2)) await evaluate(restClient(first.url), name, 'good');
    await first.stop();

    const second = await testService(environment);
    const call = restClient(second.url);
    await until(
      async () => (await call('GET', '/ready')).status,
      (status) => status === 200,
    );
    const samples = parseMetrics(String((await call('GET', '/metrics')).body));
    expect(metric(samples, 'control_enforcement_server_snapshot_agents')).toBe(2);
    expect((await evaluate(call, 'warm-agent-1', 'forbidden')).body.is_safe).toBe(false);
    expect((await evaluate(call, 'cold-agent-3', 'forbidden')).body.is_safe).toBe(false);
  });
});

import { expect, it, onTestFinished } from 'vitest';
import { restClient } from '../../support/http.js';
import { metric, parseMetrics } from '../../support/prometheus.js';
import { denyWord, evaluate, seeder } from '../../support/seed.js';
import { startService } from '../../support/service.js';
import { until } from '../../support/until.js';
import { startHostileLoad } from './hostile-load.js';

const AGENT = 'laned-agent-1';

it('idle, flooding, resetting and slow clients together leave others served and nothing behind', async () => {
  const service = await startService({ SERVICE_LOG_LEVEL: 'error' });
  const call = restClient(service.url);
  const running = async () => {
    const samples = parseMetrics((await call('GET', '/metrics')).body);
    return metric(samples, 'control_enforcement_server_rpcs_in_progress');
  };
  let end = () => {};
  onTestFinished(() => service.stop());
  onTestFinished(() => end());
  const seed = seeder(call);
  await seed.linked(AGENT, 'no-bad', denyWord('bad'));
  end = await startHostileLoad(service.url, { idle: 600, neverReading: 2, resetting: 1, slow: 20 });
  for (let count = 0; count < 20; count += 1)
    expect((await evaluate(call, AGENT, count % 2 === 0 ? 'bad' : 'good')).body.is_safe).toBe(
      count % 2 === 1,
    );
  expect(await running()).toBeGreaterThanOrEqual(602);
  end();
  await until(running, (count) => count === 0);
});

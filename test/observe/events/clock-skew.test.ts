import { expect, it } from 'vitest';
import { event, eventRoutes } from '../../e2e/events.support.js';
import { restClient } from '../../support/http.js';
import { metric, parseMetrics } from '../../support/prometheus.js';
import { testService } from '../../support/service-suite.js';

const MINUTE_MS = 60_000;

it('events that are dated ahead of the clock are stored, counted and told of', async () => {
  const service = await testService({ SERVICE_PROMETHEUS_METRICS_PREFIX: 'acme' });
  const { send, stats } = eventRoutes(restClient(service.url));
  const at = (minutes: number) =>
    event({ timestamp: new Date(Date.now() + minutes * MINUTE_MS).toISOString() });
  const ahead = async () =>
    metric(parseMetrics(await (await fetch(`${service.url}/metrics`)).text()), 'acme_events_ahead_total');
  const lines = () => service.logLines.filter((line) => line.includes('ahead of the clock of this service'));

  // A small difference of clocks, a slow sender, and none at all.
  await send(at(1), at(-30), event());
  expect([await ahead(), lines()]).toEqual([0, []]);
  await send(at(24 * 60), at(10), at(0));
  expect(await ahead()).toBe(2);
  expect(lines().map((line) => JSON.parse(line))).toMatchObject([{ level: 40, events: 2 }]);
  // In another zone, and in a message that a thread reads.
  await send(event({ timestamp: '2999-01-01T00:00:00+14:00' }));
  await send(...Array.from({ length: 200 }, () => at(24 * 60)));
  expect(await ahead()).toBe(203);
  // One line in a minute, however many come.
  expect(lines()).toHaveLength(1);
  // As deployed clients know it: nothing is refused, and a range that ends now has no upper bound.
  const { body } = await stats({ agent_name: event().agent_name, time_range: '1h' });
  expect(body.totals.execution_count).toBe(3 + 3 + 1 + 200);
});

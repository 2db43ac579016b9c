import { createClient } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { ObservabilityService } from '../../../gen/proto/enforcement/v1/observability_service_pb.js';
import { describeOnEachDatabase } from '../../support/databases.js';
import { restClient } from '../../support/http.js';
import { rpcTransport } from '../../support/rpc-transports.js';
import { startService } from '../../support/service.js';
import { beginDay } from './day.js';
import { decidedBy, type Figures, figuresOf } from './figures.js';
import { AGENTS, CONTROLS, type Sent, seedFleet, senders } from './traffic.js';

const RECORDS = ['none', 'matches', 'all'] as const;
const NAMES = Object.keys(AGENTS);
const HOUR_MS = 3_600_000;

describeOnEachDatabase('Every figure of a day', (freshDatabaseUrl, kind) => {
  // What is recorded concerns events, whose statistics have tests of their own on each database.
  it.each(kind === 'sqlite' ? RECORDS : (['matches'] as const))(
    'is the one of who sent it, with %s recorded',
    async (record) => {
      const databaseUrl = await freshDatabaseUrl();
      const day = beginDay();
      const service = await startService({
        DATABASE_URL: databaseUrl,
        SERVICE_OBSERVABILITY_RECORD: record,
      });
      try {
        const call = restClient(service.url);
        const ids = await seedFleet(service.url);
        const log = await day.live({
          senders: senders(service.url),
          flush: async () => void (await call('POST', '/api/v1/observability/flush')),
          seed: RECORDS.indexOf(record) + 1,
        });
        await expectReplies(service.url, log);
        await expectMetrics(service.url, log);
        await expectShown(service.url, log, record, ids);
      } finally {
        day.end();
        await service.stop();
      }
    },
  );
});

async function expectReplies(url: string, log: readonly Sent[]): Promise<void> {
  const call = restClient(url);
  for (const agent of [undefined, ...NAMES]) {
    const query = new URLSearchParams({ time_range: '24h', include_timeseries: 'true' });
    if (agent !== undefined) query.set('agent_name', agent);
    const { body } = await call('GET', `/api/v1/observability/evaluations?${query}`);
    const { evaluated, denied, byError, steered, observed } = figuresOf(log, agent);
    expect(body.counts).toEqual({
      evaluated,
      allowed: evaluated - denied - steered,
      denied,
      steered,
      denied_by_error: byError,
      observed,
      failed: byError,
    });
    const buckets = body.timeseries as { counts: { evaluated: number } }[];
    expect(buckets.reduce((sum, { counts }) => sum + counts.evaluated, 0)).toBe(evaluated);
  }
}

async function expectMetrics(url: string, log: readonly Sent[]): Promise<void> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const value = (outcome: string) =>
    Number(
      new RegExp(`_evaluation_outcomes_total\\{[^}]*outcome="${outcome}"[^}]*\\} (\\d+)`).exec(text)?.[1],
    );
  const { evaluated, denied, byError, steered } = figuresOf(log);
  expect(value('allow')).toBe(evaluated - denied - steered);
  expect(value('deny')).toBe(denied - byError);
  expect(value('deny_by_error')).toBe(byError);
  expect(value('steer')).toBe(steered);
}

/** What pages of the dashboard show, by the calls that they make; how they show it is tested with components. */
async function expectShown(
  url: string,
  log: readonly Sent[],
  record: (typeof RECORDS)[number],
  ids: ReadonlyMap<string, number>,
): Promise<void> {
  const { getEvaluationStats, getStatsOverview } = createClient(
    ObservabilityService,
    rpcTransport('gRPC', url),
  );
  const [hour, before] = [1, 2].map((ago) => {
    const fromMs = Date.now() - ago * HOUR_MS;
    return counted(figuresOf(log, undefined, fromMs, fromMs + HOUR_MS));
  });
  expect(await getEvaluationStats({ timeRange: '1h', includePrevious: true })).toMatchObject({
    counts: hour,
    previous: before,
  });
  const week = await getEvaluationStats({ timeRange: '7d', includePrevious: true });
  expect(week.counts).toMatchObject(counted(figuresOf(log)));
  expect(week.previous).toBeUndefined();
  const ofAgents = await getEvaluationStats({ timeRange: '24h', listedAgents: NAMES });
  for (const agentName of NAMES) {
    const counts = counted(figuresOf(log, agentName));
    expect(ofAgents.agents.find((one) => one.agentName === agentName)).toMatchObject({ counts });
    expect(await getEvaluationStats({ timeRange: '24h', agentName })).toMatchObject({ counts });
  }
  const { topControls } = await getStatsOverview({ timeRange: '24h', topByMatches: true });
  for (const control of CONTROLS) {
    const count = BigInt(record === 'none' ? 0 : decidedBy(log, control));
    const of = (name: (typeof CONTROLS)[number]) => (name === control ? count : 0n);
    const totals = {
      denyTotal: of('no-cards'),
      steerTotal: of('ask-first'),
      observeTotal: of('watch-refunds'),
      errorTotal: of('asks-model'),
    };
    const found = topControls.find(({ controlName }) => controlName === control);
    if (count === 0n) expect(found).toBeUndefined();
    else expect(found).toMatchObject(totals);
    const { totals: own } = await getStatsOverview({ controlId: ids.get(control) ?? 0, timeRange: '24h' });
    expect(own).toMatchObject({ matchTotal: count - totals.errorTotal, errorTotal: totals.errorTotal });
  }
}

/** The numbers as replies have them. */
function counted({ evaluated, denied, byError, steered, observed }: Figures) {
  const [all = 0n, deny = 0n, error = 0n, steer = 0n, observe = 0n] = [
    ...[evaluated, denied, byError, steered, observed],
  ].map(BigInt);
  return { evaluated: all, denied: deny, deniedByError: error, steered: steer, observed: observe };
}

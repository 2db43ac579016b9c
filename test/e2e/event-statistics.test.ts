import fc from 'fast-check';
import { expect, it } from 'vitest';
import { generatedCases } from '../support/generated-cases.js';
import { rpcTransport } from '../support/rpc-transports.js';
import { describeService } from '../support/service-suite.js';
import { observability } from './event-streams.support.js';
import { event, eventRoutes, problems } from './events.support.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Length of a range and of its buckets, as the contract has them. */
const RANGES: Record<string, [range: number, bucket: number, buckets: number]> = {
  '1m': [MINUTE, 10_000, 6],
  '5m': [5 * MINUTE, 30_000, 10],
  '15m': [15 * MINUTE, MINUTE, 15],
  '1h': [HOUR, 5 * MINUTE, 12],
  '24h': [DAY, HOUR, 24],
  '7d': [7 * DAY, 6 * HOUR, 28],
  '30d': [30 * DAY, DAY, 30],
  '180d': [180 * DAY, 7 * DAY, 25],
  '365d': [365 * DAY, 30 * DAY, 12],
};
/** What the windows of a range start with. */
const UNITS: Record<string, number> = Object.fromEntries([
  ...['1m', '5m', '15m', '1h'].map((range) => [range, 1_000]),
  ...['24h', '7d'].map((range) => [range, MINUTE]),
  ...['30d', '180d', '365d'].map((range) => [range, HOUR]),
]);
const RANGE_NAMES = Object.keys(RANGES);
const ACTIONS = ['deny', 'steer', 'observe'] as const;

interface Sample {
  readonly ageMs: number;
  readonly control_id: number;
  readonly control_name: string;
  readonly action: (typeof ACTIONS)[number];
  readonly matched: boolean;
  readonly confidence: number;
  readonly execution_duration_ms: number | null;
  readonly error_message: string | null;
}

/** Ages from far in the future to beyond the range. */
const sample = (range: number): fc.Arbitrary<Sample> =>
  fc.record({
    ageMs: fc.integer({ min: -range, max: Math.floor(range * 1.5) }),
    control_id: fc.constantFrom(1, 2, -3),
    control_name: fc.constantFrom('one', 'renamed', 'Renamed', ''),
    action: fc.constantFrom(...ACTIONS),
    matched: fc.boolean(),
    confidence: fc.double({ min: 0, max: 1, noNaN: true }),
    execution_duration_ms: fc.option(fc.double({ min: 0, max: 1e6, noNaN: true })),
    error_message: fc.option(fc.constantFrom('', 'broken'), { freq: 3 }),
  });
const scenario = fc
  .constantFrom(...RANGE_NAMES)
  .chain((name) =>
    fc.tuple(fc.constant(name), fc.array(sample(RANGES[name]?.[0] ?? 0), { maxLength: 60, size: 'max' })),
  );

const count = (events: readonly Sample[], wanted: (one: Sample) => boolean) => events.filter(wanted).length;
const near = (value: number) => expect.closeTo(value, 6);
const average = (values: readonly number[]): unknown =>
  values.length === 0 ? null : near(values.reduce((sum, value) => sum + value, 0) / values.length);
const durations = (events: readonly Sample[]) =>
  events.flatMap(({ execution_duration_ms: duration }) => (duration === null ? [] : [duration]));

function naiveCounts(events: readonly Sample[]): object {
  const ofAction = ACTIONS.map((action) => [
    action,
    count(events, (one) => one.matched && one.action === action),
  ]);
  return {
    execution_count: events.length,
    match_count: count(events, (one) => one.matched && one.error_message === null),
    non_match_count: count(events, (one) => !one.matched && one.error_message === null),
    error_count: count(events, (one) => one.error_message !== null),
    action_counts: Object.fromEntries(ofAction.filter(([, matches]) => matches !== 0)),
  };
}

function naiveControl(id: number, name: string, events: readonly Sample[]): object {
  const { action_counts: _, ...counts } = naiveCounts(events) as { action_counts: object };
  const [deny_count, steer_count, observe_count] = ACTIONS.map((action) =>
    count(events, (one) => one.matched && one.action === action),
  );
  return {
    control_id: id,
    control_name: name,
    ...counts,
    deny_count,
    steer_count,
    observe_count,
    avg_confidence: average(events.map(({ confidence }) => confidence)),
    avg_duration_ms: average(durations(events)),
  };
}

describeService('statistics of events', ({ service }) => {
  const routes = eventRoutes(service.call);

  let agents = 0;
  it('are what counting one by one gives', async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async ([range, samples]) => {
        agents += 1;
        const agent = `counted-bot-${agents}`;
        const now = Date.now();
        const dated = samples.map((one) => ({ ...one, ms: now - one.ageMs }));
        const sent = dated.map(({ ageMs: _, ms, ...more }, index) =>
          event({ agent_name: agent, ...more, timestamp: timestampOf(ms, index) }),
        );
        if (sent.length > 0) expect((await routes.send(...sent)).body.status).toBe('queued');
        const query = { agent_name: agent, time_range: range, include_timeseries: 'true' };
        const { status, body } = await routes.stats(query);
        expect(status).toBe(200);

        const [length, bucketMs, buckets] = RANGES[range] ?? [0, 0, 0];
        const start = Date.parse(body.totals.timeseries[0].timestamp);
        // The window starts with the first whole unit within the range that ended when the service answered.
        const unit = UNITS[range] ?? 0;
        expect(start % unit).toBe(0);
        expect(start + length >= now && start + length < Date.now() + unit).toBe(true);
        const counted = dated.filter(({ ms }) => ms >= start);
        const timeseries = Array.from({ length: buckets }, (_, index) => {
          const from = start + index * bucketMs;
          const inside = counted.filter(({ ms }) => ms >= from && ms < from + bucketMs);
          return {
            timestamp: expect.toSatisfy((text: string) => Date.parse(text) === from),
            ...naiveCounts(inside),
            avg_confidence: average(inside.map(({ confidence }) => confidence)),
            avg_duration_ms: average(durations(inside)),
          };
        });
        expect(body).toEqual({
          agent_name: agent,
          time_range: range,
          totals: { ...naiveCounts(counted), timeseries },
          controls: expect.any(Array),
        });

        const groups = groupBy(counted, (one) => JSON.stringify([one.control_id, one.control_name]));
        const executions = body.controls.map((one: { execution_count: number }) => one.execution_count);
        expect(executions).toEqual(executions.toSorted((a: number, b: number) => b - a));
        expect(body.controls).toHaveLength(groups.size);
        for (const shown of body.controls) {
          const { control_id: id, control_name: name } = shown;
          const group = groups.get(JSON.stringify([id, name])) ?? [];
          expect(shown).toEqual(naiveControl(id, name, group));
        }

        // Some part of the range, in whole minutes, or hours where it is more than a week ago.
        const whole = (ms: number, round: (units: number) => number) => {
          const one = ms < now - 7 * DAY ? HOUR : MINUTE;
          return round(ms / one) * one;
        };
        const from = whole(now - 0.8 * length, Math.floor);
        const to = whole(now - 0.2 * length, Math.ceil);
        const part = await routes.stats({
          agent_name: agent,
          start_time: new Date(now - 0.8 * length).toISOString(),
          end_time: String((now - 0.2 * length) / 1_000),
          include_timeseries: 'true',
        });
        const within = dated.filter(({ ms }) => ms >= from && ms < to);
        const { timeseries: parts, ...all } = part.body.totals;
        expect([part.body.time_range, all]).toEqual(['custom', naiveCounts(within)]);
        const starts = parts.map(({ timestamp }: { timestamp: string }) => Date.parse(timestamp));
        expect(starts[0]).toBe(from);
        for (const [index, one] of parts.entries()) {
          const until = starts[index + 1] ?? to;
          const inside = within.filter(({ ms }) => ms >= starts[index] && ms < until);
          expect(one).toMatchObject(naiveCounts(inside));
        }

        for (const id of [1, 2, -3, 99]) {
          const { body: one } = await routes.controlStats(id, query);
          const later = Date.parse(one.stats.timeseries[0].timestamp);
          const own = dated.filter(({ ms, control_id }) => ms >= later && control_id === id);
          const { timeseries: _, ...stats } = one.stats;
          expect(stats).toEqual(naiveCounts(own));
          const sizes = [...groupBy(own, ({ control_name: name }) => name)].map(
            ([name, group]) => [name, group.length] as const,
          );
          const most = Math.max(0, ...sizes.map(([, size]) => size));
          const names = sizes.filter(([, size]) => size === most).map(([name]) => name);
          expect(own.length === 0 ? [`control-${id}`] : names).toContain(one.control_name);
        }
      }),
      { numRuns: generatedCases(25) },
    );
  });

  it('have no buckets unless requested, and cover five minutes', async () => {
    const agent_name = 'plain-bot-001';
    const at = (ageMs: number) => new Date(Date.now() - ageMs).toISOString();
    await routes.send(
      event({ agent_name, timestamp: at(4 * MINUTE), execution_duration_ms: 2 }),
      event({ agent_name, timestamp: at(MINUTE), confidence: 0.25, control_name: 'renamed', matched: false }),
      event({ agent_name, timestamp: at(6 * MINUTE) }),
      event({ agent_name: 'other-bot-001' }),
    );
    const totals = {
      execution_count: 2,
      match_count: 1,
      non_match_count: 1,
      error_count: 0,
      action_counts: { deny: 1 },
      timeseries: null,
    };
    const { body } = await routes.stats({ agent_name: ' PLAIN-bot-001' });
    expect(body).toMatchObject({ agent_name, time_range: '5m', totals });
    expect(body.controls).toEqual([
      naiveControlOf('no-cards', { match_count: 1, deny_count: 1, avg_confidence: 0.5, avg_duration_ms: 2 }),
      naiveControlOf('renamed', { non_match_count: 1, avg_confidence: 0.25 }),
    ]);
    const one = await routes.controlStats(7, { agent_name, include_timeseries: 'no' });
    expect(one.body).toEqual({
      agent_name,
      time_range: '5m',
      control_id: 7,
      control_name: 'no-cards',
      stats: totals,
    });
  });

  it('list the controls with the most matches and errors on request, whatever their number of non-matches', async () => {
    // So far in the future, no other events of this service are in the range.
    const start = Math.ceil(Date.now() / DAY + 1_000) * DAY;
    const agent_name = 'ranked-bot-01';
    const control = (control_id: number, more: Record<string, number>) =>
      Object.entries(more).flatMap(([kind, number]) =>
        Array.from({ length: number }, (_, index) =>
          event({
            agent_name,
            control_id,
            control_name: `ranked-${control_id}`,
            matched: kind === 'matches',
            error_message: kind === 'errors' ? 'broken' : null,
            timestamp: new Date(start + index * MINUTE).toISOString(),
          }),
        ),
      );
    const { body: sent } = await routes.send(
      ...control(21, { matches: 1, others: 40 }),
      ...control(22, { others: 30 }),
      ...control(23, { matches: 3 }),
      ...control(24, { matches: 1, errors: 3, others: 1 }),
      ...control(25, { errors: 1 }),
    );
    expect(sent).toMatchObject({ enqueued: 80, status: 'queued' });
    // JSON routes do not have this list.
    const client = observability(rpcTransport('gRPC', service.url));
    const top = async (more: { topByMatches?: boolean; limit?: number }) => {
      const { totals, topControls } = await client.getStatsOverview({
        startTime: new Date(start).toISOString(),
        endTime: new Date(start + DAY).toISOString(),
        ...more,
      });
      expect(totals?.executionCount).toBe(80);
      return topControls.map(({ controlId }) => controlId);
    };
    expect(await top({})).toEqual([21, 22, 24, 23, 25]);
    expect(await top({ topByMatches: false, limit: 2 })).toEqual([21, 22]);
    expect(await top({ topByMatches: true })).toEqual([24, 23, 21, 25, 22]);
    // The limit cuts after the order: those with the most executions are not the ones that are left.
    expect(await top({ topByMatches: true, limit: 2 })).toEqual([24, 23]);
    expect(await top({ topByMatches: true, limit: 1 })).toEqual([24]);
    const refused = await service.call('GET', '/api/v1/observability/stats/overview?top_by_matches=maybe');
    expect([refused.status, problems(refused)]).toEqual([422, ['query.top_by_matches bool_parsing']]);
  });

  it('of an unknown agent are zero', async () => {
    const agent_name = 'nobody-at-all';
    const { status, body } = await routes.stats({ agent_name, time_range: '365d' });
    const totals = {
      execution_count: 0,
      match_count: 0,
      non_match_count: 0,
      error_count: 0,
      action_counts: {},
      timeseries: null,
    };
    expect([status, body]).toEqual([200, { agent_name, time_range: '365d', totals, controls: [] }]);
    const one = await routes.controlStats('+5', { agent_name });
    expect(one.body).toMatchObject({ control_id: 5, control_name: 'control-5', stats: totals });
  });

  it.each<[Record<string, string>, string[]]>([
    [{}, ['query.agent_name missing']],
    [{ agent_name: '' }, ['agent_name invalid_format']],
    [{ agent_name: 'short' }, ['agent_name invalid_format']],
    [{ agent_name: 'valid-name-1', time_range: '2h' }, ['query.time_range literal_error']],
    [{ agent_name: 'valid-name-1', include_timeseries: 'x' }, ['query.include_timeseries bool_parsing']],
    [{ agent_name: 'short', time_range: '' }, ['query.time_range literal_error']],
    [{ agent_name: 'valid-name-1', start_time: 'x' }, ['query.start_time datetime_from_date_parsing']],
    [{ agent_name: 'valid-name-1', start_time: '2026-01-01' }, ['query.end_time missing']],
    [{ agent_name: 'valid-name-1', end_time: '2026-01-01' }, ['query.start_time missing']],
    [{ agent_name: 'valid-name-1', start_time: '5', end_time: '5' }, ['query.end_time value_error']],
    [{ agent_name: 'valid-name-1', start_time: '0', end_time: '31622401' }, ['query.end_time value_error']],
    [
      { agent_name: 'valid-name-1', time_range: '5m', start_time: '5', end_time: '6' },
      ['query.time_range value_error'],
    ],
  ])('are refused for %j', async (query, expected) => {
    for (const reply of [await routes.stats(query), await routes.controlStats(1, query)]) {
      expect([reply.status, problems(reply)]).toEqual([422, expected]);
    }
  });

  it('are refused for what is no id, and find no id beyond 32 bits', async () => {
    const bad = await routes.controlStats('x', { agent_name: 'valid-name-1' });
    expect([bad.status, problems(bad)]).toEqual([422, ['path.control_id int_parsing']]);
    for (const id of [2 ** 31, '9'.repeat(400)]) {
      const beyond = await routes.controlStats(id, { agent_name: 'valid-name-1' });
      expect([beyond.status, beyond.body.error_code]).toEqual([404, 'CONTROL_NOT_FOUND']);
    }
  });
});

function groupBy<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

/** The same moment, written in one of the ways that clients use. */
function timestampOf(ms: number, index: number): string | number {
  const iso = new Date(ms).toISOString();
  const shifted = new Date(ms + 2 * HOUR).toISOString().replace('Z', '+02:00');
  // A number this small would be taken for seconds, but none of these times is near 1970.
  return [iso, shifted, iso.replace('Z', ''), ms][index % 4] ?? iso;
}

function naiveControlOf(name: string, more: object): object {
  return {
    control_id: 7,
    control_name: name,
    execution_count: 1,
    match_count: 0,
    non_match_count: 0,
    deny_count: 0,
    steer_count: 0,
    observe_count: 0,
    error_count: 0,
    avg_duration_ms: null,
    ...more,
  };
}

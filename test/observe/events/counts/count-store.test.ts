import fc from 'fast-check';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { DEFAULT_NAMESPACE } from '../../../../src/contract/call/namespace.js';
import { createCountPruner } from '../../../../src/observe/events/counts/count-pruner.js';
import { createReadCounts } from '../../../../src/observe/events/counts/count-reader.js';
import { createAddCounts } from '../../../../src/observe/events/counts/count-store.js';
import { createEvaluationStats } from '../../../../src/observe/events/counts/evaluation-stats.js';
import { OUTCOME_SUMS, OutcomeSums } from '../../../../src/observe/events/counts/outcome-sums.js';
import { type StatisticsRange, TIME_RANGES } from '../../../../src/observe/events/store/time-range.js';
import { type Database, openDatabase } from '../../../../src/storage/database/database.js';
import { describeOnEachDatabase } from '../../../support/databases.js';
import { NO_FAILURES } from '../../../support/failures.js';
import { generatedCases } from '../../../support/generated-cases.js';
import { executeSql } from '../../../support/sql.js';
import { countBatch, countRow } from './counts.support.js';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NOW_S = 20_000 * DAY + 12 * HOUR + 34 * MINUTE + 56;
const NOW_MINUTE_S = NOW_S - 56;
const EMPTY = `
  BEGIN; DELETE FROM "evaluation_counts"; DELETE FROM "evaluation_count_writers"; DELETE FROM "evaluation_counting";
  DELETE FROM "agent_activity"; DELETE FROM "control_activity"; COMMIT`;

/** Counts of a reply. */
interface Shown {
  readonly counts: Record<string, number>;
  readonly previous: Record<string, number> | null;
  readonly timeseries: readonly { timestamp: string; counts: Record<string, number> }[];
  readonly agents: readonly { agent_name: string; counts: Record<string, number> }[];
  readonly [member: string]: unknown;
}

describeOnEachDatabase('stored counts of evaluations', (freshDatabaseUrl) => {
  let url: string | undefined;
  let database: Database;
  beforeEach(async () => {
    url ??= await freshDatabaseUrl();
    database = await openDatabase({ url });
    const opened = database;
    onTestFinished(() => opened.close());
    await executeSql(url, EMPTY);
  });

  const adder = (nowS = NOW_S, on = database) => createAddCounts(on, () => nowS * 1000);
  function stats(nowS = NOW_S) {
    const reply = createEvaluationStats({
      read: createReadCounts(database),
      flushSoon: async () => {},
      now: () => nowS * 1000,
    });
    return (range: StatisticsRange, more: object = {}) =>
      reply(
        { range, include_timeseries: false, include_previous: false, limit: 10, ...more },
        DEFAULT_NAMESPACE,
      ) as Promise<Shown>;
  }
  const rows = (sql: TemplateStringsArray) =>
    database.client.$queryRawUnsafe<Record<string, unknown>[]>(sql[0] ?? '');
  const evaluated = async () => (await stats()({ name: '1h' })).counts.evaluated;

  it('have each batch once, however often it is written, and those of other writers', async () => {
    const add = adder();
    const batch = countBatch('writer', 1, [countRow('one', NOW_MINUTE_S, { evaluated: 3 })]);
    await add(batch);
    await add(batch);
    expect(await evaluated()).toBe(3);
    await add({ ...batch, number: 2 });
    await add(batch);
    expect(await evaluated()).toBe(6);
    await add({ ...batch, writerId: 'another' });
    expect(await evaluated()).toBe(9);
  });

  it('have everything that several processes write at once', async () => {
    const other = await openDatabase({ url: url as string, migrate: false });
    onTestFinished(() => other.close());
    const agents = ['one', 'two', 'three', 'four', 'five'];
    await Promise.all(
      [database, other, database, other].map(async (on, index) => {
        const add = adder(NOW_S, on);
        // Each in an order of its own: they must not wait for each other in a circle.
        const order = index % 2 === 0 ? agents : agents.toReversed();
        for (let number = 1; number <= 10; number += 1) {
          const counted = order.map((agent) => countRow(agent, NOW_MINUTE_S, { evaluated: 1, denied: 1 }));
          await add(countBatch(String(index), number, counted));
        }
      }),
    );
    const { counts, agents: found } = await stats()({ name: '24h' });
    expect(counts).toMatchObject({ evaluated: 200, denied: 200, allowed: 0 });
    expect(found.map(({ agent_name }) => agent_name)).toEqual(agents.toSorted());
  });

  it('list the agents with the most denials, then those with the most evaluations, then by name', async () => {
    await adder()(
      countBatch('writer', 1, [
        countRow('idle', NOW_MINUTE_S, { evaluated: 1 }),
        countRow('busy', NOW_MINUTE_S, { evaluated: 100 }),
        countRow('also', NOW_MINUTE_S, { evaluated: 1 }),
        countRow('bad', NOW_MINUTE_S, { evaluated: 2, denied: 2, denied_by_error: 1 }),
      ]),
    );
    const names = async (limit: number) =>
      (await stats()({ name: '1h' }, { limit })).agents.map(({ agent_name }) => agent_name);
    expect(await names(10)).toEqual(['bad', 'busy', 'also', 'idle']);
    expect(await names(2)).toEqual(['bad', 'busy']);
    const one = await stats()({ name: '1h' }, { agent_name: 'bad' });
    expect(one.agents).toEqual([{ agent_name: 'bad', counts: one.counts }]);
    expect(one.counts).toEqual({
      evaluated: 2,
      allowed: 0,
      denied: 2,
      steered: 0,
      denied_by_error: 1,
      observed: 0,
      failed: 0,
    });
  });

  it('tell when agents and controls were active last, of agents that exist', async () => {
    await executeSql(
      url as string,
      `BEGIN; DELETE FROM "agents";
      INSERT INTO "agents" ("name", "data", "created_at_ms") VALUES ('one', '{}', 0); COMMIT`,
    );
    const controls = (startS: number) => [
      { controlId: 7, lastMatchedS: startS, lastDeniedS: startS === 120 ? 120 : null, lastFailedS: null },
    ];
    const add = adder();
    for (const [index, startS] of [60, 120, 180].entries()) {
      const values = { evaluated: 1, denied: startS === 120 ? 1 : 0 };
      const counted = ['one', 'gone'].map((agent) => countRow(agent, NOW_MINUTE_S + startS, values));
      await add({ ...countBatch('writer', index + 1, counted), controls: controls(startS) });
    }
    // An older batch that had to wait takes nothing back.
    await add({
      ...countBatch('late', 1, [countRow('one', 60, { evaluated: 1, denied: 1 })]),
      controls: controls(60),
    });
    const numbers = (found: readonly object[]) =>
      found.map((row) =>
        Object.values(row).map((value) => (typeof value === 'string' ? value : value && Number(value))),
      );
    expect(numbers(await rows`SELECT * FROM "agent_activity"`)).toEqual([
      ['one', NOW_MINUTE_S + 180, NOW_MINUTE_S + 120],
    ]);
    expect(numbers(await rows`SELECT * FROM "control_activity"`)).toEqual([[7, 180, 120, null]]);
  });

  it('tell since when evaluations are counted, and the range before only if all of it was', async () => {
    const reply = stats();
    const none = await reply({ name: '1h' }, { include_previous: true });
    expect(none).toMatchObject({ counted_since: null, previous: null, counts: { evaluated: 0 } });
    const sinceS = NOW_S - 3 * HOUR;
    const counted = [1, 90, 150].map((minutes) =>
      countRow('one', NOW_MINUTE_S - minutes * MINUTE, { evaluated: minutes }),
    );
    await adder()({ ...countBatch('writer', 1, counted), sinceS });
    await adder()({ ...countBatch('another', 1, []), sinceS: NOW_S });
    const hour = await reply({ name: '1h' }, { include_previous: true });
    expect(hour.counted_since).toBe(new Date(sinceS * 1000).toISOString().replace('.000', ''));
    expect(hour.counts.evaluated).toBe(1);
    expect(hour.agents[0]?.counts.evaluated).toBe(1);
    expect(hour.previous?.evaluated).toBe(90);
    const day = await reply({ name: '24h' }, { include_previous: true });
    expect([day.counts.evaluated, day.previous]).toEqual([241, null]);
  });

  it('are kept by minute, hour and day for as long as ranges read them, and writers until they are gone', async () => {
    const ages = [1, 7, 9, 300, 399, 500].map((days) => days * DAY);
    const counted = ages.map((age) => countRow('one', NOW_MINUTE_S - age, { evaluated: 1 }));
    await adder(NOW_S)(countBatch('writer', 1, counted));
    const kept = async () =>
      (
        await rows`SELECT "unit_s" AS "unit", COUNT(*) AS "n" FROM "evaluation_counts"
          WHERE "agent_name" = 'one' GROUP BY 1 ORDER BY 1`
      ).map(({ unit, n }) => [Number(unit), Number(n)]);
    // What was too old already is in none of the levels.
    expect(await kept()).toEqual([
      [MINUTE, 2],
      [HOUR, 5],
      [DAY, 5],
    ]);
    const pruner = (nowS: number) =>
      createCountPruner({ bulk: database.bulk, failures: NO_FAILURES, now: () => nowS * 1000 });
    expect(await pruner(NOW_S).prune()).toBe(0);
    expect(await pruner(NOW_S + 2 * DAY).prune()).toBe(6);
    expect(await kept()).toEqual([
      [MINUTE, 1],
      [HOUR, 4],
      [DAY, 4],
    ]);
    expect(await rows`SELECT "writer_id" FROM "evaluation_count_writers"`).toHaveLength(1);
    await pruner(NOW_S + 500 * DAY).prune();
    expect(await kept()).toEqual([]);
    expect(await rows`SELECT "writer_id" FROM "evaluation_count_writers"`).toEqual([]);
  });

  it('equal the naive sum of whatever was added, for every range', async () => {
    const values = fc.record(
      Object.fromEntries(OUTCOME_SUMS.map((sum) => [sum, fc.nat(1_000)])) as Record<
        'evaluated',
        fc.Arbitrary<number>
      >,
    );
    const agent = fc.constantFrom('one', 'two', 'three');
    const custom = fc
      .tuple(fc.integer({ min: 1, max: 365 * DAY }), fc.integer({ min: 1, max: 366 * DAY }))
      .map(([age, length]) => ({ name: 'custom' as const, fromS: NOW_S - age, toS: NOW_S - age + length }));
    const range = fc.oneof(
      fc.constantFrom(...TIME_RANGES).map((name) => ({ name })),
      custom,
      // Most of what is added is recent.
      custom.map(({ fromS, toS }) => ({
        name: 'custom' as const,
        fromS: NOW_S - ((NOW_S - fromS) % (9 * DAY)) - 1,
        toS: NOW_S - ((NOW_S - fromS) % (9 * DAY)) + (toS % (3 * DAY)),
      })),
    );
    const age = fc.oneof(fc.nat(90), fc.nat(9 * 24 * 60), fc.nat(399 * 24 * 60));
    let writer = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(agent, age, values), { maxLength: 25 }),
        fc.array(range, { minLength: 1, maxLength: 6 }),
        fc.option(agent),
        async (additions, ranges, only) => {
          await executeSql(url as string, EMPTY);
          writer += 1;
          const counted = additions.map(([name, minutes, sums]) =>
            countRow(name, NOW_MINUTE_S - minutes * MINUTE, sums),
          );
          const half = counted.length >> 1;
          await adder()(countBatch(String(writer), 1, counted.slice(0, half)));
          await adder()(countBatch(String(writer), 2, counted.slice(half)));
          for (const one of ranges) {
            const asked: StatisticsRange =
              'fromS' in one
                ? {
                    name: 'custom',
                    startUs: BigInt(one.fromS) * 1_000_000n,
                    endUs: BigInt(one.toS) * 1_000_000n,
                  }
                : one;
            const found = await stats()(asked, {
              include_timeseries: true,
              agent_name: only ?? undefined,
            });
            const startS = Date.parse(String(found.start_time)) / 1000;
            const endS = Date.parse(String(found.end_time)) / 1000;
            const naive = (fromS: number, toS: number) => {
              const sums = new OutcomeSums();
              for (const row of counted) {
                const isIn = row.startS >= fromS && row.startS < toS;
                if (isIn && (only === null || row.agentName === only)) sums.add(row.sums);
              }
              return sums;
            };
            expect(found.counts).toMatchObject({ ...naive(startS, endS) });
            for (const { timestamp, counts } of found.timeseries) {
              const bucketS = Date.parse(timestamp) / 1000;
              const untilS = Math.min(bucketS + Number(found.bucket_seconds), endS);
              expect(counts).toMatchObject({ ...naive(bucketS, untilS) });
            }
          }
        },
      ),
      { numRuns: generatedCases(25) },
    );
  });
});

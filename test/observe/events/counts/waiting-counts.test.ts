import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CountRow } from '../../../../src/observe/events/counts/count-batch.js';
import { printBatch, readBatch } from '../../../../src/observe/events/counts/count-text.js';
import { DENIED, FAILED, MATCHED } from '../../../../src/observe/events/counts/evaluation-collector.js';
import { OUTCOME_SUMS, OutcomeSums } from '../../../../src/observe/events/counts/outcome-sums.js';
import { WaitingCounts } from '../../../../src/observe/events/counts/waiting-counts.js';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

function sumsOf(values: Partial<OutcomeSums>): OutcomeSums {
  return Object.assign(new OutcomeSums(), values);
}

function minute(
  startS: number,
  agents: Record<string, Partial<OutcomeSums>>,
  controls: [number, number][] = [],
) {
  const sums = Object.entries(agents).map(([name, values]) => [name, sumsOf(values)] as const);
  return { startS, agents: new Map(sums), controls: new Map(controls) };
}

const shown = ({ agentName, unitS, startS, sums, lastEvaluatedS, lastDeniedS }: CountRow) => ({
  row: [agentName, unitS, startS, sums.evaluated, sums.denied],
  last: [lastEvaluatedS, lastDeniedS],
});

describe('counts that wait', () => {
  it('are one row for each agent and minute, oldest first', () => {
    const waiting = new WaitingCounts();
    expect(waiting.isEmpty).toBe(true);
    waiting.add(minute(60, { one: { evaluated: 2, denied: 1 }, two: { evaluated: 1 } }));
    waiting.add(minute(60, { one: { evaluated: 3 } }));
    waiting.add(minute(120, { one: { evaluated: 4 } }));
    expect(waiting.evaluated).toBe(10);
    expect(waiting.take(2).rows.map(shown)).toEqual([
      { row: ['one', MINUTE, 60, 5, 1], last: [60, 60] },
      { row: ['two', MINUTE, 60, 1, 0], last: [60, null] },
    ]);
    expect(waiting.take(2).rows.map(shown)).toEqual([{ row: ['one', MINUTE, 120, 4, 0], last: [120, null] }]);
    expect(waiting.isEmpty).toBe(true);
  });

  it('have the last time of everything that a control did', () => {
    const waiting = new WaitingCounts();
    waiting.add(minute(60, { one: { evaluated: 1 } }, [[7, MATCHED | DENIED]]));
    waiting.add(minute(120, { one: { evaluated: 1 } }, [[7, FAILED]]));
    waiting.add(minute(180, { one: { evaluated: 1 } }, [[7, MATCHED]]));
    expect(waiting.take(10).controls).toEqual([
      { controlId: 7, lastMatchedS: 180, lastDeniedS: 60, lastFailedS: 120 },
    ]);
  });

  it('become hours, then days, and then the oldest are lost', () => {
    const waiting = new WaitingCounts(3);
    const denied = { evaluated: 1, denied: 1 };
    expect(waiting.add(minute(HOUR, { one: denied, two: denied }))).toBe(0);
    expect(waiting.add(minute(HOUR + MINUTE, { one: { evaluated: 1 }, two: denied }))).toBe(0);
    expect(waiting.add(minute(3 * HOUR, { one: { evaluated: 5 } }))).toBe(0);
    // Two days of two agents are one row more than fit.
    expect(waiting.add(minute(DAY + HOUR, { one: denied, two: denied }))).toBe(7);
    expect(waiting.take(10).rows.map(shown)).toEqual([
      { row: ['two', DAY, 0, 2, 2], last: [HOUR + MINUTE, HOUR + MINUTE] },
      { row: ['one', DAY, DAY, 1, 1], last: [DAY + HOUR, DAY + HOUR] },
      { row: ['two', DAY, DAY, 1, 1], last: [DAY + HOUR, DAY + HOUR] },
    ]);
  });

  it('are neither lost nor counted twice, whatever comes and goes in which order', () => {
    const step = fc.oneof(
      fc.record({
        startS: fc.integer({ min: 0, max: 5_000 }).map((at) => at * MINUTE),
        agent: fc.constantFrom('one', 'two', 'three', 'four'),
        values: fc.record({
          evaluated: fc.integer({ min: 1, max: 9 }),
          denied: fc.nat(9),
          failed: fc.nat(9),
        }),
      }),
      fc.record({ take: fc.integer({ min: 1, max: 4 }) }),
    );
    fc.assert(
      fc.property(fc.array(step), fc.integer({ min: 1, max: 8 }), (steps, maxRows) => {
        const waiting = new WaitingCounts(maxRows);
        const [came, went] = [new OutcomeSums(), new OutcomeSums()];
        let lost = 0;
        const take = (limit: number) => {
          const { rows } = waiting.take(limit);
          for (const { sums } of rows) went.add(sums);
          return rows.length;
        };
        for (const one of steps) {
          if ('take' in one) expect(take(one.take)).toBeLessThanOrEqual(one.take);
          else {
            came.add(sumsOf(one.values));
            lost += waiting.add(minute(one.startS, { [one.agent]: one.values }));
          }
        }
        expect(take(1_000)).toBeLessThanOrEqual(maxRows);
        expect(went.evaluated + lost).toBe(came.evaluated);
        if (lost === 0) for (const sum of OUTCOME_SUMS.slice(0, 2)) expect(went[sum]).toBe(came[sum]);
      }),
    );
  });

  it('are read as they were written to a file', () => {
    const waiting = new WaitingCounts();
    waiting.add(
      minute(60, { one: { evaluated: 2, failed: 1 }, two: { evaluated: 1, denied: 1 } }, [[7, DENIED]]),
    );
    const batch = { writerId: 'a', number: 3, sinceS: 60, ...waiting.take(10) };
    expect(readBatch(printBatch(batch))).toEqual(batch);
  });
});

import { describe, expect, it } from 'vitest';
import type { ControlResult } from '../../../../src/kernel/core/types.js';
import {
  DENIED,
  EvaluationCollector,
  FAILED,
  MATCHED,
} from '../../../../src/observe/events/counts/evaluation-collector.js';

const AGENT = 'counted-bot-1';
const MINUTE_MS = 60_000;

function results(...given: readonly (readonly [id: number, action: ControlResult['action']])[]) {
  return given.map(
    ([id, action]): ControlResult => ({
      control_execution_id: String(id),
      control_id: id,
      control_name: 'one',
      action,
      result: { matched: true, confidence: 1, message: null, metadata: null, error: null },
      steering_context: null,
    }),
  );
}
const NOTHING = { evaluated: 0, denied: 0, steered: 0, denied_by_error: 0, observed: 0, failed: 0 };

describe('a verdict is counted', () => {
  it.each([
    ['allow', [], [], false, {}],
    ['allow', [[1, 'observe']], [], false, { observed: 1 }],
    ['allow', [], [[1, 'observe']], false, { failed: 1 }],
    ['allow', [[1, 'observe']], [[2, 'observe']], false, { observed: 1, failed: 1 }],
    // An agent without controls may be denied without any result.
    ['deny', [], [], false, { denied: 1 }],
    ['deny', [[1, 'deny']], [], false, { denied: 1 }],
    [
      'deny',
      [
        [1, 'observe'],
        [2, 'deny'],
      ],
      [],
      false,
      { denied: 1 },
    ],
    ['deny', [[1, 'deny']], [[2, 'deny']], false, { denied: 1, failed: 1 }],
    ['deny', [], [[2, 'deny']], false, { denied: 1, failed: 1, denied_by_error: 1 }],
    ['deny', [[1, 'steer']], [[2, 'deny']], false, { denied: 1, failed: 1, denied_by_error: 1 }],
    // Its caller does not understand steering.
    ['deny', [[1, 'steer']], [[2, 'observe']], false, { denied: 1, failed: 1 }],
    ['deny', [], [[2, 'deny']], true, { denied: 1, failed: 1 }],
    ['steer', [[1, 'steer']], [], false, { steered: 1 }],
    ['steer', [[1, 'steer']], [[2, 'observe']], false, { steered: 1, failed: 1 }],
  ] as const)('with the outcome %s, matches %j and errors %j', (outcome, matches, errors, differs, more) => {
    const collector = new EvaluationCollector(0);
    collector.count(AGENT, outcome, { matches: results(...matches), errors: results(...errors) }, differs);
    const sums = { ...NOTHING, evaluated: 1, ...more };
    expect(collector.totals).toEqual(sums);
    expect(collector.take(0)?.agents.get(AGENT)).toEqual(sums);
    expect(collector.totals).toEqual(sums);
  });
});

describe('counts are taken', () => {
  const verdict = { matches: results([1, 'deny'], [2, 'observe']), errors: results([3, 'deny']) };

  it('with the minute in which they began, by agent, and once', () => {
    const collector = new EvaluationCollector(7 * MINUTE_MS + 30_000);
    expect(collector.take(8 * MINUTE_MS + 59_999)).toBeUndefined();
    for (const agent of ['one', 'two', 'one']) collector.count(agent, 'deny', verdict, false);
    expect(collector.waiting).toBe(3);
    const taken = collector.take(9 * MINUTE_MS);
    expect(taken?.startS).toBe(8 * 60);
    expect([...(taken?.agents ?? [])].map(([agent, sums]) => [agent, sums.evaluated])).toEqual([
      ['one', 2],
      ['two', 1],
    ]);
    expect(collector.waiting).toBe(0);
    expect(collector.take(9 * MINUTE_MS)).toBeUndefined();
  });

  it('with what each control did', () => {
    const collector = new EvaluationCollector(0);
    collector.count(AGENT, 'deny', verdict, false);
    collector.count(AGENT, 'deny', { matches: results([3, 'deny']), errors: results([2, 'observe']) }, false);
    expect(collector.take(0)?.controls).toEqual(
      new Map([
        [1, MATCHED | DENIED],
        [2, MATCHED | FAILED],
        [3, MATCHED | DENIED | FAILED],
      ]),
    );
  });

  it('of so many agents only as memory allows; the others are in the totals', () => {
    const collector = new EvaluationCollector(0, 2);
    for (const agent of ['one', 'two', 'three', 'one', 'four']) {
      collector.count(agent, 'deny', { matches: [], errors: [] }, false);
    }
    expect(collector.totals).toEqual({ ...NOTHING, evaluated: 5, denied: 5 });
    expect(collector.beyond).toBe(2);
    expect([...(collector.take(0)?.agents.keys() ?? [])]).toEqual(['one', 'two']);
  });
});

import { expect, it } from 'vitest';
import { DEFAULT_NAMESPACE } from '../../../src/contract/call/namespace.js';
import type { ControlEvent } from '../../../src/observe/events/store/event.js';
import type { EventPageQuery } from '../../../src/observe/events/store/event-search.js';
import { utcTimeOfMs } from '../../../src/observe/events/store/event-time.js';
import { recordedEvaluations } from '../../../src/observe/replay/recorded-evaluations.js';

/** A search over these events, latest first. */
function searchOver(events: readonly Partial<ControlEvent>[]) {
  return {
    page: async (_filter: object, { limit, after }: EventPageQuery) => {
      const from = Number(after?.position ?? 0n);
      const found = events.slice(from, from + limit) as ControlEvent[];
      const end = from + found.length;
      const next = end < events.length ? { timeUs: 0n, position: BigInt(end) } : undefined;
      return { events: found, next };
    },
  };
}

const check = (decision: string | null, more: Partial<ControlEvent> = {}): Partial<ControlEvent> => ({
  decision_id: decision,
  trace_id: 'trace',
  span_id: 'span',
  check_stage: 'pre',
  step_type: 'tool',
  step_name: 'search',
  timestamp: utcTimeOfMs(5_000),
  ...more,
});
const QUERY = { namespace: DEFAULT_NAMESPACE, agentName: null, sinceMs: 1_000 };

it('the checks of one evaluation count once, and those without the name of a step do not count', async () => {
  const events = [
    check('one'),
    check('one'),
    check('two'),
    check('two', { check_stage: 'post' }),
    check('three', { step_name: null }),
    check(null),
    check(null),
    check(null, { span_id: 'other' }),
  ];
  expect(await recordedEvaluations(searchOver(events), QUERY)).toEqual({
    steps: [
      { type: 'tool', name: 'search', stage: 'pre', evaluations: 4 },
      { type: 'tool', name: 'search', stage: 'post', evaluations: 1 },
    ],
    sinceMs: 1_000,
    isComplete: true,
  });
});

it('at most 20,000 checks are read, and the reply says since when', async () => {
  const events = Array.from({ length: 20_001 }, (_, index) =>
    check(String(index), { timestamp: utcTimeOfMs(50_000 - index) }),
  );
  const found = await recordedEvaluations(searchOver(events), QUERY);
  expect(found).toMatchObject({ steps: [{ evaluations: 20_000 }], sinceMs: 30_001, isComplete: false });
  const whole = await recordedEvaluations(searchOver(events.slice(1)), QUERY);
  expect(whole).toMatchObject({ steps: [{ evaluations: 20_000 }], sinceMs: 1_000, isComplete: true });
});

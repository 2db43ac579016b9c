import { expect, it } from 'vitest';
import type { CheckCall, CompiledEvaluator } from '../../../src/kernel/core/evaluator.js';
import { metered } from '../../../src/kernel/evaluators/metered.js';
import { regexEvaluator } from '../../../src/kernel/evaluators/regex/regex.js';
import { FULL_CALL } from '../../support/check-call.js';

const RESULT = { matched: true, confidence: 1, message: null, metadata: null, error: null };

function counted(evaluate: CompiledEvaluator['evaluate']) {
  const meter = { calls: 0, errors: 0, timeouts: 0, waits: 0, waited: () => count() };
  const count = (): void => {
    meter.waits += 1;
  };
  const evaluator = metered({ ...regexEvaluator, compile: () => ({ timeoutMs: 7, evaluate }) }, meter);
  const counts = () => [meter.calls, meter.errors, meter.timeouts, meter.waits];
  return { checks: evaluator.compile({}), counts };
}

it('counts checks that answer at once, without timing them', () => {
  const { checks, counts } = counted(() => RESULT);
  expect(checks.evaluate('x', FULL_CALL)).toBe(RESULT);
  expect(checks.timeoutMs).toBe(7);
  expect(counts()).toEqual([1, 0, 0, 0]);
});

it('counts checks that fail at once, by result or by exception', () => {
  const failing = counted(() => ({ ...RESULT, matched: false, error: 'broken' }));
  failing.checks.evaluate('x', FULL_CALL);
  expect(failing.counts()).toEqual([1, 1, 0, 0]);
  const throwing = counted(() => {
    throw new Error('timeout after 5 ms');
  });
  expect(() => throwing.checks.evaluate('x', FULL_CALL)).toThrow('timeout');
  expect(throwing.counts()).toEqual([1, 1, 1, 0]);
});

it.each<[string, () => Promise<typeof RESULT>, number[]]>([
  ['answer', async () => RESULT, [1, 0, 0, 1]],
  ['fail', () => Promise.reject(new Error('broken')), [1, 1, 0, 1]],
  ['run out of time', () => Promise.reject(new Error('timeout after 5 ms')), [1, 1, 1, 1]],
])('counts and times checks that %s later', async (_name, evaluate, expected) => {
  const { checks, counts } = counted(evaluate);
  await Promise.allSettled([checks.evaluate('x', FULL_CALL)]);
  expect(counts()).toEqual(expected);
});

it.each([
  ['a check that is no longer awaited is no error', new Error('denied already'), [1, 0, 0, 1]],
  [
    'a check that was given up for its time is a time-out',
    new DOMException('…', 'TimeoutError'),
    [1, 1, 1, 1],
  ],
])('%s', async (_name, reason, expected) => {
  const controller = new AbortController();
  const call: CheckCall = { ...FULL_CALL, signal: controller.signal };
  const { checks, counts } = counted(
    (_data, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('given up')));
      }),
  );
  const given = checks.evaluate('x', call);
  controller.abort(reason);
  await Promise.allSettled([given]);
  expect(counts()).toEqual(expected);
});

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Decision } from '../../gen/proto/enforcement/v1/control_pb.js';
import type { Evaluation, EvaluationOptions, WaitForLimits } from '../../packages/client/src/node.js';
import { evaluateWaiting } from '../../packages/client/src/wait-for-limits.js';
import { ALLOWED, denied, limited, matchOf, reached } from './verdicts.js';

const REQUEST = { stage: 'pre', step: { name: 'send_mail', input: {} } } as const;

/** Evaluates with answers that are given one after the other, the last one again and again. */
function scene(answers: readonly Evaluation[], wait: WaitForLimits, given: EvaluationOptions = {}) {
  const asked: { readonly stepId: string | undefined; readonly atMs: number }[] = [];
  const closing = new AbortController();
  const startMs = Date.now();
  const evaluate = async (_request: unknown, { stepId }: EvaluationOptions): Promise<Evaluation> => {
    asked.push({ stepId, atMs: Date.now() - startMs });
    return answers[Math.min(asked.length, answers.length) - 1] as Evaluation;
  };
  const result = evaluateWaiting(evaluate, REQUEST, given, wait, closing.signal, () => 1);
  // Its rejection is looked at later.
  result.catch(() => {});
  return { asked, closing, result };
}

describe('waiting for limits', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('evaluates the step again, with the same id, once the limit may have room', async () => {
    const { asked, result } = scene([limited(1_000), limited(500), ALLOWED], { maxWaitMs: 10_000 });
    await vi.runAllTimersAsync();
    expect(await result).toBe(ALLOWED);
    // The wait and a tenth more at most.
    expect(asked.map(({ atMs }) => atMs)).toEqual([0, 1_100, 1_650]);
    expect(new Set(asked.map(({ stepId }) => stepId))).toEqual(
      new Set([expect.stringMatching(/^[0-9a-f-]{36}$/)]),
    );
  });

  it('keeps the step id of the caller', async () => {
    const { asked, result } = scene([limited(10), ALLOWED], { maxWaitMs: 100 }, { stepId: 'mail-1' });
    await vi.runAllTimersAsync();
    await result;
    expect(asked.map(({ stepId }) => stepId)).toEqual(['mail-1', 'mail-1']);
  });

  it('does not wait beyond its time, in one wait or in several', async () => {
    const long = scene([limited(10_001)], { maxWaitMs: 10_000 });
    expect(await long.result).toMatchObject({ retryAfterMs: 10_001 });
    expect(long.asked).toHaveLength(1);
    const several = scene([limited(4_000)], { maxWaitMs: 10_000 });
    await vi.runAllTimersAsync();
    expect(await several.result).toMatchObject({ isSafe: false });
    expect(several.asked.map(({ atMs }) => atMs)).toEqual([0, 4_400, 8_800]);
    const exact = scene([limited(10_000), ALLOWED], { maxWaitMs: 10_000 });
    await vi.runAllTimersAsync();
    expect(await exact.result).toBe(ALLOWED);
    expect(exact.asked.at(-1)?.atMs).toBe(10_000);
  });

  it('repeats no more often than allowed', async () => {
    const { asked, result } = scene([limited(1)], { maxWaitMs: 60_000, maxRetries: 2 });
    await vi.runAllTimersAsync();
    expect(await result).toMatchObject({ isSafe: false });
    expect(asked).toHaveLength(3);
    const usual = scene([limited(1)], { maxWaitMs: 60_000 });
    await vi.runAllTimersAsync();
    await usual.result;
    expect(usual.asked).toHaveLength(11);
  });

  it.each<[string, Evaluation]>([
    ['a safe step', ALLOWED],
    ['a step that a control without a limit denies', denied({ matches: [matchOf(2)] })],
    [
      'a step that also a control without a limit denies',
      denied({ matches: [matchOf(1), matchOf(2)], limits: [reached(1, 10)] }),
    ],
    [
      'a limit of a control that only observes',
      denied({ matches: [matchOf(1, Decision.OBSERVE), matchOf(2)], limits: [reached(1, 10)] }),
    ],
    ['a step that a halt denies', denied({ halt: { haltId: 1, reason: 'stop' } })],
  ])('does not repeat %s', async (_, answer) => {
    const { asked, result } = scene([answer], { maxWaitMs: 60_000 });
    expect(await result).toBe(answer);
    expect(asked).toHaveLength(1);
  });

  it('waits for the longest of several limits', async () => {
    const both = denied({
      matches: [matchOf(1), matchOf(2, Decision.STEER)],
      limits: [reached(1, 10), reached(2, 2_000)],
    });
    const { asked, result } = scene([both, ALLOWED], { maxWaitMs: 60_000 });
    await vi.runAllTimersAsync();
    await result;
    expect(asked.map(({ atMs }) => atMs)).toEqual([0, 2_200]);
  });

  it('ends with the reason of the signal, and when the client is closed, and leaves no timer', async () => {
    const leaving = new AbortController();
    const left = scene([limited(1_000)], { maxWaitMs: 60_000 }, { signal: leaving.signal });
    await vi.advanceTimersByTimeAsync(500);
    const reason = new Error('left');
    leaving.abort(reason);
    await expect(left.result).rejects.toBe(reason);
    const closed = scene([limited(1_000)], { maxWaitMs: 60_000 });
    await vi.advanceTimersByTimeAsync(500);
    closed.closing.abort(new Error('closed'));
    await expect(closed.result).rejects.toThrow('closed');
    expect(vi.getTimerCount()).toBe(0);
    expect([...left.asked, ...closed.asked]).toHaveLength(2);
  });

  it('refuses bounds that are none', async () => {
    for (const wait of [{ maxWaitMs: 0 }, { maxWaitMs: Number.NaN }, { maxWaitMs: 1, maxRetries: 0.5 }]) {
      await expect(scene([ALLOWED], wait).result).rejects.toThrow(RangeError);
    }
  });
});

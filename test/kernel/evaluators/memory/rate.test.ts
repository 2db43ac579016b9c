import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rateReducer } from '../../../../src/kernel/evaluators/memory/rate-state.js';
import { generatedCases } from '../../../support/generated-cases.js';
import { problemsOf, RuleRun, ruleOf } from '../../../support/rule-run.js';
import '../../../support/property-seed.js';

const SECOND = 1_000_000;
const key = ['agent'];

describe('a rate', () => {
  it('lets pass a burst, and then a step whenever there is room for it', () => {
    const run = new RuleRun('rate', { limit: 3, period: '30s', key });
    expect([1, 2, 3, 4].map(() => run.passes())).toEqual([true, true, true, false]);
    run.memory.nowUs += 10 * SECOND - 10;
    expect(run.passes()).toBe(false);
    run.memory.nowUs += 10;
    expect([run.passes(), run.passes()]).toEqual([true, false]);
  });

  it('lets pass at the time that retry_after tells, and no microsecond before', () => {
    const run = new RuleRun('rate', { limit: 7, period: '1s', burst: 2, key });
    expect([run.passes(), run.passes()]).toEqual([true, true]);
    const after = run.pre().limit?.retryAfterUs ?? 0;
    const now = run.memory.nowUs;
    run.memory.nowUs = now + after - 1;
    expect(run.passes({ isTrial: true })).toBe(false);
    run.memory.nowUs = now + after;
    expect(run.passes()).toBe(true);
  });

  it('tells limit, remaining steps and the time until all are available', () => {
    const run = new RuleRun('rate', { limit: 2, period: '10s', key });
    expect(run.pre().limit).toEqual({
      limit: 2,
      remaining: 1,
      resetsAfterUs: 5 * SECOND,
      retryAfterUs: null,
      windowUs: 10 * SECOND,
    });
    expect(run.pre().limit).toMatchObject({ remaining: 0 });
    expect(run.pre()).toMatchObject({ matched: true, limit: { remaining: 0 } });
    expect(run.describe()).toMatchObject({ limit: { remaining: 0 }, kept: { used: 2 } });
  });

  it('lets pass exactly what a count in real numbers allows, at any times', () => {
    const times = fc.array(fc.nat(3_000_000), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 1, max: 20_000 }),
        times,
        (limit, burst, periodMs, gaps) => {
          const run = new RuleRun('rate', { limit, burst, period: `${periodMs}ms`, key });
          // A bucket that fills with `limit` parts a microsecond, of which a step costs the period: whole numbers.
          const cost = BigInt(periodMs * 1_000);
          const full = BigInt(burst) * cost;
          let level = full;
          let last = run.memory.nowUs;
          for (const gap of gaps) {
            run.memory.nowUs += gap % 7 === 0 ? 1 : gap;
            const passes = run.passes();
            const { nowUs } = run.memory;
            level += BigInt(nowUs - last) * BigInt(limit);
            if (level > full) level = full;
            last = nowUs;
            expect(passes).toBe(level >= cost);
            if (level >= cost) level -= cost;
          }
        },
      ),
      { numRuns: generatedCases(200) },
    );
  });

  it('counts a step that is denied only with count_denied, and then never owes more than a burst', () => {
    const free = new RuleRun('rate', { limit: 1, period: '10s', key });
    expect(free.passes({ isDenied: true })).toBe(true);
    expect(free.passes()).toBe(true);
    const strict = new RuleRun('rate', { limit: 1, period: '10s', key, count_denied: true });
    strict.pre({ isDenied: true });
    for (let count = 0; count < 100; count += 1) expect(strict.passes()).toBe(false);
    strict.memory.nowUs += 10 * SECOND;
    expect(strict.passes()).toBe(true);
  });

  it('does not count an observed step beyond it, so that observing shows what denying would do', () => {
    const run = new RuleRun('rate', { limit: 1, period: '10s', key });
    run.pre();
    for (let count = 0; count < 5; count += 1) expect(run.pre({ observed: true }).matched).toBe(true);
    run.memory.nowUs += 10 * SECOND;
    expect(run.pre({ observed: true }).matched).toBe(false);
  });

  it('counts a step with the same id once', () => {
    const run = new RuleRun('rate', { limit: 2, period: '10s', key });
    for (let count = 0; count < 5; count += 1) expect(run.passes({ id: 'a' })).toBe(true);
    expect([run.passes({ id: 'b' }), run.passes({ id: 'c' }), run.passes({ id: 'a' })]).toEqual([
      true,
      false,
      true,
    ]);
  });

  it('keeps what was used when its limit changes', () => {
    const before = ruleOf('rate', { limit: 10, period: '10s', key });
    const after = ruleOf('rate', { limit: 100, period: '10s', key });
    expect(after.fingerprint).toBe(before.fingerprint);
    expect(ruleOf('rate', { limit: 10, period: '20s', key }).fingerprint).not.toBe(before.fingerprint);
    const moment = {
      nowUs: 1e15,
      sinceUs: null,
      isRepeated: false,
      stepHash: null,
      hash: (text: string) => text,
    };
    const call = {
      step: { type: 'tool', name: 'n', input: null, output: null, context: null },
      stage: 'pre',
      identity: { namespace: 'n', agent: 'a', sessionId: null, stepId: null, error: null },
    } as const;
    let state: ReturnType<typeof rateReducer.apply> | undefined;
    for (let count = 0; count < 6; count += 1) {
      const delta = before.consume?.(state, call, 'request', moment) ?? null;
      state = rateReducer.apply(state, delta, moment.nowUs, null);
    }
    expect(after.describe(state ?? {}, moment.nowUs).kept).toEqual({ used: 6 });
  });

  it('keeps one number for a key, and nothing once all is available', () => {
    const run = new RuleRun('rate', { limit: 1_000, period: '10s', key });
    for (let count = 0; count < 500; count += 1) run.pre();
    expect(JSON.stringify(run.kept()).length).toBeLessThan(100);
    expect(rateReducer.used(run.kept() ?? {}, run.memory.nowUs)).toBeCloseTo(0.5, 2);
    expect(rateReducer.prune(run.kept() ?? {}, run.memory.nowUs + 10 * SECOND)).toBeUndefined();
  });

  it('is refused with limits, periods and bursts beyond their bounds', () => {
    expect(problemsOf('rate', { limit: 0, period: '0s', burst: 1_000_001, key })).toEqual([
      'limit: must be at least 1',
      'period: must be a whole number above 0 and one of the units ms, s, m, h and d, such as "90m"',
      'burst: must be at most 1000000',
    ]);
    expect(problemsOf('rate', { limit: 1, period: '25h', key })).toEqual([
      'period: must be at most 1d, the longest window of this service (SERVICE_MEMORY_WINDOW_HOURS)',
    ]);
    expect(problemsOf('rate', { limit: 1, period: '1h', burst: 25, key })).toEqual([
      'burst: is too large: after it, room for as many steps comes back in burst * period / limit, which must be at most 1d',
    ]);
    expect(problemsOf('rate', { limit: 5, period: '1h' })).toEqual([
      'key: Field required: this member is missing',
    ]);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { concurrencyReducer } from '../../../../src/kernel/evaluators/memory/concurrency-state.js';
import { problemsOf, RuleRun } from '../../../support/rule-run.js';
import '../../../support/property-seed.js';

const MINUTE = 60_000_000;
const key = ['agent'];

describe('a limit of concurrent steps', () => {
  it('lets pass as many steps as run at the same time, until one of them ends', () => {
    const run = new RuleRun('concurrency', { limit: 2, key });
    expect(['a', 'b', 'c'].map((id) => run.passes({ id }))).toEqual([true, true, false]);
    run.post({ id: 'a' });
    expect(['c', 'd'].map((id) => run.passes({ id }))).toEqual([true, false]);
    run.post({ id: 'b', error: 'it failed' });
    expect(run.passes({ id: 'd' })).toBe(true);
  });

  it('frees the slot of a step whose end is not sent after its lease, both ends included', () => {
    const run = new RuleRun('concurrency', { limit: 1, lease: '1m', key });
    run.pre({ id: 'a' });
    const after = run.pre({ id: 'b' }).limit?.retryAfterUs ?? 0;
    run.memory.nowUs += after - 1;
    expect(run.passes({ id: 'b', isTrial: true })).toBe(false);
    run.memory.nowUs += 1;
    expect(run.passes({ id: 'b' })).toBe(true);
    // The end of the first step does not free the slot of the second.
    run.post({ id: 'a' });
    expect(run.passes({ id: 'c' })).toBe(false);
  });

  it('counts a step that is sent again once, and its end once', () => {
    const run = new RuleRun('concurrency', { limit: 1, key });
    expect([run.passes({ id: 'a' }), run.passes({ id: 'a' }), run.passes({ id: 'b' })]).toEqual([
      true,
      true,
      false,
    ]);
    run.post({ id: 'a' });
    run.pre({ id: 'b' });
    run.post({ id: 'a' });
    expect(run.passes({ id: 'c' })).toBe(false);
  });

  it('takes no slot for a denied step, and one for an observed step beyond the limit', () => {
    const run = new RuleRun('concurrency', { limit: 1, key });
    run.pre({ id: 'a', isDenied: true });
    expect(run.passes({ id: 'b' })).toBe(true);
    expect(run.pre({ id: 'c', observed: true })).toMatchObject({ matched: true, limit: { remaining: 0 } });
    expect(run.describe()?.kept).toEqual({ running: 2 });
  });

  it('needs the id of the step', () => {
    expect(new RuleRun('concurrency', { limit: 1, key }).pre().error).toBe('without step_id');
    expect(new RuleRun('concurrency', { limit: 1, key, on_missing: 'skip' }).pre().error).toBeNull();
  });

  it('ignores the end of a step that was not seen', () => {
    const run = new RuleRun('concurrency', { limit: 1, key });
    run.post({ id: 'a' });
    expect(run.kept()).toBeUndefined();
  });

  it('counts as a set of running steps does, in any order of starts, ends and times', () => {
    const event = fc.record({ step: fc.nat(6), isEnd: fc.boolean(), gap: fc.integer({ min: 1, max: 400 }) });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 100 }), fc.integer({ min: 1, max: 4 }), (events, limit) => {
        const run = new RuleRun('concurrency', { limit, lease: '1ms', key });
        const running = new Map<number, number>();
        const started = new Set<number>();
        const ended = new Set<number>();
        const denied = new Set<number>();
        for (const { step, isEnd, gap } of events) {
          run.memory.nowUs += gap;
          for (const [id, at] of running) if (at + 1_000 < run.memory.nowUs) running.delete(id);
          const id = String(step);
          if (isEnd) {
            run.post({ id });
            if (!denied.has(step) && !ended.has(step)) {
              running.delete(step);
              ended.add(step);
            }
          } else {
            const { matched } = run.pre({ id });
            expect(matched).toBe(!started.has(step) && running.size >= limit);
            if (matched) denied.add(step);
            else if (!started.has(step)) {
              denied.delete(step);
              started.add(step);
              running.set(step, run.memory.nowUs);
            }
          }
        }
      }),
    );
  });

  it('keeps the running steps and nothing else', () => {
    const run = new RuleRun('concurrency', { limit: 1_000, lease: '1m', key });
    for (let count = 0; count < 200; count += 1) {
      run.pre({ id: `${count}` });
      if (count % 2 === 0) run.post({ id: `${count}` });
    }
    expect(run.describe()?.kept).toEqual({ running: 100 });
    expect(concurrencyReducer.used(run.kept() ?? {}, run.memory.nowUs)).toBe(0.1);
    expect(concurrencyReducer.prune(run.kept() ?? {}, run.memory.nowUs + MINUTE + 1)).toBeUndefined();
  });

  it('is refused with limits and leases beyond their bounds', () => {
    expect(problemsOf('concurrency', { limit: 1_001, lease: '2d', key })).toEqual([
      'limit: must be at most 1000',
      'lease: must be at most 1d, the longest window of this service (SERVICE_MEMORY_WINDOW_HOURS)',
    ]);
  });
});

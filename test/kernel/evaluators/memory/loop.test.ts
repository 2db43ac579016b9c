import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loopReducer } from '../../../../src/kernel/evaluators/memory/loop-state.js';
import { problemsOf, RuleRun } from '../../../support/rule-run.js';
import '../../../support/property-seed.js';

const call = (word: string, more: object = {}) => ({ input: { word }, ...more });
const play = (run: RuleRun, words: string) => [...words].map((word) => run.pre(call(word)).matched);
const hits = (run: RuleRun, words: string) =>
  play(run, words)
    .map((matched) => (matched ? 'x' : '.'))
    .join('');

describe('a loop of the same step', () => {
  it('matches the repetition that it is set to, the present step included', () => {
    const run = new RuleRun('loop', { repeat: 3, within: { last: 10 } });
    expect(hits(run, 'abacaa')).toBe('....xx');
  });

  it('looks at the last steps only, the present one included', () => {
    expect(hits(new RuleRun('loop', { repeat: 2, within: { last: 3 } }), 'abcabba')).toBe('.....x.');
    expect(hits(new RuleRun('loop', { repeat: 2, within: { last: 4 } }), 'abcabba')).toBe('...xxxx');
  });

  it('looks at a time, both ends included', () => {
    const run = new RuleRun('loop', { repeat: 2, within: { time: '1m' } });
    run.pre(call('a'));
    run.memory.nowUs += 60_000_000;
    expect(run.pre(call('a', { isTrial: true })).matched).toBe(true);
    run.memory.nowUs += 1;
    expect(run.pre(call('a')).matched).toBe(false);
    expect(run.pre(call('a')).limit?.retryAfterUs).toBe(60_000_001);
  });

  it('compares steps by their canonical form', () => {
    const run = new RuleRun('loop', { repeat: 2, within: { last: 10 } });
    run.pre({ input: { a: 1, b: [2] } });
    expect(run.pre({ input: { b: [2], a: 1 } }).matched).toBe(true);
    expect(run.pre({ input: { b: [2], a: '1' } }).matched).toBe(false);
    expect(run.pre({ input: { b: [2], a: 1 }, name: 'other' }).matched).toBe(false);
  });

  it('compares the input alone, or the values at paths', () => {
    const byInput = new RuleRun('loop', { by: 'input', repeat: 2, within: { last: 10 } });
    byInput.pre(call('a'));
    expect(byInput.pre(call('a', { name: 'other' })).matched).toBe(true);
    const byPaths = new RuleRun('loop', { by: ['name', 'input.url'], repeat: 2, within: { last: 10 } });
    byPaths.pre({ input: { url: 'u', try: 1 } });
    expect(byPaths.pre({ input: { url: 'u', try: 2 } }).matched).toBe(true);
    const without = new RuleRun('loop', { by: ['input.url'], repeat: 2, within: { last: 10 } });
    expect([without.pre().matched, without.pre().matched, without.kept()]).toEqual([false, false, undefined]);
  });

  it('counts denied steps too, so that one control steers and another denies later', () => {
    const steer = new RuleRun('loop', { repeat: 3, within: { last: 10 } });
    const deny = new RuleRun('loop', { repeat: 5, within: { last: 10 } });
    const outcomes = [1, 2, 3, 4, 5].map(() => {
      const denied = deny.pre(call('a', { isTrial: true })).matched;
      const steered = steer.pre(call('a', { isDenied: denied })).matched;
      deny.pre(call('a', { isDenied: steered }));
      return denied ? 'deny' : steered ? 'steer' : 'allow';
    });
    expect(outcomes).toEqual(['allow', 'allow', 'steer', 'steer', 'deny']);
  });

  it('counts only steps that run without count_denied', () => {
    const run = new RuleRun('loop', { repeat: 2, within: { last: 10 }, count_denied: false });
    for (let count = 0; count < 3; count += 1)
      expect(run.pre(call('a', { isDenied: true })).matched).toBe(false);
  });

  it('counts a step with the same id once', () => {
    const run = new RuleRun('loop', { repeat: 2, within: { last: 10 } });
    for (let count = 0; count < 3; count += 1) expect(run.pre(call('a', { id: '1' })).matched).toBe(false);
    expect(run.pre(call('a', { id: '2' })).matched).toBe(true);
  });

  it('tells sessions apart by default', () => {
    const run = new RuleRun('loop', { repeat: 2, within: { last: 10 } });
    run.pre(call('a', { session: '1' }));
    expect(run.pre(call('a', { session: '2' })).matched).toBe(false);
    expect(run.pre(call('a', { session: '1', agent: 'other' })).matched).toBe(false);
    expect(run.pre(call('a', { session: null })).error).toBe('without session_id');
  });

  it('matches exactly where a search over all steps does', () => {
    const steps = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.integer({ min: 1, max: 500 })), {
      maxLength: 80,
    });
    const counts = fc.integer({ min: 2, max: 4 });
    fc.assert(
      fc.property(steps, counts, fc.integer({ min: 4, max: 12 }), (given, repeat, last) => {
        const run = new RuleRun('loop', { repeat, within: { last, time: '1ms' } });
        const seen: { word: string; at: number }[] = [];
        for (const [word, gap] of given) {
          run.memory.nowUs += gap;
          const { matched } = run.pre(call(word));
          const now = run.memory.nowUs;
          seen.push({ word, at: now });
          const same = seen.slice(-last).filter((one) => one.word === word && one.at >= now - 1_000);
          expect(matched).toBe(same.length >= repeat);
        }
      }),
    );
  });
});

describe('a loop of alternating steps', () => {
  const pattern = { pattern: 'alternating', repeat: 3, within: { last: 50 } };

  it('matches a cycle of two to eight different steps that was run through so often', () => {
    expect(hits(new RuleRun('loop', pattern), 'ababab')).toBe('.....x');
    expect(hits(new RuleRun('loop', pattern), 'xabcabcabc')).toBe('.........x');
    expect(hits(new RuleRun('loop', pattern), 'abcdefgh'.repeat(3))).toBe(`${'.'.repeat(23)}x`);
    expect(hits(new RuleRun('loop', pattern), 'abcdefghi'.repeat(3))).toBe('.'.repeat(27));
  });

  it('does not match one step alone, nor a cycle that is broken', () => {
    expect(hits(new RuleRun('loop', pattern), 'aaaaaaaa')).toBe('........');
    expect(hits(new RuleRun('loop', pattern), 'ababcabab')).toBe('.........');
  });

  it('matches exactly where a comparison of the last steps does', () => {
    const words = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 60 });
    fc.assert(
      fc.property(words, fc.integer({ min: 2, max: 3 }), (given, repeat) => {
        const run = new RuleRun('loop', { ...pattern, repeat });
        given.forEach((word, index) => {
          const seen = given.slice(0, index + 1).join('');
          const isCycle = [2, 3, 4, 5, 6, 7, 8].some((length) => {
            const cycle = seen.slice(-length);
            return (
              new Set(cycle).size > 1 && seen.length >= length * repeat && seen.endsWith(cycle.repeat(repeat))
            );
          });
          expect(run.pre(call(word)).matched).toBe(isCycle);
        });
      }),
    );
  });
});

describe('a loop of errors', () => {
  const pattern = { pattern: 'error', repeat: 3, within: { last: 20 } };
  const fail = (run: RuleRun, error: string, name = 'send') => {
    return [run.pre({ name }).matched, run.post({ name, error }).matched];
  };

  it('matches the end that repeats an error so often, and steps of the name after it', () => {
    const run = new RuleRun('loop', pattern);
    expect([1, 2, 3].flatMap(() => fail(run, 'no such file'))).toEqual([
      false,
      false,
      false,
      false,
      false,
      true,
    ]);
    expect(run.pre().matched).toBe(true);
    expect(run.pre({ name: 'other' }).matched).toBe(false);
  });

  it('compares errors without numbers, ids and blanks', () => {
    const run = new RuleRun('loop', pattern);
    fail(run, 'Timeout after 30 ms  (request 5f2b9c1e-0000-4000-8000-00000000000a)');
    fail(run, 'timeout after 31 ms (request 6f2b9c1e-0000-4000-8000-00000000000b)');
    expect(fail(run, 'Timeout after 999 ms\n(request 7f2b9c1e-0000-4000-8000-00000000000c) ')).toEqual([
      false,
      true,
    ]);
  });

  it('begins anew after a step of the name that succeeds, or fails otherwise', () => {
    const run = new RuleRun('loop', pattern);
    for (const error of ['x', 'x', 'y', 'x', 'x']) expect(fail(run, error)).toEqual([false, false]);
    run.post();
    expect(fail(run, 'x')).toEqual([false, false]);
    fail(run, 'x', 'other');
    fail(run, 'x');
    expect(fail(run, 'x')).toEqual([false, true]);
  });

  it('has nothing to say about a denied step', () => {
    const run = new RuleRun('loop', pattern);
    for (let count = 0; count < 4; count += 1) {
      run.pre({ id: `${count}`, isDenied: true });
      expect(run.post({ id: `${count}`, error: 'x' }).matched).toBe(false);
    }
    expect(run.kept()).toBeUndefined();
  });
});

describe('what is kept for a loop', () => {
  it('stays small over any number of steps', () => {
    const run = new RuleRun('loop', { repeat: 2, within: { time: '24h' } });
    for (let count = 0; count < 1_500; count += 1) run.pre(call(`${count}`));
    expect(JSON.stringify(run.kept()).length).toBeLessThan(40_000);
    expect(run.describe()?.kept).toEqual({ steps: 1_000, pattern: 'same', repeat: 2 });
    expect(loopReducer.prune(run.kept() ?? {}, run.memory.nowUs + 86_400_000_001)).toBeUndefined();
  });

  it('has no text of a step', () => {
    const run = new RuleRun('loop', { repeat: 2, within: { last: 5 } });
    run.pre(call('a secret'.repeat(100_000)));
    expect(JSON.stringify(run.kept())).not.toContain('secret');
    expect(JSON.stringify(run.kept()).length).toBeLessThan(200);
  });
});

describe('a configuration of a loop', () => {
  it('is refused with the member that is wrong', () => {
    const cases: readonly [object, string][] = [
      [{ repeat: 1 }, 'repeat: must be at least 2'],
      [{ within: {} }, 'within: must have last or time'],
      [
        { within: { last: 2 } },
        'within.last: must be at least 3, or the pattern same never has 3 repetitions',
      ],
      [
        { pattern: 'alternating', within: { last: 5 } },
        'within.last: must be at least 6, or the pattern alternating never has 3 repetitions',
      ],
      [{ by: 'output' }, 'by: must be step, input, or a list of paths'],
      [
        { by: ['output.x'] },
        'by.0: must be a path that begins with input, context, type or name, such as input.url',
      ],
      [{ by: [] }, 'by: must have at least 1 item'],
      [{ pattern: 'other' }, 'pattern: must be one of: same, alternating, error'],
    ];
    for (const [change, problem] of cases) {
      expect(problemsOf('loop', { repeat: 3, within: { last: 10 }, ...change })).toEqual([problem]);
    }
  });
});

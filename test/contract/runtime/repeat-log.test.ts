import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createRepeatLog } from '../../../src/contract/runtime/repeat-log.js';

const INTERVAL_MS = 1_000;

interface Line {
  readonly level: string;
  readonly facts: Record<string, unknown>;
  readonly message: string;
}

describe('the log of failures that repeat', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  });
  afterEach(() => vi.useRealTimers());

  function created() {
    const lines: Line[] = [];
    const at = (level: string) => (facts: object, message: string) =>
      void lines.push({ level, facts: facts as Line['facts'], message });
    const failures = createRepeatLog({
      log: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') },
      intervalMs: INTERVAL_MS,
    });
    const warnings = () => lines.filter(({ level }) => level === 'warn');
    return { failures, lines, warnings };
  }

  it('logs the first failure at once, and how many followed once per interval', () => {
    const { failures, warnings } = created();
    for (let count = 0; count < 1_000; count += 1) {
      failures.failed('route', 'refused', new Error(`away ${count}`), { route: '/x' });
    }
    expect(warnings()).toEqual([
      { level: 'warn', facts: { route: '/x', reason: 'away 0' }, message: 'refused' },
    ]);
    vi.advanceTimersByTime(INTERVAL_MS);
    expect(warnings().slice(1)).toEqual([
      {
        level: 'warn',
        facts: { route: '/x', reason: 'away 999', repeated: 999 },
        message: 'refused (repeated)',
      },
    ]);
  });

  it('distinguishes kinds, and begins anew after an interval without a failure', () => {
    const { failures, warnings } = created();
    failures.failed('a', 'refused', new Error('x'));
    failures.failed('b', 'refused', new Error('y'));
    vi.advanceTimersByTime(INTERVAL_MS);
    failures.failed('a', 'refused', new Error('z'));
    expect(warnings().map(({ facts }) => facts)).toEqual([{ reason: 'x' }, { reason: 'y' }, { reason: 'z' }]);
  });

  it('gives stacks at level debug only, and reasons with their causes in one line of bounded length', () => {
    const { failures, lines, warnings } = created();
    const cause = new Error(`in\nlines ${'x'.repeat(10_000)}`);
    const error = new Error('outer', { cause });
    failures.failed('a', 'refused', error);
    const [warning] = warnings();
    expect(warning?.facts.reason).toMatch(/^outer \(in lines x+…$/);
    expect(JSON.stringify(warning).length).toBeLessThan(1_000);
    expect(JSON.stringify(warning)).not.toContain('repeat-log.test');
    expect(lines[0]).toEqual({ level: 'debug', facts: { err: error }, message: 'refused' });
  });

  it('logs other things at their own level', () => {
    const { failures, lines } = created();
    failures.told('error', 'a', 'full', { free: 1 });
    failures.told('error', 'a', 'full', { free: 0 });
    vi.advanceTimersByTime(INTERVAL_MS);
    expect(lines).toEqual([
      { level: 'error', facts: { free: 1 }, message: 'full' },
      { level: 'error', facts: { free: 0, repeated: 1 }, message: 'full (repeated)' },
    ]);
  });

  it('counts kinds beyond its bound together', () => {
    const { failures, warnings } = created();
    for (let kind = 0; kind < 10_000; kind += 1)
      failures.failed(`kind ${kind}`, 'refused', new Error('away'));
    const { length } = warnings();
    expect(length).toBeLessThan(1_000);
    vi.advanceTimersByTime(INTERVAL_MS);
    expect(warnings().at(-1)?.facts).toEqual({ reason: 'away', repeated: 10_000 - length });
    expect(vi.getTimerCount()).toBeLessThan(length + 1);
  });

  it('logs what it has counted when it is closed', () => {
    const { failures, warnings } = created();
    failures.failed('a', 'refused', new Error('x'));
    failures.failed('a', 'refused', new Error('y'));
    failures.failed('b', 'refused', new Error('z'));
    failures.close();
    expect(warnings().map(({ facts }) => facts.repeated)).toEqual([undefined, undefined, 1]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

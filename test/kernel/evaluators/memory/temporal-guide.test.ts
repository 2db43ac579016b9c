import { describe, expect, it } from 'vitest';
import { HistoryRun } from './history.support.js';
import { GUIDE_CASES } from './temporal-guide.cases.js';

/** Steps that another control denies. */
const FORBIDDEN = new Set(['drop_table']);

describe('history, by the examples of temporal guides:', () => {
  it.each(GUIDE_CASES)('$title', ({ config, scope, requires = false, trace }) => {
    // Steps outside of the scope are not denied by the control, whatever it would say of them.
    const run = new HistoryRun(config, true);
    const found = trace.map(({ afterMs = 0, matches: _, ...sent }) => {
      run.memory.advance(afterMs * 1_000);
      const probe = run.trial(sent);
      const acts = probe.error !== null || probe.matched !== requires;
      const isDenied =
        FORBIDDEN.has(sent.name) || (scope.includes(sent.name) && sent.stage !== 'post' && acts);
      run.send(sent, isDenied);
      return probe.error === null ? probe.matched : 'error';
    });
    expect(found).toEqual(trace.map(({ matches }) => matches));
  });
});

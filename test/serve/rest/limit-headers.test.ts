import { describe, expect, it } from 'vitest';
import type { RevisedVerdict } from '../../../src/decide/decisions/revised-verdict.js';
import type { AppliedLimit } from '../../../src/kernel/core/memory.js';
import type { ControlResult } from '../../../src/kernel/core/types.js';
import { tellLimits } from '../../../src/serve/rest/told-headers.js';

const LIMIT: AppliedLimit = {
  controlId: 7,
  controlName: 'mails an hour',
  evaluatorName: 'rate',
  limit: 20,
  remaining: 0,
  resetsAfterUs: 3_600_000_000,
  retryAfterUs: 180_000_001,
  windowUs: 3_600_000_000,
  degraded: null,
  key: 'agent',
  sinceUs: null,
};

const match = (control_id: number, action: ControlResult['action']): ControlResult => ({
  control_execution_id: '',
  control_id,
  control_name: '',
  action,
  result: { matched: true, confidence: 1, message: null, metadata: null, error: null },
  steering_context: null,
});

function headersOf(limits: readonly AppliedLimit[], matches: ControlResult[] = []) {
  const verdict: RevisedVerdict = {
    is_safe: !matches.some(({ action }) => action !== 'observe'),
    confidence: 1,
    reason: null,
    matches,
    errors: [],
    non_matches: [],
    selected_controls: 1,
    evaluated_controls: 1,
    skipped_controls: 0,
    revision: 1,
    staleness_seconds: null,
    schema_mismatch: null,
    outcome: 'deny',
    decision_id: '',
    limits,
  };
  const told: Record<string, string> = {};
  tellLimits(verdict, limits, {
    tellInHeader(name, value) {
      expect(told).not.toHaveProperty(name);
      told[name] = value;
    },
  });
  return told;
}

describe('the headers of limits', () => {
  it('are those of the first limit, and of the time after which a denied step may be repeated', () => {
    const other = { ...LIMIT, controlId: 8, controlName: 'other', remaining: 5, retryAfterUs: null };
    expect(headersOf([LIMIT, other], [match(7, 'deny')])).toEqual({
      'ratelimit-policy': '"mails an hour";q=20;w=3600',
      ratelimit: '"mails an hour";r=0;t=3600',
      'retry-after': '181',
    });
  });

  it('have no time to repeat a step that passes, though a control observed that its limit is reached', () => {
    expect(headersOf([LIMIT], [match(7, 'observe')])).not.toHaveProperty('retry-after');
    expect(headersOf([LIMIT])).not.toHaveProperty('retry-after');
  });

  it('have the longest time of the controls that stop a step, and none if time does not help one of them', () => {
    const longer = { ...LIMIT, controlId: 8, retryAfterUs: 500_000_000 };
    const both = [match(7, 'deny'), match(8, 'steer')];
    expect(headersOf([LIMIT, longer], both)['retry-after']).toBe('500');
    expect(headersOf([LIMIT, { ...longer, retryAfterUs: null }], both)).not.toHaveProperty('retry-after');
    expect(headersOf([LIMIT], both)).not.toHaveProperty('retry-after');
  });

  it('have whole numbers within the range of structured fields, and no absent times', () => {
    const bare = { ...LIMIT, resetsAfterUs: null, windowUs: null, controlName: 'b' };
    expect(headersOf([{ ...bare, limit: 2.9, remaining: 0.9 }])).toEqual({
      'ratelimit-policy': '"b";q=2',
      ratelimit: '"b";r=0',
    });
    const huge = { ...bare, limit: Number.MAX_VALUE, remaining: 1e300 };
    expect(headersOf([huge])['ratelimit-policy']).toBe('"b";q=999999999999999');
  });

  it('name a control with other characters than ASCII by its id, and escape quotes', () => {
    expect(headersOf([{ ...LIMIT, controlName: 'Zürich' }]).ratelimit).toBe('"control-7";r=0;t=3600');
    expect(headersOf([{ ...LIMIT, controlName: 'a "b" \\' }]).ratelimit).toBe('"a \\"b\\" \\\\";r=0;t=3600');
  });

  it('leave out limits that were not applied', () => {
    const skipped = { ...LIMIT, degraded: 'missing_key' } as const;
    const away = { ...LIMIT, degraded: 'store_unavailable' } as const;
    expect(headersOf([skipped, away])).toEqual({});
    const local = { ...LIMIT, controlName: 'local', degraded: 'local' } as const;
    expect(headersOf([skipped, local]).ratelimit).toBe('"local";r=0;t=3600');
  });
});

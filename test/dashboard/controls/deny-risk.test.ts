import { describe, expect, it } from 'vitest';
import { denyRisk } from '../../../packages/dashboard/src/control-parts/deny-risk.js';

const control = (decision: string, scope: object = {}, enabled = true) =>
  ({ enabled, action: { decision }, scope }) as never;

describe('a change of a control', () => {
  it('is asked about if it denies what was not denied before', () => {
    expect(denyRisk(null, control('deny'))).toBe('new');
    expect(denyRisk(control('observe'), control('deny'))).toBe('observe');
    expect(denyRisk(control('steer'), control('deny'))).toBe('steer');
    expect(denyRisk(control('deny', {}, false), control('deny'))).toBe('off');
    expect(denyRisk({}, control('deny'))).toBe('new');
  });

  it('is not asked about if it denies nothing, or no more than before', () => {
    expect(denyRisk(null, control('observe'))).toBeNull();
    expect(denyRisk(control('observe'), control('deny', {}, false))).toBeNull();
    expect(denyRisk(control('deny'), control('steer'))).toBeNull();
    expect(denyRisk(control('deny'), control('deny'))).toBeNull();
    expect(denyRisk(control('deny'), control('deny', { step_types: ['tool'] }))).toBeNull();
  });

  it.each([
    [{ step_types: ['tool'] }, {}, 'scope'],
    [{ step_types: ['tool'] }, { step_types: ['tool', 'llm'] }, 'scope'],
    [{ step_types: ['tool', 'llm'] }, { step_types: ['llm'] }, null],
    [{ stages: ['pre'] }, { stages: ['pre', 'post'] }, 'scope'],
    [{ step_names: ['a'] }, { step_names: ['a'], step_name_regex: '^b' }, 'scope'],
    [{ step_names: ['a'], step_name_regex: '^b' }, { step_names: ['a'] }, null],
    [{ step_name_regex: '^a' }, { step_name_regex: '^b' }, 'scope'],
    [{ step_name_regex: '^a' }, { step_name_regex: '' }, 'scope'],
    [{}, { step_name_regex: '^a' }, null],
  ])('widens a scope: from %j to %j', (before, after, risk) => {
    expect(denyRisk(control('deny', before), control('deny', after))).toBe(risk);
  });
});

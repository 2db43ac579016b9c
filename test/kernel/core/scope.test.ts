import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import { compilePattern } from '../../../packages/linear-text/src/index.js';
import type { ControlFailure } from './compile-program.js';
import { aDefinition, aLeaf, aProgram, aStep, idsOf, verdictOf } from './support.js';

const always = aLeaf('regex', { pattern: '' });
const scoped = (scope: JsonObject) => aDefinition(always, 'deny', { scope });
const takesPart = (scope: JsonObject, step = aStep(), stage: 'pre' | 'post' = 'pre') =>
  verdictOf([scoped(scope)], step, { stage }).matches.length === 1;

const stage = fc.constantFrom('pre' as const, 'post' as const);
const type = fc.constantFrom('tool', 'llm', 'agent');
const name = fc.constantFrom('search', 'send_mail', 'Search', 'toString', 'm');
const pattern = fc.constantFrom('', '^s', 'mail', 'm$', '(?i)^SEARCH$', 'x');
const some = <T>(item: fc.Arbitrary<T>) => fc.option(fc.array(item, { minLength: 1, maxLength: 3 }));

describe('scope', () => {
  it('needs stage and type and one of name and pattern', () => {
    fc.assert(
      fc.property(
        fc.record({
          stages: some(stage),
          step_types: some(type),
          step_names: some(name),
          step_name_regex: fc.option(pattern),
        }),
        stage,
        type,
        name,
        (scope, at, stepType, stepName) => {
          const { stages, step_types, step_names, step_name_regex } = scope;
          const inNames = step_names?.includes(stepName) ?? false;
          const inPattern = step_name_regex ? compilePattern(step_name_regex).test(stepName) : false;
          const expected =
            (stages?.includes(at) ?? true) &&
            (step_types?.includes(stepType) ?? true) &&
            ((step_names === null && !step_name_regex) || inNames || inPattern);
          expect(takesPart(scope, aStep({ type: stepType, name: stepName }), at)).toBe(expected);
        },
      ),
    );
  });

  it('selects every step when it is absent or empty', () => {
    expect(verdictOf([aDefinition(always)]).matches).toHaveLength(1);
    expect(takesPart({})).toBe(true);
  });

  it('searches the pattern anywhere in the name', () => {
    expect(takesPart({ step_name_regex: 'ear' })).toBe(true);
    expect(takesPart({ step_name_regex: '^ear' })).toBe(false);
  });

  it.each([
    ['enabled', { enabled: false }],
    ['execution', { execution: 'sdk' }],
  ])('does not evaluate controls that are excluded by %s', (_member, more) => {
    const verdict = verdictOf([aDefinition(always, 'deny', more)]);
    expect(verdict).toMatchObject({ is_safe: true, confidence: 1, matches: [], errors: [], non_matches: [] });
  });
});

describe('an invalid stored step name pattern', () => {
  const broken = { step_name_regex: '(', step_types: ['tool'], step_names: ['named'], stages: ['pre'] };

  it('makes a deny control an error that leaves no confidence', () => {
    const verdict = verdictOf([scoped(broken)]);
    expect(verdict).toMatchObject({ is_safe: false, confidence: 0, matches: [], non_matches: [] });
    expect(verdict.errors).toMatchObject([
      {
        control_id: 1,
        action: 'deny',
        result: { matched: false, confidence: 0, error: 'Invalid step name regex', metadata: null },
      },
    ]);
    expect(verdict.errors[0]?.result.message).toBe('Invalid step name regex');
    expect(verdict.reason).toContain('control-1');
  });

  it.each(['steer', 'observe'] as const)('leaves the step safe for %s', (decision) => {
    const verdict = verdictOf([aDefinition(always, decision, { scope: broken })]);
    expect(verdict).toMatchObject({ is_safe: true, confidence: 0, reason: null });
    expect(verdict.errors).toHaveLength(1);
  });

  it('is not reached when stage, type or an exact name have already decided', () => {
    expect(verdictOf([scoped(broken)], aStep(), { stage: 'post' }).errors).toEqual([]);
    expect(verdictOf([scoped(broken)], aStep({ type: 'llm' })).errors).toEqual([]);
    expect(verdictOf([scoped(broken)], aStep({ name: 'named' }))).toMatchObject({
      errors: [],
      matches: [{ control_id: 1 }],
    });
  });

  it('comes first in errors', () => {
    const observe = { scope: { step_name_regex: '(' } };
    const unknown = aLeaf('not-installed');
    const verdict = verdictOf([
      aDefinition(always, 'observe', observe),
      aDefinition(unknown, 'observe'),
      aDefinition(always, 'observe', observe),
    ]);
    expect(idsOf(verdict.errors)).toEqual([3, 1, 2]);
  });

  it('is an error too when finding out about a name would cost too much', () => {
    const scope = { step_name_regex: '(?:[ab]*a[ab]{18}){50}[cd]' };
    // Without a period, so that the search learns something new at every character.
    let state = 1;
    const name = `c${Array.from({ length: 100_000 }, () => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return state & 0x10000 ? 'a' : 'b';
    }).join('')}`;
    const failures: ControlFailure[] = [];
    const program = aProgram([scoped(scope)], [], { onFailure: (failure) => failures.push(failure) });
    const verdict = program.evaluate(aStep({ name }), 'pre', 'verdict');
    expect(verdict).toMatchObject({ is_safe: false, errors: [{ control_id: 1 }] });
    expect(failures).toMatchObject([
      { controlId: 1, problem: expect.stringContaining('step_name_regex cannot be searched') },
    ]);
  });
});

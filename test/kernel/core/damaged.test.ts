import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../packages/exact-json/src/index.js';
import { MAX_CONDITION_DEPTH, MAX_CONDITION_NODES } from '../../../src/kernel/core/condition-view.js';
import type { ControlFailure } from './compile-program.js';
import { aDefinition, aLeaf, aProgram, aStep, verdictOf } from './support.js';

const leaf = aLeaf('regex', { pattern: 'x' });
const sound = (): JsonObject => aDefinition(leaf, 'observe');
const changed = (members: JsonObject): JsonObject => ({ ...sound(), ...members });
const deepNot = (depth: number): JsonObject => (depth === 1 ? leaf : { not: deepNot(depth - 1) });

/** Damaged definitions that still say readably that they are `observe`. */
const DAMAGED: readonly (readonly [string, JsonObject])[] = [
  ['enabled is null', changed({ enabled: null })],
  ['enabled is a text', changed({ enabled: 'yes' })],
  ['execution is unknown', changed({ execution: 'edge' })],
  ['execution is missing', { condition: leaf, action: { decision: 'observe' } }],
  ['condition is missing', { execution: 'server', action: { decision: 'observe' } }],
  ['condition is a list', changed({ condition: [leaf] })],
  ['condition is empty', changed({ condition: {} })],
  ['condition has two kinds', changed({ condition: { ...leaf, not: leaf } })],
  ['condition has and beside or', changed({ condition: { and: [leaf], or: [leaf] } })],
  ['condition has and twice', changed({ condition: { and: [leaf], and_: [leaf] } })],
  ['and is empty', changed({ condition: { and: [] } })],
  ['or is an object', changed({ condition: { or: leaf } })],
  ['not is a list', changed({ condition: { not: [leaf] } })],
  ['a child is null', changed({ condition: { and: [leaf, null] } })],
  ['a leaf has no evaluator', changed({ condition: { selector: { path: 'input' } } })],
  [
    'a leaf has no selector',
    changed({ condition: { evaluator: { name: 'regex', config: { pattern: '' } } } }),
  ],
  ['the selector path is unknown', changed({ condition: aLeaf('regex', { pattern: '' }, 'inputs') })],
  ['the selector path is empty', changed({ condition: aLeaf('regex', { pattern: '' }, '') })],
  ['the evaluator name is blank', changed({ condition: aLeaf(' ') })],
  ['the evaluator has no config', changed({ condition: { selector: {}, evaluator: { name: 'regex' } } })],
  ['the evaluator refuses its config', changed({ condition: aLeaf('regex', { pattern: '(' }) })],
  ['the evaluator misses a member', changed({ condition: aLeaf('list', {}) })],
  ['the tree is too deep', changed({ condition: deepNot(MAX_CONDITION_DEPTH + 1) })],
  ['the tree is far too deep', changed({ condition: deepNot(5_000) })],
  ['the tree is too wide', changed({ condition: { or: new Array(MAX_CONDITION_NODES).fill(leaf) } })],
  ['only a selector of the older form', { ...sound(), condition: null, selector: { path: '*' } }],
  ['condition beside the older form', { ...sound(), ...leaf }],
  ['condition beside a selector', changed({ selector: { path: '*' } })],
  ['condition beside an evaluator', changed({ evaluator: { name: 'regex', config: { pattern: 'x' } } })],
  ['the description is a number', changed({ description: 5 })],
  ['the tags hold a number', changed({ tags: [1] })],
  ['the template is a text', changed({ template: 'x' })],
];

describe('a damaged stored control', () => {
  it.each(DAMAGED)('is an error: %s', (_case, definition) => {
    const verdict = verdictOf([definition]);
    expect(verdict).toMatchObject({
      is_safe: true,
      confidence: 0,
      matches: [],
      non_matches: [],
      reason: null,
    });
    expect(verdict.errors).toMatchObject([
      {
        control_id: 1,
        control_name: 'control-1',
        action: 'observe',
        result: { matched: false, confidence: 0, metadata: null, error: 'Internal evaluator error' },
      },
    ]);
  });

  it.each(DAMAGED)('fails closed for deny: %s', (_case, definition) => {
    const verdict = verdictOf([{ ...definition, action: { decision: 'deny' } }]);
    expect(verdict).toMatchObject({ is_safe: false, confidence: 0, errors: [{ action: 'deny' }] });
    expect(verdict.reason).toContain('control-1');
  });

  it.each<[string, JsonValue]>([
    ['null', null],
    ['empty', {}],
    ['a text', 'definition'],
    ['a list', []],
    ['action is missing', { execution: 'server', condition: leaf }],
    ['action is null', changed({ action: null })],
    ['decision is unknown', changed({ action: { decision: 'block' } })],
    ['decision has another case', changed({ action: { decision: 'Deny' } })],
    ['decision is of an older kind', changed({ action: { decision: 'warn' } })],
  ])('fails closed when its decision cannot be read: %s', (_case, definition) => {
    expect(verdictOf([definition])).toMatchObject({
      is_safe: false,
      confidence: 0,
      errors: [{ control_id: 1, action: 'deny', steering_context: null }],
    });
  });

  it.each<[string, JsonObject]>([
    ['steering_context is a text', { decision: 'steer', steering_context: 'go' }],
    ['steering_context has no message', { decision: 'steer', steering_context: {} }],
    [
      'required_actions hold a number',
      { decision: 'steer', steering_context: { message: 'm', required_actions: [1] } },
    ],
    ['metadata is a list', { decision: 'steer', metadata: [] }],
  ])('is an error when %s', (_case, action) => {
    expect(verdictOf([{ ...sound(), action }]).errors).toMatchObject([{ action: 'steer' }]);
  });

  it('is an error when a composite steer control has no guidance', () => {
    expect(verdictOf([aDefinition({ not: leaf }, 'steer')]).errors).toHaveLength(1);
    expect(verdictOf([aDefinition(leaf, 'steer')]).errors).toEqual([]);
  });

  it('keeps guidance that can be read', () => {
    const context = { message: 'ask first', required_actions: ['approval'] };
    const definition = {
      ...changed({ condition: null }),
      action: { decision: 'steer', steering_context: context },
    };
    expect(verdictOf([definition]).errors[0]?.steering_context).toEqual(context);
  });

  it('looks only at the steps of its scope, when that can be read', () => {
    const scope = { step_types: ['llm'], stages: ['post'], step_names: ['a'] };
    const definition = changed({ condition: null, scope });
    const program = aProgram([definition]);
    const errorsFor = (type: string, name: string, stage: 'pre' | 'post') =>
      (program.evaluate(aStep({ type, name }), stage, 'verdict') as { errors: unknown[] }).errors.length;
    expect(errorsFor('llm', 'a', 'post')).toBe(1);
    expect([
      errorsFor('tool', 'a', 'post'),
      errorsFor('llm', 'b', 'post'),
      errorsFor('llm', 'a', 'pre'),
    ]).toEqual([0, 0, 0]);
  });

  it.each<[string, JsonValue]>([
    ['null', null],
    ['a list', []],
    ['stages are empty', { stages: [] }],
    ['a stage is unknown', { stages: ['post', 'during'] }],
    ['stages are a text', { stages: 'post' }],
    ['types are empty', { step_types: [] }],
    ['a type is empty', { step_types: [''] }],
    ['a name is a number', { step_names: [1], step_types: ['llm'] }],
    ['the pattern is a number', { step_name_regex: 1, stages: ['post'] }],
  ])('looks at every step when its scope cannot be read: %s', (_case, scope) => {
    for (const stage of ['pre', 'post'] as const) {
      const verdict = verdictOf([changed({ scope })], aStep(), { stage });
      expect(verdict.errors).toMatchObject([{ control_id: 1 }]);
    }
  });

  it.each<[string, JsonObject]>([
    ['disabled', { enabled: false }],
    ['evaluated by the client', { execution: 'sdk' }],
  ])('takes no part when it is readably %s', (_case, member) => {
    expect(verdictOf([{ ...member, condition: 5, action: 7, scope: 9 }])).toMatchObject({
      is_safe: true,
      confidence: 1,
      errors: [],
    });
  });

  it('does not keep other controls from being evaluated', () => {
    const verdict = verdictOf([
      aDefinition(aLeaf('regex', { pattern: 'hello' })),
      changed({ condition: null }),
    ]);
    expect(verdict).toMatchObject({ is_safe: false, confidence: 1 });
    expect([verdict.matches.length, verdict.errors.length]).toEqual([1, 1]);
  });

  it('is reported once, when it is compiled', () => {
    const failures: ControlFailure[] = [];
    const program = aProgram([changed({ condition: null })], [], {
      onFailure: (failure) => failures.push(failure),
    });
    void program.evaluate(aStep(), 'pre', 'full');
    void program.evaluate(aStep(), 'pre', 'full');
    expect(failures).toMatchObject([{ controlId: 1, controlName: 'control-1' }]);
    expect(failures[0]?.problem).toContain('damaged');
  });

  it('never makes compiling or evaluating throw, whatever is stored', () => {
    const names = [
      'execution',
      'enabled',
      'scope',
      'condition',
      'action',
      'selector',
      'evaluator',
      'and',
      'not',
    ];
    const junk = fc.dictionary(fc.constantFrom(...names), fc.jsonValue());
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), junk), (stored) => {
        const verdict = verdictOf([stored as JsonValue]);
        const skipped = verdict.errors.length === 0;
        expect(verdict.is_safe).toBe(skipped);
      }),
    );
  });
});

describe('a stored definition', () => {
  const matches = (definition: JsonObject) => verdictOf([definition]).matches.length;
  const hello = aLeaf('regex', { pattern: 'hello' });

  it('may have the older form, a selector and an evaluator at the top', () => {
    expect(matches({ execution: 'server', ...hello, action: { decision: 'deny' } })).toBe(1);
    expect(matches({ execution: 'server', condition: null, ...hello, action: { decision: 'deny' } })).toBe(1);
  });

  it('may use the member names that end in an underscore', () => {
    expect(
      matches(aDefinition({ and_: [{ or_: [hello] }, { not_: aLeaf('regex', { pattern: 'zz' }) }] })),
    ).toBe(1);
  });

  it('may be as deep as the limit', () => {
    const verdict = verdictOf([aDefinition(deepNot(MAX_CONDITION_DEPTH))]);
    expect(verdict.errors).toEqual([]);
  });

  it('may leave out enabled and scope, hold nulls for absent members, and have blanks around a name', () => {
    expect(
      matches({
        execution: 'server',
        description: null,
        tags: null,
        scope: { stages: null, step_types: null, step_names: null, step_name_regex: null },
        condition: {
          selector: { path: null },
          evaluator: { name: ' regex ', config: { pattern: 'hello' }, metadata: null },
          and: null,
          or: null,
          not: null,
        },
        action: { decision: 'deny', steering_context: null, metadata: null },
        template: null,
        template_values: null,
      }),
    ).toBe(1);
  });

  it('may have members unknown to the service', () => {
    expect(matches({ ...aDefinition(hello), origin: 'import', action: { decision: 'deny', note: 1 } })).toBe(
      1,
    );
  });
});

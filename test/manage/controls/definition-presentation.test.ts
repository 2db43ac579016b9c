import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type JsonObject,
  type JsonValue,
  MAX_JSON_DEPTH,
  parseStoredJson,
  stringifyJson,
} from '../../../packages/exact-json/src/index.js';
import { parseInput } from '../../../src/contract/input/parse-input.js';
import { MAX_CONDITION_DEPTH } from '../../../src/kernel/core/condition-view.js';
import type { ControlDefinition } from '../../../src/manage/controls/definition/definition.js';
import { evaluatorNames } from '../../../src/manage/controls/definition/definition.js';
import { definitionIndex } from '../../../src/manage/controls/definition-index.js';
import {
  presentDefinition,
  readStoredDefinition,
  withDataPrefix,
} from '../../../src/manage/controls/definition-presentation.js';
import { createDefinitionSchema } from '../../../src/manage/controls/definition-schema.js';
import { serviceRegistry } from '../../support/evaluators.js';

const registry = serviceRegistry;
const schema = createDefinitionSchema(registry);
const normalise = (data: JsonValue): ControlDefinition => parseInput(schema, data);

const leaf = { selector: {}, evaluator: { name: 'regex', config: { pattern: 'x' } } };
const minimal = { condition: leaf, execution: 'server', action: { decision: 'deny' } };

describe('a stored definition', () => {
  it('is printed with every member in order and defaults filled in', () => {
    const read = readStoredDefinition(stringifyJson(normalise(minimal)), registry);
    if (!read.ok) throw new Error('the definition was not read');
    const node = { selector: { path: '*' }, evaluator: { ...leaf.evaluator, metadata: null } };
    const expected = {
      condition: { ...node, and: null, or: null, not: null },
      description: null,
      enabled: true,
      execution: 'server',
      scope: { step_types: null, step_names: null, step_name_regex: null, stages: null },
      action: { decision: 'deny', steering_context: null, metadata: null },
      tags: [],
      template: null,
      template_values: null,
    };
    expect(JSON.stringify(read.definition)).toBe(JSON.stringify(expected));
    expect(read.stored).toStrictEqual({ ...minimal, enabled: true });
  });

  it('prints composites with their one form', () => {
    const condition = { and: [leaf, { not: { or: [leaf] } }] };
    const printed = presentDefinition(normalise({ ...minimal, condition })).condition;
    expect(Object.keys(printed)).toEqual(['selector', 'evaluator', 'and', 'or', 'not']);
    expect(printed.and?.[1]?.not?.or).toHaveLength(1);
    expect(printed.selector).toBeNull();
  });

  it('leaves free-form objects untouched', () => {
    const config = { values: ['a'], z: null, a: { b: [null, 12345678901234567890n] } };
    const condition = { selector: {}, evaluator: { name: 'list', config } };
    const action = { decision: 'deny', metadata: { x: null } };
    const read = readStoredDefinition(stringifyJson({ ...minimal, condition, action }), registry);
    expect(read).toMatchObject({ ok: true, definition: { condition: { evaluator: { config } }, action } });
  });

  it('may have the older flat shape', () => {
    const { condition, ...rest } = minimal;
    const read = readStoredDefinition(JSON.stringify({ ...rest, ...condition }), registry);
    expect(read).toMatchObject({ ok: true, stored: { condition: leaf } });
  });

  it('is read back when its free-form objects are as deep as they may be', () => {
    let config: JsonObject = {};
    for (let level = 1; level < MAX_JSON_DEPTH; level += 1) config = { a: config };
    let condition: JsonObject = { selector: {}, evaluator: { name: 'unknown', config } };
    for (let level = 1; level < MAX_CONDITION_DEPTH; level += 1) condition = { and: [condition] };
    const text = stringifyJson(normalise({ ...minimal, condition }));
    expect(readStoredDefinition(text, registry).ok).toBe(true);
  });

  it.each<[string, string, [string | undefined, string][]]>([
    ['no JSON', '{"condition"', [[undefined, 'corrupted_data']]],
    ['empty', '', [[undefined, 'corrupted_data']]],
    [
      'an empty object',
      '{}',
      [
        ['condition', 'missing'],
        ['execution', 'missing'],
        ['action', 'missing'],
      ],
    ],
    [
      'a decision of old',
      JSON.stringify({ ...minimal, action: { decision: 'warn' } }),
      [['action.decision', 'value_error']],
    ],
    [
      'a configuration its evaluator rejects',
      JSON.stringify({ ...minimal, condition: { selector: {}, evaluator: { name: 'regex', config: {} } } }),
      [['condition.evaluator.pattern', 'missing']],
    ],
    [
      'a broken rule of the whole',
      JSON.stringify({ ...minimal, template_values: {} }),
      [[undefined, 'value_error']],
    ],
  ])('that is damaged (%s) gives items about the control', (_name, text, expected) => {
    const read = readStoredDefinition(text, registry);
    if (read.ok) throw new Error('the definition was read');
    expect(read.items.map(({ field, code }) => [field, code])).toEqual(expected);
    expect(read.items.every(({ resource }) => resource === 'Control')).toBe(true);
    const prefixed = expected.map(([field]) => (field === undefined ? 'data' : `data.${field}`));
    expect(withDataPrefix(read.items).map(({ field }) => field)).toEqual(prefixed);
  });
});

describe('the index of a definition', () => {
  it('has each facet once', () => {
    const scope = {
      step_types: ['tool', 'llm', 'tool'],
      step_names: ['x'],
      step_name_regex: '^a"',
      stages: ['pre', 'pre'],
    };
    const definition = normalise({
      ...minimal,
      enabled: false,
      execution: 'sdk',
      scope,
      tags: ['a', 'tool', 'a'],
    });
    expect(definitionIndex(definition)).toEqual({
      enabled: false,
      execution: 'sdk',
      templateBacked: false,
      templateRendered: null,
      restrictsStepTypes: true,
      restrictsStages: true,
      stepNamePattern: '"^a\\""',
      facets: [
        { kind: 'step_type', value: 'tool' },
        { kind: 'step_type', value: 'llm' },
        { kind: 'stage', value: 'pre' },
        { kind: 'tag', value: 'a' },
        { kind: 'tag', value: 'tool' },
        { kind: 'step_name', value: 'x' },
        { kind: 'decision', value: 'deny' },
      ],
    });
  });
  it('shows when nothing is restricted', () => {
    const index = definitionIndex(normalise({ ...minimal, scope: { step_types: null } }));
    expect(index).toMatchObject({
      restrictsStepTypes: false,
      restrictsStages: false,
      stepNamePattern: null,
      facets: [{ kind: 'decision' }],
    });
  });
});

it('names the evaluators of a definition once each', () => {
  const named = (name: string) => ({ selector: {}, evaluator: { name, config: {} } });
  const condition = { or: [named('b'), { not: named('a:x') }, { and: [named('b')] }] };
  expect(evaluatorNames(normalise({ ...minimal, condition }))).toEqual(['b', 'a:x']);
});

/** Valid definitions, sent in any of the accepted ways. */
const orNull = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });
const optional = <T>(members: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(members, { requiredKeys: [] });
const freeJson = fc
  .dictionary(fc.oneof(fc.string(), fc.constant('__proto__')), fc.jsonValue(), { noNullPrototype: true })
  // As the service reads it: JSON knows no -0, and integers beyond 2^53 are bigints.
  .map((value) => parseStoredJson(JSON.stringify(value)) as JsonObject);
const texts = fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 3 });
const leafArbitrary = fc.record(
  {
    selector: optional({ path: orNull(fc.constantFrom('*', 'input', 'input.a', 'context.')) }),
    evaluator: fc.oneof(
      fc.record({ name: fc.constant(' acme '), config: freeJson, metadata: orNull(freeJson) }),
      fc.record({
        name: fc.constant('list'),
        config: fc.record({ values: fc.array(fc.integer()) }, { noNullPrototype: true }),
      }),
    ),
    and: fc.constant(null),
    surplus: fc.jsonValue(),
  },
  { requiredKeys: ['selector', 'evaluator'] },
);
const conditionArbitrary = fc.letrec((tie) => ({
  node: fc.oneof({ maxDepth: 3, depthIdentifier: 'node' }, leafArbitrary, tie('composite')),
  composite: fc.oneof(
    fc.record({ and: fc.array(tie('node'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ or_: fc.array(tie('node'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ not_: tie('node') }),
  ),
})).node;
const definitionArbitrary = fc.record(
  {
    condition: conditionArbitrary,
    description: orNull(fc.string()),
    enabled: fc.constantFrom(true, false, 1, 'off'),
    execution: fc.constantFrom('server', 'sdk'),
    scope: optional({
      step_types: orNull(texts),
      step_names: orNull(texts),
      step_name_regex: orNull(fc.constantFrom('', '^a+$')),
      stages: orNull(fc.constant(['post'])),
    }),
    action: fc.record(
      {
        decision: fc.constantFrom('deny', 'steer', 'observe'),
        steering_context: fc.record({ message: fc.string(), required_actions: orNull(texts) }),
        metadata: orNull(freeJson),
      },
      { requiredKeys: ['decision', 'steering_context'] },
    ),
    tags: fc.array(fc.string()),
  },
  { requiredKeys: ['condition', 'execution', 'action'] },
);

describe('laws', () => {
  it('what is printed can be sent again and prints the same', () => {
    fc.assert(
      fc.property(definitionArbitrary, (sent) => {
        const printed = presentDefinition(normalise(sent as JsonValue));
        expect(presentDefinition(normalise(printed))).toStrictEqual(printed);
      }),
    );
  });
  it('what is stored is its own normal form and survives being stored', () => {
    fc.assert(
      fc.property(definitionArbitrary, (sent) => {
        const definition = normalise(sent as JsonValue);
        expect(normalise(definition)).toStrictEqual(definition);
        // Whole numbers beyond 2^53 - 1 are read as bigint, so texts are compared.
        const stored = stringifyJson(definition);
        expect(stringifyJson(normalise(parseStoredJson(stored)))).toBe(stored);
      }),
    );
  });
  it('any JSON at all is a definition or has problems, and never breaks the reader', () => {
    const key = fc.constantFrom(
      ...[
        'condition',
        'and',
        'or',
        'not',
        'and_',
        'selector',
        'evaluator',
        'path',
        'name',
        'config',
        'action',
      ],
      ...['decision', 'execution', 'scope', 'tags', 'stages', 'template', '__proto__', 'constructor'],
    );
    const hostile = fc.letrec<{ value: JsonValue }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 5 },
        fc.constantFrom<JsonValue>(null, true, 0, '', 'input', 'deny', 'server', 'regex', 10n ** 30n),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(key, tie('value'), { maxKeys: 5, noNullPrototype: true }),
      ),
    })).value;
    fc.assert(
      fc.property(hostile, (value) => {
        const read = schema.safeParse(value, { reportInput: true });
        expect(read.success || read.error.issues.length > 0).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });
});

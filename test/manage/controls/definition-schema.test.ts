import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  type JsonObject,
  type JsonValue,
  MAX_JSON_DEPTH,
  parseJson,
} from '../../../packages/exact-json/src/index.js';
import { inputItems } from '../../../src/contract/input/parse-input.js';
import { MAX_CONDITION_DEPTH, MAX_CONDITION_NODES } from '../../../src/kernel/core/condition-view.js';
import { createRegistry } from '../../../src/kernel/evaluators/load-evaluators.js';
import type { ControlDefinition } from '../../../src/manage/controls/definition/definition.js';
import { createDefinitionSchema } from '../../../src/manage/controls/definition-schema.js';
import { definitionWarnings } from '../../../src/manage/controls/definition-warnings/definition-warnings.js';
import { serviceEvaluators, serviceRegistry } from '../../support/evaluators.js';

const registry = serviceRegistry;
const schema = createDefinitionSchema(registry);
const request = z.object({ data: schema });

const leaf = { selector: { path: 'input' }, evaluator: { name: 'regex', config: { pattern: 'x' } } };
const minimal = { condition: leaf, execution: 'server', action: { decision: 'deny' } };

const withCondition = (condition: JsonValue): JsonObject => ({ ...minimal, condition });
const withScope = (scope: JsonValue): JsonObject => ({ ...minimal, scope });
const withAction = (action: JsonValue): JsonObject => ({ ...minimal, action });
const withEvaluator = (evaluator: JsonValue): JsonObject => withCondition({ selector: {}, evaluator });

/** Problems of a definition as `field code`, in order. */
function problems(data: JsonValue | undefined): string[] {
  const { items } = inputItems(request, data === undefined ? {} : { data });
  return items.map(({ resource, field, code }) => {
    expect(resource).toBe('Control');
    return `${field} ${code}`;
  });
}

function stored(data: JsonValue): ControlDefinition {
  const { value, items } = inputItems(schema, data);
  expect(items).toEqual([]);
  if (value === undefined) throw new Error('no definition was read');
  return value;
}

/** A condition of `depth` levels. */
function nestedNot(depth: number): JsonObject {
  let node: JsonObject = leaf;
  for (let level = 1; level < depth; level += 1) node = { not: node };
  return node;
}

function nestedObject(levels: number): JsonObject {
  let value: JsonObject = {};
  for (let level = 1; level < levels; level += 1) value = { a: value };
  return value;
}

describe('a definition', () => {
  it.each<[string, JsonValue | undefined, string[]]>([
    ['missing', undefined, ['data missing']],
    ...[null, 'x', [], 5, true].map((value): [string, JsonValue, string[]] => [
      `that is ${JSON.stringify(value)}`,
      value,
      ['data.ControlDefinition model_attributes_type', 'data.TemplateControlInput model_attributes_type'],
    ]),
    ['{}', {}, ['data.condition missing', 'data.execution missing', 'data.action missing']],
    [
      'with a null template only',
      { template: null },
      ['data.condition missing', 'data.execution missing', 'data.action missing'],
    ],
    ['with a template', { template: {} }, ['data value_error']],
    ['with a template and values', { template: {}, template_values: {} }, ['data value_error']],
    [
      'with template values that are none',
      { ...minimal, template_values: [] },
      ['data.template_values dict_type'],
    ],
    ['with template values alone', { ...minimal, template_values: {} }, ['data value_error']],
    ['description of a number', { ...minimal, description: 5 }, ['data.description string_type']],
    ['enabled null', { ...minimal, enabled: null }, ['data.enabled bool_type']],
    ['enabled of another word', { ...minimal, enabled: 'maybe' }, ['data.enabled bool_parsing']],
    ['execution of another word', { ...minimal, execution: 'Server' }, ['data.execution literal_error']],
    ['execution null', { ...minimal, execution: null }, ['data.execution literal_error']],
    ['tags null', { ...minimal, tags: null }, ['data.tags list_type']],
    [
      'tags with a number',
      { ...minimal, tags: ['a', 1, null] },
      ['data.tags[1] string_type', 'data.tags[2] string_type'],
    ],
    ['scope null', withScope(null), ['data.scope model_type']],
    ['scope of a list', withScope([]), ['data.scope model_type']],
    ['empty step_types', withScope({ step_types: [] }), ['data.scope.step_types value_error']],
    [
      'empty text in step_types',
      withScope({ step_types: ['tool', ''] }),
      ['data.scope.step_types value_error'],
    ],
    ['number in step_types', withScope({ step_types: ['', 5] }), ['data.scope.step_types[1] string_type']],
    ['step_types of a text', withScope({ step_types: 'tool' }), ['data.scope.step_types list_type']],
    ['empty step_names', withScope({ step_names: [] }), ['data.scope.step_names value_error']],
    ['empty text in step_names', withScope({ step_names: [''] }), ['data.scope.step_names value_error']],
    ['invalid regex', withScope({ step_name_regex: '(' }), ['data.scope.step_name_regex value_error']],
    ['regex of a number', withScope({ step_name_regex: 5 }), ['data.scope.step_name_regex string_type']],
    ['empty stages', withScope({ stages: [] }), ['data.scope.stages value_error']],
    ['unknown stage', withScope({ stages: ['during', 'pre'] }), ['data.scope.stages[0] literal_error']],
    ['action null', withAction(null), ['data.action model_type']],
    ['action without decision', withAction({}), ['data.action.decision missing']],
    ...['allow', 'warn', 'log', 'Deny', null, 5].map((decision): [string, JsonValue, string[]] => [
      `decision ${decision}`,
      withAction({ decision }),
      ['data.action.decision value_error'],
    ]),
    [
      'steering context of a text',
      withAction({ decision: 'deny', steering_context: 'x' }),
      ['data.action.steering_context model_type'],
    ],
    [
      'steering context without message',
      withAction({ decision: 'deny', steering_context: {} }),
      ['data.action.steering_context.message missing'],
    ],
    [
      'steering context with wrong actions',
      withAction({ decision: 'deny', steering_context: { message: 'm', required_actions: [1] } }),
      ['data.action.steering_context.required_actions[0] string_type'],
    ],
    [
      'action metadata of a list',
      withAction({ decision: 'deny', metadata: [] }),
      ['data.action.metadata dict_type'],
    ],
  ])('%s is judged by its own rule', (_name, data, expected) => {
    expect(problems(data)).toEqual(expected);
  });

  it('has its problems reported in the order of its members', () => {
    const data = {
      tags: 1,
      action: {},
      scope: { stages: [], step_types: 1 },
      execution: 1,
      enabled: [],
      description: 1,
      condition: { selector: { path: '' }, evaluator: {} },
    };
    expect(problems(data)).toEqual([
      'data.condition.selector.path value_error',
      'data.condition.evaluator.name missing',
      'data.condition.evaluator.config missing',
      'data.description string_type',
      'data.enabled bool_type',
      'data.execution literal_error',
      'data.scope.step_types list_type',
      'data.scope.stages value_error',
      'data.action.decision missing',
      'data.tags list_type',
    ]);
  });

  it('needs steering_context only for steer on a composite', () => {
    const composite = { and: [leaf] };
    const steer = (condition: JsonValue, more: JsonObject = {}) => ({
      ...minimal,
      condition,
      action: { decision: 'steer', ...more },
    });
    expect(problems(steer(composite))).toEqual(['data value_error']);
    expect(problems(steer(composite, { steering_context: null }))).toEqual(['data value_error']);
    expect(problems(steer(leaf))).toEqual([]);
    expect(problems(steer(composite, { steering_context: { message: 'm' } }))).toEqual([]);
    expect(problems(withCondition(composite))).toEqual([]);
  });
});

describe('a condition node', () => {
  it.each<[string, JsonValue, string[]]>([
    ['null', null, ['data.condition model_type']],
    ['a list', [], ['data.condition model_type']],
    ['without a form', {}, ['data.condition value_error']],
    [
      'with null forms',
      { and: null, or: null, not: null, selector: null, evaluator: null },
      ['data.condition value_error'],
    ],
    ['selector alone', { selector: {} }, ['data.condition value_error']],
    ['evaluator alone', { evaluator: leaf.evaluator }, ['data.condition value_error']],
    ['leaf and composite', { ...leaf, and: [leaf] }, ['data.condition value_error']],
    ['and with or', { and: [leaf], or: [leaf] }, ['data.condition value_error']],
    ['and twice', { and: [leaf], and_: [leaf] }, ['data.condition value_error']],
    ['leaf with an empty list', { ...leaf, or: [] }, ['data.condition value_error']],
    ['empty and', { and: [] }, ['data.condition value_error']],
    ['empty or', { or: [] }, ['data.condition value_error']],
    ['and of a text', { and: 'x' }, ['data.condition.and list_type']],
    ['or of an object', { or: {} }, ['data.condition.or list_type']],
    [
      'falsy members',
      { and: 0, or: '', not: false },
      ['data.condition.and list_type', 'data.condition.or list_type', 'data.condition.not model_type'],
    ],
    [
      'falsy leaf',
      { selector: 0, evaluator: '' },
      ['data.condition.selector model_type', 'data.condition.evaluator model_type'],
    ],
    ['not of a list', { not: [leaf] }, ['data.condition.not model_type']],
    [
      'child that is no object',
      { and: [leaf, 5, null] },
      ['data.condition.and[1] model_type', 'data.condition.and[2] model_type'],
    ],
    ['bad child below an alias', { or_: [{ not_: {} }] }, ['data.condition.or_[0].not_ value_error']],
    [
      'bad leaves',
      { and: [{ selector: {} }, { or: [] }] },
      ['data.condition.and[0] value_error', 'data.condition.and[1] value_error'],
    ],
    [
      'selector of a text',
      { selector: 'input', evaluator: leaf.evaluator },
      ['data.condition.selector model_type'],
    ],
    ...['', 'inputs', 'input ', '.input', 'metadata.x', '__proto__', 'constructor.x'].map(
      (path): [string, JsonValue, string[]] => [
        `path ${JSON.stringify(path)}`,
        { ...leaf, selector: { path } },
        ['data.condition.selector.path value_error'],
      ],
    ),
    ['path of a number', { ...leaf, selector: { path: 5 } }, ['data.condition.selector.path string_type']],
  ])('%s is judged by its own rule', (_name, condition, expected) => {
    expect(problems(withCondition(condition))).toEqual(expected);
  });

  it.each(['*', 'input', 'input.a.b', 'output', 'name', 'type', 'context.role', '*.x', 'input.'])(
    'takes the path %s',
    (path) => {
      expect(problems(withCondition({ ...leaf, selector: { path } }))).toEqual([]);
    },
  );

  it('may nest to the limit and not deeper', () => {
    expect(problems(withCondition(nestedNot(MAX_CONDITION_DEPTH)))).toEqual([]);
    expect(problems(withCondition(nestedNot(MAX_CONDITION_DEPTH + 1)))).toEqual(['data value_error']);
  });

  it('is refused at any depth, without running out of stack', () => {
    expect(problems(withCondition(nestedNot(100_000)))).toEqual(['data value_error']);
  });

  it('may have as many nodes as the limit and not more', () => {
    const wide = (nodes: number) => withCondition({ or: Array<JsonValue>(nodes - 1).fill(leaf) });
    expect(problems(wide(MAX_CONDITION_NODES))).toEqual([]);
    expect(problems(wide(MAX_CONDITION_NODES + 1))).toEqual(['data value_error']);
    expect(problems(wide(1_000_000))).toEqual(['data value_error']);
  });

  it('counts nodes over all branches', () => {
    const branch = { and: Array<JsonValue>(100).fill({ not: leaf }) };
    expect(problems(withCondition({ or: Array<JsonValue>(10).fill(branch) }))).toEqual(['data value_error']);
  });

  it('reports problems together with a limit that is exceeded', () => {
    const data = { ...withCondition(nestedNot(50)), execution: 'x' };
    expect(problems(data)).toEqual(['data.execution literal_error', 'data value_error']);
  });
});

describe('an evaluator reference', () => {
  it.each<[string, JsonValue, string[]]>([
    ['not an object', 5, ['data.condition.evaluator model_type']],
    ['name missing', { config: {} }, ['data.condition.evaluator.name missing']],
    ['blank name', { name: '  ', config: {} }, ['data.condition.evaluator.name value_error']],
    ['name of a number', { name: 5, config: {} }, ['data.condition.evaluator.name string_type']],
    ['config missing', { name: 'regex' }, ['data.condition.evaluator.config missing']],
    ['config null', { name: 'regex', config: null }, ['data.condition.evaluator.config dict_type']],
    ['config of a list', { name: 'unknown', config: [] }, ['data.condition.evaluator.config dict_type']],
    [
      'metadata of a text',
      { name: 'unknown', config: {}, metadata: 'x' },
      ['data.condition.evaluator.metadata dict_type'],
    ],
    ['missing config member', { name: 'regex', config: {} }, ['data.condition.evaluator.pattern missing']],
    [
      'bad config member',
      { name: ' regex ', config: { pattern: '(' } },
      ['data.condition.evaluator.pattern value_error'],
    ],
    [
      'config too deep',
      { name: 'unknown', config: nestedObject(MAX_JSON_DEPTH + 1) },
      ['data.condition.evaluator.config recursion_loop'],
    ],
    [
      'metadata far too deep',
      { name: 'unknown', config: {}, metadata: nestedObject(100_000) },
      ['data.condition.evaluator.metadata recursion_loop'],
    ],
  ])('%s is judged by its own rule', (_name, evaluator, expected) => {
    expect(problems(withEvaluator(evaluator))).toEqual(expected);
  });

  it('has the problems of its configuration reported for every leaf', () => {
    const bad = { selector: {}, evaluator: { name: 'regex', config: { pattern: '(' } } };
    const bare = { selector: {}, evaluator: { name: 'list', config: {} } };
    expect(problems(withCondition({ and: [bad, leaf, { not: bare }] }))).toEqual([
      'data.condition.and[0].evaluator.pattern value_error',
      'data.condition.and[2].not.evaluator.values missing',
    ]);
  });

  it('names a whole-configuration rule at the evaluator', () => {
    const strict = {
      ...serviceEvaluators[0],
      name: 'strict',
      configSchema: z.object({}).refine(() => false, 'never right'),
    } as (typeof serviceEvaluators)[number];
    const strictSchema = z.object({ data: createDefinitionSchema(createRegistry([strict])) });
    const { items } = inputItems(strictSchema, { data: withEvaluator({ name: 'strict', config: {} }) });
    expect(items.map(({ field, code }) => [field, code])).toEqual([
      ['data.condition.evaluator', 'value_error'],
    ]);
  });

  it('may be unknown, which is a warning that names it', () => {
    const unknown = { selector: {}, evaluator: { name: 'acme.tone', config: {} } };
    const definition = stored(withCondition({ and: [leaf, { or: [{ not: unknown }] }] }));
    expect([...definitionWarnings(definition, registry)]).toEqual([
      {
        code: 'unknown_evaluator',
        field: 'data.condition.and[1].or[0].not.evaluator.name',
        message: expect.stringContaining('acme.tone'),
      },
    ]);
    expect([...definitionWarnings(stored(minimal), registry)]).toEqual([]);
  });

  it('of an agent is no unknown one', () => {
    const ofAgent = { selector: {}, evaluator: { name: 'billing-bot-01:tone', config: {} } };
    expect([
      ...definitionWarnings(
        stored({ ...withCondition({ and: [leaf, ofAgent] }), execution: 'sdk' }),
        registry,
      ),
    ]).toEqual([]);
  });
});

describe('what is stored', () => {
  it('is what was sent, without nulls and unknown members, plus enabled', () => {
    const data = {
      surplus: 1,
      description: null,
      scope: { step_types: null, stages: ['pre'], surplus: 1 },
      condition: {
        and: null,
        surplus: 1,
        selector: { path: null, surplus: 1 },
        evaluator: { name: ' regex ', config: { pattern: 'x', surplus: null }, metadata: null, surplus: 1 },
      },
      execution: 'server',
      action: { decision: 'deny', steering_context: null, metadata: { a: null }, surplus: 1 },
      tags: [],
    };
    expect(stored(data)).toStrictEqual({
      condition: { selector: {}, evaluator: { name: 'regex', config: { pattern: 'x', surplus: null } } },
      enabled: true,
      execution: 'server',
      scope: { stages: ['pre'] },
      action: { decision: 'deny', metadata: { a: null } },
      tags: [],
    });
  });

  it('keeps guidance, metadata and free texts', () => {
    const data = {
      ...minimal,
      description: '',
      enabled: 'no',
      execution: 'sdk',
      condition: { ...leaf, evaluator: { ...leaf.evaluator, metadata: { owner: 'x' } } },
      action: {
        decision: 'steer',
        steering_context: { message: '', required_actions: ['a'], surplus: 1 },
        metadata: {},
      },
    };
    expect(stored(data)).toStrictEqual({
      condition: data.condition,
      description: '',
      enabled: false,
      execution: 'sdk',
      action: { decision: 'steer', steering_context: { message: '', required_actions: ['a'] }, metadata: {} },
    });
  });

  it('has the canonical names of members that were sent under older ones', () => {
    const condition = { and_: [{ or_: [leaf], or: null }, { not_: leaf }] };
    expect(stored(withCondition(condition)).condition).toStrictEqual({
      and: [{ or: [leaf] }, { not: leaf }],
    });
  });

  it('does not confuse __proto__ members with real ones', () => {
    const data = parseJson(
      '{"__proto__":{"execution":"server","action":{"decision":"deny"}},"condition":{"__proto__":{"and":[]}}}',
    );
    expect(problems(data)).toEqual([
      'data.condition value_error',
      'data.execution missing',
      'data.action missing',
    ]);
    const config = parseJson('{"__proto__":{"pattern":"x"},"pattern":"y"}');
    const definition = stored(withEvaluator({ name: 'regex', config }));
    expect(definition.condition).toMatchObject({ evaluator: { config } });
    expect(
      problems(withEvaluator({ name: 'regex', config: parseJson('{"__proto__":{"pattern":"x"}}') })),
    ).toEqual(['data.condition.evaluator.pattern missing']);
  });
});

describe('an evaluator that depends on earlier steps', () => {
  const rate = { name: 'rate', config: { limit: 5, period: '1h', key: ['agent'] } };
  const nested = { ...minimal, condition: { and: [leaf, { not: { selector: {}, evaluator: rate } }] } };

  it('is refused in a control that clients evaluate', () => {
    expect(problems(nested)).toEqual([]);
    expect(problems({ ...nested, execution: 'sdk' })).toEqual(['data.execution value_error']);
    expect(problems({ ...minimal, execution: 'sdk' })).toEqual([]);
  });
});

describe('the older flat shape', () => {
  const { condition, ...rest } = minimal;
  it('is stored as a leaf condition', () => {
    expect(stored({ ...rest, ...condition })).toStrictEqual({ ...rest, condition, enabled: true });
    expect(stored({ ...rest, ...condition, condition: null })).toStrictEqual({
      ...rest,
      condition,
      enabled: true,
    });
  });
  it.each<[string, JsonObject]>([
    ['selector alone', { ...rest, selector: {} }],
    ['evaluator alone', { ...rest, evaluator: leaf.evaluator }],
    ['both beside a condition', { ...minimal, ...leaf }],
    ['selector beside a condition', { ...minimal, selector: {} }],
  ])('is refused with %s', (_name, data) => {
    expect(problems(data)).toEqual(['data value_error']);
  });
  it('has its problems reported below condition', () => {
    expect(problems({ ...rest, selector: { path: 'x' }, evaluator: { name: 'regex', config: {} } })).toEqual([
      'data.condition.selector.path value_error',
      'data.condition.evaluator.pattern missing',
    ]);
  });
});

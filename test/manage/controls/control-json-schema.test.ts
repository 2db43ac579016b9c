import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../packages/exact-json/src/index.js';
import { inputItems } from '../../../src/contract/input/parse-input.js';
import { controlJsonSchema } from '../../../src/manage/controls/control-json-schema.js';
import { createDefinitionSchema } from '../../../src/manage/controls/definition-schema.js';
import { readCaseFiles } from '../../support/evaluation-cases.js';
import { serviceRegistry } from '../../support/evaluators.js';

const definitionSchema = createDefinitionSchema(serviceRegistry);
const accepted = (data: JsonValue) => inputItems(definitionSchema, data).items.length === 0;
const valid = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true }).compile(
  controlJsonSchema,
);

/** The definitions of the case files in the shape that the schema describes. */
const definitions = readCaseFiles()
  .flatMap(({ file, controls }) =>
    controls.map(({ name, data }) => ({ file, name, data: data as JsonObject })),
  )
  .filter(({ data }) => Object.hasOwn(data, 'condition'));

type Change = (definition: JsonObject) => JsonObject;
const without =
  (name: string): Change =>
  ({ [name]: _, ...rest }) =>
    rest;
const withMember =
  (name: string, value: JsonValue): Change =>
  (definition) => ({ ...definition, [name]: value });
const withCondition =
  (change: (condition: JsonValue) => JsonValue): Change =>
  (definition) => ({ ...definition, condition: change(definition.condition ?? null) });

const LEAF = { selector: { path: 'input' }, evaluator: { name: 'regex', config: { pattern: 'x' } } };
const leaf = (more: JsonObject) => withMember('condition', { ...LEAF, ...more });
const scope = (more: JsonObject) => withMember('scope', more);
const action = (more: JsonObject) => withMember('action', more);

/** What can be done to a definition, and whether it is one afterwards. */
const CHANGES: [string, Change, boolean][] = [
  ['no condition', without('condition'), false],
  ['no execution', without('execution'), false],
  ['no action', without('action'), false],
  ['another execution', withMember('execution', 'client'), false],
  ['enabled null', withMember('enabled', null), false],
  ['description null', withMember('description', null), true],
  ['description of another type', withMember('description', 5), false],
  ['scope null', withMember('scope', null), false],
  ['an empty scope', scope({}), true],
  [
    'a scope of nulls',
    scope({ step_types: null, step_names: null, step_name_regex: null, stages: null }),
    true,
  ],
  [
    'a full scope',
    scope({ step_types: ['x'], step_names: ['y'], step_name_regex: 'z', stages: ['pre', 'post'] }),
    true,
  ],
  ['an empty list of stages', scope({ stages: [] }), false],
  ['an unknown stage', scope({ stages: ['between'] }), false],
  ['an empty step type', scope({ step_types: [''] }), false],
  ['a step name that is no text', scope({ step_names: [1] }), false],
  ['tags', withMember('tags', ['a', '']), true],
  ['tags that are no list', withMember('tags', 'a'), false],
  ['tags null', withMember('tags', null), false],
  ['an unknown member', withMember('x-note', { any: 1 }), true],
  ['an action without a decision', action({}), false],
  ['an unknown decision', action({ decision: 'warn' }), false],
  [
    'a steering context',
    action({ decision: 'steer', steering_context: { message: 'm', required_actions: ['a'] } }),
    true,
  ],
  ['a steering context without a message', action({ decision: 'deny', steering_context: {} }), false],
  ['free metadata', action({ decision: 'observe', metadata: { a: [1] } }), true],
  ['metadata that are no object', action({ decision: 'observe', metadata: [] }), false],
  [
    'steering without guidance on a single check',
    (one) => leaf({})(action({ decision: 'steer' })(one)),
    true,
  ],
  [
    'steering without guidance on a composite',
    (one) => action({ decision: 'steer' })(withCondition((inner) => ({ not: inner }))(one)),
    false,
  ],
  [
    'steering with null as guidance',
    (one) =>
      action({ decision: 'steer', steering_context: null })(
        withMember('condition', { and: [LEAF], evaluator: null })(one),
      ),
    false,
  ],
  [
    'a negated condition',
    (one) => action({ decision: 'deny' })(withMember('condition', { not: { and: [LEAF] } })(one)),
    true,
  ],
  ['nulls for the other forms', leaf({ and: null, or: null, not: null }), true],
  ['two forms', leaf({ and: [LEAF] }), false],
  ['no form', withMember('condition', {}), false],
  ['only nulls', withMember('condition', { and: null }), false],
  ['an empty and', withMember('condition', { and: [] }), false],
  ['a broken child', withMember('condition', { or: [LEAF, { and: [{}] }] }), false],
  ['a condition that is no object', withMember('condition', 'x'), false],
  ['a child that is no object', withMember('condition', { not: [LEAF] }), false],
  ['a selector without an evaluator', withMember('condition', { selector: {} }), false],
  ['a selector without a path', leaf({ selector: {} }), true],
  ['a path of null', leaf({ selector: { path: null } }), true],
  ['a path from elsewhere', leaf({ selector: { path: 'inputs' } }), false],
  ['a path with a line break', leaf({ selector: { path: 'input\n' } }), false],
  ['a free path', leaf({ selector: { path: 'context.a b..é' } }), true],
  ['an evaluator without a configuration', leaf({ evaluator: { name: 'unknown' } }), false],
  ['an evaluator without a name', leaf({ evaluator: { config: {} } }), false],
  ['an evaluator with an empty name', leaf({ evaluator: { name: '', config: {} } }), false],
  [
    'an evaluator that is not known',
    leaf({ evaluator: { name: 'unknown', config: { any: 1 }, metadata: { a: 1 } } }),
    true,
  ],
];

describe('the schema of a definition', () => {
  it('has the parts that clients look for', () => {
    expect(controlJsonSchema).not.toHaveProperty('$schema');
    expect(controlJsonSchema).toMatchObject({
      type: 'object',
      required: ['condition', 'execution', 'action'],
      properties: { condition: { $ref: '#/$defs/Condition' } },
      $defs: { Condition: { properties: { and: {}, or: {}, not: {} } } },
    });
  });

  it('describes every member of a definition that is written out', () => {
    const properties = Object.keys(controlJsonSchema.properties as JsonObject);
    expect(properties).toEqual([
      'condition',
      'description',
      'enabled',
      'execution',
      'scope',
      'action',
      'tags',
    ]);
  });

  it('accepts every definition of the cases, as the service does', () => {
    expect(definitions.length).toBeGreaterThan(50);
    const refused = definitions.filter(({ data }) => !valid(data) || !accepted(data));
    expect(refused).toEqual([]);
  });

  it.each(CHANGES)('judges as the service does: %s', (_what, change, good) => {
    for (const { file, name, data } of definitions) {
      const changed = change(data);
      // What the change leaves may be refused for the sake of the rest: then both refuse it.
      expect({ file, name, valid: valid(changed) }).toEqual({ file, name, valid: accepted(changed) });
      if (!good) expect(accepted(changed)).toBe(false);
    }
    if (good) expect(definitions.some(({ data }) => accepted(change(data)))).toBe(true);
  });
});

import type { DescField, DescMessage } from '@bufbuild/protobuf';
import { getOption } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { InitAgentRequestSchema } from '../../../gen/proto/enforcement/v1/agent_service_pb.js';
import { ControlDefinitionSchema } from '../../../gen/proto/enforcement/v1/control_pb.js';
import {
  CreateControlRequestSchema,
  UpdateControlRequestSchema,
} from '../../../gen/proto/enforcement/v1/control_service_pb.js';
import { ExplainRequestSchema } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { QueryEventsRequestSchema } from '../../../gen/proto/enforcement/v1/observability_service_pb.js';
import { list_wrapper } from '../../../gen/proto/enforcement/v1/options_pb.js';
import { type JsonObject, type JsonValue, parseJson } from '../../../packages/exact-json/src/index.js';
import { requestWarnings } from '../../../src/contract/warnings/request-warnings.js';
import { type Spelling, unknownMembers } from '../../../src/contract/warnings/unknown-members.js';

const found = (desc: DescMessage, value: JsonValue, spelling: Spelling = 'rest') =>
  [...unknownMembers(desc, value, { spelling })].map(({ field, message }) => `${field}: ${message}`);

const definition = {
  condition: { selector: { path: 'input' }, evaluator: { name: 'regex', config: { any: { thing: 1 } } } },
  execution: 'server',
  action: { decision: 'deny', metadata: { any: 1 } },
};

describe('members that a message does not have', () => {
  it('are none in a request as it should be', () => {
    expect(found(CreateControlRequestSchema, { name: 'x', strict: true, data: definition })).toEqual([]);
  });

  it('are found at every level, with what was probably meant', () => {
    const data = {
      ...definition,
      scop: {},
      scope: { step_type: ['tool'], stages: ['pre'] },
      condition: {
        and: [{ selector: { pth: 'input' }, evaluator: { nam: 'x', config: {}, kind: 1 } }, { nott: {} }],
      },
      action: { decision: 'steer', steering_context: { message: 'x', required_action: [] }, decisions: 1 },
    };
    expect(found(CreateControlRequestSchema, { nme: 'x', data })).toEqual([
      'nme: unknown member; did you mean name?',
      'data.condition.and[0].selector.pth: unknown member; did you mean path?',
      'data.condition.and[0].evaluator.nam: unknown member; did you mean name?',
      'data.condition.and[0].evaluator.kind: unknown member',
      'data.condition.and[1].nott: unknown member; did you mean not?',
      'data.action.steering_context.required_action: unknown member; did you mean required_actions?',
      'data.action.decisions: unknown member; did you mean decision?',
      'data.scop: unknown member; did you mean scope?',
      'data.scope.step_type: unknown member; did you mean step_types?',
    ]);
  });

  it('are not the older spellings, whose own members are looked at', () => {
    const { selector, evaluator } = definition.condition;
    expect(found(ControlDefinitionSchema, { selector, evaluator })).toEqual([]);
    expect(found(ControlDefinitionSchema, { selector: { pth: 'x' }, evaluator })).toEqual([
      'selector.pth: unknown member; did you mean path?',
    ]);
    const underscored = { and_: [{ or_: [{ not_: { selectr: {} } }] }] };
    expect(found(ControlDefinitionSchema, { condition: underscored })).toEqual([
      'condition.and[0].or[0].not.selectr: unknown member; did you mean selector?',
    ]);
  });

  it('are looked for in templates, but for what stands for a value', () => {
    const template = {
      parameters: {
        words: { type: 'string_list', label: 'Words', lable: 'x', allowed_values: ['a'] },
        kind: { type: 'enum', label: 'Kind', allowed_values: ['a'], placeholder: 'a' },
        text: { type: 'string', label: 'Text', allowed_values: null, placeholder: 'a' },
      },
      definition_template: { anything: { goes: 'here' } },
    };
    expect(found(CreateControlRequestSchema, { data: { template, template_values: { any: 1 } } })).toEqual([
      'data.template.parameters.words.lable: unknown member; did you mean label?',
      'data.template.parameters.words.allowed_values: has no effect with the type "string_list"; it is for enum',
      'data.template.parameters.kind.placeholder: has no effect with the type "enum"; it is for string, string_list, regex_re2',
    ]);
    const isPlaceholder = (value: JsonObject) => Object.hasOwn(value, '$param');
    const options = { spelling: 'rest', path: 'data.template.definition_template', isPlaceholder } as const;
    const made = { scop: {}, scope: { $param: 'scope' }, condition: { selector: { pth: { $param: 'x' } } } };
    const fields = [...unknownMembers(ControlDefinitionSchema, made, options)].map(({ field }) => field);
    expect(fields).toEqual([
      'data.template.definition_template.scop',
      'data.template.definition_template.condition.selector.pth',
    ]);
  });

  it('are found in the spelling of protobuf as well, where both spellings of a name are known', () => {
    const data = {
      scop: {},
      scope: { stepTypes: ['tool'], step_names: ['x'], stepNamesRegex: 'x' },
      condition: { and: { conditions: [{ selectr: {} }] } },
      templateValues: { any: 1 },
    };
    expect(found(CreateControlRequestSchema, { data }, 'protobuf')).toEqual([
      'data.scop: unknown member; did you mean scope?',
      'data.scope.stepNamesRegex: unknown member; did you mean step_name_regex?',
      'data.condition.and[0].selectr: unknown member; did you mean selector?',
    ]);
    // The JSON routes know one spelling only.
    expect(found(ControlDefinitionSchema, { scope: { stepTypes: ['tool'] } })).toEqual([
      'scope.stepTypes: unknown member; did you mean step_types?',
    ]);
  });

  it('are members that the path of a request contains', () => {
    const options = { spelling: 'rest', elsewhere: ['control_id'] } as const;
    const [only, ...others] = unknownMembers(
      UpdateControlRequestSchema,
      { control_id: 1, name: 'x' },
      options,
    );
    expect(only).toMatchObject({ code: 'unknown_member', field: 'control_id' });
    expect(others).toEqual([]);
  });

  it('have a plain path, whatever their names are', () => {
    expect(found(UpdateControlRequestSchema, { 'a\r\nb': 1, __proto__x: 1, 'é\u200b': 1, 'x y': 1 })).toEqual(
      [
        '"a\\r\\nb": unknown member',
        '__proto__x: unknown member',
        '"é\\u200b": unknown member',
        '"x y": unknown member',
      ],
    );
    expect(found(UpdateControlRequestSchema, parseJson('{"__proto__": 1}'))).toEqual([
      '__proto__: unknown member',
    ]);
  });

  it('are not looked for where a value has another type than its member', () => {
    for (const data of [null, 1, 'x', [1], { scope: 1, condition: [], action: null }]) {
      expect(found(CreateControlRequestSchema, { data })).toEqual([]);
    }
  });

  it.each([
    CreateControlRequestSchema,
    InitAgentRequestSchema,
    ExplainRequestSchema,
    QueryEventsRequestSchema,
  ])('are found in every message below $typeName', (desc) => {
    for (const path of messagePaths(desc)) {
      expect(found(desc, withSurplus(path)), path.map(({ name }) => name).join('.')).toHaveLength(1);
    }
  });
});

/** The ways to every message below another one, each message once on a way. */
function messagePaths(desc: DescMessage, way: readonly DescField[] = []): (readonly DescField[])[] {
  const inner = desc.fields.filter(({ message }) => message !== undefined && !isFreeForm(message));
  const deeper = inner
    .filter((field) => !way.some((one) => one.message === field.message))
    .flatMap((field) => messagePaths(field.message as DescMessage, [...way, field]));
  return getOption(desc, list_wrapper) ? deeper : [way, ...deeper];
}

function isFreeForm({ typeName }: DescMessage): boolean {
  return typeName.startsWith('google.protobuf.');
}

/** A value with one surplus member in the message that a way leads to. */
function withSurplus(way: readonly DescField[]): JsonObject {
  return way.reduceRight<JsonValue>(
    (inside, field) => {
      // A wrapped list is a bare one.
      if (field.parent.fields.length === 1 && getOption(field.parent, list_wrapper)) return [inside];
      const value =
        field.fieldKind === 'list' ? [inside] : field.fieldKind === 'map' ? { key: inside } : inside;
      return { [field.name]: value };
    },
    { surplus_member: 1 },
  ) as JsonObject;
}

describe('the warnings of a request', () => {
  const warningsOf = (text: string, limit?: number) => {
    const value = parseJson(text);
    const request = {
      desc: UpdateControlRequestSchema,
      value,
      spelling: 'rest',
      elsewhere: [],
      text,
    } as const;
    return requestWarnings(request).slice(0, limit);
  };

  it('report members that are there twice', () => {
    expect(warningsOf('{"enabled": false, "enabled": true}')).toEqual([
      {
        code: 'duplicate_member',
        field: 'enabled',
        message: 'stands in this object more than once; only the last one counts',
      },
    ]);
  });

  it('are a bounded number, and the last one states how many there are beside them', () => {
    const names = Array.from({ length: 5_000 }, (_, index) => `"x${index}":1`);
    const warnings = warningsOf(`{${names.join()}}`);
    expect(warnings).toHaveLength(101);
    expect(warnings.at(-1)).toMatchObject({
      code: 'more_warnings',
      message: '4900 more warning(s) are not listed',
    });
  });
});

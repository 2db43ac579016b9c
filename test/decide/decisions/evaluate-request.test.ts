import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../packages/exact-json/src/index.js';
import { ServiceError } from '../../../src/contract/errors/service-error.js';
import { readEvaluateRequest } from '../../../src/decide/decisions/evaluate-request.js';

const step = { type: 'tool', name: 'refund', input: { amount: 5 } };
const request = { agent_name: 'billing-bot-01', stage: 'pre', step };
const withStep = (change: JsonObject): JsonObject => ({ ...request, step: { ...step, ...change } });

function problems(value: JsonValue | undefined): string[] {
  try {
    readEvaluateRequest(value);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    expect(error.code).toBe('VALIDATION_ERROR');
    expect(error.options.requestValidation).toBe(true);
    return (error.options.items ?? []).map(({ field, code }) => `${field} ${code}`);
  }
  return [];
}

describe('a well-formed evaluation request', () => {
  it('is read with null for what is not set', () => {
    expect(readEvaluateRequest({ ...request, surplus: 1, step: { ...step, surplus: 1 } })).toStrictEqual({
      agentName: 'billing-bot-01',
      stage: 'pre',
      step: { ...step, output: null, context: null },
      minRevision: 0,
      target: null,
      options: null,
    });
  });
  it.each<[JsonValue, number]>([
    [0, 0],
    [57, 57],
    ['57', 57],
    [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  ])('may demand the revision %j', (min_revision, expected) => {
    expect(readEvaluateRequest({ ...request, min_revision }).minRevision).toBe(expected);
  });
  it('keeps output and context', () => {
    const full = { type: 'llm', name: 'chat', input: null, output: [1], context: { role: 'x' } };
    expect(readEvaluateRequest({ ...request, stage: 'post', step: full }).step).toStrictEqual(full);
  });
  it.each<[JsonValue, string]>([
    [' Billing-BOT-01 ', 'billing-bot-01'],
    [1234567890, '1234567890'],
  ])('has its agent name normalised from %j', (agent_name, name) => {
    expect(readEvaluateRequest({ ...request, agent_name }).agentName).toBe(name);
  });
  it.each<JsonValue>([null, 'text', 5, false, []])(
    'may have the input %j when it is no tool step',
    (input) => {
      expect(problems(withStep({ type: 'llm', input }))).toEqual([]);
    },
  );
});

describe('a malformed evaluation request', () => {
  it.each<[string, JsonValue | undefined, string[]]>([
    ['absent', undefined, ['undefined missing']],
    ['null', null, ['undefined missing']],
    ['a list', [], ['undefined model_attributes_type']],
    ['empty', {}, ['agent_name missing', 'step missing', 'stage missing']],
    ['short agent name', { ...request, agent_name: 'x' }, ['agent_name value_error']],
    [
      'agent name with a line end inside',
      { ...request, agent_name: 'billing-bot\n01' },
      ['agent_name value_error'],
    ],
    ['unknown stage', { ...request, stage: 'PRE' }, ['stage literal_error']],
    ['negative revision', { ...request, min_revision: -1 }, ['min_revision greater_than_equal']],
    ['revision of a text', { ...request, min_revision: 'latest' }, ['min_revision int_parsing']],
    ['half a revision', { ...request, min_revision: 1.5 }, ['min_revision int_from_float']],
    ['revision beyond 2^53', { ...request, min_revision: 2 ** 53 }, ['min_revision less_than_equal']],
    ['step of a text', { ...request, step: 'x' }, ['step model_attributes_type']],
    [
      'empty step',
      { ...request, step: {} },
      ['step.type missing', 'step.name missing', 'step.input missing'],
    ],
    ['empty type', withStep({ type: '' }), ['step.type string_too_short']],
    ['empty name', withStep({ name: '' }), ['step.name string_too_short']],
    ['type of a number', withStep({ type: 5 }), ['step.type string_type']],
    ['tool input null', withStep({ input: null }), ['step value_error']],
    ['tool input of a list', withStep({ input: [] }), ['step value_error']],
    ['context of a list', withStep({ context: [] }), ['step.context dict_type']],
    [
      'several problems',
      { step: { ...step, name: 5 }, stage: 5 },
      ['agent_name missing', 'step.name string_type', 'stage literal_error'],
    ],
  ])('(%s) has every problem reported', (_name, value, expected) => {
    expect(problems(value)).toEqual(expected);
  });
});

it('is read the same way whether or not it takes the short way', () => {
  const anyStep = fc.record(
    {
      type: fc.constantFrom<JsonValue>('tool', 'llm', '', 5),
      name: fc.constantFrom<JsonValue>('x', '', null),
      input: fc.constantFrom<JsonValue>(null, {}, [], 'x'),
      output: fc.constantFrom<JsonValue>(null, 'x'),
      context: fc.constantFrom<JsonValue>(null, {}, [], 0),
    },
    { requiredKeys: [] },
  );
  const anyRequest = fc.record({ stage: fc.constantFrom('pre', 'post', 'x'), step: anyStep });
  fc.assert(
    fc.property(anyRequest, (value) => {
      // A name in another case leads past the short way.
      const short = { ...value, agent_name: 'billing-bot-01' } as JsonObject;
      const long = { ...value, agent_name: 'Billing-bot-01' } as JsonObject;
      expect(problems(short)).toEqual(problems(long));
      if (problems(short).length === 0)
        expect(readEvaluateRequest(short)).toStrictEqual(readEvaluateRequest(long));
    }),
    { numRuns: 1_000 },
  );
});

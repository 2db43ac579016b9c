import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../packages/exact-json/src/index.js';
import {
  createStepSchemas,
  mismatchSentence,
  mismatchWarning,
  type SchemaMismatch,
  unknownSchemas,
} from '../../../src/kernel/core/step-schemas.js';
import type { Stage } from '../../../src/kernel/core/types.js';

const TEXT: JsonObject = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };

function compare(
  schemas: { input?: JsonObject; output?: JsonObject },
  data: { input?: JsonValue; output?: JsonValue },
  stage: Stage = 'pre',
): SchemaMismatch | null {
  const steps = [
    { type: 'tool', name: 'send', input: schemas.input ?? null, output: schemas.output ?? null },
  ];
  const step = {
    type: 'tool',
    name: 'send',
    input: data.input ?? {},
    output: data.output ?? null,
    context: null,
  };
  return createStepSchemas(steps, 100).compare(step, stage, () => {});
}

/** A schema, an input, and the path and problem of the difference; null for none. */
const CASES: [string, JsonObject, JsonValue, [string, string] | null][] = [
  ['what satisfies the schema', TEXT, { text: 'hello', more: 1 }, null],
  ['a missing member', TEXT, {}, ['input.text', 'is required']],
  ['a member of another type', TEXT, { text: 7 }, ['input.text', 'is not of type string']],
  ['a whole input of another type', { type: 'string' }, {}, ['input', 'is not of type string']],
  ['an empty schema', {}, { anything: 1 }, null],
  [
    'a missing member of an item',
    { properties: { to: { items: { required: ['mail'] } } } },
    { to: [{ mail: 'a' }, {}] },
    ['input.to[1].mail', 'is required'],
  ],
  [
    'a member too many, without its name',
    { ...TEXT, additionalProperties: false },
    { text: 'x', 'secret-4111': 1 },
    ['input', 'has members that its registered schema does not have'],
  ],
  [
    'a member of a map, without its name',
    { additionalProperties: { type: 'number' } },
    { 'secret-4111': 'secret-5111' },
    ['input.*', 'is not of type number'],
  ],
  [
    'a value that is not listed',
    { properties: { to: { enum: ['a'] } } },
    { to: 'secret-4111' },
    ['input.to', 'is none of the allowed values'],
  ],
  [
    'draft 7 by its name',
    {
      $schema: 'http://json-schema.org/draft-07/schema#',
      properties: { a: { items: [{ type: 'number' }] } },
    },
    { a: ['x'] },
    ['input.a[0]', 'is not of type number'],
  ],
  [
    '2020-12 without a name',
    { properties: { a: { prefixItems: [{ type: 'number' }] } } },
    { a: ['x'] },
    ['input.a[0]', 'is not of type number'],
  ],
  [
    'a reference within the schema',
    { $defs: { t: TEXT }, properties: { a: { $ref: '#/$defs/t' } } },
    { a: {} },
    ['input.a.text', 'is required'],
  ],
];

/** Schemas that cannot be used, and how the problem begins. */
const UNUSABLE: [string, JsonObject, JsonValue, string][] = [
  [
    'an invalid schema',
    { type: 'no-such-type' },
    {},
    'cannot be compared: its registered schema is invalid at type',
  ],
  [
    'a schema of too many values',
    { enum: Array.from({ length: 3_000 }, (_, index) => index) },
    {},
    'cannot be compared: its registered schema has more than 2000 values',
  ],
  [
    'a pattern that RE2 does not have',
    { properties: { a: { pattern: '(?<=x)y' } } },
    {},
    'cannot be compared: its registered schema has the pattern',
  ],
  [
    'patterns that cost too much',
    { properties: { a: { pattern: '(?:(?:(?:a{30}){30}){30}){30}' } } },
    {},
    'cannot be compared: its registered schema',
  ],
  [
    'data that cost too much',
    {
      additionalProperties: {
        anyOf: [...Array.from({ length: 200 }, (_, length) => ({ maxLength: length })), {}],
      },
    },
    Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`m${index}`, 'x'.repeat(1_000)])),
    'cannot be compared: its registered schema costs too much to check',
  ],
];

describe('the comparison of a step with its registered schemas', () => {
  it.each(CASES)('finds %s', (_name, schema, input, expected) => {
    const found = compare({ input: schema }, { input });
    if (expected === null) return expect(found).toBeNull();
    const [path, problem] = expected;
    expect(found).toEqual({ part: 'input', path, problem, not_compared: false });
    expect(JSON.stringify(found)).not.toContain('secret');
    const sentence = `the input of step send does not match its registered schema: ${path} ${problem}`;
    expect(mismatchSentence('send', found as SchemaMismatch)).toBe(sentence);
  });

  it.each(UNUSABLE)(
    'says that it is not possible with %s, and never throws',
    (_name, schema, input, problem) => {
      const found = compare({ input: schema }, { input });
      expect(found).toMatchObject({ part: 'input', path: 'input', not_compared: true });
      expect(found?.problem.slice(0, problem.length)).toBe(problem);
      expect(mismatchSentence('send', found as SchemaMismatch)).toMatch(
        /^the input of step send cannot be compared/,
      );
    },
  );

  it('looks at the output only after the step has run, and at the input first', () => {
    const schemas = { input: TEXT, output: { type: 'object', required: ['id'] } };
    const input = { text: 'x' };
    expect(compare(schemas, { input }, 'pre')).toBeNull();
    expect(compare(schemas, { input, output: { id: 1 } }, 'post')).toBeNull();
    expect(compare(schemas, { input }, 'post')).toMatchObject({ part: 'output', path: 'output' });
    expect(compare(schemas, { input, output: {} }, 'post')).toMatchObject({ path: 'output.id' });
    expect(compare(schemas, { input: {} }, 'post')).toMatchObject({ path: 'input.text' });
  });

  it('is of the registered type and name only', () => {
    const schemas = createStepSchemas([{ type: 'tool', name: 'send', input: TEXT, output: null }], 1);
    const others = [
      ['tool', 'other'],
      ['llm', 'send'],
      ['constructor', 'send'],
      ['tool', '__proto__'],
    ] as const;
    for (const [type, name] of others) {
      expect(
        schemas.compare({ type, name, input: {}, output: null, context: null }, 'pre', () => {}),
      ).toBeNull();
    }
  });

  it('tells its work', () => {
    let spent = 0;
    const step = {
      type: 'tool',
      name: 'send',
      input: { text: 'x'.repeat(320_000) },
      output: null,
      context: null,
    };
    const input = { properties: { text: { maxLength: 1_000_000 } } };
    createStepSchemas([{ type: 'tool', name: 'send', input, output: null }], 1).compare(
      step,
      'pre',
      (steps) => {
        spent += steps;
      },
    );
    expect(spent).toBeGreaterThan(100_000);
  });

  it('is not possible with schemas that are not known', () => {
    const step = { type: 'a', name: 'b', input: null, output: null, context: null };
    const found = unknownSchemas('it is not there').compare(step, 'pre', () => {});
    expect(found).toMatchObject({ not_compared: true });
    expect(mismatchWarning(found as SchemaMismatch, 'evaluations[2].')).toEqual({
      code: 'schema_mismatch',
      field: 'evaluations[2].step.input',
      message: 'cannot be compared with its registered schema: it is not there',
    });
  });
});

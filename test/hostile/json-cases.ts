import { input, json, many, members, negated, nest, schema } from './definitions.js';
import type { HostileCase } from './hostile-case.js';

const ERROR = { lists: ['errors'] } as const;
const ANSWERED = { lists: ['matches', 'non_matches', 'errors'] } as const;
const deeper = { properties: { a: { $ref: '#' } } };

function refused(name: string, definition: () => object, says: RegExp): HostileCase {
  return { name: `schema: ${name}`, expected: { status: 422, says }, definition };
}

function bounded(
  name: string,
  definition: () => object,
  value: () => unknown,
  expected: HostileCase['expected'] = ANSWERED,
): HostileCase {
  return { name: `schema: ${name}`, expected, definition, step: () => input(value()) };
}

/** Definitions d0 … that each apply the next one twice. */
function doubling(levels: number): object {
  const definitions = members(
    levels,
    (i) => `d${i}`,
    (i) => {
      const next = { $ref: `#/definitions/d${i + 1}` };
      return { oneOf: [next, next] };
    },
  );
  return { $ref: '#/definitions/d0', definitions: { ...definitions, [`d${levels}`]: { type: 'null' } } };
}

/** Schemas, and documents for them. */
export const JSON_CASES: readonly HostileCase[] = [
  refused('a reference to itself', () => schema({ $ref: '#' }), /without end/),
  refused(
    'a circle of references',
    () =>
      schema({
        $ref: '#/definitions/d0',
        definitions: members(
          50,
          (i) => `d${i}`,
          (i) => ({ $ref: `#/definitions/d${(i + 1) % 50}` }),
        ),
      }),
    /without end/,
  ),
  refused(
    'a chain of 1,000 references',
    () =>
      schema({
        $ref: '#/definitions/d0',
        definitions: {
          ...members(
            1_000,
            (i) => `d${i}`,
            (i) => ({ $ref: `#/definitions/d${i + 1}` }),
          ),
          d1000: {},
        },
      }),
    /one within another/,
  ),
  refused('a reference elsewhere', () => schema({ $ref: 'http://127.0.0.1:1/schema' }), /outside itself/),
  refused('65 levels', () => schema(negated(65, {})), /levels/),
  refused('190 levels', () => schema(negated(190, {})), /levels/),
  refused('100,000 values', () => schema({ enum: many(100_000, (i) => i) }), /cost too much|values/),
  refused(
    '2,000 large patterns',
    () =>
      schema({
        properties: members(
          2_000,
          (i) => `p${i}`,
          (i) => ({ pattern: `(?:a${i}){800}` }),
        ),
      }),
    /json_schema/,
  ),
  refused('a pattern that is a bomb', () => schema({ pattern: '((a{100}){100}){100}' }), /json_schema/),
  refused(
    'a pattern that is no text',
    () => json({ field_patterns: { a: { pattern: 1 } } }),
    /field_patterns/,
  ),
  refused(
    'keywords of the wrong type',
    () => schema({ properties: { a: { required: 'b' } } }),
    /json_schema/,
  ),
  refused(
    '100,000 required fields',
    () => json({ required_fields: many(100_000, (i) => `f${i}`) }),
    /required_fields/,
  ),
  refused(
    'an enumeration of 100,000 values',
    () => json({ field_constraints: { a: { enum: many(100_000, (i) => i) } } }),
    /field_constraints/,
  ),
  bounded(
    'references that double 45 times',
    () => schema(doubling(45)),
    () => ({}),
    ERROR,
  ),
  bounded(
    'recursion that doubles with each level of the data',
    () => schema({ oneOf: [deeper, deeper] }),
    () => nest(150),
    ERROR,
  ),
  bounded(
    'a chain of references at each level',
    () =>
      schema({
        $ref: '#/definitions/d0',
        definitions: {
          ...members(
            90,
            (i) => `d${i}`,
            (i) => ({ $ref: `#/definitions/d${i + 1}` }),
          ),
          d90: deeper,
        },
      }),
    () => nest(190),
    ERROR,
  ),
  bounded(
    'uniqueItems over 40,000 objects',
    () => schema({ uniqueItems: true }),
    () => many(40_000, (i) => ({ i, n: [i] })),
    ERROR,
  ),
  bounded(
    'uniqueItems over numbers that a table without a secret puts in one place',
    () => schema({ uniqueItems: true }),
    () => many(60_000, (i) => i * 2 ** 32),
  ),
  bounded(
    'a list of 60,000 through a reference, every item wrong',
    () => schema({ items: { $ref: '#/definitions/a' }, definitions: { a: { type: 'string' } } }),
    () => many(60_000, () => 1),
  ),
  bounded(
    'anyOf of 200 over 10,000 items',
    () => schema({ items: { anyOf: many(200, (i) => ({ const: `c${i}` })) } }),
    () => many(10_000, () => 'x'),
    ERROR,
  ),
  bounded(
    '100 patterns over 10,000 names',
    () =>
      schema({
        patternProperties: members(
          100,
          (i) => `^(a+)+${i}$`,
          () => ({}),
        ),
      }),
    () =>
      members(
        10_000,
        (i) => `aaaaaaaaaaaaaaaa${i}x`,
        () => 1,
      ),
    ERROR,
  ),
  bounded(
    'a nested plus over a long text',
    () => schema({ items: { pattern: '^(a+)+$' } }),
    () => many(20, () => `${'a'.repeat(50_000)}!`),
  ),
  bounded(
    'an enumeration of large objects',
    () => schema({ items: { enum: many(400, (i) => ({ i, n: [1, 2, 3] })) } }),
    () => many(20_000, () => ({ n: [1, 2, 3], i: -1 })),
  ),
  bounded(
    '10,000 members that no check names',
    () => json({ field_types: { a: 'string' }, allow_extra_fields: false }),
    () => ({
      a: '',
      ...members(
        10_000,
        (i) => `k${i}`,
        () => 1,
      ),
    }),
    { lists: ['matches'] },
  ),
  bounded(
    '120,000 members that no check names',
    () => json({ field_types: { a: 'string' }, allow_extra_fields: false }),
    () =>
      members(
        120_000,
        (i) => `${i}`,
        () => 1,
      ),
    ERROR,
  ),
  bounded(
    '500 patterns for long fields',
    () =>
      json({
        field_patterns: members(
          500,
          (i) => `f${i}`,
          (i) => `(x+x+)+${i}y`,
        ),
      }),
    () =>
      members(
        500,
        (i) => `f${i}`,
        () => 'x'.repeat(10_000),
      ),
  ),
  bounded(
    'a text of 7 MB',
    () => json({ required_fields: ['a'] }),
    () => `{"a":"${'x'.repeat(7_000_000)}"}`,
    ERROR,
  ),
  bounded(
    'a text that nests 100,000 levels',
    () => json({ required_fields: ['a'] }),
    () => '['.repeat(100_000),
    ERROR,
  ),
  bounded(
    'a text of one integer of 400,000 digits',
    () => json({ required_fields: ['a'] }),
    () => '9'.repeat(390_000),
    ERROR,
  ),
  bounded(
    'a text of large integers',
    () => schema({ uniqueItems: true }),
    () => `[${many(90, (i) => `${i}${'9'.repeat(4_290)}`).join(',')}]`,
  ),
  bounded(
    'a text of objects that ends too soon',
    () => json({ required_fields: ['a'] }),
    () => `[${'{"":{}},'.repeat(45_000)}`,
    { lists: ['matches'] },
  ),
  bounded(
    'a text of one key 40,000 times',
    () => json({ required_fields: ['k'] }),
    () => `{${many(40_000, (i) => `"k":${i}`).join(',')}}`,
    { lists: ['errors'] },
  ),
  bounded(
    'a text of __proto__',
    () => json({ required_fields: ['admin'] }),
    () => '{"__proto__":{"admin":true}}',
    { lists: ['matches'] },
  ),
  bounded(
    'half surrogates and what counts as a character',
    () => schema({ items: { maxLength: 3, pattern: '^.{3}$' } }),
    () => many(1_000, () => '\ud83d\ud83d😀'),
    { lists: ['non_matches'] },
  ),
];

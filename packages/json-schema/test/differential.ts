import { Ajv } from 'ajv';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { JsonObject, JsonValue } from '../../exact-json/src/index.js';
import { compileSchema } from '../src/compile-schema.js';
import { Run } from '../src/run.js';
import { Work } from '../src/work.js';

/** Without the empty name, which the other implementation never finds to be missing. */
const NAMES = ['a', 'b', 'ab', 'constructor', 'toString', '1'];
const name = fc.constantFrom(...NAMES);
const scalar = fc.oneof(
  fc.constantFrom<JsonValue>(
    null,
    true,
    false,
    0,
    1,
    2,
    -1,
    0.5,
    1.5,
    0.1,
    0.3,
    1e15,
    '',
    'a',
    'ab',
    'b1',
    '😀',
  ),
  fc.integer({ min: -3, max: 6 }),
);
const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(name, tie('value'), { maxKeys: 4, noNullPrototype: true }) as fc.Arbitrary<JsonObject>,
  ),
}));
const pattern = fc.constantFrom('^a', 'b', '^.$', '[0-9]', 'a|b', '^$');
const type = fc.constantFrom('string', 'number', 'integer', 'boolean', 'array', 'object', 'null');
const size = fc.integer({ min: 0, max: 4 });
const reference = fc.constantFrom('#', '#/definitions/x', '#/definitions/y', '#/definitions/x/items');

const { schema } = fc.letrec<{ schema: JsonValue }>((tie) => {
  const list = fc.array(tie('schema'), { minLength: 1, maxLength: 3 });
  const map = (key: fc.Arbitrary<string>) =>
    fc.dictionary(key, tie('schema'), { maxKeys: 3, noNullPrototype: true });
  const keywords = fc.record(
    {
      type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })),
      enum: fc.uniqueArray(value, { minLength: 1, maxLength: 3, selector: (one) => JSON.stringify(one) }),
      const: value,
      minimum: size,
      maximum: size,
      exclusiveMinimum: size,
      exclusiveMaximum: size,
      multipleOf: fc.constantFrom(1, 2, 0.5, 0.1, 3),
      minLength: size,
      maxLength: size,
      pattern,
      minItems: size,
      maxItems: size,
      uniqueItems: fc.boolean(),
      minProperties: size,
      maxProperties: size,
      required: fc.uniqueArray(name, { maxLength: 2 }),
      properties: map(name),
      patternProperties: map(pattern),
      additionalProperties: tie('schema'),
      propertyNames: tie('schema'),
      dependencies: fc.dictionary(name, fc.oneof(tie('schema'), fc.uniqueArray(name, { maxLength: 2 })), {
        maxKeys: 2,
        noNullPrototype: true,
      }),
      items: fc.oneof(tie('schema'), list),
      additionalItems: tie('schema'),
      contains: tie('schema'),
      allOf: list,
      anyOf: list,
      oneOf: list,
      not: tie('schema'),
      if: tie('schema'),
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: tie('schema'),
      else: tie('schema'),
      $ref: reference,
    },
    { requiredKeys: [], noNullPrototype: true },
  );
  const few = fc
    .tuple(keywords, fc.array(fc.nat({ max: 1_000 }), { minLength: 1, maxLength: 3 }))
    .map(([all, picks]) => {
      const entries = Object.entries(all);
      if (entries.length === 0) return {};
      const picked = picks.map((pick) => entries[pick % entries.length] as [string, JsonValue]);
      const chosen = new Set(picked.map(([key]) => key));
      // Beside a reference nothing counts, which the other implementation does not know of `type`. Beside a list of
      // `items` it takes an empty list for one that contains whatever is asked for.
      if (chosen.size > 1) chosen.delete('$ref');
      if (chosen.has('contains')) chosen.delete('items');
      return Object.fromEntries(picked.filter(([key]) => chosen.has(key)));
    });
  return {
    schema: fc.oneof(
      { maxDepth: 4, depthSize: 'small', withCrossShrink: true },
      fc.boolean(),
      few as fc.Arbitrary<JsonObject>,
    ),
  };
});

/** A whole document, with definitions that its references find. */
const document = fc
  .record({ top: schema, x: schema, y: schema })
  .map(({ top, x, y }): JsonObject => ({ ...(top as JsonObject), definitions: { x, y } }));

const OPTIONS = {
  strict: false,
  logger: false,
  validateFormats: false,
  validateSchema: false,
  ownProperties: true,
  ignoreKeywordsWithRef: true,
  inlineRefs: false,
  meta: false,
} as const;

/** What the widely used compiler says; undefined where it gives up. */
function oracle(given: JsonObject): (data: JsonValue) => boolean | undefined {
  try {
    const validate = new Ajv(OPTIONS).compile(given);
    return (data) => {
      try {
        return validate(data) as boolean;
      } catch {
        return undefined;
      }
    };
  } catch {
    return () => undefined;
  }
}

/**
 * Compares what our validator says with what another implementation of draft 7 says, on so many generated schemas with
 * a few documents each.
 */
export function compareImplementations(runs: number): void {
  const seen = { valid: 0, invalid: 0, refused: 0 };
  fc.assert(
    fc.property(document, fc.array(value, { minLength: 1, maxLength: 6 }), (given, documents) => {
      let check: ReturnType<typeof compileSchema>;
      try {
        check = compileSchema(given);
      } catch (error) {
        // Circles and references to what is not there are refused; the other one may find out later.
        expect((error as Error).message).toMatch(/refers to/);
        seen.refused += 1;
        return;
      }
      const other = oracle(given);
      for (const data of documents) {
        const expected = other(data);
        if (expected === undefined) continue;
        const valid = check(data, null, new Run(new Work(), 'validity'));
        expect(valid, JSON.stringify({ given, data })).toBe(expected);
        const full = new Run(new Work(), 'all');
        expect(check(data, null, full)).toBe(expected);
        expect(full.count === 0).toBe(expected);
        const first = new Run(new Work(), 'first');
        check(data, null, first);
        expect(first.texts[0]).toBe(full.texts[0]);
        if (expected) seen.valid += 1;
        else seen.invalid += 1;
      }
    }),
    { numRuns: runs },
  );
  // Otherwise the test would have shown nothing.
  expect(Math.min(seen.valid, seen.invalid)).toBeGreaterThan(runs / 4);
}

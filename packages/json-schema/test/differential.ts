import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { JsonObject, JsonValue } from '../../exact-json/src/index.js';
import { type CompileOptions, compileSchema } from '../src/compile-schema.js';
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
interface Variant {
  readonly name: string;
  readonly options: CompileOptions;
  /** The other implementation. */
  readonly create: () => Pick<Ajv, 'compile'>;
  /** Where references lead: `x` and `y` are definitions, and `x` has an anchor in 2020-12. */
  readonly references: readonly string[];
  readonly document: (top: JsonObject, x: JsonValue, y: JsonValue) => JsonObject;
  /** Members of the top, which chance alone would rarely have. */
  readonly extra: fc.Arbitrary<JsonObject>;
  readonly keywords: (tie: Ties) => Record<string, fc.Arbitrary<JsonValue>>;
  /** Changes a schema that the other implementation is known to misread. */
  readonly adjust: (schema: JsonObject) => JsonObject;
  /** Whether the other implementation is not known to misjudge these data. */
  readonly isComparable: (schema: string, data: string) => boolean;
}

interface Ties {
  readonly schema: fc.Arbitrary<JsonValue>;
  readonly list: fc.Arbitrary<JsonValue>;
  readonly map: (key: fc.Arbitrary<string>) => fc.Arbitrary<JsonValue>;
}

const unevaluated = fc.constantFrom<JsonValue>(false, { type: 'string' });
const names = fc.uniqueArray(name, { maxLength: 2 });
const byName = (one: fc.Arbitrary<JsonValue>) =>
  fc.dictionary(name, one, { maxKeys: 2, noNullPrototype: true }) as fc.Arbitrary<JsonValue>;

/** Generates documents: a schema, with definitions that its references find. */
function documentsOf(variant: Variant): fc.Arbitrary<JsonObject> {
  const { schema } = fc.letrec<{ schema: JsonValue }>((tie) => {
    const list = fc.array(tie('schema'), { minLength: 1, maxLength: 3 });
    const map = (key: fc.Arbitrary<string>) =>
      fc.dictionary(key, tie('schema'), { maxKeys: 3, noNullPrototype: true });
    const keywords: Readonly<Record<string, fc.Arbitrary<JsonValue>>> = {
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
      required: names,
      properties: map(name),
      patternProperties: map(pattern),
      additionalProperties: tie('schema'),
      propertyNames: tie('schema'),
      dependencies: byName(fc.oneof(tie('schema'), names)),
      contains: tie('schema'),
      allOf: list,
      anyOf: list,
      oneOf: list,
      not: tie('schema'),
      if: tie('schema'),
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: tie('schema'),
      else: tie('schema'),
      $ref: fc.constantFrom(...variant.references),
      ...variant.keywords({ schema: tie('schema'), list, map }),
    };
    // Chosen before their values are made: values of keywords that are not used would take most of the time.
    const keyword = fc.oneof(
      { depthSize: 'max' },
      ...Object.entries(keywords).map(([name, values]) =>
        values.map((one): [name: string, value: JsonValue] => [name, one]),
      ),
    );
    const few = fc
      .array(keyword, { minLength: 1, maxLength: 4 })
      .map((picked): JsonObject => variant.adjust(Object.fromEntries(picked)));
    return {
      schema: fc.oneof(
        { maxDepth: 4, depthSize: 'small', withCrossShrink: true },
        fc.boolean(),
        few as fc.Arbitrary<JsonObject>,
      ),
    };
  });
  return fc
    .record({ top: schema, x: schema, y: schema, extra: variant.extra })
    .map(({ top, x, y, extra }) => variant.document({ ...(top as JsonObject), ...extra }, x, y));
}

const OPTIONS = {
  strict: false,
  logger: false,
  validateFormats: false,
  validateSchema: false,
  ownProperties: true,
  inlineRefs: false,
  meta: false,
} as const;

const DRAFT_7 = {
  name: 'draft 7',
  options: {},
  create: () => new Ajv({ ...OPTIONS, ignoreKeywordsWithRef: true }),
  references: ['#', '#/definitions/x', '#/definitions/y', '#/definitions/x/items'],
  document: (top, x, y) => ({ ...top, definitions: { x, y } }),
  extra: fc.constant({}),
  keywords: ({ schema, list }) => ({ items: fc.oneof(schema, list), additionalItems: schema }),
  adjust(schema) {
    const { $ref, ...others } = schema;
    // Beside a reference nothing counts, which the other implementation does not know of `type`.
    return $ref !== undefined && Object.keys(others).length === 0
      ? schema
      : withoutItemsBesideContains(others);
  },
  isComparable: () => true,
} satisfies Variant;

/** Beside a list of `items` the other implementation takes an empty list for one that contains anything. */
function withoutItemsBesideContains(schema: JsonObject): JsonObject {
  const { items: _, ...others } = schema;
  return Object.hasOwn(schema, 'contains') ? others : schema;
}

/** The readings of a schema that are compared with another implementation. */
export const VARIANTS: readonly Variant[] = [
  DRAFT_7,
  {
    ...DRAFT_7,
    name: 'draft 7, read leniently',
    options: { lenient: true },
    create: () => new Ajv(OPTIONS),
    adjust: withoutItemsBesideContains,
  },
  { ...dialect2020('contains'), name: '2020-12 with contains' },
  { ...dialect2020('unevaluatedItems'), name: '2020-12 with unevaluatedItems' },
];

/** Keywords whose schemas need not hold. */
const CHOICE = /"(?:anyOf|oneOf|not|if|contains|dependentSchemas)"/;

const CONDITIONAL = ['anyOf', 'oneOf', 'if', 'dependencies', 'dependentSchemas'];

/**
 * The other implementation takes all items for evaluated beside `contains`, so a document has one of the two
 * keywords only.
 */
function dialect2020(keyword: 'contains' | 'unevaluatedItems'): Omit<Variant, 'name'> {
  return {
    options: { dialect: '2020-12' },
    create: () => new Ajv2020(OPTIONS) as unknown as Ajv,
    references: ['#', '#/$defs/x', '#/definitions/y', '#x', '#/$defs/x/items'],
    document: (top, x, y) => ({
      ...top,
      $dynamicAnchor: 'top',
      $defs: { x: typeof x === 'boolean' ? x : { ...(x as JsonObject), $anchor: 'x' } },
      definitions: { y },
    }),
    extra: fc.record(
      {
        unevaluatedProperties: unevaluated,
        ...(keyword === 'unevaluatedItems' && { unevaluatedItems: unevaluated }),
      },
      { requiredKeys: [], noNullPrototype: true },
    ),
    keywords: ({ schema, list }) => ({
      prefixItems: list,
      items: schema,
      [keyword]: schema,
      ...(keyword === 'contains' && { minContains: size, maxContains: size }),
      unevaluatedProperties: schema,
      dependentRequired: byName(names),
      dependentSchemas: byName(schema),
      $dynamicRef: fc.constant('#top'),
    }),
    adjust(schema) {
      // It takes the outcome of a dynamic reference for that of the whole schema.
      if (Object.hasOwn(schema, '$dynamicRef')) return { $dynamicRef: '#top' };
      const adjusted = { ...schema };
      // Beside `prefixItems` it takes an empty list for one that contains anything.
      if (Object.hasOwn(schema, 'contains')) delete adjusted.prefixItems;
      // It takes all items for evaluated if only a schema that does not hold evaluates some.
      if (keyword === 'unevaluatedItems') for (const name of CONDITIONAL) delete adjusted[name];
      if (keyword !== 'contains') delete adjusted.contains;
      // An `if` without any effective branch is skipped by the other implementation, with its annotations.
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      if (Object.hasOwn(schema, 'if')) adjusted.then = { minLength: 0 };
      return adjusted;
    },
    // It takes inherited names for evaluated, what matches a pattern in a schema that does not hold, and whatever an
    // `if` that does not hold evaluates.
    isComparable: (schema, data) =>
      !schema.includes('unevaluatedProperties') ||
      !(
        /constructor|toString/.test(data) ||
        schema.includes('"if"') ||
        (schema.includes('patternProperties') && CHOICE.test(schema))
      ),
  };
}

/** What the widely used compiler says; undefined where it gives up. */
function oracle(given: JsonObject, { create }: Variant): (data: JsonValue) => boolean | undefined {
  try {
    const validate = create().compile(given);
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
 * Compares what our validator says with what another implementation says, on so many generated schemas with a
 * few documents each.
 */
export function compareImplementations(runs: number, variant: Variant): void {
  const seen = { valid: 0, invalid: 0, refused: 0 };
  fc.assert(
    fc.property(documentsOf(variant), fc.array(value, { minLength: 1, maxLength: 6 }), (given, documents) => {
      let check: ReturnType<typeof compileSchema>;
      try {
        check = compileSchema(given, variant.options);
      } catch (error) {
        // Circles and references to what is not there are refused; the other one may find out later.
        expect((error as Error).message).toMatch(/refers to/);
        seen.refused += 1;
        return;
      }
      const other = oracle(given, variant);
      for (const data of documents) {
        if (!variant.isComparable(JSON.stringify(given), JSON.stringify(data))) continue;
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

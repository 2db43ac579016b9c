import fc from 'fast-check';

/** A JSON Schema, as the document holds it. */
export type Schema = Record<string, unknown>;

/** Depth beyond which generated values get no deeper members. */
const MAX_DEPTH = 5;
/** One value in so many is not what the schema says. */
const JUNK_RATE = 12;

const JUNK = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    1,
    -1,
    1.5,
    1e308,
    2 ** 31,
    2 ** 53,
    -0,
    '',
    ' ',
    'a',
    '0',
    '1e3',
  ),
  fc.constantFrom<unknown>(
    '\u0000',
    '\ud800',
    '%00',
    '__proto__',
    'constructor',
    '(',
    '[a-',
    '\\p{Nope}',
    'ſ',
    '💥',
  ),
  fc.constantFrom<unknown>([], {}, [[]], [null], { $param: 'x' }, { __proto__: null, a: 1 }, [{ and: [] }]),
  fc.string({ maxLength: 300 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.jsonValue({ maxDepth: 3 }),
);

/** Values by member name that lead somewhere: names that exist, patterns that compile, paths that select. */
const MEANINGFUL: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  agent_name: fc.constantFrom('fuzz-agent-01', 'fuzz-agent-02', 'Fuzz-Agent-03', 'no-such-agent'),
  control_id: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constantFrom(0, -1, 2 ** 31)),
  policy_id: fc.integer({ min: 1, max: 12 }),
  version_num: fc.integer({ min: 1, max: 5 }),
  evaluator_name: fc.constantFrom('tone', 'a', '__proto__'),
  name: fc.oneof(
    fc.constantFrom('regex', 'list', 'json', 'fuzz', 'tone', 'search', 'fuzz-agent-01:tone'),
    fc.integer({ min: 0, max: 30 }).map((number) => `fuzz-${number}`),
  ),
  path: fc.constantFrom('*', 'input', 'input.text', 'output', 'name', 'context.role', 'nowhere'),
  config: fc.oneof(
    fc.record({ pattern: fc.constantFrom('a', '\\d{4}', '(?i)secret', '(') }),
    fc.record({ values: fc.array(fc.constantFrom<unknown>('a', 'b', 5, true)) }),
    fc.constant({}),
  ),
  time_range: fc.constantFrom('1m', '5m', '1h', '24h', '7d', '365d', 'soon'),
  cursor: fc.constantFrom('', '5', 'fuzz-agent-01', 'x'),
  limit: fc.constantFrom(1, 5, 20, 100, 101, 0, -1),
};

/** Values that mostly satisfy a schema and sometimes do not. `resolve` follows references. */
export function schemaArbitrary(
  schema: Schema,
  resolve: (reference: string) => Schema,
  name = '',
  depth = 0,
): fc.Arbitrary<unknown> {
  const proper = properValue(schema, resolve, name, depth);
  return fc.oneof({ arbitrary: proper, weight: JUNK_RATE }, { arbitrary: JUNK, weight: 1 });
}

function properValue(
  schema: Schema,
  resolve: (reference: string) => Schema,
  name: string,
  depth: number,
): fc.Arbitrary<unknown> {
  const meaningful = Object.hasOwn(MEANINGFUL, name) ? MEANINGFUL[name] : undefined;
  if (meaningful !== undefined) return meaningful;
  if (typeof schema.$ref === 'string') return schemaArbitrary(resolve(schema.$ref), resolve, name, depth);
  if ('const' in schema) return fc.constant(schema.const);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  const choices = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(choices)) {
    return fc.oneof(...choices.map((one: Schema) => schemaArbitrary(one, resolve, name, depth)));
  }
  const type = Array.isArray(schema.type) ? schema.type : [schema.type];
  return fc.oneof(...type.map((one) => valueOfType(String(one), schema, resolve, name, depth)));
}

function valueOfType(
  type: string,
  schema: Schema,
  resolve: (reference: string) => Schema,
  name: string,
  depth: number,
): fc.Arbitrary<unknown> {
  switch (type) {
    case 'string':
      return fc.oneof(fc.string({ minLength: 1, maxLength: 20 }), fc.constantFrom('text', 'secret 1234'));
    case 'integer':
      return fc.integer({ min: -2, max: 200 });
    case 'number':
      return fc.double({ min: 0, max: 1, noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array': {
      const items = (schema.items ?? {}) as Schema;
      const maxLength = depth >= MAX_DEPTH ? 0 : 3;
      return fc.array(schemaArbitrary(items, resolve, name, depth + 1), { maxLength });
    }
    case 'object':
      return objectValue(schema, resolve, depth);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

function objectValue(
  schema: Schema,
  resolve: (reference: string) => Schema,
  depth: number,
): fc.Arbitrary<unknown> {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Schema>);
  if (properties.length === 0)
    return fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 1 }));
  const required = new Set((schema.required ?? []) as string[]);
  const members = properties.filter(([name]) => depth < MAX_DEPTH || required.has(name));
  const requiredKeys = members.map(([name]) => name).filter((name) => required.has(name));
  const model = Object.fromEntries(
    members.map(([name, member]) => [
      name,
      depth > 2 * MAX_DEPTH ? fc.constant(null) : schemaArbitrary(member, resolve, name, depth + 1),
    ]),
  );
  return fc.oneof(
    { arbitrary: fc.record(model, { requiredKeys }), weight: JUNK_RATE },
    { arbitrary: fc.record(model, { requiredKeys: [] }), weight: 1 },
  );
}

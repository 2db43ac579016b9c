import { z } from 'zod';
import { isObject, type JsonObject, type JsonValue } from '../../../../packages/exact-json/src/index.js';
import { pathPart } from '../../../contract/errors/quoted.js';
import { field, nullable, oneOf, refuse, report } from '../../../contract/input/fields.js';
import { createSuggester, type Suggester } from '../../../contract/warnings/suggestion.js';
import type { ConfigWarning } from '../../core/evaluator.js';

/** Keywords that make the members of an object unknowable from `properties` alone. */
const OPEN_KEYWORDS = [
  'patternProperties',
  'unevaluatedProperties',
  'if',
  'then',
  'else',
  'dependentSchemas',
];
/** Deepest reference or alternative that is followed; a deeper schema is treated as accepting anything. */
const MAX_SCHEMA_STEPS = 32;

/** Declared members of an object; null when any member may be valid. */
interface Members {
  readonly named: ReadonlyMap<string, JsonObject>;
  /** Schema of members without a name in the schema; null when none are allowed. */
  readonly others: JsonObject | null;
}

/**
 * Members of a configuration that its JSON Schema does not declare, at every level. Where the schema allows
 * further members on purpose, by `additionalProperties`, or by unsupported keywords, nothing is reported.
 */
export function* undeclaredMembers(config: JsonObject, schema: JsonObject): Generator<ConfigWarning, void> {
  yield* inValue(config, [schema], [], { root: schema, ...createSuggester() });
}

/** One walk over a configuration. */
interface Walk extends Suggester {
  /** The schema that references resolve against. */
  readonly root: JsonObject;
}

function* inValue(
  value: JsonValue,
  schemas: readonly JsonObject[],
  path: readonly (string | number)[],
  walk: Walk,
): Generator<ConfigWarning, void> {
  const { root } = walk;
  if (Array.isArray(value)) {
    const forms = schemas.flatMap((schema) => alternatives(schema, root, 0) ?? [ANYTHING]);
    const itemSchemas = forms
      .filter((form) => mayBe(form, 'array'))
      .map(({ items }) => (isObject(items) ? items : ANYTHING));
    for (const [index, item] of value.entries()) yield* inValue(item, itemSchemas, [...path, index], walk);
    return;
  }
  if (!isObject(value)) return;
  const members = membersOf(schemas, root);
  if (members === null) return;
  for (const [name, member] of Object.entries(value)) {
    const declared = members.named.get(name) ?? members.others;
    if (declared !== null) {
      yield* inValue(member, [declared], [...path, name], walk);
      continue;
    }
    const message = `unknown member${walk.didYouMean(name, members.named.keys())}`;
    yield { code: 'unknown_member', path: [...path, name], message };
  }
}

/** An empty schema, which accepts anything. */
const ANYTHING: JsonObject = {};

function membersOf(schemas: readonly JsonObject[], root: JsonObject): Members | null {
  const named = new Map<string, JsonObject>();
  let others: JsonObject | null = null;
  let isDeclared = false;
  for (const schema of schemas) {
    const forms = alternatives(schema, root, 0);
    if (forms === null) return null;
    for (const form of forms) {
      if (!mayBe(form, 'object')) continue;
      if (OPEN_KEYWORDS.some((keyword) => Object.hasOwn(form, keyword))) return null;
      const { properties, additionalProperties } = form;
      if (isObject(properties)) {
        for (const [name, member] of Object.entries(properties)) {
          named.set(name, isObject(member) ? member : ANYTHING);
        }
        isDeclared = true;
      } else if (isObject(additionalProperties)) isDeclared = true;
      else return null;
      if (additionalProperties === true) return null;
      if (isObject(additionalProperties)) others = additionalProperties;
    }
  }
  return isDeclared ? { named, others } : null;
}

/** Whether a schema allows values of a type. */
function mayBe({ type }: JsonObject, name: string): boolean {
  return type === undefined || type === name || (Array.isArray(type) && type.includes(name));
}

/** The schemas that a value may satisfy; null when undecidable. */
function alternatives(schema: JsonObject, root: JsonObject, steps: number): JsonObject[] | null {
  if (steps > MAX_SCHEMA_STEPS) return null;
  const { $ref: reference } = schema;
  if (reference !== undefined) {
    const target = typeof reference === 'string' ? resolved(reference, root) : null;
    return target === null ? null : alternatives(target, root, steps + 1);
  }
  const found: JsonObject[] = [];
  let isComposed = false;
  for (const keyword of ['anyOf', 'oneOf', 'allOf']) {
    const parts = schema[keyword];
    if (!Array.isArray(parts)) continue;
    isComposed = true;
    for (const part of parts) {
      const inner = isObject(part) ? alternatives(part, root, steps + 1) : null;
      if (inner === null) return null;
      found.push(...inner);
    }
  }
  if (!isComposed) return [schema];
  return isObject(schema.properties) ? [...found, schema] : found;
}

/** Resolves a reference within the schema (RFC 6901). */
function resolved(reference: string, root: JsonObject): JsonObject | null {
  if (!reference.startsWith('#')) return null;
  let found: JsonValue | undefined = root;
  for (const part of reference.slice(1).split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  }
  return isObject(found) ? found : null;
}

/** The path of a member of a configuration as text, below the path of the configuration. */
export function configPath(config: string, path: readonly (string | number)[]): string {
  return path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : `${text}.${pathPart(part)}`),
    config,
  );
}

/** A problem of one member of a configuration. */
export interface ConfigProblem {
  /** Issue code of the contract: `missing`, `value_error`, `string_type` … */
  readonly code: string;
  readonly message: string;
  /** Path of the member within the configuration. */
  readonly path: readonly PropertyKey[];
  /** The value sent; undefined for a missing member. */
  readonly input: JsonValue | undefined;
}

/** A schema for configurations checked by a function. Values are returned unchanged. */
export function configSchemaOf(
  problemsOf: (config: JsonObject) => readonly ConfigProblem[],
): z.ZodType<JsonObject> {
  return field((value, sink) => {
    if (!isObject(value)) return refuse(sink, 'dict_type', 'must be an object', value);
    const problems = problemsOf(value);
    for (const { code, message, path, input } of problems) report(sink, code, message, input, [...path]);
    return problems.length === 0 ? value : z.NEVER;
  });
}

/** The member that states whether texts are normalised before matching; absent or `nfkc`. */
export function normalization() {
  return nullable(oneOf(['nfkc'])).meta({
    description:
      'With nfkc, texts are brought into the Unicode form NFKC before they are looked at, and characters that are not ' +
      'seen (Default_Ignorable_Code_Point: zero-width ones, marks of direction, soft hyphens, tags …) are left out. ' +
      'Default: texts are looked at as they are.',
  });
}

import { isContainer, isObject, type JsonObject, type JsonValue } from '../../exact-json/src/index.js';
import { compilePattern, shorten } from '../../linear-text/src/index.js';
import { APPLICATORS, every } from './applicators.js';
import { ASSERTIONS } from './assertions.js';
import { countValues } from './bounds.js';
import { readMetaSchema } from './meta-schema.js';
import { SchemaWorkError } from './reference.js';
import { findReferences, type References } from './references.js';
import { Run, type SchemaCheck } from './run.js';
import { type CountedPattern, countedPattern, Work } from './work.js';

/** Most values (members and items at any level) of a schema: checking and compiling them takes some 10 ms. */
export const MAX_SCHEMA_VALUES = 5_000;
/** Deepest nesting of a schema: real schemas stay below, and references do not need it. */
export const MAX_SCHEMA_DEPTH = 64;
/** Work limit of checking a schema against the meta-schema; one of the largest size needs less. */
const META_WORK = 5_000_000;
/** Longest quotation of a pattern in a message, in characters. */
const QUOTED_PATTERN_LENGTH = 100;

/**
 * Compiles a JSON Schema of draft 7 to closures. `$schema` is ignored and `format` not checked; keywords next
 * to a `$ref` are ignored, as the draft requires; references resolve only within the document; patterns are
 * RE2's.
 *
 * Designed for hostile schemas and data. A compiler to JavaScript, as used for the schemas of registered
 * evaluators, takes a tenth of a millisecond for each value of a schema, skips members named `__proto__`, has
 * no integers beyond 2^53, orders its problems arbitrarily, and joins lists of problems in quadratic time.
 * Here every application is counted as it happens, and problems are in schema order.
 *
 * Throws an Error whose message completes "the schema …".
 */
export function compileSchema(schema: JsonObject): SchemaCheck {
  const problem = boundsProblem(schema);
  if (problem !== undefined) throw new SchemaWorkError(problem);
  verify(schema);
  return build(schema, findReferences(schema, verify));
}

function boundsProblem(schema: JsonObject): string | undefined {
  if (isDeeper(schema, MAX_SCHEMA_DEPTH)) return `nests deeper than ${MAX_SCHEMA_DEPTH} levels`;
  return countValues(schema, MAX_SCHEMA_VALUES) > MAX_SCHEMA_VALUES
    ? `has more than ${MAX_SCHEMA_VALUES} values`
    : undefined;
}

let metaCheck: SchemaCheck | undefined;

function verify(schema: JsonObject): void {
  if (metaCheck === undefined) {
    const meta = readMetaSchema();
    metaCheck = build(
      meta,
      findReferences(meta, () => {}),
    );
  }
  const run = new Run(new Work(META_WORK), 'first');
  if (!metaCheck(schema, null, run)) throw new SchemaWorkError(`is invalid at ${run.texts[0]}`);
}

function build(root: JsonObject, references: References): SchemaCheck {
  const checks = new Map<JsonObject, SchemaCheck>();
  const pending: (() => void)[] = [];
  const patterns = new Map<string, CountedPattern>();

  /** Schemas are compiled one after another, not recursively, so chains of references need no stack. */
  function check(schema: JsonValue): SchemaCheck {
    if (!isObject(schema)) return schema === false ? nothing : anything;
    const known = checks.get(schema);
    if (known !== undefined) return known;
    let keywords: readonly SchemaCheck[] = [];
    const applied: SchemaCheck = (value, place, run) => {
      run.work.enter(keywords.length);
      const valid = every(keywords, value, place, run);
      run.work.leave();
      return valid;
    };
    checks.set(schema, applied);
    pending.push(() => {
      keywords = compileKeywords(schema);
    });
    return applied;
  }

  function compileKeywords(schema: JsonObject): SchemaCheck[] {
    const target = references.get(schema);
    if (target !== undefined) return [check(target)];
    return Object.entries(schema).flatMap(([keyword, given]) => {
      const assertion = ASSERTIONS.get(keyword)?.(given, { schema, pattern });
      return assertion ?? APPLICATORS.get(keyword)?.(given, { schema, pattern, check }) ?? [];
    });
  }

  function pattern(source: string): CountedPattern {
    const known = patterns.get(source);
    if (known !== undefined) return known;
    try {
      const compiled = countedPattern(compilePattern(source));
      patterns.set(source, compiled);
      return compiled;
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'it is invalid';
      throw new SchemaWorkError(`has the pattern ${shorten(source, QUOTED_PATTERN_LENGTH)}: ${reason}`);
    }
  }

  const top = check(root);
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) next();
  return top;
}

const anything: SchemaCheck = () => true;
const nothing: SchemaCheck = (_value, place, run) => run.fail(place, () => 'is not allowed');

function isDeeper(value: JsonValue, levels: number): boolean {
  if (!isContainer(value)) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1));
}

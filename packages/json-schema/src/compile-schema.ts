import { isObject, type JsonObject, type JsonValue } from '../../exact-json/src/index.js';
import { compilePattern, shorten } from '../../linear-text/src/index.js';
import { boundsProblem, MAX_SCHEMA_VALUES } from './bounds.js';
import { type Dialect, type DialectName, dialectOf } from './dialects.js';
import { every, own } from './keyword.js';
import { findReferences, type References } from './references.js';
import { describeProblem, Run, type SchemaCheck } from './run.js';
import { SchemaError } from './schema-error.js';
import { type CountedPattern, countedPattern, Work } from './work.js';

/** Work limit of checking a schema against the meta-schema; one of the largest size needs less. */
const META_WORK = 5_000_000;
/** Longest quotation of a pattern in a message, in characters. */
const QUOTED_PATTERN_LENGTH = 100;

/** How a schema is compiled. */
export interface CompileOptions {
  /** Default: draft 7. `$schema` is ignored. */
  readonly dialect?: DialectName;
  /**
   * Reads a schema as widely used compilers do: in draft 7 too, keywords beside a `$ref` apply, and `nullable`
   * beside `type` allows null.
   */
  readonly lenient?: boolean;
  /** Most values of the schema; default MAX_SCHEMA_VALUES. */
  readonly mostValues?: number;
  /** Called before a pattern is compiled; throws to refuse it. */
  readonly spendOnPattern?: (pattern: string) => void;
}

/**
 * Compiles a JSON Schema to closures. `format` is not checked; references resolve only within the document;
 * patterns are RE2's. In draft 7 keywords next to a `$ref` are ignored, as the draft requires.
 *
 * Designed for hostile schemas and data: every application is counted as it happens, and problems are in
 * schema order.
 *
 * Throws a SchemaError whose message completes "the schema …".
 */
export function compileSchema(schema: JsonObject, options: CompileOptions = {}): SchemaCheck {
  const problem = boundsProblem(schema, options.mostValues ?? MAX_SCHEMA_VALUES);
  if (problem !== undefined) throw new SchemaError(problem, 'unsupported');
  const dialect = dialectOf(options.dialect ?? 'draft-07', options.lenient ?? false);
  const verify = (part: JsonObject) => verifySchema(part, dialect.meta);
  verify(schema);
  return build(schema, findReferences(schema, dialect, verify), dialect, options);
}

const metaChecks = new Map<JsonObject, SchemaCheck>();

function verifySchema(schema: JsonObject, meta: JsonObject): void {
  let metaCheck = metaChecks.get(meta);
  if (metaCheck === undefined) {
    const dialect = dialectOf('draft-07', false);
    metaCheck = build(
      meta,
      findReferences(meta, dialect, () => {}),
      dialect,
      {},
    );
    metaChecks.set(meta, metaCheck);
  }
  const run = new Run(new Work(META_WORK), 'first', 1);
  if (metaCheck(schema, null, run)) return;
  const [problem] = run.problems;
  const detail = problem === undefined ? undefined : describeProblem(problem, 'schema');
  throw new SchemaError(`is invalid at ${run.texts[0]}`, 'invalid', detail);
}

function build(
  root: JsonObject,
  references: References,
  dialect: Dialect,
  { lenient = false, spendOnPattern }: CompileOptions,
): SchemaCheck {
  const checks = new Map<JsonObject, SchemaCheck>();
  const pending: (() => void)[] = [];
  const patterns = new Map<string, CountedPattern>();
  const collects = [...references.keys()].some((schema) =>
    Object.keys(schema).some((keyword) => readsEvaluated(keyword) && dialect.keywords.has(keyword)),
  );

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
    const collected = collects ? collecting(applied) : applied;
    checks.set(schema, collected);
    pending.push(() => {
      keywords = compileKeywords(schema);
    });
    return collected;
  }

  function compileKeywords(schema: JsonObject): SchemaCheck[] {
    if (lenient && Object.hasOwn(schema, 'nullable') && !Object.hasOwn(schema, 'type')) {
      throw new SchemaError('has nullable without type, which is not supported', 'unsupported');
    }
    const targets = references.get(schema);
    const target = dialect.overridingRef ? targets?.get('$ref') : undefined;
    if (target !== undefined) return [check(target)];
    const given = Object.keys(schema).filter((keyword) => !readsEvaluated(keyword));
    return [...given, ...Object.keys(schema).filter(readsEvaluated)].flatMap((keyword) => {
      const compile = dialect.keywords.get(keyword);
      const context = { keyword, schema, collects, lenient, pattern, check };
      const leadsTo = () => targets?.get(keyword) ?? true;
      return compile?.(own(schema, keyword) as JsonValue, { ...context, target: leadsTo }) ?? [];
    });
  }

  function pattern(source: string): CountedPattern {
    const known = patterns.get(source);
    if (known !== undefined) return known;
    spendOnPattern?.(source);
    try {
      const compiled = countedPattern(compilePattern(source));
      patterns.set(source, compiled);
      return compiled;
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'it is invalid';
      throw new SchemaError(`has the pattern ${shorten(source, QUOTED_PATTERN_LENGTH)}: ${reason}`);
    }
  }

  const top = check(root);
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) next();
  return top;
}

/** Keywords that depend on all others of a schema. They are compiled last. */
function readsEvaluated(keyword: string): boolean {
  return keyword === 'unevaluatedProperties' || keyword === 'unevaluatedItems';
}

/** Where all problems are wanted, a failure is final: the members of failed schemas stay evaluated. */
function collecting(applied: SchemaCheck): SchemaCheck {
  return (value, place, run) => {
    const outer = run.evaluated.enter(value);
    const valid = applied(value, place, run);
    run.evaluated.leave(outer, valid || !run.endsAtFirst);
    return valid;
  };
}

const anything: SchemaCheck = (_value, _place, run) => {
  run.work.spend(1);
  return true;
};
const nothing: SchemaCheck = (_value, place, run) => {
  run.work.spend(1);
  return run.fail(place, 'false', () => 'is not allowed');
};

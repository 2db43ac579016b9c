/**
 * The field types of request schemas. They are zod schemas whose issues have the codes known to deployed
 * clients (`missing`, `string_type`, `int_parsing` …) and that coerce the lax inputs accepted from those
 * clients. Objects are plain zod (`z.object`); `items.ts` gives their issues the same codes. Lists are
 * `list`, which unlike `z.array` stops at a bounded number of problems.
 */
import { z } from 'zod';
import {
  isDeeperThan,
  isNumber,
  isObject,
  type JsonObject,
  type JsonValue,
  MAX_JSON_DEPTH,
} from '../../../packages/exact-json/src/index.js';
import { MAX_ERROR_ITEMS } from './items.js';
import { FIELD_REQUIRED, PARSE_OPTIONS } from './messages.js';

/** Receives the issues of a check: the context that zod passes to transforms and checks. */
export interface IssueSink {
  readonly issues: { push(issue: z.core.$ZodRawIssue): unknown };
}

/** Adds an issue with one of our codes. `path` is relative to the schema that reports it. */
export function report(
  sink: IssueSink,
  code: string,
  message: string,
  input: unknown,
  path: PropertyKey[] = [],
): void {
  sink.issues.push({ code: 'custom', message, input, path, params: { code } });
}

/** Reads a value; reports an invalid one and returns `z.NEVER`. Never called with undefined. */
export type Read<T> = (value: JsonValue, sink: IssueSink) => T;

/** Readers of plain fields in lists: a zod parse for each of a million items takes more than a second. */
const directReads = new WeakMap<z.ZodType, Read<unknown>>();

/**
 * Gives the items of a list a reader for well-formed values that bypasses the schema. `fast` returns
 * undefined for values it does not support, which are left to the schema; for all others its result must
 * equal that of the schema.
 */
export function withFastRead<T>(
  schema: z.ZodType<T>,
  fast: (value: JsonValue) => T | undefined,
): z.ZodType<T> {
  const read: Read<T> = (value, sink) => fast(value) ?? readWith(schema, value, sink) ?? z.NEVER;
  directReads.set(schema, read);
  return schema;
}

/** A required field read by `read`; `jsonSchema` is shown in documents. */
export function field<T>(read: Read<T>, jsonSchema: JsonObject = {}): z.ZodType<T> {
  const schema = z.unknown().transform((value, sink): T => {
    if (value !== undefined) return read(value as JsonValue, sink);
    report(sink, 'missing', FIELD_REQUIRED, undefined);
    return z.NEVER;
  });
  const described = schema.meta(jsonSchema) as z.ZodType<T>;
  directReads.set(described, read);
  return described;
}

/** The schema shown in documents: JSON Schema (2020-12) of its input, without `$schema`. */
export function jsonSchemaOf(schema: z.ZodType): JsonObject {
  const { $schema: _, ...shown } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  const example = examples.get(schema);
  return { ...(shown as JsonObject), ...(example === undefined ? {} : { examples: [example] }) };
}

/** By schema, because zod drops the examples of inputs that are transformed. */
const examples = new WeakMap<z.ZodType, JsonObject>();

/** A schema with an example for the OpenAPI document; members of the path are left out of it. */
export function withExample<T>(schema: z.ZodType<T>, example: JsonObject): z.ZodType<T> {
  examples.set(schema, example);
  return schema;
}

/** Absent and null are both read as undefined. */
export function nullable<T>(inner: z.ZodType<T>): z.ZodType<T | undefined> {
  return inner.nullish().transform((value) => value ?? undefined);
}

/** Absent and null are both read as null. */
export function orNull<T>(inner: z.ZodType<T>): z.ZodType<T | null> {
  return nullable(inner).transform((value) => value ?? null);
}

/** Absent and null are both read as `value`. */
export function orElse<T>(inner: z.ZodType<T>, value: NoInfer<T>): z.ZodType<T> {
  return nullable(inner).transform((given) => given ?? value);
}

/** Absent is read as `value`; null is left to `inner`. */
export function withDefault<T>(inner: z.ZodType<T>, value: NoInfer<T>): z.ZodType<T> {
  return inner.optional().transform((read) => (read === undefined ? value : read));
}

/** Limits of a text. The codes differ between members because deployed clients depend on them. */
export interface TextLimits {
  readonly min?: number;
  readonly max?: number;
  readonly pattern?: RegExp;
  readonly trim?: boolean;
  readonly tooShort?: 'string_too_short' | 'too_short' | 'value_error';
  readonly tooLong?: 'string_too_long' | 'too_long';
  /** The message for a text that is too short; states the least length by default. */
  readonly tooShortMessage?: string;
}

/** A string. Lengths count UTF-16 code units. Never made from numbers. */
export function text(limits: TextLimits = {}): z.ZodType<string> {
  const { min = 0, max = Number.POSITIVE_INFINITY, pattern, trim = false } = limits;
  const { tooShort = 'string_too_short', tooLong = 'string_too_long' } = limits;
  const { tooShortMessage = `must have at least ${min} ${min === 1 ? 'character' : 'characters'}` } = limits;
  return field((value, sink) => {
    if (typeof value !== 'string') return refuse(sink, 'string_type', 'must be a string', value);
    const read = trim ? value.trim() : value;
    if (read.length < min) return refuse(sink, tooShort, tooShortMessage, value);
    if (read.length > max) return refuse(sink, tooLong, `must have at most ${max} characters`, value);
    if (pattern !== undefined && !pattern.test(read)) {
      return refuseTyped(sink, 'string_pattern_mismatch', `must match ${pattern.source}`, value);
    }
    return read;
  }, shownText(limits));
}

/** How documents show a text with these limits. */
export function shownText({
  min = 0,
  max,
  pattern,
}: Pick<TextLimits, 'min' | 'max' | 'pattern'>): JsonObject {
  return {
    type: 'string',
    ...(min > 0 ? { minLength: min } : {}),
    ...(max === undefined ? {} : { maxLength: max }),
    ...(pattern === undefined ? {} : { pattern: pattern.source }),
  };
}

const TRUE_WORDS = new Set(['true', '1', 'yes', 'on', 't', 'y']);
const FALSE_WORDS = new Set(['false', '0', 'no', 'off', 'f', 'n']);

/** A boolean; also 1 and 0 and the usual words in any case. */
export function boolean(): z.ZodType<boolean> {
  return field(
    (value, sink) => {
      if (typeof value === 'boolean') return value;
      if (value === 1 || value === 0) return value === 1;
      if (typeof value === 'string') {
        const word = value.toLowerCase();
        if (TRUE_WORDS.has(word)) return true;
        if (FALSE_WORDS.has(word)) return false;
      }
      if (typeof value === 'string' || isNumber(value)) {
        return refuseTyped(sink, 'bool_parsing', 'must be true or false', value);
      }
      return refuse(sink, 'bool_type', 'must be true or false', value);
    },
    { type: 'boolean' },
  );
}

/** Whether a request asks for something, such as strict mode; absent and null mean no. */
export function flag(): z.ZodType<boolean> {
  return orElse(boolean(), false);
}

/** One of the given words, exactly as written. */
export function oneOf<const T extends string>(
  words: readonly T[],
  code: 'literal_error' | 'enum' | 'value_error' = 'literal_error',
): z.ZodType<T> {
  return field(
    (value, sink) => {
      const found = words.find((word) => word === value);
      return found ?? refuseTyped(sink, code, `must be one of: ${words.join(', ')}`, value);
    },
    { type: 'string', enum: [...words] },
  );
}

/** A free-form JSON object, unchanged, at most MAX_JSON_DEPTH levels deep. */
export function freeObject(): z.ZodType<JsonObject> {
  return field(
    (value, sink) => {
      if (!isObject(value)) return refuse(sink, 'dict_type', 'must be an object', value);
      return notTooDeep(value, sink);
    },
    { type: 'object', additionalProperties: true },
  );
}

/** Any JSON value, null included, at most MAX_JSON_DEPTH levels deep. The member itself is required. */
export function anyJson(): z.ZodType<JsonValue> {
  return field((value, sink) => notTooDeep(value, sink));
}

function notTooDeep<T extends JsonValue>(value: T, sink: IssueSink): T {
  if (!isDeeperThan(value, MAX_JSON_DEPTH)) return value;
  return refuse(sink, 'recursion_loop', `must not nest deeper than ${MAX_JSON_DEPTH} levels`, value);
}

/**
 * A list; `min` and `max` limit its length. Reading stops at MAX_ERROR_ITEMS problems, so that the cost of a hostile
 * list is linear.
 */
export function list<T>(
  item: z.ZodType<T>,
  { min = 0, max = Number.POSITIVE_INFINITY }: { readonly min?: number; readonly max?: number } = {},
): z.ZodType<T[]> {
  // The reader was registered with this same schema, so it reads the same type.
  const read =
    (directReads.get(item) as Read<T> | undefined) ?? ((value, sink) => readWith(item, value, sink));
  return field(
    (value, sink) => {
      if (!Array.isArray(value)) return refuse(sink, 'list_type', 'must be a list', value);
      if (value.length < min)
        return refuse(sink, 'too_short', `must have at least ${min} ${min === 1 ? 'item' : 'items'}`, value);
      if (value.length > max) {
        return refuse(sink, 'too_long', `must have at most ${max} items, not ${value.length}`, null);
      }
      const items: T[] = [];
      let problems = 0;
      let index = 0;
      const push: IssueSink['issues']['push'] = (issue) => {
        problems += 1;
        return sink.issues.push({ ...issue, path: [index, ...(issue.path ?? [])] });
      };
      const itemSink: IssueSink = { issues: { push } };
      for (; index < value.length && problems < MAX_ERROR_ITEMS; index += 1) {
        const found = read(value[index] as JsonValue, itemSink);
        if (problems === 0) items.push(found as T);
      }
      return problems === 0 ? items : z.NEVER;
    },
    {
      type: 'array',
      // Made where a document shows it: making those of all lists takes part of every start.
      get items() {
        return jsonSchemaOf(item);
      },
      ...(min > 0 ? { minItems: min } : {}),
      ...(Number.isFinite(max) ? { maxItems: max } : {}),
    },
  );
}

/** The same; absent and null are both read as an empty one. */
export function listOrNone<T>(item: z.ZodType<T>, limits: Parameters<typeof list>[1] = {}): z.ZodType<T[]> {
  return nullable(list(item, limits)).transform((given) => given ?? []);
}

/** Reads a value with another schema. Issues go to `sink`, below `path`; the result is then undefined. */
export function readWith<T>(
  schema: z.ZodType<T>,
  value: unknown,
  sink: IssueSink,
  path: readonly PropertyKey[] = [],
): T | undefined {
  const found = schema.safeParse(value, PARSE_OPTIONS);
  if (found.success) return found.data;
  for (const issue of found.error.issues) {
    // A finished issue is a raw one too; the types differ only in their index signature.
    sink.issues.push({ ...issue, path: [...path, ...issue.path] } as z.core.$ZodRawIssue);
  }
  return undefined;
}

/** The same about a word, a number or a name that the author of the request typed: its message may quote the value. */
export function refuseTyped(sink: IssueSink, code: string, message: string, value: unknown): never {
  const params = { code, quotable: true };
  sink.issues.push({ code: 'custom', message, input: value, path: [], params });
  return z.NEVER;
}

/** Reports an issue and returns zod's mark for "no value". */
export function refuse(sink: IssueSink, code: string, message: string, value: unknown): never {
  report(sink, code, message, value);
  return z.NEVER;
}

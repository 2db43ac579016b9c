import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../packages/exact-json/src/index.js';
import type { EvaluatorResult } from '../../../src/kernel/core/types.js';
import { jsonEvaluator } from '../../../src/kernel/evaluators/json/json.js';
import { FULL_CALL } from '../../support/check-call.js';

/** Few names, so that paths often lead somewhere. */
const name = fc.constantFrom('a', 'b', 'constructor');
const path = fc.array(name, { minLength: 1, maxLength: 2 }).map((names) => names.join('.'));
const scalar = fc.constantFrom<JsonValue>(null, true, false, 0, 1, 2, 1.5, '', 'a', 'A', 'ab', '😀');
const { document } = fc.letrec<{ value: JsonValue; document: JsonObject }>((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, scalar, tie('document'), fc.array(scalar, { maxLength: 2 })),
  document: fc.dictionary(name, tie('value'), { minKeys: 1, maxKeys: 3, noNullPrototype: true }),
}));

const type = fc.constantFrom('string', 'number', 'integer', 'boolean', 'array', 'object', 'null');
const limit = fc.integer({ min: 0, max: 2 });
const constraints = fc
  .record(
    {
      min: limit,
      max: limit,
      enum: fc.array(scalar, { minLength: 1, maxLength: 3 }),
      min_length: limit,
      max_length: limit,
    },
    { requiredKeys: [], noNullPrototype: true },
  )
  .map((given) => (Object.keys(given).length === 0 ? { min: 1 } : given));
const pattern = fc.constantFrom('a', '^$', '1', '^A$', 'null');
const byPath = <T>(rule: fc.Arbitrary<T>, of: fc.Arbitrary<string>, maxKeys: number) =>
  fc.dictionary(of, rule, { minKeys: 1, maxKeys, noNullPrototype: true });

const configOver = (of: fc.Arbitrary<string>, maxKeys: number) =>
  fc
    .record(
      {
        required_fields: fc.uniqueArray(of, { minLength: 1, maxLength: maxKeys }),
        field_types: byPath(type, of, maxKeys),
        field_constraints: byPath(constraints, of, maxKeys),
        field_patterns: byPath(pattern, of, maxKeys),
        allow_extra_fields: fc.boolean(),
        allow_null_required: fc.boolean(),
        pattern_match_logic: fc.constantFrom('all' as const, 'any' as const),
        case_sensitive_enums: fc.boolean(),
      },
      { requiredKeys: [], noNullPrototype: true },
    )
    .filter((given) =>
      [given.required_fields, given.field_types, given.field_constraints, given.field_patterns].some(Boolean),
    );
const CHECKS = ['required_fields', 'field_types', 'field_constraints', 'field_patterns'] as const;
/** Small ones as well, because hardly any document passes a large one. */
const small = fc.tuple(configOver(name, 1), fc.nat({ max: 3 })).map(([given, pick]) => {
  const present = CHECKS.filter((check) => given[check] !== undefined);
  const kept = present[pick % present.length];
  const entries = Object.entries(given).filter(
    ([key]) => key === kept || !present.some((one) => one === key),
  );
  return Object.fromEntries(entries) as typeof given;
});
const config = fc.oneof(configOver(path, 3), small);
type Config = typeof config extends fc.Arbitrary<infer T> ? T : never;

/** The rules of the contract, read one by one; the name of the first check that fails. */
function naive(given: Config, data: JsonObject): string {
  const at = (dotted: string): JsonValue | undefined => {
    let found: JsonValue | undefined = data;
    for (const key of dotted.split('.')) {
      if (typeof found !== 'object' || found === null || Array.isArray(found)) return undefined;
      found = new Map(Object.entries(found)).get(key);
    }
    return found;
  };
  for (const dotted of given.required_fields ?? []) {
    const found = at(dotted);
    if (found === undefined || (found === null && !given.allow_null_required)) return 'required';
  }
  for (const [dotted, wanted] of Object.entries(given.field_types ?? {})) {
    const found = at(dotted);
    if (found === undefined || !typesOf(found).includes(wanted)) return 'types';
  }
  if (given.field_types !== undefined && given.allow_extra_fields === false) {
    const known = [given.field_types, given.field_constraints, given.field_patterns].flatMap((one) =>
      Object.keys(one ?? {}),
    );
    known.push(...(given.required_fields ?? []));
    if (leaves(data).some((leaf) => !known.includes(leaf))) return 'types';
  }
  for (const [dotted, rule] of Object.entries(given.field_constraints ?? {})) {
    const found = at(dotted);
    if (found === undefined) return 'constraints';
    if (rule.min !== undefined && !(typeof found === 'number' && found >= rule.min)) return 'constraints';
    if (rule.max !== undefined && !(typeof found === 'number' && found <= rule.max)) return 'constraints';
    const same = (one: JsonValue) =>
      JSON.stringify(plain(one, given)) === JSON.stringify(plain(found, given));
    if (rule.enum !== undefined && !rule.enum.some(same)) return 'constraints';
    const length = typeof found === 'string' ? [...found].length : Number.NaN;
    if (rule.min_length !== undefined && !(length >= rule.min_length)) return 'constraints';
    if (rule.max_length !== undefined && !(length <= rule.max_length)) return 'constraints';
  }
  const searched = Object.entries(given.field_patterns ?? {}).map(([dotted, source]) => {
    const found = at(dotted);
    if (found === undefined) return false;
    const text = found === null ? '' : typeof found === 'string' ? found : JSON.stringify(found);
    return new RegExp(source).test(text);
  });
  const enough = given.pattern_match_logic === 'any' ? searched.some(Boolean) : searched.every(Boolean);
  return searched.length === 0 || enough ? 'passed' : 'patterns';
}

function typesOf(found: JsonValue): string[] {
  if (found === null) return ['null'];
  if (Array.isArray(found)) return ['array'];
  if (typeof found === 'number') return Number.isInteger(found) ? ['integer', 'number'] : ['number'];
  return [typeof found];
}

function leaves(data: JsonObject): string[] {
  return Object.entries(data).flatMap(([key, found]) =>
    typesOf(found)[0] === 'object' ? leaves(found as JsonObject).map((leaf) => `${key}.${leaf}`) : [key],
  );
}

function plain(one: JsonValue, { case_sensitive_enums: isSensitive = true }: Config): JsonValue {
  if (typeof one === 'boolean') return Number(one);
  return typeof one === 'string' && !isSensitive ? one.toLowerCase() : one;
}

/** Which check a result comes from, by its metadata. */
function failedCheck({ matched, message, metadata }: EvaluatorResult): string {
  if (!matched) return 'passed';
  if (metadata?.missing_count !== undefined) return 'required';
  if (metadata?.match_logic !== undefined) return 'patterns';
  return message?.startsWith('Field types') ? 'types' : 'constraints';
}

describe('the field checks of json', () => {
  it('give the result of the rules, read one by one', () => {
    const seen: Record<string, number> = {};
    fc.assert(
      fc.property(config, fc.array(document, { minLength: 1, maxLength: 20 }), (given, documents) => {
        const compiled = jsonEvaluator.compile(given as JsonObject);
        for (const data of documents) {
          const outcome = failedCheck(compiled.evaluate(data, FULL_CALL) as EvaluatorResult);
          expect(outcome, JSON.stringify({ given, data })).toBe(naive(given, data));
          const asText = compiled.evaluate(JSON.stringify(data), FULL_CALL) as EvaluatorResult;
          expect(failedCheck(asText)).toBe(outcome);
          seen[outcome] = (seen[outcome] ?? 0) + 1;
        }
      }),
      { numRuns: 1_500 },
    );
    for (const outcome of ['passed', 'required', 'types', 'constraints', 'patterns']) {
      expect(seen[outcome], outcome).toBeGreaterThan(100);
    }
  });

  it('never match data that are no document when that is allowed, and always when it is not', () => {
    fc.assert(
      fc.property(config, fc.oneof(fc.integer(), fc.boolean(), fc.constant(null)), (given, data) => {
        for (const allowed of [true, false]) {
          const compiled = jsonEvaluator.compile({ ...given, allow_invalid_json: allowed } as JsonObject);
          const result = compiled.evaluate(data, FULL_CALL) as EvaluatorResult;
          expect(result).toMatchObject({ matched: !allowed, confidence: allowed ? 0 : 1, metadata: null });
        }
      }),
    );
  });
});

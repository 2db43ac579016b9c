import { Ajv, type Options, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import {
  hasOnlyExactNumbers,
  type JsonObject,
  type JsonValue,
  stringifyJson,
} from '../../exact-json/src/index.js';
import { compilePattern, estimateCost, shorten } from '../../linear-text/src/index.js';
import { countValues, schemaBoundsProblem } from './bounds.js';
import { SchemaWorkError } from './reference.js';
import { schemaWork, type WorkBudget } from './schema-work.js';

/** Most values of all schemas that one validator compiles: less than 0.5 s in the worst known case. */
export const MAX_COMPILED_VALUES = 5_000;
/** Compiled instructions of a pattern, and code points of its classes, per value in compile time. */
const INSTRUCTIONS_PER_VALUE = 50;
const CLASS_WORK_PER_VALUE = 2_000;
/** Most work of all checks of one validator: a tenth of a second. */
export const MAX_REGISTERED_CHECK_WORK = 1_000_000;
/** Longest quotation of a schema's own text in an explanation, in characters. */
const QUOTED_LENGTH = 300;

/** Checks values against external JSON Schemas, with one budget for all of them. */
export interface SchemaValidator {
  /**
   * Why a value does not satisfy a schema; undefined when it does. No value satisfies a schema that is
   * invalid, too large or too costly. Each schema object is compiled once.
   */
  problem(schema: JsonObject, value: JsonValue): string | undefined;
}

interface CompiledSchema {
  readonly check: ValidateFunction;
  readonly spend: (value: JsonValue) => void;
}

/**
 * Creates a validator for one request. Draft 7 if `$schema` states it, else 2020-12; formats are not checked,
 * patterns are RE2's, and references resolve only within the schema itself.
 */
export function createSchemaValidator(): SchemaValidator {
  const known = new Map<JsonObject, CompiledSchema | string>();
  const work: WorkBudget = { left: MAX_REGISTERED_CHECK_WORK };
  let compilable = MAX_COMPILED_VALUES;

  function compile(sent: JsonObject): CompiledSchema | string {
    const bounds = schemaBoundsProblem(sent);
    if (bounds !== undefined) return `the registered schema is not supported: ${bounds}`;
    const { $schema: dialect, $id: _, $async: __, ...members } = plainNumbers(sent) as JsonObject;
    const schema: JsonObject = members;
    compilable -= countValues(schema);
    if (compilable < 0) return 'the registered schemas cost too much to compile together';
    const { Validator, meta } = dialectOf(dialect);
    try {
      if (meta().validateSchema(schema) !== true) {
        return `the registered schema is invalid: ${explain(meta().errors, 'schema')}`;
      }
      const check = new Validator({
        ...OPTIONS,
        code: { ...OPTIONS.code, regExp: linearEngine(spendOnPattern) },
      });
      return { check: check.compile(schema), spend: schemaWork(schema, work) };
    } catch (error) {
      return `the registered schema is invalid: ${quote(error instanceof Error ? error.message : '')}`;
    }
  }

  function spendOnPattern(pattern: string): void {
    const { instructions, classWork } = estimateCost(pattern, false);
    compilable -= instructions / INSTRUCTIONS_PER_VALUE + classWork / CLASS_WORK_PER_VALUE;
    if (compilable < 0) throw new Error('its patterns cost too much to compile');
  }

  return {
    problem(schema, sent) {
      let compiled = known.get(schema);
      if (compiled === undefined) {
        compiled = compile(schema);
        known.set(schema, compiled);
      }
      if (typeof compiled === 'string') return compiled;
      const value = plainNumbers(sent);
      try {
        compiled.spend(value);
        return compiled.check(value) === true ? undefined : explain(compiled.check.errors, 'configuration');
      } catch (error) {
        return error instanceof SchemaWorkError
          ? `the registered schema ${error.message}`
          : 'the configuration cannot be checked against the registered schema';
      }
    },
  };
}

/**
 * Unknown keywords are allowed, as JSON Schema requires. Own properties only, or `constructor` would always
 * exist. Without inlining, code does not grow faster than the schema.
 */
export const OPTIONS = {
  strict: false,
  logger: false,
  meta: false,
  validateSchema: false,
  validateFormats: false,
  ownProperties: true,
  inlineRefs: false,
  code: { optimize: false },
} as const satisfies Options;

type ValidatorClass = new (options: Options) => Ajv;

/** Checks schemas only, and is shared: compiling a meta-schema takes longer than compiling most schemas. */
function lazyMeta(Validator: ValidatorClass): () => Ajv {
  let meta: Ajv | undefined;
  return () => {
    meta ??= new Validator({ strict: false, logger: false, validateFormats: false });
    return meta;
  };
}

const DRAFT_7 = { Validator: Ajv as ValidatorClass, meta: lazyMeta(Ajv) };
const DRAFT_2020 = {
  Validator: Ajv2020 as unknown as ValidatorClass,
  meta: lazyMeta(Ajv2020 as unknown as ValidatorClass),
};

export function dialectOf(dialect: JsonValue | undefined) {
  return typeof dialect === 'string' && /draft-0[467]/.test(dialect) ? DRAFT_7 : DRAFT_2020;
}

/**
 * Patterns run on the linear engine. The compiler caches them by the text of their regular expression object,
 * so each one needs a unique text, or all patterns would become the first one.
 */
export function linearEngine(spend: (pattern: string) => void) {
  const engine = (pattern: string) => {
    spend(pattern);
    const compiled = compilePattern(pattern);
    return { test: (text: string) => compiled.test(text), toString: () => `linear ${pattern}` };
  };
  return Object.assign(engine, { code: 'linearPattern' });
}

/** Numbers as supported by the compiler, which has no bigints. */
function plainNumbers(value: JsonValue): JsonValue {
  return hasOnlyExactNumbers(value) ? value : (JSON.parse(stringifyJson(value)) as JsonValue);
}

function explain(errors: ValidateFunction['errors'], what: string): string {
  const first = errors?.[0];
  if (first === undefined) return `the ${what} is invalid`;
  const place = first.instancePath === '' ? `the ${what}` : first.instancePath;
  return quote(`${place} ${first.message ?? 'is invalid'}`);
}

function quote(text: string): string {
  return shorten(text, QUOTED_LENGTH);
}

import { isObject, type JsonObject, type JsonValue } from '../../../../packages/exact-json/src/index.js';
import { loadPostgres, parseGeneral, parsePostgres } from '../../../../packages/sql-reader/src/index.js';
import { jsonSchemaOf } from '../../../contract/input/fields.js';
import { textOf } from '../../core/data-texts.js';
import type { CheckCall, CompiledEvaluator, Evaluator } from '../../core/evaluator.js';
import type { EvaluatorResult } from '../../core/types.js';
import { isAnythingChecked, readSqlConfig, sqlConfigSchema } from './config.js';
import { sqlForegone, sqlWarnings } from './config-warnings.js';
import { createParserPool, type ParserPool } from './parser-pool.js';
import { NO_QUERY, NOTHING_CHECKED } from './result.js';
import { type StatementLeaf, statementLeaves } from './statement-leaves.js';
import { createTextsCheck, type Parse } from './texts-check.js';

const NO_LEAVES: readonly StatementLeaf[] = [];

/** Checks queries. PostgreSQL is parsed synchronously; other dialects in a worker of `pool`, by promise. */
export function createSqlEvaluator(pool: ParserPool = createParserPool()): Evaluator {
  return {
    name: 'sql',
    version: '1.0.0',
    description:
      'Checks SQL queries: operations, tables, schemas, required columns and values, limits, complexity. ' +
      'A text that is no SQL of the dialect matches.',
    requiresApiKey: false,
    timeoutMs: 10_000,
    configSchema: sqlConfigSchema,
    configJsonSchema: jsonSchemaOf(sqlConfigSchema),
    warningsFor: sqlWarnings,
    foregone: sqlForegone,
    compile(source): CompiledEvaluator {
      const config = readSqlConfig(source);
      const { dialect } = config;
      const inputOf = (data: JsonValue, { place }: CheckCall) => readInput(data, place.path === '*');
      if (!isAnythingChecked(config)) {
        return { evaluate: (data, call) => (isBlank(inputOf(data, call)) ? NO_QUERY : NOTHING_CHECKED) };
      }
      if (dialect !== 'postgres') pool.warm();
      // A failure is that of the first text, which tries again.
      else loadPostgres().catch(() => {});
      const parse: Parse =
        dialect === 'postgres'
          ? parsePostgres
          : (text, signal) => parseGeneral(text, dialect, pool, signal());
      const check = createTextsCheck(config, parse);
      return {
        heedsNegation: true,
        evaluate(data, call): EvaluatorResult | Promise<EvaluatorResult> {
          const input = inputOf(data, call);
          const { around, context } = input;
          // Where a violation is required, an added member must not satisfy the requirement.
          const leaves =
            around === null || call.place.negated
              ? NO_LEAVES
              : statementLeaves(around, call.textsOf(around), dialect);
          const query = isBlank(input) ? null : input.query;
          if (query === null && leaves.length === 0) return NO_QUERY;
          return check({ query, leaves, context }, call);
        },
      };
    },
  };
}

/** The evaluator of the service. */
export const sqlEvaluator: Evaluator = createSqlEvaluator();

function isBlank({ query }: SqlInput): boolean {
  return query.trim() === '';
}

/** The query, and the context whose values it may have to test for. */
export interface SqlInput {
  /** Blank when there is no query. */
  readonly query: string;
  readonly context: JsonObject;
  /** The object that contained the query: other texts in it may be statements too. Null for other data. */
  readonly around: JsonObject | null;
}

const NO_CONTEXT: JsonObject = {};

/**
 * The query in selected data: contract 7.5, table "Input". For a whole step, which only the selector `*`
 * selects, the input is the data and the context of the step is the context; member names of other data have
 * no effect.
 */
export function readInput(data: JsonValue, isWholeStep: boolean): SqlInput {
  if (!isWholeStep) return readData(data, isObject(data) ? own(data, 'context') : undefined);
  return isObject(data)
    ? readData(own(data, 'input') ?? null, own(data, 'context'))
    : readData(data, undefined);
}

function readData(data: JsonValue, given: JsonValue | undefined): SqlInput {
  const context = isObject(given) ? given : NO_CONTEXT;
  if (isObject(data)) return { query: textOrEmpty(own(data, 'query')), context, around: data };
  return { query: textOrEmpty(data), context, around: null };
}

function textOrEmpty(value: JsonValue | undefined): string {
  return value === undefined || value === null ? '' : textOf(value);
}

function own(data: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(data, key) ? data[key] : undefined;
}

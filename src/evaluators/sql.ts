import type { EvaluatorResult } from '../evaluation/types.js';
import type { JsonValue } from '../json/json-value.js';
import { jsonSchemaOf } from '../validation/fields.js';
import { isAnythingChecked, readSqlConfig, sqlConfigSchema } from './sql/config.js';
import { sqlWarnings } from './sql/config-warnings.js';
import { parseGeneral } from './sql/general-parser.js';
import { readInput, type SqlInput } from './sql/input.js';
import { createParserPool, type ParserPool } from './sql/parser-pool.js';
import { parsePostgres } from './sql/postgres-parser.js';
import { NO_QUERY, NOTHING_CHECKED } from './sql/result.js';
import { type StatementLeaf, statementLeaves } from './sql/statement-leaves.js';
import { createTextsCheck, type Parse } from './sql/texts-check.js';
import type { CheckCall, CompiledEvaluator, Evaluator } from './types.js';

const NO_LEAVES: readonly StatementLeaf[] = [];

/** Checks queries. PostgreSQL is parsed at once; other dialects in a worker of `pool`, so that they give a promise. */
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
    compile(source): CompiledEvaluator {
      const config = readSqlConfig(source);
      const { dialect } = config;
      const inputOf = (data: JsonValue, { place }: CheckCall) => readInput(data, place.path === '*');
      if (!isAnythingChecked(config)) {
        return { evaluate: (data, call) => (isBlank(inputOf(data, call)) ? NO_QUERY : NOTHING_CHECKED) };
      }
      if (dialect !== 'postgres') pool.warm();
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
          // Where a violation is demanded, an added member must not satisfy the demand.
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

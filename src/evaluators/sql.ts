import type { Detail, EvaluatorResult } from '../evaluation/types.js';
import { jsonSchemaOf } from '../validation/fields.js';
import { violation } from './sql/checks/check.js';
import { runChecks } from './sql/checks/run-checks.js';
import { isAnythingChecked, readSqlConfig, type SqlConfig, sqlConfigSchema } from './sql/config.js';
import { sqlWarnings } from './sql/config-warnings.js';
import { parseGeneral } from './sql/general-parser.js';
import { readInput, type SqlInput } from './sql/input.js';
import { NotParsed, type ParsedQuery } from './sql/model.js';
import { createParserPool, type ParserPool } from './sql/parser-pool.js';
import { parsePostgres } from './sql/postgres-parser.js';
import { NO_QUERY, NOTHING_CHECKED, PASSED, violated } from './sql/result.js';
import type { CompiledEvaluator, Evaluator } from './types.js';

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
      if (!isAnythingChecked(config)) {
        return { evaluate: (data) => (isBlank(readInput(data)) ? NO_QUERY : NOTHING_CHECKED) };
      }
      if (dialect !== 'postgres') pool.warm();
      return {
        evaluate(data, { detail, signal }) {
          const input = readInput(data);
          if (isBlank(input)) return NO_QUERY;
          if (dialect === 'postgres') return check(() => parsePostgres(input.query), input, config, detail);
          return parseGeneral(input.query, dialect, pool, signal).then(
            (parsed) => check(() => parsed, input, config, detail),
            (error: unknown) => notParsed(error, input, detail),
          );
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

function check(
  parse: () => ParsedQuery,
  { query, context }: SqlInput,
  config: SqlConfig,
  detail: Detail,
): EvaluatorResult {
  let parsed: ParsedQuery;
  try {
    parsed = parse();
  } catch (error) {
    return notParsed(error, { query, context }, detail);
  }
  const found = runChecks(parsed, config, context);
  return found === null ? PASSED : violated(found, query, detail);
}

/** What cannot be parsed is a violation. Any other failure is one of the evaluator. */
function notParsed(error: unknown, { query }: SqlInput, detail: Detail): EvaluatorResult {
  if (!(error instanceof NotParsed)) throw error;
  return violated(violation('The query cannot be parsed'), query, detail);
}

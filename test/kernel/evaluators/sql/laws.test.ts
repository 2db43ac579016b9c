import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DIALECTS } from '../../../../packages/sql-reader/src/index.js';
import { createParserPool } from '../../../../src/kernel/evaluators/sql/parser-pool.js';
import { createSqlEvaluator } from '../../../../src/kernel/evaluators/sql/sql.js';
import { FULL_CALL } from '../../../support/check-call.js';
import { createTestDatabase, type TestDatabase } from '../../../support/databases.js';
import { generatedCases } from '../../../support/generated-cases.js';
import { type CaseDatabase, openPostgresCases, openSqliteCases } from './databases.js';
import { hostileQuery } from './hostile-query.js';

const pool = createParserPool({ parseTimeoutMs: 300_000 });
const evaluator = createSqlEvaluator(pool);
afterAll(() => pool.close());

const noDrop = { blocked_operations: ['DROP'] };

describe('any text at all', () => {
  it.each(DIALECTS)('gives a verdict, never an error (%s)', async (dialect) => {
    const compiled = evaluator.compile({
      ...noDrop,
      dialect,
      blocked_tables: ['secrets'],
      required_columns: ['id'],
      required_column_values: { id: 'id' },
      require_limit: true,
      max_limit: 5,
      max_joins: 1,
      max_subquery_depth: 1,
      max_union_count: 1,
    });
    await fc.assert(
      fc.asyncProperty(fc.oneof(hostileQuery, fc.string({ unit: 'binary' })), async (text) => {
        const result = await compiled.evaluate({ query: text, context: { id: 1 } }, FULL_CALL);
        expect(result.error).toBeNull();
      }),
      { numRuns: generatedCases(300) },
    );
  });
});

describe('a DROP that a database runs', () => {
  let postgres: TestDatabase;
  let databases: { dialect: 'postgres' | 'sqlite'; database: CaseDatabase }[];
  beforeAll(async () => {
    postgres = await createTestDatabase('postgresql', 'nothing');
    databases = [
      { dialect: 'postgres', database: await openPostgresCases(postgres.url) },
      { dialect: 'sqlite', database: openSqliteCases() },
    ];
  });
  afterAll(async () => {
    for (const { database } of databases) await database.close();
    await postgres.drop();
  });

  it('is never missed, however it is put together', async () => {
    const seen = { dropped: 0, passed: 0 };
    for (const { dialect, database } of databases) {
      const compiled = evaluator.compile({ ...noDrop, dialect });
      await fc.assert(
        fc.asyncProperty(hostileQuery, async (text) => {
          const { matched } = await compiled.evaluate(text, FULL_CALL);
          const besides = await compiled.evaluate({ query: 'SELECT 1', also: [text] }, FULL_CALL);
          const { effect } = await database.run(text);
          if (effect === 'schema') {
            seen.dropped += 1;
            expect(matched).toBe(true);
            expect(besides.matched).toBe(true);
          } else if (!matched) seen.passed += 1;
        }),
        { numRuns: generatedCases(250) },
      );
    }
    // The texts must be of both kinds, or nothing is shown.
    expect(seen.dropped).toBeGreaterThan(10);
    expect(seen.passed).toBeGreaterThan(10);
  });
});

import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { createParserPool } from '../../src/kernel/evaluators/sql/parser-pool.js';
import { createSqlEvaluator } from '../../src/kernel/evaluators/sql/sql.js';
import { openPostgresCases, openSqliteCases } from '../kernel/evaluators/sql/databases.js';
import { hostileQuery } from '../kernel/evaluators/sql/hostile-query.js';
import { FULL_CALL } from '../support/check-call.js';
import { createTestDatabase } from '../support/databases.js';

const TEXTS = 20_000;

describe(`${TEXTS} hostile texts`, () => {
  const pool = createParserPool({ parseTimeoutMs: 20_000 });
  const evaluator = createSqlEvaluator(pool);
  afterAll(() => pool.close());

  it.each(['postgres', 'sqlite'])(
    'never drop a table of %s unseen',
    { timeout: 900_000 },
    async (dialect) => {
      const postgres = await createTestDatabase('postgresql', 'nothing');
      const database = dialect === 'postgres' ? await openPostgresCases(postgres.url) : openSqliteCases();
      const compiled = evaluator.compile({ blocked_operations: ['DROP'], dialect });
      const seed = Number(process.env.VERIFY_SEED ?? Math.floor(Math.random() * 2 ** 31));
      const seen = { dropped: 0, refused: 0, passed: 0 };
      try {
        await fc.assert(
          fc.asyncProperty(hostileQuery, async (text) => {
            const { matched, error } = await compiled.evaluate(text, FULL_CALL);
            expect(error).toBeNull();
            const besides = await compiled.evaluate({ query: 'SELECT 1', also: [text] }, FULL_CALL);
            expect(besides.error).toBeNull();
            const { effect } = await database.run(text);
            if (effect === 'schema') {
              seen.dropped += 1;
              expect(matched).toBe(true);
              expect(besides.matched).toBe(true);
            } else seen[matched ? 'refused' : 'passed'] += 1;
          }),
          { numRuns: TEXTS, seed },
        );
      } finally {
        await database.close();
        await postgres.drop();
      }
      console.log(`sql fuzz on ${dialect}, seed ${seed}: ${JSON.stringify(seen)}`);
      expect(Math.min(seen.dropped, seen.passed)).toBeGreaterThan(100);
    },
  );
});

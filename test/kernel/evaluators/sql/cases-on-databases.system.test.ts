import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Dialect } from '../../../../packages/sql-reader/src/index.js';
import { createTestDatabase, type TestDatabase } from '../../../support/databases.js';
import { casesOf } from './case-files.js';
import { type CaseDatabase, openPostgresCases, openSqliteCases } from './databases.js';

/** The verdicts of the cases are those of the databases: what they do is observed, not assumed. */
function describeCases(dialect: Dialect, open: () => Promise<CaseDatabase>): void {
  describe(`what ${dialect} does with the cases`, () => {
    let database: CaseDatabase;
    beforeAll(async () => {
      database = await open();
    });
    afterAll(() => database.close());

    const runnable = casesOf(dialect).flatMap((one) => {
      const effect = typeof one.effect === 'object' ? one.effect[dialect] : one.effect;
      return effect === undefined ? [] : [{ ...one, effect }];
    });

    it('is known for most of them', () => {
      expect(runnable.length).toBeGreaterThan(100);
    });

    it.each(runnable)('$file: $shown has the effect $effect', async ({ query, effect, reveals }) => {
      const observed = await database.run(query);
      expect(observed.effect).toBe(effect);
      if (reveals !== undefined) expect(observed.reveals).toBe(reveals);
    });
  });
}

let postgres: TestDatabase;
afterAll(() => postgres.drop());

describeCases('postgres', async () => {
  postgres = await createTestDatabase('postgresql', 'nothing');
  return openPostgresCases(postgres.url);
});
describeCases('sqlite', async () => openSqliteCases());

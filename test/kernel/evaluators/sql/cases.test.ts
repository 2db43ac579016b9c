import { afterAll, describe, expect, it } from 'vitest';
import { DIALECTS } from '../../../../packages/sql-reader/src/index.js';
import { createParserPool } from '../../../../src/kernel/evaluators/sql/parser-pool.js';
import { createSqlEvaluator } from '../../../../src/kernel/evaluators/sql/sql.js';
import { FULL_CALL } from '../../../support/check-call.js';
import { caseFiles, casesOf } from './case-files.js';

// Generous: what is measured here is the verdict, on machines that may be busy.
const pool = createParserPool({ parseTimeoutMs: 300_000 });
const evaluator = createSqlEvaluator(pool);

afterAll(() => pool.close());

describe.each(DIALECTS)('cases of %s', (dialect) => {
  it.each(casesOf(dialect))('$file: $shown ($why)', async ({ config, query, context, matched, metadata }) => {
    const compiled = evaluator.compile({ ...config, dialect });
    const data = context === undefined ? query : { query, context };
    const result = await compiled.evaluate(data, FULL_CALL);
    expect({ matched: result.matched, error: result.error, confidence: result.confidence }).toEqual({
      matched,
      error: null,
      confidence: 1,
    });
    if (metadata !== undefined) expect(result.metadata).toMatchObject(metadata);
  });
});

describe('the case files', () => {
  it('hold more than a hundred texts, each with its reason', () => {
    const cases = caseFiles.flatMap(({ cases: some }) => some);
    expect(cases.length).toBeGreaterThanOrEqual(300);
    for (const { why } of cases) expect(why).not.toBe('');
  });

  it('have verdicts of both kinds for each dialect', () => {
    for (const dialect of DIALECTS) {
      const verdicts = casesOf(dialect).map(({ matched }) => matched);
      expect(verdicts.filter(Boolean).length).toBeGreaterThan(40);
      expect(verdicts.filter((matched) => !matched).length).toBeGreaterThan(30);
    }
  });
});

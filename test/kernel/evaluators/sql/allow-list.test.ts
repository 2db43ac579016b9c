import { afterAll, describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../../packages/exact-json/src/index.js';
import { DIALECTS, type Dialect } from '../../../../packages/sql-reader/src/index.js';
import { createParserPool } from '../../../../src/kernel/evaluators/sql/parser-pool.js';
import { createSqlEvaluator } from '../../../../src/kernel/evaluators/sql/sql.js';
import { FULL_CALL } from '../../../support/check-call.js';
import { CHANGES, EFFECTS, POSTGRES_EFFECTS, READS } from './allow-list-statements.js';

// Generous: machines that run tests may be busy.
const pool = createParserPool({ parseTimeoutMs: 300_000 });
const evaluator = createSqlEvaluator(pool);
afterAll(() => pool.close());

const check = (config: JsonObject, data: JsonValue) => evaluator.compile(config).evaluate(data, FULL_CALL);

describe.each(DIALECTS)('with SELECT as the only operation of %s', (dialect: Dialect) => {
  const config = { dialect, allowed_operations: ['SELECT'] };
  const effects = dialect === 'postgres' ? [...EFFECTS.postgres, ...POSTGRES_EFFECTS] : EFFECTS[dialect];

  it('nothing with an effect passes, as a query or as a text beside one', async () => {
    const passed: string[] = [];
    for (const text of effects) {
      const whole = await check(config, text);
      const beside = await check(config, { query: READS[dialect][0] ?? '', also: text });
      expect([whole.error, beside.error]).toEqual([null, null]);
      if (!whole.matched) passed.push(text);
      if (!beside.matched) passed.push(`beside: ${text}`);
    }
    expect(passed).toEqual([]);
  });

  it('what only reads passes', async () => {
    const denied: string[] = [];
    for (const text of READS[dialect]) {
      const { matched, message } = await check(config, text);
      if (matched) denied.push(`${text}: ${message}`);
    }
    expect(denied).toEqual([]);
  });
});

describe.each(DIALECTS)('with changes among the operations of %s', (dialect: Dialect) => {
  it('they pass, but not with a function that is not known', async () => {
    const config = { dialect, allowed_operations: ['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'MERGE'] };
    for (const text of CHANGES[dialect]) {
      expect(await check(config, text), text).toMatchObject({ matched: false });
      const calling = text.replace(
        / (?:= 1|VALUES \(|< )/,
        (found) => `${found} wipe(2) ${found === ' VALUES (' ? ', ' : '+ '}`,
      );
      expect(await check(config, calling), calling).toMatchObject({ matched: calling !== text });
    }
  });
});

describe('functions that are not known', () => {
  const call = "SELECT pg_notify('a', 'b') FROM t";

  it.each([{ allowed_operations: ['SELECT'] }, { allowed_tables: ['t'] }, { allowed_schemas: ['public'] }])(
    'match under an allow list (%j)',
    async (config) => {
      expect(await check(config, call)).toMatchObject({
        matched: true,
        confidence: 1,
        message: 'Functions that are not known to be pure: pg_notify',
        metadata: { violation: 'unknown_function', functions: ['pg_notify'] },
      });
      expect(await check({ ...config, unknown_functions: 'deny' }, call)).toMatchObject({ matched: true });
      expect(await check({ ...config, unknown_functions: 'allow' }, call)).toMatchObject({ matched: false });
    },
  );

  it.each([
    { blocked_operations: ['DELETE'] },
    { blocked_tables: ['u'] },
    { max_joins: 1 },
    { require_limit: false },
  ])('do not match without one (%j)', async (config) => {
    expect(await check(config, call)).toMatchObject({ matched: false });
    expect(await check(config, 'SELECT * FROM t FOR UPDATE')).toMatchObject({ matched: false });
  });

  it('are looked for in statements of other allowed operations, too', async () => {
    const config = { allowed_operations: ['SELECT', 'INSERT', 'UPDATE'] };
    expect(await check(config, 'UPDATE t SET a = lower(b)')).toMatchObject({ matched: false });
    expect(await check(config, 'UPDATE t SET a = wipe(b)')).toMatchObject({ matched: true });
    expect(await check(config, 'INSERT INTO t VALUES (DEFAULT, now())')).toMatchObject({ matched: false });
    expect(await check(config, "INSERT INTO t SELECT dblink('a', 'b')")).toMatchObject({ matched: true });
  });

  it('do not let pass what is no SELECT for other reasons', async () => {
    const config = { allowed_operations: ['SELECT'], unknown_functions: 'allow' };
    for (const text of ['SELECT * FROM t FOR UPDATE', "SELECT ('a'::text).pg_read_file", 'DELETE FROM t']) {
      expect(await check(config, text)).toMatchObject({ matched: true });
    }
  });
});

describe('row locks and assignments', () => {
  it.each<[JsonObject, string, string]>([
    [{}, 'SELECT * FROM t FOR UPDATE', 'Rows are locked: FOR UPDATE or FOR SHARE'],
    [{ dialect: 'tsql' }, 'SELECT * FROM t WITH (UPDLOCK)', 'Rows are locked: UPDLOCK'],
    [{ dialect: 'mysql' }, 'SELECT @x := 1', 'A value is assigned: :='],
    [{ dialect: 'tsql' }, 'SELECT @x = a FROM t', 'A value is assigned: @x'],
  ])('are no SELECT, unless another operation allows them (%j, %s)', async (more, text, message) => {
    const with_ = (...operations: string[]) => ({ ...more, allowed_operations: ['SELECT', ...operations] });
    expect(await check(with_(), text)).toMatchObject({ matched: true, message });
    expect(await check(with_('UPDATE', 'SET'), text)).toMatchObject({ matched: false });
    expect(await check({ ...more, allowed_tables: ['t'] }, text)).toMatchObject({ matched: false });
  });
});

describe('warnings about unknown_functions', () => {
  const warnings = (config: JsonObject) => [
    ...(evaluator.warningsFor?.(config, { selectorPath: 'input.query' } as never) ?? []),
  ];

  it('name the danger beside an allow list, and that it has no effect without one', () => {
    const open = { allowed_operations: ['SELECT'], unknown_functions: 'allow' };
    expect(warnings(open)).toEqual([
      expect.objectContaining({ code: 'unknown_functions_allowed', path: ['unknown_functions'] }),
    ]);
    expect(warnings({ ...open, unknown_functions: 'deny' })).toEqual([]);
    expect(warnings({ blocked_tables: ['t'], unknown_functions: 'allow' })).toEqual([
      expect.objectContaining({ code: 'no_effect', path: ['unknown_functions'] }),
    ]);
  });
});

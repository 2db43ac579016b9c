import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DIALECTS } from '../../../../packages/sql-reader/src/index.js';
import { isKnown } from '../../../../src/kernel/evaluators/sql/known-names.js';
import {
  MYSQL_FUNCTIONS,
  ORACLE_FUNCTIONS,
  POSTGRES_FUNCTIONS,
  POSTGRES_OPERATORS,
  POSTGRES_TYPES,
  SQLITE_FUNCTIONS,
  TSQL_FUNCTIONS,
} from '../../../../src/kernel/evaluators/sql/pure-functions.js';
import { sqlEvaluator } from '../../../../src/kernel/evaluators/sql/sql.js';
import { FULL_CALL } from '../../../support/check-call.js';
import { createTestDatabase, type TestDatabase } from '../../../support/databases.js';

const LISTS = {
  postgres: POSTGRES_FUNCTIONS,
  mysql: MYSQL_FUNCTIONS,
  tsql: TSQL_FUNCTIONS,
  oracle: ORACLE_FUNCTIONS,
  sqlite: SQLITE_FUNCTIONS,
};

describe('the functions of PostgreSQL', () => {
  let database: TestDatabase;
  let client: pg.Client;
  beforeAll(async () => {
    database = await createTestDatabase('postgresql', 'nothing');
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
  });
  afterAll(async () => {
    await client.end();
    await database.drop();
  });
  const names = async (sql: string): Promise<string[]> =>
    (await client.query<{ name: string }>(sql)).rows.map(({ name }) => name);

  it('are all unknown that are volatile, in one of their forms', async () => {
    const volatile = await names(
      `SELECT DISTINCT proname AS name FROM pg_proc
       WHERE pronamespace = 'pg_catalog'::regnamespace AND provolatile = 'v' ORDER BY 1`,
    );
    expect(volatile.length).toBeGreaterThan(200);
    const compiled = sqlEvaluator.compile({ allowed_operations: ['SELECT'] });
    for (const name of volatile) {
      expect(isKnown({ kind: 'function', name, schema: null }, 'postgres'), name).toBe(false);
      for (const call of [
        `SELECT "${name}"()`,
        `SELECT * FROM pg_catalog."${name}"(1) x`,
        `SELECT (1)."${name}"`,
      ]) {
        expect((await compiled.evaluate(call, FULL_CALL)).matched, call).toBe(true);
      }
    }
  });

  it('are all stable or immutable that are known, and there', async () => {
    const pure = await names(
      `SELECT proname AS name FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace
       GROUP BY proname HAVING bool_and(provolatile IN ('i', 's')) ORDER BY 1`,
    );
    expect(POSTGRES_FUNCTIONS.split(' ').filter((name) => !pure.includes(name))).toEqual([]);
  });

  it('that are behind known operators are not volatile', async () => {
    const pure = await names(
      `SELECT oprname AS name FROM pg_operator JOIN pg_proc p ON p.oid = oprcode
       WHERE oprnamespace = 'pg_catalog'::regnamespace
       GROUP BY oprname HAVING bool_and(provolatile IN ('i', 's')) ORDER BY 1`,
    );
    // The parser writes != as <>.
    const listed = POSTGRES_OPERATORS.split(' ').filter((name) => name !== '!=');
    expect(listed.filter((name) => !pure.includes(name))).toEqual([]);
  });

  it('that read the text of known types are not volatile, and no type is of a user', async () => {
    const pure = await names(
      `SELECT typname AS name FROM pg_type JOIN pg_proc p ON p.oid = typinput
       WHERE typnamespace = 'pg_catalog'::regnamespace AND provolatile IN ('i', 's')`,
    );
    expect(POSTGRES_TYPES.split(' ').filter((name) => !pure.includes(name))).toEqual([]);
  });

  it('of one argument that a row calls by a dot are told by their prefix if they are volatile', async () => {
    const volatile = await names(
      `SELECT proname AS name FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND provolatile = 'v'
       AND pronargs = 1 AND proargtypes[0] IN ('record'::regtype, 'anyelement'::regtype, '"any"'::regtype)`,
    );
    const compiled = sqlEvaluator.compile({ allowed_operations: ['SELECT'] });
    for (const name of volatile) {
      expect((await compiled.evaluate(`SELECT t.${name} FROM t`, FULL_CALL)).matched, name).toBe(true);
    }
  });
});

describe('the lists of functions', () => {
  it.each(DIALECTS)('of %s have each name once, in order and in small letters', (dialect) => {
    const names = LISTS[dialect].split(' ');
    expect(names).toEqual([...new Set(names)].sort());
    expect(names.filter((name) => !/^[a-z][a-z0-9_]*$/.test(name))).toEqual([]);
    expect(names.length).toBeGreaterThan(100);
  });

  it.each(DIALECTS)('of %s have none that is known for its effects', (dialect) => {
    const effects =
      'sleep benchmark get_lock release_lock load_file last_insert_id rand uuid random randomblob load_extension writefile ' +
      'readfile edit fts3_tokenizer openrowset openquery opendatasource newid newsequentialid pg_sleep nextval setval ' +
      'set_config lo_import dblink query_to_xml httpuritype sys_guid xmltype dbms_random utl_http eval sys_exec external_query ' +
      'read_csv read_text glob_files source_pos_wait master_pos_wait txid_current pg_current_xact_id table_to_xml ts_stat';
    for (const name of effects.split(' ')) {
      expect(isKnown({ kind: 'function', name, schema: null }, dialect), name).toBe(false);
    }
  });

  it.each(DIALECTS)('of %s are without a schema, except its own', (dialect) => {
    const isKnownIn = (schema: string) => isKnown({ kind: 'function', name: 'lower', schema }, dialect);
    expect(isKnownIn('myschema')).toBe(false);
    expect(isKnownIn('sys')).toBe(false);
    expect(isKnownIn('pg_catalog')).toBe(dialect === 'postgres');
  });
});

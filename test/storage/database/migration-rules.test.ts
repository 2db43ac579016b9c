import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { migrationProblems } from '../../../scripts/landed-migrations.mjs';
import * as rules from '../../../src/storage/database/migration-rules.js';
import { splitSql } from '../../../src/storage/database/sql-statements.js';

const { compatibilityNote, exclusionOf, isCompatible, nonAdditive } = rules;
const FIRST = '20260101000000_first';
const SECOND = '20260102000000_second';

describe('A migration is additive', () => {
  it.each([
    'CREATE TABLE "a" ("id" INTEGER NOT NULL)',
    'CREATE TABLE a (id INTEGER); CREATE UNIQUE INDEX a_id ON a(id); INSERT INTO a VALUES (1)',
    'CREATE VIEW "v" AS SELECT * FROM "events"',
    "CREATE TABLE a (id INTEGER); CREATE TRIGGER t BEFORE UPDATE ON a BEGIN SELECT RAISE(ABORT, 'no'); SELECT 1; END",
    'CREATE TABLE a (id INTEGER); CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN OLD; END; $$; CREATE TRIGGER "t" BEFORE UPDATE OR DELETE ON "a" FOR EACH ROW EXECUTE FUNCTION f()',
    'CREATE INDEX "i" ON "events"("time_us") WHERE "x" IS NOT NULL',
    'ALTER TABLE "events" ADD COLUMN "x" TEXT, ADD COLUMN "y" BIGINT NOT NULL DEFAULT 0',
    'ALTER TABLE "events" ADD COLUMN "x" TEXT; UPDATE "events" SET "x" = "a" || \',;\' WHERE "b" = 1',
    'CREATE TABLE a (id INTEGER); ALTER TABLE a ADD CONSTRAINT f FOREIGN KEY (id) REFERENCES events(id)',
    '-- a comment; with DROP TABLE events\nCREATE TABLE "b" ("t" TEXT DEFAULT \'; DROP TABLE a\') /* ; DROP */',
  ])('%s', (sql) => {
    expect(nonAdditive(sql)).toEqual([]);
    expect(compatibilityNote(sql)).toBe('additive');
    expect(isCompatible('additive', FIRST)).toBe(true);
  });
});

describe('A migration is refused', () => {
  it.each([
    ['DROP TABLE "events"', 'not one of the statements'],
    ['drop index "controls_name_key"', 'not one of the statements'],
    ['ALTER TABLE "events" RENAME TO "e"', 'what an older program uses'],
    ['ALTER TABLE "events" RENAME COLUMN "a" TO "b"', 'what an older program uses'],
    ['ALTER TABLE "events" DROP COLUMN "a"', 'what an older program uses'],
    ['ALTER TABLE "events" ADD COLUMN "b" TEXT, ALTER COLUMN "a" SET NOT NULL', 'what an older program uses'],
    ['ALTER TABLE "events" ADD COLUMN "a" TEXT NOT NULL', 'no default'],
    ['ALTER TABLE "events" ADD COLUMN "a" TEXT COLLATE "DEFAULT" not\n null', 'no default'],
    ['ALTER TABLE "events" ADD COLUMN "a" TEXT UNIQUE', 'UNIQUE refuses'],
    ['ALTER TABLE "events" ADD COLUMN "a" INTEGER DEFAULT (1) CHECK ("a" > 0)', 'CHECK refuses'],
    ['ALTER TABLE "events" ADD CONSTRAINT "c" CHECK ("a" > 0)', 'what an older program uses'],
    ['ALTER TABLE "events" ADD UNIQUE ("a")', 'what an older program uses'],
    ['CREATE UNIQUE INDEX "i" ON "events"("a")', 'a unique index refuses'],
    ['UPDATE "events" SET "a" = 1', 'rows that an older program uses'],
    ['ALTER TABLE e ADD COLUMN x TEXT; UPDATE e SET x = 1, a = 2', 'rows that an older program uses'],
    ['DELETE FROM "events"', 'rows that an older program uses'],
    ['CREATE TRIGGER t AFTER INSERT ON e BEGIN SELECT 1; END', 'what statements of an older program do'],
    ['CREATE OR REPLACE FUNCTION f() RETURNS int AS $$ SELECT 1; $$', 'not one of the statements'],
    ['CREATE OR REPLACE VIEW v AS SELECT 1', 'not one of the statements'],
    ['TRUNCATE events', 'not one of the statements'],
  ])('%s', (sql, problem) => {
    expect(nonAdditive(sql).join('\n')).toContain(problem);
    expect(compatibilityNote(sql)).toBeNull();
    expect(isCompatible(null, SECOND)).toBe(false);
  });

  it('unless it states which programs it excludes, and why', () => {
    const sql = `-- Incompatible before ${SECOND}: the column is not read since then\nALTER TABLE a DROP COLUMN b`;
    expect(exclusionOf(sql)).toEqual({ before: SECOND, reason: 'the column is not read since then' });
    const note = compatibilityNote(sql);
    expect(isCompatible(note, SECOND)).toBe(true);
    expect(isCompatible(note, FIRST)).toBe(false);
    expect(exclusionOf(`-- Incompatible before ${SECOND}:\nDROP TABLE a`)).toBeNull();
    expect(exclusionOf('-- Incompatible before second: a reason\nDROP TABLE a')).toBeNull();
  });
});

describe('Unknown notes', () => {
  it('are never compatible', () => {
    fc.assert(
      fc.property(fc.string(), (note) => {
        expect(isCompatible(note, SECOND)).toBe(note === 'additive');
      }),
    );
  });
});

describe('SQL is split', () => {
  it('at separators outside of quotes, comments and parentheses only', () => {
    const part = fc.constantFrom(
      'a',
      "'x;y'",
      '"p;q"',
      '(1;2)',
      '$$;$$',
      '$f$ ; $$ $f$',
      "'it''s;'",
      '"a"";"',
    );
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 6 }), (parts) => {
        expect(splitSql(parts.join(' /* ; */ ; -- ;\n'), ';')).toEqual(parts);
      }),
    );
  });
});

describe('The check of migrations', () => {
  const migration = (name: string, sql: string) => ({ name, sql, checksum: `of ${sql}` });
  const landed = { [FIRST]: 'of DROP TABLE a' };
  const first = migration(FIRST, 'DROP TABLE a');
  const check = (...migrations: ReturnType<typeof migration>[]) =>
    migrationProblems(migrations, landed, rules);

  it('does not judge what was released, and refuses to change it', () => {
    expect(check(first)).toEqual([]);
    expect(check(migration(FIRST, 'DROP TABLE b'))).toEqual([
      `${FIRST}: it was released and cannot be changed`,
    ]);
    expect(check()).toEqual([`${FIRST}: it was released and cannot be removed`]);
    expect(check(first, migration('20250101000000_late', 'CREATE TABLE b (x TEXT)'))).toEqual([
      `20250101000000_late: it must sort after ${FIRST}, which was released`,
    ]);
  });

  it('demands that later ones are additive or name an earlier migration', () => {
    expect(check(first, migration(SECOND, 'DROP TABLE c'))).toEqual([
      expect.stringMatching(/^20260102000000_second: DROP TABLE c: it is not one of/),
    ]);
    const stated = (name: string) => `-- Incompatible before ${name}: a reason\nDROP TABLE c`;
    expect(check(first, migration(SECOND, stated(FIRST)))).toEqual([]);
    expect(check(first, migration(SECOND, stated(SECOND)))).toEqual([]);
    expect(check(first, migration(SECOND, stated('20270101000000_later')))).toHaveLength(1);
  });

  it('knows the migrations of the last release, of both databases', () => {
    const file = JSON.parse(readFileSync('prisma/landed.json', 'utf8')) as {
      migrations: Record<string, Record<string, string>>;
    };
    expect(Object.keys(file.migrations.sqlite ?? {})).toContain('20261205000000_event_steps');
    expect(Object.keys(file.migrations.postgresql ?? {})).toEqual(Object.keys(file.migrations.sqlite ?? {}));
  });
});

import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { type Database, openDatabase } from '../../../src/storage/database/database.js';
import {
  bigint,
  type Column,
  columns,
  flag,
  from,
  json,
  mapped,
  nullable,
  number,
  type ReadRow,
  readNumber,
  select,
  text,
} from '../../../src/storage/database/rows.js';
import { isStorable } from '../../../src/storage/database/text.js';
import { describeOnEachDatabase } from '../../support/databases.js';
import { openedInTest } from '../../support/opened.js';

const VALUES = {
  plainText: text,
  wholeNumber: number,
  decimalNumber: number,
  largeNumber: bigint,
  isShown: flag,
  listed: json<string[]>(),
};
const NAMES = Object.keys(VALUES) as (keyof typeof VALUES)[];
type Values = ReadRow<ReturnType<typeof columns<typeof VALUES>>>;
/** The same value in a column without nulls, and in one that has some. */
type Kept = Values & { readonly [Name in keyof Values as `maybe${Capitalize<Name>}`]: Values[Name] | null };

const MAYBE = Object.fromEntries(
  NAMES.map((name) => [
    `maybe${name.charAt(0).toUpperCase()}${name.slice(1)}`,
    nullable(VALUES[name] as Column<unknown>),
  ]),
);
const ALL: Record<string, Column<unknown>> = { ...VALUES, ...MAYBE };
const TYPES = ['TEXT', 'BIGINT', 'DOUBLE PRECISION', 'BIGINT', 'BOOLEAN', 'TEXT'];

const storable = fc.string({ unit: 'grapheme' }).filter(isStorable);
const values = {
  plainText: storable,
  wholeNumber: fc.maxSafeInteger(),
  // Arguments that are whole numbers are bound as such, which have no negative zero.
  decimalNumber: fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0 || 0),
  largeNumber: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  isShown: fc.boolean(),
  listed: fc.array(storable, { maxLength: 3 }),
};
const rows = fc.array(
  fc
    .tuple(fc.record(values), fc.record(values), fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }))
    .map(([plain, others, nulls]) => {
      const maybe = Object.keys(MAYBE).map((name, at) => [
        name,
        nulls[at] ? null : others[NAMES[at] as keyof Values],
      ]);
      return { ...plain, ...Object.fromEntries(maybe) } as Kept;
    }),
  { minLength: 1, maxLength: 5 },
);
const order = fc.shuffledSubarray(Object.keys(ALL), { minLength: NAMES.length * 2 });

function argument(value: unknown): unknown {
  return Array.isArray(value) ? JSON.stringify(value) : value;
}

describeOnEachDatabase('declared columns', (freshDatabaseUrl) => {
  const databases = openedInTest<Database>((one) => one.close());
  let url: string;
  beforeAll(async () => {
    url = await freshDatabaseUrl();
  });
  async function open() {
    const database = await openDatabase({ url });
    databases.push(database);
    return database;
  }

  it('give back what was written, in any order of the columns', async () => {
    const { bulk } = await open();
    const declared = Object.values(columns(ALL).list.strings).join().split(', ');
    const types = declared.map((name, at) => `${name} ${TYPES[at % TYPES.length]}`).join(', ');
    await bulk.transaction((tx) =>
      tx.run(Prisma.sql`CREATE TABLE "kept" ("place" INTEGER, ${Prisma.raw(types)})`),
    );
    await fc.assert(
      fc.asyncProperty(rows, order, async (written, names) => {
        const inserts = written.map((row, place) => {
          const casts = Object.keys(ALL).map((name, at) => {
            const type = Prisma.raw(TYPES[at % TYPES.length] ?? '');
            return Prisma.sql`CAST(${argument(row[name as keyof Kept])} AS ${type})`;
          });
          return Prisma.sql`INSERT INTO "kept" VALUES (${place}, ${Prisma.join(casts)})`;
        });
        await bulk.transaction((tx) => tx.run(Prisma.sql`DELETE FROM "kept"`, ...inserts));
        const shuffled = columns(Object.fromEntries(names.map((name) => [name, ALL[name] ?? text])), 'k');
        const found = await select(shuffled, bulk)`FROM "kept" k WHERE k."place" >= ${0} ORDER BY k."place"`;
        expect(found).toEqual(written);
        expect(found.map(Object.keys)).toEqual(written.map(() => names));
      }),
      { numRuns: 60 },
    );
  });

  it('may be expressions, and values made of others', async () => {
    const { bulk } = await open();
    const counted = columns({
      id: number,
      count: from(Prisma.sql`(SELECT COUNT(*) FROM "agents" a WHERE a."name" <> ${'x'})`, number),
      revision: mapped(text, (value) => `r${value}`),
      missing: nullable(from(Prisma.sql`(SELECT MAX("id") FROM "agents")`, mapped(bigint, String))),
    });
    const found = await select(counted, bulk, 'statistics')`FROM "service_state" WHERE "id" = ${1}`;
    expect(found).toEqual([{ id: 1, count: 0, revision: 'r0', missing: null }]);
    expect(await readNumber(bulk, Prisma.sql`SELECT ${7} + 1`)).toBe(8);
    expect(await readNumber(bulk, Prisma.sql`SELECT "id" FROM "agents"`)).toBe(0);
  });
});

describe('a row of declared columns', () => {
  const { read, of, selected } = columns({ id: number, name: nullable(text) });

  it('may be one of Prisma', () => {
    expect(of({ id: 1n, name: 'a' })).toEqual(read([1n, 'a']));
    expect(selected).toEqual({ id: true, name: true });
    expect(() => of({ id: null, name: 'a' })).toThrow(/^a row lacks id$/);
  });

  it('may have more columns behind them', () => {
    expect(read([1n, null, 'more'])).toEqual({ id: 1, name: null });
  });

  it.each([[[]], [['1']], [[null, 'a']]])('is refused without a value: %j', (row) => {
    expect(() => read(row)).toThrow(/^a row lacks (?:id|name)$/);
  });
});

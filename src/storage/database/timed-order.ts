import { Prisma } from '../../../gen/prisma/sqlite/client.js';

/** Order by a number that may be null, such as a time, the greatest first; null is last in either direction. */
export function timedOrder(column: Prisma.Sql, reverse: boolean): Prisma.Sql {
  // The databases disagree on where null is, so it is a column of its own.
  return Prisma.sql`${column} IS NULL, ${column} ${Prisma.raw(reverse ? 'ASC' : 'DESC')}`;
}

/** Rows after one with a value in that order; `isAfter` compares rows that are equal in it. */
export function afterTimed(
  column: Prisma.Sql,
  value: bigint | null,
  isAfter: Prisma.Sql,
  reverse: boolean,
): Prisma.Sql {
  if (value === null) return Prisma.sql`(${column} IS NULL AND ${isAfter})`;
  const beyond = reverse ? Prisma.sql`${column} > ${value}` : Prisma.sql`${column} < ${value}`;
  return Prisma.sql`(${beyond} OR (${column} = ${value} AND ${isAfter}) OR ${column} IS NULL)`;
}

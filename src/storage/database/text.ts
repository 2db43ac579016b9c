import { createHash } from 'node:crypto';
import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { shorten } from '../../../packages/linear-text/src/index.js';

/**
 * Whether both databases can store a text unchanged: without NUL characters and halves of surrogate pairs.
 * Any other text equals nothing stored.
 */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** Throws on a text that one database would reject and the other silently change. */
export function assertStorable(text: string): void {
  if (!isStorable(text))
    throw new TypeError('a text to be stored has a NUL character or half a surrogate pair');
}

/** The text as both databases can store it, shortened to so many characters. */
export function storableText(text: string, maxLength: number): string {
  return shorten(text.toWellFormed().replaceAll('\0', ''), maxLength);
}

/** SHA-256 in hexadecimal of any text. Over UTF-16: in UTF-8 all halves of surrogate pairs are equal. */
export function hashText(text: string): string {
  return createHash('sha256').update(text, 'utf16le').digest('hex');
}

/**
 * Condition that a column of names contains `part`, ignoring the case of ASCII letters; every character is
 * literal. `replace` is the only substring search that both databases have; LIKE differs between them, has
 * wildcards and limits the length of a pattern.
 */
export function nameContains(column: Prisma.Sql, part: string): Prisma.Sql {
  if (part === '') return TRUE;
  if (!isStorable(part)) return FALSE;
  const folded = part.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  return Prisma.sql`replace(lower(${column}), ${folded}, '') <> lower(${column})`;
}

/** A condition that holds for every row. */
export const TRUE = Prisma.sql`1 = 1`;
/** A condition that holds for no row. */
export const FALSE = Prisma.sql`1 = 0`;

/** All of the conditions. */
export function allOf(conditions: readonly Prisma.Sql[]): Prisma.Sql {
  return conditions.length === 0 ? TRUE : Prisma.join([...conditions], ' AND ');
}

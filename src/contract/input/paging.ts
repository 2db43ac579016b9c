import type { z } from 'zod';
import { LIMITS } from '../../../gen/limits/limits.js';
import { orNull, text, withDefault } from './fields.js';
import { integer, type NumberLimits } from './numbers.js';

/** The member `limit` of a list: rows of a page; by default within the limits of most lists. */
export function pageSize(
  limits: NumberLimits = LIMITS.ListControlsRequest.limit,
  preset = 20,
): z.ZodType<number> {
  return withDefault(integer(limits), preset);
}

/** Clamps a cursor to the 32 bits of ids, with which it is compared. */
function within32Bits(cursor: number): number {
  return Math.min(Math.max(cursor, -(2 ** 31)), 2 ** 31 - 1);
}

/** The member `cursor` of a list whose pages go on after an id, or a number of 32 bits. */
export const idCursor = orNull(integer().transform(within32Bits));

/** The members of such a list, with pages of the usual size. */
export const idPage = { cursor: idCursor, limit: pageSize() };

/** The same for a list whose pages go on after a text. */
export const textPage = { cursor: orNull(text()), limit: pageSize() };

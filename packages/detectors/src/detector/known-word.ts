import type { z } from 'zod';
import { field, refuse, refuseTyped } from '../../../../src/contract/input/fields.js';
import { didYouMean } from '../../../../src/contract/warnings/suggestion.js';

/** Most words that an error lists. */
const MAX_LISTED_WORDS = 64;

/** One of the given words, exactly as written. The error suggests the nearest one, and lists all unless they are many. */
export function knownWord<const T extends string>(words: readonly T[], what: string): z.ZodType<T> {
  const known = new Set<string>(words);
  const all = words.length > MAX_LISTED_WORDS ? '' : `; known: ${words.join(', ')}`;
  return field(
    (value, sink) => {
      if (typeof value !== 'string') return refuse(sink, 'string_type', 'must be a string', value);
      if (known.has(value)) return value as T;
      const meant = didYouMean(value, words);
      return refuseTyped(sink, 'literal_error', `is no ${what}${meant}${all}`, value);
    },
    { type: 'string', enum: [...words] },
  );
}

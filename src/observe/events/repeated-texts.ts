import { isStorable } from '../../storage/database/text.js';

/** Texts that are kept: the names of agents, steps and sessions repeat. */
const MAX_KEPT = 1_000;

/**
 * Returns a text of a request that may be kept longer than the request; null for none, for one that is longer than
 * `max`, and for one that cannot be stored.
 */
export type RepeatedTexts = (text: string | undefined, max: number) => string | null;

/**
 * A parsed text can be a part of the whole body, which it keeps in memory. So each one is copied, and equal ones share a
 * copy, as long as it is among the last ones.
 */
export function createRepeatedTexts(): RepeatedTexts {
  const copies = new Map<string, string>();
  return (text, max) => {
    if (text === undefined || text === '' || text.length > max) return null;
    const known = copies.get(text);
    if (known !== undefined) return known;
    const copy = isStorable(text) ? Buffer.from(text, 'utf8').toString('utf8') : null;
    if (copies.size >= MAX_KEPT) copies.clear();
    // The key would keep the body.
    if (copy !== null) copies.set(copy, copy);
    return copy;
  };
}

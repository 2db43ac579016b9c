import { canonicalJson, type JsonValue } from '../../exact-json/src/index.js';
import { exactOf } from './exact-message.js';

/** Most pages of a list, and most items. */
const MAX_PAGES = 64;
const MAX_ITEMS = 10_000;

/**
 * All pages of a list. A server that repeats a cursor, sends a page without items or goes on for ever has ended its list: what it
 * has told so far counts. `warn` is told what is left out. Rejects if the first page is not told.
 */
export async function listedPages(
  read: (cursor: string | undefined) => Promise<Readonly<Record<string, unknown>>>,
  member: string,
  warn: (message: string) => void,
): Promise<unknown[]> {
  const all: unknown[] = [];
  const cursors = new Set<unknown>();
  /** Texts of items, to leave those out that a server sends again on another page. */
  let texts: Set<string> | undefined;
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const result = await read(cursor).catch((error) => {
      if (page === 0) throw error;
      warn(`its page ${page + 1} of ${member} is not told; those before it count`);
      return { [member]: [] };
    });
    const items = Object.hasOwn(result, member) ? result[member] : undefined;
    if (!Array.isArray(items)) {
      if (page === 0) throw new Error(`it answered without ${member}`);
      warn(`its page ${page + 1} has no ${member}; those before it count`);
      return all;
    }
    if (page > 0) {
      texts ??= new Set(all.map(textOf));
      for (const item of items) {
        const text = textOf(item);
        if (!texts.has(text)) all.push(item);
        texts.add(text);
      }
    } else all.push(...items);
    if (all.length > MAX_ITEMS) {
      warn(`it has more than ${MAX_ITEMS} ${member}; the others are left out`);
      return all.slice(0, MAX_ITEMS);
    }
    const next = result.nextCursor;
    if (typeof next !== 'string' || next === '') return all;
    if (items.length === 0 || cursors.has(next)) {
      warn(`its list of ${member} repeats a cursor or has an empty page; it is taken as ended`);
      return all;
    }
    cursors.add(next);
    cursor = next;
  }
  warn(`its list of ${member} has more than ${MAX_PAGES} pages; the others are left out`);
  return all;
}

const textOf = (item: unknown): string => canonicalJson(exactOf(item) as JsonValue);

import type { Candidate, PiiSearch } from './pii-search.js';
import { groupKey, MAX_GROUP_LENGTH, type Shape, type ShapeNode, separatorCode } from './shape-trie.js';
import { classOf, OTHER, UPPER } from './text-units.js';

/** How much lower-case letters lower the score of a code that has letters. */
export const LOWER_CASE = 0.15;

/** Reports the kinds whose shape begins with the group of letters and digits at `start`. Visits a few groups only. */
export function findShapes(search: PiiSearch, start: number, trie: ShapeNode): void {
  const { text } = search;
  let node = trie;
  let code = '';
  let from = start;
  let separator = 0;
  let cases = 0;
  for (;;) {
    let end = from;
    let letters = 0;
    for (let unitClass = classOf(text.charCodeAt(end)); unitClass !== OTHER; ) {
      if (unitClass >= UPPER) {
        letters += 2 ** (end - from);
        cases |= unitClass === UPPER ? 1 : 2;
      }
      end += 1;
      if (end - from > MAX_GROUP_LENGTH) return;
      unitClass = classOf(text.charCodeAt(end));
    }
    if (end === from || cases === 3) return;
    const next = node.next.get(groupKey(end - from, letters, separator));
    if (next === undefined) return;
    node = next;
    code += text.slice(from, end);
    if (node.shapes.length > 0)
      check(search, start, end, cases === 2 ? code.toUpperCase() : code, node.shapes, cases);
    if (node.next.size === 0) return;
    separator = separatorCode(text.charCodeAt(end));
    if (separator === 0) return;
    from = end + 1;
  }
}

function check(
  search: PiiSearch,
  start: number,
  end: number,
  code: string,
  shapes: readonly Shape[],
  cases: number,
): void {
  let candidates: Candidate[] | null = null;
  search.spend(shapes.length * 4);
  for (const { kind, score, hasLetters } of shapes) {
    if (!kind.check(code)) continue;
    candidates ??= [];
    candidates.push({ kind: kind.name, score: hasLetters && cases === 2 ? score - LOWER_CASE : score });
  }
  if (candidates !== null) search.add(start, end, candidates);
}

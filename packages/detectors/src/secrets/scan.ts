import { createAutomaton, UNITS_PER_STEP } from '../../../linear-text/src/index.js';
import type { RawFinding, SecretRule } from './rule.js';

/** Search steps for an anchor: it opens or extends a part. */
const STEPS_PER_ANCHOR = 2;
/** Code units that a pattern reads in the time of a search step, where it begins to match. */
const READ_UNITS_PER_STEP = 8;
/** What one more anchor makes patterns read again, in code units, at most: private keys read what no other anchor is in. */
const MAX_READ_AGAIN = 512;

const WORD = /[\p{L}\p{N}_]/u;

/** Finds secrets in a text, in any order; reports the work to `spend`. */
export type Scan = (
  text: string,
  found: (finding: RawFinding) => void,
  spend: (steps: number) => void,
) => void;

/**
 * Searches for the anchors of all rules in one pass, and runs each rule on the parts of the text around its own. Parts
 * of a rule do not overlap: where the next one would, the current one grows. So a rule reads each character once,
 * whatever the text.
 */
export function createScan(rules: readonly SecretRule[]): Scan {
  const owners = new Map<string, number[]>();
  rules.forEach(({ anchors }, rule) => {
    for (const anchor of anchors) owners.set(anchor, [...(owners.get(anchor) ?? []), rule]);
  });
  const anchors = [...owners.keys()];
  const { trie, output, shorter, walk } = createAutomaton(anchors, true);
  const ownersOf = (node: number) =>
    owners.get(anchors[trie.valueIndex(node)]?.slice(0, trie.depth(node)) ?? '') ?? [];
  const rulesAt = Array.from({ length: trie.size }, (_, node) =>
    trie.valueLength(node) > 0 ? ownersOf(node) : [],
  );
  // Positions are those behind anchors, which come in order.
  const reach = rules.map((rule) => rule.before + Math.max(...rule.anchors.map(({ length }) => length)));

  return (text, found, spend) => {
    const starts = new Int32Array(rules.length).fill(-1);
    const ends = new Int32Array(rules.length);
    /** By rule, where words go on before an anchor. */
    const gluedAt: number[][] = [];
    let steps = text.length / UNITS_PER_STEP;

    const search = (index: number): void => {
      const rule = rules[index];
      const start = starts[index] ?? -1;
      if (rule === undefined || start < 0) return;
      starts[index] = -1;
      const part = text.slice(start, ends[index]);
      const glued = new Set(gluedAt[index]?.splice(0));
      steps += part.length / UNITS_PER_STEP;
      rule.find(part, (one) => {
        glued.delete(one.start + start - 1);
        found({ ...one, start: one.start + start, end: one.end + start });
      });
      if (glued.size === 0) return;
      // Patterns expect the begin of a word.
      let separated = '';
      for (const at of glued) separated += `${part.slice(separated.length, at - start)} `;
      steps += part.length / UNITS_PER_STEP + STEPS_PER_ANCHOR * glued.size;
      rule.find(separated + part.slice(separated.length), (one) => {
        if (glued.has(one.start + start - 1))
          found({ ...one, start: one.start + start, end: one.end + start });
      });
    };

    walk(text, (node, end) => {
      for (let at = output[node] ?? 0; at !== 0; at = shorter[at] ?? 0) {
        for (const index of rulesAt[at] ?? []) {
          const after = rules[index]?.after ?? 0;
          const start = Math.max(0, end - (reach[index] ?? 0));
          if ((starts[index] ?? -1) >= 0 && start > (ends[index] ?? 0)) search(index);
          if ((starts[index] ?? -1) < 0) starts[index] = start;
          ends[index] = Math.min(text.length, end + after);
          const before = end - trie.depth(at) - 1;
          if (rules[index]?.mayBeGlued === true && WORD.test(text.charAt(before))) {
            gluedAt[index] ??= [];
            gluedAt[index].push(before);
          }
          steps += STEPS_PER_ANCHOR + Math.min(after, MAX_READ_AGAIN) / READ_UNITS_PER_STEP;
        }
      }
      return false;
    });
    rules.forEach((_rule, index) => {
      search(index);
    });
    spend(steps);
  };
}
